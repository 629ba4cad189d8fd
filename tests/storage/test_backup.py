"""Backup and restore beside a running service."""

import asyncio
import resource
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from storage import (
    InvalidStore,
    NewerStore,
    Store,
    StoreError,
    backup,
    open_store,
    restore,
)
from storage.leadership import FileLock
from storage.models import STORE_ID
from storage.store_files import sqlite_errors_as_store_errors
from tests.storage.conftest import move, new_message, new_table
from tests.storage.test_schema import store_of_first_revision
from tests.stores import StoreFactory


@pytest.fixture
def address(tmp_path: Path, places: StoreFactory) -> Iterator[str]:
    """Only a store in a file can be backed up."""
    with places.empty_store("sqlite", tmp_path) as found:
        yield found


async def play(store: Store, table: int, moves: int, start: int = 0) -> None:
    for seq in range(start, start + moves):
        async with store.begin() as unit:
            name = f"{table}-{seq + 1}"
            await unit.move_log.append(table, seq, [move(name)], name.encode() * 500)
            await unit.move_log.save_request_result(name, b"ok")
            await unit.outbox.enqueue(new_message(name))


async def whole(path: Path) -> int:
    """The length of the longest log, after checking each log against snapshot, results and outbox."""
    longest = 0
    async with await open_store(path) as store, store.read() as unit:
        for table in await unit.tables.find():
            head = await unit.move_log.snapshot(table.id)
            assert len(await unit.move_log.rows(table.id)) == head.seq
            for seq in range(1, head.seq + 1):
                assert await unit.move_log.request_result(f"{table.id}-{seq}") == b"ok"
                assert await unit.outbox.get(f"{table.id}-{seq}") is not None
            longest = max(longest, head.seq)
    return longest


async def test_a_backup_while_several_write_is_of_one_moment(store: Store, tmp_path: Path) -> None:
    tables = [await new_table(store) for _ in range(3)]
    for table in tables:
        await play(store, table, 20)
    copied = asyncio.Event()

    async def write(table: int) -> int:
        seq = 20
        while not copied.is_set():
            await play(store, table, 1, seq)
            seq += 1
        return seq

    writing = [asyncio.create_task(write(table)) for table in tables]
    copies = [tmp_path / "backups" / f"{n}.db" for n in range(4)]
    for copy in copies:
        await backup(store, copy)
        await asyncio.sleep(0.01)
    copied.set()
    longest = max(await asyncio.gather(*writing))
    lengths = [await whole(copy) for copy in copies]
    assert lengths == sorted(lengths) and 20 <= lengths[0] <= longest
    assert lengths[-1] > 20, "the copies were to be made meanwhile"
    assert await whole(tmp_path / "railpost.db") == longest


async def test_a_backup_is_one_file_and_never_overwrites(store: Store, tmp_path: Path) -> None:
    await play(store, await new_table(store), 3)
    folder = tmp_path / "backups"
    await backup(f"sqlite:///{tmp_path / 'railpost.db'}", folder / "a.db")
    assert [path.name for path in folder.iterdir()] == ["a.db"]
    before = (folder / "a.db").read_bytes()
    with pytest.raises(StoreError, match="exists already"):
        await backup(store, folder / "a.db")
    assert (folder / "a.db").read_bytes() == before
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be written"):
        await backup(store, tmp_path / "file" / "a.db")
    with pytest.raises(InvalidStore, match="no file"):
        await backup(tmp_path / "nowhere.db", folder / "b.db")


async def test_a_backup_for_which_there_is_no_room_leaves_nothing(store: Store, tmp_path: Path) -> None:
    """The next attempt has another name, so what was left of each would fill the disk."""
    (folder := tmp_path / "backups").mkdir()
    async with store.begin() as unit:
        await unit.settings.set("more than SQLite keeps in memory", "x" * 4_000_000)
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, usual[1]))
    try:
        with pytest.raises(StoreError, match=r"copy\.db cannot be used: "):
            await backup(store, folder / "copy.db")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert not list(folder.iterdir())


async def test_restore_to_a_new_place(store: Store, tmp_path: Path) -> None:
    await play(store, await new_table(store), 5)
    await backup(store, tmp_path / "copy.db")
    assert await restore(tmp_path / "copy.db", tmp_path / "elsewhere" / "new.db") is None
    assert await whole(tmp_path / "elsewhere" / "new.db") == 5


async def test_restore_over_a_running_store(store: Store, tmp_path: Path) -> None:
    table = await new_table(store)
    await play(store, table, 5)
    await backup(store, tmp_path / "copy.db")
    await play(store, table, 5, 5)
    async with store.read() as unit:
        former = await unit.settings.get(STORE_ID)
    kept = await restore(tmp_path / "copy.db", store)
    assert kept is not None and kept.parent == tmp_path
    async with store.read() as unit:
        assert (await unit.move_log.snapshot(table)).seq == 5
        assert await unit.settings.get(STORE_ID) not in ("", former)
    await play(store, table, 2, 5)
    async with store.read() as unit:
        assert len(await unit.move_log.rows(table)) == 7
    assert await whole(kept) == 10


async def test_an_old_backup_comes_back_at_the_newest_revision(
    store: Store, tmp_path: Path, later_revision: str
) -> None:
    store_of_first_revision(tmp_path / "old.db")
    await restore(tmp_path / "old.db", store)
    async with store.begin() as unit:
        assert (await unit.people.get(1)).name == "Ann"
    assert store.path is not None
    with sqlite3.connect(store.path) as new:
        assert new.execute("SELECT version_num FROM alembic_version").fetchone() == (later_revision,)
        assert new.execute("SELECT count(*) FROM later").fetchone() == (0,)
    new.close()
    with sqlite3.connect(tmp_path / "old.db") as old:
        assert old.execute("SELECT version_num FROM alembic_version").fetchone() == ("0016",)
    old.close()


