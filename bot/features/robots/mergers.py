"""Merger rounds, crises and deals: convert for more capital, buy what helps, sell what is missed least."""

from __future__ import annotations

from collections.abc import Sequence

from bot.features.robots.forecast import Forecast
from bot.features.robots.places import place_value
from bot.features.robots.scored import BANKRUPTCY, OFFER_UNASKED, Scored, best
from engine import Game, Option, decision, game_of, options, play
from engine.core.actions import (
    Accept,
    BuyPostMergerShares,
    BuyTrain,
    ChooseBuyer,
    Convert,
    DeclareBankruptcy,
    Decline,
    Merge,
    OfferCompanyForSale,
    Pass,
    RemoveToken,
    RepayLoans,
    SellPostMergerShares,
    SellShares,
    TakeLoans,
    TradePrivate,
    WillAct,
)
from engine.core.state import Offer, PostMergerLoans, PostMergerTrade
from engine.finance.loans import interest_due
from engine.finance.ownership import share_percent
from engine.mergers.conversion import convert_company, next_size

UNWANTED = -10.0
"""Worth of a conversion that cannot help."""
KEPT = 0.9
"""Which part of its price a private is worth beside its income."""
KEPT_UNTIL_CLOSED = 0.5
"""The same where privates close in a later phase: what a company may still pay for it."""


def conversion_worth(o: Forecast, company: str) -> float:
    """What a conversion brings the seat, once all have traded as these judgements tell them to."""
    g = o.g
    if next_size(g, company) is None or o.rounds_left < 2:
        return UNWANTED
    converted = g.draft()
    convert_company(converted, company)
    state = converted.state
    while isinstance(state.top, PostMergerTrade | PostMergerLoans):
        seat = decision(state).acting[0]
        judgement = post_merger_trade if isinstance(state.top, PostMergerTrade) else loans_after_merger
        judged = judgement(Forecast(game_of(state), seat, o.weights), options(state, seat))
        state = play(state, seat, best(judged).action).state
    return _held(o, game_of(state), company) - _held(o, g, company)


def _held(o: Forecast, g: Game, company: str) -> float:
    """What the seat's cash and shares of the company will bring, less its debt, once a train is bought."""
    bought = g.draft()
    co, train, cash = bought.company(company), Forecast(g, o.seat).next_train(), g.cash(company)
    if train and train.price <= cash and len(co.trains) < g.phase.train_limit:
        co.trains.append(train.name)
        bought.state.cash[company] = cash - train.price
    after = Forecast(bought, o.seat, o.weights)
    shares = 100 * after.share_of(company) / share_percent(g, company)
    return g.cash(o.seat) + shares * after.share_value(company) - after.debt(company)


