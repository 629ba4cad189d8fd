"""Track with two lays a turn, and the mines, bridges and tiles of privates (1817 §6.3, §1.2.6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from engine.board.route_graph import RevenueRules
from engine.board.tile_geometry import face_at, fitting_rotations
from engine.core.actions import Action, LayMill, LayMine, LayTile, PlaceBridge
from engine.core.components import (
    Ability,
    BridgeAbility,
    CoalMineAbility,
    TileIncomeAbility,
    TileLayAbility,
    tile_faces,
)
from engine.core.events import AbilityUsed, MineOrBridgeBuilt, PrivateMoved
from engine.core.reasons import CashReason
from engine.core.state import BANK, CLOSED, OperatingTurn
from engine.finance.loans import loans_available
from engine.game import Game
from engine.mechanics import Option, OutOfTurn
from engine.operating.stations import city_label
from engine.operating.track import (
    candidate_tiles,
    fit_in_rotation,
    lay_label,
    place_tile,
    refuse_lay,
    tile_fits,
)
from engine.operating.turn import Step, is_step_past, turn_or_refusal

LAYS_PER_TURN = 2
TOKEN_BONUS = 10
"""Dollars that a mine or a bridge adds to a route."""


AbilityT = TypeVar("AbilityT", bound=Ability)


def private_tokens_left(g: Game, company: str, kind: type[AbilityT]) -> Iterator[tuple[str, AbilityT]]:
    """The company's privates with an ability of that kind and tokens left, each with that ability."""
    for private in g.privates_of(company):
        ability = g.private_definition(private).ability
        if isinstance(ability, kind) and g.state.used_abilities.count(private) < ability.uses:
            yield private, ability


def company_abilities(g: Game, company: str, kind: type[AbilityT]) -> list[AbilityT]:
    """The abilities of that kind of all privates that the company owns."""
    abilities = [g.private_definition(private).ability for private in g.privates_of(company)]
    return [ability for ability in abilities if isinstance(ability, kind)]


def is_upgrade(tile: str) -> bool:
    """Whether laying the tile is an upgrade."""
    return tile_faces()[tile].color != "yellow"


def company_terrain_cost(g: Game, company: str, hex: str, *, mine: bool = False) -> int:
    """Dollars that the company pays for the terrain under the first tile on a hex (1817 §6.3.1)."""
    if hex in g.state.tiles or mine:
        return 0
    saved = {a.terrain: a.terrain_discount for a in company_abilities(g, company, BridgeAbility)}
    return sum(max(t.cost - saved.get(t.kind, 0), 0) for t in g.components.map.hexes[hex].terrain)


def tile_income(g: Game, company: str, hex: str, tile: str) -> int:
    """Dollars that the company receives for laying a yellow tile on that hex (1817 §1.2.6)."""
    if is_upgrade(tile):
        return 0
    kinds = {t.kind for t in g.components.map.hexes[hex].terrain}
    return sum(a.income for a in company_abilities(g, company, TileIncomeAbility) if a.terrain in kinds)


def mine_and_bridge_revenue_rules(g: Game, company: str) -> RevenueRules:
    """The bonuses of mines and bridges, and the hexes of which a route visits only one city (1817 §6.5)."""
    return RevenueRules(
        pass_through_bonus=dict.fromkeys(g.state.mine_hexes, TOKEN_BONUS),
        stop_bonus={(hex, 0): TOKEN_BONUS for hex in g.state.bridge_hexes},
        single_city_hexes=frozenset(g.components.single_city_hexes),
    )


def refuse_fewer_exits(g: Game, lay: LayTile) -> str | None:
    """Why the brown city tile may not be laid because another has more exits (1817 §6.3.2), or None."""
    face = tile_faces()[lay.tile]
    if face.color != "brown" or face.label or not any(n.kind == "city" for n in face.nodes):
        return None

    def exits(tile: str) -> int:
        return max((f.face.exits.bit_count() for f in tile_fits(g, tile, lay.hex)), default=0)

    fit = fit_in_rotation(g, lay.tile, lay.hex, lay.rotation)
    most = max(exits(t) for t in candidate_tiles(g, lay.hex))
    if fit is not None and fit.face.exits.bit_count() < most:
        return f"A brown city needs as many exits as fit: {most} on {lay.hex}{g.cite('1817 §6.3.2')}."
    return None


