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
from renderers.canvas import Fine, Page, indexed
from renderers.hexes import Grid, Mesh, Plan, edge_middle, fit
from renderers.placing import (
    KEPT,
    Arrangement,
    Sizes,
    arranged,
    home_places,
    places_beside,
    token_places,
)
from renderers.views import BoardView, HexView

SIZE = (1600, 1200)
MARGIN = 36


# --- layers ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pen:
    """What a layer paints with: the hex's page, its size, the places of words."""

    page: Page
    mesh: Mesh
    view: HexView
    laid_out: Plan
    spots: Arrangement
    size: Sizes

    @property
    def ground(self) -> theme.Colour:
        return theme.GROUND[self.view.color]

    def at(self, spot: tuple[int, int]) -> tuple[int, int]:
        """A place that is given from the centre, in the hex's picture."""
        return self.mesh.box[0] + spot[0], self.mesh.box[1] + spot[1]


Layer = Callable[[Pen], None]


def land(pen: Pen) -> None:
    """The ground and what is printed on the board."""
    if pen.view.tile is None:
        _face(pen)


def tiles(pen: Pen) -> None:
    """The tile, with its track, towns and empty slots, and its number where there is room for it."""
    if pen.view.tile is not None:
        _face(pen)
    if pen.view.tile is not None and pen.spots.number:
        ink = theme.blend(pen.ground, theme.INK, 0.75)
        pen.page.write(pen.at(pen.spots.number), f"#{pen.view.tile}", pen.size.small, ink)


def _face(pen: Pen) -> None:
    v = pen.view
    face = sprites.face(pen.mesh, v.color, v.nodes, v.paths, v.turns, v.tile is not None, v.joined)
    pen.page.image.paste(face, (0, 0))


