"""Narration of 1817: related events are told in one sentence."""

from __future__ import annotations

import engine
from bot.position import text_views
from bot.position.pending import pending_decisions
from engine import State
from tests.t1817.scenarios import CASH, MERGER, company_lines, run_scenario

TWO = MERGER + company_lines("SR", 2, 60, "Bob 2", cash=50, loans=1, token="G18", trains=2)
FIVE = CASH + company_lines("WT", 5, 100, "Ann 2, Cid -1", cash=200, loans=2, token="F19", trains=2)
FIVE += company_lines("SR", 5, "{where}", "Bob 2", cash=80, loans=1, token="G18", trains="2 2")


def said(state: State, *lines: str) -> tuple[State, list[str]]:
    """The position after the lines (each as `Ann: pass`), and the sentences for the last one."""
    sentences: list[str] = []
    for each in lines:
        name, _, line = each.partition(": ")
        seat = next(s for s in state.seats if state.name(s) == name)
        _, state, events = engine.play_line(state, seat, line)
        sentences = engine.narrate(state, events)
    return state, sentences


def test_loans_are_one_sentence_with_the_price_they_lead_to() -> None:
    state = run_scenario(f"{TWO}\n@ round operating WT\n= turn Ann")
    assert said(state, "Ann: loan 2")[1] == ["The WT takes 2 loans for $200, and is at $80."]


def test_a_poll_is_answered_by_each_for_himself() -> None:
    """The question of those who have not answered is still the same one."""
    state = run_scenario(f"{TWO}\n@ round merger WT\n= turn Ann")
    asked = state.question_number
    state, told = said(state, "Bob: act")
    assert told == ["Bob will convert or merge a company."]
    assert (state.question_number, engine.decision(state).asked) == (asked, ("p0",))
    assert said(state, "Ann: pass")[0].question_number != asked


def test_all_who_are_asked_at_once_are_named() -> None:
    state = run_scenario(f"{TWO}\n@ round merger WT\n= turn Ann")
    assert text_views.waiting_sentence(state, pending_decisions(state, 0)).startswith(
        "Ann and Bob to act: say whether"
    )


def test_a_merger_is_narrated_with_what_remains_and_what_it_takes_over() -> None:
    state = run_scenario(f"{TWO}\n@ round merger WT\n= turn Ann")
    state, told = said(state, "Ann: act", "Bob: pass", "Ann: merge SR as SR")
    assert told == ["Ann makes Bob an offer: the WT merges with the SR; the SR remains."]
    _, told = said(state, "Bob: accept")
    assert "The SR has 5 shares." in told
    assert "The SR takes over from the WT: $200 and a 2-train." in told
    assert not any("The WT has" in sentence for sentence in told)
    assert "The token of the WT in F19 Philadelphia is replaced by one of the SR." in told


def test_a_sale_is_narrated_with_assets_and_price() -> None:
    state = run_scenario(f"{FIVE.format(where='acquisition 2')}\n@ round sale SR\n= turn Ann")
    _, told = said(state, "Ann: bid 10")
    assert "The WT takes over from the SR: $80, 1 loan and trains 2 2." in told
    assert "The WT pays $10 for the SR." in told


def test_a_company_without_a_price_stands_in_its_zone() -> None:
    state = run_scenario(f"{FIVE.format(where='acquisition 2')}\n@ round stock Ann\n= turn Ann")
    assert text_views.price_text(state, "SR") == "acquisition 2"
    assert "In acquisition 2: SR" in text_views.market_view(state)
    assert max(len(line) for line in text_views.market_view(state).splitlines()) <= text_views.LINE_WIDTH


def test_loans_shorts_and_the_interest_are_shown() -> None:
    state = run_scenario(f"{FIVE.format(where='60')}\n@ round stock Ann\n= turn Ann")
    shown = text_views.status_view(state, ())
    assert "interest $5 a loan ($10 above 5 loans), 3 of 70 loans taken" in shown
    assert "WT short 20%" in shown
    assert "bank" not in shown
    assert "5 shares; loans: 2 of 5" in text_views.company_view(state, "WT")


def test_a_prompt_lists_what_can_be_done_in_the_turn() -> None:
    state = run_scenario(f"{FIVE.format(where='60')}\n@ round stock Ann\n= turn Ann")
    assert engine.prompt(state) == ("sell short, buy, start a company, act for a company, or pass")
    poor = run_scenario("@ cash Ann 0\n@ cash Bob 500\n@ cash Cid 40\n@ round stock Bob\n= turn Bob")
    assert engine.prompt(poor) == "start a company, or pass"


def test_mines_and_bridges_are_on_the_map_in_words() -> None:
    state = run_scenario(f"{TWO}\n@ tile H13 9 1\n@ mine H13\n@ bridge H9\n@ round stock Ann\n= turn Ann")
    rows = text_views.map_view(state).splitlines()
    assert "H13, #9, mine: track H11 - H15" in rows
    assert "H9 Charleston, bridge: city (1 free)" in rows


def test_what_a_bankrupt_was_short_of_is_the_pools() -> None:
    poor = FIVE.format(where="60").replace("cash Cid 500", "cash Cid 0")
    state = run_scenario(f"{poor}\n@ tile F19 57 2\n@ tile G20 7 1\n@ round operating WT\n= turn Ann")
    state, _ = said(state, "Ann: run best", "Ann: pay")
    assert engine.prompt(state) == "declare bankruptcy, because $10 are owed and no share may be sold"
    told = said(state, "Cid: bankrupt")[1]
    assert told[:2] == ["Cid cannot pay $10 more.", "Cid is bankrupt and out of the game."]
    assert "The pool takes over 20 % of the WT sold short." in told
