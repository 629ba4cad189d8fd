"""A model of the stock rounds in a file of 1817: purchases, sales, shorts, loans, new companies and the end.

Theory of operation. The model begins with the position at the start of a round and reckons each action of it;
nothing is taken over from the game in between, except whether a certificate lay in a treasury or the open
market, which its number alone does not tell after a merger. Bidders who cannot reach the next bid are dropped
without an action, and a size or a payment that leaves no choice has none.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.site_18xx.site_position_1817 import FACES, LIQUIDATION, MARKERS, Company, Position
from tests.site_18xx.site_turns_1817 import PRICES, Snapshot

Action = dict[str, Any]
SIZES = {"2": (2,), "2+": (2,), "3": (2, 5), "4": (5,), "5": (5, 10)}
"""Sizes of new companies by phase; ten shares after that (§2)."""
HIGHEST_BID, RAISE = 400, 5
LIMITS = {3: 21, 4: 16, 5: 13, 6: 11, 7: 9, 8: 8, 9: 7, 10: 6, 11: 6, 12: 5}
"""Certificates by players in the game (§4.1, §9.2); with fewer than three as with three."""


class Start:
    """A new company: the auction of its president's certificate, and how the winner pays (§5.5)."""

    def __init__(self, position: Position, company: str, bidder: str, price: int) -> None:
        self._position = position
        self.company = company
        self._bidder, self._price = bidder, price
        self._others = [seat for seat in position.players if seat != bidder]
        self._placed = self._won = self._sized = self.paid = False
        self._left = 0
        self._sizes = SIZES.get(position.phase, (10,))

    def play(self, action: Action) -> None:
        """An action of the auction, or of its winner. `paid`: no choice is left."""
        seat = str(action["entity"])
        match action["type"]:
            case "place_token":
                self._placed = True
            case "bid":
                self._others = [s for s in [*self._others, self._bidder] if s != seat]
                self._bidder, self._price = seat, action["price"]
            case "pass" if not self._won:
                self._others.remove(seat)
            case "pass":
                self.paid = True
            case "choose":
                self._choose_size(int(action["choice"]))
            case "assign":
                self._put_in(action["target"])
        self._go_on()

    def company_acted(self, company: Company, redeemed: bool) -> None:
        """A bidder acts for their company instead, and passes once it can do no more (§5.6)."""
        redeems = company.pool >= company.percent and company.cash >= company.price
        borrows = not redeemed and company.loans < company.size
        if not borrows and not redeems and company.president in self._others:
            self._others.remove(company.president)
        self._go_on()

    def _go_on(self) -> None:
        if self._placed and not self._won:
            self._others = [seat for seat in self._others if self._can_bid(seat)]
            if not self._others:
                self._form()
        if self._won and self._sized:
            own = self._position.privates[self._bidder]
            self.paid |= not any(FACES[private] <= self._left for private in own)

    def _can_bid(self, seat: str) -> bool:
        means = self._position.cash[seat] + sum(FACES[p] for p in self._position.privates[seat])
        room = self._position.certificates(seat) < LIMITS[max(3, len(self._position.players))]
        return room and self._price < HIGHEST_BID and means >= self._price + RAISE

    def _form(self) -> None:
        """The winner pays, and is paid back for each private that they put in."""
        self._won = True
        self._left = self._price
        self._position.cash[self._bidder] -= self._price
        space = max(at for at, price in enumerate(PRICES) if price <= self._price // 2)
        held = Counter({self._bidder: 100})
        self._position.companies[self.company] = Company(
            self._price, space, 0, 2, 0, 0, self._bidder, set(), [], held, 1
        )
        if len(self._sizes) == 1:
            self._choose_size(self._sizes[0])

    def _choose_size(self, size: int) -> None:
        company = self._position.companies[self.company]
        self._sized = True
        company.size, company.due = size, MARKERS[size] - 1
        company.held[self._bidder] = 200 // size
        company.own = 100 - 200 // size

    def _put_in(self, private: str) -> None:
        position, company = self._position, self._position.companies[self.company]
        self._left -= FACES[private]
        position.cash[self._bidder] += FACES[private]
        position.privates[self._bidder].remove(private)
        company.cash -= FACES[private]
        company.privates.add(private)
        company.markers += private == "TS"


class StockRound:
    """One stock round as far as it has been reckoned."""

    def __init__(self, position: Position, short_squeeze: bool) -> None:
        self.position = position
        self._short_squeeze = short_squeeze
        self._start: Start | None = None

    def play(self, action: Action, after: Snapshot | None) -> None:
        """`after`: the position after it, for where a certificate came from."""
        if self._start is None and action["type"] == "bid":
            seat = str(action["entity"])
            self._start = Start(self.position, action["corporation"], seat, action["price"])
        elif self._start and (action["entity_type"] == "player" or action["type"] == "place_token"):
            self._start.play(action)
        elif self._start:
            trade(self.position, action, after)
            company = self.position.companies[action["entity"]]
            self._start.company_acted(company, action["type"] == "buy_shares")
        else:
            trade(self.position, action, after)
        if self._start and self._start.paid:
            self._start = None
        for symbol, company in self.position.companies.items():
            if self._start is None or symbol != self._start.company:
                company.pay_markers()

    unsettled = False

    def end(self, next_round: str) -> None:
        """Prices move right where the players have all, and left for each share in the open market (§5.7)."""
        for company in self.position.companies.values():
            if company.due:
                company.space = LIQUIDATION
            players = sum(percent for percent in company.held.values() if percent > 0)
            if company.size > 2 and players >= 100:
                company.move(2 if players > 100 and self._short_squeeze else 1)
            company.move(-max(0, company.pool // company.percent))
        if next_round.startswith("operating"):
            self.position.begin_operating()


def trade(position: Position, action: Action, after: Snapshot | None) -> None:
    """A purchase, sale or short sale, or a loan."""
    actor = str(action["entity"])
    if action["type"] in ("take_loan", "payoff_loan"):
        company = position.companies[actor]
        company.borrow() if action["type"] == "take_loan" else company.repay()
        return
    if action["type"] not in ("buy_shares", "sell_shares", "short"):
        return
    symbol = action.get("corporation") or action["shares"][0].rpartition("_")[0]
    company = position.companies[symbol]
    percent = action.get("percent") or company.percent
    dollars = company.worth(percent)
    if action["entity_type"] == "corporation":  # its own shares
        company.cash -= dollars
        company.pool -= percent
        company.own += percent
    elif action["type"] == "buy_shares":
        position.cash[actor] -= dollars
        company.held[actor] += percent
        if after is not None and after["companies"][symbol]["own"] < company.own:
            company.own -= percent
            company.cash += dollars
        else:
            company.pool -= percent
    else:
        position.cash[actor] += dollars
        company.held[actor] -= percent
        company.pool += percent
    company.settle_presidency(position.seats)
