"""1830 §23: private companies are sold, closed and valued."""

import pytest

from engine import choices, decision, parse
from engine.kernel import RefusedError
from tests.t1830.scenarios import BOUGHT, Options, both_conventions, run_scenario, scenario_error
from tests.t1830.test_18_track import running

STOCK = """
@ cash Ann 500
@ cash Bob 500
@ cash Cid 500
@ private CS Bob
@ private BO Bob
@ owns Bob BO 2
@ par BO 100
@ round stock {0}
"""


def test_23_1_in_the_buyers_turn_at_any_agreed_price() -> None:
    offer = STOCK.format("Ann") + "Ann: buy private CS from Bob for 300\n= turn Bob\n= private CS Bob\n"
    run_scenario(offer + "Bob: accept\n= private CS Ann\n= cash Ann 200\n= cash Bob 800\n= turn Ann")
    run_scenario(offer + "Bob: decline\n= private CS Bob\n= cash Ann 500")
    run_scenario(offer + "!Cid: accept | 1830 §4\n= turn Ann")


def test_23_1_in_the_sellers_turn() -> None:
    offer = STOCK.format("Bob") + "Bob: sell private CS to Ann for 1\n"
    run_scenario(offer + "Ann: accept\n= private CS Ann\n= cash Bob 501\n= turn Bob")


def test_23_1_only_in_a_turn_of_buyer_or_seller() -> None:
    run_scenario(
        STOCK.format("Cid") + "!Ann: buy private CS from Bob for 40 | 1830 §23.1\n"
        "!Bob: sell private CS to Ann for 40 | 1830 §23.1"
    )


def test_23_1_a_deal_in_privates_leaves_the_turns_purchase() -> None:
    run_scenario(STOCK.format("Ann") + "Ann: buy private CS from Bob for 40\nBob: accept\nAnn: par PRR 67\n")


def test_23_1_the_bo_may_be_sold_to_a_player() -> None:
    run_scenario(
        STOCK.format("Ann")
        + "Ann: buy private BO from Bob for 250\nBob: accept\n= private BO Ann\n= president BO Bob"
    )


def test_23_1_not_in_the_first_stock_round() -> None:
    run_scenario(
        BOUGHT + "Cid: par BO 67\n!Ann: buy private CS from Bob for 40 | 1830 §23.1\n"
        "!Ann: sell private SV to Bob for 20 | 1830 §23.1"
    )


def test_23_1_not_for_more_than_the_buyer_has() -> None:
    run_scenario(STOCK.format("Ann") + "!Ann: buy private CS from Bob for 501 | 1830 §23.1")


@both_conventions
def test_23_1_companies_buy_from_the_first_3_on(options: Options) -> None:
    run_scenario(
        running("PRR", "@ private CS Ann") + "!Ann: buy private CS for 40 | 1830 §23.1", options=options
    )
    run_scenario(
        running("PRR", "@ private CS Ann", phase="3")
        + "Ann: buy private CS for 40\n= private CS PRR\n= cash Ann 40",
        options=options,
    )


@both_conventions
@pytest.mark.parametrize(
    ("private", "low", "high"),
    [("SV", 10, 40), ("CS", 20, 80), ("DH", 35, 140), ("MH", 55, 220), ("CA", 80, 320)],
)
def test_23_1_companies_pay_half_to_twice_the_face_value(
    private: str, low: int, high: int, options: Options
) -> None:
    company = running("PRR", f"@ private {private} Ann", phase="3")
    for amount in (low, high):
        run_scenario(
            company
            + f"Ann: buy private {private} for {amount}\n= cash Ann {amount}\n= cash PRR {1000 - amount}",
            options=options,
        )
    run_scenario(
        company + f"!Ann: buy private {private} for {low - 1}\n!Ann: buy private {private} for {high + 1}",
        options=options,
    )


