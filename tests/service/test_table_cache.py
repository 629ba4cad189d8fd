"""A loaded table equals the one that was played; the cache is never ahead of the store."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import engine
from bot.features.game_files.feature import make_game_file
from bot.hub import cache
from bot.hub.loading import build_table
from bot.hub.request import Completed, QueryAnswer, StaleDecision
from bot.service import Service
from engine import kernel
from storage import LogRow, StoreError, backup, restore
from storage.repositories import outbox
from storage.repositories.move_log import MoveLogRepository
from tests.service.conftest import ServiceHarness
from tests.stores import sqlite_only


async def play_randomly(world: ServiceHarness, steps: int, seed: int) -> None:
    """Play at random, with an undo or a redo now and then."""
    dice = random.Random(seed)
    for step in range(steps):
        view = await world.service.queries.view(world.table)
        assert view.state is not None
        if view.state.game_over:
            return
        roll = dice.random()
        seat, line = dice.choice(view.pending).seat, ""
        if roll < 0.08 and view.undo_seat is not None:
            seat, line = view.undo_seat, "undo"
        elif roll < 0.14 and view.redo_seat is not None:
            seat, line = view.redo_seat, "redo"
        else:
            line = dice.choice(engine.legal_lines(view.state, f"p{seat}"))
        answer = await world.service.submit(world.table, seat, [line], None, f"step{step}")
        assert isinstance(answer, Completed), (line, answer)


@pytest.mark.parametrize("seed", [1, 2])
async def test_loading_gives_what_was_played(world: ServiceHarness, seed: int) -> None:
    await play_randomly(world, 120, seed)
    dora = await world.person("Dora")
    await world.service.running.replace_player(world.table, 1, dora, "Dora", by=None)
    await play_randomly_with_checks(world, seed + 10)
    played, loaded = world.service, Service(world.store)
    one, two = await played.queries.view(world.table), await loaded.queries.view(world.table)
    assert one == two
    assert await played.queries.log(world.table) == await loaded.queries.log(world.table)
    logs = [each.cache._tables[world.table].log for each in (played, loaded)]
    assert logs[0].redo_targets == logs[1].redo_targets
    async with world.store.read() as unit:
        head = await unit.move_log.snapshot(world.table)
    assert engine.encode_state(two.state) == head.state  # type: ignore[arg-type]


async def play_randomly_with_checks(world: ServiceHarness, seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(25):
        view = await world.service.queries.view(world.table)
        assert view.state is not None
        seat = dice.choice(view.pending).seat
        line = dice.choice(engine.legal_lines(view.state, f"p{seat}"))
        assert isinstance(await world.service.submit(world.table, seat, [line], None, None), Completed)


async def test_every_earlier_position(world: ServiceHarness) -> None:
    seen: dict[int, bytes] = {}
    dice = random.Random(5)
    for _ in range(90):
        view = await world.service.queries.view(world.table)
        assert view.state is not None
        seen[view.seq] = engine.encode_state(view.state)
        line = dice.choice(engine.legal_lines(view.state, f"p{view.pending[0].seat}"))
        seat = view.pending[0].seat
        if dice.random() < 0.15 and view.undo_seat is not None:
            seat, line = view.undo_seat, "undo"
        await world.service.submit(world.table, seat, [line], None, None)
    fresh = Service(world.store)
    for seq, state in seen.items():
        assert engine.encode_state(await fresh.queries.state_at(world.table, seq)) == state
    with pytest.raises(ValueError):
        await fresh.queries.state_at(world.table, 0)
    with pytest.raises(ValueError):
        await fresh.queries.state_at(world.table, 9999)


async def test_loading_consults_no_rule(world: ServiceHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    await play_randomly(world, 40, 3)
    expected = await world.service.queries.state_at(world.table)

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a rule was asked")

    monkeypatch.setattr(engine, "play", forbidden)
    monkeypatch.setattr(engine, "parse", forbidden)
    monkeypatch.setattr(engine, "new_game", forbidden)
    monkeypatch.setattr(kernel, "refusal", forbidden)
    monkeypatch.setattr(kernel, "advance", forbidden)
    loaded = await Service(world.store).queries.state_at(world.table)
    assert engine.encode_state(loaded) == engine.encode_state(expected)


async def test_a_failed_transaction_leaves_the_cache_as_it_was(
    world: ServiceHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise StoreError("the disk is full")

    before = await world.service.queries.view(world.table)
    with monkeypatch.context() as patched:
        patched.setattr(outbox, "enqueue_messages", full)
        with pytest.raises(StoreError):
            await world.say("Ann", "buy SV", request="lost")
    assert await world.service.queries.view(world.table) == before
    assert await Service(world.store).queries.view(world.table) == before
    assert isinstance(await world.say("Ann", "buy SV", request="lost"), Completed)


async def test_only_the_latest_tables_stay_in_memory(world: ServiceHarness) -> None:
    service = Service(world.store, keep_megabytes=0.07)
    tables = [(await service.lobby.create("1830", None)).id for _ in range(3)]
    for table in [*tables, world.table]:
        await service.queries.view(table)
    assert service.queries.peek(tables[0]) is None
    assert service.queries.peek(world.table) is not None
    assert isinstance(await service.submit(world.table, 0, ["buy SV"], None, None), Completed)


async def test_the_log_since_the_last_move(world: ServiceHarness) -> None:
    await world.say("Ann", "buy SV")
    await world.say("Bob", "buy CS")
    await world.say("Cid", "bid MH 115")
    assert [h.line for h in await world.service.queries.log_since_last_move(world.table, 0)] == [
        "buy CS",
        "bid MH 115",
    ]
    assert [h.line for h in await world.service.queries.log_since_last_move(world.table, 0, 3)] == ["buy CS"]
    assert [h.line for h in await world.service.queries.log_since_last_move(world.table, 2)] == []


@sqlite_only
async def test_a_backup_restored_under_a_running_service(world: ServiceHarness, tmp_path: Path) -> None:
    await world.say("Ann", "buy SV")
    await backup(world.store, tmp_path / "backup.db")
    await world.say("Bob", "buy CS")
    await world.say("Cid", "buy DH")
    await restore(tmp_path / "backup.db", world.store)
    answer = await world.say("Bob", "bid CA 165")
    assert isinstance(answer, Completed)
    assert await world.lines() == ["buy SV", "bid CA 165"]


def next_player(world: ServiceHarness) -> str:
    """Who is to act, as the table is in memory."""
    seen = world.service.queries.peek(world.table)
    assert seen is not None
    return seen.pending[0].name


async def test_what_another_process_plays_is_followed(
    world: ServiceHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "REFRESH_INTERVAL", 0.01)
    await world.service.queries.view(world.table)
    following = asyncio.ensure_future(world.service.run())
    try:
        with world.service.subscribe() as bell:
            await Service(world.store).submit(world.table, 0, ["buy SV"], None, None)
            async with asyncio.timeout(60):
                while next_player(world) != "Bob":
                    await bell.wait()
                    bell.clear()
    finally:
        following.cancel()


def has_log(service: Service, table_id: int) -> bool:
    table = service.cache.peek(table_id)
    assert table is not None
    return table.has_log


async def test_14_9_a_move_reads_the_snapshot_and_not_the_log(
    world: ServiceHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    await play_randomly_with_checks(world, 9)
    service, expected = Service(world.store), await world.service.queries.view(world.table)
    read = list[int]()
    rows = MoveLogRepository.rows

    async def counted(self: MoveLogRepository, table_id: int) -> list[LogRow]:
        found = await rows(self, table_id)
        read.append(len(found))
        return found

    monkeypatch.setattr(MoveLogRepository, "rows", counted)
    assert await service.queries.view(world.table) == expected
    for number in range(3):
        view = await service.queries.view(world.table)
        assert view.state is not None
        seat = view.pending[0].seat
        line = engine.legal_lines(view.state, f"p{seat}")[0]
        answer = await service.submit(world.table, seat, [line], view.pending[0].decision_id, f"m{number}")
        assert isinstance(answer, Completed)
    assert not has_log(service, world.table) and not read
    log = await service.queries.log(world.table)
    assert has_log(service, world.table) and read[-1] == len(log)
    assert log == await Service(world.store).queries.log(world.table)


@pytest.mark.parametrize("lines", [["undo"], ["log"], ["at start"], ["export text"], ["plan show"]])
async def test_14_9_what_needs_the_log_loads_it_and_answers_the_same(
    world: ServiceHarness, lines: list[str]
) -> None:
    await world.say("Ann", "buy SV")
    await world.say("Bob", "buy CS")
    service = Service(world.store)
    await service.queries.view(world.table)
    assert not has_log(service, world.table)
    answer = await service.submit(world.table, 1, lines, None, None)
    assert isinstance(answer, Completed | QueryAnswer)
    if isinstance(answer, QueryAnswer):
        assert answer == await world.service.submit(world.table, 1, lines, None, None)


async def test_14_9_a_stale_decision_is_answered_with_what_has_happened(world: ServiceHarness) -> None:
    decision = await world.decision()
    await world.say("Ann", "buy SV")
    service = Service(world.store)
    answer = await service.submit(world.table, 0, ["buy CS"], decision, "late")
    assert isinstance(answer, StaleDecision) and answer.lines == ("Ann: buy SV",)


async def test_14_9_after_an_undo_a_table_is_loaded_with_its_log(world: ServiceHarness) -> None:
    """Only the log says what a redo would bring back."""
    await world.say("Ann", "buy SV")
    await world.say("Ann", "undo")
    service = Service(world.store)
    view = await service.queries.view(world.table)
    assert view == await world.service.queries.view(world.table) and view.redo_seat == 0
    assert isinstance(await service.submit(world.table, 0, ["redo"], None, None), Completed)


async def test_14_9_memory_is_limited_in_megabytes(world: ServiceHarness) -> None:
    service = Service(world.store, keep_megabytes=0.1)
    tables = []
    for _ in range(6):
        info = await service.lobby.create("1830", None)
        tables.append(info.id)
        await service.queries.log(info.id)
    assert service.cache.megabytes <= 0.1 and 1 < service.cache.table_count < 6
    assert service.queries.peek(tables[-1]) is not None and service.queries.peek(tables[0]) is None


async def test_14_9_a_table_that_is_not_used_is_compact_and_plays_on(
    world: ServiceHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "RECENT", 1)
    service = Service(world.store)
    await play_randomly_with_checks(world, 5)
    expected = await service.queries.view(world.table)
    table, full = await service.cache.get(world.table, with_log=False), service.cache.megabytes
    other = await service.lobby.create("1830", None)
    await service.queries.view(other.id)
    sizes = sum(each.size for each in service.cache._tables.values()) / 1_000_000
    assert table.begun and service.cache.megabytes == sizes < 2 * full
    table.make_compact()
    assert await service.queries.view(world.table) == expected
    seat = expected.pending[0].seat
    line = engine.legal_lines(table.state, f"p{seat}")[0]
    table.make_compact()
    assert isinstance(await service.submit(world.table, seat, [line], None, None), Completed)
    assert await service.queries.view(world.table) == await Service(world.store).queries.view(world.table)


async def test_14_10_exports_and_long_logs_do_not_hold_up_other_tables(
    world: ServiceHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = dict[str, int]()

    def noted(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*arguments: Any, **details: Any) -> Any:
            threads[name] = threading.get_ident()
            return work(*arguments, **details)

        return wrapper

    monkeypatch.setattr("bot.features.game_files.feature.make_game_file", noted("export", make_game_file))
    monkeypatch.setattr("bot.hub.cache.build_table", noted("log", build_table))
    monkeypatch.setattr(cache, "LONG_LOG", 3)
    await play_randomly_with_checks(world, 5)
    service = Service(world.store)
    answer = await service.ask(world.table, "export text", person_id=world.people["Ann"])
    assert isinstance(answer, QueryAnswer) and answer.files
    assert threads.keys() == {"export", "log"} and threading.get_ident() not in threads.values()
