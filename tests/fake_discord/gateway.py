"""The gateway: websocket connections, their sessions, and the events that are dispatched to them.

Theory of operation. A *session* starts with IDENTIFY and outlives its connection: every event dispatched to
it gets a sequence number and is kept, so that a RESUME on a later connection replays the missed events and
ends with RESUMED. A session ends when the client closes with 1000 or 1001, or
when it is not resumed for `RESUME_WINDOW` seconds. An event goes to every live session, connected or not; if
there is none, the event is lost, as on Discord. A killed process leaves a session that its successor does not
know and never resumes: the successor sends IDENTIFY and gets only later events.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aiohttp import WSMsgType, web

from tests.fake_discord.models import Json

if TYPE_CHECKING:
    from tests.fake_discord.server_state import ServerState

PRIVILEGED = 1 << 1 | 1 << 8 | 1 << 15
RESUME_WINDOW = 120.0
GUILDS, GUILD_MESSAGES, DIRECT_MESSAGES = 1 << 0, 1 << 9, 1 << 12
NEEDS_NO_INTENT = "INTERACTION_CREATE"


class GatewayClose(Exception):
    """The server closes the connection with this code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code} {reason}")
        self.code, self.reason = code, reason


@dataclass(eq=False)
class GatewayConnection:
    """One websocket. All its frames share one deflate context, as zlib-stream has it."""

    ws: web.WebSocketResponse
    deflate: zlib._Compress = field(default_factory=zlib.compressobj)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def send(
        self, op: int, data: object = None, *, event: str | None = None, seq: int | None = None
    ) -> None:
        frame = json.dumps({"op": op, "d": data, "s": seq, "t": event})
        async with self.lock:
            with contextlib.suppress(ConnectionError, RuntimeError):
                await self.ws.send_bytes(
                    self.deflate.compress(frame.encode()) + self.deflate.flush(zlib.Z_SYNC_FLUSH)
                )

    def abort(self) -> None:
        """Abort the connection without a closing handshake."""
        transport = self.ws._req.transport if self.ws._req is not None else None
        if transport is not None:
            transport.abort()


@dataclass(eq=False)
class GatewaySession:
    id: str
    intents: int
    shard: tuple[int, int]
    connection: GatewayConnection | None
    seq: int = 0
    log: list[tuple[int, str, Json]] = field(default_factory=list)
    disconnected_at: float = 0.0

    def owns(self, guild_id: int) -> bool:
        """Whether the guild, or 0 for direct messages, belongs to the shard of this session."""
        return (guild_id >> 22) % self.shard[1] == self.shard[0]