def terrain(pen: Pen) -> None:
    """Mountains and water with what they cost."""
    for (kind, cost), spot in zip(pen.view.terrain, pen.spots.terrain, strict=True):
        x, y = pen.at(spot)
        high = round(pen.mesh.radius * 0.25)
        pen.page.paste(sprites.terrain(kind, round(pen.mesh.radius * 0.46)), (x, y - high // 2))
        ink = theme.HILL if kind in theme.TERRAIN else theme.WATER
        pen.page.write(
            (x, y + high // 2 + 2), f"${cost}", pen.size.coordinate, theme.blend(ink, theme.INK, 0.3)
        )


def rivers(pen: Pen) -> None:
    """The river that parts a hex; narrow where a tile lies, so that track is seen."""
    if pen.view.banks:
        west, east, stations = pen.view.banks
        width = 0.13 if pen.view.tile is None else 0.06
        _over(pen, sprites.overlay_river(pen.mesh, west, east, stations, width))


def notes(pen: Pen) -> None:
    """Ports, tokens of privates, and who is to reach the hex."""
    for words, spot in zip(pen.view.notes, pen.spots.notes, strict=True):
        plate = sprites.plate(words, pen.size.coordinate, theme.PAPER, theme.SOFT, theme.INK)
        pen.page.paste(plate, pen.at(spot))


def works(pen: Pen) -> None:
    """Mines and bridges, and where one may still be built."""
    for site, (spot, letters) in zip(pen.view.sites, pen.spots.sites, strict=True):
        pen.page.paste(sprites.work(site, letters), pen.at(spot))


def borders(pen: Pen) -> None:
    """Edges that are closed or cost something."""
    if pen.view.borders:
        _over(pen, sprites.overlay_borders(pen.mesh, pen.view.borders))
    for edge, _, cost in pen.view.borders:
        if cost:
            x, y = pen.mesh.inside(tuple(k * 0.8 for k in edge_middle(pen.mesh.layout, edge)))  # type: ignore[arg-type]
            pen.page.write((x, y), f"${cost}", pen.size.small, theme.INK, halo=pen.ground)


def _over(pen: Pen, overlay: Image.Image) -> None:
    pen.page.image.paste(overlay, (0, 0), overlay)


def stations(pen: Pen) -> None:
    """Tokens in their slots."""
    for badge, point, diameter in token_places(pen.view, pen.mesh):
        pen.page.paste(sprites.token(badge, diameter), pen.mesh.inside(point))


def crowd(pen: Pen) -> None:
    """Tokens for which there is no slot, over the words that are there."""
    for badge, point, diameter in places_beside(pen.view, pen.mesh):
        pen.page.paste(sprites.token(badge, diameter), pen.mesh.inside(point))


def names(pen: Pen) -> None:
    for line, spot in pen.spots.name:
        pen.page.write(pen.at(spot), line, pen.spots.name_size, theme.INK, weight="Semibold", halo=pen.ground)
    if pen.view.label and pen.spots.label:
        pen.page.write(
            pen.at(pen.spots.label),
            pen.view.label,
            pen.spots.label_size,
            theme.INK,
            weight="Black",
            halo=pen.ground,
        )


def revenues(pen: Pen) -> None:
    """Figures: of the tile in a plate; of an area by phase in boxes, the current one framed."""
    for amount, spot, letters in pen.spots.revenues:
        pen.page.paste(
            sprites.plate(str(amount), letters, theme.INK, theme.PAPER, theme.TILE_EDGE), pen.at(spot)
        )
    if not pen.view.values:
        return
    for value, box in zip(pen.view.values, pen.spots.values, strict=True):
        x, y = pen.at((box.x, box.y))
        fill = theme.GROUND[value.color]
        left, top = x - box.wide // 2, y - box.high // 2
        right, bottom = left + box.wide, top + box.high
        if value.current:
            for grow, colour in ((2, theme.INK), (-1, theme.CURRENT), (-4, fill)):
                pen.page.box(left - grow, top - grow, right + grow, bottom + grow, colour)
            pen.page.write((x, y), str(value.amount), box.letters, theme.INK, weight="Black")
        else:
            pen.page.box(left + 3, top + 1, right - 3, bottom - 1, fill)
            faded = theme.blend(theme.INK, fill, 0.2)
            pen.page.write((x, y), str(value.amount), round(box.letters * 0.9), faded, weight="Regular")


def reservations(pen: Pen) -> None:
    """Homes that are kept, and hexes that a private keeps closed."""
    for badge, point, diameter in home_places(pen.view, pen.mesh):
        pen.page.paste(sprites.home(badge, diameter), pen.mesh.inside(point))
    for sym, spot in zip(pen.view.blocked, pen.spots.blocked, strict=True):
        plate = sprites.plate(f"×{sym}", pen.size.coordinate, theme.BLOCKED, theme.PAPER, theme.BLOCKED)
        pen.page.paste(plate, pen.at(spot))


def last_lay(pen: Pen) -> None:
    """The double outline round what changed last."""
    if pen.view.marked:
        _over(pen, sprites.frame(pen.mesh))


def routes(pen: Pen) -> None:
    """Routes in colours, each with its number where it crosses an edge."""
    if not pen.view.legs:
        return
    _over(pen, sprites.overlay_routes(pen.mesh, pen.laid_out, pen.view.legs))
    for badge, point, diameter in token_places(pen.view, pen.mesh):
        pen.page.paste(sprites.token(badge, diameter), pen.mesh.inside(point))
    for (x, y), route in sprites.crossings(pen.mesh, pen.view.legs):
        pen.page.paste(_number(route, round(pen.mesh.radius * 0.36)), (x, y))


@lru_cache(64)
def _number(route: int, diameter: int) -> Image.Image:
    fine = Fine((diameter, diameter))
    half = diameter / 2
    fine.disc((half, half), half, theme.PAPER)
    fine.disc((half, half), half - 1.2, sprites.route_colour(route))
    page = Page.over(fine.done())
    page.write((half, half), str(route + 1), round(diameter * 0.8), theme.PAPER)
    return page.image


def coordinates(pen: Pen) -> None:
    pen.page.write(
        pen.at(pen.spots.coordinate),
        pen.view.coord,
        pen.size.coordinate,
        theme.blend(pen.ground, theme.INK, 0.75),
        weight="Semibold",
    )


LAYERS: tuple[Layer, ...] = (
    land, tiles, rivers, last_lay, terrain, borders, stations, reservations, names, revenues, notes, works,
    coordinates, crowd, routes,
)  # fmt: skip


# --- the whole ------------------------------------------------------------------------------


@lru_cache(KEPT)
def hex_picture(view: HexView, mesh: Mesh, layers: tuple[Layer, ...], colors: tuple[str, ...]) -> Image.Image:
    """One hex in the palette, in its box; what is outside the hex does not count."""
    w, h = mesh.box
    page = Page((2 * w, 2 * h), theme.SEA)
    pen = Pen(page, mesh, view, sprites.plan_of(view, mesh), arranged(view, mesh), Sizes.of(mesh))
    for layer in layers:
        layer(pen)
    return indexed(page.image, theme.palette(colors))


def grid_of(view: BoardView, size: tuple[int, int] | None = None, margin: int = MARGIN) -> Grid:
    """How the hexes of a view lie on a page of that size in pixels; for None one of `SIZE`, cut to them."""
    coords = [h.coord for h in view.hexes]
    grid = fit(coords, view.layout, view.axes, size or SIZE, margin)
    return grid if size else grid.cut(coords, margin)


def board_picture(
    view: BoardView,
    size: tuple[int, int] | None = None,
    layers: tuple[Layer, ...] = LAYERS,
    margin: int = MARGIN,
) -> Image.Image:
    """The map as a palette picture of that size, or for None as large as the board needs within `SIZE`."""
    grid = grid_of(view, size, margin)
    colors = tuple(c.color for c in view.companies)
    image = _paper(grid, tuple(h.coord for h in view.hexes), colors, bool(margin)).copy()
    mask = sprites.mask(grid.mesh)
    w, h = grid.mesh.box
    for hex_view in view.hexes:
        x, y = grid.centre(hex_view.coord)
        image.paste(hex_picture(hex_view, grid.mesh, layers, colors), (x - w, y - h), mask)
    return image


@lru_cache(16)
def _paper(grid: Grid, coords: tuple[str, ...], colors: tuple[str, ...], framed: bool) -> Image.Image:
    """The page below the hexes, with the letters and numbers of rows and columns around them."""
    page = Page(grid.size, theme.SEA)
    if framed:
        size = 32
        wide, high = grid.size
        for coord in coords:
            x, y = grid.centre(coord)
            letter = "".join(c for c in coord if not c.isdigit())
            number = coord[len(letter) :]
            across, down = (letter, number) if dict(grid.axes)["x"] == "letter" else (number, letter)
            for at in ((x, 18), (x, high - 18)):
                page.write(at, across, size, theme.SOFT)
            for at in ((22, y), (wide - 22, y)):
                page.write(at, down, size, theme.SOFT)
    return indexed(page.image, theme.palette(colors))
