"""The site's game file: one JSON object. Its `actions` alone determine the game.

`read_site_file` checks the envelope. `active_actions` resolves undo and redo. Automatic actions stay nested
in the action that they follow. What is wrong with a file is said to people who have never seen its schema.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import msgspec

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


MAX_ACTIONS = 50_000
NOT_A_GAME = "This is not a game file of 18xx.games:"

ActionRecord = dict[str, Any]
"""An entry of `actions` as it is written."""


class SiteFileError(ValueError):
    """The file cannot be read as a game. The message is one sentence for the user."""


class NoCounterpartError(Exception):
    """What the game has done is not possible on the site; the text is a sentence about the difference."""


class SitePlayer(msgspec.Struct, frozen=True, gc=False):
    """A player of the file. Actions name them by `key`: the id, or the name where there is none."""

    name: str
    id: int | str | None = None

    @property
    def key(self) -> str:
        return str(self.name if self.id is None else self.id)


class SiteSettings(msgspec.Struct, frozen=True, gc=False):
    optional_rules: list[str] = []


class SiteAction(msgspec.Struct, frozen=True, gc=False):
    """One entry of `actions`; its type says which fields are set. `auto_actions` followed automatically."""

    type: str
    id: int = 0
    entity: int | str | None = None
    entity_type: str | None = None
    auto_actions: list[SiteAction] = []
    action_id: int | None = None
    company: str | None = None
    corporation: str | None = None
    price: int | None = None
    share_price: str | int | None = None
    shares: list[str] = []
    percent: int | None = None
    hex: str | None = None
    tile: str | None = None
    rotation: int | None = None
    city: str | None = None
    routes: list[dict[str, Any]] | None = None
    kind: str | None = None
    train: str | None = None
    variant: str | None = None
    exchange: str | None = None
    choice: str | int | None = None
    target: str | None = None
    target_type: str | None = None
    slot: int | None = None
    cost: int | None = None
    extra_revenue: int = 0
    subsidy: int = 0
    corporations: list[str] | None = None

    @property
    def entity_key(self) -> str:
        return str(self.entity)


class SiteFile(msgspec.Struct, frozen=True, gc=False):
    """A game file. `result`: dollars by player key or name at the end of the game."""

    title: str
    players: list[SitePlayer]
    actions: list[SiteAction]
    settings: SiteSettings = msgspec.field(default_factory=SiteSettings)
    result: dict[str, int] | None = None


def read_site_file(raw: bytes) -> SiteFile:
    """Decode a game file. Raises SiteFileError."""
    try:
        content = msgspec.json.decode(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise SiteFileError(f"{NOT_A_GAME} it is not UTF-8 text.") from None
    except RecursionError:
        raise SiteFileError(f"{NOT_A_GAME} it is nested too deeply.") from None
    except msgspec.DecodeError as error:
        raise SiteFileError(f"{NOT_A_GAME} {json_fault(str(error))}.") from None
    if not isinstance(content, dict):
        raise SiteFileError(f"{NOT_A_GAME} it is {kind_of(content)}, not an object with a title and actions.")
    try:
        content = _normalized(content)
        game = msgspec.convert(content, SiteFile)
    except RecursionError:
        raise SiteFileError(f"{NOT_A_GAME} it is nested too deeply.") from None
    except msgspec.ValidationError as error:
        raise SiteFileError(_first_fault(content, str(error))) from None
    _check_numbers(game)
    return game


def _check_numbers(game: SiteFile) -> None:
    """Raise SiteFileError for too many actions, or for ids that are not each one's own."""
    if len(game.actions) > MAX_ACTIONS:
        raise SiteFileError(f"The file has {len(game.actions)} actions; the limit is {MAX_ACTIONS}.")
    if len({p.key for p in game.players}) < len(game.players):
        raise SiteFileError("Two players of the file have the same id.")
    if below := next((action.id for action in game.actions if action.id < 0), 0):
        raise SiteFileError(f"An action of the file has the id {below}; ids count from 1.")
    numbers = [action.id for action in game.actions if action.id]
    for before, after in pairwise(numbers):
        if before == after:
            raise SiteFileError(f"Two actions of the file have the id {after}.")
        if before > after:
            raise SiteFileError(f"Action {after} comes after action {before}; the ids of a file ascend.")


def _first_fault(content: dict[str, Any], fault: str) -> str:
    """The sentence about the first part of the content that is not as it has to be."""
    actions = content.get("actions")
    for at, action in enumerate(actions if isinstance(actions, list) else (), 1):
        try:
            msgspec.convert(action, SiteAction)
        except msgspec.ValidationError as error:
            number = action.get("id", at) if isinstance(action, dict) else at
            return f"Action {number}: {structure_fault(str(error))}."
    return f"{NOT_A_GAME} {structure_fault(fault)}."


def _normalized(file: dict[str, Any]) -> dict[str, Any]:
    """The decoded JSON without nulls, and with results such as "$521" as numbers."""
    file = {key: _without_nulls(part) for key, part in file.items() if part is not None}
    if isinstance(result := file.get("result"), dict):
        file["result"] = {key: _dollars(value) for key, value in result.items()}
    return file


def _without_nulls(value: Any) -> Any:
    match value:
        case dict():
            return {key: _without_nulls(part) for key, part in value.items() if part is not None}
        case list():
            return [_without_nulls(part) for part in value if part is not None]
    return value


def _dollars(value: Any) -> Any:
    """A number of dollars that may be written as "$1,521" or "-$20"; anything else as it is."""
    if not isinstance(value, str):
        return value
    digits = value.replace("$", "").replace(",", "").strip()
    return int(digits) if digits.removeprefix("-").isdecimal() else value


def active_actions(actions: list[SiteAction]) -> list[SiteAction]:
    """The actions that are still in effect once undo and redo are resolved. Chat is never undone.

    Raises SiteFileError for a redo of nothing.
    """
    active: list[SiteAction] = []
    undone: list[list[SiteAction]] = []
    for action in actions:
        if action.type == "undo":
            moves = [a for a in active if a.type != "message"]
            to = action.action_id
            removed = moves[-1:] if to is None else [a for a in moves if a.id > to]
            undone.append(removed)
            removed_objects = set(map(id, removed))
            active = [a for a in active if id(a) not in removed_objects]
        elif action.type == "redo":
            if not undone:
                raise SiteFileError(f"Action {action.id}: there is nothing to redo.")
            active += undone.pop()
        else:
            if action.type != "message":
                undone.clear()
            active.append(action)
    return active
