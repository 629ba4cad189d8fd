"""1870 §5.2 to §5.7: stock rounds, limits, starting companies, presidents, the opening."""

import pytest

from tests.t1870.scenarios import SOLD, run_scenario, scenario_error

TWO = """
@ cash Ann 500
@ cash Bob 500
@ cash Cid 500
@ owns Ann MP 4
@ owns Bob MP 3
@ owns pool MP 2
@ price MP 82 2
@ par MP 100
@ owns Bob FW 6
@ owns Cid FW 2
@ price FW 90 1
"""


def test_5_2_1_the_priority_begins_and_play_goes_clockwise() -> None:
    run_scenario(TWO + "@ round stock Cid\n= turn Cid\nCid: pass\n= turn Ann\nAnn: pass\n= turn Bob")


def test_5_2_2_the_round_ends_when_all_pass_and_the_priority_moves() -> None:
    run_scenario(
        TWO
        + """
        @ cash MP 100
        @ round stock Ann
        Ann: buy MP from pool
        Ann: done
        Bob: pass
        Cid: pass
        Ann: pass
        = round operating
        = priority Bob
        """
    )


def test_5_3_1_par_from_the_offering_and_the_price_from_the_market() -> None:
    run_scenario(TWO + "@ round stock Cid\nCid: buy MP from pool\n= cash Cid 418")
    run_scenario(TWO + "@ round stock Cid\nCid: buy MP from ipo\n= cash Cid 400")


def test_5_3_2_a_private_is_bought_instead_of_a_share() -> None:
    run_scenario(
        TWO
        + """
        @ private SCC Bob
        @ round stock Ann
        Ann: buy private SCC from Bob for 60
        Bob: accept
        = private SCC Ann
        = cash Ann 440
        !Ann: buy MP from pool | 1870 §5.3
        Ann: done
        """
    )


def test_5_3_2_the_seller_may_propose_in_the_buyers_turn_only() -> None:
    run_scenario(
        TWO
        + """
        @ private SCC Bob
        @ round stock Ann
        !Bob: sell private SCC to Cid for 60 | 1870 §12.1
        Bob: sell private SCC to Ann for 60
        Ann: accept
        = private SCC Ann
        """
    )


def test_5_3_3_one_block_of_a_company_at_one_price() -> None:
    run_scenario(
        TWO + "@ round stock Bob\nBob: sell 2 FW\n= cash Bob 680\n"
        "!Bob: sell 1 FW | 1870 §5.3.3\n= price FW 90 1"
    )


def test_5_3_3_who_has_sold_does_not_buy_in_the_same_round() -> None:
    run_scenario(
        TWO
        + """
        @ round stock Cid
        Cid: sell 1 FW
        !Cid: buy FW from pool | 1870 §5.3
        !Cid: buy FW from ipo | 1870 §5.3
        Cid: done
        > until Cid
        !Cid: buy FW from pool | 1870 §5.3
        """
    )


def test_5_3_4_sell_and_buy_but_not_sell_buy_sell() -> None:
    run_scenario(TWO + "@ round stock Cid\nCid: sell 1 FW\nCid: buy MP from pool\nBob: decline\n= turn Ann")
    run_scenario(
        TWO + "@ round stock Cid\nCid: buy MP from pool\nCid: sell 1 FW\n!Cid: buy MP from pool | 1870 §5.3"
    )


LIMITS = {3: (20, 17, 15), 4: (16, 14, 12), 5: (13, 11, 9), 6: (11, 9, 8)}


@pytest.mark.parametrize("players", LIMITS)
def test_5_4_1_certificate_limits_fall_with_companies(players: int) -> None:
    names = ", ".join(("Ann", "Bob", "Cid", "Dan", "Eve", "Fay")[:players])
    for closed, limit in enumerate(LIMITS[players]):
        gone = "".join(f"@ closed {c}\n" for c in ("TP", "SSW")[:closed])
        run_scenario(gone + f"@ owns Ann MP 6\n@ price MP 100 0\n@ round stock Ann\n= limit {limit}", names)


SIX = "Ann, Bob, Cid, Dan, Eve, Fay"
ELEVEN = """
@ cash Ann 500
@ owns Ann MP 6
@ price MP 100 0
@ owns Ann FW 6
@ price FW 90 1
@ owns Bob IC 4
@ owns pool IC 3
@ private GRSC Ann
@ round stock Ann
"""


def test_5_4_1_the_limit_stops_purchases_but_not_in_the_coloured_zones() -> None:
    run_scenario(ELEVEN + "@ price IC 100 0\n= limit 11\n!Ann: buy IC from pool | 1870 §5.4.1", SIX)
    run_scenario(ELEVEN + "@ price IC 64 1\nAnn: buy IC from pool", SIX)


def test_5_1_1_7_over_the_limit_a_player_first_sells_down() -> None:
    body = (
        ELEVEN + "@ price IC 100 0\n@ closed TP\n= limit 9\n"
        "!Ann: pass | 1870 §5.4\n!Ann: buy IC from pool | 1870 §5.4\n"
    )
    run_scenario(body + "Ann: sell 2 MP\nAnn: done", SIX)


HIGH = """
@ cash Bob 900
@ owns Ann MP 2
@ owns Bob MP 6
@ owns pool MP 2
@ round stock Bob
"""


def test_5_4_1_60_percent_of_a_company_unless_it_is_green_or_brown() -> None:
    run_scenario(HIGH + "@ price MP 100 0\n!Bob: buy MP from pool")
    run_scenario(HIGH + "@ price MP 60 1\n!Bob: buy MP from pool")
    run_scenario(HIGH + "@ price MP 50 3\nBob: buy MP from pool\n!Bob: buy MP from pool\n= owns Bob MP 7")


