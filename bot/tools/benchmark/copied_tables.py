"""Copies of the tables of a store, made by SQL: with their people, addresses, seats, logs and positions."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, Table, create_engine, text

from storage.database import store_url
from storage.models import (
    GameTable,
    Identity,
    Model,
    MoveRecord,
    Person,
    Seat,
    SeatClockRecord,
    TableClock,
    TableSnapshot,
)

STRIDE = 1000
"""How far the ids of one copy are from those of the next; the tables that are copied have smaller ids."""
SHIFTED = ("id", "person_id", "table_id", "host_id")
COPIED = (Person, Identity, GameTable, TableSnapshot, Seat, MoveRecord, TableClock, SeatClockRecord)
RENAMED = {
    ("identities", "value"): "CAST(:copy AS TEXT) || value",
    ("game_tables", "code"): "code || '-' || CAST(:copy AS TEXT)",
}


def copy_tables(url: str, models: int, tables: int) -> Iterator[int]:
    """Copy the first tables of a store until there are so many; yields how many there are."""
    address = store_url(url)
    if address.get_backend_name() == "sqlite":
        address = address.set(drivername="sqlite")
    engine = create_engine(address)
    try:
        for copy in range(1, -(-tables // models)):
            with engine.begin() as connection:
                for model in COPIED:
                    _copy(connection, Model.metadata.tables[str(model.__tablename__)], copy)
            yield models * (copy + 1)
    finally:
        engine.dispose()


def _copy(connection: Connection, table: Table, copy: int) -> None:
    names = [column.name for column in table.columns]
    values = [
        f"{name} + {STRIDE * copy}" if name in SHIFTED else RENAMED.get((table.name, name), name)
        for name in names
    ]
    key = "table_id" if "id" not in names else "id"
    query = (
        f"INSERT INTO {table.name} ({', '.join(names)}) "
        f"SELECT {', '.join(values)} FROM {table.name} WHERE {key} < {STRIDE}"
    )
    connection.execute(text(query), {"copy": copy} if ":copy" in query else {})
