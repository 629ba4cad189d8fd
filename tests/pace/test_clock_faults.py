"""A process that dies, a clock that jumps, two processes on one store: nothing doubled, nothing lost."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from bot.features.clock.time_up import Wait, WaitTimers, _unanswered_since
from bot.hub.loading import UnreadableTable
from bot.hub.request import Completed, TableNotRunning
from bot.hub.table import LiveTable
from bot.hub.timers import BATCH
from bot.service import Service
from storage import StoredTimer, open_store
from tests.pace.conftest import START, DrivenTable
from tests.pace.test_clock import at
from tests.pace.test_pace import local

HALF, HOUR = local("2026-06-02 00:00"), local("2026-06-02 11:00")


def reminder_times(driven: DrivenTable) -> list[str]:
    return [line[:8] for line in driven.heard("Ann", "reminder")]


class Killed(BaseException):
    """The process dies here."""


async def test_killed_between_a_pass_at_the_end_of_a_time_and_its_row(
    driven: DrivenTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pass is stored under a request of its own, so it is not played again for the next question."""
    await driven.begin("24h, then orders")
    await driven.wait_until(HOUR)
    driven.now = local("2026-06-02 12:00")
    play = WaitTimers._play

    async def play_and_die(timers: WaitTimers, table: LiveTable, wait: Wait) -> str | None:
        await play(timers, table, wait)
        raise Killed

    monkeypatch.setattr(WaitTimers, "_play", play_and_die)
    with pytest.raises(Killed):
        await driven.service.clock.tick()
    await driven.restart()
    await driven.tick()
    await driven.tick()
    moves = [e.line for e in await driven.service.queries.log(driven.table) if e.kind == "move"]
    assert moves == ["pass"] and await driven.asked() == ["Bob"]
    assert len(driven.heard("Cid", "news")) == 1


async def test_a_service_that_was_down_for_days_reminds_once(driven: DrivenTable) -> None:
    await driven.begin("24h")
    driven.now = local("2026-06-05 13:00")
    await driven.restart()
    await driven.tick()
    await driven.tick()
    assert reminder_times(driven) == [at("05 13:00")]
    await driven.wait_until(local("2026-06-06 12:30"))
    assert reminder_times(driven) == [at("05 13:00"), at("06 12:00")]


async def test_a_time_that_ran_out_while_the_service_was_down_is_up_a_little_later(
    driven: DrivenTable,
) -> None:
    """A mail with the move may be waiting."""
    await driven.begin("24h, then orders")
    driven.now = local("2026-06-03 12:00")
    await driven.restart()
    await driven.tick()
    assert await driven.asked() == ["Ann"]
    driven.now += timedelta(minutes=16)
    await driven.tick()
    assert await driven.asked() == ["Bob"]


async def test_the_clock_is_set_back_by_a_day(driven: DrivenTable) -> None:
    await driven.begin("24h")
    await driven.wait_until(HALF + timedelta(minutes=1))
    assert len(reminder_times(driven)) == 1
    driven.now -= timedelta(days=1)
    await driven.tick()
    await driven.wait_until(HALF + timedelta(hours=1))
    assert len(reminder_times(driven)) == 1, "not doubled when the time comes again"
    await driven.wait_until(HOUR + timedelta(minutes=1))
    assert reminder_times(driven) == [at("02 00:00"), at("02 11:00")]


async def test_the_clock_is_set_back_and_the_settings_change(driven: DrivenTable) -> None:
    """Everything due is worked out again, and still nothing is told twice."""
    await driven.begin("24h", discord=True)
    await driven.settings("Ann", "settings tell thread", "settings mail too after 12h")
    await driven.wait_until(HALF + timedelta(minutes=1))
    told = len(driven.heard("Ann", "reminder"))
    driven.now -= timedelta(days=1)
    await driven.settings("Ann", "settings next off")
    await driven.wait_until(HALF + timedelta(hours=1))
    assert len(driven.heard("Ann", "reminder")) == told


