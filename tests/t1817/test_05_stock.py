"""Stock rounds: turns, limits, sales, short sales, purchases (1817 §5, §5.1 to §5.4)."""

from __future__ import annotations

import pytest

from engine import parse
from engine.kernel import RefusedError
from tests.t1817.scenarios import (
    ANN,
    BOB,
    CID,
    FIVE,
    MONEY,
    SITE,
    SR,
    TEN,
    TWO,
    both_conventions,
    run_scenario,
    scenario_error,
)

# -- 1817 §5 ---------------------------------------------------------------------------------------


def test_5_turns_go_clockwise_from_the_priority_until_all_pass_in_a_row() -> None:
    run_scenario(
        f"""{FIVE}{BOB}
        = turn Bob
        Bob: pass
        = turn Cid
        Cid: pass
        Ann: sell 1 WT          # after an action a player has another turn
        Ann: done
        = turn Bob
        Bob: pass
        Cid: pass
        = round stock Ann
        Ann: pass
        = round operating WT
        """
    )


@pytest.mark.parametrize("act", ["short SR", "buy SR from treasury", "for WT loan 1", "start PW F13 100"])
def test_5_whoever_does_anything_has_another_turn(act: str) -> None:
    body = f"{FIVE}{SR}{BOB}Bob: pass\nCid: pass\nAnn: {act}\n?Ann: done\n?Bob: pass\n?Cid: pass\n"
    run_scenario(body + "?Bob: pass\n?Cid: pass\n= round stock Ann")


def test_5_sales_then_a_short_sale_then_a_purchase() -> None:
    body = f"{FIVE}{SR}@ size PW 5\n@ price PW 70\n@ owns Cid PW 3\n@ token PW F13\n{BOB}"
    rest = "@ size R 5\n@ price R 70\n@ owns Cid R 2\n@ token R I16\n"
    each = "Bob: sell 1 SR\nBob: sell 1 WT\nBob: short PW\nBob: buy R from treasury\n= turn Cid\n"
    run_scenario(body.replace(BOB, rest + BOB) + each + "= owns Bob R 1\n= owns Bob PW -1\n= owns Bob SR 0")
    run_scenario(
        body + "Bob: sell 1 SR\nBob: sell 1 WT\nBob: short PW\n"
        "!Bob: sell 1 WT | 1817 §5\n!Bob: short PW | 1817 §5\nBob: done"
    )
    run_scenario(body + "Bob: short PW\nBob: sell 1 WT\n= owns Bob WT 1", options=(SITE,))
    run_scenario(body + "Bob: sell 2 WT\nBob: buy SR from treasury\n= turn Cid\n= owns Bob SR 2")
    run_scenario(body + "Bob: short PW\nBob: buy SR from treasury\n= turn Cid\n= owns Bob PW -1")


def test_5_a_turn_is_for_the_player_or_for_one_company() -> None:
    also = SR.replace("@ owns Cid SR 2", "@ owns Ann SR 3").replace("@ owns Bob SR 1\n", "")
    body = f"{FIVE}{also}@ owns pool WT 1\n@ owns pool SR 1\n{ANN}"
    run_scenario(
        body
        + """
        Ann: for WT loan 1
        !Ann: for SR loan 1 | 1817 §5
        !Ann: sell 1 SR | 1817 §5
        !Ann: short SR | 1817 §5
        !Ann: buy SR from treasury | 1817 §5
        !Ann: start PW F13 100 | 1817 §5
        Ann: done
        """
    )
    short = "@ size PW 5\n@ price PW 70\n@ owns Cid PW 2\n@ token PW F13\n"
    for own in ("sell 1 SR", "short PW"):
        mine = f"{body.replace(ANN, short + ANN)}Ann: {own}\n"
        run_scenario(mine + "!Ann: for WT loan 1 | 1817 §5\n!Ann: for WT redeem 1 | 1817 §5\nAnn: done")


def test_5_companies_hold_their_own_stock_and_players_deal_with_nobody_else() -> None:
    body = f"{FIVE}{SR}@ owns pool SR 1\n{ANN}"
    run_scenario(body + "!Ann: for WT redeem 2 | 1817 §5.6\n!Ann: for SR redeem 1 | 1817 §5.6\nAnn: pass")
    assert "cannot be read" in scenario_error(body + "Ann: buy WT from Bob")


