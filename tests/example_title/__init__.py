"""18EX: a small title of our own invention, which `docs/adding-a-title.md` builds step by step."""
