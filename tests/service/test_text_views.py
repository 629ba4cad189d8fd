"""Text views of positions with loans and short sales."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine
from bot.position import text_views
from engine import new_game
from engine.core.state import GameOver
from engine.kernel import AGREED
from tests.game_text.histories import history_of
from tests.renderers.positions import financed

GAMES = sorted((Path(__file__).parent.parent / "games").glob("*.18xx"))[::4]


def test_the_headline_has_loans_and_no_unlimited_bank() -> None:
    state = financed()
    headline = (
        "stock round 2, phase 3, interest $10 a loan ($15 above 10 loans), 7 of 70 loans taken, priority Ann"
    )
    assert text_views.headline(state) == headline
    state.cash["bank"] = -9000
    assert text_views.headline(state) == headline
    other = new_game("1830", ["Ann", "Bob", "Cid"]).state
    assert text_views.headline(other) == "opening, phase 2, bank $9,600, priority Ann"
    other.cash["bank"] = -20
    assert "the bank is broken and owes $20" in text_views.headline(other)


def test_short_positions_of_players() -> None:
    state = financed()
    state.bankrupt_seats, state.cash["p1"] = ["p2"], -30
    head, ann, bob, cid = text_views.players_table(state).lines()
    assert ann.split()[:2] == ["Ann", "$500"] and ann.endswith("J 100%*, WT 40%*, PSM")
    assert bob.split()[:4] == ["Bob", "-$30", "1/21", "-$230"] and bob.endswith("SR 40%*, WT short 20%")
    assert cid.startswith("Cid (bankrupt)") and cid.endswith("R 100%*, WT short 10%")
    assert head.split() == ["player", "cash", "certs", "worth", "owns"]


def test_a_company_with_loans_and_short_sellers() -> None:
    state = financed()
    state.companies["WT"].owed_tokens = 1
    text = text_views.company_view(state, "WT")
    assert "Bob short 20%" in text and "pool 50%" in text
    assert "10 shares; loans: 4 of 10; unpaid tokens: 1" in text


def test_the_market_view_has_the_cost_of_loans() -> None:
    lines = text_views.market_view(financed()).splitlines()
    assert lines[-4:] == [
        "$100: WT, J (par)", "In acquisition 2: SR", "In liquidation: R",
        "Interest $10 a loan ($15 above 10 loans), 7 of 70 loans taken.",
    ]  # fmt: skip
    plain = text_views.market_view(new_game("1830", ["Ann", "Bob", "Cid"]).state)
    assert plain.endswith("No company has a price.")


@pytest.mark.parametrize("path", GAMES, ids=lambda path: path.stem)
def test_tables_fit_an_email_and_the_market_a_phone(path: Path) -> None:
    """Whatever the game: a wide table wraps its last column, or has a paragraph for each company."""
    history = history_of(path)
    state = engine.copy_state(history.start)
    for number, line in enumerate(history.lines):
        if number % 40 == 0:
            tables = [
                part for part in text_views.status_parts(state, ()) if isinstance(part, text_views.Table)
            ]
            for table in tables:
                lines = table.lines(text_views.LINE_WIDTH)
                assert max(map(len, lines)) <= text_views.LINE_WIDTH, lines
                told = " ".join(" ".join(lines).split())
                for cell in {cell for row in table.rows for cell in row if cell != "-"}:
                    assert " ".join(cell.split()) in told, (cell, lines)
            market = text_views.market_view(state).splitlines()
            prices = [text for text in market if not text.startswith("Interest")]
            assert max(map(len, prices)) <= text_views.PHONE_WIDTH or "," in max(prices, key=len)
        for event in line.events:
            event.apply(state)


def test_the_market_has_the_spaces_beside_each_company() -> None:
    state = new_game("1830", ["Ann", "Bob", "Cid"]).state
    state.companies["PRR"].cell, state.market_order = (0, 6), ["PRR"]
    assert text_views.market_view(state).splitlines() == [
        "$100: PRR (par)", "  left $90, right $112, down $90"
    ]  # fmt: skip


def test_the_map_view_names_mines_and_bridges() -> None:
    lines = text_views.map_view(financed()).splitlines()
    assert [line for line in lines if line.startswith(("F15", "H3"))] == [
        "F15, #9, mine: track G14 - E16", "H3 Louisville, #57, bridge: city $20 (1 free) - I2, G4",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("All but Ann are bankrupt.", "all but Ann are bankrupt"),
        ("Cid is bankrupt.", "Cid is bankrupt"),
        (AGREED, "it was ended by agreement"),
    ],
)
def test_the_reason_for_the_end_goes_on_with_the_sentence(reason: str, said: str) -> None:
    state = engine.new_game("1817", ["Ann", "Bob", "Cid"]).state
    state.stack.append(GameOver(reason))
    assert text_views.over_sentence(state) == f"The game is over: {said}."
