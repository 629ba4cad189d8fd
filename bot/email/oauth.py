"""Access tokens for XOAUTH2, renewed at the provider's token endpoint by a refresh token (RFC 6749 §6).

Some providers replace the refresh token at each use. The newest one is kept in `mail-refresh-token` in the
data folder, with the hash of the one in the settings: an operator who sets another one starts anew.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import msgspec

from bot.config import OAuthSettings
from bot.hub.loading import operator_log
from mail.connecting import TokenUnavailable
from storage import write_whole

FILE_NAME = "mail-refresh-token"
TIMEOUT = aiohttp.ClientTimeout(total=20)
MARGIN = 120.0  # seconds before its end at which a token is no longer used
DEFAULT_LIFETIME = 600.0  # seconds, where the endpoint does not say


class _Answer(msgspec.Struct):
    """What the token endpoint answers (RFC 6749 §5.1, §5.2). expires_in: seconds."""

    access_token: str = ""
    refresh_token: str = ""
    expires_in: float = DEFAULT_LIFETIME
    error: str = ""
    error_description: str = ""


class _Kept(msgspec.Struct):
    """The file: the SHA-256 of the refresh token in the settings, and the newest one."""

    configured: str
    refresh_token: str


@dataclass(slots=True)
class _Current:
    token: str
    ends_at: float


class RefreshedTokens:
    """Access tokens for one mailbox (`mail.connecting.AccessTokens`). clock: seconds, monotonic."""

    def __init__(
        self, settings: OAuthSettings, data: Path, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._path = data / FILE_NAME
        self._clock = clock
        self._current: _Current | None = None
        self._unwritten = ""  # a refresh token that the disk has not taken; no other is valid any more
        self._lock = asyncio.Lock()

    async def token(self) -> str:
        """A token that is valid for some minutes. Raises TokenUnavailable."""
        async with self._lock:
            if self._current is None or self._clock() >= self._current.ends_at:
                answer = await self._ask()
                self._current = _Current(
                    answer.access_token, self._clock() + max(answer.expires_in - MARGIN, MARGIN)
                )
                self._unwritten = answer.refresh_token or self._unwritten
            if self._unwritten:
                self._keep(self._unwritten)
            return self._current.token

    def forget(self) -> None:
        """A server has refused the last token."""
        self._current = None

    async def _ask(self) -> _Answer:
        settings = self._settings
        form = {
            "grant_type": "refresh_token",
            "refresh_token": self._unwritten or self._stored(),
            "client_id": settings.client_id,
            "client_secret": settings.client_secret.get_secret_value(),
            "scope": settings.scope,
        }
        try:
            async with (
                aiohttp.ClientSession(timeout=TIMEOUT) as session,
                session.post(
                    settings.token_url, data={name: value for name, value in form.items() if value}
                ) as response,
            ):
                answer = msgspec.json.decode(await response.read(), type=_Answer)
        except (aiohttp.ClientError, OSError, TimeoutError, msgspec.DecodeError) as error:
            reason = str(error) or type(error).__name__
            raise TokenUnavailable(f"the token endpoint cannot be used: {reason}") from error
        if not answer.access_token:
            why = f"{answer.error} {answer.error_description}".strip() or f"HTTP {response.status}"
            raise TokenUnavailable(
                f"the token endpoint gives no access token ({why[:200]}); sign in again and set "
                "RAILPOST_OAUTH_REFRESH_TOKEN",
                is_refused=response.status < 500,
            )
        return answer

    # -- the refresh token -------------------------------------------------------------------

    @property
    def _configured_hash(self) -> str:
        return hashlib.sha256(self._settings.refresh_token.get_secret_value().encode()).hexdigest()

    def _stored(self) -> str:
        try:
            kept = msgspec.json.decode(self._path.read_bytes(), type=_Kept)
            if kept.configured == self._configured_hash:
                return kept.refresh_token
        except FileNotFoundError:
            pass
        except (OSError, msgspec.DecodeError) as error:
            operator_log.error("%s cannot be read: %s", self._path, error)
        return self._settings.refresh_token.get_secret_value()

    def _keep(self, refresh_token: str) -> None:
        """Store a refresh token that replaces the one before."""
        body = msgspec.json.encode(_Kept(self._configured_hash, refresh_token))
        try:
            if refresh_token != self._stored():
                write_whole(self._path, body, 0o600)
            self._unwritten = ""
        except OSError as error:
            operator_log.error(
                "%s cannot be written: %s. Put that right before the service ends: the "
                "provider takes only the newest token, which is in memory",
                self._path, error.strerror,
            )  # fmt: skip
