"""Finds the order lines in the text of a reply: pure, line by line, linear in the length of the text.

No program can reliably tell a sender's own text from quotes, so nothing here depends on guessing. The
sender's own text ends at the first line that could belong to a quote or a signature. Within it, every line
is an order unless it is empty or a comment. Prose is allowed only after the last order and a blank line, and
only if it cannot be a misspelt order; it is listed as ignored. Lines between or below quotes are never
orders, and the receipt says so.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from typing import NamedTuple

MAX_ORDERS = 40
DELIMITER = "--- Reply above this line. One order per line. ---"


class OrderLine(NamedTuple):
    """An order line; `number` counts the lines of the text from 1."""

    number: int
    text: str


class ReplyFault(NamedTuple):
    """Why the reply is invalid; `line` is None where it is about the whole."""

    line: OrderLine | None
    reason: str


class ParsedReply(NamedTuple):
    """A parsed reply. ignored: prose after the orders. misplaced: lines like orders among or below quotes."""

    orders: tuple[OrderLine, ...] = ()
    ignored: tuple[str, ...] = ()
    misplaced: tuple[str, ...] = ()
    fault: ReplyFault | None = None


def parse_reply(text: str, verbs: Collection[str]) -> ParsedReply:
    """Parse a reply. verbs: the first words of legal lines, in lower case."""
    lines = [normalize_line(line) for line in text.splitlines()]
    end = next((at for at in range(len(lines)) if _ends_own_text(lines, at, verbs)), len(lines))
    stray = _misplaced(lines[end:], verbs)
    orders, ignored = _split_prose(_join_wrapped(_numbered(lines[:end]), verbs), verbs)
    return ParsedReply(tuple(orders), tuple(ignored), tuple(stray), _fault(orders))


def _fault(orders: Sequence[OrderLine]) -> ReplyFault | None:
    if len(orders) > MAX_ORDERS:
        return ReplyFault(
            orders[MAX_ORDERS], f"an email may have {MAX_ORDERS} orders, and this one has {len(orders)}"
        )
    for line in orders:
        if "\ufffd" in line.text:
            return ReplyFault(line, "it has a damaged character")
        if any(unicodedata.category(char) in {"Cc", "Cf", "Co", "Cn", "Cs"} for char in line.text):
            return ReplyFault(line, "it has invisible control characters")
        if len(line.text) > 500:
            return ReplyFault(line, "it is longer than 500 characters")
    return None


# --- one line ---

_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff\u180e\ufe0e\ufe0f"))
_LOOKALIKES = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043", "-")
    | dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"')
    | {"\t": " "}
)
_BULLET = re.compile(r"(?:[*•·▪▸►◦‣●○■□-]|\d{1,2}[.)]) {1,8}(?=\S)")


def normalize_line(line: str) -> str:
    """A line in plain characters, without invisible ones, bullets, outer quotes and a final dot."""
    plain = unicodedata.normalize("NFKC", line.replace("…", "").translate(_LOOKALIKES)).translate(_INVISIBLE)
    plain = " ".join(plain.translate(_LOOKALIKES).split(" ")).rstrip()
    if plain in {"--", "-", "."} or line.startswith("-- "):
        return plain
    bare = plain.strip()
    bullet = _BULLET.match(bare)
    bare = bare[bullet.end() :] if bullet else bare
    bare = bare if _is_quote(bare) else bare.rstrip(".;").rstrip() or bare
    pair = len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "'\"*_"
    return re.sub(r" {2,}", " ", bare[1:-1].strip() if pair else bare)


def first_word(line: str) -> str:
    """The first word, in lower case; empty where the line begins with none."""
    match = re.match(r"[^\W_]+(?:['&-][^\W_]+)*", line)
    return match.group().casefold() if match else ""


def is_near_verb(word: str, verbs: Collection[str]) -> bool:
    """Whether a word is a verb or a misspelt one: 2 typos in 5 letters or more, 1 in 3 or 4."""
    return any(_is_within_distance(word, verb, _allowed_typos(max(len(word), len(verb)))) for verb in verbs)


def _allowed_typos(length: int) -> int:
    return 2 if length >= 5 else 1 if length >= 3 else 0


def _is_within_distance(a: str, b: str, max_distance: int) -> bool:
    """Whether the edit distance of two short words is at most `max_distance`."""
    if abs(len(a) - len(b)) > max_distance:
        return False
    row = list(range(len(b) + 1))
    for i, char in enumerate(a, 1):
        last, row = row, [i]
        for j, other in enumerate(b, 1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (char != other)))
    return row[-1] <= max_distance


# --- the sender's own text ---

_DELIMITERS = (
    "reply above this line",
    "please reply above this line",
    "bitte oberhalb dieser zeile antworten",
    "antworten sie oberhalb dieser zeile",
    "répondre au-dessus de cette ligne",
    "responda por encima de esta línea",
    "rispondi sopra questa riga",
    "antwoord boven deze regel",
    "svara ovanför denna rad",
)
_DEVICE_SIGNATURES = tuple(
    """
    sent from|sent via|sent with|get outlook for|von meinem|gesendet von|gesendet mit|envoyé de mon
    |envoyé depuis|envoyé à partir|enviado desde|enviado do meu|enviado a partir|inviato da
    |verstuurd vanaf|verzonden vanaf|skickat från|sendt fra|lähetetty|wysłane z|wysłano z|odesláno z
    |отправлено с|отправлено из
    |iphoneから送信|从我的|發自我的|发自我的
    """.replace("\n    ", "").split("|")
)
_ATTRIBUTION_STARTS = frozenset(
    "on am le la el il op em a den på w dniu dnia dne pe at in vào ma ons der".split()
)
_ATTRIBUTION_VERBS = tuple(
    """
    wrote:|wrote :|schrieb|écrit|escribió|ha scritto|schreef|geschreven:|escreveu|skrev|napisał|pisze:|napsal
    |a scris|viết:|kirjoitti|írta|yazdı|написал|пишет|写道|寫道
    """.replace("\n    ", "").split("|")
)
_HEADER_FIRST = re.compile(
    r"\*?(?:from|von|de|da|van|från|fra|od|lähettäjä|kimden|от|差出人|发件人|寄件者) ?: ?\*?.{1,180}",
    re.IGNORECASE,
)
_HEADER_NEXT = re.compile(
    r"\*?(?:sent|date|to|subject|cc|gesendet|datum|an|betreff|envoyé|date|à|objet|enviado|fecha|para|asunto|inviato|data|a|oggetto"
    r"|verzonden|aan|onderwerp|skickat|till|ämne|sendt|til|emne|wysłano|do|temat|отправлено|кому|тема|送信日時|宛先|件名|发送时间"
    r"|收件人|主题) ?: ?\*?.{0,180}",
    re.IGNORECASE,
)


def _is_quote(line: str) -> bool:
    return line.lstrip().startswith((">", "|"))


def _is_delimiter(line: str) -> bool:
    return line.strip(" ->|*#_=").casefold().startswith(_DELIMITERS)


def _is_separator(line: str) -> bool:
    """`____…`, `-----Original Message-----`, `Begin forwarded message:`."""
    bare = line.strip()
    if bare.casefold().startswith(("begin forwarded message", "anfang der weitergeleiteten")):
        return True
    return len(bare) >= 8 and (set(bare) == {"_"} or (bare.startswith("---") and bare.endswith("---")))


def _is_attribution(lines: Sequence[str], at: int) -> bool:
    """`On … wrote:` in a dozen languages, on up to three lines and 300 characters."""
    joined = ""
    for line in lines[at : at + 3]:
        if not line:
            return False
        joined = f"{joined} {line.strip(' *')}".strip().casefold()
        if len(joined) > 300:
            return False
        if not joined.endswith((":", "：")):
            continue
        wrote = any(word in joined for word in _ATTRIBUTION_VERBS)
        if wrote and joined.partition(" ")[0] in _ATTRIBUTION_STARTS:
            return True
        digits = sum(char.isdigit() for char in joined)
        if digits >= 3 and ("@" in joined or wrote):
            return True
    return False


def _is_header_block(lines: Sequence[str], at: int) -> bool:
    if not _HEADER_FIRST.fullmatch(lines[at].strip()):
        return False
    following = [line.strip() for line in lines[at + 1 : at + 7] if line]
    return sum(bool(_HEADER_NEXT.fullmatch(line)) for line in following[:4]) >= 2


def _ends_own_text(lines: Sequence[str], at: int, verbs: Collection[str]) -> bool:
    line = lines[at]
    if not line:
        return False
    if line.strip() in {"--", "."} or line.strip().casefold() == "end":
        return True
    if first_word(line) in verbs:
        return False
    return (
        _is_quote(line)
        or _is_delimiter(line)
        or _is_separator(line)
        or _is_attribution(lines, at)
        or _is_header_block(lines, at)
    )


def _misplaced(rest: Sequence[str], verbs: Collection[str]) -> list[str]:
    """Unquoted lines like orders that follow a quoted line, up to the delimiter of our own email."""
    found, quoted = [], False
    for at, line in enumerate(rest):
        if _is_quote(line):
            quoted = True
        elif _is_delimiter(line) or line.strip() == "--" or _is_header_block(rest, at):
            break
        elif quoted and first_word(line) in verbs:
            found.append(line)
    return found[:10]


# --- orders and prose ---


def _numbered(lines: Sequence[str]) -> list[OrderLine]:
    """The lines with their numbers, without comments; blank ones stay, as they separate prose."""
    return [
        OrderLine(number, line)
        for number, line in enumerate(lines, 1)
        if not line.casefold().startswith(_DEVICE_SIGNATURES) and not _is_comment(line)
    ]


def _is_comment(line: str) -> bool:
    return line.startswith("#") and not line[1:2].isdigit()


def _join_wrapped(lines: Sequence[OrderLine], verbs: Collection[str]) -> list[OrderLine]:
    """Join orders that were wrapped: a line ends in `,` or `-`, or had no room for the next word."""
    out: list[OrderLine] = []
    for line in lines:
        last = out[-1].text if out else ""
        word = line.text.split(" ", 1)[0]
        wrapped = last.endswith((",", "-")) or len(last) + 1 + len(word) > 68
        if last and line.text and wrapped and first_word(last) in verbs and first_word(word) not in verbs:
            glue = "" if last.endswith("-") else " "
            out[-1] = OrderLine(out[-1].number, last + glue + line.text)
        else:
            out.append(line)
    return out


def _split_prose(lines: Sequence[OrderLine], verbs: Collection[str]) -> tuple[list[OrderLine], list[str]]:
    """Orders, and the prose after them. If any prose line is like an order, all of it counts as orders."""
    orders: list[OrderLine] = []
    blank = False
    for at, line in enumerate(lines):
        if not line.text:
            blank = True
        elif blank and orders and not is_near_verb(first_word(line.text), verbs):
            rest = [line for line in lines[at:] if line.text]
            if any(is_near_verb(first_word(line.text), verbs) for line in rest):
                return orders + rest, []
            return orders, [line.text for line in rest]
        else:
            orders.append(line)
    return orders, []
