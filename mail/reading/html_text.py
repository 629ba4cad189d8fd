"""The visible text of an HTML mail, by the standard library's tokenizer: pure, for mail without a text part.

It keeps what a reader would see of the sender's own text. It drops scripts, styles, heads, everything that
is hidden by its style or struck out, and quotes: `blockquote` and the containers in which mail programs put
the email that is answered. A dropped quote leaves a line `>`, where `reply_text` stops: text after a
quote is never a move.
"""

import re
from html.parser import HTMLParser

QUOTE_MARKER = ">"

_VOID_TAGS = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_SKIPPED_TAGS = frozenset("script style head title template noscript object svg math select textarea".split())
_BLOCK_TAGS = frozenset(
    """
    address article aside body center dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr
    li main nav ol p pre section table tbody tfoot thead tr ul
    """.split()
)
_QUOTE_CLASSES = frozenset(
    """
    gmail_quote gmail_quote_container gmail_attr yahoo_quoted yahooquoted moz-cite-prefix protonmail_quote
    zmail_extra tutanota_quote mailquote front-blockquote quoted-text hey_quote skiff_quote freebirdfontquote
    divrplyfwdmsg appendonsend mail-editor-reference-message-container olk_src_body_section
    replysplit isforwardcontent
    """.split()
)
_HIDING_STYLES = re.compile(
    r"display:none|visibility:hidden|mso-hide:all|font-size:0(?:px|pt|em|rem|%|;|$)"
    r"|opacity:0(?:\.0{1,9})?(?:;|$)|max-height:0|(?:^|;)height:0(?:px|pt|;|$)|text-indent:-\d{3}"
)
_STRUCK_TAGS = frozenset({"s", "del", "strike"})
_STRUCK = re.compile(r"<(?:s|del|strike)\b|line-through", re.IGNORECASE)
_MAX_DEPTH = 2_000


class _TextExtractor(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.out: list[str] = []
        self.open: list[str] = []
        self.skip_from: int | None = None  # depth of `open` at which the dropped element begins
        self.is_finished = False
        self.pre = 0
        self.at_line_start = True  # at the start of a line
        self.has_struck = False  # whether something outside of quotes is struck out

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.is_finished:
            return
        void = tag in _VOID_TAGS
        if self.skip_from is None:
            if tag == "br":
                self._line()
            elif tag in _BLOCK_TAGS:
                self._block()
                if tag == "p":
                    self._line()
            values = {name: value or "" for name, value in attrs}
            if tag in ("td", "th"):  # a row is a line, unless a cell has blocks
                self.handle_data(" ")
            elif tag == "img" and not (smiley := values.get("alt", "")[:8]).isascii():
                self.handle_data("" if any(map(str.isalnum, smiley)) else smiley)
            if self._is_quote(tag, values):
                self._block()
                self.out.append(f"{QUOTE_MARKER}\n")
                # Outlook marks the beginning of the quote, which reaches to the end of the mail.
                self.is_finished = values.get("id", "").lower().removeprefix("x_") in {
                    "divrplyfwdmsg",
                    "appendonsend",
                }
                self.skip_from = None if void else len(self.open)
            elif not void and (is_struck := tag in _STRUCK_TAGS or _struck(values)):
                self.skip_from, self.has_struck = len(self.open), is_struck
            elif not void and (tag in _SKIPPED_TAGS or _hidden(values)):
                self.skip_from = len(self.open)
        if not void and len(self.open) < _MAX_DEPTH:
            self.open.append(tag)
            self.pre += tag == "pre"

    def _line(self) -> None:
        self.out.append("\n")
        self.at_line_start = True

    def _block(self) -> None:
        if not self.at_line_start:
            self._line()

    def _is_quote(self, tag: str, values: dict[str, str]) -> bool:
        if tag == "blockquote" or values.get("type", "").lower() == "cite" or values.get("name") == "quote":
            return True
        if "data-marker" in values and values["data-marker"].lower() in {"__divider__", "__quoted_text__"}:
            return True
        names = f"{values.get('class', '')} {values.get('id', '')}".lower().split()
        return any(name.removeprefix("x_") in _QUOTE_CLASSES for name in names)

    def handle_endtag(self, tag: str) -> None:
        if self.is_finished or tag in _VOID_TAGS:
            return
        # An end tag without a start tag is ignored; any other also closes what is still open inside it.
        if tag in self.open[-50:]:
            while self.open:
                closed = self.open.pop()
                self.pre -= closed == "pre"
                if closed == tag:
                    break
            if self.skip_from is not None and len(self.open) <= self.skip_from:
                self.skip_from = None
                return
        if self.skip_from is None and tag in _BLOCK_TAGS:
            self._block()

    def handle_data(self, data: str) -> None:
        if self.skip_from is not None or self.is_finished:
            return
        text = data if self.pre else re.sub(r"[ \t\r\n\f]+", " ", data)
        if text and not (self.at_line_start and text == " "):
            self.out.append(text)
            self.at_line_start = text.endswith("\n")


def _hidden(values: dict[str, str]) -> bool:
    if "hidden" in values:
        return True
    style = values.get("style", "")[:2_000]
    return bool(style) and _HIDING_STYLES.search(re.sub(r"\s|!important", "", style.lower())) is not None


def _struck(values: dict[str, str]) -> bool:
    return "line-through" in values.get("style", "")[:2_000].lower()


def _extracted(html: str) -> _TextExtractor:
    extractor = _TextExtractor()
    try:
        extractor.feed(html)
        extractor.close()
    except (AssertionError, ValueError, RecursionError):
        extractor.out.append(f"\n{QUOTE_MARKER}\n")  # the text ends where the tokenizer fails
    return extractor


def has_struck_text(html: str) -> bool:
    """Whether something is struck out in the sender's own text, which a text part does not show."""
    return _STRUCK.search(html) is not None and _extracted(html).has_struck


def visible_text(html: str) -> str:
    """The visible text of an HTML document without quotes, one line per block. Never raises."""
    extractor = _extracted(html)
    lines = "".join(extractor.out).split("\n")
    kept: list[str] = []
    for line in (line.strip() for line in lines):
        if line or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept)
