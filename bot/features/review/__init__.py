"""What decided a game: money, turning points, routes and trains, and a second opinion."""
