"""Links to the messages of a table."""

from __future__ import annotations

from bot.discord.card_refs import card_ref, is_prompt_slot
from bot.service.service import Service
from bot.service.tables import TableInfo


async def card_link(service: Service, table: TableInfo, seat: int | None) -> str | None:
    """A link to the open card of that seat, or to any open card; without one, to the table's thread."""
    guild, thread = table.location.get("guild"), table.location.get("thread")
    if guild is None or thread is None:
        return None
    async with service.store.read() as unit:
        open_cards = [
            card_ref(card) for card in await unit.tables.cards(table.id) if is_prompt_slot(card.slot)
        ]
    ref = next((each for each in open_cards if each.seat == seat), open_cards[0] if open_cards else None)
    target = f"{ref.channel_id}/{ref.message_id}" if ref else thread
    return f"https://discord.com/channels/{guild}/{target}"
