"""Who is told what, where and when."""
