"""Track and station tokens of an operating turn (1817 §6.3, §6.4)."""

from __future__ import annotations

import pytest

from engine import game_of
from engine.core.actions import LayTile
from engine.kernel import refusal
from tests.t1817.scenarios import SITE, both_conventions, run_scenario

BEGIN = "@ round operating WT\n"


def company(*lines: str, tokens: str = "F19", phase: str = "2", cash: int = 200) -> str:
    """The WT of five shares, Ann's, before its turn."""
    size, owned = (2, 2) if phase == "2" else (10, 6)
    return "".join(
        f"@ {line}\n"
        for line in (
            f"phase {phase}",
            "cash Ann 100",
            "cash Bob 100",
            f"size WT {size}",
            "price WT 100",
            f"owns Ann WT {owned}",
            f"cash WT {cash}",
            f"token WT {tokens}",
            *lines,
        )
    )


def turn(*lines: str, tokens: str = "F19", phase: str = "2", cash: int = 200) -> str:
    return company(*lines, tokens=tokens, phase=phase, cash=cash) + BEGIN


# -- 1817 §6.3 -------------------------------------------------------------------------------------


def test_6_3_a_second_tile_costs_20_and_there_is_no_third() -> None:
    run_scenario(
        f"""{turn()}
        Ann: lay 57 F19 1
        = cash WT 200
        Ann: lay 9 F17 1
        = cash WT 180
        !Ann: lay 9 F21 1 | 1817 §6
        !Ann: lay 8 F21 1 | 1817 §6
        """
    )
    run_scenario(
        turn(cash=10) + "Ann: lay 57 F19 1\n!Ann: lay 9 F17 1 | 1817 §6.3\n"
        "Ann: loan 1\nAnn: lay 9 F17 1\n= cash WT 90"
    )


GREEN = ("tile F19 57 1", "tile F17 9 1", "tile F21 8 1")


def test_6_3_at_most_one_of_two_operations_is_an_upgrade() -> None:
    ready = turn(*GREEN, phase="3")
    run_scenario(
        ready + "Ann: lay 14 F19 0\n!Ann: lay 82 F17 1 | 1817 §6.3\n"
        "!Ann: lay 80 F21 1 | 1817 §6.3\nAnn: lay 9 F15 1\n= cash WT 165"
    )
    run_scenario(
        ready + "Ann: lay 9 F15 1\n= cash WT 185\nAnn: lay 14 F19 0\n"
        "= cash WT 165\n!Ann: lay 7 G20 1 | 1817 §6"
    )
    run_scenario(ready + "Ann: lay 9 F15 1\nAnn: lay 57 F13 1\n= tile F13 57 1")


def test_6_3_a_tile_laid_is_not_upgraded_in_the_same_turn() -> None:
    run_scenario(
        turn(phase="3") + "Ann: lay 57 F19 1\n!Ann: lay 14 F19 0 | 1817 §6.3\n"
        "!Ann: lay 15 F19 1 | 1817 §6.3\nAnn: pass"
    )


def ways(body: str, tile: str, hex: str, options: tuple[str, ...] = ()) -> list[int]:
    """The rotations in which Ann may lay the tile there."""
    state = run_scenario(body + "= tile A20 none", options=options)
    return [n for n in range(6) if refusal(game_of(state), state.seats[0], LayTile(tile, hex, n)) is None]


@pytest.mark.parametrize(
    ("tile", "hex", "lies", "first"),
    [
        ("14", "F19", ("tile F19 57 1",), 3),
        ("82", "F17", ("tile F19 57 1", "tile F17 9 1"), 3),
        ("63", "F19", ("tile F19 15 1",), 5),
        ("544", "F17", ("tile F19 57 1", "tile F17 82 1"), 5),
        ("597", "G18", ("tile G18 593 0", "tile G20 7 1", "tile F19 5 4"), 7),
    ],
)
def test_6_3_colors_from_their_phases_on(tile: str, hex: str, lies: tuple[str, ...], first: int) -> None:
    assert not ways(turn(*lies, phase=str(first - 1)), tile, hex)
    assert ways(turn(*lies, phase=str(first)), tile, hex)


