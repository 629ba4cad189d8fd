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

from engine.actions import Action, Pass
from engine.events import Passed
from engine.game import Game
from engine.offers import lapse_offers
from engine.state import ConnectionTurn, GameOver, OperatingRound, OperatingTurn, Protection
from engine.title import Option


class Step(Protocol):
    """One activity of a turn."""

    @property
    def name(self) -> str: ...

    @property
    def hears(self) -> tuple[type[Action], ...]: ...

    def waits(self, g: Game, turn: OperatingTurn) -> bool:
        """Whether there is something to decide."""

    def must(self, g: Game, turn: OperatingTurn) -> str | None:
        """Why the step cannot be declined, or None."""

    def needs(self, g: Game, turn: OperatingTurn) -> str: ...

    def options(self, g: Game, turn: OperatingTurn) -> Iterable[Option]: ...

    def refuse(self, g: Game, turn: OperatingTurn, action: Action) -> str | None: ...

    def take(self, g: Game, turn: OperatingTurn, action: Action) -> None: ...

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        """What happens where the step is passed over."""


def nothing_after(g: Game) -> None:
    """One turn follows the other."""


@dataclass(frozen=True)
class OperatingTurns:
    """Asks the president of the company whose turn it is.

    `ends`: what ends a turn before its last step. `before`: what comes before the next step. `ended`:
    why the game is over in the middle of a turn, if it is. `after`: what follows its end.
    """

    steps: tuple[Step, ...]
    ended: Callable[[Game], str | None] = lambda g: None
    ends: Callable[[Game, OperatingTurn], bool] = lambda g, turn: False
    before: Callable[[Game], bool] = lambda g: False
    after: Callable[[Game], None] = nothing_after

    @cached_property
    def _places(self) -> dict[str, int]:
        return {step.name: i for i, step in enumerate(self.steps)}

    def _index(self, name: str) -> int:
        return self._places[name]

    def asked(self, g: Game, frame: OperatingTurn) -> tuple[str, ...]:
        return (g.president(frame.company),)

    def needs(self, g: Game, frame: OperatingTurn) -> str:
        return self.steps[self._index(frame.step)].needs(g, frame)

    def options(self, g: Game, frame: OperatingTurn, seat: str) -> Iterable[Option]:
        step = self.steps[self._index(frame.step)]
        yield from step.options(g, frame)
        if step.must(g, frame) is None:
            yield Option(Pass(), "Done" if frame.acted else f"Skip: {step.name}")

    def refuse(self, g: Game, frame: OperatingTurn, seat: str, action: Action) -> str | None:
        now = self._index(frame.step)
        if isinstance(action, Pass):
            return self.steps[now].must(g, frame)
        at = next((i for i in range(now, len(self.steps)) if isinstance(action, self.steps[i].hears)), None)
        if at is None:
            past = any(isinstance(action, step.hears) for step in self.steps)
            when = "is past in this turn" if past else "is no part of an operating turn"
            return f"That {when}; {g.state.name(seat)} is asked {self.needs(g, frame)} (§17)."
        if at > now:
            g = g.draft()
        for i in range(now, at):
            if self.steps[i].waits(g, frame) and (why := self.steps[i].must(g, frame)):
                return why
            self.steps[i].skip(g, frame)
            frame = _at(frame, self.steps[i + 1].name)
        return self.steps[at].refuse(g, frame, action)

    def take(self, g: Game, frame: OperatingTurn, seat: str, action: Action) -> None:
        if isinstance(action, Pass):
            g.emit(Passed(frame.company, frame.step))
            self._advance(g, frame)
            return
        now = self._index(frame.step)
        while not isinstance(action, self.steps[now].hears):
            self.steps[now].skip(g, frame)
            now += 1
            frame = _at(frame, self.steps[now].name)
        self.steps[now].take(g, frame, action)

    def settle(self, g: Game, frame: OperatingTurn) -> bool:
        if why := self.ended(g):
            g.open(GameOver(why))
            return True
        if self.before(g):
            return True
        if g.company(frame.company).closed or self.ends(g, frame):
            self._end(g, frame)
            return True
        step = self.steps[self._index(frame.step)]
        if step.waits(g, frame):
            return False
        step.skip(g, frame)
        self._advance(g, frame)
        return True

    def _advance(self, g: Game, frame: OperatingTurn) -> None:
        following = self._index(frame.step) + 1
        if following < len(self.steps):
            g.change(_at(frame, self.steps[following].name))
        else:
            self._end(g, frame)

    def _end(self, g: Game, frame: OperatingTurn) -> None:
        g.close()
        lapse_offers(g)
        if frame.sales:
            _ask_about_sales(g, frame)
        self.after(g)


def _ask_about_sales(g: Game, turn: OperatingTurn) -> None:
    """Ask whether prices are protected; of a company that has closed before, the next one's turn does."""
    president, span = g.company(turn.company).president, g.top
    if president is None and isinstance(span, OperatingRound):
        g.change(msgspec.structs.replace(span, sales=turn.sales))
    else:
        g.open(Protection(president or turn.sales[0].president, turn.sales))


def still_to_run(g: Game, span: OperatingRound) -> bool:
    """Whether another company has its turn in the round."""
    return any(not g.company(company).closed for company in span.waiting)


def own_turn(g: Game) -> OperatingTurn | None:
    """The turn of a company that is going on, not interrupted and no connection run."""
    turn = g.top
    return turn if isinstance(turn, OperatingTurn) and not isinstance(turn, ConnectionTurn) else None


def turn_for(g: Game, seat: str, outside: str) -> OperatingTurn | str:
    """The company's own turn in which this seat acts as its president, or why he does not: `outside` is the
    reason where no such turn goes on.
    """
    turn = own_turn(g)
    if turn is None:
        return outside
    president = g.president(turn.company)
    return turn if president == seat else f"It is for {g.state.name(president)} to act."


def is_past(g: Game, turn: OperatingTurn, step: str) -> bool:
    """Whether a company's turn has gone on beyond a step."""
    question = g.title.questions[OperatingTurn]
    assert isinstance(question, OperatingTurns)
    names = [each.name for each in question.steps]
    return names.index(turn.step) > names.index(step)


def _at(frame: OperatingTurn, step: str) -> OperatingTurn:
    if frame.step == step:
        return frame
    return msgspec.structs.replace(frame, step=step, acted=False)
