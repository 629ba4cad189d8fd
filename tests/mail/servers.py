"""Mail servers on loopback, for any test that wants real sockets: pymap, aiosmtpd, Dovecot, and a link that
breaks.

Each is an async context manager, so that a test owns what it starts. pymap and aiosmtpd run in the test's own
event loop: a blocking client must be called in a thread, as the methods here do.

    async with pymap_server() as mailbox, smtp_server() as player:
        mailbox.account            # a MailAccount
        await mailbox.put(raw)     # by APPEND; `folder(name)` and `count(name)` ask for what is there
        player.account             # a MailAccount
        player.emails             # what was delivered, as Delivery values; `await player.delivered(3)`
"""

import asyncio
import contextlib
import grp
import imaplib
import os
import pwd
import shutil
import signal
import smtplib
import socket
import ssl
import struct
import subprocess
import tempfile
from argparse import Namespace
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session

from mail.connecting import MailAccount

USER, PASSWORD = "game", "secret"
DOVECOT = shutil.which("dovecot", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def self_signed(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """(a server's context, a client's that trusts it) for localhost; skips the test without openssl."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = (
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    )
    subprocess.run(
        [openssl, *command.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    return server, ssl.create_default_context(cafile=str(certificate))


# --- mailboxes ---


@dataclass
class Mailbox:
    """A mailbox on some server, seen by the standard library's client (not the one under test)."""

    port: int
    lmtp: int | None = None
    user: str = USER
    password: str = PASSWORD

    @property
    def account(self) -> MailAccount:
        return MailAccount("127.0.0.1", self.port, self.user, self.password, "plain")

    async def put(self, *raws: bytes) -> None:
        """Append mails to the INBOX."""
        await asyncio.to_thread(self._put, raws)

    async def folder(self, name: str) -> list[bytes]:
        """The mails in a folder; none where there is no such folder."""
        return await asyncio.to_thread(self._folder, name)

    async def count(self, name: str) -> int:
        """How many mails a folder has; 0 where there is no such folder."""
        return await asyncio.to_thread(self._count, name)

    async def until(self, name: str, count: int, seconds: float = 60.0) -> list[bytes]:
        """Wait until a folder has so many mails."""
        async with asyncio.timeout(seconds):
            while await self.count(name) < count:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        return await self.folder(name)

    async def deliver(self, raw: bytes, *recipients: str, sender: str = "ann@player.test") -> None:
        """Deliver by LMTP, as a real server does: Return-Path and Delivered-To are stamped on it."""
        await asyncio.to_thread(self._deliver, raw, recipients, sender)

    async def mark_seen(self) -> None:
        """What a human does who opens every mail in the INBOX."""
        await asyncio.to_thread(self._mark_seen)

    def _mark_seen(self) -> None:
        client = self._client()
        client.select("INBOX")
        status, said = client.store("1:*", "+FLAGS", r"(\Seen \Flagged)")
        assert status == "OK", said
        client.logout()

    def _client(self) -> imaplib.IMAP4:
        client = imaplib.IMAP4("127.0.0.1", self.port, timeout=120)
        # Without it an APPEND sends its end only when the server's system acknowledges the rest, 40 ms later.
        client.socket().setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.login(self.user, self.password)
        return client

    def _put(self, raws: Sequence[bytes]) -> None:
        client = self._client()
        for raw in raws:
            status, said = client.append("INBOX", "", "", raw)
            assert status == "OK", said
        client.logout()

    def _count(self, name: str) -> int:
        client = self._client()
        try:
            if client.select(name, readonly=True)[0] != "OK":
                return 0
            return len(client.search(None, "UNDELETED")[1][0].split())
        finally:
            client.logout()

    def _folder(self, name: str) -> list[bytes]:
        client = self._client()
        try:
            if client.select(name, readonly=True)[0] != "OK":
                return []
            _, (found,) = client.search(None, "UNDELETED")
            fetched = [client.fetch(number.decode(), "(BODY.PEEK[])")[1][0] for number in found.split()]
            return [bytes(part[1]) for part in fetched if isinstance(part, tuple)]
        finally:
            client.logout()

    def _deliver(self, raw: bytes, recipients: Sequence[str], sender: str) -> None:
        assert self.lmtp is not None, "this server has no LMTP"
        with smtplib.LMTP("127.0.0.1", self.lmtp) as client:
            client.sendmail(sender, list(recipients), raw)


@contextmanager
def attentive() -> Iterator[None]:
    """An IDLE begins with whatever came since the last command. pymap as it is would stay silent about a mail
    that arrived in between until the next one, for which a test can wait without end.
    """
    from pymap.backend.dict import mailbox

    class Attentive(mailbox.MailboxData):
        async def update_selected(self, selected: Any, *, wait_on: Any = None) -> Any:
            behind = selected.mod_sequence != self._mod_sequences.highest
            return await super().update_selected(selected, wait_on=None if behind else wait_on)

    with patch.object(mailbox, "MailboxData", Attentive):
        yield


@asynccontextmanager
async def pymap_server(context: ssl.SSLContext | None = None) -> AsyncIterator[Mailbox]:
    """An IMAP server in this event loop, with one empty mailbox in memory; with TLS from the first byte or
    none.
    """
    from proxyprotocol.reader import ProxyProtocolReader
    from pymap.backend.dict import DictBackend
    from pymap.config import IMAPConfig
    from pymap.imap import IMAPServer
    from pysasl import SASLAuth
    from pysasl.hashing import BuiltinHash

    arguments = Namespace(
        debug=False,
        host=["127.0.0.1"],
        port="0",
        cert=None,
        key=None,
        tls=False,
        proxy_protocol=None,
        passlib_cfg=None,
        inherited_sockets=None,
        demo_data=False,
        demo_user=USER,
        demo_password=PASSWORD,
    )
    cheap_hash = BuiltinHash(rounds=1)  # half a million rounds would cost a second for each login of a test
    mechanisms = SASLAuth.defaults()  # pymap would look for them in all packages for each connection
    with patch.object(IMAPConfig, "_get_hash_context", return_value=cheap_hash):
        backend, config = await DictBackend.init(arguments)
    config.apply_context()
    async with AsyncExitStack() as stack:
        stack.enter_context(attentive())
        stack.enter_context(patch.object(SASLAuth, "defaults", return_value=mechanisms))
        await backend.start(stack)
        serve_imap = ProxyProtocolReader(config.proxy_protocol).get_callback(
            IMAPServer(backend.login, config)
        )
        tasks: set[asyncio.Task[Any]] = set()

        async def serve(parser: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task
            tasks.add(task)
            try:
                await serve_imap(parser, writer)
            except (ConnectionError, EOFError, asyncio.CancelledError):
                pass
            finally:
                tasks.discard(task)

        server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
        async with server:
            yield Mailbox(server.sockets[0].getsockname()[1])
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


_DOVECOT = """
instance_name = {name}
base_dir = {d}/run
state_dir = {d}/state
log_path = {d}/dovecot.log
protocols = imap lmtp
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_mechanisms = plain login
auth_failure_delay = 0
default_internal_user = {u}
default_internal_group = {g}
default_login_user = {u}
first_valid_uid = 1
mail_location = maildir:{d}/mail/%n
recipient_delimiter = +
postmaster_address = postmaster@game.test
hostname = mail.game.test
passdb {{
  driver = passwd-file
  args = username_format=%n {d}/users
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={d}/mail/%n
}}
service anvil {{
  chroot =
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    address = 127.0.0.1
    port = {imap}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service lmtp {{
  inet_listener lmtp {{
    address = 127.0.0.1
    port = {lmtp}
  }}
}}
namespace inbox {{
  inbox = yes
}}
"""


_DOVECOT_QUOTA = """
mail_plugins = quota
protocol imap {{
  mail_plugins = quota imap_quota
}}
plugin {{
  quota = maildir:all
  quota_rule = *:storage={quota}
}}
"""


@asynccontextmanager
async def dovecot_server(user: str = USER, quota: str = "") -> AsyncIterator[Mailbox]:
    """A real Dovecot as an unprivileged user, with IMAP and LMTP, in a short directory of its own.

    Mails to `<user>@…` and `<user>+anything@…` reach the mailbox. quota: its size, such as `100K`. Needs the
    marker `dovecot` on the test.
    """
    assert DOVECOT, "Dovecot is not installed"
    folder = Path(tempfile.mkdtemp(prefix="dct-"))  # socket paths must be short
    root = os.geteuid() == 0
    account = pwd.getpwnam("nobody") if root else pwd.getpwuid(os.geteuid())
    group = grp.getgrgid(account.pw_gid).gr_name
    imap, lmtp = free_port(), free_port()
    (folder / "users").write_text(f"{user}:{{PLAIN}}{PASSWORD}\n")
    (folder / "dovecot.conf").write_text(
        _DOVECOT.format(
            name=folder.name,
            d=folder,
            u=account.pw_name,
            g=group,
            uid=account.pw_uid,
            gid=account.pw_gid,
            imap=imap,
            lmtp=lmtp,
        )
        + (_DOVECOT_QUOTA.format(quota=quota) if quota else "")
    )
    for name in ("run", "state", "mail"):
        (folder / name).mkdir()
    folder.chmod(0o755)
    options: dict[str, Any] = {}
    if root:
        for path in [folder, *folder.iterdir()]:
            os.chown(path, account.pw_uid, account.pw_gid)
        options = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    process = subprocess.Popen(  # noqa: ASYNC220
        [DOVECOT, "-F", "-c", str(folder / "dovecot.conf")], start_new_session=True, **options
    )
    try:
        async with asyncio.timeout(120):
            while not await _listens(imap) or not await _listens(lmtp):
                assert process.poll() is None, (folder / "dovecot.log").read_text()
                await asyncio.sleep(0.02)
        yield Mailbox(imap, lmtp, user)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


# --- where our emails arrive ---


@dataclass(frozen=True)
class Delivery:
    """One transaction: the envelope and the email."""

    sender: str
    recipients: tuple[str, ...]
    raw: bytes

    @property
    def message(self) -> EmailMessage:
        parsed = BytesParser(policy=default).parsebytes(self.raw)
        assert isinstance(parsed, EmailMessage)
        return parsed

    @property
    def subject(self) -> str:
        return str(self.message["Subject"])

    @property
    def text(self) -> str:
        """The plain text."""
        return self.part("plain")

    def part(self, subtype: str) -> str:
        """The text in one of its two forms: `plain` or `html`."""
        body = self.message.get_body((subtype,))
        assert body is not None
        return str(body.get_content()).replace("\r\n", "\n")


@dataclass
class SmtpCatcher:
    """A catcher of emails. `refuse` may answer for a recipient: a reply like `550 no such user`, or None.

    `drop_after_data` loses the connection that many times after having taken an email. Recipients at
    `slow.test` and its subdomains wait for `slow`; `waiting` counts them.
    """

    port: int = 0
    emails: list[Delivery] = field(default_factory=list)
    refuse: Callable[[str], str | None] = lambda _: None
    refuse_data: Callable[[Delivery], str | None] = lambda _: None
    drop_after_data: int = 0
    connections: int = 0
    slow: asyncio.Event | None = None
    waiting: int = 0

    @property
    def account(self) -> MailAccount:
        return MailAccount("127.0.0.1", self.port, security="plain")

    async def delivered(self, count: int) -> list[Delivery]:
        """Wait for so many emails."""
        async with asyncio.timeout(60):
            while len(self.emails) < count:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        return self.emails

    # The names are aiosmtpd's.

    async def handle_EHLO(
        self, server: SMTP, session: Session, envelope: Envelope, hostname: str, responses: list[str]
    ) -> list[str]:
        session.host_name = hostname
        self.connections += 1
        return responses

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.slow and address.endswith(("@slow.test", ".slow.test")):
            self.waiting += 1
            await self.slow.wait()
        if refusal := self.refuse(address):
            return refusal
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        assert isinstance(envelope.content, bytes) and envelope.mail_from is not None
        delivery = Delivery(envelope.mail_from, tuple(envelope.rcpt_tos), envelope.content)
        if refusal := self.refuse_data(delivery):
            return refusal
        self.emails.append(delivery)
        if self.drop_after_data:
            self.drop_after_data -= 1
            assert server.transport is not None
            server.transport.abort()  # type: ignore[attr-defined]
        return "250 OK"


@asynccontextmanager
async def smtp_server(
    port: int = 0, context: ssl.SSLContext | None = None, login: tuple[str, str] | None = None
) -> AsyncIterator[SmtpCatcher]:
    """An SMTP server in this event loop that keeps what it is sent; with TLS from the first byte or none.

    login: the user and password without which it takes nothing.
    """
    player = SmtpCatcher()
    loop = asyncio.get_running_loop()

    def authenticate(
        server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any
    ) -> AuthResult:
        given = (data.login.decode(), data.password.decode())
        return AuthResult(success=given == login, handled=given == login)

    options: dict[str, Any] = {"hostname": "player.test", "loop": loop}
    if login:
        options |= {"authenticator": authenticate, "auth_required": True, "auth_require_tls": False}
    server = await loop.create_server(lambda: SMTP(player, **options), "127.0.0.1", port, ssl=context)
    player.port = server.sockets[0].getsockname()[1]
    try:
        yield player
    finally:
        server.close()


# --- a link that breaks ---


class BreakableProxy:
    """A TCP proxy to a port of this machine; `reset`, `finish` and `swallow` break what runs through it."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.port = 0
        self.opened = 0
        self._pairs: set[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = set()
        self._holes: set[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def _serve(self, parser: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        self.opened += 1
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        pair = (writer, far_writer)
        self._pairs.add(pair)
        try:
            await asyncio.gather(self._pump(parser, far_writer, pair), self._pump(far_reader, writer, pair))
        finally:
            self._pairs.discard(pair)
            self._tasks.discard(task)

    async def _pump(
        self,
        parser: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        pair: tuple[asyncio.StreamWriter, asyncio.StreamWriter],
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await parser.read(65536):
                if pair not in self._holes:
                    writer.write(data)
                    await writer.drain()
            if pair not in self._holes:
                writer.close()

    def reset(self) -> None:
        """RST to both sides of every connection."""
        for pair in list(self._pairs):
            for writer in pair:
                raw = writer.get_extra_info("socket")
                with contextlib.suppress(OSError):
                    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()

    def finish(self) -> None:
        """FIN to both sides of every connection."""
        for pair in list(self._pairs):
            for writer in pair:
                writer.close()

    def swallow(self) -> None:
        """From now on nothing gets through the connections that are open, and nobody is told."""
        self._holes |= self._pairs

    @property
    def tasks(self) -> set[asyncio.Task[None]]:
        return self._tasks


@asynccontextmanager
async def breakable_proxy(target: int) -> AsyncIterator[BreakableProxy]:
    """A proxy to a port."""
    link = BreakableProxy(target)
    server = await asyncio.start_server(link._serve, "127.0.0.1", 0)
    link.port = server.sockets[0].getsockname()[1]
    try:
        yield link
    finally:
        server.close()
        for task in list(link.tasks):
            task.cancel()
        await asyncio.gather(*link.tasks, return_exceptions=True)
