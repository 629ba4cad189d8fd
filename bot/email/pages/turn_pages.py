"""The pages about a position, such as a turn or the end of a game: its pictures, its words, and the lines
to send.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import engine
from bot.hub.feature import Page, TurnPage
from bot.hub.log import recent_events
from bot.hub.notifications.waiting import waiting_tables
from bot.hub.table import TableView
from bot.pictures.views import NamedPicture, page_pictures, turn_pictures
from bot.pictures.workers import PictureWorkers, Post, TablePictures
from bot.position import legal_lines, text_views
from bot.position.controls import ExportedFile
from bot.position.legal_lines import line_effect
from bot.position.pending import PendingDecision, engine_seat, offers_text, prompt_of
from bot.position.sentences import connection_lines
from bot.service import Service
from engine.core.state import StockTurn
from mail.composing.page import (
    Attachment,
    AttachmentBlock,
    Block,
    BulletList,
    CopyableLines,
    ImageBlock,
    InlineImage,
    MailPage,
    Paragraph,
    PositionBlock,
    TableRows,
)

MAX_WAITING = 10  # other tables that an email names
PICTURES_LATE = "Not every picture was drawn in time. The map is below in words; reply `turn` to ask again."
POSITION = "The position"
LONG_LIST = 8
"""Of more lines than these, the map stands before them."""


def turn_notice(
    headline: str,
    prompt: str,
    legal_lines: Sequence[str],
    events_since: Sequence[str] = (),
    *,
    subject: str = "Your turn",
    more: Sequence[str] = (),
    whole_turns: Sequence[str] = (),
    lays_nothing: bool = False,
    position: tuple[str | TableRows, ...] = (),
    images: Sequence[InlineImage] = (),
    also_waiting: Sequence[str] = (),
) -> MailPage:
    """To the player whose turn it is.

    prompt: a sentence that says what to do. legal_lines: lines ready to copy. events_since: what happened
    since the player's last turn. more: sentences of features, such as until when, and what each way to
    connect would bring. whole_turns: several lines in one, with `;` between; lays_nothing: they leave out the
    tile. position: lines of text, and tables. also_waiting: other tables.
    """
    maps = [image for image in images if len(legal_lines) > LONG_LIST and image.name.startswith("map")]
    blocks: list[Block] = [
        *map(Paragraph, (prompt, *more)),
        CopyableLines(f"The whole turn at once{'; it lays nothing' * lays_nothing}", whole_turns),
        *map(ImageBlock, maps),
        CopyableLines("For example", legal_lines),
        BulletList("Since your last turn", events_since),
        *(ImageBlock(image) for image in images if image not in maps),
        PositionBlock(POSITION, position),
        BulletList("These tables wait for you too", also_waiting),
    ]
    return MailPage(headline, blocks, subject, "turn", preview=prompt)


def _turn_headline(pending: PendingDecision, reader: str) -> str:
    """Whose turn it is. reader: the name of the deputy who reads it; empty for the player."""
    player, name, is_deputy = pending.name, reader or pending.name, bool(reader)
    if not pending.acts_now:
        return f"You may answer in advance{f' for {player}' * is_deputy}, {name}."
    if not pending.is_main:
        return (
            f"{player} has an offer, and you answer for them, {name}."
            if is_deputy
            else f"An offer to you, {name}."
        )
    return f"It is {player}'s turn: you play for them, {name}." if is_deputy else f"It is your turn, {name}."


class TurnPages:
    """Builds the pages with the position and its pictures."""

    def __init__(self, service: Service, pictures: PictureWorkers) -> None:
        self._service, self._pictures = service, pictures

    async def with_pictures(self, email: MailPage, page: Page, table_id: int, reader: int | None) -> MailPage:
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
            email,
            blocks=(
                *email.blocks,
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
        ways = connection_lines(state) if pending.is_main else ()
        asked = prompt_of(state, pending)
        name, also_waiting = await self._reader(table_id, reader)
        prompt = "You to act" if pending.acts_now else "You may answer in advance"
        subject = turn_subject(state, asked, "Your turn" if pending.acts_now else "In advance")
        if not pending.is_main:
            prompt, subject = "Please answer", f"An offer: {offers_text(state, pending)}"
        return turn_notice(
            _turn_headline(pending, "" if is_owner else name),
            f"{prompt}: {asked}.",
            offered_lines(state, pending.seat, choices),
            recent_events(entries),
            subject=subject,
            whole_turns=bundle_lines(state, pending.seat) if pending.is_main else (),
            lays_nothing=engine.topic(state) == "track",
            position=(*position, *words_of_map(state)) if drawing.late else position,
            more=(*ways, *more, *([PICTURES_LATE] if drawing.late else [])),
            also_waiting=also_waiting,
            images=inline_images(named),
        )

    async def _reader(self, table_id: int, reader: int | None) -> tuple[str, tuple[str, ...]]:
        """The name of a person, and the other tables that wait for them, which are reminded of with this
        one."""
        if reader is None:
            return "", ()
        async with self._service.store.read() as unit:
            person = await unit.people.get(reader)
            waiting = [each for each in await waiting_tables(unit, reader) if each.table.id != table_id]
            lines = [f"{each.line(unit.now, person.time_zone)}." for each in waiting[:MAX_WAITING]]
            return person.name, tuple(lines)


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


BUNDLES = (("run best", "pay", "pass"), ("run best", "withhold", "pass"))
OTHER_RUNS = "runs   # asks which other routes can be run, and what they earn"
WITH_OUTCOME = ("run", "pay", "half", "withhold")  # verbs whose lines say in sentences what they bring


def bundle_lines(state: engine.State, seat: int) -> tuple[str, ...]:
    """Bundles that can be played now, with a comment on what paying or withholding does; the first also says
    how the trains run.

    `pass` is left out where the turn has ended without it.
    """
    found = list[str]()
    for bundle in BUNDLES:
        played, told, position = [], "", state
        for line in bundle:
            if (result := engine.try_line(position, engine_seat(seat), line)) is None:
                break
            played.append(line)
            if line != "pass" and not (found and line == "run best"):
                told = f"{told} {' '.join(engine.narrate(result.state, result.events))}".strip()
            position = result.state
        if len(played) >= 2:
            found.append(_commented("; ".join(played), told))
    return tuple(found)


def offered_lines(state: engine.State, seat: int, choices: Sequence[engine.Choice]) -> tuple[str, ...]:
    """The lines that an email offers, with comments on what they stand for and what they bring."""
    lines = with_outcomes(state, seat, legal_lines.copyable_lines(choices))
    return (*lines, OTHER_RUNS) if engine.other_runs(state, engine_seat(seat)) else lines


def with_outcomes(state: engine.State, seat: int, lines: Sequence[str]) -> tuple[str, ...]:
    """The lines, with a comment on what each costs or brings and changes; those that stand for several keep
    theirs."""
    return tuple(line if "#" in line else _commented(line, _outcome(state, seat, line)) for line in lines)


def _outcome(state: engine.State, seat: int, line: str) -> str:
    if line.split(maxsplit=1)[0] not in WITH_OUTCOME:
        return line_effect(state, engine_seat(seat), line)
    result = engine.try_line(state, engine_seat(seat), line)
    return " ".join(engine.narrate(result.state, result.events)) if result else ""


def _commented(line: str, told: str) -> str:
    """The line with a comment that is not too long; as it is without one."""
    limit = legal_lines.MAX_COMMENT
    comment = told if len(told) <= limit else told[: limit - 1] + "…"
    return f"{line}   # {comment}" if told else line


def turn_subject(state: engine.State, prompt: str, whose: str = "Your turn") -> str:
    """`Your turn: OR 2.1, lay track for the PRR`; `Your turn: SR 1, sell, buy or pass`."""
    question = prompt.split(": ", maxsplit=1)[0].split(" (", maxsplit=1)[0]
    task = question.split(", ", maxsplit=1)[0]
    if " " not in task or isinstance(state.stack[-1], StockTurn):  # whose question is a list of ways
        task = question.replace(", or ", " or ")
    return f"{whose}: {engine.short_round(engine.round_name(state))}, {task}"


ANIMATION = "animation"
CSS_WIDTHS = {"market": 560}  # pixels
DEFAULT_CSS_WIDTH = 640


def inline_images(named: Iterable[NamedPicture]) -> tuple[InlineImage, ...]:
    """Pictures as a mail shows them; of several of a kind each has its own name."""
    images: list[InlineImage] = []
    for name, picture in named:
        count = sum(image.name.partition("-")[0] == name for image in images)
        own = f"{name}-{count + 1}" if count else name
        width = CSS_WIDTHS.get(name, DEFAULT_CSS_WIDTH)
        images.append(InlineImage(own, picture.png, picture.alt, width))
    return tuple(images)


def mail_pictures(
    named: Iterable[NamedPicture],
) -> tuple[tuple[InlineImage, ...], tuple[Attachment, ...]]:
    """The pictures that stand in the text, and the animation as a file."""
    pictures = list(named)
    images = inline_images(each for each in pictures if each.name != ANIMATION)
    files = (
        Attachment("animation.gif", "image/gif", each.picture.png)
        for each in pictures
        if each.name == ANIMATION
    )
    return images, tuple(files)


def mail_file(file: ExportedFile) -> Attachment:
    """A file of the service as an email has it."""
    return Attachment(file.name, file.media_type, file.content)
