"""The board: tiles, connectivity, routes, and the search for the best ones."""