def test_6_3_printed_hexes_count_as_tiles_of_their_color() -> None:
    """Baltimore is yellow: nothing yellow goes there, and green only where green is to be had."""
    for yellow in ("5", "6", "57"):
        assert not ways(turn(tokens="G18"), yellow, "G18")
    assert not ways(turn(tokens="G18"), "592", "G18")
    run_scenario(turn(tokens="G18", phase="3") + "Ann: lay 592 G18 2\n= tile G18 592 2\nAnn: lay 7 G20 1")
    for tile in ("57", "14", "63"):
        assert not ways(turn(tokens="D9", phase="7"), tile, "D9")


# -- 1817 §6.3.1 -----------------------------------------------------------------------------------


def test_6_3_1_any_suitable_tile_in_the_home_without_track() -> None:
    for tile in ("5 F19 0", "6 F19 3", "57 F19 2"):
        run_scenario(turn() + f"Ann: lay {tile}\n= cash WT 200")
    run_scenario(turn() + "!Ann: lay 9 F17 1 | 1817 §6.3\n!Ann: lay 9 F21 1 | 1817 §6.3\nAnn: pass")


def test_6_3_1_otherwise_the_track_is_part_of_a_route() -> None:
    laid = turn("tile F19 57 1")
    run_scenario(
        laid + "!Ann: lay 9 F17 0 | 1817 §6.3\n!Ann: lay 9 F15 1 | 1817 §6.3\n"
        "!Ann: lay 57 F13 1 | 1817 §6.3\n!Ann: lay 9 E20 0 | 1817 §6.3\nAnn: lay 8 F17 2"
    )
    # Beyond a city that other companies' tokens fill there is no route.
    full = ("tile F19 57 1", "tile F17 9 1", "tile F15 9 1", "tile F13 57 1")
    other = ("size SR 2", "price SR 60", "owns Bob SR 2", "token SR F13")
    run_scenario(turn(*full) + "Ann: lay 9 F11 1")
    run_scenario(turn(*full, *other) + "!Ann: lay 9 F11 1 | 1817 §6.3\nAnn: lay 8 F21 1")


def test_6_3_1_track_runs_neither_off_the_map_nor_into_blank_sides_or_water() -> None:
    """Beside Detroit: Cleveland is blank to the west, the lake is water, a thick line is impassable."""
    ready = turn(tokens="C8")
    run_scenario(
        ready
        + """
        !Ann: lay 7 C10 0 | 1817 §6.3           # into Cleveland's blank side
        !Ann: lay 9 C10 1 | 1817 §6.3           # into the lake
        !Ann: lay 8 C10 5 | 1817 §6.3           # across the thick blue line
        Ann: lay 8 C10 1
        """
    )
    # D23 has no neighbour to the south-east, B3 none to the north.
    run_scenario(turn(tokens="E22.1") + "!Ann: lay 8 D23 3 | 1817 §6.3\nAnn: lay 9 D23 0")


@pytest.mark.parametrize(
    ("token", "before", "lay", "cost"),
    [
        ("H3", (), "57 H3 0", 10),
        ("I12", (), "57 I12 1", 15),
        ("D7", (), "57 D7 0", 20),
        ("F13", ("tile F13 57 1",), "9 F11 1", 10),
        ("F13", ("tile F13 57 1",), "9 F15 1", 15),
        ("E22.0", (), "8 F21 1", 0),
    ],
)
def test_6_3_1_terrain_is_paid_at_once(token: str, before: tuple[str, ...], lay: str, cost: int) -> None:
    run_scenario(turn(*before, tokens=token) + f"Ann: lay {lay}\n= cash WT {200 - cost}")
    if cost:
        poor = turn(*before, tokens=token, cash=cost - 1)
        run_scenario(poor + f"!Ann: lay {lay}\n")
        run_scenario(turn(*before, tokens=token, cash=cost) + f"Ann: lay {lay}\n= cash WT 0")


def test_6_3_1_a_city_on_a_city_and_plain_track_elsewhere() -> None:
    for tile in ("7", "8", "9"):
        assert not ways(turn(), tile, "F19")
    for tile in ("5", "6", "57"):
        assert not ways(turn("tile F19 57 1"), tile, "F17")
    assert ways(turn(), "57", "F19") == list(range(6)) and ways(turn("tile F19 57 1"), "9", "F17") == [1, 4]


