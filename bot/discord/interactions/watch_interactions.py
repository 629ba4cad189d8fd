"""`/watch`: a game that is played elsewhere is shown to a channel, in one post that is kept up to date."""

from __future__ import annotations

import discord

from bot.discord.api import CannotEdit, DiscordApi, ImageAttachment
from bot.discord.cards import parts
from bot.discord.cards.parts import Json
from bot.discord.interactions.replies import reply_text
from bot.discord.table_lookup import TableLookup
from bot.pictures.wanted import picture_file_name
from bot.pictures.workers import PictureWorkers
from bot.service import Service


class WatchInteractions:
    """Posts snapshots, and edits them when the same game is given again."""

    def __init__(
        self, service: Service, lookup: TableLookup, api: DiscordApi, pictures: PictureWorkers
    ) -> None:
        self._service, self._lookup, self._api, self._pictures = service, lookup, api, pictures

    async def show(self, interaction: discord.Interaction, raw: bytes, *, news: bool) -> None:
        """Show the game of a file in the channel of the interaction. Raises ValueError. news: an edit is told
        in a message of its own too."""
        channel, watcher = interaction.channel, self._service.watcher
        if channel is None or not interaction.guild_id:
            raise ValueError("A game is shown to a channel of a server.")
        place = f"discord:{channel.id}"
        person_id = await self._lookup.person_id(interaction.user)
        game = await watcher.look(raw, place, person_id)
        drawn = await watcher.draw(game, self._pictures)
        images = [ImageAttachment(picture_file_name(kind, 0, each), each) for kind, each in drawn]
        payload = [parts.text_display(game.text), *parts.media_galleries([each.ref for each in images])]
        message, told = await self._edit(channel, game.message, payload, images), "The post is up to date"
        try:
            if not message:
                message = str((await self._api.send(channel, payload, str(interaction.id), (), images)).id)
                told = "The game is shown"
            elif news and game.since != game.snapshot.moves:
                await self._api.send(channel, [parts.text_display(game.text)], f"{interaction.id}.news")
        except discord.Forbidden:
            raise ValueError(
                "Railpost may not write or attach files here; a moderator of the server can allow it."
            ) from None
        await watcher.keep(game, place, message)
        link = f"https://discord.com/channels/{interaction.guild_id}/{channel.id}/{message}"
        await reply_text(interaction, f"{told}: {link}")

    async def _edit(
        self, channel: object, message: str, payload: list[Json], images: list[ImageAttachment]
    ) -> str:
        """Edit the last post of the game; its id, empty where there is none that can be edited."""
        if not message:
            return ""
        try:
            await self._api.edit(channel.get_partial_message(int(message)), payload, (), images)  # type: ignore[attr-defined]
        except CannotEdit:
            return ""
        return message
