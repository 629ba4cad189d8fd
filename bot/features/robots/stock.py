"""Stock rounds: float what one starts, buy what will earn, sell before the fall, save for a train."""

from __future__ import annotations

from collections.abc import Sequence

from bot.features.robots.commitments import keeps_plan, missing_percent
from bot.features.robots.forecast import Forecast
from bot.features.robots.opening import private_worth, start_choices
from bot.features.robots.scored import OFFER_UNASKED, Scored
from bot.features.robots.starts import need_after, with_starts
from engine import IPO, POOL, Option, is_seat
from engine.core.actions import (
    BuyPrivateFromPool,
    BuyShares,
    ExchangePrivate,
    Par,
    Pass,
    RedeemShare,
    RedeemSharesForCompany,
    ReissueShares,
    SellShares,
    SellShort,
    StartCompany,
    TakeLoansForCompany,
    TradePrivate,
)
from engine.finance.loans import interest_due
from engine.finance.ownership import (
    certificate_room,
    counts_toward_limit,
    share_percent,
    share_price,
)

DUMPED = 0.25
"""How probably a president leaves a company that cannot pay its next train to the seat that holds most."""
MOST_DUMPED = 600
"""Dollars of such a train that are reckoned with at most."""
PASSED_ON = 0.7
"""Which part of such a train's price a president saves who leaves the company to another."""
PRESIDENCY = 150.0
"""Dollars that the presidency of a company is worth which is not short of a train."""
POOL_PRIVATE = 0.6
"""Which part of its worth to its first owner a private has that a company has put into the bank."""
SHORT_MARGIN = 0.35
"""Which part of the price a share sold short has to fall."""
SHORT_DEBT = 0.3
"""Which part of the price of shares that are sold short already speaks against another."""
RESERVED = 2.0
"""Dollars of worth that a dollar has which is kept for shares sold short."""
MOST_SHORT = -0.4
"""Part of a company of which a seat sells no more short."""
KEPT_PRIVATE = 0.6
"""Which part of its price a private is worth beside its income, where it can be exchanged."""
EXCHANGE_ROUNDS = 4
"""Operating rounds of its income that are reckoned with then."""
REDEEMED_SHARE = 40.0
"""Dollars to an owner of all shares of a share that a company with money to spare takes back."""
INTEREST_KEPT = 3
"""Rounds of interest that such a company keeps."""
UNWANTED = -25.0
"""Worth of what is never of use."""
MOST_OF_COMPANY = 0.6
"""Part of a company above which no more of it is bought for another share."""
SET_ASIDE = -1_000.0
"""Keeps what is set aside for a company that has been started from being spent."""


