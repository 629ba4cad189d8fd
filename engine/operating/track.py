"""Laying and upgrading track (1830 §18, Table 6).

`refuse_lay` is the only list of objections, cheapest first. `legal_lays` tries only tiles on hexes
that the company's routes reach, so it need not try every tile on every hex.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.board.tile_geometry import FIRST_NODE, Fit, RotatedFace, face_at, fitting_rotations
from engine.core.actions import Action, LayTile
from engine.core.components import RiverDiscountAbility, tile_faces
from engine.core.events import AddedSlotsChanged, TileLaid, TokenMoved
from engine.core.reasons import CashReason
from engine.core.state import BANK, CLOSED, OperatingTurn, is_seat
from engine.game import Game
from engine.mechanics import Option, never
from engine.operating.turn import Step


def candidate_tiles(g: Game, hex: str) -> tuple[str, ...]:
    """The tiles that may be laid next on the hex, whatever the phase and the supply (1830 Table 6)."""
    laid = g.state.tiles.get(hex)
    if laid is None:
        if not g.components.map.hexes[hex].takes_tiles:
            return ()
        first_tiles = g.components.preprinted_upgrades
        return first_tiles.get(hex) or first_tiles.get(g.title.preprinted_kinds[hex], ())
    tiles = (g.components.upgrades or {}).get(laid[0], ())
    if g.components.tile_hexes or g.components.tile_not_hexes:
        return tuple(tile for tile in tiles if is_tile_allowed_on(g, tile, hex))
    return tiles


def is_tile_allowed_on(g: Game, tile: str, hex: str) -> bool:
    """Whether the tile may be laid on that hex: some tiles are limited to certain hexes (1870 §6.4.1)."""
    allowed, forbidden = g.components.tile_hexes.get(tile), g.components.tile_not_hexes.get(tile, ())
    return (allowed is None or hex in allowed) and hex not in forbidden


def is_river_closed(g: Game) -> bool:
    """Whether no track may cross the river: the bridge company is open, and no company's (1870 §15.2)."""
    for private in g.components.privates:
        if isinstance(private.ability, RiverDiscountAbility):
            owner = g.state.private_owners[private.sym]
            return owner != CLOSED and owner not in g.state.companies
    return False


def crosses_river(g: Game, hex: str, face: RotatedFace) -> bool:
    """Whether track of that tile face joins the two banks of the hex's river (1870 §15.2)."""
    river = g.components.map.hexes[hex].river
    if river is None:
        return False
    west, east = (sum(1 << edge for edge in bank) for bank in (river.west, river.east))
    if face.nodes:
        far_bank = east if river.stations == "west" else west
        return any(exits & far_bank for exits in face.node_exits)
    return any(
        (west >> end & 1) != (west >> other & 1) and (west | east) >> other & 1
        for end in range(FIRST_NODE)
        for _, other in face.connections[end]
        if other < FIRST_NODE
    )


def is_in_supply(g: Game, tile: str) -> bool:
    """Whether one of a tile is left (1830 Table 7)."""
    count = g.components.tiles[tile]
    return count is None or count > [laid for laid, _ in g.state.tiles.values()].count(tile)


def tile_supply(g: Game) -> dict[str, int]:
    """How many of each tile are left, without the tiles that have no limit (1830 Table 7)."""
    used = Counter(tile for tile, _ in g.state.tiles.values())
    return {tile: count - used[tile] for tile, count in g.components.tiles.items() if count is not None}


def terrain_cost(g: Game, hex: str) -> int:
    """Dollars for the first tile on the hex; upgrades are free (1830 §18)."""
    return 0 if hex in g.state.tiles else sum(t.cost for t in g.components.map.hexes[hex].terrain)


def blocking_private(g: Game, hex: str) -> str | None:
    """The private that blocks the hex because a player owns it (1830 §18), or None."""
    for private in g.components.privates:
        if hex in private.blocks and is_seat(g.state.private_owners[private.sym]):
            return private.sym
    return None


def refuse_hex(g: Game, hex: str) -> str | None:
    """Why no tile at all may be laid on the hex, or None."""
    if hex not in g.components.map.hexes:
        return f"There is no hex {hex}."
    if not candidate_tiles(g, hex):
        return f"No tile can be laid on {hex}{g.cite('1830 §18')}."
    if private := blocking_private(g, hex):
        return f"{hex} is blocked while a player owns the {private}{g.cite('1830 §18')}."
    return None


def refuse_tile(g: Game, tile: str, hex: str) -> str | None:
    """Why that tile may not be laid next on that hex, in any rotation, or None."""
    if tile not in g.components.tiles:
        return f"There is no tile #{tile}."
    if tile not in candidate_tiles(g, hex):
        laid = g.state.tiles.get(hex)
        what = f"replace #{laid[0]} on {hex}" if laid else f"be laid on {hex}"
        return f"#{tile} cannot {what}{g.cite('1830 Table 6')}."
    color = tile_faces()[tile].color
    if color not in g.phase.tile_colors:
        return f"{color.capitalize()} tiles are not available yet{g.cite('1830 §22')}."
    if not is_in_supply(g, tile):
        return f"No #{tile} is left{g.cite('1830 Table 7')}."
    return None


