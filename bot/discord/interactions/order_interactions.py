"""The orders of a user at a table, shown, left and taken back on a private card."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import discord

from bot.discord.cards import order_card
from bot.discord.controls.controls import CustomId
from bot.discord.interactions import private_answers
from bot.discord.interactions.replies import RawModal, defer_privately, reply
from bot.discord.table_lookup import TableLookup
from bot.hub.info import TableInfo
from bot.hub.result import CommandResult, QueryAnswer
from bot.service import Service

ShowResult = Callable[[discord.Interaction, CommandResult, TableInfo, int | None], Awaitable[None]]


class OrderInteractions:
    """The private card of a user's orders. `show_result` shows any other result of a command."""

    def __init__(self, service: Service, lookup: TableLookup, show_result: ShowResult) -> None:
        self.service, self.lookup, self._show_result = service, lookup, show_result

    async def show(self, interaction: discord.Interaction, table_id: int, said: str = "") -> None:
        """Show the orders of a user at a table as a private card."""
        person_id = await self.lookup.person_id(interaction.user)
        view = await self.service.queries.view(table_id)
        seat = view.table.seat_of(person_id)
        listed = await self.service.submit(
            table_id, None, ["auto"], None, None, person_id=person_id, transport="discord"
        )
        if seat is None or view.state is None or not isinstance(listed, QueryAnswer):
            await self._show_result(interaction, listed, view.table, seat)
            return
        await reply(interaction, order_card.order_card(table_id, seat, view.state, listed.text, said))

    async def leave(self, interaction: discord.Interaction, custom_id: CustomId, entered: str | None) -> None:
        """Leave or take back orders by a control of the card, or open its form."""
        if not custom_id.argument:
            await interaction.response.defer(ephemeral=True, thinking=True)
            await self.show(interaction, custom_id.table_id)
            return
        form = order_card.order_form(custom_id.argument)
        if form is not None and entered is None:
            modal = order_card.order_modal(custom_id.table_id, custom_id.argument, form)
            await interaction.response.send_modal(RawModal(modal))
            return
        await defer_privately(interaction)
        result = await self.service.submit(
            custom_id.table_id,
            None,
            order_card.order_lines(custom_id.argument, entered),
            None,
            str(interaction.id),
            person_id=await self.lookup.person_id(interaction.user),
            transport="discord",
        )
        await self.show(interaction, custom_id.table_id, private_answers.result_text(result)[0])
