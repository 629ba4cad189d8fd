"""Letters are read in a process of their own: whatever a hostile mail does to it, the service goes on.

One worker, one mail at a time. It lives until it takes longer than the limit or dies; then it is killed, the
mail is `Unread`, and the next mail gets a new worker.
"""

import asyncio
import contextlib
import multiprocessing
import signal
import threading
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Self

from .letter import Letter, read

MEMORY = 1 << 30
START = 30.0


class Unread(Exception):
    """The worker did not survive this mail, or took too long over it."""


def _work(pipe: Connection, authserv_id: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    pipe.send(None)
    with contextlib.suppress(EOFError, OSError):
        while True:
            partial = bool(pipe.recv())
            pipe.send(read(pipe.recv_bytes(), authserv_id, partial))


class Reader:
    """Reads mails in a worker process: `async with Reader() as reader: letter = await reader.read(raw)`.

    `limit` is in seconds and counts from when the worker is ready.
    """

    def __init__(self, authserv_id: str = "", limit: float = 5.0) -> None:
        self._authserv_id = authserv_id
        self._limit = limit
        self._turn = threading.Lock()
        self._worker: tuple[BaseProcess, Connection] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self._stop)

    async def read(self, raw: bytes, partial: bool = False) -> Letter:
        """The letter in the bytes. Raises Unread."""
        return await asyncio.to_thread(self._ask, raw, partial)

    def _ask(self, raw: bytes, partial: bool) -> Letter:
        with self._turn:
            try:
                _, pipe = self._worker = self._worker or self._start()
                pipe.send(partial)
                pipe.send_bytes(raw)
                if pipe.poll(self._limit) and isinstance(letter := pipe.recv(), Letter):
                    return letter
            except (OSError, EOFError) as error:
                self._kill()
                raise Unread("the reader died") from error
            self._kill()
            raise Unread(f"the reader took longer than {self._limit} seconds")

    def _start(self) -> tuple[BaseProcess, Connection]:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(
            target=_work, args=(theirs, self._authserv_id), daemon=True, name="mail-reader"
        )
        process.start()
        theirs.close()
        if not ours.poll(START):
            process.kill()
            raise EOFError
        ours.recv()
        return process, ours

    def _kill(self) -> None:
        if self._worker:
            process, pipe = self._worker
            self._worker = None
            process.kill()
            process.join()
            pipe.close()

    def _stop(self) -> None:
        with self._turn:
            self._kill()
