"""Which numbered share, train, tile, loan and token place is where: what the site's files say and our
position does not.

The site numbers all of these, and an action names those that it moves, so what is named has to be where
the site has it. The ledger starts as the site does and follows our events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.core.events import (
    AnyEvent,
    LoansChanged,
    TileLaid,
    TokenMoved,
    TokenPlaced,
    TokenRemoved,
    TrainMoved,
    TrainsRusted,
)
from engine.core.state import BANK, CLOSED
from engine.site_18xx import certificates
from engine.site_18xx.certificates import CertificateNumbering
from engine.site_18xx.names import SiteNames, split_number
from engine.site_18xx.tile_supply import TileSupply
from engine.title import Title

RELEVANT_EVENTS = frozenset(
    {TrainMoved, TrainsRusted, TileLaid, LoansChanged, TokenPlaced, TokenMoved, TokenRemoved}
)


class PieceNumbering:
    """The numbered things of one game, as far as it was played. `usual`: see `TileSupply`."""

    def __init__(self, names: SiteNames, title: Title, usual: Mapping[str, int | None]) -> None:
        self._names = names
        self.certificates = CertificateNumbering(names, title)
        self._trains: dict[tuple[str, str], list[str]] = {}
        self._sold_counts: dict[str, int] = {}
        self._preferred: dict[str, int] = {}
        self._tiles = TileSupply(title.components, usual)
        self._loans = {BANK: list(range(title.components.loans.count if title.components.loans else 0))}
        self._slots: dict[tuple[str, int], list[str | None]] = {}

    # -- what is where -----------------------------------------------------------------

    def train(self, train: str, owner: str) -> str:
        """A train of that type as its owner has it; the bank's is the next of its type."""
        if owner == BANK:
            return f"{train}-{self._preferred.get(train, self._sold_counts.get(train, 0))}"
        return self._trains[owner, train][0]

    def train_owner(self, instance: str) -> str:
        """Who has a train; the bank, where nobody has bought it."""
        return next((owner for (owner, _), held in self._trains.items() if instance in held), BANK)

    def trains(self, train: str, owner: str) -> list[str]:
        """All trains of a type that somebody owns."""
        return list(self._trains.get((owner, train), ()))

    def next_loan(self, owner: str) -> int:
        """The loan that leaves its owner next; the bank's is the next that is taken."""
        return self._loans[owner][0]

    def next_tile(self, tile: str) -> str:
        """The one of those tiles that is laid next."""
        return f"{self._names.site_tile(tile)}-{self._tiles.next_number(tile)}"

    def city_name(self, hex: str, node: int) -> str:
        """A city by the tile that lies there, or by what is printed."""
        if (lying := self._tiles.tile_at(hex)) is None:
            return f"{self._names.printed_city_name(hex)}-{node}"
        return f"{self._names.site_tile(lying[0])}-{lying[1]}-{node}"

    def slot(self, hex: str, node: int, owner: str | None = None) -> int:
        """The token place of a city in which the owner's token stands; the first free one, for nobody's."""
        taken = self._slots.get((hex, node), [])
        return taken.index(owner) if owner in taken else len(taken)

    def find_city(self, city: str) -> tuple[str, int]:
        """The hex and node of a city named by its tile, laid or printed. Raises FileError for no name."""
        tile, node = split_number(city)
        number, _, which = tile.rpartition("-")
        laid = self._tiles.hex_of(self._names.our_tile(number), int(which)) if which.isdecimal() else None
        return laid or self._names.printed_cities.get(tile) or tile.partition("-")[0], int(node)

    # -- what a file names ---------------------------------------------------------------

    def prefer_train(self, instance: str) -> None:
        """Let this train leave its owner before others of its kind. Raises FileError for no name."""
        train, number = split_number(instance)
        owner = self.train_owner(instance)
        if owner == BANK:
            self._preferred[train] = int(number)
        else:
            held = self._trains[owner, train]
            held.remove(instance)
            held.insert(0, instance)

    def prefer_tile(self, instance: str) -> None:
        """Let this tile be laid before others of its kind. Raises FileError for no name."""
        tile, number = split_number(instance)
        self._tiles.prefer(self._names.our_tile(tile), int(number))

    # -- what happens ------------------------------------------------------------------

    def update(self, events: Sequence[AnyEvent]) -> None:
        """Bring it up to what has happened."""
        kinds = {type(event) for event in events}
        if not kinds.isdisjoint(certificates.RELEVANT_EVENTS):
            self.certificates.update(events)
        if kinds.isdisjoint(RELEVANT_EVENTS):
            return
        before: AnyEvent | None = None
        handed: list[str] = []  # companies that have others' loans: what is above the limit goes at once
        for event in events:
            if type(event) not in RELEVANT_EVENTS:
                before = event
                continue
            match event:
                case TrainMoved(train, source, target):
                    self._move_train(train, source, target)
                case TrainsRusted(train):
                    self._trains = {key: left for key, left in self._trains.items() if key[1] != train}
                case TileLaid(_, hex, tile):
                    self._lay_tile(hex, tile)
                case LoansChanged(company, count) if count < 0:
                    self._move_loans(company, BANK, -count, last=company in handed)
                case LoansChanged(company, count):
                    over = isinstance(before, LoansChanged) and before.count == -count
                    handed += [company] if over else []
                    self._move_loans(BANK, company, count, last=over)
                case TokenPlaced(company, hex, node):
                    self._place_token(company, hex, node)
                case TokenMoved(company, hex, node):
                    self._remove_token(company, hex)
                    self._place_token(company, hex, node)
                case TokenRemoved(company, hex, by):
                    node = self._remove_token(company, hex)
                    if by:
                        self._place_token(by, hex, node)
            before = event

    def _place_token(self, owner: str, hex: str, node: int) -> None:
        places, at = self._slots.setdefault((hex, node), []), self.slot(hex, node)
        places[at : at + 1] = [owner]

    def _remove_token(self, owner: str, hex: str) -> int:
        """Clear the owner's place in a hex; the city in which it was."""
        node = next(at[1] for at, places in self._slots.items() if at[0] == hex and owner in places)
        places = self._slots[hex, node]
        places[places.index(owner)] = None
        return node

    def _lay_tile(self, hex: str, tile: str) -> None:
        """A tile comes to a hex; the tokens on what lay there move up to the first places."""
        self._tiles.lay(hex, tile)
        for city in [city for city in self._slots if city[0] == hex]:
            self._slots[city] = [owner for owner in self._slots[city] if owner]

    def _move_loans(self, source: str, target: str, count: int, *, last: bool = False) -> None:
        """The first loans of the source go to the target; `last`: those that came to the source last."""
        held = self._loans.setdefault(source, [])
        at = len(held) - count if last else 0
        moved = held[at : at + count]
        del held[at : at + count]
        self._loans.setdefault(target, []).extend(moved)

    def _move_train(self, train: str, source: str, target: str) -> None:
        moved = self.train(train, source)
        if source == BANK:
            following = self._sold_counts.get(train, 0)
            self._sold_counts[train] = max(following, self._preferred.pop(train, following)) + 1
        else:
            self._trains[source, train].remove(moved)
        if target != CLOSED:
            self._trains.setdefault((target, train), []).append(moved)
