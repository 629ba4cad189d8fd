"""Emails about tables and oneself that answer no email about a seat: what below their first line counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

import pytest

from bot.email.confirmations import agreement
from bot.email.replies.reply_reader import ReplyReader
from bot.email.stored_mail import HeldLineStore
from mail.reading.parser import ParsedMail
from mail.reply_address import ReplyToken
from tests.mail.mail_desk import ADDRESS, ANN, BOB, MailDesk
from tests.mail.reply_corpus import COMMANDS


async def unread(desk: MailDesk, *lines: str) -> list[str]:
    """The lines that the answer names as not read."""
    await desk.write("Ann", *lines, to=ADDRESS)
    rest = desk.newest[ANN].text.partition("\nNot read\n")[2].splitlines()
    return [line.removeprefix("| ") for line in rest if line.startswith("| ")]


@pytest.mark.parametrize(
    ("lines", "named"),
    [
        (["new 1830 Bob <bob@player.test>,", "Cid", "pace 24h", "", "Thanks", "Ann"], ["Cid"]),
        (["Hi,", "new 1830", "Bob <bob@player.test>", "", "Ann", "CEO, Railways", "+49 170 1234567"], []),
        (["new 1830", "robot", "and Eve", "Viele Grüße", "A. Lee"], ["and Eve"]),
        (["list", "turns", "", "Sent from my iPhone"], ["turns"]),
    ],
)
async def test_what_is_not_read_is_named_but_no_signature(
    desk: MailDesk, lines: list[str], named: list[str]
) -> None:
    """Players without an address were left out without a word, and so was a second question."""
    await desk.person("Ann")
    assert await unread(desk, *lines) == named


async def test_several_settings_are_set(desk: MailDesk) -> None:
    """Of those below the first nothing was done or said."""
    ann = await desk.person("Ann")
    await desk.write("Ann", "settings", to=ADDRESS)
    await desk.write("Ann", "settings zone Europe/Berlin", "settings next on", "", "Thanks!")
    told = desk.newest[ANN].text
    assert "Set: zone Europe/Berlin." in told and "Set: next on." in told and "Not read" not in told
    assert (await desk.service.settings.settings(ann)).for_table("").next
    await desk.write("Ann", "settings", "settings next off", to=ADDRESS)
    assert "reply to this email with `settings next off`" in desk.newest[ANN].text
    assert (await desk.service.settings.settings(ann)).for_table("").next, "the sender may be forged"
    await desk.write("Ann", "unlink a@example.org", "unlink b@example.org")
    assert "unlink b@example.org" in desk.newest[ANN].text.partition("\nNot read\n")[2]


@pytest.mark.parametrize("address", ["{}<mailto:{}>", "{} <mailto:{}>", "[{}](mailto:{})", "<mailto:{}>"])
async def test_an_address_that_a_mail_program_has_made_a_link(desk: MailDesk, address: str) -> None:
    """Outlook, Apple Mail and Proton Mail write it twice: such an address could not be linked."""
    await desk.person("Ann")
    await desk.write("Ann", "settings", to=ADDRESS)
    await desk.write("Ann", "link " + address.format("ann@work.test", "ann@work.test"))
    assert "An email goes to ann@work.test." in desk.newest[ANN].text
    if not address.startswith("<"):
        bob = address.format("bob@player.test", "bob@player.test")
        await desk.write("Ann", f"new 1830 Bob <{bob}>", to=ADDRESS)
        assert "Invitations go to Bob (bob@player.test)." in desk.newest[ANN].text.replace("\n", " ")


@pytest.mark.parametrize(
    "player",
    [
        "Bob <bob@player.test> <mailto:bob@player.test>",
        "Bob <bob@player.test><mailto:bob@player.test>",
        "Bob <BOB@player.test <MAILTO:BOB@player.test>>",
        "Bob <<mailto:bob@player.test>bob@player.test>",
        "Bob <bob@player.test\n<mailto:bob@player.test>>",
    ],
)
async def test_a_player_whose_address_is_a_link(desk: MailDesk, player: str) -> None:
    await desk.person("Ann")
    await desk.write("Ann", f"new 1830 {player}, Cid <cid@player.test>", to=ADDRESS)
    told = " ".join(desk.newest[ANN].text.split())
    assert "Invitations go to Bob (bob@player.test) and Cid (cid@player.test)." in told


async def test_prose_about_a_lobby_is_answered_with_what_can_be_written_there(desk: MailDesk) -> None:
    """It was said that nobody knows for which table the email is."""
    await desk.person("Ann")
    await desk.write("Ann", "new 1830 Bob <bob@player.test>", to=ADDRESS)
    await desk.write("Bob", "yes")
    await desk.write("Bob", "See you there")
    told = desk.newest["bob@player.test"].text
    assert "Your email has no line that can be read at table 1830 " in told and "which table" not in told


async def test_a_move_that_answers_no_email_is_answered_on_a_day_with_prose_too(desk: MailDesk) -> None:
    """The answer about prose counted as that one, which goes out once a day."""
    await desk.person("Ann")
    await desk.write("Ann", "new 1830 Bob <bob@player.test>", to=ADDRESS)
    await desk.write("Bob", "yes")
    await desk.write("Bob", "See you there")
    await desk.write("Bob", "pass", to=ADDRESS)
    assert "does not show for which table it is" in " ".join(desk.newest["bob@player.test"].text.split())


@pytest.mark.parametrize("line", ["Please list!", "list, thanks", "OK, list"])
async def test_a_command_with_courtesies_is_read(desk: MailDesk, line: str) -> None:
    """`start please` named `please` as a player."""
    await desk.person("Ann")
    await desk.write("Ann", line, to=ADDRESS)
    assert "Your tables." in desk.newest[ANN].text


async def test_an_address_that_is_named_twice_is_named_in_the_answer(desk: MailDesk) -> None:
    """It was said that the second player has a seat already."""
    await desk.person("Ann")
    await desk.write("Ann", "new 1830 Bob <bob@player.test>, Bobby <bob@player.test>", to=ADDRESS)
    assert "bob@player.test is named twice." in desk.newest[ANN].text


@pytest.mark.parametrize("asked", ["invited", "host"])
async def test_yes_at_an_address_that_somebody_else_has_linked_since(desk: MailDesk, asked: str) -> None:
    """It was no answer, and after three attempts the email lay in Quarantine."""
    eve = "eve@player.test"
    await desk.person("Ann")
    if asked == "invited":
        await desk.write("Ann", f"new 1830 Eve <{eve}>", to=ADDRESS)
    else:
        await desk.write("Eve", "new 1830 Bob <bob@player.test>", to=ADDRESS)
    question = desk.newest[eve]
    dan = await desk.person("Dan")
    async with desk.service.store.begin() as unit:
        invited = await unit.people.find_by_identity("email", eve)
        assert invited is not None
        await unit.people.remove_identity(invited.id, "email", eve)
        await unit.people.add_identity(dan, "email", eve)
    assert (await desk.write("Eve", "yes", original=question)).reason == "not done"
    assert f"{eve} belongs to somebody else." in desk.newest[eve].text


TO_AN_INVITATION: Mapping[bool | None, Sequence[str]] = {
    True: (
        "Hi Ann,\n\nyes, thank you!\n\nBob", "> To take your seat, reply with\n> yes\n\nyes\n\nBob",
        "Okay!", "Okay\n\n> Your seat\n\nPlease consider the trees before you print.", "Sure",
        "Okay, see you on Sunday!", "Okay, sounds good to me", "Sure thing!", "Ok then, cheers",
        "No problem, yes!", "Hi Ann - ja!", "I\N{RIGHT SINGLE QUOTATION MARK}m in!\n\nBob", "Thanks, yes!",
        "Of course!", "I'd love to, thanks", "Absolutely, looking forward to it", "I'm in, thanks",
    ),
    False: (
        "Sorry, no", "Sorry, can't make it this time", "Not interested", "Leider nein",
        "Sorry, I cannot join", "No, I don't think so", "No, I'll be away until June, sorry",
        "No thanks, maybe later", "Danke, nein.", "Hi Ann, no thanks", "Hello,\nno, sorry", "Nope",
    ),
    None: (
        "Yes, but only if Cid plays", "Yes?", "Ja, aber erst im Mai", "No problem!", "Ok no",
        "Hi Ann, no problem", "Okay, no thanks", "Sure, no", "Okay, I can't make it",
        "Okay, let me think about it", "Sure, let me ask my wife first", "Okay, I have to pass this time",
        "I'm in if Cid is", "I'm in\nbut only for 1870", "No idea yet", "Sorry, no time to decide",
        "I'd love to, too busy this month", "Count me in, the next time", "With pleasure, I refuse",
        "I agree with Bob", "I can't read this", "I can't open the link", "I can't say no", "Can't join?",
        "Can't thank you enough, yes", "Not interested in a break", "Leider nicht verstanden",
        "Sorry, yes, I won't make it", "Can't say yet", "Absolutely not", "Yes, I cannot",
        "Yes\nI'm not sure", "No, not yet", "Okay, I object", "Sure, over my dead body", "Yes, I refuse",
        "Yes\nI refuse", "Ja\nbut no", "Yes, I am against it", "No objection",
        "Yes, no", "Hi Ann, yes, no", "Hi Tak - n", "Hi, Si!",
        "Okay,\n\nI'd rather not.", "> Your seat\n\nNo virus found in this message.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("agrees", TO_AN_INVITATION)
async def test_an_invitation_is_answered_as_people_write(desk: MailDesk, agrees: bool | None) -> None:
    token = ReplyToken("invite", BOB, frozenset({BOB}), table_id=1)
    reader = ReplyReader(COMMANDS, None, None)
    for said in TO_AN_INVITATION[agrees]:
        assert agreement(token, reader.read(ParsedMail("<m@p>", text=said), BOB)) is agrees, said
    await desk.person("Ann")
    await desk.write("Ann", "new 1830 Bob <bob@player.test>", to=ADDRESS)
    await desk.write("Bob", TO_AN_INVITATION[agrees][0])
    told = {True: "You have a seat", False: "You have declined the seat", None: "NOT DONE."}
    assert told[agrees] in desk.newest[BOB].text


async def test_a_command_below_the_quote_counts(desk: MailDesk) -> None:
    await desk.person("Ann")
    await desk.write("Ann", "settings", to=ADDRESS)
    await desk.write("Ann", "> Your settings", "> settings next off", "", "settings next on", "", "Ann")
    assert "Set: next on." in desk.newest[ANN].text


async def test_who_is_invited_and_wants_no_emails_reads_how(desk: MailDesk) -> None:
    await desk.person("Ann")
    await desk.write("Ann", "new 1830 Bob <bob@player.test>", to=ADDRESS)
    await desk.write("Bob", "Please send no more emails")
    assert "To get no more emails, reply with\n\nstop" in desk.newest["bob@player.test"].text
    await desk.write("Bob", "stop")
    assert "No more emails go to bob@player.test" in desk.newest["bob@player.test"].text


async def test_the_word_of_a_question_with_a_condition_is_no_yes(desk: MailDesk) -> None:
    """`Start tomorrow` started the game at once."""
    await desk.person("Ann")
    await desk.write("Ann", "new 1830 Bob <bob@player.test>", to=ADDRESS)
    await desk.write("Bob", "yes")
    question = desk.newest[ANN]
    assert "Everybody is there." in question.text
    for said in ("Start tomorrow, please", "Start, but only when Cid is there", "start?"):
        assert (await desk.write("Ann", said, original=question)).reason == "not done", said
    assert (await desk.write("Ann", "Start!", original=question)).reason == "confirmed"


async def test_a_new_host_who_says_more_than_yes_is_asked_once_more(desk: MailDesk) -> None:
    await desk.write("Eve", "new 1830 Bob <bob@player.test>", to=ADDRESS)
    assert (await desk.write("Eve", "Yes, but what does it cost?")).reason == "not done"
    assert (await desk.write("Eve", "No problem, yes, and thank you!")).reason == "not done"
    assert (await desk.write("Eve", "yes")).reason == "table"


async def test_a_new_host_is_asked_once_a_day_and_nothing_more_is_held(
    desk: MailDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each email wrote a row of the store."""
    hold, held = HeldLineStore.hold_lines, list[str]()

    async def holding(store: HeldLineStore, token: ReplyToken, lines: Sequence[str], key: str) -> str:
        held.extend(lines)
        return await hold(store, token, lines, key)

    monkeypatch.setattr(HeldLineStore, "hold_lines", holding)
    for title in ("1830", "1851", "1870"):
        assert (await desk.write("Eve", f"new {title}", to=ADDRESS)).reason == "host asked"
    assert held == ["new 1830"] and len(desk.emails) == 1
    desk.clock[0] += timedelta(days=1, minutes=1)
    await desk.write("Eve", "new 1851", to=ADDRESS)
    assert held == ["new 1830", "new 1851"] and len(desk.emails) == 2


