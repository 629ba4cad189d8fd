"""Laying and upgrading track (1830 §18, Table 6).

`refuse_lay` is the one list of objections, cheapest first. Candidates are the tiles that fit
where the company's track arrives, so that all lays of a company are found without trying the map.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec

from engine.board.tile_geometry import FIRST_NODE, Fit, RotatedFace, face_at, fitting_rotations
from engine.core.actions import Action, LayTile
from engine.core.components import RiverDiscountAbility, tile_faces
from engine.core.events import TileLaid, TokenMoved
from engine.core.hooks import never
from engine.core.reasons import CashReason
from engine.core.state import BANK, CLOSED, OperatingTurn, is_seat
from engine.game import Game
from engine.mechanics import Option

BUILDABLE_COLORS = frozenset({"white", "yellow"})


def candidate_tiles(g: Game, hex: str) -> tuple[str, ...]:
    """The tiles that may lie next on the hex, whatever the phase and supply (Table 6)."""
    laid = g.state.tiles.get(hex)
    if laid is None:
        if g.components.map.hexes[hex].color not in BUILDABLE_COLORS:
            return ()
        known = g.components.preprinted_upgrades
        return known.get(hex) or known.get(g.title.preprinted_kinds[hex], ())
    tiles = (g.components.upgrades or {}).get(laid[0], ())
    if g.components.tile_hexes or g.components.tile_not_hexes:
        return tuple(tile for tile in tiles if is_tile_allowed_on(g, tile, hex))
    return tiles


def is_tile_allowed_on(g: Game, tile: str, hex: str) -> bool:
    """Whether the tile may lie on that hex: some go on few hexes only, or not on some (1870 §6.4.1)."""
    only, but = g.components.tile_hexes.get(tile), g.components.tile_not_hexes.get(tile, ())
    return (only is None or hex in only) and hex not in but


def is_river_closed(g: Game) -> bool:
    """Whether nobody may cross the river: its private is open and no company owns it (1870 §15.2)."""
    for private in g.components.privates:
        if isinstance(private.ability, RiverDiscountAbility):
            owner = g.state.private_owners[private.sym]
            return owner != CLOSED and owner not in g.state.companies
    return False


def crosses_river(g: Game, hex: str, face: RotatedFace) -> bool:
    """Whether track of that face joins the two banks of the hex's river."""
    river = g.components.map.hexes[hex].river
    if river is None:
        return False
    west, east = (sum(1 << edge for edge in bank) for bank in (river.west, river.east))
    if face.nodes:
        bank = east if river.stations == "west" else west
        return any(exits & bank for exits in face.node_exits)
    return any(
        (west >> end & 1) != (west >> other & 1) and (west | east) >> other & 1
        for end in range(FIRST_NODE)
        for _, other in face.connections[end]
        if other < FIRST_NODE
    )


def tiles_left(g: Game, tile: str) -> int | None:
    """How many of a tile are left; None where there is no limit (Table 7)."""
    count = g.components.tiles[tile]
    return count if count is None else count - [laid for laid, _ in g.state.tiles.values()].count(tile)


def tile_supply(g: Game) -> dict[str, int]:
    """How many of each tile are left; those without limit are left out (Table 7)."""
    used = Counter(tile for tile, _ in g.state.tiles.values())
    return {tile: count - used[tile] for tile, count in g.components.tiles.items() if count is not None}


def terrain_cost(g: Game, hex: str) -> int:
    """Dollars for the first tile on the hex; upgrades are free (§18)."""
    return 0 if hex in g.state.tiles else sum(t.cost for t in g.components.map.hexes[hex].terrain)


def blocking_private(g: Game, hex: str) -> str | None:
    """The private that keeps the hex closed: one that a player owns (§18)."""
    for private in g.components.privates:
        if hex in private.blocks and is_seat(g.state.private_owners[private.sym]):
            return private.sym
    return None


def refuse_hex(g: Game, hex: str) -> str | None:
    """Why nothing at all may be laid on the hex, or None."""
    if hex not in g.components.map.hexes:
        return f"There is no hex {hex} on the map."
    if not candidate_tiles(g, hex):
        return f"Nothing can be laid on {hex} (§18)."
    if private := blocking_private(g, hex):
        return f"{hex} is closed while a player owns the {private} (§18)."
    return None


