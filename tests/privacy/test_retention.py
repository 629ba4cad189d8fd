"""Games that are over and lines of the log are deleted when the host has set so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.hub.people import PrivacySettings
from bot.service import Service
from storage import NotFound, open_store
from storage.models import Model
from tests.tables import started

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


async def test_games_that_are_over_are_deleted_after_their_time(tmp_path: Path) -> None:
    """Not earlier, never one in play, and with everything that belongs to them."""
    now = BEGIN
    async with await open_store(tmp_path / "railpost.db", now=lambda: now) as store:
        service = Service(store, privacy=PrivacySettings(game_days=100))
        async with store.begin() as unit:
            people = {name: (await unit.people.add(name)).id for name in ("Ann", "Bob")}
        tables = []
        for status in ("ended", "running"):
            info = await started(service, people, name=status)
            await service.submit(info.id, None, ["note one"], None, None, person_id=people["Ann"])
            tables.append(info.id)
        await service.submit(tables[0], 1, ["vote end"], None, None)
        now += timedelta(days=10)
        await service.running.end_now(tables[0], by=people["Ann"])
        now += timedelta(days=99)
        assert await service.retainer.delete_games() == 0
        now += timedelta(days=2)
        assert await service.retainer.delete_games() == 1
        async with store.read() as unit:
            assert await unit.tables.ids("ended", "running") == [tables[1]]
            with pytest.raises(NotFound):
                await unit.tables.get(tables[0])
        async with store.read() as unit:
            for table in Model.metadata.sorted_tables:
                if "table_id" in table.c:
                    theirs = table.select().where(table.c.table_id == tables[0])
                    assert not await unit.personal_data._mappings(theirs), table.name
        never = Service(store, privacy=PrivacySettings())
        assert await never.retainer.delete_games() == 0


@pytest.mark.parametrize(
    "form", ["{day} 10:00:00,1 INFO x: {text}\n", '{{"time":"{day}T10:00:00","message":"{text}"}}\n']
)
async def test_old_lines_of_the_log_are_deleted(tmp_path: Path, form: str) -> None:
    """With the lines of a traceback below them."""
    for name, days in (("railpost.log.1", (1, 2)), ("railpost.log", (19, 20, 21))):
        lines = [
            form.format(day=f"2026-03-{day:02}", text=f"of day {day}") + f"  trace {day}\n" for day in days
        ]
        (tmp_path / name).write_text("".join(lines), encoding="utf-8")
    async with await open_store(
        tmp_path / "railpost.db", now=lambda: datetime(2026, 3, 30, tzinfo=UTC)
    ) as store:
        await Service(store, privacy=PrivacySettings(data=tmp_path)).retainer.delete_log_lines()
        assert "trace 1" in (tmp_path / "railpost.log.1").read_text(encoding="utf-8")
        await Service(store, privacy=PrivacySettings(data=tmp_path, log_days=10)).retainer.delete_log_lines()
    left = (tmp_path / "railpost.log").read_text(encoding="utf-8")
    assert [word for word in ("day 19", "trace 19", "day 20", "trace 20", "trace 21") if word in left] == [
        "day 20", "trace 20", "trace 21"
    ]  # fmt: skip
    assert (tmp_path / "railpost.log.1").read_text(encoding="utf-8") == ""
