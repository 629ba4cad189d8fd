"""The rulebook of 1817, section by section, and the conventions of 18xx.games."""
