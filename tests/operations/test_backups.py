"""Backups on a schedule, and a restore that is rehearsed."""

from __future__ import annotations

import asyncio
import errno
import itertools
import os
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from bot.__main__ import app_for, run_command
from bot.config import Settings, parse_settings
from bot.hub.request import Completed
from bot.operations.backups import ScheduledBackups, restore_mail_secret, secret_backup_path
from bot.operations.check import problems
from bot.operations.status import ErrorCounter, StatusMonitor, status_text
from bot.service import Service
from storage import open_store, restore
from tests.service.conftest import NAMES
from tests.tables import started

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


async def test_14_7_backups_are_made_when_they_are_due_and_the_newest_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.operations.backups.KEPT", 2)
    settings = Settings(data=tmp_path, backup_hours=6)
    (tmp_path / "mail-secret").write_text("s" * 64)
    killed = [
        tmp_path / ".railpost.db.20260101-120000-d7cf.0a.part",
        tmp_path / "backups/.railpost-2.db.0a.part",
    ]
    (tmp_path / "backups").mkdir()
    for path in (*killed, at_work := tmp_path / ".railpost.db.0b.part"):
        path.write_text("half")
        os.utime(path, (NOON.timestamp(),) * 2 if path == at_work else (0, 0))
    async with await open_store(tmp_path / "railpost.db") as store:
        backups = ScheduledBackups(store, settings)
        assert await backups.back_up_if_due(NOON - timedelta(hours=6)) and at_work.exists()
        assert not any(path.exists() for path in killed)
        made = [await backups.back_up_if_due(NOON + timedelta(hours=hours)) for hours in range(0, 25, 3)]
    assert [path is not None for path in made] == [hours % 6 == 0 for hours in range(0, 25, 3)]
    kept = [path for _, path in backups.existing()]
    assert kept == [made[6], made[8]] and made[8] is not None
    assert sorted(path.name for path in (tmp_path / "backups").iterdir()) == sorted(
        [*(path.name for path in kept), *(secret_backup_path(path).name for path in kept)]
    )
    assert made[8].stat().st_mode & 0o777 == secret_backup_path(made[8]).stat().st_mode & 0o777 == 0o600


async def test_14_7_neither_a_restart_nor_a_clock_set_back_spoils_the_schedule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(data=tmp_path, backup_hours=24)
    async with await open_store(tmp_path / "railpost.db") as store:
        assert await ScheduledBackups(store, settings).back_up_if_due(NOON)
        assert not await ScheduledBackups(store, settings).back_up_if_due(NOON + timedelta(hours=23))
        assert await ScheduledBackups(store, settings).back_up_if_due(NOON - timedelta(hours=30))
        (tmp_path / "backups" / "railpost-mine.db").write_text("of somebody")
        assert len(ScheduledBackups(store, settings).existing()) == 2
        monkeypatch.setattr("bot.operations.backups.KEPT", 1)
        made = await ScheduledBackups(store, settings).back_up_if_due(NOON - timedelta(hours=5))
        assert [path for _, path in ScheduledBackups(store, settings).existing()] == [made]


async def test_14_7_a_restore_is_rehearsed(tmp_path: Path) -> None:
    """The scheduled backup, restored into an empty folder, is whole, and the game is played on."""
    settings = Settings(data=tmp_path / "old")
    settings.data.mkdir()
    async with await open_store(settings.database_url) as store:
        service = Service(store)
        async with store.begin() as unit:
            people = {name: (await unit.people.add(name)).id for name in NAMES}
        info = await started(service, people)
        await service.submit(info.id, 0, ["buy SV"], None, "r1")
        made = await ScheduledBackups(store, settings).back_up_if_due(store.now())
        log = await service.queries.log(info.id)
    assert made is not None
    assert await restore(made, tmp_path / "new" / "railpost.db") is None
    async with await open_store(tmp_path / "new" / "railpost.db") as store:
        assert [problem async for problem in problems(store)] == []
        service = Service(store)
        assert await service.queries.log(info.id) == log
        assert await service.submit(info.id, 0, ["buy SV"], None, "r1") == await service.submit(
            info.id, 0, ["buy SV"], None, "r1"
        )
        assert isinstance(await service.submit(info.id, 1, ["buy CS"], None, "r2"), Completed)


