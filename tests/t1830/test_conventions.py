"""Each row of the list of what the site 18xx.games plays otherwise, under both sets of conventions.

Row by row in the list's own order. Where a row says that the site plays as the book, tests of its sections
are played under both; row 23 is about reading recorded files and says nothing of play.
"""

import re
from pathlib import Path

from tests.t1830.scenarios import (
    SITE,
    Options,
    both_conventions,
    run_scenario,
    scenario_error,
)
from tests.t1830.test_18_track import running
from tests.t1830.test_20_routes import LONG
from tests.t1830.test_24_insolvency import need
from tests.t1830.test_tables import MH

PLAYED_BY_SITE = (SITE,)

ROWS = range(1, 25)
AS_THE_BOOK = {
    4: "test_7_the_player_after_the_last_buyer_has_the_priority",
    6: "test_7_2_a_bid_exceeds_face_value_and_other_bids_by_5_in_no_set_steps",
    7: "test_7_2_auction_starts_with_the_lowest",
    14: "test_23_1_of_another_player_with_his_consent",
    18: "test_25_exactly_nothing_left_is_not_broken",
    22: "test_21_between_companies_at_an_agreed_price",
    24: "test_19_forty_for_the_first_and_a_hundred_for_any_other",
}
NOT_OF_PLAY = {23: "about how leniently a recorded file is imported, not about what is legal"}

TRADING = """
@ cash Ann 1000
@ cash Bob 1000
@ owns Ann PRR 4
@ owns Bob PRR 2
@ par PRR 100
@ owns Ann NYC 3
@ owns Bob NYC 2
@ par NYC 100
@ round stock Ann
"""


def test_row_1_sales_around_the_purchase() -> None:
    around = TRADING + "Ann: sell 1 PRR\nAnn: buy NYC from ipo\n"
    run_scenario(around + "!Ann: sell 1 PRR | 1830 §4\n= owns Ann PRR 3")
    run_scenario(around + "Ann: sell 1 PRR\n= owns Ann PRR 2", options=PLAYED_BY_SITE)


BROWN = """
@ cash Ann 1000
@ owns Bob PRR 3
@ owns pool PRR 3
@ par PRR 67
@ price PRR 30 7
@ round stock Ann
"""


def test_row_2_more_certificates_in_the_brown_zone() -> None:
    either = "Ann: buy PRR from pool\nAnn: buy PRR from ipo\nAnn: buy PRR from pool\n= owns Ann PRR 3"
    run_scenario(BROWN + either)
    assert "come from the pool" in scenario_error(BROWN + either, options=PLAYED_BY_SITE)
    run_scenario(BROWN + "Ann: buy 2 PRR from pool\nAnn: buy PRR from pool", options=PLAYED_BY_SITE)
    run_scenario(BROWN + "Ann: buy PRR from ipo\n!Ann: buy PRR from pool | 1830 §10", options=PLAYED_BY_SITE)
    run_scenario(BROWN + either, options=(*PLAYED_BY_SITE, "multiple_brown_from_ipo"))


def test_row_2_brown_certificates_after_another_purchase() -> None:
    """By the book they are exempt from the limit of one certificate; the site wants them of one company."""
    two = BROWN.replace("@ round", "@ owns Cid CO 3\n@ owns pool CO 2\n@ par CO 67\n@ price CO 30 7\n@ round")
    for first in ("par NYC 67", "buy CO from pool"):
        said = f"Ann: {first}\nAnn: buy 2 PRR from pool\n= owns Ann PRR 2"
        run_scenario(two + said + "\n!Ann: par CPR 67 | 1830 §4")
        scenario_error(two + said, options=PLAYED_BY_SITE)
        scenario_error(two + said, options=(*PLAYED_BY_SITE, "multiple_brown_from_ipo"))


