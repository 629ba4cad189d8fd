"""Kinds of decisions, and rare consequences of moves, which are counted over many games.

A kind says what is done, not where: a hundred tile lays are one kind. KINDS names all kinds, CONSEQUENCES
what nobody decides but what can happen in a game. The biases of a random player depend on the names of kinds,
so renaming a kind changes the random games.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine import (
    CLOSED,
    POOL,
    TREASURY,
    Action,
    AnyEvent,
    State,
    game_of,
    is_seat,
)
from engine.core import actions, events
from engine.core import state as frames
from engine.core.reasons import CashReason, PriceReason, TrainReason
from engine.finance.loans import loan_terms
from engine.finance.ownership import share_percent
from engine.operating.trains import cheapest_train_price

KINDS: dict[str, tuple[float, *tuple[type[Action], ...]]] = {
    "buy a private that is offered": (8,),
    "buy a private after price cuts": (5,),
    "bid on a later private": (5,),
    "raise in an auction": (4,),
    "leave an auction": (4,),
    "pass in the opening": (8,),
    "par, after a private": (5,),
    "par": (6,),
    "buy from the initial offering": (9,),
    "buy from the pool": (4,),
    "buy from a treasury": (12,),
    "buy several at once": (2,),
    "buy again in the same turn": (2,),
    "sell": (0.4,),
    "sell several": (0.4,),
    "sell a presidency": (0.5,),
    "done in the stock round": (14,),
    "exchange a private": (0.6, actions.ExchangePrivate),
    "buy a private for the company from its president": (2,),
    "ask another player for a private for the company": (1,),
    "offer a private to a player": (0.25,),
    "ask a player for a private": (0.3,),
    "accept": (3, actions.Accept),
    "decline": (1.5,),
    "withdraw an offer": (0.5,),
    "lay": (8,),
    "upgrade": (10,),
    "lay by the power of a private": (5,),
    "no track": (0.4,),
    "token": (4,),
    "token by the power of a private": (3,),
    "no token": (3,),
    "no free token": (3,),
    "choose a home": (1, actions.ChooseHome),
    "run best": (12,),
    "run worse than best": (0.6,),
    "claim a better run": (3,),
    "accept a run": (2,),
    "pay": (3, actions.PayDividend),
    "pay half": (3, actions.PayHalfDividend),
    "withhold": (5, actions.WithholdDividend),
    "buy a train": (9,),
    "buy a train from the pool": (4,),
    "buy a train with a trade-in": (4,),
    "buy a train of an own company": (0.8,),
    "ask another president for a train": (0.25,),
    "buy a train with the president's money": (8,),
    "sell shares for a train": (4,),
    "sell a presidency for a train": (4,),
    "no train": (2,),
    "stay without a train": (0.5,),
    "no private": (2,),
    "discard": (1, actions.DiscardTrain),
    "bankrupt": (1, actions.DeclareBankruptcy),
    "put a private up for auction": (8,),
    "bid up to a secret limit": (0.5, actions.BidUpTo),
    "bid nothing": (1, actions.BidNothing),
    "start a company": (12, actions.StartCompany),
    "choose a size": (1, actions.FloatCompany),
    "sell short": (1.5, actions.SellShort),
    "loan in the stock round": (1.2, actions.TakeLoansForCompany),
    "redeem for a company": (1.5, actions.RedeemSharesForCompany),
    "no repay": (3,),
    "no conversion or merger": (4,),
    "no offer for sale": (6,),
    "stop buying a company": (3,),
    "no more loans": (4,),
    "loan": (0.2,),
    "loan for a train": (4,),
    "repay": (9, actions.RepayLoans),
    "lay with a mine": (6, actions.LayMine),
    "lay the tile of a private": (3, actions.LayMill),
    "bridge": (2, actions.PlaceBridge),
    "announce an action": (3, actions.WillAct),
    "convert": (3, actions.Convert),
    "merge": (4, actions.Merge),
    "buy after a conversion or merger": (6, actions.BuyPostMergerShares),
    "sell after a conversion or merger": (0.5, actions.SellPostMergerShares),
    "offer for sale": (0.5, actions.OfferCompanyForSale),
    "bid for a company": (4, actions.RaiseBid),
    "name the buyer": (1, actions.ChooseBuyer),
    "remove a token": (1, actions.RemoveToken),
    "sell in a cash crisis": (4,),
    "protect a price": (3, actions.ProtectPrice),
    "do not protect": (2,),
    "set a standing order": (0.3, actions.SetStandingProtection),
    "withdraw a standing order": (0.3, actions.CancelStandingProtection),
    "redeem from the pool": (1.5,),
    "redeem from a player": (0.6,),
    "reissue": (2, actions.ReissueShares),
    "buy a private from the open market": (3, actions.BuyPrivateFromPool),
    "place the token of a private": (
        3,
        actions.PlaceCattleToken,
        actions.PlaceOpenPort,
        actions.PlaceClosedPort,
    ),
    "close a port": (0.3, actions.ClosePort),
    "connect": (4,),
    "wait with a connection": (2.5, actions.PostponeConnectionRun),
    "ask for a connection": (1,),
    "place a destination token": (3, actions.PlaceDestinationToken),
    "keep a destination token": (2.5, actions.KeepDestinationToken),
    "issue shares": (1, actions.IssueShares),
    "redeem shares": (1, actions.RedeemShares),
    "no issue": (3,),
}
"""Every kind of decision: its weight against the others that are possible, and the actions that are always of
this kind."""

WEIGHTS = {kind: weight for kind, (weight, *_) in KINDS.items()}
KIND_BY_ACTION = {action: kind for kind, (_, *of_kind) in KINDS.items() for action in of_kind}

CONSEQUENCES_BY_CAUSE: dict[object, tuple[str, ...]] = {
    CashReason.TRAIN_CONTRIBUTION: ("president's money spent",),
    PriceReason.SOLD_OUT: ("sold out, price rose",),
    PriceReason.MERGED: ("companies merged",),
    PriceReason.HELD_BY_PLAYERS: ("held by players, price rose",),
    PriceReason.LOAN_TAKEN_OVER: ("loan assumed",),
    PriceReason.NO_TRAIN: ("company in liquidation",),
    PriceReason.INTEREST_UNPAID: ("company in liquidation",),
    PriceReason.TOKENS_UNPAID: ("company in liquidation",),
    PriceReason.NO_PRESIDENT: ("company in liquidation", "company without a president in liquidation"),
    TrainReason.EXPORTED: ("train exported",),
    TrainReason.OBSOLETE: ("obsolete train gone",),
    frames.CashCrisis: ("player in a cash crisis",),
    frames.BuyerChoice: ("company bought by another",),
    frames.ExcessTokens: ("station tokens above the limit",),
    events.TokenMoved: ("tokens moved with an upgrade",),
    events.PhaseStarted: ("phase started",),
    events.TrainsRusted: ("trains rusted",),
    events.BankBroken: ("bank broken",),
    events.CompanyClosed: ("company closed",),
    events.CompanyReturned: ("company returned to the supply",),
    events.PlayerBankrupt: ("player out of the game",),
}
"""What follows from an event: by its type, its reason, and the frame that it opens."""

CONSEQUENCES = (
    "private's price cut",
    "income paid in the opening",
    "presidency changed",
    "offer lapsed",
    "private closed",
    "company bid for by several",
    "short sellers pay a dividend",
    "short position closed",
    "act out of turn",
    *dict.fromkeys(name for names in CONSEQUENCES_BY_CAUSE.values() for name in names),
)


def kind_of(state: State, seat: str, action: Action) -> str:
    """The kind of a decision of that seat: a key of KINDS."""
    match action:
        case actions.BuyPrivate():
            cut = isinstance(state.top, frames.Waterfall) and state.top.discount
            return "buy a private after price cuts" if cut else "buy a private that is offered"
        case actions.Bid() if isinstance(state.top, frames.SeedMoneySale):
            return "put a private up for auction"
        case actions.Bid():
            raises = isinstance(state.top, frames.Auction | frames.WaterfallBidding)
            return "raise in an auction" if raises else "bid on a later private"
        case actions.RedeemShare(_, source):
            return "redeem from a player" if source else "redeem from the pool"
        case actions.StartConnectionRun():
            return "connect" if isinstance(state.top, frames.ConnectionRunTurn) else "ask for a connection"
        case actions.Par():
            return "par, after a private" if isinstance(state.top, frames.ParPriceChoice) else "par"
        case actions.BuyShares(_, source, count):
            if isinstance(state.top, frames.StockTurn) and state.top.bought:
                return "buy again in the same turn"
            if count > 1:
                return "buy several at once"
            return {POOL: "buy from the pool", TREASURY: "buy from a treasury"}.get(
                source, "buy from the initial offering"
            )
        case actions.SellShares():
            return _kind_of_sale(state, seat, action)
        case actions.TradePrivate():
            return _kind_of_deal(state, seat, action)
        case actions.Decline() if isinstance(state.top, frames.PriceProtection):
            return "do not protect"
        case actions.Decline(offer):
            mine = [
                o for o in state.offers if seat in (o.recipient, o.proposer) and offer in (None, o.number)
            ]
            return "withdraw an offer" if mine and mine[0].proposer == seat else "decline"
        case actions.LayTile(_, hex, _, using):
            if using:
                return "lay by the power of a private"
            return "upgrade" if hex in state.tiles else "lay"
        case actions.PlaceToken():
            by_power = action.using or isinstance(state.top, frames.FreeToken)
            return "token by the power of a private" if by_power else "token"
        case actions.RunTrains():
            return "claim a better run" if isinstance(state.top, frames.RevenueClaim) else "run best"
        case actions.BuyTrain():
            return _kind_of_train(state, action)
        case actions.TakeLoans(count):
            return "loan for a train" if _pays_for_train(state, count) else "loan"
    return KIND_BY_ACTION.get(type(action)) or _kind_of_pass(state)


def _kind_of_pass(state: State) -> str:
    match state.top:
        case frames.Waterfall() | frames.SeedMoneySale():
            return "pass in the opening"
        case frames.WaterfallBidding() | frames.Auction():
            return "leave an auction"
        case frames.MergerTurn(_, stage) | frames.MergerPoll(stage):
            return "no offer for sale" if stage == "offer" else "no conversion or merger"
        case frames.PostMergerTrade():
            return "stop buying a company"
        case frames.PostMergerLoans() | frames.TakeoverLoans():
            return "no more loans"
        case frames.FreeToken():
            return "no free token"
        case frames.OperatingTurn(_, step):
            return "stay without a train" if _lacks_train(state) else f"no {step.removesuffix('s')}"
        case frames.RevenueClaim():
            return "accept a run"
    return "done in the stock round"


def _lacks_train(state: State) -> bool:
    """Whether it is the train step of a company without trains."""
    match state.top:
        case frames.OperatingTurn(company, "trains"):
            return not state.companies[company].trains
    return False


def _pays_for_train(state: State, loans: int) -> bool:
    """Whether a company without trains could buy one with so many loans, and not without them."""
    if not _lacks_train(state):
        return False
    g, turn = game_of(state), state.top
    assert isinstance(turn, frames.OperatingTurn)
    least, cash = cheapest_train_price(g), g.cash(turn.company)
    return least is not None and cash < least <= cash + loans * loan_terms(g).value


def _kind_of_sale(state: State, seat: str, sale: actions.SellShares) -> str:
    if isinstance(state.top, frames.CashCrisis):
        return "sell in a cash crisis"
    forced = isinstance(state.top, frames.OperatingTurn)
    company = state.companies[sale.company]
    left = company.shares[seat] - sale.count * share_percent(game_of(state), sale.company)
    others = (p for holder, p in company.shares.items() if is_seat(holder) and holder != seat)
    if company.president == seat and max(others, default=0) > left:
        return "sell a presidency for a train" if forced else "sell a presidency"
    if forced:
        return "sell shares for a train"
    return "sell several" if sale.count > 1 else "sell"


def _kind_of_deal(state: State, seat: str, deal: actions.TradePrivate) -> str:
    if deal.target is not None:
        return "offer a private to a player"
    owner = state.private_owners[deal.private]
    if isinstance(state.top, frames.OperatingTurn):
        if owner == seat:
            return "buy a private for the company from its president"
        return "ask another player for a private for the company"
    return "ask a player for a private"


def _kind_of_train(state: State, buy: actions.BuyTrain) -> str:
    assert isinstance(state.top, frames.OperatingTurn)
    company, g = state.top.company, game_of(state)
    if buy.traded_in:
        return "buy a train with a trade-in"
    if buy.source in state.companies:
        same = g.president(buy.source) == g.president(company)
        return "buy a train of an own company" if same else "ask another president for a train"
    if g.train_definition(buy.train).price > g.cash(company):
        return "buy a train with the president's money"
    return "buy a train from the pool" if buy.source == POOL else "buy a train"


def consequences(before: State, moved: Sequence[AnyEvent]) -> Iterator[str]:
    """The rare consequences of a move: members of CONSEQUENCES."""
    for event in moved:
        opened = type(event.frame) if isinstance(event, events.FramePushed) else None
        for cause in (type(event), getattr(event, "reason", None), opened):
            yield from CONSEQUENCES_BY_CAUSE.get(cause, ())
        match event:
            case events.CashMoved(reason=CashReason.PRIVATE_INCOME):
                if isinstance(before.stack[0], frames.Waterfall):
                    yield "income paid in the opening"
            case events.CashMoved(source, reason=CashReason.DIVIDEND) if is_seat(source):
                yield "short sellers pay a dividend"
            case events.PresidentNamed(company) if before.companies[company].president is not None:
                yield "presidency changed"
            case events.OfferEnded(_, "lapsed"):
                yield "offer lapsed"
            case events.PrivateMoved(_, owner) if owner == CLOSED:
                yield "private closed"
            case events.SharesMoved(company, target=seat) if (
                before.companies[company].shares.get(seat, 0) < 0
            ):
                yield "short position closed"
            case events.BidMade() if isinstance(before.top, frames.Auction) and before.top.kind == "sale":
                if before.top.high_bidder:
                    yield "company bid for by several"
