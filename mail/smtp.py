"""The courier: takes letters that are due, sends each in a transaction of its own, and says what became of
it.

One connection serves many letters. A server that cannot be reached is nobody's fault: the letters wait
untouched while the courier tries again. What fails for one letter is put off by a schedule with jitter, for
two days; the same bytes with the same Message-ID go out each time, so that a copy which did arrive is
recognised. 5xx is final; at RCPT it means the address.
"""

import asyncio
import contextlib
import logging
import random
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal

import aiosmtplib
import stamina

from mail.imap import is_loopback
from mail.port import DueMail, MailOutbox
from mail.reply_address import normalize_address, redact

log = logging.getLogger(__name__)

RETRY_SCHEDULE = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 240))
MAX_RETRY_AGE = timedelta(days=2)


@dataclass(frozen=True)
class SmtpAccount:
    """Where letters are handed in: TLS from the first byte, STARTTLS (required), or none on this machine.

    Raises ValueError for plain text to another machine.
    """

    host: str
    port: int = 465
    user: str = ""
    password: str = field(default="", repr=False)
    security: Literal["tls", "starttls", "none"] = "tls"
    context: ssl.SSLContext | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.security == "none" and not is_loopback(self.host):
            raise ValueError(
                f"SMTP without TLS is for this machine alone; {self.host} needs tls or starttls."
            )


def retry_at(attempts: int, created: datetime, now: datetime, jitter: float) -> datetime | None:
    """When to try again after one more failure; `attempts` failed before it, `jitter` is 0 to 1; None: give
    up.
    """
    wait = RETRY_SCHEDULE[min(attempts, len(RETRY_SCHEDULE) - 1)]
    then = now + wait * (1 + 0.2 * jitter)
    return then if then <= created + MAX_RETRY_AGE else None


class SmtpDeliveryWorker:
    """Runs until it is cancelled: `await Courier(account, pouch).run()`; `wake` when a letter was put into
    the pouch.

    `poll` is how often the pouch is looked into unasked, `spacing` the time between two letters to one
    domain, both in seconds. `delivered` is when a letter was last taken.
    """

    def __init__(
        self,
        account: SmtpAccount,
        pouch: MailOutbox,
        *,
        poll: float = 15.0,
        spacing: float = 1.0,
        timeout: float = 30.0,
        first_retry: float = 1.0,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._account = account
        self._outbox = pouch
        self._poll = poll
        self._spacing = spacing
        self._timeout = timeout
        self._first_retry = first_retry
        self._now = now
        self._wake_event = asyncio.Event()
        self._domain_free_at: dict[str, float] = {}  # when a domain may be served again, on the loop's clock
        self._smtp: aiosmtplib.SMTP | None = None
        self.last_delivery: datetime | None = None

    def wake(self) -> None:
        """There is something in the pouch."""
        self._wake_event.set()

    async def run(self) -> None:
        """Deliver for ever."""
        try:
            while True:
                self._wake_event.clear()
                try:
                    busy = await self.deliver_due()
                except Exception:
                    log.exception("outbox: the round failed; another follows")
                    busy = False
                if not busy:
                    await self._close()
                    _raise_if_cancelled()
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(self._poll):
                            await self._wake_event.wait()
        finally:
            if self._smtp is not None:
                self._smtp.close()  # no QUIT: it might wait behind a command that was cancelled

    async def deliver_due(self) -> bool:
        """Send what is due; returns whether anything was."""
        rows = list(await self._outbox.lease_due(50))
        some = bool(rows)
        while rows:
            row = min(
                rows, key=lambda row: self._domain_free_at.get(_domain(row.recipient), 0.0)
            )  # the first of the freest
            rows.remove(row)
            await self._wait_for_domain(_domain(row.recipient))
            await self._deliver(row)
            _raise_if_cancelled()
        return some

    async def _wait_for_domain(self, domain: str) -> None:
        clock = asyncio.get_running_loop().time
        await asyncio.sleep(max(0.0, self._domain_free_at.get(domain, 0.0) - clock()))
        self._domain_free_at = {name: free for name, free in self._domain_free_at.items() if free > clock()}
        self._domain_free_at[domain] = clock() + self._spacing

    async def _deliver(self, row: DueMail) -> None:
        try:
            normalize_address(row.recipient), normalize_address(row.envelope_sender)
        except ValueError as error:
            await self._outbox.mark_failed(row, str(error), None, True)
            return
        smtp = await self._connected()
        try:
            await smtp.sendmail(row.envelope_sender, [row.recipient], row.raw)
        except aiosmtplib.SMTPRecipientsRefused as refused:
            await self._refused(row, refused.recipients, recipient=True)
        except aiosmtplib.SMTPResponseException as refused:
            await self._refused(row, [refused], recipient=False)
        except (aiosmtplib.SMTPException, OSError, ValueError) as error:
            # The server may have the letter or not: it gets the same one again.
            await self._close()
            await self._retry_later(row, f"{type(error).__name__}: {error}", recipient=False)
        else:
            self.last_delivery = self._now()
            await self._outbox.mark_sent(row)

    async def _refused(
        self, row: DueMail, refusals: Sequence[aiosmtplib.SMTPResponseException], recipient: bool
    ) -> None:
        refusal = refusals[0]
        reason = f"{refusal.code} {refusal.message}"
        if refusal.code >= 500:
            log.warning("outbox: refused for good: %s", redact(reason))
            await self._outbox.mark_failed(row, reason, None, recipient)
        else:
            await self._retry_later(row, reason, recipient)
        if refusal.code == 421:
            await self._close()

    async def _retry_later(self, row: DueMail, reason: str, recipient: bool) -> None:
        then = retry_at(row.attempts, row.created_at, self._now(), random.random())
        log.info("outbox: %s; %s", redact(reason), f"again at {then:%H:%M}" if then else "given up")
        await self._outbox.mark_failed(row, reason, then, recipient)

    # --- the connection ---

    async def _connected(self) -> aiosmtplib.SMTP:
        if self._smtp is not None and self._smtp.is_connected:
            return self._smtp
        async for attempt in stamina.retry_context(
            on=(aiosmtplib.SMTPException, OSError),
            attempts=None,
            timeout=None,
            wait_initial=self._first_retry,
            wait_max=300.0,
            wait_jitter=self._first_retry,
        ):
            with attempt:
                self._smtp = await self._open()
                return self._smtp
        raise AssertionError("unreachable: the attempts never end")

    async def _open(self) -> aiosmtplib.SMTP:
        account = self._account
        smtp = aiosmtplib.SMTP(
            hostname=account.host,
            port=account.port,
            username=account.user or None,
            password=account.password or None,
            use_tls=account.security == "tls",
            start_tls=account.security == "starttls",
            tls_context=account.context,
            timeout=self._timeout,
        )
        try:
            await smtp.connect()
        except (aiosmtplib.SMTPException, OSError) as error:
            log.error("outbox: %s:%d cannot be used: %s", account.host, account.port, error)
            smtp.close()
            raise
        return smtp

    async def _close(self) -> None:
        smtp, self._smtp = self._smtp, None
        if smtp is not None and smtp.is_connected:
            with contextlib.suppress(aiosmtplib.SMTPException, OSError):
                async with asyncio.timeout(5.0):
                    await smtp.quit()
            smtp.close()


def _raise_if_cancelled() -> None:
    """aiosmtplib waits by `wait_for`, which before Python 3.12 forgets a cancellation that comes with the
    answer.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _domain(address: str) -> str:
    return address.rpartition("@")[2].casefold()
