"""A table is shown somewhere else on Discord, or nowhere any more.

Its cards there are closed as far as they still exist, and everybody whom the table waits for is asked anew:
in the new thread, or by direct messages and email.
"""

from __future__ import annotations

from typing import Any

from bot.discord.cards.card_refs import is_old_slot, is_prompt_slot, slot_prefix
from bot.discord.cards.finished_turns import queued_card
from bot.hub.info import TableInfo
from bot.hub.notifications import messages
from bot.hub.table import LiveTable
from bot.service import Service


async def move(service: Service, table_id: int, location: dict[str, Any]) -> TableInfo:
    """Show a table in another channel, in a thread of its own."""
    async with service.cache.locked(table_id) as table:
        info = await service.lobby.replace_location(table, location)
        sentence = f"Table {info.name} {info.code} is shown here from now on."
        await _show_anew(service, table, still_exists=True)
        async with service.store.begin(table=table_id) as unit:
            suffix = messages.unique_suffix()
            await unit.outbox.enqueue(
                *messages.announcements(info, "started", info.seq, [sentence], [], suffix, unit.now)
            )
        await _ask_anew(service, table)
    service.wake_subscribers()
    return info


async def leave(service: Service, table_id: int, sentence: str) -> None:
    """Show a table on Discord no more, because its place is gone; tell its players by other ways."""
    async with service.cache.locked(table_id) as table:
        info = await service.lobby.replace_location(table, {})
        await _show_anew(service, table, still_exists=False)
        sentence += " You are told by direct messages or email; `/table move` shows it in a channel again."
        async with service.store.begin(table=table_id) as unit:
            recipients, suffix = table.metadata.recipients.values(), messages.unique_suffix()
            await unit.outbox.enqueue(
                *messages.announcements(info, "news", info.seq, [sentence], recipients, suffix, unit.now)
            )
        await _ask_anew(service, table)
    service.wake_subscribers()


async def _show_anew(service: Service, table: LiveTable, *, still_exists: bool) -> None:
    """Forget the messages of a table at its former place; its cards are closed, where they exist."""
    table_id = table.stored_info.id
    async with service.store.begin(table=table_id) as unit:
        for card in await unit.tables.cards(table_id):
            if slot_prefix(card.slot) or is_old_slot(card.slot):
                continue
            await unit.tables.remove_card(table_id, card.slot)
            if still_exists and is_prompt_slot(card.slot):
                old = queued_card(card, [])
                await unit.tables.set_card(table_id, old.slot, old.message_ref)


async def _ask_anew(service: Service, table: LiveTable) -> None:
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
