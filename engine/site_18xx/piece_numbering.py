"""Where the site's numbered certificates, trains, tiles, loans and token slots are.

The site numbers all of these and its actions name them by number. Our position has no such numbers. The
numbering starts as the site's does and follows our events.

The next tile of a type is the one that has been in the supply longest; a replaced tile goes behind the
others. Of a type with a limited count all are there from the start. Of an unlimited type there is one, and
another is added each time one is laid. Where an optional rule removes tiles, the lowest numbers go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from engine.board.tile_geometry import map_index_of
from engine.core.components import Components
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
from engine.game import GameTitle
from engine.site_18xx.certificate_numbering import CertificateNumbering
from engine.site_18xx.game_file import SiteFileError
from engine.site_18xx.names import SiteNames, split_number
from engine.title import SITE_CONVENTIONS
from engine.titles import title_of


class TileSupply:
    """Which numbered tiles are in the supply, and which are on the map.

    `standard_counts`: how many tiles of each type there are without optional rules (None: unlimited).
    """

    def __init__(self, components: Components, standard_counts: Mapping[str, int | None]) -> None:
        self._free = {
            tile: deque(_numbers(count, standard_counts.get(tile)))
            for tile, count in components.tiles.items()
        }
        self._unlimited = {tile: 1 for tile, count in components.tiles.items() if count is None}
        self._on_map: dict[str, tuple[str, int]] = {}

    def next_number(self, tile: str) -> int:
        """The number of the tile of that type that is laid next."""
        return self._free[tile][0]

    def prefer(self, tile: str, number: int) -> None:
        """Let this one of its type be laid next. Raises KeyError where it is not in the supply."""
        free = self._free[tile]
        if number not in free:
            raise KeyError(number)
        free.remove(number)
        free.appendleft(number)

    def hex_of(self, tile: str, number: int) -> str | None:
        """The hex of that tile, or None."""
        return next((hex for hex, laid in self._on_map.items() if laid == (tile, number)), None)

    def tile_at(self, hex: str) -> tuple[str, int] | None:
        """The (type, number) of the tile on a hex, or None."""
        return self._on_map.get(hex)

    def lay(self, hex: str, tile: str) -> None:
        """Lay the next tile of that type on a hex; the tile it replaces returns to the supply."""
        number = self._free[tile].popleft()
        if tile in self._unlimited:
            self._free[tile].append(self._unlimited[tile])
            self._unlimited[tile] += 1
        if old := self._on_map.get(hex):
            self._free[old[0]].append(old[1])
        self._on_map[hex] = tile, number


def _numbers(count: int | None, standard_count: int | None) -> range:
    if count is None:
        return range(1)
    first = max((standard_count or 0) - count, 0)
    return range(first, first + count)


class PieceNumbering:
    """The numbered pieces of one game in its current position."""

    def __init__(self, names: SiteNames, title: GameTitle) -> None:
        self._names = names
        self._components = title.components
        standard_tiles = title_of(title.components.title, (SITE_CONVENTIONS,)).components.tiles
        self.certificates = CertificateNumbering(names, title)
        self._trains: dict[tuple[str, str], list[str]] = {}
        self._sold_counts: dict[str, int] = {}
        self._tiles = TileSupply(title.components, standard_tiles)
        self._loans = {BANK: list(range(title.components.loans.count if title.components.loans else 0))}
        self._slots: dict[tuple[str, int], list[str | None]] = {}

    # -- queries ----------------------------------------------------------------------

    def train(self, train: str, owner: str) -> str:
        """The owner's next train of that type, as `type-number`."""
        if owner == BANK:
            return f"{train}-{self._sold_counts.get(train, 0)}"
        return self._trains[owner, train][0]

    def train_owner(self, instance: str) -> str:
        """The owner of a train: the bank until it is bought."""
        return next((owner for (owner, _), held in self._trains.items() if instance in held), BANK)

    def trains(self, train: str, owner: str) -> list[str]:
        """All trains of a type that an owner has."""
        return list(self._trains.get((owner, train), ()))

    def next_loan(self, owner: str) -> int:
        """The number of the loan that leaves its owner next. The bank's is the next that is taken."""
        return self._loans[owner][0]

    def next_tile(self, tile: str) -> str:
        """The tile of that type that is laid next, as `type-number`."""
        return f"{self._names.site_tile(tile)}-{self._tiles.next_number(tile)}"

    def city_name(self, hex: str, node: int) -> str:
        """The site's name of a city: by the tile that lies there, or by what is printed."""
        if (laid := self._tiles.tile_at(hex)) is None:
            return f"{self._names.printed_city_name(hex)}-{node}"
        return f"{self._names.site_tile(laid[0])}-{laid[1]}-{node}"

    def slot(self, hex: str, node: int, owner: str | None = None) -> int:
        """The slot of a city in which the owner's token is; the first free slot where it has none."""
        owners = self._slots.get((hex, node), [])
        return owners.index(owner) if owner in owners else len(owners)

    def find_city(self, city: str) -> tuple[str, int]:
        """The hex and node of a city by the site's name. Raises SiteFileError if it is not one."""
        tile, node = split_number(city)
        tile_type, _, number = tile.rpartition("-")
        laid = (
            self._tiles.hex_of(self._names.our_tile(tile_type), int(number)) if number.isdecimal() else None
        )
        hex = laid or self._names.printed_cities.get(tile) or tile.partition("-")[0]
        if hex not in map_index_of(self._components).printed_faces:
            raise SiteFileError(f"{city!r} is no city of this map.")
        return hex, int(node)

    # -- pieces named by a file ----------------------------------------------------------

    def prefer_train(self, instance: str) -> None:
        """Let this train leave its owner before others of its type; the bank's leave in order.

        Raises SiteFileError.
        """
        train, number = split_number(instance)
        owner = self.train_owner(instance)
        if owner == BANK:
            if (next_number := self._sold_counts.get(train, 0)) != int(number):
                raise SiteFileError(f"the bank has no {instance}; its next is {train}-{next_number}")
        else:
            held = self._trains[owner, train]
            held.remove(instance)
            held.insert(0, instance)

    def prefer_tile(self, instance: str) -> None:
        """Let this tile be laid before others of its type. Raises SiteFileError."""
        tile, number = split_number(instance)
        try:
            self._tiles.prefer(self._names.our_tile(tile), int(number))
        except KeyError:
            raise SiteFileError(f"the tile {instance} is not in the supply") from None

    # -- events ------------------------------------------------------------------------

    def update(self, events: Sequence[AnyEvent]) -> None:
        """Follow the events of an action."""
        self.certificates.update(events)
        previous: AnyEvent | None = None
        took_over: list[
            str
        ] = []  # companies with loans of others: what exceeds their limit is repaid at once
        for event in events:
            match event:
                case TrainMoved(train, source, target):
                    self._move_train(train, source, target)
                case TrainsRusted(train):
                    self._trains = {key: left for key, left in self._trains.items() if key[1] != train}
                case TileLaid(_, hex, tile):
                    self._lay_tile(hex, tile)
                case LoansChanged(company, count) if count < 0:
                    self._move_loans(company, BANK, -count, last=company in took_over)
                case LoansChanged(company, count):
                    taken_over = isinstance(previous, LoansChanged) and previous.count == -count
                    took_over += [company] if taken_over else []
                    self._move_loans(BANK, company, count, last=taken_over)
                case TokenPlaced(company, hex, node):
                    self._place_token(company, hex, node)
                case TokenMoved(company, hex, node):
                    self._remove_token(company, hex)
                    self._place_token(company, hex, node)
                case TokenRemoved(company, hex, by):
                    node = self._remove_token(company, hex)
                    if by:
                        self._place_token(by, hex, node)
            previous = event

    def _place_token(self, owner: str, hex: str, node: int) -> None:
        slots, at = self._slots.setdefault((hex, node), []), self.slot(hex, node)
        slots[at : at + 1] = [owner]

    def _remove_token(self, owner: str, hex: str) -> int:
        """Empty the owner's slot in a hex; returns the node of the city."""
        node = next(city[1] for city, slots in self._slots.items() if city[0] == hex and owner in slots)
        slots = self._slots[hex, node]
        slots[slots.index(owner)] = None
        return node

    def _lay_tile(self, hex: str, tile: str) -> None:
        """Lay a tile on a hex; the tokens there move up to the first slots."""
        self._tiles.lay(hex, tile)
        for city in [city for city in self._slots if city[0] == hex]:
            self._slots[city] = [owner for owner in self._slots[city] if owner]

    def _move_loans(self, source: str, target: str, count: int, *, last: bool = False) -> None:
        """Move the source's first loans to the target; with `last` those that the source received last."""
        held = self._loans.setdefault(source, [])
        at = len(held) - count if last else 0
        moved = held[at : at + count]
        del held[at : at + count]
        self._loans.setdefault(target, []).extend(moved)

    def _move_train(self, train: str, source: str, target: str) -> None:
        moved = self.train(train, source)
        if source == BANK:
            self._sold_counts[train] = self._sold_counts.get(train, 0) + 1
        else:
            self._trains[source, train].remove(moved)
        if target != CLOSED:
            self._trains.setdefault((target, train), []).append(moved)
