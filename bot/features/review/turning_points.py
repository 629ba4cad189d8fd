"""The moves after which worth, or what the next rounds pay, moved most between players.

Theory of operation. Entries of money (`money`), changes of best runs (`runs`) and presidencies that passed
are gathered into moments: what belongs together is one moment, such as all sales of a company in a round, or
all trains of an operating turn. A moment has an effect on each player in dollars: worth that came or went at
once, and for a best run what the player's shares bring of the change in the next two runs of the company, as
far as the game had them and a rise lasted: a train that is sold before it has run brings nothing. Dividends,
income and the price moves of runs are left out: they come every round. So is what a purchase of shares
brings, as it was paid for, and what the train of a company brings that had none: it had to have one. A
president's payments for a company whose presidency was passed on to them belong to the moment in which it
passed. The size of a moment is the difference between who gained most and who lost most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from bot.features.review.game import Place
from bot.features.review.money import Cause, Entry
from bot.features.review.runs import BestRunChange, run_indices
from engine.core.events import PresidentNamed, PriceMoved, SharesMoved, TrainMoved
from engine.core.reasons import PriceReason
from engine.core.state import POOL, is_seat
from engine.game_text import GameHistory

Kind = Literal["trains", "track", "sales", "forced", "private", "company"]
CAUSES_OF_COMPANIES = (Cause.LIQUIDATION, Cause.ACQUISITIONS, Cause.MERGERS)
CAUSES_OF_SALES = (Cause.SALES, Cause.UNSOLD, Cause.SHORTS)
PRESIDENTS_PAYMENTS = (Cause.FORCED, Cause.INTEREST, Cause.ACQUISITIONS)
RUNS_COUNTED = 2
"""Runs of a company for which a change of its best run counts."""


class Passed(NamedTuple):
    """A presidency that went from one player to another. `by_sale`: because the former sold shares."""

    at: int
    company: str
    old: str
    new: str
    by_sale: bool


@dataclass
class Moment:
    """What belongs together. `at`: the move that began it; `company`: the one that it is about, or a
    private; `effects`: dollars by seat; `runs`: for how many the changes of best runs lasted, two at most;
    `paid`: what the new president paid later."""

    kind: Kind
    at: int
    place: Place
    company: str
    effects: Counter[str] = field(default_factory=Counter)
    entries: list[Entry] = field(default_factory=list)
    changes: list[BestRunChange] = field(default_factory=list)
    runs: int = 0
    passed: Passed | None = None
    paid: int = 0

    @property
    def size(self) -> int:
        """Dollars between the player who gained most and the one who lost most."""
        amounts = [0, *self.effects.values()]
        return max(amounts) - min(amounts)

    @property
    def is_replacement(self) -> bool:
        """Whether a company that had no train bought one, and nothing else changed."""
        companies = {change.company for change in self.changes}
        return self.kind == "trains" and len(companies) == 1 and self.changes[0].before == 0


def turning_points(
    game: GameHistory,
    where: Sequence[Place],
    entries: Sequence[Entry],
    changes: Sequence[BestRunChange],
    *,
    count: int = 5,
    until: int | None = None,
) -> list[Moment]:
    """The largest moments, in order. where: the place of each move. until: only those among so many first
    moves."""
    found = _Moments(game, where, entries, changes).all()
    within = [each for each in found if each.size and (until is None or each.at < until)]
    largest = sorted(within, key=lambda each: -each.size)[:count]
    return sorted(largest, key=lambda each: each.at)


class _Moments:
    """Gathers the moments of a game."""

    def __init__(
        self,
        game: GameHistory,
        where: Sequence[Place],
        entries: Sequence[Entry],
        changes: Sequence[BestRunChange],
    ) -> None:
        self.game, self.places, self.entries, self.changes = game, where, entries, changes
        self.moments: dict[tuple[object, ...], Moment] = {}
        self.first_sales = _first_sales(game, self.places)
        self.runs = run_indices(game)

    def all(self) -> list[Moment]:
        """Every moment, those about presidencies first."""
        explained = set(self._presidencies())
        for entry in self.entries:
            if entry not in explained:
                self._add_entry(entry)
        for change in self.changes:
            self._add_change(change)
        for moment in self.moments.values():
            if not moment.is_replacement:
                self._count_changes(moment)
        for moment in [each for each in self.moments.values() if each.kind == "forced"]:
            self._join_purchase(moment)
        return list(self.moments.values())

    def _join_purchase(self, forced: Moment) -> None:
        """Let what a president paid belong to the trains of that turn, where these are a moment."""
        del self.moments["forced", forced.company, forced.place.round]
        key = ("trains", forced.place.company, forced.place.company, forced.place.round)
        moment = self.moments.setdefault(key, forced)
        if moment is not forced:
            moment.entries += forced.entries
            moment.effects.update(forced.effects)

    def _moment(self, kind: Kind, index: int, company: str, *key: object) -> Moment:
        place = self.places[index]
        return self.moments.setdefault((kind, company, *key), Moment(kind, index, place, company))

    def _presidencies(self) -> Iterator[Entry]:
        """Make the moments of presidencies that passed; the payments that they explain."""
        passes = list(_presidencies_passed(self.game))
        for at, each in enumerate(passes):
            if not each.by_sale:
                continue
            later = [p.at for p in passes[at + 1 :] if p.company == each.company]
            end = min(later, default=len(self.game.lines))
            paid = [
                entry
                for entry in self.entries
                if (entry.seat, entry.subject) == (each.new, each.company)
                and entry.cause in PRESIDENTS_PAYMENTS
                and entry.dollars < 0
                and each.at < entry.at < end
            ]
            if not paid:
                continue
            round = self.places[each.at].round
            moment = self._moment("sales", self.first_sales[each.company, round], each.company, round)
            moment.passed, moment.paid = each, -sum(entry.dollars for entry in paid)
            moment.effects[each.new] -= moment.paid
            yield from paid

    def _add_entry(self, entry: Entry) -> None:
        index, round = entry.at, self.places[entry.at].round
        sold = self.first_sales.get((entry.subject, round))
        if entry.cause in CAUSES_OF_SALES:
            if sold is None or (entry.cause is Cause.SHORTS and not self._is_price_fall(entry)):
                return
            moment = self._moment("sales", sold, entry.subject, round)
        elif entry.cause is Cause.FORCED:
            moment = self._moment("forced", index, entry.subject, round)
        elif entry.cause is Cause.PRIVATES and round != "opening":
            moment = self._moment("private", index, entry.subject, index)
        elif entry.cause is Cause.BANKRUPTCY:
            moment = self._moment("company", index, "", entry.seat)
        elif entry.cause in CAUSES_OF_COMPANIES:
            moment = self._moment("company", index, entry.subject)
        else:
            return
        moment.effects[entry.seat] += entry.dollars
        moment.entries.append(entry)

    def _is_price_fall(self, entry: Entry) -> bool:
        """Whether shares sold moved the price in the move of an entry."""
        return any(
            isinstance(event, PriceMoved)
            and event.company == entry.subject
            and event.reason in (PriceReason.SOLD, PriceReason.SHARES_IN_POOL)
            for event in self.game.lines[entry.at].events
        )

    def _add_change(self, change: BestRunChange) -> None:
        place = self.places[change.at]
        if change.occasion == "track":
            moment = self._moment("track", change.at, place.company, change.at)
        else:
            turn = (place.company, place.round) if place.company else (change.at,)
            moment = self._moment("trains", change.at, place.company, *turn)
        moment.changes.append(change)
        if moment.kind == "trains":
            moment.at = _largest_change(moment.changes)

    def _count_changes(self, moment: Moment) -> None:
        """Add what the changes of best runs bring, by company from before the first to after the last."""
        first = {change.company: change for change in reversed(moment.changes)}
        for company, last in {change.company: change for change in moment.changes}.items():
            brought = self._brought(last, last.after - first[company].before)
            moment.runs = max(moment.runs, sum(map(bool, brought)))
            for seat, percent in last.holdings.items():
                moment.effects[seat] += sum(brought) * percent // 100

    def _brought(self, last: BestRunChange, dollars: int) -> list[int]:
        """Of a change of that many dollars, what was there at each of the next runs.

        A fall by rust is made up for by a train of another company, but not by one from the bank, which was
        paid for. The fall of a company that sold its train is made up for by any.
        """
        before = last.after - dollars
        later = [each for each in self.changes if each.company == last.company and each.at > last.at]
        brought = []
        for run in [index for index in self.runs[last.company] if index > last.at][:RUNS_COUNTED]:
            until = [each for each in later if each.at < run]
            if dollars > 0:
                brought.append(max(min([last.after, *(each.after for each in until)]) - before, 0))
            else:
                rises = [each for each in until if each.dollars > 0 and each.occasion == "trains"]
                made_up = [each.dollars for each in rises if self._is_trade(last) or self._is_trade(each)]
                brought.append(min(dollars + sum(made_up), 0))
        return brought

    def _is_trade(self, change: BestRunChange) -> bool:
        """Whether a train of one company that went to another changed a best run."""
        companies = self.game.start.companies.keys()
        trades = [
            {event.source, event.target}
            for event in self.game.lines[change.at].events
            if isinstance(event, TrainMoved) and {event.source, event.target} <= companies
        ]
        return any(change.company in trade for trade in trades)


def _largest_change(changes: Sequence[BestRunChange]) -> int:
    """The move after which best runs changed most."""
    dollars: Counter[int] = Counter()
    for change in changes:
        dollars[change.at] += abs(change.dollars)
    return max(dollars, key=lambda index: dollars[index])


def _first_sales(game: GameHistory, where: Sequence[Place]) -> dict[tuple[str, str], int]:
    """The first move of each round in which a player sold shares of a company to the pool."""
    found: dict[tuple[str, str], int] = {}
    for index, move in enumerate(game.lines):
        for event in move.events:
            if isinstance(event, SharesMoved) and event.target == POOL and is_seat(event.source):
                found.setdefault((event.company, where[index].round), index)
    return found


def _presidencies_passed(game: GameHistory) -> Iterator[Passed]:
    presidents = {company: co.president for company, co in game.start.companies.items()}
    for index, move in enumerate(game.lines):
        sold = {(e.company, e.source) for e in move.events if isinstance(e, SharesMoved) and e.target == POOL}
        for event in move.events:
            if isinstance(event, PresidentNamed):
                old = presidents[event.company]
                presidents[event.company] = event.seat
                if old is not None and old != event.seat:
                    yield Passed(index, event.company, old, event.seat, (event.company, old) in sold)
