"""Messages of the clock: reminders, absences, what happened when a time was up (pure).

Each has a name that is made of what it is about, so that it is never enqueued twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime

import msgspec

from bot.hub.info import TableInfo
from bot.hub.notifications.messages import Notification, turn_collapse_key
from bot.hub.notifications.notify import Recipient, Route, routes
from bot.hub.notifications.preferences import PersonSettings
from bot.position.times import day_text, duration_text, moment_text
from storage import NewMessage, SeatClock


def message(
    notification: Notification, route: Route, name: str, *, collapse: str | None = None
) -> NewMessage:
    """A message with a name of its own."""
    recipient = f".{notification.person_id}" if notification.person_id and route.channel != "table" else ""
    table = f"table:{notification.table_id}"
    return NewMessage(
        idempotency_key=f"clock.{name}.{route.channel}{recipient}",
        channel="mail" if route.channel == "mail" else "discord",
        address=route.address,
        payload=msgspec.json.encode(msgspec.structs.replace(notification, ping=route.ping)),
        ordering_key=table if route.channel == "table" else f"{route.channel}:{notification.person_id}",
        collapse_key=collapse,
        not_before=route.due,
        table_id=notification.table_id or None,
    )


def named_messages(
    table: TableInfo,
    notification: Notification,
    recipient: Recipient | None,
    name: str,
    now: datetime,
) -> list[NewMessage]:
    """A notification under a name of its own, by its routes; without a recipient to everyone, where the table
    is shown."""
    return [message(notification, route, name) for route in routes(notification.kind, table, recipient, now)]


def wait_name(clock: SeatClock) -> str:
    """The name of a wait: of a seat since a time."""
    since = round(clock.since.timestamp() * 1_000_000) if clock.since else 0
    return f"{clock.table_id}.{clock.seat}.{since}"


def reminder_messages(
    table: TableInfo,
    clock: SeatClock,
    recipient: Recipient,
    name: str,
    now: datetime,
    channels: set[str] | None = None,
    *,
    once_a_day: bool = False,
) -> list[NewMessage]:
    """A reminder of an open decision, on the channels that the person wants or on these.

    What it says is its page, when it is sent. A player who has taken more time, or was away, is reminded of
    the new end too. once_a_day: by email, for all tables of the person.
    """
    notification = Notification(
        "reminder", table.id, table.seq, clock.seat, recipient.person_id, clock.decision_id,
        once_a_day=once_a_day,
    )  # fmt: skip
    end = f".{clock.allowance_end.timestamp():.0f}" if clock.allowance_end else ""
    full_name = f"{wait_name(clock)}.{name.replace(' ', '')}{end}"
    collapse = turn_collapse_key(table.id, clock.seat, "mail")  # it replaces an email that has not gone
    return [
        message(notification, route, full_name, collapse=collapse if route.channel == "mail" else None)
        for route in routes(notification.kind, table, recipient, now, channels=channels)
    ]


def reminder_sentence(clock: SeatClock, now: datetime, zone: str | None) -> str:
    """How long a decision has waited, and how much time is left."""
    if clock.allowance_end is None or clock.time_up is None:
        since = clock.since or now
        return f"The table has waited for you for {duration_text(now - since)}."
    if now < clock.allowance_end:
        left = duration_text(clock.allowance_end - now)
        return f"You have {left} left, until {moment_text(clock.allowance_end, zone)}{bank_text(clock)}."
    if now < clock.time_up:
        left = duration_text(clock.time_up - now)
        return (
            f"Your time ended {moment_text(clock.allowance_end, zone)}; your time bank lasts {left} more, "
            f"until {moment_text(clock.time_up, zone)}."
        )
    return f"Your time ended {moment_text(clock.time_up, zone)}; the table still waits for you."


def bank_text(clock: SeatClock) -> str:
    """The time bank after the end of an allowance, as the end of a sentence about it."""
    if clock.allowance_end is None or clock.time_up is None or clock.time_up <= clock.allowance_end:
        return ""
    return f"; after that your time bank lasts {duration_text(clock.time_up - clock.allowance_end)}"


def vote_messages(
    table: TableInfo, recipient: Recipient, poll_id: str, sentence: str, name: str, now: datetime
) -> list[NewMessage]:
    """A reminder of an open vote, on the channels that the person wants."""
    notification = Notification(
        "vote_reminder", table.id, table.seq, recipient.seat, recipient.person_id, poll_id, (sentence,)
    )
    return named_messages(table, notification, recipient, f"vote.{name}", now)


def news_messages(
    table: TableInfo, recipients: Iterable[Recipient], sentence: str, name: str, now: datetime
) -> list[NewMessage]:
    """News for the table: once where it is shown, and to each person as they wish."""
    notification = Notification("news", table.id, table.seq, sentences=(sentence,))
    messages = named_messages(table, notification, None, name, now)
    for recipient in {each.person_id: each for each in recipients}.values():
        personal = msgspec.structs.replace(notification, seat=recipient.seat, person_id=recipient.person_id)
        messages += named_messages(table, personal, recipient, name, now)
    return messages


def time_up_messages(
    table: TableInfo, recipient: Recipient, sentence: str, name: str, now: datetime
) -> list[NewMessage]:
    """The player whose time is up is told themselves, at once: the table may wait for them to go on."""
    notification = Notification(
        "time_up", table.id, table.seq, recipient.seat, recipient.person_id, sentences=(sentence,)
    )
    return named_messages(table, notification, recipient, name, now)


def deputy_messages(
    table: TableInfo, recipient: Recipient, sentence: str, name: str, now: datetime, kind: str = "deputy"
) -> list[NewMessage]:
    """A deputy is told for whom they play, or no longer play (`dismissed`); they need not know the table."""
    notification = Notification(
        kind, table.id, table.seq, recipient.seat, recipient.person_id, sentences=(sentence,)
    )
    return named_messages(table, notification, recipient, name, now)


def seat_messages(
    table: TableInfo, recipient: Recipient, sentence: str, name: str, now: datetime
) -> list[NewMessage]:
    """A sentence about a seat to a person who need not sit at the table."""
    notification = Notification(
        "seat_answer", table.id, table.seq, None, recipient.person_id, sentences=(sentence,)
    )
    return named_messages(table, notification, recipient, name, now)


def absence_sentence(name: str, settings: PersonSettings) -> str:
    """What the table is told of an absence, or of its end."""
    absence = settings.absence
    if absence is None:
        return f"{name} is back."
    back_on = day_text(date.fromisoformat(absence.back_on))
    if absence.deputy_id is not None:
        return f"{name} is away until {back_on}. {absence.deputy} plays for them until then."
    return f"{name} is away until {back_on}. Their time does not run until then."


def next_messages(
    table: TableInfo, recipient: Recipient, acting: list[str], decision_id: str, due: datetime
) -> list[NewMessage]:
    """A player is told that they are probably next. decision_id: what the table waits for before that."""
    after = f", after {acting[0]}" if acting else ""
    sentence = f"You are next at table {table.name} {table.code}{after}."
    notification = Notification(
        "next", table.id, table.seq, recipient.seat, recipient.person_id, decision_id, (sentence,)
    )
    name = f"{table.id}.{recipient.seat}.next.{decision_id}"
    collapse = f"next:{table.id}:{recipient.seat}"
    return [
        message(notification, route, name, collapse=f"{collapse}:{route.channel}")
        for route in routes(notification.kind, table, recipient, None, due)
    ]
