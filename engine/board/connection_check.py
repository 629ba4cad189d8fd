"""Whether one train can run from a stop to another (1870 §11.1).

All stops on the way count towards the length of the train, no hexside is used twice, and places that
others hold altogether are not passed. Distances that ignore what has been used bound the search from
below, so that it looks only where the train can still arrive.
"""

from __future__ import annotations

from collections import deque

from engine.board.network import Network, Stop
from engine.board.route_graph import area_of, chains_from

CHAIN_BUDGET = 200_000
"""Chains that are tried; boards of played games take a few hundred."""


def can_connect(network: Network, company: str, start: Stop, goal: Stop, distance: int | None) -> bool:
    """Whether a train of that length (None: any) of the company can run from one stop to the other."""
    s, t = network.stop_number.get(start), network.stop_number.get(goal)
    if s is None or t is None or s == t:
        return False
    ends = network.terminal_stops(company)
    most = len(network.stops) if distance is None else distance
    far = _distances_to(network, t, ends, s)
    if far.get(s, most) >= most:
        return False
    tried = 0

    def search(at: int, sides: int, areas: frozenset[str], left: int) -> bool:
        nonlocal tried
        for to, more, _ in sorted(chains_from(network, at), key=lambda hop: far.get(hop[0], most)):
            if more & sides or far.get(to, most) >= left or (area := area_of(network, to)) in areas:
                continue
            tried += 1
            if to == t:
                return True
            if tried > CHAIN_BUDGET:
                return False
            if not ends[to] and search(to, sides | more, areas | {area}, left - 1):
                return True
        return False

    return search(s, 0, frozenset({area_of(network, s)}), most - 1)


def _distances_to(network: Network, goal: int, ends: list[bool], start: int) -> dict[int, int]:
    """By stop, how many more stops a walk to the goal visits at least."""
    far = {goal: 0}
    todo = deque([goal])
    while todo:
        at = todo.popleft()
        for to, _, _ in chains_from(network, at):
            if to not in far:
                far[to] = far[at] + 1
                if not ends[to] and to != start:
                    todo.append(to)
    return far
