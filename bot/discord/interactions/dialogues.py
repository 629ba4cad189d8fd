"""What a control opens before a line is said: a menu, a form, the ways to lay a tile, what sales bring.

`lines` says whose a control is and whether its decision is still open.
"""

from __future__ import annotations

import asyncio
from typing import Any

import discord

import engine
from bot.discord.cards.parts import ImageAttachment
from bot.discord.controls import controls, previews
from bot.discord.controls.controls import CustomId
from bot.discord.controls.decision_controls import LayChoice, hex_items, lay_choices, with_effects
from bot.discord.interactions import private_answers
from bot.discord.interactions.line_interactions import CHOICES_CHANGED, LineInteractions, OpenDecision
from bot.discord.interactions.replies import RawModal, defer_privately, reply, reply_text
from bot.pictures.views import lay_map
from bot.pictures.workers import Pictures

MAX_SHEETS = 10  # with the ways to lay a tile


async def open_private(
    lines: LineInteractions, interaction: discord.Interaction, custom_id: CustomId
) -> None:
    """Show what a control of a decision opens, in a private message."""
    await defer_privately(interaction)
    if (asked := await lines.open_decision(interaction, custom_id)) is None:
        return
    match custom_id.action:
        case controls.OPEN_MENU:
            await _open_menu(interaction, custom_id, asked)
        case controls.SELL:
            await _preview_sales(interaction, custom_id, asked)
        case _:
            drawing = await lines.drawing(asked.view.table, interaction)
            await _show_lays(interaction, custom_id, asked, drawing)


async def _open_menu(interaction: discord.Interaction, custom_id: CustomId, asked: OpenDecision) -> None:
    """Show the next level of a menu."""
    choices, position = asked.choices, controls.parse_menu_position(custom_id.argument)
    indices = controls.choices_below(choices, position) if position else []
    if position is None or not indices:
        await reply_text(interaction, CHOICES_CHANGED)
        return
    path = choices[indices[0]].path[: position.depth]
    title = controls.capitalized(" · ".join(path)) or "Choose"
    items = controls.menu_items(choices, indices, position.depth, position.page)
    items = with_effects(asked.state, asked.seat, choices, items)
    await reply(interaction, private_answers.menu_message(custom_id, title, items))


async def _preview_sales(interaction: discord.Interaction, custom_id: CustomId, asked: OpenDecision) -> None:
    """Show the sales that the user has chosen before they are done."""
    data: dict[str, Any] = dict(interaction.data or {})
    chosen = [str(value).partition(":")[2] for value in data.get("values", [])]
    try:
        preview = previews.preview_sales(asked.state, asked.seat, chosen, custom_id.max_argument_length)
    except (engine.RefusedError, engine.UnreadableError, engine.AmbiguousError) as error:
        await reply_text(interaction, f"Together that is not possible: {error}")
        return
    await reply(interaction, previews.sale_message(custom_id, asked.seat, preview))


async def _show_lays(
    interaction: discord.Interaction, custom_id: CustomId, asked: OpenDecision, drawing: Pictures
) -> None:
    """Show the hexes, all ways to lay a tile on one, or one of them on the map."""
    choices = asked.choices
    lays = lay_choices(choices)
    hex, _, page = custom_id.argument.partition("+")
    if custom_id.action == controls.LOOK_CLOSER:
        wanted = controls.find_choice(choices, custom_id.argument)
        lay = next((each for each in lays if choices[each.number] is wanted), None)
        if lay is not None:
            await _look_closer(interaction, custom_id, asked, lay, drawing)
            return
    elif not hex and page.isdecimal():
        items = hex_items(choices, lays, int(page))
        await reply(interaction, private_answers.menu_message(custom_id, "Lay a tile on", items))
        return
    elif on_hex := [each for each in lays if each.hex == hex]:
        ways = [(lay.tile, lay.rotation) for lay in on_hex]
        sheets = (await drawing.ways(asked.state, hex, ways))[:MAX_SHEETS]
        images = [ImageAttachment(f"ways-{n}.png", sheet) for n, sheet in enumerate(sheets, 1)]
        number = int(page) if page.isdecimal() else 0
        shown = previews.ways_message(custom_id, choices, on_hex, images, number, asked.state)
        await reply(interaction, shown, images)
        return
    await reply_text(interaction, CHOICES_CHANGED)


async def _look_closer(
    interaction: discord.Interaction,
    custom_id: CustomId,
    asked: OpenDecision,
    lay: LayChoice,
    drawing: Pictures,
) -> None:
    """Show the map with one lay, what it costs, and what the best run becomes."""
    line = asked.choices[lay.number].line
    tried = await asyncio.to_thread(previews.preview_lay, asked.state, asked.seat, line)
    picture = await lay_map(drawing, tried.state, lay.hex, tried.company, tried.routes)
    images = [ImageAttachment("map.png", picture)] if picture else []
    shown = previews.look_message(custom_id, asked.choices, lay, tried.text, images)
    await reply(interaction, shown, images)


# -- forms ---------------------------------------------------------------------------------


async def open_line_form(
    lines: LineInteractions, interaction: discord.Interaction, custom_id: CustomId
) -> None:
    """Ask for lines in a form, with one that is possible now as the example."""
    if not await lines.rejects_other_user(interaction, custom_id.table_id, custom_id.seat):
        example = next((choice.line for choice in await lines.choices(custom_id)), "pass")
        await interaction.response.send_modal(RawModal(private_answers.line_modal(custom_id, example)))


async def open_amount_form(
    lines: LineInteractions, interaction: discord.Interaction, custom_id: CustomId
) -> None:
    """Ask for the amount of a choice in a form."""
    if choice := await _amount_choice(lines, interaction, custom_id):
        await interaction.response.send_modal(RawModal(private_answers.amount_modal(custom_id, choice)))


async def submit_amount(
    lines: LineInteractions, interaction: discord.Interaction, custom_id: CustomId, typed: str
) -> None:
    """Submit the line of a choice with the amount that somebody has typed."""
    choice = await _amount_choice(lines, interaction, custom_id)
    if choice is None or choice.amounts is None:
        return
    amount = typed.strip().lstrip("$").replace(",", "")
    if not amount.isdecimal() or int(amount) not in choice.amounts:
        await reply(interaction, private_answers.wrong_amount_message(custom_id, choice, typed))
        return
    await lines.submit_lines(interaction, custom_id, [choice.line_for(int(amount))])


async def _amount_choice(
    lines: LineInteractions, interaction: discord.Interaction, custom_id: CustomId
) -> engine.Choice | None:
    """The choice with an amount that a control stands for; None after an answer that says why not."""
    if (open_decision := await lines.open_decision(interaction, custom_id)) is None:
        return None
    choice = controls.find_choice(open_decision.choices, custom_id.argument)
    if choice is None or choice.amounts is None:
        await reply_text(interaction, CHOICES_CHANGED)
        return None
    return choice
