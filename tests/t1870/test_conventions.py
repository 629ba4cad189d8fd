"""Each row of the list of what the site 18xx.games plays otherwise in 1870, under both sets of conventions.

Row by row in the list's own order. Where a row says that the site plays as the book, one game
is played under both; and where the tests of a section would say the same, the row is their test.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine import hidden_treasuries, new_game
from engine.kernel import game_of
from engine.operating.stations import free_slots
from engine.operating.track import legal_lays
from tests.rulebook_sections import rule_tests
from tests.t1870.scenarios import SITE, run_scenario
from tests.t1870.test_05_market import CLOSING, HALF
from tests.t1870.test_05_protection import FORCED
from tests.t1870.test_05_protection import MP as PROTECTED
from tests.t1870.test_05_treasury import MP as REDEEMING
from tests.t1870.test_05_treasury import OUT
from tests.t1870.test_06_track import ATSF
from tests.t1870.test_10_trains import POOR, SHORT
from tests.t1870.test_11_destinations import CONNECTED, FW
from tests.t1870.test_12_privates import PHASE1, PHASE2
from tests.t1870.test_13_end import LAST
from tests.t1870.test_16_variants import NEAR

Options = tuple[str, ...]
PLAYED_BY_SITE = (SITE,)
both = pytest.mark.parametrize("options", ((), PLAYED_BY_SITE), ids=("rulebook", "site"))

ROWS = range(1, 30)
NOT_OF_PLAY = {
    23: "how a closed port is recorded",
    28: "a report of a fault, without the state that it is about",
    29: "how the file names privates and companies that share a symbol",
}

RUNS_OF_SITE = CONNECTED.replace("Bob: connect run\n", "")
"""On the site the run is not asked for."""


def test_row_1_where_a_paid_connection_moves_the_price() -> None:
    paid = "Bob: destination place\nBob: run best\nBob: pay\n"
    run_scenario(CONNECTED + paid + "= price SSW 100 0")
    run_scenario(RUNS_OF_SITE + paid + "= price SSW 100 1", options=PLAYED_BY_SITE)


@pytest.mark.parametrize(
    ("options", "free"),
    [((), 0), (("non_blocking_tokens",), 1), (PLAYED_BY_SITE, 1), ((*PLAYED_BY_SITE, "station_wars"), 0)],
)
def test_row_2_whether_the_destination_token_takes_a_place(options: Options, free: int) -> None:
    fills = FW.replace("@ tile J3 57 1", "@ tile J3 14 1") + "@ trains SSW 4\n@ destination SSW J3\n"
    state = run_scenario(fills + "@ round operating FW\n= turn Ann FW", options=options)
    assert free_slots(game_of(state), "J3", 0) == free


def test_row_3_an_own_token_in_the_destination() -> None:
    stands = "@ tile J3 14 1\n@ token SSW J3"
    run_scenario(
        CONNECTED.replace("@ tile J3 57 1", stands) + "Bob: destination place\n= destination SSW J3\n"
        "= markers SSW 1\n= token SSW H17 J3"
    )
    run_scenario(
        RUNS_OF_SITE.replace("@ tile J3 57 1", stands) + "!Bob: destination place | 1870 §11.4\n"
        "Bob: destination keep\n"
        "= destination SSW none\n= markers SSW 1",
        options=PLAYED_BY_SITE,
    )


def test_row_4_a_connection_run_may_wait() -> None:
    due = FW + "@ trains SSW 4\n@ round operating FW\n= turn Bob SSW\n"
    run_scenario(due + "Bob: connect wait\n= turn Ann FW")
    run_scenario(due + "!Bob: connect wait | 1870 §4.1\nBob: destination place", options=PLAYED_BY_SITE)


@pytest.mark.parametrize(
    ("options", "asked"),
    [((), "Ann"), (PLAYED_BY_SITE, "Cid"), ((*PLAYED_BY_SITE, "can_protect_if_sold"), "Ann")],
)
def test_row_5_who_has_sold_may_protect(options: Options, asked: str) -> None:
    sold = PROTECTED + "Bob: pass\nCid: pass\nAnn: sell 1 MP\nAnn: done\nBob: sell 1 MP\nBob: done\n"
    run_scenario(f"{sold}= turn {asked}", options=options)


def test_row_6_when_a_forced_sale_is_answered() -> None:
    sold = FORCED + "Ann: sell 4 FW\n"
    run_scenario(
        sold + "= turn Cid\n!Ann: buy train 4 | 1870 §5.9\nCid: protect FW\n= price FW 90 1\n"
        "= owns Cid FW 10\nAnn: buy train 4"
    )
    run_scenario(
        sold + "= turn Ann\nAnn: buy train 4\n> until Cid\nCid: protect FW\n= price FW 90 1",
        options=PLAYED_BY_SITE,
    )


@both
def test_row_7_room_for_what_is_protected(options: Options) -> None:
    """Two shares of a company in white take two certificates; of one in the yellow zone none."""
    three = "".join(f"@ owns Ann {c} 6\n@ price {c} 100 0\n" for c in ("FW", "IC", "SP"))
    sold = "= limit 20\nBob: sell 2 MP\nBob: done\n"
    run_scenario(three + PROTECTED + sold + "= turn Cid", options=options)
    other = "@ owns Ann GMO 2\n@ owns Bob GMO 4\n@ price GMO 64 4\n@ par GMO 68\n"
    both_sold = "Bob: sell 1 MP\nBob: sell 1 GMO\nBob: done\n= turn "
    two = three.replace("@ owns Ann SP 6", "@ owns Ann SP 4")
    run_scenario(three + other + PROTECTED + both_sold + "Cid\n= limit 20", options=options)
    run_scenario(two + other + PROTECTED + both_sold + "Ann", options=options)
    yellow = PROTECTED.replace("price MP 100 0", "price MP 60 2")
    run_scenario(three + yellow + sold + "= turn Ann\nAnn: protect MP", options=options)


@pytest.mark.parametrize(
    ("options", "limits"),
    [((), (20, 17, 15)), (PLAYED_BY_SITE, (20, 17, 17)), ((SITE, "original_rules"), (20, 17, 15))],
)
def test_row_8_the_certificate_limit_with_two_companies_closed(
    options: Options, limits: tuple[int, ...]
) -> None:
    for closed, limit in enumerate(limits):
        gone = "".join(f"@ closed {c}\n" for c in ("TP", "SSW")[:closed])
        run_scenario(
            gone + f"@ owns Ann MP 6\n@ price MP 100 0\n@ round stock Ann\n= limit {limit}", options=options
        )


@pytest.mark.parametrize(
    ("options", "nines"),
    [((), 20), (PLAYED_BY_SITE, 23), ((SITE, "original_tiles"), 20), ((SITE, "original_rules"), 20)],
)
def test_row_9_how_many_tiles(options: Options, nines: int) -> None:
    assert game_of(new_game("1870", ("Ann", "Bob"), options).state).components.tiles["9"] == nines


@pytest.mark.parametrize(("options", "left"), [((), 6), (PLAYED_BY_SITE, None)])
def test_row_10_how_many_12_trains(options: Options, left: int | None) -> None:
    assert new_game("1870", ("Ann", "Bob"), options).state.depot["12"] == left


@pytest.mark.parametrize(
    ("options", "par"),
    [((), 200), (PLAYED_BY_SITE, 300), ((*PLAYED_BY_SITE, "max_reissue_200"), 200)],
)
def test_row_11_the_par_of_reissued_shares(options: Options, par: int) -> None:
    run_scenario(
        OUT + f"@ price MP 400 0\n@ round stock Ann\nAnn: reissue MP\n= par MP {par}", options=options
    )


def test_row_12_a_reissue_after_ones_own_sale() -> None:
    body = OUT + "@ price MP 140 1\n@ owns Ann FW 6\n@ price FW 100 0\n@ round stock Ann\nAnn: sell 1 FW\n"
    run_scenario(body + "!Ann: reissue MP | 1870 §5.3")
    run_scenario(body + "Ann: reissue MP", options=PLAYED_BY_SITE)


@both
def test_row_12_no_redemption_after_it(options: Options) -> None:
    run_scenario(REDEEMING + "@ owns pool MP 2\nAnn: sell 1 MP\n!Ann: redeem MP | 1870 §5.3", options=options)


@pytest.mark.parametrize(
    ("options", "zones"),
    [
        ((), [("green",), (), ()]),
        (PLAYED_BY_SITE, [("brown",), ("yellow",), ("yellow",)]),
        ((*PLAYED_BY_SITE, "original_market"), [("green",), (), ()]),
    ],
)
def test_row_13_colours_of_three_spaces(options: Options, zones: list[tuple[str, ...]]) -> None:
    title = game_of(new_game("1870", ("Ann", "Bob"), options).state).title
    assert [title.cell(at).zones for at in ((4, 0), (6, 5), (7, 6))] == zones


def test_row_14_privates_between_players_in_phase_1() -> None:
    early = PHASE1 + "@ private SCC Bob\n@ round stock Ann\n"
    run_scenario(early + "Ann: buy private SCC from Bob for 30\nBob: accept\n= private SCC Ann")
    run_scenario(early + "!Ann: buy private SCC from Bob for 30 | 1870 §12.1", options=PLAYED_BY_SITE)


@both
def test_row_14_and_in_phase_2_for_the_purchase_of_the_turn(options: Options) -> None:
    later = PHASE2.replace("Ann 100", "Ann 300") + "@ private SCC Bob\n@ round stock Ann\n"
    run_scenario(
        later + "!Ann: buy private SCC from Bob for 0 | 1870 §12.1\n"
        "Ann: buy private SCC from Bob for 1\nBob: accept\n"
        "= private SCC Ann\n!Ann: buy FW from ipo | 1870 §5.3",
        options=options,
    )


def test_row_15_privates_of_a_closed_company() -> None:
    closed = (
        CLOSING.replace("@ limit 20\n", "") + "@ round stock Bob\nBob: sell 1 MP\n> until Cid\n= closed MP\n"
    )
    run_scenario(closed + "= private SCC pool")
    run_scenario(closed + "= private SCC closed", options=PLAYED_BY_SITE)


@pytest.mark.parametrize(("options", "order"), [((), ["FW", "MP"]), (PLAYED_BY_SITE, ["MP", "FW"])])
def test_row_16_half_a_dividend_and_the_order_in_a_space(options: Options, order: list[str]) -> None:
    state = run_scenario(HALF + "@ round operating MP\n> until dividend\nAnn: half\n", options=options)
    assert state.market_order == order


@both
def test_row_17_a_bank_with_nothing_left_is_not_broken(options: Options) -> None:
    paying = LAST + "@ trains MP 2\n@ cash bank {0}\n@ cash MP 180\n@ cash Bob {1}\n"
    paying += "@ round operating MP\n> until dividend\nAnn: pay\n"
    run_scenario(paying.format(40, 11780) + "= left none\n= cash bank 0", options=options)
    run_scenario(paying.format(20, 11800) + "= left 1", options=options)


def test_row_18_the_end_at_400_dollars() -> None:
    run_scenario(NEAR + "> until over\n= price FW 90 1", options=("finish_on_400",))
    run_scenario(NEAR + "= over", options=(*PLAYED_BY_SITE, "finish_on_400"))
    run_scenario(NEAR + "= price MP 400 0\n= turn Bob FW", options=PLAYED_BY_SITE)


@pytest.mark.parametrize(("options", "legal"), [((), False), (PLAYED_BY_SITE, True)])
def test_row_19_58_becomes_144(options: Options, legal: bool) -> None:
    state = run_scenario(ATSF + "@ tile B9 57 1\n@ tile B7 58 4\n= turn Ann ATSF", options=options)
    assert any(lay.tile == "144" and lay.hex == "B7" for lay in legal_lays(game_of(state), "ATSF")) is legal


@pytest.mark.parametrize(("options", "asked"), [((), "Bob"), (PLAYED_BY_SITE, "Cid")])
def test_row_20_who_bids_next_on_a_private(options: Options, asked: str) -> None:
    """Cid $55, Bob $60, Ann $65: at Ann's left is Bob, the lowest is Cid."""
    bids = "Ann: pass\nBob: pass\nCid: bid SCC 55\nAnn: pass\nBob: bid SCC 60\nCid: pass\nAnn: bid SCC 65\n"
    run_scenario(f"{bids}Bob: buy GRSC\nCid: buy MRBC\n= turn {asked}", options=options)


