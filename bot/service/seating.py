"""Seats before the start: names, room for one more, and the seating order."""

from __future__ import annotations

import random
from collections.abc import Sequence

import engine
from bot.service import text_views
from bot.service.names import check_distinct
from bot.service.robot_seats import robots_of
from bot.service.tables import SeatedPlayer, TableInfo
from engine.kernel import check_names
from storage import AlreadyExists, UnitOfWork


def seating_order(
    players: Sequence[SeatedPlayer], order: Sequence[str] | None, seed: int | None
) -> list[SeatedPlayer]:
    """The players in seating order: by names, or shuffled from the seed.

    Raises ValueError if the names are not exactly those of the players.
    """
    if order is None:
        shuffled = sorted(players, key=lambda p: p.seat_id)
        random.Random(seed).shuffle(shuffled)
        return shuffled
    by_name = {p.name.casefold(): p for p in players}
    names = [name.strip().casefold() for name in order]
    if sorted(names) != sorted(by_name):
        raise ValueError(
            f"The seating has to name every player once: {text_views.join_words([p.name for p in players])}."
        )
    return [by_name[name] for name in names]


def robot_that_makes_room(info: TableInfo) -> SeatedPlayer | None:
    """The robot that leaves for a person at a full table."""
    seats = engine.title_of(info.title, info.options).components.players["max"]
    robots = robots_of(info)
    return robots[-1] if robots and len(info.seated_players) >= seats else None


def unanswered(info: TableInfo, name: str) -> SeatedPlayer | None:
    """The invited person of that name who has not answered."""
    return next(
        (
            player
            for player in info.seated_players
            if player.name.casefold() == name.strip().casefold() and not (player.joined or player.is_robot)
        ),
        None,
    )


def check_name(info: TableInfo, name: str, reserved: SeatedPlayer | None) -> None:
    """Raises ValueError for a name that cannot be used, or if the table is full."""
    title = engine.title_of(info.title, info.options)
    others = [p.name for p in info.seated_players if p is not reserved]
    check_names(title, [*others, name])
    check_distinct(name, others)
    if len(others) >= title.components.players["max"]:
        raise ValueError(f"Table {info.code} is full: {info.title} has at most {len(others)} seats.")


async def add_seat(
    unit: UnitOfWork, info: TableInfo, person_id: int, name: str, *, invited: bool = False
) -> None:
    """Give a person a seat, or reserve one. Raises ValueError where the name is taken."""
    try:
        await unit.tables.add_seat(info.id, person_id, name, invited=invited)
    except AlreadyExists as error:
        raise ValueError(f"{name} is already at table {info.code}; choose another name.") from error