def test_row_2_brown_certificates_after_a_private() -> None:
    """The site takes those of one company from the pool; by the book a private is no purchase of shares."""
    deal = (
        BROWN.replace("@ round", "@ private SV Bob\n@ round")
        + "Ann: buy private SV from Bob for 5\nBob: accept\n"
    )
    two = (
        deal + "!Ann: buy PRR from ipo | 1830 §10\nAnn: buy PRR from pool\n"
        "Ann: buy PRR from pool\n= owns Ann PRR 2"
    )
    run_scenario(two + "\n!Ann: par CPR 67 | 1830 §4", options=PLAYED_BY_SITE)


LIMIT = (
    "@ cash Ann 100\n@ private SV Bob\n@ owns Bob Erie 3\n@ owns Ann Erie 2\n@ price Erie 60 3\n"
    + "".join(
        f"@ owns Ann {c} 5\n@ owns pool {c} 5\n@ par {c} 67\n@ price {c} 100 3\n"
        for c in ("PRR", "NYC", "CPR", "B&O", "CO")
    )
)
"""Ann is at the limit; what counts she cannot sell, and the shares that she can sell do not count."""


def test_row_3_on_the_site_any_share_is_sold_before_anything_else() -> None:
    above = LIMIT + "@ private CS Ann\n@ round stock Ann\n= limit 20\n"
    run_scenario(above + "Ann: pass")
    run_scenario(above + "!Ann: pass | 1830 §10\nAnn: sell 2 Erie\nAnn: done", options=PLAYED_BY_SITE)


def test_row_13_a_private_above_the_certificate_limit() -> None:
    deal = LIMIT + "@ round stock Ann\n= limit 20\n"
    run_scenario(deal + "!Ann: buy private SV from Bob for 1 | 1830 §10")
    run_scenario(
        deal + "Ann: buy private SV from Bob for 1\nBob: accept\n!Ann: pass | 1830 §10\nAnn: sell 1 Erie",
        options=PLAYED_BY_SITE,
    )


def test_row_13_on_the_site_who_has_to_sell_does_so_before_he_buys_a_private() -> None:
    over = "@ cash Ann 100\n@ private SV Bob\n@ owns Ann Erie 7\n@ owns Bob Erie 2\n@ price Erie 50 5\n"
    deal = over + "@ round stock Ann\n{}Ann: buy private SV from Bob for 1\nBob: accept\n= private SV Ann"
    run_scenario(deal.format(""))
    assert "Sell down to the limit first" in scenario_error(deal.format(""), options=PLAYED_BY_SITE)
    run_scenario(deal.format("Ann: sell 1 Erie\n"), options=PLAYED_BY_SITE)


def test_row_5_the_offered_private_at_another_price() -> None:
    run_scenario(
        "!Ann: buy SV for 1 | 1830 §7.1\n!Ann: buy SV for 50 | 1830 §7.1\nAnn: buy SV for 20\n= cash Ann 780"
    )
    run_scenario(
        "Ann: buy SV for 50\n= cash Ann 750\nBob: buy CS for 1\n= cash Bob 799", options=PLAYED_BY_SITE
    )


@both_conventions
def test_row_8_a_player_may_raise_his_own_bid(options: Options) -> None:
    again = "@ cash Ann 70\nAnn: bid CS 45\nBob: pass\nCid: pass\nAnn: bid CS 50\nBob: pass\nCid: pass\n"
    run_scenario(again + "Ann: buy SV\n= private CS Ann\n= cash Ann 0", options=options)


ERIE = """
@ owns Ann Erie 6
@ par Erie 100
@ cash Erie 500
@ new Erie
@ owns Bob CO 6
@ par CO 90
@ cash CO 500
@ token CO F6 D14
@ tile D12 8 4
@ phase 3
@ round operating Erie
"""


