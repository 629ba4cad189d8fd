"""One IMAP connection, as the inbox watcher needs it, on top of aioimaplib.

The rules here come from what aioimaplib was observed to do. It does not wake its callers when the
connection dies, and its timers are not reliable, so every call races against the loss of the connection and
our own timeout. A command that was left open blocks all later ones, so any failure drops the connection.
Responses are kept short (one message per FETCH, UIDs searched in slices), as the library recurses once per
line of a response. It has no STARTTLS: the connection uses TLS from the first byte, or is to this machine.
"""

import asyncio
import binascii
import email.parser
import quopri
import re
import ssl
from collections.abc import Awaitable, Collection, Iterator
from contextlib import suppress
from datetime import date
from enum import StrEnum
from typing import Any, NamedTuple, Self, TypeVar

import aioimaplib

from mail.connecting import AccessTokens, MailAccount, TokenUnavailable, connection_fault
from mail.reading.headers import MAX_HEADER_BYTES, MailHeaders, sender_address
from mail.reply_address import own_address, untagged

T = TypeVar("T")
_UID_SLICE = 10_000
_MENDED_BY_CONNECTING = ("[TRYCREATE]", "[READ-ONLY]", "[EXPUNGEISSUED]")
"""Codes of a refusal whose cause is gone with the next connection, such as a folder that it creates."""
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Folder(StrEnum):
    """Where a mail is moved after its outcome. The folder is the state of the mail; flags mean nothing."""

    PROCESSED = "Processed"
    IGNORED = "Ignored"
    QUARANTINE = "Quarantine"


class ConnectionLost(Exception):
    """The connection cannot be used any more."""


class LoginRefused(Exception):
    """The server has refused the user name and password."""


class MessageRefused(Exception):
    """The server has not carried out a command about one message; the connection is still good."""


class MailboxFull(MessageRefused):
    """The mailbox has no room for this (OVERQUOTA, RFC 5530)."""


class Quota(NamedTuple):
    """How much room a mailbox has, in KiB."""

    used: int
    limit: int

    @property
    def percent(self) -> int:
        return 100 * self.used // max(self.limit, 1)