@both
def test_row_21_money_is_public(options: Options) -> None:
    assert not hidden_treasuries(
        run_scenario(OUT + "@ price MP 140 1\n@ round stock Ann\n= cash MP 100", options=options)
    )


@both
def test_row_22_half_its_price_for_the_bridge_in_phase_1(options: Options) -> None:
    body = PHASE1 + "@ private MRBC Ann\n@ round operating MP\n"
    run_scenario(
        body + "!Ann: buy private MRBC for 19 | 1870 §12.1\nAnn: buy private MRBC for 20", options=options
    )


def test_row_24_down_to_the_certificate_limit_before_a_forced_sale() -> None:
    over = "".join(f"@ owns Ann {c} 6\n@ price {c} 100 0\n" for c in ("SP", "GMO", "TP"))
    body = SHORT.replace("> until trains\n", "@ owns Ann IC 6\n@ price IC 50 3\n" + over + "> until trains\n")
    run_scenario(body + "= limit 20\n!Ann: sell 1 IC | 1870 §10.6.2\nAnn: sell 4 FW")
    run_scenario(body + "= limit 20\nAnn: sell 1 IC", options=PLAYED_BY_SITE)


@both
def test_row_25_all_its_capital_as_it_floats(options: Options) -> None:
    body = (
        "@ cash Bob 500\n@ owns Ann MP 5\n@ par MP 76\n@ owns Cid FW 6\n@ price FW 100 0\n@ round stock Bob\n"
    )
    run_scenario(
        body + "Bob: buy MP from ipo\n= cash MP 760\n> until Ann\n!Ann: redeem MP from Ann | 1870 §5.10",
        options=options,
    )


