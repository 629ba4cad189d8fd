"""What a robot's thinking costs: positions a second, by title and by what is done with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.features.robots.board_facts import BoardFacts
from bot.features.robots.forecast import Forecast
from bot.features.robots.projection import Projection
from bot.features.robots.robot import Robot
from bot.tools.benchmark.timing import Timings, timed
from engine import State, copy_state, decision, decode_state, game_of, options, play

EVERY = 7
"""Every so many positions of a game one is measured."""

Thinking = dict[tuple[str, str], Timings]
"""Times in milliseconds by title and kind of work. `value`: what every share will bring. `projection`: the
rest of the game, played on without the map."""


def measure_thinking(states: Sequence[bytes], thinking: Thinking) -> None:
    """Measure every seventh position of a game, the caches as they are in play."""
    robot = Robot()
    for number, raw in enumerate(states[::EVERY]):
        state = decode_state(raw)
        if not state.game_over:
            _measure(state, f"position {number * EVERY}", robot, thinking)


def _measure(state: State, where: str, robot: Robot, thinking: Thinking) -> None:
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
    for kind, function in work.items():
        thinking.setdefault((state.title, kind), Timings()).add(timed(function)[1], where)


def value_of_shares(state: State, seat: str) -> float:
    """What one share of each company will bring, together: the value of a position to a robot."""
    forecast = Forecast(game_of(state), seat)
    return sum(forecast.share_value(company) for company in state.market_order)
