"""A page of blocks made into a letter: pure, the same bytes for the same page, tokens and time.

A `Page` says what a letter has to say, without a word about mail; `mail.wording` makes them. Here it gets its
two bodies from two templates (text without escaping, HTML with), its headers, its pictures and its fresh
tokens.

What players wrote is shown as `Quoted` only: each line behind `| `, so that it can never be read as an order
when a mailer quotes our letter without marks. The first line of both bodies is the delimiter at which
`mail.trim` stops.

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

from .address import Post, addr_spec, message_ids, new_token, token_sha
from .desk import Enclosure, Issued, Outgoing, Picture, Sealed
from .trim import DELIMITER

ITEMS = 60
LONGEST = 800  # characters of an item
PICTURES = 1_000_000

# --- pages ---


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One or more sentences."""

    text: str
    kind: Literal["paragraph"] = "paragraph"


@dataclass(frozen=True, slots=True)
class Items:
    """Sentences, one an item."""

    title: str
    items: Sequence[str]
    kind: Literal["items"] = "items"


@dataclass(frozen=True, slots=True)
class Copy:
    """Lines to copy into a reply."""

    title: str
    lines: Sequence[str]
    kind: Literal["copy"] = "copy"


@dataclass(frozen=True, slots=True)
class Fixed:
    """Text in fixed width: a table, a position, a log."""

    title: str
    text: str
    kind: Literal["fixed"] = "fixed"


@dataclass(frozen=True, slots=True)
class Quoted:
    """What people wrote: never bare at the start of a line."""

    title: str
    lines: Sequence[str]
    kind: Literal["quoted"] = "quoted"


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture, inline."""

    picture: Picture
    kind: Literal["figure"] = "figure"


@dataclass(frozen=True, slots=True)
class Enclosed:
    """A file that goes with the letter."""

    file: Enclosure
    kind: Literal["enclosed"] = "enclosed"


Block = Paragraph | Items | Copy | Fixed | Quoted | Figure | Enclosed


@dataclass(frozen=True, slots=True)
class Page:
    """A letter's contents. `subject` follows the table's label; `tone` colours the headline."""

    headline: str
    blocks: tuple[Block, ...]
    subject: str = "Your turn"
    tone: Literal["turn", "good", "bad", "plain"] = "plain"


# --- words that came from outside ---


def line_of(text: str, most: int = 300) -> str:
    """The text as one harmless line: no control, format or separator characters, inner spaces single."""
    visible = "".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in text)
    one = " ".join(visible.split())
    return one if len(one) <= most else one[: most - 1] + "…"


def lines_of(text: str) -> list[str]:
    """The same for text whose lines and columns matter, at most 200 by 200."""
    lines = text.splitlines()
    rest = len(lines) - 200
    return [
        "".join(char for char in line.expandtabs(4) if unicodedata.category(char)[0] != "C").rstrip()[:200]
        for line in lines[:200]
    ] + ([f"… and {rest} more lines"] if rest > 0 else [])


def _cut(items: Sequence[str]) -> list[str]:
    rest = len(items) - ITEMS
    return [line_of(item, LONGEST) for item in items[:ITEMS]] + ([f"… and {rest} more"] if rest > 0 else [])


def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("mail"),
        autoescape=select_autoescape(enabled_extensions=("html",), default=False),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"line": line_of, "lines": lines_of, "cut": _cut}
    environment.globals["delimiter"] = DELIMITER
    return environment


_ENVIRONMENT = _templates()
_COLOURS = {"turn": "#1a5fb4", "good": "#26803c", "bad": "#b3261e", "plain": "#5e5c64"}


# --- letters ---

_UNFOLDED = frozenset({"message-id", "in-reply-to", "references", "list-unsubscribe", "list-id", "reply-to"})


class _Wire(EmailPolicy):
    """SMTP's policy with 76 columns, in which headers made of ids stay as they are."""

    def fold(self, name: str, value: str) -> str:
        if name.lower() in _UNFOLDED:
            return f"{name}: {value}{self.linesep}"
        folded: str = super().fold(name, value)
        return folded

    def fold_binary(self, name: str, value: str) -> bytes:
        return self.fold(name, value).encode("ascii", "surrogateescape")


_WIRE = _Wire(linesep="\r\n", max_line_length=76, raise_on_defect=False)