def merger_turn(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Convert, merge, or leave it."""
    company = getattr(o.g.top, "company", "")
    well = f"the {company} is well as it is" if company else "my companies are well as they are"
    judged = [Scored(Pass(), 0.0, well)]
    for option in options:
        match option.action:
            case Convert():
                why = f"new shares bring the {company} money"
                judged.append(Scored(option.action, conversion_worth(o, company), why))
            case Merge(other, survivor):
                judged.append(_merger(o, company, other, survivor))
            case OfferCompanyForSale(sold):
                judged.append(Scored(option.action, -30.0, f"the {sold} is worth more to me"))
            case WillAct():
                own = [c for c in o.own_companies() if (o.g.company(c).size or 10) < 10]
                wanted = max((conversion_worth(o, c) for c in own), default=-1.0)
                judged.append(Scored(option.action, wanted, "one of my companies should convert"))
    return judged


def _merger(o: Forecast, company: str, other: str, survivor: str | None) -> Scored:
    """Merge two companies of one's own where one has no train and the other has."""
    g = o.g
    merge = Merge(other, survivor)
    if g.company(other).president != o.seat:
        return Scored(merge, OFFER_UNASKED, f"the {other} has another president")
    lacks = bool(g.company(company).trains) != bool(g.company(other).trains)
    return Scored(merge, 15.0 if lacks else -15.0, f"the {other} has what the {company} lacks")


def post_merger_trade(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Buy shares of one's own company, whose treasury gets the money."""
    company = getattr(o.g.top, "company", "")
    g, price = o.g, o.g.price(getattr(o.g.top, "company", ""))
    judged = [Scored(Pass(), 0.0, "these are enough shares")]
    own = g.company(company).president == o.seat
    gain = o.share_gain(company, price) + (25 if own else -5)
    for option in options:
        if isinstance(option.action, BuyPostMergerShares):
            count = option.action.count
            worth = gain * count if count <= 1 else gain * count * 0.9
            judged.append(Scored(option.action, worth, f"the {company} gets the money, and earns with it"))
        elif isinstance(option.action, SellPostMergerShares):
            judged.append(Scored(option.action, -gain * option.action.count - 10, "the shares will fall"))
    return judged


def loans_after_merger(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Take loans only for what has to be paid; repay what one can."""
    company = getattr(o.g.top, "company", "")
    g = o.g
    owed = _owed(o, company)
    judged = [Scored(Pass(), 0.0, "the money suffices")]
    for option in options:
        if isinstance(option.action, TakeLoans):
            missing = owed - g.cash(company)
            value = g.components.loans.value if g.components.loans else 100
            needed = max(-(-missing // value), 0)
            worth = 100.0 - 10 * abs(option.action.count - needed) if needed else -10.0 * option.action.count
            judged.append(Scored(option.action, worth, "station tokens have to be paid"))
        elif isinstance(option.action, RepayLoans):
            judged.append(Scored(option.action, 3.0 * option.action.count, "loans cost interest"))
    return judged


def _owed(o: Forecast, company: str) -> int:
    """Dollars for the station tokens that a conversion brings, about."""
    g = o.g
    size = g.company(company).size
    if size is None:
        return 0
    sizes = g.components.company_sizes
    bought = sizes[size].stations_to_buy - (1 if size == 10 else 0)
    return max(bought, 0) * sizes[size].station_cost + interest_due(g, company)


def buyer_choice(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """The buyer that lacks a train most."""
    judged = []
    for option in options:
        if isinstance(option.action, ChooseBuyer):
            buyer = option.action.company
            worth = 50.0 * (not o.g.company(buyer).trains) + 0.1 * o.g.cash(buyer)
            judged.append(Scored(option.action, worth, f"the {buyer} can use it best"))
    return judged


def crisis(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Sell what is missed least, and no more than the debt."""
    judged = []
    for option in options:
        if isinstance(option.action, SellShares):
            company, count = option.action.company, option.action.count
            price = o.g.price(company)
            raised = price * count
            over = max(raised + o.g.cash(o.seat), 0)
            loss = o.share_gain(company, price) * count + 0.2 * over
            if o.g.company(company).president == o.seat:
                loss += 40
            judged.append(Scored(option.action, -loss, f"shares of the {company} are missed least"))
        elif isinstance(option.action, DeclareBankruptcy):
            judged.append(Scored(option.action, BANKRUPTCY, "there is no other way"))
    return judged


def excess_tokens(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Keep the tokens in the best places."""
    judged = []
    for option in options:
        if isinstance(option.action, RemoveToken):
            worth = -place_value(o.g, option.action.hex)
            judged.append(Scored(option.action, worth, f"the token in {option.action.hex} is missed least"))
    return judged


def deal(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Answer offers: accept only what is plainly good."""
    judged = []
    offers = {offer.number: offer for offer in o.g.state.offers}
    mine = [offer for offer in offers.values() if o.seat in (offer.recipient, offer.proposer)]
    for option in options:
        if isinstance(option.action, Accept | Decline) and mine:
            number = option.action.offer
            offer = offers.get(number, mine[0]) if number is not None else _addressed(o, mine, option)
            if isinstance(option.action, Accept):
                judged.append(Scored(option.action, deal_worth(o, offer), "the price is good for me"))
            elif offer.proposer == o.seat:
                judged.append(Scored(option.action, -5.0, "the offer may still be accepted"))
            else:
                judged.append(Scored(option.action, 0.5, _why_decline(o, offer)))
    return judged


def _addressed(o: Forecast, mine: list[Offer], option: Option) -> Offer:
    to_me = [offer for offer in mine if offer.recipient == o.seat]
    return to_me[0] if to_me else mine[0]


def deal_worth(o: Forecast, offer: Offer) -> float:
    """Dollars that an accepted offer brings to the seat."""
    g, price = o.g, offer.price
    match offer.deal:
        case TradePrivate(private):
            definition = g.private_definition(private)
            closes = any(phase.closes_privates for phase in g.components.phases)
            part = KEPT_UNTIL_CLOSED if closes else KEPT
            worth = part * definition.price + definition.revenue * min(o.horizon, 4)
            if offer.source == o.seat:
                return price - 1.25 * worth
            return 0.7 * worth - price if offer.target == o.seat else -10.0
        case BuyTrain(train):
            if g.company(offer.source).president != o.seat:
                return -10.0
            kept = list(g.company(offer.source).trains)
            kept.remove(train)
            loss = (o.revenue(offer.source) - o.revenue(offer.source, kept)) * min(o.life(train), o.horizon)
            danger = 2 * o.train(train).price + 200 if _sells_last_train(o, offer) else 0
            return 0.7 * price - loss - danger - 30
    return -10.0


def _sells_last_train(o: Forecast, offer: Offer) -> bool:
    """Whether an offer is for the last train of a company of the seat that will run more than once."""
    if not isinstance(offer.deal, BuyTrain) or o.g.company(offer.source).president != o.seat:
        return False
    kept = list(o.g.company(offer.source).trains)
    kept.remove(offer.deal.train)
    return not any(o.life(train) > 1.5 for train in kept)


def _why_decline(o: Forecast, offer: Offer) -> str:
    if isinstance(offer.deal, BuyTrain) and _sells_last_train(o, offer):
        return f"the {offer.source} would be left without a train"
    return "the price is not good enough"
