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

from bot.discord.api import DISCORD_ERRORS, DiscordApi
from bot.discord.cards.card_builder import CardBuilder
from bot.discord.controls import controls
from bot.discord.controls.controls import CustomId
from bot.discord.interactions import dialogues
from bot.discord.interactions.line_interactions import LineInteractions
from bot.discord.interactions.replies import (
    SHARED,
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
from bot.hub.request import split_lines
from bot.pictures.workers import PictureWorkers
from bot.service import Service

log = logging.getLogger(__name__)

PATIENCE = 1.0  # seconds; Discord waits three for an acknowledgement
NOTHING_STORED = "Nothing is stored about you."
ERASED = "Everything about you is deleted. Messages that Discord no longer lets us edit stay where they are."
OTHER_VERSION = "This control belongs to another version of Railpost. Use `/do` instead."


class InteractionHandler:
    """Gives each control to what it is about; commands find all of that here."""

    def __init__(
        self, service: Service, pictures: PictureWorkers, builder: CardBuilder, client: discord.Client
    ) -> None:
        self.service, self.builder = service, builder
        self.lines = LineInteractions(service, pictures)
        self.watch = WatchInteractions(service, self.lines, DiscordApi(client), pictures)

    async def handle(self, interaction: discord.Interaction) -> None:
        """Handle a button, a select menu or a submitted modal."""
        data: dict[str, Any] = dict(interaction.data or {})
        await self.let_others_answer(interaction)
        try:
            custom_id = controls.parse_custom_id(_effective_custom_id(data))
            if custom_id is None:
                await reply_text(interaction, OTHER_VERSION)
            else:
                await self.handle_control(interaction, custom_id, _submitted_values(data))
        except Exception as error:
            await self.report_failure(interaction, error)

    async def let_others_answer(self, interaction: discord.Interaction) -> None:
        """Before an answer: wait a moment, if another process may have a session."""
        if self.service.jobs.is_uncertain(JOB):
            interaction.extras[SHARED] = True
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
                    await defer(interaction, answers=False)
                await self.lines.press(interaction, custom_id)
            case controls.ENTER_AMOUNT if values:
                await defer(interaction, answers=False)
                await dialogues.submit_amount(self.lines, interaction, custom_id, values.get("amount", ""))
            case controls.ENTER_AMOUNT:
                await dialogues.open_amount_form(self.lines, interaction, custom_id)
            case controls.ENTER_LINE if values:
                await defer(interaction, answers=False)
                await self.lines.submit_lines(interaction, custom_id, split_lines(values.get("line", "")))
            case controls.ENTER_LINE:
                await dialogues.open_line_form(self.lines, interaction, custom_id)
            case controls.OPEN_MENU | controls.OPEN_TILES | controls.LOOK_CLOSER | controls.SELL:
                await dialogues.open_private(self.lines, interaction, custom_id)
            case controls.OPEN_CARD:
                await defer(interaction)
                await self.show_own_card(interaction, custom_id.table_id, custom_id.seat)
            case controls.PAGE:
                await self.lines.press_page(interaction, custom_id, values.get("line"))
            case controls.WATCH:
                await self.watch.press(interaction, custom_id, values.get("position"))
            case controls.ERASE:
                await self._erase(interaction)
            case _:
                await reply_text(interaction, OTHER_VERSION)

    async def _erase(self, interaction: discord.Interaction) -> None:
        """Delete the user."""
        await defer_privately(interaction)
        person_id = await self.lines.known_person_id(interaction)
        if person_id:
            await self.service.personal_data.erase(person_id)
        await reply_text(interaction, ERASED if person_id else NOTHING_STORED)

    async def show_own_card(
        self, interaction: discord.Interaction, table_id: int, seat: int | None = None
    ) -> None:
        """Show the user what they have to decide, with its controls, in a private message.

        seat: whose card was asked for; only its player sees it.
        """
        if await self.lines.rejects_other_user(interaction, table_id, seat):
            return
        view = await self.service.queries.view(table_id)
        reader = await self.lines.person_id(interaction)
        own_seat = view.table.seat_of(reader) if seat is None else seat
        own = [each for each in view.pending if each.seat == own_seat]
        if not own or view.table.status != "running":
            is_stopped = view.table.status in ("paused", "ended")
            waiting = f"Nothing waits for you at this table. {view.waiting_sentence}".rstrip()
            await reply_text(interaction, view.table.status_sentence if is_stopped else waiting)
            return
        built = await self.builder.turn(view, own[:1], view.seq, reader, post="answer")
        await reply(interaction, built.payload, built.images, plain=built.plain)


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
