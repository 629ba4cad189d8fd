"""Players of few rules, beside which a robot has to show what its planning is worth.

`greedy` buys the share of the best yield, always pays dividends, and buys a train whenever one can be paid.
It lays the tile, and places the token, after which its company earns most. `pass-and-pay` passes wherever it
may, and pays. Where their rules say nothing (forced sales, mergers, private companies that place something),
`greedy` moves as the judgements of the robot do, and `pass-and-pay` takes the first option.

`greedy` is an anchor: what a robot learns about track, stocks or trains must not make it better.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar
from zlib import crc32

from bot.features.robots.forecast import Forecast
from bot.features.robots.judgement import judge
from bot.features.robots.scored import Scored, of_kind, with_dollars
from bot.features.robots.track import applied
from engine import Game, Option, State, game_of, options, stop_revenue, visible_to
from engine.core.actions import (
    Action,
    Bid,
    BuyPrivate,
    BuyShares,
    BuyTrain,
    LayTile,
    Par,
    Pass,
    PayDividend,
    PlaceToken,
    RunTrains,
    SellShares,
    StartCompany,
    TakeLoans,
)
from engine.core.state import OperatingTurn, ParPriceChoice, StockTurn, Waterfall, WaterfallBidding
from engine.finance.ownership import certificate_limit, counted_certificates, share_percent, share_price
from engine.operating.run import ESTIMATE_BUDGET, best_run
from engine.operating.track import place_tile, terrain_cost
from engine.operating.trains import BANK_SOURCES, face_price

ActionT = TypeVar("ActionT", bound=Action)
TEMPER = 0.15
"""The part by which two greedy players of different seeds may see a yield or a price differently."""
TRIALS = 6
"""Tiles whose revenue `greedy` works out: those that lead to the dearest stops."""
START_YIELD = 0.12
"""Yield a round that `greedy` expects of a company that it starts, or that has not run yet."""


class Greedy:
    """Plays by the best yield. `seed`: of its temper, so that games differ; 0 is without."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def choose_action(self, state: State, seat: str) -> Action:
        """The action of a seat that is to act."""
        return self.ranking(state, seat)[0].action

    def ranking(self, state: State, seat: str) -> list[Scored]:
        """All that the seat may do: what its rules choose, then the judgements of the robot."""
        seen = visible_to(state, seat)
        o = Forecast(game_of(seen), seat)
        found = options(seen, seat)
        judged = judge(o, found, trials=0)
        first = _Choice(o, found, self.seed).action()
        if first is None:
            return judged
        return [Scored(first, 0.0, "it is my rule"), *(j for j in judged if j.action != first)]


