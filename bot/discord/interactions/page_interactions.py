"""Answers with controls that their reader alone sees, such as one's orders, a plan, one's settings.

Each control says a line. Then the message shows what came of it, and the answer as it is now.
"""

from __future__ import annotations

from collections.abc import Sequence

import discord

from bot.discord.cards.parts import Json
from bot.discord.controls.controls import NO_TABLE, CustomId
from bot.discord.controls.page_controls import ENTERED, FORM, form_modal
from bot.discord.interactions import private_answers
from bot.discord.interactions.line_interactions import CHOICES_CHANGED, LineInteractions
from bot.discord.interactions.replies import RawModal, defer, defer_privately, reply_text
from bot.hub.info import TableInfo
from bot.hub.request import QueryAnswer, first_word, split_lines
from bot.position.controls import Ask


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
            head = await self._lines.result_message(said, table, seat, lines, limit)
        answer = await carry_out(interaction, table_id, [question], None)
        await self._lines.show_result(interaction, answer, table, seat, [question], said=head)

    async def _form(
        self, interaction: discord.Interaction, table_id: int, question: str, label: str
    ) -> Ask | None:
        """The form of an answer; None where the answer has changed."""
        answer = await self._lines.carry_out(interaction, table_id, [question], None)
        controls = answer.controls if isinstance(answer, QueryAnswer) else ()
        return next((each for each in controls if isinstance(each, Ask) and each.label == label), None)
