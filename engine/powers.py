"""The powers of private companies (1830 Table 1), each driven by the `effect` in the facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from engine.actions import Action, Exchange, Lay, Pass, Token
from engine.events import Passed, PowerSpent, PrivateMoved, TokenPlaced
from engine.game import Game
from engine.holdings import move_shares, percent_limit
from engine.operating.stations import city_words, refuse_token, settle_homes
from engine.operating.track import carry_out, fits_there, refuse_lay, words
from engine.operating.turn import own_turn, turn_for
from engine.state import CLOSED, IPO, POOL, Bidding, FreeToken, OperatingTurn, Pricing, Waterfall
from engine.stock.turn import WHERE
from engine.title import Aside, Option

OPENING = (Waterfall, Bidding, Pricing)


def effect_of(g: Game, private: str, kind: str) -> dict[str, Any] | None:
    """The effect of that kind of a private that is open and unspent, or None."""
    if private not in g.title.privates or private in g.state.spent or g.state.privates[private] == CLOSED:
        return None
    effect = g.private_facts(private).effect
    return effect if effect.get("kind") == kind else None


@dataclass(frozen=True)
class Exchanges(Aside):
    """A private traded by its player for a share, at any time outside the opening (note 3).

    `before_par`: also while the company has no par price.
    """

    hears: ClassVar[tuple[type[Action], ...]] = (Exchange,)

    before_par: bool = False

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        for private in g.privates_of(seat):
            if effect := effect_of(g, private, "exchange"):
                for source in (IPO, POOL):
                    if self.refuse(g, seat, swap := Exchange(private, source)) is None:
                        share = f"{effect['percent']} % of the {effect['company']}"
                        yield Option(swap, f"Exchange the {private} for {share} from {WHERE[source]}")

    def refuse(self, g: Game, seat: str, action: Action) -> str | None:
        assert isinstance(action, Exchange)
        effect = effect_of(g, action.private, "exchange")
        if effect is None:
            return f"The {action.private} cannot be exchanged (Table 1)."
        if g.state.privates[action.private] != seat:
            return f"{g.state.name(seat)} does not own the {action.private} (Table 1.3)."
        if isinstance(g.state.stack[0], OPENING):
            return "Nothing is exchanged while the privates are sold (Table 1.3)."
        company, percent = effect["company"], effect["percent"]
        if not self.before_par and g.company(company).par is None:
            return f"The {company} has no par price yet (Table 1.3)."
        if g.held(seat, company) + percent > percent_limit(g, company):
            return f"{g.state.name(seat)} holds {g.held(seat, company)} % of the {company} (Table 1.3)."
        if action.source not in WHERE or g.held(action.source, company) < percent:
            return f"There is no share of the {company} there (Table 1.3)."
        return None

    def take(self, g: Game, seat: str, action: Action) -> None:
        assert isinstance(action, Exchange)
        effect = effect_of(g, action.private, "exchange")
        assert effect is not None
        g.emit(PrivateMoved(action.private, CLOSED))
        move_shares(g, effect["company"], action.source, seat, effect["percent"])


@dataclass(frozen=True)
class TilePowers(Aside):
    """Tiles that a company lays by the power of a private it owns (notes 1, 2).

    An extra lay comes at any time of its turn beside the normal one; another takes the place of
    the normal lay, and may be followed at once by a free token.
    """

    hears: ClassVar[tuple[type[Action], ...]] = (Lay,)

    def applies(self, g: Game, action: Action) -> bool:
        return isinstance(action, Lay) and action.using is not None

    def usable(self, g: Game, turn: OperatingTurn) -> Iterator[tuple[str, dict[str, Any]]]:
        """The private and effect of each tile power that the company has left."""
        for private in g.privates_of(turn.company):
            effect = effect_of(g, private, "tile_lay") or effect_of(g, private, "teleport")
            if effect:
                yield private, effect

    def lays(self, g: Game, turn: OperatingTurn) -> Iterator[Lay]:
        for private, effect in self.usable(g, turn):
            for hex in effect["hexes"]:
                for tile in effect["tiles"]:
                    for found in fits_there(g, tile, hex):
                        lay = Lay(tile, hex, found.turn, private)
                        if self._refuse(g, turn, lay) is None:
                            yield lay

    def extra(self, g: Game, turn: OperatingTurn) -> bool:
        """Whether the company has a lay left that comes on top of its normal one."""
        return any(effect["extra_lay"] for _, effect in self.usable(g, turn))

    def possible(self, g: Game, turn: OperatingTurn) -> bool:
        """Whether a power offers any lay now."""
        return next(self.lays(g, turn), None) is not None

    def instead(self, g: Game, turn: OperatingTurn) -> bool:
        """Whether a power offers a lay in place of the normal one."""
        return any(not g.private_facts(lay.using or "").effect["extra_lay"] for lay in self.lays(g, turn))

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        turn = own_turn(g)
        if turn is not None and g.president(turn.company) == seat:
            for lay in self.lays(g, turn):
                yield Option(lay, f"By the {lay.using}: {words(g, lay)}")

    def refuse(self, g: Game, seat: str, action: Action) -> str | None:
        assert isinstance(action, Lay)
        turn = turn_for(g, seat, "Track is laid in a company's turn of an operating round (§17).")
        if isinstance(turn, str):
            return turn
        return self._refuse(g, turn, action)

    def _refuse(self, g: Game, turn: OperatingTurn, lay: Lay) -> str | None:
        effect = next((e for p, e in self.usable(g, turn) if p == lay.using), None)
        if effect is None:
            return f"The {turn.company} has no power of the {lay.using} to use (Table 1)."
        if lay.hex not in effect["hexes"] or lay.tile not in effect["tiles"]:
            tiles, hexes = ", ".join(effect["tiles"]), ", ".join(effect["hexes"])
            return f"The {lay.using} lays {tiles} on {hexes} (Table 1)."
        if not effect["extra_lay"] and (turn.step != "track" or turn.laid):
            return f"The lay by the {lay.using} is the turn's one tile (Table 1.2)."
        return refuse_lay(g, turn.company, lay, connected=effect["connected"])

    def take(self, g: Game, seat: str, action: Action) -> None:
        assert isinstance(action, Lay) and action.using is not None
        turn = g.top
        assert isinstance(turn, OperatingTurn)
        effect = g.private_facts(action.using).effect
        if not effect["extra_lay"]:
            g.change(msgspec.structs.replace(turn, laid=turn.laid + 1, acted=True))
        carry_out(g, turn.company, action)
        g.emit(PowerSpent(action.using))
        settle_homes(g, action.hex, seat)
        if "token_cost" in effect and not turn.tokens:
            g.open(FreeToken(turn.company, action.using, action.hex))


@dataclass(frozen=True)
class FreeTokens:
    """Asks at once for the token that goes with such a tile; later it costs and must connect.

    A line of a later step declines it, as it declines any optional step.
    """

    def asked(self, g: Game, frame: FreeToken) -> tuple[str, ...]:
        return (g.president(frame.company),)

    def needs(self, g: Game, frame: FreeToken) -> str:
        return f"to place a free token of the {frame.company} in {frame.hex}"

    def options(self, g: Game, frame: FreeToken, seat: str) -> Iterator[Option]:
        token = Token(frame.hex, 0, frame.private)
        if self.refuse(g, frame, seat, token) is None:
            yield Option(token, f"Free token in {city_words(g, frame.hex, 0)}")
        yield Option(Pass(), "No token: the free place is lost")

    def refuse(self, g: Game, frame: FreeToken, seat: str, action: Action) -> str | None:
        match action:
            case Pass():
                return None
            case Token(hex, node, using) if hex == frame.hex and using in (None, frame.private):
                return refuse_token(g, frame.company, hex, node, free=True)
            case Lay() | Token():
                place = f"the free token of the {frame.private} in {frame.hex}"
                return f"First {place}: place it, or pass (Table 1.2)."
        turn = g.state.stack[-2]
        return g.title.questions[type(turn)].refuse(g, turn, seat, action)

    def take(self, g: Game, frame: FreeToken, seat: str, action: Action) -> None:
        g.close()
        turn = g.top
        assert isinstance(turn, OperatingTurn)
        if isinstance(action, Token):
            g.change(msgspec.structs.replace(turn, tokens=turn.tokens + 1))
            g.emit(TokenPlaced(frame.company, action.hex, action.node))
            return
        g.emit(Passed(frame.company, "the free token"))
        if not isinstance(action, Pass):
            g.title.questions[type(turn)].take(g, turn, seat, action)

    def settle(self, g: Game, frame: FreeToken) -> bool:
        if refuse_token(g, frame.company, frame.hex, 0, free=True) is None:
            return False
        g.close()
        return True
