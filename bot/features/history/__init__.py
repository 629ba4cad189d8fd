"""A game looked back at: records, charts, the ending."""
