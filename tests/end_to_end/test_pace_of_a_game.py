"""A game of 1830 on a driven clock: who was told what, and when, read for manners.

Ann has a daily digest, Bob plays by mail only and sleeps from 22:00 to 07:00, Cid is away for a week, in
which Dora plays for them. Now and then a player answers late. `python -m tests.end_to_end.test_pace_of_a_game
900` prints the transcript of so many sittings, which is a whole game.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import pytest

import engine
from bot.position.pending import engine_seat
from bot.tools.simulation.random_player import RandomPlayer
from tests.pace.conftest import NAMES, DrivenTable, Told
from tests.pace.test_pace import local

PACE = "24h, bank 48h, hold-off 2m, then pause"
SITTINGS = 45
LATE_EVERY, LATE_HOURS = 14, 40  # beyond the allowance of a day, within the time bank
AWAY_AFTER, AWAY_UNTIL = 8, "2026-06-12"
HOURS = {"Bob": 5, "Cid": 3, "Dora": 6}


def hour_in_berlin(moment: datetime) -> int:
    return (
        moment.astimezone(local("2026-06-01 00:00").tzinfo).hour + 2
    )  # Berlin is two hours ahead of UTC in June


async def prepare(world: DrivenTable) -> None:
    await world.begin(PACE)
    await world.person("Dora")
    await world.settings("Ann", "zone Europe/Berlin", "digest 08:00")
    await world.settings("Bob", "zone Europe/Berlin", "quiet 22:00-07:00", "tell mail")
    await world.settings("Cid", "zone America/New_York", "next on")


async def sit_down(world: DrivenTable, seat: int, person: str, player: RandomPlayer) -> None:
    """One sitting: the person plays until the table waits for somebody else."""
    for _ in range(12):
        view = await world.service.queries.view(world.table)
        if view.state is None or not any(p.seat == seat and p.acts_now for p in view.pending):
            break
        action, _ = player.choose_for(view.state, engine_seat(seat))
        line = engine.format_action(view.state, action)
        await world.service.submit(
            world.table, seat, [line], None, None, person_id=world.people[person], transport="mail"
        )
    await world.tick()


def next_sitting(world: DrivenTable, person: str) -> datetime:
    """When a person looks next: Ann after her digest, the others some hours later, in the day."""
    if person == "Ann":
        day = world.now.astimezone(local("2026-06-01 00:00").tzinfo)
        today = day.replace(hour=7, minute=0, second=0, microsecond=0)  # 09:00 in Berlin
        return today if today > world.now else today + timedelta(days=1)
    moment = world.now + timedelta(hours=HOURS[person])
    while not 8 <= hour_in_berlin(moment) % 24 < 22:
        moment += timedelta(hours=1)
    return moment


async def play(world: DrivenTable, sittings: int = SITTINGS) -> None:
    await prepare(world)
    player = RandomPlayer(3, len(NAMES))
    for sitting in range(sittings):
        if sitting == AWAY_AFTER:
            await world.settings("Cid", f"away until {AWAY_UNTIL} deputy Dora")
        view = await world.service.queries.view(world.table)
        if view.table.status == "paused":  # the time of a player was up; the host goes on when they are back
            world.now += timedelta(hours=5)
            await world.service.running.resume(world.table, by=world.people["Ann"])
            await world.tick()
            view = await world.service.queries.view(world.table)
        if view.table.status != "running":
            break
        pending = next(p for p in view.pending if p.acts_now)
        person_id = view.table.person_at(pending.seat)
        person = next(name for name, number in world.people.items() if number == person_id)
        if sitting % LATE_EVERY == LATE_EVERY - 1:
            await world.wait_until(world.now + timedelta(hours=LATE_HOURS))
        await world.wait_until(next_sitting(world, person))
        if (await world.service.queries.table_info(world.table)).status == "running":
            await sit_down(world, pending.seat, person, player)


def transcript(told: list[Told]) -> str:
    return "\n".join(
        f"{each.at:%a %d %H:%M}  {each.to:5}  {each.channel:6}  {each.kind:9}  {each.text[:110]}".rstrip()
        for each in told
    )


@pytest.fixture
async def played(address: str) -> DrivenTable:
    world = DrivenTable(address)
    await world.open()
    await play(world)
    await world.store.close()
    return world


async def test_who_was_told_what_and_when(played: DrivenTable) -> None:
    told = played.told
    days = (told[-1].at - told[0].at).days
    assert days >= 14, transcript(told)
    by_person = {name: [each for each in told if each.to == name] for name in played.people}
    digests = Counter(each.at.date() for each in by_person["Ann"] if each.kind == "digest")
    assert digests and max(digests.values()) == 1, "one digest a day"
    at_once = [each for each in by_person["Ann"] if each.kind == "turn" and each.at > told[3].at]
    assert at_once == [], "with a digest no turn is told at once"
    assert all(7 <= hour_in_berlin(each.at) < 22 for each in by_person["Bob"] if each.at > told[0].at)
    assert {each.channel for each in by_person["Bob"]} == {"mail"}
    away = [each for each in told if "Cid is away" in each.text]
    back = [each for each in told if each.text == "Cid is back."]
    assert {each.to for each in away} >= {"Bob"} and {each.to for each in back} >= {"Bob"}
    deputy = [each for each in by_person["Dora"] if each.kind == "turn"]
    assert deputy and all(away[0].at <= each.at <= back[0].at for each in deputy)
    absent = [each for each in by_person["Cid"] if away[0].at < each.at < back[0].at and each.kind == "turn"]
    assert absent == [], "the deputy is asked, not the absent player"
    repeated = Counter((each.at, each.to, each.channel, each.kind, each.text) for each in told)
    assert max(repeated.values()) == 1, "nothing is told twice"
    per_day = Counter((each.at.date(), each.to) for each in told if each.to == "Bob")
    assert max(per_day.values()) <= 8, "a day has no flood of messages"


async def _print() -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = DrivenTable(f"sqlite:///{Path(folder) / 'railpost.db'}")
        await world.open()
        await play(world, int(sys.argv[1]) if len(sys.argv) > 1 else SITTINGS)
        view = await world.service.queries.view(world.table)
        await world.store.close()
        print(transcript(world.told))
        print(view.table.status, view.table.round, view.seq, Counter((t.to, t.kind) for t in world.told))


if __name__ == "__main__":
    asyncio.run(_print())
