"""What the host is told of those who are invited: how they answer, and that an invitation has come back."""

from __future__ import annotations

from bot.hub.info import TableInfo
from bot.hub.loading import load_recipient
from bot.hub.notifications import messages
from bot.service import Service
from mail.port import Bounce


async def tell_host(service: Service, table: TableInfo, sentence: str) -> bool:
    """Tell the host something about an invited person, by email, else on Discord; returns whether there is
    a host."""
    if table.host_id is None:
        return False
    async with service.store.begin() as unit:
        host = await load_recipient(unit, table.host_id, None)
        told = messages.lobby_answers(table, host, sentence)
        await unit.outbox.enqueue(*(told or messages.direct_messages(table, host, sentence)))
    service.wake_subscribers()
    return True


async def invitation_came_back(service: Service, table_id: int, person_id: int, bounce: Bounce) -> str | None:
    """Tell the host that an invitation was not delivered; a sentence for the operator where none hosts."""
    table = await service.queries.table_info(table_id)
    player = table.player_of(person_id)
    if player is not None and player.joined:
        return None
    seat = bounce.token.seat and getattr(bounce.token, "seat_number", None)
    name = player.name if player else table.names[seat] if isinstance(seat, int) else bounce.token.address
    sentence = (
        f"The invitation to {name} ({bounce.token.address}) came back: {bounce.reason or bounce.status}. "
        f"`invite {name} <ADDRESS>` sends another."
    )
    return None if await tell_host(service, table, sentence) else sentence
