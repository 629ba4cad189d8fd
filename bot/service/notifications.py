"""What has happened, and who is told what of it, by which channel (pure).

A person is told of a turn when he becomes one of those whom the table waits for, not of every step of
it, and the table is told what stops, changes or ends play. Everything else is in the log, and whoever
wants it looks there. A notice says little: couriers draw it up when it is sent, from the position at
its row of the log. Its key is made of the table, the row and the reader, so that it exists once.

A table that is shown somewhere on Discord has its notices there; who plays it by mail gets letters
too; who has neither a letter nor such a place is written to directly on Discord.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from bot.service.results import PendingDecision
from bot.service.tables import TableInfo
from storage import Identity, NewMessage, Person


class Notification(msgspec.Struct, frozen=True, omit_defaults=True):
    """The payload of a parcel, as JSON.

    kind: `turn` (this seat is asked, `decision` names what), `refresh` (the same person goes on; the
    card that shows the table is to follow), `vote` (this seat is asked by the vote that `decision`
    names), `invited` (a seat is kept for this person), `lobby` (the lobby card is to follow), and, to
    all: `started`, `told` (an undo, a pause, a replacement, the outcome of a vote), `over` (with the
    final standings). seq: the row of the log that it is about. text: what is to be told, in sentences.
    """

    kind: str
    table_id: int
    seq: int
    seat: int | None = None
    person_id: int | None = None
    decision_id: str | None = None
    sentences: tuple[str, ...] = ()


def decode_notification(payload: bytes) -> Notification:
    """The notice in a parcel."""
    return msgspec.json.decode(payload, type=Notification)


@dataclass(frozen=True, slots=True)
class Recipient:
    """Somebody at a table, and how he is reached. `email` only where he wants letters."""

    person_id: int
    seat: int | None
    discord_id: str | None
    email: str | None


def recipient_for(
    person: Person, identities: Iterable[Identity], seat: int | None, *, unverified: bool = False
) -> Recipient:
    """How somebody is reached: `preferences["mail"]` is False for who wants no letters.

    An address that is not verified gets nothing but an invitation (`unverified`).
    """
    found = list(identities)
    discord = next((i.value for i in found if i.kind == "discord"), None)
    emails = [i.value for i in found if i.kind == "email" and (i.verified_at or unverified)]
    wanted = person.preferences.get("mail") is not False
    return Recipient(person.id, seat, discord, emails[0] if emails and wanted else None)


def newly_pending(
    table: TableInfo,
    before: Sequence[PendingDecision],
    after: Sequence[PendingDecision],
    sat: TableInfo | None = None,
) -> list[PendingDecision]:
    """Whom the table waits for now and did not before, or not yet for his turn; `sat` is the table as it
    was, if that changed."""
    former = {_pending_key(sat or table, a) for a in before}
    return [a for a in after if _pending_key(table, a) not in former]


def _pending_key(table: TableInfo, asked: PendingDecision) -> tuple[int, int | None, str, bool]:
    sitter = table.player_at(asked.seat)
    return (
        asked.seat,
        sitter.person_id if sitter else None,
        "" if asked.is_main else asked.decision_id,
        asked.acts_now,
    )


def turn_messages(
    table: TableInfo,
    seq: int,
    asked: Iterable[PendingDecision],
    reached: Mapping[int, Recipient],
    due: datetime,
) -> list[NewMessage]:
    """A turn notice for each seat, on each channel of who sits there; `reached` is by seat."""
    return [
        parcel
        for a in asked
        for parcel in _to_recipient(
            table,
            seq,
            Notification("turn", table.id, seq, a.seat, decision_id=a.decision_id),
            reached.get(a.seat),
            due,
        )
    ]


def updated_turn_messages(
    table: TableInfo, seq: int, asked: PendingDecision, to: Recipient, due: datetime
) -> list[NewMessage]:
    """A letter to somebody whose question somebody else's act has made another: his last one is past."""
    return [p for p in turn_messages(table, seq, [asked], {asked.seat: to}, due) if p.channel == "mail"]


def turn_reminders(
    table: TableInfo, seq: int, asked: PendingDecision, to: Recipient, now: datetime
) -> list[NewMessage]:
    """A letter to somebody who wants letters again, about what he is asked; the moment tells one from the
    next."""
    notice = Notification("turn", table.id, seq, asked.seat, decision_id=asked.decision_id)
    parcels = _to_recipient(table, seq, notice, to, mark=now.isoformat())
    return [parcel for parcel in parcels if parcel.channel == "mail"]