FULL = """
@ phase 3
@ trains bank 3 3 3 3
@ cash Ann 500
@ cash Bob 500
@ cash Cid 500
@ cash Dan 500
@ cash Eve 500
@ cash Fay 500
@ cash Gil 500
"""
SEVEN = "Ann, Bob, Cid, Dan, Eve, Fay, Gil"


def holding(count: int, *others: str) -> str:
    """Ann with so many single certificates of companies of which Bob is president; seven players may
    hold nine."""
    symbols, homes = "A&S A&A Belt Bess B&A".split(), "F19 F13 F3 B5 C14".split()
    body = FULL
    for symbol, home in zip(symbols, homes, strict=True):
        mine = min(2, count)
        count -= mine
        body += f"@ size {symbol} 5\n@ price {symbol} 100\n@ owns Bob {symbol} 2\n@ president {symbol} Bob\n"
        body += f"@ owns Ann {symbol} {mine}\n@ token {symbol} {home}\n@ trains {symbol} 2+\n"
    return body.replace("@ trains B&A 2+\n", "") + "".join(others)


@both_conventions
def test_5_1_who_holds_as_many_certificates_as_the_limit_buys_none(options: tuple[str, ...]) -> None:
    run_scenario(holding(8, ANN) + "= limit 9\nAnn: buy B&A from treasury", SEVEN)
    run_scenario(holding(8, ANN) + "Ann: start PW G18 100", SEVEN, options)
    full = holding(9, ANN)
    run_scenario(
        full + "!Ann: buy B&A from treasury | 1817 §5.1\n!Ann: start PW G18 100 | 1817 §5.1\n?Ann: pass",
        SEVEN,
        options,
    )
    run_scenario(full + "Ann: sell 1 A&S\nAnn: buy B&A from treasury\n= owns Ann B&A 2", SEVEN)


def test_5_1_who_is_at_the_limit_is_passed_over_where_a_company_is_started() -> None:
    """Gil starts it; Ann, with nine, could not take the president's certificate."""
    start = "@ round stock Gil\nGil: start PW G18 100\n"
    run_scenario(holding(9, start) + "= turn Bob", SEVEN)
    run_scenario(holding(8, start) + "= turn Ann\nAnn: bid 105", SEVEN)


def test_5_1_privates_and_short_shares_do_not_count() -> None:
    more = (
        "@ private TS Ann\n@ private MAJM Ann\n@ size PW 5\n@ price PW 70\n@ owns Cid PW 2\n@ token PW G18\n"
    )
    run_scenario(
        holding(8, more, "@ owns Ann PW -2\n@ owns pool PW 2\n", ANN) + "Ann: buy B&A from treasury", SEVEN
    )


def test_5_1_a_presidents_certificate_is_one() -> None:
    more = "@ size PW 5\n@ price PW 70\n@ owns Ann PW 2\n@ token PW G18\n"
    run_scenario(holding(7, more, ANN) + "Ann: buy B&A from treasury", SEVEN)
    run_scenario(holding(8, more, ANN) + "!Ann: buy B&A from treasury | 1817 §5.1\nAnn: pass", SEVEN)


def test_5_1_a_short_share_is_closed_also_at_and_above_the_limit() -> None:
    short = (
        "@ size PW 5\n@ price PW 70\n@ owns Cid PW 2\n@ owns Ann PW -2\n@ owns pool PW 2\n@ token PW G18\n"
    )
    run_scenario(holding(9, short, ANN) + "Ann: buy PW from pool\n= owns Ann PW -1\n= owns pool PW 1", SEVEN)
    stuck = "".join(f"@ size {s} 2\n@ price {s} 60\n@ owns Ann {s} 2\n@ token {s} {h}\n" for s, h in TWOS)
    above = FULL.replace("@ phase 3", "@ phase 2").replace("@ trains bank 3 3 3 3\n", "") + stuck
    run_scenario(above + short + ANN + "Ann: buy PW from pool\n= owns Ann PW -1", SEVEN)