def fit_in_rotation(g: Game, tile: str, hex: str, rotation: int) -> Fit | None:
    """How the tile fits on the hex in that rotation, or None."""
    return next((f for f in tile_fits(g, tile, hex) if f.rotation == rotation), None)


def tile_fits(g: Game, tile: str, hex: str) -> tuple[Fit, ...]:
    """Every rotation in which the tile fits on the hex, if it may be laid there next."""
    if tile not in candidate_tiles(g, hex):
        return ()
    return fitting_rotations(g.components, hex, g.state.tiles.get(hex), tile)


def refuse_river_crossing(g: Game, company: str, lay: LayTile, fit: Fit) -> str | None:
    """Why the track may not cross the river now (1870 §15.2), or None."""
    if crosses_river(g, lay.hex, fit.face) and is_river_closed(g):
        until = "until a company owns its private, or the private closes"
        return f"No track may cross the river {until}{g.cite('1870 §15.2')}."
    return None


def refuse_useless_upgrade(g: Game, company: str, lay: LayTile, fit: Fit) -> str | None:
    """Why an upgrade is of no use to the company (1870 §6.2), or None."""
    if is_useful_upgrade(g, company, lay.hex, fit):
        return None
    return f"The {company} could not run over any of the new track on {lay.hex}{g.cite('1870 §6.2')}."


def is_useful_upgrade(g: Game, company: str, hex: str, fit: Fit) -> bool:
    """Whether the company could run over new track, or to a stop whose value rises (1870 §6.2).

    A route reaches the first piece of new track over old track, so the track before the lay decides.
    """
    if hex not in g.state.tiles:
        return True
    old, new, network = face_at(g.components, g.state.tiles, hex), fit.face, g.network
    for node, new_node in fit.node_map.items():
        rises = new.nodes[new_node].revenue != old.nodes[node].revenue
        gains_exits = new.node_exits[new_node] & ~old.node_exits[node]
        if (rises or gains_exits) and network.reaches_stop(company, (hex, node)):
            return True
    for edge in range(FIRST_NODE):
        old_ends = {end for _, end in old.connections[edge]}
        for _, end in new.connections[edge]:
            if (
                end < FIRST_NODE
                and end not in old_ends
                and network.could_run_along(company, hex, [(edge, end)])
            ):
                return True
            if end >= FIRST_NODE and not old.exits >> edge & 1 and network.can_enter(company, hex, edge):
                return True
    return False


def refuse_lay(
    g: Game, company: str, lay: LayTile, *, connected: bool = True, discount: int = 0, cost: int | None = None
) -> str | None:
    """Why the company may not lay that tile there, or None.

    `connected`: the track has to be connected to a token of the company (1830 §18). `discount`: dollars off
    the cost of the terrain. `cost`: dollars to pay instead of the cost of the terrain; fees are in it.
    """
    if why := refuse_hex(g, lay.hex) or refuse_tile(g, lay.tile, lay.hex):
        return why
    fit = fit_in_rotation(g, lay.tile, lay.hex, lay.rotation)
    if fit is None:
        return (
            f"#{lay.tile} in rotation {lay.rotation} does not fit on {lay.hex}: it must keep the old track, "
            f"and must not run off the map, into a blank side or across a closed one{g.cite('1830 §18')}."
        )
    if connected and not g.network.reaches_edge(company, lay.hex, fit.face.exits):
        placed = f"#{lay.tile} on {lay.hex}"
        return f"{placed} would not be connected to a token of the {company}{g.cite('1830 §18')}."
    for objection in g.title.lay_objections:
        if connected and (why := objection(g, company, lay, fit)):
            return why
    what = f"The terrain of {lay.hex}" if cost is None else f"#{lay.tile} on {lay.hex}"
    if cost is None:
        cost = max(terrain_cost(g, lay.hex) - discount, 0)
    if cost > g.cash(company):
        return f"{what} costs ${cost:,}, and the {company} has ${g.cash(company):,}{g.cite('1830 §18')}."
    return None


def refuse_unused_plain_track(g: Game, company: str, lay: LayTile, fit: Fit) -> str | None:
    """Why plain track may not be upgraded so: no new track extends a route of the company (1851, Lay or
    Upgrade Track). None if it may."""
    if fit.face.nodes or lay.hex not in g.state.tiles:
        return None
    old = face_at(g.components, g.state.tiles, lay.hex)
    new = set(fit.face.tracks) - set(old.tracks) - {(b, a) for a, b in old.tracks}
    if g.network.could_run_along(company, lay.hex, sorted(new)):
        return None
    new_track = f"the new track of #{lay.tile} on {lay.hex}"
    return f"None of {new_track} would extend a route of the {company}{g.cite('1830 §18')}."


