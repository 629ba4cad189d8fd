"""The tables of the store, as SQLModel classes.

Rules are unknown here: states, events, answers and payloads are bytes, places and addresses JSON
that only their writers read. Rows that come out of the store are values; changing one changes
nothing, the methods of a unit do.

`seat` is everywhere the number of a seat, clockwise from 0. Moments are aware datetimes, kept as
whole microseconds since 1970 so that every database orders them alike.
"""

from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Literal

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Dialect,
    Index,
    LargeBinary,
    MetaData,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
    text,
)
from sqlmodel import Field, SQLModel

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TICK = timedelta(microseconds=1)

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}

IdentityKind = Literal["discord", "email"]
Status = Literal["lobby", "running", "paused", "finished", "ended"]
MoveKind = Literal["move", "undo", "redo", "replace", "note"]
Channel = Literal["discord", "mail"]
Delivery = Literal["pending", "sent", "dead", "superseded"]


class Moment(TypeDecorator[datetime]):
    """An aware datetime as whole microseconds since 1970. Raises ValueError for a naive one."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} names no time zone")
        return (value - EPOCH) // TICK

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        return None if value is None else EPOCH + value * TICK


def one_of(column: str, words: Any) -> CheckConstraint:
    """The column holds one of the words of a Literal."""
    listed = ", ".join(f"'{word}'" for word in words.__args__)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


def unique_while(condition: str, *columns: str) -> Index:
    """At most one row with these columns among those of which the condition holds."""
    name = "uq_" + "_".join(columns) + "_while"
    return Index(name, *columns, unique=True, sqlite_where=text(condition), postgresql_where=text(condition))


def index_while(name: str, condition: str, *columns: str) -> Index:
    """An index over only those rows of which the condition holds."""
    return Index(name, *columns, sqlite_where=text(condition), postgresql_where=text(condition))


KNOWN = frozenset({"people", "identities", "tables", "seats", "votes", "voices"})
"""Names of the tables that say what is known of a game beside its log: who plays, and how he is reached."""


class Row(SQLModel):
    """What all tables share: one set of metadata, in which every constraint has a fixed name."""

    metadata: ClassVar[MetaData] = MetaData(naming_convention=NAMES)


# People


class Person(Row, table=True):
    """Somebody who plays, by whatever transport. `preferences` belong to the service."""

    __tablename__ = "people"

    id: int = Field(default=None, primary_key=True)
    name: str = Field(sa_type=Text)
    language: str | None = None
    zone: str | None = None
    preferences: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    created: datetime = Field(sa_type=Moment)


class Identity(Row, table=True):
    """A Discord id or an address that is one person's; of addresses only a verified one may act."""

    __tablename__ = "identities"
    __table_args__ = (UniqueConstraint("kind", "value"), one_of("kind", IdentityKind))

    id: int = Field(default=None, primary_key=True)
    person_id: int = Field(foreign_key="people.id", index=True)
    kind: IdentityKind = Field(sa_type=String)
    value: str
    verified_at: datetime | None = Field(default=None, sa_type=Moment)


class Claim(Row, table=True):
    """An address that somebody says is his, until the code sent there comes back."""

    __tablename__ = "claims"

    code_hash: str = Field(primary_key=True)
    person_id: int = Field(foreign_key="people.id", index=True)
    value: str
    created: datetime = Field(sa_type=Moment)
    expires: datetime = Field(sa_type=Moment)


# Tables and seats


class Table(Row, table=True):
    """A game that is being gathered, played or over. `place` is where a transport shows it."""

    __tablename__ = "tables"
    __table_args__ = (one_of("status", Status),)

    id: int = Field(default=None, primary_key=True)
    code: str = Field(unique=True)
    name: str = Field(sa_type=Text)
    title: str
    options: list[str] = Field(default_factory=list, sa_type=JSON)
    status: Status = Field(default="lobby", sa_type=String, index=True)
    seed: int | None = Field(default=None, sa_type=BigInteger)
    host_id: int | None = Field(default=None, foreign_key="people.id", index=True)
    place: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    created: datetime = Field(sa_type=Moment)


class Seat(Row, table=True):
    """One person's time on a seat: a replacement ends one row and begins another.

    `number` is None until the seating; `joined` is None for who was invited and has not answered.
    """

    __tablename__ = "seats"
    __table_args__ = (
        unique_while("left_at IS NULL", "table_id", "number"),
        unique_while("left_at IS NULL", "table_id", "name"),
    )

    id: int = Field(default=None, primary_key=True)
    table_id: int = Field(foreign_key="tables.id", index=True)
    person_id: int = Field(foreign_key="people.id", index=True)
    number: int | None = None
    name: str
    joined: datetime | None = Field(default=None, sa_type=Moment)
    left_at: datetime | None = Field(default=None, sa_type=Moment)


# The log


class Entry(Row):
    """A row of the log before it has its place there.

    kind: `move` changes the game by its `events`; `undo` and `redo` say by `stands_at` after which
    move the line of play now stands (0: before the first); anything else is only remembered.
    said: the line as it came. line: the same, explicit. decision: the one that it answers.
    """

    kind: MoveKind = Field(default="move", sa_type=String)
    request: str | None = Field(default=None, unique=True)
    seat: int | None = None
    person_id: int | None = Field(default=None, foreign_key="people.id", index=True)
    transport: str
    said: str = Field(default="", sa_type=Text)
    line: str = Field(default="", sa_type=Text)
    events: bytes = Field(default=b"", sa_type=LargeBinary)
    decision: str | None = None
    stands_at: int | None = None


