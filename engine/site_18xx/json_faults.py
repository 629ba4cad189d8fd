"""What is wrong with a JSON file, in words for people who have never seen its schema."""

from __future__ import annotations

import re
from typing import Any

_KINDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number with a fraction",
    "bool": "true or false",
    "array": "a list",
    "object": "an object with fields",
    "null": "nothing",
}
_TYPE_FAULT = re.compile(r"Expected `([^`]+)`, got `([^`]+)`(?: - at `(.*)`)?")
_MISSING = re.compile(r"Object missing required field `([^`]+)`(?: - at `(.*)`)?")


def kind_of(value: Any) -> str:
    """What a decoded JSON value is, as in "it is a list"."""
    names = {str: "str", bool: "bool", int: "int", float: "float", list: "array", dict: "object"}
    return _KINDS[names.get(type(value), "null")]


def json_fault(fault: str) -> str:
    """What a decoder says against text that is no JSON, without a full stop."""
    if "truncated" in fault:
        return "it breaks off in the middle"
    return f"it is not JSON ({fault.removeprefix('JSON is malformed: ')})"


def structure_fault(fault: str) -> str:
    """What a decoder says against JSON of the wrong structure, without a full stop."""
    if found := _MISSING.search(fault):
        place = _place(found[2])
        return f"{place + ' has' if place else 'it has'} no {found[1]}"
    if found := _TYPE_FAULT.search(fault):
        wanted = " or ".join(_KINDS.get(kind, kind) for kind in found[1].split(" | "))
        return f"{_place(found[3]) or 'it'} is {_KINDS.get(found[2], found[2])}, and has to be {wanted}"
    return fault.rstrip(".")


def _place(path: str | None) -> str:
    """The field that a path such as `$.players[0].name` leads to: `the field 'name' in 'players'`."""
    fields = [name for name in re.sub(r"\[[^]]*\]", "", path or "").split(".")[1:] if name]
    return f"the field {' in '.join(map(repr, reversed(fields)))}" if fields else ""
