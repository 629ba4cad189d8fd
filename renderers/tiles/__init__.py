"""Tiles by themselves: what can be laid, and in which ways."""
