"""The slash commands. Each is acknowledged first, and answers the user privately unless `public` is set.

The parameters of a command are its options on Discord.
"""

from __future__ import annotations

import logging
from typing import Any

import discord
from discord import app_commands

import engine
from bot.discord import places
from bot.discord.api import DISCORD_ERRORS
from bot.discord.cards import parts
from bot.discord.cards.notices import turns_card
from bot.discord.completion import (
    SITE,
    Interaction,
    handler_of,
    read_file,
    suggest_options,
    suggest_tables,
)
from bot.discord.controls.controls import ERASE, NO_TABLE, CustomId
from bot.discord.interactions.interactions import NOTHING_STORED
from bot.discord.interactions.replies import reply, reply_text
from bot.discord.line_commands import GAME_COMMANDS, SHOW_COMMANDS, TABLE_COMMANDS
from bot.discord.slash import REQUIRED, Option, TableCommand, group, slash_command, table_command
from bot.discord.table_lookup import sees
from bot.features.game_files.feature import export_prospect, imported_sentences
from bot.hub.changes import check_allowed
from bot.hub.info import TableInfo
from bot.hub.request import UNKNOWN_SEAT, Request, split_lines
from engine.core.words import join_words
from engine.title import SITE_CONVENTIONS
from storage import StoreError

HELP = """**Railpost** plays 18xx in a thread of this server, by email and in a terminal, all at one table.
- `/table new` opens a table, others press **Join**, and the host presses **Start**.
- When it is your turn, your card comes with a ping. Press a button, choose from a menu, or press **Write…**.
- **Try…** on the card plans moves for you alone; **Play this** plays them. **Undo** takes a move back.
- `/do` submits any line and suggests what is possible: `/do line:lay 57 H10 1`.
- `/show card` shows your question again; `/show map`, `sheet`, `market`, `bids`, `private`, `tiles`, \
`trains`, `routes`, `chart`, `records`, `animation`, `log` and `at` show the table, for you alone unless \
`public` is set.
- `/me turns` lists every table that waits for you, `/me settings` when and where you are notified, \
`/me email` connects an address, `/me export` gives you what is stored about you, `/me erase` deletes it.
- `/table export` gives you the game as a file, at any time."""
ERASE_QUESTION = (
    "**Should everything about you be deleted?** You then leave all tables, your name is taken out of their "
    "games, and your addresses, settings, orders, plans and notes are gone. It cannot be undone. `/me "
    "export` gives you what is stored about you first."
)
CONVENTION_CHOICES = {
    "rulebook": "The rulebook's",
    SITE: "Those of 18xx.games, so that the game can be exported there",
}


def is_fault_of_ours(record: logging.LogRecord) -> bool:
    """Whether a line of the library tells of a mistake: not of suggestions that Discord or the store refuses,
    such as those that come too late, each of which would be a traceback."""
    return not (record.exc_info and isinstance(record.exc_info[1], (*DISCORD_ERRORS, StoreError)))


logging.getLogger("discord.app_commands.tree").addFilter(is_fault_of_ours)


class CommandTree(app_commands.CommandTree[Any]):
    """The commands; another process may answer first."""

    async def interaction_check(self, interaction: Interaction) -> bool:
        """Before every command."""
        await handler_of(interaction).let_others_answer(interaction)
        return True


def build_command_tree(client: discord.Client) -> app_commands.CommandTree[Any]:
    """All slash commands of the client."""
    tree = CommandTree(
        client,
        allowed_contexts=app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=False),
        allowed_installs=app_commands.AppInstallationType(guild=True, user=False),
    )
    for each in all_commands():
        tree.add_command(each)

    @tree.error
    async def failed(interaction: Interaction, error: app_commands.AppCommandError) -> None:
        cause = error.original if isinstance(error, app_commands.CommandInvokeError) else error
        await handler_of(interaction).report_failure(interaction, cause)

    return tree


def _place(interaction: Interaction, channel: int | None, *, gets_thread: bool = False) -> dict[str, Any]:
    """The place of a table that is to be shown in a channel. gets_thread: in a thread of its own at once.
    Raises ValueError where the bot may not write."""
    rights = interaction.app_permissions  # a thread has those of its channel
    in_thread = isinstance(interaction.channel, discord.Thread) and channel == interaction.channel_id
    may_write = rights.send_messages_in_threads if in_thread else rights.send_messages
    if not (rights.view_channel and (may_write or gets_thread)):
        raise ValueError(
            f"I may not write in <#{channel}>. Allow me to write there, or choose another channel."
        )
    return {"guild": interaction.guild_id, "channel": channel}


