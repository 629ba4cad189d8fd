"""Reads the files of scenarios in this folder: rule tests as short texts, written from the books alone.

    %def MONEY                  lines with a name, up to %end
    @ cash Ann 500
    %end
    ## 7_1_1 conversion | players Ann, Bob | conventions 18xx.games
    $MONEY                      the lines of that name
    Ann: convert

A scenario begins with `##`: the section and what it shows, then the players (if not Ann, Bob and Cid), the
options of the table, and `refused WORDS` where no table can be so, with the words of the sentence that says
why. What follows is a game text as in `notation.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DEFAULT_PLAYERS = "Ann, Bob, Cid"
WORDS = ("players", "refused")
"""The first words of parts of a header that are no options."""


class Scenario(NamedTuple):
    """A scenario of a title: its name, players, options and lines, and why it is refused (if it is)."""

    title: str
    name: str
    players: str
    options: tuple[str, ...]
    body: str
    refused: str


def scenarios(path: Path) -> Iterator[Scenario]:
    """The scenarios of a file, whose name begins with the title."""
    title = path.stem.partition("-")[0]
    definitions: dict[str, list[str]] = {}
    header, lines = "", list[str]()
    target = lines
    for line in [*path.read_text(encoding="utf-8").splitlines(), "## "]:
        if line.startswith("%def "):
            target = definitions.setdefault(line.removeprefix("%def ").strip(), [])
        elif line == "%end":
            target = lines
        elif line.startswith("## "):
            if header:
                yield _scenario(title, header, lines)
            header, lines = line, []
            target = lines
        elif line.startswith("$"):
            target.extend(definitions[line[1:].strip()])
        else:
            target.append(line)


def _scenario(title: str, header: str, lines: list[str]) -> Scenario:
    name, *rest = (part.strip() for part in header.removeprefix("## ").split("|"))
    said = {word: p.removeprefix(f"{word} ") for p in rest for word in WORDS if p.startswith(f"{word} ")}
    options = tuple(part for part in rest if part.split()[0] not in WORDS)
    players, refused = said.get("players", DEFAULT_PLAYERS), said.get("refused", "")
    return Scenario(title, name, players, options, "\n".join(lines), refused)
