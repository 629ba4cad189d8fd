"""What of the track a company reaches.

Theory of operation
-------------------
What a company reaches is what some route of any length from one of its tokens runs over (1830 §18.1,
§19). That is found between two bounds. From above: the ports a walk can arrive at when it forgets
where it has been, except that it does not leave a stop over the hexside by which alone it comes
there. From below: a breadth-first search in which each place keeps the first route found to it, with
the hexsides and nodes of that route as bits. On most boards both agree. Track between them is settled
one by one: from it a depth-first search runs back to a token or to a place with a known route, only over
what the upper bound reaches; once it has taken many steps, only where it could still come to a token.

From one position to the next track is mostly added. Then every route that was found still runs, and
both walks go on where something is new: from the places of the hexes that have changed, from cities
that have opened and from new tokens. What was between the bounds is settled again. Only where cities
have become one, or one has filled up that the company came to, does a search begin anew.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from engine.board.tile_geometry import Arc, MapIndex, RotatedFace, keeps_all_track

if TYPE_CHECKING:
    from engine.board.network import Network, Stop

STEPS_BEFORE_PRUNING = 1_000
"""Steps back from a piece of track before each is looked at whether it leads anywhere."""


class ReachableTrack:
    """What a company's routes can run over.

    `arrivals`: by hex number the edges (bits 0-5) at which its track arrives, from the neighbour or by
    track inside the hex; hexes without a tile are included, and of a hex with its token all six edges.
    `stops`: the stops reached, its own tokens included.
    """

    def __init__(
        self, ground: MapIndex, arrivals: Sequence[int], stops: frozenset[Stop], tracks: dict[int, int]
    ) -> None:
        self.map_index = ground
        self.entered_edges = arrivals
        self.stops = stops
        self._tracks = tracks

    def edges_of(self, hex: str) -> int:
        """The edges of a hex at which the company's track arrives. Raises KeyError for no hex."""
        return self.entered_edges[self.map_index.hex_number[hex]]

    @cached_property
    def edges(self) -> dict[str, int]:
        """By hex, in the order of the map, the edges at which track arrives."""
        return {
            hex: edges for hex, edges in zip(self.map_index.hexes, self.entered_edges, strict=True) if edges
        }

    @property
    def tracks(self) -> dict[str, int]:
        """By hex the tracks of its face (bit t for track t) that a route can run along."""
        return {self.map_index.hexes[h]: tracks for h, tracks in self._tracks.items()}


