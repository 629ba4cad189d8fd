"""Positions: what each set-up line sets, what is left out, and what is impossible."""

import pytest

from engine.core.state import State
from engine.game_text import read_script, replay, set_up_position
from tests.t1830.scenarios import SITE, scenario_error, script_text

PRR = "@ owns Ann PRR 6\n@ par PRR 100\n"


def position(body: str, options: tuple[str, ...] = ()) -> State:
    script = read_script(script_text(body, options=options))
    return set_up_position(script.start, script.setup)


def test_without_set_up_lines_it_is_the_opening() -> None:
    assert position("= phase 2") == read_script(script_text("")).start


def test_money_alone_is_the_opening_of_richer_or_poorer_players() -> None:
    state = position("@ cash Ann 100")
    assert state.stack == read_script(script_text("")).start.stack
    assert (state.cash["p0"], state.cash["p1"], state.cash["bank"]) == (100, 800, 10300)


def test_the_bank_has_what_is_left() -> None:
    state = position(PRR + "@ cash Ann $1,100\n@ cash PRR 50")
    assert (state.cash["p0"], state.cash["p1"], state.cash["PRR"]) == (1100, 0, 50)
    assert sum(state.cash.values()) == 12000
    assert position(PRR + "@ cash bank 10").cash["bank"] == 10


def test_shares_not_named_are_in_the_initial_offering() -> None:
    co = position(PRR + "@ owns pool PRR 1\n@ owns Bob PRR 2").companies["PRR"]
    assert co.shares == {"p0": 60, "pool": 10, "p1": 20, "ipo": 10}
    assert co.president == "p0" and co.floated and co.has_operated


def test_companies_without_a_line_have_not_started() -> None:
    co = position(PRR).companies["NYC"]
    assert (co.shares, co.par, co.cell, co.president, co.floated, co.unplaced_tokens) == (
        {"ipo": 100}, None, None, None, False, 4
    )  # fmt: skip


def test_a_company_below_the_float_has_neither_token_nor_turn() -> None:
    state = position("@ owns Ann PRR 5\n@ par PRR 100\n@ round stock Ann")
    co = state.companies["PRR"]
    assert not co.floated and not co.has_operated and co.unplaced_tokens == 4 and not state.tokens


def test_the_share_that_came_with_a_private_may_lie_with_a_player() -> None:
    co = position("@ owns Bob PRR 1\n@ private CA Bob").companies["PRR"]
    assert co.shares == {"p1": 10, "ipo": 90} and co.president is None


def test_a_president_is_named_where_two_hold_equally_many() -> None:
    assert (
        position("@ owns Ann PRR 3\n@ owns Bob PRR 3\n@ president PRR Bob\n@ par PRR 67")
        .companies["PRR"]
        .president
        == "p1"
    )


def test_privates_not_named_are_closed() -> None:
    state = position(PRR + "@ private SV Ann\n@ private CS PRR\n@ private DH closed\n@ phase 3")
    assert state.private_owners == {
        "SV": "p0", "CS": "PRR", "DH": "closed", "MH": "closed", "CA": "closed", "BO": "closed"
    }  # fmt: skip


def test_prices_and_pars() -> None:
    assert position(PRR).companies["PRR"].cell == (0, 6)
    assert position(PRR + "@ price PRR 112 1").companies["PRR"].cell == (1, 8)
    assert position(PRR + "@ price PRR 90").companies["PRR"].cell == (1, 6)
    assert position(PRR + "@ price PRR 155").companies["PRR"].cell == (2, 12)
    alone = position("@ owns Ann PRR 6\n@ price PRR 90 1").companies["PRR"]
    assert (alone.par, alone.cell) == (90, (1, 6))


def test_in_one_market_space_the_first_named_is_on_top() -> None:
    two = "@ owns Ann PRR 6\n@ owns Bob NYC 6\n@ par PRR 90\n@ par NYC 90\n"
    assert position(two).market_order == ["PRR", "NYC"]
    assert position(two + "@ price NYC 82 2\n@ price PRR 82 2").market_order == ["NYC", "PRR"]


