"""What is told before a game starts: invitations, a full table, a lobby that expires."""

from __future__ import annotations

import engine
from bot.hub.changes import LOBBY_LIFETIME, WARNING
from bot.hub.info import TableInfo
from bot.hub.loading import load_recipient
from bot.hub.notifications import messages
from bot.hub.seating import host_and_players, robots_of, tell_people
from bot.position.times import duration_text
from engine.core.words import join_words
from storage import UnitOfWork


def is_full(info: TableInfo, *, was_invited: bool) -> bool:
    """Whether everybody is there: every seat of the title is taken, or the last who was invited has come."""
    limits = engine.title_of(info.title, info.options).components.players
    count = len(info.seated_players)
    if not all(player.joined for player in info.seated_players):
        return False
    return count >= limits["max"] or (was_invited and count >= limits["min"])


def joined_sentence(info: TableInfo, name: str) -> str:
    """Who has joined, and whose answer is missing."""
    missing = [player.name for player in info.seated_players if not player.joined]
    waits = f" No answer yet from {join_words(missing)}." if missing else ""
    return f"{name} has joined table {info.code}.{waits}"


async def tell_host(unit: UnitOfWork, info: TableInfo, sentence: str, *, by: int | None = None) -> None:
    """Tell the host what has come of an invitation, by email, else on Discord. by: who knows it already."""
    if info.host_id is None or info.host_id == by:
        return
    host = await load_recipient(unit, info.host_id, None)
    told = messages.lobby_answers(info, host, sentence) or messages.direct_messages(info, host, sentence)
    await unit.outbox.enqueue(*told)


async def tell_full(unit: UnitOfWork, info: TableInfo) -> None:
    """Ask the host whether to start."""
    if info.host_id is None:
        return
    names = join_words([player.name for player in info.seated_players])
    sentence = f"Everybody is at table {info.name} {info.code}: {names}. Start the game?"
    await tell_people(unit, info, "full", [info.host_id], sentence)


async def ask_about_robot(unit: UnitOfWork, info: TableInfo, robot: str, by: int | None) -> None:
    """Ask the people at the table, but not the one who wants it, whether a robot may play.

    The question names every robot that waits: one answer is for all of them.
    """
    asking = info.player_of(by)
    waiting = [each.name for each in robots_of(info) if not each.joined] + [robot]
    who = "a computer player" if len(waiting) == 1 else "computer players"
    takes = "It takes its seat" if len(waiting) == 1 else "They take their seats"
    sentence = (
        f"{asking.name if asking else 'The host'} asks whether {who}, {join_words(waiting)}, "
        f"may play at table {info.name} {info.code}. {takes} once everybody there agrees."
    )
    people = [p.person_id for p in info.seated_players if p.joined and not p.is_robot and p.person_id != by]
    await tell_people(unit, info, "robot", people, sentence)


async def tell_no_robots(unit: UnitOfWork, info: TableInfo, name: str, by: int | None) -> None:
    """Tell the host and the players who does not agree to robots, but not the one who says so."""
    sentence = f"{name} does not agree that robots play at table {info.name} {info.code}, so none sits there."
    others = [each for each in host_and_players(info) if each != by]
    await tell_people(unit, info, "no robot", others, sentence)


async def tell_expiry(unit: UnitOfWork, info: TableInfo) -> None:
    """Warn the host and the players that the lobby will be closed."""
    sentence = (
        f"Table {info.name} {info.code} has been waiting for its start for "
        f"{duration_text(LOBBY_LIFETIME - WARNING)}. It is closed in {duration_text(WARNING)} unless "
        "somebody joins, or it is started or kept open."
    )
    await tell_people(unit, info, "expiring", host_and_players(info), sentence)
