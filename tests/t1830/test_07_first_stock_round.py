"""1830 §7: the privates are sold."""

from engine.core.actions import TradePrivate
from engine.kernel import game_of, options
from engine.title import SITE_CONVENTIONS as SITE
from tests.t1830.scenarios import BOUGHT, Options, both_conventions, run_scenario, scenario_error


def test_7_privates_are_offered_one_at_a_time_in_order_of_value() -> None:
    run_scenario(
        "= turn Ann\nAnn: buy SV\n= cash Ann 780\n= private SV Ann\n"
        "= turn Bob\n!Bob: buy DH | 1830 §7.1\nBob: buy CS\n"
    )


def test_7_a_private_that_is_passed_is_offered_to_the_next_player() -> None:
    run_scenario("Ann: pass\n= turn Bob\nBob: pass\n= turn Cid\nCid: buy SV\n= cash Cid 780\n= turn Ann")


@both_conventions
def test_7_the_player_after_the_last_buyer_has_the_priority(options: Options) -> None:
    run_scenario(BOUGHT + "Cid: par BO 67\n= priority Ann\n= round stock Ann", options=options)


def test_7_nothing_is_sold_in_the_first_stock_round() -> None:
    run_scenario(
        BOUGHT + "Cid: par BO 67\nAnn: par PRR 67\n?Ann: done\n"
        "!Bob: sell 1 PRR | 1830 §12.1\nBob: pass\n!Cid: sell 1 BO | 1830 §12.1"
    )


def test_7_1_a_player_buys_bids_or_passes() -> None:
    run_scenario(
        """
        !Ann: bid SV 25 | 1830 §7.1
        Ann: buy SV
        Bob: bid DH 75
        Cid: pass
        = turn Ann
        = private DH bank
        = cash Bob 800
        """
    )


@both_conventions
def test_7_2_a_bid_exceeds_face_value_and_other_bids_by_5_in_no_set_steps(options: Options) -> None:
    run_scenario(
        """
        !Ann: bid CS 40 | 1830 §7.2
        !Ann: bid CS 44 | 1830 §7.2
        Ann: bid CS 46
        !Bob: bid CS 50 | 1830 §7.2
        Bob: bid CS 51
        """,
        options=options,
    )


def test_7_2_bid_money_is_reserved() -> None:
    run_scenario(
        """
        @ cash Ann 100
        Ann: bid CS 85
        Bob: pass
        Cid: pass
        !Ann: buy SV | 1830 §7.2
        !Ann: bid DH 75 | 1830 §7.2
        Ann: pass
        """
    )


def test_7_2_a_single_bidder_buys_for_his_bid_once_the_private_before_is_sold() -> None:
    run_scenario("Ann: bid CS 45\nBob: buy SV\n= private CS Ann\n= cash Ann 755\n= cash Bob 780\n= turn Cid")


@both_conventions
def test_7_2_auction_starts_with_the_lowest(options: Options) -> None:
    run_scenario(
        """
        Ann: bid CS 45
        Bob: bid CS 50
        Cid: bid CS 55
        Ann: buy SV
        = turn Ann
        !Cid: bid CS 60 | 1830 §7.2
        !Ann: bid CS 59 | 1830 §7.2
        Ann: bid CS 60
        = turn Bob
        Bob: pass
        = turn Cid
        Cid: pass
        = private CS Ann
        = cash Ann 720
        = cash Bob 800
        """,
        options=options,
    )


def test_7_2_play_goes_on_left_of_the_last_buyer_of_an_offered_private() -> None:
    run_scenario(
        """
        Ann: bid CS 45
        Bob: bid CS 50
        Cid: pass
        Ann: buy SV
        Ann: pass
        = private CS Bob
        = turn Bob
        """
    )


def test_7_2_a_bidder_pays_with_the_money_he_has_staked() -> None:
    run_scenario(
        """
        @ cash Ann 65
        Ann: bid CS 45
        Bob: bid CS 50
        Cid: buy SV
        !Ann: bid CS 70 | 1830 §7.2
        Ann: bid CS 65
        Bob: pass
        = private CS Ann
        = cash Ann 0
        """
    )


def test_7_2_losing_bidders_have_their_money_back() -> None:
    run_scenario(
        """
        @ cash Bob 70
        Ann: bid CS 45
        Bob: bid CS 50
        Cid: buy SV
        Ann: bid CS 55
        Bob: pass
        = private CS Ann
        = turn Ann
        Ann: pass
        Bob: buy DH
        = cash Bob 0
        """
    )


