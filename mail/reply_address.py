"""Reply addresses with tokens, our Message-IDs, and the redaction of tokens in logs.

An email is sent with `Reply-To: play+<token>@domain`. A token is 26 lower-case base32 characters (130 random
bits): a mail program that changes case does no harm, and the local part stays far below 64 octets. Only the
SHA-256 of a token is stored.

The Message-ID `<t.<mac>.<serial>@domain>` of our emails identifies the token too: mail programs that strip
`+token` still send In-Reply-To and References. The MAC proves without a look-up that an id is ours, so
foreign ids are never looked up, and our own mail is recognised when it comes back.
"""

import base64
import hashlib
import hmac
import logging
import re
import secrets
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

TOKEN_LENGTH = 26
_TOKEN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z2-7]{26}(?![A-Za-z0-9])")
_CODE = re.compile(r"(?<![a-z0-9])code-([a-z2-7]{26})(?![a-z0-9])", re.IGNORECASE)
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}"
_ADDR_SPEC = re.compile(
    rf"(?P<local>{_ATOM}(?:\.{_ATOM}){{0,31}})@"
    r"(?P<domain>[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?){1,10})"
)
_MESSAGE_ID = re.compile(r"<[\x21-\x3b\x3d\x3f-\x7e]{1,250}>")


def normalize_address(text: str) -> str:
    """The address as it is stored and compared: trimmed, in lower case.

    Raises ValueError, with a sentence for people, unless it is one plain ASCII address: a second
    recipient, a control character or a quoted local part never reaches SMTP.
    """
    match = _ADDR_SPEC.fullmatch(text.strip(" "))
    if match is None or len(match["local"]) > 64 or len(match["domain"]) > 253:
        raise ValueError(f"{text[:80]!r} is not one plain email address like ann@example.org.")
    return match.group().casefold()


def untagged(address: str) -> str:
    """An address without the `+tag` of its local part: `ann@x` for `ann+games@x`; `+1555@x` has none."""
    local, _, domain = address.partition("@")
    return f"{local.partition('+')[0] or local}@{domain}"


def own_address(sender: str, own: Collection[str], of_others: Collection[str] = ()) -> str | None:
    """The address among a person's own ones of who writes from `sender`; None where it is not theirs.

    `ann@x` and `ann+games@x` have one mailbox, and a mail program may write from either; `lee+ann@x` and
    `lee+bob@x` may be two people. of_others: what other people have verified, which is not theirs.
    """
    if sender in own:
        return sender
    same = {each for each in own if untagged(each) == sender or each == untagged(sender)}
    return None if sender in of_others else min(same, default=None)


def find_message_ids(text: str) -> list[str]:
    """All `<…>` ids in a header value, in order."""
    return _MESSAGE_ID.findall(text[:20_000])


def new_token() -> str:
    """A new random token."""
    return base64.b32encode(secrets.token_bytes(17)).decode().lower()[:TOKEN_LENGTH]


def hash_token(token: str) -> str:
    """The hex SHA-256 of the token's lower-case form: all that is stored of it."""
    return hashlib.sha256(token.lower().encode()).hexdigest()


def find_codes(lines: Iterable[str]) -> list[str]:
    """The distinct tokens that stand as `code-<token>` in lines, in their order, in lower case."""
    return list(dict.fromkeys(token.lower() for line in lines for token in _CODE.findall(line)))


def redact(text: str) -> str:
    """The text with each token shown as `tok:…` and its last four characters."""
    return _TOKEN.sub(lambda found: f"tok:…{found.group()[-4:].lower()}", text)


