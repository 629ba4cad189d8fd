"""`/watch`: a game that is played elsewhere is shown to a channel, in one post that is kept up to date.

Everybody in the channel may press the buttons of the post; only the presser sees what they show.
"""

from __future__ import annotations

import asyncio

import discord

import engine
from bot.discord.api import CannotEdit, DiscordApi, ImageAttachment
from bot.discord.cards import parts
from bot.discord.cards.parts import Json
from bot.discord.controls.controls import NO_TABLE, WATCH, CustomId
from bot.discord.interactions.replies import RawModal, defer_privately, reply, reply_text
from bot.discord.table_lookup import TableLookup
from bot.features.game_files.export import game_text_file
from bot.features.review.feature import chart_of
from bot.features.review.game import played_game
from bot.features.review.review import Review
from bot.features.review.texts import turns_text
from bot.features.watch.feature import KeptGame
from bot.features.watch.permission import may_be_shown_elsewhere
from bot.features.watch.snapshot import Snapshot, drawings, news
from bot.hub.info import TableInfo
from bot.hub.result import ReviewChart
from bot.pictures.wanted import draw_of_game, picture_file_name
from bot.pictures.workers import WATCHED, Pictures, PictureWorkers
from bot.service import Service

CHANGED, LARGER, ROUNDS, ANIMATION, REVIEW = "changed", "larger", "rounds", "animation", "review"
REFRESH, POSITION = "refresh", "position"
MAX_POSITION, MAX_SHOWN = 4000, 3000
"""Characters that a form takes, and that are given back."""
EXAMPLE = f"title {engine.title_names()[0]}\nplayers Ann, Bob, Cid\n---\n@ owns Ann PRR 6\n@ par PRR 100"
HOW = (
    "Give a game as a file (`file`), by its address (`url`), or a table (`table`). A position around a real "
    "table is written by hand, as docs/snapshots.md shows."
)
MOST_NEWS, NEWS_LENGTH = 40, 300
LARGE = (2560, 1920)  # pixels


class WatchInteractions:
    """Posts snapshots, and edits them when the same game is given again."""

    def __init__(
        self, service: Service, lookup: TableLookup, api: DiscordApi, pictures: PictureWorkers
    ) -> None:
        self._service, self._lookup, self._api, self._workers = service, lookup, api, pictures

    @property
    def _pictures(self) -> Pictures:
        """Pictures for one post; games that are watched take turns with each other."""
        return self._workers.for_table(WATCHED, "light", post="answer")

    async def show(
        self, interaction: discord.Interaction, raw: bytes = b"", *, url: str = "", news: bool = False
    ) -> None:
        """Show the game of a file or of a page in the channel of the interaction. Raises ValueError. news: an
        edit is told in a message of its own too."""
        channel, watcher = interaction.channel, self._service.watcher
        if channel is None or not interaction.guild_id:
            raise ValueError("A game is shown to a channel of a server.")
        place = _place(channel.id)
        person_id = await self._lookup.person_id(interaction.user)
        asked = watcher.look_at(url, place, person_id) if url else watcher.look(raw, place, person_id)
        game = await asked
        drawn = await watcher.draw(game, self._pictures)
        images = [ImageAttachment(picture_file_name(kind, 0, each), each) for kind, each in drawn]
        galleries = parts.media_galleries([each.ref for each in images])
        payload = [
            parts.text_display(game.text),
            *galleries,
            *_buttons(game.snapshot, is_read=bool(game.url)),
        ]
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

    async def file_of_table(self, interaction: discord.Interaction, code: str) -> bytes:
        """The game of a table of this server, if the user may see it and show it here. Raises ValueError."""
        table = await self._lookup.resolve_table(interaction, code)
        if not _sees(interaction.user, _room(interaction, table)):
            raise ValueError(f"You cannot see the channel of table {table.code}, so you cannot show it.")
        if interaction.channel_id not in _own_channels(table):
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
        return file.content

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
        person_id = await self._lookup.person_id(interaction.user)
        kept = await self._service.watcher.kept(_place(interaction.channel.id), message, person_id)
        payload, images = await self._answer(kept, what, message, number)
        shown = parts.media_galleries([each.ref for each in images])
        at = 1 if payload else 0  # the pictures are below the text and above the buttons
        await reply(interaction, [*payload[:at], *shown, *payload[at:]], images)

    async def _show_position(self, interaction: discord.Interaction, position: str) -> None:
        """Show a position; one with a mistake is given back with the reason, so that it can be corrected."""
        try:
            await self.show(interaction, position.encode())
        except ValueError as error:
            button = parts.button("Position…", str(_custom_id(POSITION)))
            written = f"```\n{position[:MAX_SHOWN]}\n```"
            shown = [parts.text_display(str(error)), parts.text_display(written)]
            await reply(interaction, [*shown, *parts.action_rows([button])])

    async def _answer(
        self, kept: KeptGame, what: str, message: str, number: str
    ) -> tuple[list[Json], list[ImageAttachment]]:
        """The text and buttons, and the pictures, of an answer."""
        snapshot = kept.snapshot
        match what:
            case "changed":
                return [parts.text_display("\n".join(_changes(kept)))], []
            case "larger":
                large = await self._pictures.map(snapshot.state, size=LARGE)
                return [], [ImageAttachment("map.png", large)] if large else []
            case "rounds":
                return await self._round(snapshot, message, number)
            case "animation":
                drawn = await draw_of_game(
                    self._pictures, snapshot.history.start, _events(snapshot), "animation"
                )
                return [], [ImageAttachment("animation.gif", drawn)] if drawn else []
            case _:
                text, chart = await asyncio.to_thread(_review, snapshot)
                drawn = await self._pictures.review(snapshot.history.start, _events(snapshot), chart)
                images = [ImageAttachment(picture_file_name("review", 0, drawn), drawn)] if drawn else []
                return [parts.text_display(text)], images

    async def _round(
        self, snapshot: Snapshot, message: str, number: str
    ) -> tuple[list[Json], list[ImageAttachment]]:
        """The map and the market at the end of a round, with what has changed in it marked."""
        rounds = snapshot.rounds()
        at = min(max(int(number), 0), len(rounds) - 1) if number.isdecimal() else len(rounds) - 1
        moves, name = rounds[at]
        then = snapshot.at(moves)
        since = rounds[at - 1][0] if at else 0
        drawn = [
            (kind, await self._pictures.request(kind, then.state, (), details))
            for kind, details in drawings(then, since, ("map", "market"))
        ]
        images = [ImageAttachment(f"{kind}.png", each) for kind, each in drawn if each]
        steps = [
            parts.button(label, str(_custom_id(f"{ROUNDS}.{message}.{to}")))
            for label, to in (("◀", at - 1), ("▶", at + 1))
            if 0 <= to < len(rounds)
        ]
        text = f"**{parts.escape_markdown(name)}**, {at + 1} of {len(rounds)}, after {moves} moves"
        return [parts.text_display(text), *parts.action_rows(steps)], images


