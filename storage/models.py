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
MICROSECOND = timedelta(microseconds=1)

NAMING_CONVENTION = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}

IdentityKind = Literal["discord", "email"]
TableStatus = Literal["lobby", "running", "paused", "finished", "ended"]
LogRowKind = Literal["move", "undo", "redo", "replace", "note"]
Channel = Literal["discord", "mail"]
DeliveryStatus = Literal["pending", "sent", "dead", "superseded"]


class UtcDateTime(TypeDecorator[datetime]):
    """An aware datetime as whole microseconds since 1970. Raises ValueError for a naive one."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} names no time zone")
        return (value - EPOCH) // MICROSECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        return None if value is None else EPOCH + value * MICROSECOND


def literal_check(column: str, words: Any) -> CheckConstraint:
    """The column holds one of the words of a Literal."""
    listed = ", ".join(f"'{word}'" for word in words.__args__)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


def unique_where(condition: str, *columns: str) -> Index:
    """At most one row with these columns among those of which the condition holds."""
    name = "uq_" + "_".join(columns) + "_where"
    return Index(name, *columns, unique=True, sqlite_where=text(condition), postgresql_where=text(condition))


def index_where(name: str, condition: str, *columns: str) -> Index:
    """An index over only those rows of which the condition holds."""
    return Index(name, *columns, sqlite_where=text(condition), postgresql_where=text(condition))


REVISIONED_TABLES = frozenset({"people", "identities", "game_tables", "seats", "polls", "votes"})
"""Names of the tables that say what is known of a game beside its log: who plays, and how he is reached."""


class Model(SQLModel):
    """What all tables share: one set of metadata, in which every constraint has a fixed name."""

    metadata: ClassVar[MetaData] = MetaData(naming_convention=NAMING_CONVENTION)


# People


class Person(Model, table=True):
    """Somebody who plays, by whatever transport. `preferences` belong to the service."""

    __tablename__ = "people"

    id: int = Field(default=None, primary_key=True)
    name: str = Field(sa_type=Text)
    language: str | None = None
    time_zone: str | None = None
    preferences: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    created_at: datetime = Field(sa_type=UtcDateTime)


class Identity(Model, table=True):
    """A Discord id or an address that is one person's; of addresses only a verified one may act."""

    __tablename__ = "identities"
    __table_args__ = (UniqueConstraint("kind", "value"), literal_check("kind", IdentityKind))

    id: int = Field(default=None, primary_key=True)
    person_id: int = Field(foreign_key="people.id", index=True)
    kind: IdentityKind = Field(sa_type=String)
    value: str
    verified_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class AddressClaim(Model, table=True):
    """An address that somebody says is his, until the code sent there comes back."""

    __tablename__ = "address_claims"

    code_hash: str = Field(primary_key=True)
    person_id: int = Field(foreign_key="people.id", index=True)
    address: str
    created_at: datetime = Field(sa_type=UtcDateTime)
    expires_at: datetime = Field(sa_type=UtcDateTime)


# Tables and seats


class GameTable(Model, table=True):
    """A game that is being gathered, played or over. `place` is where a transport shows it."""

    __tablename__ = "game_tables"
    __table_args__ = (literal_check("status", TableStatus),)

    id: int = Field(default=None, primary_key=True)
    code: str = Field(unique=True)
    name: str = Field(sa_type=Text)
    title: str
    options: list[str] = Field(default_factory=list, sa_type=JSON)
    status: TableStatus = Field(default="lobby", sa_type=String, index=True)
    seed: int | None = Field(default=None, sa_type=BigInteger)
    host_id: int | None = Field(default=None, foreign_key="people.id", index=True)
    location: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    created_at: datetime = Field(sa_type=UtcDateTime)


class Seat(Model, table=True):
    """One person's time on a seat: a replacement ends one row and begins another.

    `number` is None until the seating; `joined` is None for who was invited and has not answered.
    """

    __tablename__ = "seats"
    __table_args__ = (
        unique_where("left_at IS NULL", "table_id", "number"),
        unique_where("left_at IS NULL", "table_id", "name"),
    )

    id: int = Field(default=None, primary_key=True)
    table_id: int = Field(foreign_key="game_tables.id", index=True)
    person_id: int = Field(foreign_key="people.id", index=True)
    number: int | None = None
    name: str
    joined_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    left_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


# The log


class NewLogRow(Model):
    """A row of the log before it has its place there.

    kind: `move` changes the game by its `events`; `undo` and `redo` say by `stands_at` after which
    move the line of play now stands (0: before the first); anything else is only remembered.
    said: the line as it came. line: the same, explicit. decision: the one that it answers.
    """

    kind: LogRowKind = Field(default="move", sa_type=String)
    request_id: str | None = Field(default=None, unique=True)
    seat: int | None = None
    person_id: int | None = Field(default=None, foreign_key="people.id", index=True)
    transport: str
    raw_line: str = Field(default="", sa_type=Text)
    line: str = Field(default="", sa_type=Text)
    events: bytes = Field(default=b"", sa_type=LargeBinary)
    decision_id: str | None = None
    rewinds_to: int | None = None


class MoveRecord(NewLogRow, table=True):
    """A row of the log of a table; `seq` counts from 1 without gaps."""

    __tablename__ = "moves"
    __table_args__ = (
        literal_check("kind", LogRowKind),
        CheckConstraint("(kind IN ('undo', 'redo')) = (rewinds_to IS NOT NULL)", name="rewinds_to"),
    )

    table_id: int = Field(foreign_key="game_tables.id", primary_key=True)
    seq: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    created_at: datetime = Field(sa_type=UtcDateTime)


