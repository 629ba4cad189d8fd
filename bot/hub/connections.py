"""What a running service talks to, and whether it is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal

import msgspec

from storage import JobState, Store, Work

ConnectionState = Literal["configured", "connected", "away", "standing by"]


class ConnectionStatus(msgspec.Struct):
    """What the service talks to: `discord`, `mail`. detail: the reason where it is away.

    Standing by: another process does what one does at a time.
    """

    name: str
    state: ConnectionState
    since: datetime
    detail: str = ""


class Job(msgspec.Struct):
    """A job that this process does, or stands by for. name: `discord`, `mailbox`, `clock`, `robots`."""

    name: str
    state: JobState
    since: datetime


class Jobs:
    """Does jobs whenever this process has them (`storage.leadership`), and knows how it stands with them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.all: dict[str, Job] = {}

    async def lead(
        self, name: str, locks: Sequence[str], work: Work, standing_by: Callable[[], None] | None = None
    ) -> None:
        """Do a job that has these locks. standing_by: is called while another process does it."""

        def report(state: JobState) -> None:
            known = self.all.get(name)
            if known is None or known.state != state:
                self.all[name] = Job(name, state, self._store.now())
            if state == "standing by" and standing_by:
                standing_by()

        await self._store.lead(locks, work, report)

    def is_uncertain(self, name: str) -> bool:
        """Whether the store cannot be asked who has the job, and this process goes on with it."""
        job = self.all.get(name)
        return job is not None and job.state == "uncertain"
