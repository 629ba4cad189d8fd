"""Games of the site 18xx.games, read into this engine: the file, its names, its replay."""
