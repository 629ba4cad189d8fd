"""The only door through which a position changes.

An event is a small frozen sentence with one `apply`. Rules emit events; loading a game folds
them without asking any rule. Some change nothing and are there to be told (`Passed`, `Ran`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import msgspec

from engine.state import ADRIFT, BANK, CLOSED, IPO, POOL, AnyFrame, Improvement, Offer, State


class Event(msgspec.Struct, frozen=True, tag=True, gc=False):
    """Something that has happened.

    `moves_things`: what lies on the board, on the market, in the depot or with an owner is another
    afterwards, not only money, offers, or what is asked. `moves_track`: the track is another.
    """

    moves_things: ClassVar[bool] = True
    moves_track: ClassVar[bool] = False

    def apply(self, state: State) -> None:
        """Bring the state up to it, in place."""


class Still(Event, frozen=True):
    """One that leaves everything where it lies."""

    moves_things: ClassVar[bool] = False


class OfTrack(Event, frozen=True):
    """One after which the track is another."""

    moves_track: ClassVar[bool] = True


class CashMoved(Still, frozen=True):
    """Dollars from one purse to another; the bank's may fall below zero once it is broken."""

    source: str
    target: str
    amount: int
    why: str

    def apply(self, state: State) -> None:
        state.cash[self.source] -= self.amount
        state.cash[self.target] += self.amount


class BankBroke(Still, frozen=True):
    """The bank could not pay what was due (1830 §25)."""

    def apply(self, state: State) -> None:
        state.broken = True


class PrivateMoved(Event, frozen=True):
    """A private has a new owner, or is closed."""

    private: str
    owner: str

    def apply(self, state: State) -> None:
        state.privates[self.private] = self.owner


class BidMade(Still, frozen=True):
    """A seat bids dollars; they are set aside, not paid."""

    seat: str
    private: str
    amount: int


class PowerSpent(Event, frozen=True):
    """The power of a private was used, or lost."""

    private: str

    def apply(self, state: State) -> None:
        state.spent.append(self.private)


class ParSet(Event, frozen=True):
    """A company has its par price, and its token a cell (row, column) of the market."""

    company: str
    par: int
    cell: tuple[int, int]

    def apply(self, state: State) -> None:
        company = state.companies[self.company]
        company.par, company.cell = self.par, self.cell
        state.market.append(self.company)


class PriceMoved(Event, frozen=True):
    """A token came to another cell, under the tokens that lie there."""

    company: str
    cell: tuple[int, int]
    why: str

    def apply(self, state: State) -> None:
        state.companies[self.company].cell = self.cell
        state.market.remove(self.company)
        state.market.append(self.company)


class SharesMoved(Event, frozen=True):
    """Percent of a company from one holder to another; who gives what he has not is short of it."""

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
    """The president's certificate is with that seat."""

    company: str
    seat: str

    def apply(self, state: State) -> None:
        state.companies[self.company].president = self.seat


class Floated(Event, frozen=True):
    """Enough of a company is sold that it will operate."""

    company: str

    def apply(self, state: State) -> None:
        state.companies[self.company].floated = True


class Reissued(Event, frozen=True):
    """The shares that a company had redeemed are for sale again, at that par (1870 §5.11)."""

    company: str
    par: int

    def apply(self, state: State) -> None:
        company = state.companies[self.company]
        company.par, company.reissued = self.par, True


class CompanyClosed(OfTrack, frozen=True):
    """A company is out of play for good, with its shares and tokens (1870 §5.1.1)."""

    company: str

    def apply(self, state: State) -> None:
        company = state.companies[self.company]
        company.shares = {CLOSED: sum(company.shares.values())}
        company.president = company.par = company.cell = None
        company.markers, company.kept, company.closed, company.floated = 0, 0, True, False
        state.market.remove(self.company)
        state.destinations.pop(self.company, None)
        if self.company in state.waiting:
            state.waiting.remove(self.company)
        for hex, here in list(state.tokens.items()):
            state.tokens[hex] = [(n, c) for n, c in here if c != self.company]
            if not state.tokens[hex]:
                del state.tokens[hex]


