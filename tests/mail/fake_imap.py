"""An IMAP server that knows just enough, with what the real ones in the tests lack: XOAUTH2 with a token that
may be refused, a quota, no room, mails that it does not show, and folders that are deleted."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from mail.connecting import MailAccount

INBOX_MAIL = b"From: ann@player.test\r\nTo: play@games.test\r\nMessage-ID: <m@player.test>\r\n\r\nbuy SV\r\n"


@dataclass
class FakeImap:
    """What the server knows. token: with which one may log in. full: it takes no copies. folders: whether it
    has those of mail that was dealt with. refused: the UIDs of mails that it does not show. marks: whether it
    lets mails be marked. place: the folder that has the mails. selected: the last. asked: what came.
    """

    token: str = "good"
    quota: tuple[int, int] = (10, 1000)
    full: bool = False
    folders: bool = True
    refused: set[int] = field(default_factory=set)
    marks: bool = True
    place: str = "INBOX"
    selected: str = ""
    port: int = 0
    mails: list[bytes] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    @property
    def account(self) -> MailAccount:
        return MailAccount("127.0.0.1", self.port, "play@games.test", security="plain")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"* OK ready\r\n")
        while line := (await reader.readline()).decode().rstrip("\r\n"):
            tag, _, command = line.partition(" ")
            words = command.split(" ", 2)
            self.asked.append(words[1] if words[0] == "UID" else words[0])
            if command.startswith("AUTHENTICATE XOAUTH2 "):
                answers = await self._authenticate(command.split()[2], reader, writer)
            elif command == "IDLE":
                writer.write(b"+ idling\r\n")
                await reader.readline()
                answers = ["OK done"]
            else:
                answers = self._answers(command)
            for answer in answers[:-1]:
                writer.write(f"* {answer}\r\n".encode())
            writer.write(f"{tag} {answers[-1]}\r\n".encode())
            await writer.drain()
        writer.close()

    async def _authenticate(
        self, given: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> list[str]:
        if base64.b64decode(given).decode() == f"user=play@games.test\1auth=Bearer {self.token}\1\1":
            return ["OK in"]
        writer.write(b"+ " + base64.b64encode(b'{"status":"400"}') + b"\r\n")
        assert (await reader.readline()).strip() == b""
        return ["NO [AUTHENTICATIONFAILED] refused"]

    def _answers(self, command: str) -> list[str]:
        """The untagged answers, and the tagged one without its tag."""
        match command.split():
            case ["CAPABILITY"]:
                return ["CAPABILITY IMAP4rev1 IDLE QUOTA AUTH=XOAUTH2", "OK"]
            case ["LIST", _, name] if self.folders or name == "INBOX":
                return [f'LIST () "/" {name}', "OK"]
            case ["SELECT", name]:
                self.selected = name.strip('"')
                return [
                    f"{len(self.mails)} EXISTS",
                    f"OK [UIDNEXT {len(self.mails) + 1}] next",
                    "OK selected",
                ]
            case ["UID", "SEARCH", *_] if self.selected != self.place:
                return ["SEARCH", "OK"]
            case ["UID", "SEARCH", *_]:
                return ["SEARCH " + " ".join(str(n + 1) for n in range(len(self.mails))), "OK"]
            case ["UID", "FETCH", uid, *_] if int(uid) in self.refused:
                return ["NO [SERVERBUG] it cannot be read"]
            case ["UID", "FETCH", uid, *_] if "RFC822.SIZE" in command:
                size = len(self.mails[int(uid) - 1])
                return [f"{uid} FETCH (UID {uid} RFC822.SIZE {size})", "OK"]
            case ["UID", "FETCH", uid, *_]:
                raw = self.mails[int(uid) - 1].decode()
                return [f"{uid} FETCH (UID {uid} BODY[] {{{len(raw)}}}\r\n{raw})", "OK"]
            case ["CREATE", *_]:
                self.folders = True
            case ["UID", "COPY", *_] if not self.folders:
                return ["NO [TRYCREATE] no such folder"]
            case ["UID", "COPY", *_] if self.full:
                return ["NO [OVERQUOTA] no room"]
            case ["UID", "STORE", *_] if not self.marks:
                return ["NO it cannot be marked"]
            case ["GETQUOTAROOT", _]:
                used, limit = self.quota
                return ['QUOTAROOT INBOX ""', f'QUOTA "" (STORAGE {used} {limit} MESSAGE 3 100000)', "OK"]
        return ["OK"]


@asynccontextmanager
async def fake_imap() -> AsyncIterator[FakeImap]:
    """A server on loopback until the block ends."""
    fake = FakeImap()
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await fake.serve(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    fake.port = server.sockets[0].getsockname()[1]
    try:
        yield fake
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
