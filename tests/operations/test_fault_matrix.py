"""The fault matrix of docs/hosting.md: each row has tests, and those that no other module has are here."""

from __future__ import annotations

import os
import re
import sqlite3
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from bot.__main__ import run_command, run_service
from bot.hub.request import CommandResult, Completed
from bot.operations.check import problems
from bot.operations.status import ErrorCounter, StatusMonitor, disk_problems
from bot.service import Service
from storage import StoreError, backup, open_store
from storage.store_files import reading_uri
from tests.service.conftest import NAMES, ServiceHarness
from tests.storage.conftest import ManualClock
from tests.stores import run_sql, sqlite_only
from tests.tables import started

ROOT = Path(__file__).parent.parent.parent
ROWS = re.search(r"## Faults\n(.*?)\n## ", (ROOT / "docs" / "hosting.md").read_text(), re.DOTALL)
FAULTS = (
    "Disk full", "Read-only", "Locked", "Damaged file", "Damaged table", "Database away",
    "Database hangs", "Service hangs", "Store from before 1.0.0", "Discord away",
    "Token revoked or wrong", "IMAP away", "SMTP away", "Clock set by a day", "Two services",
    "Picture worker hangs", "Backlog", "Store deleted or replaced", "Write-ahead log cut or overwritten",
    "Start beside backups or a rescued store", "Copy without its log", "Killed",
)  # fmt: skip


def test_14_each_row_of_the_matrix_has_tests() -> None:
    assert ROWS is not None
    rows = [
        [cell.strip() for cell in line.strip("| ").split(" | ")]
        for line in ROWS[1].splitlines()
        if line.startswith("| ") and not line.startswith("| fault")
    ]
    assert tuple(row[0] for row in rows) == FAULTS
    for fault, *_, tests in rows:
        named = re.findall(r"`(\w+/\w+\.py): (\w+)`", tests)
        assert named, fault
        for path, name in named:
            assert re.search(rf"^(async )?def {name}\(", (ROOT / "tests" / path).read_text(), re.MULTILINE), (
                name
            )


async def say(world: ServiceHarness, line: str) -> CommandResult | StoreError:
    try:
        return await world.say("Ann", line, request="once")
    except StoreError as error:
        return error


@sqlite_only
async def test_a_full_disk_refuses_in_a_sentence_and_loses_nothing(world: ServiceHarness) -> None:
    async with world.store.begin() as unit:
        ((pages,),) = await run_sql(unit, "PRAGMA page_count")
        await run_sql(unit, f"PRAGMA max_page_count = {pages}")
        ((free,),) = await run_sql(unit, "PRAGMA freelist_count")
    assert free < 5
    told: list[CommandResult | StoreError] = []
    for number in range(40):
        try:
            told.append(await world.say("Ann", "plan buy SV", request=f"plan{number}"))
            async with world.store.begin() as unit:
                await unit.settings.set(f"padding{number}", "x" * 4000)
        except StoreError as error:
            told.append(error)
            break
    assert str(told[-1]).endswith("database or disk is full.")
    assert "player" in str(await world.service.ask(world.table, "status", person_id=world.people["Ann"]))
    assert isinstance(await say(world, "buy SV"), StoreError | Completed)
    async with world.store.begin() as unit:
        await run_sql(unit, "PRAGMA max_page_count = 1000000")
    assert isinstance(await say(world, "buy SV"), Completed)
    assert await world.lines() == ["buy SV"]


@sqlite_only
async def test_health_tells_of_a_disk_that_is_full_or_read_only(
    world: ServiceHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert world.store.path
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=3_000_000))
    monkeypatch.setattr("os.access", lambda *_: False)
    path = world.store.path
    monitor = StatusMonitor(world.service, (), ErrorCounter(), data=path.parent)
    assert (await monitor.report()).problems == [
        f"{path} cannot be written.",
        f"The disk of {path} has 3 MB left.",
        f"{path.parent} cannot be written.",  # there are emails and pictures, also beside PostgreSQL
    ]
    assert [*disk_problems(None, path.parent)][1:] == [f"The disk of {path.parent} has 3 MB left."]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_a_read_only_folder_refuses_the_start_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(0o500)
    with pytest.raises(StoreError, match="cannot be written"):
        await open_store(tmp_path / "data" / "railpost.db")