class AnswerLeft(Still, frozen=True):
    """A president has left an answer whether to protect a company, or taken it back (None)."""

    seat: str
    company: str
    limit: int | None

    def apply(self, state: State) -> None:
        left = state.standing.pop(self.seat, {})
        if self.limit is None:
            left.pop(self.company, None)
        else:
            left[self.company] = self.limit
        if left:
            state.standing[self.seat] = left


class Protected(Still, frozen=True):
    """A president has bought what was sold of his company; its price stands (1870 §5.9)."""

    seat: str
    company: str


class RoundBegan(Still, frozen=True):
    """A round begins: `stock round 2`, `operating round 3.1 of 2`."""

    round: str


class TurnBegan(Event, frozen=True):
    """A company begins its turn of an operating round."""

    company: str

    def apply(self, state: State) -> None:
        state.companies[self.company].running = True


class TileLaid(OfTrack, frozen=True):
    """A tile lies on the hex in that rotation; what lay there is back in the supply."""

    company: str
    hex: str
    tile: str
    turn: int

    def apply(self, state: State) -> None:
        state.tiles[self.hex] = (self.tile, self.turn)


class TokenPlaced(OfTrack, frozen=True):
    """A token left the charter for a city; node -1 is a hex whose city is still to be chosen."""

    company: str
    hex: str
    node: int

    def apply(self, state: State) -> None:
        state.companies[self.company].markers -= 1
        state.tokens.setdefault(self.hex, []).append((self.node, self.company))


class TokenShifted(OfTrack, frozen=True):
    """A token stands in another city of its hex, its old one having become that, or chosen."""

    company: str
    hex: str
    node: int

    def apply(self, state: State) -> None:
        here = state.tokens[self.hex]
        state.tokens[self.hex] = [(self.node if c == self.company else n, c) for n, c in here]


class ConnectionBegan(Event, frozen=True):
    """A company does its connection run, the only one it has (1870 §11.3)."""

    company: str

    def apply(self, state: State) -> None:
        state.companies[self.company].connected = True
        if self.company in state.waiting:
            state.waiting.remove(self.company)


class ConnectionLeft(Event, frozen=True):
    """The connection run of a company is left for later, or wanted after all."""

    company: str
    wanted: bool

    def apply(self, state: State) -> None:
        if self.wanted:
            state.waiting.remove(self.company)
        else:
            state.waiting.append(self.company)


class DestinationPlaced(OfTrack, frozen=True):
    """The destination token stands at the destination, or a token there has become it (1870 §11.4.1)."""

    company: str
    hex: str
    node: int

    def apply(self, state: State) -> None:
        state.destinations[self.company] = self.hex
        here = state.tokens.setdefault(self.hex, [])
        if all(company != self.company for _, company in here):
            here.append((self.node, self.company))


class MarkerKept(Event, frozen=True):
    """A company has one token more to place (1870 §11.4.1)."""

    company: str

    def apply(self, state: State) -> None:
        company = state.companies[self.company]
        company.markers += 1
        company.kept += 1


class Improved(Event, frozen=True):
    """The token of a private is in a city, or an open one closed (1870 §15.2)."""

    private: str
    improvement: Improvement

    def apply(self, state: State) -> None:
        state.improvements[self.private] = self.improvement


class ImprovementGone(Event, frozen=True):
    """The token of a private is off the map."""

    private: str

    def apply(self, state: State) -> None:
        del state.improvements[self.private]


class TrainMoved(Event, frozen=True):
    """A train from the bank, the pool or a company to a company, the pool, or out of play."""

    train: str
    source: str
    target: str
    why: str

    def apply(self, state: State) -> None:
        if self.source == BANK:
            left = state.depot[self.train]
            if left is not None:
                state.depot[self.train] = left - 1
        else:
            _trains(state, self.source).remove(self.train)
        if self.target != CLOSED:
            _trains(state, self.target).append(self.train)


class TrainsGone(Event, frozen=True):
    """Every train of a type is out of play, wherever it was."""

    train: str

    def apply(self, state: State) -> None:
        state.depot[self.train] = 0
        state.pool = [t for t in state.pool if t != self.train]
        state.adrift = [t for t in state.adrift if t != self.train]
        for company in state.companies.values():
            company.trains = [t for t in company.trains if t != self.train]


