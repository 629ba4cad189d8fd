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
from bot import notices, words
from bot.answers import Answer, Asked, decoded, encoded
from bot.pictures import Pictures
from bot.play import Happening, Known, Play, View, questions
from bot.tables import Sitter, TableInfo
from engine.record.telling import Telling
from storage import (
    Deed,
    Entry,
    Glance,
    LogRow,
    Missing,
    Parcel,
    Stale,
    Status,
    Store,
    StoreError,
    Table,
    Unit,
)

log = logging.getLogger(__name__)

FOLLOWING = 2.0  # seconds from one look at the store to the next
SWEEPING = timedelta(hours=1)  # from one sweep to the next
REMEMBERED = timedelta(days=60)  # answers to requests, and what became of parcels


@dataclass
class Draft:
    """What is done at a table at once: rows, the position they lead to, what others are told.

    Most drafts are nothing else, and are written down with those of other tables. One that changes
    more asks for the `unit`, a transaction in which then all of it happens.
    """

    play: Play
    begun: datetime
    begin: Callable[[], Awaitable[Unit]]
    entries: list[Entry] = field(default_factory=list)
    told: list[tuple[str, ...] | None] = field(default_factory=list)
    state: engine.State | None = None
    parcels: list[Parcel] = field(default_factory=list)
    announced: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    asked: tuple[Asked, ...] = ()
    answer: Answer | None = None
    opened: Unit | None = None
    _coming: tuple[engine.State, tuple[Asked, ...]] | None = None

    async def unit(self) -> Unit:
        """The transaction of this draft, begun when it is first asked for."""
        if self.opened is None:
            self.opened = await self.begin()
        return self.opened

    @property
    def at(self) -> datetime:
        """The moment of all this."""
        return self.opened.now if self.opened else self.begun

    def add(
        self, entry: Entry, state: engine.State | None = None, told: tuple[str, ...] | None = None
    ) -> int:
        """A further row, the position behind it where it changes, and what it brings about in words where
        somebody has asked; the row's number."""
        self.entries.append(entry)
        self.told.append(told)
        self.state = state or self.state
        return self.seq

    def note(self, transport: str, line: str, said: str, **details: Any) -> int:
        """A row that is only remembered; the row's number."""
        return self.add(Entry(kind="note", transport=transport, line=line, said=said, **details))

    def announce(self, kind: str, *text: str) -> None:
        """Tell all at the table."""
        self.announced.append((kind, text))

    def coming(self) -> tuple[Asked, ...]:
        """Whom the table will wait for."""
        if self.state is None:
            return self.play.asked
        if self._coming is None or self._coming[0] is not self.state:
            self._coming = (self.state, questions(self.state, self.play.cuts + self.cuts))
        return self._coming[1]

    @property
    def seq(self) -> int:
        """The number of the last row."""
        return self.play.seq + len(self.entries)

    @property
    def rows(self) -> Iterator[LogRow]:
        """The rows as they stand in the log once they are written down."""
        for seq, entry in enumerate(self.entries, self.play.seq + 1):
            yield LogRow(seq=seq, at=self.at, **entry.model_dump())

    @property
    def cuts(self) -> int:
        """How often the rows cut the line of play."""
        return sum(entry.stands_at is not None for entry in self.entries)


async def info_of(unit: Unit, table: Table) -> TableInfo:
    """A table as the store has it, from its head."""
    sitters = tuple(
        Sitter(seat.number, seat.person_id, seat.name, seat.joined is not None, seat.id)
        for seat in await unit.games.seats(table.id)
    )
    head = await unit.moves.head(table.id)
    state = engine.decoded(head.state) if head.state else None
    asked = questions(state, 0) if state else ()
    return TableInfo(
        table.id, table.code, table.name, table.title, tuple(table.options), table.status, table.host_id,
        dict(table.place), sitters, tuple(state.players) if state else (),
        engine.round_name(state) if state else "", tuple(a.seat for a in asked), head.seq,
    )  # fmt: skip


async def reach(unit: Unit, person: int, seat: int | None, *, unverified: bool = False) -> notices.Recipient:
    """How a person is reached."""
    who = await unit.people.get(person)
    return notices.recipient(who, await unit.people.identities(person), seat, unverified=unverified)


async def known_of(unit: Unit, table: int) -> Known:
    """What the store knows of a table beside its log. Raises Missing."""
    info = await info_of(unit, await unit.games.get(table))
    seats = {s.seat: s.person for s in info.sitters if s.seat is not None}
    reached = {seat: await reach(unit, person, seat) for seat, person in seats.items()}
    return Known(info, tuple(await unit.votes.at(table)), reached, await unit.installation.mark())


