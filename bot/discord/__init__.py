"""The Discord channel: a thread per table, its cards, and slash commands."""
