"""`/watch`: a game that is played elsewhere is shown to a channel, in one post that is kept up to date.

Everybody in the channel may press the buttons of the post; only the presser sees what they show.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import discord

import engine
from bot.discord.api import CannotEdit, DiscordApi
from bot.discord.cards import parts
from bot.discord.cards.parts import ImageAttachment, Json
from bot.discord.controls.controls import NO_TABLE, WATCH, CustomId
from bot.discord.interactions.line_interactions import LineInteractions
from bot.discord.interactions.replies import RawModal, defer_privately, reply, reply_text
from bot.discord.table_lookup import resolve_table
from bot.features.game_files.feature import game_text_file
from bot.features.watch.feature import REFRESH, WatchedGame, may_be_shown_elsewhere
from bot.hub.cache import keyed_locks
from bot.hub.info import TableInfo
from bot.pictures.views import NamedPicture, picture_file_name
from bot.pictures.workers import WATCHED, Pictures, PictureWorkers
from bot.position.controls import Show
from bot.service import Service

POSITION = "position"
MAX_POSITION, MAX_SHOWN = 4000, 3000
"""Characters that a form takes, and that are given back."""
EXAMPLE = f"title {engine.title_names()[0]}\nplayers Ann, Bob, Cid\n---\n@ owns Ann PRR 6\n@ par PRR 100"
HOW = (
    "Give a game as a file (`file`), by its address (`url`), or a table (`table`). The file may be written "
    f"by hand, for a position around a real table:\n```\n{EXAMPLE}\n```"
)


class WatchInteractions:
    """Posts snapshots, and edits them when the same game is given again."""

    def __init__(
        self, service: Service, lines: LineInteractions, api: DiscordApi, pictures: PictureWorkers
    ) -> None:
        self._service, self._lines, self._api, self._workers = service, lines, api, pictures
        self._lock = keyed_locks()

    @property
    def _pictures(self) -> Pictures:
        """Pictures for one post; games that are watched take turns with each other."""
        return self._workers.for_table(WATCHED, "light", post="answer")

    async def show(
        self,
        interaction: discord.Interaction,
        raw: bytes = b"",
        table: TableInfo | None = None,
        *,
        url: str = "",
        news: bool = False,
    ) -> None:
        """Show the game of a file or of a page in the channel of the interaction. Raises ValueError. table:
        whose game it is. news: an edit is told in a message of its own too."""
        channel, watcher = interaction.channel, self._service.watcher
        if channel is None or not interaction.guild_id:
            raise ValueError("A game is shown to a channel of a server.")
        place = _place(channel.id)
        person_id = await self._lines.person_id(interaction)
        async with self._lock(channel.id):
            asked = (
                watcher.look_at(url, place, person_id) if url else watcher.look(raw, place, person_id, table)
            )
            game = await asked
            message, told = await self._post(channel, game, str(interaction.id), news=news)
            await watcher.keep(game, place, message)
        link = f"https://discord.com/channels/{interaction.guild_id}/{channel.id}/{message}"
        await reply_text(interaction, f"{told}: {link}")

    async def _post(
        self, channel: discord.abc.Snowflake, game: WatchedGame, key: str, *, news: bool
    ) -> tuple[str, str]:
        """Edit the post of a game, or make one: its id, and what is said of it. Raises ValueError."""
        images = _attachments(await self._service.watcher.draw(game, self._pictures))
        payload = [
            parts.text_display(game.text),
            *parts.media_galleries(images),
            *_buttons(game.controls),
        ]
        message = game.message
        try:
            if message:
                await self._api.edit(self._api.message(channel.id, int(message)), payload, (), images)
        except CannotEdit:
            message = ""
        try:
            if not message:
                posted = await self._api.send(channel, payload, key, (), images)
                return str(posted.id), "The game is shown"
            if news and game.since != game.snapshot.moves:
                await self._api.send(channel, [parts.text_display(game.text)], f"{key}.news")
        except discord.Forbidden:
            raise ValueError(
                "Railpost may not write or attach files here; a moderator of the server can allow it."
            ) from None
        return message, "The post is up to date"

    async def file_of_table(self, interaction: discord.Interaction, code: str) -> tuple[bytes, TableInfo]:
        """The game of a table of this server, with the table, if the user may see it and show it here. Raises
        ValueError."""
        table = await resolve_table(self._lines, interaction, code)
        if interaction.channel_id not in (table.location.get("channel"), table.location.get("thread")):
            async with self._service.store.read() as unit:
                is_allowed = await may_be_shown_elsewhere(unit, table)
            if not is_allowed:
                raise ValueError(
                    f"Table {table.code} is shown only in its own channel, unless its host writes "
                    "`watching on` there."
                )
        file = await game_text_file(await self._service.queries.history(table.id), table)
        if file is None:
            raise ValueError(f"The game of table {table.code} began from a position, so it cannot be shown.")
        return file.content, table

    async def offer_form(self, interaction: discord.Interaction) -> None:
        """Say what can be shown, with the button of the form that takes a position."""
        button = parts.button("Position…", str(_custom_id(POSITION)))
        await reply(interaction, [parts.text_display(HOW), *parts.action_rows([button])])

    async def press(
        self, interaction: discord.Interaction, custom_id: CustomId, position: str | None = None
    ) -> None:
        """Answer a button of a post, or of the private message that leafs through its rounds. Raises
        ValueError. position: from the form."""
        if custom_id.argument == POSITION and position is None:
            await interaction.response.send_modal(RawModal(position_modal()))
            return
        await defer_privately(interaction)
        if position is not None:
            await self._show_position(interaction, position)
            return
        if interaction.channel is None or interaction.message is None:
            return
        what, message, number = (*custom_id.argument.split("."), "", "")[:3]
        message = message or str(interaction.message.id)
        if what == REFRESH:
            url = await self._service.watcher.url_of(_place(interaction.channel.id), message)
            await self.show(interaction, url=url)
            return
        person_id = await self._lines.person_id(interaction)
        answer = await self._service.watcher.answer(
            _place(interaction.channel.id), message, person_id, f"{what} {number}".strip(), self._pictures
        )
        images = _attachments(answer.pictures)
        text = [parts.text_display(answer.text)] if answer.text else []
        shown = parts.media_galleries(images)
        await reply(interaction, [*text, *shown, *_buttons(answer.controls, message)], images)

    async def _show_position(self, interaction: discord.Interaction, position: str) -> None:
        """Show a position; one with a mistake is given back with the reason, so that it can be corrected."""
        try:
            await self.show(interaction, position.encode())
        except ValueError as error:
            button = parts.button("Position…", str(_custom_id(POSITION)))
            written = f"```\n{position[:MAX_SHOWN]}\n```"
            shown = [parts.text_display(str(error)), parts.text_display(written)]
            await reply(interaction, [*shown, *parts.action_rows([button])])


def position_modal() -> Json:
    """The form that takes a position written by hand."""
    how = "A title, the players, a line ---, then lines with @"
    return parts.modal(
        "Show a position", str(_custom_id(POSITION)), "Position", "position", how,
        style=2, max_length=MAX_POSITION, placeholder=EXAMPLE,
    )  # fmt: skip


def _place(channel_id: int) -> str:
    return f"discord:{channel_id}"


def _custom_id(argument: str) -> CustomId:
    return CustomId(NO_TABLE, None, None, WATCH, argument)


def _buttons(controls: Sequence[Show], message: str = "") -> list[Json]:
    """The buttons of a post, or of the private answer to a button of post `message`."""
    found = []
    for control in controls:
        what, _, number = control.question.partition(" ")
        argument = ".".join([what, message, number]) if number else what
        found.append(parts.button(control.label, str(_custom_id(argument))))
    return parts.action_rows(found)


def _attachments(drawn: Iterable[NamedPicture]) -> list[ImageAttachment]:
    return [ImageAttachment(picture_file_name(kind, 0, each), each) for kind, each in drawn]
