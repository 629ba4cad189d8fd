"""Kill -9 at the worst moments: no order speaks twice, none is lost, no reminder is doubled.

Each step runs in a process of its own, which is forked and ends itself with SIGKILL at one place, or goes on
to its end; the next process opens the same store.
"""

from __future__ import annotations

import asyncio
import os
import signal
import traceback
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from bot.features.standing_orders import runner
from bot.hub.cache import TableCache
from bot.hub.commit import CommitDraft
from bot.hub.notifications import clock_messages
from bot.hub.request import Completed, QueryAnswer
from storage import move_commit
from storage.repositories import outbox
from storage.repositories.outbox import OutboxRepository
from tests.pace.conftest import START, DrivenTable

HALF = START + timedelta(hours=12)
Step = Callable[[DrivenTable], Awaitable[None]]


def die(*_: Any, **__: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


class Processes:
    """Processes on one store, one after the other or at once."""

    def __init__(self, address: str) -> None:
        self.driven = DrivenTable(address)

    def here(self, step: Step) -> None:
        """Run a step in this process."""
        asyncio.run(self._with_store(step))

    async def _with_store(self, step: Step) -> None:
        await self.driven.open()
        try:
            await step(self.driven)
        finally:
            await self.driven.store.close()

    def fork(self, step: Step, dies_in: tuple[Any, str] | None = None) -> int:
        """Run a step in a process of its own, which kills itself when it calls that function; its pid."""
        pid = os.fork()
        if pid == 0:
            try:
                if dies_in:
                    setattr(*dies_in, die)
                asyncio.run(self._with_store(step))
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        return pid

    def kill(self, step: Step, dies_in: tuple[Any, str]) -> None:
        """Run a step in a process that is killed on its way."""
        _, status = os.waitpid(self.fork(step, dies_in), 0)
        assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL

    def at_once(self, *steps: Step) -> None:
        """Run steps in processes at the same time, to their ends."""
        for pid in [self.fork(step) for step in steps]:
            assert os.waitpid(pid, 0)[1] == 0

    def log(self) -> list[str]:
        """The moves that are stored."""
        lines: list[str] = []

        async def read(driven: DrivenTable) -> None:
            entries = await driven.service.queries.log(driven.table)
            lines.extend(f"{entry.line}" for entry in entries if entry.kind == "move")

        self.here(read)
        return lines


@pytest.fixture
def processes(address: str) -> Processes:
    """Bob has left an order that answers Ann's move."""
    found = Processes(address)

    async def prepare(driven: DrivenTable) -> None:
        await driven.begin("24h")
        assert isinstance(await driven.say("Bob", "auto bid BO up to 260"), QueryAnswer)

    found.here(prepare)
    return found


async def move(driven: DrivenTable) -> None:
    """Ann's move, under one request however often it is sent."""
    ann = driven.people["Ann"]
    result = await driven.service.submit(driven.table, None, ["buy SV"], None, "one", person_id=ann)
    assert isinstance(result, Completed), result


async def the_order_has_spoken_once(driven: DrivenTable) -> None:
    """As its owner sees it."""
    listed = await driven.say("Bob", "auto")
    assert isinstance(listed, QueryAnswer) and listed.text.count("has said `bid BO 225`") == 1, listed


async def tick(driven: DrivenTable) -> None:
    await driven.service.clock.tick()


@pytest.mark.parametrize(
    "place",
    [
        (runner.OrderRunner, "run"),  # the move is played, and nobody has asked the orders
        (runner, "run_orders"),
        (CommitDraft, "sentences_of_orders"),  # they have spoken, and nothing is written
        (move_commit, "write_commits"),
        (outbox, "enqueue_messages"),  # in the middle of the transaction
        (TableCache, "wake_subscribers"),  # everything is written, and nobody knows
    ],
    ids=lambda place: str(place[1]),
)
def test_an_order_speaks_once_whenever_its_process_is_killed(
    processes: Processes, place: tuple[Any, str]
) -> None:
    processes.kill(move, place)
    assert processes.log() in ([], ["buy SV", "bid BO 225"]), "all of it or nothing"
    processes.here(move)
    processes.here(tick)
    assert processes.log() == ["buy SV", "bid BO 225"]
    processes.here(the_order_has_spoken_once)


def test_two_processes_with_one_move_say_the_order_once(processes: Processes) -> None:
    processes.at_once(move, move, tick)
    assert processes.log() == ["buy SV", "bid BO 225"]


@pytest.mark.parametrize(
    "place",
    [
        (clock_messages, "reminder_messages"),  # the row is taken, and no message is there
        (OutboxRepository, "enqueue"),
        (TableCache, "wake_subscribers"),  # the message is there, and nobody knows
    ],
)
def test_a_reminder_is_sent_once_whenever_its_process_is_killed(
    processes: Processes, place: tuple[Any, str]
) -> None:
    processes.here(lambda driven: driven.tick())
    processes.driven.now = HALF
    processes.kill(tick, place)
    processes.driven.now += timedelta(minutes=2)
    processes.here(lambda driven: driven.tick())
    processes.at_once(tick, tick)
    processes.here(lambda driven: driven.tick())
    assert len(processes.driven.heard("Ann", "reminder")) == 1


@pytest.mark.parametrize("days", [-1, 1])
def test_killed_and_started_with_another_time(processes: Processes, days: int) -> None:
    """Back by a day, the reminder that was written is the only one; forward, one for what is overdue."""
    processes.here(lambda driven: driven.tick())
    processes.driven.now = HALF
    processes.kill(tick, (TableCache, "wake_subscribers"))
    processes.driven.now += timedelta(days=days)
    processes.here(lambda driven: driven.tick())
    processes.driven.now = HALF + timedelta(days=max(days, 0), minutes=5)
    processes.here(lambda driven: driven.tick())
    texts = processes.driven.heard("Ann", "reminder")
    assert len(texts) == len({text.partition(" mail ")[2] for text in texts})
    assert 1 <= len(texts) <= 2
