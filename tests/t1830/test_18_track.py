"""1830 §18: laying and replacing tiles."""

import pytest

from tests.t1830.scenarios import run_scenario


def running(company: str, more: str = "", cash: int = 1000, phase: str = "2") -> str:
    """Ann's company at the start of its turn, with its home token."""
    return f"""
    @ owns Ann {company} 6
    @ par {company} 100
    @ cash {company} {cash}
    @ phase {phase}
    {more}
    @ round operating {company}
    """


def test_18_one_tile_a_turn() -> None:
    run_scenario(running("PRR") + "Ann: lay 57 H10 1\n!Ann: lay 9 H14 1 | 1830 §17\n= tile H14 none")


def test_18_no_tile_on_grey_or_red() -> None:
    grey = "!Ann: lay 57 H12 1 | 1830 §18\n!Ann: lay 9 D14 1 | 1830 §18\n"
    run_scenario(
        running("PRR") + grey + "!Ann: lay 9 F2 0 | 1830 §18\n!Ann: lay 57 F2 0 | 1830 §18\n= tile H12 none"
    )


def test_18_yellow_hexes_wait_for_green_tiles() -> None:
    lay = "Ann: lay 53 I15 0\n"
    run_scenario(running("BO") + "!" + lay + "!Ann: lay 57 I15 1 | 1830 Table 6")
    run_scenario(running("BO", phase="3") + "!Ann: lay 57 I15 1 | 1830 Table 6\n" + lay)


def test_18_the_first_tiles_are_yellow() -> None:
    run_scenario(
        running("PRR", phase="3") + "!Ann: lay 14 H10 0 | 1830 Table 6\n"
        "!Ann: lay 23 H14 1 | 1830 Table 6\nAnn: lay 9 H14 1"
    )


def test_18_new_track_extends_a_route_from_a_token() -> None:
    run_scenario(
        running("PRR") + "!Ann: lay 57 H16 1 | 1830 §18\n!Ann: lay 57 H10 0 | 1830 §18\n"
        "!Ann: lay 57 H4 1 | 1830 §18\nAnn: lay 57 H10 1"
    )
    run_scenario(running("PRR", "@ tile H14 9 1") + "Ann: lay 57 H16 1")


def test_18_not_beyond_a_city_full_of_other_tokens() -> None:
    blocked = """
    @ owns Bob CO 6
    @ par CO 67
    @ token CO F6 H10
    @ tile H10 57 1
    """
    run_scenario(running("PRR", blocked) + "!Ann: lay 9 H8 1 | 1830 §18")
    run_scenario(running("PRR", "@ tile H10 57 1") + "Ann: lay 9 H8 1")


def test_18_of_two_pieces_of_track_one_has_to_connect() -> None:
    run_scenario(running("CO") + "Ann: lay 1 G7 1\n= tile G7 1 1")
    run_scenario(running("CO") + "!Ann: lay 56 G7 3 | 1830 §18")


def test_18_the_nyc_may_lay_57_on_its_base() -> None:
    run_scenario(running("NYC") + "Ann: lay 57 E19 1\n= token NYC E19\n= cash NYC 1000")


def test_18_the_erie_may_lay_59_on_its_base() -> None:
    run_scenario(running("Erie", "@ token Erie E11.0", phase="3") + "Ann: lay 59 E11 0\n= cash Erie 1000")
    run_scenario(
        running("Erie", "@ token Erie E11.0") + "!Ann: lay 59 E11 0 | 1830 §17\n!Ann: lay 57 E11 0 | 1830 §17"
    )


def test_18_owners_of_the_cs_and_the_dh_lay_there_without_connection() -> None:
    run_scenario(
        running("PRR", "@ private CS PRR", phase="3") + "!Ann: lay 58 B20 0 | 1830 §18\n"
        "Ann: lay 58 B20 0 using CS"
    )
    run_scenario(
        running("PRR", "@ private DH PRR", phase="3") + "!Ann: lay 57 F16 0 | 1830 §18\n"
        "Ann: lay 57 F16 0 using DH"
    )


