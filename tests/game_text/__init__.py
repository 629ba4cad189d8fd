"""Games as texts: scripts, set-up lines, checkpoints, replays, history."""
