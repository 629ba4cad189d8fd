"""Notices of commits between the processes at one PostgreSQL database (LISTEN and NOTIFY).

Every transaction that writes notifies, and PostgreSQL delivers the notice when it is committed. So a delivery
worker learns at once of a message that another process has enqueued. A lost connection loses notices, and no
message: workers also look by themselves now and then.
"""

import asyncio
import logging
from collections.abc import Callable

from sqlalchemy import URL

log = logging.getLogger(__name__)

CHANNEL = "railpost"
NOTIFY = f"NOTIFY {CHANNEL}"
RETRY_DELAY = 2.0  # seconds


async def listen(url: URL, wake: Callable[[], None]) -> None:
    """Call `wake` for every notice; connect again where the connection is lost. Never returns."""
    import psycopg

    address = url.set(drivername="postgresql").render_as_string(hide_password=False)
    while True:
        try:
            async with await psycopg.AsyncConnection.connect(address, autocommit=True) as connection:
                await connection.execute(f"LISTEN {CHANNEL}")
                wake()
                async for _ in connection.notifies():
                    wake()
        except psycopg.Error as error:
            log.warning("notices of other processes are not heard: %s", str(error).partition("\n")[0])
        await asyncio.sleep(RETRY_DELAY)
