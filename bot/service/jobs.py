"""The jobs of this process that one process of a store does at a time, and how it stands with each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import msgspec

from storage import JobState, Store, Work


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
