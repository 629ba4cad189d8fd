"""Buying trains, and what the first of a type brings about (1830 §20.2, §21, §22, §24).

A company that must have a train and lacks the money for the cheapest in the bank is helped by its
president, from his cash first and then by sales; that is part of this step, so a forced purchase
is judged by the same list of objections as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import msgspec

from engine.core.actions import Action, BuyTrain, DeclareBankruptcy, SellShares
from engine.core.components import CityTokenAbility, MarketZone, train_label
from engine.core.events import (
    CityTokenRemoved,
    EndTriggered,
    PhaseStarted,
    PrivateMoved,
    TrainMoved,
    TrainsRusted,
    TrainsWithdrawn,
)
from engine.core.reasons import CashReason, TrainReason
from engine.core.state import (
    BANK,
    CLOSED,
    POOL,
    Discard,
    MergerRound,
    Offer,
    OperatingRound,
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
from engine.game import Game, cached
from engine.mechanics import Option
from engine.operating.emergency_purchase import declare_bankruptcy, refuse_forced_sale
from engine.operating.run import has_route
from engine.operating.turn import is_step_past

BANK_SOURCES = (BANK, POOL)


@cached
def trains_for_sale(g: Game) -> list[str]:
    """Types the bank sells now: the next in order, and any type that an earlier one opened (§21)."""
    depot, started = g.state.depot, g.title.trains_introduced[g.state.phase]
    left = [t for t in g.components.trains if depot[t.name] != 0]
    return [t.name for t in left if t is left[0] or t.available_on in started]


@cached
def cheapest_train_price(g: Game) -> int | None:
    """Dollars of the cheapest train in bank or pool; None where there is none."""
    return min(
        (g.train_definition(t).price for t in (*trains_for_sale(g), *g.state.pool_trains)), default=None
    )


@cached
def must_buy_train(g: Game, company: str) -> bool:
    """Whether the company has to own a train and does not (§20.2)."""
    if not g.components.must_own_train:
        return False
    return not g.company(company).trains and cheapest_train_price(g) is not None and has_route(g, company)


def is_obsolete(g: Game, train: str) -> bool:
    """Whether a type of train can no longer be bought or sold, and leaves after its next run (1817 §2)."""
    return g.train_definition(train).obsolete_on in g.title.trains_introduced[g.state.phase]


def president_contribution(g: Game, company: str) -> int:
    """Dollars that the president has to add to the cheapest train; 0 where he need not (§24)."""
    least = cheapest_train_price(g)
    if least is None or not must_buy_train(g, company):
        return 0
    return max(least - g.cash(company), 0)


def face_price(g: Game, buy: BuyTrain) -> int:
    """Dollars that are printed on the train, less what is traded in (§21)."""
    facts = g.train_definition(buy.train)
    return facts.price - (facts.discounts.get(buy.trading, 0) if buy.trading else 0)


@dataclass(frozen=True)
class TrainTradeConventions:
    """How a title lets trains be bought.

    `always_helped`: in any forced purchase the president may add money, also where the company
    could pay for the cheapest train by itself. `helped_between`: he may for another company's train
    too. `face_between`: companies of different presidents deal at face value. `by_price`: several
    companies above the limit discard in operating order. `uses_sales`: after a forced sale another
    company's train has to cost so much that the last share sold was needed for it. `from_bank_after`:
    after one, none is bought of another company. `in_step`: what was offered is bought only while the
    company is at its trains. `discards_wait`: where the buyer can buy no more, its turn goes on to its
    end before anybody discards, as on the site of 1817.
    """

    president_always_helps: bool = False
    president_helps_between_companies: bool = True
    face_value_between_presidents: bool = False
    discards_in_operating_order: bool = False
    last_sale_needed: bool = False
    bank_only_after_sale: bool = False
    only_in_train_step: bool = False
    defers_discards: bool = False


def min_price_between_companies(g: Game, company: str, buy: BuyTrain, trade: TrainTradeConventions) -> int:
    """Dollars at least for another company's train, as the site has it after a sale of this turn."""
    turn = g.top
    if not (trade.last_sale_needed and isinstance(turn, OperatingTurn) and turn.last_sale_price):
        return 1
    if g.cash(company) >= g.train_definition(buy.train).price:
        return 1
    return max(g.cash(company) + g.cash(g.president(company)) - turn.last_sale_price + 1, 1)


