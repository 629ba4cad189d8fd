"""The position of a game as plain data, and the questions that are asked of it.

A `State` holds everything that a save needs and nothing that could be worked out from it: no
cache, no reference between objects, no clock. It is changed by events only (`engine.events`).

Owners are strings: a seat (`p0` sits first), a company's symbol, `bank`, `ipo` (the initial
offering), `pool` (the Bank Pool), `closed`. What a company holds of itself lies in its treasury.
Shares are in percent, money in dollars.

`stack` is what the table waits for. The bottom frame is the round, above it the turn, above
that whatever interrupts it. The top frame says who is asked and what; a frame that nobody has
to answer settles itself (`engine.kernel`).
"""

from __future__ import annotations

import msgspec

from engine.actions import BuyTrain, DealPrivate, Redeem

BANK, IPO, POOL, CLOSED = "bank", "ipo", "pool", "closed"

TREASURY = "treasury"
"""What players call a company as the holder of its own shares; in the state that is its symbol."""


def seat_name(index: int) -> str:
    """The owner that stands for the player in that place, from 0."""
    return f"p{index}"


class Frame(msgspec.Struct, frozen=True, tag=True):
    """Something that somebody is asked, or that is going on around it. Each kind says its own."""


class Waterfall(Frame, frozen=True):
    """The opening sale of privates (1830 §7): the cheapest is offered, others take bids.

    `bids`: by private, seat and dollars, highest last. `cut`: what the first is cheaper by now.
    """

    turn: str
    passes: int = 0
    cut: int = 0
    bids: dict[str, dict[str, int]] = {}


class Bidding(Frame, frozen=True):
    """An auction between those who have bids on a private (1830 §7.2); the lowest acts."""

    private: str
    bids: dict[str, int]


class Pricing(Frame, frozen=True):
    """The choice of a par price for a company whose president's certificate came free (§8.1)."""

    company: str
    seat: str


class Allotment(Frame, frozen=True):
    """The dealing of privates, one to a player (1851, Setting Up): which, in seating order."""

    privates: tuple[str, ...]


class Sale(msgspec.Struct, frozen=True):
    """A block of shares that was sold; the price has not moved yet. `president`: when it was sold."""

    company: str
    count: int
    president: str


class StockRound(Frame, frozen=True):
    """A stock round (1830 §4): `passes` in a row, who dealt last, what each has sold in it.

    `redeemed`, `reissued`: companies that have done so in it. `held`: dollars that a company has
    received for reissued shares, which it cannot spend before the round is over (1870 §5.11).
    """

    number: int
    turn: str
    passes: int = 0
    last: str | None = None
    sold: dict[str, tuple[str, ...]] = {}
    redeemed: tuple[str, ...] = ()
    reissued: tuple[str, ...] = ()
    held: dict[str, int] = {}


class StockTurn(Frame, frozen=True):
    """One player's turn of a stock round.

    `bought`: the company, or private, that the turn's purchase was of; `source`: where it lay.
    `sold`: companies of which the player has sold in this turn; `sold_first`: before he bought,
    or that he may sell no more.
    `sales`: those whose price moves at the end of the turn. `for_company`: the one that the
    turn was used for, and `act` what it did: `redeem`, `reissue`. `held`: see StockRound.
    """

    seat: str
    bought: str | None = None
    source: str | None = None
    sold: tuple[str, ...] = ()
    sold_first: bool = False
    sales: tuple[Sale, ...] = ()
    for_company: str | None = None
    act: str = ""
    held: int = 0


class Protection(Frame, frozen=True):
    """Presidents are asked about blocks of shares that `seller` has sold, one after the other
    (1870 §5.9). `protector`: who has bought the last block that was protected."""

    seller: str
    sales: tuple[Sale, ...]
    protector: str | None = None


class OperatingRound(Frame, frozen=True):
    """The `number`-th operating round `of` those after stock round `after`; who is still to run.

    `ran`: the company that had its turn last.
    """

    after: int
    number: int
    of: int
    waiting: tuple[str, ...] = ()
    ran: str | None = None


class OperatingTurn(Frame, frozen=True):
    """A company's turn (1830 §17): the name of its step, and what was done in the turn.

    `acted`: something was done in this step. `laid`: how much of the normal lays is used. `revenue`:
    dollars earned by this turn's run. `first`: it is the company's first turn. `struck`: where
    forced sales bring the prices at their beginning, those prices. `sold`: companies of which its
    president has sold for a train. `sales`: see StockTurn. `sale`: dollars
    of a share in the last forced sale.
    """

    company: str
    step: str
    acted: bool = False
    laid: int = 0
    tokens: int = 0
    revenue: int = 0
    first: bool = False
    struck: dict[str, int] = {}
    sold: tuple[str, ...] = ()
    sales: tuple[Sale, ...] = ()
    sale: int = 0


