"""1851, Selling Stock."""

import pytest

from tests.t1851.scenarios import RICH, run_scenario, scenario_error

TC = RICH + "@ owns Ann TC 4\n@ owns Bob TC 3\n@ owns Cid TC 2\n@ price TC 90 3\n@ round stock Ann\n"


def test_the_pool_takes_them_at_the_price_before_it_falls() -> None:
    run_scenario(TC + "Ann: sell 2 TC\n= cash Ann 1680\n= owns pool TC 2\n= price TC 75 5\n= cash TC 0")


def test_each_share_sold_in_one_turn_brings_the_original_price() -> None:
    one_by_one = "Ann: sell 1 TC\n= cash Ann 1590\nAnn: sell 1 TC\n= cash Ann 1680\n= price TC 75 5\n"
    run_scenario(TC + one_by_one)
    # In the next turn the price is that of the market again.
    later = "Ann: done\nBob: sell 1 TC\n= cash Bob 1575"
    run_scenario(TC + "Ann: sell 2 TC\n" + later)


@pytest.mark.parametrize(("count", "cell"), [(1, "82 4"), (2, "75 5"), (3, "75 5")])
def test_a_row_for_each_share_as_far_as_the_chart_goes(count: int, cell: str) -> None:
    body = RICH + "@ owns Ann TC 2\n@ owns Bob TC 5\n@ price TC 90 3\n@ round stock Bob\n"
    run_scenario(body + f"Bob: sell {count} TC\n= price TC {cell}\n= owns pool TC {count}")


def test_on_the_ledge_it_stays() -> None:
    body = RICH + "@ owns Ann TC 6\n@ owns Bob SR 6\n@ price TC 65 6\n@ price SR 65 6\n@ round stock Ann\n"
    # It keeps its place on top of the pile, so it still operates first.
    run_scenario(
        body
        + "Ann: sell 1 TC\nAnn: done\n= price TC 65 6\nBob: pass\nCid: pass\nAnn: pass\n= round operating TC"
    )


def test_under_the_tokens_that_lie_where_it_falls_to() -> None:
    body = RICH + "@ owns Ann TC 6\n@ owns Bob SR 6\n@ price TC 90 3\n@ price SR 82 4\n@ round stock Ann\n"
    state = run_scenario(body + "Ann: sell 1 TC\n= price TC 82 4")
    assert state.market_order == ["SR", "TC"]


def test_not_before_the_company_has_completed_a_turn() -> None:
    body = TC + "!Ann: sell 1 TC | 1851 Selling Stock"
    run_scenario(body.replace("@ round", "@ new TC\n@ round"))
    run_scenario(
        "Ann: par L&N 70\nBob: buy L&N\nCid: buy L&N\n!Ann: sell 1 L&N | 1851 Selling Stock\n"
        "Ann: buy L&N\n!Bob: sell 1 L&N | 1851 Selling Stock"
    )


def test_the_pool_holds_half_at_most() -> None:
    held = RICH + "@ owns Ann TC 3\n@ owns Bob TC 2\n@ owns pool TC 4\n@ price TC 90 3\n@ round stock Ann\n"
    run_scenario(
        held + "!Ann: sell 2 TC | 1851 Selling Stock\nAnn: sell 1 TC\n"
        "!Ann: sell 1 TC | 1851 Selling Stock\n= owns pool TC 5"
    )


def test_privates_are_not_sold() -> None:
    assert "not a line of this game" in scenario_error("@ private L&O Ann\n" + TC + "Ann: sell L&O")


def test_the_presidents_certificate_stays_with_a_player() -> None:
    alone = RICH + "@ owns Ann TC 5\n@ owns Bob TC 1\n@ owns Cid TC 1\n@ price TC 90 3\n@ round stock Ann\n"
    run_scenario(
        alone + "!Ann: sell 4 TC | 1851 Selling Stock\nAnn: sell 3 TC\n"
        "!Ann: sell 1 TC | 1851 Selling Stock\n= president TC Ann"
    )


def test_the_largest_other_holder_becomes_president() -> None:
    run_scenario(TC + "Ann: sell 2 TC\n= president TC Bob\n= owns Ann TC 2\n= owns Bob TC 3")
    run_scenario(TC + "Ann: sell 1 TC\n= president TC Ann")
    run_scenario(TC + "Ann: sell 4 TC\n= president TC Bob\n= owns Ann TC 0")


def test_of_equal_holders_the_nearest_to_the_left() -> None:
    body = RICH + "@ owns Bob TC 4\n@ owns Ann TC 3\n@ owns Cid TC 3\n@ price TC 90 3\n@ round stock Bob\n"
    run_scenario(body + "Bob: sell 2 TC\n= president TC Cid")


def test_who_is_over_the_limit_sells_first() -> None:
    # Eight and seven and the two privates: Ann is over the limit of 15 by one certificate.
    full = (
        RICH
        + """
    @ private L&O Ann
    @ private M&C Ann
    @ owns Ann TC 6
    @ price TC 90 3
    @ owns Ann SR 6
    @ price SR 82 3
    @ owns Ann IC 4
    @ owns Bob IC 5
    @ price IC 70 4
    @ round stock Ann
    !Ann: pass | 1851 Buying Stock
    !Ann: buy IC from treasury | 1851 Buying Stock
    Ann: sell 1 IC
    Ann: done
    = turn Bob
    """
    )
    run_scenario(full)


def test_no_purchase_of_what_was_sold_in_the_round() -> None:
    run_scenario(
        TC + "Ann: sell 1 TC\n!Ann: buy TC from pool | 1851 Stock Rounds\nAnn: done\n"
        "Bob: pass\nCid: pass\n!Ann: buy TC from pool | 1851 Stock Rounds"
    )


def test_the_original_price_holds_with_a_sale_of_another_company_between() -> None:
    two = RICH + "@ owns Ann TC 4\n@ owns Bob TC 3\n@ owns Ann SR 3\n@ owns Bob SR 4\n"
    two += "@ price TC 90 3\n@ price SR 90 3\n@ round stock Ann\n"
    sales = "Ann: sell 1 TC\nAnn: sell 1 SR\n= price SR 82 4\nAnn: sell 1 TC\n"
    run_scenario(two + sales + "= cash Ann 1770\n= price TC 75 5")
