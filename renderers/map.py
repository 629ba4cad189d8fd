"""The map. Every hex is painted by a visible list of layers, kept by what it shows, and pasted.

Theory of operation. A hex's picture depends on nothing but its `HexView`, the size of hexes and
the layers: it is painted once, put into the palette and kept in a cache of `KEPT` hexes. A map is
the paper with its frame and a paste for each hex, so after a move only the hexes that changed
are painted, whatever pictures were asked for before. What lies across an edge (barriers, routes,
joined areas) is painted by both hexes, each its half.

Words and figures get their places beforehand (`placing`); the layers only paint there.
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
    """What a layer paints with: the hex's page, its size, the places of words."""

    canvas: Canvas
    metrics: HexMetrics
    view: HexView
    face_layout: FaceLayout
    labels: LabelLayout
    font_sizes: FontSizes

    @property
    def background(self) -> theme.Color:
        return theme.HEX_COLORS[self.view.color]

    def to_pixels(self, spot: tuple[int, int]) -> tuple[int, int]:
        """A place that is given from the centre, in the hex's picture."""
        return self.metrics.half_size[0] + spot[0], self.metrics.half_size[1] + spot[1]


Layer = Callable[[LayerContext], None]


def land(pen: LayerContext) -> None:
    """The ground and what is printed on the board."""
    if pen.view.tile is None:
        _paste_face(pen)


def tiles(pen: LayerContext) -> None:
    """The tile, with its track, towns and empty slots, and its number where there is room for it."""
    if pen.view.tile is not None:
        _paste_face(pen)
    if pen.view.tile is not None and pen.labels.number:
        ink = theme.blend(pen.background, theme.INK, 0.75)
        pen.canvas.write(pen.to_pixels(pen.labels.number), f"#{pen.view.tile}", pen.font_sizes.small, ink)


def _paste_face(pen: LayerContext) -> None:
    v = pen.view
    face = sprites.face(pen.metrics, v.color, v.nodes, v.paths, v.turns, v.tile is not None, v.joined_edges)
    pen.canvas.image.paste(face, (0, 0))


