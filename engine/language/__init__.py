"""Text for people: the notation that players type, menus of choices, and sentences about events."""
