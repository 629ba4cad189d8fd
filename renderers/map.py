"""The picture of the map: every hex is drawn by a list of layers, cached, and pasted.

Theory of operation. The picture of a hex depends only on its `HexView`, the size of hexes and the layers. It
is drawn once, converted to the palette and cached (`CACHED_HEXES`). A map is its background and one paste per
hex, so after a move only the changed hexes are drawn. Things across an edge (barriers, routes, joined areas)
are drawn by both hexes, half by each.

`label_layout` finds the positions of texts first; the layers only draw there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from PIL import Image

from renderers import sprites, theme
from renderers.canvas import (
    CAP_HEIGHT,
    Canvas,
    SupersampledCanvas,
    fit_font_size,
    shorten,
    to_palette,
)
from renderers.geometry import (
    Axes,
    FaceLayout,
    Grid,
    HexLayout,
    HexMetrics,
    dashed,
    edge_middle,
    fit_grid,
)
from renderers.label_layout import (
    CACHED_HEXES,
    FontSizes,
    LabelLayout,
    PlacedText,
    lay_out_labels,
    overflow_token_positions,
    reserved_positions,
    terrain_size,
    token_positions,
)
from renderers.theme import Palette
from renderers.views import HexView, MapView

MAX_SIZES = ((1280, 960), (1000, 1200))
"""The pages, in pixels: landscape and portrait. A phone shows pictures 400 points or 1200 pixels wide."""
MARGIN = 30
PHONE_WIDTH, PHONE_DIGITS = 400, 5.2
"""A part of a map is lettered so that digits are so many pixels high where the picture is shown so wide."""
MAX_TEXT_SHARE = 1.6


# --- layers ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class LayerContext:
    """What a layer needs to draw one hex: the canvas, the colours, the sizes, and the positions of texts."""

    canvas: Canvas
    palette: Palette
    metrics: HexMetrics
    view: HexView
    face_layout: FaceLayout
    labels: LabelLayout

    @property
    def background(self) -> theme.Color:
        return self.palette.hex_colors[self.view.color]

    def to_pixels(self, offset: tuple[int, int]) -> tuple[int, int]:
        """The pixel of the canvas at an offset from the hex's center."""
        return self.metrics.half_size[0] + offset[0], self.metrics.half_size[1] + offset[1]

    def write(self, text: PlacedText, weight: str = "Semibold", softness: float = 0.0) -> None:
        """Write a text on the hex's background, softer than black where that can be read."""
        color = self.palette.text_on(self.background, softness)
        self.canvas.write(self.to_pixels(text.offset), text.text, text.font_size, color, weight=weight)

    def paste_plate(
        self, text: PlacedText, label: str, fill: theme.Color, color: theme.Color, border: theme.Color
    ) -> None:
        """A text on a rounded plate."""
        plate = sprites.plate(label, text.font_size, color, fill, border)
        self.canvas.paste(plate, self.to_pixels(text.offset))


Layer = Callable[[LayerContext], None]


def land(hex: LayerContext) -> None:
    """The background and the track that are printed on the map."""
    if hex.view.tile is None:
        _paste_face(hex)


def tiles(hex: LayerContext) -> None:
    """The tile with its track, towns and empty slots."""
    if hex.view.tile is not None:
        _paste_face(hex)


def numbers(hex: LayerContext) -> None:
    """The number of the tile, where there is room, and the letter of its grade."""
    if hex.labels.number:
        hex.write(hex.labels.number, "Bold", 0.25)
    if grade := hex.labels.grade:
        disc = sprites.grade(grade.text, grade.font_size, hex.background)
        hex.canvas.paste(disc, hex.to_pixels(grade.offset))


def _paste_face(hex: LayerContext) -> None:
    v = hex.view
    face = sprites.face(
        hex.palette, hex.metrics, v.color, v.nodes, v.paths, v.rotation, v.tile is not None, v.joined_edges
    )
    hex.canvas.image.paste(face, (0, 0))


