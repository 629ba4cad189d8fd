"""Watches the mailbox: search, handle each mail, wait in IDLE, reconnect when the connection dies.

The folder is the state: a mail in the inbox is to be handled, whatever its flags, and is moved when its
outcome is stored. The bytes and the attempt are stored before the mail is parsed, the outcome before it is
moved. So after a crash at any point, at most one step is repeated, and the service then knows that it was
done already. A mail that fails three times, or kills its parser, goes to Quarantine, so that no other mail
waits for it.

`MailboxCaretaker` keeps the mailbox from filling up: mail that was dealt with is deleted after some days, and
a mailbox that is nearly full is reported. It has a connection of its own, once an hour, so the one that waits
for new mail is not disturbed.
"""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple, Protocol

import stamina

from mail.composing.compose import OutgoingMail
from mail.connecting import MailAccount
from mail.imap import (
    ConnectionLost,
    Folder,
    ImapConnection,
    LoginRefused,
    MailboxFull,
    MessageRefused,
    Quota,
    why_unreachable,
)
from mail.reading.parser import ParsedMail, unparsed
from mail.reading.parser_process import ParserFailed, ParserNotStarted, ParserProcess
from mail.reading.parts import MailProblem
from mail.reply_address import ReplyToken, redact

log = logging.getLogger(__name__)
operator_log = logging.getLogger("for the operator")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
REFUSED = (
    "The mail server refuses to show or to move an email in the inbox. It is tried again each minute, and no "
    "other email waits for it. The log has its UID: if the server does not recover, delete it by hand."
)
NOT_ERASED = (
    "The mail server refuses to show or to move an email that may be from a person whose data was erased. It "
    "is tried again each hour. If the server does not recover, delete it by hand, in the inbox too."
)
MAX_ALERTS = 1000  # of different kinds that are remembered


