"""Errors of the store, and those of the database drivers as such. Each message is one sentence for people."""

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import (
    DatabaseError,
    DataError,
    InterfaceError,
    InternalError,
    OperationalError,
    SQLAlchemyError,
)


class StoreError(Exception):
    """The store could not do it."""


class WriteConflict(StoreError):
    """The table has changed since the caller read it: its log ends at `actual_seq`, not `expected_seq`, or
    it has another revision. The caller loads it again and tries once more; the message is for players."""

    def __init__(self, table_id: int, expected_seq: int, actual_seq: int) -> None:
        super().__init__(
            "Others changed this table at the same moment, and nothing of yours was done; send it again."
        )
        self.table_id, self.expected_seq, self.actual_seq = table_id, expected_seq, actual_seq


class Deadlock(StoreError):
    """Two transactions waited for each other, and this one was undone. The caller tries once more."""


class OutcomeUnknown(StoreError):
    """A commit was sent, and the database did not say whether it is stored."""

    def __init__(self) -> None:
        super().__init__("It is not known yet whether this was played; pressing again is safe.")


class DuplicateRequest(StoreError):
    """A request that was carried out before."""

    def __init__(self, request_id: str) -> None:
        super().__init__(f"The request {request_id} was already carried out.")
        self.request_id = request_id


class AlreadyExists(StoreError):
    """A name, seat, address or poll that exists already and may exist once only."""


class NotFound(StoreError):
    """There is no such row."""


class InvalidStore(StoreError):
    """A file or database that is not a Railpost store, or a damaged one."""


class DamagedStore(InvalidStore):
    """A file that a backup has to replace."""


class NewerStore(StoreError):
    """A store that a newer Railpost has written."""


log = logging.getLogger(__name__)

DRIVER_ERRORS = (SQLAlchemyError, sqlite3.Error)
UNSTORABLE = (UnicodeEncodeError, OverflowError, DataError)
"""What drivers raise for half of a surrogate pair, for a number of more than 64 bits, and on PostgreSQL for
U+0000."""

CANNOT_BEGIN = "The store cannot be written now"
CANNOT_READ = "The store cannot be read now"
NO_ANSWER = "the database does not answer; please try again in a moment"
READ_ONLY = "the database is read-only"
NOTHING_CHANGED = "The change could not be stored, and nothing was changed"


def database_message(error: BaseException) -> str:
    """What players read of an error: not where the database is, if it cannot be reached."""
    if is_away(error):
        return NO_ANSWER
    return READ_ONLY if _state(error) == TAKES_NO_CHANGES else driver_message(error)


HINTS = {"disk I/O error": "is the disk full?", "database is locked": "by another program; end that"}
"""What SQLite's own words leave open."""


def driver_message(error: BaseException) -> str:
    """The first line of the database's own message, without the statement."""
    message = str(error.__cause__ or error).partition("\n")[0].rstrip(".")
    return f"{message} ({HINTS[message]})" if message in HINTS else message


AWAY_STATES = ("08", "57P", "53300", "25P03")
"""Beginnings of PostgreSQL's error codes: no connection, the server stops or starts, too many connections, a
transaction that was idle for too long."""
DEADLOCK = "40P01"
"""PostgreSQL has undone the transaction, because it and another waited for each other."""
TAKES_NO_CHANGES = "25006"
"""As those servers say that others host, when their disk is full."""


def is_away(error: BaseException) -> bool:
    """Whether PostgreSQL cannot be reached. Only the driver knows an error without a code of the server."""
    of_server = type(getattr(error, "orig", error)).__module__.startswith("psycopg")
    return (
        of_server
        and isinstance(error, OperationalError | InternalError)
        and (_state(error) or "08").startswith(AWAY_STATES)
    )


def may_pass(error: BaseException) -> bool:
    """Whether a later attempt may succeed: the database is away, locked or read-only, or the disk is full.

    SQLite reports a wrong statement in the same class, with the code SQLITE_ERROR.
    """
    code = getattr(getattr(error, "orig", None), "sqlite_errorcode", None)
    return isinstance(error, OperationalError) and code != sqlite3.SQLITE_ERROR


def _state(error: BaseException) -> str | None:
    """PostgreSQL's code of an error."""
    return getattr(getattr(error, "orig", None), "sqlstate", None)


@contextmanager
def as_store_errors(what: str) -> Iterator[None]:
    """Raise StoreError for whatever the database raises in the block. `what`: `The store cannot be read now`.

    What is no fault of the disk, the file or the connection is a mistake of ours, and is logged with its
    traceback.
    """
    try:
        yield
    except UNSTORABLE as error:
        raise StoreError(f"{what}: a text or a number in it cannot be stored.") from error
    except DRIVER_ERRORS as error:
        if _state(error) == DEADLOCK:
            raise Deadlock(f"{what}: others were changing the same; please try again.") from error
        is_damage = type(error) is DatabaseError  # SQLite says so of a malformed file, and of nothing else
        is_known = is_damage or is_away(error) or _state(error) == TAKES_NO_CHANGES
        if not isinstance(error, OperationalError | InterfaceError | sqlite3.Error) and not is_known:
            log.error("%s", what, exc_info=error)
        raise StoreError(f"{what}: {database_message(error)}.") from error
