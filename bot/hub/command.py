"""The registry of commands: the words that begin a line which is not a line of the game.

A feature describes its commands once, as values. A line has one reader, found by its first word. Help, the
completion of the terminal and what a reply by email may say are made from the forms of the commands.

A form is written as players type it: `log [N]`, `chart [worth|prices|revenue]`, `company COMPANY`. Words in
capitals are fields (`FIELDS`), brackets hold what may be left out, bars separate alternatives.

Four kinds of command differ in what they are given. A Query changes nothing. A TableCommand is carried out
while the table is held. An OpenCommand is carried out while the table goes on: a robot thinks, another table
is opened, seats are filled. A PersonCommand is about the person who writes it, at a table or at none.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from functools import cached_property

import engine
from bot.hub.info import TableInfo
from bot.hub.request import CommandResult, LineUnreadable, QueryAnswer, Request, first_word
from bot.hub.table import LiveTable
from mail.reading.line_text import without_courtesies
from storage import TableStatus

FIELDS = {
    "N": r"\d{1,4}",
    "TEXT": r".{1,80}",
    "LINES": r".+",
    "NAME": r".{1,40}",
    "ADDRESS": r"\S+@\S+",
    "COMPANY": r"(?P<company>.{1,40}?)",
    "PLAYER": r"(?P<player>.{1,40}?)",
    "PRIVATE": r"[\w&]{1,5}",
    "TILE": r"#?\w?\d\w{0,3}",
    "HEX": r"[A-Za-z@]{1,2}\d{1,2}",
    "DIRECTION": r"[a-z]{4,5}-?(?:east|west)?",
    "FORMAT": r"[\w.-]{1,20}",
    "COMMAND": r"[a-z]{3,10}",
    "MOMENT": r"(?:start|opening|(?:(?:stock|operating|merger) round |[a-z]{2,4} ?)?[\d.]{1,8})",
}
"""What stands in each field of a form. A company and a player have to exist."""

GAME_WORDS = frozenset(form.split()[0] for kind in engine.Action.__subclasses__() for form in kind.forms)
"""Words that begin lines of the game."""

_PARTS = re.compile(r"\[[^\]]*\]|\S+")
_WORDS_OF_FIELDS = frozenset(FIELDS)

MAX_WORDS_OF_SIMILAR, MAX_SHORT = 4, 4
"""A text of more words is a sentence, and no command with a wrong word. A word alone of so few letters may
differ more from the command that it means."""

SHARED_WORDS = frozenset({"accept", "decline", "bid", "standing"})
"""Words that begin lines of the game too: `accept` and `decline` answer a vote where one is open, `bid` with
a limit and `standing protect` leave orders. Each of these commands says when it applies."""


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write a command. meaning: for help; a form without one is not listed. help_text: how help
    shows the form, if not as `text`. pattern: what an email may say, if the form does not tell."""

    text: str
    meaning: str = ""
    help_text: str = ""
    pattern: str = ""

    @property
    def needs_argument(self) -> bool:
        """Whether a field of the form may not be left out."""
        parts = (part for part in _PARTS.findall(self.text) if not part.startswith("["))
        return any(not _WORDS_OF_FIELDS.isdisjoint(part.split("|")) for part in parts)

    @property
    def takes_any_text(self) -> bool:
        """Whether any words make a line of this form."""
        return not {"TEXT", "LINES"}.isdisjoint(re.split(r"[\s\[\]]+", self.text))

    @property
    def next_words(self) -> frozenset[str]:
        """The words that may follow the name."""
        second = "".join(_PARTS.findall(self.text)[1:2]).strip("[]")
        return frozenset(second.partition(" ")[0].split("|")) - _WORDS_OF_FIELDS

    @property
    def unknown_field(self) -> str:
        """A word in capitals that is no field, where the form has no pattern; empty if there is none."""
        words = re.split(r"[\s\[\]|]+", "" if self.pattern else self.text)
        return next((word for word in words if word != word.lower() and word not in FIELDS), "")

    @property
    def regex(self) -> str:
        """What a line of this form looks like, as a regular expression."""
        return self.pattern or _regex_of(self.text)

    def completions(self) -> Iterator[str]:
        """The beginnings of lines that a terminal offers, up to the first field."""
        fixed: list[str] = []
        for part in _PARTS.findall(self.text):
            words = part.strip("[]")
            has_field = not _WORDS_OF_FIELDS.isdisjoint(re.split(r"[ |]", words))
            if not part.startswith("[") and not has_field:
                fixed.append(part)
                continue
            yield " ".join(fixed) + " " * (not part.startswith("["))
            if not has_field:
                yield from (" ".join([*fixed, word]) for word in words.split("|"))
            return
        yield " ".join(fixed)


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """A question about a table. seat: who asks, None for somebody without a seat. word: the command.
    argument: the rest of the line."""

    table: LiveTable
    seat: int | None
    word: str
    argument: str