async def _move(interaction: Interaction, table: TableInfo) -> None:
    handler, channel, rights = handler_of(interaction), interaction.channel, interaction.app_permissions
    check_allowed(table, await handler.lines.known_person_id(interaction), seated_players=True)
    if table.status not in ("running", "paused") or interaction.guild_id is None:
        raise ValueError("A game in play is moved to the channel of a server in which you write this.")
    shown_in, has_threads = interaction.channel_id, isinstance(channel, discord.TextChannel)
    if isinstance(channel, discord.Thread) and not isinstance(channel.parent, discord.ForumChannel):
        shown_in, has_threads = channel.parent_id, True  # in a forum messages stand in posts only
    gets_thread = has_threads and rights.create_public_threads and rights.send_messages_in_threads
    place = _place(interaction, shown_in, gets_thread=gets_thread)
    await places.move(handler.service, table.id, place)
    follows = " Its thread follows." if gets_thread else ""
    await reply_text(interaction, f"Table {table.code} is shown here from now on.{follows}")


MOVE = TableCommand(
    "move",
    "Show a table in this channel, in a thread of its own where the bot may make one",
    act=_move,
    statuses=("running", "paused"),
)


NEW_OPTIONS = {
    "title": Option("The game", choices={each: each for each in engine.title_names()}, default=REQUIRED),
    "name": Option("The table's name"),
    "options": Option("Options of the game, separated by commas", suggest_options),
    "conventions": Option(
        "Whose conventions the table plays by: the rulebook's, or those of 18xx.games",
        choices=CONVENTION_CHOICES,
    ),
    "pace": Option("How long a decision may take: 24h, or daily 20:00 Europe/Berlin; then pause, orders …"),
}


async def _new(
    interaction: Interaction, title: str, name: str | None, options: str | None, conventions: str | None,
    pace: str | None,
) -> None:  # fmt: skip
    place = _place(interaction, interaction.channel_id) if interaction.guild_id else None
    person_id = await handler_of(interaction).lines.person_id(interaction)
    chosen_options = (
        None if options is None else [each.strip() for each in options.split(",") if each.strip()]
    )
    if conventions is not None:
        others = [each for each in chosen_options or () if each != SITE_CONVENTIONS]
        chosen_options = [SITE_CONVENTIONS, *others] if conventions == SITE else others
    opening = Request(
        UNKNOWN_SEAT, (), (), None, None, person_id, "discord", name=interaction.user.display_name
    )  # fmt: skip
    table, _ = await handler_of(interaction).service.lobby_lines.open_table(
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


async def _list(interaction: Interaction) -> None:
    person_id = await handler_of(interaction).lines.known_person_id(interaction)
    place = ("guild", interaction.guild_id) if interaction.guild_id else None
    found = await handler_of(interaction).service.queries.list_tables(
        location=place, person_id=None if place else person_id
    )
    lines = [
        table_summary(t) for t in reversed(found) if t.status != "ended" and sees(interaction, t, person_id)
    ]
    await reply_text(interaction, "\n".join(lines[:30]) or "There is no table yet. `/table new` opens one.")


IMPORT_OPTIONS = {
    "file": Option("The exported game (JSON), or a game text", kind=discord.Attachment, default=REQUIRED),
    "name": Option("The table's name"),
}


async def _import(interaction: Interaction, file: discord.Attachment, name: str | None) -> None:
    if not interaction.guild_id:
        raise ValueError("A game is imported in a channel of a server, where its players can claim seats.")
    place = _place(interaction, interaction.channel_id)
    person_id = await handler_of(interaction).lines.person_id(interaction)
    table, warnings = await handler_of(interaction).service.imports.open_table(
        await read_file(file), by=person_id, name=(name or "")[:60], location=place
    )
    sentences = imported_sentences(table, warnings, "The players claim their seats by its card.")
    await reply_text(interaction, "\n".join(sentences))


ORDERS = TableCommand(
    "orders", "What you leave beforehand: auto pass, auto bid …", statuses=("running", "paused"),
    act=lambda interaction, table: handler_of(interaction).lines.show_page(interaction, table, "auto"),
)  # fmt: skip


async def _turns(interaction: Interaction) -> None:
    handler = handler_of(interaction)
    waiting = await handler.service.waiting.pages(await handler.lines.person_id(interaction))
    await reply(interaction, await turns_card(handler.service, waiting))


async def _settings(interaction: Interaction, line: str | None) -> None:
    lines = [f"settings {each.removeprefix('settings ')}" for each in split_lines(line or "")]
    await handler_of(interaction).lines.show_page(interaction, None, "settings", lines)


async def _email(interaction: Interaction, address: str) -> None:
    await handler_of(interaction).lines.show_page(interaction, None, f"link {address}")


async def _export_data(interaction: Interaction) -> None:
    handler = handler_of(interaction)
    person_id = await handler.lines.known_person_id(interaction)
    if not person_id:
        await reply_text(interaction, NOTHING_STORED)
        return
    file = await handler.service.personal_data.export(person_id)
    text = parts.text_display("Here is all that is stored about you.")
    await reply(interaction, [text, *parts.file_components([file.name])], [file])


async def _ask_to_erase(interaction: Interaction) -> None:
    button = parts.button("Delete everything", str(CustomId(NO_TABLE, None, None, ERASE)), parts.DANGER)
    await reply(interaction, [parts.text_display(ERASE_QUESTION), *parts.action_rows([button])])


SETTINGS_OPTIONS = {
    "line": Option("A line such as `digest 08:00` or `away until 2026-12-24`; several with ;"),
}
EMAIL_OPTIONS = {"address": Option("Your email address", default=REQUIRED)}


def _me_commands() -> app_commands.Group:
    """`/me …`"""
    commands = [
        table_command(ORDERS),
        slash_command("turns", "Every table that waits for you", _turns),
        slash_command(
            "settings", "How, where and when you get notifications; absences", _settings, SETTINGS_OPTIONS
        ),
        slash_command(
            "email", "Play by email too; a reply to an email confirms your address", _email, EMAIL_OPTIONS
        ),
        slash_command("export", "Everything that is stored about you, as a file", _export_data),
        slash_command("erase", "Delete everything about you", _ask_to_erase),
    ]
    return group(
        "me", "Your turns, and how you get notifications", commands,
        allowed_contexts=app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=True),
        allowed_installs=app_commands.AppInstallationType(guild=True, user=True),
    )  # fmt: skip


