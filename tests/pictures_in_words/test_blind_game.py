"""A whole game by words alone, and what each answer says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import engine
from bot.features.pictures_in_words.board import around_text, hex_text, network_text, route_text, way_text
from bot.hub.request import QueryAnswer
from bot.position import text_views
from bot.position.text_views import map_view
from bot.tools.simulation.simulate import simulate_game
from engine.core.words import dollars
from renderers.views.sheet import sheet_view
from tests.end_to_end.mail_players import served
from tests.fake_discord.running_bot import RunningBot
from tests.fake_discord.server import FakeDiscord
from tests.pictures_in_words.blind_player import BlindPlayer
from tests.pictures_in_words.transcript import DOCUMENT, document
from tests.test_players_guide import service_in, started_table


async def test_a_whole_game_is_played_without_a_picture(tmp_path: Path) -> None:
    game = simulate_game("1830", 3, 7)
    assert game.failure is None
    async with service_in(tmp_path) as (service, store):
        table = await started_table(service, store, game.players)
        player = BlindPlayer(service, table.id)
        for seat, line in game.lines:
            await player.play(int(seat[1:]), line)
        view = await service.queries.view(table.id)
        assert view.table.status == "finished"
    assert {"hex", "network", "around", "words", "trains", "route"} <= set(player.asked)
    assert player.letters < 700 * sum(player.asked.values()), "an answer is short enough to be heard"


@pytest.fixture(scope="module")
def late() -> engine.State:
    """1830 after some rounds."""
    return simulate_game("1830", 3, 6, max_moves=250).state


def test_every_hex_has_its_words(late: engine.State) -> None:
    for title in engine.title_names():
        state = late if title == "1830" else engine.new_game(title, ("Ann", "Bob", "Cid")).state
        shown = map_view(state)
        for hex, printed in engine.game_of(state).components.map.hexes.items():
            text = hex_text(state, hex.lower())
            assert text.startswith(hex) and all(beside in text for beside in printed.neighbors.values())
            if printed.paths or hex in state.tiles:
                assert any(line.startswith((f"{hex}:", f"{hex} ", f"{hex},")) for line in shown.splitlines())


@pytest.mark.parametrize("title", engine.title_names())
def test_the_sheet_in_words_has_all_its_numbers(title: str) -> None:
    sheet = sheet_view(simulate_game(title, 3, 4, max_moves=400).state, revenues={"PRR": 90})
    lines = sheet.lines("Ann to act.")
    assert lines[1] == "Ann to act." and not [line for line in lines if line.endswith("; .")]
    for player in sheet.players:
        (line,) = [line for line in lines if line.startswith(f"{player.name}: ")]
        assert dollars(player.cash) in line and f"worth {dollars(player.worth)}, " in line
        assert all(f", {name}" in line for name in player.privates)
        assert f"{player.certificates}/{sheet.certificate_limit} certificates" in line
        for company, holding in zip(sheet.companies, player.holdings, strict=True):
            if holding.percent:
                assert f"{company.badge.sym} {text_views.holding_text(holding.percent)}" in line
    for company in (each for each in sheet.companies if each.started):
        (line,) = [
            line
            for line in lines
            if re.match(rf"(\d+\. )?{re.escape(company.badge.sym)}( of| at| in) ", line)
        ]
        assert all(f" {train}" in line for train in company.trains)
        assert all(name in line for name in company.privates)
        assert not company.loans or f"loans {company.loans}/{company.max_loans}" in line
        assert not company.size or f" of {company.size} shares" in line
        assert company.last_revenue is None or f"last ran {dollars(company.last_revenue)}" in line
        for percent, place in ((company.ipo, "IPO"), (company.pool, "pool"), (company.treasury, "treasury")):
            assert not percent or f"{place} {percent}%" in line


def test_directions_lead_back(late: engine.State) -> None:
    assert way_text(late, "E11", "northeast").splitlines()[1].startswith("D12")
    assert way_text(late, "D12", "southwest").splitlines()[1].startswith("E11")
    with pytest.raises(ValueError, match="the directions are southwest, west"):
        way_text(late, "E11", "north")


def test_what_is_not_there_is_said() -> None:
    start = engine.new_game("1830", ("Ann", "Bob", "Cid")).state
    with pytest.raises(ValueError, match="There is no hex Z9"):
        hex_text(start, "Z9")
    with pytest.raises(ValueError, match="no company foo"):
        around_text(start, "foo")
    with pytest.raises(ValueError, match=r"no space with \$3\."):
        around_text(start, "3")
    assert around_text(start, "PRR") == "The PRR has no price yet."
    assert network_text(start, "PRR") == "The PRR has no token on the map."


async def test_the_transcript_is_current() -> None:
    assert DOCUMENT.read_text() == await document(), (
        "write it: .venv/bin/python -m tests.pictures_in_words.transcript"
    )


QUESTIONS = ("hex H10", "from E11 north-east", "network PRR", "route PRR 1", "around 82", "words")


async def test_discord_and_email_say_the_same_words(tmp_path: Path) -> None:
    answers, posted, written = list[str](), list[str](), list[str]()
    async with FakeDiscord(["Ann", "Bob"]) as fake:
        running = RunningBot(fake, tmp_path / "railpost.db")
        async with running.online() as service:
            await running.start_game("Ann", "Bob")
            for question in QUESTIONS:
                answer = await service.submit(await running.table_id(), 0, [question], None, None)
                assert isinstance(answer, QueryAnswer)
                answers.append(answer.text)
                posted.append((await fake.run_command("Ann", running.thread, "do", line=question)).text)
    async with served(tmp_path / "mail") as office:
        await office.table("1830", ["Ann", "Bob"])
        ann = office.player("Ann")
        await ann.email()
        for question in QUESTIONS:
            written.append((await ann.said(question)).text)
    for answer_text, *told in zip(answers, posted, written, strict=True):
        assert all(_words(answer_text) in _words(each) for each in told), answer_text


def _words(text: str) -> str:
    """A text without the marks and the line breaks of its channel."""
    return " ".join(re.sub(r"[\\`*]|^\s*\* ", " ", text, flags=re.MULTILINE).split())


def test_a_route_of_an_8_train_over_track_that_is_gone() -> None:
    state = engine.new_game("1870", ["Ann", "Bob"]).state
    told = route_text(state, engine.TrainsRan("SLSF", (("8", "B9-E12"),), 90), 1)
    head = "Route 1 of 1 of the SLSF, which ran for $90: an 8-train on B9-E12."
    assert told == f"{head} The track has changed since."
