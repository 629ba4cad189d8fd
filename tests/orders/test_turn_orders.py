"""`auto run` and `auto turn`: each test names what another program would have done wrongly."""

from __future__ import annotations

import pytest

import engine
from engine.standing_orders import line_when_time_is_up, parse_order
from tests.orders.order_table import OrderTable
from tests.t1817.scenarios import company_lines
from tests.t1817.test_06_running import COAST
from tests.t1817.test_06_track import turn
from tests.t1870.test_08_routes import MP as AT_100

TRACK = """
@ owns Ann PRR 6
@ par PRR 100
@ tile H10 57 1
@ tile H14 9 1
@ trains PRR 2
@ cash PRR 500
@ owns Bob NYC 6
@ par NYC 67
@ cash NYC 500
@ cash Ann 500
@ cash Bob 500
@ cash Cid 500
"""
RUNNING = TRACK + "@ round operating PRR\n"
STOCK = TRACK + "@ round stock Bob\n"


def test_auto_run_runs_pays_and_passes_the_rest_in_each_turn() -> None:
    t = OrderTable("1830", STOCK)
    t.arm("Ann", "auto run prr")
    t.say("Bob: pass", "Cid: pass", "Ann: pass")
    turn = ["Ann: pass", "Ann: pass", "Ann: run 2 H10-H12", "Ann: pay", "Ann: pass"]
    assert t.said == turn and t.asked == ["Bob"], "track and tokens are passed, and no train is bought"
    assert [each.id for each in t.armed] == [1], "it stays for the next turn"


def test_auto_run_withholds_if_its_owner_says_so() -> None:
    t = OrderTable("1830", RUNNING)
    t.arm("Ann", "auto run PRR withhold")
    assert t.said[2:] == ["Ann: run 2 H10-H12", "Ann: withhold", "Ann: pass"]


@pytest.mark.parametrize("trains", [[], ["2"]])
def test_auto_run_ends_when_the_revenue_falls(trains: list[str]) -> None:
    """Without its train, or its track, the PRR would earn less than when the order was left."""
    t = OrderTable("1830", STOCK)
    t.arm("Ann", "auto run PRR")
    t.state.companies["PRR"].trains = trains
    t.state.tiles.pop("H10")
    t.say("Bob: pass", "Cid: pass", "Ann: pass")
    assert t.said == [] and t.asked == ["Ann"]
    assert t.ended == ["Ann: The best run of the PRR would earn $0 instead of $30."]


def test_auto_run_ends_when_a_phase_begins_or_trains_rust() -> None:
    t = OrderTable("1830", TRACK + "@ trains bank 2\n@ trains NYC 2\n@ round stock Bob\n")
    t.arm("Ann", "auto run PRR")
    t.say("Bob: pass", "Cid: pass", "Ann: pass")
    assert t.said[2:4] == ["Ann: run 2 H10-H12", "Ann: pay"]
    t.say("Bob: buy train 2")
    assert t.ended == ["Ann: A 3-train may be bought now."]
    other = OrderTable("1830", TRACK + "@ phase 2\n@ trains bank 3 3 3 3 3\n@ round stock Bob\n")
    other.arm("Ann", "auto run PRR")
    other.say("Bob: pass", "Cid: pass", "Ann: pass", "Bob: buy train 3")
    assert other.ended == ["Ann: Phase 3 has begun."]


def test_auto_run_ends_with_the_presidency() -> None:
    t = OrderTable(
        "1830",
        TRACK.replace("Ann PRR 6", "Ann PRR 3\n@ owns Cid PRR 3\n@ president PRR Ann")
        + "@ round stock Cid\n",
    )
    t.arm("Ann", "auto run PRR")
    t.say("Cid: buy PRR from ipo")
    assert t.ended == ["Ann: Cid has become president of the PRR."]


@pytest.mark.parametrize(
    ("trains", "loans", "cash", "said"), [("none", 0, 0, 0), ("2 2", 10, 0, 3), ("2 2", 10, 100, 4)]
)
def test_auto_run_puts_no_company_into_liquidation(trains: str, loans: int, cash: int, said: int) -> None:
    """A company without a train, and one that pays what it needs for its interest (1817 §6.8, §6.10)."""
    lines = (*COAST, f"trains WT {trains}", f"loans WT {loans}", "interest 10")
    t = OrderTable("1817", turn(*lines, phase="3", cash=cash))
    t.arm("Ann", "auto run WT")
    assert t.ended == ["Ann: The WT would go into liquidation."], "with $100 in a later turn"
    assert t.said[:4] == ["Ann: pass", "Ann: pass", "Ann: run 2 E22.0-F19, 2 F19-G18", "Ann: pay"][:said]


