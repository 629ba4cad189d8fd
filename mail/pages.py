"""What each kind of letter says: every function makes one `Page`, and no letter is worded anywhere else.

A receipt's headline begins with OK or NOT DONE. Nothing here repeats a player's mail beyond the lines that
were read, and those stand behind `| `.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mail.compose import (
    AttachmentBlock,
    Block,
    BulletList,
    CopyableLines,
    ImageBlock,
    MailPage,
    Paragraph,
    Preformatted,
    QuotedLines,
)
from mail.parser import MailProblem
from mail.port import (
    Correspondent,
    InlineImage,
    LineRejected,
    LinesPlayed,
    PlayResult,
    QueryResult,
    StaleReply,
)
from mail.reply_text import OrderLine, ParsedReply, ReplyFault

NOTHING_CHANGED = Paragraph("Nothing was changed.")


@dataclass(frozen=True, slots=True)
class TurnNotice:
    """What a seat hears when it is asked for a decision.

    `need` says what is asked, `deadline` until when, `lines` are legal lines ready to copy, `since` is what
    happened since the seat's last turn, `position` is the state as text, `chat` are (name, words).
    """

    name: str
    prompt: str
    legal_lines: tuple[str, ...]
    events_since: tuple[str, ...] = ()
    position: str = ""
    images: tuple[InlineImage, ...] = ()
    chat: tuple[tuple[str, str], ...] = ()
    deadline: str = ""


def turn_notice(told: TurnNotice) -> MailPage:
    """It is your turn."""
    blocks: list[Block] = [Paragraph(told.prompt)]
    if told.deadline:
        blocks.append(Paragraph(f"Please answer by {told.deadline}."))
    blocks += _copyable("You could write, for example", told.legal_lines)
    blocks += _items("Since your last turn", told.events_since)
    blocks += [ImageBlock(picture) for picture in told.images]
    blocks += _preformatted("How things stand", told.position)
    if told.chat:
        blocks.append(QuotedLines("What was said", [f"{name}: {words}" for name, words in told.chat]))
    return MailPage(f"It is your turn, {told.name}.", tuple(blocks), tone="turn")


def announcement(
    headline: str, since: Sequence[str], position: str = "", pictures: Sequence[InlineImage] = ()
) -> MailPage:
    """Something everybody hears: the start, the end, a pause."""
    blocks = [
        *_items("What happened", since),
        *map(ImageBlock, pictures),
        *_preformatted("How things stand", position),
    ]
    return MailPage(headline, tuple(blocks))


def receipt(answer: PlayResult | None, reading: ParsedReply, shown: Sequence[QueryResult] = ()) -> MailPage:
    """What became of the lines of one mail, and what it asked to see."""
    blocks: list[Block] = []
    for part in shown:
        blocks += [ImageBlock(picture) for picture in part.images]
        blocks += _preformatted(part.title, part.text)
        blocks += map(AttachmentBlock, part.attachments)
    match answer:
        case None:
            return MailPage(
                f"Here is: {', '.join(part.title for part in shown)}.", (*blocks, *_unread_lines(reading))
            )
        case LinesPlayed():
            return MailPage(
                "OK: all of it was done.", (*_accepted(answer), *_unread_lines(reading), *blocks), tone="good"
            )
        case LineRejected():
            refused = _rejected(answer, reading.orders[answer.index])
            return MailPage("NOT DONE.", (*refused, *_unread_lines(reading), *blocks), tone="bad")
        case StaleReply():
            return MailPage("NOT DONE: the game has gone on.", (*_stale(answer), *blocks), tone="bad")


def _accepted(answer: LinesPlayed) -> list[Block]:
    blocks: list[Block] = [BulletList("Done", [f"{said} → {sentence}" for said, sentence in answer.accepted])]
    blocks += _items("What it changed", answer.changes)
    blocks += _copyable("You could go on, for example, with", answer.legal_lines)
    if rest := " ".join(filter(None, (answer.waiting_for, answer.undo_hint))):
        blocks.append(Paragraph(rest))
    return blocks


_SUGGESTION_TITLES = {
    "refused": "What you could write instead",
    "unreadable": "The nearest lines that can be read",
    "ambiguous": "Did you mean",
}


def _rejected(answer: LineRejected, line: OrderLine) -> list[Block]:
    return [
        QuotedLines(f"Line {line.number}", [line.text]),
        Paragraph(answer.reason),
        *_copyable(_SUGGESTION_TITLES[answer.kind], answer.suggested_lines),
        NOTHING_CHANGED,
    ]


def _stale(answer: StaleReply) -> list[Block]:
    return [
        Paragraph(f"That was an answer to: {answer.old_prompt} Now: {answer.current_prompt}"),
        NOTHING_CHANGED,
        *_items("Since then", answer.events_since),
        *_copyable("What you could write now", answer.legal_lines),
    ]


def _unread_lines(reading: ParsedReply) -> list[Block]:
    blocks: list[Block] = []
    if reading.ignored:
        blocks.append(
            QuotedLines(
                "Behind your orders, and not read as orders", [text[:120] for text in reading.ignored[:10]]
            )
        )
    if reading.misplaced:
        blocks.append(QuotedLines("Not read, because these lines stand among quoted text", reading.misplaced))
    return blocks


def invalid_line(fault: ReplyFault, reading: ParsedReply) -> MailPage:
    """The lines cannot be taken as they stand."""
    blocks: list[Block] = []
    if fault.line:
        blocks.append(QuotedLines(f"Line {fault.line.number}", [fault.line.text]))
    blocks += [Paragraph(f"This line cannot be used: {fault.reason}."), NOTHING_CHANGED]
    return MailPage("NOT DONE.", (*blocks, *_unread_lines(reading)), tone="bad")


def must_be_alone(word: str) -> MailPage:
    """A word that must be the only one in its mail."""
    text = f"`{word}` must be the only line of a mail. Send it by itself, and the rest in a mail of its own."
    return MailPage("NOT DONE.", (Paragraph(text), NOTHING_CHANGED), tone="bad")


def unreadable_mail(problem: MailProblem, reading: ParsedReply = ParsedReply()) -> MailPage:  # noqa: B008 (a tuple is immutable)
    """There is no text to read."""
    advice = {
        MailProblem.TNEF: "Please set your mail program to send plain text or HTML.",
        MailProblem.ENCRYPTED: "Please send it as plain, unencrypted text.",
        MailProblem.TOO_BIG: "Please send text only.",
    }.get(problem, "Please write your orders as text above the quoted letter, one a line.")
    blocks = (
        Paragraph(f"Your mail could not be read: {problem.value}. {advice}"),
        NOTHING_CHANGED,
        *_unread_lines(reading),
    )
    return MailPage("NOT DONE.", blocks, tone="bad")


def ambiguous_recipient() -> MailPage:
    """A mail with more than one reply address."""
    text = (
        "Your mail carries the reply addresses of several letters, and it is not clear which one is meant. "
    )
    return MailPage(
        "NOT DONE.", (Paragraph(text + "Please answer one letter alone."), NOTHING_CHANGED), tone="bad"
    )


def wrong_sender(lines: Sequence[str], code: str | None) -> MailPage:
    """Somebody used this seat's reply address from an address that is not the seat's. Goes to the registered
    one.
    """
    said: list[Block] = [
        Paragraph("A mail to your reply address came from an address that is not registered for you.")
    ]
    if code and lines:
        said.append(QuotedLines("It said", lines))
        said.append(NOTHING_CHANGED)
        said.append(CopyableLines("If it was you, and you still want this, answer with", [f"yes {code}"]))
        said.append(
            Paragraph(
                "If it was not you, do nothing, and do not forward these letters: who has one could try."
            )
        )
    else:
        said += [
            NOTHING_CHANGED,
            Paragraph("If it was you, please write from the address that this letter was sent to."),
        ]
    return MailPage("NOT DONE: was this you?", tuple(said), tone="bad")


def failed_authentication() -> MailPage:
    """The mail failed its domain's authentication. Goes to the registered address."""
    text = (
        "A mail in your name failed the checks that your mail provider asks for, so it was put aside unread. "
    )
    more = "If it was you, please send it again by the mail service that your address belongs to."
    return MailPage(
        "NOT DONE: a mail in your name failed authentication.",
        (Paragraph(text + more), NOTHING_CHANGED),
        tone="bad",
    )


