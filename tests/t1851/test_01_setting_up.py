"""1851, Setting Up the Game: money, the deal, the L&N's certificates and price, the first priority."""

from itertools import permutations

import pytest

from engine import new_game
from engine.core.state import BANK, CLOSED, is_seat
from engine.opening.allotment import permutation
from tests.t1851.scenarios import run_scenario, scenario_error

FOUR, FIVE = "Ann, Bob, Cid, Dan", "Ann, Bob, Cid, Dan, Eve"


def test_capital_is_what_the_private_leaves_of_it() -> None:
    run_scenario("= cash Ann 300\n= cash Bob 450\n= cash Cid 420\n= cash bank 6870")
    run_scenario("= cash Ann 230\n= cash Bob 380\n= cash Cid 350\n= cash Dan 220", FOUR)
    run_scenario("= cash Ann 200\n= cash Bob 350\n= cash Cid 320\n= cash Dan 190\n= cash Eve 160", FIVE)


@pytest.mark.parametrize(("players", "limit"), [("Ann, Bob, Cid", 15), (FOUR, 12), (FIVE, 10)])
def test_certificate_limit(players: str, limit: int) -> None:
    run_scenario(f"= limit {limit}", players)


def test_three_to_five_players() -> None:
    for players in (2, 6):
        with pytest.raises(ValueError, match="3 to 5 players"):
            new_game("1851", ["Ann", "Bob", "Cid", "Dan", "Eve", "Fay"][:players])


@pytest.mark.parametrize(("players", "out"), [(3, {"O&W", "CNO&TP"}), (4, {"CNO&TP"}), (5, set())])
def test_as_many_privates_as_players(players: int, out: set[str]) -> None:
    state = new_game("1851", ["Ann", "Bob", "Cid", "Dan", "Eve"][:players]).state
    assert {p for p, owner in state.private_owners.items() if owner == CLOSED} == out
    assert sorted(o for o in state.private_owners.values() if is_seat(o)) == state.seats
    assert BANK not in state.private_owners.values()


def test_each_player_is_dealt_one_private_at_random() -> None:
    found = set()
    for lot in range(120):
        state = new_game("1851", ["Ann", "Bob", "Cid", "Dan", "Eve"], seed=lot).state
        found.add(tuple(state.private_owners.values()))
        for private, price in (("L&O", 200), ("M&C", 50), ("ET&WNC", 80), ("O&W", 210), ("CNO&TP", 240)):
            assert state.cash[state.private_owners[private]] == 400 - price
    assert len(found) == 120
    assert {permutation("abc", lot) for lot in range(6)} == set(permutations("abc"))


def test_a_deal_given_in_the_script() -> None:
    run_scenario(
        """
        @ private L&O Cid
        @ private M&C Ann
        = private L&O Cid
        = private ET&WNC Bob
        = private O&W closed
        = cash Cid 300
        = cash Ann 450
        = cash Bob 420
        = turn Cid
        Cid: par L&N 82
        = turn Ann
        """
    )
    assert "not in play" in scenario_error("@ private O&W Ann")
    assert "one private" in scenario_error("@ private L&O Ann\n@ private M&C Ann")


def test_the_owner_of_the_lo_is_president_of_the_ln_and_sets_its_price() -> None:
    run_scenario(
        """
        = turn Ann L&N
        !Bob: par L&N 70 | 1851 Buying Stock
        !Ann: par L&N 110 | 1851 Buying Stock
        !Ann: par TC 100 | 1851 Buying Stock
        !Ann: pass | 1851 Buying Stock
        Ann: par L&N 90
        = president L&N Ann
        = owns Ann L&N 2
        = price L&N 90 3
        = cash Ann 300
        = cash L&N 0
        """
    )


@pytest.mark.parametrize(("price", "row"), [(70, 4), (75, 4), (82, 3), (90, 3), (100, 2)])
def test_the_yellow_squares(price: int, row: int) -> None:
    run_scenario(f"Ann: par L&N {price}\n= price L&N {price} {row}")


def test_shares_of_the_ln_come_with_the_ow_and_the_cnotp() -> None:
    run_scenario("= owns Dan L&N 1\n= owns ipo L&N 9\nAnn: par L&N 70\n= owns ipo L&N 7", FOUR)
    run_scenario("= owns Dan L&N 1\n= owns Eve L&N 1\nAnn: par L&N 70\n= owns ipo L&N 6\n= cash L&N 0", FIVE)


def test_priority_to_the_left_of_the_lns_president() -> None:
    run_scenario("Ann: par L&N 70\n= priority Bob\n= round stock Bob")
    run_scenario("@ private L&O Cid\nCid: par L&N 70\n= priority Ann\n= round stock Ann")


def test_it_begins_in_phase_2() -> None:
    run_scenario("= phase 2\n= depot 2 5\nAnn: par L&N 70\n= round stock Bob")
