"""The slash commands. Each is acknowledged first, and answers the user privately unless `public` is set.

The parameters of a command are its options on Discord.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import discord
from discord import app_commands
from discord.app_commands import Choice

import engine
from bot.discord import cards, controls
from bot.discord.clock_notices import waiting_entries
from bot.discord.controls import CustomId
from bot.discord.interactions import (
    InteractionHandler,
    error_text,
    is_too_late,
    reply,
    reply_text,
    split_lines,
)
from bot.discord.settings_card import turns_card
from bot.service import text_views
from bot.service.game_files import FORMATS, TEXT, export_prospect
from bot.service.live_table import TableView, engine_seat
from bot.service.move_in import MAX_BYTES
from bot.service.people import person_by_address, player_name
from bot.service.results import QueryAnswer
from bot.service.robot_seats import robots_of
from bot.service.tables import TableInfo
from engine.title import SITE_CONVENTIONS

Interaction = discord.Interaction[Any]

MAX_SUGGESTIONS = 25
MAX_CHOICE_LENGTH = 100
TABLE_OPTION_HELP = "The table's code; needed only where several tables are possible"


def build_command_tree(client: discord.Client, handler: InteractionHandler) -> app_commands.CommandTree[Any]:
    """All slash commands of the client."""
    tree: app_commands.CommandTree[Any] = app_commands.CommandTree(client)
    for group in (TableCommands(handler), ShowCommands(handler), MeCommands(handler)):
        tree.add_command(group)
    for command in line_commands(handler):
        tree.add_command(command)

    @tree.error
    async def failed(interaction: Interaction, error: app_commands.AppCommandError) -> None:
        cause = error.original if isinstance(error, app_commands.CommandInvokeError) else error
        sentence = error_text(cause)
        if not isinstance(cause, ValueError):
            handler.log_error(cause)
        if interaction.type is not discord.InteractionType.autocomplete and not is_too_late(cause):
            await reply_text(interaction, sentence)

    return tree


async def defer(interaction: Interaction, *, public: bool = False) -> None:
    """Acknowledge an interaction; its answer follows."""
    await interaction.response.defer(ephemeral=not public, thinking=True)


def suggestions(candidates: Sequence[tuple[str, str]]) -> list[Choice[str]]:
    """Suggestions within Discord's limits, from (name, value) of each candidate."""
    fitting = [(name, value) for name, value in candidates if 0 < len(value) <= MAX_CHOICE_LENGTH]
    return [
        Choice(name=cards.truncate(name, MAX_CHOICE_LENGTH), value=value)
        for name, value in fitting[:MAX_SUGGESTIONS]
    ]


def handler_of(interaction: Interaction) -> InteractionHandler:
    """The handler of the client that received the interaction."""
    handler: InteractionHandler = interaction.client.handler
    return handler


async def suggest_tables(interaction: Interaction, typed: str) -> list[Choice[str]]:
    """Tables by code, those that wait for the user first."""
    handler = handler_of(interaction)
    person_id = await handler.person_id(interaction.user)
    candidates = []
    for table in await handler.matching_tables(interaction, typed):
        turn = (
            " · your turn"
            if table.status == "running" and table.seat_of(person_id) in table.acting_seats
            else ""
        )
        candidates.append(
            (f"{table.code} · {table.title} · {table.name} · {table.round or table.status}{turn}", table.code)
        )
    return suggestions(candidates)


async def suggest_lines(interaction: Interaction, typed: str) -> list[Choice[str]]:
    """The lines that the user may submit now; with an amount of dollars where they have typed one."""
    seat, view = await _seat_and_view(interaction)
    if view is None or view.state is None or seat is None or view.table.status != "running":
        return []
    choices = engine.choices(view.state, engine_seat(seat))
    words = typed.casefold().replace("$", " ").split()
    amount = next((int(word) for word in reversed(words) if word.isdecimal()), None)
    candidates = []
    for index, choice in enumerate(choices):
        line = choice.line
        if choice.amounts and amount is not None and amount in choice.amounts and len(words) > 1:
            line = choice.line_for(amount)
        text = f"{line} {choice.label}".casefold()
        if all(word in text for word in words):
            value = (
                line
                if len(line) <= MAX_CHOICE_LENGTH
                else controls.encode_choice(choices, index, MAX_CHOICE_LENGTH)
            )
            candidates.append((f"{line} — {choice.label}", value))
    return suggestions(candidates)


