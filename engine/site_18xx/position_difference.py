"""What differs between the position of our game and that of the game by the site's conventions, in words.

The sentences are about the site: "there" is 18xx.games, "here" our table.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import msgspec

from engine.core.components import PhaseDefinition
from engine.core.state import (
    BANK,
    CLOSED,
    POOL,
    GameOver,
    MergerRound,
    OperatingRound,
    OperatingTurn,
    State,
    StockRound,
    is_seat,
)
from engine.core.words import join_words
from engine.finance.market import space_label
from engine.kernel import awaited_seats, game_of
from engine.operating.stations import UNDECIDED_CITY
from engine.operating.trains import is_obsolete

COMPANY_FIELDS = {
    "shares": "the shares",
    "par": "the par prices",
    "president": "the presidents",
    "floated": "the capitals",
}
"""Fields of a company that are compared, in words."""


def position_difference(ours: State, site: State) -> str | None:
    """The first visible difference of two positions, as a sentence about the site; None if there is none."""
    our_round, site_round = _round_of(ours), _round_of(site)
    if our_round.place < site_round.place:
        return f"{our_round.name} is over there, and it is {site_round.name}."
    if our_round != site_round:
        asked = join_words([site.name(seat) for seat in awaited_seats(game_of(site))])
        return f"{site_round.name} goes on there, and {asked or 'nobody'} is asked."
    turns = [getattr(state.top, "company", None) for state in (ours, site)]
    if type(ours.top) is type(site.top) is OperatingTurn and turns[0] != turns[1]:
        return f"the {turns[1]} has its turn there, and the {turns[0]} here."
    for company, our_company in ours.companies.items():
        site_company = site.companies[company]
        if (our_company.president is None) != (site_company.president is None):
            where = ("there", "here") if our_company.president is None else ("here", "there")
            return f"the {company} is in play {where[0]}, and not {where[1]}."
        for field, words in COMPANY_FIELDS.items():
            if getattr(our_company, field) != getattr(site_company, field):
                return f"{words} of the {company} differ there."
        if our_company.cell != site_company.cell:
            prices = [_price_name(state, company) for state in (site, ours)]
            return f"the {company} is {prices[0]} there, and {prices[1]} here."
        trains = _usable_trains(ours, our_company.trains), _usable_trains(site, site_company.trains)
        if trains[0] != trains[1]:
            here, there = (" ".join(each) for each in trains)
            return f"the {company} has {there or 'no train'} there, {here or 'none'} here."
    for private, owner in ours.private_owners.items():
        if owner == POOL and site.private_owners[private] == CLOSED:
            continue  # in the open market, which the site does not have, it does nothing until it is bought
        if owner == CLOSED and site.private_owners[private] in site.bankrupt_seats:
            continue  # 1817 §7.4: there it stays with the bankrupt, where it does nothing any more
        if owner != site.private_owners[private]:
            owners = [_owner_name(site, site.private_owners[private]), _owner_name(ours, owner)]
            return f"the {private} belongs to {owners[0]} there and to {owners[1]} here."
    cash = _cash_with_capital(ours)
    owners = [*(owner for owner in cash if owner != BANK), BANK]
    for owner in (owner for owner in owners if cash[owner] != site.cash[owner]):
        more = site.cash[owner] - cash[owner]
        return f"{_owner_name(ours, owner)} has ${abs(more):,} {'more' if more > 0 else 'less'} there."
    if ours.tiles != site.tiles:
        return "the tiles on the map differ."
    if hex := next(
        (h for h, tokens in ours.tokens.items() if not _same_tokens(tokens, site.tokens.get(h))), None
    ):
        return f"the tokens in {hex} differ."
    if (_phase_rules(ours), _usable_trains(ours, ours.pool_trains)) != (
        _phase_rules(site),
        _usable_trains(site, site.pool_trains),
    ):
        return "the trains in play differ."
    return None


def _cash_with_capital(state: State) -> dict[str, int]:
    """Dollars by owner once awaited capital is paid, as the site pays it at once (1830 §11)."""
    g, cash = game_of(state), dict(state.cash)
    for company in state.companies:
        dollars = g.title.flotation.awaited(g, company)
        cash[company] += dollars
        cash[BANK] -= dollars
    return cash


class Round(NamedTuple):
    """A round of the game. place: the set, and where in the set."""

    place: tuple[float, ...]
    name: str


def _round_of(state: State) -> Round:
    match state.game_over or state.stack[0]:
        case StockRound(number):
            return Round((number, 0), f"stock round {number}")
        case OperatingRound(stock_round, number):
            return Round((stock_round, number), f"operating round {stock_round}.{number}")
        case MergerRound(stock_round, number):
            return Round((stock_round, number + 0.5), f"merger round {stock_round}.{number}")
        case GameOver():
            return Round((inf,), "the end of the game")
    return Round((0,), "the opening")


def _price_name(state: State, company: str) -> str:
    cell, g = state.companies[company].cell, game_of(state)
    return space_label(g, cell) if cell else "without a price"


def _owner_name(state: State, owner: str) -> str:
    if owner == CLOSED:
        return "nobody (closed)"
    return state.name(owner) if is_seat(owner) else f"the {state.name(owner)}"


def _same_tokens(ours: list[tuple[int, str]], site: list[tuple[int, str]] | None) -> bool:
    """Whether a hex has the same tokens in the same cities, or in a city that is still to be chosen."""
    our_cities = {owner: node for node, owner in ours}
    site_cities = {owner: node for node, owner in site or ()}
    return our_cities.keys() == site_cities.keys() and all(
        site_cities[company] in (node, UNDECIDED_CITY) for company, node in our_cities.items()
    )


def _phase_rules(state: State) -> PhaseDefinition:
    """What the phase allows, without its name."""
    return msgspec.structs.replace(game_of(state).phase, name="", on=None)


def _usable_trains(state: State, trains: Sequence[str]) -> list[str]:
    """Those of the trains that are not obsolete: when these leave play differs."""
    g = game_of(state)
    return sorted(train for train in trains if not is_obsolete(g, train))
