"""Reads the files of scenarios in this folder: rule tests as short texts, written from the books alone.

    %def MONEY                  lines with a name, up to %end
    @ cash Ann 500
    %end
    ## 7_1_1 conversion | players Ann, Bob | conventions 18xx.games
    $MONEY                      the lines of that name
    Ann: convert

A scenario begins with `##`: the section and what it shows, then the players (if not Ann, Bob and Cid) and
the options of the table. What follows is a game text as in `notation.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DEFAULT_PLAYERS = "Ann, Bob, Cid"


class Scenario(NamedTuple):
    """A scenario of a title: its name, its players and options, and its lines."""

    title: str
    name: str
    players: str
    options: tuple[str, ...]
    body: str


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
    players = next((p.removeprefix("players ") for p in rest if p.startswith("players ")), DEFAULT_PLAYERS)
    options = tuple(part for part in rest if not part.startswith("players "))
    return Scenario(title, name, players, options, "\n".join(lines))
