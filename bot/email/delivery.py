"""The mail channel of the service: it watches the mailbox, composes notifications as emails, and sends them.

Theory of operation. The service puts notifications into the outbox, which say little. `StoredMailOutbox`
composes an email for each: in one transaction the notification is finished and the email takes its place,
with its bytes, its Message-ID and its tokens. From then on the email does not change, so sending it twice
does no harm; a crash before that transaction leaves no trace. An unsent email to a seat is replaced when the
seat gets a newer one.

How players' emails are handled is in `bot.email.gateway`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial

import engine
from bot.config import MailServer, MailSettings, Settings, load_mail_secret
from bot.email.attachment import MailAttachment
from bot.email.digest_mail import DigestComposer
from bot.email.gateway import (
    MailGateway,
    ServiceToken,
    enqueue_mail,
    reply_token_for,
    seat_key,
)
from bot.email.oauth import RefreshedTokens
from bot.email.pictures import mail_file, mail_pictures
from bot.email.reachability import table_label
from bot.email.turn_bundles import bundle_lines, turn_subject
from bot.service import legal_lines, text_views
from bot.service.answer_pictures import turn_pictures
from bot.service.ending import ending_pictures, make_ending
from bot.service.images import inline_images, position_images
from bot.service.live_table import LogEntry, TableView
from bot.service.notifications import Notification, decode_notification
from bot.service.picture_workers import Pictures, PictureWorkers
from bot.service.results import PendingDecision
from bot.service.robot_seats import robots_of
from bot.service.seat_requests import open_request
from bot.service.service import Service
from bot.service.tables import TableInfo, open_seats
from mail import (
    ImapAccount,
    InboxTiming,
    InboxWatcher,
    MailPage,
    MailPolicy,
    ParserProcess,
    ReplyLimits,
    ServiceAddress,
    SmtpAccount,
    SmtpDeliveryWorker,
    TokenRedactionFilter,
    compose,
    pages,
    redact,
)
from mail.bounces import classify
from mail.compose import CopyableLines, Paragraph, TableRows
from mail.credentials import AccessTokens
from mail.mailbox_care import MailboxCaretaker
from mail.policy import OperatorAlerts
from mail.port import DueMail, Folder
from storage import OutboxMessage

log = logging.getLogger(__name__)

MAILBOX = "mailbox"  # the job of the one process that reads mail; others only send
LEASE = timedelta(seconds=20)  # for which one worker has an outbox message
RETRY_DELAYS = (10, 60, 600, 3600)  # seconds between attempts to compose an email
MAX_EVENTS = 50  # in the list of events since a player's last turn
LOBBY_KINDS = ("full", "expiring", "closed", "robot", "no robot")
SEAT_KINDS = ("seat_request", "seat_answer")
BATCH_SIZE = 10  # outbox messages at a time


@dataclass(frozen=True, slots=True)
class MailTiming:
    """Limits and intervals of the mail channel; tests use shorter ones.

    `inbox` and `limits` None follow the settings. `poll`: seconds between looks at the outbox.
    `spacing`: seconds between two emails to the same domain.
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
    address = ServiceAddress(mail.address, key, mail.separator, unsubscribe_url=mail.unsubscribe_url)
    gateway = MailGateway(service, pictures, settings.data / "inbound_mail", key, mail.hosts)
    outbox = StoredMailOutbox(service, gateway, address, pictures, timing.lease)
    attachment = MailAttachment(service, f"{mail.address} at {mail.imap.host}")
    tokens = RefreshedTokens(mail.oauth, settings.data) if mail.oauth else None
    worker = SmtpDeliveryWorker(
        smtp_account(mail.smtp, tokens), outbox, poll=timing.poll, spacing=timing.spacing,
        connections=mail.connections, renewal=timing.lease / timedelta(seconds=4),
        report=partial(attachment.report, "SMTP"),
    )  # fmt: skip
    limits = timing.limits or ReplyLimits(mail.answers_per_hour, breaker_replies=mail.answers_in_all)
    policy = MailPolicy(address, gateway, limits=limits)
    inbox = timing.inbox or InboxTiming(idle_timeout=mail.idle_seconds, max_size=mail.max_message_bytes)
    for handler in logging.getLogger().handlers:
        handler.addFilter(TokenRedactionFilter())
    async with ParserProcess(mail.authserv or "") as parser, asyncio.TaskGroup() as tasks:
        account, report = imap_account(mail, tokens), partial(attachment.report, "mailbox")
        watcher = InboxWatcher(account, gateway, policy, parser, inbox, report)
        tasks.create_task(service.store.lead([MAILBOX], watcher.run))
        tasks.create_task(worker.run())
        tidying = MailTidying(gateway, attachment, mail.keep_days)
        caretaker = MailboxCaretaker(account, mail.keep_days, tidying.tidied)
        tasks.create_task(service.store.lead([f"{MAILBOX}-tidying"], caretaker.run))
        tasks.create_task(wake_after_commits(service, worker))