class Memory:
    """The tables of a store, the last used in memory; who follows them; how they are written."""

    def __init__(
        self,
        store: Store,
        *,
        options: Sequence[str] = (),
        keep: int = 64,
        holdoff: float = 0,
        pictures: Pictures | None = None,
    ) -> None:
        """`options` are given to new tables unless their hosts say otherwise, `keep` tables stay in
        memory, and who is asked is told after `holdoff` seconds, in which others may still undo.
        `pictures` draws for every transport.
        """
        self.store = store
        self.options = tuple(options)
        self.pictures = pictures
        self._keep = keep
        self._holdoff = holdoff
        self._plays: OrderedDict[int, Play] = OrderedDict()
        self._locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self._followers: set[asyncio.Event] = set()
        self._incarnation: str | None = None

    # -- following ---------------------------------------------------------------------------

    @contextmanager
    def follow(self) -> Iterator[asyncio.Event]:
        """An event that is set after every commit; clear it before looking at the outbox."""
        bell = asyncio.Event()
        self._followers.add(bell)
        try:
            yield bell
        finally:
            self._followers.discard(bell)

    def changed(self) -> None:
        """Ring the bell of everybody who follows; also for who wrote into the store himself."""
        for bell in self._followers:
            bell.set()

    async def run(self) -> None:
        """Follow the store: what another process or a restored backup changed is loaded anew. Endless."""
        swept: datetime | None = None
        while True:
            await asyncio.sleep(FOLLOWING)
            try:
                now = await self._followed()
                if swept is None or now - swept > SWEEPING:
                    await self._sweep(now - REMEMBERED)
                    swept = now
            except (StoreError, SQLAlchemyError) as error:
                log.warning("the store could not be followed: %s", error)

    async def _followed(self) -> datetime:
        """Load what is newer in the store than in memory; the store's time."""
        tables = list(self._plays)
        for table, glance in zip(tables, await asyncio.gather(*map(self.store.glance, tables)), strict=True):
            play = self._plays.get(table)
            if play and (glance.incarnation, glance.seq) != (self._incarnation, play.seq):
                async with self._held(table):
                    self.changed()
        return self.store.now()

    async def _sweep(self, before: datetime) -> None:
        async with self.store.begin() as unit:
            await unit.installation.sweep(before)
            await unit.outbox.sweep(before)

    async def _same_store(self, unit: Unit) -> None:
        """Forget all tables where another store has taken the place of this one."""
        incarnation = await unit.installation.incarnation()
        if self._incarnation not in (None, incarnation):
            self._plays.clear()
            self.changed()
        self._incarnation = incarnation

    # -- loading -----------------------------------------------------------------------------

    @asynccontextmanager
    async def _alone(self, table: int) -> AsyncIterator[None]:
        """Nobody else says anything at the table meanwhile."""
        lock = self._locks.setdefault(table, asyncio.Lock())
        async with lock:
            yield

    @asynccontextmanager
    async def _held(self, table: int) -> AsyncIterator[Play]:
        """A table for oneself, as it is in the store. Raises Missing."""
        async with self._alone(table):
            yield await self._current(table, await self.store.glance(table))

    async def _current(self, table: int, glance: Glance) -> Play:
        """A table that is held: from memory, where a glance shows that it still is so. Raises Missing."""
        play = self._plays.get(table)
        as_seen = (glance.incarnation, glance.seq, glance.mark)
        if play is None or as_seen != (self._incarnation, play.seq, play.known.mark):
            async with self.store.read() as unit:
                await self._same_store(unit)
                play = await self._loaded(unit, table)
        self._plays[table] = play
        self._plays.move_to_end(table)
        while len(self._plays) > self._keep:
            self._plays.popitem(last=False)
        return play

    async def _loaded(self, unit: Unit, table: int) -> Play:
        known = await known_of(unit, table)
        play = self._plays.get(table)
        if play is None or play.seq != known.table.seq:
            return Play(known, await unit.moves.rows(table))
        play.known = known
        return play

    # -- writing -----------------------------------------------------------------------------

    @asynccontextmanager
    async def _writing(self, play: Play, request: str | None = None) -> AsyncIterator[Draft]:
        """What is done at a table that is held; memory and followers learn of it behind the commit."""
        async with AsyncExitStack() as transaction:

            async def begin() -> Unit:
                return await transaction.enter_async_context(self.store.begin())

            draft = Draft(play, self.store.now(), begin)
            yield draft
            await self._ending(draft)
            unit, known = draft.opened, play.known
            if unit is not None:
                known = await known_of(unit, play.table.id)
            deed = self._deed(draft, known, request)
            if unit is not None:
                await unit.record(deed)
        if unit is None:
            await self.store.record(deed)
        play.known = known
        for row, told in zip(draft.rows, draft.told, strict=True):
            play.add(row, told)
        self.changed()

    def _deed(self, draft: Draft, known: Known, request: str | None) -> Deed:
        """The draft as it is written down."""
        play = draft.play
        state = draft.state or (play.state if play.begun else None)
        return Deed(
            play.table.id, draft.at, play.seq, play.known.mark, draft.entries,
            engine.encoded(state) if state and draft.entries else b"",
            [*draft.parcels, *self._notices(draft, known)],
            request if draft.answer else None,
            encoded(draft.answer) if request and draft.answer else b"",
        )  # fmt: skip

    async def _ending(self, draft: Draft) -> None:
        """The game came to its end, or back from it."""
        table, state = draft.play.table, draft.state
        if state is None:
            return
        if state.over and table.status == "running":
            await (await draft.unit()).games.change(table.id, status="finished")
            draft.announce("over", words.waiting(state, ()))
        elif not state.over and table.status == "finished":
            await (await draft.unit()).games.change(table.id, status="running")

    def _notices(self, draft: Draft, known: Known) -> list[Parcel]:
        """Who is told what of a draft, where `known` is what holds behind it."""
        play, after, reached = draft.play, known.table, known.reached
        former = play.asked if play.table.status == "running" else ()
        draft.asked = draft.coming() if after.status == "running" else ()
        new = notices.newly_asked(after, former, draft.asked, play.table)
        due = notices.later(draft.at, self._holdoff)
        parcels = [
            parcel
            for number, (kind, text) in enumerate(draft.announced)
            for parcel in notices.told(after, kind, draft.seq, text, reached.values(), str(number or ""))
        ]
        parcels += notices.turns(after, draft.seq, new, reached, due)
        named = {a.decision for a in former}
        goes_on = [a for a in draft.asked if a.main and a not in new and a.decision not in named]
        acted = {entry.seat for entry in draft.entries}
        for a in goes_on:
            if a.seat not in acted and a.seat in reached:
                parcels += notices.moved_on(after, draft.seq, a, reached[a.seat], due)
        return parcels + [p for a in goes_on[:1] for p in notices.refresh(after, draft.seq, a)]

    async def _answered(self, request: str | None) -> Answer | None:
        """What a request was answered before."""
        if request is None:
            return None
        async with self.store.read() as unit:
            body = await unit.moves.answered(request)
        return decoded(body) if body is not None else None

    # -- what is shown -----------------------------------------------------------------------

    async def find(self, code: str) -> TableInfo:
        """The table of a code. Raises ValueError with a sentence where there is none."""
        async with self.store.read() as unit:
            found = await unit.games.by_code(code)
            if found is None:
                raise ValueError(f"There is no table {code.strip().upper()}.")
            return await info_of(unit, found)

    async def table(self, table: int) -> TableInfo:
        """A table, who sits there and where it is. Raises Missing."""
        async with self.store.read() as unit:
            return await info_of(unit, await unit.games.get(table))

    async def tables(
        self,
        *,
        person: int | None = None,
        place: tuple[str, Any] | None = None,
        statuses: Sequence[Status] = (),
    ) -> list[TableInfo]:
        """All tables; those of a person; those whose `place` has such an entry (`("guild", 5)`)."""
        async with self.store.read() as unit:
            found: Iterable[Table] = await unit.games.all(*statuses)
            if person is not None:
                own = {table.id for table, _ in await unit.games.of_person(person)}
                found = [t for t in found if t.id in own or t.host_id == person]
            if place is not None:
                found = [t for t in found if t.place.get(place[0]) == place[1]]
            return [await info_of(unit, table) for table in found]

    async def _shown(self, table: int) -> Play:
        """A table to look at, from memory where it is there. Raises Missing."""
        if (play := self._plays.get(table)) is not None:
            return play
        async with self._held(table) as play:
            return play

    async def view(self, table: int) -> View:
        """The table as it stands now: state, whom it waits for, open votes. From memory. Raises Missing."""
        return (await self._shown(table)).view()

    def peek(self, table: int) -> View | None:
        """The same at once, for autocompletion; None where the table is not in memory."""
        play = self._plays.get(table)
        return play.view() if play else None

    async def seat_of(self, table: int, person: int) -> int | None:
        """Where somebody sits at a table."""
        return (await self.table(table)).seat_of(person)

    async def choices(self, table: int, seat: int) -> list[engine.Choice]:
        """What the seat may say now; empty where nothing is."""
        play = await self._shown(table)
        if not play.begun or play.table.status != "running" or play.state.over:
            return []
        return engine.choices(play.state, f"p{seat}")

    async def state_at(self, table: int, seq: int | None = None) -> engine.State:
        """The position after row `seq` of the log, None for now. Raises ValueError before the start."""
        play = await self._shown(table)
        return play.state_at(play.seq if seq is None else seq)

    async def telling(self, table: int) -> Telling:
        """The game as its line of play has it. Raises ValueError before the start."""
        return (await self._shown(table)).telling()

    async def since(self, table: int, seat: int, seq: int | None = None) -> list[Happening]:
        """What has happened since that seat's last own move, up to row `seq` of the log."""
        play = await self._shown(table)
        until = play.seq if seq is None else seq
        return play.log(play.last_move_of(seat, until), until)

    async def log(self, table: int, after: int = 0) -> list[Happening]:
        """The log, or its rows behind one; moves that were undone are marked."""
        return (await self._shown(table)).log(after)


__all__ = ["Draft", "Memory", "Missing", "Stale", "info_of", "reach"]