@both_conventions
def test_23_1_of_another_player_with_his_consent(options: Options) -> None:
    offer = (
        running("PRR", "@ private CS Bob", phase="3")
        + "Ann: buy private CS for 60\n= private CS Bob\n= turn Bob\n"
    )
    run_scenario(offer + "Bob: accept\n= private CS PRR\n= cash Bob 60\n= cash PRR 940", options=options)
    run_scenario(offer + "Bob: decline\n= private CS Bob\n= cash PRR 1000", options=options)


def test_23_1_in_the_companys_turn_only() -> None:
    two = running("PRR", "@ private CS Bob\n@ owns Bob CO 6\n@ par CO 67\n@ cash CO 100", phase="3")
    run_scenario(
        two + "!Bob: buy private CS for 40 | 1830 §23.1\n> until CO\n"
        "Bob: buy private CS for 40\n= private CS CO"
    )


def test_23_1_companies_do_not_sell_them() -> None:
    two = running("PRR", "@ private CS CO\n@ owns Ann CO 6\n@ par CO 67", phase="3")
    run_scenario(
        two + "!Ann: buy private CS for 40 | 1830 §23.1\n!Ann: sell private CS to Bob for 40 | 1830 §23.1"
    )


def test_23_2_the_bo_closes_with_the_first_train_of_the_bo() -> None:
    train = "> until train\nAnn: buy train 2\n= private BO closed"
    run_scenario(running("BO", "@ private BO Bob") + "= private BO Bob\n" + train)
    run_scenario(
        running("PRR", "@ private BO Bob\n@ owns Bob BO 2\n@ par BO 67")
        + "> until train\nAnn: buy train 2\n= private BO Bob"
    )


def test_23_2_the_mh_closes_when_it_is_exchanged() -> None:
    run_scenario(
        "@ private MH Ann\n@ owns Bob NYC 2\n@ par NYC 67\n@ round stock Ann\n"
        "Ann: exchange MH from ipo\n= private MH closed"
    )


def test_23_2_a_closed_private_is_gone() -> None:
    gone = running("PRR", "@ private CS PRR\n@ depot 5 3", phase="4") + "> until train\nAnn: buy train 5\n"
    run_scenario(
        gone + "!Ann: lay 58 B20 0 using CS | 1830 Table 1\n"
        "!Ann: buy private CS for 40 | 1830 §23.1\n> until operating\n= cash PRR 550"
    )


def test_23_3_a_players_private_scores_its_face_value_a_companys_none() -> None:
    run_scenario(
        """
        @ cash Ann 100
        @ private CA Ann
        @ private MH PRR
        @ private SV closed
        @ owns Bob PRR 6
        @ par PRR 100
        @ phase 3
        @ round stock Ann
        = score Ann 260
        = score Bob 600
        = score Cid 0
        """
    )


def test_23_3_a_private_counts_as_a_certificate() -> None:
    full = """
    @ cash Ann 100
    @ cash Cid 500
    @ owns Ann NYC 6
    @ par NYC 100
    @ owns Ann CPR 6
    @ par CPR 100
    @ owns Ann BM 6
    @ par BM 100
    @ owns Ann CO 6
    @ par CO 100
    @ private CS Bob
    """
    run_scenario(
        full + "@ round stock Ann\n!Ann: buy private CS from Bob for 40 | 1830 §10\n"
        "!Bob: sell private CS to Ann for 1 | 1830 §10"
    )
    run_scenario(full + "@ round stock Cid\nCid: buy private CS from Bob for 40")


def test_23_1_several_offers_are_answered_each() -> None:
    offers = """
    @ cash Bob 500
    @ cash Cid 500
    @ private SV Ann
    @ private CS Ann
    @ round stock Ann
    Ann: sell private SV to Bob for 100
    Ann: sell private CS to Cid for 100
    = turn Bob
    = turn Cid
    """
    run_scenario(offers + "Cid: accept\nBob: accept\n= private SV Bob\n= private CS Cid\n= cash Ann 200")
    run_scenario(
        offers + "Bob: decline\nAnn: pass\n!Cid: accept | 1830 §4\n= private SV Ann\n= private CS Ann"
    )


