"""The notation of routes."""

from __future__ import annotations

import pytest

from engine.board.network import network_of
from engine.board.route_notation import format_route, parse_route, route_along
from engine.board.routes import Route, best_routes, refuse_routes
from engine.core.components import components_of
from tests.board.exhaustive import Tiles, Tokens, random_board
from tests.board.test_routes import HOME, LINE, kinds, worth

FACTS = components_of("1830")


@pytest.mark.parametrize("seed", range(40))
def test_best_routes_are_parsed_as_formatted(seed: int) -> None:
    facts, tiles, tokens = random_board(seed, 300)
    network = network_of(facts, tiles, tokens)
    for company in ("PRR", "B&O", "C&O"):
        for trains in (("2", "2", "3"), ("4", "3"), ("D",)):
            for route in best_routes(network, company, kinds(*trains), worth(network)).routes:
                text = format_route(network, route)
                assert parse_route(network, company, text, route.train) == route
                assert parse_route(network, company, text.lower(), route.train) == route
                backwards = "-".join(reversed(format_route(network, route).split("-")))
                if ":" not in text:
                    assert parse_route(network, company, backwards, route.train) == route


def chains_of(route: Route) -> list[list[str]]:
    """A route as recorded games list it."""
    found: list[list[str]] = [[]]
    for hex, come, _ in route.segments:
        if come >= 6 and found[-1]:
            found.append([])
        found[-1].append(hex)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_recorded_chains_give_the_route(seed: int) -> None:
    facts, tiles, tokens = random_board(seed, 120)
    network = network_of(facts, tiles, tokens)
    for route in best_routes(network, "PRR", kinds("3", "4"), worth(network)).routes:
        chains = chains_of(route)
        try:
            assert route_along(network, chains, route.train) == route
            assert route_along(network, [list(reversed(chain)) for chain in chains], route.train) == route
            assert route_along(network, chains[::-1], route.train) == route
        except ValueError as error:
            assert str(error).startswith("several tracks run along")


def test_stops_are_enough_where_they_determine_the_track() -> None:
    network = network_of(FACTS, LINE, HOME)
    found = best_routes(network, "PRR", kinds("4"), worth(network))
    assert [format_route(network, route) for route in found.routes] == ["H4-H10-H12-H16"]


def test_a_route_past_altoona_names_the_edges() -> None:
    tiles: Tiles = {hex: LINE[hex] for hex in ("H10", "H14", "H16")}
    network = network_of(FACTS, tiles, {"H10": [(0, "PRR")]})
    past = parse_route(network, "PRR", "H10-H16")
    assert past.stops == (("H10", 0), ("H16", 0))
    into = parse_route(network, "PRR", "h10-h12-h16")
    assert len(into.stops) == 3
    assert {format_route(network, past), format_route(network, into)} == {"H10-H16", "H10-H12-H16"}
    assert parse_route(network, "PRR", "H10:4-H12:14-H14:14-H16:1") == past
    assert parse_route(network, "PRR", "H10.0:4-H12.0:14-H14:14-H16.0:1") == into


def test_a_hex_with_several_stops_names_its_node() -> None:
    # Erie's hex with both cities joined through Toronto's.
    tiles: Tiles = {"E11": ("66", 2), "D10": ("64", 1)}
    tokens: Tokens = {"E11": [(0, "PRR")]}
    network = network_of(FACTS, tiles, tokens)
    found = best_routes(network, "PRR", kinds("2"), worth(network))
    for route in found.routes:
        text = format_route(network, route)
        assert all("." in part for part in text.split("-"))
        assert parse_route(network, "PRR", text, "2") == route
    assert found.routes


def test_several_tracks_between_two_stops() -> None:
    # Pittsburgh and Erie are joined over G11 and over G9.
    tiles: Tiles = {"H10": ("63", 0), "G9": ("8", 3), "G11": ("8", 0), "F10": ("3", 5)}
    network = network_of(FACTS, tiles, {"H10": [(0, "PRR")]})
    with pytest.raises(ValueError, match=r"several tracks connect F10-H10: write F10-G11-H10 or F10-G9-H10"):
        parse_route(network, "PRR", "f10-h10")
    routes = [parse_route(network, "PRR", text, "2") for text in ("F10-G9-H10", "F10-G11-H10")]
    assert [format_route(network, route) for route in routes] == ["F10-G9-H10", "F10-G11-H10"]
    assert route_along(network, [["H10", "G9", "F10"]], "2") == routes[0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not a route"),
        ("H10", "is not a route"),
        ("H10-", "an empty place is no hex"),
        ("H10-ZZ", "there is no hex ZZ"),
        ("H10-H12.3", "H12 has no stop .3"),
        ("H10-F6", "there is no track along H10-F6"),
        ("H14-H16", "there is no track along H14-H16"),
        ("H10-H12:77", "H12:77 is no hex: a route looks like"),
        ("H10-H12-H10", "H10-H12-H10 visits Pittsburgh twice"),
        ("h4-h10-f6-h4", "H4-H10-F6-H4 visits Columbus twice"),
        ("F2-H10-F2", "F2-H10-F2 visits Chicago twice"),
        ("J2-H10-I1", "J2-H10-I1 visits Gulf twice"),
    ],
)
def test_what_cannot_be_parsed_is_explained(text: str, why: str) -> None:
    network = network_of(FACTS, LINE, HOME)
    with pytest.raises(ValueError, match=why.replace(".", r"\.")):
        parse_route(network, "PRR", text)


def test_chains_without_track_are_refused() -> None:
    network = network_of(FACTS, LINE, HOME)
    assert (
        refuse_routes(
            network,
            "PRR",
            kinds("3"),
            [route_along(network, [["H12", "H10"], ["H4", "H6", "H8", "H10"]], "3")],
        )
        is None
    )
    for bad in ([], [["H10"]], [["H10", "Z9"]], [["H10", "H12"], ["H4", "H6"]]):
        with pytest.raises(ValueError, match=r"is not a route|no track"):
            route_along(network, bad)
