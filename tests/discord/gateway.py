"""The gateway: websocket connections, the sessions behind them, and what is dispatched to whom.

Theory of operation. A *session* begins with IDENTIFY and outlives its connection: everything dispatched to it
gets a sequence number and is remembered, so that a RESUME on a later connection replays what was missed and
ends with RESUMED. It ends when the client closes with 1000 or 1001, when the server invalidates it, or when
nobody resumed it for `resume_window` seconds. An event goes to every session alive at that moment, connected
or not; where there is none, it is lost, as on Discord. A process that was killed leaves a session behind
which its successor, knowing nothing of it, never resumes: the successor IDENTIFYs and starts with what
happens from then on.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import zlib
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from aiohttp import WSMsgType, web

from .model import Clock, Json, Pulse, User

PRIVILEGED = 1 << 1 | 1 << 8 | 1 << 15
MESSAGE_CONTENT = 1 << 15
GUILDS, GUILD_MESSAGES, DIRECT_MESSAGES = 1 << 0, 1 << 9, 1 << 12
NEEDS = {
    "GUILD_CREATE": GUILDS,
    "GUILD_DELETE": GUILDS,
    "CHANNEL_CREATE": GUILDS,
    "CHANNEL_UPDATE": GUILDS,
    "CHANNEL_DELETE": GUILDS,
    "CHANNEL_PINS_UPDATE": GUILDS,
    "THREAD_CREATE": GUILDS,
    "THREAD_UPDATE": GUILDS,
    "THREAD_DELETE": GUILDS,
    "THREAD_LIST_SYNC": GUILDS,
}


class Realm(Protocol):
    """What the gateway needs to know of the server it belongs to."""

    token: str
    bot: User
    clock: Clock
    pulse: Pulse

    @property
    def gateway_url(self) -> str: ...

    def guilds_wire(self) -> list[Json]: ...


class Closed(Exception):
    """The server closes the connection with this code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code} {reason}")
        self.code, self.reason = code, reason


@dataclass(eq=False)
class Connection:
    """One websocket. With zlib-stream all frames of it share one deflate context."""

    ws: web.WebSocketResponse
    deflate: zlib._Compress | None
    sent: deque[float] = field(default_factory=deque)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def send(
        self, op: int, data: object = None, *, event: str | None = None, seq: int | None = None
    ) -> None:
        frame = json.dumps({"op": op, "d": data, "s": seq, "t": event})
        async with self.lock:
            with contextlib.suppress(ConnectionError, RuntimeError):
                if self.deflate is None:
                    await self.ws.send_str(frame)
                else:
                    await self.ws.send_bytes(
                        self.deflate.compress(frame.encode()) + self.deflate.flush(zlib.Z_SYNC_FLUSH)
                    )

    def abort(self) -> None:
        """Cut the line without a closing handshake."""
        transport = self.ws._req.transport if self.ws._req is not None else None
        if transport is not None:
            transport.abort()


@dataclass(eq=False)
class Session:
    id: str
    intents: int
    connection: Connection | None
    seq: int = 0
    log: list[tuple[int, str, Json]] = field(default_factory=list)
    left: float = 0.0


