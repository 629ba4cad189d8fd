"""Finished cards: each becomes one line, and the lines of successive turns are one message.

Theory of operation. A card that asks for nothing any more loses its controls and pictures. If its player has
moved, one line says what they did. The message that lists the last turns gets the line, and the message of
the card is deleted; where there is no such message, or it is full or too old to be edited, the card itself
becomes the next list. So a thread reads as lists of turns with a few notices in between. A card that Discord
does not let us edit now is queued in the store and finished when it does.

The list is edited first. One transaction then stores what it says and that the card is finished, and only
then is the card's message deleted. So a process may die anywhere: the next one edits the list into the same,
or deletes what is still there, and no line is missing or stands there twice. A card whose message somebody
has deleted cannot become a list: its moves are left to the next card that is finished. They are in the log;
lines that are not found there again, of a poll or of a queued card, wait in a list that is not begun. A list
that somebody has deleted is one that is not begun: its lines are on the next one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import NamedTuple

import aiohttp
import discord
import msgspec

from bot.discord.api import CannotEdit, DiscordApi, message_age
from bot.discord.cards import card_texts, layouts
from bot.discord.cards.card_refs import ENDED, OLD_PREFIX, RUN, CardRef, card_ref, slot_prefix
from bot.discord.posting import forget_files, ref_to_store
from bot.hub.table import TableView
from bot.service import Service
from storage import Card, StoreError

log = logging.getLogger(__name__)

OLD_MESSAGE_AGE = timedelta(minutes=55)  # Discord limits edits of messages older than one hour
MAX_LIST_TEXT = 3600  # characters
ROWS_OF_A_LIST = 200  # of the log, that a list may be about
NO_LONGER = "No longer asked."
NO_MESSAGE = 0  # the message id of a list that is not begun


class Outcome(NamedTuple):
    """What became of a card: lines for the list, and the row of the log up to which the list is then."""

    lines: list[str]
    seq: int | None = None


class FinishedTurns:
    """Finishes cards. `lock` gives the lock of a table, under which `finish` is called."""

    def __init__(self, service: Service, api: DiscordApi, lock: Callable[[int], asyncio.Lock]) -> None:
        self.service, self.api = service, api
        self._lock = lock
        self._queue: asyncio.Queue[Card] = asyncio.Queue()

    async def finish(self, view: TableView, card: Card) -> None:
        """Finish a card that is not needed any more, and remove it from the store."""
        run = await self._list(view.table.id)
        outcome = await self._result(view, card, run)
        try:
            if message_age(card_ref(card).message_id) > OLD_MESSAGE_AGE:
                await self._finish_later(view.table.id, card, outcome)
            else:
                await self._finish_now(view.table.id, card, outcome, run)
        except CannotEdit as failure:
            if failure.is_gone:
                await self._leave_to_next(view.table.id, card, outcome)
            else:
                await self._finish_later(view.table.id, card, outcome)

    async def _finish_now(
        self, table_id: int, card: Card, outcome: Outcome, run: CardRef | None, *, even_old: bool = False
    ) -> None:
        """run: the list of finished turns. Raises CannotEdit, and has changed nothing in the store then."""
        if slot_prefix(card.slot):
            await self._edit_card(card, outcome.lines or [NO_LONGER])
            await self._save(table_id, card, outcome)
        elif outcome.lines:
            await self._add_to_list(table_id, card, outcome, run, even_old)
        else:
            await self._save_and_delete(table_id, card, outcome)

    async def _result(self, view: TableView, card: Card, run: CardRef | None) -> Outcome:
        """What became of a card: the outcome of a poll, or the moves that no list has yet."""
        ref, prefix = card_ref(card), slot_prefix(card.slot)
        queries, names = self.service.queries, view.table.names
        if card.slot.removeprefix(prefix).startswith("v"):
            return Outcome(card_texts.poll_result(await queries.log(view.table.id, ref.seq), ref.texts))
        if prefix:
            entries = await queries.log(view.table.id, ref.seq)
            return Outcome(card_texts.turn_lines([each for each in entries if each.seat == ref.seat], names))
        entries = await queries.log(view.table.id, ref.seq if run is None else run.seq, view.seq)
        return Outcome(card_texts.turn_lines(entries, names), view.seq)

    # -- the list ----------------------------------------------------------------------------

    async def _add_to_list(
        self, table_id: int, card: Card, outcome: Outcome, run: CardRef | None, even_old: bool
    ) -> None:
        """Add lines to the list of finished turns and delete the card, or make the card the next list."""
        ref, lines = card_ref(card), outcome.lines
        if run is not None and _has_room(run, ref, lines, even_old):
            texts = [*run.texts, *lines]
            try:
                await self._edit(run, texts)
            except CannotEdit as failure:
                table = self.service.cache.table_name(table_id)
                log.info("Discord: the list of turns of %s is closed: %s", table, failure)
                if failure.is_gone:
                    run = no_list(run.channel_id, run.seq, run.texts)
                    await self._store_list(table_id, run)
            else:
                run = msgspec.structs.replace(run, texts=texts)
                await self._save_and_delete(table_id, card, outcome, run=run)
                return
        texts = latest_lines([*_waiting_lines(run), *lines])
        await self._edit_card(card, texts)
        seq = run.seq if run else ref.seq
        run = CardRef(ref.channel_id, ref.message_id, seq=seq, texts=texts)
        await self._save(table_id, card, outcome, run=run)

    async def mark_undone(self, view: TableView) -> None:
        """After an undo or a redo: the last two lists of turns say which of them no longer count."""
        entries = await self.service.queries.log(view.table.id, max(view.seq - ROWS_OF_A_LIST, 0))
        for slot in (RUN, ENDED):
            async with self.service.store.read() as unit:
                stored = await unit.tables.card(view.table.id, slot)
            run = card_ref(stored) if stored else no_list(0)
            texts = card_texts.with_undone(run.texts, entries, view.table.names)
            if run.message_id == NO_MESSAGE or texts == run.texts:
                continue
            try:
                await self._edit(run, texts)
            except CannotEdit as failure:
                log.info("Discord: a list of turns of table %s stays as it is: %s", view.table.code, failure)
                continue
            async with self.service.store.begin(table=view.table.id) as unit:
                marked = ref_to_store(msgspec.structs.replace(run, texts=texts))
                await unit.tables.set_card(view.table.id, slot, marked)

    async def _save_and_delete(
        self, table_id: int, card: Card, outcome: Outcome, *, run: CardRef | None = None
    ) -> None:
        """Store that a card is finished, then delete its message; the next process does if this one dies."""
        queued = queued_card(card, [])
        await self._save(table_id, card, outcome, run=run, queued=queued)
        try:
            await self._remove(card_ref(queued))
        except CannotEdit as failure:
            if not failure.is_gone:
                return  # the next change of the table, or the next start, queues it again
        await self._save(table_id, queued, Outcome([]))

    async def _leave_to_next(self, table_id: int, card: Card, outcome: Outcome) -> None:
        """Store that a card is finished whose message is gone. The list goes on where it was; lines that the
        log does not give again wait for the next one."""
        ref, run = card_ref(card), None
        if not slot_prefix(card.slot):
            run = await self._list(table_id) or no_list(ref.channel_id, ref.seq)
            if outcome.seq is None and outcome.lines:
                run = no_list(run.channel_id, run.seq, [*_waiting_lines(run), *outcome.lines])
        await self._save(table_id, card, Outcome([]), run=run)

    async def _save(
        self,
        table_id: int,
        card: Card,
        outcome: Outcome,
        *,
        run: CardRef | None = None,
        queued: Card | None = None,
    ) -> None:
        """Store that a card is finished, what the list says now if it was edited, and what is still to be
        done with the message."""
        ref = card_ref(card)
        async with self.service.store.begin(table=table_id) as unit:
            if outcome.seq is not None:
                stored = await unit.tables.card(table_id, RUN)
                run = run or (card_ref(stored) if stored else no_list(ref.channel_id))
                run = msgspec.structs.replace(run, seq=outcome.seq)
            if run is not None:
                await unit.tables.set_card(table_id, RUN, ref_to_store(run))
            await unit.tables.remove_card(table_id, card.slot)
            if queued:
                await unit.tables.set_card(table_id, queued.slot, queued.message_ref)

    async def _list(self, table_id: int) -> CardRef | None:
        async with self.service.store.read() as unit:
            stored = await unit.tables.card(table_id, RUN)
        return card_ref(stored) if stored else None

    async def _store_list(self, table_id: int, run: CardRef) -> None:
        async with self.service.store.begin(table=table_id) as unit:
            await unit.tables.set_card(table_id, RUN, ref_to_store(run))

    async def end_list(self, table_id: int) -> None:
        """After another message the next finished turn begins another list."""
        run = await self._list(table_id)
        if run is None:
            return
        async with self.service.store.begin(table=table_id) as unit:
            if run.message_id != NO_MESSAGE:
                await unit.tables.set_card(table_id, ENDED, ref_to_store(run))
            begun = no_list(run.channel_id, run.seq, _waiting_lines(run))
            await unit.tables.set_card(table_id, RUN, ref_to_store(begun))

    # -- messages ----------------------------------------------------------------------------

    def _message(self, ref: CardRef) -> discord.PartialMessage:
        return self.api.message(ref.channel_id, ref.message_id)

    async def _edit_card(self, card: Card, lines: list[str]) -> None:
        await forget_files(self.service.store, card)
        await self._edit(card_ref(card), lines)

    async def _edit(self, ref: CardRef, lines: list[str]) -> None:
        await self.api.edit(self._message(ref), layouts.finished_card(lines))

    async def _remove(self, ref: CardRef) -> None:
        """Delete a message; where that is not possible it loses its controls."""
        if not await self.api.delete(self._message(ref)):
            await self._edit(ref, [NO_LONGER])

    # -- cards that cannot be edited now -----------------------------------------------------

    async def put_off(self, table_id: int, card: Card) -> None:
        """Queue the message of a card that another has replaced; its controls are removed when Discord allows
        it."""
        queued = queued_card(card, [])
        async with self.service.store.begin(table=table_id) as unit:
            await unit.tables.set_card(table_id, queued.slot, queued.message_ref)
        self.queue(queued)

    async def _finish_later(self, table_id: int, card: Card, outcome: Outcome) -> None:
        queued = queued_card(card, outcome.lines)
        await self._save(table_id, card, outcome, queued=queued)
        self.queue(queued)

    def queue(self, card: Card) -> None:
        """Finish a queued card when its turn comes."""
        self._queue.put_nowait(card)

    async def run(self) -> None:
        """Finish queued cards, one after the other; never returns."""
        while True:
            card = await self._queue.get()
            try:
                async with self._lock(card.table_id):
                    await self._finish_queued(card)
            except (discord.DiscordException, aiohttp.ClientError, OSError, StoreError) as error:
                log.info("Discord: an old card could not be closed: %s", error)
            except Exception:
                log.exception("Discord: an old card could not be closed")

    async def _finish_queued(self, card: Card) -> None:
        async with self.service.store.read() as unit:
            if await unit.tables.card(card.table_id, card.slot) is None:
                return
        outcome = Outcome(card_ref(card).texts)
        try:
            run = await self._list(card.table_id)
            await self._finish_now(card.table_id, card, outcome, run, even_old=True)
        except CannotEdit as failure:
            if failure.is_gone:  # else the next change of the table, or the next start, queues it again
                await self._leave_to_next(card.table_id, card, outcome)


def queued_card(card: Card, lines: list[str]) -> Card:
    """How a card is queued whose message is still to be finished with these lines."""
    ref = card_ref(card)
    queued = CardRef(ref.channel_id, ref.message_id, seq=ref.seq, texts=lines)
    slot = f"{slot_prefix(card.slot)}{OLD_PREFIX}{ref.message_id}"
    return Card(table_id=card.table_id, slot=slot, message_ref=ref_to_store(queued), posted_at=card.posted_at)


def no_list(channel_id: int, seq: int = 0, lines: Sequence[str] = ()) -> CardRef:
    """A list of turns that is not begun: these lines and the moves after row `seq` of the log will be on
    it."""
    return CardRef(channel_id, NO_MESSAGE, seq=seq, texts=list(lines))


def _waiting_lines(run: CardRef | None) -> list[str]:
    """The lines of a list that is not begun."""
    return run.texts if run is not None and run.message_id == NO_MESSAGE else []


def latest_lines(lines: Sequence[str]) -> list[str]:
    """As many of the last lines as a list has room for; the first then says how many are left out."""
    length, kept = 0, 0
    for line in reversed(lines):
        length += len(line) + 1
        if length > MAX_LIST_TEXT:
            break
        kept += 1
    missing = len(lines) - kept
    return [card_texts.left_out(missing), *lines[missing:]] if missing else list(lines)


def _has_room(run: CardRef, ref: CardRef, lines: list[str], even_old: bool) -> bool:
    """Whether lines fit into a list of turns that stands in the same channel."""
    length = sum(len(each) + 1 for each in [*run.texts, *lines])
    in_place = run.message_id != NO_MESSAGE and run.channel_id == ref.channel_id
    return (
        in_place and length <= MAX_LIST_TEXT and (even_old or message_age(run.message_id) < OLD_MESSAGE_AGE)
    )
