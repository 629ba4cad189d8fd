"""Trains: which to buy, what to keep for the next rust, and the forced purchase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.features.robots.forecast import Forecast
from bot.features.robots.scored import BANKRUPTCY, OFFER_UNASKED, Scored, of_kind, with_dollars
from engine import BANK, Game, Option, is_seat
from engine.core.actions import (
    BuyTrain,
    DeclareBankruptcy,
    DiscardTrain,
    Pass,
    RepayLoans,
    SellShares,
    TakeLoans,
    TradePrivate,
)
from engine.core.components import MarketZone, train_label
from engine.core.state import OperatingTurn
from engine.finance import market
from engine.finance.loans import in_zone, loan_terms, loans_available
from engine.finance.ownership import share_percent
from engine.operating.emergency_purchase import must_buy_train
from engine.operating.trains import BANK_SOURCES, cheapest_train_price, face_price

IDLE = 0.1
"""What is left of the estimate of a train for each other train of a company that has no route yet."""


def train_step(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Buy what earns its price before it rusts; without trains the best that can be had."""
    turn = o.g.top
    assert isinstance(turn, OperatingTurn)
    company = turn.company
    forced = must_buy_train(o.g, company)
    judged: list[Scored] = []
    if not forced:
        judged.append(Scored(Pass(), 0.0, why_no_train(o, company, options)))
    for option in options:
        match option.action:
            case BuyTrain():
                judged += purchases(o, company, option)
            case SellShares():
                judged.append(forced_sale(o, option.action))
            case DeclareBankruptcy():
                judged.append(Scored(option.action, BANKRUPTCY, "there is no other way"))
            case TakeLoans():
                judged.append(loan_for_train(o, company, option.action))
    trains = [j for j in judged if isinstance(j.action, BuyTrain) and j.action.source in BANK_SOURCES]
    first = max(trains, key=lambda each: each.value, default=None)
    for option in options:
        if isinstance(option.action, TradePrivate):
            judged += private_purchase(o, company, option, first) if first else []
            judged += private_purchase(o, company, option)
    return judged


def why_no_train(o: Forecast, company: str, options: Sequence[Option]) -> str:
    """Why to buy no train, by those that could be bought."""
    if any(isinstance(each.action, BuyTrain) and each.action.source in BANK_SOURCES for each in options):
        return "no train on offer earns its price"
    if len(o.g.company(company).trains) >= o.g.phase.train_limit:
        return f"the {company} may have no more trains"
    return f"the {company} has no money for another train"


def purchases(o: Forecast, company: str, option: Option) -> list[Scored]:
    """A train on offer, at a sensible price where the price is open."""
    buy = option.action
    assert isinstance(buy, BuyTrain)
    g, cash = o.g, o.g.cash(company)
    if buy.source in BANK_SOURCES:
        return [_purchase(o, company, buy, face_price(g, buy))]
    if g.company(buy.source).president != o.seat:
        return [Scored(buy, OFFER_UNASKED, f"the {buy.source} will hardly sell")]
    result = []
    train = o.next_train()
    wanted = {1, _transfer_price(o, company, buy), train.price - g.cash(buy.source) if train else 1}
    for price in sorted({min(cash, max(each, 1)) for each in wanted}):
        deal = with_dollars(option, price)
        if isinstance(deal, BuyTrain) and deal.price is not None:
            result.append(_transfer(o, company, deal, deal.price))
    return result


def _worth(o: Forecast, company: str, train: str, traded_in: str | None = None) -> float:
    """Dollars that a train will earn for the company's owners, over those that it has."""
    trains = list(o.g.company(company).trains)
    if traded_in:
        trains.remove(traded_in)
    life = min(o.life(train), o.horizon + 1)
    lasting = [t for t in trains if o.life(t) > life * 0.6]
    now = o.revenue(company, [*trains, train]) - o.revenue(company)
    if o.revenue(company):
        later = o.added_revenue(company, lasting, train, life)
    else:
        # Where the trains that it has run nowhere, another one hardly will.
        estimate = o.first_route_revenue(train)
        later = max(o.added_revenue(company, lasting, train, 0), round(estimate * IDLE ** len(trains)))
    return max(life - 0.5, 0) * (0.5 * now + 0.5 * later) + 0.4 * min(life, 1) * now


def own_loss(o: Forecast, company: str, train: str) -> float:
    """Dollars that the seat loses, over the others, by the rust that this purchase brings nearer.

    What a rival has to pay for a train is won, as part of what the rivals have.
    """
    if o.purchases_until(train) or train in o.g.title.trains_introduced[o.g.state.phase]:
        return 0.0
    loss = 0.0
    others = max(len(o.g.state.active_seats) - 1, 1)
    for other in o.operating():
        trains = o.g.company(other).trains
        left = [t for t in trains if o.train(t).rusts_on != train]
        if len(left) == len(trains):
            continue
        lost = o.revenue(other) - o.revenue(other, left)
        loss += lost * lead_part(o, other) * 1.5
        president = o.g.company(other).president
        burden = max(o.train(train).price - o.g.cash(other), 0) * 0.8
        if not left and president == o.seat and other != company:
            loss += burden
        elif not left and president != o.seat and o.g.components.must_own_train:
            loss -= burden / others
    return loss


