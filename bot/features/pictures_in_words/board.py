"""The map in words: a hex, a direction, what a company reaches, a route; and the market around a price."""

from __future__ import annotations

from collections.abc import Iterator

import engine
from bot.position.boards import find_company
from bot.position.sentences import (
    directions,
    face_of,
    hex_of,
    joined_by,
    later_values,
    track_phrases,
    value_now,
)
from engine.board.route_notation import chain_hexes, parse_route
from engine.core.components import HexDefinition, MarketZone, train_label
from engine.core.words import dollars, join_words
from engine.finance import market
from engine.operating.stations import reserved_slots
from engine.operating.track import blocking_private, candidate_tiles

NO_TILE = {"white": "no tile yet", "yellow": "printed yellow, no tile yet"}


def hex_text(state: engine.State, name: str) -> str:
    """A hex: its place, what lies there, what its track joins, values, spaces, what it may become, costs.

    Raises ValueError where there is no such hex.
    """
    printed, hex = hex_of(state, name), name.upper()
    lines = [f"{_named(hex, printed)}: {_tile(state, hex, printed)}."]
    lines += [f"{phrase[0].upper()}{phrase[1:]}." for phrase in track_phrases(state, hex)]
    lines += _values(state, hex)
    lines += _spaces(state, hex)
    lines.append(_beside(state, printed))
    lines += _next_tiles(state, hex)
    lines += _costs(state, hex, printed)
    return "\n".join(lines)


def way_text(state: engine.State, name: str, direction: str) -> str:
    """The hexes from a hex on in a straight line, to the border. Raises ValueError."""
    known = directions(state)
    if direction not in known:
        raise ValueError(f"On this map the directions are {join_words(known)}.")
    hexes = engine.game_of(state).components.map.hexes
    printed, edge, found = hex_of(state, name), known.index(direction), list[str]()
    while (beside := printed.neighbors.get(edge)) is not None:
        printed = hexes[beside]
        phrases = "; ".join(track_phrases(state, beside))
        found.append(
            f"{_named(beside, printed)}: {_tile(state, beside, printed)}{phrases and ', '}{phrases}."
        )
    head = f"{direction.capitalize()} of {name.upper()}"
    return "\n".join([f"{head}, to the border:", *found]) if found else f"{head} is the border."


def network_text(state: engine.State, company: str) -> str:
    """Where a company has tokens, the stops that its track reaches, and where it could build on."""
    g = engine.game_of(state)
    hexes = g.components.map.hexes
    tokens = [hex for hex, here in state.tokens.items() if any(owner == company for _, owner in here)]
    if not tokens:
        return f"The {company} has no token on the map."
    reached = g.network.reachable(company)
    stops = [
        f"{_named(hex, hexes[hex])} {dollars(value_now(state, g.network.node((hex, number))))}"
        for hex, number in sorted(reached.stops)
    ]
    open_hexes = [hex for hex in reached.edges if hex not in state.tiles and candidate_tiles(g, hex)]
    upgrades = [hex for hex in reached.edges if hex in state.tiles and candidate_tiles(g, hex)]
    return "\n".join(
        [
            f"Tokens of the {company}: {join_words([_named(hex, hexes[hex]) for hex in tokens])}.",
            f"Its track reaches {len(stops)} {'stop' if len(stops) == 1 else 'stops'}: {', '.join(stops)}.",
            f"It could lay a first tile on {', '.join(open_hexes) or 'no hex'}.",
            f"It could replace the tiles on {', '.join(upgrades) or 'no hex'}.",
        ]
    )


def route_text(state: engine.State, ran: engine.TrainsRan, number: int) -> str:
    """A route of a run, hex by hex. Raises ValueError where it has no such route."""
    if not 1 <= number <= len(ran.routes):
        most = len(ran.routes)
        raise ValueError(
            f"The last run of the {ran.company} has {most} {'route' if most == 1 else 'routes'}."
        )
    train, text = ran.routes[number - 1]
    g = engine.game_of(state)
    head = f"Route {number} of {len(ran.routes)} of the {ran.company}, which ran for {dollars(ran.revenue)}"
    try:
        route = parse_route(g.network, ran.company, text, train)
    except ValueError:
        return f"{head}: {train_label(train)} on {text}. The track has changed since."
    legs = []
    for chain in chain_hexes(route):
        over = f", over {', '.join(chain[1:-1])}" if len(chain) > 2 else ""
        legs.append(f"{_stop(state, chain[0])} to {_stop(state, chain[-1])}{over}.")
    return "\n".join([f"{head}: {train_label(train)}.", *legs])


