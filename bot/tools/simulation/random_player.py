"""A random player for every seat.

A uniform choice among all options gets nowhere: there are a hundred tile lays for one train. So options are
grouped into kinds; a kind is drawn by its weight, and then an option of that kind, both with a few
heuristics. The weights make games progress and still leave room for rare decisions. Each table and each
player has random biases for some kinds, so that a hundred games cover more than one game a hundred times. Now
and then a player acts out of turn, if the rules allow it.
"""

from __future__ import annotations

from math import exp
from random import Random

from bot.tools.simulation.action_kinds import WEIGHTS, kind_of
from bot.tools.simulation.heuristics import kind_factors, pick_option
from bot.tools.simulation.invariants import is_out_of_turn, with_amount
from engine import Action, Option, State, decision, game_of, options, prompt
from engine.core.actions import RunTrains, StartCompany
from engine.core.state import Auction, RevenueClaim, seat_id
from engine.kernel import refusal

OUT_OF_TURN_PROBABILITY = 0.04
"""How often a player acts out of turn, if they can."""
MAX_BIAS = 0.8
"""A weight is multiplied by e to the power of -MAX_BIAS to MAX_BIAS, once for the table and once for the
player."""
OVERBID_PROBABILITY = 0.02
"""How often a bid on a private exceeds what it is worth."""


class SimulationError(Exception):
    """A game that cannot go on, or violates an invariant; the message says why."""


class RandomPlayer:
    """Plays every seat at random."""

    def __init__(self, seed: int, players: int) -> None:
        self.rng = Random(seed)
        table_biases = _random_biases(f"{seed}")
        self.weights_by_seat: dict[str, dict[str, float]] = {}
        for seat in map(seat_id, range(players)):
            biases = _random_biases(f"{seed} {seat}")
            self.weights_by_seat[seat] = {
                kind: weight * table_biases[kind] * biases[kind] for kind, weight in WEIGHTS.items()
            }

    def choose_action(self, state: State) -> tuple[str, Action, str]:
        """A seat, its action and the kind of it. Raises SimulationError if nobody can act."""
        if self.rng.random() < OUT_OF_TURN_PROBABILITY:
            seat = self.rng.choice(state.seats)
            g = game_of(state)
            available = [o for o in options(state, seat) if is_out_of_turn(g, o.action)]
            if available:
                return seat, *self._choose(state, seat, available)
        awaited = decision(state).awaited
        if not awaited:
            raise SimulationError("nobody is to act")
        seat = self.rng.choice(awaited)
        return seat, *self.choose_for(state, seat)

    def choose_for(self, state: State, seat: str) -> tuple[Action, str]:
        """The action of a seat that is to act, and its kind. Raises SimulationError if it has no option."""
        available = options(state, seat)
        if not available:
            raise SimulationError(f"{state.name(seat)} is to act ({prompt(state)}) and has no option")
        return self._choose(state, seat, available)

    def _choose(self, state: State, seat: str, available: list[Option]) -> tuple[Action, str]:
        kinds: dict[str, list[Option]] = {}
        for option in available:
            kinds.setdefault(kind_of(state, seat, option.action), []).append(option)
        weights, factors = self.weights_by_seat[seat], kind_factors(state, kinds)
        kind = self.rng.choices(list(kinds), [weights[k] * factors.get(k, 1) for k in kinds])[0]
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
        """Mostly little, sometimes anything up to the ample amount, now and then the maximum."""
        first, last = amounts[0], amounts[-1]
        if last > ample and self.rng.random() >= OVERBID_PROBABILITY:
            last = max(first, ample)
        match self.rng.randrange(10):
            case 0 | 1 | 2 | 3:
                return first
            case 4 | 5 | 6:
                amount = min(last, first + 5 * self.rng.randrange(6))
            case 7 | 8:
                amount = self.rng.randint(first, min(last, 2 * first + 50))
            case _:
                amount = self.rng.choice((last, self.rng.randint(first, last)))
        return amount - (amount - first) % amounts.step

    def _choose_run(self, state: State, seat: str, best: RunTrains) -> tuple[Action, str]:
        """The best run; now and then a worse one, if the conventions allow it."""
        worse = RunTrains(best.routes[1:])
        weights = self.weights_by_seat[seat]
        probability = weights["run worse than best"] / weights["run best"]
        if worse.routes and self.rng.random() < probability and not refusal(game_of(state), seat, worse):
            return worse, "run worse than best"
        return best, "run best"


def _random_biases(seed: str) -> dict[str, float]:
    """A random factor for the weight of each kind."""
    return {kind: exp(Random(f"{seed} {kind}").uniform(-MAX_BIAS, MAX_BIAS)) for kind in WEIGHTS}


def _ample_amount(state: State, option: Option) -> int:
    """Dollars above which a bid would leave too little for anything else."""
    assert option.amounts is not None
    top = state.top
    private = top.item if isinstance(top, Auction) else getattr(option.action, "private", None)
    if private in state.private_owners:
        return 3 * game_of(state).private_definition(private).price // 2
    return option.amounts[-1]
