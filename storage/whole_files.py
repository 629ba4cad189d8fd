"""Files that are written whole, or not at all."""

import errno
import os
from contextlib import suppress
from pathlib import Path

MOUNTED_ALONE = (errno.EBUSY, errno.EROFS, errno.EACCES)
"""Why a file beside another, or in its place, may be refused where that one can be written."""


def write_whole(path: Path, content: bytes, mode: int | None = None) -> None:
    """Write a file that gets its name when it is complete: a full disk or a kill leaves what was there.
    Its folder is created. A file that is mounted alone has no other name: it is written in place.

    mode: that of the file; by default that of the former file. Raises OSError with the name of the file.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():  # a pipe or a device has no parts
            path.write_bytes(content)
            return
        path = path.resolve()
        if mode is None:
            mode = path.stat().st_mode & 0o777 if path.exists() else 0o666
        part = path.with_name(f".{path.name}.part")
        try:
            part.unlink(missing_ok=True)
            with open(part, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
                file.write(content)
            part.replace(path)
        except OSError as error:
            if error.errno not in MOUNTED_ALONE or not path.is_file():
                raise
            path.write_bytes(content)
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
