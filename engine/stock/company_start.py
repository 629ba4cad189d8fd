"""The start of a company: what it receives when it floats (1830 §11; 1851, Buying Stock), the auction of its
president's certificate, its size, and the privates put into it (1817 §5.5).

In a variant companies start in historical order (1870 §16.5): half of the shares of a company whose turn has
not come may be sold. It has a price then, but does not float.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from engine.core.actions import Action, FloatCompany, Pass
from engine.core.components import ExtraTokensAbility
from engine.core.events import (
    CapitalAwaited,
    CompanyFloated,
    OperatingTurnStarted,
    ParSet,
    PresidentNamed,
    PrivateMoved,
    SharesMoved,
    SharesRestructured,
    UnplacedTokensChanged,
)
from engine.core.reasons import CashReason, PriceReason
from engine.core.state import BANK, IPO, Auction, CompanyStart, StockTurn
from engine.finance import market
from engine.finance.auctions import AuctionKind
from engine.finance.loans import size_definition, token_cost_label
from engine.finance.ownership import certificate_limit, counted_certificates, share_percent
from engine.game import Game
from engine.mechanics import Option
from engine.operating.stations import city_label, place_home
from engine.stock.short_selling_turn import affordable_bids, private_value_sums, refuse_bid
from engine.stock.turn import current_stock_round, end_stock_turn


@dataclass(frozen=True)
class Capitalization:
    """Capital from the bank, and what else happens when a company floats.

    `paid_shares`: the number of shares for which the bank pays par (None: all), less `fee` dollars.
    `rest_to_treasury`: shares left in the initial offering go into the treasury. `places_home`: the home
    token is placed at once. `price_rows_up`: the number of rows by which the price rises.
    `in_next_operating_round`: the bank pays at the beginning of the next operating round, not at once (1830
    §11). Whether it is broken shows then, after what players still pay in the stock round.
    """

    paid_shares: int | None = None
    fee: int = 0
    rest_to_treasury: bool = False
    places_home: bool = False
    price_rows_up: int = 0
    in_next_operating_round: bool = False

    def __call__(self, g: Game, company: str) -> None:
        co = g.company(company)
        if self.in_next_operating_round:
            g.emit(CapitalAwaited(company))
        else:
            g.pay(BANK, company, self.capital(g, company, self._par(g, company)), CashReason.CAPITAL)
        if self.rest_to_treasury and (rest := co.shares.get(IPO, 0)):
            g.emit(SharesMoved(company, IPO, company, rest))
        if self.places_home:
            place_home(g, company, "president")
        at = market.token_space(g, company)
        for _ in range(self.price_rows_up):
            at = market.up(g, at)
        market.move_token(g, company, at, PriceReason.FLOATED)

    def awaited(self, g: Game, company: str) -> int:
        return self.capital(g, company, self._par(g, company)) if g.company(company).awaits_capital else 0

    def _par(self, g: Game, company: str) -> int:
        par = g.company(company).par
        assert par is not None
        return par

    def capital(self, g: Game, company: str, par: int) -> int:
        shares = 100 // share_percent(g, company) if self.paid_shares is None else self.paid_shares
        return par * shares - self.fee

    def pay_awaited(self, g: Game) -> None:
        for company in g.operating_order():
            if dollars := self.awaited(g, company):
                g.emit(CapitalAwaited(company, awaited=False))
                g.pay(BANK, company, dollars, CashReason.CAPITAL)


@dataclass(frozen=True)
class CertificateAuction(AuctionKind):
    """President's certificates up for auction (1817 §5.5).

    `ask_by_worth`: a player whose cash and privates are worth a bid is asked, even if they cannot pay any bid
    exactly, as on 18xx.games.
    """

    ask_by_worth: bool = False

    def details(self, g: Game, frame: Auction) -> str:
        return f"home in {city_label(g, frame.home_hex, frame.home_node)}"

    def bid_range(self, g: Game, frame: Auction, seat: str) -> range:
        terms = g.components.ipo_bid
        assert terms is not None
        if counted_certificates(g, seat) >= certificate_limit(g):
            return range(0)
        return affordable_bids(g, seat, frame.high_bid + terms.step)

    def asked_without_bid(self, g: Game, frame: Auction, seat: str) -> bool:
        terms = g.components.ipo_bid
        assert terms is not None
        if not self.ask_by_worth or counted_certificates(g, seat) >= certificate_limit(g):
            return False
        worth = g.cash(seat) + max(private_value_sums(g, seat))
        return frame.high_bid + terms.step <= min(worth, terms.max)

    def bid_refusal(self, g: Game, frame: Auction, seat: str, amount: int) -> str | None:
        terms = g.components.ipo_bid
        assert terms is not None
        if amount <= frame.high_bid or amount > terms.max or amount % terms.step:
            low = frame.high_bid + terms.step
            cited = g.cite("1817 §5.5")
            return f"A bid is a multiple of ${terms.step} from ${low:,} to ${terms.max:,}{cited}."
        return refuse_bid(g, seat, amount)

    def on_close(self, g: Game, frame: Auction) -> None:
        company, seat, price = frame.item, frame.high_bidder, frame.high_bid
        assert seat is not None
        par = max(p for p in g.components.par_prices if p <= price // 2)
        cell = g.title.par_cell(par)
        assert cell is not None
        g.emit(SharesRestructured(company, 2, {seat: 100}))
        g.emit(PresidentNamed(company, seat))
        g.pay(seat, company, price, CashReason.PRESIDENT_CERTIFICATE, company)
        g.emit(ParSet(company, par, cell))
        g.emit(CompanyFloated(company))
        g.emit(OperatingTurnStarted(company))
        if frame.acting_company:
            # On 18xx.games the winner puts in no privates then; if they were asked for the size, the player
            # who put the company up has another turn (see BidderCompanyActions).
            g.push(CompanyStart(company, seat, 0, extra_turn=len(g.phase.ipo_sizes) > 1))
        else:
            g.push(CompanyStart(company, seat, price))


@dataclass(frozen=True)
class CompanyStartQuestion:
    """Asks the winner for the company's size and the privates that they put into it.

    `size_before_privates`: the size and each private are chosen one after the other, as on 18xx.games.
    """

    size_before_privates: bool = False

    def asked(self, g: Game, frame: CompanyStart) -> tuple[str, ...]:
        return (frame.seat,)

    def prompt(self, g: Game, frame: CompanyStart) -> str:
        owed = -g.cash(frame.seat)
        least = f", at least ${owed:,} of it in privates" if owed > 0 else ""
        price = f"${frame.payable_in_privates:,} to pay{least}; price ${g.price(frame.company):,}"
        return f"choose the size of the {frame.company} and the privates to put into it ({price})"

    def options(self, g: Game, frame: CompanyStart, seat: str) -> Iterator[Option]:
        own = g.privates_of(seat)
        for size in g.phase.ipo_sizes:
            for count in range(len(own) + 1):
                if count > 1 and self.size_before_privates:
                    break
                for privates in combinations(own, count):
                    choice = FloatCompany(size, privates)
                    if self.refusal(g, frame, seat, choice) is None:
                        cost = token_cost_label(g, size, g.components.company_sizes[size].stations_to_buy)
                        with_ = f" with {', '.join(privates)}" if privates else ""
                        yield Option(choice, f"{size} shares{with_}{cost}")
        if self.refusal(g, frame, seat, Pass()) is None:
            yield Option(Pass(), "Put in no more privates")

    def refusal(self, g: Game, frame: CompanyStart, seat: str, action: Action) -> str | None:
        chosen = frame.size
        if isinstance(action, Pass):
            if chosen is None:
                return f"The size of the {frame.company} has to be chosen{g.cite('1817 §5.5')}."
            return (
                None
                if g.cash(seat) >= 0
                else f"The rest of the bid has to be paid with privates first{g.cite('1817 §5.5')}."
            )
        if not isinstance(action, FloatCompany):
            return (
                f"The {frame.company} is being started: choose its size and the privates to put into "
                f"it{g.cite('1817 §5.5')}."
            )
        if action.size not in g.phase.ipo_sizes or chosen not in (None, action.size):
            sizes = [chosen] if chosen else g.phase.ipo_sizes
            return (
                f"The {frame.company} may start with {' or '.join(map(str, sizes))} "
                f"shares{g.cite('1817 §5.5')}."
            )
        own = g.privates_of(seat)
        if len(set(action.privates)) < len(action.privates) or not set(action.privates) <= set(own):
            return f"A president may put in only privates that they own, each once{g.cite('1817 §5.5')}."
        worth = sum(g.private_definition(p).price for p in action.privates)
        if worth > frame.payable_in_privates:
            return (
                f"Privates for ${worth:,} are more than the bid, "
                f"${frame.payable_in_privates:,}{g.cite('1817 §5.5')}."
            )
        others = private_value_sums(g, seat, action.privates) if self.size_before_privates else {0}
        if not any(
            worth + more <= frame.payable_in_privates and g.cash(seat) + worth + more >= 0 for more in others
        ):
            return (
                f"Another ${-g.cash(seat):,} of the bid have to be paid with privates{g.cite('1817 §5.5')}."
            )
        if chosen is not None and not action.privates:
            return f"The size is chosen: name the privates to put in, or pass{g.cite('1817 §5.5')}."
        return None

    def apply(self, g: Game, frame: CompanyStart, seat: str, action: Action) -> None:
        if isinstance(action, Pass):
            self._finish(g, frame)
            return
        assert isinstance(action, FloatCompany)
        if frame.size is None:
            self._choose_size(g, frame, action.size)
        bid = frame.payable_in_privates
        for private in action.privates:
            face = g.private_definition(private).price
            bid -= face
            g.pay(frame.company, seat, face, CashReason.PRIVATE, private)
            g.emit(PrivateMoved(private, frame.company))
            ability = g.private_definition(private).ability
            if isinstance(ability, ExtraTokensAbility):
                g.emit(UnplacedTokensChanged(frame.company, ability.tokens))
        if self.size_before_privates:
            g.change_top(frame, size=action.size, payable_in_privates=bid)
        else:
            self._finish(g, frame)

    def _choose_size(self, g: Game, frame: CompanyStart, size: int) -> None:
        company = frame.company
        own = 200 // size
        rest = {company: 100 - own} if own < 100 else {}
        g.emit(SharesRestructured(company, size, {frame.seat: own} | rest))
        facts = size_definition(g, company)
        if facts.stations_to_buy:
            g.emit(UnplacedTokensChanged(company, 0, facts.stations_to_buy))

    def _finish(self, g: Game, frame: CompanyStart) -> None:
        g.pop()
        turn = g.top
        assert isinstance(turn, StockTurn)
        end_stock_turn(g, turn, formed=frame.company)
        if frame.extra_turn:
            g.change_top(current_stock_round(g), current_seat=turn.seat)

    def advance(self, g: Game, frame: CompanyStart) -> bool:
        if frame.size is None and self.size_before_privates and len(g.phase.ipo_sizes) == 1:
            self._choose_size(g, frame, g.phase.ipo_sizes[0])
            g.change_top(frame, size=g.phase.ipo_sizes[0])
            return True
        choice = (option.action for option in self.options(g, frame, frame.seat))
        puts = any(isinstance(action, FloatCompany) and action.privates for action in choice)
        if frame.size is not None and not puts:
            self._finish(g, frame)
            return True
        if frame.size is None and not puts and len(g.phase.ipo_sizes) == 1:
            self.apply(g, frame, frame.seat, FloatCompany(g.phase.ipo_sizes[0]))
            return True
        return False


PERCENT_BEFORE_START = 50


def historical_order(g: Game) -> list[str]:
    """All companies by the year in which they were founded."""
    return sorted(
        g.state.companies, key=lambda company: (g.company_definition(company).founded or 0, company)
    )


def may_start(g: Game, company: str) -> bool:
    """Whether every company before it has sold the shares that it needs to float."""
    order = historical_order(g)
    return all(
        100 - g.percent_held(IPO, earlier) >= g.company_definition(earlier).float_percent
        for earlier in order[: order.index(company)]
    )


def refuse_purchase_out_of_order(g: Game, company: str, source: str, percent: int) -> str | None:
    """Why that many percent of a company may not be bought yet, or None."""
    if (
        source != IPO
        or 100 - g.percent_held(IPO, company) + percent <= PERCENT_BEFORE_START
        or may_start(g, company)
    ):
        return None
    first = next(
        c
        for c in historical_order(g)
        if not may_start(g, c) or g.percent_held(IPO, c) > 100 - PERCENT_BEFORE_START - 10
    )
    return (
        f"Half of the {company} may be sold before it may start: it is the turn of the "
        f"{first}{g.cite('1870 §16.5')}."
    )
