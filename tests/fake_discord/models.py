"""The objects of the fake server: users, channels, messages, interactions; its clock and its ids.

A `Message` is one live object: edits change it in place (older revisions are in `Message.history`), so user
actions work on what a user would see now. `Message.snapshot()` is the message on a screen that has not been
refreshed.
"""

from __future__ import annotations

import asyncio
import copy
import datetime
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

DISCORD_EPOCH_MS = 1_420_070_400_000
EPHEMERAL, SUPPRESS_NOTIFICATIONS, COMPONENTS_V2, LOADING = 1 << 6, 1 << 12, 1 << 15, 1 << 7
TEXT, DM, PUBLIC_THREAD, FORUM = 0, 1, 11, 15
COMMAND, COMPONENT, AUTOCOMPLETE, MODAL_SUBMIT = 2, 3, 4, 5
TOKEN_LIFETIME = 15 * 60.0
ACK_DEADLINE = 3.0

PERMISSIONS = {
    "VIEW_CHANNEL": 1 << 10,
    "SEND_MESSAGES": 1 << 11,
    "MANAGE_MESSAGES": 1 << 13,
    "EMBED_LINKS": 1 << 14,
    "ATTACH_FILES": 1 << 15,
    "READ_MESSAGE_HISTORY": 1 << 16,
    "USE_APPLICATION_COMMANDS": 1 << 31,
    "MANAGE_THREADS": 1 << 34,
    "CREATE_PUBLIC_THREADS": 1 << 35,
    "SEND_MESSAGES_IN_THREADS": 1 << 38,
    "PIN_MESSAGES": 1 << 51,
}
ALL_PERMISSIONS = sum(PERMISSIONS.values())