async def wake_after_commits(service: Service, worker: SmtpDeliveryWorker) -> None:
    """Wake the delivery worker after every commit."""
    with service.subscribe() as wake_event:
        while True:
            await wake_event.wait()
            wake_event.clear()
            worker.wake()


class MailTidying:
    """What is done once a day with the mailbox: its fullness is reported, and our own copies are deleted."""

    def __init__(self, gateway: MailGateway, attachment: MailAttachment, keep_days: int) -> None:
        self._gateway, self._attachment, self._keep_days = gateway, attachment, keep_days

    async def tidied(self, fullness: str) -> None:
        """Tell the operator that the mailbox is nearly full, and delete our copies."""
        self._attachment.warn(fullness)
        if fullness:
            await self._gateway.alert_operator(f"{fullness[0].upper()}{fullness[1:]}.")
        if self._keep_days:
            await self._gateway.delete_before(timedelta(days=self._keep_days))


def imap_account(mail: MailSettings, tokens: AccessTokens | None = None) -> ImapAccount:
    """The IMAP mailbox of the settings."""
    server, names = mail.imap, mail.folders
    return ImapAccount(
        server.host,
        server.user,
        server.password.get_secret_value(),
        server.port,
        server.tls != "plain",
        tokens=None if server.password.get_secret_value() else tokens,
        inbox=names.inbox,
        folders={
            Folder.PROCESSED: names.processed,
            Folder.IGNORED: names.ignored,
            Folder.QUARANTINE: names.quarantine,
        },
    )


def smtp_account(server: MailServer, tokens: AccessTokens | None = None) -> SmtpAccount:
    """The SMTP server of the settings. tokens: to log in with where no password is given."""
    security = "none" if server.tls == "plain" else server.tls
    password = server.password.get_secret_value()
    return SmtpAccount(
        server.host, server.port, server.user, password, security,
        tokens=tokens if server.user and not password else None,
    )  # fmt: skip


class StoredMailOutbox:
    """The outbox for the delivery worker (`mail.port.MailOutbox`): notifications are composed when due."""

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
        self._alerts = OperatorAlerts(gateway, now)

    async def lease_due(self, limit: int, full: Collection[str] = ()) -> Sequence[DueMail]:
        """Emails that are due, except to the domains that are full. Notifications that are due are composed
        first; their emails follow later."""
        not_to = [f"@{domain}" for domain in full]
        mails: list[OutboxMessage] = []
        while not mails:
            async with self._store.begin(excludes_others=False) as unit:
                rows = await unit.outbox.lease_due("mail", min(limit, BATCH_SIZE), self._lease, not_to)
            if not rows:
                break
            mails = [row for row in rows if "sender" in row.address]
            for row in rows:
                if "sender" not in row.address:
                    await self._compose(row)
        return [
            DueMail(
                row.idempotency_key,
                row.address["to"],
                row.address["sender"],
                row.payload,
                row.attempts - 1,
                row.created_at,
            )
            for row in mails
        ]

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
        """Record a failure; what a refusal says of the address, `mail.bounces` knows."""
        async with self._store.begin(excludes_others=False) as unit:
            row = await unit.outbox.get(due.id)
            if row is not None:
                await unit.outbox.mark_failed(row.id, reason, retry)
        if classify(reason) == "operator":
            text = f"The mail server refuses our emails, so they wait: {redact(reason)}."
            await self._alerts.send("refused", text)
        elif retry is None:
            await self._gateway.recipient_refused(due.id, redact(reason))

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
            async with self._store.begin(excludes_others=False) as unit:
                current = await unit.outbox.get(row.idempotency_key)
                if current is None or current.status != "pending":
                    return
                await unit.outbox.mark_sent(row.id, mail.message_id if mail else None)
                if mail:
                    await enqueue_mail(unit, mail, "notice", row.collapse_key)
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


