"""A reply for a seat as it is read: its lines, what is not clear about them, what an unclear one would do.
`ReplyReader` reads as the game and the commands of the service do.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import dropwhile, takewhile

import engine
from bot.email.pages.answer_pages import AcceptedLine
from bot.email.pages.turn_pages import offered_lines
from bot.email.replies.yes_and_no import ANSWERING, COURTESIES, DECISIVE, NO_WORDS, YES_WORDS, is_plain_yes
from bot.hub.command import GAME_WORDS, Commands
from bot.hub.request import POLL_PREFIX
from bot.position.pending import engine_seat
from mail.reading.line_text import first_word, normalize_line, without_comment, words_of
from mail.reading.parser import ParsedMail
from mail.reading.reply_text import ABOUT_MOVES, MAX_LINE, ParsedReply, ReplyText, judge, split_reply
from mail.reading.small_talk import greets, is_friendly
from mail.reading.unclear_lines import (
    MAX_SENTENCE,
    Vocabulary,
    nearest_line,
    qualifies,
    starts_as_condition,
    without_idioms,
)
from mail.reply_address import ReplyToken

POLICY_VERBS = frozenset({"start", "stop", "unsubscribe", "yes", "confirm"})
_GREETING_END = re.compile(r"[,!.] | - ")
MAX_LEGAL_LINES = 400  # that a reply is compared with
MAX_COMPARED_LINES = 3  # of a reply, with legal lines by what they speak of
MAX_WORDS_OF_COMMAND = 2  # in a line that is no move; more are prose
HEADER_WORD = "from"
"""Begins the head of a quoted email, as no line of a reply does; `from E11 east` comes as `show from …`."""
YES_CODE = re.compile(r"(?:yes|confirm):? ([a-z2-7]{12})")
"""A code is as `HeldLineStore` makes it: any other word behind `yes` is none."""
_POLICY_LINE = re.compile(rf"start|stop|unsubscribe|{YES_CODE.pattern}")
_PROSE = re.compile(r"note that\b|(?:try|plan) to\b", re.IGNORECASE)
"""Begins a sentence, though a command with any text behind it begins so too."""
_FROM_HEX = re.compile(r"\s*from [a-z@]{1,2}\d{1,2} [a-z]{4,5}-?(?:east|west)?[.?]?\s*", re.IGNORECASE)
"""A question that begins as the head of a quoted email does, and is none."""
_SPEAKER = re.compile(r"[\s*•–-]{0,4}[^\W_]+(?: [^\W_]+){0,8} ?")
_WANTS_NO_EMAILS = re.compile(r"\b(?:unsubscribe|(?:stop|no more|remove)\b.*\be?-?mails?)\b", re.IGNORECASE)
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
    def answer(self) -> tuple[str, ...]:
        """The first lines that do not greet, to the next blank one."""
        texts = (_without_greeting(line.text) for line in self.text.own)
        return tuple(takewhile(bool, dropwhile(lambda text: not text or greets(text), texts)))

    @property
    def word(self) -> str:
        """The first word of the answer; of `No problem, yes!` it is `yes`, and of `Sorry, no` it is `no`."""
        words = words_of(without_idioms(" ".join(self.answer[:1])))
        return next((word for word in words if word not in COURTESIES), "")

    @property
    def says_no(self) -> bool:
        """Whether the reply says no, and nothing else but courtesies."""
        return self.word in NO_WORDS and set(words_of(self.answer[0])) <= NO_WORDS | COURTESIES

    @property
    def says_yes(self) -> bool:
        """Whether the reply says yes, without a condition right below, and nothing that could be played."""
        answer, *beside = self.answer or [""]
        if any(starts_as_condition(line) or qualifies(line) for line in beside):
            return False
        return is_plain_yes(answer) and not self.parsed.lines and not self.parsed.unclear

    @property
    def agreed(self) -> tuple[str, ...]:
        """The moves of a reply in which nothing is doubtful but a plain `yes` above them."""
        meant = tuple(line.text for line in self.parsed.meant)
        if len(self.parsed.unclear) != 1 or not meant or any(map(_is_for_policy, meant)):
            return ()
        doubt = self.parsed.unclear[0].line
        is_above = doubt.number < self.parsed.meant[0].number
        return meant if is_above and self.word in YES_WORDS and is_plain_yes(doubt.text) else ()

    @property
    def repeated(self) -> tuple[str, ...]:
        """The move behind `yes` in a reply of one line: `Yes, pass`. It may be advice to somebody else, so it
        only answers the question whether that move is meant."""
        meant, names = tuple(line.text for line in self.parsed.meant), self.reader.vocabulary.names
        own = [line for line in self.text.lines if not is_friendly(line) and not set(words_of(line)) <= names]
        yes, _, move = own[0].partition(" ") if len(own) == 1 else ("", "", "")
        is_yes = yes.rstrip(",.!:").casefold() in YES_WORDS
        return meant if is_yes and (move.casefold(),) == tuple(map(str.casefold, meant)) else ()

    @property
    def to_confirm(self) -> tuple[AcceptedLine, ...]:
        """What an unclear reply would do: the lines that it means but for the doubt, else the one that its
        only line is like; of `yes` and `no` to the offer of another player, what answers it."""
        (first, *more), near = self.parsed.unclear or (None,), self.near_lines
        meant = tuple(line.text for line in self.parsed.meant)
        is_only_line = not more and len(self.text.candidates) <= 1
        if not meant and first and is_only_line and len(near) == 1 and not qualifies(first.line.text):
            meant = near
        if {"accept", "decline"} <= set(self.reader.vocabulary.legal_lines) and not (meant or first):
            meant = ("accept",) if self.says_yes else ("decline",) if self.says_no else ()
        return self.reader.lines_to_confirm(meant)

    @property
    def suggestions(self) -> tuple[str, ...]:
        """Lines that a reply without any may mean, else those that are legal."""
        vocabulary = self.reader.vocabulary
        texts = [*(each.line.text for each in self.parsed.unclear), *self.parsed.ignored][:MAX_COMPARED_LINES]
        short = [text for text in texts if len(text) <= MAX_SENTENCE]
        spoken_of = dict.fromkeys(line for text in short for line in vocabulary.similar(text)[:3])
        of_each_kind: dict[str, str] = {}
        for line in vocabulary.legal_lines:
            of_each_kind.setdefault(first_word(line), line)
        return self.near_lines or tuple(spoken_of) or tuple(of_each_kind.values())

    @property
    def wants_no_emails(self) -> bool:
        """Whether a reply asks in prose for no more emails."""
        return not self.parsed.unclear and any(map(_WANTS_NO_EMAILS.search, self.text.lines))

    @property
    def near_lines(self) -> tuple[str, ...]:
        """Lines that are like what a reply says; for who asks in prose for no more emails the word that ends
        them."""
        if self.wants_no_emails:
            return ("stop",)
        vocabulary = self.reader.vocabulary
        unclear = [normalize_line(each.line.text) for each in self.parsed.unclear]
        similar, legal = self.reader.commands.similar, vocabulary.lower_legal_lines
        near = [nearest_line(text, vocabulary, 0.5) for text in unclear]
        short = [
            line
            for line in self.parsed.ignored
            if len(line.split()) <= MAX_WORDS_OF_COMMAND and not set(words_of(line)) <= ANSWERING
        ]
        near += map(similar, [*(text for text in unclear if text.casefold() not in legal), *short])
        return tuple(filter(None, dict.fromkeys(near)))


def _is_for_policy(line: str) -> bool:
    """Whether a line is about emails, or confirms one with its code: no line of the game."""
    return _POLICY_LINE.fullmatch(line.casefold()) is not None


def _without_greeting(line: str) -> str:
    """The answer in a line that greets before it: `yes` of `Hi Bob, yes!`; any other line as it is."""
    greeting, *rest = _GREETING_END.split(line, maxsplit=1)
    words = set(words_of(" ".join(rest)))
    is_answer = words <= ANSWERING and not words.isdisjoint(DECISIVE)
    return rest[0] if is_answer and not line.endswith(",") and greets(greeting) else line


def is_about_vote(token: ReplyToken) -> bool:
    """Whether a token is of an email about a vote."""
    return (token.decision_id or "").startswith(POLL_PREFIX)


def suggested_lines(token: ReplyToken, reply: ReadReply) -> Sequence[str]:
    """Lines that a reply may mean which has none."""
    return ("accept vote", "decline vote") if is_about_vote(token) else reply.suggestions


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
        self.commands, self._state, self._seat = commands, state, seat
        self._choices, self._reads = choices, reads

    def read(self, mail: ParsedMail, address: str = "") -> ReadReply:
        """Read a mail from the owner of an address."""
        verbs, names = self.vocabulary.verbs, self.vocabulary.names
        text = split_reply(
            _without_own_name(_with_show(mail.text), names, verbs), verbs, self.commands.words_before_text
        )
        readable = set(filter(_is_for_policy, text.candidates))
        if self._reads:
            readable |= self._readable([line for line in text.candidates if line not in readable])
        own = {word for part in (mail.sender_name, address.partition("@")[0]) for word in words_of(part)}
        parsed = judge(text, readable, replace(self.vocabulary, names=names | own))
        return ReadReply(text, self._with_questions(parsed), self)

    def _with_questions(self, parsed: ParsedReply) -> ParsedReply:
        """Questions change nothing, so prose beside them leaves no doubt: `help`, *I am lost*."""
        texts = {each.line.text: each.reason for each in parsed.unclear}
        prose = [
            text
            for text, reason in texts.items()
            if (reason in ABOUT_MOVES or qualifies(text)) and not set(words_of(text)) <= ANSWERING
        ]
        asks_only = parsed.meant and all(query_in(self.commands, line.text) for line in parsed.meant)
        if not asks_only or len(prose) < len(texts):
            return parsed
        return parsed._replace(lines=parsed.meant, unclear=(), meant=(), ignored=(*parsed.ignored, *prose))

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """What the seat can say now; without a seat, what the service reads itself."""
        state, seat = self._state, self._seat
        verbs = line_verbs(self.commands) | POLICY_VERBS
        if state is None or seat is None:
            return Vocabulary(verbs)
        lines = tuple(choice.line for choice in self._choices[:MAX_LEGAL_LINES])
        symbols = frozenset([*state.companies, *state.private_owners])
        names = frozenset(words_of(state.players[seat]))
        game = _ALWAYS | {first_word(line) for line in lines}
        offered = partial(offered_lines, state, seat, self._choices)
        similar = partial(engine.nearest_lines, state, engine_seat(seat))
        return Vocabulary(verbs, game, symbols, lines, names, offered, similar)

    def _is_command(self, line: str) -> bool:
        """Whether a line is a command of the service in full."""
        state = self._state
        companies, players = (state.companies, state.players) if state else ((), ())
        is_prose = _PROSE.match(line) is not None
        return not is_prose and self.commands.read_line(without_comment(line), companies, players)

    def _readable(self, lines: Sequence[str]) -> set[str]:
        """Those of the lines that the game or the service can read, each after those before it."""
        state, lines = self._state, [line for line in lines if len(line) <= MAX_LINE]
        found = set(filter(self._is_command, lines))
        before = ""  # the last line that was read; it is played only where another has to be read after it
        for line in lines:
            if state is None or self._seat is None or line in found or "?" in without_comment(line):
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

    def lines_to_confirm(self, lines: Sequence[str]) -> tuple[AcceptedLine, ...]:
        """Lines with what they would do; commands of the service without. None if they cannot all be carried
        out."""
        are_commands = all(map(self._is_command, lines))
        return self.try_lines(lines) or tuple(AcceptedLine(line, "") for line in lines if are_commands)


def line_verbs(commands: Commands) -> frozenset[str]:
    """The words that begin a line."""
    return (commands.words | GAME_WORDS | {"show"}) - {HEADER_WORD}


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
