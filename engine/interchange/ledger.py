"""Which numbered share, train and tile is where: what the site's files say and our position does not.

Theory of operation. The site numbers every certificate, train and tile, and an action names those
that it moves, so what is named has to be where the site has it. The ledger starts as the site does
and follows our events: a holder's certificates lie in the order in which they came, the president's
(number 0) is handed over last, and when a presidency passes on, the new president gives his first
ordinary certificates for it: to the old one, or to the pool where the old one keeps too few.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.events import AnyEvent, PresidentNamed, SharesMoved, TileLaid, TrainMoved, TrainsGone
from engine.interchange.site_names import SiteNames
from engine.state import BANK, CLOSED, IPO, POOL
from engine.title import Title


class Ledger:
    """The numbered things of one game, as far as it was played."""

    def __init__(self, names: SiteNames, title: Title) -> None:
        self._names = names
        self._percents = {
            company: {
                f"{names.theirs(company)}_{number}": percent for number, percent in enumerate(facts.shares)
            }
            for company, facts in title.companies.items()
        }
        self._shares = {company: {IPO: list(percents)} for company, percents in self._percents.items()}
        self._presidents: dict[str, str] = {}
        self._trains: dict[tuple[str, str], list[str]] = {}
        self._sold: dict[str, int] = {}
        self._tiles: dict[str, str] = {}

    # -- what is where -----------------------------------------------------------------

    def shares(self, company: str, owner: str, percent: int) -> list[str]:
        """The certificates in which so many percent leave an owner; half a president's is named whole."""
        percents, found = self._percents[company], list[str]()
        held = self._shares[company].get(owner, [])
        for share in sorted(held, key=lambda share: share == self._first(company)):
            if percent <= 0:
                break
            found.append(share)
            percent -= percents[share]
        return found

    def holders(self, company: str) -> dict[str, dict[str, int]]:
        """By owner his certificates of a company, with the percent of each."""
        percents = self._percents[company]
        return {
            owner: {s: percents[s] for s in held} for owner, held in self._shares[company].items() if held
        }

    def train(self, train: str, owner: str) -> str:
        """A train of that type as its owner has it; the bank's is the next of its type."""
        if owner == BANK:
            return f"{train}-{self._sold.get(train, 0)}"
        return self._trains[owner, train][0]

    def trains(self, train: str, owner: str) -> list[str]:
        """All trains of a type that somebody owns."""
        return list(self._trains.get((owner, train), ()))

    def free_tile(self, tile: str) -> str:
        """The first of those tiles that is not on the board."""
        lying, number, name = set(self._tiles.values()), 0, self._names.their_tile(tile)
        while f"{name}-{number}" in lying:
            number += 1
        return f"{name}-{number}"

    def city(self, hex: str, node: int) -> str:
        """A city by the tile that lies there, or by what is printed."""
        return f"{self._tiles.get(hex) or self._names.printed_at(hex)}-{node}"

    # -- what happens ------------------------------------------------------------------

    def follow(self, events: Sequence[AnyEvent]) -> None:
        """Bring it up to what has happened."""
        for at, event in enumerate(events):
            match event:
                case SharesMoved(company, source, target, percent):
                    self._move(company, source, target, percent, _named(events, at, company))
                case TrainMoved(train, source, target):
                    self._move_train(train, source, target)
                case TrainsGone(train):
                    self._trains = {key: left for key, left in self._trains.items() if key[1] != train}
                case TileLaid(_, hex, tile):
                    self._tiles[hex] = self.free_tile(tile)

    def _first(self, company: str) -> str:
        """The president's certificate."""
        return f"{self._names.theirs(company)}_0"

    def _hand(self, company: str, shares: Sequence[str], source: str, target: str) -> None:
        for share in shares:
            self._shares[company][source].remove(share)
            self._shares[company].setdefault(target, []).append(share)

    def _held(self, company: str, owner: str) -> int:
        return sum(self._percents[company][share] for share in self._shares[company].get(owner, ()))

    def _move(self, company: str, source: str, target: str, percent: int, new: str | None) -> None:
        percents, old = self._percents[company], self._presidents.get(company)
        first, unit = self._first(company), min(percents.values())
        if old is None and new is not None:
            self._hand(company, [first], source, target)
            self._presidents[company] = new
            return
        left = self._held(company, old) - (percent if source == old else 0) if old else 0
        moved = self.shares(company, source, percent)
        self._hand(company, moved, source, target)
        if old and new:
            given = [share for share in self._shares[company][new] if share != first]
            keeper = old if left >= percents[first] else POOL
            self._hand(company, given[: percents[first] // unit], new, keeper)
            self._hand(company, [first], self._owner(company, first), new)
            self._presidents[company] = new
        over = sum(percents[share] for share in moved) - percent
        self._hand(company, self._shares[company][target][: over // unit], target, source)

    def _owner(self, company: str, share: str) -> str:
        return next(owner for owner, held in self._shares[company].items() if share in held)

    def _move_train(self, train: str, source: str, target: str) -> None:
        moved = self.train(train, source)
        if source == BANK:
            self._sold[train] = self._sold.get(train, 0) + 1
        else:
            self._trains[source, train].remove(moved)
        if target != CLOSED:
            self._trains.setdefault((target, train), []).append(moved)


def _named(events: Sequence[AnyEvent], at: int, company: str) -> str | None:
    """The president who is named with shares that move: right before them, or right behind."""
    for event in (*events[max(at - 1, 0) : at], *events[at + 1 : at + 2]):
        if isinstance(event, PresidentNamed) and event.company == company:
            return event.seat
    return None