class _Choice:
    """The option that the rules of `greedy` choose in one position."""

    def __init__(self, o: Forecast, found: Sequence[Option], seed: int) -> None:
        self.o, self.g, self.found, self.seed = o, o.g, found, seed

    def action(self) -> Action | None:
        """What to do; None where the rules say nothing."""
        top = self.g.top
        if isinstance(top, Waterfall | WaterfallBidding):
            return self._private()
        if isinstance(top, ParPriceChoice):
            return self._par() or min(self._of(Par), key=lambda par: par.price)
        if isinstance(top, StockTurn):
            return self._stock()
        if isinstance(top, OperatingTurn) and top.step == "track":
            return self._lay(top.company)
        if isinstance(top, OperatingTurn) and top.step == "token":
            return self._token(top.company)
        if isinstance(top, OperatingTurn) and top.step == "dividend":
            return next(iter(self._of(PayDividend)), None)
        if isinstance(top, OperatingTurn) and top.step == "trains":
            return self._train(top.company)
        return None

    def _of(self, kind: type[ActionT]) -> list[ActionT]:
        return list(of_kind(self.found, kind))

    def _pass(self) -> Action | None:
        return next(iter(self._of(Pass)), None)

    def _temper(self, name: str) -> float:
        """A factor around 1, the same for the same seed and name."""
        drawn = crc32(f"{self.seed} {name}".encode()) / 2**32
        return 1 + TEMPER * (2 * drawn - 1) * bool(self.seed)

    def _private(self) -> Action | None:
        """Each private at its face value, or $5 more, if half of the cash is left."""
        half = self.g.cash(self.o.seat) // 2
        for buy in self._of(BuyPrivate):
            if self.g.private_definition(buy.private).price <= half:
                return buy
        for bid in self._of(Bid):
            if bid.amount <= min(
                (self.g.private_definition(bid.private).price + 5) * self._temper(bid.private), half
            ):
                return bid
        return self._pass()

    def _par(self) -> Par | None:
        """The highest par price at which the seat can float a company alone."""
        cash = self.g.cash(self.o.seat)
        affordable = [par for par in self._of(Par) if self._float_cost(par) <= cash]
        return max(affordable, key=lambda par: par.price * self._temper(par.company), default=None)

    def _float_cost(self, par: Par) -> int:
        definition = self.g.company_definition(par.company)
        return definition.float_percent // share_percent(self.g, par.company) * par.price

    def _yield(self, buy: BuyShares | SellShares) -> float:
        """What a share pays a round on today's track, as a part of its price."""
        g, company = self.g, buy.company
        co = g.company(company)
        if not co.has_operated:
            return START_YIELD if co.floated or co.president == self.o.seat else 0.0
        price = share_price(g, company, buy.source) if isinstance(buy, BuyShares) else g.price(company)
        paid = self.o.revenue(company) * share_percent(g, company) / 100
        return self._temper(company) * paid / max(price or 0, 1)

    def _stock(self) -> Action | None:
        """Float what was started, else start what can be floated, else the best yield. Swap when full."""
        g, seat = self.g, self.o.seat
        shares = [buy for buy in self._of(BuyShares) if buy.count == 1]
        for buy in shares:
            if g.company(buy.company).president == seat and not g.company(buy.company).floated:
                return buy
        if par := self._par():
            return par
        train = self.o.next_train()
        starts = [each for each in self.found if isinstance(each.action, StartCompany)]
        if starts and train and len(self.o.own_companies()) < 2 and g.cash(seat) >= train.price:
            return with_dollars(max(starts, key=lambda each: self._temper(repr(each.action))), train.price)
        best = max(shares, key=self._yield, default=None)
        if best and self._yield(best) > 0:
            return best
        if counted_certificates(g, seat) >= certificate_limit(g):
            sales = [sale for sale in self._of(SellShares) if sale.count == 1 and not self._yield(sale)]
            return sales[0] if sales else self._pass()
        return self._pass()

    def _lay(self, company: str) -> Action | None:
        """The tile after which the company earns most; of equal ones, that which leads to the dearest stops.
        None that brings neither."""
        drafts = list[tuple[float, int, LayTile, Game]]()
        for number, lay in enumerate(self._of(LayTile)):
            draft = self.g.draft()
            place_tile(draft, company, lay)
            drafts.append((_within_reach(draft, company), -number, lay, draft))
        drafts.sort(key=lambda each: each[:2], reverse=True)
        best, least = self._pass(), (self._earned(self.g, company), _within_reach(self.g, company))
        for near, _, lay, draft in drafts[:TRIALS]:
            found, cost = (self._earned(draft, company), near), terrain_cost(self.g, lay.hex)
            if found > least and self._leaves_train(company, cost):
                best, least = lay, found
        return best

    def _token(self, company: str) -> Action | None:
        """The token after which the company earns most; none that brings nothing."""
        best, least = self._pass(), self._earned(self.g, company)
        for token in self._of(PlaceToken):
            draft = applied(self.o, token)
            found, cost = self._earned(draft, company), self.g.cash(company) - draft.cash(company)
            if found > least and self._leaves_train(company, cost):
                best, least = token, found
        return best

    def _earned(self, g: Game, company: str) -> int:
        """Dollars that the company earns a round, with the next train of the bank if it has none."""
        train = self.o.next_train()
        trains = g.company(company).trains or ([train.name] if train else [])
        return best_run(g, company, trains, ESTIMATE_BUDGET).revenue

    def _leaves_train(self, company: str, cost: int) -> bool:
        """Whether a company without a train can still pay one, if it can now."""
        train, cash = self.o.next_train(), self.g.cash(company)
        if train is None or self.g.company(company).trains:
            return True
        return not cash - cost < train.price <= cash

    def _train(self, company: str) -> Action | None:
        """The dearest train of the bank that the treasury pays, or the fewest loans towards the first."""
        cash = self.g.cash(company)
        prices = [(face_price(self.g, b), b) for b in self._of(BuyTrain) if b.source in BANK_SOURCES]
        paid = [each for each in prices if each[0] <= cash]
        if paid:
            return max(paid, key=lambda each: each[0])[1]
        if not self.g.company(company).trains:
            return min(self._of(TakeLoans), key=lambda loan: loan.count, default=None)
        return self._pass()


def _within_reach(g: Game, company: str) -> float:
    """Dollars of the stops that the company's track leads to, and a dollar for each hex of it."""
    reach, phase = g.network.reachable(company), g.state.phase
    stops = sum(stop_revenue(g.components, phase, g.network.node(stop)) for stop in reach.stops)
    return stops + len(reach.edges)


class PassAndPay:
    """Passes wherever it may, and pays."""

    def choose_action(self, state: State, seat: str) -> Action:
        """The action of a seat that is to act."""
        return self.ranking(state, seat)[0].action

    def ranking(self, state: State, seat: str) -> list[Scored]:
        """All that the seat may do: pass, then dividends and runs, then the others as the rules list them."""
        first = Pass, PayDividend, RunTrains
        found = [each.action for each in options(state, seat)]
        found.sort(
            key=lambda action: next((i for i, kind in enumerate(first) if isinstance(action, kind)), 9)
        )
        return [Scored(action, 0.0, "it is the first option") for action in found]
