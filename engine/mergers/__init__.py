"""Merger and acquisition rounds: companies that convert, merge, and are sold."""
