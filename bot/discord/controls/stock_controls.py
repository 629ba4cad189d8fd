"""Buttons for the commonest purchases of shares and trains, and a select of several sales (pure)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import engine
from bot.discord.controls.controls import MAX_OPTIONS, SUBMIT_LINE, MenuItem

MAX_PURCHASES, MAX_TRAINS = 3, 2  # buttons
PRICE = re.compile(r"\$([\d,]+)$")


def purchases(state: engine.State, seat: str, choices: Sequence[engine.Choice]) -> list[int]:
    """The commonest purchases of a stock turn, as indices: of own companies, then of large stakes."""
    if not engine.round_name(state).startswith("stock round"):
        return []
    shares = [
        i
        for i, choice in enumerate(choices)
        if choice.path[0] == "buy" and choice.amounts is None and choice.path[1:2][0] in state.companies
    ]

    def rank(index: int) -> tuple[bool, int, int]:
        company = state.companies[choices[index].path[1]]
        return company.president != seat, -company.shares.get(seat, 0), index

    return sorted(shares, key=rank)[:MAX_PURCHASES]


def train_purchases(choices: Sequence[engine.Choice]) -> list[int]:
    """The trains that can be bought at once, for a price that is not open, as indices."""
    trains = [
        i for i, each in enumerate(choices) if each.line.startswith("buy train") and each.amounts is None
    ]
    return [i for i in trains if ", if " not in choices[i].label][:MAX_TRAINS]


def purchase_label(choice: engine.Choice) -> str:
    """A label that a phone shows in full: `Buy B&O, ipo, $67`."""
    price = PRICE.search(choice.label)
    parts = [f"Buy {choice.path[1]}", *choice.path[2:], *([price[0]] if price else [])]
    return ", ".join(parts)


def sale_items(choices: Sequence[engine.Choice]) -> list[MenuItem]:
    """The options of the select of sales; none where there is nothing to sell."""
    sales = [c for c in choices if c.path[0] == "sell" and c.amounts is None and len(c.line) <= 60]
    return [MenuItem(c.label, c.line, SUBMIT_LINE, c.line) for c in sales[:MAX_OPTIONS]]
