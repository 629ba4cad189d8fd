"""Operating rounds (§6) and the powers of privates (§1.2.6)."""

from __future__ import annotations

import pytest

from engine.facts import facts_of
from tests.t1817.texts import holds

ONE = """
@ cash Ann 100
@ cash Bob 100
@ cash Cid 100
@ size WT 2
@ price WT 100
@ owns Ann WT 2
@ cash WT 200
@ token WT F19
"""
RUNS = """
@ cash Ann 100
@ cash Cid 100
@ phase 3
@ size WT 5
@ price WT 100
@ owns Ann WT 3
@ owns Cid WT -1
@ owns pool WT 1
@ token WT G18
@ tile G20 7 1
@ tile F19 57 2
@ trains WT 2
@ trains bank 3 3
@ round operating WT
"""


def test_a_second_tile_costs_20_and_one_may_be_an_upgrade() -> None:
    holds(
        f"""{ONE}
        @ round operating WT
        WT: lay 57 F19 1
        = cash WT 200
        !Ann: lay 57 F19 1
        Ann: lay 9 F17 1
        = cash WT 180
        !Ann: lay 9 F15 1
        """.replace("WT: lay", "Ann: lay")
    )


def test_mountains_cost_15_and_the_engineers_earn_20() -> None:
    holds(
        """
        @ cash Ann 100
        @ size WT 2
        @ price WT 100
        @ owns Ann WT 2
        @ cash WT 200
        @ token WT I12
        @ private ME WT
        @ round operating WT
        Ann: lay 57 I12 1
        = cash WT 205
        """
    )


def test_a_mine_saves_the_terrain_and_is_never_upgraded() -> None:
    holds(
        """
        @ phase 3
        @ cash Ann 100
        @ size WT 2
        @ price WT 100
        @ owns Ann WT 2
        @ cash WT 200
        @ token WT F13
        @ tile F13 57 1
        @ private MINC WT
        @ trains bank 3 3
        @ round operating WT
        Ann: lay 9 F15 1 with mine
        = cash WT 200
        = mine F15
        = private MINC closed
        !Ann: lay 82 F15 1
        """
    )


def test_a_bridge_adds_10_and_the_company_pays_for_no_river() -> None:
    holds(
        """
        @ cash Ann 100
        @ size WT 2
        @ price WT 100
        @ owns Ann WT 2
        @ cash WT 200
        @ token WT H3
        @ private OBC WT
        @ round operating WT
        Ann: lay 57 H3 1
        = cash WT 200
        !Ann: bridge F13
        Ann: bridge H3
        = bridge H3
        !Ann: bridge G6
        """
    )


def test_the_mill_lays_its_tile_unconnected() -> None:
    holds(
        f"{ONE}\n@ private PSM WT\n@ round operating WT\n!Ann: lay X00 F13 0\nAnn: mill 0\n= tile F13 X00 0"
    )


def test_mail_pays_companies_with_a_train() -> None:
    holds(f"{ONE}\n@ private MAIL WT\n@ trains WT 2\n@ round stock Ann\nAnn: pass\nBob: pass\nCid: pass\n"
          "= cash WT 215")  # fmt: skip
    holds(f"{ONE}\n@ private MAIL WT\n@ round stock Ann\nAnn: pass\nBob: pass\nCid: pass\n= cash WT 200")


def test_the_interest_is_fixed_at_the_start_of_the_round() -> None:
    holds(f"{ONE}\n@ loans WT 2\n@ round stock Ann\nAnn: pass\nBob: pass\nCid: pass\n= interest 5")
    ten = ONE.replace("size WT 2", "size WT 10").replace("owns Ann WT 2", "owns Ann WT 6")
    ten += "@ phase 5\n@ trains bank 5 5 5 5\n"
    holds(f"{ten}\n@ loans WT 6\n@ round stock Ann\nAnn: pass\nBob: pass\nCid: pass\n= interest 10")


@pytest.mark.parametrize(
    ("size", "shares", "treasury", "owner"), [(2, 2, 95, 95), (5, 2, 95, 38), (10, 2, 90, 20)]
)
def test_half_dividends(size: int, shares: int, treasury: int, owner: int) -> None:
    """The book's table of §6.6: $190 earned."""
    grain = facts_of("1817").company_sizes[size].half_to
    kept = 190 // 2 // grain * grain
    assert (kept, (190 - kept) * shares // size) == (treasury, owner)


def test_loans_move_the_price_and_are_limited_by_size() -> None:
    holds(
        f"""{ONE}
        @ trains WT 2
        @ round operating WT
        Ann: loan 2
        = loans WT 2
        = cash WT 400
        = price WT 80
        !Ann: loan 1
        """
    )


def test_interest_is_paid_then_loans_may_be_repaid() -> None:
    holds(
        f"""{ONE}
        @ loans WT 2
        @ interest 10
        @ trains WT 2
        @ round operating WT
        > until repay
        = cash WT 180
        Ann: repay 1
        = loans WT 1
        = cash WT 80
        = price WT 100          # left for no dividend, right for the loan
        """
    )


def test_interest_that_cannot_be_paid_liquidates_and_is_the_presidents() -> None:
    holds(
        f"""{ONE.replace("cash WT 200", "cash WT 5")}
        @ loans WT 2
        @ interest 20
        @ trains WT 2
        @ size SR 2
        @ price SR 60
        @ owns Bob SR 2
        @ token SR G18
        @ round operating WT
        > until SR
        = price WT liquidation
        = cash Ann 65
        = cash WT 0
        """
    )


def test_without_a_train_a_company_is_liquidated() -> None:
    holds(f"{ONE}\n@ size SR 2\n@ price SR 60\n@ owns Bob SR 2\n@ token SR G18\n@ round operating WT\n"
          "> until SR\n= price WT liquidation")  # fmt: skip


def test_trains_are_bought_with_the_companys_money_only() -> None:
    holds(
        f"""{ONE.replace("cash WT 200", "cash WT 90")}
        @ round operating WT
        > until trains
        !Ann: buy train 2
        Ann: loan 1
        Ann: buy train 2
        = trains WT 2
        """
    )


def test_short_sellers_pay_the_dividend() -> None:
    """$50 are earned, $10 a share; that is below the price, so it stays."""
    holds(
        f"""{RUNS}
        = best WT 50
        > until dividend
        Ann: pay
        = cash Ann 130
        = cash Cid 90
        = cash WT 20            # two shares in the treasury
        = price WT 100
        """
    )


def test_dividends_as_high_as_the_price_raise_it() -> None:
    run = "> until dividend\nAnn: pay\n"
    holds(RUNS.replace("price WT 100", "price WT 50") + run + "= price WT 55")
    holds(RUNS.replace("price WT 100", "price WT acquisition 3") + run + "= price WT 40")


def test_the_export_of_the_first_round_takes_all_2_trains() -> None:
    state = holds(
        """
        Ann: pass
        Bob: pass
        Cid: pass
        Ann: start WT F19 100
        Bob: pass
        Cid: pass
        = private MAJM closed
        Bob: pass
        Cid: pass
        Ann: pass
        > until merger
        """
    )
    assert state.depot["2"] == 0
    assert state.depot["2+"] in (3, 4)
