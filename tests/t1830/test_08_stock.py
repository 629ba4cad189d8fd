"""1830 §8: certificates, par prices, and how prices move."""

import pytest

from tests.t1830.scenarios import Options, both_conventions, run_scenario

STARTED = """
@ cash Ann 1000
@ cash Bob 1000
@ cash Cid 1000
"""


def moving(price: str, moves: str) -> None:
    """Play with the PRR at that price, in the hands of Ann and Bob, its train running for $30."""
    run_scenario(
        STARTED
        + f"""
        @ owns Ann PRR 6
        @ owns Bob PRR 4
        @ par PRR 67
        @ price PRR {price}
        @ trains PRR 2
        @ tile H10 57 1
        @ tile H14 9 1
        """
        + moves
    )


def test_8_the_presidents_certificate_is_sold_first() -> None:
    run_scenario(
        STARTED
        + """
        @ round stock Ann
        !Ann: buy PRR from ipo | 1830 §8
        Ann: par PRR 76
        = cash Ann 848
        = owns Ann PRR 2
        = owns ipo PRR 8
        = president PRR Ann
        """
    )


def test_8_ten_shares_are_nine_certificates() -> None:
    said = STARTED + "@ owns Ann PRR 5\n@ owns Bob PRR 4\n@ par PRR 67\n@ round stock Cid\n"
    run_scenario(
        said + "= owns ipo PRR 1\nCid: buy PRR from ipo\nCid: done\n"
        "= owns ipo PRR 0\n!Ann: buy PRR from ipo | 1830 §4"
    )


def test_8_stock_in_the_pool_counts_as_sold() -> None:
    run_scenario(
        STARTED
        + """
        @ owns Ann PRR 3
        @ owns pool PRR 2
        @ par PRR 67
        @ round stock Ann
        Ann: buy PRR from ipo
        = awaits PRR
        """
    )


@pytest.mark.parametrize(("price", "row"), [(100, 0), (90, 1), (82, 2), (76, 3), (71, 4), (67, 5)])
def test_8_1_six_par_prices(price: int, row: int) -> None:
    run_scenario(
        STARTED + f"@ round stock Ann\nAnn: par PRR {price}\n= par PRR {price}\n= price PRR {price} {row}"
    )


def test_8_1_no_other_par_price() -> None:
    run_scenario(
        STARTED + "@ round stock Ann\n!Ann: par PRR 99 | 1830 §8.1\n"
        "!Ann: par PRR 112 | 1830 §8.1\n!Ann: par PRR 65 | 1830 §8.1\n= par PRR none"
    )


def test_8_1_unsold_shares_cost_par_at_any_market_price() -> None:
    run_scenario(
        STARTED
        + """
        @ owns Ann PRR 3
        @ owns pool PRR 1
        @ par PRR 76
        @ price PRR 112 0
        @ round stock Bob
        Bob: buy PRR from ipo
        = cash Bob 924
        ?Bob: done
        Cid: buy PRR from pool
        = cash Cid 888
        """
    )


@both_conventions
def test_8_1_capital_is_ten_times_par(options: Options) -> None:
    run_scenario(
        STARTED
        + """
        @ owns Ann PRR 4
        @ owns Bob PRR 1
        @ par PRR 76
        @ price PRR 112 0
        @ round stock Ann
        Ann: buy PRR from ipo
        > until operating
        = cash PRR 760
        """,
        options=options,
    )


def test_8_1_any_number_of_companies_may_choose_the_same_price() -> None:
    run_scenario(
        STARTED
        + "@ round stock Ann\nAnn: par PRR 100\n?Ann: done\nBob: par NYC 100\n?Bob: done\nCid: par BM 100\n"
        + "= price PRR 100 0\n= price NYC 100 0\n= price BM 100 0"
    )


