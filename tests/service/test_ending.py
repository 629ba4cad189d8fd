"""What every transport is told about the end of a game."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import engine
from bot.hub.feature import Page
from bot.hub.notifications.ending import headline_of, places_of
from bot.hub.notifications.messages import Notification
from bot.hub.request import Completed, LineRefused, QueryAnswer
from bot.pictures import workers
from bot.pictures.views import page_pictures
from bot.pictures.workers import Pictures
from bot.service import Service
from engine.game_text import GameHistory, replay
from renderers import Picture
from tests.fake_discord.running_bot import DOT, OnePixelPictures
from tests.game_text.histories import history_of
from tests.game_text.test_redaction import TWO_BIDDERS
from tests.service.conftest import ServiceHarness
from tests.t1817.scenarios import RUNNER

GAME = Path(__file__).parents[1] / "games/1830-3p-9.18xx"


async def finished(world: ServiceHarness) -> engine.State:
    """A table with a whole game; its last position."""
    history = history_of(GAME)
    world.table = (await world.service.lobby.import_game(history, name="Found")).id
    return await world.service.queries.state_at(world.table)


async def ending(world: ServiceHarness) -> Page | None:
    """What everybody at the table reads of its end."""
    info = await world.service.queries.table_info(world.table)
    return await world.service.pages["over"](info, Notification("over", info.id, info.seq))


async def drawn(world: ServiceHarness, pictures: Pictures) -> list[str]:
    """The names of the pictures of the ending."""
    page, queries = await ending(world), world.service.queries
    assert page is not None
    view = await queries.view(world.table)
    return [name for name, _ in await page_pictures(queries, pictures, view, page)]


async def test_an_imported_game_says_how_long_it_went_on(empty: ServiceHarness) -> None:
    history = history_of(GAME)
    begun = GameHistory(history.start, history.lines[:3])
    empty.table = (await empty.service.lobby.import_game(begun, name="Found")).id
    for move in history.lines[3:5]:
        played = await empty.service.submit(empty.table, int(move.seat[1:]), [move.line], None, None)
        assert isinstance(played, Completed)
    await empty.service.running.end_now(empty.table, by=None)
    page = await ending(empty)
    assert page and page.sentences[1] == "Since the import the game took 1 minute and waited 1 time."


async def test_a_game_of_older_rules_with_hidden_orders_has_an_ending_without_its_file(
    empty: ServiceHarness,
) -> None:
    """The file cannot be written without the orders, see `redacted`."""
    history = replay(RUNNER.script_text(f"{TWO_BIDDERS}Cid: bid up to 40\nAnn: bid 30")).history
    assert history is not None
    limit, bid = history.lines
    older = GameHistory(history.start, (limit, bid._replace(line="bid 35")))
    empty.table = (await empty.service.lobby.import_game(older, name="Found")).id
    await empty.service.running.end_now(empty.table, by=None)
    page = await ending(empty)
    assert page and page.headline and page.files == []


async def test_winner_places_records_review_and_the_game_as_a_file(empty: ServiceHarness) -> None:
    state = await finished(empty)
    page = await ending(empty)
    assert page is not None
    best, worth = next(iter(engine.standings(state).items()))
    assert page.headline == f"{state.name(best)} wins with ${worth:,}."
    (why,) = page.sentences
    assert why.startswith("The game is over: "), "nobody knows how long it took elsewhere"
    (_, places), (records, found), (review, told) = page.lists
    assert places[0] == f"1. {state.name(best)} ${worth:,}" and len(places) == 3
    assert records == "Records"
    assert [record.partition(":")[0] for record in found][:2] == ["Best run", "Dearest share"]
    assert review == "Review" and told[-1].startswith("More: `review turns`")
    assert not any("wins" in sentence for sentence in told), "the headline says who has won"
    assert [control.line for control in page.controls] == ["rematch"]
    (file,) = page.files
    assert file.name.endswith(".18xx")
    again = replay(file.content.decode())
    assert again.failure is None and again.state and engine.standings(again.state) == engine.standings(state)


async def test_what_a_feature_adds_is_missing_without_it(empty: ServiceHarness) -> None:
    await finished(empty)
    empty.service = Service(empty.store, without=["views", "history", "review", "game_files"])
    page = await ending(empty)
    assert page is not None
    assert [title for title, _ in page.lists] == [""] and not page.pictures and not page.files
    assert [control.line for control in page.controls] == ["rematch"]


async def test_a_game_that_goes_on_has_no_ending(world: ServiceHarness) -> None:
    assert await ending(world) is None
    await world.service.running.end_now(world.table, by=None)
    page = await ending(world)
    assert page is not None and page.headline == "Ann, Bob and Cid lead with $800."
    assert page.sentences[0] == "The host ends the game."


async def test_the_review_of_a_game_that_was_ended_offers_what_it_answers(world: ServiceHarness) -> None:
    await world.say("Ann", "buy SV")
    assert isinstance(await world.say("Ann", "review routes"), LineRefused)
    await world.service.running.end_now(world.table, by=None)
    page = await ending(world)
    assert page is not None and "`review routes`" in page.lists[-1][1][-1]
    assert isinstance(await world.say("Ann", "review routes"), QueryAnswer)


async def test_pictures_of_the_end(empty: ServiceHarness) -> None:
    await finished(empty)
    wanted = ["sheet", "prices", "revenue", "animation", "review"]
    assert await drawn(empty, OnePixelPictures()) == wanted
    empty.service = Service(empty.store, without=["review"])
    wanted = ["sheet", "worth", "prices", "revenue", "animation"]
    assert await drawn(empty, OnePixelPictures()) == wanted, "no other chart shows the worth"


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
    await finished(empty)
    drawing = SlowAnimation().for_table(empty.table, "light", post="ending")
    assert await drawn(empty, drawing) == ["sheet", "prices", "revenue", "review"]


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