def test_row_9_the_home_of_the_erie() -> None:
    run_scenario(
        ERIE + "= turn Ann Erie\n!Ann: pass | 1830 §19.1\nAnn: home Erie E11.0\n= token Erie E11.0\nAnn: pass"
    )
    run_scenario(
        ERIE
        + """
        !Ann: home Erie E11.0 | 1830 §17
        = markers Erie 2
        > until CO
        Bob: lay 59 E11 3
        = turn Bob Erie
        !Ann: home Erie E11.1 | 1830 §19.1
        !Bob: pass | 1830 §19.1
        Bob: home Erie E11.1
        = token Erie E11.1
        = markers Erie 2
        """,
        options=PLAYED_BY_SITE,
    )


@both_conventions
def test_row_10_the_free_token_of_the_dh_is_placed_at_once_or_lost(options: Options) -> None:
    tile = running("PRR", "@ private DH PRR", phase="3") + "Ann: lay 57 F16 0 using DH\n= cash PRR 880\n"
    run_scenario(
        tile + "!Ann: run best | 1830 §20.2\n!Ann: lay 57 H10 1 | 1830 Table 1.2\n"
        "Ann: token F16\n= cash PRR 880\n= private DH PRR",
        options=options,
    )
    run_scenario(tile + "Ann: pass\n!Ann: token F16 | 1830 §17\n= markers PRR 3", options=options)
    run_scenario(
        running("PRR", "@ private DH PRR", phase="3") + "!Ann: lay 58 F16 0 using DH | 1830 Table 1",
        options=options,
    )
    laid = "@ private DH PRR\n@ tile F16 57 0"
    run_scenario(
        running("PRR", laid, phase="3") + "!Ann: lay 57 F16 0 using DH | 1830 Table 6", options=options
    )


@both_conventions
def test_row_12_the_mh_is_exchanged_at_any_moment(options: Options) -> None:
    run_scenario(
        MH.format(ann=1) + "@ round stock Bob\nAnn: exchange MH from ipo\n= turn Bob", options=options
    )
    full = MH.format(ann=1) + "@ round stock Cid\n"
    for company in ("PRR", "CPR", "BM"):
        full = f"@ owns Ann {company} 6\n@ par {company} 100\n" + full
    full = "@ owns Ann CO 5\n@ par CO 100\n" + full
    run_scenario(full + "Ann: exchange MH from ipo\n= owns Ann NYC 2\n= priority Cid", options=options)
    assert "before all privates are sold" in scenario_error(
        "Ann: buy SV\nBob: buy CS\nCid: buy DH\nAnn: buy MH\nAnn: exchange MH from ipo", options=options
    )


def test_row_12_before_the_nyc_has_a_price() -> None:
    early = "@ private MH Ann\n@ cash Bob 500\n@ round stock Bob\n"
    run_scenario(early + "!Ann: exchange MH from ipo | 1830 Table 1.3")
    run_scenario(
        early + "Ann: exchange MH from ipo\n= owns Ann NYC 1\n= private MH closed", options=PLAYED_BY_SITE
    )


PRIVATES = """
@ cash Ann 500
@ cash Bob 500
@ private CS Bob
@ private BO Bob
@ owns Bob BO 2
@ par BO 67
@ round stock {0}
"""


def test_row_13_who_deals_in_privates_between_players() -> None:
    run_scenario(PRIVATES.format("Bob") + "Bob: sell private CS to Ann for 0\nAnn: accept\n= private CS Ann")
    run_scenario(
        PRIVATES.format("Bob") + "!Bob: sell private CS to Ann for 40 | 1830 §23.1", options=PLAYED_BY_SITE
    )
    buying = PRIVATES.format("Ann") + "Ann: buy private CS from Bob for 40\nBob: accept\n= private CS Ann\n"
    run_scenario(buying + "Ann: buy BO from ipo")
    run_scenario(buying + "!Ann: buy BO from ipo | 1830 §4", options=PLAYED_BY_SITE)
    run_scenario(PRIVATES.format("Ann") + "Ann: buy private CS from Bob for 0\nBob: accept\n= cash Ann 500")
    run_scenario(
        PRIVATES.format("Ann") + "!Ann: buy private CS from Bob for 0 | 1830 §23.1", options=PLAYED_BY_SITE
    )
    run_scenario(
        PRIVATES.format("Ann") + "Ann: buy private BO from Bob for 40\nBob: accept\n= private BO Ann"
    )
    run_scenario(
        PRIVATES.format("Ann") + "!Ann: buy private BO from Bob for 40 | 1830 §23.1", options=PLAYED_BY_SITE
    )


