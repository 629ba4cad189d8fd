"""What the rule tests of 1851 are written with."""

from __future__ import annotations

import pytest

from engine.record import replay
from engine.state import State

RICH = "@ cash Ann 1500\n@ cash Bob 1500\n@ cash Cid 1500\n"


def text(body: str, players: str = "Ann, Bob, Cid", options: tuple[str, ...] = ()) -> str:
    """A whole text game of that body, whose lines keep their order."""
    header = ["title 1851", f"players {players}", *(f"option {o}" for o in options), "---"]
    return "\n".join(header) + "\n" + body


def holds(body: str, players: str = "Ann, Bob, Cid", options: tuple[str, ...] = ()) -> State:
    """Play a body; the test fails with the line that does not hold."""
    whole = text(body, players, options)
    report = replay(whole)
    if failure := report.failure:
        pytest.fail(f"{failure}\n>> {whole.splitlines()[failure.line - 1]}", pytrace=False)
    assert report.state is not None
    assert report.moves or report.checks or "!" in body
    return report.state


def refused(body: str, players: str = "Ann, Bob, Cid", options: tuple[str, ...] = ()) -> str:
    """The sentence with which a body is found wrong."""
    report = replay(text(body, players, options))
    assert report.failure, "the text holds, but must not"
    return str(report.failure)
