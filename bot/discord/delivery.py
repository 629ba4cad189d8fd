"""Delivery from the outbox to Discord: one thread per table, cards that follow the game, notices.

Theory of operation. An outbox message says that something has to be shown, not what it looks like: a card is
built from the position at the time of sending, so a message that is late or repeated does no harm.
`card_keeper` keeps the cards, `notices` sends everything else, `posting` finds a way that Discord allows.

A repeated sending is recognized by its nonce, a hash of the outbox message's key. Discord remembers nonces
for some minutes; later, a retry searches the channel for the same message. A message that fails for the
moment is tried again later, with growing delays; one that Discord refuses for good is given up, with the
reason in the store.
A fault of the store stops neither the worker nor the connection to Discord: the worker waits and goes on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Coroutine
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import discord

from bot.discord.api import DISCORD_ERRORS, REFUSED_STATUSES, DiscordApi
from bot.discord.cards.card_builder import CardBuilder
from bot.discord.cards.card_keeper import CardKeeper
from bot.discord.cards.card_refs import LASTING_SLOTS, WHOLE, CardRef
from bot.discord.cards.endings import Endings
from bot.discord.cards.finished_turns import FinishedTurns
from bot.discord.cards.notices import Notices
from bot.discord.cards.prompts import card_version
from bot.discord.places import DeletedMessages
from bot.discord.posting import Outgoing, Poster, Unreachable
from bot.discord.renaming import rename_cards, rename_messages
from bot.discord.threads import TableThreads
from bot.features.privacy.replacing import Replacing
from bot.hub.cache import keyed_locks
from bot.hub.notifications import messages
from bot.hub.notifications.due_messages import still_wanted
from bot.hub.notifications.messages import is_public
from bot.pictures.workers import PictureWorkers
from bot.service import Service
from storage import GuildShards, NotFound, OutboxMessage, StoreError

log = logging.getLogger(__name__)

LEASE = 30.0  # seconds for which one worker has an outbox message
MAX_CONCURRENT = 8
MAX_RETRY_DELAY = 300.0  # seconds
MAX_TURN_RETRY_DELAY = 60.0  # seconds, for a player who can be reached nowhere at the moment
ENDING_WAITS = timedelta(days=2)  # for a place where it may be told
MIN_PAUSE, POLL_INTERVAL = 0.02, 15.0  # seconds between two looks at the outbox, without a commit
SHUTDOWN_GRACE = 3.0  # seconds
MAX_ATTEMPTS = 8  # of what fails by a fault of ours
FIRST_PAUSE = 1.0  # seconds before the worker goes on after a fault


def _replacing(notification: messages.Notification) -> Replacing:
    """What a message of the kind `names` says."""
    word, *former = notification.sentences
    return Replacing((), former, word)


class Undeliverable(Exception):
    """A message can never be sent; the text is the reason."""


class DiscordDelivery:
    """The delivery worker of the Discord channel. `run` goes on until it is cancelled."""

    def __init__(
        self,
        client: discord.Client,
        service: Service,
        pictures: PictureWorkers,
        shards: GuildShards | None = None,
    ) -> None:
        """shards: whose messages it delivers and whose tables it keeps; None for all."""
        self.service = service
        self.api = DiscordApi(client)
        self.threads = TableThreads(service, self.api)
        self.builder = CardBuilder(service, pictures)
        self._lock = keyed_locks()
        poster = Poster(service, self.api, self.threads)
        self.finished = FinishedTurns(poster, self._lock)
        self.keeper = CardKeeper(poster, self.builder, self.finished)
        self.notices = Notices(poster, self.finished)
        self.endings = Endings(poster, self.builder, self.finished)
        self._shards = shards
        self._semaphore, self._renaming = asyncio.Semaphore(MAX_CONCURRENT), asyncio.Lock()
        self._pause = 0.0  # seconds until the next message is due
        self._syncing = set[int]()
        self._redrawn = set[str]()  # keys of messages that take out names, and have not done so everywhere
        self.deleted_messages = DeletedMessages(self.keeper, self._lock, self._request_sync)

    # -- the outbox --------------------------------------------------------------------------

    async def run(self) -> None:
        """Send what is due, again after each commit; never returns."""
        with self.service.subscribe() as wake_event:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._restarting(self.finished.run))
                group.create_task(self._restarting(lambda: self.threads.keep_active(self._shards)))
                group.create_task(self._safely(self._sync_all()))
                pause = FIRST_PAUSE
                while True:
                    wake_event.clear()
                    if await self._safely(self._work(group)):
                        pause = FIRST_PAUSE
                        await self._wait(wake_event)
                    else:
                        await asyncio.sleep(pause)
                        pause = min(2 * pause, MAX_TURN_RETRY_DELAY)

    @staticmethod
    async def _safely(work: Coroutine[Any, Any, None]) -> bool:
        """Run `work`; a fault is logged and ends nothing else. Whether there was none."""
        try:
            await work
            return True
        except (StoreError, OSError) as error:
            log.warning("Discord: delivery is interrupted: %s", error)
        except Exception:
            log.exception("Discord: delivery is interrupted")
        return False

    async def _restarting(self, run: Any) -> None:
        """Run a coroutine function that never returns, again after each fault."""
        while True:
            await self._safely(run())
            await asyncio.sleep(FIRST_PAUSE)

    async def _work(self, group: asyncio.TaskGroup) -> None:
        delivering = await self._start_due(group)
        await self._sync_changed(group, besides=delivering)

    async def _sync_all(self) -> None:
        """After a start, bring the cards up to date of the tables at which something has happened since, and
        go on with what an earlier process has begun."""
        async with self.service.store.read() as unit:
            tables = await unit.tables.with_older_cards(
                "running", "paused", besides=LASTING_SLOTS, whole=WHOLE, shards=self._shards
            )
        for table_id in tables:  # one after the other, so that thousands hold up no player
            await self._sync_safely(table_id)

    async def _start_due(self, group: asyncio.TaskGroup) -> set[int]:
        """Start to deliver every message that is due; the tables that these are about."""
        tables, has_more = set[int](), True
        while has_more:
            async with self._semaphore, self.service.store.begin(excludes_others=False) as unit:
                leased = await unit.outbox.lease_due(
                    "discord", MAX_CONCURRENT, timedelta(seconds=LEASE), shards=self._shards
                )
                due = await still_wanted(unit, leased)
                has_more = len(leased) == MAX_CONCURRENT
                next_due = await unit.outbox.next_due_at("discord", self._shards)
                wait = (next_due - unit.now).total_seconds() if next_due else POLL_INTERVAL
            self._pause = min(max(wait, MIN_PAUSE), POLL_INTERVAL)
            for queued in due:
                group.create_task(self._deliver(queued))
                if queued.table_id is not None:
                    tables.add(queued.table_id)
        return tables

    async def _wait(self, wake_event: asyncio.Event) -> None:
        """Wait for a commit, or until the next message is due."""
        try:
            async with asyncio.timeout(self._pause):
                await wake_event.wait()
        except TimeoutError:
            return

    async def _deliver(self, queued: OutboxMessage) -> None:
        """Deliver one message. On cancellation a delivery that has begun has `SHUTDOWN_GRACE` to finish."""
        delivery = asyncio.ensure_future(self._safely(self._send_and_record(queued)))
        try:
            await asyncio.shield(delivery)
        except asyncio.CancelledError:
            await asyncio.wait({delivery}, timeout=SHUTDOWN_GRACE)
            delivery.cancel()
            raise

    async def _send_and_record(self, queued: OutboxMessage) -> None:
        """Send one message and record the outcome in the outbox."""
        async with self._semaphore:
            reason, retry_at, message_id = "", None, None
            try:
                async with asyncio.timeout(LEASE * 0.9):
                    message_id = await self._send_message(queued)
            except Exception as error:
                reason, retry_at = self._failure(queued, error)
            async with self.service.store.begin(excludes_others=False) as unit:
                if reason:
                    level = logging.DEBUG if reason == queued.error else logging.WARNING  # said once
                    log.log(level, "Discord: %s was not sent: %s", self._name(queued), reason)
                    await unit.outbox.mark_failed(queued.idempotency_key, reason, retry_at)
                else:
                    await unit.outbox.mark_sent(queued.idempotency_key, message_id)
        self.service.wake_subscribers()

    def _failure(self, queued: OutboxMessage, error: Exception) -> tuple[str, datetime | None]:
        """Why a message was not sent, and when to try again (None: never)."""
        reason = f"{type(error).__name__}: {error}"
        match error:
            case Undeliverable():
                return str(error), None
            case Unreachable():
                kind = messages.decode_notification(queued.payload).kind
                is_young = queued.created_at > datetime.now(UTC) - ENDING_WAITS
                waits = kind in ("turn", "vote") or (kind == "over" and is_public(queued) and is_young)
                return str(error), self._retry_time(queued, MAX_TURN_RETRY_DELAY) if waits else None
            case discord.HTTPException() if error.status in REFUSED_STATUSES:
                return reason, None
            case _ if isinstance(error, (*DISCORD_ERRORS, StoreError)):
                return reason, self._retry_time(queued)
        log.error("Discord: %s could not be sent", self._name(queued), exc_info=error)
        return reason, self._retry_time(queued) if queued.attempts < MAX_ATTEMPTS else None

    def _name(self, queued: OutboxMessage) -> str:
        """A message as the operator reads of it."""
        kind = messages.decode_notification(queued.payload).kind
        return f"the message `{kind}` of {self.service.cache.table_name(queued.table_id)}"

    @staticmethod
    def _retry_time(queued: OutboxMessage, longest: float = MAX_RETRY_DELAY) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=min(2.0 ** min(queued.attempts, 10), longest))

    async def _send_message(self, queued: OutboxMessage) -> str | None:
        """Send one message; returns the id of the Discord message, if there is one."""
        notification = messages.decode_notification(queued.payload)
        user = None if is_public(queued) else queued.address.get("user")
        try:
            async with self._lock(notification.table_id):
                await self.service.cache.refresh(notification.table_id)
                shown = await self._send(Outgoing(queued, notification, user))
            if notification.kind == "names":
                await self._rename_messages(notification)
                self._redrawn.discard(queued.idempotency_key)
            return str(shown.message_id) if shown else None
        except NotFound:
            raise Undeliverable("the table does not exist") from None

    async def _rename_messages(self, notification: messages.Notification) -> None:
        """Replace names in messages, which may be hundreds: beside those that are sent, and at one table at a
        time. Raises TimeoutError where another table is renamed."""
        if self._renaming.locked():
            raise TimeoutError("names are replaced at another table first")
        async with self._renaming:
            table = await self.service.queries.table_info(notification.table_id)
            lock = partial(self._lock, table.id)
            await rename_messages(self.service, self.threads, table, _replacing(notification), lock)

    async def _send(self, sent: Outgoing) -> CardRef | None:
        """Show what a message says; where that is."""
        notification = sent.notification
        if notification.kind in ("turn", "vote"):
            return await self._send_card(sent)
        table = await self.service.queries.table_info(notification.table_id)
        match notification.kind:
            case "lobby":
                return await self.notices.update_lobby(sent, table)
            case "started" if sent.user is None:
                table = await self.threads.ensure(table)
                await self.notices.update_lobby(sent, table)
                told = await self.notices.send_text(sent, table)
                await self.keeper.sync(table.id)
                return told
            case "names":
                if sent.key not in self._redrawn:  # its other messages may have to wait
                    await self.keeper.sync(table.id)
                    await rename_cards(self.service, table, _replacing(notification))
                    await self.endings.redraw(table)
                    await self.notices.update_lobby(sent, table)
                    self._redrawn.add(sent.key)
                return None
            case "digest":
                return await self.notices.send_digest(sent, table)
            case "reminder":
                return await self.notices.send_reminder(sent, table)
            case "refresh":
                await self.keeper.sync(table.id)
                return None
        if notification.kind == "over":
            await self.keeper.sync(table.id)
            state = (await self.service.queries.view(table.id)).state
            if state is not None and table.is_over:
                return await self.endings.send(sent, table, state)
        elif notification.kind in self.service.pages:
            return await self.notices.send_page(sent, table)
        else:
            await self.keeper.sync(table.id)
        return await self.notices.send_text(sent, table)

    async def _send_card(self, sent: Outgoing) -> CardRef | None:
        """Show what somebody is asked, then bring the other cards up to date."""
        is_turn, table_id = sent.notification.kind == "turn", sent.notification.table_id
        try:
            shown = await (self.keeper.send_turn(sent) if is_turn else self.keeper.send_vote(sent))
        except Exception:
            await self.keeper.sync(table_id)  # old cards lose their controls even so
            raise
        await self.keeper.sync(table_id)
        if shown is None and is_turn and sent.notification.sentences:  # which nothing else tells
            return await self.notices.send_text(sent, await self.service.queries.table_info(table_id))
        return shown

    # -- keeping cards up to date ------------------------------------------------------------

    async def _sync_safely(self, table_id: int) -> None:
        """Bring cards up to date, with errors logged; after one it is tried again."""
        self._syncing.add(table_id)
        try:
            async with asyncio.timeout(LEASE), self._lock(table_id):
                await self.keeper.sync(table_id)
        except Exception as error:
            is_ours = not isinstance(error, (*DISCORD_ERRORS, StoreError))
            name, view = self.service.cache.table_name(table_id), self.service.queries.peek(table_id)
            told = "Discord: the cards of %s could not be brought up to date: %s"
            log.log(logging.ERROR if is_ours else logging.WARNING, told, name, error, exc_info=is_ours)
            # a fault of ours is tried again when something happens at the table
            self.keeper.shown[table_id] = card_version(view) if is_ours and view else None
        finally:
            self._syncing.discard(table_id)

    async def _request_sync(self, table_id: int) -> None:
        """Have the cards of a table brought up to date though its position is the same as before."""
        async with self._lock(table_id):  # a sync that goes on has begun without what is new
            self.keeper.shown[table_id] = None
        self.service.wake_subscribers()

    async def _sync_changed(self, group: asyncio.TaskGroup, besides: Collection[int]) -> None:
        """Sync the tables whose cards are out of date, and those whose pictures were drawn late. besides:
        tables of which messages are sent now, which come first."""
        late, self.builder.drawn_late = self.builder.drawn_late, set()
        for table_id in late:
            group.create_task(self._safely(self._show_late_pictures(table_id)))
        for table_id, shown in self.keeper.shown.items():
            view = self.service.queries.peek(table_id)
            is_old = shown is None or (view is not None and card_version(view) != shown)
            if is_old and table_id not in besides and table_id not in self._syncing:
                group.create_task(self._sync_safely(table_id))

    async def _show_late_pictures(self, table_id: int) -> None:
        """Give cards and an ending the pictures for which they did not wait."""
        await self._request_sync(table_id)
        async with self._lock(table_id):
            await self.endings.redraw(await self.service.queries.table_info(table_id))
