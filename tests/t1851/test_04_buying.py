"""1851, Buying Stock: sources and prices, starting and floating a company, limits, the presidency."""

import pytest

from tests.t1851.scenarios import RICH, run_scenario, scenario_error

FLOATED = RICH + "@ owns Ann TC 4\n@ owns Bob TC 2\n@ owns pool TC 1\n@ price TC 90 3\n@ round stock Ann\n"


def test_starting_a_company_costs_twice_its_price() -> None:
    run_scenario(
        "Ann: par L&N 70\nBob: par TC 100\n= cash Bob 250\n= president TC Bob\n= owns Bob TC 2\n"
        "= price TC 100 2"
    )
    run_scenario(
        "Ann: par L&N 70\n!Bob: par TC 95 | 1851 Buying Stock\n"
        "!Bob: buy TC | 1851 Buying Stock\n!Bob: par L&N 70 | 1851 Stock Rounds"
    )


def test_under_the_token_that_has_the_square() -> None:
    state = run_scenario("Ann: par L&N 70\nBob: par TC 70\n= price TC 70 4")
    assert state.market_order == ["L&N", "TC"]


def test_the_initial_offering_sells_at_the_price_to_the_bank() -> None:
    run_scenario("Ann: par L&N 70\nBob: buy L&N from ipo\n= cash Bob 380\n= cash L&N 0\n= price L&N 70")


def test_the_fourth_certificate_floats() -> None:
    run_scenario(
        """
        Ann: par L&N 82
        Bob: buy L&N
        Cid: buy L&N
        Ann: pass
        = cash L&N 0
        Bob: buy L&N
        = owns treasury L&N 5
        = owns ipo L&N 0
        = cash L&N 310
        = price L&N 90 2
        = token L&N B16.0
        = markers L&N 3
        """
    )


def test_free_certificates_count_towards_the_fourth() -> None:
    body = """
    Ann: par L&N 70
    Bob: buy L&N
    = cash L&N 250
    = owns treasury L&N 5
    = price L&N 75 3
    """
    run_scenario(body, "Ann, Bob, Cid, Dan, Eve")


@pytest.mark.parametrize(
    ("price", "cash", "moved"), [(70, 250, "75 3"), (75, 275, "82 3"), (100, 400, "110 1")]
)
def test_five_times_the_price_less_100_before_it_rises(price: int, cash: int, moved: str) -> None:
    run_scenario(
        f"Ann: par L&N {price}\nBob: buy L&N\nCid: buy L&N\nAnn: buy L&N\n"
        f"= cash L&N {cash}\n= price L&N {moved}"
    )


def test_floating_under_the_tokens_on_the_square_above() -> None:
    body = (
        RICH
        + """
    @ owns Ann TC 6
    @ price TC 75 3
    @ owns Bob IC 4
    @ price IC 70 4
    @ round stock Bob
    Bob: buy IC
    = price IC 75 3
    """
    )
    assert run_scenario(body).market_order == ["TC", "IC"]


def test_the_treasury_sells_at_the_price_to_the_company() -> None:
    run_scenario(FLOATED + "Ann: buy TC from treasury\n= cash Ann 1410\n"
          "= cash TC 90\n= owns treasury TC 2\n= price TC 90 3")  # fmt: skip


def test_the_pool_sells_at_the_price_to_the_bank() -> None:
    run_scenario(FLOATED + "Ann: buy TC from pool\n= cash Ann 1410\n= cash TC 0\n= owns pool TC 0")


def test_the_source_may_be_left_out_if_only_one_has_certificates() -> None:
    run_scenario(FLOATED.replace("@ owns pool TC 1\n", "") + "Ann: buy TC\n= cash TC 90")
    assert "ambiguous" in scenario_error(FLOATED + "Ann: buy TC")


def test_the_president_cannot_stop_a_sale_from_the_treasury() -> None:
    run_scenario(
        FLOATED.replace("stock Ann", "stock Cid") + "Cid: buy TC from treasury\n= owns Cid TC 1\n= turn Ann"
    )


def test_one_certificate_only() -> None:
    run_scenario(
        FLOATED + "!Ann: buy 2 TC from treasury | 1851 Stock Rounds, Buying Stock\n"
        "Ann: buy TC from treasury\n!Ann: buy TC from treasury | 1851 Stock Rounds"
    )


def test_60_percent_is_the_most() -> None:
    body = FLOATED.replace("Ann TC 4", "Ann TC 6")
    run_scenario(
        body.replace("Bob TC 2", "Bob TC 1") + "!Ann: buy TC from treasury | 1851 Buying Stock\n"
        "!Ann: buy TC from pool | 1851 Buying Stock"
    )


FULL = (
    RICH
    + """
    @ private L&O Ann
    @ owns Ann TC 6
    @ price TC 90 3
    @ owns Ann SR 6
    @ price SR 82 3
    @ owns Ann IC 4
"""
)


def test_the_certificate_limit_counts_privates_and_every_certificate() -> None:
    full = (
        FULL
        + """
    @ owns Bob IC 5
    @ price IC 70 4
    @ round stock Ann
    !Ann: buy IC from treasury | 1851 Buying Stock
    !Ann: par Dixie 70 | 1851 Buying Stock
    Ann: sell 1 TC
    Ann: buy IC from treasury
    """
    )
    # 5 and 5 certificates of TC and SR, 4 of the IC as Bob is president, a private: the limit of 15.
    run_scenario(full)


def test_no_room_even_where_the_presidency_would_make_some() -> None:
    full = (
        FULL
        + """
    @ owns Bob IC 4
    @ president IC Bob
    @ owns Cid IC 1
    @ price IC 70 4
    @ round stock Ann
    !Ann: buy IC from treasury | 1851 Buying Stock
    """
    )
    run_scenario(full)