@pytest.mark.parametrize("said", ["", "What?", "no", "No, thanks."])
async def test_a_new_host_may_say_yes_to_every_later_question(desk: MailDesk, said: str) -> None:
    """An empty reply led to an answer to which no `yes` counted, and `no` was none."""
    await desk.write("Eve", "new 1830 Bob <bob@player.test>", to=ADDRESS)
    asked, list_tables = desk.newest["eve@player.test"], desk.service.queries.list_tables
    answer = await desk.answered(asked, said)
    if says_no := said.casefold().startswith("no"):
        assert "OK. No table is opened, and nobody is invited." in " ".join(answer.text.split())
    assert not await list_tables()
    for question in (asked if says_no else answer, asked):
        await desk.answered(question, "yes")
        assert len(await list_tables()) == 1
    late = (await desk.answered(asked, said)).text
    assert "this word alone" not in late and "No table is opened" not in late


async def test_who_was_invited_and_has_never_said_yes_is_forgotten(desk: MailDesk) -> None:
    """Not who was asked lately or still may answer, has a seat, wants no emails, or is a deputy."""
    names = ("Bob", "Cid", "Dan", "Eve", "Fay")
    await desk.person("Ann")
    await desk.write(
        "Ann", "new 1830 " + ", ".join(f"{each} <{each}@player.test>" for each in names), to=ADDRESS
    )
    questions = {each: desk.newest[f"{each.lower()}@player.test"] for each in names}
    for name, said in (("Bob", "no"), ("Cid", "yes"), ("Dan", "no"), ("Fay", "stop")):
        await desk.write(name, said, original=questions[name])

    async def known() -> set[str]:
        await desk.service.retainer.delete_old()
        async with desk.service.store.read() as unit:
            found = {
                name: await unit.people.find_by_identity("email", f"{name}@player.test") for name in names
            }
        return {name for name, person in found.items() if person}

    desk.clock[0] += timedelta(days=50)
    await desk.write("Ann", "new 1830 Dan <dan@player.test>", to=ADDRESS)
    await desk.write("Dan", "no")
    assert await known() == set(names)
    desk.clock[0] += timedelta(days=11)
    await desk.write("Ann", "settings deputy Bob")
    assert "Bob decides for you" in desk.newest[ANN].text
    assert await known() == set(names)
    await desk.write("Ann", "settings deputy off")
    assert await known() == {"Cid", "Dan", "Eve", "Fay"}
