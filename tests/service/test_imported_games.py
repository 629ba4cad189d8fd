"""Games that began elsewhere become tables: files of 18xx.games, texts, and their seats."""

from __future__ import annotations

import gzip
import json

import pytest

import engine
from bot.features.game_files.feature import read_game
from bot.hub.request import Completed
from bot.service import Service
from bot.tools.simulation.simulate import SimulatedGame, simulate_game
from engine.game_text import GameHistory
from engine.game_text.history import HistoryLine, history_script
from engine.site_18xx.export import export_game
from engine.title import SITE_CONVENTIONS
from tests.service.conftest import ServiceHarness
from tests.site_18xx.test_connections import OPTIONS, replay_connections
from tests.t1870.scenarios import run_scenario
from tests.t1870.test_11_destinations import TOGETHER

HOST, CLAIMED = "Eve", ("Cleo", "Dina", "Emil")


def running_game(title: str, moves: int) -> SimulatedGame:
    """The first moves of a random game of three players by the site's conventions."""
    return simulate_game(title, 3, 6, (SITE_CONVENTIONS,), max_moves=moves)


def site_file(game: SimulatedGame) -> bytes:
    return json.dumps(export_game(game.history)).encode()


async def people(empty: ServiceHarness) -> None:
    for name in (HOST, *CLAIMED):
        await empty.person(name, email=f"{name.casefold()}@player.test")


@pytest.mark.parametrize("title", ["1830", "1870", "1817"])
async def test_a_running_game_of_the_site_goes_on_here(empty: ServiceHarness, title: str) -> None:
    await people(empty)
    game, service = running_game(title, 60), empty.service
    table, warnings = await service.imports.open_table(site_file(game), by=empty.people[HOST])
    assert not warnings and table.status == "paused" and not table.seated_players
    empty.table = table.id
    for seat, name in enumerate(CLAIMED):
        assert (await service.queries.table_info(table.id)).status == "paused"
        table = await service.imports.claim_seat(table.id, seat, empty.people[name], name)
    assert table.status == "running" and table.names == CLAIMED
    view = await service.queries.view(table.id)
    assert view.state and view.state.cash == game.state.cash and view.state.stack == game.state.stack
    asked = {view.pending[0].name.casefold() + "@player.test"}
    turns = [message for message, notification in await empty.sent("turn")]
    assert {str(message.address["email"]) for message in turns} >= asked
    assert await empty.sent("started")
    line = engine.legal_lines(view.state, f"p{view.pending[0].seat}")[0]
    assert isinstance(await empty.say(view.pending[0].name, line), Completed)


async def test_a_line_that_cannot_be_read_now_keeps_no_new_player_from_the_history(
    empty: ServiceHarness,
) -> None:
    """A connection run that only the file has, and a line by rules that were corrected since."""
    await people(empty)
    start = run_scenario(TOGETHER + "= turn Cid MP", options=OPTIONS)
    (line,) = replay_connections(start, "SSW", "MP").lines
    moves = tuple(HistoryLine(line.seat, each, line.events) for each in (line.line, "lay 57 H10"))
    game = GameHistory(start, moves)
    table = await empty.service.lobby.import_game(game, name="Moved in", open_seats=True)
    await empty.service.imports.claim_seat(table.id, 0, empty.people["Cleo"], "Cleo")
    history = await empty.service.queries.history(table.id)
    assert [each.line for each in history.lines] == ["connect", "lay 57 H10"]
    assert history.start.players[0] == "Cleo"


async def test_a_text_goes_on_here(empty: ServiceHarness) -> None:
    await people(empty)
    game = simulate_game("1851", 3, 2, max_moves=40)
    text = history_script(GameHistory(game.start, tuple(game.history_lines)))
    table, _ = await empty.service.imports.open_table(gzip.compress(text.encode()), by=empty.people[HOST])
    for seat, name in enumerate(CLAIMED):
        table = await empty.service.imports.claim_seat(table.id, seat, empty.people[name], name)
    view = await empty.service.queries.view(table.id)
    assert view.state and view.state.stack == game.state.stack and view.table.status == "running"
    told = [(f"{new} plays on for {old}.",) for new, old in zip(CLAIMED, game.players, strict=True)]
    heard = [notification.sentences for _, notification in await empty.sent("answered")]
    first, second, _ = game.players
    assert heard == [
        (f"Cleo has taken the seat of {first} at table {table.code}.",),
        (f"Dina has taken the seat of {second} at table {table.code}.",),
    ]
    for service in (empty.service, Service(empty.store)):
        assert [each.sentences for each in (await service.queries.log(table.id))[-3:]] == told


async def test_a_game_that_is_over_is_a_finished_table(empty: ServiceHarness) -> None:
    await people(empty)
    game = simulate_game("1830", 2, 5, (SITE_CONVENTIONS,))
    table, _ = await empty.service.imports.open_table(site_file(game), by=empty.people[HOST])
    view = await empty.service.queries.view(table.id)
    assert table.status == "finished" and view.state
    assert engine.standings(view.state) == engine.standings(game.state)
    with pytest.raises(ValueError, match="No seat at table"):
        await empty.service.imports.claim_seat(table.id, 0, empty.people["Cleo"], "Cleo")


async def test_seats_are_claimed_once_each(empty: ServiceHarness) -> None:
    await people(empty)
    imports, ids = empty.service.imports, empty.people
    table, _ = await imports.open_table(site_file(running_game("1830", 30)), by=ids[HOST], name="Old friends")
    assert table.name == "Old friends"
    names = table.names
    table = await imports.claim_seat(table.id, 0, ids["Cleo"], names[1])
    assert table.names == names, "the name of another seat is not taken"
    with pytest.raises(ValueError, match=f"{names[0]} has that seat at table"):
        await imports.claim_seat(table.id, 0, ids["Dina"], "Dina")
    with pytest.raises(ValueError, match="You already sit at table"):
        await imports.claim_seat(table.id, 1, ids["Cleo"], "Cleo")
    with pytest.raises(ValueError, match="No seat at table"):
        await imports.claim_seat(table.id, 7, ids["Dina"], "Dina")


@pytest.mark.parametrize(
    "raw, reason",
    [
        (b"\xff\xfe", "neither a file of 18xx.games nor a game text"),
        (b"\x1f\x8b nothing", "cannot be unpacked"),
        (b'{"title": "1846", "players": [], "actions": []}', "1846"),
        (b"title 1830\nplayers Ann, Bob\n---\nAnn: buy CA\n", "line 4"),
        (b"hello", "neither a file of 18xx.games nor a game text"),
        (b"<!doctype html>\n<title>Game 1 - 18xx.games</title>", "neither a file of 18xx.games nor"),
        (b"title 1830\nplayers Ann, Bob", "line 2"),
        (b'{"title": "1830"}', "not a game file"),
    ],
)
async def test_a_file_that_cannot_be_played_is_one_sentence(
    empty: ServiceHarness, raw: bytes, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason) as error:
        read_game(raw)
    assert "\n" not in str(error.value).strip()
    with pytest.raises(ValueError):
        await empty.service.imports.open_table(raw, by=None)
    assert not await empty.service.queries.list_tables()
