"""Track: tiles, networks, routes and the search for the best ones."""
