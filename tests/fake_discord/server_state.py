"""The state of the fake server and the rules that always hold for it: channels, messages, pings, files.

`rest_api` translates requests into these operations; `user_actions` lets users act on the results. What
Discord does not accept raises `ApiError` with Discord's status and code.
"""

from __future__ import annotations

import re
import secrets
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.fake_discord import limits
from tests.fake_discord.gateway import Gateway
from tests.fake_discord.models import (
    ACK_DEADLINE,
    ALL_PERMISSIONS,
    AUTOCOMPLETE,
    COMPONENTS_V2,
    DM,
    EPHEMERAL,
    FORUM,
    LOADING,
    PUBLIC_THREAD,
    SUPPRESS_NOTIFICATIONS,
    TEXT,
    TOKEN_LIFETIME,
    ApiError,
    ChangeSignal,
    Channel,
    Interaction,
    Json,
    Message,
    MessageRevision,
    Ping,
    RejectedRequest,
    ServerClock,
    SnowflakeGenerator,
    UploadedFile,
    User,
    invalid_form,
    walk_components,
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
class MessageRequest:
    """A request about a message: the JSON part and the files that came with it."""

    data: Json
    uploads: list[Upload] = field(default_factory=list)


class ServerState:
    """Everything on the server. The `people` become members of its one guild; the first is its owner.

    `default_timeout`: the real seconds after which a test no longer waits for what does not come.
    """

    default_timeout = 60.0

    def __init__(self, people: Sequence[str], guild: str, channels: Sequence[str]) -> None:
        self.changes = ChangeSignal()
        self.clock = ServerClock(self.changes)
        self.ids = SnowflakeGenerator(self.clock)
        self.token = f"{b64encode(b'100000000000000001').decode()}.{secrets.token_hex(8)}"
        self.base_url = ""
        self.bot = User(self.ids(), "Railpost", bot=True)
        self.users = {name: User(self.ids(), name) for name in people}
        self.guild_id = self.ids()
        self.guilds = {self.guild_id: guild}
        self.channels: dict[int, Channel] = {}
        for name in channels:
            self.open_channel(name)
        self.commands: list[Json] = []
        self.interactions: list[Interaction] = []
        self.pings: list[Ping] = []
        self.rejected: list[RejectedRequest] = []
        self.problems: list[str] = []
        self.files: dict[int, UploadedFile] = {}
        self.nonces: dict[tuple[int, str], Message] = {}
        self.repeated_sends: list[Message] = []
        self.attachment_limit = 10 * 1024 * 1024
        self.nonce_lifetime = 300.0
        self.old_edit_limit: tuple[int, float] | None = None
        self.dm_refusal = 50278  # 50007 where the user has blocked the bot
        self.session_starts = (999, 0)  # that are left, and milliseconds until there are more
        self.max_concurrency = 1  # sessions that may be started at once, of different shards
        self.gateway = Gateway(self)

    # --- URLs ----------------------------------------

    @property
    def api_url(self) -> str:
        """The value for `discord.http.Route.BASE`."""
        return f"{self.base_url}/api/v10"

    @property
    def gateway_url(self) -> str:
        """The value for `discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY` (as `yarl.URL`)."""
        return f"{self.base_url.replace('http', 'ws', 1)}/gateway/"

    # --- users and channels ----------------------------------------

    def open_guild(self, name: str, channel: str, guild_id: int) -> Channel:
        """Another guild with the same people and one channel."""
        self.guilds[guild_id] = name
        return self.open_channel(channel, guild_id=guild_id)

    def open_channel(self, name: str, *, guild_id: int | None = None, kind: int = TEXT) -> Channel:
        """guild_id: None for the first guild; the bot is no member of one that has not been opened."""
        channel = Channel(self.ids(), name, kind, self.clock, guild_id=guild_id or self.guild_id)
        self.channels[channel.id] = channel
        return channel

    def all_users(self) -> dict[int, User]:
        return {user.id: user for user in [*self.users.values(), self.bot]}

    def user_by_id(self, user_id: object) -> User:
        try:
            return self.all_users()[int(str(user_id))]
        except (KeyError, ValueError):
            raise ApiError(404, 10013, "Unknown User") from None

    def channel_by_id(self, channel_id: object) -> Channel:
        try:
            channel = self.channels[int(str(channel_id))]
        except (KeyError, ValueError):
            raise ApiError(404, 10003, "Unknown Channel") from None
        if channel.deleted:
            raise ApiError(404, 10003, "Unknown Channel")
        if not channel.allows("VIEW_CHANNEL"):
            raise ApiError(403, 50001, "Missing Access")
        return channel

    def message_by_id(self, channel: Channel, message_id: object) -> Message:
        """A message that is not ephemeral; ephemeral messages are found by their interaction's token only."""
        for message in channel.messages:
            if str(message.id) == str(message_id) and not message.deleted and not message.ephemeral:
                return message
        raise ApiError(404, 10008, "Unknown Message")

    def dm_channel(self, user: User) -> Channel:
        for channel in self.channels.values():
            if channel.recipient is user:
                return channel
        channel = Channel(self.ids(), user.name, DM, self.clock, recipient=user)
        self.channels[channel.id] = channel
        return channel

    def require_permissions(self, channel: Channel, *permissions: str) -> None:
        for permission in permissions:
            if channel.recipient is None and not channel.allows(permission):
                raise ApiError(403, 50013, f"Missing Permissions ({permission})")

    def require_unarchived(self, channel: Channel) -> None:
        if channel.archived:
            raise ApiError(400, 50083, "Thread is archived")

    def guild_json(self, guild_id: int) -> Json:
        places = [each for each in self.channels.values() if each.guild_id == guild_id and not each.deleted]
        return {
            "id": str(guild_id),
            "name": self.guilds[guild_id],
            "owner_id": str(next(iter(self.all_users()))),
            "roles": [
                {
                    "id": str(guild_id),
                    "name": "@everyone",
                    "position": 0,
                    "permissions": str(ALL_PERMISSIONS),
                }
            ],
            "joined_at": "2026-01-01T00:00:00+00:00",
            "member_count": len(self.users) + 1,
            "members": [self.bot.member_json()],
            "channels": [each.to_json() for each in places if not each.is_thread],
            "threads": [each.to_json() for each in places if each.is_thread and not each.archived],
        }

    def guilds_json(self) -> list[Json]:
        return [self.guild_json(guild_id) for guild_id in self.guilds]

    # --- messages ----------------------------------------

    async def create_message(
        self,
        channel: Channel,
        draft: MessageRequest,
        *,
        author: User | None = None,
        interaction: Interaction | None = None,
        ephemeral: bool = False,
        thinking: bool = False,
    ) -> Message:
        """Create a message. Errors: 50278, 50013, 40005, 160005, and those of `limits.check_message`."""
        author = author or self.bot
        data = draft.data
        if interaction is None and author is self.bot:
            self._check_may_send(channel, draft)
        elif interaction is not None:
            self.require_unarchived(channel)
        if earlier := self._find_repeated(channel, data):
            return earlier
        if author is self.bot and not thinking:
            limits.check_allowed_mentions(data.get("allowed_mentions"))
        message = Message(
            self.ids(),
            channel,
            author,
            self.clock.now(),
            self.clock.unix_time(),
            nonce=None if data.get("nonce") is None else limits.check_text(data["nonce"], 0, 25, "nonce"),
            interaction=interaction,
        )
        if ephemeral and interaction is not None:
            message.visible_to = interaction.user
        flags = int(data.get("flags") or 0) & (COMPONENTS_V2 | SUPPRESS_NOTIFICATIONS | 1 << 2)
        message.flags = flags | (EPHEMERAL if ephemeral else 0) | (LOADING if thinking else 0)
        self._apply_request(message, draft, thinking=thinking)
        if channel.is_thread:
            if channel.archived:
                channel.unarchive()
                await self.gateway.dispatch("THREAD_UPDATE", channel.to_json())
            channel.active_at = self.clock.now()
            if not ephemeral:
                channel.members.update({user.id: user for user in [author, *message.mentioned]})
        channel.messages.append(message)
        if message.nonce is not None:
            self.nonces[(channel.id, message.nonce)] = message
        if not thinking:
            self._record_pings(message)
        if interaction is not None:
            interaction.responses.append(message)
        if not ephemeral:
            await self._dispatch_message("MESSAGE_CREATE", message)
        self.changes.notify()
        return message

    async def edit_message(self, message: Message, draft: MessageRequest) -> Message:
        """Change a message in place; what the request leaves out stays. Edits notify nobody."""
        limits.check_allowed_mentions(draft.data.get("allowed_mentions"))
        face = MessageRevision(message.content, message.components, message.attachments)
        before = (message.content, message.components, message.attachments, message.flags)
        message.flags |= int(draft.data.get("flags") or 0) & COMPONENTS_V2
        try:
            self._apply_request(message, draft, thinking=False)
        except ApiError:
            message.content, message.components, message.attachments, message.flags = before
            raise
        for lost in set(face.attachments) - set(message.attachments):
            self.files.pop(lost.id, None)
        message.flags &= ~LOADING
        message.edited_unix = self.clock.unix_time()
        message.history.append(face)
        if not message.ephemeral:
            await self._dispatch_message("MESSAGE_UPDATE", message)
        self.changes.notify()
        return message

    async def edit_own_message(self, channel: Channel, message: Message, draft: MessageRequest) -> Message:
        """An edit by the bot. Errors: 50005 not its own, 50083 archived thread, 30046 too many old edits."""
        if message.author is not self.bot:
            raise ApiError(403, 50005, "Cannot edit a message authored by another user")
        self.require_unarchived(channel)
        if draft.uploads:
            self.require_permissions(channel, "ATTACH_FILES")
        if self.old_edit_limit is not None and self.clock.now() - message.created_at > HOUR:
            now = self.clock.real_time()
            most, window = self.old_edit_limit
            channel.old_edit_times = [at for at in channel.old_edit_times if now - at < window]
            if len(channel.old_edit_times) >= most:
                left = window - (now - channel.old_edit_times[0]) if channel.old_edit_times else window
                raise ApiError(
                    429,
                    30046,
                    "Maximum number of edits to messages older than 1 hour reached. Try again later",
                    retry_after=round(left, 3),
                )
            channel.old_edit_times.append(now)
        return await self.edit_message(message, draft)

    async def delete_message(self, message: Message, *, is_heard: bool = True) -> None:
        """Delete a message; the bot is told of it unless the event is lost, as while it is away."""
        message.deleted = True
        for each in message.attachments:
            self.files.pop(each.id, None)
        if is_heard and not message.ephemeral:
            place = {"id": str(message.id), "channel_id": str(message.channel.id)}
            if message.channel.guild_id:
                place["guild_id"] = str(message.channel.guild_id)
            await self.gateway.dispatch("MESSAGE_DELETE", place, private=message.channel.kind == DM)
        self.changes.notify()

    async def post_system_message(self, channel: Channel, kind: int, author: User, content: str) -> None:
        """A system message (type 6: a pin, 18: a new thread)."""
        message = Message(
            self.ids(), channel, author, self.clock.now(), self.clock.unix_time(), content, type=kind
        )
        channel.messages.append(message)
        await self._dispatch_message("MESSAGE_CREATE", message)

    async def _dispatch_message(self, event: str, message: Message) -> None:
        data = message.to_json()
        if message.channel.guild_id:
            data["guild_id"] = str(message.channel.guild_id)
            if not message.author.bot:
                data["member"] = message.author.member_json(user=False)
        await self.gateway.dispatch(event, data, private=message.channel.kind == DM)

    def _check_may_send(self, channel: Channel, draft: MessageRequest) -> None:
        if channel.recipient is not None and not (
            channel.recipient.accepts_dms and channel.recipient.is_member
        ):
            raise ApiError(403, self.dm_refusal, "Cannot send messages to this user")
        if channel.kind == FORUM:
            raise ApiError(400, 50008, "Cannot send messages in a non-text channel")
        self.require_permissions(
            channel, "SEND_MESSAGES_IN_THREADS" if channel.is_thread else "SEND_MESSAGES"
        )
        if draft.uploads:
            self.require_permissions(channel, "ATTACH_FILES")
        if channel.locked:
            raise ApiError(400, 160005, "Cannot send messages in a locked thread")

    def _find_repeated(self, channel: Channel, data: Json) -> Message | None:
        if data.get("nonce") is None or not data.get("enforce_nonce"):
            return None
        earlier = self.nonces.get((channel.id, str(data["nonce"])))
        if earlier is None:
            return None
        if self.clock.now() - earlier.created_at > self.nonce_lifetime:
            self.problems.append(f"Nonce {earlier.nonce} was used for a second message in {channel.name}.")
            return None
        self.repeated_sends.append(earlier)
        return earlier

    def _apply_request(self, message: Message, draft: MessageRequest, *, thinking: bool) -> None:
        data = draft.data
        if "content" in data:
            message.content = data["content"] or ""
            if not isinstance(message.content, str):
                raise invalid_form("Must be a string.", "content")
        for name in ("embeds", "message_reference"):
            if data.get(name):
                raise invalid_form(f"No message of ours has {name}.", name)
        if message.attachments and "components" in data and data.get("attachments") is None:
            raise invalid_form("An edit of ours names the files that stay.", "attachments")
        message.attachments = self._attachments(message, draft)
        if "components" in data:
            message.components = data["components"] or []
        limits.check_message(
            content=message.content,
            components=message.components,
            files=len(message.attachments),
            v2=message.uses_v2,
            thinking=thinking,
        )
        self._resolve_components(message)
        if not thinking:
            message.mentioned = self._mentioned(message, data.get("allowed_mentions"))
            self._check_descriptions(message)

    def _attachments(self, message: Message, draft: MessageRequest) -> list[UploadedFile]:
        listed = draft.data.get("attachments")
        uploads = {each.index: each for each in draft.uploads}
        for each in draft.uploads:
            if len(each.content) > self.attachment_limit:
                raise ApiError(413, 40005, "Request entity too large")
        kept = list(message.attachments) if listed is None else []
        for i, entry in enumerate(listed or []):
            at = ("attachments", i)
            description = limits.check_text(entry.get("description"), 0, 1024, *at, "description") or None
            mine = [each for each in message.attachments if str(each.id) == str(entry.get("id"))]
            if mine:
                mine[0].description = description or mine[0].description
                kept.append(mine[0])
                continue
            upload = uploads.pop(int(entry.get("id", -1)), None)
            if upload is None:
                raise invalid_form(
                    f"Attachment {entry.get('id')} is neither uploaded nor on the message.", *at, "id"
                )
            kept.append(
                self._store_file(message, upload, entry.get("filename") or upload.filename, description)
            )
        return kept + [self._store_file(message, each, each.filename, None) for each in uploads.values()]

    def _store_file(
        self, message: Message, upload: Upload, filename: str, description: str | None
    ) -> UploadedFile:
        made = self.ids()
        url = f"{self.base_url}/cdn/attachments/{message.channel.id}/{made}/{filename}"
        self.files[made] = UploadedFile(made, filename, upload.content, url, description)
        return self.files[made]

    def store_file(self, filename: str, content: bytes) -> UploadedFile:
        """A file that a person gives to a command."""
        made = self.ids()
        url = f"{self.base_url}/cdn/attachments/0/{made}/{filename}"
        self.files[made] = UploadedFile(made, filename, content, url)
        return self.files[made]

    def _resolve_components(self, message: Message) -> None:
        """Give components their ids and media their URLs. Error: 50035 for a file that does not exist."""
        taken = {part["id"] for part in walk_components(message.components) if part.get("id")}
        number = 0
        for part in walk_components(message.components):
            if not part.get("id"):
                number = next(n for n in range(number + 1, len(taken) + number + 2) if n not in taken)
                part["id"] = number
            for media in media_objects(part):
                self._resolve_media(message, media)

    def _resolve_media(self, message: Message, media: Json) -> None:
        url = str(media["url"])
        found = [each for each in message.attachments if url in (f"attachment://{each.filename}", each.url)]
        if not found:
            raise invalid_form(
                f"The referenced attachment {url} was not found.", "components", "media", "url"
            )
        file = found[0]
        media |= {
            "url": file.url,
            "proxy_url": file.url,
            "attachment_id": str(file.id),
            "loading_state": 2,
            "content_type": file.to_json()["content_type"],
            "placeholder": "",
            "flags": 0,
        }
        if file.pixel_size:
            media["width"], media["height"] = file.pixel_size

    # --- notifications ----------------------------------------

    def _mentioned(self, message: Message, allowed: Json | None) -> list[User]:
        """The users whom the text mentions and the request allows to be mentioned; a person may mention
        all."""
        people = self.all_users()
        ids = [int(found) for found in dict.fromkeys(MENTION.findall(message.text))]
        named = [people[each] for each in ids if each in people]
        if message.author is not self.bot:
            return named
        listed = {str(each) for each in (allowed or {}).get("users") or []}
        return [user for user in named if str(user.id) in listed]

    def _record_pings(self, message: Message) -> None:
        people = message.mentioned
        if message.channel.recipient is not None and message.author is self.bot:
            people = [message.channel.recipient]
        if message.ephemeral:
            return
        message.pinged = [user for user in people if user is not message.author and not user.bot]
        silent = bool(message.flags & SUPPRESS_NOTIFICATIONS)
        self.pings += [Ping(user, message, silent) for user in message.pinged]

    def _check_descriptions(self, message: Message) -> None:
        for image, description in shown_pictures(message):
            if not description:
                self.problems.append(f"Picture {image} in {message!r} has no description.")

    # --- interactions ----------------------------------------

    async def start_interaction(
        self, kind: int, user: User, channel: Channel, data: Json, source: Message | None = None
    ) -> Interaction:
        """Send an interaction to the bot and wait until it is acknowledged or late (by skipped time).

        Nobody waits longer than `default_timeout`.
        """
        live = None if source is None else source.live_message or source
        interaction = Interaction(
            self.ids(), secrets.token_urlsafe(24), kind, user, channel, data, self.clock.now(), live
        )
        self.interactions.append(interaction)
        wire = self.interaction_json(interaction) | (
            {"message": source.to_json()} if source is not None else {}
        )
        interaction.delivered = await self.gateway.dispatch("INTERACTION_CREATE", wire)
        if interaction.delivered:
            await self.changes.wait_until(
                lambda: interaction.ack_type is not None or self._is_late(interaction), self.default_timeout
            )
        return interaction

    def _is_late(self, interaction: Interaction) -> bool:
        return self.clock.now() - interaction.created_at >= ACK_DEADLINE

    def interaction_json(self, interaction: Interaction) -> Json:
        channel, user = interaction.channel, interaction.user
        data: Json = {
            "id": str(interaction.id),
            "application_id": str(self.bot.id),
            "type": interaction.type,
            "token": interaction.token,
            "version": 1,
            "data": interaction.data,
            "channel_id": str(channel.id),
            "locale": "en-GB",
            "channel": channel.to_json() | {"permissions": str(ALL_PERMISSIONS)},
            "entitlements": [],
            "app_permissions": str(channel.bot_permissions),
            "attachment_size_limit": self.attachment_limit,
        }
        if channel.guild_id:
            data |= {
                "guild_id": str(channel.guild_id),
                "guild_locale": "en-GB",
                "context": 0,
                "guild": {"id": str(channel.guild_id), "locale": "en-GB", "features": []},
                "member": user.member_json(),
                "authorizing_integration_owners": (
                    {"0": str(channel.guild_id)} if channel.guild_id in self.guilds else {"1": str(user.id)}
                ),
            }
        else:
            data |= {"user": user.to_json(), "context": 1, "authorizing_integration_owners": {"0": "0"}}
        return data

    def interaction_by_id(self, interaction_id: str, token: str) -> Interaction:
        """An interaction that is not acknowledged yet. Errors: 10062 unknown or late, 40060 acknowledged."""
        for interaction in reversed(self.interactions):
            if str(interaction.id) == interaction_id and interaction.token == token:
                if interaction.ack_type is not None:
                    raise ApiError(400, 40060, "Interaction has already been acknowledged.")
                if self._is_late(interaction):
                    break
                return interaction
        raise ApiError(404, 10062, "Unknown interaction")

    def interaction_by_token(self, application: str, token: str) -> Interaction:
        """The interaction whose token allows edits and follow-ups. Errors: 10015 unknown, 50027 expired."""
        for interaction in reversed(self.interactions):
            if interaction.token == token and application == str(self.bot.id):
                if self.clock.now() - interaction.created_at > TOKEN_LIFETIME:
                    raise ApiError(401, 50027, "Invalid Webhook Token")
                if interaction.ack_type is None or interaction.type == AUTOCOMPLETE:
                    raise ApiError(404, 10015, "Unknown Webhook")
                return interaction
        raise ApiError(404, 10015, "Unknown Webhook")

    # --- threads ----------------------------------------

    async def open_thread(self, parent: Channel, data: Json, source: Message | None = None) -> Channel:
        """Errors: 50013, 50024 no threads in this channel, 160004 the message has a thread already, 50035."""
        if parent.kind not in (TEXT, FORUM):
            raise ApiError(400, 50024, "Cannot execute action on this channel type")
        self.require_permissions(parent, "CREATE_PUBLIC_THREADS")
        name = limits.check_text(data.get("name"), 1, 100, "name")
        sleep = data.get("auto_archive_duration") or 4320
        if sleep not in limits.AUTO_ARCHIVE:
            raise invalid_form("Value must be one of {60, 1440, 4320, 10080}.", "auto_archive_duration")
        if source is not None and source.id in self.channels:
            raise ApiError(400, 160004, "A thread has already been created for this message")
        thread = Channel(
            source.id if source else self.ids(),
            name,
            PUBLIC_THREAD,
            self.clock,
            guild_id=parent.guild_id,
            parent=parent,
            owner_id=self.bot.id,
            auto_archive_minutes=sleep,
            active_at=self.clock.now(),
        )
        thread.members[self.bot.id] = self.bot
        self.channels[thread.id] = thread
        await self.gateway.dispatch("THREAD_CREATE", thread.to_json() | {"newly_created": True})
        if source is None:
            await self.post_system_message(parent, 18, self.bot, name)
        self.changes.notify()
        return thread

    async def change_channel(self, channel: Channel, data: Json) -> Channel:
        """Unarchive a thread, archive it, or change when that is done. Errors: 50013, 50083, 50035."""
        limits.check_fields(data, "archived locked auto_archive_duration", ())
        if channel.owner_id != self.bot.id or channel.locked or "locked" in data:
            self.require_permissions(channel, "MANAGE_THREADS")
        if channel.archived and data.get("archived") is not False:
            raise ApiError(400, 50083, "Thread is archived")
        if data.get("auto_archive_duration", 60) not in limits.AUTO_ARCHIVE:
            raise invalid_form("Value must be one of {60, 1440, 4320, 10080}.", "auto_archive_duration")
        if data.get("archived") is False or "auto_archive_duration" in data:
            channel.unarchive()
        channel.auto_archive_minutes = data.get("auto_archive_duration", channel.auto_archive_minutes)
        channel.archived_by_request = data.get("archived", channel.archived_by_request)
        channel.locked = data.get("locked", channel.locked)
        await self.gateway.dispatch("THREAD_UPDATE", channel.to_json())
        self.changes.notify()
        return channel

    async def vanish_channel(self, channel: Channel) -> None:
        """Delete a channel, as a moderator does."""
        data = channel.to_json()
        channel.deleted = True
        await self.gateway.dispatch("THREAD_DELETE" if channel.is_thread else "CHANNEL_DELETE", data)
        self.changes.notify()


def media_objects(part: Json) -> list[Json]:
    """The media objects of one component."""
    if part["type"] == 12:
        return [item["media"] for item in part["items"]]
    key = {11: "media", 13: "file"}.get(part["type"])
    return [part[key]] if key else []


def shown_pictures(message: Message) -> list[tuple[str, str | None]]:
    """The pictures that a reader sees, in order, with their descriptions.

    A V2 message shows only the pictures of its components, with the components' descriptions.
    """
    if not message.uses_v2:
        return [(each.filename, each.description) for each in message.attachments if each.pixel_size]
    shown: list[tuple[str, str | None]] = []
    for part in walk_components(message.components):
        items = part["items"] if part["type"] == 12 else [part] if part["type"] == 11 else []
        shown += [(item["media"]["url"].rsplit("/", 1)[-1], item.get("description")) for item in items]
    return shown
