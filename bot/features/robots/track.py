"""Track and station tokens: lay for revenue, the trains that are planned first."""

from __future__ import annotations

from collections.abc import Sequence

from bot.features.robots.forecast import Forecast
from bot.features.robots.places import open_neighbors
from bot.features.robots.scored import BANKRUPTCY, Scored, of_kind
from bot.features.robots.trains import lead_part, lost_train, ruins
from engine import Game, Option, game_of, stop_revenue
from engine.core.actions import (
    Action,
    ChooseHome,
    LayMill,
    LayMine,
    LayTile,
    Pass,
    PlaceBridge,
    PlaceToken,
    TakeLoans,
)
from engine.core.state import OperatingTurn
from engine.operating.run import ESTIMATE_BUDGET, best_run
from engine.operating.track import place_tile, terrain_cost

MAX_TRIALS = 10
"""Lays whose revenue is looked at; the others are ranked by the stops that they lead to."""
MAX_DENSE_TRIALS = 12
"""The same where an estimate does not prove the best routes: there a lay takes a tenth of a second."""
NEARER = 0.2
"""Which part of what a company without a route would earn is worth one hex less to its first route."""
MIN_COMPARED = 4
"""The best lays whose effect on the other companies is always looked at."""
FAR = 6
"""Hexes beyond which the way to a stop is not counted."""


def planned_trains(o: Forecast, company: str) -> list[str]:
    """The trains that the company will run soon: those that last, and the next that it can buy."""
    trains = [t for t in o.g.company(company).trains if o.life(t) > 0.8]
    train = o.next_train()
    room = o.g.phase.train_limit - len(trains)
    if train and room > 0 and (not trains or o.g.cash(company) >= train.price):
        trains.append(train.name)
    return trains


def future_trains(o: Forecast, company: str) -> list[str]:
    """The trains that track is built for in the long run: two that last."""
    lasting = [t for t in o.g.company(company).trains if o.life(t) > 3]
    train = o.lasting_train()
    if train is None:
        return lasting or planned_trains(o, company)
    return lasting + [train.name] * (min(2, o.g.phase.train_limit) - len(lasting))


