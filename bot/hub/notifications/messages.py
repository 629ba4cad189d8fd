"""The messages of the outbox to the players of a table (pure).

A person is notified when the table starts to wait for them, not of every step of their turn. Everyone at the
table is notified of what stops, changes or ends the game. Everything else is in the log. A notification holds
little: the delivery workers write the text when they send it, from the position at its row of the log. Its
key is made of the table, the row and the recipient, so it exists only once. Where there is no new row,
nothing tells two messages apart (a clock that is set back shows a time twice), so the key ends with a
`unique_suffix`. `notify` says by which ways a message goes, `commit_messages` which messages a move brings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import uuid4

import msgspec

from bot.hub.info import TableInfo
from bot.hub.notifications.notify import Recipient, Route, routes
from bot.hub.request import POLL_PREFIX
from bot.position.pending import PendingDecision
from storage import NewMessage, OutboxMessage, TablePoll


class Notification(msgspec.Struct, frozen=True, omit_defaults=True):
    """The payload of an outbox message, as JSON.

    kind, for one recipient: `turn` (decide `decision_id`; in private with news of their orders), `refresh`
    (the same player acts again; the card of the table is updated), `vote` (vote in the poll `decision_id`),
    `invited` (a seat is reserved), `seat` (a seat of an imported game is offered), `lobby` (the card of the
    lobby is updated), `claim` (confirm a mail address), `export` and `erase` (confirm what is wanted
    with their data), `order` (some of their orders have ended), `account` (about their addresses, by email).
    To everyone: `started`, `news` (an undo, a pause, a replacement, the outcome of a poll), `names` (messages
    are edited: the new name, and what it replaces), `over` (with the final standings). seq: the row of the
    log that it is about. ping: False for a card in the thread of somebody who is told elsewhere or later.
    once_a_day: an email that is left out where one of its kind has gone to the person within a day.
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


def is_public(message: OutboxMessage | NewMessage) -> bool:
    """Whether a message goes where the table is shown, and not to one person."""
    return (message.ordering_key or "").startswith("table:")


def turn_messages(
    table: TableInfo,
    seq: int,
    decisions: Iterable[PendingDecision],
    recipients: Mapping[int, Recipient],
    due: datetime,
    answered_seats: Collection[int] = (),
    suffix: str = "",
) -> list[NewMessage]:
    """A `turn` for every decision, on every channel of its player; a later one takes the place of what still
    waits. recipients: by seat. suffix: tells the messages of those who are asked once more.

    A person who was answered with the decision (of `answered_seats`, after their undo) gets the card, but
    neither a ping nor an email.
    """
    messages = []
    for pending in decisions:
        recipient = recipients.get(pending.seat)
        found = routes("turn", table, recipient, None, due)
        if recipient is not None and pending.seat in answered_seats:
            found = [replace(route, ping=False) for route in found if route.channel != "mail"]
        person_id, key = recipient.person_id if recipient else None, _turn_key(table.id, pending.seat)
        notification = Notification("turn", table.id, seq, pending.seat, person_id, pending.decision_id)
        messages += _by_routes(table, notification, found, collapse=key, suffix=suffix)
    return messages


def turn_emails(
    table: TableInfo,
    seq: int,
    pending: PendingDecision,
    recipient: Recipient,
    due: datetime,
    suffix: str = "",
) -> list[NewMessage]:
    """An email to a player whose decision another player has changed, so that the one before is out of date,
    or who wants emails again. suffix: see `turn_messages`."""
    return _emails(turn_messages(table, seq, [pending], {pending.seat: recipient}, due, suffix=suffix))


def _emails(messages: Iterable[NewMessage]) -> list[NewMessage]:
    return [message for message in messages if message.channel == "mail"]


BESIDE_A_TURN = "order", "time_up", "deputy"
"""Kinds of notifications to one person that a message about their turn may have in it."""


