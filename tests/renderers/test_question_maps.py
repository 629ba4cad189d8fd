"""The maps of questions at the width of a phone: how large their numbers are on the boards of whole games."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import engine
from bot.pictures.views import question_pictures
from bot.pictures.workers import Pictures
from renderers import Picture, map_png, theme
from renderers.hex_grid import HexMetrics
from renderers.map.label_layout import lay_out_labels
from renderers.map.map import draw_map, grid_for
from renderers.map.page_layout import touching_pieces
from renderers.map.text_placer import LabelLayout
from renderers.views import HexView, MapView, map_view, part_around
from tests.game_text.histories import history_of
from tests.renderers.positions import financed, opening, position
from tests.renderers.test_legibility import GAMES, ROOT
from tests.renderers.test_map import near, pixel
from tests.renderers.test_question_pictures import digits

POSITIONS = 4
"""Of each game, from the first operating turns to the last."""

LEAST_DIGITS = {"revenue": 3.3, "value": 3.1, "terrain": 3.8, "note": 3.2, "bonus": 3.2}
"""Pixels on a phone, on maps of any width."""
LEAST_DIGITS_OF_A_PART = {"revenue": 4.9, "value": 5.5, "terrain": 4.4, "note": 5.0, "bonus": 4.9}
"""The same where the map is at most `PART` columns wide, as half of them are."""
PART = 15


class MapsAsked(Pictures):
    """Draws nothing, and has the views of the maps that were asked for."""

    def __init__(self) -> None:
        self.views: list[MapView] = []

    async def request(
        self, kind: str, state: engine.State, arguments: tuple[Any, ...], details: dict[str, Any]
    ) -> Picture | None:
        if kind == "map":
            self.views.append(map_view(state, **details))
        return None


def question_maps(path: Path, count: int) -> Iterator[MapView]:
    """The maps of so many questions about track or a run, evenly through a game."""
    history = history_of(path)
    state, asked = engine.copy_state(history.start), []
    for line in history.lines:
        engine.fold(line.events, state)
        if state.stack and engine.topic(state) in ("track", "run"):
            asked.append(engine.encode_state(state))
    for i in range(count):
        maps = MapsAsked()
        raw = asked[(len(asked) - 1) * (i + 1) // count]
        asyncio.run(question_pictures(maps, engine.decode_state(raw)))
        yield from maps.views


def numbers(hex: HexView, labels: LabelLayout) -> Iterator[tuple[str, int]]:
    """What each number of a hex is, and its font size."""
    yield from (("revenue", place.font_size) for place in labels.revenues)
    yield from (("terrain", place.font_size) for _, place in labels.terrain)
    yield from (("note", place.font_size) for place in (*labels.notes, *labels.blocked))
    yield from (("bonus", place.font_size) for site, place in labels.structures if site.is_built)
    values = zip(hex.phase_values, labels.values, strict=True)
    yield from (("value", box.font_size) for value, box in values if value.is_current)


@pytest.mark.parametrize("game", GAMES)
def test_the_numbers_of_a_question_are_legible_on_a_phone(game: str) -> None:
    small = []
    for view in question_maps(ROOT / game, POSITIONS):
        grid = grid_for(view)
        columns = grid.size[0] / grid.metrics.column
        least = LEAST_DIGITS_OF_A_PART if columns <= PART else LEAST_DIGITS
        for hex in view.hexes:
            for what, size in numbers(hex, lay_out_labels(hex, grid.metrics)):
                if (height := digits(size, grid.size[0])) < least[what]:
                    small.append(f"{hex.coord} {hex.tile}: {what} {height:.2f}, {columns:.0f} columns")
    assert small == []


# --- pieces ---------------------------------------------------------------------------------

FAR_APART = ("F2", "F4", "E5", "E21", "F22", "E23")


def test_distant_networks_are_moved_together() -> None:
    state = opening()
    whole = grid_for(map_view(state))
    view = map_view(state, crop=part_around(state, FAR_APART))
    grid = grid_for(view)
    assert len(grid.pieces) == 2
    assert grid.metrics.radius / grid.size[0] > 1.8 * whole.metrics.radius / whole.size[0]
    assert sorted(coord for piece in grid.pieces for coord in piece.coords) == sorted(
        hex.coord for hex in view.hexes
    )
    w, h = grid.metrics.half_size
    for piece in grid.pieces:
        for coord in piece.coords:
            x, y = grid.center(coord)
            assert piece.corner[0] + w <= x <= piece.corner[0] + piece.size[0] - w
            assert piece.corner[1] + h <= y <= piece.corner[1] + piece.size[1] - h
    image = draw_map(view).convert("RGB")
    assert image.size == grid.size
    for hex in view.hexes:
        x, y = grid.center(hex.coord)
        assert not near(pixel(image, (x - w // 2, y)), theme.LIGHT.sea, 6), hex.coord


@pytest.mark.parametrize("palette", [theme.LIGHT, theme.DARK], ids=("light", "dark"))
def test_a_line_divides_distant_networks(palette: theme.Palette) -> None:
    view = map_view(opening(), crop=part_around(opening(), FAR_APART))
    first, second = grid_for(view).pieces
    below = second.corner[1] == first.corner[1] + first.size[1]
    found = dividers(view, palette, below)
    assert found and all(abs(at - second.corner[1 if below else 0]) <= 3 for at in found)
    whole = map_view(opening(), crop=part_around(opening(), ("H10", "H16")))
    assert not dividers(whole, palette, True) and not dividers(whole, palette, False)


def dividers(view: MapView, palette: theme.Palette, below: bool) -> list[int]:
    """The rows (`below`) or columns of a map's pixels that are a line from side to side."""
    image = draw_map(view, palette=palette).convert("RGB")
    image = image if below else image.transpose(Image.Transpose.TRANSPOSE)
    return [
        y
        for y in range(image.height)
        if all(near(pixel(image, (x, y)), palette.sea_text, 12) for x in range(20, image.width - 20))
    ]


