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

from bot.simulation.action_kinds import WEIGHTS, kind_of
from bot.simulation.heuristics import kind_factors, pick_option
from bot.simulation.invariants import is_out_of_turn, with_amount
from engine import Action, Option, State, decision, game_of, options
from engine.core.actions import RunTrains, StartCompany
from engine.core.state import Auction, RevenueClaim, seat_id
from engine.kernel import refusal

OUT_OF_TURN_PROBABILITY = 0.04
"""How often somebody acts beside the question, if he can."""
MAX_BIAS = 0.8
"""How far a temper leans: a weight is multiplied by e to the power of -TEMPER to TEMPER, once for the table
and once for the player."""
OVERBID_PROBABILITY = 0.02
"""How often a private is bid for beyond what is ample for it."""


class SimulationError(Exception):
    """A game that cannot go on; the message says why."""


class RandomPlayer:
    """A player of every seat who draws what to do."""

    def __init__(self, seed: int, players: int) -> None:
        self.rng = Random(seed)
        table = _random_biases(f"{seed}")
        self.weights_by_seat: dict[str, dict[str, float]] = {}
        for seat in map(seat_id, range(players)):
            own = _random_biases(f"{seed} {seat}")
            self.weights_by_seat[seat] = {
                kind: weight * table[kind] * own[kind] for kind, weight in WEIGHTS.items()
            }

    def choose_action(self, state: State) -> tuple[str, Action, str]:
        """Who does what, and of which kind it is. Raises Stuck where nobody can do anything."""
        if self.rng.random() < OUT_OF_TURN_PROBABILITY:
            seat = self.rng.choice(state.seats)
            g = game_of(state)
            beside = [o for o in options(state, seat) if is_out_of_turn(g, o.action)]
            if beside:
                return seat, *self._choose(state, seat, beside)
        waiting = decision(state).awaited
        if not waiting:
            raise SimulationError("nobody is asked")
        seat = self.rng.choice(waiting)
        found = options(state, seat)
        if not found:
            raise SimulationError(f"{state.name(seat)} is asked {decision(state).prompt} and has no option")
        return seat, *self._choose(state, seat, found)

    def _choose(self, state: State, seat: str, found: list[Option]) -> tuple[Action, str]:
        kinds: dict[str, list[Option]] = {}
        for option in found:
            kinds.setdefault(kind_of(state, seat, option.action), []).append(option)
        temper, lean = self.weights_by_seat[seat], kind_factors(state, kinds)
        kind = self.rng.choices(list(kinds), [temper[k] * lean.get(k, 1) for k in kinds])[0]
        option = pick_option(state, kinds[kind], self.rng)
        if isinstance(option.action, RunTrains) and not isinstance(state.top, RevenueClaim):
            return self._choose_run(state, seat, option.action)
        if option.amounts is not None:
            if isinstance(option.action, StartCompany):
                return with_amount(option, self.rng.choice(option.amounts)), kind
            return with_amount(
                option, self._choose_amount(option.amounts, _ample_amount(state, option))
            ), kind
        return option.action, kind

    def _choose_amount(self, amounts: range, ample: int) -> int:
        """Mostly little, sometimes anything up to what is ample, and now and then the most."""
        first, last = amounts[0], amounts[-1]
        if last > ample and self.rng.random() >= OVERBID_PROBABILITY:
            last = max(first, ample)
        match self.rng.randrange(10):
            case 0 | 1 | 2 | 3:
                return first
            case 4 | 5 | 6:
                wanted = min(last, first + 5 * self.rng.randrange(6))
            case 7 | 8:
                wanted = self.rng.randint(first, min(last, 2 * first + 50))
            case _:
                wanted = self.rng.choice((last, self.rng.randint(first, last)))
        return wanted - (wanted - first) % amounts.step

    def _choose_run(self, state: State, seat: str, best: RunTrains) -> tuple[Action, str]:
        """The best run; where conventions let a president run for less, now and then that."""
        worse = RunTrains(best.routes[1:])
        temper = self.weights_by_seat[seat]
        often = temper["run worse than best"] / temper["run best"]
        if worse.routes and self.rng.random() < often and not refusal(game_of(state), seat, worse):
            return worse, "run worse than best"
        return best, "run best"


def _random_biases(seed: str) -> dict[str, float]:
    """By kind what its weight is multiplied by."""
    return {kind: exp(Random(f"{seed} {kind}").uniform(-MAX_BIAS, MAX_BIAS)) for kind in WEIGHTS}


def _ample_amount(state: State, option: Option) -> int:
    """Dollars beyond which nobody goes who wants to have money left for something else."""
    assert option.amounts is not None
    top = state.top
    private = top.item if isinstance(top, Auction) else getattr(option.action, "private", None)
    if private in state.private_owners:
        return 3 * game_of(state).private_definition(private).price // 2
    return option.amounts[-1]
