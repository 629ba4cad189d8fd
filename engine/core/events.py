"""Events: the only way in which a position changes.

An event is a small frozen fact with one `apply`. Rules emit events; loading a game applies stored events and
asks no rule. Some change nothing and exist to be narrated (`Passed`, `TrainsRan`). The names of these classes
and of their fields are stored with every move.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, Literal, Union

import msgspec

from engine.core.reasons import CashReason, LoanReason, PriceReason, TrainReason
from engine.core.state import BANK, CLOSED, IPO, ORPHANED, POOL, AnyFrame, CityToken, Offer, State

DividendKind = Literal["pay", "withhold", "half", "none"]
"""What becomes of the revenue of a run; `none`: there is none."""


class Event(msgspec.Struct, frozen=True, tag=True, gc=False):
    """Something that has happened.

    `moves_pieces`: whether anything but money, offers and questions changes: shares, tokens, trains, tiles,
    presidents, prices, phases. What is derived from these is cached until then (`engine.game.cached`).
    `changes_track`: whether the network of track may be another one afterwards.
    """

    moves_pieces: ClassVar[bool] = True
    changes_track: ClassVar[bool] = False

    def apply(self, state: State) -> None:
        """Change the state accordingly, in place."""


class EventWithoutPieces(Event, frozen=True):
    """An event that changes only money, offers, or what is asked."""

    moves_pieces: ClassVar[bool] = False


class TrackEvent(Event, frozen=True):
    """An event after which tracks, tokens or what may be run over are different."""

    changes_track: ClassVar[bool] = True


class CashMoved(EventWithoutPieces, frozen=True):
    """Dollars from one owner to another. The bank's may fall below zero once it is broken.

    `subject`: what the reason is about, a symbol, a hex or a type of train (`CashReason`).
    """

    source: str
    target: str
    amount: int
    reason: CashReason
    subject: str = ""

    def apply(self, state: State) -> None:
        state.cash[self.source] -= self.amount
        state.cash[self.target] += self.amount


class BankBroken(EventWithoutPieces, frozen=True):
    """The bank could not pay all that was due (1830 §25)."""

    def apply(self, state: State) -> None:
        state.bank_broken = True


class PrivateMoved(Event, frozen=True):
    """A private company has a new owner, or is closed."""

    private: str
    owner: str

    def apply(self, state: State) -> None:
        state.private_owners[self.private] = self.owner


class BidMade(EventWithoutPieces, frozen=True):
    """A seat bids dollars on a private or a company. They are set aside, not paid."""

    seat: str
    item: str
    amount: int


class AbilityUsed(Event, frozen=True):
    """The ability of a private was used, or lost."""

    private: str

    def apply(self, state: State) -> None:
        state.used_abilities.append(self.private)


class GrantedCertificateMoved(EventWithoutPieces, frozen=True):
    """The certificate that came with a private has another place, see `State.granted_certificates`."""

    private: str
    owner: str
    position: int

    def apply(self, state: State) -> None:
        state.granted_certificates[self.private] = (self.owner, self.position)


class ParSet(Event, frozen=True):
    """A company has its par price, and its token is on that cell of the market."""

    company: str
    par: int
    cell: tuple[int, int]

    def apply(self, state: State) -> None:
        company = state.companies[self.company]
        company.par, company.cell = self.par, self.cell
        state.market_order.append(self.company)


class PriceMoved(Event, frozen=True):
    """The token of a company came to another cell, below the tokens that are there."""

    company: str
    cell: tuple[int, int]
    reason: PriceReason

    def apply(self, state: State) -> None:
        state.companies[self.company].cell = self.cell
        state.market_order.remove(self.company)
        state.market_order.append(self.company)


class SharesMoved(Event, frozen=True):
    """Percent of a company from one owner to another. One who gives more than they have is short of it."""

    company: str
    source: str
    target: str
    percent: int

    def apply(self, state: State) -> None:
        shares = state.companies[self.company].shares
        for holder, change in ((self.source, -self.percent), (self.target, self.percent)):
            if held := shares.get(holder, 0) + change:
                shares[holder] = held
            else:
                shares.pop(holder, None)


class PresidentNamed(Event, frozen=True):
    """A seat holds the president's certificate."""

    company: str
    seat: str

    def apply(self, state: State) -> None:
        state.companies[self.company].president = self.seat


