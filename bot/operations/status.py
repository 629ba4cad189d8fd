"""The status of a running service: what it is attached to, its tables, queues, deliveries, errors."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, get_args

import msgspec

from bot.hub.loading import unreadable_tables
from bot.hub.timers import LAST_TIME, ConnectionStatus, Job
from bot.operations.backups import ScheduledBackups
from bot.operations.logs import without_secrets
from bot.service import Service
from engine.core.words import counted
from storage import Channel, JobState, QueueStatus, StoreError, StoreLost, UnitOfWork

CHANNELS: tuple[Channel, ...] = get_args(Channel)
LOW_DISK = 100_000_000
"""Bytes that should be free where the store is."""
JOB_STATES: dict[JobState, str] = {
    "leading": "jobs of this process",
    "uncertain": "jobs of this process, while the database cannot say",
    "standing by": "stands by for",
}
MANY = 20  # tables that are named
BACKLOG = 100_000
"""So many messages that wait are told to the operator."""
GIVEN_UP = 3
"""So many messages of one day that were given up are told to the operator."""
STORE_ANSWERS_WITHIN = 4.0
"""Seconds; a request for the status waits at most five."""
LATE = timedelta(minutes=30)
"""What waits longer is a problem: a message of an attached channel, or what is due at a time."""
CONNECTS_WITHIN = timedelta(minutes=5)
"""So long after a start it is no problem that a transport has not connected yet."""
NO_CLOCK = "Look at railpost.log; of several processes, one needs the role work."


class QueueReport(msgspec.Struct):
    """The outbox of a channel. oldest_seconds: how long its first message has waited."""

    channel: str
    pending: int
    oldest_seconds: float
    dead: int
    last_delivery: datetime | None


class StatusReport(msgspec.Struct):
    """Everything that `railpost status` prints, and `/status` returns as JSON.

    tables: how many by status, None while the store is away. degraded: what is wrong while the service does
    its work. unreadable: the codes of tables that this process could not read since its start. jobs: what one
    process of a store does at a time, and whether it is this one.
    """

    version: str
    process: int
    store: str
    started_at: datetime
    now: datetime
    connections: list[ConnectionStatus]
    tables: dict[str, int] | None
    tables_in_memory: int
    megabytes: float
    queues: list[QueueReport]
    waiting_pictures: int
    errors: int
    last_error: str
    problems: list[str]
    unreadable: list[str] = []
    jobs: list[Job] = []
    last_error_at: datetime | None = None
    last_backup: datetime | None = None
    backup_trouble: str = ""
    degraded: list[str] = []

    @property
    def is_healthy(self) -> bool:
        """Whether the service as a whole does its work; a table that cannot be read does not count."""
        return not self.problems

    @property
    def troubles(self) -> list[str]:
        """Problems, and what is wrong with queues, pictures, backups and single tables, a sentence each."""
        found = [*self.problems, *self.degraded, *([self.backup_trouble] if self.backup_trouble else [])]
        if not self.unreadable:
            return found
        count = counted(len(self.unreadable), "table")
        codes = ", ".join(self.unreadable[:MANY]) + (", …" if len(self.unreadable) > MANY else "")
        return [*found, f"{count} cannot be read, and all others are played: {codes}."]

    @property
    def verdict(self) -> str:
        """Healthy, degraded (something is to be done, and no restart helps) or not healthy."""
        if self.is_healthy:
            return "degraded" if self.troubles else "healthy"
        return "NOT healthy"


def queue_troubles(channel: Channel, queue: QueueStatus) -> Iterator[str]:
    """What is wrong with a queue that is still being sent: too much waits, or was given up."""
    if queue.pending >= BACKLOG and queue.oldest_pending:
        since = _moment(queue.oldest_pending)
        yield f"{queue.pending:,} messages to {channel} wait, the first since {since}."
    if queue.dead_today >= GIVEN_UP and queue.dead_since:
        yield f"{queue.dead_today} messages to {channel} were given up since {_moment(queue.dead_since)}."


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def disk_problems(*paths: Path | None) -> Iterator[str]:
    """What is wrong with disks: read-only, or nearly full. paths: the file of the store, the data folder."""
    full = set[int]()
    for path in paths:
        if path is None or not path.exists():
            continue
        if not os.access(path, os.W_OK):
            yield f"{path} cannot be written."
        disk, free = path.stat().st_dev, shutil.disk_usage(path).free
        if free < LOW_DISK and disk not in full:
            full.add(disk)
            yield f"The disk of {path} has {free // 1_000_000} MB left."


class ErrorCounter(logging.Handler):
    """Counts errors in the log, and keeps the last one, without secrets."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        super().__init__(logging.ERROR)
        self.count = 0
        self.last = ""
        self.last_at: datetime | None = None
        self._secrets = tuple(secrets)

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1
        self.last_at = datetime.fromtimestamp(record.created, UTC)
        self.last = without_secrets(record.getMessage().partition("\n")[0], self._secrets)


