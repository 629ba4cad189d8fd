"""The text of every kind of email: each function makes one `MailPage`.

The headline of a receipt begins with OK or NOT DONE. A page repeats only those lines of a player's mail
that were read, each behind `| `.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mail.page import (
    AttachmentBlock,
    Block,
    BulletList,
    CopyableLines,
    ImageBlock,
    MailPage,
    Paragraph,
    PositionBlock,
    Preformatted,
    QuotedLines,
)
from mail.parser import MailProblem
from mail.port import (
    AcceptedLine,
    Attachment,
    Correspondent,
    InlineImage,
    LineRejected,
    LinesPlayed,
    PlayResult,
    QueryResult,
    StaleReply,
    TableRows,
)
from mail.quotes import OrderLine
from mail.reply_text import ParsedReply, ReplyFault

NOTHING_CHANGED = Paragraph("Nothing was changed.")


@dataclass(frozen=True, slots=True)
class TurnNotice:
    """What a player needs to know when it is their turn.

    prompt: a sentence that says what to do. deputy_for: the player whose turn it is, if the reader plays for
    them. deadline: until when, as a sentence. legal_lines: lines ready to
    copy. whole_turns: several of them in one, with `;` between. events_since: what happened since the
    player's last turn. position: lines of text, and tables. chat: pairs of name and text.
    """

    name: str
    prompt: str
    legal_lines: tuple[str, ...]
    events_since: tuple[str, ...] = ()
    position: tuple[str | TableRows, ...] = ()
    images: tuple[InlineImage, ...] = ()
    chat: tuple[tuple[str, str], ...] = ()
    deadline: str = ""
    subject: str = "Your turn"
    whole_turns: tuple[str, ...] = ()
    deputy_for: str = ""


def turn_notice(notice: TurnNotice) -> MailPage:
    """To the player whose turn it is."""
    blocks: list[Block] = [Paragraph(notice.prompt)]
    if notice.deadline:
        blocks.append(Paragraph(notice.deadline))
    blocks += _copyable("The whole turn at once", notice.whole_turns)
    blocks += _copyable("For example", notice.legal_lines)
    blocks += _items("Since your last turn", notice.events_since)
    blocks += [ImageBlock(image) for image in notice.images]
    blocks += _position(notice.position)
    if notice.chat:
        blocks.append(QuotedLines("Chat", [f"{name}: {words}" for name, words in notice.chat]))
    headline = f"It is your turn, {notice.name}."
    if notice.deputy_for:
        headline = f"It is {notice.deputy_for}'s turn: you play for them, {notice.name}."
    return MailPage(headline, tuple(blocks), notice.subject, "turn", preview=notice.prompt)


def announcement(
    headline: str,
    sentences: Sequence[str],
    position: tuple[str | TableRows, ...] = (),
    images: Sequence[InlineImage] = (),
    subject: str = "",
) -> MailPage:
    """What somebody is told: the game starts, is paused, they are next. What the headline says is not said
    again; the subject is `News` and the headline, if it is not given."""
    more = (sentence.removeprefix(headline).strip() for sentence in sentences)
    blocks = [
        *(Paragraph(sentence) for sentence in more if sentence),
        *map(ImageBlock, images),
        *_sentences_or_position(position),
    ]
    return MailPage(headline, tuple(blocks), subject=subject or f"News: {headline.rstrip('.')}")


@dataclass(frozen=True, slots=True)
class FinalLetter:
    """The end of a game. winner: a sentence. files: the game, and its map as an animation."""

    winner: str
    events: Sequence[str]
    records: Sequence[str]
    standings: tuple[str | TableRows, ...]
    images: Sequence[InlineImage] = ()
    files: Sequence[Attachment] = ()


def final_letter(letter: FinalLetter) -> MailPage:
    """To all players: the game is over."""
    blocks = [
        Paragraph(letter.winner),
        *_items("What happened", letter.events),
        *_items("Records", letter.records),
        *map(ImageBlock, letter.images),
        *_position(letter.standings, "Final standings"),
        *map(AttachmentBlock, letter.files),
    ]
    return MailPage("The game is over.", tuple(blocks), subject="The game is over", preview=letter.winner)


def receipt(
    result: PlayResult | None,
    reply: ParsedReply,
    shown: Sequence[QueryResult] = (),
    meant: Sequence[AcceptedLine] = (),
) -> MailPage:
    """The result of the lines of a mail, and the answers to its queries.

    meant: what the lines would do with the one line that a rejected one can mean.
    """
    is_alone = result is None and len(shown) == 1  # then the headline names it
    blocks = [block for part in shown for block in _answer(part, "" if is_alone else part.title)]
    match result:
        case None:
            titles = ", ".join(part.title for part in shown)
            rest = (*blocks, *_unread_lines(reply))
            return MailPage(f"Here is: {titles}.", rest, subject=f"Answer: {titles}")
        case LinesPlayed():
            return MailPage(
                "OK: all lines were carried out.",
                (*_accepted(result, reply), *_found_below(reply), *_unread_lines(reply), *blocks),
                subject="Done",
                tone="good",
            )
        case LineRejected():
            refused = _rejected(result, reply.orders[result.index], meant)
            return MailPage(
                "NOT DONE.", (*refused, *_unread_lines(reply), *blocks), subject="Not done", tone="bad"
            )
        case StaleReply():
            return MailPage(
                "NOT DONE: the game has moved on.",
                (*_stale(result, reply), *blocks),
                subject="Not done",
                tone="bad",
            )


def _answer(part: QueryResult, title: str) -> list[Block]:
    """The answer to a query: what a picture shows as well is text for those who see no pictures."""
    blocks: list[Block] = [ImageBlock(image) for image in part.images]
    blocks += _position(part.position, title) if part.position else _preformatted(title, part.text)
    return [*blocks, *map(AttachmentBlock, part.attachments)]


def _accepted(result: LinesPlayed, reply: ParsedReply) -> list[Block]:
    blocks = _items("Done", [f"{line} → {sentence}" for line, sentence in result.accepted])
    if result.answer:
        title = reply.orders[0].text
        can_be_sent = all(line.startswith(f"{title.split()[0]} ") for line in result.answer)
        lines = list(result.answer)
        blocks.append(CopyableLines(title, lines) if can_be_sent else Preformatted(title, "\n".join(lines)))
    blocks += _items("Changes", result.changes)
    blocks += _copyable("Next, for example", result.legal_lines)
    if rest := " ".join(filter(None, (result.waiting_for, result.undo_hint))):
        blocks.append(Paragraph(rest))
    return blocks


def _found_below(reply: ParsedReply) -> list[Block]:
    text = "Your orders stood between or below the quoted lines. If you did not mean them, send `undo`."
    return [Paragraph(text)] if reply.is_below else []


_SUGGESTION_TITLES = {
    "refused": "You can write instead",
    "unreadable": "Similar lines that are legal",
    "ambiguous": "Did you mean",
}


def _rejected(result: LineRejected, line: OrderLine, meant: Sequence[AcceptedLine] = ()) -> list[Block]:
    blocks = [
        QuotedLines(f"Line {line.number}", [line.text]),
        Paragraph(result.reason),
        *_copyable(_SUGGESTION_TITLES[result.kind], result.suggested_lines),
    ]
    if meant:
        blocks.append(BulletList("It would be", [f"{line} → {sentence}" for line, sentence in meant]))
        blocks.append(CopyableLines("If you mean that, reply with", ["yes"]))
    return [*blocks, NOTHING_CHANGED]


def _stale(result: StaleReply, reply: ParsedReply) -> list[Block]:
    return [
        QuotedLines("You wrote", [line.text for line in reply.orders]),
        Paragraph(f"That was for {result.old_prompt} Now: {result.current_prompt}"),
        NOTHING_CHANGED,
        *_items("Since then", result.events_since),
        *_copyable("You can write now", result.legal_lines),
    ]


def _unread_lines(reply: ParsedReply) -> list[Block]:
    blocks: list[Block] = []
    if reply.ignored:
        blocks.append(QuotedLines("Not read as orders", [text[:120] for text in reply.ignored[:10]]))
    if reply.misplaced:
        blocks.append(QuotedLines("Not read: lines among quoted text", reply.misplaced))
    return blocks


def invalid_line(fault: ReplyFault, reply: ParsedReply) -> MailPage:
    """A line of the reply is invalid."""
    blocks: list[Block] = []
    if fault.line:
        blocks.append(QuotedLines(f"Line {fault.line.number}", [fault.line.text]))
    blocks += [Paragraph(f"This line is invalid: {fault.reason}."), NOTHING_CHANGED]
    return MailPage("NOT DONE.", (*blocks, *_unread_lines(reply)), subject="Not done", tone="bad")


def did_you_mean(reply: ParsedReply, accepted: Sequence[AcceptedLine]) -> MailPage:
    """The reply leaves a doubt; `accepted` is what it would do."""
    blocks = (
        *_unclear_lines(reply),
        BulletList("It would be", [f"{line} → {sentence}" for line, sentence in accepted]),
        CopyableLines("If you mean that, reply with", ["yes"]),
        NOTHING_CHANGED,
        *_unread_lines(reply),
    )
    return MailPage("NOT DONE yet: did you mean this?", blocks, subject="Not done yet", tone="bad")


def unclear_reply(reply: ParsedReply, suggested_lines: Sequence[str]) -> MailPage:
    """The reply leaves a doubt, and it cannot be said what it would do."""
    blocks = (
        *_unclear_lines(reply),
        Paragraph("Please send only the lines that you want to play, one order on each line."),
        *_copyable("You can write", suggested_lines),
        NOTHING_CHANGED,
        *_unread_lines(reply),
    )
    return MailPage("NOT DONE: your email is not clear.", blocks, subject="Not done", tone="bad")


def no_orders(reply: ParsedReply, suggested_lines: Sequence[str]) -> MailPage:
    """The reply has only prose."""
    blocks = (
        Paragraph("Your email has no line that the game can read."),
        *_copyable("You can write", suggested_lines),
        NOTHING_CHANGED,
        *_unread_lines(reply),
    )
    return MailPage("NOT DONE.", blocks, subject="Not done", tone="bad")


def _unclear_lines(reply: ParsedReply) -> list[Block]:
    return [
        block
        for each in reply.unclear[:5]
        for block in (
            QuotedLines(f"Line {each.line.number} is not clear: {each.reason}", [each.line.text[:200]]),
        )
    ]


def must_be_alone(word: str) -> MailPage:
    """A command came with other lines, and must be the only line."""
    text = f"`{word}` must be the only line of an email. Send the other lines in another email."
    return MailPage("NOT DONE.", (Paragraph(text), NOTHING_CHANGED), subject="Not done", tone="bad")


def unreadable_mail(problem: MailProblem, reply: ParsedReply = ParsedReply()) -> MailPage:  # noqa: B008 (a tuple is immutable)
    """The mail has no text that can be read."""
    advice = {
        MailProblem.TNEF: "Please set your email program to send plain text or HTML.",
        MailProblem.ENCRYPTED: "Please send it as plain, unencrypted text.",
        MailProblem.TOO_BIG: "Please send text only.",
    }.get(problem, "Please write your orders as text above the quoted email, one on each line.")
    blocks = (
        Paragraph(f"Your email could not be read: {problem.value}. {advice}"),
        NOTHING_CHANGED,
        *_unread_lines(reply),
    )
    return MailPage("NOT DONE.", blocks, subject="Not done", tone="bad")


def ambiguous_recipient() -> MailPage:
    """The mail has more than one reply address."""
    text = "Your email has the reply addresses of several emails, so it is not clear which one it answers. "
    return MailPage(
        "NOT DONE.",
        (Paragraph(text + "Please reply to one of them."), NOTHING_CHANGED),
        subject="Not done",
        tone="bad",
    )


def wrong_sender(lines: Sequence[str], code: str | None) -> MailPage:
    """To the registered address: a mail with its reply token came from another address."""
    blocks: list[Block] = [
        Paragraph("An email to your reply address came from an address that is not yours.")
    ]
    if code and lines:
        blocks.append(QuotedLines("It said", lines))
        blocks.append(NOTHING_CHANGED)
        blocks.append(CopyableLines("If you sent it and still want this, reply with", [f"yes {code}"]))
        blocks.append(
            Paragraph(
                "If you did not send it, do nothing. Do not forward these emails: "
                "whoever has one could try to play for you."
            )
        )
    else:
        blocks += [
            NOTHING_CHANGED,
            Paragraph("If you sent it, please write from the address that this email was sent to."),
        ]
    return MailPage("NOT DONE: did you send this?", tuple(blocks), subject="Did you send this?", tone="bad")


def failed_authentication() -> MailPage:
    """To the registered address: a mail in its name failed DMARC."""
    text = "An email in your name failed the checks that your email provider asks for, so it was not read. "
    more = "If you sent it, please send it again through the provider of your address."
    return MailPage(
        "NOT DONE: an email in your name failed authentication.",
        (Paragraph(text + more), NOTHING_CHANGED),
        subject="Not done",
        tone="bad",
    )


def confirm_orders(lines: Sequence[str], code: str) -> MailPage:
    """Orders that need a confirmation."""
    blocks = (
        QuotedLines("You wrote", lines),
        Paragraph("This cannot be undone, so please confirm it."),
        CopyableLines("To confirm, reply with", [f"yes {code}"]),
        NOTHING_CHANGED,
    )
    return MailPage("NOT DONE yet: are you sure?", blocks, subject="Please confirm", tone="bad")


def unknown_code() -> MailPage:
    """`yes CODE` with an unknown code."""
    return MailPage(
        "NOT DONE.", (Paragraph("This code is unknown."), NOTHING_CHANGED), subject="Not done", tone="bad"
    )


def confirmation(sentence: str) -> MailPage:
    """A command was carried out; `sentence` says which."""
    return MailPage("OK.", (Paragraph(sentence),), subject="Done", tone="good")


_QUESTIONS = {
    "link": "This address is asked to confirm that it is yours.",
    "invite": "You are invited to a seat at {table}.",
    "start": "The question is whether to start the game at {table}.",
    "keep": "The question is whether to keep {table} open.",
    "agree": "The question is whether a robot may play at {table}.",
    "host": "The question is whether to open the table that was asked for.",
}


def expects_yes_or_no(purpose: str = "", table: str = "") -> MailPage:
    """The reply to a question was neither yes nor no."""
    question = _QUESTIONS.get(purpose, "").format(table=table or "the table")
    blocks = (
        Paragraph(f"{question} Please reply with one word on the first line: yes or no.".strip()),
        CopyableLines("Reply with one of", ["yes", "no"]),
        NOTHING_CHANGED,
    )
    return MailPage("NOT DONE.", blocks, subject="Please confirm", tone="bad")


def seat_offer(host: str, table: str, title: str, seat: str, players: Sequence[str]) -> MailPage:
    """To an address to which a seat is offered in a game that goes on here."""
    headline = f"{host} invites you to play on as {seat}."
    blocks = [
        Paragraph(f"A game of {title} goes on here: {table}. It is played by replying to emails."),
        *_items("Players", players),
        CopyableLines("To take your seat, reply with", ["yes"]),
        CopyableLines("To decline, reply with", ["no"]),
        Paragraph("With `no`, or without an answer, no more emails come. `stop` ends all invitations."),
    ]
    return MailPage(headline, tuple(blocks), subject=headline.rstrip("."), tone="turn")


def address_confirmation(name: str) -> MailPage:
    """To an address that a player claims."""
    blocks = (
        Paragraph(f"{name} wants to play by email with this address. If that is you, reply with one word."),
        CopyableLines("Reply", ["yes"]),
        Paragraph("If it is not you, do nothing. No more emails will come."),
    )
    return MailPage("Is this your address?", blocks, subject="Confirm your address", tone="turn")


def invitation(
    host: str, table: str, title: str = "", players: Sequence[str] = (), details: Sequence[str] = ()
) -> MailPage:
    """To an address that is invited to a table. details: what is agreed there."""
    named = f" of {title}" if title else ""
    blocks: list[Block] = [
        Paragraph(f"The table is {table}. The game is played over days, by replying to emails.")
    ]
    blocks += _items("Players", players)
    blocks += _items("What is agreed", details)
    blocks += [
        CopyableLines("To take your seat, reply with", ["yes"]),
        CopyableLines("To decline, reply with", ["no"]),
        Paragraph(
            "With `yes` you get an email when it is your turn, and answer it with your move. With `no`, or "
            "without an answer, no more emails come. `stop` ends all invitations."
        ),
    ]
    subject = f"{host} invites you to a game{named}"
    return MailPage(f"{host} invites you to a game{named}.", tuple(blocks), subject=subject, tone="turn")


def host_confirmation(sentences: Sequence[str], lines: Sequence[str]) -> MailPage:
    """To an address that is not verified and asks for a table."""
    blocks: tuple[Block, ...] = (
        *(Paragraph(sentence) for sentence in sentences),
        QuotedLines("You wrote", [line[:200] for line in lines[:10]]),
        CopyableLines("To open the table, reply with", ["yes"]),
        Paragraph("If it was not you, do nothing: nobody is invited, and no more emails come."),
    )
    return MailPage("Did you ask for a table?", blocks, subject="Please confirm", tone="turn")


_ANSWERS = {
    "who": "Players",
    "list": "Your tables",
    "options": "Options",
    "help": "Help",
    "settings": "Settings",
    "turns": "What waits for you",
}


def table_answer(sentences: Sequence[str], is_done: bool, word: str = "") -> MailPage:
    """The answer to a command about tables. word: the first of the command."""
    title = _ANSWERS.get(word, "")
    blocks = (BulletList("", sentences),) if len(sentences) > 1 else (Paragraph(sentences[0]),)
    if not is_done:
        return MailPage("NOT DONE.", (*blocks, NOTHING_CHANGED), subject="Not done", tone="bad")
    return MailPage(f"{title or 'OK'}.", blocks, subject=title or "Done", tone="good")


def lobby_news(sentence: str) -> MailPage:
    """To the host: how somebody has answered an invitation."""
    return MailPage("News from the table.", (Paragraph(sentence),))


def gathered_answers(answers: Sequence[str]) -> MailPage:
    """Several answers in one email, as so many emails came in a short time. answers: as of `summary`."""
    why = Paragraph("You wrote so many emails in an hour that these answers come together.")
    return MailPage("Your answers.", (why, *_texts(answers)), subject="Done")


def lost_letters(texts: Sequence[str]) -> MailPage:
    """What emails said that did not arrive. texts: as of `summary`."""
    what = "This email" if len(texts) == 1 else f"These {len(texts)} emails"
    why = Paragraph(f"{what} to you came back from your mail server. Here is what you have missed.")
    return MailPage("Emails to you did not arrive.", (why, *_texts(texts)), subject="What you have missed")


def _texts(texts: Sequence[str]) -> list[Block]:
    blocks: list[Block] = []
    for each in texts:
        headline, _, text = each.partition("\n")
        blocks.append(Preformatted(headline, text) if text else Paragraph(headline))
    return blocks


def with_sentence(page: MailPage, sentence: str) -> MailPage:
    """The page with one more sentence at its end."""
    return replace(page, blocks=(*page.blocks, Paragraph(sentence)))


def lobby_question(headline: str, sentence: str, answer: str, otherwise: str = "") -> MailPage:
    """To people of a table that has not started. answer: what `yes` does; otherwise: what `no` does."""
    blocks: list[Block] = [Paragraph(sentence), CopyableLines(f"{answer}, reply with", ["yes"])]
    if otherwise:
        blocks.append(CopyableLines(f"{otherwise}, reply with", ["no"]))
    return MailPage(headline, tuple(blocks), subject=headline.rstrip("."), tone="turn")


def seat_request(sentence: str, answers: Sequence[str]) -> MailPage:
    """To the host: somebody asks for a seat. answers: the lines that answer."""
    blocks = (Paragraph(sentence), CopyableLines("Reply with one of these lines", list(answers)))
    return MailPage("A seat is asked for.", blocks, subject="A seat is asked for", tone="turn")


def help_without_table(person: Correspondent) -> MailPage:
    """To a player whose mail has no valid reply address."""
    blocks: list[Block] = [
        Paragraph("Your email does not show which email it answers, so nothing was done with it."),
        Paragraph("Please reply to the newest email of the table that you mean."),
        CopyableLines(
            "Or begin with one of these lines",
            ["list", "who", "help", "options", "new TITLE Bob <bob@example.org>, Cid <cid@example.org>"],
        ),
    ]
    seats = [f"{label}, as {name}" for label, name in person.seats]
    return MailPage(
        "NOT DONE.",
        (*blocks, *_items("Your seats", seats), NOTHING_CHANGED),
        subject="How to reply",
        tone="bad",
    )


def _items(title: str, items: Sequence[str]) -> list[Block]:
    return [BulletList(title, items)] if items else []


def _copyable(title: str, lines: Sequence[str]) -> list[Block]:
    return [CopyableLines(title, lines)] if lines else []


def _sentences_or_position(parts: tuple[str | TableRows, ...]) -> list[Block]:
    """A position; what is only sentences needs no heading."""
    sentences = [part for part in parts if isinstance(part, str)]
    if len(sentences) < len(parts):
        return _position(parts)
    return [Paragraph(sentence) for sentence in sentences if sentence]


def _position(parts: tuple[str | TableRows, ...], title: str = "The position") -> list[Block]:
    return [PositionBlock(title, parts)] if parts else []


def _preformatted(title: str, text: str) -> list[Block]:
    return [Preformatted(title, text)] if text.strip() else []
