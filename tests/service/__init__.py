"""The service over a real store: tables, moves, votes, notifications."""
