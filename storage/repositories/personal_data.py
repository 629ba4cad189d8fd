"""Personal data: all rows about a person, every text that may name one, and what is deleted as a whole.

A new column with text has to be named in `TEXTS` or in `NEVER_ABOUT_OTHERS`; a test compares them with the
models.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Select, Table, and_, bindparam, delete, or_, select, update
from sqlmodel import col
from sqlmodel import select as select_models

from storage.models import (
    Card,
    GameTable,
    Identity,
    MailToken,
    Model,
    MoveRecord,
    OutboxMessage,
    Person,
    PollRecord,
    RequestResult,
    Seat,
    SeatRequest,
    TableSnapshot,
    VoteRecord,
    columns_of_people,
)
from storage.transaction import Repository

TEXTS: Mapping[str, tuple[str, ...]] = {
    "game_tables": ("name", "location"),
    "seat_requests": ("name",),
    "due_rows": ("details",),
    "moves": ("raw_line",),
    "facts": ("body",),
    "orders": ("line", "ended_reason"),
    "request_results": ("body",),
    "polls": ("details",),
    "outbox": ("address", "payload", "text", "error"),
    "cards": ("message_ref",),
    "inbound_mail": ("outcome", "reply"),
}
"""The columns that may name somebody else than the owner of the row, or anybody where nobody owns it."""

NEVER_ABOUT_OTHERS = frozenset({
    "people", "identities", "address_claims", "seats", "settings", "leases", "usage", "mail_tokens",
    "moves.line", "moves.events", "table_snapshots.state",
})  # fmt: skip
"""Tables and columns that are not in `TEXTS`: the rows of a person go with the person, settings belong to
features, and the caller rewrites lines, events and states, which have a form."""

SECRETS = frozenset({"code_hash", "token_hash", "message_id"})
"""Columns that nobody is given."""

OF_MESSAGES = ("channel", "address", "table_id", "text", "status", "error", "created_at", "finished_at")
"""What a person is given of their messages: no payload, which is for the transports and has secrets."""

DELETED_WITH_PERSON = frozenset({"due_rows", "mail_tokens", "seat_requests"})
"""Tables whose rows go with the person, although their column may be empty."""

OF_THE_INVITED = frozenset({"identities", "seats", "mail_tokens", "facts"})
"""Tables that may have rows about a person who was invited and has not answered."""

Rewrite = Callable[[str, str, Any], Any]
"""What becomes of a value: given the names of its table and column."""


def _tables() -> Iterable[Table]:
    return Model.metadata.sorted_tables


class PersonalDataRepository(Repository):
    """What is stored of a person, and its end."""

    async def rows_of(self, person_id: int) -> dict[str, list[dict[str, Any]]]:
        """Every row about a person by the name of its table, without secrets."""
        found: dict[str, list[dict[str, Any]]] = {}
        for key in (Model.metadata.tables["people"].c.id, *columns_of_people()):
            columns = [column for column in key.table.columns if column.name not in SECRETS]
            rows = await self._mappings(select(*columns).where(key == person_id))
            found.setdefault(key.table.name, []).extend(rows)
        return {name: rows for name, rows in found.items() if rows}

    async def _mappings(self, query: Select[Any]) -> list[dict[str, Any]]:
        """The rows of a query by the names of their columns."""
        return await self._db.read(
            lambda connection: [dict(row) for row in connection.execute(query).mappings()]
        )

    async def table_ids(self, person_id: int) -> list[int]:
        """The tables with which a person has had to do."""
        found = set(await self._db.all(select_models(GameTable.id).filter_by(host_id=person_id)))
        for model in (Seat, SeatRequest, MoveRecord):
            own = select_models(model.table_id).filter_by(person_id=person_id).distinct()
            found.update(await self._db.all(own))
        return sorted(found)

    async def seats(self, person_id: int, table_id: int) -> list[Seat]:
        """The seats that a person has or had at a table."""
        return await self._db.all(select_models(Seat).filter_by(person_id=person_id, table_id=table_id))

    async def rewrite(self, rewrite: Rewrite, table_id: int | None) -> None:
        """Rewrite the texts of a table, for None those that belong to no table."""
        for table in _tables():
            if columns := [table.c[name] for name in TEXTS.get(table.name, ())]:
                own = table.c.id if table.name == "game_tables" else table.c.get("table_id")
                if own is not None or table_id is None:
                    await self._rewrite(table, columns, [own == table_id] if own is not None else [], rewrite)

    async def _rewrite(
        self, table: Table, columns: list[Column[Any]], where: list[Any], rewrite: Rewrite
    ) -> None:
        keys = list(table.primary_key.columns)
        changed = []
        for row in await self._mappings(select(*keys, *columns).where(*where)):
            after = {column.name: rewrite(table.name, column.name, row[column.name]) for column in columns}
            if any(after[column.name] != row[column.name] for column in columns):
                changed.append({f"key_{key.name}": row[key.name] for key in keys} | after)
        if changed:
            same = [key == bindparam(f"key_{key.name}") for key in keys]
            values: dict[str, Any] = {column.name: bindparam(column.name) for column in columns}
            await self._db.execute(update(table).where(*same).values(**values), changed)

    async def rewrite_log(
        self,
        table_id: int,
        line: Callable[[str], str],
        events: Callable[[str, bytes], bytes],
        format_version: int,
    ) -> None:
        """Rewrite the lines of a log, and its events by the line that they belong to."""
        for row in await self._db.all(select_models(MoveRecord).filter_by(table_id=table_id)):
            after = (line(row.line), events(row.line, row.events))
            if after != (row.line, row.events):
                values: dict[str, Any] = {"line": after[0], "events": after[1]}
                if after[1] != row.events:
                    values["format_version"] = format_version
                same = update(MoveRecord).filter_by(table_id=table_id, seq=row.seq)
                await self._db.execute(same.values(values))

    async def all_preferences(self) -> list[dict[str, Any]]:
        """The preferences of everybody."""
        return [person.preferences for person in await self._db.all(select_models(Person))]

    async def rewrite_preferences(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> list[int]:
        """Change the preferences of people, of all for whom they would be others then; their ids."""
        changed = []
        for person in await self._db.all(select_models(Person)):
            if (after := change(person.preferences)) != person.preferences:
                await self._db.renew_revisions_of_person(person.id)
                await self._db.execute(update(Person).filter_by(id=person.id).values(preferences=after))
                changed.append(person.id)
        return changed

    async def messages(self, is_theirs: Callable[[Mapping[str, Any]], bool]) -> list[dict[str, Any]]:
        """The messages of the outbox that go to one of the person's addresses, as far as they can be read."""
        columns = [Model.metadata.tables["outbox"].c[name] for name in OF_MESSAGES]
        return [row for row in await self._mappings(select(*columns)) if is_theirs(row["address"])]

    async def delete_messages(self, is_theirs: Callable[[Mapping[str, Any]], bool]) -> None:
        """Delete the messages of the outbox that go to one of the person's addresses."""
        rows = await self._db.rows(select_models(OutboxMessage.id, OutboxMessage.address))
        ids = [row_id for row_id, address in rows if is_theirs(address)]
        await self._db.execute(delete(OutboxMessage).where(col(OutboxMessage.id).in_(ids)))

    async def delete_results(self, is_theirs: Callable[[bytes], bool]) -> None:
        """Delete the results of requests that quote what was only theirs."""
        rows = await self._db.rows(select_models(RequestResult.request_id, RequestResult.body))
        ids = [request_id for request_id, body in rows if is_theirs(body)]
        for start in range(0, len(ids), 500):
            chosen = col(RequestResult.request_id).in_(ids[start : start + 500])
            await self._db.execute(delete(RequestResult).where(chosen))

    async def forget(self, person_id: int, discord_ids: Iterable[str]) -> None:
        """Delete a person and what is only theirs; where a row belongs to others too, it names nobody."""
        await self._db.renew_revisions_of_person(person_id)
        for user in discord_ids:
            await self._db.execute(delete(Card).where(col(Card.slot).startswith(f"u{user}/")))
        for key in reversed(columns_of_people()):
            if key.nullable and key.table.name not in DELETED_WITH_PERSON:
                await self._db.execute(update(key.table).where(key == person_id).values({key: None}))
            else:
                await self._db.execute(delete(key.table).where(key == person_id))
        await self._db.execute(delete(Person).filter_by(id=person_id))

    async def invited_before(self, before: datetime) -> list[Person]:
        """The people who were last invited by email before a time, and have never answered yes: no address of
        theirs is verified, and nothing of theirs is at a table."""
        query = select_models(Person).where(
            col(Person.id).in_(select_models(Identity.person_id)),
            col(Person.id).not_in(
                select_models(Identity.person_id).where(col(Identity.verified_at).is_not(None))
            ),
            col(Person.created_at) < before,
        )
        for key in columns_of_people():
            if key.table.name not in OF_THE_INVITED:
                query = query.where(col(Person.id).not_in(select(key).where(key.is_not(None))))
        waits = col(GameTable.status).not_in(("finished", "ended"))
        seats = select_models(Seat.person_id).join(GameTable, col(GameTable.id) == col(Seat.table_id))
        seats = seats.where(or_(col(Seat.joined_at).is_not(None), and_(col(Seat.left_at).is_(None), waits)))
        asked = select_models(MailToken.person_id).where(
            col(MailToken.person_id).is_not(None), col(MailToken.created_at) >= before
        )
        query = query.where(col(Person.id).not_in(seats), col(Person.id).not_in(asked))
        return await self._db.all(query.order_by(col(Person.id)))

    async def tables_over_before(self, before: datetime) -> list[int]:
        """The games that are over and at which nothing has happened since a time."""
        last = (
            select_models(MoveRecord.table_id)
            .join(TableSnapshot, col(TableSnapshot.table_id) == col(MoveRecord.table_id))
            .where(col(MoveRecord.seq) == col(TableSnapshot.seq), col(MoveRecord.created_at) >= before)
        )
        query = select_models(GameTable.id).where(
            col(GameTable.status).in_(("finished", "ended")),
            col(GameTable.created_at) < before,
            col(GameTable.id).not_in(last),
        )
        return await self._db.all(query.order_by(col(GameTable.id)))

    async def delete_table(self, table_id: int) -> None:
        """Delete a game with everything that belongs to it."""
        polls = select_models(PollRecord.id).filter_by(table_id=table_id)
        await self._db.execute(delete(VoteRecord).where(col(VoteRecord.poll_id).in_(polls)))
        for table in reversed(list(_tables())):
            if "table_id" in table.c:
                await self._db.execute(delete(table).where(table.c.table_id == table_id))
        await self._db.execute(delete(GameTable).filter_by(id=table_id))
