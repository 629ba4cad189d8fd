"""1830 §16: privates pay, then companies operate in order."""

from tests.t1830.scenarios import run_scenario

TWO = """
@ cash Ann 500
@ cash Bob 500
@ owns Ann PRR 6
@ owns Bob NYC 6
@ cash PRR 500
@ cash NYC 500
"""


def test_16_privates_pay_before_companies_operate() -> None:
    run_scenario(
        TWO
        + """
        @ par PRR 100
        @ par NYC 90
        @ private CS Ann
        @ private MH Ann
        @ private DH NYC
        @ phase 3
        @ round stock Ann
        > until PRR
        = cash Ann 530
        = cash NYC 515
        """
    )


def test_16_the_highest_price_operates_first() -> None:
    run_scenario(
        TWO
        + "@ par PRR 82\n@ par NYC 90\n@ round stock Ann\n> until operating\n= turn Bob NYC\n> until PRR\n"
    )


def test_16_in_one_space_the_top_token_operates_first() -> None:
    run_scenario(TWO + "@ par NYC 90\n@ par PRR 90\n@ round stock Ann\n> until operating\n= turn Bob NYC")
    run_scenario(TWO + "@ par PRR 90\n@ par NYC 90\n@ round stock Ann\n> until operating\n= turn Ann PRR")


def test_16_at_the_same_price_the_column_further_right_operates_first() -> None:
    run_scenario(
        TWO
        + "@ par PRR 82\n@ par NYC 82\n@ price PRR 82 2\n@ price NYC 82 3\n@ round stock Ann\n"
        + "> until operating\n= turn Bob NYC"
    )


def test_16_the_order_follows_prices_as_they_are() -> None:
    """A company that has operated does not do so again when its price falls."""
    run_scenario(
        TWO
        + """
        @ par PRR 90
        @ par NYC 82
        @ round operating PRR
        > until NYC
        = price PRR 82 1
        > until stock
        = price NYC 76 2
        """
    )


def test_16_the_president_runs_each_of_his_companies() -> None:
    run_scenario(
        "@ owns Ann PRR 6\n@ owns Ann NYC 6\n@ par PRR 100\n@ par NYC 90\n@ cash PRR 500\n@ cash NYC 500\n"
        "@ round operating PRR\n= turn Ann PRR\n> until NYC\n= turn Ann NYC"
    )
