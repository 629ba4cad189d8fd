"""Pictures of maps, markets and sheets."""
