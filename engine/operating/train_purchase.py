"""A company buys trains in its turn: from the bank, the pool and other companies (1830 §20.2, §21)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from engine.core.actions import Action, BuyTrain, DeclareBankruptcy, SellShares
from engine.core.components import MarketZone, train_label
from engine.core.state import BANK, POOL, Offer, OperatingTurn
from engine.finance.offers import DealHandler, make_offer
from engine.finance.ownership import market_zones
from engine.game import Game
from engine.mechanics import Option
from engine.operating.emergency_purchase import EmergencyPurchase, must_buy_train, president_contribution
from engine.operating.trains import (
    BANK_SOURCES,
    ask_for_discards,
    buy_train,
    face_price,
    is_obsolete,
    trains_for_sale,
)
from engine.operating.turn import Step, is_step_past


@dataclass(frozen=True)
class TrainTradeConventions:
    """The rules of train purchases in which titles and conventions differ.

    `emergency`: those of purchases with the president's help. `face_value_between_presidents`: companies
    with different presidents trade at face value. `discards_in_operating_order`: if several companies are
    above the train limit, they discard in operating order. `only_in_train_step`: an accepted offer is carried
    out only in the buyer's train step. `defers_discards`: if the buyer can buy no more trains, its turn ends
    before anybody discards, as on the site in 1817. `trade_in_for_pool`: a train may also be traded in for a
    train of the pool, as from the bank.
    """

    emergency: EmergencyPurchase = field(default_factory=EmergencyPurchase)
    face_value_between_presidents: bool = False
    discards_in_operating_order: bool = False
    only_in_train_step: bool = False
    defers_discards: bool = False
    trade_in_for_pool: bool = False


def fixed_price_between_companies(
    g: Game, company: str, buy: BuyTrain, conventions: TrainTradeConventions
) -> range | None:
    """The only price of another company's train, as a range (1851, Purchase Trains); None if it is free."""
    if conventions.face_value_between_presidents and g.president(buy.source) != g.president(company):
        price = g.train_definition(buy.train).price
        return range(price, price + 1)
    return None


def refuse_train_purchase(
    g: Game, company: str, buy: BuyTrain, conventions: TrainTradeConventions
) -> str | None:
    """Why the company may not buy that train now (1830 §21, §24), or None."""
    if reason := _refuse_source(g, company, buy) or _refuse_trade_in(g, company, buy, conventions):
        return reason
    if not buy.traded_in and len(g.company(company).trains) >= g.phase.train_limit:
        return f"The {company} has {g.phase.train_limit} trains, which is the limit{g.cite('1830 §21')}."
    price = face_price(g, buy) if buy.price is None else buy.price
    if buy.source not in BANK_SOURCES:
        fixed = fixed_price_between_companies(g, company, buy, conventions)
        if buy.price is None and not fixed:
            line = f"buy train {buy.train} from {buy.source} for AMOUNT"
            return f"Name a price: {line}{g.cite('1830 §21')}."
        if fixed and price not in fixed:
            other = f"The {buy.source} has another president"
            return f"{other}, so its {buy.train} costs ${fixed[0]:,}{g.cite('1830 §21')}."
        if reason := conventions.emergency.refuse_source_after_sale(g, company, buy, price):
            return reason
    return conventions.emergency.refuse_price(g, company, buy, price)


def _refuse_source(g: Game, company: str, buy: BuyTrain) -> str | None:
    """Why the train cannot be bought from its source, or None."""
    if buy.train not in g.title.trains:
        return f"There is no {buy.train}-train{g.cite('1830 §21')}."
    if buy.source == BANK:
        if buy.train not in trains_for_sale(g):
            types = " or ".join(f"{train}-trains" for train in trains_for_sale(g)) or "no trains"
            return f"The bank sells {types} now{g.cite('1830 §21')}."
        return None
    if is_obsolete(g, buy.train):
        return f"{buy.train}-trains are obsolete and cannot be bought or sold{g.cite('1830 §21')}."
    if buy.source == POOL:
        if buy.train in g.state.pool_trains:
            return None
        return f"There is no {buy.train}-train in the pool{g.cite('1830 §21')}."
    if buy.source not in g.state.companies or buy.train not in g.company(buy.source).trains:
        return f"The {buy.source} has no {buy.train}-train{g.cite('1830 §21')}."
    if g.company(buy.source).president is None or MarketZone.LIQUIDATION in market_zones(g, buy.source):
        return f"The {buy.source} is in liquidation and cannot sell its trains{g.cite('1830 §21')}."
    if buy.source == company:
        return f"The {company} cannot buy from itself{g.cite('1830 §21')}."
    if buy.price is not None and buy.price < 1:
        return f"A train costs at least $1{g.cite('1830 §21')}."
    return None


