"""What pictures say can be read: no text over track or tokens, enough contrast, in both palettes."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops, ImageDraw

from engine import State, components_of, new_game
from renderers import color_math, market, theme
from renderers.canvas import CAP_HEIGHT, Canvas
from renderers.geometry import outline
from renderers.hex_grid import HexMetrics
from renderers.map import hex_sprites, label_layout
from renderers.map.free_space import FreeSpace
from renderers.map.label_layout import lay_out_labels
from renderers.map.label_sizes import tile_number
from renderers.map.layers import BOARD_LAYERS, TEXT_LAYERS, Layer, LayerContext, routes
from renderers.map.map import grid_for
from renderers.map.token_positions import overflow_token_positions, reserved_positions
from renderers.theme import LIGHT, PALETTES, Palette
from renderers.views import HexView, company_badges, map_view, market_view
from renderers.views.hex_view import RouteSegment
from tests.game_text.histories import replayed
from tests.renderers.colour_blindness import MATRICES, distance, seen
from tests.renderers.positions import financed, recorded_ends

TITLES = ("1830", "1851", "1870", "1817")
ROOT = Path(__file__).parents[1]
GAMES = (
    "games/1830-5p-23.18xx", "games/1870-2p-5301-diesels.18xx",
    "games/1870-6p-5400-historical_order.18xx", "games/1817-7p-6001-short_squeeze.18xx",
    "t1851/games/3p-700.18xx", "t1851/games/5p-703.18xx",
)  # fmt: skip


def end_of(path: Path) -> State:
    """The last position of a game in a text; nobody changes it."""
    state = replayed(path).state
    assert state is not None
    return state


def drawn(hex: HexView, metrics: HexMetrics, layers: tuple[Layer, ...]) -> Image.Image:
    """Layers of a hex, on its colour."""
    w, h = metrics.half_size
    canvas = Canvas.empty((2 * w, 2 * h), LIGHT.hex_colors[hex.color])
    context = LayerContext(
        canvas, LIGHT, metrics, hex, hex_sprites.face_layout(hex, metrics), lay_out_labels(hex, metrics)
    )
    for layer in layers:
        layer(context)
    return canvas.image


def text_pixels(hex: HexView, metrics: HexMetrics) -> tuple[Image.Image, int]:
    """White where a text or its plate is, and how many pixels two layers of texts share."""
    blank = Image.new("RGB", drawn(hex, metrics, ()).size, LIGHT.hex_colors[hex.color])
    everything, shared = Image.new("L", blank.size), 0
    for layer in TEXT_LAYERS:
        difference = ImageChops.difference(drawn(hex, metrics, (layer,)), blank)
        if box := difference.getbbox():
            mask = difference.crop(box).convert("L").point(lambda v: 255 if v > 40 else 0)
            shared += ImageChops.multiply(mask, everything.crop(box)).histogram()[255]
            everything.paste(ImageChops.lighter(mask, everything.crop(box)), box)
    return everything, shared


def board_pixels(hex: HexView, metrics: HexMetrics) -> Image.Image:
    """White where track, a stop or a token is, inside the hex's border."""
    picture = drawn(hex, metrics, BOARD_LAYERS)
    solid = LIGHT.track if hex.tile or hex.color != "white" else (0, 0, 0)
    difference = ImageChops.difference(picture, Image.new("RGB", picture.size, solid)).convert("L")
    mask = difference.point(lambda v: 255 if v < 40 else 0)
    draw = ImageDraw.Draw(mask)
    for node, (kind, slots) in zip(hex_sprites.face_layout(hex, metrics).nodes, hex.nodes, strict=True):
        if kind == "city" and slots:
            for slot in node.slots:
                disc(draw, metrics, slot, node.radius * metrics.radius)
    for _, point, diameter in (*overflow_token_positions(hex, metrics), *reserved_positions(hex, metrics)):
        disc(draw, metrics, point, diameter / 2)
    inside = Image.new("L", picture.size)
    corners = [metrics.to_pixels((x * 0.93, y * 0.93)) for x, y in outline(metrics.layout)]
    ImageDraw.Draw(inside).polygon(corners, fill=255)
    return ImageChops.multiply(mask, inside)


