"""What differs on 18xx.games, in sentences, where it refuses a move that our table has played.

The second game of an export refuses by the site's conventions, but its sentences cite the rulebook. Here they
become sentences about the site.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

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
from engine.core.components import MarketZone
from engine.core.events import AnyEvent, CompanyClosed, PlayerBankrupt, PriceMoved, PrivateMoved
from engine.core.reasons import PriceReason
from engine.core.state import (
    Auction,
    CashCrisis,
    ConnectionRunTurn,
    MergerRound,
    OperatingTurn,
    State,
    StockTurn,
    WaterfallBidding,
)
from engine.finance.loans import in_zone
from engine.kernel import awaited_seats, game_of

_SENTENCES: tuple[tuple[type[Action], str, str], ...] = (
    (TradePrivate, "A private costs at least", "there a private costs at least $1."),
    (
        TradePrivate,
        "one purchase is made",
        "there a private takes the place of the turn's certificate, which was bought before.",
    ),
    (
        Par,
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
        BuyShares,
        "One certificate may be bought",
        "there a private takes the place of the turn's certificate, and was bought before.",
    ),
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
        return after_other_moves(difference)
    return f"there it is refused. {_CITATION.sub('', why)}"


def after_other_moves(difference: str) -> str:
    """A difference of the two positions as the reason why a move has no counterpart."""
    if difference.startswith("there "):
        return difference
    return f"the moves before it have another result there: {difference}"


def other_turn(action: Action, asked: str, company: str | None, several: bool) -> str:
    """What differs where the site asks somebody else (`asked`, perhaps for a company)."""
    if isinstance(action, TradePrivate):
        return "there only the buyer proposes to buy a private, in their own turn."
    who = f"{asked}, who acts for the {company}," if company and not several else asked
    return f"{who} {'are' if several else 'is'} asked first there."


def named_difference(ours: State, site: State, events: Sequence[AnyEvent]) -> str | None:
    """The rule that makes two positions differ, as a sentence that follows a colon; None if none is known.

    `events`: those of the last line of our game.
    """
    for rule in (
        _bank_broken_by_capital,
        _sold_in_the_next_round,
        _cash_of_a_bankrupt,
        _order_in_a_space,
        _price_of_a_connection_run,
        _private_ended_the_turn,
        _shares_of_a_bankrupt,
        _run_after_closing,
        _next_to_answer,
    ):
        if sentence := rule(ours, site, events):
            return sentence
    return None


def _bank_broken_by_capital(ours: State, site: State, events: Sequence[AnyEvent]) -> str | None:
    """1830 §11: what players pay before the operating round begins may still fill the bank."""
    if site.bank_broken and not ours.bank_broken and game_of(ours).title.flotation.in_next_operating_round:
        return "there the bank pays capital as soon as a company floats, and is broken if it cannot."
    return None


def _sold_in_the_next_round(ours: State, site: State, events: Sequence[AnyEvent]) -> str | None:
    """1817 §7, §7.1.1: what comes into liquidation in the round is sold in it."""
    top, base, g = ours.top, site.stack[0], game_of(site)
    due = base.in_liquidation if isinstance(base, MergerRound) else ()
    for company, our_company in ours.companies.items():
        is_up = isinstance(top, Auction) and top.kind == "sale" and top.item == company
        is_up_there = isinstance(site.top, Auction) and site.top.item == company
        if company in due or not in_zone(g, company, MarketZone.LIQUIDATION):
            continue
        if (is_up and not is_up_there) or our_company.cell is None:
            return (
                f"there the {company}, which came into liquidation in this merger round, is sold in the next."
            )
    return None


def _cash_of_a_bankrupt(ours: State, site: State, events: Sequence[AnyEvent]) -> str | None:
    """1817 §7.4: what a bankrupt player has left goes to the company whose interest is due."""
    bankrupt = any(isinstance(event, PlayerBankrupt) for event in events)
    if bankrupt and any(ours.cash[company] > site.cash[company] for company in ours.companies):
        return "there what a bankrupt player has left goes to the bank, not to the company in default."
    return None


def _order_in_a_space(ours: State, site: State, events: Sequence[AnyEvent]) -> str | None:
    """1870 §5.8.4: half a dividend puts the token to the bottom of its pile."""
    tops = ours.top, site.top
    half_moves = bool(game_of(ours).components.reissue_prices)  # half dividends are so in 1870 only
    if not half_moves or not all(isinstance(top, OperatingTurn) for top in tops):
        return None
    names = [top.company for top in tops if isinstance(top, OperatingTurn)]
    cells = [state.companies[name].cell for state in (ours, site) for name in names]
    if names[0] != names[1] and len(set(cells)) == 1:
        pile = "half a dividend does not put a token to the bottom of its pile"
        return f"there {pile}, so the {names[1]} comes before the {names[0]}."
    return None


def _price_of_a_connection_run(ours: State, site: State, events: Sequence[AnyEvent]) -> str | None:
    """1870 §11.4.2."""
    for event in events:
        if isinstance(event, PriceMoved) and event.reason == PriceReason.CONNECTION_RUN:
            cells = ours.companies[event.company].cell, site.companies[event.company].cell
            if cells[0] != cells[1]:
                return "there a connection run that is paid moves the price to the right, not up."
    return None


def _private_ended_the_turn(ours: State, site: State, events: Sequence[AnyEvent]) -> str | None:
    """1830 §23.1: a private is bought beside the turn's certificate."""
    stock_turns = isinstance(ours.top, StockTurn) and isinstance(site.top, StockTurn)
    dealt = any(isinstance(event, PrivateMoved) for event in events)
    if stock_turns and dealt and getattr(ours.top, "seat", None) != getattr(site.top, "seat", None):
        return "there a private takes the place of the turn's certificate, and the turn is over."
    return None


def _shares_of_a_bankrupt(ours: State, site: State, events: Sequence[AnyEvent]) -> str | None:
    """1830 §25, 1870 §13.1: a bankrupt player keeps the stock that may not be sold."""
    if ours.game_over and ours.game_over.bankrupt and site.game_over:
        return "there all shares of a bankrupt player are sold in the end, and prices fall."
    return None


def _run_after_closing(ours: State, site: State, events: Sequence[AnyEvent]) -> str | None:
    """1870 §11.2: connection runs follow the turn of the company that operates."""
    closed = any(isinstance(event, CompanyClosed) for event in events)
    if closed and isinstance(ours.top, ConnectionRunTurn) and not isinstance(site.top, ConnectionRunTurn):
        return "there no connection run follows the turn in which the operating company has closed."
    return None


def _next_to_answer(ours: State, site: State, events: Sequence[AnyEvent]) -> str | None:
    """1870 §5.7, 1817 §7.4: who bids next on a private, and who in need of money raises it first."""
    asked = [awaited_seats(game_of(state)) for state in (ours, site)]
    if asked[0] == asked[1] or not asked[1]:
        return None
    name = site.name(asked[1][0])
    if isinstance(ours.top, WaterfallBidding) and isinstance(site.top, WaterfallBidding):
        return f"there the lowest bidder on a private comes next, {name}."
    if isinstance(ours.top, CashCrisis) and isinstance(site.top, CashCrisis):
        return f"there {name} raises money first, of the players who need it."
    return None
