"""A company's turn: steps in a fixed order, each waiting only while it has something to offer (§17).

A line that belongs to a later step declines the optional steps before it. It is judged in the
position to which that leads: a price may have fallen on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import msgspec

from engine.core.actions import Action, Pass
from engine.core.events import Passed
from engine.core.hooks import do_nothing, never, no_reason
from engine.core.state import (
    ConnectionRunTurn,
    GameOver,
    OperatingRound,
    OperatingTurn,
    PriceProtection,
)
from engine.finance.offers import lapse_offers
from engine.game import Game
from engine.mechanics import Activity, Option


class Step(Activity[OperatingTurn], Protocol):
    """One activity of an operating turn, which comes in its place."""

    @property
    def name(self) -> str: ...

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        """Whether there is something to decide."""

    def pass_refusal(self, g: Game, turn: OperatingTurn) -> str | None:
        """Why the step cannot be declined, or None."""

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        """What is asked, as an imperative phrase."""

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        """What happens where the step is passed over."""


@dataclass(frozen=True)
class OperatingTurnQuestion:
    """Asks the president of the company whose turn it is.

    `ends`: what ends a turn before its last step. `before`: what comes before the next step. `ended`:
    why the game is over in the middle of a turn, if it is. `after`: what follows its end.
    """

    steps: tuple[Step, ...]
    end_reason: Callable[[Game], str | None] = no_reason
    ends_early: Callable[[Game, OperatingTurn], bool] = never
    interrupt: Callable[[Game], bool] = never
    after_turn: Callable[[Game], None] = do_nothing

    @cached_property
    def _step_indexes(self) -> dict[str, int]:
        return {step.name: i for i, step in enumerate(self.steps)}

    def _index(self, name: str) -> int:
        return self._step_indexes[name]

    def asked(self, g: Game, frame: OperatingTurn) -> tuple[str, ...]:
        return (g.president(frame.company),)

    def prompt(self, g: Game, frame: OperatingTurn) -> str:
        return self.steps[self._index(frame.step)].prompt(g, frame)

    def options(self, g: Game, frame: OperatingTurn, seat: str) -> Iterable[Option]:
        step = self.steps[self._index(frame.step)]
        yield from step.options(g, frame)
        if step.pass_refusal(g, frame) is None:
            yield Option(Pass(), "Done" if frame.acted else f"Skip: {step.name}")

    def refusal(self, g: Game, frame: OperatingTurn, seat: str, action: Action) -> str | None:
        now = self._index(frame.step)
        if isinstance(action, Pass):
            return self.steps[now].pass_refusal(g, frame)
        at = next((i for i in range(now, len(self.steps)) if isinstance(action, self.steps[i].handles)), None)
        if at is None:
            past = any(isinstance(action, step.handles) for step in self.steps)
            when = "is past in this turn" if past else "is no part of an operating turn"
            return f"That {when}; {g.state.name(seat)} is asked {self.prompt(g, frame)} (§17)."
        if at > now:
            g = g.draft()
        for i in range(now, at):
            if self.steps[i].is_blocking(g, frame) and (why := self.steps[i].pass_refusal(g, frame)):
                return why
            self.steps[i].skip(g, frame)
            frame = _at_step(frame, self.steps[i + 1].name)
        return self.steps[at].refusal(g, frame, action)

    def apply(self, g: Game, frame: OperatingTurn, seat: str, action: Action) -> None:
        if isinstance(action, Pass):
            g.emit(Passed(frame.company, frame.step))
            self._next_step(g, frame)
            return
        now = self._index(frame.step)
        while not isinstance(action, self.steps[now].handles):
            self.steps[now].skip(g, frame)
            now += 1
            frame = _at_step(frame, self.steps[now].name)
        self.steps[now].apply(g, frame, action)

    def advance(self, g: Game, frame: OperatingTurn) -> bool:
        if why := self.end_reason(g):
            g.push(GameOver(why))
            return True
        if self.interrupt(g):
            return True
        if g.company(frame.company).closed or self.ends_early(g, frame):
            self._end_turn(g, frame)
            return True
        step = self.steps[self._index(frame.step)]
        if step.is_blocking(g, frame):
            return False
        step.skip(g, frame)
        self._next_step(g, frame)
        return True

    def _next_step(self, g: Game, frame: OperatingTurn) -> None:
        following = self._index(frame.step) + 1
        if following < len(self.steps):
            g.replace_top(_at_step(frame, self.steps[following].name))
        else:
            self._end_turn(g, frame)

    def _end_turn(self, g: Game, frame: OperatingTurn) -> None:
        g.pop()
        lapse_offers(g)
        if frame.pending_sales:
            _ask_for_protection(g, frame)
        self.after_turn(g)


def _ask_for_protection(g: Game, turn: OperatingTurn) -> None:
    """Ask whether prices are protected; of a company that has closed before, the next one's turn does."""
    president, span = g.company(turn.company).president, g.top
    if president is None and isinstance(span, OperatingRound):
        g.replace_top(msgspec.structs.replace(span, pending_sales=turn.pending_sales))
    else:
        g.push(PriceProtection(president or turn.pending_sales[0].president, turn.pending_sales))


def has_turns_left(g: Game, span: OperatingRound) -> bool:
    """Whether another company has its turn in the round."""
    return any(not g.company(company).closed for company in span.yet_to_operate)


def current_turn(g: Game) -> OperatingTurn | None:
    """The turn of a company that is going on, not interrupted and no connection run."""
    turn = g.top
    return turn if isinstance(turn, OperatingTurn) and not isinstance(turn, ConnectionRunTurn) else None


def turn_or_refusal(g: Game, seat: str, outside: str) -> OperatingTurn | str:
    """The company's own turn in which this seat acts as its president, or why he does not: `outside` is the
    reason where no such turn goes on.
    """
    turn = current_turn(g)
    if turn is None:
        return outside
    president = g.president(turn.company)
    return turn if president == seat else f"It is for {g.state.name(president)} to act."


def is_step_past(g: Game, turn: OperatingTurn, step: str) -> bool:
    """Whether a company's turn has gone on beyond a step."""
    question = g.title.questions[OperatingTurn]
    assert isinstance(question, OperatingTurnQuestion)
    names = [each.name for each in question.steps]
    return names.index(turn.step) > names.index(step)


def _at_step(frame: OperatingTurn, step: str) -> OperatingTurn:
    if frame.step == step:
        return frame
    return msgspec.structs.replace(frame, step=step, acted=False)
