"""The schema revisions (Alembic), and the migration of a store to the newest.

An empty database gets the tables of the models, and the newest revision. `python -m storage.migrations STORE
"what changes"` drafts the next one: the difference between the models and a store of the newest revision.
Alembic is imported only to migrate: most starts do not need it, and its import takes a tenth of a start.
"""

from __future__ import annotations

import os
import secrets
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, insert, inspect, text

from storage.errors import InvalidStore, NewerStore, StoreError
from storage.models import STORE_ID, Model, Setting

if TYPE_CHECKING:
    from alembic.config import Config

APPLICATION_ID = 0x52504F53  # of the SQLite file; also the key of PostgreSQL's advisory lock
HERE = Path(__file__).parent
FOLDERS = [HERE / "versions"]
"""Where the revisions are, one a file: `r0002_what_it_changes.py` is revision 0002."""


def alembic_config() -> Config:
    """The configuration of Alembic: where the revisions are."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(HERE).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.set_main_option("version_locations", os.pathsep.join(map(str, FOLDERS)).replace("%", "%%"))
    return config


@cache
def revisions() -> tuple[str, ...]:
    """All schema revisions of this program, oldest first."""
    files = [path for folder in FOLDERS for path in folder.glob("r*_*.py")]
    return tuple(sorted(path.name[1:].partition("_")[0] for path in files))


def current_revision(connection: Connection) -> str | None:
    """The schema revision of a store; None for an empty database. Raises InvalidStore for any other."""
    names = inspect(connection).get_table_names()
    if not names:
        return None
    if "alembic_version" not in names:
        raise InvalidStore(f"{connection.engine.url.database} is a database, but not a Railpost store.")
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def check_revision(revision: str | None, name: str) -> tuple[str, ...]:
    """All schema revisions of this program. Raises InvalidStore where the given one is from before them, and
    NewerStore where it is from after them."""
    known = revisions()
    if revision is not None and revision < known[0]:
        raise InvalidStore(
            f"{name} was written by a Railpost before 1.0.0 (revision {revision}), and such stores are not "
            "migrated; move it away, and begin with a new store."
        )
    if revision is not None and revision not in known:
        raise NewerStore(
            f"{name} was written by a newer Railpost (revision {revision}, this one knows up to "
            f"{known[-1]}); run that one, or restore a backup from before."
        )
    return known


def refuse_older(revision: str | None, name: str, otherwise: str = "") -> None:
    """Raises StoreError for another revision than the newest, with what else can be done."""
    if revision != (newest := revisions()[-1]):
        first = ", ".join(filter(None, ["run `railpost migrate` first", otherwise]))
        has = f"has revision {revision}, and this Railpost works with {newest}" if revision else "is empty"
        raise StoreError(f"{name} {has}; {first}.")


def needs_migration(connection: Connection) -> bool:
    """Whether the store is empty or of an older revision.

    Raises NewerStore for an unknown revision, InvalidStore for a database of another program.
    """
    revision = current_revision(connection)
    return revision != check_revision(revision, str(connection.engine.url.database))[-1]


def migrate(connection: Connection) -> None:
    """Migrate a store to the newest revision, in one transaction: a migration that fails changes nothing.

    Raises what needs_migration raises.
    """
    with connection.begin():
        if not needs_migration(connection):
            return
        from alembic import command

        name, config = connection.engine.url.database, alembic_config()
        config.attributes["connection"] = connection
        if current_revision(connection) is None:
            Model.metadata.create_all(connection)
            connection.execute(insert(Setting), {"key": STORE_ID, "value": secrets.token_hex(8)})
            command.stamp(config, "head")
        else:
            command.upgrade(config, "head")
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
            if broken := connection.exec_driver_sql("PRAGMA foreign_key_check").first():
                raise InvalidStore(
                    f"{name} cannot be migrated: a row of {broken[0]} refers to a row that is missing."
                )
