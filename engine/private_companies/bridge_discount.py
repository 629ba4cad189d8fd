"""The bridge company: who owns it lays one river hex for less (1870 §15.2).

The discount is used with a lay that says so. The company that may buy the private in phase 1 and does so
in its first turn lays its home with it on top of its normal lays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from engine.board.tile_geometry import Fit
from engine.core.actions import Action, LayTile
from engine.core.components import RiverDiscountAbility
from engine.core.events import AbilityUsed
from engine.core.state import OperatingTurn
from engine.game import Game
from engine.mechanics import Option, OutOfTurn
from engine.operating.stations import printed_home
from engine.operating.track import lay_label, lay_tile, refuse_lay, terrain_cost, tile_fits
from engine.operating.turn import current_turn, turn_or_refusal
from engine.private_companies.abilities import active_ability
from engine.private_companies.sales import companies_may_buy, purchasable_privates


@dataclass(frozen=True)
class BridgeDiscounts(OutOfTurn):
    """Lays with the discount of such a private.

    `beyond`: also when the normal lays are made, but while the company is at its track; it counts as one
    of them where there is one left, but not at home. Then nothing else is laid at home in that turn.
    """

    handles: ClassVar[tuple[type[Action], ...]] = (LayTile,)

    beyond_normal_lays: bool = False

    def applies(self, g: Game, action: Action) -> bool:
        return isinstance(action, LayTile) and action.using is not None

    def usable_ability(self, g: Game, turn: OperatingTurn) -> tuple[str, RiverDiscountAbility] | None:
        """The private of the company with a discount that is left, and its ability."""
        for private in g.privates_of(turn.company):
            if ability := active_ability(g, private, RiverDiscountAbility):
                return private, ability
        return None

    def has_lay(self, g: Game, turn: OperatingTurn) -> bool:
        """Whether the company has a lay with the discount left in its turn."""
        return next(self._legal_lays(g, turn), None) is not None

    def is_obtainable(self, g: Game, turn: OperatingTurn) -> bool:
        """Whether the company has the discount left, or could buy the private that has it."""
        if self.usable_ability(g, turn):
            return True
        return companies_may_buy(g) and any(
            active_ability(g, private, RiverDiscountAbility)
            for private in purchasable_privates(g, turn.company)
        )

    def _at_home(self, g: Game, turn: OperatingTurn, hex: str) -> bool:
        """Whether it is the home of a company that begins with the bridge."""
        found = self.usable_ability(g, turn)
        early = g.private_definition(found[0]).early_sale if found else None
        home = printed_home(g, turn.company).hex
        if early is None or turn.company not in early.buyers or not turn.is_first:
            return False
        return hex == home and hex not in g.state.tiles

    def _discount(self, g: Game, turn: OperatingTurn, hex: str) -> int:
        found = self.usable_ability(g, turn)
        if found is None:
            return 0
        if self._at_home(g, turn, hex):
            return terrain_cost(g, hex)
        return found[1].discount

    def _legal_lays(self, g: Game, turn: OperatingTurn) -> Iterator[LayTile]:
        found = self.usable_ability(g, turn)
        if found is None:
            return
        for hex in found[1].hexes:
            if hex in g.state.tiles or hex not in g.network.reachable(turn.company).edges:
                continue
            for tile in g.components.preprinted_upgrades[g.title.preprinted_kinds[hex]]:
                for fit in tile_fits(g, tile, hex):
                    lay = LayTile(tile, hex, fit.rotation, found[0])
                    if self._refuse(g, turn, lay) is None:
                        yield lay

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        turn = current_turn(g)
        if turn is not None and g.president(turn.company) == seat:
            for lay in self._legal_lays(g, turn):
                cost = max(terrain_cost(g, lay.hex) - self._discount(g, turn, lay.hex), 0)
                yield Option(
                    lay, f"By the {lay.using} for ${cost}: {lay_label(g, lay).partition(', for')[0]}"
                )

    def refusal(self, g: Game, seat: str, action: Action) -> str | None:
        assert isinstance(action, LayTile)
        turn = turn_or_refusal(
            g, seat, f"Track is laid in a company's turn of an operating round{g.cite('1830 §17')}."
        )
        if isinstance(turn, str):
            return turn
        return self._refuse(g, turn, action)

    def _refuse(self, g: Game, turn: OperatingTurn, lay: LayTile) -> str | None:
        found = self.usable_ability(g, turn)
        if found is None or found[0] != lay.using:
            return f"The {turn.company} has no power of the {lay.using} to use{g.cite('1870 §15.2')}."
        if lay.hex not in found[1].hexes or lay.hex in g.state.tiles:
            return (
                f"The {lay.using} makes the first tile on a hex of the river cheaper{g.cite('1870 §15.2')}."
            )
        at_home = self._at_home(g, turn, lay.hex)
        if turn.step != "track" and (self.beyond_normal_lays or not at_home):
            return f"Track is laid at the beginning of the turn{g.cite('1830 §17')}."
        if turn.lays_used >= g.phase.yellow_lays and not (self.beyond_normal_lays or at_home):
            return f"The {turn.company} has laid its tiles for this turn{g.cite('1830 §18')}."
        return refuse_lay(g, turn.company, lay, discount=self._discount(g, turn, lay.hex))

    def apply(self, g: Game, seat: str, action: Action) -> None:
        assert isinstance(action, LayTile) and action.using is not None
        turn = current_turn(g)
        assert turn is not None
        discount = self._discount(g, turn, action.hex)
        if self._at_home(g, turn, action.hex):
            g.replace_top(msgspec.structs.replace(turn, hexes_laid=(*turn.hexes_laid, action.hex)))
        else:
            g.replace_top(
                msgspec.structs.replace(
                    turn, lays_used=min(turn.lays_used + 1, g.phase.yellow_lays), acted=True
                )
            )
        lay_tile(g, turn.company, action, discount)
        g.emit(AbilityUsed(action.using))


def refuse_upgrade_of_new_home(g: Game, company: str, lay: LayTile, found: Fit) -> str | None:
    """Why the home that the bridge has laid takes no upgrade in the same turn, as on the site; or None."""
    turn = current_turn(g)
    if turn is not None and lay.hex in turn.hexes_laid:
        return f"The tile on {lay.hex} was laid in this turn."
    return None
