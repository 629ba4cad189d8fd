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

from engine.board.faces import Ground, Step, Turned, grows

if TYPE_CHECKING:
    from engine.board.network import Network, Stop

PATIENCE = 1_000
"""Steps back from a piece of track before each is looked at whether it leads anywhere."""


class Reach:
    """What a company's routes can run over.

    `arrivals`: by hex number the edges (bits 0-5) at which its track arrives, from the neighbour or by
    track inside the hex; hexes without a tile are included, and of a hex with its token all six edges.
    `stops`: the stops reached, its own tokens included.
    """

    def __init__(
        self, ground: Ground, arrivals: Sequence[int], stops: frozenset[Stop], tracks: dict[int, int]
    ) -> None:
        self.ground = ground
        self.arrivals = arrivals
        self.stops = stops
        self._tracks = tracks

    def edges_of(self, hex: str) -> int:
        """The edges of a hex at which the company's track arrives. Raises KeyError for no hex."""
        return self.arrivals[self.ground.number[hex]]

    @cached_property
    def edges(self) -> dict[str, int]:
        """By hex, in the order of the map, the edges at which track arrives."""
        return {hex: edges for hex, edges in zip(self.ground.hexes, self.arrivals, strict=True) if edges}

    @property
    def tracks(self) -> dict[str, int]:
        """By hex the tracks of its face (bit t for track t) that a route can run along."""
        return {self.ground.hexes[h]: tracks for h, tracks in self._tracks.items()}