def confirm_orders(lines: Sequence[str], code: str) -> MailPage:
    """Lines that need a second mail."""
    blocks = (
        QuotedLines("You wrote", lines),
        Paragraph("This cannot be taken back, so it needs a second mail."),
        CopyableLines("If you are sure, answer with", [f"yes {code}"]),
        NOTHING_CHANGED,
    )
    return MailPage("NOT DONE yet: are you sure?", blocks, tone="bad")


def unknown_code() -> MailPage:
    """`yes CODE` with a code that nothing waits for."""
    return MailPage("NOT DONE.", (Paragraph("Nothing waits for this code."), NOTHING_CHANGED), tone="bad")


def confirmation(sentence: str) -> MailPage:
    """A confirmation or stop that was carried out."""
    return MailPage("OK.", (Paragraph(sentence),), tone="good")


def expects_yes_or_no() -> MailPage:
    """A confirmation was asked for, and something else was answered."""
    text = "Please answer with one word on the first line: yes or no."
    return MailPage("NOT DONE.", (Paragraph(text), NOTHING_CHANGED), subject="Please confirm", tone="bad")


def address_confirmation(name: str) -> MailPage:
    """Is this address really yours?"""
    blocks = (
        Paragraph(f"{name} asked to play by mail with this address. If that is you, answer with one word."),
        CopyableLines("Answer", ["yes"]),
        Paragraph("If it is not you, do nothing, and no more letters will come."),
    )
    return MailPage("Is this your address?", blocks, subject="Confirm your address", tone="turn")


def invitation(host: str, table: str) -> MailPage:
    """Somebody without another channel is asked to join a table."""
    blocks = (
        Paragraph(f"{host} invites you to a game: {table}. It is played over days, by answering letters."),
        CopyableLines("To take your seat answer with", ["yes"]),
        CopyableLines("To decline answer with", ["no"]),
    )
    return MailPage(f"{host} invites you to a game.", blocks, subject="You are invited", tone="turn")


def rate_limited() -> MailPage:
    """Too many answers in an hour."""
    text = "You have had as many answers as an hour allows. Orders are still read; receipts come later."
    return MailPage("A pause.", (Paragraph(text),))


def help_without_table(person: Correspondent) -> MailPage:
    """A known person wrote without a reply address that is valid."""
    blocks: list[Block] = [
        Paragraph("Your mail did not say which letter it answers, so nothing was done with it."),
        Paragraph("Please use your mail program's reply on the newest letter of the table you mean."),
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


def _preformatted(title: str, text: str) -> list[Block]:
    return [Preformatted(title, text)] if text.strip() else []
