"""The cheap inner player: what the game would bring if everybody played on simply to its end.

Theory of operation. A position is copied into a few plain values: cash, trains, prices, shares. From there
all seats and companies play on by the same simple rules, without the map, the menu of options and exact
routes:

* A company pays, but keeps its revenue where the trains that it has will soon rust and it cannot pay for the
  next one. It buys trains while that adds to its revenue. Without a train it has to buy one, and its
  president pays what it lacks, or sells shares for it.
* Trains rust, phases begin, prices move, and the bank breaks as the rules say.
* In a stock round each seat in turn floats what it has started, else buys the share that pays most for its
  price, or starts a company that it can float alone.

A whole game takes a millisecond or two. The worth of each seat at the end is the
value of the position from which it began, so that of a plan is the value of the position after its first
moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from bot.features.robots.board_facts import BoardFacts
from engine import BANK, IPO, POOL, Game, OperatingRound, is_seat
from engine.core.components import TrainDefinition
from engine.core.state import MergerRound, OperatingTurn, StockRound, StockTurn
from engine.finance.ownership import certificate_limit, share_percent

HORIZON = 8
"""Operating rounds after which a projection ends with the set; what follows is an estimate."""
MOST_LATER_ROUNDS = 10.0
"""Operating rounds beyond the horizon that are reckoned with at most."""
SOON = 3
"""Trains that the bank still sells before those that are said to rust soon."""
LEAST_GAIN = 5.0
"""Dollars a round that a train has to add to be bought."""
START_LIFE = 3
"""Operating rounds without which nobody starts a company."""
RAISED = 0.5
"""Dollars that it costs a president, beyond the sum itself, to raise a dollar that they do not have."""
HASTE = 0.6
"""How a rise of the price by a space counts beside the dividend when shares are compared."""
NEW_SHARE = 0.8
"""How a share of a company that is still to be started counts beside one that runs."""
AFTER_RUN = ("trains", "repay", "privates", "issue")
"""Steps of an operating turn before which its revenue has been paid."""
SCATTER = 0.2
"""By which part revenues, and what players make of a share, differ from what is expected."""


class Stock:
    """A company in a projection; see `engine.core.state.Company` for what it holds."""

    __slots__ = (
        "at", "awaited", "cash", "floated", "has_operated", "ipo_price", "loans", "needed", "president",
        "share", "shares", "sym", "trains",
    )  # fmt: skip

    def __init__(self, g: Game, sym: str) -> None:
        co = g.company(sym)
        self.sym, self.at, self.president = sym, co.cell or (0, 0), co.president
        self.cash = float(g.cash(sym) + g.title.flotation.awaited(g, sym))
        self.trains: list[str] = list(co.trains)
        self.shares: dict[str, int] = dict(co.shares)
        self.floated, self.has_operated, self.loans = co.floated, co.has_operated, co.loans
        self.ipo_price, self.share = co.par or 0, share_percent(g, sym)
        self.needed = g.company_definition(sym).float_percent


class Projection:
    """Plays a position on. `facts`: of its board, or of that of a position shortly before."""

    def __init__(self, g: Game, facts: BoardFacts, sample: int = 0) -> None:
        self.g, self.facts = g, facts
        self.sample = sample
        self.luck: dict[tuple[str, str], float] = {}
        state, parts = g.state, g.components
        self.seats = list(state.active_seats)
        self.cash: dict[str, float] = {seat: float(g.cash(seat)) for seat in state.seats}
        self.bank = float(g.cash(BANK)) if parts.bank is not None else float("inf")
        self.depot = [(t, state.depot[t.name]) for t in parts.trains if state.depot[t.name] != 0]
        self.pool = list(state.pool_trains)
        self.phases = parts.phases
        self.phase = parts.phases.index(g.phase)
        self.companies = {
            c: Stock(g, c) for c, co in state.companies.items() if co.cell is not None and not co.closed
        }
        self.unstarted = [c for c, co in state.companies.items() if co.cell is None and not co.closed]
        self.privates = [
            (owner, g.private_definition(p).revenue) for p, owner in g.owned_privates() if is_seat(owner)
        ]
        self.rounds = 0
        self.broken = state.bank_broken
        self.interest = state.interest_per_loan or (parts.loans.rate_step if parts.loans else 0)
        self.limit = certificate_limit(g)
        self.last_phase_rounds = 0

    # -- the sequence of rounds ---------------------------------------------------------

    def run(self) -> dict[str, float]:
        """Play on to the end; the dollars of each seat there."""
        if not self.g.state.game_over:
            self._finish_round()
            while not self._is_over():
                self._stock_round(self.seats)
                for _ in range(self.phases[self.phase].operating_rounds):
                    self._operating_round()
        worths = self.worths()
        for stock in self.companies.values():
            later = self._later_income(stock)
            for owner, percent in stock.shares.items():
                if owner in worths:
                    worths[owner] += later * percent / stock.share
        return worths

    def _later_income(self, stock: Stock) -> float:
        """What a share will pay, and rise, in the rounds that are not played."""
        if self.rounds < HORIZON or not stock.floated or not stock.trains:
            return 0.0
        left = min(self._rounds_left(), MOST_LATER_ROUNDS)
        rise = self.facts.price(self.facts.moved(stock.at, "right")) - self.facts.price(stock.at)
        return left * (self._revenue(stock) * stock.share / 100 + HASTE * rise)

    def _is_over(self) -> bool:
        if self.g.components.bank is None and self.phases[self.phase].triggers_game_end:
            self.last_phase_rounds += 1
        is_broken = self.broken or self.bank < 0
        return is_broken or self.rounds >= HORIZON or self.last_phase_rounds > 1

    def _finish_round(self) -> None:
        """Play the round that has begun, and what is left of its set."""
        base, top = self.g.state.stack[0], self.g.top
        if isinstance(base, StockRound):
            first = base.current_seat
            turn_over = isinstance(top, StockTurn) and bool(top.bought or top.for_company)
            order = self.g.state.seats_from(first)
            order = [seat for seat in order if seat in self.seats]
            self._stock_round(order[turn_over:] + order[:turn_over])
            left = self.phases[self.phase].operating_rounds
        elif isinstance(base, OperatingRound):
            self._finish_operating_round(base)
            left = base.rounds_in_set - base.number
        elif isinstance(base, MergerRound):
            left = base.rounds_in_set - base.number
        else:
            left = 0
        for _ in range(left):
            self._operating_round()

    def _finish_operating_round(self, base: OperatingRound) -> None:
        turn = next((f for f in reversed(self.g.state.stack) if isinstance(f, OperatingTurn)), None)
        if turn is not None and turn.company in self.companies:
            stock = self.companies[turn.company]
            if turn.step not in AFTER_RUN:
                self._dividend(stock, turn.revenue if turn.step == "dividend" else None)
            self._buy_trains(stock)
        for company in base.yet_to_operate:
            if company in self.companies and (turn is None or company != turn.company):
                self._operate(self.companies[company])
        self.rounds += 1

    # -- operating ------------------------------------------------------------------------

    def _operating_round(self) -> None:
        if not self.phases[self.phase].closes_privates:
            for owner, income in self.privates:
                self.cash[owner] += income
                self.bank -= income
        price = self.facts.price
        for stock in sorted(self.companies.values(), key=lambda each: -price(each.at)):
            if stock.floated:
                self._operate(stock)
        self.rounds += 1

    def _operate(self, stock: Stock) -> None:
        self._dividend(stock, None)
        self._buy_trains(stock)

    def _revenue(self, stock: Stock, more: str = "") -> float:
        trains = [*stock.trains, more] if more else stock.trains
        return self._estimate(stock.sym, tuple(sorted(trains)), self.rounds)

    def _estimate(self, sym: str, trains: tuple[str, ...], rounds: int) -> float:
        color = self.phases[self.phase].tile_colors[-1]
        return self._chance(sym) * self.facts.revenue(sym, trains, rounds, color)

    def _chance(self, one: str, other: str = "") -> float:
        """A factor around 1 by which this sample differs; the same for the same names."""
        if not self.sample:
            return 1.0
        key = one, other
        if key not in self.luck:
            drawn = crc32(f"{self.sample} {one} {other}".encode()) / 2**32
            self.luck[key] = 1 + SCATTER * (2 * drawn - 1)
        return self.luck[key]

    def _dividend(self, stock: Stock, revenue: float | None) -> None:
        if revenue is None:
            revenue = self._revenue(stock) if stock.has_operated or stock.trains else 0.0
        stock.has_operated = True
        if stock.loans:
            due = stock.loans * self.interest
            stock.cash -= min(due, stock.cash + revenue)
        if revenue <= 0 or self._keeps(stock, revenue):
            stock.cash += revenue
            self.bank -= revenue
            stock.at = self.facts.moved(stock.at, "left")
            return
        self._pay(stock, revenue)
        per_share = revenue * stock.share / 100
        price = self.facts.price(stock.at)
        if self.g.components.loans:
            moves = min(int(revenue // max(price, 1)), 2)
        else:
            moves = 1 if per_share > 0 else 0
        for _ in range(moves):
            stock.at = self.facts.moved(stock.at, "right")

    def _pay(self, stock: Stock, revenue: float) -> None:
        for owner, percent in stock.shares.items():
            part = revenue * percent / 100
            if owner in self.cash:
                self.cash[owner] += part
                self.bank -= part
            elif owner == POOL or owner == stock.sym:
                stock.cash += part
                self.bank -= part

    def _keeps(self, stock: Stock, revenue: float) -> bool:
        """Whether the company keeps its revenue: its trains rust soon, and it cannot pay for the next."""
        train = self._next_train()
        if train is None or stock.cash >= train.price or stock.cash + 2 * revenue < train.price:
            return False
        return bool(stock.trains) and all(self._rusts_soon(name) for name in stock.trains)

    def _rusts_soon(self, name: str) -> bool:
        definition = self.g.train_definition(name)
        rust, left = definition.rusts_on or definition.obsolete_on, 0
        if rust is None:
            return False
        for train, count in self.depot:
            if train.name == rust:
                return True
            left += SOON if count is None else count
            if left > SOON:
                return False
        return False

    def _next_train(self) -> TrainDefinition | None:
        return self.depot[0][0] if self.depot else None

    def _buy_trains(self, stock: Stock) -> None:
        limit = self.phases[self.phase].train_limit
        while len(stock.trains) < limit:
            pooled = min(self.pool, key=lambda name: self.g.train_definition(name).price, default="")
            train = self._next_train()
            if pooled and (train is None or self.g.train_definition(pooled).price <= train.price):
                train = self.g.train_definition(pooled)
            else:
                pooled = ""
            if train is None:
                return
            if train.price > stock.cash and not self._raise_money(stock, train.price):
                return
            if stock.trains and self._revenue(stock, train.name) - self._revenue(stock) < LEAST_GAIN:
                return
            stock.cash -= train.price
            self.bank += train.price
            stock.trains.append(train.name)
            if pooled:
                self.pool.remove(pooled)
            else:
                self._left_the_bank(train.name)
                limit = self.phases[self.phase].train_limit

    def _raise_money(self, stock: Stock, price: int) -> bool:
        """Find what the company lacks for a train: from its president, or by loans."""
        terms = self.g.components.loans
        if terms is not None:
            count = -int((stock.cash - price) // terms.value)
            if stock.loans + count > 10 // max(stock.share // 10, 1) or len(stock.trains) > 1:
                return False
            stock.loans += count
            stock.cash += count * terms.value
            for _ in range(count):
                stock.at = self.facts.moved(stock.at, "left")
            return True
        if stock.trains or not self.g.components.must_own_train or stock.president not in self.cash:
            return False
        if not stock.has_operated:
            return False
        missing = price - stock.cash
        raised = max(missing - max(self.cash[stock.president], 0), 0)
        self.cash[stock.president] -= missing + RAISED * raised
        stock.cash = float(price)
        return True

    def _left_the_bank(self, name: str) -> None:
        """Take a train out of the bank; its first sale begins a phase."""
        train, count = self.depot[0]
        if count is not None:
            if count > 1:
                self.depot[0] = (train, count - 1)
            else:
                self.depot.pop(0)
        elif len(self.depot) > 1 and self.g.train_definition(name).rusts_on:
            self.depot.pop(0)  # an unlimited type is sold only until the next one begins
        for i in range(self.phase + 1, len(self.phases)):
            if self.phases[i].on == name:
                self._begin_phase(i, name)
                return

    def _begin_phase(self, phase: int, first: str) -> None:
        self.phase = phase
        limit = self.phases[phase].train_limit
        definition = self.g.train_definition
        for stock in self.companies.values():
            stock.trains = [
                t for t in stock.trains if first not in (definition(t).rusts_on, definition(t).obsolete_on)
            ]
            while len(stock.trains) > limit:
                worst = min(stock.trains, key=lambda t: definition(t).price)
                stock.trains.remove(worst)
                self.pool.append(worst)
        self.pool = [t for t in self.pool if definition(t).rusts_on != first]

    # -- stock rounds ---------------------------------------------------------------------

    def _stock_round(self, order: Sequence[str]) -> None:
        for seat in order:
            if self.cash[seat] < 0:
                self._sell_for_debt(seat)
        yields = {c: self._yield(stock) for c, stock in self.companies.items() if stock.floated}
        waiting = list(order)
        while waiting:
            seat = waiting.pop(0)
            if self._buy_one(seat, yields):
                waiting.append(seat)
        for stock in self.companies.values():
            if stock.floated and all(owner in self.cash or owner == stock.sym for owner in stock.shares):
                stock.at = self.facts.moved(stock.at, "up")

    def _yield(self, stock: Stock) -> float:
        """What a share pays a round, with the rise of its price, for each dollar of its price."""
        price = self.facts.price(stock.at)
        if price <= 0:
            return 0.0
        revenue = self._revenue(stock) if stock.trains else self._with_next_train(stock)
        if revenue <= 0:
            return 0.0
        rise = self.facts.price(self.facts.moved(stock.at, "right")) - price
        return (revenue * stock.share / 100 + HASTE * rise) / price

    def _with_next_train(self, stock: Stock) -> float:
        """What the company will earn once it has bought the trains that it can pay for."""
        train = self._next_train()
        if train is None or stock.cash < train.price:
            return 0.0
        count = min(int(stock.cash // train.price), 2)
        return self._estimate(stock.sym, (train.name,) * count, self.rounds + 2)

    def _buy_one(self, seat: str, yields: dict[str, float]) -> bool:
        """Buy the best share that the seat can pay for; whether there was any."""
        cash = self.cash[seat]
        for stock in self.companies.values():
            if stock.president == seat and not stock.floated and stock.shares.get(IPO, 0):
                if cash >= stock.ipo_price:
                    self._take(seat, stock, IPO, stock.ipo_price, yields)
                    return True
                return False
        best: tuple[float, Stock, str, int] | None = None
        has_room = self._certificates(seat) < self.limit
        for company, expected in yields.items():
            pays = expected * self._chance(seat, company)
            if pays <= 0 or (best and pays <= best[0]) or not has_room:
                continue
            stock = self.companies[company]
            if stock.shares.get(seat, 0) + stock.share > 60:
                continue
            for source in (IPO, POOL, company):
                price = stock.ipo_price if source == IPO else self.facts.price(stock.at)
                if stock.shares.get(source, 0) >= stock.share and price <= cash:
                    best = pays * self.facts.price(stock.at) / max(price, 1), stock, source, price
                    break
        if has_room and self._start(seat, best[0] if best else 0.0, yields):
            return True
        if best is None:
            return False
        self._take(seat, best[1], best[2], best[3], yields)
        return True

    def _take(self, seat: str, stock: Stock, source: str, price: int, yields: dict[str, float]) -> None:
        self.cash[seat] -= price
        if source == stock.sym:
            stock.cash += price
        else:
            self.bank += price
        stock.shares[source] -= stock.share
        if not stock.shares[source]:
            del stock.shares[source]
        stock.shares[seat] = stock.shares.get(seat, 0) + stock.share
        if not stock.floated and 100 - stock.shares.get(IPO, 0) >= stock.needed:
            stock.floated = True
            capital = (100 // stock.share) * stock.ipo_price
            stock.cash += capital
            self.bank -= capital
            yields[stock.sym] = self._yield(stock)

    def _start(self, seat: str, best: float, yields: dict[str, float]) -> bool:
        """Start and float the first company that the seat can float alone, if its shares will pay more."""
        if not self.unstarted or self.g.components.loans:
            return False
        sym, pars = self.unstarted[0], self.g.components.par_prices
        share = share_percent(self.g, sym)
        needed = self.g.company_definition(sym).float_percent
        par = max((p for p in pars if p * needed // share <= self.cash[seat]), default=0)
        train = self._next_train()
        capital = par * (100 // share)
        if not par or train is None or capital < train.price or self._rounds_left() < START_LIFE:
            return False
        trains = (train.name,) * min(capital // train.price, 2)
        revenue = self._estimate(sym, trains, self.rounds + 2)
        if NEW_SHARE * revenue * share / 100 / par < best:
            return False
        at = self.g.title.par_cell(par)
        assert at is not None
        stock = Stock(self.g, sym)
        stock.at, stock.president, stock.ipo_price, stock.floated = at, seat, par, True
        stock.cash = float(capital)
        stock.shares = {seat: needed, IPO: 100 - needed}
        self.cash[seat] -= par * needed // share
        self.bank -= capital - par * needed // share
        self.companies[sym] = stock
        self.unstarted.pop(0)
        yields[sym] = self._yield(stock)
        return True

    def _rounds_left(self) -> float:
        if self.bank == float("inf"):
            return 3.0 + sum(count or 0 for _, count in self.depot) / 3
        if self.bank < 0:
            return 0.0
        flow = sum(self._revenue(stock) for stock in self.companies.values() if stock.floated) + 100
        return self.bank / flow

    def _certificates(self, seat: str) -> int:
        count = sum(1 for owner, _ in self.privates if owner == seat)
        if not self.g.components.privates_count_as_certificates or self.phases[self.phase].closes_privates:
            count = 0
        for stock in self.companies.values():
            held = stock.shares.get(seat, 0)
            if held > 0:
                count += held // stock.share - (stock.president == seat)
        return count

    def _sell_for_debt(self, seat: str) -> None:
        """Sell the shares that pay least until the seat has no debt."""
        for stock in sorted(self.companies.values(), key=self._yield):
            while self.cash[seat] < 0 and stock.floated and stock.shares.get(seat, 0) >= stock.share:
                if stock.shares.get(POOL, 0) >= self.g.components.limits.pool_percent:
                    break
                price = self.facts.price(stock.at)
                self.cash[seat] += price
                self.bank -= price
                stock.shares[seat] -= stock.share
                stock.shares[POOL] = stock.shares.get(POOL, 0) + stock.share
                stock.at = self.facts.moved(stock.at, "down")
                if not stock.shares[seat]:
                    del stock.shares[seat]
                    if stock.president == seat:
                        stock.president = max(
                            (o for o in stock.shares if o in self.cash),
                            key=lambda o: stock.shares[o],
                            default=None,
                        )

    # -- the end --------------------------------------------------------------------------

    def worths(self) -> dict[str, float]:
        """Dollars by seat now: cash, shares, and privates where they count."""
        worths = dict(self.cash)
        for stock in self.companies.values():
            price = self.facts.price(stock.at)
            for owner, percent in stock.shares.items():
                if owner in worths:
                    worths[owner] += price * percent / stock.share
        if self.g.components.privates_count_in_net_worth and not self.phases[self.phase].closes_privates:
            for private, owner in self.g.owned_privates():
                if owner in worths:
                    worths[owner] += self.g.private_definition(private).price
        return worths
