"""`auto decline` and `auto protect`: questions beside one's turn."""

from __future__ import annotations

import pytest

import engine
from engine.standing_orders import declines_votes, line_when_time_is_up
from tests.orders.order_table import OrderTable
from tests.t1817.scenarios import MONEY, company_lines
from tests.t1817.test_05_company_start import OWING
from tests.t1817.test_06_running import COAST
from tests.t1817.test_06_track import turn
from tests.t1817.test_07_conversions_and_mergers import SMALL
from tests.t1870.test_05_protection import MP

DEAL = """
@ cash Ann 500
@ cash Bob 500
@ private CS Bob
@ private SV Bob
@ round stock Ann
"""


def test_offers_are_declined_until_the_order_is_taken_back() -> None:
    t = OrderTable("1830", DEAL)
    t.arm("Bob", "auto decline deals")
    waits = "It would say nothing now; it waits for such a question."
    assert t.preview("Bob", "auto decline deals") == waits
    t.say("Ann: buy private CS from Bob for 50", "Ann: buy private SV from Bob for 50")
    assert t.said == ["Bob: decline", "Bob: decline"] and t.asked == ["Ann"] and len(t.armed) == 1


def test_an_offer_from_before_the_arming_is_left_to_its_owner() -> None:
    t = OrderTable("1830", DEAL)
    t.say("Ann: buy private CS from Bob for 50")
    t.arm("Bob", "auto decline deals")
    assert t.said == [] and "Bob" in t.asked
    t.say("Ann: buy private SV from Bob for 50")
    assert t.said == ["Bob: decline 2"]


def test_an_offer_is_no_reason_to_pass() -> None:
    """An open offer waits for its answer; a pass would end the turn and the offer with it."""
    t = OrderTable("1830", DEAL)
    t.say("Ann: buy private CS from Bob for 50")
    t.arm("Ann", "auto pass")
    assert t.said == []
    t.say("Bob: decline")
    assert t.said == ["Ann: pass"]


def test_an_offer_that_is_open_keeps_a_purchase_waiting() -> None:
    """A purchase ends the turn, and with it the offer that its owner has made."""
    t = OrderTable("1830", DEAL + "@ owns Cid PRR 3\n@ price PRR 90\n@ cash Cid 200\n")
    t.say("Ann: buy private CS from Bob for 50")
    t.arm("Ann", "auto buy PRR from ipo")
    assert t.said == [] and len(t.armed) == 1
    t.say("Bob: decline")
    assert t.said[0] == "Ann: buy PRR from ipo"


def test_polls_of_a_merger_round_are_answered() -> None:
    t = OrderTable("1817", SMALL)
    t.arm("Bob", "auto decline polls")
    assert t.said == ["Bob: pass"] and t.asked == ["Ann"]


def test_auto_pass_in_a_merger_round_outlives_a_decline_of_others() -> None:
    """18xx.games #9300: a pass in the merger round was disarmed by a decline."""
    t = OrderTable("1817", SMALL)
    t.say("Bob: pass")
    t.arm("Ann", "auto pass")
    assert t.said[:1] == ["Ann: pass"] and t.ended[-1:] in ([], ["Ann: The round is over."])


def test_price_protection_is_answered_up_to_its_limit() -> None:
    for limit, answer in ((300, "protect MP"), (150, "decline")):
        t = OrderTable("1870", MP)
        assert t.arm("Ann", f"standing protect MP up to {limit}") == f"auto protect MP up to {limit}"
        t.say("Bob: sell 2 MP", "Bob: done")
        assert t.said == [f"Ann: {answer}"]
        assert not t.state.standing_protections


def test_a_turn_has_no_line_that_is_an_order_itself() -> None:
    """It would become part of the position, where `auto` does not take it back."""
    t = OrderTable("1870", MP)
    with pytest.raises(engine.RefusedError, match="`standing protect MP up to 5` is an order of its own"):
        t.arm("Ann", "auto turn MP: standing protect MP up to 5; run best")


def test_votes_are_declined_by_the_service() -> None:
    t = OrderTable("1830", DEAL)
    for questions, declines in (("deals", False), ("polls", True), ("votes", True)):
        line = t.arm("Ann", f"Auto Decline {questions}")
        assert declines_votes(line) == declines
    assert t.said == []


def test_when_time_is_up_a_pass_or_a_decline_is_said_and_nothing_else() -> None:
    t = OrderTable("1830", DEAL)
    assert line_when_time_is_up(t.state, "p0") == "pass" and line_when_time_is_up(t.state, "p1") is None
    t.say("Ann: buy private CS from Bob for 50")
    assert line_when_time_is_up(t.state, "p1") == "decline 1"
    protecting = OrderTable("1870", MP)
    protecting.say("Bob: sell 2 MP", "Bob: done")
    assert line_when_time_is_up(protecting.state, "p0") == "pass"
    closing = OrderTable("1870", MP.replace("price MP 100 0", "price MP 10 7"))
    closing.say("Bob: sell 2 MP")
    assert closing.asked == ["Ann"] and line_when_time_is_up(closing.state, "p0") is None
    opening = OrderTable("1830")
    opening.say("Ann: buy SV", "Bob: buy CS", "Cid: buy DH", "Ann: buy MH", "Bob: buy CA", "Cid: buy BO")
    assert engine.decision(opening.state).awaited == ("p2",)
    assert line_when_time_is_up(opening.state, "p2") is None, "a par price has to be set by its owner"


