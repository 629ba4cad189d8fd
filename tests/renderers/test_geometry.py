"""Geometry: track, positions of stops, hexes on a page."""

from itertools import combinations
from math import atan2, cos, hypot

import pytest

from engine import column_row, components_of, tile_faces
from renderers import geometry, hex_grid
from renderers.geometry import APOTHEM, HexLayout
from renderers.hex_grid import HexMetrics
from renderers.map.face_geometry import FaceLayout, lay_out_face
from renderers.map.free_space import FreeSpace

LAYOUTS: tuple[HexLayout, ...] = ("pointy", "flat")
AXES = (("x", "number"), ("y", "letter"))


def plans(layout: HexLayout) -> list[tuple[str, int, FaceLayout]]:
    """Every tile of every title in every rotation."""
    return [
        (
            tile,
            turns,
            lay_out_face(layout, tuple((n.kind, n.slots) for n in face.nodes), face.paths, turns),
        )
        for tile, face in tile_faces().items()
        for turns in range(6)
    ]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("a, b", list(combinations(range(6), 2)))
def test_track_meets_the_midpoints_of_its_edges_at_right_angles(layout: HexLayout, a: int, b: int) -> None:
    line = geometry.track_line(layout, a, b)
    for edge, end, inner in ((a, line[0], line[1]), (b, line[-1], line[-2])):
        assert geometry.distance(end, geometry.edge_middle(layout, edge)) < 1e-9
        inward = atan2(inner[1] - end[1], inner[0] - end[0]) - geometry.bearing(layout, edge)
        assert cos(inward) < -0.98


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("turn, middle", [(1, 0.5), (2, 3**0.5 - 1.5), (3, 0.0)])
def test_curves_and_straights_pass_the_center_at_the_right_distance(
    layout: HexLayout, turn: int, middle: float
) -> None:
    for a in range(6):
        point, _ = geometry.point_along(geometry.track_line(layout, a, (a + turn) % 6), 0.5)
        assert hypot(*point) == pytest.approx(abs(middle), abs=1e-6)
        if turn < 3:
            between = geometry.polar(geometry.bearing(layout, a + turn / 2), abs(middle))
            assert geometry.distance(point, between) < 1e-6


def test_pointy_edges_lie_where_the_format_says() -> None:
    middles = [geometry.edge_middle("pointy", e) for e in range(6)]
    sides = [
        ("left" if x < 0 else "right", "low" if y > 0.1 else "high" if y < -0.1 else "") for x, y in middles
    ]
    assert sides == [
        ("left", "low"), ("left", ""), ("left", "high"), ("right", "high"), ("right", ""), ("right", "low"),
    ]  # fmt: skip


def test_flat_edges_lie_where_the_format_says() -> None:
    middles = [geometry.edge_middle("flat", e) for e in range(6)]
    assert [round(y / APOTHEM, 2) for _, y in middles] == [1.0, 0.5, -0.5, -1.0, -0.5, 0.5]
    assert [x > 0.1 for x, _ in middles] == [False, False, False, False, True, True]
    assert [x < -0.1 for x, _ in middles] == [False, True, True, False, False, False]


def test_neighbors_share_the_midpoint_of_their_common_edge() -> None:
    board = components_of("1830").map
    grid = hex_grid.fit_grid(board.hexes, "pointy", AXES, (1600, 1200), 36)
    for coord, printed in board.hexes.items():
        for edge, other in printed.neighbors.items():
            x0, y0 = grid.to_pixels(coord, geometry.edge_middle("pointy", edge))
            x1, y1 = grid.to_pixels(other, geometry.edge_middle("pointy", (edge + 3) % 6))
            assert abs(x0 - x1) <= 1 and abs(y0 - y1) <= 1, (coord, edge)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_flat_grid_has_the_pitch_of_its_hexes(layout: HexLayout) -> None:
    axes = (("x", "letter"), ("y", "number"))
    grid = hex_grid.fit_grid(["A1", "C1", "B2", "A5"], layout, axes, (900, 700), 20)
    assert grid.center("C1")[0] - grid.center("A1")[0] == 2 * grid.metrics.column
    assert grid.center("A5")[1] - grid.center("A1")[1] == 4 * grid.metrics.row
    for coord in ("A1", "C1", "B2", "A5"):
        x, y = grid.center(coord)
        w, h = grid.metrics.half_size
        assert x - w >= 18 and x + w <= 882 and y - h >= 18 and y + h <= 682


