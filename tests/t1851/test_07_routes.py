"""1851, Routes and Run Trains: what may be run, what it brings, claims."""

import pytest

from engine import decision, parse, play
from tests.t1851.scenarios import RICH, run_scenario

L_N = (
    RICH
    + """
@ owns Ann L&N 6
@ price L&N 90 3
@ cash L&N 500
@ trains L&N {trains}
"""
)
HOME = L_N + "@ tile C15 9 0\n@ tile D14 57 0\n"
STEP = "@ round operating L&N\n"
REDS = (
    RICH
    + """
@ owns Ann GM&O 6
@ price GM&O 90 3
@ tile H4 202 1
@ tile G5 8 4
@ tile G7 5 0
@ tile H6 8 3
@ tile I7 8 0
"""
)
"""Track from Little Rock over Memphis and Jackson, the GM&O's home, to the Gulf."""


def test_louisvilles_two_cities_are_a_route() -> None:
    run_scenario(
        L_N.format(trains="2") + STEP + "= best L&N 40\nAnn: run 2 B16.0-B16.1\nAnn: pay\n= cash Ann 1524"
    )


def test_the_track_between_them_is_run_over_once() -> None:
    run_scenario(
        L_N.format(trains="2 2") + STEP + "= best L&N 40\n"
        "!Ann: run 2 B16.0-B16.1, 2 B16.0-B16.1 | 1851 Routes"
    )


def test_trains_may_meet_in_a_city() -> None:
    body = HOME.format(trains="2 2") + "@ token L&N B16.0 D14\n" + STEP
    run_scenario(body + "= best L&N 80\nAnn: run 2 B16.0-B16.1, 2 B16.1-D14\nAnn: pay\n= cash Ann 1548")


def test_from_one_to_the_other_and_on() -> None:
    body = HOME.format(trains="3") + STEP
    run_scenario(body + "= best L&N 60\nAnn: run 3 B16.0-B16.1-D14\nAnn: half\n= cash L&N 542")


def test_all_hexes_of_a_route_may_be_written() -> None:
    run_scenario(HOME.format(trains="3") + STEP + "Ann: run 3 B16.0-B16.1-C15-D14\nAnn: pay\n= cash L&N 524")


def test_no_more_stops_than_the_train_and_none_skipped() -> None:
    run_scenario(
        HOME.format(trains="2") + STEP + "!Ann: run 2 B16.0-B16.1-D14 | 1851 Routes\n"
        "!Ann: run 2 B16.0-D14 | 1851 Routes"
    )


def test_a_route_needs_a_token() -> None:
    body = HOME.format(trains="2") + "@ tile E13 9 0\n@ tile F12 202 1\n"
    run_scenario(
        body + STEP + "!Ann: run 2 B16.1-D14 | 1851 Routes\n!Ann: run 2 D14-F12 | 1851 Routes\n= best L&N 40"
    )


def test_past_a_city_that_others_fill_no_route_goes_on() -> None:
    body = HOME.format(trains="4") + "@ phase 4\n@ tile E13 9 0\n@ owns Bob TC 6\n@ price TC 82 3\n"
    body += "@ tile F12 202 1\n"
    run_scenario(body + STEP + "Ann: run 4 B16.0-B16.1-D14-F12")
    blocked = body + "@ token TC F12 D14\n" + STEP
    # Bowling Green can be reached, not passed.
    run_scenario(blocked + "!Ann: run 4 B16.0-B16.1-D14-F12 | 1851 Routes\nAnn: run 4 B16.0-B16.1-D14")


@pytest.mark.parametrize(
    ("phase", "train", "best"),
    [
        ("2", "2", 30 + 20),  # the Gulf and Jackson, or Jackson and Memphis
        ("3", "3", 30 + 20 + 30),
        ("4", "4", 30 + 30 + 20 + 40 + 40),
        ("5", "5", 30 + 30 + 20 + 40 + 40),
        ("6", "5", 40 + 30 + 20 + 50 + 40),
        ("8", "8", 40 + 30 + 20 + 50 + 40),
    ],
)
def test_red_areas_by_phase_and_10_a_stop_between_two(phase: str, train: str, best: int) -> None:
    body = f"@ phase {phase}\n" + REDS + f"@ trains GM&O {train}\n@ round operating GM&O\n"
    run_scenario(body + f"= best GM&O {best}")


