"""Replies to emails of a table in play that are no moves."""

from __future__ import annotations

import pytest

from bot.email.confirmations import vote_in
from bot.email.replies.reply_reader import query_in
from bot.email.replies.seat_replies import SeatReplies
from bot.hub.people import Limits
from mail.reading.parser import ParsedMail
from tests.fake_discord.running_bot import OnePixelPictures
from tests.mail.mail_desk import ADDRESS, MailDesk

ANN, BOB, DORA = "ann@player.test", "bob@player.test", "dora@player.test"


@pytest.fixture(autouse=True)
async def _begun(desk: MailDesk) -> None:
    await desk.begun("Ann", "Bob", "Cid")


QUESTIONS = (
    ("Map", "map"),
    ("show map", "map"),
    ("log 5", "log"),
    ("help?", "help"),
    ("map 5", "map"),
    ("Company PRR", "company"),
    ("show player Ann", "player"),
    ("turn", "turn"),
    ("chart prices", "chart"),
    ("show records?", "records"),
    ("animation", "animation"),
    ("review money", "review"),
    ("show from E11 east", "from"),
    ("try", "try"),
    ("plan playing", "try"),
    ("try play", None),
    ("plan PLAY", None),
    ("buy SV", None),
    ("undo", None),
)
"""Lines, and the first word of the question that each is; None for an order, as to play what was tried."""


def test_every_question_of_the_registry_is_one(desk: MailDesk) -> None:
    for line, what in QUESTIONS:
        found = query_in(desk.service.commands, line)
        assert (found.split()[0] if found else None) == what, line


@pytest.mark.parametrize("question", ["status", "sheet"])
async def test_the_status_of_a_paused_game_names_nobody_to_act(desk: MailDesk, question: str) -> None:
    await desk.write("Ann", "pause")
    await desk.write("Bob", question)
    shown = desk.newest[BOB].text
    assert "The game is paused." in shown and "to act" not in shown


async def test_questions_beyond_the_fifth_are_named_and_not_lost(desk: MailDesk) -> None:
    places = ["hex H10", "hex H12", "hex H14", "hex H16", "company PRR", "hex H18", "log 5"]
    await desk.write("Bob", *places)
    shown = desk.newest[BOB].text
    assert "PRR: Pennsylvania" in shown and "Philadelphia" not in shown
    left = shown.partition("One email answers 5 questions; send the others in another one")[2]
    assert left.split("\n")[2:4] == ["hex H18", "log 5"]


async def test_what_is_too_much_to_say_is_not_lost_unseen(desk: MailDesk) -> None:
    """It was cut without a sign, and the sixth paragraph was left out."""
    await desk.write("Bob", f"say {'word ' * 300}")
    for told in (desk.newest[BOB], desk.newest[ANN]):
        assert "word" in told.text and "…" in told.text
    await desk.write("Bob", *(line for number in range(1, 8) for line in (f"say part {number}", "")))
    assert "The table is told: part 1 part 2 part 3 part 4 part 5 part 6 part 7" in (
        desk.newest[BOB].text.replace("\n", " ")
    )
    assert "Bob says: part 5 part 6 part 7" in desk.newest[ANN].text


async def test_who_is_invited_to_play_on_reads_who_invites(desk: MailDesk) -> None:
    """It was said to be the host, who may have left."""
    await desk.write("Ann", "resign yes")
    await desk.write("Bob", "replace Cid by Dora <dora@player.test>")
    assert "Bob invites you to play on as Cid" in desk.newest[DORA].text


@pytest.mark.parametrize(
    ("line", "asked"),
    [("my data", "Do you want your data?"), ("Erase me", "Should everything about you be deleted?")],
)
async def test_what_is_stored_about_a_player_is_asked_for_in_a_reply_too(
    desk: MailDesk, line: str, asked: str
) -> None:
    """Only an email that was no reply to one about a seat could ask."""
    await desk.write("Ann", line)
    assert asked in desk.newest[ANN].text


