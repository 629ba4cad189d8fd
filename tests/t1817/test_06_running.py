"""Routes, runs and dividends (1817 §6.1, §6.5, §6.6)."""

from __future__ import annotations

import pytest

from tests.t1817.scenarios import SITE, both_conventions, run_scenario
from tests.t1817.test_06_track import turn

COAST = ("tile F21 8 1", "tile F19 5 4", "tile G20 7 1")
"""New York (40 with its southern group) - Philadelphia (20) - Baltimore (30)."""

VALLEY = ("tile F19 57 1", "tile F17 9 1", "tile F15 9 1", "tile F13 57 1")
"""Philadelphia (20) - Pittsburgh (20)."""

WEST = ("tile E2 9 2", "tile F3 6 0", "tile G2 9 0")
"""Chicago - Indianapolis (20) - St. Louis."""


def earns(dollars: int, *lines: str, tokens: str = "F19", phase: str = "3") -> None:
    run_scenario(f"{turn(*lines, tokens=tokens, phase=phase)}= best WT {dollars}")


# -- 1817 §6.1, routes -----------------------------------------------------------------------------


def test_6_1_a_route_has_a_token_anywhere_on_it() -> None:
    earns(90, *COAST, "trains WT 3")
    earns(90, *COAST, "trains WT 3", tokens="E22.0")
    earns(60, *COAST, "trains WT 2")
    # New York and Philadelphia alone are no route of a company in Baltimore.
    earns(50, *COAST, "trains WT 2", tokens="G18")
    body = turn(*COAST, "trains WT 2", tokens="G18", phase="3")
    run_scenario(body + "!Ann: run 2 E22.0-F19 | 1817 §6.5\nAnn: run 2 F19-G18")


def test_6_1_a_route_is_unbranched() -> None:
    """On F17 the ways of Pittsburgh and Baltimore meet: no train turns there from one into the other."""
    fork = (
        "tile F13 57 1",
        "tile F15 9 1",
        "tile F17 82 4",
        "tile F19 57 1",
        "tile G18 592 0",
        "trains WT 3",
    )
    earns(70, *fork, tokens="F19")
    run_scenario(turn(*fork, tokens="F19", phase="3") + "!Ann: run 3 F13-F19-G18 | 1817 §6.5\nAnn: run best")


def test_6_1_no_route_through_a_city_that_others_fill() -> None:
    other = ("size SR 2", "price SR 60", "owns Bob SR 2", "token SR F19")
    earns(90, *COAST, "trains WT 3", tokens="E22.0")
    earns(60, *COAST, *other, "trains WT 3", tokens="E22.0")
    # A place that is left lets it pass, and so does one's own token.
    wide = ("tile F21 8 1", "tile F19 15 2", "tile G20 7 1")
    earns(100, *wide, *other, "trains WT 3", tokens="E22.0")


def test_6_1_no_city_or_red_area_twice() -> None:
    """Around Philadelphia and Baltimore: where a route began it does not end."""
    loop = ("tile F19 15 5", "tile G20 7 1", "tile F17 7 4", "tile G18 592 0")
    earns(80, *loop, "trains WT 3")
    # Two ways lead from Indianapolis to Chicago, and no route uses both of them.
    earns(70, "tile E2 9 2", "tile F3 5 2", "tile E4 8 0", "tile D3 8 5", "trains WT 3", tokens="F3")


def test_6_1_new_york_is_one_city() -> None:
    """Philadelphia connects its two groups: only one of them counts."""
    ring = ("tile F21 8 1", "tile F19 5 3", "tile E20 9 0", "tile D21 8 4", "tile D23 7 0")
    earns(60, *ring, "trains WT 3")


def test_6_1_no_track_segment_twice_but_the_middle_of_brown_plain_track_by_two() -> None:
    """Two ways cross on F17: Philadelphia - Pittsburgh, and Scranton - Richmond - Raleigh."""
    cross: tuple[str, ...] = (
        VALLEY[0],
        *VALLEY[2:],
        "tile F17 544 0",
        "tile E18 9 0",
        "tile D19 57 0",
        "tile G16 9 0",
    )
    cross += ("tile H15 8 3", "tile I16 6 0")
    earns(130, *cross, "trains WT 5 5", tokens="F19 D19", phase="5")
    earns(90, *cross, "trains WT 5", tokens="F19 D19", phase="5")
    # The same two ends on a green tile share a segment.
    body = turn(*VALLEY, "trains WT 3 3", phase="3")
    run_scenario(body + "= best WT 40\n!Ann: run 3 F19-F13, 3 F13-F19 | 1817 §6.5\nAnn: run best")


# -- 1817 §6.5 -------------------------------------------------------------------------------------


def test_6_5_both_ends_are_cities_or_off_map() -> None:
    earns(40, *VALLEY, "trains WT 2")
    earns(0, "tile F19 57 1", "tile F17 9 1", "trains WT 2")
    earns(70, *WEST[:2], "trains WT 2", tokens="F3")


