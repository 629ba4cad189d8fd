"""Differences of 18xx.games in 1817 that few games meet and that its list of conventions does not have.

Each is compared with what the book says.
"""

from __future__ import annotations

import json
from copy import deepcopy

import pytest

from engine import copy_state, fold, game_of, prompt
from engine.core.actions import (
    Bid,
    BuyTrain,
    DeclareBankruptcy,
    DiscardTrain,
    KeepTokens,
    Pass,
    RaiseBid,
    RepayLoans,
    SellShares,
)
from engine.core.events import (
    AnyEvent,
    CoveredShortsChanged,
    CoveredShortsClosed,
    LoansChanged,
    PresidencyVacated,
    PresidentNamed,
    PriceMoved,
    SharesMoved,
    SharesRestructured,
    TokenPlaced,
    TrainsRusted,
)
from engine.core.reasons import LoanReason
from engine.core.state import State
from engine.game_text import HistoryLine
from engine.kernel import new_game, options, play, refusal
from engine.rounds.merger_sequence import begin_stock_round
from engine.site_18xx.certificate_numbering import CertificateNumbering
from engine.site_18xx.codec_registry import CODECS, encode_action
from engine.site_18xx.export import SiteExporter, SiteExportError
from engine.site_18xx.game_file import NoCounterpartError, SiteAction, SiteFileError, read_site_file
from engine.site_18xx.names import site_names_of
from engine.site_18xx.piece_numbering import PieceNumbering
from engine.site_18xx.replay import SiteReplay
from engine.site_18xx.site_table import position_snapshot
from tests.t1817.scenarios import ANN, BOB, BOTH, SITE, company_lines, run_scenario
from tests.t1817.test_05_stock import SEVEN, holding
from tests.t1817.test_06_track import company, turn

BY_SITE = (SITE,)
Options = tuple[str, ...]


def ledger(state: State) -> PieceNumbering:
    return PieceNumbering(site_names_of("1817"), game_of(state).title)


# -- the opening -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", BOTH)
def test_bids_that_are_offered_are_multiples_of_five(rules: Options) -> None:
    for body in ("Ann: pass", "Ann: bid MAJM 0"):
        state = run_scenario(body, options=rules)
        offered = [o.amounts for o in options(game_of(state), "p1") if isinstance(o.action, Bid)]
        assert offered and all(amounts and amounts.step == 5 for amounts in offered)


def test_a_bid_in_other_dollars_has_no_counterpart() -> None:
    state = run_scenario("Ann: bid MAJM 0", options=BY_SITE)
    game, names = game_of(state), site_names_of("1817")
    assert encode_action(game, names, ledger(state), "p1", Bid("MAJM", 10))[0]["price"] == 10
    with pytest.raises(NoCounterpartError, match=r"^the site takes bids in steps of \$5 only\.$"):
        encode_action(game, names, ledger(state), "p1", Bid("MAJM", 7))


# -- a stock round ---------------------------------------------------------------------------------


def test_above_the_limit_a_share_is_sold_short_as_well_as_sold() -> None:
    more = "@ size PW 5\n@ price PW 70\n@ owns Cid PW 2\n@ owns pool PW 1\n@ cash PW 100\n@ token PW G18\n"
    above = holding(10, more + "@ size PLE 5\n@ price PLE 60\n@ owns Ann PLE 2\n@ token PLE D7\n", ANN)
    run_scenario(
        above + "!Ann: short PW | 1817 §5.1\n!Ann: buy PW | 1817 §5.1\n"
        "!Ann: for PLE loan 1 | 1817 §5.1\nAnn: sell 1 A&S",
        SEVEN,
    )
    tries = (
        "!Ann: buy PW from pool | 1817 §5.1\n!Ann: for PLE loan 1 | 1817 §5.1\n"
        "!Ann: pass | 1817 §5.1\nAnn: short PW\n= owns Ann PW -1"
    )
    run_scenario(above + tries, SEVEN, options=BY_SITE)