class Surveyor:
    """Judges track of one company against the track as it is."""

    def __init__(self, o: Forecast, company: str, trials: int = MAX_TRIALS) -> None:
        self.o = o
        self.company = company
        self.now = planned_trains(o, company)
        self.later = future_trains(o, company)
        dense = o.is_dense(company, self.now) or o.is_dense(company, self.later)
        self.trials = min(trials, MAX_DENSE_TRIALS) if dense else trials
        o.g.network.reachable(company)
        self.base_reach = self._reach(o.g)
        self.base = self._revenues(o.g)
        self.base_distance = 0 if max(self.base) else self._to_second_stop(o.g)

    def _reach(self, g: Game) -> float:
        """Dollars of the stops that the company reaches, and of those that its next tile may reach."""
        network, reach = g.network, g.network.reachable(self.company)
        there = {hex for hex, _ in reach.stops}
        near = 0.0
        for hex in reach.edges:
            if hex not in there:
                near += sum(
                    max(stop_revenue(g.components, g.state.phase, n), 10) for n in network.faces[hex].nodes
                )
        own = sum(stop_revenue(g.components, g.state.phase, network.node(s)) for s in reach.stops)
        return own + 0.4 * near + 1.0 * len(reach.edges)

    def _revenues(self, g: Game) -> tuple[float, float]:
        now = best_run(g, self.company, self.now, ESTIMATE_BUDGET).revenue if self.now else 0
        same = sorted(self.later) == sorted(self.now)
        later = (
            now if same or not self.later else best_run(g, self.company, self.later, ESTIMATE_BUDGET).revenue
        )
        return now, later

    def reach_gain(self, g: Game) -> float:
        return self.o.weights.reach * (self._reach(g) - self.base_reach)

    def gain(self, g: Game) -> float:
        """Dollars a round that the new track brings: now, and half of what it brings to later trains."""
        now, later = self._revenues(g)
        gain = (now - self.base[0]) + 0.5 * max(later - self.base[1], -20) + self.reach_gain(g)
        if self.base_distance:
            nearer = self.base_distance - self._to_second_stop(g)
            gain += NEARER * nearer * self.o.prospect(self.now or self.later)
        return gain

    def effect_on_others(self, g: Game) -> float:
        """Dollars a round that the seat gains on the others by what the new track, or a token, does to the
        revenues of the other companies."""
        lead, before = 0.0, self.o.g
        for other in self.o.operating():
            trains = before.company(other).trains
            if other != self.company and trains:
                after = best_run(g, other, trains, ESTIMATE_BUDGET).revenue
                lead += (after - self.o.revenue(other)) * lead_part(self.o, other)
        return lead

    def _to_second_stop(self, g: Game) -> int:
        """How many hexes the company's track is from the next stop that it does not reach.

        A stop beside its track counts only while its hex has no tile: one that is laid leads elsewhere.
        """
        reach, hexes = g.network.reachable(self.company), g.components.map.hexes
        there = {hex for hex, _ in reach.stops} | (reach.edges.keys() & g.state.tiles.keys())
        ring, seen = list(reach.edges), set(reach.edges)
        for distance in range(FAR):
            if any(hex not in there and g.network.faces[hex].nodes for hex in ring):
                return distance
            near = [n for at in ring for n in open_neighbors(hexes[at])]
            ring = [hex for hex in dict.fromkeys(near) if hex in hexes and hex not in seen]
            seen.update(ring)
        return FAR

    def rank(self, lays: Sequence[LayTile | LayMine]) -> list[tuple[float, LayTile | LayMine, Game]]:
        """The lays with the dollars a round that they bring, and the positions after them, best first."""
        rough = []
        for i, lay in enumerate(lays):
            draft = self._laid(lay)
            rough.append((self.reach_gain(draft), -i, lay, draft))
        rough.sort(key=lambda each: (-each[0], -each[1]))
        chosen, rest = _varied(rough, self.trials)
        exact = [(self.gain(draft), order, lay, draft) for _, order, lay, draft in chosen]
        exact.sort(key=lambda each: (-each[0], -each[1]))
        floor = min((each[0] for each in exact), default=0.0)
        unlooked = [(min(g, floor) - 1, order, lay, draft) for g, order, lay, draft in rest]
        return [(g, lay, draft) for g, _, lay, draft in exact + unlooked]

    def with_effect_on_others(self, judged: Sequence[Scored]) -> list[Scored]:
        """Judged lays with their effect on the other companies, as far as it may change which is the best."""
        lays = sorted(judged, key=lambda each: -each.value)
        looked_at = list[Scored]()
        for number, each in enumerate(lays):
            best = max((other.value for other in looked_at), default=0.0)
            if number >= MIN_COMPARED and each.value <= max(best, 0.0):
                return looked_at + lays[number:]
            assert isinstance(each.action, LayTile | LayMine)
            lead = self.effect_on_others(self._laid(each.action))
            looked_at.append(each._replace(value=each.value + lead * max(self.o.horizon, 1)))
        return looked_at

    def _laid(self, lay: LayTile | LayMine) -> Game:
        # The board as it is becomes the one used last, from which the network of the trial is derived.
        _ = game_of(self.o.g.state).network
        draft = self.o.g.draft()
        place_tile(draft, self.company, LayTile(lay.tile, lay.hex, lay.rotation))
        return draft


Rough = tuple[float, int, LayTile | LayMine, Game]


def _varied(rough: list[Rough], count: int) -> tuple[list[Rough], list[Rough]]:
    """The first lays of as many hexes as possible, so that one hex does not take all the trials."""
    taken: list[Rough] = []
    by_hex: dict[str, int] = {}
    for allowed in (2, 4, 100):
        for each in rough:
            if len(taken) >= count:
                break
            if each not in taken and by_hex.get(each[2].hex, 0) < allowed:
                taken.append(each)
                by_hex[each[2].hex] = by_hex.get(each[2].hex, 0) + 1
    chosen = {id(each) for each in taken}
    return taken, [each for each in rough if id(each) not in chosen]


