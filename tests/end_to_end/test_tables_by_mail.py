"""A table is opened, filled and started by nothing but mail."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

import pytest

from bot.email.hosts import add_host
from bot.hub.command import Form, PersonCommand
from bot.hub.feature import Feature
from bot.hub.request import QueryAnswer
from tests.end_to_end.mail_players import ADDRESS, MailHarness, MailPlayer, copied, headline, served
from tests.mail.servers import Delivery


def email(player: MailPlayer, text: str, number: int = 1, subject: str = "") -> bytes:
    """An email to the service's address that answers nothing."""
    mail = EmailMessage(policy=SMTP)
    mail["From"], mail["To"], mail["Subject"] = f"{player.name} <{player.address}>", ADDRESS, subject
    mail["Message-ID"] = f"<new-{number}.{player.address}>"
    mail.set_content(text)
    return mail.as_bytes()


async def sent(player: MailPlayer, text: str, number: int = 1, subject: str = "") -> Delivery:
    await player.office.mail(email(player, text, number, subject), sender=player.address)
    return await player.email()


async def test_from_new_to_the_first_turn(office: MailHarness) -> None:
    await office.person("ann")  # as the host's command names her; her emails say Ann
    ann, bob, cid = office.player("Ann"), office.player("Bob"), office.player("Cid")
    opened = await sent(ann, "Hi,\n\nnew 1830 Bob <bob@player.test>,\nCid <Cid@player.test>\n\nThanks\nAnn")
    assert headline(opened) == "OK." and "you sit there as Ann" in opened.text
    invitation = await bob.email()
    for told in ("Ann invites you to a game of 1830", "reply with\n\nyes", "no", "* Cid"):
        assert told in invitation.text
    assert "You have a seat" in (await bob.said("Yes!")).text
    assert "You have a seat" in (await bob.said("yes", to=invitation)).text
    assert "No answer yet from Cid" in (await ann.email()).text
    assert "Cid has not joined yet." in (await ann.said("start")).text
    await cid.email()
    assert "You have a seat" in (await cid.said("yes")).text
    question = await ann.email()
    assert "Start the game?" in question.text
    assert "* Cid" in (await ann.said("who", to=opened)).text
    await ann.reply("start", to=question)
    emails = {headline(email): email for email in [await ann.email(), await ann.email()]}
    assert set(emails) == {"OK.", "It is your turn, Ann."}
    for player in (bob, cid):
        assert headline(await player.email()) == "The game begins."
    await ann.reply("buy SV", to=emails["It is your turn, Ann."])
    assert headline(await ann.email()).startswith("OK")
    (table,) = await office.service.queries.list_tables()
    assert await office.lines(table) == ["buy SV"]
    listed = await sent(ann, "", 2, subject="list")
    assert "1830, being played: Ann, Bob and Cid." in listed.text and "Bob to act" in listed.text


async def test_who_and_replace_are_lines_in_a_reply_for_a_seat_too(office: MailHarness) -> None:
    table = await office.table("1830", ("Ann", "Bob", "Cid"))
    ann, dora = office.player("Ann"), office.player("Dora")
    await ann.email()
    shown = (await ann.said("who")).text
    assert f"Table {table.code} of 1830 is being played." in shown and "Bob" in shown
    assert f"{table.code} 1830 · Friday, being played: Ann, Bob and Cid." in (await ann.said("list")).text
    asked = await ann.said("replace Bob by Dora <dora@player.test>")
    assert headline(asked).startswith("OK") and "Dora is asked to play on for Bob" in asked.text
    assert "invites you to play on as Bob" in headline(await dora.email())


async def test_a_seat_in_play_is_given_up_only_in_a_reply(office: MailHarness) -> None:
    """The sender of an email can be forged."""
    table = await office.table("1830", ("Ann", "Bob"))
    ann = office.player("Ann")
    await ann.email()
    refused = await sent(ann, "resign yes")
    assert headline(refused) == "NOT DONE." and "say `resign` in a reply" in refused.text
    assert "Use `resign`" in (await sent(ann, "leave", 2)).text
    assert (await office.service.queries.table_info(table.id)).status == "running"


