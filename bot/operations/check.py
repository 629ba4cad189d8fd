"""`railpost check`: is everything in the store whole?

The pages of the file, the references between rows, the schema, and for each table: whether its log can be
read, whether folding it leads to the stored position, and whether the counts beside it agree. Nothing is
changed. Each problem is one line.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

import engine
from bot.config import Settings, load_settings
from bot.hub.loading import UnreadableTable, build_table, check_format, load_metadata
from bot.operations.backups import existing_backups
from engine.core.words import counted
from storage import (
    DamagedStore,
    LogRow,
    Store,
    StoreError,
    TableSnapshot,
    check_integrity,
    open_store,
    quick_check,
    resolve_line_of_play,
)


async def problems(store: Store) -> AsyncIterator[str]:
    """Every problem of a store, in a sentence."""
    for sentence in await check_integrity(store):
        yield sentence
    try:
        async with store.read() as unit:
            tables = await unit.tables.find()
    except StoreError as error:
        yield str(error)
        return
    for table in tables:
        try:
            async with store.read() as unit:
                snapshot = await unit.move_log.snapshot(table.id)
                rows = await unit.move_log.rows(table.id)
                metadata = await load_metadata(unit, table.id)
            built = build_table(metadata, rows)
        except UnreadableTable as error:
            yield f"Table {table.code}: its log cannot be read: {_cause(error)}."
        except StoreError as error:
            yield f"Table {table.code}: {error}"
        else:
            for problem in _snapshot_problems(snapshot, rows):
                yield f"Table {table.code}: {problem}"
            if not built.begun and table.status in ("running", "paused", "finished"):
                yield f"Table {table.code}: it is {table.status}, and its log has no first position."
            elif built.begun and (wrong := _position_problem(snapshot, built.state)):
                yield f"Table {table.code}: {wrong}"


def _cause(error: BaseException) -> str:
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {cause}".rstrip(".")


def _position_problem(snapshot: TableSnapshot, folded: engine.State) -> str | None:
    try:
        check_format(snapshot.format_version)
        state = engine.decode_state(snapshot.state)
    except Exception as error:
        return f"its stored position cannot be read ({_cause(error)}); it is made again from the log."
    if state != folded:
        return "its stored position is not the one that its log leads to."
    return None


def _snapshot_problems(snapshot: TableSnapshot, rows: list[LogRow]) -> Iterator[str]:
    current = resolve_line_of_play(rows).current_move
    if snapshot.current_move != current:
        yield f"its last move is row {current}, and the snapshot says row {snapshot.current_move}."
    rewinds = sum(row.rewinds_to is not None for row in rows)
    if snapshot.rewind_count != rewinds:
        yield f"its log has {rewinds} undos and redos, and the snapshot says {snapshot.rewind_count}."


async def check_store(settings: Settings, path: Path | None) -> tuple[list[str], str]:
    """The problems of the store or of a backup file, and what was checked, in a sentence."""
    async with await open_store(path or settings.database_url, migrated=False) as store:
        found = [problem async for problem in problems(store)]
        try:
            async with store.read() as unit:
                tables = await unit.tables.find()
                counts = await unit.move_log.count_by_format()
        except StoreError:
            return found, "what can be read"
    rows = sum(counts.values())
    formats = ", ".join(f"{count} in format {version}" for version, count in sorted(counts.items()))
    if not tables and path is not None and _has_log(path):
        found.append(
            f"{path} has no tables. If it is a copy of a store in use, its games are still in the file "
            "with -wal at its end beside the original: copy with `railpost backup`."
        )
    return found, f"{counted(len(tables), 'table')}, {counted(rows, 'row')} of logs ({formats or 'none'})"


def _has_log(path: Path) -> bool:
    """Whether SQLite keeps a log beside the file (SQLite's file format §1.3.3); a backup has none."""
    with path.open("rb") as file:
        return file.read(20)[18:] == b"\x02\x02"


def command(
    path: Annotated[Path | None, typer.Argument(help="A backup; by default the store itself.")] = None,
) -> None:
    """Check the store or a backup: its file, logs and positions.

    Nothing is changed.
    """
    found, checked = asyncio.run(check_store(load_settings(), path))
    for problem in found:
        typer.echo(problem)
    typer.echo(f"Checked {checked}: {counted(len(found), 'problem') if found else 'no problem'}.")
    if found:
        raise typer.Exit(1)


SMALL_STORE = 64 * 1024 * 1024
"""Bytes of a store that is checked before the service begins; a larger one is checked meanwhile."""


async def check_pages(store: Store, data: Path, *, at_start: bool) -> None:
    """Raises DamagedStore for a store with damaged pages: at a start for a small one, while the service runs
    for a large one. data: see `naming_a_backup`."""
    if store.path is not None and (store.path.stat().st_size <= SMALL_STORE) == at_start:
        with naming_a_backup(data):
            await quick_check(store)


@contextmanager
def naming_a_backup(data: Path) -> Iterator[None]:
    """A damaged store is refused with the line that restores it. data: the folder with `backups/`."""
    try:
        yield
    except DamagedStore as error:
        backups = [path for _, path in existing_backups(data)]
        which = (
            f"the newest backup: `railpost restore {backups[-1]}`"
            if backups
            else ("a backup: `railpost restore FILE`")
        )
        raise DamagedStore(f"{error} Restore {which}; the damaged file is kept.") from error