class Search:
    """The search for what one company reaches on one network (see the top of the module).

    Places are ports and nodes (`faces.Ground`). `upper`: by hex number the tracks a walk without memory
    runs along; `arrivals` the ports it enters and `doors` by node the hexsides (bits) over which it
    comes. `routes`: by place the hexsides and nodes of the first route found to it; `tracks`: by hex
    number what some route runs along, `_new` where that is more than before. `before`: a search
    on another network that goes on here from the places `fresh` (see `onward_on`; None: it does not).
    """

    def __init__(
        self, network: Network, company: str, before: Search | None = None, fresh: set[int] | None = None
    ) -> None:
        self.ground: Ground = network.ground
        self.faces: dict[str, Turned] = network.faces
        self.onward: Sequence[tuple[Step, ...]] = network.onward
        self.tokens, self.ends = network.own_and_shut(company)
        self.home = network.undecided.get(company)
        if before is None or fresh is None:
            self._begin()
        elif not fresh and self.home == before.home:
            self._share(before)
        else:
            self._grow(before, fresh)

    def _begin(self) -> None:
        self.arrivals: set[int] = set()
        self.doors: dict[int, int] = {}
        self.upper: dict[int, int] = {}
        self.routes: dict[int, tuple[int, int]] = {}
        self.tracks: dict[int, int] = {}
        self._new: set[int] = set()
        self._spread([])
        self._explore([])
        self._settle()
        self.reach = self._told([0] * len(self.ground.hexes), frozenset())

    def _share(self, before: Search) -> None:
        self.arrivals, self.doors, self.upper = before.arrivals, before.doors, before.upper
        self.routes, self.tracks, self.reach = before.routes, before.tracks, before.reach

    def onward_on(self, network: Network, company: str, changed: int) -> set[int] | None:
        """Places known here from which there may be something new on a network that differs in those
        hexes (bit h for number h), where all that the company reaches it reaches there too; None where that
        is not sure."""
        tokens, ends = network.own_and_shut(company)
        if not self.tokens <= tokens or not (ends - self.ends).isdisjoint(self.doors):
            return None
        fresh = set(tokens - self.tokens) | (self.ends - ends).intersection(self.doors)
        ground, arrivals, doors = self.ground, self.arrivals, self.doors
        for bit in _bits(changed):
            h = bit.bit_length() - 1
            known = [p for p in ground.places[h] if p in arrivals or p in doors or p in self.tokens]
            if known:
                hex = ground.hexes[h]
                if not grows(self.faces[hex], network.faces[hex]):
                    return None
                fresh.update(known)
        return fresh

    def _grow(self, before: Search, fresh: set[int]) -> None:
        """Go on from what was found before at those places."""
        self.arrivals, self.doors = before.arrivals - fresh, dict(before.doors)
        self.upper, self.tracks = dict(before.upper), dict(before.tracks)
        self.routes = dict(before.routes)
        hexes, self._new = self.ground.hexes, set()
        for h in {self.ground.hex_at[place] for place in fresh}:
            if self.faces[hexes[h]] is not before.faces[hexes[h]]:
                self.upper.pop(h, None)
                self.tracks.pop(h, None)
        todo, found = [], []
        for place in fresh:
            if route := self.routes.pop(place, None):
                found.append((place, *route))
            if place < self.ground.ports:
                todo.append((place, 0))
            elif over := self.doors.pop(place, 0):
                todo += [(place, door) for door in _bits(over)]
        self._spread(todo)
        self._explore(found)
        self._settle()
        self.reach = self._told(list(before.reach.arrivals), before.reach.stops)

    # -- the two bounds ----------------------------------------------------------------

    def _spread(self, todo: list[tuple[int, int]]) -> None:
        """Walk without memory from the tokens, and from those places, come to over those hexsides."""
        onward, ports, ends, tokens = self.onward, self.ground.ports, self.ends, self.tokens
        side, tracks, doors, arrivals = self.ground.side, self.upper, self.doors, self.arrivals
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
                h = self.ground.hex_at[place]
                tracks[h] = tracks.get(h, 0) | mask

    def _explore(self, found: Iterable[tuple[int, int, int]]) -> None:
        """Find routes onward from the tokens, and from those found."""
        onward, ends, tracks, routes = self.onward, self.ends, self.tracks, self.routes
        todo = deque(found)
        for token in self.tokens:
            routes.pop(token, None)
            todo.append((token, 0, self.ground.bits[token]))
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
            h = self.ground.hex_at[place]
            known = tracks.get(h, 0)
            if mask & ~known:
                tracks[h] = known | mask
                self._new.add(h)

    # -- between them ------------------------------------------------------------------

    def _settle(self) -> None:
        """Decide about all track between the bounds."""
        if self.upper == self.tracks:
            return
        for h, tracks in self.upper.items():
            for track in _bits(tracks & ~self.tracks.get(h, 0)):
                if self._proven(h, track):
                    self.tracks[h] = self.tracks.get(h, 0) | track
                    self._new.add(h)

    def _proven(self, h: int, track: int) -> bool:
        """Whether a route from a token runs along that track (a bit) of hex number h."""
        # The route comes in at `start` and goes on to another end; it is walked back to a token.
        self.tried = 0
        return any(
            used & track and self._back(start, bit, node)
            for start in self.ground.places[h]
            for used, _, bit, _, node in self.onward[start]
        )

    def _back(self, place: int, hexsides: int, visited: int) -> bool:
        """Whether a route that comes by this port, or leaves this node, can come from a token, clear of
        what is used."""
        ground = self.ground
        if place < ground.ports:
            if place not in self.arrivals or hexsides & ground.side[place]:
                return False
        else:
            if visited & ground.bits[place]:
                return False
            if place in self.tokens:
                return True
            if place in self.ends or place not in self.doors:
                return False
        if (known := self.routes.get(place)) and not (known[0] & hexsides or known[1] & visited):
            return True
        self.tried += 1
        if self.tried > PATIENCE and not self._led(place, hexsides, visited):
            return False
        if place < ground.ports:
            hexsides |= ground.side[place]
            place = ground.across[place]
        else:
            visited |= ground.bits[place]
        for _, _, bit, on, node in self.onward[place]:
            if node:
                if not bit & hexsides and self._back(on, hexsides | bit, visited):
                    return True
            elif on >= 0 and self._back(ground.across[on], hexsides, visited):
                return True
        return False

    def _led(self, place: int, hexsides: int, visited: int) -> bool:
        """Whether a walk without memory from a token, clear of what is used, leads to that place."""
        ground, seen, todo = self.ground, {place}, [place]
        while todo:
            place = todo.pop()
            if place < ground.ports:
                if place not in self.arrivals or hexsides & ground.side[place]:
                    continue
                place = ground.across[place]
            elif visited & ground.bits[place]:
                continue
            elif place in self.tokens:
                return True
            elif place in self.ends or place not in self.doors:
                continue
            for _, _, bit, on, node in self.onward[place]:
                if on >= 0 and not (node and bit & hexsides):
                    back = on if node else ground.across[on]
                    if back not in seen:
                        seen.add(back)
                        todo.append(back)
        return False

    def comes(self, hex: str, edge: int, out: int | None) -> bool:
        """Whether a route that has not run over the hexside `out` can come into the hex by that edge."""
        port = 6 * self.ground.number[hex]
        self.tried = 0
        return self._back(port + edge, 0 if out is None else self.ground.side[port + out], 0)

    # -- what comes of it --------------------------------------------------------------

    def _told(self, edges: list[int], known: frozenset[Stop]) -> Reach:
        """The reach: edges and stops that are known, with those to which new tracks lead."""
        ground, across = self.ground, self.ground.across
        stops = []
        for h in self._new:
            tracks, mask = self.tracks[h], 0
            for place in ground.places[h]:
                for used, end, _, on, node in self.onward[place]:
                    if used & tracks == used:
                        if node:
                            stops.append(ground.stop_at[on])
                        else:
                            mask |= 1 << end
                        if place < ground.ports:
                            mask |= 1 << place % 6
            edges[h] |= mask
            for edge in range(6):
                if mask >> edge & 1 and (port := across[6 * h + edge]) >= 0:
                    edges[port // 6] |= 1 << port % 6
        for token in self.tokens:
            stops.append(ground.stop_at[token])
            edges[ground.hex_at[token]] = 0b111111
        if self.home:
            edges[ground.number[self.home]] = 0b111111
        return Reach(ground, edges, known.union(stops), self.tracks)


def _bits(mask: int) -> Iterable[int]:
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit
