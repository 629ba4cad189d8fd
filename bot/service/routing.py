"""Where a notification of a table goes: the channels of its recipient, and when (pure).

A table that is shown on Discord has a thread: its card is posted there in any case, and pings only players
who want to be told there, at once, and not in their quiet hours. A person who has chosen channels on which
they cannot be reached is told on all on which they can.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.service.preferences import PersonSettings
from bot.service.reminders import not_quiet
from bot.service.tables import TableInfo


@dataclass(frozen=True, slots=True)
class Recipient:
    """A person at a table and their addresses. email: None also for persons who want no mail."""

    person_id: int
    seat: int | None
    discord_id: str | None
    email: str | None
    settings: PersonSettings = field(default_factory=PersonSettings)


@dataclass(frozen=True, slots=True)
class Route:
    """A way of one notification: `table` (where it is shown), `user` (a direct message) or `mail`.

    ping: whether it notifies its recipient. due: the earliest time; None for at once.
    """

    channel: str
    address: dict[str, Any]
    due: datetime | None = None
    ping: bool = True


def wanted_channels(table: TableInfo, recipient: Recipient) -> set[str]:
    """Where a person is told of a table: `table`, `user`, `mail`."""
    possible = reachable_channels(table, recipient)
    chosen = recipient.settings.for_table(table.code).channels
    if chosen is None:
        return possible - {"user"} if table.location else possible
    wanted = {{"thread": "table", "direct": "user", "mail": "mail"}[channel] for channel in chosen}
    if "table" in wanted and not table.location:
        wanted.add("user")
    return wanted & possible or possible


def reachable_channels(table: TableInfo, recipient: Recipient) -> set[str]:
    """Where a person can be reached about a table."""
    possible = set()
    if recipient.discord_id:
        possible |= {"user"} | ({"table"} if table.location else set())
    if recipient.email:
        possible.add("mail")
    return possible


def is_told_at_once(table: TableInfo, recipient: Recipient) -> bool:
    """Whether a person is told when something happens, not in a daily digest."""
    return not recipient.settings.for_table(table.code).digest


def address_of(channel: str, recipient: Recipient | None) -> dict[str, Any]:
    """The address of a recipient on a channel."""
    if recipient is None:
        return {}
    if channel == "mail":
        return {"person": recipient.person_id, "email": recipient.email}
    return {"user": recipient.discord_id} if recipient.discord_id else {}


def personal_routes(
    recipient: Recipient, due: datetime | None, now: datetime | None, channels: set[str]
) -> list[Route]:
    """The ways to a person themselves: direct message and mail, after their quiet hours.

    now: the time if `due` is None; None to disturb them at any time.
    """
    at, moment = due, due or now
    if moment is not None and is_quiet(recipient, moment):
        at = not_quiet(moment, recipient.settings.quiet_hours)
    return [
        Route(channel, address_of(channel, recipient), at)
        for channel in ("user", "mail")
        if channel in channels
    ]


def routes(
    table: TableInfo,
    recipient: Recipient | None,
    due: datetime | None,
    now: datetime | None,
    *,
    at_once: bool = False,
) -> list[Route]:
    """The ways of a notification that asks one person for something: a turn or a vote.

    at_once: it does not wait for a daily digest, because others wait for the answer beside the game.
    """
    found = []
    wanted = set[str]()
    if recipient is not None and (at_once or is_told_at_once(table, recipient)):
        wanted = wanted_channels(table, recipient)
    if table.location:
        ping = recipient is None or ("table" in wanted and not is_quiet(recipient, due or now))
        found.append(Route("table", address_of("table", recipient), due, ping))
    if recipient is not None:
        found += personal_routes(recipient, due, now, wanted)
    return found


def is_quiet(recipient: Recipient, moment: datetime | None) -> bool:
    """Whether a moment is in the quiet hours of a person."""
    quiet = recipient.settings.quiet_hours
    return quiet is not None and moment is not None and quiet.contain(moment)
