"""Connections to the SMTP server: a few at once, each used for many emails.

One task at a time opens a connection, and tries until it succeeds: while the server cannot be reached, all
others wait for the same attempt, and no email counts it. `ConnectionSlots` says which domains may use them.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import aiosmtplib
import stamina
from aiosmtplib.response import SMTPResponse

from mail.connecting import AccessTokens, MailAccount, TokenUnavailable, connection_fault


class TooSlow(Exception):
    """Others wait, and this domain has had its connection for too long."""


class ConnectionSlots:
    """Who may use a connection: at most `limit` users at once, at most half of them slow.

    Theory of operation. A domain is slow once an email has taken longer than `slow_after` seconds, until
    another takes less. All slow domains together have half of the connections, so they hold up each other and
    nobody else. A domain that turns out to be slow while others wait is cut off: `TooSlow` is raised in its
    block, and its email goes out again, in the share of the slow ones, where it has the whole time. Nobody is
    cut off once the text of the email is on its way: the server may have it, and it would arrive twice.
    """

    def __init__(self, limit: int, slow_after: float) -> None:
        self._slow_after = slow_after
        self._free = asyncio.Semaphore(limit)
        self._free_for_slow = asyncio.Semaphore(max(1, limit // 2))
        self._slow: set[str] = set()
        self._waiting = 0
        self._cut_at: dict[asyncio.Timeout, float] = {}  # of the users that may be cut off

    @asynccontextmanager
    async def taken(self, domain: str) -> AsyncIterator[None]:
        """A slot, as soon as there is one for this domain."""
        if domain in self._slow:
            async with self._free_for_slow, self._one():
                yield
        else:
            async with self._one():
                yield

    @asynccontextmanager
    async def _one(self) -> AsyncIterator[None]:
        self._waiting += 1
        self._schedule()
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
            self._schedule()
        try:
            yield
        finally:
            self._free.release()

    @asynccontextmanager
    async def timed(self, domain: str) -> AsyncIterator[Callable[[], None]]:
        """An email to the domain, in a slot. Raises TooSlow if it has to make room.

        The block calls what it gets before it sends the text; from then on it is not cut off.
        """
        clock = asyncio.get_running_loop().time
        begun, was_slow = clock(), domain in self._slow
        try:
            async with asyncio.timeout(None) as limit:
                try:
                    if not was_slow:
                        self._cut_at[limit] = begun + self._slow_after
                        self._schedule()
                    yield partial(self._keep, limit)
                finally:
                    self._cut_at.pop(limit, None)
        except TimeoutError:
            self._slow.add(domain)
            raise TooSlow from None
        finally:
            if clock() - begun >= self._slow_after:
                self._slow.add(domain)
            elif was_slow:
                self._slow.discard(domain)

    def _schedule(self) -> None:
        """Cut off who has been too long as soon as somebody waits; nobody while nobody does."""
        for limit, at in self._cut_at.items():
            if not limit.expired():  # else its user is being cut off, but does not know it yet
                limit.reschedule(at if self._waiting else None)

    def _keep(self, limit: asyncio.Timeout) -> None:
        if self._cut_at.pop(limit, None) is not None and not limit.expired():
            limit.reschedule(None)


log = logging.getLogger(__name__)


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


async def connect(account: MailAccount, timeout: float) -> SmtpConnection:
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
        account: MailAccount,
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
        retry = stamina.AsyncRetryingCaller(
            attempts=None,
            timeout=None,
            wait_initial=self._first_retry,
            wait_max=300.0,
            wait_jitter=self._first_retry,
        )
        async with self._opening:
            return await retry((aiosmtplib.SMTPException, OSError), self._connect)

    async def _connect(self) -> SmtpConnection:
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
