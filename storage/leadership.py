"""One process at a time does a job: reads the mailbox, does what is due, holds the session of a shard.

The right to a job is a lock that ends with its holder, however that ends: on PostgreSQL an advisory lock of
a connection, for a store in a file a lock of the operating system on a file beside it. Nothing is written,
so nothing has to be renewed or to expire. The server ends the connection of a machine that is gone after
seven seconds, and the others look every second. A holder that loses the lock stops its work. For that moment
two processes may be at work; what they do is safe then too, because rows are taken and requests have ids.
"""

import asyncio
import fcntl
import glob
import logging
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol
from zlib import crc32

from sqlalchemy import URL

from storage.database import is_file
from storage.errors import StoreError
from storage.migrations import APPLICATION_ID

if TYPE_CHECKING:
    import psycopg

log = logging.getLogger(__name__)

LOOK_INTERVAL = 1.0  # seconds between two looks at a lock, by its holder and by those who wait for it
ANSWER_TIMEOUT = 4.0  # seconds in which the server has to answer the holder
KEEPALIVE = {"idle": 3, "interval": 2, "count": 2}
"""Seconds and probes after which the server, and the client, end the connection of a silent machine."""

Work = Callable[[], Awaitable[None]]


class JobLock(Protocol):
    """A lock on some jobs: all of them or none."""

    async def acquire(self) -> bool:
        """Try to get the lock."""

    async def is_held(self) -> bool:
        """Whether the lock is still ours."""

    async def release(self) -> None:
        """Give the lock back, if it is ours."""


class FileLock:
    """Locks on files beside a store: `railpost.db-mail.lock`."""

    def __init__(self, store: Path, jobs: Sequence[str]) -> None:
        self._paths = [store.with_name(f"{store.name}-{job}.lock") for job in jobs]
        self._files: list[int] = []

    async def acquire(self) -> bool:
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

    async def is_held(self) -> bool:
        """The lock is ours until we release it."""
        return True

    async def release(self) -> None:
        """Give the lock back."""
        while self._files:
            os.close(self._files.pop())


class ServerLock:
    """Advisory locks of a connection to PostgreSQL."""

    def __init__(self, url: URL, jobs: Sequence[str]) -> None:
        self._address = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._keys = [crc32(job.encode()) - 2**31 for job in jobs]
        self._connection: psycopg.AsyncConnection | None = None

    async def acquire(self) -> bool:
        """Try to get the lock. Raises psycopg.Error."""
        import psycopg

        if self._connection is None:
            probes = {f"keepalives_{name}": str(value) for name, value in KEEPALIVE.items()}
            of_server = " ".join(f"-c tcp_{name}={value}" for name, value in probes.items())
            address = psycopg.conninfo.make_conninfo(self._address, options=of_server, **probes)
            self._connection = await psycopg.AsyncConnection.connect(address, autocommit=True)
        for key in self._keys:
            got = await self._connection.execute("SELECT pg_try_advisory_lock(%s, %s)", (APPLICATION_ID, key))
            if await got.fetchone() != (True,):
                await self._connection.execute("SELECT pg_advisory_unlock_all()")
                return False
        return True

    async def is_held(self) -> bool:
        """Whether the connection still answers: the lock is its own as long as it lives."""
        import psycopg

        if self._connection is None:
            return False
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT):
                await self._connection.execute("SELECT 1")
        except (psycopg.Error, OSError, TimeoutError):
            return False
        return True

    async def release(self) -> None:
        """Give the lock back, and end the connection; where the server is away, it does so by itself."""
        import psycopg

        connection, self._connection = self._connection, None
        if connection is None:
            return
        with suppress(psycopg.Error, OSError, TimeoutError):
            async with asyncio.timeout(ANSWER_TIMEOUT):
                await connection.execute("SELECT pg_advisory_unlock_all()")
        await connection.close()


@contextmanager
def no_work_at(store: Path) -> Iterator[None]:
    """Keep every job of a store in a file from being done meanwhile. Raises StoreError if one is done now."""
    with ExitStack() as held:
        for path in store.parent.glob(f"{glob.escape(store.name)}-*.lock"):
            file = held.enter_context(path.open("rb"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StoreError(
                    f"{store} is too damaged to be replaced while a service uses it; stop the service first."
                ) from None
        yield


def job_lock(url: URL, jobs: Sequence[str]) -> JobLock:
    """The lock on these jobs of a store."""
    return FileLock(Path(str(url.database)), jobs) if is_file(url) else ServerLock(url, jobs)


async def lead(url: URL, jobs: Sequence[str], work: Work) -> None:
    """Do some work whenever this process has the lock on all its jobs, and stop when it loses it.

    Returns when the work returns. Raises what the work raises.
    """
    names, said, trouble = ", ".join(jobs), "", ""
    while True:
        lock = job_lock(url, jobs)
        try:
            while not (attempt := await _acquire(lock)).succeeded:
                if attempt.trouble and not trouble:  # once for each time that the database is away
                    log.warning("these jobs cannot be taken now: %s: %s", names, attempt.trouble)
                trouble = attempt.trouble
                if not said and not trouble:
                    log.info("another process does this job: %s; this one stands by", names)
                    said = "stands by"
                await asyncio.sleep(LOOK_INTERVAL)
            if said or trouble:
                log.info("this process does this job now: %s", names)
                said = trouble = ""
            if await _work_while_held(lock, work):
                return
            log.warning("the lock on this job is lost: %s; trying to get it again", names)
        finally:
            await lock.release()
        await asyncio.sleep(LOOK_INTERVAL)


class Attempt(NamedTuple):
    """Whether the lock was got; if it could not be tried, why."""

    succeeded: bool
    trouble: str = ""


async def _acquire(lock: JobLock) -> Attempt:
    """Try to get the lock; a database that is away is tried again."""
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT):
            return Attempt(await lock.acquire())
    except ImportError:
        raise
    except Exception as error:  # of the driver, of the operating system, or no answer in time
        await lock.release()
        return Attempt(False, str(error).partition("\n")[0] or type(error).__name__)


async def _work_while_held(lock: JobLock, work: Work) -> bool:
    """Work until the work is done; False if the lock was lost before."""
    task = asyncio.ensure_future(work())
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=LOOK_INTERVAL)
            if not task.done() and not await lock.is_held():
                return False
        await task
        return True
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task
