"""What people do on Discord, whichever way they do it: press, choose, fill in, or write a command.

Every interaction is acknowledged before anything is asked of the store or drawn; only forms, which
have to be the acknowledgement themselves, are made from what is in memory first. What goes wrong is
told to the one who did it, in one sentence that nobody else sees. A press on a card that is carried
out needs no words: the card follows.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

import discord
from discord import ui

import engine
from bot.discord import cards, controls
from bot.discord.api import FileAttachment, OutgoingAttachment, RawView
from bot.discord.api import ImageAttachment as Picture
from bot.discord.cards import Json
from bot.discord.controls import CustomId
from bot.discord.delivery import card_ref, is_prompt_slot
from bot.service import text_views
from bot.service.commands import PLAN_WORDS
from bot.service.live_table import TableView, engine_seat
from bot.service.lobby import status_text
from bot.service.people import person_by_discord, player_name
from bot.service.picture_workers import PictureWorkers
from bot.service.results import (
    CommandResult,
    Completed,
    PollUpdated,
    QueryAnswer,
    StaleDecision,
)
from bot.service.service import Service
from bot.service.tables import TableInfo
from storage import GameTable, NotFound, StoreError, TableStatus

log = logging.getLogger(__name__)

DEFERRED_MESSAGE = discord.InteractionResponseType.deferred_channel_message
MAX_PREVIEWS = 4
CHOICES_CHANGED = "What can be said has changed since; look at the card as it is now."


class RawModal(ui.Modal):
    """A form as it is. It is finished before it is sent, so that the library keeps nothing of it."""

    def __init__(self, payload: Json) -> None:
        super().__init__(title="form", timeout=None)
        self._payload = payload
        self.stop()

    def to_dict(self) -> dict[str, Any]:
        return self._payload


async def reply(
    interaction: discord.Interaction,
    payload: list[Json],
    shown: Sequence[OutgoingAttachment] = (),
    *,
    public: bool = False,
) -> None:
    """Show something to who acted: in place of what was promised or of his menu, or as a new message."""
    files, view = [each.discord_file for each in shown], RawView(payload)
    response = interaction.response
    private = interaction.message is not None and interaction.message.flags.ephemeral
    if not response.is_done():
        await response.send_message(view=view, files=files, ephemeral=not public)
    elif response.type is DEFERRED_MESSAGE or private:
        await interaction.edit_original_response(view=view, attachments=files)
    else:
        await interaction.followup.send(view=view, files=files, ephemeral=not public)


async def reply_text(interaction: discord.Interaction, sentence: str) -> None:
    """Tell one sentence to who acted."""
    await reply(interaction, [cards.text_display(sentence)])


class InteractionHandler:
    """Turns interactions into what the service understands, and its answers into messages."""

    def __init__(self, service: Service, pictures: PictureWorkers) -> None:
        self.service, self.pictures = service, pictures
        self._person_ids: dict[int, int] = {}

    @staticmethod
    def log_error(error: BaseException) -> None:
        """Something of ours failed: to the log."""
        log.error("Discord: an interaction failed", exc_info=error)

    # -- who and where -----------------------------------------------------------------------

    async def person_id(self, user: discord.User | discord.Member) -> int:
        """The person with that Discord id, made at the first meeting."""
        if user.id not in self._person_ids:
            async with self.service.store.read() as unit:
                found = await unit.people.find_by_identity("discord", str(user.id))
            if found is None:
                async with self.service.store.begin() as unit:
                    found = await person_by_discord(unit, user.id, player_name(user.display_name))
            self._person_ids[user.id] = found.id
        return self._person_ids[user.id]

    async def resolve_table(
        self, interaction: discord.Interaction, code: str | None, statuses: Sequence[TableStatus] = ()
    ) -> TableInfo:
        """The table that is meant: the one named, that of the place, or the only one that waits.

        `statuses` narrows down what is not named. Raises ValueError with a sentence.
        """
        if code:
            return await self.service.find_table(code.split()[0])
        here = [t for t in await self._tables_here(interaction) if not statuses or t.status in statuses]
        if len(here) == 1:
            return await self.service.table_info(here[0].id)
        person = await self.person_id(interaction.user)
        mine = [
            t for t in await self.service.list_tables(person=person) if not statuses or t.status in statuses
        ]
        if here and (sitting := [t for t in mine if t.id in {each.id for each in here}]):
            mine = sitting
        waiting = [t for t in mine if t.status == "running" and t.seat_of(person) in t.acting_seats]
        for found in (waiting, mine):
            if len(found) == 1:
                return found[0]
        codes = [t.code for t in mine] or [t.code for t in here]
        if codes:
            raise ValueError(f"Which table? Fill in `table`: {text_views.join_words(codes, 'or')}.")
        raise ValueError("There is no such table here; `/table new` makes one, `/table list` shows all.")

    async def _tables_here(self, interaction: discord.Interaction) -> list[GameTable]:
        """The tables that are shown where somebody acts: those of the thread, or those of the channel."""
        channel = interaction.channel_id
        async with self.service.store.read() as unit:
            every = await unit.tables.all()
        exact = [t for t in every if t.location.get("thread") == channel]
        return exact or [t for t in every if t.location.get("channel") == channel and t.status != "ended"]

    async def matching_tables(self, interaction: discord.Interaction, typed: str) -> list[TableInfo]:
        """Tables for autocompletion: those that wait for who types, his others, the server's."""
        person = await self.person_id(interaction.user)
        mine = await self.service.list_tables(person=person)
        mine.sort(
            key=lambda t: (
                t.status != "running" or t.seat_of(person) not in t.acting_seats,
                t.status != "lobby",
            )
        )
        if interaction.guild_id is not None:
            known = {t.id for t in mine}
            guild = await self.service.list_tables(
                place=("guild", interaction.guild_id), statuses=("lobby", "running")
            )
            mine += [t for t in guild if t.id not in known]
        wanted = typed.casefold().strip()
        return [
            t for t in mine if wanted in f"{t.code} {t.title} {t.name}".casefold() and t.status != "ended"
        ]

    # -- what is said ------------------------------------------------------------------------

    async def submit_lines(
        self, interaction: discord.Interaction, key: CustomId, lines: Sequence[str], *, sure: bool = False
    ) -> None:
        """Say lines as the answer to what the key names, and show what came of it."""
        person = await self.person_id(interaction.user)
        view = await self.service.view(key.table_id)
        mine = view.table.seat_of(person)
        if key.seat is not None and mine != key.seat:
            await reply_text(interaction, cards.wrong_player_text(view.state, view.table.names, key.seat))
            return
        if not sure and (ending := self._confirmation_needed(view, mine, key, lines)):
            await reply(interaction, ending)
            return
        answer = await self.service.submit(
            key.table_id,
            mine,
            lines,
            key.decision_id,
            str(interaction.id),
            person=person,
            transport="discord",
        )
        await self.show_result(interaction, answer, view.table, mine)

    @staticmethod
    def _confirmation_needed(
        view: TableView, seat: int | None, key: CustomId, lines: Sequence[str]
    ) -> list[Json] | None:
        """The question whether he is sure, where a line would end the game."""
        if seat is None or view.state is None or view.state.game_over or len(lines) != 1:
            return None
        name = engine_seat(seat)
        try:
            action = engine.parse(view.state, name, lines[0])
            line = engine.format_action(view.state, action)
            if engine.play(view.state, name, action).state.game_over is None:
                return None
        except (engine.UnreadableError, engine.AmbiguousError, engine.RefusedError):
            return None
        sure = key._replace(
            seat=seat,
            decision_id=key.decision_id or view.decision_id_of(seat),
            action=controls.CONFIRM,
            argument=line,
        )
        return cards.confirmation_message(sure, line) if len(str(sure)) <= controls.MAX_CUSTOM_ID else None

    async def show_result(
        self, interaction: discord.Interaction, answer: CommandResult, table: TableInfo, seat: int | None
    ) -> None:
        """What came of what was said. A card needs no words: it follows by itself."""
        pressed = interaction.message is not None and not interaction.message.flags.ephemeral
        if pressed and isinstance(answer, Completed | PollUpdated):
            return
        link = await self._card_link(table, seat) if isinstance(answer, StaleDecision) else None
        if isinstance(answer, QueryAnswer):
            await self.show_picture(interaction, answer, table)
        else:
            await reply(interaction, cards.result_message(answer, table, seat, link))

    async def show_picture(
        self, interaction: discord.Interaction, answer: QueryAnswer, table: TableInfo, *, public: bool = False
    ) -> None:
        """What was asked to be shown: a picture where there is one and it can be drawn, or words."""
        state = (await self.service.view(table.id)).state
        drawn = None
        if answer.picture and answer.query != "board" and state is not None:
            drawn = await self.pictures.draw(answer.picture, answer.shown_state(state))
        shown: list[OutgoingAttachment] = [FileAttachment(file) for file in answer.files]
        parts = [
            cards.text_display(cards.result_text(answer)[0]),
            *cards.file_components([f.name for f in answer.files]),
        ]
        if drawn is not None and answer.picture:
            picture = Picture(f"{answer.picture}.png", drawn)
            words_too = parts if answer.query in (*PLAN_WORDS, "at") else []
            shown, parts = [*shown, picture], [*words_too, *cards.media_galleries([picture.ref])]
        await reply(interaction, parts, shown, public=public)

    async def _card_link(self, table: TableInfo, seat: int | None) -> str | None:
        """Where the card is that asks that seat, or any; until it is there, its thread."""
        guild, thread = table.location.get("guild"), table.location.get("thread")
        if guild is None or thread is None:
            return None
        async with self.service.store.read() as unit:
            kept = [card_ref(c) for c in await unit.tables.cards(table.id) if is_prompt_slot(c.slot)]
        found = next((r for r in kept if r.seat == seat), kept[0] if kept else None)
        where = f"{found.channel_id}/{found.message_id}" if found else thread
        return f"https://discord.com/channels/{guild}/{where}"

    # -- what is pressed ---------------------------------------------------------------------

    async def handle_control(
        self, interaction: discord.Interaction, key: CustomId, values: dict[str, str]
    ) -> None:
        """A control was used, or a form sent; `values` are those of its fields."""
        match key.action:
            case controls.SUBMIT_LINE | controls.CONFIRM:
                await interaction.response.defer()
                line = await self._line_of(key)
                if line is None:
                    await reply_text(interaction, CHOICES_CHANGED)
                else:
                    await self.submit_lines(interaction, key, [line], sure=key.action == controls.CONFIRM)
            case controls.OPEN_MENU:
                await self._open_menu(interaction, key)
            case controls.ENTER_AMOUNT if values:
                await interaction.response.defer()
                await self._submit_amount(interaction, key, values.get("amount", ""))
            case controls.ENTER_AMOUNT:
                await self._open_amount_modal(interaction, key)
            case controls.ENTER_LINE if values:
                await interaction.response.defer()
                lines = [line for line in values.get("line", "").split(";") if line.strip()]
                await self.submit_lines(interaction, key, lines)
            case controls.ENTER_LINE:
                if not await self._reject_other_user(interaction, key):
                    example = await self._example_line(key)
                    await interaction.response.send_modal(RawModal(cards.line_modal(key, example)))
            case controls.JOIN | controls.LEAVE | controls.START:
                await interaction.response.defer(ephemeral=True, thinking=True)
                await self.handle_lobby(interaction, await self.service.table_info(key.table_id), key.action)
            case _:
                await reply_text(
                    interaction, "This control is of another version of Railpost; use `/do` instead."
                )

    async def _choices(self, key: CustomId) -> list[engine.Choice]:
        return [] if key.seat is None else await self.service.choices(key.table_id, key.seat)

    async def _line_of(self, key: CustomId) -> str | None:
        """The line that a control stands for; None where its place among the choices is no longer that."""
        if not key.argument.startswith("#"):
            return key.argument
        found = controls.find_choice(await self._choices(key), key.argument)
        return found.line if found else None

    async def _example_line(self, key: CustomId) -> str:
        return next((c.line for c in await self._choices(key)), "pass")

    async def _reject_other_user(self, interaction: discord.Interaction, key: CustomId) -> bool:
        """Whether somebody else's control was used; he is told so."""
        view = await self.service.view(key.table_id)
        if key.seat is None or view.table.seat_of(await self.person_id(interaction.user)) == key.seat:
            return False
        await reply_text(interaction, cards.wrong_player_text(view.state, view.table.names, key.seat))
        return True

    async def _reject_stale(self, interaction: discord.Interaction, key: CustomId) -> bool:
        """Whether what a control answers no longer stands; who used it is told what has happened since."""
        view = await self.service.view(key.table_id)
        running = view.table.status == "running"
        if running and any((a.seat, a.decision_id) == (key.seat, key.decision_id) for a in view.pending):
            return False
        reason = await self._stale_text(view, key) if running else status_text(view.table.status)
        reason = reason if running else f"Table {view.table.code} is {reason}."
        link = await self._card_link(view.table, key.seat)
        await reply_text(interaction, f"{reason}\n[The card as it is now]({link})" if link else reason)
        return True

    async def _stale_text(self, view: TableView, key: CustomId) -> str:
        assert view.state is not None and key.seat is not None
        rows = await self.service.log_since_last_move(view.table.id, key.seat)
        happened = [f"- {each}" for each in cards.history_lines(rows, view.table.names)]
        now = text_views.waiting_sentence(view.state, view.pending)
        return "\n".join([f"That question is no longer open. {now}", *happened])

    async def _open_menu(self, interaction: discord.Interaction, key: CustomId) -> None:
        """The next level of a menu, for him alone."""
        message = interaction.message
        if message is not None and message.flags.ephemeral:
            await interaction.response.defer()
        else:
            await interaction.response.defer(ephemeral=True, thinking=True)
        if await self._reject_other_user(interaction, key) or await self._reject_stale(interaction, key):
            return
        choices = await self._choices(key)
        step = controls.parse_menu_position(key.argument)
        places = controls.choices_below(choices, step) if step else []
        if step is None or not places:
            await reply_text(interaction, CHOICES_CHANGED)
            return
        path = choices[places[0]].path[: step.depth]
        title = controls.capitalized(" · ".join(path)) or "Choose"
        shown = await self._tile_previews(key, [choices[i].line for i in places])
        items = controls.menu_items(choices, places, step.depth, step.page)
        await reply(interaction, cards.menu_message(key, title, items, [s.ref for s in shown]), shown)

    async def _tile_previews(self, key: CustomId, lines: Sequence[str]) -> list[Picture]:
        """Pictures of the ways in which tiles may be laid by these lines, where they lay few."""
        state = (await self.service.view(key.table_id)).state
        if state is None or key.seat is None or len(lines) > controls.MAX_OPTIONS:
            return []
        ways: dict[tuple[str, str], list[int]] = {}
        for hex, tile, turn in tile_lays(state, engine_seat(key.seat), lines):
            ways.setdefault((hex, tile), []).append(turn)
        if len(ways) > MAX_PREVIEWS:
            return []
        found = [(place, await self.pictures.tiles(state, *place, turns)) for place, turns in ways.items()]
        return [Picture(f"{hex}-{tile}.png", drawn) for (hex, tile), drawn in found if drawn is not None]

    async def _open_amount_modal(self, interaction: discord.Interaction, key: CustomId) -> None:
        if await self._reject_other_user(interaction, key) or await self._reject_stale(interaction, key):
            return
        choice = controls.find_choice(await self._choices(key), key.argument)
        if choice is None or choice.amounts is None:
            await reply_text(interaction, CHOICES_CHANGED)
        else:
            await interaction.response.send_modal(RawModal(cards.amount_modal(key, choice)))

    async def _submit_amount(self, interaction: discord.Interaction, key: CustomId, typed: str) -> None:
        if await self._reject_other_user(interaction, key) or await self._reject_stale(interaction, key):
            return
        choice = controls.find_choice(await self._choices(key), key.argument)
        if choice is None or choice.amounts is None:
            await reply_text(interaction, CHOICES_CHANGED)
            return
        figure = typed.strip().lstrip("$").replace(",", "")
        low = choice.amounts[0]
        if not figure.isdecimal() or int(figure) not in choice.amounts:
            await reply_text(
                interaction, f"{typed!r} will not do: {choice.label}, from ${low} to {choice.limit_text}."
            )
            return
        await self.submit_lines(interaction, key, [choice.line_for(int(figure))])

    # -- the lobby ---------------------------------------------------------------------------

    async def handle_lobby(
        self, interaction: discord.Interaction, table: TableInfo, act: str, name: str | None = None
    ) -> None:
        """Join, leave or start."""
        person = await self.person_id(interaction.user)
        if act == controls.JOIN:
            invited = next(
                (s.name for s in table.seated_players if s.person_id == person and not s.joined), None
            )
            wanted = name or invited or player_name(interaction.user.display_name)
            await self.service.join(table.id, person, wanted)
            await reply_text(interaction, f"You sit at table {table.code} as {wanted}.")
        elif act == controls.LEAVE:
            await self.service.leave(table.id, person, by=person)
            await reply_text(interaction, f"You have left table {table.code}.")
        else:
            await self.service.start(table.id, by=person)
            await reply_text(interaction, f"Table {table.code} begins; its thread follows.")


def tile_lays(state: engine.State, seat: str, lines: Iterable[str]) -> list[tuple[str, str, int]]:
    """The tiles that the lines would lay: hex, tile and rotation each; none where one lays nothing."""
    found = []
    for line in lines:
        try:
            events = engine.play(state, seat, engine.parse(state, seat, line)).events
        except (engine.UnreadableError, engine.AmbiguousError, engine.RefusedError):
            return []
        laid = next((event for event in events if isinstance(event, engine.TileLaid)), None)
        if laid is None:
            return []
        found.append((laid.hex, laid.tile, laid.rotation))
    return found


def error_text(error: BaseException) -> str:
    """What is told of an error: its own sentence where it is for people."""
    if isinstance(error, ValueError | StoreError | NotFound):
        return str(error)
    return "Something went wrong on our side, and nothing was changed by it. Please try again in a while."
