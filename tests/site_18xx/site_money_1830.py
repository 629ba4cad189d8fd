"""A model of the money in a file of 1830.

A company whose turn has no dividend has earned nothing, and its price moves left before it buys a train.
A turn may begin with the lay of a private or a forced sale; the next action of a company says whose it is.
A company that has had its turn without an action is known from the order of prices once a later one acts.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tests.site_18xx.site_market import Market1830
from tests.site_18xx.site_money import IPO, POOL, Action, Money

TERRAIN = dict.fromkeys(("B18", "C19", "D6", "D10", "E5", "F4", "F22", "G19", "I17", "J14"), 80)
TERRAIN |= dict.fromkeys(("C17", "C21", "D22", "E17", "E21", "F16", "G13", "G15", "I11", "J10", "J12"), 120)
TOKENS = (40, 100, 100)


class Money1830(Money):
    """The money of one game of 1830."""

    START, BANK, TERRAIN = 2_400, 12_000, TERRAIN
    PRIVATES: ClassVar = {
        "SV": (20, 5),
        "CS": (40, 10),
        "DH": (70, 15),
        "MH": (110, 20),
        "CA": (160, 25),
        "BO": (220, 30),
    }
    COMPANIES = ("PRR", "NYC", "CPR", "B&O", "C&O", "ERIE", "NYNH", "B&M")

    def __init__(self, file: Action) -> None:
        super().__init__(file, Market1830())
        self.sold_once, self.pooled = set[str](), set[str]()
        self._turn: str | None = None
        self._had_turn, self._paid = set[str](), set[str]()
        self._operates: list[str] = []
        self._next_company: dict[int, str] = {}
        company = ""
        for action in reversed(file["actions"]):
            company = action["entity"] if action["entity_type"] == "corporation" else company
            self._next_company[action["id"]] = company

    def granted(self, private: str, player: int) -> None:
        if private == "CA":
            self.move_shares("PRR", IPO, player, 10)
            self.sold_once.add("PRR_1")
        elif private == "BO":
            self.move_shares("B&O", IPO, player, 20)

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
        self.pay_privates()
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

    def before(self, action: Action) -> None:
        if action["entity_type"] == "corporation" and action["type"] != "discard_train":
            self._come_to(action["entity"])
        elif action["entity_type"] == "company" and self.privates[action["entity"]] in self._operates:
            self._come_to(self.privates[action["entity"]])
        elif action["type"] == "sell_shares" and self._operates:
            self._come_to(self._next_company[action["id"]])

    def _par(self, player: int, action: Action) -> None:
        company = action["corporation"]
        price, row, column = self.price_of_space(action)
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

    def _place_token(self, entity: Any, action: Action) -> None:
        if "tokener" not in action:
            return  # a home
        free = action["entity_type"] == "company"
        company = self.privates[entity] if free else entity
        self.pay(company, POOL, 0 if free else TOKENS[self.tokens[company]])
        self.tokens[company] += 1

    def _dividend(self, company: str, action: Action) -> None:
        self._paid.add(company)
        if action["kind"] != "payout":
            self.pay(POOL, company, self._revenue)
            self.market.left(company)
            return
        self.distribute(company, self._revenue)
        self.market.right(company) if self._revenue else self.market.left(company)

    def _buy_train(self, company: str, action: Action) -> None:
        self._earn_nothing(company)
        self.pay_for_train(company, action)
        if company == "B&O":
            self.closed.add("BO")

    def _bankrupt(self, company_in_need: str, action: Action) -> None:
        """All that may be sold is sold; the company in need keeps its president, and the money is lost."""
        player = self.president[company_in_need]
        self._earn_nothing(company_in_need)
        for company, percent in self.sell_of_bankrupt(player, company_in_need):
            self.market.down(company, percent // 10)
        self.pay(player, POOL, self.cash[player])
