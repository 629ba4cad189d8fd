"""A company buys trains in its turn, if need be with its president's help (1830 §20.2, §21, §24)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import msgspec

from engine.core.actions import Action, BuyTrain, DeclareBankruptcy, SellShares
from engine.core.components import MarketZone, train_label
from engine.core.state import (
    BANK,
    POOL,
    Offer,
    OperatingTurn,
)
from engine.finance.offers import DealHandler, make_offer
from engine.finance.ownership import (
    certificate_limit,
    counted_certificates,
    counts_toward_limit,
    market_zones,
    share_percent,
)
from engine.finance.share_sales import held_companies, sell_shares, sellable_counts
from engine.game import Game
from engine.mechanics import Option
from engine.operating.emergency_purchase import declare_bankruptcy, liquidity, refuse_forced_sale
from engine.operating.trains import (
    BANK_SOURCES,
    ask_for_discards,
    buy_train,
    cheapest_train_price,
    face_price,
    is_obsolete,
    must_buy_train,
    president_contribution,
    trains_for_sale,
)
from engine.operating.turn import is_step_past


@dataclass(frozen=True)
class TrainTradeConventions:
    """The rules of train purchases in which titles and conventions differ.

    `president_always_helps`: in a forced purchase the president may add money even if the company could pay
    for the cheapest train itself. `president_helps_between_companies`: the president may also add money for
    another company's train. `face_value_between_presidents`: companies with different presidents trade at
    face value. `discards_in_operating_order`: if several companies are above the train limit, they discard
    in operating order. `last_sale_needed`: after a forced sale another company's train has to cost so much
    that the last share sold was needed. `bank_only_after_sale`: after a forced sale the train has to come
    from the bank. `only_in_train_step`: an accepted offer is carried out only in the buyer's train step.
    `defers_discards`: if the buyer can buy no more trains, its turn ends before anybody discards, as on
    the site in 1817.
    """

    president_always_helps: bool = False
    president_helps_between_companies: bool = True
    face_value_between_presidents: bool = False
    discards_in_operating_order: bool = False
    last_sale_needed: bool = False
    bank_only_after_sale: bool = False
    only_in_train_step: bool = False
    defers_discards: bool = False


def min_price_between_companies(
    g: Game, company: str, buy: BuyTrain, conventions: TrainTradeConventions
) -> int:
    """The least price in dollars of another company's train; more than $1 only after a forced sale."""
    turn = g.top
    if not (conventions.last_sale_needed and isinstance(turn, OperatingTurn) and turn.last_sale_price):
        return 1
    if g.cash(company) >= g.train_definition(buy.train).price:
        return 1
    return max(g.cash(company) + g.cash(g.president(company)) - turn.last_sale_price + 1, 1)


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
    if reason := _refuse_source(g, company, buy) or _refuse_trade_in(g, company, buy):
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
            return f"{other}, so its {buy.train} costs ${fixed[0]}{g.cite('1830 §21')}."
        if price < (least := min_price_between_companies(g, company, buy, conventions)):
            purpose = "every share sold has to be needed"
            return f"After the forced sale the train costs ${least} or more: {purpose}{g.cite('1830 §24.3')}."
        turn = g.top
        if (
            conventions.bank_only_after_sale
            and isinstance(turn, OperatingTurn)
            and turn.sold
            and president_contribution(g, company)
        ):
            return f"After a forced sale the {company} buys a train from the bank{g.cite('1830 §24.3')}."
    if conventions.president_always_helps:
        president_helps = must_buy_train(g, company)
    else:
        president_helps = president_contribution(g, company) > 0
    if buy.source not in BANK_SOURCES and not conventions.president_helps_between_companies:
        president_helps = False
    return _refuse_price(g, company, buy, price, president_helps)


