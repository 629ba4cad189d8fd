"""Privates: what one is worth, bids in the opening auctions, and companies started by auction."""

from __future__ import annotations

from collections.abc import Sequence

from bot.features.robots.forecast import Forecast
from bot.features.robots.places import place_value
from bot.features.robots.scored import Scored, of_kind, with_dollars
from engine import Game, Option, bids
from engine.core.actions import (
    Bid,
    BidNothing,
    BidUpTo,
    BuyPrivate,
    FloatCompany,
    Pass,
    RaiseBid,
    StartCompany,
)
from engine.core.components import MailContractAbility
from engine.core.state import Auction, CompanyStart, Waterfall
from engine.finance.ownership import share_percent

MOST_OF_PRESIDENT = 1.06
"""What a private with a president's certificate is worth at most, as a part of its face value: it binds the
money for floating its company, and closes with the company's first train."""
CONTESTED = 0.3
"""What is left of the gain of a bid where others have bid too: they will bid on."""
LEAST_CASH = 100
"""Dollars without which a player can do little in the first stock round."""
SHORT_DOLLAR = 0.8
"""Dollars of worth that each dollar costs that is lacking for floating a company."""
LEADS = -1_000.0
"""Keeps a seat from raising the bid that it leads with."""
INCOME_ROUNDS = 5.0
"""Operating rounds in which a private pays before it is sold or closes."""
TRACK_MONEY = 60
"""Dollars that a new company needs beside its train, for track and interest."""
START_MONEY = 20.0
"""Dollars beyond the price of its train that a company is started with: loans bring more."""
KEPT_PER_TRAIN = 0.6
"""What a new company keeps in cash of the price of its first train, where privates are paid in; a loan brings
the rest."""
RESALE = 0.35
"""What a company pays above the face value when it buys the private, as part of the face value."""


def private_worth(o: Forecast, private: str) -> float:
    """Dollars that a private is worth to a player: its income, its share, and its sale to a company."""
    g, definition = o.g, o.g.private_definition(private)
    if g.components.loans:
        mail = isinstance(definition.ability, MailContractAbility)
        return definition.price * (1.0 if mail else 0.95)
    worth = definition.price * 0.85 + definition.revenue * INCOME_ROUNDS * 0.8
    if (
        any(phase.companies_may_buy_privates for phase in g.components.phases)
        and definition.sellable_to_company
    ):
        worth += RESALE * definition.price
    closes = bool(definition.closes_with_first_train_of)
    if grant := definition.grants:
        par = max((p for p in g.components.par_prices), default=0)
        shares = grant.percent / share_percent(g, grant.company)
        worth += shares * par * (1.0 if grant.president else 0.75)
        if not definition.sellable_to_company or closes:
            worth -= 0.75 * definition.price
    most = MOST_OF_PRESIDENT if grant and grant.president and closes else o.weights.most_of_face
    return min(worth, most * definition.price)


