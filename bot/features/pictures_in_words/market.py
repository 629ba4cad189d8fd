"""The market around a price, and the whole position in sentences."""

from __future__ import annotations

from collections.abc import Sequence

import engine
from bot.position import text_views
from bot.position.boards import find_company
from bot.position.pending import PendingDecision
from bot.position.sentences import dollars, for_sale, sale_line
from engine.finance import market

STEPS = (("right", market.right), ("left", market.left), ("up", market.up), ("down", market.down))


def around_text(state: engine.State, what: str) -> str:
    """The spaces of the market beside a company's, or beside those of a price. Raises ValueError."""
    g = engine.game_of(state)
    if company := find_company(state, what):
        at = state.companies[company].cell
        if at is None:
            return f"The {company} has no price yet."
        return f"The {company} is at {_around(state, at)}"
    price = what.removeprefix("$")
    if not price.isdecimal():
        raise ValueError(f"There is no company {what}; name one, or a price: `around 82`.")
    rows = g.components.market.rows
    spaces = [
        (y, x)
        for y, row in enumerate(rows)
        for x, cell in enumerate(row)
        if cell is not None and cell.price == int(price)
    ]
    if not spaces:
        raise ValueError(f"The market has no space with ${price}.")
    return "\n".join(_around(state, at) for at in spaces)


def _around(state: engine.State, at: tuple[int, int]) -> str:
    """A space, who is there, and where the four steps from it lead."""
    g = engine.game_of(state)
    cell = g.components.market.rows[at[0]][at[1]]
    zones = f" ({', '.join(cell.zones)})" if cell and cell.zones else ""
    here = [sym for sym in state.market_order if state.companies[sym].cell == at]
    there = f", with {', '.join(here)}" if here else ""
    steps = [
        f"{name} {market.space_name(g, to)}"
        for name, step in STEPS
        if (to := step(g, at)) != at  # a step that goes nowhere stays
    ]
    place = f"row {at[0] + 1}, column {at[1] + 1}"
    return f"{market.space_name(g, at)} in {place}{zones}{there}: {', '.join(steps)}."


def position_text(state: engine.State, pending: Sequence[PendingDecision], viewer: int | None) -> str:
    """Everything that the sheet has, in sentences."""
    lines = [text_views.headline(state), text_views.waiting_sentence(state, pending)]
    lines += [f"{sale_line(state, item, bids)}." for item, bids in for_sale(state).items()]
    lines += [_player_sentence(state, seat) for seat in state.seats]
    for sym, company in state.companies.items():
        if company.par is not None or company.cell is not None:
            lines.append(_company_sentence(state, sym, viewer))
    lines += [f"{line}." for line in text_views.trains_text(state)]
    return "\n".join(lines)


def _player_sentence(state: engine.State, seat: str) -> str:
    leads = {sym: " as president" for sym, each in state.companies.items() if each.president == seat}
    shares = [
        f"{text_views.holding_text(percent)} of the {sym}{leads.get(sym, '')}"
        for sym, company in state.companies.items()
        if (percent := company.shares.get(seat, 0))
    ]
    privates = [f"the private {sym}" for sym, owner in state.private_owners.items() if owner == seat]
    owns = text_views.join_words([*shares, *privates]) or "nothing else"
    return f"{state.name(seat)} has {dollars(state.cash[seat])} and {owns}."


def _company_sentence(state: engine.State, sym: str, viewer: int | None) -> str:
    company = state.companies[sym]
    trains = f"trains {' '.join(company.trains)}" if company.trains else "no train"
    treasury = text_views.treasury_text(state, sym, viewer)
    floated = "" if company.floated else ", not floated"
    led = f", president {state.name(company.president)}" if company.president else ""
    price = text_views.price_text(state, sym)
    left = company.unplaced_tokens
    tokens = f"{left} {'token' if left == 1 else 'tokens'} left"
    return f"The {sym} is at {price}{floated}{led}, with {treasury}, {trains}, {tokens}."