async def test_the_host_leaves_by_email_and_the_next_is_told(office: MailHarness) -> None:
    await office.person("Ann")
    ann, bob = office.player("Ann"), office.player("Bob")
    opened = await sent(ann, "new 1830 Bob <bob@player.test>")
    await bob.email()
    await bob.said("yes")
    await ann.email()
    assert "Bob is the host now." in (await ann.said("leave", to=opened)).text
    assert headline(await bob.email()) == "You are the host."
    closed = await bob.said("resign")
    assert "It is closed, because nobody is left there." in closed.text
    (table,) = await office.service.queries.list_tables()
    assert table.status == "ended"


async def test_help_names_the_commands_of_the_registry(office: MailHarness) -> None:
    await office.person("Ann")
    told = (await sent(office.player("Ann"), "help")).text
    registry = office.service.commands
    for form in (*registry.forms_at("lobby"), *registry.personal_forms):
        assert form.meaning.split(",")[0] in " ".join(told.split())
    for word in ("who: ", "list: ", "replace ", "pause: ", "admit X: ", "ask CODE: "):
        assert f"* {word}" in told


ANSWERS = {
    "new": "Name a title first",
    "new 1829 Bob <bob@player.test>": "Name a title first",
    "new 1830 Bob <bob@player>": "is not one plain email address",
    "new 1830 option no_such_rule": "no_such_rule",
    "invite Bob <bob@player.test>": "You have no table",
    "who": "You have no table",
    "options 1830": "1830: ",
    "help": "new TITLE Bob",
    "list": "You have no table",
}


async def test_answers(office: MailHarness) -> None:
    await office.person("Ann")
    ann = office.player("Ann")
    for number, (line, words) in enumerate(ANSWERS.items()):
        assert words in (await sent(ann, line, number)).text, line
    assert not [table for table in await office.service.queries.list_tables() if table.status != "ended"]


async def test_an_invitation_is_declined_and_the_host_is_told(office: MailHarness) -> None:
    await office.person("Ann")
    ann, bob = office.player("Ann"), office.player("Bob")
    await sent(ann, "new 1830 Bob <bob@player.test>")
    asked = await bob.email()
    assert "declined" in (await bob.said("no thanks")).text
    assert "Bob has declined the seat" in (await ann.email()).text
    assert "is no longer kept for you" in (await bob.said("yes", to=asked)).text


async def test_an_unverified_host_is_asked_first(tmp_path: Path) -> None:
    async with served(tmp_path, environment={"RAILPOST_MAIL_HOSTS": "player.test"}) as office:
        eve, bob = office.player("Eve"), office.player("Bob")
        asked = await sent(eve, "new 1830 Bob <bob@player.test>")
        assert headline(asked) == "Did you ask for a table?" and bob.inbox == []
        assert copied(asked, "To open the table, reply with") == ["yes"]
        assert "you sit there as Eve" in (await eve.said("yes")).text
        assert "Eve invites you" in headline(await bob.email())


async def test_a_stranger_may_not_host_unless_admitted(
    office: MailHarness, caplog: pytest.LogCaptureFixture
) -> None:
    """The operator reads once how the first host is made."""
    eve = office.player("Eve")
    for number in (1, 2):
        await office.mail(email(eve, "new 1830 Bob <bob@player.test>", number), sender=eve.address)
        await office.settled(number, "Ignored")
    assert eve.inbox == [] and not await office.service.queries.list_tables()
    told = [record.getMessage() for record in caplog.records if "has asked for a table" in record.message]
    assert len(told) == 1 and f"`railpost host add {eve.address}`" in told[0]


