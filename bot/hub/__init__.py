"""A table in play: commands, moves, commits, queries, timers and people. `hub.Hub` is its facade."""
