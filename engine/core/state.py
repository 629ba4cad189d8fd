"""The position of a game as plain data, and the frames of the decisions that it waits for.

A `State` holds everything that a save needs and nothing that could be derived from it: no cache, no
reference between objects, no clock. Only events change it (`engine.core.events`).

Owners are strings: a seat (`p0` sits first), a company's symbol, `bank`, `ipo` (the initial offering),
`pool` (the Bank Pool, or open market) or `closed`. A company's shares in its own treasury are owned by the
company. Shares are in percent, money is in dollars. A market cell is (row, column) from the top left.

`stack` holds what the table waits for. The bottom frame is the round, above it is the turn, above that
whatever interrupts it. The top frame says who is asked and what. A frame in which nobody has anything to
decide advances by itself (`engine.kernel`).

The names of these classes and of their fields are stored with every game.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Union

import msgspec

from engine.core.actions import BuyTrain, Convert, Merge, OfferCompanyForSale, RedeemShare, TradePrivate

BANK, IPO, POOL, CLOSED, ORPHANED = "bank", "ipo", "pool", "closed", "orphaned"
"""Owners that are neither players nor companies. ORPHANED: of trains, see `State.orphaned_trains`."""

TREASURY = "treasury"
"""How players name a company's treasury; in the state its owner is the symbol of the company."""


def seat_id(index: int) -> str:
    """The owner that stands for the player in that place, counted from 0."""
    return f"p{index}"


_SEAT_IDS = [seat_id(i) for i in range(32)]
"""More seats than any table has."""


MergerStage = Literal["export", "convert", "liquidate", "acquire", "offer", "sales", "end"]
ActiveStage = Literal["convert", "offer"]
"""A stage of a merger round in which presidents are asked."""


class Frame(msgspec.Struct, frozen=True, tag=True, gc=False):
    """A decision that the table waits for, or a round or turn around it."""


class Waterfall(Frame, frozen=True):
    """The opening auction of privates (1830 §7): the cheapest is offered, others take bids.

    `current_seat`: who may buy or bid. `consecutive_passes`: passes in a row. `discount`: dollars by which
    the first private has become cheaper. `bids`: by private the dollars by seat, the highest last.
    `follows_unsold`: a stock round that left a private unsold is over, so this one is not the first
    (1830 §7.3).
    """

    current_seat: str
    consecutive_passes: int = 0
    discount: int = 0
    bids: dict[str, dict[str, int]] = {}
    follows_unsold: bool = False

    def cash_in_bids(self, seat: str, *, excluding: str | None = None) -> int:
        """Dollars that the player has set aside in bids, those on the private `excluding` left out."""
        return sum(bids.get(seat, 0) for private, bids in self.bids.items() if private != excluding)


class WaterfallBidding(Frame, frozen=True):
    """The auction of one private between the players who have bid on it (1830 §7.2).

    `bids`: dollars by seat, of those still in it.
    """

    private: str
    bids: dict[str, int]


class ParPriceChoice(Frame, frozen=True):
    """A seat chooses the par price of a company whose president's certificate came with a private
    (1830 §8.1).
    """

    company: str
    seat: str


class PrivateAllotment(Frame, frozen=True):
    """The privates dealt to the players, one each, in seating order (1851, Setting Up the Game)."""

    privates: tuple[str, ...]


class PendingSale(msgspec.Struct, frozen=True, gc=False):
    """A block of `count` shares that was sold and has not moved the price yet.

    `president`: the seat of the company's president when the block was sold.
    """

    company: str
    count: int
    president: str


