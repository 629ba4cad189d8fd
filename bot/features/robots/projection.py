"""The cheap inner player: what the game would bring if everybody played on simply to its end.

Theory of operation. A position is copied into a few plain values: cash, trains, prices, shares. From there
all seats and companies play on by the same simple rules, without the map, the menu of options and exact
routes:

* A company pays its revenue, but for one that saves for a train. It buys trains while that adds to its
  revenue. Without a train it has to buy one, and its president pays what it lacks, or sells shares for it.
* Trains rust, phases begin, prices move, and the bank breaks as the rules say.
* Stock rounds are played by `projected_shares.py`.

A whole game takes a millisecond or two. The worth of each seat at the end is the value of the position from
which it began, so that of a plan is the value of the position after its first moves.
"""

from __future__ import annotations

from typing import NamedTuple

from bot.features.robots.board_facts import BoardFacts
from bot.features.robots.projected_shares import HASTE, SharePlay
from bot.features.robots.projected_state import ProjectedState, Stock
from engine import IPO, POOL, Game, OperatingRound
from engine.core.state import MergerRound, OperatingTurn, StockRound, StockTurn

HORIZON = 8
"""Operating rounds after which a projection ends with the set; what follows is an estimate."""
MOST_LATER_ROUNDS = 10.0
"""Operating rounds beyond the horizon that are reckoned with at most."""
LEAST_GAIN = 5.0
"""Dollars a round that a train has to add to be bought."""
SOON_LAID = 2
"""Operating rounds after which the track is looked at for which a train is bought."""
RAISED = 0.5
"""Dollars that it costs a president, beyond the sum itself, to raise a dollar that they do not have."""
AFTER_RUN = ("trains", "repay", "privates", "issue")
"""Steps of an operating turn before which its revenue has been paid."""


class TrainOffer(NamedTuple):
    """A train that a company may buy. `price`: in dollars, beside a train that is traded in."""

    train: str
    price: int
    pooled: bool
    traded_in: str = ""


