"""The settings of a user, shown and changed on a private card."""

from __future__ import annotations

import discord

from bot.discord.cards import settings_card
from bot.discord.interactions.replies import RawModal, reply
from bot.discord.table_lookup import TableLookup
from bot.service import Service


class SettingsInteractions:
    """The private card of a user's settings."""

    def __init__(self, service: Service, lookup: TableLookup) -> None:
        self.service, self.lookup = service, lookup

    async def show(self, interaction: discord.Interaction, said: str = "") -> None:
        """Show the settings of a user as a private card."""
        settings = await self.service.settings.settings(await self.lookup.person_id(interaction.user))
        lines = settings.lines(self.service.store.now())
        await reply(interaction, settings_card.settings_card(lines, said))

    async def change(self, interaction: discord.Interaction, argument: str, entered: str | None) -> None:
        """Change settings by a control of the card, or open its form."""
        form = settings_card.form_of(argument)
        if form is not None and entered is None:
            await interaction.response.send_modal(RawModal(settings_card.form_modal(argument, form)))
            return
        await interaction.response.defer()
        lines = settings_card.lines_of(argument, entered)
        try:
            said = await self.service.settings.apply(await self.lookup.person_id(interaction.user), lines)
        except ValueError as error:
            said = str(error)
        await self.show(interaction, said)
