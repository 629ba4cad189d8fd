"""What the site calls things, and where the numbered things of a replay are.

Shares, trains and tiles have numbers in the site's files and none here: a share is known by where
its number lies (the initial offering it leaves once), a train by its owner, a city by the tile.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib.resources import files

import msgspec

from engine.site_18xx.game_file import SiteFileError
from engine.title import SITE_CONVENTIONS


class SiteNames(msgspec.Struct, frozen=True, gc=False):
    """The site's names where they differ, by ours: of companies (`symbols`), privates and tiles;
    hexes of its groups of printed cities; the optional rules that are known here; `connections`: at the
    beginning and the end of each operating turn an action says which companies connect.

    For a table of ours: `book`: the optional rules there that bring it nearest to the rulebook, `instead`
    those that do where an option of ours is chosen; `moot`: options of ours that change nothing there."""

    companies: dict[str, str] = {}
    privates: dict[str, str] = {}
    tiles: dict[str, str] = {}
    printed_cities: dict[str, str] = {}
    known_options: list[str] = []
    rulebook_options: list[str] = []
    replacement_options: dict[str, list[str]] = {}
    ignored_options: list[str] = []
    records_connections: bool = False

    def site_options(self, options: Collection[str]) -> list[str]:
        """The optional rules there under which a table of ours with these options is played."""
        rules = [option for option in options if option != SITE_CONVENTIONS]
        said = (self.replacement_options[rule] for rule in rules if rule in self.replacement_options)
        book = [] if SITE_CONVENTIONS in options else next(said, self.rulebook_options)
        kept = [rule for rule in rules if rule not in (*self.ignored_options, *self.replacement_options)]
        return list(dict.fromkeys([*kept, *book]))

    def unknown_options(self, options: Collection[str]) -> list[str]:
        """The rules of a table of ours with these options that are not known there."""
        return [rule for rule in self.site_options(options) if rule not in self.known_options]

    def site_company(self, symbol: str) -> str:
        return self.companies.get(symbol, symbol)

    def our_company(self, symbol: str) -> str:
        return _our_name(self.companies, symbol)

    def our_private(self, symbol: str) -> str:
        return _our_name(self.privates, symbol)

    def our_tile(self, number: str) -> str:
        return _our_name(self.tiles, number)

    def site_private(self, private: str) -> str:
        return self.privates.get(private, private)

    def site_tile(self, number: str) -> str:
        return self.tiles.get(number, number)

    def printed_city_name(self, hex: str) -> str:
        """The site's name for what is printed on a hex: a group of equal hexes, and the place in it."""
        return next((label for label, at in self.printed_cities.items() if at == hex), f"{hex}-0")


def _our_name(names: dict[str, str], theirs: str) -> str:
    return next((ours for ours, name in names.items() if name == theirs), theirs)


@cache
def site_names_of(title: str) -> SiteNames:
    """The site's names for a title. Raises FileError where it has none."""
    try:
        raw = (files("engine") / "titles" / f"t{title}" / "site_18xx.json").read_bytes()
    except (FileNotFoundError, ValueError, OSError):
        raise SiteFileError(f"Games of {title!r} cannot be read in.") from None
    return msgspec.json.decode(raw, type=SiteNames)


def split_number(instance: str) -> tuple[str, str]:
    """A numbered thing as (what it is, number): `2+-0` is a 2+. Raises FileError where it is none."""
    name, dash, number = instance.rpartition("-")
    if not (dash and name and number.isdecimal()):
        raise SiteFileError(f"{instance!r} is no numbered train, tile or city.")
    return name, number
