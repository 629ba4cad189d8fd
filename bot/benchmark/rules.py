"""What the rules cost: every move of a game, every question of it, and the longest trains at its end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from bot.benchmark.games import BenchmarkError, BenchmarkGame
from bot.benchmark.timing import Timings, best_time, clear_caches, timed
from engine import (
    AnyEvent,
    OperatingTurn,
    State,
    choices,
    copy_state,
    decision,
    decode_state,
    encode_events,
    encode_state,
    fold,
    game_of,
    options,
    parse,
    play,
    play_line,
)
from engine.operating import run
from engine.operating.track import legal_lays

LAYS_TARGET, OPTIONS_TARGET, MENUS_TARGET, ROUTES_TARGET, DENSE_TARGET = 20.0, 20.0, 30.0, 100.0, 10_000.0
"""Milliseconds that we aim to stay below: all lays, all options, menus, the routes of a run, dense sets."""

DENSE_TRAIN_COUNTS = (3, 4)
"""Trains without limit, or of the greatest length there is, that the densest boards are asked about."""

BUDGET_FACTOR = 10
"""How many times the budget of the service the sets get for which that is not enough."""

BOARDS_PER_TITLE = 3
"""Boards of each title that are the densest."""


@dataclass
class RulesMetrics:
    """What the rules cost, in milliseconds.

    said, played: moves by title, as lines and without reading them. kinds: options by what is asked.
    runs: of recorded and of random games. unproven, bounded: runs, and sets of long trains, of which the
    best found may not be the best. longer, open: for these sets TIMES the budget, and those left then.
    """

    replays: dict[str, list[BenchmarkGame]] = field(default_factory=lambda: defaultdict(list))
    lines: dict[str, Timings] = field(default_factory=lambda: defaultdict(Timings))
    moves: Timings = field(default_factory=Timings)
    lays: Timings = field(default_factory=Timings)
    options_by_kind: dict[str, Timings] = field(default_factory=lambda: defaultdict(Timings))
    menus: Timings = field(default_factory=Timings)
    runs: dict[bool, Timings] = field(default_factory=lambda: defaultdict(Timings))
    dense: Timings = field(default_factory=Timings)
    dense_extended: Timings = field(default_factory=Timings)
    unproven: list[str] = field(default_factory=list)
    dense_unproven: list[str] = field(default_factory=list)
    dense_still_unproven: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A game that was said: the events of each move, and the last position, encoded."""

    game: BenchmarkGame
    events: list[bytes]
    final_state: bytes


def play_through(game: BenchmarkGame, rules: RulesMetrics) -> tuple[PlayedGame, list[bytes]]:
    """Say every line of the game; with it all positions from the first on. Raises Unplayable."""
    clear_caches()
    state, states, told = game.start, [encode_state(game.start)], list[bytes]()
    if game.action_count:
        rules.replays[state.title].append(game)
    for number, (seat, line) in enumerate(game.lines, 1):
        where = f"{game.name}, move {number}: {line}"
        try:
            state, events = _play_line(state, seat, line, where, rules)
        except Exception as wrong:
            if not game.recorded_events:
                raise BenchmarkError(f"{game.name}: move {number}, {line!r}: {wrong}") from None
            events = game.recorded_events[number - 1]
            state = fold(events, copy_state(state))
        states.append(encode_state(state))
        told.append(encode_events(events))
    return PlayedGame(game, told, states[-1]), states


def _play_line(
    state: State, seat: str, line: str, where: str, rules: RulesMetrics
) -> tuple[State, Sequence[AnyEvent]]:
    said, saying = timed(lambda: play_line(state, seat, line))
    action = parse(state, seat, line)
    _, playing = timed(lambda: play(state, seat, action))
    rules.lines[state.title].add(saying, where)
    rules.moves.add(playing, where)
    return said.state, said.events


