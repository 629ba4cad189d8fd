"""`my data` and `erase me` by email: only after `yes` to an email that goes to the verified address."""

from __future__ import annotations

from collections.abc import AsyncIterator
from email import message_from_bytes, policy
from pathlib import Path

import msgspec
import pytest

from bot.email.delivery import mail_account
from mail.inbox import MailboxCaretaker
from storage import NotFound
from tests.end_to_end.mail_players import MailHarness, MailPlayer, headline, served
from tests.end_to_end.test_tables_by_mail import sent
from tests.mail.servers import Delivery
from tests.privacy.test_erase import stored_rows

POLICY = {"RAILPOST_PRIVACY_URL": "https://games.example.org/privacy"}


@pytest.fixture
async def office(tmp_path: Path, address: str) -> AsyncIterator[MailHarness]:
    async with served(tmp_path, environment=POLICY, address=address) as office:
        yield office


async def asks(player: MailPlayer, text: str, number: int) -> list[Delivery]:
    """The email that asks for `yes`, and the answer to who has written; they come in either order."""
    emails = [await sent(player, text, number), await player.email()]
    return sorted(emails, key=lambda email: "reply with one word" not in email.text.replace("\r\n", " "))


async def test_the_data_go_to_the_verified_address_alone(office: MailHarness) -> None:
    ann = office.player("Ann")
    await office.person("Ann")
    asked, answered = await asks(ann, "my data", 1)
    assert headline(asked) == "Do you want your data?" and "An email goes to ann@player.test" in answered.text
    mallory = office.player("Mallory")
    await office.mail(ann.written(asked, "yes", sender=mallory.address), sender=mallory.address)
    assert headline(await ann.email()) == "NOT DONE: did you send this?" and mallory.inbox == []
    await office.mail(ann.written(asked, "yes"), sender=ann.address)
    answer = await ann.email()
    assert "Here is all that is stored about you." in answer.text
    mail = message_from_bytes(answer.message.as_bytes(), policy=policy.default)
    (file,) = [part for part in mail.walk() if part.get_filename() == "my-data.json"]
    data = msgspec.json.decode(file.get_payload(decode=True))  # type: ignore[arg-type]
    assert [row["value"] for row in data["identities"]] == ["ann@player.test"]


async def test_who_wants_to_be_deleted_is_and_gets_no_more_emails(office: MailHarness) -> None:
    ann, person = office.player("Ann"), await office.person("Ann")
    asked, _ = await asks(ann, "erase me", 1)
    assert headline(asked) == "Should everything about you be deleted?"
    assert "What is kept about you: https://games.example.org/privacy" in asked.text
    await office.mail(ann.written(asked, "no"), sender=ann.address)
    assert "Nothing was done with your data." in (await ann.email()).text
    asked, _ = await asks(ann, "erase me", 2)
    for doubt in ("Yes, but what becomes of my games?", "Yes\nI refuse"):
        await office.mail(ann.written(asked, doubt), sender=ann.address)
        assert "yes or no" in (await ann.email()).text
    await office.mail(ann.written(asked, "yes"), sender=ann.address)
    await office.settled(6, "Processed")
    await ann.quiet()
    async with office.store.read() as unit:
        with pytest.raises(NotFound):
            await unit.people.get(person.id)
    data = office.service.personal_data
    assert await data.erased_addresses() == ["ann@player.test"]

    async def tidied(_: str) -> None:
        pass

    assert office.settings.mail is not None
    await MailboxCaretaker(mail_account(office.settings.mail.imap), 90, tidied, data).tidy()
    assert await data.erased_addresses() == [] and await office.mailbox.count("Processed") == 0
    rows = await stored_rows(office.store)
    assert not [(table, text) for table, text in rows if "Ann" in text or ann.address in text]
