"""A game seen from outside: snapshots of it for people who do not play it here."""
