"""The table in Discord: a thread, its cards, and what is pressed or typed there."""
