"""Judges which lines of a reply are meant as orders (step 3 of `mail.reading.reply_text`): pure.

Text beside the orders is accepted only if it is known to be harmless: greetings, closings, signatures,
phrases of courtesy, the footers of mail systems. Any other prose may take the orders back or put them into
somebody else's mouth, and no list of words tells; then nothing is played, and the sender is asked.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence

from mail.reading import small_talk, unclear_lines
from mail.reading.line_text import first_word, words_of
from mail.reading.quotes import ReplyLine
from mail.reading.reply_text import ParsedReply, ReplyFault, ReplyText, UnclearLine
from mail.reading.unclear_lines import Vocabulary

MAX_MOVES = 40
MAX_JUDGED = 80  # own lines that are read; a longer reply is not clear

NEARLY = "it is nearly an order, but not quite"
QUALIFYING = "it may change what the orders mean"
BESIDE = "it stands right beside an order and cannot be read"
ASKING = "it asks a question"
IN_TALK = "it stands in what you say to the table"
IN_TWO_PLACES = "there are orders above the quoted email too"

_QUALIFYING_COMMENT = re.compile(
    r"\b(?:if|unless|maybe|perhaps|not|only|wait|or|but|rather|instead|except|later|tomorrow|wenn|falls|oder"
    r"|aber|nicht|nur|vielleicht|sauf|mais|ou|peut-être|pero|quizás|forse|oppure|maar|misschien)\b|\?",
    re.IGNORECASE,
)

Paragraph = Sequence[ReplyLine]


def judge(reply: ReplyText, readable: Collection[str], vocabulary: Vocabulary) -> ParsedReply:
    """Decide what of a reply is meant as orders. readable: those of its candidates that the game can read."""
    above = _Part(reply.above, reply.ended, readable, vocabulary)
    below = _Part(reply.below, reply.ended, readable, vocabulary)
    if not (above.lines or above.unclear or reply.within_talk) and (below.lines or below.unclear):
        return below.judged(is_below=True, others=tuple(above.ignored))
    unclear, misplaced = list(above.unclear), [line.text for line in below.lines][:10]
    if above.lines and below.lines:
        unclear += [UnclearLine(line, IN_TWO_PLACES) for line in below.lines[:10]]
    if in_talk := [line for line in reply.within_talk if line.text in readable]:
        unclear += [UnclearLine(line, IN_TALK) for line in in_talk[:10]]
        above.meant = sorted([*above.meant, *in_talk])
    return above.judged(misplaced=tuple(misplaced), unclear=tuple(unclear))


class _Part:
    """The sender's lines above or below the quote: orders, lines that leave a doubt, harmless prose."""

    def __init__(
        self,
        lines: Sequence[ReplyLine],
        ended: Collection[int],
        readable: Collection[str],
        vocabulary: Vocabulary,
    ) -> None:
        self._ended = ended
        self._readable = readable
        self._vocabulary = vocabulary
        self.lines: list[ReplyLine] = []
        self.unclear: list[UnclearLine] = []
        self.meant: list[ReplyLine] = []
        self.ignored: list[str] = []
        self._meant_is_known = True
        self._has_orders = any(map(self._is_order, lines))
        self._in_signature = False  # whether a closing or a signature was read, and no order since
        for paragraph in _paragraphs(lines[:MAX_JUDGED]):
            if any(map(self._is_order, paragraph)):
                self._judge_beside(paragraph)
            else:
                self._judge_apart(paragraph)
        if len(lines) > MAX_JUDGED and any(map(self._is_order, lines[MAX_JUDGED:])):
            self._add_unclear(lines[MAX_JUDGED], f"the reply has more than {MAX_JUDGED} lines")
            self._meant_is_known = False

    def _is_order(self, line: ReplyLine) -> bool:
        return line.text in self._readable

    def _add(self, line: ReplyLine, reason: str | None) -> None:
        if reason:
            self._add_unclear(line, reason)
        else:
            self.ignored.append(line.text)

    def _add_order(self, line: ReplyLine) -> None:
        self._in_signature = False
        self.lines.append(line)
        self.meant.append(line)
        _, hash_sign, comment = line.text.partition(" #")
        if self._vocabulary.has_our_comment(line.text):
            return
        if hash_sign and (unclear_lines.retracts(comment) or _QUALIFYING_COMMENT.search(comment)):
            self.unclear.append(UnclearLine(line, QUALIFYING))
            self._meant_is_known = False

    def _add_unclear(self, line: ReplyLine, reason: str) -> None:
        self.unclear.append(UnclearLine(line, reason))
        nearest = unclear_lines.nearest_line(line.text, self._vocabulary, 0.6) if reason == NEARLY else None
        is_prose = len(words_of(line.text)) >= 4 and first_word(line.text) not in self._vocabulary.game_verbs
        if nearest:
            self.meant.append(ReplyLine(line.number, nearest))
        elif reason == NEARLY and not is_prose:
            self._meant_is_known = False

    # --- paragraphs with an order ---

    def _judge_beside(self, paragraph: Paragraph) -> None:
        for at, line in enumerate(paragraph):
            if self._is_order(line):
                self._add_order(line)
            else:
                reason = self._doubt_beside(paragraph, at)
                self._add(line, reason)
                is_below = any(map(self._is_order, paragraph[:at]))
                self._in_signature = self._in_signature or (is_below and reason is None)

    def _doubt_beside(self, paragraph: Paragraph, at: int) -> str | None:
        """Why a line in a paragraph with an order leaves a doubt; None for a greeting, a closing, a
        signature.
        """
        line = paragraph[at].text
        is_last = not any(map(self._is_order, paragraph[at + 1 :]))
        if unclear_lines.starts_as_condition(line):
            return QUALIFYING
        if unclear_lines.nearly_move(line, self._vocabulary, may_be_name=is_last):
            return NEARLY
        if self._in_signature and is_last:
            return QUALIFYING if unclear_lines.decides_in_signature(line) else None
        if small_talk.is_friendly(line) or unclear_lines.is_mail_footer(line):
            return None
        if unclear_lines.qualifies(line):
            return ASKING if "?" in line else QUALIFYING
        if not any(map(self._is_order, paragraph[:at])):
            harmless = small_talk.is_harmless_paragraph([line], self._vocabulary, False, True)
            return None if harmless and paragraph[at].number in self._ended else BESIDE
        return None if is_last and small_talk.is_signature_like(line, self._vocabulary.names) else BESIDE

    # --- paragraphs without one ---

    def _judge_apart(self, paragraph: Paragraph) -> None:
        if any(unclear_lines.is_mail_footer(line.text) for line in paragraph):
            self._in_signature = True
            self.ignored += [line.text for line in paragraph]
            return
        near = [
            line
            for line in paragraph
            if unclear_lines.nearly_move(line.text, self._vocabulary, may_be_name=True)
        ]
        for line in near:
            self._add_unclear(line, NEARLY)
        if near:
            return
        text = [line.text + ("." if line.number in self._ended else "") for line in paragraph]
        is_harmless = not self._has_orders or small_talk.is_harmless_paragraph(
            text, self._vocabulary, self._in_signature, is_above=not self.lines
        )
        asks = ASKING if any("?" in line.text for line in paragraph) else QUALIFYING
        for at, line in enumerate(paragraph):
            self._add(line, None if is_harmless or at else asks)
        if self.lines:
            self._in_signature = self._in_signature or small_talk.opens_signature(text[0], self._vocabulary)

    # --- the outcome ---

    def judged(
        self,
        *,
        is_below: bool = False,
        misplaced: tuple[str, ...] = (),
        unclear: tuple[UnclearLine, ...] | None = None,
        others: tuple[str, ...] = (),
    ) -> ParsedReply:
        unclear = tuple(self.unclear) if unclear is None else unclear
        ignored = others + tuple(self.ignored)
        orders = tuple(self.lines)
        fault = _fault(orders) or _fault([each.line for each in unclear if each.reason == NEARLY])
        if not unclear or fault:
            return ParsedReply(orders, ignored, misplaced, fault, is_below=is_below)
        meant = tuple(self.meant) if self._meant_is_known and len(self.meant) <= MAX_MOVES else ()
        return ParsedReply((), ignored, misplaced, None, unclear, meant, is_below)


def _paragraphs(lines: Sequence[ReplyLine]) -> list[list[ReplyLine]]:
    found: list[list[ReplyLine]] = [[]]
    for line in lines:
        if line.text:
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [paragraph for paragraph in found if paragraph]


def _fault(orders: Sequence[ReplyLine]) -> ReplyFault | None:
    if len(orders) > MAX_MOVES:
        return ReplyFault(
            orders[MAX_MOVES], f"An email may have {MAX_MOVES} orders; this one has {len(orders)}."
        )
    for line in orders:
        if "\ufffd" in line.text:
            return ReplyFault(line, "A character of this line is damaged.")
        if any(unicodedata.category(char) in {"Cc", "Cf", "Co", "Cn", "Cs"} for char in line.text):
            return ReplyFault(line, "This line has invisible control characters.")
        if len(line.text) > 500:
            return ReplyFault(line, "This line is longer than 500 characters.")
    return None
