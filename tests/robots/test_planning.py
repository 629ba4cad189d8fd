"""Plans: trains and dividends are chosen by what the game would bring after them, the same every time."""

from __future__ import annotations

import msgspec
import pytest

from bot.features.robots import forecast, planning, track
from bot.features.robots.board_facts import BoardFacts
from bot.features.robots.commitments import float_cost, keeps_plan, unfloated
from bot.features.robots.forecast import Forecast
from bot.features.robots.planning import _part, loses_little, to_plan
from bot.features.robots.projected_shares import SharePlay
from bot.features.robots.projected_state import CASH_SCATTER
from bot.features.robots.projection import Projection
from bot.features.robots.robot import Effort, Robot
from engine import State, decision, game_of, play
from engine.core.actions import (
    BuyShares,
    BuyTrain,
    Par,
    Pass,
    PayDividend,
    SellShares,
    TradePrivate,
    WithholdDividend,
)
from tests.scenarios import ScenarioRunner

run_scenario = ScenarioRunner("1830").run
TRAINS = """
@ owns Ann PRR 6
@ par PRR 100
@ cash PRR 500
@ tile H10 57 1
@ round operating PRR
Ann: pass
= cash PRR 500
"""
BEGUN = "@ round stock Ann\n@ cash Ann 400\n@ par PRR 67\n@ owns Ann PRR 2\n= cash Ann 400"


def at_trains() -> State:
    state = run_scenario(TRAINS)
    while getattr(state.top, "step", "trains") != "trains":
        state = play(state, "p0", Pass()).state
    return state


def ranking(state: State, positions: int) -> list[tuple[object, float]]:
    seat = decision(state).awaited[0]
    return [(each.action, each.value) for each in Robot(0, Effort(1, positions)).ranking(state, seat)]


def projected(state: State, sample: int = 0) -> Projection:
    g = game_of(state)
    return Projection(g, BoardFacts(Forecast(g, "p0")), sample)


def test_trains_are_planned_beside_passing_the_same_every_time() -> None:
    state = play(at_trains(), "p0", BuyTrain("2", "bank")).state
    planned = to_plan(state, Robot().ranking(state, "p0"))
    assert {type(each.action) for each in planned} == {BuyTrain, Pass}
    assert ranking(state, 400) == ranking(state, 400)
    assert ranking(state, 400) != ranking(state, 0)
    assert {action for action, _ in ranking(state, 400)} == {action for action, _ in ranking(state, 0)}


def test_a_robot_agrees_to_take_back_what_costs_it_little() -> None:
    """A 2-train may be bought again; $400 would be lost."""
    before = at_trains()
    bought = play(before, "p0", BuyTrain("2", "bank")).state
    assert loses_little(bought, before, "p0") and loses_little(before, bought, "p0")
    rich = msgspec.structs.replace(before, cash=before.cash | {"p0": before.cash["p0"] + 400})
    assert not loses_little(rich, before, "p0")
    assert loses_little(before, rich, "p0")


def test_a_stock_turn_is_not_played_on_move_by_move() -> None:
    state = run_scenario(BEGUN)
    assert to_plan(state, Robot().ranking(state, "p0")) == []


def test_a_projection_changes_nothing_and_is_the_same_again() -> None:
    state = at_trains()
    before = repr(state)
    worths = projected(state).run()
    assert projected(state).run() == worths
    assert projected(state, 1).run() == projected(state, 1).run() != worths
    assert repr(state) == before


def test_a_projection_ends_as_the_rules_say_where_the_bank_is_broken() -> None:
    state = at_trains()
    projection = projected(state)
    projection.broken = True
    worths = projection.run()
    assert projection.rounds == 1
    assert worths["p0"] >= game_of(state).cash("p0")


def test_trains_rust_in_a_projection_and_the_phase_begins() -> None:
    projection = projected(at_trains())
    projection.companies["PRR"].trains = ["2", "2"]
    while projection.depot[0][0].name != "5":
        projection._left_the_bank(projection.depot[0][0].name)
    assert projection.companies["PRR"].trains == []
    assert projection.phases[projection.phase].name == "4"


def test_a_president_without_money_for_a_train_owes_more_than_its_price() -> None:
    projection = projected(at_trains())
    stock = projection.companies["PRR"]
    stock.cash, stock.has_operated, projection.cash["p0"] = 0.0, True, 10.0
    assert projection._raise_money(stock, 80)
    assert projection.cash["p0"] < 10 - 80


