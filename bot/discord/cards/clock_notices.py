"""Reminders, digests and what else the clock says, on Discord."""

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

CLOCK_KINDS = ("reminder", "next", "deputy", "dismissed", "time_up", "digest")


async def send_clock_notice(
    notices: Notices, queued: OutboxMessage, table: TableInfo, notification: Notification, dm_user: str | None
) -> str | None:
    """Send what the clock has to say; nothing if it is out of date."""
    service = notices.service
    if notification.kind == "digest":
        waiting = await service.waiting.pages(notification.person_id or 0, in_digest=True)
        draft = Draft(await turns_card(service, waiting))
        return await notices.send_text_once(queued, table, draft, dm_user) if waiting else None
    view = await service.queries.view(table.id)
    if notification.kind == "reminder" and current_prompt(view, notification) is None:
        return None
    if notification.kind == "next" and view.current_decision_id != notification.decision_id:
        return None
    user = dm_user or await notices.threads.discord_id(notification.person_id)
    ping = [f"<@{user}>"] if user and not dm_user else []
    text = " ".join([*ping, *notification.sentences])
    if notification.kind == "reminder" and (pending := current_prompt(view, notification)):
        link = await card_link(service, table, pending.seat)
        text = f"{text}\n{pending.name} to act: {pending.prompt}." + (f" [The card]({link})" if link else "")
    payload = layouts.notification([card_texts.table_heading(table, view.seq), text])
    if notification.kind == "reminder":
        draft = Draft(payload, users=[user] if ping and user else [])
        return await notices.send_reminder(queued, table, notification, draft, dm_user)
    return await notices.send_text_once(
        queued, table, Draft(payload, users=[user] if ping and user else []), dm_user
    )
