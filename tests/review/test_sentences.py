"""Sentences about the money: true to its causes, and at most twelve."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine
from bot.features.review.money import Cause, Entry
from bot.features.review.money_words import MOST_SENTENCES, MoneySentences
from bot.features.review.review import Review
from engine.core.state import GameOver
from engine.game_text import GameHistory
from tests.game_text.histories import GAMES, history_of

TEXTS = GAMES[1::4]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_at_most_twelve_sentences_and_each_about_a_player(path: Path) -> None:
    review = Review(history_of(path))
    names = review.last.players
    assert 2 <= len(review.sentences) <= MOST_SENTENCES
    for sentence in review.sentences:
        assert sentence.endswith(".") and any(name in sentence for name in names), sentence
        assert "$-" not in sentence and "-$" not in sentence and "  " not in sentence


def told(entries: list[Entry]) -> list[str]:
    """The sentences of a game of 1830 in which the cash is what the entries say."""
    start = engine.new_game("1830", ["Ann", "Bob", "Cid"]).state
    last = engine.copy_state(start)
    for entry in entries:
        last.cash[entry.seat] += entry.dollars
    return MoneySentences(GameHistory(start), entries, [], last).all()


def test_who_leads_by_what() -> None:
    found = told(
        [
            Entry(0, "p0", Cause.DIVIDENDS, "PRR", 900),
            Entry(1, "p0", Cause.RUNS, "PRR", 300),
            Entry(2, "p1", Cause.DIVIDENDS, "NYC", 500),
            Entry(3, "p1", Cause.FORCED, "NYC", -200),
            Entry(4, "p2", Cause.SALES, "PRR", -150, "p1"),
            Entry(5, "p2", Cause.SALES, "NYC", -140, "p2"),
            Entry(6, "p1", Cause.INCOME, "DH", 30),
        ]
    )
    assert found == [
        "Ann leads with $2,000, $870 more than Bob.",
        "Ann made $1,200 more with the PRR and lost $200 less by forced purchases than Bob, "
        "who made $500 more with the NYC.",
        "Ann gained $1,200: $1,200 from the PRR ($900 of it dividends).",
        "Bob gained $330: $500 in dividends of the NYC.",
        "Cid lost $290 by price falls after sales.",
        "Bob had to pay $200 for trains of the NYC.",
        "Sales by Bob cost Cid $150 in the price of the PRR.",
        "Cid's own sales of the NYC cost them $140 on the shares that they kept.",
    ]


def test_equals_lead_together() -> None:
    assert told([])[0] == "Ann, Bob and Cid lead with $800."


def test_many_players_do_not_make_it_longer() -> None:
    names = [f"Player{number}" for number in range(12)]
    start = engine.new_game("1817", names, ["more_players"]).state
    last = engine.copy_state(start)
    entries = [Entry(0, seat, Cause.DIVIDENDS, "GT", 300) for seat in start.seats]
    for entry in entries:
        last.cash[entry.seat] += entry.dollars
    assert len(MoneySentences(GameHistory(start), entries, [], last).all()) == MOST_SENTENCES


def test_who_lost_did_so_in_spite_of_what_companies_brought() -> None:
    found = told([Entry(0, "p0", Cause.DIVIDENDS, "PRR", 300), Entry(1, "p0", Cause.FORCED, "NYC", -400)])
    assert "Ann lost $100 in spite of $300 in dividends of the PRR." in found


def test_loans_that_lowered_prices_are_not_said_to_be_repaid() -> None:
    found = told([Entry(0, "p0", Cause.LOANS, "PRR", -100), Entry(1, "p1", Cause.LOANS, "NYC", 100)])
    assert "Loans lowered the prices of Ann's shares by $100 in all, most of the PRR." in found
    assert (
        "Loans, taken and repaid, raised the prices of Bob's shares by $100 in all, most of the NYC." in found
    )


def test_who_outlives_all_others_is_compared_with_nobody() -> None:
    start = engine.new_game("1817", ["Ann", "Bob", "Cid"]).state
    last = engine.copy_state(start)
    last.bankrupt_seats = ["p1", "p2"]
    last.stack = [GameOver("All but Ann are bankrupt")]
    entries = [Entry(0, "p0", Cause.DIVIDENDS, "GT", 300), Entry(1, "p1", Cause.LIQUIDATION, "GT", -300)]
    entries += [Entry(2, "p1", Cause.DIVIDENDS, "GT", 40), Entry(3, "p2", Cause.INTEREST, "WT", -90)]
    for entry in entries:
        last.cash[entry.seat] += entry.dollars
    worth = last.cash["p0"]
    assert MoneySentences(GameHistory(start), entries, [], last).all() == [
        f"Ann won with ${worth}; all others went bankrupt.",
        "Ann gained $300: $300 in dividends of the GT.",
        "Cid lost $90 by interest paid for a company.",
        "Bob lost $260: $300 by liquidations.",
        "Liquidations and sales of companies cost Bob $300, most by the GT.",
        "Cid had to pay $90 for the interest of the WT.",
    ]


def test_what_privates_alone_brought_is_told_once() -> None:
    found = told(
        [
            Entry(0, "p0", Cause.PRIVATES, "SV", -130),
            Entry(1, "p1", Cause.PRIVATES, "DH", -200),
            Entry(2, "p1", Cause.INCOME, "DH", 60),
            Entry(3, "p2", Cause.PURCHASES, "NYC", 90),
        ]
    )
    assert found[2:] == [
        "Cid gained $90.",
        "Ann lost $130 by privates.",
        "Bob lost $140 by privates: $200 by buying and selling them, less $60 of income.",
        "Cid paid $90 less for shares than they were worth: the NYC.",
    ]
