"""Tile lays: the hexes, all ways to lay a tile on one, and a closer look at one of them."""

from __future__ import annotations

import asyncio

import discord

from bot.discord.api import ImageAttachment
from bot.discord.controls import controls, decision_controls, previews
from bot.discord.controls.controls import CustomId
from bot.discord.interactions import private_answers
from bot.discord.interactions.line_interactions import CHOICES_CHANGED, OpenDecision
from bot.discord.interactions.replies import reply, reply_text
from bot.pictures.views import lay_map
from bot.pictures.workers import Pictures

MAX_SHEETS = 10


async def show_lays(
    interaction: discord.Interaction, custom_id: CustomId, asked: OpenDecision, drawing: Pictures
) -> None:
    """Show the hexes, all ways to lay a tile on one, or one of them on the map."""
    choices = asked.choices
    lays = decision_controls.lay_choices(choices)
    hex, _, page = custom_id.argument.partition("+")
    if custom_id.action == controls.LOOK_CLOSER:
        wanted = controls.find_choice(choices, custom_id.argument)
        lay = next((each for each in lays if choices[each.number] is wanted), None)
        if lay is not None:
            await _look_closer(interaction, custom_id, asked, lay, drawing)
            return
    elif not hex and page.isdecimal():
        items = decision_controls.hex_items(choices, lays, int(page))
        await reply(interaction, private_answers.menu_message(custom_id, "Lay a tile on", items))
        return
    elif on_hex := [each for each in lays if each.hex == hex]:
        ways = [(lay.tile, lay.rotation) for lay in on_hex]
        sheets = (await drawing.ways(asked.state, hex, ways))[:MAX_SHEETS]
        images = [ImageAttachment(f"ways-{n}.png", sheet) for n, sheet in enumerate(sheets, 1)]
        number = int(page) if page.isdecimal() else 0
        refs = [each.ref for each in images]
        shown = previews.ways_message(custom_id, choices, on_hex, refs, number, asked.state)
        await reply(interaction, shown, images)
        return
    await reply_text(interaction, CHOICES_CHANGED)


async def _look_closer(
    interaction: discord.Interaction,
    custom_id: CustomId,
    asked: OpenDecision,
    lay: decision_controls.LayChoice,
    drawing: Pictures,
) -> None:
    """Show the map with one lay, what it costs, and what the best run becomes."""
    line = asked.choices[lay.number].line
    tried = await asyncio.to_thread(previews.preview_lay, asked.state, asked.seat, line)
    picture = await lay_map(drawing, tried.state, lay.hex, tried.company, tried.routes)
    images = [ImageAttachment("map.png", picture)] if picture else []
    refs = [each.ref for each in images]
    await reply(interaction, previews.look_message(custom_id, asked.choices, lay, tried.text, refs), images)
