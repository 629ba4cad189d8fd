"""Emails about tables and seats: invitations, questions of the lobby, answers to commands about tables."""

from collections.abc import Sequence

from mail.composing.page import Block, BulletList, CopyableLines, ImageBlock, MailPage, Paragraph, QuotedLines
from mail.composing.refusal_pages import NOTHING_CHANGED
from mail.port import InlineImage

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


def address_confirmation(name: str) -> MailPage:
    """To an address that a player claims."""
    blocks = (
        Paragraph(f"{name} wants to play by email with this address. If that is you, reply with one word."),
        CopyableLines("Reply", ["yes"]),
        Paragraph("If it is not you, do nothing. No more emails will come."),
    )
    return MailPage("Is this your address?", blocks, subject="Confirm your address", tone="turn")


def export_confirmation() -> MailPage:
    """To a person who wants what is stored about them."""
    blocks = (
        Paragraph(
            "Somebody has asked for all that is stored about you. If that was you, reply with one word."
        ),
        CopyableLines("Reply", ["yes"]),
        Paragraph("You then get it as a file. If it was not you, do nothing."),
    )
    return MailPage("Do you want your data?", blocks, subject="Your data", tone="turn")


def erasure_confirmation() -> MailPage:
    """To a person who wants to be deleted."""
    blocks = (
        Paragraph("Somebody has asked to delete everything about you. If that was you, reply with one word."),
        CopyableLines("Reply", ["yes"]),
        Paragraph(
            "You then leave all tables, your name is taken out of their games, and this address is "
            "forgotten. It cannot be undone, and this is the last email. If it was not you, do nothing."
        ),
    )
    return MailPage(
        "Should everything about you be deleted?", blocks, subject="Delete your data", tone="turn"
    )


def host_confirmation(sentences: Sequence[str], lines: Sequence[str]) -> MailPage:
    """To an address that is not verified and asks for a table."""
    blocks: tuple[Block, ...] = (
        *(Paragraph(sentence) for sentence in sentences),
        QuotedLines("You wrote", [line[:200] for line in lines[:10]]),
        CopyableLines("To open the table, reply with", ["yes"]),
        Paragraph("If it was not you, do nothing: nobody is invited, and no more emails come."),
    )
    return MailPage("Did you ask for a table?", blocks, subject="Please confirm", tone="turn")


def table_answer(
    sentences: Sequence[str], is_done: bool, word: str = "", images: Sequence[InlineImage] = ()
) -> MailPage:
    """The answer to a command about tables. word: the first of the command. Not done with several sentences
    is done in part."""
    title = _ANSWERS.get(word, "")
    text = BulletList("", tuple(sentences)) if len(sentences) > 1 else Paragraph(sentences[0])
    blocks: tuple[Block, ...] = (text, *map(ImageBlock, images))
    if not is_done and len(sentences) > 1:
        return MailPage("DONE IN PART.", blocks, subject="Done in part", tone="bad")
    if not is_done:
        return MailPage("NOT DONE.", (*blocks, NOTHING_CHANGED), subject="Not done", tone="bad")
    return MailPage(f"{title or 'OK'}.", blocks, subject=title or "Done", tone="good")
