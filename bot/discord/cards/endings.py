"""The end of a game on Discord: one message that pings everybody and says who has won.

The message is a line of text at first, because phones show nothing of a message of components. The pictures
are drawn while the players read it; then it becomes the page of the ending (`hub.notifications.ending`), with
its pictures and files. Pictures that take long are added when they are drawn. Where the line is gone by then,
another message without a ping becomes the ending.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

import engine
from bot.discord.api import CannotEdit, OutgoingAttachment
from bot.discord.cards import card_texts
from bot.discord.cards import parts as message_parts
from bot.discord.cards.card_builder import CardBuilder
from bot.discord.cards.card_refs import OVER, CardRef, TableCard, moved, slot_for
from bot.discord.cards.finished_turns import FinishedTurns
from bot.discord.cards.parts import ImageAttachment, Json
from bot.discord.controls.page_controls import page_card
from bot.discord.posting import Draft, Outgoing, Poster
from bot.hub.info import TableInfo
from bot.hub.loading import load_recipient
from bot.hub.notifications.ending import headline_of
from bot.hub.notifications.messages import Notification
from bot.hub.notifications.notify import is_pinged_with_all
from bot.pictures.views import page_pictures, picture_file_name

WHOLE = "whole"
"""The digest of an ending that is no longer the line."""


class Endings:
    """Sends endings. Call it under the lock of the table."""

    def __init__(self, poster: Poster, builder: CardBuilder, finished: FinishedTurns) -> None:
        self.service = poster.service
        self.poster, self.builder, self.finished = poster, builder, finished

    async def send(self, sent: Outgoing, table: TableInfo, state: engine.State) -> CardRef:
        """Send the ending of a game whose last position is `state`, or complete one that was begun."""
        slot = slot_for(sent.user, OVER)
        stored = await self.poster.cards.get(table.id, slot)
        ref = stored.ref if stored else None
        if ref is None or ref.key != sent.key:
            ref = await self._post_line(sent, table, state)
            await self._save(table, slot, ref)
        if not ref.payload_digest and (built := await self._build(table, sent.notification)):
            if not await self._complete(table, ref, *built):  # it is deleted, or cannot be edited
                again = Draft([], line=ending_line(table, state, []))
                posted = await self.poster.post(table, f"{sent.key}.again", again, sent.user)
                ref = moved(ref, posted)
                await self._complete(table, ref, *built)
            await self._save(table, slot, msgspec.structs.replace(ref, payload_digest=WHOLE))
            if sent.user is None:
                await self.finished.end_list(table.id)
        return ref

    async def _save(self, table: TableInfo, slot: str, ref: CardRef) -> None:
        await self.poster.cards.change(table.id, TableCard(table.id, slot, ref))

    async def redraw(self, table: TableInfo) -> None:
        """Make the ending of a table anew, with the names that hold now."""
        stored = await self.poster.cards.get(table.id, OVER)
        notification = Notification("over", table.id, table.seq)
        if stored is not None and (built := await self._build(table, notification)):
            await self._complete(table, stored.ref, *built)

    # -- the line ----------------------------------------------------------------------------

    async def _post_line(self, sent: Outgoing, table: TableInfo, state: engine.State) -> CardRef:
        """Post the line, or find the one that an earlier attempt has posted."""
        users = [] if sent.user else await self._users(table)
        line = ending_line(table, state, users)
        draft = Draft([], line=line, users=users)
        posted = await self.poster.post_once(sent, table, draft, lambda _, text: text == line)
        return msgspec.structs.replace(posted, seq=table.seq, key=sent.key)

    async def _users(self, table: TableInfo) -> list[str]:
        """The Discord accounts of those who want to be told where the table is shown, and are not asleep."""
        async with self.service.store.read() as unit:
            recipients = [
                await load_recipient(unit, player.person_id, player.seat) for player in table.seated_players
            ]
            return [
                recipient.discord_id
                for recipient in recipients
                if recipient.discord_id and is_pinged_with_all(table, recipient, unit.now)
            ]

    # -- the whole ---------------------------------------------------------------------------

    async def _build(
        self, table: TableInfo, notification: Notification
    ) -> tuple[list[Json], list[OutgoingAttachment]] | None:
        """The ending with its pictures and files; None where the game goes on again."""
        if (page := await self.service.pages["over"](table, notification)) is None:
            return None
        queries = self.service.queries
        drawing = self.builder.pictures.for_table(table.id, table.palette, post="ending")
        drawn = await page_pictures(queries, drawing, await queries.view(table.id), page)
        self.builder.follow_late(table.id, drawing)
        images = [ImageAttachment(picture_file_name(name), picture) for name, picture in drawn]
        media = [
            *message_parts.media_galleries(images),
            *message_parts.file_components([file.name for file in page.files]),
        ]
        above = [card_texts.table_heading(table, notification.seq), f"### {page.headline}"]
        return page_card(table.id, page, above, media), [*images, *page.files]

    async def _complete(
        self, table: TableInfo, ref: CardRef, payload: list[Json], files: Sequence[OutgoingAttachment]
    ) -> bool:
        """Turn the line into the ending; without files where Discord does not take them. Whether it is
        one."""
        plain = message_parts.without_files(payload)
        for draft, attached in ((Draft(payload, plain=plain), files), (Draft(plain), ())):
            try:
                await self.poster.edit(table, ref, draft, attached)
                return True
            except CannotEdit as failure:
                if failure.is_gone:
                    break
        return False


def ending_line(table: TableInfo, state: engine.State, users: list[str]) -> str:
    """The line that a phone shows: `@Ann @Bob: TITLE is over, Ann wins with $7,540 · A7K`."""
    mentions = " ".join(f"<@{user}>" for user in users)
    over = "is over" if state.game_over else "was ended"
    told = message_parts.truncate(
        f"{table.title} {over}, {headline_of(state).rstrip('.')}", card_texts.MAX_LINE - 10
    )
    return f"{f'{mentions}: ' if mentions else ''}{told} · {table.code}"
