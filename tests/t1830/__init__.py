"""The rulebook of 1830, section by section, and the conventions of 18xx.games."""
