"""Finds the orders in the text of a reply, and only those that are meant: pure, line by line, linear.

Theory of operation. A line is an order if the game can read it; the first word alone means nothing. Reading
goes in three steps, because only the service knows the game:

1. `split_reply` finds the sender's own lines (`mail.reading.quotes`) and says which of them may be orders
   (`ReplyText.candidates`);
2. the service says which of these the game can read;
3. `reply_intent.judge` decides. A reply is *clear* if every other line of it is harmless: a greeting, a
   closing, a signature, prose that neither speaks of a move nor qualifies one (`unclear_lines`). Then
   its lines are played, all or none. Otherwise nothing is played; `meant` is what the reply would be without
   the doubt, for the sender to confirm.

The orders stand above the quoted email. Where nothing stands there that could be one, lines between or below
marked quotes count by the same rules. Where orders stand in both places, the reply is not clear.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from mail.reading.line_text import first_word, normalize_line, order_text
from mail.reading.quotes import ReplyLine, own_text

MAX_CANDIDATES = 60  # lines that the game is asked about
MAX_SAID, MAX_TALK = 5, 1_000  # of one reply, the last with all that follows; characters of each
_NOT_SPLIT = frozenset({"plan", "try", "auto", "say", "standing", "show", "if"})

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
    |發自我的|发自我的
    """.replace("\n    ", "").split("|")
)


class ReplyFault(NamedTuple):
    """Why the reply cannot be read, as a sentence; `line` is None where it is about the whole."""

    line: ReplyLine | None
    reason: str


class UnclearLine(NamedTuple):
    """A line that leaves a doubt, and why: `nearly an order`, `this may change your order`."""

    line: ReplyLine
    reason: str


class ReplyText(NamedTuple):
    """The sender's own lines above the quoted email and below its beginning; device signatures and comments
    left out.

    candidates: the lines that may be orders, in their order: what the game is asked about. ended: the
    numbers of the lines that end in a punctuation mark. talk: what is said to the table. within_talk: the
    lines of it, below the first of each, that may be lines of play.
    """

    above: tuple[ReplyLine, ...]
    below: tuple[ReplyLine, ...]
    candidates: tuple[str, ...]
    ended: frozenset[int] = frozenset()
    talk: tuple[str, ...] = ()
    within_talk: tuple[ReplyLine, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """The sender's lines above the quoted email that are not blank."""
        return tuple(line.text for line in self.above if line.text)


class ParsedReply(NamedTuple):
    """A parsed reply.

    orders: what is played; empty where the reply is not clear. ignored: harmless prose. misplaced: lines
    like orders between or below quotes, which are not played. unclear: the lines that leave a doubt. meant:
    the orders of an unclear reply, if that can be said. is_below: the orders stand between or below quotes.
    """

    lines: tuple[ReplyLine, ...] = ()
    ignored: tuple[str, ...] = ()
    misplaced: tuple[str, ...] = ()
    fault: ReplyFault | None = None
    unclear: tuple[UnclearLine, ...] = ()
    meant: tuple[ReplyLine, ...] = ()
    is_below: bool = False


def split_reply(text: str, verbs: Collection[str]) -> ReplyText:
    """The sender's own lines. verbs: the first words of orders, in lower case."""
    raw_lines = text.splitlines()
    own = own_text([normalize_line(line) for line in raw_lines], verbs)
    said_above, within_above, lines_above = _split_talk(own.above, verbs)
    said_below, within_below, lines_below = _split_talk(own.below, verbs)
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
    lines: Sequence[ReplyLine], verbs: Collection[str]
) -> tuple[list[str], list[ReplyLine], list[ReplyLine]]:
    """What `say …` tells the table, each to the end of its paragraph; lines of that which may be lines of
    play; and the other lines. What is too long ends with an ellipsis."""
    said: list[str] = []
    within: list[ReplyLine] = []
    rest: list[ReplyLine] = []
    is_talk = False
    for line in lines:
        word, _, text = line.text.partition(" ")
        if word.casefold().rstrip(":") == "say" and text.strip():
            is_talk = True
            said.append(text.strip())
        elif is_talk and line.text and not line.text.casefold().startswith(_DEVICE_SIGNATURES):
            said[-1] = f"{said[-1]} {line.text}"
            within += [each for each in _readable_lines([line], verbs) if first_word(each.text) in verbs]
        else:
            is_talk = False
            rest.append(line)
    told = [*said[: MAX_SAID - 1], *filter(None, [" ".join(said[MAX_SAID - 1 :])])]
    return [t if len(t) <= MAX_TALK else f"{t[: MAX_TALK - 1].rstrip()}…" for t in told], within, rest


def _readable_lines(lines: Sequence[ReplyLine], verbs: Collection[str]) -> Iterator[ReplyLine]:
    """The lines without device signatures and comments, with wrapped orders joined and `;` between orders
    split.
    """
    plain = [
        line
        for line in lines
        if not line.text.casefold().startswith(_DEVICE_SIGNATURES) and not _is_comment(line.text)
    ]
    for line in _join_wrapped(plain, verbs):
        parts = [part.strip() for part in line.text.split(";")]
        parts = [part for part in parts if part]
        is_split = len(parts) > 1 and first_word(parts[0]) not in _NOT_SPLIT
        if is_split and all(first_word(part) in verbs for part in parts):
            yield from (ReplyLine(line.number, order_text(part, verbs)) for part in parts)
        else:
            yield ReplyLine(line.number, order_text(line.text, verbs))


def _is_comment(line: str) -> bool:
    return line.startswith("#") and not line[1:2].isdigit()


def _join_wrapped(lines: Sequence[ReplyLine], verbs: Collection[str]) -> list[ReplyLine]:
    """Join orders that were wrapped: a line ends in `,` or `-`, or had no room for the next word."""
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
