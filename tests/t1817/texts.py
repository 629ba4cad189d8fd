"""What the rule tests of 1817 are written with."""

from __future__ import annotations

import pytest

from engine.record import replay
from engine.state import State

SITE = "conventions 18xx.games"


def holds(body: str, players: str = "Ann, Bob, Cid", options: tuple[str, ...] = ()) -> State:
    """Play a body; the test fails with the line that does not hold."""
    header = ["title 1817", f"players {players}", *(f"option {o}" for o in options), "---"]
    whole = "\n".join(header) + "\n" + body
    report = replay(whole)
    if failure := report.failure:
        pytest.fail(f"{failure}\n>> {whole.splitlines()[failure.line - 1]}", pytrace=False)
    assert report.state is not None
    return report.state