def refuse_tile(g: Game, tile: str, hex: str) -> str | None:
    """Why that tile may not come next on that hex, or None."""
    if tile not in g.components.tiles:
        return f"There is no tile #{tile}."
    if tile not in candidate_tiles(g, hex):
        laid = g.state.tiles.get(hex)
        over = f" over #{laid[0]}" if laid else ""
        return f"#{tile} does not go on {hex}{over} (Table 6)."
    color = tile_faces()[tile].color
    if color not in g.phase.tile_colors:
        return f"{color.capitalize()} tiles are not available yet (§22)."
    if (left := tiles_left(g, tile)) is not None and left < 1:
        return f"No #{tile} is left (Table 7)."
    return None


def fit_in_rotation(g: Game, tile: str, hex: str, turn: int) -> Fit | None:
    """How the tile lies there in that rotation, if it can."""
    return next((f for f in tile_fits(g, tile, hex) if f.rotation == turn), None)


def tile_fits(g: Game, tile: str, hex: str) -> tuple[Fit, ...]:
    """All ways in which the tile can lie next on the hex, if it may."""
    return (
        fitting_rotations(g.components, hex, g.state.tiles.get(hex), tile)
        if tile in candidate_tiles(g, hex)
        else ()
    )


def refuse_river_crossing(g: Game, company: str, lay: LayTile, found: Fit) -> str | None:
    """Why track may not cross the river now (1870 §15.2), or None."""
    if crosses_river(g, lay.hex, found.face) and is_river_closed(g):
        return "Nobody may cross the river while its private is open and no company owns it (§15.2)."
    return None


def refuse_useless_upgrade(g: Game, company: str, lay: LayTile, found: Fit) -> str | None:
    """Why an upgrade is of no use to the company (1870 §6.2), or None."""
    if is_useful_upgrade(g, company, lay.hex, found):
        return None
    return f"The {company} could not run over any of the new track on {lay.hex} (§6.2)."


def is_useful_upgrade(g: Game, company: str, hex: str, found: Fit) -> bool:
    """Whether the company could run over new track, or to a stop that is worth more (1870 §6.2).

    A route comes to the first new track that it uses over old track, so what lies now decides.
    """
    if hex not in g.state.tiles:
        return True
    old, new, network = face_at(g.components, g.state.tiles, hex), found.face, g.network
    for node, later in found.node_map.items():
        more = new.nodes[later].revenue != old.nodes[node].revenue
        if (more or new.node_exits[later] & ~old.node_exits[node]) and network.reaches_stop(
            company, (hex, node)
        ):
            return True
    for edge in range(FIRST_NODE):
        known = {end for _, end in old.connections[edge]}
        for _, end in new.connections[edge]:
            if end < FIRST_NODE and end not in known and network.could_run_along(company, hex, [(edge, end)]):
                return True
            if end >= FIRST_NODE and not old.exits >> edge & 1 and network.can_enter(company, hex, edge):
                return True
    return False


def refuse_lay(
    g: Game,
    company: str,
    lay: LayTile,
    *,
    connected: bool = True,
    discount: int = 0,
    cost: int | None = None,
) -> str | None:
    """Why the company may not lay that, in words, or None.

    `connected`: it has to be (§18). `discount`: dollars that the terrain costs less. `cost`:
    what it costs, where that is not the terrain's figure.
    """
    if why := refuse_hex(g, lay.hex) or refuse_tile(g, lay.tile, lay.hex):
        return why
    found = fit_in_rotation(g, lay.tile, lay.hex, lay.turn)
    if found is None:
        return (
            f"#{lay.tile} in rotation {lay.turn} does not fit on {lay.hex}: track must be kept, and must not "
            "run off the map, into a blank side or across a closed one (§18)."
        )
    if connected and not g.network.reaches_edge(company, lay.hex, found.face.exits):
        return f"#{lay.tile} on {lay.hex} would not be connected to a token of the {company} (§18)."
    for objection in g.title.lay_objections:
        if connected and (why := objection(g, company, lay, found)):
            return why
    if cost is None:
        cost = max(terrain_cost(g, lay.hex) - discount, 0)
    if cost > g.cash(company):
        return f"The terrain of {lay.hex} costs ${cost}, and the {company} has ${g.cash(company)} (§18)."
    return None


def refuse_unused_plain_track(g: Game, company: str, lay: LayTile, found: Fit) -> str | None:
    """Why plain track may not be replaced so: no new track goes on from a route (1851, Lay or
    Upgrade Track)."""
    if found.face.nodes or lay.hex not in g.state.tiles:
        return None
    old = face_at(g.components, g.state.tiles, lay.hex)
    new = set(found.face.tracks) - set(old.tracks) - {(b, a) for a, b in old.tracks}
    if g.network.could_run_along(company, lay.hex, sorted(new)):
        return None
    return f"None of the new track of #{lay.tile} on {lay.hex} would extend a route of the {company} (§18)."