class PageBuilder:
    """Builds the page of a notification from the position at that time."""

    def __init__(self, service: Service, pictures: PictureWorkers) -> None:
        self._service = service
        self._store = service.store
        self._pictures = pictures

    async def build(self, row: OutboxMessage) -> tuple[MailPage, ServiceToken] | None:
        """The page of a notification and the token of its replies; None where it is out of date."""
        notification = decode_notification(row.payload)
        if notification.person_id is None:
            return None
        if notification.kind == "claim":
            return await self._claim_page(notification.person_id)
        if notification.kind == "account":
            return await self._account_page(notification, notification.person_id, str(row.address["email"]))
        await self._service.cache.refresh(notification.table_id)
        table = await self._service.queries.table_info(notification.table_id)
        if notification.kind == "invited":
            return await self._invitation_page(table, notification, str(row.address["email"]))
        if notification.kind == "seat":
            return await self._seat_page(table, notification, str(row.address["email"]))
        if notification.kind == "answered":
            async with self._store.read() as unit:
                token = await reply_token_for(unit, notification.person_id, table, None, None)
            answer = pages.table_answer(notification.sentences, is_done=True)
            is_open = table.status in ("lobby", "paused")
            return (answer, token) if token and is_open else None
        if notification.kind in SEAT_KINDS:
            return await self._request_page(table, notification, notification.person_id)
        if notification.kind in LOBBY_KINDS:
            return await self._lobby_page(table, notification, notification.person_id)
        seat = notification.seat
        if seat is None or table.seat_of(notification.person_id) != seat:
            return None
        view = await self._service.queries.view(notification.table_id)
        page = await self._page(view, notification, seat)
        decision_id = notification.decision_id or view.decision_id_of(seat) or view.current_decision_id
        async with self._store.read() as unit:
            token = await reply_token_for(unit, notification.person_id, table, seat, decision_id)
        return (page, token) if page and token else None

    async def _claim_page(self, person_id: int) -> tuple[MailPage, ServiceToken] | None:
        """The page that asks a person to confirm their address."""
        async with self._store.read() as unit:
            claim = await unit.people.claim_of_person(person_id)
            if claim is None:
                return None
            name = (await unit.people.get(person_id)).name
        token = ServiceToken("link", claim.address, frozenset({claim.address}), "", person_id=person_id)
        return pages.address_confirmation(name), token

    async def _account_page(
        self, notification: Notification, person_id: int, address: str
    ) -> tuple[MailPage, ServiceToken] | None:
        """The page about the addresses of a person, to one of them."""
        async with self._store.read() as unit:
            token = await reply_token_for(unit, person_id, None, None, None)
        if token is None or address not in token.verified_addresses:
            return None
        page = pages.announcement("Your email addresses.", notification.sentences)
        return page, replace(token, address=address)

    async def _invitation_page(
        self, table: TableInfo, notification: Notification, address: str
    ) -> tuple[MailPage, ServiceToken] | None:
        """The page that invites a person by email to a table."""
        person_id = notification.person_id or 0
        if table.status != "lobby" or not any(
            each.person_id == person_id and not each.joined for each in table.seated_players
        ):
            return None
        host = await self._host_name(table)
        token = ServiceToken(
            "invite", address, frozenset({address}), table_label(table), table.code,
            person_id=person_id, table_id=table.id,
        )  # fmt: skip
        players = notification.sentences or [each.name for each in table.seated_players]
        details = await self._service.queries.invitation_lines(table)
        return pages.invitation(host, table_label(table), table.title, players, details), token

    async def _seat_page(
        self, table: TableInfo, notification: Notification, address: str
    ) -> tuple[MailPage, ServiceToken] | None:
        """The page that offers a seat of a game that goes on here."""
        person_id, seat = notification.person_id or 0, notification.seat
        if seat is None or seat not in open_seats(table) or table.status != "paused":
            return None
        token = ServiceToken(
            "invite", address, frozenset({address}), table_label(table), table.code,
            seat_key(table.id, seat), person_id=person_id, table_id=table.id, seat_number=seat,
        )  # fmt: skip
        host = await self._host_name(table)
        return pages.seat_offer(host, table_label(table), table.title, table.names[seat], table.names), token

    async def _host_name(self, table: TableInfo) -> str:
        if table.host_id is None:
            return "Somebody"
        async with self._store.read() as unit:
            return (await unit.people.get(table.host_id)).name

    async def _lobby_page(
        self, table: TableInfo, notification: Notification, person_id: int
    ) -> tuple[MailPage, ServiceToken] | None:
        """The page about a table that has not started: it is full, it expires, it is closed."""
        async with self._store.read() as unit:
            token = await reply_token_for(unit, person_id, table, None, None)
        if token is None or (table.status != "lobby" and notification.kind != "closed"):
            return None
        sentence = " ".join(notification.sentences)
        match notification.kind:
            case "full":
                page = pages.lobby_question("Everybody is there.", sentence, "To start the game")
                return page, replace(token, purpose="start")
            case "expiring":
                page = pages.lobby_question("This table expires.", sentence, "To keep it open")
                return page, replace(token, purpose="keep")
            case "robot":
                if not any(not robot.joined for robot in robots_of(table)):
                    return None
                page = pages.lobby_question("May a robot play?", sentence, "To agree", "To decline")
                return page, replace(token, purpose="agree")
            case "no robot":
                return pages.announcement("No robot plays.", notification.sentences), token
        return pages.announcement("The table is closed.", notification.sentences), token

    async def _request_page(
        self, table: TableInfo, notification: Notification, person_id: int
    ) -> tuple[MailPage, ServiceToken] | None:
        """The page that says who asks for a seat, or what the answer was."""
        async with self._store.read() as unit:
            token = await reply_token_for(unit, person_id, table, None, None)
            request = await open_request(unit, table.id, notification.decision_id)
        if token is None or (request is None and notification.kind == "seat_request"):
            return None
        if request is None:
            return pages.announcement("Your seat.", notification.sentences), token
        lines = [f"admit {request.name}", f"refuse {request.name}"]
        return pages.seat_request(" ".join(notification.sentences), lines), token

    async def _page(self, view: TableView, notification: Notification, seat: int) -> MailPage | None:
        state = view.state
        match notification.kind:
            case "gathered":
                return pages.gathered_answers(notification.sentences)
            case "vote" | "vote_reminder":
                is_open = any(
                    f"v{missing.poll.id}" == notification.decision_id and voter == seat
                    for missing, voter in view.missing_votes()
                )
                return vote_page(notification.sentences) if is_open else None
            case "turn":
                pending = next((each for each in view.pending if each.seat == seat), None)
                if state is None or pending is None or pending.decision_id != notification.decision_id:
                    return None
                return await self._turn_page(view, state, pending, notification.person_id)
            case "reminder":
                pending = next((each for each in view.pending if each.seat == seat), None)
                if state is None or pending is None or pending.decision_id != notification.decision_id:
                    return None
                page = await self._turn_page(view, state, pending, notification.person_id)
                reminded = (Paragraph(" ".join(notification.sentences)), *page.blocks)
                return replace(page, blocks=reminded, subject="A reminder: your turn")
            case "next":
                if view.current_decision_id != notification.decision_id:
                    return None
                return pages.announcement("You are next.", notification.sentences)
            case "deputy":
                waiting = (text_views.waiting_sentence(state, view.pending),) if state else ()
                return pages.announcement("You are a deputy.", notification.sentences, waiting)
            case "over" if state:
                return await self._final_letter(view, state, notification)
            case "started" if state:
                images = await position_images(
                    await self._drawing(view, notification.person_id), state, ("map",)
                )
                return pages.announcement(
                    "The game begins.",
                    notification.sentences,
                    position_parts(state, view.pending, notification.seat),
                    images,
                )
            case kind:
                waiting = (text_views.waiting_sentence(state, view.pending),) if state else ()
                heading = "An order of yours has ended." if kind == "order" else "News from the table."
                return pages.announcement(heading, notification.sentences, waiting)

    async def _final_letter(
        self, view: TableView, state: engine.State, notification: Notification
    ) -> MailPage:
        """The page of the end: who has won, records, the final sheet, charts, the game and its animation."""
        queries = self._service.queries
        ending = await make_ending(queries, view.table, state)
        drawing = await self._drawing(view, notification.person_id)
        images, files = mail_pictures(await ending_pictures(drawing, queries, view.table.id, state))
        again = "Reply `rematch` to open a table with the same people."
        return pages.final_letter(
            pages.FinalLetter(
                ending.headline,
                (*filter(None, notification.sentences), again),
                ending.records,
                final_standings(state),
                images,
                (*([mail_file(ending.file)] if ending.file else []), *files),
            )
        )

    async def _drawing(self, view: TableView, reader: int | None) -> Pictures:
        """Pictures for a table, which takes turns with the others, in the palette of the reader."""
        palette = await self._service.settings.palette(view.table, reader)
        return self._pictures.for_table(view.table.id, palette)

    async def _turn_page(
        self, view: TableView, state: engine.State, pending: PendingDecision, reader: int | None
    ) -> MailPage:
        """The page of a turn: what to do, what has happened, and the position. reader: a person; only the
        player themselves sees which moves their orders have said."""
        table_id, player = view.table.id, view.table.player_at(pending.seat)
        is_owner = player is not None and player.person_id == reader
        entries = await self._service.queries.log_since_last_move(table_id, pending.seat, by_hand=is_owner)
        since = entries[0].seq - 1 if entries else 0
        notice = pages.TurnNotice(
            name=pending.name,
            subject=turn_subject(state, pending.prompt),
            whole_turns=bundle_lines(state, pending.seat) if pending.is_main else (),
            prompt=f"You to act: {pending.prompt}.",
            legal_lines=legal_lines.copyable_lines(
                await self._service.queries.choices(table_id, pending.seat)
            ),
            events_since=recent_events(entries),
            position=position_parts(state, view.pending, pending.seat),
            deadline=await self._service.settings.deadline_text(table_id, pending.seat),
            images=inline_images(
                await turn_pictures(self._service.queries, await self._drawing(view, reader), view, since)
            ),
        )
        return pages.turn_notice(notice)


