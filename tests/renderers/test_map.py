"""The picture of the map, checked by its pixels against the view and the geometry."""

from io import BytesIO
from itertools import chain, combinations
from math import hypot
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from engine import State, new_game, tile_faces
from renderers import Picture, color_math, map_png, sprites, theme
from renderers.canvas import to_palette
from renderers.color_math import Color
from renderers.files import png_palette
from renderers.geometry import HexLayout, edge_middle
from renderers.hex_grid import Grid
from renderers.map import hex_sprites, label_layout, map
from renderers.map.label_layout import lay_out_labels
from renderers.map.map import draw_map, grid_for
from renderers.map.token_positions import reserved_positions, token_positions
from renderers.views import Badge, HexView, MapView, PhaseValue, map_view
from tests.renderers.positions import TILES, opening, position, recorded_ends, with_route

RED = Badge("PRR", "#32763f", "#ffffff")


def opened(picture: Picture) -> Image.Image:
    return Image.open(BytesIO(picture.png))


def pixel(image: Image.Image, at: tuple[int, int]) -> Color:
    red, green, blue = image.getpixel(at)  # type: ignore[misc]
    return red, green, blue


LARGE = (1600, 1200)
"""A map on which the border of a hex cannot be taken for track."""


def near(a: Color, b: Color, reach: int = 40) -> bool:
    return max(abs(x - y) for x, y in zip(a, b, strict=True)) <= reach


def around(image: Image.Image, at: tuple[int, int], reach: int = 1) -> list[Color]:
    x, y = at
    return [
        pixel(image, (x + dx, y + dy)) for dx in range(-reach, reach + 1) for dy in range(-reach, reach + 1)
    ]


def used_edges(view: HexView) -> set[int]:
    ends = chain.from_iterable(view.paths)
    return {(int(end[1:]) + view.rotation) % 6 for end in ends if end[0] == "e"}


def check_edges(view: MapView, grid: Grid, image: Image.Image) -> int:
    """Check that exactly the used edges have track at their midpoints; returns the number of edges."""
    layout: HexLayout = view.layout
    looked = 0
    for here in view.hexes:
        for edge in set(range(6)).difference(here.barriers):
            x, y = edge_middle(layout, edge)
            at = grid.to_pixels(here.coord, (x * 0.975, y * 0.975))
            dark = near(pixel(image, at), theme.LIGHT.track)
            assert dark == (edge in used_edges(here)), (here.coord, here.tile, edge)
            looked += 1
    return looked


