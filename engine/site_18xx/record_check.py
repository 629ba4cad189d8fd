"""Whether a record of the file is whole, and whether it says what was played for it.

Theory of operation. Many records say one thing twice: the shares and their percent, a train and its variant,
who acts and whose private it is. A decoder reads what it needs. So the action that it makes of a record is
encoded again, in the position before it is played, and each field that the site reads has to come out as it
is in the file. A field that contradicts the others is refused, with what it would have to be.

Fields that are not here are read by a decoder itself (the routes of a run, the companies of a connection),
or change nothing on the site: the slot of a placed token, its `tokener`, the number of a loan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from engine.core.events import AnyEvent, CashMoved
from engine.game import Game
from engine.site_18xx.game_file import SiteAction, SiteFileError

FIELDS = {
    "pass": "",
    "bid": "company? corporation? price",
    "par": "corporation share_price",
    "buy_shares": "shares percent?",
    "sell_shares": "shares percent? share_price?",
    "short": "corporation",
    "buy_company": "company price",
    "lay_tile": "hex tile rotation",
    "place_token": "city",
    "remove_token": "city slot",
    "run_routes": "routes",
    "dividend": "kind",
    "buy_train": "train price variant? exchange?",
    "discard_train": "train",
    "choose": "choice",
    "assign": "target target_type",
    "take_loan": "",
    "payoff_loan": "",
    "convert": "",
    "merge": "corporation",
    "bankrupt": "",
    "destination_connection": "corporations",
}
"""By type of action the fields that the site reads, beside its entity. It means nothing without those that
have no question mark."""
REQUIRED = {
    kind: [field for field in fields.split() if not field.endswith("?")] for kind, fields in FIELDS.items()
}
READ_BY_DECODER = frozenset({"pass", "run_routes", "destination_connection"})
"""Types whose records are not compared."""
COMPARED = {
    kind: fields.replace("?", "").split() for kind, fields in FIELDS.items() if kind not in READ_BY_DECODER
}
MAY_BE_MISSING = frozenset({"percent", "variant", "share_price"})
"""Fields that follow from the others on the site too."""


class Replay(Protocol):
    """What is needed of the replay: the position, and the seats of the file's players."""

    game: Game

    def seat(self, key: str) -> str: ...

    def warn(self, sentence: str) -> None: ...


def check_whole(action: SiteAction) -> None:
    """Raise SiteFileError for an action without a field that it needs."""
    required = REQUIRED.get(action.type)
    if required is None:
        return
    for field in ("entity", "entity_type", *required):
        value = getattr(action, field)
        if value is None or (field == "shares" and not value):
            raise SiteFileError(f"the {action.type} has no {field}")


def compare_record(replay: Replay, record: SiteAction, expected: Mapping[str, Any]) -> None:
    """Raise SiteFileError if the record of the file is not the expected one."""
    if record.type != expected["type"]:
        raise SiteFileError(f"it is a {record.type}, and would have to be a {expected['type']}")
    said = record.entity_key if record.entity_type != "player" else replay.seat(record.entity_key)
    wanted, name = expected["entity"], f"the {expected['entity_type']} {expected['entity']}"
    if expected["entity_type"] == "player":
        wanted = replay.game.state.seats[wanted - 1]
        name = replay.game.state.name(wanted)
    if (record.entity_type, said) != (expected["entity_type"], wanted):
        entity = f"{record.entity_type} {record.entity}"
        raise SiteFileError(f"its entity is the {entity}; it would have to be {name}")
    for field in COMPARED[record.type]:
        _compare_field(replay, record, field, expected.get(field))


def _compare_field(replay: Replay, record: SiteAction, field: str, expected: Any) -> None:
    said = getattr(record, field)
    if said == expected or (said in (None, []) and field in MAY_BE_MISSING):
        if said is None and field == "percent" and expected is not None:
            replay.warn(f"the file does not say how many percent; the shares that it names are {expected} %")
        return
    if field == "shares" and sorted(said) == sorted(expected or ()):
        return
    if field == "share_price" and str(said) == str(expected).partition(",")[0]:
        return
    if said is None:
        raise SiteFileError(f"its field {field} is missing; it would have to be {_text(expected)}")
    if expected is None:
        raise SiteFileError(f"its field {field} is {_text(said)}; it would have to have none")
    raise SiteFileError(f"its field {field} is {_text(said)}; it would have to be {_text(expected)}")


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def check_token_cost(action: SiteAction, events: Iterable[AnyEvent]) -> None:
    """Raise SiteFileError where a record sets another price of a token than was paid in these events."""
    paid = sum(event.amount for event in events if isinstance(event, CashMoved))
    if action.cost is not None and action.cost != paid:
        raise SiteFileError(f"its cost is {action.cost}; the token costs ${paid:,}")
