"""The terminal and the command `railpost`."""
