"""Reminders and digests on Discord."""

from __future__ import annotations

from bot.discord.cards import card_texts, layouts
from bot.discord.cards.card_keeper import current_prompt
from bot.discord.cards.notices import Notices
from bot.discord.cards.turns_card import turns_card
from bot.discord.posting import Draft
from bot.discord.threads import card_link
from bot.hub.info import TableInfo
from bot.hub.notifications.messages import Notification
from storage import OutboxMessage


async def send_digest(
    notices: Notices, queued: OutboxMessage, table: TableInfo, notification: Notification, dm_user: str | None
) -> str | None:
    """Send a digest, if anything waits for its reader."""
    waiting = await notices.service.waiting.pages(notification.person_id or 0, in_digest=True)
    draft = Draft(await turns_card(notices.service, waiting))
    return await notices.send_text_once(queued, table, draft, dm_user) if waiting else None


async def send_reminder(
    notices: Notices, queued: OutboxMessage, table: TableInfo, notification: Notification, dm_user: str | None
) -> str | None:
    """Send a reminder of a decision; nothing if it is out of date."""
    view = await notices.service.queries.view(table.id)
    if (pending := current_prompt(view, notification)) is None:
        return None
    user = None if dm_user else await notices.threads.discord_id(notification.person_id)
    text = " ".join([*([f"<@{user}>"] if user else []), *notification.sentences])
    link = await card_link(notices.service, table, pending.seat)
    asked = f"{pending.name} to act: {pending.prompt}." + (f" [The card]({link})" if link else "")
    payload = layouts.notification([card_texts.table_heading(table, view.seq), text, asked])
    draft = Draft(payload, users=[user] if user else [])
    return await notices.send_reminder(queued, table, notification, draft, dm_user)