async def test_the_clock_is_set_forward_by_a_day_and_back(driven: DrivenTable) -> None:
    await driven.begin("24h")
    await driven.wait_until(local("2026-06-01 20:00"))
    driven.now += timedelta(days=1)
    await driven.tick()
    assert len(reminder_times(driven)) == 1, "one reminder for what is overdue"
    driven.now -= timedelta(days=1)
    await driven.tick()
    await driven.wait_until(local("2026-06-04 12:30"))
    times = reminder_times(driven)
    assert len(times) == len(set(times)) and times[-1] == at("04 12:00")


async def test_the_clock_is_set_forward_by_weeks_and_back_and_digests_go_on(driven: DrivenTable) -> None:
    await driven.begin("none")
    await driven.settings("Ann", "settings zone UTC", "settings digest 08:00")
    await driven.wait_until(local("2026-06-02 12:00"))
    driven.now += timedelta(days=20)
    await driven.tick()
    driven.now -= timedelta(days=20)
    await driven.tick()
    before = driven.heard("Ann", "digest")
    await driven.wait_until(local("2026-06-03 10:01"))
    (again,) = driven.heard("Ann", "digest")[len(before) :]
    assert again.startswith("03 08:00")
    driven.now -= timedelta(minutes=2)
    await driven.tick()
    await driven.wait_until(local("2026-06-04 09:00"))
    assert len(driven.heard("Ann", "digest")) == len(before) + 1, "set back a little, no second one"


@pytest.mark.parametrize("forward", [timedelta(days=20), timedelta(hours=34)])
async def test_an_absence_that_was_over_while_the_clock_was_ahead_ends_once_more(
    driven: DrivenTable, forward: timedelta
) -> None:
    """It had no timer any more, or none for its begin; the table heard of it at the next move."""
    await driven.begin("24h")
    await driven.settings("Ann", "zone UTC", "away from 2026-06-02 until 2026-06-03")
    driven.now += forward
    await driven.tick()
    driven.now -= forward
    await driven.tick()
    before = driven.heard("Bob", "news")
    await driven.wait_until(local("2026-06-03 10:00"))
    away = "02 00:00 mail news: Ann is away until Wed 3 Jun 2026. Their time does not run until then."
    assert driven.heard("Bob", "news")[len(before) :] == [away, "03 00:00 mail news: Ann is back."]