def test_6_5_no_route_starts_or_ends_at_a_mine() -> None:
    earns(0, *VALLEY[:3], "mine F15", "trains WT 3")
    earns(0, *VALLEY[1:], "mine F15", "trains WT 3", tokens="F13")


def test_6_5_a_mine_counts_for_revenue_and_not_for_the_number() -> None:
    earns(50, *VALLEY, "mine F15", "trains WT 2")


def test_6_5_the_number_of_the_train_is_the_most_of_cities_and_off_map_places() -> None:
    earns(60, *COAST, "trains WT 2")
    earns(90, *COAST, "trains WT 3")
    body = turn(*COAST, "trains WT 2", phase="3")
    run_scenario(body + "!Ann: run 2 E22.0-F19-G18 | 1817 §6.5\nAnn: run 2 E22.0-F19")


@both_conventions
def test_6_5_toronto_counts_as_a_city_and_lets_all_pass(options: tuple[str, ...]) -> None:
    """Buffalo - Toronto - beyond: Toronto takes one of the number, and no token closes it."""
    line = ("tile C14 57 2", "tile B15 9 1", "tile B17 57 1")
    run_scenario(
        turn(*line, "trains WT 2", "markers WT 1", tokens="C14", phase="3")
        + "= best WT 50\n!Ann: token B13 | 1817 §6.4\n!Ann: run 2 C14-B17 | 1817 §6.5",
        options=options,
    )
    earns(70, *line, "trains WT 3", tokens="C14")


def test_6_5_off_map_places_are_at_the_ends_and_may_be_both() -> None:
    earns(100, *WEST, "trains WT 3", tokens="F3")
    # Lansing beyond Chicago is out of reach: no route goes through a red area.
    beyond = ("tile D3 8 1", "tile C4 9 0", "tile B5 5 0")
    earns(100, *WEST, *beyond, "trains WT 4", tokens="F3", phase="4")
    earns(70, *beyond, "trains WT 4", tokens="B5", phase="4")


def test_6_5_trains_of_a_company_share_cities_but_no_track() -> None:
    star = ("tile F21 8 1", "tile F19 15 2", "tile G20 7 1")
    earns(70 + 60, *star, "trains WT 2 2")
    earns(70, *star, "trains WT 2")
    earns(40, *VALLEY, "trains WT 2 2")


def test_6_5_earnings_are_the_sum_over_all_routes() -> None:
    star = ("tile F21 8 1", "tile F19 15 2", "tile G20 7 1", "trains WT 2 2")
    run_scenario(turn(*star, phase="3") + "Ann: run 2 E22.0-F19, 2 F19-G18\nAnn: withhold\n= cash WT 330")


def test_6_5_the_highest_earnings_have_to_be_run() -> None:
    body = turn(*COAST, "trains WT 3", phase="3")
    run_scenario(
        body + "!Ann: run 3 F19-G18 | 1817 §6.5\n!Ann: run 3 E22.0-F19 | 1817 §6.5\n"
        "Ann: run 3 E22.0-F19-G18\nAnn: pay"
    )
    run_scenario(body + "Ann: run 3 F19-G18\nAnn: pay", options=(SITE,))


def test_6_5_a_company_with_a_train_and_a_route_has_to_run() -> None:
    body = turn(*COAST, "trains WT 3", phase="3")
    run_scenario(
        body + "!Ann: pay | 1817 §6.5\n!Ann: buy train 3 | 1817 §6.5\n"
        "> until run\n!Ann: pass | 1817 §6.5\nAnn: run best"
    )


def test_6_5_printed_values_by_phase() -> None:
    """Chicago 30, 50, 60, 80; St. Louis 20, 30, 50, 60; Toronto 20, 30, 40; Cleveland 30 to 60."""
    for phase, chicago, louis in (("2", 30, 20), ("3", 50, 30), ("4", 50, 30), ("5", 60, 50), ("6", 60, 50),
                                  ("7", 80, 60), ("8", 80, 60)):  # fmt: skip
        train = {"2": "2", "3": "3", "4": "4"}.get(phase, phase)
        if phase == "2":
            earns(chicago + 20, *WEST, "trains WT 2", tokens="F3", phase=phase)
        else:
            earns(chicago + 20 + louis, *WEST, f"trains WT {train}", tokens="F3", phase=phase)


# -- 1817 §6.6 -------------------------------------------------------------------------------------

NINETY = """
@ phase 5
@ cash Ann 100
@ cash Bob 100
@ cash Cid 100
@ tile E22 54 0
@ tile F21 8 1
@ tile F19 15 4
@ tile G20 7 1
@ tile H17 9 0
@ tile I16 57 0
@ token WT F19
@ trains WT 5
"""
"""New York - Philadelphia - Baltimore - Richmond - Raleigh: $190, the book's example."""


