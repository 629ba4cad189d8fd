"""Whether one train can run from one stop to another (1870 §11.1).

All stops on the way count towards the length of the train, no hexside is used twice, and the train does not
pass cities in which others hold all slots. Distances that ignore what has been used are a lower bound, so
that the search looks only where the train can still arrive.
"""

from __future__ import annotations

from collections import deque

from engine.board.network import Network
from engine.board.route_graph import area_of, chains_from
from engine.board.tile_geometry import Stop

CHAIN_BUDGET = 200_000
"""Chains that are tried at most. Boards of played games take a few hundred."""


def can_connect(network: Network, company: str, start: Stop, goal: Stop, distance: int | None) -> bool:
    """Whether a train of the company that visits `distance` stops (None: any number) can connect both."""
    first, last = network.stop_number.get(start), network.stop_number.get(goal)
    if first is None or last is None or first == last:
        return False
    terminals = network.terminal_stops(company)
    max_stops = len(network.stops) if distance is None else distance
    distances = _distances_to(network, last, terminals, first)
    if distances.get(first, max_stops) >= max_stops:
        return False
    tried = 0

    def search(stop: int, used: int, areas: frozenset[str], stops_left: int) -> bool:
        nonlocal tried
        for to, hexsides, _ in sorted(
            chains_from(network, stop), key=lambda chain: distances.get(chain[0], max_stops)
        ):
            if (
                hexsides & used
                or distances.get(to, max_stops) >= stops_left
                or (area := area_of(network, to)) in areas
            ):
                continue
            tried += 1
            if to == last:
                return True
            if tried > CHAIN_BUDGET:
                return False
            if not terminals[to] and search(to, used | hexsides, areas | {area}, stops_left - 1):
                return True
        return False

    return search(first, 0, frozenset({area_of(network, first)}), max_stops - 1)


def _distances_to(network: Network, goal: int, terminals: list[bool], start: int) -> dict[int, int]:
    """By stop, the least number of further stops on a walk to the goal."""
    distances = {goal: 0}
    todo = deque([goal])
    while todo:
        stop = todo.popleft()
        for to, _, _ in chains_from(network, stop):
            if to not in distances:
                distances[to] = distances[stop] + 1
                if not terminals[to] and to != start:
                    todo.append(to)
    return distances