def test_money_for_a_company_that_is_begun_is_set_aside() -> None:
    g = game_of(run_scenario(BEGUN))
    assert unfloated(g, "p0") == ["PRR"] and float_cost(g, "PRR") == 4 * 67
    assert keeps_plan(g, "p0", BuyShares("PRR", "ipo"))
    assert not keeps_plan(g, "p0", Pass())
    assert not keeps_plan(g, "p0", Par("NYC", 67))
    assert not keeps_plan(g, "p0", SellShares("PRR", 1))


def test_nobody_starts_what_they_cannot_float_alone() -> None:
    g = game_of(run_scenario("@ round stock Ann\n@ cash Ann 480\n= cash Ann 480"))
    assert keeps_plan(g, "p0", Par("NYC", 76))
    assert not keeps_plan(g, "p0", Par("NYC", 82))


def test_who_has_begun_a_company_buys_it_before_all_else() -> None:
    state = run_scenario(BEGUN + "\n@ par NYC 100\n@ owns Bob NYC 6\n@ trains NYC 3")
    while not getattr(state.top, "bought", None) and decision(state).awaited[0] == "p0":
        action = Robot(0, Effort(1, 200)).choose_action(state, "p0")
        assert isinstance(action, BuyShares) and action.company == "PRR"
        state = play(state, "p0", action).state


def test_on_dense_track_fewer_lays_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    state = run_scenario(TRAINS.replace("@ tile", "@ trains PRR 2\n@ tile"))
    assert track.Surveyor(Forecast(game_of(state), "p0"), "PRR", trials=40).trials == 40
    monkeypatch.setattr(forecast, "ESTIMATE_BUDGET", 0)
    surveyor = track.Surveyor(Forecast(game_of(state), "p0"), "PRR", trials=40)
    assert surveyor.trials == track.MAX_DENSE_TRIALS


RUSH = """
@ phase 5
@ owns Ann PRR 6
@ par PRR 100
@ trains PRR 5
@ cash PRR 600
@ tile H10 57 1
@ owns Bob NYC 6
@ par NYC 100
@ trains NYC 3 3
@ cash NYC 20
@ owns Cid B&O 6
@ par B&O 100
@ trains B&O 3 3
@ cash B&O 20
@ owns Cid Erie 6
@ par Erie 100
@ trains Erie 5 5
@ cash Erie 20
@ round operating PRR
Ann: pass
= cash PRR 600
"""


def at_rush() -> State:
    """Ann's company lacks $30 for the first 6-train, which would rust the trains of two rivals."""
    state = run_scenario(RUSH)
    while getattr(state.top, "step", "dividend") != "dividend":
        state = play(state, "p0", Robot().choose_action(state, "p0")).state
    return state


def test_a_company_saves_for_the_train_that_rusts_those_of_rivals() -> None:
    state = at_rush()
    assert Robot(0, Effort(1, 0)).choose_action(state, "p0") == PayDividend()
    best = Robot(0, Effort(1, 200)).ranking(state, "p0")
    assert best[0].action == WithholdDividend()
    assert best[0].reason == "the PRR saves for the next train"
    assert len({each.action for each in best}) == len(best)