def test_a_company_in_liquidation_takes_loans() -> None:
    body = "@ phase 3\n@ size WT 5\n@ price WT liquidation\n@ owns Ann WT 2\n@ token WT F19\n@ trains WT 2\n"
    body += "@ cash Ann 500\n@ trains bank 3 3\n" + ANN
    run_scenario(body + "!Ann: for WT loan 1 | 1817 §5.6\nAnn: pass")
    run_scenario(body + "Ann: for WT loan 1\n= loans WT 1\n= price WT liquidation", options=BY_SITE)


@pytest.mark.parametrize("rules", BOTH)
def test_who_does_not_pay_for_tokens_is_liquidated_in_the_printed_order(rules: Options) -> None:
    """The last is sold first: the WT, which stood above the SR."""
    body = "@ phase 5\n@ cash Ann 120\n@ cash Bob 120\n@ cash Cid 10\n@ trains bank 5 5 5\n"
    body += "@ private MAJM Ann\n@ private MAJC Bob\n@ private MINC Bob\n" + ANN
    body += "Ann: start WT F19 120\n?Bob: pass\nAnn: float 10 with MAJM\nBob: start SR G18 120\n"
    both = "Bob: float 10 with MAJC\nBob: float 10 with MINC\n" if rules else "Bob: float 10 with MAJC MINC\n"
    state = run_scenario(body + both + "?Cid: pass\nAnn: pass\n= turn Bob", options=rules)
    moved = [e for e in play(state, "p1", Pass()).events if isinstance(e, PriceMoved)]
    assert [(e.company, e.cell) for e in moved] == [("SR", (0, 0)), ("WT", (0, 0))]


@pytest.mark.parametrize("rules", BOTH)
def test_who_is_worth_a_bid_that_he_cannot_make_of_his_privates_stays_in_the_auction(rules: Options) -> None:
    """Bob's are worth $420, and no $385, $390 or $395 can be made of them; Cid has no money."""
    body = "@ cash Ann 380\n@ cash Bob 0\n@ cash Cid 0\n" + "".join(
        f"@ private {sym} Bob\n" for sym in ("MAJM", "UBC", "ME", "PSM", "CM", "TS")
    )
    body += ANN + "Ann: start SR G18 380\n"
    if not rules:
        run_scenario(body + "= president SR Ann")
        return
    state = run_scenario(body + "= president SR none\n= turn Bob", options=rules)
    assert [o.action for o in options(game_of(state), "p1")] == [Pass()]
    assert prompt(state) == "pass in the auction for the SR (home in Baltimore (G18); Ann has bid $380)"
    assert refusal(game_of(state), "p1", RaiseBid(395))
    run_scenario(body + "Bob: pass\n= president SR Ann\n= price SR 180", options=rules)


SHORT_BANK = "@ phase 5\n@ cash Ann 300\n@ cash Bob 300\n@ cash Cid 300\n@ trains bank 5 5\n"
SHORT_BANK += company_lines(
    "WT", 5, 60, "Ann 4, Cid 1, pool -1, treasury 1", cash=200, token="F19", trains=5
)  # fmt: skip
SHORT_BANK += company_lines("SR", 5, 60, "Ann 2, Cid 1", token="G18", trains=5)


def test_shares_sold_short_and_short_shares_of_the_bank_stay_open() -> None:
    """On the site anybody can buy it until a share is sold; then the bank closes."""
    body = SHORT_BANK + BOB + "Bob: short WT\n= owns pool WT 0\nBob: done\n"
    run_scenario(body + "!Cid: buy WT from pool | 1817 §5.4")
    run_scenario(body + "Cid: buy WT from pool\n= owns Cid WT 2\n= owns pool WT -1\n= turn Ann\n"
          "!Ann: for WT redeem 1 | 1817 §5.6", options=BY_SITE)  # fmt: skip
    run_scenario(
        body + "Cid: pass\nAnn: for WT redeem 1\n= owns pool WT -1\n= owns treasury WT 2", options=BY_SITE
    )
    run_scenario(
        body + "Cid: sell 1 SR\n!Cid: buy WT from pool | 1817 §5.4\n= owns pool WT 0", options=BY_SITE
    )