class Projection(ProjectedState):
    """Plays a position on. `saving`: a company that keeps its revenue for the bank's next train."""

    def __init__(self, g: Game, facts: BoardFacts, sample: int = 0, saving: str = "") -> None:
        super().__init__(g, facts, sample)
        self.saving = {saving}
        self.last_phase_rounds = 0

    # -- the sequence of rounds ---------------------------------------------------------

    def run(self) -> dict[str, float]:
        """Play on to the end; the dollars of each seat there."""
        if not self.g.state.game_over:
            self._finish_round()
            while not self._is_over():
                SharePlay(self, {}).play(self.seats, 0)
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
        left = min(self.rounds_left(), MOST_LATER_ROUNDS)
        revenue = self.revenue(stock)
        return left * (revenue * stock.share / 100 + HASTE * self.rise(stock, revenue))

    def _is_over(self) -> bool:
        if self.g.components.bank is None and self.phases[self.phase].triggers_game_end:
            self.last_phase_rounds += 1
        is_broken = self.broken or self.bank < 0
        return is_broken or self.rounds >= HORIZON or self.last_phase_rounds > 1

    def _finish_round(self) -> None:
        """Play the round that has begun, and what is left of its set."""
        base, top = self.g.state.stack[0], self.g.top
        if isinstance(base, StockRound):
            order = [seat for seat in self.g.state.seats_from(base.current_seat) if seat in self.seats]
            sold = {seat: set(companies) for seat, companies in base.sold_by_seat.items()}
            turn_over = has_acted = False
            if isinstance(top, StockTurn):
                turn_over = bool(top.bought or top.for_company)
                has_acted = turn_over or bool(top.sold)
                sold.setdefault(top.seat, set()).update(top.sold)
            passes = 0 if has_acted else base.consecutive_passes
            SharePlay(self, sold).play(order[turn_over:] + order[:turn_over], passes)
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
        if 0 < stock.lay_cost <= stock.cash:
            stock.cash -= stock.lay_cost
            self.bank += stock.lay_cost
            stock.lay_cost, stock.since = 0, self.rounds
        self._dividend(stock, None)
        self._buy_trains(stock)

    def _dividend(self, stock: Stock, revenue: float | None) -> None:
        if revenue is None:
            revenue = self.revenue(stock) if stock.has_operated or stock.trains else 0.0
        stock.has_operated = True
        if stock.loans:
            due = stock.loans * self.interest
            stock.cash -= min(due, stock.cash + revenue)
        if revenue <= 0 or self._saves(stock):
            stock.cash += revenue
            self.bank -= revenue
            stock.at = self.facts.moved(stock.at, "left")
            return
        self._pay(stock, revenue)
        moves = int(self.rise(stock, revenue) > 0)
        if self.g.components.loans:
            moves = min(int(revenue // max(self.facts.price(stock.at), 1)), 2)
        for _ in range(moves):
            stock.at = self.facts.moved(stock.at, "right")

    def _pay(self, stock: Stock, revenue: float) -> None:
        terms = self.terms
        to_company = {stock.sym, *[POOL] * terms.pays_pool_shares, *[IPO] * terms.pays_ipo_shares}
        for owner, percent in stock.shares.items():
            part = revenue * percent / 100
            if owner in self.cash:
                self.cash[owner] += part
                self.bank -= part
            elif owner in to_company:
                stock.cash += part
                self.bank -= part

    def _saves(self, stock: Stock) -> bool:
        """Whether the company keeps its revenue: until it can lay track, or pay for the next train."""
        if stock.lay_cost > stock.cash:
            return True
        if stock.sym not in self.saving:
            return False
        next_train = self.next_train()
        prices = [offer.price for offer in self._trains_on_offer(stock) if not offer.pooled]
        price = min(prices) if prices else next_train.price if next_train else 0
        return stock.cash < price

    def _buy_trains(self, stock: Stock) -> None:
        """Buy what adds most of what the company can pay; without a train, the cheapest that there is."""
        while offers := self._trains_on_offer(stock):
            spare = stock.cash - (stock.lay_cost if stock.trains else 0)
            paid = [each for each in offers if each.price <= spare]
            offer = max(paid, key=lambda each: self._gain(stock, each), default=None)
            if offer is None and not stock.trains and self._takes_from_sister(stock):
                return
            if offer is None:
                offer = min(offers, key=lambda each: each.price)
                if stock.trains or not self._raise_money(stock, offer.price):
                    return
            if stock.trains and self._gain(stock, offer) < LEAST_GAIN:
                return
            stock.cash -= offer.price
            self.bank += offer.price
            if offer.traded_in:
                stock.trains.remove(offer.traded_in)
                self.pool.append(offer.traded_in)
            stock.trains.append(offer.train)
            self.saving.discard(stock.sym)
            if offer.pooled:
                self.pool.remove(offer.train)
            else:
                self._left_the_bank(offer.train)

    def _takes_from_sister(self, stock: Stock) -> bool:
        """Take the least train of a company of the same president that has several; whether there is one."""
        sisters = [
            each
            for each in self.companies.values()
            if each.president == stock.president and len(each.trains) > 1
        ]
        if not sisters or self.g.components.loans:
            return False
        price, train, sister = min(
            ((self.g.train_definition(t).price, t, each) for each in sisters for t in each.trains),
            key=lambda found: found[:2],
        )
        paid = min(stock.cash, price)
        stock.cash, sister.cash = stock.cash - paid, sister.cash + paid
        sister.trains.remove(train)
        stock.trains.append(train)
        return True

    def _trains_on_offer(self, stock: Stock) -> list[TrainOffer]:
        """Trains of the bank and the pool that the company has room for, and trades of old ones for new."""
        has_room = len(stock.trains) < self.phases[self.phase].train_limit
        introduced = {phase.on for phase in self.phases[: self.phase + 1]}
        banked = [t for t, _ in self.depot[:1]]
        banked += [t for t, _ in self.depot[1:] if t.available_on and t.available_on in introduced]
        found = [
            TrainOffer(train.name, train.price - train.discounts[old], False, old)
            for train in banked
            for old in set(stock.trains) & train.discounts.keys()
        ]
        if has_room:
            found += [TrainOffer(train.name, train.price, False) for train in banked]
        if has_room and not (stock.trains and stock.sym in self.saving):
            found += [TrainOffer(t, self.g.train_definition(t).price, True) for t in set(self.pool)]
        return sorted(found)

    def _gain(self, stock: Stock, offer: TrainOffer) -> float:
        """Dollars a round that a train will soon add."""
        soon = self.rounds - stock.since + SOON_LAID
        trains = [*stock.trains, offer.train]
        if offer.traded_in:
            trains.remove(offer.traded_in)
        more = self.estimate(stock.sym, tuple(sorted(trains)), soon)
        return more - self.estimate(stock.sym, tuple(sorted(stock.trains)), soon)

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
        at = next(i for i, (train, _) in enumerate(self.depot) if train.name == name)
        train, count = self.depot[at]
        if count is not None:
            self.depot[at] = train, count - 1
        is_last = count == 1 or (count is None and at + 1 < len(self.depot) and train.rusts_on is not None)
        if is_last:
            self.depot.pop(at)  # an unlimited type is sold only until the next one begins
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