def test_8_1_the_share_of_the_camden_and_amboy_is_not_sold_before_the_par() -> None:
    run_scenario(
        STARTED
        + """
        @ private CA Bob
        @ owns Bob PRR 1
        @ round stock Bob
        !Bob: sell 1 PRR | 1830 §8.1
        Bob: pass
        Cid: par PRR 90
        ?Cid: done
        Ann: pass
        Bob: sell 1 PRR
        = cash Bob 1090
        """
    )


def test_8_2_1_each_share_sold_lowers_the_price_a_row() -> None:
    moving("100 0", "@ round stock Ann\nAnn: sell 2 PRR\n= cash Ann 1200\n= price PRR 82 2")


def test_8_2_1_the_bottom_row_is_the_end() -> None:
    moving("50 9", "@ round stock Bob\nBob: sell 4 PRR\n= cash Bob 1200\n= price PRR 40 10")
    moving("60 8", "@ round stock Bob\nBob: sell 4 PRR\n= price PRR 40 10")


def test_8_2_1_the_token_is_not_moved_sideways() -> None:
    moving("60 7", "@ round stock Bob\nBob: sell 1 PRR\n= price PRR 50 8")
    moving("80 5", "@ round stock Bob\nBob: sell 1 PRR\n= price PRR 80 5")


def test_8_2_2_a_company_all_in_players_hands_rises_a_row() -> None:
    moving("82 2", "@ round stock Ann\n> until operating\n= price PRR 90 1")


def test_8_2_2_not_from_the_top_row() -> None:
    moving("100 0", "@ round stock Ann\n> until operating\n= price PRR 100 0")


def test_8_2_2_not_with_stock_in_pool_or_initial_offering() -> None:
    for place in ("pool", "ipo"):
        run_scenario(
            STARTED
            + f"""
            @ owns Ann PRR 6
            @ owns Bob PRR 3
            @ owns {place} PRR 1
            @ par PRR 82
            @ round stock Ann
            > until operating
            = price PRR 82 2
            """
        )


def test_8_2_3_a_dividend_moves_the_token_right() -> None:
    moving("82 2", "@ round operating PRR\n> until dividend\nAnn: pay\n= price PRR 90 2")


def test_8_2_3_at_the_end_of_a_row_it_moves_up() -> None:
    moving("130 3", "@ round operating PRR\n> until dividend\nAnn: pay\n= price PRR 155 2")


def test_8_2_3_at_350_it_stays() -> None:
    moving("350", "@ round operating PRR\n> until dividend\nAnn: pay\n= price PRR 350 0")


def test_8_2_4_without_a_dividend_the_token_moves_left() -> None:
    moving("82 2", "@ round operating PRR\n> until dividend\nAnn: withhold\n= price PRR 76 2")


def test_8_2_4_whatever_the_reason() -> None:
    run_scenario(
        STARTED
        + """
        @ owns Ann PRR 6
        @ par PRR 82
        @ round operating PRR
        > until stock
        = price PRR 76 2
        """
    )


def test_8_2_4_at_the_end_of_a_row_it_moves_down() -> None:
    moving("60 0", "@ round operating PRR\n> until dividend\nAnn: withhold\n= price PRR 53 1")


def test_8_2_a_token_comes_under_those_that_lie_in_its_space() -> None:
    run_scenario(
        STARTED
        + """
        @ owns Ann PRR 6
        @ owns Bob NYC 6
        @ par NYC 90
        @ price NYC 82 2
        @ par PRR 90
        @ round stock Ann
        Ann: sell 1 PRR
        = price PRR 82 2
        = price NYC 82 2
        > until operating
        = turn Bob NYC
        > until PRR
        = turn Ann PRR
        """
    )


def test_8_2_before_it_floats_a_company_moves_only_by_sales() -> None:
    run_scenario(
        STARTED
        + """
        @ owns Ann PRR 3
        @ par PRR 82
        @ owns Bob NYC 6
        @ par NYC 67
        @ round stock Ann
        > until operating
        > until stock
        = price PRR 82 2
        ?Ann: sell 1 PRR
        = price PRR 76 3
        """
    )