def test_18_others_lay_there_by_the_normal_rules() -> None:
    run_scenario(running("CPR", "@ private CS CPR", phase="3") + "Ann: lay 58 B20 0\n= cash CPR 1000")


def test_18_no_track_off_the_grid() -> None:
    run_scenario(
        running("BO") + "!Ann: lay 7 I17 0 | 1830 §18\n!Ann: lay 8 I17 5 | 1830 §18\nAnn: lay 7 I17 1"
    )


def test_18_no_track_against_a_blank_side_of_a_grey_hexagon() -> None:
    run_scenario(running("PRR", "@ tile H14 7 1") + "!Ann: lay 7 G13 5 | 1830 §18\nAnn: lay 8 G13 5")


def test_18_no_track_against_a_blue_hexside() -> None:
    run_scenario(
        running("NYC", "@ token NYC D14") + "!Ann: lay 8 D12 2 | 1830 §18\n"
        "!Ann: lay 7 D12 3 | 1830 §18\nAnn: lay 9 D12 1"
    )


def test_18_track_of_a_grey_hexagon_may_be_used() -> None:
    run_scenario(running("NYC", "@ token NYC D14") + "Ann: lay 8 D16 1\n= tile D16 8 1")


@pytest.mark.parametrize(
    ("company", "more", "lay", "cost"),
    [
        ("BO", "", "8 I17 1", 80),
        ("PRR", "@ tile H14 7 1", "8 G13 5", 120),
        ("PRR", "", "9 H14 1", 0),
        ("NYC", "", "57 E19 1", 0),
    ],
)
def test_18_water_costs_80_and_mountains_120(company: str, more: str, lay: str, cost: int) -> None:
    run_scenario(running(company, more) + f"Ann: lay {lay}\n= cash {company} {1000 - cost}")
    if cost:
        run_scenario(running(company, more, cash=cost - 1) + f"!Ann: lay {lay}")


def test_18_the_erie_base_is_free_and_other_double_cities_on_water_are_not() -> None:
    run_scenario(running("Erie", "@ token Erie E11.0 D14", phase="3") + "Ann: lay 59 E11 0\n= cash Erie 1000")
    more = "@ token Erie E11.0 D14\n@ tile D12 9 1"
    run_scenario(running("Erie", more, phase="3") + "Ann: lay 59 D10 4\n= cash Erie 920")


def test_18_no_charge_for_a_replacement() -> None:
    run_scenario(
        running("PRR", "@ tile H14 7 1\n@ tile G13 8 5", phase="3")
        + "Ann: lay 23 G13 1\n= tile G13 23\n= cash PRR 1000"
    )


def test_18_no_tile_where_a_player_owns_the_private() -> None:
    run_scenario(
        running("PRR", "@ tile H14 8 1\n@ private SV Ann") + "!Ann: lay 7 G15 5 | 1830 §18\n"
        "!Ann: lay 8 G15 0 | 1830 §18"
    )
    run_scenario(
        running("BO", "@ private BO Ann", phase="3") + "!Ann: lay 53 I15 0 | 1830 §18\nAnn: lay 57 J14 0"
    )


@pytest.mark.parametrize("owner", ["PRR", "closed"])
def test_18_a_tile_where_a_company_owns_it_or_it_is_closed(owner: str) -> None:
    run_scenario(running("PRR", f"@ tile H14 8 1\n@ private SV {owner}", phase="3") + "Ann: lay 7 G15 5")


