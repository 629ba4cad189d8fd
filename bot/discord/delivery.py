"""Delivery from the outbox to Discord: one thread per table, cards that follow the game, notifications.

Theory of operation. An outbox message says that something has to be shown, not what it looks like: a card is
built from the position at the time of sending, so a message that is late or repeated does no harm. The store
knows which Discord message is the card of which slot; there is one slot for each pending decision.
`_sync_cards` brings the cards of a table up to date: the card of a player who still has to act is edited in
place; a card that is not needed any more is closed: it loses its controls and gets a line with the result.
Only a turn creates a new card, and only a new card pings.

A repeated sending is recognized by its nonce, a hash of the outbox message's key. Discord remembers nonces
for some minutes; later, a retry searches the channel for the same message. What fails for the moment is
tried again later. What Discord refuses permanently is given up, with the reason in the store.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from weakref import WeakValueDictionary

import aiohttp
import discord
import msgspec

from bot.discord import cards
from bot.discord.api import (
    ARCHIVE_AFTER_MINUTES,
    CANNOT_SEND_CODES,
    CANNOT_SEND_DM,
    UNKNOWN_CHANNEL,
    CannotEdit,
    DiscordApi,
    ImageAttachment,
    message_age,
)
from bot.discord.card_refs import CardRef, card_ref, card_slot, digest, slot_prefix
from bot.discord.cards import CardContent, Json
from bot.service import notifications
from bot.service.images import changed_hexes, repriced_companies
from bot.service.live_table import TableView
from bot.service.notifications import Notification
from bot.service.picture_workers import PictureWorkers
from bot.service.results import PendingDecision
from bot.service.service import Service
from bot.service.tables import TableInfo
from storage import Card, NotFound, OutboxMessage

log = logging.getLogger(__name__)

LEASE = 30.0  # seconds for which one worker has an outbox message
MAX_CONCURRENT = 8
MAX_RETRY_DELAY = 300.0  # seconds
POLL_INTERVAL = 15.0  # seconds
SHUTDOWN_GRACE = 3.0  # seconds
OLD_MESSAGE_AGE = timedelta(minutes=55)  # Discord limits edits of messages older than one hour

PERMANENT_STATUSES = (400, 403, 404, 413)  # HTTP statuses after which a message is not tried again
KEEP_ACTIVE_INTERVAL = 12 * 3600.0  # seconds


class Undeliverable(Exception):
    """A message can never be sent; the text is the reason."""


def has_own_thread(table: TableInfo) -> bool:
    """Whether the table has a thread that is not its channel itself."""
    thread, channel = table.location.get("thread"), table.location.get("channel")
    return None not in (thread, channel) and thread != channel


def thread_name(table: TableInfo) -> str:
    """The name of a table's thread, which begins with the table's code."""
    return cards.truncate(" · ".join(dict.fromkeys((table.code, table.title, table.name))), 100)


class DiscordDelivery:
    """The delivery worker of the Discord channel. `run` goes on until it is cancelled."""

    def __init__(
        self, client: discord.Client, service: Service, pictures: PictureWorkers, *, lease: float = LEASE
    ) -> None:
        self.client, self.service, self.pictures = client, service, pictures
        self.api = DiscordApi(client)
        self._lease = timedelta(seconds=lease)
        self._semaphore = asyncio.Semaphore(MAX_CONCURRENT)
        self._locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self._seen_versions: dict[int, tuple[Any, ...]] = {}  # by table: at the start of the last sync
        self._shown_versions: dict[int, tuple[Any, ...]] = {}  # by table: what its cards show
        self._old_cards: asyncio.Queue[Card] = asyncio.Queue()

    # -- the outbox --------------------------------------------------------------------------

    async def run(self) -> None:
        """Send what is due, again after each commit; never returns."""
        with self.service.subscribe() as wake_event:
            async with asyncio.TaskGroup() as group:
                await self._sync_all(group)
                while True:
                    wake_event.clear()
                    await self._start_due(group)
                    await self._sync_changed(group)
                    try:
                        async with asyncio.timeout(await self._wait_time()):
                            await wake_event.wait()
                    except TimeoutError:
                        continue

    async def _sync_all(self, group: asyncio.TaskGroup) -> None:
        """After a start, bring the cards of all tables in play up to date once."""
        group.create_task(self._close_old_cards())
        group.create_task(self._keep_threads_active())
        for table in await self.service.queries.list_tables(statuses=("running", "paused")):
            group.create_task(self._sync_safely(table.id))

    async def _start_due(self, group: asyncio.TaskGroup) -> None:
        """Start to deliver every message that is due."""
        while True:
            async with self._semaphore, self.service.store.begin() as unit:
                due = await unit.outbox.lease_due("discord", MAX_CONCURRENT, self._lease)
            for queued in due:
                group.create_task(self._deliver(queued))
            if not due:
                return

    async def _wait_time(self) -> float:
        """Seconds until the next message is due, at most `POLL_INTERVAL`."""
        async with self.service.store.read() as unit:
            due_at = await unit.outbox.next_due_at("discord")
            wait = POLL_INTERVAL if due_at is None else (due_at - unit.now).total_seconds()
        return min(max(wait, 0.02), POLL_INTERVAL)

    async def _deliver(self, queued: OutboxMessage) -> None:
        """Deliver one message. On cancellation a delivery that has begun has `SHUTDOWN_GRACE` to finish."""
        delivery = asyncio.ensure_future(self._send_and_record(queued))
        try:
            await asyncio.shield(delivery)
        except asyncio.CancelledError:
            await asyncio.wait({delivery}, timeout=SHUTDOWN_GRACE)
            delivery.cancel()
            raise

    async def _send_and_record(self, queued: OutboxMessage) -> None:
        """Send one message and record the outcome in the outbox."""
        async with self._semaphore:
            reason, retry_at = "", None
            try:
                async with asyncio.timeout(self._lease.total_seconds() * 0.9):
                    message_id = await self._send_message(queued)
            except Undeliverable as failure:
                reason = str(failure)
            except (discord.HTTPException, aiohttp.ClientError, OSError, discord.RateLimited) as error:
                reason = f"{type(error).__name__}: {error}"
                if getattr(error, "status", 0) not in PERMANENT_STATUSES:
                    retry_at = self._retry_time(queued)
            except Exception as error:
                log.exception("Discord: %s could not be sent", queued.idempotency_key)
                reason = f"{type(error).__name__}: {error}"
                retry_at = self._retry_time(queued) if queued.attempts < 8 else None
            async with self.service.store.begin() as unit:
                if reason:
                    log.warning("Discord: %s was not sent: %s", queued.idempotency_key, reason)
                    await unit.outbox.mark_failed(queued.id, reason, retry_at)
                else:
                    await unit.outbox.mark_sent(queued.id, message_id)
        self.service.wake_subscribers()

    @staticmethod
    def _retry_time(queued: OutboxMessage) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=min(2.0 ** min(queued.attempts, 10), MAX_RETRY_DELAY))

    async def _send_message(self, queued: OutboxMessage) -> str | None:
        """Send one message; returns the id of the Discord message, if there is one."""
        notification = notifications.decode_notification(queued.payload)
        dm_user = queued.address.get("user") if not (queued.ordering_key or "").startswith("table:") else None
        try:
            async with self._lock(notification.table_id):
                return await self._send_notification(queued, notification, dm_user)
        except NotFound:
            raise Undeliverable("the table does not exist") from None

    async def _send_notification(
        self, queued: OutboxMessage, notification: Notification, dm_user: str | None
    ) -> str | None:
        table = await self.service.queries.table_info(notification.table_id)
        match notification.kind:
            case "lobby":
                return await self._update_lobby(queued, table)
            case "started" if dm_user is None:
                table = await self._ensure_thread(table)
                await self._update_lobby(queued, table)
                return await self._send_text(queued, table, notification, dm_user)
            case "turn":
                return await self._send_turn(queued, table, notification, dm_user)
            case "vote":
                return await self._send_vote(queued, table, notification, dm_user)
            case "refresh":
                await self._sync_cards(table.id)
                return None
            case "invited":
                return await self._send_invitation(queued, table, dm_user)
        await self._sync_cards(table.id)
        return await self._send_text(queued, table, notification, dm_user)

    def _lock(self, table_id: int) -> asyncio.Lock:
        return self._locks.setdefault(table_id, asyncio.Lock())

    # -- keeping cards up to date ------------------------------------------------------------

    async def sync_table(self, table_id: int) -> None:
        """Bring the cards of a table up to date with its position."""
        async with self._lock(table_id):
            await self._sync_cards(table_id)

    async def _sync_safely(self, table_id: int) -> None:
        """`sync_table`, with errors logged: the next change of the table, or the next start, tries again."""
        try:
            async with asyncio.timeout(self._lease.total_seconds()):
                await self.sync_table(table_id)
        except (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError, NotFound) as error:
            log.warning("Discord: the cards of table %s could not be brought up to date: %s", table_id, error)
        except Exception:
            log.exception("Discord: the cards of table %s could not be brought up to date", table_id)

    async def _sync_changed(self, group: asyncio.TaskGroup) -> None:
        """Sync the tables in memory that have changed since their last sync."""
        for table_id, version in list(self._seen_versions.items()):
            view = self.service.queries.peek(table_id)
            if view is not None and card_version(view) != version:
                self._seen_versions[table_id] = card_version(view)
                group.create_task(self._sync_safely(table_id))

    async def _sync_cards(self, table_id: int) -> None:
        view = await self.service.queries.view(table_id)
        if self._shown_versions.get(table_id) == card_version(view):
            return
        self._seen_versions[table_id] = card_version(view)
        async with self.service.store.read() as unit:
            stored = await unit.tables.cards(table_id)
        for card in stored:
            if card.slot == "lobby":
                continue
            if card.slot.startswith("old:"):
                self._old_cards.put_nowait(card)
                continue
            pending = self._open_prompt(view, card)
            if pending is None:
                await self._close_card(view, card)
            elif not pending.decision_id.startswith("v"):
                await self._update_card(view, card, pending)
        self._shown_versions[table_id] = card_version(view)

    @staticmethod
    def _open_prompt(view: TableView, card: Card) -> PendingDecision | None:
        """The decision or vote that a card still asks for; None where it is not needed any more."""
        prefix, ref = slot_prefix(card.slot), card_ref(card)
        if view.table.status in ("running", "finished"):
            for missing, seat in view.missing_votes():
                if card.slot == f"{prefix}v{missing.poll.id}:{seat}":
                    return PendingDecision(seat, "", f"v{missing.poll.id}", "")
        if view.table.status != "running":
            return None
        for pending in view.pending:
            player = view.table.player_at(pending.seat)
            if card.slot == card_slot(pending, prefix) and player and player.person_id == ref.person_id:
                return pending
        return None

    async def _update_card(self, view: TableView, card: Card, pending: PendingDecision) -> None:
        """Edit the card of a player who still has to act; replace an old card by a new one without a ping."""
        ref = card_ref(card)
        payload, content, images = await self._build_card(view, pending, ref.seq)
        if digest(payload) == ref.payload_digest:
            return
        picture_digest = digest([digest(each.picture.png) for each in images])
        files: dict[str, Any] = (
            {}
            if picture_digest == ref.picture_digest
            else {"attachments": [each.discord_file for each in images]}
        )
        updated = msgspec.structs.replace(
            ref, payload_digest=digest(payload), picture_digest=picture_digest, texts=content.texts,
            images=[(image.filename, image.alt) for image in content.images],
        )  # fmt: skip
        try:
            if message_age(ref.message_id) > OLD_MESSAGE_AGE:
                raise CannotEdit(gone=False)
            user = await self._discord_id(ref.person_id)
            await self.api.edit(self.api.message(ref.channel_id, ref.message_id), payload, user, **files)
        except CannotEdit as failure:
            if not failure.is_gone:
                await self._defer_closing(view, card)
            key = f"{ref.key}.{view.seq}"
            table = None if slot_prefix(card.slot) else view.table
            sent = await self._post(table, key, self.api.channel(ref.channel_id), payload, None, images)
            updated.channel_id, updated.message_id = sent.channel.id, sent.id
        await self._save_card(view, card.slot, updated, pending.decision_id)

    async def _save_card(self, view: TableView, slot: str, ref: CardRef, decision: str | None) -> None:
        async with self.service.store.begin() as unit:
            await unit.tables.set_card(view.table.id, slot, msgspec.to_builtins(ref), decision)

    async def _close_card(self, view: TableView, card: Card) -> None:
        """Remove the controls from a card and add a line with the result."""
        ref = card_ref(card)
        if message_age(ref.message_id) > OLD_MESSAGE_AGE:
            await self._defer_closing(view, card)
        else:
            try:
                message = self.api.message(ref.channel_id, ref.message_id)
                await self.api.edit(
                    message, cards.closed_card(ref.content, await self._card_result(view, ref)), None
                )
            except CannotEdit as failure:
                if not failure.is_gone:
                    await self._defer_closing(view, card)
        async with self.service.store.begin() as unit:
            await unit.tables.remove_card(view.table.id, card.slot)

    async def _card_result(self, view: TableView, ref: CardRef) -> str:
        """The line that says what became of a card."""
        entries = await self.service.queries.log(view.table.id, ref.seq)
        return cards.card_result(entries, view.table.names, ref.seat or 0)

    async def _defer_closing(self, view: TableView, card: Card) -> None:
        """Queue a card that is too old to be edited now; its controls are removed when Discord allows it."""
        ref = card_ref(card)
        slot = f"old:{ref.message_id}"
        ref.texts = [*ref.texts, await self._card_result(view, ref)]
        await self._save_card(view, slot, ref, None)
        self._old_cards.put_nowait(
            Card(
                table_id=view.table.id,
                slot=slot,
                message_ref=msgspec.to_builtins(ref),
                posted_at=card.posted_at,
            )
        )

    async def _keep_threads_active(self) -> None:
        """Keep the threads of running tables from being archived, because controls fail there; never returns.

        A changed archive duration counts as activity, and notifies nobody.
        """
        minutes: Literal[4320, 10080] = ARCHIVE_AFTER_MINUTES
        while True:
            await asyncio.sleep(KEEP_ACTIVE_INTERVAL)
            minutes = 4320 if minutes == ARCHIVE_AFTER_MINUTES else ARCHIVE_AFTER_MINUTES
            for table in await self.service.queries.list_tables(statuses=("running", "paused")):
                if thread := table.location.get("thread"):
                    await self.api.unarchive(int(thread), auto_archive_duration=minutes)

    async def _close_old_cards(self) -> None:
        """Remove the controls from queued old cards, one after the other; never returns."""
        while True:
            card = await self._old_cards.get()
            ref = card_ref(card)
            content = CardContent(ref.texts[:-1], ref.content.images)
            try:
                await self.api.edit(
                    self.api.message(ref.channel_id, ref.message_id),
                    cards.closed_card(content, ref.texts[-1]),
                    None,
                )
            except CannotEdit as failure:
                if not failure.is_gone:
                    continue  # the next change of the table, or the next start, queues it again
            except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
                log.info("Discord: an old card could not be closed: %s", error)
                continue
            async with self.service.store.begin() as unit:
                await unit.tables.remove_card(card.table_id, card.slot)

    # -- cards -------------------------------------------------------------------------------

    async def _send_turn(
        self, queued: OutboxMessage, table: TableInfo, notification: Notification, dm_user: str | None
    ) -> str | None:
        """Send a new card to a player who has to act, and ping them unless they have acted since."""
        await self._sync_cards(table.id)
        view = await self.service.queries.view(table.id)
        pending = self._current_prompt(view, notification)
        if pending is None:
            return None
        prefix = f"u{dm_user}/" if dm_user else ""
        slot = card_slot(pending, prefix)
        async with self.service.store.read() as unit:
            previous = await unit.tables.card(table.id, slot)
        if previous is not None and card_ref(previous).key == queued.idempotency_key:
            return str(card_ref(previous).message_id)
        player = view.table.player_at(pending.seat)
        payload, content, images = await self._build_card(view, pending, view.seq)
        user = await self._discord_id(player.person_id if player else None)
        acted = any(
            entry.seat == pending.seat and entry.kind == "move" and entry.is_live
            for entry in await self.service.queries.log(table.id, notification.seq)
        )
        channel = await self._target_channel(table, dm_user)
        marker = f'"r1:{table.id}:{pending.seat}:' + ("" if pending.is_main else f"{pending.decision_id}:")
        message = await self._send_once(queued, channel, payload, None if acted else user, marker, images)
        if previous is not None:
            await self._close_card(view, previous)
        is_retry = queued.attempts > 1  # an earlier attempt may have sent it, with an older position
        ref = CardRef(
            message.channel.id, message.id, player.person_id if player else None, pending.seat, view.seq,
            queued.idempotency_key,
            "" if is_retry else digest(payload),
            "" if is_retry else digest([digest(each.picture.png) for each in images]),
            content.texts, [(image.filename, image.alt) for image in content.images],
        )  # fmt: skip
        await self._save_card(view, slot, ref, pending.decision_id)
        if is_retry:
            self._shown_versions.pop(table.id, None)
            await self._sync_cards(table.id)
        return str(message.id)

    @staticmethod
    def _current_prompt(view: TableView, notification: Notification) -> PendingDecision | None:
        """The decision that a turn notification is about: the same offer, or the seat's current decision."""
        if view.table.status != "running" or notification.decision_id is None:
            return None
        player = view.table.player_at(notification.seat if notification.seat is not None else -1)
        if notification.person_id is not None and (
            player is None or player.person_id != notification.person_id
        ):
            return None
        own = [each for each in view.pending if each.seat == notification.seat]
        exact = next((each for each in own if each.decision_id == notification.decision_id), None)
        offer = ".o" in notification.decision_id
        return exact or next((each for each in own if each.is_main and not offer), None)

    async def _build_card(
        self, view: TableView, pending: PendingDecision, since: int
    ) -> tuple[list[Json], CardContent, list[ImageAttachment]]:
        """A card and its pictures; `since` is the row of the log after which the card was made."""
        assert view.state is not None
        table_id = view.table.id
        choices = await self.service.queries.choices(table_id, pending.seat)
        entries = await self.service.queries.log_since_last_move(table_id, pending.seat, since)
        images = await self._draw_pictures(view, entries[0].seq - 1 if entries else since)
        entries += await self.service.queries.log(table_id, since)
        player = view.table.player_at(pending.seat)
        user = await self._discord_id(player.person_id if player else None)
        payload, content = cards.turn_card(
            view,
            pending,
            choices,
            cards.history_lines(entries, view.table.names),
            user,
            [each.ref for each in images],
        )
        return payload, content, images

    async def _draw_pictures(self, view: TableView, since: int) -> list[ImageAttachment]:
        """Map and market with the changes since a row of the log marked; those that could be drawn."""
        state = view.state
        assert state is not None
        try:
            earlier = await self.service.queries.state_at(view.table.id, since)
        except ValueError:
            earlier = state
        drawing = self.pictures.for_table(view.table.id)
        drawn = await asyncio.gather(
            drawing.map(state, highlight=changed_hexes(earlier, state)),
            drawing.market(state, highlight=repriced_companies(earlier, state)),
        )
        named = zip(("map.png", "market.png"), drawn, strict=True)
        return [ImageAttachment(name, picture) for name, picture in named if picture is not None]

    async def _send_vote(
        self, queued: OutboxMessage, table: TableInfo, notification: Notification, dm_user: str | None
    ) -> str | None:
        """Send the card that asks a seat for its vote."""
        await self._sync_cards(table.id)
        view = await self.service.queries.view(table.id)
        seat, decision_id = notification.seat, notification.decision_id
        if seat is None or decision_id not in {
            f"v{missing.poll.id}" for missing, voter in view.missing_votes() if voter == seat
        }:
            return None
        assert decision_id is not None
        slot = f"{f'u{dm_user}/' if dm_user else ''}{decision_id}:{seat}"
        user = await self._discord_id(notification.person_id)
        payload, content = cards.vote_card(view, seat, decision_id, " ".join(notification.sentences), user)
        marker = f'"r1:{table.id}:{seat}:{decision_id}:'
        message = await self._send_once(
            queued, await self._target_channel(table, dm_user), payload, user, marker
        )
        ref = CardRef(
            message.channel.id,
            message.id,
            notification.person_id,
            seat,
            view.seq,
            queued.idempotency_key,
            texts=content.texts,
        )
        await self._save_card(view, slot, ref, decision_id)
        return str(message.id)

    async def _update_lobby(self, queued: OutboxMessage, table: TableInfo) -> str | None:
        """Send the lobby card, or bring it up to date."""
        payload = cards.lobby_card(table)
        async with self.service.store.read() as unit:
            stored = await unit.tables.card(table.id, "lobby")
        if stored is not None:
            ref = card_ref(stored)
            try:
                await self.api.edit(self.api.message(ref.channel_id, ref.message_id), payload, None)
            except CannotEdit:
                log.info("Discord: the lobby card of table %s is gone or too old", table.code)
            return str(ref.message_id)
        if table.status != "lobby" or "channel" not in table.location:
            return None
        channel = self.api.channel(table.location["channel"])
        message = await self._send_once(queued, channel, payload, None, f'"r1:{table.id}:-:-:join:')
        async with self.service.store.begin() as unit:
            ref = CardRef(message.channel.id, message.id, key=queued.idempotency_key)
            await unit.tables.set_card(table.id, "lobby", msgspec.to_builtins(ref))
        return str(message.id)

    async def _send_invitation(
        self, queued: OutboxMessage, table: TableInfo, dm_user: str | None
    ) -> str | None:
        if dm_user is None:
            return None
        host = next(
            (each.name for each in table.seated_players if each.person_id == table.host_id), "The host"
        )
        payload, marker = cards.invitation_card(table, host), f'"r1:{table.id}:-:-:join:'
        try:
            message = await self._send_once(
                queued, await self._target_channel(table, dm_user), payload, None, marker
            )
        except discord.Forbidden as error:
            if error.code != CANNOT_SEND_DM or "channel" not in table.location:
                raise
            payload = [cards.text_display(f"<@{dm_user}>"), *payload]
            channel = self.api.channel(table.location["channel"])
            message = await self._send_once(queued, channel, payload, dm_user, f"<@{dm_user}>")
        return str(message.id)

    async def _send_text(
        self, queued: OutboxMessage, table: TableInfo, notification: Notification, dm_user: str | None
    ) -> str | None:
        """Send a plain message; at the end of the game with pictures."""
        head = cards.table_heading(table, notification.seq)
        payload = cards.notification([head, *notification.sentences])
        images: list[ImageAttachment] = []
        if notification.kind == "over":
            view = await self.service.queries.view(table.id)
            if view.state is not None:
                images = await self._draw_pictures(view, view.seq)
                payload = [*payload, *cards.media_galleries([each.ref for each in images])]
        channel = await self._target_channel(table, dm_user)
        marker = json.dumps(payload[0]["content"])
        message = await self._send_once(queued, channel, payload, None, marker, images)
        if notification.kind == "started" and dm_user is None:
            await self.api.pin(message)
        return str(message.id)

    # -- channels and threads ----------------------------------------------------------------

    async def _ensure_thread(self, table: TableInfo) -> TableInfo:
        """Create the table's thread when its game starts, with its Discord players as members."""
        if "thread" in table.location or "channel" not in table.location:
            return table
        channel = int(table.location["channel"])
        async with self.service.store.read() as unit:
            lobby = await unit.tables.card(table.id, "lobby")
        lobby_message = card_ref(lobby).message_id if lobby else None
        thread = await self.api.create_thread(channel, thread_name(table), lobby_message)
        await self.service.lobby.set_location(table.id, {"thread": thread})
        if thread != channel:
            await self._add_members(table, thread)
        return await self.service.queries.table_info(table.id)

    async def _add_members(self, table: TableInfo, thread: int) -> None:
        for player in table.seated_players:
            if user := await self._discord_id(player.person_id):
                try:
                    await self.client.http.add_user_to_thread(thread, int(user))
                except discord.HTTPException as error:
                    log.info("Discord: %s was not added to the thread: %s", player.name, error)

    async def _target_channel(self, table: TableInfo, dm_user: str | None) -> Any:
        """Where to send: a user's direct messages, or the table's thread or channel."""
        if dm_user is not None:
            return await self.client.create_dm(discord.Object(int(dm_user)))
        channel_id = table.location.get("thread") or table.location.get("channel")
        if channel_id is None:
            raise Undeliverable("the table has no channel on Discord")
        return self.api.channel(channel_id)

    async def _discord_id(self, person_id: int | None) -> str | None:
        if person_id is None:
            return None
        async with self.service.store.read() as unit:
            identities = await unit.people.identities(person_id)
        return next((each.value for each in identities if each.kind == "discord"), None)

    # -- sending -----------------------------------------------------------------------------

    async def _send_once(
        self,
        queued: OutboxMessage,
        channel: Any,
        payload: list[Json],
        user: str | None,
        marker: str,
        images: Sequence[ImageAttachment] = (),
    ) -> discord.Message:
        """Send a message once; `marker` is a text in its JSON that no other message has."""
        if queued.attempts > 1 and (found := await self.api.find_sent(channel, marker, queued.created_at)):
            return found
        table = await self.service.queries.table_info(
            notifications.decode_notification(queued.payload).table_id
        )
        to_table = (queued.ordering_key or "").startswith("table:")
        return await self._post(
            table if to_table else None, queued.idempotency_key, channel, payload, user, images
        )

    async def _post(
        self,
        table: TableInfo | None,
        key: str,
        channel: Any,
        payload: list[Json],
        user: str | None,
        images: Sequence[ImageAttachment],
    ) -> discord.Message:
        """Send a message; where that is not allowed without pictures, or to the channel of the `table`.

        A deleted thread of the table is replaced. Raises Undeliverable.
        """
        fallback = [self.api.channel(table.location["channel"])] if table and has_own_thread(table) else []
        without_images = [(without_pictures(payload), ())] if images else []
        refused = None
        for target in (channel, *fallback):
            for components, attached in ((payload, images), *without_images):
                try:
                    return await self.api.send(target, components, key, user, attached)
                except discord.HTTPException as error:
                    if error.code == UNKNOWN_CHANNEL and table and fallback:
                        return await self.api.send(
                            await self._replace_thread(table), payload, key, user, images
                        )
                    if error.code not in CANNOT_SEND_CODES:
                        raise
                    refused = error
        raise Undeliverable(f"the bot may not write there: {refused}")

    async def _replace_thread(self, table: TableInfo) -> discord.PartialMessageable:
        """Create another thread for a table whose thread was deleted."""
        thread_id = await self.api.create_thread(int(table.location["channel"]), thread_name(table), None)
        await self.service.lobby.set_location(table.id, {"thread": thread_id})
        await self._add_members(table, thread_id)
        return self.api.channel(thread_id)


def card_version(view: TableView) -> tuple[Any, ...]:
    """What the cards of a table depend on; it changes whenever they have to be brought up to date."""
    votes = tuple((missing.poll.id, seat) for missing, seat in view.missing_votes())
    return view.seq, view.table.status, votes, tuple(s.person_id for s in view.table.seated_players)


def without_pictures(payload: list[Json]) -> list[Json]:
    """The components without media galleries."""
    kept = [part for part in payload if part["type"] != 12]
    return [
        part | {"components": [child for child in part["components"] if child["type"] != 12]}
        if part["type"] == 17
        else part
        for part in kept
    ]
