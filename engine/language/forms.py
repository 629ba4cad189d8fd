"""The forms of lines, which are declared beside the actions, and the line of an action.

A form is compiled once into parts: fixed words, fields with their `FieldType`, and optional groups.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec

from engine.core.actions import Action
from engine.game import Game
from engine.language.field_types import FIELD_TYPES, FieldType


@dataclass(frozen=True)
class FormWord:
    """A fixed word of a form."""

    text: str


@dataclass(frozen=True)
class FormField:
    """The place of one or more fields of an action."""

    names: tuple[str, ...]
    field_type: FieldType


@dataclass(frozen=True)
class FormGroup:
    """Words and fields that may be left out together."""

    parts: tuple[FormWord | FormField, ...]


FormPart = FormWord | FormField | FormGroup
Form = tuple[FormPart, ...]


@cache
def parse_form(text: str) -> Form:
    """The parts of a form as it is declared beside its action."""
    parts: list[FormPart] = []
    for group, word in re.findall(r"\[([^]]*)\]|(\S+)", text):
        if group:
            parts.append(FormGroup(tuple(_parse_form_word(w) for w in group.split())))
        else:
            parts.append(_parse_form_word(word))
    return tuple(parts)


def _parse_form_word(text: str) -> FormWord | FormField:
    names, colon, kind = text.partition(":")
    return FormField(tuple(names.split(",")), FIELD_TYPES[kind]) if colon else FormWord(text)


@cache
def all_forms() -> tuple[tuple[type[Action], Form], ...]:
    """Every form of every action."""
    return tuple((action, parse_form(text)) for action in Action.__subclasses__() for text in action.forms)


@cache
def field_defaults(action: type[Action]) -> dict[str, Any]:
    """The default of each field that has one."""
    fields = msgspec.structs.fields(action)
    return {f.name: f.default for f in fields if f.default is not msgspec.NODEFAULT}


@cache
def forms_starting_with(word: str) -> tuple[tuple[type[Action], Form], ...]:
    """The forms that a line with that first word can have."""
    return tuple(
        shape for shape in all_forms() if not isinstance(first := shape[1][0], FormWord) or first.text == word
    )


_CompiledPart = tuple[bool, tuple[str, ...], tuple[FormWord | FormField, ...]]


@cache
def _form_parts(text: str) -> tuple[tuple[_CompiledPart, ...], frozenset[str]]:
    """The parts of a form, and all its fields.

    Each part: whether it may be left out, the fields in it, and its words and fields.
    """
    found: list[_CompiledPart] = []
    for part in parse_form(text):
        pieces = part.parts if isinstance(part, FormGroup) else (part,)
        names = tuple(n for p in pieces if isinstance(p, FormField) for n in p.names)
        found.append((isinstance(part, FormGroup), names, pieces))
    return tuple(found), frozenset(name for _, names, _ in found for name in names)


def format_action(g: Game, action: Action) -> str:
    """The full line of an action."""
    defaults = field_defaults(type(action))
    due = {name for name, default in defaults.items() if getattr(action, name) != default}
    for text in action.forms:
        parts, fields = _form_parts(text)
        if due <= fields and (line := _format_by(g, action, parts, due)) is not None:
            return line
    raise AssertionError(f"no form writes {action}")


def _format_by(g: Game, action: Action, parts: tuple[_CompiledPart, ...], due: set[str]) -> str | None:
    """The line in one form, without optional parts that are not due; None where a value is missing."""
    words: list[str] = []
    for may_lack, names, pieces in parts:
        if may_lack and due.isdisjoint(names):
            continue
        for piece in pieces:
            if isinstance(piece, FormWord):
                words.append(piece.text)
            else:
                values = tuple([getattr(action, name) for name in piece.names])
                if None in values:
                    return None
                words.append(piece.field_type.format(g, values))
    return " ".join(words)
