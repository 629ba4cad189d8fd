"""Connections to the SMTP server: a few at once, each used for many emails.

One task at a time opens a connection, and tries until it succeeds: while the server cannot be reached, all
others wait for the same attempt, and no email counts it. `connection_slots` says which domains may use them.
"""

import asyncio
import contextlib
import logging
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import aiosmtplib
import stamina
from aiosmtplib.response import SMTPResponse

from mail.connection_slots import ConnectionSlots
from mail.credentials import AccessTokens, TokenUnavailable
from mail.imap import is_loopback

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SmtpAccount:
    """The SMTP server. security: TLS from the first byte, STARTTLS (required), or none, on this machine only.
    tokens: log in with access tokens (XOAUTH2), not with the password.

    Raises ValueError for a connection without TLS to another machine.
    """

    host: str
    port: int = 465
    user: str = ""
    password: str = field(default="", repr=False)
    security: Literal["tls", "starttls", "none"] = "tls"
    context: ssl.SSLContext | None = field(default=None, repr=False)
    tokens: AccessTokens | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.security == "none" and not is_loopback(self.host):
            raise ValueError(
                f"SMTP without TLS is allowed to this machine only; {self.host} needs tls or starttls."
            )


class SmtpConnection(aiosmtplib.SMTP):
    """A connection that calls `before_text` before it sends the text of an email."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.before_text: Callable[[], None] = lambda: None

    async def data(self, message: str | bytes, /, **options: Any) -> SMTPResponse:
        self.before_text()
        return await super().data(message, **options)


def raise_if_cancelled() -> None:
    """aiosmtplib uses `wait_for`, which before Python 3.12 may lose a cancellation."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def connect(account: SmtpAccount, timeout: float) -> SmtpConnection:
    """A connection that is logged in. Raises aiosmtplib.SMTPException or OSError."""
    smtp = SmtpConnection(
        hostname=account.host,
        port=account.port,
        username=None if account.tokens else account.user or None,
        password=None if account.tokens else account.password or None,
        use_tls=account.security == "tls",
        start_tls=account.security == "starttls",
        tls_context=account.context,
        timeout=timeout,
    )
    try:
        await smtp.connect()
        if account.tokens is not None:
            await _log_in_with_token(smtp, account.user, account.tokens)
    except BaseException:
        smtp.close()
        raise
    return smtp


async def _log_in_with_token(smtp: aiosmtplib.SMTP, user: str, tokens: AccessTokens) -> None:
    try:
        await smtp.auth_xoauth2(user, await tokens.token())
    except TokenUnavailable as error:
        raise aiosmtplib.SMTPException(str(error)) from error
    except aiosmtplib.SMTPAuthenticationError:
        tokens.forget()
        raise


class SmtpConnections:
    """At most `limit` connections. first_retry: seconds after which a failed attempt is repeated.
    slow_after: see `ConnectionSlots`.

    report: is told why the server cannot be used, and an empty text when it can.
    """

    def __init__(
        self,
        account: SmtpAccount,
        limit: int,
        timeout: float,
        first_retry: float,
        slow_after: float,
        report: Callable[[str], None] = lambda problem: None,
    ) -> None:
        self._account = account
        self._timeout = timeout
        self._first_retry = first_retry
        self._report = report
        self._slots = ConnectionSlots(limit, slow_after)
        self._opening = asyncio.Lock()
        self._idle: list[SmtpConnection] = []
        self._open: set[SmtpConnection] = set()

    @asynccontextmanager
    async def use(self, domain: str) -> AsyncIterator[aiosmtplib.SMTP]:
        """A connection for one email to the domain; closed if the block raises, or the caller has closed it.

        Raises TooSlow if the email has to make room for others.
        """
        async with self._slots.taken(domain):
            smtp = await self._take()
            try:
                async with self._slots.timed(domain) as smtp.before_text:
                    yield smtp
            except BaseException:
                smtp.close()  # no QUIT: it might wait behind a cancelled command
                raise
            finally:
                if smtp.is_connected:
                    self._idle.append(smtp)
                else:
                    self._open.discard(smtp)

    async def _take(self) -> SmtpConnection:
        while self._idle:
            smtp = self._idle.pop()
            if smtp.is_connected:
                return smtp
            self._open.discard(smtp)
        async with self._opening:
            async for attempt in stamina.retry_context(
                on=(aiosmtplib.SMTPException, OSError),
                attempts=None,
                timeout=None,
                wait_initial=self._first_retry,
                wait_max=300.0,
                wait_jitter=self._first_retry,
            ):
                with attempt:
                    smtp = await self._connect()
                    self._open.add(smtp)
                    return smtp
        raise AssertionError("unreachable: the attempts never end")

    async def _connect(self) -> SmtpConnection:
        where = f"{self._account.host}:{self._account.port}"
        try:
            smtp = await connect(self._account, self._timeout)
        except (aiosmtplib.SMTPException, OSError) as error:
            raise_if_cancelled()  # else the attempts would never end
            log.error("outbox: %s cannot be used: %s", where, error)
            self._report(f"{where} cannot be used: {error}")
            raise
        self._report("")
        return smtp

    async def quit_idle(self) -> None:
        """Take leave of the server on the connections that nobody uses."""
        idle, self._idle = self._idle, []
        for smtp in idle:
            self._open.discard(smtp)
            if smtp.is_connected:
                with contextlib.suppress(aiosmtplib.SMTPException, OSError):
                    async with asyncio.timeout(5.0):
                        await smtp.quit()
                smtp.close()

    def abort(self) -> None:
        """Drop all connections."""
        for smtp in self._open:
            smtp.close()
        self._open.clear()
        self._idle.clear()
