"""The log: readable lines or JSON, and never a secret."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler

import msgspec
from pydantic import SecretStr

from bot.config import MailServer, Settings

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
    return sorted({text for text in texts if len(text) >= SHORTEST_SECRET}, key=len, reverse=True)


class LogFormatter(logging.Formatter):
    """Formats records without secrets: as lines, or each as one line of JSON."""

    def __init__(self, secrets: Iterable[str] = (), *, as_json: bool = False) -> None:
        super().__init__(READABLE)
        self._secrets = tuple(secrets)
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """The record as text."""
        text = self._json(record) if self._as_json else super().format(record)
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def _json(self, record: logging.LogRecord) -> str:
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(fields).decode()


def configure_logging(settings: Settings, *, to_stderr: bool, more: Iterable[logging.Handler] = ()) -> None:
    """Log to `railpost.log` in the data folder, and to standard error if there is no prompt."""
    formatter = LogFormatter(secrets_of(settings), as_json=settings.log_format == "json")
    path = settings.data / "railpost.log"
    handlers: list[logging.Handler] = [
        RotatingFileHandler(path, maxBytes=2_000_000, backupCount=3, encoding="utf-8")
    ]
    if to_stderr:
        handlers.append(logging.StreamHandler())
        if not (settings.discord or settings.mail):
            handlers[-1].setLevel(logging.WARNING)
    for handler in handlers:
        handler.setFormatter(formatter)
    logging.basicConfig(level=settings.log_level.upper(), handlers=[*handlers, *more], force=True)
    for noisy in ("alembic", "aiohttp.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
