"""What every transport is told about the end of a game."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import engine
from bot.features.game_files.export import game_text_file
from bot.features.history.ending import ending_pictures, headline_of, make_ending, places_of
from bot.hub.result import LineRefused, QueryAnswer
from bot.pictures import workers
from bot.service import Service
from engine.game_text import replay
from renderers import Picture
from tests.fake_discord.running_bot import DOT, OnePixelPictures
from tests.game_text.histories import history_of
from tests.service.conftest import ServiceHarness

GAME = Path(__file__).parents[1] / "games/1830-3p-9.18xx"


async def finished(world: ServiceHarness) -> engine.State:
    """A table with a whole game; its last position."""
    history = history_of(GAME)
    moves = [(int(line.seat[1:]), line.line, line.events) for line in history.lines]
    world.table = (await world.service.lobby.import_game(history.start, moves, name="Found")).id
    return await world.service.queries.state_at(world.table)


async def test_winner_places_records_and_the_game_as_a_file(empty: ServiceHarness) -> None:
    state = await finished(empty)
    queries = empty.service.queries
    made = await make_ending(queries, empty.table, state)
    best, worth = next(iter(engine.standings(state).items()))
    assert made.headline == f"{state.name(best)} wins with ${worth:,}."
    assert made.places[0] == f"1. {state.name(best)} ${worth:,}" and len(made.places) == 3
    assert [record.partition(":")[0] for record in made.records][:2] == ["Best run", "Dearest share"]
    file = await game_text_file(queries, await queries.table_info(empty.table))
    assert file is not None and file.name.endswith(".18xx")
    again = replay(file.content.decode())
    assert again.failure is None and again.state and engine.standings(again.state) == engine.standings(state)


async def test_pictures_of_the_end(empty: ServiceHarness) -> None:
    state = await finished(empty)
    drawn = await ending_pictures(OnePixelPictures(), empty.service.queries, empty.table, state)
    assert [name for name, _ in drawn] == ["sheet", "worth", "prices", "revenue", "animation"]


class SlowAnimation(OnePixelPictures):
    """An animation that takes longer than anybody waits."""

    async def request(self, kind: str, *arguments: Any, **details: Any) -> Picture | None:
        if kind == "animation":
            await asyncio.Event().wait()
        return Picture(DOT, kind, 1, 1)


async def test_an_animation_that_takes_too_long_is_left_out(
    empty: ServiceHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(workers.PATIENCE, "ending", 0.2)
    state = await finished(empty)
    drawing = SlowAnimation().for_table(empty.table, "light", post="ending")
    drawn = await ending_pictures(drawing, empty.service.queries, empty.table, state)
    assert [name for name, _ in drawn] == ["sheet", "worth", "prices", "revenue"]


def test_equals_share_a_place_and_an_unfinished_game_has_a_leader() -> None:
    state = engine.new_game("1830", ["Ann", "Bob", "Cid"]).state
    assert headline_of(state) == "Ann, Bob and Cid lead with $800."
    state.cash["p1"] += 10
    assert headline_of(state) == "Bob leads with $810."
    assert list(places_of(state)) == ["1. Bob $810", "2. Ann $800", "2. Cid $800"]


async def test_charts_records_and_the_animation_at_any_time(world: ServiceHarness) -> None:
    """They need the log, which a table that is loaded for a move does not have."""
    await world.say("Ann", "buy SV")
    world.service = Service(world.store)
    chart = await world.say("Bob", "chart worth")
    assert isinstance(chart, QueryAnswer) and chart.picture == "worth" and "opening" in chart.text
    records = await world.say("Bob", "records")
    assert isinstance(records, QueryAnswer) and records.text == "No company has a price yet."
    film = await world.service.ask(world.table, "animation", person_id=None)
    assert isinstance(film, QueryAnswer) and film.picture == "animation"
    assert isinstance(await world.say("Bob", "chart luck"), LineRefused)
    refused = await world.say("Ann", "chart", "bid MH 115")
    assert isinstance(refused, LineRefused) and "alone" in refused.reason