@dataclass(frozen=True)
class TwoTileTrackStep(Step[Action]):
    """Lay a tile, and a second one for a fee; at most one upgrade, and not both on one hex (1817 §6.3).

    `requires_most_exits`: a brown city needs as many exits as fit. `always_asked`: the step waits as long as
    the company can pay the fee, even if nothing can be laid.
    """

    requires_most_exits: bool = True
    always_asked: bool = False
    name: str = "track"
    handles: tuple[type[Action], ...] = (LayTile, LayMine, LayMill)

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        if self.always_asked and turn.lays_used < LAYS_PER_TURN:
            fee = g.components.second_lay_cost
            return not turn.lays_used or g.cash(turn.company) >= fee or loans_available(g, turn.company) > 0
        if next(self._legal_actions(g, turn), None) is not None:
            return True
        return (
            loans_available(g, turn.company) > 0
            and next(self._legal_actions(g, turn, borrowed=True), None) is not None
        )

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        more = f" once more, for ${g.components.second_lay_cost:,}" if turn.lays_used else ""
        return f"lay or upgrade track for the {turn.company}{more}"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        for action in self._legal_actions(g, turn):
            lay = self._lay_of(g, turn.company, action)
            cost = self._cost(g, turn, action)
            label = lay_label(g, lay).partition(", for $")[0] + (f", for ${cost:,}" if cost else "")
            if isinstance(action, LayMine):
                label += ", with a coal mine"
            elif isinstance(action, LayMill):
                label = f"By the {lay.using}: {label}"
            yield Option(action, label)

    def _lay_of(self, g: Game, company: str, action: Action) -> LayTile:
        """The lay that the action makes; its `using` is the private whose own tile it is.

        Raises ValueError with a sentence if the company has no such private.
        """
        match action:
            case LayTile():
                return action
            case LayMine(tile, hex, turn):
                return LayTile(tile, hex, turn)
            case LayMill(turn):
                for private, ability in private_tokens_left(g, company, TileLayAbility):
                    return LayTile(ability.tiles[0], ability.hexes[0], turn, private)
        raise ValueError(f"The {company} has no tile of a private to lay{g.cite('1817 §1.2.6')}.")

    def _legal_actions(self, g: Game, turn: OperatingTurn, *, borrowed: bool = False) -> Iterator[Action]:
        """Every lay that is not refused; `borrowed`: as if loans had paid for it."""
        if turn.lays_used >= LAYS_PER_TURN:
            return
        company = turn.company
        private_tiles = _tiles_of_privates(g)
        mining = any(True for _ in private_tokens_left(g, company, CoalMineAbility))
        for hex, edges in sorted(g.network.reachable(company).edges.items()):
            for tile in candidate_tiles(g, hex):
                if tile in private_tiles or tile_faces()[tile].color not in g.phase.tile_colors:
                    continue
                for fit in tile_fits(g, tile, hex):
                    if fit.face.exits & edges:
                        lay = LayTile(tile, hex, fit.rotation)
                        if self._lay_refusal(g, turn, lay, borrowed=borrowed) is None:
                            yield lay
                        mine = LayMine(tile, hex, fit.rotation)
                        if mining and self._lay_refusal(g, turn, mine, borrowed=borrowed) is None:
                            yield mine
        if any(True for _ in private_tokens_left(g, company, TileLayAbility)):
            for rotation in range(6):
                if self._lay_refusal(g, turn, mill := LayMill(rotation), borrowed=borrowed) is None:
                    yield mill

    def _cost(self, g: Game, turn: OperatingTurn, action: Action) -> int:
        """Dollars for the terrain, and for the second lay of the turn."""
        lay = self._lay_of(g, turn.company, action)
        terrain = company_terrain_cost(g, turn.company, lay.hex, mine=isinstance(action, LayMine))
        return terrain + (g.components.second_lay_cost if turn.lays_used else 0)

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        return self._lay_refusal(g, turn, action, borrowed=False)

    def _lay_refusal(self, g: Game, turn: OperatingTurn, action: Action, *, borrowed: bool) -> str | None:
        company = turn.company
        if turn.lays_used >= LAYS_PER_TURN:
            return f"The {company} has laid its two tiles for this turn{g.cite('1817 §6.3')}."
        try:
            lay = self._lay_of(g, company, action)
        except ValueError as error:
            return str(error)
        if lay.using and not isinstance(action, LayMill):
            return f"The tile of the {lay.using} is laid with `mill` or `with mine`{g.cite('1817 §1.2.6')}."
        if isinstance(action, LayMine) and (why := self._refuse_mine(g, company, lay, action.using)):
            return why
        mill = isinstance(action, LayMill)
        if mill and lay.hex in g.state.tiles:
            return f"{lay.hex} already has a tile{g.cite('1817 §1.2.6')}."
        if not mill and lay.tile in _tiles_of_privates(g):
            return f"#{lay.tile} is laid only by the private that has it{g.cite('1817 §1.2.6')}."
        if lay.hex in turn.hexes_laid:
            return f"The {company} has already laid a tile on {lay.hex} in this turn{g.cite('1817 §6.3')}."
        if lay.hex in g.state.mine_hexes:
            return f"The tile under the mine in {lay.hex} is never upgraded{g.cite('1817 §1.2.6')}."
        cost = self._cost(g, turn, action) if lay.hex in g.components.map.hexes else 0
        if why := refuse_lay(g, company, lay, connected=not mill, cost=0 if borrowed else cost):
            return why
        if turn.upgraded and is_upgrade(lay.tile):
            return f"At most one of the two tiles may be an upgrade{g.cite('1817 §6.3')}."
        if self.requires_most_exits and (why := refuse_fewer_exits(g, lay)):
            return why
        return self._refuse_isolated_mine(g, lay) if isinstance(action, LayMine) else None

    def _refuse_mine(self, g: Game, company: str, lay: LayTile, using: str | None) -> str | None:
        """Why the company may not build a mine with that lay, however the tile is rotated; or None."""
        abilities = [a for p, a in private_tokens_left(g, company, CoalMineAbility) if using in (None, p)]
        if not abilities:
            return f"The {company} has no coal mine to build{g.cite('1817 §1.2.6')}."
        if lay.hex not in abilities[0].hexes or lay.tile not in abilities[0].tiles:
            where = "with plain yellow track, on a mountain next to a city or red area"
            return f"A coal mine is built {where}{g.cite('1817 §1.2.6')}."
        return None

    def _refuse_isolated_mine(self, g: Game, lay: LayTile) -> str | None:
        """Why a mine on the tile in that rotation could never be connected, or None."""
        fit = fit_in_rotation(g, lay.tile, lay.hex, lay.rotation)
        for edge, neighbor in g.components.map.hexes[lay.hex].neighbors.items():
            if fit and fit.face.exits >> edge & 1 and _can_have_track_at(g, neighbor, (edge + 3) % 6):
                return None
        targets = "a city or red area next to it"
        return f"The mine in {lay.hex} could never be connected to {targets}{g.cite('1817 §1.2.6')}."

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        company, lay = turn.company, self._lay_of(g, turn.company, action)
        is_first = lay.hex not in g.state.tiles
        cost = self._cost(g, turn, action)
        income = tile_income(g, company, lay.hex, lay.tile) if is_first else 0
        g.change_top(
            turn,
            lays_used=turn.lays_used + 1,
            acted=True,
            hexes_laid=(*turn.hexes_laid, lay.hex),
            upgraded=turn.upgraded or is_upgrade(lay.tile),
        )
        g.pay(company, BANK, cost, CashReason.TRACK, lay.hex)
        place_tile(g, company, lay)
        if isinstance(action, LayMine):
            private = next(
                p for p, _ in private_tokens_left(g, company, CoalMineAbility) if action.using in (None, p)
            )
            g.emit(MineOrBridgeBuilt(company, private, lay.hex, "mine"))
            if not any(p == private for p, _ in private_tokens_left(g, company, CoalMineAbility)):
                g.emit(PrivateMoved(private, CLOSED))
        if lay.using:
            g.emit(AbilityUsed(lay.using))
            g.emit(PrivateMoved(lay.using, CLOSED))
        g.pay(BANK, company, income, CashReason.PRIVATE_INCOME)


