"""Plans: what a player may do now is chosen by what the game would bring after it.

Theory of operation. Each sensible move at a dividend or at a train purchase is made with the engine, and
from there a `Projection` plays on to the end of the game, with rust, forced purchases and the limits of
trains and certificates. A company that buys no train may pay from the next round on, or save until it can pay
for the bank's next train; one that keeps a revenue saves. Such a train may rust those of rivals, whose
presidents then have to pay for others.

Other players do not do what one expects. So each move is played on several times, with other tastes of the
players and other luck of the companies, the same ones for each move (`sample`). All moves are played on a
few times, the better half of them as often again, and so on (sequential halving). The judgement's own move
is never dropped, and another is chosen only where it is better by some standard errors over the same samples:
what is better by less was found to lose games (docs/robot-experiments.md). What a move is worth is the seat's
part of what all own at the end. Dollars would not do: a player who is behind would choose what makes
everybody poor.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, stdev

from bot.features.robots.board_facts import BoardFacts
from bot.features.robots.forecast import Forecast
from bot.features.robots.projection import Projection
from bot.features.robots.scored import Scored
from bot.features.robots.weights import Weights
from engine import RefusedError, State, game_of, play
from engine.core.actions import (
    Action,
    BuyTrain,
    Pass,
    PayDividend,
    PayHalfDividend,
    TradePrivate,
    WithholdDividend,
)
from engine.core.state import OperatingTurn

PLANNED: tuple[type[Action], ...] = (
    BuyTrain, Pass, PayDividend, PayHalfDividend, TradePrivate, WithholdDividend,
)  # fmt: skip
"""Moves that are planned; whatever else may be done is left to the judgements."""
PLANNED_STEPS = ("dividend", "trains")
"""Steps of a company's turn at which they are planned."""
KEEPING: tuple[type[Action], ...] = PayHalfDividend, WithholdDividend
"""Moves that only help a company that saves for a train, and goes on until it can buy one."""
SAVING: tuple[type[Action], ...] = Pass, *KEEPING
"""Moves after which a company may save for the next train."""
MOST_CANDIDATES = 24
"""Moves that are played on at most, the best judged ones."""
UNDO_PROJECTIONS = 32
"""How often each of the two positions is played on before a vote about an undo or a redo."""
FORGIVEN = 0.02
"""What an undo may cost a robot that agrees to it, as a part of what a player owns at the end."""
SURE = 3.0
"""Standard errors by which a plan has to be better than the judgement's own move to be chosen."""
HOPELESS = -4_000.0
"""Dollars below which a judged move is not played on: it is against the rules of prudence."""


