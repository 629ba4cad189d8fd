"""What can go wrong, each said in one sentence for people."""


class StoreError(Exception):
    """The store could not do it."""


class WriteConflict(StoreError):
    """The log has grown since the writer looked: `expected` was its last row, `actual` is."""

    def __init__(self, table_id: int, expected: int, actual: int) -> None:
        super().__init__(f"Table {table_id} is at row {actual} of its log, not at row {expected}.")
        self.table_id, self.expected_seq, self.actual_seq = table_id, expected, actual


class DuplicateRequest(StoreError):
    """A request that was already carried out."""

    def __init__(self, request: str) -> None:
        super().__init__(f"The request {request} was already carried out.")
        self.request_id = request


class AlreadyExists(StoreError):
    """A name, seat or address that is another's."""


class NotFound(StoreError):
    """Nothing there goes by that name."""


class InvalidStore(StoreError):
    """A file that is no store of Railpost, or a damaged one."""


class NewerStore(StoreError):
    """A store written by a newer Railpost."""