async def suggest_companies(interaction: Interaction, typed: str) -> list[Choice[str]]:
    """The companies of the table."""
    _, view = await _seat_and_view(interaction)
    names = list(view.state.companies) if view and view.state else []
    return suggestions([(c, c) for c in names if typed.casefold() in c.casefold()])


async def suggest_players(interaction: Interaction, typed: str) -> list[Choice[str]]:
    """The players of the table."""
    _, view = await _seat_and_view(interaction)
    names = (view.table.names or tuple(s.name for s in view.table.seated_players)) if view else ()
    return suggestions([(n, n) for n in names if typed.casefold() in n.casefold()])


async def _seat_and_view(interaction: Interaction) -> tuple[int | None, TableView | None]:
    """The user's seat and the table that the command is about; None for both where there is none."""
    handler = handler_of(interaction)
    try:
        table = await handler.resolve_table(interaction, getattr(interaction.namespace, "table", None))
    except ValueError:
        return None, None
    view = handler.service.queries.peek(table.id) or await handler.service.queries.view(table.id)
    return view.table.seat_of(await handler.person_id(interaction.user)), view


class TableCommands(app_commands.Group):
    """`/table …`"""

    def __init__(self, handler: InteractionHandler) -> None:
        super().__init__(name="table", description="Open, fill, start and end tables")
        self.handler, self.service = handler, handler.service

    @app_commands.command(name="new", description="Open a table here and take a seat at it")
    @app_commands.describe(
        title="The game", name="The table's name", options="Options of the game, separated by commas",
        conventions="Whose conventions the table plays by: the rulebook's, or those of 18xx.games",
        pace="How long a decision may take: 24h, or daily 20:00 Europe/Berlin; then pause, orders …",
    )  # fmt: skip
    @app_commands.choices(
        title=[Choice(name=each, value=each) for each in engine.title_names()],
        conventions=[Choice(name=each, value=each) for each in ("rulebook", "18xx.games")],
    )
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
        person_id = await self.handler.person_id(interaction.user)
        chosen_options = (
            None if options is None else [each.strip() for each in options.split(",") if each.strip()]
        )
        if conventions is not None:
            others = [each for each in chosen_options or () if each != SITE_CONVENTIONS]
            chosen_options = [SITE_CONVENTIONS, *others] if conventions == "18xx.games" else others
        place = (
            {"guild": interaction.guild_id, "channel": interaction.channel_id}
            if interaction.guild_id
            else None
        )
        table = await self.service.lobby.create(
            title,
            person_id,
            name=(name or "")[:60],
            options=chosen_options,
            location=place,
            pace=pace or "none",
        )
        await self.service.lobby.join(table.id, person_id, player_name(interaction.user.display_name))
        how = (
            "Others join by its card or with `/table join`."
            if place
            else "It is played in direct messages: `/table invite` invites the others."
        )
        await reply_text(
            interaction, f"Table {table.code} is open. {how} {export_prospect(table.title, table.options)}"
        )

    @app_commands.command(name="join", description="Take a seat at a table before its game starts")
    @app_commands.describe(table=TABLE_OPTION_HELP, name="Your name at the table")
    @app_commands.autocomplete(table=suggest_tables)
    async def join(self, interaction: Interaction, table: str | None = None, name: str | None = None) -> None:
        await defer(interaction)
        found = await self.handler.resolve_table(interaction, table, ("lobby",))
        await self.handler.handle_lobby(interaction, found, controls.JOIN, name)

    @app_commands.command(name="leave", description="Give up your seat before the game starts")
    @app_commands.describe(table=TABLE_OPTION_HELP)
    @app_commands.autocomplete(table=suggest_tables)
    async def leave(self, interaction: Interaction, table: str | None = None) -> None:
        await defer(interaction)
        found = await self.handler.resolve_table(interaction, table, ("lobby",))
        await self.handler.handle_lobby(interaction, found, controls.LEAVE)

    @app_commands.command(
        name="invite", description="Keep a seat for another player: on Discord, or by email"
    )
    @app_commands.describe(
        user="The player on Discord", address="The email address of a player by email",
        name="The player's name at the table", robot="A computer player, if all at the table agree",
        table=TABLE_OPTION_HELP,
    )  # fmt: skip
    @app_commands.autocomplete(table=suggest_tables)
    async def invite(
        self,
        interaction: Interaction,
        user: discord.User | None = None,
        address: str | None = None,
        name: str | None = None,
        robot: bool = False,
        table: str | None = None,
    ) -> None:
        await defer(interaction)
        if (user is not None) + (address is not None) + robot != 1:
            raise ValueError("Fill in one of `user`, `address` and `robot`.")
        found = await self.handler.resolve_table(interaction, table, ("lobby",))
        actor_id = await self.handler.person_id(interaction.user)
        if robot:
            await reply_text(interaction, await self._invite_robot(found.id, actor_id))
            return
        person_id, player = await self._person_and_name(user, address, name)
        await self.service.lobby.invite(found.id, person_id, player, by=actor_id)
        await reply_text(
            interaction, f"A seat at table {found.code} is kept for {player}. They get an invitation."
        )

    async def _invite_robot(self, table_id: int, actor_id: int) -> str:
        """Invite a robot; what happens next, in a sentence."""
        info = await self.service.lobby.invite_robot(table_id, by=actor_id)
        robot = robots_of(info)[-1]
        if robot.joined:
            return f"{robot.name} takes a seat at table {info.code}. Who joins later agrees to it by joining."
        return f"{robot.name} joins table {info.code} once everybody there agrees: `/table agree`."

    @app_commands.command(name="agree", description="Agree that a robot plays at your table")
    @app_commands.describe(table=TABLE_OPTION_HELP)
    @app_commands.autocomplete(table=suggest_tables)
    async def agree(self, interaction: Interaction, table: str | None = None) -> None:
        await defer(interaction)
        found = await self.handler.resolve_table(interaction, table, ("lobby",))
        person_id = await self.handler.person_id(interaction.user)
        info = await self.service.lobby.agree_to_robots(found.id, person_id)
        waits = any(not robot.joined for robot in robots_of(info))
        more = "Others have not answered yet." if waits else "The robot takes its seat."
        await reply_text(interaction, f"You agree. {more}")

    async def _person_and_name(
        self, user: discord.User | None, address: str | None, name: str | None
    ) -> tuple[int, str]:
        """The id of a person on Discord or with an email address, and their name at the table."""
        if user is not None:
            return await self.handler.person_id(user), name or player_name(user.display_name)
        async with self.service.store.begin() as unit:
            person = await person_by_address(unit, address or "", name or "")
        return person.id, name or player_name(person.name)

    @app_commands.command(name="start", description="Start the game, as its host, once all have joined")
    @app_commands.describe(
        order="The players' names in seating order, separated by commas; random if left out",
        table=TABLE_OPTION_HELP,
    )
    @app_commands.autocomplete(table=suggest_tables)
    async def start(
        self, interaction: Interaction, order: str | None = None, table: str | None = None
    ) -> None:
        await defer(interaction)
        found = await self.handler.resolve_table(interaction, table, ("lobby",))
        seating = None if order is None else [each.strip() for each in order.split(",") if each.strip()]
        await self.service.lobby.start(
            found.id, by=await self.handler.person_id(interaction.user), order=seating
        )
        await reply_text(interaction, f"The game at table {found.code} starts. Its thread follows.")

    @app_commands.command(name="list", description="All tables of this server")
    async def list_tables(self, interaction: Interaction) -> None:
        await defer(interaction)
        person_id = await self.handler.person_id(interaction.user)
        place = ("guild", interaction.guild_id) if interaction.guild_id else None
        found = await self.service.queries.list_tables(location=place, person_id=None if place else person_id)
        lines = [table_summary(t) for t in reversed(found) if t.status != "ended"]
        await reply_text(
            interaction, "\n".join(lines[:30]) or "There is no table yet. `/table new` opens one."
        )

    @app_commands.command(name="replace", description="Replace a player by another person")
    @app_commands.describe(
        seat="The player who is replaced", user="The new player; you, if neither user nor address is given",
        address="The email address of a new player by email", name="The new player's name at the table",
        table=TABLE_OPTION_HELP,
    )  # fmt: skip
    @app_commands.autocomplete(seat=suggest_players, table=suggest_tables)
    async def replace(
        self,
        interaction: Interaction,
        seat: str,
        user: discord.User | None = None,
        address: str | None = None,
        name: str | None = None,
        table: str | None = None,
    ) -> None:
        await defer(interaction)
        found = await self.handler.resolve_table(interaction, table, ("running", "paused"))
        number = next((i for i, n in enumerate(found.names) if n.casefold() == seat.strip().casefold()), None)
        if number is None:
            raise ValueError(f"There is no player {seat} at table {found.code}.")
        actor_id = await self.handler.person_id(interaction.user)
        if user is None and address is None:
            person_id, player = actor_id, name or player_name(interaction.user.display_name)
        else:
            person_id, player = await self._person_and_name(user, address, name)
        await self.service.lobby.replace_player(found.id, number, person_id, player, by=actor_id)
        await reply_text(interaction, f"{player} replaces {found.names[number]} at table {found.code}.")

    @app_commands.command(name="pause", description="Pause a game")
    @app_commands.describe(table=TABLE_OPTION_HELP)
    @app_commands.autocomplete(table=suggest_tables)
    async def pause(self, interaction: Interaction, table: str | None = None) -> None:
        await defer(interaction)
        found = await self.handler.resolve_table(interaction, table, ("running",))
        await self.service.lobby.pause(found.id, by=await self.handler.person_id(interaction.user))
        await reply_text(interaction, f"Table {found.code} is paused. `/table resume` continues the game.")

    @app_commands.command(name="resume", description="Continue a paused game")
    @app_commands.describe(table=TABLE_OPTION_HELP)
    @app_commands.autocomplete(table=suggest_tables)
    async def resume(self, interaction: Interaction, table: str | None = None) -> None:
        await defer(interaction)
        found = await self.handler.resolve_table(interaction, table, ("paused",))
        await self.service.lobby.resume(found.id, by=await self.handler.person_id(interaction.user))
        await reply_text(interaction, f"The game at table {found.code} continues.")

    @app_commands.command(name="end", description="End a game unfinished: as its host, or by a vote of all")
    @app_commands.describe(table=TABLE_OPTION_HELP)
    @app_commands.autocomplete(table=suggest_tables)
    async def end(self, interaction: Interaction, table: str | None = None) -> None:
        await defer(interaction)
        found = await self.handler.resolve_table(interaction, table, ("lobby", "running", "paused"))
        person_id = await self.handler.person_id(interaction.user)
        result = await self.service.propose_end(found.id, by=person_id)
        await self.handler.show_result(interaction, result, found, found.seat_of(person_id))

    @app_commands.command(
        name="export", description="The game as a file: for 18xx.games, as text, or its statistics"
    )
    @app_commands.describe(to="The format; a text file if left out", table=TABLE_OPTION_HELP)
    @app_commands.choices(to=[Choice(name=each, value=each) for each in FORMATS])
    @app_commands.autocomplete(table=suggest_tables)
    async def export(self, interaction: Interaction, to: str = TEXT, table: str | None = None) -> None:
        await defer(interaction)
        found = await self.handler.resolve_table(
            interaction, table, ("running", "paused", "finished", "ended")
        )
        viewer = await self.handler.person_id(interaction.user)
        result = await self.service.ask(found.id, f"export {to}", person_id=viewer)
        await self.handler.show_result(interaction, result, found, None)

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
        person_id = await self.handler.person_id(interaction.user)
        table, warnings = await self.service.move_in.open_table(
            await file.read(), by=person_id, name=(name or "")[:60], location=place
        )
        await reply_text(interaction, moved_in_text(table, warnings))