async def test_a_backup_without_its_mail_secret_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "mail-secret").write_text("s" * 64)
    async with await open_store(tmp_path / "railpost.db") as store:
        backups = ScheduledBackups(store, Settings(data=tmp_path))
        with monkeypatch.context() as meanwhile, pytest.raises(OSError, match="No space left"):
            meanwhile.setattr("bot.operations.backups.write_whole", full)
            await backups.back_up_if_due(NOON)
        assert not list((tmp_path / "backups").iterdir())
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr("bot.operations.backups.write_whole", full)
            meanwhile.setenv("RAILPOST_DATA", str(tmp_path))
            app = app_for(["backup"])
            code = await asyncio.to_thread(run_command, partial(app, ["backup", str(tmp_path / "mine.db")]))
        assert code == 1 and not list(tmp_path.glob("*mine.db*"))
        made = await backups.back_up_if_due(NOON + timedelta(minutes=1))
    assert made and secret_backup_path(made).read_text() == "s" * 64


def test_a_restored_mail_secret_takes_the_place_of_another_only(tmp_path: Path) -> None:
    (data := tmp_path / "data").mkdir()
    (secret := data / "mail-secret").write_text("ours")
    secret_backup_path(saved := tmp_path / "saved.db").write_text("ours")
    before = secret.stat().st_ino
    restore_mail_secret(saved, data)
    assert secret.stat().st_ino == before, "its owner is still the service's user, also where root restores"
    secret_backup_path(saved).write_text("theirs")
    restore_mail_secret(saved, data)
    assert sorted(each.read_text() for each in data.iterdir()) == ["ours", "theirs"]
    assert secret.read_text() == "theirs" and secret.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("hours", [0])
async def test_14_7_no_schedule_is_a_setting_too(tmp_path: Path, hours: float) -> None:
    async with await open_store(tmp_path / "railpost.db") as store:
        await ScheduledBackups(store, Settings(data=tmp_path, backup_hours=hours)).run()
    assert not (tmp_path / "backups").exists()


async def test_14_7_backups_that_fail_are_in_the_status_and_once_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """No restart helps, so it is no reason for one."""
    monkeypatch.setattr("bot.operations.backups.CHECK_INTERVAL", 0)
    attempts, seconds = set(), itertools.count()

    class Counted(ScheduledBackups):
        def _note_failure(self, error: Exception) -> None:
            attempts.add(str(error))
            super()._note_failure(error)

    def now() -> datetime:
        return NOON + timedelta(seconds=next(seconds))

    async with await open_store(tmp_path / "railpost.db", now=now) as store:
        (tmp_path / "backups").write_text("a file in the way")
        backups = Counted(store, parse_settings({"RAILPOST_DATA": str(tmp_path)}))
        monitor = StatusMonitor(Service(store), (), ErrorCounter(), backups)
        running = asyncio.ensure_future(backups.run())
        async with asyncio.timeout(60):
            while len(attempts) < 3:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        report = await monitor.report()
        assert report.is_healthy and report.verdict == "degraded" and report.last_backup is None
        (told,) = report.troubles
        assert told.startswith("No backup could be made since ") and told.endswith(" UTC: " + reason(caplog))
        (tmp_path / "backups").unlink()
        async with asyncio.timeout(60):
            while backups.trouble:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        running.cancel()
        report = await monitor.report()
        assert report.verdict == "healthy" and report.last_backup is not None
        assert "last backup on schedule: " in status_text(report)


def reason(caplog: pytest.LogCaptureFixture) -> str:
    """Why no backup was made, which the log has once."""
    begin = "no backup could be made: "
    (told,) = [r.getMessage().removeprefix(begin) for r in caplog.records if r.getMessage().startswith(begin)]
    return told
