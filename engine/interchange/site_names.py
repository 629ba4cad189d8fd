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
from engine.title import SITE


class SiteNames(msgspec.Struct, frozen=True, gc=False):
    """The site's names where they differ, by ours: of companies (`symbols`), privates and tiles;
    hexes of its groups of printed cities; the optional rules that are known here; `connections`: at the
    beginning and the end of each operating turn an action says which companies connect.

    For a table of ours: `book`: the optional rules there that bring it nearest to the rulebook, `instead`
    those that do where an option of ours is chosen; `moot`: options of ours that change nothing there."""

    symbols: dict[str, str] = {}
    privates: dict[str, str] = {}
    tiles: dict[str, str] = {}
    printed: dict[str, str] = {}
    options: list[str] = []
    book: list[str] = []
    instead: dict[str, list[str]] = {}
    moot: list[str] = []
    connections: bool = False

    def their_options(self, options: Collection[str]) -> list[str]:
        """The optional rules there under which a table of ours with these options is played."""
        rules = [option for option in options if option != SITE]
        said = (self.instead[rule] for rule in rules if rule in self.instead)
        book = [] if SITE in options else next(said, self.book)
        kept = [rule for rule in rules if rule not in (*self.moot, *self.instead)]
        return list(dict.fromkeys([*kept, *book]))

    def unknown(self, options: Collection[str]) -> list[str]:
        """The rules of a table of ours with these options that are not known there."""
        return [rule for rule in self.their_options(options) if rule not in self.options]

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
