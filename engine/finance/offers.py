"""Deals between two players: one makes an offer, the other accepts or declines (1830 §21, §23).

An open offer blocks nobody: the turn goes on, and the offer lapses when the turn ends. A deal is checked
when it is offered and again when it is accepted, by the same function. Nobody is asked about a deal that
cannot be made any more, such as of a private that has been sold meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import msgspec

from engine.core.actions import Accept, Action, BuyTrain, Decline, Merge, RedeemShare, TradePrivate
from engine.core.components import train_label
from engine.core.events import OfferEnded, OfferMade
from engine.core.state import AnyFrame, MergerTurn, Offer, OperatingTurn, StockTurn, Waterfall
from engine.game import Game
from engine.mechanics import Option, OutOfTurn

WITHDRAW = "Withdraw the offer"
"""Begins what `decline` is called to whoever has made the offer."""


class DealHandler(NamedTuple):
    """How an offer of one kind is checked, and carried out when it is accepted."""

    refusal: Callable[[Game, Offer], str | None]
    apply: Callable[[Game, Offer], None]


def make_offer(
    g: Game,
    asker: str,
    asked: str,
    deal: BuyTrain | TradePrivate | Merge | RedeemShare,
    source: str,
    target: str,
    price: int,
) -> None:
    """Offer a deal to the seat that decides for its other side. `price`: dollars."""
    g.emit(OfferMade(Offer(g.state.last_offer_number + 1, asker, asked, deal, source, target, price)))


def is_offered(g: Game, seat: str, action: Action) -> bool:
    """Whether the seat has proposed just that already, and the offer is open. No rule forbids to propose it
    again; tables are spared it."""
    return any(offer.proposer == seat and offer.deal == action for offer in g.state.offers)


def without_open_offers(g: Game, seat: str, options: list[Option]) -> list[Option]:
    """The options without what the seat has proposed already."""
    if not g.state.offers:
        return options
    return [left for option in options if (left := _not_offered(g, seat, option))]


def _not_offered(g: Game, seat: str, option: Option) -> Option | None:
    """What an option leaves that the seat has not proposed yet: of its dollars, the longest part without
    those of open offers, so that it stays one entry of a menu."""
    action, amounts = option.action, option.amounts
    if amounts is None or not isinstance(action, TradePrivate | BuyTrain):
        return None if is_offered(g, seat, action) else option
    field = "amount" if isinstance(action, TradePrivate) else "price"
    parts, start = [], amounts.start
    for amount in amounts:
        if is_offered(g, seat, msgspec.structs.replace(action, **{field: amount})):
            parts.append(range(start, amount, amounts.step))
            start = amount + amounts.step
    longest = max(*parts, range(start, amounts.stop, amounts.step), key=len) if parts else amounts
    if not longest:
        return None
    return Option(msgspec.structs.replace(action, **{field: longest[0]}), option.label, longest)


def lapse_offers(g: Game) -> None:
    """End every open offer, as the turn ends."""
    for offer in list(g.state.offers):
        g.emit(OfferEnded(offer.number, "lapsed"))


_TURNS = (Waterfall, StockTurn, OperatingTurn, MergerTurn)
"""Frames in which offers are made. Any other on top of them, such as a discard, interrupts a turn."""


def answerable_offers(g: Game) -> list[Offer]:
    """The open offers that can be accepted in this turn: their recipients are asked."""
    if not g.state.offers:
        return []
    answers = [each for each in g.title.out_of_turn_awaiting if isinstance(each, OfferResponses)]
    return [offer for each in answers for offer in each.answerable(g)]


def offer_label(g: Game, offer: Offer) -> str:
    """The offer in words: `the SV from Ann to the PRR for $30`."""
    match offer.deal:
        case Merge():
            survivor = offer.deal.survivor or offer.source
            return f"the {offer.source} merges with the {offer.target}; the {survivor} remains"
        case TradePrivate(private):
            what = f"the {private}"
        case BuyTrain(train):
            what = train_label(train)
        case RedeemShare(company):
            what = f"a share of the {company}"
    source, target = (
        f"the {o}" if o in g.state.companies else g.state.name(o) for o in (offer.source, offer.target)
    )
    return f"{what} from {source} to {target} for ${offer.price:,}"


@dataclass(frozen=True)
class OfferResponses(OutOfTurn[Game, Accept | Decline]):
    """Accepts, declines and withdraws offers.

    `handlers`: by the kind of action that was offered. `except_during`: frames that `decline` answers
    themselves.
    """

    handles: ClassVar[tuple[type[Action], ...]] = (Accept, Decline)

    handlers: Mapping[type[Action], DealHandler]
    except_during: tuple[type[AnyFrame], ...] = ()

    def applies(self, g: Game, action: Action) -> bool:
        return not (isinstance(g.top, self.except_during) and isinstance(action, Decline))

    def asked(self, g: Game) -> tuple[str, ...]:
        return tuple(offer.recipient for offer in self.answerable(g))

    def answerable(self, g: Game) -> list[Offer]:
        """The open offers that can be accepted now, or once what interrupts the turn has been answered."""
        is_interrupted = type(g.top) not in _TURNS
        return [offer for offer in g.state.offers if is_interrupted or self._refuse_deal(g, offer) is None]

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        several = len(self._open_offers(g, seat)) > 1
        for offer in self._open_offers(g, seat):
            number = offer.number if several else None
            label = offer_label(g, offer)
            if seat != offer.proposer and self.refusal(g, seat, Accept(number)) is None:
                yield Option(Accept(number), f"Accept: {label}")
            verb = WITHDRAW if seat == offer.proposer else "Decline"
            yield Option(Decline(number), f"{verb}: {label}")

    def _open_offers(self, g: Game, seat: str) -> list[Offer]:
        return [o for o in g.state.offers if seat in (o.recipient, o.proposer)]

    def _find_offer(self, g: Game, seat: str, action: Accept | Decline) -> Offer | str:
        mine = self._open_offers(g, seat)
        if isinstance(action, Accept):
            mine = [o for o in mine if o.recipient == seat]
        if action.offer is not None:
            mine = [o for o in mine if o.number == action.offer]
        elif isinstance(action, Accept) and len(mine) > 1:
            mine = [o for o in mine if self._refuse_deal(g, o) is None] or mine
        if len(mine) == 1:
            return mine[0]
        if mine:
            offers = "; ".join(f"{o.number} is {offer_label(g, o)}" for o in mine)
            return f"Several offers are open; name one by its number: {offers}."
        if action.offer is not None:
            return f"No offer {action.offer} is open to you."
        return "Nothing is open to you that could be accepted or declined."

    def refusal(self, g: Game, seat: str, action: Accept | Decline) -> str | None:
        offer = self._find_offer(g, seat, action)
        if isinstance(offer, str):
            return offer
        return self._refuse_deal(g, offer) if isinstance(action, Accept) else None

    def _refuse_deal(self, g: Game, offer: Offer) -> str | None:
        """Why the deal cannot be made now, or None."""
        if {g.controller(offer.source), g.controller(offer.target)} != {offer.proposer, offer.recipient}:
            return "The company has another president now, so the offer has to be made again."
        return self.handlers[type(offer.deal)].refusal(g, offer)

    def apply(self, g: Game, seat: str, action: Accept | Decline) -> None:
        offer = self._find_offer(g, seat, action)
        assert isinstance(offer, Offer)
        if isinstance(action, Decline):
            g.emit(OfferEnded(offer.number, "withdrawn" if seat == offer.proposer else "declined"))
        else:
            g.emit(OfferEnded(offer.number, "accepted"))
            self.handlers[type(offer.deal)].apply(g, offer)
