"""The track of a position as a network, and what of it each company reaches.

Theory of operation
-------------------
Track is walked from port to port: a port is a hex entered by an edge (`faces.Ground`). A route runs
over each hexside and visits each stop at most once; since every piece of track touches a hexside that
it shares with whatever else meets it there, "no track twice, no reversing, no two tracks over one
hexside" is the single rule that no hexside is used twice. Only track between two nodes inside one
hex would escape it: no tile has any, and what is printed on a map counts as one more hexside.

What a company reaches is what some route of any length from one of its tokens runs over (1830 §18.1,
§19). That is found between two bounds. From above: the ports a walk can arrive at when it forgets
where it has been, except that it does not leave a stop over the hexside by which alone it comes
there. From below: a breadth-first search in which each port keeps the first route found to it, with
the hexsides and stops of that route as bits. On most boards both agree. Track between them is settled
one by one: from it a depth-first search runs back to a token, only over what the upper bound reaches.

Networks are kept outside the state, by the content of the board.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from engine.board.faces import NODE, Ground, Turned, ground_of, shut, turned
from engine.facts import Facts, Node

Stop = tuple[str, int]
"""A hex and the number of a node that is a stop."""


class Reach(msgspec.Struct, frozen=True):
    """What a company's routes can run over.

    `edges`: by hex the edges (bits 0-5) at which its track arrives, from the neighbour or by track
    inside the hex; hexes without a tile are included, and of a hex with its token all six edges.
    `stops`: the stops reached, its own tokens included. `tracks`: by hex the tracks of its face
    (bit t for track t) that a route can run along.
    """

    edges: dict[str, int]
    stops: frozenset[Stop]
    tracks: dict[str, int]


class Network:
    """The track of one position. Made by `network_of`; never changed.

    `faces`: what lies in each hex. `stops`: all nodes, in the order of the map, and `nodes` what is
    printed of them; a stop's number is its place here. `tokens`: by stop the companies in it.
    `undecided`: by company the hex of a home token whose city is still to be chosen (node -1).
    """

    def __init__(
        self,
        facts: Facts,
        tiles: Mapping[str, tuple[str, int]],
        tokens: Mapping[str, Sequence[tuple[int, str]]],
        extra: Mapping[Stop, int],
        closed: frozenset[str] = frozenset(),
    ) -> None:
        ground = ground_of(facts)
        self.facts: Facts = facts
        self.ground: Ground = ground
        self.faces: dict[str, Turned] = dict(ground.printed)
        for hex, laid in tiles.items():
            self.faces[hex] = turned(*laid)
        for hex in closed:
            self.faces[hex] = shut(self.faces[hex])
        self.onward: list[tuple[tuple[int, int], ...]] = []
        self.stops: list[Stop] = []
        self.nodes: list[Node] = []
        self.first: dict[int, int] = {}
        for i, (hex, face) in enumerate(self.faces.items()):
            self.onward += face.onward[:NODE]
            if face.nodes:
                self.first[i] = len(self.stops)
                for n, node in enumerate(face.nodes):
                    self.stops.append((hex, n))
                    self.nodes.append(node)
        self.number: dict[Stop, int] = {stop: s for s, stop in enumerate(self.stops)}
        self.tokens: dict[Stop, tuple[str, ...]] = {}
        self.undecided: dict[str, str] = {}
        for hex, here in tokens.items():
            for place, company in here:
                if place < 0:
                    self.undecided[company] = hex
                    continue
                stop = (hex, place)
                self.tokens[stop] = (*self.tokens.get(stop, ()), company)
        self._full = [
            stop
            for stop, there in self.tokens.items()
            if 0 < self.node(stop).slots + extra.get(stop, 0) <= len(there)
        ]
        self._reach: dict[str, Reach] = {}
        self._searches: dict[str, _Search] = {}
        self.memo: dict[object, object] = {}

    def node(self, stop: Stop) -> Node:
        """The node of a stop. Raises KeyError where there is none."""
        return self.nodes[self.number[stop]]

    def own(self, company: str) -> list[int]:
        """The numbers of the stops with a token of that company."""
        return [self.number[stop] for stop, there in self.tokens.items() if company in there]

    def ends(self, company: str) -> list[bool]:
        """By number of the stop, whether every route of the company ends there: off-board areas, and
        cities all of whose places are taken by others (1830 §19, §20.1)."""
        ends = [node.kind == "offboard" for node in self.nodes]
        for stop in self._full:
            if company not in self.tokens[stop]:
                ends[self.number[stop]] = True
        return ends

    def reach(self, company: str) -> Reach:
        """What the company can reach."""
        found = self._reach.get(company)
        if found is None:
            found = self._reach[company] = self._search(company).reach()
        return found

    def _search(self, company: str) -> _Search:
        found = self._searches.get(company)
        if found is None:
            found = self._searches[company] = _Search(self, company)
        return found

    def enters(self, company: str, hex: str, edge: int) -> bool:
        """Whether a route of the company can come into the hex over that edge, as track leads now."""
        self.reach(company)
        return self._search(company).comes(hex, edge, None)

    def onto(self, company: str, hex: str, tracks: Iterable[tuple[int, int]]) -> bool:
        """Whether a route of the company that comes into the hex could go on along one of these
        tracks, pairs of edges, if it were there: in over one edge, out over the other."""
        self.reach(company)
        search = self._search(company)
        return any(search.comes(hex, a, b) or search.comes(hex, b, a) for a, b in tracks)


_KEPT = 512
_networks: OrderedDict[object, Network] = OrderedDict()


def network_of(
    facts: Facts,
    tiles: Mapping[str, tuple[str, int]],
    tokens: Mapping[str, Sequence[tuple[int, str]]],
    extra: Mapping[Stop, int] | None = None,
    shut: frozenset[str] = frozenset(),
) -> Network:
    """The network of a board: `tiles` and `tokens` as in the state.

    `extra`: places of a city beyond those of its face (a token that takes no place of its own).
    `shut`: hexes whose track no route may use.
    """
    more = extra or {}
    key = (
        id(facts),
        tuple(tiles.items()),
        tuple([(hex, *here) for hex, here in tokens.items()]),
        tuple(more.items()),
        shut,
    )
    network = _networks.get(key)
    if network is None:
        network = _networks[key] = Network(facts, tiles, tokens, more, shut)
        if len(_networks) > _KEPT:
            _networks.popitem(last=False)
    else:
        _networks.move_to_end(key)
    return network


class _Search:
    """The search for what one company reaches (see the top of the module).

    Steps are (hex number, tracks, end) with the port entered on leaving by an edge, or the stop.
    It has to `reach` before it can say what `comes`.
    """

    def __init__(self, network: Network, company: str) -> None:
        self.network = network
        self.ends = network.ends(company)
        self.company = company
        self.tokens = network.own(company)
        self.arrivals: set[int] = set()
        self.doors: dict[int, set[int]] = {}

    def reach(self) -> Reach:
        upper, lower = self._upper(), self._lower()
        ground = self.network.ground
        for h, tracks in upper.items():
            doubt = tracks & ~lower.get(h, 0)
            t = 0
            while doubt >> t:
                if doubt >> t & 1 and self._proven(h, t):
                    lower[h] = lower.get(h, 0) | 1 << t
                t += 1
        edges: dict[str, int] = {}
        stops = {self.network.stops[s] for s in self.tokens}
        tracks_of: dict[str, int] = {}
        for h, tracks in lower.items():
            hex = ground.hexes[h]
            face = self.network.faces[hex]
            tracks_of[hex] = tracks
            for t, pair in enumerate(face.tracks):
                if tracks >> t & 1:
                    for end in pair:
                        if end < NODE:
                            edges[hex] = edges.get(hex, 0) | 1 << end
                            across = ground.across[6 * h + end]
                            if across >= 0:
                                there = ground.hexes[across // 6]
                                edges[there] = edges.get(there, 0) | 1 << across % 6
                        elif face.nodes[end - NODE].kind != "junction":
                            stops.add((hex, end - NODE))
        for s in self.tokens:
            edges[self.network.stops[s][0]] = 0b111111
        if home := self.network.undecided.get(self.company):
            edges[home] = 0b111111
        return Reach(edges, frozenset(stops), tracks_of)

    def _outs(self, s: int) -> tuple[int, tuple[tuple[int, int], ...]]:
        """The hex of a stop and where track leads from it."""
        hex, n = self.network.stops[s]
        return self.network.ground.number[hex], self.network.faces[hex].onward[NODE + n]

    def _upper(self) -> dict[int, int]:
        """By hex the tracks that a walk without memory runs along; fills `arrivals` and `doors`."""
        network, ground = self.network, self.network.ground
        across, side, first = ground.across, ground.side, network.first
        tracks: dict[int, int] = {}
        left: set[int] = set()
        doors = self.doors
        todo: list[int] = []

        def arrive(s: int, over: int) -> None:
            """Come to a stop over a hexside, and go on over the others."""
            come = doors.setdefault(s, set())
            come.add(over)
            if self.ends[s] or s in left or s in self.tokens:
                return
            if len(come) > 1:
                left.add(s)
            leave(s, 0 if len(come) > 1 else over)

        def leave(s: int, but: int) -> None:
            h, outs = self._outs(s)
            for used, end in outs:
                over = self._over(h, end)
                if over == but:
                    continue
                tracks[h] = tracks.get(h, 0) | used
                if end < NODE:
                    todo.append(across[6 * h + end])
                elif over not in doors.get(first[h] + end - NODE, ()):
                    arrive(first[h] + end - NODE, over)

        for s in self.tokens:
            leave(s, 0)
        while todo:
            port = todo.pop()
            if port < 0 or port in self.arrivals:
                continue
            self.arrivals.add(port)
            h = port // 6
            for used, end in network.onward[port]:
                tracks[h] = tracks.get(h, 0) | used
                if end < NODE:
                    todo.append(across[6 * h + end])
                else:
                    arrive(first[h] + end - NODE, side[port])
        return tracks

    def _over(self, h: int, end: int) -> int:
        """The hexside by which track leads from a stop of hex number h to that end."""
        ground = self.network.ground
        return ground.side[6 * h + end] if end < NODE else ground.inner[ground.hexes[h]]

    def _lower(self) -> dict[int, int]:
        """By hex the tracks along which breadth-first search has found a route."""
        network, ground = self.network, self.network.ground
        across, side, first = ground.across, ground.side, network.first
        tracks: dict[int, int] = {}
        seen: set[int] = set()
        been: set[int] = set(self.tokens)
        todo: deque[tuple[int, int, int]] = deque()

        def leave(s: int, hexsides: int, visited: int) -> None:
            h, outs = self._outs(s)
            for used, end in outs:
                if (bit := self._over(h, end)) & hexsides:
                    continue
                if end >= NODE:
                    come(h, used, first[h] + end - NODE, hexsides | bit, visited)
                    continue
                tracks[h] = tracks.get(h, 0) | used
                if across[6 * h + end] >= 0:
                    todo.append((across[6 * h + end], hexsides | bit, visited))

        def come(h: int, used: int, s: int, hexsides: int, visited: int) -> None:
            if visited >> s & 1:
                return
            tracks[h] = tracks.get(h, 0) | used
            if not self.ends[s] and s not in been:
                been.add(s)
                leave(s, hexsides, visited | 1 << s)

        for s in self.tokens:
            leave(s, 0, 1 << s)
        while todo:
            port, hexsides, visited = todo.popleft()
            if port in seen:
                continue
            seen.add(port)
            h = port // 6
            for used, end in network.onward[port]:
                if end < NODE:
                    bit = side[6 * h + end]
                    if not bit & hexsides:
                        tracks[h] = tracks.get(h, 0) | used
                        if across[6 * h + end] >= 0:
                            todo.append((across[6 * h + end], hexsides | bit, visited))
                    continue
                come(h, used, first[h] + end - NODE, hexsides, visited)
        return tracks

    def _proven(self, h: int, t: int) -> bool:
        """Whether a route from a token runs along track t of hex number h."""
        network, ground = self.network, self.network.ground
        face = network.faces[ground.hexes[h]]
        base = 6 * h
        for start in range(NODE + len(face.nodes)):
            for used, end in face.onward[start]:
                if not used >> t & 1:
                    continue
                # The route comes in over `start` and ends at `end`; it is walked back to a token.
                hexsides = self._over(h, end) if end < NODE or start >= NODE else 0
                visited = 0 if end < NODE else 1 << network.first[h] + end - NODE
                if start >= NODE:
                    s = network.first[h] + start - NODE
                    if self._back_at(s, hexsides, visited):
                        return True
                elif (
                    base + start in self.arrivals
                    and not hexsides & ground.side[base + start]
                    and self._back(base + start, hexsides, visited)
                ):
                    return True
        return False

    def _back(self, port: int, hexsides: int, visited: int) -> bool:
        """Whether a route that enters by this port can come from a token, clear of what is used."""
        network, ground = self.network, self.network.ground
        come = ground.across[port]
        if come < 0:
            return False
        hexsides |= ground.side[port]
        h = come // 6
        for _, end in network.onward[come]:
            if end >= NODE:
                if self._back_at(network.first[h] + end - NODE, hexsides, visited):
                    return True
            elif (
                6 * h + end in self.arrivals
                and not hexsides & ground.side[6 * h + end]
                and self._back(6 * h + end, hexsides, visited)
            ):
                return True
        return False

    def _back_at(self, s: int, hexsides: int, visited: int) -> bool:
        """Whether a route that leaves this stop can come from a token, clear of what is used."""
        if visited >> s & 1:
            return False
        if s in self.tokens:
            return True
        if self.ends[s] or s not in self.doors:
            return False
        h, outs = self._outs(s)
        visited |= 1 << s
        for _, end in outs:
            over = self._over(h, end)
            if hexsides & over:
                continue
            if end >= NODE:
                if self._back_at(self.network.first[h] + end - NODE, hexsides | over, visited):
                    return True
            elif 6 * h + end in self.arrivals and self._back(6 * h + end, hexsides, visited):
                return True
        return False

    def comes(self, hex: str, edge: int, out: int | None) -> bool:
        """Whether a route that has not run over the hexside `out` can come into the hex by that edge."""
        ground = self.network.ground
        port = 6 * ground.number[hex]
        used = 0 if out is None else ground.side[port + out]
        return port + edge in self.arrivals and self._back(port + edge, used, 0)
