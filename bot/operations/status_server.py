"""The status over HTTP: on a socket in the data folder always, on a port of loopback by a setting.

`/health` is 200, or 503 with the problems; `/status` is JSON; `/metrics` is for Prometheus. `railpost status`
and the health check of the container ask the socket. A table that cannot be read is named everywhere and is
no problem of the service: all others are played, and no restart would help. systemd is told that the service
is ready, and, as its watchdog wants it, that the event loop runs and the store gives an answer or an error.
A store that is away is a reason to wait and not to start again.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import msgspec
from aiohttp import web
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from bot.hub.loading import operator_log
from bot.operations.status import StatusMonitor, StatusReport
from storage import Store, StoreError

log = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

SOCKET_NAME = "railpost.sock"
MAX_SOCKET_PATH = 100  # bytes; the kernel allows 107
ASK_TIMEOUT = 6.0  # seconds; the service itself answers within five
SOCKET_INTERVAL = 5.0  # seconds between two looks whether the socket still has somebody behind it


def socket_path(data: Path) -> Path:
    """The socket of the service with this data folder."""
    return data.absolute() / SOCKET_NAME


OWN_PAGES = ("/health", "/status", "/metrics")
OWN_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})
FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP")


@web.middleware
async def only_for_this_machine(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse the pages about the service to requests that a browser or a proxy brings from elsewhere.

    Everybody who can reach the socket may read them; pages of transports are for everybody.
    """
    by_port = request.transport is None or isinstance(request.transport.get_extra_info("sockname"), tuple)
    if by_port and request.path in OWN_PAGES:
        name = urlsplit(f"//{request.headers.get('Host', '')}").hostname
        if name not in OWN_NAMES or any(header in request.headers for header in FORWARDED):
            raise web.HTTPForbidden(text="The status is for this machine only: ask 127.0.0.1 directly.\n")
    return await handler(request)


class StatusServer:
    """Serves the status of this process. Never reachable from another machine."""

    def __init__(self, monitor: StatusMonitor, metrics: Metrics, data: Path, port: int | None) -> None:
        self._pages: list[Callable[[web.Application], None]] = []
        self._monitor, self._metrics = monitor, metrics
        self._socket = socket_path(data)
        self._port = port
        self._runner: web.AppRunner | None = None
        self.started = asyncio.Event()

    def application(self) -> web.Application:
        """The three pages, and those of a transport."""
        application = web.Application(middlewares=[only_for_this_machine])
        application.router.add_get("/health", self._health)
        application.router.add_get("/status", self._status)
        application.router.add_get("/metrics", self._metrics_page)
        for add in self._pages:
            add(application)
        return application

    def add_pages(self, add: Callable[[web.Application], None]) -> None:
        """Serve the pages of a transport too; before `run`."""
        self._pages.append(add)

    async def run(self) -> None:
        """Serve until cancelled. Never returns."""
        runner = web.AppRunner(self.application(), access_log=None, handle_signals=False)
        await runner.setup()
        self._runner = runner
        try:
            if self._has_socket:
                await self._listen(str(self._socket), self._listen_on_socket())
            else:
                log.warning(
                    "the path of the data folder is too long for a socket; `railpost status` needs one"
                )
            if self._port is not None:
                site = web.TCPSite(runner, "127.0.0.1", self._port)
                await self._listen(f"port {self._port} of 127.0.0.1", site.start())
            self.started.set()
            while True:
                await asyncio.sleep(SOCKET_INTERVAL)
                await self._take_socket_of_nobody()
        finally:
            await runner.cleanup()

    @staticmethod
    async def _listen(where: str, listening: Coroutine[None, None, None]) -> None:
        """Listen, if that is possible: without its status a service plays on."""
        try:
            await listening
        except OSError as error:
            operator_log.error("the status is not served at %s: %s", where, error.strerror or error)

    @property
    def _has_socket(self) -> bool:
        return len(os.fsencode(self._socket)) <= MAX_SOCKET_PATH

    async def _listen_on_socket(self) -> None:
        """The newest service of a data folder has its socket; one that a crash has left is replaced."""
        assert self._runner is not None
        self._socket.unlink(missing_ok=True)
        await web.UnixSite(self._runner, str(self._socket)).start()
        self._socket.chmod(0o600)

    async def _take_socket_of_nobody(self) -> None:
        """When the newest service has ended, an older one has the socket again."""
        if not self._has_socket:
            return
        try:
            async with asyncio.timeout(ASK_TIMEOUT):
                _, writer = await asyncio.open_unix_connection(str(self._socket))
            writer.close()
        except (FileNotFoundError, ConnectionRefusedError):
            with suppress(OSError):
                await self._listen_on_socket()
        except (OSError, TimeoutError):  # somebody is there, or we may not know
            return

    async def _health(self, _: web.Request) -> web.Response:
        report = await self._monitor.report()
        text = "\n".join(report.troubles or [report.verdict])
        return web.Response(text=f"{text}\n", status=200 if report.is_healthy else 503)

    async def _status(self, _: web.Request) -> web.Response:
        body = msgspec.json.encode(await self._monitor.report())
        return web.Response(body=body, content_type="application/json")

    async def _metrics_page(self, _: web.Request) -> web.Response:
        body = self._metrics.text(await self._monitor.report())
        return web.Response(body=body, headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})