def lead_part(o: Forecast, company: str) -> float:
    """What the seat gains on the others with each dollar that the company pays."""
    return lead(o, {owner: p / 100 for owner, p in o.g.company(company).shares.items() if is_seat(owner)})


def lead(o: Forecast, gains: Mapping[str, float]) -> float:
    """What the seat gains on the others, on the average of these, by what each seat gains."""
    others = sum(gain for seat, gain in gains.items() if seat != o.seat)
    return gains.get(o.seat, 0.0) - others / max(len(o.g.state.active_seats) - 1, 1)


def _purchase(o: Forecast, company: str, buy: BuyTrain, price: int) -> Scored:
    g = o.g
    trains, cash = g.company(company).trains, g.cash(company)
    help_needed = max(price - cash, 0)
    worth = _worth(o, company, buy.train, buy.traded_in)
    cost = o.weights.treasury_dollar * min(price, cash) + help_needed / max(o.share_of(company), 0.3)
    lasting_after = [t for t in (*trains, buy.train) if o.is_lasting(t)]
    left = max(cash - price, 0)
    if left < o.lay_cost(company):  # it has to keep a revenue before it can build on
        cost += o.revenue_over(company, [*trains, buy.train], o.horizon)
    if not lasting_after and trains:
        cost += 0.8 * min(price, max(o.train_fund(company) - left, 0))
    gain = (worth - cost) * max(o.share_of(company), 0.2) - own_loss(o, company, buy.train)
    gain -= o.liquidation_loss(company, price)
    if not trains:
        gain += 150.0 if g.components.must_own_train else 400.0
    elif not o.lasting(company) and buy.train in lasting_after:
        gain += 80.0
    why = f"{train_label(buy.train)} will earn the {company} about ${worth:,.0f} for ${price:,}"
    if trains and not o.lasting(company) and buy.train in lasting_after:
        why = f"the trains of the {company} rust soon, and {why}"
    if help_needed:
        why = f"the {company} has to have a train, and {train_label(buy.train)} is what can be paid"
    return Scored(buy, gain, why)


def ruins(o: Forecast, company: str, cost: int, after: Game) -> bool:
    """Whether a lay or a token of that cost makes its president bankrupt. `after`: the position then.

    A company with a first route has to buy a train, and its president has to pay what it lacks.
    """
    price = cheapest_train_price(o.g)
    if price is None or not must_buy_train(after, company):
        return False
    return price > o.g.cash(company) - cost + _raisable(o)


def _raisable(o: Forecast) -> float:
    """Dollars that the seat could pay for a train, roughly."""
    return o.g.cash(o.seat) + o.sellable_worth()


def lost_train(o: Forecast, company: str, cost: int) -> float:
    """Dollars to the seat of the train that the company cannot buy in this turn once it has spent so much."""
    train, trains, cash = o.next_train(), o.g.company(company).trains, o.g.cash(company)
    is_helped = not trains and o.g.components.must_own_train
    left = cash - cost + (_raisable(o) if is_helped else 0)
    if train is None or not left < train.price <= cash or len(trains) >= o.g.phase.train_limit:
        return 0.0
    return max(_purchase(o, company, BuyTrain(train.name, BANK), train.price).value, 0.0)


def _transfer_price(o: Forecast, company: str, buy: BuyTrain) -> int:
    """What one company of the seat pays another: as much as the seller lacks and the buyer can spare."""
    spare = o.g.cash(company) - o.train_fund(company)
    return max(min(o.shortage(buy.source), spare), 1)


def _transfer(o: Forecast, company: str, buy: BuyTrain, price: int) -> Scored:
    """A train of another company of the seat: where it earns more, or saves a forced purchase."""
    g, seller = o.g, buy.source
    kept = list(g.company(seller).trains)
    kept.remove(buy.train)
    loss = o.life(buy.train) * (o.revenue(seller) - o.revenue(seller, kept)) * max(o.share_of(seller), 0.2)
    if not kept:
        missing = max(o.fund_for(()) - g.cash(seller) - price, 0)
        loss += 200 + missing * (1.0 if g.components.must_own_train else 1.5)
    loss += max(o.debt(seller, kept) - price, 0) - o.debt(seller)
    gain = _worth(o, company, buy.train) * max(o.share_of(company), 0.2) - loss
    gain += 0.1 * min(price, o.shortage(seller)) - 0.02 * price - o.liquidation_loss(company, price)
    return Scored(buy, gain - 10, f"the {buy.train}-train earns more for the {company} than for the {seller}")


