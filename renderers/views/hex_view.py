"""The map as a value, hex by hex, and its description for those who do not see it.

The description has every number of the picture, what the question needs first: the last change, routes,
tokens, the values that count now and revenues; then what can be built and its costs; then tiles by number and
the values of other phases. A long description is cut at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from renderers.views.labels import Badge, clip_text, tile_name


@dataclass(frozen=True)
class PhaseValue:
    """A value of an area that counts from a phase on, in dollars; `is_current`: it counts now."""

    phase: str
    amount: int
    color: str
    is_current: bool


@dataclass(frozen=True)
class Structure:
    """A mine or bridge with its bonus in dollars; not `is_built`: it may still be built here."""

    kind: str
    bonus: int
    is_built: bool


@dataclass(frozen=True)
class RouteSegment:
    """The part of a route on one hex, between two ends as in a face's paths; `route` counts from 0."""

    route: int
    label: str
    a: str
    b: str


@dataclass(frozen=True)
class HexView:
    """One hex: the face of its tile or the one printed on the map, and everything on it.

    `nodes`: (kind, slots). `rotation`: of the face, by sixths of a full turn. `terrain`: (kind, cost).
    `barriers`: edges that no track crosses. `tokens`, `reserved`: (node, company). `blocked`: the privates
    that block the hex. `river_banks`: the edges of either bank, and the bank of the stops. `notes`: texts on
    plates, for example of ports and of destinations.
    """

    coord: str
    color: str
    nodes: tuple[tuple[str, int], ...] = ()
    paths: tuple[tuple[str, str], ...] = ()
    rotation: int = 0
    tile: str | None = None
    label: str | None = None
    name: str | None = None
    revenues: tuple[int, ...] = ()
    phase_values: tuple[PhaseValue, ...] = ()
    terrain: tuple[tuple[str, int], ...] = ()
    barriers: tuple[int, ...] = ()
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
    """The map of a position; `is_crop`: a part of it."""

    title: str
    layout: Literal["flat", "pointy"]
    axes: tuple[tuple[str, str], ...]
    phase: str
    hexes: tuple[HexView, ...]
    companies: tuple[Badge, ...]
    routes: tuple[str, ...] = ()
    is_crop: bool = False

    def hex_at(self, coord: str) -> HexView:
        """The hex at a coordinate. Raises KeyError."""
        for view in self.hexes:
            if view.coord == coord:
                return view
        raise KeyError(coord)

    @property
    def alt(self) -> str:
        """A description of the picture (`map_description`)."""
        return clip_text(map_description(self))


def map_description(view: MapView) -> str:
    """The whole description; `MapView.alt` is as much of it as Discord takes."""
    parts = [f"Map of {view.title}, phase {view.phase}", *_changes(view)]
    parts += [f"Route {i + 1}: {label}" for i, label in enumerate(view.routes)]
    parts += [_tokens(view), *_values_now(view), *_structures(view)]
    parts.append(f"{sum(hex.tile is not None for hex in view.hexes)} tiles laid")
    parts += surroundings(view.hexes)
    return ". ".join(parts) + "."


def surroundings(hexes: Iterable[HexView]) -> Iterator[str]:
    """Revenues, costs, notes and tiles, each with its hexes, and the values of all phases."""
    hexes = tuple(hexes)
    yield from grouped("Revenues", ((f"${value}", hex) for hex in hexes for value in hex.revenues))
    yield from grouped("Terrain costs", ((f"${cost}", hex) for hex in hexes for _, cost in hex.terrain))
    yield from grouped("Notes", ((note, hex) for hex in hexes for note in hex.notes))
    yield from grouped("Blocked by", ((private, hex) for hex in hexes for private in hex.blocked))
    yield from grouped("Tiles", ((tile_name(hex.tile), hex) for hex in hexes if hex.tile), by_tile=True)
    yield from _other_values(hexes)


def grouped(what: str, texts: Iterable[tuple[str, HexView]], by_tile: bool = False) -> Iterator[str]:
    """Texts with the hexes that have them, in one sentence: `Revenues: $30 E19 H10; $40 G19`.

    `by_tile`: the hexes follow a colon, as a tile's number has no sign of its own.
    """
    hexes: dict[str, list[str]] = {}
    for text, hex in texts:
        hexes.setdefault(text, []).append(hex.coord)
    if hexes:
        sign = ":" if by_tile else ""
        ordered = sorted(hexes.items(), key=lambda item: (len(item[0]), item[0]))
        groups = (f"{text}{sign} {' '.join(dict.fromkeys(coords))}" for text, coords in ordered)
        yield f"{what}: {'; '.join(groups)}"


def _changes(view: MapView) -> Iterator[str]:
    for hex in view.hexes:
        if hex.highlighted:
            tile = f"{hex.color} tile {tile_name(hex.tile)}" if hex.tile else "no tile"
            tokens = ", ".join(badge.sym for _, badge in hex.tokens)
            built = "".join(f", a {each.kind}" for each in hex.structures if each.is_built)
            tokens = tokens and f", tokens {tokens}"
            yield f"Last change at {_hex_name(hex)}: {tile}{built}{tokens}"


def _tokens(view: MapView) -> str:
    coords_of = {
        company.sym: [hex.coord for hex in view.hexes for _, badge in hex.tokens if badge == company]
        for company in view.companies
    }
    tokens = "; ".join(f"{sym} {' '.join(coords)}" for sym, coords in coords_of.items() if coords)
    return f"Tokens: {tokens}" if tokens else "No tokens"


def _values_now(view: MapView) -> Iterator[str]:
    current = {
        hex.name or hex.coord: value.amount
        for hex in view.hexes
        for value in hex.phase_values
        if value.is_current
    }
    if current:
        yield "Values now: " + ", ".join(f"{name} {amount}" for name, amount in current.items())


def _other_values(hexes: Iterable[HexView]) -> Iterator[str]:
    """All values of the areas, by phase."""
    areas = [
        f"{hex.name or hex.coord} {' '.join(f'{v.phase}: {v.amount}' for v in hex.phase_values)}"
        for hex in hexes
        if len(hex.phase_values) > 1
    ]
    if areas:
        yield f"Values by phase: {'; '.join(areas)}"


def _structures(view: MapView) -> Iterator[str]:
    """What is built, what it adds, and where it may still be built."""
    sites = {
        kind: [(hex.coord, each) for hex in view.hexes for each in hex.structures if each.kind == kind]
        for kind in ("mine", "bridge")
    }
    built = {kind: [coord for coord, each in here if each.is_built] for kind, here in sites.items()}
    yield from (f"{kind.capitalize()}s: {' '.join(coords)}" for kind, coords in built.items() if coords)
    for kind, here in sites.items():
        if here:
            free = " ".join(coord for coord, each in here if not each.is_built)
            yield f"A {kind} adds ${here[0][1].bonus}{f', may be built: {free}' if free else ''}"


def _hex_name(view: HexView) -> str:
    return f"{view.coord} ({view.name})" if view.name else view.coord