def disc(draw: ImageDraw.ImageDraw, metrics: HexMetrics, center: tuple[float, float], radius: float) -> None:
    x, y = metrics.to_pixels(center)
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=255)


def covered(state: State, seen: set[HexView]) -> Iterator[str]:
    """The hexes where a text is over track, a stop, a token or another text; those in `seen` are left out."""
    view = map_view(state)
    metrics = grid_for(view).metrics
    for hex in view.hexes:
        if hex in seen:
            continue
        seen.add(hex)
        texts, shared = text_pixels(hex, metrics)
        pixels = ImageChops.multiply(texts, board_pixels(hex, metrics)).histogram()[255]
        if pixels > 6 or shared > 6:
            yield f"{state.title} {hex.coord} {hex.tile} turned by {hex.rotation}: {pixels} + {shared} pixels"


@pytest.mark.parametrize("title", TITLES)
def test_no_text_is_over_track_or_tokens_of_an_empty_board(title: str) -> None:
    assert list(covered(new_game(title, ["Ann", "Bob", "Cid"]).state, set())) == []


@pytest.mark.parametrize("game", GAMES)
def test_no_text_is_over_track_or_tokens_at_the_end_of_a_game(game: str) -> None:
    assert list(covered(end_of(ROOT / game), set())) == []


@pytest.mark.parametrize("title", ["1830", "1870", "1817"])
def test_no_text_is_over_track_or_tokens_at_the_ends_of_recorded_games(shared: Path, title: str) -> None:
    seen: set[HexView] = set()
    for name, end in recorded_ends(shared, title):
        assert list(covered(recorded_end(title, end), seen)) == [], name


def recorded_end(title: str, end: dict[str, Any]) -> State:
    """The board at the end of a recorded game; each token is in the first city with a free slot."""
    state = new_game(title, ["Ann", "Bob", "Cid"]).state
    state.tiles = {hex: (tile.rstrip("KL"), turns) for hex, (tile, turns) in end["tiles"].items()}
    phase = end["phase"].removesuffix("+")
    state.phase = phase if phase in [p.name for p in components_of(title).phases] else state.phase
    slots = {
        hex.coord: [n for n, (_, count) in enumerate(hex.nodes) for _ in range(count)]
        for hex in map_view(state).hexes
    }
    state.tokens = {}
    for sym in sorted(end["companies"].keys() & state.companies.keys()):
        for coord in end["companies"][sym]["tokens"]:
            free = slots[coord]
            state.tokens.setdefault(coord, []).append((free.pop(0) if free else 0, sym))
    return state


@pytest.mark.parametrize(
    "title, place, forgotten", [("1830", "H12", "block_face"), ("1870", "N1", "tokens_beside_slots")]
)
def test_texts_that_are_placed_without_regard_to_track_or_tokens_are_found(
    monkeypatch: pytest.MonkeyPatch, title: str, place: str, forgotten: str
) -> None:
    monkeypatch.setattr(label_layout, forgotten, lambda *_: ())
    label_layout._lay_out_cached.cache_clear()
    found = list(covered(new_game(title, ["Ann", "Bob", "Cid"]).state, set()))
    label_layout._lay_out_cached.cache_clear()
    assert any(line.startswith(f"{title} {place} ") for line in found), found


def test_the_letters_of_a_hex_do_not_touch_its_name() -> None:
    """The round letters of 1830's H18 are a little higher than those of its name."""
    view = map_view(new_game("1830", ["Ann", "Bob", "Cid"]).state, crop=["H18"])
    labels = label_layout.lay_out_labels(
        next(hex for hex in view.hexes if hex.coord == "H18"), grid_for(view).metrics
    )
    name, letters = labels.coordinate, labels.label
    assert name and letters and letters.text == "OO"
    heights = (name.font_size + letters.font_size) * CAP_HEIGHT
    assert abs(letters.offset[1] - name.offset[1]) - heights / 2 > 0.1 * letters.font_size


def test_texts_over_each_other_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FreeSpace, "occupy", lambda *_: None)
    label_layout._lay_out_cached.cache_clear()
    found = list(covered(new_game("1830", ["Ann", "Bob", "Cid"]).state, set()))
    label_layout._lay_out_cached.cache_clear()
    assert len(found) > 10


