"""A card that chat has pushed up, once more at the bottom of its thread, for a player who plays live.

A player who has acted in the last ten minutes may have messages of people below their card. Then the question
and its controls are posted anew, silently and once for each decision. The pictures stay where they are: the
message that had the card keeps them, without controls, until the decision is made. What people write is not
read; that they write is enough.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec

from bot.discord.api import CannotEdit, DiscordApi
from bot.discord.cards.card_builder import BuiltCard
from bot.discord.cards.card_refs import PICTURES, CardRef, card_ref, files_to_send, slot_prefix
from bot.discord.cards.parts import GALLERY, ROW, Json, text_display
from bot.discord.posting import Poster, ref_to_store
from bot.hub.table import TableView
from bot.position.pending import PendingDecision
from bot.service import Service
from storage import Card

PLAYS_LIVE = timedelta(minutes=10)
RECENT_ROWS = 40  # of the log, in which somebody has acted lately


class FreshCards:
    """Brings cards down. `chatted`: by channel, the newest message of people."""

    def __init__(self, service: Service, api: DiscordApi, poster: Poster) -> None:
        self._service, self._api, self._poster = service, api, poster
        self.chatted: dict[int, int] = {}

    async def is_wanted(self, view: TableView, slot: str, ref: CardRef, pending: PendingDecision) -> bool:
        """Whether the card of a player has to come down."""
        is_below = self.chatted.get(ref.channel_id, 0) > ref.message_id
        if slot_prefix(slot) or not is_below or ref.brought_down == pending.decision_id:
            return False
        since = self._service.store.now() - PLAYS_LIVE
        entries = await self._service.queries.log(view.table.id, max(view.seq - RECENT_ROWS, 0))
        return any(
            each.kind == "move" and each.seat == pending.seat and each.created_at >= since for each in entries
        )

    async def bring_down(
        self, view: TableView, ref: CardRef, pending: PendingDecision, built: BuiltCard
    ) -> CardRef:
        """Post the card at the bottom; the message that has its pictures loses its controls."""
        link = message_link(view, ref) if ref.files else ""
        fresh = without_pictures(built, link)
        key = f"{ref.key}.{pending.decision_id}.fresh"
        posted = await self._poster.post(view.table, key, fresh.draft())
        former = self._api.message(ref.channel_id, ref.message_id)
        try:
            if link:
                kept = files_to_send(ref, built.images)
                await self._api.edit(former, _without_controls(built.payload), files=kept)
                slot, seat = f"{PICTURES}:{pending.seat}", pending.seat
                at = CardRef(ref.channel_id, ref.message_id, seat=seat, brought_down=pending.decision_id)
                async with self._service.store.begin(table=view.table.id) as unit:
                    await unit.tables.set_card(view.table.id, slot, ref_to_store(at), pending.decision_id)
            else:
                await self._api.delete(former)
        except CannotEdit:
            pass  # its controls are refused as out of date, or it is gone
        return msgspec.structs.replace(
            ref, channel_id=posted.channel_id, message_id=posted.message_id, files=[], texts=fresh.texts,
            payload_digest=fresh.digest, brought_down=pending.decision_id, pictures_link=link,
        )  # fmt: skip

    async def remove_pictures(self, view: TableView, card: Card) -> None:
        """Delete the pictures of a decision that is made."""
        ref = card_ref(card)
        if any(each.decision_id == ref.brought_down and each.seat == ref.seat for each in view.pending):
            return
        if await self._api.delete(self._api.message(ref.channel_id, ref.message_id)):
            async with self._service.store.begin(table=view.table.id) as unit:
                await unit.tables.remove_card(view.table.id, card.slot)


def message_link(view: TableView, ref: CardRef) -> str:
    """A link to the message of a card."""
    guild = view.table.location.get("guild", "@me")
    return f"https://discord.com/channels/{guild}/{ref.channel_id}/{ref.message_id}"


def without_pictures(built: BuiltCard, link: str) -> BuiltCard:
    """A card with a link to its pictures in their place."""
    payload = [_replaced(part, link) for part in built.payload]
    return built._replace(payload=payload, plain=payload, images=[])


def _replaced(part: Json, link: str) -> Json:
    """A component without pictures; the first gives way to the link."""
    if "components" not in part or part["type"] == ROW:
        return part
    inner: list[Any] = [each for each in part["components"] if each["type"] != GALLERY]
    if link and len(inner) < len(part["components"]):
        inner.insert(0, text_display(f"[The pictures]({link})"))
    return part | {"components": inner}


def _without_controls(payload: list[Json]) -> list[Json]:
    return [
        part | {"components": [each for each in part["components"] if each["type"] != ROW]}
        if "components" in part
        else part
        for part in payload
        if part["type"] != ROW
    ]