def _refuse_source(g: Game, company: str, buy: BuyTrain) -> str | None:
    """Why the train cannot be bought from its source, or None."""
    if buy.train not in g.title.trains:
        return f"There is no {buy.train}-train."
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
        return f"The {company} cannot buy from itself."
    if buy.price is not None and buy.price < 1:
        return f"A train costs at least $1{g.cite('1830 §21')}."
    return None


def _refuse_trade_in(g: Game, company: str, buy: BuyTrain) -> str | None:
    """Why the price or the trade-in is not that of the bank, or None."""
    if buy.source in BANK_SOURCES and buy.price not in (None, face_price(g, buy)):
        return f"A {buy.train} costs ${face_price(g, buy)} there{g.cite('1830 §21')}."
    if not buy.traded_in:
        return None
    if buy.source != BANK or buy.traded_in not in g.train_definition(buy.train).discounts:
        return f"A {buy.traded_in} cannot be traded in for a {buy.train}{g.cite('1830 §21')}."
    if buy.traded_in not in g.company(company).trains:
        return f"The {company} has no {buy.traded_in}-train to trade in{g.cite('1830 §21')}."
    return None


def _refuse_price(g: Game, company: str, buy: BuyTrain, price: int, president_helps: bool) -> str | None:
    """Why the company, with its president if they may help, cannot pay that price, or None."""
    cash = g.cash(company)
    if price <= cash:
        return None
    if not president_helps:
        return f"That costs ${price}, and the {company} has ${cash}{g.cite('1830 §17')}."
    if buy.source in BANK_SOURCES and price > (cheapest_train_price(g) or 0):
        return (
            f"With its president's money the {company} may buy only the cheapest train{g.cite('1830 §24')}."
        )
    if price > g.train_definition(buy.train).price:
        return f"With its president's money a company pays at most the face value{g.cite('1830 §24.2')}."
    total = cash + g.cash(g.president(company))
    if price > total:
        return f"That costs ${price}; the {company} and its president have ${total}{g.cite('1830 §24')}."
    return None