@pytest.mark.parametrize("title", TITLES)
def test_no_route_is_over_the_name_or_the_values_of_an_offboard_area(title: str) -> None:
    view = map_view(new_game(title, ["Ann", "Bob", "Cid"]).state)
    metrics = grid_for(view).metrics
    areas = [hex for hex in view.hexes if any(kind == "offboard" for kind, _ in hex.nodes)]
    assert areas
    for hex in areas:
        segments = tuple(RouteSegment(0, "", *ends) for ends in hex.paths)
        run = replace(hex, route_segments=segments)
        blank = drawn(run, metrics, ())
        route = ImageChops.difference(drawn(run, metrics, (routes,)), blank).convert("L")
        route = route.point(lambda v: 255 if v > 40 else 0)
        assert segments == () or route.histogram()[255] > 100, "there is a route"
        both = ImageChops.multiply(text_pixels(hex, metrics)[0], route).histogram()[255]
        assert both < 0.02 * route.histogram()[255] + 12, f"{title} {hex.coord}: {both} pixels"


# --- contrast -------------------------------------------------------------------------------


def texts_of(palette: Palette) -> Iterator[tuple[str, color_math.Color, color_math.Color]]:
    """(what, colour, background) of texts."""
    for background in ("page", "row_band", "paper"):
        for role in ("ink", "muted", "blocked"):
            yield f"{role} on {background}", getattr(palette, role), getattr(palette, background)
    yield "coordinates of the frame", palette.sea_text, palette.sea
    yield "revenue", palette.plate_text, palette.plate
    yield "note", color_math.WHITE, theme.NOTE
    yield "blocked hex", theme.LIGHT.blocked, color_math.WHITE
    yield "header of a table", palette.page, palette.ink
    for name, color in palette.hex_colors.items():
        for softness in (0.0, 0.2, 0.25):
            yield f"text on {name}", palette.text_on(color, softness), color
        for tint in (palette.hill, palette.water):
            yield f"cost on {name}", palette.tinted(tint, color), color
        yield f"grade of {name}", color_math.readable_on(color, color_math.BLACK), color_math.BLACK
    for name, color in palette.zone_colors.items():
        yield f"price in the {name} zone", palette.text_on(color), color
        yield f"letter of the {name} zone", palette.text_on(color, 0.35), color
    for color in palette.route_colors:
        yield "number of a route", color_math.WHITE, color
    yield "reserved", palette.text_on(palette.stop_fill, 0.35), palette.stop_fill


@pytest.mark.parametrize("palette", PALETTES.values(), ids=list(PALETTES))
def test_every_text_has_enough_contrast(palette: Palette) -> None:
    weak = [
        f"{what}: {color_math.contrast(color, background):.1f}"
        for what, color, background in texts_of(palette)
        if color_math.contrast(color, background) < color_math.MIN_CONTRAST
    ]
    assert weak == []


@pytest.mark.parametrize("title", TITLES)
def test_the_letters_of_every_company_can_be_read_on_its_token(title: str) -> None:
    for badge in company_badges(components_of(title)).values():
        color, text = color_math.parse_color(badge.color), color_math.parse_color(badge.text_color)
        assert color_math.least_contrast(text, color) >= color_math.MIN_CONTRAST, badge.sym
        assert color_math.readable_on(text, color) == text
    for company in components_of(title).companies:
        badge = company_badges(components_of(title))[company.sym]
        assert distance(color_math.parse_color(badge.color), color_math.parse_color(company.color)) < 25, (
            "as printed"
        )


def test_the_contrast_of_a_token_is_that_of_the_colour_blind_too() -> None:
    """Black letters on the printed red of 1851's GM&O are weak without red, white ones for all others."""
    red = (255, 0, 0)
    assert (
        color_math.contrast(color_math.BLACK, red)
        >= color_math.MIN_CONTRAST
        > color_math.least_contrast(color_math.BLACK, red)
    )
    for kind, weights in (
        ("deuteranopia", color_math.LUMINANCE_WITHOUT_GREEN),
        ("protanopia", color_math.LUMINANCE_WITHOUT_RED),
    ):
        for color in (red, (1, 132, 113), (10, 136, 75)):
            channels = zip(color_math.LUMINANCE, seen(color, kind), strict=True)
            expected = sum(share * channel for share, channel in channels)
            assert color_math._luminance(color, weights) == pytest.approx(expected, abs=0.012)


