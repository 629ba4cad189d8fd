"""A random game through the service, in which every seat leaves random orders, beside the same game without.

In the second game the owners of the orders say by hand what the orders say in the first. Whatever the others
are shown, in any channel (`player_views`), is the same in both, before an order speaks and after. So are
their messages; only the notifications of turns are fewer after one has spoken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from bot.hub.people import LIMITS, Limits
from bot.hub.play import OFFERED_ALREADY
from bot.hub.request import CommandResult, Completed, ConfirmationRequired, LineRefused, QueryAnswer
from bot.position.pending import seat_number
from bot.service import Service
from bot.tools.simulation.random_player import RandomPlayer
from engine import format_action
from engine.title import SITE_CONVENTIONS
from storage import open_store
from storage.repositories.tables import TableRepository
from tests.service.conftest import NAMES, ServiceHarness
from tests.service.player_views import RequestedPictures, views_of
from tests.simulation.order_games import random_order_line
from tests.tables import started

GAMES = [("1817", ()), ("1830", (SITE_CONVENTIONS,)), ("1851", ()), ("1870", (SITE_CONVENTIONS,))]
SOAK = [(title, chosen) for title in ("1817", "1830", "1851", "1870") for chosen in ((), (SITE_CONVENTIONS,))]
MOMENT = datetime(2026, 3, 2, 12, tzinfo=UTC)
THREAD = {"guild": 1, "channel": 2, "thread": 3}


class Referee:
    """Plays a game, leaves orders, and compares what others see with the game without orders.

    drawing: how often pictures are really drawn. counts: how often was what. channels: texts compared.
    """

    def __init__(self, world: ServiceHarness, twin: ServiceHarness, seed: int, drawing: float = 0) -> None:
        self.world, self.twin = world, twin
        self.rng, self.player = Random(f"secrecy {seed}"), RandomPlayer(seed, len(NAMES))
        self.pictures, self.drawing = RequestedPictures(), drawing
        self.counts, self.channels = Counter[str](), Counter[str]()
        self.has_spoken, self.speakers = False, set[str]()

    async def begin(self, title: str, chosen: tuple[str, ...]) -> None:
        for world in (self.world, self.twin):
            world.service = Service(world.store, limits=Limits(dict.fromkeys(LIMITS, 10**6)))
            for number, name in enumerate(NAMES, 1):
                await world.person(name, discord=f"{number}", email=f"{name}@example.org")
            table = await started(world.service, world.people, title, seed=7, options=chosen, location=THREAD)
            world.table = table.id

    async def play(self, moves: int, arming: float, comparing: float) -> None:
        for _ in range(moves):
            view = await self.world.service.queries.view(self.world.table)
            if view.state is None or view.state.game_over:
                self.counts["games over"] += 1
                return
            if self.rng.random() < arming:
                await self.arm(self.rng.randrange(len(NAMES)))
                view = await self.world.service.queries.view(self.world.table)
            assert view.state is not None
            if view.state.game_over:
                continue
            seat, action, _ = self.player.choose_action(view.state)
            line = format_action(view.state, action)
            name = NAMES[seat_number(seat)]
            done = await said(self.world, name, line)
            if isinstance(done, LineRefused) and "orders can be left" in done.reason:
                await self.world.say(name, "auto off")
                done = await said(self.world, name, line)
            if isinstance(done, LineRefused) and done.reason == OFFERED_ALREADY:
                continue
            assert isinstance(done, Completed | QueryAnswer), (line, done)
            self.counts["moves"] += 1
            await self.follow()
            if self.rng.random() < comparing:
                await self.compare(self.rng.choice(NAMES))

    async def arm(self, seat: int) -> None:
        """Leave a random order; until it says something, another player sees what they saw before."""
        view = await self.world.service.queries.view(self.world.table)
        assert view.state is not None
        line = random_order_line(view.state, self.rng, f"p{seat}")
        answer = await self.world.say(NAMES[seat], line)
        now = await self.world.service.queries.view(self.world.table)
        if not isinstance(answer, QueryAnswer):
            self.counts["refused"] += 1
            return
        await self.follow()
        await self.compare(self.rng.choice([name for name in NAMES if name != NAMES[seat]]))
        self.counts["spoke at once" if now.seq != view.seq else "armed"] += 1

    async def follow(self) -> None:
        """In the game without orders, owners say by hand what was said in the other."""
        known = (await self.twin.service.queries.view(self.twin.table)).seq
        entries = await self.world.service.queries.log(self.world.table, known)
        table = await self.world.service.cache.get(self.world.table)
        for entry in entries:
            if entry.kind == "move" and entry.seat is not None:
                done = await said(self.twin, NAMES[entry.seat], entry.line)
                assert isinstance(done, Completed), (entry.line, done)
            if table.log.row(entry.seq).order_id is not None:
                self.counts["said by orders"] += 1
                self.has_spoken = True
                self.speakers.add(NAMES[entry.seat or 0])
        self.counts["most armed"] = max(self.counts["most armed"], len(table.metadata.orders))
        assert (await self.twin.service.queries.view(self.twin.table)).seq == table.seq

    async def compare(self, name: str) -> None:
        """A player is shown the same in both games, and gets the same messages until an order speaks."""
        worlds = (self.world, self.twin)
        self.pictures.draws = self.rng.random() < self.drawing
        here, there = [await views_of(each, name, self.pictures) for each in worlds]
        differing = ("turn", "refresh", "order") if self.has_spoken else ("order",)
        here["messages"], there["messages"] = [await _messages_to(each, name, differing) for each in worlds]
        if self.has_spoken:
            self.has_spoken = False
            await self.world.deliver(), await self.twin.deliver()
        if name in self.speakers:
            del here["own mail"]  # it says what their orders have said
        for channel, texts in here.items():
            assert texts == there[channel], f"{channel} of {name}"
            self.channels[channel] += len(texts)
        self.counts["positions"] += 1


async def said(world: ServiceHarness, name: str, line: str) -> CommandResult:
    """What a line has led to; one that has to be confirmed is confirmed."""
    done = await world.say(name, line)
    return await world.say(name, done.line) if isinstance(done, ConfirmationRequired) else done


async def _messages_to(world: ServiceHarness, name: str, but: tuple[str, ...]) -> list[str]:
    """The messages to a player or to everybody that wait, without what they tell of the player's own orders.

    A turn that tells of them is sent also if a later one follows; such a turn is left out. but: kinds that
    are left out.
    """
    mine = (None, world.people[name])
    waiting = [(m.channel, n) for m, n in await world.sent() if n.person_id in mine and n.kind not in but]
    last_turns = {(channel, n.seat): n for channel, n in waiting if n.kind == "turn"}
    messages = []
    for channel, told in waiting:
        of_others = tuple(each for each in told.sentences if not each.startswith("Your order `"))
        is_kept = told.kind == "turn" and of_others != told.sentences
        if not is_kept or told is last_turns[channel, told.seat]:
            messages.append(repr(replace(told, sentences=of_others)))
    return messages


Worlds = tuple[ServiceHarness, ServiceHarness]


@pytest.fixture
async def worlds(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Worlds]:
    """A store for the game with orders, and one for the game without, at one moment, with one table code."""

    async def same_code(_: TableRepository) -> str:
        return "QQQ"

    monkeypatch.setattr(TableRepository, "_unused_code", same_code)
    beside = f"sqlite:///{tmp_path / 'without.db'}"
    async with (
        await open_store(address, now=lambda: MOMENT) as store,
        await open_store(beside, now=lambda: MOMENT) as other,
    ):
        yield ServiceHarness(store, Service(store), {}), ServiceHarness(other, Service(other), {})


@pytest.mark.parametrize(("title", "chosen"), GAMES)
async def test_nobody_elses_view_differs_from_that_of_a_game_without_orders(
    worlds: Worlds, title: str, chosen: tuple[str, ...]
) -> None:
    referee = Referee(*worlds, 3)
    await referee.begin(title, chosen)
    await referee.play(16, 0.6, 0)
    assert referee.counts["armed"] >= 2 and referee.counts["moves"] >= 12, referee.counts


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("title", "chosen"), SOAK)
async def test_nobody_elses_view_differs_in_a_whole_game(
    worlds: Worlds, title: str, chosen: tuple[str, ...]
) -> None:
    referee = Referee(*worlds, 11, drawing=0.1)
    await referee.begin(title, chosen)
    await referee.play(3000, 0.06, 0.01)
    print(title, *chosen, dict(referee.counts), dict(referee.channels), referee.pictures.drawn)
    assert referee.counts["armed"] >= 5, referee.counts
