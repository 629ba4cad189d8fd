"""The content of an email as blocks, without headers.

`compose` makes an email of it.

Lines that people wrote are shown as `QuotedLines`, each behind `| `, and what they tell the table in one line
behind their name: so that neither can be read as a move when a mail program quotes our email without marks.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mail.reply_address import ReplyToken


@dataclass(frozen=True, slots=True)
class InlineImage:
    """A PNG in an email. name: one word (`map`). width: in CSS pixels. alt: what it shows, in words."""

    name: str
    png: bytes
    alt: str
    width: int


@dataclass(frozen=True, slots=True)
class Attachment:
    """An attached file: its name, its media type (`text/csv`), its bytes."""

    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class TableRows:
    """A table: the names of its columns, its rows, and the same as lines of fixed width.

    numeric: which columns hold numbers.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    lines: Sequence[str]
    numeric: Sequence[bool]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One or more sentences."""

    text: str
    kind: Literal["paragraph"] = "paragraph"


@dataclass(frozen=True, slots=True)
class BulletList:
    """A list of sentences."""

    title: str
    items: Sequence[str]
    kind: Literal["items"] = "items"


@dataclass(frozen=True, slots=True)
class CopyableLines:
    """Lines to copy into a reply; in HTML each is a link that writes it. token: what they stand for, where
    that is not what a reply to the email stands for: they have an address of their own, which their title
    names. `compose` knows it, and the code of a token that stands in no address.
    """

    title: str
    lines: Sequence[str]
    token: ReplyToken | None = None
    address: str = ""
    code: str = ""
    kind: Literal["copy"] = "copy"


@dataclass(frozen=True, slots=True)
class Preformatted:
    """Text in fixed width: a table, a position, a log."""

    title: str
    text: str
    kind: Literal["fixed"] = "fixed"

    @property
    def is_wide(self) -> bool:
        """Whether it has so many columns that wrapped lines could not be read; it is scrolled then."""
        return any(len(re.findall(r"\S {2,}", line)) > 8 for line in self.text.splitlines())


@dataclass(frozen=True, slots=True)
class PositionBlock:
    """The position: lines of text and tables, which are tables in HTML too."""

    title: str
    parts: tuple[str | TableRows, ...]
    kind: Literal["position"] = "position"

    @property
    def text(self) -> str:
        """All of it in fixed width."""
        return "\n".join(part if isinstance(part, str) else "\n".join(part.lines) for part in self.parts)


@dataclass(frozen=True, slots=True)
class QuotedLines:
    """Text that people wrote, each line behind `| `."""

    title: str
    lines: Sequence[str]
    kind: Literal["quoted"] = "quoted"


@dataclass(frozen=True, slots=True)
class ImageBlock:
    """An inline image."""

    image: InlineImage
    kind: Literal["figure"] = "figure"


@dataclass(frozen=True, slots=True)
class AttachmentBlock:
    """A file that is attached."""

    file: Attachment
    kind: Literal["enclosed"] = "enclosed"


Block = (
    Paragraph
    | BulletList
    | CopyableLines
    | Preformatted
    | PositionBlock
    | QuotedLines
    | ImageBlock
    | AttachmentBlock
)


@dataclass(frozen=True, slots=True)
class MailPage:
    """The content of an email. `subject` follows the table's label; `tone` colours the headline. A block
    without content is left out, with its title.

    preview: the line that mail programs show beside the subject; empty for the first sentences.
    """

    headline: str
    blocks: Sequence[Block]
    subject: str = "News"
    tone: Literal["turn", "good", "bad", "plain"] = "plain"
    preview: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", tuple(filter(_has_content, self.blocks)))


def _has_content(block: Block) -> bool:
    match block:
        case Paragraph(text=text) | Preformatted(text=text):
            return bool(text.strip())
        case BulletList(items=entries) | CopyableLines(lines=entries) | QuotedLines(lines=entries):
            return bool(entries)
        case PositionBlock(parts=parts):
            return bool(parts)
        case ImageBlock() | AttachmentBlock():
            return True
