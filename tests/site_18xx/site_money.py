"""A model of the money in a file of 1830: cash, treasuries, the bank, prices and presidents.

Theory of operation. Like `site_procedure.py` it knows the file, the printed numbers and the rules of the
site, and nothing of our engine. A file does not say when a round begins, since the site passes over whoever
can do nothing; so it is told after how many actions which round has begun. Everything else follows: who pays
for what, what privates and companies earn, when prices move, and what everybody is worth in the end.

A company whose turn has no dividend has earned nothing, and its price moves left before it buys a train.
Whoever has had their turn without an action is known from the order of prices once a later company acts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from tests.site_18xx.site_market import Market1830

Action = dict[str, Any]
Rounds = Sequence[tuple[int, str]]
"""(number of actions before it, `stock round 2` or `operating round 2.1`) of each round."""

PRIVATES = {"SV": (20, 5), "CS": (40, 10), "DH": (70, 15), "MH": (110, 20), "CA": (160, 25), "BO": (220, 30)}
"""Price and income."""
BANK, START = 12_000, 2_400
TERRAIN = dict.fromkeys(("B18", "C19", "D6", "D10", "E5", "F4", "F22", "G19", "I17", "J14"), 80)
TERRAIN |= dict.fromkeys(("C17", "C21", "D22", "E17", "E21", "F16", "G13", "G15", "I11", "J10", "J12"), 120)
TOKENS = (40, 100, 100)
COMPANIES = ("PRR", "NYC", "CPR", "B&O", "C&O", "ERIE", "NYNH", "B&M")
IPO, POOL = "ipo", "pool"


class Money:
    """The money of one game. `faults`: what cannot be, as sentences."""

    def __init__(self, file: Action) -> None:
        self.seats = [player["id"] for player in file["players"]]
        self.cash = Counter[Any]({seat: START // len(self.seats) for seat in self.seats})
        self.cash[POOL] = BANK - sum(self.cash.values())
        self.market = Market1830()
        self.par: dict[str, int] = {}
        self.held = {company: Counter[Any]({IPO: 100}) for company in COMPANIES}
        self.president: dict[str, int] = {}
        self.privates: dict[str, Any] = {}
        self.closed = set[str]()
        self.sold_once, self.pooled = set[str](), set[str]()
        self.train_owners: dict[str, Any] = {}
        self.floated: list[str] = []
        self.tokens = Counter[str]()
        self.tiles = set[str]()
        self.opening = Opening(self)
        self.faults: list[str] = []
        self._revenue = 0
        self._turn: str | None = None
        self._had_turn, self._paid = set[str](), set[str]()
        self._operates: list[str] = []

    def pay(self, source: Any, target: Any, dollars: int) -> None:
        self.cash[source] -= dollars
        self.cash[target] += dollars

    # -- rounds ------------------------------------------------------------------------------

    def begin(self, round: str) -> None:
        """A round begins; the one before it is over."""
        for company in self._waiting():
            self._end_turn(company)
        self._operates, self._turn = [], None
        if round.startswith("stock"):
            return
        if round.split()[2].endswith(".1"):
            full = [c for c in self.market.order() if not self.held[c][IPO] and not self.held[c][POOL]]
            for company in full:
                self.market.up(company)
        for private, owner in self.privates.items():
            if private not in self.closed:
                self.pay(POOL, owner, PRIVATES[private][1])
        self._operates = list(self.floated)
        self._had_turn, self._paid = set(), set()

    def _waiting(self) -> list[str]:
        """The companies of this round that have not finished their turn, in their order."""
        return [c for c in self.market.order() if c in self._operates and c not in self._had_turn]

    def _end_turn(self, company: str) -> None:
        self._earn_nothing(company)
        self._had_turn.add(company)

    def _earn_nothing(self, company: str) -> None:
        if company not in self._paid:
            self._paid.add(company)
            self.market.left(company)

    def _come_to(self, company: str) -> None:
        """An action of a company in its turn: all before it have had theirs."""
        if self._turn == company:
            return
        if self._turn:
            self._end_turn(self._turn)
        while (waiting := self._waiting()) and waiting[0] != company:
            if company not in waiting:
                self.faults.append(f"the {company} acts again in one round")
                break
            self._end_turn(waiting[0])
        self._turn = company

    # -- actions -----------------------------------------------------------------------------

    def play(self, action: Action) -> None:
        kind, entity = action["type"], action["entity"]
        if action["entity_type"] == "corporation" and kind != "discard_train":
            self._come_to(entity)
        if self.opening.going_on and kind in ("bid", "pass"):
            self.opening.play(entity, action)
        elif play := getattr(self, f"_{kind}", None):
            play(entity, action)
        for owner, dollars in self.cash.items():
            if dollars < 0 and owner != POOL:
                self.faults.append(f"{action['id']}: {owner} has ${dollars}")
                self.cash[owner] = 0

    def _par(self, player: int, action: Action) -> None:
        price, row, column = map(int, action["share_price"].split(","))
        company = action["corporation"]
        if self.market.price_at(row, column) != price:
            self.faults.append(f"{action['id']}: ${price} is not in row {row}, column {column}")
        self.par[company] = price
        self.market.put(company, row, column)
        self.sold_once.add(f"{company}_0")
        if company != "B&O" or player != self.privates.get("BO"):
            self.move_shares(company, IPO, player, 20)
            self.pay(player, POOL, 2 * price)
        self.president[company] = player
        self._float(company)

    def _buy_shares(self, buyer: Any, action: Action) -> None:
        company, percent = action["shares"][0].rpartition("_")[0], action["percent"]
        source = POOL if set(action["shares"]) <= self.sold_once else IPO
        self.sold_once.update(action["shares"])
        self.pooled.difference_update(action["shares"])
        if action["entity_type"] == "company":  # the private is exchanged
            self.closed.add(buyer)
            buyer = self.privates[buyer]
        else:
            price = self.market.price(company) if source == POOL else self.par[company]
            self.pay(buyer, POOL, price * percent // 10)
        self.move_shares(company, source, buyer, percent)
        self._float(company)

    def _sell_shares(self, seller: Any, action: Action) -> None:
        if self._turn:
            self._earn_nothing(self._turn)  # a forced sale, in the last step of the turn
        company, percent = action["shares"][0].rpartition("_")[0], action["percent"]
        self.sold_once.update(action["shares"])
        self.pooled.update(action["shares"])
        self.pay(POOL, seller, self.market.price(company) * percent // 10)
        self.move_shares(company, seller, POOL, percent)
        self.market.down(company, percent // 10)

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

    def _float(self, company: str) -> None:
        if company in self.par and self.held[company][IPO] <= 40 and company not in self.floated:
            self.floated.append(company)
            self.pay(POOL, company, 10 * self.par[company])

    def _buy_company(self, buyer: Any, action: Action) -> None:
        private = action["company"]
        self.pay(buyer, self.privates[private], action["price"])
        self.privates[private] = buyer
        if private == "CA" and buyer in self.seats and "PRR_1" in self.pooled:
            self.move_shares("PRR", POOL, buyer, 10)  # the share that came with it goes along
            self.pooled.remove("PRR_1")

    def _lay_tile(self, entity: Any, action: Action) -> None:
        payer = self.privates[entity] if action["entity_type"] == "company" else entity
        if action["hex"] not in self.tiles:
            self.pay(payer, POOL, TERRAIN.get(action["hex"], 0))
        self.tiles.add(action["hex"])

    def _place_token(self, entity: Any, action: Action) -> None:
        if "tokener" not in action:
            return  # a home
        free = action["entity_type"] == "company"
        company = self.privates[entity] if free else entity
        self.pay(company, POOL, 0 if free else TOKENS[self.tokens[company]])
        self.tokens[company] += 1

    def _run_routes(self, company: str, action: Action) -> None:
        self._revenue = sum(route["revenue"] for route in action["routes"]) + action["extra_revenue"]

    def _dividend(self, company: str, action: Action) -> None:
        self._paid.add(company)
        if action["kind"] != "payout":
            self.pay(POOL, company, self._revenue)
            self.market.left(company)
            return
        for holder, percent in self.held[company].items():
            if holder != IPO:
                self.pay(POOL, company if holder == POOL else holder, self._revenue * percent // 100)
        self.market.right(company) if self._revenue else self.market.left(company)

    def _buy_train(self, company: str, action: Action) -> None:
        self._earn_nothing(company)
        train, price = action["train"], action["price"]
        if price > self.cash[company]:
            self.pay(self.president[company], company, price - self.cash[company])
        self.pay(company, self.train_owners.get(train) or POOL, price)
        self.train_owners[train] = company
        if traded := action.get("exchange"):
            self.train_owners[traded] = None
        if company == "B&O":
            self.closed.add("BO")
        if train.startswith("5-"):
            self.closed.update(PRIVATES)

    def _discard_train(self, company: str, action: Action) -> None:
        self.train_owners[action["train"]] = None

    def _bankrupt(self, company_in_need: str, action: Action) -> None:
        """All that may be sold is sold; the company in need keeps its president, and the money is lost."""
        player = self.president[company_in_need]
        self._earn_nothing(company_in_need)
        for company in self.par:
            held = self.held[company]
            percent = min(held[player], 50 - held[POOL])
            if self.president[company] == player:
                others = max(held[seat] for seat in self.seats if seat != player)
                keeps = max(20, others) if company == company_in_need else 20 if others < 20 else 0
                percent = min(percent, held[player] - keeps)
            if percent > 0:
                self.move_shares(company, player, POOL, percent)
                self.market.down(company, percent // 10)
        self.pay(player, POOL, self.cash[player])

    # -- the end -----------------------------------------------------------------------------

    def worth(self) -> dict[str, int]:
        """What each player is worth, by id."""
        worth = {seat: self.cash[seat] for seat in self.seats}
        for company in self.par:
            for seat in self.seats:
                worth[seat] += self.market.price(company) * self.held[company][seat] // 10
        for private, owner in self.privates.items():
            if owner in worth and private not in self.closed:
                worth[owner] += PRIVATES[private][0]
        return {str(seat): dollars for seat, dollars in worth.items()}


class Opening:
    """The opening auction: what is bid, who passes, and who gets which private at what price."""

    def __init__(self, money: Money) -> None:
        self._money = money
        self._bids: dict[str, dict[int, int]] = {private: {} for private in PRIVATES}
        self._unsold = list(PRIVATES)
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
        if self._unsold[0] != "SV":
            for private, owner in self._money.privates.items():
                self._money.pay(POOL, owner, PRIVATES[private][1])
            return
        self._discount += 5
        if self._discount == PRIVATES["SV"][0]:
            self._sell(seats[(seats.index(player) + 1) % len(seats)], 0)

    def _sell(self, player: int, price: int) -> None:
        """Sell the first private, and those after it on which only one player has bid."""
        money, private = self._money, self._unsold.pop(0)
        money.pay(player, POOL, price)
        money.privates[private], self._auction, self._passes = player, None, 0
        if private == "CA":
            money.move_shares("PRR", IPO, player, 10)
            money.sold_once.add("PRR_1")
        elif private == "BO":
            money.move_shares("B&O", IPO, player, 20)
        if self._unsold and (bids := self._bids[self._unsold[0]]):
            if len(bids) == 1:
                [(bidder, bid)] = bids.items()
                self._sell(bidder, bid)
            else:
                self._auction = self._unsold[0]


def money_faults(file: Action, rounds: Rounds) -> Iterator[str]:
    """What the money of a file of 1830 does that it cannot; nothing for a good file."""
    money, ahead = Money(file), list(rounds)
    for number, action in enumerate(file["actions"], 1):
        money.play(action)
        while ahead and ahead[0][0] <= number:
            money.begin(ahead.pop(0)[1])
    yield from money.faults
    if any(sum(held.values()) != 100 for held in money.held.values()):
        yield "the shares of a company are not 100 %"
    result = file.get("result")
    if result and result != (worth := money.worth()):
        yield f"everybody's worth is {worth}, and the file says {result}"