class StockRound(Frame, frozen=True):
    """A stock round (1830 §4).

    * `number`: from 1. `current_seat`: whose turn it is, or comes next.
    * `consecutive_passes`: turns in a row in which nothing was done; `last_to_act`: who did something last.
    * `sold_by_seat`: companies of which each seat has sold in this round.
    * `formed`, `redeemed`, `reissued`: companies that have started, bought back shares or reissued shares
      in it.
    * `restricted_cash`: by company the dollars received for reissued shares, which it cannot spend before
      the round is over (1870 §5.11).
    * `guaranteed_turns`: seats that get a turn even where nothing is left to do in it, because they could
      have traded shares of a company at the moment at which it closed. By the site's conventions (1870).
    * `pending_sales`: see `OperatingRound`. `follows_unsold`: see `Waterfall`.
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
    follows_unsold: bool = False

    @property
    def is_first(self) -> bool:
        """Whether it is the first stock round of the game."""
        return self.number == 1 and not self.follows_unsold


class StockTurn(Frame, frozen=True):
    """One player's turn of a stock round.

    * `bought`: the company or private of this turn's purchase; `source`: the owner it was bought from.
    * `sold`: companies of which the player has sold in this turn; `sold_short`: they have sold a share short.
    * `sales_closed`: the player may sell no more in this turn; `private_bought`: they have bought a private.
    * `pending_sales`: blocks whose price moves at the end of the turn.
    * `for_company`: the company that the turn was used for; `company_action`: what it did, `redeem` or
      `reissue` (1870 §5.3).
    * `restricted_cash`: dollars of this purchase that the company may not spend yet (1870 §5.11).
    * `acting_company`: the company that the player acts for instead (1817 §5.6); `redeemed`: it has bought
      shares.
    * `sale_prices`: by company the dollars a share that the first sale of the turn brought, where later
      sales of it bring the same.
    * `guaranteed`: the player is asked whatever they can still do, see `StockRound.guaranteed_turns`.
    """

    seat: str
    bought: str | None = None
    source: str | None = None
    sold: tuple[str, ...] = ()
    sales_closed: bool = False
    pending_sales: tuple[PendingSale, ...] = ()
    for_company: str | None = None
    company_action: Literal["", "redeem", "reissue"] = ""
    restricted_cash: int = 0
    sold_short: bool = False
    acting_company: str | None = None
    redeemed: bool = False
    guaranteed: bool = False
    sale_prices: dict[str, int] = {}
    private_bought: bool = False


class PriceProtection(Frame, frozen=True):
    """Presidents are asked about the blocks of shares that `seller` has sold, one after the other (1870
    §5.9).

    `pending_sales`: the blocks, the next to be asked about first. `last_protector`: who bought the last
    block that was protected. By the site's conventions companies close only when somebody is asked again.
    Until then `guaranteed_turns` is as in `StockRound`, `lost_certificates` counts the certificates of the
    limit that each seat has lost by closings, and `certificate_limit` is the limit before them.
    """

    seller: str
    pending_sales: tuple[PendingSale, ...]
    last_protector: str | None = None
    guaranteed_turns: tuple[str, ...] = ()
    lost_certificates: dict[str, int] = {}
    certificate_limit: int | None = None


class OperatingRound(Frame, frozen=True):
    """An operating round: the `number`-th of the `rounds_in_set` that follow the stock round of that number.

    * `yet_to_operate`: companies whose turn is still to come; `last_operated`: the one that had its turn
      last; `operated`: all that have had theirs, in order.
    * `pending_sales`: blocks sold in this round about which presidents are asked at the end of the next turn.
    * `first_company`: the company that begins the round, where that is settled before a connection run.
    * `due_connections`: companies that were found connected together and still have to run (1870 §11).
    """

    stock_round: int
    number: int
    rounds_in_set: int
    yet_to_operate: tuple[str, ...] = ()
    last_operated: str | None = None
    operated: tuple[str, ...] = ()
    pending_sales: tuple[PendingSale, ...] = ()
    first_company: str | None = None
    due_connections: tuple[str, ...] = ()


class OperatingTurn(Frame, frozen=True):
    """A company's turn of an operating round (1830 §17).

    * `step`: the name of its current step; `acted`: something was done in this step.
    * `lays_used`: how much of the turn's normal tile lays is used; `hexes_laid`: where; `upgraded`: one of
      them was an upgrade.
    * `tokens_placed`: station tokens placed in this turn.
    * `revenue`: dollars earned by this turn's run and not yet paid or withheld.
    * `is_first`: it is the company's first turn.
    * `sold`: companies of which the president has sold shares to pay for a train; `forced_sale_prices`: the
      prices at which these go, by company, where that is the prices before the first of them;
      `last_sale_price`: dollars of a share in the last of them; `lowest_sale_price`: of the cheapest share
      that did not have to be sold for a limit (1870 §10.6.2).
    * `pending_sales`: see `StockTurn`.
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
    lowest_sale_price: int | None = None
    hexes_laid: tuple[str, ...] = ()
    upgraded: bool = False


