"""1830 Tables 1 to 7."""

from collections.abc import Iterable
from itertools import chain, product

import pytest

from engine import try_line
from engine.core.components import components_of
from tests.t1830.scenarios import BOUGHT, TITLE, Options, both_conventions, run_scenario, scenario_error
from tests.t1830.test_18_track import running


@pytest.mark.parametrize(
    ("private", "price", "revenue"),
    [("SV", 20, 5), ("CS", 40, 10), ("DH", 70, 15), ("MH", 110, 20), ("CA", 160, 25), ("BO", 220, 30)],
)
def test_table_1_price_and_revenue(private: str, price: int, revenue: int) -> None:
    owned = f"@ private {private} Ann\n@ round stock Ann\n= score Ann {price}\n"
    run_scenario(owned + f"> until operating\n= cash Ann {revenue}")


CS = "@ private CS PRR"


@both_conventions
def test_table_1_1_the_cs_lays_a_tile_on_top_of_the_normal_one(options: Options) -> None:
    company = running("PRR", CS, phase="3")
    run_scenario(
        company + "Ann: lay 57 H10 1\nAnn: lay 58 B20 0 using CS\n= tile B20 58 0\n"
        "= tile H10 57 1\n= cash PRR 1000",
        options=options,
    )
    ran = running("PRR", CS + "\n@ tile H10 57 1\n@ trains PRR 3", phase="3") + "Ann: run best\nAnn: pay\n"
    run_scenario(ran + "Ann: lay 58 B20 0 using CS", options=options)
    run_scenario(
        company + "Ann: lay 3 B20 1 using CS\nAnn: lay 57 H10 1\n!Ann: lay 9 H14 1 | 1830 §17",
        options=options,
    )


@both_conventions
def test_table_1_1_only_on_its_hex_once_and_by_its_owner(options: Options) -> None:
    company = running("PRR", CS, phase="3")
    run_scenario(
        company + "!Ann: lay 58 F10 0 using CS | 1830 Table 1\n"
        "!Ann: lay 57 B20 0 using CS | 1830 Table 1\n!Ann: lay 9 B18 0 using CS | 1830 Table 1",
        options=options,
    )
    run_scenario(
        company + "Ann: lay 58 B20 0 using CS\n!Ann: lay 58 B20 1 using CS | 1830 Table 1\n= private CS PRR",
        options=options,
    )
    run_scenario(
        running("PRR", "@ private CS Ann", phase="3") + "!Ann: lay 58 B20 0 using CS | 1830 Table 1",
        options=options,
    )
    run_scenario(
        running("PRR", "@ private CS CO\n@ owns Ann CO 6\n@ par CO 67", phase="3")
        + "!Ann: lay 58 B20 0 using CS | 1830 Table 1",
        options=options,
    )


def test_table_1_1_for_one_turn_only_two_tiles() -> None:
    company = running("PRR", CS + "\n@ trains PRR 3", phase="3")
    run_scenario(
        company + "Ann: lay 58 B20 0 using CS\nAnn: lay 57 H10 1\n> until operating\n"
        "Ann: lay 9 H14 1\n!Ann: lay 9 H8 1 | 1830 §17"
    )


def test_table_1_1_a_company_may_use_it_in_the_turn_in_which_it_buys_it() -> None:
    company = running("PRR", "@ private CS Ann", phase="3")
    run_scenario(
        company + "Ann: lay 57 H10 1\nAnn: buy private CS for 40\nAnn: lay 58 B20 0 using CS\n= cash PRR 960"
    )


DH = "@ private DH PRR"


def test_table_1_2_the_dh_lays_a_station_and_a_free_token() -> None:
    run_scenario(
        running("PRR", DH, phase="3")
        + """
        Ann: lay 57 F16 0 using DH
        = cash PRR 880
        = turn Ann PRR
        Ann: token F16
        = token PRR F16
        = markers PRR 2
        = cash PRR 880
        !Ann: lay 57 H10 1 | 1830 §17
        = private DH PRR
        """
    )


def test_table_1_2_the_tile_is_the_turns_one_tile() -> None:
    run_scenario(
        running("PRR", DH, phase="3") + "Ann: lay 57 H10 1\n!Ann: lay 57 F16 0 using DH | 1830 Table 1.2"
    )


