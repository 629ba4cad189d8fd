"""The board: geometry of tiles, connectivity, the route graph, best routes, and the notation of routes."""
