"""Where a sender's own text ends and the email that they answer begins, in the text of a reply: pure, line
by line, linear.

Mail programs put a reply above the quoted email, below it, or between its lines. Quotes are marked (`> `),
or stand unmarked below an attribution (`On … wrote:`) or a block of headers (`From: … Sent: …`). Text above
the quote is the sender's. Between and below marked quotes, unmarked lines are theirs too, except what a mail
program has wrapped over from a quoted line. In an unmarked quote nothing is theirs before the last line of
our own email (`FOOTER`), because its lines to copy look like moves.
"""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from mail.reading.line_text import first_word, is_quote

DELIMITER = "--- Reply above this line. One move on each line. ---"
FOOTER = "Write above everything else, one move on each line"

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
_ATTRIBUTION_STARTS = frozenset(
    "on am le la il el op em a den på w dniu dnia dne pe at in vào ma ons der".split()
)
_ATTRIBUTION_VERBS = tuple(
    """
    wrote:|wrote :|schrieb|écrit|escribió|ha scritto|schreef|geschreven:|escreveu|skrev|napisał|pisze:|napsal
    |a scris|viết:|kirjoitti|írta|yazdı|написал|пишет|写道|寫道|쓴 글:|wrote on |writes:|zitat von |quoting
    """.replace("\n    ", "").split("|")
)
_HEADER_LABELS = frozenset(
    """
    from|sent|date|to|subject|cc|reply to|reply-to|importance|von|gesendet|datum|an|betreff|antwort an
    |de|envoyé|à|objet|répondre à|enviado|fecha|para|asunto|assunto|da|inviato|data|a|oggetto|van
    |verzonden|aan|onderwerp|från|skickat|till|ämne|fra|sendt|til|emne|od|wysłano|do|temat|odesláno|komu
    |kopie|předmět|lähettäjä|lähetetty|vastaanottaja|kopio|aihe|kimden|gönderen|gönderildi
    |gönderme tarihi|tarih|kime|bilgi|konu|feladó|elküldve|küldve|dátum|címzett|másolatot kap|tárgy
    |de la|trimis|către|subiect|από|στάλθηκε|ημερομηνία|προς|κοιν|κοιν.|θέμα|от|отправлено|дата|кому
    |тема|копия|від|надіслано|копія|מאת|נשלח|אל|עותק|נושא|보낸 사람|보낸 날짜|날짜|받는 사람|참조|제목
    |差出人|送信日時|宛先|件名|发件人|发送时间|收件人|主题|寄件者|寄件日期|傳送日期|收件者|副本|主旨
    """.replace("\n    ", "").split("|")
)
_LABEL_WITHIN = re.compile(r"(?<= )(\w+) ?: ")
_ORIGINAL_MESSAGE = frozenset(
    """
    original message|originalnachricht|ursprüngliche nachricht|message d'origine|mensaje original
    |mensagem original|messaggio originale|oorspronkelijk bericht|original-nachricht
    """.replace("\n    ", "").split("|")
)
_WRAPPED_AT = 45  # a quoted line of this length may have been wrapped by the sender's mail program


class ReplyLine(NamedTuple):
    """A line that may be a move, normalized; `number` counts the lines of the text from 1."""

    number: int
    text: str


class OwnText(NamedTuple):
    """The sender's own lines, blank ones included: above the quoted email, and between its lines or below
    it.
    """

    above: tuple[ReplyLine, ...]
    below: tuple[ReplyLine, ...] = ()


def own_text(lines: Sequence[str], verbs: Collection[str]) -> OwnText:
    """The sender's own lines among normalized lines. verbs: the first words of moves, in lower case.

    `end` below them says that nothing follows; as the first line it is a move.
    """
    first = next((at for at, line in enumerate(lines) if line), len(lines))
    start = first + (lines[first : first + 1] != [] and lines[first].strip().casefold() == "end")
    end = next((at for at in range(start, len(lines)) if _ends_own_text(lines, at, verbs)), len(lines))
    above = tuple(ReplyLine(number, line) for number, line in enumerate(lines[:end], 1))
    if end < len(lines) and (lines[end].strip() == "." or lines[end].strip().casefold() == "end"):
        return OwnText(above)  # the sender has said that nothing follows
    return OwnText(above, tuple(_own_lines_below(lines, end, verbs)))


def _ends_own_text(lines: Sequence[str], at: int, verbs: Collection[str]) -> bool:
    line = lines[at]
    if not line:
        return False
    if line.strip() in {"--", "."} or line.strip().casefold() == "end":
        return True
    if _is_attribution(lines, at):
        return True
    if first_word(line) in verbs:
        return False
    return is_quote(line) or _is_delimiter(line) or _is_separator(line) or _is_header_block(lines, at)


