"""`railpost check-mail` against real servers: each step that fails is named, with what to mend."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import pytest

from bot.cli.check_mail import CheckFailed, check
from bot.config import Settings, parse_settings
from mail.connecting import MailAccount
from mail.imap import ConnectionLost, ImapConnection, why_unreachable
from tests.mail.servers import Delivery, Mailbox, SmtpCatcher, free_port, pymap_server, smtp_server


def settings_for(data: Path, mailbox: Mailbox, smtp_port: int, **more: str) -> Settings:
    return parse_settings(
        {
            "RAILPOST_DATA": str(data),
            "RAILPOST_IMAP": f"imap://{mailbox.user}:{mailbox.password}@127.0.0.1:{mailbox.port}",
            "RAILPOST_SMTP": f"smtp://127.0.0.1:{smtp_port}",
            "RAILPOST_MAIL_ADDRESS": "play@games.test",
        }
        | more
    )


async def deliver_back(smtp: SmtpCatcher, mailbox: Mailbox) -> None:
    (email,) = await smtp.delivered(1)
    assert isinstance(email, Delivery)
    await mailbox.put(email.raw)


async def no_records(name: str) -> list[str]:
    return []


async def test_everything_works(tmp_path: Path) -> None:
    async with pymap_server() as mailbox, smtp_server() as smtp:
        back = asyncio.create_task(deliver_back(smtp, mailbox))
        told = await check(settings_for(tmp_path, mailbox, smtp.port), 30.0, no_records)
        await back
        assert "logged in as game" in told[0] and "Processed" in told[0]
        assert "took an email to play+…@games.test" in told[1]
        assert told[2] == "The email came back to the mailbox: replies will arrive."
        assert [sentence.split()[0].rstrip(":") for sentence in told[3:]] == ["SPF", "DKIM", "DMARC"]
        assert await mailbox.count("INBOX") == 0 and await mailbox.count("Ignored") == 1


async def test_each_fault_has_a_sentence(tmp_path: Path) -> None:
    async with pymap_server() as mailbox, smtp_server(login=("post", "secret")) as smtp:
        wrong = settings_for(
            tmp_path, mailbox, smtp.port, RAILPOST_IMAP=f"imap://game:no@127.0.0.1:{mailbox.port}"
        )
        with pytest.raises(CheckFailed, match="refused to log game in"):
            await check(wrong, 1.0)
        nobody = settings_for(
            tmp_path, mailbox, smtp.port, RAILPOST_IMAP=f"imap://game:no@127.0.0.1:{free_port()}"
        )
        with pytest.raises(CheckFailed, match="cannot be used: no connection"):
            await check(nobody, 1.0)
        login = f"smtp://post:wrong@127.0.0.1:{smtp.port}"
        with pytest.raises(CheckFailed, match="SMTP: "):
            await check(settings_for(tmp_path, mailbox, smtp.port, RAILPOST_SMTP=login), 1.0)
    async with pymap_server() as mailbox, smtp_server() as smtp:
        with pytest.raises(CheckFailed, match="turn sub-addressing on"):
            await check(settings_for(tmp_path, mailbox, smtp.port), 0.5)
        smtp.refuse = lambda _: "554 5.7.1 Relay access denied"
        with pytest.raises(CheckFailed, match="something against the sender"):
            await check(settings_for(tmp_path, mailbox, smtp.port), 0.5)
    with pytest.raises(CheckFailed, match="not configured"):
        await check(parse_settings({"RAILPOST_DATA": str(tmp_path)}), 1.0)


async def test_a_wrong_port_or_kind_of_tls_names_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.cli.check_mail.TIMEOUT", 0.5)
    async with pymap_server() as mailbox, smtp_server() as smtp:

        async def told(**more: str) -> str:
            with pytest.raises(CheckFailed) as failed:
                await check(settings_for(tmp_path, mailbox, smtp.port, **more), 1.0, no_records)
            return str(failed.value)

        for name, scheme, port in (
            ("IMAP", "imaps", mailbox.port), ("IMAP", "imap", free_port()), ("IMAP", "imap", smtp.port),
            ("SMTP", "smtps", smtp.port), ("SMTP", "smtp", free_port()), ("SMTP", "smtp", mailbox.port),
        ):  # fmt: skip
            user = f"{mailbox.user}:{mailbox.password}@" if name == "IMAP" else ""
            sentence = await told(**{f"RAILPOST_{name}": f"{scheme}://{user}127.0.0.1:{port}"})
            assert f"Write the host and the port that your provider names into RAILPOST_{name}: " in sentence
            assert "Errno" not in sentence and "None" not in sentence, sentence


@pytest.mark.parametrize(
    ("ends", "patience", "why"),
    [(True, 60.0, "no connection: it is ended at once"), (False, 0.1, "it does not answer")],
)
async def test_what_is_no_mailbox_is_told_apart(
    ends: bool, patience: float, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting)
        await reader.read(1 if ends else -1)
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        greeting = b""
        assert await why_unreachable(MailAccount("127.0.0.1", port, "game", "secret"), patience) == why
        greeting = b"220 mail.example.org ESMTP\r\n"
        with pytest.raises(ConnectionLost, match=f"^127.0.0.1 does not speak IMAP on port {port}$"):
            await ImapConnection.open(MailAccount("127.0.0.1", port, "game", "secret", "plain"), 60.0)
    gc.collect()
    assert "never retrieved" not in caplog.text