class PhaseStarted(OfTrack, frozen=True):
    """The first train of a type was bought."""

    phase: str

    def apply(self, state: State) -> None:
        state.phase = self.phase


class Ran(Still, frozen=True):
    """What a company's trains ran: (train, route as spelled); dollars in all."""

    company: str
    routes: tuple[tuple[str, str], ...]
    revenue: int


class Declared(Still, frozen=True):
    """What became of the revenue: `pay`, `withhold`, `half`, or `none` where there was none."""

    company: str
    kind: str
    revenue: int


class Passed(Still, frozen=True):
    """Somebody declined: a seat, or a company in one of its steps."""

    who: str
    what: str


class PriorityMoved(Still, frozen=True):
    """The priority deal is with that seat."""

    seat: str

    def apply(self, state: State) -> None:
        state.priority = self.seat


class OfferMade(Still, frozen=True):
    """A deal waits for the other's answer."""

    offer: Offer

    def apply(self, state: State) -> None:
        state.offers.append(self.offer)
        state.offered = self.offer.number


class OfferEnded(Still, frozen=True):
    """An offer was `accepted`, or came to nothing: `declined`, `withdrawn`, `lapsed` with its turn."""

    number: int
    outcome: str

    def apply(self, state: State) -> None:
        state.offers = [o for o in state.offers if o.number != self.number]


class PlayerRenamed(Event, frozen=True):
    """Another person plays on in that seat."""

    seat: str
    name: str

    def apply(self, state: State) -> None:
        state.players[int(self.seat[1:])] = self.name


class Opened(Still, frozen=True):
    """A frame was put on top."""

    frame: AnyFrame

    def apply(self, state: State) -> None:
        state.stack.append(self.frame)


class Changed(Still, frozen=True):
    """The frame on top goes on like this."""

    frame: AnyFrame

    def apply(self, state: State) -> None:
        state.stack[-1] = self.frame


class Closed(Still, frozen=True):
    """The frame on top is done."""

    def apply(self, state: State) -> None:
        state.stack.pop()


class Asked(Still, frozen=True):
    """A new question stands before these seats."""

    question: int
    seats: tuple[str, ...]

    def apply(self, state: State) -> None:
        state.question = self.question


class Restructured(Event, frozen=True):
    """A company has so many shares from now on, in percent by holder (1817 §5.5, §7.1)."""

    company: str
    size: int
    shares: dict[str, int]

    def apply(self, state: State) -> None:
        company = state.companies[self.company]
        company.size, company.shares = self.size, dict(self.shares)


class PresidentLost(Event, frozen=True):
    """Nobody holds the president's certificate any more."""

    company: str

    def apply(self, state: State) -> None:
        company = state.companies[self.company]
        company.former, company.president = company.president, None


class CompanyReturned(Event, frozen=True):
    """A company is out of play and may be started again (1817 §7.2.4); it has no token left."""

    company: str

    def apply(self, state: State) -> None:
        company = state.companies[self.company]
        company.shares = {IPO: 100}
        company.par = company.cell = company.president = company.former = company.size = None
        company.floated = company.running = False
        company.markers = company.loans = company.owed = company.missed = company.loose = 0
        company.trains = []
        if self.company in state.market:
            state.market.remove(self.company)


class LoansChanged(Event, frozen=True):
    """A company has so many loans more or, below zero, fewer; `why` says how."""

    company: str
    count: int
    why: str

    def apply(self, state: State) -> None:
        state.companies[self.company].loans += self.count


class InterestSet(Still, frozen=True):
    """The dollars that each loan costs in this operating round."""

    dollars: int

    def apply(self, state: State) -> None:
        state.interest = self.dollars


class PoolPaired(Event, frozen=True):
    """So many more shares lie in the pool beside as many that the bank is short of, or fewer."""

    company: str
    count: int

    def apply(self, state: State) -> None:
        state.companies[self.company].loose += self.count


class PairsClosed(Event, frozen=True):
    """The bank has closed what it was short of with the shares beside it."""

    company: str

    def apply(self, state: State) -> None:
        state.companies[self.company].loose = 0


