"""1870 §5.1, §5.8: the market and how tokens move on it."""

import pytest

from engine.finance import market
from engine.finance.market import Space
from engine.kernel import game_of, new_game
from tests.t1870.scenarios import run_scenario

G = game_of(new_game("1870", ("Ann", "Bob")).state)


def at(row: int, column: int) -> int:
    return G.title.cell((row, column)).price


@pytest.mark.parametrize(
    ("start", "end"),
    [((2, 3), (1, 3)), ((0, 5), (1, 6)), ((0, 19), (1, 20)), ((0, 20), (0, 20)), ((2, 16), (1, 16))],
)
def test_5_8_1_up(start: Space, end: Space) -> None:
    assert market.up(G, start) == end


@pytest.mark.parametrize(
    ("start", "shares", "end"),
    [
        ((0, 6), 1, (1, 6)),
        ((0, 6), 4, (4, 6)),
        ((2, 14), 1, (2, 14)),
        ((2, 14), 2, (4, 14)),
        ((1, 14), 1, (2, 14)),
        ((1, 14), 2, (2, 14)),
        ((1, 14), 3, (4, 14)),
        ((0, 14), 3, (2, 14)),
        ((0, 14), 5, (4, 14)),
        ((3, 14), 1, (4, 14)),
        ((4, 14), 1, (4, 14)),
        ((4, 14), 5, (4, 14)),
        ((7, 7), 1, (7, 7)),
        ((7, 7), 2, (8, 7)),
        ((10, 5), 2, (10, 5)),
        ((7, 0), 1, (8, 0)),
    ],
)
def test_5_8_1_down_over_the_ledges(start: Space, shares: int, end: Space) -> None:
    assert market.down(G, start, shares) == end


@pytest.mark.parametrize(
    ("start", "end"),
    [((0, 6), (0, 7)), ((2, 15), (1, 15)), ((1, 20), (0, 20)), ((0, 20), (0, 20)), ((8, 6), (7, 6))],
)
def test_5_8_1_right_and_its_arrows(start: Space, end: Space) -> None:
    assert market.right(G, start) == end


@pytest.mark.parametrize(
    ("start", "end"),
    [((0, 6), (0, 5)), ((3, 0), (4, 0)), ((8, 1), (8, 0)), ((7, 0), (8, 0)), ((2, 16), (2, 15))],
)
def test_5_8_1_left_and_its_arrows(start: Space, end: Space) -> None:
    assert market.left(G, start) == end


def test_5_8_1_left_may_enter_the_closing_section_and_the_upper_area() -> None:
    assert "closing" in G.title.cell((8, 0)).zones
    assert "lower" in G.title.cell((2, 16)).zones and "upper_ledge" in G.title.cell((2, 15)).zones


HALF = """
@ owns Ann MP 6
@ price MP 100 0
@ owns Bob FW 6
@ price FW 100 0
@ trains MP 2
@ tile C18 57 0
@ tile B19 57 0
@ phase 2
@ private MRBC closed
@ depot 3
"""


def test_5_8_4_half_a_dividend_puts_the_token_under_the_others() -> None:
    played = "@ round operating MP\n> until dividend\nAnn: half\n= price MP 100 0\n"
    state = run_scenario(HALF + played)
    assert state.market_order == ["FW", "MP"]


SOLD_OUT = """
@ owns Ann MP 6
@ owns Bob MP 4
@ price MP 100 0
@ owns Ann FW 5
@ owns Bob FW 4
@ owns treasury FW 1
@ price FW 90 1
@ cash MP 100
@ owns Ann IC 6
@ owns pool IC 4
@ price IC 82 2
@ round stock Ann
"""


def test_5_2_3_all_sold_rises_redeemed_shares_included() -> None:
    run_scenario(SOLD_OUT + "> until operating\n= price MP 100 1\n= price FW 100 0\n= price IC 82 2")


CLOSING = """
@ owns Ann MP 4
@ owns Bob MP 2
@ price MP 10 7
@ cash MP 77
@ trains MP 2 2
@ token MP D5
@ tile D5 57 0
@ private SCC MP
@ owns Cid FW 6
@ price FW 100 0
@ phase 2
@ depot 3
@ limit 20
"""


def test_5_1_1_7_a_company_in_the_closing_section_is_gone_for_good() -> None:
    run_scenario(
        CLOSING
        + """
        @ round stock Bob
        Bob: sell 1 MP
        > until Cid
        = closed MP
        = trains pool 2 2
        = private SCC pool
        = owns Ann MP 0
        = token MP none
        = cash MP 0
        = limit 17
        !Cid: par MP 100 | 1870 §5.3
        Cid: pass
        """
    )


def test_5_1_1_7_its_privates_are_for_sale_at_their_price() -> None:
    run_scenario(
        CLOSING
        + """
        @ cash Cid 60
        @ round stock Bob
        Bob: sell 1 MP
        > until Cid
        Cid: buy private SCC from pool
        = private SCC Cid
        = cash Cid 10
        """
    )


def test_5_1_1_7_a_company_that_withholds_into_it_closes_in_its_turn() -> None:
    body = CLOSING.replace("@ trains MP 2 2\n", "")
    run_scenario(body + "@ owns pool MP 1\n@ round operating MP\n> until FW\n= closed MP\n= turn Cid FW")
