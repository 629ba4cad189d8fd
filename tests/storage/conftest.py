"""A store in a file of its own, and a clock that stands until it is moved."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copyfile

import pytest
from sqlalchemy import create_engine

from storage import Entry, Parcel, Store, open_store
from storage.migrations import migrate


class Clock:
    """Says the moment it was put to."""

    def __init__(self) -> None:
        self.at = datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)

    def __call__(self) -> datetime:
        return self.at

    def pass_by(self, **span: float) -> None:
        self.at += timedelta(**span)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that was made once, to be copied: making one takes longer than most tests."""
    path = tmp_path_factory.mktemp("made") / "railpost.db"
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        migrate(connection)
    engine.dispose()
    return path


@pytest.fixture
async def store(tmp_path: Path, clock: Clock, made: Path) -> AsyncIterator[Store]:
    copyfile(made, tmp_path / "railpost.db")
    async with await open_store(tmp_path / "railpost.db", clock) as opened:
        yield opened


async def new_table(store: Store) -> int:
    async with store.begin() as unit:
        return (await unit.games.add("t", "Friday")).id


def move(request: str | None = None, line: str = "pass") -> Entry:
    return Entry(request=request, seat=0, transport="terminal", said=line, line=line, events=line.encode())


def stand(kind: str, at: int) -> Entry:
    return Entry.model_validate({"kind": kind, "stands_at": at, "transport": "terminal"})


def parcel(key: str, **details: object) -> Parcel:
    base = {"key": key, "channel": "mail", "address": {"to": "ann"}, "payload": key.encode()}
    return Parcel.model_validate(base | details)