def track_step(o: Forecast, options: Sequence[Option], trials: int = MAX_TRIALS) -> list[Scored]:
    """The lay that brings most, less its cost; none where every lay hurts."""
    turn = o.g.top
    assert isinstance(turn, OperatingTurn)
    company = turn.company
    judged = [Scored(Pass(), 0.0, "no tile helps")]
    lays = [option.action for option in options if isinstance(option.action, LayTile | LayMine)]
    if lays and trials == 0:
        return judged
    fund = o.train_fund(company) + 2 * o.interest(company)
    cash = o.g.cash(company)
    if lays:
        surveyor, found = Surveyor(o, company, trials), list[Scored]()
        for gain, lay, after in surveyor.rank(lays):
            cost = terrain_cost(o.g, lay.hex) if isinstance(lay, LayTile) else 0
            dollar = 1.0 if cash - cost < fund else o.weights.treasury_dollar
            bonus = 25.0 if isinstance(lay, LayMine) or lay.using else 0.0
            worth = gain * max(o.horizon, 1) * 0.5 - dollar * cost + bonus
            worth -= _loss_by(o, company, cost, after)
            found.append(Scored(lay, worth, _lay_reason(company, gain, lay)))
        judged += surveyor.with_effect_on_others(found)
    for option in options:
        if isinstance(option.action, TakeLoans):
            needy = (
                cash < 30
                and not o.g.company(company).loans
                and o.revenue(company, planned_trains(o, company)) == 0
            )
            worth = 40.0 if needy and option.action.count == 1 else -20.0 * option.action.count
            judged.append(Scored(option.action, worth, f"the {company} needs money for track"))
        elif isinstance(option.action, LayMill):
            judged.append(Scored(option.action, 30.0, "the mill raises what the city pays"))
        elif isinstance(option.action, PlaceBridge):
            judged.append(Scored(option.action, 15.0, "the bridge raises what the city pays"))
    return judged


def _loss_by(o: Forecast, company: str, cost: int, after: Game) -> float:
    """Dollars to the seat of interest and a train that the company cannot pay once it has spent so much.

    `after`: the position then, in which a first route may force the purchase of a train.
    """
    if ruins(o, company, cost, after):
        return -BANKRUPTCY
    if not cost:
        return 0.0
    return o.liquidation_loss(company, cost - o.revenue(company)) + lost_train(o, company, cost)


def _lay_reason(company: str, gain: float, lay: LayTile | LayMine) -> str:
    if gain >= 10:
        return f"#{lay.tile} on {lay.hex} brings the {company} about ${gain:,.0f} a round"
    return f"#{lay.tile} on {lay.hex} leads the {company} to new stops"


def token_step(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """The station token that raises the revenue most, if the money is not needed for a train."""
    company = getattr(o.g.top, "company", "")
    judged = [Scored(Pass(), 0.0, "no token is worth its price now")]
    tokens = list(of_kind(options, PlaceToken))
    if not tokens:
        return judged
    surveyor = Surveyor(o, company)
    fund, before = o.train_fund(company) + 2 * o.interest(company), o.g.cash(company)
    for token in tokens:
        draft = applied(o, token)
        cost = before - draft.cash(company)
        gain = surveyor.gain(draft)
        dollar = 1.2 if before - cost < fund else o.weights.treasury_dollar
        spare = 15 if cost == 0 else 0
        worth = gain * max(o.horizon, 1) * 0.5 - dollar * cost + spare
        worth += surveyor.effect_on_others(draft) * max(o.horizon, 1)
        worth -= _loss_by(o, company, cost, draft)
        why = f"a token in {token.hex} brings about ${gain:,.0f} a round"
        if gain < 1 and cost == 0:
            why = f"a token in {token.hex} costs nothing, and others cannot take its place"
        judged.append(Scored(token, worth, why))
    return judged


def home_choice(o: Forecast, options: Sequence[Option]) -> list[Scored]:
    """The home city with the most revenue around it."""
    homes = of_kind(options, ChooseHome)
    return [Scored(home, 10.0 - home.node, "track leads on from that city") for home in homes]


def applied(o: Forecast, action: Action) -> Game:
    """The position after an action, as a draft."""
    draft = o.g.draft()
    question = draft.title.questions[type(draft.top)]
    question.apply(draft, draft.top, o.seat, action)
    return draft
