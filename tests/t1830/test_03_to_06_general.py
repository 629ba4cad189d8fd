"""1830 §3-§6: stock rounds, operating rounds, private companies."""

from tests.t1830.scenarios import BOUGHT, run_scenario

FLOATED = """
@ cash Ann 1000
@ cash Bob 1000
@ cash Cid 1000
@ cash PRR 1000
@ owns Ann PRR 4
@ owns Bob PRR 2
@ par PRR 100
"""


def test_3_stock_rounds_alternate_with_operating_rounds() -> None:
    run_scenario(
        FLOATED
        + """
        @ round stock Ann
        > until operating
        = round operating PRR 1
        > until stock
        = round stock Ann
        """
    )


def test_4_one_certificate_may_be_bought_in_a_turn() -> None:
    run_scenario(
        FLOATED + "@ round stock Ann\nAnn: buy PRR from ipo\n"
        "!Ann: buy PRR from ipo | 1830 §4\n!Ann: par NYC 100 | 1830 §4\n"
    )


def test_4_any_number_may_be_sold_before_the_purchase_or_after_it() -> None:
    held = FLOATED + "@ par NYC 90\n@ owns Cid NYC 2\n@ owns Ann NYC 1\n@ round stock Ann\n"
    run_scenario(held + "Ann: sell 1 NYC\nAnn: sell 1 PRR\nAnn: par BM 67\n?Ann: done\n= turn Bob")
    run_scenario(held + "Ann: par BM 67\nAnn: sell 1 NYC\nAnn: sell 1 PRR\n?Ann: done\n= turn Bob")


def test_4_sales_do_not_come_both_before_and_after_the_purchase() -> None:
    run_scenario(
        FLOATED + "@ round stock Ann\nAnn: sell 1 PRR\nAnn: par BM 67\n"
        "!Ann: sell 1 PRR | 1830 §4\n= owns Ann PRR 3\n= turn Bob"
    )


def test_4_who_has_sold_a_company_may_not_buy_it_until_the_next_stock_round() -> None:
    run_scenario(
        FLOATED
        + """
        @ round stock Ann
        Ann: sell 1 PRR
        !Ann: buy PRR from pool | 1830 §4
        !Ann: buy PRR from ipo | 1830 §4
        ?Ann: done
        Bob: par NYC 67
        Bob: done
        > until Ann
        !Ann: buy PRR from pool | 1830 §4
        > until stock
        ?Ann: pass
        > until Ann
        Ann: buy PRR from ipo
        """
    )


def test_4_a_pass_does_not_end_a_players_round() -> None:
    run_scenario(
        FLOATED
        + """
        @ round stock Ann
        Ann: pass
        Bob: pass
        Cid: buy PRR from ipo
        ?Cid: done
        = turn Ann
        Ann: buy PRR from ipo
        """
    )


def test_4_the_round_ends_when_all_have_passed_in_a_row() -> None:
    run_scenario(
        FLOATED
        + """
        @ round stock Ann
        Ann: buy PRR from ipo
        ?Ann: done
        Bob: pass
        Cid: pass
        = round stock Ann
        Ann: pass
        = round operating PRR
        """
    )


def test_4_priority_goes_to_the_left_of_the_last_to_buy_or_sell() -> None:
    run_scenario(
        FLOATED
        + """
        @ round stock Ann
        Ann: buy PRR from ipo
        ?Ann: done
        Bob: sell 1 PRR
        Bob: done
        > until operating
        = priority Cid
        > until stock
        = turn Cid
        """
    )


def test_4_priority_stays_where_nobody_deals() -> None:
    run_scenario(FLOATED + "@ round stock Bob\n> until operating\n= priority Bob\n> until stock\n= turn Bob")


def test_5_the_president_directs_the_railroads_turn() -> None:
    run_scenario(
        FLOATED
        + """
        @ round operating PRR
        = turn Ann PRR
        !Bob: lay 57 H10 1 | 1830 §17
        Ann: lay 57 H10 1
        = tile H10 57 1
        Ann: buy train 2
        = cash PRR 920
        = trains PRR 2
        """
    )


def test_6_no_stock_is_sold_while_a_private_is_unsold() -> None:
    run_scenario("!Ann: par PRR 100\n" + BOUGHT + "!Ann: par PRR 100\nCid: par BO 67\nAnn: par NYC 67")