class TableSnapshot(Model, table=True):
    """Where a table is: the last `seq` of its log, the move at which its line stands, the state there."""

    __tablename__ = "table_snapshots"

    table_id: int = Field(foreign_key="game_tables.id", primary_key=True)
    seq: int = 0
    current_move: int = 0
    state: bytes = Field(default=b"", sa_type=LargeBinary)


class RequestResult(Model, table=True):
    """What a request was answered, for when it is repeated."""

    __tablename__ = "request_results"

    request_id: str = Field(primary_key=True)
    body: bytes = Field(sa_type=LargeBinary)
    created_at: datetime = Field(sa_type=UtcDateTime, index=True)


class PollRecord(Model, table=True):
    """A question put to several seats: an undo, a pause, an end. `subject` belongs to the service."""

    __tablename__ = "polls"
    __table_args__ = (unique_where("closed_at IS NULL", "table_id", "kind"),)

    id: int = Field(default=None, primary_key=True)
    table_id: int = Field(foreign_key="game_tables.id", index=True)
    kind: str
    proposer_seat: int | None = None
    details: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    opened_at: datetime = Field(sa_type=UtcDateTime)
    closed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    outcome: str | None = None


class VoteRecord(Model, table=True):
    """One asked seat of a vote, and what it said."""

    __tablename__ = "votes"

    poll_id: int = Field(foreign_key="polls.id", primary_key=True)
    seat: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    agrees: bool | None = None
    voted_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


# What goes out


class NewMessage(Model):
    """What is to be sent, before it has its place in the outbox.

    key: a second parcel of the same key is not taken. lane: parcels of one lane go in order, one at a
    time. supersedes: a group of which only the newest is still worth sending.
    """

    idempotency_key: str = Field(unique=True)
    channel: Channel = Field(sa_type=String)
    address: dict[str, Any] = Field(sa_type=JSON)
    payload: bytes = Field(sa_type=LargeBinary)
    ordering_key: str | None = None
    collapse_key: str | None = None
    not_before: datetime | None = Field(default=None, sa_type=UtcDateTime)


class OutboxMessage(NewMessage, table=True):
    """A row of the outbox. `ref` is what the other side calls it, once it is sent."""

    __tablename__ = "outbox"
    __table_args__ = (
        literal_check("channel", Channel),
        literal_check("status", DeliveryStatus),
        index_where("ix_outbox_due", "status = 'pending'", "channel", "not_before"),
        index_where("ix_outbox_ordering_key", "status = 'pending'", "ordering_key"),
        index_where("ix_outbox_collapse_key", "status = 'pending'", "collapse_key"),
    )

    id: int = Field(default=None, primary_key=True)
    not_before: datetime = Field(sa_type=UtcDateTime)
    attempts: int = 0
    lease_expires_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    status: DeliveryStatus = Field(default="pending", sa_type=String)
    error: str | None = Field(default=None, sa_type=Text)
    external_id: str | None = None
    created_at: datetime = Field(sa_type=UtcDateTime)
    finished_at: datetime | None = Field(default=None, sa_type=UtcDateTime, index=True)


class Card(Model, table=True):
    """The message that now carries the controls of a slot of a table (`turn`, `lobby`, a seat …)."""

    __tablename__ = "cards"

    table_id: int = Field(foreign_key="game_tables.id", primary_key=True)
    slot: str = Field(primary_key=True)
    decision_id: str | None = None
    message_ref: dict[str, Any] = Field(sa_type=JSON)
    posted_at: datetime = Field(sa_type=UtcDateTime)


# Letters


class MailToken(Model, table=True):
    """What an address of ours may do; the token itself is never kept.

    purpose: reply, bounce, unsub, join … address: where the letter with it went. carrier: the
    Message-ID of that letter, by which an answer is known too.
    """

    __tablename__ = "mail_tokens"

    token_hash: str = Field(primary_key=True)
    purpose: str
    table_id: int | None = Field(default=None, foreign_key="game_tables.id")
    seat: int | None = None
    person_id: int | None = Field(default=None, foreign_key="people.id", index=True)
    decision_id: str | None = None
    address: str | None = None
    message_id: str | None = Field(default=None, unique=True)
    created_at: datetime = Field(sa_type=UtcDateTime)
    expires_at: datetime | None = Field(default=None, sa_type=UtcDateTime, index=True)
    revoked_at: datetime | None = Field(default=None, sa_type=UtcDateTime)

    __table_args__ = (Index("ix_mail_tokens_seat", "table_id", "seat"),)


class InboundMail(Model, table=True):
    """A letter that came in: how often it was tried, and with its outcome what it was answered."""

    __tablename__ = "inbound_mail"

    key: str = Field(primary_key=True)
    sha256: str
    path: str = Field(sa_type=Text)
    received_at: datetime = Field(sa_type=UtcDateTime)
    attempts: int = 1
    outcome: str | None = None
    reply: bytes | None = Field(default=None, sa_type=LargeBinary)
    finished_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


# The installation


class Setting(Model, table=True):
    """What this installation remembers about itself, secrets too."""

    __tablename__ = "settings"

    key: str = Field(primary_key=True)
    value: str = Field(sa_type=Text)


class Lease(Model, table=True):
    """Who does a job that only one process may do, and until when."""

    __tablename__ = "leases"

    name: str = Field(primary_key=True)
    holder: str
    expires_at: datetime = Field(sa_type=UtcDateTime)
