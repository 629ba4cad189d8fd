"""Deals between two players: one offers, the other answers (1830 §21, §23).

An open offer stops nobody: the turn goes on, and the offer ends with it. What is offered is
judged when it is made and again when it is accepted, by the same objections.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from engine.actions import Accept, Action, BuyTrain, DealPrivate, Decline, Merge, Redeem
from engine.events import OfferEnded, OfferMade
from engine.facts import a_train
from engine.game import Game
from engine.state import AnyFrame, Offer
from engine.title import Aside, Option


class Deal(NamedTuple):
    """How an offer of some action is judged and carried out once it is accepted."""

    refuse: Callable[[Game, Offer], str | None]
    take: Callable[[Game, Offer], None]


def make_offer(
    g: Game,
    asker: str,
    asked: str,
    deal: BuyTrain | DealPrivate | Merge | Redeem,
    source: str,
    target: str,
    price: int,
) -> None:
    """Put a deal to the seat that speaks for its other side."""
    g.emit(OfferMade(Offer(g.state.offered + 1, asker, asked, deal, source, target, price)))


def lapse_offers(g: Game) -> None:
    """End every open offer with the turn."""
    for offer in list(g.state.offers):
        g.emit(OfferEnded(offer.number, "lapsed"))


def offer_words(g: Game, offer: Offer) -> str:
    """The offer as its addressee would put it."""
    match offer.deal:
        case Merge():
            stays = offer.deal.survivor or offer.source
            return f"the {offer.source} merges with the {offer.target}; the {stays} remains"
        case DealPrivate(private):
            what = f"the {private}"
        case BuyTrain(train):
            what = a_train(train)
        case Redeem(company):
            what = f"a share of the {company}"
    source, target = (
        f"the {o}" if o in g.state.companies else g.state.name(o) for o in (offer.source, offer.target)
    )
    return f"{what} from {source} to {target} for ${offer.price}"


@dataclass(frozen=True)
class Answers(Aside):
    """Accept, decline, or withdraw an offer.

    `but`: questions to which `decline` is an answer of its own.
    """

    hears: ClassVar[tuple[type[Action], ...]] = (Accept, Decline)

    deals: Mapping[type[Action], Deal]
    but: tuple[type[AnyFrame], ...] = ()

    def applies(self, g: Game, action: Action) -> bool:
        return not (isinstance(g.top, self.but) and isinstance(action, Decline))

    def asked(self, g: Game) -> tuple[str, ...]:
        offers = g.state.offers
        return tuple(offer.asked for offer in offers) if offers else ()

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        several = len(self._open(g, seat)) > 1
        for offer in self._open(g, seat):
            number = offer.number if several else None
            words = offer_words(g, offer)
            if seat != offer.asker and self.refuse(g, seat, Accept(number)) is None:
                yield Option(Accept(number), f"Accept: {words}")
            yield Option(Decline(number), f"{'Withdraw' if seat == offer.asker else 'Decline'}: {words}")

    def _open(self, g: Game, seat: str) -> list[Offer]:
        return [o for o in g.state.offers if seat in (o.asked, o.asker)]

    def _meant(self, g: Game, seat: str, action: Accept | Decline) -> Offer | str:
        mine = self._open(g, seat)
        if isinstance(action, Accept):
            mine = [o for o in mine if o.asked == seat]
        if action.offer is not None:
            mine = [o for o in mine if o.number == action.offer]
        elif isinstance(action, Accept) and len(mine) > 1:
            mine = [o for o in mine if self._refuse_now(g, o) is None] or mine
        if len(mine) == 1:
            return mine[0]
        if mine:
            return "Several offers are open; say which: " + "; ".join(
                f"{o.number} is {offer_words(g, o)}" for o in mine
            )
        return "No such offer is open to you."

    def refuse(self, g: Game, seat: str, action: Action) -> str | None:
        assert isinstance(action, Accept | Decline)
        offer = self._meant(g, seat, action)
        if isinstance(offer, str):
            return offer
        return self._refuse_now(g, offer) if isinstance(action, Accept) else None

    def _refuse_now(self, g: Game, offer: Offer) -> str | None:
        """Why the deal cannot be made as things stand by now, or None."""
        if {g.voice(offer.source), g.voice(offer.target)} != {offer.asker, offer.asked}:
            return "Another president speaks for the company now; the offer has to be made again."
        return self.deals[type(offer.deal)].refuse(g, offer)

    def take(self, g: Game, seat: str, action: Action) -> None:
        assert isinstance(action, Accept | Decline)
        offer = self._meant(g, seat, action)
        assert isinstance(offer, Offer)
        if isinstance(action, Decline):
            g.emit(OfferEnded(offer.number, "withdrawn" if seat == offer.asker else "declined"))
        else:
            g.emit(OfferEnded(offer.number, "accepted"))
            self.deals[type(offer.deal)].take(g, offer)
