"""Errors of the store. Each message is one sentence for people."""


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


class NewerStore(StoreError):
    """A store that a newer Railpost has written."""