def moved_in_text(table: TableInfo, warnings: Sequence[str]) -> str:
    """What the person reads who has brought a game."""
    over = table.status == "finished"
    lines = [
        f"Table {table.code} has the game: {table.title}, {text_views.join_words(table.names)}.",
        "It is over; `/show` shows it." if over else "The players claim their seats by its card.",
    ]
    if warnings:
        several = f"{len(warnings)} things were" if len(warnings) > 1 else "One thing was"
        lines.append(f"{several} not as in the file:")
        lines += [f"- {cards.truncate(each, 200)}" for each in warnings[:5]]
    return "\n".join(lines)


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


class ShowCommands(app_commands.Group):
    """`/show …`"""

    def __init__(self, handler: InteractionHandler) -> None:
        super().__init__(name="show", description="Show a table")
        self.handler = handler

    async def _show(self, interaction: Interaction, line: str, table: str | None, public: bool) -> None:
        await defer(interaction, public=public)
        found = await self.handler.resolve_table(interaction, table)
        viewer = None if public else await self.handler.person_id(interaction.user)
        result = await self.handler.service.ask(found.id, line, person_id=viewer)
        if isinstance(result, QueryAnswer):
            await self.handler.show_picture(interaction, result, found, public=public)
        else:
            await self.handler.show_result(interaction, result, found, None)

    @app_commands.command(name="board", description="The tiles and tokens on the map, as text")
    @app_commands.describe(table=TABLE_OPTION_HELP, public="Everybody can see it")
    @app_commands.autocomplete(table=suggest_tables)
    async def board(self, interaction: Interaction, table: str | None = None, public: bool = False) -> None:
        await self._show(interaction, "board", table, public)

    @app_commands.command(name="map", description="The map")
    @app_commands.describe(table=TABLE_OPTION_HELP, public="Everybody can see it")
    @app_commands.autocomplete(table=suggest_tables)
    async def map(self, interaction: Interaction, table: str | None = None, public: bool = False) -> None:
        await self._show(interaction, "map", table, public)

    @app_commands.command(name="market", description="The stock market")
    @app_commands.describe(table=TABLE_OPTION_HELP, public="Everybody can see it")
    @app_commands.autocomplete(table=suggest_tables)
    async def market(self, interaction: Interaction, table: str | None = None, public: bool = False) -> None:
        await self._show(interaction, "market", table, public)

    @app_commands.command(name="company", description="One company; without a name, the sheet of all")
    @app_commands.describe(name="The company", table=TABLE_OPTION_HELP, public="Everybody can see it")
    @app_commands.autocomplete(name=suggest_companies, table=suggest_tables)
    async def company(
        self,
        interaction: Interaction,
        name: str | None = None,
        table: str | None = None,
        public: bool = False,
    ) -> None:
        await self._show(interaction, f"company {name}" if name else "sheet", table, public)

    @app_commands.command(name="player", description="One player; without a name, the sheet of all")
    @app_commands.describe(name="The player", table=TABLE_OPTION_HELP, public="Everybody can see it")
    @app_commands.autocomplete(name=suggest_players, table=suggest_tables)
    async def player(
        self,
        interaction: Interaction,
        name: str | None = None,
        table: str | None = None,
        public: bool = False,
    ) -> None:
        await self._show(interaction, f"player {name}" if name else "sheet", table, public)

    @app_commands.command(name="log", description="The moves so far and what they did")
    @app_commands.describe(count="Number of rows", table=TABLE_OPTION_HELP, public="Everybody can see it")
    @app_commands.autocomplete(table=suggest_tables)
    async def log(
        self,
        interaction: Interaction,
        count: app_commands.Range[int, 1, 100] = 12,
        table: str | None = None,
        public: bool = False,
    ) -> None:
        await self._show(interaction, f"log {count}", table, public)

    @app_commands.command(name="at", description="The position at a round, or at a row of the log")
    @app_commands.describe(
        place="For example `or 2.1`, `stock round 3` or `120`; then map, market or sheet",
        table=TABLE_OPTION_HELP, public="Everybody can see it",
    )  # fmt: skip
    @app_commands.autocomplete(table=suggest_tables)
    async def at(
        self, interaction: Interaction, place: str, table: str | None = None, public: bool = False
    ) -> None:
        await self._show(interaction, f"at {place}", table, public)

    @app_commands.command(name="plan", description="Try lines on a private copy of the game")
    @app_commands.describe(
        lines="Lines separated by ; or `more LINES`, `play`, `clear`; if left out, your plan is shown",
        table=TABLE_OPTION_HELP,
    )  # fmt: skip
    @app_commands.autocomplete(lines=suggest_lines, table=suggest_tables)
    async def plan(
        self, interaction: Interaction, lines: str | None = None, table: str | None = None
    ) -> None:
        await defer(interaction)
        found = await self.handler.resolve_table(interaction, table, ("running", "paused"))
        person_id = await self.handler.person_id(interaction.user)
        seat = found.seat_of(person_id)
        result = await self.handler.service.submit(
            found.id, seat, [f"plan {lines or 'show'}"], None, str(interaction.id),
            person_id=person_id, transport="discord",
        )  # fmt: skip
        await self.handler.show_result(interaction, result, found, seat)

    @app_commands.command(name="turn", description="Who has to act, and what they may do")
    @app_commands.describe(table=TABLE_OPTION_HELP, public="Everybody can see it")
    @app_commands.autocomplete(table=suggest_tables)
    async def turn(self, interaction: Interaction, table: str | None = None, public: bool = False) -> None:
        await self._show(interaction, "turn", table, public)


