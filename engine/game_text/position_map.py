"""Set-up lines of the map: tiles, station tokens, destinations, tokens of privates."""

from __future__ import annotations

from collections.abc import Iterator

from engine.board.tile_geometry import face_at, fitting_rotations
from engine.core.components import CityTokenAbility, tile_faces
from engine.core.state import OperatingRound
from engine.core.words import join_words
from engine.game import Game
from engine.game_text.position_trains import is_train_bought
from engine.game_text.setup import Setup
from engine.game_text.word_reader import InvalidLineError
from engine.operating.connection_runs import destination_tokens_add_slots, is_in_city
from engine.operating.stations import (
    UNDECIDED_CITY,
    accepts_tokens,
    free_slots,
    home_node,
    printed_home,
    reserved_slots,
)
from engine.operating.track import blocking_private, is_tile_allowed_on, tile_supply
from engine.rounds.sequence import OperatingRoundRules


def set_city_tokens(g: Game, setup: Setup) -> None:
    """Place the tokens of privates in cities."""
    for private, token in setup.city_tokens.items():
        ability = g.private_definition(private).ability
        assert isinstance(ability, CityTokenAbility)
        if token.hex not in ability.hexes:
            raise InvalidLineError(f"The token of the {private} goes to {', '.join(ability.hexes)}.", private)
        if is_train_bought(g, ability.removed_on):
            raise InvalidLineError(
                f"In phase {g.state.phase} the token of the {private} is off the map.", private
            )
        g.state.city_tokens[private] = token


def set_destination(g: Game, setup: Setup, company: str) -> None:
    """Set whether the company has connected, and place its destination token."""
    co = g.company(company)
    if company in (*setup.connected, *setup.destinations) and not co.has_operated:
        raise InvalidLineError(f"The {company} has not operated yet, so it has not connected.", company)
    co.connected = company in setup.connected or company in setup.destinations
    hex = setup.destinations.get(company)
    if hex is None:
        return
    if hex != g.company_definition(company).destination:
        raise InvalidLineError(
            f"The destination of the {company} is {g.company_definition(company).destination}.", company
        )
    g.state.destination_tokens[company] = hex
    tokens = g.state.tokens.setdefault(hex, [])
    if all(owner != company for _, owner in tokens):
        tokens.append((0, company))


def set_tile(g: Game, setup: Setup, hex: str) -> None:
    """Lay the tile that is named for a hex, in the rotation named or the only one that fits."""
    tile, rotation = setup.tiles[hex]
    rotations = {t for name, t in _possible_tiles(g, hex) if name == tile}
    if not rotations:
        raise InvalidLineError(f"#{tile} can never lie on {hex}.", hex)
    possible = [str(each) for each in sorted(rotations)]
    if rotation is None and len(rotations) > 1:
        raise InvalidLineError(
            f"#{tile} fits on {hex} in several rotations; name one of {join_words(possible, 'or')}.", hex
        )
    if rotation is not None and rotation not in rotations:
        raise InvalidLineError(
            f"#{tile} in rotation {rotation} does not fit on {hex}; {join_words(possible)} would.", hex
        )
    color = tile_faces()[tile].color
    if color not in g.phase.tile_colors:
        raise InvalidLineError(f"No {color} tile lies on the map in phase {g.state.phase}.", hex)
    if private := blocking_private(g, hex):
        raise InvalidLineError(f"{hex} is closed while a player owns the {private}.", hex)
    g.state.tiles[hex] = (tile, rotations.pop() if rotation is None else rotation)


def _possible_tiles(g: Game, hex: str) -> Iterator[tuple[str, int]]:
    """Every tile and rotation that a sequence of upgrades can bring to the hex."""
    upgrades, first = (
        g.components.upgrades or {},
        g.components.preprinted_upgrades.get(g.title.preprinted_kinds[hex], ()),
    )
    possible: set[tuple[str, int]] = set()
    to_visit: list[tuple[str, int] | None] = [None]
    while to_visit:
        old = to_visit.pop()
        for tile in upgrades.get(old[0], ()) if old else first:
            if not is_tile_allowed_on(g, tile, hex):
                continue
            new = {(tile, fit.rotation) for fit in fitting_rotations(g.components, hex, old, tile)} - possible
            possible |= new
            to_visit += new
    yield from possible


def check_tile_supply(g: Game) -> None:
    """Raise InvalidLineError where more tiles of a number lie on the map than there are."""
    for tile, left in tile_supply(g).items():
        if left < 0:
            hex = next(h for h in reversed(g.state.tiles) if g.state.tiles[h][0] == tile)
            raise InvalidLineError(
                f"There are {g.components.tiles[tile]} of #{tile}, not {_count_on_map(g, tile)}.", hex
            )


def _count_on_map(g: Game, tile: str) -> int:
    return sum(name == tile for name, _ in g.state.tiles.values())


