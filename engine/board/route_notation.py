"""The notation of routes: `F2-H4-H10`, parsed and formatted.

A route is written by its stops. A stop is its hex, with `.node` where the hex has several. Where the stops
do not determine the track, all hexes in order are written instead, stops and others alike. Where even that
leaves a choice (a town with track past it), each hex says how it is crossed: `H12:14` is entered over edge
1 and left over edge 4, `H12.0:14` the same through its node 0, `H10.0:4` is an end. Whatever is written in
one of these forms is parsed as the same route.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from engine.board.network import Network, RouteSegment
from engine.board.route_graph import area_of, chains_from
from engine.board.routes import Route, make_route
from engine.board.tile_geometry import FIRST_NODE, Stop

_ENTRY = re.compile(r"([^\s.:-]+?)(?:\.(\d+))?(?::([0-5]{1,2}))?", re.ASCII)
_MAX_CHOICES = 4


class _WrittenHex(msgspec.Struct, frozen=True, gc=False):
    """One hex of a route as written. What is left out is None."""

    hex: str
    node: int | None
    edges: str | None


class _PartialRoute(msgspec.Struct, frozen=True, gc=False):
    """A route under construction: its segments, the hexsides (bits) and the stops that it uses."""

    segments: tuple[RouteSegment, ...] = ()
    hexsides: int = 0
    stops: tuple[int, ...] = ()


def format_route(network: Network, route: Route) -> str:
    """A route as players write it, without its train, in the shortest form that is unambiguous."""
    for form in (_by_stops, _by_hexes):
        text = form(network, route)
        if _parse(network, text, route.train) == [route]:
            return text
    return _by_edges(route)


def parse_route(network: Network, company: str, text: str, train: str = "") -> Route:
    """The route that a text describes, for that train. Its track exists; it may still be illegal.

    Where several routes fit, one that alone visits a token of the company is taken. Raises ValueError
    with a sentence for players when the text is not a route, when there is no such track, or when
    several tracks fit.
    """
    routes = _parse(network, text, train)
    if len(routes) > 1:
        through_token = [
            route for route in routes if any(company in network.tokens.get(stop, ()) for stop in route.stops)
        ]
        routes = through_token or routes
    if not routes:
        written = text.strip().upper()
        if name := _visited_twice(network, written):
            raise ValueError(f"{written} visits {name} twice")
        raise ValueError(f"there is no track along {written}")
    if len(routes) > 1:
        choices = sorted({_by_hexes(network, route) for route in routes})
        choices = choices if len(choices) == len(routes) else sorted(_by_edges(route) for route in routes)
        raise ValueError(f"several tracks connect {text.strip().upper()}: write {' or '.join(choices)}")
    return routes[0]


def route_along(network: Network, chains: Sequence[Sequence[str]], train: str = "") -> Route:
    """The route made of chains between neighbouring stops, in order of travel.

    Each of `chains` lists all hexes that it crosses, both ends included, in either direction. Raises
    ValueError with a sentence when there is no such track or several.
    """
    text = ", ".join("-".join(chain) for chain in chains)
    if not chains or any(len(chain) < 2 or hex not in network.faces for chain in chains for hex in chain):
        raise ValueError(f"{text or 'nothing'} is not a route: each part lists two or more hexes of the map")
    routes = _routes(network, train, _routes_along(network, _PartialRoute(), chains))
    if not routes:
        raise ValueError(f"there is no track along {text}")
    if len(routes) > 1:
        raise ValueError(f"several tracks run along {text}: {' or '.join(sorted(map(_by_edges, routes)))}")
    return routes[0]


def chain_hexes(route: Route) -> list[list[str]]:
    """The hexes of each chain between neighbouring stops of a route, as `route_along` takes them."""
    chains: list[list[str]] = []
    for hex, start, _ in route.segments:
        if start >= FIRST_NODE:
            chains.append([])
        chains[-1].append(hex)
    return chains


def _by_stops(network: Network, route: Route) -> str:
    return "-".join(_format_stop(network, stop) for stop in route.stops)


def _by_hexes(network: Network, route: Route) -> str:
    return "-".join(
        _format_stop(network, (hex, node)) if node is not None else hex for hex, node, _ in _crossings(route)
    )


def _by_edges(route: Route) -> str:
    return "-".join(
        f"{hex}{'' if node is None else f'.{node}'}{edges and f':{edges}'}"
        for hex, node, edges in _crossings(route)
    )


def _format_stop(network: Network, stop: Stop) -> str:
    return f"{stop[0]}.{stop[1]}" if len(network.faces[stop[0]].stops) > 1 else stop[0]


def _crossings(route: Route) -> list[tuple[str, int | None, str]]:
    """Each hex of a route: the node at which it stops, if any, and the edges that it crosses."""
    crossings: list[tuple[str, int | None, str]] = []
    position = None
    for hex, start, leave in route.segments:
        if start >= FIRST_NODE and leave >= FIRST_NODE:
            if position != (hex, start):
                crossings.append((hex, start - FIRST_NODE, ""))
            crossings.append((hex, leave - FIRST_NODE, ""))
        elif start >= FIRST_NODE and position == (hex, start):
            crossings[-1] = (hex, start - FIRST_NODE, crossings[-1][2] + str(leave))
        else:
            node = next((end - FIRST_NODE for end in (start, leave) if end >= FIRST_NODE), None)
            crossings.append((hex, node, "".join(str(end) for end in (start, leave) if end < FIRST_NODE)))
        position = (hex, leave)
    return crossings


def _parse(network: Network, text: str, train: str) -> list[Route]:
    """The routes that a text can mean: read as stops, unless only one fits when it is read as hexes."""
    routes = network.cache.get(key := (text, train))
    if routes is None:
        routes = network.cache[key] = _parse_uncached(network, text, train)
    assert isinstance(routes, list)
    return routes


def _parse_uncached(network: Network, text: str, train: str) -> list[Route]:
    parts = text.strip().upper().split("-")
    if len(parts) < 2:
        raise ValueError(
            f"{text.strip() or 'nothing'} is not a route: a route connects two or more stops, as F2-H4-H10"
        )
    hexes = [_parse_hex(network, part) for part in parts]
    by_stops = (
        [] if any(hex.edges for hex in hexes) else _routes(network, train, _routes_by_stops(network, hexes))
    )
    if len(by_stops) == 1:
        return by_stops
    by_hexes = _routes(network, train, _routes_by_hexes(network, hexes))
    return by_hexes if len(by_hexes) == 1 or not by_stops else by_stops


def _visited_twice(network: Network, text: str) -> str | None:
    """The name of the first stop or off-board area that a text visits a second time, or None."""
    seen: set[str] = set()
    for written in (_parse_hex(network, part) for part in text.split("-")):
        stops = network.faces[written.hex].stops
        node = next(iter(stops)) if written.node is None and len(stops) == 1 else written.node
        if node is None or (written.node is None and written.edges is not None):
            continue
        area = area_of(network, network.stop_number[written.hex, node])
        if area in seen:
            return network.components.map.hexes[written.hex].name or written.hex
        seen.add(area)
    return None


def _parse_hex(network: Network, part: str) -> _WrittenHex:
    match = _ENTRY.fullmatch(part.strip())
    if match is None:
        raise ValueError(f"{part.strip() or 'an empty place'} is no hex: a route looks like F2-H4-H10")
    if (hex := match[1]) not in network.faces:
        raise ValueError(f"there is no hex {hex}")
    node = None if match[2] is None else int(match[2])
    if node is not None and node not in network.faces[hex].stops:
        raise ValueError(f"{hex} has no stop .{node}")
    return _WrittenHex(hex, node, match[3])


def _routes(network: Network, train: str, partial_routes: Iterator[_PartialRoute]) -> list[Route]:
    routes: dict[Route, None] = {}
    for partial in islice(partial_routes, 4 * _MAX_CHOICES):
        routes.setdefault(make_route(network, train, partial.segments))
        if len(routes) == _MAX_CHOICES:
            break
    return list(routes)


def _extended(
    network: Network,
    partial: _PartialRoute,
    s: int,
    to: int,
    hexsides: int,
    segments: tuple[RouteSegment, ...],
) -> _PartialRoute | None:
    """A partial route with a chain added, or None where it would use a hexside or a stop twice."""
    if partial.stops and (partial.stops[-1] != s or to in partial.stops or hexsides & partial.hexsides):
        return None
    return _PartialRoute(
        partial.segments + segments, partial.hexsides | hexsides, (*(partial.stops or (s,)), to)
    )


def _start_stops(network: Network, partial: _PartialRoute, hex: str) -> list[int]:
    """The stops from which the next chain can start: the last stop, or at first those of the hex."""
    if partial.stops:
        return [partial.stops[-1]]
    return [network.stop_number[hex, n] for n in network.faces[hex].stops]


def _routes_by_stops(network: Network, hexes: Sequence[_WrittenHex]) -> Iterator[_PartialRoute]:
    """All routes that stop exactly at the written hexes."""
    stop_number, faces = network.stop_number, network.faces
    allowed = [
        [stop_number[written.hex, n] for n in faces[written.hex].stops if written.node in (None, n)]
        for written in hexes
    ]

    def extend(partial: _PartialRoute, i: int) -> Iterator[_PartialRoute]:
        if i == len(hexes):
            yield partial
            return
        for s in partial.stops[-1:] or allowed[0]:
            for to, hexsides, segments in chains_from(network, s):
                if (
                    to in allowed[i]
                    and to != s
                    and (longer := _extended(network, partial, s, to, hexsides, segments))
                ):
                    yield from extend(longer, i + 1)

    return extend(_PartialRoute(), 1)


def _routes_along(
    network: Network, partial: _PartialRoute, chains: Sequence[Sequence[str]]
) -> Iterator[_PartialRoute]:
    """All ways to continue along the chains, each taken in either direction."""
    if not chains:
        yield partial
        return
    next_hexes = {chains[1][0], chains[1][-1]} if len(chains) > 1 else {chains[0][-1]}
    for chain in dict.fromkeys((tuple(chains[0]), tuple(reversed(chains[0])))):
        if not partial.stops and chain[-1] not in next_hexes:
            continue
        for s in _start_stops(network, partial, chain[0]):
            if network.stops[s][0] != chain[0]:
                continue
            for to, hexsides, segments in _chains_through(network, s, chain):
                longer = _extended(network, partial, s, to, hexsides, segments) if to != s else None
                if longer:
                    yield from _routes_along(network, longer, chains[1:])


def _chains_through(
    network: Network, s: int, hexes: tuple[str, ...]
) -> Iterator[tuple[int, int, tuple[RouteSegment, ...]]]:
    """The chains from a stop that cross exactly these hexes."""
    map_index, n = network.map_index, network.stops[s][1]
    partial_chains: list[tuple[int, int, int, tuple[RouteSegment, ...]]] = [
        (map_index.node_vertex(hexes[0], n), FIRST_NODE + n, 0, ())
    ]
    for i, hex in enumerate(hexes):
        previous, partial_chains = partial_chains, []
        for vertex, start, hexsides, segments in previous:
            for _, end, hexside, target, node_bit in network.arcs[vertex]:
                extended = (*segments, (hex, start, end))
                if node_bit and i == len(hexes) - 1:
                    yield network.stop_number[hex, end - FIRST_NODE], hexsides | hexside, extended
                elif (
                    not node_bit
                    and not hexside & hexsides
                    and map_index.hexes[target // 6] in hexes[i + 1 : i + 2]
                    and target >= 0
                ):
                    partial_chains.append((target, target % 6, hexsides | hexside, extended))


def _routes_by_hexes(network: Network, hexes: Sequence[_WrittenHex]) -> Iterator[_PartialRoute]:
    """All routes that cross exactly the written hexes, in order, and end at stops."""
    map_index, first_stop, last = network.map_index, network.first_stop, len(hexes) - 1

    def enter_hex(partial: _PartialRoute, i: int, entry: int) -> Iterator[_PartialRoute]:
        hex, start = hexes[i].hex, entry % 6
        for _, end in network.faces[hex].connections[start]:
            segments = (*partial.segments, (hex, start, end))
            if end < FIRST_NODE:
                if i < last and hexes[i].node is None and hexes[i].edges in (None, f"{start}{end}"):
                    yield from leave_hex(_PartialRoute(segments, partial.hexsides, partial.stops), i, end)
                continue
            s = first_stop[entry // 6] + end - FIRST_NODE
            if s in partial.stops or hexes[i].node not in (None, end - FIRST_NODE):
                continue
            longer = _PartialRoute(segments, partial.hexsides, (*partial.stops, s))
            if i < last:
                yield from leave_stop(longer, i, s, str(start))
            elif hexes[i].edges in (None, str(start)):
                yield longer

    def leave_stop(partial: _PartialRoute, i: int, s: int, start: str) -> Iterator[_PartialRoute]:
        hex, n = network.stops[s]
        if i and hexes[i].edges is not None and hexes[i].node is None:
            return
        for _, end in network.faces[hex].connections[FIRST_NODE + n]:
            segments = (*partial.segments, (hex, FIRST_NODE + n, end))
            if end < FIRST_NODE:
                if hexes[i].edges in (None, f"{start}{end}"):
                    yield from leave_hex(_PartialRoute(segments, partial.hexsides, partial.stops), i, end)
            elif hexes[i + 1].hex == hex and hexes[i].edges in (None, start):
                yield from change_city(
                    _PartialRoute(segments, partial.hexsides, partial.stops), i + 1, end - FIRST_NODE
                )

    def change_city(partial: _PartialRoute, i: int, n: int) -> Iterator[_PartialRoute]:
        """Continue to another city of the hex, over the track between both."""
        hex, inner_track = hexes[i].hex, map_index.inner_track[hexes[i].hex]
        s = network.stop_number[hex, n]
        if s in partial.stops or inner_track & partial.hexsides or hexes[i].node not in (None, n):
            return
        longer = _PartialRoute(partial.segments, partial.hexsides | inner_track, (*partial.stops, s))
        if i < last:
            yield from leave_stop(longer, i, s, "")
        elif hexes[i].edges is None:
            yield longer

    def leave_hex(partial: _PartialRoute, i: int, edge: int) -> Iterator[_PartialRoute]:
        entry = 6 * map_index.hex_number[hexes[i].hex] + edge
        across, hexside = map_index.across[entry], map_index.hexside[entry]
        if (
            across >= 0
            and map_index.hexes[across // 6] == hexes[i + 1].hex
            and not hexside & partial.hexsides
        ):
            yield from enter_hex(
                _PartialRoute(partial.segments, partial.hexsides | hexside, partial.stops), i + 1, across
            )

    for n in network.faces[hexes[0].hex].stops:
        if hexes[0].node in (None, n):
            s = network.stop_number[hexes[0].hex, n]
            yield from leave_stop(_PartialRoute(stops=(s,)), 0, s, "")
