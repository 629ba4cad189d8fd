"""The mail channel of the service: it watches the mailbox, composes notifications as emails, and sends them.

`outbox` leases what is due and composes it, `notice_pages` and `turn_pages` write it, `gateway` handles what
players write.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from bot.config import MailServer, MailSettings, Settings, load_mail_secret
from bot.email.gateway import MailGateway
from bot.email.hosts import NO_HOST, has_hosts
from bot.email.oauth import RefreshedTokens
from bot.email.outbox import LEASE, StoredMailOutbox
from bot.pictures.workers import PictureWorkers
from bot.service import Service
from mail import (
    ImapAccount,
    InboxTiming,
    InboxWatcher,
    MailPolicy,
    ParserProcess,
    ReplyLimits,
    ServiceAddress,
    SmtpAccount,
    SmtpDeliveryWorker,
    TokenRedactionFilter,
)
from mail.credentials import AccessTokens
from mail.inbox import MailboxCaretaker
from mail.operator_alerts import DAY, OperatorAlerts

log = logging.getLogger(__name__)

MAILBOX = "mailbox"  # the job of the one process that reads mail; others only send
TIDYING = "mailbox-tidying"


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
    gateway = MailGateway(service, pictures, settings.data / "inbound_mail", key, mail.hosts)
    if mail.hosts == "verified" and not await has_hosts(service):
        print(NO_HOST, flush=True)
    outbox = StoredMailOutbox(service, gateway, address, pictures, timing.lease)
    connection = MailConnection(service, f"{mail.address} at {mail.imap.host}")
    tokens = RefreshedTokens(mail.oauth, settings.data) if mail.oauth else None
    worker = SmtpDeliveryWorker(
        smtp_account(mail.smtp, tokens), outbox, poll=timing.poll, spacing=timing.spacing,
        renewal=timing.lease / timedelta(seconds=4),
        report=partial(connection.report, "SMTP"),
    )  # fmt: skip
    limits = timing.limits or ReplyLimits(mail.answers_per_hour, breaker_replies=10 * mail.answers_per_hour)
    policy = MailPolicy(address, gateway, limits=limits)
    inbox = timing.inbox or InboxTiming()
    for handler in logging.getLogger().handlers:
        handler.addFilter(TokenRedactionFilter())
    async with ParserProcess(mail.authserv or "") as parser, asyncio.TaskGroup() as tasks:
        account, report = imap_account(mail, tokens), partial(connection.report, "mailbox")
        watcher = InboxWatcher(account, gateway, policy, parser, inbox, report)
        standing_by = connection.standing_by
        tasks.create_task(service.jobs.lead(MAILBOX, [MAILBOX], watcher.run, standing_by))
        tasks.create_task(worker.run())
        tidying = MailTidying(gateway, connection, mail.keep_days)
        caretaker = MailboxCaretaker(account, mail.keep_days, tidying.tidied, service.personal_data)
        tasks.create_task(service.jobs.lead(TIDYING, [TIDYING], caretaker.run))
        tasks.create_task(wake_after_commits(service, worker))


async def wake_after_commits(service: Service, worker: SmtpDeliveryWorker) -> None:
    """Wake the delivery worker after every commit."""
    with service.subscribe() as wake_event:
        while True:
            await wake_event.wait()
            wake_event.clear()
            worker.wake()


class MailTidying:
    """What is done once an hour with the mailbox: its fullness is reported, to the operator once a day, and
    our own copies are deleted."""

    def __init__(self, gateway: MailGateway, connection: MailConnection, keep_days: int) -> None:
        self._gateway, self._connection, self._keep_days = gateway, connection, keep_days
        self._alerts = OperatorAlerts(gateway.alert_operator, lambda: datetime.now(UTC))

    async def tidied(self, fullness: str) -> None:
        """Tell the operator that the mailbox is nearly full, and delete our copies."""
        self._connection.warn(fullness)
        if fullness:
            await self._alerts.send("full", f"{fullness[0].upper()}{fullness[1:]}.", DAY)
        if self._keep_days:
            await self._gateway.arrivals.delete_before(timedelta(days=self._keep_days))


def imap_account(mail: MailSettings, tokens: AccessTokens | None = None) -> ImapAccount:
    """The IMAP mailbox of the settings."""
    server = mail.imap
    return ImapAccount(
        server.host,
        server.user,
        server.password.get_secret_value(),
        server.port,
        server.tls != "plain",
        tokens=None if server.password.get_secret_value() else tokens,
        allow_plain=True,  # or the settings had been refused
    )


def smtp_account(server: MailServer, tokens: AccessTokens | None = None) -> SmtpAccount:
    """The SMTP server of the settings. tokens: to log in with where no password is given."""
    security = "none" if server.tls == "plain" else server.tls
    password = server.password.get_secret_value()
    return SmtpAccount(
        server.host, server.port, server.user, password, security,
        tokens=tokens if server.user and not password else None,
        allow_plain=True,
    )  # fmt: skip


class MailConnection:
    """Puts what the parts of the mail channel report together, for `railpost status` and `/health`."""

    def __init__(self, service: Service, account: str) -> None:
        """account: as whom mail is connected, and where."""
        self._service = service
        self._account = account
        self._problems: dict[str, str] = {}
        self._seen: set[str] = set()
        self._warning = ""
        self._reads = True

    def report(self, part: str, problem: str) -> None:
        """A part works (empty), or not and why. SMTP is tried only when there is something to send."""
        self._seen.add(part)
        self._reads = self._reads or part == "mailbox"
        self._problems[part] = problem
        self._publish()

    def standing_by(self) -> None:
        """Another process reads the mailbox; this one sends."""
        self._seen.discard("mailbox")
        self._problems.pop("mailbox", None)
        self._reads = False
        self._publish()

    def warn(self, text: str) -> None:
        """Something that still works, but will not for long; empty when it is repaired."""
        self._warning = text
        self._publish()

    def _publish(self) -> None:
        problems = [f"{part}: {why}" for part, why in sorted(self._problems.items()) if why]
        if problems:
            self._service.report_connection("mail", "away", "; ".join(problems))
        elif not self._reads:
            detail = "another process reads the mailbox, and this one sends"
            self._service.report_connection("mail", "standing by", detail)
        elif "mailbox" in self._seen:
            detail = f"as {self._account}{f', but {self._warning}' if self._warning else ''}"
            self._service.report_connection("mail", "connected", detail)
