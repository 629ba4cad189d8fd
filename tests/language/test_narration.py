"""What players read: events as sentences, reasons for refusals, prompts."""

from engine import decision, narrate, parse, play, prompt
from engine.core.events import RoundStarted
from engine.core.state import State
from engine.kernel import RefusedError
from tests.t1830.scenarios import BOUGHT, run_scenario
from tests.t1830.test_18_track import running

LINE = "@ trains PRR 2\n@ tile H10 57 1\n@ owns Bob PRR 3\n@ owns pool PRR 1"


def told(state: State, *said: str) -> list[str]:
    """The sentences for the lines, each said by the player who is asked."""
    found: list[str] = []
    for line in said:
        seat = decision(state).asked[0]
        played = play(state, seat, parse(state, seat, line))
        state = played.state
        found += narrate(state, played.events)
    return found


def why_not(state: State, line: str) -> str:
    try:
        parse(state, decision(state).asked[0], line)
    except RefusedError as refused:
        return str(refused)
    raise AssertionError(f"{line} is legal")


def test_the_lower_price_of_the_first_private_is_narrated() -> None:
    state = run_scenario("Ann: pass\nBob: pass")
    assert told(state, "pass") == ["Cid passes.", "Nobody has bought the SV: it is offered at $15 now."]
    assert told(run_scenario("Ann: pass\nBob: pass\nCid: pass"), "pass") == ["Ann passes."]


def test_a_dividend_is_narrated_with_the_revenue() -> None:
    state = run_scenario(running("PRR", LINE) + "> until dividend")
    assert "The PRR pays $30: Ann $18, Bob $9, the PRR $3." in told(state, "pay")


def test_a_private_is_narrated_with_its_seller() -> None:
    deal = "@ cash Ann 100\n@ private CS Bob\n@ round stock Ann\nAnn: buy private CS from Bob for 60"
    state = run_scenario(deal)
    bought = play(state, "p1", parse(state, "p1", "accept"))
    assert "Ann buys the CS from Bob for $60." in narrate(bought.state, bought.events)
    withdrawn = play(state, "p0", parse(state, "p0", "decline"))
    assert narrate(withdrawn.state, withdrawn.events) == ["The offer is withdrawn."]


def test_offers_end_with_the_turn_in_one_sentence() -> None:
    deal = "@ cash Ann 500\n@ private CS Bob\n@ round stock Ann\nAnn: buy private CS from Bob for 60"
    for deals, sentence in (
        (deal, "The offer ends with the turn."),
        (f"{deal}\nAnn: buy private CS from Bob for 61", "The offers end with the turn."),
    ):
        assert told(run_scenario(deals), "pass")[:2] == ["Ann passes.", sentence]


def test_a_stock_turn_asks_for_what_is_possible() -> None:
    first = run_scenario(BOUGHT + "Cid: par BO 67")
    assert prompt(first) == "buy, par a company, or pass"
    later = (
        "@ cash Ann 500\n@ private MH Ann\n@ owns Ann NYC 3\n@ owns Bob NYC 3\n@ president NYC Ann\n"
        "@ par NYC 67\n@ round stock Ann\n"
    )
    every = "sell, buy, par a company, or pass"
    assert prompt(run_scenario(later + "= turn Ann")) == every
    assert prompt(run_scenario(later + "Ann: buy NYC from ipo\n= turn Ann")) == "sell, or pass"
    poor = run_scenario("@ cash Ann 5\n@ cash Bob 50\n@ private CS Ann\n@ round stock Ann\n= turn Ann")
    assert prompt(poor) == "trade a private, or pass"


def test_the_last_to_pass_is_told_that_the_round_ends() -> None:
    rich = (
        "@ cash Ann 500\n@ cash Bob 500\n@ cash Cid 500\n@ round stock Ann\nAnn: pass\nBob: pass\n= turn Cid"
    )
    assert prompt(run_scenario(rich)) == "par a company, or pass (which ends the round)"
    state = run_scenario(rich + "\nCid: par NYC 67\n= turn Ann")
    assert prompt(state) == "buy, par a company, or pass"


def test_a_step_that_can_be_declined_says_so() -> None:
    track = run_scenario(running("PRR", phase="2") + "= turn Ann")
    assert prompt(track) == "lay or upgrade track for the PRR, or pass"
    run = run_scenario(running("PRR", LINE) + "> until run")
    assert prompt(run) == "run the trains of the PRR"


