"""Best routes on the densest maps: they are legal, and their revenue is never above the bound."""

from __future__ import annotations

import pytest

from engine.board.network import network_of
from engine.board.routes import RunningTrain, best_routes, refuse_routes, route_revenue
from engine.operating.run import stop_revenue
from tests.board.dense_maps import COMPANY, HEAVY, kinds, late_position


@pytest.mark.parametrize("title", HEAVY)
@pytest.mark.parametrize("seed", range(2))
def test_dense_maps_are_answered_within_the_budget_with_a_true_bound(title: str, seed: int) -> None:
    g = late_position(title, seed)
    network = network_of(g.components, g.state.tiles, g.state.tokens)
    values = {stop: stop_revenue(g.components, g.state.phase, network.node(stop)) for stop in network.stops}

    def found(trains: list[RunningTrain], budget: int) -> tuple[int, int]:
        answer = best_routes(network, COMPANY, trains, values, budget=budget)
        assert refuse_routes(network, COMPANY, trains, answer.routes) is None
        assert sum(route_revenue(network, route, values) for route in answer.routes) == answer.revenue
        assert answer.revenue <= answer.bound
        return answer.revenue, answer.bound

    for count in (1, 3):
        trains = kinds(title, count)
        little, much = found(trains, 2_000), found(trains, 20_000)
        assert len(trains) == count and 0 < much[0] <= little[1] and little[0] <= much[1]


@pytest.mark.parametrize(
    ("title", "seed", "count"),
    [("1830", 2, 3), ("1830", 2, 4), ("1830", 3, 4), ("1851", 0, 3), ("1851", 2, 3)],
)
def test_prices_prove_sets_that_the_best_of_single_trains_do_not(title: str, seed: int, count: int) -> None:
    g = late_position(title, seed)
    network = network_of(g.components, g.state.tiles, g.state.tokens)
    values = {stop: stop_revenue(g.components, g.state.phase, network.node(stop)) for stop in network.stops}
    trains = kinds(title, count)
    single = best_routes(network, COMPANY, trains[:1], values)
    found = best_routes(network, COMPANY, trains, values, budget=400_000)
    assert found.proven and found.revenue < count * single.revenue
    assert refuse_routes(network, COMPANY, trains, found.routes) is None