@pytest.mark.parametrize(
    ("company", "more", "refused", "legal"),
    [
        ("PRR", "", ("9 H10 1", "4 H10 1", "55 H10 1"), "57 H10 1"),
        ("PRR", "", ("57 H14 1", "4 H14 1", "58 H14 1"), "9 H14 1"),
        ("CO", "", ("57 G7 2", "4 G7 2", "9 G7 2"), "1 G7 1"),
        ("CPR", "", ("57 B20 2", "9 B20 2", "1 B20 1"), "4 B20 2"),
    ],
)
def test_18_tiles_show_what_the_map_shows(
    company: str, more: str, refused: tuple[str, ...], legal: str
) -> None:
    run_scenario(
        running(company, more) + "".join(f"!Ann: lay {lay}\n" for lay in refused) + f"Ann: lay {legal}"
    )


def test_18_1_green_tiles_replace_yellow_ones() -> None:
    run_scenario(running("PRR", "@ tile H10 57 1") + "!Ann: lay 14 H10 0 | 1830 §22")
    run_scenario(running("PRR", "@ tile H10 57 1", phase="3") + "Ann: lay 14 H10 0\n= tile H10 14 0")


def test_18_1_brown_tiles_replace_green_ones_only() -> None:
    run_scenario(running("PRR", "@ tile H10 14 0", phase="4") + "!Ann: lay 63 H10 0")
    run_scenario(running("PRR", "@ tile H10 14 0", phase="5") + "Ann: lay 63 H10 0")
    run_scenario(
        running("PRR", "@ tile H10 57 1", phase="5") + "!Ann: lay 63 H10 0\n!Ann: lay 57 H10 1 | 1830 Table 6"
    )


def test_18_1_existing_track_is_kept() -> None:
    run_scenario(
        running("PRR", "@ tile H10 57 1", phase="3") + "!Ann: lay 14 H10 2 | 1830 §18\n"
        "!Ann: lay 15 H10 2 | 1830 §18"
    )
    run_scenario(
        running("PRR", "@ tile H14 9 1", phase="3") + "!Ann: lay 20 H14 2 | 1830 §18\n"
        "!Ann: lay 23 H14 0 | 1830 §18"
    )


def test_18_1_only_by_the_list() -> None:
    run_scenario(
        running("PRR", "@ tile H14 9 1", phase="3")
        + "!Ann: lay 16 H14 1 | 1830 Table 6\n!Ann: lay 28 H14 1 | 1830 Table 6\nAnn: lay 23 H14 1"
    )


def test_18_1_towns_are_not_replaced() -> None:
    run_scenario(
        running("CO", "@ tile G7 1 1", phase="5") + "!Ann: lay 2 G7 1 | 1830 §18\n"
        "!Ann: lay 14 G7 1 | 1830 §18\n!Ann: lay 1 G7 1 | 1830 §18"
    )


def test_18_1_the_new_track_alone_may_be_part_of_an_open_route() -> None:
    cross = "@ tile H10 57 1\n@ tile H8 9 0"
    run_scenario(running("PRR", cross, phase="3") + "!Ann: lay 18 H8 0 | 1830 §18\nAnn: lay 20 H8 0")


def test_18_1_not_where_the_route_is_closed() -> None:
    other = """
    @ owns Bob CO 6
    @ par CO 67
    @ token CO F6 H10
    @ tile H10 57 1
    @ tile H8 9 1
    """
    run_scenario(
        running("PRR", other, phase="3") + "!Ann: lay 20 H8 1 | 1830 §18\n!Ann: lay 23 H8 1 | 1830 §18"
    )
    run_scenario(running("PRR", "@ tile H10 57 1\n@ tile H8 9 1", phase="3") + "Ann: lay 23 H8 1")


def test_18_1_the_way_into_a_full_city_is_open() -> None:
    """A rival's token stops what runs beyond, not what runs in."""
    other = "@ owns Bob CO 6\n@ par CO 67\n@ token CO F6 H10\n@ tile H10 57 1\n"
    run_scenario(running("PRR", other, phase="3") + "Ann: lay 14 H10 0\n= token CO H10")