@dataclass(frozen=True)
class TrainStep:
    """Buy any number of trains; the company has to buy one if it must own one (1830 §20.2, §21, §24).

    If the company cannot pay for a forced purchase, the president adds their own cash, and may sell shares
    for it in this step. `refuse_train_purchase` and `refusal` judge forced purchases like any others.

    `also_blocks`: whether something else can still be bought in the turn, which keeps the step open; None if
    that has a step of its own. `bankrupt_sells_all`: a bankrupt president's shares are sold.
    `whole_certificates`: in a forced purchase the need for a sale is counted in certificates: a president
    who holds only the president's certificate may sell all of it, or half, where less would not raise the
    money. `sells_at_first_price`: shares are sold at the prices from before the first sale.
    `bankrupt_loses_cash`: a bankrupt president's cash goes to the bank. `certificate_limit_first`: a
    president above the certificate limit who has to sell shares first sells down to it, even if that brings
    too much money (1870 §10.6.2). `one_block_per_company`: the shares of a company are sold in one block.
    """

    also_blocks: Callable[[Game, OperatingTurn], bool] | None
    conventions: TrainTradeConventions = TrainTradeConventions()
    bankrupt_sells_all: bool = False
    whole_certificates: bool = False
    sells_at_first_price: bool = False
    bankrupt_loses_cash: bool = True
    certificate_limit_first: bool = False
    one_block_per_company: bool = False
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
            return f"buy a train for the {turn.company}; its president has to add ${short}"
        if must_buy_train(g, turn.company):
            return f"buy a train for the {turn.company}"
        if next(self._purchases(g, turn.company, self.conventions), None):
            return f"buy a train for the {turn.company}, or pass"
        if g.components.loans:
            return f"take loans for a train for the {turn.company}, or pass"
        return f"buy a private for the {turn.company}, or pass"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        if not self._must_sell_to_limit(g, turn):
            yield from self._purchases(g, turn.company, self.conventions)
        yield from self._forced_sales(g, turn)
        if self.refusal(g, turn, DeclareBankruptcy()) is None:
            yield Option(DeclareBankruptcy(), "Declare bankruptcy: the game ends")

    @cached_property
    def _conventions_for_prompt(self) -> TrainTradeConventions:
        """The site asks for a purchase without regard to the least price after a sale."""
        if not self.conventions.last_sale_needed:
            return self.conventions
        return replace(self.conventions, last_sale_needed=False)

    def _purchases(self, g: Game, company: str, conventions: TrainTradeConventions) -> Iterator[Option]:
        for train in trains_for_sale(g):
            for trading in (None, *sorted(set(g.company(company).trains))):
                buy = BuyTrain(train, traded_in=trading)
                if refuse_train_purchase(g, company, buy, conventions) is None:
                    trade_in = f", trading in a {trading}" if trading else ""
                    yield Option(buy, f"Buy {train_label(train)} for ${face_price(g, buy)}{trade_in}")
        if len(g.company(company).trains) >= g.phase.train_limit:
            return  # at the limit `refuse_train_purchase` allows only a trade-in, which only the bank accepts
        for train in sorted(set(g.state.pool_trains)):
            buy = BuyTrain(train, source=POOL)
            if refuse_train_purchase(g, company, buy, conventions) is None:
                yield Option(buy, f"Buy {train_label(train)} from the pool for ${face_price(g, buy)}")
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
        least = min_price_between_companies(g, company, buy, conventions)
        most = self._max_price(g, company, buy.train)
        return fixed_price_between_companies(g, company, buy, conventions) or range(least, most + 1)

    def _max_price(self, g: Game, company: str, train: str) -> int:
        """The most that the company may pay for another company's train, with its president's help."""
        with_help = min(g.train_definition(train).price, g.cash(company) + g.cash(g.president(company)))
        owner = next(c for c in g.state.companies if train in g.company(c).trains)
        allowed = self._refuse_purchase(g, company, BuyTrain(train, owner, with_help)) is None
        return max(g.cash(company), with_help if allowed else 0)

    def _forced_sales(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        """The sales of shares that the president may make for a forced purchase."""
        if not president_contribution(g, turn.company) and not (
            self.whole_certificates and must_buy_train(g, turn.company)
        ):
            return
        seat = g.president(turn.company)
        for company in held_companies(g, seat):
            for count in sellable_counts(g, seat, company):
                if self.refusal(g, turn, sell := SellShares(company, count)) is None:
                    dollars = self._sale_price(g, turn, company) * count
                    yield Option(
                        sell, f"Sell {count * share_percent(g, company)} % of the {company} for ${dollars}"
                    )

    def _sale_price(self, g: Game, turn: OperatingTurn, company: str) -> int:
        """Dollars that the president gets for one share in a forced sale."""
        return turn.forced_sale_prices.get(company, g.price(company))

    def _certificates_over_limit(self, g: Game, turn: OperatingTurn) -> int:
        """How many certificates above the limit a president holds who has to sell, or has sold, shares."""
        seat, missing = g.president(turn.company), president_contribution(g, turn.company)
        if not self.certificate_limit_first or not missing or not (turn.sold or missing > g.cash(seat)):
            return 0
        return max(counted_certificates(g, seat) - certificate_limit(g), 0)

    def _must_sell_to_limit(self, g: Game, turn: OperatingTurn) -> bool:
        """Whether the president, who has sold shares, has to sell more to come down to the limit, and can."""
        if not turn.sold or not (over := self._certificates_over_limit(g, turn)):
            return False
        seat = g.president(turn.company)
        return any(
            self._refuse_sale(g, turn, company, count) is None
            for company in held_companies(g, seat)
            for count in sellable_counts(g, seat, company)[:over]
        )

    def _refuse_sale(self, g: Game, turn: OperatingTurn, company: str, count: int) -> str | None:
        """Why the president may not sell that many shares for a forced purchase, or None."""
        seat, over = g.president(turn.company), self._certificates_over_limit(g, turn)
        short = president_contribution(g, turn.company) - g.cash(seat)
        if self.whole_certificates and must_buy_train(g, turn.company):
            short = (cheapest_train_price(g) or 0) - g.cash(turn.company) - g.cash(seat)
        elif short <= 0 and not over:
            purpose = "only to pay for a forced purchase"
            return f"Shares are sold in an operating round {purpose}{g.cite('1830 §24')}."
        if company in self._unsellable(turn):
            return f"Shares of the {company} are sold in one block a turn{g.cite('1870 §5.3.3')}."
        if over and not counts_toward_limit(g, company):
            limit = f"First sell down to the limit of {certificate_limit(g)} certificates"
            return f"{limit}{g.cite('1870 §10.6.2')}."
        need = None if count <= over else short
        whole, price = self.whole_certificates, self._sale_price(g, turn, company)
        return refuse_forced_sale(g, seat, turn.company, company, count, need, whole=whole, price=price)

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        seat = g.president(turn.company)
        short = president_contribution(g, turn.company) - g.cash(seat)
        match action:
            case BuyTrain():
                if self._must_sell_to_limit(g, turn):
                    limit = f"{g.state.name(seat)} first sells down to {certificate_limit(g)} certificates"
                    return f"{limit}{g.cite('1870 §10.6.2')}."
                return self._refuse_purchase(g, turn.company, action)
            case SellShares(company, count):
                return self._refuse_sale(g, turn, company, count)
        if short <= 0:
            return f"{g.state.name(seat)} can pay, and is not bankrupt{g.cite('1830 §24.6')}."
        if not self.bankrupt_sells_all and next(self._forced_sales(g, turn), None):
            return f"First sell all shares that may be sold{g.cite('1830 §24.6')}."
        if self.bankrupt_sells_all and liquidity(g, turn.company, self._unsellable(turn)) >= short:
            return f"Shares can be sold for the money{g.cite('1830 §24.6')}."
        return None

    def _unsellable(self, turn: OperatingTurn) -> tuple[str, ...]:
        """Companies whose shares the president may not sell again in this turn."""
        return turn.sold if self.one_block_per_company else ()

    def _buy(self, g: Game, company: str, action: BuyTrain) -> None:
        phase_started, turn = buy_train(g, company, action), g.top
        assert isinstance(turn, OperatingTurn)
        if phase_started and not (self.conventions.defers_discards and not self.is_blocking(g, turn)):
            ask_for_discards(g, by_price=self.conventions.discards_in_operating_order)

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        seat = g.president(turn.company)
        match action:
            case BuyTrain(_, source):
                g.replace_top(msgspec.structs.replace(turn, acted=True))
                if source not in BANK_SOURCES and g.president(source) != seat:
                    price = face_price(g, action) if action.price is None else action.price
                    make_offer(g, seat, g.president(source), action, source, turn.company, price)
                else:
                    self._buy(g, turn.company, action)
            case SellShares(company, count):
                prices = turn.forced_sale_prices
                if self.sells_at_first_price and not prices:
                    prices = {c: g.price(c) for c in g.state.market_order}
                price = prices.get(company, g.price(company))
                sold = (*turn.sold, company)
                g.replace_top(
                    msgspec.structs.replace(
                        turn, acted=True, forced_sale_prices=prices, sold=sold, last_sale_price=price
                    )
                )
                sell_shares(g, seat, company, count, price)
            case DeclareBankruptcy():
                declare_bankruptcy(
                    g,
                    seat,
                    turn.company,
                    sell_all=self.bankrupt_sells_all,
                    loses_cash=self.bankrupt_loses_cash,
                    sold=self._unsellable(turn),
                )

    def skip(self, g: Game, turn: OperatingTurn) -> None:
        """Nothing changes: no train is bought."""


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
