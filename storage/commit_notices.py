"""Notices of commits between the processes at one PostgreSQL database (LISTEN and NOTIFY).

After a transaction that writes, its process notifies the others, so a delivery worker learns at once of a
message that another process has enqueued. A transaction that notifies takes a lock of the whole server until
it is on the disk, and all commits of all processes would wait in one line. So notices have a connection of
their own, and transactions that follow each other closely share one. A lost connection, or a process that
dies, loses notices, and no message: workers also look by themselves now and then.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from sqlalchemy import URL

if TYPE_CHECKING:
    import psycopg

log = logging.getLogger(__name__)

CHANNEL = "railpost"
RETRY_DELAY = 2.0  # seconds
NOTICE_INTERVAL = 0.05  # seconds from one notice to the next


class CommitNotices:
    """The notices of one process: those that it sends, and those of others that it hears."""

    def __init__(self, url: URL) -> None:
        self._address = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._sender = secrets.token_hex(8)
        self._is_wanted = False
        self._sending: asyncio.Task[None] | None = None
        self._connection: psycopg.AsyncConnection | None = None

    def announce(self) -> None:
        """Tell the others that something was committed, now or a moment later together with what follows."""
        self._is_wanted = True
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send())

    async def _send(self) -> None:
        import psycopg

        while self._is_wanted:
            self._is_wanted = False
            try:
                if self._connection is None:
                    self._connection = await psycopg.AsyncConnection.connect(self._address, autocommit=True)
                await self._connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, self._sender))
            except psycopg.Error as error:
                log.debug("others were not told of a commit: %s", error)
                await self._disconnect()
            await asyncio.sleep(NOTICE_INTERVAL)

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def close(self) -> None:
        """Send what is still to be sent, then close the connection."""
        if self._sending is not None:
            with suppress(asyncio.CancelledError):
                await self._sending
        await self._disconnect()

    async def listen(self, wake: Callable[[], None]) -> None:
        """Call `wake` for every notice of another process; connect again where the connection is lost.

        Never returns.
        """
        import psycopg

        is_lost = False
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    self._address, autocommit=True
                ) as connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    is_lost = False
                    wake()
                    async for notice in connection.notifies():
                        if notice.payload != self._sender:
                            wake()
            except psycopg.Error as error:
                if not is_lost:
                    log.warning("notices of other processes are not heard: %s", str(error).partition("\n")[0])
                is_lost = True
            await asyncio.sleep(RETRY_DELAY)
