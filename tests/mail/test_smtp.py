"""The delivery worker, through real SMTP on loopback."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiosmtplib
import pytest

from bot.email.pages import answer_pages
from mail import smtp
from mail.composing.compose import OutgoingMail, compose
from mail.connecting import MailAccount
from mail.inbox import InboxWatcher
from mail.reading.parser_process import ParserProcess
from mail.reply_address import ReplyToken, TokenRedactionFilter
from mail.smtp import (
    BURST,
    LEASE_SIZE,
    MAX_RETRY_AGE,
    DueMail,
    LeasedMails,
    SmtpDeliveryWorker,
    retry_at,
)
from tests.mail.mail_desk import ANN, POST, MailDesk, reply
from tests.mail.servers import (
    PASSWORD,
    Delivery,
    SmtpCatcher,
    free_port,
    pymap_server,
    self_signed,
    smtp_server,
)
from tests.mail.test_inbox import FAST, until


@dataclass
class Row:
    """An email in the outbox."""

    outgoing: OutgoingMail
    due: datetime
    attempts: int = 0
    state: str = "waiting"
    reason: str = ""


class Outbox:
    """An outbox in memory, with a clock that only tests move."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
        self.rows: dict[str, Row] = {}

    def clock(self) -> datetime:
        return self.now

    def states(self) -> list[str]:
        return [row.state for row in self.rows.values()]

    def waiting(self) -> list[Row]:
        return [row for row in self.rows.values() if row.state == "waiting"]

    async def lease_due(self, limit: int, full: Collection[str] = ()) -> LeasedMails:
        rows = [row for row in self.waiting() if row.due <= self.now]
        rows = [row for row in rows if row.outgoing.recipient.partition("@")[2] not in full][:limit]
        mails = [
            DueMail(
                row.outgoing.message_id, row.outgoing.recipient, row.outgoing.envelope_sender,
                row.outgoing.raw, row.attempts, self.now,
            )
            for row in rows
        ]  # fmt: skip
        return LeasedMails(mails, min((row.due for row in self.waiting()), default=None))

    async def renew_leases(self, mails: Sequence[DueMail]) -> frozenset[str]:
        return frozenset(mail.id for mail in mails if self.rows[mail.id].state == "waiting")

    async def mark_sent(self, due: DueMail) -> None:
        self.rows[due.id].state = "sent"

    async def mark_failed(self, due: DueMail, reason: str, retry: datetime | None) -> None:
        row = self.rows[due.id]
        row.attempts += 1
        row.due, row.state, row.reason = retry or row.due, "waiting" if retry else "dead", reason


def email(outbox: Outbox, address: str = ANN) -> OutgoingMail:
    sealed = ReplyToken("reply", address, frozenset({address}), "Table 17", "17", "d1")
    made = compose(POST, answer_pages.confirmation("Hello."), sealed, outbox.now, "notice")
    outbox.rows[made.message_id] = Row(made, outbox.now)
    return made


def worker(outbox: Outbox, player: SmtpCatcher, spacing: float = 0.0) -> SmtpDeliveryWorker:
    return SmtpDeliveryWorker(
        player.account, outbox, poll=0.05, spacing=spacing, timeout=60.0, first_retry=0.02, now=outbox.clock
    )


@asynccontextmanager
async def running(worker: SmtpDeliveryWorker) -> AsyncIterator[None]:
    task = asyncio.create_task(worker.run())
    try:
        yield
        assert not task.done(), task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_mails_are_sent_as_they_are_stored() -> None:
    outbox = Outbox()
    async with smtp_server() as player:
        async with running(worker(outbox, player)):
            sent = [email(outbox) for _ in range(20)]
            await player.delivered(20)
            await until(lambda: not outbox.waiting())
        assert [delivery.raw for delivery in player.emails] == [outgoing.raw for outgoing in sent]
        assert {delivery.recipients for delivery in player.emails} == {("ann@player.test",)}
        assert [delivery.sender for delivery in player.emails] == [
            outgoing.envelope_sender for outgoing in sent
        ]
        assert player.connections <= 2
        assert "Hello." in player.emails[0].text


