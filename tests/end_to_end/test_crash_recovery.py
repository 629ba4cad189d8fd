"""kill -9 of the service between a commit and the sending: nothing is lost, nothing is sent twice.

A real process with the fake Discord, an IMAP and an SMTP server. Ann plays on Discord, Bob by email. The
first process dies at a point that the test names; another one takes over, and the game continues. A player
whose click got no answer looks at the card, and presses again if nothing has happened.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.discord.delivery import DiscordDelivery
from bot.email.delivery import StoredMailOutbox
from bot.email.replies.seat_replies import SeatReplies
from bot.email.stored_mail import InboundMail
from bot.hub.hub import Hub
from bot.service import Service
from mail.imap import ImapConnection
from tests.end_to_end.fork_server import ForkedProcess, ForkServer
from tests.end_to_end.mail_players import (
    MailPlayer,
    headline,
)
from tests.end_to_end.site import Site, site
from tests.fake_discord.running_bot import expire_leases
from tests.fake_discord.server import Message
from tests.mail.servers import Delivery

LINES = ["buy SV", "bid MH 115", "pass", "buy CS", "buy DH"]
NO_END = 600.0  # seconds of a lease: a slow machine sends nothing twice


def point(method: Callable[..., Coroutine[Any, Any, Any]], when: str, count: int = 1) -> str:
    """Where a process kills itself: before or after a call of a method, counted from 1."""
    return f"{method.__module__}:{method.__qualname__} {when} {count}"


POINTS = [
    point(InboundMail.record_arrival, "after"),
    point(StoredMailOutbox.mark_sent, "before", 2),
    point(DiscordDelivery._send_message, "after", 2),
]
MORE_POINTS = [
    point(SeatReplies.play, "before"),
    point(SeatReplies.play, "after"),
    point(InboundMail.record_outcome, "after"),
    point(ImapConnection.move, "after"),
    point(StoredMailOutbox._compose, "before", 2),
    point(StoredMailOutbox._compose, "after", 2),
    point(Hub.submit, "after"),
    point(DiscordDelivery._send_message, "before", 2),
]


@dataclass
class CrashHarness(Site):
    """A site with the process that runs."""

    forks: ForkServer
    process: ForkedProcess | None = None
    deaths: int = 0

    def start(self, kill: str = "") -> None:
        """Our process, connected; it kills itself at `kill`."""
        self.process = self.forks.start(self.folder, self.settings(), kill, lease=NO_END)

    async def revived(self) -> None:
        """Start a new process after the last one died; what that one had begun to send is due at once."""
        if self.process is not None and self.process.returncode is not None:
            assert self.process.returncode == -9, (self.folder / "out.txt").read_text()
            self.deaths += 1
            await expire_leases(self.office.store)
            self.start()

    async def lines(self) -> list[str]:
        """The lines that were played and not undone."""
        rows = await Service(self.office.store).queries.log(self.table)
        return [row.line for row in rows if row.kind == "move" and row.is_live]

    async def until(self, moves: int, seconds: float = 60.0) -> None:
        """Wait for a number of moves, with restarts of a killed process."""
        async with asyncio.timeout(seconds):
            while len(await self.lines()) < moves:
                await self.revived()
                await asyncio.sleep(0.05)

    def card(self) -> Message | None:
        """Ann's card, if it has the current decision."""
        for thread in self.fake.threads:
            found = [m for m in self.fake.messages_with_controls(thread, "Ann") if m.visible_to is None]
            if found:
                return found[-1]
        return None

    async def pressed(self, label: str, moves: int) -> None:
        """Ann presses a button, again if it had no effect."""
        async with asyncio.timeout(90):
            while len(await self.lines()) < moves:
                await self.revived()
                card = self.card()
                if card and label in [c.label for c in self.fake.controls(card)]:
                    await self.fake.click("Ann", card, label)
                await asyncio.sleep(0.2)

    async def asked(self, bob: MailPlayer, moves: int) -> Delivery:
        """The email that asks Bob to act after this number of moves; he acts after every second move.

        His last email may still be an earlier one, to which he has replied.
        A late receipt asks him too.
        """
        async with asyncio.timeout(90):
            while True:
                turns = [each for each in bob.inbox if headline(each) == "It is your turn, Bob."]
                asking = {each.message["Message-ID"]: each for each in turns}
                if len(await self.lines()) == moves and len(asking) == (moves + 1) // 2:
                    return list(asking.values())[-1]
                await self.revived()
                await asyncio.sleep(0.05)


@asynccontextmanager
async def crash_site(folder: Path, forks: ForkServer, address: str = "") -> AsyncIterator[CrashHarness]:
    """Everything except the process. address: of the store, if it is not in the folder."""
    async with site(folder, address) as place:
        found = CrashHarness(**vars(place), forks=forks)
        try:
            yield found
        finally:
            if found.process:
                found.process.kill()


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "where", [*POINTS, *(pytest.param(each, marks=pytest.mark.soak) for each in MORE_POINTS)]
)
async def test_killed(tmp_path: Path, forks: ForkServer, where: str) -> None:
    async with crash_site(tmp_path, forks) as here:
        bob = here.office.player("Bob")
        here.start(where)
        await here.pressed("Buy the SV for $20", 1)
        await bob.reply("bid MH 115", to=await here.asked(bob, 1))
        await here.until(2)
        await here.pressed("Pass", 3)
        await bob.reply("buy CS", to=await here.asked(bob, 3))
        await here.until(4)
        await here.pressed("Buy the DH for $70", 5)
        await here.asked(bob, 5)
        await quiet(here)
        assert here.deaths == 1, "the process did not die where it should"
        assert await here.lines() == LINES
        await assert_sent_once(here, bob)


async def quiet(here: CrashHarness) -> None:
    """Wait until nothing is left to send or read."""
    async with asyncio.timeout(60):
        while True:
            await here.revived()
            if await here.is_quiet():
                return
            await asyncio.sleep(0.1)


async def assert_sent_once(here: CrashHarness, bob: MailPlayer) -> None:
    """Every email was sent with the same bytes each time, and none is missing."""
    by_id: dict[str, set[bytes]] = {}
    for email in bob.inbox:
        by_id.setdefault(str(email.message["Message-ID"]), set()).add(email.raw)
    assert all(len(copies) == 1 for copies in by_id.values()), "the same email differs from itself"
    first = {str(email.message["Message-ID"]): headline(email) for email in bob.inbox}
    assert Counter(first.values()) == {
        "The game begins.": 1,
        "It is your turn, Bob.": 3,
        "OK: all lines were carried out.": 2,
    }
    assert len(bob.inbox) <= len(by_id) + here.deaths, "an email was handed in again without need"
    assert await here.mailbox.count("Processed") == 2
    async with here.office.store.read() as unit:
        assert (
            (await unit.outbox.queue_status("mail")).dead
            == (await unit.outbox.queue_status("discord")).dead
            == 0
        )
    assert len(here.fake.threads) == 1
    here.fake.check_violations(ignoring=["was acknowledged never"])  # pressed when the process died
