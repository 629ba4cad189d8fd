"""The revisions of the schema, and how a store comes to the newest.

`python -m storage.migrations "what changes"` drafts the next revision from the difference between
the tables and the revisions so far.
"""

from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from storage.errors import InvalidStore, NewerStore

APPLICATION_ID = 0x52504F53  # marks an SQLite file as ours, and the lock of who writes into PostgreSQL


def alembic_config() -> Config:
    """Where the revisions are."""
    found = Config()
    found.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    return found


@cache
def revisions() -> tuple[str, ...]:
    """All revisions that this program knows, first to newest."""
    script = ScriptDirectory.from_config(alembic_config())
    return tuple(revision.revision for revision in script.walk_revisions())[::-1]


def current_revision(connection: Connection) -> str | None:
    """The revision of a store; None for an empty database. Raises NotAStore for anything else."""
    names = inspect(connection).get_table_names()
    if not names:
        return None
    if "alembic_version" not in names:
        raise InvalidStore(f"{connection.engine.url.database} is a database, but not one of Railpost.")
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def check_revision(revision: str | None, name: str) -> tuple[str, ...]:
    """The revisions that this program knows. Raises NewerStore where that of a store is not among them."""
    known = revisions()
    if revision is not None and revision not in known:
        raise NewerStore(
            f"{name} was written by a newer Railpost (revision {revision}, this one knows up to "
            f"{known[-1]}); run that one, or restore a backup from before."
        )
    return known


def migrate(connection: Connection, target: str = "head") -> None:
    """Bring a store to a revision, in one transaction: a migration that fails leaves it as it was.

    Raises NewerStore for a revision that this program does not know, NotAStore for another's database.
    """
    with connection.begin():
        name, found = str(connection.engine.url.database), current_revision(connection)
        known = check_revision(found, name)
        if found == (known[-1] if target == "head" else target):
            return
        arranged = alembic_config()
        arranged.attributes["connection"] = connection
        command.upgrade(arranged, target)
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
            if broken := connection.exec_driver_sql("PRAGMA foreign_key_check").first():
                raise InvalidStore(f"{name} cannot be migrated: a row of {broken[0]} refers to nothing.")
