"""What an answer carries beside its text: the controls by which its reader goes on, files, and what the
picture of a review shows. Picture workers import it too, so it needs neither the hub nor the store.

A control stands for a line that can be written as well. Discord shows buttons, selects and forms. By email
and in the terminal people write the lines.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

Emphasis = Literal["", "first", "good", "danger"]
"""How a button is marked: `first` is what most people want, `danger` cannot be taken back."""


class _Control(msgspec.Struct, frozen=True, tag=True):
    label: str


class Say(_Control, frozen=True):
    """Says a line, or several with `;` between them. purpose: what for, in an email, if the label does not
    tell: `To start the game`."""

    line: str
    emphasis: Emphasis = ""
    purpose: str = ""


class Ask(_Control, frozen=True):
    """Asks for a text, and says `start` with the text behind it."""

    start: str
    example: str


class Option(NamedTuple):
    """One of several lines. effect: what it does, in a few words."""

    label: str
    line: str
    effect: str = ""


class Choose(_Control, frozen=True):
    """Says one of several lines."""

    options: tuple[Option, ...]


class Show(_Control, frozen=True):
    """Shows the answer to a question, such as `map`, to the one who wants it."""

    question: str


Control = Say | Ask | Choose | Show


class ExportedFile(msgspec.Struct, frozen=True):
    """A file for the player: its name, its media type and its bytes."""

    name: str
    media_type: str
    content: bytes


class ReviewChart(msgspec.Struct, frozen=True):
    """What the picture of a review shows: (round, text) of its turning points, and each player's name with
    (cause, dollars) of what they gained."""

    marks: tuple[tuple[str, str], ...]
    bars: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