class CompanyFloated(Event, frozen=True):
    """Enough of a company is sold: it will operate."""

    company: str

    def apply(self, state: State) -> None:
        state.companies[self.company].floated = True


class CapitalAwaited(EventWithoutPieces, frozen=True):
    """The bank has still to issue a company's initial capital (1830 §11), or does so now."""

    company: str
    awaited: bool = True

    def apply(self, state: State) -> None:
        state.companies[self.company].awaits_capital = self.awaited


class SharesReissued(Event, frozen=True):
    """A company offers the shares that it has redeemed for sale again, at that par price (1870 §5.11)."""

    company: str
    par: int

    def apply(self, state: State) -> None:
        company = state.companies[self.company]
        company.par, company.reissued = self.par, True


class CompanyClosed(TrackEvent, frozen=True):
    """A company leaves the game for good, with its shares and tokens (1870 §5.1.1)."""

    company: str

    def apply(self, state: State) -> None:
        company = state.companies[self.company]
        company.shares = {CLOSED: sum(company.shares.values())}
        company.president = company.par = company.cell = None
        company.unplaced_tokens, company.kept_destination_tokens, company.closed, company.floated = (
            0,
            0,
            True,
            False,
        )
        state.market_order.remove(self.company)
        state.destination_tokens.pop(self.company, None)
        if self.company in state.postponed_connections:
            state.postponed_connections.remove(self.company)
        for hex, here in list(state.tokens.items()):
            state.tokens[hex] = [(n, c) for n, c in here if c != self.company]
            if not state.tokens[hex]:
                del state.tokens[hex]


class StandingProtectionChanged(EventWithoutPieces, frozen=True):
    """A president has left an answer for later questions whether to protect a company (1870 §5.9).

    `limit`: the dollars up to which they do; None: they have taken the answer back.
    """

    seat: str
    company: str
    limit: int | None

    def apply(self, state: State) -> None:
        limits = state.standing_protections.pop(self.seat, {})
        if self.limit is None:
            limits.pop(self.company, None)
        else:
            limits[self.company] = self.limit
        if limits:
            state.standing_protections[self.seat] = limits


class PriceProtected(EventWithoutPieces, frozen=True):
    """A president has bought what was sold of their company, so its price stays (1870 §5.9)."""

    seat: str
    company: str


class RoundStarted(EventWithoutPieces, frozen=True):
    """A round starts: `stock round 2`, `operating round 3.1 of 2`."""

    round: str

    @property
    def name(self) -> str:
        """The round, without how many there are in its set: `operating round 3.1`."""
        return self.round.partition(" of ")[0]


class OperatingTurnStarted(Event, frozen=True):
    """A company starts its turn of an operating round."""

    company: str

    def apply(self, state: State) -> None:
        state.companies[self.company].has_operated = True


class TileLaid(TrackEvent, frozen=True):
    """A tile is laid on a hex in a rotation of 0-5. The tile that was there goes back to the supply."""

    company: str
    hex: str
    tile: str
    rotation: int

    def apply(self, state: State) -> None:
        state.tiles[self.hex] = (self.tile, self.rotation)


class TokenPlaced(TrackEvent, frozen=True):
    """A token moves from the charter to a city. Node -1: the city of the hex is still to be chosen."""

    company: str
    hex: str
    node: int

    def apply(self, state: State) -> None:
        state.companies[self.company].unplaced_tokens -= 1
        state.tokens.setdefault(self.hex, []).append((self.node, self.company))


