"""The sequence of rounds: stock rounds, and sets of operating rounds between them (1830 §3, §16, §22).

A stock round ends when all players have passed in a row. The phase in which a set of operating rounds begins
says how many rounds it has. If the bank breaks, the game ends with the set (1830 §25); other
ends, and final scores, are here too (1830 §23.3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.core.events import PriorityMoved, RoundStarted
from engine.core.reasons import PriceReason
from engine.core.state import (
    IPO,
    POOL,
    AnyFrame,
    GameOver,
    OperatingRound,
    OperatingTurn,
    PendingSale,
    StockRound,
    StockTurn,
    is_seat,
)
from engine.finance import market
from engine.finance.ownership import net_worth, president_share_percent, share_percent
from engine.game import Game
from engine.mechanics import AutomaticRules, do_nothing, no_reason
from engine.operating.stations import HomeChooser, begin_first_turn
from engine.private_companies.abilities import pay_private_income


def start_stock_round(g: Game, number: int, sales: tuple[PendingSale, ...] = ()) -> StockRound:
    """Announce and make the stock round of that number; the player with the priority begins (1830 §4, §7).

    `sales`: blocks about which presidents are still to be asked at the end of its first turn.
    """
    g.emit(RoundStarted(f"stock round {number}"))
    return StockRound(number=number, current_seat=g.state.priority, pending_sales=sales)


def start_first_stock_round(g: Game) -> AnyFrame:
    """Start the stock round that follows the sale of the privates."""
    return start_stock_round(g, 1)


def raise_sold_out_prices(g: Game, count_treasury: bool) -> None:
    """Move up the price of each company whose shares players hold all (1830 §8.2.2).

    `count_treasury`: shares in the company's treasury count as held by players.
    """
    for company in g.operating_order():
        co = g.company(company)
        if co.floated and all(is_seat(h) or (count_treasury and h == company) for h in co.shares):
            market.move_token(g, company, market.up(g, market.token_space(g, company)), PriceReason.SOLD_OUT)


def first_operating_round(g: Game, stock_round: int) -> OperatingRound:
    """The first operating round after the stock round of that number."""
    return OperatingRound(stock_round=stock_round, number=1, rounds_in_set=g.phase.operating_rounds)


def begin_operating_round(g: Game) -> None:
    """Begin the operating round on top: pay awaited capital and private income; the companies that have
    floated will operate (1830 §11, §16)."""
    frame = g.top
    assert isinstance(frame, OperatingRound)
    g.emit(RoundStarted(f"operating round {frame.stock_round}.{frame.number} of {frame.rounds_in_set}"))
    g.title.flotation.pay_awaited(g)
    pay_private_income(g)
    floated = tuple(c for c in g.operating_order() if g.company(c).floated)
    g.change_top(frame, yet_to_operate=floated)


@dataclass(frozen=True)
class StockRoundRules(AutomaticRules):
    """Turns until all players pass in a row; then prices of sold-out companies rise (1830 §8.2.2).

    `end_reason`: why the game is over before another turn or round, or None. `count_treasury`: shares in a
    company's own treasury count as sold (1870 §5.10). `last_round`: the game ends after the stock round of
    this number. `at_end`: what follows the last turn, instead of the rise of prices. `make_operating_round`
    makes the first operating round, and `begin_operating_round` begins it.
    """

    end_reason: Callable[[Game], str | None] = no_reason
    count_treasury: bool = False
    last_round: int | None = None
    at_end: Callable[[Game], None] | None = None
    make_operating_round: Callable[[Game, int], OperatingRound] = first_operating_round
    begin_operating_round: Callable[[Game], None] = begin_operating_round

    def advance(self, g: Game, frame: StockRound) -> bool:
        if frame.consecutive_passes < len(g.state.active_seats):
            if why := self.end_reason(g):
                g.replace_top(GameOver(why))
            else:
                guaranteed, sales = frame.current_seat in frame.guaranteed_turns, frame.pending_sales
                if guaranteed or sales:
                    g.change_top(frame, guaranteed_turns=(), pending_sales=())
                g.push(StockTurn(frame.current_seat, guaranteed=guaranteed, pending_sales=sales))
            return True
        self.finish(g)
        if frame.last_to_act:
            g.emit(PriorityMoved(g.state.left_of(frame.last_to_act)))
        if why := self.end_reason(g) or self._last_round_reason(frame):
            g.replace_top(GameOver(why))
            return True
        g.replace_top(self.make_operating_round(g, frame.number))
        self.begin_operating_round(g)
        return True

    def finish(self, g: Game) -> None:
        """What follows the last turn: prices move."""
        if self.at_end:
            self.at_end(g)
        else:
            raise_sold_out_prices(g, self.count_treasury)

    def _last_round_reason(self, frame: StockRound) -> str | None:
        if self.last_round is None or frame.number < self.last_round:
            return None
        return f"The game ends after stock round {frame.number}."


@dataclass(frozen=True)
class OperatingRoundRules(AutomaticRules):
    """A turn for each company; the next is always the one with the highest price (1830 §16).

    `home_chooser`: who chooses among several home cities. `interruption` makes what comes before the next
    turn, if anything. `end_reason`: see `StockRoundRules`. `finish_set`: after the bank breaks, the set of
    rounds is finished (1830 §25); otherwise only the round. `fix_first_company`: the company that begins the
    round is fixed before the first interruption.
    """

    first_step: str
    home_chooser: HomeChooser
    interruption: Callable[[Game, OperatingRound], AnyFrame | None] = do_nothing
    end_reason: Callable[[Game], str | None] = no_reason
    finish_set: bool = True
    fix_first_company: bool = False

    def rounds_left(self, g: Game) -> int:
        """How many operating rounds follow this one after the bank has broken."""
        match g.state.stack[0]:
            case OperatingRound(number=number, rounds_in_set=of):
                return of - number if self.finish_set else 0
        return g.phase.operating_rounds if self.finish_set else 1

    def advance(self, g: Game, frame: OperatingRound) -> bool:
        waiting = tuple(c for c in frame.yet_to_operate if not g.company(c).closed)
        if why := self.end_reason(g):
            g.replace_top(GameOver(why))
        elif interruption := self.interruption(g, frame):
            if (
                self.fix_first_company
                and waiting
                and frame.last_operated is None
                and frame.first_company is None
            ):
                top = g.top
                assert isinstance(top, OperatingRound)
                first = self._next_company(g, frame, waiting)
                g.change_top(top, first_company=first)
            g.push(interruption)
        elif waiting:
            following = self._next_company(g, frame, waiting)
            waiting = tuple(c for c in waiting if c != following)
            g.change_top(
                frame,
                yet_to_operate=waiting,
                last_operated=following,
                operated=(*frame.operated, following),
                pending_sales=(),
                first_company=None,
            )
            is_first = not g.company(following).has_operated
            g.push(
                OperatingTurn(
                    following, self.first_step, is_first=is_first, pending_sales=frame.pending_sales
                )
            )
            begin_first_turn(g, following, self.home_chooser)
        elif frame.number < frame.rounds_in_set and (self.finish_set or not g.state.bank_broken):
            g.change_top(frame, number=frame.number + 1, yet_to_operate=(), last_operated=None, operated=())
            begin_operating_round(g)
        elif g.state.bank_broken:
            g.replace_top(GameOver("The bank is broken."))
        else:
            g.replace_top(start_stock_round(g, frame.stock_round + 1, frame.pending_sales))
        return True

    def _next_company(self, g: Game, frame: OperatingRound, waiting: tuple[str, ...]) -> str:
        if frame.first_company in waiting:
            return frame.first_company
        return next(c for c in g.operating_order() if c in waiting)


@dataclass(frozen=True)
class GameOverRules(AutomaticRules):
    """The game is over."""

    def advance(self, g: Game, frame: GameOver) -> bool:
        return False


LAST_STOCK_ROUND_ON_SITE = 100
"""18xx.games ends a game after this stock round; it has no rule for a stalemate."""


def final_scores(g: Game, bankrupt: str | None, *, with_privates: bool) -> dict[str, int]:
    """Net worth in dollars by seat. `with_privates`: a bankrupt player's privates count as well."""
    worth = {seat: net_worth(g, seat) for seat in g.state.seats}
    if bankrupt and not with_privates:
        worth[bankrupt] -= sum(g.private_definition(p).price for p in g.privates_of(bankrupt))
    return worth


def end_at_price(price: int) -> Callable[[Game], str | None]:
    """A rule that ends the game once a company's price has reached that many dollars (1870 §16.1)."""

    def reached(g: Game) -> str | None:
        for company in g.state.market_order:
            if g.price(company) >= price:
                return f"The {company} has reached ${price:,}."
        return None

    return reached


def end_by_stalemate(g: Game) -> str | None:
    """Why the game is over by a stalemate (1870 §13.3), or None: no company operates, no private pays a
    player, and all players together cannot float a company."""
    if any(is_seat(owner) or owner == POOL for owner in g.state.private_owners.values()):
        return None
    if not any(co.closed for co in g.state.companies.values()):
        return None
    if any(co.floated for co in g.state.companies.values()):
        return None
    cash = [g.cash(seat) for seat in g.state.seats]
    for company, co in g.state.companies.items():
        if co.closed:
            continue
        share, price = share_percent(g, company), co.par or min(g.components.par_prices)
        missing = g.company_definition(company).float_percent - (100 - co.shares.get(IPO, 0))
        first = price * president_share_percent(g, company) // share if co.par is None else price
        if max(cash) >= first and sum(cash) >= price * missing // share:
            return None
    return "A stalemate: no company operates and none can be started; nobody wins."
