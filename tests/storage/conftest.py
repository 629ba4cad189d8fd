"""A store of its own, and a clock that stands until it is moved."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from storage import NewLogRow, NewMessage, Store, open_store
from tests.stores import url_text


class ManualClock:
    """Says the moment it was put to."""

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


async def seq_elsewhere(store: Store, table: int) -> int | None:
    """How long a log is as somebody else sees it."""
    async with await open_store(url_text(store.url)) as other:
        return (await other.table_version(table)).seq


async def new_table(store: Store) -> int:
    async with store.begin() as unit:
        return (await unit.tables.add("t", "Friday")).id


def move(request: str | None = None, line: str = "pass") -> NewLogRow:
    return NewLogRow(
        request_id=request, seat=0, transport="terminal", raw_line=line, line=line, events=line.encode()
    )


def stand(kind: str, at: int) -> NewLogRow:
    return NewLogRow.model_validate({"kind": kind, "stands_at": at, "transport": "terminal"})


def parcel(key: str, **details: object) -> NewMessage:
    base = {"key": key, "channel": "mail", "address": {"to": "ann"}, "payload": key.encode()}
    return NewMessage.model_validate(base | details)