TWOS = tuple(
    zip(
        "A&S A&A Belt Bess B&A DL&W J GT H ME".split(),
        "F19 F13 F3 B5 C14 B17 C22 D7 D19 G6".split(),
        strict=True,
    )
)


def test_5_1_a_share_and_a_short_share_of_one_stock_close_each_other() -> None:
    body = f"{FIVE}@ owns Cid WT -2\n@ owns pool WT 2\n{CID}"
    run_scenario(body + "Cid: buy WT from pool\n= owns Cid WT -1\n= owns pool WT 1\n= cash Cid 400")
    # From the treasury: the pair is gone, and what the pool holds is what is sold short still.
    run_scenario(
        body
        + "Cid: buy WT from treasury\n= owns Cid WT -1\n= owns treasury WT 0\n= owns pool WT 2\n= cash WT 300"
    )


@pytest.mark.parametrize(("size", "most"), [(5, 3), (10, 6)])
def test_5_1_nobody_holds_more_than_six_of_ten_or_three_of_five(size: int, most: int) -> None:
    body = TEN.replace("size WT 10", f"size WT {size}").replace("owns Ann WT 5", f"owns Ann WT {most - 1}")
    run_scenario(
        body + ANN + f"Ann: buy WT from treasury\n= owns Ann WT {most}\n"
        "Bob: pass\nCid: pass\n!Ann: buy WT | 1817 §5.4"
    )


def test_5_1_above_the_limit_sales_come_before_all_else() -> None:
    """Ten certificates are held, and seven players may hold nine."""
    above = holding(10, ANN)
    run_scenario(
        above
        + """
        !Ann: pass | 1817 §5.1
        !Ann: buy B&A from treasury | 1817 §5.1
        !Ann: start PW G18 100 | 1817 §5.1
        !Ann: short PW | 1817 §5.1
        Ann: sell 1 A&S
        Ann: done
        = turn Bob
        """,
        SEVEN,
    )


def test_5_1_who_is_above_the_limit_is_told_by_how_much() -> None:
    """Neither a company of two shares nor one sold short is named: no share of those can be sold."""
    more = "@ size J 2\n@ price J 60\n@ owns Ann J 2\n@ token J C22\n"
    more += "@ size R 5\n@ price R 70\n@ owns Cid R 2\n@ owns Ann R -1\n@ owns pool R 1\n@ token R I16\n"
    for others, excess in (("", "1 certificate"), (more, "2 certificates")):
        state = run_scenario(holding(10, others, ANN) + "!Ann: pass | 1817 §5.1", SEVEN)
        with pytest.raises(RefusedError) as refused:
            parse(state, "p0", "pass")
        first = f"Sell down to the limit first: {excess} of A&S, A&A, Belt, Bess, B&A (1817 §5.1)."
        assert str(refused.value) == first


def test_5_1_nobody_ends_a_turn_above_the_limit_by_acting_for_a_company_or_selling_short() -> None:
    more = "@ size PW 5\n@ price PW 70\n@ owns Ann PW 2\n@ owns pool PW 1\n@ token PW G18\n"
    more += "@ size R 5\n@ price R 70\n@ owns Cid R 2\n@ token R I16\n"
    body = holding(9, more, ANN)
    run_scenario(
        body + "!Ann: for PW loan 1 | 1817 §5.1\n!Ann: for PW redeem 1 | 1817 §5.1\n"
        "!Ann: short R | 1817 §5.1\nAnn: sell 1 A&S\nAnn: short R",
        SEVEN,
    )
    # Nor by closing a short share before the sale.
    short = more.replace("@ owns Cid R 2", "@ owns Cid R 2\n@ owns Ann R -1\n@ owns pool R 1")
    run_scenario(
        holding(9, short, ANN) + "!Ann: buy R from pool | 1817 §5.1\nAnn: sell 1 A&S\nAnn: buy R from pool",
        SEVEN,
    )


def test_5_1_who_can_sell_nothing_stays_above_the_limit() -> None:
    stuck = "".join(f"@ size {s} 2\n@ price {s} 60\n@ owns Ann {s} 2\n@ token {s} {h}\n" for s, h in TWOS)
    run_scenario(
        FULL.replace("phase 3", "phase 2").replace("@ trains bank 3 3 3 3\n", "")
        + stuck
        + ANN
        + "Ann: for H loan 1\nAnn: done\n= turn Bob",
        SEVEN,
    )


