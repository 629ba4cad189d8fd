"""1830 §11: a company floats, with its tokens and its capital."""

import pytest

from tests.t1830.scenarios import BOUGHT, SITE, run_scenario, scenario_error

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
        = cash NYC 0
        = awaits NYC
        > until operating
        = cash NYC 900
        = turn Ann NYC
        """
    )


def test_11_below_sixty_percent_it_does_not_operate() -> None:
    run_scenario(ALMOST + "@ round stock Ann\n> until stock\n= cash NYC 0\n= token NYC none")


def test_11_capital_is_that_of_all_shares_at_any_market_price() -> None:
    price = ALMOST + "@ price NYC 60 1\n@ round stock Ann\nAnn: buy NYC from ipo\n= cash Ann 910\n"
    run_scenario(price + "> until operating\n= cash NYC 900")


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
        = awaits NYC
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
        = awaits PRR
        """
    )


def test_11_the_share_of_an_exchanged_private_counts_as_sold() -> None:
    run_scenario(
        ALMOST + "@ private MH Cid\n@ round stock Ann\nCid: exchange MH from ipo\n= awaits NYC\n= turn Ann"
    )


EXCHANGE = """
@ cash PRR 500
@ cash Bob 500
@ cash Cid 1000
@ owns Ann NYC 4
@ owns Bob NYC 1
@ par NYC 90
@ owns Bob PRR 6
@ par PRR 100
@ private MH Cid
@ phase 3
@ round operating PRR
Cid: exchange MH from ipo
"""


def test_11_an_exchange_in_an_operating_round_brings_the_capital_in_the_next() -> None:
    run_scenario(
        EXCHANGE
        + """
        = cash NYC 0
        = awaits NYC
        = turn Bob PRR
        > until operating
        = round operating NYC 2
        = cash NYC 900
        """
    )
    run_scenario(EXCHANGE + "= cash NYC 900", options=(SITE,))


BROKEN = """
@ cash bank {bank}
@ cash Bob 400
@ cash Cid 400
@ owns Ann NYC 4
@ owns Bob NYC 1
@ owns Cid PRR 2
@ par PRR 100
@ par NYC 90
@ round stock Bob
Bob: buy NYC from ipo
= left none
Bob: pass
Cid: buy PRR from ipo
> until operating
"""


def test_11_what_players_pay_until_the_operating_round_still_fills_the_bank() -> None:
    """Bob and Cid pay $190 for the shares of the same stock round; $900 are due."""
    run_scenario(BROKEN.format(bank=710) + "= cash bank 0\n= cash NYC 900\n= left none")
    run_scenario(BROKEN.format(bank=709) + "= cash bank -1\n= cash NYC 900\n= left 0")
    at_once = BROKEN.format(bank=709).replace("= left none", "= left 1").replace("> until operating", "")
    run_scenario(at_once, options=(SITE,))


def test_11_a_set_up_says_whether_the_capital_is_paid() -> None:
    floated = "@ owns Ann NYC 6\n@ par NYC 90\n"
    run_scenario(floated + "@ awaits NYC\n@ round stock Ann\n= awaits NYC\n> until operating\n= cash NYC 900")
    run_scenario(floated + "@ new NYC\n@ cash NYC 900\n@ round stock Ann\n> until operating\n= cash NYC 900")
    operating = floated + "@ owns Bob PRR 6\n@ par PRR 100\n@ awaits NYC\n"
    run_scenario(operating + "@ round operating PRR\n> until stock\n= awaits NYC\n= token NYC none")
    for lines, options, sentence in (
        ("@ awaits NYC\n@ cash NYC 900", (), "The NYC awaits its capital, so it has no money."),
        ("@ awaits NYC\n@ new NYC", (), "`awaits NYC` says that the NYC has no capital yet."),
        ("@ new NYC\n@ awaits NYC", (), "`new NYC` says that the NYC has its capital."),
        ("@ awaits NYC\n@ round operating NYC", (), "awaits its capital, so it does not operate yet."),
        ("@ awaits PRR", (), "The PRR has neither a par nor a price, so it has not floated."),
        ("@ awaits NYC", (SITE,), "Here the NYC has its capital as soon as it floats: write `new`."),
        ("@ new NYC\n= awaits NYC", (), "expected awaits its capital, found has its capital"),
    ):
        assert sentence in scenario_error(floated + lines, options=options)


@pytest.mark.parametrize(
    ("company", "tokens"),
    [("PRR", 4), ("NYC", 4), ("CPR", 4), ("BO", 3), ("CO", 3), ("Erie", 3), ("NYNH", 2), ("BM", 2)],
)
def test_11_tokens_of_each_company(company: str, tokens: int) -> None:
    """One of those in Table 2 is on the stock market."""
    run_scenario(f"= markers {company} {tokens}")
