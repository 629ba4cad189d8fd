"""Privates sold: to the company whose turn it is, and between players (1830 §23.1, §24.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from engine.actions import Action, BuyOpenPrivate, DealPrivate
from engine.events import PrivateMoved
from engine.game import Game
from engine.holdings import certificate_limit, counted_certificates
from engine.offers import Deal, make_offer
from engine.operating.trains import lacking
from engine.operating.turn import own_turn
from engine.state import BANK, POOL, Offer, OperatingTurn, StockRound, StockTurn, is_seat
from engine.title import Aside, Option


def company_prices(g: Game, private: str) -> range:
    """What a company may pay: from half the face value to twice (§23.1), or less early on."""
    facts = g.private_facts(private)
    face = facts.price
    most = 2 * face if companies_buy(g) else facts.effect.get("phase1_max_price", 2 * face)
    return range((face + 1) // 2, most + 1)


def companies_buy(g: Game) -> bool:
    """Whether it is a phase in which all companies may buy privates (§22)."""
    return "can_buy_privates" in g.phase.notes


def may_buy(g: Game, company: str, private: str) -> bool:
    """Whether the company may buy the private in this phase; some may from the start (1870 §15.2)."""
    early = g.phase == g.facts.phases[0] and company in g.private_facts(private).effect.get(
        "phase1_buyers", ()
    )
    return companies_buy(g) or early


def sellable_to_company(g: Game, private: str) -> bool:
    return bool(g.private_facts(private).effect.get("sellable_to_company", True))


def purchasable(g: Game, company: str) -> Iterator[str]:
    """Privates of players that the company could pay for now (§23.1)."""
    for private, owner in g.open_privates():
        if may_buy(g, company, private):
            affordable = company_prices(g, private).start <= g.cash(company)
            if is_seat(owner) and affordable and sellable_to_company(g, private):
                yield private


def may_buy_early(g: Game, turn: OperatingTurn) -> bool:
    """Whether the company is one that may buy a certain private before others buy any, and could pay
    for it: as the site has it, whether or not it is still to be had."""
    return g.phase == g.facts.phases[0] and any(
        turn.company in private.effect.get("phase1_buyers", ())
        and company_prices(g, private.sym).start <= g.cash(turn.company)
        for private in g.facts.privates
    )


def may_buy_privates(g: Game, turn: OperatingTurn) -> bool:
    return next(purchasable(g, turn.company), None) is not None


@dataclass(frozen=True)
class PrivateStep:
    """A step of its own, after the trains, that waits while the company could buy a private,
    or while `also` says so."""

    also: Callable[[Game, OperatingTurn], bool]
    name: str = "privates"
    hears: tuple[type[Action], ...] = ()

    def waits(self, g: Game, turn: OperatingTurn) -> bool:
        return may_buy_privates(g, turn) or self.also(g, turn)

    def must(self, g: Game, turn: OperatingTurn) -> str | None:
        return None

    def needs(self, g: Game, turn: OperatingTurn) -> str:
        return f"to buy a private for the {turn.company}, or be done"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        yield from ()

    def refuse(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        return "A private is bought by saying for how much (§23.1)."

    def take(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        raise AssertionError("a private is bought aside")

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        """No private is bought."""


def nothing(g: Game, turn: StockTurn) -> list[str]:
    """Nothing has to be sold before a private is bought."""
    return []


@dataclass(frozen=True)
class PrivateDeals(Aside):
    """Deals in privates, offered where the owner is another than the buyer.

    `by_seller`: the seller may offer too. `instead_of_share`: a purchase from a player takes the
    place of the turn's certificate. `in_emergency`: a president in need may sell his (§24.3).
    `least`: dollars at least between players. `bound`: a private that no company may buy is not
    sold between players either. `in_buyers_turn`: a deal between players is made in the buyer's turn,
    whoever proposes it. `from_phase`: the first phase in which players deal with each other.
    `within_limit`: who is at the certificate limit buys none. `owing`: what a player has to sell in
    his stock turn before he buys any.
    """

    hears: ClassVar[tuple[type[Action], ...]] = (DealPrivate,)

    by_seller: bool = True
    instead_of_share: bool = False
    in_emergency: bool = True
    least: int = 0
    bound: bool = False
    in_buyers_turn: bool = False
    from_phase: str | None = None
    within_limit: bool = True
    owing: Callable[[Game, StockTurn], list[str]] = nothing

    def deal(self) -> Deal:
        """How such an offer is judged and carried out when it is accepted."""
        return Deal(self._refuse_offer, self._carry_out)

    # -- who deals with whom -----------------------------------------------------------

    def _parties(self, g: Game, seat: str, action: DealPrivate) -> tuple[str, str] | str:
        """(seller, buyer), or why the deal makes no sense."""
        if action.private not in g.title.privates:
            return f"There is no private {action.private}."
        owner = g.state.privates[action.private]
        if not is_seat(owner):
            return f"No player owns the {action.private} (§23.1)."
        if action.source not in (None, owner):
            return f"The {action.private} is {g.state.name(owner)}'s."
        if action.target is not None:
            if owner != seat:
                return f"{g.state.name(seat)} does not own the {action.private}."
            return (owner, action.target)
        turn = own_turn(g)
        if turn is not None and g.president(turn.company) == seat:
            return (owner, turn.company)
        return (owner, seat)

    def refuse(self, g: Game, seat: str, action: Action) -> str | None:
        assert isinstance(action, DealPrivate)
        parties = self._parties(g, seat, action)
        if isinstance(parties, str):
            return parties
        seller, buyer = parties
        if action.target is not None and not self.by_seller and isinstance(g.top, StockTurn):
            return "The buyer makes the purchase, in his own turn."
        return self._refuse_deal(g, seller, buyer, action.private, action.amount)

    def _refuse_offer(self, g: Game, offer: Offer) -> str | None:
        assert isinstance(offer.deal, DealPrivate)
        if g.state.privates[offer.deal.private] != offer.source:
            return f"The {offer.deal.private} is no longer {g.state.name(offer.source)}'s."
        return self._refuse_deal(g, offer.source, offer.target, offer.deal.private, offer.price)

    def _refuse_deal(self, g: Game, seller: str, buyer: str, private: str, price: int) -> str | None:
        if seller == buyer:
            return f"{g.state.name(seller)} owns the {private}."
        why = (
            self._refuse_between_players(g, seller, buyer, private, price)
            if is_seat(buyer)
            else self._refuse_to_company(g, buyer, private, price)
        )
        if why is None and price > g.cash(buyer):
            who = g.state.name(buyer) if is_seat(buyer) else f"the {buyer}"
            return f"That costs ${price}, and {who} has ${g.cash(buyer)}."
        return why

    def _refuse_to_company(self, g: Game, company: str, private: str, price: int) -> str | None:
        turn = own_turn(g)
        if turn is None or turn.company != company:
            return "A company buys a private in its own turn of an operating round (§23.1)."
        if not may_buy(g, company, private):
            return "Companies may buy privates from the first 3-train to the first 5-train (§22, §23.1)."
        if not sellable_to_company(g, private):
            return f"The {private} may not be sold to a company (Table 1.5)."
        allowed = company_prices(g, private)
        if price not in allowed:
            return f"A company pays ${allowed.start} to ${allowed.stop - 1} for the {private} (§23.1)."
        return None

    def _refuse_between_players(
        self, g: Game, seller: str, buyer: str, private: str, price: int
    ) -> str | None:
        turn = g.top
        if isinstance(turn, OperatingTurn):
            if not self.in_emergency or g.president(turn.company) != seller:
                return "Players deal in privates in a stock round (§23.1)."
            if lacking(g, turn.company) <= g.cash(seller):
                return "Outside stock rounds a president sells a private only in a forced purchase (§24.3)."
        elif not isinstance(turn, StockTurn):
            return "Players deal in privates in a stock round (§23.1)."
        elif self._too_early(g):
            return "Privates are not sold between players yet."
        elif turn.seat not in (seller, buyer) or (self._buyers_only and turn.seat != buyer):
            whose = "buyer" if self._buyers_only else "buyer or seller"
            return f"The deal is made in a turn of its {whose} (§23.1)."
        elif isinstance(round := g.state.stack[0], StockRound) and round.number == 1:
            return "Privates are not sold between players in the first stock round (§23.1)."
        elif self.instead_of_share and turn.bought:
            return "The turn's one purchase is made (§4)."
        elif turn.seat == buyer and (over := self.owing(g, turn)):
            return f"Sell down to the limit first: {', '.join(over)} (§10)."
        if self.bound and not sellable_to_company(g, private):
            return f"The {private} stays with its buyer."
        if price < self.least:
            return f"A private costs at least ${self.least}."
        if self.within_limit and counted_certificates(g, buyer) >= certificate_limit(g):
            return f"{g.state.name(buyer)} is at the limit of {certificate_limit(g)} certificates (§10)."
        return None

    @property
    def _buyers_only(self) -> bool:
        return self.in_buyers_turn or not self.by_seller

    def _too_early(self, g: Game) -> bool:
        names = [phase.name for phase in g.facts.phases]
        return self.from_phase is not None and names.index(g.phase.name) < names.index(self.from_phase)

    # -- options and effects -----------------------------------------------------------

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        turn = own_turn(g)
        if turn is not None and g.president(turn.company) == seat:
            for private in purchasable(g, turn.company):
                owner = g.state.privates[private]
                allowed = company_prices(g, private)
                prices = range(allowed.start, min(allowed.stop, g.cash(turn.company) + 1))
                consent = "" if owner == seat else f" from {g.state.name(owner)}, if he agrees"
                deal = DealPrivate(private, prices.start)
                yield Option(deal, f"{turn.company} buys the {private}{consent}", prices)
        yield from self._between_players(g, seat)

    def worth_a_turn(self, g: Game, turn: StockTurn) -> bool:
        """Whether a deal is reason enough to ask a player who has nothing else to do: his own
        private where sellers may offer, else one that he could buy."""
        deals = (option.action for option in self._between_players(g, turn.seat))
        if turn.bought or (turn.sold and not self.instead_of_share):
            return False
        sells = not self._buyers_only
        return any(isinstance(d, DealPrivate) and (d.target is not None) == sells for d in deals)

    def _between_players(self, g: Game, seat: str) -> Iterator[Option]:
        for private, owner in g.open_privates():
            if not is_seat(owner):
                continue
            others = [s for s in g.state.seats if s != seat] if owner == seat else [seat]
            for buyer in others:
                sells = owner == seat
                deal = DealPrivate(private, self.least, None if sells else owner, buyer if sells else None)
                if self.refuse(g, seat, deal) is None:
                    prices = range(self.least, g.cash(buyer) + 1)
                    words = (
                        f"Offer the {private} to {g.state.name(buyer)}"
                        if sells
                        else f"Ask {g.state.name(owner)} for the {private}"
                    )
                    yield Option(deal, words, prices)

    def take(self, g: Game, seat: str, action: Action) -> None:
        assert isinstance(action, DealPrivate)
        parties = self._parties(g, seat, action)
        assert not isinstance(parties, str)
        seller, buyer = parties
        other = seller if g.voice(buyer) == seat else g.voice(buyer)
        offer = Offer(0, seat, other, action, seller, buyer, action.amount)
        if other == seat:
            self._carry_out(g, offer)
        else:
            make_offer(g, seat, other, action, seller, buyer, action.amount)

    def _carry_out(self, g: Game, offer: Offer) -> None:
        assert isinstance(offer.deal, DealPrivate)
        private, turn = offer.deal.private, g.top
        g.pay(offer.target, offer.source, offer.price, f"the {private}")
        g.emit(PrivateMoved(private, offer.target))
        if self.instead_of_share and isinstance(turn, StockTurn):
            g.change(
                msgspec.structs.replace(turn, bought=private, source=offer.source, sold_first=bool(turn.sold))
            )


@dataclass(frozen=True)
class OpenMarket:
    """A private that lies in the open market, bought in a stock turn at its listed price (1870 §5.3.2)."""

    def hears(self, action: Action) -> bool:
        return isinstance(action, BuyOpenPrivate)

    def options(self, g: Game, frame: StockTurn) -> Iterator[Option]:
        for private in g.privates_of(POOL):
            price = g.private_facts(private).price
            yield Option(BuyOpenPrivate(private), f"Buy the {private} from the open market for ${price}")

    def refuse(self, g: Game, frame: StockTurn, action: Action) -> str | None:
        assert isinstance(action, BuyOpenPrivate)
        if g.state.privates[action.private] != POOL:
            return f"The {action.private} is not in the open market (§5.3.2)."
        if frame.bought:
            return "The turn's one purchase is made (§5.3)."
        price = g.private_facts(action.private).price
        if price > g.cash(frame.seat):
            return f"That costs ${price}, and {g.state.name(frame.seat)} has ${g.cash(frame.seat)}."
        if counted_certificates(g, frame.seat) >= certificate_limit(g):
            return f"The limit is {certificate_limit(g)} certificates (§10)."
        return None

    def take(self, g: Game, frame: StockTurn, action: Action) -> None:
        assert isinstance(action, BuyOpenPrivate)
        private = action.private
        g.pay(frame.seat, BANK, g.private_facts(private).price, f"the {private}")
        g.emit(PrivateMoved(private, frame.seat))
        g.change(msgspec.structs.replace(frame, bought=private, source=POOL, sold_first=bool(frame.sold)))
