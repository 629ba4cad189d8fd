"""The database of Railpost, on SQLite or PostgreSQL. It knows no rules: states and events are bytes here.

    async with await open_store("data/railpost.db") as store:
        async with store.begin() as unit:
            await unit.move_log.append(table.id, expected_seq, rows, state)
            await unit.outbox.enqueue(*messages)

A unit of work is one transaction, and on the disk when its block ends. `store.read()` is a read-only view.
"""

from storage.backup import backup, check_integrity, quick_check, restore
from storage.errors import (
    AlreadyExists,
    DamagedStore,
    Deadlock,
    DuplicateRequest,
    InvalidStore,
    NewerStore,
    NotFound,
    OutcomeUnknown,
    StoreError,
    WriteConflict,
)
from storage.leadership import JobState, Work
from storage.models import (
    AddressClaim,
    Card,
    Channel,
    Deputy,
    GameTable,
    Identity,
    LogRow,
    MailToken,
    MoveRecord,
    NewMessage,
    OrderRecord,
    OutboxMessage,
    Person,
    SeatRequest,
    StoredTimer,
    TableSnapshot,
    TableStatus,
)
from storage.move_commit import TableVersion
from storage.moving import move_store
from storage.repositories.clocks import (
    ABSENCE_KIND,
    ClockChanges,
    ClockRecord,
    SeatClock,
    SeatTimer,
    UnfollowedRow,
)
from storage.repositories.mail import hash_secret, new_secret
from storage.repositories.move_log import LineOfPlay, MoveCommit, numbered, resolve_line_of_play
from storage.repositories.outbox import QueueStatus
from storage.repositories.people import mail_order
from storage.repositories.settings import FORMER_STORE_IDS
from storage.store import Store, UnitOfWork, open_store
from storage.store_files import StoreLost
from storage.table_records import TablePoll, TableRecord
from storage.transaction import GuildShards
from storage.whole_files import write_whole
