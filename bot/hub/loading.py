"""What the store holds about a table apart from its log, as the service uses it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

import engine
from bot.hub.info import SeatedPlayer, TableInfo, stored_palette
from bot.hub.notifications import notify
from bot.hub.notifications.notify import Recipient
from bot.hub.notifications.preferences import settings_of
from bot.hub.pace import stored_pace
from bot.hub.table import LiveTable, Position, TableMetadata
from bot.position.pending import PendingDecision, pending_decisions
from storage import LogRow, StoreError, TableRecord, UnitOfWork

log = logging.getLogger(__name__)
operator_log = logging.getLogger("for the operator")

UNREADABLE = "cannot be read"


@dataclass(frozen=True, slots=True)
class LoadedTable:
    """A table as it is stored: what the store holds, its position, and whom it waits for.

    state: None before the start. from_snapshot: False where the stored position is damaged, and the log was
    read.
    """

    record: TableRecord
    info: TableInfo
    state: engine.State | None
    pending: tuple[PendingDecision, ...]
    from_snapshot: bool

    @property
    def metadata(self) -> TableMetadata:
        """Everything apart from the log. Raises UnreadableTable."""
        return _metadata(self.record, self.info)


class UnreadableTable(StoreError):
    """What the store holds of a table cannot be read; the message is for its players."""

    def __init__(self, code: str) -> None:
        super().__init__(
            f"Table {code} cannot be read, so nobody can play there now; nothing of it is lost, and the "
            "operator has been told."
        )


@contextmanager
def decoding(code: str) -> Iterator[None]:
    """Raise UnreadableTable for whatever is wrong with the stored bytes of a table, and tell the operator.

    Only that table is out of play then. The block reads nothing but bytes that are in memory.
    """
    try:
        yield
    except Exception as error:  # damaged bytes may be wrong in any way
        _report_unreadable(code, f"{type(error).__name__}: {error}")
        raise UnreadableTable(code) from error


_unreadable: dict[str, str] = {}
"""The tables that this process could not read, by code (`number 7` where not even that could be read), and
why."""


_made_again: set[str] = set()
"""The tables whose stored positions this process found to be damaged, and has made again from their logs."""


def unreadable_tables() -> list[str]:
    """The codes of the tables that this process found to be unreadable, of whatever store."""
    return sorted(_unreadable)


def forget_unreadable() -> None:
    """Another store has replaced the one in which they were found."""
    _unreadable.clear()
    _made_again.clear()


def _report_unreadable(code: str, reason: str) -> None:
    """Tell the operator, once for each reason."""
    if _unreadable.get(code) == reason:
        return
    _unreadable[code] = reason
    operator_log.error(
        "table %s cannot be read (%s); other tables go on. "
        "Restore a backup, or ask the authors with the output of `railpost check`.",
        code,
        reason,
    )


def check_format(version: int) -> None:
    """Raises ValueError for states or events in a format that a newer Railpost has written."""
    if version > engine.FORMAT_VERSION:
        raise ValueError(
            f"it has format {version}, and this Railpost knows formats up to {engine.FORMAT_VERSION}"
        )


def build_table(metadata: TableMetadata, rows: Sequence[LogRow]) -> LiveTable:
    """A table from all rows of its log. Raises UnreadableTable."""
    info = metadata.info
    with decoding(info.code):
        check_format(max((row.format_version for row in rows), default=0))
        if len(rows) != info.seq:
            raise ValueError(f"its log has {len(rows)} rows, and its last one is row {info.seq}")
        table = LiveTable(metadata, rows)
    _unreadable.pop(info.code, None)
    return table


def load_from_snapshot(loaded: LoadedTable, metadata: TableMetadata) -> LiveTable | None:
    """A table without its log; None where a move could need it: in the lobby, after an undo, after damage."""
    snapshot, tail = loaded.record.snapshot, loaded.record.tail
    if not loaded.from_snapshot or loaded.state is None or not tail or tail[-1].seq != snapshot.seq:
        return None
    if any(row.rewinds_to is not None for row in tail):
        return None
    last_mover = tail[0].seat if snapshot.current_move else None
    position = Position(loaded.state, snapshot.state, loaded.pending)
    return LiveTable.from_snapshot(metadata, position, snapshot.rewind_count, last_mover)


async def read_record(read: Callable[[int], Awaitable[TableRecord]], table_id: int) -> TableRecord:
    """What the store holds of a table. Raises NotFound, StoreError, and UnreadableTable."""
    try:
        return await read(table_id)
    except (StoreError, SQLAlchemyError):
        raise
    except Exception as error:  # damaged values may be wrong in any way
        _report_unreadable(f"number {table_id}", f"{type(error).__name__}: {error}")
        raise UnreadableTable(f"number {table_id}") from error


async def load_table(
    read: Callable[[int], Awaitable[TableRecord]],
    table_id: int,
    read_rows: Callable[[int], Awaitable[list[LogRow]]],
) -> LoadedTable:
    """A table as it is stored, by its record, and by its log where the position is damaged.

    Raises NotFound, and UnreadableTable.
    """
    record = await read_record(read, table_id)
    snapshot, info = record.snapshot, _table_info(record)
    try:
        check_format(snapshot.format_version)
        state = engine.decode_state(snapshot.state) if snapshot.state else None
        from_snapshot = True
    except Exception as error:  # damaged bytes may be wrong in any way
        state, from_snapshot = await _state_from_log(info, read_rows, error), False
    with decoding(info.code):
        pending = pending_decisions(state, snapshot.rewind_count) if state else ()
        info = _with_position(info, state, pending) if state else info
    return LoadedTable(record, info, state, pending, from_snapshot)


async def _state_from_log(
    info: TableInfo, read_rows: Callable[[int], Awaitable[list[LogRow]]], damage: Exception
) -> engine.State | None:
    """The position of a table whose stored position is damaged. Raises UnreadableTable.

    Its next move stores a whole one, so nobody has to do anything, and it is told once.
    """
    table = build_table(TableMetadata(info), await read_rows(info.id))
    if info.code not in _made_again:
        _made_again.add(info.code)
        log.info("the stored position of table %s is damaged (%s); its log has it", info.code, damage)
    return table.state if table.begun else None


async def load_info(unit: UnitOfWork, table_id: int) -> TableInfo:
    """A table as it is stored, with round and acting seats from its snapshot. Raises NotFound.

    A table that cannot be read is there too, so that lists go on; its round says so.
    """
    try:
        return (await load_table(unit.tables.record, table_id, unit.move_log.rows)).info
    except UnreadableTable:
        record = await read_record(unit.tables.record, table_id)
        return _table_info(record)._replace(round=UNREADABLE)


def _table_info(record: TableRecord) -> TableInfo:
    table = record.table
    players = tuple(
        SeatedPlayer(seat.number, seat.person_id, seat.name, seat.joined_at is not None, seat.id)
        for seat in record.seats
    )
    return TableInfo(
        table.id, table.code, table.name, table.title, tuple(table.options), table.status, table.host_id,
        table.location, players, seq=record.snapshot.seq, pace=stored_pace(table.pace),
        deputies=record.deputies, hints=table.hints, palette=stored_palette(table.palette),
    )  # fmt: skip


def _with_position(info: TableInfo, state: engine.State, pending: Sequence[PendingDecision]) -> TableInfo:
    return info._replace(
        names=tuple(state.players),
        round=engine.round_name(state),
        acting_seats=tuple(each.seat for each in pending),
    )


async def load_recipient(
    unit: UnitOfWork, person_id: int, seat: int | None, *, unverified: bool = False
) -> Recipient:
    """The addresses of a person; `unverified` includes a mail address that is not yet confirmed."""
    person = await unit.people.get(person_id)
    identities = await unit.people.identities(person_id)
    return notify.recipient_for(person, identities, seat, unverified=unverified)


async def load_metadata(unit: UnitOfWork, table_id: int) -> TableMetadata:
    """Everything about a table apart from its log. Raises NotFound, and UnreadableTable."""
    return (await load_table(unit.tables.record, table_id, unit.move_log.rows)).metadata


def _metadata(record: TableRecord, info: TableInfo) -> TableMetadata:
    recipients, settings = {}, {}
    players = [player.person_id for player in info.seated_players]
    with decoding(info.code):
        for player in info.seated_players:
            if (seat := player.seat) is not None:
                person = record.people[player.person_id]
                told = record.people[info.deputies.get(seat, player.person_id)]
                recipient = notify.recipient_for(told, record.identities[told.id], seat)
                is_player = told is person
                own = recipient.settings if is_player else settings_of(person.preferences, person.time_zone)
                recipients[seat] = recipient
                settings[seat] = own.at_table(players, robot_deputies=info.pace.robot_deputies)
    stand_ins = bool(info.deputies) or any(player.is_robot for player in info.seated_players)
    return TableMetadata(
        info, record.polls, recipients, record.snapshot.revision, settings, record.orders, stand_ins
    )
