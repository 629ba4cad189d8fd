"""The table cache: tables in memory, one lock for each, and the commits that change them.

The cache holds only what is committed. A `CommitDraft` collects rows and messages; they are written in one
transaction, and only then are its rows applied to the table in memory, just as they would be when loading.
When a table is locked, its version is first compared with the store, so that rows of another process, or a
restored backup, are loaded. A move needs no look before: its commit compares.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from datetime import datetime, timedelta
from weakref import WeakValueDictionary

from bot.hub.commit import CommitDraft
from bot.hub.info import TableInfo
from bot.hub.loading import (
    UnreadableTable,
    build_table,
    forget_unreadable,
    load_from_snapshot,
    load_metadata,
    load_table,
)
from bot.hub.notifications.commit_messages import commit_messages
from bot.hub.request import CommandResult, Request, decode_result
from bot.hub.table import LiveTable
from storage import LogRow, OutcomeUnknown, Store, StoreError, TableVersion, UnitOfWork

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 5  # where other processes change the same table
REFRESH_INTERVAL = 2.0  # seconds between two comparisons with the store
KEEP_MEGABYTES = 200.0
RECENT = 256  # tables whose positions stay decoded
LONG_LOG = 200  # rows that take more than some milliseconds to fold
VERSIONS_AT_ONCE = 500  # tables in one comparison
CLEANUP_INTERVAL = timedelta(hours=1)
RETENTION = timedelta(days=60)  # of results of requests, and of messages that were delivered or given up


def keyed_locks() -> Callable[[int], asyncio.Lock]:
    """A lock for each number, such as the id of a table. Keep no reference to one; it lasts while in use."""
    locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
    return lambda key: locks.setdefault(key, asyncio.Lock())


class TableCache:
    """The most recently used tables of a store.

    lock: of a table; requests at one table run one after another. reactions: called with every draft before
    it is written; what they add belongs to the same commit.
    """

    def __init__(
        self, store: Store, *, keep_megabytes: float = KEEP_MEGABYTES, ping_holdoff: float = 0
    ) -> None:
        """keep_megabytes: about so much of tables stays in memory. ping_holdoff: seconds before a turn
        message is sent, in which other players can still undo."""
        self.store = store
        self._keep = keep_megabytes * 1_000_000
        self._sizes: dict[int, int] = {}
        self._recent: OrderedDict[int, None] = OrderedDict()
        self._stand_ins: set[int] = set()
        self._total_size = 0
        self.ping_holdoff = ping_holdoff
        self._tables: OrderedDict[int, LiveTable] = OrderedDict()
        self.lock = keyed_locks()
        self._subscribers: set[asyncio.Event] = set()
        self.reactions: list[Callable[[CommitDraft], Awaitable[None]]] = []
        self._store_id: str | None = None

    # -- subscribers -------------------------------------------------------------------------

    @contextmanager
    def subscribe(self) -> Iterator[asyncio.Event]:
        """An event that is set after every commit. Clear it before reading the outbox."""
        wake_event = asyncio.Event()
        self._subscribers.add(wake_event)
        try:
            yield wake_event
        finally:
            self._subscribers.discard(wake_event)

    def wake_subscribers(self) -> None:
        """Set the event of every subscriber; also for callers that have written to the store themselves."""
        for wake_event in self._subscribers:
            wake_event.set()

    # -- changes by other processes ----------------------------------------------------------

    async def run(self) -> None:
        """Keep the cache up to date with the store, and delete what has expired there. Never returns."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.store.follow(self.wake_subscribers))
            tasks.create_task(self._refresh_and_clean_up())

    async def _refresh_and_clean_up(self) -> None:
        cleaned_at: datetime | None = None
        while True:
            await asyncio.sleep(REFRESH_INTERVAL)
            try:
                now = await self._refresh_changed()
                if cleaned_at is None or now - cleaned_at > CLEANUP_INTERVAL:
                    await self._clean_up(now - RETENTION)
                    cleaned_at = now
            except StoreError as error:
                log.warning("the table cache could not be refreshed: %s", error)

    async def _refresh_changed(self) -> datetime:
        """Load tables that are newer in the store; the store's time."""
        table_ids = list(self._tables)
        versions: dict[int, TableVersion] = {}
        for start in range(0, len(table_ids), VERSIONS_AT_ONCE):
            versions |= await self.store.table_versions(table_ids[start : start + VERSIONS_AT_ONCE])
        for table_id, version in versions.items():
            table = self._tables.get(table_id)
            if table and not self._is_current(table, version):
                try:
                    await self.current(table_id)
                except UnreadableTable:
                    self.forget(table_id)
                self.wake_subscribers()
        return self.store.now()

    async def _clean_up(self, before: datetime) -> None:
        async with self.store.begin() as unit:
            await unit.settings.delete_expired(before)
            await unit.outbox.delete_finished(before)

    def _check_store_id(self, store_id: str) -> None:
        """Drop all tables if another store (a restored backup) has replaced this one."""
        if self._store_id not in (None, store_id):
            for table_id in list(self._tables):
                self.forget(table_id)
            forget_unreadable()
            self.wake_subscribers()
        self._store_id = store_id

    # -- loading -----------------------------------------------------------------------------

    @asynccontextmanager
    async def locked(self, table_id: int, *, with_log: bool = True) -> AsyncIterator[LiveTable]:
        """A locked table, up to date with the store. Raises NotFound."""
        async with self.lock(table_id):
            version = await self.store.table_version(table_id)
            yield await self.up_to_date(table_id, version, with_log=with_log)

    def _is_current(self, table: LiveTable, version: TableVersion) -> bool:
        stored_version = (version.store_id, version.seq, version.revision)
        return stored_version == (self._store_id, table.seq, table.metadata.revision)

    async def up_to_date(self, table_id: int, version: TableVersion, *, with_log: bool = True) -> LiveTable:
        """A table whose lock is held: from memory if it has this version, else loaded.

        with_log: False is content with what a move needs (see `LiveTable.from_snapshot`). Raises NotFound,
        and UnreadableTable.
        """
        table = self._tables.get(table_id)
        is_stale = table is not None and not self._is_current(table, version)
        if table is None or is_stale or (with_log and not table.has_log):
            self._check_store_id(version.store_id)
            table = await self._load(table_id, with_log)
        self._remember(table_id, table)
        if is_stale:
            self.wake_subscribers()  # a newer table is news for all
        return table

    async def uncompared(self, table_id: int) -> LiveTable:
        """A table whose lock is held, for a move: from memory, whatever the store has now, else loaded
        without its log. Only what a commit writes may be answered: it compares the table with the store.

        Raises NotFound, and UnreadableTable.
        """
        table = self._tables.get(table_id)
        if table is None:
            table = await self._load(table_id, with_log=False)
        self._remember(table_id, table)
        return table

    async def _load(self, table_id: int, with_log: bool) -> LiveTable:
        loaded = await load_table(self.store.table_record, table_id, self._rows)
        metadata, table = loaded.metadata, self._tables.get(table_id)
        if table is not None and table.seq == metadata.info.seq and (table.has_log or not with_log):
            table.metadata = metadata
            return table
        if not with_log and (table := load_from_snapshot(loaded, metadata)) is not None:
            return table
        async with self.store.read() as unit:
            metadata = await load_metadata(unit, table_id)
            rows = await unit.move_log.rows(table_id)
        if len(rows) < LONG_LOG:
            return build_table(metadata, rows)
        return await asyncio.to_thread(build_table, metadata, rows)  # others need not wait for it

    async def _rows(self, table_id: int) -> list[LogRow]:
        async with self.store.read() as unit:
            return await unit.move_log.rows(table_id)

    def _remember(self, table_id: int, table: LiveTable) -> None:
        """Keep a table as the latest, and forget the oldest beyond the memory that is allowed."""
        self._tables[table_id] = table
        self._tables.move_to_end(table_id)
        self._note_stand_ins(table)
        self._count_size(table_id, table)
        self._recent[table_id] = None
        self._recent.move_to_end(table_id)
        if len(self._recent) > RECENT:
            oldest, _ = self._recent.popitem(last=False)
            if (unused := self._tables.get(oldest)) is not None:
                unused.make_compact()
                self._count_size(oldest, unused)
        while self._total_size > self._keep and len(self._tables) > 1:
            self.forget(next(iter(self._tables)))

    def _note_stand_ins(self, table: LiveTable) -> None:
        if table.metadata.has_stand_ins:
            self._stand_ins.add(table.stored_info.id)
        else:
            self._stand_ins.discard(table.stored_info.id)

    def _count_size(self, table_id: int, table: LiveTable) -> None:
        self._total_size += table.size - self._sizes.get(table_id, 0)
        self._sizes[table_id] = table.size

    def forget(self, table_id: int) -> None:
        """Load a table anew when it is wanted next, as when rows of its log have changed."""
        self._tables.pop(table_id, None)
        self._stand_ins.discard(table_id)
        self._total_size -= self._sizes.pop(table_id, 0)

    async def get(self, table_id: int, *, with_log: bool = True) -> LiveTable:
        """A table for reading, from memory if it is there. Raises NotFound."""
        table = self._tables.get(table_id)
        if table is not None and (table.has_log or not with_log):
            return table
        async with self.locked(table_id, with_log=with_log) as table:
            return table

    async def info(self, table_id: int) -> TableInfo:
        """What is known of a table without its log, from memory if it is there. Raises NotFound."""
        return (await self.get(table_id, with_log=False)).info

    async def refresh(self, table_id: int) -> None:
        """See what other processes have written at a table, if it is in memory. Raises NotFound."""
        if table_id in self._tables:
            await self.current(table_id)

    async def current(self, table_id: int) -> LiveTable:
        """A table as the store has it now, not held: others may change it at once. Raises NotFound."""
        async with self.locked(table_id, with_log=False) as table:
            return table

    @property
    def megabytes(self) -> float:
        """The memory of the tables, about."""
        return self._total_size / 1_000_000

    @property
    def table_count(self) -> int:
        """How many tables are in memory."""
        return len(self._tables)

    def with_stand_ins(self) -> list[LiveTable]:
        """The tables in memory at which a robot or a deputy may act."""
        return [table for table_id in self._stand_ins if (table := self._tables.get(table_id))]

    def table_name(self, table_id: int | None) -> str:
        """A table as the operator reads of it: `table ABC`; by its number where it is not in memory."""
        table = self._tables.get(table_id) if table_id is not None else None
        if table is None:
            return "no table" if table_id is None else f"table number {table_id}"
        return f"table {table.stored_info.code}"

    def peek(self, table_id: int) -> LiveTable | None:
        """A table for reading, None if it is not in memory."""
        return self._tables.get(table_id)

    # -- writing -----------------------------------------------------------------------------

    @asynccontextmanager
    async def commit(
        self, table: LiveTable, request_id: str | None = None, *, answered_person: int | None = None
    ) -> AsyncIterator[CommitDraft]:
        """Collect a draft at a locked table and commit it when the block ends.

        The table in memory changes and subscribers are woken only after the commit. request_id: the request
        whose result is stored with it. answered_person: who is told of it by the answer to their request.
        Raises WriteConflict, DuplicateRequest and other StoreErrors.
        """
        async with self.stale_if_unknown(table), AsyncExitStack() as transaction:

            async def begin_unit() -> UnitOfWork:
                unit = await transaction.enter_async_context(self.store.begin(table=table.stored_info.id))
                await unit.tables.check_version(table.stored_info.id, table.seq, table.metadata.revision)
                return unit

            draft = CommitDraft(table, self.store.now(), begin_unit, answered_person=answered_person)
            yield draft
            for react in self.reactions:
                await react(draft)
            if draft.make_result is not None:
                draft.result = draft.make_result()
            await draft.update_status()
            unit, metadata = draft.open_unit, table.metadata
            if unit is not None:
                metadata = await load_metadata(unit, table.stored_info.id)
            told = commit_messages(draft, metadata, self.ping_holdoff)
            move_commit = draft.move_commit(told, request_id, self._store_id)
            if unit is not None:
                await unit.commit_move(move_commit)
            else:
                await self.store.commit_move(move_commit)
        table.metadata = metadata
        self._note_stand_ins(table)
        position = draft.next_position(move_commit.state)
        for row, sentences in zip(draft.log_rows, draft.sentences, strict=True):
            table.add(row, sentences, position)
        self.wake_subscribers()

    @asynccontextmanager
    async def stale_if_unknown(self, table: LiveTable) -> AsyncIterator[None]:
        """Forget a table in memory where nobody knows whether a commit of the block is stored."""
        try:
            yield
        except (OutcomeUnknown, asyncio.CancelledError):
            self.forget(table.stored_info.id)
            raise

    def commit_request(self, table: LiveTable, request: Request) -> AbstractAsyncContextManager[CommitDraft]:
        """`commit` for what a player has said, who is answered."""
        return self.commit(table, request.request_id, answered_person=request.person_id)

    async def stored_result(self, request_id: str | None) -> CommandResult | None:
        """The result of an earlier request with the same id, if there was one."""
        if request_id is None:
            return None
        async with self.store.read() as unit:
            raw = await unit.move_log.request_result(request_id)
        return decode_result(raw) if raw is not None else None