def test_who_could_only_buy_a_private_is_asked_for_that() -> None:
    state = run_scenario(running("PRR", "@ private SV Ann", phase="3", cash=100) + "> until train")
    assert prompt(state) == "buy a private for the PRR, or pass"


def test_a_reason_of_every_meaning_or_of_most() -> None:
    poor = run_scenario(
        "@ cash Ann 50\n@ owns Ann NYC 3\n@ par NYC 67\n@ owns Bob PRR 3\n@ owns pool PRR 1\n"
        "@ par PRR 100\n@ round stock Ann\n= turn Ann"
    )
    assert why_not(poor, "buy PRR") == "That costs $100, and Ann has $50 (1830 §4)."
    assert why_not(poor, "buy NYC") == (
        "That costs $67, and Ann has $50 (1830 §4). The pool has no shares of the NYC (1830 §4)."
    )
    sold = run_scenario(
        "@ cash Ann 500\n@ owns Ann PRR 3\n@ owns Bob PRR 6\n@ par PRR 100\n@ round stock Ann\n"
        "Ann: sell 1 PRR\n"
    )
    assert why_not(sold, "buy PRR") == (
        "Ann has sold shares of the PRR in this stock round and may not buy any (1830 §4)."
    )
    track = run_scenario(running("PRR", phase="2") + "= turn Ann")
    assert "would not be connected" in why_not(track, "lay 9 G11")


def test_what_is_asked_stands_in_the_refusal_of_half_a_line() -> None:
    state = run_scenario("@ cash Ann 500\n@ round stock Ann\n= turn Ann")
    assert why_not(state, "lay") == "That cannot be done now. Ann to act: par a company, or pass."


def test_what_is_wrong_with_a_route_is_a_sentence() -> None:
    state = run_scenario(running("PRR", LINE) + "> until run")
    assert why_not(state, "run 2 H12-H8") == "There is no track along H12-H8 (1830 §20.1)."
    assert why_not(state, "run 2 H12-H10-H12") == "H12-H10-H12 visits Altoona twice (1830 §20.1)."
    assert why_not(state, "run 2 A9-A11") == "A9-A11 visits Canadian West twice (1830 §20.1)."
    assert why_not(state, "run 3 H12-H10") == "The PRR has no 3-train (1830 §20.1)."


def test_the_end_names_the_bankrupt_and_what_he_loses() -> None:
    poor = "@ cash Ann 5\n@ owns Ann PRR 3\n@ owns Bob PRR 3\n@ president PRR Ann\n@ par PRR 67\n"
    state = run_scenario(poor + "@ tile H10 57 1\n@ round operating PRR\n> until train")
    assert told(state, "bankrupt") == ["Ann loses $5 by bankruptcy.", "The game is over. Ann is bankrupt."]


def test_nobody_is_asked_for_bids_on_nothing() -> None:
    assert prompt(run_scenario("= turn Ann")) == "buy the SV for $20, bid on another private, or pass"
    last = run_scenario("\n".join(BOUGHT.splitlines()[:-1]) + "\n= turn Cid")
    assert prompt(last) == "buy the BO for $220, or pass"


def test_what_is_open_is_named_with_its_amounts() -> None:
    assert (
        why_not(run_scenario("= turn Ann"), "bid BO") == "Say for how much: `bid BO 225` or more, up to $800."
    )
    several = why_not(run_scenario("= turn Ann"), "bid")
    assert several.startswith("Say which, and for how much: `bid CS 45` or more, up to $800; `bid DH 75`")


def test_who_has_the_priority_deal_is_told_after_what_gave_it_to_them() -> None:
    assert told(run_scenario("Ann: pass"), "buy SV") == [
        "Bob buys the SV for $20.",
        "Cid has the priority deal.",
    ]


def test_one_of_several_operating_rounds_says_which_it_is() -> None:
    state = run_scenario("Ann: pass")
    names = [
        "operating round 4.1 of 1",
        "operating round 5.1 of 3",
        "operating round 5.3 of 3",
        "stock round 6",
    ]
    assert narrate(state, [RoundStarted(name) for name in names]) == [
        "Operating round 4.1 begins.",
        "Operating round 5.1 begins, the first of 3.",
        "Operating round 5.3 begins, the last of 3.",
        "Stock round 6 begins.",
    ]
