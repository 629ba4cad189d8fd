"""The map of a position: hexes, labels, tokens, routes, and the map of a game as an animation."""
