"""What differs on 18xx.games, in sentences, where it refuses a move that our table has played.

The second game of an export refuses by the site's conventions, but its sentences cite the rulebook. Here they
become sentences about the site.
"""

from __future__ import annotations

import re
from types import UnionType

from engine.core.actions import (
    Action,
    BuyPrivateFromPool,
    BuyShares,
    BuyTrain,
    DiscardTrain,
    LayTile,
    Merge,
    Par,
    Pass,
    PlaceBridge,
    PostponeConnectionRun,
    RepayLoans,
    RunTrains,
    TradePrivate,
)

_SENTENCES: tuple[tuple[type[Action] | UnionType, str, str], ...] = (
    (TradePrivate, "A private costs at least", "there a private costs at least $1."),
    (
        TradePrivate,
        "one purchase is made",
        "there a private takes the place of the turn's certificate, which was bought before.",
    ),
    (
        Par | BuyShares,
        "One certificate may be bought",
        "there a private takes the place of the turn's certificate, and was bought before.",
    ),
    (
        TradePrivate,
        "holds the share that came with",
        "there a private is not sold between players while a player holds the share that came with it.",
    ),
    (TradePrivate, "stays with its buyer", "there it is never sold, not even between players."),
    (
        TradePrivate,
        "not sold between players yet",
        "there players deal in privates with each other from phase 2 on.",
    ),
    (
        BuyTrain,
        "every share sold has to be needed",
        "there the last share sold in a forced purchase has to be needed for the price.",
    ),
    (BuyTrain, "After a forced sale", "there a train comes from the bank after a forced sale."),
    (
        RunTrains,
        "step of the turn is over",
        "there the run was passed over, because no route was there before a private laid its tile.",
    ),
    (BuyShares, "may be added in this turn", "there further certificates of a turn are of one company."),
    (BuyShares, "come from the pool", "there further certificates of a turn come from the pool."),
    (
        BuyPrivateFromPool,
        "",
        "there the privates of a closed company leave the game; it has no open market for them.",
    ),
    (PostponeConnectionRun, "", "there a connection run is made as soon as it is possible."),
    (Merge, "survives the merger", "there the company whose turn it is survives a merger."),
    (PlaceBridge, "has paid its interest", "there bridges are placed before the interest is paid."),
    (DiscardTrain, "above the train limit", "there the companies discard in a fixed order."),
    (RepayLoans, "First take loans", "there a buyer takes all loans before it repays any."),
    (LayTile, "at the beginning of the turn", "there the private lays its tile in the track step only."),
    (Pass, "has to buy a train", "there a train has to be bought: the last type never runs out."),
)
"""(type of our action, words of the refusal, sentence about the site)."""
_CITATION = re.compile(r" \(18\d\d[^()]*\)")


def refusal_on_site(action: Action, why: str, difference: str | None = None) -> str:
    """Why the site refuses the action, as a sentence that follows a colon.

    `why`: our engine's refusal; `difference`: what differs between the two positions, if anything does. Where
    no rule of the site is known to refuse the action, the reason is that difference.
    """
    for kind, words, sentence in _SENTENCES:
        if isinstance(action, kind) and words in why:
            return sentence
    if difference:
        return f"the moves before it have another result there: {difference}"
    return f"there it is refused. {_CITATION.sub('', why)}"


def other_turn(action: Action, asked: str, company: str | None, several: bool) -> str:
    """What differs where the site asks somebody else (`asked`, perhaps for a company)."""
    if isinstance(action, TradePrivate):
        return "there only the buyer proposes to buy a private, in their own turn."
    who = f"{asked}, who acts for the {company}," if company and not several else asked
    return f"{who} {'are' if several else 'is'} asked first there."
