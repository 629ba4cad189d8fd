"""The alt text of a picture has every number that the picture shows."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from PIL import Image

import engine
from engine import State
from renderers import (
    Picture,
    around,
    auction_png,
    companies_png,
    map_png,
    market,
    market_png,
    sheet_png,
    sprites,
    tile_places_png,
    tiles_left_png,
    upgrades_png,
    ways_png,
)
from renderers.canvas import Canvas
from renderers.map import map, route_sprites
from renderers.map.map import draw_legend
from renderers.views import auction_view, labels, map_view, sheet_view
from tests.renderers.positions import financed
from tests.renderers.test_legibility import ROOT, TITLES, end_of

ENDS = {
    "1830": "games/1830-5p-23.18xx", "1851": "t1851/games/3p-700.18xx",
    "1870": "games/1870-6p-5400-historical_order.18xx", "1817": "games/1817-7p-6001-short_squeeze.18xx",
}  # fmt: skip


def positions(title: str) -> list[State]:
    """The first position, the last, and for 1817 one with all that can be financed."""
    return [
        engine.new_game(title, ["Ann", "Bob", "Cid"]).state,
        end_of(ROOT / ENDS[title]),
        *([financed()] if title == "1817" else []),
    ]


def pictures(state: State) -> Iterator[tuple[str, Callable[[], Picture]]]:
    """Each kind of picture of a position."""
    here = "F10" if state.title in ("1830", "1851") else "G10"
    placed = [sym for sym, company in state.companies.items() if company.cell]
    revenues = {sym: 100 + 7 * i for i, sym in enumerate(placed)}
    crop = around(state, list(state.tokens) or list(state.tiles) or [here])
    yield "map", partial(map_png, state)
    yield "part of the map", partial(map_png, state, crop=crop, highlight=crop[:2])
    yield "market", partial(market_png, state)
    yield "sheet", partial(sheet_png, state, revenues=revenues)
    yield "auction", partial(auction_png, state)
    if placed:
        yield "two companies", partial(companies_png, state, placed[:2], revenues=revenues)
    if placed and state.title == "1817":
        yield "companies", partial(companies_png, state, placed, revenues=revenues)
    yield "ways", partial(ways_png, state, here, [("57", 0), ("14", 1)])
    yield "where a tile may lie", partial(tile_places_png, state, "57")
    yield "upgrades", partial(upgrades_png, state, "57")
    yield "tiles left", partial(tiles_left_png, state)


def drawn_texts(monkeypatch: pytest.MonkeyPatch, draw: Callable[[], Picture]) -> tuple[Picture, list[str]]:
    """A picture with the texts that were written on it, without the frame of the map."""
    written: list[str] = []
    write, background = Canvas.write, map._map_background

    def remember(self: Canvas, at: Any, text: str, *arguments: Any, **details: Any) -> None:
        written.append(text)
        write(self, at, text, *arguments, **details)

    def without_frame(*arguments: Any) -> Image.Image:
        before = len(written)
        image = background(*arguments)
        del written[before:]
        return image

    for cached in (map.draw_hex, sprites.plate, sprites.structure, route_sprites.route_number,
                   market._draw_empty, draw_legend):  # fmt: skip
        cached.cache_clear()
    with monkeypatch.context() as patched:
        patched.setattr(Canvas, "write", remember)
        patched.setattr(map, "_map_background", without_frame)
        return draw(), written


def numbers(text: str) -> set[str]:
    """The numbers in a text; a number that an ellipsis cuts is none."""
    return set(re.findall(r"\d+(?![\d…])", text))


def missing_numbers(monkeypatch: pytest.MonkeyPatch, state: State, draw: Callable[[], Picture]) -> set[str]:
    """Numbers that are drawn and not told. Coordinates are names, not numbers."""
    hexes = engine.game_of(state).components.map.hexes
    picture, written = drawn_texts(monkeypatch, draw)
    assert written, "nothing was written"
    shown = set[str]().union(*(numbers(text) for text in written if text not in hexes))
    return shown - numbers(picture.alt)


@pytest.mark.parametrize("title", TITLES)
def test_every_number_of_a_picture_is_in_its_alt_text(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it is cut to the length that Discord takes."""
    monkeypatch.setattr(labels, "MAX_ALT_TEXT", 100_000)
    for i, state in enumerate(positions(title)):
        for kind, draw in pictures(state):
            assert missing_numbers(monkeypatch, state, draw) == set(), f"{kind}, position {i}"


def test_a_number_that_is_not_told_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    state = financed()
    monkeypatch.setattr(labels, "MAX_ALT_TEXT", 30)
    assert "130" in missing_numbers(monkeypatch, state, partial(sheet_png, state)), "the cash of WT"


@pytest.mark.parametrize("title", TITLES)
def test_what_the_question_needs_is_first(title: str) -> None:
    """Players, lots, tokens and revenues are told; powers, tiles and what is printed may be cut."""
    for state in positions(title):
        auction = auction_view(state)
        assert all(lot.summary in auction.alt for lot in auction.lots), "powers may be cut"
        sheet = sheet_view(state).alt
        assert all(f"{state.name(seat)}: " in sheet for seat in state.seats)
        game_map = map_view(state).alt
        assert max(len(sheet), len(game_map), len(auction.alt)) <= 1024
        assert "Values now: " in game_map and ("Revenues: " in game_map or not state.tiles)
