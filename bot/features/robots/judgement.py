"""Which judgement answers which question: every frame that asks has one, and a fallback for the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.features.robots import mergers, opening, operating, par_prices, stock, track, trains
from bot.features.robots.forecast import Forecast
from bot.features.robots.scored import Scored
from engine import Option
from engine.core.actions import (
    Accept,
    Action,
    Decline,
    ExchangePrivate,
    Pass,
    PlaceCattleToken,
    PlaceClosedPort,
    PlaceOpenPort,
    StartConnectionRun,
    TradePrivate,
)
from engine.core.state import (
    AnyFrame,
    Auction,
    BuyerChoice,
    CashCrisis,
    CompanyStart,
    ConnectionRunTurn,
    Discard,
    ExcessTokens,
    FreeToken,
    HomeToken,
    MergerPoll,
    MergerTurn,
    OperatingTurn,
    ParPriceChoice,
    PostMergerLoans,
    PostMergerTrade,
    PriceProtection,
    SeedMoneySale,
    StockTurn,
    TakeoverLoans,
    Waterfall,
    WaterfallBidding,
)

Judgement = Callable[[Forecast, Sequence[Option]], list[Scored]]

BY_FRAME: dict[type[AnyFrame], Judgement] = {
    Waterfall: opening.waterfall,
    WaterfallBidding: opening.bidding,
    ParPriceChoice: par_prices.par_price,
    SeedMoneySale: opening.seed_money,
    Auction: opening.auction,
    CompanyStart: opening.company_start,
    StockTurn: stock.stock_turn,
    PriceProtection: operating.protection,
    ConnectionRunTurn: operating.connection_turn,
    FreeToken: track.token_step,
    HomeToken: track.home_choice,
    Discard: trains.discard,
    CashCrisis: mergers.crisis,
    MergerPoll: mergers.merger_turn,
    MergerTurn: mergers.merger_turn,
    PostMergerTrade: mergers.post_merger_trade,
    PostMergerLoans: mergers.loans_after_merger,
    TakeoverLoans: mergers.loans_after_merger,
    BuyerChoice: mergers.buyer_choice,
    ExcessTokens: mergers.excess_tokens,
}
BY_STEP: dict[str, Judgement] = {
    "track": track.track_step,
    "token": track.token_step,
    "run": operating.run_step,
    "dividend": operating.dividend_step,
    "trains": trains.train_step,
    "repay": trains.repay_step,
    "issue": operating.issue_step,
}
UNJUDGED = -5_000.0
"""Worth of an option that no judgement looks at."""


def judge(o: Forecast, options: Sequence[Option], trials: int = track.MAX_TRIALS) -> list[Scored]:
    """All options of the seat, best first; a legal answer whatever is asked."""
    top = o.g.top
    judged: list[Scored] = []
    if o.seat in o.g.title.questions[type(top)].asked(o.g, top):
        step = top.step if isinstance(top, OperatingTurn) else ""
        if step == "track":
            judged = track.track_step(o, options, trials)
        elif type(top) is OperatingTurn or step in ("run", "dividend"):
            judged = BY_STEP.get(step, _no_judgement)(o, options)
        else:
            judged = BY_FRAME.get(type(top), _no_judgement)(o, options)
    judged += _beside_the_question(o, options, {j.action for j in judged})
    return _ranked(options, judged)


def _no_judgement(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    return [
        Scored(option.action, 0.0, "nothing else is asked") for option in options if option.action == Pass()
    ]


def _beside_the_question(o: Forecast, options: Sequence[Option], known: set[Action]) -> list[Scored]:
    """Offers, exchanges, deals in privates, loans and tokens of privates."""
    judged: list[Scored] = []
    top = o.g.top
    for option in options:
        if option.action in known:
            continue
        match option.action:
            case ExchangePrivate(private, source):
                judged.append(stock.exchange(o, private, source))
            case TradePrivate() if isinstance(top, OperatingTurn) and top.step in ("track", "privates"):
                judged += trains.private_purchase(o, top.company, option)
            case StartConnectionRun():
                judged.append(Scored(option.action, *operating.CONNECTION[StartConnectionRun]))
    deals = [option for option in options if isinstance(option.action, Accept | Decline)]
    judged += mergers.deal(o, deals)
    tokens = (PlaceCattleToken, PlaceOpenPort, PlaceClosedPort)
    return judged + operating.city_tokens(
        o, [option for option in options if isinstance(option.action, tokens)]
    )


def _ranked(options: Sequence[Option], judged: list[Scored]) -> list[Scored]:
    """The judged actions that are on offer, best first, then all others in the order of the rules."""
    plain = {option.action for option in options if option.amounts is None}
    open_kinds = {type(option.action) for option in options if option.amounts is not None}
    seen: set[Action] = set()
    result = []
    for each in judged:
        if each.action not in seen and (each.action in plain or type(each.action) in open_kinds):
            seen.add(each.action)
            result.append(each)
    for option in options:
        if option.action not in seen and not (option.amounts is not None and result):
            worth = UNJUDGED * (option.action != Pass())
            result.append(Scored(option.action, worth, "no judgement has anything against it"))
            seen.add(option.action)
    return sorted(result, key=lambda each: -each.value)
