"""The opening auction with seed money (§4.1, §4.2)."""

from __future__ import annotations

import pytest

from engine import new_game
from tests.t1817.texts import SITE, holds


@pytest.mark.parametrize(
    ("players", "cash", "limit"), [(3, 420, 21), (4, 315, 16), (5, 252, 13), (6, 210, 11), (7, 180, 9)]
)
def test_starting_cash_and_certificate_limit(players: int, cash: int, limit: int) -> None:
    names = "Ann, Bob, Cid, Dan, Eve, Fay, Gil".split(", ")[:players]
    holds(f"= cash Ann {cash}\n= limit {limit}\nAnn: pass", ", ".join(names))


def test_the_seed_money_fills_a_bid_up() -> None:
    holds(
        """
        Ann: bid MAJM 0
        Bob: bid MAJM 20
        Cid: pass
        Ann: pass
        = private MAJM Bob
        = cash Bob 400
        = turn Bob
        Bob: bid MAJC 0         # $100 of seed money are left
        Cid: pass
        Ann: pass
        = private MAJC Bob
        !Cid: bid UBC 65        # $10 are left for a private of $80
        Cid: bid UBC 70
        """
    )


def test_bids_are_multiples_of_5_up_to_the_face_value() -> None:
    holds(
        """
        !Ann: bid MAJM 3
        !Ann: bid MINC 35
        Ann: bid MINC 30
        !Bob: bid MINC 35
        """
    )


def test_the_site_lets_bids_exceed_the_face_value() -> None:
    holds("Ann: bid MINC 30\nBob: bid MINC 35", options=(SITE,))


def test_who_has_passed_is_out_of_that_auction() -> None:
    holds("Ann: bid PSM 0\nBob: pass\nCid: bid PSM 5\n= turn Ann\nAnn: bid PSM 10\n= turn Cid")


def test_the_unsold_leave_and_priority_goes_left_of_the_last_who_put_one_up() -> None:
    holds(
        """
        Ann: bid PSM 0
        Bob: pass
        Cid: pass
        Bob: pass
        Cid: pass
        Ann: pass
        = private TS closed
        = round stock Bob
        = priority Bob
        """
    )


def test_where_nobody_puts_one_up_the_priority_stays() -> None:
    holds("Ann: pass\nBob: pass\nCid: pass\n= round stock Ann")


def test_a_secret_limit_raises_by_the_least() -> None:
    holds(
        """
        Ann: bid MAJM 0
        Bob: bid up to 40
        Cid: bid MAJM 30
        Ann: pass
        = turn Cid              # Bob has bid $35 by himself
        !Cid: bid MAJM 35
        Cid: bid MAJM 45
        = private MAJM Cid
        = cash Cid 375
        """
    )


def test_it_is_for_3_to_7_players_or_12_with_the_table_of_9_2() -> None:
    names = [f"P{i}" for i in range(12)]
    with pytest.raises(ValueError, match="3 to 7"):
        new_game("1817", names)
    assert new_game("1817", names, ("more_players",)).state.cash["p0"] == 105
