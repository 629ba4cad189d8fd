"""Amounts in words."""

from __future__ import annotations


def dollars(amount: int) -> str:
    """`$1,200`, `-$17`."""
    return f"{'-' * (amount < 0)}${abs(amount):,}"
