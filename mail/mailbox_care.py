"""Keeps the mailbox from filling up: mail that was dealt with is deleted after some days, and a mailbox that
is nearly full is reported.

It has a connection of its own, once an hour, so the one that waits for new mail is not disturbed.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Protocol

from mail.imap import ConnectionLost, ImapAccount, ImapConnection, LoginRefused, MailboxFull, Quota
from mail.port import Folder

log = logging.getLogger(__name__)

NEARLY_FULL = 90  # percent
INTERVAL = 3600.0  # seconds
TIMEOUT = 60.0  # seconds for a command


class ErasedPeople(Protocol):
    """The people who want to be forgotten."""

    async def erased_addresses(self) -> list[str]:
        """The addresses whose mail is still to be deleted."""

    async def mailbox_is_erased(self, addresses: Sequence[str]) -> None:
        """Their mail is deleted."""


class MailboxCaretaker:
    """Runs until it is cancelled. keep_days: for which mail stays after it was dealt with; 0 without an end.

    tidied: is called after each time with how full the mailbox is, in words; empty when there is room.
    erased: whose mail is deleted, whatever its age; None for nobody's.
    """

    def __init__(
        self,
        account: ImapAccount,
        keep_days: int,
        tidied: Callable[[str], Awaitable[None]],
        erased: ErasedPeople | None = None,
        *,
        interval: float = INTERVAL,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._account = account
        self._keep_days = keep_days
        self._tidied = tidied
        self._erased = erased
        self._interval = interval
        self._now = now
        self._deleted_before: date | None = None

    async def run(self) -> None:
        """Look after the mailbox until cancelled."""
        while True:
            try:
                await self.tidy()
            except (ConnectionLost, LoginRefused, MailboxFull) as error:
                log.warning("mailbox: it could not be tidied: %s", error)
            except Exception:
                log.exception("mailbox: it could not be tidied; another attempt follows")
            await asyncio.sleep(self._interval)

    async def tidy(self) -> None:
        """Delete old mail that was dealt with, once for each day, then say how full the mailbox is."""
        imap = await ImapConnection.open(self._account, TIMEOUT)
        try:
            day = (self._now() - timedelta(days=self._keep_days)).date()
            if self._keep_days and day != self._deleted_before:
                for folder in Folder:
                    if count := await imap.delete_before(folder, day):
                        log.info("mailbox: %d emails from before %s are deleted from %s", count, day, folder)
                self._deleted_before = day
            if self._erased and (addresses := await self._erased.erased_addresses()):
                for address in addresses:
                    for folder in Folder:
                        await imap.delete_with(folder, address)
                await self._erased.mailbox_is_erased(addresses)
            await self._tidied(fullness(await imap.quota()))
        finally:
            await imap.close()


def fullness(quota: Quota | None) -> str:
    """What is to be said of a mailbox that is nearly full; empty for one with room."""
    if quota is None or quota.percent < NEARLY_FULL:
        return ""
    return (
        f"the mailbox is {quota.percent} % full ({quota.used} of {quota.limit} KiB), and without room "
        "players' emails bounce. Give it more room, or lower RAILPOST_MAIL_KEEP_DAYS"
    )
