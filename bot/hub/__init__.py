"""A table in play: commands, moves, commits, queries, timers and people. `service.Service` is its facade."""
