"""The slash commands about oneself, `/do`, `/undo`, `/watch` and `/help`."""

from __future__ import annotations

from typing import Any

import discord
from discord import app_commands

from bot.discord.cards import parts
from bot.discord.cards.notices import turns_card
from bot.discord.completion import (
    Interaction,
    defer,
    suggest_lines,
    table_command,
)
from bot.discord.controls import controls
from bot.discord.controls.controls import NO_TABLE, CustomId
from bot.discord.interactions.interactions import InteractionHandler
from bot.discord.interactions.line_interactions import split_lines
from bot.discord.interactions.replies import reply, reply_text
from bot.features.game_files.feature import MAX_BYTES
from bot.hub.info import TableInfo
from bot.hub.request import first_word

UNDO_CHOICES = {"undo": "undo: take your last move back", "redo": "redo: restore what was undone"}
MAX_TALK = 1_000  # characters
TALK_IN_THREAD = "Nothing was played. People talk in the thread of the table; just write there."
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


class MeCommands(app_commands.Group):
    """`/me …`"""

    def __init__(self, handler: InteractionHandler) -> None:
        super().__init__(
            name="me",
            description="Your turns, and how you get notifications",
            allowed_contexts=app_commands.AppCommandContext(
                guild=True, dm_channel=True, private_channel=True
            ),
            allowed_installs=app_commands.AppInstallationType(guild=True, user=True),
        )
        self.handler = handler

    @app_commands.command(name="turns", description="Every table that waits for you")
    async def turns(self, interaction: Interaction) -> None:
        await defer(interaction)
        person_id = await self.handler.lookup.person_id(interaction.user)
        waiting = await self.handler.service.waiting.pages(person_id)
        await reply(interaction, await turns_card(self.handler.service, waiting))

    @table_command("orders", "What you leave beforehand: auto pass, auto bid …")
    async def orders(self, interaction: Interaction, table: str | None = None) -> None:
        await defer(interaction)
        found = await self.handler.lookup.resolve_table(interaction, table, ("running", "paused"))
        await self.handler.pages.show(interaction, found.id, "auto")

    @app_commands.command(name="settings", description="How, where and when you get notifications; absences")
    @app_commands.describe(line="A line such as `digest 08:00` or `away until 2026-12-24`; several with ;")
    async def settings(self, interaction: Interaction, line: str | None = None) -> None:
        await defer(interaction)
        lines = [f"settings {each.removeprefix('settings ')}" for each in split_lines(line or "")]
        await self.handler.pages.show(interaction, NO_TABLE, "settings", lines)

    @app_commands.command(
        name="email", description="Play by email too; a reply to an email confirms your address"
    )
    @app_commands.describe(address="Your email address")
    async def email(self, interaction: Interaction, address: str) -> None:
        await defer(interaction)
        person_id = await self.handler.lookup.person_id(interaction.user)
        normalized = await self.handler.service.claim_address(person_id, address)
        await reply_text(interaction, f"An email goes to {normalized}. Reply to it to confirm the address.")

    @app_commands.command(name="export", description="Everything that is stored about you, as a file")
    async def export(self, interaction: Interaction) -> None:
        await defer(interaction)
        await self.handler.privacy.export(interaction)

    @app_commands.command(name="erase", description="Delete everything about you")
    async def erase(self, interaction: Interaction) -> None:
        await defer(interaction)
        await self.handler.privacy.ask(interaction)


def watch_command(handler: InteractionHandler) -> Any:
    """`/watch`."""

    @table_command(
        "watch", "Show a game to this channel: map, market, sheet and what is new",
        file="A file of 18xx.games, or a game text",
        url="Instead of a file: the address of a game of 18xx.games, if the host allows that",
        table="Instead of a file: a table of this server, by its code",
        news="Tell what has changed in a message of its own too",
    )  # fmt: skip
    async def watch(
        interaction: Interaction,
        file: discord.Attachment | None = None,
        url: str | None = None,
        table: str | None = None,
        news: bool = False,
    ) -> None:
        await defer(interaction)
        if file is not None:
            if file.size > MAX_BYTES:
                raise ValueError(f"The file is larger than {MAX_BYTES >> 20} MB.")
            raw = await file.read()
        elif table:
            raw = await handler.watch.file_of_table(interaction, table)
        elif url:
            await handler.watch.show(interaction, url=url, news=news)
            return
        else:
            await handler.watch.offer_form(interaction)
            return
        await handler.watch.show(interaction, raw, news=news)

    return watch


async def _say(
    handler: InteractionHandler, interaction: Interaction, table: TableInfo, person_id: int, line: str
) -> str:
    """Tell a table without a thread what one of its players says to it; a sentence about that."""
    player, text = table.player_of(person_id), " ".join(line.split()[1:])[:MAX_TALK]
    name = player.name if player else interaction.user.display_name  # a deputy
    if not text:
        raise ValueError("Write what the table is to hear behind `say`.")
    await handler.service.running.announce(
        table.id, f"{name} says: {text}", "say", f"say:{interaction.id}", by=person_id
    )
    return f"The table is told: {parts.escape_markdown(text)}"


def line_commands(handler: InteractionHandler) -> list[app_commands.Command[Any, Any, Any]]:
    """`/do`, `/undo` and `/help`."""

    @table_command(
        "do",
        "Submit a line of the game: buy, sell, lay, run, pass …",
        suggest={"line": suggest_lines},
        line="The line; several lines are separated by ;",
    )
    async def do(interaction: Interaction, line: str, table: str | None = None) -> None:
        await defer(interaction)
        found = await handler.lookup.resolve_table(interaction, table, ("running", "paused", "finished"))
        custom_id = CustomId(found.id, None, None, controls.SUBMIT_LINE)
        person_id = await handler.lookup.person_id(interaction.user)
        seat = found.seat_of(person_id)
        if first_word(line) == "say":
            is_heard = not found.location and seat is not None
            told = await _say(handler, interaction, found, person_id, line) if is_heard else TALK_IN_THREAD
            await reply_text(interaction, told)
            return
        if line.startswith("#") and seat is not None:
            choices = await handler.service.queries.choices(found.id, seat, other_runs=True)
            choice = controls.find_choice(choices, line)
            line = choice.line if choice else line
        await handler.lines.submit_lines(interaction, custom_id, split_lines(line))

    @table_command(
        "undo",
        "Undo your last move, or redo it",
        choices={"what": UNDO_CHOICES},
        what="Undo, or redo what was undone",
    )
    async def undo(interaction: Interaction, what: str = "undo", table: str | None = None) -> None:
        await defer(interaction)
        found = await handler.lookup.resolve_table(interaction, table, ("running", "paused", "finished"))
        await handler.lines.submit_lines(
            interaction, CustomId(found.id, None, None, controls.SUBMIT_LINE), [what]
        )

    @app_commands.command(name="help", description="How to play here, and which commands there are")
    async def help_command(interaction: Interaction) -> None:
        await defer(interaction)
        url = handler.service.personal_data.settings.url
        await reply_text(interaction, f"{HELP}\n- What is kept about you: {url}" if url else HELP)

    return [do, undo, help_command]
