"""Connectivity (1830 §18.1, §19), compared with an exhaustive search for walks."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from engine import new_game
from engine.board import connectivity as reaching
from engine.board.network import Network, clear_cache, network_of
from engine.board.tile_geometry import face_at, fitting_rotations
from engine.core.components import Components, components_of
from engine.kernel import game_of
from engine.operating.track import candidate_tiles
from tests.board.exhaustive import ExhaustiveBoard, Tiles, Tokens, Walk, random_board


def walked(
    board: ExhaustiveBoard, company: str
) -> tuple[dict[str, int], set[tuple[str, int]], dict[str, int]]:
    """Edges, stops and tracks by following every walk from every token."""
    edges: dict[str, int] = {}
    tracks: dict[str, int] = {}
    stops = set(board.own(company))

    def touch(walk: Walk) -> None:
        for hex, t in walk.tracks:
            tracks[hex] = tracks.get(hex, 0) | 1 << t
        for side in walk.sides:
            for hex, edge in side:
                if board.across(hex, edge) or (hex, -1 - edge) == walk.at:
                    edges[hex] = edges.get(hex, 0) | 1 << edge
        stops.update(walk.stops)

    for token in board.own(company):
        edges[token[0]] = 0b111111
        todo = [Walk((token,), frozenset(), frozenset(), token)]
        while todo:
            walk = todo.pop()
            for on in board._leave(walk):
                touch(on)
                if on.at[1] >= 0 and not board.ends(company, on.at) and on.at not in board.own(company):
                    todo.append(on)
    return edges, stops, tracks


@pytest.mark.parametrize("patience", [reaching.STEPS_BEFORE_PRUNING, 0])
@pytest.mark.parametrize("seed", range(60))
def test_reachable_track_is_exactly_what_some_walk_uses(
    seed: int, patience: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reaching, "STEPS_BEFORE_PRUNING", patience)
    clear_cache()
    facts, tiles, tokens = random_board(seed)
    network = network_of(facts, tiles, tokens)
    board = ExhaustiveBoard(facts, tiles, tokens)
    for company in ("PRR", "B&O", "C&O"):
        found = network.reachable(company)
        assert (found.edges, set(found.stops), found.tracks) == walked(board, company)


def reached(tiles: Tiles, tokens: Tokens, company: str = "PRR") -> frozenset[tuple[str, int]]:
    return network_of(components_of("1830"), tiles, tokens).reachable(company).stops


def test_18_0_a_token_without_track_reaches_its_own_hex() -> None:
    reach = network_of(components_of("1830"), {}, {"E19": [(0, "NYC")]}).reachable("NYC")
    assert reach.edges == {"E19": 0b111111}
    assert reach.stops == {("E19", 0)}
    assert reach.tracks == {}


def test_18_1_track_reaches_hexes_without_tiles() -> None:
    reach = network_of(components_of("1830"), {}, {"H12": [(0, "PRR")]}).reachable("PRR")
    assert reach.edges == {"H12": 0b111111, "H10": 1 << 4, "H14": 1 << 1}


def test_19_0_a_city_full_of_others_is_reached_but_not_passed() -> None:
    tiles: Tiles = {"H10": ("57", 1), "H8": ("9", 1), "H6": ("9", 1), "H4": ("57", 1)}
    home: Tokens = {"H12": [(0, "PRR")]}
    assert reached(tiles, home) == {("H12", 0), ("H10", 0), ("H4", 0)}
    assert reached(tiles, home | {"H10": [(0, "B&O")]}) == {("H12", 0), ("H10", 0)}
    assert reached(tiles | {"H10": ("14", 1)}, home | {"H10": [(0, "B&O")]}) >= {("H10", 0), ("H4", 0)}
    own: Tokens = {"H10": [(0, "B&O"), (0, "PRR")]}
    assert reached(tiles | {"H10": ("14", 1)}, home | own) >= {("H4", 0)}


def test_20_1_a_route_does_not_reverse_at_a_junction() -> None:
    # A switch in G11 whose points look away from the company: H10 cannot be come at over F10.
    tiles: Tiles = {"H10": ("57", 0), "H14": ("24", 1)}
    reach = network_of(components_of("1830"), tiles, {"H12": [(0, "PRR")]}).reachable("PRR")
    face_tracks = network_of(components_of("1830"), tiles, {}).faces["H14"].tracks
    assert reach.edges["H14"] == 0b111111 & sum(1 << e for e in {e for pair in face_tracks for e in pair})
    far = network_of(components_of("1830"), {"H14": ("24", 4)}, {"H12": [(0, "PRR")]})
    assert far.faces["H14"].tracks == ((4, 0), (4, 1))
    # Coming in over edge 1 it goes on to edge 4 only, never back out to edge 0.
    assert far.reachable("PRR").edges["H14"] == 1 << 1 | 1 << 4


def test_a_loop_does_not_lend_its_other_end() -> None:
    # Out of H12 both ways and round: neither arm may come home over track already used.
    facts = components_of("1830")
    tiles: Tiles = {"H14": ("7", 1), "G13": ("7", 4)}
    network = network_of(facts, tiles, {"H12": [(0, "PRR")]})
    assert set(network.reachable("PRR").stops) == {("H12", 0)}


def test_networks_are_cached_by_the_content_of_the_board() -> None:
    facts = components_of("1830")
    one = network_of(facts, {"H10": ("57", 1)}, {"H12": [(0, "PRR")]})
    assert network_of(facts, {"H10": ("57", 1)}, {"H12": [(0, "PRR")]}) is one
    assert network_of(facts, {"H10": ("57", 2)}, {"H12": [(0, "PRR")]}) is not one
    assert network_of(facts, {"H10": ("57", 1)}, {"H12": [(0, "B&O")]}) is not one


def test_a_token_beyond_the_slots_of_a_city() -> None:
    tiles: Tiles = {"H10": ("57", 1), "H8": ("9", 1), "H6": ("9", 1), "H4": ("57", 1)}
    tokens: Tokens = {"H12": [(0, "PRR")], "H10": [(0, "B&O")]}
    network = network_of(components_of("1830"), tiles, tokens, {("H10", 0): 1})
    assert ("H4", 0) in network.reachable("PRR").stops


def grown_board(title: str, seed: int) -> Iterator[tuple[Components, Tiles, Tokens]]:
    """A board on which tile after tile is laid where track leads, and tokens come and go."""
    rng = random.Random(seed)
    g = game_of(new_game(title, ["Ann", "Bob", "Cid"]).state)
    facts, tiles, tokens = g.components, g.state.tiles, g.state.tokens
    cities = [hex for hex, here in facts.map.hexes.items() if any(node.kind == "city" for node in here.nodes)]
    for company in COMPANIES:
        tokens.setdefault(rng.choice(cities), []).append((0, company))
    for _ in range(120):
        reach = network_of(facts, tiles, tokens).reachable(rng.choice(COMPANIES))
        hex = rng.choice([*reach.edges, *cities[:1]])
        lays = [
            (tile, fit)
            for tile in candidate_tiles(g, hex)
            for fit in fitting_rotations(facts, hex, tiles.get(hex), tile)
            if fit.face.exits & reach.edges.get(hex, 0)
        ]
        if lays:
            tile, fit = rng.choice(lays)
            tiles[hex] = (tile, fit.rotation)
            if hex in tokens:
                tokens[hex] = [(fit.node_map.get(n, n), there) for n, there in tokens[hex]]
        reached = network_of(facts, tiles, tokens).reachable(rng.choice(COMPANIES)).stops
        place, company = rng.choice(sorted(reached) or [(cities[0], 0)]), rng.choice(COMPANIES)
        node = face_at(facts, tiles, place[0]).nodes
        here = tokens.get(place[0], [])
        if rng.random() < 0.1 and len(here) > 1:
            here.pop()
        elif rng.random() < 0.3 and sum(n == place[1] for n, _ in here) < node[place[1]].slots:
            tokens.setdefault(place[0], []).append((place[1], company))
        yield facts, tiles, tokens


COMPANIES = ("one", "two", "three")


def answers(network: Network, company: str) -> tuple[dict[str, int], frozenset[tuple[str, int]]]:
    """What is reached, one question at a time: edges of hexes, then stops."""
    edges: dict[str, int] = {}
    for hex in network.map_index.hexes:
        if here := sum(1 << edge for edge in range(6) if network.reaches_edge(company, hex, 1 << edge)):
            edges[hex] = here
    listed = list(network.reachable_stops(company))
    assert len(set(listed)) == len(listed)
    assert set(listed) == {stop for stop in network.stops if network.reaches_stop(company, stop)}
    return edges, frozenset(listed)


@pytest.mark.parametrize("title", ["1830", "1870", "1817"])
@pytest.mark.parametrize("seed", range(5))
def test_an_extended_search_equals_a_new_search(title: str, seed: int) -> None:
    clear_cache()
    grown = [
        [(reach.edges, reach.stops, reach.tracks) for reach in map(network_of(*board).reachable, COMPANIES)]
        for board in grown_board(title, seed)
    ]
    assert max(len(stops) for _, stops, _ in grown[-1]) > 5
    clear_cache()
    for n, (board, known) in enumerate(zip(grown_board(title, seed), grown, strict=True)):
        if n % 7 == seed:  # what was found out some boards ago answers first
            for company, (edges, stops, _) in zip(COMPANIES, known, strict=True):
                assert answers(network_of(*board), company) == (edges, stops)
    for board, known in zip(grown_board(title, seed), grown, strict=True):
        clear_cache()
        found = [network_of(*board).reachable(company) for company in COMPANIES]
        assert [(reach.edges, reach.stops, reach.tracks) for reach in found] == known
