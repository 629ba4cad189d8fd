"""Words for numbers in what players read."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """`1 loan`, `2 loans`, `0 loans`."""
    return f"{number} {noun}{'s' * (number != 1)}"
