"""The start of a company: the auction of its president's certificate, its size, and what is put into it
(1817 §5.5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import msgspec

from engine.actions import Action, FloatCompany, Pass
from engine.events import (
    Floated,
    MarkersChanged,
    ParSet,
    PresidentNamed,
    PrivateMoved,
    Restructured,
    TurnBegan,
)
from engine.game import Game
from engine.holdings import certificate_limit, counted_certificates
from engine.loans import markers_words, size_facts
from engine.operating.stations import city_words
from engine.state import Auction, Formation, StockTurn
from engine.stock.floor import payable, payable_range, refuse_bid
from engine.stock.turn import end_turn, stock_round
from engine.title import Option


@dataclass(frozen=True)
class Certificates:
    """President's certificates up for auction (§5.5).

    `by_worth`: who has cash and privates for a bid is asked, also where they do not make one exactly, as
    on the site.
    """

    by_worth: bool = False

    def says_lot(self) -> bool:
        return False

    def words(self, g: Game, frame: Auction) -> str:
        return f"the {frame.lot}"

    def about(self, g: Game, frame: Auction) -> str:
        return f"home in {city_words(g, frame.hex, frame.node)}"

    def amounts(self, g: Game, frame: Auction, seat: str) -> range:
        terms = g.facts.ipo_bid
        assert terms is not None
        if counted_certificates(g, seat) >= certificate_limit(g):
            return range(0)
        return payable_range(g, seat, frame.high + terms.step)

    reach = amounts

    def stays(self, g: Game, frame: Auction, seat: str) -> bool:
        terms = g.facts.ipo_bid
        assert terms is not None
        if not self.by_worth or counted_certificates(g, seat) >= certificate_limit(g):
            return False
        worth = g.cash(seat) + max(payable(g, seat))
        return frame.high + terms.step <= min(worth, terms.max)

    def refuse(self, g: Game, frame: Auction, seat: str, amount: int) -> str | None:
        terms = g.facts.ipo_bid
        assert terms is not None
        if amount <= frame.high or amount > terms.max or amount % terms.step:
            low = frame.high + terms.step
            return f"A bid is a multiple of ${terms.step} from ${low} to ${terms.max} (§5.5)."
        return refuse_bid(g, seat, amount)

    def sold(self, g: Game, frame: Auction) -> None:
        company, seat, price = frame.lot, frame.leader, frame.high
        assert seat is not None
        par = max(p for p in g.facts.par_prices if p <= price // 2)
        cell = g.title.par_cell(par)
        assert cell is not None
        g.emit(Restructured(company, 2, {seat: 100}))
        g.emit(PresidentNamed(company, seat))
        g.pay(seat, company, price, f"the president's certificate of the {company}")
        g.emit(ParSet(company, par, cell))
        g.emit(Floated(company))
        g.emit(TurnBegan(company))
        if frame.acting:  # no privates are asked for then, and the turn goes on where the size was asked for
            g.open(Formation(company, seat, 0, again=len(g.phase.ipo_sizes) > 1))
        else:
            g.open(Formation(company, seat, price))


@dataclass(frozen=True)
class Formations:
    """Asks the winner for the size and for the privates that he puts in.

    `piecemeal`: size and privates are said one after the other, as on the site.
    """

    piecemeal: bool = False

    def asked(self, g: Game, frame: Formation) -> tuple[str, ...]:
        return (frame.seat,)

    def needs(self, g: Game, frame: Formation) -> str:
        price = f"${frame.bid} to pay, price ${g.price(frame.company)}"
        return f"to choose the size of the {frame.company} and what is put into it ({price})"

    def options(self, g: Game, frame: Formation, seat: str) -> Iterator[Option]:
        mine = g.privates_of(seat)
        for size in g.phase.ipo_sizes:
            for count in range(len(mine) + 1):
                if count > 1 and self.piecemeal:
                    break
                for privates in combinations(mine, count):
                    said = FloatCompany(size, privates)
                    if self.refuse(g, frame, seat, said) is None:
                        cost = markers_words(g, size, g.facts.company_sizes[size].stations_to_buy)
                        with_ = f" with {', '.join(privates)}" if privates else ""
                        yield Option(said, f"{size} shares{with_}{cost}")
        if self.refuse(g, frame, seat, Pass()) is None:
            yield Option(Pass(), "Nothing more is put in")

    def refuse(self, g: Game, frame: Formation, seat: str, action: Action) -> str | None:
        chosen = frame.size
        if isinstance(action, Pass):
            if chosen is None:
                return f"The size of the {frame.company} has to be chosen (§5.5)."
            return None if g.cash(seat) >= 0 else "The bid has to be paid with privates first (§5.5)."
        if not isinstance(action, FloatCompany):
            return f"The {frame.company} is being started: choose its size, and what is put in (§5.5)."
        if action.size not in g.phase.ipo_sizes or chosen not in (None, action.size):
            sizes = [chosen] if chosen else g.phase.ipo_sizes
            return f"The {frame.company} may start with {' or '.join(map(str, sizes))} shares (§5.5)."
        mine = g.privates_of(seat)
        if len(set(action.privates)) < len(action.privates) or not set(action.privates) <= set(mine):
            return "A president puts in privates that he owns, each once (§5.5)."
        worth = sum(g.private_facts(p).price for p in action.privates)
        if worth > frame.bid:
            return f"Privates for ${worth} are more than the bid, ${frame.bid} (§5.5)."
        others = payable(g, seat, action.privates) if self.piecemeal else {0}
        if not any(worth + more <= frame.bid and g.cash(seat) + worth + more >= 0 for more in others):
            return f"${-g.cash(seat)} more have to be paid with privates (§5.5)."
        if chosen is not None and not action.privates:
            return "The size is chosen; say what else is put in (§5.5)."
        return None

    def take(self, g: Game, frame: Formation, seat: str, action: Action) -> None:
        if isinstance(action, Pass):
            self._finish(g, frame)
            return
        assert isinstance(action, FloatCompany)
        if frame.size is None:
            self._choose(g, frame, action.size)
        bid = frame.bid
        for private in action.privates:
            face = g.private_facts(private).price
            bid -= face
            g.pay(frame.company, seat, face, f"the {private}")
            g.emit(PrivateMoved(private, frame.company))
            effect = g.private_facts(private).effect
            if effect.get("kind") == "station":
                g.emit(MarkersChanged(frame.company, effect["tokens"]))
        if self.piecemeal:
            g.change(msgspec.structs.replace(frame, size=action.size, bid=bid))
        else:
            self._finish(g, frame)

    def _choose(self, g: Game, frame: Formation, size: int) -> None:
        company = frame.company
        mine = 200 // size
        rest = {company: 100 - mine} if mine < 100 else {}
        g.emit(Restructured(company, size, {frame.seat: mine} | rest))
        facts = size_facts(g, company)
        if facts.stations_to_buy:
            g.emit(MarkersChanged(company, 0, facts.stations_to_buy))

    def _finish(self, g: Game, frame: Formation) -> None:
        g.close()
        turn = g.top
        assert isinstance(turn, StockTurn)
        end_turn(g, turn, formed=frame.company)
        if frame.again:
            g.change(msgspec.structs.replace(stock_round(g), turn=turn.seat))

    def settle(self, g: Game, frame: Formation) -> bool:
        if frame.size is None and self.piecemeal and len(g.phase.ipo_sizes) == 1:
            self._choose(g, frame, g.phase.ipo_sizes[0])
            g.change(msgspec.structs.replace(frame, size=g.phase.ipo_sizes[0]))
            return True
        said = (option.action for option in self.options(g, frame, frame.seat))
        puts = any(isinstance(action, FloatCompany) and action.privates for action in said)
        if frame.size is not None and not puts:
            self._finish(g, frame)
            return True
        if frame.size is None and not puts and len(g.phase.ipo_sizes) == 1:
            self.take(g, frame, frame.seat, FloatCompany(g.phase.ipo_sizes[0]))
            return True
        return False