# -- 1817 §6.3.2 -----------------------------------------------------------------------------------


def test_6_3_2_old_track_stays_where_it_is() -> None:
    """A straight keeps both its ends on whatever replaces it, a curve its bend."""
    ready = turn(*GREEN, phase="3")
    assert ways(ready, "82", "F17") == ways(ready, "83", "F17") == [1, 4]
    assert not ways(ready, "80", "F17") and not ways(ready, "81", "F17")
    # Towards New York: what would run off the map does not fit either.
    assert ways(ready, "80", "F21") == [1] and ways(ready, "82", "F21") == [0]
    assert not ways(ready, "81", "F21") and not ways(ready, "83", "F21")


@pytest.mark.parametrize(
    ("hex", "phase", "lies", "legal_tiles"),
    [
        ("F17", "3", ("tile F17 9 1",), "82 83"),
        ("F17", "3", ("tile F17 8 4", "tile F19 57 1"), "80 81 82 83"),
        ("F17", "3", ("tile F17 7 3",), "80 82 83"),
        ("F17", "5", ("tile F17 82 1",), "544 545 546"),
        ("F19", "3", (), "14 15 619"),
        ("G18", "3", (), "592"),
        ("G18", "5", ("tile G18 592 0",), "593"),
        ("G18", "7", ("tile G18 593 0",), "597"),
        ("E22", "3", (), "54"),
        ("E22", "5", ("tile E22 54",), "62"),
        ("E22", "7", ("tile E22 62",), "X30"),
    ],
)
def test_6_3_2_plain_city_b_and_new_york_are_replaced_by_their_like(
    hex: str, phase: str, lies: tuple[str, ...], legal_tiles: str
) -> None:
    token = {"F17": "F19", "E22": "E22.0"}.get(hex, hex)
    home = () if hex in ("G18", "E22") or "tile F19 57 1" in lies else ("tile F19 57 1",)
    body = turn(*home, *lies, tokens=token, phase=phase, cash=500)
    every = "14 15 54 62 63 80 81 82 83 448 544 545 546 592 593 597 611 619 X00 X30 5 6 7 8 9 57".split()
    found = {tile for tile in every if ways(body, tile, hex)}
    assert found == set(legal_tiles.split())


@both_conventions
def test_6_3_2_some_track_of_the_new_tile_is_part_of_a_route(options: tuple[str, ...]) -> None:
    """Be it old. The curve on F17 passes Philadelphia by: of the green tiles only one comes to it."""
    far = turn("tile F19 57 1", "tile E16 9 1", phase="3")
    assert ways(far, "82", "E16", options) == []
    assert ways(turn("tile F19 57 1", "tile F17 9 1", phase="3"), "82", "F17", options) == [1, 4]
    curve = ("tile F19 57 1", "tile F17 8 5")
    assert ways(turn(*curve, phase="3"), "82", "F17", options) == [4]
    for tile, fits in (("80", [5]), ("81", [1, 3, 5]), ("83", [2])):
        assert not ways(turn(*curve, phase="3"), tile, "F17", options)
        beside = turn(*curve, "tile G18 592 0", tokens="G18", phase="3")
        assert ways(beside, tile, "F17", options) == fits


def test_6_3_2_tokens_stay_in_their_cities() -> None:
    ready = turn("tile F19 57 1", phase="3", tokens="F19")
    run_scenario(ready + "Ann: lay 14 F19 0\n= token WT F19")
    two = turn("size SR 2", "price SR 60", "owns Bob SR 2", "token SR E22.0", tokens="E22.1", phase="3")
    run_scenario(two + "Ann: lay 54 E22 0\n= token WT E22.1\n= token SR E22.0\n= tile E22 54")


@pytest.mark.parametrize(
    ("hex", "token", "green", "brown"), [("C8", "C8", "592", "593"), ("E22", "E22.1", "54", "62")]
)
def test_6_3_2_only_the_first_upgrade_of_detroit_and_new_york_costs(
    hex: str, token: str, green: str, brown: str
) -> None:
    first = turn(tokens=token, phase="3")
    assert ways(first, green, hex)
    run_scenario(first + f"Ann: lay {green} {hex} {ways(first, green, hex)[0]}\n= cash WT 180")
    second = turn(f"tile {hex} {green} {ways(first, green, hex)[0]}", tokens=token, phase="5")
    run_scenario(second + f"Ann: lay {brown} {hex} {ways(second, brown, hex)[0]}\n= cash WT 200")


