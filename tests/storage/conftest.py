"""A store for each test, and a clock that only the test moves."""

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pytest

from storage import LogRow, NewMessage, Store, migrations, open_store
from tests.stores import url_text

LATER_REVISION = """
import sqlalchemy as sa
from alembic import op

revision = "9001"
down_revision = "{head}"


def upgrade() -> None:
    op.add_column("people", sa.Column("pronoun", sa.String(), nullable=True))
    op.create_table("later", sa.Column("id", sa.Integer(), primary_key=True))
"""


class ManualClock:
    """Shows the time that it was set to."""

    def __init__(self) -> None:
        self.at = datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)

    def __call__(self) -> datetime:
        return self.at

    def advance(self, **span: float) -> None:
        self.at += timedelta(**span)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def store(address: str, clock: ManualClock) -> AsyncIterator[Store]:
    async with await open_store(address, clock) as opened:
        yield opened


@pytest.fixture
def later_revision(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """A further revision that only this test knows: it adds a column to `people`, and the table `later`."""
    folder = tmp_path_factory.mktemp("revisions")
    (folder / "r9001_later.py").write_text(LATER_REVISION.format(head=migrations.revisions()[-1]))
    monkeypatch.setattr(migrations, "FOLDERS", [*migrations.FOLDERS, folder])
    migrations.revisions.cache_clear()
    yield "9001"
    migrations.revisions.cache_clear()


async def seq_elsewhere(store: Store, table: int) -> int | None:
    """The length of a log as another connection sees it."""
    async with await open_store(url_text(store.url)) as other:
        return (await other.table_version(table)).seq


async def new_table(store: Store) -> int:
    async with store.begin() as unit:
        return (await unit.tables.add("t", "Friday")).id


def move(request: str | None = None, line: str = "pass") -> LogRow:
    return LogRow(
        request_id=request, seat=0, transport="terminal", raw_line=line, line=line, events=line.encode()
    )


def rewind(kind: Literal["undo", "redo"], at: int) -> LogRow:
    return LogRow("terminal", kind=kind, rewinds_to=at)


def new_message(key: str, **details: Any) -> NewMessage:
    return NewMessage(key, "mail", {"to": "ann"}, key.encode())._replace(**details)