class ApiError(Exception):
    """Discord's response to a request that it does not accept.

    `path`: the path of the invalid field, outermost first; it becomes Discord's nested `errors` object.
    """

    def __init__(
        self,
        status: int,
        code: int,
        message: str,
        at: tuple[str | int, ...] = (),
        *,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{status}/{code} {message}" + (f" at {'.'.join(map(str, at))}" if at else ""))
        self.status, self.code, self.message = status, code, message
        self.path, self.retry_after = at, retry_after

    def body(self) -> Json:
        told: Json = {"message": self.message, "code": self.code}
        if self.retry_after is not None:
            return told | {"retry_after": self.retry_after, "global": False}
        if not self.path:
            return told
        errors: Json = {"_errors": [{"code": "INVALID", "message": self.message}]}
        for name in reversed(self.path):
            errors = {str(name): errors}
        return {"message": "Invalid Form Body", "code": self.code, "errors": errors}


def invalid_form(message: str, *at: str | int) -> ApiError:
    """400/50035, the response to a well-formed request whose content is not valid."""
    return ApiError(400, 50035, message, at or ("_",))


class ChangeSignal:
    """Wakes all that wait for a change of the server's state; other conditions are checked every 20 ms."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def notify(self) -> None:
        self._event.set()
        self._event = asyncio.Event()

    async def wait_until(self, condition: Callable[[], Any], timeout: float) -> bool:
        """Wait until `condition()` is true; False after `timeout` seconds."""
        end = time.monotonic() + timeout
        while not condition():
            remaining = end - time.monotonic()
            if remaining <= 0:
                return False
            try:
                await asyncio.wait_for(self._event.wait(), min(remaining, 0.02))
            except TimeoutError:
                continue
        return True


class ServerClock:
    """The server's time in seconds. Tests skip time with `advance`.

    Deadlines and lifetimes end by skipped time alone (`now`), so a slow machine misses none. Rate limits
    refill as time passes (`real_time`), because the client really waits for them.
    """

    def __init__(self, pulse: ChangeSignal) -> None:
        self._changes, self.skipped = pulse, 0.0

    def now(self) -> float:
        """The seconds that tests have skipped."""
        return self.skipped

    def real_time(self) -> float:
        """Monotonic real seconds and the skipped ones; only differences are meaningful."""
        return time.monotonic() + self.skipped

    def unix_time(self) -> float:
        """Unix time in seconds, with the skipped time."""
        return time.time() + self.skipped

    def advance(self, seconds: float) -> None:
        """Skip `seconds`: tokens expire, threads are archived, rate limits refill."""
        self.skipped += seconds
        self._changes.notify()


class SnowflakeGenerator:
    """Ids in Discord's form: ascending, with their time."""

    def __init__(self, clock: ServerClock) -> None:
        self._clock, self._last = clock, 0

    def __call__(self) -> int:
        made = (int(self._clock.unix_time() * 1000) - DISCORD_EPOCH_MS) << 22
        self._last = max(made, self._last + 1)
        return self._last


def iso_time(unix: float) -> str:
    return datetime.datetime.fromtimestamp(unix, datetime.UTC).isoformat()


@dataclass(eq=False)
class User:
    """A user, or the bot.

    `is_member`: they are in the guild. `accepts_dms`: the bot may send them direct messages.
    """

    id: int
    name: str
    bot: bool = False
    is_member: bool = True
    accepts_dms: bool = True

    @property
    def mention(self) -> str:
        return f"<@{self.id}>"

    def to_json(self) -> Json:
        return {
            "id": str(self.id),
            "username": self.name.lower(),
            "global_name": self.name,
            "discriminator": "0",
            "avatar": None,
            "bot": self.bot,
            "public_flags": 0,
        }

    def member_json(self, *, user: bool = True) -> Json:
        data: Json = {
            "roles": [],
            "joined_at": iso_time(0),
            "flags": 0,
            "permissions": str(ALL_PERMISSIONS),
        }
        return data | {"user": self.to_json()} if user else data


@dataclass(eq=False)
class Channel:
    """A guild channel, a thread (with a `parent`) or a channel of direct messages (with a `recipient`).

    `denied`: the names of permissions that the bot does not have here. `hidden_from`: users who do not see
    it. A thread is archived by request, or `auto_archive_minutes` after `active_at`.
    """

    id: int
    name: str
    kind: int
    clock: ServerClock
    guild_id: int | None = None
    parent: Channel | None = None
    recipient: User | None = None
    owner_id: int = 0
    denied: set[str] = field(default_factory=set)
    hidden_from: list[User] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    members: dict[int, User] = field(default_factory=dict)
    auto_archive_minutes: int = 4320
    locked: bool = False
    archived_by_request: bool = False
    active_at: float = 0.0
    old_edit_times: list[float] = field(default_factory=list)
    deleted: bool = False

    @property
    def is_thread(self) -> bool:
        return self.parent is not None

    @property
    def archived(self) -> bool:
        return self.is_thread and (
            self.archived_by_request or self.clock.now() - self.active_at > self.auto_archive_minutes * 60
        )

    @property
    def pins(self) -> list[Message]:
        return [message for message in self.messages if message.pinned and not message.deleted]

    def allows(self, permission: str) -> bool:
        """Whether the bot has `permission` here; a thread inherits what its parent denies."""
        return permission not in self.denied and (self.parent is None or self.parent.allows(permission))

    @property
    def bot_permissions(self) -> int:
        return sum(bit for name, bit in PERMISSIONS.items() if self.allows(name))

    def unarchive(self) -> None:
        self.archived_by_request, self.active_at = False, self.clock.now()

    def to_json(self) -> Json:
        last = str(self.messages[-1].id) if self.messages else None
        data: Json = {"id": str(self.id), "type": self.kind, "flags": 0, "last_message_id": last}
        if self.recipient is not None:
            return data | {"recipients": [self.recipient.to_json()]}
        data |= {"name": self.name, "guild_id": str(self.guild_id), "rate_limit_per_user": 0}
        if self.parent is None:
            return data | {
                "position": 0,
                "permission_overwrites": [
                    {"id": str(user.id), "type": 1, "allow": "0", "deny": str(PERMISSIONS["VIEW_CHANNEL"])}
                    for user in self.hidden_from
                ],
                "nsfw": False,
                "parent_id": None,
                "topic": None,
                "available_tags": [],
                "default_auto_archive_duration": 4320,
            }
        return data | {
            "parent_id": str(self.parent.id),
            "owner_id": str(self.owner_id),
            "message_count": len(self.messages),
            "member_count": len(self.members),
            "total_message_sent": len(self.messages),
            "applied_tags": [],
            "thread_metadata": {
                "archived": self.archived,
                "auto_archive_duration": self.auto_archive_minutes,
                "archive_timestamp": iso_time(self.clock.unix_time()),
                "locked": self.locked,
                "create_timestamp": iso_time(((self.id >> 22) + DISCORD_EPOCH_MS) / 1000),
            },
        }


@dataclass(eq=False)
class UploadedFile:
    """An uploaded file; `content` is the bytes that arrived."""

    id: int
    filename: str
    content: bytes
    url: str
    description: str | None = None

    @property
    def pixel_size(self) -> tuple[int, int] | None:
        """Width and height of a PNG or a lossless WebP, from its header; None for other files."""
        if self.content[8:16] == b"WEBPVP8L":
            bits = int.from_bytes(self.content[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        if self.content[:8] != b"\x89PNG\r\n\x1a\n" or len(self.content) < 24:
            return None
        return int.from_bytes(self.content[16:20], "big"), int.from_bytes(self.content[20:24], "big")

    @property
    def content_type(self) -> str:
        if not self.pixel_size:
            return "application/octet-stream"
        return "image/webp" if self.content[8:12] == b"WEBP" else "image/png"

    def to_json(self) -> Json:
        data: Json = {
            "id": str(self.id),
            "filename": self.filename,
            "size": len(self.content),
            "url": self.url,
            "proxy_url": self.url,
            "content_type": self.content_type,
        }
        if self.description:
            data["description"] = self.description
        if self.pixel_size:
            data["width"], data["height"] = self.pixel_size
        return data


@dataclass(frozen=True)
class MessageRevision:
    """A message as it was before an edit."""

    content: str
    components: list[Json]
    attachments: list[UploadedFile]


@dataclass(eq=False)
class Message:
    """A message. `visible_to`: the only user who sees an ephemeral message; None for other messages."""

    id: int
    channel: Channel
    author: User
    created_at: float
    created_unix: float
    content: str = ""
    components: list[Json] = field(default_factory=list)
    attachments: list[UploadedFile] = field(default_factory=list)
    flags: int = 0
    type: int = 0
    nonce: str | None = None
    visible_to: User | None = None
    mentioned: list[User] = field(default_factory=list)
    pinged: list[User] = field(default_factory=list)
    interaction: Interaction | None = None
    pinned: bool = False
    deleted: bool = False
    edited_unix: float | None = None
    history: list[MessageRevision] = field(default_factory=list)
    live_message: Message | None = None

    @property
    def ephemeral(self) -> bool:
        return self.visible_to is not None

    @property
    def uses_v2(self) -> bool:
        return bool(self.flags & COMPONENTS_V2)

    @property
    def loading(self) -> bool:
        """Whether it shows that the bot is thinking."""
        return bool(self.flags & LOADING)

    @property
    def text(self) -> str:
        """All its text, line by line: content, text displays."""
        return "\n".join(self.texts)

    @property
    def texts(self) -> list[str]:
        texts = [self.content] if self.content else []
        return texts + [part["content"] for part in walk_components(self.components) if part["type"] == 10]

    def snapshot(self) -> Message:
        """A frozen copy: the message on a screen that is not refreshed later. User actions accept it."""
        frozen = copy.copy(self)
        frozen.live_message = self.live_message or self
        frozen.components = copy.deepcopy(self.components)
        frozen.attachments = list(self.attachments)
        return frozen

    def to_json(self) -> Json:
        data: Json = {
            "id": str(self.id),
            "channel_id": str(self.channel.id),
            "type": self.type,
            "content": self.content,
            "author": self.author.to_json(),
            "attachments": [each.to_json() for each in self.attachments],
            "embeds": [],
            "components": copy.deepcopy(self.components),
            "flags": self.flags,
            "mentions": [user.to_json() for user in self.mentioned],
            "mention_roles": [],
            "mention_everyone": False,
            "pinned": self.pinned,
            "tts": False,
            "timestamp": iso_time(self.created_unix),
            "edited_timestamp": None if self.edited_unix is None else iso_time(self.edited_unix),
        }
        if self.nonce is not None:
            data["nonce"] = self.nonce
        if self.author.bot:
            data["application_id"] = str(self.author.id)
            if self.interaction is not None:
                data["webhook_id"] = str(self.author.id)
        return data

    def __repr__(self) -> str:
        return f"<Message {self.id} in {self.channel.name!r}: {self.text[:60]!r}>"


@dataclass(frozen=True)
class Ping:
    """A notification that a user got. `silent`: it was sent with suppressed notifications."""

    user: User
    message: Message
    silent: bool


@dataclass(frozen=True)
class OptionChoice:
    """A choice of an option, or a suggestion of autocompletion."""

    name: str
    value: str | int | float


@dataclass(eq=False)
class Modal:
    """A form on a user's screen."""

    user: User
    custom_id: str
    title: str
    components: list[Json]
    channel: Channel
    message: Message | None
    is_open: bool = True


@dataclass(eq=False)
class Interaction:
    """An interaction of a user with the bot, and its results.

    `ack_type`: the type of the callback (4 message, 5 thinking, 6 deferred update, 7 update, 8 choices, 9
    modal); `ack_after`: the processor seconds of this process until it arrived; both None while there is
    none. `responses`: all messages created for it, in order. `delivered`: whether there was a session to
    receive it.
    """

    id: int
    token: str
    type: int
    user: User
    channel: Channel
    data: Json
    created_at: float
    source: Message | None = None
    delivered: bool = False
    ack_type: int | None = None
    ack_after: float | None = None
    original: Message | None = None
    updated: bool = False
    responses: list[Message] = field(default_factory=list)
    choices: list[OptionChoice] = field(default_factory=list)
    modal: Modal | None = None
    processor_time: float = field(default_factory=time.process_time)

    @property
    def is_unanswered(self) -> bool:
        """Whether the user sees that the application did not respond."""
        return self.ack_type is None

    @property
    def is_thinking(self) -> bool:
        """Whether the user still sees that the bot is thinking."""
        return self.original is not None and self.original.loading and not self.original.deleted

    @property
    def private_messages(self) -> list[Message]:
        """The responses that only this user sees."""
        return [each for each in self.responses if each.ephemeral and not each.deleted]

    @property
    def public_messages(self) -> list[Message]:
        return [each for each in self.responses if not each.ephemeral and not each.deleted]

    @property
    def message(self) -> Message:
        """The first response. Raises AssertionError where there is none."""
        assert self.responses, f"There is no response to {self}."
        return self.responses[0]

    @property
    def text(self) -> str:
        """The text of all responses, private and public."""
        return "\n".join(each.text for each in self.responses if not each.deleted)

    def __repr__(self) -> str:
        name = self.data.get("name") or self.data.get("custom_id")
        return f"<Interaction type {self.type} {name!r} by {self.user.name}, ack {self.ack_type}>"


@dataclass(frozen=True)
class RejectedRequest:
    """A request with a 4xx response, and the reason."""

    method: str
    path: str
    status: int
    code: int
    reason: str

    def __str__(self) -> str:
        return f"{self.method} {self.path}: {self.status}/{self.code} {self.reason}"


def walk_components(components: list[Json]) -> Iterator[Json]:
    """All components in reading order, nested ones after their parents."""
    for part in components:
        yield part
        yield from walk_components(part.get("components", []))
        if isinstance(part.get("component"), dict):
            yield from walk_components([part["component"]])
