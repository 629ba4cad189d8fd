"""The names that the engine has for seats, and their numbers."""

from __future__ import annotations


def engine_seat(seat: int) -> str:
    """The engine's name of a seat, `p0` for 0."""
    return f"p{seat}"


def seat_number(engine_name: str) -> int:
    """The number of a seat by the engine's name."""
    return int(engine_name[1:])