def compose(
    post: Post,
    page: Page,
    sealed: Sealed,
    now: datetime,
    reason: str,
    parent: str | None = None,
    thread: Sequence[str] = (),
) -> Outgoing:
    """The letter that brings a page to `sealed.address`, with fresh tokens.

    `sealed` is what a reply stands for. `parent` is the id of the mail that is answered (None: our own
    initiative), `thread` earlier ids of the same conversation, oldest first. Raises ValueError when the
    address is none.
    """
    pictures = _fitting(page)
    message_id = post.message_id()
    cids = {name: f"{name}.{message_id.strip('<>')}" for name in pictures}
    fields = {
        "page": page,
        "cids": cids,
        "colour": _COLOURS[page.tone],
        "replies": sealed.seat is not None or sealed.purpose != "reply",
    }
    text = _ENVIRONMENT.get_template("letter.txt").render(fields)
    html = _ENVIRONMENT.get_template("letter.html").render(fields)

    message = EmailMessage(policy=_WIRE)
    issued = _address(message, post, page, sealed, message_id, parent, thread)
    message["Date"] = format_datetime(now.astimezone(UTC))
    message.set_content(text, cte="quoted-printable")
    message.add_alternative(html, subtype="html", cte="quoted-printable")
    related = message.get_payload(1)
    assert isinstance(related, EmailMessage)
    for name, picture in pictures.items():
        related.add_related(
            picture.png, "image", "png", cid=f"<{cids[name]}>", disposition="inline", filename=f"{name}.png"
        )
    for file in (block.file for block in page.blocks if isinstance(block, Enclosed)):
        kind, _, subtype = file.media.partition("/")
        message.add_attachment(file.content, kind, subtype, filename=line_of(file.name, 60))
    return Outgoing(
        message_id=message_id,
        to=sealed.address,
        sender=post.with_token(issued["bounce"][0]),
        raw=message.as_bytes(),
        who=sealed.who,
        reason=reason,
        issued=tuple(Issued(token_sha(token), meaning) for token, meaning in issued.values()),
        sealed=sealed,
    )


def _address(
    message: EmailMessage,
    post: Post,
    page: Page,
    sealed: Sealed,
    message_id: str,
    parent: str | None,
    thread: Sequence[str],
) -> dict[str, tuple[str, Sealed]]:
    """Recipient, thread and tokens into the headers; returns the tokens in them and what each stands for."""
    issued = {
        "reply": (new_token(), sealed),
        "bounce": (new_token(), replace(sealed, purpose="bounce", decision=None)),
        "unsubscribe": (new_token(), replace(sealed, purpose="unsubscribe", decision=None)),
    }
    label = line_of(sealed.label, 60)
    subject = line_of(page.subject, 80)
    message["From"] = Address(label or post.name, addr_spec=post.address)
    message["To"] = addr_spec(sealed.address)
    message["Reply-To"] = post.with_token(issued["reply"][0])
    message["Subject"] = ("Re: " if parent else "") + (f"[{label}] {subject}" if label else subject)
    message["Message-ID"] = message_id
    ids = [post.message_id(_root(sealed)), *thread[-2:], parent or ""]
    known = [id for value in ids for id in message_ids(value)[:1]]
    message["In-Reply-To"] = known[-1]
    message["References"] = " ".join(dict.fromkeys(known))
    message["Auto-Submitted"] = "auto-replied" if parent else "auto-generated"
    message["X-Auto-Response-Suppress"] = "All"
    if code := re.sub(r"[^a-z0-9-]", "", sealed.table.lower())[:40]:
        message["List-Id"] = f"<t{code}.{post.domain}>"
    message["List-Unsubscribe"] = f"<mailto:{post.with_token(issued['unsubscribe'][0])}?subject=stop>"
    message["X-Loop"] = post.domain
    return issued


def _root(sealed: Sealed) -> str:
    """The serial of the id that all letters of a table to one person refer to."""
    return "r" + sha256(f"{sealed.table}|{sealed.address.casefold()}".encode()).hexdigest()[:20]


def _fitting(page: Page) -> dict[str, Picture]:
    """The page's pictures by safe name, the first ones that fit into a letter."""
    room = PICTURES
    found: dict[str, Picture] = {}
    for block in page.blocks:
        if isinstance(block, Figure):
            room -= len(block.picture.png)
            if room >= 0 and re.fullmatch(r"[a-z0-9-]{1,30}", block.picture.name):
                found[block.picture.name] = block.picture
    return found