def test_5_1_1_6_in_the_brown_zone_all_of_the_open_market_but_not_of_the_offering() -> None:
    body = HIGH.replace("owns Bob MP 6", "owns Bob MP 4")
    run_scenario(body + "@ price MP 30 5\nBob: buy 2 MP from pool\n= owns Bob MP 6")
    run_scenario(
        body + "@ price MP 30 5\n!Bob: buy 2 MP from ipo | 1870 §5.4\n"
        "Bob: buy MP from pool\nBob: buy MP from pool"
    )


def test_5_4_2_half_of_a_company_in_the_open_market_at_most() -> None:
    run_scenario(HIGH + "@ price MP 100 0\n!Bob: sell 4 MP | 1870 §5.4.2\nBob: sell 3 MP\n= owns pool MP 5")


def test_5_5_starting_a_company_at_a_red_price_under_those_that_lie_there() -> None:
    body = (
        TWO + "@ owns Ann IC 6\n@ price IC 100 0\n@ round stock Cid\n"
        "!Cid: par TP 110 | 1870 §5.5\nCid: par TP 100\n"
    )
    state = run_scenario(body + "= cash Cid 300\n= president TP Cid\n= price TP 100 0")
    assert state.market_order.index("TP") > state.market_order.index("IC")


def test_5_5_2_six_shares_sold_to_operate() -> None:
    body = "@ cash Ann 100\n@ owns Ann TP 4\n@ owns Bob TP 1\n@ par TP 100\n@ round stock Ann\n"
    run_scenario(body + "= cash TP 0\nAnn: buy TP\n= cash TP 1000")


def test_5_5_2_shares_in_the_open_market_count_and_one_that_has_not_floated_waits() -> None:
    body = "@ owns Ann TP 3\n@ owns Bob TP 1\n@ owns pool TP 2\n@ par TP 100\n@ cash TP 50\n"
    run_scenario(body + "@ round operating TP\n= turn Ann TP")
    assert "has not floated" in scenario_error(
        body.replace("pool TP 2", "pool TP 1") + "@ round operating TP\nAnn: done"
    )


def test_5_5_2_1_the_frisco_operates_with_its_certificate_alone() -> None:
    run_scenario(SOLD + "= cash SLSF 1000\n= owns Bob SLSF 2\n= private Frisco closed\n= president SLSF Bob")


def test_5_6_the_presidency_goes_to_who_holds_more() -> None:
    run_scenario(
        TWO
        + (
            "@ round stock Bob\nBob: buy MP from pool\nBob: done\nCid: pass\n> until Bob\n"
            "Bob: buy MP from pool\n= president MP Bob"
        )
    )


def test_5_6_the_nearest_on_the_left_of_equals() -> None:
    body = "@ owns Ann MP 4\n@ owns Bob MP 2\n@ owns Cid MP 2\n@ price MP 100 0\n@ round stock Ann\n"
    run_scenario(body + "Ann: sell 3 MP\n= president MP Bob")


def test_5_6_a_president_keeps_two_shares_without_an_heir() -> None:
    body = "@ owns Ann MP 4\n@ owns Bob MP 1\n@ price MP 100 0\n@ round stock Ann\n"
    run_scenario(body + "!Ann: sell 3 MP | 1870 §5.6\nAnn: sell 2 MP")


def test_5_7_the_cheapest_is_offered_and_others_take_bids() -> None:
    run_scenario(
        "!Ann: buy MRBC | 1870 §5.7\n!Ann: bid MRBC 44 | 1870 §5.7\nAnn: bid MRBC 45\nBob: buy GRSC\n"
        "= private MRBC Ann\n= cash Ann 655"
    )


def test_5_7_bid_money_is_reserved() -> None:
    run_scenario("Ann: bid Katy 690\nBob: pass\nCid: pass\n!Ann: buy GRSC | 1870 §5.7")


THREE_BIDS = """
Ann: bid SCC 55
Bob: bid SCC 60
Cid: bid SCC 65
Ann: buy GRSC
Bob: buy MRBC
= turn Ann
"""


def test_5_7_an_auction_goes_clockwise_from_the_left_of_the_highest() -> None:
    run_scenario(
        THREE_BIDS
        + """
        Ann: bid SCC 70
        = turn Bob
        Bob: bid SCC 75
        = turn Cid
        Cid: pass
        Ann: pass
        = private SCC Bob
        = turn Cid
        """
    )


def test_5_7_all_pass_cheapens_the_first_until_it_is_given_away() -> None:
    passes = "Ann: pass\nBob: pass\nCid: pass\n"
    run_scenario(passes * 3 + "!Ann: bid GRSC 20 | 1870 §5.7\nAnn: buy GRSC\n= cash Ann 695")
    run_scenario(passes * 4 + "= private GRSC Ann\n= cash Ann 700\n= turn Bob")


def test_5_7_all_pass_pays_income_once_the_first_is_sold() -> None:
    run_scenario("Ann: buy GRSC\nBob: pass\nCid: pass\nAnn: pass\n= cash Ann 685\n= turn Bob")


def test_5_7_after_the_last_the_next_player_starts_and_nothing_is_sold() -> None:
    run_scenario(
        SOLD
        + "= turn Ann\nAnn: par MP 100\nBob: buy SLSF\nCid: pass\n!Ann: sell 1 MP | 1870 §5.7\nAnn: buy MP\n"
        "!Bob: sell 1 SLSF | 1870 §5.7"
    )
