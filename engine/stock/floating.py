"""What a company receives when it floats (1830 §11; 1851, Buying Stock)."""

from __future__ import annotations

from dataclasses import dataclass

from engine.core.events import SharesMoved
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

    The book of 1830 hands the capital out at the beginning of the next operating round (1830 §11). Until then
    it can buy nothing, so here and on the site it is in the treasury as soon as the company floats. Only a
    bank that it breaks would break later, after what players still pay in that stock round.
    """

    paid_shares: int | None = None
    fee: int = 0
    rest_to_treasury: bool = False
    places_home: bool = False
    price_rows_up: int = 0

    def __call__(self, g: Game, company: str) -> None:
        co = g.company(company)
        assert co.par is not None
        shares = 100 // share_percent(g, company) if self.paid_shares is None else self.paid_shares
        g.pay(BANK, company, co.par * shares - self.fee, CashReason.CAPITAL)
        if self.rest_to_treasury and (rest := co.shares.get(IPO, 0)):
            g.emit(SharesMoved(company, IPO, company, rest))
        if self.places_home:
            place_home(g, company, "president")
        at = market.token_space(g, company)
        for _ in range(self.price_rows_up):
            at = market.up(g, at)
        market.move_token(g, company, at, PriceReason.FLOATED)
