"""A run as its president announces it, until nobody points out a better one (1851, Run Trains)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from engine.actions import Action, Pass, Run
from engine.events import Passed, Ran
from engine.game import Game
from engine.operating.run import best_run, earned, spelled
from engine.state import Claim, OperatingTurn
from engine.title import Option

BOOK = "(Run Trains)"


def open_claim(g: Game, turn: OperatingTurn) -> None:
    """Put the run that was announced to the other players."""
    others = g.state.seats_from(g.president(turn.company))[1:]
    g.open(Claim(turn.company, turn.revenue, tuple(others)))


@dataclass(frozen=True)
class Claims:
    """Asks the other players, all at once and each once; the highest legal run that is said counts.

    Where there is no better run nobody is asked.
    """

    def asked(self, g: Game, frame: Claim) -> tuple[str, ...]:
        return frame.seats

    def needs(self, g: Game, frame: Claim) -> str:
        return f"to let the ${frame.revenue} of the {frame.company} stand, or to point out a better run"

    def options(self, g: Game, frame: Claim, seat: str) -> Iterator[Option]:
        found = best_run(g, frame.company)
        if found.revenue > frame.revenue:
            yield Option(Run(spelled(g, found)), f"Point out a better run: ${found.revenue}")
        yield Option(Pass(), f"Let the ${frame.revenue} stand")

    def refuse(self, g: Game, frame: Claim, seat: str, action: Action) -> str | None:
        match action:
            case Pass():
                return None
            case Run(_, None):
                try:
                    revenue = earned(g, frame.company, action)
                except ValueError as wrong:
                    return str(wrong)
                if revenue > frame.revenue:
                    return None
                return f"Those routes bring ${revenue}, no more than the ${frame.revenue} announced {BOOK}."
        return f"First the run of the {frame.company}: point out a better one, or pass {BOOK}."

    def take(self, g: Game, frame: Claim, seat: str, action: Action) -> None:
        left, revenue = tuple(s for s in frame.seats if s != seat), frame.revenue
        if isinstance(action, Run):
            revenue = earned(g, frame.company, action)
            g.close()
            g.emit(Ran(frame.company, action.routes or spelled(g, best_run(g, frame.company)), revenue))
            turn = g.top
            assert isinstance(turn, OperatingTurn)
            g.change(msgspec.structs.replace(turn, revenue=revenue))
            g.open(Claim(frame.company, revenue, left))
        else:
            g.emit(Passed(seat, f"the run of the {frame.company}"))
            g.change(Claim(frame.company, revenue, left))

    def settle(self, g: Game, frame: Claim) -> bool:
        if frame.seats and best_run(g, frame.company).revenue > frame.revenue:
            return False
        g.close()
        return True
