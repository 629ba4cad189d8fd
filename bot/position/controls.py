"""The controls of an answer: what its reader may do next.

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
