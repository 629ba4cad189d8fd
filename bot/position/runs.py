"""What the run to come brings: each train with its route and its dollars (pure).

Before a connection run its sum depends on the destination token, which is placed or kept first.
Both ways are tried on a copy of the position.
"""

from __future__ import annotations

from typing import NamedTuple

import engine
from bot.position.sentences import dollars

CONNECT, DESTINATION, RUN = "connect", "destination", "run"
START_CONNECTION_RUN = "connect run"
TOKEN_WAYS = (("destination place", "its destination token placed"), ("destination keep", "that token kept"))


class RunPreview(NamedTuple):
    """The best run of a company. way: what is decided about its destination token, empty where nothing is."""

    company: str
    way: str
    trains: tuple[engine.TrainRun, ...]

    @property
    def revenue(self) -> int:
        """Dollars of all trains."""
        return sum(run.revenue for run in self.trains)


def run_previews(state: engine.State) -> list[RunPreview]:
    """The run that follows from the question that is asked, by each way to it, the best first.

    Empty for questions that no run follows.
    """
    turn = state.stack[-1]
    if not isinstance(turn, engine.OperatingTurn) or turn.step not in (CONNECT, DESTINATION, RUN):
        return []
    seat = engine.decision(state).acting[0]
    if turn.step == RUN:
        return _runs(state, turn.company, "")
    if turn.step == CONNECT:
        state = engine.play_line(state, seat, START_CONNECTION_RUN).state
    possible = {choice.line for choice in engine.choices(state, seat)}
    found = [
        preview
        for line, way in TOKEN_WAYS
        if line in possible
        for preview in _runs(engine.play_line(state, seat, line).state, turn.company, way)
    ]
    return sorted(found, key=lambda preview: -preview.revenue)


def _runs(state: engine.State, company: str, way: str) -> list[RunPreview]:
    trains = engine.best_run(state, company)
    return [RunPreview(company, way, trains)] if trains else []


def run_lines(state: engine.State) -> list[str]:
    """`Best run of the PRR: $70, 2-train $30 H12-H10, 2-train $40 H12-I15`; a line for each way to it that
    makes a difference."""
    previews = run_previews(state)
    if len({preview.trains for preview in previews}) == 1:
        previews = [previews[0]._replace(way="")]
    return [_line(preview) for preview in previews]


def connection_lines(state: engine.State) -> list[str]:
    """The same before a connection run; empty before others, whose best routes are a line to play."""
    return run_lines(state) if getattr(state.stack[-1], "step", "") in (CONNECT, DESTINATION) else []


def _line(preview: RunPreview) -> str:
    trains = ", ".join(f"{run.train}-train {dollars(run.revenue)} {run.route}" for run in preview.trains)
    with_token = f" with {preview.way}" if preview.way else ""
    return f"Best run of the {preview.company}{with_token}: {dollars(preview.revenue)}, {trains}"
