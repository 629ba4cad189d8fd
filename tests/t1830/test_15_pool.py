"""1830 §15: sales and purchases with the Bank Pool."""

from tests.t1830.scenarios import run_scenario, scenario_error

HELD = """
@ cash Cid 500
@ owns Ann CPR 2
@ owns Bob CPR 4
@ par CPR 100
"""


def test_15_two_shares_sold_at_100_bring_200_and_leave_the_price_at_82() -> None:
    run_scenario(
        HELD + "@ round stock Ann\nAnn: sell 2 CPR\n= cash Ann 200\n= price CPR 82 2\n= owns pool CPR 2"
    )


def test_15_the_next_sale_is_at_the_lower_price() -> None:
    run_scenario(
        HELD + "@ round stock Ann\nAnn: sell 1 CPR\nAnn: sell 1 CPR\n= cash Ann 190\n= price CPR 82 2"
    )


def test_15_the_pool_sells_at_the_markets_price() -> None:
    run_scenario(
        HELD
        + "@ round stock Ann\nAnn: sell 2 CPR\n?Ann: done\n?Bob: pass\n"
        + "Cid: buy CPR from pool\n= cash Cid 418\n= owns pool CPR 1\n= price CPR 82 2"
    )


def test_15_buying_from_the_pool_does_not_move_the_price() -> None:
    run_scenario(HELD + "@ owns pool CPR 1\n@ round stock Cid\nCid: buy CPR from pool\n= price CPR 100 0")


def test_15_no_stock_is_sold_to_a_player() -> None:
    """The notation has no such line: what is sold goes into the pool."""
    body = "@ cash Bob 500\n@ owns Ann PRR 6\n@ par PRR 100\n@ round stock Ann\n"
    assert "cannot be read" in scenario_error(body + "!Ann: sell 1 PRR to Bob")
    assert "cannot be read" in scenario_error(body + "Bob: buy PRR from Ann")
