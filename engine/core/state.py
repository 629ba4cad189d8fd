"""The position of a game as plain data, and the questions that are asked of it.

A `State` holds everything that a save needs and nothing that could be worked out from it: no
cache, no reference between objects, no clock. It is changed by events only (`engine.core.events`).

Owners are strings: a seat (`p0` sits first), a company's symbol, `bank`, `ipo` (the initial
offering), `pool` (the Bank Pool), `closed`. What a company holds of itself lies in its treasury.
Shares are in percent, money in dollars.

`stack` is what the table waits for. The bottom frame is the round, above it the turn, above
that whatever interrupts it. The top frame says who is asked and what; a frame that nobody has
to answer settles itself (`engine.kernel`).
"""

from __future__ import annotations

import msgspec

from engine.core.actions import BuyTrain, Merge, RedeemShare, TradePrivate

BANK, IPO, POOL, CLOSED, ORPHANED = "bank", "ipo", "pool", "closed", "adrift"

TREASURY = "treasury"
"""What players call a company as the holder of its own shares; in the state that is its symbol."""


def seat_id(index: int) -> str:
    """The owner that stands for the player in that place, from 0."""
    return f"p{index}"


_SEAT_IDS = [seat_id(i) for i in range(32)]
"""More than any table has."""


class Frame(msgspec.Struct, frozen=True, tag=True, gc=False):
    """Something that somebody is asked, or that is going on around it. Each kind says its own."""


class Waterfall(Frame, frozen=True):
    """The opening sale of privates (1830 §7): the cheapest is offered, others take bids.

    `bids`: by private, seat and dollars, highest last. `cut`: what the first is cheaper by now.
    """

    current_seat: str
    consecutive_passes: int = 0
    discount: int = 0
    bids: dict[str, dict[str, int]] = {}


class WaterfallBidding(Frame, frozen=True):
    """An auction between those who have bids on a private (1830 §7.2); the lowest acts."""

    private: str
    bids: dict[str, int]


class ParPriceChoice(Frame, frozen=True):
    """The choice of a par price for a company whose president's certificate came free (§8.1)."""

    company: str
    seat: str


class PrivateAllotment(Frame, frozen=True):
    """The dealing of privates, one to a player (1851, Setting Up): which, in seating order."""

    privates: tuple[str, ...]


class PendingSale(msgspec.Struct, frozen=True, gc=False):
    """A block of shares that was sold; the price has not moved yet. `president`: when it was sold."""

    company: str
    count: int
    president: str


class StockRound(Frame, frozen=True):
    """A stock round (1830 §4): `passes` in a row, who dealt last, what each has sold in it.

    `formed`: companies that have started in it.
    `redeemed`, `reissued`: companies that have done so in it. `held`: dollars that a company has
    received for reissued shares, which it cannot spend before the round is over (1870 §5.11).
    `tempted`: who could have dealt in a company at the moment at which it closed, until the next is asked.
    `sales`: see OperatingRound.
    """

    number: int
    current_seat: str
    consecutive_passes: int = 0
    last_to_act: str | None = None
    sold_by_seat: dict[str, tuple[str, ...]] = {}
    formed: tuple[str, ...] = ()
    redeemed: tuple[str, ...] = ()
    reissued: tuple[str, ...] = ()
    restricted_cash: dict[str, int] = {}
    guaranteed_turns: tuple[str, ...] = ()
    pending_sales: tuple[PendingSale, ...] = ()


class StockTurn(Frame, frozen=True):
    """One player's turn of a stock round.

    `bought`: the company, or private, that the turn's purchase was of; `source`: where it lay.
    `sold`: companies of which the player has sold in this turn; `sold_first`: before he bought,
    or that he may sell no more; `shorted`: what he did not have. `sales`: those whose price moves
    at the end of the turn. `for_company`: the one that the turn was used for, and `act` what it
    did: `redeem`, `reissue`. `held`: see StockRound. `acting`: the company for which he acts
    instead; `redeemed`: it has bought shares. `tempted`: he is asked whatever he can still do, see
    StockRound. `sale_prices`: dollars a share that each company's first sale of the turn brought, where
    later ones bring the same.
    """

    seat: str
    bought: str | None = None
    source: str | None = None
    sold: tuple[str, ...] = ()
    sales_closed: bool = False
    pending_sales: tuple[PendingSale, ...] = ()
    for_company: str | None = None
    company_action: str = ""
    restricted_cash: int = 0
    sold_short: bool = False
    acting_company: str | None = None
    redeemed: bool = False
    guaranteed: bool = False
    sale_prices: dict[str, int] = {}


