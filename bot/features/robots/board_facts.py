"""What a projection needs of the board and the market, worked out once for a position.

Theory of operation. All projections of a position ask for the revenues of the same few sets of trains on the
track that there is, so each is run once. Track that is not laid yet is an estimate (`Forecast.prospect`),
which is reached over the rounds.
"""

from __future__ import annotations

from functools import cache
from math import exp

from bot.features.robots.forecast import STOP_VALUE, Forecast
from bot.features.robots.places import home_place
from engine import Game
from engine.core.components import MarketZone
from engine.finance import market
from engine.finance.market import Space
from engine.finance.ownership import is_exempt_from_limit

UPGRADES = 0.06
"""By which part revenues on today's track grow from one operating round to the next, by better tiles."""
MOST_UPGRADES = 1.5
"""How many times today's revenue better tiles may bring at most."""
TRACK_ROUNDS = 5.0
"""Operating rounds in which a company lays about two thirds of the track that its trains still lack."""
FIRST_TRACK_ROUNDS = 3.0
"""The same for a company without a route."""
MORE_STOPS = 1.4
"""How many times the stops of `Forecast.prospect` trains run to in the end."""


class BoardFacts:
    """Revenues and market moves of a position, shared by all its projections."""

    def __init__(self, o: Forecast) -> None:
        self.o = o
        self.g: Game = o.g
        self.revenue = cache(self._revenue)
        self.price = cache(self._price)
        self.moved = cache(self._moved)
        self.is_exempt = cache(self._is_exempt)
        self._place = cache(self._place_of)

    def _revenue(self, company: str, trains: tuple[str, ...], rounds: float, color: str) -> float:
        """Dollars that these trains would earn for a company after so many rounds, with tiles up to a
        color."""
        if not trains:
            return 0.0
        today = self.o.revenue(company, trains)
        upgraded = today * min(1 + UPGRADES * rounds, MOST_UPGRADES)
        stops = MORE_STOPS * self.o.prospect(trains) / self.o.stop_value()
        prospect = stops * STOP_VALUE[color] * self._place(company)
        laid = 1 - exp(-rounds / TRACK_ROUNDS) if today else 1 - exp(-(rounds + 1) / FIRST_TRACK_ROUNDS)
        return upgraded + laid * max(prospect - upgraded, 0.0)

    def _place_of(self, company: str) -> float:
        """How much of the usual the company earns by its place."""
        return min(max(home_place(self.g, company), 0.7), 1.3)

    def _price(self, at: Space) -> int:
        """Dollars of a share on a space; nothing in liquidation."""
        cell = self.g.title.cell(at)
        return 0 if MarketZone.LIQUIDATION in cell.zones else cell.price

    def _is_exempt(self, at: Space) -> bool:
        """Whether certificates of a company on that space count towards no limit."""
        return is_exempt_from_limit(self.g.title.cell(at))

    def _moved(self, at: Space, direction: str) -> Space:
        """The space beside one: `right`, `left`, `up` or `down`."""
        space: Space = getattr(market, direction)(self.g, at)
        return space
