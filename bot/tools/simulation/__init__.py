"""Self-play: random legal games to the end, with every invariant checked at every step."""