def test_table_1_2_the_mountain_has_to_be_paid() -> None:
    run_scenario(running("PRR", DH, cash=119, phase="3") + "!Ann: lay 57 F16 0 using DH | 1830 §18")


def test_table_1_2_the_token_is_not_required() -> None:
    run_scenario(
        running("PRR", DH, phase="3") + "Ann: lay 57 F16 0 using DH\nAnn: pass\n= token PRR H12\n"
        "= markers PRR 3"
    )


def test_table_1_2_without_a_token_left_none_is_asked_for() -> None:
    run_scenario(
        running("PRR", DH + "\n@ markers PRR 0", phase="3") + "Ann: lay 57 F16 0 using DH\n"
        "!Ann: token F16 | 1830 §17"
    )


NEAR = "@ trains PRR 3\n@ tile H14 8 1\n@ tile G15 9 0\n"
"""Track from Altoona to the hexagon of the Delaware & Hudson, F16."""


def test_table_1_2_in_a_later_turn_it_must_connect_and_be_paid_for() -> None:
    first = "Ann: lay 57 F16 0 using DH\nAnn: pass\n> until operating\n"
    later = running("PRR", DH + "\n@ trains PRR 3", phase="3") + first
    assert "No route" in scenario_error(later + "Ann: token F16")
    assert "allows no token" in scenario_error(later + "Ann: token F16 using DH")
    joined = running("PRR", DH + "\n" + NEAR, phase="3") + first
    run_scenario(joined + "= cash PRR 925\nAnn: token F16\n= cash PRR 885\n= token PRR F16")


def test_table_1_2_others_lay_there_by_the_ordinary_rules() -> None:
    other = "@ owns Bob CO 6\n@ par CO 67\n"
    for owner in ("CO", "closed"):
        position = running("PRR", f"{NEAR}{other}@ private DH {owner}", phase="3")
        run_scenario(
            position + "!Ann: lay 57 F16 0 using DH | 1830 Table 1\nAnn: lay 57 F16 0\n= cash PRR 880\n"
            "Ann: token F16\n= cash PRR 840"
        )
    assert "blocked while a player owns" in scenario_error(
        running("PRR", f"{NEAR}@ private DH Bob", phase="3") + "Ann: lay 57 F16 0"
    )


MH = """
@ cash Ann 1000
@ private MH Ann
@ owns Ann NYC {ann}
@ owns Bob NYC 3
@ president NYC Bob
@ par NYC 67
"""


def test_table_1_3_the_mh_is_exchanged_for_a_share_of_the_nyc() -> None:
    run_scenario(
        MH.format(ann=1) + "@ round stock Ann\nAnn: exchange MH from ipo\n= owns Ann NYC 2\n"
        "= private MH closed\n= cash Ann 1000"
    )
    run_scenario(
        MH.format(ann=1) + "@ owns pool NYC 1\n@ round stock Ann\nAnn: exchange MH from pool\n"
        "= owns pool NYC 0"
    )


def test_table_1_3_not_above_60_percent() -> None:
    run_scenario(
        MH.format(ann=6).replace("@ president NYC Bob\n", "") + "@ round stock Ann\n"
        "!Ann: exchange MH from ipo | 1830 Table 1.3"
    )
    run_scenario(
        MH.format(ann=5).replace("@ president NYC Bob\n", "") + "@ round stock Ann\nAnn: exchange MH from ipo"
    )


def test_table_1_3_only_where_there_is_stock() -> None:
    run_scenario(
        MH.format(ann=1) + "@ owns Cid NYC 3\n@ owns pool NYC 3\n@ round stock Ann\n"
        "!Ann: exchange MH from ipo | 1830 Table 1.3"
    )
    run_scenario(MH.format(ann=1) + "@ round stock Ann\n!Ann: exchange MH from pool | 1830 Table 1.3")


def test_table_1_3_it_is_no_purchase_of_the_turn() -> None:
    run_scenario(
        MH.format(ann=1) + "@ round stock Ann\nAnn: exchange MH from ipo\nAnn: buy NYC from ipo\n"
        "= owns Ann NYC 3"
    )


def test_table_1_3_it_may_change_the_president() -> None:
    run_scenario(MH.format(ann=3) + "@ round stock Cid\nAnn: exchange MH from ipo\n= president NYC Ann")