def test_the_bank_buys_from_the_treasury_although_the_pool_has_a_share() -> None:
    body = SHORT_BANK + BOB + "Bob: short WT\nBob: done\nCid: pass\nAnn: pass\nBob: pass\n"
    state = run_scenario(body + "= owns pool WT 0", options=BY_SITE)
    assert state.companies["WT"].covered_shorts == 1
    g = game_of(state)
    begin_stock_round(g, 2)
    wt = g.state.companies["WT"]
    assert (wt.shares["pool"], wt.shares.get("WT", 0), wt.covered_shorts) == (20, 0, 0)


def test_certificates_in_the_pool_stay_beside_those_that_are_sold_short() -> None:
    title = game_of(new_game("1817", ("Ann", "Bob", "Cid"), BY_SITE).state).title
    shares = CertificateNumbering(site_names_of("1817"), title)
    told: list[list[AnyEvent]] = [
        [SharesRestructured("WT", 2, {"p0": 100}), PresidentNamed("WT", "p0")],
        [SharesRestructured("WT", 5, {"p0": 40, "WT": 60})],
        [SharesMoved("WT", "p1", "pool", 20)],
        [SharesMoved("WT", "pool", "p0", 20)],
        [SharesMoved("WT", "p1", "pool", -20)],
        [CoveredShortsChanged("WT", 1), SharesMoved("WT", "p2", "pool", 20)],
    ]
    for events in told:
        shares.update(events)
    assert shares.holders("WT")["pool"] == {"WT_11": -20, "WT_12": 20}
    assert shares.holders("WT")["p2"] == {"WT_13": -20}
    bought, closed, backed = deepcopy(shares), deepcopy(shares), deepcopy(shares)
    bought.update([CoveredShortsChanged("WT", -1), SharesMoved("WT", "pool", "p0", 20)])
    assert bought.holders("WT")["pool"] == {"WT_11": -20} and "WT_12" in bought.holders("WT")["p0"]
    closed.update([CoveredShortsClosed("WT")])
    assert "pool" not in closed.holders("WT")
    backed.update([SharesMoved("WT", "WT", "pool", 20)])
    assert backed.holders("WT")["pool"] == {"WT_12": 20} and len(backed.holders("WT")["WT"]) == 2
    shares.update([SharesRestructured("WT", 10, {"p0": 30, "p2": -10, "WT": 80})])
    assert shares.holders("WT")["pool"] == {"WT_11": -10, "WT_12": 10}


def test_certificates_of_what_is_absorbed_are_numbered_as_theirs_came_into_being() -> None:
    """The WT's own 10 and 13 are gone by then: what is left is sold short before what is not."""
    title = game_of(new_game("1817", ("Ann", "Bob", "Cid"), BY_SITE).state).title
    shares = CertificateNumbering(site_names_of("1817"), title)
    told: list[list[AnyEvent]] = []
    for sym, seat in (("SR", "p0"), ("WT", "p1")):
        told += [[SharesRestructured(sym, 2, {seat: 100}), PresidentNamed(sym, seat)]]
        told += [[SharesRestructured(sym, 5, {seat: 40, sym: 60})]]
    told += [[SharesMoved("WT", seat, "pool", 20)] for seat in ("p2", "p3")]
    told += [[SharesMoved("WT", "pool", "p2", 20)]]
    for events in told:
        shares.update(events)
    assert shares.holders("WT")["p3"] == {"WT_13": -20} and "p2" not in shares.holders("WT")
    merged = {"p0": 20, "p1": 20, "p3": -10, "pool": 10, "SR": 60}
    shares.update(
        [
            SharesRestructured("SR", 10, merged),
            PresidencyVacated("WT"),
            SharesRestructured("WT", 10, {"WT": 100}),
        ]
    )
    assert shares.holders("SR")["p3"] == {"SR_10": -10} and shares.holders("SR")["pool"] == {"SR_11": 10}


