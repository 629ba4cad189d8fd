"""A player whose address refuses emails is cut off, and comes back by Discord and by the terminal.

By an email: `tests/mail/test_reachability.py`.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bot.terminal.console import Console
from tests.end_to_end.mail_players import (
    MailHarness,
    MailPlayer,
    asks,
    attached,
    headline,
    served,
    settings_for,
)
from tests.fake_discord.running_bot import RunningBot
from tests.fake_discord.server import FakeDiscord
from tests.mail.servers import pymap_server, smtp_server

UNKNOWN = "550 5.1.1 User unknown"


@pytest.fixture(autouse=True)
def asked_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.email.reachability.ASK_AGAIN", timedelta(0))


def refuse(office: MailHarness, player: MailPlayer) -> None:
    office.player_server.refuse = lambda to: UNKNOWN if to == player.address else None


def deliver_again(office: MailHarness) -> None:
    office.player_server.refuse = lambda _: None


async def told(office: MailHarness, table_id: int) -> list[str]:
    return [text for row in await office.service.queries.log(table_id) for text in row.sentences]


async def assert_plays_on(office: MailHarness, ann: MailPlayer, table_id: int) -> None:
    """The question comes by email, and the answer counts. Receipts and news may come before or after it."""
    while not asks(question := await ann.email(), "Ann"):
        pass
    assert headline(await ann.answered("buy SV", to=question)).startswith("OK")
    assert "Emails reach Ann again." in await told(office, table_id)


async def test_back_by_discord(tmp_path: Path) -> None:
    """Ann plays on Discord and by email. She is told on Discord; `/me email` with the same address, and `yes`
    to the email that it sends, bring her emails back."""
    async with FakeDiscord(["Ann"]) as fake, pymap_server() as mailbox, smtp_server() as smtp:
        running = RunningBot(fake, tmp_path / "railpost.db")
        async with running.online() as service:
            office = MailHarness(service, service.store, settings_for(tmp_path, mailbox, smtp), mailbox, smtp)
            ann = office.player("Ann")
            async with attached(office, running.pictures):
                await fake.run_command("Ann", "general", "me email", address=ann.address)
                await ann.email()
                assert "is confirmed" in (await ann.said("yes")).text
                async with service.store.read() as unit:
                    person = await unit.people.find_by_identity("email", ann.address)
                assert person is not None
                bob = await office.person("Bob")
                table = await service.lobby.create("1830", person.id, name="Friday")
                for each, name in ((person, "Ann"), (bob, "Bob")):
                    await service.lobby.join(table.id, each.id, name)
                refuse(office, ann)
                await service.lobby.start(table.id, by=person.id, order=["Ann", "Bob"])
                direct = fake.find_dm("Ann")
                await fake.wait_until(
                    lambda: any("come back" in message.text for message in direct.messages), "the message"
                )
                assert "Emails to Ann do not arrive. Discord still reaches them." in await told(
                    office, table.id
                )
                deliver_again(office)
                await fake.run_command("Ann", "general", "me email", address=ann.address)
                assert headline(await ann.email()) == "Is this your address?"
                await ann.reply("yes")
                await assert_plays_on(office, ann, table.id)


async def test_back_by_the_terminal(tmp_path: Path) -> None:
    async with served(tmp_path) as office:
        ann, bob = office.player("Ann"), office.player("Bob")
        refuse(office, ann)
        table = await office.table("1830", ["Ann", "Bob"])
        while headline(await bob.email()) != "Emails to Ann do not arrive.":
            pass
        console = Console(office.service, tmp_path)
        await console.handle_line(f"table use {table.code}")
        assert f"do not arrive: {UNKNOWN}" in (await console.handle_line("player Ann mail")).text
        deliver_again(office)
        assert "waits for Ann: an email follows" in (await console.handle_line("player Ann mail on")).text
        await assert_plays_on(office, ann, table.id)
