"""The SMTP delivery worker: leases emails that are due, sends each, and reports the outcome.

One connection serves many emails. While the server cannot be reached, the emails wait and no attempt is
counted. An email that fails is retried on a schedule with jitter, for two days; the same bytes with
the same Message-ID are sent each time, so that a second copy is recognised. A 5xx response is final,
unless it says that the server has something against us: such an email is held and tried every hour.
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

from mail.bounces import classify
from mail.imap import is_loopback
from mail.port import DueMail, MailOutbox
from mail.reply_address import normalize_address, redact

log = logging.getLogger(__name__)

RETRY_SCHEDULE = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 240))
MAX_RETRY_AGE = timedelta(days=2)
HELD_RETRY = timedelta(hours=1)  # for what the operator has to mend


@dataclass(frozen=True)
class SmtpAccount:
    """The SMTP server. security: TLS from the first byte, STARTTLS (required), or none, on this machine only.

    Raises ValueError for a connection without TLS to another machine.
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
                f"SMTP without TLS is allowed to this machine only; {self.host} needs tls or starttls."
            )


def retry_at(attempts: int, created_at: datetime, now: datetime, jitter: float) -> datetime | None:
    """When to retry after a failure, None for never. attempts: failures before it. jitter: 0 to 1."""
    wait = RETRY_SCHEDULE[min(attempts, len(RETRY_SCHEDULE) - 1)]
    retry = now + wait * (1 + 0.2 * jitter)
    return retry if retry <= created_at + MAX_RETRY_AGE else None


class SmtpDeliveryWorker:
    """Runs until it is cancelled: `await SmtpDeliveryWorker(account, outbox).run()`.

    Call `wake` after an email was put into the outbox. poll: seconds between checks of the outbox without
    `wake`. spacing: seconds between two emails to the same domain. last_delivery: when the server last
    accepted an email.
    """

    def __init__(
        self,
        account: SmtpAccount,
        outbox: MailOutbox,
        *,
        poll: float = 15.0,
        spacing: float = 1.0,
        timeout: float = 30.0,
        first_retry: float = 1.0,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._account = account
        self._outbox = outbox
        self._poll = poll
        self._spacing = spacing
        self._timeout = timeout
        self._first_retry = first_retry
        self._now = now
        self._wake_event = asyncio.Event()
        # When the next email to a domain may be sent, by the clock of the event loop.
        self._domain_free_at: dict[str, float] = {}
        self._smtp: aiosmtplib.SMTP | None = None
        self.last_delivery: datetime | None = None

    def wake(self) -> None:
        """Check the outbox now."""
        self._wake_event.set()

    async def run(self) -> None:
        """Deliver until cancelled."""
        try:
            while True:
                self._wake_event.clear()
                try:
                    busy = await self.deliver_due()
                except Exception:
                    log.exception("outbox: the delivery failed; another attempt follows")
                    busy = False
                if not busy:
                    await self._close()
                    _raise_if_cancelled()
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(self._poll):
                            await self._wake_event.wait()
        finally:
            if self._smtp is not None:
                self._smtp.close()  # no QUIT: it might wait behind a cancelled command

    async def deliver_due(self) -> bool:
        """Send all emails that are due; returns whether there were any."""
        mails = list(await self._outbox.lease_due(50))
        had_mail = bool(mails)
        while mails:
            # The email whose domain is free first.
            mail = min(mails, key=lambda mail: self._domain_free_at.get(_domain(mail.recipient), 0.0))
            mails.remove(mail)
            await self._wait_for_domain(_domain(mail.recipient))
            await self._deliver(mail)
            _raise_if_cancelled()
        return had_mail

    async def _wait_for_domain(self, domain: str) -> None:
        clock = asyncio.get_running_loop().time
        await asyncio.sleep(max(0.0, self._domain_free_at.get(domain, 0.0) - clock()))
        self._domain_free_at = {name: free for name, free in self._domain_free_at.items() if free > clock()}
        self._domain_free_at[domain] = clock() + self._spacing

    async def _deliver(self, mail: DueMail) -> None:
        try:
            normalize_address(mail.recipient), normalize_address(mail.envelope_sender)
        except ValueError as error:
            await self._outbox.mark_failed(mail, str(error), None, True)
            return
        smtp = await self._connected()
        try:
            await smtp.sendmail(mail.envelope_sender, [mail.recipient], mail.raw)
        except aiosmtplib.SMTPRecipientsRefused as refused:
            await self._refused(mail, refused.recipients, recipient=True)
        except aiosmtplib.SMTPResponseException as refused:
            await self._refused(mail, [refused], recipient=False)
        except (aiosmtplib.SMTPException, OSError, ValueError) as error:
            # The server may have the email or not: it gets the same one again.
            await self._close()
            await self._retry_later(mail, f"{type(error).__name__}: {error}", recipient=False)
        else:
            self.last_delivery = self._now()
            await self._outbox.mark_sent(mail)

    async def _refused(
        self, mail: DueMail, refusals: Sequence[aiosmtplib.SMTPResponseException], recipient: bool
    ) -> None:
        refusal = refusals[0]
        reason = f"{refusal.code} {refusal.message}"
        if refusal.code >= 500 and classify(reason) == "operator":
            # What the server has against us is no fault of the recipient: the email waits until it is mended.
            log.error("outbox: refused: %s; the email is held", redact(reason))
            await self._outbox.mark_failed(mail, reason, self._now() + HELD_RETRY, False)
        elif refusal.code >= 500:
            log.warning("outbox: refused for good: %s", redact(reason))
            await self._outbox.mark_failed(mail, reason, None, recipient)
        else:
            await self._retry_later(mail, reason, recipient)
        if refusal.code == 421:
            await self._close()

    async def _retry_later(self, mail: DueMail, reason: str, recipient: bool) -> None:
        retry = retry_at(mail.attempts, mail.created_at, self._now(), random.random())
        log.info("outbox: %s; %s", redact(reason), f"again at {retry:%H:%M}" if retry else "given up")
        await self._outbox.mark_failed(mail, reason, retry, recipient)

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
    """aiosmtplib uses `wait_for`, which before Python 3.12 may lose a cancellation."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _domain(address: str) -> str:
    return address.rpartition("@")[2].casefold()
