"""kill -9 between a wake-up and the move of an order, in a real process: none is lost, none speaks twice."""

from __future__ import annotations

import asyncio
import signal
import sys

import pytest

from bot.service.results import Completed
from bot.service.service import Service
from tests.service.conftest import ServiceHarness
from tests.service.test_orders import arm, trading
from tests.stores import sqlite_only

__all__ = ["trading"]

DYING = """
import asyncio, importlib, os, signal, sys
from bot.service.service import Service
from storage import open_store

address, table, person, module, owner, name = sys.argv[1:7]
holder = importlib.import_module(module)
for part in filter(None, owner.split(".")):
    holder = getattr(holder, part)

def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)

async def main():
    async with await open_store(address) as store:
        setattr(holder, name, die)
        service = Service(store)
        await service.submit(int(table), 0, ["pass"], None, "killed", person_id=int(person))

asyncio.run(main())
"""
POINTS = [
    ("bot.service.order_speaking", "OrderSpeaker", "wake"),
    ("bot.service.order_speaking", "", "run_orders"),
    ("storage.repositories.outbox", "", "enqueue_messages"),
    ("storage.unit_of_work", "", "write_move_commit"),
    ("bot.service.table_cache", "TableCache", "wake_subscribers"),
]
"""Before the orders are asked, while they are, in the middle of the transaction, before and after it."""


@sqlite_only
@pytest.mark.parametrize("point", POINTS, ids=lambda point: point[2])
async def test_a_killed_process_has_said_the_move_and_its_orders_or_nothing(
    trading: ServiceHarness, address: str, point: tuple[str, str, str]
) -> None:
    await arm(trading, "Bob", "auto pass")
    await arm(trading, "Cid", "auto pass")
    before = await trading.lines()
    arguments = [address, str(trading.table), str(trading.people["Ann"]), *point]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", DYING, *arguments, stderr=asyncio.subprocess.PIPE
    )
    _, errors = await process.communicate()
    assert process.returncode == -signal.SIGKILL, errors.decode()
    assert not errors
    restarted = ServiceHarness(trading.store, Service(trading.store), trading.people, trading.table, 500)
    after = await restarted.lines()
    assert after in (before, [*before, "pass", "pass", "pass"])
    assert (after != before) == (point[2] == "wake_subscribers")
    again = await restarted.say("Ann", "pass", request="killed")
    assert isinstance(again, Completed), "the same request has the same answer, and no second effect"
    assert await restarted.lines() == [*before, "pass", "pass", "pass"]
    listed = await arm(restarted, "Bob", "auto")
    assert listed.count("has said") == 1
