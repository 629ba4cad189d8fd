"""The outbox of emails: notifications become emails when they are due.

Theory of operation. The service puts notifications into the outbox, which say little. `StoredMailOutbox`
composes an email for each: in one transaction the notification is finished and the email takes its place,
with its bytes, its Message-ID and its tokens. From then on the email does not change, so sending it twice
does no harm; a crash before that transaction leaves no trace. An unsent email to a seat is replaced when the
seat gets a newer one.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.email.gateway import MailGateway
from bot.email.pages.notice_pages import DigestComposer, PageBuilder
from bot.email.stored_mail import ASKED_ANEW, enqueue_mail, texts_together
from bot.hub.notifications.messages import decode_notification
from bot.hub.people import fault_of
from bot.pictures.workers import PictureWorkers
from bot.service import Service
from mail import ServiceAddress, compose, redact
from mail.operator_alerts import OperatorAlerts
from mail.port import OutgoingMail
from mail.reading.bounces import classify
from mail.smtp import DueMail, LeasedMails, retry_at
from storage import OutboxMessage, UnitOfWork

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=20)  # for which one worker has an outbox message
RETRY_DELAYS = (10, 60, 600, 3600)  # seconds between attempts to compose an email
REFUSED = re.compile(r"5\d\d\b")  # by a server, for good
BATCH_SIZE = 10  # outbox messages at a time


class StoredMailOutbox:
    """The outbox for the delivery worker (`mail.smtp.MailOutbox`): notifications are composed when due."""

    def __init__(
        self,
        service: Service,
        gateway: MailGateway,
        address: ServiceAddress,
        pictures: PictureWorkers,
        lease: timedelta = LEASE,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._service = service
        self._store = service.store
        self._gateway = gateway
        self._address = address
        self._page_builder = PageBuilder(service, pictures)
        self._digests = DigestComposer(service, address, now)
        self._lease = lease
        self._now = now
        self._alerts = OperatorAlerts(gateway.alert_operator, now)

    async def lease_due(self, limit: int, full: Collection[str] = ()) -> LeasedMails:
        """Emails that are due, except to the domains that are full. Notifications that are due are composed
        first; their emails follow later."""
        not_to = [f"@{domain}" for domain in full]
        while True:
            async with self._store.begin(excludes_others=False) as unit:
                rows = await unit.outbox.lease_due("mail", min(limit, BATCH_SIZE), self._lease, not_to)
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
            row = await unit.outbox.get(due.id)
            if row is not None:
                await unit.outbox.mark_sent(row.id, due.id)

    async def mark_failed(self, due: DueMail, reason: str, retry: datetime | None, recipient: bool) -> None:
        """Record a failure; what a refusal says of the address, `mail.reading.bounces` knows. What may
        pass is tried again for days.
        """
        if retry is None and REFUSED.match(reason) and classify(reason) == "soft":
            retry = retry_at(due.attempts, due.created_at, self._now(), jitter=0.0)
        async with self._store.begin(excludes_others=False) as unit:
            row = await unit.outbox.get(due.id)
            if row is not None:
                await unit.outbox.mark_failed(row.id, reason, retry)
        if classify(reason) == "operator":
            text = f"The mail server refuses our emails, so they wait: {redact(reason)}."
            await self._alerts.send("refused", text)
        elif retry is None:
            await self._gateway.people.recipient_refused(due.id, redact(reason))

    async def _enqueue(self, unit: UnitOfWork, mail: OutgoingMail, row: OutboxMessage) -> None:
        """Put a composed email into the outbox; one to an address that refuses emails waits there, unless its
        owner wants it to be tried (`claim`)."""
        refuses = "" if mail.reason == "claim" else await fault_of(unit, mail.recipient)
        if refuses and mail.reason in ASKED_ANEW:
            return
        await enqueue_mail(unit, mail, "notice", None if refuses else row.collapse_key)
        if refuses and (waiting := await unit.outbox.get(mail.message_id)):
            await unit.outbox.mark_failed(waiting.id, refuses, None)

    async def _compose(self, row: OutboxMessage) -> None:
        """Replace a notification by its email; a notification that is out of date is only finished."""
        try:
            notification = decode_notification(row.payload)
            mail = None
            if notification.kind == "digest" and notification.person_id is not None:
                mail = await self._digests.compose(notification.person_id)
            elif built := await self._page_builder.build(row):
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
                await unit.outbox.mark_sent(row.id, mail.message_id if mail else None)
                if mail:
                    await self._enqueue(unit, mail, row)
        except Exception as error:
            log.exception("outbox: a notification could not be composed as an email")
            failures = row.attempts - 1
            retry_at = (
                self._now() + timedelta(seconds=RETRY_DELAYS[failures])
                if failures < len(RETRY_DELAYS)
                else None
            )
            async with self._store.begin(excludes_others=False) as unit:
                await unit.outbox.mark_failed(row.id, f"{type(error).__name__}: {error}", retry_at)
            if retry_at is None:
                await self._gateway.alert_operator("A notification could not be composed, and was given up.")


def _due_mail(row: OutboxMessage) -> DueMail:
    return DueMail(
        row.idempotency_key,
        row.address["to"],
        row.address["sender"],
        row.payload,
        row.attempts - 1,
        row.created_at,
    )