class ImapConnection:
    """An open mailbox. Every method raises ConnectionLost when the connection cannot be used any more."""

    def __init__(self, client: Any, lost: asyncio.Future[str], timeout: float) -> None:
        self._client = client
        self._lost = lost
        self._timeout = timeout
        self._folders: dict[Folder, str] = {}
        self._uid_next = 1  # UIDNEXT at the time of the SELECT
        self._has_new_mail = False  # new mail was announced since the last search began
        self._copied = set[int]()  # UIDs of which a folder has a copy, though the inbox may still have them
        self._untagged = client.protocol._untagged_response
        client.protocol._untagged_response = self._on_untagged
        self._welcome = client.protocol.welcome
        client.protocol.welcome = self._on_greeting

    async def _on_greeting(self, line: bytes) -> None:
        """The library raises for a wrong greeting in a task of its own, and waits on for a right one."""
        try:
            await self._welcome(line)
        except aioimaplib.Error:
            _resolve(self._lost, f"{self._client.host} does not speak IMAP on port {self._client.port}")

    def _on_untagged(self, line: bytes) -> Any:
        """A server announces new mail once, in any response; the library looks for it during IDLE only."""
        self._has_new_mail = self._has_new_mail or re.match(rb"\* \d+ EXISTS", line) is not None
        return self._untagged(line)

    @classmethod
    async def open(cls, account: MailAccount, timeout: float) -> Self:
        """Connect, log in, create the folders, select the inbox. Raises LoginRefused or ConnectionLost."""
        lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        if account.security != "plain":
            client = aioimaplib.IMAP4_SSL(
                account.host, account.port, timeout=timeout, ssl_context=account.context
            )
        else:
            client = aioimaplib.IMAP4(account.host, account.port, timeout=timeout)
        # The constructor for TLS takes no callback. The callback gets None even after a reset.
        client.protocol.conn_lost_cb = lambda _: _resolve(lost, "the connection was lost")
        imap = cls(client, lost, timeout)
        try:
            await imap._log_in(account)
        except BaseException:
            await imap.close()
            raise
        return imap

    async def _log_in(self, account: MailAccount) -> None:
        await self._call(self._client.wait_hello_from_server())
        if account.tokens is None:
            login = await self._call(self._client.login(_quoted(account.user), account.password))
        else:
            login = await self._log_in_with_token(account, account.tokens)
        if login.result != "OK":
            raise LoginRefused(f"{account.host} refused to log {account.user} in.")
        await self._call(self._client.protocol.capability())
        prefix = await self._inbox_prefix()
        for folder in Folder:
            self._folders[folder] = await self._ensure_folder(folder, prefix)
        selected = await self._call_ok(self._client.select("INBOX"))
        found = re.search(rb"UIDNEXT (\d+)", b"\n".join(bytes(line) for line in selected.lines))
        self._uid_next = int(found[1]) if found else 1
        self._has_new_mail = False

    async def _log_in_with_token(self, account: MailAccount, tokens: AccessTokens) -> Any:
        """XOAUTH2. A server that refuses the token says why in a challenge, which an empty line answers; the
        library would wait forever."""
        try:
            token = await tokens.token()
        except TokenUnavailable as error:
            if error.is_refused:
                raise LoginRefused(f"{account.host} cannot be logged in to: {error}.") from error
            raise ConnectionLost(str(error)) from error
        protocol = self._client.protocol
        protocol._continuation = lambda line: protocol.transport.write(b"\r\n")
        login = await self._call(self._client.xoauth2(account.user, token))
        del protocol._continuation
        if login.result != "OK":
            tokens.forget()
        return login

    async def _inbox_prefix(self) -> str:
        """The prefix of folders prefix INBOX; empty where INBOX has no folders."""
        listed = await self._call(self._client.list('""', "INBOX"))
        found = re.search(rb'\([^)]*\) "(.)" ', b"\n".join(bytes(line) for line in listed.lines))
        return f"INBOX{found[1].decode()}" if found else ""

    async def _ensure_folder(self, name: str, prefix: str) -> str:
        """Create the folder if missing; returns its name: some servers keep all folders prefix INBOX."""
        for candidate in dict.fromkeys((_quoted(name), _quoted(prefix + name))):
            answer = await self._call(self._client.list('""', candidate))
            if any(re.match(rb"\([^)]*\) ", bytes(line)) for line in answer.lines):
                return candidate
            made = await self._call(self._client.create(candidate))
            # Another client may have created it since the LIST.
            if made.result == "OK" or any(b"[ALREADYEXISTS]" in bytes(line) for line in made.lines):
                return candidate
        raise ConnectionLost(f"the mailbox has no folder {name} and refuses to create it")

    # --- calls ---

    async def _call(self, command: Awaitable[T]) -> T:
        """The result of a command. Raises ConnectionLost when the connection is lost, or on a timeout."""
        task = asyncio.ensure_future(command)
        try:
            either: set[asyncio.Future[Any]] = {task, self._lost}
            await asyncio.wait(either, timeout=self._timeout, return_when="FIRST_COMPLETED")
            if task.done():
                return task.result()
        except (OSError, TimeoutError, aioimaplib.Error, aioimaplib.AioImapException, UnicodeError) as error:
            raise ConnectionLost(str(error) or type(error).__name__) from error
        finally:
            task.cancel()
        raise ConnectionLost(self._lost.result() if self._lost.done() else "the server does not answer")

    async def _call_ok(self, command: Awaitable[Any]) -> Any:
        """The same for a command that must succeed: the library does not raise for NO and BAD."""
        response = await self._call(command)
        if response.result != "OK":
            raise ConnectionLost(_said(response))
        return response

    async def _uid(self, command: str, uid: int, *arguments: str) -> Any:
        """The same for a command about one message. Raises MessageRefused or MailboxFull for NO."""
        response = await self._call(self._client.uid(command, str(uid), *arguments))
        if response.result == "OK":
            return response
        said = _said(response)
        if "[OVERQUOTA]" in said.upper():
            raise MailboxFull("the mailbox is full")
        if response.result != "NO" or any(code in said.upper() for code in _MENDED_BY_CONNECTING):
            raise ConnectionLost(said)
        raise MessageRefused(said)

    # --- messages: methods with a UID raise MessageRefused too ---

    async def uids(self, first: int) -> list[int]:
        """The UIDs in the inbox from `first` on, ascending."""
        self._has_new_mail = False
        found: set[int] = set()
        low = first
        while low + _UID_SLICE < self._uid_next:
            found.update(await self._search(f"UID {low}:{low + _UID_SLICE - 1}", "UNDELETED"))
            low += _UID_SLICE
        found.update(await self._search(f"UID {low}:*", "UNDELETED"))
        return sorted(uid for uid in found if uid >= first)  # `n:*` always includes the last message

    async def _search(self, *criteria: str) -> list[int]:
        response = await self._call_ok(self._client.uid_search(*criteria, charset=None))
        return [int(word) for line in response.lines[:-1] for word in bytes(line).split() if word.isdigit()]

    async def size(self, uid: int) -> int | None:
        """The size of a message in bytes; None where it is gone."""
        response = await self._uid("fetch", uid, "(UID RFC822.SIZE)")
        found = (re.search(rb"RFC822\.SIZE (\d+)", bytes(line)) for line in response.lines)
        return next((int(size[1]) for size in found if size), None)

    async def fetch(self, uid: int, max_bytes: int | None = None) -> bytes | None:
        """The bytes of a message, or the first `max_bytes` of them; None where it is gone. Sets no flags."""
        part = "BODY.PEEK[]" if max_bytes is None else f"BODY.PEEK[]<0.{max_bytes}>"
        response = await self._uid("fetch", uid, f"(UID {part})")
        # The message's bytes are the only bytearray among the lines.
        return next((bytes(line) for line in response.lines if isinstance(line, bytearray)), None)

    async def move(self, uid: int, folder: Folder) -> None:
        """Move a message to a folder; a message that is gone is ignored."""
        name = self._folders[folder]
        if self._client.has_capability("MOVE"):
            await self._uid("move", uid, name)
            return
        if uid not in self._copied:  # one that the server refused to mark is tried again
            await self._uid("copy", uid, name)
            self._copied.add(uid)
        await self._uid("store", uid, r"+FLAGS.SILENT (\Deleted)")
        if self._client.has_capability("UIDPLUS"):
            await self._uid("expunge", uid)
        elif self._copied.issuperset(await self._search("DELETED")):
            await self._call_ok(self._client.expunge())  # it would also delete what other clients marked

    async def quota(self) -> Quota | None:
        """How full the mailbox is; None where the server has no limit, or does not say (RFC 9208)."""
        if not self._client.has_capability("QUOTA"):
            return None
        response = await self._call(self._client.getquotaroot("INBOX"))
        text = b" ".join(bytes(line) for line in response.lines)
        found = [(int(used), int(limit)) for used, limit in re.findall(rb"STORAGE (\d+) (\d+)", text)]
        fullest = max(found, key=lambda pair: pair[0] / max(pair[1], 1), default=None)
        return Quota(*fullest) if fullest else None

    async def delete_before(self, folder: Folder, day: date) -> int:
        """Delete the messages of a folder that arrived before a day; returns how many.

        The folder stays selected: the connection is of no use for the inbox any more.
        """
        uids = await self._search_in(
            self._folders[folder], "BEFORE", f"{day.day}-{_MONTHS[day.month - 1]}-{day.year}"
        )
        await self._delete(uids)
        return len(uids)

    async def delete_with(self, folder: Folder, address: str, of_others: Collection[str] = ()) -> bool:
        """Delete the messages of a folder that have an address in a header or in the body, but not those in
        which it is only a part of longer ones, and those that come from it with another `+tag`, unless that
        is somebody else's; returns whether the server has let us read all of them.

        The folder stays selected, as after `delete_before`.
        """
        chosen, are_all_read = await self._naming(self._folders[folder], address, of_others)
        await self._delete(chosen)
        return are_all_read

    async def is_in_inbox(self, address: str, of_others: Collection[str] = ()) -> bool:
        """Whether a message of the inbox is such a one, or may be. What is marked as deleted does not
        count; without UIDPLUS it is kept where other clients have marked mail, until one expunges the inbox.
        """
        found, are_all_read = await self._naming("INBOX", address, of_others, "UNDELETED")
        return bool(found) or not are_all_read

    async def _naming(
        self, name: str, address: str, of_others: Collection[str], *criteria: str
    ) -> tuple[list[int], bool]:
        """The messages of a folder that fit and have an address, or come from it with another tag; whether
        the server has let us read all."""
        found, refused = [], 0
        local, _, domain = untagged(address).partition("@")
        naming = set(await self._search_in(name, *criteria, "TEXT", _quoted(address)))
        sent = await self._search(*criteria, "FROM", _quoted(local), "FROM", _quoted(f"@{domain}"))
        for uid in sorted(naming.union(sent)):
            try:
                raw = await self.fetch(uid, None if uid in naming else MAX_HEADER_BYTES) or b""
                if (uid in naming and _has_address(raw, address)) or _comes_from(raw, address, of_others):
                    found.append(uid)
            except MessageRefused:
                refused += 1
        return found, not refused

    async def _search_in(self, name: str, *criteria: str) -> list[int]:
        await self._call_ok(self._client.select(name))
        return await self._search(*criteria)

    async def _delete(self, uids: list[int]) -> None:
        for start in range(0, len(uids), 200):
            chosen = ",".join(map(str, uids[start : start + 200]))
            await self._call_ok(self._client.uid("store", chosen, r"+FLAGS.SILENT (\Deleted)"))
            if self._client.has_capability("UIDPLUS"):
                await self._call_ok(self._client.uid("expunge", chosen))
            else:
                await self._call_ok(self._client.expunge())  # our own folder: nobody else marks mail there

    async def wait_for_mail(self, seconds: float) -> None:
        """Wait until the server announces something, at most `seconds`; the caller then searches again."""
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
        while not queue.empty():  # a left-over entry would end the next IDLE at once
            queue.get_nowait()

    async def close(self) -> None:
        """Drop the connection and leave no task behind. Never raises.

        There is no LOGOUT: it would wait behind any open command.
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


async def why_unreachable(account: MailAccount, timeout: float = 10.0) -> str:
    """Why no connection to the server can be made, in words; empty if one can. The library does not say."""
    context = (account.context or ssl.create_default_context()) if account.security != "plain" else None
    try:
        async with asyncio.timeout(timeout):
            _, writer = await asyncio.open_connection(account.host, account.port, ssl=context)
    except OSError as error:
        return connection_fault(error)
    writer.transport.abort()
    return ""


_BASE64_LINES = re.compile(rb"(?m)(?:^[A-Za-z0-9+/]{4,998}={0,2}\r?\n)+")


def _decoded(raw: bytes) -> Iterator[bytes]:
    """A message as it is, as quoted-printable, and what looks like base64 in it."""
    yield raw
    yield quopri.decodestring(raw)
    for block in _BASE64_LINES.findall(raw):
        with suppress(binascii.Error):  # what is not base64
            yield binascii.a2b_base64(block)


def _comes_from(raw: bytes, address: str, of_others: Collection[str]) -> bool:
    """Whether a message comes from an address, or from it with another tag."""
    sender = sender_address(MailHeaders(email.parser.BytesHeaderParser().parsebytes(raw)))
    return sender is not None and own_address(sender, {address.casefold()}, of_others) is not None


def _has_address(raw: bytes, address: str) -> bool:
    """Whether an address stands in a message, and not only as a part of longer ones; also where that is not
    seen in its text as it is encoded."""
    is_found = False
    whole = re.compile(rf"(?<![\w.+-]){re.escape(address)}(?![\w-]|\.\w)", re.IGNORECASE)
    for data in _decoded(raw):
        text = data.decode("utf-8", "replace")
        if whole.search(text):
            return True
        is_found = is_found or address.casefold() in text.casefold()
    return not is_found


def _said(response: Any) -> str:
    return f"the server answered {response.result} {response.lines[-1:]!r}"


def _quoted(text: str) -> str:
    """A text as IMAP wants it; the library quotes none."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _resolve(lost: asyncio.Future[str], why: str) -> None:
    if not lost.done():
        lost.set_result(why)
