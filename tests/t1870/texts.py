"""What the rule tests of 1870 are written with."""

from __future__ import annotations

import pytest

from engine.record import replay
from engine.state import State

TITLE = "1870"
SITE = "conventions 18xx.games"

SOLD = """
Ann: buy GRSC
Bob: buy MRBC
Cid: buy SCC
Ann: buy GSC
Bob: buy Frisco
Bob: par SLSF 100
Cid: buy Katy
"""
"""Every private at its price; it is Ann's turn of the first stock round."""


def text(body: str, players: str = "Ann, Bob, Cid", options: tuple[str, ...] = ()) -> str:
    """A whole text game of that body, whose lines keep their order."""
    header = [f"title {TITLE}", f"players {players}", *(f"option {o}" for o in options), "---"]
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
