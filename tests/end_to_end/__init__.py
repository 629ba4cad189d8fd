"""Whole games, through every layer: real sockets on both sides, and a service that is killed meanwhile."""
