"""Notifications: who is notified of what, through which channel (pure).

A person is notified when the table starts to wait for them, not of every step of their turn. Everyone at the
table is notified of what stops, changes or ends the game. Everything else is in the log. A notification holds
little: the delivery workers write the text when they send it, from the position at its row of the log. Its
key is made of the table, the row and the recipient, so it exists only once. Where there is no new row,
nothing tells two messages apart (a clock that is set back shows a time twice), so the key ends with a
`unique_suffix`.

A table that is shown on Discord is notified there, and players who want mail get mail too. A player who has
neither gets a direct message on Discord.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import msgspec

from bot.hub.info import TableInfo
from bot.hub.preferences import PersonSettings, settings_of
from bot.hub.quiet_hours import not_quiet
from bot.position.pending import PendingDecision
from storage import Identity, IdentityFields, NewMessage, Person, PersonFields, mail_order


class Notification(msgspec.Struct, frozen=True, omit_defaults=True):
    """The payload of an outbox message, as JSON.

    kind, for one recipient: `turn` (decide `decision_id`), `refresh` (the same player acts again; the card of
    the table is updated), `vote` (vote in the poll `decision_id`), `invited` (a seat is reserved), `seat` (a
    seat of a game that has moved in is offered), `lobby` (the card of the lobby is updated), `claim` (confirm
    a mail address), `export` and `erase` (confirm what is wanted with their data), `order` (some of their
    orders have ended), `account` (about their addresses, by email). To everyone: `started`, `news` (an undo,
    a pause, a replacement, the outcome of a poll), `names` (messages are edited: the new name, and what it
    replaces), `over` (with the final standings). seq: the row of the log that it is about. ping: False for a
    card in the thread of somebody who is told elsewhere or later. once_a_day: an email that is left out where
    one of its kind has gone to the person within a day.
    """

    kind: str
    table_id: int
    seq: int
    seat: int | None = None
    person_id: int | None = None
    decision_id: str | None = None
    sentences: tuple[str, ...] = ()
    ping: bool = True
    once_a_day: bool = False


def decode_notification(payload: bytes) -> Notification:
    """The notification in an outbox message."""
    return msgspec.json.decode(payload, type=Notification)


def recipient_for(
    person: Person | PersonFields,
    identities: Iterable[Identity | IdentityFields],
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


def newly_pending(
    table: TableInfo,
    before: Sequence[PendingDecision],
    after: Sequence[PendingDecision],
    former_table: TableInfo | None = None,
    answered_seats: Collection[int] = (),
) -> list[PendingDecision]:
    """The decisions of players that the table did not wait for before, whose turn had not come, who have
    been made another offer, or whose own offer was answered: they go on with what they know now.

    former_table: the table before, if its players have changed. answered_seats: whose offers were answered.
    """
    former = {_pending_key(former_table or table, pending) for pending in before}
    offered = {(pending.seat, number) for pending in before for number in pending.offers}
    return [
        pending
        for pending in after
        if _pending_key(table, pending) not in former
        or not offered.issuperset((pending.seat, number) for number in pending.offers)
        or (pending.seat in answered_seats and pending.is_main)
    ]


def _pending_key(table: TableInfo, pending: PendingDecision) -> tuple[int, int | None, str, bool]:
    player = table.player_at(pending.seat)
    person_id = player.person_id if player else None
    return pending.seat, person_id, "" if pending.is_main else pending.decision_id, pending.acts_now


def turn_messages(
    table: TableInfo,
    seq: int,
    decisions: Iterable[PendingDecision],
    recipients: Mapping[int, Recipient],
    due: datetime,
    answered_person: int | None = None,
    suffix: str = "",
) -> list[NewMessage]:
    """A `turn` for every decision, on every channel of its player. recipients: by seat. suffix: tells the
    messages of those who are asked once more.

    A person who was answered with the decision (`answered_person`, after their undo) gets the card, but
    neither a ping nor an email.
    """
    messages = []
    for pending in decisions:
        recipient = recipients.get(pending.seat)
        is_answered = recipient is not None and recipient.person_id == answered_person
        messages += _to_recipient(
            table, _turn(table, seq, pending), recipient, due, suffix, is_answered=is_answered
        )
    return messages


def updated_turn_messages(
    table: TableInfo, seq: int, pending: PendingDecision, recipient: Recipient, due: datetime
) -> list[NewMessage]:
    """A mail to a player whose decision was changed by another player: the mail before is out of date."""
    messages = turn_messages(table, seq, [pending], {pending.seat: recipient}, due)
    return [message for message in messages if message.channel == "mail"]


def turn_reminders(
    table: TableInfo,
    seq: int,
    pending: PendingDecision,
    recipient: Recipient,
    due: datetime | None = None,
) -> list[NewMessage]:
    """A mail about the pending decision to a player who wants mail again."""
    messages = _to_recipient(table, _turn(table, seq, pending), recipient, due, suffix=unique_suffix())
    return [message for message in messages if message.channel == "mail"]


def direct_messages(table: TableInfo, recipient: Recipient, sentence: str) -> list[NewMessage]:
    """A sentence to one person on Discord."""
    if not recipient.discord_id:
        return []
    notification = Notification(
        "news", table.id, table.seq, recipient.seat, recipient.person_id, sentences=(sentence,)
    )
    route = Route("user", {"user": recipient.discord_id})
    return [_outbox_message(table, notification, route, suffix=unique_suffix())]


def _turn(table: TableInfo, seq: int, pending: PendingDecision) -> Notification:
    return Notification("turn", table.id, seq, pending.seat, decision_id=pending.decision_id)


def card_refreshes(table: TableInfo, seq: int, pending: PendingDecision) -> list[NewMessage]:
    """The card of the table shows the next decision of the same player."""
    if not table.location:
        return []
    notification = Notification("refresh", table.id, seq, pending.seat, decision_id=pending.decision_id)
    return [_outbox_message(table, notification, Route("table", {}), collapse=f"refresh:{table.id}")]


def vote_requests(
    table: TableInfo,
    seq: int,
    poll_id: str,
    seat: int,
    text: str,
    recipient: Recipient | None,
    now: datetime | None = None,
) -> list[NewMessage]:
    """A seat is asked to vote."""
    notification = Notification("vote", table.id, seq, seat, decision_id=poll_id, sentences=(text,))
    return _to_recipient(table, notification, recipient, suffix=poll_id, now=now)


def invitations(table: TableInfo, recipient: Recipient, players: Sequence[str] = ()) -> list[NewMessage]:
    """A seat is reserved for a person. players: who is to play, where more are invited at once."""
    notification = Notification(
        "invited", table.id, table.seq, person_id=recipient.person_id, sentences=tuple(players)
    )
    channels, suffix = reachable_channels(table, recipient) - {"table"}, unique_suffix()
    return [
        _outbox_message(table, notification, route, suffix=suffix)
        for route in personal_routes(recipient, None, None, channels)
    ]


def seat_offers(table: TableInfo, recipient: Recipient, seat: int) -> list[NewMessage]:
    """A seat of a game in play is offered to a person."""
    notification = Notification("seat", table.id, table.seq, seat, recipient.person_id)
    channels, suffix = reachable_channels(table, recipient) - {"table"}, unique_suffix()
    return [
        _outbox_message(table, notification, route, suffix=suffix)
        for route in personal_routes(recipient, None, None, channels)
    ]


def lobby_answers(table: TableInfo, host: Recipient, sentence: str) -> list[NewMessage]:
    """A mail to the host about an invited person."""
    if host.email is None:
        return []
    notification = Notification("answered", table.id, table.seq, None, host.person_id, sentences=(sentence,))
    route = Route("mail", {"person": host.person_id, "email": host.email})
    return [_outbox_message(table, notification, route, suffix=unique_suffix())]


def lobby_refreshes(table: TableInfo) -> list[NewMessage]:
    """The card of the lobby is updated."""
    if not table.location:
        return []
    notification = Notification("lobby", table.id, table.seq)
    return [
        _outbox_message(
            table, notification, Route("table", {}), collapse=f"lobby:{table.id}", suffix=unique_suffix()
        )
    ]


def renamings(table: TableInfo, name: str, former: Sequence[str]) -> list[NewMessage]:
    """The messages of a table that can still be edited say a name in the place of former ones."""
    if not table.location:
        return []
    notification = Notification("names", table.id, table.seq, sentences=(name, *former))
    return [_outbox_message(table, notification, Route("table", {}), suffix=unique_suffix())]


def order_notices(
    table: TableInfo, seq: int, recipient: Recipient, sentences: Sequence[str], suffix: str, now: datetime
) -> list[NewMessage]:
    """To the owner of orders alone, why they have ended: never where the table is shown. suffix: names
    them."""
    notification = Notification(
        "order", table.id, seq, recipient.seat, recipient.person_id, sentences=tuple(sentences)
    )
    private, wanted = reachable_channels(table, recipient) - {"table"}, wanted_channels(table, recipient)
    channels = (wanted | ({"user"} if "table" in wanted else set())) & private or private
    return [
        _outbox_message(table, notification, route, suffix=suffix)
        for route in personal_routes(recipient, None, now, channels)
    ]


def announcements(
    table: TableInfo,
    kind: str,
    seq: int,
    sentences: Sequence[str],
    recipients: Iterable[Recipient],
    suffix: str = "",
    now: datetime | None = None,
) -> list[NewMessage]:
    """A notification to everyone: once where the table is shown, and to each as they wish.

    News are no reason to disturb a person who has a daily digest; the digest has them.
    """
    notification = Notification(kind, table.id, seq, sentences=tuple(sentences))
    messages = (
        [_outbox_message(table, notification, Route("table", {}), suffix=suffix)] if table.location else []
    )
    for recipient in recipients:
        if kind == "news" and not is_told_at_once(table, recipient):
            continue
        channels = wanted_channels(table, recipient) - {"table"}
        personal = msgspec.structs.replace(notification, seat=recipient.seat, person_id=recipient.person_id)
        messages += [
            _outbox_message(table, personal, route, suffix=suffix)
            for route in personal_routes(recipient, None, now, channels)
        ]
    return messages


def _to_recipient(
    table: TableInfo,
    notification: Notification,
    recipient: Recipient | None,
    due: datetime | None = None,
    suffix: str = "",
    now: datetime | None = None,
    is_answered: bool = False,
) -> list[NewMessage]:
    """A notification that asks one person for something."""
    personal = msgspec.structs.replace(notification, person_id=recipient.person_id if recipient else None)
    is_turn = notification.kind == "turn" and notification.seat is not None
    collapse = _turn_key(table.id, notification.seat or 0) if is_turn else None
    found = routes(table, recipient, due, now, at_once=notification.kind == "vote")
    if is_answered:
        found = [replace(route, ping=False) for route in found if route.channel != "mail"]
    return [_outbox_message(table, personal, route, collapse=collapse, suffix=suffix) for route in found]


def _turn_key(table_id: int, seat: int) -> str:
    return f"turn:{table_id}:{seat}"


def turn_collapse_key(table_id: int, seat: int, channel: str) -> str:
    """The collapse key of the message that asks a seat to act, on a channel of its routes."""
    return f"{_turn_key(table_id, seat)}:{channel}"


def _outbox_message(
    table: TableInfo,
    notification: Notification,
    route: Route,
    *,
    collapse: str | None = None,
    suffix: str = "",
) -> NewMessage:
    """A message that takes a route.

    collapse: a later message with the same key replaces this one while it waits. suffix: ends the idempotency
    key.
    """
    channel = route.channel
    recipient = str(notification.person_id or "") if channel != "table" else ""
    seat = "" if notification.seat is None else str(notification.seat)
    parts = (f"t{table.id}", str(notification.seq), notification.kind, seat, channel, recipient, suffix)
    return NewMessage(
        idempotency_key=".".join(parts),
        channel="mail" if channel == "mail" else "discord",
        address=route.address,
        payload=msgspec.json.encode(msgspec.structs.replace(notification, ping=route.ping)),
        ordering_key=f"table:{table.id}" if channel == "table" else f"{channel}:{notification.person_id}",
        collapse_key=f"{collapse}:{channel}" if collapse else None,
        not_before=route.due,
        table_id=table.id,
    )


def unique_suffix() -> str:
    """Ends the key of a message that no row of the log, vote or request tells from others."""
    return uuid4().hex


def seconds_later(now: datetime, seconds: float) -> datetime:
    """A time so many seconds later."""
    return now + timedelta(seconds=seconds)


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
