"""The cost of the rules: moves, decisions, loading, and route searches with the longest trains."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product

from bot.tools.benchmark.games import BenchmarkError, BenchmarkGame
from bot.tools.benchmark.timing import Timings, best_time, clear_caches, timed
from engine import (
    OperatingTurn,
    State,
    choices,
    copy_state,
    decision,
    decode_events,
    decode_state,
    encode_events,
    encode_state,
    fold,
    game_of,
    play_line,
    prompt,
)
from engine.operating import run
from engine.operating.track import legal_lays

LAYS_TARGET, MENUS_TARGET, ROUTES_TARGET, DENSE_TARGET = 20.0, 30.0, 100.0, 10_000.0
"""Upper limits in milliseconds: all lays, a menu, the routes of a run, the longest trains."""

DENSE_TRAIN_COUNTS = (3, 4)
"""How many of the longest trains are searched on the densest boards."""

BOARDS_PER_TITLE = 3
"""How many boards of each title count as the densest."""


@dataclass
class RulesMetrics:
    """Times in milliseconds.

    replays: recorded games by title. lines: moves by title, as lines. menus: all options of a decision. runs:
    best routes, of random games or not. unproven, dense_unproven: searches whose best result is not proven,
    of runs and of the longest trains. loads: finished games from their events.
    """

    replays: dict[str, list[BenchmarkGame]] = field(default_factory=lambda: defaultdict(list))
    lines: dict[str, Timings] = field(default_factory=lambda: defaultdict(Timings))
    lays: Timings = field(default_factory=Timings)
    menus: Timings = field(default_factory=Timings)
    runs: dict[bool, Timings] = field(default_factory=lambda: defaultdict(Timings))
    dense: Timings = field(default_factory=Timings)
    unproven: list[str] = field(default_factory=list)
    dense_unproven: list[str] = field(default_factory=list)
    loads: Timings = field(default_factory=Timings)


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A game that was played through: the events of each move and the final position, encoded."""

    game: BenchmarkGame
    events: list[bytes]
    final_state: bytes


def play_through(game: BenchmarkGame, rules: RulesMetrics) -> tuple[PlayedGame, list[bytes]]:
    """Play every line of a game; also all its positions, encoded. Raises BenchmarkError."""
    clear_caches()
    state, states, encoded_events = game.start, [encode_state(game.start)], list[bytes]()
    if game.action_count:
        rules.replays[state.title].append(game)
    for number, (seat, line) in enumerate(game.lines, 1):
        where = f"{game.name}, move {number}: {line}"
        try:
            played, milliseconds = timed(partial(play_line, state, seat, line))
            rules.lines[state.title].add(milliseconds, where)
            state, events = played.state, played.events
        except Exception as error:
            if not game.recorded_events:
                raise BenchmarkError(f"{game.name}: move {number}, {line!r}: {error}") from None
            events = [*game.recorded_events[number - 1]]
            state = fold(events, copy_state(state))
        states.append(encode_state(state))
        encoded_events.append(encode_events(events))
    return PlayedGame(game, encoded_events, states[-1]), states


def measure_loading(played: PlayedGame, rules: RulesMetrics) -> None:
    """Measure loading a finished game from its events. Raises BenchmarkError."""
    first = encode_state(played.game.start)
    state, milliseconds = timed(
        lambda: fold((e for raw in played.events for e in decode_events(raw)), decode_state(first))
    )
    if state != decode_state(played.final_state):
        raise BenchmarkError(f"{played.game.name}: the events do not lead to the position that was played")
    rules.loads.add(milliseconds, f"{played.game.name}, {len(played.game.lines)} moves")


def measure_decisions(game: BenchmarkGame, states: Sequence[bytes], rules: RulesMetrics) -> None:
    """Measure what a table asks at every decision of the game."""
    question = 0
    for number, raw in enumerate(states):
        state = decode_state(raw)
        if state.game_over or state.question_number == question:
            continue
        question = state.question_number
        for seat in decision(state).asked:
            where = f"{game.name}, after move {number}: {state.name(seat)} to act: {prompt(state)}"
            rules.menus.add(best_time(MENUS_TARGET, partial(choices, state, seat))[1], where)
        if isinstance(state.top, OperatingTurn):
            where = f"{game.name}, after move {number}"
            _measure_operating_step(state, state.top, where, rules, rules.runs[game.is_random])


def _measure_operating_step(
    state: State, turn: OperatingTurn, where: str, rules: RulesMetrics, runs: Timings
) -> None:
    g = game_of(state)
    if turn.step == "track":
        lays, milliseconds = best_time(LAYS_TARGET, lambda: list(legal_lays(g, turn.company)))
        rules.lays.add(milliseconds, f"{where}: {len(lays)} lays of the {turn.company}")
    if turn.step == "run":
        rules.unproven += _measure_run(state, turn.company, where, runs, ROUTES_TARGET)


def _measure_run(state: State, company: str, where: str, times: Timings, target: float) -> list[str]:
    """Measure the best routes of a company, with cleared caches; a description if they are not proven."""
    best, milliseconds = best_time(target, lambda: run.best_run(game_of(state), company))
    trains = " ".join(game_of(state).company(company).trains)
    description = f"{where}: {company} with {trains}, ${best.revenue}"
    times.add(milliseconds, description)
    return [] if best.proven else [f"{description}, at most ${best.bound}, {milliseconds:.0f} ms"]


# -- the densest boards ----------------------------------------------------------------------


def densest_boards(ends: Iterable[tuple[str, State]]) -> Iterator[tuple[str, State]]:
    """The final positions of each title with the most tiles, with their names."""
    boards: dict[str, list[tuple[str, State]]] = defaultdict(list)
    for name, state in ends:
        boards[state.title].append((name, state))
    for named_states in boards.values():
        named_states.sort(key=lambda named: -len(named[1].tiles))
        yield from named_states[:BOARDS_PER_TITLE]


def measure_dense_boards(boards: Iterable[tuple[str, State]], rules: RulesMetrics) -> None:
    """Measure the best routes of the longest trains, for the company that reaches the most stops."""
    for name, state in boards:
        for company, trains in product(_farthest_reaching(state), DENSE_TRAIN_COUNTS):
            late = copy_state(state)
            late.companies[company].trains = [_longest_train(state)] * trains
            where = f"the end of {name}"
            rules.dense_unproven += _measure_run(late, company, where, rules.dense, DENSE_TARGET)


def _farthest_reaching(state: State) -> list[str]:
    """The company that reaches the most stops; none if no company has a token."""
    network = game_of(state).network
    placed = [company for company in state.companies if network.token_stops(company)]
    return sorted(placed, key=lambda company: -len(network.reachable(company).stops))[:1]


def _longest_train(state: State) -> str:
    trains = game_of(state).components.trains
    return max(trains, key=lambda train: (train.distance is None, train.distance or 0)).name
