"""A game that was played elsewhere becomes a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import engine
from bot.hub.changes import TableChanges, load_info
from bot.hub.info import TableInfo, plain_table_name
from bot.hub.notifications import messages
from bot.position import text_views
from storage import NewLogRow, TableStatus


class TableImport(TableChanges):
    """Makes tables of games."""

    async def import_game(
        self,
        start: engine.State,
        moves: Iterable[tuple[int, str, Sequence[engine.AnyEvent]]],
        *,
        name: str,
        by: int | None = None,
        open_seats: bool = False,
        location: dict[str, Any] | None = None,
    ) -> TableInfo:
        """Make a table of a game that was played elsewhere, and go on with it.

        start: the position at the first question (`engine.new_game`). moves: seat, line and events of each,
        in order. Every player becomes a new person, whom others can replace; with `open_seats` the seats are
        empty, and the game waits until they are claimed.
        """
        state = engine.copy_state(start)
        sentence = f"The game was imported. Seating: {text_views.join_words(state.players)}."
        rows = [start_row("import", sentence, start, None)]
        for seat, line, events in moves:
            engine.fold(events, state)
            raw = engine.encode_events(events)
            rows.append(NewLogRow(transport="import", seat=seat, raw_line=line, line=line, events=raw))
        async with self._cache.store.begin() as unit:
            await self._limits.count(unit, by, "tables")
            table = await unit.tables.add(start.title, plain_table_name(name), by, start.options)
            for seat, player in enumerate(() if open_seats else start.players):
                person = await unit.people.add(player)
                await unit.tables.add_seat(table.id, person.id, player, seat)
            status: TableStatus = "paused" if open_seats else "running"
            await unit.tables.update(table.id, status="finished" if state.game_over else status)
            if location:
                await unit.tables.update(table.id, location=location)
            await unit.move_log.append(table.id, 0, rows, engine.encode_state(state))
            info = await load_info(unit, table.id)
            await unit.outbox.enqueue(*messages.lobby_refreshes(info))
        self._cache.wake_subscribers()
        return info


def start_row(transport: str, sentence: str, state: engine.State, by: int | None) -> NewLogRow:
    """The row that a game starts with; it holds the whole position."""
    return NewLogRow(
        transport=transport, kind="note", line="start", raw_line=sentence, person_id=by,
        events=engine.encode_state(state),
    )  # fmt: skip