def test_5_2_any_number_is_sold_at_the_price_which_stays() -> None:
    run_scenario(
        f"{FIVE}{BOB}Bob: sell 2 WT\n= cash Bob 700\n= price WT 100\n= owns pool WT 2\n= owns Bob WT 0"
    )
    run_scenario(
        f"{FIVE}{SR}{BOB}Bob: sell 1 WT\nBob: sell 1 SR\nBob: sell 1 WT\n= cash Bob 760\n= price SR 60"
    )


def test_5_2_the_pool_takes_all() -> None:
    sold = "@ owns Bob WT 2\n@ owns Cid WT -5\n@ owns pool WT 10\n"
    run_scenario(
        TEN.replace("owns Ann WT 5", "owns Ann WT 3") + sold + BOB + "Bob: sell 2 WT\n= owns pool WT 12"
    )


def test_5_2_no_shares_of_2_share_companies() -> None:
    run_scenario(f"{TWO}{ANN}!Ann: sell 1 WT | 1817 §5.2\n!Ann: sell 2 WT | 1817 §5.2\nAnn: pass")


def test_5_2_nothing_of_a_company_formed_in_the_same_round() -> None:
    formed = f"{MONEY}{ANN}Ann: start WT F19 200\nBob: pass\nCid: pass\nAnn: float 5\n"
    formed += "Bob: buy WT from treasury\nCid: buy WT from treasury\nAnn: buy WT from treasury\n"
    run_scenario(
        formed + "!Bob: sell 1 WT | 1817 §5.2\nBob: pass\n!Cid: sell 1 WT | 1817 §5.2\n"
        "Cid: pass\n!Ann: sell 1 WT | 1817 §5.2\nAnn: pass"
    )


def test_5_2_the_presidents_certificate_never_comes_into_the_market() -> None:
    alone = FIVE.replace("owns Ann WT 2", "owns Ann WT 3").replace("owns Bob WT 2", "owns Bob WT 1")
    alone = alone.replace("@ president WT Ann\n", "")
    run_scenario(
        f"{alone}{ANN}!Ann: sell 2 WT | 1817 §5.2\n!Ann: sell 3 WT | 1817 §5.2\n"
        "Ann: sell 1 WT\n!Ann: sell 1 WT | 1817 §5.2\n= president WT Ann"
    )


@pytest.mark.parametrize("space", [1, 2, 3])
def test_5_2_nothing_in_the_gray_area(space: int) -> None:
    body = FIVE.replace("price WT 100", f"price WT acquisition {space}")
    run_scenario(f"{body}{BOB}!Bob: sell 1 WT | 1817 §5.2\nBob: pass")


def test_5_2_privates_are_not_sold() -> None:
    body = f"{FIVE}@ private TS Bob\n{BOB}"
    run_scenario(body + "!Bob: sell private TS to Ann for 80 | 1817 §5\nBob: pass")
    assert "cannot be read" in scenario_error(body + "Bob: sell 1 TS")


def test_5_2_1_the_largest_other_holder_of_two_shares_takes_over() -> None:
    body = TEN + "@ owns Bob WT 2\n@ owns Cid WT 3\n"
    run_scenario(
        body + ANN + "Ann: sell 2 WT\n= president WT Ann\nAnn: sell 1 WT\n= president WT Cid\n= owns Ann WT 2"
    )
    run_scenario(body + ANN + "Ann: sell 5 WT\n= president WT Cid\n= owns Ann WT 0\n= owns pool WT 5")


def test_5_2_1_of_equal_holders_the_nearest_to_the_left_of_the_president() -> None:
    four = TEN.replace("owns Ann WT 5", "owns Ann WT 4")
    body = four + "@ owns Bob WT 2\n@ owns Cid WT 2\n@ owns Dan WT 2\n@ cash Dan 10\n"
    run_scenario(body + ANN + "Ann: sell 3 WT\n= president WT Bob", "Ann, Bob, Cid, Dan")
    moved = body.replace("owns Cid WT 2", "owns Ann WT 2").replace("owns Ann WT 4", "owns Cid WT 4")
    run_scenario(moved + CID + "Cid: sell 3 WT\n= president WT Dan", "Ann, Bob, Cid, Dan")


