"""Options of menus say what they do; their labels say what they are."""

from __future__ import annotations

import engine
from bot.discord.controls.decision_controls import decision_controls
from bot.position.legal_lines import choice_effect, line_effect
from tests.game_text.histories import GAMES, history_of
from tests.t1830.scenarios import run_scenario

STOCK = """
@ owns Ann PRR 6
@ owns Bob PRR 4
@ price PRR 82
@ owns Ann NYC 2
@ owns Bob NYC 3
@ price NYC 90
@ cash Ann 300
@ round stock Ann
= turn Ann
"""


def effect(state: engine.State, line: str) -> str:
    seat = engine.decision(state).acting[0]
    choice = next(each for each in engine.choices(state, seat) if each.line == line)
    return choice_effect(state, seat, choice)


def test_a_sale_says_what_is_left_how_prices_fall_and_who_presides() -> None:
    state = run_scenario(STOCK)
    assert effect(state, "sell 3 PRR").startswith("leaves Ann $546, PRR $82 → $")
    assert effect(state, "sell 3 PRR").endswith("Bob becomes president of the PRR")


def test_a_purchase_says_what_is_left() -> None:
    assert effect(run_scenario(STOCK), "buy NYC from ipo").startswith("leaves Ann $")


def test_a_train_says_which_phase_begins_and_what_rusts() -> None:
    body = "@ owns Ann PRR 6\n@ price PRR 90\n@ owns Bob NYC 6\n@ price NYC 82\n@ trains NYC 2\n"
    turn = "@ cash PRR 900\n@ depot 4\n@ phase 3\n@ round operating PRR\nAnn: pass\n= turn Ann PRR\n"
    state = run_scenario(body + turn)
    train = next(c.line for c in engine.choices(state, "p0") if c.line.startswith("buy train 4"))
    assert effect(state, train) == "leaves the PRR $600, phase 4 begins, 2-trains rust"


def test_open_dollars_are_said_as_their_range() -> None:
    state = engine.new_game("1830", ["Ann", "Bob", "Cid"]).state
    assert effect(state, "bid CS 45") == "$45 to $800"


def test_no_option_of_a_card_repeats_the_line_that_it_plays() -> None:
    state = run_scenario(STOCK)
    choices = engine.choices(state, "p0")
    controls = decision_controls(state, "p0", choices, 70)
    items = [item for _, items in controls.selects for item in items] + list(controls.sales)
    assert items and {item.description for item in items}.isdisjoint(choice.line for choice in choices)


def test_a_line_says_what_it_costs_or_brings() -> None:
    state = engine.new_game("1830", ["Ann", "Bob", "Cid"]).state
    assert line_effect(state, "p0", "buy SV") == "costs $20, leaves Ann $780"
    assert line_effect(state, "p0", "pass") == "" == line_effect(state, "p1", "buy SV")


def test_what_comes_with_the_end_of_a_round_is_no_price_of_the_line() -> None:
    passed = "@ cash Cid 500\n@ private CS {}\n@ round stock Cid\n= turn Cid"
    assert line_effect(run_scenario(passed.format("closed")), "p2", "pass") == "stock round 2 ends"
    outcome = "stock round 2 ends, brings $10, leaves Cid $510"
    assert line_effect(run_scenario(passed.format("Cid")), "p2", "pass") == outcome


def test_a_line_that_closes_a_company_says_so() -> None:
    """1870 §5.1.1: without a dividend its price falls into the closing zone, here at the end of its turn."""
    game = next(path for path in GAMES if path.stem == "1870-6p-5400-historical_order")
    state = history_of(game).state_after(738)
    assert effect(state, "pass") == "operating round 30.2 ends, the GMO closes"
    assert effect(state, "lay 9 I20 0") == "operating round 30.2 ends, the GMO closes"


def test_whoever_starts_a_company_reads_of_no_president() -> None:
    state = run_scenario("@ cash Ann 500\n@ round stock Ann\n= turn Ann")
    assert line_effect(state, "p0", "par NYC 67") == "costs $134, leaves Ann $366"
