"""REST API v10: translates requests into operations of `ServerState`, and errors into Discord's responses.

Theory of operation. One middleware handles every request in the same steps: a `RequestHold` may stop it, an
`InjectedFault` may make it fail (before or after it takes effect), the token is checked, the rate limit is
counted, the handler runs, and an `ApiError` becomes Discord's error body and is recorded. The content type is
exactly `application/json`; with a charset the client would take the body for text.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import re
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

from aiohttp import web

from tests.fake_discord import limits
from tests.fake_discord.models import (
    AUTOCOMPLETE,
    COMMAND,
    COMPONENT,
    EPHEMERAL,
    FORUM,
    MODAL_SUBMIT,
    PUBLIC_THREAD,
    ApiError,
    Channel,
    Interaction,
    Json,
    Message,
    Modal,
    OptionChoice,
    RejectedRequest,
    invalid_form,
    walk_components,
)
from tests.fake_discord.server_state import MessageRequest, ServerState, Upload

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
PREFIX = "/api/v10"
VALID_CALLBACKS = {
    COMMAND: {4, 5, 9},
    COMPONENT: {4, 5, 6, 9},
    AUTOCOMPLETE: {8},
    MODAL_SUBMIT: {4, 5, 6},
}


@dataclass(eq=False)
class InjectedFault:
    """Makes the next `times` matching requests fail; `after_effect`: only after they have taken effect.

    Status 0 aborts the connection.
    """

    method: str
    path: re.Pattern[str]
    status: int
    times: int
    after_effect: bool
    retry_after: float

    def matches(self, method: str, path: str) -> bool:
        return self.times > 0 and self.method == method and self.path.search(path) is not None


@dataclass(eq=False)
class RequestHold:
    """Stops matching requests before they take effect, until released; `reached` counts them."""

    method: str
    path: re.Pattern[str]
    released: asyncio.Event = field(default_factory=asyncio.Event)
    reached: int = 0


class RestApi:
    """The HTTP server.

    `buckets` maps a route such as `POST /channels/{channel}/messages` to its rate limit (requests, seconds)
    per channel or webhook; other routes have the `default_bucket`.
    """

    def __init__(self, server: ServerState) -> None:
        self.server = server
        self.injected_faults: list[InjectedFault] = []
        self.holds: list[RequestHold] = []
        self.buckets: dict[str, tuple[int, float]] = {}
        self.default_bucket = (1000, 1.0)
        self.requests: list[tuple[str, str]] = []
        self._acknowledging: set[Interaction] = set()
        self._bucket_uses: dict[tuple[str, str], list[float]] = defaultdict(list)

    # --- for tests ----------------------------------------

    def inject_fault(
        self,
        method: str,
        path: str,
        status: int,
        *,
        times: int = 1,
        after: bool = False,
        retry_after: float = 0.1,
    ) -> InjectedFault:
        """Answer the next `times` requests whose path matches the expression `path` with `status`.

        Status 0 aborts the connection. With `after` the request takes effect and only its response is lost.
        """
        fault = InjectedFault(method, re.compile(path), status, times, after, retry_after)
        self.injected_faults.append(fault)
        return fault

    @contextlib.asynccontextmanager
    async def hold_requests(self, method: str, path: str) -> AsyncIterator[RequestHold]:
        """Stop matching requests before they take effect, until the block ends."""
        hold = RequestHold(method, re.compile(path))
        self.holds.append(hold)
        try:
            yield hold
        finally:
            self.holds.remove(hold)
            hold.released.set()

    # --- handling requests ----------------------------------------

    def app(self) -> web.Application:
        app = web.Application(middlewares=[self._middleware], client_max_size=64 * 1024 * 1024)
        for method, path, handler in self._routes():
            app.router.add_route(method, PREFIX + path, handler)
        app.router.add_get("/cdn/attachments/{channel}/{file}/{name}", self._cdn)
        app.router.add_get("/gateway/", self.server.gateway.serve)
        return app

    @web.middleware
    async def _middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if not request.path.startswith(PREFIX):
            return await handler(request)
        method, path = request.method, request.path.removeprefix(PREFIX)
        self.requests.append((method, path))
        headers: dict[str, str] = {}
        try:
            for hold in self.holds:
                if hold.method == method and hold.path.search(path):
                    hold.reached += 1
                    self.server.changes.notify()
                    await hold.released.wait()
            fault = next((each for each in self.injected_faults if each.matches(method, path)), None)
            if fault is not None:
                fault.times -= 1
                if not fault.after_effect:
                    return self._fault_response(fault, request)
            self._authorise(request, path)
            headers = self._rate_limit(request)
            response = await self._run_handler(request, handler)
            if fault is not None:
                return self._fault_response(fault, request)
            response.headers.update(headers)
            return response
        except ApiError as refused:
            shown = re.sub(r"[\w-]{30,}", "…", path)
            self.server.rejected.append(
                RejectedRequest(method, shown, refused.status, refused.code, str(refused))
            )
            self.server.changes.notify()
            return json_response(refused.body(), refused.status, headers | retry_headers(refused))

    async def _run_handler(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise invalid_form(f"The request is not of the expected form: {error!r}.") from error
        except web.HTTPNotFound:
            raise ApiError(404, 0, "404: Not Found (the fake does not serve this route)") from None
        except web.HTTPMethodNotAllowed:
            raise ApiError(405, 0, "405: Method Not Allowed (the fake does not serve this route)") from None

    def _fault_response(self, fault: InjectedFault, request: web.Request) -> web.StreamResponse:
        if fault.status == 0:
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=500)
        wait = fault.retry_after if fault.status == 429 else None
        made = ApiError(fault.status, 0, "Made to fail by the test", retry_after=wait)
        return json_response(made.body(), fault.status, retry_headers(made))

    def _authorise(self, request: web.Request, path: str) -> None:
        if path.startswith(("/interactions/", "/webhooks/")):
            return
        if request.headers.get("Authorization") != f"Bot {self.server.token}":
            raise ApiError(401, 0, "401: Unauthorized")

    def _rate_limit(self, request: web.Request) -> dict[str, str]:
        """The rate-limit headers of an accepted request. Raises ApiError 429 when its bucket is empty."""
        resource = request.match_info.route.resource
        template = resource.canonical.removeprefix(PREFIX) if resource is not None else request.path
        if template.startswith("/interactions/"):
            return {}
        route = f"{request.method} {template}"
        major = request.match_info.get("channel") or request.match_info.get("token") or ""
        most, window = self.buckets.get(route, self.default_bucket)
        now = self.server.clock.real_time()
        used = [at for at in self._bucket_uses[(route, major)] if now - at < window]
        reset_after = window - (now - used[0]) if used else window
        if len(used) >= most:
            raise ApiError(429, 0, "You are being rate limited.", retry_after=round(reset_after, 3))
        self._bucket_uses[(route, major)] = [*used, now]
        return {
            "X-RateLimit-Limit": str(most),
            "X-RateLimit-Remaining": str(most - len(used) - 1),
            "X-RateLimit-Reset": f"{self.server.clock.unix_time() + reset_after:.3f}",
            "X-RateLimit-Reset-After": f"{reset_after:.3f}",
            "X-RateLimit-Bucket": hashlib.sha1(route.encode()).hexdigest()[:16],
        }

    # --- routes ----------------------------------------

    def _routes(self) -> list[tuple[str, str, Handler]]:
        messages, message = "/channels/{channel}/messages", "/channels/{channel}/messages/{message}"
        own, member = "/webhooks/{app}/{token}", "/channels/{channel}/thread-members/{user}"
        return [
            ("GET", "/users/@me", self._me),
            ("GET", "/oauth2/applications/@me", self._application),
            ("GET", "/gateway/bot", self._gateway_url),
            ("POST", "/users/@me/channels", self._open_direct),
            ("GET", "/guilds/{guild}/threads/active", self._active_threads),
            ("PUT", "/applications/{app}/commands", self._upsert_commands),
            ("POST", "/interactions/{id}/{token}/callback", self._interaction_callback),
            ("POST", own, self._follow_up),
            ("PATCH", own + "/messages/{message}", self._edit_response),
            ("DELETE", own + "/messages/{message}", self._delete_response),
            ("PUT", messages + "/pins/{message}", self._pin),
            ("GET", messages, self._list_messages),
            ("POST", messages, self._create_message),
            ("GET", message, self._read_message),
            ("PATCH", message, self._edit_message),
            ("DELETE", message, self._delete_message),
            ("POST", message + "/threads", self._create_thread),
            ("POST", "/channels/{channel}/threads", self._create_thread),
            ("PUT", member, self._add_thread_member),
            ("PATCH", "/channels/{channel}", self._change_channel),
            ("DELETE", "/channels/{channel}", self._delete_thread),
        ]

    # users and guild

    async def _me(self, request: web.Request) -> web.Response:
        return json_response(
            self.server.bot.to_json() | {"verified": True, "mfa_enabled": True, "locale": "en-GB"}
        )

    async def _application(self, request: web.Request) -> web.Response:
        bot = self.server.bot
        return json_response(
            {
                "id": str(bot.id),
                "name": bot.name,
                "icon": None,
                "description": "",
                "bot_public": True,
                "bot_require_code_grant": False,
                "verify_key": "",
                "owner": bot.to_json(),
            }
        )

    async def _gateway_url(self, request: web.Request) -> web.Response:
        remaining, reset_after = self.server.session_starts
        limit = {
            "total": 1000,
            "remaining": remaining,
            "reset_after": reset_after,
            "max_concurrency": self.server.max_concurrency,
        }
        return json_response({"url": self.server.gateway_url, "shards": 1, "session_start_limit": limit})

    async def _open_direct(self, request: web.Request) -> web.Response:
        user = self.server.user_by_id((await json_object(request)).get("recipient_id"))
        return json_response(self.server.dm_channel(user).to_json())

    def _require_guild(self, request: web.Request) -> None:
        if request.match_info["guild"] not in map(str, self.server.guilds):
            raise ApiError(404, 10004, "Unknown Guild")

    async def _active_threads(self, request: web.Request) -> web.Response:
        self._require_guild(request)
        return json_response(
            {"threads": self.server.guild_json(int(request.match_info["guild"]))["threads"], "members": []}
        )

    # commands

    async def _upsert_commands(self, request: web.Request) -> web.Response:
        sent = await json_list(request)
        limits.check_commands(sent)
        known = {"application_id": str(self.server.bot.id), "version": "1"}
        self.server.commands = [each | known | {"id": str(self.server.ids())} for each in sent]
        self.server.changes.notify()
        return json_response(self.server.commands)

    # interactions

    async def _interaction_callback(self, request: web.Request) -> web.Response:
        draft = await read_message_request(request)
        interaction = self.server.interaction_by_id(request.match_info["id"], request.match_info["token"])
        kind, data = draft.data.get("type"), draft.data.get("data") or {}
        if request.query.get("with_response") != "1":
            raise invalid_form("The library asks for the message that answers.", "with_response")
        if kind not in VALID_CALLBACKS[interaction.type]:
            raise invalid_form(
                f"A callback of type {kind} does not answer an interaction of type {interaction.type}.",
                "type",
            )
        if kind == 6 and interaction.source is None:
            raise invalid_form("There is no message to update.", "type")
        if interaction in self._acknowledging:
            raise ApiError(400, 40060, "Interaction has already been acknowledged.")
        self._acknowledging.add(interaction)
        try:
            await self._acknowledge(interaction, kind, MessageRequest(data, draft.uploads))
        finally:
            self._acknowledging.discard(interaction)
        interaction.ack_type, interaction.ack_after = kind, time.process_time() - interaction.processor_time
        self.server.changes.notify()
        shown = interaction.original if kind in (4, 5) else None
        summary: Json = {"id": str(interaction.id), "type": interaction.type}
        resource: Json = {"type": kind}
        if shown is not None:
            summary |= {
                "response_message_id": str(shown.id),
                "response_message_loading": shown.loading,
                "response_message_ephemeral": shown.ephemeral,
            }
            resource["message"] = shown.to_json()
        return json_response({"interaction": summary, "resource": resource})

    async def _acknowledge(self, interaction: Interaction, kind: int, draft: MessageRequest) -> None:
        data = draft.data
        if kind in (4, 5):
            thinking = kind == 5
            private = bool(int(data.get("flags") or 0) & EPHEMERAL)
            interaction.original = await self.server.create_message(
                interaction.channel,
                MessageRequest({}) if thinking else draft,
                interaction=interaction,
                ephemeral=private,
                thinking=thinking,
            )
        elif kind == 6:
            interaction.original = interaction.source
        elif kind == 8:
            limits.check_choices(data.get("choices") or [], ("data",))
            interaction.choices = [
                OptionChoice(each["name"], each["value"]) for each in data.get("choices") or []
            ]
        elif kind == 9:
            limits.check_modal(data)
            interaction.modal = Modal(
                interaction.user,
                data["custom_id"],
                data["title"],
                with_component_ids(data["components"]),
                interaction.channel,
                interaction.source,
            )

    async def _edit_for_interaction(
        self, interaction: Interaction, message: Message, draft: MessageRequest
    ) -> Message:
        if message.deleted:
            raise ApiError(404, 10008, "Unknown Message")
        self.server.require_unarchived(message.channel)
        interaction.updated = interaction.updated or message is interaction.source
        return await self.server.edit_message(message, draft)

    def _webhook_interaction(self, request: web.Request) -> Interaction:
        return self.server.interaction_by_token(request.match_info["app"], request.match_info["token"])

    def _interaction_message(self, request: web.Request) -> tuple[Interaction, Message]:
        """The library names the message that was sent first, and no other."""
        interaction = self._webhook_interaction(request)
        found = interaction.original if request.match_info["message"] == "@original" else None
        if found is None or found.deleted:
            raise ApiError(404, 10008, "Unknown Message")
        return interaction, found

    async def _follow_up(self, request: web.Request) -> web.Response:
        interaction, draft = self._webhook_interaction(request), await read_message_request(request)
        if interaction.is_thinking:
            raise invalid_form("No answer of ours follows a message that is still thinking.")
        private = bool(int(draft.data.get("flags") or 0) & EPHEMERAL)
        made = await self.server.create_message(
            interaction.channel, draft, interaction=interaction, ephemeral=private
        )
        return json_response(made.to_json())

    async def _edit_response(self, request: web.Request) -> web.Response:
        interaction, message = self._interaction_message(request)
        return json_response(
            (
                await self._edit_for_interaction(interaction, message, await read_message_request(request))
            ).to_json()
        )

    async def _delete_response(self, request: web.Request) -> web.Response:
        await self.server.delete_message(self._interaction_message(request)[1])
        return web.Response(status=204)

    # messages

    def _channel(self, request: web.Request) -> Channel:
        return self.server.channel_by_id(request.match_info["channel"])

    def _message(self, request: web.Request) -> tuple[Channel, Message]:
        channel = self._channel(request)
        return channel, self.server.message_by_id(channel, request.match_info["message"])

    async def _create_message(self, request: web.Request) -> web.Response:
        channel = self._channel(request)
        return json_response(
            (await self.server.create_message(channel, await read_message_request(request))).to_json()
        )

    async def _list_messages(self, request: web.Request) -> web.Response:
        channel = self._channel(request)
        self.server.require_permissions(channel, "READ_MESSAGE_HISTORY")
        most = limits.check_integer(int(request.query.get("limit", 50)), 1, 100, "limit")
        seen = [each for each in channel.messages if not each.deleted and not each.ephemeral]
        if "after" in request.query:
            seen = [each for each in seen if each.id > int(request.query["after"])][:most]
        if "before" in request.query:
            seen = [each for each in seen if each.id < int(request.query["before"])]
        return json_response([each.to_json() for each in reversed(seen[-most:])])

    async def _read_message(self, request: web.Request) -> web.Response:
        channel, message = self._message(request)
        self.server.require_permissions(channel, "READ_MESSAGE_HISTORY")
        return json_response(message.to_json())

    async def _edit_message(self, request: web.Request) -> web.Response:
        channel, message = self._message(request)
        return json_response(
            (
                await self.server.edit_own_message(channel, message, await read_message_request(request))
            ).to_json()
        )

    async def _delete_message(self, request: web.Request) -> web.Response:
        channel, message = self._message(request)
        self.server.require_unarchived(channel)
        if message.author is not self.server.bot:
            self.server.require_permissions(channel, "MANAGE_MESSAGES")
        await self.server.delete_message(message)
        return web.Response(status=204)

    async def _pin(self, request: web.Request) -> web.Response:
        channel, message = self._message(request)
        self.server.require_unarchived(channel)
        self.server.require_permissions(channel, "PIN_MESSAGES")
        if not message.pinned:
            message.pinned = True
            await self.server.post_system_message(channel, 6, self.server.bot, "")
        return web.Response(status=204)

    # channels and threads

    async def _create_thread(self, request: web.Request) -> web.Response:
        parent = self._channel(request)
        draft = await read_message_request(request)
        source = self._message(request)[1] if "message" in request.match_info else None
        if source is None and draft.data.get("type") != PUBLIC_THREAD:
            raise invalid_form("No thread of ours is private.", "type")
        if source is None and parent.kind == FORUM:
            raise invalid_form("This field is required", "message")
        thread = await self.server.open_thread(parent, draft.data, source)
        return json_response(thread.to_json(), 201)

    async def _change_channel(self, request: web.Request) -> web.Response:
        return json_response(
            (await self.server.change_channel(self._channel(request), await json_object(request))).to_json()
        )

    async def _delete_thread(self, request: web.Request) -> web.Response:
        thread = self._channel(request)
        if not thread.is_thread:
            raise invalid_form("We delete no channel that is no thread.")
        self.server.require_permissions(thread, "MANAGE_THREADS")
        await self.server.vanish_channel(thread)
        return json_response(thread.to_json())

    async def _add_thread_member(self, request: web.Request) -> web.Response:
        thread, user = self._channel(request), self.server.user_by_id(request.match_info["user"])
        if not thread.is_thread:
            raise ApiError(400, 50024, "Cannot execute action on this channel type")
        self.server.require_unarchived(thread)
        if not user.is_member:
            raise ApiError(404, 10007, "Unknown Member")
        self.server.require_permissions(thread, "SEND_MESSAGES_IN_THREADS")
        thread.members[user.id] = user
        return web.Response(status=204)

    async def _cdn(self, request: web.Request) -> web.Response:
        file = self.server.files.get(int(request.match_info["file"]))
        if file is None:
            return web.Response(status=404)
        return web.Response(body=file.content, content_type=file.to_json()["content_type"])


def json_response(data: object, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(
        body=json.dumps(data).encode(),
        status=status,
        headers={"Content-Type": "application/json"} | (headers or {}),
    )


def retry_headers(refused: ApiError) -> dict[str, str]:
    if refused.retry_after is None:
        return {}
    return {"Via": "1.1 fake", "Retry-After": str(refused.retry_after)}


async def parse_json(request: web.Request) -> object:
    if request.content_type != "application/json":
        raise ApiError(400, 50035, "Expected \"Content-Type\" header to be one of {'application/json'}.")
    try:
        return json.loads(await request.read())
    except ValueError:
        raise ApiError(400, 50109, "The request body contains invalid JSON.") from None


async def json_object(request: web.Request) -> Json:
    data = await parse_json(request)
    if not isinstance(data, dict):
        raise invalid_form("Only dictionaries may be used in a DictType")
    return data


async def json_list(request: web.Request) -> list[Json]:
    return limits.check_list(await parse_json(request), 0, 1000)


async def read_message_request(request: web.Request) -> MessageRequest:
    """A request that may have files: JSON, or multipart with `payload_json` and `files[n]`."""
    if (request.content_length or 0) > limits.REQUEST_BYTES:
        await request.release()
        raise ApiError(413, 40005, "Request entity too large")
    if request.content_type != "multipart/form-data":
        return MessageRequest(await json_object(request))
    data: Json = {}
    uploads: list[Upload] = []
    total = 0
    async for part in await request.multipart():
        content = bytes(await part.read())  # type: ignore[union-attr]
        total += len(content)
        if total > limits.REQUEST_BYTES:
            raise ApiError(413, 40005, "Request entity too large")
        name = str(part.name or "")  # type: ignore[union-attr]
        if name == "payload_json":
            data = json.loads(content)
        elif found := re.fullmatch(r"files\[(\d+)\]", name):
            uploads.append(Upload(int(found[1]), str(part.filename or "unnamed"), content))  # type: ignore[union-attr]
        else:
            raise invalid_form(f"Unknown form field {name!r}.", name)
    return MessageRequest(data, uploads)


def with_component_ids(components: list[Json]) -> list[Json]:
    """The components of a modal; those without an id get one."""
    for number, part in enumerate(walk_components(components), 1):
        part.setdefault("id", number)
    return components
