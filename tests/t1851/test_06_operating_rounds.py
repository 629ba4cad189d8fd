"""1851, Operating Rounds: incomes, the order of companies, the steps of a turn."""

from tests.t1851.scenarios import RICH, run_scenario

TWO = (
    RICH
    + """
@ private L&O Ann
@ private M&C Bob
@ private ET&WNC Cid
@ owns Ann TC 6
@ owns Bob SR 6
@ cash TC 300
@ cash SR 300
"""
)


def test_privates_pay_first() -> None:
    body = TWO + "@ price TC 90 3\n@ price SR 82 3\n@ round stock Ann\nAnn: pass\nBob: pass\nCid: pass\n"
    run_scenario(body + "= cash Ann 1505\n= cash Bob 1510\n= cash Cid 1515\n= turn TC")


def test_the_highest_price_first() -> None:
    run_scenario(
        TWO + "@ price TC 82 3\n@ price SR 90 3\n@ round operating SR\n= turn Bob SR\n> until TC\n= turn TC"
    )


def test_of_equal_prices_the_furthest_right() -> None:
    body = TWO + "@ price TC 90 2\n@ price SR 90 3\n@ round stock Ann\nAnn: pass\nBob: pass\nCid: pass\n"
    run_scenario(body + "= round operating SR")


def test_on_one_square_the_upper_token() -> None:
    body = TWO + "@ price {0} 90 3\n@ price {1} 90 3\n@ round stock Ann\nAnn: pass\nBob: pass\nCid: pass\n"
    run_scenario(body.format("TC", "SR") + "= round operating TC")
    run_scenario(body.format("SR", "TC") + "= round operating SR")


def test_who_is_next_is_seen_after_each_company() -> None:
    # The IC would be next at 82; a forced sale of it puts the SR at 75 before it.
    body = """
    @ cash Ann 10
    @ cash Bob 500
    @ owns Ann L&N 6
    @ price L&N 90 3
    @ owns Ann IC 3
    @ owns Bob IC 4
    @ price IC 82 3
    @ owns Bob SR 6
    @ price SR 75 3
    @ cash SR 300
    @ cash IC 300
    @ round operating L&N
    Ann: pass
    Ann: sell 2 IC
    Ann: buy train 2
    = price IC 70 5
    > until SR
    = turn Bob SR
    """
    run_scenario(body)


def test_an_unfloated_company_does_not_operate() -> None:
    body = TWO + "@ owns Cid IC 4\n@ price IC 100\n@ price TC 90 3\n@ price SR 82 3\n@ round stock Ann\n"
    run_scenario(body + "Ann: pass\nBob: pass\nCid: pass\n= round operating TC\n> until SR\n> until stock")


def test_steps_come_in_their_order() -> None:
    one = RICH + "@ owns Ann TC 6\n@ price TC 90 3\n@ cash TC 500\n@ round operating TC\n"
    run_scenario(
        one + "Ann: lay 202 F12 2\nAnn: buy train 2\n!Ann: lay 7 F14 1 | 1851 Operating Rounds\n"
        "!Ann: token F12 | 1851 Operating Rounds\n!Ann: withhold | 1851 Operating Rounds"
    )
    run_scenario(one + "Ann: buy train 2\nAnn: issue 1\n= round stock Ann")
    run_scenario(one + "Ann: issue 1\n= trains TC none\n= round stock Ann")


def test_only_the_president_acts() -> None:
    run_scenario(
        RICH + "@ owns Ann TC 6\n@ price TC 90 3\n@ cash TC 500\n"
        "@ round operating TC\n!Bob: lay 202 F12 2 | 1851 Operating Rounds"
    )


def test_a_new_company_earns_nothing_and_falls() -> None:
    body = RICH + "@ owns Ann TC 6\n@ price TC 90 3\n@ new TC\n@ cash TC 500\n@ round operating TC\n"
    run_scenario(body + "Ann: lay 202 F12 2\nAnn: buy train 2\n= price TC 82 3\n= cash TC 360")


def test_a_line_of_a_later_step_declines_no_run() -> None:
    # After the first of two tiles a train may not be bought past the run.
    body = "@ phase 3\n" + RICH + "@ owns Ann L&N 6\n@ price L&N 90 3\n@ trains L&N 2\n@ cash L&N 400\n"
    run_scenario(
        body + "@ round operating L&N\nAnn: lay 9 C15 0\n!Ann: buy train 3 | 1851 Run Trains, Pay Dividends\n"
        "!Ann: issue 1 | 1851 Run Trains, Pay Dividends\nAnn: run best"
    )
