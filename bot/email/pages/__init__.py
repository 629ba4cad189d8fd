"""The emails about games: turns, digests, invitations, lobbies, notices."""