class PriceProtection(Frame, frozen=True):
    """Presidents are asked about blocks of shares that `seller` has sold, one after the other
    (1870 §5.9). `protector`: who has bought the last block that was protected. Where companies are closed
    only once somebody is asked: `tempted`, see StockRound; `lost`, how many certificates that counted each
    seat has lost by closings since the last answer; and `limit`, the certificate limit before them.
    """

    seller: str
    pending_sales: tuple[PendingSale, ...]
    last_protector: str | None = None
    guaranteed_turns: tuple[str, ...] = ()
    lost_certificates: dict[str, int] = {}
    certificate_limit: int | None = None


class OperatingRound(Frame, frozen=True):
    """The `number`-th operating round `of` those after stock round `after`; who is still to run.

    `ran`: the company that had its turn last; `turned`: all that have had theirs, in order. `sales`:
    blocks that were sold in it, and about which presidents are asked only at the end of the next turn.
    `first`: who begins the round, where that is settled before anything else.
    """

    stock_round: int
    number: int
    rounds_in_set: int
    yet_to_operate: tuple[str, ...] = ()
    last_operated: str | None = None
    operated: tuple[str, ...] = ()
    pending_sales: tuple[PendingSale, ...] = ()
    first_company: str | None = None


class OperatingTurn(Frame, frozen=True):
    """A company's turn (1830 §17): the name of its step, and what was done in the turn.

    `acted`: something was done in this step. `laid`: how much of the normal lays is used. `revenue`:
    dollars earned by this turn's run. `first`: it is the company's first turn. `struck`: where
    forced sales bring the prices at their beginning, those prices. `sold`: companies of which its
    president has sold for a train. `sales`: see StockTurn. `sale`: dollars of a share in the last
    forced sale. `sites`: hexes of this turn's lays; `upgraded`: one was an upgrade.
    """

    company: str
    step: str
    acted: bool = False
    lays_used: int = 0
    tokens_placed: int = 0
    revenue: int = 0
    is_first: bool = False
    forced_sale_prices: dict[str, int] = {}
    sold: tuple[str, ...] = ()
    pending_sales: tuple[PendingSale, ...] = ()
    last_sale_price: int = 0
    hexes_laid: tuple[str, ...] = ()
    upgraded: bool = False


class ConnectionRunTurn(OperatingTurn, frozen=True):
    """A company's connection run (1870 §11.4), between the turns of an operating round."""


class RevenueClaim(Frame, frozen=True):
    """A run that was announced (1851, Run Trains): who may still point out a better one."""

    company: str
    revenue: int
    challengers: tuple[str, ...]


class FreeToken(Frame, frozen=True):
    """A token that a private's power allows right after its tile was laid (Table 1.2)."""

    company: str
    private: str
    hex: str


class HomeToken(Frame, frozen=True):
    """The choice of a company's home city among several (1830 §19.1), asked of `chooser`."""

    company: str
    chooser: str


class SeedMoneySale(Frame, frozen=True):
    """The opening auction with seed money (1817 §4.2): who may put up a private, dollars left.

    `last`: who put one up last.
    """

    current_seat: str
    seed_money: int
    consecutive_passes: int = 0
    last_initiator: str | None = None


class Auction(Frame, frozen=True):
    """Something auctioned between players: `kind` says what `lot` is (1817 §4.2, §5.5, §7.2.4).

    `bidders`: those still in it, the next to act first. `high`: the bid of the `leader`. `limits`: up
    to how much somebody's bid is raised for him; the table is not shown it. `hex`, `node`: the home
    of a company that is started. `starter`: who opened it. `cash`, `loans`: what a company in
    liquidation had, set aside. `acting`: the company for which a bidder has acted meanwhile.
    """

    kind: str
    item: str
    bidders: tuple[str, ...]
    initiator: str
    high_bid: int = 0
    high_bidder: str | None = None
    bid_limits: dict[str, int] = {}
    home_hex: str = ""
    home_node: int = 0
    set_aside_cash: int = 0
    set_aside_loans: int = 0
    acting_company: str | None = None


class CompanyStart(Frame, frozen=True):
    """The choice of a new company's size and of the privates put into it (1817 §5.5).

    `bid`: dollars of the bid that privates may still stand for. `again`: whoever has put the company up
    goes on with another turn.
    """

    company: str
    seat: str
    payable_in_privates: int
    size: int | None = None
    extra_turn: bool = False


class CashCrisis(Frame, frozen=True):
    """A player owes more than he has (1817 §7.4)."""

    seat: str


