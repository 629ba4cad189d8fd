"""A provider that delivers one address only, and one-click unsubscribe, through the whole path."""

from __future__ import annotations

import re
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from bot.config import SettingsError, parse_settings
from bot.email.unsubscribe import UnsubscribePage
from tests.end_to_end.mail_players import ADDRESS, MailHarness, MailPlayer, asks, headline, served
from tests.end_to_end.test_tables_by_mail import sent
from tests.mail.servers import Delivery

NONE = {"RAILPOST_MAIL_SEPARATOR": "none"}


def bare(player: MailPlayer, to: Delivery, *lines: str, name: bool = False, quote: bool = False) -> bytes:
    """A reply of a mail program that keeps no Message-ID; the name and the quote if it is told."""
    mail = EmailMessage(policy=SMTP)
    mail["From"], mail["To"] = player.address, str(to.message["Reply-To"]) if name else ADDRESS
    mail["Subject"], mail["Message-ID"] = "Re: the game", f"<{player.read}.bare@player.test>"
    quoted = "\n".join(f"> {line}" for line in to.text.splitlines()) if quote else ""
    mail.set_content("\n".join(lines) + f"\n\n{quoted}\n")
    return mail.as_bytes()


async def played(player: MailPlayer) -> None:
    """Read on until the receipt of a move."""
    while headline(await player.email()) != "OK: all lines were carried out.":
        pass


async def test_a_game_without_subaddresses(tmp_path: Path) -> None:
    """From `new` to moves by each of the places that a mail program may keep, then `stop` by the header."""
    async with served(tmp_path, environment=NONE) as office:
        await office.person("Ann")
        ann, bob = office.player("Ann"), office.player("Bob")
        await sent(ann, "new 1830 Bob <bob@player.test>")
        await bob.email()
        assert "You have a seat" in (await bob.said("yes")).text
        await ann.email()
        await ann.reply("start")
        await ann.until_asked()
        turn = ann.inbox[-1]
        assert str(turn.message["Reply-To"]).endswith(f"<{ADDRESS}>") and turn.sender == ADDRESS
        await office.mail(bare(ann, turn, "buy SV", name=True), sender=ann.address)
        await played(ann)
        await bob.until_asked()
        await office.mail(bare(bob, bob.inbox[-1], "buy CS", quote=True), sender=bob.address)
        await played(bob)
        await ann.until_asked()
        asked = ann.inbox[-1]
        await office.mail(bare(ann, asked, "buy DH"), sender=ann.address)
        assert "Your seats" in (await ann.email()).text, "without any token: help, and nothing is played"
        await ann.reply("buy DH", to=asked)
        await played(ann)
        (table,) = await office.service.queries.list_tables()
        assert await office.lines(table) == ["buy SV", "buy CS", "buy DH"]
        header = str(ann.inbox[-1].message["List-Unsubscribe"])
        found = re.fullmatch(rf"<mailto:{ADDRESS}\?subject=(stop)%20(code-\w+)>", header)
        assert found is not None
        assert (
            "No more emails go to ann@player.test"
            in (await sent(ann, "", 7, subject=f"{found[1]} {found[2]}")).text
        )


async def test_another_player_cannot_use_a_code(tmp_path: Path) -> None:
    """Bob has seen the code of Ann's email: nothing is played, and she is told."""
    async with served(tmp_path, environment=NONE) as office:
        table = await office.table("1830", ["Ann", "Bob"])
        ann, bob = office.player("Ann"), office.player("Bob")
        await ann.email()
        await office.mail(bare(bob, ann.inbox[-1], "buy SV", name=True), sender=bob.address)
        assert "buy SV" in (await ann.email()).text and await office.lines(table) == []


async def test_one_click_unsubscribe(tmp_path: Path) -> None:
    """A POST ends emails, and is safe to repeat; a GET, as mail scanners send it, changes nothing."""
    environment = {
        "RAILPOST_MAIL_UNSUBSCRIBE_URL": "https://games.test/unsubscribe/",
        "RAILPOST_STATUS_PORT": "8181",
    }
    async with served(tmp_path, environment=environment) as office:
        await office.table("1830", ["Ann", "Bob"])
        ann = office.player("Ann")
        await ann.email()
        message = ann.inbox[-1].message
        path = re.match(
            r"<https://games\.test(/unsubscribe/\w{26})>, <mailto:", str(message["List-Unsubscribe"])
        )
        assert path is not None and message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        async with page(office) as base, aiohttp.ClientSession() as session:
            asked = await session.get(base + path[1])
            assert asked.status == 200 and "<form method" in await asked.text()
            assert await wants_mail(office)
            for _ in range(2):
                done = await session.post(base + path[1], data={"List-Unsubscribe": "One-Click"})
                assert done.status == 200 and "No more emails" in await done.text()
            assert not await wants_mail(office)
            reply_token = re.search(r"\+(\w{26})@", str(message["Reply-To"]))
            assert reply_token is not None
            for wrong in ("a" * 26, reply_token[1]):
                assert (await session.post(f"{base}/unsubscribe/{wrong}")).status == 404
        assert "Emails go to ann@player.test again" in (await ann.said("start")).text
        assert asks(await ann.email(), "Ann")


async def wants_mail(office: MailHarness) -> bool:
    async with office.store.read() as unit:
        person = await unit.people.find_by_identity("email", "ann@player.test")
        return person is not None and person.preferences.get("mail") is not False


class page:
    """The page on a port of loopback."""

    def __init__(self, office: MailHarness) -> None:
        application = web.Application()
        UnsubscribePage(office.service).add_to(application)
        self._runner = web.AppRunner(application)

    async def __aenter__(self) -> str:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()


def test_settings() -> None:
    servers = {
        "RAILPOST_IMAP": "imaps://play%40games.test:x@mail.test",
        "RAILPOST_SMTP": "smtps://play%40games.test:x@mail.test",
    }
    mail = parse_settings(servers | NONE).mail
    assert mail is not None and mail.separator == "" and mail.unsubscribe_url == ""
    for given, said in (
        ({"RAILPOST_MAIL_UNSUBSCRIBE_URL": "https://games.test/"}, "needs RAILPOST_STATUS_PORT"),
        (
            {"RAILPOST_MAIL_UNSUBSCRIBE_URL": "http://games.test/", "RAILPOST_STATUS_PORT": "1"},
            "start with https",
        ),
    ):
        with pytest.raises(SettingsError, match=said):
            parse_settings(servers | given)
