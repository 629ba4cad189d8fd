"""Pictures of tiles: the ways of a lay, where a tile may lie, its upgrades, the tiles left."""

import pytest

import engine
from renderers import (
    PALETTES,
    WAYS_PER_SHEET,
    tile_places_png,
    tiles_left_png,
    upgrades_png,
    ways_png,
)
from renderers.charts import tile_charts
from renderers.map.map import grid_for
from renderers.views import map_view, tile_title
from tests.renderers.positions import opening, position
from tests.renderers.test_map import opened


def test_the_ways_of_a_lay_are_numbered_on_as_many_sheets_as_they_need() -> None:
    state = position(tiles={"H14": ("9", 1)}, tokens={})
    ways = [
        (tile, rotation)
        for tile in engine.tiles_left(state)
        for rotation in sorted(set(engine.rotations_on(state, tile, "H14").values()))
    ]
    assert len(ways) > WAYS_PER_SHEET
    sheets = [ways_png(state, "H14", ways, n) for n in range(-(-len(ways) // WAYS_PER_SHEET))]
    assert f"1: tile {ways[0][0]} with edges" in sheets[0].alt
    assert f"{WAYS_PER_SHEET + 1}: tile {ways[WAYS_PER_SHEET][0]} with edges" in sheets[1].alt
    assert all(opened(sheet).size == (sheet.width, sheet.height) for sheet in sheets)
    assert all(len(sheet.png) < 150_000 for sheet in sheets)


def test_ways_need_a_hex_and_something_to_lay() -> None:
    with pytest.raises(ValueError, match="no ways"):
        ways_png(opening(), "H10", [])
    with pytest.raises(KeyError, match="Z9"):
        ways_png(opening(), "Z9", [("57", 0)])


def test_where_a_tile_may_lie_is_marked_and_told() -> None:
    state = opening()
    places = engine.places_of(state, "57")
    assert {"H10", "H16"} <= set(places) and "H14" not in places
    picture = tile_places_png(state, "57")
    assert picture.alt.startswith(f"Tile 57 may lie on: {' '.join(places)}. Left: 4.")
    assert engine.places_of(state, "14") == ()
    assert "nowhere" in tile_places_png(state, "14").alt


def test_the_upgrades_of_a_tile() -> None:
    upgrades = engine.tile_upgrades(opening(), "57")
    assert upgrades == ((), ("city",), ("14", "15"))
    assert engine.tile_upgrades(opening(), "14").before == ("57",)
    assert "becomes: tile 14 ($30) 3 left, tile 15 ($30) 2 left" in upgrades_png(opening(), "57").alt
    with pytest.raises(KeyError):
        upgrades_png(opening(), "9999")


@pytest.mark.parametrize("title", engine.title_names())
@pytest.mark.parametrize("palette", PALETTES)
def test_every_tile_of_every_title_can_be_drawn(title: str, palette: str) -> None:
    picture = tiles_left_png(engine.new_game(title, ["Ann", "Bob", "Cid"]).state, palette=palette)  # type: ignore[arg-type]
    assert picture.width == tile_charts.WIDTH and len(picture.png) < 150_000
    assert picture.alt.startswith(f"{title} · tiles left. yellow: tile ")


def test_a_tile_without_a_number_is_named_by_its_label_and_grade() -> None:
    assert tile_title("X00") == "B tile (yellow)" and tile_title("57") == "tile 57"
    state = engine.new_game("1817", ["Ann", "Bob", "Cid"]).state
    assert "X00" not in tiles_left_png(state).alt + upgrades_png(state, "X00").alt


def test_a_crop_keeps_its_marks() -> None:
    view = map_view(position(), crop=["H10"], highlight=["H10"])
    assert view.is_crop and grid_for(view).metrics.text_share == 1.0
