"""The types that are stored as bytes, described as plain data, and whether a new version can read old bytes.

msgspec identifies a tagged struct by its tag (the class name), and a field by its name. So the description
has tags and field names in it, but no names of untagged classes: these can be renamed freely.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec.inspect as inspect

from bot.hub.notifications.messages import Notification
from bot.hub.request import CommandResult
from engine import State
from engine.core.events import AnyEvent

ROOTS: dict[str, Any] = {
    "state": State,
    "event": AnyEvent,
    "result": CommandResult,
    "notification": Notification,
}
"""What is stored: snapshots, rows of the move log, results of requests, messages of the outbox."""

Schema = Any
"""The name of a scalar (`int`), `<Tag>`, or a dict with one key: list, dict, tuple, enum, union or struct."""


def stored_types() -> dict[str, Schema]:
    """The schema of every root, and as `<Tag>` that of every tagged struct in it."""
    schemas: dict[str, Schema] = {}
    for name, root in ROOTS.items():
        schemas[name] = _schema(inspect.type_info(root), schemas)
    return dict(sorted(schemas.items()))


def _schema(kind: inspect.Type, schemas: dict[str, Schema]) -> Schema:
    match kind:
        case inspect.StructType(tag=tag) if tag is not None:
            name = f"<{tag}>"
            if name not in schemas:
                schemas[name] = {}  # a struct may contain itself
                schemas[name] = _fields(kind, schemas)
            return name
        case inspect.StructType() | inspect.DataclassType():
            return _fields(kind, schemas)
        case inspect.NamedTupleType(fields=fields):
            return {"tuple": [_schema(field.type, schemas) for field in fields]}
        case inspect.UnionType(types=types):
            return {"union": sorted((_schema(one, schemas) for one in types), key=str)}
        case inspect.DictType(key_type=key, value_type=value):
            return {"dict": [_schema(key, schemas), _schema(value, schemas)]}
        case inspect.TupleType(item_types=items):
            return {"tuple": [_schema(item, schemas) for item in items]}
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            return {"list": _schema(item, schemas)}
        case inspect.SetType(item_type=item) | inspect.FrozenSetType(item_type=item):
            return {"list": _schema(item, schemas)}
        case inspect.EnumType(cls=cls):
            return {"enum": sorted(member.value for member in cls)}
        case inspect.LiteralType(values=values):
            return {"enum": sorted(values)}
        case inspect.NoneType():
            return "None"
        case _:
            return type(kind).__name__.removesuffix("Type").lower()


def _fields(kind: inspect.StructType | inspect.DataclassType, schemas: dict[str, Schema]) -> Schema:
    return {
        "struct": {
            field.encode_name: {"type": _schema(field.type, schemas), "required": field.required}
            for field in kind.fields
        }
    }


def incompatibilities(old: dict[str, Schema], new: dict[str, Schema]) -> Iterator[str]:
    """Why the new types cannot read what the old types have written, one sentence each."""
    for name, schema in old.items():
        if name not in new:
            yield f"{name} is gone or has another name now."
        else:
            yield from _differences(schema, new[name], name)


def _differences(old: Schema, new: Schema, where: str) -> Iterator[str]:
    if old == new:
        return
    if _kind(new) == "union" or _kind(old) == "union":
        olds, news = (schema["union"] if _kind(schema) == "union" else [schema] for schema in (old, new))
        for one in olds:
            if all(list(_differences(one, other, where)) for other in news):
                yield f"{where} can no longer be {one}."
        return
    if _kind(old) != _kind(new) or isinstance(old, str):
        yield f"{where} was {old} and is {new}."
        return
    match _kind(old):
        case "enum":
            for value in sorted(set(old["enum"]) - set(new["enum"])):
                yield f"{where} can no longer be {value!r}."
        case "list":
            yield from _differences(old["list"], new["list"], f"{where}[]")
        case "dict" | "tuple" as kind:
            if len(old[kind]) != len(new[kind]):
                yield f"{where} had {len(old[kind])} items and has {len(new[kind])}."
            for number, (one, other) in enumerate(zip(old[kind], new[kind], strict=False)):
                yield from _differences(one, other, f"{where}[{number}]")
        case _:
            yield from _field_differences(old["struct"], new["struct"], where)


def _field_differences(old: dict[str, Schema], new: dict[str, Schema], where: str) -> Iterator[str]:
    for name, field in old.items():
        if name not in new:
            yield f"{where}.{name} is gone or has another name now."
        else:
            yield from _differences(field["type"], new[name]["type"], f"{where}.{name}")
            if new[name]["required"] and not field["required"]:
                yield f"{where}.{name} has lost its default."
    for name in new.keys() - old.keys():
        if new[name]["required"]:
            yield f"{where}.{name} is new and has no default."


def _kind(schema: Schema) -> str:
    return next(iter(schema)) if isinstance(schema, dict) else "name"
