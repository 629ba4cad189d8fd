"""1851, Lay or Upgrade Track."""

import pytest

from tests.t1851.scenarios import RICH, run_scenario, scenario_error

TC = RICH + "@ owns Ann TC 6\n@ price TC 90 3\n@ cash TC 300\n"
STEP = "@ round operating TC\n"
AT_HOME = TC + "@ tile F12 202 2\n"
"""Nashville with track to Hopkinsville (edge 2) and to F14 (edge 4)."""


def test_home_first_and_nothing_elsewhere() -> None:
    run_scenario(
        TC + STEP + "!Ann: lay 8 F14 1 | 1851 Lay or Upgrade Track\n"
        "!Ann: lay 5 E11 0 | 1851 Lay or Upgrade Track\nAnn: lay 202 F12 2\n= tile F12 202 2"
    )


def test_y_cities_take_y_tiles_and_others_none() -> None:
    run_scenario(
        TC + STEP + "!Ann: lay 57 F12 0 | 1851 Lay or Upgrade Track\n"
        "!Ann: lay 5 F12 0 | 1851 Lay or Upgrade Track\n!Ann: lay 9 F12 0 | 1851 Lay or Upgrade Track"
    )
    assert "cannot be laid on" in scenario_error(AT_HOME + STEP + "Ann: lay 202 E11 0")
    run_scenario(
        AT_HOME + STEP + "!Ann: lay 202 E11 3 | 1851 Lay or Upgrade Track\n"
        "!Ann: lay 8 E11 3 | 1851 Lay or Upgrade Track\nAnn: lay 57 E11 2"
    )


def test_plain_track_on_plain_hexes() -> None:
    run_scenario(AT_HOME + STEP + "!Ann: lay 57 F14 1 | 1851 Lay or Upgrade Track\nAnn: lay 9 F14 1")


def test_terrain_is_paid_at_once() -> None:
    run_scenario(TC + STEP + "Ann: lay 202 F12 2\n= cash TC 260")
    gmo = RICH + "@ owns Ann GM&O 6\n@ price GM&O 90 3\n@ tile G7 57 1\n@ tile G5 8 4\n@ cash GM&O {}\n"
    step = "@ round operating GM&O\n"
    run_scenario(gmo.format(100) + step + "Ann: lay 202 H4 1\n= cash GM&O 40")
    assert "costs $40" in scenario_error("@ phase 3\n" + gmo.format(39) + step + "Ann: lay 9 G9 1")


def test_an_upgrade_on_terrain_is_free() -> None:
    run_scenario("@ phase 3\n" + AT_HOME + STEP + "Ann: lay 511 F12 0\n= cash TC 300")


def test_it_must_extend_a_route() -> None:
    assert "connected" in scenario_error(AT_HOME + STEP + "Ann: lay 9 F14 0")
    run_scenario(
        AT_HOME + STEP + "!Ann: lay 9 F14 2 | 1851 Lay or Upgrade Track\n"
        "!Ann: lay 9 C9 0 | 1851 Lay or Upgrade Track\nAnn: lay 9 F14 1"
    )


def test_one_yellow_tile_in_phase_2() -> None:
    run_scenario(AT_HOME + STEP + "Ann: lay 9 F14 1\n!Ann: lay 5 E11 4 | 1851 Operating Rounds")


def test_two_yellow_tiles_from_phase_3() -> None:
    body = "@ phase 3\n" + AT_HOME + STEP
    run_scenario(
        body + "Ann: lay 9 F14 1\nAnn: lay 5 E11 4\n"
        "!Ann: lay 57 F16 1 | 1851 Operating Rounds\n= tile E11 5 4"
    )
    run_scenario(body + "Ann: lay 9 F14 1\nAnn: lay 57 F16 1\n= tile F16 57 1")


def test_or_one_upgrade() -> None:
    body = "@ phase 3\n" + AT_HOME + STEP
    run_scenario(body + "Ann: lay 511 F12 0\n!Ann: lay 9 F14 1 | 1851 Operating Rounds")
    assert "may not lay an upgrade too" in scenario_error(body + "Ann: lay 9 F14 1\nAnn: lay 511 F12 0")


@pytest.mark.parametrize(
    ("phase", "line", "may"),
    [
        ("2", "lay 511 F12 0", False),
        ("3", "lay 511 F12 0", True),
        ("4", "lay 216 F12 0", False),
        ("5", "lay 216 F12 0", True),
        ("6", "lay 512 F12 0", False),
        ("8", "lay 512 F12 0", True),
    ],
)
def test_colours_by_phase(phase: str, line: str, may: bool) -> None:
    before = {"511": "202 2", "216": "511 0", "512": "216 0"}[line.split()[1]]
    body = f"@ phase {phase}\n" + TC + f"@ tile F12 {before}\n" + STEP
    run_scenario(body + ("" if may else "!") + f"Ann: {line}")


def test_not_over_a_closed_side_nor_off_the_map() -> None:
    # F12 to E11 over edge 2; from E11 edges 0 and 1 are closed.
    assert "closed" in scenario_error(AT_HOME + STEP + "Ann: lay 6 E11 5")
    run_scenario(
        AT_HOME + STEP + "!Ann: lay 6 E11 5 | 1851 Lay or Upgrade Track\n"
        "!Ann: lay 57 E11 1 | 1851 Lay or Upgrade Track\nAnn: lay 5 E11 4"
    )
    ic = RICH + "@ owns Ann IC 6\n@ price IC 90 3\n@ round operating IC\n"
    assert "off the map" in scenario_error(ic + "Ann: lay 6 A5 2")