class Lines(Enum):
    """Which other lines a request may have beside the line of a command."""

    NONE = "none"
    SAME_HANDLER = "lines of commands with the same handler"
    ALL = "whatever follows its line"
    ANY = "whatever stands around its line"


@dataclass(frozen=True, slots=True)
class Query:
    """A command that changes nothing. answer: None for an argument that cannot be read; raises ValueError. It
    gets no argument where no form has one."""

    name: str
    forms: tuple[Form, ...]
    answer: Callable[[QueryRequest], Awaitable[QueryAnswer | None]]
    others = Lines.NONE

    async def read(self, query: QueryRequest) -> QueryAnswer | LineUnreadable:
        """What follows a line that begins with the name. Raises ValueError with a sentence."""
        usage = " or ".join(f"`{form.help_text or form.text}`" for form in self.forms)
        if not query.argument and all(form.needs_argument for form in self.forms):
            raise ValueError(f"`{query.word}` is not complete; write {usage}.")
        takes_argument = any(" " in form.text for form in self.forms)
        if (takes_argument or not query.argument) and (answer := await self.answer(query)):
            return answer
        line = f"{query.word} {query.argument}".strip()
        reason = f"`{line}` cannot be read; write {usage}."
        return LineUnreadable(0, line, reason)


def text_query(
    name: str, text: Callable[[QueryRequest], str], *forms: Form, picture: str | None = None
) -> Query:
    """A question whose answer is a text. text: may raise ValueError. picture: goes with the answer."""

    async def answer(query: QueryRequest) -> QueryAnswer:
        return QueryAnswer(name, text(query), picture, argument=query.argument)

    return Query(name, forms, answer)


def _always(table: LiveTable, request: Request) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class TableCommand:
    """A command that is carried out at a held table.

    handler: None where the line turns out to be one of the game; may raise ValueError with a sentence, which
    refuses the request. applies: whether the line is meant for the command at this table at all; for the
    `SHARED_WORDS`.
    """

    name: str
    forms: tuple[Form, ...]
    handler: Callable[[LiveTable, Request], Awaitable[CommandResult | None]]
    others: Lines = Lines.NONE
    applies: Callable[[LiveTable, Request], bool] = _always


@dataclass(frozen=True, slots=True)
class OpenCommand:
    """A command that is carried out while the table goes on.

    handler: gets the table's info; the table is not locked. It returns a result, or the text of an answer,
    and raises ValueError. needs_seat: for people who sit at the table of a game that has started; else for
    everybody. statuses: of the tables at which it is read, if not of all; its word may begin a line of the
    game, or be another command, at the others. from_outside: it may be said in an email that names the
    table, without a reply to one about it; so may all with statuses.
    """

    name: str
    forms: tuple[Form, ...]
    handler: Callable[[TableInfo, Request], Awaitable[CommandResult | str]]
    needs_seat: bool = True
    statuses: tuple[TableStatus, ...] = ()
    from_outside: bool = False
    others = Lines.NONE


@dataclass(frozen=True, slots=True)
class PersonCommand:
    """A command about a person themselves. handler: gets their id and the lines; raises ValueError."""

    name: str
    forms: tuple[Form, ...]
    handler: Callable[[int, Sequence[str]], Awaitable[QueryAnswer]]
    others: Lines = Lines.SAME_HANDLER


Command = Query | TableCommand | OpenCommand | PersonCommand


