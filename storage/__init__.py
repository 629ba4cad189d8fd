"""What Railpost remembers. It knows no rules: states, events and payloads are bytes here.

    async with await open_store("data/railpost.db") as store:
        async with store.begin() as unit:
            await unit.moves.append(table.id, expected, entries, state)
            await unit.outbox.enqueue(*parcels)

One unit is one transaction, and on the disk when its block ends. `store.read()` is a view.
"""

from storage.backup import backup, restore
from storage.errors import (
    AlreadyExists,
    DuplicateRequest,
    InvalidStore,
    NewerStore,
    NotFound,
    StoreError,
    WriteConflict,
)
from storage.models import (
    AddressClaim,
    Card,
    Channel,
    GameTable,
    Identity,
    IdentityKind,
    InboundMail,
    LogRowKind,
    MailToken,
    MoveRecord,
    NewLogRow,
    NewMessage,
    OutboxMessage,
    Person,
    PollRecord,
    Seat,
    TableSnapshot,
    TableStatus,
)
from storage.move_commit import MoveCommit, TableVersion
from storage.repositories.move_log import LineOfPlay, LogRow, ResolvedLogRow, resolve_line_of_play
from storage.repositories.outbox import QueueStatus
from storage.repositories.people import hash_secret, new_secret
from storage.repositories.votes import TablePoll
from storage.store import Store, UnitOfWork, open_store

__all__ = [
    "AddressClaim",
    "AlreadyExists",
    "Card",
    "Channel",
    "DuplicateRequest",
    "GameTable",
    "Identity",
    "IdentityKind",
    "InboundMail",
    "InvalidStore",
    "LineOfPlay",
    "LogRow",
    "LogRowKind",
    "MailToken",
    "MoveCommit",
    "MoveRecord",
    "NewLogRow",
    "NewMessage",
    "NewerStore",
    "NotFound",
    "OutboxMessage",
    "Person",
    "PollRecord",
    "QueueStatus",
    "ResolvedLogRow",
    "Seat",
    "Store",
    "StoreError",
    "TablePoll",
    "TableSnapshot",
    "TableStatus",
    "TableVersion",
    "UnitOfWork",
    "WriteConflict",
    "backup",
    "hash_secret",
    "new_secret",
    "open_store",
    "resolve_line_of_play",
    "restore",
]
