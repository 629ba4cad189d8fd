"""Questions about a table: one that cannot be answered is refused with what would be right."""

from __future__ import annotations

import pytest

import engine
from bot.hub.info import TableInfo
from bot.hub.request import LineRefused, LineUnreadable, QueryAnswer
from bot.hub.table import LiveTable, TableMetadata
from engine.core.events import AnyEvent, CompanyReturned, OperatingTurnStarted, TrainsRan
from storage import LogRow
from tests.service.conftest import ServiceHarness

REFUSED = {
    "log all": "`log all` cannot be read; write `log 20`.",
    "map big": "`map big` cannot be read; write `map`.",
    "company": "`company` is not complete; write `company X`.",
    "from": "`from` is not complete; write `from X northeast`.",
    "from B2 nowhere": "On this map the directions are southwest, west, northwest, northeast, east and "
    "southeast.",
    "around": "`around` is not complete; write `around X` or `around N`.",
    "company XYZ": "There is no company XYZ; there are PRR, NYC, CPR, B&O, C&O, Erie, NYNH, B&M.",
    "routes XYZ": "There is no company XYZ; there are PRR, NYC, CPR, B&O, C&O, Erie, NYNH, B&M.",
    "network XYZ": "There is no company XYZ; there are PRR, NYC, CPR, B&O, C&O, Erie, NYNH, B&M.",
    "player Zed": "There is no player Zed; there are Ann, Bob and Cid.",
    "privates ZZ": "There is no private ZZ; there are SV, CS, DH, MH, CA, BO.",
    "hex Z99": "There is no hex Z99.",
    "help zzz": "No line begins with `zzz` now; `help` lists all.",
    "at noon": "`noon` is neither a round of this game nor a row of its log. Examples: `at 120`, "
    "`at stock round 2`, `at or 3.1`.",
}


@pytest.mark.parametrize("line", REFUSED)
async def test_a_question_that_cannot_be_answered(world: ServiceHarness, line: str) -> None:
    answer = await world.say("Ann", line)
    assert isinstance(answer, LineUnreadable if "cannot be read" in REFUSED[line] else LineRefused)
    assert answer.reason == REFUSED[line]


def test_a_company_that_was_started_once_more_has_no_run_of_before() -> None:
    """1817 §7.2.4; in its first turn it has no train."""
    state = engine.new_game("1817", ["Ann", "Bob", "Cid"]).state
    ran, turn = TrainsRan("ME", (("2", "F2-G3"),), 60), OperatingTurnStarted("ME")
    rows = [LogRow("service", "note", line="start", raw_line="", events=engine.encode_state(state), seq=1)]
    table = LiveTable(TableMetadata(TableInfo(1, "ABC", "", "1817", (), "running", None, {}, ())), rows)
    moves: list[tuple[list[AnyEvent], dict[str, int]]]
    moves = [([turn, ran], {"ME": 60}), ([CompanyReturned("ME"), turn], {})]
    for events, revenues in moves:
        table.add(LogRow("test", seat=0, events=engine.encode_events(events), seq=table.seq + 1), ())
        assert table.last_revenues() == revenues


@pytest.mark.parametrize(
    ("word", "told"), [("undo", "undo, redo "), ("redo", "undo, redo "), ("hint", "hint "), ("buy", "buy SV")]
)
async def test_help_with_a_word_has_the_lines_that_begin_with_it(
    world: ServiceHarness, word: str, told: str
) -> None:
    answer = await world.say("Ann", f"help {word}")
    assert isinstance(answer, QueryAnswer)
    (line,) = answer.text.splitlines()
    assert line.strip().startswith(told)


async def test_a_paused_game_answers_in_the_same_way(world: ServiceHarness) -> None:
    await world.say("Ann", "pause")
    answer = await world.say("Ann", "log all")
    assert isinstance(answer, LineUnreadable)
    assert answer.reason == REFUSED["log all"]


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [(["pause"], "The game is paused."), (["end yes"], "The game was ended unfinished.")],
)
async def test_nobody_is_said_to_act_in_a_game_that_stands_still(
    world: ServiceHarness, lines: list[str], sentence: str
) -> None:
    for line in lines:
        await world.say("Ann", line)
    for question in ("status", "turn", "help", "words"):
        answer = await world.say("Ann", question)
        assert isinstance(answer, QueryAnswer)
        assert sentence in answer.text.splitlines(), question
        assert "Ann to act" not in answer.text and "Your options" not in answer.text, question


async def test_a_tile_lies_on_hexes_by_their_names(world: ServiceHarness) -> None:
    answer = await world.say("Ann", "tiles 57")
    assert isinstance(answer, QueryAnswer)
    assert "It lies on a city." in answer.text
    answer = await world.say("Ann", "tiles 59")
    assert isinstance(answer, QueryAnswer)
    assert "It lies on a city marked OO." in answer.text


async def test_a_round_that_is_over_within_a_row(world: ServiceHarness) -> None:
    """Nothing has floated, so the first operating round ends as it begins."""
    for line in ("buy SV", "buy CS", "buy DH", "buy MH", "buy CA", "buy BO", "par B&O 100", *["pass"] * 3):
        await world.say((await world.asked_names())[0], line)
    after = (await world.service.queries.view(world.table)).seq
    for question in ("at or 1.1", "at or 1"):
        answer = await world.say("Ann", question)
        assert isinstance(answer, QueryAnswer)
        heading, now, *_ = answer.text.splitlines()
        assert heading == f"After row {after}, in which operating round 1.1 began and ended:"
        assert now.startswith("stock round 2")
    answer = await world.say("Ann", "at or 2")
    assert (
        isinstance(answer, LineRefused) and answer.reason == "The game has not reached operating round 2.1."
    )
    answer = await world.say("Ann", "at sr 2")
    assert isinstance(answer, QueryAnswer)
    assert answer.text.startswith(f"At the start of stock round 2, row {after}:\nstock round 2")


async def test_a_company_that_has_not_run(world: ServiceHarness) -> None:
    for line in ("routes PRR", "route PRR 1"):
        answer = await world.say("Ann", line)
        assert isinstance(answer, QueryAnswer)
        assert answer.text == "The PRR has not run yet."