def test_the_home_token_is_placed_and_the_rest_are_on_the_charter() -> None:
    state = position(PRR)
    assert state.tokens == {"H12": [(0, "PRR")]} and state.companies["PRR"].unplaced_tokens == 3
    more = position(PRR + "@ token PRR H10 H16\n@ tile H10 57 1\n@ tile H16 57 1")
    assert more.tokens["H10"] == [(0, "PRR")] and more.companies["PRR"].unplaced_tokens == 1
    assert position(PRR + "@ markers PRR 0").companies["PRR"].unplaced_tokens == 0


def test_tokens_name_the_city_of_their_hex() -> None:
    erie = "@ owns Ann Erie 6\n@ par Erie 67\n"
    assert position(erie + "@ token Erie E11.1").tokens == {"E11": [(1, "Erie")]}
    assert position(erie).tokens == {"E11": [(0, "Erie")]}
    assert position(erie, (SITE,)).tokens == {"E11": [(-1, "Erie")]}
    laid = position(erie + "@ phase 3\n@ token Erie E11.1\n@ tile E11 59 0", (SITE,))
    assert laid.tokens == {"E11": [(1, "Erie")]}


def test_a_new_company_has_floated_but_no_token() -> None:
    state = position(PRR + "@ new PRR\n@ round stock Ann")
    assert state.companies["PRR"].floated and not state.companies["PRR"].has_operated and not state.tokens
    operating = position(PRR + "@ new PRR\n@ round operating PRR")
    assert operating.tokens == {"H12": [(0, "PRR")]} and operating.companies["PRR"].has_operated


def test_tiles_are_placed_and_leave_the_supply() -> None:
    assert position(PRR + "@ tile H10 57 1\n@ tile H14 9 1").tiles == {"H10": ("57", 1), "H14": ("9", 1)}
    assert position(PRR + "@ phase 5\n@ tile I15 61 0").tiles == {"I15": ("61", 0)}


@pytest.mark.parametrize(
    ("lines", "depot", "phase"),
    [
        ("", "6 5 4 3 2 6", "2"),
        ("@ trains PRR 2 2", "4 5 4 3 2 6", "2"),
        ("@ trains PRR 3\n@ trains pool 3", "0 3 4 3 2 6", "3"),
        ("@ phase 4\n@ trains PRR 4 3", "0 0 3 3 2 6", "4"),
        ("@ depot 3 2", "0 2 4 3 2 6", "3"),
        ("@ depot 3 5", "0 5 4 3 2 6", "2"),
        ("@ trains bank 5 5", "0 0 0 2 2 6", "5"),
        ("@ phase 6\n@ trains PRR 6", "0 0 0 0 1 6", "6"),
        ("@ phase D\n@ depot 6 1\n@ trains PRR D 5", "0 0 0 0 1 5", "D"),
        ("@ phase D\n@ trains PRR D", "0 0 0 0 0 5", "D"),
        ("@ depot D 4", "0 0 0 0 0 4", "D"),
        ("@ trains PRR none\n@ phase 3", "0 5 4 3 2 6", "3"),
    ],
)
def test_trains(lines: str, depot: str, phase: str) -> None:
    state = position(PRR + lines)
    assert " ".join(str(count) for count in state.depot.values()) == depot
    assert state.phase == phase


def test_unlimited_trains_have_no_number() -> None:
    assert position(PRR + "@ depot D", (SITE,)).depot["D"] is None


def test_a_stock_round_is_not_the_first_and_nobody_has_acted() -> None:
    report = replay(
        script_text(PRR + "@ cash Bob 100\n@ round stock Bob\n= priority Bob\n= turn Bob\n= round stock Bob")
    )
    assert report.ok
    assert replay(
        script_text(PRR + "@ cash Bob 100\n@ priority Cid\n@ round stock Bob\n= priority Cid\n= turn Bob")
    ).ok