def forced_sale(o: Forecast, sale: SellShares) -> Scored:
    """Sell for a train what will be missed least."""
    g, company = o.g, sale.company
    price = g.price(company)
    kept = g.percent_held(o.seat, company) - sale.count * share_percent(g, company)
    loss = max(o.share_gain(company, price), -0.5 * price) * sale.count
    if g.components.loans is None:
        after = g.title.cell(market.down(g, market.token_space(g, company), sale.count)).price
        loss += (price - after) * kept / share_percent(g, company)
    if g.company(company).president == o.seat and kept < 100 * o.rivals(company):
        loss += 100
    return Scored(sale, -20.0 - loss, f"shares of the {company} are missed least")


def private_purchase(o: Forecast, company: str, option: Option, before: Scored | None = None) -> list[Scored]:
    """Buy the president's private for the company, for as much as its trains leave.

    before: a train that is bought next, for which the money is left: it may close the private.
    """
    deal = option.action
    assert isinstance(deal, TradePrivate)
    g = o.g
    if deal.target is not None or g.state.private_owners[deal.private] != o.seat:
        return [Scored(deal, OFFER_UNASKED, "the owner will hardly sell")]
    if getattr(g.top, "company", None) != company:
        return []
    train = o.next_train()
    needed = o.train_fund(company)
    if not g.company(company).trains and train:
        needed = max(needed, train.price)
    if before and isinstance(before.action, BuyTrain):
        needed = max(needed, face_price(g, before.action))
    spare = g.cash(company) - needed - o.lay_cost(company)
    bought = with_dollars(option, spare)
    if not isinstance(bought, TradePrivate):
        return []
    definition = g.private_definition(deal.private)
    kept = definition.price * bool(g.components.privates_count_in_net_worth) * 0.5
    lost = kept + definition.revenue * (1 - o.share_of(company)) * min(o.horizon, 3)
    worth = o.weights.private_resale_dollar * bought.amount - lost
    worth += max(before.value, 0.0) if before and worth > 0 else 0.0
    return [Scored(bought, worth, f"the {company} has ${spare:,} to spare, and I can use them")]


def loan_for_train(o: Forecast, company: str, loan: TakeLoans) -> Scored:
    """Take just the loans that the next train costs."""
    g = o.g
    value, train = loan_terms(g).value, o.next_train()
    if train is None or in_zone(g, company, MarketZone.LIQUIDATION):
        return Scored(loan, -100.0, "there is no train to buy")
    trains = g.company(company).trains
    target = train if not trains or o.life(train.name) > 2 else (o.lasting_train() or train)
    missing = target.price - g.cash(company)
    needed = -(-missing // value)
    possible = o.prudent_loans(company) if trains else loans_available(g, company)
    left = g.cash(company) + needed * value - target.price
    if missing <= 0 or needed > possible or not o.pays_interest(company, left, needed):
        return Scored(loan, -30.0 * loan.count, "the money is not needed now")
    extra = abs(loan.count - needed)
    interest = g.state.interest_per_loan or 5
    gain = _worth(o, company, target.name) - needed * (interest * min(o.horizon, 4) + 12)
    gain *= max(o.share_of(company), 0.2)
    if not trains:
        gain = max(gain, 0) + 300
    elif len(o.lasting(company)) >= 1:
        gain -= 20
    why = f"the {company} needs ${missing:,} more for {train_label(target.name)}"
    return Scored(loan, gain - 40 * extra, why)


def repay_step(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Repay what is not needed for the next train."""
    company = getattr(o.g.top, "company", "")
    repayments = list(of_kind(options, RepayLoans))
    why = "the money is kept for a train" if repayments else f"the {company} needs no loan now"
    judged = [Scored(Pass(), 0.0, why)]
    next_train, has_room = o.next_train(), len(o.g.company(company).trains) < o.g.phase.train_limit
    for repayment in repayments:
        dollars = repayment.count * loan_terms(o.g).value
        left = o.g.cash(company) - dollars
        short = max(o.train_fund(company) - left, 0)
        wanted = max(next_train.price - left, 0) if next_train and has_room else 0
        worth = repayment.count * (12 + 1.5 * o.g.state.interest_per_loan) - 0.075 * wanted
        bar = min(dollars - short, 0.0)
        why = "loans cost interest and hold the price down"
        judged.append(Scored(repayment, worth - min(short, dollars) + bar, why, bar))
    return judged


def discard(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Discard the cheapest train: it rusts first, and runs to the fewest stops."""
    return [
        Scored(each, -o.train(each.train).price, f"the {each.train}-train is missed least")
        for each in of_kind(options, DiscardTrain)
    ]
