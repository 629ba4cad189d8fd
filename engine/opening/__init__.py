"""Openings: how the private companies are sold or dealt before the first stock round."""
