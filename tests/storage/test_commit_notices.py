"""Notices of commits while the database is away; what they do otherwise is in the tests with a server."""

import asyncio

import pytest
from sqlalchemy import make_url

from storage.commit_notices import CommitNotices


async def test_a_database_that_is_away_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    attempts = 0

    def connect(*_: object, **__: object) -> None:
        nonlocal attempts
        attempts += 1
        raise psycopg.OperationalError("connection refused")

    psycopg = pytest.importorskip("psycopg")
    monkeypatch.setattr("storage.commit_notices.RETRY_DELAY", 0)
    monkeypatch.setattr("psycopg.AsyncConnection.connect", connect)
    listening = asyncio.ensure_future(
        CommitNotices(make_url("postgresql://nobody@127.0.0.1/x")).listen(print)
    )
    while attempts < 3:  # noqa: ASYNC110
        await asyncio.sleep(0)
    listening.cancel()
    assert [record.getMessage() for record in caplog.records] == [
        "notices of other processes are not heard: connection refused"
    ]
