"""What the options of games do, in a few words, for menus and forms (pure)."""

from __future__ import annotations

from collections.abc import Sequence

import engine

OPTION_TEXTS = {
    "multiple_brown_from_ipo": "several shares of a company in the brown zone may be bought in one turn",
    "optional_6_train": "three trains of size 6 instead of two",
    "claims": "presidents claim a revenue, and others may challenge it",
    "johnson_city_falling": "Johnson City is worth most at the beginning",
    "finish_on_400": "the game also ends when a price reaches $400",
    "diesels": "diesels of any reach instead of trains 8, 10 and 12",
    "historical_order": "companies start in the order of history",
    "non_blocking_tokens": "destination tokens take no slots of their cities",
    "private_treasuries": "only presidents know how much money their companies have",
    "original_rules": "all original rules of the list at once",
    "can_protect_if_sold": "prices may be protected in a turn in which one has sold",
    "max_reissue_200": "reissued shares cost $200 at most",
    "original_market": "the zones of the original market",
    "original_tiles": "the tiles of the original edition only",
    "station_wars": "destination tokens take slots of their cities",
    "five_shorts": "at most five shares of a company may be sold short",
    "increased_short_sales": "ten shares of a company of ten may be sold short",
    "modern_trains": "late trains earn a bonus at stations of their own",
    "more_players": "for more players than the box",
    "short_squeeze": "prices rise by two where players hold more than all shares",
}


def fitting_options(title: str, chosen: Sequence[str]) -> list[tuple[str, str]]:
    """The options (name, what it does) of a title that go together with those that are chosen."""
    return [
        (option, OPTION_TEXTS.get(option, ""))
        for option in engine.optional_rules(title)
        if option not in chosen and _is_possible(title, (*chosen, option))
    ]


def _is_possible(title: str, options: Sequence[str]) -> bool:
    try:
        engine.title_of(title, tuple(options))
    except ValueError:
        return False
    return True
