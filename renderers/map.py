"""The picture of the map: every hex is drawn by a list of layers, cached, and pasted.

Theory of operation. The picture of a hex depends only on its `HexView`, the size of hexes and the layers. It
is drawn once, converted to the palette and cached (`CACHED_HEXES`). A map is its background and one paste per
hex, so after a move only the changed hexes are drawn. Things across an edge (barriers, routes, joined areas)
are drawn by both hexes, half by each.

`label_layout` finds the positions of texts first; the layers only draw there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from PIL import Image

from renderers import sprites, theme
from renderers.canvas import Canvas, SupersampledCanvas, to_palette
from renderers.geometry import FaceLayout, Grid, HexMetrics, edge_middle, fit_grid
from renderers.label_layout import (
    CACHED_HEXES,
    FontSizes,
    LabelLayout,
    lay_out_labels,
    overflow_token_positions,
    reserved_positions,
    token_positions,
)
from renderers.views import HexView, MapView

MAX_SIZE = (1600, 1200)
MARGIN = 36


# --- layers ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class LayerContext:
    """What a layer needs to draw one hex: the canvas, the sizes, and the positions of texts."""

    canvas: Canvas
    metrics: HexMetrics
    view: HexView
    face_layout: FaceLayout
    labels: LabelLayout
    font_sizes: FontSizes

    @property
    def background(self) -> theme.Color:
        return theme.HEX_COLORS[self.view.color]

    def to_pixels(self, offset: tuple[int, int]) -> tuple[int, int]:
        """The pixel of the canvas at an offset from the hex's center."""
        return self.metrics.half_size[0] + offset[0], self.metrics.half_size[1] + offset[1]


Layer = Callable[[LayerContext], None]


def land(hex: LayerContext) -> None:
    """The background and the track that are printed on the map."""
    if hex.view.tile is None:
        _paste_face(hex)


def tiles(hex: LayerContext) -> None:
    """The tile with its track, towns and empty slots, and with its number where there is room."""
    if hex.view.tile is not None:
        _paste_face(hex)
    if hex.view.tile is not None and hex.labels.number:
        ink = theme.blend(hex.background, theme.INK, 0.75)
        hex.canvas.write(hex.to_pixels(hex.labels.number), f"#{hex.view.tile}", hex.font_sizes.small, ink)


def _paste_face(hex: LayerContext) -> None:
    v = hex.view
    face = sprites.face(
        hex.metrics, v.color, v.nodes, v.paths, v.rotation, v.tile is not None, v.joined_edges
    )
    hex.canvas.image.paste(face, (0, 0))


