"""1851, Purchase Trains: sellers and prices, forced purchases, bankruptcy, discards."""

import pytest

from tests.t1851.scenarios import RICH, run_scenario

TC = "@ owns Ann TC 6\n@ price TC 90 3\n@ tile F12 202 2\n@ tile E11 5 4\n"
STEP = "@ round operating TC\n"
SR = "@ owns {} SR 6\n@ price SR 82 3\n"


def test_the_bank_sells_the_cheapest_at_face_value() -> None:
    body = RICH + TC + "@ cash TC 300\n" + STEP
    run_scenario(
        body + "!Ann: buy train 3 | 1851 Purchase Trains\nAnn: buy train 2\n"
        "= cash TC 200\n= trains TC 2\nAnn: buy train 2\n= cash TC 100"
    )


def test_the_pool_sells_at_face_value() -> None:
    body = "@ phase 4\n" + RICH + TC + "@ trains pool 3\n@ cash TC 300\n" + STEP
    run_scenario(
        body + "!Ann: buy train 3 from pool for 100 | 1851 Purchase Trains\n"
        "Ann: buy train 3 from pool\n= cash TC 100\n= trains pool none"
    )


def test_a_company_of_the_same_president_sells_at_any_price() -> None:
    body = RICH + TC + SR.format("Ann") + "@ trains SR 2 2\n@ cash TC 250\n" + STEP
    run_scenario(
        body + "!Ann: buy train 2 from SR for 0 | 1851 Purchase Trains\n"
        "!Ann: buy train 2 from SR for 251 | 1851 Operating Rounds\n"
        "Ann: buy train 2 from SR for 1\nAnn: buy train 2 from SR for 249\n= cash TC 0\n= cash SR 250"
    )


def test_a_company_of_another_president_at_face_value_with_consent() -> None:
    body = RICH + TC + SR.format("Bob") + "@ trains SR 2\n@ cash TC 250\n" + STEP
    run_scenario(
        body + "!Ann: buy train 2 from SR for 50 | 1851 Purchase Trains\n"
        "!Ann: buy train 2 from SR for 101 | 1851 Purchase Trains\n"
        "Ann: buy train 2 from SR for 100\n= trains TC none\nBob: accept\n= trains TC 2\n= cash SR 100"
    )
    run_scenario(body + "Ann: buy train 2 from SR\nBob: decline\n= trains TC none\n= cash TC 250")


def test_not_at_the_limit() -> None:
    body = "@ phase 4\n" + RICH + TC + "@ trains TC 3 4 4\n@ cash TC 800\n" + STEP
    run_scenario(body + "Ann: run best\nAnn: withhold\n!Ann: buy train 4 | 1851 Operating Rounds")
    # Not even where the purchase would make room.
    body = "@ phase 3\n" + RICH + TC + "@ trains TC 2 2 3 3\n@ depot 4 3\n@ cash TC 800\n" + STEP
    run_scenario(body + "Ann: run best\nAnn: withhold\n!Ann: buy train 4 | 1851 Operating Rounds")


def test_it_need_not_buy_without_a_route() -> None:
    body = RICH + "@ owns Ann TC 6\n@ price TC 90 3\n@ cash TC 100\n" + STEP
    run_scenario(body + "> until trains\nAnn: pass\n= trains TC none")


def test_it_must_buy_with_one() -> None:
    body = RICH + TC + "@ cash TC 100\n" + STEP
    run_scenario(body + "> until trains\n!Ann: pass | 1851 Purchase Trains\nAnn: buy train 2\n= trains TC 2")


def test_the_president_makes_up_the_shortfall() -> None:
    run_scenario(
        RICH + TC + "@ cash TC 30\n" + STEP + "> until trains\nAnn: buy train 2\n= cash Ann 1430\n= cash TC 0"
    )


def test_his_money_buys_the_cheapest_only() -> None:
    body = "@ phase 4\n" + RICH + TC + "@ trains pool 3\n@ cash TC 30\n" + STEP + "> until trains\n"
    run_scenario(
        body + "!Ann: buy train 4 | 1851 Purchase Trains\nAnn: buy train 3 from pool\n= cash Ann 1330"
    )


def test_nobody_elses_train_with_his_money() -> None:
    body = RICH + TC + SR.format("Ann") + "@ trains SR 2\n@ cash TC 30\n" + STEP + "> until trains\n"
    run_scenario(
        body + "!Ann: buy train 2 from SR for 31 | 1851 Operating Rounds\n"
        "Ann: buy train 2 from SR for 30\n= cash Ann 1500\n= cash SR 30"
    )
    body = RICH + TC + SR.format("Bob") + "@ trains SR 2\n@ cash TC 30\n" + STEP + "> until trains\n"
    run_scenario(body + "!Ann: buy train 2 from SR for 100 | 1851 Operating Rounds\nAnn: buy train 2")


FORCED = """
@ cash Ann {cash}
@ owns Ann TC 4
@ owns Bob TC 2
@ price TC 90 3
@ tile F12 202 2
@ tile E11 5 4
@ owns Ann SR 4
@ owns Bob SR 3
@ price SR 82 3
@ owns Cid IC 2
@ owns Ann IC 2
@ owns Bob IC 1
@ president IC Cid
@ price IC 70 4
@ depot 2 1
@ round operating TC
> until trains
"""