class MergerRound(Frame, frozen=True):
    """A merger and acquisition round (1817 §7): its `stage`, and the companies still to come in it.

    `merged`: those that have converted or merged; `converted`: the last of them, if it has converted.
    `gray`: those that stood in the acquisition area as it began, `red`: in liquidation. `willing`: the
    presidents who have said that they will act, None while they have not been asked. `start`: the order
    as the round began. `excess`: a company with more station markers than it may have, and the one that it
    has taken over, which is out of play by now.
    """

    stock_round: int
    number: int
    rounds_in_set: int
    stage: str
    remaining_order: tuple[str, ...]
    in_acquisition: tuple[str, ...]
    in_liquidation: tuple[str, ...] = ()
    converted_or_merged: tuple[str, ...] = ()
    initial_order: tuple[str, ...] = ()
    willing_presidents: tuple[str, ...] | None = None
    last_converted: str | None = None
    excess_tokens: tuple[str, str] | None = None


class MergerPoll(Frame, frozen=True):
    """Presidents asked at once whether they will act; `seats` have not answered, `willing` will."""

    stage: str
    unanswered: tuple[str, ...]
    willing_presidents: tuple[str, ...] = ()


class MergerTurn(Frame, frozen=True):
    """A company may convert, merge or be offered for sale (1817 §7.1, §7.2.3)."""

    company: str
    stage: str


class PostMergerTrade(Frame, frozen=True):
    """Purchases and sales after a conversion or merger (1817 §7.1.4): `seats` still to act."""

    company: str
    seats: tuple[str, ...]
    acted: bool = False


class PostMergerLoans(Frame, frozen=True):
    """Loans that a company may take after it has grown; markers that it cannot pay close it (§7.1.1)."""

    company: str


class BuyerChoice(Frame, frozen=True):
    """The choice of the company that pays a winning bid (1817 §7.2.4)."""

    company: str
    seat: str
    price: int
    set_aside_cash: int = 0
    set_aside_loans: int = 0


class TakeoverLoans(Frame, frozen=True):
    """What the buyer of a company does about loans (1817 §7.2.4): `inherited` are not settled yet.

    `stage`: `loan` while it may take some, then `repay`.
    """

    company: str
    acquired_loans: int
    stage: str = "loan"


class ShareholderSettlement(Frame, frozen=True):
    """The sold company's holders are paid `amount` dollars on all shares, and it is closed; below zero
    its president owes them. `loans`: those set aside, which go back to the bank now."""

    company: str
    amount: int
    set_aside_loans: int = 0


class ExcessTokens(Frame, frozen=True):
    """More station markers than a company may have, with those of the `target` it takes over (1817 §7.3)."""

    company: str
    target: str


class Discard(Frame, frozen=True):
    """Trains above the limit (1830 §21)."""

    company: str


class GameOver(Frame, frozen=True):
    """The end (1830 §25): `reason` in words, `bankrupt` the seat that failed."""

    reason: str
    bankrupt: str | None = None


AnyFrame = (
    Waterfall
    | WaterfallBidding
    | ParPriceChoice
    | PrivateAllotment
    | StockRound
    | StockTurn
    | PriceProtection
    | OperatingRound
    | OperatingTurn
    | ConnectionRunTurn
    | RevenueClaim
    | FreeToken
    | HomeToken
    | SeedMoneySale
    | Auction
    | CompanyStart
    | CashCrisis
    | MergerRound
    | MergerPoll
    | MergerTurn
    | PostMergerTrade
    | PostMergerLoans
    | BuyerChoice
    | TakeoverLoans
    | ShareholderSettlement
    | ExcessTokens
    | Discard
    | GameOver
)


class Offer(msgspec.Struct, frozen=True, gc=False):
    """A deal that one player has put to another: `source` gives, `target` gets, for dollars.

    `asker` has made it, `asked` has to agree.
    """

    number: int
    proposer: str
    recipient: str
    deal: BuyTrain | TradePrivate | Merge | RedeemShare
    source: str
    target: str
    price: int


