"""The layers of a hex: each draws one subject, in the order of `LAYERS`, one above the other.

A layer draws only where `label_layout` has found room, so layers can be left out without moving anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PIL import Image

from renderers import color_math, sprites, theme
from renderers.canvas import CAP_HEIGHT, Canvas
from renderers.hex_grid import HexMetrics
from renderers.map import hex_sprites, route_sprites
from renderers.map.face_geometry import FaceLayout
from renderers.map.label_sizes import terrain_size
from renderers.map.text_placer import LabelLayout, PlacedText
from renderers.map.token_positions import (
    PlacedToken,
    overflow_token_positions,
    reserved_positions,
    token_positions,
)
from renderers.map.value_boxes import FRAME
from renderers.theme import Palette
from renderers.views import HexView


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
    def background(self) -> color_math.Color:
        return self.palette.hex_colors[self.view.color]

    def to_pixels(self, offset: tuple[int, int]) -> tuple[int, int]:
        """The pixel of the canvas at an offset from the hex's center."""
        return self.metrics.half_size[0] + offset[0], self.metrics.half_size[1] + offset[1]

    def write(self, text: PlacedText, weight: str = "Semibold", softness: float = 0.0) -> None:
        """Write a text on the hex's background, softer than black where that can be read."""
        color = self.palette.text_on(self.background, softness)
        self.canvas.write(self.to_pixels(text.offset), text.text, text.font_size, color, weight=weight)

    def paste_plate(
        self,
        text: PlacedText,
        label: str,
        fill: color_math.Color,
        color: color_math.Color,
        border: color_math.Color,
    ) -> None:
        """A text on a rounded plate."""
        plate = sprites.plate(label, text.font_size, color, fill, border, text.is_tight)
        self.canvas.paste(plate, self.to_pixels(text.offset))


Layer = Callable[[LayerContext], None]


def land(hex: LayerContext) -> None:
    """The background, the river and the track that are printed on the map."""
    if hex.view.tile is None:
        _paste_face(hex)


def tiles(hex: LayerContext) -> None:
    """The tile with its track, towns and empty slots, above the river."""
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
    face = hex_sprites.face(
        hex.palette,
        hex.metrics,
        v.color,
        v.nodes,
        v.paths,
        v.rotation,
        v.tile is not None,
        v.joined_edges,
        v.river_banks,
    )
    hex.canvas.image.paste(face, (0, 0))


def terrain(hex: LayerContext) -> None:
    """Mountains and water with their costs."""
    for (kind, cost), place in hex.labels.terrain:
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


def notes(hex: LayerContext) -> None:
    """Ports, tokens of privates, and companies that have to connect to the hex."""
    for place in hex.labels.notes:
        hex.paste_plate(place, place.text, theme.NOTE, color_math.WHITE, color_math.BLACK)


def structures(hex: LayerContext) -> None:
    """Mines and bridges, and the places where one may still be built."""
    for structure, place in hex.labels.structures:
        if place.is_tight:
            hex.paste_plate(
                place, f"+{structure.bonus}", color_math.BLACK, color_math.WHITE, color_math.BLACK
            )
        else:
            sign = sprites.structure(hex.palette, structure, place.font_size)
            hex.canvas.paste(sign, hex.to_pixels(place.offset))


def barriers(hex: LayerContext) -> None:
    """Edges that no track crosses."""
    if hex.view.barriers:
        _paste_overlay(hex, hex_sprites.barrier_overlay(hex.palette, hex.metrics, hex.view.barriers))


def _paste_overlay(hex: LayerContext, overlay: Image.Image) -> None:
    hex.canvas.image.paste(overlay, (0, 0), overlay)


def _paste_tokens(hex: LayerContext, places: Iterable[PlacedToken]) -> None:
    for badge, point, diameter in places:
        hex.canvas.paste(sprites.token(badge, diameter), hex.metrics.to_pixels(point))


def tokens(hex: LayerContext) -> None:
    """Tokens in their slots."""
    _paste_tokens(hex, token_positions(hex.view, hex.metrics))


def overflow_tokens(hex: LayerContext) -> None:
    """Tokens without a slot."""
    _paste_tokens(hex, overflow_token_positions(hex.view, hex.metrics))


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
        ink = palette.text_on(fill, 0.0 if value.is_current else 0.2)
        if value.is_current:
            hex.canvas.rectangle(left - FRAME, top - FRAME, right + FRAME, bottom + FRAME, color_math.BLACK)
        hex.canvas.rectangle(left, top, right, bottom, fill)
        hex.canvas.write((x, y), str(value.amount), box.font_size, ink)


def reservations(hex: LayerContext) -> None:
    """Slots reserved for homes."""
    for badge, point, diameter in reserved_positions(hex.view, hex.metrics):
        slot = sprites.reserved_slot(hex.palette, badge, diameter)
        hex.canvas.paste(slot, hex.metrics.to_pixels(point))


def blocked(hex: LayerContext) -> None:
    """The privates that block a hex."""
    for place in hex.labels.blocked:
        red = theme.LIGHT.blocked
        hex.paste_plate(place, place.text, color_math.WHITE, red, red)


def last_lay(hex: LayerContext) -> None:
    """The double outline around a hex that changed last."""
    if hex.view.highlighted:
        _paste_overlay(hex, hex_sprites.last_change_outline(hex.palette, hex.metrics))


def routes(hex: LayerContext) -> None:
    """The routes in colours, with their numbers where they cross edges."""
    segments = hex.view.route_segments
    if not segments:
        return
    areas = frozenset(f"n{i}" for i, (kind, _) in enumerate(hex.view.nodes) if kind == "offboard")
    _paste_overlay(
        hex, route_sprites.route_overlay(hex.palette, hex.metrics, hex.face_layout, segments, areas)
    )
    _paste_tokens(hex, token_positions(hex.view, hex.metrics))
    for (x, y), route in route_sprites.edge_crossings(hex.metrics, segments):
        color = route_sprites.route_color(hex.palette, route)
        hex.canvas.paste(route_sprites.route_number(route, color, round(hex.metrics.radius * 0.36)), (x, y))


def coordinates(hex: LayerContext) -> None:
    if hex.labels.coordinate:
        hex.write(hex.labels.coordinate, softness=0.25)


BOARD_LAYERS: tuple[Layer, ...] = (
    land, tiles, last_lay, barriers, tokens, reservations, overflow_tokens,
)  # fmt: skip
TEXT_LAYERS: tuple[Layer, ...] = (
    terrain, names, revenues, numbers, blocked, notes, structures, coordinates,
)  # fmt: skip
LAYERS: tuple[Layer, ...] = (*BOARD_LAYERS, *TEXT_LAYERS, routes)
