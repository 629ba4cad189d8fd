"""Merger rounds, crises and deals: convert for more capital, buy what helps, sell what is missed least."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.features.robots.forecast import Forecast
from bot.features.robots.places import place_value
from bot.features.robots.scored import BANKRUPTCY, OFFER_UNASKED, Scored, best, of_kind
from bot.features.robots.trains import discard, forced_sale, lead
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
from engine.core.state import (
    AnyFrame,
    Discard,
    ExcessTokens,
    MergerTurn,
    Offer,
    PostMergerLoans,
    PostMergerTrade,
)
from engine.finance.loans import interest_due
from engine.finance.ownership import share_percent
from engine.mergers.conversion import current_merger_round, tokens_to_buy

UNWANTED = -10.0
"""Worth of a conversion that cannot help."""
SURE = 50.0
"""Dollars by which growth has to be better than none: what it brings is an estimate."""
ONE_LESS = 250.0
"""The same for a company with a train that is given up in a merger: its turn, its tiles, its room."""
KEPT = 0.9
"""Which part of its price a private is worth beside its income."""
KEPT_UNTIL_CLOSED = 0.5
"""The same where privates close in a later phase: what a company may still pay for it."""


def merger_turn(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Convert, merge, or leave it."""
    company = getattr(o.g.top, "company", "")
    well = f"the {company} is well as it is" if company else "my companies are well as they are"
    judged = [Scored(Pass(), 0.0, well)]
    for option in options:
        match option.action:
            case Convert() | Merge():
                judged.append(_growth(o, company, option.action))
            case OfferCompanyForSale(sold):
                judged.append(Scored(option.action, -30.0, f"the {sold} is worth more to me"))
            case WillAct():
                wanted = _best_growth(o) if getattr(o.g.top, "stage", "") == "convert" else UNWANTED
                judged.append(Scored(option.action, wanted, "one of my companies should grow"))
    return judged


def _best_growth(o: Forecast) -> float:
    """What the best conversion or merger of a company of the seat brings it, before any has its turn."""
    found = [UNWANTED]
    for company in o.own_companies():
        turn = o.g.draft()
        turn.replace_top(frame := MergerTurn(company, "convert"))
        at_turn = Forecast(turn, o.seat, o.weights)
        for option in turn.title.questions[MergerTurn].options(turn, frame, o.seat):
            if isinstance(option.action, Convert | Merge):
                found.append(_growth(at_turn, company, option.action).value)
    return max(found)


def _growth(o: Forecast, company: str, action: Convert | Merge) -> Scored:
    """What a conversion or a merger brings the seat over the others, once all have traded as these judgements
    tell them."""
    g, grown, least = o.g, [company], SURE
    why = f"new shares bring the {company} money"
    if isinstance(action, Merge):
        if g.company(action.company).president != o.seat:
            return Scored(action, OFFER_UNASKED, f"the {action.company} has another president")
        grown.append(action.company)
        least += ONE_LESS * all(g.company(each).trains for each in grown)
        why = f"the {company} and the {action.company} are worth more as one"
    if o.rounds_left < 2 or (isinstance(action, Merge) and action.survivor):
        return Scored(action, UNWANTED, why)  # the other company's turn is judged for that
    state = play(g.state, o.seat, action).state
    while isinstance(top := state.top, PostMergerTrade | PostMergerLoans | ExcessTokens | Discard):
        seat = decision(state).acting[0]
        judged = AFTERWARDS[type(top)](Forecast(game_of(state), seat, o.weights), options(state, seat))
        state = play(state, seat, best(judged).action).state
    before, after = _held(o, g, grown), _held(o, game_of(state), grown)
    gains = {seat: after[seat] - before[seat] for seat in before}
    return Scored(action, lead(o, gains) - least, why)


def _held(o: Forecast, g: Game, companies: Sequence[str]) -> dict[str, float]:
    """What the cash of each seat and its shares of companies will bring, less their debts, once trains are
    bought."""
    bought, train = g.draft(), Forecast(g, o.seat).next_train()
    for company in companies:
        co, cash = bought.company(company), g.cash(company)
        if train and train.price <= cash and len(co.trains) < g.phase.train_limit:
            co.trains.append(train.name)
            bought.state.cash[company] = cash - train.price
    after, held = Forecast(bought, o.seat, o.weights), {s: float(g.cash(s)) for s in g.state.active_seats}
    for company in companies:
        value, president = after.share_value(company), g.company(company).president
        for seat in held:
            held[seat] += 100 * after.share_of(company, seat) / share_percent(g, company) * value
        if president in held:
            held[president] -= after.debt(company)
    return held


def post_merger_trade(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Buy shares of one's own company, whose treasury gets the money."""
    g, company = o.g, getattr(o.g.top, "company", "")
    price = g.price(company)
    judged = [Scored(Pass(), 0.0, "these are enough shares")]
    own = g.company(company).president == o.seat
    gain = o.share_gain(company, price) + (25 if own else -5)
    for option in options:
        if isinstance(option.action, BuyPostMergerShares):
            worth = gain * option.action.count
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
    """Dollars that the company will owe for interest, and for the station tokens of a conversion."""
    g, size, owed = o.g, o.g.company(company).size, interest_due(o.g, company)
    if size and isinstance(g.top, PostMergerLoans) and current_merger_round(g).last_converted == company:
        owed += tokens_to_buy(g, company, size) * g.components.company_sizes[size].station_cost
    return owed


def buyer_choice(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """The buyer that lacks a train most."""
    judged = []
    for choice in of_kind(options, ChooseBuyer):
        worth = 50.0 * (not o.g.company(choice.company).trains) + 0.1 * o.g.cash(choice.company)
        judged.append(Scored(choice, worth, f"the {choice.company} can use it best"))
    return judged


def crisis(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Sell what is missed least."""
    judged = [forced_sale(o, sale) for sale in of_kind(options, SellShares)]
    ruin = of_kind(options, DeclareBankruptcy)
    return judged + [Scored(last, BANKRUPTCY, "there is no other way") for last in ruin]


def excess_tokens(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Keep the tokens in the best places."""
    return [
        Scored(removed, -place_value(o.g, removed.hex), f"the token in {removed.hex} is missed least")
        for removed in of_kind(options, RemoveToken)
    ]


AFTERWARDS: dict[type[AnyFrame], Callable[[Forecast, Sequence[Option]], list[Scored]]] = {
    PostMergerTrade: post_merger_trade,
    PostMergerLoans: loans_after_merger,
    ExcessTokens: excess_tokens,
    Discard: discard,
}
"""What is asked after a conversion or a merger, and who judges it."""


def deal(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Answer offers: accept only what is plainly good."""
    judged = []
    offers: dict[int | None, Offer] = {offer.number: offer for offer in o.g.state.offers}
    mine = [offer for offer in offers.values() if o.seat in (offer.recipient, offer.proposer)]
    for option in options:
        if isinstance(option.action, Accept | Decline) and mine:
            offer = offers.get(option.action.offer, mine[0])
            if isinstance(option.action, Accept):
                judged.append(Scored(option.action, deal_worth(o, offer), "the price is good for me"))
            elif offer.proposer == o.seat:
                judged.append(Scored(option.action, -5.0, "the offer may still be accepted"))
            else:
                judged.append(Scored(option.action, 0.5, _why_decline(o, offer)))
    return judged


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
