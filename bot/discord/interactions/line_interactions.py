"""A button, a form or a command on Discord becomes a line of the game, and its result is shown.

A control carries the line that it submits, or its number among the choices (`controls.controls`). Whether
it is its user's, and still counts, is checked first.
"""

from __future__ import annotations

from collections.abc import Sequence

import discord

import engine
from bot.discord.api import (
    FileAttachment,
    ImageAttachment,
    OutgoingAttachment,
)
from bot.discord.cards import card_texts, parts
from bot.discord.cards.card_builder import image_attachments
from bot.discord.cards.parts import Json
from bot.discord.controls import controls
from bot.discord.controls.controls import NO_TABLE, CustomId
from bot.discord.controls.page_controls import answer_rows
from bot.discord.interactions import private_answers
from bot.discord.interactions.replies import (
    DEFERRED_MESSAGE,
    RawModal,
    defer_privately,
    is_private,
    reply,
    reply_text,
)
from bot.discord.table_lookup import TableLookup
from bot.discord.threads import card_link
from bot.hub.info import TableInfo, status_text
from bot.hub.request import CommandResult, Completed, PollUpdated, QueryAnswer, StaleDecision
from bot.hub.table import TableView
from bot.pictures.views import PICTURES_SAY_ALL, answer_pictures
from bot.pictures.workers import Pictures, PictureWorkers
from bot.service import Service
from engine.standing_orders import is_order_line

CHOICES_CHANGED = "The choices have changed since then. Please look at the card as it is now."


class LineInteractions:
    """Submits lines to the service, and shows their results as private messages."""

    def __init__(
        self, service: Service, lookup: TableLookup, checks: ControlAccess, pictures: PictureWorkers
    ) -> None:
        self.service, self.lookup, self.checks, self.pictures = service, lookup, checks, pictures

    async def press(self, interaction: discord.Interaction, custom_id: CustomId) -> None:
        """Submit the line that a button or a menu stands for."""
        line = await self.line_of(custom_id)
        if line is None:
            await reply_text(interaction, CHOICES_CHANGED)
        else:
            await self.submit_lines(interaction, custom_id, split_lines(line))

    async def line_of(self, custom_id: CustomId) -> str | None:
        """The line that a control submits; None where the choices have changed since it was sent."""
        if not custom_id.argument.startswith("#"):
            return custom_id.argument
        choice = controls.find_choice(await self.choices(custom_id), custom_id.argument)
        return choice.line if choice else None

    async def choices(self, custom_id: CustomId) -> list[engine.Choice]:
        """What the seat of a control may do now."""
        return (
            []
            if custom_id.seat is None
            else await self.service.queries.choices(custom_id.table_id, custom_id.seat, other_runs=True)
        )

    async def example_line(self, custom_id: CustomId) -> str:
        """A line that is possible now, to show how lines are written."""
        return next((choice.line for choice in await self.choices(custom_id)), "pass")

    async def submit_lines(
        self,
        interaction: discord.Interaction,
        custom_id: CustomId,
        lines: Sequence[str],
    ) -> None:
        """Submit lines for the decision that the custom id names, and show the result."""
        person_id = await self.lookup.person_id(interaction.user)
        view = await self.service.queries.view(custom_id.table_id)
        seat = view.table.seat_of(person_id) if custom_id.seat is None else custom_id.seat
        if custom_id.seat is not None and seat not in view.table.seats_of(person_id):
            await reply_text(
                interaction, private_answers.wrong_player_text(view.state, view.table.names, custom_id.seat)
            )
            return
        result = await self.service.submit(
            custom_id.table_id,
            seat,
            lines,
            custom_id.decision_id,
            str(interaction.id),
            person_id=person_id,
            transport="discord",
            name=interaction.user.display_name,
        )
        await self.show_result(interaction, result, view.table, seat, lines)

    async def show_result(
        self,
        interaction: discord.Interaction,
        result: CommandResult,
        table: TableInfo,
        seat: int | None,
        submitted: Sequence[str] = (),
    ) -> None:
        """Show the result of a command. A button on a card that worked needs no message, an order does."""
        on_card = interaction.message is not None and interaction.response.type is not DEFERRED_MESSAGE
        is_told = any(map(is_order_line, submitted))
        if (
            on_card
            and not is_private(interaction)
            and not is_told
            and isinstance(result, Completed | PollUpdated)
        ):
            return
        link = await card_link(self.service, table, seat) if isinstance(result, StaleDecision) else None
        if isinstance(result, QueryAnswer):
            await self.show_answer(interaction, result, table)
        else:
            await reply(interaction, private_answers.result_message(result, table, seat, link, submitted))

    async def show_answer(
        self,
        interaction: discord.Interaction,
        answer: QueryAnswer,
        table: TableInfo | None,
        *,
        said: Sequence[Json] = (),
        public: bool = False,
    ) -> None:
        """Show an answer: as a picture where there is one and it can be drawn, else as text.

        table: None where it is about a person alone. said: what came of a line before.
        """
        images = await self._images(interaction, answer, table, public) if table else []
        attachments: list[OutgoingAttachment] = [FileAttachment(file) for file in answer.files]
        has_list = answer.controls and "`" in answer.text  # of lines, each in a code span of its own
        text = answer.text if has_list else private_answers.result_text(answer)[0]
        limit = private_answers.MAX_PRIVATE_TEXT if said else private_answers.MAX_ANSWER
        texts: list[Json] = [parts.text_display(text, limit)]
        files = parts.file_components([f.name for f in answer.files])
        rows = answer_rows(table.id if table else NO_TABLE, answer.query, answer.controls)
        components = plain = [*said, *_framed([*texts, *files, *rows], rows)]
        if images:
            texts = [] if answer.query in PICTURES_SAY_ALL else texts
            galleries = parts.media_galleries([each.ref for each in images])
            attachments = [*attachments, *images]
            components = [*said, *_framed([*texts, *files, *galleries, *rows], rows)]
        await reply(interaction, components, attachments, public=public, plain=plain)

    async def _images(
        self, interaction: discord.Interaction, answer: QueryAnswer, table: TableInfo, public: bool
    ) -> list[ImageAttachment]:
        """The pictures of an answer, as its reader or the table has them."""
        if answer.query == "board":
            return []
        view = await self.service.queries.view(table.id)
        drawing = await self.drawing(view.table, None if public else interaction.user)
        return image_attachments(await answer_pictures(self.service.queries, drawing, view, answer))

    async def drawing(self, table: TableInfo, user: discord.User | discord.Member | None) -> Pictures:
        """Pictures of a table in the palette of a user, or of the table, for everybody."""
        reader = await self.lookup.person_id(user) if user else None
        palette = await self.service.settings.palette(table, reader)
        return self.pictures.for_table(table.id, palette, reader=reader, post="answer")

    async def open_amount_modal(self, interaction: discord.Interaction, custom_id: CustomId) -> None:
        """Ask for the amount of a choice in a form."""
        if choice := await self._amount_choice(interaction, custom_id):
            await interaction.response.send_modal(RawModal(private_answers.amount_modal(custom_id, choice)))

    async def submit_amount(self, interaction: discord.Interaction, custom_id: CustomId, typed: str) -> None:
        """Submit the line of a choice with the amount that somebody has typed."""
        choice = await self._amount_choice(interaction, custom_id)
        if choice is None or choice.amounts is None:
            return
        amount = typed.strip().lstrip("$").replace(",", "")
        if not amount.isdecimal() or int(amount) not in choice.amounts:
            await reply(interaction, private_answers.wrong_amount_message(custom_id, choice, typed))
            return
        await self.submit_lines(interaction, custom_id, [choice.line_for(int(amount))])

    async def _amount_choice(
        self, interaction: discord.Interaction, custom_id: CustomId
    ) -> engine.Choice | None:
        """The choice with an amount that a control stands for; None after an answer that says why not."""
        if await self.checks.reject_other_user(interaction, custom_id) or await self.checks.reject_stale(
            interaction, custom_id
        ):
            return None
        choice = controls.find_choice(await self.choices(custom_id), custom_id.argument)
        if choice is None or choice.amounts is None:
            await reply_text(interaction, CHOICES_CHANGED)
            return None
        return choice


