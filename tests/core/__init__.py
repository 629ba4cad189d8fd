"""The position: what is cached is never out of date."""
