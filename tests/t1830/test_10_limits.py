"""1830 §10: how much a player may hold, and what the zones of the market lift."""

import pytest

from tests.t1830.scenarios import Options, both_conventions, run_scenario, scenario_error

RICH = "@ cash Ann 2000\n@ cash Bob 2000\n@ cash Cid 2000\n"

# Three players may hold 20 certificates: 19 for Ann here, with one more of the PRR to be had.
FULL = (
    RICH
    + """
@ owns Ann NYC 6
@ par NYC 100
@ owns Ann CPR 6
@ par CPR 100
@ owns Ann BM 6
@ par BM 100
@ owns Ann ERIE 5
@ par Erie 100
@ owns Bob PRR 4
@ owns pool PRR 2
"""
)
WHITE = FULL + "@ par PRR 100\n@ round stock Ann\n"
YELLOW = FULL + "@ par PRR 67\n@ price PRR 60 2\n@ round stock Ann\n"


def test_10_five_certificates_of_one_company() -> None:
    run_scenario(
        RICH + "@ owns Ann PRR 6\n@ par PRR 100\n@ round stock Ann\n!Ann: buy PRR from ipo | 1830 §10"
    )
    run_scenario(RICH + "@ owns Ann PRR 5\n@ par PRR 100\n@ round stock Ann\nAnn: buy PRR from ipo")


@pytest.mark.parametrize(("price", "may"), [("65 5", False), ("60 2", False), ("45 6", True), ("40 7", True)])
def test_10_without_limit_in_the_orange_zone(price: str, may: bool) -> None:
    run_scenario(
        RICH
        + f"""
        @ owns Ann PRR 6
        @ owns pool PRR 2
        @ par PRR 67
        @ price PRR {price}
        @ round stock Ann
        {"" if may else "!"}Ann: buy PRR from pool
        """
    )


def test_10_without_limit_in_the_brown_zone() -> None:
    run_scenario(
        RICH
        + "@ owns Ann PRR 6\n@ owns pool PRR 4\n@ par PRR 67\n@ price PRR 30 7\n@ round stock Ann\n"
        + "Ann: buy PRR from pool\n= owns Ann PRR 7"
    )


@pytest.mark.parametrize(("players", "limit"), [(2, 28), (3, 20), (4, 16), (5, 13), (6, 11)])
def test_10_certificate_limit(players: int, limit: int) -> None:
    run_scenario(f"= limit {limit}", ", ".join(("Ann", "Bob", "Cid", "Dan", "Eve", "Fay")[:players]))


def test_10_at_the_certificate_limit_nothing_that_counts_is_bought() -> None:
    run_scenario(WHITE + "Ann: buy PRR from pool\n= owns Ann PRR 1")
    run_scenario(
        WHITE.replace("ERIE 5", "ERIE 6") + "!Ann: buy PRR from pool | 1830 §10\n"
        "!Ann: par BO 67 | 1830 §10\n= owns Ann PRR 0"
    )


def test_10_privates_count_as_certificates() -> None:
    run_scenario("@ private SV Ann\n" + WHITE + "!Ann: buy PRR from pool | 1830 §10")


def test_10_certificates_in_the_yellow_zone_do_not_count() -> None:
    run_scenario("@ private SV Ann\n" + YELLOW + "Ann: buy PRR from pool\n= owns Ann PRR 1")


def test_10_who_is_over_the_limit_sells_first() -> None:
    over = "@ private SV Ann\n@ private CS Ann\n" + WHITE
    run_scenario(
        over
        + """
        !Ann: pass | 1830 §10
        !Ann: buy PRR from pool | 1830 §10
        !Ann: par BO 67 | 1830 §10
        Ann: sell 1 NYC
        Ann: done
        = turn Bob
        """
    )


@both_conventions
def test_10_above_60_percent_outside_the_zone_is_sold_first(options: Options) -> None:
    run_scenario(
        RICH
        + """
        @ owns Ann PRR 7
        @ par PRR 67
        @ par NYC 100
        @ owns Bob NYC 3
        @ round stock Ann
        !Ann: pass | 1830 §10
        !Ann: buy NYC from ipo | 1830 §10
        Ann: sell 1 PRR
        Ann: buy NYC from ipo
        """,
        options=options,
    )


def test_10_any_quantity_in_one_turn_in_the_brown_zone() -> None:
    brown = RICH + "@ owns Bob PRR 3\n@ owns pool PRR 5\n@ par PRR 67\n@ price PRR 30 7\n@ round stock Ann\n"
    run_scenario(brown + "Ann: buy 3 PRR from pool\n= owns Ann PRR 3\n= cash Ann 1910")
    run_scenario(
        brown
        + """
        Ann: buy PRR from pool
        Ann: buy PRR from pool
        !Ann: par NYC 67 | 1830 §4
        Ann: buy PRR from ipo
        = owns Ann PRR 3
        = cash Ann 1873
        """
    )


def test_10_one_certificate_a_turn_outside_the_brown_zone() -> None:
    run_scenario(
        RICH
        + "@ owns Bob PRR 3\n@ owns pool PRR 5\n@ par PRR 67\n@ price PRR 45 6\n@ round stock Ann\n"
        + "!Ann: buy 2 PRR from pool | 1830 §10\nAnn: buy PRR from pool\n!Ann: buy PRR from pool | 1830 §10"
    )


def test_10_certificates_count_again_when_their_price_leaves_the_yellow_zone() -> None:
    rising = FULL.replace("@ owns Bob PRR 4\n", "@ owns Ann PRR 6\n@ par PRR 67\n@ price PRR 60 2\n")
    run_scenario(
        rising
        + """
        @ trains PRR 2
        @ tile H10 57 1
        @ round operating PRR
        > until dividend
        Ann: pay
        = price PRR 65 2
        = round stock
        = turn Ann
        !Ann: pass | 1830 §10
        !Ann: par BO 67 | 1830 §10
        Ann: sell 1 NYC
        """
    )


def test_10_who_can_sell_nothing_that_counts_stays_above_the_limit() -> None:
    """Every pool is full; selling a share in the yellow zone would not bring the player under the limit."""
    full = "".join(
        f"@ owns Ann {c} 5\n@ owns pool {c} 5\n@ par {c} 71\n" for c in ("NYC", "CPR", "CO", "PRR", "BM")
    )
    yellow = "@ owns Bob NYNH 2\n@ owns Ann NYNH 1\n@ par NYNH 67\n@ price NYNH 60 2\n"
    stuck = RICH + full + yellow + "@ private SV Ann\n@ round stock Ann\n"
    run_scenario(stuck + "Ann: pass\n= turn Bob")
    run_scenario(
        stuck.replace("pool PRR 5", "pool PRR 4") + "!Ann: pass | 1830 §10\n"
        "Ann: sell 1 PRR\nAnn: done\n= turn Bob"
    )


def test_10_by_how_much_a_player_is_above_the_limits() -> None:
    """Ann has 21 certificates of 20."""
    above = FULL.replace("ERIE 5", "ERIE 6") + "@ par PRR 100\n"
    body = above + "@ owns Bob CO 2\n@ owns Ann CO 1\n@ par CO 100\n@ round stock Ann\n"
    assert "Sell down to the limit first: 1 certificate of NYC, CPR, C&O, Erie, B&M" in scenario_error(
        body + "Ann: pass"
    )
