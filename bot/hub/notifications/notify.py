"""Who is told of what, where, when, and whether it pings (pure).

Every message to a player goes through `routes`, which follows the rule of its kind in `RULES`. The rules in a
table:

| kind | in the thread of the table | direct message, email | quiet hours | digest |
|---|---|---|---|---|
| turn | the card, a ping for those who chose the thread | where they chose | waits, no ping | instead |
| vote | the same | where they chose | waits, no ping | beside it |
| news | once for all, no ping | where they chose | waits | instead |
| started | once for all, no ping | where they chose | waits | beside it |
| over | once for all, a ping for those who chose the thread | where they chose | waits, no ping | beside it |
| reminder, time_up, next | a ping, if they chose the thread | where they chose | waits, no ping | beside it |
| vote_reminder | the same | where they chose | waits, no ping | instead |
| order | never | where they chose, in private | waits | beside it |
| invited, seat, answered, gathered | never | all that work | goes at once | beside it |
| refresh, lobby, names | an edit, no ping | never | goes at once | |
| any other: seats, deputies, a feature's own | never | all that work | waits | beside it |

A reminder is left out where a digest comes soon (`waiting.has_digest_near`). What has waited, for the end of
quiet hours or of a downtime, is looked at again before it goes (`due_messages`).

A person chooses their channels with `tell`. One who has chosen nothing is told in the thread and by email, or
by a direct message where the table has no thread. A channel that does not work is left out; where none of the
chosen works, they are told as if they had chosen nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

from bot.hub.info import TableInfo
from bot.hub.notifications.preferences import CHANNELS, PersonSettings, not_quiet, settings_of
from storage import Identity, Person, mail_order


class Rule(NamedTuple):
    """How notifications of one kind travel.

    thread: `card` is posted for everyone and pings its recipient if they chose that. `once` is posted for
    everyone, and only the end of the game pings (`is_pinged_with_all`). `ping` is posted for a recipient who
    chose the thread. `no`: nothing. private: direct messages and emails go where the recipient has `chosen`,
    there but never in the thread (`hidden`), to `all` that work, to `none`. sleeps: it waits for the end of
    quiet hours. digest: a daily digest replaces it.
    """

    thread: Literal["card", "once", "ping", "no"]
    private: Literal["chosen", "hidden", "all", "none"]
    sleeps: bool = True
    digest: bool = False


_REMINDER = Rule("ping", "chosen")
ABOUT_SEATS = Rule("no", "all")
_ASKED_TO_PLAY = Rule("no", "all", sleeps=False)
_EDIT = Rule("once", "none", sleeps=False)

RULES = {
    "turn": Rule("card", "chosen", digest=True),
    "vote": Rule("card", "chosen"),
    "news": Rule("once", "chosen", digest=True),
    "started": Rule("once", "chosen"),
    "over": Rule("once", "chosen"),
    "reminder": _REMINDER,
    "time_up": _REMINDER,
    "next": _REMINDER,
    "vote_reminder": Rule("ping", "chosen", digest=True),
    "order": Rule("no", "hidden"),
    "invited": _ASKED_TO_PLAY,
    "seat": _ASKED_TO_PLAY,
    "answered": _ASKED_TO_PLAY,
    "gathered": _ASKED_TO_PLAY,
    "refresh": _EDIT,
    "lobby": _EDIT,
    "names": _EDIT,
}
"""By the kind of a notification (`messages.Notification`); any other kind travels as `ABOUT_SEATS`."""


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


def routes(
    kind: str,
    table: TableInfo,
    recipient: Recipient | None,
    now: datetime | None,
    due: datetime | None = None,
    channels: set[str] | None = None,
) -> list[Route]:
    """The ways of a notification of this kind to one recipient; None: to everyone, where the table is shown.

    now: the time, if it is not to go later (`due`); None to disturb people at any time. channels: on which of
    those that work, instead of those that the rule names.
    """
    rule = RULES.get(kind, ABOUT_SEATS)
    if recipient is None:
        is_shown = table.location and rule.thread in ("card", "once")
        return [Route("table", {}, due)] if is_shown else []
    if channels is None:
        channels = _channels(rule, table, recipient)
    else:
        channels = channels & reachable_channels(table, recipient)
    moment = due or now
    quiet_until = sleeps_until(kind, recipient, moment) if moment else None
    pings = "table" in channels and quiet_until is None
    found = []
    if table.location and (rule.thread == "card" or (rule.thread == "ping" and pings)):
        found.append(Route("table", _address("table", recipient), due, pings))
    return found + [
        Route(channel, _address(channel, recipient), quiet_until or due)
        for channel in ("user", "mail")
        if channel in channels
    ]


def _channels(rule: Rule, table: TableInfo, recipient: Recipient) -> set[str]:
    possible = reachable_channels(table, recipient)
    if rule.private == "none" or (rule.digest and not is_told_at_once(table, recipient)):
        return set()
    if rule.private == "all":
        return possible
    wanted = wanted_channels(table, recipient)
    if rule.private == "hidden":
        in_private = wanted | {"user"} if "table" in wanted else wanted
        return in_private & (possible - {"table"}) or possible
    return wanted


def sleeps_until(kind: str, recipient: Recipient, moment: datetime) -> datetime | None:
    """Until when a notification of this kind waits for a person in their quiet hours; None if it does not."""
    if not RULES.get(kind, ABOUT_SEATS).sleeps or not is_quiet(recipient, moment):
        return None
    return not_quiet(moment, recipient.settings.quiet_hours)


def _address(channel: str, recipient: Recipient) -> dict[str, Any]:
    if channel == "mail":
        return {"person": recipient.person_id, "email": recipient.email}
    return {"user": recipient.discord_id} if recipient.discord_id else {}


def recipient_for(
    person: Person,
    identities: Iterable[Identity],
    seat: int | None,
    *,
    unverified: bool = False,
) -> Recipient:
    """The addresses of a person; `preferences["mail"]` is False if they want no mail.

    Of several email addresses, emails go to the one that `mail_order` names first; to none that refuses
    them. An unverified address gets nothing but an invitation (`unverified`).
    """
    known = list(identities)
    discord_id = next((i.value for i in known if i.kind == "discord"), None)
    emails = [i.value for i in mail_order(known) if not i.fault and (i.verified_at or unverified)]
    wants_mail = person.preferences.get("mail") is not False
    email = emails[0] if emails and wants_mail else None
    return Recipient(person.id, seat, discord_id, email, settings_of(person.preferences, person.time_zone))


def wanted_channels(table: TableInfo, recipient: Recipient) -> set[str]:
    """Where a person is told of a table: `table`, `user`, `mail`."""
    possible = reachable_channels(table, recipient)
    chosen = recipient.settings.for_table(table.code).channels or ()
    wanted = {CHANNELS[channel] for channel in chosen}
    if "table" in wanted and not table.location:
        wanted.add("user")
    return wanted & possible or (possible - {"user"} if table.location else possible)


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


def is_pinged(kind: str, table: TableInfo, recipient: Recipient | None, now: datetime) -> bool:
    """Whether a notification of this kind pings a person where the table is shown."""
    found = routes(kind, table, recipient, now) if recipient else []
    return any(route.channel == "table" and route.ping for route in found)


def is_pinged_with_all(table: TableInfo, recipient: Recipient, now: datetime) -> bool:
    """Whether what is posted in the thread for everyone pings this person: the end of the game does."""
    return "table" in wanted_channels(table, recipient) and not is_quiet(recipient, now)


def is_quiet(recipient: Recipient, moment: datetime) -> bool:
    """Whether a moment is in the quiet hours of a person."""
    quiet = recipient.settings.quiet_hours
    return quiet is not None and quiet.contain(moment)
