"""1830 §20: routes, the duty to own a train, and revenue."""

import pytest

from tests.t1830.scenarios import run_scenario, scenario_error
from tests.t1830.test_18_track import running

# Altoona, with Pittsburgh to its west and Lancaster to its east, on to Columbus.
LINE = "@ tile H10 57 1\n@ tile H14 9 1\n@ tile H16 57 1\n"
LONG = LINE + "@ tile H8 9 1\n@ tile H6 9 1\n@ tile H4 57 1\n"


def test_20_1_a_route_joins_two_cities() -> None:
    run_scenario(
        running("PRR", "@ trains PRR 2\n@ tile H14 9 1") + "= best PRR 0\n!Ann: run best | 1830 §20.2\n"
        "!Ann: run 2 H12 | 1830 §20.1"
    )
    run_scenario(
        running("PRR", "@ trains PRR 2\n@ tile H10 57 1")
        + "= best PRR 30\n!Ann: run 2 H12 | 1830 §20.1\nAnn: run 2 H12-H10"
    )


def test_20_1_it_is_continuous() -> None:
    run_scenario(
        running("PRR", "@ trains PRR 2\n@ tile H10 57 1\n@ tile H16 57 1")
        + "!Ann: run 2 H12-H16 | 1830 §20.1"
    )


def test_20_1_no_reversing_at_a_junction() -> None:
    """Two legs of a green tile that join at one edge are no through track between each other."""
    fork = "@ tile H10 57 1\n@ tile H8 23 4\n@ tile H6 9 1\n@ tile H4 57 1\n@ tile G7 1 1\n"
    west = running("PRR", fork + "@ token PRR H4\n@ trains PRR 2", phase="3")
    run_scenario(west + "!Ann: run 2 H4-G7.1 | 1830 §20.1\n= best PRR 40\nAnn: run 2 H4-H10")
    run_scenario(running("PRR", fork + "@ token PRR H10\n@ trains PRR 2 2", phase="3") + "= best PRR 70")


def test_20_1_no_change_of_track_at_a_crossing() -> None:
    cross = "@ tile H14 20 1\n@ tile G13 9 2\n@ tile I15 53 2\n@ tile H16 57 1\n@ trains PRR 2\n"
    run_scenario(
        running("PRR", cross, phase="3") + "= best PRR 30\n!Ann: run 2 H12-I15 | 1830 §20.1\n"
        "Ann: run 2 H12-H16"
    )


def test_20_1_no_track_twice() -> None:
    run_scenario(
        running("PRR", LINE + "@ trains PRR 2 2") + "= best PRR 60\n"
        "!Ann: run 2 H12-H16, 2 H12-H16 | 1830 §20.1"
    )


def test_20_1_a_city_may_be_left_by_any_line() -> None:
    """In by the east, out by the north-east."""
    turn = "@ tile H10 14 0\n@ tile G11 8 0\n@ tile F10 3 5\n@ trains PRR 3\n"
    run_scenario(running("PRR", turn, phase="3") + "= best PRR 50\nAnn: run 3 H12-H10-F10")


def test_20_1_red_areas_are_ends_only() -> None:
    south = "@ tile J14 57 0\n@ tile J12 8 3\n@ tile I13 9 0\n@ tile H14 7 0\n@ trains BO 4\n"
    run_scenario(
        running("BO", south, phase="4") + "= best BO 80\n!Ann: run 4 I15-J14-K13-H12 | 1830 §20.1\n"
        "Ann: run 4 I15-J14-K13"
    )


def test_20_1_a_route_may_lead_from_one_red_area_to_another() -> None:
    track = "@ tile H4 14 2\n@ tile G3 9 2\n@ tile I3 8 1\n@ token PRR H4\n@ trains PRR 3\n"
    run_scenario(running("PRR", track, phase="3") + "= best PRR 100\nAnn: run 3 F2-H4-I1")


def test_20_1_not_from_a_red_area_to_itself() -> None:
    track = "@ tile H4 14 2\n@ tile I3 8 1\n@ tile J4 8 1\n@ tile I5 8 0\n@ token PRR H4\n@ trains PRR 3\n"
    run_scenario(
        running("PRR", track, phase="3") + "= best PRR 60\n!Ann: run 3 I1-H4-J2 | 1830 §20.1\n"
        "Ann: run 3 J2-H4"
    )