class _Stored(NamedTuple):
    """What the store says: tables by status, unreadable tables, when the clock went last, and of each channel
    its queue and its last delivery."""

    tables: dict[str, int]
    unreadable: list[str]
    clock: str | None
    queues: dict[Channel, QueueStatus]


Question = Callable[[], Coroutine[Any, Any, Any]]


class StatusMonitor:
    """Collects the status of the service in this process."""

    def __init__(
        self,
        service: Service,
        attached: Sequence[Channel],
        errors: ErrorCounter,
        backups: ScheduledBackups | None = None,
        data: Path | None = None,
    ) -> None:
        """attached: the channels of the transports that this process runs. data: its folder."""
        self._backups, self._data = backups, data
        self._service = service
        self._errors = errors
        self._attached = attached
        self._started_at = service.store.now()
        self._questions: dict[Question, asyncio.Future[Any]] = {}

    async def _ask(self, what: Question) -> Any:
        """What the store answers, at most after a few seconds. Raises StoreError.

        A question that the store has not answered stays open, and the next look waits for the same. An answer
        that came meanwhile is out of date, and the store is asked again.
        """
        question = self._questions.get(what)
        if question is None or question.done():
            question = self._questions[what] = asyncio.ensure_future(what())
            question.add_done_callback(lambda done: done.cancelled() or done.exception())  # asked for or not
        await asyncio.wait({question}, timeout=STORE_ANSWERS_WITHIN)
        if not question.done():
            raise StoreError(
                f"The store has not answered for {STORE_ANSWERS_WITHIN:.0f} seconds; presses are refused."
            )
        return question.result()

    async def _read_store(self) -> _Stored:
        async with self._service.store.read() as unit:
            return _Stored(
                await unit.tables.count_by_status(),
                [code for code in unreadable_tables() if await _is_stored(unit, code)],
                await unit.settings.get(LAST_TIME),
                {channel: await unit.outbox.queue_status(channel) for channel in CHANNELS},
            )

    async def report(self) -> StatusReport:
        """The status now; a store that cannot be read is one of its problems."""
        service, now = self._service, self._service.store.now()
        queues, problems, degraded = list[QueueReport](), list[str](), list[str]()
        tables: dict[str, int] | None = None
        unreadable = unreadable_tables()
        try:
            stored: _Stored = await self._ask(self._read_store)
            tables, unreadable, clock, statuses = stored
            clock_at = max(self._started_at, datetime.fromisoformat(clock)) if clock else self._started_at
            if now - clock_at > LATE:
                problems.append(f"What is due at a time was not done since {_moment(clock_at)}. {NO_CLOCK}")
            for channel, status in statuses.items():
                age = (now - status.oldest_pending).total_seconds() if status.oldest_pending else 0.0
                queues.append(
                    QueueReport(channel, status.pending, max(age, 0.0), status.dead, status.last_sent)
                )
                degraded += queue_troubles(channel, status)
        except StoreError as error:
            problems.append(str(error))
        problems += disk_problems(service.store.path, self._data)
        try:
            service.store.check_file()
            if tables is not None:  # else it is said already that the store is away
                await self._ask(service.store.check_writable)
        except StoreLost as lost:
            problems.append(f"{lost.operator}; moves are refused.")
        except StoreError as error:
            problems.append(str(error))
        connections = [
            service.connections.get(name, ConnectionStatus(name, "configured", self._started_at))
            for name in self._attached
        ]
        problems += [
            f"{each.name} is away: {each.detail.rstrip('.')}." for each in connections if each.state == "away"
        ]
        if now - self._started_at > CONNECTS_WITHIN:
            silent = [each.name for each in connections if each.state == "configured"]
            problems += [
                f"{name} has not connected since the start; look at railpost.log." for name in silent
            ]
        for queue in queues:
            wait = timedelta(seconds=queue.oldest_seconds)
            if queue.channel in self._attached and wait > LATE:
                told = (
                    f"A message to {queue.channel} has waited for {wait / timedelta(minutes=1):.0f} minutes."
                )
                others_go = queue.last_delivery is not None and queue.last_delivery > now - wait
                (degraded if others_go else problems).append(told)
        pictures = service.pictures
        if pictures and pictures.hung_since:
            since = _moment(pictures.hung_since)
            degraded.append(f"A picture worker hung and was replaced; no picture was drawn since {since}.")
        return StatusReport(
            version("railpost"), os.getpid(), service.store.name, self._started_at, now, connections, tables,
            service.cache.table_count, service.cache.megabytes, queues,
            pictures.queue.length if pictures else 0, self._errors.count, self._errors.last, problems,
            unreadable, sorted(service.jobs.all.values(), key=lambda job: job.name), self._errors.last_at,
            *(_backup_status(self._backups) if self._backups else (None, "")), degraded,
        )  # fmt: skip


