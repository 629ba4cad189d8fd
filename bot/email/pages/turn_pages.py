"""The pages about a position: a turn, and a page with pictures, such as the end of a game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import engine
from bot.email.pages.pictures import inline_images, mail_file, mail_pictures
from bot.email.pages.turn_bundles import bundle_lines, offered_lines, turn_subject
from bot.hub.feature import Page, TurnPage
from bot.hub.log import recent_events
from bot.hub.notifications.waiting import waiting_tables
from bot.hub.table import TableView
from bot.pictures.wanted import page_pictures, turn_pictures
from bot.pictures.workers import PictureWorkers, Post, TablePictures
from bot.position import text_views
from bot.position.pending import PendingDecision
from bot.position.sentences import connection_lines
from bot.service import Service
from mail import MailPage
from mail.composing import pages
from mail.composing.page import AttachmentBlock, ImageBlock, PositionBlock
from mail.port import TableRows

MAX_WAITING = 10  # other tables that an email names
PICTURES_LATE = "Not every picture was drawn in time. The map is below in words; reply `turn` to ask again."


class TurnPages:
    """Builds the pages with the position and its pictures."""

    def __init__(self, service: Service, pictures: PictureWorkers) -> None:
        self._service, self._pictures = service, pictures

    async def with_pictures(
        self, letter: MailPage, page: Page, table_id: int, reader: int | None
    ) -> MailPage:
        """The email of a page with its pictures, the position in words, and its files."""
        queries = self._service.queries
        view = await queries.view(table_id)
        assert view.state is not None
        drawing = await self.drawing(view, reader, "ending")
        images, files = mail_pictures(await page_pictures(queries, drawing, view, page))
        position = position_parts(view.state, ())
        if view.state.game_over:
            position = position[:-1]  # who has won, which the page says
        files = (*map(mail_file, page.files), *files)
        return replace(
            letter,
            blocks=(
                *letter.blocks,
                *map(ImageBlock, images),
                PositionBlock("Final position", position),
                *map(AttachmentBlock, files),
            ),
            tone="plain",
        )

    async def drawing(self, view: TableView, reader: int | None, post: Post = "turn") -> TablePictures:
        """Pictures for a table, which takes turns with the others, in the palette of the reader."""
        palette = await self._service.settings.palette(view.table, reader)
        return self._pictures.for_table(view.table.id, palette, post=post)

    async def turn(
        self,
        view: TableView,
        state: engine.State,
        pending: PendingDecision,
        reader: int | None,
        *,
        is_reminder: bool = False,
    ) -> MailPage:
        """The page of a turn: what to do, what has happened, and the position. reader: a person; only the
        player themselves sees which moves their orders have said."""
        table_id, player = view.table.id, view.table.player_at(pending.seat)
        is_owner = player is not None and player.person_id == reader
        entries = await self._service.queries.log_since_last_move(table_id, pending.seat, by_hand=is_owner)
        since = entries[0].seq - 1 if entries else 0
        choices = await self._service.queries.choices(table_id, pending.seat)
        drawing = await self.drawing(view, reader)
        named = await turn_pictures(self._service.queries, drawing, view, since)
        position = position_parts(
            state, [each for each in view.pending if each.seat != pending.seat], pending.seat
        )
        more: Sequence[str] = ()
        if not is_reminder:
            more = (await self._service.additions(TurnPage(view, pending, choices, reader))).sentences
        notice = pages.TurnNotice(
            name=pending.name if is_owner else await self._name_of(reader),
            deputy_for="" if is_owner else pending.name,
            subject=turn_subject(state, pending.prompt),
            whole_turns=bundle_lines(state, pending.seat) if pending.is_main else (),
            lays_nothing=engine.topic(state) == "track",
            prompt=f"You to act: {pending.prompt}.",
            connection_runs=tuple(connection_lines(state)) if pending.is_main else (),
            legal_lines=offered_lines(state, pending.seat, choices),
            events_since=recent_events(entries),
            position=(*position, *words_of_map(state)) if drawing.late else position,
            more=(*more, PICTURES_LATE) if drawing.late else tuple(more),
            also_waiting=await self._also_waiting(table_id, reader),
            images=inline_images(named),
        )
        return pages.turn_notice(notice)

    async def _also_waiting(self, table_id: int, reader: int | None) -> tuple[str, ...]:
        """The other tables that wait for a person, which are reminded of with this one."""
        if reader is None:
            return ()
        async with self._service.store.read() as unit:
            waiting = [each for each in await waiting_tables(unit, reader) if each.table.id != table_id]
            zone = (await unit.people.get(reader)).time_zone
            return tuple(f"{each.line(unit.now, zone)}." for each in waiting[:MAX_WAITING])

    async def _name_of(self, person_id: int | None) -> str:
        async with self._service.store.read() as unit:
            return (await unit.people.get(person_id)).name if person_id else ""


def position_parts(
    state: engine.State, pending: Sequence[PendingDecision], viewer: int | None = None
) -> tuple[str | TableRows, ...]:
    """The position for an email; viewer: the seat that reads it, None for the whole table."""
    parts = text_views.status_parts(state, pending, viewer)
    while parts and not parts[-1]:
        parts.pop()
    return tuple(part if isinstance(part, str) else _as_rows(part) for part in parts)


def words_of_map(state: engine.State) -> tuple[str, ...]:
    """The map for an email whose pictures were not drawn in time."""
    return ("", *text_views.map_view(state).splitlines())


def _as_rows(table: text_views.Table) -> TableRows:
    return TableRows(table.head, table.rows, table.lines(text_views.LINE_WIDTH), table.numeric())
