"""Sales of private companies: to companies, and between players (1830 §23.1, §24.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from engine.core.actions import Action, BuyPrivateFromPool, TradePrivate
from engine.core.events import PrivateMoved
from engine.core.reasons import CashReason
from engine.core.state import BANK, POOL, Offer, OperatingTurn, StockRound, StockTurn, Waterfall, is_seat
from engine.finance.granted_certificates import is_held_by_player
from engine.finance.offers import DealHandler, make_offer
from engine.finance.ownership import certificate_limit, counted_certificates, excess_text, give_granted_share
from engine.game import Game
from engine.mechanics import Option, OutOfTurn, no_items
from engine.operating.emergency_purchase import president_contribution
from engine.operating.turn import Step, current_turn, operating_turn_question


def company_price_range(g: Game, private: str) -> range:
    """Dollars that a company may pay: half the face value to twice (1830 §23.1); less in an early sale."""
    facts = g.private_definition(private)
    face = facts.price
    early = None if companies_may_buy(g) else facts.early_sale
    most = early.max_price if early else 2 * face
    return range((face + 1) // 2, most + 1)


def companies_may_buy(g: Game) -> bool:
    """Whether all companies may buy privates in this phase (1830 §22)."""
    return g.phase.companies_may_buy_privates


def company_may_buy(g: Game, company: str, private: str) -> bool:
    """Whether the company may buy the private in this phase; some may from the start (1870 §15.2)."""
    early = g.private_definition(private).early_sale
    if early and g.phase == g.components.phases[0] and company in early.buyers:
        return True
    return companies_may_buy(g)


def sellable_to_company(g: Game, private: str) -> bool:
    return g.private_definition(private).sellable_to_company


def purchasable_privates(g: Game, company: str) -> Iterator[str]:
    """Privates of players that the company may buy and could pay for now (1830 §23.1)."""
    for private, owner in g.owned_privates():
        if company_may_buy(g, company, private):
            affordable = company_price_range(g, private).start <= g.cash(company)
            if is_seat(owner) and affordable and sellable_to_company(g, private):
                yield private


def may_buy_in_first_phase(g: Game, turn: OperatingTurn) -> bool:
    """Whether the company may buy some private before other companies may buy any, and could pay for it.

    As on 18xx.games, the private may have gone already.
    """
    return g.phase == g.components.phases[0] and any(
        private.early_sale is not None
        and turn.company in private.early_sale.buyers
        and company_price_range(g, private.sym).start <= g.cash(turn.company)
        for private in g.components.privates
    )


def can_buy_private(g: Game, turn: OperatingTurn) -> bool:
    return next(purchasable_privates(g, turn.company), None) is not None


@dataclass(frozen=True)
class PrivatePurchaseStep(Step[Action]):
    """A last step of the turn, which waits while the company could buy a private or `also_blocks` says so.

    The purchase itself is made out of turn, by `PrivateDeals`.
    """

    also_blocks: Callable[[Game, OperatingTurn], bool]
    name: str = "privates"
    handles: tuple[type[Action], ...] = ()

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        return can_buy_private(g, turn) or self.also_blocks(g, turn)

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        return f"buy a private for the {turn.company}"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        yield from ()

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        return f"Name a price to buy a private{g.cite('1830 §23.1')}."

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        raise AssertionError("a private is bought aside")


@dataclass(frozen=True)
class PrivateDeals(OutOfTurn[Game, TradePrivate]):
    """Deals in privates. If buyer and owner are different players, one offers and the other accepts.

    `seller_may_offer`: the seller may make the offer too. `replaces_share_purchase`: a purchase from a player
    replaces the turn's purchase of a certificate. `in_forced_purchase`: a president who has to pay for a
    train may sell theirs (1830 §24.3). `min_price`: least dollars between players. `company_ban_applies`: a
    private that no company may buy is not sold between players either. `in_buyers_turn`: a deal between
    players is made in the buyer's turn, even if the seller offers it. `from_phase`: the first phase in which
    players deal with each other. `certificate_limit_applies`: a player at the certificate limit buys none.
    `required_sales`: companies of which a player has to sell shares in their stock turn before they buy any.
    `share_follows`: the share that came with a private goes to a player who buys the private from another; so
    it is not sold while a player holds that share, but players are asked as if it were.
    """

    handles: ClassVar[tuple[type[Action], ...]] = (TradePrivate,)

    seller_may_offer: bool = True
    replaces_share_purchase: bool = False
    in_forced_purchase: bool = True
    min_price: int = 0
    company_ban_applies: bool = False
    in_buyers_turn: bool = False
    from_phase: str | None = None
    certificate_limit_applies: bool = True
    required_sales: Callable[[Game, StockTurn], Sequence[str]] = no_items
    share_follows: bool = False

    def deal_handler(self) -> DealHandler:
        """How an offer is checked, and carried out when it is accepted."""
        return DealHandler(self._refuse_offer, self._apply_deal)

    # -- the two sides -----------------------------------------------------------------

    def _parties(self, g: Game, seat: str, action: TradePrivate) -> tuple[str, str] | str:
        """(seller, buyer), or why there is no such deal."""
        if action.private not in g.title.privates:
            return f"There is no private {action.private}{g.cite('1830 §23.1')}."
        owner = g.state.private_owners[action.private]
        if not is_seat(owner):
            return f"No player owns the {action.private}{g.cite('1830 §23.1')}."
        if action.source not in (None, owner):
            return f"The {action.private} is {g.state.name(owner)}'s{g.cite('1830 §23.1')}."
        if action.target is not None:
            if owner != seat:
                return f"{g.state.name(seat)} does not own the {action.private}{g.cite('1830 §23.1')}."
            return (owner, action.target)
        turn = current_turn(g)
        if turn is not None and g.president(turn.company) == seat:
            return (owner, turn.company)
        return (owner, seat)

    def refusal(self, g: Game, seat: str, action: TradePrivate) -> str | None:
        parties = self._parties(g, seat, action)
        if isinstance(parties, str):
            return parties
        return self._refuse_proposal(g, parties, action) or self._refuse_share(g, parties[1], action.private)

    def _refuse_proposal(self, g: Game, parties: tuple[str, str], action: TradePrivate) -> str | None:
        """Why seller and buyer cannot make the deal so, the private's share left aside, or None."""
        if action.target is not None and not self.seller_may_offer and isinstance(g.top, StockTurn):
            return f"The buyer makes the purchase, in their own turn{g.cite('1830 §23.1')}."
        return self._refuse_deal(g, *parties, action.private, action.amount)

    def _refuse_share(self, g: Game, buyer: str, private: str) -> str | None:
        """Why the share that came with the private cannot follow it to the buyer, or None."""
        if self.share_follows and is_seat(buyer) and is_held_by_player(g, private):
            why = f"A player holds the share that came with the {private}, so it is not sold to a player"
            return f"{why}{g.cite('1830 §23.1')}."
        return None

    def _refuse_offer(self, g: Game, offer: Offer) -> str | None:
        assert isinstance(offer.deal, TradePrivate)
        if g.state.private_owners[offer.deal.private] != offer.source:
            return (
                f"The {offer.deal.private} is no longer {g.state.name(offer.source)}'s{g.cite('1830 §23.1')}."
            )
        return self._refuse_deal(
            g, offer.source, offer.target, offer.deal.private, offer.price
        ) or self._refuse_share(g, offer.target, offer.deal.private)

    def _refuse_deal(self, g: Game, seller: str, buyer: str, private: str, price: int) -> str | None:
        if seller == buyer:
            return f"{g.state.name(seller)} owns the {private}{g.cite('1830 §23.1')}."
        why = (
            self._refuse_between_players(g, seller, buyer, private, price)
            if is_seat(buyer)
            else self._refuse_to_company(g, buyer, private, price)
        )
        if why is None and price > g.cash(buyer):
            who = g.state.name(buyer) if is_seat(buyer) else f"the {buyer}"
            return f"That costs ${price:,}, and {who} has ${g.cash(buyer):,}{g.cite('1830 §23.1')}."
        return why

    def _refuse_to_company(self, g: Game, company: str, private: str, price: int) -> str | None:
        turn = current_turn(g)
        if turn is None or turn.company != company:
            return f"A company buys a private in its own turn of an operating round{g.cite('1830 §23.1')}."
        if not company_may_buy(g, company, private):
            return (
                "Companies may buy privates from the first 3-train to the first "
                f"5-train{g.cite('1830 §22', '1830 §23.1')}."
            )
        if not sellable_to_company(g, private):
            return f"The {private} may not be sold to a company{g.cite('1830 Table 1.5')}."
        allowed = company_price_range(g, private)
        if price not in allowed:
            return (
                f"A company pays ${allowed.start:,} to ${allowed.stop - 1:,} for the "
                f"{private}{g.cite('1830 §23.1')}."
            )
        return None

    def _refuse_between_players(
        self, g: Game, seller: str, buyer: str, private: str, price: int
    ) -> str | None:
        turn = g.top
        if isinstance(turn, OperatingTurn):
            if not self.in_forced_purchase or g.president(turn.company) != seller:
                return f"Players deal in privates in a stock round{g.cite('1830 §23.1')}."
            if president_contribution(g, turn.company) <= g.cash(seller):
                return (
                    "Outside stock rounds a president sells a private only in a forced "
                    f"purchase{g.cite('1830 §24.3')}."
                )
            if why := operating_turn_question(g).refuse_skip(g, turn, "trains"):
                return why
        elif isinstance(turn, Waterfall):
            if not turn.follows_unsold:
                return self._first_round(g)
            if turn.current_seat not in (seller, buyer):
                return f"The deal is made in a turn of its buyer or seller{g.cite('1830 §23.1')}."
            if price > (free := _free_cash(g, buyer)):
                who = f"{g.state.name(buyer)} has ${free:,} that is not set aside in bids"
                return f"{who}{g.cite('1830 §7.2')}."
        elif not isinstance(turn, StockTurn):
            return f"Players deal in privates in a stock round{g.cite('1830 §23.1')}."
        elif self._before_from_phase(g):
            return f"Privates are not sold between players yet{g.cite('1830 §23.1')}."
        elif turn.seat not in (seller, buyer) or (self._only_buyer_offers and turn.seat != buyer):
            whose = "buyer" if self._only_buyer_offers else "buyer or seller"
            return f"The deal is made in a turn of its {whose}{g.cite('1830 §23.1')}."
        elif isinstance(round := g.state.stack[0], StockRound) and round.is_first:
            return self._first_round(g)
        elif self.replaces_share_purchase and turn.bought:
            return f"The turn's one purchase is made{g.cite('1830 §4')}."
        elif turn.seat == buyer and self.required_sales(g, turn):
            return f"Sell down to the limit first: {excess_text(g, buyer)}{g.cite('1830 §10')}."
        if self.company_ban_applies and not sellable_to_company(g, private):
            return f"The {private} stays with its buyer{g.cite('1830 §23.1')}."
        if price < self.min_price:
            return f"A private costs at least ${self.min_price:,}{g.cite('1830 §23.1')}."
        if self.certificate_limit_applies and counted_certificates(g, buyer) >= certificate_limit(g):
            return (
                f"{g.state.name(buyer)} is at the limit of {certificate_limit(g)} "
                f"certificates{g.cite('1830 §10')}."
            )
        return None

    @staticmethod
    def _first_round(g: Game) -> str:
        return f"Privates are not sold between players in the first stock round{g.cite('1830 §23.1')}."

    @property
    def _only_buyer_offers(self) -> bool:
        return self.in_buyers_turn or not self.seller_may_offer

    def _before_from_phase(self, g: Game) -> bool:
        names = [phase.name for phase in g.components.phases]
        return self.from_phase is not None and names.index(g.phase.name) < names.index(self.from_phase)

    # -- options and effects -----------------------------------------------------------

    def options(self, g: Game, seat: str) -> Iterator[Option]:
        turn = current_turn(g)
        if turn is not None and g.president(turn.company) == seat:
            for private in purchasable_privates(g, turn.company):
                owner = g.state.private_owners[private]
                allowed = company_price_range(g, private)
                prices = range(allowed.start, min(allowed.stop, g.cash(turn.company) + 1))
                consent = "" if owner == seat else f" from {g.state.name(owner)}, if they agree"
                deal = TradePrivate(private, prices.start)
                yield Option(deal, f"The {turn.company} buys the {private}{consent}", prices)
        yield from self._player_deals(g, seat)

    def justifies_turn(self, g: Game, turn: StockTurn) -> bool:
        """Whether a deal is possible that a player without another choice is asked for: in their own private
        if sellers may offer, else in one that they could buy."""
        if turn.bought or (turn.sold and not self.replaces_share_purchase):
            return False
        deals = (option.action for option in self._player_deals(g, turn.seat, without_share=True))
        sells = not self._only_buyer_offers
        return any(isinstance(d, TradePrivate) and (d.target is not None) == sells for d in deals)

    def _player_deals(self, g: Game, seat: str, *, without_share: bool = False) -> Iterator[Option]:
        """Deals between players; `without_share`: also where the private's share cannot follow it."""
        for private, owner in g.owned_privates():
            if not is_seat(owner):
                continue
            others = [s for s in g.state.seats if s != seat] if owner == seat else [seat]
            for buyer in others:
                sells = owner == seat
                deal = TradePrivate(
                    private, self.min_price, None if sells else owner, buyer if sells else None
                )
                if self._refuse_proposal(g, (owner, buyer), deal) is None and (
                    without_share or self._refuse_share(g, buyer, private) is None
                ):
                    prices = range(self.min_price, _free_cash(g, buyer) + 1)
                    label = (
                        f"Offer the {private} to {g.state.name(buyer)}"
                        if sells
                        else f"Buy the {private} from {g.state.name(owner)}, if they agree"
                    )
                    yield Option(deal, label, prices)

    def apply(self, g: Game, seat: str, action: TradePrivate) -> None:
        parties = self._parties(g, seat, action)
        assert not isinstance(parties, str)
        seller, buyer = parties
        other = seller if g.controller(buyer) == seat else g.controller(buyer)
        offer = Offer(0, seat, other, action, seller, buyer, action.amount)
        if other == seat:
            self._apply_deal(g, offer)
        else:
            make_offer(g, seat, other, action, seller, buyer, action.amount)

    def _apply_deal(self, g: Game, offer: Offer) -> None:
        assert isinstance(offer.deal, TradePrivate)
        private, turn = offer.deal.private, g.top
        if isinstance(turn, OperatingTurn) and is_seat(offer.target):
            operating_turn_question(g).skip_to(g, turn, "trains")
        g.pay(offer.target, offer.source, offer.price, CashReason.PRIVATE, private)
        g.emit(PrivateMoved(private, offer.target))
        if self.replaces_share_purchase and isinstance(turn, StockTurn):
            g.change_top(
                turn, bought=private, source=offer.source, sales_closed=bool(turn.sold), private_bought=True
            )
        if self.share_follows and is_seat(offer.target):
            give_granted_share(g, private, offer.target)


