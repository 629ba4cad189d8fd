"""The sheet of a position, and its tables."""
