"""The database tables, as SQLModel classes.

The rules of the game are unknown here: states, events, results and payloads are bytes, locations and
addresses are JSON that only their writers read; `format_version` is that of states and events. A row that
was loaded is a value: changing it changes nothing in the database, only the repositories do.

`seat` is everywhere the number of a seat, clockwise from 0. Times are aware datetimes, stored as whole
microseconds since 1970, so that every database sorts them alike.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, ClassVar, Literal, NamedTuple

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Column,
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
from sqlmodel._compat import SQLModelConfig

from engine import FORMAT_VERSION

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
    """An aware datetime, stored as whole microseconds since 1970. Raises ValueError for a naive one."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} has no time zone")
        return (value - EPOCH) // MICROSECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        return None if value is None else EPOCH + value * MICROSECOND


def literal_check(column: str, literal: Any) -> CheckConstraint:
    """A constraint: the column holds one of the words of a Literal type."""
    words = ", ".join(f"'{word}'" for word in literal.__args__)
    return CheckConstraint(f"{column} IN ({words})", name=column)


def unique_where(condition: str, *columns: str) -> Index:
    """A constraint: these columns are unique among the rows that meet the condition."""
    name = "uq_" + "_".join(columns) + "_where"
    return Index(name, *columns, unique=True, sqlite_where=text(condition), postgresql_where=text(condition))


def index_where(name: str, condition: str, *columns: str) -> Index:
    """An index over the rows that meet the condition."""
    return Index(name, *columns, sqlite_where=text(condition), postgresql_where=text(condition))


class Model(SQLModel):
    """Base of all models: one set of metadata, in which every constraint has a fixed name."""

    model_config = SQLModelConfig(
        defer_build=True
    )  # tables are not validated, so a start builds no validators
    metadata: ClassVar[MetaData] = MetaData(naming_convention=NAMING_CONVENTION)


@cache
def columns_of(model: type[Model]) -> Mapping[str, Column[Any]]:
    """The columns of a table by name, in their order."""
    return dict(Model.metadata.tables[str(model.__tablename__)].columns)


def columns_of_people() -> list[Column[Any]]:
    """The columns of all tables that name a person by their id, each table after those to which it refers."""
    return [
        column
        for table in Model.metadata.sorted_tables
        for column in table.columns
        if any(key.column.table.name == "people" for key in column.foreign_keys)
    ]


# People


class Person(Model, table=True):
    """A player, whatever transport they use. `preferences` belongs to the service."""

    __tablename__ = "people"

    id: int = Field(default=None, primary_key=True)
    name: str = Field(sa_type=Text)
    language: str | None = None
    time_zone: str | None = None
    preferences: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)
    created_at: datetime = Field(sa_type=UtcDateTime)


class Identity(Model, table=True):
    """A Discord id or an email address of one person; an address that is not verified gives no rights.

    Of an email address: preferred_at, when the person last chose it for their emails; fault, why no emails
    go there, empty if they do; bounces, by the Message-ID of the email that came back.
    """

    __tablename__ = "identities"
    __table_args__ = (UniqueConstraint("kind", "value"), literal_check("kind", IdentityKind))

    id: int = Field(default=None, primary_key=True)
    person_id: int = Field(foreign_key="people.id", index=True)
    kind: IdentityKind = Field(sa_type=String)
    value: str
    verified_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    preferred_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    fault: str = Field(default="", sa_type=Text)
    bounces: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)


class AddressClaim(Model, table=True):
    """An address that a person claims, until the code that was sent there comes back."""

    __tablename__ = "address_claims"

    code_hash: str = Field(primary_key=True)
    person_id: int = Field(foreign_key="people.id", index=True)
    address: str
    created_at: datetime = Field(sa_type=UtcDateTime)
    expires_at: datetime = Field(sa_type=UtcDateTime)


# Tables and seats


