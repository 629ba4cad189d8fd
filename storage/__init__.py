"""What Railpost remembers. It knows no rules: states, events and payloads are bytes here.

    async with await open_store("data/railpost.db") as store:
        async with store.begin() as unit:
            await unit.moves.append(table.id, expected, entries, state)
            await unit.outbox.enqueue(*parcels)

One unit is one transaction, and on the disk when its block ends. `store.read()` is a view.
"""

from storage.copies import backup, restore
from storage.deeds import Deed, Glance
from storage.errors import Missing, NewerStore, NotAStore, Repeated, Stale, StoreError, Taken
from storage.moves import Line, Logged, LogRow, resolve
from storage.outbox import Queue
from storage.people import hashed, secret_word
from storage.store import Store, Unit, open_store
from storage.tables import (
    Card,
    Channel,
    Claim,
    Entry,
    Head,
    Identity,
    IdentityKind,
    Letter,
    Message,
    Move,
    MoveKind,
    Parcel,
    Person,
    Seat,
    Status,
    Table,
    Token,
    Vote,
)
from storage.votes import Ballot

__all__ = [
    "Ballot",
    "Card",
    "Channel",
    "Claim",
    "Deed",
    "Entry",
    "Glance",
    "Head",
    "Identity",
    "IdentityKind",
    "Letter",
    "Line",
    "LogRow",
    "Logged",
    "Message",
    "Missing",
    "Move",
    "MoveKind",
    "NewerStore",
    "NotAStore",
    "Parcel",
    "Person",
    "Queue",
    "Repeated",
    "Seat",
    "Stale",
    "Status",
    "Store",
    "StoreError",
    "Table",
    "Taken",
    "Token",
    "Unit",
    "Vote",
    "backup",
    "hashed",
    "open_store",
    "resolve",
    "restore",
    "secret_word",
]