def floating_reserve(o: Forecast, private: str | None = None) -> int:
    """Dollars to keep for the shares that float a company at a middling par price.

    Where the seat cannot float one alone, others will have to help, and a third of its wealth is kept.
    `private`: one that comes with shares of such a company.
    """
    g = o.g
    if g.components.loans:
        return 120
    expected = {*g.privates_of(o.seat), *_leading_bids(g, o.seat), *([private] if private else [])}
    grants = [g.private_definition(p).grants for p in sorted(expected)]
    percents = [c.float_percent for c in g.components.companies]
    need = min(percents)
    for grant in grants:
        if grant and grant.president:
            need = min(need, g.company_definition(grant.company).float_percent - grant.percent)
    pars, share = sorted(g.components.par_prices), share_percent(g, g.components.companies[0].sym)
    wealth = g.cash(o.seat) + sum(g.private_definition(p).price for p in g.privates_of(o.seat))
    left = wealth - (g.private_definition(private).price if private else 0)
    if max(need, 0) * pars[0] // share > left:
        return wealth // 3
    return min(max(need, 0) * pars[len(pars) // 2] // share, left)


def _leading_bids(g: Game, seat: str) -> list[str]:
    """Privates on which the seat has the highest bid."""
    return [p for p, on_it in bids(g.state).items() if on_it.get(seat, 0) == max(on_it.values(), default=1)]


def waterfall(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Buy or bid on a private up to its worth, and keep the money to float a company."""
    judged = [Scored(Pass(), 0.0, "others may raise the price of what is left")]
    for option in options:
        match option.action:
            case BuyPrivate(private):
                price = o.g.private_definition(private).price - getattr(o.g.top, "discount", 0)
                judged.append(_bid(o, private, price, option.action))
            case Bid(private, amount):
                judged.append(_bid(o, private, amount, option.action))
    return judged


def _bid(o: Forecast, private: str, price: int, action: Bid | BuyPrivate) -> Scored:
    gain, standing = private_worth(o, private) - price, bids(o.g.state)
    leads = private in _leading_bids(o.g, o.seat)
    is_contested = isinstance(o.g.top, Waterfall) and not set(standing.get(private, {})) <= {o.seat}
    if is_contested and gain > 0:
        gain *= CONTESTED
    committed = sum(b.get(o.seat, 0) for p, b in standing.items() if p != private)
    worth = gain - _float_trouble(o, private, committed, price)
    bar = LEADS * leads
    return Scored(action, worth + bar, f"the {private} is worth about ${private_worth(o, private):,.0f}", bar)


def _float_trouble(o: Forecast, private: str, committed: int, price: int) -> float:
    """Dollars of worth that paying the price costs where the money is wanted for floating a company."""

    def trouble(left: int) -> float:
        short = max(floating_reserve(o, private) - left, 0)
        return SHORT_DOLLAR * short + 0.5 * max(LEAST_CASH - left, 0)

    free = o.g.cash(o.seat) - committed
    return trouble(free - price) - trouble(free)


def bidding(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """The auction of one private between its bidders: raise by the least while it is worth it."""
    judged = [Scored(Pass(), 0.0, "it has become too dear")]
    return judged + [_bid(o, bid.private, bid.amount, bid) for bid in of_kind(options, Bid)]


def seed_money(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Put a private up with the least bid, the seed money paying part of it."""
    judged = [Scored(Pass(), 0.0, "the privates left are too dear")]
    for bid in of_kind(options, Bid):
        left = o.g.cash(o.seat) - bid.amount
        gain = private_worth(o, bid.private) - bid.amount - 2 - max(LEAST_CASH - left, 0)
        judged.append(Scored(bid, gain, f"the {bid.private} can be paid into a company at its face value"))
    return judged


def auction(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """An open auction: of a private, a president's certificate, or a company for sale."""
    frame = o.g.top
    assert isinstance(frame, Auction)
    limit, what = auction_limit(o, frame), f"the {frame.item}"
    too_dear = f"{what} has become too dear"
    judged = [Scored(Pass(), 0.0, too_dear), Scored(BidNothing(), 0.0, too_dear)]
    for option in options:
        if isinstance(option.action, Bid | RaiseBid):
            amount = option.action.amount
            judged.append(Scored(option.action, limit - amount, f"{what} is worth up to ${limit:,.0f}"))
        elif isinstance(option.action, BidUpTo) and (most := with_dollars(option, limit)):
            judged.append(
                Scored(most, (limit - option.action.amount) * 0.5, f"{what} is worth up to ${limit:,.0f}")
            )
    return judged


def auction_limit(o: Forecast, frame: Auction) -> float:
    """The most that the seat would pay in an auction."""
    g = o.g
    if frame.kind == "private":
        return min(private_worth(o, frame.item) - 2, g.cash(o.seat) - floating_reserve(o))
    if frame.kind == "certificate":
        if start_cash(o) < start_need(o):
            return 0.0
        privates = sum(g.private_definition(p).price for p in g.privates_of(o.seat))
        return min(0.9 * (start_cash(o) + privates), start_bid(o, frame.home_hex))
    return sale_worth(o, frame.item)


def start_cash(o: Forecast) -> float:
    """Dollars that the seat may put into a company: the rest of a bid is paid in privates."""
    return o.g.cash(o.seat) - o.short_reserve()


def start_need(o: Forecast) -> float:
    """Dollars in cash without which a new company could not buy its train, but with a loan."""
    train = o.next_train()
    value = o.g.components.loans.value if o.g.components.loans else 0
    return max((train.price if train else 400) + TRACK_MONEY - value, 0)


def start_bid(o: Forecast, hex: str) -> float:
    """Dollars to bid for a company that starts there: enough for its train, more for a good place."""
    train = o.next_train()
    price = train.price if train else 400
    return min(400.0, price + START_MONEY + 0.3 * max(place_value(o.g, hex) - 100, 0))


def sale_worth(o: Forecast, company: str) -> float:
    """What a company that is sold is worth to one of the seat's companies: its trains and cash."""
    g = o.g
    trains = sum(0.7 * o.train(t).price for t in g.company(company).trains if o.life(t) > 1.5)
    loans = g.company(company).loans * (g.components.loans.value if g.components.loans else 0)
    return trains + g.cash(company) - loans


def company_start(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """The size of a new company: the smallest that may sell shares.

    Privates are paid in while the company keeps enough for its train: each saves the seat its face value.
    """
    judged = [Scored(Pass(), 0.0, "the rest is paid in cash")]
    g, train = o.g, o.next_train()
    assert isinstance(g.top, CompanyStart)
    for start in of_kind(options, FloatCompany):
        face = sum(g.private_definition(p).price for p in start.privates)
        wanted = KEPT_PER_TRAIN * (train.price if train else 400)
        short = max(wanted - g.cash(g.top.company) + face, 0)
        worth = 300.0 + face - 0.6 * short + 6 * (start.size == 5)
        judged.append(Scored(start, worth, f"{start.size} shares bring the money it needs"))
    return judged


def start_choices(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Companies to start in an auction: one for each good place, with what it may cost."""
    by_home: dict[tuple[str, int], Option] = {}
    for option in options:
        if isinstance(option.action, StartCompany):
            by_home.setdefault((option.action.hex, option.action.node), option)
    homes = sorted(by_home, key=lambda home: -place_value(o.g, home[0]))[:4]
    judged = list[Scored]()
    privates = sum(o.g.private_definition(p).price for p in o.g.privates_of(o.seat))
    train = o.next_train()
    if start_cash(o) < start_need(o):
        return judged
    for home in homes:
        limit = min(start_bid(o, home[0]), start_cash(o) + privates)
        action = with_dollars(by_home[home], limit)
        if action is None or (train and limit + 200 < train.price):
            continue
        worth = 60 + 0.5 * place_value(o.g, home[0]) + 8 * o.horizon - 40 * len(o.own_companies())
        if o.rounds_left < 3:
            worth -= 200
        judged.append(Scored(action, worth, f"{home[0]} is a good home, and ${limit:,.0f} buys its train"))
    return judged