class ConnectionRunTurn(OperatingTurn, frozen=True):
    """A company's connection run, between the turns of an operating round (1870 §11.4)."""


class RevenueClaim(Frame, frozen=True):
    """A run that was announced, and the players who may still point out a better one (1851, Run Trains)."""

    company: str
    revenue: int
    challengers: tuple[str, ...]


class FreeToken(Frame, frozen=True):
    """A company may place a token where its private has just laid a tile (1830 Table 1)."""

    company: str
    private: str
    hex: str


class HomeToken(Frame, frozen=True):
    """The seat `chooser` chooses among several cities for a company's home (1830 §19.1)."""

    company: str
    chooser: str


class SeedMoneySale(Frame, frozen=True):
    """The initial auction of privates with seed money (1817 §4.2).

    `current_seat`: who may put a private up for auction. `seed_money`: dollars left of it.
    `consecutive_passes`: passes in a row. `last_initiator`: who put up a private last.
    """

    current_seat: str
    seed_money: int
    consecutive_passes: int = 0
    last_initiator: str | None = None


class Auction(Frame, frozen=True):
    """An auction in turns between players (1817 §4.2, §5.5, §7.2.4).

    * `kind`: what is auctioned: a `private`, a president's `certificate`, or the `sale` of a company;
      `item`: its symbol.
    * `bidders`: the seats still in it, the next to act first; `initiator`: who opened it.
    * `high_bid`: dollars of the highest bid; `high_bidder`: whose it is.
    * `bid_limits`: up to how many dollars a seat's bid is raised for it; 0: it leaves. Nobody else is shown
      them.
    * `home_hex`, `home_node`: the home of a company that is started.
    * `set_aside_cash`, `set_aside_loans`: what a company in liquidation had (1817 §7.2.4).
    * `acting_company`: the company for which a bidder has acted meanwhile, by the site's conventions.
    """

    kind: Literal["private", "certificate", "sale"]
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
    """The winner of a president's certificate chooses the company's size and the privates put into it
    (1817 §5.5).

    `payable_in_privates`: dollars of the bid that privates may still pay. `size`: the number of shares, once
    chosen. `extra_turn`: the player who put the company up has another turn afterwards.
    """

    company: str
    seat: str
    payable_in_privates: int
    size: int | None = None
    extra_turn: bool = False


class CashCrisis(Frame, frozen=True):
    """A player owes more than they have, and sells shares (1817 §7.4)."""

    seat: str


MergerAction = Convert | Merge | OfferCompanyForSale
"""What a company may do in its turn of a merger round."""


class MergerRound(Frame, frozen=True):
    """A merger and acquisition round after an operating round (1817 §7).

    * `stock_round`, `number`, `rounds_in_set`: as in `OperatingRound`.
    * `stage`: `export`, `convert`, `liquidate`, `acquire`, `offer` and `end`, or `sales` for the three
      before the last.
    * `remaining_order`: companies still to come in this stage; `initial_order`: the operating order as the
      round began.
    * `in_acquisition`, `in_liquidation`: companies in these areas of the market as the round began.
    * `converted_or_merged`: companies that have done so; `last_converted`: the last of them, if it converted.
    * `willing_presidents`: seats that have said that they will act; None while they have not been asked.
    * `planned`: by company the action that its president has announced for its turn.
    * `excess_tokens`: a company with more station tokens than it may have, and the company that it has taken
      over, which is out of play by now.
    """

    stock_round: int
    number: int
    rounds_in_set: int
    stage: MergerStage
    remaining_order: tuple[str, ...]
    in_acquisition: tuple[str, ...]
    in_liquidation: tuple[str, ...] = ()
    converted_or_merged: tuple[str, ...] = ()
    initial_order: tuple[str, ...] = ()
    willing_presidents: tuple[str, ...] | None = None
    last_converted: str | None = None
    excess_tokens: tuple[str, str] | None = None
    planned: dict[str, MergerAction] = {}


class MergerPoll(Frame, frozen=True):
    """Presidents are asked all at once whether they will act in a stage of a merger round.

    `unanswered`: seats that have not answered. `willing_presidents`: those that will act. `planned`: as in
    `MergerRound`.
    """

    stage: ActiveStage
    unanswered: tuple[str, ...]
    willing_presidents: tuple[str, ...] = ()
    planned: dict[str, MergerAction] = {}