class TokenMoved(TrackEvent, frozen=True):
    """A token comes to another city of its hex: an upgrade joined cities, or its city was chosen."""

    company: str
    hex: str
    node: int

    def apply(self, state: State) -> None:
        here = state.tokens[self.hex]
        state.tokens[self.hex] = [(self.node if c == self.company else n, c) for n, c in here]


class ConnectionRunStarted(Event, frozen=True):
    """A company does its connection run, the only one it has (1870 §11.3)."""

    company: str

    def apply(self, state: State) -> None:
        state.companies[self.company].connected = True
        if self.company in state.postponed_connections:
            state.postponed_connections.remove(self.company)


class ConnectionRunPostponed(Event, frozen=True):
    """A company leaves its connection run for later, or has `resumed` it (1870 §11)."""

    company: str
    resumed: bool

    def apply(self, state: State) -> None:
        if self.resumed:
            state.postponed_connections.remove(self.company)
        else:
            state.postponed_connections.append(self.company)


class DestinationTokenPlaced(TrackEvent, frozen=True):
    """The destination token is at the destination (1870 §11.4.1).

    A token that was there already has become it.
    """

    company: str
    hex: str
    node: int

    def apply(self, state: State) -> None:
        state.destination_tokens[self.company] = self.hex
        here = state.tokens.setdefault(self.hex, [])
        if all(company != self.company for _, company in here):
            here.append((self.node, self.company))


class AddedSlotsChanged(TrackEvent, frozen=True):
    """The city of a hex has so many token slots more than its tile, for destination tokens (1870 §11.4.1)."""

    hex: str
    slots: int

    def apply(self, state: State) -> None:
        if self.slots:
            state.added_slots[self.hex] = self.slots
        else:
            state.added_slots.pop(self.hex, None)


class DestinationTokenKept(Event, frozen=True):
    """A company keeps its destination token as one more ordinary token (1870 §11.4.1)."""

    company: str

    def apply(self, state: State) -> None:
        company = state.companies[self.company]
        company.unplaced_tokens += 1
        company.kept_destination_tokens += 1


class CityTokenPlaced(Event, frozen=True):
    """The token of a private is in a city, or an open port is closed (1870 §15.2)."""

    private: str
    token: CityToken

    def apply(self, state: State) -> None:
        state.city_tokens[self.private] = self.token


class CityTokenRemoved(Event, frozen=True):
    """The token of a private is taken off the map."""

    private: str

    def apply(self, state: State) -> None:
        del state.city_tokens[self.private]


class TrainMoved(Event, frozen=True):
    """A train goes from the bank, the pool or a company to a company, the pool, or out of the game."""

    train: str
    source: str
    target: str
    reason: TrainReason

    def apply(self, state: State) -> None:
        if self.source == BANK:
            remaining = state.depot[self.train]
            if remaining is not None:
                state.depot[self.train] = remaining - 1
        else:
            _trains_of(state, self.source).remove(self.train)
        if self.target != CLOSED:
            _trains_of(state, self.target).append(self.train)


class TrainsRusted(Event, frozen=True):
    """Every train of a type is out of the game, wherever it was."""

    train: str

    def apply(self, state: State) -> None:
        state.depot[self.train] = 0
        state.pool_trains = [t for t in state.pool_trains if t != self.train]
        state.orphaned_trains = [t for t in state.orphaned_trains if t != self.train]
        for company in state.companies.values():
            company.trains = [t for t in company.trains if t != self.train]


class PhaseStarted(TrackEvent, frozen=True):
    """A phase starts with the first train of its type."""

    phase: str

    def apply(self, state: State) -> None:
        state.phase = self.phase


class TrainsRan(EventWithoutPieces, frozen=True):
    """What the trains of a company ran: (train, route in notation) each; dollars in all."""

    company: str
    routes: tuple[tuple[str, str], ...]
    revenue: int


class DividendDeclared(EventWithoutPieces, frozen=True):
    """What becomes of the revenue: `pay`, `withhold`, `half`, or `none` where there was none."""

    company: str
    kind: DividendKind
    revenue: int