def recent_events(entries: Sequence[LogEntry]) -> tuple[str, ...]:
    """Log entries as sentences; of many only the last `MAX_EVENTS`."""
    events = [
        " ".join([*entry.sentences, *(["(Your order said this.)"] if entry.by_own_order else [])])
        for entry in entries
        if entry.is_live and entry.sentences
    ]
    left_out = len(events) - MAX_EVENTS
    return tuple(events if left_out <= 0 else [f"… and {left_out} earlier events", *events[-MAX_EVENTS:]])


def vote_page(sentences: Sequence[str]) -> MailPage:
    """The page that asks a seat for its vote."""
    blocks = (Paragraph(" ".join(sentences)), CopyableLines("Reply with one of", ["accept", "decline"]))
    return MailPage("Your vote is needed.", blocks, subject="Your vote", tone="turn")


def final_standings(state: engine.State) -> tuple[str | TableRows, ...]:
    """The final standings, with all players and companies."""
    rows = [
        (str(place), state.name(seat), f"${dollars:,}")
        for place, (seat, dollars) in enumerate(engine.standings(state).items(), 1)
    ]
    return (_as_rows(text_views.Table(("", "player", "worth"), rows)), "", *position_parts(state, ()))


def position_parts(
    state: engine.State, pending: Sequence[PendingDecision], viewer: int | None = None
) -> tuple[str | TableRows, ...]:
    """The position for an email; viewer: the seat that reads it, None for the whole table."""
    parts = text_views.status_parts(state, pending, viewer)
    return tuple(part if isinstance(part, str) else _as_rows(part) for part in parts)


def _as_rows(table: text_views.Table) -> TableRows:
    return TableRows(table.head, table.rows, table.lines(), table.numeric())