class Move(Entry, table=True):
    """A row of the log of a table; `seq` counts from 1 without gaps."""

    __tablename__ = "moves"
    __table_args__ = (
        one_of("kind", MoveKind),
        CheckConstraint("(kind IN ('undo', 'redo')) = (stands_at IS NOT NULL)", name="stands_at"),
    )

    table_id: int = Field(foreign_key="tables.id", primary_key=True)
    seq: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    at: datetime = Field(sa_type=Moment)


class Head(Row, table=True):
    """Where a table is: the last `seq` of its log, the move at which its line stands, the state there."""

    __tablename__ = "heads"

    table_id: int = Field(foreign_key="tables.id", primary_key=True)
    seq: int = 0
    stands_at: int = 0
    state: bytes = Field(default=b"", sa_type=LargeBinary)


class Answer(Row, table=True):
    """What a request was answered, for when it is repeated."""

    __tablename__ = "answers"

    request: str = Field(primary_key=True)
    body: bytes = Field(sa_type=LargeBinary)
    at: datetime = Field(sa_type=Moment, index=True)


class Vote(Row, table=True):
    """A question put to several seats: an undo, a pause, an end. `subject` belongs to the service."""

    __tablename__ = "votes"
    __table_args__ = (unique_while("closed IS NULL", "table_id", "kind"),)

    id: int = Field(default=None, primary_key=True)
    table_id: int = Field(foreign_key="tables.id", index=True)
    kind: str
    seat: int | None = None
    subject: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    opened: datetime = Field(sa_type=Moment)
    closed: datetime | None = Field(default=None, sa_type=Moment)
    outcome: str | None = None


class Voice(Row, table=True):
    """One asked seat of a vote, and what it said."""

    __tablename__ = "voices"

    vote_id: int = Field(foreign_key="votes.id", primary_key=True)
    seat: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    agrees: bool | None = None
    at: datetime | None = Field(default=None, sa_type=Moment)


# What goes out


class Parcel(Row):
    """What is to be sent, before it has its place in the outbox.

    key: a second parcel of the same key is not taken. lane: parcels of one lane go in order, one at a
    time. supersedes: a group of which only the newest is still worth sending.
    """

    key: str = Field(unique=True)
    channel: Channel = Field(sa_type=String)
    address: dict[str, Any] = Field(sa_type=JSON)
    payload: bytes = Field(sa_type=LargeBinary)
    lane: str | None = None
    supersedes: str | None = None
    not_before: datetime | None = Field(default=None, sa_type=Moment)


class Message(Parcel, table=True):
    """A row of the outbox. `ref` is what the other side calls it, once it is sent."""

    __tablename__ = "outbox"
    __table_args__ = (
        one_of("channel", Channel),
        one_of("state", Delivery),
        index_while("ix_outbox_due", "state = 'pending'", "channel", "not_before"),
        index_while("ix_outbox_lane", "state = 'pending'", "lane"),
        index_while("ix_outbox_supersedes", "state = 'pending'", "supersedes"),
    )

    id: int = Field(default=None, primary_key=True)
    not_before: datetime = Field(sa_type=Moment)
    attempts: int = 0
    lease_until: datetime | None = Field(default=None, sa_type=Moment)
    state: Delivery = Field(default="pending", sa_type=String)
    error: str | None = Field(default=None, sa_type=Text)
    ref: str | None = None
    created: datetime = Field(sa_type=Moment)
    settled: datetime | None = Field(default=None, sa_type=Moment, index=True)


class Card(Row, table=True):
    """The message that now carries the controls of a slot of a table (`turn`, `lobby`, a seat …)."""

    __tablename__ = "cards"

    table_id: int = Field(foreign_key="tables.id", primary_key=True)
    slot: str = Field(primary_key=True)
    decision: str | None = None
    ref: dict[str, Any] = Field(sa_type=JSON)
    posted: datetime = Field(sa_type=Moment)


# Letters


class Token(Row, table=True):
    """What an address of ours may do; the token itself is never kept.

    purpose: reply, bounce, unsub, join … address: where the letter with it went. carrier: the
    Message-ID of that letter, by which an answer is known too.
    """

    __tablename__ = "tokens"

    hash: str = Field(primary_key=True)
    purpose: str
    table_id: int | None = Field(default=None, foreign_key="tables.id")
    seat: int | None = None
    person_id: int | None = Field(default=None, foreign_key="people.id", index=True)
    decision: str | None = None
    address: str | None = None
    carrier: str | None = Field(default=None, unique=True)
    created: datetime = Field(sa_type=Moment)
    expires: datetime | None = Field(default=None, sa_type=Moment, index=True)
    revoked: datetime | None = Field(default=None, sa_type=Moment)

    __table_args__ = (Index("ix_tokens_seat", "table_id", "seat"),)


class Letter(Row, table=True):
    """A letter that came in: how often it was tried, and with its outcome what it was answered."""

    __tablename__ = "letters"

    key: str = Field(primary_key=True)
    sha: str
    path: str = Field(sa_type=Text)
    received: datetime = Field(sa_type=Moment)
    attempts: int = 1
    outcome: str | None = None
    receipt: bytes | None = Field(default=None, sa_type=LargeBinary)
    settled: datetime | None = Field(default=None, sa_type=Moment)


# The installation


class Setting(Row, table=True):
    """What this installation remembers about itself, secrets too."""

    __tablename__ = "settings"

    key: str = Field(primary_key=True)
    value: str = Field(sa_type=Text)


class Lease(Row, table=True):
    """Who does a job that only one process may do, and until when."""

    __tablename__ = "leases"

    name: str = Field(primary_key=True)
    holder: str
    until: datetime = Field(sa_type=Moment)
