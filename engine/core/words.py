"""Amounts, numbers and lists in what players read."""

from __future__ import annotations

from collections.abc import Sequence


def dollars(amount: int) -> str:
    """`$1,200`, `-$17`."""
    return f"{'-' * (amount < 0)}${abs(amount):,}"


def counted(number: int, noun: str) -> str:
    """`1 loan`, `2 loans`, `0 loans`."""
    return f"{number} {noun}{'s' * (number != 1)}"


def join_words(words: Sequence[str], last: str = "and") -> str:
    """`Ann, Bob and Cid`."""
    return f" {last} ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def names_are(names: Sequence[str]) -> str:
    """`Ann is`, `Ann and Bob are`."""
    return f"{join_words(names)} {'is' if len(names) == 1 else 'are'}"