def test_half_a_presidents_certificate_is_sold_by_itself_where_the_bank_is_short() -> None:
    body = SHORT_BANK.replace("owns Ann WT 4", "owns Ann WT 3").replace("owns Cid WT 1", "owns Cid WT 2")
    state = run_scenario(body + ANN + "= owns pool WT -1", options=BY_SITE)
    exporter = SiteExporter(new_game("1817", ("Ann", "Bob", "Cid"), BY_SITE).state)
    exporter.our_state, exporter.site.game = copy_state(state), game_of(copy_state(state))
    for events in (
        [SharesRestructured("WT", 2, {"p0": 100}), PresidentNamed("WT", "p0")],
        [SharesRestructured("WT", 5, {"p0": 40, "WT": 60})],
        [SharesMoved("WT", "WT", "p2", 40)],
        [SharesMoved("WT", "p1", "pool", 20)],
        [SharesMoved("WT", "pool", "p0", 20)],
        [SharesMoved("WT", "p1", "pool", -20)],
    ):
        exporter.site.numbering.update(events)
    exporter.add_line(HistoryLine("p0", "sell 2 WT", play(state, "p0", SellShares("WT", 2)).events))
    assert [(r["type"], r["percent"]) for r in exporter.actions] == [("sell_shares", 20), ("sell_shares", 20)]


# -- an operating turn -----------------------------------------------------------------------------


def test_no_bridge_once_the_interest_is_paid() -> None:
    ready = turn("private OBC WT", "trains WT 2") + "> until repay\n"
    run_scenario(ready + "Ann: bridge H9")
    run_scenario(ready + "!Ann: bridge H9 | 1817 §6.9\nAnn: pass", options=BY_SITE)
    run_scenario(ready.replace("> until repay", "> until trains") + "Ann: bridge H9", options=BY_SITE)


def test_a_run_is_asked_where_track_leads_from_one_city_of_a_hex_to_the_other() -> None:
    """It brings nothing: no route visits two cities of New York."""
    loop = ("tile F21 7 2", "tile E20 8 3", "tile D21 8 4", "tile D23 7 0", "trains WT 2")
    body = turn(*loop, tokens="E22.0") + "Ann: pass\n"
    assert run_scenario(body).top.step != "run"  # type: ignore[attr-defined]
    state = run_scenario(body + "= turn Ann", options=BY_SITE)
    assert state.top.step == "run"  # type: ignore[attr-defined]
    run_scenario(body + "Ann: run best\n= price WT 90", options=BY_SITE)
    alone = turn(*loop[:3], "trains WT 2", tokens="E22.0") + "Ann: pass\n"
    assert run_scenario(alone, options=BY_SITE).top.step != "run"  # type: ignore[attr-defined]


@pytest.mark.parametrize(("train", "waits"), [("2+", False), ("3", True)])
def test_trains_of_others_that_are_obsolete_are_none_to_wait_for(train: str, waits: bool) -> None:
    """The WT could pay for none of the bank's; only what another could sell it makes it wait."""
    body = company("loans WT 10", f"trains WT {train}", phase="4", cash=150)
    body += "@ size SR 5\n@ price SR 60\n@ owns Bob SR 2\n@ token SR G18\n@ trains bank 4\n"
    body = body.replace("trains WT", "trains SR") + "@ round operating WT\nAnn: pass\n"
    assert (getattr(run_scenario(body, options=BY_SITE).top, "step", "") == "trains") == waits


@pytest.mark.parametrize("rules", BOTH)
def test_a_company_without_a_president_discards_when_a_player_chooses(rules: Options) -> None:
    body = "@ phase 3\n@ cash Ann 500\n@ cash Bob 100\n@ size WT 10\n@ price WT 100\n@ owns Ann WT 6\n"
    body += "@ cash WT 900\n@ token WT F19\n@ trains WT 3\n@ depot 4\n@ size SR 5\n@ price SR liquidation\n"
    body += "@ owns Cid SR 2\n@ token SR G18\n@ trains SR 3 2+ 3 3\n@ round operating WT\n> until trains\n"
    state = run_scenario(body, options=rules)
    lost = state.companies["SR"]
    lost.president, lost.shares = None, {"pool": 100}
    bought = play(state, "p0", BuyTrain("4")).state
    if not rules:
        assert bought.companies["SR"].trains == ["3", "3", "3"]
        return
    assert len(bought.companies["SR"].trains) == 4
    assert refusal(game_of(bought), "p0", Pass())
    assert play(bought, "p0", DiscardTrain("3", "SR")).state.companies["SR"].trains == ["2+", "3", "3"]


