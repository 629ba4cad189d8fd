"""A person with several addresses: any of them plays, may be left, and stands in for one that bounces."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.end_to_end.mail_players import MailHarness, MailPlayer, asks, headline
from tests.end_to_end.test_tables_by_mail import email as written
from tests.end_to_end.test_tables_by_mail import sent

WORK = "ann@work.test"


async def addresses(office: MailHarness, person_id: int) -> list[str]:
    async with office.store.read() as unit:
        return await unit.people.verified_addresses(person_id)


async def linked(office: MailHarness) -> tuple[MailPlayer, MailPlayer, int]:
    """Ann's two mail programs and her id: she has linked a second address by mail alone."""
    ann, work = office.player("Ann"), MailPlayer("Ann", WORK, office)
    person = await office.person("Ann")
    assert f"reply to this email with `link {WORK}`" in (await sent(ann, f"link {WORK}", 90)).text
    assert f"An email goes to {WORK}" in (await ann.said(f"link {WORK}")).text
    assert headline(await work.email()) == "Is this your address?"
    assert f"Emails go to {WORK}; you may also write from ann@player.test" in (await work.said("yes")).text
    told = await ann.email()
    assert f"Your emails go to {WORK} from now on" in told.text and f"unlink {WORK}" in told.text
    return ann, work, person.id


async def test_a_second_address_is_linked_and_both_play(office: MailHarness) -> None:
    ann, work, person_id = await linked(office)
    assert await addresses(office, person_id) == [WORK, "ann@player.test"]
    table = await office.table("1830", ["Ann", "Bob"])
    bob = office.player("Bob")
    turn = await work.email()
    assert asks(turn, "Ann") and ann.read == len(ann.inbox)
    await office.mail(ann.written(turn, "buy SV"), sender=ann.address)
    assert headline(await ann.email()).startswith("OK"), "who writes is answered there"
    await bob.until_asked()
    await bob.answered("buy CS")
    await work.email()
    await work.until_asked()
    assert headline(await work.answered("buy DH")).startswith("OK")
    assert await office.lines(table) == ["buy SV", "buy CS", "buy DH"]


async def test_a_forged_email_links_and_unlinks_nothing(office: MailHarness) -> None:
    """Only a reply to an email of ours counts: the From of any other may be anybody's."""
    ann, _work, person_id = await linked(office)
    for number, line in enumerate(("link mallory@evil.test", f"unlink {WORK}")):
        assert "To protect your settings" in (await sent(ann, line, number)).text
    mallory = MailPlayer("Mallory", "mallory@evil.test", office)
    assert await addresses(office, person_id) == [WORK, "ann@player.test"] and mallory.inbox == []


async def test_an_address_is_given_up(office: MailHarness) -> None:
    ann, work, person_id = await linked(office)
    assert (
        f"{WORK} is no longer linked. Emails go to ann@player.test."
        in (await ann.said(f"unlink {WORK}")).text
    )
    assert await addresses(office, person_id) == ["ann@player.test"]
    assert "is the only way" in (await ann.said("unlink ann@player.test")).text
    assert "is not linked" in (await ann.said("unlink bob@player.test")).text
    await office.mail(written(work, "addresses"), sender=WORK)
    await office.settled(1, "Ignored")
    assert work.read == len(work.inbox), "an address that was given up gets no answer"


async def test_emails_go_back_to_the_first_address(office: MailHarness) -> None:
    ann, work, _person_id = await linked(office)
    assert (
        "Emails go to ann@player.test; you may also write from"
        in (await ann.said("link ann@player.test")).text
    )
    assert "Your emails go to ann@player.test from now on" in (await work.email()).text
    assert f"you may also write from {WORK}." in (await ann.said("addresses")).text


async def test_an_address_that_bounces_is_left_for_the_other(
    office: MailHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No table is told, as Ann can be reached; an email from the address brings it back."""
    monkeypatch.setattr("bot.email.reachability.ASK_AGAIN", timedelta(0))
    ann, work, _person_id = await linked(office)
    office.player_server.refuse = lambda to: "550 5.1.1 no such user" if to == WORK else None
    table = await office.table("1830", ["Ann", "Bob"])
    told = turn = None
    while not (told and turn):  # in either order
        email = await ann.email()
        told = email if f"Emails to {WORK} come back" in email.text else told
        turn = email if asks(email, "Ann") else turn
    assert f"unlink {WORK}" in told.text
    assert headline(await ann.answered("buy SV", to=turn)).startswith("OK")
    assert not [row for row in await office.service.queries.log(table.id) if "do not arrive" in str(row)]
    office.player_server.refuse = lambda _: None
    assert f"Emails go to {WORK}; you may" in (await sent(work, "addresses")).text


async def test_stop_and_start_mean_every_address(office: MailHarness) -> None:
    _ann, work, _ = await linked(office)
    await office.table("1830", ["Ann", "Bob"])
    await work.email()
    assert f"No more emails go to {WORK} or ann@player.test." in (await work.said("stop")).text
    assert f"Emails go to {WORK} again. Friday" in (await work.said("start")).text


async def test_who_becomes_one_with_a_second_person_of_theirs_is_asked_again(office: MailHarness) -> None:
    """What waited for the second person was given up, with an error for the operator; they were nobody's
    deputy any more."""
    ann = office.player("Ann")
    person, second = await office.person("Ann"), await office.person("Anna")
    bob = await office.person("Bob")
    office.service.cache.ping_holdoff = 600
    table = await office.table("1830", ["Anna", "Bob"])
    await office.service.settings.apply((await office.person("Cid")).id, ["deputy Anna"])
    await sent(ann, "addresses")
    await ann.said("link anna@player.test")
    anna = office.player("Anna")
    assert headline(await anna.email()) == "Is this your address?"
    await anna.reply("yes")
    await anna.until_asked()
    assert headline(await anna.answered("buy SV")).startswith("OK")
    async with office.store.read() as unit:
        assert {seat.person_id for seat in await unit.tables.seats(table.id)} == {person.id, bob.id}
        cid = await unit.people.find_by_identity("email", "cid@player.test")
    assert cid and (await office.service.settings.settings(cid.id)).deputy_id == person.id != second.id