def test_row_25_money_for_reissued_shares_is_spent_in_that_round_on_the_site_only() -> None:
    body = OUT.replace("cash MP 100", "cash MP 60") + "@ price MP 140 1\n@ round stock Ann\n"
    sold = "Ann: reissue MP\nBob: buy MP from ipo\n= cash MP 170\n> until Ann\n"
    run_scenario(body + sold + "!Ann: redeem MP from Bob | 1870 §5.10")
    run_scenario(body + sold + "Ann: redeem MP from Bob\nBob: accept\n= cash MP 30", options=PLAYED_BY_SITE)


def test_row_25_reissues_of_a_round() -> None:
    """On the site a company reissues whenever it holds own shares and none of them is on offer."""
    body = OUT.replace("treasury MP 3", "treasury MP 1").replace("Bob MP 2", "Bob MP 4")
    body = (
        body.replace("cash MP 100", "cash MP 600") + "@ price MP 140 1\n@ round stock Ann\nAnn: reissue MP\n"
    )
    bought = "Bob: buy MP from ipo\n> until Ann\nAnn: redeem MP from Bob\nBob: accept\n> until Ann\n"
    run_scenario(body + bought + "!Ann: reissue MP | 1870 §5.11")
    run_scenario(body + bought + "Ann: reissue MP", options=PLAYED_BY_SITE)


