"""Operating rounds: the steps of a turn."""
