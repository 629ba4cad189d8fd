"""One IMAP connection as the inbox needs it: a port in front of aioimaplib, and what that library wants
around it.

Each rule was observed: the library does not wake its callers when the connection dies and its
timers are not reliable, so every call here races with the loss of the connection and with our own clock;
whatever fails throws the connection away, since a command that was left open blocks all later ones. Answers
are kept short (one message a FETCH, UIDs searched in slices), as the library recurses once per line of an
answer. STARTTLS does not exist in it: TLS from the first byte, or loopback.
"""

import asyncio
import contextlib
import re
import ssl
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from ipaddress import ip_address
from typing import Any, NamedTuple, Self, TypeVar

import aioimaplib

from mail.port import Folder

T = TypeVar("T")
_UID_SLICE = 10_000


class ConnectionLost(Exception):
    """The connection is of no use any more."""


class LoginRefused(Exception):
    """The server does not know this name and password."""


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, so that plain text on the wire is nobody else's to read."""
    if host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ip_address(host).is_loopback
    return False


@dataclass(frozen=True)
class ImapAccount:
    """Where the mailbox is. `folders` are names of one's own for the folders, `inbox` for what is watched.

    Raises ValueError for plain text to another machine, and for control characters.
    """

    host: str
    user: str
    password: str = field(repr=False)
    port: int = 993
    tls: bool = True
    context: ssl.SSLContext | None = field(default=None, repr=False)
    inbox: str = "INBOX"
    folders: Mapping[Folder, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.tls and not is_loopback(self.host):
            raise ValueError(f"IMAP without TLS is for this machine alone; {self.host} needs TLS (port 993).")
        if any(ord(char) < 32 or char == "\x7f" for char in self.user + self.password):
            raise ValueError("The IMAP name and password may not contain control characters.")


class Envelope(NamedTuple):
    """What is known before a message is fetched: bytes, and when the server received it."""

    size: int
    received_at: datetime


class ImapConnection:
    """An open mailbox. Every method raises ConnectionLost when the connection cannot be used any further."""

    def __init__(self, client: Any, lost: asyncio.Future[None], timeout: float) -> None:
        self._client = client
        self._lost = lost
        self._timeout = timeout
        self._folders: dict[Folder, str] = {}
        self._uid_next = 1  # UIDNEXT at the time of the SELECT
        self._has_new_mail = False  # a mail was announced since the last search began
        self._untagged = client.protocol._untagged_response
        client.protocol._untagged_response = self._on_untagged

    def _on_untagged(self, line: bytes) -> Any:
        """A server tells of new mail once, with the answer to whatever it was asked; the library listens
        during IDLE alone.
        """
        self._has_new_mail = self._has_new_mail or re.match(rb"\* \d+ EXISTS", line) is not None
        return self._untagged(line)

    @classmethod
    async def open(cls, account: ImapAccount, timeout: float) -> Self:
        """Connect, log in, make the folders, select the INBOX. Raises LoginRefused, ConnectionLost."""
        lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if account.tls:
            client = aioimaplib.IMAP4_SSL(
                account.host, account.port, timeout=timeout, ssl_context=account.context
            )
        else:
            client = aioimaplib.IMAP4(account.host, account.port, timeout=timeout)
        # The constructor for TLS takes no callback; it is called with None even on a reset.
        client.protocol.conn_lost_cb = partial(_resolve, lost)
        imap = cls(client, lost, timeout)
        try:
            await imap._log_in(account)
        except BaseException:
            await imap.close()
            raise
        return imap

    async def _log_in(self, account: ImapAccount) -> None:
        await self._call(self._client.wait_hello_from_server())
        login = await self._call(self._client.login(_quoted(account.user), account.password))
        if login.result != "OK":
            raise LoginRefused(f"{account.host} refused to log {account.user} in.")
        await self._call(self._client.protocol.capability())
        inside = await self._inbox_prefix()
        for folder in Folder:
            self._folders[folder] = await self._ensure_folder(account.folders.get(folder, folder), inside)
        selected = await self._call_ok(self._client.select(_mailbox_name(account.inbox)))
        found = re.search(rb"UIDNEXT (\d+)", b"\n".join(bytes(line) for line in selected.lines))
        self._uid_next = int(found[1]) if found else 1
        self._has_new_mail = False

    async def _inbox_prefix(self) -> str:
        """What stands before the name of a folder inside INBOX; nothing where none can be there."""
        listed = await self._call(self._client.list('""', "INBOX"))
        found = re.search(rb'\([^)]*\) "(.)" ', b"\n".join(bytes(line) for line in listed.lines))
        return f"INBOX{found[1].decode()}" if found else ""

    async def _ensure_folder(self, name: str, inside: str) -> str:
        """The folder's name on this server, the folder being there: some servers keep all folders inside
        INBOX.
        """
        for candidate in dict.fromkeys((_mailbox_name(name), _mailbox_name(inside + name))):
            answer = await self._call(self._client.list('""', candidate))
            if any(re.match(rb"\([^)]*\) ", bytes(line)) for line in answer.lines):
                return candidate
            made = await self._call(self._client.create(candidate))
            # Somebody else may have made it since it was looked for.
            if made.result == "OK" or any(b"[ALREADYEXISTS]" in bytes(line) for line in made.lines):
                return candidate
        raise ConnectionLost(f"the mailbox has no folder {name} and refuses to make one")

    # --- calls ---

    async def _call(self, command: Awaitable[T], timeout: float | None = None) -> T:
        """The command's result, or ConnectionLost as soon as the connection is lost or the time is over."""
        task = asyncio.ensure_future(command)
        try:
            either: set[asyncio.Future[Any]] = {task, self._lost}
            await asyncio.wait(either, timeout=timeout or self._timeout, return_when="FIRST_COMPLETED")
            if task.done():
                return task.result()
        except (OSError, TimeoutError, aioimaplib.Error, aioimaplib.AioImapException, UnicodeError) as error:
            raise ConnectionLost(str(error) or type(error).__name__) from error
        finally:
            task.cancel()
        raise ConnectionLost("the connection was lost" if self._lost.done() else "the server does not answer")

    async def _call_ok(self, command: Awaitable[Any]) -> Any:
        """The same for a command that must succeed: NO and BAD are no exceptions in the library."""
        response = await self._call(command)
        if response.result != "OK":
            raise ConnectionLost(f"the server said {response.result} {response.lines[-1:]!r}")
        return response

    # --- messages ---

    async def uids(self, floor: int) -> list[int]:
        """The UIDs in the INBOX from `floor` on, ascending."""
        self._has_new_mail = False
        found: set[int] = set()
        low = floor
        while low + _UID_SLICE < self._uid_next:
            found |= await self._search(f"{low}:{low + _UID_SLICE - 1}")
            low += _UID_SLICE
        found |= await self._search(f"{low}:*")
        return sorted(uid for uid in found if uid >= floor)  # n:* always names the last message too

    async def _search(self, range: str) -> set[int]:
        response = await self._call_ok(self._client.uid_search(f"UID {range}", "UNDELETED", charset=None))
        lines = [bytes(line) for line in response.lines[:-1]]
        return {int(word) for line in lines for word in line.split() if word.isdigit()}

    async def envelope(self, uid: int) -> Envelope | None:
        """Size and time of a message; None when it is no longer there."""
        response = await self._call_ok(self._client.uid("fetch", str(uid), "(UID RFC822.SIZE INTERNALDATE)"))
        for line in response.lines:
            size = re.search(rb"RFC822\.SIZE (\d+)", bytes(line))
            date = re.search(rb'INTERNALDATE "([^"]{1,40})"', bytes(line))
            if size:
                return Envelope(int(size[1]), _parse_time(date[1].decode("ascii", "replace") if date else ""))
        return None

    async def fetch(self, uid: int, most: int | None = None) -> bytes | None:
        """The bytes of a message, the first `most` where given, its flags untouched; None when it is not
        there.
        """
        part = "BODY.PEEK[]" if most is None else f"BODY.PEEK[]<0.{most}>"
        response = await self._call_ok(self._client.uid("fetch", str(uid), f"(UID {part})"))
        # The message's bytes are the only bytearray among the lines.
        return next((bytes(line) for line in response.lines if isinstance(line, bytearray)), None)

    async def move(self, uid: int, folder: Folder) -> None:
        """Put a message into a folder. A message that is gone is no error."""
        name = self._folders[folder]
        if self._client.has_capability("MOVE"):
            await self._call_ok(self._client.uid("move", str(uid), name))
            return
        await self._call_ok(self._client.uid("copy", str(uid), name))
        await self._call_ok(self._client.uid("store", str(uid), r"+FLAGS.SILENT (\Deleted)"))
        if self._client.has_capability("UIDPLUS"):  # a bare EXPUNGE would remove what others have marked
            await self._call_ok(self._client.uid("expunge", str(uid)))

    async def wait_for_mail(self, seconds: float) -> None:
        """Return when the server has news, or after `seconds` at most. Whatever it pushes only means: search
        again.
        """
        if self._has_new_mail:
            return
        if not self._client.has_capability("IDLE"):
            await asyncio.wait({self._lost}, timeout=min(seconds, 30.0))
            await self._call_ok(self._client.noop())
            return
        idle = await self._call(self._client.idle_start(timeout=seconds + 2 * self._timeout))
        push = asyncio.ensure_future(self._client.wait_server_push(timeout=seconds + self._timeout))
        try:
            await asyncio.wait({push, self._lost, idle}, timeout=seconds, return_when="FIRST_COMPLETED")
        finally:
            push.cancel()
        self._client.idle_done()
        await self._call_ok(idle)
        queue = self._client.protocol.idle_queue
        while not queue.empty():  # a left-over marker would end the next IDLE at once
            queue.get_nowait()

    async def close(self) -> None:
        """Drop the connection and leave no task behind. Never raises.

        Without LOGOUT, which would wait behind any command that is open; it would save nothing.
        """
        client = self._client
        if client.protocol.transport is not None:
            client.protocol.transport.abort()
        if client._idle_waiter is not None:
            client._idle_waiter.cancel()
        tasks = {*client.tasks, *client.protocol.tasks, client._client_task}
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=1.0)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _mailbox_name(name: str) -> str:
    """A folder's name on the wire, which the library puts there as it is."""
    return name if re.fullmatch(r"[A-Za-z0-9./_-]+", name) else _quoted(name)


def _resolve(lost: asyncio.Future[None], _: Exception | None) -> None:
    if not lost.done():
        lost.set_result(None)


def _parse_time(text: str) -> datetime:
    try:
        return parsedate_to_datetime(text).astimezone(UTC)
    except (ValueError, TypeError, IndexError):
        return datetime.now(UTC)