async def test_who_has_asked_for_too_many_files_gets_none(
    desk: MailDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk.service.personal_data, "_limits", Limits({"exports": 0}))
    await desk.write("Ann", "my data")
    asked = next(each for each in reversed(desk.emails) if "Do you want your data?" in each.text)
    await desk.write("Ann", "yes", original=asked)
    told = " ".join(desk.newest[ANN].text.split())
    assert "NOT DONE. You have asked for 0 files today, the most on one day." in told


async def test_who_offers_a_seat_in_play_hears_that_it_is_declined(desk: MailDesk) -> None:
    """Only where the game had not begun, or was paused, they did."""
    await desk.write("Ann", "replace Bob by Dora <dora@player.test>")
    await desk.write("Dora", "no")
    assert "Dora has declined the seat of Bob" in desk.newest[ANN].text


async def test_a_yes_that_is_refused_is_not_ok(desk: MailDesk) -> None:
    """It names the vote that is open; the answer spoke of one `on that`."""
    for _ in range(2):
        await desk.write("Ann", "replace Bob by Dora <dora@player.test>", original=ANN)
        await desk.write("Dora", "yes")
    told = " ".join(desk.newest[DORA].text.split())
    assert "NOT DONE. A vote is already open, and waits" in told and "Dora would play on for Bob." in told


async def test_a_vote_that_a_command_opens_is_done(desk: MailDesk) -> None:
    """It was answered by NOT DONE, and the others were asked."""
    await desk.write("Ann", "replace Ann by robot", to=ADDRESS)
    told = " ".join(desk.newest[ANN].text.split())
    assert "OK. * Ann would like a robot to play on for them. * Bob and Cid are asked to vote." in told
    assert "Ann would like a robot to play on for them." in desk.newest[BOB].text


VOTES = {
    "accept vote": (
        "Yes.", "Hi Ann,\n\nyes\n\nBob", "OK", "Sure, go ahead", "I agree", "Yes of course, fine by me", "si",
        "> Ann would like to undo 2 moves (Ann: buy SV; Bob: pass).\nyes",
    ),
    "decline vote": ("no", "No, thanks.", "no way", "No, sorry Ann", "I vote no", "n"),
    "": (
        "OK, but only this once", "I agree with Cid, no", "No problem", "Absolutely ridiculous, play on",
        "Fine mess you made", "Fine, but you owe me one", "OK let me think", "OK, I object", "Yes?",
        "Sure, over my dead body", "Yes, play on", "Yes, I mind", "Agreed, that was stupid",
        "I agree with Cid", "I agree, provided Cid does", "I accept that you misclicked, play on",
        "Of course! I refuse", "Yes\n\nJust kidding", "No, I don't mind", "No objections", "No, go ahead",
        "why?", "yes\nbut only this once",
    ),
}  # fmt: skip


@pytest.mark.parametrize("vote", VOTES)
async def test_yes_and_no_answer_a_vote(desk: MailDesk, vote: str) -> None:
    """It was answered that the email has no line, and by `undo`."""
    for name, line in (("Ann", "buy SV"), ("Bob", "pass"), ("Ann", "undo")):
        await desk.write(name, line)
    asked = desk.newest[BOB]
    assert "Your vote is needed" in str(asked.message["Subject"])
    (token,) = await desk.tokens(asked.message["Reply-To"])
    reader = await SeatReplies(desk.service, OnePixelPictures()).reader(token)
    for text in VOTES[vote]:
        reply = reader.read(ParsedMail("<m@p>", text=text), BOB)
        assert vote_in(token, reply) == vote and not reply.lines, text
    await desk.write("Bob", VOTES[vote][0])
    assert await desk.played() == ([] if vote == "accept vote" else ["buy SV", "pass"])
    answers = {"accept vote": "Bob accepts: Ann would like", "decline vote": "Bob declines: Ann would like"}
    assert answers.get(vote, "NOT DONE") in desk.newest[BOB].text


async def test_a_yes_with_a_condition_plays_nothing(desk: MailDesk) -> None:
    await desk.write("Ann", "passs")
    offer = desk.newest[ANN]
    assert "If you mean that, reply with\n\nyes" in offer.text
    await desk.write("Ann", "yes", "unless Bob sells", original=offer)
    assert await desk.played() == []
    await desk.write("Ann", "yes", "thanks", original=offer)
    assert await desk.played() == ["pass"]


