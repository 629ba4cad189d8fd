"""A table in play: commands, moves, commits, queries, timers and people. `service.Hub` is its facade."""
