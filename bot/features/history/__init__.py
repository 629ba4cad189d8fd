"""A game looked back at: records, charts, an animation."""
