"""Emails that answer one whose lines were not carried out, or not yet."""

from collections.abc import Sequence
from dataclasses import replace

from bot.email.pages.answer_pages import (
    NOTHING_CHANGED,
    QUESTIONS,
    AcceptedLine,
    offer,
    unread_lines,
    with_sentence,
)
from mail.composing.page import (
    Block,
    BulletList,
    CopyableLines,
    MailPage,
    Paragraph,
    QuotedLines,
)
from mail.reading.parts import MailProblem
from mail.reading.reply_text import ParsedReply, ReplyFault


def _refusal(
    *blocks: Block, reply: ParsedReply | None = None, headline: str = "NOT DONE.", subject: str = "Not done"
) -> MailPage:
    """A page whose blocks are followed by that nothing was changed, and the lines of the reply that were not
    read."""
    rest = unread_lines(reply) if reply else []
    return MailPage(headline, (*blocks, NOTHING_CHANGED, *rest), subject=subject, tone="bad")


def invalid_line(fault: ReplyFault, reply: ParsedReply) -> MailPage:
    """A line of the reply cannot be read."""
    quoted = QuotedLines(f"Line {fault.line.number}", [fault.line.text])
    return _refusal(quoted, Paragraph(fault.reason), reply=reply)


def did_you_mean(reply: ParsedReply, accepted: Sequence[AcceptedLine]) -> MailPage:
    """The reply leaves a doubt; `accepted` is what it would do."""
    headline = "NOT DONE yet: did you mean this?"
    return _refusal(
        *_unclear_lines(reply), *offer(accepted), reply=reply, headline=headline, subject="Not done yet"
    )


def changed_since(accepted: Sequence[AcceptedLine]) -> MailPage:
    """The player has confirmed lines, and what is asked or what they do has changed; `accepted`: what they do
    now."""
    blocks = (
        Paragraph("The game has moved on since that was offered."),
        *offer(accepted, "Now it would be", "still "),
    )
    return _refusal(*blocks, headline="NOT DONE yet: do you still mean this?", subject="Not done yet")


def unclear_reply(reply: ParsedReply, suggested_lines: Sequence[str]) -> MailPage:
    """The reply leaves a doubt, and it cannot be said what it would do."""
    blocks = (
        *_unclear_lines(reply),
        Paragraph("Please send only the lines that you want to play, one move on each line."),
        CopyableLines("You can write", suggested_lines),
    )
    return _refusal(*blocks, reply=reply, headline="NOT DONE: your email is not clear.")


def no_lines(reply: ParsedReply, suggested_lines: Sequence[str]) -> MailPage:
    """The reply has only prose."""
    blocks = (
        Paragraph("Your email has no line that the game can read. `say …` tells the table something."),
        CopyableLines("You can write", suggested_lines),
    )
    return _refusal(*blocks, reply=reply)


def still_asked(page: MailPage, lines: Sequence[str], figures: Sequence[str]) -> MailPage:
    """What answers a reply to an email that asks for `yes`, where the reply says something else. lines: what
    waits. figures: what that email has said that they do; empty where it has said nothing."""
    waiting = [with_sentence(*each) for each in zip(lines, figures, strict=True)] if figures else lines
    blocks = (
        BulletList("You were asked about", waiting),
        CopyableLines("To confirm it, reply with this word alone", ["yes"]),
    )
    return replace(page, blocks=(*page.blocks, *blocks))


def _unclear_lines(reply: ParsedReply) -> list[Block]:
    return [
        QuotedLines(f"Line {each.line.number} is not clear: {each.reason}", [each.line.text[:200]])
        for each in reply.unclear[:5]
    ]


def must_be_alone(word: str) -> MailPage:
    """A command came with other lines, and must be the only line."""
    text = f"`{word}` must be the only line of an email. Send the other lines in another email."
    return _refusal(Paragraph(text))


