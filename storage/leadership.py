"""One process at a time does a job: reads the mailbox, does what is due, holds the session of a shard.

The right to a job is a lock that ends with its holder, however that ends (`storage.job_locks`). The others
look at it every second. A holder that loses the lock to another stops its work. For that moment two processes
may be at work; what they do is safe then too, because rows are taken and requests have ids.

A holder that cannot ask the server goes on: the lock may have ended, but nobody else can get it meanwhile,
and a player who presses a button reads why nothing happens. When the server is back, the others leave the
holder a moment to get its lock again. Only where the holder alone is cut off from the server can another get
the lock; so work that somebody waits for should let others answer first while its holder is
`uncertain`.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

from sqlalchemy import URL

from storage.job_locks import ANSWER_TIMEOUT, Hold, JobLock, first_line, job_lock

log = logging.getLogger(__name__)

LOOK_INTERVAL = 1.0  # seconds between two looks at a lock, by its holder and by those who wait for it
HEAD_START = 2.5  # seconds for a holder to get its lock again when the server is back

JobState = Literal["standing by", "leading", "uncertain"]
"""What a process does of a job. Uncertain: it goes on, and its server cannot be asked for the lock."""

Work = Callable[[], Awaitable[None]]
Report = Callable[[JobState], None]


def tell_nobody(_: JobState) -> None:
    """For work whose state nobody wants to know."""


async def lead(url: URL, jobs: Sequence[str], work: Work, report: Report = tell_nobody) -> None:
    """Do some work whenever this process has the lock on all its jobs, and stop when another has it.

    Returns when the work returns. Raises what the work raises. report: is told every second how this process
    stands with the jobs.
    """
    names = ", ".join(jobs)
    while True:
        lock = job_lock(url, jobs)
        try:
            await _wait_for(lock, names, report)
            report("leading")
            if await _work_while_held(lock, work, names, report):
                return
            log.warning("another process has taken this job: %s; this one stops it", names)
        finally:
            await lock.release()
        report("standing by")
        await asyncio.sleep(LOOK_INTERVAL)


async def _wait_for(lock: JobLock, names: str, report: Report) -> None:
    """Try until the lock is ours."""
    says_standing_by, trouble = False, ""
    while not (attempt := await _acquire(lock, HEAD_START if trouble else 0.0)).succeeded:
        if attempt.trouble and not trouble:  # once for each time that the database is away
            log.warning("these jobs cannot be taken now: %s: %s", names, attempt.trouble)
        trouble = attempt.trouble
        report("standing by")
        if not says_standing_by and not trouble:
            log.info("another process does this job: %s; this one stands by", names)
            says_standing_by = True
        await asyncio.sleep(LOOK_INTERVAL)
    if says_standing_by or trouble:
        log.info("this process does this job now: %s", names)


class Attempt(NamedTuple):
    """Whether the lock was got; if it could not be tried, why."""

    succeeded: bool
    trouble: str = ""


async def _acquire(lock: JobLock, head_start: float) -> Attempt:
    """Try to get the lock; a database that is away is tried again."""
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT + head_start):
            return Attempt(await lock.acquire(head_start))
    except ImportError:
        raise
    except Exception as error:  # of the driver, of the operating system, or no answer in time
        await lock.release()
        return Attempt(False, first_line(error))


async def _work_while_held(lock: JobLock, work: Work, names: str, report: Report) -> bool:
    """Work until the work is done; False if another got the lock before."""
    task, hold = asyncio.ensure_future(work()), "held"
    try:
        while not task.done():
            await asyncio.wait({task}, timeout=LOOK_INTERVAL)
            if task.done():
                break
            former, hold = hold, await lock.look()
            if hold == "lost":
                return False
            report("leading" if hold == "held" else "uncertain")
            if hold != former:
                _log_certainty(names, hold, lock.trouble)
        await task
        return True
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task


def _log_certainty(names: str, hold: Hold, trouble: str) -> None:
    if hold == "held":
        log.info("the database answers again, and this process still does this job: %s", names)
    else:
        log.warning(
            "the database does not answer (%s); this process goes on with its job: %s", trouble, names
        )