def test_18_1_replaced_tiles_are_available_again() -> None:
    four = "@ tile H10 57 1\n@ tile H16 57 1\n@ tile B10 57 0\n@ tile B16 57 0\n@ tile G5 9 0\n"
    other = "@ owns Bob CO 6\n@ par CO 90\n@ trains PRR 3\n"
    run_scenario(
        running("PRR", four + other, phase="3") + "Ann: pass\n> until CO\n!Bob: lay 57 H4 0 | 1830 Table 7"
    )
    run_scenario(running("PRR", four + other, phase="3") + "Ann: lay 14 H10 0\n> until CO\nBob: lay 57 H4 0")


def test_18_1_a_replacement_takes_the_place_of_a_new_tile() -> None:
    run_scenario(
        running("PRR", "@ tile H10 57 1", phase="3") + "Ann: lay 14 H10 0\n!Ann: lay 9 H14 1 | 1830 §17"
    )


def test_18_1_no_tile_beyond_the_supply() -> None:
    run_scenario(running("CO", "@ tile G17 1 0") + "!Ann: lay 1 G7 1 | 1830 Table 7\nAnn: lay 2 G7 2")


def test_18_2_oo_tiles_lie_on_double_cities_only() -> None:
    run_scenario(
        running("PRR", "@ tile H10 57 1", phase="3") + "!Ann: lay 59 H10 1 | 1830 Table 6\n"
        "!Ann: lay 53 H10 1 | 1830 Table 6\n!Ann: lay 54 H10 1 | 1830 Table 6"
    )
    run_scenario(
        running("Erie", "@ token Erie E11.0", phase="3")
        + "!Ann: lay 57 E11 0 | 1830 Table 6\n!Ann: lay 14 E11 0 | 1830 Table 6\n"
        "!Ann: lay 53 E11 0 | 1830 Table 6\n!Ann: lay 54 E11 0 | 1830 Table 6\nAnn: lay 59 E11 0"
    )


def test_18_2_ny_and_b_tiles_lie_there_only() -> None:
    run_scenario(
        running("NYNH", phase="3") + "!Ann: lay 59 G19 0 | 1830 Table 6\n"
        "!Ann: lay 53 G19 0 | 1830 Table 6\n!Ann: lay 14 G19 0 | 1830 Table 6\n"
    )
    run_scenario(
        running("BM", phase="3") + "!Ann: lay 14 E23 0 | 1830 Table 6\n"
        "!Ann: lay 54 E23 0 | 1830 Table 6\nAnn: lay 53 E23 1"
    )


def test_18_2_their_track_is_kept() -> None:
    run_scenario(
        running("BO", phase="3") + "!Ann: lay 53 I15 1 | 1830 §18\n"
        "!Ann: lay 53 I15 3 | 1830 §18\nAnn: lay 53 I15 2"
    )
    run_scenario(
        running("NYNH", phase="3")
        + "!Ann: lay 54 G19 3 | 1830 §18\nAnn: lay 54 G19 0\n= cash NYNH 920\n= token NYNH G19.1"
    )


def test_18_2_brown_tiles_replace_them() -> None:
    run_scenario(
        running("BO", "@ tile I15 53 0", phase="5")
        + "!Ann: lay 62 I15 0 | 1830 Table 6\n!Ann: lay 63 I15 0 | 1830 Table 6\nAnn: lay 61 I15 0"
    )
    run_scenario(
        running("NYNH", "@ tile G19 54 0", phase="5") + "!Ann: lay 61 G19 0 | 1830 Table 6\nAnn: lay 62 G19 0"
    )
    run_scenario(
        running("Erie", "@ token Erie E11.0\n@ tile E11 59 0", phase="5")
        + "!Ann: lay 63 E11 0 | 1830 Table 6\nAnn: lay 65 E11 0\n= token Erie E11.0"
    )


def test_18_3_laying_is_optional() -> None:
    run_scenario(running("NYC") + "> until stock\n= tile E19 none\n= token NYC E19")
    run_scenario(
        running("Erie", "@ token Erie E11.0", phase="3") + "Ann: pass\n> until operating\n= tile E11 none"
    )
