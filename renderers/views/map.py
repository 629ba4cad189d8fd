"""What a map shows: its hexes as they lie, and what is on top."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

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
    copy_state,
    game_of,
    parse_route,
    tile_faces,
)
from renderers.views.labels import Badge, clip_text, company_badges

RouteLeg = tuple[str, int, int]
"""One stretch of a route: a hex and two ends as the tile lies, 0-5 an edge and 6 + n node n."""

RouteSpec = str | Sequence[RouteLeg]
"""A route: as players write it (`F2-H4-H10`), or its stretches."""


@dataclass(frozen=True)
class PhaseValue:
    """A figure that changes by phase: it counts from `phase` on; `current`: it counts now."""

    phase: str
    amount: int
    color: str
    is_current: bool


@dataclass(frozen=True)
class Structure:
    """A mine or a bridge that is worth `bonus` dollars to a route, or, not `built`, a place for one."""

    kind: str
    bonus: int
    is_built: bool


@dataclass(frozen=True)
class RouteSegment:
    """A part of a route on one hex, between two ends; `route` counts from 0."""

    route: int
    label: str
    a: str
    b: str


@dataclass(frozen=True)
class HexView:
    """One hex as it lies: the face printed on it or of its tile, and what is on top.

    `banks`: the edges on either bank of a river, and on which its stops lie. `notes`: words on plates,
    as for ports and for what companies are to reach.
    """

    coord: str
    color: str
    nodes: tuple[tuple[str, int], ...] = ()
    paths: tuple[tuple[str, str], ...] = ()
    turns: int = 0
    tile: str | None = None
    label: str | None = None
    name: str | None = None
    revenues: tuple[int, ...] = ()
    phase_values: tuple[PhaseValue, ...] = ()
    terrain: tuple[tuple[str, int], ...] = ()
    borders: tuple[tuple[int, str, int], ...] = ()
    joined_edges: tuple[int, ...] = ()
    tokens: tuple[tuple[int, Badge], ...] = ()
    reserved: tuple[tuple[int, Badge], ...] = ()
    blocked: tuple[str, ...] = ()
    river_banks: tuple[tuple[int, ...], tuple[int, ...], str | None] | None = None
    notes: tuple[str, ...] = ()
    structures: tuple[Structure, ...] = ()
    highlighted: bool = False
    route_segments: tuple[RouteSegment, ...] = ()


@dataclass(frozen=True)
class MapView:
    """A map, or a part of one, at a moment."""

    title: str
    layout: Literal["flat", "pointy"]
    axes: tuple[tuple[str, str], ...]
    phase: str
    hexes: tuple[HexView, ...]
    companies: tuple[Badge, ...]
    routes: tuple[str, ...] = ()

    def hex_at(self, coord: str) -> HexView:
        """The hex of that coordinate; KeyError where the view has none."""
        for view in self.hexes:
            if view.coord == coord:
                return view
        raise KeyError(coord)

    @property
    def alt(self) -> str:
        """The picture in words."""
        parts = [f"Map of {self.title}, phase {self.phase}"]
        for h in self.hexes:
            if h.highlighted:
                what = f"{h.color} tile {h.tile}" if h.tile else "no tile"
                held = ", ".join(badge.sym for _, badge in h.tokens)
                works = "".join(f", a {site.kind}" for site in h.structures if site.is_built)
                held = held and f", tokens {held}"
                parts.append(f"Last change at {_hex_name(h)}: {what}{works}{held}")
        parts += [f"Route {i + 1}: {label}" for i, label in enumerate(self.routes)]
        held_by = {
            c.sym: [h.coord for h in self.hexes for _, b in h.tokens if b == c] for c in self.companies
        }
        tokens = "; ".join(f"{sym} {' '.join(at)}" for sym, at in held_by.items() if at)
        parts.append(f"Tokens: {tokens}" if tokens else "No tokens")
        now = {h.name or h.coord: v.amount for h in self.hexes for v in h.phase_values if v.is_current}
        if now:
            parts.append("Values now: " + ", ".join(f"{name} {amount}" for name, amount in now.items()))
        for kind in ("mine", "bridge"):
            built = [
                h.coord for h in self.hexes for site in h.structures if site.is_built and site.kind == kind
            ]
            if built:
                parts.append(f"{kind.capitalize()}s: {' '.join(built)}")
        parts.append(f"{sum(h.tile is not None for h in self.hexes)} tiles laid")
        return clip_text(". ".join(parts) + ".")


def _hex_name(view: HexView) -> str:
    return f"{view.coord} ({view.name})" if view.name else view.coord


# --- the map --------------------------------------------------------------------------------


def map_view(
    state: State,
    *,
    highlight: Iterable[str] = (),
    routes: Sequence[tuple[str, RouteSpec]] = (),
    company: str = "",
    crop: Iterable[str] | None = None,
    preview: Mapping[str, tuple[str, int]] | None = None,
) -> MapView:
    """The map of a position.

    `highlight`: hexes of the last change. `routes`: for each train its label and its course;
    `company` runs them (of tracks that join the same stops, hers are meant).
    `crop`: only these hexes. `preview`: tiles by hex, with their turn, as if they had been laid;
    tokens go to the stops that keep their edges. Raises KeyError for a hex that the map has not,
    and ValueError for a course that no track runs along.
    """
    facts = game_of(state).components
    if preview:
        state = _with_preview(state, preview)
    marked = frozenset(highlight)
    kept = frozenset(facts.map.hexes if crop is None else crop)
    for coord in (*marked, *kept):
        _printed_hex(facts, coord)
    coords = [coord for coord in facts.map.hexes if coord in kept]
    legs: dict[str, list[RouteSegment]] = {}
    for i, (label, course) in enumerate(routes):
        for coord, a, b in route_legs(state, company, course):
            legs.setdefault(coord, []).append(RouteSegment(i, label, a, b))
    badges = company_badges(facts)
    return MapView(
        title=facts.title,
        layout=facts.map.layout,
        axes=tuple(sorted(facts.map.axes.items())),
        phase=state.phase,
        hexes=tuple(_hex_view(state, facts, badges, c, c in marked, legs.get(c, ())) for c in coords),
        companies=tuple(badges.values()),
        routes=tuple(label for label, _ in routes),
    )


def _with_preview(state: State, preview: Mapping[str, tuple[str, int]]) -> State:
    changed = copy_state(state)
    facts = game_of(state).components
    for coord, (tile, turns) in preview.items():
        before, _, turned = _face_on(state, _printed_hex(facts, coord), coord)
        after = tile_faces()[tile]
        changed.tiles[coord] = (tile, turns)
        changed.tokens[coord] = [
            (_kept_node(before, turned, after, turns, node), sym) for node, sym in state.tokens.get(coord, ())
        ]
    return changed


def _kept_node(before: Face, turned: int, after: Face, turns: int, node: int) -> int:
    """The node of a later face that keeps the edges of a node; where it had none, of the same number."""
    edges = _edges_by_node(before, turned).get(node, set())
    return next((n for n, found in _edges_by_node(after, turns).items() if found & edges), node)


def _edges_by_node(face: Face, turns: int) -> dict[int, set[int]]:
    edges: dict[int, set[int]] = {i: set() for i in range(len(face.nodes))}
    for path in face.paths:
        for node, end in (path, path[::-1]):
            if node[0] == "n" and end[0] == "e":
                edges[int(node[1:])].add((int(end[1:]) + turns) % 6)
    return edges


def _printed_hex(facts: Components, coord: str) -> HexDefinition:
    try:
        return facts.map.hexes[coord]
    except KeyError:
        raise KeyError(f"{coord} is no hex of the map of {facts.title}") from None


def _face_on(state: State, printed: HexDefinition, coord: str) -> tuple[Face, str | None, int]:
    """What lies on a hex: its face, the number of the tile and its turn."""
    if coord not in state.tiles:
        return printed, None, 0
    tile, turns = state.tiles[coord]
    return tile_faces()[tile], tile, turns


def _hex_view(
    state: State,
    facts: Components,
    badges: Mapping[str, Badge],
    coord: str,
    marked: bool,
    legs: Iterable[RouteSegment],
) -> HexView:
    printed = facts.map.hexes[coord]
    face, tile, turns = _face_on(state, printed, coord)
    tokens = tuple((node, badges[sym]) for node, sym in state.tokens.get(coord, ()))
    head = _carries_area_name(facts, coord)
    return HexView(
        coord=coord,
        color=face.color,
        nodes=tuple((n.kind, n.slots) for n in face.nodes),
        paths=face.paths,
        turns=turns,
        tile=tile,
        label=face.label or printed.label,
        name=printed.name if head else None,
        revenues=tuple(n.revenue for n in face.nodes if isinstance(n.revenue, int) and n.revenue),
        phase_values=tuple(_phase_values(facts, face, state.phase)) if head else (),
        terrain=() if tile else tuple((t.kind, t.cost) for t in printed.terrain),
        borders=tuple((b.edge, b.kind, b.cost) for b in printed.borders),
        joined_edges=tuple(_joined_edges(facts, coord)),
        tokens=tokens,
        reserved=tuple(_reservations(facts, badges, coord, face, turns, {b.sym for _, b in tokens})),
        blocked=tuple(p.sym for p in facts.privates if coord in p.blocks and _blocks_hexes(state, p.sym)),
        river_banks=(river.west, river.east, river.stations) if (river := printed.river) else None,
        notes=tuple(_hex_notes(state, facts, coord)),
        structures=tuple(_structures(state, facts, coord)),
        highlighted=marked,
        route_segments=tuple(legs),
    )


def _hex_notes(state: State, facts: Components, coord: str) -> Iterator[str]:
    """Tokens of privates, what they may still place or lay there, and who is to reach the hex."""
    for private in facts.privates:
        token, ability = state.city_tokens.get(private.sym), private.ability
        city_token = ability if isinstance(ability, CityTokenAbility) else None
        if city_token and token is not None and token.hex == coord:
            others = f", all +{city_token.open_bonus}" if token.is_open else ""
            yield f"{token.company} +{city_token.bonus}{others}"
        open_still = token is None and state.private_owners.get(private.sym, CLOSED) != CLOSED
        if city_token and open_still and city_token.token in facts.map.hexes[coord].icons:
            yield city_token.token
        if (
            isinstance(ability, TileLayAbility)
            and coord in ability.hexes
            and _can_lay_own_tile(state, facts, private.sym, ability)
        ):
            yield private.sym
    for company in facts.companies:
        co = state.companies[company.sym]
        if company.destination == coord and not (co.connected or co.closed):
            yield f"→{company.sym}"


def _can_lay_own_tile(state: State, facts: Components, private: str, ability: TileLayAbility) -> bool:
    """Whether a private may still lay a tile that goes on its hexes alone, where nothing is laid."""
    tiles, hexes = ability.tiles, ability.hexes
    kinds = facts.preprinted_upgrades.items()
    elsewhere = {tile for kind, found in kinds if kind not in hexes for tile in found}
    open_still = state.private_owners.get(private, CLOSED) != CLOSED and private not in state.used_abilities
    return open_still and elsewhere.isdisjoint(tiles) and state.tiles.keys().isdisjoint(hexes)


def _structures(state: State, facts: Components, coord: str) -> Iterator[Structure]:
    """What is built on a hex; where nothing is, what the privates in play may still build there."""
    built = {"mine": state.mine_hexes, "bridge": state.bridge_hexes}
    bonus = {
        kind: ability.bonus
        for private in facts.privates
        if isinstance(ability := private.ability, HexTokenAbility)
        if coord in built[kind := _structure_kind(ability)] or _may_build(state, private.sym, ability, coord)
    }
    yield from (Structure(kind, dollars, coord in built[kind]) for kind, dollars in bonus.items())


def _structure_kind(ability: HexTokenAbility) -> str:
    """What the tokens of the ability build."""
    return "mine" if isinstance(ability, CoalMineAbility) else "bridge"


def _may_build(state: State, private: str, ability: HexTokenAbility, coord: str) -> bool:
    """Whether a private has a token left for that hex; a mine comes with the first tile."""
    left = ability.uses - state.used_abilities.count(private)
    closed = state.private_owners.get(private, CLOSED) == CLOSED
    taken = coord in state.tiles and _structure_kind(ability) == "mine"
    return left > 0 and not closed and not taken and coord in ability.hexes


def _area_group(face: HexDefinition) -> str | None:
    return next((n.group for n in face.nodes if n.group), None)


def _carries_area_name(facts: Components, coord: str) -> bool:
    """Whether a hex carries the name and values of its area: of several, the last named does."""
    group = _area_group(facts.map.hexes[coord])
    return not group or coord == [c for c, h in facts.map.hexes.items() if _area_group(h) == group][-1]


def _joined_edges(facts: Components, coord: str) -> Iterator[int]:
    """The edges between hexes of one area."""
    here = facts.map.hexes[coord]
    group = _area_group(here)
    for edge, other in here.neighbors.items():
        if group and _area_group(facts.map.hexes[other]) == group:
            yield edge


def _phase_values(facts: Components, face: Face, phase: str) -> Iterator[PhaseValue]:
    order = [p.name for p in facts.phases]
    colors = {p.name: p.tile_colors[-1] for p in facts.phases}
    for node in face.nodes:
        if isinstance(node.revenue, dict):
            begun = [key for key in node.revenue if order.index(key) <= order.index(phase)]
            now = max(begun, key=order.index, default=None)
            for key, amount in node.revenue.items():
                yield PhaseValue(key, amount, colors.get(key, "white"), key == now)


def _reservations(
    facts: Components, badges: Mapping[str, Badge], coord: str, face: Face, turns: int, present: set[str]
) -> Iterator[tuple[int, Badge]]:
    """Homes that are kept free: by node; at each of them where the president has the choice."""
    for company in facts.companies:
        if company.home is None or company.home.hex != coord or company.sym in present:
            continue
        cities = [i for i, n in enumerate(face.nodes) if n.kind == "city"]
        city = company.home.city
        for node in cities if city is None else [_kept_node(facts.map.hexes[coord], 0, face, turns, city)]:
            yield node, badges[company.sym]


def _blocks_hexes(state: State, private: str) -> bool:
    """A private keeps its hexes closed until a company owns it or it is closed (1830 §7.1)."""
    owner = state.private_owners.get(private, CLOSED)
    return owner != CLOSED and owner not in state.companies


def route_legs(state: State, company: str, course: RouteSpec) -> list[tuple[str, str, str]]:
    """The stretches of track that a course runs over, with ends as in a face's paths."""
    runs = (
        parse_route(game_of(state).network, company, course).segments if isinstance(course, str) else course
    )
    return [(coord, _path_end(a), _path_end(b)) for coord, a, b in runs]


def _path_end(end: int) -> str:
    return f"e{end}" if end < 6 else f"n{end - 6}"
