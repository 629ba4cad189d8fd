"""Several processes at one PostgreSQL database, each with its roles; killed by -9, each is replaced.

The real `railpost` with an IMAP and an SMTP server. Bob plays by email. Processes that share Discord are in
`tests/discord/test_shards.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

import pytest

from bot.config import SettingsError, parse_settings
from tests.end_to_end.fork_server import ForkServer, environment
from tests.end_to_end.test_crash_recovery import CrashHarness, crash_site
from tests.stores import needs_server

REPLACED = 10.0  # seconds


@dataclass
class Processes:
    """The processes of a site, by name; each has all of the work but Discord."""

    here: CrashHarness
    database: str
    running: dict[str, asyncio.subprocess.Process] = field(default_factory=dict)

    def said(self, name: str) -> str:
        """What a process has written."""
        paths = (self.here.folder / f"{name}.txt", self.here.folder / name / "railpost.log")
        return "".join(path.read_text() for path in paths if path.exists())

    async def start(self, *names: str) -> None:
        """Start processes."""
        here = self.here
        for name in names:
            mail = f"imap://{here.mailbox.user}:{here.mailbox.password}@127.0.0.1:{here.mailbox.port}"
            variables = environment(
                RAILPOST_DATA=str(here.folder / name), RAILPOST_DATABASE=self.database,
                RAILPOST_PING_HOLDOFF="0",
                RAILPOST_MAIL_SECRET="the same for every process, of enough letters",
                RAILPOST_IMAP=mail,
                RAILPOST_SMTP=f"smtp://127.0.0.1:{here.smtp.port}", RAILPOST_MAIL_ADDRESS="play@games.test",
            )  # fmt: skip
            self.running[name] = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "bot", "--role", "mail,work", env=variables, cwd=here.folder,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=(here.folder / f"{name}.txt").open("ab"), stderr=asyncio.subprocess.STDOUT,
            )  # fmt: skip

    async def until_said(self, name: str, text: str) -> None:
        async with asyncio.timeout(120):
            while text not in self.said(name):  # noqa: ASYNC110
                await asyncio.sleep(0.1)

    async def kill(self, name: str) -> float:
        """Kill a process; when."""
        process = self.running.pop(name)
        process.kill()
        await process.wait()
        return monotonic()


@contextlib.asynccontextmanager
async def processes(folder: Path, database: str, forks: ForkServer) -> AsyncIterator[Processes]:
    async with crash_site(folder, forks, database) as here:
        found = Processes(here, database)
        try:
            yield found
        finally:
            for name in list(found.running):
                await found.kill(name)


@needs_server
@pytest.mark.timeout(280)
async def test_14_11_a_process_that_reads_mail_and_does_timed_work_is_replaced(
    tmp_path: Path, database: str, forks: ForkServer
) -> None:
    async with processes(tmp_path, database, forks) as all_of:
        here = all_of.here
        service, bob = here.office.service, here.office.player("Bob")
        await all_of.start("first")
        await all_of.until_said("first", "mail is attached")
        await service.submit(here.table, 0, ["buy SV"], None, "ann 1")
        await bob.reply("bid MH 115", to=await here.asked(bob, 1))
        await here.until(2)
        await all_of.start("second")
        for job in ("mailbox", "clock", "robots"):
            await all_of.until_said("second", f"another process does this job: {job}")
        killed_at = await all_of.kill("first")
        for job in ("mailbox", "clock", "robots"):
            await all_of.until_said("second", f"this process does this job now: {job}")
        assert monotonic() - killed_at < REPLACED
        await service.submit(here.table, 0, ["pass"], None, "ann 2")
        await bob.reply("buy CS", to=await here.asked(bob, 3))
        await here.until(4)
        assert await here.lines() == ["buy SV", "bid MH 115", "pass", "buy CS"]


def test_a_role_needs_postgresql_and_its_transport() -> None:
    on_server = {"RAILPOST_DATABASE": "postgresql+psycopg://railpost@127.0.0.1/railpost"}
    with pytest.raises(SettingsError, match="which need PostgreSQL"):
        parse_settings({"RAILPOST_ROLE": "mail"})
    with pytest.raises(SettingsError, match="RAILPOST_ROLE has discord, which needs RAILPOST_DISCORD_TOKEN"):
        parse_settings({"RAILPOST_ROLE": "discord,work"} | on_server)
    with pytest.raises(SettingsError, match="should be all, or some of discord, mail, work"):
        parse_settings({"RAILPOST_ROLE": "clock"} | on_server)
    assert parse_settings({"RAILPOST_ROLE": "work"} | on_server).role == {"work"}
    assert parse_settings({"RAILPOST_ROLE": "all"}).does_everything
    assert parse_settings({}).does_everything
