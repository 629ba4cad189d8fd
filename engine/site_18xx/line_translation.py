"""What a line of our game means on the site: the actions that are played there, if any.

A purchase that needs consent is played when the other player accepts, since the site asks nobody. What our
notation says in one line, the site has as several actions: several loans or certificates, the size and the
privates of a new company, the removal of tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    DiscardTrain,
    FloatCompany,
    KeepTokens,
    Merge,
    Pass,
    PlaceClosedPort,
    PlaceOpenPort,
    ProtectPrice,
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
    PostMergerTrade,
    PriceProtection,
    SeedMoneySale,
    TakeoverLoans,
    is_seat,
)
from engine.finance.ownership import share_percent
from engine.game import Game
from engine.game_text.history import HistoryLine
from engine.site_18xx.two_games import TwoGames
from engine.title import SITE_CONVENTIONS

SILENT = (Decline, SetStandingProtection, CancelStandingProtection, StartConnectionRun, WillAct)
"""Lines of which the site has no action."""


class LineTranslation:
    """Plays lines of our game on the site. Every method may raise NoCounterpartError."""

    def __init__(self, games: TwoGames) -> None:
        self._games = games
        self._site = games.site

    def play(self, before: Game, line: HistoryLine, action: Action) -> None:
        """Play on the site what a line means there. `action`: the line, read in our position `before` it."""
        seat, top, site_top = line.seat, before.top, self._site.top
        match action:
            case Bid() | RaiseBid() | BidUpTo() | BidNothing() | Pass() if isinstance(top, Auction):
                self._play_bids(line.events)
            case Pass() if isinstance(top, PostMergerTrade):
                self._games.held.hold_trade_pass(top.company, seat)
            case Pass():
                self._games.play_pass(seat)
            case Decline() if isinstance(top, PriceProtection):
                self._games.play_pass(seat)
            case ProtectPrice() if not isinstance(site_top, PriceProtection):
                pass
            case ChooseHome() if not isinstance(site_top, HomeToken):
                pass
            case DiscardTrain():
                self._games.held.hold_discard(seat, action)
            case Accept() | BuyTrain() | TradePrivate() | Merge() | RedeemShare():
                self._play_deal_line(before, line, action)
            case FloatCompany(size, privates):
                self._float_company(seat, size, privates)
            case RepayLoans() if isinstance(site_top, TakeoverLoans) and site_top.stage == "loan":
                self._games.pass_for_next()
                self.play(before, line, action)
            case KeepTokens(hexes):
                self._keep_tokens(seat, hexes)
            case _ if not isinstance(action, SILENT):
                for each in self._single_actions(seat, action):
                    self._games.play_in_turn(seat, each)

    def _single_actions(self, seat: str, action: Action) -> list[Action]:
        """The action as the site has it, which counts one by one."""
        match action:
            case PlaceClosedPort(hex):
                return [PlaceOpenPort(hex), ClosePort()]
            case BuyShares(company, source, count):
                return [BuyShares(company, source)] * count
            case SellShares(company, count) if count > 1 and self._sells_half(seat, company, count):
                return [SellShares(company, 1)] * count
            case (
                TakeLoans(count)
                | TakeLoansForCompany(_, count)
                | RepayLoans(count)
                | BuyPostMergerShares(count)
            ):
                return [msgspec.structs.replace(action, count=1)] * count
        return [action]

    def _sells_half(self, seat: str, company: str, count: int) -> bool:
        """Whether the sale ends with half a president's certificate while the bank is short of shares.

        Then the shares are sold one by one: the first ones close the short shares, and the half is sold by
        itself. In one sale the site would give back what was sold short.
        """
        g, co = self._site.game, self._site.game.company(company)
        if co.president != seat or not (g.percent_held(POOL, company) < 0 or co.covered_shorts):
            return False
        return g.percent_held(seat, company) == (count + 1) * share_percent(g, company)

    def _keep_tokens(self, seat: str, hexes: tuple[str, ...]) -> None:
        """Remove the tokens in all other hexes one by one."""
        while isinstance(top := self._site.top, ExcessTokens):
            companies, tokens = (top.company, top.target), self._site.game.state.tokens
            surplus = [
                (h, n) for h in tokens if h not in hexes for n, owner in tokens[h] if owner in companies
            ]
            if not surplus:
                break
            self._games.play(seat, RemoveToken(*surplus[0]))

    def _float_company(self, seat: str, size: int, privates: tuple[str, ...]) -> None:
        """Play the size and each private by itself; then pass."""
        top = self._site.top
        if isinstance(top, CompanyStart) and top.size is None:
            self._games.play(seat, FloatCompany(size))
        for private in privates:
            self._games.play(seat, FloatCompany(size, (private,)))
        by_book = SITE_CONVENTIONS not in self._games.our_state.options
        if isinstance(self._site.top, CompanyStart) and by_book:
            self._games.play(seat, Pass())

    def _play_bids(self, events: Sequence[AnyEvent]) -> None:
        """Play the bids and passes of an auction, also those that follow from a limit set in advance."""
        for_private = isinstance(self._site.game.state.stack[0], SeedMoneySale)
        for event in events:
            match event:
                case BidMade(seat, private, amount):
                    self._games.pass_until(seat)
                    self._games.play(seat, Bid(private, amount) if for_private else RaiseBid(amount))
                case Passed(seat):
                    self._games.pass_until(seat)
                    self._games.play(seat, Pass())
                case FramePopped():
                    return

    # -- deals -------------------------------------------------------------------------

    def _play_deal_line(self, before: Game, line: HistoryLine, action: Action) -> None:
        """Play a purchase that both sides have agreed to; nothing is played for an offer."""
        seat, turn = line.seat, before.top
        if any(isinstance(event, OfferMade) for event in line.events):
            return
        match action:
            case Accept():
                ended = (e for e in line.events if isinstance(e, OfferEnded) and e.outcome == "accepted")
                number = next(ended).number
                self._play_deal(next(offer for offer in before.state.offers if offer.number == number))
            case BuyTrain(_, source, price) if source in before.state.companies:
                assert isinstance(turn, OperatingTurn)
                self._play_deal(Offer(0, seat, seat, action, source, turn.company, price or 0))
            case TradePrivate(private, amount):
                owner = before.state.private_owners[private]
                target = turn.company if isinstance(turn, OperatingTurn) else seat
                self._play_deal(Offer(0, seat, seat, action, owner, target, amount))
            case _:
                self._games.play_in_turn(seat, action)

    def _play_deal(self, offer: Offer) -> None:
        """Play a purchase that both sides have agreed to, as the buyer's action."""
        buyer = self._site.game.controller(offer.target)
        match offer.deal:
            case Merge():
                self._games.play_in_turn(offer.proposer, offer.deal)
            case BuyTrain():
                self._games.play_in_turn(buyer, msgspec.structs.replace(offer.deal, price=offer.price))
            case TradePrivate(private):
                source = offer.source if is_seat(offer.target) else None
                self._games.play_in_turn(buyer, TradePrivate(private, offer.price, source))
            case _:
                self._games.play_in_turn(buyer, offer.deal)