async def test_the_first_host_is_made_by_a_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with served(tmp_path) as office:
        ann = office.player("Ann")
        url = office.service.store.url.render_as_string(hide_password=False)
        with pytest.raises(ValueError, match="is not one plain email address"):
            await add_host(url, "nobody", "")
        with pytest.raises(ValueError, match="Robot 2 is what the computer player is called"):
            await add_host(url, ann.address, "Robot 2")
        assert await add_host(url, ann.address, "") == "ann"
        assert await add_host(url, ann.address, "Ann B.") == await add_host(url, ann.address, "") == "Ann B"
        assert headline(await sent(ann, "new 1830 Bob <bob@player.test>")) == "OK."
    assert capsys.readouterr().out.count("`railpost host add") == 1
    async with served(tmp_path) as office:
        assert "is open" in (await sent(office.player("Ann"), "new 1830 Bob <bob@player.test>", 2)).text
    assert "host add" not in capsys.readouterr().out


async def two_by_mail(office: MailHarness) -> tuple[MailPlayer, MailPlayer]:
    """Ann and Bob at a table that has not started."""
    await office.person("Ann")
    ann, bob = office.player("Ann"), office.player("Bob")
    await sent(ann, "new 1830 Bob <bob@player.test>")
    await bob.email()
    await bob.said("yes")
    await ann.email()
    return ann, bob


async def test_a_robot_is_agreed_to_by_a_reply(office: MailHarness) -> None:
    ann, bob = await two_by_mail(office)
    assert "once everybody there agrees; they are asked" in (await sent(ann, "invite robot", 2)).text
    asked = await bob.email()
    assert headline(asked) == "May a robot play?" and "Ann asks whether" in asked.text
    assert copied(asked, "To agree, reply with") == ["yes"]
    assert copied(asked, "To decline, reply with") == ["no"]
    assert "You agree. The robot takes its seat." in (await bob.said("yes", to=asked)).text
    (table,) = await office.service.queries.list_tables()
    assert [(p.name, p.joined) for p in table.seated_players][-1] == ("Robot", True)
    assert "No robot waits for an answer" in (await sent(bob, "agree", 2)).text
    await office.service.lobby.start(table.id, by=table.host_id)
    await office.service.submit(table.id, None, ["pace 24h"], None, None, person_id=table.host_id)
    refused = await bob.said("no", to=asked)
    assert headline(refused) == "NOT DONE." and "is being played" in refused.text, "it votes on no pace"
    async with office.store.read() as unit:
        assert await unit.polls.open_polls(table.id)


async def test_who_declines_sends_the_robot_away_and_the_others_are_told(office: MailHarness) -> None:
    ann, bob = await two_by_mail(office)
    await sent(ann, "invite Cid <cid@player.test>", 2)
    cid = office.player("Cid")
    await cid.email()
    await cid.said("yes")
    await ann.email()
    await sent(ann, "invite robot", 3)
    for asked in (bob, cid):
        assert headline(await asked.email()) == "May a robot play?"
    assert "No robot plays at table" in (await bob.said("no")).text
    assert "Bob does not agree that robots play" in (await ann.email()).text
    told = await cid.email()
    assert headline(told) == "No robot plays." and "Bob does not agree" in told.text
    (table,) = await office.service.queries.list_tables()
    assert [p.name for p in table.seated_players] == ["Ann", "Bob", "Cid"]


async def test_settings_belong_to_a_person_and_to_no_table(office: MailHarness) -> None:
    """They are shown to anybody with a verified address, and changed in a reply only."""
    await office.person("Ann")
    ann = office.player("Ann")
    shown = await sent(ann, "settings")
    assert "quiet" in shown.text and headline(shown) == "Settings."
    assert "To protect your settings" in (await sent(ann, "settings quiet 22:00-07:00", 2)).text
    assert "quiet 22:00-07:00" in (await ann.said("settings quiet 22:00-07:00")).text
    until = date.today() + timedelta(days=20)
    assert "You are away until" in (await ann.said(f"away until {until}")).text
    assert "back" in (await ann.said("back")).text
    assert "No table waits for you" in (await ann.said("turns")).text
    assert "is not a setting" in (await ann.said("settings nonsense")).text
    assert headline(await sent(ann, "Back in town, who plays?", 3)) == "NOT DONE."
    assert "Invitations go to" in (await sent(ann, "new 1830 Bob <bob@player.test>", 4)).text
    assert "22:00-07:00" in (await ann.said("settings")).text, "also in a reply about a lobby"


