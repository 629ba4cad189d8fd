"""Laying and upgrading track (1830 §18, Table 6).

`refuse_lay` is the one list of objections, cheapest first. Candidates are the tiles that fit
where the company's track arrives, so that all lays of a company are found without trying the map.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec

from engine.actions import Action, Lay
from engine.board.faces import NODE, Fit, Turned, face_at, fits
from engine.events import TileLaid, TokenShifted
from engine.facts import tile_faces
from engine.game import Game
from engine.state import BANK, CLOSED, OperatingTurn, is_seat
from engine.title import Option

BUILDABLE = frozenset({"white", "yellow"})


def replacements(g: Game, hex: str) -> tuple[str, ...]:
    """The tiles that may lie next on the hex, whatever the phase and supply (Table 6)."""
    laid = g.state.tiles.get(hex)
    if laid is None:
        if g.facts.map.hexes[hex].color not in BUILDABLE:
            return ()
        return g.facts.preprinted_upgrades.get(g.title.printed_kinds[hex], ())
    tiles = (g.facts.upgrades or {}).get(laid[0], ())
    if g.facts.tile_hexes or g.facts.tile_not_hexes:
        return tuple(tile for tile in tiles if belongs(g, tile, hex))
    return tiles


def belongs(g: Game, tile: str, hex: str) -> bool:
    """Whether the tile may lie on that hex: some go on few hexes only, or not on some (1870 §6.4.1)."""
    only, but = g.facts.tile_hexes.get(tile), g.facts.tile_not_hexes.get(tile, ())
    return (only is None or hex in only) and hex not in but


def river_closed(g: Game) -> bool:
    """Whether nobody may cross the river: its private is open and no company owns it (1870 §15.2)."""
    for private in g.facts.privates:
        if private.effect.get("kind") == "bridge":
            owner = g.state.privates[private.sym]
            return owner != CLOSED and owner not in g.state.companies
    return False


def crosses(g: Game, hex: str, face: Turned) -> bool:
    """Whether track of that face joins the two banks of the hex's river."""
    river = g.facts.map.hexes[hex].river
    if river is None:
        return False
    west, east = (sum(1 << edge for edge in bank) for bank in (river.west, river.east))
    if face.nodes:
        bank = east if river.stations == "west" else west
        return any(exits & bank for exits in face.node_exits)
    return any(
        (west >> end & 1) != (west >> other & 1) and (west | east) >> other & 1
        for end in range(NODE)
        for _, other in face.onward[end]
        if other < NODE
    )


def supply(g: Game) -> dict[str, int]:
    """How many of each tile are left; those without limit are left out (Table 7)."""
    used = Counter(tile for tile, _ in g.state.tiles.values())
    return {tile: count - used[tile] for tile, count in g.facts.tiles.items() if count is not None}


def terrain_cost(g: Game, hex: str) -> int:
    """Dollars for the first tile on the hex; upgrades are free (§18)."""
    return 0 if hex in g.state.tiles else sum(t.cost for t in g.facts.map.hexes[hex].terrain)


def blocker(g: Game, hex: str) -> str | None:
    """The private that keeps the hex closed: one that a player owns (§18)."""
    for private in g.facts.privates:
        if hex in private.blocks and is_seat(g.state.privates[private.sym]):
            return private.sym
    return None


def refuse_site(g: Game, hex: str) -> str | None:
    """Why nothing at all may be laid on the hex, or None."""
    if hex not in g.facts.map.hexes:
        return f"There is no hex {hex} on the map."
    if not replacements(g, hex):
        return f"Nothing can be laid on {hex} (§18)."
    if private := blocker(g, hex):
        return f"{hex} is closed while a player owns the {private} (§18)."
    return None


def refuse_tile(g: Game, tile: str, hex: str) -> str | None:
    """Why that tile may not come next on that hex, or None."""
    if tile not in g.facts.tiles:
        return f"There is no tile #{tile}."
    if tile not in replacements(g, hex):
        laid = g.state.tiles.get(hex)
        return f"#{tile} does not go on {hex} " + (f"over #{laid[0]}" if laid else "") + " (Table 6)."
    color = tile_faces()[tile].color
    if color not in g.phase.tile_colors:
        return f"{color.capitalize()} tiles are not available yet (§22)."
    if supply(g).get(tile, 1) < 1:
        return f"No #{tile} is left (Table 7)."
    return None


def fit(g: Game, tile: str, hex: str, turn: int) -> Fit | None:
    """How the tile lies there in that rotation, if it can."""
    return next((f for f in fits_there(g, tile, hex) if f.turn == turn), None)


def fits_there(g: Game, tile: str, hex: str) -> tuple[Fit, ...]:
    """All ways in which the tile can lie next on the hex, if it may."""
    return fits(g.facts, hex, g.state.tiles.get(hex), tile) if tile in replacements(g, hex) else ()


def refuse_track(g: Game, company: str, hex: str, found: Fit) -> str | None:
    """Why the track of a tile that fits may not be laid there, or None."""
    if crosses(g, hex, found.face) and river_closed(g):
        return "Nobody may cross the river while its private is open and no company owns it (§15.2)."
    if g.title.new_track_used and not gains(g, company, hex, found):
        return f"The {company} could not run over any of the new track on {hex} (§6.2)."
    return None


