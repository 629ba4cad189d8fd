"""The view of a tile by itself."""

from __future__ import annotations

from dataclasses import dataclass

from engine import State, game_of, tile_faces
from renderers.views.hex_view import PhaseValue
from renderers.views.map import phase_values


@dataclass(frozen=True)
class TileView:
    """The face of a tile, as in a `HexView`."""

    tile: str
    color: str
    nodes: tuple[tuple[str, int], ...]
    paths: tuple[tuple[str, str], ...]
    label: str | None
    revenues: tuple[int, ...]
    phase_values: tuple[PhaseValue, ...] = ()


def tile_view(state: State, tile: str) -> TileView:
    """A tile in rotation 0. Raises KeyError for an unknown tile."""
    face = tile_faces()[tile]
    return TileView(
        tile,
        face.color,
        tuple((n.kind, n.slots) for n in face.nodes),
        face.paths,
        face.label,
        tuple(n.revenue for n in face.nodes if isinstance(n.revenue, int) and n.revenue),
        tuple(phase_values(game_of(state).components, face, state.phase)),
    )