class Commands:
    """All commands of a service."""

    def __init__(self) -> None:
        self._commands: dict[str, Command] = {}
        self._by_status: dict[str, dict[TableStatus, OpenCommand]] = {}

    def add(self, commands: Iterable[Command]) -> None:
        """Register commands.

        Raises ValueError for a name that another command or a line of the game has, and for a form with an
        unknown field.
        """
        for command in commands:
            if isinstance(command, OpenCommand) and command.statuses:
                found = self._by_status.setdefault(command.name, {})
                if not found.keys().isdisjoint(command.statuses):
                    raise ValueError(f"Two features have a command `{command.name}`.")
                found |= dict.fromkeys(command.statuses, command)
                continue
            if command.name in self._commands:
                raise ValueError(f"Two features have a command `{command.name}`.")
            if command.name in GAME_WORDS - SHARED_WORDS:
                raise ValueError(f"The command `{command.name}` begins a line of the game.")
            for form in command.forms:
                if unknown := form.unknown_field:
                    raise ValueError(
                        f"`{form.text}` has an unknown field, {unknown}; there are {', '.join(FIELDS)}. For "
                        "another give the form a pattern."
                    )
            self._commands[command.name] = command
            self.__dict__.pop("_patterns", None)

    def get(self, word: str) -> Command | None:
        """The command of that name, or the question that is written with `?` or `!`; None for a word of the
        game."""
        name = word.casefold()
        found = self._commands.get(name.rstrip("?!"))
        return found if isinstance(found, Query) else self._commands.get(name)

    def depends_on_status(self, word: str) -> bool:
        """Whether the word is a command at tables of some statuses only."""
        return word in self._by_status

    def at_status(self, word: str, status: TableStatus) -> OpenCommand | None:
        """The command of that name at tables of a status only."""
        return self._by_status.get(word, {}).get(status)

    def from_outside(self, word: str, status: TableStatus | None = None) -> bool:
        """Whether the word is a command, at tables of that status or of any, that needs no reply to an email
        about the table."""
        if status is not None and self.at_status(word, status) is not None:
            return True
        command = self.get(word)
        named = isinstance(command, OpenCommand) and command.from_outside
        return named or (status is None and self.depends_on_status(word))

    @property
    def at_any_table(self) -> list[OpenCommand]:
        """The commands that are carried out at a table of any status, also by somebody without a seat."""
        found = [each for each in self._commands.values() if isinstance(each, OpenCommand)]
        return [each for each in found if not each.needs_seat]

    def reader(self, table: LiveTable, request: Request) -> Command | None:
        """The command that reads the lines of a request; None if they are for the game."""
        found = [self._applying(line, table, request) for line in request.lines]
        for command in found:
            if command is not None and command.others is Lines.ANY:
                return command
        first = found[0] if found else None
        if first is None or len(found) == 1 or first.others is Lines.ALL:
            return first
        if first.others is not Lines.SAME_HANDLER:
            return None
        handlers = {getattr(each, "handler", None) for each in found}
        return first if len(handlers) == 1 else None

    def _applying(self, line: str, table: LiveTable, request: Request) -> Command | None:
        command = self.get(first_word(line))
        if isinstance(command, TableCommand) and not command.applies(table, request):
            return None
        return command

    def stands_alone(self, line: str) -> bool:
        """Whether a line cannot be submitted with lines of the game."""
        command = self.get(first_word(line))
        if command is None or command.name in SHARED_WORDS:
            return line.casefold().split()[1:] == ["vote"]
        return command.others is not Lines.ANY

    def is_of_another(self, line: str, table: LiveTable, request: Request, reader: TableCommand) -> bool:
        """Whether a line is for another command that lines of the game may stand beside."""
        command = self._applying(line, table, request)
        is_for_reader = getattr(command, "handler", None) == reader.handler
        return command is not None and command.others is Lines.ANY and not is_for_reader

    @property
    def words(self) -> frozenset[str]:
        """The names of all commands."""
        return frozenset(self._commands)

    @property
    def words_before_text(self) -> frozenset[str]:
        """The names of the commands behind which any text may stand."""
        named = self._commands.items()
        return frozenset(name for name, each in named if any(form.takes_any_text for form in each.forms))

    def is_personal(self, line: str) -> bool:
        """Whether a line is a command about oneself in full."""
        command = self.get(first_word(line))
        return isinstance(command, PersonCommand) and any(
            re.fullmatch(form.regex, line.strip(), re.IGNORECASE) for form in command.forms
        )

    def may_be_move(self, line: str) -> bool:
        """Whether a line may be meant for the game."""
        word = first_word(line)
        return word in SHARED_WORDS or self.get(word) is None

    def is_query(self, word: str) -> bool:
        """Whether the word is the name of a question."""
        return isinstance(self.get(word), Query)

    def help_lines(self) -> list[str]:
        """Each form with what it does, as `help` lists them."""
        forms = [form for command in self._commands.values() for form in command.forms if form.meaning]
        return [f"  {(form.help_text or form.text).ljust(21)}{form.meaning}" for form in forms]

    @property
    def personal_forms(self) -> list[Form]:
        """The forms with a meaning of the commands about oneself."""
        commands = [each for each in self._commands.values() if isinstance(each, PersonCommand)]
        return [form for command in commands for form in command.forms if form.meaning]

    def forms_at(self, status: TableStatus) -> list[Form]:
        """The forms with a meaning of the commands at tables of a status only."""
        found = (commands.get(status) for commands in self._by_status.values())
        return [form for command in found if command for form in command.forms if form.meaning]

    def completions(self, *, queries: bool = False) -> list[str]:
        """The beginnings of all lines that are commands, or only of those that are questions."""
        commands = (c for c in self._commands.values() if isinstance(c, Query) or not queries)
        return [text for command in commands for form in command.forms for text in form.completions()]

    def read_line(self, text: str, companies: Iterable[str], players: Iterable[str]) -> bool:
        """Whether a text is a command in full, and not a sentence that begins like one."""
        return self._is_read(text, self._patterns.values(), companies, players)

    @staticmethod
    def _is_read(
        text: str, patterns: Iterable[re.Pattern[str]], companies: Iterable[str], players: Iterable[str]
    ) -> bool:
        for pattern in patterns:
            if (match := pattern.fullmatch(text)) is None:
                continue
            named = match.groupdict()
            company, player = named.get("company"), named.get("player")
            if (company is None or company.strip().casefold() in {c.casefold() for c in companies}) and (
                player is None or player.strip().casefold() in {p.casefold() for p in players}
            ):
                return True
        return False

    def similar(self, text: str) -> str:
        """The command in full that a text may mean which is none: `undo` for `udno pls`, `auto pass` for
        `autopass`, `map` for `show map`; empty if there is none, and never a note, which may be anything."""
        words = re.findall(r"[^\s/!`]+", without_courtesies(text.casefold(), self.words))
        if words[:1] == ["show"]:
            del words[0]
        if not 0 < len(words) <= MAX_WORDS_OF_SIMILAR:
            return ""
        first, others = words[0].rstrip(":,."), words[1:]
        joined = sorted(filter(first.startswith, self.words), key=len, reverse=True)
        beginnings = [[name, *first.removeprefix(name).strip("-").split()] for name in joined]
        is_short = not others and len(first) <= MAX_SHORT
        alike = get_close_matches(first, self.words, 1, 0.65 if is_short else 0.75)
        beginnings += [[name] for name in alike if name not in joined]
        patterns = [pattern for form, pattern in self._patterns.items() if not form.takes_any_text]
        for name, *ending in beginnings:
            rest = [*ending, *others]
            following = [word for form in self._commands[name].forms for word in form.next_words]
            rest[:1] = get_close_matches("".join(rest[:1]), following, 1, 0.65) or rest[:1]
            for count in range(len(rest), len(ending) - 1, -1):
                line = " ".join([name, *rest[:count]])
                if self._is_read(line, patterns, (), ()):
                    return line
        return ""

    @cached_property
    def _patterns(self) -> dict[Form, re.Pattern[str]]:
        return {
            form: re.compile(
                rf"(?:show )?{form.regex}[?!]?" if isinstance(command, Query) else form.regex, re.I
            )
            for command in self._commands.values()
            for form in command.forms
        }


def lines_about(help_text: str, word: str) -> str:
    """The lines of a help about a word; *redo* finds `undo, redo  undo your last move`. Raises ValueError."""
    lines = help_text.splitlines()
    heads = [line.strip().partition("  ")[0].split(", ") for line in lines]
    found = [
        line for line, head in zip(lines, heads, strict=True) if word.casefold() in map(first_word, head)
    ]
    if not found:
        raise ValueError(f"No line begins with `{word}` now; `help` lists all.")
    return "\n".join(found)


def _regex_of(form: str) -> str:
    """`log [N]` becomes `log(?: \\d{1,4})?`."""
    found = ""
    for part in _PARTS.findall(form):
        words = [
            "|".join(FIELDS.get(choice, re.escape(choice)) for choice in word.split("|"))
            for word in part.strip("[]").split(" ")
        ]
        text = (" " if found else "") + " ".join(f"(?:{word})" for word in words)
        found += f"(?:{text})?" if part.startswith("[") else text
    return found
