"""A game that pauses, goes on, or ends before its end."""
