"""What a press, an email and a notification go through: files of ours, plays of the kernel, transactions.

`pytest -s` prints the counts and the files. The limits of files are what was counted last, with room for what
else the service does meanwhile. A change that needs more says why; one that needs less lowers them.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from engine.kernel import apply
from storage import Store
from tests.end_to_end.mail_players import served
from tests.fake_discord.running_bot import RunningBot
from tests.fake_discord.server import FakeDiscord, Message

ROOT = Path(__file__).parents[2]
PLAYERS = ("Ann", "Bob", "Cid", "Dan")
PARTS = ("engine", "renderers", "storage", "mail", "bot")
LOOPS = {"bot/hub/timers.py", "storage/leadership.py"}
"""They look at the clock: on a slow machine they run beside what is counted, so they do not count."""


class Counter:
    """Counts while it is on, in all threads that begin after it was made."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.is_on = False
        self.files: set[str] = set()
        self.reads = self.writes = self.applied = 0

    def note(self, frame: FrameType, event: str, _: object) -> None:
        if self.is_on and event == "call":
            name = frame.f_code.co_filename
            if not name.startswith(str(ROOT)):
                return
            file = Path(name).relative_to(ROOT)
            if file.parts[0] in PARTS and str(file) not in LOOPS:
                self.files.add(str(file))
                self.applied += frame.f_code is apply.__code__

    @property
    def outside_engine(self) -> int:
        return sum(Path(name).parts[0] != "engine" for name in self.files)

    def __str__(self) -> str:
        kinds = (
            f"{self.reads} reading and {self.writes} writing transactions, {self.applied} plays of the kernel"
        )
        names = "".join(f"\n  {name}" for name in sorted(self.files))
        return f"{len(self.files)} files, {self.outside_engine} of them outside the engine; {kinds}{names}"


@pytest.fixture
def counter(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter]:
    """A counter of this test, which hears of every call in Python."""
    found = Counter()
    begin, read, commit_move = Store.begin, Store.read, Store.commit_move

    @asynccontextmanager
    async def counted_begin(store: Store, **options: Any) -> AsyncIterator[Any]:
        found.writes += found.is_on
        async with begin(store, **options) as unit:
            yield unit

    @asynccontextmanager
    async def counted_read(store: Store) -> AsyncIterator[Any]:
        found.reads += found.is_on
        async with read(store) as unit:
            yield unit

    async def counted_commit(store: Store, commit: Any) -> None:
        found.writes += found.is_on
        await commit_move(store, commit)

    monkeypatch.setattr(Store, "begin", counted_begin)
    monkeypatch.setattr(Store, "read", counted_read)
    monkeypatch.setattr(Store, "commit_move", counted_commit)
    threading.setprofile(found.note)
    sys.setprofile(found.note)
    yield found
    sys.setprofile(None)
    threading.setprofile(None)


@contextmanager
def counted(counter: Counter) -> Iterator[None]:
    counter.is_on = True
    try:
        yield
    finally:
        counter.is_on = False


@asynccontextmanager
async def four_players(path: Path) -> AsyncIterator[RunningBot]:
    """A game of four that has begun on Discord."""
    async with FakeDiscord(PLAYERS) as fake:
        running = RunningBot(fake, path / "railpost.db")
        async with running.online():
            await running.start_game(*PLAYERS)
            yield running


async def card_to_press(running: RunningBot, player: str, counter: Counter) -> Message:
    """The card of a player, once nothing else is to be sent and the counter begins anew."""
    card = await running.wait_for_card(player)
    await running.wait_for_delivery()
    counter.reset()
    return card


async def test_a_press_until_its_event_is_stored(
    counter: Counter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The least of three presses, as the service has other things to do beside each."""
    counts, work = [], []
    async with four_players(tmp_path) as running:
        stored, is_stored = Store.commit_move, asyncio.Event()

        async def commit_and_stop(store: Store, commit: Any) -> None:
            await stored(store, commit)
            counter.is_on = False
            is_stored.set()

        monkeypatch.setattr(Store, "commit_move", commit_and_stop)
        for player in PLAYERS[:3]:
            card = await card_to_press(running, player, counter)
            is_stored.clear()
            counter.is_on = True
            await running.fake.click(player, card, "Pass")
            await is_stored.wait()
            work.append((counter.applied, counter.reads, counter.writes))
            counts.append((len(counter.files), counter.outside_engine, str(counter)))
        await running.wait_for_card("Dan")
    files, outside_engine, told = min(counts)
    print(told)
    assert min(work) == (1, 1, 1), work
    assert files <= 50 and outside_engine <= 37, told


def has_card(running: RunningBot, mention: str) -> bool:
    return any(each.text.startswith(mention) for each in running.cards)


async def test_a_press_until_the_next_card_is_shown(counter: Counter, tmp_path: Path) -> None:
    """The least of three presses. With the clock, which may follow one press during the next."""
    counts = []
    async with four_players(tmp_path) as running:
        fake = running.fake
        for player, successor in pairwise(PLAYERS):
            card = await card_to_press(running, player, counter)
            mention = fake.find_user(successor).mention
            with counted(counter):
                await fake.click(player, card, "Pass")
                await fake.wait_until(partial(has_card, running, mention), f"a card for {successor}")
            counts.append((counter.writes, counter.reads))
    print(counts)
    writes, reads = min(counts)
    assert writes <= 5 and reads <= 7, counts


async def test_an_email_until_its_receipt(counter: Counter, tmp_path: Path) -> None:
    async with served(tmp_path) as office:
        await office.table("1830", ("Ann", "Bob"))
        ann = office.player("Ann")
        await ann.email()
        with counted(counter):
            await ann.said("buy SV")
    print(counter)
    assert len(counter.files) <= 100 and counter.applied <= 4, counter


async def test_a_notification_until_its_email(counter: Counter, tmp_path: Path) -> None:
    async with served(tmp_path) as office:
        table = await office.table("1830", ("Ann", "Bob"))
        ann, bob = office.player("Ann"), office.player("Bob")
        await ann.email()
        await bob.email()
        person = next(each.person_id for each in table.seated_players if each.name == "Ann")
        await office.service.submit(table.id, 0, ["buy SV"], None, "ann.1", person_id=person)
        with counted(counter):
            email = await bob.email()
    assert "It is your turn, Bob." in email.text
    print(counter)
    assert len(counter.files) <= 74, counter
