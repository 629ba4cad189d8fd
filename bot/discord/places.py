"""A table is shown somewhere else on Discord, or nowhere any more, or messages of it are deleted there.

Where a table moves, its cards are closed as far as they still exist, and everybody whom it waits for is
asked anew: in the new thread, or by direct messages and email.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine
from typing import Any

from bot.discord.cards.card_keeper import CardKeeper
from bot.discord.cards.card_refs import LOBBY, CardStore
from bot.discord.cards.finished_turns import queued_card
from bot.discord.threads import LOST_THREAD
from bot.hub.info import TableInfo
from bot.hub.loading import load_recipient
from bot.hub.notifications import messages
from bot.hub.notifications.notify import Recipient
from bot.hub.seating import host_and_players
from bot.hub.table import LiveTable
from bot.service import Service
from storage import StoreError, UnitOfWork

log = logging.getLogger(__name__)


async def move(service: Service, table_id: int, location: dict[str, Any]) -> TableInfo:
    """Show a table in another channel, in a thread of its own where the bot may make one there."""
    return await _show_anew(service, table_id, location, "started", "Table {} is shown here from now on.")


async def leave(service: Service, table: TableInfo, sentence: str) -> None:
    """Show a table on Discord no more, because its place is gone; tell its host and players by other ways,
    unless the game is over. sentence: why, with `{}` for the name and the code of the table. A table that
    cannot be read stays as it is."""
    others = "`/table invite` invites others, and after the start " if table.status == "lobby" else ""
    how = f" You are told by direct messages or email; {others}`/table move` shows it in a channel again."
    try:
        await _show_anew(service, table.id, {}, "news", sentence + how, with_log=not table.is_over)
    except StoreError as error:
        log.warning("table %s keeps a place on Discord that was deleted: %s", table.code, error)


async def _show_anew(
    service: Service,
    table_id: int,
    location: dict[str, Any],
    kind: str,
    sentence: str,
    *,
    with_log: bool = True,
) -> TableInfo:
    """Forget the messages of a table at its former place, where its cards are closed if they still exist;
    tell of the new place there, without one each player, and ask anew. with_log: see `TableCache.locked`."""
    async with service.cache.locked(table_id, with_log=with_log) as table:
        info, cards = await service.lobby.replace_location(table, location), CardStore(service.store)
        former = [each for each in await cards.of_table(table_id) if not each.user and not each.is_queued]
        queued = [queued_card(each) for each in former if each.asks]
        await cards.change(table_id, *queued, remove=[each.slot for each in former])
        told, suffix = sentence.format(f"{info.name} {info.code}"), messages.unique_suffix()
        async with service.store.begin(table=table_id) as unit:
            recipients = [] if location or info.is_over else await _everybody(unit, table)
            await unit.outbox.enqueue(
                *messages.announcements(info, kind, info.seq, [told], recipients, suffix, unit.now)
            )
        await ask_anew(service, table)
    service.wake_subscribers()
    return info


async def _everybody(unit: UnitOfWork, table: LiveTable) -> list[Recipient]:
    """Who is told of a table: who acts for its seats, and who has none with a number, as the host may and
    everybody before the start."""
    info = table.stored_info
    others = [person for person in host_and_players(info) if not info.seats_of(person)]
    return [*table.metadata.recipients.values(), *[await load_recipient(unit, each, None) for each in others]]


async def ask_anew(service: Service, table: LiveTable) -> None:
    """Ask everybody whom the table waits for, where they are reached now."""
    info = table.info
    if info.status != "running":
        return
    async with service.store.begin(table=info.id) as unit:
        await unit.outbox.enqueue(
            *messages.turn_messages(
                info, info.seq, table.pending, table.metadata.recipients, unit.now,
                suffix=messages.unique_suffix(),
            )
        )  # fmt: skip


class DeletedMessages:
    """Deals with what is deleted. lock: of a table. request_sync: has its cards brought up to date,
    though its position is the same."""

    def __init__(
        self,
        keeper: CardKeeper,
        lock: Callable[[int], asyncio.Lock],
        request_sync: Callable[[int], Coroutine[Any, Any, None]],
    ) -> None:
        self._service, self._keeper = keeper.service, keeper
        self._lock, self._request_sync = lock, request_sync

    async def messages(self, channel: int, message_ids: Collection[int], user: int | None) -> None:
        """Messages of a channel, or of the direct messages with a user, are gone."""
        for table in await tables_at(self._service, channel, user):
            async with self._lock(table.id):
                is_ours = await self._forget(table, message_ids)
            if is_ours:
                await self._request_sync(table.id)

    async def chat(self, channel: int, message: int) -> None:
        """People have written below a card: who plays live gets it at the bottom."""
        self._keeper.chatted[channel] = message
        for table_id in [*self._keeper.tables_at.get(channel, ())]:
            await self._request_sync(table_id)

    async def thread(self, thread: int) -> None:
        """A thread is gone. The next message of its table is posted in another, which is made once."""
        for found in await self._service.queries.list_tables(location=("thread", thread)):
            if found.location.get("channel") == thread:
                continue
            async with self._lock(found.id):
                table = await self._service.queries.table_info(found.id)
                if table.location.get("thread") != thread:
                    continue  # it was moved meanwhile
                if table.location.get(LOST_THREAD):
                    await leave(self._service, table, "The thread of table {} was deleted again.")
                    continue
                cards = await self._keeper.cards.of_table(table.id)
                lost = [each.ref.message_id for each in cards if each.ref.channel_id == thread]
                await self._forget(table, lost)
            await self._request_sync(table.id)
        await self.channel(thread)  # of tables that are shown in a thread which is not their own

    async def channel(self, channel: int) -> None:
        """A channel is gone, with its threads. Tables in play come first: nobody waits for the others."""
        tables = await self._service.queries.list_tables(location=("channel", channel))
        for table in sorted(tables, key=lambda each: each.is_over):
            async with self._lock(table.id):
                await leave(self._service, table, "The channel of table {} was deleted.")

    async def _forget(self, table: TableInfo, message_ids: Collection[int]) -> bool:
        """Note which cards of a table are gone; whether there are any."""
        cards = await self._keeper.cards.of_table(table.id)
        gone = [card for card in cards if card.ref.message_id in message_ids]
        asking = [card.with_unknown_content() for card in gone if card.asks]
        await self._keeper.cards.change(table.id, *asking)  # the next process brings them up to date
        if any(card.slot == LOBBY for card in gone):
            async with self._service.store.begin(table=table.id) as unit:
                await unit.outbox.enqueue(*messages.lobby_refreshes(table))
            self._service.wake_subscribers()
        return bool(gone)


async def tables_at(service: Service, channel: int, user: int | None = None) -> list[TableInfo]:
    """The tables that may have messages in a channel, or in the direct messages with a user."""
    queries = service.queries
    if user is None:
        found = [
            *await queries.list_tables(location=("thread", channel)),
            *await queries.list_tables(location=("channel", channel)),
        ]
    else:
        async with service.store.read() as unit:
            person = await unit.people.find_by_identity("discord", str(user))
        found = await queries.list_tables(person_id=person.id) if person else []
    return list({table.id: table for table in found}.values())
