"""The real `railpost`, started quickly: all is imported once, and each start forks that process.

Many tests need processes, and most of the time of a start is the import of modules. The server reads
an order in JSON from each line of standard input, forks, and prints the id of the new process. When that
process ends, its code is written to a file in its folder. Leases expire after seconds, so that the next
process need not wait long for those of a dead one. Pictures have one pixel.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

LEASE = float(os.environ.get("RAILPOST_TEST_LEASE", "4"))
"""Seconds; a machine that is very busy needs more to send a message."""
READY = "ready"
ROOT = Path(__file__).parent.parent.parent
COMMAND = (sys.executable, "-m", "bot")
"""The real start, for tests in which it matters."""


def environment(**settings: str) -> dict[str, str]:
    """The environment of a process, without the settings of this machine."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("RAILPOST_")}
    return variables | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"} | settings


@dataclass(frozen=True)
class ForkedProcess:
    """A running `railpost`."""

    id: int
    folder: Path

    @property
    def returncode(self) -> int | None:
        """Its code when it has ended: -9 after kill -9."""
        with suppress(FileNotFoundError):
            return int(exit_file(self.folder, self.id).read_text() or 0)
        return None

    async def wait(self) -> int:
        """Its code, once it has ended."""
        while (code := self.returncode) is None:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        return code

    def kill(self) -> None:
        """kill -9. A process that has just ended may be gone before its code is written."""
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.id, signal.SIGKILL)


class ForkServer(AbstractContextManager["ForkServer"]):
    """The server in a process of its own."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.end_to_end.fork_server"],
            cwd=ROOT, env=environment(), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert self._answer() == READY

    def __exit__(self, *_: object) -> None:
        self._server.communicate()

    def start(
        self,
        folder: Path,
        variables: Mapping[str, str],
        kill: str = "",
        lease: float = LEASE,
        words: Sequence[str] = (),
        program: str = "",
        standard_input: str = os.devnull,
        output: str = "out.txt",
        errors: str = "out.txt",
    ) -> ForkedProcess:
        """A new process, with its output in `out.txt`, that leases what it sends for so many seconds.

        words: its arguments. program: what is run in place of `railpost`. standard_input, output, errors:
        files. kill: where it kills itself, "MODULE:CLASS.METHOD before|after COUNT": at the COUNT-th call of
        that coroutine, before its body or after it has returned.
        """
        assert self._server.stdin is not None
        order = {
            "folder": str(folder), "variables": dict(variables), "kill": kill, "lease": lease,
            "words": list(words), "program": program,
            "files": [standard_input, output, errors],
        }  # fmt: skip
        self._server.stdin.write(json.dumps(order) + "\n")
        self._server.stdin.flush()
        return ForkedProcess(int(self._answer()), folder)

    def talking(self, folder: Path, program: str, *words: object) -> tuple[ForkedProcess, TextIO]:
        """A process that runs a program with these arguments, and what it prints until it ends."""
        pipe = folder / secrets.token_hex(4)
        os.mkfifo(pipe)
        said = [str(word) for word in words]
        started = self.start(folder, environment(), words=said, program=program, output=pipe.name)
        return started, pipe.open()

    def _answer(self) -> str:
        assert self._server.stdout is not None
        return self._server.stdout.readline().strip()


def exit_file(folder: Path, process: int) -> Path:
    """Where the code of a process that has ended stands."""
    return folder / f"{process}.exit"


def kill_at(module: str, path: str, when: str, count: int) -> None:
    """Wrap the coroutine so that the process kills itself there."""
    owner = getattr(import_module(module), path.partition(".")[0])
    name = path.partition(".")[2]
    method = getattr(owner, name)
    calls = 0

    @functools.wraps(method)
    async def dying(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        mine = calls
        if when == "before" and mine == count:
            os.kill(os.getpid(), signal.SIGKILL)
        result = await method(*args, **kwargs)
        if when == "after" and mine == count:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, dying)


def serve(order: Mapping[str, Any]) -> None:
    """Be `railpost`; never returns."""
    from bot.__main__ import main as railpost
    from bot.discord import delivery as discord_delivery
    from bot.email import delivery
    from mail.inbox import InboxTiming

    inbox = InboxTiming(idle_timeout=5.0)  # how soon mail is noticed is not tried here
    timing = delivery.MailTiming(lease=timedelta(seconds=order["lease"]), inbox=inbox)
    delivery.run = functools.partial(delivery.run, timing=timing)
    discord_delivery.LEASE = order["lease"]

    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["variables"])
    for number, name in enumerate(order["files"]):
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND if number else os.O_RDONLY
        os.dup2(os.open(name, flags, 0o600), number)
    if order["kill"]:
        place, when, count = order["kill"].split()
        module, _, path = place.partition(":")
        kill_at(module, path, when, int(count))
    sys.argv[1:] = order["words"]
    try:
        exec(order["program"], {"__name__": "__main__"}) if order["program"] else railpost()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(0)


def main() -> None:
    """Fork for each line, until standard input ends."""
    import bot.__main__  # noqa: F401 - what a process needs is imported once
    from bot.pictures import workers as picture_workers
    from tests.fake_discord.running_bot import OnePixelPictures

    folders: dict[int, Path] = {}

    def note_ends(*_: object) -> None:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                process, status = ended
                part = folders[process] / f"{process}.part"
                with suppress(FileNotFoundError):  # its test is over, and the folder is gone
                    part.write_text(str(os.waitstatus_to_exitcode(status)))
                    part.replace(exit_file(folders[process], process))

    setattr(picture_workers, "PictureWorkers", lambda workers=1: OnePixelPictures())  # noqa: B010
    print(READY, flush=True)
    for line in iter(sys.stdin.readline, ""):
        order = json.loads(line)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if (process := os.fork()) == 0:
            serve(order)
        folders[process] = Path(order["folder"])
        print(process, flush=True)
        signal.signal(signal.SIGCHLD, note_ends)
        note_ends()


if __name__ == "__main__":
    main()
