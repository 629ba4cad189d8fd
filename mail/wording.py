"""What each kind of letter says: every function makes one `Page`, and no letter is worded anywhere else.

A receipt's headline begins with OK or NOT DONE. Nothing here repeats a player's mail beyond the lines that
were read, and those stand behind `| `.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .compose import Block, Copy, Enclosed, Figure, Fixed, Items, Page, Paragraph, Quoted
from .desk import Answer, Done, NotDone, Person, Picture, Shown, Stale
from .letter import Problem
from .trim import Fault, Line, Reading

NOTHING = Paragraph("Nothing was changed.")


@dataclass(frozen=True, slots=True)
class Notice:
    """What a seat hears when it is asked for a decision.

    `need` says what is asked, `deadline` until when, `lines` are legal lines ready to copy, `since` is what
    happened since the seat's last turn, `position` is the state as text, `chat` are (name, words).
    """

    name: str
    need: str
    lines: tuple[str, ...]
    since: tuple[str, ...] = ()
    position: str = ""
    pictures: tuple[Picture, ...] = ()
    chat: tuple[tuple[str, str], ...] = ()
    deadline: str = ""


def notice(told: Notice) -> Page:
    """It is your turn."""
    blocks: list[Block] = [Paragraph(told.need)]
    if told.deadline:
        blocks.append(Paragraph(f"Please answer by {told.deadline}."))
    blocks += _copy("You could write, for example", told.lines)
    blocks += _items("Since your last turn", told.since)
    blocks += [Figure(picture) for picture in told.pictures]
    blocks += _fixed("How things stand", told.position)
    if told.chat:
        blocks.append(Quoted("What was said", [f"{name}: {words}" for name, words in told.chat]))
    return Page(f"It is your turn, {told.name}.", tuple(blocks), tone="turn")


def news(headline: str, since: Sequence[str], position: str = "", pictures: Sequence[Picture] = ()) -> Page:
    """Something everybody hears: the start, the end, a pause."""
    blocks = [*_items("What happened", since), *map(Figure, pictures), *_fixed("How things stand", position)]
    return Page(headline, tuple(blocks))


def receipt(answer: Answer | None, reading: Reading, shown: Sequence[Shown] = ()) -> Page:
    """What became of the lines of one mail, and what it asked to see."""
    blocks: list[Block] = []
    for part in shown:
        blocks += [Figure(picture) for picture in part.pictures]
        blocks += _fixed(part.title, part.text)
        blocks += map(Enclosed, part.enclosed)
    match answer:
        case None:
            return Page(f"Here is: {', '.join(part.title for part in shown)}.", (*blocks, *_beside(reading)))
        case Done():
            return Page("OK: all of it was done.", (*_done(answer), *_beside(reading), *blocks), tone="good")
        case NotDone():
            refused = _not_done(answer, reading.orders[answer.index])
            return Page("NOT DONE.", (*refused, *_beside(reading), *blocks), tone="bad")
        case Stale():
            return Page("NOT DONE: the game has gone on.", (*_stale(answer), *blocks), tone="bad")


def _done(answer: Done) -> list[Block]:
    blocks: list[Block] = [Items("Done", [f"{said} → {sentence}" for said, sentence in answer.echoes])]
    blocks += _items("What it changed", answer.changes)
    blocks += _copy("You could go on, for example, with", answer.lines)
    if rest := " ".join(filter(None, (answer.next, answer.undo))):
        blocks.append(Paragraph(rest))
    return blocks


_CHOICES = {
    "refused": "What you could write instead",
    "unreadable": "The nearest lines that can be read",
    "ambiguous": "Did you mean",
}


def _not_done(answer: NotDone, line: Line) -> list[Block]:
    return [
        Quoted(f"Line {line.number}", [line.text]),
        Paragraph(answer.reason),
        *_copy(_CHOICES[answer.kind], answer.lines),
        NOTHING,
    ]


def _stale(answer: Stale) -> list[Block]:
    return [
        Paragraph(f"That was an answer to: {answer.about} Now: {answer.now}"),
        NOTHING,
        *_items("Since then", answer.since),
        *_copy("What you could write now", answer.lines),
    ]


def _beside(reading: Reading) -> list[Block]:
    blocks: list[Block] = []
    if reading.ignored:
        blocks.append(
            Quoted(
                "Behind your orders, and not read as orders", [text[:120] for text in reading.ignored[:10]]
            )
        )
    if reading.stray:
        blocks.append(Quoted("Not read, because these lines stand among quoted text", reading.stray))
    return blocks


def faulty(fault: Fault, reading: Reading) -> Page:
    """The lines cannot be taken as they stand."""
    blocks: list[Block] = []
    if fault.line:
        blocks.append(Quoted(f"Line {fault.line.number}", [fault.line.text]))
    blocks += [Paragraph(f"This line cannot be used: {fault.reason}."), NOTHING]
    return Page("NOT DONE.", (*blocks, *_beside(reading)), tone="bad")


def alone(word: str) -> Page:
    """A word that must be the only one in its mail."""
    text = f"`{word}` must be the only line of a mail. Send it by itself, and the rest in a mail of its own."
    return Page("NOT DONE.", (Paragraph(text), NOTHING), tone="bad")


def unreadable(problem: Problem, reading: Reading = Reading()) -> Page:  # noqa: B008 (a tuple is immutable)
    """There is no text to read."""
    advice = {
        Problem.TNEF: "Please set your mail program to send plain text or HTML.",
        Problem.SEALED: "Please send it as plain, unencrypted text.",
        Problem.BIG: "Please send text only.",
    }.get(problem, "Please write your orders as text above the quoted letter, one a line.")
    blocks = (
        Paragraph(f"Your mail could not be read: {problem.value}. {advice}"),
        NOTHING,
        *_beside(reading),
    )
    return Page("NOT DONE.", blocks, tone="bad")


def ambiguous() -> Page:
    """A mail with more than one reply address."""
    text = (
        "Your mail carries the reply addresses of several letters, and it is not clear which one is meant. "
    )
    return Page("NOT DONE.", (Paragraph(text + "Please answer one letter alone."), NOTHING), tone="bad")


def wrong_sender(lines: Sequence[str], code: str | None) -> Page:
    """Somebody used this seat's reply address from an address that is not the seat's. Goes to the registered
    one.
    """
    said: list[Block] = [
        Paragraph("A mail to your reply address came from an address that is not registered for you.")
    ]
    if code and lines:
        said.append(Quoted("It said", lines))
        said.append(NOTHING)
        said.append(Copy("If it was you, and you still want this, answer with", [f"yes {code}"]))
        said.append(
            Paragraph(
                "If it was not you, do nothing, and do not forward these letters: who has one could try."
            )
        )
    else:
        said += [
            NOTHING,
            Paragraph("If it was you, please write from the address that this letter was sent to."),
        ]
    return Page("NOT DONE: was this you?", tuple(said), tone="bad")


def forged() -> Page:
    """The mail failed its domain's authentication. Goes to the registered address."""
    text = (
        "A mail in your name failed the checks that your mail provider asks for, so it was put aside unread. "
    )
    more = "If it was you, please send it again by the mail service that your address belongs to."
    return Page(
        "NOT DONE: a mail in your name failed authentication.", (Paragraph(text + more), NOTHING), tone="bad"
    )


