"""Which kinds of decisions, and which things that happen seldom, there are at a table.

A title is looked at for what it is made of: the questions that are asked in it, the acts that its steps and
asides hear, what is printed. A row that needs something else cannot come up there, and is not shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from bot.offline.kinds import CONSEQUENCES, WEIGHTS
from engine import TREASURY, title_of
from engine.actions import (
    ConnectRun,
    DealPrivate,
    Exchange,
    IssueShares,
    Lay,
    PlaceCattle,
    PlaceDestination,
    StandBy,
)
from engine.auctions import Auctions
from engine.facts import Facts
from engine.merging.rounds import MergerRounds
from engine.operating.claims import open_claim
from engine.operating.dividends import DividendStep
from engine.operating.run import RunStep
from engine.operating.turn import OperatingTurns
from engine.privates import OpenMarket, PrivateDeals
from engine.state import (
    Auction,
    Bidding,
    FreeToken,
    HomeToken,
    Pricing,
    Protection,
    Subsidy,
    Waterfall,
)
from engine.stock.treasury import Treasury
from engine.stock.turn import Trading
from engine.title import Title

BESIDE = "beside"
"""Before an act: heard by an aside."""

NEEDS: tuple[tuple[set[object], set[str]], ...] = (
    (
        {Waterfall},
        {
            *("buy a private that is offered", "buy a private after price cuts", "bid on a later private"),
            *("income paid in the opening", "private's price cut"),
        },
    ),
    ({Waterfall, Subsidy}, {"pass in the opening"}),
    ({Bidding, Auction}, {"raise in an auction", "leave an auction"}),
    ({Pricing}, {"par, after a private"}),
    ({"initial offering"}, {"par", "buy from the initial offering", "sold out, price rose"}),
    ({"brown zone"}, {"buy several at once", "buy again in the same turn"}),
    ({"treasury stock", "loans"}, {"buy from a treasury"}),
    ({(BESIDE, Exchange)}, {"exchange a private"}),
    (
        {(BESIDE, DealPrivate)},
        {
            *("buy a private for the company from its president", "ask a player for a private"),
            *("ask another player for a private for the company", "act beside the question"),
        },
    ),
    ({"sellers of privates"}, {"offer a private to a player"}),
    ({"privates"}, {"no private"}),
    ({(BESIDE, Lay)}, {"lay by the power of a private"}),
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
    ({Protection}, {"protect a price", "do not protect"}),
    ({(BESIDE, StandBy)}, {"leave an answer", "take back an answer"}),
    ({Treasury}, {"redeem from the pool", "redeem from a player", "reissue"}),
    ({OpenMarket}, {"buy a private from the open market"}),
    ({(BESIDE, PlaceCattle)}, {"place the token of a private", "close a port"}),
    ({ConnectRun}, {"connect", "wait with a connection", "ask for a connection"}),
    ({PlaceDestination}, {"place a destination token", "keep a destination token"}),
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
def rows(title: str, options: tuple[str, ...]) -> frozenset[str]:
    """The members of WEIGHTS and CONSEQUENCES that can come up under those options."""
    parts = set(_parts(title_of(title, options)))
    absent = (names for needs, names in NEEDS if not needs & parts)
    return frozenset({*WEIGHTS, *CONSEQUENCES}.difference(*absent))


def _parts(title: Title) -> Iterator[object]:
    yield from title.questions
    yield from _printed(title.facts)
    yield from _chosen(title)
    for aside in title.asides:
        yield from ((BESIDE, act) for act in aside.hears)
    for question in title.questions.values():
        if isinstance(question, OperatingTurns):
            for step in question.steps:
                yield step.name
                yield from step.hears


def _printed(facts: Facts) -> Iterator[str]:
    cells = [cell for row in facts.market.rows for cell in row if cell]
    if any("brown" in cell.zones for cell in cells):
        yield "brown zone"
    if any(sum(node.kind == "city" for node in hex.nodes) > 1 for hex in facts.map.hexes.values()):
        yield "cities that become one"
    if any(train.discounts for train in facts.trains):
        yield "trade-in"
    if facts.limits.get("must_own_train", 1):
        yield "forced purchases"
    if facts.loans:
        yield "loans"
    if facts.bank is not None:
        yield "bank"


def _chosen(title: Title) -> Iterator[object]:
    """What the mechanics of a title say about themselves."""
    if title.landed:
        yield "closing"
    if any(isinstance(aside, PrivateDeals) and aside.by_seller for aside in title.asides):
        yield "sellers of privates"
    for question in title.questions.values():
        match question:
            case Trading():
                yield "initial offering"
                yield from map(type, question.acts)
                if TREASURY in question.sources:
                    yield "treasury stock"
            case MergerRounds() if question.polls:
                yield "polls"
            case Auctions() if question.together:
                yield "all bid at once"
            case OperatingTurns(steps):
                runs = [step for step in steps if isinstance(step, RunStep)]
                yield from (step.after for step in runs)
                if not all(step.best_only for step in runs):
                    yield "poor runs"
                if any(isinstance(step, DividendStep) and step.half_to for step in steps):
                    yield "halves"
