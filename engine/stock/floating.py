"""What a company receives when it floats (1830 §11; 1851, Buying Stock)."""

from __future__ import annotations

from dataclasses import dataclass

from engine.core.events import CapitalAwaited, SharesMoved
from engine.core.reasons import CashReason, PriceReason
from engine.core.state import BANK, IPO
from engine.finance import market
from engine.finance.ownership import share_percent
from engine.game import Game
from engine.operating.stations import place_home


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