def test_20_1_no_station_twice() -> None:
    circle = "@ tile H10 14 0\n@ tile H8 9 1\n@ tile G11 8 0\n@ trains PRR 3\n"
    run_scenario(running("PRR", circle, phase="3") + "!Ann: run 3 H12-H10-H12 | 1830 §20.1\n= best PRR 40")


def test_20_1_two_cities_of_one_hex_are_two_stations() -> None:
    """The book's example: out of one New York city to the west, and back into the other."""
    around = "@ tile G19 54 0\n@ tile F18 7 5\n@ tile G17 2 2\n@ trains NYNH 3\n"
    run_scenario(running("NYNH", around, phase="3") + "= best NYNH 130\nAnn: run 3 G19.1-G17.1-G19.0")


def test_20_1_several_trains_run_on_separate_track() -> None:
    run_scenario(running("PRR", LINE + "@ trains PRR 2 2") + "= best PRR 60\nAnn: run 2 H10-H12, 2 H12-H16")
    run_scenario(running("PRR", "@ tile H10 57 1\n@ trains PRR 2 2") + "= best PRR 30")


def test_20_1_they_may_meet_in_cities() -> None:
    run_scenario(
        running("PRR", LONG + "@ trains PRR 2 3", phase="3")
        + "= best PRR 80\nAnn: run 2 H12-H16, 3 H12-H10-H4"
    )


def test_20_1_they_may_use_separate_track_of_one_tile() -> None:
    cross = (
        "@ tile H14 20 1\n@ tile H16 57 1\n@ tile I15 53 0\n@ tile G13 9 2\n@ tile F12 9 2\n@ tile E11 59 3\n"
    )
    run_scenario(running("BO", cross + "@ token BO H16\n@ trains BO 2 2", phase="3") + "= best BO 120")


def test_20_1_every_route_includes_an_own_token() -> None:
    other = "@ owns Bob CO 6\n@ par CO 67\n@ token CO F6 H4\n@ trains CO 2\n"
    run_scenario(
        running("PRR", LONG + other + "@ trains PRR 2 2") + "!Ann: run 2 H10-H4 | 1830 §20.1\n"
        "= best PRR 60\n= best CO 40"
    )


def test_20_1_a_token_elsewhere_is_a_base_too() -> None:
    run_scenario(running("PRR", LONG + "@ token PRR H4\n@ trains PRR 2") + "= best PRR 40\nAnn: run 2 H10-H4")


@pytest.mark.parametrize(
    ("train", "phase", "most"),
    [("2", "2", 30), ("3", "3", 50), ("4", "4", 70), ("5", "5", 70), ("D", "D", 70)],
)
def test_20_1_the_number_of_a_train_is_that_of_its_cities(train: str, phase: str, most: int) -> None:
    run_scenario(running("PRR", LONG + f"@ trains PRR {train}", phase=phase) + f"= best PRR {most}")


def test_20_1_a_train_does_not_run_through_a_city_without_a_stop() -> None:
    run_scenario(
        running("PRR", LONG + "@ trains PRR 2") + "!Ann: run 2 H12-H4 | 1830 §20.1\nAnn: run 2 H12-H10"
    )


def test_20_1_small_cities_count() -> None:
    towns = "@ tile G7 1 1\n@ tile G9 8 5\n@ tile H10 57 2\n"
    run_scenario(running("CO", towns + "@ trains CO 2") + "= best CO 40\n!Ann: run 2 F6-H10 | 1830 §20.1")
    run_scenario(running("CO", towns + "@ trains CO 3", phase="3") + "= best CO 60")


def test_20_1_a_train_may_run_a_shorter_route() -> None:
    run_scenario(
        running("PRR", "@ tile H10 57 1\n@ trains PRR 4", phase="4") + "= best PRR 30\nAnn: run 4 H12-H10"
    )


def test_20_1_trains_are_not_combined() -> None:
    run_scenario(
        running("PRR", LONG + "@ trains PRR 2 2") + "!Ann: run 2 H12-H10-H4-H16 | 1830 §20.1\n"
        "!Ann: run 2 H12-H10-H4 | 1830 §20.1\n"
    )


def test_20_1_altoona_may_be_passed_by() -> None:
    """The printed track of H12 runs beside its city."""
    run_scenario(
        running("PRR", LINE + "@ token PRR H10\n@ trains PRR 2") + "= best PRR 40\nAnn: run 2 H10-H16"
    )