@pytest.mark.parametrize("rules", BOTH)
@pytest.mark.parametrize("room", [True, False])
def test_discards_wait_for_the_end_of_a_turn_in_which_no_more_is_bought(rules: Options, room: bool) -> None:
    """On the site: with its third train the WT is at the limit of phase 4, and pays its interest."""
    body = "@ phase 3\n@ cash Ann 500\n@ size WT 10\n@ price WT 100\n@ owns Ann WT 6\n@ cash WT 1500\n"
    body += f"@ loans WT 2\n@ interest 10\n@ token WT F19\n@ trains WT 3{'' if room else ' 3'}\n@ depot 4\n"
    body += "@ size SR 5\n@ price SR 60\n@ owns Cid SR 2\n@ token SR G18\n@ trains SR 3 2+ 3 3\n"
    body += "@ round operating WT\n> until trains\nAnn: buy train 4\n"
    at_once = "= turn Cid\n= cash WT 1100\nCid: discard 3 of SR\n= turn Ann"
    later = "= turn Ann\n= cash WT 1080\nAnn: repay 1\nAnn: pass\n= turn Cid\nCid: discard 3 of SR"
    run_scenario(body + (later if rules and not room else at_once), options=rules)


@pytest.mark.parametrize("rules", BOTH)
@pytest.mark.parametrize(("train", "waits"), [("2+", False), ("3", True)])
def test_trains_that_the_bank_has_liquidated_are_some_to_wait_for(
    rules: Options, train: str, waits: bool
) -> None:
    """Nobody can buy them; but the site asks a company that has a dollar while there are any."""
    body = "@ phase 4\n@ cash Ann 0\n@ trains bank 4\n@ size WT 10\n@ price WT 100\n@ owns Ann WT 6\n"
    body += "@ loans WT 10\n@ cash WT 150\n@ token WT F19\n@ size SR 2\n@ price SR liquidation\n"
    body += f"@ owns Bob SR 2\n@ cash Bob 0\n@ token SR G18\n@ trains SR {train}\n@ round sale SR\n"
    sold = run_scenario(body + "?Ann: pass\n= price SR none\n= trains pool none", options=rules)
    assert sold.orphaned_trains == ([train] if rules else [])
    start = run_scenario(body.split("@ round")[0] + "@ round operating WT\n= turn Ann", options=rules)
    start.orphaned_trains = sold.orphaned_trains
    if rules:
        assert (getattr(play(start, "p0", Pass()).state.top, "step", "") == "trains") == waits
    start.orphaned_trains = ["3", "3"]
    assert fold([TrainsRusted("3")], start).orphaned_trains == []


@pytest.mark.parametrize("rules", BOTH)
def test_an_obsolete_train_that_is_discarded_leaves_the_game(rules: Options) -> None:
    body = "@ phase 3\n@ cash Ann 500\n@ size WT 10\n@ price WT 100\n@ owns Ann WT 6\n@ cash WT 900\n"
    body += "@ token WT F19\n@ trains WT 3 3 2+\n@ depot 4\n@ round operating WT\n> until trains\n"
    body += "Ann: buy train 4\n"
    body = body.replace(
        "Ann: buy train 4\n", "Ann: buy train 4\n?Ann: pass\n" if rules else "Ann: buy train 4\n"
    )
    run_scenario(body + f"Ann: discard 2+ of WT\n= trains pool {'none' if rules else '2+'}", options=rules)
    run_scenario(body + "Ann: discard 3 of WT\n= trains pool 3", options=rules)