class NotAnswering(Exception):
    """Whether a service runs, or how it does, cannot be told; the message is a sentence."""


async def ask_status(data: Path) -> StatusReport | None:
    """The status of the service with this data folder; None if none is running. Raises NotAnswering."""
    try:
        async with (
            asyncio.timeout(ASK_TIMEOUT),
            aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(socket_path(data)))) as session,
            session.get("http://railpost/status") as response,
        ):
            return msgspec.json.decode(await response.read(), type=StatusReport)
    except TimeoutError as error:
        raise NotAnswering(
            "A service is running with this data folder, and does not answer. Start no second one; look at "
            "railpost.log, and restart it if it stays so."
        ) from error
    except (OSError, aiohttp.ClientError) as error:
        if getattr(error, "errno", None) in (errno.EACCES, errno.EPERM):
            raise NotAnswering(
                f"{data} may be read by its owner only; ask as the user of the service, or as root."
            ) from error
        return None


# -- systemd ---------------------------------------------------------------------------------


def notify_service_manager(message: str) -> None:
    """Send `READY=1` or `WATCHDOG=1` to systemd, if it has started us and wants to know (sd_notify(3))."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams:
            datagrams.connect("\0" + address[1:] if address.startswith("@") else address)
            datagrams.sendall(message.encode())
    except OSError as error:
        log.warning("the service manager cannot be told %s: %s", message, error.strerror or error)


async def keep_watchdog(store: Store) -> None:
    """Tell systemd's watchdog that we live, unless asking the store takes too long. Returns if there is no
    watchdog."""
    notify_service_manager("READY=1")
    interval, trouble = int(os.environ.get("WATCHDOG_USEC", "0")) / 1_000_000 / 3, ""
    while interval:
        former, trouble = trouble, ""
        try:
            await store.table_version(0)
        except StoreError as error:
            trouble = str(error)
            if not former:  # once for each time that it is away
                operator_log.error("%s", trouble)
        notify_service_manager("WATCHDOG=1")
        await asyncio.sleep(interval)


BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)


class Metrics:
    """All metrics of this process, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()

        def gauge(name: str, meaning: str, *labels: str) -> Gauge:
            return Gauge(f"railpost_{name}", meaning, labels, registry=self.registry)

        self._commands = Counter(
            "railpost_commands", "Commands carried out", ["transport", "result"], registry=self.registry
        )
        self._seconds = Histogram(
            "railpost_command_seconds",
            "From a command to its result",
            buckets=BUCKETS,
            registry=self.registry,
        )
        self._healthy = gauge("healthy", "1 if the service as a whole does its work")
        self._tables = gauge("tables", "Tables in the store", "status")
        self._in_memory = gauge("tables_in_memory", "Tables in memory")
        self._pending = gauge("outbox_pending", "Messages waiting", "channel")
        self._oldest = gauge("outbox_oldest_seconds", "Wait of the first message", "channel")
        self._dead = gauge("outbox_dead", "Messages given up", "channel")
        self._pictures = gauge("pictures_waiting", "Pictures waiting")
        self._errors = gauge("log_errors", "Errors in the log since the start")
        self._unreadable = gauge("tables_unreadable", "Tables that could not be read since the start")
        self._leading = gauge("job_leading", "1 if this process does the job, 0 if it stands by", "job")
        self._attached = gauge("connected", "1 if connected", "name")

    def record_command(self, transport: str, result: str, seconds: float) -> None:
        """Count a command. result: the name of its result's class."""
        self._commands.labels(transport, result).inc()
        self._seconds.observe(seconds)

    def text(self, report: StatusReport) -> bytes:
        """All metrics in Prometheus' format, with those of a status."""
        self._healthy.set(report.is_healthy)
        self._in_memory.set(report.tables_in_memory)
        self._pictures.set(report.waiting_pictures)
        self._errors.set(report.errors)
        self._unreadable.set(len(report.unreadable))
        for job in report.jobs:
            self._leading.labels(job.name).set(job.state != "standing by")
        for of_the_store in (self._tables, self._pending, self._oldest, self._dead):
            of_the_store.clear()  # while the store is away, nobody knows
        for status, count in (report.tables or {}).items():
            self._tables.labels(status).set(count)
        for queue in report.queues:
            self._pending.labels(queue.channel).set(queue.pending)
            self._oldest.labels(queue.channel).set(queue.oldest_seconds)
            self._dead.labels(queue.channel).set(queue.dead)
        for connection in report.connections:
            self._attached.labels(connection.name).set(connection.state == "connected")
        return generate_latest(self.registry)
