"""Messages of a table: cards of turns, votes, lobbies, orders, settings and endings."""
