"""The watch over a mailbox, through real IMAP: pymap in this process, and Dovecot where it is installed."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from email.utils import parseaddr
from hashlib import sha256
from pathlib import Path

import aioimaplib
import pytest

from bot.email.pages.answer_pages import PlayResult
from bot.email.replies.seat_replies import SeatReplies
from bot.email.stored_mail import InboundMail
from bot.hub.request import QueryAnswer
from mail.connecting import MailAccount
from mail.imap import ConnectionLost, Folder, ImapConnection, LoginRefused, why_unreachable
from mail.inbox import InboxTiming, InboxWatcher, MailOutcome
from mail.reading.parser import ParsedMail
from mail.reading.parser_process import ParserFailed, ParserNotStarted, ParserProcess
from mail.reply_address import ReplyToken
from tests.mail.mail_desk import ANN, MailDesk, alerts, reply
from tests.mail.servers import (
    PASSWORD,
    USER,
    Delivery,
    Mailbox,
    breakable_proxy,
    dovecot_server,
    free_port,
    pymap_server,
    self_signed,
)

FAST = InboxTiming(
    command_timeout=60.0,
    idle_timeout=2.0,
    failed_mail_retry=0.1,
    first_reconnect=0.02,
    max_reconnect=0.2,
    login_retry=0.2,
    max_size=200_000,
)

Server = Callable[[], AbstractAsyncContextManager[Mailbox]]
SERVERS = [
    pytest.param(pymap_server, id="pymap"),
    pytest.param(dovecot_server, id="dovecot", marks=pytest.mark.dovecot),
]


READER = ParserProcess()  # one worker for all tests of a process; it ends with the process


@pytest.fixture(params=SERVERS)
async def mailbox(request: pytest.FixtureRequest) -> AsyncIterator[Mailbox]:
    server: Server = request.param
    async with server() as found:
        yield found


@pytest.fixture
async def any_mailbox() -> AsyncIterator[Mailbox]:
    """For what a server has no part in."""
    async with pymap_server() as found:
        yield found


async def done(desk: MailDesk) -> list[str]:
    """What Ann's emails have done: the notes that she has made, and what was played."""
    (table,) = await desk.service.queries.list_tables()
    notes = await desk.service.submit(table.id, 0, ["notes"], None, None)
    assert isinstance(notes, QueryAnswer)
    made = [line.partition(". ")[2] for line in notes.text.splitlines() if line[:1].isdigit()]
    return [*made, *await desk.played()]


async def receipts(desk: MailDesk, reason: str | None = "played") -> int:
    """How many emails were answered."""
    of_them = {"kind": "answer"} | ({"reason": reason} if reason else {})
    async with desk.service.store.read() as unit:
        return await unit.outbox.count("mail", unit.now - timedelta(days=1), **of_them)


async def attempts(desk: MailDesk, *mails: bytes) -> list[int]:
    """How often each of the emails was tried."""
    async with desk.service.store.read() as unit:
        return [(await unit.inbound_mail.get(sha256(raw).hexdigest())).attempts for raw in mails]


@asynccontextmanager
async def watching(
    desk: MailDesk,
    account: MailAccount,
    pace: InboxTiming = FAST,
    parser: ParserProcess | None = None,
    warn: Callable[[str], None] = lambda text: None,
) -> AsyncIterator[list[str]]:
    """An inbox that runs meanwhile; it must not end by itself. Its reports: empty once all was looked at."""
    reports: list[str] = []
    inbox = InboxWatcher(
        account, desk.arrivals, desk.policy.handle, parser or READER, pace, reports.append, warn
    )
    task = asyncio.create_task(inbox.run())
    try:
        yield reports
        assert not task.done(), task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_what_lay_there_and_what_comes_is_dealt_with(
    desk: MailDesk, notice: Delivery, mailbox: Mailbox
) -> None:
    first = reply(notice, "note 1", message_id="<1@p>")
    second = reply(notice, "buy SV", message_id="<2@p>")
    await mailbox.put(first, b"From: eve@evil.test\r\n\r\nhello\r\n")
    async with watching(desk, mailbox.account):
        await mailbox.until("Processed", 1)
        await mailbox.put(second)
        await mailbox.until("Processed", 2)
    assert await done(desk) == ["1", "buy SV"]
    assert await mailbox.count("INBOX") == 0 and await mailbox.count("Ignored") == 1
    assert await receipts(desk, None) == 2 and await attempts(desk, first, second) == [1, 1]


