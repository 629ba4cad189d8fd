"""Each feature can be taken out: what it keeps stays stored, and games go on without it."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from shutil import copyfile

import pytest

from bot.hub.feature import Feature, TurnPage
from bot.hub.request import Completed, LineUnreadable, PollUpdated, QueryAnswer
from bot.service import Service
from engine.game_text.history import GameHistory, HistoryLine
from storage import Store, open_store
from tests.game_text.histories import history_of

GAME = Path(__file__).parents[1] / "games/1830-3p-9.18xx"
LAST = 25  # moves that are left to play
REQUIRED = ("undo", "votes", "lobby", "digest")
OPTIONAL = [name for name in Service(object()).features if name not in REQUIRED]  # type: ignore[arg-type]
USED = ("note it ends soon", "plan Bob: pass", "auto decline deals", "pace 24h")


@pytest.fixture(scope="module")
def last_lines() -> list[HistoryLine]:
    return list(history_of(GAME).lines[-LAST:])


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a game near its end at which the features have been used."""
    path = tmp_path_factory.mktemp("used") / "railpost.db"
    asyncio.run(use_all(path))
    return path


async def use_all(path: Path) -> None:
    history = history_of(GAME)
    before = GameHistory(history.start, history.lines[:-LAST])
    async with await open_store(path) as store:
        service = Service(store)
        table = await service.lobby.import_game(before, name="Friday")
        for number, line in enumerate(USED):
            result = await service.submit(table.id, 0, [line], None, f"use {number}")
            assert isinstance(result, QueryAnswer | PollUpdated), (line, result)
        async with store.begin() as unit:
            for kind in sorted({kind for each in service.features.values() for kind in each.timers}):
                await unit.clocks.set_due(
                    f"due {kind}", kind, unit.now, table_id=table.id, seat=0, person_id=1
                )


async def due(store: Store) -> set[str]:
    async with store.read() as unit:
        return {row.kind for row in await unit.clocks.rows_due(unit.now, 50)}


async def turn_page(service: Service, table: int) -> TurnPage:
    view = await service.queries.view(table)
    asked = view.pending[0]
    return TurnPage(view, asked, await service.queries.choices(table, asked.seat), None)


async def labels(service: Service, page: TurnPage) -> set[str]:
    return {control.label for control in (await service.additions(page)).controls}


@pytest.mark.parametrize("name", REQUIRED)
def test_what_is_required_cannot_be_taken_out(name: str) -> None:
    with pytest.raises(ValueError, match=f"cannot do without {name}"):
        Service(object(), without=[name])  # type: ignore[arg-type]


@pytest.mark.parametrize("name", OPTIONAL)
async def test_a_game_goes_on_without_a_feature(
    name: str, used: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, last_lines: list[HistoryLine]
) -> None:
    path = tmp_path / "railpost.db"
    copyfile(used, path)
    async with await open_store(path) as store:
        whole, service, table = Service(store), Service(store, without=[name]), 1
        feature = whole.features[name]

        words = {command.name for command in feature.commands} - {"bid", "standing"}
        assert feature != Feature(name), "it adds nothing"
        assert not words & service.commands.words
        help_words = {line.split()[0].rstrip(",") for line in service.commands.help_lines()}
        assert not words & help_words
        assert set(whole.pages) - set(service.pages) == set(feature.pages)
        page = await turn_page(whole, table)
        added = [control for add in feature.turn_pages for control in (await add(page)).controls]
        assert (await labels(service, page)) | {control.label for control in added} == await labels(
            whole, page
        )
        for word in words:
            refused = await service.submit(table, 0, [word], None, None)
            assert isinstance(refused, LineUnreadable), (word, refused)

        with caplog.at_level(logging.WARNING):
            await service.clock.tick()
            await service.clock.tick()
        kept = {kind for kind in feature.timers if kind in await due(store)}
        told = [record.getMessage() for record in caplog.records if "no feature does" in record.getMessage()]
        assert kept == set(feature.timers) and len(told) == len(kept)

        for number, line in enumerate(last_lines):
            seat, pending = int(line.seat[1:]), (await service.queries.view(table)).pending
            seen = next((each.decision_id for each in pending if each.seat == seat), None)
            result = await service.submit(table, seat, [line.line], seen, f"move {number}", confirmed=True)
            assert isinstance(result, Completed), (line.line, result)
        assert (await service.queries.table_info(table)).status == "finished"

        if name == "notepad":
            notes = await Service(store).submit(table, 0, ["notes"], None, None)
            assert isinstance(notes, QueryAnswer) and "1. it ends soon" in notes.text
        if name == "plans":
            plan = await Service(store).submit(table, 0, ["plan show"], None, None)
            assert isinstance(plan, QueryAnswer)
        if name == "standing_orders":
            orders = await Service(store).submit(table, 0, ["auto"], None, None)
            assert isinstance(orders, QueryAnswer) and "auto decline deals" in orders.text


async def test_a_vote_on_what_was_taken_out_stays_open(used: Path, tmp_path: Path) -> None:
    path = tmp_path / "railpost.db"
    copyfile(used, path)
    async with await open_store(path) as store:
        without = await Service(store, without=["clock"]).submit(1, 1, ["accept vote"], None, None)
        assert getattr(without, "reason", "").startswith("This service cannot do what the vote is about")
        with_it = await Service(store).submit(1, 1, ["accept vote"], None, None)
        assert isinstance(with_it, PollUpdated) and with_it.waiting_seats == (2,)


async def test_orders_that_nobody_can_take_back_say_nothing(tmp_path: Path) -> None:
    """An order went on declining votes, and plans went on playing what orders would say."""
    history = history_of(GAME)
    async with await open_store(tmp_path / "railpost.db") as store:
        whole, without = Service(store), Service(store, without=["standing_orders"])
        table = (await whole.lobby.import_game(GameHistory(history.start, history.lines[:1]), name="F")).id
        for seat, line in ((1, "auto decline polls"), (2, "auto pass once")):
            assert isinstance(await whole.submit(table, seat, [line], None, None), QueryAnswer)
        for service, is_declined in ((whole, True), (without, False)):
            plan = await service.submit(table, 2, ["plan Bob: buy CS"], None, None)
            assert isinstance(plan, QueryAnswer)
            assert ("Your order would say: pass" in plan.text) is is_declined
            vote = await service.submit(table, 0, ["pace 24h"], None, None)
            assert isinstance(vote, PollUpdated) and (vote.outcome == "failed") is is_declined
