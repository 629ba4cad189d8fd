"""Models of the money in a file: cash, treasuries, the bank, prices and presidents. What titles share.

Theory of operation. Like `site_procedure.py` a model knows the file, the printed numbers and the rules of the
site, and nothing of our engine. A file does not say when a round begins, since the site passes over everybody
who can do nothing; so it is told after how many actions which round has begun. Everything else follows: who
pays for what, what privates and companies earn, when prices move, and what everybody is worth in the end.

Each title has a module: `site_money_1830.py`, `site_money_1870.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from tests.site_18xx.site_market import Market

Action = dict[str, Any]
Rounds = Sequence[tuple[int, str]]
"""(number of actions before it, `stock round 2` or `operating round 2.1`) of each round."""
IPO, POOL = "ipo", "pool"


class Money:
    """The money of one game. `faults`: what cannot be, as sentences."""

    START: ClassVar[int]
    """Dollars of all players together."""
    BANK: ClassVar[int]
    PRIVATES: ClassVar[Mapping[str, tuple[int, int]]]
    """Price and income."""
    COMPANIES: ClassVar[Sequence[str]]
    TERRAIN: ClassVar[Mapping[str, int]]

    def __init__(self, file: Action, market: Market) -> None:
        self.seats = [player["id"] for player in file["players"]]
        self.cash = Counter[Any]({seat: self.START // len(self.seats) for seat in self.seats})
        self.cash[POOL] = self.BANK - sum(self.cash.values())
        self.market = market
        self.par: dict[str, int] = {}
        self.held = {company: Counter[Any]({IPO: 100}) for company in self.COMPANIES}
        self.president: dict[str, int] = {}
        self.privates: dict[str, Any] = {}
        self.closed = set[str]()
        self.train_owners: dict[str, Any] = {}
        self.floated: list[str] = []
        self.tokens = Counter[str]()
        self.tiles = set[str]()
        self.opening = Opening(self)
        self.faults: list[str] = []
        self._revenue = 0

    def pay(self, source: Any, target: Any, dollars: int) -> None:
        self.cash[source] -= dollars
        self.cash[target] += dollars

    def before(self, action: Action) -> None:
        """What the action says about what has happened since the one before it."""

    def after(self, action: Action) -> None:
        """What follows the action before a round begins."""

    def begin(self, round: str) -> None:
        """A round begins; the one before it is over."""
        raise NotImplementedError

    def finish(self, round: str) -> None:
        """The game has ended in that round."""

    def pay_privates(self) -> None:
        for private, owner in self.privates.items():
            if private not in self.closed:
                self.pay(POOL, owner, self.PRIVATES[private][1])

    def granted(self, private: str, player: int) -> None:
        """A private is sold in the opening; shares may come with it."""
        raise NotImplementedError

    def play(self, action: Action) -> None:
        kind, entity = action["type"], action["entity"]
        self.before(action)
        if self.opening.going_on and kind in ("bid", "pass"):
            self.opening.play(entity, action)
        elif play := getattr(self, f"_{kind}", None):
            play(entity, action)
        for owner, dollars in self.cash.items():
            if dollars < 0 and owner != POOL:
                self.faults.append(f"{action['id']}: {owner} has ${dollars}")
                self.cash[owner] = 0

    def price_of_space(self, action: Action) -> tuple[int, int, int]:
        """Price, row and column of the space in which a company starts."""
        price, row, column = map(int, action["share_price"].split(","))
        if self.market.price_at(row, column) != price:
            self.faults.append(f"{action['id']}: ${price} is not in row {row}, column {column}")
        return price, row, column

    def move_shares(self, company: str, source: Any, target: Any, percent: int) -> None:
        held = self.held[company]
        held[source] -= percent
        held[target] += percent
        if held[source] < 0 or held[POOL] > 50:
            self.faults.append(f"{source} has {held[source]} % of the {company}, the pool {held[POOL]} %")
        old = self.president.get(company)
        if old is None:
            return
        at = self.seats.index(old)
        largest = max(held[seat] for seat in self.seats)
        if held[old] < largest:
            around = [*self.seats[at:], *self.seats[:at]]
            self.president[company] = next(seat for seat in around if held[seat] == largest)

    def _lay_tile(self, entity: Any, action: Action) -> None:
        payer = self.privates[entity] if action["entity_type"] == "company" else entity
        if action["hex"] not in self.tiles:
            self.pay(payer, POOL, self.terrain_cost(entity, action))
        self.tiles.add(action["hex"])

    def terrain_cost(self, entity: Any, action: Action) -> int:
        return self.TERRAIN.get(action["hex"], 0)

    def _run_routes(self, company: str, action: Action) -> None:
        self._revenue = sum(route["revenue"] for route in action["routes"]) + action["extra_revenue"]

    def distribute(self, company: str, dollars: int) -> None:
        """Pay so many dollars to the holders of 100 %. The company has those of its shares in the pool."""
        for holder, percent in self.held[company].items():
            if holder != IPO:
                self.pay(POOL, company if holder == POOL else holder, dollars * percent // 100)

    def pay_for_train(self, company: str, action: Action) -> None:
        """A train changes its owner; the president adds what the company does not have."""
        train, price = action["train"], action["price"]
        if price > self.cash[company]:
            self.pay(self.president[company], company, price - self.cash[company])
        self.pay(company, self.train_owners.get(train) or POOL, price)
        self.train_owners[train] = company
        if traded := action.get("exchange"):
            self.train_owners[traded] = None
        if train.startswith("5-"):
            self.closed.update(self.PRIVATES)

    def _discard_train(self, company: str, action: Action) -> None:
        self.train_owners[action["train"]] = None

    def sell_of_bankrupt(
        self, player: int, company_in_need: str, barred: Collection[str] = ()
    ) -> Iterator[tuple[str, int]]:
        """All that may be sold of a bankrupt player: companies and percent, moved to the pool.

        The company in need keeps its president. `barred`: companies of which nothing may be sold.
        """
        for company in [company for company in self.par if company not in barred]:
            held = self.held[company]
            percent = min(held[player], 50 - held[POOL])
            if self.president[company] == player:
                others = max(held[seat] for seat in self.seats if seat != player)
                keeps = max(20, others) if company == company_in_need else 20 if others < 20 else 0
                percent = min(percent, held[player] - keeps)
            if percent > 0:
                self.move_shares(company, player, POOL, percent)
                yield company, percent

    def worth(self) -> dict[str, int]:
        """What each player is worth, by id."""
        worth = {seat: self.cash[seat] for seat in self.seats}
        for company in self.par:
            for seat in self.seats:
                worth[seat] += self.market.price(company) * self.held[company][seat] // 10
        for private, owner in self.privates.items():
            if owner in worth and private not in self.closed:
                worth[owner] += self.PRIVATES[private][0]
        return {str(seat): dollars for seat, dollars in worth.items()}


class Opening:
    """The opening auction: what is bid, who passes, and who gets which private at what price."""

    def __init__(self, money: Money) -> None:
        self._money = money
        self._bids: dict[str, dict[int, int]] = {private: {} for private in money.PRIVATES}
        self._unsold = list(money.PRIVATES)
        self._first = self._unsold[0]
        self._auction: str | None = None
        self._passes = self._discount = 0

    @property
    def going_on(self) -> bool:
        return bool(self._unsold)

    def play(self, player: int, action: Action) -> None:
        private = action.get("company")
        if action["type"] == "pass":
            self._pass(player)
        elif self._auction is None and private == self._unsold[0]:
            self._sell(player, action["price"])
        else:
            self._bids[private or ""][player] = action["price"]
            self._passes = 0

    def _pass(self, player: int) -> None:
        if self._auction:
            del self._bids[self._auction][player]
            if len(self._bids[self._auction]) == 1:
                [(winner, price)] = self._bids[self._auction].items()
                self._sell(winner, price)
            return
        self._passes += 1
        seats = self._money.seats
        if self._passes < len(seats):
            return
        self._passes = 0
        if self._unsold[0] != self._first:
            self._money.pay_privates()
            return
        self._discount += 5
        if self._discount == self._money.PRIVATES[self._first][0]:
            self._sell(seats[(seats.index(player) + 1) % len(seats)], 0)

    def _sell(self, player: int, price: int) -> None:
        """Sell the first private, and those after it on which only one player has bid."""
        money, private = self._money, self._unsold.pop(0)
        money.pay(player, POOL, price)
        money.privates[private], self._auction, self._passes = player, None, 0
        money.granted(private, player)
        if self._unsold and (bids := self._bids[self._unsold[0]]):
            if len(bids) == 1:
                [(bidder, bid)] = bids.items()
                self._sell(bidder, bid)
            else:
                self._auction = self._unsold[0]


def faults_of(money: Money, file: Action, rounds: Rounds) -> Iterator[str]:
    """What the money of a file does that it cannot by a model; nothing for a good file."""
    ahead = list(rounds)
    for number, action in enumerate(file["actions"], 1):
        money.play(action)
        while ahead and ahead[0][0] <= number:
            money.begin(ahead.pop(0)[1])
        money.after(action)
    money.finish(rounds[-1][1])
    yield from money.faults
    if any(sum(held.values()) != 100 for held in money.held.values()):
        yield "the shares of a company are not 100 %"
    result = file.get("result")
    if result and result != (worth := money.worth()):
        yield f"everybody's worth is {worth}, and the file says {result}"
