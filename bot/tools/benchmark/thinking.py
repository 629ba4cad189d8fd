"""What a robot's thinking costs: positions a second, by title and by what is done with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from bot.features.robots.board_facts import BoardFacts
from bot.features.robots.forecast import Forecast
from bot.features.robots.player import Robot
from bot.features.robots.projection import Projection
from bot.tools.benchmark.timing import Timings, timed
from engine import State, copy_state, decision, decode_state, game_of, options, play

EVERY = 7
"""Every so many positions of a game one is measured."""
KINDS = ("copy", "options", "play", "value", "projection", "robot's decision")


@dataclass
class ThinkingMetrics:
    """Times in milliseconds by title and kind, see KINDS. `value`: what every share will bring.

    `projection`: the rest of the game, played on without the map."""

    times: dict[tuple[str, str], Timings] = field(default_factory=lambda: defaultdict(Timings))


def measure_thinking(states: Sequence[bytes], metrics: ThinkingMetrics) -> None:
    """Measure every seventh position of a game, the caches as they are in play."""
    robot = Robot()
    for number, raw in enumerate(states[::EVERY]):
        state = decode_state(raw)
        if not state.game_over:
            _measure(state, f"position {number * EVERY}", robot, metrics)


def _measure(state: State, where: str, robot: Robot, metrics: ThinkingMetrics) -> None:
    seat = decision(state).awaited[0]
    action = options(state, seat)[0].action
    facts = BoardFacts(Forecast(game_of(state), seat))
    Projection(game_of(state), facts).run()  # the revenues are worked out once for a decision
    work: dict[str, Callable[[], object]] = {
        "copy": lambda: copy_state(state),
        "options": lambda: options(state, seat),
        "play": lambda: play(state, seat, action),
        "value": lambda: value_of_shares(state, seat),
        "projection": lambda: Projection(game_of(state), facts).run(),
        "robot's decision": lambda: robot.ranking(state, seat),
    }
    for kind in KINDS:
        metrics.times[state.title, kind].add(timed(work[kind])[1], where)


def value_of_shares(state: State, seat: str) -> float:
    """What one share of each company will bring, together: the value of a position to a robot."""
    forecast = Forecast(game_of(state), seat)
    return sum(forecast.share_value(company) for company in state.market_order)


def speeds(metrics: ThinkingMetrics) -> Iterator[tuple[str, str, Timings, float]]:
    """(title, kind, times, positions a second), by title and in the order of KINDS."""
    for title in sorted({title for title, _ in metrics.times}):
        for kind in KINDS:
            times = metrics.times[title, kind]
            if times.samples:
                yield title, kind, times, 1000 / times.mean if times.mean else 0.0
