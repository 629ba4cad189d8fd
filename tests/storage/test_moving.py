"""A store moves from a file to PostgreSQL and back, with every row."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from storage import StoreError, move_store, moving, open_store
from storage.leadership import FileLock
from storage.models import Model
from tests.storage.conftest import new_table
from tests.storage.test_schema import store_of_first_revision
from tests.stores import needs_server, temporary_database, url_text


@pytest.fixture
async def golden(tmp_path: Path) -> Path:
    """A store with games of every title, of the newest revision."""
    path = tmp_path / "golden.db"
    store_of_first_revision(path)
    await (await open_store(path)).close()
    return path


def rows(path: Path) -> Iterator[tuple[object, ...]]:
    with sqlite3.connect(path) as file:
        for table in Model.metadata.sorted_tables:
            yield from file.execute(f"SELECT '{table.name}', * FROM {table.name} ORDER BY 2, 3")
    file.close()


async def moved_back(golden: Path, between: str) -> None:
    back = golden.with_name("back.db")
    there = await move_store(golden, between)
    assert there["moves"] > 200 and there["orders"] > 0
    assert await move_store(between, back) == there
    assert list(rows(back)) == list(rows(golden))
    async with await open_store(back) as store:
        await new_table(store)


async def test_every_row_is_moved_and_comes_back(golden: Path) -> None:
    await moved_back(golden, str(golden.with_name("between.db")))


@needs_server
async def test_postgresql_and_back(golden: Path) -> None:
    with temporary_database() as url:
        await moved_back(golden, url_text(url))
        async with await open_store(url_text(url)) as store:
            await new_table(store)  # whose id is new too
        with pytest.raises(StoreError, match="has a store already"):
            await move_store(golden, url_text(url))


async def test_a_store_in_use_is_not_moved(golden: Path) -> None:
    lock = FileLock(golden, ["work"])
    assert await lock.acquire()
    with pytest.raises(StoreError, match=r"cannot be moved while a service uses it; stop the"):
        await move_store(golden, golden.with_name("other.db"))
    await lock.release()
    with pytest.raises(StoreError, match="where the store is already"):
        await move_store(golden, golden)


@pytest.mark.parametrize("content", [None, b"not a store"])
async def test_a_move_that_cannot_begin_names_the_file_and_leaves_none(
    content: bytes | None, tmp_path: Path
) -> None:
    source = tmp_path / "source.db"
    if content:
        source.write_bytes(content)
    with pytest.raises(StoreError, match=r"source\.db"):
        await move_store(source, tmp_path / "target.db")
    assert not (tmp_path / "target.db").exists()


async def test_why_a_database_cannot_be_opened_is_told_to_the_operator(golden: Path) -> None:
    """Not only that it does not answer, as players read it: the password may be wrong."""
    pytest.importorskip("psycopg")
    away = "postgresql+psycopg://nobody:secret@127.0.0.1:1/x"
    told = r"^postgresql\+psycopg://nobody:\*\*\*@127\.0\.0\.1:1/x cannot be opened as a store: connection "
    with pytest.raises(StoreError, match=told):
        await move_store(golden, away)
    with pytest.raises(StoreError, match=told):
        await move_store(away, golden.with_name("other.db"))
    assert not golden.with_name("other.db").exists()
    with pytest.raises(StoreError, match=told):
        await open_store(away, migrated=False)


async def test_a_copy_that_differs_is_not_kept(golden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = moving._copy

    def damaged(old: object, new: object, table: object) -> int:
        count = copy(old, new, table)  # type: ignore[arg-type]
        if getattr(table, "name", "") == "moves":
            new.exec_driver_sql("UPDATE moves SET line = 'pass' WHERE seq = 7")  # type: ignore[attr-defined]
        return count

    monkeypatch.setattr(moving, "_copy", damaged)
    other = golden.with_name("other.db")
    with pytest.raises(StoreError, match=r"A row of moves is not as it was in the copy, at \(\d+, 7\)\.$"):
        await move_store(golden, other)
    assert all(row[0] == "settings" for row in rows(other)), "nothing was kept"
    monkeypatch.undo()
    await move_store(golden, other)
