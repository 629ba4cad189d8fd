"""The powers of private companies (1830 Table 1), each given by the `ability` in the components, and their
income."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from engine.core.actions import Action, ExchangePrivate, LayTile, Pass, PlaceToken
from engine.core.components import (
    Ability,
    MailContractAbility,
    ShareExchangeAbility,
    TeleportAbility,
    TileAbility,
)
from engine.core.events import AbilityUsed, Passed, PrivateMoved, TokenPlaced
from engine.core.reasons import CashReason
from engine.core.state import (
    BANK,
    CLOSED,
    IPO,
    POOL,
    FreeToken,
    OperatingTurn,
    ParPriceChoice,
    Waterfall,
    WaterfallBidding,
    is_seat,
)
from engine.finance.ownership import SOURCE_LABELS, move_shares, percent_limit
from engine.game import Game
from engine.mechanics import Option, OutOfTurn
from engine.operating.stations import ask_for_home_cities, city_label, refuse_token
from engine.operating.track import lay_label, lay_tile, refuse_lay, tile_fits
from engine.operating.turn import current_turn, turn_or_refusal

OPENING_FRAMES = (Waterfall, WaterfallBidding, ParPriceChoice)


AbilityT = TypeVar("AbilityT", bound=Ability)


def active_ability(g: Game, private: str, kind: type[AbilityT]) -> AbilityT | None:
    """The ability of a private that is open and has not used it; None where it has none of that kind."""
    if (
        private not in g.title.privates
        or private in g.state.used_abilities
        or g.state.private_owners[private] == CLOSED
    ):
        return None
    ability = g.private_definition(private).ability
    return ability if isinstance(ability, kind) else None


@dataclass(frozen=True)
class ShareExchanges(OutOfTurn[Game, ExchangePrivate]):
    """Exchanges of a private for a share by its owner, at any time after the opening (1830 Table 1 note 3).

    `before_par`: also while the company has no par price. `limit_by_zone`: a holder may exceed the printed
    limit where the company's price lies in a zone that lifts it.
    """

    handles: ClassVar[tuple[type[Action], ...]] = (ExchangePrivate,)

    before_par: bool = False
    limit_by_zone: bool = True

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        for private in g.privates_of(seat):
            if ability := active_ability(g, private, ShareExchangeAbility):
                for source in (IPO, POOL):
                    if self.refusal(g, seat, exchange := ExchangePrivate(private, source)) is None:
                        share = f"{ability.percent} % of the {ability.company}"
                        label = f"Exchange the {private} for {share} from {SOURCE_LABELS[source]}"
                        yield Option(exchange, label)

    def refusal(self, g: Game, seat: str, action: ExchangePrivate) -> str | None:
        ability = active_ability(g, action.private, ShareExchangeAbility)
        if ability is None:
            return f"The {action.private} cannot be exchanged{g.cite('1830 Table 1')}."
        if g.state.private_owners[action.private] != seat:
            return f"{g.state.name(seat)} does not own the {action.private}{g.cite('1830 Table 1.3')}."
        if isinstance(g.state.stack[0], OPENING_FRAMES):
            return f"No private is exchanged before all privates are sold{g.cite('1830 Table 1.3')}."
        company, percent = ability.company, ability.percent
        if not self.before_par and g.company(company).par is None:
            return f"The {company} has no par price yet{g.cite('1830 Table 1.3')}."
        most = percent_limit(g, company) if self.limit_by_zone else g.components.limits.player_percent
        if g.percent_held(seat, company) + percent > most:
            who = f"A holder of {most} % or more of the {company}"
            return f"{who} may not exchange the {action.private}{g.cite('1830 Table 1.3')}."
        if action.source not in SOURCE_LABELS or g.percent_held(action.source, company) < percent:
            return f"There is no share of the {company} to exchange for{g.cite('1830 Table 1.3')}."
        return None

    def apply(self, g: Game, seat: str, action: ExchangePrivate) -> None:
        ability = active_ability(g, action.private, ShareExchangeAbility)
        assert ability is not None
        g.emit(PrivateMoved(action.private, CLOSED))
        move_shares(g, ability.company, action.source, seat, ability.percent)


class LaysByPrivate(OutOfTurn[Game, LayTile]):
    """Tile lays by the power of a private that the company owns: the line names it."""

    handles: ClassVar[tuple[type[Action], ...]] = (LayTile,)

    def applies(self, g: Game, action: Action) -> bool:
        return isinstance(action, LayTile) and action.using is not None

    def legal_lays(self, g: Game, turn: OperatingTurn) -> Iterator[LayTile]:
        """What the company could lay now."""
        raise NotImplementedError

    def label(self, g: Game, turn: OperatingTurn, lay: LayTile) -> str:
        """A lay as an option is called."""
        return f"By the {lay.using}: {lay_label(g, lay)}"

    def refuse(self, g: Game, turn: OperatingTurn, lay: LayTile) -> str | None:
        """Why the company may not make a lay in its turn, or None."""
        raise NotImplementedError

    def has_lay(self, g: Game, turn: OperatingTurn) -> bool:
        """Whether any lay is possible now."""
        return next(self.legal_lays(g, turn), None) is not None

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        turn = current_turn(g)
        if turn is not None and g.president(turn.company) == seat:
            for lay in self.legal_lays(g, turn):
                yield Option(lay, self.label(g, turn, lay))

    def refusal(self, g: Game, seat: str, action: LayTile) -> str | None:
        outside = "Track is laid in a company's turn of an operating round"
        turn = turn_or_refusal(g, seat, f"{outside}{g.cite('1830 §17')}.")
        return turn if isinstance(turn, str) else self.refuse(g, turn, action)


@dataclass(frozen=True)
class TileAbilities(LaysByPrivate):
    """Tile lays by the ability of a private that the company owns (1830 Table 1 notes 1, 2).

    An extra lay is possible at any time in the company's turn, on top of the normal one. Other lays replace
    the normal one, and may be followed at once by a free token.
    """

    def usable_abilities(self, g: Game, turn: OperatingTurn) -> Iterator[tuple[str, TileAbility]]:
        """The tile abilities that the company has left, each with its private."""
        for private in g.privates_of(turn.company):
            if ability := active_ability(g, private, TileAbility):
                yield private, ability

    def legal_lays(self, g: Game, turn: OperatingTurn) -> Iterator[LayTile]:
        for private, ability in self.usable_abilities(g, turn):
            for hex in ability.hexes:
                for tile in ability.tiles:
                    for fit in tile_fits(g, tile, hex):
                        lay = LayTile(tile, hex, fit.rotation, private)
                        if self.refuse(g, turn, lay) is None:
                            yield lay

    def has_extra_lay(self, g: Game, turn: OperatingTurn) -> bool:
        """Whether the company has an ability left that gives a lay on top of the normal one."""
        return any(ability.extra_lay for _, ability in self.usable_abilities(g, turn))

    def has_replacing_lay(self, g: Game, turn: OperatingTurn) -> bool:
        """Whether an ability allows a lay now that replaces the normal one."""
        replacing = {private for private, ability in self.usable_abilities(g, turn) if not ability.extra_lay}
        return any(lay.using in replacing for lay in self.legal_lays(g, turn))

    def refuse(self, g: Game, turn: OperatingTurn, lay: LayTile) -> str | None:
        ability = next((a for p, a in self.usable_abilities(g, turn) if p == lay.using), None)
        if ability is None:
            return f"The {turn.company} cannot use the power of the {lay.using} now{g.cite('1830 Table 1')}."
        if lay.hex not in ability.hexes or lay.tile not in ability.tiles:
            tiles, hexes = ", ".join(ability.tiles), ", ".join(ability.hexes)
            return f"The {lay.using} lays {tiles} on {hexes}{g.cite('1830 Table 1')}."
        if not ability.extra_lay and (turn.step != "track" or turn.lays_used):
            return f"The lay by the {lay.using} is the turn's one tile{g.cite('1830 Table 1.2')}."
        return refuse_lay(g, turn.company, lay, connected=ability.connected)

    def apply(self, g: Game, seat: str, action: LayTile) -> None:
        assert action.using is not None
        turn = g.top
        assert isinstance(turn, OperatingTurn)
        ability = g.private_definition(action.using).ability
        assert isinstance(ability, TileAbility)
        if not ability.extra_lay:
            g.change_top(turn, lays_used=turn.lays_used + 1, acted=True)
        lay_tile(g, turn.company, action)
        g.emit(AbilityUsed(action.using))
        ask_for_home_cities(g, action.hex, seat)
        if isinstance(ability, TeleportAbility) and not turn.tokens_placed:
            g.push(FreeToken(turn.company, action.using, action.hex))


@dataclass(frozen=True)
class FreeTokenQuestion:
    """Asks for the free token that an ability allows right after its tile.

    An action of a later step declines the token, as it declines any optional step.
    """

    def asked(self, g: Game, frame: FreeToken) -> tuple[str, ...]:
        return (g.president(frame.company),)

    def prompt(self, g: Game, frame: FreeToken) -> str:
        return f"place a free token of the {frame.company} in {frame.hex}, or pass"

    def options(self, g: Game, frame: FreeToken, seat: str) -> Iterator[Option]:
        token = PlaceToken(frame.hex, 0, frame.private)
        if self.refusal(g, frame, seat, token) is None:
            yield Option(token, f"Free token in {city_label(g, frame.hex, 0)}")
        yield Option(Pass(), "No token: the ability to place it free is lost")

    def refusal(self, g: Game, frame: FreeToken, seat: str, action: Action) -> str | None:
        match action:
            case Pass():
                return None
            case PlaceToken(hex, node, using) if hex == frame.hex and using in (None, frame.private):
                return refuse_token(g, frame.company, hex, node, free=True)
            case LayTile() | PlaceToken():
                place = f"the free token of the {frame.private} in {frame.hex}"
                return f"First {place}: place it, or pass{g.cite('1830 Table 1.2')}."
        turn = g.state.stack[-2]
        return g.title.questions[type(turn)].refusal(g, turn, seat, action)

    def apply(self, g: Game, frame: FreeToken, seat: str, action: Action) -> None:
        g.pop()
        turn = g.top
        assert isinstance(turn, OperatingTurn)
        if isinstance(action, PlaceToken):
            g.change_top(turn, tokens_placed=turn.tokens_placed + 1)
            g.emit(TokenPlaced(frame.company, action.hex, action.node))
            return
        g.emit(Passed(frame.company, "the free token"))
        if not isinstance(action, Pass):
            g.title.questions[type(turn)].apply(g, turn, seat, action)

    def advance(self, g: Game, frame: FreeToken) -> bool:
        if refuse_token(g, frame.company, frame.hex, 0, free=True) is None:
            return False
        g.pop()
        return True


def pay_private_income(g: Game) -> None:
    """Pay the income of each open private to its owner (1830 §16, §7.3)."""
    for private, owner in list(g.owned_privates()):
        g.pay(BANK, owner, g.private_definition(private).revenue, CashReason.PRIVATE_INCOME, private)


def pay_mail_contracts(g: Game) -> None:
    """Pay the income of mail contracts to companies that have a train (1817 §6)."""
    for private, owner in list(g.owned_privates()):
        ability = g.private_definition(private).ability
        if isinstance(ability, MailContractAbility) and not is_seat(owner) and g.company(owner).trains:
            g.pay(BANK, owner, ability.income, CashReason.PRIVATE_INCOME, private)
