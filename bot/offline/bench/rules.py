"""What the rules cost: every move of a game, every question of it, and the longest trains at its end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from bot.offline.bench.games import Recorded, Unplayable
from bot.offline.bench.times import Times, forget, least, spent
from engine import (
    AnyEvent,
    OperatingTurn,
    State,
    choices,
    copied,
    decision,
    decoded,
    encoded,
    encoded_events,
    fold,
    game_of,
    options,
    parse,
    play,
    say,
)
from engine.operating import run
from engine.operating.track import lays

LAYS, OPTIONS, MENUS, ROUTES, DENSE = 20.0, 20.0, 30.0, 100.0, 10_000.0
"""Milliseconds that we aim to stay below: all lays, all options, menus, the routes of a run, dense sets."""

SETS = (3, 4)
"""Trains without limit, or of the greatest length there is, that the densest boards are asked about."""

TIMES = 10
"""How many times the budget of the service the sets get for which that is not enough."""

BOARDS = 3
"""Boards of each title that are the densest."""


@dataclass
class Rules:
    """What the rules cost, in milliseconds.

    said, played: moves by title, as lines and without reading them. kinds: options by what is asked.
    runs: of recorded and of random games. unproven, bounded: runs, and sets of long trains, of which the
    best found may not be the best. longer, open: for these sets TIMES the budget, and those left then.
    """

    replays: dict[str, list[Recorded]] = field(default_factory=lambda: defaultdict(list))
    said: dict[str, Times] = field(default_factory=lambda: defaultdict(Times))
    played: Times = field(default_factory=Times)
    lays: Times = field(default_factory=Times)
    kinds: dict[str, Times] = field(default_factory=lambda: defaultdict(Times))
    menus: Times = field(default_factory=Times)
    runs: dict[bool, Times] = field(default_factory=lambda: defaultdict(Times))
    dense: Times = field(default_factory=Times)
    longer: Times = field(default_factory=Times)
    unproven: list[str] = field(default_factory=list)
    bounded: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Played:
    """A game that was said: the events of each move, and the last position, encoded."""

    game: Recorded
    events: list[bytes]
    end: bytes


def replayed(game: Recorded, rules: Rules) -> tuple[Played, list[bytes]]:
    """Say every line of the game; with it all positions from the first on. Raises Unplayable."""
    forget()
    state, states, told = game.start, [encoded(game.start)], list[bytes]()
    if game.actions:
        rules.replays[state.title].append(game)
    for number, (seat, line) in enumerate(game.lines, 1):
        where = f"{game.name}, move {number}: {line}"
        try:
            state, events = _said(state, seat, line, where, rules)
        except Exception as wrong:
            if not game.recorded:
                raise Unplayable(f"{game.name}: move {number}, {line!r}: {wrong}") from None
            events = game.recorded[number - 1]
            state = fold(events, copied(state))
        states.append(encoded(state))
        told.append(encoded_events(events))
    return Played(game, told, states[-1]), states


def _said(state: State, seat: str, line: str, where: str, rules: Rules) -> tuple[State, Sequence[AnyEvent]]:
    said, saying = spent(lambda: say(state, seat, line))
    action = parse(state, seat, line)
    _, playing = spent(lambda: play(state, seat, action))
    rules.said[state.title].add(saying, where)
    rules.played.add(playing, where)
    return said.state, said.events


def examined(game: Recorded, states: Sequence[bytes], rules: Rules) -> None:
    """Ask what a table asks once for every question of the game."""
    question = 0
    for number, raw in enumerate(states):
        state = decoded(raw)
        if state.over or state.question == question:
            continue
        question = state.question
        asks = decision(state)
        for seat in asks.asked:
            where = f"{game.name}, after move {number}: {state.name(seat)} is asked {asks.needs}"
            _offers(state, seat, where, rules)
        if isinstance(state.top, OperatingTurn):
            where = f"{game.name}, after move {number}"
            _operating(state, state.top, where, rules, rules.runs[game.random])


def _offers(state: State, seat: str, where: str, rules: Rules) -> None:
    rules.kinds[_asked_about(state)].add(least(OPTIONS, lambda: options(state, seat))[1], where)
    rules.menus.add(least(MENUS, lambda: choices(state, seat))[1], where)


def _asked_about(state: State) -> str:
    top = state.top
    return f"{type(top).__name__}, {top.step}" if isinstance(top, OperatingTurn) else type(top).__name__


def _operating(state: State, turn: OperatingTurn, where: str, rules: Rules, runs: Times) -> None:
    g = game_of(state)
    if turn.step == "track":
        found, milliseconds = least(LAYS, lambda: list(lays(g, turn.company)))
        rules.lays.add(milliseconds, f"{where}: {len(found)} lays of the {turn.company}")
    if turn.step == "run":
        rules.unproven += _run(state, turn.company, where, runs, ROUTES)


def _run(
    state: State, company: str, where: str, times: Times, aim: float, budget: int = run.BUDGET
) -> list[str]:
    """The best routes of a company with its trains, the network found anew; said if not proven."""
    best, milliseconds = least(aim, lambda: run.best_run(game_of(state), company, budget=budget))
    trains = " ".join(game_of(state).company(company).trains)
    what = f"{where}: {company} with {trains}, ${best.revenue}"
    times.add(milliseconds, what)
    return [] if best.proven else [f"{what}, at most ${best.bound}, {milliseconds:.0f} ms"]


# -- the densest boards ----------------------------------------------------------------------


def densest(ends: Iterable[tuple[str, State]]) -> Iterator[tuple[str, State]]:
    """Of named last positions those of each title with the most track."""
    boards: dict[str, list[tuple[str, State]]] = defaultdict(list)
    for name, state in ends:
        boards[state.title].append((name, state))
    for found in boards.values():
        found.sort(key=lambda named: -len(named[1].tiles))
        yield from found[:BOARDS]


def crowded(boards: Iterable[tuple[str, State]], rules: Rules) -> None:
    """Ask for the best routes of three and four of the longest trains, for who reaches most."""
    for name, state in boards:
        for company, trains in product(_widest(state), SETS):
            late = copied(state)
            late.companies[company].trains = [_longest(state)] * trains
            where = f"the end of {name}"
            if bounded := _run(late, company, where, rules.dense, DENSE):
                rules.bounded += bounded
                rules.open += _run(late, company, where, rules.longer, DENSE, TIMES * run.BUDGET)


def _widest(state: State) -> list[str]:
    """The company that reaches the most stops, where there is any on the board."""
    network = game_of(state).network
    placed = [company for company in state.companies if network.own(company)]
    return sorted(placed, key=lambda company: -len(network.reach(company).stops))[:1]


def _longest(state: State) -> str:
    trains = game_of(state).facts.trains
    return max(trains, key=lambda train: (train.distance is None, train.distance or 0)).name
