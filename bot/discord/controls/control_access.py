"""Whose a control is, and whether its decision is still open."""

from __future__ import annotations

import discord

from bot.discord.cards import card_texts
from bot.discord.controls.controls import CustomId
from bot.discord.interactions import private_answers
from bot.discord.interactions.replies import defer_privately, reply_text
from bot.discord.table_lookup import TableLookup
from bot.discord.threads import card_link
from bot.hub.info import status_text
from bot.hub.table import TableView
from bot.service import Service


class ControlAccess:
    """Checks controls; who may not use one, or not any more, gets a private message that says why."""

    def __init__(self, service: Service, lookup: TableLookup) -> None:
        self.service, self.lookup = service, lookup

    async def reject_other_user(self, interaction: discord.Interaction, custom_id: CustomId) -> bool:
        """Whether the control belongs to another player; then the user gets a message that says so."""
        view = await self.service.queries.view(custom_id.table_id)
        if (
            custom_id.seat is None
            or view.table.seat_of(await self.lookup.person_id(interaction.user)) == custom_id.seat
        ):
            return False
        await reply_text(
            interaction, private_answers.wrong_player_text(view.state, view.table.names, custom_id.seat)
        )
        return True

    async def reject_stale(self, interaction: discord.Interaction, custom_id: CustomId) -> bool:
        """Whether the control's decision has passed; then the user gets a message with the events since."""
        view = await self.service.queries.view(custom_id.table_id)
        running = view.table.status == "running"
        if running and any(
            (each.seat, each.decision_id) == (custom_id.seat, custom_id.decision_id) for each in view.pending
        ):
            return False
        reason = await self._stale_text(view, custom_id) if running else status_text(view.table.status)
        reason = reason if running else f"Table {view.table.code} is {reason}."
        link = await card_link(self.service, view.table, custom_id.seat)
        await reply_text(interaction, f"{reason}\n[The card as it is now]({link})" if link else reason)
        return True

    async def _stale_text(self, view: TableView, custom_id: CustomId) -> str:
        assert view.state is not None and custom_id.seat is not None
        entries = await self.service.queries.log_since_last_move(view.table.id, custom_id.seat)
        events = [f"- {each}" for each in card_texts.history_lines(entries, view.table.names)]
        now = f"That decision is no longer open. {view.waiting_sentence}".rstrip()
        return "\n".join([now, *events])

    async def open_private(self, interaction: discord.Interaction, custom_id: CustomId) -> bool:
        """Acknowledge a control that opens or changes a private message; whether the user may go on."""
        await defer_privately(interaction)
        return not (
            await self.reject_other_user(interaction, custom_id)
            or await self.reject_stale(interaction, custom_id)
        )