def test_a_log_that_cannot_be_written_refuses_the_start_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit status is one that a restart may help."""
    (tmp_path / "railpost.log").mkdir()
    monkeypatch.setenv("RAILPOST_DATA", str(tmp_path))
    mask = os.umask(0o022)
    try:
        assert run_command(run_service) == 1
    finally:
        os.umask(mask)
    assert f"{tmp_path}/railpost.log cannot be written: Is a directory." in capsys.readouterr().err


@sqlite_only
async def test_a_store_that_cannot_be_written_can_still_be_asked(world: ServiceHarness, address: str) -> None:
    """As after a remount for reading only: questions are answered, and a move is one sentence."""
    async with await open_store(address, migrated=False) as reading:
        service = Service(reading)
        answer = await service.ask(world.table, "status", person_id=world.people["Ann"])
        assert "player" in str(answer)
        with pytest.raises(StoreError, match=r"readonly database\.$"):
            await service.submit(world.table, 0, ["buy SV"], None, "r")
    assert isinstance(await world.say("Ann", "buy SV", request="r"), Completed)


@sqlite_only
async def test_a_lock_by_another_program_is_waited_for_or_one_sentence(
    world: ServiceHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.database.LOCK_TIMEOUT", 0.1)
    locker = sqlite3.connect(tmp_path / "railpost.db", isolation_level=None)
    async with await open_store(tmp_path / "railpost.db") as store:
        service = Service(store)
        locker.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"database is locked \(by another program; end that\)\.$"):
            await service.submit(world.table, 0, ["buy SV"], None, "r")
        locker.execute("ROLLBACK")
        locker.close()
        assert isinstance(await service.submit(world.table, 0, ["buy SV"], None, "r"), Completed)


@pytest.mark.parametrize("days", [-1, 1])
async def test_a_clock_that_is_set_by_a_day_holds_no_move_and_no_message(
    address: str, clock: ManualClock, days: int
) -> None:
    async with await open_store(address, clock) as store:
        world = ServiceHarness(store, Service(store), {})
        for name in NAMES:
            await world.person(name, discord=str(len(name) + len(world.people)))
        info = await started(world.service, world.people)
        world.table = info.id
        clock.advance(days=days)
        assert isinstance(await world.say("Ann", "buy SV", request="r"), Completed)
        assert isinstance(await world.say("Ann", "buy SV", request="r"), Completed)
        async with store.begin() as unit:
            due = await unit.outbox.lease_due("discord", 50, timedelta(minutes=1))
            waiting = (await unit.outbox.queue_status("discord")).pending
        keys = {message.ordering_key for message in due}
        assert due and waiting >= len(due) and len(keys) == len(due)


@sqlite_only
async def test_a_store_on_a_disk_for_reading_only_can_be_checked_and_backed_up(
    world: ServiceHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite keeps the index of its log beside a file, which it cannot there."""
    path = world.store.path
    assert path is not None
    await world.store.close()
    access = os.access
    monkeypatch.setattr("os.access", lambda at, mode: at != path.parent and access(at, mode))
    before = sorted(path.parent.iterdir())
    async with await open_store(path, migrated=False) as reading:
        assert [problem async for problem in problems(reading)] == []
    await backup(path, tmp_path / "elsewhere" / "copy.db")
    assert sorted(path.parent.iterdir()) == sorted([*before, tmp_path / "elsewhere"])
    (path.parent / "railpost.db-wal").write_bytes(b"changes")
    assert "immutable" not in reading_uri(path), "what is only in the log would not be read"


def test_a_reader_of_the_output_that_ends_first_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAILPOST_DATA", str(tmp_path))

    def write() -> None:
        raise ExceptionGroup("of the tasks", [BrokenPipeError()])

    assert (run_command(write), capsys.readouterr().err) == (1, "")