class Passed(EventWithoutPieces, frozen=True):
    """A seat, or a company in one of its steps, `declined` something."""

    actor: str
    declined: str


class PriorityMoved(EventWithoutPieces, frozen=True):
    """A seat has the priority deal."""

    seat: str

    def apply(self, state: State) -> None:
        state.priority = self.seat


class OfferMade(EventWithoutPieces, frozen=True):
    """A deal waits for the other player's answer."""

    offer: Offer

    def apply(self, state: State) -> None:
        state.offers.append(self.offer)
        state.last_offer_number = self.offer.number


class OfferEnded(EventWithoutPieces, frozen=True):
    """An offer was `accepted`, `declined` or `withdrawn`, or has `lapsed` with its turn."""

    number: int
    outcome: Literal["accepted", "declined", "withdrawn", "lapsed"]

    def apply(self, state: State) -> None:
        state.offers = [o for o in state.offers if o.number != self.number]


class PlayerRenamed(Event, frozen=True):
    """Another person takes over a seat."""

    seat: str
    name: str

    def apply(self, state: State) -> None:
        state.players[int(self.seat[1:])] = self.name


class FramePushed(EventWithoutPieces, frozen=True):
    """A frame is on top of the stack."""

    frame: AnyFrame

    def apply(self, state: State) -> None:
        state.stack.append(self.frame)


class FrameReplaced(EventWithoutPieces, frozen=True):
    """The frame on top has become this one."""

    frame: AnyFrame

    def apply(self, state: State) -> None:
        state.stack[-1] = self.frame


class FramePopped(EventWithoutPieces, frozen=True):
    """The frame on top is done."""

    def apply(self, state: State) -> None:
        state.stack.pop()


class QuestionAsked(EventWithoutPieces, frozen=True):
    """A new question, with its number, is put to these seats."""

    number: int
    seats: tuple[str, ...]

    def apply(self, state: State) -> None:
        state.question_number = self.number


class SharesRestructured(Event, frozen=True):
    """A company has so many shares from now on, in percent by owner (1817 §5.5, §7.1)."""

    company: str
    size: int
    shares: dict[str, int]

    def apply(self, state: State) -> None:
        company = state.companies[self.company]
        company.size, company.shares = self.size, dict(self.shares)


class PresidencyVacated(Event, frozen=True):
    """Nobody holds the president's certificate any more (1817 §7.4)."""

    company: str

    def apply(self, state: State) -> None:
        company = state.companies[self.company]
        company.former_president, company.president = company.president, None


class CompanyReturned(Event, frozen=True):
    """A company is out of play and may be started again; it has no token left (1817 §7.2.4)."""

    company: str

    def apply(self, state: State) -> None:
        company = state.companies[self.company]
        company.shares = {IPO: 100}
        company.par = company.cell = company.president = company.former_president = company.size = None
        company.floated = company.has_operated = False
        company.unplaced_tokens = company.loans = company.owed_tokens = company.unpaid_interest = (
            company.covered_shorts
        ) = 0
        company.trains = []
        if self.company in state.market_order:
            state.market_order.remove(self.company)


class LoansChanged(Event, frozen=True):
    """A company has `count` loans more or, below zero, fewer.

    `other`: the company that they come from or go to.
    """

    company: str
    count: int
    reason: LoanReason
    other: str = ""

    def apply(self, state: State) -> None:
        state.companies[self.company].loans += self.count


class InterestSet(EventWithoutPieces, frozen=True):
    """The dollars that each loan costs in this operating round (1817 §6)."""

    dollars: int

    def apply(self, state: State) -> None:
        state.interest_per_loan = self.dollars


class CoveredShortsChanged(Event, frozen=True):
    """The pool has `count` shares more, or fewer, that match shares the bank is short of
    (1817 §7.4).
    """

    company: str
    count: int

    def apply(self, state: State) -> None:
        state.companies[self.company].covered_shorts += self.count


