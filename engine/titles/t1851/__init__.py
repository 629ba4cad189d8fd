"""1851: its composition, printed components (components.json)."""
