"""What a company gets as it floats (1830 §11; 1851, Buying Stock)."""

from __future__ import annotations

from dataclasses import dataclass

from engine import market
from engine.events import SharesMoved
from engine.game import Game
from engine.holdings import unit
from engine.operating.stations import place_home
from engine.state import BANK, IPO


@dataclass(frozen=True)
class Floating:
    """Capital from the bank, and what comes with it.

    `paid`: for how many shares the bank pays par (None: for all of them), less `fee` dollars.
    `keeps_rest`: what is left of the initial offering goes into the treasury. `homes`: the home token
    is placed at once. `rows_up`: so many rows the price rises.
    """

    paid: int | None = None
    fee: int = 0
    keeps_rest: bool = False
    homes: bool = False
    rows_up: int = 0

    def __call__(self, g: Game, company: str) -> None:
        co = g.company(company)
        assert co.par is not None
        shares = 100 // unit(g, company) if self.paid is None else self.paid
        g.pay(BANK, company, co.par * shares - self.fee, "capital")
        if self.keeps_rest and (rest := co.shares.get(IPO, 0)):
            g.emit(SharesMoved(company, IPO, company, rest))
        if self.homes:
            place_home(g, company, "president")
        at = market.place(g, company)
        for _ in range(self.rows_up):
            at = market.up(g, at)
        market.move(g, company, at, "floated")