def test_not_into_a_blank_side() -> None:
    # Into Little Rock from H4 but not from I3, where it is blank.
    gmo = (
        RICH
        + "@ owns Ann GM&O 6\n@ price GM&O 90 3\n@ cash GM&O 200\n@ phase 4\n@ tile G7 57 1\n@ tile G5 8 4\n"
    )
    assert "blank side" in scenario_error(
        gmo + "@ tile H4 511 1\n@ tile I5 7 1\n@ round operating GM&O\nAnn: lay 8 I3 2"
    )


def test_plain_upgrades_must_extend_a_route_by_new_track() -> None:
    # F14 carries the TC's line from F12 (edge 1) to F16 (edge 4).
    body = "@ phase 3\n" + AT_HOME + "@ tile F14 9 1\n" + STEP
    run_scenario(body + "Ann: lay 23 F14 1\n= tile F14 23 1")
    # New track that only crosses the line, or that begins where the line leaves the hex, extends nothing.
    assert "extend" in scenario_error(body + "Ann: lay 20 F14 1")
    assert "extend" in scenario_error(body + "Ann: lay 23 F14 4")


def test_city_upgrades_need_only_touch_one() -> None:
    # The new edges of Bowling Green are of no use to the L&N, yet its token's route ends there.
    body = (
        "@ phase 3\n"
        + RICH
        + """
    @ owns Ann L&N 6
    @ price L&N 90 3
    @ tile C15 9 0
    @ tile D14 57 0
    @ round operating L&N
    Ann: lay 14 D14 0
    = tile D14 14 0
    """
    )
    run_scenario(body)


def test_upgrades_keep_track_and_kind() -> None:
    body = "@ phase 3\n" + AT_HOME + "@ tile F14 9 1\n" + STEP
    run_scenario(
        body
        + "!Ann: lay 16 F14 0 | 1851 Lay or Upgrade Track\n!Ann: lay 14 F14 0 | 1851 Lay or Upgrade Track\n"
        "!Ann: lay 619 F12 0 | 1851 Lay or Upgrade Track\n!Ann: lay 511 F12 1 | 1851 Lay or Upgrade Track"
    )


def test_tokens_stay_with_their_city() -> None:
    run_scenario("@ phase 3\n" + AT_HOME + STEP + "Ann: lay 511 F12 0\n= token TC F12")


L_N = RICH + "@ owns Ann L&N 6\n@ price L&N 90 3\n@ cash L&N 100\n"


def test_louisville_becomes_a_green_y_city_with_a_south_west_exit() -> None:
    body = "@ phase 3\n" + L_N + "@ round operating L&N\n"
    run_scenario(
        body
        + "!Ann: lay 202 B16 0 | 1851 Lay or Upgrade Track\n!Ann: lay 511 B16 1 | 1851 Lay or Upgrade Track\n"
        "!Ann: lay 216 B16 0 | 1851 Lay or Upgrade Track\nAnn: lay 511 B16 0\n= token L&N B16"
    )
    run_scenario(L_N + "@ round operating L&N\n!Ann: lay 511 B16 0 | 1851 Phases")


def test_louisvilles_tile_is_an_upgrade() -> None:
    body = "@ phase 3\n" + L_N + "@ round operating L&N\n"
    run_scenario(body + "Ann: lay 511 B16 0\n!Ann: lay 9 C15 0 | 1851 Operating Rounds")
    run_scenario(
        body + "Ann: lay 9 C15 0\n!Ann: lay 511 B16 0 | 1851 Lay or Upgrade Track\nAnn: lay 57 D14 0"
    )


def test_both_cities_of_louisville_become_one() -> None:
    body = (
        "@ phase 3\n"
        + L_N
        + """
    @ owns Bob TC 6
    @ price TC 70 4
    @ tile C15 9 0
    @ tile D14 57 0
    @ token TC B16.1
    @ trains L&N 2
    @ round operating L&N
    Ann: lay 511 B16 0
    = token TC B16
    = token L&N B16
    = best L&N 60
    """
    )
    run_scenario(body)


def test_track_may_run_into_birmingham_before_it_may_be_used() -> None:
    body = (
        RICH
        + """
    @ owns Ann Dixie 6
    @ price Dixie 90 3
    @ cash Dixie 100
    @ tile H16 202 0
    @ tile I15 9 0
    @ round operating Dixie
    Ann: lay 8 J14 1
    = tile J14 8 1
    """
    )
    run_scenario(body)
    # Nothing is laid beyond it by a company that comes from there, until phase 4.
    beyond = (
        RICH
        + """
    @ owns Ann Dixie 6
    @ price Dixie 90 3
    @ cash Dixie 100
    @ tile H16 202 0
    @ tile I15 9 0
    @ tile J14 8 1
    @ round operating Dixie
    """
    )
    assert "connected" in scenario_error(beyond + "Ann: lay 8 I11 5")
    run_scenario("@ phase 4\n" + beyond + "Ann: lay 7 I11 4\n")


def test_tiles_run_out() -> None:
    placed = "".join(f"@ tile {at}\n" for at in ("D14 57 0", "A5 57 1", "F16 57 1", "D8 57 1"))
    assert "No #57 is left" in scenario_error(AT_HOME + placed + STEP + "Ann: lay 57 E11 2")


def test_plain_yellow_tiles_do_not() -> None:
    hexes = ("B4", "B6", "B8", "A7", "A9", "A13", "A15", "A19", "B12", "B20", "C5", "C7", "C15", "C19")
    placed = "".join(f"@ tile {hex} 7 4\n" for hex in hexes if hex not in ("A19", "B20"))
    run_scenario(AT_HOME + placed + STEP + "Ann: lay 7 F14 1\n= tile F14 7 1")
