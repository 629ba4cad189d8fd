"""The rulebook of 1851, chapter by chapter."""
