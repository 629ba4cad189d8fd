"""What the site calls things, and where the numbered things of a replay are.

Shares, trains and tiles have numbers in the site's files and none here: a share is known by where
its number lies (the initial offering it leaves once), a train by its owner, a city by the tile.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec

from engine.interchange.site_file import FileError
from engine.state import BANK, IPO, POOL


class SiteNames(msgspec.Struct, frozen=True):
    """The site's names where they differ, by ours; hexes of its groups of printed cities;
    the shares that come with privates; the optional rules that are known here."""

    symbols: dict[str, str] = {}
    printed: dict[str, str] = {}
    granted: dict[str, str] = {}
    options: list[str] = []

    def theirs(self, symbol: str) -> str:
        return self.symbols.get(symbol, symbol)

    def ours(self, symbol: str) -> str:
        return next((ours for ours, theirs in self.symbols.items() if theirs == symbol), symbol)


@cache
def names_of(title: str) -> SiteNames:
    """The site's names for a title. Raises FileError where it has none."""
    try:
        raw = (files("engine.titles") / "data" / f"{title}.site.json").read_bytes()
    except (FileNotFoundError, ValueError, OSError):
        raise FileError(f"Games of {title!r} cannot be read in.") from None
    return msgspec.json.decode(raw, type=SiteNames)


def split(instance: str) -> tuple[str, str]:
    """A numbered thing as (what it is, number): `2+-0` is a 2+. Raises FileError where it is none."""
    name, dash, number = instance.rpartition("-")
    if not (dash and name and number.isdecimal()):
        raise FileError(f"{instance!r} is no numbered train, tile or city.")
    return name, number


class Instances:
    """Where the numbered shares, trains and tiles of one replay are."""

    def __init__(self, names: SiteNames) -> None:
        self._names = names
        self._issued: set[str] = set()
        self._trains: dict[str, str] = {}
        self._tiles: dict[str, str] = {}

    def share_source(self, share: str) -> str:
        """Where a share that somebody buys lies."""
        return POOL if share in self._issued else IPO

    def share_left(self, share: str) -> None:
        """A share has left the initial offering for good."""
        self._issued.add(share)

    def granted(self, private: str) -> None:
        """A private was sold, with the share that comes with it."""
        if share := self._names.granted.get(private):
            self._issued.add(share)

    def train_owner(self, train: str) -> str:
        return self._trains.get(train, BANK)

    def train_moved(self, train: str, owner: str) -> None:
        self._trains[train] = owner

    def fleet_moved(self, source: str, target: str) -> None:
        """All trains of a company are another's."""
        self._trains = {t: target if o == source else o for t, o in self._trains.items()}

    def tile_laid(self, tile: str, hex: str) -> None:
        """A tile lies on a hex; what lay there is in the supply again."""
        self._tiles = {t: h for t, h in self._tiles.items() if h != hex and t != tile}
        self._tiles[tile] = hex

    def city(self, city: str) -> tuple[str, int]:
        """The hex and node of a city named by its tile, laid or printed."""
        tile, node = split(city)
        hex = self._tiles.get(tile) or self._names.printed.get(tile) or tile.partition("-")[0]
        return hex, int(node)