def test_table_1_3_also_in_the_turn_of_the_nyc_whose_president_it_changes() -> None:
    operating = (
        MH.replace("Ann", "Cid").replace("Bob", "Ann").format(ann=3) + "@ owns Bob NYC 1\n@ cash NYC 500\n"
    )
    run_scenario(
        operating
        + """
        @ trains NYC 2
        @ round operating NYC
        = turn Ann NYC
        Cid: exchange MH from ipo
        = turn Cid NYC
        !Ann: lay 57 E19 1 | 1830 §17
        Cid: lay 57 E19 1
        """
    )


def test_table_1_3_only_by_its_owner() -> None:
    run_scenario(
        MH.format(ann=1) + "@ round stock Bob\n!Bob: exchange MH from ipo | 1830 Table 1.3\n"
        "!Cid: exchange MH from ipo | 1830 Table 1.3"
    )
    owned = MH.format(ann=1).replace("MH Ann", "MH PRR") + "@ owns Ann PRR 6\n@ par PRR 100\n@ phase 3\n"
    run_scenario(owned + "@ round stock Ann\n!Ann: exchange MH from ipo | 1830 Table 1.3")


def test_table_1_3_not_before_the_nyc_has_a_price() -> None:
    run_scenario(
        "@ private MH Ann\n@ round stock Bob\n!Ann: exchange MH from ipo | 1830 Table 1.3\n= owns ipo NYC 10"
    )


@both_conventions
def test_table_1_4_the_ca_comes_with_a_share_of_the_prr(options: tuple[str, ...]) -> None:
    run_scenario(
        BOUGHT + "= owns Bob PRR 1\n= private CA Bob\n= owns ipo PRR 9\n= cash Bob 600", options=options
    )


def test_table_1_4_for_its_first_buyer_only() -> None:
    run_scenario(
        "@ cash Ann 500\n@ private CA Bob\n@ owns Bob PRR 1\n@ round stock Ann\n"
        "Ann: buy private CA from Bob for 100\nBob: accept\n= private CA Ann\n= owns Bob PRR 1\n"
        "= owns Ann PRR 0"
    )


def test_table_1_5_the_bo_comes_with_the_presidents_certificate() -> None:
    run_scenario(
        BOUGHT + "!Ann: pass | 1830 §8.1\n!Cid: par PRR 100 | 1830 §8.1\n!Cid: pass | 1830 §8.1\n"
        "Cid: par BO 82\n= owns Cid BO 2\n= president BO Cid\n= cash Cid 510\n= par BO 82"
    )


def test_table_1_5_no_company_may_buy_it() -> None:
    run_scenario(
        running("PRR", "@ private BO Ann", phase="3") + "!Ann: buy private BO for 220 | 1830 Table 1.5\n"
        "!Ann: buy private BO for 110 | 1830 Table 1.5"
    )


def test_table_1_5_it_stays_with_its_owner_when_the_presidency_passes() -> None:
    run_scenario(
        "@ cash Bob 500\n@ private BO Ann\n@ owns Ann BO 3\n@ owns Bob BO 3\n@ president BO Ann\n"
        "@ par BO 67\n"
        "@ round stock Bob\nBob: buy BO from ipo\n= president BO Bob\n= private BO Ann"
    )


def test_table_2_bases() -> None:
    bases = {"PRR": "H12", "NYC": "E19", "CPR": "A19", "BO": "I15", "CO": "F6", "NYNH": "G19", "BM": "E23"}
    for company, base in bases.items():
        run_scenario(
            f"@ owns Ann {company} 6\n@ par {company} 67\n@ new {company}\n"
            f"@ round operating {company}\n= token {company} {base}"
        )


UPGRADES = {
    "1": "", "2": "", "55": "", "56": "", "69": "", "3": "", "4": "", "58": "",
    "7": "18 26 27 28 29", "8": "16 19 23 24 25 28 29", "9": "18 19 20 23 24 26 27", "57": "14 15",
    "14": "63", "15": "63", "16": "43 70", "18": "43", "19": "45 46", "20": "44 47", "23": "41 43 45 47",
    "24": "42 43 46 47", "25": "40 45 46", "26": "42 44 45", "27": "41 44 46", "28": "39 43 46 70",
    "29": "39 43 45 70", "53": "61", "54": "62", "59": "64 65 66 67 68",
}  # fmt: skip
"""Table 6, with 46 for the 45 that it prints beside 28: 45 cannot keep the track of 28."""

