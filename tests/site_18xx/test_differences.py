"""What differs on the site: lines in its order, and sentences that name a rule which ends an export."""

from __future__ import annotations

import pytest

import engine
from engine.core.actions import BuyTrain
from engine.core.events import CashMoved
from engine.core.reasons import CashReason
from engine.core.state import State, copy_state
from engine.game_text import GameHistory, HistoryLine
from engine.kernel import game_of, new_game, play
from engine.site_18xx.differences import named_difference, refusal_on_site
from engine.site_18xx.export import SiteExporter, SiteExportError, export_game
from engine.site_18xx.position_difference import position_difference
from engine.title import SITE_CONVENTIONS
from tests.t1817.scenarios import company_lines
from tests.t1817.scenarios import run_scenario as run_1817_scenario
from tests.t1830.scenarios import run_scenario as run_1830_scenario
from tests.t1870.scenarios import run_scenario as run_1870_scenario
from tests.t1870.test_11_destinations import CONNECTED

BRIDGES = (
    "@ phase 3\n@ cash Ann 100\n@ cash Bob 100\n@ cash Cid 100\n@ private UBC WT\n"
    + company_lines("WT", 5, 100, "Ann 2", cash=100, loans=1, token="F19", trains="3")
    + "@ round operating WT\n> until trains\n"
)


def history_from(start: State, *lines: str) -> GameHistory:
    """Lines as `Ann: pass`, played from that position."""
    state, told = copy_state(start), []
    for each in lines:
        name, _, line = each.partition(": ")
        seat = state.seats[state.players.index(name)]
        state, events = play(state, seat, engine.parse(state, seat, line))
        told.append(HistoryLine(seat, line, events))
    return GameHistory(start, tuple(told))


def exporter_between(ours: State, site: State) -> SiteExporter:
    """An export that has come to these positions."""
    exporter = SiteExporter(new_game(ours.title, ours.players, ()).state)
    exporter.our_state, exporter.site.game = copy_state(ours), game_of(copy_state(site))
    return exporter


def test_a_bridge_after_the_interest_has_no_counterpart() -> None:
    """1817 §1.2.6: by the book at any time of the turn; the site wants it before §6.8."""
    ours, site = (run_1817_scenario(BRIDGES, options=options) for options in ((), (SITE_CONVENTIONS,)))
    exporter, history = exporter_between(ours, site), history_from(ours, "Ann: pass", "Ann: bridge G6")
    exporter.add_line(history.lines[0])
    with pytest.raises(SiteExportError, match=r"Move 2 .*there bridges are placed before the interest"):
        exporter.add_line(history.lines[1])


UNPAID = (
    "@ phase 3\n@ cash Ann 100\n@ cash Bob 100\n@ cash Cid 100\n"
    + company_lines("WT", 2, 100, "Ann 2", token="F19", trains="3")
    + company_lines("SR", 5, 70, "Bob 2", cash=100, token="I16", trains="3")
    + "@ round merger WT\n?Ann: act\n?Bob: pass\nAnn: convert\nAnn: pass\nBob: pass\nCid: pass\n"
)


def test_what_is_liquidated_in_a_merger_round_is_sold_in_the_next_on_the_site() -> None:
    """1817 §7, §7.1.1: by the book it is sold in the same round."""
    ours, site = (run_1817_scenario(UNPAID, options=options) for options in ((), (SITE_CONVENTIONS,)))
    exporter = exporter_between(ours, site)
    history = history_from(ours, "Ann: pass", "Bob: pass", "Bob: bid 10")
    with pytest.raises(
        SiteExportError, match="there the WT, which came into liquidation in this merger round"
    ):
        for line in history.lines:
            exporter.add_line(line)


def test_the_price_after_a_connection_run_is_named() -> None:
    """1870 §11.4.2."""
    lines = "Bob: destination place\nBob: run best\n"
    ours = run_1870_scenario(CONNECTED + lines)
    site = run_1870_scenario(CONNECTED.replace("Bob: connect run\n", "") + lines, options=(SITE_CONVENTIONS,))
    [line] = history_from(ours, "Bob: pay").lines
    paid = play(ours, "p1", engine.parse(ours, "p1", "pay")).state
    there = play(site, "p1", engine.parse(site, "p1", "pay")).state
    assert position_difference(paid, there)
    assert "moves the price to the right, not up" in (named_difference(paid, there, line.events) or "")


