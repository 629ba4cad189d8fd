"""The rulebook of 1870, section by section, and the conventions of 18xx.games."""