def terrain(hex: LayerContext) -> None:
    """Mountains and water with their costs."""
    for (kind, cost), offset in zip(hex.view.terrain, hex.labels.terrain, strict=True):
        x, y = hex.to_pixels(offset)
        height = round(hex.metrics.radius * 0.25)
        hex.canvas.paste(sprites.terrain(kind, round(hex.metrics.radius * 0.46)), (x, y - height // 2))
        ink = theme.HILL if kind in theme.HIGH_TERRAIN else theme.WATER
        hex.canvas.write(
            (x, y + height // 2 + 2), f"${cost}", hex.font_sizes.coordinate, theme.blend(ink, theme.INK, 0.3)
        )


def rivers(hex: LayerContext) -> None:
    """The river through a hex; narrow on a tile, so that the track is visible."""
    if hex.view.river_banks:
        west, east, stations = hex.view.river_banks
        width = 0.13 if hex.view.tile is None else 0.06
        _paste_overlay(hex, sprites.river_overlay(hex.metrics, west, east, stations, width))


def notes(hex: LayerContext) -> None:
    """Ports, tokens of privates, and companies that have to connect to the hex."""
    for text, offset in zip(hex.view.notes, hex.labels.notes, strict=True):
        plate = sprites.plate(text, hex.font_sizes.coordinate, theme.PAPER, theme.MUTED, theme.INK)
        hex.canvas.paste(plate, hex.to_pixels(offset))


def structures(hex: LayerContext) -> None:
    """Mines and bridges, and the places where one may still be built."""
    for structure, (offset, font_size) in zip(hex.view.structures, hex.labels.structures, strict=True):
        hex.canvas.paste(sprites.structure(structure, font_size), hex.to_pixels(offset))


def borders(hex: LayerContext) -> None:
    """Edges that are impassable or cost money."""
    if hex.view.borders:
        _paste_overlay(hex, sprites.border_overlay(hex.metrics, hex.view.borders))
    for edge, _, cost in hex.view.borders:
        if cost:
            x, y = hex.metrics.to_pixels(tuple(k * 0.8 for k in edge_middle(hex.metrics.layout, edge)))  # type: ignore[arg-type]
            hex.canvas.write((x, y), f"${cost}", hex.font_sizes.small, theme.INK, halo=hex.background)


def _paste_overlay(hex: LayerContext, overlay: Image.Image) -> None:
    hex.canvas.image.paste(overlay, (0, 0), overlay)


def tokens(hex: LayerContext) -> None:
    """Tokens in their slots."""
    for badge, point, diameter in token_positions(hex.view, hex.metrics):
        hex.canvas.paste(sprites.token(badge, diameter), hex.metrics.to_pixels(point))


def overflow_tokens(hex: LayerContext) -> None:
    """Tokens without a slot, drawn over the texts."""
    for badge, point, diameter in overflow_token_positions(hex.view, hex.metrics):
        hex.canvas.paste(sprites.token(badge, diameter), hex.metrics.to_pixels(point))


def names(hex: LayerContext) -> None:
    for line, offset in hex.labels.name:
        hex.canvas.write(
            hex.to_pixels(offset),
            line,
            hex.labels.name_size,
            theme.INK,
            weight="Semibold",
            halo=hex.background,
        )
    if hex.view.label and hex.labels.label:
        hex.canvas.write(
            hex.to_pixels(hex.labels.label),
            hex.view.label,
            hex.labels.label_size,
            theme.INK,
            weight="Black",
            halo=hex.background,
        )


def revenues(hex: LayerContext) -> None:
    """Revenues: of a tile on a plate; of an area by phase in boxes, the current one with a frame."""
    for amount, offset, font_size in hex.labels.revenues:
        hex.canvas.paste(
            sprites.plate(str(amount), font_size, theme.INK, theme.PAPER, theme.TILE_EDGE),
            hex.to_pixels(offset),
        )
    if not hex.view.phase_values:
        return
    for value, box in zip(hex.view.phase_values, hex.labels.values, strict=True):
        x, y = hex.to_pixels((box.x, box.y))
        fill = theme.HEX_COLORS[value.color]
        left, top = x - box.width // 2, y - box.height // 2
        right, bottom = left + box.width, top + box.height
        if value.is_current:
            for grow, color in ((2, theme.INK), (-1, theme.CURRENT_VALUE), (-4, fill)):
                hex.canvas.rectangle(left - grow, top - grow, right + grow, bottom + grow, color)
            hex.canvas.write((x, y), str(value.amount), box.font_size, theme.INK, weight="Black")
        else:
            hex.canvas.rectangle(left + 3, top + 1, right - 3, bottom - 1, fill)
            faded = theme.blend(theme.INK, fill, 0.2)
            hex.canvas.write((x, y), str(value.amount), round(box.font_size * 0.9), faded, weight="Regular")


def reservations(hex: LayerContext) -> None:
    """Slots reserved for homes, and hexes that a private blocks."""
    for badge, point, diameter in reserved_positions(hex.view, hex.metrics):
        hex.canvas.paste(sprites.reserved_slot(badge, diameter), hex.metrics.to_pixels(point))
    for sym, offset in zip(hex.view.blocked, hex.labels.blocked, strict=True):
        plate = sprites.plate(f"×{sym}", hex.font_sizes.coordinate, theme.BLOCKED, theme.PAPER, theme.BLOCKED)
        hex.canvas.paste(plate, hex.to_pixels(offset))


def last_lay(hex: LayerContext) -> None:
    """The double outline around a hex that changed last."""
    if hex.view.highlighted:
        _paste_overlay(hex, sprites.last_change_outline(hex.metrics))


def routes(hex: LayerContext) -> None:
    """The routes in colours, with their numbers where they cross edges."""
    if not hex.view.route_segments:
        return
    _paste_overlay(hex, sprites.route_overlay(hex.metrics, hex.face_layout, hex.view.route_segments))
    for badge, point, diameter in token_positions(hex.view, hex.metrics):
        hex.canvas.paste(sprites.token(badge, diameter), hex.metrics.to_pixels(point))
    for (x, y), route in sprites.edge_crossings(hex.metrics, hex.view.route_segments):
        hex.canvas.paste(_route_number(route, round(hex.metrics.radius * 0.36)), (x, y))


@lru_cache(64)
def _route_number(route: int, diameter: int) -> Image.Image:
    shape = SupersampledCanvas((diameter, diameter))
    radius = diameter / 2
    shape.disc((radius, radius), radius, theme.PAPER)
    shape.disc((radius, radius), radius - 1.2, sprites.route_color(route))
    canvas = Canvas.copy_of(shape.downsampled())
    canvas.write((radius, radius), str(route + 1), round(diameter * 0.8), theme.PAPER)
    return canvas.image


def coordinates(hex: LayerContext) -> None:
    hex.canvas.write(
        hex.to_pixels(hex.labels.coordinate),
        hex.view.coord,
        hex.font_sizes.coordinate,
        theme.blend(hex.background, theme.INK, 0.75),
        weight="Semibold",
    )


LAYERS: tuple[Layer, ...] = (
    land, tiles, rivers, last_lay, terrain, borders, tokens, reservations, names, revenues, notes, structures,
    coordinates, overflow_tokens, routes,
)  # fmt: skip


# --- the whole map --------------------------------------------------------------------------


@lru_cache(CACHED_HEXES)
def draw_hex(
    view: HexView, metrics: HexMetrics, layers: tuple[Layer, ...], colors: tuple[str, ...]
) -> Image.Image:
    """The picture of one hex in the palette; the pixels outside the hex are masked when it is pasted."""
    w, h = metrics.half_size
    canvas = Canvas((2 * w, 2 * h), theme.SEA)
    hex = LayerContext(
        canvas,
        metrics,
        view,
        sprites.face_layout(view, metrics),
        lay_out_labels(view, metrics),
        FontSizes.for_metrics(metrics),
    )
    for layer in layers:
        layer(hex)
    return to_palette(canvas.image, theme.palette(colors))


def grid_for(view: MapView, size: tuple[int, int] | None = None, margin: int = MARGIN) -> Grid:
    """The grid of a view's hexes on a page of `size` pixels; for None cropped to them within `MAX_SIZE`."""
    coords = [h.coord for h in view.hexes]
    grid = fit_grid(coords, view.layout, view.axes, size or MAX_SIZE, margin)
    return grid if size else grid.cropped(coords, margin)


def draw_map(
    view: MapView,
    size: tuple[int, int] | None = None,
    layers: tuple[Layer, ...] = LAYERS,
    margin: int = MARGIN,
) -> Image.Image:
    """The map as a picture in its palette, of `size` pixels; None: as large as it needs within `MAX_SIZE`."""
    grid = grid_for(view, size, margin)
    colors = tuple(c.color for c in view.companies)
    image = _map_background(grid, tuple(h.coord for h in view.hexes), colors, bool(margin)).copy()
    mask = sprites.hex_mask(grid.metrics)
    w, h = grid.metrics.half_size
    for hex_view in view.hexes:
        x, y = grid.center(hex_view.coord)
        image.paste(draw_hex(hex_view, grid.metrics, layers, colors), (x - w, y - h), mask)
    return image


@lru_cache(16)
def _map_background(
    grid: Grid, coords: tuple[str, ...], colors: tuple[str, ...], framed: bool
) -> Image.Image:
    """The page below the hexes; `framed`: with the letters and numbers of rows and columns."""
    canvas = Canvas(grid.size, theme.SEA)
    if framed:
        size = 32
        width, height = grid.size
        for coord in coords:
            x, y = grid.center(coord)
            letter = "".join(c for c in coord if not c.isdigit())
            number = coord[len(letter) :]
            across, down = (letter, number) if dict(grid.axes)["x"] == "letter" else (number, letter)
            for point in ((x, 18), (x, height - 18)):
                canvas.write(point, across, size, theme.MUTED)
            for point in ((22, y), (width - 22, y)):
                canvas.write(point, down, size, theme.MUTED)
    return to_palette(canvas.image, theme.palette(colors))
