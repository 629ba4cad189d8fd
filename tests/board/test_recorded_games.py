"""Lays, tokens and runs of recorded games, compared with what the site offers and with proven best routes."""

from __future__ import annotations

import gzip
import json
from bisect import bisect_left
from functools import cache
from typing import Any

import pytest

from engine.board.connectivity import ReachableTrack
from engine.board.network import Network, network_of
from engine.board.route_notation import format_route, parse_route, route_along
from engine.board.routes import RunningTrain, best_routes, refuse_routes, route_revenue
from engine.board.tile_geometry import fitting_rotations
from engine.core.components import Components, components_of, tile_faces
from tests.board.recorded_positions import ABSENT, FAMED, GAMES, Position, lines, positions

pytestmark = pytest.mark.skipif(not GAMES.is_dir(), reason=ABSENT)

TITLE = "1830"


@cache
def board(game: str) -> tuple[list[int], list[Position]]:
    found = positions(TITLE, game)
    return [position.id for position in found], found


def before(game: str, id: int) -> Position:
    """The position in which the action `id` was taken."""
    ids, found = board(game)
    return found[bisect_left(ids, id) - 1]


def network_at(position: Position) -> Network:
    return network_of(components_of(TITLE), position.tiles, position.tokens)


def successors(facts: Components, position: Position, hex: str) -> tuple[str, ...]:
    """The tiles that may replace the tile of a hex, in any phase."""
    if hex in position.tiles:
        return (facts.upgrades or {})[position.tiles[hex][0]]
    face = facts.map.hexes[hex]
    if face.color not in ("white", "yellow"):
        return ()
    kind = (
        "plain"
        if not face.nodes
        else "two_towns"
        if len(face.nodes) == 2 and not face.label
        else face.nodes[0].kind
    )
    return facts.preprinted_upgrades[f"{kind}_{face.label}" if face.label else kind]


def lays(facts: Components, position: Position, reach: ReachableTrack) -> set[tuple[str, str, int]]:
    """Lays that track, colours and the tiles left allow."""
    phase = next(phase for phase in facts.phases if phase.name == position.phase)
    out = [tile for tile, _ in position.tiles.values()]
    return {
        (hex, tile, fit.rotation)
        for hex, edges in reach.edges.items()
        for tile in successors(facts, position, hex)
        if tile_faces()[tile].color in phase.tile_colors and out.count(tile) < (facts.tiles[tile] or 99)
        for fit in fitting_rotations(facts, hex, position.tiles.get(hex), tile)
        if fit.face.exits & edges
    }


def decisions() -> list[dict[str, Any]]:
    return lines(GAMES / "legal" / "1830-played-bank.jsonl.gz")


def held_back(facts: Components) -> set[str]:
    """Hexes that a private may block. Its owner is not known here."""
    return {hex for private in facts.privates for hex in private.blocks}


def test_18_lays_are_those_that_the_site_offers() -> None:
    facts = components_of(TITLE)
    compared = 0
    for row in decisions():
        if not row["step"].endswith("Track"):
            continue
        position = before("played-bank", row["before"])
        company = FAMED.get(row["corporation"], row["corporation"])
        reach = network_at(position).reachable(company)
        offered = {
            (lay["hex"], lay["tile"], turn)
            for lay in row["lays"]
            if lay["by"] == row["corporation"]
            for turn in lay["rot"]
        }
        ours = lays(facts, position, reach)
        assert offered <= ours, row["before"]
        assert {lay for lay in ours - offered if lay[0] not in held_back(facts)} == set(), row["before"]
        compared += len(offered)
    assert compared > 3000


def test_19_tokens_are_connected_as_on_the_site() -> None:
    compared = 0
    for row in decisions():
        if not row["step"].endswith("Step::Token"):
            continue
        reach = network_at(before("played-bank", row["before"])).reachable(
            FAMED.get(row["corporation"], row["corporation"])
        )
        for token in row["tokens"]:
            connected = token["ok"] or "not connected" not in token["err"]
            assert ((token["hex"], token["city"]) in reach.stops) == connected, (row["before"], token)
            compared += 1
    assert compared > 200


def runs() -> list[dict[str, Any]]:
    found = lines(GAMES / "optimum" / "best-runs.jsonl.gz") if GAMES.is_dir() else []
    return [row for row in found if row["title"] == TITLE]


def values_at(network: Network, phase: str) -> dict[tuple[str, int], int]:
    names = [p.name for p in network.components.phases]
    begun = names[: names.index(phase) + 1]
    found: dict[tuple[str, int], int] = {}
    for stop, node in zip(network.stops, network.nodes, strict=True):
        by_phase = node.revenue if isinstance(node.revenue, dict) else {begun[0]: node.revenue}
        found[stop] = [dollars for name, dollars in by_phase.items() if name in begun][-1]
    return found


def test_20_3_the_best_runs_of_played_games() -> None:
    distances = {train.name: train.distance for train in components_of(TITLE).trains}
    assert len(runs()) > 100
    for row in runs():
        position = before(row["game"], row["id"])
        network = network_at(position)
        company = FAMED.get(row["company"], row["company"])
        trains = [RunningTrain(name, distances[name]) for name in row["trains"]]
        values = values_at(network, position.phase)
        found = best_routes(network, company, trains, values)
        assert (found.revenue, found.proven) == (row["best"], True), row
        assert refuse_routes(network, company, trains, found.routes) is None
        assert sum(route_revenue(network, route, values) for route in found.routes) == found.revenue
        for route in found.routes:
            assert parse_route(network, company, format_route(network, route), route.train) == route


@pytest.mark.parametrize(
    "path", sorted((GAMES / "18xx.games" / TITLE).glob("*.json.gz")), ids=lambda path: path.name[:-8]
)
def test_20_1_routes_that_were_run_are_legal_and_earn_what_they_did(path: Any) -> None:
    with gzip.open(path) as file:
        actions = {a["id"]: a for a in json.load(file)["actions"] if a["type"] == "run_routes"}
    game = path.name.removesuffix(".json.gz")
    distances = {train.name: train.distance for train in components_of(TITLE).trains}
    ids, _ = board(game)
    for id in ids:
        if id not in actions:
            continue
        position = before(game, id)
        network = network_at(position)
        values = values_at(network, position.phase)
        company = FAMED.get(actions[id]["entity"], actions[id]["entity"])
        ran = actions[id]["routes"]
        names = [route["train"].rsplit("-", 1)[0] for route in ran]
        trains = [RunningTrain(name, distances[name]) for name in names]
        routes = [
            route_along(network, route["connections"], name) for route, name in zip(ran, names, strict=True)
        ]
        assert refuse_routes(network, company, trains, routes) is None, id
        assert [route_revenue(network, route, values) for route in routes] == [r["revenue"] for r in ran], id
        found = best_routes(network, company, trains, values)
        assert found.proven and found.revenue >= sum(route["revenue"] for route in ran), id
        for route in found.routes:
            assert parse_route(network, company, format_route(network, route), route.train) == route