def test_20_2_a_company_with_a_route_buys_a_train() -> None:
    need = running("PRR", "@ tile H10 57 1")
    run_scenario(
        need + "> until train\n!Ann: done | 1830 §20.2\n!Ann: pass | 1830 §20.2\nAnn: buy train 2\nAnn: done"
    )


def test_20_2_not_where_there_is_no_route() -> None:
    run_scenario(running("PRR") + "> until train\nAnn: done\n= round stock Ann\n= trains PRR none")


def test_20_2_a_train_is_not_used_in_the_turn_in_which_it_is_bought() -> None:
    run_scenario(
        running("PRR", LINE) + "> until train\nAnn: buy train 2\n"
        "!Ann: run best | 1830 §17\nAnn: done\n= price PRR 90 0"
    )


def test_20_3_revenue_is_the_sum_of_the_cities() -> None:
    run_scenario(
        running("PRR", LINE + "@ trains PRR 3", phase="3")
        + "= best PRR 50\n> until dividend\nAnn: withhold\n= cash PRR 1050"
    )


def test_20_3_red_areas_rise_with_the_first_5() -> None:
    track = "@ tile J14 57 0\n@ trains BO {}\n"
    run_scenario(running("BO", track.format(3), phase="4") + "= best BO 80")
    run_scenario(running("BO", track.format(3), phase="5") + "= best BO 90")
    rising = """
    @ owns Ann PRR 6
    @ par PRR 100
    @ cash PRR 1000
    @ depot 5 3
    @ phase 4
    @ owns Bob BO 6
    @ par BO 67
    @ tile J14 57 0
    @ trains BO 3
    @ trains PRR 4
    @ round operating PRR
    = best BO 80
    > until train
    Ann: buy train 5
    = best BO 90
    """
    run_scenario(rising)


@pytest.mark.parametrize(
    ("area", "low", "high", "track", "city", "others"),
    [
        ("Chicago", 40, 70, "@ tile G3 9 2\n@ tile H4 57 2\n", "H4", 20),
        ("Canadian West", 30, 50, "@ tile B10 57 2\n", "B10", 20),
        (
            "Maritime Provinces", 20, 30,
            "@ tile B22 9 1\n@ tile B20 4 1\n@ tile B18 9 1\n@ tile B16 57 1\n", "B16", 30,
        ),
        ("Gulf, from the north", 30, 60, "@ tile I3 8 1\n@ tile H4 57 0\n", "H4", 20),
        ("Gulf, from the south", 30, 60, "@ tile I3 9 0\n@ tile H4 57 0\n", "H4", 20),
        ("Deep South", 30, 40, "@ tile J14 57 0\n", "J14", 50),
    ],
)  # fmt: skip
def test_20_3_values_of_the_red_areas(
    area: str, low: int, high: int, track: str, city: str, others: int
) -> None:
    for phase, value in (("4", low), ("5", high)):
        position = running("PRR", f"{track}@ token PRR {city}\n@ trains PRR 4\n", phase=phase)
        run_scenario(position + f"= best PRR {value + others}")


def test_20_3_the_highest_revenue_has_to_be_collected() -> None:
    run_scenario(
        running("PRR", LONG + "@ trains PRR 3", phase="3") + "!Ann: run 3 H12-H10 | 1830 §20.3\n"
        "Ann: run 3 H16-H12-H10"
    )
    assert "$50" in scenario_error(running("PRR", LONG + "@ trains PRR 3", phase="3") + "Ann: run 3 H12-H16")


def test_20_3_dividends_by_share_the_pools_to_the_company_the_unsold_to_nobody() -> None:
    """The book's example: 50 % of $50 are $25, the pool's 20 % $10 for the treasury."""
    run_scenario(
        """
        @ owns Ann PRR 5
        @ owns pool PRR 2
        @ par PRR 100
        @ phase 3
        @ trains PRR 3
        """
        + LINE
        + """
        @ cash bank 12000
        @ round operating PRR
        > until dividend
        Ann: pay
        = cash Ann 25
        = cash PRR 10
        = cash bank 11965
        """
    )


def test_20_3_all_trains_together_are_paid() -> None:
    run_scenario(
        running("PRR", LINE + "@ trains PRR 2 2")
        + "> until dividend\nAnn: pay\n= cash Ann 36\n= cash PRR 1000"
    )


def test_20_3_undistributed_revenue_goes_to_the_company() -> None:
    run_scenario(
        running("PRR", LINE + "@ trains PRR 2 2")
        + "> until dividend\nAnn: withhold\n= cash PRR 1060\n= price PRR 90 0"
    )
