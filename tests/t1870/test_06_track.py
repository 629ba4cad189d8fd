"""1870 §6: laying and upgrading track."""

import pytest

from engine import components_of, parse
from engine.kernel import RefusedError, game_of
from engine.operating.track import is_tile_allowed_on, legal_lays
from tests.t1870.scenarios import run_scenario

ATSF = """
@ owns Ann ATSF 6
@ price ATSF 100 0
@ cash ATSF 1000
@ private MRBC closed
@ phase 2
@ depot 3
@ round operating ATSF
"""


def test_6_two_yellow_tiles_or_one_upgrade() -> None:
    run_scenario(
        ATSF + "Ann: lay 57 B9 0\n!Ann: lay 14 B9 0 | 1870 §6\nAnn: lay 9 C8 0\n!Ann: lay 9 D7 0 | 1870 §4.1"
    )
    run_scenario(ATSF + "@ tile B9 57 0\nAnn: lay 14 B9 0\n!Ann: lay 9 C8 0 | 1870 §4.1")
    run_scenario(ATSF + "@ tile B9 57 0\nAnn: lay 9 C8 0\n!Ann: lay 14 B9 0 | 1870 §6\nAnn: lay 9 D7 0")


def test_6_1_a_new_tile_connects() -> None:
    run_scenario(
        ATSF + "!Ann: lay 9 C8 0 | 1870 §6\nAnn: lay 57 B9 0\n!Ann: lay 8 C10 1 | 1870 §6\nAnn: lay 9 C8 0"
    )


def test_6_1_no_tile_on_red_areas() -> None:
    run_scenario(ATSF + "!Ann: lay 57 A2 0 | 1870 §6")


def test_6_2_phases_open_the_colours() -> None:
    run_scenario(
        ATSF.replace("phase 2", "phase 1").replace("depot 3", "depot 2 7")
        + "@ tile B9 57 0\n!Ann: lay 14 B9 0 | 1870 §4.2"
    )
    run_scenario(ATSF + "@ tile B9 14 0\n!Ann: lay 63 B9 0 | 1870 §4.2")


USEFUL = {("23", 3), ("24", 3), ("26", 3), ("27", 3)}
"""The upgrades of C8, which is entered over edge 3, whose new track leads on from there."""


def test_6_2_an_upgrade_has_to_be_of_use() -> None:
    state = run_scenario(ATSF + "@ tile B9 57 0\n@ tile C8 9 0\n= turn Ann ATSF")
    found = {(lay.tile, lay.rotation) for lay in legal_lays(game_of(state), "ATSF") if lay.hex == "C8"}
    assert found == USEFUL
    with pytest.raises(RefusedError, match="new track"):
        parse(state, "p0", "lay 20 C8 0")


def test_6_2_a_city_worth_more_is_of_use() -> None:
    state = run_scenario(ATSF + "@ tile B9 57 0\n= turn Ann ATSF")
    found = {lay.tile for lay in legal_lays(game_of(state), "ATSF") if lay.hex == "B9"}
    assert found == {"14", "15"}


def test_6_3_no_track_against_blank_sides() -> None:
    body = ATSF.replace("ATSF", "GMO")
    run_scenario(body + "@ tile M20 57 1\n!Ann: lay 57 M22 0 | 1870 §6")
    state = run_scenario(body + "= turn Ann GMO")
    assert not [lay for lay in legal_lays(game_of(state), "GMO") if lay.hex == "N17"]


def test_6_4_cities_and_towns_take_tiles_of_their_kind() -> None:
    run_scenario(ATSF + "!Ann: lay 9 B9 0 | 1870 §6.6\n!Ann: lay 58 B9 0 | 1870 §6.6\nAnn: lay 6 B9 0")


@pytest.mark.parametrize("hex", ["B11", "C18", "J3", "J5", "N17"])
def test_6_4_1_brown_170_in_five_cities_only(hex: str) -> None:
    g = game_of(run_scenario(ATSF + "= turn Ann ATSF"))
    assert is_tile_allowed_on(g, "170", hex) and not is_tile_allowed_on(g, "63", hex)
    assert is_tile_allowed_on(g, "63", "B9") and not is_tile_allowed_on(g, "170", "B9")


def test_6_6_3_gray_tiles_for_kansas_city_and_st_louis() -> None:
    body = ATSF.replace("ATSF", "MKT").replace("phase 2", "phase 5").replace("depot 3", "depot 6 2")
    run_scenario(body + "@ tile B11 170 0\n!Ann: lay 172 B11 0 | 1870 §6.6\nAnn: lay 171 B11 0")


def test_6_5_terrain_is_paid_once_from_the_treasury() -> None:
    body = ATSF.replace("ATSF", "MKT").replace("cash MKT 1000", "cash MKT 40")
    run_scenario(body + "Ann: lay 57 B11 0\n= cash MKT 0")
    less = ATSF.replace("cash ATSF 1000", "cash ATSF 39") + "@ tile B9 57 0\n"
    run_scenario(less + "!Ann: lay 58 A10 4 | 1870 §6\nAnn: lay 9 C8 0")
    run_scenario(body + "@ tile B11 57 0\nAnn: lay 14 B11 0\n= cash MKT 40")


def test_6_6_the_upgrade_chart() -> None:
    upgrades = components_of("1870").upgrades or {}
    assert upgrades["3"] == ("141", "142", "143") and upgrades["4"] == ("141", "142")
    assert upgrades["23"] == ("41", "43", "45", "47") and upgrades["144"] == ("147",)
    assert not upgrades["1"] and not upgrades["63"]