class MeCommands(app_commands.Group):
    """`/me …`"""

    def __init__(self, handler: InteractionHandler) -> None:
        super().__init__(name="me", description="Your turns, and how you get notifications")
        self.handler = handler

    @app_commands.command(name="turns", description="Every table that waits for you")
    async def turns(self, interaction: Interaction) -> None:
        await defer(interaction)
        person_id = await self.handler.person_id(interaction.user)
        await reply(interaction, turns_card(await waiting_entries(self.handler.service, person_id)))

    @app_commands.command(name="orders", description="What you leave beforehand: auto pass, auto bid …")
    @app_commands.describe(table=TABLE_OPTION_HELP)
    @app_commands.autocomplete(table=suggest_tables)
    async def orders(self, interaction: Interaction, table: str | None = None) -> None:
        await defer(interaction)
        found = await self.handler.resolve_table(interaction, table, ("running", "paused"))
        await self.handler.show_orders(interaction, found.id)

    @app_commands.command(name="settings", description="How, where and when you get notifications; absences")
    @app_commands.describe(line="A line such as `digest 08:00` or `away until 2026-12-24`; several with ;")
    async def settings(self, interaction: Interaction, line: str | None = None) -> None:
        await defer(interaction)
        said = ""
        if line:
            person_id = await self.handler.person_id(interaction.user)
            said = await self.handler.service.settings.apply(person_id, line.split(";"))
        await self.handler.show_settings(interaction, said)

    @app_commands.command(
        name="email", description="Play by email too; a reply to an email confirms your address"
    )
    @app_commands.describe(address="Your email address")
    async def email(self, interaction: Interaction, address: str) -> None:
        await defer(interaction)
        person_id = await self.handler.person_id(interaction.user)
        normalized = await self.handler.service.claim_address(person_id, address)
        await reply_text(interaction, f"An email goes to {normalized}. Reply to it to confirm the address.")