def test_the_next_bidder_on_a_private_is_named() -> None:
    """1870 §5.7: by the book at the left of the highest, on the site the lowest."""
    bids = "Ann: pass\nBob: pass\nCid: bid SCC 55\nAnn: pass\nBob: bid SCC 60\nCid: pass\nAnn: bid SCC 65\n"
    body = f"{bids}Bob: buy GRSC\nCid: buy MRBC\n"
    ours, site = (run_1870_scenario(body, options=options) for options in ((), (SITE_CONVENTIONS,)))
    assert named_difference(ours, site, ()) == "there the lowest bidder on a private comes next, Cid."


def test_a_private_of_a_bankrupt_is_no_difference() -> None:
    """1817 §7.4: by the book it goes to the open market, where nobody can buy it."""
    state = run_1817_scenario("@ phase 3\n@ cash Ann 100\n@ round stock Ann\n= cash Ann 100")
    ours, site = copy_state(state), copy_state(state)
    for each in (ours, site):
        each.bankrupt_seats.append("p2")
    ours.private_owners["CM"], site.private_owners["CM"] = "closed", "p2"
    assert position_difference(ours, site) is None
    site.bankrupt_seats.clear()
    assert position_difference(ours, site)


def test_a_private_that_took_the_place_of_the_certificate_is_named() -> None:
    """1830 §23.1: by the book a private is bought beside a certificate."""
    body = "@ cash Ann 100\n@ cash Bob 500\n@ private SV Bob\n@ owns Bob PRR 6\n@ par PRR 67\n@ phase 3\n"
    body += "@ round stock Ann\n"
    deal = "Ann: buy private SV from Bob for 30\nBob: accept\n= private SV Ann\n"
    ours = run_1830_scenario(body + deal)
    site = run_1830_scenario(body + deal, options=(SITE_CONVENTIONS,))
    events = (
        history_from(
            run_1830_scenario(body + "= turn Ann"), "Ann: buy private SV from Bob for 30", "Bob: accept"
        )
        .lines[-1]
        .events
    )
    assert named_difference(ours, site, events) == (
        "there a private takes the place of the turn's certificate, and the turn is over."
    )


def test_a_refusal_without_a_rule_of_its_own_tells_what_differs_before_it() -> None:
    """Item 16: never `There is no 6-train in the pool`, but whose it is there."""
    why = "There is no 6-train in the pool (1830 §21)."
    train = BuyTrain("6", "pool")
    told = refusal_on_site(train, why, "the PRR has 6 there, none here.")
    assert told == "the moves before it have another result there: the PRR has 6 there, none here."
    stock = "@ owns Ann PRR 6\n@ par PRR 100\n@ cash PRR 100\n@ cash Bob 500\n@ round "
    rounds = [
        run_1830_scenario(stock + words)
        for words in ("stock Bob\n= turn Bob", "stock Bob\n> until operating\n= turn Ann")
    ]
    over = "there the stock round is over, and it is the operating round 2.1."
    assert refusal_on_site(train, why, position_difference(*rounds)) == over
    assert position_difference(*reversed(rounds)) == "there the stock round goes on, and Bob is asked."


def test_as_far_as_possible_the_move_after_which_the_positions_differ_is_a_remark() -> None:
    start = new_game("1830", ("Ann", "Bob", "Cid"), ()).state
    history = history_from(start, "Ann: buy SV", "Bob: buy CS")
    last = history.lines[-1]
    paid = HistoryLine(last.seat, last.line, (*last.events, CashMoved("bank", "p0", 5, CashReason.REVENUE)))
    other = GameHistory(start, (*history.lines[:-1], paid))
    with pytest.raises(SiteExportError, match=r"Move 2 .* Ann has \$5 less there\."):
        export_game(other)
    actions = export_game(other, as_far_as_possible=True)["actions"]
    assert [action["type"] for action in actions] == ["bid", "message", "message"]
    assert "Ann has $5 less there." in actions[1]["message"] and actions[2]["message"] == "Bob: buy CS"


def test_the_bank_pays_capital_at_once_on_the_site() -> None:
    """1830 §11: positions that differ in awaited capital only are the same; a bank broken by it is not."""
    floating = "@ cash bank {bank}\n@ cash Bob 400\n@ owns Ann NYC 5\n@ par NYC 90\n@ round stock Bob\n"
    for bank, broken in ((1000, False), (800, True)):
        lines = floating.format(bank=bank) + "Bob: buy NYC from ipo\n"
        ours, site = (run_1830_scenario(lines, options=options) for options in ((), (SITE_CONVENTIONS,)))
        assert (ours.cash["NYC"], site.cash["NYC"], site.bank_broken) == (0, 900, broken)
        assert position_difference(ours, site) is None
        sentence = "there the bank pays capital as soon as a company floats, and is broken if it cannot."
        assert named_difference(ours, site, ()) == (sentence if broken else None)
