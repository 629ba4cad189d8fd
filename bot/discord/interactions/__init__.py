"""What a press, a form or a menu leads to, and what is answered privately."""
