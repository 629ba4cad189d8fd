"""Lines tried on a copy of the position, kept for one person."""
