"""The board: faces of tiles and how they fit, networks of track, routes and how they are spelled."""
