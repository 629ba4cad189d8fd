"""The rulebook of 1830, section by section: short games in text, played through the rules."""
