"""What the store holds about a table apart from its log, as the service uses it."""

from __future__ import annotations

import engine
from bot.service import notifications
from bot.service.live_table import TableMetadata, pending_decisions
from bot.service.tables import SeatedPlayer, TableInfo
from storage import GameTable, UnitOfWork


async def load_table_info(unit: UnitOfWork, table: GameTable) -> TableInfo:
    """A table as it is stored, with round and acting seats from its snapshot."""
    players = tuple(
        SeatedPlayer(seat.number, seat.person_id, seat.name, seat.joined_at is not None, seat.id)
        for seat in await unit.tables.seats(table.id)
    )
    snapshot = await unit.move_log.snapshot(table.id)
    state = engine.decode_state(snapshot.state) if snapshot.state else None
    pending = pending_decisions(state, 0) if state else ()
    return TableInfo(
        table.id, table.code, table.name, table.title, tuple(table.options), table.status, table.host_id,
        dict(table.location), players, tuple(state.players) if state else (),
        engine.round_name(state) if state else "", tuple(p.seat for p in pending), snapshot.seq,
    )  # fmt: skip


async def load_recipient(
    unit: UnitOfWork, person_id: int, seat: int | None, *, unverified: bool = False
) -> notifications.Recipient:
    """The addresses of a person; `unverified` includes a mail address that is not yet confirmed."""
    person = await unit.people.get(person_id)
    identities = await unit.people.identities(person_id)
    return notifications.recipient_for(person, identities, seat, unverified=unverified)


async def load_metadata(unit: UnitOfWork, table_id: int) -> TableMetadata:
    """Everything about a table apart from its log. Raises NotFound."""
    info = await load_table_info(unit, await unit.tables.get(table_id))
    recipients = {
        player.seat: await load_recipient(unit, player.person_id, player.seat)
        for player in info.seated_players
        if player.seat is not None
    }
    polls = tuple(await unit.polls.open_polls(table_id))
    return TableMetadata(info, polls, recipients, await unit.settings.data_revision())
