"""The sequence of rounds, and the end of the game."""
