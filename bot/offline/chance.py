"""A player of every seat who draws what to do.

Theory of operation. Who chooses evenly among all options never gets anywhere: there are a hundred lays for
one train. So options are first put into kinds, a kind is drawn by its weight, and then an option of that
kind, both with a little sense (`sense.py`). Weights make games progress and yet leave room for what happens
seldom; each table and each player has a temper, drawn from the seed, which leans on some kinds, so that a
hundred games visit more corners than one game does a hundred times. Now and then somebody who is not asked
acts, where the rules let him.
"""

from __future__ import annotations

from math import exp
from random import Random

from bot.offline.invariants import at_amount, is_aside
from bot.offline.kinds import WEIGHTS, kind_of
from bot.offline.sense import leanings, picked
from engine import Action, Option, State, decision, game_of, options
from engine.actions import Run, StartCompany
from engine.kernel import refusal
from engine.state import Auction, Claim, seat_name

BESIDE = 0.04
"""How often somebody acts beside the question, if he can."""
TEMPER = 0.8
"""How far a temper leans: a weight is multiplied by e to the power of -TEMPER to TEMPER, once for the table
and once for the player."""
ALL_IN = 0.02
"""How often a private is bid for beyond what is ample for it."""


class Stuck(Exception):
    """A game that cannot go on; the message says why."""


class Chance:
    """A player of every seat who draws what to do."""

    def __init__(self, seed: int, players: int) -> None:
        self.random = Random(seed)
        table = _temper(f"{seed}")
        self.tempers: dict[str, dict[str, float]] = {}
        for seat in map(seat_name, range(players)):
            own = _temper(f"{seed} {seat}")
            self.tempers[seat] = {kind: weight * table[kind] * own[kind] for kind, weight in WEIGHTS.items()}

    def decide(self, state: State) -> tuple[str, Action, str]:
        """Who does what, and of which kind it is. Raises Stuck where nobody can do anything."""
        if self.random.random() < BESIDE:
            seat = self.random.choice(state.seats)
            g = game_of(state)
            beside = [o for o in options(state, seat) if is_aside(g, o.action)]
            if beside:
                return seat, *self._draw(state, seat, beside)
        waiting = decision(state).all
        if not waiting:
            raise Stuck("nobody is asked")
        seat = self.random.choice(waiting)
        found = options(state, seat)
        if not found:
            raise Stuck(f"{state.name(seat)} is asked {decision(state).needs} and has no option")
        return seat, *self._draw(state, seat, found)

    def _draw(self, state: State, seat: str, found: list[Option]) -> tuple[Action, str]:
        kinds: dict[str, list[Option]] = {}
        for option in found:
            kinds.setdefault(kind_of(state, seat, option.action), []).append(option)
        temper, lean = self.tempers[seat], leanings(state, kinds)
        kind = self.random.choices(list(kinds), [temper[k] * lean.get(k, 1) for k in kinds])[0]
        option = picked(state, kinds[kind], self.random)
        if isinstance(option.action, Run) and not isinstance(state.top, Claim):
            return self._run(state, seat, option.action)
        if option.amounts is not None:
            if isinstance(option.action, StartCompany):
                return at_amount(option, self.random.choice(option.amounts)), kind
            return at_amount(option, self._dollars(option.amounts, _ample(state, option))), kind
        return option.action, kind

    def _dollars(self, amounts: range, ample: int) -> int:
        """Mostly little, sometimes anything up to what is ample, and now and then the most."""
        first, last = amounts[0], amounts[-1]
        if last > ample and self.random.random() >= ALL_IN:
            last = max(first, ample)
        match self.random.randrange(10):
            case 0 | 1 | 2 | 3:
                return first
            case 4 | 5 | 6:
                wanted = min(last, first + 5 * self.random.randrange(6))
            case 7 | 8:
                wanted = self.random.randint(first, min(last, 2 * first + 50))
            case _:
                wanted = self.random.choice((last, self.random.randint(first, last)))
        return wanted - (wanted - first) % amounts.step

    def _run(self, state: State, seat: str, best: Run) -> tuple[Action, str]:
        """The best run; where conventions let a president run for less, now and then that."""
        worse = Run(best.routes[1:])
        temper = self.tempers[seat]
        often = temper["run worse than best"] / temper["run best"]
        if worse.routes and self.random.random() < often and not refusal(game_of(state), seat, worse):
            return worse, "run worse than best"
        return best, "run best"


def _temper(seed: str) -> dict[str, float]:
    """By kind what its weight is multiplied by."""
    return {kind: exp(Random(f"{seed} {kind}").uniform(-TEMPER, TEMPER)) for kind in WEIGHTS}


def _ample(state: State, option: Option) -> int:
    """Dollars beyond which nobody goes who wants to have money left for something else."""
    assert option.amounts is not None
    top = state.top
    private = top.lot if isinstance(top, Auction) else getattr(option.action, "private", None)
    if private in state.privates:
        return 3 * game_of(state).private_facts(private).price // 2
    return option.amounts[-1]