class Gateway:
    """Serves `/gateway/`. Public switches and methods are for tests; counters say what clients did.

    `refuse_connections` answers 503.
    """

    def __init__(self, server: ServerState) -> None:
        self.server = server
        self.sessions: dict[str, GatewaySession] = {}
        self.refuse_connections = False
        self.identified = self.resumed = 0
        self.identified_shards: list[tuple[int, float]] = []  # with the time of each
        self._connections: set[GatewayConnection] = set()
        self._session_count = 0

    # --- for tests ----------------------------------------

    @property
    def connected(self) -> bool:
        """Whether an identified client is connected."""
        return any(each.connection is not None for each in self.live_sessions())

    def live_sessions(self) -> list[GatewaySession]:
        now = self.server.clock.now()
        for each in list(self.sessions.values()):
            if each.connection is None and now - each.disconnected_at > RESUME_WINDOW:
                del self.sessions[each.id]
        return list(self.sessions.values())

    def drop_dead_sessions(self) -> None:
        """End the sessions of processes that are gone; nobody resumes them."""
        for each in list(self.sessions.values()):
            if each.connection is None:
                del self.sessions[each.id]

    async def request_reconnect(self) -> None:
        """Ask every client to reconnect and resume (opcode 7)."""
        await asyncio.gather(*(each.send(7) for each in self._connections))

    def drop_connections(self) -> None:
        """Abort every connection; the sessions stay and can be resumed."""
        for each in list(self._connections):
            each.abort()
            self._detach(each)

    async def close_connections(self, code: int) -> None:
        """Close every connection with `code`."""
        for each in list(self._connections):
            self._end_session(each)
            await each.ws.close(code=code)

    async def dispatch(self, event: str, data: Json, *, private: bool = False) -> bool:
        """Send an event to every live session whose intents include it; True if there is such a session.

        `private`: the event is about a channel of direct messages.
        """
        need = GUILDS
        if event.startswith("MESSAGE_"):
            need = DIRECT_MESSAGES if private else GUILD_MESSAGES
        guild_id, is_free = int(data.get("guild_id") or 0), event == NEEDS_NO_INTENT
        wanted = [
            each for each in self.live_sessions() if (is_free or each.intents & need) and each.owns(guild_id)
        ]
        for each in wanted:
            await self._send_event(each, event, self._without_content(each, event, data, private))
        return bool(wanted)

    # --- the websocket protocol ----------------------------------------

    async def serve(self, request: web.Request) -> web.StreamResponse:
        if self.refuse_connections:
            return web.Response(status=503)
        ws = web.WebSocketResponse(max_msg_size=1 << 20)
        await ws.prepare(request)
        connection = GatewayConnection(ws)
        self._connections.add(connection)
        try:
            await connection.send(10, {"heartbeat_interval": 41_250})
            await self._read_frames(connection)
        except GatewayClose as closed:
            self._end_session(connection)
            await ws.close(code=closed.code, message=closed.reason.encode())
        finally:
            if ws.close_code in (1000, 1001):
                self._end_session(connection)
            self._detach(connection)
            self._connections.discard(connection)
            self.server.changes.notify()
        return ws

    async def _read_frames(self, connection: GatewayConnection) -> None:
        doing: dict[int, Callable[[GatewayConnection, Json], Awaitable[None]]] = {
            1: self._heartbeat,
            2: self._identify,
            6: self._resume,
        }
        async for frame in connection.ws:
            if frame.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                continue
            packet = json.loads(frame.data)
            if packet["op"] in doing:
                await doing[packet["op"]](connection, packet.get("d"))

    async def _heartbeat(self, connection: GatewayConnection, data: Json) -> None:
        await connection.send(11)

    async def _identify(self, connection: GatewayConnection, data: Json) -> None:
        if data.get("token") != self.server.token:
            raise GatewayClose(4004, "Authentication failed.")
        intents = data["intents"]
        if intents & PRIVILEGED:
            raise GatewayClose(4014, "Disallowed intent(s).")
        shard = data.get("shard", [0, 1])
        self._session_count += 1
        session = GatewaySession(f"session{self._session_count}", intents, (shard[0], shard[1]), connection)
        self.sessions[session.id] = session
        self.identified += 1
        self.identified_shards.append((shard[0], self.server.clock.real_time()))
        guilds = [each for each in self.server.guilds_json() if session.owns(int(each["id"]))]
        await self._send_event(
            session,
            "READY",
            {
                "v": 10,
                "user": self.server.bot.to_json(),
                "session_id": session.id,
                "shard": shard,
                "resume_gateway_url": self.server.gateway_url,
                "private_channels": [],
                "guilds": [{"id": guild["id"], "unavailable": True} for guild in guilds],
                "application": {"id": str(self.server.bot.id), "flags": 0},
            },
        )
        for guild in guilds:
            if intents & GUILDS:
                await self._send_event(session, "GUILD_CREATE", guild)
        self.server.changes.notify()

    async def _resume(self, connection: GatewayConnection, data: Json) -> None:
        if data.get("token") != self.server.token:
            raise GatewayClose(4004, "Authentication failed.")
        self.live_sessions()
        session = self.sessions.get(str(data.get("session_id")))
        if session is None:
            await connection.send(9, False)
            return
        seen = data["seq"]
        if session.connection is not None:
            session.connection.abort()
        self.resumed += 1
        while seen < session.seq:  # events during the replay are replayed too
            number, event, payload = session.log[seen]
            await connection.send(0, payload, event=event, seq=number)
            seen += 1
        session.connection = connection
        await self._send_event(session, "RESUMED", {})
        self.server.changes.notify()

    async def _send_event(self, session: GatewaySession, event: str, data: Json) -> None:
        session.seq += 1
        session.log.append((session.seq, event, data))
        if session.connection is not None:
            await session.connection.send(0, data, event=event, seq=session.seq)

    def _without_content(self, session: GatewaySession, event: str, data: Json, private: bool) -> Json:
        """The event without the content of others' messages, unless a mention allows it."""
        if event not in ("MESSAGE_CREATE", "MESSAGE_UPDATE") or private:
            return data
        own = data["author"]["id"] == str(self.server.bot.id)
        if own or any(user["id"] == str(self.server.bot.id) for user in data["mentions"]):
            return data
        return data | {"content": "", "attachments": [], "embeds": [], "components": []}

    def _session_of(self, connection: GatewayConnection) -> GatewaySession | None:
        return next((each for each in self.sessions.values() if each.connection is connection), None)

    def _detach(self, connection: GatewayConnection) -> None:
        session = self._session_of(connection)
        if session is not None:
            session.connection, session.disconnected_at = None, self.server.clock.now()

    def _end_session(self, connection: GatewayConnection) -> None:
        session = self._session_of(connection)
        if session is not None:
            del self.sessions[session.id]
