"""What a player expects of the game: rounds to come, rust, revenues, and what a share will bring.

All estimates are in dollars. They are made once for a position (`Forecast`) and look only at what everybody
at the table may know.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, wraps
from math import ceil, exp, log1p
from typing import Any, TypeVar, TypeVarTuple

from bot.features.robots.places import at_home, part_by_place
from bot.features.robots.weights import DEFAULT_WEIGHTS, Weights
from engine import BANK, Game, OperatingRound, is_seat
from engine.board.routes import BestRoutes
from engine.core.components import MarketZone, TrainDefinition
from engine.core.state import MergerRound, OperatingTurn
from engine.finance import market
from engine.finance.loans import in_zone, loans_available
from engine.finance.ownership import share_percent
from engine.operating.dividends import DividendStep
from engine.operating.run import ESTIMATE_BUDGET, best_run
from engine.operating.track import legal_lays, terrain_cost
from engine.operating.trains import trains_for_sale
from engine.operating.turn import OperatingTurnQuestion

SHORT_RESERVE = 0.75
"""Which part of the price of a share sold short is kept in cash."""
LIQUIDATION_LOSS = 2_000.0
"""Dollars that it may cost a president that a company cannot pay its interest."""
NO_RUN = BestRoutes((), 0, 0)
"""What a company without trains runs."""
STOP_VALUE = {"white": 20, "yellow": 22, "green": 30, "brown": 42, "gray": 50}
"""Dollars of an average stop once tiles of that colour are laid."""
GROWN = (0.8, 0.5, 0.3, 0.15)
"""Which part of its distance the longest train of a company, the second, … runs on grown track."""
GROWTH_ROUNDS = 3.0
"""Operating rounds in which about two thirds of the missing track are laid."""
OTHER_FLOW = 120.0
"""Dollars a round that the bank pays beside the revenues of today."""
FIRST_ROUTE = 0.6
"""Which part of its stops the train of a company without a route will run to."""
NEW_TRACK = 0.8
"""Which part of what its trains would earn on grown track, over today's, a new company will earn."""
ROUNDS_TO_ROUTE = 1.5
"""Operating rounds until a company without a route has one."""
TREASURY_SOLD = 0.5
"""Which part of the shares in the treasury of a new company others probably buy."""
LEFT_FOR_TRAINS = 0.8
"""What a new company of another player spends on trains, as a part of its capital."""
UNSURE = 0.6
"""How a round counts in which a company runs only with a train whose price it lacks."""
LASTING = 2.5
"""Operating rounds after which a train that lasts still runs."""
UNLIMITED = 4
"""How many trains of an unlimited type the bank probably sells before the next type."""


Ts = TypeVarTuple("Ts")
ResultT = TypeVar("ResultT")


def once(method: Callable[[Forecast, *Ts], ResultT]) -> Callable[[Forecast, *Ts], ResultT]:
    """Make an estimate once for a position. Callers must not change its result."""
    name = method.__name__

    @wraps(method)
    def estimate(o: Forecast, *args: *Ts) -> ResultT:
        key = name, *args
        if key not in o.known:
            o.known[key] = method(o, *args)
        result: ResultT = o.known[key]
        return result

    return estimate


def with_rest_of_set(rounds: float, in_set: int, of_set: int) -> float:
    """Operating rounds to the end of the set in which so many rounds are over.

    A game in which the bank breaks goes on to the end of that set. `in_set`: rounds that the present set
    still has. `of_set`: rounds of each later set.
    """
    return in_set + of_set * max(ceil((rounds - in_set) / of_set), 0)