SUPPLY = {
    "1": 1, "2": 1, "55": 1, "56": 1, "69": 1, "3": 2, "4": 2, "58": 2, "7": 4, "8": 8, "9": 7, "57": 4,
    "14": 3, "15": 2, "16": 1, "18": 1, "19": 1, "20": 1, "23": 3, "24": 3, "25": 1, "26": 1, "27": 1,
    "28": 1, "29": 1, "53": 2, "54": 1, "59": 2, "39": 1, "40": 1, "41": 2, "42": 2, "43": 2, "44": 1,
    "45": 2, "46": 2, "47": 1,
    "61": 2, "62": 1, "63": 3, "64": 1, "65": 1, "66": 1, "67": 1, "68": 1, "70": 1,
}  # fmt: skip

GREEN = sorted(set(chain.from_iterable(UPGRADES[old].split() for old in ("7", "8", "9"))))


def test_table_6_is_all_there_is() -> None:
    facts = components_of(TITLE)
    assert facts.upgrades == {t: tuple(UPGRADES.get(t, "").split()) for t in facts.tiles}


BROWN = ("39", "40", "41", "42", "43", "44", "45", "46", "47", "63", "70")


def replacements(old: str, tiles: Iterable[str], phase: str) -> list[str]:
    """Those of the tiles that the PRR can lay, in any rotation, over that one on H14 beside its base."""
    states = [
        run_scenario(running("PRR", f"@ tile H14 {old} {turn}", phase=phase) + "= turn Ann PRR")
        for turn in range(6)
    ]
    lays = list(product(states, range(6)))
    return [new for new in tiles if any(try_line(state, "p0", f"lay {new} H14 {r}") for state, r in lays)]


@pytest.mark.parametrize("old", ["7", "8", "9"])
def test_table_6_yellow_track(old: str) -> None:
    assert replacements(old, GREEN, "3") == UPGRADES[old].split()
    assert replacements(old, ["39"], "5") == []


@pytest.mark.parametrize("old", GREEN)
def test_table_6_green_track(old: str) -> None:
    assert replacements(old, BROWN, "5") == UPGRADES[old].split()


def test_table_7_the_supply_of_each_tile() -> None:
    assert dict(components_of(TITLE).tiles) == SUPPLY
    assert sum(SUPPLY.values()) == 34 + 25 + 26


def test_table_1_1_the_turn_waits_while_the_tile_of_the_cs_can_be_laid() -> None:
    """Nothing else is left to do: no train, no money."""
    poor = running("PRR", "@ private CS PRR", phase="3", cash=0)
    run_scenario(
        poor + "Ann: lay 57 H10 1\n= turn Ann PRR\nAnn: lay 58 B20 0 using CS\n"
        "!Ann: lay 58 B20 0 using CS | 1830 Table 1"
    )
    tiled = running("PRR", "@ private CS PRR\n@ tile B20 58 0", phase="3", cash=0)
    run_scenario(tiled + "Ann: lay 57 H10 1\n!Ann: done | 1830 §20.2")


def test_table_1_2_a_line_of_a_later_step_declines_the_free_token() -> None:
    line = "@ private DH PRR\n@ trains PRR 3\n@ tile H10 57 1"
    laid = running("PRR", line, phase="3") + "Ann: lay 57 F16 0 using DH\n"
    run_scenario(
        laid + "!Ann: buy train 3 | 1830 §20.3\n!Ann: pay | 1830 §20.3\n"
        "Ann: run best\n= markers PRR 3\n!Ann: token F16 | 1830 §17"
    )
    run_scenario(
        laid + "!Ann: lay 9 H8 1 | 1830 Table 1.2\n"
        "!Ann: token H10 | 1830 Table 1.2\nAnn: token F16\n= markers PRR 2"
    )


def test_table_1_3_not_by_a_holder_of_60_percent_in_any_zone() -> None:
    held = MH.format(ann=6).replace("@ president NYC Bob\n", "") + "@ round stock Ann\n"
    brown = held.replace("@ round", "@ price NYC 10 10\n@ round")
    run_scenario(brown + "!Ann: exchange MH from ipo | 1830 Table 1.3")
    run_scenario(brown + "Ann: exchange MH from ipo\n= owns Ann NYC 7", options=("conventions 18xx.games",))