WATCH_OPTIONS = {
    "file": Option("A file of 18xx.games, or a game text", kind=discord.Attachment),
    "url": Option("Instead of a file: the address of a game of 18xx.games, if the host allows that"),
    "table": Option("Instead of a file: a table of this server, by its code", suggest_tables),
    "news": Option("Tell what has changed in a message of its own too", kind=bool, default=False),
}


async def _watch(
    interaction: Interaction,
    file: discord.Attachment | None,
    url: str | None,
    table: str | None,
    news: bool,
) -> None:
    watching = handler_of(interaction).watch
    raw, shown = b"", None
    if file is not None:
        raw = await read_file(file)
    elif table:
        raw, shown = await watching.file_of_table(interaction, table)
    elif not url:
        await watching.offer_form(interaction)
        return
    await watching.show(interaction, raw, shown, url="" if raw else url or "", news=news)


async def _help(interaction: Interaction) -> None:
    url = handler_of(interaction).service.personal_data.settings.url
    await reply_text(interaction, f"{HELP}\n- What is kept about you: {url}" if url else HELP)


def all_commands() -> list[app_commands.Group | app_commands.Command[Any, Any, Any]]:
    """All slash commands."""
    new = slash_command("new", "Open a table here and take a seat at it", _new, NEW_OPTIONS)
    tables = slash_command("list", "All tables of this server", _list)
    go_on = "Go on here with a game from 18xx.games, or from a game text"
    moved_in = slash_command("import", go_on, _import, IMPORT_OPTIONS)
    at_tables = [table_command(each) for each in (*TABLE_COMMANDS, MOVE)]
    snapshot = "Show a game to this channel: map, market, sheet and what is new"
    return [
        group("table", "Open, fill, start and end tables", [*at_tables, new, tables, moved_in]),
        group("show", "Show a table", map(table_command, SHOW_COMMANDS)),
        _me_commands(),
        *map(table_command, GAME_COMMANDS),
        slash_command("help", "How to play here, and which commands there are", _help),
        slash_command("watch", snapshot, _watch, WATCH_OPTIONS),
    ]


def table_summary(table: TableInfo) -> str:
    """A table in one line."""
    names = table.names or tuple(s.name for s in table.seated_players)
    acting = join_words([table.names[seat] for seat in table.acting_seats], "or") if table.names else ""
    phase = table.round if table.status == "running" else table.status
    thread = f" <#{table.location['thread']}>" if "thread" in table.location else ""
    turn = f" — for {acting}" if acting and table.status == "running" else ""
    players = ", ".join(names) or "nobody"
    return f"**{table.code}** · {table.title_and_name} · {phase} · {players}{turn}{thread}"
