"""The search ahead: it plays the best par prices and trains on, the same for the same number of positions."""

from __future__ import annotations

import pytest

from bot.features.robots import forecast, search, track
from bot.features.robots.forecast import Forecast
from bot.features.robots.player import Effort, Robot
from bot.features.robots.search import DOUBT, beyond_doubt, quick_move, seat_worths, to_search
from bot.features.robots.weights import DEFAULT_WEIGHTS, Weights
from engine import State, decision, game_of
from engine.core.actions import BuyTrain, Par, Pass
from tests.scenarios import ScenarioRunner

run_scenario = ScenarioRunner("1830").run
START = "@ round stock Ann\n@ cash Ann 480\n= cash Ann 480"
TRAINS = """
@ owns Ann PRR 6
@ par PRR 100
@ cash PRR 500
@ tile H10 57 1
@ round operating PRR
Ann: pass
= cash PRR 500
"""


def at_trains() -> State:
    state = run_scenario(TRAINS)
    while getattr(state.top, "step", "trains") != "trains":
        state = quick_move(state, DEFAULT_WEIGHTS)
    return state


def ranking(state: State, positions: int) -> list[tuple[object, float]]:
    seat = decision(state).awaited[0]
    return [(each.action, each.value) for each in Robot(0, Effort(1, positions)).ranking(state, seat)]


def test_par_prices_are_played_on() -> None:
    state = run_scenario(START)
    judged = Robot().ranking(state, "p0")
    found = to_search(state, judged)
    assert len(found) > 1 and all(isinstance(each.action, Par) for each in found)
    assert ranking(state, 400) == ranking(state, 400)
    assert {action for action, _ in ranking(state, 400)} == {action for action, _ in ranking(state, 0)}


def test_trains_are_played_on_beside_passing() -> None:
    state = at_trains()
    found = to_search(state, Robot().ranking(state, "p0"))
    assert any(isinstance(each.action, BuyTrain) for each in found)
    assert all(isinstance(each.action, BuyTrain | Pass) for each in found)


def test_with_few_positions_nothing_is_played_on() -> None:
    state = run_scenario(START)
    assert ranking(state, 20) == ranking(state, 0)


def test_other_purchases_are_not_played_on() -> None:
    state = run_scenario("@ round stock Ann\n@ cash Ann 400\n@ par PRR 67\n@ owns Ann PRR 2\n= cash Ann 400")
    assert to_search(state, Robot().ranking(state, "p0")) == []


def test_small_differences_count_nothing() -> None:
    assert beyond_doubt(DOUBT / 2) == beyond_doubt(-DOUBT / 2) == 0
    assert beyond_doubt(DOUBT + 10) == 10 and beyond_doubt(-DOUBT - 10) == -10


def test_what_seats_own_is_cash_and_shares() -> None:
    poor = run_scenario("@ round stock Ann\n@ cash Ann 100\n@ par PRR 67\n@ owns Ann PRR 6\n= cash Ann 100")
    rich = run_scenario("@ round stock Ann\n@ cash Ann 300\n@ par PRR 67\n@ owns Ann PRR 6\n= cash Ann 300")
    before, after = (seat_worths(game_of(state), DEFAULT_WEIGHTS) for state in (poor, rich))
    assert after["p0"] - before["p0"] >= 200
    assert before["p0"] > 100


def test_on_dense_track_nothing_is_played_on_and_fewer_lays_are_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = run_scenario(TRAINS.replace("@ tile", "@ trains PRR 2\n@ tile"))
    surveyor = track.Surveyor(Forecast(game_of(state), "p0"), "PRR", trials=40)
    assert surveyor.trials == 40
    while getattr(state.top, "step", "trains") != "trains":
        state = quick_move(state, DEFAULT_WEIGHTS)
    played_on: list[State] = []

    def counted(state: State, weights: Weights) -> State:
        played_on.append(state)
        return quick_move(state, weights)

    monkeypatch.setattr(search, "quick_move", counted)
    assert ranking(state, 800) and played_on
    played_on.clear()
    monkeypatch.setattr(forecast, "ROUTE_BUDGET", 0)
    assert ranking(state, 800) and not played_on
    surveyor = track.Surveyor(Forecast(game_of(state), "p0"), "PRR", trials=40)
    assert surveyor.trials == track.MAX_DENSE_TRIALS
