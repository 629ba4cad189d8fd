"""Track, stops and directions in words (pure): what the map shows to the eye."""

from __future__ import annotations

from collections.abc import Iterator

import engine
from bot.position.sentences import dollars
from engine.board.tile_geometry import FIRST_NODE, RotatedFace, face_at
from engine.core.components import HexDefinition, Node
from engine.operating.stations import free_slots

DIRECTIONS = {
    "pointy": ("southwest", "west", "northwest", "northeast", "east", "southeast"),
    "flat": ("south", "southwest", "northwest", "north", "northeast", "southeast"),
}
"""By the layout of a map the direction of each edge 0-5."""


def directions(state: engine.State) -> tuple[str, ...]:
    """The direction of each edge 0-5 on the map of a game."""
    return DIRECTIONS[engine.game_of(state).components.map.layout]


def hex_of(state: engine.State, name: str) -> HexDefinition:
    """A hex of the map. Raises ValueError."""
    hexes = engine.game_of(state).components.map.hexes
    if (found := hexes.get(name.upper())) is None:
        raise ValueError(
            f"The map has no hex {name}; it has {next(iter(hexes))} and others, written like that."
        )
    return found


def face_of(state: engine.State, hex: str) -> RotatedFace:
    """What lies on a hex: its tile, else what is printed there."""
    return face_at(engine.game_of(state).components, state.tiles, hex)


def joined_hexes(state: engine.State, hex: str, edges: int) -> list[str]:
    """The hexes beside a hex over some of its edges (bits 0-5); an edge without one leads off the map."""
    beside = engine.game_of(state).components.map.hexes[hex].neighbors
    return [beside.get(edge, "the border") for edge in range(6) if edges >> edge & 1]


def value_now(state: engine.State, node: Node) -> int:
    """What a stop counts in the present phase, in dollars."""
    if isinstance(node.revenue, int):
        return node.revenue
    order = [phase.name for phase in engine.game_of(state).components.phases]
    begun = [phase for phase in node.revenue if order.index(phase) <= order.index(state.phase)]
    return node.revenue[max(begun, key=order.index)] if begun else 0


def later_values(state: engine.State, node: Node) -> str:
    """What a stop counts in later phases: `, $50 from phase 5`; empty where that stays."""
    if isinstance(node.revenue, int):
        return ""
    order = [phase.name for phase in engine.game_of(state).components.phases]
    later = [phase for phase in node.revenue if order.index(phase) > order.index(state.phase)]
    return "".join(f", {dollars(node.revenue[phase])} from phase {phase}" for phase in later)


def track_phrases(state: engine.State, hex: str) -> Iterator[str]:
    """Each stop of a hex with the hexes that its track joins, then the track that passes through."""
    face = face_of(state, hex)
    for number in face.stops:
        yield _stop_phrase(state, hex, face, number)
    for edge, ways in enumerate(face.connections[:FIRST_NODE]):
        for _, end in ways:
            if edge < end < FIRST_NODE:
                yield f"track {' - '.join(joined_hexes(state, hex, 1 << edge | 1 << end))}"


def _stop_phrase(state: engine.State, hex: str, face: RotatedFace, number: int) -> str:
    node = face.nodes[number]
    value = value_now(state, node)
    words: list[str] = ["off-board" if node.kind == "offboard" else node.kind]
    if value:
        words.append(dollars(value))
    tokens = [owner for at, owner in state.tokens.get(hex, ()) if at == number]
    if node.kind == "city":
        free = free_slots(engine.game_of(state), hex, number)
        spaces = [*tokens, *([f"{free} free"] if free > 0 else [])]
        words.append(f"({', '.join(spaces) or 'no space'})")
    elif tokens:
        words.append(f"({', '.join(tokens)})")
    joined = joined_hexes(state, hex, face.node_exits[number])
    return f"{' '.join(words)} - {', '.join(joined)}" if joined else " ".join(words)