@pytest.mark.parametrize(
    "coord, place", [("H10", (10, 7)), ("A1", (1, 0)), ("AA3", (3, 26)), ("@18", (18, -1))]
)
def test_coordinates_are_parsed(coord: str, place: tuple[int, int]) -> None:
    assert column_row(coord, AXES) == place


@pytest.mark.parametrize("layout", LAYOUTS)
def test_slots_and_towns_are_inside_their_hex_and_do_not_overlap(layout: HexLayout) -> None:
    for tile, turns, laid_out in plans(layout):
        discs = [(slot, spot.radius) for spot in laid_out.nodes for slot in (spot.slots or (spot.point,))]
        for point, radius in discs:
            assert hypot(*point) + radius < 0.93, (tile, turns)
        for (a, ra), (b, rb) in combinations(discs, 2):
            assert geometry.distance(a, b) > 0.9 * (ra + rb), (tile, turns)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_lines_connect_the_ends_of_their_paths(layout: HexLayout) -> None:
    for tile, turns, laid_out in plans(layout):
        for ends, line in zip(laid_out.paths, laid_out.lines, strict=True):
            for end, point in zip(ends, (line[0], line[-1]), strict=True):
                goal = (
                    geometry.edge_middle(layout, int(end[1:]))
                    if end[0] == "e"
                    else laid_out.nodes[int(end[1:])].point
                )
                assert geometry.distance(point, goal) < 1e-6, (tile, turns)
        printed = {int(e[1:]) for path in tile_faces()[tile].paths for e in path if e[0] == "e"}
        assert laid_out.exits == {(e + turns) % 6 for e in printed}


def test_a_single_city_is_in_the_center_unless_track_bypasses_it() -> None:
    assert lay_out_face("pointy", (("city", 1),), (("e0", "n0"), ("e3", "n0"))).nodes[0].point == (
        0,
        0,
    )
    bypass = lay_out_face("pointy", (("city", 1),), (("e1", "n0"), ("e4", "n0"), ("e1", "e4"))).nodes[0]
    assert abs(bypass.point[1]) > bypass.radius + 0.05


def test_a_town_on_two_tracks_is_drawn_across_them() -> None:
    town = lay_out_face("pointy", (("town", 0),), (("e0", "n0"), ("e2", "n0")), 1).nodes[0]
    assert town.heading is not None
    line = geometry.track_line("pointy", 1, 3)
    assert min(geometry.distance(town.point, p) for p in line) < 1e-9


def test_free_space_is_used_once_and_nothing_is_placed_over_anything() -> None:
    room = FreeSpace(HexMetrics("pointy", 59, 102))
    room.block_disc((0.5, 0.0), 14)
    room.finish_obstacles()
    box = ((0.0, 0.0, 30.0, 20.0),)
    first = room.find(box, [(0.0, 0.0), (0.0, 0.5)])
    assert first == (0, 0)
    room.occupy(box, first)
    second = room.find(box, [(0.0, 0.0), (0.0, 0.5)])
    assert second is not None and abs(second[1]) >= 20 and room.covered(box, second) == 0
    nearest = room.find(box, [(0.5, 0.0)])
    assert nearest is not None and room.covered(box, nearest) == 0 and nearest[0] > 0
    assert room.find(((0.0, 0.0, 150.0, 20.0),), [(0.0, 0.0)]) is None
    assert room.covered(box, room.find_least_covered(box, [(0.0, 0.0)])) == 0


def test_the_picture_of_a_hex_contains_the_hex() -> None:
    for mesh in (HexMetrics("pointy", 59, 102), HexMetrics("flat", 100, 60)):
        w, h = mesh.half_size
        for x, y in (mesh.to_pixels(corner) for corner in geometry.outline(mesh.layout)):
            assert 0 <= x <= 2 * w and 0 <= y <= 2 * h