def _tiles_of_privates(g: Game) -> set[str]:
    """Tiles that are laid only with the ability of a private."""
    abilities = [private.ability for private in g.components.privates]
    return {tile for a in abilities if isinstance(a, TileLayAbility) for tile in a.tiles}


def _can_have_track_at(g: Game, hex: str, edge: int) -> bool:
    """Whether the hex has a city or red area that can have track at that edge, now or after upgrades."""
    if hex not in g.components.map.hexes:
        return False
    face = face_at(g.components, g.state.tiles, hex)
    kinds = {n.kind for n in face.nodes}
    if "offboard" in kinds or (face.color == "gray" and "city" in kinds):
        return bool(face.exits >> edge & 1)
    if "city" not in kinds:
        return False
    if face.exits >> edge & 1:
        return True
    return any(_upgrades_with_exit(g, hex, g.state.tiles.get(hex), edge, 0))


def _upgrades_with_exit(
    g: Game, hex: str, old: tuple[str, int] | None, edge: int, depth: int
) -> Iterator[bool]:
    """Yields True if some upgrade of that tile (type, rotation) has track at the edge, at most three on."""
    upgrades = candidate_tiles(g, hex) if old is None else (g.components.upgrades or {}).get(old[0], ())
    for tile in upgrades:
        for fit in fitting_rotations(g.components, hex, old, tile):
            if fit.face.exits >> edge & 1:
                yield True
                return
    if depth < 2:
        for tile in upgrades:
            for fit in fitting_rotations(g.components, hex, old, tile):
                yield from _upgrades_with_exit(g, hex, (tile, fit.rotation), edge, depth + 1)


