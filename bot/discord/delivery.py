"""From the outbox to Discord: one thread a table, cards that follow the game, notices.

Theory. A parcel says that something is to be shown, not what: a card is drawn from the position as it
is when it is sent, so a parcel that comes late or twice does no harm. Which message carries which
controls is kept in the store, a slot for each seat that is asked. `_follow` makes the messages of a
table agree with its position: who is still asked sees his card edited in place, and what is no longer
asked loses its controls and gets its result. Only a turn makes a new card, and only a new card pings.

Sent twice is seen by the nonce, which is made of the parcel's key; Discord remembers it for some
minutes, after that the messages of the place are searched for one with the same words. What Discord
cannot take now is tried again later; what it refuses for good is given up, with the reason in the store.
"""

from __future__ import annotations

import asyncio
import hashlib
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
from bot.discord.cards import CardContent, ImageRef, Json
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

LEASE = 30.0  # seconds for which a parcel is one courier's
MAX_CONCURRENT = 8
MAX_RETRY_DELAY = 300.0  # seconds from one attempt to the next at most
POLL_INTERVAL = 15.0
SHUTDOWN_GRACE = 3.0
OLD_MESSAGE_AGE = timedelta(minutes=55)  # from an hour on, edits have a narrow limit of their own

PERMANENT_STATUSES = (400, 403, 404, 413)  # what is answered so is not tried again
KEEP_ACTIVE_INTERVAL = 12 * 3600.0


class Undeliverable(Exception):
    """It can never be sent; the reason is for the store."""


class CardRef(msgspec.Struct, omit_defaults=True):
    """Where a card is and what is on it, as the store keeps it."""

    channel_id: int
    message_id: int
    person_id: int | None = None
    seat: int | None = None
    seq: int = 0
    key: str = ""
    payload_digest: str = ""
    picture_digest: str = ""
    texts: list[str] = []
    images: list[tuple[str, str]] = []

    @property
    def content(self) -> CardContent:
        return CardContent(self.texts, [ImageRef(*each) for each in self.images])


def card_ref(card: Card) -> CardRef:
    """What the store keeps of a card."""
    return msgspec.convert(card.message_ref, CardRef)


def digest(value: Any) -> str:
    """By what two contents are compared."""
    raw = value if isinstance(value, bytes) else msgspec.json.encode(value)
    return hashlib.sha256(raw).hexdigest()[:16]


def card_slot(asked: PendingDecision, place: str) -> str:
    """The slot of a card: of the turn of a seat, or of one offer; `place` is "" for the table's own."""
    what = "turn" if asked.is_main else asked.decision_id.rpartition(".")[2]
    return f"{place}{what}:{asked.seat}"


def has_own_thread(table: TableInfo) -> bool:
    """Whether the table has a thread of its own, beside which there is its channel."""
    thread, channel = table.location.get("thread"), table.location.get("channel")
    return None not in (thread, channel) and thread != channel


def thread_name(table: TableInfo) -> str:
    """What a table's thread is called: its code first."""
    return cards.truncate(" · ".join(dict.fromkeys((table.code, table.title, table.name))), 100)


def is_prompt_slot(slot: str) -> bool:
    """Whether the slot is that of a card which asks somebody now."""
    return slot != "lobby" and not slot.startswith("old:")


def slot_prefix(slot: str) -> str:
    """The place in a slot."""
    head, found, _ = slot.partition("/")
    return f"{head}/" if found else ""