class TokenRedactionFilter(logging.Filter):
    """Removes tokens from log messages, arguments and tracebacks; add it to the handlers."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = redact(record.getMessage()), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        record.exc_text = record.exc_text and redact(record.exc_text)
        record.stack_info = record.stack_info and redact(record.stack_info)
        return True


@dataclass(frozen=True)
class ServiceAddress:
    """Our own address, `play@games.example.org`.

    key: a secret of 16 bytes or more, for the MAC in Message-IDs. separator: stands between `play` and a
    token; empty where the provider delivers no such addresses, and a token stands in the display part and
    the text. name: shown in From where an email belongs to no table.
    unsubscribe_url: of the page for one-click unsubscribe. privacy_url: of what the host says about the data
    of people. Both are empty for none.
    """

    address: str
    key: bytes = field(repr=False)
    separator: str = "+"
    name: str = "Railpost"
    unsubscribe_url: str = ""
    privacy_url: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "address", normalize_address(self.address))
        if len(self.key) < 16:
            raise ValueError("The key for Message-IDs needs 16 bytes or more.")
        if self.separator not in {"+", "-", "=", "_", ".", ""}:
            raise ValueError(
                f"The separator of reply addresses is one of + - = _ . and not {self.separator!r}."
            )
        if len(self.local) > 64 - 1 - TOKEN_LENGTH:
            raise ValueError(
                f"{self.local!r} is too long: with a token it would pass the 64 octets of a local part."
            )

    @property
    def local(self) -> str:
        return self.address.partition("@")[0]

    @property
    def domain(self) -> str:
        return self.address.partition("@")[2]

    @property
    def has_subaddresses(self) -> bool:
        """Whether a token can be part of one of our addresses."""
        return bool(self.separator)

    def reply_address(self, token: str) -> str:
        """`play+<token>@domain`; our only address without sub-addressing."""
        return f"{self.local}{self.separator}{token}@{self.domain}" if self.separator else self.address

    def reply_to(self, token: str) -> str:
        """The Reply-To of an email."""
        if self.has_subaddresses:
            return self.reply_address(token)
        return f'"{self.name} code-{token}" <{self.address}>'

    def unsubscribe_links(self, token: str) -> str:
        """The List-Unsubscribe of an email (RFC 2369, RFC 8058)."""
        subject = "stop" if self.has_subaddresses else f"stop%20code-{token}"
        links = [f"<mailto:{self.reply_address(token)}?subject={subject}>"]
        if self.unsubscribe_url:
            links.insert(0, f"<{self.unsubscribe_url.rstrip('/')}/{token}>")
        return ", ".join(links)

    @cached_property
    def _token_pattern(self) -> re.Pattern[str]:
        prefix, domain = re.escape(self.local + self.separator), re.escape(self.domain)
        return re.compile(
            rf"(?<![a-z0-9.!#$%&'*+/=?^_`{{|}}~-]){prefix}([a-z2-7]{{26}})@{domain}(?![a-z0-9.-])",
            re.IGNORECASE,
        )

    def find_tokens(self, values: Iterable[str]) -> list[str]:
        """The distinct tokens in header values, in the order of the values, in lower case."""
        if not self.has_subaddresses:
            return find_codes(value for value in values if self.address in value.casefold())
        return list(dict.fromkeys(t.lower() for value in values for t in self._token_pattern.findall(value)))

    def owns(self, address: str) -> bool:
        """Whether mail to this address comes to us: with or without something after the separator."""
        local, _, domain = address.casefold().partition("@")
        is_subaddress = self.has_subaddresses and local.startswith(self.local + self.separator)
        return domain == self.domain and (local == self.local or is_subaddress)

    def new_message_id(self, serial: str = "") -> str:
        """A Message-ID: a new one, or always the same for a given serial (the root of a thread)."""
        serial = serial or new_token()[:16]
        return f"<t.{self._mac(serial)}.{serial}@{self.domain}>"

    def is_own_message_id(self, message_id: str) -> bool:
        """Whether this Message-ID is ours."""
        match = re.fullmatch(r"<t\.([a-z2-7]{20})\.([a-z0-9-]{1,60})@(.{1,255})>", message_id.strip().lower())
        if match is None or match[3] != self.domain:
            return False
        return hmac.compare_digest(match[1], self._mac(match[2]))

    def _mac(self, serial: str) -> str:
        mac = hmac.digest(self.key, b"message-id:" + serial.encode(), "sha256")
        return base64.b32encode(mac).decode().lower()[:20]


# -- what a token stands for --------------------------------------------------------------------

TokenPurpose = Literal[
    "reply", "bounce", "unsubscribe", "link", "invite", "host", "answer", "export", "erase"
]
"""What a token is for. `link` (confirm an address), `invite`, `host` (open a table), `export` and `erase`
(the data of the person) are answered with yes or no, and so is `answer`: its decision id is the lines that
these words say, `agree|decline`. `bounce` gives no right to act.
"""


@dataclass(frozen=True, slots=True)
class ReplyToken:
    """What a valid token stands for.

    address: where replies go. verified_addresses: all verified addresses of the person; moves are
    accepted from these. table_code: the code that threads the emails of a table (`17`). table_label: the
    table's name in subjects. decision_id: the decision that the email asked for. person_id, table_id,
    seat_number: the ids of the service; None where the token belongs to no table or seat (`link`).
    """

    purpose: TokenPurpose
    address: str
    verified_addresses: frozenset[str]
    table_label: str = ""
    table_code: str = ""
    decision_id: str | None = None
    message_id: str | None = None
    person_id: int = 0
    table_id: int | None = None
    seat_number: int | None = None

    @property
    def seat(self) -> tuple[int, int] | None:
        """The seat that it belongs to: the id of its table, and its number there."""
        if self.table_id is None or self.seat_number is None:
            return None
        return self.table_id, self.seat_number

    def own_address(self, sender: str | None) -> str | None:
        """The verified address of who writes from this one; None where it is not theirs."""
        return None if sender is None else own_address(sender, self.verified_addresses)

    @property
    def actor(self) -> str:
        """The key for rate limits and idempotency: the seat, or the address where there is none."""
        return self.address.casefold() if self.seat is None else f"{self.table_id}.{self.seat_number}"


class IssuedToken(NamedTuple):
    """A token in an email: its hex SHA-256, and what it stands for."""

    token_hash: str
    token: ReplyToken
