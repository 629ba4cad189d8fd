"""The data folder belongs to the service alone: folders 0700, files 0600, whatever the umask and the past."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

log = logging.getLogger(__name__)

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
            log.error("for the operator: the mode of %s cannot be set: %s", path, error.strerror)


def _own_paths(data: Path) -> Iterator[Path]:
    yield data
    for pattern in OWN_FILES:
        yield from data.glob(pattern)
    for name in OWN_FOLDERS:
        if (folder := data / name).is_dir():
            yield folder
            yield from folder.rglob("*")