def _refuse_trade_in(g: Game, company: str, buy: BuyTrain, conventions: TrainTradeConventions) -> str | None:
    """Why the price or the trade-in is not that of the bank, or None."""
    if buy.source in BANK_SOURCES and buy.price not in (None, face_price(g, buy)):
        return f"A {buy.train} costs ${face_price(g, buy):,} there{g.cite('1830 §21')}."
    if not buy.traded_in:
        return None
    if buy.source == POOL and not conventions.trade_in_for_pool:
        return f"A train of the pool is bought at face value, without a trade-in{g.cite('1830 §21')}."
    if buy.source not in BANK_SOURCES or buy.traded_in not in g.train_definition(buy.train).discounts:
        return f"A {buy.traded_in} cannot be traded in for a {buy.train}{g.cite('1830 §21')}."
    if buy.traded_in not in g.company(company).trains:
        return f"The {company} has no {buy.traded_in}-train to trade in{g.cite('1830 §21')}."
    return None


@dataclass(frozen=True)
class TrainStep(Step[Action]):
    """Buy any number of trains; the company has to buy one if it must own one (1830 §20.2, §21, §24).

    `refuse_train_purchase` judges forced purchases like any others.

    `also_blocks`: whether something else can still be bought in the turn, which keeps the step open; None if
    that has a step of its own.
    """

    also_blocks: Callable[[Game, OperatingTurn], bool] | None
    conventions: TrainTradeConventions = TrainTradeConventions()
    name: str = "trains"
    handles: tuple[type[Action], ...] = (BuyTrain, SellShares, DeclareBankruptcy)

    def is_blocking(self, g: Game, turn: OperatingTurn) -> bool:
        return (
            must_buy_train(g, turn.company)
            or next(self._purchases(g, turn.company, self._conventions_for_prompt), None) is not None
            or (self.also_blocks is not None and self.also_blocks(g, turn))
        )

    def pass_refusal(self, g: Game, turn: OperatingTurn) -> str | None:
        if must_buy_train(g, turn.company):
            return f"The {turn.company} has a route and has to buy a train{g.cite('1830 §20.2')}."
        return None

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        if short := president_contribution(g, turn.company):
            return f"buy a train for the {turn.company}; its president has to add ${short:,}"
        if must_buy_train(g, turn.company) or next(self._purchases(g, turn.company, self.conventions), None):
            return f"buy a train for the {turn.company}"
        if g.components.loans:
            return f"take loans for a train for the {turn.company}"
        return f"buy a private for the {turn.company}"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        emergency = self.conventions.emergency
        if emergency.refuse_before_limit(g, turn) is None:
            yield from self._purchases(g, turn.company, self.conventions)
        yield from emergency.options(g, turn)

    @cached_property
    def _conventions_for_prompt(self) -> TrainTradeConventions:
        """The site asks for a purchase without regard to the least price after a sale."""
        emergency = self.conventions.emergency
        if not emergency.last_sale_needed:
            return self.conventions
        return replace(self.conventions, emergency=replace(emergency, last_sale_needed=False))

    def _purchases(self, g: Game, company: str, conventions: TrainTradeConventions) -> Iterator[Option]:
        own = (None, *sorted(set(g.company(company).trains)))
        for source, trains in ((BANK, trains_for_sale(g)), (POOL, sorted(set(g.state.pool_trains)))):
            for buy in (BuyTrain(train, source, traded_in=trading) for train in trains for trading in own):
                if refuse_train_purchase(g, company, buy, conventions) is None:
                    where = " from the pool" if source == POOL else ""
                    trade_in = f", trading in a {buy.traded_in}" if buy.traded_in else ""
                    yield Option(
                        buy, f"Buy {train_label(buy.train)}{where} for ${face_price(g, buy):,}{trade_in}"
                    )
        if len(g.company(company).trains) >= g.phase.train_limit:
            return  # at the limit `refuse_train_purchase` allows only a trade-in, which no company accepts
        for other, co in g.state.companies.items():
            for train in sorted(set(co.trains)):
                prices = self._price_range(g, company, BuyTrain(train, other), conventions)
                buy = BuyTrain(train, other, prices.start)
                if prices and refuse_train_purchase(g, company, buy, conventions) is None:
                    same = co.president == g.president(company)
                    consent = "" if same else f", if {g.state.name(g.president(other))} agrees"
                    yield Option(buy, f"Buy {train_label(train)} from the {other}{consent}", prices)

    def _refuse_purchase(self, g: Game, company: str, buy: BuyTrain) -> str | None:
        return refuse_train_purchase(g, company, buy, self.conventions)

    def _price_range(self, g: Game, company: str, buy: BuyTrain, conventions: TrainTradeConventions) -> range:
        """The prices in dollars that the company may pay for another company's train."""
        least = conventions.emergency.min_price_between_companies(g, company, buy)
        most = self._max_price(g, company, buy.train)
        return fixed_price_between_companies(g, company, buy, conventions) or range(least, most + 1)

    def _max_price(self, g: Game, company: str, train: str) -> int:
        """The most that the company may pay for another company's train, with its president's help."""
        with_help = min(g.train_definition(train).price, g.cash(company) + g.cash(g.president(company)))
        owner = next(c for c in g.state.companies if train in g.company(c).trains)
        allowed = self._refuse_purchase(g, company, BuyTrain(train, owner, with_help)) is None
        return max(g.cash(company), with_help if allowed else 0)

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        emergency = self.conventions.emergency
        if not isinstance(action, BuyTrain):
            return emergency.refusal(g, turn, action)
        return emergency.refuse_before_limit(g, turn) or self._refuse_purchase(g, turn.company, action)

    def _buy(self, g: Game, company: str, action: BuyTrain) -> None:
        phase_started, turn = buy_train(g, company, action), g.top
        assert isinstance(turn, OperatingTurn)
        if phase_started and not (self.conventions.defers_discards and not self.is_blocking(g, turn)):
            ask_for_discards(g, by_price=self.conventions.discards_in_operating_order)

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        if not isinstance(action, BuyTrain):
            self.conventions.emergency.apply(g, turn, action)
            return
        seat, source = g.president(turn.company), action.source
        g.change_top(turn, acted=True)
        if source not in BANK_SOURCES and g.president(source) != seat:
            price = face_price(g, action) if action.price is None else action.price
            make_offer(g, seat, g.president(source), action, source, turn.company, price)
        else:
            self._buy(g, turn.company, action)


def train_deal_handler(conventions: TrainTradeConventions) -> DealHandler:
    """How an accepted offer for another president's train is judged and carried out."""

    def refusal(g: Game, offer: Offer) -> str | None:
        turn = g.top
        if not isinstance(turn, OperatingTurn) or turn.company != offer.target:
            return f"The {offer.target} buys trains in its own turn{g.cite('1830 §21')}."
        if conventions.only_in_train_step and is_step_past(g, turn, "trains"):
            return f"The {offer.target} buys no more trains in this turn{g.cite('1830 §17')}."
        assert isinstance(offer.deal, BuyTrain)
        return refuse_train_purchase(g, offer.target, offer.deal, conventions)

    def apply(g: Game, offer: Offer) -> None:
        assert isinstance(offer.deal, BuyTrain)
        buy_train(g, offer.target, offer.deal)

    return DealHandler(refusal, apply)
