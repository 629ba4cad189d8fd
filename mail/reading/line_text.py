"""One line of a reply in plain characters, and without what people put around a move.

`normalize_line` undoes what mail programs and phones do to characters. `move_text` also takes away what
does not change a move: `Please`, `thanks`, exclamation marks, smileys, `My move:`. Both are pure, and
linear in the length of the line.
"""

import re
import unicodedata
from collections.abc import Collection

from mail.reading.word_lists import GIVEN_NAMES

_BIDIRECTIONAL = "\u061c\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069"
"""Marks that mail programs put around names; none that shows characters in another order."""
_INVISIBLE = dict.fromkeys(
    map(ord, f"\u00ad\u200b\u200c\u200d\u2060\ufeff\u180e\ufe0e\ufe0f{_BIDIRECTIONAL}")
)
_LOOKALIKES = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043", "-")
    | dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"')
    | {"\t": " "}
)
_BULLET = re.compile(r"(?:[*•·▪▸►◦‣●○■□→➜-]|[-=]>|\d{1,2}[.)]|\(?[a-h]\)) {1,8}(?=\S)")
_LINK = re.compile(
    r"([^\s<>@]{1,64}@[^\s<>@]{1,255}>?) ?<mailto:[^<>\s]{1,320}>"
    r"|\[([^\[\]\s]{1,320})\]\(mailto:[^()\s]{1,320}\)",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"#(?!\d).*")
_QUOTE_MARK = re.compile(r"\s{0,8}(?:[A-Za-z]{0,3}>|\|)")


def without_comment(line: str) -> str:
    """A line without its comment, which begins with `#` unless a digit follows (a tile)."""
    return _COMMENT.sub("", line).strip()


def comment_of(line: str) -> str:
    """The comment of a line, with single spaces; empty where it has none."""
    found = _COMMENT.search(line)
    return " ".join(found.group()[1:].split()) if found else ""


def is_quote(line: str) -> bool:
    """Whether a line is marked as a quote: `> …`, `AL> …`, `| …`."""
    return _QUOTE_MARK.match(line) is not None


def normalize_line(line: str) -> str:
    """A line in plain characters, without invisible ones, bullets, outer quotes, a final dot, and what mail
    programs put behind an address as its link."""
    plain = line.replace("…", "").translate(_LOOKALIKES)
    if not plain.isascii():
        plain = unicodedata.normalize("NFKC", plain).translate(_INVISIBLE).translate(_LOOKALIKES)
    plain = _LINK.sub(r"\1\2", plain).rstrip() if "mailto:" in plain.casefold() else plain.rstrip()
    if plain in {"--", "-", "."} or line.startswith("-- "):
        return plain
    bare = plain.strip()
    bullet = _BULLET.match(bare)
    bare = bare[bullet.end() :] if bullet else bare
    bare = bare if is_quote(bare) else bare.rstrip(".;").rstrip() or bare
    for _ in range(3):  # `**bold**` has two pairs
        if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "'\"*_" and bare.strip(bare[0]):
            bare = bare[1:-1].strip()
    return re.sub(r" {2,}", " ", bare)


def first_word(line: str) -> str:
    """The first word, in lower case; empty where the line begins with none."""
    match = re.match(r"[^\W_]+(?:['&-][^\W_]+)*", line)
    return match.group().casefold() if match else ""


def words_of(line: str) -> list[str]:
    """The words of a line, in lower case: letters and digits, with `'` and `&` inside."""
    return re.findall(r"[^\W_]+(?:['&][^\W_]+)*", line.casefold())


# --- what people put around a move ---

_BEFORE = re.compile(
    r"(?:(?:please|pls|plz|bitte|(?:ok|okay|right|sure|alright)(?: then)?|hi|hello|hallo|hey)\b[ ,:!.-]{1,4}"
    r"|(?:(?:my |here is my |here are my )?(?:moves?|orders?|actions?|turn)|mein zug|mon coup) ?: ?"
    r"|(?:i will|i'll|i) )",
    re.IGNORECASE,
)
_SALUTATION = re.compile(r"(?:hi|hello|hallo|hey) [^ ]+,", re.IGNORECASE)
_AFTER = re.compile(
    r"[ ,;.!-]{1,4}(?:please|pls|plz|ty|bitte|svp|stp|s'il (?:vous|te) plaît|por favor|per favore|alsjeblieft"
    r"|(?:(?:thanks|thank you|thx|cheers|danke|merci|gracias|grazie)(?: (?-i:[A-Z][a-z]{1,15}))?))"
    r"[ .!]{0,4}$",
    re.IGNORECASE,
)
_APOLOGY = re.compile(
    r"(pass|done|decline)[ ,;.!-]{1,4}sorry(?: (?-i:(?P<whom>[A-Z][a-z]{1,15})))?", re.IGNORECASE
)
"""Behind any other move `sorry` may begin a correction: `buy NYC, sorry Erie`."""
_SMILEY = re.compile(r"(?:^| )(?:[:;=8]['o-]?[)(DPp]|<3|\^\^|xD)$")


DOUBTFUL_PICTOGRAPHS = frozenset("🤔🤷❓❔🚫❌❎✖✕✗✘🛑⛔👎☐☒☓🗙🗵🙅🤨🧐😕🤐🙈↩↪⏸⏹✋🖐🤚⏳⌛🤡🙃🤪😜😝🤥")
"""They may take a move back, or ask, or joke."""


def _is_pictograph(char: str) -> bool:
    if char in DOUBTFUL_PICTOGRAPHS:
        return False
    return unicodedata.category(char) in {"So", "Sk"} or "\U0001f000" <= char <= "\U0001faff"


def _without_pictographs(line: str) -> str:
    start, end = 0, len(line)
    while start < end and (_is_pictograph(line[start]) or line[start] == " "):
        start += 1
    while end > start and (_is_pictograph(line[end - 1]) or line[end - 1] == " "):
        end -= 1
    return line[start:end]


def without_courtesies(line: str, verbs: Collection[str]) -> str:
    """A normalized line without courtesies, smileys and exclamation marks."""
    bare = line
    for _ in range(4):
        former = bare
        bare = _without_pictographs(bare).rstrip("!.; ")
        bare = _AFTER.sub("", _SMILEY.sub("", bare)).rstrip("!.;, ")
        if (apology := _APOLOGY.fullmatch(bare)) and (apology["whom"] or "ann").casefold() in GIVEN_NAMES:
            bare = apology[1]
        if first_word(bare) not in verbs and (courtesy := _BEFORE.match(bare)):
            bare = bare[courtesy.end() :].lstrip()
        if bare == former:
            break
    return bare


def move_text(line: str, verbs: Collection[str]) -> str:
    """The same, if a move's verb then stands first; else the line itself.

    verbs: the first words of moves, in lower case.
    """
    if _SALUTATION.fullmatch(line):
        return line  # to somebody whose name is a verb: `Hi Yes,`
    bare = without_courtesies(line, verbs)
    return bare if first_word(bare) in verbs else line
