"""The text format of games: reading a text into typed lines, and writing one.

A text has a header (title, players, options) and a line `---`. Then come moves `Ann: line`, refusals
`!Ann: line`, moves played only if legal `?Ann: line`, checkpoints `= words`, set-up lines `@ words`
(before the first move) and `> until X`. `!Ann: line | 1830 §19` wants a reason that cites that section.
`#` starts a comment unless a digit follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from engine.core.state import State
from engine.kernel import new_game
from engine.titles import title_of

Expectation = Literal["must", "must not", "may"]
HEADER = ("title", "players", "option")
_EXPECTATIONS: dict[str, Expectation] = {"!": "must not", "?": "may", "": "must"}


class ScriptError(ValueError):
    """A line of a game text that cannot be read, or that describes something impossible.

    `line` counts from 1; `message` is a sentence.
    """

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line
        self.message = message


class ScriptMove(NamedTuple):
    """A line of notation for a seat. It must be legal, must not be, or may be.

    `citation`: what the reason of a refusal has to cite, such as `1830 §19`; empty where any reason will do.
    """

    line: int
    seat: str
    text: str
    expectation: Expectation = "must"
    citation: str = ""


class Checkpoint(NamedTuple):
    """A condition that must hold at this point of the game."""

    line: int
    text: str


class SetupLine(NamedTuple):
    """A part of the position in which the game starts."""

    line: int
    text: str


class UntilCommand(NamedTuple):
    """Everybody declines until this condition holds."""

    line: int
    condition: str


ScriptItem = ScriptMove | Checkpoint | UntilCommand


@dataclass(frozen=True, slots=True)
class Script:
    """A text that has been read: the start of the game, the set-up lines, and the rest in order."""

    start: State
    setup: tuple[SetupLine, ...]
    items: tuple[ScriptItem, ...]


NumberedLines = list[tuple[int, str]]
"""Lines with their numbers, which count from 1."""


def read_script(text: str) -> Script:
    """Parse a game text. Raises ScriptError for the first line that has no type."""
    lines = [(n, plain) for n, raw in enumerate(text.splitlines(), 1) if (plain := _normalized(raw))]
    separator = next((i for i, (_, line) in enumerate(lines) if line == "---"), None)
    if separator is None:
        missing = "the line --- between header and game is missing"
        for number, line in lines:
            if not line.casefold().startswith(HEADER):
                raise ScriptError(number, f"{missing} before {line!r}.")
        raise ScriptError(lines[-1][0] if lines else 1, f"{missing}.")
    start = _read_header(lines[:separator], lines[separator][0])
    items = list(_read_items(start, lines[separator + 1 :]))
    return Script(
        start,
        tuple(i for i in items if isinstance(i, SetupLine)),
        tuple(i for i in items if not isinstance(i, SetupLine)),
    )


def _normalized(raw: str) -> str:
    return " ".join(re.sub(r"#(?!\d).*", "", raw.removeprefix("\ufeff")).split())


def _read_header(header: NumberedLines, end: int) -> State:
    """The game that the header describes, at its first question. `end`: the line number of `---`."""
    seen: dict[str, tuple[int, str]] = {}
    options: list[str] = []
    for line_number, line in header:
        word, _, rest = line.partition(" ")
        word = word.casefold()
        if word not in HEADER or not rest:
            raise ScriptError(
                line_number, f"a header has title, players and option lines; {line!r} is none of them."
            )
        if word == "option":
            options.append(rest.casefold())
            _check_options(seen, line_number, options)
        elif word in seen:
            raise ScriptError(line_number, f"the {word} line is repeated; it was in line {seen[word][0]}.")
        else:
            seen[word] = (line_number, rest)
    for word in ("title", "players"):
        if word not in seen:
            raise ScriptError(end, f"the header has no {word} line.")
    line_number, title = seen["title"]
    try:
        title_of(title)
        line_number = seen["players"][0]
        names = [" ".join(name.split()) for name in seen["players"][1].split(",")]
        return new_game(title, names, options).state
    except ValueError as error:
        raise ScriptError(line_number, str(error)) from None


def _check_options(seen: Mapping[str, tuple[int, str]], line_number: int, options: Sequence[str]) -> None:
    """Raise ScriptError where the options read so far do not go together."""
    if "title" not in seen:
        raise ScriptError(line_number, "option lines come after the title.")
    try:
        title_of(seen["title"][1], tuple(options))
    except ValueError as error:
        raise ScriptError(line_number, str(error)) from None


def _read_items(start: State, lines: NumberedLines) -> Iterator[ScriptItem | SetupLine]:
    has_begun = False
    for number, line in lines:
        prefix, rest = line[0], line[1:].strip()
        if prefix == "@":
            if has_begun:
                raise ScriptError(number, "set-up lines come before the first move.")
            yield SetupLine(number, _require_text(number, rest, "@ cash Ann 100"))
        elif prefix == "=":
            yield Checkpoint(number, _require_text(number, rest, "= cash Ann 100"))
        elif prefix == ">":
            has_begun = True
            word, _, condition = rest.partition(" ")
            if word.casefold() != "until" or not condition:
                raise ScriptError(number, "> is followed by until and what to wait for: > until stock.")
            yield UntilCommand(number, condition)
        else:
            has_begun = True
            yield _read_move(start, number, line)


def _require_text(number: int, rest: str, example: str) -> str:
    if not rest:
        raise ScriptError(number, f"the line is empty; it should look like {example}.")
    return rest


def _read_move(start: State, number: int, line: str) -> ScriptMove:
    expectation = _EXPECTATIONS.get(line[0], "must")
    name, colon, text = (line if expectation == "must" else line[1:]).partition(":")
    citation = ""
    if expectation == "must not":
        text, bar, citation = map(str.strip, text.partition("|"))
        if bar and not citation:
            raise ScriptError(number, f"| is followed by a section: !Ann: pass | {start.title} §17.")
    if not colon or not text.strip():
        raise ScriptError(
            number, f"{line!r} is not a line of a game; a move looks like {start.players[0]}: pass."
        )
    for seat in start.seats:
        if start.name(seat).casefold() == " ".join(name.split()).casefold():
            return ScriptMove(number, seat, text.strip(), expectation, citation)
    raise ScriptError(
        number, f"no player is called {name.strip()}; the players are {', '.join(start.players)}."
    )


def write_script(
    title: str,
    options: Sequence[str],
    players: Sequence[str],
    moves: Sequence[tuple[str, str]],
    checkpoints: Mapping[int, Sequence[str]] | None = None,
    setup: Sequence[str] = (),
) -> str:
    """The text of a whole game, as `read_script` reads it.

    `moves`: pairs of a seat and its line in full. `checkpoints`: by the number of moves played (0: at
    the start) the checkpoints that hold then. `setup`: the words of set-up lines.
    """
    by_count = checkpoints or {}
    lines = [f"title {title}", f"players {', '.join(players)}", *(f"option {o}" for o in options), "---"]
    lines += [f"@ {words}" for words in setup]
    lines += [f"= {words}" for words in by_count.get(0, ())]
    for count, (seat, text) in enumerate(moves, 1):
        lines.append(f"{players[int(seat[1:])]}: {text}")
        lines += [f"= {words}" for words in by_count.get(count, ())]
    return "\n".join(lines) + "\n"
