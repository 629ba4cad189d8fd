"""1817: its composition, changes of its components, sections of its book, and data (components, site names)."""
