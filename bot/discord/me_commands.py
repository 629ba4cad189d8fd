"""The slash commands about oneself, `/do`, `/undo`, `/watch` and `/help`."""

from __future__ import annotations

from typing import Any

import discord
from discord import app_commands

from bot.discord.cards.notices import turns_card
from bot.discord.completion import Interaction, handler_of, read_file, suggest_tables
from bot.discord.interactions.replies import reply, reply_text
from bot.discord.line_commands import GAME_COMMANDS
from bot.discord.slash import REQUIRED, Option, TableCommand, group, slash_command, table_command
from bot.hub.request import split_lines

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


ORDERS = TableCommand(
    "orders", "What you leave beforehand: auto pass, auto bid …", statuses=("running", "paused"),
    act=lambda interaction, table: handler_of(interaction).pages.show(interaction, table, "auto"),
)  # fmt: skip


async def _turns(interaction: Interaction) -> None:
    handler = handler_of(interaction)
    waiting = await handler.service.waiting.pages(await handler.lookup.person_id(interaction.user))
    await reply(interaction, await turns_card(handler.service, waiting))


async def _settings(interaction: Interaction, line: str | None) -> None:
    lines = [f"settings {each.removeprefix('settings ')}" for each in split_lines(line or "")]
    await handler_of(interaction).pages.show(interaction, None, "settings", lines)


async def _email(interaction: Interaction, address: str) -> None:
    await handler_of(interaction).pages.show(interaction, None, f"link {address}")


SETTINGS_OPTIONS = {
    "line": Option("A line such as `digest 08:00` or `away until 2026-12-24`; several with ;"),
}
EMAIL_OPTIONS = {"address": Option("Your email address", default=REQUIRED)}


def me_commands() -> app_commands.Group:
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
        slash_command(
            "export",
            "Everything that is stored about you, as a file",
            lambda interaction: handler_of(interaction).privacy.export(interaction),
        ),
        slash_command(
            "erase",
            "Delete everything about you",
            lambda interaction: handler_of(interaction).privacy.ask(interaction),
        ),
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


async def watch(
    interaction: Interaction,
    file: discord.Attachment | None,
    url: str | None,
    table: str | None,
    news: bool,
) -> None:
    """`/watch`."""
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


async def help_command(interaction: Interaction) -> None:
    """`/help`."""
    url = handler_of(interaction).service.personal_data.settings.url
    await reply_text(interaction, f"{HELP}\n- What is kept about you: {url}" if url else HELP)


def other_commands() -> list[app_commands.Command[Any, Any, Any]]:
    """`/do`, `/undo`, `/watch` and `/help`."""
    about = "Show a game to this channel: map, market, sheet and what is new"
    how = "How to play here, and which commands there are"
    return [
        *map(table_command, GAME_COMMANDS),
        slash_command("help", how, help_command),
        slash_command("watch", about, watch, WATCH_OPTIONS),
    ]