def test_5_2_1_one_of_the_two_shares_received_may_be_sold() -> None:
    run_scenario(
        f"{FIVE}{ANN}Ann: sell 1 WT\n= president WT Bob\n= owns Ann WT 1\n= owns Bob WT 2\n= owns pool WT 1"
    )


def test_5_2_1_a_holder_of_one_share_cannot_take_over() -> None:
    run_scenario(
        FIVE.replace("owns Bob WT 2", "owns Bob WT 1").replace("@ president WT Ann\n", "")
        + ANN
        + "!Ann: sell 1 WT | 1817 §5.2\n!Ann: sell 2 WT | 1817 §5.2\nAnn: pass"
    )


def test_5_3_a_share_and_a_short_share_come_and_the_share_is_sold() -> None:
    run_scenario(
        f"""{FIVE}{CID}
        Cid: short WT
        = owns Cid WT -1
        = owns pool WT 1
        = owns treasury WT 1
        = cash Cid 600
        = cash WT 200
        = price WT 100
        """
    )


def test_5_3_not_of_2_share_companies() -> None:
    run_scenario(f"{TWO}{BOB}!Bob: short WT | 1817 §5.3\nBob: pass")


@pytest.mark.parametrize("size", [5, 10])
def test_5_3_five_short_shares_are_the_most(size: int) -> None:
    body = TEN.replace("size WT 10", f"size WT {size}").replace("owns Ann WT 5", "owns Ann WT 2") + CID
    five = body.replace("@ token WT", "@ owns Bob WT -5\n@ owns pool WT 5\n@ token WT")
    run_scenario(five + "!Cid: short WT | 1817 §5.3\nCid: pass")
    run_scenario(
        five.replace("WT -5", "WT -4").replace("pool WT 5", "pool WT 4") + "Cid: short WT\n= owns Cid WT -1"
    )


def test_5_3_shorts_in_play_are_those_of_all_players() -> None:
    body = TEN + "@ owns Bob WT -3\n@ owns Cid WT -2\n@ owns pool WT 5\n"
    run_scenario(body + BOB + "!Bob: short WT | 1817 §5.3\nBob: pass\n!Cid: short WT | 1817 §5.3\nCid: pass")


def test_5_3_an_individual_may_hold_any_number() -> None:
    body = TEN + "@ owns Cid WT -4\n@ owns pool WT 4\n"
    run_scenario(body + CID + "Cid: short WT\n= owns Cid WT -5\n= owns pool WT 5")


def test_5_3_not_of_a_company_formed_in_the_same_round() -> None:
    run_scenario(
        f"{MONEY}{ANN}Ann: start WT F19 200\nBob: pass\nCid: pass\n"
        "Ann: float 5\n!Bob: short WT | 1817 §5.3\nBob: pass"
    )


def test_5_3_not_by_who_holds_any_of_it() -> None:
    run_scenario(
        f"{FIVE}{ANN}!Ann: short WT | 1817 §5.3\nAnn: pass\n"
        "!Bob: short WT | 1817 §5.3\nBob: sell 1 WT\n!Bob: short WT | 1817 §5.3\n"
        "Bob: sell 1 WT\nBob: short WT"
    )


def test_5_3_not_in_the_gray_area() -> None:
    run_scenario(
        f"{FIVE.replace('price WT 100', 'price WT acquisition 3')}{CID}!Cid: short WT | 1817 §5.3\nCid: pass"
    )


def test_5_3_not_in_phase_8() -> None:
    eight = TEN.replace("@ phase 5", "@ phase 8").replace("@ trains bank 5 5 5\n", "") + CID
    run_scenario(eight + "!Cid: short WT | 1817 §5.3\nCid: pass")
    seven = eight.replace("@ phase 8", "@ phase 7")
    run_scenario(seven + "Cid: short WT")


