"""Parses mail in a process of its own, so that a hostile mail cannot harm the service.

There is one worker process, with one mail at a time. If it dies, needs too much processor time or exceeds
the timeout, `parse` raises ParserFailed, and the next mail gets a new worker. Processor time decides, because
on a busy machine an innocent mail may take long by the clock.
"""

import asyncio
import contextlib
import math
import multiprocessing
import signal
import threading
import time
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Self

from mail.reading.parser import ParsedMail, parse_mail

MEMORY_LIMIT = 1 << 30
PROCESSOR_SECONDS = 5
"""Seconds of processor time that a mail may take."""
START_TIMEOUT = 30.0


Worker = tuple[BaseProcess, Connection]


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


def _worker_main(pipe: Connection, authserv_id: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(EOFError, OSError):  # the service is gone
        pipe.send(None)
        while True:
            partial = bool(pipe.recv())
            limit_processor_time(PROCESSOR_SECONDS)
            pipe.send(parse_mail(pipe.recv_bytes(), authserv_id, partial))


class ParserProcess:
    """Parses mail in a worker process: `async with ParserProcess() as parser: await parser.parse(raw)`.

    timeout: in seconds by the clock, for one mail.
    """

    def __init__(self, authserv_id: str = "", timeout: float = 60.0) -> None:
        self._authserv_id = authserv_id
        self._timeout = timeout
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._starting: Worker | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self._stop)

    async def start(self) -> None:
        """Start the worker, if there is none. Raises ParserNotStarted."""
        await asyncio.to_thread(self._ensure_started)

    async def parse(self, raw: bytes, partial: bool = False) -> ParsedMail:
        """Parse a mail. Raises ParserFailed, and ParserNotStarted."""
        return await asyncio.to_thread(self._parse, raw, partial)

    def _ensure_started(self) -> None:
        with self._lock:
            self._worker = self._worker or self._start()

    def _parse(self, raw: bytes, partial: bool) -> ParsedMail:
        with self._lock:
            _, pipe = self._worker = self._worker or self._start()
            try:
                pipe.send(partial)
                pipe.send_bytes(raw)
                if pipe.poll(self._timeout) and isinstance(mail := pipe.recv(), ParsedMail):
                    return mail
            except (OSError, EOFError) as error:
                self._kill()
                raise ParserFailed("the parser died") from error
            self._kill()
            raise ParserFailed(f"the parser took longer than {self._timeout} seconds")

    def _start(self) -> Worker:
        """The worker, once it is ready. One that starts slowly goes on, and the next attempt waits for it."""
        try:
            process, pipe = self._starting = self._starting or self._new_process()
            if not pipe.poll(START_TIMEOUT):
                raise TimeoutError(f"it takes longer than {START_TIMEOUT:.0f} seconds")
            pipe.recv()
        except TimeoutError as error:
            raise ParserNotStarted(f"the parser could not be started: {error}") from error
        except (OSError, EOFError) as error:
            self._kill()
            raise ParserNotStarted(f"the parser could not be started: {error or 'it ended'}") from error
        self._starting = None
        return process, pipe

    def _new_process(self) -> Worker:
        context = multiprocessing.get_context("spawn")
        pipe, worker_pipe = context.Pipe()
        process = context.Process(
            target=_worker_main, args=(worker_pipe, self._authserv_id), daemon=True, name="mail-parser"
        )
        try:
            process.start()
        except OSError:
            pipe.close()
            raise
        finally:
            worker_pipe.close()
        return process, pipe

    def _kill(self) -> None:
        for process, pipe in filter(None, (self._worker, self._starting)):
            process.kill()
            process.join()
            pipe.close()
        self._worker = self._starting = None

    def _stop(self) -> None:
        with self._lock:
            self._kill()