async def test_c37_one_bad_recipient_holds_up_nobody() -> None:
    outbox = Outbox()
    async with smtp_server() as player:
        player.refuse = {"gone@player.test": "550 no such user", "grey@player.test": "451 later"}.get
        emails = {name: email(outbox, f"{name}@player.test") for name in ("a", "gone", "b", "grey", "c")}
        grey = outbox.rows[emails["grey"].message_id]
        post = worker(outbox, player)
        async with running(post):
            await until(lambda: outbox.states() == ["sent", "dead", "sent", "waiting", "sent"])
            await until(lambda: grey.attempts == 1)
            assert grey.due > outbox.now and "451" in grey.reason
            player.refuse = lambda _: None
            outbox.now += timedelta(minutes=2)
            await until(lambda: grey.state == "sent")  # greylisting passes the second time


@pytest.mark.parametrize(("refusal", "state"), [("552 too big", "dead"), ("452 no room", "waiting")])
async def test_a_mail_refused_after_data(refusal: str, state: str) -> None:
    outbox = Outbox()
    async with smtp_server() as player:
        player.refuse_data = lambda _: refusal
        row = outbox.rows[email(outbox).message_id]
        async with running(worker(outbox, player)):
            await until(lambda: row.attempts == 1)
        assert row.state == state


async def test_a_connection_lost_after_data_sends_the_same_mail_again() -> None:
    outbox = Outbox()
    async with smtp_server() as player:
        player.drop_after_data = 1
        outgoing, _ = email(outbox), email(outbox)
        async with running(worker(outbox, player)):
            await until(lambda: outbox.states() == ["waiting", "sent"])
            outbox.now += timedelta(minutes=2)
            await until(lambda: not outbox.waiting())
        copies = [d.raw for d in player.emails if d.message["Message-ID"] == outgoing.message_id]
        assert copies == [outgoing.raw, outgoing.raw]


async def test_a_server_that_comes_later_gets_everything() -> None:
    outbox = Outbox()
    port, reports = free_port(), list[str]()
    outgoing = email(outbox)
    post = SmtpDeliveryWorker(
        MailAccount("127.0.0.1", port, security="plain"),
        outbox,
        poll=0.05,
        spacing=0,
        first_retry=0.02,
        now=outbox.clock,
        report=reports.append,
    )
    async with running(post):
        await until(lambda: bool(reports))
        assert reports[0] == f"127.0.0.1:{port} cannot be used: no connection: Connection refused"
        await asyncio.sleep(0.2)
        assert outbox.rows[outgoing.message_id].attempts == 0  # the server's absence is no email's fault
        async with smtp_server(port) as player:
            await player.delivered(1)
            await until(lambda: outbox.rows[outgoing.message_id].state == "sent")


async def test_an_email_that_a_dead_worker_has_leased_goes_out_when_its_lease_ends() -> None:
    """Nobody wakes the worker then, and it does not wait for the next poll."""
    outbox = Outbox()
    outgoing = email(outbox)
    row = outbox.rows[outgoing.message_id]
    row.due = outbox.now + timedelta(seconds=0.1)
    async with smtp_server() as player:
        post = SmtpDeliveryWorker(
            player.account, outbox, poll=3_600.0, now=lambda: row.due - timedelta(seconds=0.1)
        )
        async with running(post):
            await asyncio.sleep(0.1)
            row.due = outbox.now
            await player.delivered(1)


async def test_waking_is_quicker_than_polling() -> None:
    outbox = Outbox()
    async with smtp_server() as player:
        post = SmtpDeliveryWorker(player.account, outbox, poll=3_600.0, now=outbox.clock)
        async with running(post):
            await asyncio.sleep(0.1)
            email(outbox)
            post.wake()
            await player.delivered(1)


async def test_c38_mails_to_one_domain_are_spaced_after_the_first_few_and_others_go_between() -> None:
    outbox = Outbox()
    async with smtp_server() as player:
        for number in range(BURST + 2):
            email(outbox, f"{number}@one.test")
        email(outbox, "other@two.test")
        async with running(worker(outbox, player, spacing=3_600.0)):
            await player.delivered(BURST + 1)
            received = [delivery.recipients[0] for delivery in player.emails]
            assert [each for each in received if "one" in each] == [f"{n}@one.test" for n in range(BURST)]
            assert "other@two.test" in received
            await until(lambda: outbox.states().count("sent") == BURST + 1)


