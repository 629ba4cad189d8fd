"""Which kinds of decisions, and which things that happen seldom, there are at a table.

A title is looked at for what it is made of: the questions that are asked in it, the acts that its steps and
asides hear, what is printed. A row that needs something else cannot come up there, and is not shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from bot.simulation.action_kinds import CONSEQUENCES, WEIGHTS
from engine import TREASURY, title_of
from engine.core.actions import (
    ExchangePrivate,
    IssueShares,
    LayTile,
    PlaceCattleToken,
    PlaceDestinationToken,
    SetStandingProtection,
    StartConnectionRun,
    TradePrivate,
)
from engine.core.components import Components, MarketZone
from engine.core.state import (
    Auction,
    FreeToken,
    HomeToken,
    ParPriceChoice,
    PriceProtection,
    SeedMoneySale,
    Waterfall,
    WaterfallBidding,
)
from engine.finance.auctions import AuctionQuestion
from engine.mergers.merger_rounds import MergerRoundRules
from engine.operating.dividends import DividendStep
from engine.operating.revenue_claims import open_claim
from engine.operating.run import RunStep
from engine.operating.turn import OperatingTurnQuestion
from engine.private_companies.sales import OpenMarketPurchase, PrivateDeals
from engine.stock.treasury_shares import TreasuryShares
from engine.stock.turn import StockTurnQuestion
from engine.title import Title

OUT_OF_TURN = "beside"
"""Before an act: heard by an aside."""

REQUIREMENTS: tuple[tuple[set[object], set[str]], ...] = (
    (
        {Waterfall},
        {
            *("buy a private that is offered", "buy a private after price cuts", "bid on a later private"),
            *("income paid in the opening", "private's price cut"),
        },
    ),
    ({Waterfall, SeedMoneySale}, {"pass in the opening"}),
    ({WaterfallBidding, Auction}, {"raise in an auction", "leave an auction"}),
    ({ParPriceChoice}, {"par, after a private"}),
    ({"initial offering"}, {"par", "buy from the initial offering", "sold out, price rose"}),
    ({"brown zone"}, {"buy several at once", "buy again in the same turn"}),
    ({"treasury stock", "loans"}, {"buy from a treasury"}),
    ({(OUT_OF_TURN, ExchangePrivate)}, {"exchange a private"}),
    (
        {(OUT_OF_TURN, TradePrivate)},
        {
            *("buy a private for the company from its president", "ask a player for a private"),
            *("ask another player for a private for the company", "act beside the question"),
        },
    ),
    ({"sellers of privates"}, {"offer a private to a player"}),
    ({"privates"}, {"no private"}),
    ({(OUT_OF_TURN, LayTile)}, {"lay by the power of a private"}),
    ({FreeToken}, {"token by the power of a private", "no free token"}),
    ({HomeToken}, {"choose a home"}),
    ({"cities that become one"}, {"tokens moved with an upgrade"}),
    ({"poor runs"}, {"run worse than best"}),
    ({open_claim}, {"point out a better run", "let a run stand"}),
    ({"halves", "loans"}, {"pay half"}),
    ({"trade-in"}, {"buy a train with a trade-in"}),
    (
        {"forced purchases"},
        {
            *("buy a train with the president's money", "sell shares for a train"),
            *("sell a presidency for a train", "president's money spent"),
        },
    ),
    ({IssueShares}, {"issue shares", "redeem shares", "no issue"}),
    ({"bank"}, {"bank broken"}),
    ({PriceProtection}, {"protect a price", "do not protect"}),
    ({(OUT_OF_TURN, SetStandingProtection)}, {"leave an answer", "take back an answer"}),
    ({TreasuryShares}, {"redeem from the pool", "redeem from a player", "reissue"}),
    ({OpenMarketPurchase}, {"buy a private from the open market"}),
    ({(OUT_OF_TURN, PlaceCattleToken)}, {"place the token of a private", "close a port"}),
    ({StartConnectionRun}, {"connect", "wait with a connection", "ask for a connection"}),
    ({PlaceDestinationToken}, {"place a destination token", "keep a destination token"}),
    ({"closing"}, {"company closed"}),
    ({"polls"}, {"will act"}),
    ({"all bid at once"}, {"bid nothing"}),
    (
        {"loans"},
        {
            *("put up a private", "bid up to a secret limit", "start a company", "choose a size"),
            *("bid for a company", "sell short", "loan in the stock round", "redeem for a company"),
            *("loan", "loan for a train", "repay", "no repay", "no more loans", "sell in a cash crisis"),
            *("lay with a mine", "lay the tile of a private", "bridge", "no growth", "convert", "merge"),
            *("buy after growth", "sell after growth", "no more of a company", "offer for sale"),
            *("no offer for sale", "name the buyer", "remove a marker", "company in liquidation"),
            *("company without a president in liquidation", "companies merged", "company bought by another"),
            *("company bid for by several", "company out of play again", "player in a cash crisis"),
            *("player out of the game", "short sellers pay a dividend", "short position closed"),
            *("held by players, price rose", "station markers above the limit", "loan taken over"),
            *("train exported", "obsolete train gone"),
        },
    ),
)
"""What a title needs, be it one of several things, for which rows: a question's frame, an act, a mechanic,
or what `_printed` and `_chosen` call by a name."""


@cache
def possible_kinds(title: str, options: tuple[str, ...]) -> frozenset[str]:
    """The members of WEIGHTS and CONSEQUENCES that can come up under those options."""
    parts = set(_features(title_of(title, options)))
    absent = (names for needs, names in REQUIREMENTS if not needs & parts)
    return frozenset({*WEIGHTS, *CONSEQUENCES}.difference(*absent))


def _features(title: Title) -> Iterator[object]:
    yield from title.questions
    yield from _component_features(title.components)
    yield from _mechanic_features(title)
    for aside in title.out_of_turn:
        yield from ((OUT_OF_TURN, act) for act in aside.handles)
    for question in title.questions.values():
        if isinstance(question, OperatingTurnQuestion):
            for step in question.steps:
                yield step.name
                yield from step.handles


def _component_features(facts: Components) -> Iterator[str]:
    cells = [cell for row in facts.market.rows for cell in row if cell]
    if any(MarketZone.BROWN in cell.zones for cell in cells):
        yield "brown zone"
    if any(sum(node.kind == "city" for node in hex.nodes) > 1 for hex in facts.map.hexes.values()):
        yield "cities that become one"
    if any(train.discounts for train in facts.trains):
        yield "trade-in"
    if facts.must_own_train:
        yield "forced purchases"
    if facts.loans:
        yield "loans"
    if facts.bank is not None:
        yield "bank"


def _mechanic_features(title: Title) -> Iterator[object]:
    """What the mechanics of a title say about themselves."""
    if title.after_price_move:
        yield "closing"
    if any(isinstance(aside, PrivateDeals) and aside.seller_may_offer for aside in title.out_of_turn):
        yield "sellers of privates"
    for question in title.questions.values():
        match question:
            case StockTurnQuestion():
                yield "initial offering"
                yield from map(type, question.extra_actions)
                if TREASURY in question.sources:
                    yield "treasury stock"
            case MergerRoundRules() if question.polls:
                yield "polls"
            case AuctionQuestion() if question.bids_in_advance:
                yield "all bid at once"
            case OperatingTurnQuestion(steps):
                runs = [step for step in steps if isinstance(step, RunStep)]
                yield from (step.after_run for step in runs)
                if not all(step.best_only for step in runs):
                    yield "poor runs"
                if any(isinstance(step, DividendStep) and step.half_rounding for step in steps):
                    yield "halves"
