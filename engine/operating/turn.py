"""A company's turn: steps in a fixed order (1830 §17).

The game waits at a step only while there is something to decide in it. An action of a later step
passes the optional steps before it. It is judged in the position after those passes, because they
may change something, such as the price.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import msgspec

from engine.core.actions import Action, DeclareBankruptcy, Pass, SellShares
from engine.core.events import Passed
from engine.core.state import ConnectionRunTurn, GameOver, OperatingRound, OperatingTurn, PriceProtection
from engine.finance.offers import lapse_offers
from engine.game import Game
from engine.mechanics import A_contra, Activity, Option, do_nothing, never, no_reason


class Step(Activity[Game, OperatingTurn, A_contra], Protocol[A_contra]):
    """One activity of an operating turn, which comes in its place.

    If a step does not say otherwise, it can be declined, and nothing changes where it is passed over.
    """

    @property
    def name(self) -> str: ...

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        """Whether there is something to decide."""

    def pass_refusal(self, g: Game, turn: OperatingTurn) -> str | None:
        """Why the step cannot be declined, or None."""
        return None

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        """What is asked, as an imperative phrase; `or pass` follows where the step can be declined."""

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        """What happens where the step is passed over."""
        return


@dataclass(frozen=True)
class AutomaticStep:
    """A step without a decision: `effect` is carried out when the turn comes to it."""

    name: str
    effect: Callable[[Game, OperatingTurn], None]
    handles: tuple[type[Action], ...] = ()

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        return False

    def pass_refusal(self, g: Game, turn: OperatingTurn) -> str | None:
        return None

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        return ""

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        yield from ()

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        return "Nobody has anything to decide now."

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        raise AssertionError("nothing is asked")

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        self.effect(g, turn)


@dataclass(frozen=True)
class OperatingTurnQuestion:
    """Asks the president of the company whose turn it is.

    `steps`: in their order; their names are unique. `end_reason`: why the game is over in the middle of
    the turn, or None. `ends_early`: whether the turn ends before its last step. `interrupt`: pushes what
    comes before the next step, and returns whether it did. `after_turn`: called once the turn has ended.
    """

    steps: tuple[Step[Any], ...]
    end_reason: Callable[[Game], str | None] = no_reason
    ends_early: Callable[[Game, OperatingTurn], bool] = never
    interrupt: Callable[[Game], bool] = never
    after_turn: Callable[[Game], None] = do_nothing

    @cached_property
    def _index(self) -> dict[str, int]:
        return {step.name: i for i, step in enumerate(self.steps)}

    def steps_left(self, frame: OperatingTurn) -> tuple[Step[Any], ...]:
        """The step that the turn is at, and those after it."""
        return self.steps[self._index[frame.step] :]

    def asked(self, g: Game, frame: OperatingTurn) -> tuple[str, ...]:
        return (g.president(frame.company),)

    def prompt(self, g: Game, frame: OperatingTurn) -> str:
        step = self.steps[self._index[frame.step]]
        return step.prompt(g, frame) + (", or pass" if step.pass_refusal(g, frame) is None else "")

    def options(self, g: Game, frame: OperatingTurn, seat: str) -> Iterable[Option]:
        step = self.steps[self._index[frame.step]]
        yield from step.options(g, frame)
        if step.pass_refusal(g, frame) is None:
            yield Option(Pass(), "Done" if frame.acted else f"Skip: {step.name}")

    def refusal(self, g: Game, frame: OperatingTurn, seat: str, action: Action) -> str | None:
        current = self._index[frame.step]
        if isinstance(action, Pass):
            return self.steps[current].pass_refusal(g, frame)
        target = next(
            (i for i in range(current, len(self.steps)) if isinstance(action, self.steps[i].handles)), None
        )
        if target is None:
            past = next((step for step in self.steps if isinstance(action, step.handles)), None)
            if past and isinstance(action, SellShares | DeclareBankruptcy):  # no step is theirs
                return past.refusal(g, frame, action)
            why = "That step of the turn is over" if past else "That is not part of an operating turn"
            return f"{why}. {g.state.name(seat)} to act: {self.prompt(g, frame)}{g.cite('1830 §17')}."
        if target > current:
            g = g.draft()
        reached = self._skip_to(g, frame, target)
        return reached if isinstance(reached, str) else self.steps[target].refusal(g, reached, action)

    def apply(self, g: Game, frame: OperatingTurn, seat: str, action: Action) -> None:
        if isinstance(action, Pass):
            g.emit(Passed(frame.company, frame.step))
            self._next_step(g, frame)
            return
        current = self._index[frame.step]
        while not isinstance(action, self.steps[current].handles):
            self.steps[current].skip(g, frame)
            current += 1
            frame = _at_step(frame, self.steps[current].name)
        self.steps[current].apply(g, frame, action)

    def advance(self, g: Game, frame: OperatingTurn) -> bool:
        if reason := self.end_reason(g):
            g.push(GameOver(reason))
            return True
        if self.interrupt(g):
            return True
        if g.company(frame.company).closed or self.ends_early(g, frame):
            self._end_turn(g, frame)
            return True
        step = self.steps[self._index[frame.step]]
        if step.is_blocking(g, frame):
            return False
        step.skip(g, frame)
        self._next_step(g, frame)
        return True

    def _skip_to(self, g: Game, frame: OperatingTurn, target: int) -> OperatingTurn | str:
        """Decline the steps before that one. Returns the turn at it, or why a step cannot be declined."""
        for i in range(self._index[frame.step], target):
            if self.steps[i].is_blocking(g, frame) and (reason := self.steps[i].pass_refusal(g, frame)):
                return reason
            self.steps[i].skip(g, frame)
            frame = _at_step(frame, self.steps[i + 1].name)
        return frame

    def refuse_skip(self, g: Game, frame: OperatingTurn, step: str) -> str | None:
        """Why the turn cannot go on to that step now, declining those before it, or None."""
        if self._index[frame.step] > self._index[step]:
            return f"That step of the turn is over{g.cite('1830 §17')}."
        reached = self._skip_to(g.draft(), frame, self._index[step])
        return reached if isinstance(reached, str) else None

    def skip_to(self, g: Game, frame: OperatingTurn, step: str) -> None:
        """Go on to that step, declining those before it, where `refuse_skip` has no objection."""
        reached = self._skip_to(g, frame, self._index[step])
        assert isinstance(reached, OperatingTurn)
        g.replace_top(reached)

    def _next_step(self, g: Game, frame: OperatingTurn) -> None:
        following = self._index[frame.step] + 1
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
    """Ask presidents to protect prices after the turn's sales (1870 §5.9).

    If the company has closed in its turn, they are asked after the next company's turn.
    """
    president, frame = g.company(turn.company).president, g.top
    if president is None and isinstance(frame, OperatingRound):
        g.change_top(frame, pending_sales=turn.pending_sales)
    else:
        g.push(PriceProtection(president or turn.pending_sales[0].president, turn.pending_sales))


def has_turns_left(g: Game, frame: OperatingRound) -> bool:
    """Whether another company is still to operate in the round."""
    return any(not g.company(company).closed for company in frame.yet_to_operate)


def current_turn(g: Game) -> OperatingTurn | None:
    """The company's turn on top of the stack; None during an interruption or a connection run."""
    turn = g.top
    return turn if isinstance(turn, OperatingTurn) and not isinstance(turn, ConnectionRunTurn) else None


def turn_or_refusal(g: Game, seat: str, outside: str) -> OperatingTurn | str:
    """The current turn if this seat acts in it as president, otherwise why it does not.

    `outside`: the reason to give when no company has its turn.
    """
    turn = current_turn(g)
    if turn is None:
        return outside
    president = g.president(turn.company)
    if president == seat:
        return turn
    prompt = g.title.questions[OperatingTurn].prompt(g, turn)
    return f"{g.state.name(president)} to act: {prompt}."


def operating_turn_question(g: Game) -> OperatingTurnQuestion:
    """The question of the title's operating turns."""
    question = g.title.questions[OperatingTurn]
    assert isinstance(question, OperatingTurnQuestion)
    return question


def is_step_past(g: Game, turn: OperatingTurn, step: str) -> bool:
    """Whether the turn is at a later step than that one."""
    return all(left.name != step for left in operating_turn_question(g).steps_left(turn))


def _at_step(frame: OperatingTurn, step: str) -> OperatingTurn:
    """The turn at that step, with nothing done in it yet."""
    if frame.step == step:
        return frame
    return msgspec.structs.replace(frame, step=step, acted=False)
