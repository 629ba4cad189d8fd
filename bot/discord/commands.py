"""The slash commands. Each is acknowledged first, and answers the user privately unless `public` is set.

The parameters of a command are its options on Discord. Names and descriptions have translations, one file
for each language, `languages/<locale>.json`. A file has the English text of every name, description and
choice as its key. `python -m bot.tools.translation` prints the English texts, from which another language
is begun. A text without a translation stays English.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import discord
from discord import app_commands
from discord.app_commands import Choice

import engine
from bot.discord import places
from bot.discord.completion import SITE, Interaction, defer, suggest_options, suggest_players, table_command
from bot.discord.controls import controls
from bot.discord.controls.controls import CustomId
from bot.discord.interactions.interactions import InteractionHandler
from bot.discord.interactions.replies import error_text, is_answered_already, is_too_late, reply_text
from bot.discord.me_commands import MeCommands, line_commands, watch_command
from bot.discord.show_commands import ShowCommands
from bot.features.game_files.feature import FAR, FORMATS, MAX_BYTES, TEXT, export_prospect, imported_sentences
from bot.features.lobby.lines import SHUFFLED
from bot.hub.changes import check_allowed
from bot.hub.info import TableInfo, status_text
from bot.hub.people import player_name
from bot.hub.request import UNKNOWN_SEAT, Request
from bot.position import text_views
from engine.title import SITE_CONVENTIONS
from renderers import PALETTES
from storage import TableStatus

EXPORT_CHOICES = {
    "18xx.games": "18xx.games: a file that the site imports",
    "text": "Text: every move, to read, keep or replay",
    "csv": "Statistics: a table for a spreadsheet",
}
CONVENTION_CHOICES = {
    "rulebook": "The rulebook's",
    SITE: "Those of 18xx.games, so that the game can be exported there",
}
LINE_COMMANDS: dict[str, tuple[str, tuple[TableStatus, ...]]] = {
    "leave": ("Give up your seat before the game starts", ("lobby",)),
    "who": ("Who plays at a table, and who has not answered", ("lobby", "running", "paused")),
    "pause": ("Pause a game", ("running",)),
    "resume": ("Continue a paused game", ("paused",)),
    "nudge": ("Remind those whom the table waits for", ("running",)),
    "end yes": ("End a game unfinished: as its host, or by a vote of all", ("lobby", "running", "paused")),
}
"""The lines that commands of their first word say at a table."""


class CommandTree(app_commands.CommandTree[Any]):
    """The commands; another process may answer first."""

    def __init__(self, handler: InteractionHandler, client: discord.Client, **options: Any) -> None:
        super().__init__(client, **options)
        self._handler = handler

    async def interaction_check(self, interaction: Interaction) -> bool:
        """Before every command."""
        await self._handler.uncertain_session.let_others_answer()
        return True


def build_command_tree(client: discord.Client, handler: InteractionHandler) -> app_commands.CommandTree[Any]:
    """All slash commands of the client."""
    tree = CommandTree(
        handler,
        client,
        allowed_contexts=app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=False),
        allowed_installs=app_commands.AppInstallationType(guild=True, user=False),
    )
    for group in (TableCommands(handler), ShowCommands(handler), MeCommands(handler)):
        tree.add_command(group)
    for command in (*line_commands(handler), watch_command(handler)):
        tree.add_command(command)

    @tree.error
    async def failed(interaction: Interaction, error: app_commands.AppCommandError) -> None:
        cause = error.original if isinstance(error, app_commands.CommandInvokeError) else error
        sentence = error_text(cause)
        if not isinstance(cause, ValueError):
            handler.log_error(cause)
        if is_answered_already(cause):
            await handler.uncertain_session.end_if_others_answer()
            return
        if interaction.type is not discord.InteractionType.autocomplete and not is_too_late(cause):
            await reply_text(interaction, sentence)

    return tree


class TableCommands(app_commands.Group):
    """`/table …`"""

    def __init__(self, handler: InteractionHandler) -> None:
        super().__init__(name="table", description="Open, fill, start and end tables")
        self.handler, self.service = handler, handler.service
        for line, (description, statuses) in LINE_COMMANDS.items():
            self.add_command(self._line_command(line, description, statuses))

    def _line_command(self, line: str, description: str, statuses: tuple[TableStatus, ...]) -> Any:
        """A command that says a line at a table, and has its first word as its name."""

        @table_command(line.split(maxsplit=1)[0], description)
        async def say(interaction: Interaction, table: str | None = None) -> None:
            await self._say(interaction, line, table, statuses)

        return say

    async def _say(
        self, interaction: Interaction, line: str, table: str | None, statuses: Sequence[TableStatus]
    ) -> None:
        """Say a line at a table."""
        await defer(interaction)
        found = await self.handler.lookup.resolve_table(interaction, table, statuses)
        if tuple(statuses) == ("lobby",) and found.status != "lobby":  # its word may begin a line of the game
            raise ValueError(f"Table {found.code} is {status_text(found.status)}.")
        custom_id = CustomId(found.id, None, None, controls.SUBMIT_LINE)
        await self.handler.lines.submit_lines(interaction, custom_id, [line])

    @app_commands.command(name="new", description="Open a table here and take a seat at it")
    @app_commands.describe(
        title="The game", name="The table's name", options="Options of the game, separated by commas",
        conventions="Whose conventions the table plays by: the rulebook's, or those of 18xx.games",
        pace="How long a decision may take: 24h, or daily 20:00 Europe/Berlin; then pause, orders …",
    )  # fmt: skip
    @app_commands.choices(
        title=[Choice(name=each, value=each) for each in engine.title_names()],
        conventions=[Choice(name=name, value=value) for value, name in CONVENTION_CHOICES.items()],
    )
    @app_commands.autocomplete(options=suggest_options)
    async def new(
        self, interaction: Interaction, title: str, name: str | None = None, options: str | None = None,
        conventions: str | None = None, pace: str | None = None,
    ) -> None:  # fmt: skip
        await defer(interaction)
        permissions = interaction.app_permissions
        if interaction.guild_id and not (
            permissions.view_channel and (permissions.send_messages or permissions.send_messages_in_threads)
        ):
            raise ValueError(
                "I may not write in this channel. Allow me to write here, or open the table in another."
            )
        person_id = await self.handler.lookup.person_id(interaction.user)
        chosen_options = (
            None if options is None else [each.strip() for each in options.split(",") if each.strip()]
        )
        if conventions is not None:
            others = [each for each in chosen_options or () if each != SITE_CONVENTIONS]
            chosen_options = [SITE_CONVENTIONS, *others] if conventions == SITE else others
        place = (
            {"guild": interaction.guild_id, "channel": interaction.channel_id}
            if interaction.guild_id
            else None
        )
        opening = Request(
            UNKNOWN_SEAT, (), (), None, None, person_id, "discord", name=interaction.user.display_name
        )  # fmt: skip
        table, _ = await self.service.lobby_lines.open_table(
            title, opening, chosen_options, name=(name or "")[:60], location=place, pace=pace or "none"
        )
        how = (
            "Others join with the button on its card, or with `/table join`."
            if place
            else "It is played in direct messages: `/table invite` invites the others."
        )
        await reply_text(
            interaction, f"Table {table.code} is open. {how} {export_prospect(table.title, table.options)}"
        )

    @table_command("join", "Take a seat at a table before its game starts", name="Your name at the table")
    async def join(self, interaction: Interaction, table: str | None = None, name: str | None = None) -> None:
        await self._say(interaction, f"join {name or ''}", table, ("lobby",))

    @table_command(
        "invite", "Keep a seat for another player: on Discord, or by email",
        user="The player on Discord", address="The email address of a player by email",
        name="The player's name at the table", robot="A computer player, if all at the table agree",
    )  # fmt: skip
    async def invite(
        self,
        interaction: Interaction,
        user: discord.User | None = None,
        address: str | None = None,
        name: str | None = None,
        robot: bool = False,
        table: str | None = None,
    ) -> None:
        if (user is not None) + (address is not None) + robot != 1:
            raise ValueError("Fill in one of `user`, `address` and `robot`.")
        known = name or (player_name(user.display_name) if user else "")
        who = f"{known} <{f'@{user.id}' if user else address}>"
        await self._say(interaction, f"invite {'robot' if robot else who}", table, ("lobby",))

    @table_command("agree", "Agree that a robot plays at your table", agree="False: no robot at this table")
    async def agree(self, interaction: Interaction, agree: bool = True, table: str | None = None) -> None:
        await self._say(interaction, "agree" if agree else "decline", table, ("lobby",))

    @table_command(
        "start", "Start the game, as its host, once all have joined",
        order="The players' names in seating order, separated by commas; random if left out",
    )  # fmt: skip
    async def start(
        self, interaction: Interaction, order: str | None = None, table: str | None = None
    ) -> None:
        await self._say(interaction, f"start {order or SHUFFLED}", table, ("lobby",))

    @app_commands.command(name="list", description="All tables of this server")
    async def list_tables(self, interaction: Interaction) -> None:
        await defer(interaction)
        person_id = await self.handler.lookup.person_id(interaction.user)
        place = ("guild", interaction.guild_id) if interaction.guild_id else None
        found = await self.service.queries.list_tables(location=place, person_id=None if place else person_id)
        lines = [table_summary(t) for t in reversed(found) if t.status != "ended"]
        await reply_text(
            interaction, "\n".join(lines[:30]) or "There is no table yet. `/table new` opens one."
        )

    @table_command(
        "replace", "Replace a player by another person", suggest={"seat": suggest_players},
        seat="The player who is replaced", user="The new player; you, if neither user nor address is given",
        address="The email address of a new player by email", name="The new player's name at the table",
    )  # fmt: skip
    async def replace(
        self,
        interaction: Interaction,
        seat: str,
        user: discord.User | None = None,
        address: str | None = None,
        name: str | None = None,
        table: str | None = None,
    ) -> None:
        account = user or (None if address else interaction.user)
        known = name or (player_name(account.display_name) if account else "")
        line = f"replace {seat.strip()} by {known} <{f'@{account.id}' if account else address}>"
        await self._say(interaction, line, table, ("running", "paused"))

    @table_command("move", "Show a table in this channel, in a thread of its own")
    async def move(self, interaction: Interaction, table: str | None = None) -> None:
        await defer(interaction)
        found = await self.handler.lookup.resolve_table(interaction, table, ("running", "paused"))
        check_allowed(found, await self.handler.lookup.person_id(interaction.user), seated_players=True)
        if found.status not in ("running", "paused") or interaction.guild_id is None:
            raise ValueError("A game in play is moved to the channel of a server in which you write this.")
        channel = interaction.channel
        parent = channel.parent_id if isinstance(channel, discord.Thread) else interaction.channel_id
        await places.move(self.service, found.id, {"guild": interaction.guild_id, "channel": parent})
        await reply_text(interaction, f"Table {found.code} is shown here from now on. Its thread follows.")

    @table_command(
        "palette", "Choose light or dark pictures for a table",
        choices={"colors": {each: each for each in PALETTES}}, colors="The colours of its pictures",
    )  # fmt: skip
    async def palette(self, interaction: Interaction, colors: str, table: str | None = None) -> None:
        await self._say(interaction, f"palette {colors}", table, ())

    @table_command(
        "export", "The game as a file: for 18xx.games, as text, or its statistics",
        choices={"to": {each: EXPORT_CHOICES.get(each, each) for each in FORMATS}},
        to="The format; a text file if left out",
        as_far_as_possible="For 18xx.games: up to the first move that the site does not have",
    )  # fmt: skip
    async def export(
        self,
        interaction: Interaction,
        to: str = TEXT,
        table: str | None = None,
        as_far_as_possible: bool = False,
    ) -> None:
        await defer(interaction)
        found = await self.handler.lookup.resolve_table(
            interaction, table, ("running", "paused", "finished", "ended")
        )
        viewer = await self.handler.lookup.person_id(interaction.user)
        result = await self.service.ask(
            found.id, f"export {to} {FAR if as_far_as_possible else ''}".strip(), person_id=viewer
        )
        await self.handler.lines.show_result(interaction, result, found, None)

    @app_commands.command(
        name="import", description="Go on here with a game from 18xx.games, or from a game text"
    )
    @app_commands.describe(file="The exported game (JSON), or a game text", name="The table's name")
    async def import_game(
        self, interaction: Interaction, file: discord.Attachment, name: str | None = None
    ) -> None:
        await defer(interaction)
        if file.size > MAX_BYTES:
            raise ValueError(f"The file is larger than {MAX_BYTES >> 20} MB.")
        if not interaction.guild_id:
            raise ValueError("A game moves in to a channel of a server, where its players can claim seats.")
        place = {"guild": interaction.guild_id, "channel": interaction.channel_id}
        person_id = await self.handler.lookup.person_id(interaction.user)
        table, warnings = await self.service.imports.open_table(
            await file.read(), by=person_id, name=(name or "")[:60], location=place
        )
        sentences = imported_sentences(table, warnings, "The players claim their seats by its card.")
        await reply_text(interaction, "\n".join(sentences))


def table_summary(table: TableInfo) -> str:
    """A table in one line."""
    names = table.names or tuple(s.name for s in table.seated_players)
    acting = (
        text_views.join_words([table.names[seat] for seat in table.acting_seats], "or") if table.names else ""
    )
    phase = table.round if table.status == "running" else table.status
    thread = f" <#{table.location['thread']}>" if "thread" in table.location else ""
    turn = f" — for {acting}" if acting and table.status == "running" else ""
    players = ", ".join(names) or "nobody"
    return f"**{table.code}** · {table.title} · {table.name} · {phase} · {players}{turn}{thread}"


LANGUAGES = "languages"


@cache
def translations() -> dict[str, dict[str, str]]:
    """The translations by locale, then by English text."""
    folder = files("bot.discord").joinpath(LANGUAGES)
    return {
        file.name.removesuffix(".json"): json.loads(file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if file.name.endswith(".json")
    }


def localized(payload: Any) -> dict[str, Any]:
    """The payload of a command, of an option or of a choice, with its texts in all languages.

    The library asks a translator for each text in thirty languages, which holds up the event loop.
    """
    result = dict(payload)
    for key in ("name", "description"):
        texts = {locale: texts.get(payload.get(key)) for locale, texts in translations().items()}
        if found := {locale: text for locale, text in texts.items() if text}:
            result[f"{key}_localizations"] = found
    for key in ("options", "choices"):
        if key in payload:
            result[key] = [localized(part) for part in payload[key]]
    return result


def texts_of(payload: Any) -> Iterator[str]:
    """The names and descriptions in the payload of a command, of its options and choices."""
    for key in ("name", "description"):
        if payload.get(key):
            yield str(payload[key])
    for part in (*payload.get("options", ()), *payload.get("choices", ())):
        yield from texts_of(part)


def english_texts(tree: app_commands.CommandTree[Any]) -> list[str]:
    """Every text of a tree that can be translated, without titles and symbols."""
    found = (text for command in tree.get_commands() for text in texts_of(command.to_dict(tree)))
    return [text for text in dict.fromkeys(found) if not text.isdecimal()]
