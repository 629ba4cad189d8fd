"""Reads a reply for a seat as the game and the commands of the service do: its lines, what is not clear about
them, what an unclear one would do, and what it asks to be shown.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial

import engine
from bot.email.pages.answer_pages import AcceptedLine
from bot.email.pages.turn_pages import offered_lines
from bot.hub.command import Commands
from bot.position.pending import engine_seat
from mail.reading.line_text import first_word, normalize_line, without_comment, words_of
from mail.reading.parser import ParsedMail
from mail.reading.reply_text import ParsedReply, ReplyText, judge, split_reply
from mail.reading.unclear_lines import Vocabulary, nearest_line

POLICY_VERBS = frozenset({"start", "stop", "unsubscribe", "yes", "confirm"})
YES_WORDS = frozenset({"yes", "y", "yep", "yeah", "ja", "oui", "si", "sí", "sim", "tak"})
MAX_LEGAL_LINES = 400  # that a reply is compared with
HEADER_WORD = "from"
"""Begins the head of a quoted email, as no line of a reply does; `from E11 east` comes as `show from …`."""
_POLICY_LINE = re.compile(r"start|stop|unsubscribe|(?:yes|confirm):? [a-z0-9]{4,40}")
_FROM_HEX = re.compile(r"\s*from [a-z@]{1,2}\d{1,2} [a-z]{4,5}-?(?:east|west)?[.?]?\s*", re.IGNORECASE)
"""A question that begins as the head of a quoted email does, and is none."""
_SPEAKER = re.compile(r"[\s*•–-]{0,4}[^\W_]+(?: [^\W_]+){0,8} ?")
_ALWAYS = frozenset("pass done buy bid par sell lay token run pay withhold".split())


@dataclass(frozen=True, slots=True)
class ReadReply:
    """A reply as it was read. text: the sender's own lines. reader: what has read it."""

    text: ReplyText
    parsed: ParsedReply
    reader: ReplyReader

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that are meant."""
        return tuple(line.text for line in self.parsed.lines)

    @property
    def says_yes(self) -> bool:
        """Whether the reply says yes, and nothing that could be played."""
        first = words_of(self.text.lines[0]) if self.text.lines else []
        is_yes = bool(first) and first[0] in YES_WORDS and set(first[1:]) <= YES_WORDS | {"please", "bitte"}
        return is_yes and not self.parsed.lines and not self.parsed.unclear

    @property
    def suggestions(self) -> tuple[str, ...]:
        """Legal lines that a reply without any may mean, else those that are legal."""
        vocabulary = self.reader.vocabulary
        unclear = [normalize_line(each.line.text) for each in self.parsed.unclear]
        near = [line for text in unclear if (line := nearest_line(text, vocabulary, 0.5))]
        return tuple(dict.fromkeys(near)) or vocabulary.legal_lines[:12]


class ReplyReader:
    """Reads replies for a seat at a position, `state`: None before the start. seat: None for a person without
    one, who may only ask; they read nothing where no table is meant, `reads` False. choices: of the seat.
    """

    def __init__(
        self,
        commands: Commands,
        state: engine.State | None,
        seat: int | None,
        choices: Sequence[engine.Choice] = (),
        *,
        reads: bool = True,
    ) -> None:
        self._commands, self._state, self._seat = commands, state, seat
        self._choices, self._reads = choices, reads

    def read(self, mail: ParsedMail, address: str = "") -> ReadReply:
        """Read a mail from the owner of an address."""
        verbs, names = self.vocabulary.verbs, self.vocabulary.names
        text = split_reply(_without_own_name(_with_show(mail.text), names, verbs), verbs)
        readable = {line for line in text.candidates if _POLICY_LINE.fullmatch(line.casefold())}
        if self._reads:
            readable |= self._readable([line for line in text.candidates if line not in readable])
        own = {word for part in (mail.sender_name, address.partition("@")[0]) for word in words_of(part)}
        return ReadReply(text, judge(text, readable, replace(self.vocabulary, names=names | own)), self)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """What the seat can say now; without a seat, what the service reads itself."""
        state, seat = self._state, self._seat
        verbs = line_verbs(self._commands) | POLICY_VERBS
        if state is None or seat is None:
            return Vocabulary(verbs)
        lines = tuple(choice.line for choice in self._choices[:MAX_LEGAL_LINES])
        symbols = frozenset([*state.companies, *state.private_owners])
        names = frozenset(words_of(state.players[seat]))
        game = _ALWAYS | {first_word(line) for line in lines}
        offered = partial(offered_lines, state, seat, self._choices)
        return Vocabulary(verbs, game, symbols, lines, names, offered)

    def _readable(self, lines: Sequence[str]) -> set[str]:
        """Those of the lines that the game or the service can read, each after those before it."""
        state = self._state
        companies, players = (state.companies, state.players) if state else ((), ())
        read = self._commands.read_line
        found = {line for line in lines if read(without_comment(line), companies, players)}
        before = ""  # the last line that was read; it is played only where another has to be read after it
        for line in lines:
            if state is None or self._seat is None or line in found or "?" in line:
                continue
            if before and (played := engine.try_line(state, engine_seat(self._seat), before)):
                state = played.state
            is_readable = engine.is_readable(state, engine_seat(self._seat), line)
            before = line if is_readable else ""
            if is_readable:
                found.add(line)
        return found

    def try_lines(self, lines: Iterable[str]) -> tuple[AcceptedLine, ...]:
        """What lines would do now, as the seat sees it; none if they cannot all be played."""
        if self._state is None or self._seat is None:
            return ()
        state = engine.visible_to(self._state, engine_seat(self._seat))
        accepted = []
        for line in lines:
            if (played := engine.try_line(state, engine_seat(self._seat), line)) is None:
                return ()
            state = played.state
            accepted.append(AcceptedLine(line, " ".join(engine.narrate(state, played.events)) or played.line))
        return tuple(accepted)


@cache
def game_verbs() -> frozenset[str]:
    """The first words of all lines of notation."""
    return frozenset(form.split()[0] for kind in engine.Action.__subclasses__() for form in kind.forms)


def line_verbs(commands: Commands) -> frozenset[str]:
    """The words that begin a line."""
    return (commands.words | game_verbs() | {"show"}) - {HEADER_WORD}


def query_in(commands: Commands, line: str) -> str | None:
    """The question in a line, as the registry knows it: `log 20`; or the lines that it tries: `try LINE`.
    It changes nothing in the game."""
    plain = without_show(commands, without_comment(line).rstrip("?!"))
    word, _, argument = plain.partition(" ")
    if word.casefold() in ("try", "plan"):
        return None if argument.casefold() == "play" else f"try {argument}".strip()
    return f"{word.casefold()} {argument.strip()}".strip() if commands.is_query(word) else None


def without_show(commands: Commands, line: str) -> str:
    """A question without the word `show` before it; any other line as it is."""
    rest = line.partition(" ")[2]
    return rest if first_word(line) == "show" and commands.is_query(first_word(rest)) else line


def merge_queries(queries: Sequence[str]) -> list[str]:
    """The queries of a mail, each once; all `try` lines together are one plan."""
    trials = [query.removeprefix("try").strip() for query in queries if first_word(query) == "try"]
    others = [query for query in queries if first_word(query) != "try"]
    return list(dict.fromkeys([*others, *([f"try {'; '.join(trials)}".strip()] if trials else [])]))


def _with_show(text: str) -> str:
    """A text with `show from E11 northeast` in the place of `from E11 northeast`."""
    lines = text.splitlines()
    return "\n".join(f"show {line.strip()}" if _FROM_HEX.fullmatch(line) else line for line in lines)


def _without_own_name(text: str, names: Collection[str], verbs: Collection[str]) -> str:
    """A text without the writer's own name before lines: `Ann: pass`, as games are written down."""

    def spoken(line: str) -> str:
        speaker, _, rest = line.partition(":")
        is_own = bool(names) and set(words_of(speaker)) == set(names) and _SPEAKER.fullmatch(speaker)
        return rest.strip() if is_own and first_word(rest.strip()) in verbs else line

    return "\n".join(map(spoken, text.splitlines()))
