"""The view of the map: its hexes with tiles, tokens, structures and routes; and of a tile by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from engine import (
    CLOSED,
    CityTokenAbility,
    CoalMineAbility,
    Components,
    Face,
    HexDefinition,
    HexTokenAbility,
    State,
    TileLayAbility,
    column_row,
    copy_state,
    face_at,
    game_of,
    home_node,
    parse_route,
    tile_faces,
)
from renderers.views.hex_view import HexView, MapView, PhaseValue, RouteSegment, Structure
from renderers.views.labels import Badge, company_badges

WIDE_PART = 14
"""Columns."""


# --- the map --------------------------------------------------------------------------------


def map_view(
    state: State,
    *,
    highlight: Iterable[str] = (),
    routes: Sequence[tuple[str, str]] = (),
    company: str = "",
    crop: Iterable[str] | None = None,
    preview: Mapping[str, tuple[str, int]] | None = None,
) -> MapView:
    """The map of a position.

    `highlight`: hexes that changed last. `routes`: (label, route) of each train that `company` runs. `crop`:
    only these hexes. `preview`: (tile, rotation) by hex, as if the tiles had been laid; tokens move to the
    nodes that keep their edges.

    Raises KeyError for an unknown hex, ValueError for a route without track.
    """
    components = game_of(state).components
    if preview:
        state = _with_preview(state, preview)
    highlighted = frozenset(highlight)
    shown = frozenset(components.map.hexes if crop is None else crop)
    for coord in (*highlighted, *shown):
        _printed_hex(components, coord)
    coords = [coord for coord in components.map.hexes if coord in shown]
    segments: dict[str, list[RouteSegment]] = {}
    for i, (label, route) in enumerate(routes):
        for coord, a, b in route_legs(state, company, route):
            segments.setdefault(coord, []).append(RouteSegment(i, label, a, b))
    badges = company_badges(components)
    return MapView(
        title=components.title,
        layout=components.map.layout,
        axes=tuple(sorted(components.map.axes.items())),
        phase=state.phase,
        hexes=tuple(
            _hex_view(state, components, badges, c, c in highlighted, segments.get(c, ())) for c in coords
        ),
        companies=tuple(badges.values()),
        routes=tuple(label for label, _ in routes),
        is_crop=crop is not None,
    )


def around(state: State, hexes: Iterable[str]) -> tuple[str, ...]:
    """These hexes and their neighbors, in the order of the map."""
    board = game_of(state).components.map.hexes
    wanted = set(hexes)
    wanted |= {neighbor for hex in wanted for neighbor in board[hex].neighbors.values()}
    return tuple(hex for hex in board if hex in wanted)


def part_around(state: State, hexes: Iterable[str]) -> tuple[str, ...]:
    """The part of the map to show for these hexes: with their neighbors, so that one sees where they are.

    A wide part has no columns more than its hexes, so that it can be read on a phone.
    """
    board, asked = game_of(state).components.map, tuple(hexes)
    axes = tuple(board.axes.items())
    part = around(state, asked)
    columns = [column_row(hex, axes)[0] for hex in asked]
    if not columns or max(columns) - min(columns) < WIDE_PART:
        return part
    return tuple(hex for hex in part if min(columns) <= column_row(hex, axes)[0] <= max(columns))


def _with_preview(state: State, preview: Mapping[str, tuple[str, int]]) -> State:
    changed = copy_state(state)
    components = game_of(state).components
    for coord, way in preview.items():
        before = face_at(components, state.tiles, coord).node_exits
        changed.tiles[coord] = way
        after = face_at(components, changed.tiles, coord).node_exits
        changed.tokens[coord] = [
            (next((n for n, exits in enumerate(after) if exits & before[node]), node), sym)
            for node, sym in state.tokens.get(coord, ())
        ]
    return changed


def _printed_hex(components: Components, coord: str) -> HexDefinition:
    try:
        return components.map.hexes[coord]
    except KeyError:
        raise KeyError(f"the map of {components.title} has no hex {coord}") from None


def _face_on(state: State, printed: HexDefinition, coord: str) -> tuple[Face, str | None, int]:
    """The face on a hex, with the number and rotation of its tile."""
    if coord not in state.tiles:
        return printed, None, 0
    tile, rotation = state.tiles[coord]
    return tile_faces()[tile], tile, rotation


def _hex_view(
    state: State,
    components: Components,
    badges: Mapping[str, Badge],
    coord: str,
    highlighted: bool,
    segments: Iterable[RouteSegment],
) -> HexView:
    printed = components.map.hexes[coord]
    face, tile, rotation = _face_on(state, printed, coord)
    tokens = tuple((node, badges[sym]) for node, sym in state.tokens.get(coord, ()))
    names_area = _carries_area_name(components, coord)
    return HexView(
        coord=coord,
        color=face.color,
        nodes=tuple((n.kind, n.slots) for n in face.nodes),
        paths=face.paths,
        rotation=rotation,
        tile=tile,
        label=face.label or printed.label,
        name=printed.name if names_area else None,
        revenues=tuple(n.revenue for n in face.nodes if isinstance(n.revenue, int) and n.revenue),
        phase_values=tuple(phase_values(components, face, state.phase)) if names_area else (),
        terrain=() if tile else tuple((t.kind, t.cost) for t in printed.terrain),
        barriers=tuple(border.edge for border in printed.borders),
        joined_edges=tuple(_joined_edges(components, coord)),
        tokens=tokens,
        reserved=tuple(_reservations(state, badges, coord, face, {b.sym for _, b in tokens})),
        blocked=tuple(
            p.sym for p in components.privates if coord in p.blocks and _blocks_hexes(state, p.sym)
        ),
        river_banks=(river.west, river.east, river.stations) if (river := printed.river) else None,
        notes=tuple(_hex_notes(state, components, coord)),
        structures=tuple(_structures(state, components, coord)),
        highlighted=highlighted,
        route_segments=tuple(segments),
    )


def _hex_notes(state: State, components: Components, coord: str) -> Iterator[str]:
    """The notes of a hex: tokens of privates, what privates may still place or lay, destinations."""
    for private in components.privates:
        token, ability = state.city_tokens.get(private.sym), private.ability
        city_token = ability if isinstance(ability, CityTokenAbility) else None
        if city_token and token is not None and token.hex == coord:
            yield f"{token.company} +{city_token.bonus}"
            if token.is_open:
                yield f"all +{city_token.open_bonus}"
        is_available = token is None and state.private_owners.get(private.sym, CLOSED) != CLOSED
        if city_token and is_available and city_token.token in components.map.hexes[coord].icons:
            yield city_token.token
        if (
            isinstance(ability, TileLayAbility)
            and coord in ability.hexes
            and _can_lay_own_tile(state, components, private.sym, ability)
        ):
            yield private.sym
    for company in components.companies:
        state_of_company = state.companies[company.sym]
        if company.destination == coord and not (state_of_company.connected or state_of_company.closed):
            yield f"→{company.sym}"


def _can_lay_own_tile(state: State, components: Components, private: str, ability: TileLayAbility) -> bool:
    """Whether a private may still lay a tile that fits only on its own hexes, which are empty."""
    tiles, hexes = ability.tiles, ability.hexes
    upgrades = components.preprinted_upgrades.items()
    other_tiles = {tile for kind, upgrade_tiles in upgrades if kind not in hexes for tile in upgrade_tiles}
    is_available = state.private_owners.get(private, CLOSED) != CLOSED and private not in state.used_abilities
    return is_available and other_tiles.isdisjoint(tiles) and state.tiles.keys().isdisjoint(hexes)


def _structures(state: State, components: Components, coord: str) -> Iterator[Structure]:
    """The structures built on a hex, and those that privates may still build there."""
    built = {"mine": state.mine_hexes, "bridge": state.bridge_hexes}
    bonus = {
        kind: ability.bonus
        for private in components.privates
        if isinstance(ability := private.ability, HexTokenAbility)
        if coord in built[kind := _structure_kind(ability)] or _may_build(state, private.sym, ability, coord)
    }
    yield from (Structure(kind, dollars, coord in built[kind]) for kind, dollars in bonus.items())


def _structure_kind(ability: HexTokenAbility) -> str:
    """The kind of structure that the tokens of an ability build."""
    return "mine" if isinstance(ability, CoalMineAbility) else "bridge"


def _may_build(state: State, private: str, ability: HexTokenAbility, coord: str) -> bool:
    """Whether a private has a token left for a hex; a mine needs a hex without a tile."""
    left = ability.uses - state.used_abilities.count(private)
    closed = state.private_owners.get(private, CLOSED) == CLOSED
    too_late = coord in state.tiles and _structure_kind(ability) == "mine"
    return left > 0 and not closed and not too_late and coord in ability.hexes


def _area_group(face: HexDefinition) -> str | None:
    return next((n.group for n in face.nodes if n.group), None)


def _carries_area_name(components: Components, coord: str) -> bool:
    """Whether the name and values of an area are shown on this hex: the last hex of the area."""
    group = _area_group(components.map.hexes[coord])
    return not group or coord == [c for c, h in components.map.hexes.items() if _area_group(h) == group][-1]


def _joined_edges(components: Components, coord: str) -> Iterator[int]:
    """The edges to hexes of the same area."""
    hex = components.map.hexes[coord]
    group = _area_group(hex)
    for edge, other in hex.neighbors.items():
        if group and _area_group(components.map.hexes[other]) == group:
            yield edge


def phase_values(components: Components, face: Face, phase: str) -> Iterator[PhaseValue]:
    order = [p.name for p in components.phases]
    colors = {p.name: p.tile_colors[-1] for p in components.phases}
    for node in face.nodes:
        if isinstance(node.revenue, dict):
            begun = [key for key in node.revenue if order.index(key) <= order.index(phase)]
            now = max(begun, key=order.index, default=None)
            for key, amount in node.revenue.items():
                yield PhaseValue(key, amount, colors.get(key, "white"), key == now)


def _reservations(
    state: State, badges: Mapping[str, Badge], coord: str, face: Face, present: set[str]
) -> Iterator[tuple[int, Badge]]:
    """(node, company) of homes without a token; every city where the president may choose one."""
    g = game_of(state)
    for company in g.components.companies:
        if company.home is None or company.home.hex != coord or company.sym in present:
            continue
        city = home_node(g, company.sym)
        cities = [i for i, n in enumerate(face.nodes) if n.kind == "city"]
        yield from ((node, badges[company.sym]) for node in (cities if city is None else [city]))


def _blocks_hexes(state: State, private: str) -> bool:
    """Whether a private blocks its hexes: until a company owns it or it is closed (1830 §7.1)."""
    owner = state.private_owners.get(private, CLOSED)
    return owner != CLOSED and owner not in state.companies


def route_legs(state: State, company: str, route: str) -> list[tuple[str, str, str]]:
    """The legs of a route, with ends as in a face's paths."""
    legs = parse_route(game_of(state).network, company, route).segments
    return [(coord, _path_end(a), _path_end(b)) for coord, a, b in legs]


def _path_end(end: int) -> str:
    return f"e{end}" if end < 6 else f"n{end - 6}"


def tile_view(state: State, tile: str) -> HexView:
    """A hex with nothing but a tile in rotation 0. Raises KeyError for an unknown tile."""
    face = tile_faces()[tile]
    return HexView(
        coord="",
        color=face.color,
        nodes=tuple((n.kind, n.slots) for n in face.nodes),
        paths=face.paths,
        tile=tile,
        label=face.label,
        revenues=tuple(n.revenue for n in face.nodes if isinstance(n.revenue, int) and n.revenue),
        phase_values=tuple(phase_values(game_of(state).components, face, state.phase)),
    )