async def test_a_feature_adds_a_command_about_oneself(office: MailHarness) -> None:
    """It needs no table, and counts in a reply only."""

    async def answer(person_id: int, lines: Sequence[str]) -> QueryAnswer:
        if lines[0] == "color green":
            raise ValueError("There is no green.")
        return QueryAnswer("color", f"You are number {person_id}: {lines[0]}.")

    command = PersonCommand("color", (Form("color [TEXT]"),), answer)
    office.service.add(Feature("color", [command]))
    person = await office.person("Ann")
    ann = office.player("Ann")
    assert "reply to this email with `color red`" in (await sent(ann, "color red")).text
    assert f"You are number {person.id}: color red." in (await ann.said("color red")).text
    assert "There is no green." in (await ann.said("color green")).text


async def test_who_is_asked_for_the_table_reads_their_own_words_with_one(office: MailHarness) -> None:
    """An example that began with `start` began a game."""
    await office.person("Ann")
    ann = office.player("Ann")
    first = await sent(ann, "new 1830 Bob <bob@player.test>", 1)
    await sent(ann, "new 1830 Bob <bob@player.test>", 2)
    code = str(first.message["Subject"]).partition("]")[0].split()[-1]
    for number, line in enumerate(("who", "uninvite Bob"), 3):
        assert f"such as `{line} {code}`" in (await sent(ann, line, number)).text
    assert headline(await sent(ann, f"uninvite Bob {code}", 5)) == "OK."


async def test_a_table_is_named_by_its_name_too(office: MailHarness) -> None:
    await office.person("Ann")
    ann = office.player("Ann")
    await sent(ann, "new 1830 Bob <bob@player.test>", 1)
    await sent(ann, "new 1830 Cid <cid@player.test>", 2)
    first, _ = await office.service.queries.list_tables()
    async with office.service.store.begin() as unit:
        await unit.tables.update(first.id, name="Friday Night")
    assert headline(await sent(ann, "uninvite Bob friday night", 3)) == "OK."
    assert "Bob" not in (await sent(ann, f"who {first.code}", 4)).text
    assert f"Table {first.code} of 1830" in (await sent(ann, "who Friday Night", 5)).text
    for number, text in ((6, "ask Friday Night"), (7, f"ask {first.code} Ann")):
        assert "You already sit at table" in (await sent(ann, text, number)).text
    asked = await sent(ann, "ask Friday", 8)
    assert "There is no table FRIDAY." in asked.text
    assert "does not show for which table it is" in (await sent(ann, "ask Bob whether he comes", 9)).text


async def test_a_question_about_a_table_may_be_answered_with_a_command(office: MailHarness) -> None:
    """The newest email of a table may be one that expects `yes`; anything else was refused."""
    await office.person("Ann")
    ann, bob = office.player("Ann"), office.player("Bob")
    await sent(ann, "new 1830 Bob <bob@player.test>")
    await bob.email()
    assert "* Bob (has not answered yet)" in (await bob.said("who")).text
    assert headline(await bob.said("perhaps")) == "NOT DONE."
    assert "You have a seat" in (await bob.said("yes")).text
    assert "Start the game?" in (await ann.email()).text
    assert headline(await ann.said("invite Cid <cid@player.test>")) == "OK."


async def test_who_invites_in_a_game_that_is_played_hears_just_that(office: MailHarness) -> None:
    """Not to say it in a reply to an email about their seat, which it is."""
    table = await office.table("1830", ["Ann", "Bob"])
    ann = office.player("Ann")
    await ann.email()
    told = (await ann.said("invite Cid <cid@player.test>")).text
    assert f"Table {table.code} is being played.\n" in told
