"""Who sits at a table, and the tables of a person: `who`, `list`."""

from __future__ import annotations

from collections.abc import Sequence

from bot.hub.cache import TableCache
from bot.hub.changes import check_allowed
from bot.hub.command import Command, Form, Lines, OpenCommand, PersonCommand
from bot.hub.info import SeatedPlayer, TableInfo, open_seats, status_text
from bot.hub.people import load_standing
from bot.hub.queries import TableQueries
from bot.hub.request import QueryAnswer, Request
from bot.position import text_views
from storage import UnitOfWork


class TableLists:
    """Answers questions about who plays where."""

    def __init__(self, cache: TableCache, queries: TableQueries) -> None:
        self._cache, self._queries = cache, queries

    def commands(self) -> list[Command]:
        """`who`, `list`."""
        who = Form("who", "the players, and who has not answered or gets no emails")
        return [
            OpenCommand("who", (who,), self._who, needs_seat=False, from_outside=True),
            PersonCommand("list", (Form("list", "your tables"),), self._list, Lines.NONE),
        ]

    async def _who(self, table_id: int, request: Request) -> str:
        """The players of a table, for those who belong to it."""
        info = (await self._cache.get(table_id, with_log=False)).info
        check_allowed(info, request.person_id, seated_players=True)
        async with self._cache.store.read() as unit:
            rows = [await _row_of_player(unit, info, player) for player in info.seated_players]
        if not info.is_over:
            rows += [f"{info.names[seat]} (open seat)" for seat in open_seats(info)]
        return "\n".join([f"Table {info.code} of {info.title} is {status_text(info.status)}.", *rows])

    async def _list(self, person_id: int, lines: Sequence[str]) -> QueryAnswer:
        """The tables of a person that are not over."""
        tables = await self._queries.list_tables(person_id=person_id, statuses=("lobby", "running", "paused"))
        rows = [await self._row_of_table(table) for table in tables]
        return QueryAnswer("list", "\n".join(rows) or "You have no table.")

    async def _row_of_table(self, table: TableInfo) -> str:
        names = text_views.join_words([player.name for player in table.seated_players])
        text = f"{table.name} {table.code}, {table.title}, {status_text(table.status)}: {names}."
        view = await self._queries.view(table.id)
        return f"{text} {view.waiting_sentence}".rstrip()


async def _row_of_player(unit: UnitOfWork, table: TableInfo, player: SeatedPlayer) -> str:
    standing = await load_standing(unit, player.person_id)
    notes = ["host"] if player.person_id == table.host_id else []
    if not player.joined:
        notes.append("has not answered yet")
    elif standing.fault:
        notes.append("emails do not arrive")
    elif standing.address and not standing.wants_mail:
        notes.append("gets no emails")
    return f"{player.name}{f' ({text_views.join_words(notes)})' if notes else ''}"
