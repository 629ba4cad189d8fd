"""Migrations: from nothing, from the first revision, and to exactly the tables that the program has."""

import ast
import gzip
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, inspect, select, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from storage import InvalidStore, NewerStore, StoreError, backup, move_store, open_store, restore
from storage.migrations import alembic_config, migrate, revisions, versions
from storage.models import Model, columns_of
from tests import golden
from tests.storage.conftest import move

INDEXES = text("SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = :name AND sql IS NOT NULL")


def schema(connection: Connection) -> dict[str, object]:
    """All that the database says about each table."""
    found = inspect(connection)
    return {
        table: (
            {c["name"]: (str(c["type"]), c["nullable"]) for c in found.get_columns(table)},
            found.get_pk_constraint(table),
            sorted(map(str, found.get_foreign_keys(table))),
            sorted(map(str, found.get_unique_constraints(table))),
            sorted((c["name"], c["sqltext"]) for c in found.get_check_constraints(table)),
            sorted(connection.execute(INDEXES, {"name": table}).scalars()),
        )
        for table in found.get_table_names()
        if table != "alembic_version"
    }


def test_revisions_are_those_of_alembic() -> None:
    """They are read from the names of the files; Alembic follows what the files say."""
    walked = ScriptDirectory.from_config(alembic_config()).walk_revisions()
    assert revisions() == tuple(revision.revision for revision in walked)[::-1]


def test_the_migrated_schema_is_the_tables(tmp_path: Path) -> None:
    store_of_first_revision(tmp_path / "old.db")
    old = create_engine(f"sqlite:///{tmp_path / 'old.db'}")
    with old.connect() as migrated, create_engine("sqlite://").connect() as made:
        migrate(migrated)
        Model.metadata.create_all(made)
        assert compare_metadata(MigrationContext.configure(migrated), Model.metadata) == []
        assert schema(migrated) == schema(made)


def test_a_query_for_a_model_has_its_columns_in_their_order() -> None:
    with create_engine("sqlite://").connect() as connection:
        Model.metadata.create_all(connection)
        for model in Model.__subclasses__():
            assert [*connection.execute(select(model)).keys()] == [*columns_of(model)]


def test_every_table_can_be_made_on_postgresql() -> None:
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    for table in Model.metadata.sorted_tables:
        assert "CREATE TABLE" in str(CreateTable(table).compile(dialect=dialect))
        for index in table.indexes:
            partial = index.dialect_options["sqlite"]["where"] is not None
            assert ("WHERE" in str(CreateIndex(index).compile(dialect=dialect))) == partial
    names = [index.name for table in Model.metadata.sorted_tables for index in table.indexes]
    assert len(names) == len(set(names)), "PostgreSQL has one space of names for all indexes"


def store_of_first_revision(path: Path) -> None:
    """A store of 1.0.0."""
    path.write_bytes(gzip.decompress((Path(golden.__path__[0]) / "1.0.0" / "store.db.gz").read_bytes()))


async def test_a_file_of_the_first_revision_is_migrated_with_its_rows(
    tmp_path: Path, later_revision: str
) -> None:
    path = tmp_path / "old.db"
    store_of_first_revision(path)
    rows = "SELECT * FROM moves ORDER BY table_id, seq"
    with sqlite3.connect(path) as old:
        moves = old.execute(rows).fetchall()
        assert moves and "later" not in {name for (name,) in old.execute("SELECT name FROM sqlite_master")}
    old.close()
    async with await open_store(path) as store, store.begin() as unit:
        assert (await unit.people.get(1)).name == "Ann"
        table = (await unit.tables.find("running"))[0]
        seq = (await unit.move_log.snapshot(table.id)).seq
        await unit.move_log.append(table.id, seq, [move()], b"")
    with sqlite3.connect(path) as new:
        assert new.execute("SELECT version_num FROM alembic_version").fetchall() == [(later_revision,)]
        assert new.execute("SELECT name, pronoun FROM people WHERE id = 1").fetchall() == [("Ann", None)]
        assert new.execute("SELECT count(*) FROM later").fetchone() == (0,)
        assert set(moves) < set(new.execute(rows).fetchall())
    new.close()


