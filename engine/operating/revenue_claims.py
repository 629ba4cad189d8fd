"""A run as its president announces it, until nobody points out a better one (1851, Run Trains)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from engine.core.actions import Action, Pass, RunTrains
from engine.core.events import Passed, TrainsRan
from engine.core.state import OperatingTurn, RevenueClaim
from engine.game import Game
from engine.mechanics import Option
from engine.operating.run import best_run, run_revenue, spell_routes

CITATION = "(Run Trains)"


def open_claim(g: Game, turn: OperatingTurn) -> None:
    """Put the run that was announced to the other players."""
    others = g.state.seats_from(g.president(turn.company))[1:]
    g.push(RevenueClaim(turn.company, turn.revenue, tuple(others)))


@dataclass(frozen=True)
class RevenueClaimQuestion:
    """Asks the other players, all at once and each once; the highest legal run that is said counts.

    Where there is no better run nobody is asked.
    """

    def asked(self, g: Game, frame: RevenueClaim) -> tuple[str, ...]:
        return frame.challengers

    def prompt(self, g: Game, frame: RevenueClaim) -> str:
        return f"to let the ${frame.revenue} of the {frame.company} stand, or to point out a better run"

    def options(self, g: Game, frame: RevenueClaim, seat: str) -> Iterator[Option]:
        found = best_run(g, frame.company)
        if found.revenue > frame.revenue:
            yield Option(RunTrains(spell_routes(g, found)), f"Point out a better run: ${found.revenue}")
        yield Option(Pass(), f"Let the ${frame.revenue} stand")

    def refusal(self, g: Game, frame: RevenueClaim, seat: str, action: Action) -> str | None:
        match action:
            case Pass():
                return None
            case RunTrains(_, None):
                try:
                    revenue = run_revenue(g, frame.company, action)
                except ValueError as wrong:
                    return str(wrong)
                if revenue > frame.revenue:
                    return None
                return (
                    f"Those routes bring ${revenue}, no more than the ${frame.revenue} announced {CITATION}."
                )
        return f"First the run of the {frame.company}: point out a better one, or pass {CITATION}."

    def apply(self, g: Game, frame: RevenueClaim, seat: str, action: Action) -> None:
        left, revenue = tuple(s for s in frame.challengers if s != seat), frame.revenue
        if isinstance(action, RunTrains):
            revenue = run_revenue(g, frame.company, action)
            g.pop()
            g.emit(
                TrainsRan(
                    frame.company, action.routes or spell_routes(g, best_run(g, frame.company)), revenue
                )
            )
            turn = g.top
            assert isinstance(turn, OperatingTurn)
            g.replace_top(msgspec.structs.replace(turn, revenue=revenue))
            g.push(RevenueClaim(frame.company, revenue, left))
        else:
            g.emit(Passed(seat, f"the run of the {frame.company}"))
            g.replace_top(RevenueClaim(frame.company, revenue, left))

    def advance(self, g: Game, frame: RevenueClaim) -> bool:
        if frame.challengers and best_run(g, frame.company).revenue > frame.revenue:
            return False
        g.pop()
        return True
