"""The site's names for companies, privates, tiles, printed cities and optional rules.

Each title has a file of them, `engine/titles/t…/site_18xx.json`; names that are not in it are the same on
both sides.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

import msgspec

from engine.site_18xx.game_file import SiteFileError
from engine.title import SITE_CONVENTIONS
from engine.titles import title_names


class SiteNames(msgspec.Struct, frozen=True, gc=False):
    """The site's names of one title, where they differ from ours.

    `companies`, `privates`, `tiles`: by our name the site's. `printed_cities`: the hex by the site's name
    for the city printed there. `known_options`: the site's optional rules that this engine plays.
    `records_connections`: an action at the start and at the end of each operating turn lists the companies
    whose connection runs are due.

    For the export of a table that plays by the rulebook: `rulebook_options` are the site's optional rules
    that come nearest to the book, `replacement_options` those that do so where an option of ours is chosen.
    `ignored_options` are options of ours that change nothing on the site.
    """

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
        """The site's optional rules for a table with these options."""
        rules = [option for option in options if option != SITE_CONVENTIONS]
        replacements = (self.replacement_options[rule] for rule in rules if rule in self.replacement_options)
        book = [] if SITE_CONVENTIONS in options else next(replacements, self.rulebook_options)
        kept = [rule for rule in rules if rule not in (*self.ignored_options, *self.replacement_options)]
        return list(dict.fromkeys([*kept, *book]))

    def unknown_options(self, options: Collection[str]) -> list[str]:
        """Those of the `site_options` that the site or this engine does not know."""
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
        """The site's name for the city printed on a hex: a group of equal hexes, and the index in it."""
        return next((label for label, at in self.printed_cities.items() if at == hex), f"{hex}-0")


def _our_name(names: dict[str, str], theirs: str) -> str:
    return next((ours for ours, name in names.items() if name == theirs), theirs)


def _names_file(title: str) -> Traversable:
    return files("engine") / "titles" / f"t{title}" / "site_18xx.json"


@cache
def site_names_of(title: str) -> SiteNames:
    """The site's names for a title. Raises SiteFileError for a title without any."""
    try:
        raw = _names_file(title).read_bytes()
    except (FileNotFoundError, ValueError, OSError):
        known = ", ".join(name for name in title_names() if _names_file(name).is_file())
        raise SiteFileError(f"Games of {title[:40]!r} cannot be imported; those of {known} can.") from None
    return msgspec.json.decode(raw, type=SiteNames)


def split_number(instance: str) -> tuple[str, str]:
    """A numbered piece as (type, number): `2+-0` is train 0 of type 2+. Raises SiteFileError."""
    name, dash, number = instance.rpartition("-")
    if not (dash and name and number.isdecimal()):
        raise SiteFileError(f"{instance!r} is not a numbered train, tile or city.")
    return name, number
