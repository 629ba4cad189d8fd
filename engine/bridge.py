"""The bridge company: who owns it lays one river hex for less (1870 §15.2).

The discount is used with a lay that says so. The company that may buy the private in phase 1 and does so
in its first turn lays its home with it on top of its normal lays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from engine.actions import Action, Lay
from engine.board.faces import Fit
from engine.events import PowerSpent
from engine.game import Game
from engine.operating.stations import printed_home
from engine.operating.track import carry_out, fits_there, refuse_lay, terrain_cost, words
from engine.operating.turn import own_turn, turn_for
from engine.powers import effect_of
from engine.privates import companies_buy, purchasable
from engine.state import OperatingTurn
from engine.title import Aside, Option


@dataclass(frozen=True)
class Bridges(Aside):
    """Lays with the discount of such a private.

    `beyond`: also when the normal lays are made, but while the company is at its track; it counts as one
    of them where there is one left, but not at home. Then nothing else is laid at home in that turn.
    """

    hears: ClassVar[tuple[type[Action], ...]] = (Lay,)

    beyond: bool = False

    def applies(self, g: Game, action: Action) -> bool:
        return isinstance(action, Lay) and action.using is not None

    def usable(self, g: Game, turn: OperatingTurn) -> tuple[str, dict[str, Any]] | None:
        """The private of the company with a discount that is left, and its effect."""
        for private in g.privates_of(turn.company):
            if effect := effect_of(g, private, "bridge"):
                return private, effect
        return None

    def waits(self, g: Game, turn: OperatingTurn) -> bool:
        """Whether the company has a lay with the discount left in its turn."""
        return next(self._lays(g, turn), None) is not None

    def to_be_had(self, g: Game, turn: OperatingTurn) -> bool:
        """Whether the company has the discount left, or could buy the private that has it."""
        if self.usable(g, turn):
            return True
        return companies_buy(g) and any(
            effect_of(g, private, "bridge") for private in purchasable(g, turn.company)
        )

    def _at_home(self, g: Game, turn: OperatingTurn, hex: str) -> bool:
        """Whether it is the home of a company that begins with the bridge."""
        found = self.usable(g, turn)
        buyers = found[1].get("phase1_buyers", ()) if found else ()
        home = printed_home(g, turn.company).hex
        return turn.first and turn.company in buyers and hex == home and hex not in g.state.tiles

    def _discount(self, g: Game, turn: OperatingTurn, hex: str) -> int:
        found = self.usable(g, turn)
        if found is None:
            return 0
        if self._at_home(g, turn, hex):
            return terrain_cost(g, hex)
        return int(found[1]["discount"])

    def _lays(self, g: Game, turn: OperatingTurn) -> Iterator[Lay]:
        found = self.usable(g, turn)
        if found is None:
            return
        for hex in found[1]["hexes"]:
            if hex in g.state.tiles or hex not in g.network.reach(turn.company).edges:
                continue
            for tile in g.facts.preprinted_upgrades[g.title.printed_kinds[hex]]:
                for fit in fits_there(g, tile, hex):
                    lay = Lay(tile, hex, fit.turn, found[0])
                    if self._refuse(g, turn, lay) is None:
                        yield lay

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        turn = own_turn(g)
        if turn is not None and g.president(turn.company) == seat:
            for lay in self._lays(g, turn):
                cost = max(terrain_cost(g, lay.hex) - self._discount(g, turn, lay.hex), 0)
                yield Option(lay, f"By the {lay.using} for ${cost}: {words(g, lay).partition(', for')[0]}")

    def refuse(self, g: Game, seat: str, action: Action) -> str | None:
        assert isinstance(action, Lay)
        turn = turn_for(g, seat, "Track is laid in a company's turn of an operating round (§17).")
        if isinstance(turn, str):
            return turn
        return self._refuse(g, turn, action)

    def _refuse(self, g: Game, turn: OperatingTurn, lay: Lay) -> str | None:
        found = self.usable(g, turn)
        if found is None or found[0] != lay.using:
            return f"The {turn.company} has no power of the {lay.using} to use (§15.2)."
        if lay.hex not in found[1]["hexes"] or lay.hex in g.state.tiles:
            return f"The {lay.using} makes the first tile on a hex of the river cheaper (§15.2)."
        at_home = self._at_home(g, turn, lay.hex)
        if turn.step != "track" and (self.beyond or not at_home):
            return "Track is laid at the beginning of the turn (§17)."
        if turn.laid >= g.phase.yellow_lays and not (self.beyond or at_home):
            return f"The {turn.company} has laid its tiles for this turn (§18)."
        return refuse_lay(g, turn.company, lay, discount=self._discount(g, turn, lay.hex))

    def take(self, g: Game, seat: str, action: Action) -> None:
        assert isinstance(action, Lay) and action.using is not None
        turn = own_turn(g)
        assert turn is not None
        discount = self._discount(g, turn, action.hex)
        if self._at_home(g, turn, action.hex):
            g.change(msgspec.structs.replace(turn, sites=(*turn.sites, action.hex)))
        else:
            g.change(msgspec.structs.replace(turn, laid=min(turn.laid + 1, g.phase.yellow_lays), acted=True))
        carry_out(g, turn.company, action, discount)
        g.emit(PowerSpent(action.using))


def not_twice(g: Game, company: str, lay: Lay, found: Fit) -> str | None:
    """Why the home that the bridge has laid takes no upgrade in the same turn, as on the site; or None."""
    turn = own_turn(g)
    if turn is not None and lay.hex in turn.sites:
        return f"The tile on {lay.hex} was laid in this turn."
    return None