def test_7_2_several_privates_with_bids_follow_each_other() -> None:
    run_scenario(
        "Ann: bid CS 45\nBob: bid DH 75\nCid: buy SV\n= private CS Ann\n= private DH Bob\n"
        "= turn Ann\nAnn: buy MH"
    )


def test_7_3_the_first_private_gets_cheaper_when_all_pass() -> None:
    run_scenario("> until Ann\nAnn: pass\nBob: pass\nCid: pass\n= turn Ann\nAnn: buy SV\n= cash Ann 785")


def test_7_3_at_no_price_the_first_to_be_offered_it_has_to_take_it() -> None:
    everyone = "Ann: pass\nBob: pass\nCid: pass\n"
    run_scenario(
        everyone * 3
        + """
        = private SV bank
        Ann: pass
        Bob: pass
        Cid: pass
        = private SV Ann
        = cash Ann 800
        = priority Bob
        = turn Bob
        Bob: buy CS
        """
    )


def test_7_3_a_bid_keeps_the_round_going() -> None:
    run_scenario("Ann: pass\nBob: bid CS 45\nCid: pass\nAnn: pass\n= turn Bob\nBob: buy SV\n= cash Bob 735")


def test_7_3_only_the_first_private_gets_cheaper() -> None:
    said = "Ann: buy SV\nBob: pass\nCid: pass\nAnn: pass\nBob: buy CS\n= cash Bob 765"
    assert "expected $765, found $760" in scenario_error(said)


UNSOLD = """
Ann: buy SV
Bob: buy CS
Cid: buy DH
Ann: buy MH
Bob: buy CA
Cid: pass
Ann: pass
Bob: pass
"""
"""The B&O finds no buyer; the owners have been paid."""


def test_7_3_the_round_after_an_unsold_private_is_not_the_first() -> None:
    """Bob, who has the C&A, may sell the share of the PRR that came with it."""
    bought = UNSOLD + "= cash Bob 635\nCid: buy BO\nCid: par BO 67\nAnn: par PRR 67\n"
    run_scenario(bought + "?Ann: done\nBob: sell 1 PRR\n= owns pool PRR 1")
    run_scenario(
        UNSOLD + "Cid: buy BO\nCid: par BO 67\nAnn: par PRR 67\n?Ann: done\n!Bob: sell 1 PRR | 1830 §12.1",
        options=(SITE,),
    )


def test_7_3_privates_are_traded_while_another_is_on_offer() -> None:
    deal = "Cid: buy private SV from Ann for 30\nAnn: accept\n= private SV Cid\n"
    run_scenario(UNSOLD + deal + "= turn Cid\nCid: buy BO\n")
    run_scenario(UNSOLD + "!Ann: sell private SV to Bob for 30 | 1830 §23.1")
    run_scenario(UNSOLD + "!Cid: buy private SV from Ann for 30 | 1830 §23.1", options=(SITE,))
    run_scenario("Ann: buy SV\n!Bob: buy private SV from Ann for 30 | 1830 §23.1")


def test_7_3_an_offer_lapses_with_the_turn_while_a_private_is_on_offer() -> None:
    offered = UNSOLD + "Cid: buy private SV from Ann for 30\n"
    assert run_scenario(offered).offers
    for move in ("pass", "buy BO"):
        assert run_scenario(f"{offered}Cid: {move}").offers == []


def test_7_3_money_in_bids_buys_no_private_of_a_player() -> None:
    unsold = "Ann: buy SV\nBob: pass\nCid: pass\nAnn: pass\nBob: bid BO 225\nCid: pass\nAnn: pass\n"
    deal = "Bob: buy private SV from Ann for"
    run_scenario(f"@ cash Bob 250\n{unsold}!{deal} 26 | 1830 §7.2\n{deal} 25")
    asked = game_of(run_scenario(f"@ cash Bob 250\n{unsold}"))
    [amounts] = [each.amounts for each in options(asked, "p1") if isinstance(each.action, TradePrivate)]
    assert amounts == range(26)


def test_7_3_a_first_private_that_nobody_takes_is_unsold_too() -> None:
    passed = "Ann: pass\nBob: pass\nCid: pass\n"
    later = passed + BOUGHT + "Cid: par BO 67\nAnn: par PRR 67\n?Ann: done\n"
    run_scenario(later + "Bob: sell 1 PRR\n= owns pool PRR 1")