def lays_used(g: Game, tile: str) -> int:
    """How much of a turn's normal lays the tile takes: one of its yellow ones, or all for an upgrade."""
    return 1 if tile_faces()[tile].color == "yellow" else g.phase.yellow_lays


def legal_lays(g: Game, company: str) -> Iterator[LayTile]:
    """Every lay of a company that is connected and not refused."""
    colors, left, faces = g.phase.tile_colors, tile_supply(g), tile_faces()
    for hex, edges in g.network.reachable(company).edges.items():
        tiles = candidate_tiles(g, hex)
        if not tiles or blocking_private(g, hex) or terrain_cost(g, hex) > g.cash(company):
            continue
        for tile in tiles:
            if faces[tile].color in colors and left.get(tile, 1) > 0:
                for found in fitting_rotations(g.components, hex, g.state.tiles.get(hex), tile):
                    lay = LayTile(tile, hex, found.rotation)
                    if found.face.exits & edges and not any(
                        objection(g, company, lay, found) for objection in g.title.lay_objections
                    ):
                        yield lay


def lay_tile(g: Game, company: str, lay: LayTile, discount: int = 0) -> None:
    """Put the tile down: terrain is paid, tokens go where their cities have gone (§18.1)."""
    found = fit_in_rotation(g, lay.tile, lay.hex, lay.turn)
    assert found is not None
    g.pay(company, BANK, max(terrain_cost(g, lay.hex) - discount, 0), CashReason.TERRAIN, lay.hex)
    g.emit(TileLaid(company, lay.hex, lay.tile, lay.turn))
    for node, owner in list(g.state.tokens.get(lay.hex, ())):
        if (now := found.node_map.get(node, node)) != node:
            g.emit(TokenMoved(owner, lay.hex, now))


def lay_label(g: Game, lay: LayTile) -> str:
    """A lay as a person would say it."""
    here, laid = g.components.map.hexes[lay.hex], g.state.tiles.get(lay.hex)
    name = f" {here.name}" if here.name else ""
    over = f" over #{laid[0]}" if laid else ""
    cost = terrain_cost(g, lay.hex)
    return f"#{lay.tile} on {lay.hex}{name}{over}, rotation {lay.turn}" + (f", for ${cost}" if cost else "")


@dataclass(frozen=True)
class TrackStep:
    """The normal lays of a turn: so many yellow tiles, or one upgrade (§18).

    `also`: whether a private's power offers a lay instead. `laid`: what follows a lay on a hex.
    `always`: it is asked even where nothing can be laid, as on the site. `after`: it goes on
    after the normal lay.
    """

    also_blocks: Callable[[Game, OperatingTurn], bool]
    after_lay: Callable[[Game, str, str], None]
    name: str = "track"
    handles: tuple[type[Action], ...] = (LayTile,)
    always_asked: bool = False
    stays_open: Callable[[Game, OperatingTurn], bool] = never

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        if turn.lays_used >= g.phase.yellow_lays:
            return self.stays_open(g, turn)
        return (
            self.always_asked
            or next(self._legal_lays(g, turn), None) is not None
            or self.also_blocks(g, turn)
        )

    def _legal_lays(self, g: Game, turn: OperatingTurn) -> Iterator[LayTile]:
        left = g.phase.yellow_lays - turn.lays_used
        return (lay for lay in legal_lays(g, turn.company) if lays_used(g, lay.tile) <= left)

    def pass_refusal(self, g: Game, turn: OperatingTurn) -> str | None:
        return None

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        return f"to lay or upgrade track for the {turn.company}"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        if turn.lays_used < g.phase.yellow_lays:
            for lay in self._legal_lays(g, turn):
                yield Option(lay, lay_label(g, lay))

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        assert isinstance(action, LayTile)
        if turn.lays_used >= g.phase.yellow_lays:
            return f"The {turn.company} has laid its tile for this turn (§18)."
        if (
            action.tile in g.components.tiles
            and turn.lays_used + lays_used(g, action.tile) > g.phase.yellow_lays
        ):
            return f"After a yellow tile the {turn.company} lays no upgrade in this turn (§18)."
        return refuse_lay(g, turn.company, action)

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        assert isinstance(action, LayTile)
        used = turn.lays_used + lays_used(g, action.tile)
        g.replace_top(msgspec.structs.replace(turn, lays_used=used, acted=True))
        lay_tile(g, turn.company, action)
        self.after_lay(g, action.hex, g.president(turn.company))

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        """Nothing is laid."""