def line_commands(handler: InteractionHandler) -> list[app_commands.Command[Any, Any, Any]]:
    """`/do` and `/undo`."""

    @app_commands.command(name="do", description="Submit a line of the game: buy, sell, lay, run, pass …")
    @app_commands.describe(line="The line; several lines are separated by ;", table=TABLE_OPTION_HELP)
    @app_commands.autocomplete(line=suggest_lines, table=suggest_tables)
    async def do(interaction: Interaction, line: str, table: str | None = None) -> None:
        await defer(interaction)
        found = await handler.resolve_table(interaction, table, ("running", "paused", "finished"))
        custom_id = CustomId(found.id, None, None, controls.SUBMIT_LINE)
        seat = found.seat_of(await handler.person_id(interaction.user))
        if line.startswith("#") and seat is not None:
            choice = controls.find_choice(await handler.service.queries.choices(found.id, seat), line)
            line = choice.line if choice else line
        await handler.submit_lines(interaction, custom_id, split_lines(line))

    @app_commands.command(name="undo", description="Undo your last move, or redo it")
    @app_commands.describe(what="Undo, or redo what was undone", table=TABLE_OPTION_HELP)
    @app_commands.choices(what=[Choice(name="undo", value="undo"), Choice(name="redo", value="redo")])
    @app_commands.autocomplete(table=suggest_tables)
    async def undo(interaction: Interaction, what: str = "undo", table: str | None = None) -> None:
        await defer(interaction)
        found = await handler.resolve_table(interaction, table, ("running", "paused", "finished"))
        await handler.submit_lines(interaction, CustomId(found.id, None, None, controls.SUBMIT_LINE), [what])

    return [do, undo]