def _backup_status(backups: ScheduledBackups) -> tuple[datetime | None, str]:
    """When the last backup was made, and why there are no new ones."""
    made = backups.existing()
    return made[-1][0] if made else None, backups.trouble


async def _is_stored(unit: UnitOfWork, code: str) -> bool:
    """Whether it is the code of a table of this store, or none at all."""
    return " " in code or await unit.tables.by_code(code) is not None


def status_text(report: StatusReport) -> str:
    """The status as lines for the operator."""
    counts = [f"{count} {status}" for status, count in sorted((report.tables or {}).items())]
    tables = "not known, because the store is away" if report.tables is None else ", ".join(counts) or "none"
    lines = [
        f"Railpost {report.version}, process {report.process}",
        f"up since {report.started_at:%Y-%m-%d %H:%M} UTC",
        f"store: {report.store}",
        *(
            f"{a.name}: {a.state} since {a.since:%Y-%m-%d %H:%M} UTC{f' ({a.detail})' if a.detail else ''}"
            for a in report.connections
        ),
        f"tables: {tables}; {report.tables_in_memory} in memory, {report.megabytes:.0f} MB",
    ]
    if report.jobs:
        lines += [
            f"{said}: {', '.join(names)}"
            for state, said in JOB_STATES.items()
            if (names := [job.name for job in report.jobs if job.state == state])
        ]
    for queue in report.queues:
        last = f"{queue.last_delivery:%Y-%m-%d %H:%M} UTC" if queue.last_delivery else "never"
        lines.append(f"{queue.channel}: {queue.pending} waiting, {queue.dead} given up, last delivery {last}")
    if report.last_backup:
        lines.append(f"last backup on schedule: {report.last_backup:%Y-%m-%d %H:%M} UTC")
    lines.append(f"pictures waiting: {report.waiting_pictures}")
    when = f" {report.last_error_at:%Y-%m-%d %H:%M} UTC" if report.last_error_at else ""
    last_error = f", last{when}: {report.last_error}" if report.errors else ""
    lines.append(f"errors in the log: {report.errors}{last_error}")
    return "\n".join([*lines, *report.troubles, report.verdict])
