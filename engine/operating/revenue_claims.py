"""Claimed revenue: the other players may point out a better run (1851, Run Trains)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.core.actions import Action, Pass, RunTrains
from engine.core.events import Passed, TrainsRan
from engine.core.state import OperatingTurn, RevenueClaim
from engine.game import Game
from engine.mechanics import Option
from engine.operating.run import best_run, format_routes, run_revenue


def open_claim(g: Game, turn: OperatingTurn) -> None:
    """Ask the other players about the run that the president has announced."""
    others = g.state.seats_from(g.president(turn.company))[1:]
    g.push(RevenueClaim(turn.company, turn.revenue, tuple(others)))


@dataclass(frozen=True)
class RevenueClaimQuestion:
    """Asks the other players, all at once and each once; the best run that is named counts.

    Nobody is asked if there is no better run.
    """

    def asked(self, g: Game, frame: RevenueClaim) -> tuple[str, ...]:
        return frame.challengers

    def prompt(self, g: Game, frame: RevenueClaim) -> str:
        return f"accept the ${frame.revenue:,} of the {frame.company}, or point out a better run"

    def options(self, g: Game, frame: RevenueClaim, seat: str) -> Iterator[Option]:
        best = best_run(g, frame.company)
        if best.revenue > frame.revenue:
            yield Option(RunTrains(format_routes(g, best)), f"Point out a better run: ${best.revenue:,}")
        yield Option(Pass(), f"Accept the ${frame.revenue:,}")

    def refusal(self, g: Game, frame: RevenueClaim, seat: str, action: Action) -> str | None:
        match action:
            case Pass():
                return None
            case RunTrains(_, None):
                try:
                    revenue = run_revenue(g, frame.company, action)
                except ValueError as error:
                    return str(error)
                if revenue > frame.revenue:
                    return None
                earned = f"Those routes earn ${revenue:,}"
                return f"{earned}, no more than the ${frame.revenue:,} announced{g.cite('1851 Run Trains')}."
        return f"{g.state.name(seat)} to act: {self.prompt(g, frame)}{g.cite('1851 Run Trains')}."

    def apply(self, g: Game, frame: RevenueClaim, seat: str, action: Action) -> None:
        remaining, revenue = tuple(s for s in frame.challengers if s != seat), frame.revenue
        if isinstance(action, RunTrains):
            revenue = run_revenue(g, frame.company, action)
            g.pop()
            g.emit(
                TrainsRan(
                    frame.company, action.routes or format_routes(g, best_run(g, frame.company)), revenue
                )
            )
            turn = g.top
            assert isinstance(turn, OperatingTurn)
            g.change_top(turn, revenue=revenue)
            g.push(RevenueClaim(frame.company, revenue, remaining))
        else:
            g.emit(Passed(seat, f"the run of the {frame.company}"))
            g.replace_top(RevenueClaim(frame.company, revenue, remaining))

    def advance(self, g: Game, frame: RevenueClaim) -> bool:
        if frame.challengers and best_run(g, frame.company).revenue > frame.revenue:
            return False
        g.pop()
        return True
