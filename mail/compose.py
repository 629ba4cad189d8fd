"""A page of blocks made into a letter: pure, the same bytes for the same page, tokens and time.

A `Page` says what a letter has to say, without a word about mail; `mail.pages` makes them. Here it gets its
two bodies from two templates (text without escaping, HTML with), its headers, its pictures and its fresh
tokens.

What players wrote is shown as `Quoted` only: each line behind `| `, so that it can never be read as an order
when a mailer quotes our letter without marks. The first line of both bodies is the delimiter at which
`mail.reply_text` stops.

Headers that hold ids are never folded or encoded: the standard library makes encoded words of long ones, and
mailers then no longer thread the letter. Everything else is folded at 76 columns, which keeps
quoted-printable lines legal too.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import format_datetime
from hashlib import sha256
from typing import Literal

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.utils import select_autoescape

from mail.port import (
    Attachment,
    InlineImage,
    IssuedToken,
    OutgoingMail,
    ReplyToken,
)
from mail.reply_address import (
    ServiceAddress,
    find_message_ids,
    hash_token,
    new_token,
    normalize_address,
)
from mail.reply_text import DELIMITER

MAX_ITEMS = 60
MAX_ITEM_LENGTH = 800  # characters of an item
MAX_IMAGE_BYTES = 1_000_000

# --- pages ---


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One or more sentences."""

    text: str
    kind: Literal["paragraph"] = "paragraph"


@dataclass(frozen=True, slots=True)
class BulletList:
    """Sentences, one an item."""

    title: str
    items: Sequence[str]
    kind: Literal["items"] = "items"


@dataclass(frozen=True, slots=True)
class CopyableLines:
    """Lines to copy into a reply."""

    title: str
    lines: Sequence[str]
    kind: Literal["copy"] = "copy"


@dataclass(frozen=True, slots=True)
class Preformatted:
    """Text in fixed width: a table, a position, a log."""

    title: str
    text: str
    kind: Literal["fixed"] = "fixed"


@dataclass(frozen=True, slots=True)
class QuotedLines:
    """What people wrote: never bare at the start of a line."""

    title: str
    lines: Sequence[str]
    kind: Literal["quoted"] = "quoted"


@dataclass(frozen=True, slots=True)
class ImageBlock:
    """A picture, inline."""

    image: InlineImage
    kind: Literal["figure"] = "figure"


@dataclass(frozen=True, slots=True)
class AttachmentBlock:
    """A file that goes with the letter."""

    file: Attachment
    kind: Literal["enclosed"] = "enclosed"


Block = Paragraph | BulletList | CopyableLines | Preformatted | QuotedLines | ImageBlock | AttachmentBlock


@dataclass(frozen=True, slots=True)
class MailPage:
    """A letter's contents. `subject` follows the table's label; `tone` colours the headline."""

    headline: str
    blocks: tuple[Block, ...]
    subject: str = "Your turn"
    tone: Literal["turn", "good", "bad", "plain"] = "plain"


# --- words that came from outside ---


def safe_line(text: str, most: int = 300) -> str:
    """The text as one harmless line: no control, format or separator characters, inner spaces single."""
    visible = "".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in text)
    one = " ".join(visible.split())
    return one if len(one) <= most else one[: most - 1] + "…"


def safe_lines(text: str) -> list[str]:
    """The same for text whose lines and columns matter, at most 200 by 200."""
    lines = text.splitlines()
    rest = len(lines) - 200
    return [
        "".join(char for char in line.expandtabs(4) if unicodedata.category(char)[0] != "C").rstrip()[:200]
        for line in lines[:200]
    ] + ([f"… and {rest} more lines"] if rest > 0 else [])


def _safe_items(items: Sequence[str]) -> list[str]:
    rest = len(items) - MAX_ITEMS
    return [safe_line(item, MAX_ITEM_LENGTH) for item in items[:MAX_ITEMS]] + (
        [f"… and {rest} more"] if rest > 0 else []
    )


def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("mail"),
        autoescape=select_autoescape(enabled_extensions=("html",), default=False),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"line": safe_line, "lines": safe_lines, "cut": _safe_items}
    environment.globals["delimiter"] = DELIMITER
    return environment


_ENVIRONMENT = _templates()
_COLOURS = {"turn": "#1a5fb4", "good": "#26803c", "bad": "#b3261e", "plain": "#5e5c64"}


# --- letters ---

_UNFOLDED = frozenset({"message-id", "in-reply-to", "references", "list-unsubscribe", "list-id", "reply-to"})


class _SmtpPolicy(EmailPolicy):
    """SMTP's policy with 76 columns, in which headers made of ids stay as they are."""

    def fold(self, name: str, value: str) -> str:
        if name.lower() in _UNFOLDED:
            return f"{name}: {value}{self.linesep}"
        folded: str = super().fold(name, value)
        return folded

    def fold_binary(self, name: str, value: str) -> bytes:
        return self.fold(name, value).encode("ascii", "surrogateescape")


