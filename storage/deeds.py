"""What is done for every move: a glance at the table, and a deed.

Theory. Who keeps tables in memory has to know whether what he has still holds. A glance tells: how
long the log is, which store this is, and the mark of all that is known of tables and people beside
their logs, which changes with every unit that changes any of it. So as long as a glance says the
same, nothing else has to be read. A deed is a move as plain values: rows, state, parcels, answer. It
is kept only where its log is as long as its maker thought and the mark is still the one that he saw.

Glances and deeds of many tables are run in lots, each lot in one visit to the database; a lot of
deeds is one turn of the writer, and thus one commit. Each deed has a savepoint, so it fails alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ScalarSelect
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlmodel import bindparam, col, select

from storage import moves, outbox
from storage.direct import Execute, at_once
from storage.errors import StoreError
from storage.installation import INCARNATION, MARK
from storage.lots import Lots
from storage.tables import Answer, Entry, Head, Parcel, Setting
from storage.work import unbroken
from storage.writer import Writer, not_kept


@dataclass(frozen=True, slots=True)
class Deed:
    """What is done at one table at one moment: rows of its log with the state that they lead to,
    parcels, and the answer to a request.

    expected: the last `seq` that its maker knew. mark: as of his glance; None in a unit that has made
    sure by itself.
    """

    table: int
    at: datetime
    expected: int
    mark: str | None
    entries: Sequence[Entry] = ()
    state: bytes = b""
    parcels: Sequence[Parcel] = ()
    request: str | None = None
    answer: bytes = b""


class Glance(NamedTuple):
    """How a table stands in the store. seq: of its last row, None where there is no such table.

    answer: what the request that was asked about was answered before.
    """

    incarnation: str
    mark: str
    seq: int | None
    answer: bytes | None


def _setting(key: str) -> ScalarSelect[str]:
    return select(Setting.value).where(col(Setting.key) == key).scalar_subquery()


_LOOK = select(
    _setting(INCARNATION),
    _setting(MARK),
    select(Head.seq).where(col(Head.table_id) == bindparam("at_table")).scalar_subquery(),
    select(Answer.body).where(col(Answer.request) == bindparam("asked")).scalar_subquery(),
)


def _look(execute: Execute, errands: Sequence[tuple[int, str | None]]) -> list[Glance | Exception]:
    found: list[Glance | Exception] = []
    for table, request in errands:
        ((incarnation, mark, seq, answer),) = execute(_LOOK, {"at_table": table, "asked": request}).rows
        found.append(Glance(incarnation or "", mark or "", seq, answer))
    return found


def keep(deed: Deed, execute: Execute) -> None:
    """Write a deed down. Raises what `Moves.append` and `Moves.remember` do."""
    if deed.entries:
        moves.append(execute, deed.table, deed.expected, deed.entries, deed.state, deed.at, deed.mark)
    outbox.enqueue(execute, deed.parcels, deed.at)
    if deed.request:
        moves.remember(execute, deed.request, deed.answer, deed.at)


def _keep_all(execute: Execute, deeds: Sequence[Deed]) -> list[Exception | None]:
    return [_kept_alone(execute, deed) for deed in deeds]


def _kept_alone(execute: Execute, deed: Deed) -> Exception | None:
    """What was wrong with a deed, of which then nothing is kept."""
    execute.plainly("SAVEPOINT deed")
    try:
        keep(deed, execute)
    except (StoreError, IntegrityError, DataError) as error:
        execute.plainly("ROLLBACK TO SAVEPOINT deed")
        return error
    finally:
        execute.plainly("RELEASE SAVEPOINT deed")
    return None


class Ledger:
    """Runs the glances and deeds of a store."""

    def __init__(self, writer: Writer, reading: AsyncEngine) -> None:
        self._writer = writer
        self._reading = reading
        self.glances = Lots[tuple[int, str | None], Glance](self._look)
        self.deeds = Lots[Deed, None](self._keep)

    async def _look(self, errands: Sequence[tuple[int, str | None]]) -> Sequence[Glance | Exception]:
        async with self._reading.connect() as connection:
            return await at_once(connection, lambda execute: _look(execute, errands))

    async def _keep(self, deeds: Sequence[Deed]) -> Sequence[Exception | None]:
        try:
            async with self._writer.turn() as connection:
                return await unbroken(at_once(connection, lambda execute: _keep_all(execute, deeds)))
        except DBAPIError as error:
            raise not_kept(error) from error

    async def close(self) -> None:
        """After the last of them."""
        await self.glances.idle()
        await self.deeds.idle()
