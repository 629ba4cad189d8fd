"""Messages of a table that are not cards of turns: the lobby, invitations, news, reminders, and digests."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from bot.discord.api import CannotEdit, DiscordApi
from bot.discord.cards import card_texts, layouts, parts
from bot.discord.cards.card_builder import CardBuilder
from bot.discord.cards.card_refs import LOBBY, REMIND, CardRef, TableCard, slot_for
from bot.discord.cards.finished_turns import FinishedTurns
from bot.discord.cards.parts import (
    PRIMARY,
    Json,
    action_rows,
    button,
    container,
    escape_markdown,
    text_display,
)
from bot.discord.cards.prompts import current_prompt
from bot.discord.controls.controls import ENTER_LINE, SUBMIT_LINE, CustomId
from bot.discord.controls.page_controls import added_buttons, page_card
from bot.discord.posting import Draft, Poster, Unreachable
from bot.discord.threads import TableThreads, card_link
from bot.hub.feature import Page
from bot.hub.info import TableInfo
from bot.hub.notifications.messages import Notification
from bot.hub.notifications.waiting import WaitingTable
from bot.service import Service
from storage import OutboxMessage

log = logging.getLogger(__name__)

MAX_ENTRIES = 8  # of the tables that wait for a reader
MAX_TEXT = 3600  # characters of all entries


class Notices:
    """Sends notices. Call it under the lock of the table."""

    def __init__(
        self,
        service: Service,
        api: DiscordApi,
        threads: TableThreads,
        poster: Poster,
        builder: CardBuilder,
        finished: FinishedTurns,
    ) -> None:
        self.service, self.api, self.threads = service, api, threads
        self.poster, self.builder, self.finished = poster, builder, finished

    async def send_text(
        self, queued: OutboxMessage, table: TableInfo, notification: Notification, dm_user: str | None
    ) -> str | None:
        """Send a plain message."""
        head = card_texts.table_heading(table, notification.seq)
        draft = Draft(layouts.notification([head, *map(escape_markdown, notification.sentences)]))
        posted = await self._send_once(queued, table, draft, dm_user)
        if dm_user is None:
            await self.finished.end_list(table.id)
            if notification.kind == "started":
                await self.api.pin(self.api.message(posted.channel_id, posted.message_id))
        return str(posted.message_id)

    async def send_digest(
        self, queued: OutboxMessage, table: TableInfo, notification: Notification, dm_user: str | None
    ) -> str | None:
        """Send a digest, the same card as `/me turns`, if anything waits for its reader."""
        waiting = await self.service.waiting.pages(notification.person_id or 0, in_digest=True)
        if not waiting:
            return None
        draft = Draft(await turns_card(self.service, waiting))
        return str((await self._send_once(queued, table, draft, dm_user)).message_id)

    async def send_reminder(
        self, queued: OutboxMessage, table: TableInfo, notification: Notification, dm_user: str | None
    ) -> str | None:
        """Send a reminder of a decision in the place of the one before: there is one message, and it pings.

        Nothing is sent if it is out of date.
        """
        view = await self.service.queries.view(table.id)
        if (pending := current_prompt(view, notification)) is None:
            return None
        user = None if dm_user else await self.threads.discord_id(notification.person_id)
        text = " ".join([*([f"<@{user}>"] if user else []), *notification.sentences])
        link = await card_link(self.service, table, pending.seat)
        is_own = dm_user and table.player_of(notification.person_id) == table.player_at(pending.seat)
        who = "You" if is_own else pending.name
        asked = f"{who} to act: {pending.prompt}." + (f" [The card]({link})" if link else "")
        payload = layouts.notification([card_texts.table_heading(table, view.seq), text, asked])
        draft = Draft(payload, users=[user] if user else [])
        sent = await self._send_once(queued, table, draft, dm_user)
        slot = slot_for(dm_user, f"{REMIND}:{notification.seat}")
        ref = msgspec.structs.replace(sent, seat=notification.seat, seq=table.seq)
        former = await self.poster.cards.get(table.id, slot)
        await self.poster.cards.change(table.id, TableCard(table.id, slot, ref))
        if former is not None and former.ref.message_id != sent.message_id:
            await self.api.delete(self.api.message(former.ref.channel_id, former.ref.message_id))
        return str(sent.message_id)

    async def _send_once(
        self,
        queued: OutboxMessage,
        table: TableInfo,
        draft: Draft,
        dm_user: str | None = None,
        marker: str = "",
    ) -> CardRef:
        """Send a message once. marker: a text in it that no other message has; its first text, if not
        given."""
        first = draft.payload[0]
        text = marker or (first["content"] if "content" in first else first["components"][0]["content"])
        mark = json.dumps(text)
        return await self.poster.post_once(
            queued, table, draft, lambda components, _: mark in components, dm_user
        )

    async def update_lobby(
        self, queued: OutboxMessage, table: TableInfo, notification: Notification
    ) -> str | None:
        """Send the lobby card into the channel, where people look for a seat, or bring it up to date."""
        page = await self.service.pages["lobby"](table, notification)
        assert page is not None
        payload = page_card(table.id, page, [f"### {page.headline}"])
        if (stored := await self.poster.cards.get(table.id, LOBBY)) is not None:
            ref = stored.ref
            try:
                await self.api.edit(self.api.message(ref.channel_id, ref.message_id), payload)
                return str(ref.message_id)
            except CannotEdit as failure:
                log.info("Discord: the lobby card of table %s is %s", table.code, failure)
        if not page.controls or "channel" not in table.location:
            return None
        first_button = str(CustomId(table.id, None, None, SUBMIT_LINE, page.controls[0].line))
        in_channel = replace(table, location={"channel": table.location["channel"]})
        posted = await self._send_once(queued, in_channel, Draft(payload), marker=first_button)
        ref = msgspec.structs.replace(posted, key=queued.idempotency_key)
        await self.poster.cards.change(table.id, TableCard(table.id, LOBBY, ref))
        return str(posted.message_id)

    async def send_page(
        self, queued: OutboxMessage, table: TableInfo, notification: Notification, dm_user: str | None
    ) -> str | None:
        """Send the page of a notification; nothing if it is out of date.

        An invitation goes into the channel where a user accepts no direct messages.
        """
        page = await self.service.pages[notification.kind](table, notification)
        if page is None or (page.invites and dm_user is None):
            return None
        user = None if dm_user else await self.threads.discord_id(notification.person_id)
        heading = card_texts.table_heading(table, table.seq) if page.decision_id else ""
        above = " · ".join(filter(None, [f"<@{user}>" if user else "", heading]))
        card = page_card(table.id, page, [above] if above else [])
        draft = Draft(card, users=[user] if user else [])
        try:
            return str((await self._send_once(queued, table, draft, dm_user)).message_id)
        except Unreachable:
            if not page.invites or dm_user is None:
                raise
        draft = Draft([parts.text_display(f"<@{dm_user}>"), *card], users=[dm_user])
        return str((await self._send_once(queued, table, draft)).message_id)


async def turns_card(service: Service, waiting: Sequence[tuple[WaitingTable, Page]]) -> list[Json]:
    """Every table that waits for the reader, the most urgent first, each with buttons to answer."""
    if not waiting:
        return [text_display("No table waits for you.")]
    shown: list[Json] = []
    limit = MAX_TEXT // min(len(waiting), MAX_ENTRIES)
    for each, page in waiting[:MAX_ENTRIES]:
        events = [f"- {escape_markdown(event)}" for _, items in page.lists for event in items]
        lines = [f"**{page.headline}**", *page.sentences, *events]
        buttons = added_buttons(each.table.id, page.decision_id, page.controls)
        if not buttons:
            link = await card_link(service, each.table, each.seat)
            lines += [f"[The card]({link})"] if link else []
            custom_id = CustomId(each.table.id, each.seat, page.decision_id, ENTER_LINE)
            buttons = [button(f"Answer at {each.table.code}…", str(custom_id), PRIMARY)]
        shown += [text_display("\n".join(lines), limit), *action_rows(buttons)]
    if len(waiting) > MAX_ENTRIES:
        shown.append(text_display(f"… and {len(waiting) - MAX_ENTRIES} more."))
    return [container(shown)]