async def test_what_comes_while_another_is_dealt_with_does_not_wait_for_the_next(
    desk: MailDesk, notice: Delivery, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server has told of it with the answer to a command, and tells nothing when IDLE begins."""

    record = desk.arrivals.record_outcome

    async def busy(digest: str, outcome: MailOutcome) -> None:
        await record(digest, outcome)
        if len(await done(desk)) == 1:
            await mailbox.put(reply(notice, "buy SV", message_id="<2@p>"))

    monkeypatch.setattr(desk.arrivals, "record_outcome", busy)
    async with watching(desk, mailbox.account, replace(FAST, idle_timeout=290.0)):
        await mailbox.put(reply(notice, "note 1", message_id="<1@p>"))
        await mailbox.until("Processed", 2, 20.0)
    assert await done(desk) == ["1", "buy SV"]


async def test_a_folder_that_somebody_makes_meanwhile_is_that_folder(
    desk: MailDesk, notice: Delivery, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = aioimaplib.IMAP4.create

    async def late(client: aioimaplib.IMAP4, name: str) -> object:
        if name == "Processed":
            await create(client, name)
        return await create(client, name)

    monkeypatch.setattr(aioimaplib.IMAP4, "create", late)
    await mailbox.put(reply(notice, "buy SV"))
    async with watching(desk, mailbox.account):
        await mailbox.until("Processed", 1)


async def test_the_folder_is_the_state_not_the_flag(
    desk: MailDesk, notice: Delivery, mailbox: Mailbox
) -> None:
    """C.31: a human who reads the mailbox loses nobody's orders."""
    await mailbox.put(reply(notice, "buy SV"))
    await mailbox.mark_seen()
    async with watching(desk, mailbox.account):
        await mailbox.until("Processed", 1)
    assert await done(desk) == ["buy SV"]


async def test_c09_duplicates_are_moved_and_not_done_again(
    desk: MailDesk, notice: Delivery, mailbox: Mailbox
) -> None:
    raw = reply(notice, "buy SV")
    await mailbox.put(raw, raw, b"Received: from elsewhere\r\n" + raw)
    async with watching(desk, mailbox.account):
        await mailbox.until("Processed", 3)
        await mailbox.put(raw)  # restored from a backup, moved back by a human, …
        await mailbox.until("Processed", 4)
    assert await done(desk) == ["buy SV"]
    assert await receipts(desk) == 1


async def test_c19_a_huge_mail_is_not_fetched(desk: MailDesk, notice: Delivery, mailbox: Mailbox) -> None:
    raw = reply(notice, "buy SV\n" + "x" * 70 + "\n" + ("y" * 70 + "\n") * 20_000)
    await mailbox.put(raw)
    async with watching(desk, mailbox.account):
        await mailbox.until("Processed", 1)
    assert await done(desk) == [] and await attempts(desk, raw[: FAST.preview_size]) == [1]
    await desk.take()
    assert "it is too big" in desk.newest[ANN].text


async def test_c19_many_mails(desk: MailDesk, any_mailbox: Mailbox) -> None:
    await any_mailbox.put(*[f"From: eve{n}@evil.test\r\n\r\nx\r\n".encode() for n in range(120)])
    async with watching(desk, any_mailbox.account):
        await any_mailbox.until("Ignored", 120, seconds=120)
    assert await receipts(desk, None) == 0


async def test_c18_a_bomb_goes_to_quarantine_and_the_next_mail_is_read(
    desk: MailDesk, notice: Delivery, any_mailbox: Mailbox, caplog: pytest.LogCaptureFixture
) -> None:
    bomb = reply(notice, "--b\n" * 5_000)
    await any_mailbox.put(bomb, reply(notice, "buy SV", message_id="<2@p>"))
    async with watching(desk, any_mailbox.account):
        await any_mailbox.until("Quarantine", 1)
        await any_mailbox.until("Processed", 1)
    assert await done(desk) == ["buy SV"] and alerts(caplog)
    assert await receipts(desk) == await receipts(desk, "unreadable") == 1


class TimedOutReader(ParserProcess):
    """A parser that no mail survives."""

    async def parse(self, raw: bytes, partial: bool = False) -> ParsedMail:
        raise ParserFailed("the parser took longer than 5 seconds")


async def test_a_mail_that_outlasts_the_parser_goes_to_quarantine(
    desk: MailDesk, notice: Delivery, any_mailbox: Mailbox
) -> None:
    await any_mailbox.put(reply(notice, "buy SV"))
    async with TimedOutReader() as parser, watching(desk, any_mailbox.account, parser=parser):
        await any_mailbox.until("Quarantine", 1)
    assert await done(desk) == [] and await receipts(desk, None) == await receipts(desk, "unreadable") == 1


class DyingReader(ParserProcess):
    """A parser whose first process dies for a reason that is not the mail's."""

    deaths = 0

    async def parse(self, raw: bytes, partial: bool = False) -> ParsedMail:
        if not self.deaths:
            self.deaths += 1
            raise ParserFailed("the parser died")
        return await super().parse(raw, partial)


async def test_a_mail_whose_parser_died_is_read_again(
    desk: MailDesk, notice: Delivery, any_mailbox: Mailbox
) -> None:
    await any_mailbox.put(reply(notice, "buy SV"))
    async with DyingReader() as parser, watching(desk, any_mailbox.account, parser=parser):
        await any_mailbox.until("Processed", 1)
    assert await done(desk) == ["buy SV"] and parser.deaths == 1


class LateReader(ParserProcess):
    """A parser that a busy machine does not start for a long time."""

    attempts = 0

    async def start(self) -> ProcessPoolExecutor:
        self.attempts += 1
        if self.attempts <= 5:
            raise ParserNotStarted("the parser could not be started: it takes longer than 30 seconds")
        return await super().start()


async def test_a_parser_that_does_not_start_spoils_no_mail(
    desk: MailDesk, notice: Delivery, any_mailbox: Mailbox, caplog: pytest.LogCaptureFixture
) -> None:
    """As often as it takes: that is no attempt at the mail."""
    mails = [reply(notice, line, message_id=f"<{line}@p>") for line in ("note 1", "buy SV")]
    await any_mailbox.put(*mails)
    async with LateReader() as parser, watching(desk, any_mailbox.account, parser=parser):
        await any_mailbox.until("Processed", 2)
    assert await done(desk) == ["1", "buy SV"]
    assert not alerts(caplog) and await attempts(desk, *mails) == [1, 1]


async def test_a_mail_that_fails_is_tried_three_times_and_nobody_waits(
    desk: MailDesk, notice: Delivery, any_mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    play, failures = SeatReplies.play, 0

    async def failing(
        seats: SeatReplies, token: ReplyToken, lines: Sequence[str], request_id: str
    ) -> PlayResult:
        nonlocal failures
        if "note 9" in lines:
            failures += 1
            raise RuntimeError("the database is away")
        return await play(seats, token, lines, request_id)

    monkeypatch.setattr(SeatReplies, "play", failing)
    await any_mailbox.put(
        reply(notice, "note 9", message_id="<1@p>"), reply(notice, "note 1", message_id="<2@p>")
    )
    warned: list[str] = []
    async with watching(desk, any_mailbox.account, warn=warned.append):
        await any_mailbox.until("Processed", 1)
        await any_mailbox.until("Quarantine", 1)
        await until(lambda: warned[-1:] == [""])
    assert failures == 3 and await done(desk) == ["1"]
    assert "1 email in it waits for another attempt; the log says why" in warned
    await desk.take()
    assert "NOT FINISHED: your email could not be handled." in desk.newest[ANN].text
    assert "Nothing was changed" not in desk.newest[ANN].text


class Killed(BaseException):
    """Stands for kill -9: nothing may catch it."""


@pytest.mark.parametrize(
    "point", ["record_arrival", "play", "after play", "record_outcome", "after record_outcome"]
)
async def test_c28_killed_between_any_two_steps(desk: MailDesk, notice: Delivery, point: str) -> None:
    """Whatever was done before the kill is not done again, and what was not done is made up for."""
    async with pymap_server() as mailbox:
        await mailbox.put(reply(notice, "buy SV"))
        name = point.removeprefix("after ")
        owner = SeatReplies if name == "play" else InboundMail
        step = getattr(owner, name)

        async def dying(*args: object) -> object:
            if point.startswith("after"):
                await step(*args)
            raise Killed

        setattr(owner, name, dying)
        inbox = InboxWatcher(mailbox.account, desk.arrivals, desk.policy.handle, READER, FAST)
        with pytest.raises(Killed):
            await inbox.run()
        setattr(owner, name, step)
        assert await mailbox.count("INBOX") == 1
        async with watching(desk, mailbox.account):
            await mailbox.until("Processed", 1)
        assert await done(desk) == ["buy SV"]
        assert await receipts(desk) == 1


@pytest.mark.parametrize("how", ["reset", "finish", "swallow"])
async def test_c29_a_lost_connection_is_noticed(
    desk: MailDesk, notice: Delivery, any_mailbox: Mailbox, how: str
) -> None:
    async with breakable_proxy(any_mailbox.port) as link:
        account = replace(any_mailbox.account, port=link.port)
        async with watching(desk, account, replace(FAST, command_timeout=1.0, idle_timeout=1.0)):
            await any_mailbox.put(reply(notice, "note 1", message_id="<1@p>"))
            await any_mailbox.until("Processed", 1)
            getattr(link, how)()
            await any_mailbox.put(reply(notice, "note 2", message_id="<2@p>"))
            await any_mailbox.until("Processed", 2)
        assert link.opened >= 2
    assert await done(desk) == ["1", "2"]


async def test_d6_a_link_that_breaks_all_the_time_loses_and_doubles_nothing(
    desk: MailDesk, notice: Delivery, any_mailbox: Mailbox
) -> None:
    chance = random.Random(6)
    async with breakable_proxy(any_mailbox.port) as link:
        account = replace(any_mailbox.account, port=link.port)
        async with watching(desk, account, replace(FAST, command_timeout=1.0, idle_timeout=1.0)):

            async def breaking() -> None:
                while True:
                    await asyncio.sleep(chance.uniform(0.02, 0.4))
                    chance.choice([link.reset, link.finish, link.swallow])()

            vandal = asyncio.create_task(breaking())
            for n in range(30):
                await any_mailbox.put(reply(notice, f"note {n}", message_id=f"<{n}@p>"))
            await until(lambda: link.opened > 5)
            vandal.cancel()
            await any_mailbox.until("Processed", 30, seconds=120)
    assert sorted(await done(desk), key=int) == [str(n) for n in range(30)]
    assert await receipts(desk, None) == 30


async def test_a_server_that_comes_later_is_found(desk: MailDesk) -> None:
    async with (
        pymap_server() as mailbox,
        breakable_proxy(free_port()) as link,
        watching(desk, replace(mailbox.account, port=link.port)) as reports,
    ):
        await until(lambda: link.opened >= 3)
        assert "" not in reports
        link.target = mailbox.port
        await until(lambda: "" in reports)


async def test_a_refused_login_alerts_and_is_tried_again(
    desk: MailDesk, mailbox: Mailbox, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        breakable_proxy(mailbox.port) as link,
        watching(desk, replace(mailbox.account, port=link.port, password="wrong")) as reports,
    ):
        await until(lambda: link.opened >= 3)
        assert "" not in reports
    (alert,) = alerts(caplog)  # once an hour
    assert "cannot be opened" in alert and "wrong" not in alert


@pytest.mark.parametrize("user", ["na me", 'a"b', "a\\b", 'x" "y'])
async def test_c23_names_are_quoted(user: str) -> None:
    """A refused login and nothing worse: the name never becomes IMAP of its own."""
    async with pymap_server() as mailbox:
        with pytest.raises(LoginRefused):
            await ImapConnection.open(replace(mailbox.account, user=user), 5.0)


def test_c27_a_password_is_in_no_trace() -> None:
    assert "secret" not in repr(MailAccount("imap.example.org", 993, "x", "secret"))


async def test_c27_a_server_without_tls_is_refused() -> None:
    async with pymap_server() as mailbox:
        with pytest.raises(ConnectionLost):
            await ImapConnection.open(replace(mailbox.account, security="tls"), 5.0)


async def test_c27_tls(desk: MailDesk, tmp_path: Path) -> None:
    server, client = self_signed(tmp_path)
    async with pymap_server(server) as mailbox, breakable_proxy(mailbox.port) as link:
        trusted = MailAccount("localhost", link.port, USER, PASSWORD, context=client)
        with pytest.raises(ConnectionLost, match="certificate"):
            await ImapConnection.open(replace(trusted, context=None), 5.0)
        async with watching(desk, trusted) as reports:
            await until(lambda: "" in reports)
            imap = await ImapConnection.open(trusted, 5.0)
            link.finish()
            with pytest.raises(ConnectionLost, match="was lost"):
                await imap.wait_for_mail(60.0)
            await imap.close()
            opened = link.opened
            await until(lambda: link.opened > opened)


async def test_without_move_mails_are_copied_and_marked(mailbox: Mailbox) -> None:
    for missing in ({"MOVE"}, {"MOVE", "UIDPLUS"}):
        await mailbox.put(b"From: a@b.test\r\n\r\nx\r\n")
        imap = await ImapConnection.open(mailbox.account, 5.0)
        imap._client.protocol.capabilities = set(imap._client.protocol.capabilities) - missing
        (uid,) = await imap.uids(1)
        await imap.move(uid, Folder.PROCESSED)
        assert await imap._search("ALL") == [] and not await imap.is_in_inbox("a@b.test")
        await imap.close()
    assert await mailbox.count("Processed") == 2


async def test_what_others_have_marked_stays_on_a_server_without_uidplus(mailbox: Mailbox) -> None:
    await mailbox.put(*[b"From: a@b.test\r\n\r\nx\r\n"] * 2)
    imap = await ImapConnection.open(mailbox.account, 5.0)
    imap._client.protocol.capabilities = set(imap._client.protocol.capabilities) - {"MOVE", "UIDPLUS"}
    theirs, ours = await imap.uids(1)
    await imap._uid("store", theirs, r"+FLAGS.SILENT (\Deleted)")
    await imap.move(ours, Folder.PROCESSED)
    assert await imap._search("ALL") == [theirs, ours] and await imap.uids(1) == []
    await imap.close()


async def test_without_idle_the_mailbox_is_polled(mailbox: Mailbox) -> None:
    imap = await ImapConnection.open(mailbox.account, 5.0)
    imap._client.protocol.capabilities = set(imap._client.protocol.capabilities) - {"IDLE"}
    await imap.wait_for_mail(0.05)
    await imap.close()


async def test_uids_are_searched_in_slices(mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch) -> None:
    await mailbox.put(*[b"From: a@b.test\r\n\r\nx\r\n"] * 7)
    monkeypatch.setattr("mail.imap._UID_SLICE", 3)
    imap = await ImapConnection.open(mailbox.account, 5.0)
    uids = await imap.uids(1)
    assert len(uids) == 7 and uids == sorted(uids)
    assert await imap.uids(uids[4]) == uids[4:] and await imap.uids(uids[-1] + 1) == []
    assert await imap.size(uids[-1] + 50) is None and await imap.fetch(uids[-1] + 50) is None
    await imap.close()


NASTY = [
    b"",
    b"\r\n",
    b"Subject: {5}\r\n\r\n* 1 FETCH (UID 1)\r\n)\r\nA1 OK\r\n",
    b"Subject: x\r\n\r\n" + b"* BYE\r\n" * 500,
    b"Subject: ) (\r\n\r\n{10}\r\n+ idling\r\n",
    bytes(range(1, 256)) * 300,
]


@pytest.mark.dovecot
async def test_bytes_come_as_they_are() -> None:
    async with dovecot_server() as mailbox:
        await mailbox.put(*[b"From: a@b.test\r\n" + body for body in NASTY])
        imap = await ImapConnection.open(mailbox.account, 5.0)
        fetched = [await imap.fetch(uid) for uid in await imap.uids(1)]
        assert fetched == await mailbox.folder("INBOX")
        await imap.close()


@pytest.mark.dovecot
async def test_delivery_by_lmtp_carries_the_token(desk: MailDesk, notice: Delivery) -> None:
    """C.9, C.11: the server's own stamps, not the sender's To, say where a mail went."""
    async with dovecot_server("play") as mailbox:
        address = parseaddr(notice.message["Reply-To"])[1]
        raw = reply(notice, "buy SV", to="undisclosed-recipients:;").replace(
            str(notice.message["Message-ID"]).encode(), b"<gone@x>"
        )
        async with watching(desk, mailbox.account):
            await mailbox.deliver(raw, address)
            await mailbox.until("Processed", 1)
            await mailbox.deliver(raw.replace(b"<reply-1@", b"<auto@"), address, sender="")
            await mailbox.until("Ignored", 1)
        assert await done(desk) == ["buy SV"]
        assert await receipts(desk, None) == 1


# --- what the log says ---


async def test_the_reason_why_mail_is_not_attached(tmp_path: Path) -> None:
    port = free_port()
    refused = await why_unreachable(MailAccount("127.0.0.1", port, "game", "secret", "plain"))
    assert refused == "no connection: Connection refused"
    nowhere = await why_unreachable(MailAccount("nowhere.invalid", port, "game", "secret"))
    assert nowhere == "there is no such host"
    async with pymap_server() as mailbox:
        assert await why_unreachable(mailbox.account) == ""
        plain = MailAccount("127.0.0.1", mailbox.port, "game", "secret")
        assert "does not speak TLS" in await why_unreachable(plain)
    server, _ = self_signed(tmp_path)
    async with pymap_server(server) as mailbox:
        unknown = MailAccount("localhost", mailbox.port, "game", "secret")
        assert "certificate is not accepted" in await why_unreachable(unknown)
