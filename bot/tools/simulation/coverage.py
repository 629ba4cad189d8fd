"""Coverage: which kinds of decisions and which rare consequences are possible in a title.

The features of a title are its questions, the actions that its steps and out-of-turn actions handle, and its
components. A kind whose required features are missing cannot occur and is left out of the report.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from bot.tools.simulation.action_kinds import CONSEQUENCES, WEIGHTS
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
from engine.game import GameTitle
from engine.mergers.merger_rounds import MergerRoundRules
from engine.operating.dividends import DividendStep
from engine.operating.revenue_claims import open_claim
from engine.operating.run import RunStep
from engine.operating.turn import OperatingTurnQuestion
from engine.private_companies.sales import OpenMarketPurchase, PrivateDeals
from engine.stock.treasury_shares import TreasuryShares
from engine.stock.turn import StockTurnQuestion

OUT_OF_TURN = "out of turn"
"""Before an action: it is handled out of turn."""

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
            *("ask another player for a private for the company", "act out of turn"),
        },
    ),
    ({"offers by sellers"}, {"offer a private to a player"}),
    ({"privates"}, {"no private"}),
    ({(OUT_OF_TURN, LayTile)}, {"lay by the power of a private"}),
    ({FreeToken}, {"token by the power of a private", "no free token"}),
    ({HomeToken}, {"choose a home"}),
    ({"merging cities"}, {"tokens moved with an upgrade"}),
    ({"suboptimal runs"}, {"run worse than best"}),
    ({open_claim}, {"claim a better run", "accept a run"}),
    ({"half dividends", "loans"}, {"pay half"}),
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
    ({(OUT_OF_TURN, SetStandingProtection)}, {"set a standing order", "withdraw a standing order"}),
    ({TreasuryShares}, {"redeem from the pool", "redeem from a player", "reissue"}),
    ({OpenMarketPurchase}, {"buy a private from the open market"}),
    ({(OUT_OF_TURN, PlaceCattleToken)}, {"place the token of a private", "close a port"}),
    ({StartConnectionRun}, {"connect", "wait with a connection", "ask for a connection"}),
    ({PlaceDestinationToken}, {"place a destination token", "keep a destination token"}),
    ({"companies close"}, {"company closed"}),
    ({"polls"}, {"announce an action"}),
    ({"simultaneous bids"}, {"bid nothing"}),
    (
        {"loans"},
        {
            *("put a private up for auction", "bid up to a secret limit", "start a company", "choose a size"),
            *("bid for a company", "sell short", "loan in the stock round", "redeem for a company"),
            *("loan", "loan for a train", "repay", "no repay", "no more loans", "sell in a cash crisis"),
            *(
                "lay with a mine",
                "lay the tile of a private",
                "bridge",
                "no conversion or merger",
                "convert",
                "merge",
            ),
            *(
                "buy after a conversion or merger",
                "sell after a conversion or merger",
                "stop buying a company",
                "offer for sale",
            ),
            *("no offer for sale", "name the buyer", "remove a token", "company in liquidation"),
            *("company without a president in liquidation", "companies merged", "company bought by another"),
            *("company bid for by several", "company returned to the supply", "player in a cash crisis"),
            *("player out of the game", "short sellers pay a dividend", "short position closed"),
            *("held by players, price rose", "station tokens above the limit", "loan assumed"),
            *("train exported", "obsolete train gone"),
        },
    ),
)
"""Features, at least one of which a title needs for these kinds. A feature is the frame of a question, an
action, a mechanic, or a name from `_component_features` or `_mechanic_features`."""


@cache
def possible_kinds(title: str, options: tuple[str, ...]) -> frozenset[str]:
    """The members of WEIGHTS and CONSEQUENCES that can occur with these options."""
    features = set(_features(title_of(title, options)))
    impossible = (kinds for required, kinds in REQUIREMENTS if not required & features)
    return frozenset({*WEIGHTS, *CONSEQUENCES}.difference(*impossible))


def _features(title: GameTitle) -> Iterator[object]:
    yield from title.questions
    yield from _component_features(title.components)
    yield from _mechanic_features(title)
    for activity in title.out_of_turn:
        yield from ((OUT_OF_TURN, action) for action in activity.handles)
    for question in title.questions.values():
        if isinstance(question, OperatingTurnQuestion):
            for step in question.steps:
                yield step.name
                yield from step.handles


def _component_features(components: Components) -> Iterator[str]:
    cells = [cell for row in components.market.rows for cell in row if cell]
    if any(MarketZone.BROWN in cell.zones for cell in cells):
        yield "brown zone"
    if any(sum(node.kind == "city" for node in hex.nodes) > 1 for hex in components.map.hexes.values()):
        yield "merging cities"
    if any(train.discounts for train in components.trains):
        yield "trade-in"
    if components.must_own_train:
        yield "forced purchases"
    if components.loans:
        yield "loans"
    if components.bank is not None:
        yield "bank"


def _mechanic_features(title: GameTitle) -> Iterator[object]:
    """Features of the mechanics of a title."""
    if title.after_price_move:
        yield "companies close"
    if any(
        isinstance(activity, PrivateDeals) and activity.seller_may_offer for activity in title.out_of_turn
    ):
        yield "offers by sellers"
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
                yield "simultaneous bids"
            case OperatingTurnQuestion(steps):
                runs = [step for step in steps if isinstance(step, RunStep)]
                yield from (step.after_run for step in runs)
                if not all(step.best_only for step in runs):
                    yield "suboptimal runs"
                if any(isinstance(step, DividendStep) and step.half_rounding for step in steps):
                    yield "half dividends"
