"""1851, Place Station Marker."""

from tests.t1851.scenarios import RICH, run_scenario, scenario_error

TC = RICH + "@ owns Ann TC 6\n@ price TC 90 3\n@ tile F12 202 2\n@ tile E11 5 4\n"
STEP = "@ round operating TC\n"


def test_free_of_charge_in_a_city_of_its_route() -> None:
    run_scenario(TC + STEP + "Ann: token E11\n= token TC F12 E11\n= markers TC 2\n= cash TC 0")


def test_only_where_a_route_leads() -> None:
    assert "No route" in scenario_error(TC + "@ tile D14 57 0\n" + STEP + "Ann: token D14")


def test_one_a_turn_and_one_in_a_hex() -> None:
    body = "@ phase 3\n" + TC.replace("E11 5 4", "E11 15 2").replace("F12 202 2", "F12 511 0") + STEP
    run_scenario(
        body + "!Ann: token F12 | 1851 Place Station Marker\nAnn: token E11\n"
        "!Ann: token E11 | 1851 Operating Rounds\n= markers TC 2"
    )


def test_four_each() -> None:
    run_scenario(
        TC + "@ markers TC 0\n" + STEP + "!Ann: token E11 | 1851 Place Station Marker\n= markers TC 0"
    )


def test_the_home_token_comes_with_floating() -> None:
    body = (
        RICH
        + "@ owns Ann TC 4\n@ price TC 90 3\n@ round stock Ann\n= token TC none\nAnn: buy TC\n= token TC F12"
    )
    run_scenario(body)


def test_a_home_keeps_a_space_until_its_company_floats() -> None:
    # Knoxville with one space is the SR's; with two there is one for the TC.
    body = TC + "@ tile F14 9 1\n@ tile F16 57 1\n@ tile F18 9 1\n"
    assert "reserved for the home of the SR" in scenario_error(
        body + "@ tile F20 57 1\n" + STEP + "Ann: token F20"
    )
    run_scenario("@ phase 3\n" + body + "@ tile F20 14 1\n" + STEP + "Ann: token F20\n= token TC F20")
    both = "@ phase 3\n" + body + "@ tile F20 14 1\n@ owns Bob SR 6\n@ new SR\n@ price SR 70 4\n" + STEP
    run_scenario(both + "= token SR F20\nAnn: token F20")
    taken = (
        "@ phase 3\n" + body + "@ tile F20 14 1\n@ owns Bob IC 6\n@ price IC 70 4\n@ token IC F20\n" + STEP
    )
    assert "reserved for the home" in scenario_error(taken + "Ann: token F20")


def test_the_upper_city_of_louisville_is_the_lns() -> None:
    body = TC + "@ tile E13 9 0\n@ tile D14 57 0\n@ tile C15 9 0\n@ tile F12 202 1\n"
    body = body.replace("@ tile F12 202 2\n", "").replace("@ tile E11 5 4\n", "") + STEP
    run_scenario(body + "!Ann: token B16.0 | 1851 Place Station Marker\nAnn: token B16.1\n= token TC B16.1")


def test_a_full_city_takes_none() -> None:
    body = TC + "@ owns Bob IC 6\n@ price IC 70 4\n@ token IC E11\n" + STEP
    assert "vacant" in scenario_error("@ phase 3\n" + body + "Ann: token E11")


def test_none_in_birmingham_and_johnson_city() -> None:
    dixie = (
        RICH + "@ owns Ann Dixie 6\n@ price Dixie 90 3\n@ tile H16 202 0\n@ tile I15 9 0\n@ tile J14 8 1\n"
    )
    run_scenario(
        "@ phase 4\n" + dixie + "@ round operating Dixie\n!Ann: token J12 | 1851 Place Station Marker"
    )
    sr = RICH + "@ owns Ann SR 6\n@ price SR 90 3\n@ tile F20 57 0\n@ tile E21 8 4\n"
    run_scenario("@ phase 4\n" + sr + "@ round operating SR\n!Ann: token E23 | 1851 Place Station Marker")
