"""1817: its composition, printed components (components.json), the names of 18xx.games (site_18xx.json)."""
