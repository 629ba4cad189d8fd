"""The mail channel: players act by replying to emails."""
