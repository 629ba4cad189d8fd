"""Events, frames and actions are found by their base class: each can be read as it was written."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Any, get_args

import msgspec
import pytest
from msgspec import inspect

from engine.core.actions import Action
from engine.core.events import AnyEvent, Event, EventWithoutPieces, TrackEvent
from engine.core.state import AnyFrame, Frame
from engine.language.forms import all_forms

SCALARS = {inspect.IntType: 7, inspect.StrType: "x", inspect.BoolType: True, inspect.NoneType: None}
BASES = {EventWithoutPieces, TrackEvent}
"""Classes below `Event` that only have something in common."""


def classes_below(base: type[Any]) -> Iterator[type[Any]]:
    for each in base.__subclasses__():
        yield each
        yield from classes_below(each)


def sample(kind: inspect.Type) -> Any:
    """A value of that type, with something in every field and every collection."""
    match kind:
        case inspect.StructType(cls=cls, fields=fields):
            return cls(**{field.name: sample(field.type) for field in fields})
        case inspect.UnionType(types=types):
            return sample(types[0])
        case inspect.DictType(key_type=key, value_type=value):
            return {sample(key): sample(value)}
        case inspect.TupleType(item_types=items):
            return tuple(map(sample, items))
        case inspect.ListType(item_type=item):
            return [sample(item)]
        case inspect.VarTupleType(item_type=item):
            return (sample(item),)
        case inspect.LiteralType(values=values):
            return values[-1]
        case inspect.EnumType(cls=cls):
            return next(iter(cls))
    return SCALARS[type(kind)]


@pytest.mark.parametrize(
    ("base", "union"),
    [(Event, AnyEvent), (Frame, AnyFrame), (Action, reduce(or_, (action for action, _ in all_forms())))],
)
def test_each_class_is_read_as_it_was_written_and_no_other(base: type, union: Any) -> None:
    classes = set(get_args(union))
    assert classes == set(classes_below(base)) - BASES
    for each in classes:
        written = sample(inspect.type_info(each))
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(written), type=union) == written
    for name in ("Unknown", base.__name__, *(other.__name__ for other in BASES)):
        with pytest.raises(msgspec.ValidationError, match=f"Invalid value '{name}'"):
            msgspec.msgpack.decode(msgspec.msgpack.encode({"type": name}), type=union)
