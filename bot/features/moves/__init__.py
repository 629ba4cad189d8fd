"""The turn that a player is asked for."""
