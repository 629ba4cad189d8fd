"""The SMTP delivery worker: leases emails that are due, sends each, and reports the outcome.

Theory of operation. Every recipient domain has a line of its own: its emails are sent in order, one at a
time, over one of a few connections (`SmtpConnections`); after the first few they are spaced. A line takes a
few emails at a time from the outbox; while it is full, the outbox is asked for the others. All emails that
wait in a line are leased, and the leases are renewed, so that no other worker takes them; an email that was
replaced meanwhile leaves its line.

While the server cannot be reached, the emails wait and no attempt is counted. An email that fails is retried
on a schedule with jitter, for two days; the same bytes with the same Message-ID are sent each time, so that
a second copy is recognised. A 5xx response is final here; the outbox may see that otherwise.
"""

import asyncio
import contextlib
import logging
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Protocol

import aiosmtplib
import stamina

from mail.connecting import AccessTokens, MailAccount, TokenUnavailable, connection_fault
from mail.reply_address import normalize_address, redact


@dataclass(frozen=True, slots=True)
class DueMail:
    """An email that is due now. attempts: those that failed. created_at: in UTC."""

    id: str
    recipient: str
    envelope_sender: str
    raw: bytes
    attempts: int
    created_at: datetime


class LeasedMails(NamedTuple):
    """Emails that were leased, oldest first.

    next_due_at: when another may be due (UTC), also one that a dead worker has; None without emails.
    """

    mails: Sequence[DueMail]
    next_due_at: datetime | None


class MailOutbox(Protocol):
    """The emails to be sent. An email is leased to one delivery worker at a time."""

    async def lease_due(self, limit: int, full: Collection[str] = ()) -> LeasedMails:
        """Lease the emails that are due. full: domains that get no more for now."""

    async def renew_leases(self, mails: Sequence[DueMail]) -> frozenset[str]:
        """Renew the leases of emails; returns the ids of those that are still ours and still wanted."""

    async def mark_sent(self, mail: DueMail) -> None:
        """The server has accepted the email."""

    async def mark_failed(self, mail: DueMail, reason: str, retry: datetime | None) -> None:
        """The server has not accepted the email: it is due again at this time (UTC), or refused (None)."""


log = logging.getLogger(__name__)

RETRY_SCHEDULE = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 240))
MAX_RETRY_AGE = timedelta(days=2)
BURST = 5  # emails to a domain that are not spaced: after an outage a turn waits behind receipts
LINE_LENGTH = 10  # emails in a line, above which no more are taken for its domain
LEASE_SIZE = 50  # emails that are taken at a time


def retry_at(attempts: int, created_at: datetime, now: datetime, jitter: float) -> datetime | None:
    """When to retry after a failure, None for never. attempts: failures before it. jitter: 0 to 1."""
    wait = RETRY_SCHEDULE[min(attempts, len(RETRY_SCHEDULE) - 1)]
    retry = now + wait * (1 + 0.2 * jitter)
    return retry if retry <= created_at + MAX_RETRY_AGE else None


SHORTEST_IDLE = 0.5
"""Seconds between two looks at the outbox where nothing could be taken."""


