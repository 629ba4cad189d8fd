"""kill -9 of the whole service at random moments, with Discord and mail attached.

Ann plays on Discord and Bob by email, at random, against processes that live for up to 1.2 seconds. What Ann
pressed without an answer she presses again, if her move is not on the table; Bob replies once to each email.
At the end the log holds every answered move once, an email of Bob's made one move, nothing was posted twice,
no email differs from itself, and the game goes on. `RAILPOST_TEST_SERVICE_KILLS` is the number of kills.

Measured with 150 kills on each database, on two busy cores: the first move comes 3.9 s after a start in the
median, and 19 of 20 come within 7.3 s (SQLite); 2.9 s and 5.8 s (PostgreSQL). The longest waits are for
emails that a dead process had leased.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from pathlib import Path

import pytest

import engine
from bot.hub.table import TableView
from bot.service import Service
from storage import LogRow, TableVersion
from tests.end_to_end.fork_server import ForkedProcess, ForkServer
from tests.end_to_end.mail_players import MailPlayer, asks
from tests.end_to_end.site import Site, site
from tests.stores import run_sql

KILLS = int(os.environ.get("RAILPOST_TEST_SERVICE_KILLS", "20"))
LONGEST_LIFE = 1.2
NOT_WEDGED = float(os.environ.get("RAILPOST_TEST_PATIENCE", "120"))
"""Seconds within which a process that is not killed makes a move, on a busy machine."""


@dataclass
class KillSite(Site):
    """A site with the process that serves.

    back: seconds from a start to the next move. answered: rows of moves that Ann was answered, with their
    requests. replied: emails to which Bob has replied, with his replies.
    """

    process_settings: dict[str, str]
    forks: ForkServer
    dice: random.Random = field(
        default_factory=lambda: random.Random(os.environ.get("RAILPOST_TEST_SEED", "14"))
    )
    process: ForkedProcess | None = None
    kills: int = 0
    back: list[float] = field(default_factory=list)
    answered: dict[int, str] = field(default_factory=dict)
    replied: dict[str, str] = field(default_factory=dict)
    unanswered: Counter[str] = field(default_factory=Counter)
    seen: tuple[TableVersion, TableView] | None = None

    def start(self) -> None:
        """A new process."""
        self.process = self.forks.start(self.folder, self.process_settings)

    async def kill(self) -> None:
        """kill -9, and wait until it is gone."""
        assert self.process is not None
        self.process.kill()
        self.kills += 1
        while self.process.returncode is None:  # noqa: ASYNC110
            await asyncio.sleep(0.005)

    async def view(self) -> TableView:
        """The table as it is stored, read by nobody's cache; again only where it has changed."""
        version = await self.office.store.table_version(self.table)
        if self.seen is None or self.seen[0] != version:
            self.seen = (version, await Service(self.office.store).queries.view(self.table))
        return self.seen[1]

    async def seq(self) -> int:
        """The number of the last row of the log."""
        return (await self.office.store.table_version(self.table)).seq or 0

    async def rows(self) -> list[LogRow]:
        """The log."""
        async with self.office.store.read() as unit:
            return await unit.move_log.rows(self.table)


@asynccontextmanager
async def kill_site(folder: Path, address: str, forks: ForkServer) -> AsyncIterator[KillSite]:
    """Everything except the first process."""
    async with site(folder, address) as place:
        settings = place.settings(
            RAILPOST_DATABASE=address,
        )
        here = KillSite(**vars(place), process_settings=settings, forks=forks)
        try:
            yield here
        finally:
            if here.process:
                here.process.kill()


async def play_on_discord(here: KillSite) -> None:
    """Ann says a legal line whenever she is asked, and says another if her line is not on the table."""
    while True:
        view = await here.view()
        if not any(pending.seat == 0 for pending in view.pending) or not here.fake.threads:
            await asyncio.sleep(0.02)
            continue
        assert view.state is not None
        line = here.dice.choice(engine.legal_lines(view.state, "p0"))
        try:
            done = await here.fake.run_command("Ann", here.fake.threads[0], "do", line=line)
        except Exception as error:  # no process, or it died while Ann waited, whatever the fake makes of that
            here.unanswered[type(error).__name__] += 1
            await asyncio.sleep(0.02)
            continue
        if not done.is_unanswered:
            rows = await here.rows()
            if len(rows) > view.seq and rows[view.seq].seat == 0:
                here.answered[rows[view.seq].seq] = rows[view.seq].request_id or ""


async def play_by_mail(here: KillSite, bob: MailPlayer) -> None:
    """Bob replies once to each email that asks him."""
    while True:
        await asyncio.sleep(0.05)
        asking = next((email for email in reversed(bob.inbox) if asks(email, "Bob")), None)
        view = await here.view()
        if asking is None or not any(pending.seat == 1 for pending in view.pending):
            continue
        name = str(asking.message["Message-ID"])
        if name in here.replied:
            continue
        assert view.state is not None
        raw = bob.written(asking, here.dice.choice(engine.legal_lines(view.state, "p1")))
        here.replied[name] = str(message_from_bytes(raw)["Message-ID"])
        await here.office.mail(raw, sender=bob.address)