def test_6_3_2_difficult_terrain_is_not_paid_again() -> None:
    run_scenario(turn("tile I12 57 1", tokens="I12", phase="3") + "Ann: lay 15 I12 1\n= cash WT 200")


def test_6_3_2_a_brown_city_has_as_many_exits_as_fit() -> None:
    """Philadelphia has six neighbours, and so takes the 63; Lansing has four sides on the map."""
    wide = turn("tile F19 15 0", phase="5")
    assert ways(wide, "63", "F19") and not ways(wide, "611", "F19") and not ways(wide, "448", "F19")
    run_scenario(wide + "Ann: lay 448 F19 0", options=(SITE,))
    narrow = turn("tile B5 15 4", tokens="B5", phase="5")
    assert ways(narrow, "448", "B5") and not ways(narrow, "63", "B5") and not ways(narrow, "611", "B5")
    five = turn("tile D7 15 0", tokens="D7", phase="5")
    assert ways(five, "611", "D7") and not ways(five, "63", "D7")


def test_6_3_2_the_tile_under_a_mine_stays() -> None:
    tiles = ("tile F13 57 1", "tile F15 9 1")
    assert ways(turn(*tiles, tokens="F13", phase="3"), "82", "F15")
    assert not ways(turn(*tiles, "mine F15", tokens="F13", phase="3"), "82", "F15")


# -- 1817 §6.4 -------------------------------------------------------------------------------------

LINE = ("tile F19 57 1", "tile F17 9 1", "tile F15 9 1", "tile F13 57 1")


def test_6_4_one_token_a_turn_for_nothing() -> None:
    ready = turn(*LINE, "tile F11 9 1", "tile F9 9 4", "tile F21 8 1", phase="5", cash=0)
    run_scenario(
        ready + "= markers WT 3\nAnn: token F13\n= cash WT 0\n= markers WT 2\n"
        "= token WT F19 F13\n!Ann: token E22.0 | 1817 §6"
    )


def test_6_4_only_with_a_token_on_the_charter() -> None:
    run_scenario(turn(*LINE, "markers WT 1") + "Ann: token F13\n= markers WT 0")
    run_scenario(turn(*LINE) + "= markers WT 0\n!Ann: token F13 | 1817 §6.4\nAnn: pass")


def test_6_4_only_where_a_route_leads() -> None:
    run_scenario(
        turn("tile F19 57 1", "tile F15 9 1", "tile F13 57 1", "markers WT 1")
        + "!Ann: token F13 | 1817 §6.4\n"
        "Ann: pass"
    )
    other = ("size SR 2", "price SR 60", "owns Bob SR 2", "token SR F13")
    beyond = ("tile F11 9 1", "tile F9 9 1", "tile F7 9 1", "tile F5 9 1", "tile F3 57 1", "markers WT 1")
    run_scenario(turn(*LINE, *beyond) + "Ann: token F3")
    run_scenario(
        turn(*LINE, *beyond, *other) + "!Ann: token F3 | 1817 §6.4\n!Ann: token F13 | 1817 §6.4\nAnn: pass"
    )


def test_6_4_never_a_second_one_in_a_hex() -> None:
    run_scenario(turn("tile F19 14 1", "markers WT 1", phase="3") + "!Ann: token F19 | 1817 §6.4\nAnn: pass")
    new_york = ("tile D23 8 0", "tile C22 6 5", "markers WT 1")
    run_scenario(
        turn("tile F21 8 1", "tile F19 5 4", *new_york, tokens="E22.0") + "!Ann: token E22.1 | 1817 §6.4\n"
        "Ann: token F19"
    )


def test_6_4_none_in_toronto() -> None:
    toronto = ("tile C14 57 2", "markers WT 1")
    run_scenario(turn(*toronto, tokens="C14") + "!Ann: token B13 | 1817 §6.4\nAnn: pass")


def test_6_4_before_track_it_may_be_placed_instead_and_after_it_no_track_is_laid() -> None:
    run_scenario(turn(*LINE, "markers WT 1") + "Ann: token F13\n!Ann: lay 9 F11 1 | 1817 §6")