def with_own_news(told: list[NewMessage], beside: list[NewMessage]) -> list[NewMessage]:
    """Messages of which an email or a direct message about a turn or news also has what its reader is told of
    their orders or their time, or that they are a deputy, so that no second one (of those beside) says it. It
    does not give way to a later turn."""
    kept = list[NewMessage]()
    for message in beside:
        own = decode_notification(message.payload)
        with_turn = _beside_which(message, told) if own.kind in BESIDE_A_TURN else None
        if with_turn is None:
            kept.append(message)
        else:
            notification = decode_notification(told[with_turn].payload)
            sentences = (*notification.sentences, *own.sentences)
            payload = msgspec.json.encode(msgspec.structs.replace(notification, sentences=sentences))
            told[with_turn] = told[with_turn]._replace(payload=payload, is_kept=True)
    beside[:] = kept
    return told


def _beside_which(message: NewMessage, told: Sequence[NewMessage]) -> int | None:
    """The first message about a turn or news, by its index, that reaches the same person alone in the same
    way."""
    for at, other in enumerate(told):
        kind = decode_notification(other.payload).kind
        if kind in ("turn", "news") and other.ordering_key == message.ordering_key and not is_public(other):
            return at
    return None


def direct_messages(table: TableInfo, recipient: Recipient, sentence: str) -> list[NewMessage]:
    """A sentence to one person on Discord."""
    notification = Notification("news", table.id, table.seq, recipient.seat, sentences=(sentence,))
    return sent(table, notification, recipient, channels={"user"}, suffix=unique_suffix())


def withdrawn_question(
    table: TableInfo, seq: int, recipient: Recipient, sentences: tuple[str, ...], suffix: str, due: datetime
) -> list[NewMessage]:
    """An email to a person who was asked, and need not answer any more."""
    notification = Notification("news", table.id, seq, recipient.seat, sentences=sentences)
    return _emails(sent(table, notification, recipient, due=due, suffix=suffix))


def card_refreshes(table: TableInfo, seq: int, pending: PendingDecision) -> list[NewMessage]:
    """The card of the table shows the next decision of the same player."""
    notification = Notification("refresh", table.id, seq, pending.seat, decision_id=pending.decision_id)
    return sent(table, notification, None, collapse=f"refresh:{table.id}")


def poll_id(open_poll: TablePoll) -> str:
    """The decision id of a poll."""
    return f"{POLL_PREFIX}{open_poll.poll.id}"


END_POLL = "end"
"""The kind of poll that ends a game unfinished."""


def may_vote(table: TableInfo, open_poll: TablePoll, seat: int, person_id: int) -> bool:
    """Whether a person answers a poll for a seat. Who plays on there and the end of the game are no questions
    for a deputy: the player is asked when they are back."""
    player, poll = table.player_at(seat), open_poll.poll
    is_deputy = player is not None and player.person_id != person_id
    return not (is_deputy and (poll.kind == END_POLL or poll.details.get("seat") == seat))


def invitations(table: TableInfo, recipient: Recipient, players: Sequence[str] = ()) -> list[NewMessage]:
    """A seat is reserved for a person. players: who is to play, where more are invited at once."""
    notification = Notification("invited", table.id, table.seq, sentences=tuple(players))
    return sent(table, notification, recipient, suffix=unique_suffix())


def seat_offers(
    table: TableInfo, recipient: Recipient, seat: int, inviter: str | None = None
) -> list[NewMessage]:
    """A seat of a game in play is offered to a person. inviter: who does, None for the host."""
    sentences = (inviter,) if inviter else ()
    notification = Notification("seat", table.id, table.seq, seat, sentences=sentences)
    return sent(table, notification, recipient, suffix=unique_suffix())


def lobby_answers(table: TableInfo, reader: Recipient, sentence: str) -> list[NewMessage]:
    """A mail about what the card of the lobby shows: to the host how somebody has answered, to players the
    pace."""
    notification = Notification("answered", table.id, table.seq, sentences=(sentence,))
    return sent(table, notification, reader, channels={"mail"}, suffix=unique_suffix())


def lobby_refreshes(table: TableInfo) -> list[NewMessage]:
    """The card of the lobby is updated."""
    notification = Notification("lobby", table.id, table.seq)
    return sent(table, notification, None, collapse=f"lobby:{table.id}", suffix=unique_suffix())


