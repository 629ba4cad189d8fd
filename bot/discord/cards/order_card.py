"""`/me orders`: the orders of a player at a table as one private card, with buttons for the commonest.

Everything that the card does is a line of the game such as `auto pass`, submitted as by mail or in the
terminal. A control holds its line; one that asks for something opens a form with one field.
"""

from __future__ import annotations

import engine
from bot.discord.cards import parts
from bot.discord.cards.parts import PRIMARY, Json
from bot.discord.cards.settings_card import ASK, Form
from bot.discord.controls.controls import ORDER, CustomId
from bot.discord.controls.decision_controls import STANDING
from bot.position.pending import engine_seat

ORDER_FORMS = {
    "bid": Form("Bid up to", "auto bid ", "BO up to 260"),
    "buy": Form("Buy shares", "auto buy ", "NYC until floated, or 3 NYC then pass"),
    "line": Form("An order", "", "auto turn NYC: lay 57 H10; run best; pay"),
}
PROTECT = "protect "
"""Begins the name of the form that answers price protection in advance."""
MAX_COMPANIES = 4
"""Companies of a player that have a button."""
MAX_SHOWN = 3000
"""Characters of the list."""


def _control(table_id: int, argument: str) -> str:
    return str(CustomId(table_id, None, None, ORDER, argument))


def order_card(table_id: int, seat: int, state: engine.State, listed: str, said: str = "") -> list[Json]:
    """The orders of a seat. listed: the answer to `auto`. said: what has just been done."""
    buttons = [parts.button("Auto pass", _control(table_id, "auto pass"), PRIMARY)]
    own = [sym for sym, company in state.companies.items() if company.president == engine_seat(seat)]
    buttons += [
        parts.button(f"Auto run {sym}", _control(table_id, f"auto run {sym}")) for sym in own[:MAX_COMPANIES]
    ]
    buttons += [
        parts.button(f"{form.label}…", _control(table_id, f"{ASK}{name}"))
        for name, form in ORDER_FORMS.items()
    ]
    lines = [] if state.game_over else [each.line for each in engine.choices(state, engine_seat(seat))]
    buttons += [
        parts.button(f"Protect {sym}…", _control(table_id, f"{ASK}{PROTECT}{sym}"))
        for sym in own[:MAX_COMPANIES]
        if any(line.startswith(f"{STANDING}{sym} ") for line in lines)
    ]
    if listed.startswith("1. "):
        buttons.append(parts.button("Take all back", _control(table_id, "auto off")))
    head = [parts.text_display(said)] if said else []
    text = parts.text_display(f"**Your orders**\n{listed}", MAX_SHOWN)
    return [*head, parts.container([text, *parts.action_rows(buttons)])]


def order_form(argument: str) -> Form | None:
    """The form that a control opens, if it opens one."""
    name = argument.removeprefix(ASK)
    if name.startswith(PROTECT):
        company = name.removeprefix(PROTECT)
        return Form(f"Protect the {company} up to $", f"auto protect {company} up to ", "300, or 0 for never")
    return ORDER_FORMS.get(name) if argument.startswith(ASK) else None


def order_modal(table_id: int, argument: str, form: Form) -> Json:
    """A form as a modal."""
    field = {
        "type": 4, "custom_id": "line", "style": 1, "required": True, "max_length": 300,
        "placeholder": form.example,
    }  # fmt: skip
    label = {"type": 18, "label": form.label, "component": field}
    return {"title": "An order", "custom_id": _control(table_id, argument), "components": [label]}


def order_lines(argument: str, entered: str | None) -> list[str]:
    """The lines of a control, or of a form in which something was entered."""
    form = order_form(argument)
    if form is None or entered is None:
        return [argument]
    return [part.strip() for part in f"{form.start}{entered}".split(";") if part.strip()]
