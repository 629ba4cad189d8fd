"""Mail attached to the service: the mailbox is watched, notices become letters, letters are handed in.

Theory. The service leaves notices in the outbox, which say little. The postroom makes a letter of each:
in one transaction the notice is settled and the finished letter takes its place, with its bytes, its
Message-ID and the tokens in it. From then on nothing about it changes, so that it may be sent twice and
is still the same letter; whatever happens before is as if it had not been begun. A letter to a seat that
is asked again before it went out is overtaken by the next, as notices are.

What is said at a table by mail, and what it is answered, is `bot.email.gateway`'s.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import engine
from bot.config import MailServer, MailSettings, Settings, load_mail_secret
from bot.email.gateway import (
    MailGateway,
    ServiceToken,
    enqueue_letter,
    reply_token_for,
    table_label,
)
from bot.service import legal_lines, text_views
from bot.service.images import position_images
from bot.service.live_table import LogEntry, TableView
from bot.service.notifications import Notification, decode_notification
from bot.service.picture_workers import PictureWorkers
from bot.service.results import PendingDecision
from bot.service.service import Service
from bot.service.tables import TableInfo
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
)
from mail.compose import CopyableLines, Paragraph
from mail.port import DueMail, Folder
from storage import OutboxMessage

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=20)  # for as long a letter waits when its courier has died
RETRY_DELAYS = (
    10,
    60,
    600,
    3600,
)  # seconds after which a notice is tried again that could not be made a letter
MAX_EVENTS = 50  # of what happened since somebody's last turn
CACHE_TIMEOUT = 5.0  # seconds in which what was written into the store is seen in memory
BATCH_SIZE = 10  # rows of the outbox at a time


@dataclass(frozen=True, slots=True)
class MailTiming:
    """How fast mail goes; tests hurry it. `pace` None follows the settings."""

    limits: ReplyLimits = field(default_factory=ReplyLimits)
    pace: InboxTiming | None = None
    poll: float = 15.0
    spacing: float = 1.0
    lease: timedelta = LEASE


async def run(
    service: Service, settings: Settings, pictures: PictureWorkers, *, tempo: MailTiming = MailTiming()
) -> None:
    """Serve mail for ever. Raises ValueError with a sentence where the settings name no mail."""
    mail = settings.mail
    if mail is None:
        raise ValueError("Mail is not attached: RAILPOST_IMAP and RAILPOST_SMTP are not set.")
    key = load_mail_secret(settings)
    office = ServiceAddress(mail.address, key, mail.separator)
    desk = MailGateway(service, pictures, settings.data / "letters", key)
    pouch = StoredMailOutbox(service, desk, office, pictures, tempo.lease)
    courier = SmtpDeliveryWorker(smtp_account(mail.smtp), pouch, poll=tempo.poll, spacing=tempo.spacing)
    clerk = MailPolicy(office, desk, limits=tempo.limits)
    pace = tempo.pace or InboxTiming(idle_timeout=mail.idle_seconds, max_size=mail.max_message_bytes)
    for handler in logging.getLogger().handlers:
        handler.addFilter(TokenRedactionFilter())
    async with ParserProcess(mail.authserv or "") as reader, asyncio.TaskGroup() as tasks:
        tasks.create_task(InboxWatcher(imap_account(mail), desk, clerk, reader, pace).run())
        tasks.create_task(courier.run())
        tasks.create_task(wake_after_commits(service, courier))


async def wake_after_commits(service: Service, courier: SmtpDeliveryWorker) -> None:
    """Let the courier look into the outbox after every commit."""
    with service.subscribe() as bell:
        while True:
            await bell.wait()
            bell.clear()
            courier.wake()


def imap_account(mail: MailSettings) -> ImapAccount:
    """The mailbox as the settings name it."""
    server, names = mail.imap, mail.folders
    return ImapAccount(
        server.host,
        server.user,
        server.password.get_secret_value(),
        server.port,
        server.tls != "plain",
        inbox=names.inbox,
        folders={
            Folder.PROCESSED: names.processed,
            Folder.IGNORED: names.ignored,
            Folder.QUARANTINE: names.quarantine,
        },
    )


def smtp_account(server: MailServer) -> SmtpAccount:
    """Where letters are handed in, as the settings name it."""
    security = "none" if server.tls == "plain" else server.tls
    return SmtpAccount(server.host, server.port, server.user, server.password.get_secret_value(), security)


class StoredMailOutbox:
    """The outbox as a courier sees it (`mail.Pouch`): notices are made letters when they are due."""

    def __init__(
        self,
        service: Service,
        desk: MailGateway,
        office: ServiceAddress,
        pictures: PictureWorkers,
        lease: timedelta = LEASE,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._service = service
        self._store = service.store
        self._gateway = desk
        self._tokens = office
        self._page_builder = PageBuilder(service, pictures)
        self._lease = lease
        self._now = now

    async def lease_due(self, limit: int) -> Sequence[DueMail]:
        """Letters whose time has come; notices become letters first."""
        letters: list[OutboxMessage] = []
        while not letters:
            async with self._store.begin() as unit:
                rows = await unit.outbox.lease_due("mail", min(limit, BATCH_SIZE), self._lease)
            if not rows:
                break
            letters = [row for row in rows if "sender" in row.address]
            for row in rows:
                if "sender" not in row.address:
                    await self._compose_letter(row)
        return [
            DueMail(
                row.idempotency_key,
                row.address["to"],
                row.address["sender"],
                row.payload,
                row.attempts - 1,
                row.created_at,
            )
            for row in letters
        ]

    async def mark_sent(self, due: DueMail) -> None:
        """The server has taken it."""
        async with self._store.begin() as unit:
            row = await unit.outbox.get(due.id)
            if row is not None:
                await unit.outbox.mark_sent(row.id, due.id)

    async def mark_failed(self, due: DueMail, reason: str, retry: datetime | None, recipient: bool) -> None:
        """Not taken; an address that was refused for good counts as a letter that came back."""
        async with self._store.begin() as unit:
            row = await unit.outbox.get(due.id)
            if row is not None:
                await unit.outbox.mark_failed(row.id, reason, retry)
        if retry is None and recipient:
            await self._gateway.recipient_refused(due.id)
        elif retry is None:
            await self._gateway.alert_operator(f"A letter could not be sent: {reason}")

    async def _compose_letter(self, row: OutboxMessage) -> None:
        """Put a letter in the place of a notice; a notice that has been overtaken is only settled."""
        try:
            written = await self._page_builder.build(row)
            letter = None
            if written is not None:
                page, seal = written
                letter = await asyncio.to_thread(
                    compose, self._tokens, page, seal, self._now(), decode_notification(row.payload).kind
                )
            async with self._store.begin() as unit:
                current = await unit.outbox.get(row.idempotency_key)
                if current is None or current.status != "pending":
                    return
                await unit.outbox.mark_sent(row.id, letter.message_id if letter else None)
                if letter:
                    await enqueue_letter(unit, letter, "notice", row.collapse_key)
        except Exception as error:
            log.exception("outbox: a notice could not be made a letter")
            tries = row.attempts - 1
            again = (
                self._now() + timedelta(seconds=RETRY_DELAYS[tries]) if tries < len(RETRY_DELAYS) else None
            )
            async with self._store.begin() as unit:
                await unit.outbox.mark_failed(row.id, f"{type(error).__name__}: {error}", again)
            if again is None:
                await self._gateway.alert_operator("A notice could not be made a letter, and was given up.")


class PageBuilder:
    """Makes the page of a notice, from things as they are when it is written."""

    def __init__(self, service: Service, pictures: PictureWorkers) -> None:
        self._service = service
        self._store = service.store
        self._pictures = pictures

    async def build(self, row: OutboxMessage) -> tuple[MailPage, ServiceToken] | None:
        """What a notice says and what an answer to it may do; None where it is of no use any more."""
        notice = decode_notification(row.payload)
        if notice.person_id is None:
            return None
        if notice.kind == "claim":
            return await self._claim_page(notice.person_id)
        table = await self._service.table_info(notice.table_id)
        if notice.kind == "invited":
            return await self._invitation_page(table, notice.person_id, str(row.address["email"]))
        seat = notice.seat
        if seat is None or table.seat_of(notice.person_id) != seat:
            return None
        view = await self._view_since(notice)
        page = await self._page(view, notice, seat)
        decision = notice.decision_id or view.decision_id_of(seat) or view.current_decision_id
        async with self._store.read() as unit:
            seal = await reply_token_for(unit, notice.person_id, table, seat, decision)
        return (page, seal) if page and seal else None

    async def _view_since(self, notice: Notification) -> TableView:
        """The table once what is shown of it is as new as the notice: memory follows behind the commit.

        Raises TimeoutError where it does not.
        """
        async with asyncio.timeout(CACHE_TIMEOUT):
            while (view := await self._service.view(notice.table_id)).seq < notice.seq:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            return view

    async def _claim_page(self, person: int) -> tuple[MailPage, ServiceToken] | None:
        """Whether an address is really his."""
        async with self._store.read() as unit:
            claim = await unit.people.claim_of_person(person)
            if claim is None:
                return None
            name = (await unit.people.get(person)).name
        seal = ServiceToken("link", claim.address, frozenset({claim.address}), "", person_id=person)
        return pages.address_confirmation(name), seal

    async def _invitation_page(
        self, table: TableInfo, person: int, address: str
    ) -> tuple[MailPage, ServiceToken] | None:
        """A seat is kept for somebody who is known by his address alone."""
        if table.status != "lobby" or not any(
            s.person_id == person and not s.joined for s in table.seated_players
        ):
            return None
        host = "Somebody"
        if table.host_id is not None:
            async with self._store.read() as unit:
                host = (await unit.people.get(table.host_id)).name
        seal = ServiceToken(
            "invite", address, frozenset({address}), table_label(table), table.code,
            person_id=person, table_id=table.id,
        )  # fmt: skip
        return pages.invitation(host, table_label(table)), seal

    async def _page(self, view: TableView, notice: Notification, seat: int) -> MailPage | None:
        state = view.state
        match notice.kind:
            case "vote":
                open_ = any(
                    f"v{b.poll.id}" == notice.decision_id and at == seat for b, at in view.missing_votes()
                )
                return vote_page(notice.sentences) if open_ else None
            case "turn":
                asked = next((a for a in view.pending if a.seat == seat), None)
                if state is None or asked is None or asked.decision_id != notice.decision_id:
                    return None
                return await self._turn_page(view, state, asked)
            case "over" if state:
                drawn = await position_images(self._pictures, state, ("map", "market", "sheet"))
                return pages.announcement(
                    "The game is over.", notice.sentences, final_standings(state), drawn
                )
            case "started" if state:
                drawn = await position_images(self._pictures, state, ("map",))
                return pages.announcement(
                    "The game begins.",
                    notice.sentences,
                    text_views.status_view(state, view.pending, notice.seat),
                    drawn,
                )
            case _:
                standing = text_views.waiting_sentence(state, view.pending) if state else ""
                return pages.announcement("News from the table.", notice.sentences, standing)

    async def _turn_page(self, view: TableView, state: engine.State, asked: PendingDecision) -> MailPage:
        """It is somebody's turn: what is needed, what happened, how things stand."""
        table = view.table.id
        since = await self._service.log_since_last_move(table, asked.seat)
        before = await self._service.state_at(table, since[0].seq - 1) if since and since[0].seq > 1 else None
        told = pages.TurnNotice(
            name=asked.name,
            prompt=f"It is for you {asked.prompt}.",
            legal_lines=legal_lines.copyable_lines(await self._service.choices(table, asked.seat)),
            events_since=recent_events(since),
            position=text_views.status_view(state, view.pending, asked.seat),
            images=await position_images(self._pictures, state, ("map", "market"), before),
        )
        return pages.turn_notice(told)


def recent_events(since: Sequence[LogEntry]) -> tuple[str, ...]:
    """What happened in sentences, the newest in full where there is much."""
    told = [" ".join(one.sentences) for one in since if one.is_live and one.sentences]
    rest = len(told) - MAX_EVENTS
    return tuple(told if rest <= 0 else [f"{rest} things before these", *told[-MAX_EVENTS:]])


def vote_page(text: Sequence[str]) -> MailPage:
    """A seat is asked for its vote."""
    blocks = (Paragraph(" ".join(text)), CopyableLines("Answer with one of", ["accept", "decline"]))
    return MailPage("You are asked.", blocks, subject="Your vote", tone="turn")


def final_standings(state: engine.State) -> str:
    """The final standings, and what everybody and every company had."""
    rows = [
        (str(place), state.name(seat), f"${dollars:,}")
        for place, (seat, dollars) in enumerate(engine.standings(state).items(), 1)
    ]
    return "\n".join(
        [*text_views.text_table(("", "player", "worth"), rows), "", text_views.status_view(state, ())]
    )
