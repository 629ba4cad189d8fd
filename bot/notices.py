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

from bot.answers import Asked
from bot.tables import TableInfo
from storage import Identity, Parcel, Person


class Notice(msgspec.Struct, frozen=True, omit_defaults=True):
    """The payload of a parcel, as JSON.

    kind: `turn` (this seat is asked, `decision` names what), `refresh` (the same person goes on; the
    card that shows the table is to follow), `vote` (this seat is asked by the vote that `decision`
    names), `invited` (a seat is kept for this person), `lobby` (the lobby card is to follow), and, to
    all: `started`, `told` (an undo, a pause, a replacement, the outcome of a vote), `over` (with the
    final standings). seq: the row of the log that it is about. text: what is to be told, in sentences.
    """

    kind: str
    table: int
    seq: int
    seat: int | None = None
    person: int | None = None
    decision: str | None = None
    text: tuple[str, ...] = ()


def decoded(payload: bytes) -> Notice:
    """The notice in a parcel."""
    return msgspec.json.decode(payload, type=Notice)


@dataclass(frozen=True, slots=True)
class Recipient:
    """Somebody at a table, and how he is reached. `email` only where he wants letters."""

    person: int
    seat: int | None
    discord: str | None
    email: str | None


def recipient(
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


def newly_asked(
    table: TableInfo, before: Sequence[Asked], after: Sequence[Asked], sat: TableInfo | None = None
) -> list[Asked]:
    """Whom the table waits for now and did not before, or not yet for his turn; `sat` is the table as it
    was, if that changed."""
    former = {_waits(sat or table, a) for a in before}
    return [a for a in after if _waits(table, a) not in former]


def _waits(table: TableInfo, asked: Asked) -> tuple[int, int | None, str, bool]:
    sitter = table.at(asked.seat)
    return asked.seat, sitter.person if sitter else None, "" if asked.main else asked.decision, asked.now


def turns(
    table: TableInfo, seq: int, asked: Iterable[Asked], reached: Mapping[int, Recipient], due: datetime
) -> list[Parcel]:
    """A turn notice for each seat, on each channel of who sits there; `reached` is by seat."""
    return [
        parcel
        for a in asked
        for parcel in _to_one(
            table, seq, Notice("turn", table.id, seq, a.seat, decision=a.decision), reached.get(a.seat), due
        )
    ]


def moved_on(table: TableInfo, seq: int, asked: Asked, to: Recipient, due: datetime) -> list[Parcel]:
    """A letter to somebody whose question somebody else's act has made another: his last one is past."""
    return [p for p in turns(table, seq, [asked], {asked.seat: to}, due) if p.channel == "mail"]


def again(table: TableInfo, seq: int, asked: Asked, to: Recipient, now: datetime) -> list[Parcel]:
    """A letter to somebody who wants letters again, about what he is asked; the moment tells one from the
    next."""
    notice = Notice("turn", table.id, seq, asked.seat, decision=asked.decision)
    parcels = _to_one(table, seq, notice, to, mark=now.isoformat())
    return [parcel for parcel in parcels if parcel.channel == "mail"]


def refresh(table: TableInfo, seq: int, asked: Asked) -> list[Parcel]:
    """The card of a table follows the same person's next decision."""
    if not table.place:
        return []
    notice = Notice("refresh", table.id, seq, asked.seat, decision=asked.decision)
    return [_parcel(table, notice, "table", {}, group=f"refresh:{table.id}")]


def vote(table: TableInfo, seq: int, number: int, seat: int, text: str, to: Recipient | None) -> list[Parcel]:
    """A seat is asked by a vote."""
    notice = Notice("vote", table.id, seq, seat, decision=f"v{number}", text=(text,))
    return _to_one(table, seq, notice, to, mark=f"v{number}")


def invited(table: TableInfo, to: Recipient) -> list[Parcel]:
    """A seat is kept for somebody."""
    notice = Notice("invited", table.id, table.seq, person=to.person)
    return [_parcel(table, notice, *channel) for channel in _own_channels(to)]


def lobby(table: TableInfo, now: datetime) -> list[Parcel]:
    """The lobby card follows a change; the moment tells one from the next."""
    if not table.place:
        return []
    notice = Notice("lobby", table.id, table.seq)
    return [_parcel(table, notice, "table", {}, group=f"lobby:{table.id}", mark=now.isoformat())]


def told(
    table: TableInfo, kind: str, seq: int, text: Sequence[str], to: Iterable[Recipient], mark: str = ""
) -> list[Parcel]:
    """All at the table are told something: its place once, and letters to who plays by mail."""
    notice = Notice(kind, table.id, seq, text=tuple(text))
    parcels = [_parcel(table, notice, "table", {}, mark=mark)] if table.place else []
    for who in to:
        channels = _own_channels(who)
        if table.place:
            channels = [c for c in channels if c[0] != "user"]
        own = msgspec.structs.replace(notice, seat=who.seat, person=who.person)
        parcels += [_parcel(table, own, *channel, mark=mark) for channel in channels]
    return parcels


def _own_channels(to: Recipient) -> list[tuple[str, dict[str, object]]]:
    channels: list[tuple[str, dict[str, object]]] = []
    if to.discord:
        channels.append(("user", {"user": to.discord}))
    if to.email:
        channels.append(("mail", {"person": to.person, "email": to.email}))
    return channels


def _to_one(
    table: TableInfo,
    seq: int,
    notice: Notice,
    to: Recipient | None,
    due: datetime | None = None,
    mark: str = "",
) -> list[Parcel]:
    """To the table's place, pinging the reader, or to the reader himself; and to him by mail."""
    channels: list[tuple[str, dict[str, object]]] = _own_channels(to) if to else []
    if table.place:
        user = {"user": to.discord} if to and to.discord else {}
        channels = [("table", dict(user)), *(c for c in channels if c[0] != "user")]
    own = msgspec.structs.replace(notice, person=to.person if to else None)
    group = f"{notice.kind}:{table.id}:{notice.seat}" if notice.kind == "turn" else None
    return [_parcel(table, own, *channel, group=group, due=due, mark=mark) for channel in channels]


def _parcel(
    table: TableInfo,
    notice: Notice,
    channel: str,
    address: dict[str, object],
    *,
    group: str | None = None,
    due: datetime | None = None,
    mark: str = "",
) -> Parcel:
    """A parcel of the channel: `table` (its place), `user` (a direct message) or `mail`."""
    reader = str(notice.person or "") if channel != "table" else ""
    seat = "" if notice.seat is None else str(notice.seat)
    parts = (f"t{table.id}", str(notice.seq), notice.kind, seat, channel, reader, mark)
    return Parcel(
        key=".".join(parts),
        channel="mail" if channel == "mail" else "discord",
        address=address,
        payload=msgspec.json.encode(notice),
        lane=f"table:{table.id}" if channel == "table" else f"{channel}:{notice.person}",
        supersedes=f"{group}:{channel}" if group else None,
        not_before=due,
    )


def later(now: datetime, seconds: float) -> datetime:
    """A moment so many seconds from now."""
    return now + timedelta(seconds=seconds)