class MergerTurn(Frame, frozen=True):
    """A company may convert, merge, or be offered for sale, as the stage says (1817 §7.1, §7.2.3)."""

    company: str
    stage: ActiveStage


class PostMergerTrade(Frame, frozen=True):
    """Purchases and sales of a company's shares after its conversion or merger (1817 §7.1.4).

    `seats`: those still to act, the next first. `acted`: the first of them has bought already.
    """

    company: str
    seats: tuple[str, ...]
    acted: bool = False


class PostMergerLoans(Frame, frozen=True):
    """A company may take loans after its conversion or merger, and pays for its tokens (1817 §7.1.1).

    Where it cannot pay for them it is liquidated.
    """

    company: str


class BuyerChoice(Frame, frozen=True):
    """The winner of a company's sale names the company that buys it for `price` dollars (1817 §7.2.4).

    `set_aside_cash`, `set_aside_loans`: see `Auction`.
    """

    company: str
    seat: str
    price: int
    set_aside_cash: int = 0
    set_aside_loans: int = 0


class TakeoverLoans(Frame, frozen=True):
    """The buyer of a company takes and repays loans (1817 §7.2.4).

    `acquired_loans`: loans of the bought company that are not settled yet. `stage`: `loan` while the buyer
    may take some, then `repay`.
    """

    company: str
    acquired_loans: int
    stage: Literal["loan", "repay"] = "loan"


class ShareholderSettlement(Frame, frozen=True):
    """The holders of a sold company are paid, and the company leaves play (1817 §7.2.4).

    `amount`: dollars for all shares together; below zero the president owes them. `set_aside_loans`: loans
    that go back to the bank now.
    """

    company: str
    amount: int
    set_aside_loans: int = 0


class ExcessTokens(Frame, frozen=True):
    """A company has more station tokens than it may, with those of the `target` that it takes over (1817
    §7.3)."""

    company: str
    target: str


class Discard(Frame, frozen=True):
    """A company has more trains than the limit allows, and discards one (1830 §21)."""

    company: str


class GameOver(Frame, frozen=True):
    """The end of the game (1830 §25): `reason` as a sentence, `bankrupt` the seat that could not pay."""

    reason: str
    bankrupt: str | None = None


if TYPE_CHECKING:
    AnyFrame = Frame
else:
    AnyFrame = Union[*Frame.__subclasses__(), ConnectionRunTurn]
"""Every frame of this file, as msgspec has to know them to read one."""


