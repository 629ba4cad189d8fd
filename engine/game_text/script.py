"""The text of a game: what its lines are, before any of them is played.

A header (title, players, options), a line `---`, then moves `Ann: line`, refusals `!Ann: line`,
moves played only where legal `?Ann: line`, checkpoints `= words`, set-up lines `@ words` ahead of
the first move, and `> until X`. `#` starts a comment unless a digit follows.
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
_EXPECTATIONS: dict[str, Expectation] = {"!": "must not", "?": "may", "": "must"}
_PREFIXES = {how: mark for mark, how in _EXPECTATIONS.items()}


class ScriptError(ValueError):
    """A line of a text that is none, or says what cannot be. `line` counts from 1."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(f"line {line}: {sentence}")
        self.line = line
        self.message = sentence


class ScriptMove(NamedTuple):
    """A line of notation said by a seat, which must be legal, must not be, or may be."""

    line: int
    seat: str
    text: str
    expectation: Expectation = "must"


class Checkpoint(NamedTuple):
    """What must hold at this point of the game."""

    line: int
    text: str


class SetupLine(NamedTuple):
    """What is so from the start."""

    line: int
    text: str


class UntilCommand(NamedTuple):
    """Declining goes on until this comes."""

    line: int
    condition: str


ScriptItem = ScriptMove | Checkpoint | UntilCommand


@dataclass(frozen=True, slots=True)
class Script:
    """A text that was read: the game as it begins, its set-up, and the rest in order."""

    start: State
    setup: tuple[SetupLine, ...]
    items: tuple[ScriptItem, ...]


NumberedLines = list[tuple[int, str]]


def read_script(text: str) -> Script:
    """Give every line its type. Raises Malformed for the first that has none."""
    lines = [(n, plain) for n, raw in enumerate(text.splitlines(), 1) if (plain := _normalized(raw))]
    rule = next((i for i, (_, line) in enumerate(lines) if line == "---"), None)
    if rule is None:
        last = lines[-1][0] if lines else 1
        raise ScriptError(last, "the line --- between header and game is missing.")
    start = _read_header(lines[:rule], lines[rule][0])
    items = list(_read_items(start, lines[rule + 1 :]))
    return Script(
        start,
        tuple(i for i in items if isinstance(i, SetupLine)),
        tuple(i for i in items if not isinstance(i, SetupLine)),
    )


def _normalized(raw: str) -> str:
    return " ".join(re.sub(r"#(?!\d).*", "", raw.removeprefix("\ufeff")).split())


def _read_header(header: NumberedLines, end: int) -> State:
    """The game that the header describes, at its first question."""
    said: dict[str, tuple[int, str]] = {}
    options: list[str] = []
    for number, line in header:
        word, _, rest = line.partition(" ")
        word = word.casefold()
        if word not in ("title", "players", "option") or not rest:
            raise ScriptError(
                number, f"a header has title, players and option lines; {line!r} is none of them."
            )
        if word == "option":
            options.append(rest.casefold())
            _check_options(said, number, options)
        elif word in said:
            raise ScriptError(number, f"the {word} line was there before, in line {said[word][0]}.")
        else:
            said[word] = (number, rest)
    for word in ("title", "players"):
        if word not in said:
            raise ScriptError(end, f"the header has no {word} line.")
    number, title = said["title"]
    try:
        title_of(title)
        number = said["players"][0]
        names = [" ".join(name.split()) for name in said["players"][1].split(",")]
        return new_game(title, names, options).state
    except ValueError as wrong:
        raise ScriptError(number, str(wrong)) from None


def _check_options(said: Mapping[str, tuple[int, str]], number: int, options: Sequence[str]) -> None:
    """The options so far go together; the one of this line is the last."""
    if "title" not in said:
        raise ScriptError(number, "options come after the title.")
    try:
        title_of(said["title"][1], tuple(options))
    except ValueError as wrong:
        raise ScriptError(number, str(wrong)) from None


def _read_items(start: State, lines: NumberedLines) -> Iterator[ScriptItem | SetupLine]:
    begun = False
    for number, line in lines:
        mark, rest = line[0], line[1:].strip()
        if mark == "@":
            if begun:
                raise ScriptError(number, "set-up lines come before the first move.")
            yield SetupLine(number, _require_text(number, rest, "@ cash Ann 100"))
        elif mark == "=":
            yield Checkpoint(number, _require_text(number, rest, "= cash Ann 100"))
        elif mark == ">":
            begun = True
            word, _, what = rest.partition(" ")
            if word.casefold() != "until" or not what:
                raise ScriptError(number, "after > comes until and what is waited for: > until stock.")
            yield UntilCommand(number, what)
        else:
            begun = True
            yield _read_move(start, number, line)


def _require_text(number: int, rest: str, example: str) -> str:
    if not rest:
        raise ScriptError(number, f"the line says nothing; it should be like {example}.")
    return rest


def _read_move(start: State, number: int, line: str) -> ScriptMove:
    how = _EXPECTATIONS.get(line[0], "must")
    name, colon, said = (line if how == "must" else line[1:]).partition(":")
    if not colon or not said.strip():
        raise ScriptError(number, f"{line!r} is no line of a game; a move is like {start.players[0]}: pass.")
    for seat in start.seats:
        if start.name(seat).casefold() == " ".join(name.split()).casefold():
            return ScriptMove(number, seat, said.strip(), how)
    raise ScriptError(
        number, f"nobody at the table is called {name.strip()}; there is {', '.join(start.players)}."
    )


def write_script(
    title: str,
    options: Sequence[str],
    players: Sequence[str],
    moves: Sequence[tuple[str, str]],
    checkpoints: Mapping[int, Sequence[str]] | None = None,
    setup: Sequence[str] = (),
) -> str:
    """A whole game as text that `read` takes.

    `moves`: seats with what they said, in full. `checkpoints`: words that hold once so many moves
    are played (0: at the start). `setup`: words that are so from the start.
    """
    held = checkpoints or {}
    lines = [f"title {title}", f"players {', '.join(players)}", *(f"option {o}" for o in options), "---"]
    lines += [f"@ {words}" for words in setup]
    lines += [f"= {words}" for words in held.get(0, ())]
    for count, (seat, said) in enumerate(moves, 1):
        lines.append(f"{players[int(seat[1:])]}: {said}")
        lines += [f"= {words}" for words in held.get(count, ())]
    return "\n".join(lines) + "\n"
