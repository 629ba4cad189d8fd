"""The commonest orders as controls: of the list of one's orders, and on the page of a turn."""

from __future__ import annotations

from collections.abc import Iterator

import engine
from bot.hub.feature import Addition, TurnPage
from bot.position.controls import Ask, Control, Say, Show
from bot.position.pending import engine_seat

FORMS = (
    Ask("Bid up to", "auto bid ", "BO up to 260"),
    Ask("Buy shares", "auto buy ", "NYC until floated, or 3 NYC then pass"),
    Ask("An order", "", "auto turn NYC: lay 57 H10; run best; pay"),
)
AUTO_PASS = Say("Auto pass", "auto pass", "first")
PROTECTION = "standing protect "
"""Begins the lines that answer price protection in advance: they leave an order."""
MAX_COMPANIES = 4
"""Companies of a player that have a button."""


def order_controls(state: engine.State, seat: int, *, has_orders: bool) -> tuple[Control, ...]:
    """The controls of the orders of a seat."""
    return tuple(_order_controls(state, seat, has_orders))


def _order_controls(state: engine.State, seat: int, has_orders: bool) -> Iterator[Control]:
    own = [sym for sym, company in state.companies.items() if company.president == engine_seat(seat)]
    own = own[:MAX_COMPANIES]
    yield AUTO_PASS
    for sym in own:
        yield Say(f"Auto run {sym}", f"auto run {sym}")
    yield from FORMS
    lines = [] if state.game_over else [each.line for each in engine.choices(state, engine_seat(seat))]
    for sym in own:
        if any(line.startswith(f"{PROTECTION}{sym} ") for line in lines):
            yield Ask(f"Protect {sym} up to $", f"auto protect {sym} up to ", "300, or 0 for never")
    if has_orders:
        yield Say("Take all back", "auto off")


async def add_to_turn(page: TurnPage) -> Addition:
    """One's own orders; in a stock turn the order to pass, which in one's own turn passes at once."""
    orders = Show("Orders…", "auto")
    is_stock_turn = page.view.state is not None and engine.topic(page.view.state) == "stock"
    if page.pending is not None and is_stock_turn and any(each.line == "pass" for each in page.choices):
        return Addition(controls=(orders, Say("Auto pass", "auto pass")))
    return Addition(controls=(orders,))
