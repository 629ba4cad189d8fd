"""Every form of line that 1817 has is read, in full and in short, and stored in full."""

from __future__ import annotations

import pytest

import engine
from engine import AmbiguousError, RefusedError, State
from tests.t1817.scenarios import company_lines, run_scenario

CASH = "@ cash Ann 900\n@ cash Bob 900\n@ cash Cid 900\n"
FIVES = CASH + company_lines("WT", 5, 100, "Ann 2, pool 1", cash=500, loans=1, token="F19", trains=2)
FIVES += company_lines("SR", 5, 60, "Bob 2", cash=300, token="G18", trains=2)
MORE = FIVES.replace("owns Bob SR 2", "owns Bob SR 2\n@ owns Ann WT 3\n@ owns Bob WT 1").replace(
    "@ owns Ann WT 2\n", ""
)
WORKS = CASH + company_lines("WT", 5, 100, "Ann 3", cash=500, loans=2, markers=1, token="F19", trains=2)
WORKS += "@ tile F19 57 2\n@ tile G20 7 1\n"
MINES = WORKS.replace("F19 57 2", "F13 57 0").replace("WT F19", "WT F13") + "@ private CM WT\n"
MILL = "@ private PSM WT\n@ private UBC WT\n"
TRAINS = f"{FIVES}@ trains pool 2+\n"
FULL = f"{FIVES}@ tile F19 57 5\n@ trains SR 2 2 2 2 2\n"
WEAK = FIVES.replace("price SR 60", "price SR acquisition 2").replace("trains SR 2\n", "trains SR 2 2 2 2\n")
TWO_BUYERS = f"{WEAK}@ size PW 5\n@ price PW 80\n@ owns Ann PW 2\n@ cash PW 200\n@ token PW C26\n"
STOCK, RUN, GROW, SALE = (
    "@ round stock Ann",
    "@ round operating WT",
    "@ round merger WT",
    "@ round sale SR",
)


def after(body: str, *lines: str) -> State:
    """The position after a set-up and lines, each `Ann: pass`."""
    state = (
        run_scenario(f"{body}\n= phase 2") if body else engine.new_game("1817", ["Ann", "Bob", "Cid"]).state
    )
    for each in lines:
        name, _, line = each.partition(": ")
        seat = next(s for s in state.seats if state.name(s) == name)
        state = engine.play_line(state, seat, line).state
    return state


BOUGHT = ("Ann: bid OBC 40", "Bob: bid TS 80", "Cid: pass", "Ann: pass", "Bob: pass")
STARTED = (*BOUGHT, "Cid: pass", "Ann: start SR G18 150", "Bob: pass", "Cid: pass")
GROWN = ("Ann: act", "Bob: pass", "Ann: convert")

