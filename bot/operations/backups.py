"""Backups on a schedule, a file in `backups/` of the data folder every so many hours, of which the newest
are kept; and the rights of all files there.

The time of the newest backup is in its name, so a service that is started often makes no more of them. The
mail secret is copied beside each, because replies to mail that is out need it. The data folder belongs to
the service alone: folders 0700, files 0600, whatever the umask and the past.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.config import Settings
from bot.hub.loading import operator_log
from storage import Store, StoreError, backup, write_whole

log = logging.getLogger(__name__)

FOLDER = "backups"
KEPT = 7
"""Backups on a schedule that are kept; older ones are deleted."""
NAME_FORMAT = "railpost-%Y%m%d-%H%M%S.db"
FILE_NAME = re.compile(r"/railpost-\d{8}-\d{6}\.db")
PARTS = ".*railpost*.part*"
"""What a backup or a restore leaves that is killed."""
CHECK_INTERVAL = 60.0  # seconds
MAIL_SECRET = "mail-secret"


def secret_backup_path(path: Path) -> Path:
    """The file of the mail secret that belongs to a backup."""
    return path.with_name(f"{path.name}.{MAIL_SECRET}")


async def back_up(store: Store | str, data: Path, path: Path) -> Path | None:
    """Copy a store to a new file, and the mail secret of its data folder beside it; the path of that copy,
    None if there is no secret. Raises what `storage.backup` raises, and OSError; then there is no backup."""
    await backup(store, path)
    try:
        return await asyncio.to_thread(copy_mail_secret, data, path)
    except OSError:
        path.unlink(missing_ok=True)  # it would count as a backup
        raise


def copy_mail_secret(data: Path, path: Path) -> Path | None:
    """Copy the mail secret of a data folder beside a backup; its path, None if there is no secret."""
    secret, copy = data / MAIL_SECRET, secret_backup_path(path)
    if not secret.is_file():
        return None
    write_whole(copy, secret.read_bytes(), FILE_MODE)
    return copy


def restore_mail_secret(path: Path, data: Path) -> None:
    """Put the mail secret beside a backup into a data folder. Another that is there is kept, with the time in
    its name."""
    copy, secret = secret_backup_path(path), data / MAIL_SECRET
    if not copy.is_file():
        return
    if secret.is_file():
        if secret.read_bytes() == copy.read_bytes():
            return  # the file stays its owner's, also where root restores
        secret.replace(secret.with_name(f"{MAIL_SECRET}.{datetime.now(UTC):%Y%m%d-%H%M%S}"))
    write_whole(secret, copy.read_bytes(), FILE_MODE)


def existing_backups(data: Path) -> list[tuple[datetime, Path]]:
    """The scheduled backups of a data folder with their times, oldest first."""
    found = []
    for path in (data / FOLDER).glob("railpost-*.db"):
        try:
            found.append((datetime.strptime(path.name, NAME_FORMAT).replace(tzinfo=UTC), path))
        except ValueError:
            continue  # a file that somebody else has put there is left alone
    return sorted(found)


class ScheduledBackups:
    """Makes the backups of a store in a file."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._data = settings.data
        self._interval = timedelta(hours=settings.backup_hours)
        self._failed_at: datetime | None = None
        self._reason = ""

    @property
    def trouble(self) -> str:
        """Why there are no new backups, in a sentence for the operator; empty where they are made."""
        if self._failed_at is None:
            return ""
        return f"No backup could be made since {self._failed_at:%Y-%m-%d %H:%M} UTC: {self._reason}"

    async def run(self) -> None:
        """Make each backup when it is due. Never returns."""
        if self._store.path is None or not self._interval:
            return
        while True:
            await asyncio.sleep(CHECK_INTERVAL)
            try:
                await self.back_up_if_due(self._store.now())
            except (StoreError, OSError) as error:
                self._note_failure(error)

    def _note_failure(self, error: Exception) -> None:
        """Tell the operator once for each reason; it is tried again every minute."""
        self._failed_at = self._failed_at or self._store.now()
        reason = FILE_NAME.sub("", str(error))  # each attempt has a name of its own
        if reason != self._reason:
            operator_log.error("no backup could be made: %s", reason)
        self._reason = reason

    def existing(self) -> list[tuple[datetime, Path]]:
        """The backups with their times, oldest first."""
        return existing_backups(self._data)

    async def back_up_if_due(self, now: datetime) -> Path | None:
        """Make a backup if the newest is old enough, and delete those beyond the number that is kept, and old
        parts."""
        existing = self.existing()
        # A backup of the future was made before the clock was set back; it does not count.
        if any(now - self._interval < made <= now for made, _ in existing):
            return None
        for left in (*self._data.glob(PARTS), *(self._data / FOLDER).glob(PARTS)):
            if datetime.fromtimestamp(left.stat().st_mtime, UTC) < now - self._interval:
                left.unlink(missing_ok=True)
        path = self._data / FOLDER / now.strftime(NAME_FORMAT)
        await back_up(self._store, self._data, path)
        log.info("backup written to %s", path)
        self._failed_at, self._reason = None, ""
        for _, old in sorted(self.existing(), key=lambda each: (each[0] <= now, each))[:-KEPT]:
            old.unlink(missing_ok=True)
            secret_backup_path(old).unlink(missing_ok=True)
        return path


FOLDER_MODE, FILE_MODE = 0o700, 0o600

# Only what Railpost has made is changed, because the data folder may hold other things too.
OWN_FILES = ("railpost.db*", "railpost.log*", "railpost.sock", "mail-secret*", "mail-refresh-token*")
OWN_FOLDERS = ("inbound_mail", "pictures", "games", "backups")


def make_private(data: Path) -> None:
    """Give the data folder and everything of Railpost in it its modes; new files get theirs by the umask."""
    os.umask(0o077)
    for path in _own_paths(data):
        mode = FOLDER_MODE if path.is_dir() else FILE_MODE
        try:
            if not path.is_symlink() and path.stat().st_mode & 0o777 != mode:
                path.chmod(mode)
        except OSError as error:
            operator_log.error("the mode of %s cannot be set: %s", path, error.strerror)


def _own_paths(data: Path) -> Iterator[Path]:
    yield data
    for pattern in OWN_FILES:
        yield from data.glob(pattern)
    for name in OWN_FOLDERS:
        if (folder := data / name).is_dir():
            yield folder
            yield from folder.rglob("*")