class OperatorAlerts:
    """Alerts the operator in the log, not more often than once in some time for each kind of alert."""

    def __init__(self, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._now = now
        self._last_sent: dict[str, datetime] = {}

    def send(self, kind: str, text: str, every: timedelta = HOUR) -> None:
        """Send an alert, unless one of this kind was sent within `every`."""
        last = self._last_sent.get(kind)
        if last is None or self._now() - last >= every:
            if len(self._last_sent) >= MAX_ALERTS:
                self._last_sent.clear()
            self._last_sent[kind] = self._now()
            operator_log.error("%s", text)


class Arrival(NamedTuple):
    """The number of attempts at a mail, this one included, and its folder if it has an outcome already."""

    attempts: int
    folder: Folder | None


class GatheredAnswer(NamedTuple):
    """An answer that is sent together with others later: to whom, and its text, the headline first."""

    token: ReplyToken
    text: str


@dataclass(frozen=True, slots=True)
class MailOutcome:
    """The outcome of a mail. `idempotency_key` is None where nothing was changed and there is no reply."""

    reason: str
    folder: Folder
    idempotency_key: str | None = None
    replies: tuple[OutgoingMail, ...] = ()
    gathered: GatheredAnswer | None = None


class Arrivals(Protocol):
    """Keeps emails that came in, and what came of them.

    Each takes effect once: an attempt is counted in a transaction of its own, before the mail is parsed, and
    the outcome is stored with its replies and their tokens in one.
    """

    async def record_arrival(self, digest: str, raw: bytes) -> Arrival:
        """Keep the bytes and count an attempt. digest: their SHA-256."""

    async def record_outcome(self, digest: str, outcome: MailOutcome) -> None:
        """Store the outcome, its replies and their tokens; no replies for a known `idempotency_key`.

        A gathered answer is sent within an hour, together with the others to the same seat.
        """


Handle = Callable[[ParsedMail], Awaitable[MailOutcome]]
"""Decides what an email does, carries that out, and says what it is answered. May be asked again after a
crash."""


@dataclass(frozen=True, slots=True)
class InboxTiming:
    """Times in seconds, sizes in bytes.

    preview_size: how much is fetched of a mail above `max_size`.
    """

    command_timeout: float = 20.0
    idle_timeout: float = 240.0
    failed_mail_retry: float = 60.0
    first_reconnect: float = 0.5
    max_reconnect: float = 60.0
    login_retry: float = 300.0
    max_size: int = 1_000_000
    preview_size: int = 256 * 1024
    max_attempts: int = 3


class InboxWatcher:
    """Runs until it is cancelled: `await InboxWatcher(account, arrivals, handle, parser).run()`.

    report: is told why the mailbox cannot be used, and an empty text when it can. warn: is told how many
    emails wait for another attempt, and an empty text when none does.
    """

    def __init__(
        self,
        account: MailAccount,
        arrivals: Arrivals,
        handle: Handle,
        parser: ParserProcess,
        timing: InboxTiming = InboxTiming(),
        report: Callable[[str], None] = lambda problem: None,
        warn: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._account = account
        self._arrivals = arrivals
        self._handle = handle
        self._parser = parser
        self._timing = timing
        self._report, self._warn = report, warn
        self._alerts = OperatorAlerts()
        self._first_uid = 1  # all mail with a lower UID is handled

    async def run(self) -> None:
        """Watch the mailbox until cancelled."""
        while True:
            imap, failed_uids = await self._connect_with_retries()
            try:
                while True:
                    await imap.wait_for_mail(
                        self._timing.failed_mail_retry if failed_uids else self._timing.idle_timeout
                    )
                    failed_uids = await self._process_all(imap, min(failed_uids, default=self._first_uid))
            except ConnectionLost as lost:
                log.warning("mailbox: %s; connecting again", lost)
            finally:
                await imap.close()

    async def _connect_with_retries(self) -> tuple[ImapConnection, list[int]]:
        """A connection after its first check, and the UIDs that failed; retried with growing delays."""
        retry = stamina.AsyncRetryingCaller(
            attempts=None,
            timeout=None,
            wait_initial=self._timing.first_reconnect,
            wait_max=self._timing.max_reconnect,
            wait_jitter=self._timing.first_reconnect,
        )
        return await retry(self._retry_delay, self._connect)

    def _retry_delay(self, error: Exception) -> bool | float:
        if isinstance(error, LoginRefused):
            return self._timing.login_retry
        if isinstance(error, ConnectionLost):
            account = self._account
            log.warning("mailbox: %s:%d cannot be used: %s; again soon", account.host, account.port, error)
        return isinstance(error, ConnectionLost)

    async def _connect(self) -> tuple[ImapConnection, list[int]]:
        try:
            imap = await ImapConnection.open(self._account, self._timing.command_timeout)
        except LoginRefused as refused:
            log.error("mailbox: %s", refused)
            self._report(str(refused))
            self._alerts.send("login", f"The mailbox cannot be opened: {refused}")
            raise
        except ConnectionLost as lost:
            why = await why_unreachable(self._account) or str(lost)
            self._report(f"{self._account.host}:{self._account.port} cannot be used: {why}")
            raise ConnectionLost(why) from lost
        try:
            failed_uids = await self._process_all(imap, 1)
            log.info("mail is attached as %s at %s", self._account.user, self._account.host)
            self._report("")
            return imap, failed_uids
        except BaseException:
            await imap.close()
            raise

    async def _process_all(self, imap: ImapConnection, first_uid: int) -> list[int]:
        """Handle every mail from this UID on; returns the UIDs of those that failed."""
        uids = await imap.uids(first_uid)
        failed_uids = []
        for number, uid in enumerate(uids):
            try:
                await self._process(imap, uid)
            except ConnectionLost:
                raise
            except ParserNotStarted as busy:
                log.warning("mailbox: %s; another attempt follows", busy)
                failed_uids.extend(uids[number:])
                break
            except MailboxFull:
                failed_uids.append(uid)
                full = "The mailbox is full, so mail that was dealt with stays in the inbox."
                self._alerts.send("full", full)
            except MessageRefused as refused:
                failed_uids.append(uid)
                log.warning("mailbox: the email with UID %d stays in the inbox: %s", uid, refused)
                self._alerts.send("refused", REFUSED, every=DAY)
            except ParserFailed:
                failed_uids.append(uid)
            except Exception:
                log.exception("mailbox: a mail could not be handled; it is tried again later")
                failed_uids.append(uid)
        self._first_uid = max(uids, default=first_uid - 1) + 1
        count = len(failed_uids)
        waiting = "1 email in it waits" if count == 1 else f"{count} emails in it wait"
        self._warn(f"{waiting} for another attempt; the log says why" if count else "")
        return failed_uids

    async def _process(self, imap: ImapConnection, uid: int) -> None:
        size = await imap.size(uid)
        if size is None:
            return
        partial = size > self._timing.max_size
        raw = await imap.fetch(uid, self._timing.preview_size if partial else None)
        if raw is None:
            return
        await self._parser.start()  # before the attempt counts: a busy machine spoils no mail
        digest = hashlib.sha256(raw).hexdigest()
        arrival = await self._arrivals.record_arrival(digest, raw)
        folder = arrival.folder
        if folder is None:
            outcome = await self._decide(raw, partial, arrival.attempts)
            await self._arrivals.record_outcome(digest, outcome)
            folder = outcome.folder
            log.info("mailbox: %s -> %s", redact(outcome.reason), folder)
        await imap.move(uid, folder)

    async def _decide(self, raw: bytes, partial: bool, attempts: int) -> MailOutcome:
        if attempts > 2 * self._timing.max_attempts:
            return MailOutcome("given up", Folder.QUARANTINE)  # not even a reply to it could be made
        problem = MailProblem.FAILED if attempts > self._timing.max_attempts else None
        if problem is None:
            try:
                mail = await self._parser.parse(raw, partial)
            except ParserFailed as unread:
                log.error("mailbox: %s", unread)
                if attempts < self._timing.max_attempts:
                    raise  # a busy machine ends a parser too
                problem = MailProblem.BROKEN
        if problem is not None:
            mail = unparsed(raw, problem)
        return await self._handle(replace(mail, is_repeated=attempts > 1))


NEARLY_FULL = 90  # percent
INTERVAL = 3600.0  # seconds
TIMEOUT = 60.0  # seconds for a command


class ErasedPeople(Protocol):
    """The people who want to be forgotten."""

    async def erased_addresses(self) -> list[str]:
        """The addresses whose mail is still to be deleted."""

    async def addresses_of_others(self) -> Collection[str]:
        """The addresses of everybody else."""

    async def mailbox_is_erased(self, addresses: Sequence[str]) -> None:
        """Their mail is deleted."""


class MailboxCaretaker:
    """Runs until it is cancelled. keep_days: for which mail stays after it was dealt with; 0 without an end.

    tidied: is called after each time with how full the mailbox is, in words; empty when there is room.
    erased: whose mail is deleted, whatever its age; None for nobody's.
    """

    def __init__(
        self,
        account: MailAccount,
        keep_days: int,
        tidied: Callable[[str], Awaitable[None]],
        erased: ErasedPeople | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._account = account
        self._keep_days = keep_days
        self._tidied = tidied
        self._erased = erased
        self._now = now
        self._deleted_before: date | None = None
        self._alerts = OperatorAlerts(now)

    async def run(self) -> None:
        """Look after the mailbox until cancelled."""
        while True:
            try:
                await self.tidy()
            except ConnectionLost as lost:
                why = await why_unreachable(self._account) or str(lost)
                log.warning("mailbox: it could not be tidied: %s", why)
            except LoginRefused as error:
                log.warning("mailbox: it could not be tidied: %s", error)
            except Exception:
                log.exception("mailbox: it could not be tidied; another attempt follows")
            await asyncio.sleep(INTERVAL)

    async def tidy(self) -> None:
        """Delete old mail that was dealt with, once for each day, then say how full the mailbox is."""
        imap = await ImapConnection.open(self._account, TIMEOUT)
        try:
            day = (self._now() - timedelta(days=self._keep_days)).date()
            if self._keep_days and day != self._deleted_before:
                for folder in Folder:
                    if count := await imap.delete_before(folder, day):
                        log.info("mailbox: %d emails from before %s are deleted from %s", count, day, folder)
                self._deleted_before = day
            if self._erased:
                await self._erase(imap, self._erased)
            await self._tidied(fullness(await imap.quota()))
        finally:
            await imap.close()

    async def _erase(self, imap: ImapConnection, people: ErasedPeople) -> None:
        of_others = await people.addresses_of_others()
        for address in await people.erased_addresses():
            is_deleted = all([await imap.delete_with(folder, address, of_others) for folder in Folder])
            if is_deleted and not await imap.is_in_inbox(address, of_others):
                await people.mailbox_is_erased([address])
            else:
                self._alerts.send("not erased", NOT_ERASED, every=DAY)


def fullness(quota: Quota | None) -> str:
    """What is to be said of a mailbox that is nearly full; empty for one with room."""
    if quota is None or quota.percent < NEARLY_FULL:
        return ""
    return (
        f"the mailbox is {quota.percent} % full ({quota.used} of {quota.limit} KiB), and without room "
        "players' emails bounce. Give it more room, or lower RAILPOST_MAIL_KEEP_DAYS"
    )
