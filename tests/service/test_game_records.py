"""The records of a game, and its charts as text."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine
from bot.cli.export import history_of_file
from bot.cli.render import stored_game
from bot.features.history.feature import (
    Record,
    chart_kind,
    chart_text,
    game_records,
    records_text,
)
from engine.core.events import FramePushed, ParSet, PlayerBankrupt, PriceMoved, RoundStarted
from engine.core.reasons import PriceReason
from engine.core.state import GameOver

GAME = Path(__file__).parents[1] / "games/1830-3p-9.18xx"


def new_game() -> engine.State:
    return engine.new_game("1830", ["Ann", "Bob", "Cid"]).state


def test_records_of_a_game() -> None:
    """The first of equals holds a record; a bankruptcy is as large as the worth when its round began."""
    state = new_game()
    cells = {
        cell.price: (y, x)
        for y, row in enumerate(engine.game_of(state).components.market.rows)
        for x, cell in enumerate(row)
        if cell
    }
    moves: list[list[engine.AnyEvent]] = [
        [RoundStarted("stock round 1"), ParSet("PRR", 100, cells[100])],
        [ParSet("NYC", 67, cells[67]), RoundStarted("operating round 1.1 of 1")],
        [engine.TrainsRan("NYC", (), 80), PriceMoved("NYC", cells[71], PriceReason.DIVIDEND)],
        [engine.TrainsRan("PRR", (), 80), PriceMoved("PRR", cells[112], PriceReason.DIVIDEND)],
        [RoundStarted("operating round 2.1 of 2"), PriceMoved("PRR", cells[100], PriceReason.NO_DIVIDEND)],
        [FramePushed(GameOver("Bob is bankrupt.", "p1"))],
    ]
    records = game_records(state, [engine.encode_events(move) for move in moves])
    assert records == {
        "run": Record("NYC", 80, "operating round 1.1"),
        "share": Record("PRR", 112, "operating round 1.1"),
        "bankruptcy": Record("Bob", 800, "operating round 2.1"),
    }
    assert list(records_text(records)) == [
        "Best run: NYC with $80 in OR 1.1.",
        "Dearest share: PRR at $112, first in OR 1.1.",
        "Largest bankruptcy: Bob, worth $800 when OR 2.1 began.",
    ]
    assert engine.standings(state)["p1"] == 800, "the position was left as it was"


def test_a_bankruptcy_that_the_game_survives() -> None:
    """1817 §7.4."""
    moves = [engine.encode_events([PlayerBankrupt("p2")])]
    assert game_records(new_game(), moves) == {"bankruptcy": Record("Cid", 800, "opening")}


def test_a_game_without_records() -> None:
    assert game_records(new_game(), []) == {}
    assert list(records_text({})) == []


def test_charts_as_text_end_with_the_standings() -> None:
    start, events = stored_game(history_of_file(GAME))
    state = engine.copy_state(start)
    for raw in events:
        engine.fold(engine.decode_events(raw), state)
    heading, names, *rows = chart_text(start, events, "worth").splitlines()
    assert heading == "Worth at the end of each round:" and names.split() == ["round", *state.players]
    worth = engine.standings(state)
    assert rows[-1].split()[2:] == [f"${worth[seat]:,}" for seat in state.seats]
    prices = chart_text(start, events, "prices")
    for sym, company in state.companies.items():
        assert company.cell is None or sym in prices
    revenue = chart_text(start, events, "revenue")
    assert all(line.startswith(("OR ", "round", "Revenue")) for line in revenue.splitlines() if line)
    assert all(len(line) <= 80 for text in (prices, revenue) for line in text.splitlines())


def test_a_chart_before_anything_has_happened() -> None:
    assert "Nothing yet." in chart_text(new_game(), (), "revenue")


def test_which_charts_there_are() -> None:
    assert chart_kind("") == "worth" and chart_kind("Price") == "prices"
    with pytest.raises(ValueError, match="no chart luck; there are worth, prices and revenue"):
        chart_kind("luck")
