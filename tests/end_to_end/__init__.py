"""Whole games through every layer, over real sockets, with crashes in between."""
