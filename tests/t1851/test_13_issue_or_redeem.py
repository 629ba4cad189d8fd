"""1851, Issue or Redeem Stock."""

from tests.t1851.scenarios import RICH, run_scenario, scenario_error

TC = RICH + "@ owns Ann TC 4\n@ owns Bob TC 2\n@ owns pool TC 1\n@ price TC 90 3\n@ cash TC {cash}\n"
STEP = "@ round operating TC\n"
"""Without a train the price falls to 82 before; the treasury has 30 %."""


def test_issued_shares_go_to_the_pool_for_the_price_which_falls() -> None:
    run_scenario(
        TC.format(cash=0)
        + STEP
        + "Ann: issue 2\n= cash TC 164\n= owns pool TC 3\n= owns treasury TC 1\n= price TC 70 5"
    )


def test_shares_of_the_president_are_not_sold_after_the_trains() -> None:
    """It was said that the step for it is over; there is none."""
    why = scenario_error(TC.format(cash=100) + STEP + "> until issue\nAnn: sell 1 TC")
    assert "Shares are sold in an operating round only to pay for a forced purchase" in why


def test_not_in_the_first_turn() -> None:
    body = TC.format(cash=100).replace("@ owns pool TC 1\n", "")
    assert "first turn" in scenario_error(body + "@ new TC\n" + STEP + "> until trains\nAnn: issue 1")
    run_scenario(
        body + "@ new TC\n" + STEP + "> until trains\n!Ann: issue 1 | 1851 Issue or Redeem Stock\n"
        "Ann: pass\n= round stock Ann"
    )


def test_the_pool_holds_half_at_most() -> None:
    body = (
        TC.format(cash=0)
        .replace("Ann TC 4", "Ann TC 2")
        .replace("Bob TC 2", "Bob TC 1")
        .replace("pool TC 1", "pool TC 3")
    )
    run_scenario(body + STEP + "!Ann: issue 3 | 1851 Issue or Redeem Stock\nAnn: issue 2\n= owns pool TC 5")


def test_no_more_than_the_treasury_has() -> None:
    run_scenario(
        TC.format(cash=0) + STEP + "!Ann: issue 4 | 1851 Issue or Redeem Stock\n"
        "!Ann: issue 0 | 1851 Operating Rounds\nAnn: issue 3"
    )


def test_on_the_ledge_the_price_stays() -> None:
    run_scenario(
        TC.format(cash=0).replace("90 3", "65 6") + STEP + "Ann: issue 1\n= price TC 60 6\n= cash TC 60"
    )


def test_redeemed_shares_are_paid_by_the_company_and_the_price_stays() -> None:
    run_scenario(
        TC.format(cash=100)
        + STEP
        + "Ann: redeem 1\n= cash TC 18\n= owns pool TC 0\n= owns treasury TC 4\n= price TC 82 3"
    )


def test_several_may_be_redeemed_as_far_as_the_money_reaches() -> None:
    body = TC.format(cash=170).replace("pool TC 1", "pool TC 3")
    run_scenario(
        body + STEP + "!Ann: redeem 3 | 1851 Operating Rounds\nAnn: redeem 2\n= cash TC 6\n= owns pool TC 1"
    )


def test_the_treasury_holds_half_at_most() -> None:
    body = TC.format(cash=500).replace("Ann TC 4", "Ann TC 3").replace("pool TC 1", "pool TC 3")
    run_scenario(
        body.replace("Bob TC 2", "Bob TC 1") + STEP + "!Ann: redeem 3 | 1851 Issue or Redeem Stock\n"
        "Ann: redeem 2\n= owns treasury TC 5"
    )


def test_not_both_in_one_turn() -> None:
    run_scenario(TC.format(cash=500) + STEP + "Ann: redeem 1\n= round stock Ann")
    run_scenario(TC.format(cash=500) + STEP + "Ann: issue 1\n= round stock Ann")


def test_it_comes_after_the_trains() -> None:
    run_scenario(TC.format(cash=100) + STEP + "Ann: redeem 1\n= trains TC none\n= round stock Ann")


def test_treasury_shares_are_no_help_in_a_forced_purchase() -> None:
    body = """
    @ cash Ann 10
    @ owns Ann TC 4
    @ owns Bob TC 2
    @ price TC 90 3
    @ tile F12 202 2
    @ tile E11 5 4
    @ round operating TC
    !Ann: issue 2 | 1851 Purchase Trains
    > until trains
    Ann: sell 1 TC
    """
    run_scenario(body)
