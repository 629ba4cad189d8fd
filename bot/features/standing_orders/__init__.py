"""Orders that players leave beforehand, and their runner."""