def unreadable_mail(problem: MailProblem, reply: ParsedReply | None = None) -> MailPage:
    """The mail has no text that can be read. What was done before the service failed at one is done."""
    if problem is MailProblem.FAILED:
        text = (
            "An error here has stopped your email, and the host is told. Its lines may have been carried "
            "out: reply with `status` to see it, and send again what is missing."
        )
        headline = "NOT FINISHED: your email could not be handled."
        return MailPage(headline, (Paragraph(text),), subject="Not finished", tone="bad")
    advice = {
        MailProblem.TNEF: "Please set your email program to send plain text or HTML.",
        MailProblem.ENCRYPTED: "Please send it as plain, unencrypted text.",
        MailProblem.TOO_BIG: "Please send text only.",
    }.get(problem, "Please write your moves as text above the quoted email, one on each line.")
    return _refusal(Paragraph(f"Your email could not be read: {problem.value}. {advice}"), reply=reply)


AMBIGUOUS_RECIPIENT = _refusal(
    Paragraph(
        "Your email has the reply addresses of several emails, so it is not clear which one it answers. "
        "Please reply to one of them."
    )
)
UNKNOWN_CODE = _refusal(Paragraph("This code is unknown."))
NOTHING_TO_CONFIRM = _refusal(Paragraph("Nothing waits for a `yes` to the email that you answered."))
FAILED_AUTHENTICATION = _refusal(
    Paragraph(
        "An email in your name failed the checks that your email provider asks for, so it was not read. "
        "If you sent it, please send it again through the provider of your address."
    ),
    headline="NOT DONE: an email in your name failed authentication.",
)
"""To the registered address: a mail in its name failed DMARC."""


def wrong_sender(lines: Sequence[str], code: str | None) -> MailPage:
    """To the registered address: a mail with its reply token came from another address. code: under which
    its lines are held; None where they are not."""
    not_yours = Paragraph("An email to your reply address came from an address that is not yours.")
    how = "To write from another address too, reply with `link` and that address. "
    if code:
        how += (
            "If you did not send it, do nothing. Do not forward these emails: a person who has one could try "
            "to play for you."
        )
    else:
        how = f"If you sent it, please write from the address that this email was sent to. {how.strip()}"
    blocks = (
        not_yours,
        QuotedLines("It said", lines if code else ()),
        NOTHING_CHANGED,
        CopyableLines("If you sent it and still want this, reply with", [f"yes {code}"] if code else ()),
        Paragraph(how),
    )
    return MailPage("NOT DONE: did you send this?", blocks, subject="Did you send this?", tone="bad")


def confirm_lines(lines: Sequence[str], reason: str, code: str) -> MailPage:
    """Lines that need a confirmation. reason: why, as a sentence."""
    blocks = (
        QuotedLines("You wrote", lines),
        Paragraph(f"{reason} Please confirm it."),
        CopyableLines("To confirm, reply with", [f"yes {code}"]),
    )
    return _refusal(*blocks, headline="NOT DONE yet: are you sure?", subject="Please confirm")


def expects_yes_or_no(purpose: str, table: str = "", wants_no_emails: bool = False) -> MailPage:
    """The reply to a question was neither yes nor no. wants_no_emails: it asked for no more emails."""
    question = QUESTIONS[purpose].again.format(table or "the table")
    blocks = (
        Paragraph(f"{question} Please reply with one word on the first line: yes or no."),
        CopyableLines("Reply with one of", ["yes", "no"]),
        CopyableLines("To get no more emails, reply with", ["stop"] * wants_no_emails),
    )
    return _refusal(*blocks, subject="Please confirm")


def help_without_table(seats: Sequence[str], table: str = "") -> MailPage:
    """To a player whose mail has no valid reply address, or answers an email of no seat in play. seats:
    theirs. table: what the email is about; empty for none."""
    why = (
        f"Your email has no line that can be read at table {table}."
        if table
        else "Your email does not show for which table it is, or you have no seat there any more. "
        "Please reply to the newest email of the table that you mean."
    )
    blocks = (
        Paragraph(why),
        CopyableLines(
            "Or begin with one of these lines",
            ["list", "who", "help", "options", "new TITLE Bob <bob@example.org>, Cid <cid@example.org>"],
        ),
    )
    return _refusal(*blocks, BulletList("Your seats", seats), subject="How to reply")
