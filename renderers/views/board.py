"""What a map shows: its hexes as they lie, and what is on top."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from engine import (
    CLOSED,
    Face,
    Facts,
    HexFacts,
    PrivateFacts,
    State,
    copied,
    game_of,
    read_route,
    tile_faces,
)
from renderers.views.words import Badge, badges_of, clipped

Leg = tuple[str, int, int]
"""One stretch of a route: a hex and two ends as the tile lies, 0-5 an edge and 6 + n node n."""

Course = str | Sequence[Leg]
"""A route: as players write it (`F2-H4-H10`), or its stretches."""


WORKS = {"coal_mine": "mine", "bridge": "bridge"}
"""What the tokens of privates with such an effect build."""


@dataclass(frozen=True)
class Value:
    """A figure that changes by phase: it counts from `phase` on; `current`: it counts now."""

    phase: str
    amount: int
    color: str
    current: bool


@dataclass(frozen=True)
class Site:
    """A mine or a bridge that is worth `bonus` dollars to a route, or, not `built`, a place for one."""

    kind: str
    bonus: int
    built: bool


@dataclass(frozen=True)
class Stretch:
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
    values: tuple[Value, ...] = ()
    terrain: tuple[tuple[str, int], ...] = ()
    borders: tuple[tuple[int, str, int], ...] = ()
    joined: tuple[int, ...] = ()
    tokens: tuple[tuple[int, Badge], ...] = ()
    reserved: tuple[tuple[int, Badge], ...] = ()
    blocked: tuple[str, ...] = ()
    banks: tuple[tuple[int, ...], tuple[int, ...], str | None] | None = None
    notes: tuple[str, ...] = ()
    sites: tuple[Site, ...] = ()
    marked: bool = False
    legs: tuple[Stretch, ...] = ()


@dataclass(frozen=True)
class BoardView:
    """A map, or a part of one, at a moment."""

    title: str
    layout: Literal["flat", "pointy"]
    axes: tuple[tuple[str, str], ...]
    phase: str
    hexes: tuple[HexView, ...]
    companies: tuple[Badge, ...]
    routes: tuple[str, ...] = ()

    def hex(self, coord: str) -> HexView:
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
            if h.marked:
                what = f"{h.color} tile {h.tile}" if h.tile else "no tile"
                held = ", ".join(badge.sym for _, badge in h.tokens)
                works = "".join(f", a {site.kind}" for site in h.sites if site.built)
                held = held and f", tokens {held}"
                parts.append(f"Last change at {_place(h)}: {what}{works}{held}")
        parts += [f"Route {i + 1}: {label}" for i, label in enumerate(self.routes)]
        held_by = {
            c.sym: [h.coord for h in self.hexes for _, b in h.tokens if b == c] for c in self.companies
        }
        tokens = "; ".join(f"{sym} {' '.join(at)}" for sym, at in held_by.items() if at)
        parts.append(f"Tokens: {tokens}" if tokens else "No tokens")
        now = {h.name or h.coord: v.amount for h in self.hexes for v in h.values if v.current}
        if now:
            parts.append("Values now: " + ", ".join(f"{name} {amount}" for name, amount in now.items()))
        for kind in WORKS.values():
            built = [h.coord for h in self.hexes for site in h.sites if site.built and site.kind == kind]
            if built:
                parts.append(f"{kind.capitalize()}s: {' '.join(built)}")
        parts.append(f"{sum(h.tile is not None for h in self.hexes)} tiles laid")
        return clipped(". ".join(parts) + ".")


def _place(view: HexView) -> str:
    return f"{view.coord} ({view.name})" if view.name else view.coord


# --- the map --------------------------------------------------------------------------------


def board_view(
    state: State,
    *,
    highlight: Iterable[str] = (),
    routes: Sequence[tuple[str, Course]] = (),
    company: str = "",
    crop: Iterable[str] | None = None,
    preview: Mapping[str, tuple[str, int]] | None = None,
) -> BoardView:
    """The map of a position.

    `highlight`: hexes of the last change. `routes`: for each train its label and its course;
    `company` runs them (of tracks that join the same stops, hers are meant).
    `crop`: only these hexes. `preview`: tiles by hex, with their turn, as if they had been laid;
    tokens go to the stops that keep their edges. Raises KeyError for a hex that the map has not,
    and ValueError for a course that no track runs along.
    """
    facts = game_of(state).facts
    if preview:
        state = _with_tiles(state, preview)
    marked = frozenset(highlight)
    kept = frozenset(facts.map.hexes if crop is None else crop)
    for coord in (*marked, *kept):
        _printed(facts, coord)
    coords = [coord for coord in facts.map.hexes if coord in kept]
    legs: dict[str, list[Stretch]] = {}
    for i, (label, course) in enumerate(routes):
        for coord, a, b in course_legs(state, company, course):
            legs.setdefault(coord, []).append(Stretch(i, label, a, b))
    badges = badges_of(facts)
    return BoardView(
        title=facts.title,
        layout=facts.map.layout,
        axes=tuple(sorted(facts.map.axes.items())),
        phase=state.phase,
        hexes=tuple(_hex_view(state, facts, badges, c, c in marked, legs.get(c, ())) for c in coords),
        companies=tuple(badges.values()),
        routes=tuple(label for label, _ in routes),
    )


def _with_tiles(state: State, preview: Mapping[str, tuple[str, int]]) -> State:
    changed = copied(state)
    facts = game_of(state).facts
    for coord, (tile, turns) in preview.items():
        before, _, turned = _lying(state, _printed(facts, coord), coord)
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


def _printed(facts: Facts, coord: str) -> HexFacts:
    try:
        return facts.map.hexes[coord]
    except KeyError:
        raise KeyError(f"{coord} is no hex of the map of {facts.title}") from None


def _lying(state: State, printed: HexFacts, coord: str) -> tuple[Face, str | None, int]:
    """What lies on a hex: its face, the number of the tile and its turn."""
    if coord not in state.tiles:
        return printed, None, 0
    tile, turns = state.tiles[coord]
    return tile_faces()[tile], tile, turns


def _hex_view(
    state: State,
    facts: Facts,
    badges: Mapping[str, Badge],
    coord: str,
    marked: bool,
    legs: Iterable[Stretch],
) -> HexView:
    printed = facts.map.hexes[coord]
    face, tile, turns = _lying(state, printed, coord)
    tokens = tuple((node, badges[sym]) for node, sym in state.tokens.get(coord, ()))
    head = _speaks(facts, coord)
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
        values=tuple(_values(facts, face, state.phase)) if head else (),
        terrain=() if tile else tuple((t.kind, t.cost) for t in printed.terrain),
        borders=tuple((b.edge, b.kind, b.cost) for b in printed.borders),
        joined=tuple(_joined(facts, coord)),
        tokens=tokens,
        reserved=tuple(_reserved(facts, badges, coord, face, turns, {b.sym for _, b in tokens})),
        blocked=tuple(p.sym for p in facts.privates if coord in p.blocks and _blocks(state, p.sym)),
        banks=(river.west, river.east, river.stations) if (river := printed.river) else None,
        notes=tuple(_notes(state, facts, coord)),
        sites=tuple(_sites(state, facts, coord)),
        marked=marked,
        legs=tuple(legs),
    )


def _notes(state: State, facts: Facts, coord: str) -> Iterator[str]:
    """Tokens of privates, what they may still place or lay there, and who is to reach the hex."""
    for private in facts.privates:
        token, effect = state.improvements.get(private.sym), private.effect
        if token is not None and token.hex == coord:
            others = f", all +{effect['open_bonus']}" if token.open else ""
            yield f"{token.company} +{effect['bonus']}{others}"
        open_still = token is None and state.privates.get(private.sym, CLOSED) != CLOSED
        if open_still and effect.get("word") in facts.map.hexes[coord].icons:
            yield str(effect["word"])
        if effect.get("kind") == "tile_lay" and coord in effect["hexes"] and _own_tile(state, facts, private):
            yield private.sym
    for company in facts.companies:
        co = state.companies[company.sym]
        if company.destination == coord and not (co.connected or co.closed):
            yield f"→{company.sym}"


def _own_tile(state: State, facts: Facts, private: PrivateFacts) -> bool:
    """Whether a private may still lay a tile that goes on its hexes alone, where nothing is laid."""
    tiles, hexes = private.effect["tiles"], private.effect["hexes"]
    kinds = facts.preprinted_upgrades.items()
    elsewhere = {tile for kind, found in kinds if kind not in hexes for tile in found}
    open_still = state.privates.get(private.sym, CLOSED) != CLOSED and private.sym not in state.spent
    return open_still and elsewhere.isdisjoint(tiles) and state.tiles.keys().isdisjoint(hexes)


def _sites(state: State, facts: Facts, coord: str) -> Iterator[Site]:
    """What is built on a hex; where nothing is, what the privates in play may still build there."""
    built = {"mine": state.mines, "bridge": state.bridges}
    bonus = {
        WORKS[effect["kind"]]: int(effect["bonus"])
        for private in facts.privates
        if (effect := private.effect).get("kind") in WORKS and "tokens" in effect
        if coord in built[WORKS[effect["kind"]]] or _may_build(state, private, coord)
    }
    yield from (Site(kind, dollars, coord in built[kind]) for kind, dollars in bonus.items())


def _may_build(state: State, private: PrivateFacts, coord: str) -> bool:
    """Whether a private has a token left for that hex; a mine comes with the first tile."""
    left = int(private.effect["tokens"]) - state.spent.count(private.sym)
    closed = state.privates.get(private.sym, CLOSED) == CLOSED
    taken = coord in state.tiles and WORKS[private.effect["kind"]] == "mine"
    return left > 0 and not closed and not taken and coord in private.effect["hexes"]


def _group(face: HexFacts) -> str | None:
    return next((n.group for n in face.nodes if n.group), None)


def _speaks(facts: Facts, coord: str) -> bool:
    """Whether a hex carries the name and values of its area: of several, the last named does."""
    group = _group(facts.map.hexes[coord])
    return not group or coord == [c for c, h in facts.map.hexes.items() if _group(h) == group][-1]


def _joined(facts: Facts, coord: str) -> Iterator[int]:
    """The edges between hexes of one area."""
    here = facts.map.hexes[coord]
    group = _group(here)
    for edge, other in here.neighbors.items():
        if group and _group(facts.map.hexes[other]) == group:
            yield edge


def _values(facts: Facts, face: Face, phase: str) -> Iterator[Value]:
    order = [p.name for p in facts.phases]
    colors = {p.name: p.tile_colors[-1] for p in facts.phases}
    for node in face.nodes:
        if isinstance(node.revenue, dict):
            begun = [key for key in node.revenue if order.index(key) <= order.index(phase)]
            now = max(begun, key=order.index, default=None)
            for key, amount in node.revenue.items():
                yield Value(key, amount, colors.get(key, "white"), key == now)


def _reserved(
    facts: Facts, badges: Mapping[str, Badge], coord: str, face: Face, turns: int, present: set[str]
) -> Iterator[tuple[int, Badge]]:
    """Homes that are kept free: by node; at each of them where the president has the choice."""
    for company in facts.companies:
        if company.home is None or company.home.hex != coord or company.sym in present:
            continue
        cities = [i for i, n in enumerate(face.nodes) if n.kind == "city"]
        city = company.home.city
        for node in cities if city is None else [_kept_node(facts.map.hexes[coord], 0, face, turns, city)]:
            yield node, badges[company.sym]


def _blocks(state: State, private: str) -> bool:
    """A private keeps its hexes closed until a company owns it or it is closed (1830 §7.1)."""
    owner = state.privates.get(private, CLOSED)
    return owner != CLOSED and owner not in state.companies


def course_legs(state: State, company: str, course: Course) -> list[tuple[str, str, str]]:
    """The stretches of track that a course runs over, with ends as in a face's paths."""
    runs = read_route(game_of(state).network, company, course).runs if isinstance(course, str) else course
    return [(coord, _end(a), _end(b)) for coord, a, b in runs]


def _end(end: int) -> str:
    return f"e{end}" if end < 6 else f"n{end - 6}"
