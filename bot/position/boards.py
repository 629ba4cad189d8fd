"""Trains, tiles and routes in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import engine
from bot.position import text_views
from engine.core.events import CompanyReturned
from engine.core.words import dollars

TILES_PER_LINE = 8


def trains_view(state: engine.State) -> str:
    """The trains that are left and those of each company."""
    owned = [f"{sym}: {' '.join(co.trains)}" for sym, co in state.companies.items() if co.trains]
    return "\n".join([*text_views.trains_text(state), *owned])


def tiles_view(state: engine.State) -> str:
    """How many of each tile are left."""
    left = [f"#{tile} x {'any' if n is None else n}" for tile, n in engine.tiles_left(state).items()]
    rows = [left[i : i + TILES_PER_LINE] for i in range(0, len(left), TILES_PER_LINE)]
    return "\n".join(["Tiles left:", *("  ".join(row) for row in rows)])


def tile_view(state: engine.State, tile: str) -> str:
    """Where a tile may lie now, what it upgrades, and what upgrades it."""
    name = tile.removeprefix("#")
    if name not in engine.game_of(state).components.tiles:
        raise ValueError(f"This game has no tile #{name}.")
    upgrades = engine.tile_upgrades(state, name)
    places = engine.places_of(state, name)
    left = engine.tiles_left(state).get(name, 0)
    below = [*(f"#{each}" for each in upgrades.before), *map(_printed, upgrades.empty_hexes)]
    lists = (("lies on", below), ("is replaced by", [f"#{each}" for each in upgrades.after]))
    return "\n".join(
        [
            f"#{name}: {'any number' if left is None else left} left.",
            f"It may lie on {', '.join(places) or 'no hex'} now.",
            *(f"It {verb} {', '.join(tiles) or 'no tile'}." for verb, tiles in lists),
        ]
    )


def _printed(kind: str) -> str:
    """A hex without a tile, as data name what is printed on it: `two_towns`, `city_OO`, `F13`."""
    what, _, mark = kind.partition("_")
    words = {"plain": "an empty hex", "town": "a town", "two": "two towns", "city": "a city"}.get(what, kind)
    return f"{words} marked {mark}" if mark and what == "city" else words


def last_runs(state: engine.State, moves: Iterable[Sequence[engine.AnyEvent]]) -> dict[str, engine.TrainsRan]:
    """The last run of each company, the latest first; none from before it was started once more.

    moves: the events of each, the latest first.
    """
    sought = {sym for sym, company in state.companies.items() if company.has_operated}
    found: dict[str, engine.TrainsRan] = {}
    for event in (event for events in moves for event in reversed(events)):
        if not sought:
            break
        if isinstance(event, engine.TrainsRan) and event.company in sought:
            found[event.company] = event
        if isinstance(event, engine.TrainsRan | CompanyReturned):
            sought.discard(event.company)
    return found


def routes_view(state: engine.State, last: Mapping[str, engine.TrainsRan], company: str) -> str:
    """The last run of a company with its routes, or of all companies that have run.

    last: the latest run of each company, the latest first. Of all, the company that is to act comes first,
    else the one that has run last: its run is on the picture.
    """
    wanted = [company] if company else routes_order(state, list(last))
    lines = []
    for sym in (sym for sym in wanted if sym in last):
        routes = ", ".join(f"{train}-train {route}" for train, route in last[sym].routes)
        lines.append(f"{sym}: {dollars(last[sym].revenue)}{f', {routes}' if routes else ''}")
    return "\n".join(lines) or (f"The {company} has not run yet." if company else "No company has run yet.")


def runs_view(state: engine.State) -> str:
    """Lines for the runs that may be chosen instead of the best, each with its dollars."""
    decision = engine.decision(state)
    seat = next(iter(decision.acting), "")
    found = engine.other_runs(state, seat) if seat else []
    if not found:
        return "No other routes can be run now."
    best = sum(run.revenue for run in engine.best_run(state, decision.company or ""))
    first = f"The {decision.company} can run one of these instead of its best, {dollars(best)}:"
    return "\n".join([first, *(f"  {run.line}   # {run.label.partition(':')[0]}" for run in found)])


def find_company(state: engine.State, name: str) -> str:
    """The symbol of a company, in letters of any size, with or without `&`; empty if there is none."""
    key = name.casefold().replace("&", "")
    return next((sym for sym in state.companies if sym.casefold().replace("&", "") == key), "")


def company_named(state: engine.State, name: str) -> str:
    """The symbol of a company, however its letters are written. Raises ValueError."""
    if found := find_company(state, name):
        return found
    raise ValueError(f"There is no company {name}; there are {', '.join(state.companies)}.")


def routes_order(state: engine.State, ran: Sequence[str]) -> list[str]:
    """Companies that have run: the one that is to act, else the latest, then the others as on the sheet.

    ran: the latest first.
    """
    acting = engine.decision(state).company
    first = [acting if acting in ran else ran[0]] if ran else []
    return [*filter(None, first), *(sym for sym in state.companies if sym in ran and sym not in first)]
