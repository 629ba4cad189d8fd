"""Tables take turns for their pictures."""

from __future__ import annotations

import asyncio

import pytest

from bot.pictures import workers
from bot.pictures.workers import FairQueue, PictureWorkers
from engine import new_game
from renderers import Picture


async def test_14_6_one_of_another_key_waits_for_one_turn_of_the_many() -> None:
    queue, order = FairQueue(1), list[str]()

    async def job(key: str, name: str) -> None:
        async with queue.turn(key):
            order.append(name)
            await asyncio.sleep(0)

    jobs = [asyncio.ensure_future(job("a", f"a{n}")) for n in range(100)]
    await asyncio.sleep(0)
    jobs += [asyncio.ensure_future(job("b", f"b{n}")) for n in range(2)]
    await asyncio.gather(*jobs)
    assert len(order) == 102 and order.index("b0") < 5 and order.index("b1") == order.index("b0") + 2
    assert queue.length == 0


async def test_14_6_no_more_than_the_limit_run_and_none_is_lost_by_a_cancellation() -> None:
    queue, running, most = FairQueue(2), 0, 0

    async def job(key: int) -> None:
        nonlocal running, most
        async with queue.turn(key):
            running += 1
            most = max(most, running)
            try:
                await asyncio.sleep(0)
            finally:
                running -= 1

    jobs = [asyncio.ensure_future(job(n % 3)) for n in range(30)]
    await asyncio.sleep(0)
    for job_to_cancel in jobs[1::4]:
        job_to_cancel.cancel()
    await asyncio.gather(*jobs, return_exceptions=True)
    assert most == 2 and queue.length == 0
    async with queue.turn("x"), queue.turn("y"):
        pass


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kinds of the pictures that were drawn, in their order."""
    kinds: list[str] = []

    async def render(self: PictureWorkers, kind: str, *_: object) -> Picture:
        kinds.append(kind)
        await asyncio.sleep(0)
        return Picture(b"", kind, 1, 1)

    monkeypatch.setattr(workers.PictureWorkers, "_render", render)
    return kinds


@pytest.mark.parametrize(("reader", "other"), [(None, 2), (7, 1)], ids=["another table", "the table itself"])
async def test_14_6_pictures_of_a_table_wait_behind_no_hundred_of_another(
    drawn: list[str], reader: int | None, other: int
) -> None:
    """Nor does what everybody sees wait behind the presses of one person at the same table."""
    pictures = PictureWorkers(1)
    positions = [new_game("1830", ["Ann", "Bob", f"Cid{n}"]).state for n in range(40)]
    busy = [asyncio.ensure_future(pictures.for_table(1, "light", reader=reader).map(s)) for s in positions]
    await asyncio.sleep(0)
    await pictures.for_table(other, "light").sheet(positions[0])
    assert drawn.index("sheet") <= 2
    await asyncio.gather(*busy)
