"""Finished cards: each becomes one line, and the lines of successive turns are one message.

Theory of operation. The log says what has happened; a list of turns shows it from one row to another, a line
for each turn and each vote. A card that asks for nothing any more is deleted, and the list goes on to the
present row; where there is no list, or it is full or too old to be edited, the message of the card becomes
the next one. So a thread reads as lists of turns with a few notices in between. A card that Discord does not
let us edit now, and one that another has replaced, is queued in the store and finished when Discord does.

The list is edited first. One transaction then stores how far it goes and that the card is finished, and only
then is the card's message deleted. So a process may die anywhere: the next one makes the same list, or
deletes what is still there, and no line is missing or stands there twice. Where somebody has deleted the
message of a card or of a list, the next list begins where that one did.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import timedelta

import discord
import msgspec

from bot.discord.api import DISCORD_ERRORS, CannotEdit, message_age
from bot.discord.cards import card_texts, layouts
from bot.discord.cards.card_refs import (
    ENDED,
    NO_MESSAGE,
    OLD_PREFIX,
    RUN,
    CardRef,
    TableCard,
    digest,
    slot_for,
)
from bot.discord.posting import Poster
from bot.hub.table import TableView
from storage import StoreError

log = logging.getLogger(__name__)

OLD_MESSAGE_AGE = timedelta(minutes=55)  # Discord limits edits of messages older than one hour
AGAIN = 600.0  # seconds after which a card that Discord did not let us finish is tried again
MAX_LIST_TEXT = 3600  # characters
NO_LONGER = "No longer asked."


class FinishedTurns:
    """Finishes cards. `lock` gives the lock of a table, under which `finish` is called."""

    def __init__(self, poster: Poster, lock: Callable[[int], asyncio.Lock]) -> None:
        self.service, self.api, self.cards = poster.service, poster.api, poster.cards
        self._lock = lock
        self._queue: asyncio.Queue[TableCard] = asyncio.Queue()
        self._timers: dict[tuple[int, str], asyncio.TimerHandle] = {}

    async def finish(self, view: TableView, card: TableCard) -> None:
        """Finish a card that is not needed any more, now or when Discord allows it."""
        is_old = message_age(card.ref.message_id) > OLD_MESSAGE_AGE
        if is_old or not await self._finish_now(view, card):
            queued = queued_card(card, view.seq)
            await self._save(card, await self._list_begun_by(card), queued)
            self.queue(queued, 0 if is_old else AGAIN)

    async def _finish_now(self, view: TableView, card: TableCard) -> bool:
        """Finish a card and remove it from the store; whether Discord allows it."""
        until = card.ref.seq if card.is_queued else view.seq
        try:
            if card.is_queued and until == begins_after(card):  # another has taken its place
                return await self._save_and_delete(card)
            if not card.user:
                return await self._list_turns(view, card, until)
            lines = [*card.ref.news, *await self._own_lines(view, card, until)]
            await self._edit_card(card, lines or [NO_LONGER])
            await self._save(card)
        except CannotEdit as failure:
            if not failure.is_gone:
                return False
            await self._save(card, await self._list_begun_by(card))
        return True

    async def take_place(self, card: TableCard) -> None:
        """Store a message that is posted; the one that had its slot is deleted."""
        former = await self.cards.get(card.table_id, card.slot)
        queued = queued_card(former) if former and former.ref.message_id != card.ref.message_id else None
        await self.cards.change(card.table_id, card, queued)
        if queued:
            self.queue(queued)

    async def _list_begun_by(self, card: TableCard) -> CardRef | None:
        """The list that begins with the turn of a card; None where there is one."""
        is_begun = card.user or await self._list(card.table_id)
        return None if is_begun else await self._first_list(card)

    async def _first_list(self, card: TableCard) -> CardRef:
        """The list that begins with the turn of a card, or with that of one that is finished after it."""
        others = [
            each
            for each in await self.cards.of_table(card.table_id)
            if (each.asks or each.is_queued) and each.ref.channel_id == card.ref.channel_id
        ]
        return no_list(card.ref.channel_id, min(map(begins_after, [card, *others])))

    async def _own_lines(self, view: TableView, card: TableCard, until: int) -> list[str]:
        """What a player has done since the card in their direct messages was made, and all votes."""
        after, seat = begins_after(card), card.ref.seat
        entries = await self.service.queries.log(view.table.id, after, until)
        told = [each for each in entries if each.seat == seat or card_texts.is_vote(each)]
        return card_texts.turn_lines(told, view.table.names)

    # -- the list ----------------------------------------------------------------------------

    async def _list_turns(self, view: TableView, card: TableCard, until: int) -> bool:
        """Let the list go on to a row and delete the card, or make the card the next list; whether that is
        done. Raises CannotEdit, and has changed nothing in the store then."""
        ref = card.ref
        run = await self._list(card.table_id) or await self._first_list(card)
        if not await self._lines(view, run.seq, until):
            return await self._save_and_delete(card)
        begins = run.seq
        lines = [] if run.since is None else await self._lines(view, run.since, until)
        if lines and _has_room(run, ref, lines, even_old=card.is_queued):
            try:
                await self._edit(run, lines)
            except CannotEdit as failure:
                log.info("Discord: the list of turns of %s is closed: %s", view.table.code, failure)
                begins = run.since if failure.is_gone and run.since is not None else begins
            else:
                run = msgspec.structs.replace(run, seq=until, payload_digest=digest(lines))
                return await self._save_and_delete(card, run)
        lines = latest_lines(await self._lines(view, begins, until))
        await self._edit_card(card, lines)
        run = CardRef(ref.channel_id, ref.message_id, since=begins, seq=until, payload_digest=digest(lines))
        await self._save(card, run)
        return True

    async def mark_undone(self, view: TableView) -> None:
        """After an undo or a redo: the last two lists of turns say which of them no longer count."""
        for slot in (RUN, ENDED):
            run = await self._list(view.table.id, slot)
            if run is None or run.since is None:
                continue
            lines = latest_lines(await self._lines(view, run.since, run.seq))
            if digest(lines) == run.payload_digest:
                continue
            try:
                await self._edit(run, lines)
            except CannotEdit as failure:
                log.info("Discord: a list of turns of table %s stays as it is: %s", view.table.code, failure)
                continue
            marked = msgspec.structs.replace(run, payload_digest=digest(lines))
            await self.cards.change(view.table.id, TableCard(view.table.id, slot, marked))

    async def _lines(self, view: TableView, after: int, until: int) -> list[str]:
        """The turns and votes after a row of the log up to another."""
        return card_texts.turn_lines(
            await self.service.queries.log(view.table.id, after, until), view.table.names
        )

    async def _save_and_delete(self, card: TableCard, run: CardRef | None = None) -> bool:
        """Store that a card is finished, then delete its message; whether Discord allows it. The next process
        does if this one dies."""
        queued = queued_card(card)
        await self._save(card, run, queued)
        try:
            await self._remove(queued.ref)
        except CannotEdit as failure:
            if not failure.is_gone:
                return False
        await self._save(queued)
        return True

    async def _save(
        self, card: TableCard, run: CardRef | None = None, queued: TableCard | None = None
    ) -> None:
        """Store that a card is finished, the list if it has changed, and what is still to be done with the
        message."""
        table_id = card.table_id
        listed = None if run is None else TableCard(table_id, RUN, run)
        await self.cards.change(table_id, listed, queued, remove=[card.slot])

    async def _list(self, table_id: int, slot: str = RUN) -> CardRef | None:
        stored = await self.cards.get(table_id, slot)
        return stored.ref if stored else None

    async def end_list(self, table_id: int) -> None:
        """After another message the next finished turn begins another list."""
        run = await self._list(table_id)
        if run is not None and run.message_id != NO_MESSAGE:
            begun = TableCard(table_id, RUN, no_list(run.channel_id, run.seq))
            await self.cards.change(table_id, TableCard(table_id, ENDED, run), begun)

    # -- messages ----------------------------------------------------------------------------

    def _message(self, ref: CardRef) -> discord.PartialMessage:
        return self.api.message(ref.channel_id, ref.message_id)

    async def _edit_card(self, card: TableCard, lines: list[str]) -> None:
        await self.cards.forget_files(card)
        await self._edit(card.ref, lines)

    async def _edit(self, ref: CardRef, lines: list[str]) -> None:
        await self.api.edit(self._message(ref), layouts.finished_card(lines))

    async def _remove(self, ref: CardRef) -> None:
        """Delete a message; where that is not possible it loses its controls."""
        if not await self.api.delete(self._message(ref)):
            await self._edit(ref, [NO_LONGER])

    # -- cards that cannot be edited now -----------------------------------------------------

    def queue(self, card: TableCard, seconds: float = 0) -> None:
        """Finish a queued card in so many seconds."""
        key = card.table_id, card.slot
        if timer := self._timers.get(key):
            timer.cancel()
        loop = asyncio.get_running_loop()
        self._timers[key] = loop.call_later(seconds, self._queue.put_nowait, card)

    async def run(self) -> None:
        """Finish queued cards, one after the other; never returns."""
        while True:
            card = await self._queue.get()
            self._timers.pop((card.table_id, card.slot), None)
            try:
                async with self._lock(card.table_id):
                    if await self.cards.get(card.table_id, card.slot) is None:
                        continue
                    if await self._finish_now(await self.service.queries.view(card.table_id), card):
                        continue
            except (*DISCORD_ERRORS, StoreError) as error:
                log.info("Discord: an old card could not be closed: %s", error)
            except Exception:
                log.exception("Discord: an old card could not be closed")
            self.queue(card, AGAIN)


def begins_after(card: TableCard) -> int:
    """The row of the log after which a card was made."""
    return card.ref.seq if card.ref.since is None else card.ref.since


def queued_card(card: TableCard, until: int | None = None) -> TableCard:
    """How a card is queued whose message is still to be finished. until: the row up to which there is
    something to tell of it; None where there is nothing."""
    ref, after = card.ref, begins_after(card)
    seq = after if until is None else until
    queued = CardRef(ref.channel_id, ref.message_id, seat=ref.seat, since=after, seq=seq, news=ref.news)
    return TableCard(card.table_id, slot_for(card.user, f"{OLD_PREFIX}{ref.message_id}"), queued)


def no_list(channel_id: int, seq: int) -> CardRef:
    """A list of turns that is not begun: it will be about what follows row `seq` of the log."""
    return CardRef(channel_id, NO_MESSAGE, seq=seq)


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


def _has_room(run: CardRef, ref: CardRef, lines: Sequence[str], *, even_old: bool) -> bool:
    """Whether a list of turns may have these lines, and stands in the same channel as a card."""
    length = sum(len(each) + 1 for each in lines)
    is_editable = even_old or message_age(run.message_id) < OLD_MESSAGE_AGE
    return run.channel_id == ref.channel_id and length <= MAX_LIST_TEXT and is_editable
