"""The track of a position as a network.

Theory of operation
-------------------
Track is walked from port to port: a port is a hex entered by an edge (`faces.Ground`). A route runs
over each hexside and visits each stop at most once; since every piece of track touches a hexside that
it shares with whatever else meets it there, "no track twice, no reversing, no two tracks over one
hexside" is the single rule that no hexside is used twice. Only track between two nodes inside one
hex would escape it: no tile has any, and what is printed on a map counts as one more hexside.

Networks are kept outside the state, by the content of the board. One position differs from that
before it in a hex or two, so a network is made out of the one used last: what concerns none of the
hexes that have changed is taken over, the searches for what companies reach among it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from engine.board.faces import NODE, Ground, Step, Turned, ground_of, turned
from engine.board.reach import Reach, Search
from engine.facts import Facts, Node

Stop = tuple[str, int]
"""A hex and the number of a node that is a stop."""

Run = tuple[str, int, int]
"""One stretch of a route inside a hex: the hex, the end it comes from, the end it goes to."""


class Hops(msgspec.Struct, frozen=True, gc=False):
    """Chains of track from a stop to its neighbours: the stop reached, hexsides used (bits), runs.

    `over`: the hexes (bits) that decide about them. `whole`: there are no others.
    """

    hops: tuple[tuple[int, int, tuple[Run, ...]], ...]
    over: int
    whole: bool


class Network:
    """The track of one position. Made by `network_of`; never changed.

    `faces`: what lies in each hex. `stops`: all nodes, in the order of the map, and `nodes` what is
    printed of them; a stop's number is its place here. `tokens`: by stop the companies in it.
    `undecided`: by company the hex of a home token whose city is still to be chosen (node -1).
    `hops`, `memo`: what `chains` and others have found out about it.
    """

    def __init__(
        self,
        facts: Facts,
        tiles: Mapping[str, tuple[str, int]],
        tokens: Mapping[str, Sequence[tuple[int, str]]],
        extra: Mapping[Stop, int],
        closed: frozenset[str] = frozenset(),
        near: Network | None = None,
    ) -> None:
        ground = ground_of(facts)
        self.facts: Facts = facts
        self.ground: Ground = ground
        self._laid = dict(tiles), closed
        self.faces: dict[str, Turned]
        self._searches: dict[str, Search] = {}
        self._since: dict[str, int] = {}
        self._fresh: dict[str, set[int] | None] = {}
        self.hops: dict[int, Hops] = {}
        if near is not None and near.ground is ground:
            self._made_from(near)
        else:
            self.faces = dict(ground.printed)
            self.faces.update((hex, self._face(hex)) for hex in (*tiles, *closed))
            self._lay_out()
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
        self._ends: dict[str, list[bool]] = {}
        self.memo: dict[object, object] = {}

    def _face(self, hex: str) -> Turned:
        """What lies in a hex."""
        tiles, closed = self._laid
        laid = tiles.get(hex)
        if hex in closed:
            return self.ground.shut(hex, laid)
        return turned(*laid) if laid else self.ground.printed[hex]

    def _lay_out(self) -> None:
        """Say of every place where track leads from it."""
        ground = self.ground
        self.onward: list[tuple[Step, ...]] = [()] * len(ground.hex_at)
        for h, face in enumerate(self.faces.values()):
            self._lay(h, face)
        self._number()

    def _lay(self, h: int, face: Turned) -> None:
        ground = self.ground
        steps = ground.steps(h, face)
        self.onward[6 * h : 6 * h + NODE] = steps[:NODE]
        node = ground.ports + ground.room * h
        self.onward[node : node + ground.room] = steps[NODE:]

    def _number(self) -> None:
        """Number the stops."""
        self.stops: list[Stop] = []
        self.nodes: list[Node] = []
        self.first: dict[int, int] = {}
        for h, (hex, face) in enumerate(self.faces.items()):
            if face.nodes:
                self.first[h] = len(self.stops)
                self.stops += [(hex, n) for n in range(len(face.nodes))]
                self.nodes += face.nodes
        self.number: dict[Stop, int] = {stop: s for s, stop in enumerate(self.stops)}

    def _made_from(self, near: Network) -> None:
        """Take over what another network of the map has, and what stands of that."""
        old, number = near.faces, self.ground.number
        (tiles, closed), (before, shut) = self._laid, near._laid
        other = {hex for hex, laid in tiles.items() if before.get(hex) != laid} | (closed ^ shut)
        other.update(hex for hex in before if hex not in tiles)
        self.faces = dict(old)
        self.faces.update((hex, self._face(hex)) for hex in other)
        changed = [number[hex] for hex in other]
        self.onward, self.nodes = near.onward, near.nodes
        self.stops, self.number, self.first = near.stops, near.number, near.first
        self._searches, self._since, self.hops = dict(near._searches), dict(near._since), near.hops
        if not changed:
            return
        since = sum(1 << h for h in changed)
        self._since = {company: before | since for company, before in near._since.items()}
        self.onward = list(near.onward)
        hexes, renumbered = self.ground.hexes, False
        for h in changed:
            face = self.faces[hexes[h]]
            self._lay(h, face)
            renumbered |= len(face.nodes) != len(old[hexes[h]].nodes)
        if renumbered:
            self._number()
            self.hops = {}
            return
        self.nodes = list(near.nodes)
        for h in changed:
            nodes = self.faces[hexes[h]].nodes
            if nodes:
                self.nodes[self.first[h] : self.first[h] + len(nodes)] = nodes
        self.hops = {s: found for s, found in near.hops.items() if not found.over & since}

    def node(self, stop: Stop) -> Node:
        """The node of a stop. Raises KeyError where there is none."""
        return self.nodes[self.number[stop]]

    def own(self, company: str) -> list[int]:
        """The numbers of the stops with a token of that company."""
        return [self.number[stop] for stop, there in self.tokens.items() if company in there]

    def ends(self, company: str) -> list[bool]:
        """By number of the stop, whether every route of the company ends there: off-board areas, and
        cities all of whose places are taken by others (1830 §19, §20.1)."""
        ends = self._ends.get(company)
        if ends is None:
            ends = self._ends[company] = [node.kind == "offboard" for node in self.nodes]
            for stop in self._full:
                if company not in self.tokens[stop]:
                    ends[self.number[stop]] = True
        return ends

    def own_and_shut(self, company: str) -> tuple[frozenset[int], frozenset[int]]:
        """The places of the company's tokens, and of the nodes at which its routes end."""
        place, tokens = self.ground.place, self.tokens
        own = frozenset([place(*stop) for stop, there in tokens.items() if company in there])
        full = [place(*stop) for stop in self._full if company not in tokens[stop]]
        return own, self.ground.offboard.union(full)

    def reach(self, company: str) -> Reach:
        """What the company can reach."""
        return self._search(company).reach

    def _search(self, company: str) -> Search:
        found = self._searches.get(company)
        if found is None or found.faces is not self.faces:
            fresh = None if found is None else self._fresh_for(company, found)
            found = self._searches[company] = Search(self, company, found, fresh)
            self._since[company] = 0
        return found

    def _fresh_for(self, company: str, found: Search) -> set[int] | None:
        """Where the company's search on a network before goes on here (`Search.onward_on`), reckoned once."""
        if company not in self._fresh:
            self._fresh[company] = found.onward_on(self, company, self._since.get(company, 0))
        return self._fresh[company]

    def _known(self, company: str) -> Reach | None:
        """What the company reached on a network before, if that was found out and it reaches it still."""
        found = self._searches.get(company)
        if found is None:
            return None
        still = found.faces is self.faces or self._fresh_for(company, found) is not None
        return found.reach if still else None

    def arrives(self, company: str, hex: str, edges: int) -> bool:
        """Whether the company's track arrives at one of these edges (bits 0-5) of a hex."""
        known = self._known(company)
        return bool((known and known.edges_of(hex) & edges) or self.reach(company).edges_of(hex) & edges)

    def reached(self, company: str) -> Iterator[Stop]:
        """The stops to which routes of the company can come, in no order; those first that are known."""
        known = self._known(company)
        before = known.stops if known else frozenset()
        yield from before
        yield from self.reach(company).stops - before

    def reaches(self, company: str, stop: Stop) -> bool:
        """Whether a route of the company can come to that stop."""
        known = self._known(company)
        return bool((known and stop in known.stops) or stop in self.reach(company).stops)

    def enters(self, company: str, hex: str, edge: int) -> bool:
        """Whether a route of the company can come into the hex over that edge, as track leads now."""
        return self._search(company).comes(hex, edge, None)

    def onto(self, company: str, hex: str, tracks: Iterable[tuple[int, int]]) -> bool:
        """Whether a route of the company that comes into the hex could go on along one of these
        tracks, pairs of edges, if it were there: in over one edge, out over the other."""
        search = self._search(company)
        return any(search.comes(hex, a, b) or search.comes(hex, b, a) for a, b in tracks)


_KEPT = 512
_networks: OrderedDict[bytes, Network] = OrderedDict()
_encode = msgspec.msgpack.Encoder().encode


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
    key = _encode((id(facts), tiles, tokens, [*more.items()], shut))
    network = _networks.get(key)
    if network is None:
        near = next(reversed(_networks.values()), None)
        network = _networks[key] = Network(facts, tiles, tokens, more, shut, near)
        if len(_networks) > _KEPT:
            _networks.popitem(last=False)
    else:
        _networks.move_to_end(key)
    return network


def forget() -> None:
    """Drop the networks that are kept."""
    _networks.clear()