FORMS = [
    ("", (), "bid obc $20", "bid OBC 20"),
    ("", ("Ann: bid OBC 20",), "bid 25", "bid OBC 25"),
    ("", ("Ann: bid OBC 20",), "bid up to 30", "bid up to 30"),
    ("", (), "pass", "pass"),
    (f"{MORE}{STOCK}", (), "sell 1 WT", "sell 1 WT"),
    (f"{MORE}{STOCK}", (), "sell WT", "sell 1 WT"),
    (f"{FIVES}{STOCK}", (), "short SR", "short SR"),
    (f"{FIVES}{STOCK}", (), "short sr", "short SR"),
    (f"{FIVES}{STOCK}", (), "buy WT from pool", "buy WT from pool"),
    (f"{FIVES}{STOCK}", (), "buy WT from treasury", "buy WT from treasury"),
    (f"{FIVES}{STOCK}", (), "buy SR", "buy SR from treasury"),
    (f"{FIVES}{STOCK}", (), "for WT loan 2", "for WT loan 2"),
    (f"{FIVES}{STOCK}", (), "for wt redeem 1", "for WT redeem 1"),
    (f"{FIVES}{STOCK}", (), "start B&A C26 150", "start B&A C26 150"),
    (f"{FIVES}{STOCK}", (), "start BA C26 $150", "start B&A C26 150"),
    (f"{FIVES}{STOCK}", (), "start ME E22.1 150", "start ME E22.1 150"),
    (f"{FIVES}{STOCK}", ("Ann: start ME C26 150",), "bid 155", "bid 155"),
    (f"{FIVES}{STOCK}", ("Ann: start ME C26 150",), "bid up to 200", "bid up to 200"),
    ("", STARTED, "float 2 with OBC", "float 2 with OBC"),
    ("", STARTED, "float with obc", "float 2 with OBC"),
    ("", STARTED, "float 2", "float 2"),
    (f"{WORKS}{RUN}", (), "lay #7 E18 4", "lay 7 E18 4"),
    (f"{MINES}{RUN}", (), "lay 7 G12 2 with mine", "lay 7 G12 2 with mine"),
    (f"{MINES}{RUN}", (), "lay 7 G12 2 with mine of CM", "lay 7 G12 2 with mine of CM"),
    (f"{WORKS}{RUN}", (), "token G18", "token G18"),
    (f"{WORKS}{RUN}", (), "pass", "pass"),
    (f"{WORKS}{RUN}", (), "loan 1", "loan 1"),
    (f"{WORKS}{RUN}", (), "run best", "run 2 F19-G18"),
    (f"{WORKS}{RUN}", (), "run 2 g18-f19", "run 2 G18-F19"),
    (f"{WORKS}{RUN}", (), "run G18-F19", "run 2 G18-F19"),
    (f"{WORKS}{RUN}", ("Ann: run best",), "pay", "pay"),
    (f"{WORKS}{RUN}", ("Ann: run best",), "half", "half"),
    (f"{WORKS}{RUN}", ("Ann: run best",), "withhold", "withhold"),
    (f"{WORKS}{RUN}", ("Ann: run best", "Ann: pay"), "buy train 2", "buy train 2"),
    (f"{WORKS}{RUN}", ("Ann: run best", "Ann: pay", "Ann: pass"), "repay 1", "repay 1"),
    (f"{WORKS}{RUN}", ("Ann: run best", "Ann: pay", "Ann: pass"), "loan 3", "loan 3"),
    (f"{WORKS}{MILL}{RUN}", (), "mill 2", "mill 2"),
    (f"{WORKS}{MILL}{RUN}", (), "bridge H9", "bridge H9"),
    (f"{WORKS}{MILL}{RUN}", (), "bridge H9 of UBC", "bridge H9 of UBC"),
    (f"{TRAINS}{RUN}", (), "buy train 2+ from pool", "buy train 2+ from pool"),
    (f"{TRAINS}{RUN}", (), "buy train 2 from SR for 50", "buy train 2 from SR for 50"),
    (f"{TRAINS}{RUN}", ("Ann: buy train 2 from SR for 50",), "pass", "pass"),
    (f"{FIVES}{GROW}", (), "act", "act"),
    (f"{FIVES}{GROW}", ("Ann: act", "Bob: pass"), "convert", "convert"),
    (f"{FIVES}{GROW}", ("Ann: act", "Bob: pass"), "merge SR", "merge SR"),
    (f"{FIVES}{GROW}", ("Ann: act", "Bob: pass"), "merge SR as SR", "merge SR as SR"),
    (f"{FIVES}{GROW}", GROWN, "buy 2", "buy 2"),
    (f"{FIVES}{GROW}", (*GROWN, "Ann: pass"), "buy 1", "buy 1"),
    (f"{FIVES}{GROW}", (*GROWN, "Ann: pass", "Bob: pass", "Cid: pass"), "loan 2", "loan 2"),
    (f"{MORE}{GROW}", (*GROWN, "Ann: pass"), "sell 1", "sell 1"),
    (f"{FIVES}{SALE}", ("Bob: act", "Ann: pass"), "offer SR", "offer SR"),
    (f"{FIVES}{SALE}", ("Bob: act", "Ann: pass", "Bob: offer SR"), "bid 310", "bid 310"),
    (f"{TWO_BUYERS}{SALE}", (), "bid 10", "bid 10"),
    (f"{TWO_BUYERS}{SALE}", (), "bid up to 100", "bid up to 100"),
    (f"{TWO_BUYERS}{SALE}", (), "bid nothing", "bid nothing"),
    (f"{TWO_BUYERS}{SALE}", ("Ann: bid 10",), "buyer PW", "buyer PW"),
    (f"{WEAK}{SALE}", ("Ann: bid 10",), "discard 2", "discard 2 of WT"),
    (f"{WEAK}{SALE}", ("Ann: bid 10",), "discard 2 of WT", "discard 2 of WT"),
]


@pytest.mark.parametrize(("body", "before", "line", "stored"), FORMS, ids=[f[2] for f in FORMS])
def test_the_form_is_read(body: str, before: tuple[str, ...], line: str, stored: str) -> None:
    state = after(body, *before)
    asked = engine.decision(state).asked[0]
    action = engine.parse(state, asked, line)
    said = engine.format_action(state, action)
    assert said == stored
    assert engine.parse(state, asked, said) == action


def test_a_mine_without_its_tile_is_asked_for_its_ways() -> None:
    state = after(f"{MINES}{RUN}")
    with pytest.raises(AmbiguousError) as several:
        engine.parse(state, "p0", "mine G12")
    lines = [choice.line for choice in engine.choices(state, "p0")]
    mines = [line for line in lines if line.startswith("lay") and "G12" in line]
    assert several.value.choices == [line for line in mines if line.endswith("with mine")]


@pytest.mark.parametrize(
    ("body", "line", "why"),
    [
        (MINES, "mine E18", "would not be connected"),
        (MINES, "mine F11", "on a mountain next to a city or red area"),
        (WORKS, "mine E18", "has no coal mine to build"),
        (WORKS, "lay 7 E18 4 with mine", "has no coal mine to build"),
    ],
)
def test_a_mine_is_refused_with_the_reason(body: str, line: str, why: str) -> None:
    with pytest.raises(RefusedError, match=why):
        engine.parse(after(f"{body}{RUN}"), "p0", line)
