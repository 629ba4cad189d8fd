"""Tables in memory over the store: loading, views, and writing down what was done.

Theory. What is in memory is only ever what is committed: a `Draft` gathers rows and notices, which
are written in one transaction, and when that is on the disk its rows are folded into the table just
as they would be by loading. Whoever holds a table first takes a glance at it in the store, so that
what another process wrote, or a backup that was put in its place, is loaded anew.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from weakref import WeakValueDictionary

from sqlalchemy.exc import SQLAlchemyError

import engine
from bot.service import notifications, text_views
from bot.service.live_table import (
    LiveTable,
    LogEntry,
    TableMetadata,
    TableView,
    pending_decisions,
)
from bot.service.picture_workers import PictureWorkers
from bot.service.results import (
    CommandResult,
    PendingDecision,
    decode_result,
    encode_result,
)
from bot.service.tables import SeatedPlayer, TableInfo
from engine.game_text.history import GameHistory
from storage import (
    GameTable,
    LogRow,
    MoveCommit,
    NewLogRow,
    NewMessage,
    NotFound,
    Store,
    StoreError,
    TableStatus,
    TableVersion,
    UnitOfWork,
    WriteConflict,
)

log = logging.getLogger(__name__)

REFRESH_INTERVAL = 2.0  # seconds from one look at the store to the next
CLEANUP_INTERVAL = timedelta(hours=1)  # from one sweep to the next
RETENTION = timedelta(days=60)  # answers to requests, and what became of parcels


@dataclass
class CommitDraft:
    """What is done at a table at once: rows, the position they lead to, what others are told.

    Most drafts are nothing else, and are written down with those of other tables. One that changes
    more asks for the `unit`, a transaction in which then all of it happens.
    """

    table: LiveTable
    started_at: datetime
    begin_unit: Callable[[], Awaitable[UnitOfWork]]
    new_rows: list[NewLogRow] = field(default_factory=list)
    sentences: list[tuple[str, ...] | None] = field(default_factory=list)
    state: engine.State | None = None
    messages: list[NewMessage] = field(default_factory=list)
    announcements: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    pending: tuple[PendingDecision, ...] = ()
    result: CommandResult | None = None
    open_unit: UnitOfWork | None = None
    _next_pending: tuple[engine.State, tuple[PendingDecision, ...]] | None = None

    async def unit(self) -> UnitOfWork:
        """The transaction of this draft, begun when it is first asked for."""
        if self.open_unit is None:
            self.open_unit = await self.begin_unit()
        return self.open_unit

    @property
    def timestamp(self) -> datetime:
        """The moment of all this."""
        return self.open_unit.now if self.open_unit else self.started_at

    def add_row(
        self, entry: NewLogRow, state: engine.State | None = None, told: tuple[str, ...] | None = None
    ) -> int:
        """A further row, the position behind it where it changes, and what it brings about in words where
        somebody has asked; the row's number."""
        self.new_rows.append(entry)
        self.sentences.append(told)
        self.state = state or self.state
        return self.seq

    def add_note(self, transport: str, line: str, said: str, **details: Any) -> int:
        """A row that is only remembered; the row's number."""
        return self.add_row(NewLogRow(kind="note", transport=transport, line=line, raw_line=said, **details))

    def announce(self, kind: str, *text: str) -> None:
        """Tell all at the table."""
        self.announcements.append((kind, text))

    def next_pending(self) -> tuple[PendingDecision, ...]:
        """Whom the table will wait for."""
        if self.state is None:
            return self.table.pending
        if self._next_pending is None or self._next_pending[0] is not self.state:
            self._next_pending = (
                self.state,
                pending_decisions(self.state, self.table.rewind_count + self.rewind_count),
            )
        return self._next_pending[1]

    @property
    def seq(self) -> int:
        """The number of the last row."""
        return self.table.seq + len(self.new_rows)

    @property
    def rows(self) -> Iterator[LogRow]:
        """The rows as they stand in the log once they are written down."""
        for seq, entry in enumerate(self.new_rows, self.table.seq + 1):
            yield LogRow(seq=seq, created_at=self.timestamp, **entry.model_dump())

    @property
    def rewind_count(self) -> int:
        """How often the rows cut the line of play."""
        return sum(entry.rewinds_to is not None for entry in self.new_rows)


