"""What is loaded equals what was played; nothing in memory is ahead of the disk."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

import engine
from bot import memory
from bot.answers import Done
from bot.service import Service
from engine import kernel
from storage import StoreError, backup, outbox, restore
from tests.service.conftest import World
from tests.stores import in_a_file


async def wander(world: World, steps: int, seed: int) -> None:
    """Play at random, now and then taking back or playing again."""
    dice = random.Random(seed)
    for step in range(steps):
        view = await world.service.view(world.table)
        assert view.state is not None
        if view.state.over:
            return
        roll = dice.random()
        seat, line = dice.choice(view.asked).seat, ""
        if roll < 0.08 and view.may_undo is not None:
            seat, line = view.may_undo, "undo"
        elif roll < 0.14 and view.may_redo is not None:
            seat, line = view.may_redo, "redo"
        else:
            line = dice.choice(engine.legal_lines(view.state, f"p{seat}"))
        answer = await world.service.say(world.table, seat, [line], None, f"step{step}")
        assert isinstance(answer, Done), (line, answer)


@pytest.mark.parametrize("seed", [1, 2])
async def test_loading_gives_what_was_played(world: World, seed: int) -> None:
    await wander(world, 120, seed)
    dora = await world.person("Dora")
    await world.service.replace(world.table, 1, dora, "Dora", by=None)
    await wander_on(world, seed + 10)
    played, loaded = world.service, Service(world.store)
    one, two = await played.view(world.table), await loaded.view(world.table)
    assert one == two
    assert await played.log(world.table) == await loaded.log(world.table)
    assert played._plays[world.table].undos == loaded._plays[world.table].undos
    async with world.store.read() as unit:
        head = await unit.moves.head(world.table)
    assert engine.encoded(two.state) == head.state  # type: ignore[arg-type]


async def wander_on(world: World, seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(25):
        view = await world.service.view(world.table)
        assert view.state is not None
        seat = dice.choice(view.asked).seat
        line = dice.choice(engine.legal_lines(view.state, f"p{seat}"))
        assert isinstance(await world.service.say(world.table, seat, [line], None, None), Done)


async def test_every_position_there_ever_was(world: World) -> None:
    seen: dict[int, bytes] = {}
    dice = random.Random(5)
    for _ in range(90):
        view = await world.service.view(world.table)
        assert view.state is not None
        seen[view.seq] = engine.encoded(view.state)
        line = dice.choice(engine.legal_lines(view.state, f"p{view.asked[0].seat}"))
        seat = view.asked[0].seat
        if dice.random() < 0.15 and view.may_undo is not None:
            seat, line = view.may_undo, "undo"
        await world.service.say(world.table, seat, [line], None, None)
    fresh = Service(world.store)
    for seq, state in seen.items():
        assert engine.encoded(await fresh.state_at(world.table, seq)) == state
    with pytest.raises(ValueError):
        await fresh.state_at(world.table, 0)
    with pytest.raises(ValueError):
        await fresh.state_at(world.table, 9999)


async def test_loading_asks_no_rule(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await wander(world, 40, 3)
    expected = await world.service.state_at(world.table)

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a rule was asked")

    monkeypatch.setattr(engine, "play", forbidden)
    monkeypatch.setattr(engine, "parse", forbidden)
    monkeypatch.setattr(engine, "new_game", forbidden)
    monkeypatch.setattr(kernel, "refusal", forbidden)
    monkeypatch.setattr(kernel, "settle", forbidden)
    loaded = await Service(world.store).state_at(world.table)
    assert engine.encoded(loaded) == engine.encoded(expected)


async def test_a_transaction_that_fails_leaves_memory_as_it_was(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise StoreError("the disk is full")

    before = await world.service.view(world.table)
    with monkeypatch.context() as patched:
        patched.setattr(outbox, "enqueue", full)
        with pytest.raises(StoreError):
            await world.say("Ann", "buy SV", request="lost")
    assert await world.service.view(world.table) == before
    assert await Service(world.store).view(world.table) == before
    assert isinstance(await world.say("Ann", "buy SV", request="lost"), Done)


async def test_only_the_last_tables_stay_in_memory(world: World) -> None:
    service = Service(world.store, keep=2)
    tables = [(await service.create("1830", None)).id for _ in range(3)]
    for table in [*tables, world.table]:
        await service.view(table)
    assert service.peek(tables[0]) is None
    assert service.peek(world.table) is not None
    assert isinstance(await service.say(world.table, 0, ["buy SV"], None, None), Done)


async def test_what_happened_since_ones_last_move(world: World) -> None:
    await world.say("Ann", "buy SV")
    await world.say("Bob", "buy CS")
    await world.say("Cid", "bid MH 115")
    assert [h.line for h in await world.service.since(world.table, 0)] == ["buy CS", "bid MH 115"]
    assert [h.line for h in await world.service.since(world.table, 0, 3)] == ["buy CS"]
    assert [h.line for h in await world.service.since(world.table, 2)] == []


@in_a_file
async def test_a_backup_put_back_under_a_running_service(world: World, tmp_path: Path) -> None:
    await world.say("Ann", "buy SV")
    await backup(world.store, tmp_path / "kept.db")
    await world.say("Bob", "buy CS")
    await world.say("Cid", "buy DH")
    await restore(tmp_path / "kept.db", world.store, replace=True)
    answer = await world.say("Bob", "bid CA 165")
    assert isinstance(answer, Done)
    assert await world.lines() == ["buy SV", "bid CA 165"]


async def test_what_another_process_plays_is_followed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "FOLLOWING", 0.01)
    await world.service.view(world.table)
    following = asyncio.ensure_future(world.service.run())
    try:
        with world.service.follow() as bell:
            await Service(world.store).say(world.table, 0, ["buy SV"], None, None)
            async with asyncio.timeout(20):
                await bell.wait()
        seen = world.service.peek(world.table)
        assert seen is not None and seen.asked[0].name == "Bob"
    finally:
        following.cancel()
