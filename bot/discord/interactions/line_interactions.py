"""A button, a form or a command on Discord becomes a line of the game, and its result is shown.

A control carries the line that it submits, or its number among the choices (`controls.controls`). Whether
it is its user's, and still counts, is checked first.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

import discord

import engine
from bot.discord.cards import card_texts, parts
from bot.discord.cards.card_builder import image_attachments
from bot.discord.cards.parts import ImageAttachment, Json
from bot.discord.controls import controls
from bot.discord.controls.controls import NO_TABLE, SUBMIT_LINE, CustomId
from bot.discord.controls.page_controls import ENTERED, FORM, answer_rows, form_modal
from bot.discord.interactions import private_answers
from bot.discord.interactions.replies import (
    DEFERRED_MESSAGE,
    RawModal,
    acknowledged_as,
    asks_publicly,
    defer,
    defer_privately,
    is_private,
    reply,
    reply_text,
)
from bot.discord.threads import card_link
from bot.hub.info import TableInfo
from bot.hub.people import person_by_discord
from bot.hub.request import (
    CommandResult,
    Completed,
    ConfirmationRequired,
    LineFailure,
    PollUpdated,
    QueryAnswer,
    StaleDecision,
    first_word,
    split_lines,
)
from bot.hub.table import TableView
from bot.pictures.views import PICTURES_SAY_ALL, answer_pictures
from bot.pictures.workers import Pictures, PictureWorkers
from bot.position.controls import Ask
from bot.position.pending import engine_seat
from bot.service import Service
from engine.standing_orders import is_order_line

PERSON = "person"
"""Among what an interaction carries: the id of the person of its user."""
CHOICES_CHANGED = "The choices have changed since then. Please look at the card as it is now."


class OpenDecision(NamedTuple):
    """A decision that a control is about: the table, its position, who decides, and what they may do."""

    view: TableView
    state: engine.State
    seat: str
    choices: list[engine.Choice]


class LineInteractions:
    """Submits lines of Discord's users to the service, and shows their results as private messages."""

    def __init__(self, service: Service, pictures: PictureWorkers) -> None:
        self.service, self.pictures = service, pictures

    async def person_id(self, interaction: discord.Interaction) -> int:
        """The id of the person whose Discord account the user has; a new account gets a new person."""
        if known := await self.known_person_id(interaction):
            return known
        interaction.extras[PERSON] = made = await self.id_of_user(interaction.user)
        return made

    async def id_of_user(self, user: discord.User | discord.Member) -> int:
        """The same for a user that an interaction names."""
        async with self.service.store.begin() as unit:
            return (await person_by_discord(unit, user.id, user.display_name)).id

    async def known_person_id(self, interaction: discord.Interaction) -> int:
        """The id of the person whose Discord account the user has, looked up once; 0, the id of nobody, if
        there is none."""
        if PERSON not in interaction.extras:
            async with self.service.store.read() as unit:
                person = await unit.people.find_by_identity("discord", str(interaction.user.id))
            if person is None:
                return 0
            interaction.extras[PERSON] = person.id
        found: int = interaction.extras[PERSON]
        return found

    # -- lines -------------------------------------------------------------------------------

    async def press(self, interaction: discord.Interaction, custom_id: CustomId) -> None:
        """Submit the line that a button or a menu stands for. Raises ValueError."""
        await self.submit_lines(interaction, custom_id, split_lines(await self.line_of(custom_id)))

    async def line_of(self, custom_id: CustomId) -> str:
        """The line that an argument stands for. Raises ValueError where the choices have changed since it was
        sent."""
        if not custom_id.argument.startswith("#"):
            return custom_id.argument
        choice = controls.find_choice(await self.choices(custom_id), custom_id.argument)
        if choice is None:
            raise ValueError(CHOICES_CHANGED)
        return choice.line

    async def choices(self, custom_id: CustomId) -> list[engine.Choice]:
        """What the seat of a control may do now."""
        return (
            []
            if custom_id.seat is None
            else await self.service.queries.choices(custom_id.table_id, custom_id.seat, other_runs=True)
        )

    async def submit_lines(
        self, interaction: discord.Interaction, custom_id: CustomId, lines: Sequence[str]
    ) -> None:
        """Submit lines for the decision that the custom id names, and show the result."""
        if not await self.rejects_other_user(interaction, custom_id.table_id, custom_id.seat):
            table = (await self.service.queries.view(custom_id.table_id)).table
            await self.say(interaction, table, lines, seat=custom_id.seat, decision_id=custom_id.decision_id)

    async def say(
        self,
        interaction: discord.Interaction,
        table: TableInfo,
        lines: Sequence[str],
        *,
        seat: int | None = None,
        decision_id: str | None = None,
    ) -> None:
        """Say lines at a table, and show the result. seat: None for that of the user."""
        result = await self.carry_out(interaction, table.id, lines, str(interaction.id), seat, decision_id)
        on_card = interaction.message is not None and acknowledged_as(interaction) is not DEFERRED_MESSAGE
        is_shown = on_card and not is_private(interaction) and not any(map(is_order_line, lines))
        if not (is_shown and isinstance(result, Completed | PollUpdated)):  # the card shows it
            if seat is None:
                seat = table.seat_of(await self.person_id(interaction))
            await self.show_result(interaction, result, table, seat, lines)

    async def carry_out(
        self,
        interaction: discord.Interaction,
        table_id: int,
        lines: Sequence[str],
        request_id: str | None,
        seat: int | None = None,
        decision_id: str | None = None,
    ) -> CommandResult:
        """Give lines to the service: for a table, as a question about one, or about the user alone. Who asks
        publicly gets only what everybody may see."""
        person_id = await self.person_id(interaction)
        if table_id == NO_TABLE:
            return await self.service.submit_personal(person_id, lines)
        if len(lines) == 1 and self.service.commands.is_query(first_word(lines[0])):
            return await self.service.ask(
                table_id, lines[0], person_id=None if asks_publicly(interaction) else person_id
            )
        return await self.service.submit(
            table_id, seat, lines, decision_id, request_id,
            person_id=person_id, transport="discord", name=interaction.user.display_name,
        )  # fmt: skip

    # -- results -----------------------------------------------------------------------------

    async def show_result(
        self,
        interaction: discord.Interaction,
        result: CommandResult,
        table: TableInfo | None,
        seat: int | None,
        submitted: Sequence[str],
        *,
        said: Sequence[Json] = (),
    ) -> None:
        """Show the result of lines. table: None where they are about a person alone. said: what came of
        lines before."""
        if isinstance(result, QueryAnswer):
            await self.show_answer(interaction, result, table, said=said)
            return
        await reply(interaction, [*said, *await self.result_message(result, table, seat, submitted)])

    async def result_message(
        self,
        result: CommandResult,
        table: TableInfo | None,
        seat: int | None,
        submitted: Sequence[str],
        limit: int = private_answers.MAX_ANSWER,
    ) -> list[Json]:
        """The result of lines as a private message. Its buttons are for what the seat has to decide now."""
        link = decision_id = None
        if table and isinstance(result, StaleDecision):
            link = await card_link(self.service, table, seat)
        if table and seat is not None and isinstance(result, LineFailure | ConfirmationRequired):
            decision_id = (await self.service.queries.view(table.id)).decision_id_of(seat)
        custom_id = CustomId(table.id if table else NO_TABLE, seat, decision_id, SUBMIT_LINE)
        return private_answers.result_message(result, custom_id, link, submitted, limit)

    async def show_answer(
        self,
        interaction: discord.Interaction,
        answer: QueryAnswer,
        table: TableInfo | None,
        *,
        said: Sequence[Json] = (),
    ) -> None:
        """Show an answer: as a picture where there is one and it can be drawn, else as text, which is a file
        too where it is longer than a message.

        table: None where it is about a person alone. said: what came of a line before.
        """
        images = await self._images(interaction, answer, table) if table else []
        limit = private_answers.MAX_PRIVATE_TEXT if said else private_answers.MAX_ANSWER
        text, whole = (private_answers.answer_text(answer, most) for most in (limit, sys.maxsize))
        texts = [parts.text_display(text)]
        says_all = bool(images) and answer.query in PICTURES_SAY_ALL
        cut = [] if says_all or text == whole else [answer.text_file]
        files = [*answer.files, *cut]
        rows = answer_rows(table.id if table else NO_TABLE, answer.query, answer.controls)
        shown = [
            *([] if says_all else texts),
            *parts.file_components([file.name for file in files]),
            *parts.media_galleries(images),
        ]
        components, plain = ([*said, *_framed([*above, *rows], rows)] for above in (shown, texts))
        await reply(
            interaction, components, [*files, *images], public=asks_publicly(interaction), plain=plain
        )

    async def _images(
        self, interaction: discord.Interaction, answer: QueryAnswer, table: TableInfo
    ) -> list[ImageAttachment]:
        """The pictures of an answer, as its reader or the table has them."""
        if answer.query == "board":
            return []
        view = await self.service.queries.view(table.id)
        drawing = await self.drawing(view.table, None if asks_publicly(interaction) else interaction)
        return image_attachments(await answer_pictures(self.service.queries, drawing, view, answer))

    async def drawing(self, table: TableInfo, interaction: discord.Interaction | None) -> Pictures:
        """Pictures of a table in the palette of a user, or of the table, for everybody."""
        reader = await self.person_id(interaction) if interaction else None
        palette = await self.service.settings.palette(table, reader)
        return self.pictures.for_table(table.id, palette, reader=reader, post="answer")

    # -- answers with controls -------------------------------------------------------------

    async def press_page(
        self, interaction: discord.Interaction, custom_id: CustomId, entered: str | None
    ) -> None:
        """Answer a control. entered: in its form."""
        question, bar, line = custom_id.argument.partition("|")
        if line.startswith(FORM):
            form = await self._form(interaction, custom_id.table_id, question, line.removeprefix(FORM))
            if form is None:
                await reply_text(interaction, CHOICES_CHANGED)
            else:
                await interaction.response.send_modal(RawModal(form_modal(custom_id, question, form)))
            return
        await (defer_privately if bar else defer)(interaction)
        lines = split_lines(line.removeprefix(ENTERED) + (entered or ""))
        table_id, queries = custom_id.table_id, self.service.queries
        table = await queries.table_info(table_id) if table_id != NO_TABLE else None
        await self.show_page(interaction, table, question, lines)

    async def show_page(
        self,
        interaction: discord.Interaction,
        table: TableInfo | None,
        question: str,
        lines: Sequence[str] = (),
    ) -> None:
        """Say the lines, if there are any, and show the answer to the question. table: None for a question
        about the user alone."""
        table_id, carry_out = table.id if table else NO_TABLE, self.carry_out
        seat = table.seat_of(await self.known_person_id(interaction)) if table else None
        head: list[Json] = []
        if lines:
            said = await carry_out(interaction, table_id, lines, str(interaction.id))
            is_question = self.service.commands.is_query(first_word(lines[0]))
            if isinstance(said, QueryAnswer) and (is_question or said.controls):
                await self.show_answer(interaction, said, table)
                return
            limit = private_answers.MAX_ANSWER - private_answers.MAX_PRIVATE_TEXT
            head = await self.result_message(said, table, seat, lines, limit)
        answer = await carry_out(interaction, table_id, [question], None)
        await self.show_result(interaction, answer, table, seat, [question], said=head)

    async def _form(
        self, interaction: discord.Interaction, table_id: int, question: str, label: str
    ) -> Ask | None:
        """The form of an answer; None where the answer has changed."""
        answer = await self.carry_out(interaction, table_id, [question], None)
        controls = answer.controls if isinstance(answer, QueryAnswer) else ()
        return next((each for each in controls if isinstance(each, Ask) and each.label == label), None)

    # -- whose a control is, and whether it still counts -------------------------------------

    async def rejects_other_user(
        self, interaction: discord.Interaction, table_id: int, seat: int | None
    ) -> bool:
        """Whether what belongs to a seat is another player's; then the user gets a message that says so."""
        if seat is None:
            return False
        view = await self.service.queries.view(table_id)
        if seat in view.table.seats_of(await self.known_person_id(interaction)):
            return False
        await reply_text(interaction, private_answers.wrong_player_text(view.state, view.table.names, seat))
        return True

    async def open_decision(
        self, interaction: discord.Interaction, custom_id: CustomId
    ) -> OpenDecision | None:
        """The decision of a control; None where it is another player's or has passed, and the user has got a
        message that says so."""
        if await self.rejects_other_user(interaction, custom_id.table_id, custom_id.seat):
            return None
        view = await self.service.queries.view(custom_id.table_id)
        running = view.table.status == "running"
        asked = [(each.seat, each.decision_id) for each in view.pending] if running else []
        if (custom_id.seat, custom_id.decision_id) in asked and view.state and custom_id.seat is not None:
            return OpenDecision(view, view.state, engine_seat(custom_id.seat), await self.choices(custom_id))
        reason = await self._stale_text(view, custom_id) if running else view.table.status_sentence
        link = await card_link(self.service, view.table, custom_id.seat) if running else None
        await reply_text(interaction, f"{reason}\n[The card as it is now]({link})" if link else reason)
        return None

    async def _stale_text(self, view: TableView, custom_id: CustomId) -> str:
        assert custom_id.seat is not None
        entries = await self.service.queries.log_since_last_move(view.table.id, custom_id.seat)
        events = [f"- {each}" for each in card_texts.history_lines(entries, view.table.names)]
        now = f"That decision is no longer open. {view.waiting_sentence}".rstrip()
        return "\n".join([now, *events])


def _framed(components: Sequence[Json], rows: Sequence[Json]) -> list[Json]:
    """The components of an answer, framed where it has controls."""
    return [parts.container(components)] if rows else list(components)