@dataclass(frozen=True)
class BridgeTokens(OutOfTurn[Game, PlaceBridge]):
    """Place a bridge token at any time of the company's turn (1817 §1.2.6).

    `before_interest`: only until the interest is paid, as on the site.
    """

    handles: ClassVar[tuple[type[Action], ...]] = (PlaceBridge,)

    before_interest: bool = False

    def _free_hexes(self, g: Game, company: str) -> list[str]:
        """The hexes that the company's bridge tokens may still be placed on."""
        for _, ability in private_tokens_left(g, company, BridgeAbility):
            return [h for h in ability.hexes if h not in g.state.bridge_hexes]
        return []

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        turn = g.top
        if isinstance(turn, OperatingTurn) and g.president(turn.company) == seat:
            for hex in self._free_hexes(g, turn.company):
                if self.refusal(g, seat, PlaceBridge(hex)) is None:
                    yield Option(PlaceBridge(hex), f"Bridge token on {city_label(g, hex, 0)}")

    def refusal(self, g: Game, seat: str, action: PlaceBridge) -> str | None:
        outside = "A company places bridge tokens in its turn of an operating round"
        turn = turn_or_refusal(g, seat, f"{outside}{g.cite('1817 §1.2.6')}.")
        if isinstance(turn, str):
            return turn
        if not any(True for _ in private_tokens_left(g, turn.company, BridgeAbility)):
            return f"The {turn.company} has no bridge token{g.cite('1817 §1.2.6')}."
        if action.using and all(
            p != action.using for p, _ in private_tokens_left(g, turn.company, BridgeAbility)
        ):
            return f"The {turn.company} has no token of the {action.using}{g.cite('1817 §1.2.6')}."
        if self.before_interest and is_step_past(g, turn, "interest"):
            paid = f"The {turn.company} has paid its interest"
            return f"{paid}, and can only repay or take loans now{g.cite('1817 §6.9')}."
        if action.hex not in self._free_hexes(g, turn.company):
            return f"{action.hex} cannot have a bridge token, or has one{g.cite('1817 §1.2.6')}."
        return None

    def apply(self, g: Game, seat: str, action: PlaceBridge) -> None:
        turn = g.top
        assert isinstance(turn, OperatingTurn)
        owned = [p for p, _ in private_tokens_left(g, turn.company, BridgeAbility)]
        private = next(p for p in owned if action.using in (None, p))
        g.emit(MineOrBridgeBuilt(turn.company, private, action.hex, "bridge"))
