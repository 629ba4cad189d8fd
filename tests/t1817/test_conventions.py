"""Each row of the list of what the site 18xx.games plays otherwise in 1817, under both sets of conventions.

Row by row in the list's own order. Where a row says that the site plays as the book, one game
is played under both.
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
    TEN,
    both_conventions,
    company_lines,
    run_scenario,
    scenario_error,
)
from tests.t1817.test_06_operating import FIRST
from tests.t1817.test_06_running import COAST
from tests.t1817.test_06_track import company, turn, ways

Options = tuple[str, ...]
PLAYED_BY_SITE = (SITE,)

ROWS = range(1, 27)
NOT_OF_PLAY = {22: "how a price below $40 is printed in a log"}

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


@pytest.mark.parametrize(
    ("options", "most"),
    [
        ((), 5),
        (("increased_short_sales",), 10),
        (PLAYED_BY_SITE, 10),
        ((*PLAYED_BY_SITE, "five_shorts"), 5),
    ],
)
def test_row_2_how_many_shares_of_ten_are_sold_short(options: Options, most: int) -> None:
    full = TEN + f"@ owns Bob WT -{most}\n@ owns pool WT {most}\n" + CID
    run_scenario(full + "!Cid: short WT | 1817 §5.3\n?Cid: pass", options=options)
    run_scenario(
        full.replace(f"-{most}", f"-{most - 1}").replace(f"pool WT {most}", f"pool WT {most - 1}")
        + "Cid: short WT\n= owns Cid WT -1",
        options=options,
    )


@both_conventions
def test_row_2_of_five_shares_five_at_most(options: Options) -> None:
    body = FIVE.replace("@ owns Bob WT 2\n", "@ owns Bob WT -5\n@ owns pool WT 5\n")
    run_scenario(
        body.replace("@ president WT Ann\n", "") + CID + "!Cid: short WT | 1817 §5.3\nCid: pass",
        options=options,
    )


def test_row_3_sales_after_a_short_sale() -> None:
    body = FIVE + "@ size PW 5\n@ price PW 70\n@ owns Cid PW 3\n@ token PW F13\n" + BOB + "Bob: short PW\n"
    run_scenario(body + "!Bob: sell 1 WT | 1817 §5\nBob: done")
    run_scenario(body + "Bob: sell 1 WT\n= owns Bob WT 1", options=PLAYED_BY_SITE)


def test_row_3_a_bid_is_offered_though_no_city_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.stock.short_selling_turn.vacant_cities", lambda g: iter(()))
    run_scenario(FIVE + BOB.replace("Bob", "Cid") + "Cid: short WT\n= turn Ann")
    asked = FIVE + CID + "Cid: short WT\n= turn Cid\n"
    run_scenario(asked + "Cid: pass\n= turn Ann", options=PLAYED_BY_SITE)
    poor = asked.replace("@ cash Cid 500", "@ cash Cid 0").replace("= turn Cid", "= turn Ann")
    run_scenario(poor.replace("@ price WT 100", "@ price WT 50"), options=PLAYED_BY_SITE)


def test_row_4_privates_of_players_in_the_score() -> None:
    body = FIVE + "@ private MAJM Ann\n@ private MINC Ann\n" + ANN
    run_scenario(body + "= score Ann 700")
    run_scenario(body + "= score Ann 850", options=PLAYED_BY_SITE)


CRISIS = "@ phase 3\n@ cash Ann 10\n@ cash Bob 500\n@ cash Cid 500\n@ interest 30\n@ trains bank 3 3\n"
CRISIS += company_lines("WT", 2, 100, "Ann 2", cash=15, loans=2, token="F19", trains=2)
CRISIS += company_lines("SR", 5, 60, "Bob 3", token="G18", trains=2)
UNPAID = "@ round operating WT\n?Ann: pass\n?Ann: done\n?Ann: done\n?Ann: done\n= cash Ann -35\n"


def test_row_5_what_a_bankrupt_had_left() -> None:
    bankrupt = CRISIS + UNPAID + "Ann: bankrupt\n= cash Ann 0\n"
    run_scenario(bankrupt + "= cash WT 25")
    run_scenario(bankrupt + "= cash WT 0", options=PLAYED_BY_SITE)


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


def test_row_6_who_becomes_president_by_his_purchase_goes_on() -> None:
    body = TEN.replace("size WT 10", "size WT 5").replace("owns Ann WT 5", "owns Ann WT 2")
    body += "@ owns Bob WT 2\n@ president WT Ann\n"
    body += (
        "@ round merger WT\n?Ann: act\n?Bob: pass\nAnn: convert\nAnn: pass\nBob: buy 1\n= president WT Bob\n"
    )
    run_scenario(body + "= turn Cid")
    run_scenario(body + "= turn Bob\nBob: buy 2\n= owns Bob WT 5", options=PLAYED_BY_SITE)


def test_row_7_which_of_two_remains() -> None:
    asks = MERGER + SR + "@ round merger WT\n?Ann: act\n?Bob: pass\n"
    run_scenario(asks + "Ann: merge SR as SR\nBob: accept\n= price WT none")
    run_scenario(
        asks + "!Ann: merge SR as SR | 1817 §7.1.2\nAnn: merge SR\nBob: accept\n= price SR none",
        options=PLAYED_BY_SITE,
    )


@both_conventions
def test_row_8_nobody_with_two_shares_of_ten(options: Options) -> None:
    """Bankruptcies and sales apart a president has two shares, so somebody always holds enough."""
    pair = "@ size {0} 5\n@ price {0} 100\n@ owns {1} {0} 2\n@ token {0} {2}\n@ trains {0} 3\n"
    body = "@ phase 3\n@ cash Ann 500\n@ cash Bob 500\n@ cash Cid 500\n@ trains bank 3 3\n"
    body += pair.format("WT", "Ann", "F19") + pair.format("SR", "Bob", "G18") + "@ round merger WT\n"
    run_scenario(
        body + "?Ann: act\n?Bob: pass\nAnn: merge SR\nBob: accept\n= size WT 10\n= president WT Ann",
        options=options,
    )


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


@both_conventions
def test_row_10_some_track_of_an_upgrade_is_reached_be_it_old(options: Options) -> None:
    ready = turn("tile F19 57 1", "tile F17 9 1", phase="3")
    for rotation in (1, 4):
        run_scenario(ready + f"Ann: lay 82 F17 {rotation}", options=options)
    run_scenario(
        ready.replace("F17 9 1", "F17 8 5") + "!Ann: lay 81 F17 1 | 1817 §6.3\nAnn: lay 82 F17 4",
        options=options,
    )


def test_row_11_fewer_exits_of_a_brown_city() -> None:
    ready = turn("tile F19 15 0", phase="5")
    run_scenario(
        ready + "!Ann: lay 448 F19 0 | 1817 §6.3.2\n!Ann: lay 611 F19 0 | 1817 §6.3.2\nAnn: lay 63 F19 0"
    )
    run_scenario(ready + "Ann: lay 448 F19 0", options=PLAYED_BY_SITE)


def test_row_12_sales_in_a_crisis_one_by_one_or_at_once() -> None:
    body = CRISIS.replace("price SR 60", "price SR 50").replace(
        "@ owns Bob SR 3", "@ owns Bob SR 3\n@ owns Ann SR 2"
    )
    body = (
        body.replace("interest 30", "interest 50").replace("cash WT 15", "cash WT 0")
        + "@ round operating WT\n"
    )
    body += "?Ann: pass\n?Ann: done\n?Ann: done\n?Ann: done\n= cash Ann -90\n"
    run_scenario(body + "!Ann: sell 2 SR | 1817 §7.4\nAnn: sell 1 SR\nAnn: sell 1 SR\n= cash Ann 10")
    run_scenario(body + "Ann: sell 2 SR\n= cash Ann 10", options=PLAYED_BY_SITE)


def test_row_13_how_many_2_trains() -> None:
    assert run_scenario(FIRST).depot["2"] is None
    assert run_scenario(FIRST, options=PLAYED_BY_SITE).depot["2"] == 40


def test_row_13_the_first_train_of_two_plus_names_a_phase_on_the_site() -> None:
    body = company("depot 2+") + "@ round operating WT\n> until trains\nAnn: buy train 2+\n"
    run_scenario(body + "= phase 2")
    state = run_scenario(body + "= phase 2+", options=PLAYED_BY_SITE)
    facts = game_of(state).phase
    assert (facts.ipo_sizes, facts.train_limit, facts.tile_colors) == ((2,), 4, ("yellow",))


def test_row_14_a_merger_round_after_the_last_operating_round() -> None:
    """The first 8 is bought in the first round of a set: two more of the next set are the last."""
    body = company("trains WT 7", "depot 8", phase="7", cash=2000) + SR.replace("trains SR 2", "trains SR 7")
    body += "@ cash Cid 10\n@ round operating WT\n> until trains\nAnn: buy train 8\n> until stock\n"
    last = body + "> until operating\n= round operating WT\n> until merger\n> until operating\n"
    last += "= round operating WT 2\n> until merger\n"
    run_scenario(last + "= over")
    run_scenario(last + "= round merger\n> until over", options=PLAYED_BY_SITE)


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


@both_conventions
def test_row_16_at_the_certificate_limit_no_auction_is_opened(options: Options) -> None:
    run_scenario(full(9) + "!Ann: start PW G18 100 | 1817 §5.1\n?Ann: pass", SEVEN, options=options)
    run_scenario(full(8) + "Ann: start PW G18 100", SEVEN, options=options)


def test_row_17_the_privates_of_a_bankrupt() -> None:
    body = CRISIS + "@ private TS Ann\n" + UNPAID + "Ann: bankrupt\n"
    run_scenario(body + "= private TS closed")
    run_scenario(body + "= private TS Ann", options=PLAYED_BY_SITE)


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


def test_row_19_less_than_the_best_revenue() -> None:
    less = turn(*COAST, "trains WT 3", phase="3") + "{0}Ann: run 3 F19-G18\n"
    run_scenario(less.format("!") + "Ann: run best")
    run_scenario(less.format("") + "Ann: withhold\n= cash WT 250", options=PLAYED_BY_SITE)


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
def test_row_21_no_token_in_toronto_which_counts_as_a_stop(options: Options) -> None:
    line = ("tile C14 57 2", "tile B15 9 1", "tile B17 57 1", "trains WT 2", "markers WT 1")
    run_scenario(
        turn(*line, tokens="C14", phase="3") + "= best WT 50\n!Ann: token B13 | 1817 §6.4\n"
        "!Ann: run 2 C14-B17 | 1817 §6.5",
        options=options,
    )


def test_row_23_volatility_is_not_played() -> None:
    for options in ((), PLAYED_BY_SITE):
        with pytest.raises(ValueError, match="volatility"):
            new_game("1817", ("Ann", "Bob", "Cid"), (*options, "volatility"))


@both_conventions
def test_row_24_modern_trains(options: Options) -> None:
    line = turn(*COAST, "trains WT 7", tokens="F19 G18", phase="7")
    run_scenario(line + "= best WT 90", options=options)
    run_scenario(line + "= best WT 110", options=(*options, "modern_trains"))
    eight = line.replace("trains WT 7", "trains WT 8").replace("phase 7", "phase 8")
    run_scenario(eight + "= best WT 130", options=(*options, "modern_trains"))


@both_conventions
def test_row_24_short_squeeze(options: Options) -> None:
    body = FIVE.replace("owns Bob WT 2", "owns Bob WT 3").replace(
        "owns Ann WT 2", "owns Ann WT 3\n@ owns Cid WT -1"
    )
    body += ANN + "> until operating\n"
    run_scenario(body + "= price WT 110", options=options)
    run_scenario(body + "= price WT 120", options=(*options, "short_squeeze"))


def test_row_25_more_players() -> None:
    names = [f"P{n}" for n in range(1, 13)]
    with pytest.raises(ValueError, match="3 to 7"):
        new_game("1817", names)
    for options in (("more_players",), PLAYED_BY_SITE):
        state = new_game("1817", names, options).state
        assert state.cash[state.seats[0]] == 105


@both_conventions
def test_row_26_only_the_tile_of_the_mill_is_counted(options: Options) -> None:
    facts = game_of(new_game("1817", ("Ann", "Bob", "Cid"), options).state).components
    assert {tile for tile, count in facts.tiles.items() if count is not None} == {"X00"}
    assert ways(turn(), "57", "F19")


def test_every_row_has_its_test() -> None:
    found = [re.match(r"test_row_(\d+)_", name) for name in rule_tests(Path(__file__).parent)]
    tested = {int(row[1]) for row in found if row}
    assert tested | set(NOT_OF_PLAY) == set(ROWS)
    assert not tested & set(NOT_OF_PLAY)
