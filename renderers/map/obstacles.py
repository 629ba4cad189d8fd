"""What texts on a hex may not cover: track, stops, barriers, the river, and tokens without a slot."""

from __future__ import annotations

from renderers import theme
from renderers.geometry import edge_line, edge_middle
from renderers.hex_grid import HexMetrics
from renderers.map import hex_sprites
from renderers.map.face_geometry import FaceLayout
from renderers.map.free_space import FreeSpace
from renderers.map.token_positions import tokens_beside_slots
from renderers.views import HexView


def free_space(view: HexView, metrics: HexMetrics) -> FreeSpace:
    """The space of a hex in which texts may be placed."""
    space = FreeSpace(metrics)
    block_face(space, view, hex_sprites.face_layout(view, metrics))
    for _, point, diameter in tokens_beside_slots(view, metrics):
        space.block_disc(point, diameter / 2)
    space.finish_obstacles()
    return space


def block_face(space: FreeSpace, view: HexView, face: FaceLayout) -> None:
    """Use up the pixels of track, stops, barriers and the river."""
    unit = space.metrics.radius
    offboard = {f"n{i}" for i, (kind, _) in enumerate(view.nodes) if kind == "offboard"}
    for ends, line in zip(face.paths, face.lines, strict=True):
        if not offboard & set(ends):
            space.block_line(line, theme.TRACK_WIDTH + 0.02)
            continue
        for end in ends:
            if end[0] == "e":
                space.block_polygon(hex_sprites.offboard_pointer(face.layout, int(end[1:])))
    for (kind, slots), node in zip(view.nodes, face.nodes, strict=True):
        if kind == "city" and slots:
            for slot in node.slots:
                space.block_disc(slot, node.radius * unit + 1)
            if len(node.slots) > 1:
                space.block_polygon(hex_sprites.city_outline(node.slots, node.radius + 1.5 / unit))
        elif kind in ("city", "town"):
            space.block_disc(node.point, 0.21 * unit)
    for edge, kind, _ in view.borders:
        width = (2.0 if kind == "impassable" else 1.0) * theme.BARRIER_WIDTH
        space.block_line(edge_line(face.layout, edge), width)
    for edge, _, cost in view.borders:
        if cost:
            space.block_disc(tuple(k * 0.8 for k in edge_middle(face.layout, edge)), 0.18 * unit)  # type: ignore[arg-type]
    if view.river_banks:
        space.block_line(
            hex_sprites.river_line(face.layout, view.river_banks),
            hex_sprites.river_width(view.tile is not None),
        )
