"""The computer player of a seat: its judgements, ranked."""

from __future__ import annotations

from typing import NamedTuple
from zlib import crc32

from bot.features.robots.forecast import Forecast
from bot.features.robots.judgement import judge
from bot.features.robots.planning import Planner
from bot.features.robots.scored import Scored
from bot.features.robots.track import MAX_TRIALS
from bot.features.robots.weights import DEFAULT_WEIGHTS, Weights
from engine import Action, State, game_of, visible_to
from engine import options as legal_options
from engine.core.actions import Accept, Decline
from engine.finance.offers import without_open_offers

TEMPER = 4.0
"""Dollars by which two robots of different seeds may judge an option differently."""
DEFAULT_SECONDS = 2.0
TRIALS_A_SECOND = 20
"""Tiles whose revenue is worked out in about a second on a dense board."""
PROJECTIONS_A_SECOND = 1000
"""Projections of the rest of the game that take about a second."""
MOST_PROJECTIONS = 200
"""Projections of a decision at most: what they all get wrong alike, more of them do not mend."""


class Effort(NamedTuple):
    """How much a robot may think about a decision, counted so that it does not depend on the machine.

    `trials`: tiles tried on the map at a track decision. `projections`: how many projections a plan may cost;
    0 is without plans.
    """

    trials: int = MAX_TRIALS
    projections: int = 0


USUAL_EFFORT = Effort()
LEAST_EFFORT = Effort(trials=1)


def effort_in(seconds: float) -> Effort:
    """How much a robot may think in about so many seconds of one core; at least one tile is tried."""
    trials = max(min(round(seconds * TRIALS_A_SECOND), 4 * MAX_TRIALS), 1)
    return Effort(trials, min(round(seconds * PROJECTIONS_A_SECOND), MOST_PROJECTIONS))


class Robot:
    """Plays a seat. `seed`: of its temper, which makes one robot differ from another; 0 is without."""

    def __init__(
        self, seed: int = 0, effort: Effort = USUAL_EFFORT, weights: Weights = DEFAULT_WEIGHTS
    ) -> None:
        self.seed = seed
        self.effort = effort
        self.weights = weights

    def ranking(self, state: State, seat: str) -> list[Scored]:
        """What the seat may do now, best first. Empty if it may do nothing."""
        seen = visible_to(state, seat)
        options = without_open_offers(game_of(seen), seat, legal_options(seen, seat))
        if not options:
            return []
        judged = judge(Forecast(game_of(seen), seat, self.weights), options, self.effort.trials)
        if self.seed:
            judged = sorted(judged, key=lambda each: -each.value - self._temper(seen, each.action))
        if len(judged) > 1 and self.effort.projections:
            judged = Planner(seat, self.effort.projections, self.weights).judged(seen, judged)
        return judged

    def _temper(self, state: State, action: Action) -> float:
        """The same dollars for the same seed, question and action, on every machine.

        An answer to an offer has none: an offer that is made again gets the same answer.
        """
        if isinstance(action, Accept | Decline):
            return 0.0
        drawn = crc32(f"{self.seed} {state.question_number} {action!r}".encode())
        return TEMPER * (drawn / 2**32 - 0.5)

    def choose(self, state: State, seat: str) -> Scored:
        """The best action. Raises ValueError if the seat may do nothing."""
        ranking = self.ranking(state, seat)
        if not ranking:
            raise ValueError(f"{state.name(seat)} has nothing to decide.")
        return ranking[0]

    def choose_action(self, state: State, seat: str) -> Action:
        """The action of `choose`."""
        return self.choose(state, seat).action