class ConnectionTurn(OperatingTurn, frozen=True):
    """A company's connection run (1870 §11.4), between the turns of an operating round."""


class Claim(Frame, frozen=True):
    """A run that was announced (1851, Run Trains): who may still point out a better one."""

    company: str
    revenue: int
    seats: tuple[str, ...]


class FreeToken(Frame, frozen=True):
    """A token that a private's power allows right after its tile was laid (Table 1.2)."""

    company: str
    private: str
    hex: str


class HomeToken(Frame, frozen=True):
    """The choice of a company's home city among several (1830 §19.1), asked of `chooser`."""

    company: str
    chooser: str


class Discard(Frame, frozen=True):
    """Trains above the limit (1830 §21)."""

    company: str


class GameOver(Frame, frozen=True):
    """The end (1830 §25): `reason` in words, `bankrupt` the seat that failed."""

    reason: str
    bankrupt: str | None = None


AnyFrame = (
    Waterfall
    | Bidding
    | Pricing
    | Allotment
    | StockRound
    | StockTurn
    | Protection
    | OperatingRound
    | OperatingTurn
    | ConnectionTurn
    | Claim
    | FreeToken
    | HomeToken
    | Discard
    | GameOver
)


class Offer(msgspec.Struct, frozen=True):
    """A deal that one player has put to another: `source` gives, `target` gets, for dollars.

    `asker` has made it, `asked` has to agree.
    """

    number: int
    asker: str
    asked: str
    deal: BuyTrain | DealPrivate | Redeem
    source: str
    target: str
    price: int


class Company(msgspec.Struct):
    """A public company.

    `shares`: percent by holder, the president's certificate with its holder. `markers`: tokens
    still on the charter, `kept` how many of all are destination tokens used as ordinary ones.
    `running`: it has had its first turn, or begun it. `reissued`: the initial offering holds shares
    that it has sold again. `connected`: its connection run is done, or begun. `closed`: for good.
    """

    shares: dict[str, int]
    markers: int
    par: int | None = None
    cell: tuple[int, int] | None = None
    president: str | None = None
    floated: bool = False
    running: bool = False
    trains: list[str] = []
    kept: int = 0
    reissued: bool = False
    connected: bool = False
    closed: bool = False


class Improvement(msgspec.Struct, frozen=True):
    """The token of a private in a city: worth more to `company`, if `open` a little to others too."""

    hex: str
    company: str
    open: bool = False


class State(msgspec.Struct):
    """The whole position of one game.

    `destinations`: by company the hex where its destination token stands. `waiting`: companies
    whose connection run is left for later. `improvements`: by private. `standing`: by seat and
    company the dollars up to which the president protects without being asked.
    """

    title: str
    options: tuple[str, ...]
    players: list[str]
    cash: dict[str, int]
    companies: dict[str, Company]
    privates: dict[str, str]
    depot: dict[str, int | None]
    phase: str
    priority: str
    stack: list[AnyFrame]
    pool: list[str] = []
    market: list[str] = []
    spent: list[str] = []
    tiles: dict[str, tuple[str, int]] = {}
    tokens: dict[str, list[tuple[int, str]]] = {}
    destinations: dict[str, str] = {}
    waiting: list[str] = []
    improvements: dict[str, Improvement] = {}
    standing: dict[str, dict[str, int]] = {}
    offers: list[Offer] = []
    offered: int = 0
    question: int = 0
    broken: bool = False

    @property
    def seats(self) -> list[str]:
        """The seats in clockwise order from the first."""
        return [seat_name(i) for i in range(len(self.players))]

    @property
    def top(self) -> AnyFrame:
        return self.stack[-1]

    @property
    def over(self) -> GameOver | None:
        frame = self.stack[-1]
        return frame if isinstance(frame, GameOver) else None

    def seats_from(self, seat: str) -> list[str]:
        """All seats clockwise, that one first."""
        seats = self.seats
        i = seats.index(seat)
        return seats[i:] + seats[:i]

    def left_of(self, seat: str) -> str:
        """The next player clockwise."""
        return seat_name((int(seat[1:]) + 1) % len(self.players))

    def name(self, owner: str) -> str:
        """What the table calls an owner: a player's name, a symbol, `pool`, `ipo`, `bank`."""
        return self.players[int(owner[1:])] if is_seat(owner) else owner


def is_seat(owner: str) -> bool:
    """Whether an owner is a player."""
    return owner[:1] == "p" and owner[1:].isdigit()


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(State)


def encoded(state: State) -> bytes:
    """The state as MessagePack."""
    return _encoder.encode(state)


def decoded(raw: bytes) -> State:
    """The state that `encoded` wrote. Raises msgspec.DecodeError for anything else."""
    return _decoder.decode(raw)


def copied(state: State) -> State:
    """A copy that shares nothing that can change."""
    return _decoder.decode(_encoder.encode(state))