class Gateway:
    """Serves `/gateway/`. Public switches and doings are for tests; counters say what clients did.

    `heartbeat_interval` in seconds; `deaf` stops acknowledging heartbeats (a zombie connection); `privileged`
    lets clients ask for privileged intents; `refuse_connections` makes the listener answer 503.
    """

    def __init__(self, realm: Realm) -> None:
        self.realm = realm
        self.sessions: dict[str, Session] = {}
        self.heartbeat_interval = 41.25
        self.resume_window = 120.0
        self.deaf = False
        self.privileged = False
        self.refuse_connections = False
        self.invalid_next: bool | None = None
        self.identified = self.resumed = self.replayed = 0
        self.closes: list[int] = []  # codes the clients closed with
        self.turned_away: list[int] = []  # codes the server closed with
        self._connections: set[Connection] = set()
        self._made = 0

    # --- what tests do ----------------------------------------

    @property
    def connected(self) -> bool:
        """Whether a client is identified and on line."""
        return any(each.connection is not None for each in self.alive())

    def alive(self) -> list[Session]:
        now = self.realm.clock.now()
        for each in list(self.sessions.values()):
            if each.connection is None and now - each.left > self.resume_window:
                del self.sessions[each.id]
        return list(self.sessions.values())

    async def reconnect(self) -> None:
        """Ask every client to reconnect and resume (opcode 7)."""
        await asyncio.gather(*(each.send(7) for each in self._connections))

    async def invalidate(self, *, resumable: bool = False) -> None:
        """Tell every client that its session is invalid (opcode 9)."""
        if not resumable:
            for each in self._connections:
                self._forget(each)
        await asyncio.gather(*(each.send(9, resumable) for each in list(self._connections)))

    async def ask_heartbeat(self) -> None:
        """Ask every client for a heartbeat at once (opcode 1)."""
        await asyncio.gather(*(each.send(1) for each in self._connections))

    def drop(self) -> None:
        """Cut every line; the sessions stay and can be resumed."""
        for each in list(self._connections):
            each.abort()
            self._detach(each)

    async def close(self, code: int) -> None:
        """Close every connection with `code`."""
        for each in list(self._connections):
            if code not in (4000, 4001, 4002, 4008):
                self._forget(each)
            self._detach(each)
            await each.ws.close(code=code)

    async def dispatch(self, event: str, data: Json, *, private: bool = False) -> bool:
        """Send an event to every session alive that wants it; True where at least one will get it. `private`
        is whether it belongs to a direct-message channel."""
        need = NEEDS.get(event, 0)
        if event.startswith("MESSAGE_"):
            need = DIRECT_MESSAGES if private else GUILD_MESSAGES
        wanted = [each for each in self.alive() if not need or each.intents & need]
        for each in wanted:
            await self._push(each, event, self._withheld(each, event, data, private))
        return bool(wanted)

    # --- the wire ----------------------------------------

    async def serve(self, request: web.Request) -> web.StreamResponse:
        if self.refuse_connections:
            return web.Response(status=503)
        ws = web.WebSocketResponse(max_msg_size=1 << 20)
        await ws.prepare(request)
        deflate = zlib.compressobj() if request.query.get("compress") == "zlib-stream" else None
        line = Connection(ws, deflate)
        self._connections.add(line)
        try:
            if request.query.get("v") not in ("9", "10"):
                raise Closed(4012, "Invalid API version.")
            await line.send(10, {"heartbeat_interval": int(self.heartbeat_interval * 1000)})
            await self._converse(line)
        except Closed as closed:
            self.turned_away.append(closed.code)
            self._forget(line)
            await ws.close(code=closed.code, message=closed.reason.encode())
        finally:
            if ws.close_code is not None:
                self.closes.append(ws.close_code)
            if ws.close_code in (1000, 1001):
                self._forget(line)
            self._detach(line)
            self._connections.discard(line)
            self.realm.pulse.beat()
        return ws

    async def _converse(self, line: Connection) -> None:
        doing: dict[int, Callable[[Connection, Json], Awaitable[None]]] = {
            1: self._heartbeat,
            2: self._identify,
            6: self._resume,
        }
        async for frame in line.ws:
            if frame.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                continue
            self._meter(line, len(frame.data))
            try:
                packet = json.loads(frame.data)
                op, data = packet["op"], packet.get("d")
            except (ValueError, KeyError, TypeError):
                raise Closed(4002, "Error while decoding payload.") from None
            if op in doing:
                await doing[op](line, data)
            elif op not in (3, 4, 8, 31):
                raise Closed(4001, "Unknown opcode.")
            elif self._session(line) is None:
                raise Closed(4003, "Not authenticated.")

    def _meter(self, line: Connection, size: int) -> None:
        now = self.realm.clock.now()
        line.sent.append(now)
        while line.sent and now - line.sent[0] > 60:
            line.sent.popleft()
        if len(line.sent) > 120:
            raise Closed(4008, "You are being rate limited.")
        if size > 4096:
            raise Closed(4002, "Payload longer than 4096 bytes.")

    async def _heartbeat(self, line: Connection, data: Json) -> None:
        if not self.deaf:
            await line.send(11)

    async def _identify(self, line: Connection, data: Json) -> None:
        if self._session(line) is not None:
            raise Closed(4005, "Already authenticated.")
        if data.get("token") != self.realm.token:
            raise Closed(4004, "Authentication failed.")
        intents = data.get("intents")
        if not isinstance(intents, int) or intents >> 26:
            raise Closed(4013, "Invalid intent(s).")
        if intents & PRIVILEGED and not self.privileged:
            raise Closed(4014, "Disallowed intent(s).")
        shard = data.get("shard", [0, 1])
        if not 0 <= shard[0] < shard[1]:
            raise Closed(4010, "Invalid shard.")
        if await self._refused(line):
            return
        self._made += 1
        session = Session(f"session{self._made}", intents, line)
        self.sessions[session.id] = session
        self.identified += 1
        guilds = self.realm.guilds_wire()
        await self._push(
            session,
            "READY",
            {
                "v": 10,
                "user": self.realm.bot.wire(),
                "session_id": session.id,
                "shard": shard,
                "resume_gateway_url": self.realm.gateway_url,
                "private_channels": [],
                "guilds": [{"id": guild["id"], "unavailable": True} for guild in guilds],
                "application": {"id": str(self.realm.bot.id), "flags": 0},
            },
        )
        for guild in guilds:
            if intents & GUILDS:
                await self._push(session, "GUILD_CREATE", guild)
        self.realm.pulse.beat()

    async def _resume(self, line: Connection, data: Json) -> None:
        if data.get("token") != self.realm.token:
            raise Closed(4004, "Authentication failed.")
        if await self._refused(line):
            return
        self.alive()
        session = self.sessions.get(str(data.get("session_id")))
        if session is None:
            await line.send(9, False)
            return
        seen = data.get("seq")
        if not isinstance(seen, int) or seen > session.seq:
            raise Closed(4007, "Invalid seq.")
        if session.connection is not None:
            session.connection.abort()
        self.resumed += 1
        while seen < session.seq:  # what happens during the replay is replayed as well
            number, event, payload = session.log[seen]
            await line.send(0, payload, event=event, seq=number)
            seen += 1
            self.replayed += 1
        session.connection = line
        await self._push(session, "RESUMED", {})
        self.realm.pulse.beat()

    async def _refused(self, line: Connection) -> bool:
        resumable, self.invalid_next = self.invalid_next, None
        if resumable is None:
            return False
        await line.send(9, resumable)
        return True

    async def _push(self, session: Session, event: str, data: Json) -> None:
        session.seq += 1
        session.log.append((session.seq, event, data))
        if session.connection is not None:
            await session.connection.send(0, data, event=event, seq=session.seq)

    def _withheld(self, session: Session, event: str, data: Json, private: bool) -> Json:
        """The event without what needs the message content intent: others' words that do not mention the
        bot."""
        if event not in ("MESSAGE_CREATE", "MESSAGE_UPDATE") or private or session.intents & MESSAGE_CONTENT:
            return data
        own = data["author"]["id"] == str(self.realm.bot.id)
        if own or any(user["id"] == str(self.realm.bot.id) for user in data["mentions"]):
            return data
        return data | {"content": "", "attachments": [], "embeds": [], "components": []}

    def _session(self, line: Connection) -> Session | None:
        return next((each for each in self.sessions.values() if each.connection is line), None)

    def _detach(self, line: Connection) -> None:
        session = self._session(line)
        if session is not None:
            session.connection, session.left = None, self.realm.clock.now()

    def _forget(self, line: Connection) -> None:
        session = self._session(line)
        if session is not None:
            del self.sessions[session.id]
