"""A model of the money in a file of 1870.

Theory of operation. The records of connections say when each company's turn begins and ends. Besides dollars
the certificates are followed by their numbers, since only these say from whom a company redeems.

A price falls only when the president has not protected it, which may be after the seller's turn. So sales
wait in a list until the president buys what was sold, or an action follows that is neither that nor a pass.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from tests.site_18xx.site_certificates import Certificates
from tests.site_18xx.site_market import ROWS_1870, Market1870
from tests.site_18xx.site_money import IPO, POOL, Action, Money

TERRAIN = dict.fromkeys(("A10", "A16", "B11", "B13", "B17", "C14", "C16", "C18", "D17", "G2", "H3", "H5"), 40)
TERRAIN |= dict.fromkeys(("D13", "D15", "E12", "E14", "E16", "E18", "E20", "F11", "F13", "F15", "F19"), 60)
TERRAIN |= dict.fromkeys(("G18", "H7", "H17", "I8", "I10", "I16", "J11", "J15", "K10", "L11", "O2"), 60)
TERRAIN |= dict.fromkeys(("K14", "L13", "M14", "N7", "N9", "N11", "N13", "N15", "N17", "N19", "N21"), 80)
TERRAIN |= {"O4": 80, "O6": 80, "O14": 100, "O16": 100, "O18": 100}
REISSUE_PRICES = [int(price.strip("Lv^")) for price in ROWS_1870[0].split()]
BRIDGE, TREASURY = "MRBC", "treasury"


class Sale(NamedTuple):
    """A block that the president may still protect. `president`: before the sale."""

    company: str
    shares: list[str]
    percent: int
    seller: int
    president: int
    price: int


class Money1870(Money):
    """The money of one game of 1870."""

    START, BANK, TERRAIN = 2_100, 12_000, TERRAIN
    PRIVATES: ClassVar = {
        "GRSC": (20, 5),
        "MRBC": (40, 10),
        "SCC": (50, 10),
        "GSC": (80, 15),
        "SLSF": (140, 0),
        "MKT": (160, 20),
    }
    COMPANIES = ("ATSF", "SSW", "SP", "SLSF", "MP", "MKT", "IC", "GMO", "FW", "TP")

    def __init__(self, file: Action) -> None:
        self.spaces = Market1870()
        super().__init__(file, self.spaces)
        self.certificates = {company: Certificates(company) for company in self.COMPANIES}
        self.reissued = set[str]()
        options = file["settings"]["optional_rules"]
        self._ends_at_400 = "finish_on_400" in options
        highest = 200 if {"max_reissue_200", "original_rules"} & set(options) else 400
        self._reissue_prices = [price for price in REISSUE_PRICES if price <= highest]
        self._sales: list[Sale] = []
        self._sold = False  # whether the turn of their seller is over
        self._connected: list[str] = []
        self._turn: str | None = None
        self._paid = False
        self._ports = 0
        self._records: list[Action] = []

    # -- rounds and turns --------------------------------------------------------------------

    def granted(self, private: str, player: int) -> None:
        if private == "MKT":
            self._move("MKT", ["MKT_1"], IPO, player, 10)

    def before(self, action: Action) -> None:
        if self._sales and action["type"] not in ("bankrupt", "discard_train"):
            self._answer_sales(action)
        self._records = [
            record for record in action.get("auto_actions", ()) if record["type"] == "destination_connection"
        ]

    def after(self, action: Action) -> None:
        while self._records:
            self._read_record()

    def _read_record(self) -> None:
        """A company's turn begins, or ends."""
        record = self._records.pop(0)
        self._fall()
        company = record["entity"]
        ends = self._turn == company
        if ended := self._turn:
            self._end_turn()
            if not ends and ended in self.par:
                self.faults.append(f"the turn of the {ended} has no end")
        if not ends:
            self._turn, self._paid = company, False
        self._connected = list(record["corporations"])

    def begin(self, round: str) -> None:
        if self._turn and self._records and self._records[0]["entity"] == self._turn:
            self._read_record()
        self._fall()
        self._end_turn()
        if round.startswith("stock"):
            return
        if round.split()[2].endswith(".1"):
            self._sold_out()
        self.pay_privates()

    def finish(self, round: str) -> None:
        self._end_turn()
        if round.startswith("stock") and self._ends_at_400:
            self._sold_out()  # which has taken a price to $400, so no round begins

    def _sold_out(self) -> None:
        for company in self.market.order():
            if not self.held[company][IPO] and not self.held[company][POOL]:
                self.market.up(company)

    def _end_turn(self) -> None:
        self._earn_nothing()
        self._turn = None

    def _earn_nothing(self) -> None:
        if not self._paid and self._turn:
            self._paid = True
            self.market.left(self._turn)
            self._close()

    def _close(self) -> None:
        """Companies in the closing area are gone with all that they own. No record ends their turn."""
        for company in self.spaces.closed():
            if company == self._turn:
                self._turn = None
            self.spaces.remove(company)
            self.pay(company, POOL, self.cash[company])
            self.held[company].clear()
            self.held[company][IPO] = 100
            del self.par[company], self.president[company]
            self.closed.update(p for p, owner in self.privates.items() if owner == company and p != company)
            for train, owner in self.train_owners.items():
                if owner == company:
                    self.train_owners[train] = None

    # -- shares ------------------------------------------------------------------------------

    def _protected_by(self, action: Action) -> int | None:
        """The number of the sale that this purchase protects."""
        if action["type"] != "buy_shares" or action["entity_type"] != "player":
            return None
        for number, sale in enumerate(self._sales):
            affordable = self.cash[action["entity"]] >= sale.price * sale.percent // 10
            if (sale.president, sale.shares) == (action["entity"], action["shares"]) and affordable:
                return number
        return None

    def _answer_sales(self, action: Action) -> None:
        """What an action says about sales before it: their turn goes on, or some prices have fallen."""
        number = self._protected_by(action)
        if number is not None:
            self._fall(number)
            return
        entity, passes = action["entity"], action["type"] == "pass"
        if entity == self._turn:
            return  # forced sales, in a turn that goes on
        actor = entity if action["entity_type"] == "player" else self.president.get(entity)
        if actor == self._sales[0].seller and not self._sold:
            self._sold = passes
            return
        self._sold = True
        asked = [at for at, sale in enumerate(self._sales) if sale.president == actor]
        self._fall(asked[0] + 1 if passes and asked else None)

    def _fall(self, first: int | None = None) -> None:
        """The prices fall of what was sold in the first so many sales, or in all."""
        fallen = self._sales[:first]
        del self._sales[:first]
        for sale in fallen:
            if sale.company in self.par:
                self.market.down(sale.company, sale.percent // 10)
        self._close()

    def _move(self, company: str, shares: list[str], source: Any, target: Any, percent: int) -> None:
        """Certificates and percent; with the presidency its certificate."""
        old, certificates = self.president.get(company), self.certificates[company]
        president_sells = source == old and f"{company}_0" in shares
        certificates.move([s for s in shares if s != f"{company}_0" or not president_sells], source, target)
        self.move_shares(company, source, target, percent)
        new = self.president.get(company)
        if old is not None and new is not None and new != old:
            missing = percent - 10 * (len(shares) - 1) if president_sells else 0
            certificates.swap(old, new, missing)

    def _par(self, player: int, action: Action) -> None:
        company = action["corporation"]
        price, row, column = self.price_of_space(action)
        self.par[company] = price
        self.market.put(company, row, column)
        if company == "SLSF" and player == self.privates.get("SLSF"):
            self.closed.add("SLSF")  # it was the president's certificate
        else:
            self.pay(player, POOL, 2 * price)
        self._move(company, [f"{company}_0"], IPO, player, 20)
        self.president[company] = player
        self._float(company)

    def _float(self, company: str) -> None:
        sold = 100 - self.held[company][IPO]
        if company in self.par and sold >= (20 if company == "SLSF" else 60) and company not in self.floated:
            self.floated.append(company)
            self.pay(POOL, company, 10 * self.par[company])

    def _buy_shares(self, buyer: Any, action: Action) -> None:
        company, percent, shares = action["shares"][0].rpartition("_")[0], action["percent"], action["shares"]
        if self._protected_by(action) is not None:
            sale = self._sales.pop(0)
            self._sold = True
            self.pay(buyer, POOL, sale.price * percent // 10)
            self._move(company, shares, POOL, buyer, percent)
            return
        owner = self.certificates[company].owner(shares[0])
        in_pool = self.held[company][POOL] or buyer != company
        source = owner if owner == IPO else POOL if in_pool else owner
        if source == IPO:
            receiver = company if company in self.reissued else POOL
            self.pay(buyer, receiver, self.par[company] * percent // 10)
        else:
            self.pay(buyer, source, self.market.price(company) * percent // 10)
        self._move(company, shares, source, buyer, percent)
        self._float(company)

    def _sell_shares(self, seller: Any, action: Action) -> None:
        company, percent, shares = action["shares"][0].rpartition("_")[0], action["percent"], action["shares"]
        if seller == company:
            self._reissue(company, action)
            return
        self._earn_nothing()
        self._sold = False
        president, price = self.president[company], self.market.price(company)
        self.pay(POOL, seller, price * percent // 10)
        self._move(company, shares, seller, POOL, percent)
        self._sales.append(Sale(company, shares, percent, seller, president, price))

    def _reissue(self, company: str, action: Action) -> None:
        """All own shares go to the initial offering at the price next to 75 % of the market's, or at par."""
        wanted = 3 * self.market.price(company)
        nearest = min(self._reissue_prices, key=lambda price: (abs(4 * price - wanted), -price))
        self.par[company] = max(nearest, self.par[company])
        if action.get("share_price", self.par[company]) != self.par[company]:
            self.faults.append(
                f"{action['id']}: reissued at {action['share_price']}, not {self.par[company]}"
            )
        self.reissued.add(company)
        self._move(company, list(self.certificates[company].lie[company]), company, IPO, action["percent"])

    def _buy_company(self, buyer: Any, action: Action) -> None:
        private = action["company"]
        self.pay(buyer, self.privates[private], action["price"])
        self.privates[private] = buyer
        if private == "MKT" and buyer in self.seats and "MKT_1" in self.certificates["MKT"].lie.get(POOL, ()):
            self._move("MKT", ["MKT_1"], POOL, buyer, 10)

    # -- operating ---------------------------------------------------------------------------

    def terrain_cost(self, entity: Any, action: Action) -> int:
        cost = self.TERRAIN.get(action["hex"], 0)
        return max(0, cost - 40) if entity == BRIDGE else cost

    def _place_token(self, company: str, action: Action) -> None:
        if "tokener" not in action:
            return  # a home
        self.tokens[company] += 1
        self.pay(company, POOL, 40 if self.tokens[company] == 1 else 100)

    def _assign(self, entity: Any, action: Action) -> None:
        if entity == "GSC":
            self._ports += 1
            if self._ports == 2:
                self.closed.add("GSC")

    def _dividend(self, company: str, action: Action) -> None:
        revenue, kind = self._revenue, action["kind"]
        connection = company in self._connected
        if connection:
            self._connected.remove(company)
        else:
            self._paid = True
        paid = {"payout": revenue, "half": (revenue // 2 + 9) // 10 * 10, "withhold": 0}[kind]
        self.pay(POOL, company, revenue - paid)
        self.distribute(company, paid)
        if kind == "payout" and revenue:
            self.market.right(company)
        elif not paid and not connection:
            self.market.left(company)
        self._close()

    def distribute(self, company: str, dollars: int) -> None:
        """The company has its own and those in the initial offering; those in the pool get nothing."""
        for holder, percent in self.held[company].items():
            if holder != POOL:
                self.pay(POOL, company if holder == IPO else holder, dollars * percent // 100)

    def _buy_train(self, company: str, action: Action) -> None:
        self._earn_nothing()
        self.pay_for_train(company, action)

    def _bankrupt(self, company_in_need: str, action: Action) -> None:
        """All that may be sold is sold, but no second block of a company; no price falls any more."""
        player = self.president[company_in_need]
        self._earn_nothing()
        sold_before = {sale.company for sale in self._sales}
        for _ in self.sell_of_bankrupt(player, company_in_need, sold_before):
            pass
        self._sales = []
        self.pay(player, POOL, self.cash[player])
