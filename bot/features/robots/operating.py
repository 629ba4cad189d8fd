"""The rest of an operating turn: dividends, share issues, connections, and the tokens of privates."""

from __future__ import annotations

from collections.abc import Sequence

from bot.features.robots.forecast import Forecast
from bot.features.robots.scored import Scored
from engine import Option
from engine.core.actions import (
    Decline,
    IssueShares,
    KeepDestinationToken,
    Pass,
    PayDividend,
    PayHalfDividend,
    PlaceCattleToken,
    PlaceClosedPort,
    PlaceDestinationToken,
    PlaceOpenPort,
    PostponeConnectionRun,
    ProtectPrice,
    RedeemShares,
    RunTrains,
    StartConnectionRun,
    WithholdDividend,
)
from engine.core.state import OperatingTurn
from engine.finance.loans import interest_due
from engine.finance.ownership import share_percent


def run_step(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Run the best routes."""
    runs = [option.action for option in options if isinstance(option.action, RunTrains)]
    return [Scored(run, 100.0, "it is the best run") for run in runs]


def dividend_step(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Pay, unless the company will need the money for a train before it can earn it again."""
    turn = o.g.top
    assert isinstance(turn, OperatingTurn)
    company, revenue = turn.company, turn.revenue
    judged = []
    for option in options:
        if isinstance(option.action, PayDividend):
            part = round(o.share_of(company) * revenue)
            why = f"my shares bring ${part:,}" + (
                ", and the price rises" if _rises(o, company, revenue) else ""
            )
            judged.append(Scored(option.action, _dividend(o, company, revenue, 0), why))
        elif isinstance(option.action, PayHalfDividend):
            why = f"half keeps ${revenue // 2:,} for a train"
            judged.append(
                Scored(option.action, _dividend(o, company, revenue - revenue // 2, revenue // 2), why)
            )
        elif isinstance(option.action, WithholdDividend):
            needed, lay_cost = o.train_fund(company), o.lay_cost(company)
            why = f"the {company} {f'will need ${needed:,} for a train' if needed else 'can use the money'}"
            if o.g.cash(company) < lay_cost:
                why = f"the {company} needs ${lay_cost:,} for track"
            judged.append(Scored(option.action, _dividend(o, company, 0, revenue), why))
    return judged


def _dividend(o: Forecast, company: str, paid: int, kept: int) -> float:
    """Dollars to the seat: its part of what is paid, the price, and the use of what is kept."""
    g, price = o.g, o.g.price(company)
    shares = 100 * o.share_of(company) / share_percent(g, company)
    moves = _moves(o, company, paid, kept)
    change = (o.price_after(company, moves) - price) * 1.5 * (not o.debt(company))
    worth = o.share_of(company) * paid + shares * change + _use_of(o, company, kept)
    return worth - o.liquidation_loss(company, -kept, moves)


def _moves(o: Forecast, company: str, paid: int, kept: int) -> float:
    """By how many spaces a dividend moves the price, about; below zero to the left."""
    if not paid:
        return -1.0
    if o.g.components.loans:
        return min(paid // max(o.g.price(company), 1), 2)
    if o.dividend_terms.half_price_move != "right" and kept:
        return 0.2
    return float(o.dividend_terms.raises_price(o.g, company, paid))


def _rises(o: Forecast, company: str, paid: int) -> bool:
    """Whether a dividend that is paid whole raises the price."""
    return o.price_after(company, _moves(o, company, paid, 0)) > o.g.price(company)


def _use_of(o: Forecast, company: str, dollars: int) -> float:
    """What dollars kept in the treasury are worth to the seat."""
    g, cash, dollar = o.g, o.g.cash(company), o.weights.treasury_dollar
    part = max(o.share_of(company), 0.2)
    lives = [o.life(t) for t in g.company(company).trains]
    rounds = max(lives, default=0.0)
    short = o.shortage(company)
    owed = max(3 * interest_due(g, company) - cash, o.debt(company)) if g.components.loans else 0
    useful = min(dollars, max(short, owed))
    urgency = 1.15 if rounds < 1.2 else (0.9 if rounds < 2.2 else 0.6)
    if not g.components.must_own_train:
        urgency = max(urgency, 0.8)
    worth = useful * urgency
    if 0 < o.lay_cost(company) - cash <= dollars:
        worth += part * o.growth(company, g.company(company).trains) * max(o.horizon - 1, 0)
    rest = dollars - useful
    train = o.next_train()
    if train and rest and len(g.company(company).trains) < g.phase.train_limit and o.life(train.name) > 2:
        missing, life = train.price - cash, min(o.life(train.name), o.horizon)
        if 0 < missing <= 2 * rest:
            kept = [t for t in g.company(company).trains if o.life(t) > life * 0.6]
            earned = 0.7 * life * o.added_revenue(company, kept, train.name, life)
            gain = max(earned - dollar * train.price, 0) * min(rest / missing, 1)
            return worth + gain * part + max(rest - missing, 0) * dollar * part
    return worth + rest * dollar * part


def issue_step(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Issue shares where a train cannot be paid otherwise; redeem with money to spare."""
    company = getattr(o.g.top, "company", "")
    judged = [Scored(Pass(), 0.0, "the treasury has what it needs")]
    short, price = o.shortage(company), o.g.price(company)
    spare = o.g.cash(company) - o.train_fund(company)
    for option in options:
        if isinstance(option.action, IssueShares):
            count = option.action.count
            needed = -(-short // price) if short and price else 0
            worth = 0.6 * min(short, count * price) - 15 * count if count <= needed else -15.0 * count
            judged.append(Scored(option.action, worth, f"the {company} lacks ${short:,} for a train"))
        elif isinstance(option.action, RedeemShares):
            count = option.action.count
            worth = 8.0 * count if spare > 1.5 * count * price + 200 else -20.0 * count
            judged.append(Scored(option.action, worth, f"the {company} has money to spare"))
    return judged


def connection_turn(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Do a connection run at once, and take the destination token that doubles the city."""
    judged = []
    for option in options:
        match option.action:
            case StartConnectionRun():
                judged.append(Scored(option.action, 60.0, "the connection run pays at once"))
            case PostponeConnectionRun():
                judged.append(Scored(option.action, 0.0, "the run may be worth more later"))
            case PlaceDestinationToken():
                judged.append(Scored(option.action, 30.0, "the destination counts more with its token"))
            case KeepDestinationToken():
                judged.append(Scored(option.action, 5.0, "a token more is of use elsewhere"))
            case Pass():
                judged.append(Scored(option.action, 1.0, "there is nothing to do"))
    return judged


def city_tokens(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Cattle token and port: in the city that the company runs to."""
    company = getattr(o.g.top, "company", None)
    if company is None:
        return []
    reached = {hex for hex, _ in o.g.network.reachable(company).stops}
    judged = []
    for option in options:
        match option.action:
            case PlaceCattleToken(hex) | PlaceOpenPort(hex) | PlaceClosedPort(hex):
                worth = 20.0 if hex in reached else -10.0
                worth += isinstance(option.action, PlaceCattleToken | PlaceOpenPort)
                judged.append(Scored(option.action, worth, f"the {company} runs to {hex}"))
    return judged


def protection(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Protect a price where the shares are worth it."""
    judged = []
    for option in options:
        if isinstance(option.action, ProtectPrice):
            company = option.action.company
            gain = o.share_gain(company, o.g.price(company))
            judged.append(Scored(option.action, gain + 25, f"shares of the {company} are worth their price"))
        elif isinstance(option.action, Decline):
            judged.append(Scored(option.action, 0.0, "the shares are not worth it"))
    return judged