def test_the_bonus_counts_in_a_run_that_is_written() -> None:
    body = "@ phase 4\n" + REDS + "@ trains GM&O 4\n@ round operating GM&O\n"
    run_scenario(body + "Ann: run 4 H2-H4-G7-J6\nAnn: withhold\n= cash GM&O 160")


def test_a_route_ends_at_a_red_area() -> None:
    body = "@ phase 4\n" + REDS.replace("H4 202", "H4 511") + "@ tile I5 9 2\n@ trains GM&O 4\n"
    run_scenario(
        body + "@ round operating GM&O\n!Ann: run 4 G7-J6-H4 | 1851 Routes\n"
        "!Ann: run 4 G7-H4-H2-H4 | 1851 Routes"
    )


def test_birmingham_is_closed_before_phase_4() -> None:
    body = (
        RICH
        + """
    @ owns Ann Dixie 6
    @ price Dixie 90 3
    @ tile H16 202 0
    @ tile I15 9 0
    @ tile J14 8 1
    """
    )
    for phase, train, best in (("2", "2", 0), ("3", "3", 0), ("4", "4", 30 + 30), ("6", "6", 30 + 50)):
        held = f"@ phase {phase}\n{body}@ trains Dixie {train}\n@ round operating Dixie\n"
        run_scenario(held + f"= best Dixie {best}")


def test_johnson_city_by_phase() -> None:
    body = (
        RICH
        + """
    @ owns Ann SR 6
    @ price SR 90 3
    @ tile F20 57 0
    @ tile E21 8 4
    """
    )
    for phase, train, rising, falling in (("2", "2", 30, 40), ("4", "4", 30, 30), ("6", "5", 40, 30)):
        held = f"@ phase {phase}\n{body}@ trains SR {train}\n@ round operating SR\n"
        run_scenario(held + f"= best SR {20 + rising}")
        run_scenario(held + f"= best SR {20 + falling}", options=("johnson_city_falling",))


def test_only_the_best_run_is_taken() -> None:
    body = HOME.format(trains="3") + STEP
    run_scenario(
        body + "!Ann: run 3 B16.0-B16.1 | 1851 Run Trains, Pay Dividends\n"
        "Ann: run best\nAnn: pay\n= cash Ann 1536"
    )


CLAIMED = HOME.format(trains="3") + STEP


def test_claims_the_president_announces_any_legal_run() -> None:
    body = CLAIMED + "Ann: run 3 B16.0-B16.1\n= turn Bob\n= turn Cid\n!Ann: pay | 1851 Run Trains\n"
    run_scenario(body + "Bob: pass\nCid: pass\nAnn: pay\n= cash Ann 1524", options=("claims",))
    run_scenario(
        CLAIMED + "!Ann: run 3 B16.0-D14 | 1851 Routes\n!Ann: run 2 B16.0-B16.1 | 1851 Routes",
        options=("claims",),
    )


def test_claims_a_better_run_counts() -> None:
    body = (
        CLAIMED + "Ann: run 3 B16.0-B16.1\n!Cid: run 3 B16.0-B16.1 | 1851 Run Trains\n"
        "Cid: run 3 B16.0-B16.1-D14\n"
    )
    run_scenario(body + "= turn Ann\nAnn: pay\n= cash Ann 1536", options=("claims",))
    run_scenario(CLAIMED + "Ann: run 3 B16.0-B16.1\nBob: pass\nCid: run best\nAnn: pay\n= cash Ann 1536",
          options=("claims",))  # fmt: skip


def test_claims_nobody_is_asked_where_there_is_none() -> None:
    run_scenario(CLAIMED + "Ann: run best\nAnn: pay\n= cash Ann 1536", options=("claims",))


def test_claims_one_answer_leaves_the_others_question_as_it_is() -> None:
    state = run_scenario(CLAIMED + "Ann: run 3 B16.0-B16.1", options=("claims",))
    after = play(state, "p1", parse(state, "p1", "pass")).state
    assert decision(after).asked == ("p2",) and after.question_number == state.question_number
    better = play(state, "p1", parse(state, "p1", "run best")).state
    assert better.question_number > state.question_number


def test_no_city_nor_red_area_is_visited_twice() -> None:
    """Track leads from Knoxville in a circle back to it."""
    circle = "@ tile F20 5 2\n@ tile E19 7 4\n@ tile E21 7 0\n@ round operating SR\n"
    company = RICH + "@ owns Ann SR 6\n@ price SR 90 3\n@ cash SR 500\n@ trains SR 2\n"
    run_scenario(company + circle + "= best SR 0")
