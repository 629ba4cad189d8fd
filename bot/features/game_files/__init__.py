"""Games as files: export, and import of a game that began elsewhere."""