class InterestMissed(Still, frozen=True):
    """A company cannot pay its interest, and its president owes it; 0 once that is settled."""

    company: str
    dollars: int

    def apply(self, state: State) -> None:
        state.companies[self.company].missed = self.dollars


class CrisisFrom(Event, frozen=True):
    """Players who owe more than they have are looked for from that seat on."""

    seat: str | None

    def apply(self, state: State) -> None:
        state.crisis_from = self.seat


class MarkersChanged(Event, frozen=True):
    """A company has so many station markers more, or fewer, on its charter; `owed` of them unpaid."""

    company: str
    count: int
    owed: int = 0

    def apply(self, state: State) -> None:
        company = state.companies[self.company]
        company.markers += self.count
        company.owed += self.owed


class TokenTaken(OfTrack, frozen=True):
    """A token in a hex is replaced by one of another company, or taken off the map (None)."""

    company: str
    hex: str
    by: str | None

    def apply(self, state: State) -> None:
        here = []
        for node, owner in state.tokens[self.hex]:
            if owner != self.company:
                here.append((node, owner))
            elif self.by:
                here.append((node, self.by))
        if here:
            state.tokens[self.hex] = here
        else:
            del state.tokens[self.hex]


class SiteBuilt(Event, frozen=True):
    """A `mine` or `bridge` of a private is on a hex (1817 §1.2.6)."""

    company: str
    private: str
    hex: str
    kind: str

    def apply(self, state: State) -> None:
        (state.mines if self.kind == "mine" else state.bridges).append(self.hex)
        state.spent.append(self.private)


class PlayerOut(Event, frozen=True):
    """A player is bankrupt, and the others play on (1817 §7.4)."""

    seat: str

    def apply(self, state: State) -> None:
        state.out.append(self.seat)


class EndInSight(Event, frozen=True):
    """The last type of train has come, in an operating round of the set after a stock round."""

    after: int
    number: int

    def apply(self, state: State) -> None:
        state.ending = (self.after, self.number)


class Withdrawn(Event, frozen=True):
    """The bank sells no more trains of a type."""

    train: str

    def apply(self, state: State) -> None:
        state.depot[self.train] = 0


AnyEvent = (
    Restructured
    | PresidentLost
    | CompanyReturned
    | LoansChanged
    | InterestSet
    | PoolPaired
    | PairsClosed
    | InterestMissed
    | CrisisFrom
    | MarkersChanged
    | TokenTaken
    | SiteBuilt
    | PlayerOut
    | EndInSight
    | Withdrawn
    | CashMoved
    | BankBroke
    | PrivateMoved
    | BidMade
    | PowerSpent
    | ParSet
    | PriceMoved
    | SharesMoved
    | PresidentNamed
    | Floated
    | Reissued
    | CompanyClosed
    | AnswerLeft
    | Protected
    | RoundBegan
    | TurnBegan
    | TileLaid
    | TokenPlaced
    | TokenShifted
    | ConnectionBegan
    | ConnectionLeft
    | DestinationPlaced
    | MarkerKept
    | Improved
    | ImprovementGone
    | TrainMoved
    | TrainsGone
    | PhaseStarted
    | Ran
    | Declared
    | Passed
    | PriorityMoved
    | OfferMade
    | OfferEnded
    | PlayerRenamed
    | Opened
    | Changed
    | Closed
    | Asked
)


def _trains(state: State, owner: str) -> list[str]:
    if owner in (POOL, ADRIFT):
        return state.pool if owner == POOL else state.adrift
    return state.companies[owner].trains


def fold(events: Iterable[AnyEvent], state: State) -> State:
    """Apply the events in order to that state, in place; no rule is asked."""
    for event in events:
        event.apply(state)
    return state


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(list[AnyEvent])


def encoded_events(events: Iterable[AnyEvent]) -> bytes:
    """The events as MessagePack."""
    return _encoder.encode(list(events))


def decoded_events(raw: bytes) -> list[AnyEvent]:
    """The events that `encoded_events` wrote."""
    return _decoder.decode(raw)
