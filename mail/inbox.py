"""The watch over the mailbox: search, deal with each mail, sleep in IDLE, and begin again when the connection
dies.

The folder is the state: what lies in INBOX is to do, whatever its flags, and each mail is moved once it is
settled. A mail's bytes and the attempt are kept before anything is read; the outcome is settled before the
mail is moved. So a crash at any point repeats at most a step that the desk knows to be done: the ledger then
says so, and only the move is made up for. A mail that fails three times (or kills its reader) goes to
Quarantine, and nobody waits behind it.
"""

import hashlib
import logging
from dataclasses import dataclass
from datetime import UTC, datetime

import stamina

from .address import redact
from .clerk import Alarm, Clerk
from .desk import Desk, Folder, Outcome
from .imap import ConnectionLost, Imap, ImapAccount, LoginRefused
from .letter import Problem
from .reader import Reader, Unread

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pace:
    """Times in seconds, sizes in bytes."""

    command: float = 20.0
    idle: float = 290.0
    again: float = 60.0  # after a mail that failed
    first_retry: float = 0.5
    last_retry: float = 60.0
    refused: float = 300.0  # after a login that was refused
    big: int = 1_000_000
    glance: int = 64 * 1024
    attempts: int = 3


class Inbox:
    """Runs until it is cancelled: `await Inbox(account, desk, clerk, reader).run()`.

    `searched` is when the mailbox was last seen to its end; None before the first time.
    """

    def __init__(
        self,
        account: ImapAccount,
        desk: Desk,
        clerk: Clerk,
        reader: Reader,
        pace: Pace = Pace(),
    ) -> None:
        self._account = account
        self._desk = desk
        self._clerk = clerk
        self._reader = reader
        self._pace = pace
        self._alarm = Alarm(desk, lambda: datetime.now(UTC))
        self._floor = 1  # no mail with a UID below this is to do
        self.searched: datetime | None = None

    async def run(self) -> None:
        """Watch the mailbox for ever."""
        while True:
            imap, left = await self._opened()
            try:
                while True:
                    await imap.wait(self._pace.again if left else self._pace.idle)
                    left = await self._pass(imap, min(left, default=self._floor))
            except ConnectionLost as lost:
                log.warning("mailbox: %s; connecting again", lost)
            finally:
                await imap.close()

    async def _opened(self) -> tuple[Imap, list[int]]:
        """A connection that has been through its first pass: a server that drops us at once is not
        hammered.
        """
        async for attempt in stamina.retry_context(
            on=self._patience,
            attempts=None,
            timeout=None,
            wait_initial=self._pace.first_retry,
            wait_max=self._pace.last_retry,
            wait_jitter=self._pace.first_retry,
        ):
            with attempt:
                return await self._open()
        raise AssertionError("unreachable: the attempts never end")

    def _patience(self, error: Exception) -> bool | float:
        if isinstance(error, LoginRefused):
            return self._pace.refused
        return isinstance(error, ConnectionLost)

    async def _open(self) -> tuple[Imap, list[int]]:
        try:
            imap = await Imap.open(self._account, self._pace.command)
        except LoginRefused as refused:
            log.error("mailbox: %s", refused)
            await self._alert(f"The mailbox cannot be opened: {refused}")
            raise
        try:
            return imap, await self._pass(imap, 1)
        except BaseException:
            await imap.close()
            raise

    async def _pass(self, imap: Imap, floor: int) -> list[int]:
        """Deal with every mail from UID `floor` on; returns those that are still to do."""
        uids = await imap.uids(floor)
        left = []
        for uid in uids:
            try:
                await self._deal(imap, uid)
            except ConnectionLost:
                raise
            except Exception:
                log.exception("mailbox: a mail could not be dealt with; it stays for another attempt")
                left.append(uid)
        self._floor = max(uids, default=floor - 1) + 1
        self.searched = datetime.now(UTC)
        return left

    async def _deal(self, imap: Imap, uid: int) -> None:
        envelope = await imap.envelope(uid)
        if envelope is None:
            return
        partial = envelope.size > self._pace.big
        raw = await imap.fetch(uid, self._pace.glance if partial else None)
        if raw is None:
            return
        digest = hashlib.sha256(raw).hexdigest()
        arrival = await self._desk.received(digest, raw, envelope.received)
        folder = arrival.folder
        if folder is None:
            outcome = await self._outcome(raw, partial, arrival.attempts)
            await self._desk.settle(digest, outcome)
            folder = outcome.folder
            log.info("mailbox: %s -> %s", redact(outcome.verdict), folder)
        await imap.move(uid, folder)

    async def _outcome(self, raw: bytes, partial: bool, attempts: int) -> Outcome:
        if attempts > 2 * self._pace.attempts:
            return Outcome("given up", Folder.QUARANTINE)  # not even the answer to it could be made
        if attempts > self._pace.attempts:
            return await self._clerk.unread(raw)
        try:
            letter = await self._reader.read(raw, partial)
        except Unread as unread:
            log.error("mailbox: %s", unread)
            return await self._clerk.unread(raw)
        if letter.problem in {Problem.HEADERS, Problem.PARTS, Problem.BROKEN}:
            return await self._clerk.unread(raw, letter.problem)
        return await self._clerk.handle(letter)

    async def _alert(self, text: str) -> None:
        try:
            await self._alarm.ring("login", text)
        except Exception:
            log.exception("mailbox: the alert could not be given")
