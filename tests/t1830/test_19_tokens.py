"""1830 §19: tokens, and the base of the Erie."""

from tests.t1830.scenarios import Options, both_conventions, run_scenario, scenario_error
from tests.t1830.test_18_track import running

FRESH = """
@ cash Ann 500
@ owns Ann {0} 6
@ par {0} 100
@ cash {0} 1000
@ new {0}
"""


def test_19_a_token_is_placed_free_on_the_base_at_the_first_turn() -> None:
    run_scenario(
        FRESH.format("PRR")
        + """
        @ round stock Ann
        = token PRR none
        = markers PRR 4
        > until operating
        = token PRR H12
        = markers PRR 3
        = cash PRR 1000
        """
    )


@both_conventions
def test_19_forty_for_the_first_and_a_hundred_for_any_other(options: Options) -> None:
    track = "@ tile H10 57 1\n@ tile H16 57 1\n@ tile H14 9 1\n@ tile H18 59 1\n"
    run_scenario(
        running("PRR", track, phase="3")
        + """
        Ann: token H10
        = cash PRR 960
        = markers PRR 2
        """,
        options=options,
    )
    run_scenario(
        running("PRR", track + "@ token PRR H10", phase="3")
        + "Ann: token H16\n= cash PRR 900\n= markers PRR 1",
        options=options,
    )


def test_19_the_money_must_be_there() -> None:
    track = "@ tile H10 57 1\n@ tile H16 57 1\n@ tile H14 9 1\n"
    run_scenario(running("PRR", track, cash=39) + "!Ann: token H10 | 1830 §19")
    run_scenario(running("PRR", track, cash=40) + "Ann: token H10\n= cash PRR 0")
    run_scenario(running("PRR", track + "@ token PRR H10", cash=99) + "!Ann: token H16 | 1830 §19")


def test_19_only_where_a_route_leads() -> None:
    run_scenario(
        running("PRR", "@ tile H10 57 1\n@ tile H16 57 1") + "!Ann: token H16 | 1830 §19\nAnn: token H10"
    )


def test_19_only_in_large_cities() -> None:
    run_scenario(
        running("CO", "@ tile G7 1 1\n@ tile G5 9 0\n@ tile H4 57 0")
        + "!Ann: token G7 | 1830 §19\nAnn: token H4"
    )
    run_scenario(running("CO", "@ tile G5 8 1\n@ tile F4 57 2\n@ tile G3 9 2") + "!Ann: token F2 | 1830 §19")


def test_19_only_in_a_vacant_space() -> None:
    other = "@ tile H10 57 1\n@ owns Bob CO 6\n@ par CO 67\n@ token CO F6 H10"
    assert "vacant" in scenario_error(running("PRR", other) + "Ann: token H10")


def test_19_a_city_is_open_until_both_spaces_are_taken() -> None:
    one = "@ tile H10 14 0\n@ owns Bob CO 6\n@ par CO 67\n@ token CO F6 H10\n@ tile H8 9 1\n@ tile H6 9 1\n"
    run_scenario(
        running("PRR", one, phase="3") + "Ann: lay 57 H4 1\nAnn: token H10\n= token PRR H10\n= token CO H10"
    )
    two = one + "@ owns Bob NYC 6\n@ par NYC 67\n@ token NYC E19 H10\n"
    run_scenario(running("PRR", two, phase="3") + "!Ann: token H10 | 1830 §19\n!Ann: lay 57 H4 1 | 1830 §18")


def test_19_the_base_of_a_company_that_has_not_operated_is_kept() -> None:
    near = "@ tile H14 9 1\n@ tile H16 57 1\n@ token CO F6 H16\n"
    assert "reserved for the home of the PRR" in scenario_error(running("CO", near) + "Ann: token H12")
    started = "@ owns Bob PRR 6\n@ par PRR 67\n@ new PRR\n"
    body = running("CO", near + started)
    assert "reserved for the home of the PRR" in scenario_error(body + "Ann: token H12")


def test_19_a_second_space_beside_a_base_may_be_taken() -> None:
    near = "@ tile D16 9 1\n@ tile D18 8 5\n@ tile E19 14 1\n@ token CO F6 D14\n"
    run_scenario(running("CO", near, phase="3") + "Ann: token E19\n= token CO E19")
    other = near + "@ owns Bob BM 6\n@ par BM 67\n@ token BM E23 E19\n"
    assert "reserved for the home of the NYC" in scenario_error(
        running("CO", other, phase="3") + "Ann: token E19"
    )


def test_19_only_the_city_of_the_base_is_kept() -> None:
    """The NYNH waits for the northern city of New York; the southern one is free."""
    near = "@ tile G19 54 0\n@ tile G17 1 0\n@ tile H16 57 0\n@ token PRR H16\n"
    run_scenario(running("PRR", near, phase="3") + "Ann: token G19.0\n= token PRR G19.0")
    north = "@ tile G19 54 0\n@ tile F18 7 5\n@ tile G17 2 3\n@ tile H16 57 0\n@ token PRR H16\n"
    assert "reserved for the home of the NYNH" in scenario_error(
        running("PRR", north, phase="3") + "Ann: token G19.1"
    )