def position_modal() -> Json:
    """The form that takes a position written by hand."""
    field = {
        "type": 4, "custom_id": "position", "style": 2, "required": True, "max_length": MAX_POSITION,
        "placeholder": EXAMPLE,
    }  # fmt: skip
    label = {"type": 18, "label": "Position", "component": field,
             "description": "A title, the players, a line ---, then lines with @"}  # fmt: skip
    return {"title": "Show a position", "custom_id": str(_custom_id(POSITION)), "components": [label]}


def _sees(user: discord.User | discord.Member, room: discord.abc.GuildChannel | None) -> bool:
    """Whether a user sees a channel; not where it is not known."""
    if room is None or not isinstance(user, discord.Member):
        return False
    return room.permissions_for(user).view_channel


def _own_channels(table: TableInfo) -> set[object]:
    """The ids of the channel and the thread of a table."""
    return {table.location.get("channel"), table.location.get("thread")} - {None}


def _room(interaction: discord.Interaction, table: TableInfo) -> discord.abc.GuildChannel | None:
    """The channel of a table, as far as the server is known."""
    guild, channel = interaction.guild, table.location.get("channel")
    return guild.get_channel(int(channel)) if guild and channel else None


def _place(channel_id: int) -> str:
    return f"discord:{channel_id}"


def _custom_id(argument: str) -> CustomId:
    return CustomId(NO_TABLE, None, None, WATCH, argument)


def _buttons(snapshot: Snapshot, *, is_read: bool) -> list[Json]:
    """The buttons of a post. is_read: from a page, which can be read again."""
    shown = [
        ("What changed", CHANGED),
        ("Map larger", LARGER),
        ("◀ Rounds ▶", ROUNDS),
        ("Animation", ANIMATION),
    ]
    if snapshot.state.game_over:
        shown.append(("Review", REVIEW))
    elif is_read:
        shown.append(("Refresh", REFRESH))
    return parts.action_rows([parts.button(label, str(_custom_id(what))) for label, what in shown])


def _changes(kept: KeptGame) -> list[str]:
    """What has changed since the snapshot before; where this is the first, in the round that is on."""
    if kept.since is not None:
        return news(kept.snapshot, kept.since, MOST_NEWS, NEWS_LENGTH)
    rounds = kept.snapshot.rounds()
    begun = rounds[-2][0] if len(rounds) > 1 else 0
    _, *told = news(kept.snapshot, begun, MOST_NEWS, NEWS_LENGTH)
    return [f"This is the first snapshot. Since {rounds[-1][1]} began:", *told]


def _events(snapshot: Snapshot) -> tuple[bytes, ...]:
    """The events of each move, as they are stored."""
    return tuple(engine.encode_events(line.events) for line in snapshot.history.lines)


def _review(snapshot: Snapshot) -> tuple[str, ReviewChart]:
    """Where the money came from, and the turning points; and what their picture shows."""
    review = Review(played_game(snapshot.history))
    return "\n".join([*review.sentences, "", turns_text(review)]), chart_of(review)
