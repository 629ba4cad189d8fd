"""The mail channel of the service: it watches the mailbox, composes notifications as emails, and sends them.

Theory of operation. The service puts notifications into the outbox, which say little. `StoredMailOutbox`
composes an email for each: in one transaction the notification is finished and the email takes its place,
with its bytes, its Message-ID and its tokens. From then on the email does not change, so sending it twice
does no harm; a crash before that transaction leaves no trace. An unsent email to a seat is replaced when the
seat gets a newer one.

`notice_pages` and `turn_pages` write the emails. What players write is handled in `policy`.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from bot.config import MailServer, Settings, load_mail_secret
from bot.email.hosts import NO_HOST
from bot.email.oauth import RefreshedTokens
from bot.email.pages.notice_pages import PageBuilder
from bot.email.policy import MailPolicy
from bot.email.reachability import Correspondents
from bot.email.replies.reply_limits import ReplyLimits
from bot.email.stored_mail import ASKED_ANEW, InboundMail, enqueue_mail, texts_together
from bot.hub.loading import operator_log
from bot.hub.notifications.due_messages import still_wanted
from bot.hub.notifications.messages import decode_notification
from bot.hub.people import fault_of
from bot.pictures.workers import PictureWorkers
from bot.service import Service
from mail.composing.compose import OutgoingMail, compose, readdressed
from mail.connecting import AccessTokens, MailAccount
from mail.inbox import DAY, InboxTiming, InboxWatcher, MailboxCaretaker, OperatorAlerts
from mail.reading.bounces import classify
from mail.reading.parser_process import ParserProcess
from mail.reply_address import ServiceAddress, TokenRedactionFilter, redact
from mail.smtp import DueMail, LeasedMails, SmtpDeliveryWorker, retry_at
from storage import OutboxMessage, UnitOfWork

log = logging.getLogger(__name__)

MAILBOX = "mailbox"  # the job of the one process that reads mail; others only send
TIDYING = "mailbox-tidying"
LEASE = timedelta(seconds=20)  # for which one worker has an outbox message
RETRY_DELAYS = (10, 60, 600, 3600)  # seconds between attempts to compose an email
REFUSED = re.compile(r"5\d\d\b")  # by a server, for good
HELD_RETRY = timedelta(hours=1)  # for what the operator has to repair
BATCH_SIZE = 10  # outbox messages at a time


@dataclass(frozen=True, slots=True)
class MailTiming:
    """Limits and intervals of the mail channel; tests use shorter ones.

    `inbox` and `limits` None follow the settings. `poll`: seconds between looks at the outbox.
    `spacing`: see `SmtpDeliveryWorker`.
    """

    limits: ReplyLimits | None = None
    inbox: InboxTiming | None = None
    poll: float = 15.0
    spacing: float = 1.0
    lease: timedelta = LEASE


async def run(
    service: Service, settings: Settings, pictures: PictureWorkers, *, timing: MailTiming = MailTiming()
) -> None:
    """Serve mail until cancelled. Raises ValueError with a sentence where no mail server is configured."""
    mail = settings.mail
    if mail is None:
        raise ValueError("Mail is not configured: RAILPOST_IMAP and RAILPOST_SMTP are not set.")
    key = load_mail_secret(settings)
    address = ServiceAddress(
        mail.address, key, mail.separator, unsubscribe_url=mail.unsubscribe_url,
        privacy_url=service.personal_data.settings.url,
    )  # fmt: skip
    arrivals, people = InboundMail(service, settings.data / "inbound_mail"), Correspondents(service)
    async with service.store.read() as unit:
        if mail.hosts == "verified" and not await unit.people.all_verified_addresses():
            print(NO_HOST, flush=True)
    outbox = StoredMailOutbox(service, people, address, pictures, timing.lease)
    connection = MailConnection(service, f"{mail.address} at {mail.imap.host}")
    tokens = RefreshedTokens(mail.oauth, settings.data) if mail.oauth else None
    worker = SmtpDeliveryWorker(
        mail_account(mail.smtp, tokens), outbox, poll=timing.poll, spacing=timing.spacing,
        renewal=timing.lease / timedelta(seconds=4),
        report=partial(connection.report, "SMTP"),
    )  # fmt: skip
    limits = timing.limits or ReplyLimits(mail.answers_per_hour, breaker_replies=10 * mail.answers_per_hour)
    policy = MailPolicy(service, pictures, address, people, key, hosts=mail.hosts, limits=limits)
    inbox = timing.inbox or InboxTiming()
    for handler in logging.getLogger().handlers:
        handler.addFilter(TokenRedactionFilter())
    async with ParserProcess(mail.authserv or "") as parser, asyncio.TaskGroup() as tasks:
        account, report = mail_account(mail.imap, tokens), partial(connection.report, "mailbox")
        warn = partial(connection.warn, "inbox")
        watcher = InboxWatcher(account, arrivals, policy.handle, parser, inbox, report, warn)
        standing_by = connection.standing_by
        tasks.create_task(service.jobs.lead(MAILBOX, [MAILBOX], watcher.run, standing_by))
        tasks.create_task(worker.run())
        alerts = OperatorAlerts()

        async def tidied(fullness: str) -> None:
            connection.warn("fullness", fullness)
            if fullness:
                alerts.send("full", f"{fullness[0].upper()}{fullness[1:]}.", DAY)
            if mail.keep_days:
                await arrivals.delete_before(timedelta(days=mail.keep_days))

        caretaker = MailboxCaretaker(account, mail.keep_days, tidied, service.personal_data)
        tasks.create_task(service.jobs.lead(TIDYING, [TIDYING], caretaker.run))
        tasks.create_task(wake_after_commits(service, worker))


async def wake_after_commits(service: Service, worker: SmtpDeliveryWorker) -> None:
    """Wake the delivery worker after every commit."""
    with service.subscribe() as wake_event:
        while True:
            await wake_event.wait()
            wake_event.clear()
            worker.wake()


class StoredMailOutbox:
    """The outbox for the delivery worker (`mail.smtp.MailOutbox`): notifications are composed when due."""

    def __init__(
        self,
        service: Service,
        people: Correspondents,
        address: ServiceAddress,
        pictures: PictureWorkers,
        lease: timedelta = LEASE,
    ) -> None:
        self._service = service
        self._store = service.store
        self._people = people
        self._address = address
        self._page_builder = PageBuilder(service, pictures)
        self._lease = lease
        self._now = service.store.now
        self._alerts = OperatorAlerts(self._now)

    async def lease_due(self, limit: int, full: Collection[str] = ()) -> LeasedMails:
        """Emails that are due, except to the domains that are full. Notifications that are due are composed
        first; their emails follow later."""
        not_to = [f"@{domain}" for domain in full]
        while True:
            async with self._store.begin(excludes_others=False) as unit:
                leased = await unit.outbox.lease_due("mail", min(limit, BATCH_SIZE), self._lease, not_to)
                rows = await still_wanted(unit, leased)
                next_due_at = await unit.outbox.next_due_at("mail")
            mails = [row for row in rows if "sender" in row.address]
            for row in rows:
                if "sender" not in row.address:
                    await self._compose(row)
                    next_due_at = self._now()
            if mails or not rows:
                return LeasedMails([_due_mail(row) for row in mails], next_due_at)

    async def renew_leases(self, mails: Sequence[DueMail]) -> frozenset[str]:
        """Renew the leases of emails that wait for their domain."""
        async with self._store.begin(excludes_others=False) as unit:
            return await unit.outbox.renew_leases({mail.id: mail.attempts + 1 for mail in mails}, self._lease)

    async def mark_sent(self, due: DueMail) -> None:
        """Record that the mail server has accepted an email."""
        async with self._store.begin(excludes_others=False) as unit:
            if row := await unit.outbox.get(due.id):
                await unit.outbox.mark_sent(row.idempotency_key, due.id)

    async def mark_failed(self, due: DueMail, reason: str, retry: datetime | None) -> None:
        """Record a failure; what a refusal says of the address, `mail.reading.bounces` knows. What may
        pass is tried again for days. What a server has against us is no fault of the recipient: the email
        waits until that is repaired.
        """
        kind = classify(reason)
        if retry is None and REFUSED.match(reason) and kind == "operator":
            retry = self._now() + HELD_RETRY
        elif retry is None and REFUSED.match(reason) and kind == "soft":
            retry = retry_at(due.attempts, due.created_at, self._now(), jitter=0.0)
        async with self._store.begin(excludes_others=False) as unit:
            if row := await unit.outbox.get(due.id):
                await unit.outbox.mark_failed(row.idempotency_key, reason, retry)
        if kind == "operator":
            text = f"The mail server refuses our emails, so they wait: {redact(reason)}."
            self._alerts.send("refused", text)
        elif retry is None:
            await self._people.recipient_refused(due.id, redact(reason))

    async def _enqueue(self, unit: UnitOfWork, mail: OutgoingMail, row: OutboxMessage) -> None:
        """Put a composed email into the outbox; one to an address that refuses emails waits there, unless its
        owner wants it to be tried (`claim`)."""
        refuses = "" if mail.reason == "claim" else await fault_of(unit, mail.recipient)
        if refuses and mail.reason in ASKED_ANEW:
            return
        await enqueue_mail(unit, mail, "notice", None if refuses else row.collapse_key)
        if refuses and (waiting := await unit.outbox.get(mail.message_id)):
            await unit.outbox.mark_failed(waiting.idempotency_key, refuses, None)

    async def _compose(self, row: OutboxMessage) -> None:
        """Replace a notification by its email; a notification that is out of date is only finished."""
        try:
            notification = decode_notification(row.payload)
            mail = None
            if built := await self._page_builder.build(row):
                page, token = built
                mail = await asyncio.to_thread(
                    compose, self._address, page, token, self._now(), notification.kind
                )
                if notification.kind == "lost":
                    mail = replace(mail, text=texts_together(notification.sentences))
            async with self._store.begin(excludes_others=False) as unit:
                current = await unit.outbox.get(row.idempotency_key)
                if current is None or current.status != "pending":
                    return
                await unit.outbox.mark_sent(row.idempotency_key, mail.message_id if mail else None)
                if mail:
                    await self._enqueue(unit, mail, row)
        except Exception as error:
            log.exception("outbox: a notification could not be composed as an email")
            failures = row.attempts - 1
            is_last = failures >= len(RETRY_DELAYS)
            again_at = None if is_last else self._now() + timedelta(seconds=RETRY_DELAYS[failures])
            async with self._store.begin(excludes_others=False) as unit:
                await unit.outbox.mark_failed(
                    row.idempotency_key, f"{type(error).__name__}: {error}", again_at
                )
            if is_last:
                operator_log.error("a notification could not be composed, and was given up")


def _due_mail(row: OutboxMessage) -> DueMail:
    return DueMail(
        row.idempotency_key,
        row.address["to"],
        row.address["sender"],
        readdressed(row.payload, row.address["to"]),
        row.attempts - 1,
        row.created_at,
    )


def mail_account(server: MailServer, tokens: AccessTokens | None = None) -> MailAccount:
    """A server of the settings. tokens: to log in with where no password is given."""
    password = server.password.get_secret_value()
    return MailAccount(
        server.host, server.port, server.user, password, server.tls,
        tokens=tokens if server.user and not password else None,
    )  # fmt: skip


class MailConnection:
    """Puts what the parts of the mail channel report together, for `railpost status` and `/health`."""

    def __init__(self, service: Service, account: str) -> None:
        """account: as whom mail is connected, and where."""
        self._service = service
        self._account = account
        self._problems: dict[str, str] = {}  # of each part that has reported
        self._warnings: dict[str, str] = {}
        self._reads = True

    def report(self, part: str, problem: str) -> None:
        """A part works (empty), or not and why. SMTP is tried only when there is something to send."""
        self._reads = self._reads or part == "mailbox"
        self._problems[part] = problem
        self._publish()

    def standing_by(self) -> None:
        """Another process reads the mailbox; this one sends."""
        self._problems.pop("mailbox", None)
        self._reads = False
        self._publish()

    def warn(self, about: str, text: str) -> None:
        """Mail works, but for something; empty when it is repaired."""
        self._warnings[about] = text
        self._publish()

    def _publish(self) -> None:
        problems = [f"{part}: {why}" for part, why in sorted(self._problems.items()) if why]
        if problems:
            self._service.report_connection("mail", "away", "; ".join(problems))
        elif not self._reads:
            detail = "another process reads the mailbox, and this one sends"
            self._service.report_connection("mail", "standing by", detail)
        elif "mailbox" in self._problems:
            warnings = " and ".join(filter(None, self._warnings.values()))
            detail = f"as {self._account}{f', but {warnings}' if warnings else ''}"
            self._service.report_connection("mail", "connected", detail)
