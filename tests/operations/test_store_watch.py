"""The file of the store vanishes, is replaced or cut, is new beside backups, or is copied without its log."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from bot.config import parse_settings
from bot.hub.request import Completed
from bot.operations.backups import FOLDER
from bot.operations.check import check_store
from bot.operations.status import ErrorCounter, StatusMonitor
from bot.operations.store_watch import StoreWatch, accept_store, check_start
from bot.service import Service
from storage import InvalidStore, StoreError, backup, open_store, restore
from tests.service.conftest import ServiceHarness
from tests.stores import sqlite_only


def delete(path: Path) -> None:
    for each in path.parent.glob("railpost.db*"):
        each.unlink()


def replace(path: Path) -> None:
    other = path.with_name("other.db")
    other.touch()
    other.replace(path)


def cut_log(path: Path) -> None:
    os.truncate(f"{path}-wal", 4096)


def overwrite_log(path: Path) -> None:
    with Path(f"{path}-wal").open("r+b") as log:
        log.seek(16)  # the first salt
        salt = log.read(4)
        log.seek(16)
        log.write(bytes(255 - byte for byte in salt))


def delete_log(path: Path) -> None:
    Path(f"{path}-wal").unlink()


@sqlite_only
@pytest.mark.parametrize("harm", [delete, replace, cut_log, delete_log, overwrite_log])
async def test_moves_are_refused_where_the_file_is_lost(
    world: ServiceHarness, harm: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    path = world.store.path
    assert path is not None
    monitor = StatusMonitor(world.service, [], ErrorCounter())
    assert isinstance(await world.say("Ann", "buy SV"), Completed)
    assert (await monitor.report()).is_healthy
    harm(path)
    for attempt in range(2):
        with pytest.raises(StoreError, match=r"^The store is not where it was, so nothing was changed"):
            await world.say("Bob", "buy CS", request=f"after {attempt}")
    with pytest.raises(StoreError, match="not where it was"):
        async with world.store.begin() as unit:
            await unit.settings.set("key", "value")
    report = await monitor.report()
    assert not report.is_healthy and "while the service runs; moves are refused." in report.problems[0]
    watch = StoreWatch(world.store)
    await watch.look()
    await watch.look()
    told = [each.getMessage() for each in caplog.records if each.name == "for the operator"]
    assert len(told) == 1 and "while the service runs. Moves are refused." in told[0]
    if harm in (delete, replace):
        (rescued,) = path.parent.glob("railpost-rescued-*.db")
        async with await open_store(rescued) as store:
            log = await Service(store).queries.log(world.table)
        assert [each.line for each in log if each.kind == "move"] == ["buy SV"]


@sqlite_only
async def test_a_rescue_for_which_there_is_no_room_is_tried_again(
    world: ServiceHarness, caplog: pytest.LogCaptureFixture
) -> None:
    path = world.store.path
    assert path is not None
    async with world.store.begin() as unit:
        await unit.settings.set("more than SQLite keeps in memory", "x" * 4_000_000)
    watch = StoreWatch(world.store)
    delete(path)
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, usual[1]))
    try:
        await watch.look()
        await watch.look()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert not list(path.parent.glob("railpost-rescued-*")), "half of it would be taken for the whole"
    await watch.look()
    await watch.look()
    (rescued,) = path.parent.glob("railpost-rescued-*")
    assert rescued.stat().st_size > 4_000_000 and rescued.stat().st_mode & 0o777 == 0o600
    first, then = [each.getMessage() for each in caplog.records if each.name == "for the operator"]
    assert " The open file cannot be copied: " in first and f" is in {rescued}: " in then


@sqlite_only
async def test_a_log_that_sqlite_begins_anew_is_no_loss(world: ServiceHarness) -> None:
    path = world.store.path
    assert path is not None
    begun, salts = Path(f"{path}-wal"), set()
    for number in range(40):
        async with world.store.begin() as unit:
            await unit.settings.set("key", f"{number:03}" * 100_000)
        salts.add(begun.read_bytes()[16:20])
    world.store.check_file()
    assert len(salts) > 1


@sqlite_only
async def test_a_file_that_is_moved_back_is_played_on(world: ServiceHarness) -> None:
    path = world.store.path
    assert path is not None
    path.rename(path.with_name("elsewhere.db"))
    with pytest.raises(StoreError, match="not where it was"):
        await world.say("Ann", "buy SV", request="first")
    path.with_name("elsewhere.db").rename(path)
    assert isinstance(await world.say("Ann", "buy SV", request="second"), Completed)


@sqlite_only
async def test_a_copy_of_an_idle_store_has_every_move(world: ServiceHarness, tmp_path: Path) -> None:
    path, watch = world.store.path, StoreWatch(world.store)
    assert path is not None
    assert isinstance(await world.say("Ann", "buy SV"), Completed)
    await watch.write_back_if_idle()
    assert Path(f"{path}-wal").stat().st_size
    await watch.write_back_if_idle()
    assert Path(f"{path}-wal").stat().st_size == 0
    copy = tmp_path / "copy.db"
    shutil.copyfile(path, copy)
    with closing(sqlite3.connect(copy)) as opened:
        assert opened.execute("SELECT count(*) FROM moves").fetchone() > (0,)
    assert isinstance(await world.say("Bob", "buy CS"), Completed)


async def test_a_store_that_was_closed_is_whole_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "railpost.db"
    async with await open_store(path) as store, store.begin() as unit:
        await unit.settings.set("key", "value")
    log = Path(f"{path}-wal")
    assert not log.exists() or not log.stat().st_size
    copy = tmp_path / "copy.db"
    shutil.copyfile(path, copy)
    async with await open_store(copy) as store, store.read() as unit:
        assert await unit.settings.get("key") == "value"


async def test_a_copy_without_its_log_is_suspicious(tmp_path: Path) -> None:
    path = tmp_path / "railpost.db"
    settings = parse_settings({"RAILPOST_DATABASE": f"sqlite:///{path}"})
    async with await open_store(path) as store:
        await backup(store, tmp_path / "backup.db")
    assert (await check_store(settings, None))[0] == [], "a new store is whole"
    found, checked = await check_store(settings, path)
    assert len(found) == 1 and "copy with `railpost backup`" in found[0]
    assert checked == "0 tables, 0 rows of logs (none)"
    assert (await check_store(settings, tmp_path / "backup.db"))[0] == []


@sqlite_only
async def test_a_new_store_beside_backups_has_to_be_wanted(world: ServiceHarness, tmp_path: Path) -> None:
    path, data = world.store.path, tmp_path / "data"
    assert path is not None
    check_start(tmp_path / "none.db", data)
    (data / FOLDER).mkdir(parents=True)
    newest = data / FOLDER / "railpost-20260601-120000.db"
    await backup(world.store, newest)
    check_start(path, data)
    with pytest.raises(InvalidStore, match=r"none\.db is a new store, and .* has 1 table\. Restore it"):
        check_start(tmp_path / "none.db", data)
    async with await open_store(tmp_path / "other.db"):
        pass
    with pytest.raises(InvalidStore, match=r"other\.db is another store"):
        check_start(tmp_path / "other.db", data)
    await restore(newest, tmp_path / "other.db")
    check_start(tmp_path / "other.db", data)
    async with await open_store(tmp_path / "new.db") as store:
        await accept_store(store, data)
    check_start(tmp_path / "new.db", data)  # it was begun by `--new`, and needs no second one
    async with world.store.begin(table=world.table) as unit:
        await unit.personal_data.delete_table(world.table)
    check_start(path, data)  # the same store, which retention has emptied


@sqlite_only
async def test_a_new_store_beside_a_rescued_one_has_to_be_wanted(
    world: ServiceHarness, tmp_path: Path
) -> None:
    """A service that is only started again would begin anew, and the rescued games would lie there."""
    path = world.store.path
    assert path is not None
    path.rename(tmp_path / "elsewhere.db")
    await StoreWatch(world.store).look()
    (rescued,) = path.parent.glob("*-rescued-*")
    with pytest.raises(InvalidStore, match=rf"is a new store, and .*{rescued.name} has 1 table\. Restore it"):
        check_start(path, tmp_path / "data")
    await restore(rescued, path)
    check_start(path, tmp_path / "data")


@sqlite_only
async def test_a_copy_without_games_hides_no_older_one(world: ServiceHarness, tmp_path: Path) -> None:
    """What was rescued on a full disk is empty or damaged, and a link may lead nowhere."""
    data, path = tmp_path / "data", tmp_path / "none.db"
    (data / FOLDER).mkdir(parents=True)
    oldest = data / FOLDER / "railpost-20260601-120000.db"
    await backup(world.store, oldest)
    async with await open_store(tmp_path / "new.db") as store:
        await backup(store, data / FOLDER / "railpost-20260602-120000.db")
    (tmp_path / "none-rescued-20260603-120000.db").touch()
    (tmp_path / "none-rescued-20260603-130000.db").write_bytes(b"no store" * 1000)
    (tmp_path / "none-rescued-20260603-140000.db").symlink_to("gone.db")
    with pytest.raises(InvalidStore, match=rf"is a new store, and .*{oldest.name} has 1 table\."):
        check_start(path, data)
    async with await open_store(path) as store:
        await accept_store(store, data)
    check_start(path, data)
