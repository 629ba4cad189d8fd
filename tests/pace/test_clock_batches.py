"""The clocks of many tables follow in one transaction, and a fault at one table stays there."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta

import pytest

import engine
from bot.features.clock import update
from bot.hub.table import LiveTable
from bot.hub.timers import AT_REST, FIRST_RETRY
from engine.game_text.history import GameHistory
from storage.repositories.clocks import ClockRecord
from tests.pace.conftest import NAMES, DrivenTable

TABLES = 40


async def tables_of(driven: DrivenTable) -> list[int]:
    """Many tables that are in play, whose clocks nobody has looked at."""
    await driven.begin("24h")
    start, _ = engine.new_game("1830", NAMES, (), 1)
    lobby = driven.service.lobby
    return [(await lobby.import_game(GameHistory(start), name=f"Table {n}")).id for n in range(TABLES)]


async def behind(driven: DrivenTable) -> list[int]:
    async with driven.store.read() as unit:
        return await unit.clocks.tables_behind()


async def waits(driven: DrivenTable, table: int) -> list[str | None]:
    async with driven.store.read() as unit:
        return [clock.decision_id for clock in (await unit.clocks.seat_clocks(table)).values()]


async def test_14_9_the_clocks_of_many_tables_follow_in_few_transactions(driven: DrivenTable) -> None:
    tables = await tables_of(driven)
    assert await behind(driven) == tables
    await driven.tick()
    assert await behind(driven) == []
    await asyncio.gather(
        *(driven.service.submit(table, 0, ["buy SV"], None, f"r{table}") for table in tables)
    )
    assert await behind(driven) == tables
    begun = 0
    begin = driven.store._row_writer.transaction

    def counted() -> object:
        nonlocal begun
        begun += 1
        return begin()

    driven.store._row_writer.transaction = counted  # type: ignore[assignment, method-assign]
    await driven.service.clock.tick()
    assert begun <= 4, "one transaction for each table is too dear"
    assert [await waits(driven, table) for table in tables] == [[None, "0.2", None]] * TABLES


async def test_14_1_a_table_whose_clock_cannot_follow_stops_no_other(
    driven: DrivenTable, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tables = await tables_of(driven)
    bad = tables[7]
    follow = update._Followup.follow_log

    def broken(followup: update._Followup) -> None:
        if followup._info.id == bad:
            raise KeyError("damaged")
        follow(followup)

    with monkeypatch.context() as patched:
        patched.setattr(update._Followup, "follow_log", broken)
        await driven.tick()
    assert await behind(driven) == [bad]
    assert re.search(r"clock: table [A-Z0-9]{3} failed", caplog.text)
    driven.now += FIRST_RETRY
    await driven.tick()
    assert await behind(driven) == []


async def test_a_move_between_reading_and_writing_is_followed_later(
    driven: DrivenTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is in memory is older than the transaction: nothing of it is written."""
    await driven.begin("24h")
    await driven.service.submit(driven.table, 0, ["buy SV"], None, "r")
    before = await waits(driven, driven.table)

    def is_older(table: LiveTable, record: ClockRecord) -> bool:
        return False

    with monkeypatch.context() as patched:
        patched.setattr(update, "_is_current", is_older)
        await driven.service.clock.tick()
    assert await waits(driven, driven.table) == before
    assert await behind(driven) == [driven.table]
    await driven.service.clock.tick()
    assert await waits(driven, driven.table) == [None, "0.2", None]


async def test_14_12_a_reminder_reads_no_log(driven: DrivenTable) -> None:
    """Where thousands are due at once, the logs would be most of the work."""
    await driven.begin("24h")
    await driven.service.submit(driven.table, 0, ["buy SV"], None, "r")
    await driven.restart()
    await driven.wait_until(driven.now + timedelta(hours=30))
    assert driven.heard("Bob", "reminder")
    table = driven.service.cache.peek(driven.table)
    assert table is not None and not table.has_log


@pytest.mark.parametrize("quiet", [False, True], ids=["at rest", "with quiet hours"])
async def test_only_tables_at_rest_wait_a_little(driven: DrivenTable, quiet: bool) -> None:
    """Without a pace, nothing hangs on the moment, unless somebody has quiet hours."""
    await driven.begin("none")
    if quiet:
        await driven.settings("Cid", "zone UTC", "quiet 22:00-07:00")
    await driven.service.submit(driven.table, 0, ["buy SV"], None, "r")
    await driven.service.clock.tick(leaves_at_rest=True)
    assert await behind(driven) == ([] if quiet else [driven.table])
    driven.now += AT_REST
    await driven.service.clock.tick(leaves_at_rest=True)
    assert await behind(driven) == []
    assert await waits(driven, driven.table) == [None, "0.2", None]