def measure_decisions(game: BenchmarkGame, states: Sequence[bytes], rules: RulesMetrics) -> None:
    """Ask what a table asks once for every question of the game."""
    question = 0
    for number, raw in enumerate(states):
        state = decode_state(raw)
        if state.game_over or state.question_number == question:
            continue
        question = state.question_number
        asks = decision(state)
        for seat in asks.asked:
            where = f"{game.name}, after move {number}: {state.name(seat)} is asked {asks.prompt}"
            _measure_options(state, seat, where, rules)
        if isinstance(state.top, OperatingTurn):
            where = f"{game.name}, after move {number}"
            _measure_operating_step(state, state.top, where, rules, rules.runs[game.is_random])


def _measure_options(state: State, seat: str, where: str, rules: RulesMetrics) -> None:
    rules.options_by_kind[_decision_kind(state)].add(
        best_time(OPTIONS_TARGET, lambda: options(state, seat))[1], where
    )
    rules.menus.add(best_time(MENUS_TARGET, lambda: choices(state, seat))[1], where)


def _decision_kind(state: State) -> str:
    top = state.top
    return f"{type(top).__name__}, {top.step}" if isinstance(top, OperatingTurn) else type(top).__name__


def _measure_operating_step(
    state: State, turn: OperatingTurn, where: str, rules: RulesMetrics, runs: Timings
) -> None:
    g = game_of(state)
    if turn.step == "track":
        found, milliseconds = best_time(LAYS_TARGET, lambda: list(legal_lays(g, turn.company)))
        rules.lays.add(milliseconds, f"{where}: {len(found)} lays of the {turn.company}")
    if turn.step == "run":
        rules.unproven += _measure_run(state, turn.company, where, runs, ROUTES_TARGET)


def _measure_run(
    state: State, company: str, where: str, times: Timings, aim: float, budget: int = run.SEARCH_BUDGET
) -> list[str]:
    """The best routes of a company with its trains, the network found anew; said if not proven."""
    best, milliseconds = best_time(aim, lambda: run.best_run(game_of(state), company, budget=budget))
    trains = " ".join(game_of(state).company(company).trains)
    what = f"{where}: {company} with {trains}, ${best.revenue}"
    times.add(milliseconds, what)
    return [] if best.proven else [f"{what}, at most ${best.bound}, {milliseconds:.0f} ms"]


# -- the densest boards ----------------------------------------------------------------------


def densest_boards(ends: Iterable[tuple[str, State]]) -> Iterator[tuple[str, State]]:
    """Of named last positions those of each title with the most track."""
    boards: dict[str, list[tuple[str, State]]] = defaultdict(list)
    for name, state in ends:
        boards[state.title].append((name, state))
    for found in boards.values():
        found.sort(key=lambda named: -len(named[1].tiles))
        yield from found[:BOARDS_PER_TITLE]


def measure_dense_boards(boards: Iterable[tuple[str, State]], rules: RulesMetrics) -> None:
    """Ask for the best routes of three and four of the longest trains, for who reaches most."""
    for name, state in boards:
        for company, trains in product(_farthest_reaching(state), DENSE_TRAIN_COUNTS):
            late = copy_state(state)
            late.companies[company].trains = [_longest_train(state)] * trains
            where = f"the end of {name}"
            if bounded := _measure_run(late, company, where, rules.dense, DENSE_TARGET):
                rules.dense_unproven += bounded
                rules.dense_still_unproven += _measure_run(
                    late,
                    company,
                    where,
                    rules.dense_extended,
                    DENSE_TARGET,
                    BUDGET_FACTOR * run.SEARCH_BUDGET,
                )


def _farthest_reaching(state: State) -> list[str]:
    """The company that reaches the most stops, where there is any on the board."""
    network = game_of(state).network
    placed = [company for company in state.companies if network.token_stops(company)]
    return sorted(placed, key=lambda company: -len(network.reachable(company).stops))[:1]


def _longest_train(state: State) -> str:
    trains = game_of(state).components.trains
    return max(trains, key=lambda train: (train.distance is None, train.distance or 0)).name