def terrain(pen: LayerContext) -> None:
    """Mountains and water with what they cost."""
    for (kind, cost), spot in zip(pen.view.terrain, pen.labels.terrain, strict=True):
        x, y = pen.to_pixels(spot)
        high = round(pen.metrics.radius * 0.25)
        pen.canvas.paste(sprites.terrain(kind, round(pen.metrics.radius * 0.46)), (x, y - high // 2))
        ink = theme.HILL if kind in theme.HIGH_TERRAIN else theme.WATER
        pen.canvas.write(
            (x, y + high // 2 + 2), f"${cost}", pen.font_sizes.coordinate, theme.blend(ink, theme.INK, 0.3)
        )


def rivers(pen: LayerContext) -> None:
    """The river that parts a hex; narrow where a tile lies, so that track is seen."""
    if pen.view.river_banks:
        west, east, stations = pen.view.river_banks
        width = 0.13 if pen.view.tile is None else 0.06
        _paste_overlay(pen, sprites.river_overlay(pen.metrics, west, east, stations, width))


def notes(pen: LayerContext) -> None:
    """Ports, tokens of privates, and who is to reach the hex."""
    for words, spot in zip(pen.view.notes, pen.labels.notes, strict=True):
        plate = sprites.plate(words, pen.font_sizes.coordinate, theme.PAPER, theme.MUTED, theme.INK)
        pen.canvas.paste(plate, pen.to_pixels(spot))


def structures(pen: LayerContext) -> None:
    """Mines and bridges, and where one may still be built."""
    for site, (spot, letters) in zip(pen.view.structures, pen.labels.structures, strict=True):
        pen.canvas.paste(sprites.structure(site, letters), pen.to_pixels(spot))


def borders(pen: LayerContext) -> None:
    """Edges that are closed or cost something."""
    if pen.view.borders:
        _paste_overlay(pen, sprites.border_overlay(pen.metrics, pen.view.borders))
    for edge, _, cost in pen.view.borders:
        if cost:
            x, y = pen.metrics.to_pixels(tuple(k * 0.8 for k in edge_middle(pen.metrics.layout, edge)))  # type: ignore[arg-type]
            pen.canvas.write((x, y), f"${cost}", pen.font_sizes.small, theme.INK, halo=pen.background)


def _paste_overlay(pen: LayerContext, overlay: Image.Image) -> None:
    pen.canvas.image.paste(overlay, (0, 0), overlay)


def tokens(pen: LayerContext) -> None:
    """Tokens in their slots."""
    for badge, point, diameter in token_positions(pen.view, pen.metrics):
        pen.canvas.paste(sprites.token(badge, diameter), pen.metrics.to_pixels(point))


def overflow_tokens(pen: LayerContext) -> None:
    """Tokens for which there is no slot, over the words that are there."""
    for badge, point, diameter in overflow_token_positions(pen.view, pen.metrics):
        pen.canvas.paste(sprites.token(badge, diameter), pen.metrics.to_pixels(point))


def names(pen: LayerContext) -> None:
    for line, spot in pen.labels.name:
        pen.canvas.write(
            pen.to_pixels(spot), line, pen.labels.name_size, theme.INK, weight="Semibold", halo=pen.background
        )
    if pen.view.label and pen.labels.label:
        pen.canvas.write(
            pen.to_pixels(pen.labels.label),
            pen.view.label,
            pen.labels.label_size,
            theme.INK,
            weight="Black",
            halo=pen.background,
        )


def revenues(pen: LayerContext) -> None:
    """Figures: of the tile in a plate; of an area by phase in boxes, the current one framed."""
    for amount, spot, letters in pen.labels.revenues:
        pen.canvas.paste(
            sprites.plate(str(amount), letters, theme.INK, theme.PAPER, theme.TILE_EDGE), pen.to_pixels(spot)
        )
    if not pen.view.phase_values:
        return
    for value, box in zip(pen.view.phase_values, pen.labels.values, strict=True):
        x, y = pen.to_pixels((box.x, box.y))
        fill = theme.HEX_COLORS[value.color]
        left, top = x - box.width // 2, y - box.height // 2
        right, bottom = left + box.width, top + box.height
        if value.is_current:
            for grow, colour in ((2, theme.INK), (-1, theme.CURRENT_VALUE), (-4, fill)):
                pen.canvas.rectangle(left - grow, top - grow, right + grow, bottom + grow, colour)
            pen.canvas.write((x, y), str(value.amount), box.font_size, theme.INK, weight="Black")
        else:
            pen.canvas.rectangle(left + 3, top + 1, right - 3, bottom - 1, fill)
            faded = theme.blend(theme.INK, fill, 0.2)
            pen.canvas.write((x, y), str(value.amount), round(box.font_size * 0.9), faded, weight="Regular")


def reservations(pen: LayerContext) -> None:
    """Homes that are kept, and hexes that a private keeps closed."""
    for badge, point, diameter in reserved_positions(pen.view, pen.metrics):
        pen.canvas.paste(sprites.reserved_slot(badge, diameter), pen.metrics.to_pixels(point))
    for sym, spot in zip(pen.view.blocked, pen.labels.blocked, strict=True):
        plate = sprites.plate(f"×{sym}", pen.font_sizes.coordinate, theme.BLOCKED, theme.PAPER, theme.BLOCKED)
        pen.canvas.paste(plate, pen.to_pixels(spot))


def last_lay(pen: LayerContext) -> None:
    """The double outline round what changed last."""
    if pen.view.highlighted:
        _paste_overlay(pen, sprites.last_change_outline(pen.metrics))


def routes(pen: LayerContext) -> None:
    """Routes in colours, each with its number where it crosses an edge."""
    if not pen.view.route_segments:
        return
    _paste_overlay(pen, sprites.route_overlay(pen.metrics, pen.face_layout, pen.view.route_segments))
    for badge, point, diameter in token_positions(pen.view, pen.metrics):
        pen.canvas.paste(sprites.token(badge, diameter), pen.metrics.to_pixels(point))
    for (x, y), route in sprites.edge_crossings(pen.metrics, pen.view.route_segments):
        pen.canvas.paste(_route_number(route, round(pen.metrics.radius * 0.36)), (x, y))


@lru_cache(64)
def _route_number(route: int, diameter: int) -> Image.Image:
    fine = SupersampledCanvas((diameter, diameter))
    half = diameter / 2
    fine.disc((half, half), half, theme.PAPER)
    fine.disc((half, half), half - 1.2, sprites.route_color(route))
    page = Canvas.copy_of(fine.downsampled())
    page.write((half, half), str(route + 1), round(diameter * 0.8), theme.PAPER)
    return page.image


def coordinates(pen: LayerContext) -> None:
    pen.canvas.write(
        pen.to_pixels(pen.labels.coordinate),
        pen.view.coord,
        pen.font_sizes.coordinate,
        theme.blend(pen.background, theme.INK, 0.75),
        weight="Semibold",
    )


LAYERS: tuple[Layer, ...] = (
    land, tiles, rivers, last_lay, terrain, borders, tokens, reservations, names, revenues, notes, structures,
    coordinates, overflow_tokens, routes,
)  # fmt: skip


# --- the whole ------------------------------------------------------------------------------


@lru_cache(CACHED_HEXES)
def draw_hex(
    view: HexView, mesh: HexMetrics, layers: tuple[Layer, ...], colors: tuple[str, ...]
) -> Image.Image:
    """One hex in the palette, in its box; what is outside the hex does not count."""
    w, h = mesh.half_size
    page = Canvas((2 * w, 2 * h), theme.SEA)
    pen = LayerContext(
        page,
        mesh,
        view,
        sprites.face_layout(view, mesh),
        lay_out_labels(view, mesh),
        FontSizes.for_metrics(mesh),
    )
    for layer in layers:
        layer(pen)
    return to_palette(page.image, theme.palette(colors))


def grid_for(view: MapView, size: tuple[int, int] | None = None, margin: int = MARGIN) -> Grid:
    """How the hexes of a view lie on a page of that size in pixels; for None one of `SIZE`, cut to them."""
    coords = [h.coord for h in view.hexes]
    grid = fit_grid(coords, view.layout, view.axes, size or MAX_SIZE, margin)
    return grid if size else grid.cropped(coords, margin)


def draw_map(
    view: MapView,
    size: tuple[int, int] | None = None,
    layers: tuple[Layer, ...] = LAYERS,
    margin: int = MARGIN,
) -> Image.Image:
    """The map as a palette picture of that size, or for None as large as the board needs within `SIZE`."""
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
    """The page below the hexes, with the letters and numbers of rows and columns around them."""
    page = Canvas(grid.size, theme.SEA)
    if framed:
        size = 32
        wide, high = grid.size
        for coord in coords:
            x, y = grid.center(coord)
            letter = "".join(c for c in coord if not c.isdigit())
            number = coord[len(letter) :]
            across, down = (letter, number) if dict(grid.axes)["x"] == "letter" else (number, letter)
            for at in ((x, 18), (x, high - 18)):
                page.write(at, across, size, theme.MUTED)
            for at in ((22, y), (wide - 22, y)):
                page.write(at, down, size, theme.MUTED)
    return to_palette(page.image, theme.palette(colors))
