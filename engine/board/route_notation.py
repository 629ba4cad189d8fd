"""Routes in the notation: `F2-H4-H10`, read and written.

A route is written by its stops. A stop is its hex, with `.node` where the hex has several. Where the
stops do not fix the track, all hexes in order are written instead, stops and others alike. Where even
that leaves a choice (a town that track also runs past), each hex says how it is crossed: `H12:14` is
entered by edge 1 and left by edge 4, `H12.0:14` the same through its node 0, `H10.0:4` is an end.
Whatever is written in one of the forms is read back as the same route.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from engine.board.network import Network, RouteSegment, Stop
from engine.board.route_graph import chains_from
from engine.board.routes import Route, make_route
from engine.board.tile_geometry import FIRST_NODE

_ENTRY = re.compile(r"([^\s.:-]+?)(?:\.(\d+))?(?::([0-5]{1,2}))?", re.ASCII)
_MAX_CHOICES = 4


class _WrittenHex(msgspec.Struct, frozen=True, gc=False):
    """One hex of a route as written; what is not said is None."""

    hex: str
    node: int | None
    edges: str | None


class _PartialRoute(msgspec.Struct, frozen=True, gc=False):
    """A route that is being put together: its runs, the hexsides (bits) and stops that it uses."""

    segments: tuple[RouteSegment, ...] = ()
    hexsides: int = 0
    stops: tuple[int, ...] = ()


def format_route(network: Network, route: Route) -> str:
    """A route as players write it, without its train: the shortest form that is read back as it."""
    for form in (_by_stops, _by_hexes):
        text = form(network, route)
        if _parse(network, text, route.train) == [route]:
            return text
    return _by_edges(route)


def parse_route(network: Network, company: str, text: str, train: str = "") -> Route:
    """The route that was written, for that train. It is track that exists, not yet a legal route.

    Raises ValueError with a sentence for a person when the text is no route, when there is no such
    track, or when several tracks fit; of these, one through a token of the company alone is taken.
    """
    found = _parse(network, text, train)
    if len(found) > 1:
        own = [
            route for route in found if any(company in network.tokens.get(stop, ()) for stop in route.stops)
        ]
        found = own or found
    if not found:
        raise ValueError(f"there is no track along {text.strip().upper()}")
    if len(found) > 1:
        choices = sorted({_by_hexes(network, route) for route in found})
        choices = choices if len(choices) == len(found) else sorted(_by_edges(route) for route in found)
        raise ValueError(f"several tracks join {text.strip().upper()}: write {' or '.join(choices)}")
    return found[0]


def route_along(network: Network, hops: Sequence[Sequence[str]], train: str = "") -> Route:
    """The route made of hops between neighbouring stops, in order of travel.

    A hop lists all hexes that it crosses, both ends included, in either direction. Raises ValueError
    with a sentence when there is no such track or several.
    """
    text = ", ".join("-".join(hop) for hop in hops)
    if not hops or any(len(hop) < 2 or hex not in network.faces for hop in hops for hex in hop):
        raise ValueError(f"{text or 'nothing'} is no route: each hop lists two or more hexes of the map")
    found = _routes(network, train, _routes_along(network, _PartialRoute(), hops))
    if not found:
        raise ValueError(f"there is no track along {text}")
    if len(found) > 1:
        raise ValueError(f"several tracks run along {text}: {' or '.join(sorted(map(_by_edges, found)))}")
    return found[0]


def chain_hexes(route: Route) -> list[list[str]]:
    """The hexes of each hop between neighbouring stops of a route, as `route_along` takes them."""
    hops: list[list[str]] = []
    for hex, come, _ in route.segments:
        if come >= FIRST_NODE:
            hops.append([])
        hops[-1].append(hex)
    return hops


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
    """Each hex that a route comes through: the node it stops at, the edges it crosses."""
    found: list[tuple[str, int | None, str]] = []
    at = None
    for hex, come, go in route.segments:
        if come >= FIRST_NODE and go >= FIRST_NODE:
            if at != (hex, come):
                found.append((hex, come - FIRST_NODE, ""))
            found.append((hex, go - FIRST_NODE, ""))
        elif come >= FIRST_NODE and at == (hex, come):
            found[-1] = (hex, come - FIRST_NODE, found[-1][2] + str(go))
        else:
            node = next((end - FIRST_NODE for end in (come, go) if end >= FIRST_NODE), None)
            found.append((hex, node, "".join(str(end) for end in (come, go) if end < FIRST_NODE)))
        at = (hex, go)
    return found


def _parse(network: Network, text: str, train: str) -> list[Route]:
    """The routes that a text can mean: those by stops, unless the hexes in order mean just one."""
    known = network.cache.get(mark := (text, train))
    if known is None:
        known = network.cache[mark] = _parse_uncached(network, text, train)
    assert isinstance(known, list)
    return known


def _parse_uncached(network: Network, text: str, train: str) -> list[Route]:
    parts = text.strip().upper().split("-")
    if len(parts) < 2:
        raise ValueError(f"{text.strip() or 'nothing'} is no route: it joins two or more stops, as F2-H4-H10")
    entries = [_parse_hex(network, part) for part in parts]
    by_stops = (
        [] if any(e.edges for e in entries) else _routes(network, train, _routes_by_stops(network, entries))
    )
    if len(by_stops) == 1:
        return by_stops
    by_hexes = _routes(network, train, _routes_by_hexes(network, entries))
    return by_hexes if len(by_hexes) == 1 or not by_stops else by_stops


def _parse_hex(network: Network, part: str) -> _WrittenHex:
    match = _ENTRY.fullmatch(part.strip())
    hex = match[1] if match and match[1] in network.faces else None
    if match is None or hex is None:
        raise ValueError(f"{part.strip() or 'an empty place'} is no hex of the map: a route is F2-H4-H10")
    node = None if match[2] is None else int(match[2])
    if node is not None and node not in network.faces[hex].stops:
        raise ValueError(f"{hex} has no stop .{node}")
    return _WrittenHex(hex, node, match[3])


def _routes(network: Network, train: str, tracks: Iterator[_PartialRoute]) -> list[Route]:
    found: dict[Route, None] = {}
    for track in islice(tracks, 4 * _MAX_CHOICES):
        found.setdefault(make_route(network, train, track.segments))
        if len(found) == _MAX_CHOICES:
            break
    return list(found)


def _extended(
    network: Network, track: _PartialRoute, s: int, to: int, sides: int, runs: tuple[RouteSegment, ...]
) -> _PartialRoute | None:
    """A track with a hop added to it, or None where it would use something twice."""
    if track.stops and (track.stops[-1] != s or to in track.stops or sides & track.hexsides):
        return None
    return _PartialRoute(track.segments + runs, track.hexsides | sides, (*(track.stops or (s,)), to))


def _start_stops(network: Network, track: _PartialRoute, hex: str) -> list[int]:
    """The stops from which the next hop of a track can set out: those of the hex, for the first."""
    if track.stops:
        return [track.stops[-1]]
    return [network.stop_number[hex, n] for n in network.faces[hex].stops]


def _routes_by_stops(network: Network, entries: Sequence[_WrittenHex]) -> Iterator[_PartialRoute]:
    """All tracks that stop exactly where the entries say."""
    number, faces = network.stop_number, network.faces
    meant = [
        [number[each.hex, n] for n in faces[each.hex].stops if each.node in (None, n)] for each in entries
    ]

    def extend(track: _PartialRoute, i: int) -> Iterator[_PartialRoute]:
        if i == len(entries):
            yield track
            return
        for s in track.stops[-1:] or meant[0]:
            for to, sides, runs in chains_from(network, s):
                if to in meant[i] and to != s and (more := _extended(network, track, s, to, sides, runs)):
                    yield from extend(more, i + 1)

    return extend(_PartialRoute(), 1)


def _routes_along(
    network: Network, track: _PartialRoute, hops: Sequence[Sequence[str]]
) -> Iterator[_PartialRoute]:
    """All ways to go on along hops, each taken in either direction."""
    if not hops:
        yield track
        return
    onto = {hops[1][0], hops[1][-1]} if len(hops) > 1 else {hops[0][-1]}
    for hop in dict.fromkeys((tuple(hops[0]), tuple(reversed(hops[0])))):
        if not track.stops and hop[-1] not in onto:
            continue
        for s in _start_stops(network, track, hop[0]):
            if network.stops[s][0] != hop[0]:
                continue
            for to, sides, runs in _chains_through(network, s, hop):
                more = _extended(network, track, s, to, sides, runs) if to != s else None
                if more:
                    yield from _routes_along(network, more, hops[1:])


def _chains_through(
    network: Network, s: int, hop: tuple[str, ...]
) -> Iterator[tuple[int, int, tuple[RouteSegment, ...]]]:
    """The chains from a stop that cross exactly those hexes."""
    ground, n = network.map_index, network.stops[s][1]
    ways: list[tuple[int, int, int, tuple[RouteSegment, ...]]] = [
        (ground.node_vertex(hop[0], n), FIRST_NODE + n, 0, ())
    ]
    for i, hex in enumerate(hop):
        on_from, ways = ways, []
        for place, come, sides, runs in on_from:
            for _, end, side, on, node in network.arcs[place]:
                so_far = (*runs, (hex, come, end))
                if node and i == len(hop) - 1:
                    yield network.stop_number[hex, end - FIRST_NODE], sides | side, so_far
                elif (
                    not node and not side & sides and ground.hexes[on // 6] in hop[i + 1 : i + 2] and on >= 0
                ):
                    ways.append((on, on % 6, sides | side, so_far))


def _routes_by_hexes(network: Network, entries: Sequence[_WrittenHex]) -> Iterator[_PartialRoute]:
    """All tracks that cross exactly the hexes of the entries, in order, ending at stops."""
    ground, first, last = network.map_index, network.first_stop, len(entries) - 1

    def enter(track: _PartialRoute, i: int, port: int) -> Iterator[_PartialRoute]:
        hex, come = entries[i].hex, port % 6
        for _, end in network.faces[hex].connections[come]:
            runs = (*track.segments, (hex, come, end))
            if end < FIRST_NODE:
                if i < last and entries[i].node is None and entries[i].edges in (None, f"{come}{end}"):
                    yield from leave(_PartialRoute(runs, track.hexsides, track.stops), i, end)
                continue
            s = first[port // 6] + end - FIRST_NODE
            if s in track.stops or entries[i].node not in (None, end - FIRST_NODE):
                continue
            there = _PartialRoute(runs, track.hexsides, (*track.stops, s))
            if i < last:
                yield from set_out(there, i, s, str(come))
            elif entries[i].edges in (None, str(come)):
                yield there

    def set_out(track: _PartialRoute, i: int, s: int, come: str) -> Iterator[_PartialRoute]:
        hex, n = network.stops[s]
        if i and entries[i].edges is not None and entries[i].node is None:
            return
        for _, end in network.faces[hex].connections[FIRST_NODE + n]:
            runs = (*track.segments, (hex, FIRST_NODE + n, end))
            if end < FIRST_NODE:
                if entries[i].edges in (None, f"{come}{end}"):
                    yield from leave(_PartialRoute(runs, track.hexsides, track.stops), i, end)
            elif entries[i + 1].hex == hex and entries[i].edges in (None, come):
                yield from change(_PartialRoute(runs, track.hexsides, track.stops), i + 1, end - FIRST_NODE)

    def change(track: _PartialRoute, i: int, n: int) -> Iterator[_PartialRoute]:
        """Go on in another city of the hex, by track between the two."""
        hex, inner = entries[i].hex, ground.inner_track[entries[i].hex]
        s = network.stop_number[hex, n]
        if s in track.stops or inner & track.hexsides or entries[i].node not in (None, n):
            return
        there = _PartialRoute(track.segments, track.hexsides | inner, (*track.stops, s))
        if i < last:
            yield from set_out(there, i, s, "")
        elif entries[i].edges is None:
            yield there

    def leave(track: _PartialRoute, i: int, edge: int) -> Iterator[_PartialRoute]:
        port = 6 * ground.hex_number[entries[i].hex] + edge
        across, side = ground.across[port], ground.hexside[port]
        if across >= 0 and ground.hexes[across // 6] == entries[i + 1].hex and not side & track.hexsides:
            yield from enter(_PartialRoute(track.segments, track.hexsides | side, track.stops), i + 1, across)

    for n in network.faces[entries[0].hex].stops:
        if entries[0].node in (None, n):
            s = network.stop_number[entries[0].hex, n]
            yield from set_out(_PartialRoute(stops=(s,)), 0, s, "")
