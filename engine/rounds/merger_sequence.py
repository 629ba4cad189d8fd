"""The sequence of rounds where a merger round follows each operating round (1817 §3, §5, §6, §8)."""

from __future__ import annotations

from dataclasses import dataclass

from engine.core.components import ExtraTokensAbility, MarketZone
from engine.core.events import CoveredShortsChanged, PriorityMoved, PrivateMoved, RoundStarted, SharesMoved
from engine.core.reasons import CashReason, PriceReason
from engine.core.state import (
    BANK,
    CLOSED,
    POOL,
    MergerRound,
    OperatingRound,
    OperatingTurn,
    StockRound,
    is_seat,
)
from engine.finance import market
from engine.finance.loans import in_zone, is_tradable, put_into_liquidation, set_interest
from engine.finance.ownership import share_percent
from engine.game import Game
from engine.mechanics import AutomaticRules
from engine.operating.loans_and_interest import may_operate
from engine.private_companies.abilities import pay_mail_contracts


def begin_stock_round(g: Game, number: int) -> StockRound:
    """Start the stock round of that number.

    First the bank buys treasury shares to close its short positions (1817 §7.4), except in companies whose
    shares cannot be traded now (1817 §1.2.2).
    """
    for company, co in g.state.companies.items():
        pool, treasury = co.shares.get(POOL, 0), max(co.shares.get(company, 0), 0)
        covered = co.covered_shorts * share_percent(g, company) if co.covered_shorts else 0
        short = min(max(-pool, 0) + covered, treasury)
        if short > 0 and is_tradable(g, company):
            dollars = short // share_percent(g, company) * g.price(company)
            g.pay(BANK, company, dollars, CashReason.SHARES, company)
            if change := min(max(-pool, 0) + covered - short, covered) - covered:
                g.emit(CoveredShortsChanged(company, change // share_percent(g, company)))
            g.emit(SharesMoved(company, company, POOL, short))
    g.emit(RoundStarted(f"stock round {number}"))
    first = g.state.seats_from(g.state.priority)[0]
    if first != g.state.priority:
        g.emit(PriorityMoved(first))
    return StockRound(number=number, current_seat=first)


@dataclass(frozen=True)
class StockRoundEnd:
    """What happens at the end of a stock round (1817 §5.5, §5.7).

    Companies that owe for tokens go into liquidation, prices move, and the privates that give station tokens
    close. `short_squeeze`: the price of a company of which players hold more than 100 % rises by two spaces
    (1817 §9.3).
    """

    short_squeeze: bool = False

    def __call__(self, g: Game) -> None:
        # 1817 §5.5 gives no order; the last is sold first, 1817 §7
        for company, co in g.state.companies.items():
            if co.owed_tokens:
                put_into_liquidation(g, company, PriceReason.TOKENS_UNPAID)
        for company in g.operating_order():
            self._move_price(g, company)
        for private, owner in list(g.owned_privates()):
            if not is_seat(owner) and isinstance(g.private_definition(private).ability, ExtraTokensAbility):
                g.emit(PrivateMoved(private, CLOSED))

    def _move_price(self, g: Game, company: str) -> None:
        co = g.company(company)
        if co.size is None or co.size <= 2 or in_zone(g, company, MarketZone.LIQUIDATION):
            return
        held = sum(p for h, p in co.shares.items() if is_seat(h) and p > 0)
        rises = (held >= 100) + (self.short_squeeze and held > 100)
        for _ in range(rises):
            market.move_token(
                g, company, market.right(g, market.token_space(g, company)), PriceReason.HELD_BY_PLAYERS
            )
        for _ in range(max(co.shares.get(POOL, 0), 0) // share_percent(g, company)):
            market.move_token(
                g, company, market.left(g, market.token_space(g, company)), PriceReason.SHARES_IN_POOL
            )


@dataclass(frozen=True)
class GameLength:
    """How long the game goes on after its end is triggered (1817 §8).

    `last_set_rounds`: operating rounds in the last set, if the end was triggered in the last round of a set.
    `final_merger`: whether a merger round follows the last operating round.
    """

    last_set_rounds: int = 3
    final_merger: bool = False

    def operating_rounds(self, g: Game, stock_round: int) -> int:
        """The number of operating rounds after that stock round."""
        return self._rounds_in_set(g, g.state.end_triggered_in, stock_round)

    def _rounds_in_set(self, g: Game, trigger: tuple[int, int] | None, stock_round: int) -> int:
        usual = g.phase.operating_rounds
        is_last_set = trigger and stock_round > trigger[0] and trigger[1] >= usual
        return self.last_set_rounds if is_last_set else usual

    def rounds_left(self, g: Game) -> int | None:
        """How many operating rounds follow this one; None before the end is triggered."""
        trigger = g.state.end_triggered_in
        match g.state.stack[0]:
            case _ if trigger is None:
                return None
            case (
                OperatingRound(stock_round=stock_round, number=number)
                | MergerRound(stock_round=stock_round, number=number)
            ):
                return self._rounds_after(g, trigger, stock_round, number)
            case StockRound(number=stock_round):
                return self._rounds_after(g, trigger, stock_round, 0)
        return None

    def _rounds_after(self, g: Game, trigger: tuple[int, int], stock_round: int, number: int) -> int:
        """Operating rounds after the one with that number in its set (0: after the stock round)."""
        left = self._rounds_in_set(g, trigger, stock_round) - number
        if stock_round == trigger[0]:
            left += self._rounds_in_set(g, trigger, stock_round + 1)
        return left

    def trigger_for(self, g: Game, stock_round: int, number: int, left: int | None) -> tuple[int, int] | None:
        """When the end was triggered if so many operating rounds follow that one; None if impossible.

        `number`: of the operating round in its set, 0 in the stock round. `left` None: as if the end had been
        triggered in this operating round, or in the last one before this stock round.
        """
        usual = g.phase.operating_rounds
        triggers = [
            *((stock_round, n) for n in range(min(number, usual), 0, -1)),
            *((stock_round - 1, n) for n in range(usual, 0, -1)),
        ]
        for trigger in triggers:
            exists = number <= self._rounds_in_set(g, trigger, stock_round)
            if exists and left in (None, self._rounds_after(g, trigger, stock_round, number)):
                return trigger
        return None

    def is_last_round(self, g: Game, stock_round: int, number: int, rounds_in_set: int) -> bool:
        """Whether the game ends with that operating round of the set."""
        triggered = g.state.end_triggered_in
        return triggered is not None and stock_round > triggered[0] and number >= rounds_in_set


def begin_operating_round(g: Game) -> None:
    """Begin the operating round on top: fix the interest and pay mail contracts; companies not in liquidation
    will operate (1817 §6)."""
    frame = g.top
    assert isinstance(frame, OperatingRound)
    g.emit(RoundStarted(f"operating round {frame.stock_round}.{frame.number} of {frame.rounds_in_set}"))
    set_interest(g)
    pay_mail_contracts(g)
    waiting = tuple(c for c in g.operating_order() if may_operate(g, c))
    g.change_top(frame, yet_to_operate=waiting)


@dataclass(frozen=True)
class OperatingWithMergersRules(AutomaticRules):
    """A turn for each company, always the highest in the order that has not operated; then a merger round."""

    first_step: str

    def advance(self, g: Game, frame: OperatingRound) -> bool:
        waiting = tuple(c for c in g.operating_order() if c in frame.yet_to_operate and may_operate(g, c))
        if waiting:
            g.change_top(frame, yet_to_operate=waiting[1:])
            g.push(OperatingTurn(waiting[0], self.first_step))
            return True
        gray = tuple(c for c in g.state.market_order if in_zone(g, c, MarketZone.ACQUISITION))
        red = tuple(c for c in g.state.market_order if in_zone(g, c, MarketZone.LIQUIDATION))
        order = tuple(g.operating_order())
        g.replace_top(
            MergerRound(
                frame.stock_round,
                frame.number,
                frame.rounds_in_set,
                "export",
                order,
                gray,
                red,
                initial_order=order,
            )
        )
        return True
