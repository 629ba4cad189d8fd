"""What the cards of a table show: texts, pictures and controls, built from the position when it is sent.

A card does not wait for a picture that takes long: it is text, and is brought up to date when that is drawn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial

from bot.discord.cards import card_texts, layouts
from bot.discord.cards.card_refs import digest
from bot.discord.cards.parts import ImageAttachment, Json
from bot.discord.posting import Draft
from bot.hub.feature import TurnPage
from bot.hub.log import LogEntry
from bot.hub.table import TableView
from bot.pictures.views import NamedPicture, picture_file_name, turn_pictures
from bot.pictures.workers import PictureWorkers, Post, TablePictures
from bot.position.pending import PendingDecision
from bot.service import Service
from renderers import Picture
from storage import TablePoll


def _card(
    payload: list[Json],
    line: str,
    users: Iterable[str | None],
    plain: list[Json] | None = None,
    images: Sequence[ImageAttachment] = (),
) -> Draft:
    """A card with all that tells whether it has changed. plain: the same with the board as text."""
    shown = digest([payload, [digest(each.picture.png) for each in images]])
    return Draft(payload, images, plain, line, [*dict.fromkeys(each for each in users if each)], shown)


def user_of(view: TableView, seat: int) -> str | None:
    """The Discord account of the player in a seat, or of their deputy."""
    recipient = view.recipients.get(seat)
    return recipient.discord_id if recipient else None


class CardBuilder:
    """Builds cards of turns and of polls. drawn_late: tables whose pictures were drawn after their post."""

    def __init__(self, service: Service, pictures: PictureWorkers) -> None:
        self.service, self.pictures = service, pictures
        self.drawn_late: set[int] = set()

    async def turn(
        self,
        view: TableView,
        prompts: Sequence[PendingDecision],
        since: int,
        reader: int | None = None,
        news: Sequence[str] = (),
        *,
        pings_first: bool = False,
        post: Post = "turn",
    ) -> Draft:
        """The card of one player, or of all whom a question asks, made after row `since`. reader: the person
        who alone sees it. news: of them. pings_first: without its pictures, which those who are pinged get
        later. post: a card that is an answer waits longer for them, because it is never brought up to
        date."""
        users = {each.seat: user_of(view, each.seat) for each in prompts}
        first = prompts[0]
        entries = await self._events(view, first.seat, since)
        before = entries[0].seq - 1 if entries else since
        images = [] if pings_first else await self._draw(view, before, reader, post)
        history = [*news, *card_texts.history_lines(entries, view.table.names)]
        choices = {
            each.seat: await self.service.queries.choices(view.table.id, each.seat, other_runs=True)
            for each in prompts
        }
        revenues = await self.service.queries.last_revenues(view.table.id)
        asked = first if len(prompts) == 1 else None
        added = await self.service.additions(TurnPage(view, asked, choices[first.seat], reader))
        payload, plain = (
            layouts.turn_card(view, prompts, choices, history, users, shown, revenues, added)
            for shown in (images, [])
        )
        line = card_texts.notification_line(view, prompts, users)
        return _card(payload, line, users.values(), plain, images)

    async def _events(self, view: TableView, seat: int, since: int) -> list[LogEntry]:
        """What has happened since the seat's last turn."""
        queries = self.service.queries
        entries = await queries.log_since_last_move(view.table.id, seat, since)
        return entries + await queries.log(view.table.id, since)

    async def poll(self, view: TableView, poll: TablePoll) -> Draft:
        """The message of a poll."""
        waiting = [seat for seat, vote in poll.votes.items() if vote is None]
        users = {seat: user_of(view, seat) for seat in waiting}
        payload = layouts.poll_card(view, poll, users)
        line = layouts.poll_line(view, poll, users)
        return _card(payload, line, users.values())

    async def _draw(
        self, view: TableView, since: int, reader: int | None, post: Post
    ) -> list[ImageAttachment]:
        """The pictures for the question, with the changes since a row of the log marked, in the palette of
        the table, or of the reader who alone sees them."""
        palette = await self.service.settings.palette(view.table, reader)
        drawing = self.pictures.for_table(view.table.id, palette, self.pictures.card_files, reader, post)
        named = await turn_pictures(self.service.queries, drawing, view, since)
        if post == "turn":
            self.follow_late(view.table.id, drawing)
        return image_attachments(named)

    def follow_late(self, table_id: int, drawing: TablePictures) -> None:
        """Bring the table up to date when the pictures are drawn for which a post did not wait."""
        for task in drawing.late:
            task.add_done_callback(partial(self._note_late, table_id))

    def _note_late(self, table_id: int, task: asyncio.Task[Picture | None]) -> None:
        if not task.cancelled() and not task.exception() and task.result():
            self.drawn_late.add(table_id)
            self.service.wake_subscribers()


def image_attachments(named: Sequence[NamedPicture]) -> list[ImageAttachment]:
    """Pictures as files: `map-1.png`, `market-2.png`."""
    return [
        ImageAttachment(picture_file_name(name, number, each), each)
        for number, (name, each) in enumerate(named, 1)
    ]
