"""A released version's store, which is a file, as a PostgreSQL database of the same revision."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Boolean, LargeBinary, MetaData, Table, create_engine, insert, text
from sqlalchemy.types import JSON

from storage.migrations import migrate


def copy_to_postgresql(path: Path, address: str) -> str:
    """Create the schema of a file's revision in an empty database, and copy all rows; the revision."""
    engine, metadata = create_engine(address), MetaData()
    with closing(sqlite3.connect(path)) as file:
        file.row_factory = sqlite3.Row
        (revision,) = file.execute("SELECT version_num FROM alembic_version").fetchone()
        with engine.connect() as connection:
            migrate(connection, revision)
        metadata.reflect(engine)
        with engine.begin() as connection:
            for table in metadata.sorted_tables:
                if table.name == "alembic_version":
                    continue
                connection.execute(table.delete())
            for table in metadata.sorted_tables:
                rows = [dict(row) for row in file.execute(f'SELECT * FROM "{table.name}"')]
                if rows and table.name != "alembic_version":
                    connection.execute(insert(table), [_as_values(table, row) for row in rows])
                if "id" in table.columns:
                    last = f"(SELECT coalesce(max(id), 0) + 1 FROM {table.name})"
                    counter = f"pg_get_serial_sequence('{table.name}', 'id')"
                    connection.execute(text(f"SELECT setval({counter}, {last}, false)"))
    engine.dispose()
    return str(revision)


def _as_values(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    """The values of a row of SQLite for PostgreSQL, which knows truth values and JSON."""
    values = {}
    for name, value in row.items():
        kind = table.columns[name].type
        if value is not None and isinstance(kind, Boolean):
            value = bool(value)
        elif value is not None and isinstance(kind, JSON):
            value = json.loads(value)
        elif isinstance(kind, LargeBinary) and isinstance(value, str):
            value = value.encode()
        values[name] = value
    return values