class CoveredShortsClosed(Event, frozen=True):
    """The bank has closed its short shares with the matching shares in the pool (1817 §7.4)."""

    company: str

    def apply(self, state: State) -> None:
        state.companies[self.company].covered_shorts = 0


class UnpaidInterestChanged(EventWithoutPieces, frozen=True):
    """The dollars of interest that a president owes for a company; 0: none any more (1817 §6.8)."""

    company: str
    dollars: int

    def apply(self, state: State) -> None:
        state.companies[self.company].unpaid_interest = self.dollars


class CrisisStartSeatChanged(Event, frozen=True):
    """Players in a cash crisis are looked for from that seat on; None: nobody is in need
    (1817 §7.4).
    """

    seat: str | None

    def apply(self, state: State) -> None:
        state.crisis_start_seat = self.seat


class UnplacedTokensChanged(Event, frozen=True):
    """A company has `count` station tokens more, or fewer, on its charter (1817).

    `owed`: by how many the tokens change that it still has to pay for.
    """

    company: str
    count: int
    owed: int = 0

    def apply(self, state: State) -> None:
        company = state.companies[self.company]
        company.unplaced_tokens += self.count
        company.owed_tokens += self.owed


class TokenRemoved(TrackEvent, frozen=True):
    """A token is replaced by one of another company, or taken off the map (None)."""

    company: str
    hex: str
    replaced_by: str | None

    def apply(self, state: State) -> None:
        here = []
        for node, owner in state.tokens[self.hex]:
            if owner != self.company:
                here.append((node, owner))
            elif self.replaced_by:
                here.append((node, self.replaced_by))
        if here:
            state.tokens[self.hex] = here
        else:
            del state.tokens[self.hex]


class MineOrBridgeBuilt(Event, frozen=True):
    """A `mine` or a `bridge` of a private is on a hex (1817 §1.2.6)."""

    company: str
    private: str
    hex: str
    kind: Literal["mine", "bridge"]

    def apply(self, state: State) -> None:
        (state.mine_hexes if self.kind == "mine" else state.bridge_hexes).append(self.hex)
        state.used_abilities.append(self.private)


class PlayerBankrupt(Event, frozen=True):
    """A player is bankrupt, and the others play on (1817 §7.4)."""

    seat: str

    def apply(self, state: State) -> None:
        state.bankrupt_seats.append(self.seat)


class EndTriggered(Event, frozen=True):
    """The last type of train has come: the game ends with a later set of rounds (1817 §8).

    It came in operating round `number` of the set after that stock round.
    """

    stock_round: int
    number: int

    def apply(self, state: State) -> None:
        state.end_triggered_in = (self.stock_round, self.number)


class TrainsWithdrawn(Event, frozen=True):
    """The bank sells no more trains of a type."""

    train: str

    def apply(self, state: State) -> None:
        state.depot[self.train] = 0


if TYPE_CHECKING:
    AnyEvent = Event
else:
    _BASES = (Event, EventWithoutPieces, TrackEvent)
    AnyEvent = Union[*(event for base in _BASES for event in base.__subclasses__() if event not in _BASES)]
"""Every event of this file, as msgspec has to know them to read one."""


def _trains_of(state: State, owner: str) -> list[str]:
    if owner in (POOL, ORPHANED):
        return state.pool_trains if owner == POOL else state.orphaned_trains
    return state.companies[owner].trains


def fold(events: Iterable[AnyEvent], state: State) -> State:
    """Apply the events in order to the state, in place, and return it. No rule is asked."""
    for event in events:
        event.apply(state)
    return state


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[AnyEvent])


def encode_events(events: Iterable[AnyEvent]) -> bytes:
    """The events as MessagePack."""
    return _encoder.encode(list(events))


def decode_events(raw: bytes) -> list[AnyEvent]:
    """The events that `encode_events` wrote."""
    return _decoder.decode(raw)