class ConnectivitySearch:
    """The search for what one company reaches on one network (see the top of the module).

    Places are ports and nodes (`faces.Ground`). `upper`: by hex number the tracks a walk without memory
    runs along; `arrivals` the ports it enters and `doors` by node the hexsides (bits) over which it
    comes. `routes`: by place the hexsides and nodes of the first route found to it; `tracks`: by hex
    number what some route runs along, `_new` where that is more than before. `before`: a search
    on another network that goes on here from the places `fresh` (see `onward_on`; None: it does not).
    """

    def __init__(
        self,
        network: Network,
        company: str,
        before: ConnectivitySearch | None = None,
        fresh: set[int] | None = None,
    ) -> None:
        self.map_index: MapIndex = network.map_index
        self.faces: dict[str, RotatedFace] = network.faces
        self.arcs: Sequence[tuple[Arc, ...]] = network.arcs
        self.tokens, self.terminals = network.token_and_terminal_vertices(company)
        self.undecided_home = network.undecided_homes.get(company)
        if before is None or fresh is None:
            self._search_from_scratch()
        elif not fresh and self.undecided_home == before.undecided_home:
            self._copy_from(before)
        else:
            self._extend_from(before, fresh)

    def _search_from_scratch(self) -> None:
        self.entries: set[int] = set()
        self.node_hexsides: dict[int, int] = {}
        self.possible_tracks: dict[int, int] = {}
        self.first_routes: dict[int, tuple[int, int]] = {}
        self.reached_tracks: dict[int, int] = {}
        self._changed: set[int] = set()
        self._find_possible_tracks([])
        self._find_first_routes([])
        self._decide_remaining()
        self.reachable = self._result([0] * len(self.map_index.hexes), frozenset())

    def _copy_from(self, before: ConnectivitySearch) -> None:
        self.entries, self.node_hexsides, self.possible_tracks = (
            before.entries,
            before.node_hexsides,
            before.possible_tracks,
        )
        self.first_routes, self.reached_tracks, self.reachable = (
            before.first_routes,
            before.reached_tracks,
            before.reachable,
        )

    def frontier_on(self, network: Network, company: str, changed: int) -> set[int] | None:
        """Places known here from which there may be something new on a network that differs in those
        hexes (bit h for number h), where all that the company reaches it reaches there too; None where that
        is not sure."""
        tokens, ends = network.token_and_terminal_vertices(company)
        if not self.tokens <= tokens or not (ends - self.terminals).isdisjoint(self.node_hexsides):
            return None
        fresh = set(tokens - self.tokens) | (self.terminals - ends).intersection(self.node_hexsides)
        ground, arrivals, doors = self.map_index, self.entries, self.node_hexsides
        for bit in _bits(changed):
            h = bit.bit_length() - 1
            known = [p for p in ground.hex_vertices[h] if p in arrivals or p in doors or p in self.tokens]
            if known:
                hex = ground.hexes[h]
                if not keeps_all_track(self.faces[hex], network.faces[hex]):
                    return None
                fresh.update(known)
        return fresh

    def _extend_from(self, before: ConnectivitySearch, fresh: set[int]) -> None:
        """Go on from what was found before at those places."""
        self.entries, self.node_hexsides = before.entries - fresh, dict(before.node_hexsides)
        self.possible_tracks, self.reached_tracks = dict(before.possible_tracks), dict(before.reached_tracks)
        self.first_routes = dict(before.first_routes)
        hexes, self._changed = self.map_index.hexes, set()
        for h in {self.map_index.vertex_hex[place] for place in fresh}:
            if self.faces[hexes[h]] is not before.faces[hexes[h]]:
                self.possible_tracks.pop(h, None)
                self.reached_tracks.pop(h, None)
        todo, found = [], []
        for place in fresh:
            if route := self.first_routes.pop(place, None):
                found.append((place, *route))
            if place < self.map_index.entry_count:
                todo.append((place, 0))
            elif over := self.node_hexsides.pop(place, 0):
                todo += [(place, door) for door in _bits(over)]
        self._find_possible_tracks(todo)
        self._find_first_routes(found)
        self._decide_remaining()
        self.reachable = self._result(list(before.reachable.entered_edges), before.reachable.stops)

    # -- the two bounds ----------------------------------------------------------------

    def _find_possible_tracks(self, todo: list[tuple[int, int]]) -> None:
        """Walk without memory from the tokens, and from those places, come to over those hexsides."""
        onward, ports, ends, tokens = self.arcs, self.map_index.entry_count, self.terminals, self.tokens
        side, tracks, doors, arrivals = (
            self.map_index.hexside,
            self.possible_tracks,
            self.node_hexsides,
            self.entries,
        )
        todo += [(token, 0) for token in tokens]
        while todo:
            place, over = todo.pop()
            if place < ports:
                if place in arrivals:
                    continue
                arrivals.add(place)
                over, but = side[place], 0
            elif over:
                before = doors.get(place, 0)
                if before & over:
                    continue
                doors[place] = before | over
                if place in tokens or place in ends or before & (before - 1):
                    continue
                but = 0 if before else over
            else:
                but = 0
            steps = onward[place]
            if steps:
                mask = 0
                for used, _, bit, on, _ in steps:
                    if bit and bit == but:
                        continue
                    mask |= used
                    if on >= 0:
                        todo.append((on, bit or over))
                h = self.map_index.vertex_hex[place]
                tracks[h] = tracks.get(h, 0) | mask

    def _find_first_routes(self, found: Iterable[tuple[int, int, int]]) -> None:
        """Find routes onward from the tokens, and from those found."""
        onward, ends, tracks, routes = self.arcs, self.terminals, self.reached_tracks, self.first_routes
        todo = deque(found)
        for token in self.tokens:
            routes.pop(token, None)
            todo.append((token, 0, self.map_index.node_bit[token]))
        while todo:
            place, hexsides, visited = todo.popleft()
            if place in routes:
                continue
            routes[place] = hexsides, visited
            steps = onward[place]
            if not steps or place in ends:
                continue
            mask = 0
            for used, _, bit, on, node in steps:
                if not (bit & hexsides or node & visited):
                    mask |= used
                    if on >= 0:
                        todo.append((on, hexsides | bit, visited | node))
            h = self.map_index.vertex_hex[place]
            known = tracks.get(h, 0)
            if mask & ~known:
                tracks[h] = known | mask
                self._changed.add(h)

    # -- between them ------------------------------------------------------------------

    def _decide_remaining(self) -> None:
        """Decide about all track between the bounds."""
        if self.possible_tracks == self.reached_tracks:
            return
        for h, tracks in self.possible_tracks.items():
            for track in _bits(tracks & ~self.reached_tracks.get(h, 0)):
                if self._is_reached(h, track):
                    self.reached_tracks[h] = self.reached_tracks.get(h, 0) | track
                    self._changed.add(h)

    def _is_reached(self, h: int, track: int) -> bool:
        """Whether a route from a token runs along that track (a bit) of hex number h."""
        # The route comes in at `start` and goes on to another end; it is walked back to a token.
        self.steps_tried = 0
        return any(
            used & track and self._trace_back(start, bit, node)
            for start in self.map_index.hex_vertices[h]
            for used, _, bit, _, node in self.arcs[start]
        )

    def _trace_back(self, place: int, hexsides: int, visited: int) -> bool:
        """Whether a route that comes by this port, or leaves this node, can come from a token, clear of
        what is used."""
        ground = self.map_index
        if place < ground.entry_count:
            if place not in self.entries or hexsides & ground.hexside[place]:
                return False
        else:
            if visited & ground.node_bit[place]:
                return False
            if place in self.tokens:
                return True
            if place in self.terminals or place not in self.node_hexsides:
                return False
        if (known := self.first_routes.get(place)) and not (known[0] & hexsides or known[1] & visited):
            return True
        self.steps_tried += 1
        if self.steps_tried > STEPS_BEFORE_PRUNING and not self._leads_to_token(place, hexsides, visited):
            return False
        if place < ground.entry_count:
            hexsides |= ground.hexside[place]
            place = ground.across[place]
        else:
            visited |= ground.node_bit[place]
        for _, _, bit, on, node in self.arcs[place]:
            if node:
                if not bit & hexsides and self._trace_back(on, hexsides | bit, visited):
                    return True
            elif on >= 0 and self._trace_back(ground.across[on], hexsides, visited):
                return True
        return False

    def _leads_to_token(self, place: int, hexsides: int, visited: int) -> bool:
        """Whether a walk without memory from a token, clear of what is used, leads to that place."""
        ground, seen, todo = self.map_index, {place}, [place]
        while todo:
            place = todo.pop()
            if place < ground.entry_count:
                if place not in self.entries or hexsides & ground.hexside[place]:
                    continue
                place = ground.across[place]
            elif visited & ground.node_bit[place]:
                continue
            elif place in self.tokens:
                return True
            elif place in self.terminals or place not in self.node_hexsides:
                continue
            for _, _, bit, on, node in self.arcs[place]:
                if on >= 0 and not (node and bit & hexsides):
                    back = on if node else ground.across[on]
                    if back not in seen:
                        seen.add(back)
                        todo.append(back)
        return False

    def can_enter(self, hex: str, edge: int, out: int | None) -> bool:
        """Whether a route that has not run over the hexside `out` can come into the hex by that edge."""
        port = 6 * self.map_index.hex_number[hex]
        self.steps_tried = 0
        return self._trace_back(port + edge, 0 if out is None else self.map_index.hexside[port + out], 0)

    # -- what comes of it --------------------------------------------------------------

    def _result(self, edges: list[int], known: frozenset[Stop]) -> ReachableTrack:
        """The reach: edges and stops that are known, with those to which new tracks lead."""
        ground, across = self.map_index, self.map_index.across
        stops = []
        for h in self._changed:
            tracks, mask = self.reached_tracks[h], 0
            for place in ground.hex_vertices[h]:
                for used, end, _, on, node in self.arcs[place]:
                    if used & tracks == used:
                        if node:
                            stops.append(ground.vertex_stop[on])
                        else:
                            mask |= 1 << end
                        if place < ground.entry_count:
                            mask |= 1 << place % 6
            edges[h] |= mask
            for edge in range(6):
                if mask >> edge & 1 and (port := across[6 * h + edge]) >= 0:
                    edges[port // 6] |= 1 << port % 6
        for token in self.tokens:
            stops.append(ground.vertex_stop[token])
            edges[ground.vertex_hex[token]] = 0b111111
        if self.undecided_home:
            edges[ground.hex_number[self.undecided_home]] = 0b111111
        return ReachableTrack(ground, edges, known.union(stops), self.reached_tracks)


def _bits(mask: int) -> Iterable[int]:
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit
