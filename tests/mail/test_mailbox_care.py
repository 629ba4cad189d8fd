"""Old mail that was dealt with is deleted; a mailbox without room is noticed and reported."""

import base64
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta

import pytest

from mail.connecting import MailAccount
from mail.imap import Folder, ImapConnection, Quota
from mail.inbox import INTERVAL, NOT_ERASED, REFUSED, MailboxCaretaker, fullness
from tests.mail.fake_imap import INBOX_MAIL, fake_imap
from tests.mail.mail_desk import MailDesk, alerts, reply
from tests.mail.servers import Delivery, Mailbox, dovecot_server, pymap_server
from tests.mail.test_inbox import done, until, watching

Server = Callable[[], AbstractAsyncContextManager[Mailbox]]


@pytest.fixture(params=["pymap", pytest.param("dovecot", marks=pytest.mark.dovecot)])
async def mailbox(request: pytest.FixtureRequest) -> AsyncIterator[Mailbox]:
    servers: dict[str, Server] = {"pymap": pymap_server, "dovecot": dovecot_server}
    async with servers[request.param]() as mailbox:
        yield mailbox


class Erased:
    """Two people whose mail is to be deleted."""

    def __init__(self) -> None:
        self.addresses = ["ann@player.test", "bob@player.test"]

    async def erased_addresses(self) -> list[str]:
        return list(self.addresses)

    async def addresses_of_others(self) -> Sequence[str]:
        return ()

    async def mailbox_is_erased(self, addresses: Sequence[str]) -> None:
        self.addresses = [each for each in self.addresses if each not in addresses]


def in_days(days: int) -> Callable[[], datetime]:
    return lambda: datetime.now(UTC) + timedelta(days=days)


def caretaker(
    account: MailAccount,
    days: int,
    told: list[str],
    erased: Erased | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> MailboxCaretaker:
    async def tidied(text: str) -> None:
        told.append(text)

    return MailboxCaretaker(account, days, tidied, erased, now=now)


async def test_mail_that_was_dealt_with_is_deleted_after_some_days(mailbox: Mailbox) -> None:
    """Not earlier, never from the inbox, and with 0 days never."""
    await mailbox.put(*[INBOX_MAIL] * 3)
    imap = await ImapConnection.open(mailbox.account, 10.0)
    for folder, uid in zip((Folder.PROCESSED, Folder.QUARANTINE), await imap.uids(1), strict=False):
        await imap.move(uid, folder)
    await imap.close()
    told: list[str] = []
    await caretaker(mailbox.account, 30, told, now=in_days(29)).tidy()
    await caretaker(mailbox.account, 0, told, now=in_days(9999)).tidy()
    assert [await mailbox.count(name) for name in ("INBOX", *Folder)] == [1, 1, 0, 1]
    await caretaker(mailbox.account, 30, told, now=in_days(32)).tidy()
    assert [await mailbox.count(name) for name in ("INBOX", *Folder)] == [1, 0, 0, 0]
    assert told == ["", "", ""]


@pytest.mark.parametrize(
    ("text", "is_deleted"),
    [
        (b"From: ann@player.test", True),
        (b"From: Joann <joann@player.test>", False),
        (b"To: ann@player.test.example\r\n\r\nx-ann@player.test", False),
        (b"To: joann@player.test\r\n\r\nWrite to ANN@player.test.", True),
        (b"X: y\r\n\r\nann@pla=\r\nyer.test", True),
        (b"X: y\r\n\r\n" + base64.encodebytes(b"as joann@player.test has said in " * 3), False),
        (b"X: y\r\n\r\n" + base64.encodebytes("so hat’s ann@player.test gesagt".encode() * 3), True),
        (b"To: joann@player.test\r\n\r\n" + b"a" * 73 + b"=\r\nbcdefg\r\n", False),
        (b"X: y\r\n\r\nthe server has found it, and it is not seen", True),
    ],
)
async def test_mail_with_an_address_is_deleted_but_not_with_a_longer_one(
    text: bytes, is_deleted: bool
) -> None:
    async with fake_imap() as server:
        server.mails.append(text)
        server.place = Folder.PROCESSED
        imap = await ImapConnection.open(server.account, 10.0)
        assert await imap.delete_with(Folder.PROCESSED, "ann@player.test")
        assert ("EXPUNGE" in server.asked) == is_deleted
        await imap.close()


async def test_mail_from_an_address_with_another_tag_is_deleted(mailbox: Mailbox) -> None:
    """The server finds it by its sender alone."""
    senders = ("Ann+games@player.test", "ann@player.test", "joann+ann@player.test", "ann+x@other.test")
    await mailbox.put(
        *(f"From: A <{sender}>\r\nTo: play@games.test\r\n\r\npass".encode() for sender in senders)
    )
    imap = await ImapConnection.open(mailbox.account, 10.0)
    for uid in await imap.uids(1):
        await imap.move(uid, Folder.PROCESSED)
    assert await imap.delete_with(Folder.PROCESSED, "ann@player.test", {"ann+games@player.test"})
    assert await mailbox.count(Folder.PROCESSED) == 3, "it is somebody else's"
    assert await imap.delete_with(Folder.PROCESSED, "ann@player.test")
    await imap.close()
    assert await mailbox.count(Folder.PROCESSED) == 2


async def test_a_mail_that_the_server_does_not_show_is_not_called_erased(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What can be read is deleted, and the mailbox is looked after as ever."""
    told: list[str] = []
    async with fake_imap() as server:
        server.mails += [INBOX_MAIL, b"To: bob@player.test\r\n\r\n"]
        server.refused, server.place = {1}, Folder.PROCESSED
        care = caretaker(server.account, 0, told, erased := Erased())
        await care.tidy()
        assert erased.addresses == ["ann@player.test", "bob@player.test"] and told == [""]
        assert "EXPUNGE" in server.asked
        assert alerts(caplog) == [NOT_ERASED]
        server.refused.clear()
        server.place = "INBOX"  # where they stay if it does not move them
        await care.tidy()
        assert erased.addresses == ["ann@player.test", "bob@player.test"]
        server.place = Folder.PROCESSED
        await care.tidy()
    assert erased.addresses == []


@pytest.mark.parametrize(("used", "said"), [(899, ""), (900, "90 % full (900 of 1000 KiB)"), (1001, "100 %")])
async def test_a_mailbox_that_is_nearly_full_is_reported(used: int, said: str) -> None:
    assert said in fullness(Quota(used, 1000)) and bool(said) == bool(fullness(Quota(used, 1000)))
    async with fake_imap() as server:
        server.quota = (used, 1000)
        imap = await ImapConnection.open(server.account, 10.0)
        assert await imap.quota() == (used, 1000)
        await imap.close()


async def test_the_quota_is_read_each_hour_and_mail_deleted_once_a_day() -> None:
    now = [datetime(2026, 11, 20, 9, tzinfo=UTC)]
    told: list[str] = []
    async with fake_imap() as server:
        server.quota = (950, 1000)
        care = caretaker(server.account, 30, told, now=lambda: now[0])
        for _ in range(30):
            await care.tidy()
            now[0] += timedelta(hours=1)
        assert len(told) == 30 and all("95 % full" in each for each in told)
        assert server.asked.count("SELECT") == 30 + 2 * len(Folder)
    assert INTERVAL == 3600


@pytest.mark.dovecot
async def test_the_quota_of_a_real_server() -> None:
    async with dovecot_server(quota="100K") as mailbox:
        await mailbox.put(INBOX_MAIL + b"x" * 95_000)
        told: list[str] = []
        await caretaker(mailbox.account, 30, told).tidy()
        assert len(told) == 1 and "% full" in told[0]


async def test_a_full_mailbox_is_said_and_no_mail_is_played_twice(
    desk: MailDesk, notice: Delivery, caplog: pytest.LogCaptureFixture
) -> None:
    """A server without MOVE has no room for a copy: the mail stays in the inbox, and the operator is told."""
    async with fake_imap() as server:
        server.full = True
        server.mails.append(reply(notice, "buy SV"))
        async with watching(desk, server.account):
            await until(lambda: server.asked.count("IDLE") >= 2)
    assert await desk.played() == ["buy SV"] and server.asked.count("LOGIN") == 1
    assert alerts(caplog) == ["The mailbox is full, so mail that was dealt with stays in the inbox."]


async def test_a_mail_that_the_server_does_not_show_keeps_no_other_waiting(
    desk: MailDesk, notice: Delivery, caplog: pytest.LogCaptureFixture
) -> None:
    """It stays in the inbox and is tried again, on the same connection, until the server shows it."""
    async with fake_imap() as server:
        server.mails += [reply(notice, "note 1", message_id="<1@p>"), reply(notice, "buy SV")]
        server.refused = {1}
        warned: list[str] = []
        async with watching(desk, server.account, warn=warned.append):
            await until(lambda: len(warned) >= 2)
            assert await desk.played() == ["buy SV"] and "1 email in it waits" in warned[-1]
            server.refused.clear()
            await until(lambda: warned[-1:] == [""])
    assert await done(desk) == ["1", "buy SV"] and server.asked.count("LOGIN") == 1
    assert alerts(caplog) == [REFUSED]


async def test_a_mail_that_the_server_does_not_mark_is_copied_once(
    desk: MailDesk, notice: Delivery, caplog: pytest.LogCaptureFixture
) -> None:
    """It stays in the inbox, and each attempt to move it made a copy."""
    async with fake_imap() as server:
        server.mails, server.marks = [reply(notice, "buy SV")], False
        async with watching(desk, server.account):
            await until(lambda: server.asked.count("STORE") >= 3)
    assert server.asked.count("COPY") == server.asked.count("LOGIN") == 1
    assert await desk.played() == ["buy SV"] and alerts(caplog) == [REFUSED]


async def test_a_folder_that_somebody_deletes_is_created_again(desk: MailDesk, notice: Delivery) -> None:
    async with fake_imap() as server, watching(desk, server.account):
        await until(lambda: "IDLE" in server.asked)
        server.folders = False
        server.mails.append(reply(notice, "buy SV"))
        await until(lambda: server.asked.count("LOGIN") == 2 and server.asked[-1] == "IDLE")
    assert server.folders and await desk.played() == ["buy SV"]
