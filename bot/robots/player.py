"""The computer player of a seat: its judgements, ranked."""

from __future__ import annotations

from zlib import crc32

from bot.robots.judged import Judged
from bot.robots.judgement import judge
from bot.robots.outlook import Outlook
from bot.robots.track import MAX_TRIALS
from engine import Action, State, game_of, visible_to
from engine import options as legal_options

TEMPER = 4.0
"""Dollars by which two robots of different seeds may judge an option differently."""
DEFAULT_SECONDS = 2.0
TRIALS_A_SECOND = 20
"""Tiles whose revenue is worked out in about a second on a dense board."""


def trials_in(seconds: float) -> int:
    """How many tiles may be tried on the map in about so many seconds, at least one."""
    return max(min(round(seconds * TRIALS_A_SECOND), 4 * MAX_TRIALS), 1)


class Robot:
    """Plays a seat.

    `seed`: of its temper, which makes one robot differ from another; 0 is without. `trials`: how many tiles
    it tries on the map at a track decision, which is where its time goes.
    """

    def __init__(self, seed: int = 0, trials: int = MAX_TRIALS) -> None:
        self.seed = seed
        self.trials = trials

    def ranking(self, state: State, seat: str) -> list[Judged]:
        """What the seat may do now, best first. Empty if it may do nothing."""
        seen = visible_to(state, seat)
        options = legal_options(seen, seat)
        if not options:
            return []
        judged = judge(Outlook(game_of(seen), seat), options, self.trials)
        if not self.seed:
            return judged
        return sorted(judged, key=lambda each: -each.worth - self._temper(seen, each.action))

    def _temper(self, state: State, action: Action) -> float:
        """The same dollars for the same seed, question and action, on every machine."""
        drawn = crc32(f"{self.seed} {state.question_number} {action!r}".encode())
        return TEMPER * (drawn / 2**32 - 0.5)

    def choose(self, state: State, seat: str) -> Judged:
        """The best action. Raises ValueError if the seat may do nothing."""
        ranking = self.ranking(state, seat)
        if not ranking:
            raise ValueError(f"{state.name(seat)} has nothing to decide.")
        return ranking[0]

    def choose_action(self, state: State, seat: str) -> Action:
        """The action of `choose`."""
        return self.choose(state, seat).action