OVER_LIMIT = "".join(f"@ owns Ann {c} 6\n@ price {c} 100 0\n" for c in ("SP", "GMO", "TP", "IC"))
OVER_LIMIT += "@ owns Ann MP 5\n@ owns Bob MP 2\n@ owns pool MP 2\n@ owns treasury MP 1\n"
OVER_LIMIT += "@ price MP 76 3\n@ cash MP 500\n@ round stock Ann\n= limit 20\n"


@pytest.mark.parametrize("line", ["redeem MP", "reissue MP"])
def test_row_12_a_president_over_the_certificate_limit_may_act_for_a_company_on_the_site(line: str) -> None:
    run_scenario(OVER_LIMIT + f"!Ann: {line}")
    run_scenario(
        OVER_LIMIT + "!Ann: buy MP from pool | 1870 §5.4\n!Ann: pass | 1870 §5.4\n" + f"Ann: {line}",
        options=PLAYED_BY_SITE,
    )


BROWN_PURCHASE = """
@ cash Ann 900
@ private SCC Bob
@ phase 2
@ owns Ann FW 6
@ price FW 100 0
@ owns Ann IC 4
@ owns Bob IC 6
@ price IC 82 2
@ owns Bob MP 5
@ owns pool MP 5
@ price MP 40 4
@ round stock Ann
"""


def test_row_12_sales_after_a_private_a_sale_and_a_purchase_in_the_brown_zone() -> None:
    """On the site a sale is refused only after two kinds of action of which the last was a purchase."""
    private = "Ann: buy private SCC from Bob for 50\nBob: accept\n"
    brown = "Ann: buy MP from pool\n"
    run_scenario(
        BROWN_PURCHASE + private + "Ann: sell 1 FW\n" + brown + "Ann: sell 1 IC", options=PLAYED_BY_SITE
    )
    run_scenario(
        BROWN_PURCHASE
        + "Ann: sell 1 FW\n"
        + private
        + "!Ann: sell 1 IC | 1870 §5.3\n"
        + brown
        + "Ann: sell 1 IC",
        options=PLAYED_BY_SITE,
    )
    run_scenario(BROWN_PURCHASE + private + brown + "!Ann: sell 1 FW | 1870 §5.3", options=PLAYED_BY_SITE)
    run_scenario(
        BROWN_PURCHASE + "Ann: sell 1 FW\n" + brown + "!Ann: sell 1 IC | 1870 §5.3", options=PLAYED_BY_SITE
    )


