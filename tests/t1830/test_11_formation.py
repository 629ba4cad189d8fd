"""1830 §11: a company floats, with its tokens and its capital."""

import pytest

from tests.t1830.scenarios import BOUGHT, run_scenario

ALMOST = """
@ cash Ann 1000
@ cash Bob 1000
@ cash Cid 1000
@ owns Ann NYC 4
@ owns Bob NYC 1
@ par NYC 90
"""


def test_11_sixty_percent_float_a_company() -> None:
    run_scenario(
        ALMOST
        + """
        @ round stock Ann
        = cash NYC 0
        Ann: buy NYC from ipo
        = cash NYC 900
        > until operating
        = turn Ann NYC
        """
    )


def test_11_below_sixty_percent_it_does_not_operate() -> None:
    run_scenario(ALMOST + "@ round stock Ann\n> until stock\n= cash NYC 0\n= token NYC none")


def test_11_capital_is_that_of_all_shares_at_any_market_price() -> None:
    price = (
        ALMOST + "@ price NYC 60 1\n@ round stock Ann\nAnn: buy NYC from ipo\n= cash NYC 900\n= cash Ann 910"
    )
    run_scenario(price)


def test_11_stock_in_the_pool_does_not_prevent_it() -> None:
    run_scenario(
        ALMOST
        + """
        @ owns pool NYC 1
        = cash NYC 0
        = price NYC 90 1
        """
    )
    run_scenario(
        ALMOST
        + """
        @ round stock Bob
        Bob: sell 1 NYC
        ?Bob: done
        Cid: buy NYC from ipo
        = cash NYC 900
        """
    )


def test_11_shares_that_came_with_privates_count_as_sold() -> None:
    run_scenario(
        BOUGHT
        + """
        Cid: par BO 67
        Ann: par PRR 67
        Bob: buy PRR from ipo
        Cid: buy PRR from ipo
        Ann: buy PRR from ipo
        = owns Bob PRR 2
        = owns ipo PRR 4
        = cash PRR 670
        """
    )


def test_11_the_share_of_an_exchanged_private_counts_as_sold() -> None:
    run_scenario(
        ALMOST + "@ private MH Cid\n@ round stock Ann\nCid: exchange MH from ipo\n= cash NYC 900\n= turn Ann"
    )


@pytest.mark.parametrize(
    ("company", "tokens"),
    [("PRR", 4), ("NYC", 4), ("CPR", 4), ("BO", 3), ("CO", 3), ("Erie", 3), ("NYNH", 2), ("BM", 2)],
)
def test_11_tokens_of_each_company(company: str, tokens: int) -> None:
    """One of those in Table 2 is on the stock market."""
    run_scenario(f"= markers {company} {tokens}")
