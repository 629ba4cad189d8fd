"""The numbers of a question: what a bidder, a seller and the president who gets an offer need to know."""

from __future__ import annotations

import re

import engine
from bot.discord.controls.previews import preview_sales
from bot.position import text_views
from bot.position.legal_lines import choice_effect
from bot.position.numbers import company_line, decision_lines
from bot.position.sentences import auction_lines
from tests.game_text.histories import GAMES, history_of
from tests.renderers.positions import financed
from tests.service.test_question_pictures import merger
from tests.t1817.scenarios import ANN, FIVE
from tests.t1817.scenarios import run_scenario as run_1817
from tests.t1870.scenarios import run_scenario
from tests.t1870.test_05_protection import MP


def test_powers_of_privates_are_told_in_full() -> None:
    for title in engine.title_names():
        state = engine.new_game(title, ["Ann", "Bob", "Cid"]).state
        lines = auction_lines(state)
        privates = engine.game_of(state).components.privates
        sold = [each for each in privates if state.private_owners[each.sym] == engine.BANK]
        for private in sold:
            assert any(line.startswith(private.sym) and (private.description or "") in line for line in lines)
        assert len("\n".join(decision_lines(state, "p0"))) <= 2400 and "pays $0" not in str(lines)


def test_while_one_private_is_auctioned_the_others_are_one_line() -> None:
    state = engine.new_game("1817", ["Ann", "Bob", "Cid"]).state
    state = engine.play_line(state, "p0", "bid MAJC 10").state
    asked, others = auction_lines(state)
    assert asked.startswith("MAJC Major Coal Mine, $90: Ann $10 leads. Its company may put three")
    assert others.startswith("Not bid on yet: PSM Pittsburgh Steel Mill $40, ") and "MAJC" not in others
    assert "$200 of seed money" in engine.prompt(state)


def test_where_a_company_is_sold_its_numbers_and_those_of_the_buyers_are_told() -> None:
    state = merger()
    for line in ("pass", "act", "offer SR"):
        state = engine.play_line(state, "p0", line).state
    lines = decision_lines(state, "p0")
    assert engine.auctioned(state) == "SR"
    assert [line.partition(":")[0] for line in lines[:4]] == ["Ann", "SR", "WT", "Loans"]
    assert decision_lines(state, "p1")[1].startswith("SR: treasury ")


def test_an_offer_comes_with_the_numbers_of_the_company_that_would_give() -> None:
    state = merger()
    lines = decision_lines(state, "p0", offer="accept or decline (a 2-train from the SR to the NYOW for $9)")
    assert any(line.startswith("SR: treasury") for line in lines)


def test_a_dividend_without_which_the_company_closes_is_told_before_it() -> None:
    """1870 §5.1.1."""
    game = next(path for path in GAMES if path.stem == "1870-6p-5400-historical_order")
    told = decision_lines(history_of(game).state_after(616), "p2")
    assert "Price of the GMO, now $10: pay → $20, half → $10, withhold → closes" in told


def test_a_fall_of_the_price_after_the_turn_is_told_before_the_sale() -> None:
    """1870 §5.9: the price falls when the turn is over, unless the president protects it."""
    state = run_scenario(MP + "= cash Bob 50\n")
    sale = next(each for each in engine.choices(state, "p1") if each.line == "sell 2 MP")
    assert "MP $100 → $82 unless protected" in choice_effect(state, "p1", sale)
    assert "MP: $100 → $82 after your turn, unless protected." in preview_sales(state, "p1", [sale.line]).text
    for seat, line in (("p1", "sell 2 MP"), ("p1", "pass"), ("p0", "decline")):
        state = engine.play_line(state, seat, line).state
    space = state.companies["MP"].cell
    assert space and engine.space_label(engine.game_of(state), space) == "at $82"


def test_a_fall_of_the_price_at_the_end_of_the_round_is_told_before_the_sale() -> None:
    """1817 §5.7: the price falls by a space for each share in the market."""
    state = run_1817(FIVE + ANN + "= cash Ann 500\n")
    sale = next(each for each in engine.choices(state, "p0") if each.line == "sell 2 WT")
    assert "at the end of the round" in choice_effect(state, "p0", sale)
    told = preview_sales(state, "p0", [sale.line]).text
    price, later = re.findall(r"WT: (\$\d+) → (\$\d+) at the end of the round", told)[0]
    before = text_views.price_text(state, "WT")
    for seat, line in (("p0", "sell 2 WT"), ("p0", "pass"), ("p1", "pass"), ("p2", "pass"), ("p0", "pass")):
        state = engine.play_line(state, seat, line).state
    assert (price, later) == (before, text_views.price_text(state, "WT"))


def test_a_company_with_loans_says_how_many_it_may_have_and_what_they_cost() -> None:
    company, *_ = (sym for sym, each in financed().companies.items() if each.loans == 3 and each.size == 5)
    assert ", 3 of 5 loans, $30 interest" in company_line(financed(), company)