@both
def test_row_26_shares_redeemed_from_players(options: Options) -> None:
    own = REDEEMING + "@ owns Cid MP 2\n"
    run_scenario(
        own
        + "Ann: redeem MP from Ann\n= owns Ann MP 4\n= cash Ann 400\n"
        + "> until Ann\n!Ann: redeem MP from Ann | 1870 §5.10",
        options=options,
    )
    equal = REDEEMING.replace("Ann MP 5", "Ann MP 4").replace("Bob MP 3", "Bob MP 4") + "@ president MP Ann\n"
    run_scenario(equal + "!Ann: redeem MP from Ann | 1870 §5.10", options=options)
    four = REDEEMING.replace("Bob MP 3", "Bob MP 1") + "@ owns treasury MP 4\n"
    run_scenario(four + "!Ann: redeem MP from Ann | 1870 §5.10", options=options)


@both
def test_row_27_a_president_adds_nothing_to_another_companys_train(options: Options) -> None:
    body = POOR.replace("> until trains\n", "@ trains FW 4\n> until trains\n")
    run_scenario(
        body + "!Ann: buy train 4 from FW for 101 | 1870 §4.1\nAnn: buy train 4 from FW for 100\nBob: accept",
        options=options,
    )


def test_row_27_on_the_site_no_other_companys_train_after_a_sale() -> None:
    body = SHORT.replace("> until trains\n", "@ trains FW 4\n> until trains\n") + "Ann: sell 1 FW\n"
    run_scenario(body + "Ann: buy train 4 from FW for 100")
    run_scenario(body + "!Ann: buy train 4 from FW for 100 | 1870 §10.6.2", options=PLAYED_BY_SITE)


def test_every_row_has_its_test() -> None:
    found = [re.match(r"test_row_(\d+)_", name) for name in rule_tests(Path(__file__).parent)]
    tested = {int(row[1]) for row in found if row}
    assert tested | set(NOT_OF_PLAY) == set(ROWS)
    assert not tested & set(NOT_OF_PLAY)


KATY = """
@ cash Cid 500
@ private Katy Bob
@ owns Ann MKT 5
@ owns Bob MKT 1
@ price MKT 100 0
@ phase 2
@ round stock Bob
"""


def test_row_11_a_private_that_carries_a_share_stays_while_a_player_holds_the_share() -> None:
    offer = "Cid: buy private Katy from Bob for 50\n"
    run_scenario(KATY + "> until Cid\n" + offer + "Bob: accept\n= private Katy Cid\n= owns Bob MKT 1")
    run_scenario(KATY + "> until Cid\n!" + offer, options=PLAYED_BY_SITE)


def test_row_11_the_share_goes_to_the_buyer_of_the_private_from_the_pool() -> None:
    offer = "> until Cid\nCid: buy private Katy from Bob for 50\nBob: accept\n"
    bought = "= owns Cid MKT 1\n= owns pool MKT 0\n= cash Cid 450"
    run_scenario(KATY + "Bob: sell 1 MKT\n" + offer + bought, options=PLAYED_BY_SITE)
    run_scenario(KATY + "Bob: sell 1 MKT\n" + offer + "= owns pool MKT 1")
    rich = KATY + "Bob: sell 1 MKT\nAnn: protect MKT\n> until Cid\n"
    rich = rich.replace("cash Cid 500", "cash Cid 500\n@ cash Ann 200")
    run_scenario(rich + "!Cid: buy private Katy from Bob for 50 | 1870 §12.1", options=PLAYED_BY_SITE)


def test_row_11_who_could_buy_such_a_private_is_asked_although_they_may_not() -> None:
    """The site goes on offering it."""
    poor = KATY.replace("cash Cid 500", "cash Cid 60").replace("round stock Bob", "round stock Cid")
    run_scenario(
        poor + "= turn Cid\n!Cid: buy private Katy from Bob for 50 | 1870 §12.1", options=PLAYED_BY_SITE
    )
