"""Interactions on Discord: buttons, select menus and modals.

Every interaction is acknowledged before the store is asked or anything is drawn. A modal is an
acknowledgement itself, so it is built from what is in memory. An error is reported to the user in one private
sentence. A button on a card that worked needs no message: the card is brought up to date.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import discord

import engine
from bot.discord.api import DISCORD_ERRORS, DiscordApi, ImageAttachment
from bot.discord.cards.card_builder import CardBuilder
from bot.discord.controls import controls, previews
from bot.discord.controls.controls import CustomId
from bot.discord.controls.decision_controls import LayChoice, hex_items, lay_choices, with_effects
from bot.discord.interactions import private_answers
from bot.discord.interactions.line_interactions import (
    CHOICES_CHANGED,
    LineInteractions,
    OpenDecision,
)
from bot.discord.interactions.page_interactions import PageInteractions
from bot.discord.interactions.privacy_interactions import PrivacyInteractions
from bot.discord.interactions.replies import (
    defer,
    defer_privately,
    error_text,
    is_answered_already,
    is_too_late,
    reply,
    reply_text,
)
from bot.discord.interactions.watch_interactions import WatchInteractions
from bot.discord.sessions import JOB
from bot.discord.table_lookup import TableLookup
from bot.hub.request import split_lines
from bot.pictures.views import lay_map
from bot.pictures.workers import Pictures, PictureWorkers
from bot.service import Service

log = logging.getLogger(__name__)

PATIENCE = 1.0  # seconds; Discord waits three for an acknowledgement
MAX_SHEETS = 10  # with the ways to lay a tile
OTHER_VERSION = "This control belongs to another version of Railpost. Use `/do` instead."


class InteractionHandler:
    """Gives each control to what it is about; commands find all of that here."""

    def __init__(self, service: Service, pictures: PictureWorkers, client: discord.Client) -> None:
        self.service = service
        self.builder = CardBuilder(service, pictures)
        self.lookup = TableLookup(service)
        self.lines = LineInteractions(service, self.lookup, pictures)
        self.pages = PageInteractions(self.lines)
        self.privacy = PrivacyInteractions(service, self.lookup)
        self.watch = WatchInteractions(service, self.lookup, DiscordApi(client), pictures)

    async def handle(self, interaction: discord.Interaction) -> None:
        """Handle a button, a select menu or a submitted modal."""
        data: dict[str, Any] = dict(interaction.data or {})
        await self.let_others_answer()
        try:
            custom_id = controls.parse_custom_id(_effective_custom_id(data))
            if custom_id is None:
                await reply_text(interaction, OTHER_VERSION)
            else:
                await self.handle_control(interaction, custom_id, _submitted_values(data))
        except Exception as error:
            await self.report_failure(interaction, error)

    async def let_others_answer(self) -> None:
        """Before an answer: wait a moment, if another process may have a session."""
        if self.service.jobs.is_uncertain(JOB):
            await asyncio.sleep(PATIENCE)

    async def report_failure(self, interaction: discord.Interaction, error: BaseException) -> None:
        """Answer the user of a control or of a command with one sentence; an internal error also goes to the
        log."""
        if interaction.client.is_closed():
            log.info("Discord: a press was not answered, because the connection is closed: %s", error)
        elif is_too_late(error):
            log.info("Discord: a press came too late to be answered: %s", error)
        elif is_answered_already(error):
            log.info("Discord: a press was answered before: %s", error)
            if self.service.jobs.is_uncertain(JOB):
                log.warning("Discord: another process answers, and the database does not; this session ends")
                await interaction.client.close()
        else:
            if isinstance(error, DISCORD_ERRORS):
                log.warning("Discord: an interaction could not be answered: %s", error)
            elif not isinstance(error, ValueError):
                log.error("Discord: an interaction failed", exc_info=error)
            if interaction.type is discord.InteractionType.autocomplete:
                return
            try:
                await reply_text(interaction, error_text(error))
            except (*DISCORD_ERRORS, RuntimeError) as send_error:  # such as: the session is closed
                log.warning("Discord: an interaction could not be answered: %s", send_error)

    async def handle_control(
        self, interaction: discord.Interaction, custom_id: CustomId, values: dict[str, str]
    ) -> None:
        """Handle a control, or a submitted modal with the `values` of its fields."""
        match custom_id.action:
            case controls.SUBMIT_LINE:
                if custom_id.decision_id is None:  # of a line that is no move, the answer is shown
                    await defer_privately(interaction)
                else:
                    await interaction.response.defer()
                await self.lines.press(interaction, custom_id)
            case controls.ENTER_AMOUNT if values:
                await interaction.response.defer()
                await self.lines.submit_amount(interaction, custom_id, values.get("amount", ""))
            case controls.ENTER_AMOUNT:
                await self.lines.open_amount_form(interaction, custom_id)
            case controls.ENTER_LINE if values:
                await interaction.response.defer()
                await self.lines.submit_lines(interaction, custom_id, split_lines(values.get("line", "")))
            case controls.ENTER_LINE:
                await self.lines.open_line_form(interaction, custom_id)
            case controls.OPEN_MENU | controls.OPEN_TILES | controls.LOOK_CLOSER | controls.SELL:
                await self._open_private(interaction, custom_id)
            case controls.OPEN_CARD:
                await defer(interaction)
                await self.show_own_card(interaction, custom_id.table_id, custom_id.seat)
            case controls.PAGE:
                await self.pages.press(interaction, custom_id, values.get("line"))
            case controls.WATCH:
                await self.watch.press(interaction, custom_id, values.get("position"))
            case controls.ERASE:
                await self.privacy.erase(interaction)
            case _:
                await reply_text(interaction, OTHER_VERSION)

    async def show_own_card(
        self, interaction: discord.Interaction, table_id: int, seat: int | None = None
    ) -> None:
        """Show the user what they have to decide, with its controls, in a private message.

        seat: whose card was asked for; only its player sees it.
        """
        if await self.lines.rejects_other_user(interaction, table_id, seat):
            return
        view = await self.service.queries.view(table_id)
        reader = await self.lookup.person_id(interaction.user)
        own_seat = view.table.seat_of(reader) if seat is None else seat
        own = [each for each in view.pending if each.seat == own_seat]
        if not own or view.table.status != "running":
            is_stopped = view.table.status in ("paused", "ended")
            waiting = f"Nothing waits for you at this table. {view.waiting_sentence}".rstrip()
            await reply_text(interaction, view.table.status_sentence if is_stopped else waiting)
            return
        built = await self.builder.turn(view, own[:1], view.seq, reader)
        await reply(interaction, built.payload, built.images, plain=built.plain)

    async def _open_private(self, interaction: discord.Interaction, custom_id: CustomId) -> None:
        """Show what a control of a decision opens, in a private message."""
        await defer_privately(interaction)
        if (asked := await self.lines.open_decision(interaction, custom_id)) is None:
            return
        match custom_id.action:
            case controls.OPEN_MENU:
                await self._open_menu(interaction, custom_id, asked)
            case controls.SELL:
                await self._preview_sales(interaction, custom_id, asked)
            case _:
                drawing = await self.lines.drawing(asked.view.table, interaction.user)
                await _show_lays(interaction, custom_id, asked, drawing)

    async def _open_menu(
        self, interaction: discord.Interaction, custom_id: CustomId, asked: OpenDecision
    ) -> None:
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

    async def _preview_sales(
        self, interaction: discord.Interaction, custom_id: CustomId, asked: OpenDecision
    ) -> None:
        """Show the sales that the user has chosen before they are done."""
        data: dict[str, Any] = dict(interaction.data or {})
        chosen = [str(value).partition(":")[2] for value in data.get("values", [])]
        try:
            preview = previews.preview_sales(asked.state, asked.seat, chosen)
        except (engine.RefusedError, engine.UnreadableError, engine.AmbiguousError) as error:
            await reply_text(interaction, f"Together that is not possible: {error}")
            return
        await reply(interaction, previews.sale_message(custom_id, asked.seat, preview))


def _effective_custom_id(data: dict[str, Any]) -> str:
    """The custom id of a control; for a select menu with the action and argument of the chosen option."""
    custom_id = str(data.get("custom_id", ""))
    parsed = controls.parse_custom_id(custom_id)
    if parsed is None or parsed.action != controls.SELECT or not data.get("values"):
        return custom_id
    action, _, argument = str(data["values"][0]).partition(":")
    return str(parsed._replace(action=action, argument=argument))


def _submitted_values(data: dict[str, Any]) -> dict[str, str]:
    """The values of a modal's fields, by their custom ids."""
    values: dict[str, str] = {}
    for part in data.get("components", []):
        inner = [part["component"]] if "component" in part else part.get("components", [])
        values |= {each["custom_id"]: str(each.get("value") or "") for each in inner if "custom_id" in each}
    return values


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
        refs = [each.ref for each in images]
        shown = previews.ways_message(custom_id, choices, on_hex, refs, number, asked.state)
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
    refs = [each.ref for each in images]
    await reply(interaction, previews.look_message(custom_id, asked.choices, lay, tried.text, refs), images)
