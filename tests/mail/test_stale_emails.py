"""Emails about a position that has passed: nothing of them is played, in whatever style they are written.

The email was answered already, and the line may well be legal again. What does not depend on the position is
done.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from bot.email.pages.answer_pages import AcceptedLine
from bot.email.replies.reply_reader import ReplyReader
from tests.mail.mail_desk import ANN, BOB, MailDesk
from tests.mail.servers import Delivery

STYLES = (
    "pass", "PASS!", "Pass please", "buy CS", "bid DH 75", "bid CA 165\n\nCheers\nAnn", "Hi,\n\npass\n\nAnn",
    "Hallo,\n\nbid MH 115\n\nViele Grüße", "pass 😀", "I pass.", "My move: pass", "- pass",
    "Bid BO 225, please",
    "{quoted}\n\npass", "{quoted}\n\nbuy CS\n",
    "pass\n\n{quoted}", "buy CS\n\nSent from my iPhone\n\n{quoted}",
    "yes", "bid DH 75\npass", "bid DH", "buy VS", "On 1 Jun 2026, at 12:00, Friday wrote:\n{quoted}\npass",
)  # fmt: skip


def styled(style: str, email: Delivery) -> list[str]:
    quoted = "\n".join(f"> {line}" for line in email.text.splitlines())
    return style.replace("{quoted}", quoted).splitlines()


@pytest.mark.parametrize(
    ("passed", "styles"),
    [(["buy SV"], STYLES[:4]), (["buy SV", "bid CA 165"], STYLES)],
    ids=["Bob's turn", "Ann's next"],
)
async def test_nothing_is_played_of_emails_that_come_too_late(
    desk: MailDesk, notice: Delivery, passed: list[str], styles: tuple[str, ...]
) -> None:
    for line, (name, address) in zip(passed, (("Ann", ANN), ("Bob", BOB)), strict=False):
        await desk.write(name, line, original=desk.asking(address))
    assert await desk.played() == passed
    for style in styles:
        outcome = await desk.write("Ann", *styled(style, notice), original=notice)
        assert await desk.played() == passed, style
        assert len(outcome.replies) == 1, style
        assert "NOT DONE" in desk.newest[ANN].text, style


async def test_a_yes_that_comes_too_late(desk: MailDesk, notice: Delivery) -> None:
    """What an email offered is for the position of that email."""
    await desk.write("Ann", "buy VS", original=notice)
    offer = desk.newest[ANN]
    assert "did you mean" in offer.text
    await desk.write("Ann", "bid CA 165", original=notice)
    await desk.write("Ann", "yes", original=offer)
    assert await desk.played() == ["bid CA 165"]
    await desk.write("Bob", "bid BO 225", original=desk.asking(BOB))
    await desk.write("Ann", "yes", original=offer)
    assert await desk.played() == ["bid CA 165", "bid BO 225"]


async def test_what_is_offered_to_an_old_email_is_for_the_position_of_the_offer(
    desk: MailDesk, notice: Delivery
) -> None:
    """`yes` was told that the game has moved on, though it was offered on the position of today."""
    await desk.write("Ann", "bid CA 165", original=notice)
    await desk.write("Bob", "bid BO 225", original=desk.asking(BOB))
    await desk.write("Ann", "buy VS", original=notice)
    offer = desk.newest[ANN]
    assert "did you mean" in offer.text
    await desk.write("Ann", "yes", original=offer)
    assert (await desk.played())[-1] == "buy SV"
    await desk.write("Ann", "yes", original=offer)
    assert (await desk.played())[-1] == "buy SV" and "NOT DONE" not in desk.newest[ANN].text


async def test_where_the_question_is_another_what_was_offered_is_asked_once_more(
    desk: MailDesk, notice: Delivery
) -> None:
    await desk.write("Ann", "bid DH 7S", original=notice)
    await desk.write("Ann", "buy VS", original=notice)
    offer = desk.newest[ANN]
    await desk.write("Ann", "bid CA 165", original=notice)
    await desk.write("Bob", "bid BO 225", original=desk.asking(BOB))
    await desk.write("Ann", "yes", original=offer)
    again = desk.newest[ANN]
    text = again.text
    assert "do you still mean this?" in text and "Ann buys the SV for $20" in text
    assert await desk.played() == ["bid CA 165", "bid BO 225"]
    await desk.write("Ann", "yes", original=again)
    assert (await desk.played())[-1] == "buy SV"


async def test_other_figures_are_shown_before_they_are_played(
    desk: MailDesk, notice: Delivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The question is the same, and what the line costs is not."""
    await desk.write("Ann", "buy VS", original=notice)
    offer, try_lines = desk.newest[ANN], ReplyReader.try_lines

    def dearer(reader: ReplyReader, lines: Iterable[str]) -> tuple[AcceptedLine, ...]:
        now = try_lines(reader, lines)
        return tuple(line._replace(sentence=line.sentence.replace("$20", "$25")) for line in now)

    with monkeypatch.context() as patched:
        patched.setattr(ReplyReader, "try_lines", dearer)
        await desk.write("Ann", "yes", original=offer)
    assert await desk.played() == [] and "$25" in desk.newest[ANN].text


async def test_an_old_email_serves_for_what_depends_on_no_position(desk: MailDesk, notice: Delivery) -> None:
    await desk.write("Ann", "buy SV", original=notice)
    await desk.write("Bob", "bid CA 165", original=desk.asking(BOB))
    await desk.write("Ann", "say hello", original=notice)
    assert "Ann says: hello" in desk.newest[BOB].text
    await desk.write("Ann", "status", original=notice)
    assert "$1,180" in desk.newest[ANN].text
    await desk.write("Ann", "stop", original=notice)
    assert "No more emails go to" in desk.newest[ANN].text
    assert await desk.played() == ["buy SV", "bid CA 165"]


async def test_the_answer_says_what_was_written_and_what_is_asked_now(
    desk: MailDesk, notice: Delivery
) -> None:
    await desk.write("Ann", "buy SV", original=notice)
    await desk.write("Bob", "bid CA 165", original=desk.asking(BOB))
    await desk.write("Ann", "pass", original=notice)
    text = desk.newest[ANN].text
    for words in ("| pass", "Now: Ann to act: buy the CS for $40", "Bob bids $165 for the CA.", "bid DH 75"):
        assert words in text, words
    await desk.write("Ann", "pass")
    assert await desk.played() == ["buy SV", "bid CA 165", "pass"], "a reply to that answer is current"


async def test_news_of_a_game_that_waits_names_nobody_to_act(desk: MailDesk, notice: Delivery) -> None:
    await desk.write("Ann", "resign yes")
    told = desk.newest[BOB].text
    assert "The game waits until somebody takes that seat." in told and "to act" not in told