def renamings(table: TableInfo, name: str, former: Sequence[str]) -> list[NewMessage]:
    """What Discord shows of a table, also in direct messages, says a name in the place of former ones. That
    may take long, and nothing waits for it."""
    notification = Notification("names", table.id, table.seq, sentences=(name, *former))
    found = _by_routes(table, notification, [Route("table", {})], collapse=None, suffix=unique_suffix())
    return [each._replace(ordering_key=f"names:{table.id}") for each in found]


def personal_messages(
    table: TableInfo,
    kind: str,
    recipient: Recipient,
    sentence: str,
    name: str,
    now: datetime,
    decision_id: str | None = None,
    collapse: str | None = None,
) -> list[NewMessage]:
    """A sentence to one person, who need not sit at the table. decision_id: the poll or the request that it
    is about. name, collapse: see `sent`."""
    notification = Notification(
        kind, table.id, table.seq, recipient.seat, decision_id=decision_id, sentences=(sentence,)
    )
    return sent(table, notification, recipient, now=now, collapse=collapse, name=name)


def announcements(
    table: TableInfo,
    kind: str,
    seq: int,
    sentences: Sequence[str],
    recipients: Iterable[Recipient],
    suffix: str = "",
    now: datetime | None = None,
    name: str = "",
) -> list[NewMessage]:
    """A notification to everyone: once where the table is shown, and to each as they wish.

    News are no reason to disturb a person who has a daily digest; the digest has them.
    """
    told = tuple(sentences)
    return [
        message
        for recipient in (None, *recipients)
        for message in sent(
            table,
            Notification(kind, table.id, seq, recipient.seat if recipient else None, sentences=told),
            recipient,
            now=now,
            suffix=suffix,
            name=name,
        )
    ]


def sent(
    table: TableInfo,
    notification: Notification,
    recipient: Recipient | None,
    *,
    now: datetime | None = None,
    due: datetime | None = None,
    channels: set[str] | None = None,
    collapse: str | None = None,
    suffix: str = "",
    name: str = "",
) -> list[NewMessage]:
    """A notification by its routes (`notify.routes`); without a recipient to everyone, where the table is
    shown.

    collapse: a later message with the same key replaces this one while it waits. suffix: ends the idempotency
    key. name: what it is about, which is told once whatever happens at the table meanwhile.
    """
    found = routes(notification.kind, table, recipient, now, due, channels)
    if recipient is not None:
        notification = msgspec.structs.replace(notification, person_id=recipient.person_id)
    return _by_routes(table, notification, found, collapse=collapse, suffix=suffix, name=name)


def _turn_key(table_id: int, seat: int) -> str:
    return f"turn:{table_id}:{seat}"


def turn_collapse_key(table_id: int, seat: int, channel: str) -> str:
    """The collapse key of the message that asks a seat to act, on a channel of its routes."""
    return f"{_turn_key(table_id, seat)}:{channel}"


def _by_routes(
    table: TableInfo,
    notification: Notification,
    found: Iterable[Route],
    *,
    collapse: str | None,
    suffix: str,
    name: str = "",
) -> list[NewMessage]:
    """A message that takes each of these routes."""
    seat = "" if notification.seat is None else str(notification.seat)
    about = (f"t{table.id}", str(notification.seq), notification.kind, seat)
    messages = []
    for route in found:
        channel = route.channel
        recipient = str(notification.person_id or "")
        own = recipient if channel != "table" else ""
        parts = ("clock", name, channel, recipient) if name else (*about, channel, own, suffix)
        message = NewMessage(
            idempotency_key=".".join(parts),
            channel="mail" if channel == "mail" else "discord",
            address=route.address,
            payload=msgspec.json.encode(msgspec.structs.replace(notification, ping=route.ping)),
            ordering_key=f"table:{table.id}" if channel == "table" else f"{channel}:{notification.person_id}",
            collapse_key=f"{collapse}:{channel}" if collapse else None,
            not_before=route.due,
            table_id=table.id,
        )
        messages.append(message)
    return messages


def unique_suffix() -> str:
    """Ends the key of a message that no row of the log, vote or request tells from others."""
    return uuid4().hex
