"""Best routes and the rules for routes (1830 §20.1, §20.3), compared with all possible routes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest

from engine.board import route_sets
from engine.board.network import Network, network_of
from engine.board.route_graph import PLAIN_REVENUE, RevenueRules
from engine.board.route_notation import parse_route
from engine.board.routes import (
    BestRoutes,
    Route,
    RunningTrain,
    best_routes,
    refuse_routes,
    route_revenue,
)
from engine.board.tile_geometry import Stop
from engine.core.components import Components, components_of
from tests.board.exhaustive import ExhaustiveBoard, Tiles, Tokens, Walk, random_board

FACTS = components_of("1830")


def kinds(*names: str) -> list[RunningTrain]:
    return [RunningTrain(name, None if name == "D" else int(name)) for name in names]


def worth(network: Network) -> dict[Stop, int]:
    """Dollars by stop, off-board areas at their first value."""
    printed = zip(network.stops, network.nodes, strict=True)
    return {stop: n.revenue if isinstance(n.revenue, int) else n.revenue["2"] for stop, n in printed}


def earned(walk: Walk, values: dict[Stop, int], facts: Components, rules: RevenueRules) -> int:
    first, last = walk.stops[0], walk.stops[-1]
    reds = all(facts.map.hexes[hex].color == "red" for hex, _ in (first, last))
    crossed = [hex for side in walk.sides for hex, _ in side]
    return (
        sum(values[stop] for stop in walk.stops)
        + sum(rules.stop_bonus.get(stop, 0) for stop in walk.stops)
        + sum(rules.end_bonus.get(stop, 0) for stop in (first, last))
        + sum(dollars * (crossed.count(hex) // 2) for hex, dollars in rules.pass_through_bonus.items())
        + (rules.offboard_pair_bonus * len(walk.stops) if reds else 0)
    )


def most(
    board: ExhaustiveBoard,
    company: str,
    distances: Sequence[int | None],
    values: dict[Stop, int],
    rules: RevenueRules,
) -> int:
    """The most that a set of routes earns, by trying every set of routes."""
    own = board.own(company)
    worths: list[dict[frozenset[object], int]] = []
    for distance in distances:
        by_track: dict[frozenset[object], int] = {frozenset(): 0}
        for start in board.stops():
            for walk in board.routes(start, company, distance or 99):
                if any(stop in own for stop in walk.stops):
                    key: frozenset[object] = frozenset(walk.sides)
                    by_track[key] = max(by_track.get(key, 0), earned(walk, values, board.facts, rules))
        worths.append(by_track)
    top = 0
    for chosen in product(*(by_track.items() for by_track in worths)):
        total = sum(value for _, value in chosen)
        if total > top and sum(len(sides) for sides, _ in chosen) == len(
            frozenset().union(*(sides for sides, _ in chosen))
        ):
            top = total
    return top


def assert_legal(
    network: Network, company: str, trains: Sequence[RunningTrain], found: BestRoutes, rules: RevenueRules
) -> None:
    values = worth(network)
    assert refuse_routes(network, company, trains, found.routes, rules) is None
    assert sum(route_revenue(network, route, values, rules) for route in found.routes) == found.revenue
    assert found.proven


ALL_RULES = RevenueRules(
    pass_through_bonus={"H14": 20, "G11": 10},
    stop_bonus={("H12", 0): 20, ("J14", 0): 10},
    end_bonus={("H10", 0): 30, ("I15", 0): 50},
    offboard_pair_bonus=10,
    single_city_hexes=frozenset({"E11", "D10"}),
)
"""All revenue rules of all titles at once."""


def assert_best(seed: int, lays: int, trains: tuple[str, ...]) -> None:
    """The best routes of two companies on a random board earn what trying everything finds."""
    facts, tiles, tokens = random_board(seed, lays)
    rules = ALL_RULES if seed % 2 else PLAIN_REVENUE
    network, board = (
        network_of(facts, tiles, tokens),
        ExhaustiveBoard(facts, tiles, tokens, rules.single_city_hexes),
    )
    for company in ("PRR", "B&O"):
        found = best_routes(network, company, kinds(*trains), worth(network), rules)
        assert_legal(network, company, kinds(*trains), found, rules)
        distances = [kind.distance for kind in kinds(*trains)]
        assert found.revenue == most(board, company, distances, worth(network), rules)


@pytest.mark.parametrize("trains", [("2",), ("3",), ("D",), ("2", "2"), ("2", "3"), ("2", "4")], ids="+".join)
def test_best_routes_equal_those_of_an_exhaustive_search(trains: tuple[str, ...]) -> None:
    for seed in range(40):
        assert_best(seed, 60 if len(trains) > 1 else 150, trains)


@pytest.mark.parametrize("trains", [("3",), ("2", "3"), ("3", "3"), ("2", "2", "3")], ids="+".join)
def test_dual_prices_prove_what_an_exhaustive_search_finds(
    trains: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(route_sets, "LISTING_BUDGET", 0)
    for seed in range(40):
        assert_best(seed, 60 if len(trains) < 3 else 45, trains)


@pytest.mark.parametrize("seed", range(12))
def test_all_ways_to_a_proof_agree_on_dense_boards(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    facts, tiles, tokens = random_board(seed, 300)
    network = network_of(facts, tiles, tokens)
    values = worth(network)
    for trains in (("4", "3"), ("4", "4"), ("3", "3", "2")):
        monkeypatch.setattr(route_sets, "LISTING_BUDGET", 10**9)
        listed = best_routes(network, "PRR", kinds(*trains), values)
        monkeypatch.setattr(route_sets, "LISTING_BUDGET", 0)
        priced = best_routes(network, "PRR", kinds(*trains), values)
        for found in (listed, priced):
            assert_legal(network, "PRR", kinds(*trains), found, RevenueRules())
        assert listed.revenue == priced.revenue


@pytest.mark.parametrize("seed", range(12))
def test_three_trains_earn_no_less_than_their_parts(seed: int) -> None:
    facts, tiles, tokens = random_board(seed, 300)
    network = network_of(facts, tiles, tokens)
    values = worth(network)
    three = best_routes(network, "PRR", kinds("4", "3", "3"), values)
    assert_legal(network, "PRR", kinds("4", "3", "3"), three, RevenueRules())
    for part in (("4", "3"), ("3", "3"), ("4",)):
        assert three.revenue >= best_routes(network, "PRR", kinds(*part), values).revenue
    alone = sum(best_routes(network, "PRR", kinds(name), values).revenue for name in ("4", "3", "3"))
    assert three.revenue <= alone


LINE: Tiles = {
    "H10": ("57", 1),
    "H8": ("9", 1),
    "H6": ("9", 1),
    "H4": ("57", 1),
    "H14": ("9", 1),
    "H16": ("57", 1),
}
HOME: Tokens = {"H12": [(0, "PRR")]}


def run(tiles: Tiles, tokens: Tokens, *trains: str, rules: RevenueRules = PLAIN_REVENUE) -> BestRoutes:
    network = network_of(FACTS, tiles, tokens)
    found = best_routes(network, "PRR", kinds(*trains), worth(network), rules)
    assert_legal(network, "PRR", kinds(*trains), found, rules)
    return found


def stops(found: BestRoutes) -> list[str]:
    return ["-".join(hex for hex, _ in route.stops) for route in found.routes]


def test_20_1_a_train_visits_as_many_stops_as_its_number() -> None:
    assert [run(LINE, HOME, name).revenue for name in "2345"] == [30, 50, 70, 70]
    assert stops(run(LINE, HOME, "D")) == ["H4-H10-H12-H16"]


def test_20_1_altoona_may_be_passed() -> None:
    # With the token in Pittsburgh a 2-train runs past Altoona's $10 to Lancaster's $20.
    found = run(LINE, {"H10": [(0, "PRR")]}, "2")
    assert (stops(found), found.revenue) == (["H4-H10"], 40)
    found = run({h: LINE[h] for h in ("H10", "H14", "H16")}, {"H10": [(0, "PRR")]}, "2")
    assert (stops(found), found.revenue) == (["H10-H16"], 40)


def test_20_1_track_past_altoona_and_into_it_meet_at_one_hexside() -> None:
    # Each of two trains would need edge 1 of H12.
    tiles: Tiles = {h: LINE[h] for h in ("H10", "H14", "H16")}
    tokens: Tokens = {"H10": [(0, "PRR")], "H12": [(0, "PRR")]}
    found = run(tiles, tokens, "2", "2")
    assert found.revenue == 60
    assert sorted(stops(found)) == ["H10-H12", "H12-H16"]


def test_19_0_a_full_city_ends_a_route() -> None:
    blocked: Tokens = HOME | {"H10": [(0, "B&O")]}
    assert stops(run(LINE, blocked, "D")) == ["H10-H12-H16"]


def test_20_1_offboard_areas_end_a_route_and_count_once() -> None:
    # Columbus has track to both hexes of the Gulf, but they are one area.
    tiles: Tiles = {"H4": ("63", 0), "I3": ("16", 0), "H2": ("7", 4)}
    tokens: Tokens = {"H4": [(0, "PRR")]}
    network = network_of(FACTS, tiles, tokens)
    assert network.reachable("PRR").stops == {("H4", 0), ("I1", 0), ("J2", 0)}
    assert run(tiles, tokens, "3").revenue == 40 + 30
    twice = [route(network, "I1-H4-J2", "3")]
    assert refuse_routes(network, "PRR", kinds("3"), twice) == "I1-H4-J2 visits Gulf twice"


def test_several_trains_use_no_track_twice() -> None:
    assert run(LINE, HOME, "2", "2").revenue == 60
    assert sorted(stops(run(LINE, HOME, "2", "2"))) == ["H10-H12", "H12-H16"]


def test_a_company_without_track_runs_nothing() -> None:
    assert run({}, HOME, "2", "D") == BestRoutes((), 0, 0)
    assert run(LINE, HOME) == BestRoutes((), 0, 0)
    assert best_routes(network_of(FACTS, LINE, {}), "PRR", kinds("2"), {}) == BestRoutes((), 0, 0)


def test_a_search_cut_short_is_not_proven() -> None:
    facts, tiles, tokens = random_board(3, 400)
    network = network_of(facts, tiles, tokens)
    full = best_routes(network, "PRR", kinds("4", "4"), worth(network))
    for budget in (0, 1, 5, 20, 60):
        cut = best_routes(network, "PRR", kinds("4", "4"), worth(network), budget=budget)
        assert cut.revenue <= full.revenue <= cut.bound
        assert refuse_routes(network, "PRR", kinds("4", "4"), cut.routes) is None
    assert not best_routes(network, "PRR", kinds("4", "4"), worth(network), budget=0).proven


def test_the_answer_does_not_depend_on_the_order_of_lays() -> None:
    facts, tiles, tokens = random_board(5, 200)
    one = network_of(facts, tiles, tokens)
    other = network_of(facts, dict(reversed(tiles.items())), dict(reversed(tokens.items())))
    assert one is not other
    for trains in (("2",), ("4", "3"), ("D", "5")):
        assert best_routes(one, "PRR", kinds(*trains), worth(one)) == best_routes(
            other, "PRR", kinds(*trains), worth(other)
        )


def test_single_city_hexes_are_visited_once() -> None:
    tiles: Tiles = {"G19": ("54", 0), "F20": ("2", 0), "H18": ("59", 0)}
    network = network_of(FACTS, tiles, {"G19": [(0, "PRR"), (1, "PRR")]})
    for route in best_routes(
        network, "PRR", kinds("D"), worth(network), RevenueRules(single_city_hexes=frozenset({"G19"}))
    ).routes:
        assert [hex for hex, _ in route.stops].count("G19") == 1


def route(network: Network, text: str, train: str) -> Route:
    return parse_route(network, "PRR", text, train)


@pytest.mark.parametrize(
    ("train", "text", "tokens", "why"),
    [
        ("2", "H4-H10-H12", HOME, "a 2-train visits at most 2 stops, and H4-H10-H12 has 3"),
        ("3", "H4-H10", HOME, "H4-H10 visits no token of the PRR"),
        ("4", "H4-H10-H12", HOME, "The PRR has no 4-train left for H4-H10-H12"),
        (
            "3",
            "H4-H10-H12",
            HOME | {"H10": [(0, "B&O")]},
            "H4-H10-H12 cannot pass H10: others hold all its slots",
        ),
    ],
)
def test_20_1_why_a_route_is_refused(train: str, text: str, tokens: Tokens, why: str) -> None:
    network = network_of(FACTS, LINE, tokens)
    assert refuse_routes(network, "PRR", kinds("2", "3"), [route(network, text, train=train)]) == why


def test_20_1_two_trains_over_one_track_are_refused() -> None:
    network = network_of(FACTS, LINE, HOME)
    both = [route(network, "H12-H10-H4", train="3"), route(network, "H12-H10", train="2")]
    why = refuse_routes(network, "PRR", kinds("2", "3"), both)
    assert why is not None and why.startswith("H4-H10-H12 and H10-H12 both use the track over edge")
    meet = [route(network, "H12-H10-H4", train="3"), route(network, "H12-H16", train="2")]
    assert refuse_routes(network, "PRR", kinds("2", "3"), meet) is None


def test_track_that_does_not_exist_is_refused() -> None:
    network = network_of(FACTS, LINE, HOME)
    good = route(network, "H10-H12", train="2")
    assert (
        refuse_routes(network_of(FACTS, {}, HOME), "PRR", kinds("2"), [good])
        == "there is no such track in H10"
    )
    torn = Route("2", good.stops, (good.segments[0], ("H16", 1, 6)))
    assert (
        refuse_routes(network, "PRR", kinds("2"), [torn]) == "the track of H10-H12 is not continuous in H16"
    )
    short = Route("2", good.stops, good.segments[:1])
    assert refuse_routes(network, "PRR", kinds("2"), [short]) == "a route connects two or more stops"