def gains(g: Game, company: str, hex: str, found: Fit) -> bool:
    """Whether the company could run over new track, or to a stop that is worth more (1870 §6.2).

    A route comes to the first new track that it uses over old track, so what lies now decides.
    """
    if hex not in g.state.tiles:
        return True
    old, new, network = face_at(g.facts, g.state.tiles, hex), found.face, g.network
    reached = network.reach(company).stops
    for node, later in found.moved.items():
        more = new.nodes[later].revenue != old.nodes[node].revenue
        if (hex, node) in reached and (more or new.node_exits[later] & ~old.node_exits[node]):
            return True
    for edge in range(NODE):
        known = {end for _, end in old.onward[edge]}
        for _, end in new.onward[edge]:
            if end < NODE and end not in known and network.enters(company, hex, edge, end):
                return True
            if end >= NODE and not old.exits >> edge & 1 and network.enters(company, hex, edge):
                return True
    return False


def refuse_lay(g: Game, company: str, lay: Lay, *, connected: bool = True, discount: int = 0) -> str | None:
    """Why the company may not lay that, in words, or None.

    `connected`: it has to be (§18). `discount`: dollars that the terrain costs less.
    """
    if why := refuse_site(g, lay.hex) or refuse_tile(g, lay.tile, lay.hex):
        return why
    found = fit(g, lay.tile, lay.hex, lay.turn)
    if found is None:
        return (
            f"#{lay.tile} in rotation {lay.turn} does not fit on {lay.hex}: track must be kept, and must not "
            "run off the map, into a blank side or across a closed one (§18)."
        )
    if connected and not found.face.exits & g.network.reach(company).edges.get(lay.hex, 0):
        return f"#{lay.tile} on {lay.hex} would not be connected to a token of the {company} (§18)."
    if why := refuse_track(g, company, lay.hex, found):
        return why
    cost = max(terrain_cost(g, lay.hex) - discount, 0)
    if cost > g.cash(company):
        return f"The terrain of {lay.hex} costs ${cost}, and the {company} has ${g.cash(company)} (§18)."
    return None


def lays(g: Game, company: str, *, new: bool = False) -> Iterator[Lay]:
    """Every lay of a company that is connected and not refused; `new`: no upgrades."""
    colors, left, faces = g.phase.tile_colors, supply(g), tile_faces()
    for hex, edges in g.network.reach(company).edges.items():
        tiles = () if new and hex in g.state.tiles else replacements(g, hex)
        if not tiles or blocker(g, hex) or terrain_cost(g, hex) > g.cash(company):
            continue
        for tile in tiles:
            if faces[tile].color in colors and left.get(tile, 1) > 0:
                for found in fits(g.facts, hex, g.state.tiles.get(hex), tile):
                    if found.face.exits & edges and not refuse_track(g, company, hex, found):
                        yield Lay(tile, hex, found.turn)


def carry_out(g: Game, company: str, lay: Lay, discount: int = 0) -> None:
    """Put the tile down: terrain is paid, tokens go where their cities have gone (§18.1)."""
    found = fit(g, lay.tile, lay.hex, lay.turn)
    assert found is not None
    g.pay(company, BANK, max(terrain_cost(g, lay.hex) - discount, 0), f"terrain of {lay.hex}")
    g.emit(TileLaid(company, lay.hex, lay.tile, lay.turn))
    for node, owner in list(g.state.tokens.get(lay.hex, ())):
        if (now := found.moved.get(node, node)) != node:
            g.emit(TokenShifted(owner, lay.hex, now))


def words(g: Game, lay: Lay) -> str:
    """A lay as a person would say it."""
    here, laid = g.facts.map.hexes[lay.hex], g.state.tiles.get(lay.hex)
    name = f" {here.name}" if here.name else ""
    over = f" over #{laid[0]}" if laid else ""
    cost = terrain_cost(g, lay.hex)
    return f"#{lay.tile} on {lay.hex}{name}{over}, rotation {lay.turn}" + (f", for ${cost}" if cost else "")


def never(g: Game, turn: OperatingTurn) -> bool:
    """Nothing more."""
    return False


@dataclass(frozen=True)
class TrackStep:
    """Some tiles a turn, laid or replaced (§18); of several, all are new (1870 §6).

    `also`: whether a private's power offers a lay instead. `laid`: what follows a lay on a hex.
    `always`: it is asked even where nothing can be laid, as on the site. `after`: it goes on
    after the normal lay.
    """

    also: Callable[[Game, OperatingTurn], bool]
    laid: Callable[[Game, str, str], None]
    name: str = "track"
    hears: tuple[type[Action], ...] = (Lay,)
    tiles: int = 1
    always: bool = False
    after: Callable[[Game, OperatingTurn], bool] = never

    def waits(self, g: Game, turn: OperatingTurn) -> bool:
        if turn.laid >= self.tiles:
            return self.after(g, turn)
        found = next(lays(g, turn.company, new=bool(turn.laid)), None)
        return self.always or found is not None or self.also(g, turn)

    def must(self, g: Game, turn: OperatingTurn) -> str | None:
        return None

    def needs(self, g: Game, turn: OperatingTurn) -> str:
        return f"to lay or upgrade track for the {turn.company}"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        if turn.laid >= self.tiles:
            return
        for lay in lays(g, turn.company, new=bool(turn.laid)):
            yield Option(lay, words(g, lay))

    def refuse(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        assert isinstance(action, Lay)
        if turn.laid >= self.tiles:
            return f"The {turn.company} has laid its tile for this turn (§18)."
        if turn.laid and action.hex in g.state.tiles:
            return f"The {turn.company} has laid a new tile; a second one has to be new too (§6)."
        return refuse_lay(g, turn.company, action)

    def take(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        assert isinstance(action, Lay)
        laid = self.tiles if action.hex in g.state.tiles else turn.laid + 1
        g.change(msgspec.structs.replace(turn, laid=laid, acted=True))
        carry_out(g, turn.company, action)
        self.laid(g, action.hex, g.president(turn.company))

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        """Nothing is laid."""