def test_no_pass_when_time_is_up_takes_a_company_from_its_president() -> None:
    """1817 §6.10: a company without a train at the end of its turn goes into liquidation."""
    for trains, cash, loans, said in (("2", 200, 0, "pass"), ("none", 200, 0, None), ("none", 0, 5, "pass")):
        company = company_lines("WT", 5, 100, "Ann 2", cash=cash, token="F19", trains=trains, loans=loans)
        t = OrderTable("1817", f"{MONEY}{company}@ round operating WT")
        assert t.asked == ["Ann"] and line_when_time_is_up(t.state, "p0") == said


def test_the_table_waits_for_nobody_who_can_save_their_company_no_more() -> None:
    """1817 §6.9, §6.10: a loan of $100 buys no 5-train; and after the step of trains it buys nothing."""
    for phase, loans, lines, said in (("5", 4, (), "pass"), ("3", 0, (), None), ("3", 0, ("pass",), None),
                                      ("3", 0, ("pass", "pass"), "pass")):  # fmt: skip
        wt = company_lines("WT", 5, 100, "Ann 2", cash=20, token="F19", trains="none", loans=loans)
        t = OrderTable("1817", f"@ phase {phase}\n@ cash Ann 10\n{wt}@ round operating WT")
        t.say(*(f"Ann: {line}" for line in lines))
        assert t.asked == ["Ann"] and line_when_time_is_up(t.state, "p0") == said


def test_no_pass_leaves_station_tokens_unpaid() -> None:
    """1817 §5.5, §7.1.1: the company would go into liquidation."""
    for cash, said in ((50, "pass"), (0, None)):
        wt = company_lines("WT", 2, 100, "Ann 2", cash=cash, token="F19", trains="2")
        t = OrderTable("1817", f"@ phase 3\n{wt}@ round merger WT")
        t.say("Ann: convert")
        assert t.asked == ["Ann"] and line_when_time_is_up(t.state, "p0") == said
    setup, _, lines = OWING.partition("Ann: start")
    started = OrderTable("1817", setup)
    started.say(*f"Ann: start{lines}Bob: pass".replace("= cash WT 0\n= markers WT 0\n", "").split("\n"))
    assert started.asked == ["Ann"] and line_when_time_is_up(started.state, "p0") is None
    started.arm("Ann", "auto pass")
    assert started.ended == ["Ann: The WT would go into liquidation."] and started.said == []
    started.say("Ann: for WT loan 1", "Ann: done", "Bob: pass")
    assert line_when_time_is_up(started.state, "p0") == "pass"


def test_in_an_acquisition_a_player_whose_time_is_up_passes() -> None:
    """1817 §7.2: they spend nothing."""
    buyer = company_lines("WT", 5, 100, "Ann 2", cash=300, token="F19", trains="2")
    target = company_lines("SR", 2, 60, "Bob 2", token="G18", trains="none")
    t = OrderTable("1817", f"{MONEY}{buyer}{target}@ round sale SR")
    t.say("Bob: act", "Ann: pass", "Bob: offer SR")
    assert t.asked[0] == "Ann" and line_when_time_is_up(t.state, "p0") == "pass"


def test_revenue_is_withheld_where_paying_leaves_interest_to_the_president() -> None:
    """1817 §6.8: the interest of $100, or of $300, comes after the dividend, and no loan is left."""
    for interest, cash, said in ((10, 0, "withhold"), (10, 200, "pay"), (30, 0, "withhold")):
        lines = (*COAST, "trains WT 2 2", "loans WT 10", f"interest {interest}")
        t = OrderTable("1817", turn(*lines, phase="3", cash=cash))
        t.say("Ann: pass", "Ann: pass", "Ann: run best")
        assert line_when_time_is_up(t.state, "p0") == said


def test_no_dividend_leaves_a_company_for_others_to_buy() -> None:
    """1817 §6.6, §7.2.2: one space to the left of $40 is the acquisition section."""
    at_40 = turn(*COAST, "trains WT 2", phase="3").replace("price WT 100", "price WT 40")
    t = OrderTable("1817", at_40)
    t.say("Ann: pass", "Ann: pass", "Ann: run best")
    for last, said in (("withhold", "pay"), ("half", "half"), ("pay", "pay")):
        assert line_when_time_is_up(t.state, "p0", {"WT": last}) == said
    t = OrderTable("1817", at_40)
    t.arm("Ann", "auto run WT withhold")
    assert len(t.said) == 3 and t.ended == ["Ann: The WT would go into acquisition."]
