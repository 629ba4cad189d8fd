"""Lines of notation in short form, and events as sentences."""