def test_near_networks_stay_where_they_are() -> None:
    state = opening()
    assert len(touching_pieces(("H10", "H16"), "pointy", map_view(state).axes)) == 2
    view = map_view(state, crop=part_around(state, ("H10", "H16")))
    assert grid_for(view).pieces == ()


def test_a_wide_part_has_no_columns_more_than_its_hexes() -> None:
    state = opening()
    wide = part_around(state, ("F2", "F6", "E19"))
    axes = map_view(state).axes
    assert max(engine.column_row(hex, axes)[0] for hex in wide) == engine.column_row("E19", axes)[0]
    assert "E21" not in wide and "D20" not in wide and "G17" not in wide and "F20" not in wide
    assert "F20" in part_around(state, ("E19",))
    assert part_around(state, ()) == ()


# --- footnotes ------------------------------------------------------------------------------


def crowded_note() -> MapView:
    """Kansas City's neighbor J3 of 1870 with its brown tile, where the plate of the SSW has no room."""
    state = engine.new_game("1870", ["Ann", "Bob", "Cid"]).state
    state.tiles["J3"] = ("170", 0)
    return map_view(state)


def test_a_note_without_room_is_a_footnote() -> None:
    view = crowded_note()
    grid = grid_for(view)
    labels = lay_out_labels(view.hex_at("J3"), grid.metrics)
    assert view.hex_at("J3").notes == ("→SSW",)
    assert labels.footnotes == ("→SSW",) and labels.notes == ()
    assert draw_map(view).height > grid.size[1], "they are below the map"
    assert "→SSW J3" in map_png(engine.new_game("1870", ["Ann", "Bob"]).state).alt


def test_a_map_without_room_below_has_small_notes_instead() -> None:
    hex = crowded_note().hex_at("J3")
    labels = lay_out_labels(hex, HexMetrics("pointy", 40, 69))
    assert labels.footnotes == () and [note.text for note in labels.notes] == ["→SSW"]


def test_the_sign_of_a_possible_mine_is_small_rather_than_a_footnote() -> None:
    state = financed()
    view = map_view(state, crop=part_around(state, state.tokens))
    grid = grid_for(view)
    for hex in view.hexes:
        labels = lay_out_labels(hex, grid.metrics)
        possible = [site for site in hex.structures if not site.is_built]
        assert [site for site, _ in labels.structures if not site.is_built] == possible, hex.coord


def test_what_has_room_has_no_footnotes() -> None:
    for view in (map_view(opening()), map_view(position())):
        layouts = [lay_out_labels(hex, grid_for(view).metrics) for hex in view.hexes]
        assert all(labels.coordinate and not labels.footnotes for labels in layouts)
        assert draw_map(view).height == grid_for(view).size[1]
