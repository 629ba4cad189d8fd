"""A game without sight: every picture can be asked for in words."""