def earned(size: int, price: str = "300", *, ann: int, bob: int = 0, pool: int = 0, short: int = 0) -> str:
    """The WT with its $190, before its dividend."""
    shares = {"Ann": ann, "Bob": bob, "pool": pool, "Cid": -short}
    body = f"@ size WT {size}\n@ price WT {price}\n"
    body += "".join(f"@ owns {who} WT {count}\n" for who, count in shares.items() if count)
    return f"{NINETY}{body}@ round operating WT\n= best WT 190\n> until dividend\n"


@pytest.mark.parametrize(
    ("size", "action", "treasury", "share"),
    [
        (2, "pay", 0, 95),
        (2, "half", 95, 47.5),
        (2, "withhold", 190, 0),
        (5, "pay", 0, 38),
        (5, "half", 95, 19),
        (5, "withhold", 190, 0),
        (10, "pay", 0, 19),
        (10, "half", 90, 10),
        (10, "withhold", 190, 0),
    ],
)
def test_6_6_the_table_of_190_dollars(size: int, action: str, treasury: int, share: float) -> None:
    """Of five or ten shares all are with players or in the market, so the treasury has what is kept."""
    mine = {2: 2, 5: 3, 10: 6}[size]
    body = earned(size, ann=mine, bob=0 if size == 2 else 1, pool={2: 0, 5: 1, 10: 3}[size])
    paid = f"= cash WT {treasury}\n= cash Ann {100 + int(mine * share)}\n"
    paid += "" if size == 2 else f"= cash Bob {100 + int(share)}\n"
    run_scenario(f"{body}Ann: {action}\n{paid}= cash Cid 100")


def test_6_6_treasury_shares_pay_the_company_and_those_in_the_market_nobody() -> None:
    run_scenario(earned(10, ann=5, pool=2) + "Ann: pay\n= cash WT 57\n= cash Ann 195")
    run_scenario(earned(5, ann=2, pool=1) + "Ann: half\n= cash WT 133\n= cash Ann 138")


@pytest.mark.parametrize(
    ("price", "action", "after"),
    [
        ("200", "pay", "200"),
        ("180", "pay", "200"),
        ("100", "pay", "110"),
        ("90", "pay", "110"),
        ("40", "pay", "50"),
        ("120", "half", "120"),
        ("100", "half", "110"),
        ("50", "half", "60"),
        ("55", "half", "60"),
        ("200", "withhold", "180"),
        ("40", "withhold", "acquisition 3"),
        ("acquisition 1", "withhold", "acquisition 1"),
        ("acquisition 3", "pay", "45"),
        ("acquisition 1", "pay", "acquisition 3"),
        ("acquisition 1", "half", "acquisition 3"),
    ],
)
def test_6_6_the_price_moves_by_what_is_paid(price: str, action: str, after: str) -> None:
    """$190 in full, $100 of them where half is paid on ten shares: as much as the price a space, twice
    as much two, nothing a space down."""
    run_scenario(f"{earned(10, price, ann=6)}Ann: {action}\n= price WT {after}")


@pytest.mark.parametrize(
    ("lines", "action", "after"),
    [
        (VALLEY, "pay", "40"),
        (VALLEY, "half", "acquisition 3"),
        ((*VALLEY, "mine F15"), "pay", "40"),
        (COAST, "pay", "45"),
    ],
)
def test_6_6_the_gray_area_counts_as_40(lines: tuple[str, ...], action: str, after: str) -> None:
    """$40 and $50 are a space, $20 none, $90 two."""
    body = turn(*lines, "trains WT 3", phase="3").replace("price WT 100", "price WT acquisition 3")
    run_scenario(f"{body}> until dividend\nAnn: {action}\n= price WT {after}")


def test_6_6_the_price_never_passes_600() -> None:
    run_scenario(f"{earned(10, '600', ann=6)}Ann: pay\n= price WT 600")
    body = earned(10, "540", ann=6).replace("> until dividend\n", "")
    run_scenario(body + "Ann: loan 2\n= price WT 440\n> until dividend\nAnn: withhold\n= price WT 400")


def test_6_6_without_earnings_the_price_falls() -> None:
    run_scenario(turn("tile F19 57 1", "trains WT 3", phase="3") + "> until repay\n= price WT 90")
    run_scenario(turn(phase="3") + "> until repay\n= price WT 90")


def test_6_6_who_is_short_pays_what_the_shares_receive() -> None:
    run_scenario(earned(10, ann=6, pool=2, short=2) + "Ann: pay\n= cash Cid 62\n= cash Ann 214\n= cash WT 76")
    run_scenario(
        earned(10, ann=6, pool=2, short=2) + "Ann: half\n= cash Cid 80\n= cash Ann 160\n= cash WT 130"
    )
    run_scenario(earned(10, ann=6, pool=2, short=2) + "Ann: withhold\n= cash Cid 100")
