"""One process at a time does a job: reads the mailbox, does what is due, holds the session of a shard.

The right to a job is a lock that ends with its holder, however that ends: of a connection to PostgreSQL, or
on files beside a store. Nothing is written, so nothing has to be renewed. A server ends the connection of a
machine that is gone after seven seconds, and that of a process that is frozen after twenty. The others look
at the lock every second. A holder that loses it to another stops its work. For that moment two processes may
be at work; what they do is safe then too, because rows are taken and requests have ids.

A holder that cannot ask the server goes on: the lock may have ended, but nobody else can get it meanwhile,
and a player who presses a button reads why nothing happens. When the server is back, the others leave the
holder a moment to get its lock again. Only where the holder alone is cut off from the server can another get
the lock; so work that somebody waits for should let others answer first while its holder is
`uncertain`.
"""

import asyncio
import fcntl
import glob
import logging
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from zlib import crc32

from sqlalchemy import URL, Connection, text

from storage.database import END_OF_SILENCE, KEEPALIVES, is_file
from storage.errors import StoreError
from storage.migrations import APPLICATION_ID

if TYPE_CHECKING:
    import psycopg

log = logging.getLogger(__name__)

ANSWER_TIMEOUT = 4.0  # seconds in which the server has to answer the holder
SILENCE_LIMIT = 20.0  # seconds without a look of the holder after which the server ends its connection

Hold = Literal["held", "lost", "unknown"]
"""Whether a lock is still ours. Unknown: its server cannot be asked; then nobody else can get it either."""


def first_line(error: Exception) -> str:
    """What an error says, in one line."""
    return str(error).partition("\n")[0] or type(error).__name__


class FileLock:
    """Locks on files beside a store, all or none: `railpost.db-mail.lock`. trouble: see `ServerLock`."""

    def __init__(self, store: Path, jobs: Sequence[str]) -> None:
        self._paths = [store.with_name(f"{store.name}-{job}.lock") for job in jobs]
        self._files: list[int] = []
        self.trouble = ""

    async def acquire(self, head_start: float = 0.0) -> bool:
        """Try to get the lock. Raises OSError."""
        for path in self._paths:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._files.append(file)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                await self.release()
                return False
        return True

    async def look(self) -> Hold:
        """The lock is ours until we release it."""
        return "held"

    async def release(self) -> None:
        """Give the lock back."""
        while self._files:
            os.close(self._files.pop())


class ServerLock:
    """Advisory locks of a connection to PostgreSQL, all of them or none. trouble: why it was not known lately
    whether they are ours."""

    def __init__(self, url: URL, jobs: Sequence[str]) -> None:
        self._address = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._keys = [crc32(job.encode()) - 2**31 for job in jobs]
        self._connection: psycopg.AsyncConnection | None = None
        self._question: asyncio.Future[Any] | None = None
        self.trouble = ""

    async def acquire(self, head_start: float = 0.0) -> bool:
        """Try to get the lock. Raises psycopg.Error.

        head_start: seconds that a new connection leaves to who had the lock before.
        """
        if self._connection is None:
            self._connection = await self._connect()
            await asyncio.sleep(head_start)
        for key in self._keys:
            got = await self._connection.execute("SELECT pg_try_advisory_lock(%s, %s)", (APPLICATION_ID, key))
            if await got.fetchone() != (True,):
                await self._connection.execute("SELECT pg_advisory_unlock_all()")
                return False
        return True

    async def _connect(self) -> "psycopg.AsyncConnection":
        import psycopg

        limits = {f"tcp_{name}": value for name, value in KEEPALIVES.items()}
        limits["idle_session_timeout"] = round(SILENCE_LIMIT * 1000)  # milliseconds
        of_server = " ".join(f"-c {name}={value}" for name, value in limits.items())
        address = psycopg.conninfo.make_conninfo(self._address, options=of_server, **END_OF_SILENCE)
        return await psycopg.AsyncConnection.connect(address, autocommit=True)

    async def look(self) -> Hold:
        """The lock is ours as long as its connection answers. After that it is whose connection gets it."""
        if self._connection is not None:
            if await self._answers(self._connection):
                return "held"
            if self._question is not None:  # a slow server, or a silent one: it may answer yet
                self.trouble = f"no answer within {ANSWER_TIMEOUT:.0f} seconds"
                return "unknown"
            await self.release()
        if await _acquire(self):
            return "held"
        return "unknown" if self.trouble else "lost"

    async def _answers(self, connection: "psycopg.AsyncConnection") -> bool:
        """Whether the server answers on the connection. A question without an answer stays open."""
        import psycopg

        if self._question is None:
            self._question = asyncio.ensure_future(connection.execute("SELECT 1"))
        question = self._question
        await asyncio.wait({question}, timeout=ANSWER_TIMEOUT)
        if not question.done():
            return False
        self._question = None
        return not isinstance(question.exception(), psycopg.Error | OSError)

    async def release(self) -> None:
        """Give the lock back, and end the connection; where the server is away, it does so by itself."""
        import psycopg

        connection, self._connection = self._connection, None
        question, self._question = self._question, None
        if connection is None:
            return
        if question is None:
            with suppress(psycopg.Error, OSError, TimeoutError):
                async with asyncio.timeout(ANSWER_TIMEOUT):
                    await connection.execute("SELECT pg_advisory_unlock_all()")
        await connection.close()
        if question is not None:
            question.cancel()
            await asyncio.wait({question})