class Planner:
    """Plans for one seat. `projections`: how many a decision may cost. `dollars`: what all will own at the
    end, about, by which parts of it become dollars."""

    def __init__(self, seat: str, projections: int, weights: Weights) -> None:
        self.seat, self.projections, self.weights = seat, projections, weights
        self.dollars = 0.0

    def judged(self, state: State, ranking: Sequence[Scored]) -> list[Scored]:
        """A ranking with the worth of each plan in it, best first."""
        candidates, top = to_plan(state, ranking), state.top
        if len(candidates) < 2 or not isinstance(top, OperatingTurn):
            return list(ranking)
        g, lines = game_of(state), list[_Line]()
        facts = BoardFacts(Forecast(g, self.seat, self.weights))
        missing = facts.o.lay_cost(top.company) - g.cash(top.company)
        for judged in candidates:
            try:
                after = play(state, self.seat, judged.action).state
            except RefusedError:
                continue
            gained = game_of(after).cash(top.company) - g.cash(top.company)
            if not isinstance(judged.action, KEEPING) or 0 < missing <= gained:
                lines.append(_Line(judged, after))
            if isinstance(judged.action, SAVING):
                saves = judged._replace(reason=f"the {top.company} saves for the next train")
                lines.append(_Line(saves, after, top.company))
        if self.projections < 2 * len(lines):
            return list(ranking)
        now = Projection(g, facts).run()
        self.dollars = sum(max(worth, 0.0) for worth in now.values())
        last = self._halve(lines, facts, ranking[0].action)
        own = next((line for line in last if line.judged.action == ranking[0].action), last[0])
        found = {line.judged.action: self._surely_gained(line, own) for line in reversed(last)}
        floor = min(judged.value for judged in found.values()) - 1
        rest = [each._replace(value=min(each.value, floor)) for each in ranking if each.action not in found]
        return sorted([*found.values(), *rest], key=lambda judged: -judged.value)

    def _surely_gained(self, line: _Line, own: _Line) -> Scored:
        """A plan with the least that it brings over the judgement's own move, by the same samples."""
        gains = [one - other for one, other in zip(line.worths, own.worths, strict=True)]
        doubt = SURE * stdev(gains) / sqrt(len(gains))
        return line.judged._replace(value=self._value(line) - self._value(own) - doubt)

    def _value(self, line: _Line) -> float:
        return self.weights.judged_part * line.judged.value + fmean(line.worths)

    def _halve(self, lines: list[_Line], facts: BoardFacts, own: Action) -> list[_Line]:
        """Play all on, then the better half as often again, until the projections are spent. The last ones,
        best first, and the best that begins with the judgement's own move."""
        left, sample, alive = self.projections, 0, list(lines)
        rounds = max(len(lines).bit_length() - 1, 1)
        each = max(self.projections // (rounds * len(lines)), 1)
        while left >= len(alive):
            count = max(min(each, left // len(alive)), 1)
            for line in alive:
                line.worths += [self._worth(line, facts, n) for n in range(sample, sample + count)]
            left -= count * len(alive)
            sample += count
            each *= 2
            if len(alive) == 2:
                each = max(left // 2, 1)
            alive.sort(key=self._value, reverse=True)
            better = alive[: max((len(alive) + 1) // 2, 2)]
            kept = next((line for line in alive if line.judged.action == own), better[-1])
            alive = better if kept in better else [*better[:-1], kept]
        return alive

    def _worth(self, line: _Line, facts: BoardFacts, sample: int) -> float:
        worths = Projection(game_of(line.state), facts, sample, line.saving).run()
        return self.dollars * _part(worths, self.seat)


def _part(worths: dict[str, float], seat: str) -> float:
    """The seat's part of what all own, 0 to 1; below 0 with debts."""
    return worths[seat] / max(sum(max(worth, 0.0) for worth in worths.values()), 1.0)


def loses_little(now: State, then: State, seat: str) -> bool:
    """Whether a seat would agree that the game goes from one position to another, by an undo or a redo."""
    parts = []
    for state in (now, then):
        g = game_of(state)
        facts = BoardFacts(Forecast(g, seat))
        ends = [Projection(g, facts, sample).run() for sample in range(UNDO_PROJECTIONS)]
        parts.append(sum(_part(worths, seat) for worths in ends) / len(ends))
    return parts[0] - parts[1] <= FORGIVEN / max(len(now.active_seats), 1)


class _Line:
    """A plan: a move, the position after it, a company that saves, and what each sample found there."""

    __slots__ = ("judged", "saving", "state", "worths")

    def __init__(self, judged: Scored, state: State, saving: str = "") -> None:
        self.judged, self.state, self.saving = judged, state, saving
        self.worths: list[float] = []


def to_plan(state: State, ranking: Sequence[Scored]) -> list[Scored]:
    """The moves to play on, best judged first; none where the judgements decide alone.

    Where companies take loans, they do: in a projection players start no companies by auction, so money that
    they get is of no use there, and plans would keep too much of it.
    """
    top = state.top
    if type(top) is not OperatingTurn or top.step not in PLANNED_STEPS or game_of(state).components.loans:
        return []
    found = [each for each in ranking if isinstance(each.action, PLANNED) and each.value > HOPELESS]
    return found[:MOST_CANDIDATES]