def fixed_price_between_companies(
    g: Game, company: str, buy: BuyTrain, trade: TrainTradeConventions
) -> range | None:
    """What another company's train may cost, as far as that is fixed (1851, Purchase Trains)."""
    if trade.face_value_between_presidents and g.president(buy.source) != g.president(company):
        face = g.train_definition(buy.train).price
        return range(face, face + 1)
    return None


def refuse_train_purchase(g: Game, company: str, buy: BuyTrain, trade: TrainTradeConventions) -> str | None:
    """Why the company may not buy that train now (§21, §24), or None."""
    why = _refuse_source(g, company, buy) or _refuse_trade_in(g, company, buy)
    if why:
        return why
    if not buy.trading and len(g.company(company).trains) >= g.phase.train_limit:
        return f"The {company} has {g.phase.train_limit} trains, which is the limit (§21)."
    price = face_price(g, buy) if buy.price is None else buy.price
    if buy.source not in BANK_SOURCES:
        fixed = fixed_price_between_companies(g, company, buy, trade)
        if buy.price is None and not fixed:
            return f"Say for how much: buy train {buy.train} from {buy.source} for AMOUNT (§21)."
        if fixed and price not in fixed:
            return f"The {buy.source} has another president: its {buy.train} costs ${fixed[0]} (§21)."
        if price < (least := min_price_between_companies(g, company, buy, trade)):
            return f"After what was sold at least ${least} has to be paid: no sale may be idle (§24.3)."
        turn = g.top
        if (
            trade.bank_only_after_sale
            and isinstance(turn, OperatingTurn)
            and turn.sold
            and president_contribution(g, company)
        ):
            return "After a sale of its president's the train is the bank's (§24.3)."
    helped = (
        must_buy_train(g, company) if trade.president_always_helps else president_contribution(g, company) > 0
    )
    if buy.source not in BANK_SOURCES and not trade.president_helps_between_companies:
        helped = False
    return _refuse_money(g, company, buy, price, helped)


def _refuse_source(g: Game, company: str, buy: BuyTrain) -> str | None:
    if buy.train not in g.title.trains:
        return f"There is no {buy.train}-train."
    if buy.source == BANK:
        if buy.train not in trains_for_sale(g):
            now = " or ".join(trains_for_sale(g)) or "no train"
            return f"The bank sells {now} now (§21)."
        return None
    if is_obsolete(g, buy.train):
        return f"{buy.train}-trains are obsolete: they are neither bought nor sold (§21)."
    if buy.source == POOL:
        return (
            None if buy.train in g.state.pool_trains else f"There is no {buy.train}-train in the pool (§21)."
        )
    if buy.source not in g.state.companies or buy.train not in g.company(buy.source).trains:
        return f"The {buy.source} has no {buy.train}-train (§21)."
    if g.company(buy.source).president is None or MarketZone.LIQUIDATION in market_zones(g, buy.source):
        return f"The {buy.source} is in liquidation, and its trains are not sold (§21)."
    if buy.source == company:
        return f"The {company} cannot buy from itself."
    return "A train costs at least $1 (§21)." if buy.price is not None and buy.price < 1 else None


def _refuse_trade_in(g: Game, company: str, buy: BuyTrain) -> str | None:
    if buy.source in BANK_SOURCES and buy.price not in (None, face_price(g, buy)):
        return f"The price of a {buy.train} there is ${face_price(g, buy)} (§21)."
    if not buy.trading:
        return None
    if buy.source != BANK or buy.trading not in g.train_definition(buy.train).discounts:
        return f"A {buy.trading} cannot be traded in for a {buy.train} (§21)."
    if buy.trading not in g.company(company).trains:
        return f"The {company} has no {buy.trading}-train to trade in (§21)."
    return None