def test_row_15_what_is_needed_of_a_presidents_certificate() -> None:
    """The site takes it as one: half of it is needed where the money lacks the whole."""
    left = need(ann=10) + "Ann: sell 1 NYC\n= cash Ann 100\n"
    run_scenario(left + "!Ann: sell 1 NYC | 1830 §24")
    run_scenario(left + "Ann: sell 1 NYC\nAnn: buy train 2", options=PLAYED_BY_SITE)


def test_row_15_privates_for_a_forced_purchase() -> None:
    private = need(ann=10, more="@ private CS Ann")
    run_scenario(private + "Ann: sell private CS to Bob for 90\nBob: accept\nAnn: buy train 2")
    run_scenario(private + "!Ann: sell private CS to Bob for 90 | 1830 §23.1", options=PLAYED_BY_SITE)


def test_row_15_no_sale_is_idle_before_a_purchase_between_companies() -> None:
    other = "@ owns Bob CO 6\n@ par CO 67\n@ trains CO 3\n@ phase 4\n@ depot 4 3"
    sold = need(ann=100, prr=20, more=other) + "Ann: sell 1 NYC\n"
    run_scenario(
        sold + "Ann: buy train 3 from CO for 121\nBob: accept\n= cash Ann 89", options=PLAYED_BY_SITE
    )
    least = scenario_error(sold + "Ann: buy train 3 from CO for 120", options=PLAYED_BY_SITE)
    assert "$121 or more" in least
    run_scenario(need(ann=100, prr=20, more=other) + "Ann: buy train 3 from CO for 1", options=PLAYED_BY_SITE)


def test_a_train_that_was_offered_is_not_bought_once_that_step_is_past() -> None:
    other = "@ owns Bob CO 6\n@ par CO 67\n@ trains CO 3 3\n@ trains PRR 2\n@ private DH Bob\n@ phase 3"
    asks = need(prr=90, more=other) + "Ann: buy train 3 from CO for 5\n"
    run_scenario(asks + "Bob: accept\n= trains PRR 2 3", options=PLAYED_BY_SITE)
    assert "buys no more trains" in scenario_error(asks + "Ann: done\nBob: accept", options=PLAYED_BY_SITE)


POOLED = running("PRR", "@ trains PRR 5 6\n@ trains pool D", phase="D") + "> until train\n"


def test_row_16_a_trade_in_for_a_diesel_of_the_pool() -> None:
    taken = "Ann: buy train D from pool trading 5\n= cash PRR 200\n= trains PRR 6 D\n= trains pool 5"
    run_scenario(POOLED + "!Ann: buy train D from pool | 1830 §21\n" + taken, options=PLAYED_BY_SITE)
    refused = scenario_error(POOLED + "Ann: buy train D from pool trading 5")
    assert "bought at face value, without a trade-in (1830 §21)" in refused


def test_row_16_diesels_are_six_or_unlimited() -> None:
    last = (
        running("PRR", "@ depot D 1\n@ trains PRR 6", phase="D", cash=3000)
        + "> until train\nAnn: buy train D\n"
    )
    run_scenario(last + "= depot none")
    assert "unlimited" in scenario_error("@ depot D 1\n@ round stock Ann", options=PLAYED_BY_SITE)
    site = running("PRR", "@ depot D\n@ trains PRR 6", phase="D", cash=3000)
    run_scenario(site + "> until train\nAnn: buy train D\n= depot D", options=PLAYED_BY_SITE)