# -- sales of companies ----------------------------------------------------------------------------


@pytest.mark.parametrize("rules", BOTH)
def test_tokens_of_the_charter_come_along_where_the_buyer_is_asked_nothing(rules: Options) -> None:
    """It has all the loans that it may have, and both stand in Philadelphia."""
    body = "@ phase 5\n@ cash Ann 0\n@ trains bank 5 5\n@ tile F19 14 0\n"
    body += company_lines("WT", 10, 100, "Ann 6", cash=50, loans=10, token="F19", markers=2)
    body += company_lines("SR", 10, "acquisition 1", "Bob 6", token="F19", markers=3)
    run_scenario(
        body + "@ round sale SR\nAnn: bid 10\n= price SR none\n= token WT F19\n= markers WT 6", options=rules
    )


def test_the_next_company_is_up_before_the_buyer_discards() -> None:
    """On the site what the PW has is set aside by then, and it is sold once the WT is at its limit."""
    body = "@ phase 4\n@ cash Ann 0\n@ cash Bob 0\n@ trains bank 4 4\n"
    body += company_lines("WT", 10, 100, "Ann 6", cash=500, loans=10, token="F19", trains="3 3 3")
    body += company_lines("PW", 2, "liquidation", "Bob 2", token="F13", cash=70, loans=1)
    body += company_lines("SR", 2, "liquidation", "Bob 2", token="G18", trains="3")
    sale = body + "@ round sale SR\nAnn: bid 10\n= turn Ann\n"
    run_scenario(sale + "= cash PW 70\nAnn: discard 3 of WT\n= turn Ann\n= cash PW 0")
    refused = "!Ann: bid 10 | 1817 §6.7\n"
    run_scenario(
        f"{sale}= cash PW 0\n{refused}Ann: discard 3 of WT\nAnn: bid 10\n= price PW none", options=BY_SITE
    )


@pytest.mark.parametrize("rules", BOTH)
def test_the_last_discard_comes_before_the_next_operating_round(rules: Options) -> None:
    body = "@ phase 4\n@ cash Ann 0\n@ cash Bob 0\n@ trains bank 4 4\n@ private MAJM WT\n"
    body += company_lines("WT", 10, 100, "Ann 6", cash=500, loans=10, token="F19", trains="3 3 3")
    body += company_lines("SR", 2, "liquidation", "Bob 2", token="G18", trains="3")
    sale = body + "@ round sale SR\nAnn: bid 10\n= cash WT 490\n"
    run_scenario(sale + "Ann: discard 3 of WT\n= cash WT 510", options=rules)


@pytest.mark.parametrize("rules", BOTH)
def test_the_absorbed_company_closes_before_tokens_are_removed(rules: Options) -> None:
    body = "@ phase 5\n@ trains bank 5 5\n" + company_lines("WT", 5, 100, "Ann 2", token="E22.0", markers=0)
    body += company_lines("SR", 5, 100, "Ann 2", token="E22.1", markers=1) + "@ round merger WT\n"
    body += "?Ann: act\nAnn: merge SR\n= turn Ann\n"
    state = run_scenario(body + "!Ann: pass | 1817 §7", options=rules)
    shown = position_snapshot(game_of(state), site_names_of("1817"), ["1", "2", "3"], 1)["companies"]
    assert list(shown) == (["WT"] if rules else ["SR", "WT"])
    run_scenario(body + "Ann: remove E22.1\n= price SR none\n= token WT E22.0\n= markers WT 2", options=rules)


@pytest.mark.parametrize(("rules", "president"), [((), "Bob"), (BY_SITE, "Ann")])
def test_of_several_with_the_most_shares_the_next_on_the_left_presides(
    rules: Options, president: str
) -> None:
    """Neither presides over what remains: Ann sits at Cid's left, Bob has presided over what goes."""
    body = "@ phase 5\n@ trains bank 5 5\n@ cash Ann 0\n@ cash Bob 0\n@ cash Cid 0\n"
    body += company_lines("WT", 5, 100, "Cid 2, Bob 1, Ann 1", token="F19") + "@ president WT Cid\n"
    body += company_lines("SR", 5, 100, "Bob 2, Ann 2", token="G18") + "@ president SR Bob\n"
    body += "@ round merger WT\n?Cid: act\n?Bob: pass\nCid: merge SR\nBob: accept\n"
    run_scenario(body + f"= president WT {president}", options=rules)


