"""Parses mail in a process of its own, so that a hostile mail cannot harm the service.

There is one worker process, with one mail at a time. If it dies, needs too much processor time or exceeds
the timeout, `parse` raises ParserFailed, and the next mail gets a new worker. Processor time decides, because
on a busy machine an innocent mail may take long by the clock.
"""

import asyncio
import contextlib
import math
import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Self

from mail.reading.parser import ParsedMail, parse_mail

MEMORY_LIMIT = 1 << 30
PROCESSOR_SECONDS = 5
"""Seconds of processor time that a mail may take."""
START_TIMEOUT = 30.0


class ParserFailed(Exception):
    """The worker died from this mail, or took too long."""


class ParserNotStarted(Exception):
    """There is no worker, because the machine is too busy or has no memory: no fault of any mail."""


def limit_processor_time(seconds: float) -> None:
    """End this process once it has used so many more seconds of processor time, rounded up."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + seconds), hard))


def _init_worker() -> None:
    """A worker leaves interrupts to its parent, and ends with it even if the parent is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _exit_with_parent() -> None:
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(0)


def _parsed(raw: bytes, authserv_id: str, partial: bool) -> ParsedMail:
    limit_processor_time(PROCESSOR_SECONDS)
    return parse_mail(raw, authserv_id, partial)


class ParserProcess:
    """Parses mail in a worker process: `async with ParserProcess() as parser: await parser.parse(raw)`.

    timeout: in seconds by the clock, for one mail.
    """

    def __init__(self, authserv_id: str = "", timeout: float = 60.0) -> None:
        self._authserv_id = authserv_id
        self._timeout = timeout
        self._pool: ProcessPoolExecutor | None = None
        self._has_started = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    async def start(self) -> ProcessPoolExecutor:
        """Start the worker, if there is none. One that starts slowly goes on, and the next call waits for it.
        Raises ParserNotStarted."""
        if self._pool is None:
            self._pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), _init_worker)
        if not self._has_started:
            try:
                async with asyncio.timeout(START_TIMEOUT):
                    await asyncio.get_running_loop().run_in_executor(self._pool, os.getpid)
            except TimeoutError as error:
                why = f"it takes longer than {START_TIMEOUT:.0f} seconds"
                raise ParserNotStarted(f"the parser could not be started: {why}") from error
            except (OSError, BrokenProcessPool) as error:
                self.close()
                raise ParserNotStarted(f"the parser could not be started: {error}") from error
            self._has_started = True
        return self._pool

    async def parse(self, raw: bytes, partial: bool = False) -> ParsedMail:
        """Parse a mail. Raises ParserFailed, and ParserNotStarted."""
        pool, loop = await self.start(), asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._timeout):
                return await loop.run_in_executor(pool, _parsed, raw, self._authserv_id, partial)
        except TimeoutError as error:
            self.close()
            raise ParserFailed(f"the parser took longer than {self._timeout} seconds") from error
        except Exception as error:  # whatever a mail makes of the worker
            self.close()
            raise ParserFailed("the parser died") from error

    def close(self) -> None:
        """End the worker."""
        if self._pool is not None:
            for process in list((self._pool._processes or {}).values()):
                process.kill()
            self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool, self._has_started = None, False
