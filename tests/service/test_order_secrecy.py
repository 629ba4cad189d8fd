"""A random game through the service, in which every seat leaves random orders.

Before one speaks, nobody else's view differs in any channel from that of the game without it.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from bot.service.limits import DEFAULT_LIMITS, Limits
from bot.service.live_table import seat_number
from bot.service.results import Completed, LineRefused, QueryAnswer
from bot.service.service import Service
from bot.simulation.order_games import random_order_line
from bot.simulation.random_player import RandomPlayer
from engine import format_action
from engine.title import SITE_CONVENTIONS
from tests.service.conftest import NAMES, ServiceHarness
from tests.service.test_hidden_orders import read_by

GAMES = [("1817", ()), ("1830", (SITE_CONVENTIONS,)), ("1851", ()), ("1870", (SITE_CONVENTIONS,))]
SOAK = [(title, chosen) for title in ("1817", "1830", "1851", "1870") for chosen in ((), (SITE_CONVENTIONS,))]


class Referee:
    """Plays a game, leaves orders, and compares what others see."""

    def __init__(self, world: ServiceHarness, seed: int) -> None:
        self.world, self.rng, self.player = world, Random(f"secrecy {seed}"), RandomPlayer(seed, len(NAMES))
        self.counts = Counter[str]()

    async def begin(self, title: str, chosen: tuple[str, ...]) -> None:
        world = self.world
        world.service = Service(world.store, limits=Limits(dict.fromkeys(DEFAULT_LIMITS, 10**6)))
        for name in NAMES:
            await world.person(name, discord=f"{len(world.people) + 1}", email=f"{name}@example.org")
        info = await world.service.lobby.create(title, world.people["Ann"], options=chosen)
        for name in NAMES:
            await world.service.lobby.join(info.id, world.people[name], name)
        await world.service.lobby.start(info.id, by=world.people["Ann"], order=NAMES, seed=7)
        world.table = info.id

    async def play(self, moves: int, arming: float) -> None:
        for _ in range(moves):
            view = await self.world.service.queries.view(self.world.table)
            if view.state is None or view.state.game_over:
                return
            if self.rng.random() < arming:
                await self.arm(self.rng.randrange(len(NAMES)))
                view = await self.world.service.queries.view(self.world.table)
            assert view.state is not None
            seat, action, _ = self.player.choose_action(view.state)
            line = format_action(view.state, action)
            name = NAMES[seat_number(seat)]
            done = await self.world.say(name, line)
            if isinstance(done, LineRefused) and "orders can be left" in done.reason:
                await self.world.say(name, "auto off")
                done = await self.world.say(name, line)
            assert isinstance(done, Completed | QueryAnswer), (line, done)
            self.counts["moves"] += 1

    async def arm(self, seat: int) -> None:
        """Leave a random order; until it says something, another player sees what they saw before."""
        world = self.world
        view = await world.service.queries.view(world.table)
        assert view.state is not None
        other = self.rng.choice([name for name in NAMES if name != NAMES[seat]])
        before, sent = await read_by(world, other), await self.sent_to_others(seat)
        answer = await world.say(NAMES[seat], random_order_line(view.state, self.rng, f"p{seat}"))
        now = await world.service.queries.view(world.table)
        if now.seq != view.seq:
            self.counts["spoke at once"] += 1
            return
        assert await read_by(world, other) == before
        assert await self.sent_to_others(seat) == sent
        self.counts["armed" if isinstance(answer, QueryAnswer) else "refused"] += 1

    async def sent_to_others(self, seat: int) -> list[str]:
        """The messages that are not to the owner of the order alone."""
        messages = await self.world.sent()
        return [repr(n) for _, n in messages if (n.kind, n.seat) != ("order", seat)]


@pytest.mark.parametrize(("title", "chosen"), GAMES)
async def test_nobody_elses_view_differs_before_an_order_speaks(
    empty: ServiceHarness, title: str, chosen: tuple[str, ...]
) -> None:
    referee = Referee(empty, 3)
    await referee.begin(title, chosen)
    await referee.play(24, 0.25)
    assert referee.counts["armed"] >= 2 and referee.counts["moves"] >= 15, referee.counts


@pytest.mark.soak
@pytest.mark.parametrize(("title", "chosen"), SOAK)
async def test_nobody_elses_view_differs_in_a_whole_game(
    empty: ServiceHarness, title: str, chosen: tuple[str, ...]
) -> None:
    referee = Referee(empty, 11)
    await referee.begin(title, chosen)
    await referee.play(3000, 0.08)
    assert referee.counts["armed"] >= 10, referee.counts
