"""Charts of a game: worth, prices and revenues by round."""
