"""Players who owe more than they have, and bankruptcies that the game survives (1817 §7.4).

What is due is paid at once, so a player's cash is below zero for as long as his crisis lasts; he
sells until it is not, or is bankrupt. That is looked for before any question goes on. Of several who
are in need, on which the book is silent, the first is whoever presides over the company that it is
about, or sits next to the left. A private cannot be bought from the open market, so a bankrupt's are
closed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.actions import Action, Bankrupt, Sell
from engine.events import (
    CashMoved,
    CrisisFrom,
    InterestMissed,
    MarkersChanged,
    PlayerOut,
    PresidentLost,
    PrivateMoved,
    SharesMoved,
)
from engine.game import Game
from engine.holdings import close_pairs, move_shares, sale_obstacle, successor, unit
from engine.loans import in_zone, is_liquid, liquidate, size_facts
from engine.offers import lapse_offers
from engine.state import (
    BANK,
    CLOSED,
    POOL,
    Crisis,
    Formation,
    GameOver,
    StockRound,
    Surplus,
)
from engine.title import Option, nothing


def refuse_sale(g: Game, seat: str, company: str, count: int) -> str | None:
    """Why the player may not sell so many shares, whoever asks for it (1817 §5.2); or None."""
    co = g.company(company)
    if count < 1:
        return "At least one share has to be sold."
    if g.held(seat, company) <= 0:
        return f"{g.state.name(seat)} holds no share of the {company}."
    if co.size is not None and unit(g, company) * 2 == 100:
        return "Shares of a 2-share company may not be sold (§5.2)."
    if not is_liquid(g, company):
        return f"Shares of the {company} cannot be bought or sold while it is in acquisition (§5.2)."
    base = g.state.stack[0]
    if isinstance(base, StockRound) and company in base.formed:
        return f"The {company} was formed in this stock round (§5.2)."
    return sale_obstacle(g, seat, company, count * unit(g, company))


def sell(g: Game, seat: str, company: str, count: int) -> None:
    """Sell shares into the open market; the price stays (1817 §5.2)."""
    percent = count * unit(g, company)
    move_shares(g, company, seat, POOL, percent)
    close_pairs(g, *g.state.companies)
    g.pay(BANK, seat, g.price(company) * count, f"{percent} % of the {company}")


@dataclass(frozen=True)
class Crises:
    """Asks a player in a cash crisis what he sells.

    `one_by_one`: a share at a time, as the book says; otherwise no more than is needed. `to_charter`:
    what a bankrupt had left goes to the company whose interest he could not pay. `keeps_privates`: his
    privates stay with him, where they are of no use to anybody. `sells_all`: who cannot raise enough is
    bankrupt before he has sold anything. `then`: what is looked for before anything goes on, as on the site
    whoever else is in need.
    """

    one_by_one: bool = True
    to_charter: bool = True
    keeps_privates: bool = False
    sells_all: bool = False
    then: Callable[[Game], bool] = nothing

    def asked(self, g: Game, frame: Crisis) -> tuple[str, ...]:
        return (frame.seat,)

    def needs(self, g: Game, frame: Crisis) -> str:
        owed = f"${-g.cash(frame.seat)}"
        if (
            self.refuse(g, frame, frame.seat, Bankrupt()) is None
            and next(self._sales(g, frame), None) is None
        ):
            return f"to declare bankruptcy: {owed} are owed, and no share may be sold"
        return f"to sell shares: {owed} are owed"

    def options(self, g: Game, frame: Crisis, seat: str) -> Iterator[Option]:
        yield from self._sales(g, frame)
        if self.refuse(g, frame, seat, Bankrupt()) is None:
            yield Option(Bankrupt(), "Declare bankruptcy: the others play on")

    def _sales(self, g: Game, frame: Crisis) -> Iterator[Option]:
        for company, co in g.state.companies.items():
            for count in range(1, max(co.shares.get(frame.seat, 0), 0) // unit(g, company) + 1):
                if self.refuse(g, frame, frame.seat, sale := Sell(company, count)) is None:
                    dollars = g.price(company) * count
                    yield Option(sale, f"Sell {count * unit(g, company)} % of the {company} for ${dollars}")

    def refuse(self, g: Game, frame: Crisis, seat: str, action: Action) -> str | None:
        match action:
            case Sell(company, count):
                return self._refuse_sale(g, seat, company, count)
            case Bankrupt():
                if self.sells_all and self._liquidity(g, frame) >= -g.cash(seat):
                    return "The money can be raised by selling (§7.4)."
                if not self.sells_all and next(self._sales(g, frame), None):
                    return "Sell first all that may be sold (§7.4)."
                return None
        return f"{g.state.name(seat)} is ${-g.cash(seat)} short and has to sell shares first (§7.4)."

    def _liquidity(self, g: Game, frame: Crisis) -> int:
        """Dollars that the player could raise."""
        total = 0
        for company, co in g.state.companies.items():
            counts = range(1, max(co.shares.get(frame.seat, 0), 0) // unit(g, company) + 1)
            able = [n for n in counts if self._refuse_holding(g, frame.seat, company, n) is None]
            total += g.price(company) * max(able, default=0)
        return total

    def _refuse_holding(self, g: Game, seat: str, company: str, count: int) -> str | None:
        """Why so many shares may not be sold, whatever is needed."""
        if why := refuse_sale(g, seat, company, count):
            return why
        if g.company(company).president == seat and successor(g, company, losing=count * unit(g, company)):
            return f"No presidency may change in a cash crisis: the {company}'s would (§7.4)."
        return None

    def _refuse_sale(self, g: Game, seat: str, company: str, count: int) -> str | None:
        if why := self._refuse_holding(g, seat, company, count):
            return why
        if self.one_by_one and count > 1:
            return "In a cash crisis one share is sold at a time (§7.4)."
        if g.price(company) * (count - 1) >= -g.cash(seat):
            return f"${-g.cash(seat)} are needed; fewer shares bring that (§7.4)."
        return None

    def take(self, g: Game, frame: Crisis, seat: str, action: Action) -> None:
        if isinstance(action, Sell):
            sell(g, seat, action.company, action.count)
            return
        g.close()
        remove(g, frame, to_charter=self.to_charter, keeps_privates=self.keeps_privates)
        self.then(g)

    def settle(self, g: Game, frame: Crisis) -> bool:
        if g.cash(frame.seat) >= 0:
            g.close()
            for company, co in g.state.companies.items():
                if co.missed and co.president == frame.seat:
                    g.emit(InterestMissed(company, 0))
            self.then(g)
            return True
        return False


def remove(g: Game, frame: Crisis, *, to_charter: bool, keeps_privates: bool = False) -> None:
    """Take a bankrupt player out of the game (1817 §7.4)."""
    seat, left = frame.seat, g.cash(frame.seat)
    if left:
        g.emit(CashMoved(BANK, seat, -left, "bankruptcy"))
    for company, co in g.state.companies.items():
        if co.missed and co.president == seat:
            if to_charter:
                g.pay(BANK, company, max(co.missed + left, 0), "what its president had")
            g.emit(InterestMissed(company, 0))
    for private in g.privates_of(seat):
        if not keeps_privates:
            g.emit(PrivateMoved(private, CLOSED))
    g.emit(PlayerOut(seat))
    for company in g.operating_order():
        co = g.company(company)
        if seat in co.shares:
            g.emit(SharesMoved(company, seat, POOL, co.shares[seat]))
        if co.president == seat:
            g.emit(PresidentLost(company))
            liquidate(g, company, "without a president")
    close_pairs(g, *g.state.companies)
    lapse_offers(g)


def end_by_bankruptcy(g: Game) -> bool:
    """End the game where all players but one are bankrupt (1817 §8)."""
    if g.state.over or len(g.state.active) > 1:
        return False
    names = " and ".join(g.state.name(s) for s in g.state.active)
    g.open(GameOver(f"All but {names} are bankrupt." if names else "All players are bankrupt."))
    return True


def look_for_crisis(g: Game) -> bool:
    """Open a crisis for the first player in need, counted from whoever acts (1817 §7.4)."""
    if g.state.over or isinstance(g.top, Crisis | Formation | Surplus):
        return False
    needy = [s for s in g.state.active if g.cash(s) < 0]
    if not needy:
        if g.state.crisis_from:
            g.emit(CrisisFrom(None))
        return False
    if g.state.crisis_from is None:
        g.emit(CrisisFrom(_acting(g)))
    first = next(s for s in g.state.seats_from(g.state.crisis_from or _acting(g)) if s in needy)
    g.open(Crisis(first))
    return True


def _acting(g: Game) -> str:
    """The player whose company or turn it is."""
    for frame in reversed(g.state.stack):
        company = getattr(frame, "company", None)
        if company and (president := g.company(company).president):
            return president
        if seat := getattr(frame, "seat", None):
            return str(seat)
    return g.state.priority


def pay_for_markers(g: Game) -> bool:
    """Pay for the markers that a company owes as soon as it can pay for all of them (1817 §5.5)."""
    for company, co in g.state.companies.items():
        if co.owed and not isinstance(g.top, Formation):
            cost = co.owed * size_facts(g, company).station_cost
            if g.cash(company) >= cost and not in_zone(g, company, "liquidation"):
                count = co.owed
                g.pay(company, BANK, cost, "station markers")
                g.emit(MarkersChanged(company, count, -count))
                return True
    return False


def interruptions(
    g: Game, markers: Callable[[Game], bool] = nothing, trains: Callable[[Game], bool] = nothing
) -> bool:
    """What comes before anything else goes on; `markers`, `trains`: those above the limits, where they wait
    for that."""
    return end_by_bankruptcy(g) or markers(g) or look_for_crisis(g) or pay_for_markers(g) or trains(g)