def _refuse_money(g: Game, company: str, buy: BuyTrain, price: int, helped: bool) -> str | None:
    cash = g.cash(company)
    if price <= cash:
        return None
    president = g.president(company)
    if not helped:
        return f"That costs ${price}, and the {company} has ${cash} (§17)."
    if buy.source in BANK_SOURCES and price > (cheapest_train_price(g) or 0):
        return f"With its president's money the {company} buys the cheapest train (§24)."
    if price > g.train_definition(buy.train).price:
        return "With its president's money a company pays no more than face value (§24.2)."
    if price > cash + g.cash(president):
        have = cash + g.cash(president)
        return f"That costs ${price}; the {company} and its president have ${have} (§24)."
    return None


def buy_train(g: Game, company: str, buy: BuyTrain) -> bool:
    """Pay for a train and take it, with all that the first of its type brings about (§21, §22).

    Says whether a phase has begun, which leaves discards to be asked for.
    """
    price = face_price(g, buy) if buy.price is None else buy.price
    president = g.president(company)
    if price > g.cash(company):
        g.pay(president, company, price - g.cash(company), CashReason.TRAIN_CONTRIBUTION)
    seller = BANK if buy.source in BANK_SOURCES else buy.source
    if buy.trading:
        g.emit(TrainMoved(buy.trading, company, POOL, TrainReason.TRADED_IN))
    g.pay(company, seller, price, CashReason.TRAIN, buy.train)
    g.emit(TrainMoved(buy.train, buy.source, company, TrainReason.BOUGHT))
    close_privates_on_purchase(g, company)
    return buy.source == BANK and start_phase(g, buy.train)


def close_privates_on_purchase(g: Game, company: str) -> None:
    """Close the privates that end with the first train of a company (§23.2)."""
    for private in g.components.privates:
        if private.closes_with_first_train_of == company and g.state.private_owners[private.sym] != CLOSED:
            g.emit(PrivateMoved(private.sym, CLOSED))


def start_phase(g: Game, train: str) -> bool:
    """What the first train of its type changes at once (§22), if it is the first; discards come next."""
    phases = g.components.phases
    at = next((i for i, p in enumerate(phases) if p.on == train), None)
    if at is None or at <= phases.index(g.phase):
        return False
    g.emit(PhaseStarted(phases[at].name))
    for facts in g.components.trains:
        if facts.rusts_on == train:
            g.emit(TrainsRusted(facts.name))
        elif facts.obsolete_on == train:
            g.emit(TrainsWithdrawn(facts.name))
            for _ in range(g.state.pool_trains.count(facts.name)):
                g.emit(TrainMoved(facts.name, POOL, CLOSED, TrainReason.OBSOLETE))
    base = g.state.stack[0]
    if phases[at].triggers_game_end and isinstance(base, OperatingRound | MergerRound):
        g.emit(EndTriggered(base.stock_round, base.number))
    for definition in g.components.privates:
        ability = definition.ability
        removed = isinstance(ability, CityTokenAbility) and ability.removed_on == train
        if removed and definition.sym in g.state.city_tokens:
            g.emit(CityTokenRemoved(definition.sym))
    if phases[at].closes_privates:
        for private, owner in g.state.private_owners.items():
            if owner != CLOSED:
                g.emit(PrivateMoved(private, CLOSED))
    return True


def ask_for_discards(g: Game, *, by_price: bool) -> None:
    """Ask every company above the train limit what it discards (§21).

    §21 does not say who discards first where several must: the printed order of the companies.
    """
    for company in reversed(g.operating_order() if by_price else list(g.state.companies)):
        for _ in range(len(g.company(company).trains) - g.phase.train_limit):
            g.push(Discard(company))


