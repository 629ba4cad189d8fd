"""Each row of the list of what the site 18xx.games plays otherwise in 1817, under both sets of conventions.

Row by row in the list's own order, but for those that tests of their sections play. Where a row says that
the site plays as the book, one game is played under both.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine import game_of, new_game
from tests.rulebook_sections import rule_tests
from tests.t1817.scenarios import (
    ANN,
    BOB,
    CID,
    FIVE,
    MERGER,
    SITE,
    both_conventions,
    company_lines,
    run_scenario,
    scenario_error,
)
from tests.t1817.test_06_operating import FIRST
from tests.t1817.test_06_track import company, turn, ways

Options = tuple[str, ...]
PLAYED_BY_SITE = (SITE,)

ROWS = range(1, 27)
NOT_OF_PLAY = {22: "how a price below $40 is printed in a log"}
IN_SECTIONS = {
    2: "test_9_1_the_site_plays_so_unless_five_are_chosen",
    4: "test_8_privates_count_for_nothing_but_on_the_site",
    5: "test_7_4_for_interest_all_her_money_goes_to_that_company",
    7: "test_7_1_2_either_company_survives",
    8: "test_7_1_3_with_as_many_shares_the_president_who_began_it_stays",
    10: "test_6_3_2_some_track_of_the_new_tile_is_part_of_a_route",
    11: "test_6_3_2_a_brown_city_has_as_many_exits_as_fit",
    12: "test_7_4_one_share_at_a_time_until_there_is_enough",
    14: "test_8_no_merger_round_follows_the_last_operating_round_but_on_the_site",
    16: "test_5_1_who_holds_as_many_certificates_as_the_limit_buys_none",
    17: "test_7_4_stock_short_shares_and_privates_go_to_the_open_market",
    19: "test_6_5_the_highest_earnings_have_to_be_run",
    21: "test_6_5_toronto_counts_as_a_city_and_lets_all_pass",
    23: "test_9_a_variant_is_chosen_as_the_table_is_made",
    24: "test_9_4_7_and_8_trains_earn_more_for_each_own_token_on_the_route",
    25: "test_9_2_money_and_limit_of_eight_to_twelve_players",
}
"""Rows that a test of their section plays under both sets of conventions."""

SR = company_lines("SR", 2, 60, "Bob 2", cash=50, token="G18", trains=2)


def test_row_1_bids_on_privates() -> None:
    bids = "Ann: bid PSM 40\nBob: bid PSM 45\n"
    run_scenario("Ann: bid PSM 40\n!Bob: bid PSM 45 | 1817 §4.2\n= private PSM Ann")
    run_scenario(bids + "= turn Cid\nCid: pass\nAnn: pass\n= cash Bob 375\n", options=PLAYED_BY_SITE)
    # Above the face value nothing comes out of the seed money: $200 are left for the next.
    run_scenario(
        bids + "Cid: pass\nAnn: pass\nBob: bid MAJM 0\nCid: pass\nAnn: pass\nCid: bid MAJC 10",
        options=PLAYED_BY_SITE,
    )


def test_row_1_any_dollars_at_least_five_more() -> None:
    assert "multiples of $5" in scenario_error("Ann: bid MAJM 3")
    run_scenario(
        "Ann: bid MAJM 3\n!Bob: bid MAJM 7 | 1817 §4.2\n"
        "Bob: bid MAJM 8\nCid: pass\nAnn: pass\n= cash Bob 412",
        options=PLAYED_BY_SITE,
    )


def test_row_3_a_bid_is_offered_though_no_city_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.stock.short_selling_turn.vacant_cities", lambda g: iter(()))
    run_scenario(FIVE + BOB.replace("Bob", "Cid") + "Cid: short WT\n= turn Ann")
    asked = FIVE + CID + "Cid: short WT\n= turn Cid\n"
    run_scenario(asked + "Cid: pass\n= turn Ann", options=PLAYED_BY_SITE)
    poor = asked.replace("@ cash Cid 500", "@ cash Cid 0").replace("= turn Cid", "= turn Ann")
    run_scenario(poor.replace("@ price WT 100", "@ price WT 50"), options=PLAYED_BY_SITE)


def grown(more: str = "") -> str:
    """The WT becomes a company of five shares; its president, Ann, is asked first."""
    return MERGER + more + "@ round merger WT\n?Ann: act\n?Bob: pass\n?Cid: pass\nAnn: convert\n"


@both_conventions
def test_row_6_the_president_first_then_each_other_once(options: Options) -> None:
    deals = (
        "= turn Ann\n!Bob: buy 1 | 1817 §7.1.4\nAnn: pass\n= turn Bob\n"
        "!Bob: buy 2 | 1817 §7.1.4\nBob: buy 1\n= turn Cid\nCid: buy 1\n"
    )
    run_scenario(grown() + deals + "= owns Cid WT 1\n= owns treasury WT 1", options=options)


@both_conventions
def test_row_9_tokens_are_paid_as_soon_as_all_of_them_can_be(options: Options) -> None:
    body = (
        "@ phase 5\n@ cash Ann 120\n@ cash Bob 500\n@ cash Cid 10\n@ private MAJM Ann\n@ trains bank 5\n"
        + ANN
    )
    body += "Ann: start WT F19 120\nBob: pass\nAnn: float 10 with MAJM\n= cash WT 0\n"
    run_scenario(
        body + "Bob: buy WT from treasury\n= cash WT 60\n= markers WT 0\n?Cid: pass\nAnn: for WT loan 1\n"
        "= cash WT 10\n= markers WT 3",
        options=options,
    )


def test_row_13_how_many_2_trains() -> None:
    assert run_scenario(FIRST).depot["2"] is None
    assert run_scenario(FIRST, options=PLAYED_BY_SITE).depot["2"] == 40


def test_row_13_the_first_train_of_two_plus_names_a_phase_on_the_site() -> None:
    body = company("depot 2+") + "@ round operating WT\n> until trains\nAnn: buy train 2+\n"
    run_scenario(body + "= phase 2")
    state = run_scenario(body + "= phase 2+", options=PLAYED_BY_SITE)
    facts = game_of(state).phase
    assert (facts.ipo_sizes, facts.train_limit, facts.tile_colors) == ((2,), 4, ("yellow",))


SALE = MERGER + SR.replace("price SR 60", "price SR acquisition 2") + "@ loans SR 2\n@ round sale SR\n"


@both_conventions
def test_row_15_bids_in_a_sale(options: Options) -> None:
    """Cid has no company, and is never asked; nor is Bob, whose only one is for sale."""
    run_scenario(
        SALE + "= turn Ann\n!Ann: bid 5 | 1817 §7.2.4\n"
        "!Ann: bid 15 | 1817 §7.2.4\nAnn: bid 10\n= trains WT 2 2",
        options=options,
    )


@both_conventions
def test_row_15_the_market_value_rounded_up_and_the_seller_by_10(options: Options) -> None:
    body = (
        MERGER
        + "@ size PW 5\n@ price PW 45\n@ owns Ann PW 2\n@ owns pool PW 3\n@ token PW H3\n@ trains PW 2\n"
    )
    body += SR.replace("cash SR 50", "cash SR 400") + "@ phase 3\n@ trains bank 3 3\n@ round sale PW\n"
    body += "?Ann: act\n?Bob: pass\n?Bob: pass\nAnn: offer PW\n"
    run_scenario(
        body + "!Bob: bid 225 | 1817 §7.2.4\n!Bob: bid 220 | 1817 §7.2.4\n"
        "Bob: bid 230\n!Ann: bid 250 | 1817 §7.2.4\nAnn: bid 240\nBob: pass\n"
        "?Ann: buyer WT\n?Ann: pass\n= price PW none",
        options=options,
    )


def full(certificates: int) -> str:
    """Ann with so many single certificates; seven players may hold nine."""
    body = "@ phase 3\n@ trains bank 3 3 3\n" + "".join(f"@ cash {n} 500\n" for n in SEVEN.split(", "))
    for symbol, home in zip("A&S A&A Belt Bess B&A".split(), "F19 F13 F3 B5 C14".split(), strict=True):
        mine, certificates = min(2, certificates), max(certificates - 2, 0)
        body += f"@ size {symbol} 5\n@ price {symbol} 100\n@ owns Bob {symbol} 2\n@ president {symbol} Bob\n"
        body += f"@ owns Ann {symbol} {mine}\n@ token {symbol} {home}\n"
    return body + ANN


SEVEN = "Ann, Bob, Cid, Dan, Eve, Fay, Gil"


PW = company_lines("PW", 2, "liquidation", "Cid 2", token="F13", trains=2) + "@ round sale PW\n"


@both_conventions
def test_row_18_the_last_that_came_into_liquidation_is_sold_first(options: Options) -> None:
    """The price token of the PW is below that of the SR."""
    red = MERGER + SR.replace("price SR 60", "price SR liquidation") + PW
    run_scenario(
        red + "= turn Ann\nAnn: bid 10\n?Ann: pass\n= price PW none\n= price SR liquidation", options=options
    )


@both_conventions
def test_row_18_and_those_in_acquisition_after_it(options: Options) -> None:
    kinds = MERGER + SR.replace("price SR 60", "price SR acquisition 2") + PW
    sold = "Ann: pass\n= price PW none\n= turn Ann\nAnn: bid 10\n?Ann: pass\n= price SR none"
    run_scenario(kinds + sold, options=options)


LOSES_ALL = "@ phase 3\n@ cash Ann 0\n@ cash Bob 500\n@ trains bank 3 3 3\n"
LOSES_ALL += company_lines("WT", 2, "liquidation", "Ann 2", loans=2, token="F19", trains=2)
LOSES_ALL += company_lines("PW", 2, "{0}", "Ann 2", token="F13", trains=2)
LOSES_ALL += company_lines("SR", 5, 60, "Bob 3", cash=300, token="G18", trains=2)
LOSES_ALL += "@ round sale WT\nBob: pass\n?Ann: pass\nAnn: bankrupt\n"


@pytest.mark.parametrize("price", ["100", "acquisition 2"])
def test_row_18_one_that_loses_its_president_in_the_sales_waits_for_the_next(price: str) -> None:
    """On the site also one in acquisition that is up as its president goes bankrupt."""
    body = LOSES_ALL.format(price)
    run_scenario(body + "Bob: bid 10\n?Bob: pass\n= price PW none")
    run_scenario(body + "?Bob: pass\n= turn Bob\n= price PW liquidation", options=PLAYED_BY_SITE)


@both_conventions
def test_row_20_loans_that_are_too_many_are_paid_off_then_the_rest_as_the_buyer_likes(
    options: Options,
) -> None:
    """With its own two the WT may keep none of the SR's two, which it pays off without a space."""
    over = SALE.replace("cash WT 200", "cash WT 400\n@ loans WT 2")
    run_scenario(over + "Ann: bid 10\n= loans WT 2\n= cash WT 240\n= price WT 100", options=options)
    free = SALE + "Ann: bid 10\n"
    run_scenario(
        free + "= loans WT 2\n= cash WT 240\nAnn: repay 1\nAnn: pass\n= loans WT 1\n= price WT 90",
        options=options,
    )


@both_conventions
def test_row_26_only_the_tile_of_the_mill_is_counted(options: Options) -> None:
    facts = game_of(new_game("1817", ("Ann", "Bob", "Cid"), options).state).components
    assert {tile for tile, count in facts.tiles.items() if count is not None} == {"X00"}
    assert ways(turn(), "57", "F19")


def test_every_row_has_its_test() -> None:
    here = Path(__file__).parent
    found = [re.match(r"test_row_(\d+)_", name) for name in rule_tests(here)]
    tested = {int(row[1]) for row in found if row} | set(IN_SECTIONS)
    assert tested | set(NOT_OF_PLAY) == set(ROWS)
    assert not tested & set(NOT_OF_PLAY)
    sections = "".join(path.read_text(encoding="utf-8") for path in sorted(here.glob("test_0*.py")))
    for name in IN_SECTIONS.values():
        test = re.search(rf"^(@both_conventions\n(@.*\n)*)?def {name}\((.*\n)+?(?=\n\n|\Z)", sections, re.M)
        assert test and re.search(r"both_conventions|\bSITE\b|\bBOTH\b", test[0]), name
