"""1870 §7: tokens."""

from tests.t1870.scenarios import SITE, run_scenario

MP = """
@ owns Ann MP 6
@ price MP 100 0
@ cash MP 200
@ owns Bob GMO 6
@ price GMO 90 1
@ private MRBC closed
@ tile C18 57 0
@ tile B19 57 0
@ phase 2
@ depot 3
"""


def test_7_1_the_home_token_is_placed_first_and_free() -> None:
    run_scenario(
        "@ owns Ann MP 6\n@ price MP 100 0\n@ new MP\n@ cash MP 500\n"
        "@ round operating MP\n= token MP C18\n= cash MP 500"
    )


def test_7_1_the_southern_pacific_begins_in_a_red_area() -> None:
    body = "@ owns Ann SP 6\n@ price SP 100 0\n@ new SP\n@ cash SP 500\n@ round operating SP\n= token SP N1\n"
    run_scenario(body + "= markers SP 2")


def test_7_1_on_the_site_that_place_is_free_for_others_once_it_has_closed() -> None:
    """On the site it is a city where routes end; by the book a red area for one token only."""
    body = """
    @ owns Ann MKT 6
    @ price MKT 90 1
    @ cash MKT 100
    @ token MKT B11 N7
    @ tile N3 9 1
    @ tile N5 9 1
    @ tile N7 57 1
    @ phase 2
    @ depot 3
    {}
    @ round operating MKT
    Ann: pass
    """
    token = "\nAnn: token N1\n= token MKT N1"
    run_scenario(body.format("@ closed SP") + token, options=(SITE,))
    run_scenario(body.format("@ closed SP") + "\n!Ann: token N1 | 1870 §4.1")
    run_scenario(body.format("") + "\n!Ann: token N1 | 1870 §4.1", options=(SITE,))


def test_7_2_one_a_turn_and_7_5_what_each_costs() -> None:
    run_scenario(
        MP + "@ round operating MP\nAnn: token B19\n= cash MP 160\n"
        "= markers MP 1\n!Ann: token A22 | 1870 §4.1"
    )


def test_7_3_the_last_place_of_a_home_is_kept() -> None:
    body = MP.replace("tile B19 57 0", "tile B11 57 0") + "@ tile C16 9 1\n@ tile C14 9 1\n@ tile C12 8 2\n"
    state = run_scenario(body + "@ round operating MP\n!Ann: token B11 | 1870 §7.3\n= turn Ann MP")
    assert not any(owner == "MP" for _, owner in state.tokens.get("B11", ()))


def test_7_3_4_a_full_city_is_an_end_for_others() -> None:
    run_scenario(MP + "@ token GMO B19\n@ trains MP 3\n@ round operating MP\n= best MP 40")