async def test_14_7_a_store_of_another_revision_is_only_read(tmp_path: Path, later_revision: str) -> None:
    path = tmp_path / "old.db"
    store_of_first_revision(path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=f"has revision 0016, and .* works with {later_revision}; run"):
        await open_store(path, migrated=False)
    assert path.read_bytes() == before


async def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path: Path, later_revision: str) -> None:
    path = tmp_path / "old.db"
    store_of_first_revision(path)
    with sqlite3.connect(path) as old:
        old.execute("CREATE TABLE later (id INTEGER)")  # in the way of the second revision
    old.close()

    def tables() -> list[object]:
        with sqlite3.connect(path) as connection:
            found = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
        connection.close()
        return list(found)

    before = tables()
    with pytest.raises(InvalidStore, match="later already exists"):
        await open_store(path)
    assert tables() == before


async def test_opening_twice_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with await open_store(path) as store, store.begin() as unit:
        table = await unit.tables.add("t", "Friday")
    async with await open_store(f"sqlite:///{path}") as store, store.read() as unit:
        assert (await unit.tables.get(table.id)).code == table.code


async def test_a_current_store_opens_while_another_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "railpost.db"
    await (await open_store(path)).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        async with await open_store(path) as store, store.read() as unit:
            assert await unit.tables.find() == []


async def test_a_newer_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "newer.db"
    await (await open_store(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(NewerStore, match=r"newer Railpost \(revision 9999"):
        await open_store(path)


@pytest.mark.parametrize("revision", ["0001", "0015"])
async def test_a_file_from_before_the_first_version_is_refused(tmp_path: Path, revision: str) -> None:
    path = tmp_path / "old.db"
    await (await open_store(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (revision,))
    connection.close()
    before = path.read_bytes()
    for opening in (open_store(path), open_store(path, migrated=False), restore(path, tmp_path / "b.db")):
        with pytest.raises(InvalidStore, match=rf"before 1\.0\.0 \(revision {revision}\)"):
            await opening
    with pytest.raises(StoreError, match="before 1"):
        await move_store(path, tmp_path / "c.db")
    with pytest.raises(InvalidStore, match="before 1"):
        await backup(path, tmp_path / "d.db")
    assert path.read_bytes() == before


async def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    with pytest.raises(InvalidStore, match="not a Railpost store"):
        await open_store(path)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("recipes",)]
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    connection.close()


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough" * 50, b"SQLite format 3\0" + b"\xff" * 600]
)
async def test_garbage_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "garbage.db"
    path.write_bytes(content)
    with pytest.raises(InvalidStore, match=r"garbage\.db"):
        await open_store(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite://", "needs a file"),
        ("sqlite:///:memory:", "needs a file"),
        ("mysql://me@host/db", "not in mysql"),
        ("nonsense://x", "not the address of a store"),
    ],
)
async def test_a_wrong_address_is_one_sentence(url: str, said: str) -> None:
    with pytest.raises(StoreError, match=said) as error:
        await open_store(url)
    assert "secret" not in str(error.value)


async def test_a_database_without_its_package_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r"needs the package psycopg\[binary\]\.$") as error:
        await open_store("postgresql://me:secret@host/db")
    assert "secret" not in str(error.value)


async def test_a_place_where_no_file_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be written"):
        await open_store(tmp_path / "file" / "a.db")
    with pytest.raises(StoreError, match="is a folder"):
        await open_store(tmp_path)
    async with await open_store(tmp_path / "new" / "folder" / "a.db") as store:
        assert store.path is not None and store.path.exists()


def test_revisions_outlive_the_classes_of_today() -> None:
    """A revision that imported the tables would change with them."""
    found = sorted(Path(versions.__path__[0]).glob("r*.py"))
    assert len(found) == len(revisions())
    for path in found:
        body = ast.parse(path.read_text()).body
        imported = {
            node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
            for node in body
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
        assert imported <= {"alembic", "sqlalchemy", "json", "secrets"}
