"""The terminal transport: a prompt, or lines on standard input."""
