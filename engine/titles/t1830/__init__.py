"""1830: composition and data (components, site names)."""
