"""Tile geometry: faces in rotation, and the rotations that fit (1830 §18, §18.1)."""

from __future__ import annotations

import pytest

from engine.board.tile_geometry import (
    FIRST_NODE,
    face_at,
    fitting_rotations,
    printed_face,
    rotated_face,
)
from engine.core.components import components_of, tile_faces

FACTS = components_of("1830")


def turns(hex: str, tile: str, old: tuple[str, int] | None = None) -> list[int]:
    return [fit.rotation for fit in fitting_rotations(FACTS, hex, old, tile)]


def test_a_rotated_face_has_every_edge_moved() -> None:
    assert rotated_face("9", 0).exits == 1 << 0 | 1 << 3
    assert rotated_face("9", 2).tracks == ((2, 5),)
    assert rotated_face("59", 1).node_exits == (1 << 1, 1 << 3)
    with pytest.raises(KeyError):
        rotated_face("9999", 0)


def test_connections_pass_junctions() -> None:
    face = rotated_face("80", 0)
    assert face.stops == ()
    assert {end for _, end in face.connections[0]} == {1, 2}
    used, end = face.connections[0][0]
    assert (used.bit_count(), end) == (2, 1)


def test_20_1_altoona_is_passed_beside_its_city() -> None:
    altoona = printed_face(FACTS, "H12")
    assert {end for _, end in altoona.connections[1]} == {4, FIRST_NODE}
    assert {end for _, end in altoona.connections[FIRST_NODE]} == {1, 4}


@pytest.mark.parametrize("tile", sorted(tile_faces()))
def test_every_connection_leads_back(tile: str) -> None:
    for turn in range(6):
        face = rotated_face(tile, turn)
        joints = {FIRST_NODE + n for n in range(len(face.nodes)) if n not in face.stops}
        ways = {
            (end, other, used)
            for end, on in enumerate(face.connections)
            for used, other in on
            if end not in joints
        }
        assert ways == {(other, end, used) for end, other, used in ways}
        assert face.exits.bit_count() == rotated_face(tile, 0).exits.bit_count()


def test_18_0_no_track_off_the_map_or_against_blank_sides() -> None:
    # South of I17 there is no map; gray C15 shows B14 a blank side, gray E9 shows one to E11.
    assert turns("I17", "9") == [1, 4]
    assert turns("B14", "9") == [1, 4]
    assert turns("E11", "59") == [0, 2, 3, 4]
    # Lake Erie between E7 and F8, printed on either side.
    assert all(
        not fit.face.exits >> 2 & 1 for tile in "789" for fit in fitting_rotations(FACTS, "F8", None, tile)
    )
    assert all(not fit.face.exits >> 5 & 1 for fit in fitting_rotations(FACTS, "E7", None, "58"))


def test_18_1_old_track_is_kept() -> None:
    assert turns("H14", "23", ("9", 1)) == [1, 4]
    assert turns("H14", "25", ("9", 1)) == []
    assert turns("H10", "14", ("57", 1)) == [0, 1, 3, 4]
    assert turns("H10", "63", ("14", 1)) == [0, 1, 2, 3, 4, 5]


def test_plain_track_is_kept_through_a_junction() -> None:
    for fit in fitting_rotations(FACTS, "H14", ("8", 0), "81"):
        assert fit.rotation in (0, 2, 4)
    assert turns("H14", "81", ("9", 1)) == []


def test_tokens_move_with_the_edges_of_their_node() -> None:
    new_york = fitting_rotations(FACTS, "G19", None, "54")
    assert {fit.rotation: fit.node_map for fit in new_york} == {0: {0: 1, 1: 0}}
    for fit in fitting_rotations(FACTS, "E11", ("59", 0), "66"):
        old, new = rotated_face("59", 0), fit.face
        assert all(not old.node_exits[n] & ~new.node_exits[m] for n, m in fit.node_map.items())
        assert len(set(fit.node_map.values())) == 2


def test_cities_without_track_take_the_nodes_in_order() -> None:
    assert {tuple(fit.node_map.items()) for fit in fitting_rotations(FACTS, "E11", None, "59")} == {
        ((0, 0), (1, 1))
    }


def test_two_nodes_stay_two_unless_the_tile_has_but_one() -> None:
    # #62 has two cities, X30 one: they become one. #64 puts both edges of #67's second city on one.
    assert [fit.node_map for fit in fitting_rotations(FACTS, "F12", ("62", 2), "X30")] == [{0: 0, 1: 0}]
    for tile in ("64", "65", "66", "67", "68"):
        for fit in fitting_rotations(FACTS, "E11", ("59", 3), tile):
            assert fit.node_map[0] != fit.node_map[1]


def test_the_face_of_a_hex() -> None:
    assert face_at(FACTS, {}, "H12") is printed_face(FACTS, "H12")
    assert face_at(FACTS, {"H10": ("57", 1)}, "H10") is rotated_face("57", 1)
    with pytest.raises(KeyError):
        printed_face(FACTS, "Z99")
