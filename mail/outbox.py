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

from .address import addr_spec, redact
from .desk import Due, Pouch
from .imap import is_loopback

log = logging.getLogger(__name__)

SCHEDULE = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 240))
PATIENCE = timedelta(days=2)


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
    wait = SCHEDULE[min(attempts, len(SCHEDULE) - 1)]
    then = now + wait * (1 + 0.2 * jitter)
    return then if then <= created + PATIENCE else None


class Courier:
    """Runs until it is cancelled: `await Courier(account, pouch).run()`; `wake` when a letter was put into
    the pouch.

    `poll` is how often the pouch is looked into unasked, `spacing` the time between two letters to one
    domain, both in seconds. `delivered` is when a letter was last taken.
    """

    def __init__(
        self,
        account: SmtpAccount,
        pouch: Pouch,
        *,
        poll: float = 15.0,
        spacing: float = 1.0,
        timeout: float = 30.0,
        first_retry: float = 1.0,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._account = account
        self._pouch = pouch
        self._poll = poll
        self._spacing = spacing
        self._timeout = timeout
        self._first_retry = first_retry
        self._now = now
        self._awake = asyncio.Event()
        self._free: dict[str, float] = {}  # when a domain may be served again, on the loop's clock
        self._smtp: aiosmtplib.SMTP | None = None
        self.delivered: datetime | None = None

    def wake(self) -> None:
        """There is something in the pouch."""
        self._awake.set()

    async def run(self) -> None:
        """Deliver for ever."""
        try:
            while True:
                self._awake.clear()
                try:
                    busy = await self.round()
                except Exception:
                    log.exception("outbox: the round failed; another follows")
                    busy = False
                if not busy:
                    await self._close()
                    _heed_cancellation()
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(self._poll):
                            await self._awake.wait()
        finally:
            if self._smtp is not None:
                self._smtp.close()  # no QUIT: it might wait behind a command that was cancelled

    async def round(self) -> bool:
        """Send what is due; returns whether anything was."""
        rows = list(await self._pouch.due(50))
        some = bool(rows)
        while rows:
            row = min(rows, key=lambda row: self._free.get(_domain(row.to), 0.0))  # the first of the freest
            rows.remove(row)
            await self._paced(_domain(row.to))
            await self._deliver(row)
            _heed_cancellation()
        return some

    async def _paced(self, domain: str) -> None:
        clock = asyncio.get_running_loop().time
        await asyncio.sleep(max(0.0, self._free.get(domain, 0.0) - clock()))
        self._free = {name: free for name, free in self._free.items() if free > clock()}
        self._free[domain] = clock() + self._spacing

    async def _deliver(self, row: Due) -> None:
        try:
            addr_spec(row.to), addr_spec(row.sender)
        except ValueError as error:
            await self._pouch.failed(row, str(error), None, True)
            return
        smtp = await self._connected()
        try:
            await smtp.sendmail(row.sender, [row.to], row.raw)
        except aiosmtplib.SMTPRecipientsRefused as refused:
            await self._failed(row, refused.recipients, recipient=True)
        except aiosmtplib.SMTPResponseException as refused:
            await self._failed(row, [refused], recipient=False)
        except (aiosmtplib.SMTPException, OSError, ValueError) as error:
            # The server may have the letter or not: it gets the same one again.
            await self._close()
            await self._put_off(row, f"{type(error).__name__}: {error}", recipient=False)
        else:
            self.delivered = self._now()
            await self._pouch.sent(row)

    async def _failed(
        self, row: Due, refusals: Sequence[aiosmtplib.SMTPResponseException], recipient: bool
    ) -> None:
        refusal = refusals[0]
        reason = f"{refusal.code} {refusal.message}"
        if refusal.code >= 500:
            log.warning("outbox: refused for good: %s", redact(reason))
            await self._pouch.failed(row, reason, None, recipient)
        else:
            await self._put_off(row, reason, recipient)
        if refusal.code == 421:
            await self._close()

    async def _put_off(self, row: Due, reason: str, recipient: bool) -> None:
        then = retry_at(row.attempts, row.created, self._now(), random.random())
        log.info("outbox: %s; %s", redact(reason), f"again at {then:%H:%M}" if then else "given up")
        await self._pouch.failed(row, reason, then, recipient)

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


def _heed_cancellation() -> None:
    """aiosmtplib waits by `wait_for`, which before Python 3.12 forgets a cancellation that comes with the
    answer.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _domain(address: str) -> str:
    return address.rpartition("@")[2].casefold()
