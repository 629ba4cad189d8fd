"""What the cards of a table show: texts, pictures and controls, built from the position when it is sent.

A card does not wait for a picture that takes long: it is text, and is brought up to date when that is drawn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from bot.discord.api import ImageAttachment
from bot.discord.cards import card_texts, layouts
from bot.discord.cards.card_refs import digest
from bot.discord.cards.parts import Json
from bot.discord.posting import Draft
from bot.hub.feature import TurnPage
from bot.hub.log import LogEntry
from bot.hub.table import TableView
from bot.pictures.views import NamedPicture, picture_file_name, turn_pictures
from bot.pictures.workers import PictureWorkers, TablePictures
from bot.position.pending import PendingDecision
from bot.service import Service
from renderers import Picture
from storage import TablePoll


class BuiltCard(NamedTuple):
    """A card: with its pictures, and the same with the board as text; what it says in short."""

    payload: list[Json]
    plain: list[Json]
    images: list[ImageAttachment]
    line: str
    users: list[str]

    @property
    def digest(self) -> str:
        """Of all that it shows."""
        return digest([self.payload, [digest(each.picture.png) for each in self.images]])

    def draft(self, users: Sequence[str] = ()) -> Draft:
        """The card as a message to be posted. users: whom it notifies, by a line first; else nobody."""
        if users:
            return Draft(self.payload, line=self.line, users=users)
        return Draft(self.payload, self.images, self.plain, digest=self.digest, silent=True)


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
    ) -> BuiltCard:
        """The card of one player, or of all whom a question asks, made after row `since`. reader: the person
        who alone sees it. news: of them. pings_first: without its pictures, which those who are pinged get
        later."""
        users = {each.seat: user_of(view, each.seat) for each in prompts}
        first = prompts[0]
        entries = await self._events(view, first.seat, since)
        images = (
            [] if pings_first else await self.draw(view, entries[0].seq - 1 if entries else since, reader)
        )
        history = [*news, *card_texts.history_lines(entries, view.table.names)]
        choices = {
            each.seat: await self.service.queries.choices(view.table.id, each.seat, other_runs=True)
            for each in prompts
        }
        revenues = await self.service.queries.last_revenues(view.table.id)
        asked = first if len(prompts) == 1 else None
        added = await self.service.additions(TurnPage(view, asked, choices[first.seat], reader))
        contents = [
            layouts.turn_card(view, prompts, choices, history, users, refs, revenues, added)
            for refs in ([each.ref for each in images], [])
        ]
        payload, plain = contents
        line = card_texts.notification_line(view, prompts, users)
        return BuiltCard(payload, plain, images, line, [each for each in users.values() if each])

    async def _events(self, view: TableView, seat: int, since: int) -> list[LogEntry]:
        """What has happened since the seat's last turn."""
        queries = self.service.queries
        entries = await queries.log_since_last_move(view.table.id, seat, since)
        return entries + await queries.log(view.table.id, since)

    async def poll(self, view: TableView, poll: TablePoll) -> BuiltCard:
        """The message of a poll."""
        waiting = [seat for seat, vote in poll.votes.items() if vote is None]
        users = {seat: user_of(view, seat) for seat in waiting}
        payload = layouts.poll_card(view, poll, users)
        line = layouts.poll_line(view, poll, users)
        return BuiltCard(payload, payload, [], line, [each for each in users.values() if each])

    async def draw(self, view: TableView, since: int, reader: int | None = None) -> list[ImageAttachment]:
        """The pictures for the question, with the changes since a row of the log marked, in the palette of
        the table, or of the reader who alone sees them."""
        palette = await self.service.settings.palette(view.table, reader)
        drawing = self.pictures.for_table(view.table.id, palette, self.pictures.card_files, reader)
        named = await turn_pictures(self.service.queries, drawing, view, since)
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