@pytest.mark.parametrize(
    ("text", "line", "done"),
    [
        ("buy SV # or wait, not sure", "buy SV → Ann buys the SV for $20.", ["buy SV"]),
        ("I would like to bid $50 for the CS.", "bid CS 50 → Ann bids $50 for the CS.", ["bid CS 50"]),
        ("note buy CS\n\nNot sure about this.", "note buy CS", []),
    ],
)
async def test_a_doubtful_line_is_played_by_yes(
    desk: MailDesk, text: str, line: str, done: list[str]
) -> None:
    await desk.write("Ann", text)
    asked = desk.newest[ANN].text
    if "#" in text:
        assert "Line 1 is not clear: its comment may change what the move means" in asked
    assert f"* {line}" in asked and "If you mean that, reply with\n\nyes" in asked, asked
    assert await desk.played() == []
    await desk.write("Ann", "yes")
    assert await desk.played() == done
    assert "\n\nOK: all lines were carried out." in desk.newest[ANN].text


@pytest.mark.parametrize(
    ("said", "done"),
    [
        ("Yes, pass", ["pass"]),
        ("yes that's what I meant, sorry for the typo", ["pass"]),
        ("Yes of course!", ["pass"]),
        ("no, buy SV", []),
        ("yes, buy SV if Bob agrees", []),
        ("yes what", []),
        ("Yes, pass\n\nCheers\nAnn", ["pass"]),
        ("Yes, pass\n\nJust kidding!", []),
        ("Yes, pass\nonly if that is what you all like", []),
        ("Yes, pass\n\nThat is what Bob should do.", []),
    ],
)
async def test_what_is_offered_is_played_by_a_yes_with_a_few_words(
    desk: MailDesk, said: str, done: list[str]
) -> None:
    await desk.write("Ann", "passs")
    await desk.write("Ann", said)
    assert await desk.played() == done


async def test_who_says_no_to_what_is_offered_is_not_asked_again(desk: MailDesk) -> None:
    """It was answered by `undo`, and the offer."""
    await desk.write("Ann", "passs")
    await desk.write("Ann", "No, thanks")
    shown = desk.newest[ANN].text
    assert "OK.\n\nNot played\n| pass\n\nNothing was changed." in shown and "reply with" not in shown, shown


async def test_who_writes_only_prose_reads_the_lines_that_it_speaks_of(desk: MailDesk) -> None:
    await desk.write("Ann", "I want the SV")
    shown = desk.newest[ANN].text
    assert "You can write\n\nbuy SV\n\nNothing" in shown, shown


async def test_a_question_is_answered_whatever_stands_beside_it(desk: MailDesk) -> None:
    await desk.write("Ann", "hex H10", "", "I don't understand this, maybe I should buy it.")
    shown = desk.newest[ANN].text
    assert "H10" in shown and "NOT DONE" not in shown and "Not read as moves" in shown, shown


async def test_what_comes_too_late_for_an_ended_game_names_nobody(desk: MailDesk) -> None:
    for name, line in (("Ann", "buy SV"), ("Bob", "pass"), ("Ann", "undo"), ("Ann", "end yes")):
        await desk.write(name, line)
    vote = next(each for each in desk.emails if "Your vote" in str(each.message["Subject"]))
    told = (await desk.answered(vote, "accept vote")).text
    assert "a decision that is no longer open.\n" in told and "Now:" not in told


async def test_a_later_line_of_a_plan_that_is_refused_is_named(desk: MailDesk) -> None:
    """It was looked for in the email, which has one line, and the email lay in Quarantine."""
    for name, line in (
        ("Ann", "bid CS 45"),
        ("Ann", "plan Bob: bid CS 50; Cid: pass; buy SV; bid CS 55"),
        ("Bob", "bid CS 60"),
        ("Cid", "pass"),
        ("Ann", "plan play"),
    ):
        await desk.write(name, line)
    told = desk.newest[ANN].text
    assert "NOT DONE" in told and "| plan play\n\n`bid CS 55`: A bid on the CS must be $65" in told
    assert await desk.played() == ["bid CS 45", "bid CS 60", "pass"]