def every_tile(layout: HexLayout) -> MapView:
    """All tiles in all rotations on one wide map, two hexes apart."""
    views = []
    for row, (tile, face) in enumerate(tile_faces().items()):
        for turns in range(6):
            letter, number = chr(ord("A") + row % 26), 2 * turns + row % 2 + 20 * (row // 26) + 1
            views.append(
                HexView(
                    coord=f"{letter}{number}",
                    color=face.color,
                    tile=tile,
                    rotation=turns,
                    paths=face.paths,
                    nodes=tuple((n.kind, n.slots) for n in face.nodes),
                    label=face.label,
                    revenues=tuple(n.revenue for n in face.nodes if isinstance(n.revenue, int) and n.revenue),
                )
            )
    axes = (("x", "number"), ("y", "letter")) if layout == "pointy" else (("x", "letter"), ("y", "number"))
    return MapView("every tile", layout, axes, "2", tuple(views), (RED,))


@pytest.mark.parametrize("layout", ["pointy", "flat"])
def test_every_tile_in_every_rotation_has_track_at_its_edges_and_at_no_other(layout: HexLayout) -> None:
    view = every_tile(layout)
    size = (5200, 2900) if layout == "pointy" else (2900, 5200)
    image = draw_map(view, size).convert("RGB")
    assert check_edges(view, grid_for(view, size), image) == 6 * 6 * len(tile_faces())


@pytest.mark.parametrize("state", [position(), opening(), position(tokens={})])
def test_every_used_edge_of_a_board_has_track_and_no_other_has(state: State) -> None:
    view = map_view(state)
    image = opened(map_png(state, size=LARGE)).convert("RGB")
    assert check_edges(view, grid_for(view, LARGE), image) > 500


def test_every_used_edge_of_the_last_boards_of_recorded_games_has_track(shared: Path) -> None:
    for name, seen in recorded_ends(shared, "1830"):
        tiles = {coord: (tile, turns) for coord, (tile, turns) in seen["tiles"].items()}
        view = map_view(position(tiles, {}, seen["phase"]))
        image = draw_map(view, LARGE).convert("RGB")
        assert check_edges(view, grid_for(view, LARGE), image) > 500, name


def test_tokens_are_in_their_slots_in_their_colors() -> None:
    view = map_view(position())
    image = draw_map(view).convert("RGB")
    grid = grid_for(view)
    seen = []
    for here in view.hexes:
        for badge, point, diameter in token_positions(here, grid.metrics):
            x, y = grid.to_pixels(here.coord, point)
            for dx, dy in ((0, -0.4), (0, 0.4)):
                at = round(x + dx * diameter), round(y + dy * diameter)
                assert near(pixel(image, at), color_math.parse_color(badge.color)), (here.coord, badge.sym)
            seen.append((here.coord, badge.sym))
    assert sorted(seen) == sorted((c, sym) for c, held in position().tokens.items() for _, sym in held)


def test_an_empty_slot_is_white_and_a_reserved_slot_has_a_symbol() -> None:
    empty = map_view(position(tokens={}), crop=["H10", "H12"])
    mesh = grid_for(empty).metrics
    image = draw_map(empty).convert("RGB")
    ((_, point, diameter),) = reserved_positions(empty.hex_at("H12"), mesh)
    x, y = grid_for(empty).to_pixels("H12", point)
    inside = [
        pixel(image, (x + dx, y + dy)) for dx in range(-diameter // 4, diameter // 4) for dy in (-2, 0, 2)
    ]
    assert any(near(c, theme.LIGHT.text_on(theme.LIGHT.stop_fill, 0.35), 60) for c in inside)
    x, y = grid_for(empty).center("H10")
    assert near(pixel(image, (x - round(0.33 * mesh.radius), y)), theme.LIGHT.stop_fill)


def test_symbols_distinguish_companies_of_the_same_color() -> None:
    pictures = {
        sym: sprites.token(Badge(sym, "#333333", "#ffffff"), 44).tobytes() for sym in ("PRR", "NYC", "B&O")
    }
    assert len(set(pictures.values())) == 3


@pytest.mark.parametrize("phase, amount", [("2", 40), ("4", 40), ("5", 70), ("D", 70)])
def test_only_the_current_value_of_an_area_has_a_frame(phase: str, amount: int) -> None:
    view = map_view(position(phase=phase))
    here = view.hex_at("F2")
    assert [v.amount for v in here.phase_values if v.is_current] == [amount]
    image = draw_map(view).convert("RGB")
    grid = grid_for(view)
    x0, y0 = grid.center("F2")
    for value, box in zip(here.phase_values, lay_out_labels(here, grid.metrics).values, strict=True):
        above = y0 + box.y - box.height // 2 - 1
        framed = all(near(pixel(image, (x0 + box.x + dx, above)), theme.LIGHT.ink) for dx in (-8, 0, 8))
        assert framed == value.is_current


def test_every_area_shows_its_values_once() -> None:
    shown = {h.coord: [v.amount for v in h.phase_values] for h in map_view(opening()).hexes if h.phase_values}
    assert shown == {"A11": [30, 50], "B24": [20, 30], "F2": [40, 70], "J2": [30, 60], "K13": [30, 40]}


def test_another_revenue_changes_only_its_plate() -> None:
    def painted(revenue: int) -> tuple[HexView, Image.Image]:
        here = HexView(
            "C3", "yellow", (("town", 0),), (("e0", "n0"), ("e3", "n0")), 0, "4", revenues=(revenue,)
        )
        view = MapView("one", "pointy", (("x", "number"), ("y", "letter")), "2", (here,), (RED,))
        return here, draw_map(view, (400, 400)).convert("RGB")

    (here, ten), (_, sixty) = painted(10), painted(60)
    grid = grid_for(
        MapView("one", "pointy", (("x", "number"), ("y", "letter")), "2", (here,), (RED,)), (400, 400)
    )
    box = ImageChops.difference(ten, sixty).getbbox()
    assert box
    (plate,) = lay_out_labels(here, grid.metrics).revenues
    (x, y), (wide, high) = plate.offset, sprites.plate_size("10", plate.font_size)
    cx, cy = grid.center("C3")
    assert cx + x - wide / 2 - 1 <= box[0] and box[2] <= cx + x + wide / 2 + 1
    assert cy + y - high / 2 - 1 <= box[1] and box[3] <= cy + y + high / 2 + 1


def test_only_the_last_change_has_an_outline() -> None:
    state = position()
    view = map_view(state, highlight=["H10", "I7"])
    image = draw_map(view).convert("RGB")
    grid = grid_for(view)
    for here in view.hexes:
        x, y = edge_middle("pointy", 4)
        spots = chain.from_iterable(
            around(image, grid.to_pixels(here.coord, (x * 0.95, y * 0.95 + slide)), 2)
            for slide in (-0.3, 0.3)
        )
        assert any(near(c, theme.LIGHT.last_change) for c in spots) == (here.coord in ("H10", "I7")), (
            here.coord
        )


def test_impassable_edges_have_bars_on_both_sides() -> None:
    view = map_view(opening())
    image = draw_map(view).convert("RGB")
    grid = grid_for(view)
    for coord, edge in (("B16", 5), ("C17", 2), ("E7", 5), ("F8", 2)):
        x, y = edge_middle("pointy", edge)
        assert near(pixel(image, grid.to_pixels(coord, (x * 0.96, y * 0.96))), theme.LIGHT.barrier)


def test_terrain_disappears_under_a_tile_and_blocked_hexes_become_free() -> None:
    state = opening()
    assert map_view(state).hex_at("G15").terrain == (("mountain", 120),)
    assert map_view(state).hex_at("G15").blocked == ("SV",)
    state.tiles["G15"] = ("9", 0)
    state.private_owners["SV"] = "PRR"
    assert map_view(state).hex_at("G15").terrain == ()
    assert map_view(state).hex_at("G15").blocked == ()


def test_blocked_hexes_and_terrain_are_drawn() -> None:
    view = map_view(opening())
    image = draw_map(view).convert("RGB")
    grid = grid_for(view)
    here = view.hex_at("G15")
    spots = lay_out_labels(here, grid.metrics)
    cx, cy = grid.center("G15")
    (bx, by) = spots.blocked[0].offset
    (tx, ty) = spots.terrain[0][1].offset
    assert any(near(c, theme.LIGHT.blocked, 60) for c in around(image, (cx + bx, cy + by), 8))
    assert any(near(c, theme.LIGHT.hill, 60) for c in around(image, (cx + tx, cy + ty), 12))


def test_a_token_without_a_chosen_city_is_between_the_cities() -> None:
    view = map_view(position(tiles={}, tokens={"E11": [(-1, "Erie")]}))
    ((badge, point, _),) = token_positions(view.hex_at("E11"), grid_for(view).metrics)
    assert (badge.sym, point) == ("Erie", (0.0, 0.0))
    assert view.hex_at("E11").reserved == ()


@pytest.mark.parametrize("count", [3, 4, 5])
def test_tokens_without_a_slot_hide_no_other_token(count: int) -> None:
    syms = ["PRR", "NYC", "CPR", "B&O", "C&O"][:count]
    view = map_view(position(tiles={"H10": ("14", 0)}, tokens={"H10": [(0, sym) for sym in syms]}))
    mesh = grid_for(view).metrics
    places = token_positions(view.hex_at("H10"), mesh)
    assert [badge.sym for badge, _, _ in places] == syms
    for (_, a, wide), (_, b, other) in combinations(places, 2):
        apart = hypot((a[0] - b[0]) * mesh.scale[0], (a[1] - b[1]) * mesh.scale[1])
        assert apart >= 0.8 * (wide + other) / 2


def test_a_reserved_home_moves_with_its_city_on_an_upgrade() -> None:
    printed = map_view(opening()).hex_at("G19")
    assert [(node, b.sym) for node, b in printed.reserved] == [(0, "NYNH")]
    later = map_view(position(tokens={})).hex_at("G19")  # edge 3 of the first city is the second node's on 62
    assert [(node, b.sym) for node, b in later.reserved] == [(1, "NYNH")]
    erie = map_view(opening()).hex_at("E11")
    assert [(node, b.sym) for node, b in erie.reserved] == [(0, "Erie"), (1, "Erie")]


# --- routes ---------------------------------------------------------------------------------


def test_routes_are_drawn_only_along_their_track() -> None:
    state = position(tiles={**TILES, "H14": ("9", 1)})
    view = map_view(state, routes=[("3", "H10-H12")])
    view = with_route(view, "2", ("H4", "e4", "n0"), ("H6", "e1", "e4"))
    assert {h.coord for h in view.hexes if h.route_segments} == {"H10", "H12", "H4", "H6"}
    image = draw_map(view).convert("RGB")
    grid = grid_for(view)
    assert near(pixel(image, grid.to_pixels("H6", (0.3, 0.0))), theme.LIGHT.route_colors[1])
    assert near(pixel(image, grid.to_pixels("H14", (0.3, 0.0))), theme.LIGHT.track)
    x, y = edge_middle("pointy", 4)
    number = around(image, grid.to_pixels("H10", (x, y)), 9)
    assert any(near(c, theme.LIGHT.route_colors[0]) for c in number) and any(
        near(c, theme.LIGHT.paper) for c in number
    )
    assert "Route 1: 3. Route 2: 2" in view.alt


def test_a_route_without_track_raises_a_clear_error() -> None:
    with pytest.raises(ValueError, match="no track along"):
        map_png(opening(), routes=[("2", "H10-F4")])


# --- the file -------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [opening(), position(), position(phase="D")])
def test_a_map_is_a_small_palette_png_no_larger_than_its_board_needs(state: State) -> None:
    picture = map_png(state, highlight=["H10"])
    image = opened(picture)
    assert image.mode == "P" and image.format == "PNG"
    assert image.size == (1187, 958) == (picture.width, picture.height)
    assert len(image.getcolors(256) or ()) <= 256
    assert len(picture.png) < 150_000


def test_the_same_position_gives_the_same_bytes_whatever_was_drawn_before() -> None:
    first = map_png(position(), highlight=["H10"])
    map_png(opening())
    map_png(position(phase="D"), size=(800, 600))
    map.draw_hex.cache_clear()
    label_layout._lay_out_cached.cache_clear()
    hex_sprites.face.cache_clear()
    assert map_png(position(), highlight=["H10"]) == first


def test_after_a_move_only_changed_hexes_are_drawn() -> None:
    state = position()
    map_png(state)
    before = map.draw_hex.cache_info().misses
    state.tiles["I5"] = ("57", 0)
    state.tokens["H4"] = [(0, "PRR")]
    map_png(state)
    assert map.draw_hex.cache_info().misses - before == 2


def test_a_cropped_map_has_larger_hexes() -> None:
    whole, part = map_view(position()), map_view(position(), crop=["H10", "H12", "G11"])
    assert [h.coord for h in part.hexes] == ["G11", "H10", "H12"]
    assert grid_for(part).metrics.radius > 2.5 * grid_for(whole).metrics.radius
    assert opened(map_png(position(), crop=["H10"], size=(500, 400))).size == (500, 400)


def test_a_river_runs_beneath_the_track_and_the_cities_of_a_tile() -> None:
    """1870's St. Louis: the river crosses the second slot of #170."""
    state = new_game("1870", ["Ann", "Bob", "Cid"]).state
    state.tiles["C18"] = ("170", 0)
    view = map_view(state, crop=["C18"])
    grid, here = grid_for(view), view.hex_at("C18")
    assert here.river_banks
    image = draw_map(view).convert("RGB")
    city = hex_sprites.face_layout(here, grid.metrics).nodes[0]
    course = hex_sprites.river_line(view.layout, here.river_banks)
    crossed = [p for p in course if any(hypot(p[0] - x, p[1] - y) < 0.2 for x, y in city.slots)]
    assert crossed
    for point in crossed:
        assert not near(pixel(image, grid.to_pixels("C18", point)), theme.LIGHT.water)
    assert any(near(pixel(image, grid.to_pixels("C18", point)), theme.LIGHT.water) for point in course[1:-1])


def test_unknown_hexes_are_named() -> None:
    with pytest.raises(KeyError, match="the map of 1830 has no hex Z9"):
        map_png(opening(), highlight=["Z9"])
    with pytest.raises(KeyError, match="Z9"):
        map_png(opening(), crop=["Z9"])
    with pytest.raises(KeyError):
        map_view(opening()).hex_at("Z9")


def test_the_palette_has_all_colors_of_the_theme() -> None:
    companies = tuple(b.color for b in map_view(opening()).companies)
    palette = png_palette(theme.LIGHT, companies)
    colours = palette.getpalette() or []
    assert len(colours) <= 3 * 256
    for meant in (
        *theme.LIGHT.hex_colors.values(),
        theme.LIGHT.ink,
        theme.LIGHT.last_change,
        *theme.LIGHT.route_colors,
        *(color_math.parse_color(c) for c in companies),
    ):
        shown = to_palette(Image.new("RGB", (4, 4), meant), palette).convert("RGB")
        assert near(pixel(shown, (1, 1)), meant, 6)


def test_tile_colors_differ_in_lightness() -> None:
    yellow, green, brown = (
        color_math.lightness(theme.LIGHT.hex_colors[c]) for c in ("yellow", "green", "brown")
    )
    assert yellow - green > 30 and green - brown > 15


# --- words ----------------------------------------------------------------------------------


def test_the_alt_text_names_changes_and_tokens() -> None:
    alt = map_png(position(), highlight=["H10"]).alt
    assert alt.startswith("Map of 1830, phase 3. Last change at H10 (Pittsburgh): green tile 14, tokens PRR.")
    assert "PRR G19 H10 H12" in alt and "NYC E19 G19" in alt
    assert "Chicago 40" in alt and len(alt) <= 1024


def test_an_alt_text_is_never_too_long() -> None:
    alt = map_png(position(), highlight=list(TILES)).alt
    assert len(alt) <= 1024 and alt.endswith("…")


@pytest.mark.parametrize("node", ["offboard", "city"])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_values_of_an_area_do_not_overlap_and_the_current_one_is_largest(count: int, node: str) -> None:
    values = tuple(PhaseValue(str(i), 30 + 10 * i, "green", i == 1) for i in range(count))
    here = HexView("C3", "red", ((node, 1),), (("e0", "n0"),), phase_values=values, name="Maritime Provinces")
    mesh = grid_for(map_view(opening())).metrics
    spots = lay_out_labels(here, mesh).values
    if node == "offboard":
        small = [(s.y, s.x) for i, s in enumerate(spots) if count <= 3 or i != 1]
        assert small == sorted(small), "in the order of the phases; of four, the current one is above"
    for a, b in combinations(spots, 2):
        assert abs(a.x - b.x) >= (a.width + b.width) // 2 - 1 or abs(a.y - b.y) >= (a.height + b.height) // 2
    assert max(abs(s.x) + s.width / 2 for s in spots) <= mesh.half_size[0]
    assert max(s.font_size for s in spots) == spots[1].font_size >= 0.02 * 500


# --- the ways a tile may lie ----------------------------------------------------------------


def test_a_preview_moves_tokens_with_their_edges_and_does_not_change_the_state() -> None:
    state = position(tiles={"E11": ("59", 0)}, tokens={"E11": [(1, "Erie")]})
    view = map_view(state, preview={"E11": ("66", 2)})  # edge 2 of its city is node 0's there
    assert view.hex_at("E11").tile == "66" and [n for n, _ in view.hex_at("E11").tokens] == [0]
    assert state.tiles["E11"] == ("59", 0) and state.tokens["E11"] == [(1, "Erie")]
