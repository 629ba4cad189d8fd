"""Games from late positions under a referee of turns, and what the referee says where a rule is broken."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bot.tools.simulation.simulate import simulate_from
from engine import AnyEvent
from engine.core.events import PriorityMoved, SharesMoved, TileLaid, TokenPlaced
from engine.game_text import replay
from engine.game_text.history import HistoryLine
from tests.scenarios import ScenarioRunner
from tests.simulation.referee import Referee, refereed
from tests.t1830.scenarios import BOUGHT as ALL_BOUGHT


def referee_of(title: str, body: str) -> Referee:
    """A referee who has followed a game text to its end without a word."""
    report = replay(ScenarioRunner(title).script_text(body))
    assert report.history is not None and report.ok, report.failure
    referee = Referee(report.history.start)
    for line in report.history.lines:
        assert list(referee.check_line(line)) == []
    return referee


PRR = "@ owns Ann PRR 6\n@ par PRR 100\n@ cash PRR 500\n"
TRACK = "@ tile H10 57 1\n@ tile H14 9 1\n@ tile H16 57 1\n"
TURN = "@ round operating PRR\n"
FOUR = "@ tile H10 57 1\n@ tile H16 57 1\n@ tile H4 57 0\n@ tile B10 57 0\n"
FULL = "@ tile H10 57 1\n@ owns Bob NYC 6\n@ par NYC 67\n@ token NYC E19 H10\n"
STOCK = """@ cash Ann 900
@ cash Bob 900
@ owns Ann PRR 5
@ owns Bob PRR 3
@ par PRR 100
@ owns Ann NYC 2
@ owns Cid NYC 3
@ owns pool NYC 5
@ par NYC 100
@ round stock Ann
"""
PLACED = PRR + TRACK + TURN + "Ann: token H10"
TRANS = STOCK.replace("NYC", "IC").replace("PRR", "MP").replace("par", "price")
ATSF = "@ owns Ann ATSF 6\n@ price ATSF 100 0\n@ cash ATSF 900\n@ private MRBC closed\n@ phase 1\n"
TWO = "@ tile B9 57 0\n@ round operating ATSF\nAnn: lay 9 C8 0\nAnn: lay 9 D7 0"
WT = "@ size WT 5\n@ owns Ann WT 3\n@ price WT 100\n@ cash WT 500\n@ token WT F19\n@ round operating WT\n"


def tile(hex: str, name: str, rotation: int = 0, company: str = "PRR") -> AnyEvent:
    return TileLaid(company, hex, name, rotation)


def share(company: str, source: str, target: str, percent: int = 10) -> AnyEvent:
    return SharesMoved(company, source, target, percent)


BOUGHT = ALL_BOUGHT + "Cid: par BO 100"
NYC_THEN_PRR = [share("NYC", "pool", "p0"), share("PRR", "p0", "pool")]
IC_THEN_MP = [share("IC", "pool", "p0"), share("MP", "p0", "pool")]
BROKEN: list[tuple[str, str, str, list[AnyEvent], str]] = [
    ("1830", PRR + TRACK + TURN, "lay 57 H4 0", [tile("H4", "57")], "connected to no token"),
    ("1830", PRR + TRACK + TURN, "lay 14 H10 1", [tile("H10", "14", 1)], "is green in phase 2"),
    ("1830", "@ phase 3\n" + PRR + TRACK + TURN, "lay 23 H14 0", [tile("H14", "23")], "does not keep"),
    ("1830", "@ phase 5\n" + PRR + TRACK + TURN, "lay 63 H10 0", [tile("H10", "63")], "replaces what is"),
    ("1830", PRR + TURN + "Ann: lay 57 H10 1", "lay 9 H14 1", [tile("H14", "9", 1)], "one tile too many"),
    ("1830", PRR + FOUR + TURN, "lay 57 B16 0", [tile("B16", "57")], "on the map than there are"),
    ("1870", ATSF + TWO, "lay 9 E6 0", [tile("E6", "9", 0, "ATSF")], "one tile too many"),
    ("1817", WT + "Ann: lay 57 F19 1", "lay 15 F19 1", [tile("F19", "15", 1, "WT")], "one tile too many"),
    ("1830", PRR + TRACK + TURN, "token E19", [TokenPlaced("PRR", "E19", 0)], "no route of the PRR leads"),
    ("1830", PRR + TRACK + TURN, "token H12", [TokenPlaced("PRR", "H12", 0)], "two tokens in H12"),
    ("1830", PLACED, "token H16", [TokenPlaced("PRR", "H16", 0)], "2 tokens in a turn"),
    ("1830", PRR + FULL + TURN, "token H10", [TokenPlaced("PRR", "H10", 0)], "the city of H10 is full"),
    ("1830", STOCK + "Ann: sell 1 PRR", "buy PRR", [share("PRR", "ipo", "p0")], "after it was sold"),
    ("1870", TRANS + "Ann: sell 1 MP", "buy MP", [share("MP", "ipo", "p0")], "after it was sold"),
    ("1830", STOCK, "buy 2 PRR from ipo", [share("PRR", "ipo", "p0", 20)], "more than 60 %"),
    ("1830", STOCK, "sell 1 NYC", [share("NYC", "p0", "pool")], "more than half of the NYC"),
    ("1830", STOCK + "Ann: buy PRR", "buy PRR", [share("PRR", "ipo", "p0")], "a second purchase"),
    ("1830", STOCK + "Ann: sell 1 PRR", "buy NYC", NYC_THEN_PRR, "is sold after a purchase"),
    ("1870", TRANS + "Ann: sell 1 MP", "buy IC", IC_THEN_MP, "is sold after a purchase"),
    ("1830", BOUGHT, "sell 1 PRR", [share("PRR", "p0", "pool")], "in the first stock round"),
]


@pytest.mark.parametrize(("title", "body", "line", "events", "words"), BROKEN)
def test_a_broken_rule_is_found(title: str, body: str, line: str, events: list[AnyEvent], words: str) -> None:
    referee = referee_of(title, body)
    found = list(referee.check_line(HistoryLine("p0", line, events)))
    assert sum(words in sentence for sentence in found) == 1, found


@pytest.mark.parametrize("dealt", ["Ann: buy PRR from ipo\n", ""])
def test_a_wrong_priority_deal_is_found(dealt: str) -> None:
    report = replay(ScenarioRunner("1830").script_text(STOCK + dealt + "> until operating"))
    assert report.history is not None and report.ok, report.failure
    referee = Referee(report.history.start)
    *lines, last = report.history.lines
    assert [found for line in lines for found in referee.check_line(line)] == []
    events = [event for event in last.events if not isinstance(event, PriorityMoved)]
    wrong = HistoryLine(last.seat, last.line, [PriorityMoved("p2"), *events])
    assert "p2 has the priority deal" in next(referee.check_line(wrong))


LATE = {
    "late-1817": ("convert", "companies merged", "company bought by another", "company bid for by several"),
    "connections-1870": ("connect", "place a destination token", "keep a destination token"),
}
"""Positions to which random play seldom comes, and what is wanted to happen in games from there."""


def played_on(name: str, seeds: range, check_every: int) -> None:
    """Games from a late position; together they have what is wanted."""
    start = replay((Path(__file__).parent / f"{name}.18xx").read_text(encoding="utf-8")).state
    assert start is not None
    seen = Counter[str]()
    for seed in seeds:
        game = refereed(simulate_from(start, seed, check_every=check_every))
        seen += game.kind_counts + game.consequence_counts
    assert [wanted for wanted in LATE[name] if not seen[wanted]] == []


@pytest.mark.parametrize(("name", "seeds"), [("late-1817", range(5, 6)), ("connections-1870", range(3, 4))])
def test_games_from_late_positions(name: str, seeds: range) -> None:
    played_on(name, seeds, check_every=30)


@pytest.mark.soak
@pytest.mark.parametrize("name", LATE)
def test_soak_from_late_positions(name: str) -> None:
    played_on(name, range(100, 140), check_every=7)
