"""Every dollar of a gain has one cause, in games of every title."""

from __future__ import annotations

from collections import Counter

import pytest

import engine
from bot.features.review.money import Cause, Entry, money_entries
from bot.features.review.money_words import GROUPS, parts_of
from engine.core.events import (
    AnyEvent,
    CashMoved,
    ParSet,
    PlayerBankrupt,
    PriceMoved,
    PrivateMoved,
    SharesMoved,
)
from engine.core.reasons import CashReason, PriceReason
from engine.core.state import BANK, CLOSED, IPO, POOL
from engine.game_text.history import GameHistory, HistoryLine
from tests.game_text.histories import GAMES, history_of
from tests.review.robot_games import robot_game


def assert_sums(game: GameHistory) -> None:
    """The entries of each seat sum to its gain."""
    last = game.state_after(len(game.lines))
    before, after = engine.standings(game.start), engine.standings(last)
    entries = money_entries(game)
    gained: Counter[str] = Counter()
    for entry in entries:
        gained[entry.seat] += entry.dollars
    assert {seat: gained[seat] for seat in last.seats} == {s: after[s] - before[s] for s in last.seats}
    for seat in last.seats:
        assert sum(parts_of(entries, seat).values()) == gained[seat]


@pytest.mark.parametrize("title", engine.title_names())
def test_the_parts_of_a_robots_game_sum_to_the_gain_after_every_move(title: str) -> None:
    """Also of a game that is not over, and of 1851, of which no game is recorded."""
    game = robot_game(title, 200)
    entries = money_entries(game)
    state, gained = engine.copy_state(game.start), Counter[str]()
    first = engine.standings(state)
    for at, move in enumerate(game.lines):
        engine.fold(move.events, state)
        for entry in entries:
            if entry.at == at:
                gained[entry.seat] += entry.dollars
        worth = engine.standings(state)
        assert all(gained[seat] == worth[seat] - first[seat] for seat in state.seats), move.line


def test_every_cause_is_part_of_one_bar() -> None:
    assert sorted(cause for causes in GROUPS.values() for cause in causes) == sorted(Cause)


# -- causes, one by one ------------------------------------------------------------------------


def entries_of(*moves: list[AnyEvent]) -> list[Entry]:
    """The entries of moves at the start of a game of 1830."""
    start = engine.new_game("1830", ["Ann", "Bob", "Cid"]).state
    lines = tuple(HistoryLine("p0", "", events) for events in moves)
    return money_entries(GameHistory(start, lines))


def cell(price: int) -> tuple[int, int]:
    """A space of the market of 1830 with that price."""
    market = engine.game_of(engine.new_game("1830", ["Ann", "Bob"]).state).components.market
    return next(
        (y, x) for y, row in enumerate(market.rows) for x, at in enumerate(row) if at and at.price == price
    )


BOUGHT: list[AnyEvent] = [
    ParSet("PRR", 100, cell(100)),
    CashMoved("p0", BANK, 200, CashReason.PRESIDENT_CERTIFICATE, "PRR"),
    SharesMoved("PRR", IPO, "p0", 20),
]


def test_a_share_at_its_price_is_no_gain_and_its_price_moves_by_a_run() -> None:
    ran: list[AnyEvent] = [
        CashMoved(BANK, "p0", 24, CashReason.DIVIDEND, "PRR"),
        PriceMoved("PRR", cell(112), PriceReason.DIVIDEND),
    ]
    assert entries_of(BOUGHT, ran) == [
        Entry(1, "p0", Cause.DIVIDENDS, "PRR", 24),
        Entry(1, "p0", Cause.RUNS, "PRR", 24),
    ]


def test_a_price_that_falls_by_a_sale_names_the_seller() -> None:
    bob: list[AnyEvent] = [
        CashMoved("p1", BANK, 100, CashReason.SHARES, "PRR"),
        SharesMoved("PRR", IPO, "p1", 10),
    ]
    sale: list[AnyEvent] = [
        SharesMoved("PRR", "p1", POOL, 10),
        CashMoved(BANK, "p1", 100, CashReason.SHARES, "PRR"),
        PriceMoved("PRR", cell(90), PriceReason.SOLD),
    ]
    assert entries_of(BOUGHT, bob, sale) == [Entry(2, "p0", Cause.SALES, "PRR", -20, "p1")]


def test_a_share_that_comes_with_a_private_is_a_grant_and_a_private_below_its_price_a_deal() -> None:
    certificate: list[AnyEvent] = [
        CashMoved("p2", BANK, 200, CashReason.PRIVATE, "BO"),
        PrivateMoved("BO", "p2"),
        ParSet("B&O", 100, cell(100)),
        SharesMoved("B&O", IPO, "p2", 20),
    ]
    closed: list[AnyEvent] = [PrivateMoved("BO", CLOSED)]
    found = entries_of(certificate, closed)
    # By the book a private counts at its face value of $220 until it closes.
    assert {(e.cause, e.dollars) for e in found} == {
        (Cause.PRIVATES, 20),
        (Cause.GRANTS, 200),
        (Cause.CLOSINGS, -220),
    }


def test_what_a_bankrupt_player_loses_is_by_the_bankruptcy() -> None:
    fall: list[AnyEvent] = [
        CashMoved("p0", BANK, 600, CashReason.BANKRUPTCY),
        PlayerBankrupt("p0"),
        SharesMoved("PRR", "p0", POOL, 20),
    ]
    found = entries_of(BOUGHT, fall)
    assert {entry.cause for entry in found} == {Cause.BANKRUPTCY}
    assert sum(entry.dollars for entry in found) == -800


def test_entries_are_in_the_order_of_the_seats() -> None:
    """A review of a game is the same in every process, also where two sums are equal."""
    game = history_of(GAMES[-1])
    moved: dict[tuple[int, Cause, str], list[str]] = {}
    for entry in money_entries(game):
        if entry.cause in (Cause.RUNS, Cause.SOLD_OUT):
            moved.setdefault((entry.at, entry.cause, entry.subject), []).append(entry.seat)
    assert any(len(seats) > 2 for seats in moved.values())
    assert [seats for seats in moved.values() if seats != sorted(seats)] == []
