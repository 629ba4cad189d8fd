"""The log: readable lines or JSON, and never a secret; what is expected to go wrong is a sentence."""

from __future__ import annotations

import errno
import logging
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from time import gmtime, monotonic
from urllib.parse import quote

import msgspec
from pydantic import SecretStr

from bot.config import MailServer, Settings
from storage import StoreError
from storage.errors import NO_ANSWER

FOR_OPERATOR = "for the operator"
"""The logger of what the operator has to put right."""
READABLE = "%(asctime)s %(levelname)s %(name)s: %(message)s"
SHORTEST_SECRET = 4
"""Characters; a shorter password would be blotted out of ordinary words."""


def secrets_of(settings: Settings) -> list[str]:
    """Every secret of the settings, longest first."""
    values = [getattr(settings, name) for name in type(settings).model_fields]
    found = [value for value in values if isinstance(value, SecretStr)]
    found += [value.password for value in values if isinstance(value, MailServer)]
    texts = [each.get_secret_value() for each in found]
    if settings.database:
        from sqlalchemy import make_url

        texts.append(make_url(settings.database.get_secret_value()).password or "")
    written = {form for text in texts if len(text) >= SHORTEST_SECRET for form in _as_written(text)}
    return sorted(written, key=len, reverse=True)


def _as_written(secret: str) -> set[str]:
    """A secret as it may stand in a text: as it is, in a URL, in an error that shows it with its quotes."""
    return {secret, quote(secret), quote(secret, safe=""), repr(secret)[1:-1]}


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """The text with stars for every secret."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text


class LogFormatter(logging.Formatter):
    """Formats records without secrets: as lines, or each as one line of JSON. Times are UTC, as in the
    status, whatever the zone of the machine."""

    converter = staticmethod(gmtime)
    default_msec_format = "%s,%03dZ"

    def __init__(self, secrets: Iterable[str] = (), *, as_json: bool = False) -> None:
        super().__init__(READABLE)
        self._secrets = tuple(secrets)
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """The record as text."""
        return self._json(record) if self._as_json else without_secrets(super().format(record), self._secrets)

    def _json(self, record: logging.LogRecord) -> str:
        """As JSON; its escapes would hide a secret, so secrets go before."""
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:  # a filter may have taken secrets out of its text
            fields["traceback"] = record.exc_text or self.formatException(record.exc_info)
        clean = {name: without_secrets(text, self._secrets) for name, text in fields.items()}
        return msgspec.json.encode(clean).decode()


DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}


def is_expected(error: BaseException | None) -> bool:
    """Whether it is a fault of the store or of the disk, and none of the program."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(is_expected, error.exceptions))
    return isinstance(error, StoreError) or (isinstance(error, OSError) and error.errno in DISK_ERRORS)


def expected_in_a_sentence(record: logging.LogRecord) -> bool:
    """A filter that gives records of expected faults their sentence in place of a traceback."""
    error = record.exc_info[1] if record.exc_info else None
    if is_expected(error):
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        record.msg, record.args = f"{record.getMessage()}: {error}", ()
        record.exc_info = record.exc_text = None
    return True


def is_not_about_voice(record: logging.LogRecord) -> bool:
    """A filter against discord.py's warnings at every start that calls need more packages."""
    return "voice will NOT be supported" not in record.getMessage()


OUTAGE_EVERY = 60.0
"""Seconds from one line about a database that does not answer to the next."""


class Outages:
    """A filter that lets one line a minute say that the database does not answer, from all who notice it."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._said_at = -OUTAGE_EVERY

    def __call__(self, record: logging.LogRecord) -> bool:
        """Whether to log a record; each handler asks, and gets the same answer."""
        if NO_ANSWER not in record.getMessage():
            return True
        if (said := getattr(record, "is_said", None)) is None:
            said = record.is_said = self._now() - self._said_at >= OUTAGE_EVERY
            if said:
                self._said_at = self._now()
                record.msg = f"{record.getMessage()} (the same is not said again for a minute)"
                record.args = ()
        return bool(said)


class LogFile(RotatingFileHandler):
    """The log in a file. While it cannot be written, standard error says so once."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=2_000_000, backupCount=3, encoding="utf-8")
        self._fails = self._has_failed = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, if the disk takes it."""
        self._fails = False
        super().emit(record)
        self._has_failed = self._fails

    def handleError(self, record: logging.LogRecord) -> None:
        """Say once that the disk does not take it."""
        error = sys.exc_info()[1]
        if not is_expected(error):
            super().handleError(record)
            return
        if not self._has_failed and sys.stderr:
            print(f"{self.baseFilename} cannot be written: {error}.", file=sys.stderr)
        self._fails = True


class PromptNotices(logging.Handler):
    """Prints above a prompt what the operator has to put right; the rest is in the file."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == FOR_OPERATOR:
            print(self.format(record), flush=True)


def configure_logging(settings: Settings, *, to_stderr: bool, more: Iterable[logging.Handler] = ()) -> None:
    """Log to `railpost.log` in the data folder, and to standard error; where a prompt is there, it shows what
    the operator has to put right."""
    formatter = LogFormatter(secrets_of(settings), as_json=settings.log_format == "json")
    path = settings.data / "railpost.log"
    shown = logging.StreamHandler() if to_stderr else PromptNotices()
    handlers: list[logging.Handler] = [LogFile(path), shown]
    if not (settings.discord or settings.mail):
        shown.setLevel(logging.WARNING)
    for handler in handlers:
        handler.setFormatter(formatter)
    handlers += more
    outages = Outages()
    for handler in handlers:
        handler.addFilter(expected_in_a_sentence)
        handler.addFilter(outages)
    logging.basicConfig(level=settings.log_level.upper(), handlers=handlers, force=True)
    logging.getLogger("discord.client").addFilter(is_not_about_voice)
    for noisy in ("alembic", "aiohttp.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