def lays_consumed(g: Game, tile: str) -> int:
    """How many of a turn's normal lays the tile uses up: one if it is yellow, all if it is an upgrade."""
    return 1 if tile_faces()[tile].color == "yellow" else g.phase.yellow_lays


def legal_lays(g: Game, company: str) -> Iterator[LayTile]:
    """Every connected lay that is not refused to the company."""
    colors, supply, faces = g.phase.tile_colors, tile_supply(g), tile_faces()
    for hex, edges in g.network.reachable(company).edges.items():
        tiles = candidate_tiles(g, hex)
        if not tiles or blocking_private(g, hex) or terrain_cost(g, hex) > g.cash(company):
            continue
        for tile in tiles:
            if faces[tile].color in colors and supply.get(tile, 1) > 0:
                for fit in fitting_rotations(g.components, hex, g.state.tiles.get(hex), tile):
                    lay = LayTile(tile, hex, fit.rotation)
                    if fit.face.exits & edges and not any(
                        objection(g, company, lay, fit) for objection in g.title.lay_objections
                    ):
                        yield lay


def lay_tile(g: Game, company: str, lay: LayTile, discount: int = 0) -> None:
    """Pay for the terrain, less the discount in dollars, and lay the tile (1830 §18.1)."""
    g.pay(company, BANK, max(terrain_cost(g, lay.hex) - discount, 0), CashReason.TERRAIN, lay.hex)
    place_tile(g, company, lay)


def place_tile(g: Game, company: str, lay: LayTile) -> None:
    """Put the tile on the map; tokens move with their cities (1830 §18.1).

    Of slots that were added to the city those stay that its tokens need.
    """
    fit = fit_in_rotation(g, lay.tile, lay.hex, lay.rotation)
    assert fit is not None
    g.emit(TileLaid(company, lay.hex, lay.tile, lay.rotation))
    for node, owner in list(g.state.tokens.get(lay.hex, ())):
        if (new_node := fit.node_map.get(node, node)) != node:
            g.emit(TokenMoved(owner, lay.hex, new_node))
    if lay.hex in g.state.added_slots:
        tokens = len(g.state.tokens.get(lay.hex, ()))
        g.emit(AddedSlotsChanged(lay.hex, max(tokens - fit.face.nodes[0].slots, 0)))


def lay_label(g: Game, lay: LayTile) -> str:
    """A lay in words: `#57 on H10 Altoona over #8, rotation 2, for $80`."""
    hex, laid = g.components.map.hexes[lay.hex], g.state.tiles.get(lay.hex)
    name = f" {hex.name}" if hex.name else ""
    over = f" over #{laid[0]}" if laid else ""
    cost = terrain_cost(g, lay.hex)
    return f"#{lay.tile} on {lay.hex}{name}{over}, rotation {lay.rotation}" + (
        f", for ${cost:,}" if cost else ""
    )


@dataclass(frozen=True)
class TrackStep(Step[LayTile]):
    """The normal lays of a turn: as many yellow tiles as the phase allows, or one upgrade (1830 §18).

    `also_blocks`: whether a lay by a private keeps the step open before the normal lays are used.
    `after_lay`: called after a lay, with the hex and the president. `always_asked`: the step waits even if
    nothing can be laid, as on the site. `stays_open`: whether it waits after the normal lays.
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
        remaining = g.phase.yellow_lays - turn.lays_used
        return (lay for lay in legal_lays(g, turn.company) if lays_consumed(g, lay.tile) <= remaining)

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        return f"lay or upgrade track for the {turn.company}"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        if turn.lays_used < g.phase.yellow_lays:
            for lay in self._legal_lays(g, turn):
                yield Option(lay, lay_label(g, lay))

    def refusal(self, g: Game, turn: OperatingTurn, action: LayTile) -> str | None:
        if turn.lays_used >= g.phase.yellow_lays:
            return f"The {turn.company} has no lay left in this turn{g.cite('1830 §18')}."
        if (
            action.tile in g.components.tiles
            and turn.lays_used + lays_consumed(g, action.tile) > g.phase.yellow_lays
        ):
            reason = "has laid a yellow tile in this turn, and may not lay an upgrade too"
            return f"The {turn.company} {reason}{g.cite('1830 §18')}."
        return refuse_lay(g, turn.company, action)

    def apply(self, g: Game, turn: OperatingTurn, action: LayTile) -> None:
        used = turn.lays_used + lays_consumed(g, action.tile)
        g.change_top(turn, lays_used=used, acted=True)
        lay_tile(g, turn.company, action)
        self.after_lay(g, action.hex, g.president(turn.company))