def test_he_sells_where_his_cash_does_not_reach() -> None:
    run_scenario(
        FORCED.format(cash=20) + "!Ann: buy train 2 | 1851 Purchase Trains\nAnn: sell 1 SR\n"
        "Ann: buy train 2\n= cash Ann 2\n= price SR 75 4"
    )


def test_every_share_brings_the_price_at_the_beginning() -> None:
    body = (
        FORCED.format(cash=0).replace("@ depot 2 1", "@ depot 3 4").replace("@ round", "@ phase 3\n@ round")
    )
    run_scenario(
        body + "Ann: sell 1 SR\n= cash Ann 82\n= price SR 75 4\nAnn: sell 1 SR\n= cash Ann 164\n"
        "= price SR 70 5\n"
        "Ann: sell 1 TC\n= cash Ann 246\nAnn: buy train 3\n= cash Ann 46"
    )


def test_he_sells_no_more_than_is_needed() -> None:
    run_scenario(
        FORCED.format(cash=20) + "!Ann: sell 2 SR | 1851 Purchase Trains\nAnn: sell 1 SR\n"
        "!Ann: sell 1 SR | 1851 Purchase Trains\n!Ann: sell 1 TC | 1851 Purchase Trains"
    )


def test_nothing_is_sold_while_his_cash_reaches() -> None:
    run_scenario(
        FORCED.format(cash=100) + "!Ann: sell 1 SR | 1851 Purchase Trains\nAnn: buy train 2\n= cash Ann 0"
    )


def test_he_stays_president_of_the_company_that_buys() -> None:
    body = FORCED.format(cash=0).replace("Bob TC 2", "Bob TC 3")
    run_scenario(body + "!Ann: sell 2 TC | 1851 Purchase Trains\nAnn: sell 1 TC\n= president TC Ann")


def test_another_presidency_may_go() -> None:
    run_scenario(
        FORCED.format(cash=0).replace("TC 4", "TC 5") + "Ann: sell 2 SR\n= president SR Bob\n= owns Ann SR 2"
    )


def test_what_has_not_operated_is_not_sold() -> None:
    body = FORCED.format(cash=20).replace("@ round", "@ new SR\n@ round")
    run_scenario(
        body + "!Ann: sell 1 SR | 1851 Selling Stock\n!Ann: bankrupt | 1851 Purchase Trains\nAnn: sell 1 TC"
    )
    # Nor shares of the company itself in its first turn.
    run_scenario(
        FORCED.format(cash=20).replace("@ round", "@ new TC\n@ round")
        + "!Ann: sell 1 TC | 1851 Selling Stock\n"
        "Ann: sell 1 SR"
    )


def test_bankruptcy_ends_the_game_and_he_keeps_his_money() -> None:
    body = """
    @ cash Ann 20
    @ cash Bob 500
    @ private L&O Ann
    @ owns Ann TC 2
    @ owns Bob TC 1
    @ owns Cid TC 2
    @ president TC Ann
    @ price TC 50 5
    @ tile F12 202 2
    @ tile E11 5 4
    @ round operating TC
    > until trains
    !Ann: pass | 1851 Purchase Trains
    Ann: bankrupt
    = over
    = score Ann 300
    = score Bob 540
    = score Cid 80
    """
    run_scenario(body)


def test_not_bankrupt_before_all_is_sold() -> None:
    body = FORCED.format(cash=0).replace("@ depot 2 1", "@ phase 5\n@ depot 5 1")
    body = body.replace("@ owns Ann IC 2\n", "")
    run_scenario(
        body
        + "!Ann: bankrupt | 1851 Purchase Trains\nAnn: sell 2 SR\n!Ann: bankrupt | 1851 Purchase Trains\n"
        "Ann: sell 2 TC\n!Ann: bankrupt | 1851 Purchase Trains\nAnn: sell 2 SR\n"
        "Ann: bankrupt\n= over"
    )


def test_excess_trains_go_to_the_pool_in_order_of_price() -> None:
    body = (
        "@ phase 3\n"
        + RICH
        + """
    @ owns Ann TC 6
    @ price TC 82 3
    @ trains TC 3 3 3 3
    @ owns Bob SR 6
    @ price SR 90 3
    @ trains SR 2 2 2
    @ owns Cid IC 6
    @ price IC 70 4
    @ cash IC 300
    @ depot 4 3
    @ round operating IC
    > until trains
    Cid: buy train 4
    = phase 4
    = trains SR none
    = turn TC
    !Bob: pass | 1851 Purchase Trains
    Ann: discard 3
    = trains pool 3
    """
    )
    run_scenario(body)


@pytest.mark.parametrize("prices", [("90 3", "82 3", "SR"), ("90 2", "90 3", "TC"), ("82 3", "82 3", "SR")])
def test_who_discards_first(prices: tuple[str, str, str]) -> None:
    sr, tc, first = prices
    body = (
        "@ phase 4\n"
        + RICH
        + f"""
    @ owns Bob SR 6
    @ price SR {sr}
    @ trains SR 3 3 4
    @ owns Ann TC 6
    @ price TC {tc}
    @ trains TC 3 3 4
    @ owns Cid IC 6
    @ price IC 70 4
    @ cash IC 500
    @ depot 5 2
    @ round operating IC
    > until trains
    Cid: buy train 5
    = turn {first}
    """
    )
    run_scenario(body)
