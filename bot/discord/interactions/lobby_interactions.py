"""Joining, leaving and starting tables, and asking for seats."""

from __future__ import annotations

import discord

from bot.discord.controls import controls
from bot.discord.controls.controls import CustomId
from bot.discord.interactions.replies import reply_text
from bot.discord.table_lookup import TableLookup
from bot.features.lobby.robot_answers import answer_about_robots
from bot.hub.info import TableInfo
from bot.hub.people import player_name
from bot.service import Service


class LobbyInteractions:
    """What users do at tables that have not begun, or that have empty seats."""

    def __init__(self, service: Service, lookup: TableLookup) -> None:
        self.service, self.lookup = service, lookup

    async def press(self, interaction: discord.Interaction, custom_id: CustomId) -> None:
        """Do what a button of a table says."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        table = await self.service.queries.table_info(custom_id.table_id)
        match custom_id.argument:
            case controls.AGREE | controls.DECLINE:
                await self.answer_about_robots(interaction, table, custom_id.argument == controls.AGREE)
            case controls.CLAIM | controls.OFFERED if custom_id.seat is not None:
                offered = custom_id.argument == controls.OFFERED
                await self.claim_seat(interaction, table, custom_id.seat, offered=offered)
            case action:
                await self.act(interaction, table, action)

    async def act(
        self, interaction: discord.Interaction, table: TableInfo, action: str, name: str | None = None
    ) -> None:
        """Join or leave a table, or start its game."""
        person_id = await self.lookup.person_id(interaction.user)
        if action == controls.JOIN:
            invited_name = next(
                (
                    each.name
                    for each in table.seated_players
                    if each.person_id == person_id and not each.joined
                ),
                None,
            )
            chosen_name = name or invited_name or player_name(interaction.user.display_name)
            await self.service.lobby.join(table.id, person_id, chosen_name)
            await reply_text(interaction, f"You have joined table {table.code} as {chosen_name}.")
        elif action == controls.LEAVE:
            await self.service.lobby.leave(table.id, person_id, by=person_id)
            await reply_text(interaction, f"You have left table {table.code}.")
        elif action == controls.KEEP:
            await self.service.lobby.keep_open(table.id, by=person_id)
            await reply_text(interaction, f"Table {table.code} stays open.")
        else:
            await self.service.lobby.start(table.id, by=person_id)
            await reply_text(interaction, f"The game at table {table.code} starts. Its thread follows.")

    async def answer_about_robots(
        self, interaction: discord.Interaction, table: TableInfo, agrees: bool
    ) -> None:
        """The user agrees that robots play at a table that has not started, or declines."""
        person_id = await self.lookup.person_id(interaction.user)
        answer = await answer_about_robots(self.service.lobby, table, person_id, agrees=agrees)
        await reply_text(interaction, answer)

    async def claim_seat(
        self, interaction: discord.Interaction, table: TableInfo, seat: int, *, offered: bool
    ) -> None:
        """The user asks for a seat, or takes one that was offered to them."""
        person_id = await self.lookup.person_id(interaction.user)
        name, seats = player_name(interaction.user.display_name), self.service.seats
        if offered:
            told = await seats.accept_offer(table.id, seat, person_id, name)
        else:
            told = await seats.ask(table.id, person_id, name, seat_name=table.names[seat])
        await reply_text(interaction, told)
