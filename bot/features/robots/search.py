"""The search ahead: what the first few moves lead to, played on with the engine.

Theory of operation. A judgement looks at one move. It does not see whether a company that it starts will
float, what is left for other shares, or that the next company buys the train that rusts mine. So where the
best judged par prices or trains are close, each is played on: all seats make the moves that a quick judgement
ranks first, nobody lays track or tokens (so that revenues stay known), until the round is over, or the next
one. There what the seats own is estimated (`seat_worths`), one's own against the mean of the others. The
difference to what the first move leads to, less a doubt and times `Weights.trust`, is added to the judgement.

How far the moves are played on follows from a number of positions, and not from a clock: the same number
gives the same move. The first candidate is played on with its part of them; the others to the same round.
Where track is so dense that the best routes of some company are not proven at once, nothing is searched:
the rules ask for a proof of each run, and one would take as long as a decision may.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.features.robots.forecast import Forecast
from bot.features.robots.judgement import judge
from bot.features.robots.scored import Scored
from bot.features.robots.weights import Weights
from engine import (
    Game,
    RefusedError,
    State,
    decision,
    game_of,
    is_seat,
    options,
    play,
    round_name,
    standings,
)
from engine.core.actions import BuyTrain, Par, Pass
from engine.core.state import OperatingTurn
from engine.finance.ownership import share_percent

CANDIDATES = 4
"""Moves that are played on at most."""
MARGIN = 90.0
"""Dollars that a move may be judged worse than the best to be played on."""
LEAST_POSITIONS = 15
"""With fewer positions for a move nothing is played on."""
MOST_ROUNDS = 2
"""Rounds after which a line ends."""
DOUBT = 30.0
"""Dollars by which the ends of two lines differ by chance: only what is above counts."""
QUIET_STEPS = ("track", "token")
"""Steps of an operating turn in which nothing is done while a line is played on."""
UNFLOATED = 0.6
"""What a share of a company that has not floated is worth, as a part of its price."""


class Search:
    """Plays moves on for one seat. `positions`: how many a decision may cost, see the module."""

    def __init__(self, seat: str, positions: int, weights: Weights) -> None:
        self.seat = seat
        self.positions = positions
        self.weights = weights

    def judged(self, state: State, ranking: Sequence[Scored]) -> list[Scored]:
        """A ranking with what the search found in it, best first."""
        candidates = to_search(state, ranking)
        each = self.positions // max(len(candidates), 1)
        if len(candidates) < 2 or each < LEAST_POSITIONS or self._is_dense(state):
            return list(ranking)
        first = self._line(state, candidates[0], each)
        last, base = next(reversed(first.items()))
        found = [candidates[0]]
        for other in candidates[1:]:
            values = self._line(state, other, 2 * each, last)
            gain = beyond_doubt(values.get(last, next(reversed(values.values()))) - base)
            found.append(other._replace(value=other.value + self.weights.trust * gain))
        rest = [judged for judged in ranking if judged not in candidates]
        return sorted([*found, *rest], key=lambda judged: -judged.value)

    def _is_dense(self, state: State) -> bool:
        o = Forecast(game_of(state), self.seat, self.weights)
        return any(o.is_dense(company) for company in o.operating())

    def _line(self, state: State, judged: Scored, positions: int, until: str = "") -> dict[str, float]:
        """Play a move on; dollars of the seat against the others, by the round that has begun then.

        Without `until` the line goes as far as the positions reach, but not past `MOST_ROUNDS`; where they
        do not reach the next round, the key of its end is empty.
        """
        state = play(state, self.seat, judged.action).state
        values: dict[str, float] = {}
        at = round_name(state)
        for _ in range(positions):
            if state.game_over:
                break
            state = quick_move(state, self.weights)
            if round_name(state) != at:
                at = round_name(state)
                values[at] = self._value(state)
                if at == until or len(values) == MOST_ROUNDS:
                    return values
        return values if values and not state.game_over else values | {"": self._value(state)}

    def _value(self, state: State) -> float:
        worths = seat_worths(game_of(state), self.weights)
        own = worths.pop(self.seat)
        return own - sum(worths.values()) / max(len(worths), 1)


def to_search(state: State, ranking: Sequence[Scored]) -> list[Scored]:
    """The moves to play on, best first: par prices where a company is to be started, and trains.

    Other moves come again in the player's next turn, so playing on says little about them.
    """
    top, best = state.top, ranking[0]
    near = [judged for judged in ranking if judged.value > best.value - MARGIN]
    if isinstance(best.action, Par):
        return [judged for judged in near if isinstance(judged.action, Par)][:CANDIDATES]
    if type(top) is OperatingTurn and top.step == "trains":
        return [judged for judged in near if isinstance(judged.action, BuyTrain | Pass)][:CANDIDATES]
    return []


def beyond_doubt(gain: float) -> float:
    """What is left of a difference once `DOUBT` is taken off."""
    return max(gain - DOUBT, 0.0) + min(gain + DOUBT, 0.0)


def quick_move(state: State, weights: Weights) -> State:
    """The position after the move that a quick judgement ranks first, of the seat that is awaited."""
    seat = decision(state).awaited[0]
    top = state.top
    if type(top) is OperatingTurn and top.step in QUIET_STEPS:
        try:
            return play(state, seat, Pass()).state
        except RefusedError:
            pass
    found = judge(Forecast(game_of(state), seat, weights), options(state, seat), trials=0)
    return play(state, seat, found[0].action).state


def seat_worths(g: Game, weights: Weights) -> dict[str, float]:
    """By seat the dollars that what it owns will have brought at the end of the horizon."""
    if g.state.game_over:
        return {seat: float(worth) for seat, worth in standings(g.state).items()}
    worths = {seat: float(g.cash(seat)) for seat in g.state.seats}
    o = Forecast(g, "", weights)
    for company, co in g.state.companies.items():
        if co.cell is None:
            continue
        share = o.share_value(company) if co.floated else UNFLOATED * g.price(company)
        spare = weights.treasury_dollar * o.funds(company) * co.floated
        for owner, percent in co.shares.items():
            if is_seat(owner):
                worths[owner] += share * percent / share_percent(g, company) + spare * percent / 100
        if co.president and co.floated and g.components.must_own_train:
            worths[co.president] -= 0.5 * o.shortage(company)
    for private, owner in g.owned_privates():
        if owner in worths:
            definition = g.private_definition(private)
            worths[owner] += 0.5 * definition.price + definition.revenue * min(o.horizon, 3)
    return worths
