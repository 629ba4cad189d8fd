"""What differs on the site, and the sentences that say why an export ends."""

from __future__ import annotations

import pytest

import engine
from engine.core.actions import BuyTrain
from engine.core.events import CashMoved
from engine.core.reasons import CashReason
from engine.core.state import State, copy_state
from engine.game_text import GameHistory, HistoryLine
from engine.kernel import game_of, new_game, play
from engine.site_18xx.differences import refusal_on_site
from engine.site_18xx.export import SiteExporter, SiteExportError, export_game
from engine.site_18xx.position_difference import position_difference
from engine.title import SITE_CONVENTIONS
from tests.t1817.scenarios import company_lines
from tests.t1817.scenarios import run_scenario as run_1817_scenario
from tests.t1830.scenarios import run_scenario as run_1830_scenario

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
    over = "stock round 2 is over there, and it is operating round 2.1."
    assert refusal_on_site(train, why, position_difference(*rounds)).endswith(f"result there: {over}")
    assert position_difference(*reversed(rounds)) == "stock round 2 goes on there, and Bob is asked."


OPERATING = (
    "@ phase 3\n@ owns Ann PRR 6\n@ par PRR 67\n@ cash PRR 500\n@ trains PRR 3\n"
    "@ owns Bob NYC 6\n@ par NYC 67\n@ cash NYC 500\n"
    "@ tile H10 57 1\n@ token PRR H10\n@ round operating PRR\n= phase 3\n"
)


@pytest.mark.parametrize(
    ("here", "there", "told"),
    [
        ("operating PRR", "operating NYC", "the NYC has its turn there, and the PRR here."),
        ("@ owns Bob NYC 6\n@ par NYC 67\n@ cash NYC 500\n", "", "the NYC is in play here, and not there."),
        ("Bob NYC 6", "Bob NYC 7", "the shares of the NYC differ there."),
        ("@ cash PRR", "@ price PRR 76\n@ cash PRR", "the PRR is at $76 there, and at $67 here."),
        ("@ trains PRR 3\n", "", "the PRR has no train there, 3 here."),
        ("@ tile", "@ private CS Ann\n@ tile", "the CS belongs to Ann there and to nobody (closed) here."),
        ("cash PRR 500", "cash PRR 480", "the PRR has $20 less there."),
        ("@ tile H10 57 1\n@ token PRR H10\n", "", "the tiles on the map differ."),
        ("@ token PRR H10\n", "", "the tokens in H10 differ."),
        ("@ round", "@ trains pool 3\n@ round", "the trains in play differ."),
    ],
)
def test_the_first_difference_of_two_positions_is_told(here: str, there: str, told: str) -> None:
    ours, site = (run_1830_scenario(body) for body in (OPERATING, OPERATING.replace(here, there)))
    assert position_difference(ours, ours) is None
    assert position_difference(ours, site) == told


def test_as_far_as_possible_the_move_after_which_the_positions_differ_is_a_remark() -> None:
    start = new_game("1830", ("Ann", "Bob", "Cid"), ()).state
    history = history_from(start, "Ann: buy SV", "Bob: buy CS")
    last = history.lines[-1]
    paid = HistoryLine(last.seat, last.line, (*last.events, CashMoved("bank", "p0", 5, CashReason.REVENUE)))
    other = GameHistory(start, (*history.lines[:-1], paid))
    with pytest.raises(SiteExportError, match=r"Move 2 .*: afterwards Ann has \$5 less there\."):
        export_game(other)
    actions = export_game(other, as_far_as_possible=True)["actions"]
    assert [action["type"] for action in actions] == ["bid", "message", "message"]
    assert "Ann has $5 less there." in actions[1]["message"] and actions[2]["message"] == "Bob: buy CS"


def test_the_bank_pays_capital_at_once_on_the_site() -> None:
    """1830 §11: positions that differ in awaited capital only are the same."""
    floating = "@ cash bank 1000\n@ cash Bob 400\n@ owns Ann NYC 5\n@ par NYC 90\n@ round stock Bob\n"
    lines = floating + "Bob: buy NYC from ipo\n"
    ours, site = (run_1830_scenario(lines, options=options) for options in ((), (SITE_CONVENTIONS,)))
    assert (ours.cash["NYC"], site.cash["NYC"]) == (0, 900)
    assert position_difference(ours, site) is None