def terrain(hex: LayerContext) -> None:
    """Mountains and water with their costs."""
    for (kind, cost), place in zip(hex.view.terrain, hex.labels.terrain, strict=True):
        x, y = hex.to_pixels(place.offset)
        width, height = terrain_size(cost, place.font_size, place.is_wide)
        sign = sprites.terrain(hex.palette, kind, round(place.font_size * (1.2 if place.is_wide else 1.75)))
        tint = hex.palette.hill if kind in theme.HIGH_TERRAIN else hex.palette.water
        color = hex.palette.tinted(tint, hex.background)
        text = f"${cost}"
        if place.is_wide:
            left = x - width // 2
            hex.canvas.paste(sign, (left + sign.width // 2, y))
            hex.canvas.write((left + sign.width + 3, y), text, place.font_size, color, align="l")
        else:
            hex.canvas.paste(sign, (x, y - height // 2 + sign.height // 2))
            hex.canvas.write(
                (x, y + height // 2 - place.font_size * CAP_HEIGHT / 2), text, place.font_size, color
            )


def rivers(hex: LayerContext) -> None:
    """The river through a hex; narrow on a tile, so that the track is visible."""
    if hex.view.river_banks:
        width = sprites.river_width(hex.view.tile is not None)
        _paste_overlay(hex, sprites.river_overlay(hex.palette, hex.metrics, hex.view.river_banks, width))


def notes(hex: LayerContext) -> None:
    """Ports, tokens of privates, and companies that have to connect to the hex."""
    for place in hex.labels.notes:
        hex.paste_plate(place, place.text, theme.NOTE, theme.WHITE, theme.BLACK)


def structures(hex: LayerContext) -> None:
    """Mines and bridges, and the places where one may still be built."""
    for structure, place in zip(hex.view.structures, hex.labels.structures, strict=True):
        sign = sprites.structure(hex.palette, structure, place.font_size)
        hex.canvas.paste(sign, hex.to_pixels(place.offset))


def borders(hex: LayerContext) -> None:
    """Edges that are impassable or cost money."""
    if hex.view.borders:
        _paste_overlay(hex, sprites.border_overlay(hex.palette, hex.metrics, hex.view.borders))
    for edge, _, cost in hex.view.borders:
        if cost:
            x, y = hex.metrics.to_pixels(tuple(k * 0.8 for k in edge_middle(hex.metrics.layout, edge)))  # type: ignore[arg-type]
            size = FontSizes.for_metrics(hex.metrics).small
            hex.canvas.write((x, y), f"${cost}", size, hex.palette.text_on(hex.background))


def _paste_overlay(hex: LayerContext, overlay: Image.Image) -> None:
    hex.canvas.image.paste(overlay, (0, 0), overlay)


def tokens(hex: LayerContext) -> None:
    """Tokens in their slots."""
    for badge, point, diameter in token_positions(hex.view, hex.metrics):
        hex.canvas.paste(sprites.token(badge, diameter), hex.metrics.to_pixels(point))


def overflow_tokens(hex: LayerContext) -> None:
    """Tokens without a slot."""
    for badge, point, diameter in overflow_token_positions(hex.view, hex.metrics):
        hex.canvas.paste(sprites.token(badge, diameter), hex.metrics.to_pixels(point))


def names(hex: LayerContext) -> None:
    for line in hex.labels.name:
        hex.write(line)
    if hex.labels.label:
        hex.write(hex.labels.label, "Black")


def revenues(hex: LayerContext) -> None:
    """Revenues: of a tile on a plate; of an area by phase in boxes, the current one with a frame."""
    palette = hex.palette
    for place in hex.labels.revenues:
        hex.paste_plate(place, place.text, palette.plate, palette.plate_text, palette.tile_edge)
    if not hex.view.phase_values:
        return
    for value, box in zip(hex.view.phase_values, hex.labels.values, strict=True):
        x, y = hex.to_pixels((box.x, box.y))
        fill = palette.hex_colors[value.color]
        left, top = x - box.width // 2, y - box.height // 2
        right, bottom = left + box.width, top + box.height
        if value.is_current:
            for grow, color in ((2, theme.BLACK), (-1, theme.WHITE), (-4, fill)):
                hex.canvas.rectangle(left - grow, top - grow, right + grow, bottom + grow, color)
            ink = palette.text_on(fill)
            hex.canvas.write((x, y), str(value.amount), box.font_size, ink, weight="Black")
        else:
            hex.canvas.rectangle(left + 3, top + 1, right - 3, bottom - 1, fill)
            ink = palette.text_on(fill, 0.2)
            hex.canvas.write((x, y), str(value.amount), round(box.font_size * 0.9), ink, weight="Regular")


def reservations(hex: LayerContext) -> None:
    """Slots reserved for homes."""
    for badge, point, diameter in reserved_positions(hex.view, hex.metrics):
        slot = sprites.reserved_slot(hex.palette, badge, diameter)
        hex.canvas.paste(slot, hex.metrics.to_pixels(point))


def blocked(hex: LayerContext) -> None:
    """The privates that block a hex."""
    for place in hex.labels.blocked:
        red = theme.LIGHT.blocked
        hex.paste_plate(place, place.text, theme.WHITE, red, red)


def last_lay(hex: LayerContext) -> None:
    """The double outline around a hex that changed last."""
    if hex.view.highlighted:
        _paste_overlay(hex, sprites.last_change_outline(hex.palette, hex.metrics))


def routes(hex: LayerContext) -> None:
    """The routes in colours, with their numbers where they cross edges."""
    segments = hex.view.route_segments
    if not segments:
        return
    areas = frozenset(f"n{i}" for i, (kind, _) in enumerate(hex.view.nodes) if kind == "offboard")
    _paste_overlay(hex, sprites.route_overlay(hex.palette, hex.metrics, hex.face_layout, segments, areas))
    for badge, point, diameter in token_positions(hex.view, hex.metrics):
        hex.canvas.paste(sprites.token(badge, diameter), hex.metrics.to_pixels(point))
    for (x, y), route in sprites.edge_crossings(hex.metrics, segments):
        color = sprites.route_color(hex.palette, route)
        hex.canvas.paste(_route_number(route, color, round(hex.metrics.radius * 0.36)), (x, y))


@lru_cache(64)
def _route_number(route: int, color: theme.Color, diameter: int) -> Image.Image:
    shape = SupersampledCanvas((diameter, diameter))
    radius = diameter / 2
    shape.disc((radius, radius), radius, theme.WHITE)
    shape.disc((radius, radius), radius - 1.2, color)
    canvas = Canvas.copy_of(shape.downsampled())
    canvas.write((radius, radius), str(route + 1), round(diameter * 0.8), theme.WHITE)
    return canvas.image


def coordinates(hex: LayerContext) -> None:
    hex.write(hex.labels.coordinate, softness=0.25)


BOARD_LAYERS: tuple[Layer, ...] = (
    land, tiles, rivers, last_lay, borders, tokens, reservations, overflow_tokens,
)  # fmt: skip
TEXT_LAYERS: tuple[Layer, ...] = (
    terrain, names, revenues, numbers, blocked, notes, structures, coordinates,
)  # fmt: skip
LAYERS: tuple[Layer, ...] = (*BOARD_LAYERS, *TEXT_LAYERS, routes)


# --- the whole map --------------------------------------------------------------------------


@lru_cache(CACHED_HEXES)
def draw_hex(
    palette: Palette, view: HexView, metrics: HexMetrics, layers: tuple[Layer, ...], colors: tuple[str, ...]
) -> Image.Image:
    """The picture of one hex in the palette; the pixels outside the hex are masked when it is pasted."""
    w, h = metrics.half_size
    canvas = Canvas((2 * w, 2 * h), palette.sea)
    hex = LayerContext(
        canvas, palette, metrics, view, sprites.face_layout(view, metrics), lay_out_labels(view, metrics)
    )
    for layer in layers:
        layer(hex)
    return to_palette(canvas.image, theme.png_palette(palette, colors))


def grid_for(view: MapView, size: tuple[int, int] | None = None, margin: int = MARGIN) -> Grid:
    """The grid of a view's hexes on a page of `size` pixels; for None cropped to them.

    Without a size it is as large as one of `MAX_SIZES` allows, so that a portrait map has the area of others.
    """
    coords = tuple(hex.coord for hex in view.hexes)
    return _grid_of(coords, view.layout, view.axes, view.is_crop, size, margin)


@lru_cache(64)
def _grid_of(
    coords: tuple[str, ...],
    layout: HexLayout,
    axes: Axes,
    is_crop: bool,
    size: tuple[int, int] | None,
    margin: int,
) -> Grid:
    if size:
        return fit_grid(coords, layout, axes, size, margin)
    grids = [fit_grid(coords, layout, axes, page, margin) for page in MAX_SIZES]
    grid = max(grids, key=lambda grid: grid.metrics.radius).cropped(coords, margin)
    if not is_crop:
        return grid
    readable = PHONE_DIGITS / CAP_HEIGHT * grid.size[0] / PHONE_WIDTH
    share = readable / (0.26 * grid.metrics.radius)
    metrics = replace(grid.metrics, text_share=round(min(max(share, 1.0), MAX_TEXT_SHARE), 2))
    return replace(grid, metrics=metrics)


def draw_map(
    view: MapView,
    size: tuple[int, int] | None = None,
    layers: tuple[Layer, ...] = LAYERS,
    margin: int = MARGIN,
    palette: Palette = theme.LIGHT,
) -> Image.Image:
    """The map as a picture in its palette, of `size` pixels; None: as large as it needs within a page."""
    grid = grid_for(view, size, margin)
    colors = tuple(c.color for c in view.companies)
    coords = tuple(h.coord for h in view.hexes)
    page = replace(grid, size=(grid.size[0], grid.size[1] + legend_height(view)))
    image = _map_background(palette, page, coords, colors, bool(margin), grid.size[1]).copy()
    mask = sprites.hex_mask(grid.metrics)
    w, h = grid.metrics.half_size
    for hex_view in view.hexes:
        x, y = grid.center(hex_view.coord)
        image.paste(draw_hex(palette, hex_view, grid.metrics, layers, colors), (x - w, y - h), mask)
    if view.routes:
        legend = to_palette(_legend(palette, view.routes, grid.size[0]), theme.png_palette(palette, colors))
        image.paste(legend, (0, grid.size[1]))
    return image


LEGEND_ROW = 48
"""The height of a route's row in the legend, in pixels."""


def legend_height(view: MapView) -> int:
    """The height of the legend of the routes, in pixels."""
    return LEGEND_ROW * len(view.routes) + 12 if view.routes else 0


@lru_cache(16)
def _legend(palette: Palette, routes: tuple[str, ...], width: int) -> Image.Image:
    """One row for each route: its stroke, its number, and its label."""
    height = LEGEND_ROW * len(routes) + 12
    shape = SupersampledCanvas((width, height), palette.sea)
    for i in range(len(routes)):
        y = LEGEND_ROW * (i + 0.5)
        dash = [48 * k for k in sprites.DASHES[i % len(sprites.DASHES)]]
        for stroke in dashed(((24.0, y), (120.0, y)), dash):
            shape.line(stroke, 12, palette.casing)
            shape.line(stroke, 9, sprites.route_color(palette, i))
    canvas = Canvas.copy_of(shape.downsampled())
    for i, label in enumerate(routes):
        y = round(LEGEND_ROW * (i + 0.5))
        canvas.paste(_route_number(i, sprites.route_color(palette, i), 36), (152, y))
        size = fit_font_size(label, 32, width - 208, minimum=20)
        text = shorten(label, size, width - 208)
        canvas.write((184, y), text, size, palette.text_on(palette.sea), align="l")
    return canvas.image


@lru_cache(16)
def _map_background(
    palette: Palette,
    page: Grid,
    coords: tuple[str, ...],
    colors: tuple[str, ...],
    framed: bool,
    height: int,
) -> Image.Image:
    """The page below the hexes; `framed`: with the letters and numbers of rows and columns.

    `height`: of the part with the map.
    """
    canvas = Canvas(page.size, palette.sea)
    if framed:
        size = 27
        width = page.size[0]
        for coord in coords:
            x, y = page.center(coord)
            letter = "".join(c for c in coord if not c.isdigit())
            number = coord[len(letter) :]
            across, down = (letter, number) if dict(page.axes)["x"] == "letter" else (number, letter)
            for point in ((x, 15), (x, height - 15)):
                canvas.write(point, across, size, palette.sea_text)
            for point in ((18, y), (width - 18, y)) if down.isalnum() else ():
                canvas.write(point, down, size, palette.sea_text)
    return to_palette(canvas.image, theme.png_palette(palette, colors))
