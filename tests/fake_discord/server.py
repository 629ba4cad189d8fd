"""A strict Discord on loopback, for the unmodified discord.py client.

Use::

    async with FakeDiscord(users=["Ann", "Bob"], guild="Friends") as fake:
        with fake.attached():                      # points discord.py in this process at the fake, and back
            async with client:
                task = asyncio.create_task(client.start(fake.token))
                await fake.ready()                 # a client is on line and has registered its commands
                made = await fake.slash("Ann", "general", "table new", title="1830")
                await fake.click("Bob", made.message, "Join")
                card = fake.last("A7K")            # channels and threads by name
                await fake.select("Ann", card, "Buy", "B&O at 100")
                bid = await fake.click("Ann", card, "Bid…")
                await fake.submit("Ann", bid.modal, {"Amount": "45"})
        fake.check(pinged=["Ann"])

A bot in a process of its own is given `fake.api_url`, `fake.gateway_url` and `fake.token` instead.

Theory of operation
-------------------
`model` says what exists, `world` which laws hold, `limits` what Discord refuses in what a bot sends,
`gateway` and `rest` are the two wires, `drivers` are the people. The fake is written from Discord's published
documentation and is strict where that leaves room: what it accepts, Discord should accept; what it refuses is
answered with Discord's status and error code and kept in `fake.refused`.

*People.* `slash`, `autocomplete`, `menu`, `click`, `select`, `submit`, `say`. Each returns once the bot has
answered (a thinking message has been replaced) or the three seconds have passed, and raises AssertionError
where that person's screen does not offer the control. The `Interaction` returned has `ack_type` and
`ack_after` (seconds), `private` and `public` messages, `text`, `modal`, `updated` (the pressed message was
changed through the interaction), `failed` (the person saw "did not respond"). What the bot does later is
awaited with `until`, `next_message`; after a deferred update (ack_type 6) that is `until(lambda:
done.updated, …)`. A `Message` is live; `message.snapshot()` is a screen that has not refreshed, on which
controls that are gone can still be pressed. (Discord may drop such a press itself; a bot must survive it
either way.)

*Looking.* `visible`, `last`, `controls`, `texts`, `alt`, `images`, `pings`, `pinged`, `threads`, `dm`,
`offering` (messages that still have controls), `without_nonce`.

*Time* is real, plus what `fake.clock.advance(seconds)` skips: tokens expire (15 min), threads fall asleep,
edits become edits of old messages, buckets refill.

*Trouble on demand.* `fake.gateway.drop()`, `.reconnect()`, `.invalidate()`, `.close(code)`, `.deaf`,
`.refuse_connections`, `.invalid_next`, `.ask_heartbeat()`; `fake.rest.fail("POST", "messages$", 502)` (status
0 cuts the line, `after=True` loses only the answer), `async with fake.rest.hold("POST", "messages$") as hold`
(stops a request before it takes effect: the moment for kill -9), `fake.rest.buckets["POST
/channels/{channel}/messages"] = (5, 5.0)`; `channel.denied.add("PIN_MESSAGES")`, `channel.locked`,
`channel.put_away`, `user.dms = False`, `user.member = False`, `fake.old_edits = (3, 20.0)` (edits of messages
over an hour old, per channel and seconds; None is no limit), `fake.lose(channel)` deletes a channel.

*Delivery.* An interaction is an event like others: sessions alive get it, a session whose connection broke
gets it on RESUME, and if there is none it is lost at once (`delivered` is False). A fresh IDENTIFY never gets
old events.

*Choices made where Discord is silent.* Edits never notify, not even the first edit of a deferred answer. A
follow-up after a deferral replaces the thinking message and keeps its visibility. A nonce is remembered for
five minutes per channel; using it again later counts as sending twice. A V2 picture needs its description on
the gallery item.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType

import discord
import yarl
from aiohttp import web

from tests.fake_discord.models import (
    PERMISSIONS,
    ApiError,
    Channel,
    Interaction,
    Message,
    Modal,
    ModalField,
    OptionChoice,
    Ping,
    RejectedRequest,
    UploadedFile,
    User,
)
from tests.fake_discord.rest_api import RestApi
from tests.fake_discord.user_actions import MessageControl, UserActions


class FakeDiscord(UserActions):
    """The server. `users` are members of one guild, the first of them manages it; `channels` are its text
    channels.

    Enter it to listen on a free loopback port, leave it to stop.
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
        """Point the discord.py of this process at the fake: the two class attributes, restored at the end."""
        base, gateway = discord.http.Route.BASE, discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY
        discord.http.Route.BASE = self.api_url
        discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(self.gateway_url)
        try:
            yield
        finally:
            discord.http.Route.BASE = base
            discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = gateway

    # --- the whole run ----------------------------------------

    @property
    def slowest_ack(self) -> float:
        """Seconds until the slowest acknowledgement; infinite where a delivered interaction got none."""
        waits = [
            float("inf") if each.ack_after is None else each.ack_after
            for each in self.interactions
            if each.delivered
        ]
        return max(waits, default=0.0)

    @property
    def messages_without_nonce(self) -> list[Message]:
        """What the bot sent to channels with nothing by which a second sending would be recognised."""
        every = [message for channel in self.channels.values() for message in channel.messages]
        return [
            each
            for each in every
            if each.author is self.bot and each.type == 0 and each.interaction is None and each.nonce is None
        ]

    def violations(self, *, ack: float = 1.0, pinged: Iterable[User | str] | None = None) -> list[str]:
        """Everything that should not have happened: refusals, pictures without description, second sendings,
        late acknowledgements (over `ack` seconds), and, where `pinged` is given, notifications of anybody
        else."""
        found = [f"Refused: {each}" for each in self.rejected] + list(self.problems)
        for each in self.interactions:
            if each.delivered and (each.ack_after is None or each.ack_after > ack):
                took = "never" if each.ack_after is None else f"after {each.ack_after:.2f} s"
                found.append(f"{each} was acknowledged {took}.")
        if pinged is not None:
            welcome = {self.find_user(each) for each in pinged}
            found += [
                f"{ping.user.name} was notified by {ping.message!r}."
                for ping in self.pings
                if ping.user not in welcome
            ]
        return found

    def check_violations(
        self, *, ack: float = 1.0, pinged: Iterable[User | str] | None = None, forgiven: Iterable[str] = ()
    ) -> None:
        """Raise AssertionError listing the `violations`, save those that contain a text in `forgiven`."""
        texts = list(forgiven)
        found = [
            each
            for each in self.violations(ack=ack, pinged=pinged)
            if not any(text in each for text in texts)
        ]
        assert not found, "\n".join(found)


__all__ = [
    "PERMISSIONS",
    "ApiError",
    "Channel",
    "FakeDiscord",
    "Interaction",
    "Message",
    "MessageControl",
    "Modal",
    "ModalField",
    "OptionChoice",
    "Ping",
    "RejectedRequest",
    "UploadedFile",
    "User",
]
