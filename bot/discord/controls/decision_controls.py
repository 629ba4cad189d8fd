"""The controls of a decision: hexes for tile lays, purchases and sales of a stock turn, and all the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import engine
from bot.discord.controls.controls import SUBMIT_LINE, CardControls, MenuItem, card_controls
from bot.discord.controls.lay_controls import hex_items, lay_choices
from bot.discord.controls.stock_controls import purchase_label, purchases, sale_items, train_purchases
from bot.features.standing_orders.controls import PROTECTION
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