def test_19_one_token_a_turn() -> None:
    track = "@ tile H10 57 1\n@ tile H16 57 1\n@ tile H14 9 1\n"
    run_scenario(running("PRR", track) + "Ann: token H10\n!Ann: token H16 | 1830 §17")


def test_19_the_token_on_the_base_does_not_count_as_the_turns_token() -> None:
    run_scenario(
        FRESH.format("PRR") + "@ tile H10 57 1\n@ round operating PRR\nAnn: token H10\n= markers PRR 2"
    )


def test_19_never_two_of_one_company_in_a_hex() -> None:
    run_scenario(running("PRR", "@ tile H10 14 0\n@ token PRR H10", phase="3") + "!Ann: token H10 | 1830 §19")
    for token in ("G19.0", "G19.1"):
        assert "may have only one there" in scenario_error(
            running("NYNH", "@ tile G19 54 0", phase="3") + f"Ann: token {token}"
        )


def test_19_no_more_than_there_are() -> None:
    track = "@ tile H10 57 1\n@ tile H16 57 1\n@ tile H14 9 1\n@ markers PRR 0\n"
    run_scenario(running("PRR", track) + "!Ann: token H10 | 1830 §19")


def test_19_not_past_a_city_full_of_other_tokens() -> None:
    blocked = (
        "@ owns Bob CO 6\n@ par CO 67\n@ token CO F6 H10\n@ tile H10 57 1\n@ tile H8 9 1\n@ tile H6 9 1\n"
    )
    assert "No route" in scenario_error(running("PRR", blocked + "@ tile H4 57 1\n") + "Ann: token H4")
    free = blocked.replace("F6 H10", "F6")
    run_scenario(running("PRR", free + "@ tile H4 57 1\n") + "Ann: token H4")


def test_19_rivals_run_into_a_full_city_but_not_beyond() -> None:
    track = "@ tile H10 57 1\n@ tile H8 9 1\n@ tile H6 9 1\n@ tile H4 57 1\n@ trains PRR 3\n"
    other = "@ owns Bob CO 6\n@ par CO 67\n@ token CO F6 H10\n"
    run_scenario(running("PRR", track, phase="3") + "= best PRR 50")
    run_scenario(
        running("PRR", track + other, phase="3") + "= best PRR 30\n!Ann: run 3 H12-H10-H4 | 1830 §20.1\n"
        "Ann: run 3 H12-H10"
    )


def test_19_1_the_erie_chooses_its_city() -> None:
    for node in (0, 1):
        run_scenario(
            FRESH.format("Erie")
            + f"""
            @ round operating Erie
            = turn Ann Erie
            !Ann: pass | 1830 §19.1
            !Ann: lay 59 E11 0 | 1830 §19.1
            !Bob: home Erie E11.{node}
            !Ann: home Erie D10.0 | 1830 §19.1
            Ann: home Erie E11.{node}
            = token Erie E11.{node}
            = markers Erie 2
            = cash Erie 1000
            """
        )


def test_19_1_the_erie_need_not_lay_a_tile_there() -> None:
    chosen = FRESH.format("Erie") + "@ phase 3\n@ round operating Erie\nAnn: home Erie E11.0\n"
    run_scenario(chosen + "Ann: pass\n= tile E11 none\n= token Erie E11.0")


def test_19_1_the_token_goes_with_its_city_when_a_tile_is_laid() -> None:
    chosen = FRESH.format("Erie") + "@ phase 3\n@ round operating Erie\nAnn: home Erie E11.1\n"
    run_scenario(chosen + "Ann: lay 59 E11 0\n= token Erie E11.1\n!Ann: home Erie E11.0 | 1830 §17")


def test_19_1_no_other_token_until_the_erie_has_its_base() -> None:
    near = "@ tile E11 59 3\n@ tile D12 8 4\n@ token CO F6 D14\n"
    assert "reserved for the home of the Erie" in scenario_error(
        running("CO", near, phase="3") + "Ann: token E11.0"
    )
    erie = "@ owns Bob Erie 6\n@ par Erie 67\n@ token Erie E11.1\n"
    run_scenario(running("CO", near + erie, phase="3") + "Ann: token E11.0\n= token CO E11.0")


def test_19_1_the_erie_chooses_a_city_of_the_tile_on_its_hex() -> None:
    laid = FRESH.format("Erie") + "@ phase 3\n@ tile E11 59 3\n@ round operating Erie\n= turn Ann Erie\n"
    run_scenario(laid + "!Ann: pass | 1830 §19.1\nAnn: home Erie E11.1\n= token Erie E11.1")


def test_19_tokens_stay_in_their_cities_when_the_tile_is_replaced() -> None:
    rival = "@ tile G19 54 0\n@ owns Bob CO 6\n@ par CO 67\n@ token CO F6 G19.0"
    laid = running("NYNH", rival, phase="5") + "= token NYNH G19.1\nAnn: lay 62 G19 0\n"
    run_scenario(laid + "= token NYNH G19.1\n= token CO G19.0")


def test_19_a_token_in_the_city_whose_tile_was_just_laid() -> None:
    rival = "@ owns Bob CO 6\n@ par CO 67\n@ token CO F6 H10\n@ tile H10 57 1"
    run_scenario(
        running("PRR", rival, phase="3") + "!Ann: token H10 | 1830 §19\nAnn: lay 14 H10 0\nAnn: token H10"
    )
