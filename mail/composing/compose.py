"""Composes emails from pages: pure functions, except that the tokens and the Message-ID are random.

A `MailPage` gets its two bodies (text, and HTML from a template with escaping), its headers, images,
attachments and fresh tokens. The first line of both bodies is the delimiter, and the last line begins
with the footer; `mail.reading.quotes` looks for no moves between them.

Headers that hold ids are never folded or encoded: the standard library makes encoded words of long ones,
and mail programs then no longer thread the email. Everything else is folded at 76 columns, which keeps
quoted-printable lines legal too.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import format_datetime
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from mail.composing.page import (
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
)
from mail.reading.quotes import DELIMITER, FOOTER
from mail.reply_address import (
    IssuedToken,
    ReplyToken,
    ServiceAddress,
    find_message_ids,
    hash_token,
    new_token,
    normalize_address,
)

MAX_ITEMS = 60
MAX_ITEM_LENGTH = 800  # characters of an item
MAX_IMAGE_BYTES = 1_000_000
ANSWERING = f"{FOOTER}; `help` on a line by itself explains what you can write."


@dataclass(frozen=True, slots=True)
class OutgoingMail:
    """A composed email: the bytes are sent, and sent again, unchanged.

    envelope_sender: holds a bounce token. actor, reason: what rate limits count by. reply_token: what a reply
    to `message_id` stands for, also when the token was lost on the way. offered_code: of the held lines that
    a plain `yes` in reply to this email confirms. text: what it says, in words (`words_of`).
    """

    message_id: str
    recipient: str
    envelope_sender: str
    raw: bytes
    actor: str
    reason: str
    issued_tokens: tuple[IssuedToken, ...]
    reply_token: ReplyToken | None = None
    offered_code: str | None = None
    text: str = ""


# --- text from outside ---


def safe_line(text: str, max_length: int = 300) -> str:
    """The text as one line without control, format or separator characters, with single spaces."""
    visible = "".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in text)
    one = " ".join(visible.split())
    return one if len(one) <= max_length else one[: max_length - 1] + "…"


def safe_lines(text: str) -> list[str]:
    """The same for text whose lines and columns matter: at most 200 lines of 200 characters."""
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


def plain_text(page: MailPage, pictures: Collection[str] = ()) -> str:
    """A page in words, each block behind a blank line. pictures: the names of those that its email shows."""
    return "\n\n".join([safe_line(page.headline), *(_block_text(block, pictures) for block in page.blocks)])


def plain_words(page: MailPage) -> str:
    """A page in words without its pictures and files: what is kept of an email in case it comes back."""
    words = [block for block in page.blocks if not isinstance(block, ImageBlock | AttachmentBlock)]
    return plain_text(replace(page, blocks=words))


def _block_text(block: Block, pictures: Collection[str]) -> str:
    match block:
        case Paragraph(text=text):
            return safe_line(text, 1000)
        case ImageBlock(image=image):
            is_left_out = "" if image.name in pictures else " left out, too big for an email"
            return f"[Picture{is_left_out}: {safe_line(image.alt)}]"
        case AttachmentBlock(file=file):
            return f"[Attached: {safe_line(file.name)}]"
        case BulletList(items=items):
            rows = [f"  * {item}" for item in _safe_items(items)]
        case CopyableLines(lines=lines):
            rows = ["", *_safe_items(lines)]
        case QuotedLines(lines=lines):
            rows = [f"| {line}" for line in _safe_items(lines)]
        case Preformatted() | PositionBlock():
            rows = [*([""] if block.title else []), *(f"    {line}" for line in safe_lines(block.text))]
    return "\n".join([*filter(None, [safe_line(block.title)]), *rows])


def _body(page: MailPage, fields: Mapping[str, Any]) -> str:
    """The text of an email. fields: those of its HTML."""
    code, footer, privacy_url = fields["code"], fields["footer"], fields["privacy_url"]
    kept = f" What is kept about you: {privacy_url}" if footer and privacy_url else ""
    parts = (DELIMITER, plain_text(page, fields["cids"]), code and f"# code-{code}", footer + kept)
    return "\n\n".join(filter(None, parts)) + "\n"


def _with_code(text: str) -> Markup:
    """Words between backticks as code."""
    return Markup(re.sub(r"`([^`]{1,200})`", r"<code>\1</code>", str(escape(text))))


def _line_and_comment(line: str) -> tuple[str, str]:
    plain, _, comment = line.partition(" #")
    return plain.strip(), comment.strip()


def _mailto(line: str, address: str, code: str = "") -> str:
    """A link that writes an email with this line, and with those of a whole turn below each other.

    code: the token, where it cannot stand in the address.
    """
    plain, _ = _line_and_comment(line)
    body = "\n".join(part.strip() for part in plain.split(";")) + "\n"
    body += f"\n# code-{code}\n" if code else ""
    body = body.replace("\n", "\r\n")  # RFC 6068 §5
    return f"mailto:{quote(address, safe='@+')}?subject={quote(plain[:60])}&body={quote(body)}"


def _preview(page: MailPage) -> str:
    """What a mail program shows beside the subject."""
    first = next((block.text for block in page.blocks if isinstance(block, Paragraph)), "")
    items = next((block.items for block in page.blocks if isinstance(block, BulletList)), ())
    return page.preview or first or " ".join(items[:2]) or page.headline


def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("mail.composing"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "line": safe_line,
        "lines": safe_lines,
        "cut": _safe_items,
        "parts": _line_and_comment,
        "mailto": _mailto,
        "code": _with_code,
    }
    environment.globals |= {"delimiter": DELIMITER}
    return environment


_ENVIRONMENT = _templates()
_COLOURS = {"turn": "#1a5fb4", "good": "#26803c", "bad": "#b3261e", "plain": "#5e5c64"}


# --- emails ---

_UNFOLDED = frozenset({"message-id", "in-reply-to", "references", "list-unsubscribe", "list-id", "reply-to"})


class _SmtpPolicy(EmailPolicy):
    """The policy for SMTP with 76 columns, which leaves headers that hold ids as they are."""

    def fold(self, name: str, value: str) -> str:
        if name.lower() in _UNFOLDED:
            return f"{name}: {value}{self.linesep}"
        folded: str = super().fold(name, value)
        # The library leaves the first line empty where the value only fits on the next one.
        return folded.replace(f"{name}:{self.linesep} ", f"{name}: ", 1)

    def fold_binary(self, name: str, value: str) -> bytes:
        return self.fold(name, value).encode("ascii", "surrogateescape")


_SMTP_POLICY = _SmtpPolicy(linesep="\r\n", max_line_length=76, raise_on_defect=False)


def compose(
    service_address: ServiceAddress,
    page: MailPage,
    token: ReplyToken,
    now: datetime,
    reason: str,
    parent: str | None = None,
    thread: Sequence[str] = (),
    offered_code: str | None = None,
) -> OutgoingMail:
    """The email that brings a page to `token.address`, with fresh tokens.

    token: what a reply to it stands for. parent: the Message-ID of the mail that it answers, None where it
    answers none. thread: earlier Message-IDs of the conversation, oldest first. Raises ValueError for an
    invalid address.
    """
    page, others = _addressed(page, service_address)
    pictures = _images_within_limit(page)
    message_id = service_address.new_message_id()
    cids = {name: f"{name}.{message_id.strip('<>')}" for name in pictures}
    issued = _new_tokens(token)
    code = "" if service_address.has_subaddresses else issued["reply"][0]
    footer = ANSWERING if token.seat is not None or token.purpose != "reply" else ""
    fields = {
        "page": page,
        "preview": _preview(page),
        "reply_address": service_address.reply_address(issued["reply"][0]),
        "code": code,
        "cids": cids,
        "colour": _COLOURS[page.tone],
        "privacy_url": service_address.privacy_url,
        "footer": footer,
    }
    html = _ENVIRONMENT.get_template("email.html").render(fields)

    message = EmailMessage(policy=_SMTP_POLICY)
    _set_headers(message, service_address, page, token, message_id, parent, thread, issued)
    message["Date"] = format_datetime(now.astimezone(UTC))
    message.set_content(_body(page, fields), cte="quoted-printable")
    message.add_alternative(html, subtype="html", cte="quoted-printable")
    _add_files(message, page, pictures, cids)
    return OutgoingMail(
        message_id=message_id,
        recipient=token.address,
        envelope_sender=service_address.reply_address(issued["bounce"][0]),
        raw=message.as_bytes(),
        actor=token.actor,
        reason=reason,
        issued_tokens=tuple(
            IssuedToken(hash_token(token), meaning) for token, meaning in (*issued.values(), *others)
        ),
        reply_token=token,
        offered_code=offered_code,
        text=plain_words(page),
    )


def _add_files(
    message: EmailMessage, page: MailPage, pictures: Mapping[str, InlineImage], cids: Mapping[str, str]
) -> None:
    """The pictures beside the HTML, by their names, and what is attached."""
    related = message.get_payload(1)
    assert isinstance(related, EmailMessage)
    for name, picture in pictures.items():
        related.add_related(
            picture.png, "image", "png", cid=f"<{cids[name]}>", disposition="inline", filename=f"{name}.png"
        )
    for file in (block.file for block in page.blocks if isinstance(block, AttachmentBlock)):
        kind, _, subtype = file.media_type.partition("/")
        message.add_attachment(file.content, kind, subtype, filename=safe_line(file.name, 60))


def _addressed(
    page: MailPage, service_address: ServiceAddress
) -> tuple[MailPage, list[tuple[str, ReplyToken]]]:
    """The page with addresses for lines that need their own, and the new tokens with what they stand for."""
    blocks: list[Block] = []
    issued = []
    for block in page.blocks:
        if isinstance(block, CopyableLines) and block.token:
            token = new_token()
            issued.append((token, block.token))
            address = service_address.reply_address(token)
            code = "" if service_address.has_subaddresses else token
            how = f" with the line `# code-{code}`" if code else ""
            block = replace(
                block, title=f"{block.title}, write to {address}{how}", address=address, code=code
            )
        blocks.append(block)
    return replace(page, blocks=blocks), issued


_TO = re.compile(rb"(?m)^To: [^\r\n]*\r\n")


def readdressed(raw: bytes, recipient: str) -> bytes:
    """An email that may go to another address of its reader than when it was composed."""
    to = f"To: {normalize_address(recipient)}\r\n".encode()
    found = _TO.search(raw, 0, raw.find(b"\r\n\r\n") + 2)
    if found is None or found[0] == to:
        return raw
    return raw[: found.start()] + to + raw[found.end() :]


def _set_headers(
    message: EmailMessage,
    service_address: ServiceAddress,
    page: MailPage,
    token: ReplyToken,
    message_id: str,
    parent: str | None,
    thread: Sequence[str],
    issued: Mapping[str, tuple[str, ReplyToken]],
) -> None:
    label = safe_line(token.table_label, 60)
    subject = safe_line(page.subject, 80)
    message["From"] = Address(label or service_address.name, addr_spec=service_address.address)
    message["To"] = normalize_address(token.address)
    message["Reply-To"] = service_address.reply_to(issued["reply"][0])
    message["Subject"] = ("Re: " if parent else "") + (f"[{label}] {subject}" if label else subject)
    message["Message-ID"] = message_id
    ids = [service_address.new_message_id(_thread_serial(token)), *thread[-2:], parent or ""]
    references = [id for value in ids for id in find_message_ids(value)[:1]]
    message["In-Reply-To"] = references[-1]
    message["References"] = " ".join(dict.fromkeys(references))
    message["Auto-Submitted"] = "auto-replied" if parent else "auto-generated"
    message["X-Auto-Response-Suppress"] = "All"
    if code := re.sub(r"[^a-z0-9-]", "", token.table_code.lower())[:40]:
        message["List-Id"] = f"<t{code}.{service_address.domain}>"
    message["List-Unsubscribe"] = service_address.unsubscribe_links(issued["unsubscribe"][0])
    if service_address.unsubscribe_url:
        message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    message["X-Loop"] = service_address.domain


def _new_tokens(token: ReplyToken) -> dict[str, tuple[str, ReplyToken]]:
    """The new tokens of an email, each with what it stands for."""
    return {
        "reply": (new_token(), token),
        "bounce": (new_token(), replace(token, purpose="bounce", decision_id=None)),
        "unsubscribe": (new_token(), replace(token, purpose="unsubscribe", decision_id=None)),
    }


def _thread_serial(token: ReplyToken) -> str:
    """The serial of the Message-ID that all emails of a table to one person refer to."""
    return "r" + sha256(f"{token.table_code}|{token.address.casefold()}".encode()).hexdigest()[:20]


def _images_within_limit(page: MailPage) -> dict[str, InlineImage]:
    """The images of the page by name: the first ones that fit into an email."""
    room = MAX_IMAGE_BYTES
    found: dict[str, InlineImage] = {}
    for block in page.blocks:
        if isinstance(block, ImageBlock):
            room -= len(block.image.png)
            if room >= 0 and re.fullmatch(r"[a-z0-9-]{1,30}", block.image.name):
                found[block.image.name] = block.image
    return found
