"""`railpost check` finds what is wrong, and a start notices damaged files."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.__main__ import app_for, open_service
from bot.config import parse_settings
from bot.operations.backups import ScheduledBackups
from bot.operations.check import check_pages, problems
from storage import InvalidStore, Store, StoreError, open_store
from tests.service.conftest import ServiceHarness
from tests.stores import run_sql, sqlite_only

FAULTS = {
    "UPDATE table_snapshots SET state = :bytes": "its stored position cannot be read",
    "UPDATE table_snapshots SET format_version = 99": "its stored position cannot be read",
    "UPDATE table_snapshots SET current_move = 1": "its last move is row 2, and the snapshot says row 1.",
    "UPDATE table_snapshots SET rewind_count = 7": "its log has 1 undos and redos, and the snapshot says 7.",
    "UPDATE moves SET events = :bytes WHERE seq = 2": "its log cannot be read",
    "UPDATE moves SET format_version = 99 WHERE seq = 2": "its log cannot be read",
    "DELETE FROM moves WHERE seq = 2": "its log cannot be read",
    "DELETE FROM moves WHERE seq = 6": "its log cannot be read",
}


async def found(store: Store) -> list[str]:
    return [problem async for problem in problems(store)]


async def play(world: ServiceHarness) -> None:
    await world.say("Ann", "buy SV")
    await world.say("Bob", "buy CS")
    await world.say("Bob", "undo")
    await world.say("Bob", "resign yes")
    async with world.store.begin() as unit:
        await unit.tables.update(world.table, status="running")


@pytest.mark.parametrize("sql", FAULTS)
async def test_14_7_each_fault_of_a_table_is_found(world: ServiceHarness, sql: str) -> None:
    await play(world)
    sql = sql.replace("seq = 6", "seq = 5")
    async with world.store.begin() as unit:
        await unit.move_log.snapshot(world.table)
    assert [problem for problem in await found(world.store) if "last move" not in problem] == []
    async with world.store.begin() as unit:
        values = {"bytes": b"\xc1"} if ":bytes" in sql else {}
        await run_sql(unit, sql, values)
    told = " ".join(await found(world.store))
    assert FAULTS.get(sql, "its log cannot be read") in told


@sqlite_only
async def test_14_7_orphans_and_a_store_without_its_schema_are_found(
    world: ServiceHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAILPOST_DATA", str(tmp_path))
    runner = CliRunner()
    whole = await asyncio.to_thread(runner.invoke, app_for(["check"]), ["check"])
    assert (whole.exit_code, whole.output) == (
        0, "Checked 1 table, 1 row of logs (1 in format 1): no problem.\n"
    )  # fmt: skip
    with sqlite3.connect(tmp_path / "railpost.db") as damaged:
        damaged.execute("UPDATE seats SET person_id = 99 WHERE id = 1")
        columns = "name, title, options, status, seed, host_id, location, created_at, pace, hints, palette"
        damaged.execute(
            f"INSERT INTO game_tables (id, code, {columns}) SELECT 7, 'ZZZ', {columns} FROM game_tables"
        )
    damaged.close()
    told = await asyncio.to_thread(runner.invoke, app_for(["check"]), ["check"])
    assert told.exit_code == 1
    assert "The file is damaged: row 1 of seats refers to a row of people that is missing." in told.output
    assert "Table ZZZ has no position." in told.output


@sqlite_only
async def test_14_7_damaged_files_are_noticed_at_the_start(world: ServiceHarness, tmp_path: Path) -> None:
    """Bytes of a page are overwritten, at forty places: no such file starts to serve."""
    await play(world)
    await world.store.close()
    path = tmp_path / "railpost.db"
    with closing(sqlite3.connect(path)) as file:
        file.execute("VACUUM")  # migrations leave free pages, whose bytes mean nothing
    whole, dice = path.read_bytes(), random.Random(14)
    unnoticed = []
    for number in range(40):
        # The header of a page that is not free: damage within a value is the check of logs to find.
        start = dice.randrange(1, len(whole) // 4096) * 4096
        path.write_bytes(whole[:start] + dice.randbytes(12) + whole[start + 12 :])
        try:
            async with await open_store(path) as store:
                await check_pages(store, tmp_path, at_start=True)
            unnoticed.append(number)
        except (InvalidStore, StoreError):
            pass
        for name in ("railpost.db-wal", "railpost.db-shm"):
            (tmp_path / name).unlink(missing_ok=True)
    assert unnoticed == []


@sqlite_only
@pytest.mark.parametrize("place", [0, 4096])
async def test_14_7_a_damaged_store_is_refused_with_the_line_that_restores_it(
    world: ServiceHarness, tmp_path: Path, place: int
) -> None:
    settings, path = parse_settings({"RAILPOST_DATA": str(tmp_path)}), tmp_path / "railpost.db"
    newest = await ScheduledBackups(world.store, settings).back_up_if_due(world.store.now())
    await world.store.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:place] + bytes(100) + whole[place + 100 :])
    for backup in (f"the newest backup: `railpost restore {newest}`", "a backup: `railpost restore FILE`"):
        with pytest.raises(InvalidStore) as refused:
            async with open_service(settings):
                pass
        assert str(refused.value).endswith(f". Restore {backup}; the damaged file is kept.")
        assert newest is not None
        newest.unlink(missing_ok=True)