def test_a_plan_that_is_not_surely_better_leaves_the_judgement_its_move(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(planning, "SURE", 1_000.0)
    best = Robot(0, Effort(1, 200)).ranking(at_rush(), "p0")
    assert best[0].action == PayDividend() and best[0].value == 0
    assert best[1].action == WithholdDividend() and best[1].value < 0


def test_a_company_that_saves_keeps_its_revenue_until_it_has_bought() -> None:
    projection = projected(at_rush())
    projection.saving = {"PRR"}
    stock = projection.companies["PRR"]
    projection._dividend(stock, 20.0)
    projection._buy_trains(stock)
    assert (stock.cash, stock.trains) == (620.0, ["5"])
    projection._dividend(stock, 20.0)
    projection._buy_trains(stock)
    assert (stock.cash, stock.trains, projection.saving) == (10.0, ["5", "6"], set())
    assert projection.companies["NYC"].trains == []


def test_a_company_without_room_trades_a_train_in() -> None:
    projection = projected(at_rush())
    stock = projection.companies["PRR"]
    stock.trains, stock.cash = ["4", "5"], 800.0
    assert projection._trains_on_offer(stock) == []
    projection._left_the_bank("6")
    assert {(each.train, each.price, each.traded_in) for each in projection._trains_on_offer(stock)} == {
        ("D", 800, "4"),
        ("D", 800, "5"),
    }


def test_nobody_starts_a_company_without_room_for_its_certificates() -> None:
    projection = projected(at_trains())
    projection.cash = dict.fromkeys(projection.cash, 500.0)
    shares = SharePlay(projection, {})
    assert not shares._start("p1", 4)
    assert shares._start("p1", 5)


def test_who_sells_the_most_shares_loses_the_presidency_and_does_not_buy_them_back() -> None:
    projection = projected(at_trains())
    stock = projection.companies["PRR"]
    stock.shares = {"p0": 30, "p1": 30, "ipo": 40}
    shares = SharePlay(projection, {})
    shares._sell("p0", stock)
    assert stock.president == "p1"
    assert stock.shares == {"p0": 20, "p1": 30, "ipo": 40, "pool": 10}
    shares.yields["PRR"] = 1.0
    assert shares._best("p0", 1000.0) is None
    assert shares._best("p2", 1000.0) is not None


def test_nobody_floats_a_company_beyond_the_certificate_limit() -> None:
    projection = projected(run_scenario(BEGUN))
    projection.limit = projection.certificates("p0")
    assert not SharePlay(projection, {})._turn("p0")
    projection.limit += 1
    assert SharePlay(projection, {})._turn("p0")


def test_a_company_without_money_for_track_keeps_its_revenue_and_grows_from_then_on() -> None:
    projection = projected(at_trains())
    stock = projection.companies["PRR"]
    stock.trains, stock.cash, stock.lay_cost = ["2"], 70.0, 80
    today = projection.facts.o.revenue("PRR", ("2",))
    projection.rounds = 5
    assert projection.revenue(stock) == today > 0
    projection._operate(stock)
    assert (stock.cash, stock.lay_cost) == (70 + today, 80)
    projection.rounds = 6
    projection._operate(stock)
    assert stock.lay_cost == 0 and stock.since == 6
    projection.rounds = 8
    assert projection.revenue(stock) > today


def test_a_revenue_is_kept_for_a_train_or_for_track_only() -> None:
    """Without a train to save for, a plan that keeps one revenue and pays the next is none."""
    projection = projected(at_trains())
    stock = projection.companies["PRR"]
    stock.trains, stock.cash, projection.saving = ["2"] * 4, 0.0, {"PRR"}
    assert projection._trains_on_offer(stock) == []
    assert projection._saves(stock)
    stock.cash = 80.0
    assert not projection._saves(stock)


def test_samples_differ_in_what_companies_and_players_have() -> None:
    """So that no plan is chosen for the few dollars by which a train is bought a round earlier."""
    state = run_scenario("@ owns Ann PRR 6\n@ par PRR 100\n@ cash PRR 500\n@ round stock Ann\n= cash PRR 500")
    exact, one, again, two = (projected(state, sample) for sample in (0, 1, 1, 2))
    assert exact.companies["PRR"].cash == game_of(state).cash("PRR") and exact.cash["p1"] == state.cash["p1"]
    treasuries = [each.companies["PRR"].cash for each in (one, again, two)]
    assert treasuries[0] == treasuries[1] != treasuries[2]
    assert all(abs(cash - exact.companies["PRR"].cash) <= CASH_SCATTER for cash in treasuries)
    assert all(0 <= each.cash["p1"] <= exact.cash["p1"] + CASH_SCATTER / 2 for each in (one, two))
    acting = at_trains()
    assert projected(acting, 1).companies["PRR"].cash == game_of(acting).cash("PRR")


def test_a_private_is_sold_to_the_company_before_a_train_closes_it() -> None:
    """The PRR has $760. The first 5-train costs $450 and closes the CA, for which its owner may get $310."""
    body = "@ owns Ann PRR 6\n@ par PRR 76\n@ cash PRR 760\n@ private CA Ann\n@ phase 4\n@ depot 4 0"
    state = run_scenario(f"{body}\n@ round operating PRR\n> until train\n= cash PRR 760")
    for positions in (0, 400):
        robot = Robot(0, Effort(1, positions))
        bought = robot.choose_action(state, "p0")
        assert isinstance(bought, TradePrivate) and bought.amount == 310
        assert robot.choose_action(play(state, "p0", bought).state, "p0") == BuyTrain("5", "bank")


def test_a_plan_that_makes_all_poorer_alike_is_no_better_for_who_is_behind() -> None:
    assert _part({"p0": 300, "p1": 600}, "p0") == pytest.approx(_part({"p0": 200, "p1": 400}, "p0"))
    assert _part({"p0": -100, "p1": 400}, "p0") < 0
