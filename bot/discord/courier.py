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

from bot import notices
from bot.answers import Asked
from bot.discord import cards
from bot.discord.cards import Face, Json, Shot
from bot.discord.wire import (
    ASLEEP_AFTER,
    NO_DIRECT_MESSAGES,
    NOT_HERE,
    UNKNOWN_CHANNEL,
    Outdated,
    Shown,
    Wire,
    age,
)
from bot.figures import changed_hexes, changed_prices
from bot.notices import Notice
from bot.pictures import Pictures
from bot.play import View
from bot.service import Service
from bot.tables import TableInfo
from storage import Card, Message, Missing

log = logging.getLogger(__name__)

LEASE = 30.0  # seconds for which a parcel is one courier's
AT_ONCE = 8
LONGEST_WAIT = 300.0  # seconds from one attempt to the next at most
LOOK_AGAIN = 15.0
GRACE = 3.0
OLD = timedelta(minutes=55)  # from an hour on, edits have a narrow limit of their own

FOR_GOOD = (400, 403, 404, 413)  # what is answered so is not tried again
AWAKE_EVERY = 12 * 3600.0


class Unsent(Exception):
    """It can never be sent; the reason is for the store."""


class Ref(msgspec.Struct, omit_defaults=True):
    """Where a card is and what is on it, as the store keeps it."""

    channel: int
    message: int
    person: int | None = None
    seat: int | None = None
    seq: int = 0
    key: str = ""
    shown: str = ""
    pictures: str = ""
    texts: list[str] = []
    shots: list[tuple[str, str]] = []

    @property
    def face(self) -> Face:
        return Face(self.texts, [Shot(*each) for each in self.shots])


def ref_of(card: Card) -> Ref:
    """What the store keeps of a card."""
    return msgspec.convert(card.ref, Ref)


def digest(value: Any) -> str:
    """By what two contents are compared."""
    raw = value if isinstance(value, bytes) else msgspec.json.encode(value)
    return hashlib.sha256(raw).hexdigest()[:16]


def slot_of(asked: Asked, place: str) -> str:
    """The slot of a card: of the turn of a seat, or of one offer; `place` is "" for the table's own."""
    what = "turn" if asked.main else asked.decision.rpartition(".")[2]
    return f"{place}{what}:{asked.seat}"


def in_thread(table: TableInfo) -> bool:
    """Whether the table has a thread of its own, beside which there is its channel."""
    thread, channel = table.place.get("thread"), table.place.get("channel")
    return None not in (thread, channel) and thread != channel


def thread_name(table: TableInfo) -> str:
    """What a table's thread is called: its code first."""
    return cards.cut(" · ".join(dict.fromkeys((table.code, table.title, table.name))), 100)


def is_asking(slot: str) -> bool:
    """Whether the slot is that of a card which asks somebody now."""
    return slot != "lobby" and not slot.startswith("old:")


def place_of(slot: str) -> str:
    """The place in a slot."""
    head, found, _ = slot.partition("/")
    return f"{head}/" if found else ""