def _framed(components: Sequence[Json], rows: Sequence[Json]) -> list[Json]:
    """The components of an answer, framed where it has controls."""
    return [parts.container(components)] if rows else list(components)


class ControlAccess:
    """Checks controls; who may not use one, or not any more, gets a private message that says why."""

    def __init__(self, service: Service, lookup: TableLookup) -> None:
        self.service, self.lookup = service, lookup

    async def reject_other_user(self, interaction: discord.Interaction, custom_id: CustomId) -> bool:
        """Whether the control belongs to another player; then the user gets a message that says so."""
        view = await self.service.queries.view(custom_id.table_id)
        if custom_id.seat is None or custom_id.seat in view.table.seats_of(
            await self.lookup.person_id(interaction.user)
        ):
            return False
        await reply_text(
            interaction, private_answers.wrong_player_text(view.state, view.table.names, custom_id.seat)
        )
        return True

    async def reject_stale(self, interaction: discord.Interaction, custom_id: CustomId) -> bool:
        """Whether the control's decision has passed; then the user gets a message with the events since."""
        view = await self.service.queries.view(custom_id.table_id)
        running = view.table.status == "running"
        if running and any(
            (each.seat, each.decision_id) == (custom_id.seat, custom_id.decision_id) for each in view.pending
        ):
            return False
        reason = await self._stale_text(view, custom_id) if running else status_text(view.table.status)
        reason = reason if running else f"Table {view.table.code} is {reason}."
        link = await card_link(self.service, view.table, custom_id.seat)
        await reply_text(interaction, f"{reason}\n[The card as it is now]({link})" if link else reason)
        return True

    async def _stale_text(self, view: TableView, custom_id: CustomId) -> str:
        assert view.state is not None and custom_id.seat is not None
        entries = await self.service.queries.log_since_last_move(view.table.id, custom_id.seat)
        events = [f"- {each}" for each in card_texts.history_lines(entries, view.table.names)]
        now = f"That decision is no longer open. {view.waiting_sentence}".rstrip()
        return "\n".join([now, *events])

    async def open_private(self, interaction: discord.Interaction, custom_id: CustomId) -> bool:
        """Acknowledge a control that opens or changes a private message; whether the user may go on."""
        await defer_privately(interaction)
        return not (
            await self.reject_other_user(interaction, custom_id)
            or await self.reject_stale(interaction, custom_id)
        )


def split_lines(text: str) -> list[str]:
    """The lines in a text that separates them by semicolons."""
    return [line.strip() for line in text.split(";") if line.strip()]
