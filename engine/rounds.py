"""The order of rounds: stock rounds, and the operating rounds between them (1830 §3, §16, §22).

A stock round ends when every player has passed in a row. The number of operating rounds is that
of the phase in which their set begins. A broken bank ends the game with the set (§25).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec

from engine import market
from engine.actions import Action
from engine.events import PriorityMoved, RoundBegan
from engine.game import Game
from engine.opening.waterfall import pay_private_income
from engine.operating.stations import Chooser, establish_home
from engine.state import (
    AnyFrame,
    GameOver,
    OperatingRound,
    OperatingTurn,
    Sale,
    StockRound,
    StockTurn,
    is_seat,
)
from engine.title import Option


def stock_round(g: Game, number: int, sales: tuple[Sale, ...] = ()) -> StockRound:
    """The stock round of that number: whoever has the priority begins (§4, §7). `sales`: what is still to
    be asked at the end of the first turn."""
    g.emit(RoundBegan(f"stock round {number}"))
    return StockRound(number=number, turn=g.state.priority, sales=sales)


def first_stock_round(g: Game) -> AnyFrame:
    """The stock round that follows the sale of the privates."""
    return stock_round(g, 1)


@dataclass(frozen=True)
class Unasked:
    """A frame that nobody answers."""

    def asked(self, g: Game, frame: AnyFrame) -> tuple[str, ...]:
        return ()

    def needs(self, g: Game, frame: AnyFrame) -> str:
        return ""

    def options(self, g: Game, frame: AnyFrame, seat: str) -> Iterator[Option]:
        yield from ()

    def refuse(self, g: Game, frame: AnyFrame, seat: str, action: Action) -> str | None:
        return "Nothing is asked."

    def take(self, g: Game, frame: AnyFrame, seat: str, action: Action) -> None:
        raise AssertionError("nothing is asked")


def going_on(g: Game) -> str | None:
    """The game goes on."""
    return None


def nothing_between(g: Game, frame: OperatingRound) -> AnyFrame | None:
    """One turn follows the other."""
    return None


def raise_sold_out(g: Game, own_count: bool) -> None:
    """Move up every token of a company that players hold whole (§8.2.2), or players and it itself."""
    for company in g.operating_order():
        co = g.company(company)
        if co.floated and all(is_seat(h) or (own_count and h == company) for h in co.shares):
            market.move(g, company, market.up(g, market.place(g, company)), "sold out")


def open_set(g: Game, after: int) -> OperatingRound:
    """The first operating round after that stock round."""
    return OperatingRound(after=after, number=1, of=g.phase.operating_rounds)


def begin_operating(g: Game) -> None:
    """Pay private income; whoever has floated by now will operate (§11, §16)."""
    frame = g.top
    assert isinstance(frame, OperatingRound)
    g.emit(RoundBegan(f"operating round {frame.after}.{frame.number} of {frame.of}"))
    pay_private_income(g)
    running = tuple(c for c in g.operating_order() if g.company(c).floated)
    g.change(msgspec.structs.replace(frame, waiting=running))


@dataclass(frozen=True)
class StockRounds(Unasked):
    """Turns until all pass in a row; then prices of sold-out companies rise (§8.2.2).

    `ended`: why the game is over before another turn or round, if it is. `own_count`: what a company
    holds of itself counts as sold (1870 §5.10). `last`: the number of the round with which the game is
    over in any case. `closing`: what follows the last turn instead. `following`: makes the first
    operating round, which `begin` begins.
    """

    ended: Callable[[Game], str | None] = going_on
    own_count: bool = False
    last: int | None = None
    closing: Callable[[Game], None] | None = None
    following: Callable[[Game, int], OperatingRound] = open_set
    begin: Callable[[Game], None] = begin_operating

    def settle(self, g: Game, frame: StockRound) -> bool:
        if frame.passes < len(g.state.active):
            if why := self.ended(g):
                g.change(GameOver(why))
            else:
                tempted, sales = frame.turn in frame.tempted, frame.sales
                if tempted or sales:
                    g.change(msgspec.structs.replace(frame, tempted=(), sales=()))
                g.open(StockTurn(frame.turn, tempted=tempted, sales=sales))
            return True
        if self.closing:
            self.closing(g)
        else:
            raise_sold_out(g, self.own_count)
        if frame.last:
            g.emit(PriorityMoved(g.state.left_of(frame.last)))
        if why := self.ended(g) or self._outlasted(frame):
            g.change(GameOver(why))
            return True
        g.change(self.following(g, frame.number))
        self.begin(g)
        return True

    def _outlasted(self, frame: StockRound) -> str | None:
        if self.last is None or frame.number < self.last:
            return None
        return f"Stock round {frame.number} is over, and with it the game."


@dataclass(frozen=True)
class OperatingRounds(Unasked):
    """A turn for each company, the next always the highest of those that wait (§16).

    `between`: what comes first, before another company has its turn. `ended`: see `StockRounds`.
    `whole_set`: a broken bank lets the set of rounds be finished (§25), else only the round.
    `first_is_settled`: who begins is known before what comes first.
    """

    first_step: str
    home_chosen_by: Chooser
    between: Callable[[Game, OperatingRound], AnyFrame | None] = nothing_between
    ended: Callable[[Game], str | None] = going_on
    whole_set: bool = True
    first_is_settled: bool = False

    def left(self, g: Game) -> int:
        """How many operating rounds are still to come after this one, now that the bank is broken."""
        match g.state.stack[0]:
            case OperatingRound(number=number, of=of):
                return of - number if self.whole_set else 0
        return g.phase.operating_rounds if self.whole_set else 1

    def settle(self, g: Game, frame: OperatingRound) -> bool:
        waiting = tuple(c for c in frame.waiting if not g.company(c).closed)
        if why := self.ended(g):
            g.change(GameOver(why))
        elif interruption := self.between(g, frame):
            if self.first_is_settled and waiting and frame.ran is None and frame.first is None:
                g.change(msgspec.structs.replace(frame, first=self._following(g, frame, waiting)))
            g.open(interruption)
        elif waiting:
            following = self._following(g, frame, waiting)
            waiting = tuple(c for c in waiting if c != following)
            turned = (*frame.turned, following)
            g.change(
                msgspec.structs.replace(
                    frame, waiting=waiting, ran=following, turned=turned, sales=(), first=None
                )
            )
            first = not g.company(following).running
            g.open(OperatingTurn(following, self.first_step, first=first, sales=frame.sales))
            establish_home(g, following, self.home_chosen_by)
        elif frame.number < frame.of and (self.whole_set or not g.state.broken):
            g.change(msgspec.structs.replace(frame, number=frame.number + 1, waiting=(), ran=None, turned=()))
            begin_operating(g)
        elif g.state.broken:
            g.change(GameOver("The bank is broken."))
        else:
            g.change(stock_round(g, frame.after + 1, frame.sales))
        return True

    def _following(self, g: Game, frame: OperatingRound, waiting: tuple[str, ...]) -> str:
        if frame.first in waiting:
            return frame.first
        return next(c for c in g.operating_order() if c in waiting)


@dataclass(frozen=True)
class Ended(Unasked):
    """The game is over."""

    def settle(self, g: Game, frame: GameOver) -> bool:
        return False
