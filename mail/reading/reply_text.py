"""Finds the moves in the text of a reply, and only those that are meant: pure, line by line, linear.

Theory of operation. A line is a move if the game can read it; the first word alone means nothing. Reading
goes in three steps, because only the service knows the game:

1. `split_reply` finds the sender's own lines (`mail.reading.quotes`) and says which of them may be moves
   (`ReplyText.candidates`);
2. the service says which of these the game can read;
3. `judge` decides. A reply is *clear* if every other line of it is harmless: a greeting, a closing, a
   signature, prose that neither speaks of a move nor qualifies one (`unclear_lines`). Then its lines are
   played, all or none. Otherwise nothing is played; `meant` is what the reply would be without the doubt, for
   the sender to confirm.

Text beside the moves is accepted only if it is known to be harmless: greetings, closings, signatures,
phrases of courtesy, the footers of mail systems. Any other prose may take the moves back or put them into
somebody else's mouth, and no list of words tells; then nothing is played, and the sender is asked.

The moves stand above the quoted email. Where nothing stands there that could be one, lines between or below
marked quotes count by the same rules. Where moves stand in both places, the reply is not clear.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from mail.reading import small_talk, unclear_lines
from mail.reading.line_text import (
    comment_of,
    first_word,
    move_text,
    normalize_line,
    without_comment,
    words_of,
)
from mail.reading.quotes import ReplyLine, own_text
from mail.reading.unclear_lines import Vocabulary

MAX_CANDIDATES = 60  # lines that the game is asked about
MAX_SAID = 5  # of one reply, the last with all that follows
_BEFORE_TEXT = frozenset({"plan", "try", "auto", "note"})  # which goes on behind `;`
_TALK_BEHIND = re.compile(r"; {0,8}(?=say\b)", re.IGNORECASE)
_PICTURE = re.compile(r"\[(?:image|cid|inline image)[: ][^\]]{1,200}\]", re.IGNORECASE)

_DEVICE_SIGNATURES = tuple(
    """
    sent from|sent via|sent with|sent on|sent by|get outlook for|get bluemail|mailed by|von meinem
    |yahoo mail: search|von outlook für
    |von samsung|gesendet von|gesendet mit|gesendet über|diese nachricht wurde von|holen sie sich outlook
    |beziehen sie outlook|laden sie outlook|outlook für ios|outlook für android|envoyé de mon|envoyé depuis
    |envoyé à partir|envoyé avec|télécharge|obtenir outlook|enviado desde|enviado do meu|enviado a partir
    |enviado con|enviado com|obtener outlook|obter o outlook|inviato da|inviato con|scarica outlook
    |ottieni outlook|verstuurd vanaf|verzonden vanaf|verzonden met|download outlook|outlook voor|skickat från
    |hämta outlook|sendt fra|hent outlook|lähetetty|hanki outlook|wysłane z|wysłano z|pobierz outlook
    |odesláno z|získat outlook|отправлено с|отправлено из|[avast|virus-free|virenfrei|iphoneから送信|从我的
    |發自我的|发自我的|從我的|enviada do meu|enviada a partir|trimis de pe|iphone'umdan gönderildi
    |ipad'imden gönderildi|στάλθηκε από|küldve az|iphone-ról küldve|ipad-ről küldve|נשלח מה|надіслано з
    |odoslané z|poslano s|poslano z|나의 iphone에서|나의 ipad에서|gửi từ|сообщение отправлено из
    |mit proton mail gesendet|mit spark gesendet|von unterwegs gesendet|unterwegs gesendet|mobil gesendet
    """.replace("\n    ", "").split("|")
)


class ReplyFault(NamedTuple):
    """Why a line of the reply cannot be read, as a sentence."""

    line: ReplyLine
    reason: str


class UnclearLine(NamedTuple):
    """A line that leaves a doubt, and why: `nearly a move`, `this may change your move`."""

    line: ReplyLine
    reason: str


class ReplyText(NamedTuple):
    """The sender's own lines above the quoted email and below its beginning; device signatures and comments
    left out.

    candidates: the lines that may be moves, in their order: what the game is asked about. ended: the
    numbers of the lines that end in a punctuation mark. talk: what is said to the table. within_talk: the
    lines of it that may be lines of play.
    """

    above: tuple[ReplyLine, ...]
    below: tuple[ReplyLine, ...]
    candidates: tuple[str, ...]
    ended: frozenset[int] = frozenset()
    talk: tuple[str, ...] = ()
    within_talk: tuple[ReplyLine, ...] = ()

    @property
    def own(self) -> tuple[ReplyLine, ...]:
        """The sender's lines above the quoted email; where nothing but a greeting stands there, those below
        too, without what a mail system adds."""
        if any(line.text and not small_talk.greets(line.text) for line in self.above):
            return self.above
        below = takewhile(lambda line: not unclear_lines.is_mail_footer(line.text), self.below)
        return (*self.above, *below)

    @property
    def lines(self) -> tuple[str, ...]:
        """Those of them that are not blank."""
        return tuple(line.text for line in self.own if line.text)


class ParsedReply(NamedTuple):
    """A parsed reply.

    lines: what is played; empty where the reply is not clear. ignored: harmless prose. misplaced: lines
    like moves between or below quotes, which are not played. unclear: the lines that leave a doubt. meant:
    the moves of an unclear reply, if that can be said. is_below: the moves stand between or below quotes.
    """

    lines: tuple[ReplyLine, ...] = ()
    ignored: tuple[str, ...] = ()
    misplaced: tuple[str, ...] = ()
    fault: ReplyFault | None = None
    unclear: tuple[UnclearLine, ...] = ()
    meant: tuple[ReplyLine, ...] = ()
    is_below: bool = False


def split_reply(text: str, verbs: Collection[str], before_text: Collection[str] = ()) -> ReplyText:
    """The sender's own lines. verbs: the first words of moves, in lower case. before_text: those of them
    behind which any text may stand; right behind `say` they are speech."""
    raw_lines = text.splitlines()
    own = own_text([normalize_line(line) for line in raw_lines], verbs)
    said_above, within_above, lines_above = _split_talk(own.above, verbs, before_text)
    said_below, within_below, lines_below = _split_talk(own.below, verbs, before_text)
    within = (*within_above, *within_below)
    above = tuple(_readable_lines(lines_above, verbs))
    below = tuple(_readable_lines(lines_below, verbs))
    candidates = [line.text for line in (*above, *below, *within) if first_word(line.text) in verbs]
    ended = frozenset(
        n for n, line in enumerate(raw_lines, 1) if line.rstrip().endswith((".", "!", ",", "…"))
    )
    said = (*said_above, *said_below)
    return ReplyText(above, below, tuple(candidates)[:MAX_CANDIDATES], ended, said, within)


def _split_talk(
    lines: Sequence[ReplyLine], verbs: Collection[str], before_text: Collection[str]
) -> tuple[list[str], list[ReplyLine], list[ReplyLine]]:
    """What `say …` tells the table, each to the end of its paragraph; lines of that, and what stands between
    `;`, which may be lines of play; and the other lines."""
    said: list[str] = []
    within: list[ReplyLine] = []
    rest: list[ReplyLine] = []
    is_talk = False
    for line in lines:
        word, _, text = line.text.partition(" ")
        if word.casefold().rstrip(":") == "say" and text.strip():
            is_talk = True
            said.append(text.strip())
            found = _lines_within(line.number, text.strip(), verbs)
            is_speech = first_word(text.strip()) in before_text
            within += [each for each in found if not (is_speech and text.strip().startswith(each.text))]
        elif is_talk and line.text and not line.text.casefold().startswith(_DEVICE_SIGNATURES):
            said[-1] = f"{said[-1]} {line.text}"
            within += _lines_within(line.number, line.text, verbs)
        else:
            is_talk = False
            rest.append(line)
    told = [*said[: MAX_SAID - 1], *filter(None, [" ".join(said[MAX_SAID - 1 :])])]
    return told, within, rest


def _lines_within(number: int, text: str, verbs: Collection[str]) -> list[ReplyLine]:
    """A text, and what stands between `;` in it, as far as these may be lines of play."""
    texts = dict.fromkeys([*(part.strip() for part in text.split(";")), text])
    found = [line for each in texts for line in _readable_lines([ReplyLine(number, each)], verbs)]
    return [line for line in found if first_word(line.text) in verbs]


def _readable_lines(lines: Sequence[ReplyLine], verbs: Collection[str]) -> Iterator[ReplyLine]:
    """The lines without device signatures and comments, with wrapped moves joined, and split at `;` between
    moves and before `say`.
    """
    plain = [
        line
        for line in lines
        if not line.text.casefold().startswith(_DEVICE_SIGNATURES) and not _is_beside(line.text)
    ]
    for line in _join_wrapped(plain, verbs):
        text, *said = _TALK_BEHIND.split(line.text, maxsplit=1)
        verb = first_word(move_text(text, verbs))
        if verb not in verbs or verb in _BEFORE_TEXT or "#" in text:
            text, said = line.text, []
        parts = [part.strip() for part in text.split(";") if part.strip()]
        words = [first_word(part) for part in parts]
        are_lines = all(word in verbs for word in words) and _BEFORE_TEXT.isdisjoint(words[:-1])
        if len(parts) > 1 and are_lines and words[0] not in ("standing", "show"):
            yield from (ReplyLine(line.number, move_text(part, verbs)) for part in parts)
        else:
            yield ReplyLine(line.number, move_text(text.strip(), verbs))
        yield from (ReplyLine(line.number, each) for each in said)


def _is_beside(line: str) -> bool:
    """Whether a line is a comment, or stands for a picture: `[image: logo.png]`."""
    is_picture = _PICTURE.fullmatch(line) is not None and not unclear_lines.qualifies(line)
    return is_picture or (line.startswith("#") and not line[1:2].isdigit())


def _join_wrapped(lines: Sequence[ReplyLine], verbs: Collection[str]) -> list[ReplyLine]:
    """Join moves that were wrapped: a line ends in `,` or `-`, or had no room for the next word."""
    out: list[ReplyLine] = []
    for line in lines:
        last = out[-1].text if out else ""
        word = line.text.split(" ", 1)[0]
        is_open = last.endswith((",", "-")) and any(map(str.isdigit, last))
        wrapped = is_open or len(last) + 1 + len(word) > 68
        if last and line.text and wrapped and first_word(last) in verbs and first_word(word) not in verbs:
            glue = "" if last.endswith("-") else " "
            out[-1] = ReplyLine(out[-1].number, last + glue + line.text)
        else:
            out.append(line)
    return out


# --- what is meant (step 3) ---

MAX_MOVES = 40
MAX_LINE = 500  # characters of a move
MAX_JUDGED = 80  # own lines that are read; a longer reply is not clear

NEARLY = "it is nearly a move, but not quite"
QUALIFYING = "it may change what the moves mean"
OF_COMMENT = "its comment may change what the move means"
BESIDE = "it stands right beside a move and cannot be read"
ASKING = "it asks a question"
IN_TALK = "it stands in what you say to the table, which goes on to the next blank line"
TALK_BESIDE = "`say` needs a line of its own, so the table is not told this"
ABOUT_MOVES = frozenset({QUALIFYING, OF_COMMENT, BESIDE, ASKING})
"""Reasons of prose that is in doubt only because of what stands beside it."""
IN_TWO_PLACES = "there are moves above the quoted email too"

CONDITION = re.compile(
    r"\b(?:if|unless|maybe|perhaps|not|only|wait|or|but|rather|instead|except|later|tomorrow|wenn|falls|oder"
    r"|aber|nicht|nur|vielleicht|sauf|mais|ou|peut-être|pero|quizás|forse|oppure|maar|misschien)\b|\?",
    re.IGNORECASE,
)
"""In a comment behind a move, or behind `yes`: words that make it depend on something, or ask."""

Paragraph = Sequence[ReplyLine]


def judge(reply: ReplyText, readable: Collection[str], vocabulary: Vocabulary) -> ParsedReply:
    """Decide what of a reply is meant as moves. readable: those of its candidates that the game can read."""
    above = _Part(reply.above, reply.ended, readable, vocabulary)
    below = _Part(reply.below, reply.ended, readable, vocabulary)
    is_above_empty = not (above.lines or above.unclear or reply.within_talk)
    if is_above_empty and (below.lines or below.unclear):
        below.ignored = [*above.ignored, *below.ignored]
        return below.judged(is_below=True)
    if above.lines:
        above.unclear += [UnclearLine(line, IN_TWO_PLACES) for line in below.lines[:10]]
    if in_talk := [line for line in reply.within_talk if line.text in readable]:
        above.unclear += [UnclearLine(line, IN_TALK) for line in in_talk[:10]]
        above.meant = sorted([*above.meant, *in_talk])
    return above.judged(misplaced=tuple(line.text for line in below.lines[:10]))


class _Part:
    """The sender's lines above or below the quote: moves, lines that leave a doubt, harmless prose."""

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
        self._has_moves = any(map(self._is_move, lines))
        self._in_signature = False  # whether a closing or a signature was read, and no move since
        said = [line for line in lines if first_word(line.text) == "say" and " " in line.text]
        self.unclear += [UnclearLine(line, TALK_BESIDE) for line in said]
        lines = [line for line in lines if line not in said]
        for paragraph in _paragraphs(lines[:MAX_JUDGED]):
            if any(map(self._is_move, paragraph)):
                self._judge_beside(paragraph)
            else:
                self._judge_apart(paragraph)
        if len(lines) > MAX_JUDGED and any(map(self._is_move, lines[MAX_JUDGED:])):
            self._add_unclear(lines[MAX_JUDGED], f"the reply has more than {MAX_JUDGED} lines")
            self._meant_is_known = False

    def _is_move(self, line: ReplyLine) -> bool:
        return line.text in self._readable

    def _add(self, line: ReplyLine, reason: str | None) -> None:
        if reason:
            self._add_unclear(line, reason)
        else:
            self.ignored.append(line.text)

    def _add_move(self, line: ReplyLine) -> None:
        self._in_signature = False
        self.lines.append(line)
        self.meant.append(line)
        comment = comment_of(line.text)
        if not comment or self._vocabulary.has_our_comment(line.text):
            return
        # A setting comes back with our comment on it, which has words such as `after`.
        is_move = first_word(line.text) in self._vocabulary.game_verbs
        doubts = unclear_lines.qualifies if is_move else unclear_lines.retracts
        if not (doubts(comment) or CONDITION.search(comment)):
            return
        if not small_talk.is_harmless_paragraph([comment], self._vocabulary, False, is_above=True):
            self.unclear.append(UnclearLine(line, OF_COMMENT))
            self.meant[-1] = ReplyLine(line.number, without_comment(line.text))

    def _add_unclear(self, line: ReplyLine, reason: str, is_signed: bool = False) -> None:
        """is_signed: it stands in a signature, and may be a motto."""
        self.unclear.append(UnclearLine(line, reason))
        is_long, begins_well = (
            len(words_of(line.text)) >= 4,
            first_word(line.text) in self._vocabulary.game_verbs,
        )
        if reason != NEARLY or (is_long and is_signed):
            return
        nearest = unclear_lines.nearest_line(line.text, self._vocabulary, 0.6)
        if not (nearest or self._has_moves):
            nearest = unclear_lines.line_of_sentence(line.text, self._vocabulary)
        if nearest:
            self.meant.append(ReplyLine(line.number, nearest))
        elif begins_well or not is_long:
            self._meant_is_known = False

    # --- paragraphs with a move ---

    def _judge_beside(self, paragraph: Paragraph) -> None:
        for at, line in enumerate(paragraph):
            if self._is_move(line):
                self._add_move(line)
            else:
                reason = self._doubt_beside(paragraph, at)
                self._add(line, reason)
                is_below = any(map(self._is_move, paragraph[:at]))
                self._in_signature = self._in_signature or (is_below and reason is None)

    def _doubt_beside(self, paragraph: Paragraph, at: int) -> str | None:
        """Why a line in a paragraph with a move leaves a doubt; None for a greeting, a closing, a
        signature.
        """
        line = paragraph[at].text
        is_last = not any(map(self._is_move, paragraph[at + 1 :]))
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
        if not any(map(self._is_move, paragraph[:at])):
            harmless = small_talk.is_harmless_paragraph([line], self._vocabulary, False, True)
            return None if harmless and paragraph[at].number in self._ended else BESIDE
        return None if is_last and small_talk.is_signature_like(line, self._vocabulary.names) else BESIDE

    # --- paragraphs without one ---

    def _judge_apart(self, paragraph: Paragraph) -> None:
        if any(unclear_lines.is_mail_footer(line.text) for line in paragraph):
            self._in_signature = True
            self.ignored += [line.text for line in paragraph]
            return
        opens = small_talk.opens_signature(paragraph[0].text, self._vocabulary)
        is_signed = self._in_signature or (bool(self.lines) and opens)
        near = [
            line
            for line in paragraph
            if unclear_lines.nearly_move(line.text, self._vocabulary, may_be_name=True)
        ]
        for line in near:
            self._add_unclear(line, NEARLY, is_signed)
        if near:
            return
        text = [line.text + ("." if line.number in self._ended else "") for line in paragraph]
        is_harmless = not self._has_moves or small_talk.is_harmless_paragraph(
            text, self._vocabulary, self._in_signature, is_above=not self.lines
        )
        asks = ASKING if any("?" in line.text for line in paragraph) else QUALIFYING
        for at, line in enumerate(paragraph):
            self._add(line, None if is_harmless or at else asks)
        self._in_signature = is_signed

    # --- the outcome ---

    def judged(self, *, misplaced: tuple[str, ...] = (), is_below: bool = False) -> ParsedReply:
        moves, ignored = tuple(self.lines), tuple(self.ignored)
        fault = _fault(moves) or _fault([each.line for each in self.unclear if each.reason == NEARLY])
        if not self.unclear or fault:
            return ParsedReply(moves, ignored, misplaced, fault, is_below=is_below)
        meant = tuple(self.meant) if self._meant_is_known and len(self.meant) <= MAX_MOVES else ()
        return ParsedReply((), ignored, misplaced, None, tuple(self.unclear), meant, is_below)


def _paragraphs(lines: Sequence[ReplyLine]) -> list[list[ReplyLine]]:
    found: list[list[ReplyLine]] = [[]]
    for line in lines:
        if line.text:
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [paragraph for paragraph in found if paragraph]


def _fault(moves: Sequence[ReplyLine]) -> ReplyFault | None:
    if len(moves) > MAX_MOVES:
        return ReplyFault(
            moves[MAX_MOVES], f"An email may have {MAX_MOVES} moves; this one has {len(moves)}."
        )
    for line in moves:
        if "\ufffd" in line.text:
            return ReplyFault(line, "A character of this line is damaged.")
        if any(unicodedata.category(char) in {"Cc", "Cf", "Co", "Cn", "Cs"} for char in line.text):
            return ReplyFault(line, "This line has invisible control characters.")
        if len(line.text) > MAX_LINE:
            return ReplyFault(line, f"This line is longer than {MAX_LINE} characters.")
    return None