class GameTable(Model, table=True):
    """A game: its players are being gathered, it is played, or it is over.

    title: the name of the game, `1830`. options: its variants. location: where a transport shows the table;
    its entries `guild`, `channel` and `thread` are columns too, by which tables are found. pace: what the
    table has agreed about time, as the service writes it. hints: players may ask what a robot would do.
    palette: the colours of its pictures.
    """

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
    pace: str = Field(default="none", sa_type=Text)
    hints: bool = False
    palette: str = "light"
    guild: int | None = Field(default=None, sa_type=BigInteger, index=True)
    channel: int | None = Field(default=None, sa_type=BigInteger, index=True)
    thread: int | None = Field(default=None, sa_type=BigInteger, index=True)


class Seat(Model, table=True):
    """One person's time in a seat: where a player is replaced, one row ends and another begins.

    `number` is None until the game starts. `joined_at` is None for a person who was invited and has not
    answered.
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


class SeatRequest(Model, table=True):
    """A person asks for an open seat of a running game; the host admits or declines them."""

    __tablename__ = "seat_requests"
    __table_args__ = (unique_where("answered_at IS NULL", "table_id", "person_id"),)

    id: int = Field(default=None, primary_key=True)
    table_id: int = Field(foreign_key="game_tables.id", index=True)
    seat: int
    person_id: int = Field(foreign_key="people.id", index=True)
    name: str
    asked_at: datetime = Field(sa_type=UtcDateTime)
    answered_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    admitted: bool | None = None


class Deputy(Model, table=True):
    """A person who may act for a seat, from one time to another.

    decision_id: the only decision for which they may act; None for all. ends_at: None as long as it is open.
    """

    __tablename__ = "deputies"

    table_id: int = Field(foreign_key="game_tables.id", primary_key=True)
    seat: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    person_id: int = Field(foreign_key="people.id", index=True)
    starts_at: datetime = Field(sa_type=UtcDateTime)
    ends_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    decision_id: str | None = None


# Clocks


class TableClock(Model, table=True):
    """How far the clocks of a table follow its log: the `seq` of the last row; -1 before the first look.

    is_stale: its log has grown, its pace or the settings of its players have changed since.
    """

    __tablename__ = "table_clocks"

    table_id: int = Field(foreign_key="game_tables.id", primary_key=True)
    seq: int = 0
    is_stale: bool = False

    __table_args__ = (index_where("ix_table_clocks_stale", "is_stale", "table_id"),)


class SeatClockRecord(Model, table=True):
    """The clock of a seat.

    decision_id: what its player has to decide since `since`; None while nobody waits for them. bank: seconds
    that are left of the time bank, None for all. allowance_end, time_up: as the pace says. extended: they
    have taken more time for this decision. absence: the absence of which the table was told last. lapses: how
    often in a row their time was up and something was played for them.
    """

    __tablename__ = "seat_clocks"

    table_id: int = Field(foreign_key="game_tables.id", primary_key=True)
    seat: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    person_id: int | None = Field(default=None, foreign_key="people.id", index=True)
    decision_id: str | None = None
    since: datetime | None = Field(default=None, sa_type=UtcDateTime)
    bank: int | None = None
    allowance_end: datetime | None = Field(default=None, sa_type=UtcDateTime)
    time_up: datetime | None = Field(default=None, sa_type=UtcDateTime)
    extended: bool = False
    absence: str = ""
    lapses: int = 0


class StoredTimer(Model, table=True):
    """Something that has to happen at a time, once. `key` names it; `details` belongs to the service."""

    __tablename__ = "due_rows"

    key: str = Field(primary_key=True)
    kind: str
    due_at: datetime = Field(sa_type=UtcDateTime, index=True)
    table_id: int | None = Field(default=None, foreign_key="game_tables.id", index=True)
    seat: int | None = None
    person_id: int | None = Field(default=None, foreign_key="people.id", index=True)
    details: dict[str, Any] = Field(default_factory=dict, sa_type=JSON)


# Move log and polls


class LogRow(NamedTuple):
    """A row of a table's move log as a plain value; without `seq` and `created_at` before it is appended.

    seq: counts from 1 without gaps. kind: a `move` changes the game by its `events`; `undo` and `redo` say by
    `rewinds_to` after which move play continues (0: before the first); `replace` and `note` are for the
    service. request_id: the unique id of the request that caused the row. raw_line: the line as the player
    wrote it. line: the same in explicit notation. events: as the engine encodes them. decision_id: the
    decision that it answers. format_version: of the events. order_id: the order of the player that said the
    line, None if they said it themselves.
    """

    transport: str
    kind: LogRowKind = "move"
    request_id: str | None = None
    seat: int | None = None
    person_id: int | None = None
    raw_line: str = ""
    line: str = ""
    events: bytes = b""
    decision_id: str | None = None
    rewinds_to: int | None = None
    format_version: int = FORMAT_VERSION
    order_id: int | None = None
    seq: int = 0
    created_at: datetime = EPOCH


class MoveRecord(Model, table=True):
    """A row of a table's move log, see `LogRow`."""

    __tablename__ = "moves"
    __table_args__ = (
        literal_check("kind", LogRowKind),
        CheckConstraint("(kind IN ('undo', 'redo')) = (rewinds_to IS NOT NULL)", name="rewinds_to"),
    )

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
    format_version: int = FORMAT_VERSION
    order_id: int | None = None
    table_id: int = Field(foreign_key="game_tables.id", primary_key=True)
    seq: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    created_at: datetime = Field(sa_type=UtcDateTime)


