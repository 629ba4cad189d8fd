"""Text views of positions with loans and short sales."""

from __future__ import annotations

from bot.position import text_views
from engine import new_game
from tests.renderers.positions import financed


def test_the_headline_has_loans_and_no_unlimited_bank() -> None:
    state = financed()
    headline = "stock round 2, phase 3, interest $10 a loan, 7 of 70 loans taken, priority Ann"
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
    text = text_views.company_view(state, "wt")
    assert text and "Bob short 20%" in text and "pool 50%" in text
    assert "10 shares; loans: 4 of 10; unpaid tokens: 1" in text


def test_the_market_view_has_the_cost_of_loans() -> None:
    lines = text_views.market_view(financed()).splitlines()
    assert lines[-4:] == [
        "$100: WT, J (par)", "In acquisition 2: SR", "In liquidation: R",
        "Interest $10 a loan, 7 of 70 loans taken.",
    ]  # fmt: skip
    plain = text_views.market_view(new_game("1830", ["Ann", "Bob", "Cid"]).state)
    assert plain.endswith("No company has a price.")


def test_the_map_view_names_mines_and_bridges() -> None:
    lines = text_views.map_view(financed()).splitlines()
    assert [line for line in lines if line.startswith(("F15", "H3"))] == [
        "F15, #9, mine: track G14 - E16", "H3 Louisville, #57, bridge: city $20 (1 free) - I2, G4",
    ]  # fmt: skip