async def test_a_slow_domain_holds_up_nobody_else() -> None:
    """The server takes no email for one domain, for which more are due than are taken at a time."""
    outbox = Outbox()
    async with smtp_server() as player:
        player.slow = asyncio.Event()
        slow = [email(outbox, f"{n}@slow.test") for n in range(LEASE_SIZE + 10)]
        others = [email(outbox, f"{n}@domain{n}.test") for n in range(LEASE_SIZE)]
        async with running(worker(outbox, player)):
            await player.delivered(len(others))
            assert not [d for d in player.emails if "slow" in d.recipients[0]]
            late = email(outbox, "late@other.test")
            await player.delivered(len(others) + 1)
            assert player.emails[-1].message["Message-ID"] == late.message_id
            assert player.connections <= 5
            player.slow.set()
            await player.delivered(len(others) + 1 + len(slow))
            await until(lambda: not outbox.waiting())
        order = [d.message["Message-ID"] for d in player.emails if "slow" in d.recipients[0]]
        assert order == [each.message_id for each in slow], "each once, in order"


async def test_domains_that_were_slow_share_half_of_the_connections() -> None:
    outbox = Outbox()
    addresses = [f"a@{n}.slow.test" for n in range(5)]
    async with smtp_server() as player:
        post = SmtpDeliveryWorker(
            player.account, outbox, poll=0.05, spacing=0.0, slow_after=0.0, now=outbox.clock
        )
        async with running(post):
            for address in addresses:
                email(outbox, address)
            await player.delivered(5)
            await until(lambda: not outbox.waiting())
            player.slow = asyncio.Event()
            for address in [*addresses, *(f"{n}@domain{n}.test" for n in range(20))]:
                email(outbox, address)
            await player.delivered(25)
            assert player.waiting == 2
            player.slow.set()
            await player.delivered(30)


async def test_an_email_that_is_replaced_while_it_waits_for_its_domain_is_not_sent() -> None:
    outbox = Outbox()
    async with smtp_server() as player:
        player.slow = asyncio.Event()
        first, replaced, last = [email(outbox, "a@slow.test") for _ in range(3)]
        post = SmtpDeliveryWorker(
            player.account, outbox, poll=0.05, spacing=0, renewal=0.02, now=outbox.clock
        )
        async with running(post):
            await until(lambda: player.waiting == 1)
            outbox.rows[replaced.message_id].state = "superseded"
            await until(lambda: replaced.message_id not in post._held)
            player.slow.set()
            await player.delivered(2)
        assert [d.message["Message-ID"] for d in player.emails] == [first.message_id, last.message_id]


async def test_a_outbox_that_fails_does_not_end_the_worker() -> None:
    outbox = Outbox()
    due, calls = outbox.lease_due, 0

    async def failing(limit: int, full: object = ()) -> object:
        nonlocal calls
        calls += 1
        if calls < 3:
            raise RuntimeError("the database is away")
        return await due(limit)

    outbox.lease_due = failing  # type: ignore[method-assign, assignment]
    email(outbox)
    async with smtp_server() as player, running(worker(outbox, player)):
        await player.delivered(1)


async def test_c27_starttls_is_required_where_it_is_asked_for() -> None:
    outbox = Outbox()
    outgoing = email(outbox)
    async with smtp_server() as player:
        account = MailAccount("127.0.0.1", player.port, security="starttls")
        post = SmtpDeliveryWorker(account, outbox, poll=0.05, first_retry=0.02, now=outbox.clock)
        async with running(post):
            await until(lambda: player.connections >= 2)
        assert player.emails == [] and outbox.rows[outgoing.message_id].attempts == 0


async def test_c27_tls(tmp_path: Path) -> None:
    server, client = self_signed(tmp_path)
    outbox = Outbox()
    outgoing = email(outbox)
    async with smtp_server(context=server) as player:
        account = MailAccount("localhost", player.port, context=client)
        untrusting = SmtpDeliveryWorker(
            replace(account, context=None), outbox, poll=0.05, first_retry=0.02, now=outbox.clock
        )
        async with running(untrusting):
            await asyncio.sleep(0.5)
        assert player.emails == [] and outbox.rows[outgoing.message_id].attempts == 0
        async with running(
            SmtpDeliveryWorker(account, outbox, poll=0.05, first_retry=0.02, now=outbox.clock)
        ):
            await player.delivered(1)