async def load_table_info(unit: UnitOfWork, table: GameTable) -> TableInfo:
    """A table as the store has it, from its head."""
    sitters = tuple(
        SeatedPlayer(seat.number, seat.person_id, seat.name, seat.joined_at is not None, seat.id)
        for seat in await unit.tables.seats(table.id)
    )
    head = await unit.move_log.snapshot(table.id)
    state = engine.decode_state(head.state) if head.state else None
    asked = pending_decisions(state, 0) if state else ()
    return TableInfo(
        table.id, table.code, table.name, table.title, tuple(table.options), table.status, table.host_id,
        dict(table.location), sitters, tuple(state.players) if state else (),
        engine.round_name(state) if state else "", tuple(a.seat for a in asked), head.seq,
    )  # fmt: skip


async def load_recipient(
    unit: UnitOfWork, person: int, seat: int | None, *, unverified: bool = False
) -> notifications.Recipient:
    """How a person is reached."""
    who = await unit.people.get(person)
    return notifications.recipient_for(who, await unit.people.identities(person), seat, unverified=unverified)


async def load_metadata(unit: UnitOfWork, table: int) -> TableMetadata:
    """What the store knows of a table beside its log. Raises Missing."""
    info = await load_table_info(unit, await unit.tables.get(table))
    seats = {s.seat: s.person_id for s in info.seated_players if s.seat is not None}
    reached = {seat: await load_recipient(unit, person, seat) for seat, person in seats.items()}
    return TableMetadata(
        info, tuple(await unit.polls.open_polls(table)), reached, await unit.settings.data_revision()
    )


