"""Messages of a table that are not cards of turns: the lobby, invitations, news, reminders, and digests."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence

import msgspec

from bot.discord.api import CannotEdit
from bot.discord.cards import card_texts, layouts, parts
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
from bot.discord.posting import Draft, Outgoing, Poster, Unreachable
from bot.discord.threads import card_link
from bot.hub.feature import Page
from bot.hub.info import TableInfo
from bot.hub.notifications.waiting import WaitingTable
from bot.position.pending import prompt_of
from bot.service import Service

log = logging.getLogger(__name__)

MAX_ENTRIES = 8  # of the tables that wait for a reader
MAX_TEXT = 3600  # characters of all entries


class Notices:
    """Sends notices. Call it under the lock of the table."""

    def __init__(self, poster: Poster, finished: FinishedTurns) -> None:
        self.service, self.api, self.threads = poster.service, poster.api, poster.threads
        self.poster, self.finished = poster, finished

    async def send_text(self, sent: Outgoing, table: TableInfo) -> CardRef:
        """Send a plain message."""
        told = sent.notification
        head = card_texts.table_heading(table, told.seq)
        shown = layouts.notification([head, *map(escape_markdown, told.sentences)])
        posted = await self._send_once(sent, table, Draft(shown))
        if sent.user is None:
            await self.finished.end_list(table.id)
            if told.kind == "started":
                await self.api.pin(self.api.message(posted.channel_id, posted.message_id))
        return posted

    async def send_digest(self, sent: Outgoing, table: TableInfo) -> CardRef | None:
        """Send a digest, the same card as `/me turns`, if anything waits for its reader."""
        waiting = await self.service.waiting.pages(sent.notification.person_id or 0, in_digest=True)
        if not waiting:
            return None
        return await self._send_once(sent, table, Draft(await turns_card(self.service, waiting)))

    async def send_reminder(self, sent: Outgoing, table: TableInfo) -> CardRef | None:
        """Send a reminder of a decision in the place of the one before: there is one message, and it pings.

        Nothing is sent if it is out of date.
        """
        view, notification = await self.service.queries.view(table.id), sent.notification
        pending = current_prompt(view, notification)
        page = await self.service.pages["reminder"](table, notification)
        if pending is None or page is None or view.state is None:
            return None
        user = await self._mentioned(sent)
        text = " ".join([*([f"<@{user}>"] if user else []), *page.sentences])
        link = await card_link(self.service, table, pending.seat)
        is_own = sent.user and table.player_of(notification.person_id) == table.player_at(pending.seat)
        who = "You" if is_own else pending.name
        asked = f"{who} to act: {prompt_of(view.state, pending)}." + (f" [The card]({link})" if link else "")
        payload = layouts.notification([card_texts.table_heading(table, view.seq), text, asked])
        draft = Draft(payload, users=[user] if user else [])
        posted = await self._send_once(sent, table, draft)
        slot = slot_for(sent.user, f"{REMIND}:{notification.seat}")
        ref = msgspec.structs.replace(posted, seat=notification.seat, seq=table.seq)
        await self.finished.take_place(TableCard(table.id, slot, ref))
        return ref

    async def _mentioned(self, sent: Outgoing) -> str | None:
        """The user who is mentioned where a message to one person is shown to all."""
        return None if sent.user else await self.threads.discord_id(sent.notification.person_id)

    async def _send_once(self, sent: Outgoing, table: TableInfo, draft: Draft, marker: str = "") -> CardRef:
        """Send a message once. marker: a text in it that no other message has; its first text, if not
        given."""
        first = draft.payload[0]
        text = marker or (first["content"] if "content" in first else first["components"][0]["content"])
        mark = json.dumps(text)
        return await self.poster.post_once(sent, table, draft, lambda components, _: mark in components)

    async def update_lobby(self, sent: Outgoing, table: TableInfo) -> CardRef | None:
        """Send the lobby card into the channel, where people look for a seat, or bring it up to date."""
        page = await self.service.pages["lobby"](table, sent.notification)
        assert page is not None
        payload = page_card(table.id, page, [f"### {page.headline}"])
        if (stored := await self.poster.cards.get(table.id, LOBBY)) is not None:
            ref = stored.ref
            try:
                await self.api.edit(self.api.message(ref.channel_id, ref.message_id), payload)
                return ref
            except CannotEdit as failure:
                log.info("Discord: the lobby card of table %s is %s", table.code, failure)
        if not page.controls or "channel" not in table.location:
            return None
        first_button = str(CustomId(table.id, None, None, SUBMIT_LINE, page.controls[0].line))
        in_channel = table._replace(location={"channel": table.location["channel"]})
        posted = await self._send_once(sent, in_channel, Draft(payload), first_button)
        await self.finished.take_place(TableCard(table.id, LOBBY, posted))
        return posted

    async def send_page(self, sent: Outgoing, table: TableInfo) -> CardRef | None:
        """Send the page of a notification; nothing if it is out of date.

        An invitation goes into the channel where a user accepts no direct messages.
        """
        page = await self.service.pages[sent.notification.kind](table, sent.notification)
        if page is None or (page.invites and sent.user is None):
            return None
        user = await self._mentioned(sent)
        heading = card_texts.table_heading(table, table.seq) if page.decision_id else ""
        above = " · ".join(filter(None, [f"<@{user}>" if user else "", heading]))
        card = page_card(table.id, page, [above] if above else [])
        draft = Draft(card, users=[user] if user else [])
        try:
            return await self._send_once(sent, table, draft)
        except Unreachable:
            if not page.invites or sent.user is None:
                raise
        draft = Draft([parts.text_display(f"<@{sent.user}>"), *card], users=[sent.user])
        return await self._send_once(sent._replace(user=None), table, draft)


async def turns_card(service: Service, waiting: Sequence[tuple[WaitingTable, Page]]) -> list[Json]:
    """Every table that waits for the reader, the most urgent first, each with buttons to answer."""
    if not waiting:
        return [text_display("No table waits for you.")]
    shown: list[Json] = []
    limit = MAX_TEXT // min(len(waiting), MAX_ENTRIES)
    for each, page in waiting[:MAX_ENTRIES]:
        events = [f"- {escape_markdown(event)}" for _, items in page.lists for event in items]
        lines = [f"**{page.headline}**", *page.sentences, *events]
        buttons = added_buttons(each.table.id, page.decision_id, page.controls, each.seat)
        if not buttons:
            link = await card_link(service, each.table, each.seat)
            lines += [f"[The card]({link})"] if link else []
            custom_id = CustomId(each.table.id, each.seat, page.decision_id, ENTER_LINE)
            buttons = [button(f"Answer at {each.table.code}…", str(custom_id), PRIMARY)]
        shown += [text_display("\n".join(lines), limit), *action_rows(buttons)]
    if len(waiting) > MAX_ENTRIES:
        shown.append(text_display(f"… and {len(waiting) - MAX_ENTRIES} more."))
    return [container(shown)]
