"""What is wrong with the printed components of a title: one sentence for each fault.

A game reads its components move by move, so a name that leads nowhere would stop it in the middle. Each
function here checks one part of the box against the parts that it names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from engine.core.components.coordinates import NAME, column_row, neighbors_of
from engine.core.components.definitions import (
    CityTokenAbility,
    CompanyDefinition,
    Components,
    Face,
    HexDefinition,
    HexTokenAbility,
    MarketZone,
    PrivateDefinition,
    RiverDiscountAbility,
    ShareExchangeAbility,
    TileAbility,
    TrainDefinition,
)
from engine.core.words import counted

COLORS = ("white", "yellow", "green", "brown", "gray")
"""Colours of tiles in the order of upgrades."""

EDGES = range(6)


def faults_of(components: Components, tiles: Mapping[str, Face]) -> list[str]:
    """A sentence for each fault; `tiles`: the faces of all tiles that can be drawn."""
    misplaced = list(_coordinate_faults(components))
    if misplaced:
        return misplaced
    return [
        *_player_faults(components),
        *_market_faults(components),
        *_train_faults(components),
        *_phase_faults(components),
        *_hex_faults(components),
        *_tile_faults(components, tiles),
        *_company_faults(components),
        *_first_tile_faults(components, tiles),
        *_private_faults(components),
        *_size_faults(components),
    ]


def refuse_faults(where: str, faults: list[str]) -> None:
    """Raise ValueError, with the place and a sentence for each fault, where there are any."""
    if faults:
        raise ValueError("\n".join((f"{where} has {counted(len(faults), 'fault')}:", *faults)))


def _coordinate_faults(components: Components) -> Iterator[str]:
    """Hexes that have no place on the map."""
    board = components.map
    if sorted(board.axes) != ["x", "y"] or len(set(board.axes.values())) < 2:
        yield "The axes of the map must be x and y, one the letter and the other the number of a coordinate."
        return
    bad = [hex for hex in board.hexes if not NAME.fullmatch(hex)]
    yield from (f"Hex {hex} must be named by a letter and a number, as in H10." for hex in bad)
    if bad:
        return
    places = {hex: column_row(hex, board.axes) for hex in board.hexes}
    odd = [hex for hex, (column, row) in places.items() if (column + row) % 2]
    even = [hex for hex in places if hex not in odd]
    if odd and even:
        few, many = sorted((odd, even), key=len)
        yield from (
            f"Hex {hex} lies between hexes: columns and rows from {many[0]} must add up to an even number."
            for hex in few
        )


def _unknown(where: str, names: Iterable[str | None], known: Collection[str], kind: str) -> Iterator[str]:
    """A sentence for each name that is none of the known ones; None names nothing."""
    for name in names:
        if name is not None and name not in known:
            yield f"{where} names {kind} {name}, which this title does not have."


def _twice(names: Iterable[str], kind: str) -> Iterator[str]:
    yield from (f"There is more than one {kind} {name}." for name, n in Counter(names).items() if n > 1)


def _player_faults(components: Components) -> Iterator[str]:
    players = components.players
    if sorted(players) != ["max", "min"] or not 0 < players["min"] <= players["max"]:
        yield "`players` must give a `min` and a `max`, the least and the largest number of players."
        return
    for number in map(str, range(players["min"], players["max"] + 1)):
        if number not in components.starting_cash:
            yield f"`starting_cash` has no entry for {number} players."
        if components.cert_limit and number not in components.cert_limit:
            yield f"`cert_limit` has no entry for {number} players."
        for left, limits in components.cert_limits.items():
            if number not in limits:
                yield f"`cert_limits` for {left} companies has no entry for {number} players."


def _market_faults(components: Components) -> Iterator[str]:
    market, pars = components.market, set(components.par_prices)
    cells = [(row, at, cell) for row, line in enumerate(market.rows) for at, cell in enumerate(line) if cell]
    printed = {cell.price for _, _, cell in cells if MarketZone.PAR in cell.zones}
    if market.type == "1d" and len(market.rows) != 1:
        yield f"A market of type 1d has one row; this one has {len(market.rows)}."
    for price in components.par_prices:
        if price not in printed:
            yield f"The par price ${price} has no space of the market with the zone `par`."
    for price in sorted(printed - pars):
        yield f"The market has a `par` space of ${price}, which `par_prices` leaves out."
    places = {(row, at) for row, at, _ in cells}
    for row, at, cell in cells:
        beside = row + {"up": -1, "down": 1}.get(cell.arrow or "", 0)
        if (beside, at) not in places:
            place = f"The ${cell.price} space in row {row + 1}, column {at + 1} of the market"
            yield f"{place} has an arrow {cell.arrow}, where there is no space."


def _train_faults(components: Components) -> Iterator[str]:
    trains = components.trains
    names = [train.name for train in trains]
    yield from _twice(names, "train")
    for place, train in enumerate(trains):
        where = f"The {train.name}-train"
        if (train.count is not None and train.count < 1) or (
            train.distance is not None and train.distance < 1
        ):
            yield f"{where} must have a count and a distance of 1 or more, or null for no limit."
        yield from _event_faults(where, train, names[: place + 1], names)
        yield from _unknown(f"{where} (`discounts`)", train.discounts, names, "train")
        yield from _unknown(f"{where} (`available_on`)", [train.available_on], names, "train")
        if train.available_on == train.name:
            yield f"{where} is for sale only once it has been bought (`available_on`)."
    yield from _unknown("`own_station_bonus`", components.own_station_bonus, names, "train")


def _event_faults(where: str, train: TrainDefinition, so_far: list[str], names: list[str]) -> Iterator[str]:
    """Faults of the trains that remove a train: each must be one that is sold later."""
    for field, event in (("rusts_on", train.rusts_on), ("obsolete_on", train.obsolete_on)):
        if event is not None and event not in names:
            yield f"{where} has `{field}` {event}, but there is no {event}-train."
        elif event in so_far:
            yield f"{where} has `{field}` {event}, a train that is not sold after it."


def _phase_faults(components: Components) -> Iterator[str]:
    trains = [train.name for train in components.trains]
    phases = components.phases
    yield from _twice((phase.name for phase in phases), "phase")
    if not phases or phases[0].on is not None:
        yield "The first phase must begin with the game: its `on` is null."
    sold = -1
    for phase in phases[1:]:
        if phase.on not in trains:
            yield f"Phase {phase.name} begins with a {phase.on}-train, which this title does not have."
        elif trains.index(phase.on) <= sold:
            yield f"Phase {phase.name} begins with a {phase.on}-train, which the phase before it has passed."
        else:
            sold = trains.index(phase.on)
    for phase in phases:
        if phase.operating_rounds < 1 or phase.train_limit < 1:
            yield f"Phase {phase.name} must have a train limit and operating rounds of 1 or more."
        for size in phase.ipo_sizes:
            if size not in components.company_sizes:
                yield f"Phase {phase.name} starts companies of {size} shares; `company_sizes` has no {size}."


def _hex_faults(components: Components) -> Iterator[str]:
    companies = {company.sym for company in components.companies}
    privates = {private.sym for private in components.privates}
    beside = neighbors_of(components.map)
    for hex, here in components.map.hexes.items():
        where = f"Hex {hex}"
        for edge in sorted({*here.neighbors, *beside[hex]} if here.neighbors else ()):
            if here.neighbors.get(edge) != beside[hex].get(edge):
                meets = beside[hex].get(edge, "no hex")
                yield f"{where} meets {meets} at edge {edge}, not {here.neighbors.get(edge, 'nothing')}."
        yield from _face_faults(where, here, components)
        for end in (end for path in here.paths for end in path):
            if end[:1] == "e" and end[1:].isdecimal() and int(end[1:]) not in beside[hex]:
                yield f"{where} has a path to edge {end[1:]}, where there is no hex."
        river = (*here.river.west, *here.river.east) if here.river else ()
        for edge in (*river, *(border.edge for border in here.borders)):
            if edge not in EDGES:
                yield f"{where} has an edge {edge}; edges are 0 to 5."
        yield from _unknown(f"{where} (`reserved`)", here.reserved, companies, "company")
        yield from _unknown(f"{where} (`blocked_by`)", [here.blocked_by], privates, "private company")
    for hex in components.single_city_hexes:
        if hex not in components.map.hexes:
            yield f"`single_city_hexes` names hex {hex}, which is not on the map."


def _face_faults(where: str, face: Face, components: Components) -> Iterator[str]:
    """Faults of what is printed on a hex or tile."""
    ends = {f"e{edge}" for edge in EDGES} | {f"n{node}" for node in range(len(face.nodes))}
    for end in (end for path in face.paths for end in path):
        if end not in ends:
            yield f"{where} has a path to {end}: an end is e0 to e5, or n0 and so on for one of its nodes."
    order = [phase.name for phase in components.phases]
    for node in face.nodes:
        if node.slots < 0:
            yield f"{where} has a {node.kind} with fewer than 0 slots."
        if isinstance(node.revenue, dict):
            yield from _unknown(f"{where} (`revenue`)", node.revenue, order, "phase")
            if order and order[0] not in node.revenue:
                yield f"{where} has no revenue for phase {order[0]}, with which the game begins."
        yield from _unknown(f"{where} (`usable_from_phase`)", [node.usable_from_phase], order, "phase")


def _tile_faults(components: Components, faces: Mapping[str, Face]) -> Iterator[str]:
    """Tiles that are not drawn or not in the box, and upgrades that could never be made."""
    own = components.tiles
    for tile, number in own.items():
        if tile not in faces:
            yield f"Tile {tile} does not exist: `engine/titles/tiles.json` has no such tile."
        else:
            yield from _face_faults(f"Tile {tile}", faces[tile], components)
        if number is not None and number < 1:
            yield f"There must be 1 or more of tile {tile}, or null for no limit."
    upgrades = components.upgrades or {}
    yield from _unknown("`upgrades`", upgrades, own, "tile")
    for old, after in upgrades.items():
        yield from _unknown(f"The upgrades of tile {old}", after, own, "tile")
        for new in after:
            if {old, new} <= {*own} & {*faces} and not _is_later(faces[old], faces[new]):
                colors = f"{faces[old].color}, and tile {new} is {faces[new].color}"
                yield f"Tile {old} cannot be upgraded to tile {new}: tile {old} is {colors}."
    first = components.preprinted_upgrades
    kinds = {h: here.printed_kind for h, here in components.map.hexes.items() if here.takes_tiles}
    for hex, kind in kinds.items():
        if hex not in first and kind not in first:
            yield f"Hex {hex} is printed as {kind}, for which `preprinted_upgrades` names no tiles."
    for kind, after in first.items():
        if kind not in {*kinds, *kinds.values()}:
            yield f"`preprinted_upgrades` names {kind}, but the map has no such hex."
        yield from _unknown(f"The tiles for {kind} (`preprinted_upgrades`)", after, own, "tile")
    for field, hexes_by_tile in (
        ("tile_hexes", components.tile_hexes),
        ("tile_not_hexes", components.tile_not_hexes),
    ):
        yield from _unknown(f"`{field}`", hexes_by_tile, own, "tile")
        for tile, hexes in hexes_by_tile.items():
            yield from _hexes_off_map(f"`{field}` of tile {tile}", hexes, components)


def _is_later(old: Face, new: Face) -> bool:
    return old.color in COLORS and new.color in COLORS[COLORS.index(old.color) + 1 :]


def _hexes_off_map(where: str, hexes: Iterable[str], components: Components) -> Iterator[str]:
    yield from (
        f"{where} names hex {h}, which is not on the map." for h in hexes if h not in components.map.hexes
    )


_COLOR = re.compile("#[0-9A-Fa-f]{6}")


def _company_faults(components: Components) -> Iterator[str]:
    hexes = components.map.hexes
    yield from _twice((company.sym for company in components.companies), "company")
    for company in components.companies:
        where = f"The {company.sym}"
        if sum(company.shares) != 100 or min(company.shares, default=0) <= 0:
            yield f"The shares of the {company.sym} make {sum(company.shares)} %, not 100 %."
        if not 0 <= company.float_percent <= 100:
            yield f"{where} floats at {company.float_percent} %, which must be 0 to 100 %."
        for color in (company.color, company.text_color):
            if not _COLOR.fullmatch(color):
                yield f"{where} has the color {color}, which must be written as #d1232a."
        if company.destination is not None and company.destination not in hexes:
            yield f"{where} has its destination in {company.destination}, which is not on the map."
        if company.home is None:
            continue
        if company.home.hex not in hexes:
            yield f"{where} has its home in {company.home.hex}, which is not on the map."
        else:
            yield from _home_faults(company, hexes[company.home.hex], company.home.hex, company.home.city)
    for hex, here in hexes.items():
        homes = {company.sym for company in components.companies if company.home and company.home.hex == hex}
        for sym in {*here.reserved} & {company.sym for company in components.companies} - homes:
            yield f"Hex {hex} is reserved for the {sym}, whose home is not there."


def _home_faults(
    company: CompanyDefinition, here: HexDefinition, hex: str, city: int | None
) -> Iterator[str]:
    """Faults of a home that is on the map: it must be a place for tokens, and the company have one."""
    if not company.tokens:
        yield f"The {company.sym} has a home in {hex} but no token; the first of `tokens` is for the home."
    places = [n for n, node in enumerate(here.nodes) if node.kind in ("city", "offboard")]
    if not places or (city is not None and city not in places):
        which = "city" if city is None or not places else f"city {city}"
        yield f"The {company.sym} has its home in {hex}, which has no {which}."


def _first_tile_faults(components: Components, faces: Mapping[str, Face]) -> Iterator[str]:
    """Homes without track where every first tile would lead off the map: their companies would never run."""
    beside = neighbors_of(components.map)
    for company in components.companies:
        here = components.map.hexes.get(company.home.hex) if company.home else None
        if company.home is None or here is None or here.paths or not here.takes_tiles:
            continue
        hex, first = company.home.hex, components.preprinted_upgrades
        tiles = [tile for tile in first.get(hex, first.get(here.printed_kind, ())) if tile in faces]
        closed = {border.edge for border in here.borders}
        if tiles and not any(_fits(faces[tile], beside[hex].keys() - closed) for tile in tiles):
            yield (
                f"The {company.sym} has its home in {hex}, where no first tile fits "
                f"({', '.join(tiles)}): each leads off the map."
            )


def _fits(face: Face, edges: Collection[int]) -> bool:
    """Whether a tile can be turned so that its track ends at these edges of a hex alone."""
    exits = {int(end[1:]) for path in face.paths for end in path if end.startswith("e")}
    return any({(exit + turn) % 6 for exit in exits} <= set(edges) for turn in EDGES)


def _private_faults(components: Components) -> Iterator[str]:
    companies = {company.sym: company for company in components.companies}
    yield from _twice((private.sym for private in components.privates), "private company")
    players = range(components.players.get("min", 0), components.players.get("max", 0) + 1)
    for private in components.privates:
        where = f"The {private.sym}"
        yield from _hexes_off_map(where, private.blocks, components)
        named = [
            private.closes_with_first_train_of,
            *(private.early_sale.buyers if private.early_sale else ()),
        ]
        yield from _unknown(where, named, companies, "company")
        grant = private.grants
        if grant and grant.company not in companies:
            yield f"{where} comes with a share of the {grant.company}, which this title does not have."
        elif grant and grant.percent not in _certificates(companies[grant.company], grant.president):
            kind = "president's certificate" if grant.president else "share"
            yield f"{where} comes with a {kind} of {grant.percent} %, which the {grant.company} has not."
        for number in private.used_with_players:
            if number not in players:
                yield f"{where} is in play with {number} players, with whom the title is not played."
        yield from _ability_faults(where, private, components)


def _certificates(company: CompanyDefinition, president: bool) -> tuple[int, ...]:
    return company.shares[:1] if president else company.shares[1:]


def _ability_faults(where: str, private: PrivateDefinition, components: Components) -> Iterator[str]:
    ability = private.ability
    companies = {company.sym: company for company in components.companies}
    if isinstance(ability, TileAbility | RiverDiscountAbility | CityTokenAbility | HexTokenAbility):
        yield from _hexes_off_map(where, ability.hexes, components)
    yield from _unknown(where, getattr(ability, "tiles", ()), components.tiles, "tile")
    if isinstance(ability, CityTokenAbility):
        trains = [train.name for train in components.trains]
        yield from _unknown(where, [ability.removed_on], trains, "train")
    if isinstance(ability, ShareExchangeAbility):
        if ability.company not in companies:
            yield f"{where} is exchanged for a share of the {ability.company}, which is no company here."
        elif ability.percent not in _certificates(companies[ability.company], president=False):
            yield f"{where} is exchanged for {ability.percent} %, a share that the {ability.company} lacks."


def _size_faults(components: Components) -> Iterator[str]:
    """Faults of the company sizes, bids and loans of 1817."""
    for number, size in components.company_sizes.items():
        if size.stations_to_buy > size.stations:
            yield f"A company of {number} shares has to buy {size.stations_to_buy} of {size.stations} tokens."
    bid, loans = components.ipo_bid, components.loans
    if bid and not 0 < bid.step <= bid.min <= bid.max:
        yield f"A bid runs from ${bid.min} to ${bid.max} by ${bid.step}, which leaves nothing to bid."
    if bid and components.par_prices and min(components.par_prices) > bid.min // 2:
        yield f"A bid of ${bid.min} buys half a company, and no par price is ${bid.min // 2} or less."
    if loans and min(loans.count, loans.value, loans.step) < 1:
        yield "Loans must have a count, a value and a step of 1 or more."
