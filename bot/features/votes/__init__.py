"""Votes of a table, and their reminders."""
