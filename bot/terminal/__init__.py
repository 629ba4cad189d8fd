"""The table at a prompt, or on standard input."""
