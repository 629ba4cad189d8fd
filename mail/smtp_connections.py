"""Connections to the SMTP server: a few at once, each used for many emails.

One task at a time opens a connection, and tries until it succeeds: while the server cannot be reached, all
others wait for the same attempt, and no email counts it.

A domain is slow once an email to it has taken longer than `slow_after` seconds, until another takes less. All
slow domains together have half of the connections, so they hold up each other and nobody else.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext

import aiosmtplib
import stamina

from mail.connecting import AccessTokens, MailAccount, TokenUnavailable, connection_fault

log = logging.getLogger(__name__)

MAX_CONNECTIONS = 5


def raise_if_cancelled() -> None:
    """aiosmtplib uses `wait_for`, which before Python 3.12 may lose a cancellation."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def connect(account: MailAccount, timeout: float) -> aiosmtplib.SMTP:
    """A connection that is logged in. Raises aiosmtplib.SMTPException or OSError."""
    smtp = aiosmtplib.SMTP(
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
    """At most `MAX_CONNECTIONS`. first_retry: seconds after which a failed attempt is repeated.
    slow_after: seconds for an email, from which on its domain is slow.

    report: is told why the server cannot be used, and an empty text when it can.
    """

    def __init__(
        self,
        account: MailAccount,
        timeout: float,
        first_retry: float,
        slow_after: float,
        report: Callable[[str], None] = lambda problem: None,
    ) -> None:
        self._account = account
        self._timeout = timeout
        self._first_retry = first_retry
        self._report = report
        self._slow_after = slow_after
        self._free = asyncio.Semaphore(MAX_CONNECTIONS)
        self._free_for_slow = asyncio.Semaphore(MAX_CONNECTIONS // 2)
        self._slow: set[str] = set()  # domains
        self._opening = asyncio.Lock()
        self._idle: list[aiosmtplib.SMTP] = []
        self._open: set[aiosmtplib.SMTP] = set()

    @asynccontextmanager
    async def use(self, domain: str) -> AsyncIterator[aiosmtplib.SMTP]:
        """A connection for one email to a domain; closed if the block raises or its user has closed it."""
        async with self._free_for_slow if domain in self._slow else nullcontext(), self._free:
            smtp = await self._take()
            begun = time.monotonic()
            try:
                yield smtp
            except BaseException:
                smtp.close()  # no QUIT: it might wait behind a cancelled command
                raise
            finally:
                self._slow.discard(domain)
                if time.monotonic() - begun >= self._slow_after:
                    self._slow.add(domain)
                if smtp.is_connected:
                    self._idle.append(smtp)
                else:
                    self._open.discard(smtp)

    async def _take(self) -> aiosmtplib.SMTP:
        while self._idle:
            smtp = self._idle.pop()
            if smtp.is_connected:
                return smtp
            self._open.discard(smtp)
        retry = stamina.AsyncRetryingCaller(
            attempts=None,
            timeout=None,
            wait_initial=self._first_retry,
            wait_max=300.0,
            wait_jitter=self._first_retry,
        )
        async with self._opening:
            return await retry((aiosmtplib.SMTPException, OSError), self._connect)

    async def _connect(self) -> aiosmtplib.SMTP:
        where = f"{self._account.host}:{self._account.port}"
        try:
            smtp = await connect(self._account, self._timeout)
        except (aiosmtplib.SMTPException, OSError) as error:
            raise_if_cancelled()  # else the attempts would never end
            why = connection_fault(error) or error
            log.error("outbox: %s cannot be used: %s", where, why)
            self._report(f"{where} cannot be used: {why}")
            raise
        self._report("")
        self._open.add(smtp)
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
