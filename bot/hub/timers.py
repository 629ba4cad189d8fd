"""The clock: one timer that follows the tables and does what is due.

Theory of operation. Nothing is kept in memory. The clocks of the seats (`storage.SeatClock`) follow the logs
of their tables: a table whose log has grown, whose pace has changed or whose players have changed their
settings is behind, and is followed up. From the clocks come timers: the next reminder of a seat, the end of
its time, an escalation, a digest. What a timer brings about is written in the transaction that takes the
row or moves it to its next time, and messages have names that are used once. So a process may die anywhere,
several may look at the same store, and the time of the machine may jump: nothing is done twice, and what is
overdue is done once.

Of all processes of a store one does this (`Service.run`). A player's time that ran out while nobody looked
(the service was down, or the time has jumped forward) is up only after a grace, in which mail that waits is
read.

`tick` does everything that is due now; tests call it after they have set the time.

The clock is one of the jobs that one process of a store does. Here is how a process does its jobs, and how it
knows what it is connected to.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

import msgspec
from sqlalchemy.exc import SQLAlchemyError

from bot.hub.cache import TableCache
from bot.hub.loading import UnreadableTable, operator_log
from bot.hub.table import LiveTable
from storage import JobState, NotFound, SeatClock, Store, StoredTimer, StoreError, UnitOfWork, Work

log = logging.getLogger(__name__)

LAST_TIME = "clock.last"
LATE_KIND, NUDGE_KIND, PING_KIND = "late", "nudge", "ping"
"""What is due when the others may decide on the seat of a player who does not answer, when a player is asked
again because another player wants it, and when they are told what they have not been told."""
SET_BACK = timedelta(seconds=60)  # by which the time is earlier than it was, if it was set back
MAX_WAIT = 15.0  # seconds between two looks at the store
MIN_WAIT = 0.5  # seconds after a commit, so that a run of commits is followed up once
AT_REST = timedelta(seconds=5)
"""The same at tables where nothing hangs on a moment: less than messages are held off."""
FIRST_RETRY, LAST_RETRY = timedelta(seconds=MAX_WAIT), timedelta(minutes=10)
BATCH = 50
TABLES_AT_ONCE = 32


class Followers(NamedTuple):
    """Keep the clocks of tables up with their logs: of several at once, and of one; whether that was done.

    tables: returns those that have to be followed one by one. is_at_rest: whether a table may wait, because
    nothing but a reminder in a day comes of its moves.
    """

    tables: Callable[[TableCache, Sequence[int]], Awaitable[Sequence[int]]]
    table: Callable[[TableCache, int], Awaitable[bool]]
    is_at_rest: Callable[[LiveTable], bool]


TimerHandler = Callable[[StoredTimer], Awaitable[bool]]
"""Does what a timer says, in one transaction; False if it cannot be done yet."""


async def recall(unit: UnitOfWork, kind: str, clock: SeatClock, at: datetime) -> None:
    """Let a player be asked again at a time, with a timer of this kind, if the table still waits for them."""
    if clock.since is not None:
        await unit.clocks.set_due(
            f"{clock.table_id}.{clock.seat}.{kind}", kind, at, table_id=clock.table_id, seat=clock.seat,
            details={"since": clock.since.isoformat(), "decision": clock.decision_id},
        )  # fmt: skip


class _Look(NamedTuple):
    """What the clock finds in the store at one moment."""

    tables_behind: Sequence[int]
    rows_due: Sequence[StoredTimer]
    next_due_at: datetime | None


class Clock:
    """The clock of a service. `run` goes on beside it.

    follow: None without clocks; tables stay behind, and are followed when clocks are back. timers: what is
    done, by the kind of a stored timer. One of a kind that nobody knows stays, and waits for its feature.
    """

    def __init__(self, cache: TableCache, follow: Followers | None) -> None:
        self._cache, self._follow = cache, follow
        self.timers: dict[str, TimerHandler] = {}
        self._skipped: set[str] = set()  # what could not be done in this tick, and what is not tried in it
        self._failed: dict[str, tuple[timedelta, datetime]] = {}  # by name: the last wait, and until when
        self._noted_at: datetime | None = None  # when the time was kept last
        self._at_rest_until = datetime.min.replace(tzinfo=UTC)  # tables at rest are not followed before
        self._leaves_at_rest = False  # in this tick
        self._unknown: set[str] = set()  # kinds without a timer, of which the operator was told

    async def run(self) -> None:
        """Do what is due, when it is due. Never returns."""
        with self._cache.subscribe() as wake_event:
            while True:
                wait = MAX_WAIT
                try:
                    wait = await self._seconds_until(await self.tick(leaves_at_rest=True))
                except (StoreError, SQLAlchemyError) as error:
                    log.warning("the clock could not go on: %s", error)
                wake_event.clear()
                try:
                    async with asyncio.timeout(wait):
                        await wake_event.wait()
                except TimeoutError:
                    continue
                await asyncio.sleep(MIN_WAIT)

    async def _seconds_until(self, due_at: datetime | None) -> float:
        if due_at is None:
            return MAX_WAIT
        wait = (due_at - self._cache.store.now()).total_seconds()
        return min(max(wait, MIN_WAIT), MAX_WAIT)

    async def tick(self, *, leaves_at_rest: bool = False) -> datetime | None:
        """Follow up the tables and do all that is due; when something is due next. leaves_at_rest: of tables
        at rest there was a look just before, so they wait."""
        now = self._cache.store.now()
        self._failed = {name: each for name, each in self._failed.items() if each[1] + LAST_RETRY > now}
        self._skipped = {name for name, (_, until) in self._failed.items() if until > now}
        await self._note_time()
        self._leaves_at_rest = leaves_at_rest and now < self._at_rest_until
        if not self._leaves_at_rest:
            self._at_rest_until = now + AT_REST
        look = await self._follow_and_look()
        while look.rows_due:
            for row in look.rows_due:
                if not await self._safely(row.key, self._handle(row)):
                    self._skipped.add(row.key)
            look = await self._follow_and_look()
        if self._leaves_at_rest:
            return min(look.next_due_at or self._at_rest_until, self._at_rest_until)
        return look.next_due_at

    def _is_left(self, table_id: int) -> bool:
        """Whether a table that is behind waits, because it is at rest."""
        table = self._cache.peek(table_id) if self._leaves_at_rest else None
        return table is not None and self._follow is not None and self._follow.is_at_rest(table)

    async def _handle(self, row: StoredTimer) -> bool:
        if (timer := self.timers.get(row.kind)) is not None:
            return await timer(row)
        if row.kind not in self._unknown:
            self._unknown.add(row.kind)
            operator_log.warning("no feature does what is due as %s; it stays stored", row.kind)
        return False

    async def _follow_and_look(self) -> _Look:
        """Follow up the tables that are behind; what is due then."""
        look = await self._look()
        if look.tables_behind and self._follow:
            await self._follow_tables(self._follow, look.tables_behind)
            look = await self._look()
        return look

    async def _look(self) -> _Look:
        async with self._cache.store.read() as unit:
            clocks = unit.clocks
            behind = await clocks.tables_behind()
            return _Look(
                [
                    each
                    for each in behind
                    if self._cache.table_name(each) not in self._skipped and not self._is_left(each)
                ],
                await clocks.rows_due(unit.now, BATCH, besides=self._skipped),
                await clocks.next_due_at(besides=self._skipped),
            )

    async def _follow_tables(self, follow: Followers, behind: Sequence[int]) -> None:
        for start in range(0, len(behind), TABLES_AT_ONCE):
            some: Sequence[int] = behind[start : start + TABLES_AT_ONCE]
            try:
                some = await follow.tables(self._cache, some)
            except UnreadableTable:
                log.debug("clock: a table cannot be read; these are followed one by one")
            except StoreError as error:
                log.warning("clock: %s", error)
            for table_id in some:
                await self._safely(self._cache.table_name(table_id), follow.table(self._cache, table_id))

    async def _safely(self, name: str, step: Awaitable[bool]) -> bool:
        """Do one thing; whether it was done. What fails does not keep the others from their time. It will
        mostly fail again, so it is tried more and more rarely."""
        try:
            done = await step
            self._failed.pop(name, None)
            return done
        except UnreadableTable:  # the operator has been told once
            log.debug("clock: %s cannot be read", name)
        except Exception as error:
            if isinstance(error, StoreError) and not isinstance(error, NotFound):
                log.warning("clock: %s: %s", name, error)
                return False
            waited, _ = self._failed.get(name, (FIRST_RETRY / 2, None))
            self._failed[name] = (wait := min(2 * waited, LAST_RETRY)), self._cache.store.now() + wait
            self._skipped.add(name)
            if isinstance(error, NotFound):
                log.warning("clock: %s: %s", name, error)
            else:
                log.exception("clock: %s failed, and is tried again in %s", name, wait)
        return False

    async def _note_time(self) -> None:
        """Keep the time in the store; where it was set back, all clocks are looked at again."""
        now = self._cache.store.now()
        if self._noted_at is not None and abs(now - self._noted_at) < SET_BACK:
            return
        async with self._cache.store.begin(excludes_others=False) as unit:
            noted = await unit.settings.get(LAST_TIME)
            last = datetime.fromisoformat(noted) if noted else now
            await unit.settings.set(LAST_TIME, now.isoformat())
            if last - now > SET_BACK:
                await unit.clocks.look_again_everywhere()
                self._failed.clear()
                self._at_rest_until = now
        self._noted_at = now


# -- jobs and connections of a process ---------------------------------------------------------

ConnectionState = Literal["configured", "connected", "away", "standing by"]


class ConnectionStatus(msgspec.Struct):
    """What the service talks to: `discord`, `mail`. detail: the reason where it is away.

    Standing by: another process does what one does at a time.
    """

    name: str
    state: ConnectionState
    since: datetime
    detail: str = ""


class Job(msgspec.Struct):
    """A job that this process does, or stands by for. name: `discord`, `mailbox`, `clock`, `robots`."""

    name: str
    state: JobState
    since: datetime


class Jobs:
    """Does jobs whenever this process has them (`storage.leadership`), and knows how it stands with them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.all: dict[str, Job] = {}

    async def lead(
        self, name: str, locks: Sequence[str], work: Work, standing_by: Callable[[], None] | None = None
    ) -> None:
        """Do a job that has these locks. standing_by: is called while another process does it."""

        def report(state: JobState) -> None:
            known = self.all.get(name)
            if known is None or known.state != state:
                self.all[name] = Job(name, state, self._store.now())
            if state == "standing by" and standing_by:
                standing_by()

        await self._store.lead(locks, work, report)

    def is_uncertain(self, name: str) -> bool:
        """Whether the store cannot be asked who has the job, and this process goes on with it."""
        job = self.all.get(name)
        return job is not None and job.state == "uncertain"
