"""Locks on jobs that end with their holder: of a connection to PostgreSQL, or on files beside a store.

Nothing is written, so nothing has to be renewed or to expire. A server ends the connection of a machine that
is gone after seven seconds.
"""

import asyncio
import fcntl
import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol
from zlib import crc32

from sqlalchemy import URL, Connection, text

from storage.database import END_OF_SILENCE, KEEPALIVES, is_file
from storage.errors import StoreError
from storage.migrations import APPLICATION_ID

if TYPE_CHECKING:
    import psycopg

ANSWER_TIMEOUT = 4.0  # seconds in which the server has to answer the holder

Hold = Literal["held", "lost", "unknown"]
"""Whether a lock is still ours. Unknown: its server cannot be asked; then nobody else can get it either."""


class JobLock(Protocol):
    """A lock on some jobs: all of them or none. trouble: why it was not known lately whether it is ours."""

    trouble: str

    async def acquire(self, head_start: float = 0.0) -> bool:
        """Try to get the lock. head_start: seconds that a new connection leaves to who had it before."""

    async def look(self) -> Hold:
        """Whether the lock is still ours; one that was lost with its connection is tried to get again."""

    async def release(self) -> None:
        """Give the lock back, if it is ours."""


def first_line(error: Exception) -> str:
    """What an error says, in one line."""
    return str(error).partition("\n")[0] or type(error).__name__


class FileLock:
    """Locks on files beside a store: `railpost.db-mail.lock`."""

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
    """Advisory locks of a connection to PostgreSQL."""

    def __init__(self, url: URL, jobs: Sequence[str]) -> None:
        self._address = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._keys = [crc32(job.encode()) - 2**31 for job in jobs]
        self._connection: psycopg.AsyncConnection | None = None
        self._question: asyncio.Future[Any] | None = None
        self.trouble = ""

    async def acquire(self, head_start: float = 0.0) -> bool:
        """Try to get the lock. Raises psycopg.Error."""
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

        of_server = " ".join(f"-c tcp_{name}={value}" for name, value in KEEPALIVES.items())
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
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT):
                return "held" if await self.acquire() else "lost"
        except Exception as error:  # of the driver or the operating system, or no answer in time
            self.trouble = first_line(error)
            await self.release()
            return "unknown"

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


def job_lock(url: URL, jobs: Sequence[str]) -> JobLock:
    """The lock on these jobs of a store."""
    return FileLock(Path(str(url.database)), jobs) if is_file(url) else ServerLock(url, jobs)