def stock_turn(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Everything that a player may do in a stock turn."""
    judged = [Scored(Pass(), 0.0, _why_pass(o, options))]
    for option in options:
        match option.action:
            case BuyShares():
                judged.append(_purchase(o, option.action))
            case SellShares():
                judged.append(_sale(o, option.action))
            case ExchangePrivate(private, source):
                judged.append(exchange(o, private, source))
            case BuyPrivateFromPool(private):
                gain = POOL_PRIVATE * private_worth(o, private) - o.g.private_definition(private).price
                judged.append(Scored(option.action, gain, f"the {private} pays an income"))
            case SellShort(company):
                judged.append(_short(o, company))
            case TakeLoansForCompany() | RedeemSharesForCompany() | RedeemShare() | ReissueShares():
                judged.append(_company_action(o, option.action))
            case TradePrivate():
                judged.append(Scored(option.action, OFFER_UNASKED, "a deal in privates seldom helps both"))
    auctions = [option for option in options if isinstance(option.action, StartCompany)]
    if auctions:
        judged += start_choices(o, auctions)
    judged = with_starts(o, judged, options)
    return [_keeping_plan(o, each) for each in _by_certificate(o, _swap_when_full(o, judged))]


def _by_certificate(o: Forecast, judged: list[Scored]) -> list[Scored]:
    """Over the certificate limit, rank sales by what each certificate costs of those that have to go."""
    over = -certificate_room(o.g, o.seat)
    if over <= 0:
        return judged
    return [
        each._replace(value=each.value / min(each.action.count, over))
        if isinstance(each.action, SellShares) and each.value < 0
        else each
        for each in judged
    ]


def _keeping_plan(o: Forecast, judged: Scored) -> Scored:
    """A move that spends what the seat has set aside is worth less than any that does not."""
    if keeps_plan(o.g, o.seat, judged.action):
        return judged
    value = min(judged.value, 0.0) + SET_ASIDE
    return judged._replace(value=value, bar=value - judged.worth)


def _why_pass(o: Forecast, options: Sequence[Option]) -> str:
    """Why to pass, by what could be done."""
    kinds = {type(option.action) for option in options}
    if kinds & {BuyShares, Par, StartCompany, BuyPrivateFromPool}:
        return "nothing on offer is worth its price"
    if SellShares in kinds:
        return "my shares are worth more than their price"
    return "there is nothing that I can buy"


def _purchase(o: Forecast, buy: BuyShares) -> Scored:
    g, company = o.g, buy.company
    co = g.company(company)
    cost = (share_price(g, company, buy.source) or 0) * buy.count
    own = co.president == o.seat
    gain = o.share_gain(company, cost / buy.count) * buy.count
    if own and not co.floated:
        return Scored(buy, o.weights.float_bonus + max(gain, 0), f"the {company} is mine to float")
    if not co.floated and missing_percent(g, company) > buy.count * share_percent(g, company):
        gain = 0.0  # whether others will float it is not known
    gain -= _added_dump_risk(o, company, buy.count * share_percent(g, company))
    gain -= need_after(o, cost)
    bar = -RESERVED * max(o.short_reserve() - (g.cash(o.seat) - cost), 0)
    price = cost // buy.count
    why = f"a share of the {company} brings about ${o.share_value(company):,.0f} for ${price:,}"
    return Scored(buy, gain + bar, why, bar)


def _sale(o: Forecast, sale: SellShares) -> Scored:
    """Sell what will fall; a presidency too, if its train would have to be paid by the president."""
    g, company, co = o.g, sale.company, o.g.company(sale.company)
    price, percent = g.price(company), sale.count * share_percent(g, company)
    loss = -o.share_gain(company, price) - o.weights.sale_margin * price
    worth = loss * sale.count
    reason = f"shares of the {company} will fall"
    if co.president == o.seat:
        heir = o.rivals(company) * 100 > co.shares[o.seat] - percent
        short = o.shortage(company) if g.components.must_own_train else 0
        if heir and short and not o.lasting(company, 1.0):
            worth += PASSED_ON * min(short, MOST_DUMPED)
            reason = f"the {company} needs ${short:,} for a train, and somebody else should pay it"
        elif heir:
            worth -= PRESIDENCY
    worth -= _added_dump_risk(o, company, -percent)
    return Scored(sale, worth, reason)


def _added_dump_risk(o: Forecast, company: str, percent: int) -> float:
    """What so many percent more of a company, or fewer below 0, may cost the seat because its president
    leaves the company to it."""
    held = o.g.percent_held(o.seat, company)
    return _dump_risk(o, company, held + percent) - _dump_risk(o, company, held)


def _dump_risk(o: Forecast, company: str, percent: int) -> float:
    """What the seat may have to pay for the next train of a company of which it holds so many percent."""
    g, co = o.g, o.g.company(company)
    if not co.floated:
        return 0.0
    rivals = [p for owner, p in co.shares.items() if is_seat(owner) and owner not in (o.seat, co.president)]
    is_heir = percent >= max(2 * share_percent(g, company), *rivals, 0)
    if co.president in (None, o.seat) or not is_heir or not g.components.must_own_train:
        return 0.0
    return 0.0 if o.lasting(company, 1.0) else DUMPED * min(o.shortage(company), MOST_DUMPED)


def _short(o: Forecast, company: str) -> Scored:
    """Sell short what is bound for liquidation."""
    price = o.g.price(company)
    gain = (1 - SHORT_MARGIN) * price - o.share_value(company)
    held = o.share_of(company)
    debts = sum(
        -p * o.g.price(c) / share_percent(o.g, c)
        for c, co in o.g.state.companies.items()
        if (p := co.shares.get(o.seat, 0)) < 0
    )
    if o.g.company(company).president == o.seat or o.rounds_left < 1 or held <= MOST_SHORT:
        gain = UNWANTED
    gain -= SHORT_DEBT * debts
    return Scored(SellShort(company), gain, f"shares of the {company} will be bought back for less")


def exchange(o: Forecast, private: str, source: str) -> Scored:
    """Exchange a private for its share: when it is worth more than the private's income."""
    ability = o.g.private_definition(private).ability
    company = getattr(ability, "company", None)
    action = ExchangePrivate(private, source)
    if company is None or o.g.company(company).cell is None:
        return Scored(action, UNWANTED, "the share has no price yet")
    value = o.share_value(company) if o.g.company(company).floated else o.g.price(company)
    income = o.g.private_definition(private).revenue * min(o.horizon, EXCHANGE_ROUNDS)
    keep = KEPT_PRIVATE * o.g.private_definition(private).price + income
    return Scored(action, value - keep, f"a share of the {company} is worth more than the {private}")


def _company_action(
    o: Forecast, action: TakeLoansForCompany | RedeemSharesForCompany | RedeemShare | ReissueShares
) -> Scored:
    """Use the turn for a company: buy shares back with money to spare, where it takes loans; nothing else."""
    g, company = o.g, action.company
    if isinstance(action, RedeemSharesForCompany):
        spare = g.cash(company) - o.train_fund(company) - INTEREST_KEPT * interest_due(g, company)
        can_pay = spare >= action.count * g.price(company)
        worth = REDEEMED_SHARE * o.share_of(company) * action.count if can_pay else UNWANTED
        return Scored(action, worth, f"the {company} has money to spare for its own shares")
    if isinstance(action, RedeemShare) and action.source is not None:
        return Scored(action, OFFER_UNASKED, f"{g.state.name(action.source)} will hardly sell")
    return Scored(action, UNWANTED, f"the {company} is well as it is")


def _swap_when_full(o: Forecast, judged: list[Scored]) -> list[Scored]:
    """At the certificate limit, or without money, sell the worst share if a better one can be bought then."""
    g = o.g
    if getattr(g.top, "bought", None):
        return judged
    room = certificate_room(g, o.seat)

    def sources(company: str) -> list[str]:
        return [POOL, IPO, *([company] if g.title.flotation.rest_to_treasury else [])]

    offers = [
        (o.share_gain(c, g.price(c)), c)
        for c in g.state.market_order
        if g.company(c).floated
        and o.share_of(c) < MOST_OF_COMPANY
        and any(g.percent_held(source, c) for source in sources(c))
    ]
    if not offers or any(isinstance(j.action, BuyShares | Par) and j.value > 0 for j in judged):
        return judged
    gain, target = max(offers)
    result = []
    for each in judged:
        if isinstance(each.action, SellShares) and each.action.company != target and each.action.count == 1:
            company = each.action.company
            useful = (room <= 0 and counts_toward_limit(g, company)) or g.cash(o.seat) < g.price(target)
            kept = o.share_gain(company, g.price(company))
            affordable = g.cash(o.seat) + g.price(company) >= g.price(target)
            better = gain - kept - o.weights.sale_margin * g.price(company)
            if useful and affordable and better > 0 and g.company(company).president != o.seat:
                reason = f"a share of the {target} is better than one of the {company}"
                each = each._replace(value=max(each.value, better), reason=reason)
        result.append(each)
    return result