def test_in_an_operating_round_those_before_have_had_their_turn() -> None:
    two = PRR + "@ owns Bob NYC 6\n@ par NYC 90\n@ private SV Ann\n@ phase 5\n"
    two = two.replace("@ private SV Ann\n", "")
    assert replay(
        script_text(two + "@ round operating NYC 2\n= turn Bob NYC\n> until operating\n= turn Ann PRR")
    ).ok
    assert replay(
        script_text(two + "@ round operating PRR\n= round operating PRR 1\n> until NYC\n= turn Bob NYC")
    ).ok


def test_private_income_is_paid_before_an_operating_round_begins() -> None:
    assert replay(script_text(PRR + "@ private SV Ann\n@ round operating PRR\n= cash Ann 0")).ok


def test_the_end_is_triggered() -> None:
    state = position(PRR + "@ phase 5\n@ cash bank -20\n@ cash PRR 100\n@ left 1\n@ round operating PRR 2")
    assert state.bank_broken
    said = PRR + "@ phase 5\n@ left 0\n@ round operating PRR 3\n> until over\n= over"
    assert replay(script_text(said)).ok


@pytest.mark.parametrize(
    ("lines", "line", "words"),
    [
        ("@ owns Ann PRR 6\n@ owns Bob PRR 5\n@ par PRR 100", 5, "110 %"),
        ("@ owns Ann PRR 6\n@ owns ipo PRR 3\n@ par PRR 100", 5, "90 %"),
        ("@ owns Ann PRR 2\n@ owns pool PRR 6\n@ par PRR 100", 5, "50 %"),
        ("@ owns Ann PRR -1", 4, "short"),
        ("@ owns treasury PRR 1", 4, "treasury"),
        ("@ owns Ann PRR 3\n@ owns Bob PRR 3\n@ par PRR 100", 5, "equally many"),
        ("@ owns Ann PRR 3\n@ owns Bob PRR 4\n@ president PRR Ann\n@ par PRR 100", 6, "cannot be president"),
        ("@ owns Ann PRR 1\n@ par PRR 100", 4, "president's certificate"),
        ("@ owns Ann PRR 6", 4, "neither a par nor a price"),
        ("@ owns Ann PRR 2", 4, "neither a par nor a price"),
        ("@ owns pool PRR 1", 4, "neither a par nor a price"),
        ("@ trains PRR 2", 4, "not started"),
        ("@ owns Ann PRR 6\n@ par PRR 101", 5, "no par price"),
        ("@ owns Ann PRR 6\n@ price PRR 101", 5, "No space"),
        ("@ owns Ann PRR 6\n@ price PRR 100 9", 5, "row 9"),
        ("@ owns Ann PRR 6\n@ price PRR 112", 5, "rows 0, 1"),
        (PRR + "@ tile H10 57 0\n@ tile Z9 57 0", 7, "Z9"),
        (PRR + "@ tile H10 571 0", 6, "571"),
        (PRR + "@ tile H10 9 1", 6, "can never lie"),
        (PRR + "@ tile H12 57 1", 6, "can never lie"),
        (PRR + "@ tile G11 9 2", 6, "does not fit"),
        (PRR + "@ tile H14 9", 6, "several rotations"),
        (PRR + "@ tile H10 14 0", 6, "phase 2"),
        (PRR + "@ tile H10 57 1\n@ tile H10 57 1", 7, "line 7"),
        (PRR + "@ tile G7 1 1\n@ tile G17 1 0", 7, "#1"),
        (PRR + "@ tile G15 7 5\n@ private SV Ann", 6, "a player owns the SV"),
        (PRR + "@ token PRR H10", 6, "No track"),
        (PRR + "@ token PRR F10", 6, "no city"),
        (PRR + "@ token PRR H12 H12", 6, "Two tokens"),
        (PRR + "@ token PRR G19", 6, "several cities"),
        (PRR + "@ token PRR H10.1\n@ tile H10 57 1", 6, "H10.1"),
        (PRR + "@ token PRR D14 K15 D2 H10\n@ tile H10 57 1", 6, "4 tokens"),
        (PRR + "@ token PRR D14\n@ owns Bob NYC 6\n@ par NYC 67\n@ token NYC D14", 9, "fewer spaces"),
        (PRR + "@ token PRR E23", 6, "home of another"),
        (PRR + "@ markers PRR 4", 6, "charter"),
        (PRR + "@ new PRR\n@ token PRR H12\n@ round stock Ann", 7, "not operated"),
        ("@ owns Ann PRR 5\n@ par PRR 67\n@ new PRR", 6, "not floated"),
        (PRR + "@ trains PRR 2 2 2 2 2", 6, "limit is 4"),
        (PRR + "@ owns Bob NYC 6\n@ par NYC 67\n@ trains PRR 2 2 2 2\n@ trains NYC 2 2 2", 9, "there are 6"),
        (PRR + "@ phase 4\n@ trains PRR 2", 7, "out of play"),
        (PRR + "@ phase 2\n@ trains PRR 3", 6, "phase 3"),
        (PRR + "@ phase 3\n@ depot 2 1", 7, "2-train is gone"),
        (PRR + "@ depot 4 5", 6, "there are 4"),
        (PRR + "@ trains PRR 5\n@ depot 5 3", 7, "there are 3"),
        (PRR + "@ trains bank 5 6", 6, "sells now"),
        (PRR + "@ depot 5 2\n@ trains bank 5 5", 7, "named twice"),
        (PRR + "@ new PRR\n@ trains PRR 2\n@ round stock Ann", 7, "not operated"),
        (PRR + "@ private CS PRR", 6, "phase 2"),
        (PRR + "@ phase 3\n@ private BO PRR", 7, "may not be sold"),
        (PRR + "@ phase 5\n@ private CS Ann", 7, "closed"),
        ("@ owns Ann BO 6\n@ par BO 67\n@ trains BO 2\n@ private BO Bob", 7, "first train"),
        (PRR + "@ private CS bank", 6, "bank"),
        (PRR + "@ private CS pool", 6, "pool"),
        (PRR + "@ cash Ann -1", 6, "-$1"),
        (PRR + "@ cash Ann 12001", 6, "12,000"),
        (PRR + "@ cash bank 12000\n@ cash Ann 1", 6, "12,001"),
        (PRR + "@ cash bank -1", 6, "bank"),
        ("@ cash PRR 100", 4, "not floated"),
        (PRR + "@ cash NYC 100", 6, "not floated"),
        (PRR + "@ round operating NYC", 6, "not floated"),
        (PRR + "@ round operating PRR 2", 6, "operating rounds in a set"),
        (PRR + "@ left 2\n@ round stock Ann", 6, "followed by 1 rounds"),
        (PRR + "@ phase 9", 6, "phase 9"),
        (PRR + "@ limit 19", 6, "20"),
        ("@ cash Dan 5", 4, "Dan"),
        ("@ cash Ann", 4, "ends where"),
        ("@ cash Ann five", 4, "five"),
        ("@ cash Ann 5 6", 4, "left over"),
        ("@ cash Ann 5\n@ cash Ann 6", 5, "line 5"),
        ("@ round stock Ann\n@ phase 3", 4, "Nobody has anything to do"),
        ("@ turn Ann", 4, "turn"),
        ("@ round merger PRR", 4, "merger"),
    ],
)
def test_impossible_positions_are_refused(lines: str, line: int, words: str) -> None:
    """Lines count from the fourth, after the header."""
    sentence = scenario_error(lines)
    assert words in sentence
    assert sentence.startswith(f"line {line}: ")
