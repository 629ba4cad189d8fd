"""Mail attached to the service: the mailbox is watched, notices become letters, letters are handed in.

Theory. The service leaves notices in the outbox, which say little. The postroom makes a letter of each:
in one transaction the notice is settled and the finished letter takes its place, with its bytes, its
Message-ID and the tokens in it. From then on nothing about it changes, so that it may be sent twice and
is still the same letter; whatever happens before is as if it had not been begun. A letter to a seat that
is asked again before it went out is overtaken by the next, as notices are.

What is said at a table by mail, and what it is answered, is `bot.post.desk`'s.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import engine
from bot import legal, words
from bot.answers import Asked
from bot.config import Mail, Server, Settings, mail_secret
from bot.figures import figures
from bot.notices import Notice, decoded
from bot.pictures import Pictures
from bot.play import Happening, View
from bot.post.desk import Seal, ServiceDesk, label, post, seal_for
from bot.service import Service
from bot.tables import TableInfo
from mail import (
    Clerk,
    Courier,
    ImapAccount,
    Inbox,
    Limits,
    Pace,
    Page,
    Post,
    Reader,
    Redaction,
    SmtpAccount,
    compose,
    wording,
)
from mail.compose import Copy, Paragraph
from mail.desk import Due, Folder
from storage import Message

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=20)  # for as long a letter waits when its courier has died
AGAIN = (10, 60, 600, 3600)  # seconds after which a notice is tried again that could not be made a letter
NEWEST = 50  # of what happened since somebody's last turn
MEMORY = 5.0  # seconds in which what was written into the store is seen in memory
CARRIED = 10  # rows of the outbox at a time


@dataclass(frozen=True, slots=True)
class Tempo:
    """How fast mail goes; tests hurry it. `pace` None follows the settings."""

    limits: Limits = field(default_factory=Limits)
    pace: Pace | None = None
    poll: float = 15.0
    spacing: float = 1.0
    lease: timedelta = LEASE


async def run(service: Service, settings: Settings, pictures: Pictures, *, tempo: Tempo = Tempo()) -> None:
    """Serve mail for ever. Raises ValueError with a sentence where the settings name no mail."""
    mail = settings.mail
    if mail is None:
        raise ValueError("Mail is not attached: RAILPOST_IMAP and RAILPOST_SMTP are not set.")
    key = mail_secret(settings)
    office = Post(mail.address, key, mail.separator)
    desk = ServiceDesk(service, pictures, settings.data / "letters", key)
    pouch = Pouch(service, desk, office, pictures, tempo.lease)
    courier = Courier(smtp_account(mail.smtp), pouch, poll=tempo.poll, spacing=tempo.spacing)
    clerk = Clerk(office, desk, limits=tempo.limits)
    pace = tempo.pace or Pace(idle=mail.idle, big=mail.limit)
    for handler in logging.getLogger().handlers:
        handler.addFilter(Redaction())
    async with Reader(mail.authserv or "") as reader, asyncio.TaskGroup() as tasks:
        tasks.create_task(Inbox(imap_account(mail), desk, clerk, reader, pace).run())
        tasks.create_task(courier.run())
        tasks.create_task(wake(service, courier))


async def wake(service: Service, courier: Courier) -> None:
    """Let the courier look into the outbox after every commit."""
    with service.follow() as bell:
        while True:
            await bell.wait()
            bell.clear()
            courier.wake()


def imap_account(mail: Mail) -> ImapAccount:
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


def smtp_account(server: Server) -> SmtpAccount:
    """Where letters are handed in, as the settings name it."""
    security = "none" if server.tls == "plain" else server.tls
    return SmtpAccount(server.host, server.port, server.user, server.password.get_secret_value(), security)


class Pouch:
    """The outbox as a courier sees it (`mail.Pouch`): notices are made letters when they are due."""

    def __init__(
        self,
        service: Service,
        desk: ServiceDesk,
        office: Post,
        pictures: Pictures,
        lease: timedelta = LEASE,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._service = service
        self._store = service.store
        self._desk = desk
        self._office = office
        self._writer = Writer(service, pictures)
        self._lease = lease
        self._now = now

    async def due(self, limit: int) -> Sequence[Due]:
        """Letters whose time has come; notices become letters first."""
        letters: list[Message] = []
        while not letters:
            async with self._store.begin() as unit:
                rows = await unit.outbox.due("mail", min(limit, CARRIED), self._lease)
            if not rows:
                break
            letters = [row for row in rows if "sender" in row.address]
            for row in rows:
                if "sender" not in row.address:
                    await self._drawn_up(row)
        return [
            Due(row.key, row.address["to"], row.address["sender"], row.payload, row.attempts - 1, row.created)
            for row in letters
        ]

    async def sent(self, due: Due) -> None:
        """The server has taken it."""
        async with self._store.begin() as unit:
            row = await unit.outbox.get(due.id)
            if row is not None:
                await unit.outbox.sent(row.id, due.id)

    async def failed(self, due: Due, reason: str, retry: datetime | None, recipient: bool) -> None:
        """Not taken; an address that was refused for good counts as a letter that came back."""
        async with self._store.begin() as unit:
            row = await unit.outbox.get(due.id)
            if row is not None:
                await unit.outbox.failed(row.id, reason, retry)
        if retry is None and recipient:
            await self._desk.refused(due.id)
        elif retry is None:
            await self._desk.alert(f"A letter could not be sent: {reason}")

    async def _drawn_up(self, row: Message) -> None:
        """Put a letter in the place of a notice; a notice that has been overtaken is only settled."""
        try:
            written = await self._writer.written(row)
            letter = None
            if written is not None:
                page, seal = written
                letter = await asyncio.to_thread(
                    compose, self._office, page, seal, self._now(), decoded(row.payload).kind
                )
            async with self._store.begin() as unit:
                current = await unit.outbox.get(row.key)
                if current is None or current.state != "pending":
                    return
                await unit.outbox.sent(row.id, letter.message_id if letter else None)
                if letter:
                    await post(unit, letter, "notice", row.supersedes)
        except Exception as error:
            log.exception("outbox: a notice could not be made a letter")
            tries = row.attempts - 1
            again = self._now() + timedelta(seconds=AGAIN[tries]) if tries < len(AGAIN) else None
            async with self._store.begin() as unit:
                await unit.outbox.failed(row.id, f"{type(error).__name__}: {error}", again)
            if again is None:
                await self._desk.alert("A notice could not be made a letter, and was given up.")


class Writer:
    """Makes the page of a notice, from things as they are when it is written."""

    def __init__(self, service: Service, pictures: Pictures) -> None:
        self._service = service
        self._store = service.store
        self._pictures = pictures

    async def written(self, row: Message) -> tuple[Page, Seal] | None:
        """What a notice says and what an answer to it may do; None where it is of no use any more."""
        notice = decoded(row.payload)
        if notice.person is None:
            return None
        if notice.kind == "claim":
            return await self._claim(notice.person)
        table = await self._service.table(notice.table)
        if notice.kind == "invited":
            return await self._invitation(table, notice.person, str(row.address["email"]))
        seat = notice.seat
        if seat is None or table.seat_of(notice.person) != seat:
            return None
        view = await self._caught_up(notice)
        page = await self._page(view, notice, seat)
        decision = notice.decision or view.decision(seat) or view.now
        async with self._store.read() as unit:
            seal = await seal_for(unit, notice.person, table, seat, decision)
        return (page, seal) if page and seal else None

    async def _caught_up(self, notice: Notice) -> View:
        """The table once what is shown of it is as new as the notice: memory follows behind the commit.

        Raises TimeoutError where it does not.
        """
        async with asyncio.timeout(MEMORY):
            while (view := await self._service.view(notice.table)).seq < notice.seq:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            return view

    async def _claim(self, person: int) -> tuple[Page, Seal] | None:
        """Whether an address is really his."""
        async with self._store.read() as unit:
            claim = await unit.people.claim_of(person)
            if claim is None:
                return None
            name = (await unit.people.get(person)).name
        seal = Seal("link", claim.value, frozenset({claim.value}), "", person=person)
        return wording.link(name), seal

    async def _invitation(self, table: TableInfo, person: int, address: str) -> tuple[Page, Seal] | None:
        """A seat is kept for somebody who is known by his address alone."""
        if table.status != "lobby" or not any(s.person == person and not s.joined for s in table.sitters):
            return None
        host = "Somebody"
        if table.host is not None:
            async with self._store.read() as unit:
                host = (await unit.people.get(table.host)).name
        seal = Seal(
            "invite", address, frozenset({address}), label(table), table.code,
            person=person, table_id=table.id,
        )  # fmt: skip
        return wording.invitation(host, label(table)), seal

    async def _page(self, view: View, notice: Notice, seat: int) -> Page | None:
        state = view.state
        match notice.kind:
            case "vote":
                open_ = any(f"v{b.vote.id}" == notice.decision and at == seat for b, at in view.waiting())
                return vote(notice.text) if open_ else None
            case "turn":
                asked = next((a for a in view.asked if a.seat == seat), None)
                if state is None or asked is None or asked.decision != notice.decision:
                    return None
                return await self._turn(view, state, asked)
            case "over" if state:
                drawn = await figures(self._pictures, state, ("map", "market", "sheet"))
                return wording.news("The game is over.", notice.text, final(state), drawn)
            case "started" if state:
                drawn = await figures(self._pictures, state, ("map",))
                return wording.news(
                    "The game begins.", notice.text, words.status(state, view.asked, notice.seat), drawn
                )
            case _:
                standing = words.waiting(state, view.asked) if state else ""
                return wording.news("News from the table.", notice.text, standing)

    async def _turn(self, view: View, state: engine.State, asked: Asked) -> Page:
        """It is somebody's turn: what is needed, what happened, how things stand."""
        table = view.table.id
        since = await self._service.since(table, asked.seat)
        before = await self._service.state_at(table, since[0].seq - 1) if since and since[0].seq > 1 else None
        told = wording.Notice(
            name=asked.name,
            need=f"It is for you {asked.needs}.",
            lines=legal.lines(await self._service.choices(table, asked.seat)),
            since=happened(since),
            position=words.status(state, view.asked, asked.seat),
            pictures=await figures(self._pictures, state, ("map", "market"), before),
        )
        return wording.notice(told)


def happened(since: Sequence[Happening]) -> tuple[str, ...]:
    """What happened in sentences, the newest in full where there is much."""
    told = [" ".join(one.sentences) for one in since if one.live and one.sentences]
    rest = len(told) - NEWEST
    return tuple(told if rest <= 0 else [f"{rest} things before these", *told[-NEWEST:]])


def vote(text: Sequence[str]) -> Page:
    """A seat is asked for its vote."""
    blocks = (Paragraph(" ".join(text)), Copy("Answer with one of", ["accept", "decline"]))
    return Page("You are asked.", blocks, subject="Your vote", tone="turn")


def final(state: engine.State) -> str:
    """The final standings, and what everybody and every company had."""
    rows = [
        (str(place), state.name(seat), f"${dollars:,}")
        for place, (seat, dollars) in enumerate(engine.standings(state).items(), 1)
    ]
    return "\n".join([*words.table(("", "player", "worth"), rows), "", words.status(state, ())])