def test_row_17_less_than_the_best_revenue() -> None:
    less = running("PRR", LONG + "@ trains PRR 3", phase="3")
    assert "highest revenue" in scenario_error(less + "Ann: run 3 H12-H10")
    run_scenario(less + "Ann: run 3 H12-H10\nAnn: withhold\n= cash PRR 1030", options=PLAYED_BY_SITE)


@both_conventions
def test_row_19_discards_in_the_printed_order_of_companies(options: Options) -> None:
    """The NYC, of the higher price, would operate before the PRR."""
    both_above = """
    @ owns Ann CO 6
    @ par CO 100
    @ cash CO 1000
    @ owns Bob PRR 6
    @ par PRR 67
    @ owns Cid NYC 6
    @ par NYC 90
    @ trains PRR 3 3 4
    @ trains NYC 3 4 4
    @ phase 4
    @ depot 5 3
    @ round operating CO
    > until train
    Ann: buy train 5
    = turn Bob PRR
    Bob: discard 3
    = turn Cid NYC
    Cid: discard 4
    = turn Ann CO
    = trains pool 3 4
    """
    run_scenario(both_above, options=options)


@both_conventions
def test_row_20_46_replaces_28(options: Options) -> None:
    over = running("PRR", "@ tile H14 28 5", phase="5")
    legal = [
        t
        for t in range(6)
        if "must be refused" in scenario_error(over + f"!Ann: lay 46 H14 {t}\n= over", options=options)
    ]
    assert legal
    for turn in range(6):
        run_scenario(over + f"!Ann: lay 45 H14 {turn}", options=options)


def test_row_21_the_stock_of_a_bankrupt() -> None:
    hopeless = need(own=5, more="@ phase 6\n@ depot 6 2\n@ owns pool PRR 5\n@ cash Cid 5")
    run_scenario(
        hopeless + "!Ann: bankrupt | 1830 §24.6\nAnn: sell 3 NYC\n"
        "Ann: bankrupt\n= over\n= cash Ann 0\n= score Ann 450"
    )
    run_scenario(
        hopeless + "Ann: bankrupt\n= over\n= cash Ann 0\n= owns Ann NYC 0\n= score Ann 450\n= price NYC 71 4",
        options=PLAYED_BY_SITE,
    )


def test_every_row_has_its_test() -> None:
    """In this file, or, where the site plays as the book, in the section that plays it under both."""
    here = Path(__file__)
    tested = {int(n) for n in re.findall(r"^def test_row_(\d+)_", here.read_text(encoding="utf-8"), re.M)}
    assert tested | set(NOT_OF_PLAY) | set(AS_THE_BOOK) == set(ROWS)
    assert not (tested | set(AS_THE_BOOK)) & set(NOT_OF_PLAY)
    sections = "".join(path.read_text(encoding="utf-8") for path in here.parent.glob("test_*.py"))
    for name in AS_THE_BOOK.values():
        assert re.search(rf"^@both_conventions\n(@.*\n)*def {name}\(", sections, re.M), name


CAMDEN = """
@ cash Cid 500
@ private CA Bob
@ owns Ann PRR 5
@ owns Bob PRR 1
@ par PRR 90
@ round stock Bob
"""


def test_row_11_the_camden_stays_while_a_player_holds_its_share_of_the_prr() -> None:
    """It goes to the buyer of the private for nothing if it is in the pool."""
    offer = "> until Cid\nCid: buy private CA from Bob for 50\n"
    run_scenario(
        CAMDEN.replace("round stock Bob", "round stock Cid") + offer + "Bob: accept\n= private CA Cid"
    )
    run_scenario(CAMDEN + offer.replace("Cid: buy", "!Cid: buy"), options=(SITE,))
    sold = "Bob: sell 1 PRR\n" + offer + "Bob: accept\n= owns Cid PRR 1\n= owns pool PRR 0\n= cash Cid 450"
    run_scenario(CAMDEN + sold, options=(SITE,))