@pytest.mark.parametrize("rules", BOTH)
def test_loans_awaiting_repayment_are_not_back_in_the_bank_yet(rules: Options) -> None:
    """Sixty-six of the seventy loans are taken, four of them by the SR: four are left to the WT."""
    body = "@ phase 5\n@ cash Bob 0\n@ trains bank 5 5\n"
    others = ("A&S F13", "A&A F3", "Belt B5", "Bess C14", "B&A C22", "GT H3")
    for sym, home in (each.split() for each in others):
        body += f"@ size {sym} 10\n@ price {sym} acquisition 1\n@ owns Cid {sym} 2\n@ token {sym} {home}\n"
        body += f"@ loans {sym} 10\n"
    body += "@ size SR 5\n@ price SR liquidation\n@ owns Bob SR 2\n@ token SR G18\n@ loans SR 4\n"
    body += "@ size WT 10\n@ price WT 100\n@ owns Ann WT 6\n@ token WT F19\n@ loans WT 2\n@ cash WT 0\n"
    run_scenario(
        body + "@ round sale SR\n!Ann: bid 410 | 1817 §7.2.4\nAnn: bid 400\n= loans WT 6", options=rules
    )


@pytest.mark.parametrize("rules", BOTH)
def test_loans_that_came_along_are_repaid_once_further_ones_are_declined(rules: Options) -> None:
    body = "@ phase 3\n@ trains bank 3 3\n@ size WT 5\n@ price WT 100\n@ owns Ann WT 2\n@ token WT F19\n"
    body += "@ cash WT 400\n@ size SR 2\n@ price SR acquisition 2\n@ owns Bob SR 2\n@ token SR G18\n"
    body += "@ loans SR 2\n@ round sale SR\nAnn: bid 10\n= turn Ann\n"
    run_scenario(
        body + ("!Ann: repay 1 | 1817 §7.2.4\nAnn: pass\n" if rules else "") + "Ann: repay 1\n= loans WT 1",
        options=rules,
    )


def test_a_repayment_that_declines_further_loans_has_no_counterpart() -> None:
    """By the book it declines them in silence; the site asks for loans first."""
    body = "@ phase 3\n@ trains bank 3 3\n@ size WT 5\n@ price WT 100\n@ owns Ann WT 2\n@ token WT F19\n"
    body += "@ cash WT 400\n@ size SR 2\n@ price SR acquisition 2\n@ owns Bob SR 2\n@ token SR G18\n"
    start = run_scenario(body + "@ loans SR 2\n@ round sale SR\nAnn: bid 10\n= turn Ann", options=BY_SITE)
    book = run_scenario(body + "@ loans SR 2\n@ round sale SR\nAnn: bid 10\n= turn Ann")
    exporter = SiteExporter(new_game("1817", ("Ann", "Bob", "Cid"), ()).state)
    exporter.our_state, exporter.site.game = book, game_of(start)
    exporter.site.numbering.update([LoansChanged("WT", 2, LoanReason.TAKEN_OVER, "SR")])
    with pytest.raises(SiteExportError, match="there a buyer takes all loans before it repays any"):
        exporter.add_line(HistoryLine("p0", "repay 1", play(book, "p0", RepayLoans(1)).events))