class Company(msgspec.Struct, gc=False):
    """A public company.

    `shares`: percent by holder, the president's certificate with its holder; a short position is
    below zero. `markers`: tokens still on the charter, `kept` how many of all are destination tokens
    used as ordinary ones. `running`: it has had its first turn, or begun it. `reissued`: the initial
    offering holds shares that it has sold again. `connected`: its connection run is done, or begun.
    `closed`: for good. `size`: its number of shares where that is chosen as it starts. `owed`: markers
    not paid for. `former`: who was its last president, where it has none. `missed`: dollars of interest
    that its president owes the bank. `loose`: shares in the pool beside as many that the bank is short of.
    """

    shares: dict[str, int]
    unplaced_tokens: int
    par: int | None = None
    cell: tuple[int, int] | None = None
    president: str | None = None
    floated: bool = False
    has_operated: bool = False
    trains: list[str] = []
    size: int | None = None
    loans: int = 0
    owed_tokens: int = 0
    former_president: str | None = None
    unpaid_interest: int = 0
    covered_shorts: int = 0
    kept_destination_tokens: int = 0
    reissued: bool = False
    connected: bool = False
    closed: bool = False


class CityToken(msgspec.Struct, frozen=True, gc=False):
    """The token of a private in a city: worth more to `company`, if `open` a little to others too."""

    hex: str
    company: str
    is_open: bool = False


class State(msgspec.Struct, gc=False):
    """The whole position of one game.

    `interest`: dollars on each loan in this operating round. `out`: seats that are bankrupt while the
    others play on. `ending`: the stock round and the operating round of its set in which the last
    type of train came. `mines`, `bridges`: hexes with such a token. `crisis_from`: the seat from
    which players in need are looked for, while there are any. `adrift`: trains of companies that the bank
    has liquidated, which are out of play, and yet on the site some that a company could wait for.
    `destinations`: by company the hex where its destination token stands. `waiting`: companies
    whose connection run is left for later. `improvements`: by private. `standing`: by seat and
    company the dollars up to which the president protects without being asked.
    """

    title: str
    options: tuple[str, ...]
    players: list[str]
    cash: dict[str, int]
    companies: dict[str, Company]
    private_owners: dict[str, str]
    depot: dict[str, int | None]
    phase: str
    priority: str
    stack: list[AnyFrame]
    pool_trains: list[str] = []
    market_order: list[str] = []
    used_abilities: list[str] = []
    tiles: dict[str, tuple[str, int]] = {}
    tokens: dict[str, list[tuple[int, str]]] = {}
    destination_tokens: dict[str, str] = {}
    postponed_connections: list[str] = []
    city_tokens: dict[str, CityToken] = {}
    standing_protections: dict[str, dict[str, int]] = {}
    offers: list[Offer] = []
    last_offer_number: int = 0
    question_number: int = 0
    bank_broken: bool = False
    interest_per_loan: int = 0
    bankrupt_seats: list[str] = []
    end_triggered_in: tuple[int, int] | None = None
    mine_hexes: list[str] = []
    bridge_hexes: list[str] = []
    crisis_start_seat: str | None = None
    orphaned_trains: list[str] = []

    @property
    def seats(self) -> list[str]:
        """The seats in clockwise order from the first."""
        return _SEAT_IDS[: len(self.players)]

    @property
    def active_seats(self) -> list[str]:
        """The seats that are still in the game."""
        return [s for s in self.seats if s not in self.bankrupt_seats] if self.bankrupt_seats else self.seats

    @property
    def top(self) -> AnyFrame:
        return self.stack[-1]

    @property
    def game_over(self) -> GameOver | None:
        frame = self.stack[-1]
        return frame if isinstance(frame, GameOver) else None

    def seats_from(self, seat: str) -> list[str]:
        """All seats still in the game clockwise, from that one on."""
        seats = self.seats
        i = seats.index(seat)
        seats = seats[i:] + seats[:i]
        return [s for s in seats if s not in self.bankrupt_seats] if self.bankrupt_seats else seats

    def left_of(self, seat: str) -> str:
        """The next player clockwise who is still in the game."""
        following = seat_id((int(seat[1:]) + 1) % len(self.players))
        return following if not self.bankrupt_seats else self.seats_from(following)[0]

    def name(self, owner: str) -> str:
        """What the table calls an owner: a player's name, a symbol, `pool`, `ipo`, `bank`."""
        return self.players[int(owner[1:])] if is_seat(owner) else owner


def is_seat(owner: str) -> bool:
    """Whether an owner is a player."""
    return owner[:1] == "p" and owner[1:].isdigit()


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(State)


def encode_state(state: State) -> bytes:
    """The state as MessagePack."""
    return _encoder.encode(state)


def decode_state(raw: bytes) -> State:
    """The state that `encoded` wrote. Raises msgspec.DecodeError for anything else."""
    return _decoder.decode(raw)


def copy_state(state: State) -> State:
    """A copy that shares nothing that can change."""
    return _decoder.decode(_encoder.encode(state))