@contextmanager
def no_work_at(store: Path, what: str) -> Iterator[None]:
    """Keep every job of a store in a file from being done meanwhile. Raises StoreError if one is done now.
    what: that the store cannot be `replaced` now."""
    with ExitStack() as held:
        for path in store.parent.glob(f"{glob.escape(store.name)}-*.lock"):
            file = held.enter_context(path.open("rb"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StoreError(
                    f"{store} cannot be {what} while a service uses it; stop the service first."
                ) from None
        yield


def server_has_work(connection: Connection) -> bool:
    """Whether some process does a job of a store on PostgreSQL now."""
    held = (
        "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database"
        f" WHERE locktype = 'advisory' AND classid = {APPLICATION_ID} AND objsubid = 2"
        " AND datname = current_database()"
    )
    return bool(connection.execute(text(held)).scalar())


JobLock = FileLock | ServerLock


def job_lock(url: URL, jobs: Sequence[str]) -> JobLock:
    """The lock on these jobs of a store."""
    return FileLock(Path(str(url.database)), jobs) if is_file(url) else ServerLock(url, jobs)


LOOK_INTERVAL = 1.0  # seconds between two looks at a lock, by its holder and by those who wait for it
HEAD_START = 2.5  # seconds for a holder to get its lock again when the server is back

JobState = Literal["standing by", "leading", "uncertain"]
"""What a process does of a job. Uncertain: it goes on, and its server cannot be asked for the lock."""

Work = Callable[[], Awaitable[None]]
Report = Callable[[JobState], None]


def tell_nobody(_: JobState) -> None:
    """For work whose state nobody wants to know."""


async def lead(url: URL, jobs: Sequence[str], work: Work, report: Report = tell_nobody) -> None:
    """Do some work whenever this process has the lock on all its jobs, and stop when another has it.

    Returns when the work returns. Raises what the work raises. report: is told every second how this process
    stands with the jobs.
    """
    names = ", ".join(jobs)
    while True:
        lock = job_lock(url, jobs)
        try:
            await _wait_for(lock, names, report)
            report("leading")
            if await _work_while_held(lock, work, names, report):
                return
            log.warning("another process has taken this job: %s; this one stops it", names)
        finally:
            await lock.release()
        report("standing by")
        await asyncio.sleep(LOOK_INTERVAL)


async def _wait_for(lock: JobLock, names: str, report: Report) -> None:
    """Try until the lock is ours."""
    says_standing_by, trouble = False, ""
    while not await _acquire(lock, HEAD_START if trouble else 0.0):
        if lock.trouble and not trouble:  # once for each time that the database is away
            log.warning("these jobs cannot be taken now: %s: %s", names, lock.trouble)
        trouble = lock.trouble
        report("standing by")
        if not says_standing_by and not trouble:
            log.info("another process does this job: %s; this one stands by", names)
            says_standing_by = True
        await asyncio.sleep(LOOK_INTERVAL)
    if says_standing_by or trouble:
        log.info("this process does this job now: %s", names)


async def _acquire(lock: JobLock, head_start: float = 0.0) -> bool:
    """Try to get the lock; where it could not be tried, the lock says why."""
    lock.trouble = ""
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT + head_start):
            return await lock.acquire(head_start)
    except ImportError:
        raise
    except Exception as error:  # of the driver, of the operating system, or no answer in time
        lock.trouble = first_line(error)
        await lock.release()
        return False


async def _work_while_held(lock: JobLock, work: Work, names: str, report: Report) -> bool:
    """Work until the work is done; False if another got the lock before."""
    task, hold = asyncio.ensure_future(work()), "held"
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=LOOK_INTERVAL)
            if task.done():
                break
            former, hold = hold, await lock.look()
            if hold == "lost":
                return False
            report("leading" if hold == "held" else "uncertain")
            if hold != former:
                _log_certainty(names, hold, lock.trouble)
        await task
        return True
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task


def _log_certainty(names: str, hold: Hold, trouble: str) -> None:
    if hold == "held":
        log.info("the database answers again, and this process still does this job: %s", names)
    else:
        log.warning(
            "the database does not answer (%s); this process goes on with its job: %s", trouble, names
        )