async def test_a_timer_that_always_fails_is_tried_more_and_more_rarely(
    driven: DrivenTable, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Until it succeeds; it was tried and logged at each look."""
    await driven.begin("24h")
    tried, digest = [], driven.service.clock.timers["digest"]

    async def fail(row: StoredTimer) -> bool:
        tried.append(driven.now)
        raise RuntimeError("no")

    monkeypatch.setitem(driven.service.clock.timers, "digest", fail)
    await driven.settings("Ann", "zone UTC", "digest 13:00")
    begin = local("2026-06-01 15:00")
    for seconds in range(0, 7200, 15):
        driven.now = begin + timedelta(seconds=seconds)
        await driven.tick()
    assert 5 < len(tried) < 20 and caplog.text.count("digest") == len(tried)
    monkeypatch.setitem(driven.service.clock.timers, "digest", digest)
    await driven.wait_until(begin + timedelta(hours=4))
    assert driven.heard("Ann", "digest")


async def test_the_process_that_led_dies_and_the_clock_is_set_back(driven: DrivenTable) -> None:
    """Its lease would end in a day; it has no force."""
    await driven.begin("24h")
    driven.now += timedelta(days=1)
    await driven.tick()
    driven.now -= timedelta(days=1)
    await driven.restart()
    await driven.tick()
    await driven.wait_until(HALF + timedelta(minutes=1))
    assert any("12 hours left" in line for line in driven.heard("Ann", "reminder"))


async def test_what_another_process_has_played_is_not_said_to_be_impossible(
    driven: DrivenTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    await driven.begin("24h, then orders")
    play, told = WaitTimers._play, list[tuple[str, str]]()

    async def overtaken(ends: WaitTimers, table: LiveTable, wait: Wait) -> tuple[str, str]:
        await driven.say("Ann", "pass")  # as the other process does, between two looks at the table
        told.append(await play(ends, table, wait))
        return told[-1]

    monkeypatch.setattr(WaitTimers, "_play", overtaken)
    await driven.wait_until(HALF + timedelta(days=1))
    assert told == [("", "")]


@pytest.mark.parametrize("pace", ["none", "24h, then pause"])
async def test_no_table_is_paused_whose_player_has_just_answered(
    driven: DrivenTable, monkeypatch: pytest.MonkeyPatch, pace: str
) -> None:
    """They had moved between two looks at the table."""
    await driven.begin(pace)
    looked = WaitTimers._open_wait

    async def overtaken(ends: WaitTimers, *arguments: Any) -> Wait | None:
        wait = await looked(*arguments)
        if driven.now > START + timedelta(days=70) or pace != "none":
            moves.append(asyncio.ensure_future(driven.service.submit(driven.table, 0, ["pass"], None, "r0")))
            await asyncio.sleep(0)  # it waits for the table
        return wait

    moves = list[asyncio.Future[Any]]()
    monkeypatch.setattr(WaitTimers, "_open_wait", overtaken)
    while not moves:
        await driven.wait_until(driven.now + timedelta(days=1))
    assert isinstance(await moves[0], Completed)
    info = await driven.service.queries.table_info(driven.table)
    assert info.status == "running" and await driven.asked() == ["Bob"]


async def test_an_answer_comes_before_the_pause_or_is_told_of_it(
    driven: DrivenTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table was paused because nobody answers just after somebody had."""
    await driven.begin("6h, then orders")
    play, answers = WaitTimers._play, list[asyncio.Future[Any]]()

    async def beside(ends: WaitTimers, table: LiveTable, wait: Wait) -> tuple[str, str]:
        if _unanswered_since(table):
            answer = driven.service.submit(driven.table, wait.seat, ["pass"], None, "r0")
            answers.append(asyncio.ensure_future(answer))
        return await play(ends, table, wait)

    monkeypatch.setattr(WaitTimers, "_play", beside)
    while not answers:
        await driven.wait_until(driven.now + timedelta(hours=6))
    assert isinstance(await answers[0], TableNotRunning)


async def test_two_processes_that_both_believe_to_lead(driven: DrivenTable) -> None:
    """The lock on the job saves work; what keeps a reminder from being doubled is the timer."""
    await driven.begin("24h, then orders")
    async with await open_store(driven.address, now=lambda: driven.now) as store:
        other = Service(store, ping_holdoff=120)
        for moment in (HALF, HOUR, local("2026-06-02 12:00"), local("2026-06-03 00:00")):
            driven.now = moment
            await asyncio.gather(driven.service.clock.tick(), other.clock.tick())
            await driven.tick()
    assert reminder_times(driven) == [at("02 00:00"), at("02 11:00")]
    moves = [e.line for e in await driven.service.queries.log(driven.table) if e.kind == "move"]
    assert moves == ["pass"]
    assert len(driven.heard("Cid", "news")) == 1
    assert len(driven.heard("Bob", "reminder")) == 1


async def test_14_1_rows_that_fail_keep_no_others_from_their_time(
    driven: DrivenTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More rows than are read at once, all of tables that cannot be read, and due before the others."""
    await driven.begin("24h")
    async with driven.store.begin() as unit:
        for number in range(BATCH + 10):
            row = StoredTimer(key=f"damaged.{number}", kind="damaged", due_at=HALF - timedelta(hours=1))
            await unit._transaction.add(row)
    tried = list[str]()

    async def failing(row: StoredTimer) -> bool:
        tried.append(row.key)
        raise UnreadableTable("ABC")

    driven.service.clock.timers["damaged"] = failing
    driven.now = HALF
    due_next = await driven.service.clock.tick()
    await driven.tick()
    assert reminder_times(driven) == [at("02 00:00")]
    assert len(set(tried)) == BATCH + 10
    assert due_next is not None and due_next > HALF, "the clock sleeps until something else is due"
