"""The titles that can be played. Each is a package: printed components and a composition of mechanics."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from engine.game import GameTitle
from engine.title import SITE_CONVENTIONS
from engine.titles.t1817 import composition as t1817
from engine.titles.t1830 import composition as t1830
from engine.titles.t1851 import composition as t1851
from engine.titles.t1870 import composition as t1870

COMPOSERS: dict[str, Callable[[tuple[str, ...]], GameTitle]] = {
    "1830": t1830.compose,
    "1851": t1851.compose,
    "1870": t1870.compose,
    "1817": t1817.compose,
}

OPTIONS: dict[str, tuple[str, ...]] = {
    "1830": t1830.OPTIONS,
    "1851": t1851.OPTIONS,
    "1870": t1870.OPTIONS,
    "1817": t1817.OPTIONS,
}


def register(name: str, compose: Callable[[tuple[str, ...]], GameTitle], options: tuple[str, ...]) -> None:
    """Add a title that is not part of this package: its composer and its option names.

    Raises ValueError where there is a title of that name.
    """
    if name in COMPOSERS:
        raise ValueError(f"There is already a title {name}.")
    COMPOSERS[name], OPTIONS[name] = compose, options


def title_names() -> tuple[str, ...]:
    """The names of the titles that can be played."""
    return tuple(COMPOSERS)


def optional_rules(title: str) -> tuple[str, ...]:
    """The optional rules of a title, without the option for the site's conventions."""
    return tuple(o for o in OPTIONS[title] if o != SITE_CONVENTIONS)


@cache
def title_of(title: str, options: tuple[str, ...] = ()) -> GameTitle:
    """The title of that name under those options.

    Raises ValueError, with a sentence, for an unknown title or option.
    """
    if title not in COMPOSERS:
        raise ValueError(f"There is no title {title}; the titles are {', '.join(COMPOSERS)}.")
    return COMPOSERS[title](options)
