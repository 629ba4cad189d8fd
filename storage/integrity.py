"""Checks of the database itself: its pages, and the references between its rows."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from storage.errors import InvalidStore
from storage.store import Store
from storage.store_files import open_read_only, reading_uri, verdict_text

MAX_PROBLEMS = 20


async def check_integrity(store: Store) -> list[str]:
    """The problems of the database, each in a sentence. Checks all of it, and takes its time.

    PostgreSQL guards its own pages and references; there only the rows are read.
    """
    if store.path is not None:
        return await asyncio.to_thread(_check_file, store.path)
    async with store.read() as unit:
        return [f"Table {code} has no position." for code in await unit.tables.without_position()]


def _check_file(path: Path) -> list[str]:
    problems = []
    try:
        with open_read_only(path) as connection:
            for (verdict,) in connection.execute(f"PRAGMA integrity_check({MAX_PROBLEMS})"):
                if verdict != "ok":
                    problems.append(f"The file is damaged: {verdict_text(verdict)}.")
            broken = connection.execute("PRAGMA foreign_key_check").fetchmany(MAX_PROBLEMS)
            for table, row, parent, _ in broken:
                problems.append(f"Row {row} of {table} refers to a row of {parent} that is missing.")
            for (code,) in connection.execute(
                "SELECT code FROM game_tables WHERE id NOT IN (SELECT table_id FROM table_snapshots)"
            ):
                problems.append(f"Table {code} has no position.")
    except InvalidStore as error:
        problems.append(str(error))
    return problems


async def quick_check(store: Store) -> None:
    """Raise InvalidStore for a file with damaged pages. It reads the whole file once, about 1 GB a second."""
    if store.path is not None:
        await asyncio.to_thread(_quick_check, store.path)


def _quick_check(path: Path) -> None:
    try:
        with closing(sqlite3.connect(reading_uri(path), uri=True, timeout=10)) as connection:
            (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        verdict = str(error)
    if verdict != "ok":
        raise InvalidStore(
            f"{path} is damaged ({verdict_text(verdict)}); restore a backup with `railpost restore`, which "
            "keeps the damaged file, or see with `railpost check` what is concerned."
        )