def test_no_revenue_is_withheld_where_that_closes_the_company() -> None:
    """1870 §5.1.1(7): one space to the left is the closing section."""
    t = OrderTable("1870", f"{AT_100.replace('price MP 100 0', 'price MP 10 8')}@ trains MP 2")
    t.arm("Ann", "auto run MP withhold")
    assert t.said[1:] == ["Ann: run 2 B19-C18"] and t.ended == ["Ann: The MP would close."]
    for last, said in (("withhold", "pay"), ("half", "half")):
        assert line_when_time_is_up(t.state, "p0", {"MP": last}) == said


def test_auto_run_asks_where_a_lay_would_earn_more() -> None:
    t = OrderTable("1830", RUNNING.replace("@ tile H10 57 1\n", ""))
    t.arm("Ann", "auto run PRR unless lay")
    assert t.said == [] and t.asked == ["Ann"]
    assert t.ended == ["Ann: With `lay 57 H10 1` the best run of the PRR would earn $30 instead of $0."]


def test_a_turn_that_its_president_has_begun_is_left_to_them() -> None:
    t = OrderTable("1830", RUNNING)
    t.say("Ann: lay 57 H16 1")
    t.arm("Ann", "auto run PRR")
    assert t.said[-3:] == ["Ann: run 2 H10-H12", "Ann: pay", "Ann: pass"], "that was before the arming"
    other = OrderTable("1830", STOCK)
    other.arm("Ann", "auto turn PRR: lay 57 H16 1")
    other.arm("Ann", "auto run PRR")
    other.say("Bob: pass", "Cid: pass", "Ann: pass")
    assert other.said[0] == "Ann: lay 57 H16 1" and "Ann: run 2 H10-H12" in other.said


def test_auto_turn_says_its_lines_when_the_turn_comes() -> None:
    t = OrderTable("1830", STOCK)
    line = t.arm("Ann", "auto turn PRR: lay 57 H16 1; token H10; run best; pay; buy train 2; done")
    assert line == "auto turn PRR: lay 57 H16 1; token H10; run best; pay; buy train 2; pass"
    assert t.said == []
    t.say("Bob: pass", "Cid: pass", "Ann: pass")
    assert t.said == ["Ann: lay 57 H16 1", "Ann: token H10", "Ann: run 2 H10-H16", "Ann: pay",
                      "Ann: buy train 2", "Ann: pass"]  # fmt: skip
    assert t.ended == ["Ann: All of your turn of the PRR is said."]


def test_auto_turn_stops_at_a_line_that_is_refused() -> None:
    """Cid takes the slot: the token is refused, and nothing after it is said (18xx.games #9316)."""
    t = OrderTable("1830", STOCK)
    t.arm("Ann", "auto turn PRR: lay 57 H16 1; token H10; run best; pay")
    t.state.companies["PRR"].unplaced_tokens = 0
    t.say("Bob: pass", "Cid: pass", "Ann: pass")
    assert t.said == ["Ann: lay 57 H16 1"] and t.asked == ["Ann"]
    assert t.ended[0].startswith("Ann: `token H10` is not possible:")


def test_auto_turn_stops_where_the_revenue_is_below_the_plans() -> None:
    t = OrderTable("1830", STOCK)
    t.arm("Ann", "auto turn PRR: run best; pay")
    t.state.tiles["H10"] = ("8", 0)
    t.say("Bob: pass", "Cid: pass", "Ann: pass")
    assert t.said == [] and t.asked == ["Ann"]
    assert "was planned" in t.ended[0] or "is not possible" in t.ended[0]


def test_auto_turn_stops_at_another_price() -> None:
    """The C&O, which operates first, buys the last 2-train."""
    first = "@ owns Bob C&O 6\n@ par C&O 100\n@ price C&O 112 0\n@ cash C&O 900\n@ trains bank 2\n"
    t = OrderTable("1830", TRACK + first + "@ round stock Bob\n")
    t.arm("Ann", "auto turn PRR: run best; pay; buy train 2")
    t.say("Bob: pass", "Cid: pass", "Ann: pass", "Bob: buy train 2", "Bob: pass")
    assert t.said == ["Ann: run 2 H10-H12", "Ann: pay"] and t.asked == ["Ann"]
    assert t.ended[0].startswith("Ann: `buy train 2` is not possible:")