class Courier:
    """Brings the outbox's parcels for Discord. `run` goes on until it is cancelled."""

    def __init__(
        self, client: discord.Client, service: Service, pictures: Pictures, *, lease: float = LEASE
    ) -> None:
        self.client, self.service, self.pictures = client, service, pictures
        self.wire = Wire(client)
        self._lease = timedelta(seconds=lease)
        self._room = asyncio.Semaphore(AT_ONCE)
        self._locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self._followed: dict[int, tuple[Any, ...]] = {}  # as last looked at
        self._shows: dict[int, tuple[Any, ...]] = {}  # as its cards show it
        self._old: asyncio.Queue[Card] = asyncio.Queue()

    # -- the outbox --------------------------------------------------------------------------

    async def run(self) -> None:
        """Send what is due, and again after each commit. Endless."""
        with self.service.follow() as bell:
            async with asyncio.TaskGroup() as group:
                await self._wake_up(group)
                while True:
                    bell.clear()
                    await self._empty(group)
                    await self._follow_changes(group)
                    try:
                        async with asyncio.timeout(await self._idle()):
                            await bell.wait()
                    except TimeoutError:
                        continue

    async def _wake_up(self, group: asyncio.TaskGroup) -> None:
        """After a start every table in play is looked at once: what was not finished is done now."""
        group.create_task(self._tidy())
        group.create_task(self._keep_awake())
        for table in await self.service.tables(statuses=("running", "paused")):
            group.create_task(self._safely(table.id))

    async def _empty(self, group: asyncio.TaskGroup) -> None:
        """Begin with everything that is due."""
        while True:
            async with self._room, self.service.store.begin() as unit:
                rows = await unit.outbox.due("discord", AT_ONCE, self._lease)
            for row in rows:
                group.create_task(self._deliver(row))
            if not rows:
                return

    async def _idle(self) -> float:
        async with self.service.store.read() as unit:
            due = await unit.outbox.next_due("discord")
            wait = LOOK_AGAIN if due is None else (due - unit.now).total_seconds()
        return min(max(wait, 0.02), LOOK_AGAIN)

    async def _deliver(self, row: Message) -> None:
        """Deliver one parcel; what has begun when all ends is brought to its end, if that is soon."""
        job = asyncio.ensure_future(self._delivered(row))
        try:
            await asyncio.shield(job)
        except asyncio.CancelledError:
            await asyncio.wait({job}, timeout=GRACE)
            job.cancel()
            raise

    async def _delivered(self, row: Message) -> None:
        """Send one parcel and say how it went."""
        async with self._room:
            error, again = "", None
            try:
                async with asyncio.timeout(self._lease.total_seconds() * 0.9):
                    ref = await self._send(row)
            except Unsent as unsent:
                error = str(unsent)
            except (discord.HTTPException, aiohttp.ClientError, OSError, discord.RateLimited) as wrong:
                error = f"{type(wrong).__name__}: {wrong}"
                if getattr(wrong, "status", 0) not in FOR_GOOD:
                    again = self._later(row)
            except Exception as wrong:
                log.exception("a parcel could not be sent (%s)", row.key)
                error = f"{type(wrong).__name__}: {wrong}"
                again = self._later(row) if row.attempts < 8 else None
            async with self.service.store.begin() as unit:
                if error:
                    log.warning("Discord: %s was not sent: %s", row.key, error)
                    await unit.outbox.failed(row.id, error, again)
                else:
                    await unit.outbox.sent(row.id, ref)
        self.service.changed()

    @staticmethod
    def _later(row: Message) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=min(2.0 ** min(row.attempts, 10), LONGEST_WAIT))

    async def _send(self, row: Message) -> str | None:
        """One parcel; what Discord calls the message that came of it."""
        notice = notices.decoded(row.payload)
        direct = row.address.get("user") if not (row.lane or "").startswith("table:") else None
        try:
            async with self._lock(notice.table):
                return await self._shown(row, notice, direct)
        except Missing:
            raise Unsent("the table is gone") from None

    async def _shown(self, row: Message, notice: Notice, direct: str | None) -> str | None:
        table = await self.service.table(notice.table)
        match notice.kind:
            case "lobby":
                return await self._lobby(row, table)
            case "started" if direct is None:
                table = await self._threaded(table)
                await self._lobby(row, table)
                return await self._tell(row, table, notice, direct)
            case "turn":
                return await self._turn(row, table, notice, direct)
            case "vote":
                return await self._vote(row, table, notice, direct)
            case "refresh":
                await self._follow(table.id)
                return None
            case "invited":
                return await self._invite(row, table, direct)
        await self._follow(table.id)
        return await self._tell(row, table, notice, direct)

    def _lock(self, table: int) -> asyncio.Lock:
        return self._locks.setdefault(table, asyncio.Lock())

    # -- following the position --------------------------------------------------------------

    async def follow(self, table: int) -> None:
        """Make the messages of a table agree with its position."""
        async with self._lock(table):
            await self._follow(table)

    async def _safely(self, table: int) -> None:
        try:
            async with asyncio.timeout(self._lease.total_seconds()):
                await self.follow(table)
        except (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError, Missing) as wrong:
            log.warning("Discord: the cards of table %s could not be brought up to date: %s", table, wrong)
        except Exception:
            log.exception("the cards of table %s could not be brought up to date", table)

    async def _follow_changes(self, group: asyncio.TaskGroup) -> None:
        """Tables in memory that have moved since they were last shown: their cards follow at once."""
        for table, before in list(self._followed.items()):
            view = self.service.peek(table)
            if view is not None and moment(view) != before:
                self._followed[table] = moment(view)
                group.create_task(self._safely(table))

    async def _follow(self, table: int) -> None:
        view = await self.service.view(table)
        if self._shows.get(table) == moment(view):
            return
        self._followed[table] = moment(view)
        async with self.service.store.read() as unit:
            kept = await unit.games.cards(table)
        for card in kept:
            if card.slot == "lobby":
                continue
            if card.slot.startswith("old:"):
                self._old.put_nowait(card)
                continue
            asked = self._still(view, card)
            if asked is None:
                await self._strip(view, card)
            elif not asked.decision.startswith("v"):
                await self._renew(view, card, asked)
        self._shows[table] = moment(view)

    @staticmethod
    def _still(view: View, card: Card) -> Asked | None:
        """Whom a card still asks; None where it no longer does."""
        place, ref = place_of(card.slot), ref_of(card)
        if view.table.status in ("running", "finished"):
            for ballot, seat in view.waiting():
                if card.slot == f"{place}v{ballot.vote.id}:{seat}":
                    return Asked(seat, "", f"v{ballot.vote.id}", "")
        if view.table.status != "running":
            return None
        for asked in view.asked:
            sitter = view.table.at(asked.seat)
            if card.slot == slot_of(asked, place) and sitter and sitter.person == ref.person:
                return asked
        return None

    async def _renew(self, view: View, card: Card, asked: Asked) -> None:
        """The card of somebody who goes on: edited in place, or where it is old a new one without a ping."""
        ref = ref_of(card)
        payload, face, shown = await self._drawn(view, asked, ref.seq)
        if digest(payload) == ref.shown:
            return
        pictures = digest([digest(each.picture.png) for each in shown])
        files: dict[str, Any] = {} if pictures == ref.pictures else {"attachments": [s.file for s in shown]}
        new = msgspec.structs.replace(
            ref, shown=digest(payload), pictures=pictures, texts=face.texts,
            shots=[(shot.name, shot.alt) for shot in face.shots],
        )  # fmt: skip
        try:
            if age(ref.message) > OLD:
                raise Outdated(gone=False)
            user = await self._discord_id(ref.person)
            await self.wire.edit(self.wire.message(ref.channel, ref.message), payload, user, **files)
        except Outdated as outdated:
            if not outdated.gone:
                await self._set_aside(view, card)
            again = f"{ref.key}.{view.seq}"
            table = None if place_of(card.slot) else view.table
            sent = await self._posted(table, again, self.wire.channel(ref.channel), payload, None, shown)
            new.channel, new.message = sent.channel.id, sent.id
        await self._put(view, card.slot, new, asked.decision)

    async def _put(self, view: View, slot: str, ref: Ref, decision: str | None) -> None:
        async with self.service.store.begin() as unit:
            await unit.games.put_card(view.table.id, slot, msgspec.to_builtins(ref), decision)

    async def _strip(self, view: View, card: Card) -> None:
        """Take the controls from a card and say what came of it."""
        ref = ref_of(card)
        if age(ref.message) > OLD:
            await self._set_aside(view, card)
        else:
            try:
                message = self.wire.message(ref.channel, ref.message)
                await self.wire.edit(message, cards.stripped(ref.face, await self._came(view, ref)), None)
            except Outdated as outdated:
                if not outdated.gone:
                    await self._set_aside(view, card)
        async with self.service.store.begin() as unit:
            await unit.games.drop_card(view.table.id, card.slot)

    async def _came(self, view: View, ref: Ref) -> str:
        """What came of a card."""
        rows = await self.service.log(view.table.id, ref.seq)
        return cards.result(rows, view.table.names, ref.seat or 0)

    async def _set_aside(self, view: View, card: Card) -> None:
        """A card that is too old for a quick edit: its controls are taken away when Discord lets us."""
        ref = ref_of(card)
        slot = f"old:{ref.message}"
        ref.texts = [*ref.texts, await self._came(view, ref)]
        await self._put(view, slot, ref, None)
        self._old.put_nowait(
            Card(table_id=view.table.id, slot=slot, ref=msgspec.to_builtins(ref), posted=card.posted)
        )

    async def _keep_awake(self) -> None:
        """Keep the threads of running tables from falling asleep, where their controls would fail. Endless.

        A changed time until then counts as something that happened there, and nobody is told of it.
        """
        minutes: Literal[4320, 10080] = ASLEEP_AFTER
        while True:
            await asyncio.sleep(AWAKE_EVERY)
            minutes = 4320 if minutes == ASLEEP_AFTER else ASLEEP_AFTER
            for table in await self.service.tables(statuses=("running", "paused")):
                if thread := table.place.get("thread"):
                    await self.wire.wake(int(thread), auto_archive_duration=minutes)

    async def _tidy(self) -> None:
        """Take the controls from cards that were set aside, one after the other. Endless."""
        while True:
            card = await self._old.get()
            ref = ref_of(card)
            face = Face(ref.texts[:-1], ref.face.shots)
            try:
                await self.wire.edit(
                    self.wire.message(ref.channel, ref.message), cards.stripped(face, ref.texts[-1]), None
                )
            except Outdated as outdated:
                if not outdated.gone:
                    continue  # with the next change at the table, or the next start
            except (discord.DiscordException, aiohttp.ClientError, OSError) as wrong:
                log.info("Discord: an old card was not tidied: %s", wrong)
                continue
            async with self.service.store.begin() as unit:
                await unit.games.drop_card(card.table_id, card.slot)

    # -- cards -------------------------------------------------------------------------------

    async def _turn(self, row: Message, table: TableInfo, notice: Notice, direct: str | None) -> str | None:
        """A new card for somebody who is asked, and a ping."""
        await self._follow(table.id)
        view = await self.service.view(table.id)
        asked = self._wanted(view, notice)
        if asked is None:
            return None
        place = f"u{direct}/" if direct else ""
        slot = slot_of(asked, place)
        async with self.service.store.read() as unit:
            former = await unit.games.card(table.id, slot)
        if former is not None and ref_of(former).key == row.key:
            return str(ref_of(former).message)
        sitter = view.table.at(asked.seat)
        payload, face, shown = await self._drawn(view, asked, view.seq)
        user = await self._discord_id(sitter.person if sitter else None)
        acted = any(
            h.seat == asked.seat and h.kind == "move" and h.live
            for h in await self.service.log(table.id, notice.seq)
        )
        channel = await self._channel(table, direct)
        marker = f'"r1:{table.id}:{asked.seat}:' + ("" if asked.main else f"{asked.decision}:")
        message = await self._sent(row, channel, payload, None if acted else user, marker, shown)
        if former is not None:
            await self._strip(view, former)
        again = row.attempts > 1  # then it may be the message of an earlier attempt, with what stood then
        ref = Ref(
            message.channel.id, message.id, sitter.person if sitter else None, asked.seat, view.seq, row.key,
            "" if again else digest(payload),
            "" if again else digest([digest(each.picture.png) for each in shown]),
            face.texts, [(shot.name, shot.alt) for shot in face.shots],
        )  # fmt: skip
        await self._put(view, slot, ref, asked.decision)
        if again:
            self._shows.pop(table.id, None)
            await self._follow(table.id)
        return str(message.id)

    @staticmethod
    def _wanted(view: View, notice: Notice) -> Asked | None:
        """What of a turn notice is still asked: the same offer, or whatever the turn has come to."""
        if view.table.status != "running" or notice.decision is None:
            return None
        sitter = view.table.at(notice.seat if notice.seat is not None else -1)
        if notice.person is not None and (sitter is None or sitter.person != notice.person):
            return None
        mine = [a for a in view.asked if a.seat == notice.seat]
        exact = next((a for a in mine if a.decision == notice.decision), None)
        offer = ".o" in notice.decision
        return exact or next((a for a in mine if a.main and not offer), None)

    async def _drawn(self, view: View, asked: Asked, began: int) -> tuple[list[Json], Face, list[Shown]]:
        """A card, with its pictures; `began` is the row of the log from which the card stands."""
        assert view.state is not None
        table = view.table.id
        choices = await self.service.choices(table, asked.seat)
        past = await self.service.since(table, asked.seat, began)
        shown = await self._pictures(view, past[0].seq - 1 if past else began)
        past += await self.service.log(table, began)
        sitter = view.table.at(asked.seat)
        user = await self._discord_id(sitter.person if sitter else None)
        payload, face = cards.turn_card(
            view, asked, choices, cards.since(past, view.table.names), user, [s.shot for s in shown]
        )
        return payload, face, shown

    async def _pictures(self, view: View, before: int) -> list[Shown]:
        """Map and market, with what has changed behind a row of the log; those that could be drawn."""
        state = view.state
        assert state is not None
        try:
            former = await self.service.state_at(view.table.id, before)
        except ValueError:
            former = state
        drawn = await asyncio.gather(
            self.pictures.map(state, highlight=changed_hexes(former, state)),
            self.pictures.market(state, highlight=changed_prices(former, state)),
        )
        both = zip(("map.png", "market.png"), drawn, strict=True)
        return [Shown(name, picture) for name, picture in both if picture is not None]

    async def _vote(self, row: Message, table: TableInfo, notice: Notice, direct: str | None) -> str | None:
        """A vote put to one seat."""
        await self._follow(table.id)
        view = await self.service.view(table.id)
        seat, decision = notice.seat, notice.decision
        if seat is None or decision not in {f"v{b.vote.id}" for b, s in view.waiting() if s == seat}:
            return None
        assert decision is not None
        slot = f"{f'u{direct}/' if direct else ''}{decision}:{seat}"
        user = await self._discord_id(notice.person)
        payload, face = cards.vote_card(view, seat, decision, " ".join(notice.text), user)
        marker = f'"r1:{table.id}:{seat}:{decision}:'
        message = await self._sent(row, await self._channel(table, direct), payload, user, marker)
        ref = Ref(message.channel.id, message.id, notice.person, seat, view.seq, row.key, texts=face.texts)
        await self._put(view, slot, ref, decision)
        return str(message.id)

    async def _lobby(self, row: Message, table: TableInfo) -> str | None:
        """The lobby card, posted or brought up to date."""
        payload = cards.lobby_card(table)
        async with self.service.store.read() as unit:
            known = await unit.games.card(table.id, "lobby")
        if known is not None:
            ref = ref_of(known)
            try:
                await self.wire.edit(self.wire.message(ref.channel, ref.message), payload, None)
            except Outdated:
                log.info("Discord: the lobby card of table %s is gone or too old", table.code)
            return str(ref.message)
        if table.status != "lobby" or "channel" not in table.place:
            return None
        where = self.wire.channel(table.place["channel"])
        message = await self._sent(row, where, payload, None, f'"r1:{table.id}:-:-:join:')
        async with self.service.store.begin() as unit:
            ref = Ref(message.channel.id, message.id, key=row.key)
            await unit.games.put_card(table.id, "lobby", msgspec.to_builtins(ref))
        return str(message.id)

    async def _invite(self, row: Message, table: TableInfo, direct: str | None) -> str | None:
        if direct is None:
            return None
        host = next((s.name for s in table.sitters if s.person == table.host), "The host")
        payload, marker = cards.invitation(table, host), f'"r1:{table.id}:-:-:join:'
        try:
            message = await self._sent(row, await self._channel(table, direct), payload, None, marker)
        except discord.Forbidden as wrong:
            if wrong.code != NO_DIRECT_MESSAGES or "channel" not in table.place:
                raise
            payload = [cards.text(f"<@{direct}>"), *payload]
            where = self.wire.channel(table.place["channel"])
            message = await self._sent(row, where, payload, direct, f"<@{direct}>")
        return str(message.id)

    async def _tell(self, row: Message, table: TableInfo, notice: Notice, direct: str | None) -> str | None:
        """A notice to all."""
        head = cards.heading(table, notice.seq)
        payload = cards.told([head, *notice.text])
        shown: list[Shown] = []
        if notice.kind == "over":
            view = await self.service.view(table.id)
            if view.state is not None:
                shown = await self._pictures(view, view.seq)
                payload = [*payload, *cards.pictures([s.shot for s in shown])]
        channel = await self._channel(table, direct)
        marker = json.dumps(payload[0]["content"])
        message = await self._sent(row, channel, payload, None, marker, shown)
        if notice.kind == "started" and direct is None:
            await self.wire.pin(message)
        return str(message.id)

    # -- places ------------------------------------------------------------------------------

    async def _threaded(self, table: TableInfo) -> TableInfo:
        """The table's own thread, made when play starts, with those who play by Discord in it."""
        if "thread" in table.place or "channel" not in table.place:
            return table
        channel = int(table.place["channel"])
        async with self.service.store.read() as unit:
            lobby = await unit.games.card(table.id, "lobby")
        made_of = ref_of(lobby).message if lobby else None
        thread = await self.wire.new_thread(channel, thread_name(table), made_of)
        await self.service.place(table.id, {"thread": thread})
        if thread != channel:
            await self._seat_all(table, thread)
        return await self.service.table(table.id)

    async def _seat_all(self, table: TableInfo, thread: int) -> None:
        for sitter in table.sitters:
            if user := await self._discord_id(sitter.person):
                try:
                    await self.client.http.add_user_to_thread(thread, int(user))
                except discord.HTTPException as wrong:
                    log.info("Discord: %s was not added to the thread: %s", sitter.name, wrong)

    async def _channel(self, table: TableInfo, direct: str | None) -> Any:
        """Where to send: the table's thread, its channel, or somebody's direct messages."""
        if direct is not None:
            return await self.client.create_dm(discord.Object(int(direct)))
        where = table.place.get("thread") or table.place.get("channel")
        if where is None:
            raise Unsent("the table has no place on Discord")
        return self.wire.channel(where)

    async def _discord_id(self, person: int | None) -> str | None:
        if person is None:
            return None
        async with self.service.store.read() as unit:
            found = await unit.people.identities(person)
        return next((i.value for i in found if i.kind == "discord"), None)

    # -- the wire ----------------------------------------------------------------------------

    async def _sent(
        self,
        row: Message,
        channel: Any,
        payload: list[Json],
        user: str | None,
        marker: str,
        shown: Sequence[Shown] = (),
    ) -> discord.Message:
        """Send a parcel's message once; `marker` stands in its JSON and in no other's."""
        if row.attempts > 1 and (found := await self.wire.found(channel, marker, row.created)):
            return found
        table = await self.service.table(notices.decoded(row.payload).table)
        to_table = (row.lane or "").startswith("table:")
        return await self._posted(table if to_table else None, row.key, channel, payload, user, shown)

    async def _posted(
        self,
        table: TableInfo | None,
        key: str,
        channel: Any,
        payload: list[Json],
        user: str | None,
        shown: Sequence[Shown],
    ) -> discord.Message:
        """Send it, for a `table` if need be without pictures or beside its thread, or to a new thread."""
        beside = [self.wire.channel(table.place["channel"])] if table and in_thread(table) else []
        plain = [(without_pictures(payload), ())] if shown else []
        refused = None
        for where in (channel, *beside):
            for parts, pictures in ((payload, shown), *plain):
                try:
                    return await self.wire.post(where, parts, key, user, pictures)
                except discord.HTTPException as wrong:
                    if wrong.code == UNKNOWN_CHANNEL and table and beside:
                        return await self.wire.post(await self._elsewhere(table), payload, key, user, shown)
                    if wrong.code not in NOT_HERE:
                        raise
                    refused = wrong
        raise Unsent(f"nothing may be written there: {refused}")

    async def _elsewhere(self, table: TableInfo) -> discord.PartialMessageable:
        """The thread is gone: another one is made."""
        thread = await self.wire.new_thread(int(table.place["channel"]), thread_name(table), None)
        await self.service.place(table.id, {"thread": thread})
        await self._seat_all(table, thread)
        return self.wire.channel(thread)


def moment(view: View) -> tuple[Any, ...]:
    """By what a table that has changed is known."""
    votes = tuple((ballot.vote.id, seat) for ballot, seat in view.waiting())
    return view.seq, view.table.status, votes, tuple(s.person for s in view.table.sitters)


def without_pictures(payload: list[Json]) -> list[Json]:
    """The same without galleries."""
    kept = [part for part in payload if part["type"] != 12]
    return [
        part | {"components": [child for child in part["components"] if child["type"] != 12]}
        if part["type"] == 17
        else part
        for part in kept
    ]
