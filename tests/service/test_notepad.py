"""A private notepad at a table."""

from __future__ import annotations

from bot.features.notepad.feature import MAX_NOTES
from bot.hub.request import Completed, LineRefused, QueryAnswer
from tests.service.conftest import ServiceHarness


async def said(world: ServiceHarness, name: str, line: str, **more: str) -> str:
    answer = await world.say(name, line, **more)
    assert isinstance(answer, QueryAnswer | LineRefused), answer
    return answer.text if isinstance(answer, QueryAnswer) else answer.reason


async def test_notes_are_kept_and_deleted_and_nobody_else_reads_them(world: ServiceHarness) -> None:
    before = await world.service.queries.view(world.table)
    assert await said(world, "Ann", "notes") == "Your notepad here is empty."
    await said(world, "Ann", "note sell the PRR before the 4s")
    text = await said(world, "Ann", "note Bob wants the C&O")
    assert text == "Your notes at this table:\n1. sell the PRR before the 4s\n2. Bob wants the C&O"
    assert await said(world, "Bob", "notes") == "Your notepad here is empty."
    assert await said(world, "Ann", "note 1 away") == "Your notes at this table:\n1. Bob wants the C&O"
    assert await said(world, "Ann", "notes") == "Your notes at this table:\n1. Bob wants the C&O"
    after = await world.service.queries.view(world.table)
    assert (after.seq, after.state, after.pending) == (before.seq, before.state, before.pending)
    log = await world.service.queries.log(world.table)
    assert "C&O" not in str(log) and not await world.sent()


async def test_a_note_that_is_sent_twice_is_written_once(world: ServiceHarness) -> None:
    for _ in range(2):
        text = await said(world, "Ann", "note the B&O is worth 220", request="same")
    assert text == await said(world, "Ann", "notes") == "Your notes at this table:\n1. the B&O is worth 220"


async def test_what_cannot_be_written_is_said(world: ServiceHarness) -> None:
    assert await said(world, "Ann", "note") == "Write the note after the word: `note sell the PRR in time`."
    assert await said(world, "Ann", "note 3 away") == "There is no note 3; `notes` lists them."
    assert "at most 200 characters; this one has 300" in await said(world, "Ann", "note " + "x" * 300)
    for number in range(MAX_NOTES):
        await said(world, "Ann", f"note {number}.")
    assert "is full with 50 notes" in await said(world, "Ann", "note one more")


async def test_a_note_beside_a_move(world: ServiceHarness) -> None:
    """Both are done, or neither; what cannot be done is named by its own line."""
    refused = await world.say("Ann", "buy SV", "note 3 away")
    assert isinstance(refused, LineRefused) and (refused.index, refused.line) == (1, "note 3 away")
    refused = await world.say("Ann", "note Bob is rich", "auto pass", "buy SV")
    assert isinstance(refused, LineRefused) and refused.reason == (
        "`auto pass` and `note` cannot be in one message; send two."
    )
    assert await world.lines() == [] and await said(world, "Ann", "notes") == "Your notepad here is empty."
    done = await world.say("Ann", "buy SV", "note Bob is rich")
    assert isinstance(done, Completed) and done.sentences == ("Your notes at this table:", "1. Bob is rich")
    assert await world.lines() == ["buy SV"] and "rich" not in str(await world.sent())
