"""The bridge company: a company that owns it lays a tile on one river hex for less (1870 §15.2).

The line of the lay names the private. A company that buys the private early, in its first turn, may use it to
lay a tile on its home on top of its normal lays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.board.tile_geometry import Fit
from engine.core.actions import LayTile
from engine.core.components import RiverDiscountAbility
from engine.core.events import AbilityUsed
from engine.core.state import OperatingTurn
from engine.game import Game
from engine.operating.stations import printed_home
from engine.operating.track import lay_label, lay_tile, refuse_lay, terrain_cost, tile_fits
from engine.operating.turn import current_turn
from engine.private_companies.abilities import LaysByPrivate, active_ability
from engine.private_companies.sales import companies_may_buy, purchasable_privates


@dataclass(frozen=True)
class BridgeDiscounts(LaysByPrivate):
    """Tile lays with the discount.

    `beyond_normal_lays`: the lay is also possible after the normal ones, but only in the track step. It
    counts as a normal lay if one is left, except at home; then the home takes no other tile in that turn.
    """

    beyond_normal_lays: bool = False

    def usable_ability(self, g: Game, turn: OperatingTurn) -> tuple[str, RiverDiscountAbility] | None:
        """The company's private with an unused discount, and its ability."""
        for private in g.privates_of(turn.company):
            if ability := active_ability(g, private, RiverDiscountAbility):
                return private, ability
        return None

    def is_obtainable(self, g: Game, turn: OperatingTurn) -> bool:
        """Whether the company has an unused discount, or could buy the private that gives it."""
        if self.usable_ability(g, turn):
            return True
        return companies_may_buy(g) and any(
            active_ability(g, private, RiverDiscountAbility)
            for private in purchasable_privates(g, turn.company)
        )

    def _at_home(self, g: Game, turn: OperatingTurn, hex: str) -> bool:
        """Whether the hex is the home of a company in its first turn that the early purchase is for."""
        usable = self.usable_ability(g, turn)
        early = g.private_definition(usable[0]).early_sale if usable else None
        home = printed_home(g, turn.company).hex
        if early is None or turn.company not in early.buyers or not turn.is_first:
            return False
        return hex == home and hex not in g.state.tiles

    def _discount(self, g: Game, turn: OperatingTurn, hex: str) -> int:
        usable = self.usable_ability(g, turn)
        if usable is None:
            return 0
        if self._at_home(g, turn, hex):
            return terrain_cost(g, hex)
        return usable[1].discount

    def legal_lays(self, g: Game, turn: OperatingTurn) -> Iterator[LayTile]:
        usable = self.usable_ability(g, turn)
        if usable is None:
            return
        for hex in usable[1].hexes:
            if hex in g.state.tiles or hex not in g.network.reachable(turn.company).edges:
                continue
            for tile in g.components.preprinted_upgrades[g.title.preprinted_kinds[hex]]:
                for fit in tile_fits(g, tile, hex):
                    lay = LayTile(tile, hex, fit.rotation, usable[0])
                    if self.refuse(g, turn, lay) is None:
                        yield lay

    def label(self, g: Game, turn: OperatingTurn, lay: LayTile) -> str:
        cost = max(terrain_cost(g, lay.hex) - self._discount(g, turn, lay.hex), 0)
        return f"By the {lay.using} for ${cost:,}: {lay_label(g, lay).partition(', for')[0]}"

    def refuse(self, g: Game, turn: OperatingTurn, lay: LayTile) -> str | None:
        usable = self.usable_ability(g, turn)
        if usable is None or usable[0] != lay.using:
            return f"The {turn.company} cannot use the power of the {lay.using} now{g.cite('1870 §15.2')}."
        if lay.hex not in usable[1].hexes or lay.hex in g.state.tiles:
            return (
                f"The {lay.using} makes the first tile on a hex of the river cheaper{g.cite('1870 §15.2')}."
            )
        at_home = self._at_home(g, turn, lay.hex)
        if turn.step != "track" and (self.beyond_normal_lays or not at_home):
            return f"Track is laid at the beginning of the turn{g.cite('1830 §17')}."
        if turn.lays_used >= g.phase.yellow_lays and not (self.beyond_normal_lays or at_home):
            return f"The {turn.company} has laid its tiles for this turn{g.cite('1830 §18')}."
        return refuse_lay(g, turn.company, lay, discount=self._discount(g, turn, lay.hex))

    def apply(self, g: Game, seat: str, action: LayTile) -> None:
        assert action.using is not None
        turn = current_turn(g)
        assert turn is not None
        discount = self._discount(g, turn, action.hex)
        if self._at_home(g, turn, action.hex):
            g.change_top(turn, hexes_laid=(*turn.hexes_laid, action.hex))
        else:
            g.change_top(turn, lays_used=min(turn.lays_used + 1, g.phase.yellow_lays), acted=True)
        lay_tile(g, turn.company, action, discount)
        g.emit(AbilityUsed(action.using))


def refuse_upgrade_of_new_home(g: Game, company: str, lay: LayTile, fit: Fit) -> str | None:
    """Why a tile laid in this turn with the discount takes no upgrade, as on 18xx.games, or None."""
    turn = current_turn(g)
    if turn is not None and lay.hex in turn.hexes_laid:
        return f"The tile on {lay.hex} was laid in this turn."
    return None