async def moved(here: KillSite, since: int) -> None:
    """Wait for a move after this row of the log. Raises AssertionError with what everybody waits for."""
    try:
        async with asyncio.timeout(NOT_WEDGED):
            while await here.seq() <= since:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(await standstill(here)) from None


async def standstill(here: KillSite) -> str:
    """Who is asked, what waits to be sent or read, and what the process said last."""
    view = await here.view()
    columns = "idempotency_key, ordering_key, attempts, not_before, lease_expires_at, error"
    async with here.office.store.read() as unit:
        waiting = await run_sql(unit, f"SELECT {columns} FROM outbox WHERE status <> 'sent' ORDER BY id")
    asked = [(each.seat, each.decision_id) for each in view.pending]
    emails = [
        (email.message["Subject"], asks(email, "Bob"), email.message["Message-ID"] in here.replied)
        for email in here.office.player("Bob").inbox[-5:]
    ]
    said = (here.folder / "out.txt").read_text(errors="replace")[-6000:]
    return (
        f"no move in {NOT_WEDGED:.0f} s after {here.kills} kills at row {view.seq}, asked: {asked}; "
        f"to send: {waiting}; mails to read: {await here.mailbox.count('INBOX')}; last emails: {emails}; "
        f"unanswered: {here.unanswered}; exit: {here.process and here.process.returncode}\n{said}"
    )


async def kill_often(here: KillSite, kills: int) -> None:
    """Start and kill: half of the processes anywhere in their life, half soon after their first move."""
    while here.kills < kills:
        since, started = await here.seq(), time.perf_counter()
        here.start()
        if here.dice.random() < 0.5:
            await asyncio.sleep(here.dice.uniform(0, LONGEST_LIFE))
        else:
            await moved(here, since)
            here.back.append(time.perf_counter() - started)
            await asyncio.sleep(here.dice.uniform(0, LONGEST_LIFE / 4))
        await here.kill()


@pytest.mark.soak
@pytest.mark.timeout(24 * 3600)
async def test_the_whole_service_is_killed_at_random_moments(
    tmp_path: Path, address: str, forks: ForkServer
) -> None:
    async with kill_site(tmp_path, address, forks) as here:
        bob = here.office.player("Bob")
        players = [
            asyncio.create_task(play_on_discord(here)),
            asyncio.create_task(play_by_mail(here, bob)),
        ]
        try:
            await kill_often(here, KILLS)
            here.start()
            await moved(here, await here.seq() + 1)
            assert not any(player.done() for player in players), players
        finally:
            for player in players:
                player.cancel()
            await asyncio.wait(players)
        await quiet(here)
        await assert_nothing_lost_or_doubled(here, bob)
        back = sorted(here.back) or [0.0]
        print(
            f"{here.kills} kills, {len(await here.rows())} rows, {len(here.answered)} answers on Discord, "
            f"{len(here.replied)} replies by mail, {len(bob.inbox)} emails; the first move after a start: "
            f"median {back[len(back) // 2]:.1f} s, 19 of 20 within {back[len(back) * 19 // 20]:.1f} s, "
            f"at most {back[-1]:.1f} s of {len(here.back)}"
        )


async def quiet(here: KillSite) -> None:
    """Wait until nothing is left to send or read."""
    async with asyncio.timeout(NOT_WEDGED):
        while True:
            if await here.is_quiet():
                return
            await asyncio.sleep(0.2)


async def assert_nothing_lost_or_doubled(here: KillSite, bob: MailPlayer) -> None:
    rows = await here.rows()
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    requests = Counter(row.request_id for row in rows if row.request_id)
    assert set(requests.values()) <= {1}
    assert all(rows[seq - 1].request_id == request for seq, request in here.answered.items())
    by_mail = [row for row in rows if row.transport == "mail" and row.kind == "move"]
    assert len(by_mail) <= len(here.replied), "an email made two moves"
    copies: dict[str, set[bytes]] = {}
    for email in bob.inbox:
        copies.setdefault(str(email.message["Message-ID"]), set()).add(email.raw)
    assert all(len(each) == 1 for each in copies.values()), "an email differs from itself"
    assert len(bob.inbox) <= len(copies) + here.kills, "an email was handed in again without need"
    async with here.office.store.read() as unit:
        queues = [await unit.outbox.queue_status("mail"), await unit.outbox.queue_status("discord")]
    assert [queue.dead for queue in queues] == [0, 0]
    assert len(here.fake.threads) == 1
    assert not [each for each in here.fake.violations() if not is_harmless(each)]


def is_harmless(violation: str) -> bool:
    """A command that a dying process had taken is acknowledged never: the player presses again. A process may
    also die after it has deleted the message of a finished card, and the next one hears that it is gone: the
    list of turns has its lines already (`finished_turns`). No other message may be missing."""
    is_deletion = "DELETE" in violation and "404/10008 Unknown Message" in violation
    return is_deletion or "was acknowledged never" in violation
