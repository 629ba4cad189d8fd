"""Before a run its sum and its routes are told, and drawn (1870 §11.4)."""

from __future__ import annotations

import pytest

import engine
from bot.pictures.views import question_pictures
from bot.position import text_views
from bot.position.numbers import decision_lines
from bot.position.pending import pending_decisions
from bot.position.sentences import connection_lines, run_previews
from tests.drawn_here import DrawnHere
from tests.t1830.scenarios import run_scenario as run_1830
from tests.t1870.scenarios import run_scenario
from tests.t1870.test_11_destinations import FW

DUE = FW + "@ trains SSW 4\n@ round operating FW\n= turn Bob SSW\n"
PLACED = "Best run of the SSW with its destination token placed: $100, 4-train $100 H17-H13-J5-J3"
KEPT = "Best run of the SSW with that token kept: $80, 4-train $80 H17-H13-J5-J3"


@pytest.mark.parametrize("lines", ["", "Bob: connect run\n"])
async def test_a_connection_run_is_told_and_drawn_before_it_is_made(lines: str) -> None:
    state = run_scenario(DUE + lines)
    assert connection_lines(state) == [PLACED, KEPT]
    assert decision_lines(state, "p1")[-2:] == [PLACED, KEPT]
    told = text_views.question_text(state, pending_decisions(state, 0))
    assert told.splitlines()[1:] == [PLACED, KEPT]
    pictures = DrawnHere()
    (drawn,) = await question_pictures(pictures, state)
    assert "Route 1: 4-train $100: H17-H13-J5-J3" in drawn.picture.alt
    assert {"H17", "H13", "J5", "J3"} <= set(pictures.requests[0][1]["crop"])


def test_after_the_token_there_is_one_run() -> None:
    """The line to play has its sum, so email and terminal do not tell it twice."""
    state = run_scenario(DUE + "Bob: connect run\nBob: destination keep\n")
    assert decision_lines(state, "p1")[-1] == "Best run of the SSW: $80, 4-train $80 H17-H13-J5-J3"
    assert connection_lines(state) == []


def test_every_train_of_a_run_is_told_on_the_card() -> None:
    body = "@ owns Ann PRR 6\n@ par PRR 100\n@ cash PRR 500\n@ tile H10 57 1\n@ tile H14 9 1\n"
    state = run_1830(body + "@ trains PRR 2\n@ round operating PRR\nAnn: pass\nAnn: pass\n")
    (preview,) = run_previews(state)
    assert preview.trains == engine.best_run(state, "PRR")
    assert decision_lines(state, "p0")[-1] == (
        f"Best run of the PRR: ${preview.revenue}, 2-train ${preview.revenue} {preview.trains[0].route}"
    )
    before = run_1830(body + "@ trains PRR 2\n@ round operating PRR\n= turn Ann PRR\n")
    assert run_previews(before) == []
