"""Setting up, and the opening auction with seed money (1817 §4)."""

from __future__ import annotations

import pytest

from engine import RefusedError, new_game, play_line
from tests.t1817.scenarios import SITE, both_conventions, run_scenario

NAMES = "Ann, Bob, Cid, Dan, Eve, Fay, Gil".split(", ")


@pytest.mark.parametrize(
    ("players", "cash", "limit"), [(3, 420, 21), (4, 315, 16), (5, 252, 13), (6, 210, 11), (7, 180, 9)]
)
def test_4_1_starting_cash_and_certificate_limit(players: int, cash: int, limit: int) -> None:
    names = NAMES[:players]
    checks = "".join(f"= cash {name} {cash}\n" for name in names)
    run_scenario(
        f"{checks}= limit {limit}\n= phase 2\n= priority Ann\n= turn Ann\nAnn: pass", ", ".join(names)
    )


def test_4_1_nothing_is_laid_started_or_sold_before_the_auction() -> None:
    start = new_game("1817", NAMES[:3]).state
    assert set(start.private_owners.values()) == {"bank"} and len(start.private_owners) == 11
    assert not start.tiles and not start.tokens and not start.market_order
    run_scenario("!Ann: start WT F19 100 | 1817 §4.2\n!Bob: pass | 1817 §4.2\nAnn: pass")


def test_4_2_the_seed_money_fills_a_bid_up() -> None:
    run_scenario(
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
        !Cid: bid UBC 65 | 1817 §4.2        # $10 are left for a private of $80
        Cid: bid UBC 70
        """
    )


@both_conventions
def test_4_2_seed_money_spent_is_gone_and_the_winner_pays_his_bid(options: tuple[str, ...]) -> None:
    """$120 and $80 use up the $200; from then on a private costs its face value at least."""
    spent = "Ann: bid MAJM 0\nBob: pass\nCid: pass\nBob: bid TS 0\nCid: pass\nAnn: pass\n= cash Bob 420\n"
    run_scenario(
        spent + "!Cid: bid OBC 35 | 1817 §4.2\nCid: bid OBC 40\n"
        "= turn Ann\nAnn: pass\nBob: pass\n= cash Cid 380\n",
        options=options,
    )


def test_4_2_bids_are_multiples_of_5_up_to_the_face_value() -> None:
    run_scenario(
        """
        !Ann: bid MAJM 3 | 1817 §4.2
        !Ann: bid MINC 35 | 1817 §4.2
        Ann: bid MINC 20
        !Bob: bid MINC 20 | 1817 §4.2
        !Bob: bid MINC 23 | 1817 §4.2
        !Bob: bid MINC 35 | 1817 §4.2
        Bob: bid MINC 30
        = private MINC Bob      # nobody can bid more
        """
    )


def test_4_2_nobody_bids_more_than_he_has() -> None:
    poor = "@ cash Ann 20\n@ cash Bob 420\n@ cash Cid 10\n"
    run_scenario(
        poor + "!Ann: bid MAJM 25 | 1817 §4.2\nAnn: bid MAJM 10\nBob: pass\n= private MAJM Ann\n= cash Ann 10"
    )


def test_4_2_who_has_passed_is_out_of_that_auction_and_in_the_next() -> None:
    run_scenario(
        """
        Ann: bid PSM 0
        Bob: pass
        Cid: bid PSM 5
        = turn Ann
        Ann: bid PSM 10
        = turn Cid
        !Bob: bid PSM 15 | 1817 §4.2
        Cid: pass
        = private PSM Ann
        Bob: bid ME 0
        """
    )


def test_4_2_play_goes_on_left_of_the_player_who_began_the_auction() -> None:
    run_scenario(
        "Ann: pass\nBob: bid ME 0\nCid: pass\nAnn: bid ME 5\nBob: pass\n= private ME Ann\n= turn Cid"
    )


def test_4_2_it_ends_when_all_pass_in_a_row() -> None:
    run_scenario(
        """
        Ann: pass
        Bob: pass
        Cid: bid PSM 0          # two passes are not enough, and count no more
        Ann: pass
        Bob: pass
        = turn Ann
        Ann: pass
        Bob: pass
        = round opening
        Cid: pass
        = round stock Ann
        """
    )


def test_4_2_the_unsold_leave_and_priority_goes_left_of_the_last_who_put_one_up() -> None:
    run_scenario(
        """
        Ann: bid PSM 0
        Bob: pass
        Cid: bid PSM 5
        Ann: pass
        = private PSM Cid
        Bob: pass
        Cid: pass
        Ann: pass
        = private TS closed
        = private PSM Cid
        = round stock Bob
        = priority Bob
        = cash Cid 415          # nothing of the seed money is the players'
        """
    )


def test_4_2_where_nobody_puts_one_up_the_priority_stays() -> None:
    run_scenario("Ann: pass\nBob: pass\nCid: pass\n= round stock Ann\n= priority Ann")


def test_4_2_the_round_is_over_with_the_last_private() -> None:
    free = "Ann: bid MAJM 0\nBob: pass\nCid: pass\nBob: bid TS 0\nCid: pass\nAnn: pass\n"
    faces = {
        "PSM": 40,
        "ME": 40,
        "OBC": 40,
        "UBC": 80,
        "MINC": 30,
        "CM": 60,
        "MAJC": 90,
        "MINM": 60,
        "MAIL": 90,
    }
    for at, (private, face) in enumerate(faces.items(), 2):
        free += f"= round opening\n{NAMES[at % 3]}: bid {private} {face}\n"
    run_scenario(free + "= round stock Cid\n= priority Cid\n= private MAIL Bob")


def test_4_2_who_can_put_up_nothing_is_passed_over() -> None:
    """$30 are the least that any private costs once the seed money is spent."""
    spent = "@ cash Ann 420\n@ cash Bob 20\n@ cash Cid 420\n"
    spent += "Ann: bid MAJM 0\nBob: pass\nCid: pass\nBob: bid TS 0\nCid: pass\nAnn: pass\n"
    run_scenario(spent + "Cid: pass\nAnn: pass\n= round stock Cid")
    run_scenario(spent + "Cid: pass\nAnn: pass\n= turn Bob\nBob: pass\n= round stock Cid", options=(SITE,))


def test_4_2_a_secret_limit_raises_by_the_least() -> None:
    run_scenario(
        """
        Ann: bid MAJM 0
        Bob: bid up to 40
        Cid: bid MAJM 30
        Ann: pass
        = turn Cid              # Bob has bid $35 without a limit
        !Cid: bid MAJM 35 | 1817 §4.2
        Cid: bid MAJM 45
        = private MAJM Cid
        = cash Cid 375
        """
    )


def test_4_2_who_may_answer_in_advance_is_named_in_one_list() -> None:
    state = play_line(new_game("1817", NAMES[:4]).state, "p0", "bid MAJM 10").state
    with pytest.raises(RefusedError, match=r"^Bob, Cid or Dan to act: "):
        play_line(state, "p0", "pass")