def _free_cash(g: Game, seat: str) -> int:
    """A player's dollars that are not set aside in bids (1830 §7.2)."""
    return g.cash(seat) - (g.top.cash_in_bids(seat) if isinstance(g.top, Waterfall) else 0)


@dataclass(frozen=True)
class OpenMarketPurchase:
    """Purchases in a stock turn of a private in the open market, at its listed price (1870 §5.3.2)."""

    handles: ClassVar[tuple[type[Action], ...]] = (BuyPrivateFromPool,)
    way: ClassVar[str] = "buy a private"

    def options(self, g: Game, frame: StockTurn) -> Iterator[Option]:
        for private in g.privates_of(POOL):
            price = g.private_definition(private).price
            yield Option(
                BuyPrivateFromPool(private), f"Buy the {private} from the open market for ${price:,}"
            )

    def refusal(self, g: Game, frame: StockTurn, action: BuyPrivateFromPool) -> str | None:
        if g.state.private_owners[action.private] != POOL:
            return f"The {action.private} is not in the open market{g.cite('1870 §5.3.2')}."
        if frame.bought:
            return f"The turn's one purchase is made{g.cite('1870 §5.3')}."
        price = g.private_definition(action.private).price
        if price > g.cash(frame.seat):
            cash = f"{g.state.name(frame.seat)} has ${g.cash(frame.seat):,}"
            return f"That costs ${price:,}, and {cash}{g.cite('1870 §5.3.2')}."
        if counted_certificates(g, frame.seat) >= certificate_limit(g):
            limit = f"{g.state.name(frame.seat)} is at the limit of {certificate_limit(g)} certificates"
            return f"{limit}{g.cite('1830 §10')}."
        return None

    def apply(self, g: Game, frame: StockTurn, action: BuyPrivateFromPool) -> None:
        private = action.private
        g.pay(frame.seat, BANK, g.private_definition(private).price, CashReason.PRIVATE, private)
        g.emit(PrivateMoved(private, frame.seat))
        g.change_top(frame, bought=private, source=POOL, sales_closed=bool(frame.sold))
