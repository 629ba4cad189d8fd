"""The controls of a decision: hexes for tile lays, purchases and sales of a stock turn, and all the rest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import engine
from bot.discord.controls.controls import (
    MAX_OPTIONS,
    OPEN_TILES,
    SUBMIT_LINE,
    CardControls,
    MenuItem,
    card_controls,
    page_of,
)
from bot.features.standing_orders.pages import PROTECTION
from bot.position.legal_lines import choice_effect


def decision_controls(
    state: engine.State, seat: str, choices: Sequence[engine.Choice], max_argument: int
) -> CardControls:
    """The controls of a seat's choices; an argument of a button has at most `max_argument` characters."""
    lays = lay_choices(choices)
    sales = sale_items(choices)
    sold = {item.argument for item in sales}
    shown_apart = {lay.number for lay in lays}
    if len(sales) > 1:
        shown_apart |= {i for i, choice in enumerate(choices) if choice.line in sold}
    shown_apart |= {i for i, choice in enumerate(choices) if choice.line.startswith(PROTECTION)}
    rest = [i for i in range(len(choices)) if i not in shown_apart]
    controls = card_controls(choices, max_argument, 5 - bool(lays), rest)
    selects = [(text, with_effects(state, seat, choices, items)) for text, items in controls.selects]
    if lays:
        selects = [(f"Lay: {len(lays)} way{'s' * (len(lays) > 1)}", hex_items(choices, lays)), *selects]
    bought = [
        MenuItem(purchase_label(choices[i]), "", SUBMIT_LINE, choices[i].line)
        for i in purchases(state, seat, choices)
        if len(choices[i].line) <= max_argument
    ]
    bought += [MenuItem(choices[i].label, "", SUBMIT_LINE, choices[i].line) for i in train_purchases(choices)]
    known = {item.argument for item in controls.buttons}
    buttons = [*(item for item in bought if item.argument not in known), *controls.buttons]
    sales = with_effects(state, seat, choices, sales) if len(sales) > 1 else []
    return CardControls(buttons, selects, sales)


def with_effects(
    state: engine.State, seat: str, choices: Sequence[engine.Choice], items: Sequence[MenuItem]
) -> list[MenuItem]:
    """The options of a menu, with what each does in place of its line, and the names of companies."""
    by_line = {choice.line: choice for choice in choices}
    names = {company.sym: company.name for company in engine.game_of(state).components.companies}
    return [
        replace(item, description=choice_effect(state, seat, choice))
        if (choice := by_line.get(item.description))
        else replace(item, description=f"{names[item.label]}, {item.description}")
        if item.label in names
        else item
        for item in items
    ]


LAY = re.compile(r"lay (\S+) (\S+) ([0-5])(?: |$)")


class LayChoice(NamedTuple):
    """A choice that lays a tile: its number among the choices, and the hex, tile and rotation 0-5."""

    number: int
    hex: str
    tile: str
    rotation: int


def lay_choices(choices: Sequence[engine.Choice]) -> list[LayChoice]:
    """The choices that lay a tile."""
    found = ((i, LAY.match(choice.line)) for i, choice in enumerate(choices) if choice.amounts is None)
    return [LayChoice(i, m[2], m[1], int(m[3])) for i, m in found if m]


def hex_items(choices: Sequence[engine.Choice], lays: Sequence[LayChoice], page: int = 0) -> list[MenuItem]:
    """One page of the hexes on which tiles can be laid, as options of a select."""
    by_hex: dict[str, list[LayChoice]] = {}
    for lay in lays:
        by_hex.setdefault(lay.hex, []).append(lay)
    items = [_hex_item(choices, hex, on_hex) for hex, on_hex in by_hex.items()]
    return page_of(items, page, OPEN_TILES, f"+{page + 1}")


def _hex_item(choices: Sequence[engine.Choice], hex: str, lays: Sequence[LayChoice]) -> MenuItem:
    labels = (label for label in choices[lays[0].number].path if label.split()[0] == hex)
    tiles = ", ".join(dict.fromkeys(f"#{lay.tile}" for lay in lays))
    ways = f"{len(lays)} way{'s' * (len(lays) > 1)}: {tiles}"
    return MenuItem(next(labels, hex), ways, OPEN_TILES, hex)


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
