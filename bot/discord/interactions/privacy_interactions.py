"""What is stored about a person, and its end: `/me export`, `/me erase`."""

from __future__ import annotations

import discord

from bot.discord.cards import parts
from bot.discord.controls.controls import ERASE, NO_TABLE, CustomId
from bot.discord.interactions.replies import defer_privately, reply, reply_text
from bot.discord.table_lookup import TableLookup
from bot.service import Service

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
        file = await self._data.export(person_id)
        text = parts.text_display("Here is all that is stored about you.")
        await reply(interaction, [text, *parts.file_components([file.name])], [file])

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