class Offer(msgspec.Struct, frozen=True, gc=False):
    """A deal that one player has proposed to another: `source` gives, `target` receives, for `price` dollars.

    `number`: by which it is named. `proposer` and `recipient` are seats; the recipient accepts or declines.
    `deal`: the action that was proposed.
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

    * `shares`: percent by owner, the president's certificate included; a short position is below zero.
    * `unplaced_tokens`: station tokens on its charter; `kept_destination_tokens`: how many of all its
      tokens are destination tokens kept as ordinary ones (1870 §11.4.1).
    * `par`: its par price in dollars; `cell`: where its token is on the stock market. None: it has not
      started.
    * `president`: a seat; `former_president`: the last one, where it has none (1817 §7.4).
    * `floated`: it will operate. `has_operated`: it has had its first turn, or begun it.
    * `awaits_capital`: the bank has still to issue its initial capital (1830 §11).
    * `trains`: their types.
    * `size`: its number of shares, where that is chosen (1817). `loans`: how many it has.
    * `owed_tokens`: station tokens that it has to pay for before it gets them (1817 §5.5).
    * `unpaid_interest`: dollars that its president owes the bank for it (1817 §6.8).
    * `covered_shorts`: shares in the pool that match as many that the bank is short of (1817 §7.4).
    * `reissued`: the initial offering holds shares that the company sells again (1870 §5.11).
    * `connected`: it has done its connection run, or begun it (1870 §11).
    * `closed`: it has left the game for good (1870 §5.1.1).
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
    awaits_capital: bool = False


class CityToken(msgspec.Struct, frozen=True, gc=False):
    """The token of a private in a city (1870 §15.2): worth more to `company`.

    `is_open`: it is an open port, which is worth a little to other companies too.
    """

    hex: str
    company: str
    is_open: bool = False


class State(msgspec.Struct, gc=False):
    """The whole position of one game.

    * `title`, `options`: what is played. `players`: their names by seat.
    * `cash`: dollars by owner: the bank, seats and companies. `bank_broken`: the bank could not pay (1830
      §25).
    * `companies`, `private_owners`: by symbol; a private's owner is an owner as above.
    * `depot`: how many trains of each type the bank has left; None: any number. `pool_trains`: trains for
      sale in the pool. `orphaned_trains`: trains of companies that the bank has liquidated. They are out of
      play, yet the site counts some as trains that a company could wait for.
    * `phase`: its name. `priority`: the seat with the priority deal.
    * `stack`: the frames, the one that is asked last.
    * `market_order`: companies with a price, in the order in which their tokens came to their cells.
    * `used_abilities`: privates whose ability was used or lost, once for each use.
    * `granted_certificates`: by private the owner of the certificate that came with it, and its position
      among that owner's ordinary certificates, where the title follows them.
    * `tiles`: by hex the tile and its rotation. `tokens`: by hex the (node, company) of each station token;
      node -1: its city is still to be chosen.
    * `destination_tokens`: by company the hex of its destination token. `added_slots`: by hex the slots that
      were added to its city for them. `postponed_connections`: companies whose connection run is left for
      later (1870 §11).
    * `city_tokens`: by private, see `CityToken`. `mine_hexes`, `bridge_hexes`: hexes with such a token of a
      private (1817 §1.2.6).
    * `standing_protections`: by seat and company the dollars up to which the president protects its price
      without being asked (1870 §5.9). Nobody else is shown them.
    * `offers`: the open ones; `last_offer_number`: the number of the last that was made.
    * `question_number`: grows with every new question, see `engine.kernel`.
    * `interest_per_loan`: dollars in this operating round (1817 §6.8).
    * `bankrupt_seats`: players who are out while the others play on (1817 §7.4). `crisis_start_seat`: the
      seat from which players in a cash crisis are looked for, while there are any.
    * `end_triggered_in`: the stock round, and the operating round of its set, in which the last type of train
      was bought or exported (1817 §8).
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
    granted_certificates: dict[str, tuple[str, int]] = {}
    tiles: dict[str, tuple[str, int]] = {}
    tokens: dict[str, list[tuple[int, str]]] = {}
    destination_tokens: dict[str, str] = {}
    added_slots: dict[str, int] = {}
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
        """All seats in clockwise order from the first."""
        return _SEAT_IDS[: len(self.players)]

    @property
    def active_seats(self) -> list[str]:
        """The seats of players who are not bankrupt."""
        return [s for s in self.seats if s not in self.bankrupt_seats] if self.bankrupt_seats else self.seats

    @property
    def top(self) -> AnyFrame:
        return self.stack[-1]

    @property
    def game_over(self) -> GameOver | None:
        frame = self.stack[-1]
        return frame if isinstance(frame, GameOver) else None

    def seats_from(self, seat: str) -> list[str]:
        """The active seats clockwise, from that one on."""
        seats = self.seats
        i = seats.index(seat)
        seats = seats[i:] + seats[:i]
        return [s for s in seats if s not in self.bankrupt_seats] if self.bankrupt_seats else seats

    def left_of(self, seat: str) -> str:
        """The next active seat clockwise."""
        following = seat_id((int(seat[1:]) + 1) % len(self.players))
        return following if not self.bankrupt_seats else self.seats_from(following)[0]

    def name(self, owner: str) -> str:
        """An owner as players name it: a player's name, a symbol, `pool`, `ipo` or `bank`."""
        return self.players[int(owner[1:])] if is_seat(owner) else owner


def is_seat(owner: str) -> bool:
    """Whether an owner is a player."""
    return owner[:1] == "p" and owner[1:].isdigit()


FORMAT_VERSION = 1
"""The format of encoded states and events. It is stored with them; raise it when older programs cannot read
what this one writes, and go on reading every earlier format."""

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(State)


def encode_state(state: State) -> bytes:
    """The state as MessagePack."""
    return _encoder.encode(state)


def decode_state(raw: bytes) -> State:
    """The state that `encoded` wrote. Raises msgspec.DecodeError for anything else."""
    return _decoder.decode(raw)


def copy_state(state: State) -> State:
    """A copy that shares no mutable data."""
    return _decoder.decode(_encoder.encode(state))
