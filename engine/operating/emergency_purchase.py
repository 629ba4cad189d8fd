"""Emergency purchases: a company that has to own a train buys one with its president's help (1830 §24, §25).

Theory of operation. A company with a route and without a train has to buy one (1830 §20.2). What it cannot
pay for the cheapest train in the bank or the pool, its president adds, and may sell shares for it: that
amount is `president_contribution`. The sales are judged against the cash that is still missing. Only who
cannot raise it is bankrupt. `EmergencyPurchase` is the part of the train step that begins where the company's
own money ends; the purchase itself is `train_purchase`'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.core.actions import Action, BuyTrain, DeclareBankruptcy, SellShares
from engine.core.events import CashMoved
from engine.core.reasons import CashReason
from engine.core.state import BANK, GameOver, OperatingTurn
from engine.finance.offers import lapse_offers
from engine.finance.ownership import (
    certificate_count,
    certificate_limit,
    counted_certificates,
    counts_toward_limit,
    next_president,
    percent_limit,
    president_share_percent,
    share_percent,
)
from engine.finance.share_sales import (
    held_companies,
    refuse_share_sale,
    sale_option,
    sell_shares,
    sellable_counts,
)
from engine.game import Game, cached
from engine.mechanics import Option
from engine.operating.fitting_sales import Block, fitting_sales, paying_sales
from engine.operating.run import has_route
from engine.operating.trains import BANK_SOURCES, cheapest_train_price


@cached
def must_buy_train(g: Game, company: str) -> bool:
    """Whether the company has a route but no train, and has to buy one (1830 §20.2)."""
    if not g.components.must_own_train:
        return False
    return not g.company(company).trains and cheapest_train_price(g) is not None and has_route(g, company)


def president_contribution(g: Game, company: str) -> int:
    """Dollars that the president has to add for the cheapest train; 0 if no purchase is forced (1830 §24)."""
    price = cheapest_train_price(g)
    if price is None or not must_buy_train(g, company):
        return 0
    return max(price - g.cash(company), 0)


@dataclass(frozen=True)
class EmergencyPurchase:
    """The rules of emergency purchases, and those in which titles and conventions differ.

    `president_always_helps`: the president may add money even if the company could pay for the cheapest
    train itself. `president_helps_between_companies`: the president may also add money for another company's
    train. `last_sale_needed`: after a forced sale another company's train has to cost so much that the last
    share sold was needed. `bank_only_after_sale`: after a forced sale the train has to come from the bank.

    `whole_certificates`: the need for a sale is counted in certificates: a president who holds only the
    president's certificate may sell all of it, or half, where less would not raise the money.
    `sells_at_first_price`: shares are sold at the prices from before the first sale.
    `certificate_limit_first`: a president above the certificate limit who has to sell shares first sells down
    to it, even if that brings too much money (1870 §10.6.2). `one_block_per_company`: the shares of a company
    are sold in one block. `limits_leftover`: all sales of a purchase together leave no more money than the
    lowest price of a share sold, and no sale is made after which the others cannot pay so (1870 §10.6.2).

    `bankrupt_sells_all`: a bankrupt president's shares are sold. `bankrupt_loses_cash`: their cash goes to
    the bank.
    """

    president_always_helps: bool = False
    president_helps_between_companies: bool = True
    last_sale_needed: bool = False
    bank_only_after_sale: bool = False
    whole_certificates: bool = False
    sells_at_first_price: bool = False
    certificate_limit_first: bool = False
    one_block_per_company: bool = False
    limits_leftover: bool = False
    bankrupt_sells_all: bool = False
    bankrupt_loses_cash: bool = True

    # -- the purchase ------------------------------------------------------------------

    def min_price_between_companies(self, g: Game, company: str, buy: BuyTrain) -> int:
        """The least price in dollars of another company's train; more than $1 only after a forced sale."""
        turn = g.top
        if not (self.last_sale_needed and isinstance(turn, OperatingTurn) and turn.last_sale_price):
            return 1
        if g.cash(company) >= g.train_definition(buy.train).price:
            return 1
        return max(g.cash(company) + g.cash(g.president(company)) - turn.last_sale_price + 1, 1)

    def refuse_source_after_sale(self, g: Game, company: str, buy: BuyTrain, price: int) -> str | None:
        """Why the train may not be bought from another company after a forced sale, or None."""
        if price < (least := self.min_price_between_companies(g, company, buy)):
            purpose = "every share sold has to be needed"
            return (
                f"After the forced sale the train costs ${least:,} or more: {purpose}{g.cite('1830 §24.3')}."
            )
        turn = g.top
        if (
            self.bank_only_after_sale
            and isinstance(turn, OperatingTurn)
            and turn.sold
            and president_contribution(g, company)
        ):
            return f"After a forced sale the {company} buys a train from the bank{g.cite('1830 §24.3')}."
        return None

    def refuse_price(self, g: Game, company: str, buy: BuyTrain, price: int) -> str | None:
        """Why the company, with its president if they may help, cannot pay that price, or None."""
        cash = g.cash(company)
        if price <= cash:
            return None
        if not self._president_helps(g, company, buy):
            return f"That costs ${price:,}, and the {company} has ${cash:,}{g.cite('1830 §17')}."
        if buy.source in BANK_SOURCES and price > (cheapest_train_price(g) or 0):
            only = f"With its president's money the {company} may buy only the cheapest train"
            return f"{only}{g.cite('1830 §24')}."
        if price > g.train_definition(buy.train).price:
            return f"With its president's money a company pays at most the face value{g.cite('1830 §24.2')}."
        total = cash + g.cash(g.president(company))
        if price > total:
            return (
                f"That costs ${price:,}; the {company} and its president have ${total:,}{g.cite('1830 §24')}."
            )
        return None

    def _president_helps(self, g: Game, company: str, buy: BuyTrain) -> bool:
        if buy.source not in BANK_SOURCES and not self.president_helps_between_companies:
            return False
        if self.president_always_helps:
            return must_buy_train(g, company)
        return president_contribution(g, company) > 0

    # -- the sales and the bankruptcy ----------------------------------------------------

    def options(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        """The sales of shares that the president may make, and the bankruptcy where none helps."""
        yield from self._sales(g, turn)
        if self.refusal(g, turn, DeclareBankruptcy()) is None:
            yield Option(DeclareBankruptcy(), "Declare bankruptcy: the game ends")

    def refusal(self, g: Game, turn: OperatingTurn, action: Action) -> str | None:
        """Why the president may not sell those shares, or is not bankrupt; or None."""
        if isinstance(action, SellShares):
            return self._refuse_sale(g, turn, action.company, action.count)
        seat = g.president(turn.company)
        short = president_contribution(g, turn.company) - g.cash(seat)
        if short <= 0:
            return f"{g.state.name(seat)} can pay, and is not bankrupt{g.cite('1830 §24.6')}."
        if not self.bankrupt_sells_all and next(self._sales(g, turn), None):
            return f"First sell all shares that may be sold{g.cite('1830 §24.6')}."
        if self.bankrupt_sells_all and self._liquidity(g, turn) >= short:
            return f"Shares can be sold for the money{g.cite('1830 §24.6')}."
        return None

    def apply(self, g: Game, turn: OperatingTurn, action: Action) -> None:
        """Sell shares, or end the game by the president's bankruptcy."""
        match action:
            case SellShares(company, count):
                prices = turn.forced_sale_prices
                if self.sells_at_first_price and not prices:
                    prices = {c: g.price(c) for c in g.state.market_order}
                price = prices.get(company, g.price(company))
                g.change_top(
                    turn,
                    acted=True,
                    forced_sale_prices=prices,
                    sold=(*turn.sold, company),
                    last_sale_price=price,
                    lowest_sale_price=self._lowest_price(g, turn, company, count),
                )
                sell_shares(g, g.president(turn.company), company, count, price)
            case DeclareBankruptcy():
                self._declare_bankruptcy(g, turn)

    def refuse_before_limit(self, g: Game, turn: OperatingTurn) -> str | None:
        """Why the president, who has sold shares, has to sell more before a train is bought, or None."""
        if not turn.sold or not (over := self._certificates_over_limit(g, turn)):
            return None
        seat = g.president(turn.company)
        if any(
            self._refuse_sale(g, turn, company, count) is None
            for company in held_companies(g, seat)
            for count in sellable_counts(g, seat, company)[:over]
        ):
            limit = f"{g.state.name(seat)} first sells down to {certificate_limit(g)} certificates"
            return f"{limit}{g.cite('1870 §10.6.2')}."
        return None

    def _sales(self, g: Game, turn: OperatingTurn) -> Iterator[Option]:
        if not president_contribution(g, turn.company) and not (
            self.whole_certificates and must_buy_train(g, turn.company)
        ):
            return
        seat = g.president(turn.company)
        for company in held_companies(g, seat):
            for count in sellable_counts(g, seat, company):
                if self._refuse_sale(g, turn, company, count) is None:
                    yield sale_option(g, company, count, self._sale_price(g, turn, company))

    def _sale_price(self, g: Game, turn: OperatingTurn, company: str) -> int:
        """Dollars that the president gets for one share in a forced sale."""
        return turn.forced_sale_prices.get(company, g.price(company))

    def _certificates_over_limit(self, g: Game, turn: OperatingTurn) -> int:
        """How many certificates above the limit a president holds who has to sell, or has sold, shares."""
        seat, missing = g.president(turn.company), president_contribution(g, turn.company)
        if not self.certificate_limit_first or not missing or not (turn.sold or missing > g.cash(seat)):
            return 0
        return max(counted_certificates(g, seat) - certificate_limit(g), 0)

    def _refuse_sale(self, g: Game, turn: OperatingTurn, company: str, count: int) -> str | None:
        """Why the president may not sell that many shares, or None."""
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
        why = refuse_forced_sale(g, seat, turn.company, company, count, need, whole=whole, price=price)
        return why or (
            self._refuse_dead_end(g, turn, company, count, short) if self.limits_leftover else None
        )

    def _lowest_price(self, g: Game, turn: OperatingTurn, company: str, count: int) -> int | None:
        """The lowest price of a share sold by choice in this purchase, once those are sold too."""
        forced = max(
            shares_over_limit(g, g.president(turn.company), company), self._certificates_over_limit(g, turn)
        )
        known, price = turn.lowest_sale_price, self._sale_price(g, turn, company)
        return known if count <= forced else price if known is None else min(known, price)

    def _refuse_dead_end(
        self, g: Game, turn: OperatingTurn, company: str, count: int, short: int
    ) -> str | None:
        """Why that sale spoils the purchase, or None: others would pay for the train, after it none do."""
        seat, over = g.president(turn.company), self._certificates_over_limit(g, turn)
        blocks = _blocks(g, seat, turn.company, self._unsellable(turn))
        left = [block for block in blocks if block.company != company]
        missing = short - self._sale_price(g, turn, company) * count
        lowest = self._lowest_price(g, turn, company, count)
        forced = over > 0 or count <= shares_over_limit(g, seat, company)
        sales = None if over else fitting_sales(blocks, short, turn.lowest_sale_price)
        if sales:
            if missing > 0:
                fits = fitting_sales(left, missing, lowest) is not None
            else:
                fits = forced or lowest is None or -missing <= lowest
        else:
            sales = paying_sales(blocks, short)
            fits = missing <= 0 or not sales or paying_sales(left, missing) is not None
        if fits or sales is None:
            return None
        others = ", then ".join(f"`sell {n} {c}`" for c, n in sales)
        return (
            f"In the end that would leave too much money, or too little for the train; "
            f"{others} would do{g.cite('1870 §10.6.2')}."
        )

    def _unsellable(self, turn: OperatingTurn) -> tuple[str, ...]:
        """Companies whose shares the president may not sell again in this turn."""
        return turn.sold if self.one_block_per_company else ()

    def _most_shares(self, g: Game, turn: OperatingTurn) -> Iterator[tuple[str, int]]:
        """By company the most shares that the president may still sell, whatever they bring."""
        for block in _blocks(g, g.president(turn.company), turn.company, self._unsellable(turn)):
            yield block.company, max(block.counts, default=0)

    def _liquidity(self, g: Game, turn: OperatingTurn) -> int:
        """Dollars that the president could raise by sales at the present prices (1830 §24)."""
        return sum(g.price(company) * count for company, count in self._most_shares(g, turn))

    def _declare_bankruptcy(self, g: Game, turn: OperatingTurn) -> None:
        """End the game by the bankruptcy of a president who cannot pay (1830 §24.6, §25)."""
        seat = g.president(turn.company)
        if self.bankrupt_sells_all:
            for company, count in self._most_shares(g, turn):
                if count:
                    sell_shares(g, seat, company, count)
        if self.bankrupt_loses_cash and g.cash(seat):
            g.emit(CashMoved(seat, BANK, g.cash(seat), CashReason.BANKRUPTCY))
        lapse_offers(g)
        g.push(GameOver(f"{g.state.name(seat)} is bankrupt.", seat))


@cached
def _blocks(g: Game, seat: str, buyer: str, sold: tuple[str, ...]) -> list[Block]:
    """What a player who has sold shares of those companies may sell to help the `buyer`."""
    return [
        Block(
            company,
            g.price(company),
            tuple(
                n
                for n in sellable_counts(g, seat, company)
                if refuse_forced_sale(g, seat, buyer, company, n, None) is None
            ),
            shares_over_limit(g, seat, company),
        )
        for company in held_companies(g, seat)
        if company not in sold
    ]


def refuse_forced_sale(
    g: Game,
    seat: str,
    buyer: str,
    company: str,
    count: int,
    short: int | None,
    *,
    whole: bool = False,
    price: int | None = None,
) -> str | None:
    """Why the president may not sell that many shares to help the `buyer`, or None.

    The usual rules of sales hold, the buyer's presidency must not change (1830 §24.3), and no more shares may
    be sold than the money needs. `short`: dollars still missing (None: any number may be sold). `whole`: what
    is needed is counted in certificates, so it is two shares for a president who holds only the president's
    certificate. `price`: dollars per share (None: the price now).
    """
    if count < 1:
        return "At least one share has to be sold."
    percent = count * share_percent(g, company)
    if why := refuse_share_sale(g, seat, company, percent):
        return why
    if company == buyer and next_president(g, company, losing=percent):
        return f"The sale must not change the presidency of the {buyer}{g.cite('1830 §24.3')}."
    spare = 1
    if whole and g.company(company).president == seat and certificate_count(g, seat, company) == 1:
        spare = president_share_percent(g, company) // share_percent(g, company)
    each = g.price(company) if price is None else price
    is_enough = short is not None and each * (count - spare) >= short
    if short is not None and is_enough and count > shares_over_limit(g, seat, company):
        why = f"Only ${short:,} is needed, and fewer shares bring that" if short > 0 else "No money is needed"
        return f"{why}{g.cite('1830 §24.3')}."
    return None


def shares_over_limit(g: Game, seat: str, company: str) -> int:
    """How many shares the player holds above the percent limit, in a title that lets them keep those: if they
    sell any, they sell at least so many (1870 §10.6.2)."""
    if g.title.must_sell_excess:
        return 0
    return max(g.percent_held(seat, company) - percent_limit(g, company), 0) // share_percent(g, company)