class DiscordDelivery:
    """Brings the outbox's parcels for Discord. `run` goes on until it is cancelled."""

    def __init__(
        self, client: discord.Client, service: Service, pictures: PictureWorkers, *, lease: float = LEASE
    ) -> None:
        self.client, self.service, self.pictures = client, service, pictures
        self.api = DiscordApi(client)
        self._lease = timedelta(seconds=lease)
        self._semaphore = asyncio.Semaphore(MAX_CONCURRENT)
        self._locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self._seen_versions: dict[int, tuple[Any, ...]] = {}  # as last looked at
        self._shown_versions: dict[int, tuple[Any, ...]] = {}  # as its cards show it
        self._old_cards: asyncio.Queue[Card] = asyncio.Queue()

    # -- the outbox --------------------------------------------------------------------------

    async def run(self) -> None:
        """Send what is due, and again after each commit. Endless."""
        with self.service.subscribe() as bell:
            async with asyncio.TaskGroup() as group:
                await self._sync_all(group)
                while True:
                    bell.clear()
                    await self._start_due(group)
                    await self._sync_changed(group)
                    try:
                        async with asyncio.timeout(await self._wait_time()):
                            await bell.wait()
                    except TimeoutError:
                        continue

    async def _sync_all(self, group: asyncio.TaskGroup) -> None:
        """After a start every table in play is looked at once: what was not finished is done now."""
        group.create_task(self._close_old_cards())
        group.create_task(self._keep_threads_active())
        for table in await self.service.list_tables(statuses=("running", "paused")):
            group.create_task(self._sync_safely(table.id))

    async def _start_due(self, group: asyncio.TaskGroup) -> None:
        """Begin with everything that is due."""
        while True:
            async with self._semaphore, self.service.store.begin() as unit:
                rows = await unit.outbox.lease_due("discord", MAX_CONCURRENT, self._lease)
            for row in rows:
                group.create_task(self._deliver(row))
            if not rows:
                return

    async def _wait_time(self) -> float:
        async with self.service.store.read() as unit:
            due = await unit.outbox.next_due_at("discord")
            wait = POLL_INTERVAL if due is None else (due - unit.now).total_seconds()
        return min(max(wait, 0.02), POLL_INTERVAL)

    async def _deliver(self, row: OutboxMessage) -> None:
        """Deliver one parcel; what has begun when all ends is brought to its end, if that is soon."""
        job = asyncio.ensure_future(self._send_and_record(row))
        try:
            await asyncio.shield(job)
        except asyncio.CancelledError:
            await asyncio.wait({job}, timeout=SHUTDOWN_GRACE)
            job.cancel()
            raise

    async def _send_and_record(self, row: OutboxMessage) -> None:
        """Send one parcel and say how it went."""
        async with self._semaphore:
            error, again = "", None
            try:
                async with asyncio.timeout(self._lease.total_seconds() * 0.9):
                    ref = await self._send_message(row)
            except Undeliverable as unsent:
                error = str(unsent)
            except (discord.HTTPException, aiohttp.ClientError, OSError, discord.RateLimited) as wrong:
                error = f"{type(wrong).__name__}: {wrong}"
                if getattr(wrong, "status", 0) not in PERMANENT_STATUSES:
                    again = self._retry_time(row)
            except Exception as wrong:
                log.exception("a parcel could not be sent (%s)", row.idempotency_key)
                error = f"{type(wrong).__name__}: {wrong}"
                again = self._retry_time(row) if row.attempts < 8 else None
            async with self.service.store.begin() as unit:
                if error:
                    log.warning("Discord: %s was not sent: %s", row.idempotency_key, error)
                    await unit.outbox.mark_failed(row.id, error, again)
                else:
                    await unit.outbox.mark_sent(row.id, ref)
        self.service.wake_subscribers()

    @staticmethod
    def _retry_time(row: OutboxMessage) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=min(2.0 ** min(row.attempts, 10), MAX_RETRY_DELAY))

    async def _send_message(self, row: OutboxMessage) -> str | None:
        """One parcel; what Discord calls the message that came of it."""
        notice = notifications.decode_notification(row.payload)
        direct = row.address.get("user") if not (row.ordering_key or "").startswith("table:") else None
        try:
            async with self._lock(notice.table_id):
                return await self._send_notification(row, notice, direct)
        except NotFound:
            raise Undeliverable("the table is gone") from None

    async def _send_notification(
        self, row: OutboxMessage, notice: Notification, direct: str | None
    ) -> str | None:
        table = await self.service.table_info(notice.table_id)
        match notice.kind:
            case "lobby":
                return await self._update_lobby(row, table)
            case "started" if direct is None:
                table = await self._ensure_thread(table)
                await self._update_lobby(row, table)
                return await self._send_text(row, table, notice, direct)
            case "turn":
                return await self._send_turn(row, table, notice, direct)
            case "vote":
                return await self._send_vote(row, table, notice, direct)
            case "refresh":
                await self._sync_cards(table.id)
                return None
            case "invited":
                return await self._send_invitation(row, table, direct)
        await self._sync_cards(table.id)
        return await self._send_text(row, table, notice, direct)

    def _lock(self, table: int) -> asyncio.Lock:
        return self._locks.setdefault(table, asyncio.Lock())

    # -- following the position --------------------------------------------------------------

    async def sync_table(self, table: int) -> None:
        """Make the messages of a table agree with its position."""
        async with self._lock(table):
            await self._sync_cards(table)

    async def _sync_safely(self, table: int) -> None:
        try:
            async with asyncio.timeout(self._lease.total_seconds()):
                await self.sync_table(table)
        except (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError, NotFound) as wrong:
            log.warning("Discord: the cards of table %s could not be brought up to date: %s", table, wrong)
        except Exception:
            log.exception("the cards of table %s could not be brought up to date", table)

    async def _sync_changed(self, group: asyncio.TaskGroup) -> None:
        """Tables in memory that have moved since they were last shown: their cards follow at once."""
        for table, before in list(self._seen_versions.items()):
            view = self.service.peek(table)
            if view is not None and card_version(view) != before:
                self._seen_versions[table] = card_version(view)
                group.create_task(self._sync_safely(table))

    async def _sync_cards(self, table: int) -> None:
        view = await self.service.view(table)
        if self._shown_versions.get(table) == card_version(view):
            return
        self._seen_versions[table] = card_version(view)
        async with self.service.store.read() as unit:
            kept = await unit.tables.cards(table)
        for card in kept:
            if card.slot == "lobby":
                continue
            if card.slot.startswith("old:"):
                self._old_cards.put_nowait(card)
                continue
            asked = self._open_prompt(view, card)
            if asked is None:
                await self._close_card(view, card)
            elif not asked.decision_id.startswith("v"):
                await self._update_card(view, card, asked)
        self._shown_versions[table] = card_version(view)

    @staticmethod
    def _open_prompt(view: TableView, card: Card) -> PendingDecision | None:
        """Whom a card still asks; None where it no longer does."""
        place, ref = slot_prefix(card.slot), card_ref(card)
        if view.table.status in ("running", "finished"):
            for ballot, seat in view.missing_votes():
                if card.slot == f"{place}v{ballot.poll.id}:{seat}":
                    return PendingDecision(seat, "", f"v{ballot.poll.id}", "")
        if view.table.status != "running":
            return None
        for asked in view.pending:
            sitter = view.table.player_at(asked.seat)
            if card.slot == card_slot(asked, place) and sitter and sitter.person_id == ref.person_id:
                return asked
        return None

    async def _update_card(self, view: TableView, card: Card, asked: PendingDecision) -> None:
        """The card of somebody who goes on: edited in place, or where it is old a new one without a ping."""
        ref = card_ref(card)
        payload, face, shown = await self._build_card(view, asked, ref.seq)
        if digest(payload) == ref.payload_digest:
            return
        pictures = digest([digest(each.picture.png) for each in shown])
        files: dict[str, Any] = (
            {} if pictures == ref.picture_digest else {"attachments": [s.discord_file for s in shown]}
        )
        new = msgspec.structs.replace(
            ref, payload_digest=digest(payload), picture_digest=pictures, texts=face.texts,
            images=[(shot.filename, shot.alt) for shot in face.images],
        )  # fmt: skip
        try:
            if message_age(ref.message_id) > OLD_MESSAGE_AGE:
                raise CannotEdit(gone=False)
            user = await self._discord_id(ref.person_id)
            await self.api.edit(self.api.message(ref.channel_id, ref.message_id), payload, user, **files)
        except CannotEdit as outdated:
            if not outdated.is_gone:
                await self._defer_closing(view, card)
            again = f"{ref.key}.{view.seq}"
            table = None if slot_prefix(card.slot) else view.table
            sent = await self._post(table, again, self.api.channel(ref.channel_id), payload, None, shown)
            new.channel_id, new.message_id = sent.channel.id, sent.id
        await self._save_card(view, card.slot, new, asked.decision_id)

    async def _save_card(self, view: TableView, slot: str, ref: CardRef, decision: str | None) -> None:
        async with self.service.store.begin() as unit:
            await unit.tables.set_card(view.table.id, slot, msgspec.to_builtins(ref), decision)

    async def _close_card(self, view: TableView, card: Card) -> None:
        """Take the controls from a card and say what came of it."""
        ref = card_ref(card)
        if message_age(ref.message_id) > OLD_MESSAGE_AGE:
            await self._defer_closing(view, card)
        else:
            try:
                message = self.api.message(ref.channel_id, ref.message_id)
                await self.api.edit(
                    message, cards.closed_card(ref.content, await self._card_result(view, ref)), None
                )
            except CannotEdit as outdated:
                if not outdated.is_gone:
                    await self._defer_closing(view, card)
        async with self.service.store.begin() as unit:
            await unit.tables.remove_card(view.table.id, card.slot)

    async def _card_result(self, view: TableView, ref: CardRef) -> str:
        """What came of a card."""
        rows = await self.service.log(view.table.id, ref.seq)
        return cards.card_result(rows, view.table.names, ref.seat or 0)

    async def _defer_closing(self, view: TableView, card: Card) -> None:
        """A card that is too old for a quick edit: its controls are taken away when Discord lets us."""
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
        """Keep the threads of running tables from falling asleep, where their controls would fail. Endless.

        A changed time until then counts as something that happened there, and nobody is told of it.
        """
        minutes: Literal[4320, 10080] = ARCHIVE_AFTER_MINUTES
        while True:
            await asyncio.sleep(KEEP_ACTIVE_INTERVAL)
            minutes = 4320 if minutes == ARCHIVE_AFTER_MINUTES else ARCHIVE_AFTER_MINUTES
            for table in await self.service.list_tables(statuses=("running", "paused")):
                if thread := table.location.get("thread"):
                    await self.api.unarchive(int(thread), auto_archive_duration=minutes)

    async def _close_old_cards(self) -> None:
        """Take the controls from cards that were set aside, one after the other. Endless."""
        while True:
            card = await self._old_cards.get()
            ref = card_ref(card)
            face = CardContent(ref.texts[:-1], ref.content.images)
            try:
                await self.api.edit(
                    self.api.message(ref.channel_id, ref.message_id),
                    cards.closed_card(face, ref.texts[-1]),
                    None,
                )
            except CannotEdit as outdated:
                if not outdated.is_gone:
                    continue  # with the next change at the table, or the next start
            except (discord.DiscordException, aiohttp.ClientError, OSError) as wrong:
                log.info("Discord: an old card was not tidied: %s", wrong)
                continue
            async with self.service.store.begin() as unit:
                await unit.tables.remove_card(card.table_id, card.slot)

    # -- cards -------------------------------------------------------------------------------

    async def _send_turn(
        self, row: OutboxMessage, table: TableInfo, notice: Notification, direct: str | None
    ) -> str | None:
        """A new card for somebody who is asked, and a ping."""
        await self._sync_cards(table.id)
        view = await self.service.view(table.id)
        asked = self._current_prompt(view, notice)
        if asked is None:
            return None
        place = f"u{direct}/" if direct else ""
        slot = card_slot(asked, place)
        async with self.service.store.read() as unit:
            former = await unit.tables.card(table.id, slot)
        if former is not None and card_ref(former).key == row.idempotency_key:
            return str(card_ref(former).message_id)
        sitter = view.table.player_at(asked.seat)
        payload, face, shown = await self._build_card(view, asked, view.seq)
        user = await self._discord_id(sitter.person_id if sitter else None)
        acted = any(
            h.seat == asked.seat and h.kind == "move" and h.is_live
            for h in await self.service.log(table.id, notice.seq)
        )
        channel = await self._target_channel(table, direct)
        marker = f'"r1:{table.id}:{asked.seat}:' + ("" if asked.is_main else f"{asked.decision_id}:")
        message = await self._send_once(row, channel, payload, None if acted else user, marker, shown)
        if former is not None:
            await self._close_card(view, former)
        again = row.attempts > 1  # then it may be the message of an earlier attempt, with what stood then
        ref = CardRef(
            message.channel.id, message.id, sitter.person_id if sitter else None, asked.seat, view.seq,
            row.idempotency_key,
            "" if again else digest(payload),
            "" if again else digest([digest(each.picture.png) for each in shown]),
            face.texts, [(shot.filename, shot.alt) for shot in face.images],
        )  # fmt: skip
        await self._save_card(view, slot, ref, asked.decision_id)
        if again:
            self._shown_versions.pop(table.id, None)
            await self._sync_cards(table.id)
        return str(message.id)

    @staticmethod
    def _current_prompt(view: TableView, notice: Notification) -> PendingDecision | None:
        """What of a turn notice is still asked: the same offer, or whatever the turn has come to."""
        if view.table.status != "running" or notice.decision_id is None:
            return None
        sitter = view.table.player_at(notice.seat if notice.seat is not None else -1)
        if notice.person_id is not None and (sitter is None or sitter.person_id != notice.person_id):
            return None
        mine = [a for a in view.pending if a.seat == notice.seat]
        exact = next((a for a in mine if a.decision_id == notice.decision_id), None)
        offer = ".o" in notice.decision_id
        return exact or next((a for a in mine if a.is_main and not offer), None)

    async def _build_card(
        self, view: TableView, asked: PendingDecision, began: int
    ) -> tuple[list[Json], CardContent, list[ImageAttachment]]:
        """A card, with its pictures; `began` is the row of the log from which the card stands."""
        assert view.state is not None
        table = view.table.id
        choices = await self.service.choices(table, asked.seat)
        past = await self.service.log_since_last_move(table, asked.seat, began)
        shown = await self._draw_pictures(view, past[0].seq - 1 if past else began)
        past += await self.service.log(table, began)
        sitter = view.table.player_at(asked.seat)
        user = await self._discord_id(sitter.person_id if sitter else None)
        payload, face = cards.turn_card(
            view, asked, choices, cards.history_lines(past, view.table.names), user, [s.ref for s in shown]
        )
        return payload, face, shown

    async def _draw_pictures(self, view: TableView, before: int) -> list[ImageAttachment]:
        """Map and market, with what has changed behind a row of the log; those that could be drawn."""
        state = view.state
        assert state is not None
        try:
            former = await self.service.state_at(view.table.id, before)
        except ValueError:
            former = state
        drawn = await asyncio.gather(
            self.pictures.map(state, highlight=changed_hexes(former, state)),
            self.pictures.market(state, highlight=repriced_companies(former, state)),
        )
        both = zip(("map.png", "market.png"), drawn, strict=True)
        return [ImageAttachment(name, picture) for name, picture in both if picture is not None]

    async def _send_vote(
        self, row: OutboxMessage, table: TableInfo, notice: Notification, direct: str | None
    ) -> str | None:
        """A vote put to one seat."""
        await self._sync_cards(table.id)
        view = await self.service.view(table.id)
        seat, decision = notice.seat, notice.decision_id
        if seat is None or decision not in {f"v{b.poll.id}" for b, s in view.missing_votes() if s == seat}:
            return None
        assert decision is not None
        slot = f"{f'u{direct}/' if direct else ''}{decision}:{seat}"
        user = await self._discord_id(notice.person_id)
        payload, face = cards.vote_card(view, seat, decision, " ".join(notice.sentences), user)
        marker = f'"r1:{table.id}:{seat}:{decision}:'
        message = await self._send_once(row, await self._target_channel(table, direct), payload, user, marker)
        ref = CardRef(
            message.channel.id,
            message.id,
            notice.person_id,
            seat,
            view.seq,
            row.idempotency_key,
            texts=face.texts,
        )
        await self._save_card(view, slot, ref, decision)
        return str(message.id)

    async def _update_lobby(self, row: OutboxMessage, table: TableInfo) -> str | None:
        """The lobby card, posted or brought up to date."""
        payload = cards.lobby_card(table)
        async with self.service.store.read() as unit:
            known = await unit.tables.card(table.id, "lobby")
        if known is not None:
            ref = card_ref(known)
            try:
                await self.api.edit(self.api.message(ref.channel_id, ref.message_id), payload, None)
            except CannotEdit:
                log.info("Discord: the lobby card of table %s is gone or too old", table.code)
            return str(ref.message_id)
        if table.status != "lobby" or "channel" not in table.location:
            return None
        where = self.api.channel(table.location["channel"])
        message = await self._send_once(row, where, payload, None, f'"r1:{table.id}:-:-:join:')
        async with self.service.store.begin() as unit:
            ref = CardRef(message.channel.id, message.id, key=row.idempotency_key)
            await unit.tables.set_card(table.id, "lobby", msgspec.to_builtins(ref))
        return str(message.id)

    async def _send_invitation(self, row: OutboxMessage, table: TableInfo, direct: str | None) -> str | None:
        if direct is None:
            return None
        host = next((s.name for s in table.seated_players if s.person_id == table.host_id), "The host")
        payload, marker = cards.invitation_card(table, host), f'"r1:{table.id}:-:-:join:'
        try:
            message = await self._send_once(
                row, await self._target_channel(table, direct), payload, None, marker
            )
        except discord.Forbidden as wrong:
            if wrong.code != CANNOT_SEND_DM or "channel" not in table.location:
                raise
            payload = [cards.text_display(f"<@{direct}>"), *payload]
            where = self.api.channel(table.location["channel"])
            message = await self._send_once(row, where, payload, direct, f"<@{direct}>")
        return str(message.id)

    async def _send_text(
        self, row: OutboxMessage, table: TableInfo, notice: Notification, direct: str | None
    ) -> str | None:
        """A notice to all."""
        head = cards.table_heading(table, notice.seq)
        payload = cards.notification([head, *notice.sentences])
        shown: list[ImageAttachment] = []
        if notice.kind == "over":
            view = await self.service.view(table.id)
            if view.state is not None:
                shown = await self._draw_pictures(view, view.seq)
                payload = [*payload, *cards.media_galleries([s.ref for s in shown])]
        channel = await self._target_channel(table, direct)
        marker = json.dumps(payload[0]["content"])
        message = await self._send_once(row, channel, payload, None, marker, shown)
        if notice.kind == "started" and direct is None:
            await self.api.pin(message)
        return str(message.id)

    # -- places ------------------------------------------------------------------------------

    async def _ensure_thread(self, table: TableInfo) -> TableInfo:
        """The table's own thread, made when play starts, with those who play by Discord in it."""
        if "thread" in table.location or "channel" not in table.location:
            return table
        channel = int(table.location["channel"])
        async with self.service.store.read() as unit:
            lobby = await unit.tables.card(table.id, "lobby")
        made_of = card_ref(lobby).message_id if lobby else None
        thread = await self.api.create_thread(channel, thread_name(table), made_of)
        await self.service.set_location(table.id, {"thread": thread})
        if thread != channel:
            await self._add_members(table, thread)
        return await self.service.table_info(table.id)

    async def _add_members(self, table: TableInfo, thread: int) -> None:
        for sitter in table.seated_players:
            if user := await self._discord_id(sitter.person_id):
                try:
                    await self.client.http.add_user_to_thread(thread, int(user))
                except discord.HTTPException as wrong:
                    log.info("Discord: %s was not added to the thread: %s", sitter.name, wrong)

    async def _target_channel(self, table: TableInfo, direct: str | None) -> Any:
        """Where to send: the table's thread, its channel, or somebody's direct messages."""
        if direct is not None:
            return await self.client.create_dm(discord.Object(int(direct)))
        where = table.location.get("thread") or table.location.get("channel")
        if where is None:
            raise Undeliverable("the table has no place on Discord")
        return self.api.channel(where)

    async def _discord_id(self, person: int | None) -> str | None:
        if person is None:
            return None
        async with self.service.store.read() as unit:
            found = await unit.people.identities(person)
        return next((i.value for i in found if i.kind == "discord"), None)

    # -- the wire ----------------------------------------------------------------------------

    async def _send_once(
        self,
        row: OutboxMessage,
        channel: Any,
        payload: list[Json],
        user: str | None,
        marker: str,
        shown: Sequence[ImageAttachment] = (),
    ) -> discord.Message:
        """Send a parcel's message once; `marker` stands in its JSON and in no other's."""
        if row.attempts > 1 and (found := await self.api.find_sent(channel, marker, row.created_at)):
            return found
        table = await self.service.table_info(notifications.decode_notification(row.payload).table_id)
        to_table = (row.ordering_key or "").startswith("table:")
        return await self._post(
            table if to_table else None, row.idempotency_key, channel, payload, user, shown
        )

    async def _post(
        self,
        table: TableInfo | None,
        key: str,
        channel: Any,
        payload: list[Json],
        user: str | None,
        shown: Sequence[ImageAttachment],
    ) -> discord.Message:
        """Send it, for a `table` if need be without pictures or beside its thread, or to a new thread."""
        beside = [self.api.channel(table.location["channel"])] if table and has_own_thread(table) else []
        plain = [(without_pictures(payload), ())] if shown else []
        refused = None
        for where in (channel, *beside):
            for parts, pictures in ((payload, shown), *plain):
                try:
                    return await self.api.send(where, parts, key, user, pictures)
                except discord.HTTPException as wrong:
                    if wrong.code == UNKNOWN_CHANNEL and table and beside:
                        return await self.api.send(
                            await self._replace_thread(table), payload, key, user, shown
                        )
                    if wrong.code not in CANNOT_SEND_CODES:
                        raise
                    refused = wrong
        raise Undeliverable(f"nothing may be written there: {refused}")

    async def _replace_thread(self, table: TableInfo) -> discord.PartialMessageable:
        """The thread is gone: another one is made."""
        thread = await self.api.create_thread(int(table.location["channel"]), thread_name(table), None)
        await self.service.set_location(table.id, {"thread": thread})
        await self._add_members(table, thread)
        return self.api.channel(thread)


def card_version(view: TableView) -> tuple[Any, ...]:
    """By what a table that has changed is known."""
    votes = tuple((ballot.poll.id, seat) for ballot, seat in view.missing_votes())
    return view.seq, view.table.status, votes, tuple(s.person_id for s in view.table.seated_players)


def without_pictures(payload: list[Json]) -> list[Json]:
    """The same without galleries."""
    kept = [part for part in payload if part["type"] != 12]
    return [
        part | {"components": [child for child in part["components"] if child["type"] != 12]}
        if part["type"] == 17
        else part
        for part in kept
    ]
