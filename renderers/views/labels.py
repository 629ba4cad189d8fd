"""What every view has: companies as their tokens show them, and words that fit."""

from __future__ import annotations

from dataclasses import dataclass

from engine import Components

MAX_ALT_TEXT = 1024


@dataclass(frozen=True)
class Badge:
    """A company as its tokens show it."""

    sym: str
    color: str
    text_color: str


def company_badges(facts: Components) -> dict[str, Badge]:
    """The badge of each company by its symbol, in the title's order."""
    return {c.sym: Badge(c.sym, c.color, c.text_color) for c in facts.companies}


def clip_text(text: str, limit: int = MAX_ALT_TEXT) -> str:
    """The text, or as many whole words of it as a limit allows, ended by an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1].rsplit(" ", 1)[0] + "…"


def dollars(amount: int) -> str:
    """`$40`, or `-$40` of somebody who owes it."""
    return f"-${-amount}" if amount < 0 else f"${amount}"


def bank_text(amount: int) -> str:
    """What a bank has, or that it is broken and by how much."""
    return f"bank ${amount}" if amount >= 0 else f"bank broken, owes ${-amount}"
