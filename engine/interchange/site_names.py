"""What the site calls things, and where the numbered things of a replay are.

Shares, trains and tiles have numbers in the site's files and none here: a share is known by where
its number lies (the initial offering it leaves once), a train by its owner, a city by the tile.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib.resources import files

import msgspec

from engine.interchange.site_file import FileError
from engine.state import BANK, IPO, POOL
from engine.title import SITE


class SiteNames(msgspec.Struct, frozen=True, gc=False):
    """The site's names where they differ, by ours: of companies (`symbols`), privates and tiles;
    hexes of its groups of printed cities; the shares that come with privates; the optional rules
    that are known here; `connections`: at the beginning and the end of each operating turn an action
    says which companies connect; `written`: games go out to it, too.

    For a table of ours: `book`: the optional rules there that bring it nearest to the rulebook, `instead`
    those that do where an option of ours is chosen; `moot`: options of ours that change nothing there."""

    symbols: dict[str, str] = {}
    privates: dict[str, str] = {}
    tiles: dict[str, str] = {}
    printed: dict[str, str] = {}
    granted: dict[str, str] = {}
    options: list[str] = []
    book: list[str] = []
    instead: dict[str, list[str]] = {}
    moot: list[str] = []
    connections: bool = False
    written: bool = False

    def their_options(self, options: Collection[str]) -> list[str]:
        """The optional rules there under which a table of ours with these options is played."""
        rules = [option for option in options if option != SITE]
        said = (self.instead[rule] for rule in rules if rule in self.instead)
        book = [] if SITE in options else next(said, self.book)
        kept = [rule for rule in rules if rule not in (*self.moot, *self.instead)]
        return list(dict.fromkeys([*kept, *book]))

    def theirs(self, symbol: str) -> str:
        return self.symbols.get(symbol, symbol)

    def ours(self, symbol: str) -> str:
        return _ours(self.symbols, symbol)

    def our_private(self, symbol: str) -> str:
        return _ours(self.privates, symbol)

    def our_tile(self, number: str) -> str:
        return _ours(self.tiles, number)

    def their_private(self, private: str) -> str:
        return self.privates.get(private, private)

    def their_tile(self, number: str) -> str:
        return self.tiles.get(number, number)

    def printed_at(self, hex: str) -> str:
        """The site's name for what is printed on a hex: a group of equal hexes, and the place in it."""
        return next((label for label, at in self.printed.items() if at == hex), f"{hex}-0")


def _ours(names: dict[str, str], theirs: str) -> str:
    return next((ours for ours, name in names.items() if name == theirs), theirs)


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
        self._holders: dict[str, str] = {}
        self._trains: dict[str, str] = {}
        self._tiles: dict[str, str] = {}

    def holder(self, share: str) -> str:
        """Who has a share."""
        return self._holders.get(share, IPO)

    def share_source(self, share: str) -> str:
        """Where a share that somebody buys lies."""
        return IPO if self.holder(share) == IPO else POOL

    def share_moved(self, share: str, holder: str) -> None:
        """A share has come to a holder, as the last of his."""
        self._holders.pop(share, None)
        self._holders[share] = holder

    def president_changed(self, company: str, old: str, new: str, sold: int = 0) -> None:
        """The president's certificate went to `new` for his first two shares.

        `sold`: so much of the certificate was sold, so that they went to the pool, and `old` got the
        first there for what he kept of it.
        """
        for share in self._of(company, new)[:2]:
            self.share_moved(share, POOL if sold else old)
        for share in self._of(company, POOL)[: 2 - sold if sold else 0]:
            self.share_moved(share, old)
        self.share_moved(f"{company}_0", new)

    def _of(self, company: str, holder: str) -> list[str]:
        """The shares of a company that a holder has, in the order in which they came to him."""
        return [s for s, h in self._holders.items() if h == holder and s.rpartition("_")[0] == company]

    def granted(self, private: str, owner: str) -> None:
        """A private was sold, with the share that comes with it."""
        share = self._names.granted.get(private)
        if share and share not in self._holders:
            self.share_moved(share, owner)

    def train_owner(self, train: str) -> str:
        return self._trains.get(train, BANK)

    def train_moved(self, train: str, owner: str) -> None:
        self._trains[train] = owner

    def fleet_moved(self, source: str, target: str) -> None:
        """All trains of a company are another's."""
        self._trains = {t: target if o == source else o for t, o in self._trains.items()}

    def company_closed(self, company: str) -> None:
        """The trains of a company are in the pool."""
        self._trains = {t: POOL if o == company else o for t, o in self._trains.items()}

    def tile_laid(self, tile: str, hex: str) -> None:
        """A tile lies on a hex; what lay there is in the supply again."""
        self._tiles = {t: h for t, h in self._tiles.items() if h != hex and t != tile}
        self._tiles[tile] = hex

    def city(self, city: str) -> tuple[str, int]:
        """The hex and node of a city named by its tile, laid or printed."""
        tile, node = split(city)
        hex = self._tiles.get(tile) or self._names.printed.get(tile) or tile.partition("-")[0]
        return hex, int(node)