class TableSnapshot(Model, table=True):
    """The latest position of a table: the last `seq` of its log, the last move that counts, the state.

    rewind_count: the undo and redo rows of the log. revision: renewed by every change of the table that is
    not in its log: of the table itself, its seats, their people, its polls.
    """

    __tablename__ = "table_snapshots"

    table_id: int = Field(foreign_key="game_tables.id", primary_key=True)
    seq: int = 0
    current_move: int = 0
    state: bytes = Field(default=b"", sa_type=LargeBinary)
    format_version: int = FORMAT_VERSION
    rewind_count: int = 0
    revision: int = 0


class Fact(Model, table=True):
    """What a feature keeps for a person at a table, in a form of its own: a plan, notes."""

    __tablename__ = "facts"

    feature: str = Field(primary_key=True)
    table_id: int = Field(foreign_key="game_tables.id", primary_key=True)
    person_id: int = Field(foreign_key="people.id", primary_key=True, index=True)
    body: Any = Field(sa_type=JSON)


class OrderRecord(Model, table=True):
    """An order that a person has left at a table; nobody else is shown it.

    place: among the orders of the seat. line: as the engine reads it. armed_at: the last move that counted
    when it was left; armed_seq: the last row of the log then. ended_at, ended_reason: when and why it ended.
    ended_by_move: the move that ended it, None where its owner or an undo did.
    """

    __tablename__ = "orders"
    __table_args__ = (index_where("ix_orders_armed", "ended_at IS NULL", "table_id"),)

    id: int = Field(default=None, primary_key=True)
    table_id: int = Field(foreign_key="game_tables.id", index=True)
    seat: int
    person_id: int = Field(foreign_key="people.id", index=True)
    place: int
    line: str = Field(sa_type=Text)
    armed_at: int
    armed_seq: int
    created_at: datetime = Field(sa_type=UtcDateTime)
    ended_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    ended_reason: str | None = Field(default=None, sa_type=Text)
    ended_by_move: int | None = None


class RequestResult(Model, table=True):
    """The result of a request, returned when the same request comes again."""

    __tablename__ = "request_results"

    request_id: str = Field(primary_key=True)
    body: bytes = Field(sa_type=LargeBinary)
    created_at: datetime = Field(sa_type=UtcDateTime, index=True)


class PollRecord(Model, table=True):
    """A question to several seats: an undo, a pause, an end. `details` belongs to the service."""

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
    """The vote of one seat in a poll; `agrees` is None until it has voted."""

    __tablename__ = "votes"

    poll_id: int = Field(foreign_key="polls.id", primary_key=True)
    seat: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    agrees: bool | None = None
    voted_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class Usage(Model, table=True):
    """How often a person did something of a kind on a day (`2026-01-31`, UTC)."""

    __tablename__ = "usage"

    person_id: int = Field(foreign_key="people.id", primary_key=True)
    kind: str = Field(primary_key=True)
    day: str = Field(primary_key=True, index=True)
    count: int = 1


