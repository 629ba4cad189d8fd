"""1851: composition, changes of its components, sections of its book, data (components)."""
