"""The rest of an operating turn: dividends, share issues, connections, and the tokens of privates."""

from __future__ import annotations

from collections.abc import Sequence

from bot.features.robots.forecast import Forecast
from bot.features.robots.scored import Scored, of_kind
from engine import Option
from engine.core.actions import (
    Action,
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
    RunTrains,
    StartConnectionRun,
    WithholdDividend,
)
from engine.core.state import OperatingTurn
from engine.finance.loans import interest_due
from engine.finance.ownership import share_percent


def run_step(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Run the best routes."""
    return [Scored(run, 100.0, "it is the best run") for run in of_kind(options, RunTrains)]


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
    g, cash = o.g, o.g.cash(company)
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
    return worth + (dollars - useful) * o.weights.treasury_dollar * part


def issue_step(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Issue shares where a train cannot be paid otherwise."""
    company = getattr(o.g.top, "company", "")
    judged = [Scored(Pass(), 0.0, "the treasury has what it needs")]
    short, price = o.shortage(company), o.g.price(company)
    for issue in of_kind(options, IssueShares):
        needed = -(-short // price) if short and price else 0
        worth = 0.6 * min(short, issue.count * price) * (issue.count <= needed) - 15.0 * issue.count
        judged.append(Scored(issue, worth, f"the {company} lacks ${short:,} for a train"))
    return judged


CONNECTION: dict[type[Action], tuple[float, str]] = {
    StartConnectionRun: (60.0, "the connection run pays at once"),
    PostponeConnectionRun: (0.0, "the run may be worth more later"),
    PlaceDestinationToken: (30.0, "the destination counts more with its token"),
    KeepDestinationToken: (5.0, "a token more is of use elsewhere"),
    Pass: (1.0, "there is nothing to do"),
}
"""Dollars of what may be done about a connection, and why."""


def connection_turn(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """Do a connection run at once, and take the destination token that doubles the city."""
    kinds = [(option.action, type(option.action)) for option in options]
    return [Scored(action, *CONNECTION[kind]) for action, kind in kinds if kind in CONNECTION]


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
    judged = [Scored(no, 0.0, "the shares are not worth it") for no in of_kind(options, Decline)]
    for protect in of_kind(options, ProtectPrice):
        gain = o.share_gain(protect.company, o.g.price(protect.company))
        judged.append(Scored(protect, gain + 25, f"shares of the {protect.company} are worth their price"))
    return judged