class SmtpDeliveryWorker:
    """Runs until it is cancelled: `await SmtpDeliveryWorker(account, outbox).run()`.

    Call `wake` after an email was put into the outbox. poll: seconds between checks of the outbox without
    `wake`. spacing: seconds between two emails to the same domain, after `BURST` that follow each other at
    once. renewal: seconds between renewals of the leases. report: see `SmtpConnections`.
    """

    def __init__(
        self,
        account: MailAccount,
        outbox: MailOutbox,
        *,
        poll: float = 15.0,
        spacing: float = 1.0,
        timeout: float = 30.0,
        first_retry: float = 1.0,
        renewal: float = 5.0,
        slow_after: float = 5.0,
        report: Callable[[str], None] = lambda problem: None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._outbox = outbox
        self._poll = poll
        self._spacing = spacing
        self._renewal = renewal
        self._now = now
        self._wake_event = asyncio.Event()
        self._connections = SmtpConnections(account, timeout, first_retry, slow_after, report)
        self._lines: dict[str, deque[DueMail]] = {}
        self._held: dict[str, DueMail] = {}  # all emails in a line, by id
        self._free_at: dict[str, float] = {}  # when a domain has its burst again, by the event loop's clock

    def wake(self) -> None:
        """Check the outbox now."""
        self._wake_event.set()

    async def run(self) -> None:
        """Deliver until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._renew_leases())
                while True:
                    self._wake_event.clear()
                    pause = await self._try_to_take(tasks)
                    if not self._lines:
                        await self._connections.quit_idle()
                    raise_if_cancelled()
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(pause):
                            await self._wake_event.wait()
        finally:
            self._connections.abort()

    # --- taking emails ---

    async def _try_to_take(self, tasks: asyncio.TaskGroup) -> float:
        """Take what is due; returns the seconds until there may be more, such as an email of a dead worker.

        Where nothing could be taken, only domains that are full may have some that are due; these are looked
        at when there is room.
        """
        try:
            has_found, due_at = await self._take_due(tasks)
        except Exception:
            log.exception("outbox: the emails that are due cannot be read; another attempt follows")
            return self._poll
        wait = self._poll if due_at is None else (due_at - self._now()).total_seconds()
        return min(max(wait, 0.0 if has_found else SHORTEST_IDLE), self._poll)

    async def _take_due(self, tasks: asyncio.TaskGroup) -> tuple[bool, datetime | None]:
        """Put emails that are due into their lines; returns whether there were any that are not full, and
        when another may be due."""
        full = [domain for domain, line in self._lines.items() if len(line) >= LINE_LENGTH]
        leased = await self._outbox.lease_due(LEASE_SIZE, full)
        found = [mail for mail in leased.mails if mail.id not in self._held]
        for mail in found:
            self._held[mail.id] = mail
            domain = _domain(mail.recipient)
            if domain not in self._lines:
                self._lines[domain] = deque()
                tasks.create_task(self._serve(domain))
            self._lines[domain].append(mail)
        return bool(found), leased.next_due_at

    async def _renew_leases(self) -> None:
        """Keep what waits in the lines; what is no longer ours, or no longer wanted, leaves them."""
        while True:
            await asyncio.sleep(self._renewal)
            mails = list(self._held.values())
            try:
                kept = await self._outbox.renew_leases(mails) if mails else frozenset()
            except Exception:
                log.exception("outbox: the leases cannot be renewed; another attempt follows")
                continue
            for mail in mails:
                if mail.id not in kept:
                    self._held.pop(mail.id, None)

    # --- one line ---

    async def _serve(self, domain: str) -> None:
        """Send what is in the line of a domain."""
        line = self._lines[domain]
        try:
            while line:
                await self._wait_for(domain)
                mail = line.popleft()
                if mail.id in self._held:
                    await self._send(mail)
                raise_if_cancelled()
        finally:
            del self._lines[domain]
            self.wake()  # there may be more than the line had room for

    async def _wait_for(self, domain: str) -> None:
        clock = asyncio.get_running_loop().time
        free_at = max(self._free_at.get(domain, 0.0), clock())
        await asyncio.sleep(max(0.0, free_at - (BURST - 1) * self._spacing - clock()))
        self._free_at = {name: free for name, free in self._free_at.items() if free > clock()}
        self._free_at[domain] = free_at + self._spacing

    async def _send(self, mail: DueMail) -> None:
        """Send an email; a fault of the outbox leaves it to its lease."""
        try:
            await self._deliver(mail)
        except Exception:
            log.exception("outbox: the delivery failed; another attempt follows")
        finally:
            self._held.pop(mail.id, None)

    async def _deliver(self, mail: DueMail) -> None:
        try:
            normalize_address(mail.recipient), normalize_address(mail.envelope_sender)
        except ValueError as error:
            await self._outbox.mark_failed(mail, str(error), None)
            return
        async with self._connections.use(_domain(mail.recipient)) as smtp:
            if mail.id not in self._held:  # replaced while it waited for the connection
                return
            try:
                await smtp.sendmail(mail.envelope_sender, [mail.recipient], mail.raw)
            except aiosmtplib.SMTPRecipientsRefused as refused:
                await self._refused(smtp, mail, refused.recipients[0])
            except aiosmtplib.SMTPResponseException as refused:
                await self._refused(smtp, mail, refused)
            except (aiosmtplib.SMTPException, OSError, ValueError) as error:
                # The server may have the email or not: it gets the same one again.
                smtp.close()
                await self._retry_later(mail, f"{type(error).__name__}: {error}")
            else:
                await self._outbox.mark_sent(mail)

    async def _refused(
        self, smtp: aiosmtplib.SMTP, mail: DueMail, refusal: aiosmtplib.SMTPResponseException
    ) -> None:
        reason = f"{refusal.code} {refusal.message}"
        if refusal.code >= 500:
            log.warning("outbox: refused: %s", redact(reason))
            await self._outbox.mark_failed(mail, reason, None)
        else:
            await self._retry_later(mail, reason)
        if refusal.code == 421:
            smtp.close()

    async def _retry_later(self, mail: DueMail, reason: str) -> None:
        retry = retry_at(mail.attempts, mail.created_at, self._now(), random.random())
        log.info("outbox: %s; %s", redact(reason), f"again at {retry:%H:%M}" if retry else "given up")
        await self._outbox.mark_failed(mail, reason, retry)


def _domain(address: str) -> str:
    return address.rpartition("@")[2].casefold()


# --- connections ---

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
    """A few connections to the server, `MAX_CONNECTIONS` at most, each used for many emails.

    One task at a time opens a connection, and tries until it succeeds: while the server cannot be reached,
    all others wait for the same attempt, and no email counts it. A domain is slow once an email to it has
    taken longer than `slow_after` seconds, until another takes less. All slow domains together have half of
    the connections, so they hold up each other and nobody else.

    first_retry: seconds after which a failed attempt is repeated. report: is told why the server cannot be
    used, and an empty text when it can.
    """

    def __init__(
        self,
        account: MailAccount,
        timeout: float,
        first_retry: float,
        slow_after: float,
        report: Callable[[str], None],
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
