"""What a projection needs of the board and the market, worked out once for a position.

Theory of operation. All projections of a position ask for the revenues of the same few sets of trains on the
track that there is, so each is run once. Track that is not laid yet is an estimate (`Forecast.prospect`),
which is reached over the rounds.
"""

from __future__ import annotations

from math import exp

from bot.features.robots.forecast import STOP_VALUE, Forecast
from bot.features.robots.places import place_value
from engine import Game
from engine.core.components import MarketZone
from engine.finance import market
from engine.finance.market import Space
from engine.finance.ownership import ZONES_EXEMPT_FROM_CERTIFICATE_LIMIT

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
USUAL_PLACE = 140
"""Dollars of a usual home, see `places.place_value`."""


class BoardFacts:
    """Revenues and market moves of a position, shared by all its projections."""

    def __init__(self, o: Forecast) -> None:
        self.o = o
        self.g: Game = o.g
        self._prospects: dict[tuple[str, ...], float] = {}
        self._places: dict[str, float] = {}
        self._moves: dict[tuple[Space, str], Space] = {}
        self._revenues: dict[tuple[str, tuple[str, ...], float, str], float] = {}
        self._prices: dict[Space, int] = {}
        self._exempt: dict[Space, bool] = {}

    def revenue(self, company: str, trains: tuple[str, ...], rounds: float, color: str) -> float:
        """Dollars that these trains would earn for a company after so many rounds, with tiles up to a
        color."""
        key = company, trains, rounds, color
        if key not in self._revenues:
            self._revenues[key] = self._revenue(company, trains, rounds, color)
        return self._revenues[key]

    def _revenue(self, company: str, trains: tuple[str, ...], rounds: float, color: str) -> float:
        if not trains:
            return 0.0
        today = self.o.revenue(company, trains)
        upgraded = today * min(1 + UPGRADES * rounds, MOST_UPGRADES)
        prospect = self._prospect(trains) * STOP_VALUE[color] * self._place(company)
        laid = 1 - exp(-rounds / TRACK_ROUNDS) if today else 1 - exp(-(rounds + 1) / FIRST_TRACK_ROUNDS)
        return upgraded + laid * max(prospect - upgraded, 0.0)

    def lay_cost(self, company: str) -> int:
        """See `Forecast.lay_cost`."""
        return self.o.lay_cost(company)

    def _prospect(self, trains: tuple[str, ...]) -> float:
        """How many stops these trains together will run to."""
        if trains not in self._prospects:
            self._prospects[trains] = MORE_STOPS * self.o.prospect(trains) / self.o.stop_value()
        return self._prospects[trains]

    def _place(self, company: str) -> float:
        """How good the surroundings of the company's home are, 1 for usual ones."""
        if company not in self._places:
            home = self.g.company_definition(company).home
            tokens = self.g.state.tokens.items()
            hexes = [home.hex] if home else [h for h, there in tokens if any(c == company for _, c in there)]
            value = max((place_value(self.g, hex) for hex in hexes), default=USUAL_PLACE)
            self._places[company] = min(max(value / USUAL_PLACE, 0.7), 1.3)
        return self._places[company]

    def price(self, at: Space) -> int:
        """Dollars of a share on a space; nothing in liquidation."""
        if at not in self._prices:
            cell = self.g.title.cell(at)
            self._prices[at] = 0 if MarketZone.LIQUIDATION in cell.zones else cell.price
        return self._prices[at]

    def is_exempt(self, at: Space) -> bool:
        """Whether certificates of a company on that space count towards no limit."""
        if at not in self._exempt:
            zones = self.g.title.cell(at).zones
            self._exempt[at] = not ZONES_EXEMPT_FROM_CERTIFICATE_LIMIT.isdisjoint(zones)
        return self._exempt[at]

    def moved(self, at: Space, direction: str) -> Space:
        """The space beside one: `right`, `left`, `up` or `down`."""
        key = at, direction
        if key not in self._moves:
            self._moves[key] = getattr(market, direction)(self.g, at)
        return self._moves[key]
