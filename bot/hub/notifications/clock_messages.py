"""Messages of the clock: reminders, absences, what happened when a time was up (pure).

Each has a name that is made of what it is about, so that it is never enqueued twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime

from bot.hub.info import TableInfo
from bot.hub.notifications.messages import Notification, announcements, sent, turn_collapse_key
from bot.hub.notifications.notify import Recipient
from bot.hub.notifications.preferences import PersonSettings
from bot.position.pending import is_offer
from bot.position.times import day_text, duration_text, moment_text
from storage import NewMessage, SeatClock


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
        "reminder", table.id, table.seq, clock.seat, decision_id=clock.decision_id, once_a_day=once_a_day
    )
    end = f".{clock.allowance_end.timestamp():.0f}" if clock.allowance_end else ""
    full_name = f"{wait_name(clock)}.{name.replace(' ', '')}{end}"
    told = sent(table, notification, recipient, now=now, channels=channels, name=full_name)
    collapse = turn_collapse_key(table.id, clock.seat, "mail")  # it replaces an email that has not gone
    return [each._replace(collapse_key=collapse) if each.channel == "mail" else each for each in told]


def reminder_sentence(clock: SeatClock, now: datetime, zone: str | None, late: str = "") -> str:
    """How long a decision has waited, and how much time is left. The table does not wait for who is offered
    something. late: the name of the player whose time it was, for a deputy."""
    whose, their = (f"{late}'s", "their") if late else ("Your", "your")
    what = "offer" if is_offer(clock.decision_id or "") else "table"
    if clock.allowance_end is None or clock.time_up is None:
        since = clock.since or now
        return f"The {what} has waited for you for {duration_text(now - since)}."
    if now < clock.allowance_end:
        left = duration_text(clock.allowance_end - now)
        return f"You have {left} left, until {moment_text(clock.allowance_end, zone)}{bank_text(clock)}."
    if now < clock.time_up:
        left = duration_text(clock.time_up - now)
        return (
            f"{whose} time ended {moment_text(clock.allowance_end, zone)}; {their} time bank lasts {left} "
            f"more, until {moment_text(clock.time_up, zone)}."
        )
    return f"{whose} time ended {moment_text(clock.time_up, zone)}; the {what} still waits for you."


def bank_text(clock: SeatClock) -> str:
    """The time bank after the end of an allowance, as the end of a sentence about it."""
    if clock.allowance_end is None or clock.time_up is None or clock.time_up <= clock.allowance_end:
        return ""
    return f"; after that your time bank lasts {duration_text(clock.time_up - clock.allowance_end)}"


def news_messages(
    table: TableInfo, recipients: Iterable[Recipient], sentence: str, name: str, now: datetime
) -> list[NewMessage]:
    """News for the table: once where it is shown, and to each person as they wish."""
    people = {each.person_id: each for each in recipients}.values()
    return announcements(table, "news", table.seq, [sentence], people, now=now, name=name)


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
        "next", table.id, table.seq, recipient.seat, decision_id=decision_id, sentences=(sentence,)
    )
    name, collapse = f"{table.id}.{recipient.seat}.next.{decision_id}", f"next:{table.id}:{recipient.seat}"
    return sent(table, notification, recipient, due=due, collapse=collapse, name=name)