@pytest.mark.parametrize("turns", [*range(12), 16, 24, 40])
async def test_a_worker_stops_whenever_it_is_told_to(turns: int) -> None:
    """Also at the very moment at which the server's answer comes; and what was sent is then known to be."""
    outbox = Outbox()
    async with smtp_server() as player:
        task = asyncio.create_task(worker(outbox, player).run())
        email(outbox)
        await player.delivered(1)
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        done, _ = await asyncio.wait({task}, timeout=60)
        assert done and task.cancelled()


async def test_a_worker_stops_while_the_server_refuses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library may lose the cancellation where the refusal comes at the same moment."""
    reached = asyncio.Event()

    async def refuse(*_: object) -> None:
        reached.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise aiosmtplib.SMTPException("STARTTLS is not supported") from None

    monkeypatch.setattr(smtp, "connect", refuse)
    outbox = Outbox()
    email(outbox)
    async with smtp_server() as player:
        task = asyncio.create_task(worker(outbox, player).run())
        await reached.wait()
        task.cancel()
        done, _ = await asyncio.wait({task}, timeout=60)
        assert done and task.cancelled()


def test_schedule() -> None:
    start = datetime(2026, 11, 20, tzinfo=UTC)
    waits = [retry_at(n, start, start, 0.0) for n in range(6)]
    minutes = [(then - start) / timedelta(minutes=1) for then in waits if then]
    assert minutes == [1, 5, 15, 60, 240, 240]
    late = start + MAX_RETRY_AGE - timedelta(hours=1)
    assert retry_at(9, start, late, 0.0) is None
    jittered = retry_at(0, start, start, 1.0)
    assert jittered and timedelta(minutes=1) < jittered - start <= timedelta(minutes=1, seconds=12)
    now, attempts = start, 0
    while then := retry_at(attempts, start, now, 0.5):
        now, attempts = then, attempts + 1
    assert 10 < attempts < 20 and now <= start + MAX_RETRY_AGE


async def test_a_whole_round_trip(desk: MailDesk, caplog: pytest.LogCaptureFixture) -> None:
    """A notice goes out by SMTP, its reply comes in by IMAP, the receipt goes out by SMTP; and C.26: no token
    and no password is in our own log, nor in the libraries' where the filter is on the handler.
    """
    caplog.set_level(logging.DEBUG)
    async with pymap_server() as mailbox, smtp_server() as player, ParserProcess() as parser:
        post = SmtpDeliveryWorker(player.account, desk.outbox, poll=0.05, now=lambda: desk.clock[0])
        inbox = InboxWatcher(mailbox.account, desk.arrivals, desk.policy.handle, parser, FAST)

        def to_ann() -> list[Delivery]:
            return [each for each in player.emails if each.recipients == (ANN,)]

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(inbox.run()), group.create_task(post.run())]
            await desk.table("1830", ["Ann", "Bob"])
            await player.delivered(2)
            (notice,) = to_ann()
            await mailbox.put(reply(notice, "buy SV"))
            await player.delivered(4)
            _, receipt = to_ann()
            for task in tasks:
                task.cancel()
        assert await desk.played() == ["buy SV"]
        assert "OK: all lines were carried out." in receipt.text
        assert receipt.message["In-Reply-To"] == "<reply-1@player.test>"
    tokens = POST.find_tokens(
        [player.emails[0].raw.decode(), receipt.raw.decode(), receipt.sender, notice.sender]
    )
    assert len(tokens) >= 6 and "mailbox: played -> Processed" in caplog.text
    filtered = TokenRedactionFilter()
    for record in caplog.records:
        library = record.name.partition(".")[0] in {"aioimaplib", "aiosmtplib", "asyncio"}
        if library:
            filtered.filter(record)
        elif record.name not in {
            "mail.inbox",
            "mail.smtp",
            "mail.reading.parser_process",
            "mail.imap",
        }:
            continue  # the servers' own; aiosmtpd calls itself mail.log
        shown = caplog.handler.format(record)
        assert PASSWORD not in shown and not any(token in shown for token in tokens)
