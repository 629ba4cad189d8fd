"""Matches between computer players, and their agreement with people: `railpost arena`."""