async def refused(source: Path, store: Store, error: type[Exception], said: str) -> None:
    """The restore is refused with a sentence that names the file; the store and its folder stay."""
    assert store.path is not None
    before = sorted(path.name for path in store.path.parent.iterdir())
    with pytest.raises(error, match=said) as refusal:
        await restore(source, store)
    assert source.name in str(refusal.value)
    async with store.read() as unit:
        assert len(await unit.tables.find()) == 1
    assert sorted(path.name for path in store.path.parent.iterdir()) == before


async def test_restore_refuses_what_is_no_store(store: Store, tmp_path: Path) -> None:
    await new_table(store)
    sources = tmp_path / "sources"
    sources.mkdir()
    await refused(sources / "missing.db", store, InvalidStore, "no file")
    (sources / "garbage.db").write_bytes(b"garbage " * 1000)
    await refused(sources / "garbage.db", store, InvalidStore, "not a Railpost store")
    (sources / "empty.db").touch()
    await refused(sources / "empty.db", store, InvalidStore, "not a Railpost store")
    with sqlite3.connect(sources / "other.db") as other:
        other.execute("CREATE TABLE recipes (name TEXT)")
    other.close()
    await refused(sources / "other.db", store, InvalidStore, "not a Railpost store")


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.95, None])
async def test_restore_refuses_a_copy_that_is_cut_or_has_a_page_of_nonsense(
    store: Store, tmp_path: Path, share: float | None
) -> None:
    await play(store, await new_table(store), 30)
    source = tmp_path / "sources" / "copy.db"
    await backup(store, source)
    content = source.read_bytes()
    nonsense = content[: 4096 * 6] + b"\x5a" * 4096 + content[4096 * 7 :]
    source.write_bytes(nonsense if share is None else content[: int(len(content) * share)])
    await refused(source, store, InvalidStore, "damaged" if share is None else "damaged|not a Railpost store")


async def test_restore_refuses_a_newer_version(store: Store, tmp_path: Path) -> None:
    await new_table(store)
    source = tmp_path / "sources" / "newer.db"
    await backup(store, source)
    with sqlite3.connect(source) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    await refused(source, store, NewerStore, "revision 9999")


async def test_restore_does_not_overwrite_another_programs_file(store: Store, tmp_path: Path) -> None:
    await backup(store, tmp_path / "copy.db")
    (tmp_path / "letter.txt").write_text("Dear Ann")
    with pytest.raises(InvalidStore, match=r"letter\.txt"):
        await restore(tmp_path / "copy.db", tmp_path / "letter.txt")
    assert (tmp_path / "letter.txt").read_text() == "Dear Ann"


def page_of_nonsense(content: bytes) -> bytes:
    return content[: 4096 * 6] + b"\x5a" * 4096 + content[4096 * 7 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "a page of nonsense": page_of_nonsense,
    "cut off": lambda content: content[: len(content) // 2],
    "its schema": lambda content: content[:100] + bytes(3996) + content[4096:],
    "empty": lambda content: b"",
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_store_is_replaced_by_a_backup_and_kept(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "railpost.db"
    async with await open_store(path) as store:
        await play(store, await new_table(store), 30)
        await backup(store, tmp_path / "copy.db")
    damaged = DAMAGES[damage](path.read_bytes())
    path.write_bytes(damaged)
    kept = await restore(tmp_path / "copy.db", path)
    assert kept is not None and (kept.read_bytes() == damaged or damage == "empty")
    assert kept.stat().st_mode & 0o777 == 0o600
    assert await whole(path) == 30
    assert not list(tmp_path.glob(".*"))


async def test_a_file_that_a_service_uses_is_not_replaced_under_it(tmp_path: Path) -> None:
    path = tmp_path / "railpost.db"
    async with await open_store(path) as store:
        await backup(store, tmp_path / "copy.db")
    path.write_bytes(cut := path.read_bytes()[:10_000])
    service = FileLock(path, ["clock"])
    assert await service.acquire()
    with pytest.raises(StoreError, match="stop the service first"):
        await restore(tmp_path / "copy.db", path)
    assert path.read_bytes() == cut
    await service.release()
    await restore(tmp_path / "copy.db", path)
    assert await whole(path) == 0


async def test_the_store_of_a_newer_version_is_replaced_by_the_backup_from_before(tmp_path: Path) -> None:
    """As an update is taken back: the newer version has migrated the store."""
    path = tmp_path / "railpost.db"
    async with await open_store(path) as store:
        await play(store, await new_table(store), 3)
        await backup(store, tmp_path / "before.db")
    with sqlite3.connect(path) as newer:
        newer.execute("UPDATE alembic_version SET version_num = '9999'")
    newer.close()
    with pytest.raises(NewerStore, match="restore a backup from before"):
        await open_store(path)
    kept = await restore(tmp_path / "before.db", path)
    assert await whole(path) == 3
    assert kept is not None
    with sqlite3.connect(kept) as former:
        assert former.execute("SELECT version_num FROM alembic_version").fetchone() == ("9999",)
    former.close()


def test_a_disk_that_is_full_may_be_the_reason(tmp_path: Path) -> None:
    """SQLite says no more than that, where it has no room for the files beside the store."""
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR
    with (
        pytest.raises(StoreError, match="is the disk full"),
        sqlite_errors_as_store_errors(tmp_path / "s.db"),
    ):
        raise error