@dataclass(frozen=True)
class TrainStep:
    """Buy trains, any number; forced where the company must own one.

    `also`: whether something else may still be bought in this turn, so that it waits for `done`;
    None where that has a step of its own.
    `sells_all`: a bankrupt's shares are sold for him. `whole_certificates`: what is needed of a forced
    sale is reckoned by certificates, in any forced purchase: a president who holds nothing but his
    certificate may sell it, or half of it, where the money would not do without the whole of it.
    `at_first_price`: a share brings its price at the beginning of the sales. `loses_cash`: a bankrupt's
    cash goes to the bank. `blocks`: all that he sells of a company goes in one block. `limit_first`: who
    is over the certificate limit sells down to it before anything else.
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
            return f"The {turn.company} has a route and has to buy a train (§20.2)."
        return None

    def prompt(self, g: Game, turn: OperatingTurn) -> str:
        if short := president_contribution(g, turn.company):
            return f"to buy a train for the {turn.company}, whose president has to add ${short}"
        if must_buy_train(g, turn.company):
            return f"to buy a train for the {turn.company}"
        if next(self._purchases(g, turn.company, self.conventions), None):
            return f"to buy a train for the {turn.company}, or be done"
        if g.components.loans:
            return f"to take loans for a train for the {turn.company}, or be done"
        return f"to buy a private for the {turn.company}, or be done"

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        yield from self._purchases(g, turn.company, self.conventions)
        yield from self._forced_sales(g, turn)
        if self.refusal(g, turn, DeclareBankruptcy()) is None:
            yield Option(DeclareBankruptcy(), "Declare bankruptcy: the game ends")

    @cached_property
    def _conventions_for_prompt(self) -> TrainTradeConventions:
        """As the site asks: what a sale has made of prices comes up only when one is named."""
        return (
            replace(self.conventions, last_sale_needed=False)
            if self.conventions.last_sale_needed
            else self.conventions
        )

    def _purchases(self, g: Game, company: str, trade: TrainTradeConventions) -> Iterator[Option]:
        for train in trains_for_sale(g):
            for trading in (None, *sorted(set(g.company(company).trains))):
                buy = BuyTrain(train, trading=trading)
                if refuse_train_purchase(g, company, buy, trade) is None:
                    swap = f", trading in a {trading}" if trading else ""
                    yield Option(buy, f"Buy {train_label(train)} for ${face_price(g, buy)}{swap}")
        if len(g.company(company).trains) >= g.phase.train_limit:
            return  # by the list of objections nothing more is sold without a trade
        for train in sorted(set(g.state.pool_trains)):
            buy = BuyTrain(train, source=POOL)
            if refuse_train_purchase(g, company, buy, trade) is None:
                yield Option(buy, f"Buy {train_label(train)} from the pool for ${face_price(g, buy)}")
        for other, co in g.state.companies.items():
            for train in sorted(set(co.trains)):
                prices = self._price_range(g, company, BuyTrain(train, other), trade)
                if (
                    prices
                    and refuse_train_purchase(g, company, buy := BuyTrain(train, other, prices.start), trade)
                    is None
                ):
                    consent = (
                        ""
                        if co.president == g.president(company)
                        else f", if {g.state.name(g.president(other))} agrees"
                    )
                    yield Option(buy, f"Buy {train_label(train)} from the {other}{consent}", prices)

    def _refuse_purchase(self, g: Game, company: str, buy: BuyTrain) -> str | None:
        return refuse_train_purchase(g, company, buy, self.conventions)

    def _price_range(self, g: Game, company: str, buy: BuyTrain, trade: TrainTradeConventions) -> range:
        """What another company's train may cost this one."""
        least, most = (
            min_price_between_companies(g, company, buy, trade),
            self._max_price(g, company, buy.train),
        )
        return fixed_price_between_companies(g, company, buy, trade) or range(least, most + 1)

    def _max_price(self, g: Game, company: str, train: str) -> int:
        """Dollars at most for another company's train."""
        helped = min(g.train_definition(train).price, g.cash(company) + g.cash(g.president(company)))
        dearest = BuyTrain(train, next(c for c in g.state.companies if train in g.company(c).trains), helped)
        return max(g.cash(company), helped if self._refuse_purchase(g, company, dearest) is None else 0)

    def _forced_sales(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
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
        """Dollars that a share brings in a forced sale."""
        return turn.forced_sale_prices.get(company, g.price(company))

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        seat = g.president(turn.company)
        short = president_contribution(g, turn.company) - g.cash(seat)
        match action:
            case BuyTrain():
                return self._refuse_purchase(g, turn.company, action)
            case SellShares(company, count):
                if self.whole_certificates and must_buy_train(g, turn.company):
                    short = (cheapest_train_price(g) or 0) - g.cash(turn.company) - g.cash(seat)
                elif short <= 0:
                    return (
                        "Stock is sold in an operating round only to raise money for a forced purchase (§24)."
                    )
                if company in self._unsellable(turn):
                    return f"All that is sold of the {company} in a turn is sold in one block (§5.3.3)."
                over = (
                    counted_certificates(g, seat) - certificate_limit(g)
                    if self.certificate_limit_first
                    else 0
                )
                if over > 0 and not counts_toward_limit(g, company):
                    return f"Sell down to the limit of {certificate_limit(g)} certificates first (§24.3)."
                need = None if count <= over else short
                whole, price = self.whole_certificates, self._sale_price(g, turn, company)
                return refuse_forced_sale(
                    g, seat, turn.company, company, count, need, whole=whole, price=price
                )
        if short <= 0:
            return "Nobody is bankrupt who can pay (§24.6)."
        if not self.bankrupt_sells_all and next(self._forced_sales(g, turn), None):
            return "Sell first all that may be sold (§24.6)."
        if self.bankrupt_sells_all and liquidity(g, turn.company, self._unsellable(turn)) >= short:
            return "The money can be raised by selling (§24.6)."
        return None

    def _unsellable(self, turn: OperatingTurn) -> tuple[str, ...]:
        """Companies of which no more may be sold in this turn."""
        return turn.sold if self.one_block_per_company else ()

    def _buy(self, g: Game, company: str, action: BuyTrain) -> None:
        begun, turn = buy_train(g, company, action), g.top
        assert isinstance(turn, OperatingTurn)
        if begun and not (self.conventions.defers_discards and not self.is_blocking(g, turn)):
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
                struck = turn.forced_sale_prices
                if self.sells_at_first_price and not struck:
                    struck = {c: g.price(c) for c in g.state.market_order}
                price = struck.get(company, g.price(company))
                sold = (*turn.sold, company)
                g.replace_top(
                    msgspec.structs.replace(
                        turn, acted=True, forced_sale_prices=struck, sold=sold, last_sale_price=price
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
        """Nothing can be bought."""


def liquidity(g: Game, company: str, sold: tuple[str, ...] = ()) -> int:
    """Dollars that the president could raise by sales, each at the price before it (§24).

    `sold`: companies of which no more may be sold in this turn.
    """
    seat = g.president(company)
    total = 0
    for other in held_companies(g, seat):
        if other in sold:
            continue
        counts = [
            n
            for n in sellable_counts(g, seat, other)
            if refuse_forced_sale(g, seat, company, other, n, None) is None
        ]
        total += g.price(other) * max(counts, default=0)
    return total


def train_deal(trade: TrainTradeConventions) -> DealHandler:
    """How an offer to buy another president's train is judged and carried out on acceptance."""

    def refuse(g: Game, offer: Offer) -> str | None:
        turn = g.top
        if not isinstance(turn, OperatingTurn) or turn.company != offer.target:
            return f"A train is sold in the turn of the {offer.target} (§21)."
        if trade.only_in_train_step and is_step_past(g, turn, "trains"):
            return f"The {offer.target} is done with trains in this turn (§17)."
        assert isinstance(offer.deal, BuyTrain)
        return refuse_train_purchase(g, offer.target, offer.deal, trade)

    def take(g: Game, offer: Offer) -> None:
        assert isinstance(offer.deal, BuyTrain)
        buy_train(g, offer.target, offer.deal)

    return DealHandler(refuse, take)
