"""A card that chat has pushed up comes once more to the bottom of its thread, for a player who plays live.

A player who has acted in the last ten minutes may have messages of people below their card. Then it is posted
anew, silently and once for each decision. What people write is not read; that they write is enough.
"""

from __future__ import annotations

from datetime import timedelta

from bot.discord.cards.card_refs import CardRef
from bot.hub.table import TableView
from bot.position.pending import PendingDecision
from bot.service import Service

PLAYS_LIVE = timedelta(minutes=10)
RECENT_ROWS = 40  # of the log, in which somebody has acted lately


async def is_wanted(
    service: Service, view: TableView, ref: CardRef, pending: PendingDecision, chatted: int
) -> bool:
    """Whether the card of a player has to come down. chatted: the newest message of people in its channel."""
    if chatted < ref.message_id or ref.brought_down == pending.decision_id:
        return False
    since = service.store.now() - PLAYS_LIVE
    entries = await service.queries.log(view.table.id, max(view.seq - RECENT_ROWS, 0))
    return any(
        each.kind == "move" and each.seat == pending.seat and each.created_at >= since for each in entries
    )