def sure(lines: Sequence[str], code: str) -> Page:
    """Lines that need a second mail."""
    blocks = (
        Quoted("You wrote", lines),
        Paragraph("This cannot be taken back, so it needs a second mail."),
        Copy("If you are sure, answer with", [f"yes {code}"]),
        NOTHING,
    )
    return Page("NOT DONE yet: are you sure?", blocks, tone="bad")


def unknown_code() -> Page:
    """`yes CODE` with a code that nothing waits for."""
    return Page("NOT DONE.", (Paragraph("Nothing waits for this code."), NOTHING), tone="bad")


def told(sentence: str) -> Page:
    """A confirmation or stop that was carried out."""
    return Page("OK.", (Paragraph(sentence),), tone="good")


def yes_or_no() -> Page:
    """A confirmation was asked for, and something else was answered."""
    text = "Please answer with one word on the first line: yes or no."
    return Page("NOT DONE.", (Paragraph(text), NOTHING), subject="Please confirm", tone="bad")


def link(name: str) -> Page:
    """Is this address really yours?"""
    blocks = (
        Paragraph(f"{name} asked to play by mail with this address. If that is you, answer with one word."),
        Copy("Answer", ["yes"]),
        Paragraph("If it is not you, do nothing, and no more letters will come."),
    )
    return Page("Is this your address?", blocks, subject="Confirm your address", tone="turn")


def invitation(host: str, table: str) -> Page:
    """Somebody without another channel is asked to join a table."""
    blocks = (
        Paragraph(f"{host} invites you to a game: {table}. It is played over days, by answering letters."),
        Copy("To take your seat answer with", ["yes"]),
        Copy("To decline answer with", ["no"]),
    )
    return Page(f"{host} invites you to a game.", blocks, subject="You are invited", tone="turn")


def paused() -> Page:
    """Too many answers in an hour."""
    text = "You have had as many answers as an hour allows. Orders are still read; receipts come later."
    return Page("A pause.", (Paragraph(text),))


def help_without_table(person: Person) -> Page:
    """A known person wrote without a reply address that is valid."""
    blocks: list[Block] = [
        Paragraph("Your mail did not say which letter it answers, so nothing was done with it."),
        Paragraph("Please use your mail program's reply on the newest letter of the table you mean."),
    ]
    seats = [f"{label}, as {name}" for label, name in person.seats]
    return Page(
        "NOT DONE.", (*blocks, *_items("Your seats", seats), NOTHING), subject="How to reply", tone="bad"
    )


def _items(title: str, items: Sequence[str]) -> list[Block]:
    return [Items(title, items)] if items else []


def _copy(title: str, lines: Sequence[str]) -> list[Block]:
    return [Copy(title, lines)] if lines else []


def _fixed(title: str, text: str) -> list[Block]:
    return [Fixed(title, text)] if text.strip() else []