def test_23_1_a_turn_with_an_open_offer_does_not_end_by_itself() -> None:
    """Ann has nothing left to buy or sell once she has bought."""
    offer = STOCK.format("Ann") + "Ann: buy private CS from Bob for 100\nAnn: par PRR 100\n"
    run_scenario(offer + "= turn Ann\nBob: accept\n= private CS Ann\n!Ann: done | 1830 §4")
    run_scenario(offer + "Ann: done\n!Bob: accept | 1830 §4\n= private CS Bob")


def test_23_1_an_offer_is_withdrawn_by_who_made_it() -> None:
    offer = STOCK.format("Ann") + "Ann: buy private CS from Bob for 100\nAnn: decline\n"
    run_scenario(offer + "!Bob: accept | 1830 §4\n= private CS Bob\n= turn Ann")
    open_offer = run_scenario(offer.removesuffix("Ann: decline\n"))
    verbs = [{c.path[0] for c in choices(open_offer, seat) if c.line == "decline"} for seat in ("p0", "p1")]
    assert verbs == [{"withdraw"}, {"decline"}]


def test_23_1_what_cannot_be_answered_is_said() -> None:
    """The answer may have been meant for something else, such as a vote that is over."""
    state = run_scenario(STOCK.format("Ann") + "Ann: buy private CS from Bob for 100")
    for seat, line, reason in (
        ("p0", "accept", "Nothing is open to you that could be accepted or declined (1830 §4)."),
        ("p1", "accept 7", "No offer 7 is open to you (1830 §4)."),
    ):
        with pytest.raises(RefusedError) as refused:
            parse(state, seat, line)
        assert str(refused.value) == reason


def test_23_1_of_several_offers_the_one_that_can_be_kept() -> None:
    two = STOCK.format("Ann").replace("@ round", "@ private SV Bob\n@ round")
    run_scenario(
        two
        + """
        Ann: buy private CS from Bob for 300
        Ann: buy private SV from Bob for 300
        Ann: buy private SV from Bob for 200
        !Bob: accept | 1830 §4
        Bob: accept 1
        !Bob: accept 2 | 1830 §23.1
        Bob: accept
        = private SV Ann
        = cash Ann 0
        """
    )


def test_23_1_an_offer_of_a_president_ends_with_his_office() -> None:
    offer = """
    @ private CS Bob
    @ private MH Cid
    @ owns Ann NYC 3
    @ owns Cid NYC 3
    @ president NYC Ann
    @ par NYC 100
    @ cash NYC 200
    @ phase 3
    @ round operating NYC
    Ann: buy private CS for 60
    Cid: exchange MH from ipo
    = president NYC Cid
    """
    assert "another president now" in scenario_error(offer + "Bob: accept")
    run_scenario(offer + "= turn Cid NYC\nCid: buy private CS for 60\nBob: accept 2\n= private CS NYC")


def test_23_1_nobody_is_asked_about_what_is_sold_meanwhile() -> None:
    state = run_scenario(
        STOCK.format("Ann").replace("CS Bob", "CS Ann")
        + "Ann: sell private CS to Bob for 100\nAnn: sell private CS to Cid for 90\nBob: accept"
    )
    assert decision(state).awaited == ("p0",)


def test_23_1_the_same_offer_is_not_listed_while_it_waits() -> None:
    offer = "Ann: buy private CS from Bob for 300\n"
    state = run_scenario(STOCK.format("Ann") + offer + "Ann: buy private CS from Bob for 301")
    (deal,) = (c for c in choices(state, "p0") if c.line.startswith("buy private CS from Bob"))
    assert deal.amounts == range(300), "the longest part without the two offers"
    run_scenario(STOCK.format("Ann") + offer + "Bob: decline\n" + offer)