class Forecast:
    """The estimates of one position, for the seat that has to decide."""

    def __init__(self, g: Game, seat: str, weights: Weights = DEFAULT_WEIGHTS) -> None:
        self.g = g
        self.seat = seat
        self.weights = weights
        self.known: dict[tuple[object, ...], Any] = {}

    # -- companies ------------------------------------------------------------------------

    @once
    def own_companies(self) -> list[str]:
        """Companies of which the seat is president."""
        return [c for c, co in self.g.state.companies.items() if co.president == self.seat]

    @once
    def operating(self) -> list[str]:
        """Companies that will operate."""
        liquidation = MarketZone.LIQUIDATION
        return [
            c
            for c, co in self.g.state.companies.items()
            if co.floated and not co.closed and not in_zone(self.g, c, liquidation)
        ]

    def share_of(self, company: str, owner: str | None = None) -> float:
        """The part of the company that the owner holds, the seat by default."""
        return self.g.percent_held(owner or self.seat, company) / 100

    def revenue(self, company: str, trains: Sequence[str] | None = None) -> int:
        """What these trains would earn for the company on today's track; its own trains by default."""
        return self._best_run(company, self._sorted_trains(company, trains)).revenue

    def is_dense(self, company: str, trains: Sequence[str] | None = None) -> bool:
        """Whether there is so much track that an estimate does not prove the best routes of these trains."""
        return not self._best_run(company, self._sorted_trains(company, trains)).proven

    def _sorted_trains(self, company: str, trains: Sequence[str] | None) -> tuple[str, ...]:
        return tuple(sorted(self.g.company(company).trains if trains is None else trains))

    @once
    def _best_run(self, company: str, names: tuple[str, ...]) -> BestRoutes:
        return best_run(at_home(self.g, company), company, names, ESTIMATE_BUDGET) if names else NO_RUN

    # -- time -----------------------------------------------------------------------------

    @cached_property
    def rounds_left(self) -> float:
        """How many operating rounds are probably still to come."""
        g, base = self.g, self.g.state.stack[0]
        if g.state.game_over:
            return 0.0
        in_set = 0
        if isinstance(base, OperatingRound | MergerRound):
            in_set = base.rounds_in_set - base.number + isinstance(base, OperatingRound)
        if g.state.bank_broken:
            return max(in_set, 0.5)
        if g.components.bank is None:
            left = sum(g.state.depot[t.name] or 0 for t in g.components.trains)
            if g.state.end_triggered_in:
                return max(in_set, 0.5) + 1
            return 2.0 + left / (1 + 0.4 * len(self.operating()))
        flow = sum(self.revenue(c) for c in self.operating()) + OTHER_FLOW
        growth = self.weights.growth
        until_broken = log1p(growth * g.cash(BANK) / flow) / growth
        return min(with_rest_of_set(until_broken, in_set, g.phase.operating_rounds), 20.0)

    @cached_property
    def horizon(self) -> float:
        """Operating rounds to reckon with."""
        return min(self.rounds_left, self.weights.horizon)

    # -- trains ---------------------------------------------------------------------------

    @once
    def train(self, name: str) -> TrainDefinition:
        return self.g.train_definition(name)

    @once
    def purchases_until(self, train: str) -> int:
        """How many trains the bank sells before the first of that type; 0 once it has been sold."""
        if train in self.g.title.trains_introduced[self.g.state.phase]:
            return 0
        count = 0
        for each in self.g.components.trains:
            if each.name == train:
                break
            left = self.g.state.depot[each.name]
            count += UNLIMITED if left is None else left
        return count

    @once
    def purchases_a_round(self) -> float:
        """How many trains probably leave the bank in an operating round."""
        exports = 1 if self.g.components.bank is None else 0
        return exports + max(sum(map(self._buys_soon, self.operating())), 0.5)

    def _buys_soon(self, company: str) -> float:
        """How probably the company buys the bank's next train in a round: it has the place and the money."""
        train, trains = self.next_train(), self.g.company(company).trains
        if train is None or len(trains) >= self.g.phase.train_limit:
            return 0.0
        if not trains:
            return 0.9
        loans = self.g.components.loans
        borrowed = self.prudent_loans(company) * loans.value if loans else 0
        missing = train.price - self.funds(company) - borrowed
        return 0.7 if missing <= 0 else 0.3 if missing <= self.revenue(company) else 0.05

    @once
    def life(self, train: str) -> float:
        """In how many operating rounds a train of that type probably still runs."""
        definition = self.train(train)
        rust = definition.rusts_on or definition.obsolete_on
        if rust is None:
            return self.rounds_left
        purchases = self.purchases_until(rust) + 1
        return min(self.rounds_left, purchases / self.purchases_a_round())

    def is_lasting(self, train: str, rounds: float = LASTING) -> bool:
        """Whether a train of that type probably still runs after so many operating rounds."""
        return self.life(train) >= min(rounds, self.rounds_left)

    def lasting(self, company: str, rounds: float = LASTING) -> list[str]:
        """The company's trains that are lasting."""
        return [t for t in self.g.company(company).trains if self.is_lasting(t, rounds)]

    @once
    def next_train(self) -> TrainDefinition | None:
        """The cheapest train that the bank sells now."""
        for_sale = [self.train(t) for t in (*trains_for_sale(self.g), *self.g.state.pool_trains)]
        return min(for_sale, key=lambda t: t.price, default=None)

    @once
    def lasting_train(self) -> TrainDefinition | None:
        """The first train in the bank that will run for some rounds."""
        depot = self.g.state.depot
        types = [t for t in self.g.components.trains if depot[t.name] != 0]
        return next((t for t in types if self.life(t.name) >= min(4.0, self.rounds_left)), None)

    def train_fund(self, company: str) -> int:
        """Dollars that the company should have when its trains rust: the price of one that lasts."""
        return self.fund_for(tuple(self.g.company(company).trains))

    @once
    def fund_for(self, trains: tuple[str, ...]) -> int:
        """Dollars that a company with these trains should have when they rust."""
        lives = [self.life(t) for t in trains]
        if any(life >= min(LASTING, self.rounds_left) for life in lives) or self.rounds_left < 1.5:
            return 0
        nearest = self.next_train()
        if not lives or max(lives) < 0.5:
            return nearest.price if nearest else 0
        rust = [self.train(t).rusts_on or self.train(t).obsolete_on for t in trains]
        prices = [self.train(r).price for r in rust if r]
        return max(prices, default=nearest.price if nearest else 0)

    def funds(self, company: str) -> int:
        """Dollars that the company has, or will have when it operates."""
        return self.g.cash(company) + self.g.title.flotation.awaited(self.g, company)

    def capital(self, company: str, par: int) -> float:
        """Dollars that a company which floats at a par price has for trains: from the bank, and by the shares
        in its treasury that others probably buy."""
        flotation, others = self.g.title.flotation, 0
        if flotation.rest_to_treasury:
            rest = 100 - self.g.company_definition(company).float_percent
            cash = sum(self.g.cash(seat) for seat in self.g.state.active_seats if seat != self.seat)
            others = min(rest // share_percent(self.g, company) * par, cash)
        return flotation.capital(self.g, company, par) + TREASURY_SOLD * others

    @cached_property
    def dividend_terms(self) -> DividendStep:
        """How dividends are paid, and move the price, in titles without loans."""
        question = self.g.title.questions[OperatingTurn]
        assert isinstance(question, OperatingTurnQuestion)
        return next((step for step in question.steps if isinstance(step, DividendStep)), DividendStep())

    @once
    def shortage(self, company: str) -> int:
        """Dollars that the company lacks for the train that it will have to buy."""
        return max(self.train_fund(company) - self.funds(company), 0)

    def debt(self, company: str, trains: Sequence[str] | None = None) -> int:
        """Dollars of loans that the president will pay once these trains, by default its own, have rusted."""
        terms, co = self.g.components.loans, self.g.company(company)
        if terms is None or any(self.is_lasting(t) for t in (co.trains if trains is None else trains)):
            return 0
        return max(co.loans * terms.value - self.g.cash(company), 0)

    @once
    def short_reserve(self) -> float:
        """Dollars to keep for what a seat that has sold short may have to pay: dividends, and the shares."""
        companies = self.g.state.companies.items()
        owed = [(c, -co.shares.get(self.seat, 0)) for c, co in companies if co.shares.get(self.seat, 0) < 0]
        return sum(SHORT_RESERVE * self.g.price(c) * p / share_percent(self.g, c) for c, p in owed)

    # -- loans ----------------------------------------------------------------------------

    def interest(self, company: str, more: int = 0) -> int:
        """Dollars of interest that the company pays this round with so many more loans."""
        terms = self.g.components.loans
        if terms is None:
            return 0
        return (self.g.company(company).loans + more) * (self.g.state.interest_per_loan or terms.rate_step)

    @once
    def prudent_loans(self, company: str) -> int:
        """How many more loans the company bears: its price stays on the market, its shares are worth more."""
        g, terms = self.g, self.g.components.loans
        if terms is None or in_zone(g, company, MarketZone.LIQUIDATION, MarketZone.ACQUISITION):
            return 0
        size, owed, count = g.company(company).size or 2, g.company(company).loans, 0
        for n in range(1, loans_available(g, company) + 1):
            price = self.price_after(company, -n)
            if price < 50 or (owed + n) * terms.value > 0.6 * price * size + 150:
                break
            count = n
        return count

    def pays_interest(self, company: str, cash: float, more: int = 0, moves: float = 0) -> bool:
        """Whether the company can pay its interest from so much cash, if need be with another loan.

        `more`: loans that it takes before. `moves`: of its price before, to the right. Each loan moves the
        price to the left, and a loan into liquidation pays nothing.
        """
        terms = self.g.components.loans
        if terms is None or self.interest(company, more) <= cash:
            return True
        if loans_available(self.g, company) <= more or not self.price_after(company, moves - more - 1):
            return False
        return self.interest(company, more + 1) <= cash + terms.value

    def liquidation_loss(self, company: str, spent: float, moves: float = 0) -> float:
        """Dollars that it costs the president to spend so much of the treasury before the interest is due.

        `moves`: of the company's price before, to the right.
        """
        left = self.g.cash(company) - spent
        return 0.0 if self.pays_interest(company, left, moves=moves) else LIQUIDATION_LOSS

    # -- revenue to come ------------------------------------------------------------------

    @once
    def stop_value(self) -> float:
        """Dollars of an average stop in this phase."""
        return STOP_VALUE[self.g.phase.tile_colors[-1]]

    def prospect(self, trains: Sequence[str]) -> float:
        """Dollars a round that these trains of one company would earn on grown track of this phase."""
        stops = sorted((min(self.train(t).distance or 8, 7) for t in trains), reverse=True)
        return self.stop_value() * sum(part * n for part, n in zip(GROWN, stops, strict=False))

    def revenue_over(self, company: str, trains: Sequence[str], rounds: float) -> float:
        """What these trains would earn for the company on the average of so many rounds, as track grows."""
        today = self.revenue(company, trains)
        if rounds <= 0:
            return today
        time = rounds / GROWTH_ROUNDS
        grown = 1 - (1 - exp(-time)) / time
        return today + self.weights.prospect * grown * max(self.prospect(trains) - today, 0.0)

    @once
    def lay_cost(self, company: str) -> int:
        """Dollars of the cheapest tile that the company may lay next, could it pay for any; 0 without one."""
        draft = self.g.draft()
        draft.state.cash[company] = sum(
            t.cost for h in draft.components.map.hexes.values() for t in h.terrain
        )
        cheapest = None
        for lay in legal_lays(draft, company):
            cost = terrain_cost(draft, lay.hex)
            cheapest = cost if cheapest is None else min(cost, cheapest)
            if not cost:
                break
        return cheapest or 0

    def growth(self, company: str, trains: Sequence[str]) -> float:
        """Dollars a round that track to come adds to what these trains earn, on an average of the horizon."""
        return self.revenue_over(company, trains, self.horizon) - self.revenue(company, trains)

    def added_revenue(self, company: str, trains: Sequence[str], train: str, rounds: float) -> float:
        """Dollars a round that one train more brings the company, on the average of so many rounds."""
        return self.revenue_over(company, [*trains, train], rounds) - self.revenue_over(
            company, trains, rounds
        )

    def first_route_revenue(self, train: str) -> float:
        """Dollars a round that a train will earn a company without a route, once there is track for it."""
        return FIRST_ROUTE * min(self.train(train).distance or 8, 7) * self.stop_value()

    def new_company_revenue(self, company: str, treasury: float) -> float:
        """What a company that has not run will earn a round, with as many trains as so much money buys."""
        train = self.next_train()
        if train is None:
            return 0.0
        if self.life(train.name) < 2 and (lasting := self.lasting_train()):
            train = lasting
        count = int(min(treasury // train.price, 2.0 if (train.distance or 9) > 2 else 3.0))
        grown = 0.75 * count * min(train.distance or 8, 7) * self.stop_value()
        if self.g.company_definition(company).home is None:
            return grown
        grown *= part_by_place(self.g, company)
        today = self.revenue(company, [train.name] * count)
        return today + NEW_TRACK * max(grown - today, 0.0)

    def paying_rounds(self, company: str) -> float:
        """In how many operating rounds of the horizon the company will probably pay."""
        co, horizon = self.g.company(company), self.horizon
        if not co.floated:
            return max(horizon - 1.0, 0.0)
        own = min(max(map(self.life, co.trains), default=0.0), horizon)
        later = (horizon - own) * (self._replacement_revenue(company) > 0)
        waits = 0.0 if co.has_operated else 1.0
        if co.trains and not self.revenue(company):
            waits = ROUNDS_TO_ROUTE
        return max(own + later * (UNSURE if self.shortage(company) else 1.0) - waits, 0.0)

    @once
    def earnings(self, company: str) -> float:
        """Dollars that the company will probably earn in a round, on the average of the rounds to come."""
        co = self.g.company(company)
        if not co.floated:
            return self.new_company_revenue(company, LEFT_FOR_TRAINS * self.capital(company, co.par or 0))
        horizon = max(self.horizon, 0.5)
        lives = sorted(((min(self.life(t), horizon), t) for t in co.trains), reverse=True)
        total, before = 0.0, 0.0
        for i in range(len(lives) - 1, -1, -1):
            running = [t for _, t in lives[: i + 1]]
            rounds = lives[i][0] - before
            if self.revenue(company, running):
                total += rounds * self.revenue(company, running)
            else:
                rounds = max(rounds - ROUNDS_TO_ROUTE, 0.0)
                total += rounds * max(map(self.first_route_revenue, running))
            before = lives[i][0]
        if before < horizon - 0.5:
            total += (horizon - before) * self._replacement_revenue(company)
        growth = 1 + 0.04 * horizon
        return growth * total / horizon - 1.0 * co.loans * self.g.state.interest_per_loan

    def _replacement_revenue(self, company: str) -> float:
        """What the company will earn a round once its trains are gone: with the train that it can buy."""
        train = self.lasting_train() if self.g.company(company).trains else self.next_train()
        if train is None:
            return 0.0
        funds = self.funds(company)
        if president := self.g.company(company).president:
            funds += self.g.cash(president) if self.g.components.must_own_train else 0
        ability = min(funds / train.price, 1.0)
        revenue = self.revenue(company, [train.name])
        if not self.g.company(company).has_operated:
            revenue = max(revenue, int(self.new_company_revenue(company, self.funds(company))))
        return revenue * 0.7 * ability**2

    # -- shares ---------------------------------------------------------------------------

    def price_after(self, company: str, moves: float) -> float:
        """The price of a share after so many moves to the right, or to the left if below zero."""
        g = self.g
        at = market.token_space(g, company)
        step = market.right if moves > 0 else market.left
        for _ in range(round(abs(moves))):
            at = step(g, at)
        return g.title.cell(at).price

    @once
    def share_value(self, company: str) -> float:
        """What one share will bring to the end of the horizon: dividends, and its price then."""
        g, co = self.g, self.g.company(company)
        if co.cell is None:
            return 0.0
        if in_zone(g, company, MarketZone.LIQUIDATION):
            return 0.0
        horizon, price = self.horizon, g.price(company)
        earned = self.earnings(company)
        per_share = earned * share_percent(g, company) / 100
        paying = self.paying_rounds(company) if earned > 0 else 0.0
        if g.components.loans:
            jump = 1.0 if earned >= price else (0.3 if earned > 0 else -1.0)
            moves = jump * paying if earned > 0 else -horizon
        else:
            rises = self.dividend_terms.raises_price(g, company, int(earned))
            moves = 0.75 * paying * rises - 0.9 * (horizon - paying)
        return 0.9 * per_share * paying + self.price_after(company, moves)

    def share_gain(self, company: str, cost: float) -> float:
        """What holding one share brings over its cost."""
        return self.share_value(company) - cost

    @once
    def sellable_worth(self) -> float:
        """Dollars that the seat could raise by selling shares, roughly."""
        g = self.g
        total = 0.0
        for company, co in g.state.companies.items():
            percent = co.shares.get(self.seat, 0)
            is_refused = any(refuses(g, company) for refuses in g.title.sale_objections)
            if percent <= 0 or co.cell is None or is_refused:
                continue
            if co.president == self.seat:
                percent = max(percent - 20, 0)
            room = max(g.components.limits.pool_percent - co.shares.get("pool", 0), 0)
            total += 0.8 * min(percent, room) * g.price(company) / share_percent(g, company)
        return total

    @once
    def rivals(self, company: str) -> float:
        """The largest part of the company that another player holds."""
        shares = self.g.company(company).shares
        return max((p / 100 for o, p in shares.items() if is_seat(o) and o != self.seat), default=0.0)
