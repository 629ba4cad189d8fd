"""What a line of our game means on the site: the actions that are played there, if any.

A purchase that needs consent is played when the other player accepts, since the site asks nobody. What our
notation says in one line, the site has as several actions: several loans or certificates, the size and the
privates of a new company, the removal of tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from engine.core.actions import (
    Accept,
    Action,
    Bid,
    BidNothing,
    BidUpTo,
    BuyPostMergerShares,
    BuyShares,
    BuyTrain,
    CancelStandingProtection,
    ChooseHome,
    ClosePort,
    Decline,
    FloatCompany,
    KeepTokens,
    Merge,
    Pass,
    PlaceClosedPort,
    PlaceOpenPort,
    RaiseBid,
    RedeemShare,
    RemoveToken,
    RepayLoans,
    SellShares,
    SetStandingProtection,
    StartConnectionRun,
    TakeLoans,
    TakeLoansForCompany,
    TradePrivate,
    WillAct,
)
from engine.core.events import AnyEvent, BidMade, FramePopped, OfferEnded, OfferMade, Passed
from engine.core.state import (
    POOL,
    Auction,
    CompanyStart,
    ExcessTokens,
    HomeToken,
    Offer,
    OperatingTurn,
    PriceProtection,
    SeedMoneySale,
    is_seat,
)
from engine.finance.ownership import share_percent
from engine.game import Game
from engine.game_text.history import HistoryLine
from engine.site_18xx.site_game import SiteGame

SILENT = (Decline, SetStandingProtection, CancelStandingProtection, StartConnectionRun, WillAct)
"""Lines of which the site has no action."""

SeatAction = tuple[str, Action]


def actions_on_site(before: Game, site: SiteGame, line: HistoryLine, action: Action) -> Iterator[SeatAction]:
    """The actions that a line is there, each with its seat; the next is asked for once the last was played.

    `action`: the line, read in our position `before` it.
    """
    seat = line.seat
    match action:
        case Bid() | RaiseBid() | BidUpTo() | BidNothing() | Pass() if isinstance(before.top, Auction):
            yield from _bids(site, line.events)
        case Decline() if isinstance(before.top, PriceProtection):
            yield seat, Pass()
        case ChooseHome() if not isinstance(site.top, HomeToken):
            return  # the site asks once the hex has a tile with several cities
        case Accept() | BuyTrain() | TradePrivate() | Merge() | RedeemShare():
            yield from _deal_line(before, site, line, action)
        case FloatCompany(size, privates):
            if isinstance(site.top, CompanyStart) and site.top.size is None:
                yield seat, FloatCompany(size)
            for private in privates:
                yield seat, FloatCompany(size, (private,))
        case KeepTokens(hexes):
            yield from _removals(site, seat, hexes)
        case _ if not isinstance(action, SILENT):
            for each in _single_actions(site, seat, action):
                yield seat, each


def _single_actions(site: SiteGame, seat: str, action: Action) -> list[Action]:
    """The action as the site has it, which counts one by one."""
    match action:
        case PlaceClosedPort(hex):
            return [PlaceOpenPort(hex), ClosePort()]
        case BuyShares(company, source, count):
            return [BuyShares(company, source)] * count
        case SellShares(company, count) if count > 1 and _sells_half(site.game, seat, company, count):
            return [SellShares(company, 1)] * count
        case (
            TakeLoans(count) | TakeLoansForCompany(_, count) | RepayLoans(count) | BuyPostMergerShares(count)
        ):
            return [msgspec.structs.replace(action, count=1)] * count
    return [action]


def _sells_half(g: Game, seat: str, company: str, count: int) -> bool:
    """Whether the sale ends with half a president's certificate while the bank is short of shares.

    Then the shares are sold one by one: the first ones close the short shares, and the half is sold by
    itself. In one sale the site would give back what was sold short.
    """
    co = g.company(company)
    if co.president != seat or not (g.percent_held(POOL, company) < 0 or co.covered_shorts):
        return False
    return g.percent_held(seat, company) == (count + 1) * share_percent(g, company)


def _removals(site: SiteGame, seat: str, hexes: tuple[str, ...]) -> Iterator[SeatAction]:
    """Remove the tokens in all other hexes one by one."""
    while isinstance(top := site.top, ExcessTokens):
        companies, tokens = (top.company, top.target), site.game.state.tokens
        surplus = [(h, n) for h in tokens if h not in hexes for n, owner in tokens[h] if owner in companies]
        if not surplus:
            break
        yield seat, RemoveToken(*surplus[0])


def _bids(site: SiteGame, events: Sequence[AnyEvent]) -> Iterator[SeatAction]:
    """The bids and passes of an auction, also those that follow from a limit set in advance."""
    for_private = isinstance(site.game.state.stack[0], SeedMoneySale)
    for event in events:
        match event:
            case BidMade(seat, private, amount):
                yield seat, Bid(private, amount) if for_private else RaiseBid(amount)
            case Passed(seat):
                yield seat, Pass()
            case FramePopped():
                return


def _deal_line(before: Game, site: SiteGame, line: HistoryLine, action: Action) -> Iterator[SeatAction]:
    """A purchase that both sides have agreed to; nothing is played for an offer."""
    seat, turn = line.seat, before.top
    if any(isinstance(event, OfferMade) for event in line.events):
        return
    match action:
        case Accept():
            ended = (e for e in line.events if isinstance(e, OfferEnded) and e.outcome == "accepted")
            number = next(ended).number
            yield _deal(site, next(offer for offer in before.state.offers if offer.number == number))
        case BuyTrain(_, source, price) if source in before.state.companies:
            assert isinstance(turn, OperatingTurn)
            yield _deal(site, Offer(0, seat, seat, action, source, turn.company, price or 0))
        case TradePrivate(private, amount):
            owner = before.state.private_owners[private]
            target = turn.company if isinstance(turn, OperatingTurn) else seat
            yield _deal(site, Offer(0, seat, seat, action, owner, target, amount))
        case _:
            yield seat, action


def _deal(site: SiteGame, offer: Offer) -> SeatAction:
    """A purchase that both sides have agreed to, as the buyer's action."""
    buyer = site.game.controller(offer.target)
    match offer.deal:
        case Merge():
            return offer.proposer, offer.deal
        case BuyTrain():
            return buyer, msgspec.structs.replace(offer.deal, price=offer.price)
        case TradePrivate(private):
            source = offer.source if is_seat(offer.target) else None
            return buyer, TradePrivate(private, offer.price, source)
        case _:
            return buyer, offer.deal
