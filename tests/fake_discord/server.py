"""A strict fake Discord on a loopback port, for the unmodified discord.py client.

Use::

    async with FakeDiscord(users=["Ann", "Bob"], guild="Friends") as fake:
        with fake.attached():                      # points discord.py in this process at the fake
            async with client:
                task = asyncio.create_task(client.start(fake.token))
                await fake.wait_ready()            # a client is connected and has registered its commands
                made = await fake.run_command("Ann", "general", "table new", title="1830")
                await fake.click("Bob", made.message, "Join")
                card = fake.last_message("A7K")    # channels and threads by name
                await fake.select("Ann", card, "Buy", "B&O at 100")
                await fake.fill_in("Ann", card, "Bid…", {"Amount": "45"})
        fake.check_violations(pinged=["Ann"])

A bot in a process of its own gets `fake.api_url`, `fake.gateway_url` and `fake.token` instead.

Theory of operation ------------------- `models` has the objects, `server_state` the rules that always hold,
`limits` the limits for what a bot sends; `gateway` and `rest_api` are the two protocols, `user_actions` are
the users. The fake follows Discord's published documentation, and is strict where that is not specific: what
the fake accepts, Discord should accept. What it does not accept gets Discord's status and error code and is
kept in `fake.rejected`.

*Users.* `run_command`, `autocomplete`, `click`, `select`, `submit_modal`, `send_text`.
Each returns when the bot has answered (a thinking message is replaced) or three seconds are skipped, and
raises AssertionError where the user's screen does not offer the control. The returned `Interaction` has
`ack_type`, `ack_after` (processor seconds), `private_messages`, `public_messages`, `text`, `modal`, `updated`
(the message of the control was changed through the interaction) and `is_unanswered` (the user saw "did not
respond"). Wait for what the bot does later with `wait_until`; after a deferred update
(ack_type 6) with `wait_until(lambda: done.updated, …)`. A `Message` is live; `message.snapshot()` is a screen
that is not refreshed, on which removed controls can still be pressed. (Discord itself may ignore such a
press; a bot must survive both.)

*Queries.* `visible_messages`, `last_message`, `controls`, `alt_texts`, `shown_images`, `pings`,
`messages_pinging`, `threads`, `find_dm`, `messages_with_controls`, `messages_without_nonce`.

*Time.* Nothing is too late because the machine is slow. Only `fake.clock.advance(seconds)` lets an
acknowledgement be late (3 s), tokens expire (15 min), threads be archived and messages become old. Rate
limits refill in real time too. What never comes is waited for as long as `fake.default_timeout`.

*Faults.* `fake.gateway.drop_connections()`, `.request_reconnect()`, `.close_connections(code)`,
`.refuse_connections`. `fake.rest.inject_fault("POST", "messages$", 502)`: status 0 aborts the connection,
`after=True` loses only the response. `async with fake.rest.hold_requests("POST", "messages$") as hold` stops
a request before it takes effect: the moment for kill -9. Rate limits: `fake.rest.buckets["POST
/channels/{channel}/messages"] = (5, 5.0)`, `fake.old_edit_limit = (3, 20.0)` (edits of messages older than an
hour, per channel and seconds; None: no limit). Permissions and channels:
`channel.denied.add("PIN_MESSAGES")`, `channel.locked`, `channel.archived_by_request`, `user.accepts_dms =
False`, `user.is_member = False`; `fake.vanish_channel(channel)` deletes a channel.

*Delivery.* An interaction is an event like any other: live sessions get it; a session whose connection broke
gets it on RESUME; without a session it is lost (`delivered` is False). A new IDENTIFY never gets old events.

*Where Discord's documentation is silent.* Edits never notify, not even the first edit of a deferred response.
A nonce is remembered for five minutes per channel; using it again later counts as sending twice. A V2 picture
needs its description on the gallery item.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from unittest.mock import patch

import discord
import yarl
from aiohttp import web

from tests.fake_discord.models import Channel, Interaction, Message, User
from tests.fake_discord.rest_api import RestApi
from tests.fake_discord.user_actions import MessageControl, UserActions

SLOW_ACK = 1.0  # processor seconds


async def identify_at_once(client: discord.Client, shard_id: int | None, *, initial: bool = False) -> None:
    """In place of the five seconds for which the library waits before another session."""


class FakeDiscord(UserActions):
    """The server. `users` are members of its guild, the first is its owner; `channels` are text channels.

    It listens on a free loopback port inside `async with`.
    """

    def __init__(
        self,
        users: Sequence[str] = ("Ann", "Bob", "Cid"),
        guild: str = "Friends",
        channels: Sequence[str] = ("general",),
    ) -> None:
        super().__init__(users, guild, channels)
        self.rest = RestApi(self)
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> FakeDiscord:
        self._runner = web.AppRunner(self.rest.app(), access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.base_url = f"http://{host}:{port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for hold in list(self.rest.holds):
            hold.released.set()
        self.gateway.drop_connections()
        if self._runner is not None:
            await self._runner.cleanup()

    @contextlib.contextmanager
    def attached(self) -> Iterator[None]:
        """Point discord.py in this process at the fake until the block ends; it connects again at once."""
        with (
            patch.object(discord.http.Route, "BASE", self.api_url),
            patch.object(discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(self.gateway_url)),
            patch.object(discord.backoff.ExponentialBackoff, "delay", lambda _: 0.05),
            patch.object(discord.Client, "before_identify_hook", identify_at_once),
        ):
            yield

    # --- checks ----------------------------------------

    @property
    def slowest_ack(self) -> float:
        """Processor seconds of the slowest acknowledgement; infinite if a delivered interaction has none."""
        waits = [
            float("inf") if each.ack_after is None else each.ack_after
            for each in self.interactions
            if each.delivered
        ]
        return max(waits, default=0.0)

    @property
    def messages_without_nonce(self) -> list[Message]:
        """The bot's messages without a nonce, by which Discord would recognize a repeated sending."""
        every = [message for channel in self.channels.values() for message in channel.messages]
        return [
            each
            for each in every
            if each.author is self.bot and each.type == 0 and each.interaction is None and each.nonce is None
        ]

    def violations(self, *, pinged: Iterable[User | str] | None = None) -> list[str]:
        """Everything that should not have happened.

        These are rejected requests, pictures without a description, repeated messages, acknowledgements later
        than a second of the processor and, where `pinged` is given, notifications of other users.
        """
        found = [f"Rejected: {each}" for each in self.rejected] + list(self.problems)
        for each in self.interactions:
            if each.delivered and (each.ack_after is None or each.ack_after > SLOW_ACK):
                took = "never" if each.ack_after is None else f"after {each.ack_after:.2f} s"
                found.append(f"{each} was acknowledged {took}.")
        if pinged is not None:
            expected = {self.find_user(each) for each in pinged}
            found += [
                f"{ping.user.name} was notified by {ping.message!r}."
                for ping in self.pings
                if ping.user not in expected
            ]
        return found

    def check_violations(
        self, *, pinged: Iterable[User | str] | None = None, ignoring: Iterable[str] = ()
    ) -> None:
        """Raise AssertionError listing the `violations`, except those that contain a text in `ignoring`."""
        texts = list(ignoring)
        found = [each for each in self.violations(pinged=pinged) if not any(text in each for text in texts)]
        assert not found, "\n".join(found)


__all__ = ["Channel", "FakeDiscord", "Interaction", "Message", "MessageControl"]
