"""Answers that their reader alone sees: with controls, such as one's orders, a plan, one's settings; and
what is stored about them, and its end (`/me export`, `/me erase`).

Each control says a line. Then the message shows what came of it, and the answer as it is now.
"""

from __future__ import annotations

from collections.abc import Sequence

import discord

from bot.discord.api import FileAttachment
from bot.discord.cards import parts
from bot.discord.cards.parts import Json
from bot.discord.controls.controls import ERASE, NO_TABLE, CustomId
from bot.discord.controls.page_controls import ENTERED, FORM, form_modal
from bot.discord.interactions import private_answers
from bot.discord.interactions.line_interactions import CHOICES_CHANGED, LineInteractions
from bot.discord.interactions.replies import RawModal, defer, defer_privately, reply, reply_text
from bot.discord.table_lookup import TableLookup
from bot.hub.info import TableInfo
from bot.hub.request import QueryAnswer, first_word, split_lines
from bot.position.controls import Ask
from bot.service import Service


class PageInteractions:
    """Shows answers with controls, and carries out what their controls say."""

    def __init__(self, lines: LineInteractions) -> None:
        self._lines = lines

    async def press(self, interaction: discord.Interaction, custom_id: CustomId, entered: str | None) -> None:
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
        table_id, queries = custom_id.table_id, self._lines.service.queries
        table = await queries.table_info(table_id) if table_id != NO_TABLE else None
        await self.show(interaction, table, question, lines)

    async def show(
        self,
        interaction: discord.Interaction,
        table: TableInfo | None,
        question: str,
        lines: Sequence[str] = (),
    ) -> None:
        """Say the lines, if there are any, and show the answer to the question. table: None for a question
        about the user alone."""
        table_id, carry_out = table.id if table else NO_TABLE, self._lines.carry_out
        seat = table.seat_of(await self._lines.lookup.person_id(interaction.user)) if table else None
        head: list[Json] = []
        if lines:
            said = await carry_out(interaction, table_id, lines, str(interaction.id))
            is_question = self._lines.service.commands.is_query(first_word(lines[0]))
            if isinstance(said, QueryAnswer) and (is_question or said.controls):
                await self._lines.show_answer(interaction, said, table)
                return
            limit = private_answers.MAX_ANSWER - private_answers.MAX_PRIVATE_TEXT
            head = private_answers.result_message(said, table_id, seat, submitted=lines, limit=limit)
        answer = await carry_out(interaction, table_id, [question], None)
        await self._lines.show_result(interaction, answer, table, seat, [question], said=head)

    async def _form(
        self, interaction: discord.Interaction, table_id: int, question: str, label: str
    ) -> Ask | None:
        """The form of an answer; None where the answer has changed."""
        answer = await self._lines.carry_out(interaction, table_id, [question], None)
        controls = answer.controls if isinstance(answer, QueryAnswer) else ()
        return next((each for each in controls if isinstance(each, Ask) and each.label == label), None)


NOTHING = "Nothing is stored about you."
QUESTION = (
    "**Should everything about you be deleted?** You then leave all tables, your name is taken out of their "
    "games, and your addresses, settings, orders, plans and notes are gone. It cannot be undone. `/me "
    "export` gives you what is stored about you first."
)
DONE = "Everything about you is deleted. Messages that Discord no longer lets us edit stay where they are."


class PrivacyInteractions:
    """Answers what a person asks about their own data."""

    def __init__(self, service: Service, lookup: TableLookup) -> None:
        self._data, self._lookup = service.personal_data, lookup

    async def export(self, interaction: discord.Interaction) -> None:
        """Hand out what is stored about the user. Raises ValueError."""
        person_id = await self._lookup.known_person_id(interaction.user)
        if person_id is None:
            await reply_text(interaction, NOTHING)
            return
        file = FileAttachment(await self._data.export(person_id))
        text = parts.text_display("Here is all that is stored about you.")
        await reply(interaction, [text, *parts.file_components([file.source.name])], [file])

    async def ask(self, interaction: discord.Interaction) -> None:
        """Ask the user whether they want to be deleted."""
        button = parts.button("Delete everything", str(CustomId(NO_TABLE, None, None, ERASE)), parts.DANGER)
        await reply(interaction, [parts.text_display(QUESTION), *parts.action_rows([button])])

    async def erase(self, interaction: discord.Interaction) -> None:
        """Delete the user."""
        await defer_privately(interaction)
        person_id = await self._lookup.known_person_id(interaction.user)
        if person_id is not None:
            await self._data.erase(person_id)
        await reply_text(interaction, NOTHING if person_id is None else DONE)