def _own_lines_below(lines: Sequence[str], start: int, verbs: Collection[str]) -> list[ReplyLine]:
    """The sender's lines after the first quoted one. They begin after a marked quote, or after our last
    line.
    """
    found: list[ReplyLine] = []
    reading = False  # whether an unmarked line is the sender's here
    quoted = False  # whether a marked quote has begun
    unmarked_quote = False
    wrapped = False  # whether the line before is the end of a quoted one
    at = start
    while at < len(lines):
        line = lines[at]
        wrapped = bool(line) and (wrapped or _may_be_wrapped(lines, at))
        if is_quote(line):
            reading, quoted, wrapped = not unmarked_quote, True, False
        elif line.casefold().startswith(FOOTER.casefold()):
            reading, unmarked_quote = True, False
        elif line.strip() == "--":
            reading = False
        elif length := _attribution_length(lines, at):
            at += length - 1
        elif _is_delimiter(line) or _is_header_block(lines, at) or _is_separator(line):
            reading, unmarked_quote = False, True
        elif reading and (quoted or not line or not unmarked_quote):
            found.append(ReplyLine(at + 1, "" if wrapped else line))
        at += 1
    return found


def _may_be_wrapped(lines: Sequence[str], at: int) -> bool:
    """Whether a line stands directly below a long quoted one, and may be its end, wrapped by a mail
    program.
    """
    above = lines[at - 1] if at else ""
    ends = above.rstrip().endswith((".", "!", "?", ":"))
    return is_quote(above) and len(above) >= _WRAPPED_AT and not ends and not is_quote(lines[at])


# --- how quotes begin ---


def _is_delimiter(line: str) -> bool:
    """Whether a line asks to write above it. Yahoo's program for phones puts an attribution before that."""
    lower = line.casefold()
    return lower.strip(" ->|*#_=").startswith(_DELIMITERS) or DELIMITER.casefold() in lower


def _is_separator(line: str) -> bool:
    """`____…`, `-----Original Message-----`, the same without dashes, `Begin forwarded message:`."""
    bare = line.strip()
    if bare.strip("-_ ").casefold() in _ORIGINAL_MESSAGE:
        return True
    if bare.casefold().startswith(("begin forwarded message", "anfang der weitergeleiteten")):
        return True
    return len(bare) >= 8 and (set(bare) == {"_"} or (bare.startswith("---") and bare.endswith("---")))


def _is_attribution(lines: Sequence[str], at: int) -> bool:
    return _attribution_length(lines, at) > 0


def _attribution_length(lines: Sequence[str], at: int) -> int:
    """How many lines an attribution takes that begins here: `On … wrote:` in a dozen languages, on up to
    three lines and 300 characters; 0 for none.
    """
    for length in (1, 2, 3):
        if at + length > len(lines) or not lines[at + length - 1]:
            return 0
        if _reads_as_attribution(lines, at, length):
            return 0 if _begins_later(lines, at, length) else length
    return 0


def _begins_later(lines: Sequence[str], at: int, length: int) -> bool:
    """Whether the attribution begins at a later one of these lines, so that the first may be a move."""
    begins_well = _starts_like_attribution(lines[at])
    return any(
        _reads_as_attribution(lines, at + later, length - later)
        and (_starts_like_attribution(lines[at + later]) or not begins_well)
        for later in range(1, length)
    )


def _starts_like_attribution(line: str) -> bool:
    return line.strip(" *").casefold().partition(" ")[0] in _ATTRIBUTION_STARTS


def _reads_as_attribution(lines: Sequence[str], at: int, length: int) -> bool:
    joined = " ".join(line.strip(" *") for line in lines[at : at + length]).strip().casefold()
    if len(joined) > 300 or not joined.endswith((":", "：")):
        return False
    wrote = any(word in joined for word in _ATTRIBUTION_VERBS)
    if wrote and joined.partition(" ")[0] in _ATTRIBUTION_STARTS:
        return True
    digits = sum(char.isdigit() for char in joined)
    if digits >= 3 and ("@" in joined or wrote):
        return True
    following = next((each for each in lines[at + length : at + length + 4] if each), "")
    return wrote and (is_quote(following) or _is_delimiter(following))


def _is_header_block(lines: Sequence[str], at: int) -> bool:
    if not _has_label(lines[at]):
        return False
    within = _LABEL_WITHIN.findall(lines[at][:400].replace("*", ""))
    if sum(label.casefold() in _HEADER_LABELS for label in within) >= 2:
        return True  # all on one line
    following = [line for line in lines[at + 1 : at + 7] if line]
    return sum(map(_has_label, following[:4])) >= 2


def _has_label(line: str) -> bool:
    """Whether a line begins as those of a header do: `From: Ann`, `*Objet :* Friday` with bold letters."""
    label, colon, _ = line[:40].replace("*", "").partition(":")
    return bool(colon) and label.strip().casefold() in _HEADER_LABELS
