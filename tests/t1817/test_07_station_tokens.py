"""Station tokens that come with a company (1817 §7.3)."""

from __future__ import annotations

from tests.t1817.scenarios import MONEY, company_lines, run_scenario, scenario_error

PHASE_7 = MONEY.replace("phase 3", "phase 7").replace("trains bank 3 3 3", "trains bank 7 7 7")
MERGE = "@ round merger WT\nAnn: act\nBob: pass\nAnn: merge SR\nBob: accept\n"


def two(mine: str, theirs: str, *more: str, cash: int = 0, charter: tuple[int, int] = (0, 0)) -> str:
    """The WT and the SR, with five shares each and tokens in these hexes, merge."""
    return (
        PHASE_7
        + "".join(f"@ {line}\n" for line in more)
        + company_lines("WT", 5, 100, "Ann 2", token=mine, markers=charter[0], cash=cash)
        + company_lines("SR", 5, 100, "Bob 2", token=theirs, markers=charter[1])
        + MERGE
    )


NORTH = "B5 B17 C14 C22"
SOUTH = "F3 G6 H3 H9"
WIDE = ("tile G6 14 0", "tile H3 14 0", "tile H9 14 0", "tile C14 14 2")
"""Green cities with a second place."""


def test_7_3_up_to_eight_all_are_replaced_by_the_survivors() -> None:
    body = two(NORTH, "F3 G6", charter=(1, 1))
    run_scenario(f"{body}= token WT {NORTH} F3 G6\n= markers WT 2\n= token SR none\n= markers SR 0")
    run_scenario(
        f"{two(NORTH, SOUTH)}= token WT {NORTH} {SOUTH}\n"
        "= markers WT 0\n= turn Ann WT\n!Ann: remove G6 | 1817 §7.1.4"
    )


def test_7_3_they_keep_their_places_in_the_cities() -> None:
    """The third company still has its token beside the WT in Cincinnati, and nobody else gets in."""
    third = company_lines("UR", 5, 90, "Cid 2", token="G6")
    body = two("B5", "G6", "tile G6 14 0").replace("@ round", f"{third}@ round")
    run_scenario(
        f"{body.replace('Bob: pass', 'Bob: pass' + chr(10) + 'Cid: pass')}= token WT G6 B5\n= token UR G6"
    )


def test_7_3_of_two_on_one_hex_one_goes_onto_the_charter() -> None:
    run_scenario(f"{two('B5 G6', 'G6 H3', 'tile G6 14 0')}= token WT B5 G6 H3\n= markers WT 1\n= turn Ann WT")
    eight = two(f"{NORTH} G6", "F3 G6", *WIDE, charter=(0, 1))
    run_scenario(f"{eight}= token WT {NORTH} F3 G6\n= markers WT 2")


def test_7_3_of_two_in_two_cities_of_one_hex_the_president_chooses() -> None:
    """New York has two groups of circles; which of them is kept decides where routes go."""
    body = two("E22.0 B5", "E22.1 H3")
    assert "one of the two tokens in E22" in scenario_error(f"{body}Ann: remove B5")
    for gone, left in (("E22.0", "E22.1"), ("E22.1", "E22.0")):
        run_scenario(
            f"{body}= turn Ann WT\n!Bob: remove {gone}\nAnn: remove {gone}\n= token WT {left} B5 H3\n"
            "= markers WT 1\n"
            "!Ann: remove B5 | 1817 §7.1.4"
        )


def test_7_3_of_more_than_eight_the_president_keeps_eight_hexes() -> None:
    body = two(NORTH, f"{SOUTH} I12 I16")
    run_scenario(
        f"""{body}
        = turn Ann WT
        !Bob: remove B5 | 1817 §7.3
        !Ann: pass | 1817 §7.3
        Ann: remove I12
        !Ann: remove I12 | 1817 §7.3
        Ann: remove B5
        = token WT B17 C14 C22 {SOUTH} I16
        = token SR none
        = markers WT 0
        !Ann: remove B17 | 1817 §7.1.4
        """
    )
    run_scenario(
        f"{body}Ann: keep B5 B17 C14 C22 H3 H9 I12 I16\n= token WT {NORTH} H3 H9 I12 I16\n= markers WT 0"
    )
    run_scenario(
        f"{body}!Ann: keep B5 B17 | 1817 §7.3\n!Ann: keep {NORTH} {SOUTH} I12\n!Ann: keep {NORTH} F3 G6 H3 D7"
    )


def test_7_3_eight_are_all_that_a_company_ends_with() -> None:
    """Ten tokens, six of them on charters: two of those are given back."""
    run_scenario(f"{two('B5 B17', 'F3 G6', charter=(3, 3))}= token WT B5 B17 F3 G6\n= markers WT 4")
    run_scenario(
        f"{two(NORTH, f'{SOUTH} I12', charter=(2, 2))}Ann: remove I12\n= token WT {NORTH} {SOUTH}\n"
        "= markers WT 0"
    )


def test_7_3_with_more_than_eight_as_many_hexes_are_kept_as_there_are_up_to_eight() -> None:
    """Ten tokens on nine hexes: of New York's two one goes first, then one more hex."""
    body = two(f"{NORTH} E22.0", f"{SOUTH} E22.1")
    run_scenario(
        f"""{body}
        !Ann: remove H9 | 1817 §7
        Ann: remove E22.0
        = token WT {NORTH}
        Ann: remove H9
        = token WT {NORTH} F3 G6 H3 E22.1
        = markers WT 0
        """
    )
    # Nine on eight hexes: all eight are kept, and nothing is left over for the charter.
    run_scenario(
        f"{two(f'{NORTH} E22.0', 'F3 G6 H3 E22.1')}Ann: remove E22.1\n= token WT {NORTH} F3 G6 H3 E22.0\n"
        "= markers WT 0"
    )
    # Ten on six: six are kept, and two lie on the charter.
    doubled = two("G6 H3 H9 C14 B5", "G6 H3 H9 C14 F3", *WIDE)
    run_scenario(f"{doubled}= token WT G6 H3 H9 C14 B5 F3\n= markers WT 2")


def test_7_3_a_purchase_brings_tokens_the_same_way() -> None:
    body = (
        PHASE_7
        + company_lines("WT", 5, 100, "Ann 2", token=f"{NORTH} E22.0", markers=0, cash=100)
        + company_lines("SR", 5, "acquisition 1", "Bob 2", token=f"{SOUTH} E22.1", markers=0)
        + "@ round sale SR\nAnn: bid 10\n"
    )
    run_scenario(
        f"{body}= turn Ann WT\nAnn: remove E22.1\nAnn: remove B5\n= token WT B17 C14 C22 E22.0 {SOUTH}\n"
        "Ann: pass"
    )


def test_7_3_the_token_of_a_train_station_counts_too() -> None:
    body = two(NORTH, "F3 G6 H3", "private TS SR", charter=(0, 1))
    run_scenario(f"{body}= token WT {NORTH} F3 G6 H3\n= markers WT 1\n= private TS WT")
