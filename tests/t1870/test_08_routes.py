"""1870 §8: routes and what they earn."""

from tests.t1870.scenarios import SITE, run_scenario

MP = """
@ owns Ann MP 6
@ price MP 100 0
@ private MRBC closed
@ tile C18 57 0
@ tile B19 57 0
@ phase 2
@ depot 3
@ round operating MP
"""
"""St. Louis and Springfield (Ill.) joined: $40."""


def test_8_1_1_two_stops_and_a_token() -> None:
    run_scenario(MP + "@ trains MP 2\n= best MP 40\n!Ann: run 2 B19-C18-B19 | 1870 §8.1\nAnn: run 2 B19-C18")


def test_8_1_4_no_track_twice_even_by_two_trains() -> None:
    run_scenario(MP + "@ trains MP 2 2\n= best MP 40\n!Ann: run 2 B19-C18, 2 B19-C18 | 1870 §8.1")


def test_8_2_as_many_stops_as_the_train_is_long() -> None:
    run_scenario(MP + "@ trains MP 2\n!Ann: run 3 B19-C18 | 1870 §8.1\nAnn: run best")


def test_8_3_the_highest_value_has_to_be_run() -> None:
    two = MP + "@ tile B19 14 0\n@ tile B21 9 0\n@ trains MP 2\n"
    run_scenario(two.replace("@ tile B19 57 0\n", "") + "= best MP 50")


def test_8_3_on_the_site_any_run_is_accepted() -> None:
    run_scenario(MP + "@ trains MP 2\nAnn: run 2 B19-C18 claiming 70\nAnn: pay", options=(SITE,))


def test_8_3_1_tokens_of_privates_add_to_a_city() -> None:
    body = MP.replace("MP", "SSW").replace("C18", "H17")
    port = body.replace("@ tile B19 57 0\n", "@ tile H15 9 1\n@ tile H13 57 1\n").replace(
        "H17 57 0", "H17 57 1"
    )
    run_scenario(port + "@ trains SSW 2\n= best SSW 40")
    run_scenario(port + "@ trains SSW 2\n@ port open H17 SSW\n= best SSW 60")
    other = "@ owns Bob GMO 6\n@ price GMO 90 1\n"
    run_scenario(port + other + "@ trains SSW 2\n@ port open H17 GMO\n= best SSW 50")
    run_scenario(port + other + "@ trains SSW 2\n@ port closed H17 GMO\n= best SSW 40")
    run_scenario(port + "@ trains SSW 2\n@ cattle H13 SSW\n= best SSW 50")


def test_8_3_1_edge_areas_by_phase() -> None:
    body = "@ owns Ann SP 6\n@ price SP 100 0\n@ tile N3 9 1\n@ tile N5 9 1\n@ tile N7 57 1\n@ trains SP {}\n"
    end = "@ depot {}\n@ phase {}\n@ round operating SP\n= best SP {}"
    for train, depot, phase, dollars in (("2", 3, 2, 40), ("5", 5, 4, 60), ("6", 6, 5, 60), ("8", 8, 6, 70)):
        run_scenario(body.format(train) + end.format(depot, phase, dollars))


def test_8_1_no_city_twice_but_two_towns_of_one_tile() -> None:
    atsf = "@ owns Ann ATSF 6\n@ price ATSF 100 0\n@ trains ATSF 2\n@ private MRBC closed\n"
    circle = "@ tile B9 5 5\n@ tile C10 7 1\n@ tile C8 7 3\n@ phase 2\n@ round operating ATSF\n"
    run_scenario(atsf + circle + "= best ATSF 0\n!Ann: run 2 B9-C10-C8-B9 | 1870 §8.1")
    towns = "@ tile B19 57 1\n@ tile B17 8 2\n@ tile A16 56 4\n@ tile A14 7 4\n@ tile B15 7 2\n"
    mp = "@ owns Ann MP 6\n@ price MP 100 0\n@ trains MP 3\n@ token MP C18 B19\n@ private MRBC closed\n"
    run_scenario(
        mp + towns + "@ phase 2\n@ round operating MP\n= best MP 40\n"
        "!Ann: run 3 B19-A16.1-B19 | 1870 §8.1\nAnn: run 3 B19-A16.1-A16.0"
    )


def test_8_1_no_way_back_at_a_junction() -> None:
    """The two legs of #23 meet at the edge to D11; #7 joins the cities directly."""
    cities = "@ tile B9 57 2\n@ tile B11 57 0\n@ phase 2\n"
    atsf = "@ owns Ann ATSF 6\n@ price ATSF 100 0\n@ trains ATSF 2\n@ private MRBC closed\n" + cities
    turn = "@ round operating ATSF\n"
    run_scenario(atsf + "@ tile C10 23 5\n" + turn + "= best ATSF 0\n!Ann: run 2 B9-C10-B11 | 1870 §8.1")
    run_scenario(atsf + "@ tile C10 7 2\n" + turn + "= best ATSF 40\nAnn: run 2 B9-C10-B11")