def test_auto_turn_stops_before_a_liquidation_that_was_not_planned() -> None:
    """1817 §6.8: it pays what it needs for its interest, before it could buy a train of the SR."""
    sr = company_lines("SR", 2, 60, "Bob 2", token="D7", trains="2")
    all_said, stopped = "All of your turn of the WT is said.", "The WT would go into liquidation."
    for cash, said, reason in ((150, 5, all_said), (50, 3, stopped)):
        setup = turn(*COAST, "trains WT 2 2", "loans WT 10", "interest 10", phase="3", cash=150)
        t = OrderTable("1817", setup.replace("@ round operating WT", f"{sr}@ round stock Bob"))
        t.arm("Ann", "auto turn WT: pass; pass; run best; pay; pass")
        t.state.cash["WT"] = cash
        t.say("Bob: pass", "Cid: pass", "Ann: pass")
        assert len(t.said) == said and t.ended == [f"Ann: {reason}"]


@pytest.mark.parametrize("trains", [[], ["2"]])
def test_auto_turn_lays_no_route_for_which_a_train_would_have_to_be_bought(trains: list[str]) -> None:
    """1830 §20.2: its train has rusted since, and its president would have to add $80 of their own."""
    t = OrderTable("1830", STOCK.replace("@ tile H10 57 1\n", ""))
    t.arm("Ann", "auto turn PRR: lay 57 H10 1")
    t.state.companies["PRR"].trains, t.state.cash["PRR"] = trains, 0
    t.say("Bob: pass", "Cid: pass", "Ann: pass")
    assert t.asked == ["Ann"] and t.said == (["Ann: lay 57 H10 1"] if trains else [])
    assert t.ended[0] == ("Ann: All of your turn of the PRR is said." if trains
                          else "Ann: After `lay 57 H10 1` the PRR would have to buy a train.")  # fmt: skip


def test_auto_turn_compares_what_a_line_costs() -> None:
    t = OrderTable("1830", STOCK)
    t.arm("Ann", "auto turn PRR: lay 57 H16 1; token H10")
    plan = t.armed[0]
    t.armed[0] = type(plan)(plan.id, plan.seat, plan.order, _with_token_placed(plan.start))
    t.say("Bob: pass", "Cid: pass", "Ann: pass")
    assert t.said == ["Ann: lay 57 H16 1"] and t.asked == ["Ann"]
    assert t.ended == ["Ann: `token H10` would cost $40, and $100 was planned."]


def _with_token_placed(state: engine.State) -> engine.State:
    """The position with one token less on the charter of the PRR: the next one costs more."""
    changed = engine.copy_state(state)
    changed.companies["PRR"].unplaced_tokens -= 1
    changed.tokens["B10"] = [(0, "PRR")]
    return changed


def test_auto_turn_is_over_when_its_owner_has_acted() -> None:
    t = OrderTable("1830", RUNNING)
    t.say("Ann: lay 57 H16 1")
    t.arm("Ann", "auto turn PRR: token H10; run best")
    assert t.said == ["Ann: token H10", "Ann: run 2 H10-H16"] and t.asked == ["Ann"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("auto turn NYC: run best", "Bob is president of the NYC, so only they can order its turns."),
        ("auto turn PRR: lay 57 A1", "`lay 57 A1` is not possible in that turn: "),
        ("auto turn PRR: run best; pay; pass; pass", "The turn of the PRR is over before `pass`."),
        ("auto run PRR half", "Half a dividend cannot be paid in this game."),
        ("auto run Erie", "The Erie has no president."),
    ],
)
def test_a_turn_that_is_not_possible_is_refused_at_once(line: str, reason: str) -> None:
    t = OrderTable("1830", STOCK)
    with pytest.raises(engine.RefusedError) as error:
        parse_order(engine.game_of(t.state), "p0", line)
    assert str(error.value).startswith(reason)


def test_a_preview_says_what_would_happen() -> None:
    t = OrderTable("1830", STOCK)
    assert t.preview("Ann", "auto run PRR") == (
        "In a turn of the PRR it would say `pass`, `pass`, `run 2 H10-H12`, `pay`, `pass`."
    )
    assert t.preview("Ann", "auto turn PRR: run best; pay; buy train 2") == (
        "In the turn of the PRR it would say `run 2 H10-H12` for $30, `pay`, `buy train 2` for $80."
    )
    assert t.preview("Bob", "auto pass") == "It would say `pass` now."
    assert t.preview("Cid", "auto pass") == "It would say nothing now; it waits for your turn."


def test_when_time_is_up_trains_run_and_the_dividend_is_as_last_time() -> None:
    t = OrderTable("1830", RUNNING)
    said = []
    while t.asked == ["Ann"]:
        line = line_when_time_is_up(t.state, "p0")
        assert line is not None
        said.append(line)
        t.say(f"Ann: {line}")
    assert said == ["pass", "pass", "run best", "pay", "pass"]
    t = OrderTable("1830", RUNNING)
    t.say("Ann: pass", "Ann: pass", "Ann: run best")
    assert line_when_time_is_up(t.state, "p0", {"PRR": "withhold", "NYC": "pay"}) == "withhold"