def test_5_3_the_export_of_an_8_train_ends_short_sales_too() -> None:
    seven = TEN.replace("@ phase 5", "@ phase 7").replace("@ trains bank 5 5 5\n", "@ depot 8\n")
    end = seven.replace("trains WT 5", "trains WT 7") + "@ round operating WT 2\n> until stock\n= phase 8\n"
    run_scenario(end + "> until Cid\n!Cid: short WT | 1817 §5.3\n= owns Cid WT 0")


def test_5_3_one_a_turn_and_more_in_later_turns() -> None:
    body = f"{FIVE}{CID}Cid: short WT\n!Cid: short WT | 1817 §5\nCid: done\nAnn: pass\nBob: pass\n"
    run_scenario(body + "Cid: short WT\n= owns Cid WT -2")


def test_5_3_who_has_sold_short_does_not_buy_it_in_that_round() -> None:
    body = (
        f"{FIVE}{CID}Cid: short WT\n!Cid: buy WT from treasury | 1817 §5.4\n"
        "!Cid: buy WT from pool | 1817 §5.4\nCid: done\n"
    )
    run_scenario(body + "Ann: pass\nBob: pass\n!Cid: buy WT from pool | 1817 §5.4\nCid: pass")


def test_5_4_from_the_treasury_the_company_is_paid_and_from_the_market_the_bank() -> None:
    body = f"{TEN}@ owns pool WT 1\n{BOB}"
    run_scenario(
        body
        + "Bob: buy WT from treasury\n= cash WT 300\n= cash Bob 800\n= owns treasury WT 3\n= price WT 100"
    )
    run_scenario(
        body + "Bob: buy WT from pool\n= cash WT 200\n= cash Bob 800\n= owns pool WT 0\n= price WT 100"
    )


def test_5_4_nothing_to_buy_where_no_shares_are() -> None:
    gone = FIVE.replace("owns Ann WT 2", "owns Ann WT 3").replace("@ president WT Ann\n", "")
    run_scenario(
        gone + CID + "!Cid: buy WT from treasury | 1817 §5.4\n!Cid: buy WT from pool | 1817 §5.4\nCid: pass"
    )


def test_5_4_one_certificate_a_turn() -> None:
    run_scenario(f"{TEN}{BOB}!Bob: buy 2 WT from treasury | 1817 §5.4\nBob: buy WT from treasury\n= turn Cid")


def test_5_4_nobody_buys_what_he_cannot_pay() -> None:
    run_scenario(
        TEN.replace("cash Bob 900", "cash Bob 99") + BOB + "!Bob: buy WT from treasury | 1817 §5.4\nBob: pass"
    )


def test_5_4_not_what_was_sold_in_that_round() -> None:
    body = f"{FIVE}{BOB}Bob: sell 1 WT\n!Bob: buy WT from pool | 1817 §5.4\nBob: done\nCid: pass\nAnn: pass\n"
    run_scenario(body + "!Bob: buy WT from treasury | 1817 §5.4\nBob: pass\n")
    run_scenario(f"{FIVE}@ owns pool WT 1\n{ANN}Ann: pass\nBob: buy WT from pool\n= owns Bob WT 3")


def test_5_4_nothing_in_the_gray_area() -> None:
    body = FIVE.replace("price WT 100", "price WT acquisition 2") + "@ owns pool WT 1\n" + CID
    run_scenario(
        body.replace("@ owns Bob WT 2", "@ owns Bob WT 1").replace("@ president WT Ann\n", "")
        + "!Cid: buy WT from treasury | 1817 §5.4\n!Cid: buy WT from pool | 1817 §5.4\nCid: pass"
    )


def test_5_4_1_who_comes_to_hold_more_is_president() -> None:
    body = f"{FIVE}{BOB}"
    run_scenario(body + "= president WT Ann\nBob: buy WT from treasury\n= president WT Bob\n= owns Ann WT 2")
    equal = TEN.replace("owns Ann WT 5", "owns Ann WT 3") + "@ owns Bob WT 2\n" + BOB
    equal += "Bob: buy WT from treasury\n= president WT Ann\nCid: pass\nAnn: pass\n"
    run_scenario(equal + "Bob: buy WT from treasury\n= president WT Bob\n= owns Bob WT 4\n= owns Ann WT 3")
