"""A store of its own, and a clock that stands until it is moved."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from storage import Entry, Parcel, Store, open_store
from tests.stores import written


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


@pytest.fixture
async def store(address: str, clock: Clock) -> AsyncIterator[Store]:
    async with await open_store(address, clock) as opened:
        yield opened


async def seq_elsewhere(store: Store, table: int) -> int | None:
    """How long a log is as somebody else sees it."""
    async with await open_store(written(store.url)) as other:
        return (await other.glance(table)).seq


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
