"""Tile lays: the hexes, all ways to lay a tile on one, and a closer look at one of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import discord

import engine
from bot.discord.api import ImageAttachment
from bot.discord.controls import controls, decision_controls, previews
from bot.discord.controls.controls import CustomId
from bot.discord.interactions import private_answers
from bot.discord.interactions.line_interactions import CHOICES_CHANGED, ControlAccess, LineInteractions
from bot.discord.interactions.replies import reply, reply_text
from bot.pictures.views import lay_map
from bot.position.pending import engine_seat
from bot.service import Service

MAX_SHEETS = 10


class TileInteractions:
    """Shows lays before they are done."""

    def __init__(self, service: Service, checks: ControlAccess, lines: LineInteractions) -> None:
        self.service, self.checks, self._lines = service, checks, lines

    async def show(self, interaction: discord.Interaction, custom_id: CustomId) -> None:
        """Show the hexes, all ways to lay a tile on one, or one of them on the map."""
        if not await self.checks.open_private(interaction, custom_id):
            return
        choices = await self._lines.choices(custom_id)
        lays = decision_controls.lay_choices(choices)
        hex, _, page = custom_id.argument.partition("+")
        if custom_id.action == controls.LOOK_CLOSER:
            wanted = controls.find_choice(choices, custom_id.argument)
            lay = next((each for each in lays if choices[each.number] is wanted), None)
            if lay is not None:
                await self._look_closer(interaction, custom_id, choices, lay)
                return
        elif not hex and page.isdecimal():
            items = decision_controls.hex_items(choices, lays, int(page))
            await reply(interaction, private_answers.menu_message(custom_id, "Lay a tile on", items))
            return
        elif on_hex := [each for each in lays if each.hex == hex]:
            images = await self._tile_pictures(interaction.user, custom_id, on_hex)
            refs = [each.ref for each in images]
            number = int(page) if page.isdecimal() else 0
            state = (await self.service.queries.view(custom_id.table_id)).state
            shown = previews.ways_message(custom_id, choices, on_hex, refs, number, state)
            await reply(interaction, shown, images)
            return
        await reply_text(interaction, CHOICES_CHANGED)

    async def _tile_pictures(
        self,
        user: discord.User | discord.Member,
        custom_id: CustomId,
        lays: Sequence[decision_controls.LayChoice],
    ) -> list[ImageAttachment]:
        """Pictures of all ways to lay a tile on one hex, numbered like the options."""
        view = await self.service.queries.view(custom_id.table_id)
        assert view.state is not None
        ways = [(lay.tile, lay.rotation) for lay in lays]
        sheets = await (await self._lines.drawing(view.table, user)).ways(view.state, lays[0].hex, ways)
        return [ImageAttachment(f"ways-{n}.png", sheet) for n, sheet in enumerate(sheets[:MAX_SHEETS], 1)]

    async def _look_closer(
        self,
        interaction: discord.Interaction,
        custom_id: CustomId,
        choices: Sequence[engine.Choice],
        lay: decision_controls.LayChoice,
    ) -> None:
        """Show the map with one lay, what it costs, and what the best run becomes."""
        view = await self.service.queries.view(custom_id.table_id)
        assert view.state is not None and custom_id.seat is not None
        seat, line = engine_seat(custom_id.seat), choices[lay.number].line
        tried = await asyncio.to_thread(previews.preview_lay, view.state, seat, line)
        drawing = await self._lines.drawing(view.table, interaction.user)
        picture = await lay_map(drawing, tried.state, lay.hex, tried.company, tried.routes)
        images = [ImageAttachment("map.png", picture)] if picture else []
        refs = [each.ref for each in images]
        await reply(interaction, previews.look_message(custom_id, choices, lay, tried.text, refs), images)
