"""Emails that answer one: receipts, answers to questions, what has to be confirmed. Each function makes one
page.

The headline of a receipt begins with OK or NOT DONE. A page repeats only those lines of a player's mail
that were read, each behind `| `.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from bot.hub.request import (
    CommandResult,
    Completed,
    LineAmbiguous,
    LineFailure,
    LineRefused,
    LineUnreadable,
    NotYourSeat,
    PollUpdated,
    QueryAnswer,
    StaleDecision,
    TableNotRunning,
)
from mail.composing.page import (
    Attachment,
    AttachmentBlock,
    Block,
    BulletList,
    CopyableLines,
    ImageBlock,
    InlineImage,
    MailPage,
    Paragraph,
    PositionBlock,
    Preformatted,
    QuotedLines,
    TableRows,
)
from mail.reading.reply_text import ParsedReply

NOTHING_CHANGED = Paragraph("Nothing was changed.")


class AcceptedLine(NamedTuple):
    """A line as the player wrote it, and the sentence that the table reads."""

    line: str
    sentence: str


@dataclass(frozen=True, slots=True)
class PlayResult:
    """What came of the lines of a reply, and what its receipt says besides.

    waiting_for: a sentence on who is to act. legal_lines: lines ready to copy. changes: what the lines did to
    everybody's cash, in sentences.
    """

    result: CommandResult
    waiting_for: str = ""
    legal_lines: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()

    @property
    def is_done(self) -> bool:
        """Whether all lines were carried out; otherwise nothing was changed."""
        return isinstance(self.result, Completed | PollUpdated | QueryAnswer)

    @property
    def instead(self) -> tuple[str, ...]:
        """Lines that can be written in the place of the one that failed."""
        if not isinstance(self.result, LineFailure):
            return ()
        return self.result.suggestions or self.legal_lines

    def corrected(self, lines: Sequence[str]) -> tuple[str, ...]:
        """The lines with the one that a rejected one can only mean; none where there is no such line."""
        failed = self.result
        if len(self.instead) != 1 or not isinstance(failed, LineUnreadable | LineAmbiguous):
            return ()
        suggestion = self.instead[0].partition("#")[0].strip()
        return (*lines[: failed.index], suggestion, *lines[failed.index + 1 :])


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The answer to a query: preformatted text, or a position with tables, images, attachments.

    is_refused: the text says why there is no answer.
    """

    title: str
    text: str
    images: tuple[InlineImage, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    position: tuple[str | TableRows, ...] = ()
    is_refused: bool = False


def receipt(
    played: PlayResult | None,
    reply: ParsedReply,
    shown: Sequence[QueryResult] = (),
    meant: Sequence[AcceptedLine] = (),
    left: Sequence[str] = (),
) -> MailPage:
    """The result of the lines of a mail, and the answers to its queries.

    meant: what the lines would do with the one line that a rejected one can mean. left: queries that are too
    many for one mail.
    """
    is_alone = played is None and len(shown) == 1  # then the headline names it
    blocks = [block for part in shown for block in _answer(part, "" if is_alone else part.title)]
    blocks.append(
        CopyableLines(f"One email answers {len(shown)} questions; send the others in another one", left)
    )
    if played is None:
        titles = ", ".join(part.title for part in shown)
        rest = (*blocks, *unread_lines(reply))
        if shown and all(part.is_refused for part in shown):
            return MailPage(f"No answer to: {titles}.", rest, subject=f"No answer: {titles}", tone="bad")
        return MailPage(f"Here is: {titles}.", rest, subject=f"Answer: {titles}")
    if played.is_done:
        done = (*_accepted(played, reply), *_found_below(reply), *unread_lines(reply), *blocks)
        return MailPage("OK: all lines were carried out.", done, subject="Done", tone="good")
    if isinstance(played.result, StaleDecision):
        headline, failed = "NOT DONE: the game has moved on.", _stale(played, played.result.since, reply)
    else:
        headline, failed = "NOT DONE.", [*_rejected(played, reply, meant), *unread_lines(reply)]
    return MailPage(headline, (*failed, *blocks), subject="Not done", tone="bad")


def _answer(part: QueryResult, title: str) -> list[Block]:
    """The answer to a query: what a picture shows as well is text for those who see no pictures."""
    words = PositionBlock(title, part.position) if part.position else Preformatted(title, part.text)
    return [*map(ImageBlock, part.images), words, *map(AttachmentBlock, part.attachments)]


def _accepted(played: PlayResult, reply: ParsedReply) -> list[Block]:
    accepted, more = _done_lines(played.result, [line.text for line in reply.lines])
    more = [each for each in more if each != played.waiting_for]
    blocks: list[Block] = [BulletList("Done", [with_sentence(*each) for each in accepted])]
    if more:
        title = "Also" if accepted else reply.lines[0].text
        can_be_sent = all(line.startswith(f"{title.split()[0]} ") for line in more)
        blocks.append(CopyableLines(title, more) if can_be_sent else Preformatted(title, "\n".join(more)))
    undo = ""
    if isinstance(played.result, Completed) and played.result.played and not played.result.game_over:
        undo = "Send `undo` to take it back."
    return [
        *blocks,
        BulletList("Changes", played.changes),
        CopyableLines("Next, for example", played.legal_lines),
        Paragraph(f"{played.waiting_for} {undo}".strip()),
    ]


def _done_lines(result: CommandResult, lines: Sequence[str]) -> tuple[list[AcceptedLine], list[str]]:
    """What each of the lines has done, and the lines of text that answer them besides."""
    match result:
        case Completed(played=moves) if moves:
            said = [AcceptedLine(move.raw_line, " ".join(move.sentences) or move.line) for move in moves]
            return said, list(result.sentences)
        case Completed() | PollUpdated():
            return [AcceptedLine(lines[0], " ".join(result.sentences))], []
        case QueryAnswer():
            rows = [text for text in result.text.splitlines() if text.strip()]
            if len(rows) != len(lines):
                return [], rows
            return [AcceptedLine(*pair) for pair in zip(lines, rows, strict=True)], []
        case _:
            raise AssertionError(f"nothing was done: {type(result).__name__}")


def _found_below(reply: ParsedReply) -> list[Block]:
    text = "Your moves stood between or below the quoted lines. If you did not mean them, send `undo`."
    return [Paragraph(text)] if reply.is_below else []


def _rejected(played: PlayResult, reply: ParsedReply, meant: Sequence[AcceptedLine]) -> list[Block]:
    """Why a line was not carried out; for a table or a seat it is the first."""
    match played.result:
        case LineUnreadable(index=index, reason=reason, suggestions=similar):
            title = "Similar lines that are legal" if similar else "You can write"
        case LineRefused(index=index, reason=reason):
            title = "You can write instead"
        case LineAmbiguous(index=index, reason=reason):
            title = "Did you mean"
        case NotYourSeat(reason=reason) | TableNotRunning(reason=reason):
            title, index = "", 0
        case _:
            raise AssertionError(f"no line has failed: {type(played.result).__name__}")
    line = reply.lines[index]
    return [
        QuotedLines(f"Line {line.number}", [line.text]),
        Paragraph(reason),
        CopyableLines(title, played.instead),
        *(offer(meant) if meant else []),
        NOTHING_CHANGED,
    ]


def with_sentence(line: str, sentence: str) -> str:
    """A line, with what it does where that is known."""
    return f"{line} → {sentence}" if sentence else line


def offer(accepted: Sequence[AcceptedLine], title: str = "It would be", still: str = "") -> list[Block]:
    """What lines would do, which the reader may want with `yes`."""
    return [
        BulletList(title, [with_sentence(*each) for each in accepted]),
        CopyableLines(f"If you {still}mean that, reply with", ["yes"]),
    ]


def unread_lines(reply: ParsedReply) -> list[Block]:
    """What of a reply was not taken for lines to play."""
    return [
        QuotedLines("Not read as moves", [text[:120] for text in reply.ignored[:10]]),
        QuotedLines("Not read: lines among quoted text", reply.misplaced),
    ]


def _stale(played: PlayResult, since: Sequence[str], reply: ParsedReply) -> list[Block]:
    now = f" Now: {played.waiting_for}" if played.waiting_for else ""
    return [
        QuotedLines("You wrote", [line.text for line in reply.lines]),
        Paragraph(f"That was for a decision that is no longer open.{now}"),
        NOTHING_CHANGED,
        BulletList("Since then", since),
        CopyableLines("You can write now", played.legal_lines),
    ]


def confirmation(sentence: str, attachments: Sequence[Attachment] = ()) -> MailPage:
    """A command was carried out; `sentence` says which."""
    blocks: list[Block] = [Paragraph(sentence), *map(AttachmentBlock, attachments)]
    return MailPage("OK.", blocks, subject="Done", tone="good")


def gathered_answers(answers: Sequence[str]) -> MailPage:
    """Several answers in one email, as so many emails came in a short time. answers: as of `words_of`."""
    why = Paragraph("You wrote so many emails in an hour that these answers come together.")
    return MailPage("Your answers.", (why, *_texts(answers)), subject="Done")


def bounced_mail(texts: Sequence[str]) -> MailPage:
    """What emails said that did not arrive. texts: as of `words_of`."""
    what = "This email" if len(texts) == 1 else f"These {len(texts)} emails"
    why = Paragraph(f"{what} to you came back from your mail server. Here is what you have missed.")
    return MailPage("Emails to you did not arrive.", (why, *_texts(texts)), subject="What you have missed")


def _texts(texts: Sequence[str]) -> list[Block]:
    blocks: list[Block] = []
    for each in texts:
        headline, _, text = each.partition("\n")
        blocks.append(Preformatted(headline, text.lstrip("\n")) if text else Paragraph(headline))
    return blocks


def with_done(page: MailPage, sentence: str) -> MailPage:
    """The page with one more sentence at its end, about something that was done: no other says that nothing
    was."""
    others = (block for block in page.blocks if block != NOTHING_CHANGED)
    return replace(page, blocks=(*others, Paragraph(sentence)))


_ANSWERS = {
    "who": "Players",
    "list": "Your tables",
    "options": "Options",
    "help": "Help",
    "settings": "Settings",
    "turns": "What waits for you",
    "snapshot": "A snapshot",
    "my": "Your data",
    "erase": "Your data",
}


class Question(NamedTuple):
    """What an email asks, to which `yes` is the answer. otherwise: what follows from either. again: the
    question to who answers neither yes nor no. `{}` stands for the name of who asks, or the table."""

    again: str
    headline: str = ""
    asked: str = ""
    otherwise: str = ""
    subject: str = ""


QUESTIONS: Mapping[str, Question] = {
    "invite": Question("You are invited to a seat at {}."),
    "answer": Question("The question is about {}."),
    "host": Question("The question is whether to open the table that was asked for."),
    "link": Question(
        "This address is asked to confirm that it is yours.",
        "Is this your address?",
        "{} wants to play by email with this address. If that is you, reply with one word.",
        "If it is not you, do nothing. No more emails will come.",
        "Confirm your address",
    ),
    "export": Question(
        "The question is whether you want what is stored about you.",
        "Do you want your data?",
        "Somebody has asked for all that is stored about you. If that was you, reply with one word.",
        "You then get it as a file. If it was not you, do nothing.",
        "Your data",
    ),
    "erase": Question(
        "The question is whether everything about you is to be deleted.",
        "Should everything about you be deleted?",
        "Somebody has asked to delete everything about you. If that was you, reply with one word.",
        "You then leave all tables, your name is taken out of their games, and this address is "
        "forgotten. It cannot be undone, and this is the last email. If it was not you, do nothing.",
        "Delete your data",
    ),
}
"""By the purpose of the token with which they are answered."""


def question(purpose: str, name: str = "") -> MailPage:
    """A question of `QUESTIONS`. name: of who asks."""
    asked = QUESTIONS[purpose]
    lines = Paragraph(asked.asked.format(name)), CopyableLines("Reply", ["yes"]), Paragraph(asked.otherwise)
    return MailPage(asked.headline, lines, subject=asked.subject, tone="turn")


def not_played(lines: Sequence[str]) -> MailPage:
    """The reader has said no to lines that were offered."""
    return MailPage(
        "OK.", (QuotedLines("Not played", lines), NOTHING_CHANGED), subject="Not played", tone="good"
    )


def host_confirmation(lines: Sequence[str]) -> MailPage:
    """To an address that is not verified and asks for a table."""
    blocks = (
        Paragraph("Somebody has asked for a table with this address."),
        QuotedLines("You wrote", [line[:200] for line in lines[:10]]),
        CopyableLines("To open the table, reply with", ["yes"]),
        Paragraph("If it was not you, do nothing: nobody is invited, and no more emails come."),
    )
    return MailPage("Did you ask for a table?", blocks, subject="Please confirm", tone="turn")


def table_answer(
    sentences: Sequence[str],
    is_done: bool,
    word: str = "",
    images: Sequence[InlineImage] = (),
    unread: Sequence[str] = (),
) -> MailPage:
    """The answer to a command about tables. word: the first of the command. unread: lines below it that say
    nothing more of it. Not done with several sentences is done in part."""
    title = _ANSWERS.get(word, "")
    text = BulletList("", sentences) if len(sentences) > 1 else Paragraph(sentences[0])
    rest = QuotedLines("Not read", [line[:120] for line in unread[:10]])
    blocks = (text, *map(ImageBlock, images), rest)
    if not is_done and len(sentences) > 1:
        return MailPage("DONE IN PART.", blocks, subject="Done in part", tone="bad")
    if not is_done:
        return MailPage("NOT DONE.", (*blocks, NOTHING_CHANGED), subject="Not done", tone="bad")
    return MailPage(f"{title or 'OK'}.", blocks, subject=title or "Done", tone="good")