def _named(hex: str, printed: HexDefinition) -> str:
    return f"{hex} {printed.name}" if printed.name else hex


def _stop(state: engine.State, hex: str) -> str:
    return _named(hex, engine.game_of(state).components.map.hexes[hex])


def _tile(state: engine.State, hex: str, printed: HexDefinition) -> str:
    face = face_of(state, hex)
    label = f", marked {face.label or printed.label}" if face.label or printed.label else ""
    if laid := state.tiles.get(hex):
        return f"{face.color} tile #{laid[0]}, rotation {laid[1]}{label}"
    return f"{NO_TILE.get(printed.color, f'printed {printed.color}, takes no tile')}{label}"


def _values(state: engine.State, hex: str) -> Iterator[str]:
    for node in face_of(state, hex).nodes:
        if later := later_values(state, node):
            yield f"It counts {dollars(value_now(state, node))} now{later}."


def _spaces(state: engine.State, hex: str) -> Iterator[str]:
    g = engine.game_of(state)
    for number in face_of(state, hex).stops:
        if kept := reserved_slots(g, hex, number):
            yield f"{'One space is' if kept == 1 else f'{kept} spaces are'} kept for a home token."


def _beside(state: engine.State, printed: HexDefinition) -> str:
    named = directions(state)
    return (
        f"Beside it: {', '.join(f'{hex} {named[edge]}' for edge, hex in sorted(printed.neighbors.items()))}."
    )


def _next_tiles(state: engine.State, hex: str) -> Iterator[str]:
    g = engine.game_of(state)
    if blocker := blocking_private(g, hex):
        yield f"The {blocker} blocks it."
    now = {
        tile: sorted(set(engine.rotations_on(state, tile, hex).values())) for tile in candidate_tiles(g, hex)
    }
    for tile, turns in now.items():
        if turns:
            joined = [f"rotation {turn} joins {joined_by(state, hex, tile, turn)}" for turn in turns]
            yield f"It may become #{tile}: {'; '.join(joined)}."
    if later := [f"#{tile}" for tile, turns in now.items() if not turns]:
        yield f"It may not become {join_words(later, 'or')} now."


def _costs(state: engine.State, hex: str, printed: HexDefinition) -> Iterator[str]:
    if hex not in state.tiles and printed.terrain:
        total = dollars(sum(each.cost for each in printed.terrain))
        yield f"The first tile costs {total} ({join_words([each.kind for each in printed.terrain])})."
    named = directions(state)
    for border in printed.borders:
        yield f"No track crosses its edge to the {named[border.edge]}."


ZONES = {MarketZone.UPPER_LEDGE: "above the ledge", MarketZone.LOWER: "below the ledge"}
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
        raise ValueError(f"The market has no space with ${int(price):,}.")
    return "\n".join(_around(state, at) for at in spaces)


def _around(state: engine.State, at: tuple[int, int]) -> str:
    """A space, who is there, and where the four steps from it lead."""
    g = engine.game_of(state)
    cell = g.components.market.rows[at[0]][at[1]]
    zones = f" ({', '.join(ZONES.get(z, z) for z in cell.zones)})" if cell and cell.zones else ""
    here = [sym for sym in state.market_order if state.companies[sym].cell == at]
    there = f", with {', '.join(here)}" if here else ""
    steps = [
        f"{name} {market.space_name(g, to)}"
        for name, step in STEPS
        if (to := step(g, at)) != at  # a step that goes nowhere stays
    ]
    place = f"row {at[0] + 1}, column {at[1] + 1}"
    return f"{market.space_name(g, at)} in {place}{zones}{there}: {', '.join(steps)}."