def test_contrast_is_that_of_wcag() -> None:
    assert color_math.contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert color_math.contrast((119, 119, 119), (255, 255, 255)) == pytest.approx(4.48, abs=0.01)
    assert color_math.contrast(color_math.parse_color("#0000ff"), (0, 0, 0)) == pytest.approx(2.44, abs=0.01)


# --- grades and numbers ---------------------------------------------------------------------


def test_green_and_brown_tiles_have_the_letter_of_their_grade() -> None:
    state = end_of(ROOT / GAMES[0])
    view = map_view(state)
    metrics = grid_for(view).metrics
    letters = {
        (hex.color, grade.text if (grade := lay_out_labels(hex, metrics).grade) else None)
        for hex in view.hexes
        if hex.tile
    }
    assert letters <= {("yellow", None), ("green", "G"), ("brown", "B"), ("gray", None)}
    assert {("green", "G"), ("brown", "B")} <= letters


def test_a_tile_without_a_printed_number_has_none_in_the_picture() -> None:
    assert (tile_number("X00"), tile_number("57")) == ("", "#57")
    state = financed()
    state.tiles["F13"] = ("X00", 0)
    view = map_view(state)
    assert lay_out_labels(view.hex_at("F13"), grid_for(view).metrics).number is None


# --- colour blindness -----------------------------------------------------------------------

BOARD_COLORS = ("white", "yellow", "green", "brown", "red")


@pytest.mark.parametrize("kind", ["none", *MATRICES])
@pytest.mark.parametrize("palette", PALETTES.values(), ids=list(PALETTES))
def test_grades_and_areas_look_different_to_the_colour_blind(palette: Palette, kind: str) -> None:
    alike = [
        f"{a} and {b}: {far:.1f}"
        for a, b in combinations(BOARD_COLORS, 2)
        if (far := distance(palette.hex_colors[a], palette.hex_colors[b], kind)) < 12
    ]
    assert alike == []


@pytest.mark.parametrize("kind", ["none", *MATRICES])
@pytest.mark.parametrize("palette", PALETTES.values(), ids=list(PALETTES))
@pytest.mark.parametrize("title", TITLES)
def test_zones_of_a_market_look_different_to_the_colour_blind(
    palette: Palette, kind: str, title: str
) -> None:
    """They have their letters too."""
    cells = market_view(new_game(title, ["Ann", "Bob", "Cid"]).state).cells
    zones = {zone for cell in cells for zone in cell.zones} & (market.ZONE_TAGS.keys() - {"acquisition"})
    alike = [
        f"{a} and {b}: {far:.1f}"
        for a, b in combinations(sorted({"white", *zones}), 2)
        if (far := distance(palette.zone_colors[a], palette.zone_colors[b], kind)) < 7
    ]
    assert alike == []


@pytest.mark.parametrize("kind", ["none", *MATRICES])
@pytest.mark.parametrize("palette", PALETTES.values(), ids=list(PALETTES))
def test_routes_look_different_from_tiles_and_track_to_the_colour_blind(palette: Palette, kind: str) -> None:
    """Most runs have one to three trains. A red route looks as brown tiles do to those who see no green."""
    first = palette.route_colors[:3]
    alike = [
        f"{color} and {name}: {far:.1f}"
        for color in first
        for name, other in {**palette.hex_colors, "track": palette.track}.items()
        if (far := distance(color, other, kind)) < 20
    ]
    alike += [f"{a} and {b}" for a, b in combinations(first, 2) if distance(a, b, kind) < 15]
    assert alike == []


def test_the_simulation_takes_red_for_green() -> None:
    red, green = (238, 154, 142), (124, 196, 127)
    assert distance(red, green) > 60
    assert distance(red, green, "deuteranopia") < 8
    assert distance((0, 0, 0), (255, 255, 255), "deuteranopia") == pytest.approx(100, abs=1)