def card_refreshes(table: TableInfo, seq: int, asked: PendingDecision) -> list[NewMessage]:
    """The card of a table follows the same person's next decision."""
    if not table.location:
        return []
    notice = Notification("refresh", table.id, seq, asked.seat, decision_id=asked.decision_id)
    return [_outbox_message(table, notice, "table", {}, group=f"refresh:{table.id}")]


def vote_requests(
    table: TableInfo, seq: int, number: int, seat: int, text: str, to: Recipient | None
) -> list[NewMessage]:
    """A seat is asked by a vote."""
    notice = Notification("vote", table.id, seq, seat, decision_id=f"v{number}", sentences=(text,))
    return _to_recipient(table, seq, notice, to, mark=f"v{number}")


def invitations(table: TableInfo, to: Recipient) -> list[NewMessage]:
    """A seat is kept for somebody."""
    notice = Notification("invited", table.id, table.seq, person_id=to.person_id)
    return [_outbox_message(table, notice, *channel) for channel in _personal_channels(to)]


def lobby_refreshes(table: TableInfo, now: datetime) -> list[NewMessage]:
    """The lobby card follows a change; the moment tells one from the next."""
    if not table.location:
        return []
    notice = Notification("lobby", table.id, table.seq)
    return [_outbox_message(table, notice, "table", {}, group=f"lobby:{table.id}", mark=now.isoformat())]


def announcements(
    table: TableInfo, kind: str, seq: int, text: Sequence[str], to: Iterable[Recipient], mark: str = ""
) -> list[NewMessage]:
    """All at the table are told something: its place once, and letters to who plays by mail."""
    notice = Notification(kind, table.id, seq, sentences=tuple(text))
    parcels = [_outbox_message(table, notice, "table", {}, mark=mark)] if table.location else []
    for who in to:
        channels = _personal_channels(who)
        if table.location:
            channels = [c for c in channels if c[0] != "user"]
        own = msgspec.structs.replace(notice, seat=who.seat, person_id=who.person_id)
        parcels += [_outbox_message(table, own, *channel, mark=mark) for channel in channels]
    return parcels


def _personal_channels(to: Recipient) -> list[tuple[str, dict[str, object]]]:
    channels: list[tuple[str, dict[str, object]]] = []
    if to.discord_id:
        channels.append(("user", {"user": to.discord_id}))
    if to.email:
        channels.append(("mail", {"person": to.person_id, "email": to.email}))
    return channels


def _to_recipient(
    table: TableInfo,
    seq: int,
    notice: Notification,
    to: Recipient | None,
    due: datetime | None = None,
    mark: str = "",
) -> list[NewMessage]:
    """To the table's place, pinging the reader, or to the reader himself; and to him by mail."""
    channels: list[tuple[str, dict[str, object]]] = _personal_channels(to) if to else []
    if table.location:
        user = {"user": to.discord_id} if to and to.discord_id else {}
        channels = [("table", dict(user)), *(c for c in channels if c[0] != "user")]
    own = msgspec.structs.replace(notice, person_id=to.person_id if to else None)
    group = f"{notice.kind}:{table.id}:{notice.seat}" if notice.kind == "turn" else None
    return [_outbox_message(table, own, *channel, group=group, due=due, mark=mark) for channel in channels]


def _outbox_message(
    table: TableInfo,
    notice: Notification,
    channel: str,
    address: dict[str, object],
    *,
    group: str | None = None,
    due: datetime | None = None,
    mark: str = "",
) -> NewMessage:
    """A parcel of the channel: `table` (its place), `user` (a direct message) or `mail`."""
    reader = str(notice.person_id or "") if channel != "table" else ""
    seat = "" if notice.seat is None else str(notice.seat)
    parts = (f"t{table.id}", str(notice.seq), notice.kind, seat, channel, reader, mark)
    return NewMessage(
        idempotency_key=".".join(parts),
        channel="mail" if channel == "mail" else "discord",
        address=address,
        payload=msgspec.json.encode(notice),
        ordering_key=f"table:{table.id}" if channel == "table" else f"{channel}:{notice.person_id}",
        collapse_key=f"{group}:{channel}" if group else None,
        not_before=due,
    )


def seconds_later(now: datetime, seconds: float) -> datetime:
    """A moment so many seconds from now."""
    return now + timedelta(seconds=seconds)
