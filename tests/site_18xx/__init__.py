"""Import and export of game files of 18xx.games."""
