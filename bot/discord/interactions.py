"""Interactions on Discord: buttons, select menus and modals, and what slash commands share with them.

Every interaction is acknowledged before the store is asked or anything is drawn. A modal is an
acknowledgement itself, so it is built from what is in memory. An error is reported to the user in one private
sentence. A button on a card that worked needs no message: the card is brought up to date.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import discord

import engine
from bot.discord import controls, message_parts, private_answers, sale_preview
from bot.discord.api import DiscordApi, FileAttachment, OutgoingAttachment
from bot.discord.card_builder import CardBuilder, image_attachments
from bot.discord.control_checks import CHOICES_CHANGED, ControlChecks
from bot.discord.controls import CustomId
from bot.discord.lobby_interactions import LobbyInteractions
from bot.discord.message_parts import Json
from bot.discord.order_interactions import OrderInteractions
from bot.discord.plan_interactions import PlanInteractions
from bot.discord.replies import RawModal, is_too_late, reply, reply_text, split_lines
from bot.discord.settings_interactions import SettingsInteractions
from bot.discord.table_links import card_link
from bot.discord.table_lookup import TableLookup
from bot.discord.table_threads import TableThreads
from bot.discord.tile_interactions import TileInteractions
from bot.service import text_views
from bot.service.answer_pictures import PICTURES_SAY_ALL, answer_pictures
from bot.service.live_table import TableView, engine_seat
from bot.service.picture_workers import Pictures, PictureWorkers
from bot.service.results import CommandResult, Completed, PollUpdated, QueryAnswer, StaleDecision
from bot.service.service import Service
from bot.service.tables import TableInfo

log = logging.getLogger(__name__)

OTHER_VERSION = "This control belongs to another version of Railpost. Use `/do` instead."


class InteractionHandler:
    """Turns interactions into commands of the service, and their results into messages."""

    def __init__(self, service: Service, pictures: PictureWorkers, client: discord.Client) -> None:
        self.service, self.pictures = service, pictures
        self.builder = CardBuilder(service, TableThreads(service, DiscordApi(client)), pictures)
        self.plans = PlanInteractions(service, pictures)
        self.lookup = TableLookup(service)
        self.checks = ControlChecks(service, self.lookup)
        self.tiles = TileInteractions(service, self.checks, self.drawing)
        self.settings = SettingsInteractions(service, self.lookup)
        self.orders = OrderInteractions(service, self.lookup, self.show_result)
        self.lobby = LobbyInteractions(service, self.lookup)

    @staticmethod
    def log_error(error: BaseException) -> None:
        """Log an internal error."""
        if is_too_late(error):
            log.info("Discord: a press came too late to be answered: %s", error)
        else:
            log.error("Discord: an interaction failed", exc_info=error)

    # -- lines -------------------------------------------------------------------------------

    async def submit_lines(
        self,
        interaction: discord.Interaction,
        custom_id: CustomId,
        lines: Sequence[str],
        *,
        confirmed: bool = False,
    ) -> None:
        """Submit lines for the decision that the custom id names, and show the result.

        A line that would end the game is submitted only when `confirmed`.
        """
        person_id = await self.lookup.person_id(interaction.user)
        view = await self.service.queries.view(custom_id.table_id)
        seat = view.table.seat_of(person_id)
        if custom_id.seat is not None and seat != custom_id.seat:
            await reply_text(
                interaction, private_answers.wrong_player_text(view.state, view.table.names, custom_id.seat)
            )
            return
        if not confirmed and (question := self._confirmation_needed(view, seat, custom_id, lines)):
            await reply(interaction, question)
            return
        result = await self.service.submit(
            custom_id.table_id,
            seat,
            lines,
            custom_id.decision_id,
            str(interaction.id),
            person_id=person_id,
            transport="discord",
        )
        await self.show_result(interaction, result, view.table, seat, lines)

    @staticmethod
    def _confirmation_needed(
        view: TableView, seat: int | None, custom_id: CustomId, lines: Sequence[str]
    ) -> list[Json] | None:
        """The question to confirm a line that would end the game; None for any other line."""
        if seat is None or view.state is None or view.state.game_over or len(lines) != 1:
            return None
        player = engine_seat(seat)
        try:
            action = engine.parse(view.state, player, lines[0])
            line = engine.format_action(view.state, action)
            if engine.play(view.state, player, action).state.game_over is None:
                return None
        except (engine.UnreadableError, engine.AmbiguousError, engine.RefusedError):
            return None
        confirm = custom_id._replace(
            seat=seat,
            decision_id=custom_id.decision_id or view.decision_id_of(seat),
            action=controls.CONFIRM,
            argument=line,
        )
        return (
            private_answers.confirmation_message(confirm, line)
            if len(str(confirm)) <= controls.MAX_CUSTOM_ID
            else None
        )

    async def show_result(
        self,
        interaction: discord.Interaction,
        result: CommandResult,
        table: TableInfo,
        seat: int | None,
        submitted: Sequence[str] = (),
    ) -> None:
        """Show the result of a command. A button on a card that worked needs no message."""
        on_card = interaction.message is not None and not interaction.message.flags.ephemeral
        if on_card and isinstance(result, Completed | PollUpdated):
            return
        link = await card_link(self.service, table, seat) if isinstance(result, StaleDecision) else None
        if isinstance(result, QueryAnswer):
            await self.show_picture(interaction, result, table)
        else:
            await reply(interaction, private_answers.result_message(result, table, seat, link, submitted))

    async def show_picture(
        self, interaction: discord.Interaction, result: QueryAnswer, table: TableInfo, *, public: bool = False
    ) -> None:
        """Show the result of a query: as a picture where there is one and it can be drawn, else as text."""
        view = await self.service.queries.view(table.id)
        drawing = await self.drawing(view.table, None if public else interaction.user)
        named = await answer_pictures(self.service.queries, drawing, view, result)
        images = [] if result.query == "board" else image_attachments(named)
        attachments: list[OutgoingAttachment] = [FileAttachment(file) for file in result.files]
        components = [
            message_parts.text_display(private_answers.result_text(result)[0]),
            *message_parts.file_components([f.name for f in result.files]),
        ]
        plain = components
        if images:
            texts = [] if result.query in PICTURES_SAY_ALL else components
            galleries = message_parts.media_galleries([each.ref for each in images])
            attachments, components = [*attachments, *images], [*texts, *galleries]
        await reply(interaction, components, attachments, public=public, plain=plain)

    async def drawing(self, table: TableInfo, user: discord.User | discord.Member | None) -> Pictures:
        """Pictures of a table in the palette of a user, or of the table, for everybody."""
        reader = await self.lookup.person_id(user) if user else None
        return self.pictures.for_table(table.id, await self.service.settings.palette(table, reader))

    # -- controls ----------------------------------------------------------------------------

    async def handle_control(
        self, interaction: discord.Interaction, custom_id: CustomId, values: dict[str, str]
    ) -> None:
        """Handle a control, or a submitted modal with the `values` of its fields."""
        match custom_id.action:
            case controls.SUBMIT_LINE | controls.CONFIRM:
                await interaction.response.defer()
                line = await self.checks.line_of(custom_id)
                if line is None:
                    await reply_text(interaction, CHOICES_CHANGED)
                else:
                    confirmed = custom_id.action == controls.CONFIRM
                    await self.submit_lines(interaction, custom_id, split_lines(line), confirmed=confirmed)
            case controls.OPEN_MENU:
                await self._open_menu(interaction, custom_id)
            case controls.ENTER_AMOUNT if values:
                await interaction.response.defer()
                await self._submit_amount(interaction, custom_id, values.get("amount", ""))
            case controls.ENTER_AMOUNT:
                await self._open_amount_modal(interaction, custom_id)
            case controls.ENTER_LINE if values and custom_id.argument == "plan":
                await self._show_plan(interaction, custom_id, f"more {values.get('line', '')}")
            case controls.ENTER_LINE if values:
                await interaction.response.defer()
                await self.submit_lines(interaction, custom_id, split_lines(values.get("line", "")))
            case controls.ENTER_LINE:
                if not await self.checks.reject_other_user(interaction, custom_id):
                    example = await self.checks.example_line(custom_id)
                    await interaction.response.send_modal(
                        RawModal(private_answers.line_modal(custom_id, example))
                    )
            case controls.OPEN_TILES | controls.LOOK_CLOSER:
                await self.tiles.show(interaction, custom_id)
            case controls.TRY | controls.TRY_LINE:
                more = custom_id.action == controls.TRY_LINE
                line = f"more {custom_id.argument}" if more else custom_id.argument or "show"
                await self._show_plan(interaction, custom_id, line)
            case controls.SELL:
                await self._preview_sales(interaction, custom_id)
            case controls.OPEN_CARD:
                await interaction.response.defer(ephemeral=True, thinking=True)
                await self.show_own_card(interaction, custom_id.table_id, custom_id.seat)
            case controls.JOIN | controls.LEAVE | controls.START | controls.KEEP:
                await interaction.response.defer(ephemeral=True, thinking=True)
                await self.lobby.act(
                    interaction, await self.service.queries.table_info(custom_id.table_id), custom_id.action
                )
            case controls.AGREE | controls.DECLINE:
                await interaction.response.defer(ephemeral=True, thinking=True)
                table = await self.service.queries.table_info(custom_id.table_id)
                await self.lobby.answer_about_robots(interaction, table, custom_id.action == controls.AGREE)
            case controls.CLAIM if custom_id.seat is not None:
                await interaction.response.defer(ephemeral=True, thinking=True)
                await self.lobby.claim_seat(interaction, custom_id.table_id, custom_id.seat)
            case controls.SETTING:
                await self.settings.change(interaction, custom_id.argument, values.get("line"))
            case controls.ORDER:
                await self.orders.leave(interaction, custom_id, values.get("line"))
            case _:
                await reply_text(interaction, OTHER_VERSION)

    async def show_own_card(
        self, interaction: discord.Interaction, table_id: int, seat: int | None = None
    ) -> None:
        """Show the user what they have to decide, with its controls, in a private message.

        seat: whose card was asked for; only its player sees it.
        """
        view = await self.service.queries.view(table_id)
        reader = await self.lookup.person_id(interaction.user)
        own_seat = view.table.seat_of(reader)
        if seat is not None and seat != own_seat:
            await reply_text(
                interaction, private_answers.wrong_player_text(view.state, view.table.names, seat)
            )
            return
        own = [each for each in view.pending if each.seat == own_seat]
        if not own or view.table.status != "running":
            reason = "Nothing waits for you at this table."
            if view.state is not None:
                reason = f"{reason} {text_views.waiting_sentence(view.state, view.pending)}"
            await reply_text(interaction, reason)
            return
        built = await self.builder.turn(view, own[:1], view.seq, reader)
        await reply(interaction, built.payload, built.images, plain=built.plain)

    async def _open_menu(self, interaction: discord.Interaction, custom_id: CustomId) -> None:
        """Show the next level of a menu in a private message."""
        if not await self.checks.open_private(interaction, custom_id):
            return
        choices = await self.checks.choices(custom_id)
        position = controls.parse_menu_position(custom_id.argument)
        indices = controls.choices_below(choices, position) if position else []
        if position is None or not indices:
            await reply_text(interaction, CHOICES_CHANGED)
            return
        path = choices[indices[0]].path[: position.depth]
        title = controls.capitalized(" · ".join(path)) or "Choose"
        items = controls.menu_items(choices, indices, position.depth, position.page)
        await reply(interaction, private_answers.menu_message(custom_id, title, items))

    async def _show_plan(self, interaction: discord.Interaction, custom_id: CustomId, line: str) -> None:
        """Carry out `plan LINE`, and show the plan in a private message."""
        message = interaction.message
        if message is not None and message.flags.ephemeral:
            await interaction.response.defer()
        else:
            await interaction.response.defer(ephemeral=True, thinking=True)
        if await self.checks.reject_other_user(interaction, custom_id):
            return
        person_id = await self.lookup.person_id(interaction.user)
        payload, images = await self.plans.show(interaction, custom_id, person_id, line)
        await reply(interaction, payload, images)

    async def _preview_sales(self, interaction: discord.Interaction, custom_id: CustomId) -> None:
        """Show the sales that the user has chosen before they are done."""
        if not await self.checks.open_private(interaction, custom_id):
            return
        state = (await self.service.queries.view(custom_id.table_id)).state
        assert state is not None and custom_id.seat is not None
        data: dict[str, Any] = dict(interaction.data or {})
        chosen = [str(value).partition(":")[2] for value in data.get("values", [])]
        seat = engine_seat(custom_id.seat)
        try:
            preview = sale_preview.preview_sales(state, seat, chosen)
        except (engine.RefusedError, engine.UnreadableError, engine.AmbiguousError) as error:
            await reply_text(interaction, f"Together that is not possible: {error}")
            return
        await reply(interaction, sale_preview.sale_message(custom_id, seat, preview))

    async def _open_amount_modal(self, interaction: discord.Interaction, custom_id: CustomId) -> None:
        if await self.checks.reject_other_user(interaction, custom_id) or await self.checks.reject_stale(
            interaction, custom_id
        ):
            return
        choice = controls.find_choice(await self.checks.choices(custom_id), custom_id.argument)
        if choice is None or choice.amounts is None:
            await reply_text(interaction, CHOICES_CHANGED)
        else:
            await interaction.response.send_modal(RawModal(private_answers.amount_modal(custom_id, choice)))

    async def _submit_amount(self, interaction: discord.Interaction, custom_id: CustomId, typed: str) -> None:
        if await self.checks.reject_other_user(interaction, custom_id) or await self.checks.reject_stale(
            interaction, custom_id
        ):
            return
        choice = controls.find_choice(await self.checks.choices(custom_id), custom_id.argument)
        if choice is None or choice.amounts is None:
            await reply_text(interaction, CHOICES_CHANGED)
            return
        amount = typed.strip().lstrip("$").replace(",", "")
        low = choice.amounts[0]
        if not amount.isdecimal() or int(amount) not in choice.amounts:
            await reply_text(
                interaction, f"{typed!r} is not possible: {choice.label}, from ${low} to {choice.limit_text}."
            )
            return
        await self.submit_lines(interaction, custom_id, [choice.line_for(int(amount))])