def test_kept_tokens_are_exported_as_the_removal_of_the_others() -> None:
    eight = "B5 B17 C14 C22 F3 G6 H3 H9"
    body = "@ phase 7\n@ trains bank 7 7\n@ size WT 5\n@ price WT 100\n@ owns Ann WT 2\n"
    body += f"@ token WT {eight}\n@ size SR 5\n@ price SR 60\n@ owns Bob SR 2\n@ token SR I12 I16\n"
    body += "@ round merger WT\n?Ann: act\n?Bob: pass\nAnn: merge SR\nBob: accept\n= turn Ann"
    book, start = run_scenario(body), run_scenario(body, options=BY_SITE)
    exporter = SiteExporter(new_game("1817", ("Ann", "Bob", "Cid"), ()).state)
    exporter.our_state, exporter.site.game = book, game_of(start)
    for sym, hexes in (("WT", eight.split()), ("SR", ["I12", "I16"])):
        exporter.site.numbering.update([TokenPlaced(sym, hex, 0) for hex in hexes])
    line = f"keep {eight}"
    exporter.add_line(HistoryLine("p0", line, play(book, "p0", KeepTokens(tuple(eight.split()))).events))
    assert [r["type"] for r in exporter.actions] == ["remove_token", "remove_token"]


LAST_TWO = "@ phase 3\n@ cash Ann 0\n@ cash Bob 0\n@ cash Cid 0\n@ trains bank 3 3 3\n"
LAST_TWO += company_lines("SR", 2, "liquidation", "Bob 2", cash=70, token="G18")
LAST_TWO += company_lines("WT", 2, "liquidation", "Ann 2", loans=2, token="F19")
LAST_TWO += company_lines("PW", 2, 100, "Ann 2", cash=300, token="F13")
LAST_TWO += "@ round sale WT\nAnn: pass\n= cash Ann -200\n= cash SR 0\n"


def test_after_the_last_bankruptcy_sales_go_on_until_somebody_is_asked() -> None:
    """On the site only Ann could bid for the SR, which is up by then: it is Bob's money that comes of it."""
    state = run_scenario(LAST_TWO, options=BY_SITE)
    state.bankrupt_seats = ["p2"]
    last = play(state, "p0", DeclareBankruptcy()).state
    assert last.game_over and last.companies["SR"].par is None and last.cash["p1"] == 70


ALONE = "@ phase 3\n@ cash Ann 10\n@ cash Bob 500\n@ cash Cid 500\n@ interest 30\n@ trains bank 3 3\n"
ALONE += company_lines("WT", 2, 100, "Ann 2", cash=15, loans=2, token="F19", trains=2)
ALONE += "@ round operating WT\n?Ann: pass\n?Ann: done\n?Ann: done\n?Ann: done\n= cash Ann -35\n"


@pytest.mark.parametrize("rules", BOTH)
def test_the_last_bankruptcy_in_an_operating_round_ends_the_game_before_any_sale(rules: Options) -> None:
    state = run_scenario(ALONE, options=rules)
    state.bankrupt_seats = ["p2"]
    last = play(state, "p0", DeclareBankruptcy()).state
    assert last.game_over and last.companies["WT"].former_president == "p0"


def test_a_run_of_no_route_is_read_where_one_is_asked_for() -> None:
    loop = ("tile F21 7 2", "tile E20 8 3", "tile D21 8 4", "tile D23 7 0", "trains WT 2")
    state = run_scenario(turn(*loop, tokens="E22.0") + "Ann: pass\n= turn Ann", options=BY_SITE)
    file = {"title": "1817", "players": [{"id": n, "name": f"P{n}"} for n in (1, 2, 3)], "actions": []}
    back = SiteReplay(read_site_file(json.dumps(file).encode()))
    back.game, back.state = game_of(state), state
    action = SiteAction(id=1, type="run_routes", entity="WT", entity_type="corporation", routes=[])
    CODECS["run_routes"].decode(back, action)
    assert back.state.top.step != "run" and game_of(back.state).price("WT") == 90  # type: ignore[attr-defined]


def test_a_city_that_is_not_on_the_map_is_refused() -> None:
    """A damaged file may name a tile that lies nowhere."""
    state, _ = new_game("1817", ["Ann", "Bob", "Cid"], (SITE,), 0)
    with pytest.raises(SiteFileError, match="'593-0-0' is no city of this map"):
        ledger(state).find_city("593-0-0")
