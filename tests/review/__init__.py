"""Reviews of games: what decided them."""
