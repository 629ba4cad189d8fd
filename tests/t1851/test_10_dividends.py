"""1851, Pay Dividends, and how prices move with them."""

import pytest

from tests.t1851.scenarios import RICH, run_scenario

TC = (
    RICH
    + """
@ owns Ann TC 4
@ owns Bob TC 2
@ owns pool TC 1
@ tile F12 202 2
@ tile E11 5 4
@ trains TC 2
"""
)
"""A run of $50: Nashville and Hopkinsville. The treasury has 30 %."""
STEP = "@ round operating TC\nAnn: run best\n"


def test_the_whole_is_paid_the_treasurys_part_to_the_company_the_pools_to_nobody() -> None:
    run_scenario(
        TC + "@ price TC 50 5\n" + STEP + "Ann: pay\n= cash Ann 1520\n= cash Bob 1510\n= cash TC 15\n"
        "= cash bank 3495"
    )


def test_kept() -> None:
    run_scenario(
        TC + "@ price TC 90 3\n" + STEP + "Ann: withhold\n= cash TC 50\n= cash Ann 1500\n= price TC 82 3"
    )


def test_half_is_rounded_up_to_tens() -> None:
    # Of $50, $30 are paid and $20 kept; the treasury gets $9 of the $30.
    run_scenario(
        TC + "@ price TC 90 3\n" + STEP + "Ann: half\n= cash Ann 1512\n= cash Bob 1506\n= cash TC 29"
    )


@pytest.mark.parametrize(
    ("price", "action", "moved"),
    [
        ("50 5", "pay", "60 5"),  # as high as the price: to the right
        ("50 6", "pay", "60 6"),
        ("60 4", "pay", "60 4"),  # less than the price: it stays
        ("60 4", "half", "60 4"),
        ("60 4", "withhold", "50 5"),  # at the left edge: down
        ("65 6", "withhold", "60 6"),
        ("40 6", "withhold", "40 6"),  # at the bottom left: it stays
        ("40 6", "half", "40 6"),
        ("40 6", "pay", "50 6"),
        ("60 5", "withhold", "50 5"),
    ],
)
def test_how_the_price_moves(price: str, action: str, moved: str) -> None:
    run_scenario(TC + f"@ price TC {price}\n" + STEP + f"Ann: {action}\n= price TC {moved}")


def test_up_instead_of_right_at_the_end_of_a_row() -> None:
    rich = TC.replace("@ tile E11 5 4", "@ tile E11 15 2").replace("F12 202 2", "F12 216 2") + "@ phase 5\n"
    rich = rich.replace("@ trains TC 2", "@ trains TC 5")
    # Nashville 50 and Hopkinsville 30 make 80.
    run_scenario(rich + "@ price TC 65 6\n" + STEP + "= best TC 80\nAnn: pay\n= price TC 70 5")
    run_scenario(rich + "@ price TC 75 5\n" + STEP + "Ann: pay\n= price TC 82 4")


def test_nothing_earned_is_nothing_paid() -> None:
    body = TC.replace("@ trains TC 2\n", "").replace("@ tile E11 5 4\n", "")
    run_scenario(
        body + "@ price TC 90 3\n@ trains TC 2\n@ round operating TC\n"
        "!Ann: pay | 1851 Run Trains, Pay Dividends\n> until issue\n= price TC 82 3"
    )


def test_at_the_top_right_it_stays() -> None:
    # No run brings $400, so the price of a dividend that is too small stays as well; withheld it falls.
    run_scenario(TC + "@ price TC 400 0\n" + STEP + "Ann: pay\n= price TC 400 0")
    run_scenario(TC + "@ price TC 400 0\n" + STEP + "Ann: withhold\n= price TC 360 0")


def test_under_the_tokens_where_it_comes_to() -> None:
    body = (
        TC
        + "@ price TC 50 5\n@ owns Cid SR 6\n@ price SR 60 5\n@ cash SR 1\n"
        + STEP
        + "Ann: pay\n= price TC 60 5"
    )
    state = run_scenario(body)
    assert state.market_order == ["SR", "TC"]


def test_the_claim_has_to_be_announced() -> None:
    run_scenario(
        TC + "@ price TC 50 5\n" + STEP + "!Ann: pass | 1851 Run Trains, Pay Dividends\n"
        "!Ann: buy train 2 | 1851 Run Trains, Pay Dividends\n= turn Ann TC"
    )
