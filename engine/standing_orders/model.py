"""What an order is, what it is judged by, and what a judgement can be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import msgspec

from engine.core.events import AnyEvent
from engine.core.hidden_orders import visible_to
from engine.core.state import Auction, PostMergerTrade, State
from engine.game import Game
from engine.kernel import awaited_seats, game_of

Questions = Literal["deals", "polls", "votes"]
"""Questions beside one's turn: `deals`, offers of other players; `votes`, on an undo or an early end;
`polls`, these votes and every question of the rules that several players are asked at once."""

DividendChoice = Literal["pay", "withhold", "half"]
ConditionKind = Literal["below", "above", "floats", "starts", "sold", "bought", "par", "sale"]


class StopCondition(msgspec.Struct, frozen=True):
    """What ends an order if it happens after the arming: `unless price NYC < 80`, `unless NYC floats`.

    kind: the price falls `below` or rises `above` so many dollars; the company `floats` or `starts`, or a
    player sells (`sold`) or buys (`bought`) shares of it. Of no company: another player sets a `par` price
    or sells shares (`sale`).
    """

    kind: ConditionKind
    company: str = ""
    dollars: int = 0


class Order(msgspec.Struct, frozen=True):
    """Base of all orders."""

    @property
    def field(self) -> str:
        """What it is about: orders of one field follow each other. A company's symbol for its turns."""
        return "stock"

    @property
    def subject(self) -> str:
        """What its verb is about: an order of the same verb and subject takes the place of an older one."""
        return ""


class AutoPass(Order, frozen=True):
    """Pass in this round, or only the next time (`once`)."""

    once: bool = False
    unless: tuple[StopCondition, ...] = ()


class AutoBuy(Order, frozen=True):
    """Buy one share in each turn, so many in all, or until the company has floated.

    count: None with `until_floated`. source: where to buy, None for wherever it is cheapest. limit: the most
    dollars for a share. then_pass: pass in the rest of the stock round.
    """

    company: str
    count: int | None = 1
    source: str | None = None
    limit: int | None = None
    then_pass: bool = False
    unless: tuple[StopCondition, ...] = ()

    @property
    def until_floated(self) -> bool:
        return self.count is None

    @property
    def subject(self) -> str:
        return self.company


class AutoBuyPrivate(Order, frozen=True):
    """Buy a private when it is on offer at a price up to a limit in dollars."""

    item: str
    limit: int

    @property
    def subject(self) -> str:
        return self.item


class AutoBid(Order, frozen=True):
    """Bid the least that is possible whenever one is asked and not the highest bidder, up to a limit in
    dollars. then_pass: leave the auction above the limit, instead of being asked."""

    item: str
    limit: int
    then_pass: bool = False

    @property
    def subject(self) -> str:
        return self.item

    @property
    def is_nothing(self) -> bool:
        """Whether it leaves the auction as soon as its owner is asked."""
        return self.limit == 0 and self.then_pass


class AutoRun(Order, frozen=True):
    """Run the best routes of a company in each of its turns, and pass everything else.

    dividend: what becomes of the revenue. unless_lay: ask the owner where a tile would raise the revenue.
    """

    company: str
    dividend: DividendChoice = "pay"
    unless_lay: bool = False

    @property
    def field(self) -> str:
        return self.company

    subject = field


class AutoTurn(Order, frozen=True):
    """Say these lines in the company's next turn, as long as each leads to what it led to as planned."""

    company: str
    lines: tuple[str, ...]

    @property
    def field(self) -> str:
        return self.company

    subject = field


class AutoDecline(Order, frozen=True):
    """Decline every question of a kind."""

    questions: Questions

    @property
    def field(self) -> str:
        return self.questions

    subject = field


class AutoProtect(Order, frozen=True):
    """Protect the price of a company up to so many dollars, and decline above them (1870 §5.9)."""

    company: str
    limit: int

    @property
    def field(self) -> str:
        return "protection"

    @property
    def subject(self) -> str:
        return self.company


class Says(NamedTuple):
    """The order says this line now."""

    line: str


class Waits(NamedTuple):
    """The order has nothing to say now."""


class Ended(NamedTuple):
    """The order is over. reason: a sentence for its owner. done: it has done what it was left for; otherwise
    nothing may be said in its place."""

    reason: str
    done: bool = False


Judgement = Says | Waits | Ended
WAITS = Waits()


class PlayedMove(NamedTuple):
    """A move of the line of play. order_id: the order that said it, None for a player's own."""

    seat: str
    line: str
    events: Sequence[AnyEvent]
    order_id: int | None = None


@dataclass(frozen=True)
class ArmedOrder:
    """An order of a seat, and what has happened since it was left.

    start: the position in which it was armed. moves: those since then that still count.
    """

    id: int
    seat: str
    order: Order
    start: State
    moves: tuple[PlayedMove, ...] = ()

    def with_move(self, move: PlayedMove) -> ArmedOrder:
        """The same after another move."""
        return ArmedOrder(self.id, self.seat, self.order, self.start, (*self.moves, move))

    def at(self, state: State) -> Circumstances:
        """What it is judged by in the position after its moves."""
        return Circumstances(self, state)


class EndedOrder(NamedTuple):
    """An order that is over, and the reason, as a sentence for its owner."""

    id: int
    seat: str
    reason: str


class Circumstances:
    """An armed order with the position now, both as its owner sees them."""

    def __init__(self, armed: ArmedOrder, state: State) -> None:
        self.id = armed.id
        self.seat = armed.seat
        self.moves = armed.moves
        self._start = armed.start
        self.g: Game = game_of(visible_to(state, armed.seat))

    @cached_property
    def start(self) -> Game:
        """The game when the order was armed."""
        return game_of(visible_to(self._start, self.seat))

    @cached_property
    def may_act(self) -> bool:
        """Whether the owner may answer now, and not only in advance."""
        top = self.g.top
        seats = awaited_seats(self.g)
        return self.seat in (seats[:1] if isinstance(top, Auction | PostMergerTrade) else seats)

    def events(self) -> Iterator[tuple[PlayedMove, AnyEvent]]:
        """Every event since the arming, with its move."""
        for move in self.moves:
            for event in move.events:
                yield move, event

    @property
    def said(self) -> int:
        """How many lines the order has said."""
        return sum(move.order_id == self.id for move in self.moves)

    def name(self, owner: str) -> str:
        """An owner as players name it."""
        return self.g.state.name(owner)
