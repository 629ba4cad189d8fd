"""Reminders and digests on Discord. A digest is the same card as `/me turns`."""

from __future__ import annotations

from collections.abc import Sequence

from bot.discord.cards import card_texts, layouts
from bot.discord.cards.card_keeper import current_prompt
from bot.discord.cards.notices import Notices
from bot.discord.cards.parts import PRIMARY, Json, action_rows, button, container, text_display
from bot.discord.controls.controls import ENTER_LINE, CustomId
from bot.discord.controls.page_controls import added_buttons
from bot.discord.posting import Draft
from bot.discord.threads import card_link
from bot.hub.feature import Page
from bot.hub.info import TableInfo
from bot.hub.notifications.messages import Notification
from bot.hub.notifications.waiting import WaitingTable
from bot.service import Service
from storage import OutboxMessage

MAX_ENTRIES = 8
MAX_TEXT = 3600  # characters of all entries


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


async def turns_card(service: Service, waiting: Sequence[tuple[WaitingTable, Page]]) -> list[Json]:
    """Every table that waits for the reader, the most urgent first, each with buttons to answer."""
    if not waiting:
        return [text_display("No table waits for you.")]
    parts: list[Json] = []
    limit = MAX_TEXT // min(len(waiting), MAX_ENTRIES)
    for each, page in waiting[:MAX_ENTRIES]:
        events = [f"- {event}" for _, items in page.lists for event in items]
        lines = [f"**{page.headline}**", *page.sentences, *events]
        buttons = added_buttons(each.table.id, page.decision_id, page.controls)
        if not buttons:
            link = await card_link(service, each.table, each.seat)
            lines += [f"[The card]({link})"] if link else []
            custom_id = CustomId(each.table.id, each.seat, page.decision_id, ENTER_LINE)
            buttons = [button(f"Answer at {each.table.code}…", str(custom_id), PRIMARY)]
        parts += [text_display("\n".join(lines), limit), *action_rows(buttons)]
    if len(waiting) > MAX_ENTRIES:
        parts.append(text_display(f"… and {len(waiting) - MAX_ENTRIES} more."))
    return [container(parts)]