class TableCache:
    """The tables of a store, the last used in memory; who follows them; how they are written."""

    def __init__(
        self,
        store: Store,
        *,
        options: Sequence[str] = (),
        keep: int = 64,
        holdoff: float = 0,
        pictures: PictureWorkers | None = None,
    ) -> None:
        """`options` are given to new tables unless their hosts say otherwise, `keep` tables stay in
        memory, and who is asked is told after `holdoff` seconds, in which others may still undo.
        `pictures` draws for every transport.
        """
        self.store = store
        self.default_options = tuple(options)
        self.pictures = pictures
        self._capacity = keep
        self._ping_holdoff = holdoff
        self._tables: OrderedDict[int, LiveTable] = OrderedDict()
        self._locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self._subscribers: set[asyncio.Event] = set()
        self._store_id: str | None = None

    # -- following ---------------------------------------------------------------------------

    @contextmanager
    def subscribe(self) -> Iterator[asyncio.Event]:
        """An event that is set after every commit; clear it before looking at the outbox."""
        bell = asyncio.Event()
        self._subscribers.add(bell)
        try:
            yield bell
        finally:
            self._subscribers.discard(bell)

    def wake_subscribers(self) -> None:
        """Ring the bell of everybody who follows; also for who wrote into the store himself."""
        for bell in self._subscribers:
            bell.set()

    async def run(self) -> None:
        """Follow the store: what another process or a restored backup changed is loaded anew. Endless."""
        swept: datetime | None = None
        while True:
            await asyncio.sleep(REFRESH_INTERVAL)
            try:
                now = await self._refresh_changed()
                if swept is None or now - swept > CLEANUP_INTERVAL:
                    await self._clean_up(now - RETENTION)
                    swept = now
            except (StoreError, SQLAlchemyError) as error:
                log.warning("the store could not be followed: %s", error)

    async def _refresh_changed(self) -> datetime:
        """Load what is newer in the store than in memory; the store's time."""
        tables = list(self._tables)
        for table, glance in zip(
            tables, await asyncio.gather(*map(self.store.table_version, tables)), strict=True
        ):
            play = self._tables.get(table)
            if play and (glance.store_id, glance.seq) != (self._store_id, play.seq):
                async with self.locked(table):
                    self.wake_subscribers()
        return self.store.now()

    async def _clean_up(self, before: datetime) -> None:
        async with self.store.begin() as unit:
            await unit.settings.delete_expired(before)
            await unit.outbox.delete_finished(before)

    async def _check_store_id(self, unit: UnitOfWork) -> None:
        """Forget all tables where another store has taken the place of this one."""
        incarnation = await unit.settings.store_id()
        if self._store_id not in (None, incarnation):
            self._tables.clear()
            self.wake_subscribers()
        self._store_id = incarnation

    # -- loading -----------------------------------------------------------------------------

    @asynccontextmanager
    async def lock(self, table: int) -> AsyncIterator[None]:
        """Nobody else says anything at the table meanwhile."""
        lock = self._locks.setdefault(table, asyncio.Lock())
        async with lock:
            yield

    @asynccontextmanager
    async def locked(self, table: int) -> AsyncIterator[LiveTable]:
        """A table for oneself, as it is in the store. Raises Missing."""
        async with self.lock(table):
            yield await self.up_to_date(table, await self.store.table_version(table))

    async def up_to_date(self, table: int, glance: TableVersion) -> LiveTable:
        """A table that is held: from memory, where a glance shows that it still is so. Raises Missing."""
        play = self._tables.get(table)
        as_seen = (glance.store_id, glance.seq, glance.data_revision)
        if play is None or as_seen != (self._store_id, play.seq, play.metadata.data_revision):
            async with self.store.read() as unit:
                await self._check_store_id(unit)
                play = await self._load(unit, table)
        self._tables[table] = play
        self._tables.move_to_end(table)
        while len(self._tables) > self._capacity:
            self._tables.popitem(last=False)
        return play

    async def _load(self, unit: UnitOfWork, table: int) -> LiveTable:
        known = await load_metadata(unit, table)
        play = self._tables.get(table)
        if play is None or play.seq != known.info.seq:
            return LiveTable(known, await unit.move_log.rows(table))
        play.metadata = known
        return play

    # -- writing -----------------------------------------------------------------------------

    @asynccontextmanager
    async def commit(self, play: LiveTable, request: str | None = None) -> AsyncIterator[CommitDraft]:
        """What is done at a table that is held; memory and followers learn of it behind the commit."""
        async with AsyncExitStack() as transaction:

            async def begin() -> UnitOfWork:
                return await transaction.enter_async_context(self.store.begin())

            draft = CommitDraft(play, self.store.now(), begin)
            yield draft
            await self._update_status(draft)
            unit, known = draft.open_unit, play.metadata
            if unit is not None:
                known = await load_metadata(unit, play.stored_info.id)
            deed = self._move_commit(draft, known, request)
            if unit is not None:
                await unit.commit_move(deed)
        if unit is None:
            await self.store.commit_move(deed)
        play.metadata = known
        for row, told in zip(draft.rows, draft.sentences, strict=True):
            play.add(row, told)
        self.wake_subscribers()

    def _move_commit(self, draft: CommitDraft, known: TableMetadata, request: str | None) -> MoveCommit:
        """The draft as it is written down."""
        play = draft.table
        state = draft.state or (play.state if play.begun else None)
        return MoveCommit(
            play.stored_info.id, draft.timestamp, play.seq, play.metadata.data_revision, draft.new_rows,
            engine.encode_state(state) if state and draft.new_rows else b"",
            [*draft.messages, *self._notifications(draft, known)],
            request if draft.result else None,
            encode_result(draft.result) if request and draft.result else b"",
        )  # fmt: skip

    async def _update_status(self, draft: CommitDraft) -> None:
        """The game came to its end, or back from it."""
        table, state = draft.table.stored_info, draft.state
        if state is None:
            return
        if state.game_over and table.status == "running":
            await (await draft.unit()).tables.update(table.id, status="finished")
            draft.announce("over", text_views.waiting_sentence(state, ()))
        elif not state.game_over and table.status == "finished":
            await (await draft.unit()).tables.update(table.id, status="running")

    def _notifications(self, draft: CommitDraft, known: TableMetadata) -> list[NewMessage]:
        """Who is told what of a draft, where `known` is what holds behind it."""
        play, after, reached = draft.table, known.info, known.recipients
        former = play.pending if play.stored_info.status == "running" else ()
        draft.pending = draft.next_pending() if after.status == "running" else ()
        new = notifications.newly_pending(after, former, draft.pending, play.stored_info)
        due = notifications.seconds_later(draft.timestamp, self._ping_holdoff)
        parcels = [
            parcel
            for number, (kind, text) in enumerate(draft.announcements)
            for parcel in notifications.announcements(
                after, kind, draft.seq, text, reached.values(), str(number or "")
            )
        ]
        parcels += notifications.turn_messages(after, draft.seq, new, reached, due)
        named = {a.decision_id for a in former}
        goes_on = [a for a in draft.pending if a.is_main and a not in new and a.decision_id not in named]
        acted = {entry.seat for entry in draft.new_rows}
        for a in goes_on:
            if a.seat not in acted and a.seat in reached:
                parcels += notifications.updated_turn_messages(after, draft.seq, a, reached[a.seat], due)
        return parcels + [p for a in goes_on[:1] for p in notifications.card_refreshes(after, draft.seq, a)]

    async def stored_result(self, request: str | None) -> CommandResult | None:
        """What a request was answered before."""
        if request is None:
            return None
        async with self.store.read() as unit:
            body = await unit.move_log.request_result(request)
        return decode_result(body) if body is not None else None

    # -- what is shown -----------------------------------------------------------------------

    async def find_table(self, code: str) -> TableInfo:
        """The table of a code. Raises ValueError with a sentence where there is none."""
        async with self.store.read() as unit:
            found = await unit.tables.by_code(code)
            if found is None:
                raise ValueError(f"There is no table {code.strip().upper()}.")
            return await load_table_info(unit, found)

    async def table_info(self, table: int) -> TableInfo:
        """A table, who sits there and where it is. Raises Missing."""
        async with self.store.read() as unit:
            return await load_table_info(unit, await unit.tables.get(table))

    async def list_tables(
        self,
        *,
        person: int | None = None,
        place: tuple[str, Any] | None = None,
        statuses: Sequence[TableStatus] = (),
    ) -> list[TableInfo]:
        """All tables; those of a person; those whose `place` has such an entry (`("guild", 5)`)."""
        async with self.store.read() as unit:
            found: Iterable[GameTable] = await unit.tables.all(*statuses)
            if person is not None:
                own = {table.id for table, _ in await unit.tables.for_person(person)}
                found = [t for t in found if t.id in own or t.host_id == person]
            if place is not None:
                found = [t for t in found if t.location.get(place[0]) == place[1]]
            return [await load_table_info(unit, table) for table in found]

    async def get(self, table: int) -> LiveTable:
        """A table to look at, from memory where it is there. Raises Missing."""
        if (play := self._tables.get(table)) is not None:
            return play
        async with self.locked(table) as play:
            return play

    async def view(self, table: int) -> TableView:
        """The table as it stands now: state, whom it waits for, open votes. From memory. Raises Missing."""
        return (await self.get(table)).view()

    def peek(self, table: int) -> TableView | None:
        """The same at once, for autocompletion; None where the table is not in memory."""
        play = self._tables.get(table)
        return play.view() if play else None

    async def seat_of(self, table: int, person: int) -> int | None:
        """Where somebody sits at a table."""
        return (await self.table_info(table)).seat_of(person)

    async def choices(self, table: int, seat: int) -> list[engine.Choice]:
        """What the seat may say now; empty where nothing is."""
        play = await self.get(table)
        if not play.begun or play.stored_info.status != "running" or play.state.game_over:
            return []
        return engine.choices(play.state, f"p{seat}")

    async def state_at(self, table: int, seq: int | None = None) -> engine.State:
        """The position after row `seq` of the log, None for now. Raises ValueError before the start."""
        play = await self.get(table)
        return play.state_at(play.seq if seq is None else seq)

    async def history(self, table: int) -> GameHistory:
        """The game as its line of play has it. Raises ValueError before the start."""
        return (await self.get(table)).history()

    async def log_since_last_move(self, table: int, seat: int, seq: int | None = None) -> list[LogEntry]:
        """What has happened since that seat's last own move, up to row `seq` of the log."""
        play = await self.get(table)
        until = play.seq if seq is None else seq
        return play.log(play.last_move_of(seat, until), until)

    async def log(self, table: int, after: int = 0) -> list[LogEntry]:
        """The log, or its rows behind one; moves that were undone are marked."""
        return (await self.get(table)).log(after)


__all__ = ["CommitDraft", "NotFound", "TableCache", "WriteConflict", "load_recipient", "load_table_info"]