_SMTP_POLICY = _SmtpPolicy(linesep="\r\n", max_line_length=76, raise_on_defect=False)


def compose(
    post: ServiceAddress,
    page: MailPage,
    sealed: ReplyToken,
    now: datetime,
    reason: str,
    parent: str | None = None,
    thread: Sequence[str] = (),
) -> OutgoingMail:
    """The letter that brings a page to `sealed.address`, with fresh tokens.

    `sealed` is what a reply stands for. `parent` is the id of the mail that is answered (None: our own
    initiative), `thread` earlier ids of the same conversation, oldest first. Raises ValueError when the
    address is none.
    """
    pictures = _images_within_limit(page)
    message_id = post.new_message_id()
    cids = {name: f"{name}.{message_id.strip('<>')}" for name in pictures}
    fields = {
        "page": page,
        "cids": cids,
        "colour": _COLOURS[page.tone],
        "replies": sealed.seat is not None or sealed.purpose != "reply",
    }
    text = _ENVIRONMENT.get_template("letter.txt").render(fields)
    html = _ENVIRONMENT.get_template("letter.html").render(fields)

    message = EmailMessage(policy=_SMTP_POLICY)
    issued = _set_headers(message, post, page, sealed, message_id, parent, thread)
    message["Date"] = format_datetime(now.astimezone(UTC))
    message.set_content(text, cte="quoted-printable")
    message.add_alternative(html, subtype="html", cte="quoted-printable")
    related = message.get_payload(1)
    assert isinstance(related, EmailMessage)
    for name, picture in pictures.items():
        related.add_related(
            picture.png, "image", "png", cid=f"<{cids[name]}>", disposition="inline", filename=f"{name}.png"
        )
    for file in (block.file for block in page.blocks if isinstance(block, AttachmentBlock)):
        kind, _, subtype = file.media_type.partition("/")
        message.add_attachment(file.content, kind, subtype, filename=safe_line(file.name, 60))
    return OutgoingMail(
        message_id=message_id,
        recipient=sealed.address,
        envelope_sender=post.reply_address(issued["bounce"][0]),
        raw=message.as_bytes(),
        actor=sealed.actor,
        reason=reason,
        issued_tokens=tuple(IssuedToken(hash_token(token), meaning) for token, meaning in issued.values()),
        reply_token=sealed,
    )


def _set_headers(
    message: EmailMessage,
    post: ServiceAddress,
    page: MailPage,
    sealed: ReplyToken,
    message_id: str,
    parent: str | None,
    thread: Sequence[str],
) -> dict[str, tuple[str, ReplyToken]]:
    """Recipient, thread and tokens into the headers; returns the tokens in them and what each stands for."""
    issued = {
        "reply": (new_token(), sealed),
        "bounce": (new_token(), replace(sealed, purpose="bounce", decision_id=None)),
        "unsubscribe": (new_token(), replace(sealed, purpose="unsubscribe", decision_id=None)),
    }
    label = safe_line(sealed.table_label, 60)
    subject = safe_line(page.subject, 80)
    message["From"] = Address(label or post.name, addr_spec=post.address)
    message["To"] = normalize_address(sealed.address)
    message["Reply-To"] = post.reply_address(issued["reply"][0])
    message["Subject"] = ("Re: " if parent else "") + (f"[{label}] {subject}" if label else subject)
    message["Message-ID"] = message_id
    ids = [post.new_message_id(_thread_serial(sealed)), *thread[-2:], parent or ""]
    known = [id for value in ids for id in find_message_ids(value)[:1]]
    message["In-Reply-To"] = known[-1]
    message["References"] = " ".join(dict.fromkeys(known))
    message["Auto-Submitted"] = "auto-replied" if parent else "auto-generated"
    message["X-Auto-Response-Suppress"] = "All"
    if code := re.sub(r"[^a-z0-9-]", "", sealed.table_code.lower())[:40]:
        message["List-Id"] = f"<t{code}.{post.domain}>"
    message["List-Unsubscribe"] = f"<mailto:{post.reply_address(issued['unsubscribe'][0])}?subject=stop>"
    message["X-Loop"] = post.domain
    return issued


def _thread_serial(sealed: ReplyToken) -> str:
    """The serial of the id that all letters of a table to one person refer to."""
    return "r" + sha256(f"{sealed.table_code}|{sealed.address.casefold()}".encode()).hexdigest()[:20]


def _images_within_limit(page: MailPage) -> dict[str, InlineImage]:
    """The page's pictures by safe name, the first ones that fit into a letter."""
    room = MAX_IMAGE_BYTES
    found: dict[str, InlineImage] = {}
    for block in page.blocks:
        if isinstance(block, ImageBlock):
            room -= len(block.image.png)
            if room >= 0 and re.fullmatch(r"[a-z0-9-]{1,30}", block.image.name):
                found[block.image.name] = block.image
    return found