def set_tokens(g: Game, setup: Setup, company: str) -> None:
    """Place the tokens that are named, and the home token of a company that has operated."""
    co, cities = g.company(company), setup.tokens.get(company, [])
    if g.company_definition(company).home is None:
        for hex, node in cities:
            g.state.tokens.setdefault(hex, []).append((_token_node(g, company, hex, node), company))
        token_count = g.components.company_sizes[co.size].stations if co.size else 0
        co.unplaced_tokens = setup.tokens_left.get(company, max(token_count - len(cities), 0))
        return
    if co.closed:
        return
    total = len(g.company_definition(company).tokens)
    home = printed_home(g, company).hex
    has_home_token = co.has_operated or (co.floated and g.title.flotation.places_home)
    if not co.has_operated and any(not has_home_token or hex != home for hex, _ in cities):
        what = "token on the map but its home's" if has_home_token else "token on the map"
        raise InvalidLineError(f"The {company} has not operated yet, so it has no {what}.", company)
    if has_home_token and home not in [hex for hex, _ in cities]:
        cities = [(home, home_node(g, company)), *cities]
    for hex, node in cities:
        tokens = g.state.tokens.setdefault(hex, [])
        if any(owner == company for _, owner in tokens):
            raise InvalidLineError(f"Two tokens of the {company} never stand in one hex ({hex}).", company)
        tokens.append((_token_node(g, company, hex, node), company))
    if len(cities) > total:
        raise InvalidLineError(f"The {company} has {total} tokens, not {len(cities)}.", company)
    co.unplaced_tokens = setup.tokens_left.get(company, total - len(cities))
    if not 0 <= co.unplaced_tokens <= total - len(cities):
        raise InvalidLineError(
            f"The {company} has {total - len(cities)} tokens on its charter at most.", company
        )


def _token_node(g: Game, company: str, hex: str, node: int | None) -> int:
    """The node of a token; of a home with several cities the first one that is free."""
    nodes = face_at(g.components, g.state.tiles, hex).nodes
    cities = [i for i, each in enumerate(nodes) if accepts_tokens(g, each)]
    has_home = g.company_definition(company).home is not None
    if has_home and node is None and hex == printed_home(g, company).hex:
        if (node := home_node(g, company)) is not None:
            return node
        if _is_home_chosen_by_layer(g) and hex not in g.state.tiles:
            return UNDECIDED_CITY
        return next((i for i in cities if free_slots(g, hex, i) > 0), cities[0])
    if node is None and len(cities) == 1:
        return cities[0]
    if node is None and cities:
        choices = " or ".join(f"{hex}.{i}" for i in cities)
        raise InvalidLineError(f"{hex} has several cities; name that of the {company}: {choices}.", company)
    if node is None or (node not in cities and not (has_home and hex == printed_home(g, company).hex)):
        raise InvalidLineError(
            f"There is no city for a token at {hex if node is None else f'{hex}.{node}'}.", company
        )
    return node


def _is_home_chosen_by_layer(g: Game) -> bool:
    """Whether the city of such a home is chosen only when a tile is laid there (1830 §19.1)."""
    rounds = g.title.questions[OperatingRound]
    return isinstance(rounds, OperatingRoundRules) and rounds.home_chooser == "layer"


def add_slots(g: Game) -> None:
    """Add slots for destination tokens in cities, where the convention is that none has to be vacant."""
    if not destination_tokens_add_slots(g):
        return
    for hex in set(g.state.destination_tokens.values()):
        if is_in_city(g, (hex, 0)) and (missing := reserved_slots(g, hex, 0) - free_slots(g, hex, 0)) > 0:
            g.state.added_slots[hex] = missing


def check_cities(g: Game, setup: Setup) -> None:
    """Raise InvalidLineError where a city has more tokens than it can have."""
    for hex, tokens in g.state.tokens.items():
        last_named = max((c for _, c in tokens), key=setup.line_about)
        face = face_at(g.components, g.state.tiles, hex)
        for node, company in tokens:
            if node == UNDECIDED_CITY:
                continue
            has_home = g.company_definition(company).home is not None
            if has_home and not face.node_exits[node] and hex != printed_home(g, company).hex:
                raise InvalidLineError(
                    f"No track leads to the city in {hex}, so no token can be there.", company
                )
            destination_tokens = sum(there == hex for there in g.state.destination_tokens.values())
            free = free_slots(g, hex, node) + (0 if g.title.extra_slots else destination_tokens)
            if g.state.destination_tokens.get(company) == hex or not accepts_tokens(g, face.nodes[node]):
                continue
            if free < 0:
                raise InvalidLineError(f"{hex} has fewer spaces than tokens.", last_named)
            if free < reserved_slots(g, hex, node):
                raise InvalidLineError(
                    f"The space in {hex} is kept for the home of another company.", last_named
                )
