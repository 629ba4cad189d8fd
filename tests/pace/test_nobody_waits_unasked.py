"""Whole games on a driven clock, as people play them: one is always late, one always answers what is old.

Everybody for whom the table waits has been asked since then, on a channel that reaches them, and nobody is
asked twice for one decision but by reminders. `pytest -s` prints how often anybody was asked and reminded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.hub.request import ConfirmationRequired, LineFailure, QueryAnswer, StaleDecision
from tests.game_text.histories import history_of
from tests.pace.conftest import NAMES, DrivenTable

GAMES = Path(__file__).parent.parent / "games"
LATE, STALE = "Bob", "Cid"
HOLDOFF = timedelta(seconds=120)  # of a driven table


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[DrivenTable]:
    world = DrivenTable(f"sqlite+aiosqlite:///{tmp_path}/railpost.db")
    await world.open()
    yield world
    await world.store.close()


class PlayedGame:
    """A recorded game that is played again by three people."""

    def __init__(self, world: DrivenTable, *, discord: bool) -> None:
        self.world, self.is_on_discord = world, discord
        self.figures: Counter[str] = Counter()
        self.asked = set[int]()  # the seats that wait for nothing but their players
        self.wrong: list[str] = []
        self._seen = 0

    async def play(self, game: str, title: str, moves: int) -> None:
        history = history_of(GAMES / f"{game}.18xx")
        await self.world.begin("24h", discord=self.is_on_discord, title=title)
        await self._check("start", None)
        for number, move in enumerate(history.lines[:moves]):
            seat = int(move.seat[1:])
            await self._say(number, seat, move.line)
            await self._check(f"{number} {move.line}", seat)
        for told in self.world.told:
            who = told.to if told.to != "table" else f"table, {told.channel}"
            self.figures[f"{told.kind} to {who}"] += 1

    async def _check(self, what: str, mover: int | None) -> None:
        """A player for whom the table begins to wait is asked once; nobody else is."""
        await self.world.wait_until(self.world.now + HOLDOFF)
        view = await self.world.service.queries.view(self.world.table)
        waiting = {p.seat for p in view.pending if p.acts_now and p.is_main}
        told = [each for each in self.world.told[self._seen :] if each.kind == "turn"]
        self._seen = len(self.world.told)
        for seat in waiting:
            asked = [each for each in told if each.to == NAMES[seat]]
            is_new = seat not in self.asked and not (seat == mover and seat in self.asked)
            if is_new and not asked and seat != mover:
                self.wrong.append(f"{what}: {NAMES[seat]} waits unasked")
            for channel, count in Counter(each.channel for each in asked).items():
                if count > 1:
                    self.wrong.append(f"{what}: {NAMES[seat]} is asked {count} times, {channel}")
        for each in told:
            if each.to in NAMES and NAMES.index(each.to) not in {p.seat for p in view.pending}:
                self.wrong.append(f"{what}: {each.to} is asked for nothing")
        self.asked = waiting

    async def _say(self, number: int, seat: int, line: str) -> None:
        """A move as its player makes it."""
        name, world = NAMES[seat], self.world
        self.figures["moves"] += 1
        if name == LATE and number % 3 == 0:
            await world.wait_until(world.now + timedelta(hours=30))
        if name == STALE:
            view = await world.service.queries.view(world.table)
            decision = view.decision_id_of(seat) or "0.1"
            old = f"{decision.partition('.')[0]}.{max(view.seq - 1, 0)}"
            if old != decision:
                result = await world.service.submit(
                    world.table, seat, (line,), old, f"old{number}", person_id=world.people[name]
                )
                if isinstance(result, QueryAnswer):
                    return  # an order, left for whatever comes
                self.figures["old answers"] += 1
                assert isinstance(result, StaleDecision | LineFailure), (line, result)
        result = await world.say(name, line)
        if isinstance(result, ConfirmationRequired):
            result = await world.say(name, f"{line} yes")
        is_of_the_site = line.startswith("standing")  # there a limit stays when it has spoken
        assert is_of_the_site or not isinstance(result, LineFailure), (number, name, line, result)


@pytest.mark.parametrize(
    ("game", "title", "discord", "moves"),
    [
        ("1817-3p-5601", "1817", True, 270),
        ("1870-3p-5004", "1870", True, 185),
        ("1830-3p-9", "1830", False, 115),
    ],
)
async def test_nobody_waits_unasked_and_nobody_is_asked_wrongly(
    table: DrivenTable, game: str, title: str, discord: bool, moves: int
) -> None:
    """Up to the last kind of question or event that is new in the first 300 moves."""
    played = PlayedGame(table, discord=discord)
    await played.play(game, title, moves)
    print(f"{game}: {dict(sorted(played.figures.items()))}")
    assert played.wrong == []
