"""What the store holds about a table apart from its log, as the service uses it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache

import engine
from bot.service import notifications
from bot.service.live_table import LiveTable, TableMetadata, pending_decisions
from bot.service.pace import stored_pace
from bot.service.preferences import settings_of
from bot.service.routing import Recipient
from bot.service.tables import SeatedPlayer, TableInfo
from storage import GameTable, LogRow, StoreError, TableSnapshot, UnitOfWork

log = logging.getLogger(__name__)

UNREADABLE = "cannot be read"


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


@lru_cache(maxsize=1024)
def _report_unreadable(code: str, reason: str) -> None:
    """Tell the operator, once for each reason."""
    log.error(
        "for the operator: table %s cannot be read (%s); other tables go on. "
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
        return LiveTable(metadata, rows)


async def load_from_snapshot(unit: UnitOfWork, metadata: TableMetadata) -> LiveTable | None:
    """A table without its log; None where a move could need it: in the lobby, after an undo, after damage."""
    table_id, code = metadata.info.id, metadata.info.code
    snapshot = await unit.move_log.snapshot(table_id)
    tail = await unit.move_log.rows(table_id, max(snapshot.current_move - 1, 0)) if snapshot.state else []
    if not tail or tail[-1].seq != snapshot.seq or any(row.rewinds_to is not None for row in tail):
        return None
    try:
        with decoding(code):
            check_format(snapshot.format_version)
            state = engine.decode_state(snapshot.state)
    except UnreadableTable:
        return None
    last_mover = tail[0].seat if snapshot.current_move else None
    return LiveTable.from_snapshot(metadata, state, snapshot.rewind_count, last_mover)


async def load_position(unit: UnitOfWork, info: TableInfo, snapshot: TableSnapshot) -> engine.State | None:
    """The position of a table, None before the start: from its snapshot, or where that is damaged, from its
    log.

    Raises UnreadableTable.
    """
    try:
        with decoding(info.code):
            check_format(snapshot.format_version)
            return engine.decode_state(snapshot.state) if snapshot.state else None
    except UnreadableTable:
        table = build_table(TableMetadata(info), await unit.move_log.rows(info.id))
        log.warning("table %s is read from its log, which is whole", info.code)
        return table.state if table.begun else None


async def load_table_info(unit: UnitOfWork, table: GameTable) -> TableInfo:
    """A table as it is stored, with round and acting seats from its snapshot.

    A table that cannot be read is there too, so that lists go on; its round says so.
    """
    info, _ = await _load_info_and_snapshot(unit, table)
    return info


async def _load_info_and_snapshot(unit: UnitOfWork, table: GameTable) -> tuple[TableInfo, TableSnapshot]:
    players = tuple(
        SeatedPlayer(seat.number, seat.person_id, seat.name, seat.joined_at is not None, seat.id)
        for seat in await unit.tables.seats(table.id)
    )
    snapshot = await unit.move_log.snapshot(table.id)
    info = TableInfo(
        table.id, table.code, table.name, table.title, tuple(table.options), table.status, table.host_id,
        dict(table.location), players, seq=snapshot.seq, pace=stored_pace(table.pace),
        deputies=await _deputies_now(unit, table.id), hints=table.hints,
    )  # fmt: skip
    try:
        state = await load_position(unit, info, snapshot)
        with decoding(table.code):
            return _with_position(info, state) if state else info, snapshot
    except UnreadableTable:
        return replace(info, round=UNREADABLE), snapshot


def _with_position(info: TableInfo, state: engine.State) -> TableInfo:
    return replace(
        info,
        names=tuple(state.players),
        round=engine.round_name(state),
        acting_seats=tuple(pending.seat for pending in pending_decisions(state, 0)),
    )


async def _deputies_now(unit: UnitOfWork, table_id: int) -> dict[int, int]:
    """By seat, the person who may act for it now."""
    return {
        deputy.seat: deputy.person_id
        for deputy in await unit.clocks.deputies(table_id)
        if deputy.starts_at <= unit.now and (deputy.ends_at is None or unit.now < deputy.ends_at)
    }


async def load_recipient(
    unit: UnitOfWork, person_id: int, seat: int | None, *, unverified: bool = False
) -> Recipient:
    """The addresses of a person; `unverified` includes a mail address that is not yet confirmed."""
    person = await unit.people.get(person_id)
    identities = await unit.people.identities(person_id)
    return notifications.recipient_for(person, identities, seat, unverified=unverified)


async def load_metadata(unit: UnitOfWork, table_id: int) -> TableMetadata:
    """Everything about a table apart from its log. Raises NotFound, and UnreadableTable."""
    info, snapshot = await _load_info_and_snapshot(unit, await unit.tables.get(table_id))
    players = {player.seat: player.person_id for player in info.seated_players if player.seat is not None}
    known = await unit.people.with_identities({*players.values(), *info.deputies.values()})
    recipients, settings = {}, {}
    with decoding(info.code):
        for seat, person_id in players.items():
            person, _ = known[person_id]
            settings[seat] = settings_of(person.preferences, person.time_zone)
            recipients[seat] = notifications.recipient_for(*known[info.deputies.get(seat, person_id)], seat)
    polls = tuple(await unit.polls.open_polls(table_id))
    orders = tuple(await unit.orders.armed(table_id))
    return TableMetadata(info, polls, recipients, snapshot.revision, settings, orders)