# Outbox


class NewMessage(NamedTuple):
    """A message before it is enqueued.

    idempotency_key: a second message with the same key is not enqueued. ordering_key: messages with the
    same key are sent in order, one at a time. collapse_key: of the pending messages with the same key,
    only the newest is sent. is_kept: this one takes their place, and is sent also if a newer follows.
    address, payload: as the delivery worker of the channel wants them.
    not_before: the earliest time to send it; None for at once. table_id: the table that it is about, by which
    processes share the work. text: what it says in words, kept after it was sent, in case it comes back.
    """

    idempotency_key: str
    channel: Channel
    address: dict[str, Any]
    payload: bytes
    ordering_key: str | None = None
    collapse_key: str | None = None
    not_before: datetime | None = None
    table_id: int | None = None
    text: str | None = None
    is_kept: bool = False


class OutboxMessage(Model, table=True):
    """A message in the outbox, see `NewMessage`. external_id: the receiver's id of it, once it is sent."""

    __tablename__ = "outbox"
    __table_args__ = (
        literal_check("channel", Channel),
        literal_check("status", DeliveryStatus),
        index_where("ix_outbox_due", "status = 'pending'", "channel", "not_before"),
        index_where("ix_outbox_ordering_key", "status = 'pending'", "ordering_key"),
        index_where("ix_outbox_collapse_key", "status = 'pending'", "collapse_key"),
    )

    idempotency_key: str = Field(unique=True)
    channel: Channel = Field(sa_type=String)
    address: dict[str, Any] = Field(sa_type=JSON)
    payload: bytes = Field(sa_type=LargeBinary)
    ordering_key: str | None = None
    collapse_key: str | None = None
    not_before: datetime = Field(sa_type=UtcDateTime)
    table_id: int | None = None
    text: str | None = Field(default=None, sa_type=Text)
    id: int = Field(default=None, primary_key=True)
    attempts: int = 0
    lease_expires_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    status: DeliveryStatus = Field(default="pending", sa_type=String)
    error: str | None = Field(default=None, sa_type=Text)
    external_id: str | None = None
    created_at: datetime = Field(sa_type=UtcDateTime)
    finished_at: datetime | None = Field(default=None, sa_type=UtcDateTime, index=True)


class Card(Model, table=True):
    """The message that now shows the buttons of one slot of a table (`turn`, `lobby`, a seat …)."""

    __tablename__ = "cards"

    table_id: int = Field(foreign_key="game_tables.id", primary_key=True)
    slot: str = Field(primary_key=True)
    decision_id: str | None = None
    message_ref: dict[str, Any] = Field(sa_type=JSON)
    posted_at: datetime = Field(sa_type=UtcDateTime)


# Mail


class MailToken(Model, table=True):
    """What the token in a reply address stands for; the token itself is never stored.

    purpose: `reply`, `bounce`, `unsubscribe`, `link`, `invite`. address: where the email with the token
    was sent. message_id: the Message-ID of that email, by which an answer is recognised too.
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

    __table_args__ = (Index("ix_mail_tokens_seat", "table_id", "seat"),)


class InboundMail(Model, table=True):
    """A mail that came in: the attempts to handle it, its outcome, and the reply to it."""

    __tablename__ = "inbound_mail"

    key: str = Field(primary_key=True)
    sha256: str
    path: str = Field(sa_type=Text)
    received_at: datetime = Field(sa_type=UtcDateTime)
    attempts: int = 1
    outcome: str | None = None
    reply: bytes | None = Field(default=None, sa_type=LargeBinary)
    finished_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


# Settings


STORE_ID = "store_id"
"""The setting that is the id of the store."""


class Setting(Model, table=True):
    """A setting or secret of this store."""

    __tablename__ = "settings"

    key: str = Field(primary_key=True)
    value: str = Field(sa_type=Text)
