"""The state of the fake server and the laws that hold for it whoever acts: places, messages, pings, files.

`rest` translates requests into these operations, `drivers` lets people act on their outcome. Every breach
raises `Refused` with Discord's status and code.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from . import limits
from .gateway import Gateway
from .model import (
    AUTOCOMPLETE,
    COMPONENTS_V2,
    DEADLINE,
    DM,
    EPHEMERAL,
    FORUM,
    LOADING,
    PUBLIC_THREAD,
    SUPPRESS_NOTIFICATIONS,
    TEXT,
    TOKEN_LIFE,
    Attachment,
    Channel,
    Clock,
    Face,
    Interaction,
    Json,
    Message,
    Ping,
    Pulse,
    Refusal,
    Refused,
    Snowflakes,
    User,
    malformed,
    walk,
)

MENTION = re.compile(r"<@!?(\d+)>")
HOUR = 3600.0


@dataclass
class Upload:
    """A file part of a multipart request; `index` is the n of `files[n]`."""

    index: int
    filename: str
    content: bytes


@dataclass
class Draft:
    """A request about a message: the JSON part and the files that came with it."""

    data: Json
    uploads: list[Upload] = field(default_factory=list)


class World:
    """Everything there is. `people` become members of the one guild; `manager` names who may manage it."""

    def __init__(self, people: Sequence[str], guild: str, channels: Sequence[str]) -> None:
        self.pulse = Pulse()
        self.clock = Clock(self.pulse)
        self.ids = Snowflakes(self.clock)
        self.token = f"fake.{secrets.token_hex(8)}"
        self.base_url = ""
        self.bot = User(self.ids(), "Railpost", bot=True)
        self.users = {name: User(self.ids(), name, manager=i == 0) for i, name in enumerate(people)}
        self.guild_id, self.guild_name = self.ids(), guild
        self.channels: dict[int, Channel] = {}
        for name in channels:
            self.open_channel(name)
        self.commands: list[Json] = []
        self.guild_commands: list[Json] = []
        self.interactions: list[Interaction] = []
        self.pings: list[Ping] = []
        self.refused: list[Refusal] = []
        self.faults: list[str] = []
        self.files: dict[int, Attachment] = {}
        self.nonces: dict[tuple[int, str], Message] = {}
        self.repeated: list[Message] = []
        self.attachment_limit = 10 * 1024 * 1024
        self.nonce_memory = 300.0
        self.old_edits: tuple[int, float] | None = None
        self.gateway = Gateway(self)

    # --- addresses ----------------------------------------

    @property
    def api_url(self) -> str:
        """What `discord.http.Route.BASE` is set to."""
        return f"{self.base_url}/api/v10"

    @property
    def gateway_url(self) -> str:
        """What `discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY` is set to (as `yarl.URL`)."""
        return f"{self.base_url.replace('http', 'ws', 1)}/gateway/"

    # --- people and places ----------------------------------------

    def open_channel(self, name: str, *, forum: bool = False) -> Channel:
        channel = Channel(self.ids(), name, FORUM if forum else TEXT, self.clock, guild_id=self.guild_id)
        self.channels[channel.id] = channel
        return channel

    def everybody(self) -> dict[int, User]:
        return {user.id: user for user in [*self.users.values(), self.bot]}

    def user_by_id(self, user_id: object) -> User:
        try:
            return self.everybody()[int(str(user_id))]
        except (KeyError, ValueError):
            raise Refused(404, 10013, "Unknown User") from None

    def channel_by_id(self, channel_id: object) -> Channel:
        try:
            channel = self.channels[int(str(channel_id))]
        except (KeyError, ValueError):
            raise Refused(404, 10003, "Unknown Channel") from None
        if channel.gone:
            raise Refused(404, 10003, "Unknown Channel")
        if not channel.allows("VIEW_CHANNEL"):
            raise Refused(403, 50001, "Missing Access")
        return channel

    def message_by_id(self, channel: Channel, message_id: object) -> Message:
        """A message that everybody in the channel sees: ephemeral ones are reached through their token
        only."""
        for message in channel.messages:
            if str(message.id) == str(message_id) and not message.deleted and not message.ephemeral:
                return message
        raise Refused(404, 10008, "Unknown Message")

    def direct(self, user: User) -> Channel:
        for channel in self.channels.values():
            if channel.recipient is user:
                return channel
        channel = Channel(self.ids(), user.name, DM, self.clock, recipient=user)
        self.channels[channel.id] = channel
        return channel

    def need(self, channel: Channel, *permissions: str) -> None:
        for permission in permissions:
            if channel.recipient is None and not channel.allows(permission):
                raise Refused(403, 50013, f"Missing Permissions ({permission})")

    def awake(self, channel: Channel) -> None:
        if channel.archived:
            raise Refused(400, 50083, "Thread is archived")

    def guild_wire(self) -> Json:
        places = [each for each in self.channels.values() if each.guild_id and not each.gone]
        return {
            "id": str(self.guild_id),
            "name": self.guild_name,
            "icon": None,
            "owner_id": str(self._owner()),
            "afk_timeout": 300,
            "afk_channel_id": None,
            "verification_level": 0,
            "roles": [
                {
                    "id": str(self.guild_id),
                    "name": "@everyone",
                    "color": 0,
                    "hoist": False,
                    "position": 0,
                    "permissions": str(self.bot_permissions()),
                    "managed": False,
                    "mentionable": False,
                    "flags": 0,
                }
            ],
            "default_message_notifications": 1,
            "explicit_content_filter": 0,
            "emojis": [],
            "stickers": [],
            "features": [],
            "mfa_level": 0,
            "system_channel_id": None,
            "system_channel_flags": 0,
            "rules_channel_id": None,
            "description": None,
            "banner": None,
            "premium_tier": 0,
            "preferred_locale": "en-GB",
            "nsfw_level": 0,
            "premium_progress_bar_enabled": False,
            "vanity_url_code": None,
            "joined_at": "2026-01-01T00:00:00+00:00",
            "large": False,
            "member_count": len(self.users) + 1,
            "voice_states": [],
            "presences": [],
            "stage_instances": [],
            "guild_scheduled_events": [],
            "soundboard_sounds": [],
            "members": [self.bot.member_wire()],
            "channels": [each.wire() for each in places if not each.is_thread],
            "threads": [each.wire() for each in places if each.is_thread and not each.archived],
        }

    def guilds_wire(self) -> list[Json]:
        return [self.guild_wire()]

    def bot_permissions(self) -> int:
        return Channel(0, "", TEXT, self.clock).bot_permissions

    def _owner(self) -> int:
        return next((user.id for user in self.users.values()), self.bot.id)

    # --- messages ----------------------------------------

    async def post(
        self,
        channel: Channel,
        draft: Draft,
        *,
        author: User | None = None,
        interaction: Interaction | None = None,
        ephemeral: bool = False,
        thinking: bool = False,
    ) -> Message:
        """Make a message. Errors: 50006, 50007, 50013, 50035, 40005, 160005 and those of `limits.message`."""
        author = author or self.bot
        data = draft.data
        if interaction is None and author is self.bot:
            self._may_send(channel, draft)
        elif interaction is not None:
            self.awake(channel)
        if earlier := self._repeat(channel, data):
            return earlier
        limits.allowed_mentions(data.get("allowed_mentions"))
        reference = self._reference(channel, data)
        message = Message(
            self.ids(),
            channel,
            author,
            self.clock.now(),
            self.clock.wall(),
            nonce=None if data.get("nonce") is None else limits.text(data["nonce"], 0, 25, "nonce"),
            interaction=interaction,
            reference=reference,
        )
        if ephemeral and interaction is not None:
            message.seen_by = interaction.user
        flags = int(data.get("flags") or 0) & (COMPONENTS_V2 | SUPPRESS_NOTIFICATIONS | 1 << 2)
        message.flags = flags | (EPHEMERAL if ephemeral else 0) | (LOADING if thinking else 0)
        self._fill(message, draft, thinking=thinking)
        if channel.is_thread:
            if channel.archived:
                channel.wake()
                await self.gateway.dispatch("THREAD_UPDATE", channel.wire())
            channel.touched = self.clock.now()
            if not ephemeral:
                channel.members.update({user.id: user for user in [author, *message.mentioned]})
        channel.messages.append(message)
        if message.nonce is not None:
            self.nonces[(channel.id, message.nonce)] = message
        if not thinking:
            self._ping(message, data)
        if interaction is not None:
            interaction.responses.append(message)
        if not ephemeral:
            await self._tell("MESSAGE_CREATE", message)
        self.pulse.beat()
        return message

    async def edit(self, message: Message, draft: Draft) -> Message:
        """Change a message in place; whatever the request leaves out stays. Edits notify nobody."""
        limits.allowed_mentions(draft.data.get("allowed_mentions"))
        face = Face(message.content, message.components, message.attachments, self.clock.now())
        before = (message.content, message.components, message.embeds, message.attachments, message.flags)
        message.flags |= int(draft.data.get("flags") or 0) & COMPONENTS_V2
        try:
            self._fill(message, draft, thinking=False)
        except Refused:
            message.content, message.components, message.embeds, message.attachments, message.flags = before
            raise
        for lost in set(face.attachments) - set(message.attachments):
            self.files.pop(lost.id, None)
        message.flags &= ~LOADING
        message.edited_unix = self.clock.wall()
        message.history.append(face)
        if not message.ephemeral:
            await self._tell("MESSAGE_UPDATE", message)
        self.pulse.beat()
        return message

    async def edit_own(self, channel: Channel, message: Message, draft: Draft) -> Message:
        """An edit by the bot through the channel. Errors: 50005 not its own, 50083 asleep, 30046 old."""
        if message.author is not self.bot:
            raise Refused(403, 50005, "Cannot edit a message authored by another user")
        self.awake(channel)
        now = self.clock.now()
        if self.old_edits is not None and now - message.at > HOUR:
            most, window = self.old_edits
            channel.old_edits = [at for at in channel.old_edits if now - at < window]
            if len(channel.old_edits) >= most:
                left = window - (now - channel.old_edits[0]) if channel.old_edits else window
                raise Refused(
                    429,
                    30046,
                    "Maximum number of edits to messages older than 1 hour reached. Try again later",
                    retry_after=round(left, 3),
                )
            channel.old_edits.append(now)
        return await self.edit(message, draft)

    async def delete(self, message: Message) -> None:
        message.deleted = True
        for each in message.attachments:
            self.files.pop(each.id, None)
        if not message.ephemeral:
            await self.gateway.dispatch(
                "MESSAGE_DELETE",
                {
                    "id": str(message.id),
                    "channel_id": str(message.channel.id),
                    "guild_id": str(message.channel.guild_id),
                },
                private=message.channel.kind == DM,
            )
        self.pulse.beat()

    async def note(self, channel: Channel, kind: int, author: User, content: str) -> None:
        """A system message (type 6 a pin, 18 a thread)."""
        message = Message(
            self.ids(), channel, author, self.clock.now(), self.clock.wall(), content, type=kind
        )
        channel.messages.append(message)
        await self._tell("MESSAGE_CREATE", message)

    async def _tell(self, event: str, message: Message) -> None:
        data = message.wire()
        if message.channel.guild_id:
            data["guild_id"] = str(message.channel.guild_id)
            if not message.author.bot:
                data["member"] = message.author.member_wire(user=False)
        await self.gateway.dispatch(event, data, private=message.channel.kind == DM)

    def _may_send(self, channel: Channel, draft: Draft) -> None:
        if channel.kind == FORUM:
            raise Refused(400, 50008, "Cannot send messages in a non-text channel")
        if channel.recipient is not None and not (channel.recipient.dms and channel.recipient.member):
            raise Refused(403, 50007, "Cannot send messages to this user")
        self.need(channel, "SEND_MESSAGES_IN_THREADS" if channel.is_thread else "SEND_MESSAGES")
        if draft.uploads:
            self.need(channel, "ATTACH_FILES")
        if channel.locked:
            raise Refused(400, 160005, "Cannot send messages in a locked thread")

    def _repeat(self, channel: Channel, data: Json) -> Message | None:
        if data.get("nonce") is None or not data.get("enforce_nonce"):
            return None
        earlier = self.nonces.get((channel.id, str(data["nonce"])))
        if earlier is None:
            return None
        if self.clock.now() - earlier.at > self.nonce_memory:
            self.faults.append(f"Nonce {earlier.nonce} was used for a second message in {channel.name}.")
            return None
        self.repeated.append(earlier)
        return earlier

    def _reference(self, channel: Channel, data: Json) -> Message | None:
        wanted = data.get("message_reference")
        if not wanted:
            return None
        try:
            return self.message_by_id(channel, wanted.get("message_id"))
        except Refused:
            if wanted.get("fail_if_not_exists", True):
                raise malformed("Unknown message", "message_reference") from None
            return None

    def _fill(self, message: Message, draft: Draft, *, thinking: bool) -> None:
        data = draft.data
        if "content" in data:
            message.content = data["content"] or ""
            if not isinstance(message.content, str):
                raise malformed("Must be a string.", "content")
        if "embeds" in data:
            message.embeds = data["embeds"] or []
        before = message.attachments
        message.attachments = self._files(message, draft)
        dropped = [each for each in before if each not in message.attachments]
        if "components" in data:
            message.components = data["components"] or []
        limits.message(
            content=message.content,
            embeds=message.embeds,
            components=message.components,
            files=len(message.attachments),
            v2=message.v2,
            thinking=thinking,
        )
        self._resolve(message, dropped)
        if not thinking:
            message.mentioned = self._mentioned(message, data.get("allowed_mentions"))
            self._judge(message)

    def _files(self, message: Message, draft: Draft) -> list[Attachment]:
        listed = draft.data.get("attachments")
        uploads = {each.index: each for each in draft.uploads}
        for each in draft.uploads:
            if len(each.content) > self.attachment_limit:
                raise Refused(413, 40005, "Request entity too large")
        kept = list(message.attachments) if listed is None else []
        for i, entry in enumerate(listed or []):
            at = ("attachments", i)
            description = limits.text(entry.get("description"), 0, 1024, *at, "description") or None
            mine = [each for each in message.attachments if str(each.id) == str(entry.get("id"))]
            if mine:
                mine[0].description = description or mine[0].description
                kept.append(mine[0])
                continue
            upload = uploads.pop(int(entry.get("id", -1)), None)
            if upload is None:
                raise malformed(
                    f"Attachment {entry.get('id')} is neither uploaded nor on the message.", *at, "id"
                )
            kept.append(self._store(message, upload, entry.get("filename") or upload.filename, description))
        return kept + [self._store(message, each, each.filename, None) for each in uploads.values()]

    def _store(self, message: Message, upload: Upload, filename: str, description: str | None) -> Attachment:
        made = self.ids()
        url = f"{self.base_url}/cdn/attachments/{message.channel.id}/{made}/{filename}"
        self.files[made] = Attachment(made, filename, upload.content, url, description)
        return self.files[made]

    def _resolve(self, message: Message, dropped: list[Attachment]) -> None:
        """Give components their ids and media their served addresses. Error: 50035 for a file that is not
        there."""
        taken = {part["id"] for part in walk(message.components) if part.get("id")}
        number = 0
        for part in walk(message.components):
            if not part.get("id"):
                number = next(n for n in range(number + 1, len(taken) + number + 2) if n not in taken)
                part["id"] = number
            for media in media_of(part):
                self._resolve_media(message, media, dropped)

    def _resolve_media(self, message: Message, media: Json, dropped: list[Attachment]) -> None:
        url = str(media["url"])
        if url.startswith("attachment://"):
            found = [
                each for each in message.attachments if each.filename == url.removeprefix("attachment://")
            ]
        elif url.startswith(f"{self.base_url}/cdn/"):
            found = [each for each in self.files.values() if each.url == url and each not in dropped]
        else:
            return
        if not found:
            raise malformed(f"The referenced attachment {url} was not found.", "components", "media", "url")
        file = found[0]
        media |= {
            "url": file.url,
            "proxy_url": file.url,
            "attachment_id": str(file.id),
            "loading_state": 2,
            "content_type": file.wire()["content_type"],
            "placeholder": "",
            "flags": 0,
        }
        if file.size_px:
            media["width"], media["height"] = file.size_px

    # --- who is notified ----------------------------------------

    def _mentioned(self, message: Message, allowed: Json | None) -> list[User]:
        """The people whom the text names and the request allows to be mentioned."""
        people = self.everybody()
        named = [
            people[int(found)]
            for found in dict.fromkeys(MENTION.findall(message.text))
            if int(found) in people
        ]
        if allowed is None or "users" in allowed.get("parse", []):
            return named
        listed = {str(each) for each in allowed.get("users") or []}
        return [user for user in named if str(user.id) in listed]

    def _ping(self, message: Message, data: Json) -> None:
        allowed = data.get("allowed_mentions")
        people = list(message.mentioned)
        if message.reference is not None and (allowed is None or allowed.get("replied_user")):
            people.append(message.reference.author)
        everyone = allowed is None or "everyone" in allowed.get("parse", [])
        if (
            everyone
            and re.search(r"@(everyone|here)\b", message.text)
            and message.channel.allows("MENTION_EVERYONE")
        ):
            people += self.users.values()
        if message.channel.recipient is not None and message.author is self.bot:
            people = [message.channel.recipient]
        if message.ephemeral:
            return
        message.pinged = [
            user for user in dict.fromkeys(people) if user is not message.author and not user.bot
        ]
        silent = bool(message.flags & SUPPRESS_NOTIFICATIONS)
        self.pings += [Ping(user, message, silent) for user in message.pinged]

    def _judge(self, message: Message) -> None:
        for image, description in pictures(message):
            if not description:
                self.faults.append(f"Picture {image} in {message!r} has no description.")

    # --- interactions ----------------------------------------

    async def interact(
        self, kind: int, user: User, channel: Channel, data: Json, source: Message | None = None
    ) -> Interaction:
        """Tell the bot that `user` did something, and wait until it is answered or the deadline has
        passed."""
        live = None if source is None else source.live or source
        doing = Interaction(
            self.ids(), secrets.token_urlsafe(24), kind, user, channel, data, self.clock.now(), live
        )
        self.interactions.append(doing)
        wire = self.interaction_wire(doing) | ({"message": source.wire()} if source is not None else {})
        doing.delivered = await self.gateway.dispatch("INTERACTION_CREATE", wire)
        if doing.delivered:
            await self.pulse.until(
                lambda: doing.ack_type is not None or self.clock.now() - doing.at > DEADLINE, DEADLINE
            )
        return doing

    def interaction_wire(self, doing: Interaction) -> Json:
        channel, user = doing.channel, doing.user
        data: Json = {
            "id": str(doing.id),
            "application_id": str(self.bot.id),
            "type": doing.type,
            "token": doing.token,
            "version": 1,
            "data": doing.data,
            "channel_id": str(channel.id),
            "locale": "en-GB",
            "channel": channel.wire() | {"permissions": str(user.permissions)},
            "entitlements": [],
            "app_permissions": str(channel.bot_permissions),
            "attachment_size_limit": self.attachment_limit,
        }
        if channel.guild_id:
            data |= {
                "guild_id": str(self.guild_id),
                "guild_locale": "en-GB",
                "context": 0,
                "guild": {"id": str(self.guild_id), "locale": "en-GB", "features": []},
                "member": user.member_wire(),
                "authorizing_integration_owners": {"0": str(self.guild_id)},
            }
        else:
            data |= {"user": user.wire(), "context": 1, "authorizing_integration_owners": {"0": "0"}}
        return data

    def interaction_by_id(self, interaction_id: str, token: str) -> Interaction:
        """The interaction that waits for its first answer. Errors: 10062 unknown or late, 40060 answered."""
        for doing in reversed(self.interactions):
            if str(doing.id) == interaction_id and doing.token == token:
                if doing.ack_type is not None:
                    raise Refused(400, 40060, "Interaction has already been acknowledged.")
                if self.clock.now() - doing.at > DEADLINE:
                    break
                return doing
        raise Refused(404, 10062, "Unknown interaction")

    def interaction_by_token(self, application: str, token: str) -> Interaction:
        """The interaction whose token still allows edits and follow-ups. Errors: 10015, 50027."""
        for doing in reversed(self.interactions):
            if doing.token == token and application == str(self.bot.id):
                if self.clock.now() - doing.at > TOKEN_LIFE:
                    raise Refused(401, 50027, "Invalid Webhook Token")
                if doing.ack_type is None or doing.type == AUTOCOMPLETE:
                    raise Refused(404, 10015, "Unknown Webhook")
                return doing
        raise Refused(404, 10015, "Unknown Webhook")

    # --- threads ----------------------------------------

    async def open_thread(
        self, parent: Channel, data: Json, *, source: Message | None = None, kind: int = PUBLIC_THREAD
    ) -> Channel:
        """Errors: 50013, 50024 not a place for threads, 160004 the message has one already, 50035."""
        if parent.kind not in (TEXT, FORUM):
            raise Refused(400, 50024, "Cannot execute action on this channel type")
        self.need(parent, "CREATE_PUBLIC_THREADS" if kind == PUBLIC_THREAD else "CREATE_PRIVATE_THREADS")
        name = limits.text(data.get("name"), 1, 100, "name")
        sleep = data.get("auto_archive_duration") or 4320
        if sleep not in limits.AUTO_ARCHIVE:
            raise malformed("Value must be one of {60, 1440, 4320, 10080}.", "auto_archive_duration")
        if source is not None and source.id in self.channels:
            raise Refused(400, 160004, "A thread has already been created for this message")
        thread = Channel(
            source.id if source else self.ids(),
            name,
            kind,
            self.clock,
            guild_id=self.guild_id,
            parent=parent,
            owner_id=self.bot.id,
            auto_archive=sleep,
            touched=self.clock.now(),
        )
        thread.members[self.bot.id] = self.bot
        self.channels[thread.id] = thread
        await self.gateway.dispatch("THREAD_CREATE", thread.wire() | {"newly_created": True})
        if source is None and kind == PUBLIC_THREAD and parent.kind == TEXT:
            await self.note(parent, 18, self.bot, name)
        self.pulse.beat()
        return thread

    async def change_channel(self, channel: Channel, data: Json) -> Channel:
        """Errors: 50013, 50083, 50035, and 429 on the third new name or topic within ten minutes."""
        thread = channel.is_thread
        if not (
            thread
            and channel.owner_id == self.bot.id
            and set(data) <= {"name", "archived", "auto_archive_duration"}
        ):
            self.need(channel, "MANAGE_THREADS" if thread else "MANAGE_CHANNELS")
        if thread and channel.locked and data.get("locked") is not False:
            self.need(channel, "MANAGE_THREADS")
        if channel.archived and data.get("archived") is not False:
            raise Refused(400, 50083, "Thread is archived")
        if "name" in data:
            limits.text(data["name"], 1, 100, "name")
        if data.get("auto_archive_duration", 60) not in limits.AUTO_ARCHIVE:
            raise malformed("Value must be one of {60, 1440, 4320, 10080}.", "auto_archive_duration")
        self._meter_rename(channel, data)
        channel.name = data.get("name", channel.name)
        channel.topic = data.get("topic", channel.topic)
        if thread:
            if data.get("archived") is False or "auto_archive_duration" in data:
                channel.wake()
            channel.auto_archive = data.get("auto_archive_duration", channel.auto_archive)
            channel.locked = data.get("locked", channel.locked)
            channel.put_away = data.get("archived", channel.put_away)
        await self.gateway.dispatch("THREAD_UPDATE" if thread else "CHANNEL_UPDATE", channel.wire())
        self.pulse.beat()
        return channel

    def _meter_rename(self, channel: Channel, data: Json) -> None:
        if (
            data.get("name", channel.name) == channel.name
            and data.get("topic", channel.topic) == channel.topic
        ):
            return
        now = self.clock.now()
        channel.renames = [at for at in channel.renames if now - at < 600]
        if len(channel.renames) >= 2:
            raise Refused(429, 0, "You are being rate limited.", retry_after=600 - (now - channel.renames[0]))
        channel.renames.append(now)

    async def remove_channel(self, channel: Channel) -> None:
        self.need(channel, "MANAGE_THREADS" if channel.is_thread else "MANAGE_CHANNELS")
        await self.lose(channel)

    async def lose(self, channel: Channel) -> None:
        """The channel is deleted, by whomever."""
        data = channel.wire()
        channel.gone = True
        await self.gateway.dispatch("THREAD_DELETE" if channel.is_thread else "CHANNEL_DELETE", data)
        self.pulse.beat()


def media_of(part: Json) -> list[Json]:
    """The media objects of one component."""
    if part["type"] == 12:
        return [item["media"] for item in part["items"]]
    key = {11: "media", 13: "file"}.get(part["type"])
    return [part[key]] if key else []


def pictures(message: Message) -> list[tuple[str, str | None]]:
    """Every picture a reader sees, in order, with its description. A V2 message shows only what a component
    names; its description is the component's own."""
    if not message.v2:
        return [(each.filename, each.description) for each in message.attachments if each.is_image]
    shown: list[tuple[str, str | None]] = []
    for part in walk(message.components):
        items = part["items"] if part["type"] == 12 else [part] if part["type"] == 11 else []
        shown += [(item["media"]["url"].rsplit("/", 1)[-1], item.get("description")) for item in items]
    return shown
