"""Buttons and menus: their ids, what they offer, and whose they are."""
