"""Robots take seats and leave them: only where all people at the table agree.

A robot is a person of the store with a name that people cannot take, `Robot` or `Robot 2`, so that every list
says what it is. In the lobby its seat is kept until everybody who sits there has agreed; who joins later
agrees by joining. In a running game `robot Ann` asks the others for their votes.
"""

from __future__ import annotations

from collections.abc import Iterable

from bot.service.commit_draft import CommitDraft
from bot.service.replacement import record_replacement
from bot.service.tables import SeatedPlayer, TableInfo, is_robot_name
from storage import UnitOfWork

ROBOT_WORD = "robot"
PREFERENCE = "robot"
"""Of a person in the store: `{"robot": {"agreed": [3, 5]}}`, with the people who agree to it."""


def robot_name(taken: Iterable[str]) -> str:
    """The first free name of a robot: `Robot`, `Robot 2`, …"""
    names = {name.casefold() for name in taken}
    candidates = ("Robot", *(f"Robot {n}" for n in range(2, 40)))
    return next(name for name in candidates if name.casefold() not in names)


def check_no_robot_name(name: str) -> None:
    """Raises ValueError for a person who would be called like a robot."""
    if is_robot_name(name):
        raise ValueError(f"{name} is what the computer player is called. Choose another name.")


def robots_of(info: TableInfo) -> list[SeatedPlayer]:
    """The robots at a table."""
    return [player for player in info.seated_players if player.is_robot]


def people_of(info: TableInfo) -> list[SeatedPlayer]:
    """The people who sit at a table."""
    return [player for player in info.seated_players if not player.is_robot and player.joined]


async def add_robot(unit: UnitOfWork, name: str, agreed: Iterable[int] = ()) -> int:
    """A new robot, as a person of the store; its id."""
    person = await unit.people.add(name)
    await unit.people.update(person.id, preferences={PREFERENCE: {"agreed": sorted(agreed)}})
    return person.id


async def agree_to_robot(unit: UnitOfWork, robot_id: int, person_id: int) -> set[int]:
    """A person agrees to a robot; all who agree to it now."""
    robot = await unit.people.get(robot_id)
    agreed = {*robot.preferences[PREFERENCE]["agreed"], person_id}
    await unit.people.update(robot_id, preferences={PREFERENCE: {"agreed": sorted(agreed)}})
    return agreed


async def is_robot(unit: UnitOfWork, person_id: int) -> bool:
    """Whether a person of the store is a robot."""
    return PREFERENCE in (await unit.people.get(person_id)).preferences


async def seat_robot(draft: CommitDraft, seat: int, by: int | None) -> str:
    """Put into a draft that a robot plays on in a seat; what happened, in a sentence."""
    unit, info = await draft.unit(), draft.table.stored_info
    name = robot_name(p.name for p in info.seated_players if p.seat != seat)
    person_id = await add_robot(unit, name, (p.person_id for p in people_of(info)))
    sentence = await record_replacement(draft, seat, person_id, name, by=by, why=", as all players agree")
    empty = [n for s, n in enumerate(info.names) if s != seat and info.player_at(s) is None]
    if info.status == "paused" and not empty:
        await unit.tables.update(info.id, status="running")
        sentence += " The game goes on."
    draft.announce("news", sentence)
    return sentence
