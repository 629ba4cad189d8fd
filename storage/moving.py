"""A store as a whole moves into another database: from SQLite to PostgreSQL, or back.

All rows of all tables are copied in one transaction, and read again and compared before it is committed: a
move that fails leaves the new database empty. The former store is not changed.
"""

import asyncio
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, CursorResult, String, Table, delete, func, insert, select, text
from sqlmodel import col

from storage.database import create_engine, display_name, is_file, store_url
from storage.errors import StoreError, as_store_errors
from storage.leadership import no_work_at, server_has_work
from storage.migrations import check_revision, current_revision, migrate, refuse_older
from storage.models import STORE_ID, Model, Setting
from storage.store import errors_of_opening
from storage.store_files import check_store_path, open_read_only

ROWS_AT_ONCE = 500


async def move_store(source: str | Path, target: str | Path) -> dict[str, int]:
    """Copy a store into a new file or an empty database; the number of rows of each table.

    Raises StoreError where a service uses the source, where it is of another revision, where the target has
    rows already, and where a row of the copy is not as it was.
    """
    return await asyncio.to_thread(_move, store_url(source), store_url(target))


def _move(source: URL, target: URL) -> dict[str, int]:
    if source == target:
        raise StoreError(f"{display_name(target)} is where the store is already; name another database.")
    with ExitStack() as end, as_store_errors("The store cannot be moved"):
        if is_file(source):
            end.enter_context(open_read_only(Path(str(source.database))))
            end.enter_context(no_work_at(Path(str(source.database)), "moved"))
        with errors_of_opening(source):
            old = end.enter_context(create_engine(source, writes=False).connect())
        _check(old, source)
        if is_file(target):
            check_store_path(Path(str(target.database)))
        with errors_of_opening(target):
            new = end.enter_context(create_engine(target, writes=True).connect())
        migrate(new)
        with new.begin():
            new.execute(delete(Setting).where(col(Setting.key) == STORE_ID))
            if any(new.scalar(select(func.count()).select_from(table)) for table in _tables()):
                raise StoreError(f"{display_name(target)} has a store already; name an empty database.")
            counts = {table.name: _copy(old, new, table) for table in _tables()}
            for table in _tables():
                _compare(old, new, table)
        return counts


def _tables() -> list[Table]:
    """The tables, each after those to which it refers."""
    return Model.metadata.sorted_tables


def _check(old: Connection, source: URL) -> None:
    revision = current_revision(old)
    check_revision(revision, display_name(source))
    refuse_older(revision, display_name(source))
    if not is_file(source) and server_has_work(old):
        raise StoreError(f"A service works at {display_name(source)}; stop it first.")


def _rows(connection: Connection, table: Table) -> CursorResult[Any]:
    """All rows by their key, a few in memory at a time. Texts are ordered by their bytes, as SQLite does."""
    is_server = connection.dialect.name == "postgresql"
    order = [
        column.collate("C") if is_server and isinstance(column.type, String) else column
        for column in table.primary_key
    ]
    return connection.execute(select(table).order_by(*order).execution_options(yield_per=ROWS_AT_ONCE))


def _copy(old: Connection, new: Connection, table: Table) -> int:
    """Copy the rows of a table; returns how many."""
    count = 0
    for some in _rows(old, table).mappings().partitions():
        new.execute(insert(table), [dict(row) for row in some])
        count += len(some)
    if new.dialect.name == "postgresql" and "id" in table.columns:
        last = f"(SELECT coalesce(max(id), 0) + 1 FROM {table.name})"
        new.execute(text(f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), {last}, false)"))
    return count


def _compare(old: Connection, new: Connection, table: Table) -> None:
    """Raises StoreError for the first row that is not the same in both."""
    for was, now in zip_longest(_rows(old, table), _rows(new, table)):
        if was is None or now is None or tuple(was) != tuple(now):
            key = tuple((was or now)._mapping[column.name] for column in table.primary_key)
            raise StoreError(f"A row of {table.name} is not as it was in the copy, at {key}.")
