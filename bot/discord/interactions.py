"""Interactions on Discord: buttons, select menus and modals, and what slash commands share with them.

Every interaction is acknowledged before the store is asked or anything is drawn. A modal is an
acknowledgement itself, so it is built from what is in memory. An error is reported to the user in one private
sentence. A button on a card that worked needs no message: the card is brought up to date.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

import discord
from discord import ui

import engine
from bot.discord import (
    card_texts,
    controls,
    lay_controls,
    message_parts,
    order_card,
    private_answers,
    sale_preview,
    settings_card,
    tile_menu,
)
from bot.discord.api import (
    CANNOT_SEND_CODES,
    UNKNOWN_INTERACTION,
    DiscordApi,
    FileAttachment,
    ImageAttachment,
    OutgoingAttachment,
    RawView,
)
from bot.discord.card_builder import CardBuilder, image_attachments
from bot.discord.controls import CustomId
from bot.discord.message_parts import Json
from bot.discord.plan_interactions import PlanInteractions
from bot.discord.table_links import card_link
from bot.discord.table_threads import TableThreads
from bot.service import text_views
from bot.service.answer_pictures import PICTURES_SAY_ALL, answer_pictures
from bot.service.images import routes_shown
from bot.service.live_table import TableView, engine_seat
from bot.service.people import person_by_discord, player_name
from bot.service.picture_workers import Pictures, PictureWorkers
from bot.service.results import (
    CommandResult,
    Completed,
    PollUpdated,
    QueryAnswer,
    StaleDecision,
)
from bot.service.robot_answers import answer_about_robots
from bot.service.service import Service
from bot.service.tables import TableInfo, status_text
from storage import GameTable, NotFound, StoreError, TableStatus

log = logging.getLogger(__name__)

DEFERRED_MESSAGE = discord.InteractionResponseType.deferred_channel_message
MAX_SHEETS = 10
CHOICES_CHANGED = "The choices have changed since then. Please look at the card as it is now."
OTHER_VERSION = "This control belongs to another version of Railpost. Use `/do` instead."


class RawModal(ui.Modal):
    """A finished payload of a modal. It is stopped before it is sent, so the library does not keep it."""

    def __init__(self, payload: Json) -> None:
        super().__init__(title="form", timeout=None)
        self._payload = payload
        self.stop()

    def to_dict(self) -> dict[str, Any]:
        return self._payload


async def reply(
    interaction: discord.Interaction,
    payload: list[Json],
    attachments: Sequence[OutgoingAttachment] = (),
    *,
    public: bool = False,
    plain: list[Json] | None = None,
) -> None:
    """Answer an interaction with a message: it replaces a deferred answer or a private menu, or is new.

    `public`: everybody sees it; otherwise only the user does. `plain`: the message where no files may be
    attached.
    """
    try:
        await _reply(interaction, payload, attachments, public)
    except discord.Forbidden as error:
        if not attachments or error.code not in CANNOT_SEND_CODES:
            raise
        await _reply(interaction, plain or message_parts.without_files(payload), (), public)


async def _reply(
    interaction: discord.Interaction,
    payload: list[Json],
    attachments: Sequence[OutgoingAttachment],
    public: bool,
) -> None:
    files, view = [each.discord_file for each in attachments], RawView(payload)
    response = interaction.response
    private = interaction.message is not None and interaction.message.flags.ephemeral
    if not response.is_done():
        await response.send_message(view=view, files=files, ephemeral=not public)
    elif response.type is DEFERRED_MESSAGE or private:
        await interaction.edit_original_response(view=view, attachments=files)
    else:
        await interaction.followup.send(view=view, files=files, ephemeral=not public)


async def reply_text(interaction: discord.Interaction, sentence: str) -> None:
    """Answer an interaction with a private sentence."""
    await reply(interaction, [message_parts.text_display(sentence)])


class InteractionHandler:
    """Turns interactions into commands of the service, and their results into messages."""

    def __init__(self, service: Service, pictures: PictureWorkers, client: discord.Client) -> None:
        self.service, self.pictures = service, pictures
        self.builder = CardBuilder(service, TableThreads(service, DiscordApi(client)), pictures)
        self.plans = PlanInteractions(service, pictures)
        self._person_ids: dict[int, int] = {}

    @staticmethod
    def log_error(error: BaseException) -> None:
        """Log an internal error."""
        if is_too_late(error):
            log.info("Discord: a press came too late to be answered: %s", error)
        else:
            log.error("Discord: an interaction failed", exc_info=error)

    # -- people and tables -------------------------------------------------------------------

    async def person_id(self, user: discord.User | discord.Member) -> int:
        """The id of the person with that Discord account; a new account gets a new person."""
        if user.id not in self._person_ids:
            async with self.service.store.read() as unit:
                person = await unit.people.find_by_identity("discord", str(user.id))
            if person is None:
                async with self.service.store.begin() as unit:
                    person = await person_by_discord(unit, user.id, player_name(user.display_name))
            self._person_ids[user.id] = person.id
        return self._person_ids[user.id]

    async def resolve_table(
        self, interaction: discord.Interaction, code: str | None, statuses: Sequence[TableStatus] = ()
    ) -> TableInfo:
        """The table that a command is about.

        It is the table with that `code`; without a code the only table of the thread or channel, the only
        one that waits for the user, or the only one of the user. `statuses` limits the choice where there is
        no code. Raises ValueError with a sentence for the user.
        """
        if code:
            return await self.service.queries.find_table(
                code.split()[0],
                person_id=await self.person_id(interaction.user),
                guild=interaction.guild_id,
            )
        here = [t for t in await self._tables_here(interaction) if not statuses or t.status in statuses]
        if len(here) == 1:
            return await self.service.queries.table_info(here[0].id)
        person_id = await self.person_id(interaction.user)
        mine = [
            t
            for t in await self.service.queries.list_tables(person_id=person_id)
            if not statuses or t.status in statuses
        ]
        if here and (own_here := [t for t in mine if t.id in {each.id for each in here}]):
            mine = own_here
        waiting = [t for t in mine if t.status == "running" and t.seat_of(person_id) in t.acting_seats]
        for candidates in (waiting, mine):
            if len(candidates) == 1:
                return candidates[0]
        codes = [t.code for t in mine] or [t.code for t in here]
        if codes:
            raise ValueError(f"Which table? Fill in `table`: {text_views.join_words(codes, 'or')}.")
        raise ValueError("There is no such table here. `/table new` opens one, `/table list` shows all.")

    async def _tables_here(self, interaction: discord.Interaction) -> list[GameTable]:
        """The tables of the thread in which a user acts, or of the channel."""
        channel = interaction.channel_id
        async with self.service.store.read() as unit:
            if in_thread := await unit.tables.find(location=("thread", channel)):
                return in_thread
            tables = await unit.tables.find(location=("channel", channel))
        return [table for table in tables if table.status != "ended"]

    async def matching_tables(self, interaction: discord.Interaction, typed: str) -> list[TableInfo]:
        """Tables for autocompletion: those that wait for the user, their others, then the server's."""
        person_id = await self.person_id(interaction.user)
        mine = await self.service.queries.list_tables(person_id=person_id)
        mine.sort(
            key=lambda t: (
                t.status != "running" or t.seat_of(person_id) not in t.acting_seats,
                t.status != "lobby",
            )
        )
        if interaction.guild_id is not None:
            own_ids = {t.id for t in mine}
            others = await self.service.queries.list_tables(
                location=("guild", interaction.guild_id), statuses=("lobby", "running")
            )
            mine += [t for t in others if t.id not in own_ids]
        wanted = typed.casefold().strip()
        return [
            t for t in mine if wanted in f"{t.code} {t.title} {t.name}".casefold() and t.status != "ended"
        ]

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
        person_id = await self.person_id(interaction.user)
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
        reader = await self.person_id(user) if user else None
        return self.pictures.for_table(table.id, await self.service.settings.palette(table, reader))

    # -- settings ----------------------------------------------------------------------------

    async def show_settings(self, interaction: discord.Interaction, said: str = "") -> None:
        """Show the settings of a user as a private card."""
        settings = await self.service.settings.settings(await self.person_id(interaction.user))
        lines = settings.lines(self.service.store.now())
        await reply(interaction, settings_card.settings_card(lines, said))

    async def _change_settings(
        self, interaction: discord.Interaction, argument: str, entered: str | None
    ) -> None:
        """Change settings by a control of the card, or open its form."""
        form = settings_card.form_of(argument)
        if form is not None and entered is None:
            await interaction.response.send_modal(RawModal(settings_card.form_modal(argument, form)))
            return
        await interaction.response.defer()
        lines = settings_card.lines_of(argument, entered)
        try:
            said = await self.service.settings.apply(await self.person_id(interaction.user), lines)
        except ValueError as error:
            said = str(error)
        await self.show_settings(interaction, said)

    # -- orders ------------------------------------------------------------------------------

    async def show_orders(self, interaction: discord.Interaction, table_id: int, said: str = "") -> None:
        """Show the orders of a user at a table as a private card."""
        person_id = await self.person_id(interaction.user)
        view = await self.service.queries.view(table_id)
        seat = view.table.seat_of(person_id)
        listed = await self.service.submit(
            table_id, None, ["auto"], None, None, person_id=person_id, transport="discord"
        )
        if seat is None or view.state is None or not isinstance(listed, QueryAnswer):
            await self.show_result(interaction, listed, view.table, seat)
            return
        await reply(interaction, order_card.order_card(table_id, seat, view.state, listed.text, said))

    async def _leave_order(
        self, interaction: discord.Interaction, custom_id: CustomId, entered: str | None
    ) -> None:
        """Leave or take back orders by a control of the card, or open its form."""
        if not custom_id.argument:
            await interaction.response.defer(ephemeral=True, thinking=True)
            await self.show_orders(interaction, custom_id.table_id)
            return
        form = order_card.order_form(custom_id.argument)
        if form is not None and entered is None:
            modal = order_card.order_modal(custom_id.table_id, custom_id.argument, form)
            await interaction.response.send_modal(RawModal(modal))
            return
        await interaction.response.defer()
        result = await self.service.submit(
            custom_id.table_id,
            None,
            order_card.order_lines(custom_id.argument, entered),
            None,
            str(interaction.id),
            person_id=await self.person_id(interaction.user),
            transport="discord",
        )
        await self.show_orders(interaction, custom_id.table_id, private_answers.result_text(result)[0])

    # -- controls ----------------------------------------------------------------------------

    async def handle_control(
        self, interaction: discord.Interaction, custom_id: CustomId, values: dict[str, str]
    ) -> None:
        """Handle a control, or a submitted modal with the `values` of its fields."""
        match custom_id.action:
            case controls.SUBMIT_LINE | controls.CONFIRM:
                await interaction.response.defer()
                line = await self._line_of(custom_id)
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
                if not await self._reject_other_user(interaction, custom_id):
                    example = await self._example_line(custom_id)
                    await interaction.response.send_modal(
                        RawModal(private_answers.line_modal(custom_id, example))
                    )
            case controls.OPEN_TILES | controls.LOOK_CLOSER:
                await self._show_tiles(interaction, custom_id)
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
                await self.handle_lobby(
                    interaction, await self.service.queries.table_info(custom_id.table_id), custom_id.action
                )
            case controls.AGREE | controls.DECLINE:
                await interaction.response.defer(ephemeral=True, thinking=True)
                table = await self.service.queries.table_info(custom_id.table_id)
                await self.answer_about_robots(interaction, table, custom_id.action == controls.AGREE)
            case controls.CLAIM if custom_id.seat is not None:
                await interaction.response.defer(ephemeral=True, thinking=True)
                await self.claim_seat(interaction, custom_id.table_id, custom_id.seat)
            case controls.SETTING:
                await self._change_settings(interaction, custom_id.argument, values.get("line"))
            case controls.ORDER:
                await self._leave_order(interaction, custom_id, values.get("line"))
            case _:
                await reply_text(interaction, OTHER_VERSION)

    async def show_own_card(
        self, interaction: discord.Interaction, table_id: int, seat: int | None = None
    ) -> None:
        """Show the user what they have to decide, with its controls, in a private message.

        seat: whose card was asked for; only its player sees it.
        """
        view = await self.service.queries.view(table_id)
        reader = await self.person_id(interaction.user)
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

    async def _choices(self, custom_id: CustomId) -> list[engine.Choice]:
        return (
            []
            if custom_id.seat is None
            else await self.service.queries.choices(custom_id.table_id, custom_id.seat)
        )

    async def _line_of(self, custom_id: CustomId) -> str | None:
        """The line that a control submits; None where the choices have changed since it was sent."""
        if not custom_id.argument.startswith("#"):
            return custom_id.argument
        choice = controls.find_choice(await self._choices(custom_id), custom_id.argument)
        return choice.line if choice else None

    async def _example_line(self, custom_id: CustomId) -> str:
        return next((c.line for c in await self._choices(custom_id)), "pass")

    async def _reject_other_user(self, interaction: discord.Interaction, custom_id: CustomId) -> bool:
        """Whether the control belongs to another player; then the user gets a message that says so."""
        view = await self.service.queries.view(custom_id.table_id)
        if (
            custom_id.seat is None
            or view.table.seat_of(await self.person_id(interaction.user)) == custom_id.seat
        ):
            return False
        await reply_text(
            interaction, private_answers.wrong_player_text(view.state, view.table.names, custom_id.seat)
        )
        return True

    async def _reject_stale(self, interaction: discord.Interaction, custom_id: CustomId) -> bool:
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
        now = text_views.waiting_sentence(view.state, view.pending)
        return "\n".join([f"That decision is no longer open. {now}", *events])

    async def _open_private(self, interaction: discord.Interaction, custom_id: CustomId) -> bool:
        """Acknowledge a control that opens or changes a private message; whether the user may go on."""
        message = interaction.message
        if message is not None and message.flags.ephemeral:
            await interaction.response.defer()
        else:
            await interaction.response.defer(ephemeral=True, thinking=True)
        return not (
            await self._reject_other_user(interaction, custom_id)
            or await self._reject_stale(interaction, custom_id)
        )

    async def _open_menu(self, interaction: discord.Interaction, custom_id: CustomId) -> None:
        """Show the next level of a menu in a private message."""
        if not await self._open_private(interaction, custom_id):
            return
        choices = await self._choices(custom_id)
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
        if await self._reject_other_user(interaction, custom_id):
            return
        person_id = await self.person_id(interaction.user)
        payload, images = await self.plans.show(interaction, custom_id, person_id, line)
        await reply(interaction, payload, images)

    async def _preview_sales(self, interaction: discord.Interaction, custom_id: CustomId) -> None:
        """Show the sales that the user has chosen before they are done."""
        if not await self._open_private(interaction, custom_id):
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

    # -- tile lays ---------------------------------------------------------------------------

    async def _show_tiles(self, interaction: discord.Interaction, custom_id: CustomId) -> None:
        """Show the hexes, all ways to lay a tile on one, or one of them on the map."""
        if not await self._open_private(interaction, custom_id):
            return
        choices = await self._choices(custom_id)
        lays = lay_controls.lay_choices(choices)
        hex, _, page = custom_id.argument.partition("+")
        if custom_id.action == controls.LOOK_CLOSER:
            wanted = controls.find_choice(choices, custom_id.argument)
            lay = next((each for each in lays if choices[each.number] is wanted), None)
            if lay is not None:
                await self._look_closer(interaction, custom_id, choices, lay)
                return
        elif not hex and page.isdecimal():
            items = lay_controls.hex_items(choices, lays, int(page))
            await reply(interaction, private_answers.menu_message(custom_id, "Lay a tile on", items))
            return
        elif on_hex := [each for each in lays if each.hex == hex]:
            images = await self._tile_pictures(interaction.user, custom_id, on_hex)
            refs = [each.ref for each in images]
            number = int(page) if page.isdecimal() else 0
            await reply(interaction, tile_menu.ways_message(custom_id, choices, on_hex, refs, number), images)
            return
        await reply_text(interaction, CHOICES_CHANGED)

    async def _tile_pictures(
        self,
        user: discord.User | discord.Member,
        custom_id: CustomId,
        lays: Sequence[lay_controls.LayChoice],
    ) -> list[ImageAttachment]:
        """Pictures of all ways to lay a tile on one hex, numbered like the options."""
        view = await self.service.queries.view(custom_id.table_id)
        assert view.state is not None
        ways = [(lay.tile, lay.rotation) for lay in lays]
        sheets = await (await self.drawing(view.table, user)).ways(view.state, lays[0].hex, ways)
        return [ImageAttachment(f"ways-{n}.png", sheet) for n, sheet in enumerate(sheets[:MAX_SHEETS], 1)]

    async def _look_closer(
        self,
        interaction: discord.Interaction,
        custom_id: CustomId,
        choices: Sequence[engine.Choice],
        lay: lay_controls.LayChoice,
    ) -> None:
        """Show the map with one lay, what it costs, and what the best run becomes."""
        view = await self.service.queries.view(custom_id.table_id)
        assert view.state is not None and custom_id.seat is not None
        seat, line = engine_seat(custom_id.seat), choices[lay.number].line
        tried = await asyncio.to_thread(tile_menu.preview_lay, view.state, seat, line)
        routes = routes_shown(tried.state, tried.company, tried.routes)
        drawing = await self.drawing(view.table, interaction.user)
        picture = await drawing.map(tried.state, highlight=(lay.hex,), routes=routes, company=tried.company)
        images = [ImageAttachment("map.png", picture)] if picture else []
        refs = [each.ref for each in images]
        await reply(interaction, tile_menu.look_message(custom_id, choices, lay, tried.text, refs), images)

    async def _open_amount_modal(self, interaction: discord.Interaction, custom_id: CustomId) -> None:
        if await self._reject_other_user(interaction, custom_id) or await self._reject_stale(
            interaction, custom_id
        ):
            return
        choice = controls.find_choice(await self._choices(custom_id), custom_id.argument)
        if choice is None or choice.amounts is None:
            await reply_text(interaction, CHOICES_CHANGED)
        else:
            await interaction.response.send_modal(RawModal(private_answers.amount_modal(custom_id, choice)))

    async def _submit_amount(self, interaction: discord.Interaction, custom_id: CustomId, typed: str) -> None:
        if await self._reject_other_user(interaction, custom_id) or await self._reject_stale(
            interaction, custom_id
        ):
            return
        choice = controls.find_choice(await self._choices(custom_id), custom_id.argument)
        if choice is None or choice.amounts is None:
            await reply_text(interaction, CHOICES_CHANGED)
            return
        amount = typed.strip().lstrip("$").replace(",", "")
        low = choice.amounts[0]
        if not amount.isdecimal() or int(amount) not in choice.amounts:
            await reply_text(
                interaction,
                f"{typed!r} is not possible: {choice.label}, from ${low} to {choice.limit_text}.",
            )
            return
        await self.submit_lines(interaction, custom_id, [choice.line_for(int(amount))])

    # -- the lobby ---------------------------------------------------------------------------

    async def handle_lobby(
        self, interaction: discord.Interaction, table: TableInfo, action: str, name: str | None = None
    ) -> None:
        """Join or leave a table, or start its game."""
        person_id = await self.person_id(interaction.user)
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
        person_id = await self.person_id(interaction.user)
        answer = await answer_about_robots(self.service, table, person_id, agrees=agrees)
        await reply_text(interaction, answer)

    async def claim_seat(self, interaction: discord.Interaction, table_id: int, seat: int) -> None:
        """The user asks for an empty seat, or plays on in one of a game that came from elsewhere."""
        person_id = await self.person_id(interaction.user)
        name = player_name(interaction.user.display_name)
        seat_name = (await self.service.queries.table_info(table_id)).names[seat]
        await reply_text(
            interaction, await self.service.seats.ask(table_id, person_id, name, seat_name=seat_name)
        )


def split_lines(text: str) -> list[str]:
    """The lines in a text that separates them by semicolons."""
    return [line.strip() for line in text.split(";") if line.strip()]


def is_too_late(error: BaseException) -> bool:
    """Whether Discord did not wait long enough for the acknowledgement; then nothing was done."""
    return isinstance(error, discord.HTTPException) and error.code == UNKNOWN_INTERACTION


def error_text(error: BaseException) -> str:
    """The sentence that a user reads about an error; an internal error is not explained."""
    if isinstance(error, ValueError | StoreError | NotFound):
        return str(error)
    return "An internal error has occurred. Nothing was changed. Please try again later."
