"""The slash commands. Each defers before it asks for anything, and answers who wrote it alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import discord
from discord import app_commands
from discord.app_commands import Choice

import engine
from bot.discord import cards, controls
from bot.discord.controls import CustomId
from bot.discord.interactions import InteractionHandler, error_text, reply_text
from bot.service import text_views
from bot.service.game_files import FORMATS, TEXT
from bot.service.live_table import TableView, engine_seat
from bot.service.people import claim_address, person_by_address, player_name
from bot.service.results import QueryAnswer
from bot.service.tables import TableInfo
from storage import AlreadyExists

Interaction = discord.Interaction[Any]
Done = Callable[[TableInfo], Awaitable[None]]

MAX_SUGGESTIONS = 25
MAX_CHOICE_LENGTH = 100
TABLE_OPTION_HELP = "The table's code; needed only where it is not clear"


def build_command_tree(client: discord.Client, front: InteractionHandler) -> app_commands.CommandTree[Any]:
    """All commands, for that client."""
    tree: app_commands.CommandTree[Any] = app_commands.CommandTree(client)
    for group in (TableCommands(front), ShowCommands(front), MeCommands(front)):
        tree.add_command(group)
    for command in line_commands(front):
        tree.add_command(command)

    @tree.error
    async def failed(interaction: Interaction, error: app_commands.AppCommandError) -> None:
        cause = error.original if isinstance(error, app_commands.CommandInvokeError) else error
        sentence = error_text(cause)
        if not isinstance(cause, ValueError):
            front.log_error(cause)
        if interaction.type is not discord.InteractionType.autocomplete:
            await reply_text(interaction, sentence)

    return tree


async def defer(interaction: Interaction, *, public: bool = False) -> None:
    """Acknowledge."""
    await interaction.response.defer(ephemeral=not public, thinking=True)


def suggestions(found: Sequence[tuple[str, str]]) -> list[Choice[str]]:
    """Suggestions within Discord's limits: (name, value) each."""
    fitting = [(name, value) for name, value in found if 0 < len(value) <= MAX_CHOICE_LENGTH]
    return [
        Choice(name=cards.truncate(name, MAX_CHOICE_LENGTH), value=value)
        for name, value in fitting[:MAX_SUGGESTIONS]
    ]


def handler_of(interaction: Interaction) -> InteractionHandler:
    """The front of the client that got the interaction."""
    front: InteractionHandler = interaction.client.front
    return front


async def suggest_tables(interaction: Interaction, typed: str) -> list[Choice[str]]:
    """Tables by code, those that wait for who types first."""
    front = handler_of(interaction)
    person = await front.person_id(interaction.user)
    found = []
    for table in await front.matching_tables(interaction, typed):
        turn = (
            " · your turn"
            if table.status == "running" and table.seat_of(person) in table.acting_seats
            else ""
        )
        found.append(
            (f"{table.code} · {table.title} · {table.name} · {table.round or table.status}{turn}", table.code)
        )
    return suggestions(found)


async def suggest_lines(interaction: Interaction, typed: str) -> list[Choice[str]]:
    """All that may be said now, from memory; with dollars where some are typed."""
    seat, view = await _seat_and_view(interaction)
    if view is None or view.state is None or seat is None or view.table.status != "running":
        return []
    choices = engine.choices(view.state, engine_seat(seat))
    wanted = typed.casefold().replace("$", " ").split()
    figure = next((int(word) for word in reversed(wanted) if word.isdecimal()), None)
    found = []
    for place, choice in enumerate(choices):
        line = choice.line
        if choice.amounts and figure is not None and figure in choice.amounts and len(wanted) > 1:
            line = choice.line_for(figure)
        said = f"{line} {choice.label}".casefold()
        if all(word in said for word in wanted):
            value = (
                line
                if len(line) <= MAX_CHOICE_LENGTH
                else controls.encode_choice(choices, place, MAX_CHOICE_LENGTH)
            )
            found.append((f"{line} — {choice.label}", value))
    return suggestions(found)


async def suggest_companies(interaction: Interaction, typed: str) -> list[Choice[str]]:
    """The companies of the table."""
    _, view = await _seat_and_view(interaction)
    known = list(view.state.companies) if view and view.state else []
    return suggestions([(c, c) for c in known if typed.casefold() in c.casefold()])


async def suggest_players(interaction: Interaction, typed: str) -> list[Choice[str]]:
    """Who plays at the table."""
    _, view = await _seat_and_view(interaction)
    known = (view.table.names or tuple(s.name for s in view.table.seated_players)) if view else ()
    return suggestions([(n, n) for n in known if typed.casefold() in n.casefold()])


async def _seat_and_view(interaction: Interaction) -> tuple[int | None, TableView | None]:
    """The seat of who types and the table that is meant, from memory where it is there."""
    front = handler_of(interaction)
    try:
        table = await front.resolve_table(interaction, getattr(interaction.namespace, "table", None))
    except ValueError:
        return None, None
    view = front.service.peek(table.id) or await front.service.view(table.id)
    return view.table.seat_of(await front.person_id(interaction.user)), view


class TableCommands(app_commands.Group):
    """`/table …`"""

    def __init__(self, front: InteractionHandler) -> None:
        super().__init__(name="table", description="Make, fill, begin and end tables")
        self.handler, self.service = front, front.service

    @app_commands.command(name="new", description="Open a table here; you sit at it")
    @app_commands.describe(
        title="The game", name="What the table is called", options="Options of the game, with commas between"
    )
    @app_commands.choices(title=[Choice(name=each, value=each) for each in engine.title_names()])
    async def new(
        self, interaction: Interaction, title: str, name: str | None = None, options: str | None = None
    ) -> None:
        await defer(interaction)
        may = interaction.app_permissions
        if interaction.guild_id and not (
            may.view_channel and (may.send_messages or may.send_messages_in_threads)
        ):
            raise ValueError(
                "I may not write in this channel; open the table in another, or let me write here."
            )
        person = await self.handler.person_id(interaction.user)
        chosen = None if options is None else [each.strip() for each in options.split(",") if each.strip()]
        place = (
            {"guild": interaction.guild_id, "channel": interaction.channel_id}
            if interaction.guild_id
            else None
        )
        table = await self.service.create(title, person, name=(name or "")[:60], options=chosen, place=place)
        await self.service.join(table.id, person, player_name(interaction.user.display_name))
        await reply_text(
            interaction, f"Table {table.code} is open. Others join it by its card or by `/table join`."
        )

    @app_commands.command(name="join", description="Take a seat at a table before it begins")
    @app_commands.describe(table=TABLE_OPTION_HELP, name="Your name at the table")
    @app_commands.autocomplete(table=suggest_tables)
    async def join(self, interaction: Interaction, table: str | None = None, name: str | None = None) -> None:
        await defer(interaction)
        found = await self.handler.resolve_table(interaction, table, ("lobby",))
        await self.handler.handle_lobby(interaction, found, controls.JOIN, name)

    @app_commands.command(name="leave", description="Give up your seat before the table begins")
    @app_commands.describe(table=TABLE_OPTION_HELP)
    @app_commands.autocomplete(table=suggest_tables)
    async def leave(self, interaction: Interaction, table: str | None = None) -> None:
        await defer(interaction)
        found = await self.handler.resolve_table(interaction, table, ("lobby",))
        await self.handler.handle_lobby(interaction, found, controls.LEAVE)

    @app_commands.command(
        name="invite", description="Keep a seat for somebody: on Discord, or by mail address"
    )
    @app_commands.describe(
        user="Who is to play", address="The mail address of who is to play by mail",
        name="The name at the table", table=TABLE_OPTION_HELP,
    )  # fmt: skip
    @app_commands.autocomplete(table=suggest_tables)
    async def invite(
        self,
        interaction: Interaction,
        user: discord.User | None = None,
        address: str | None = None,
        name: str | None = None,
        table: str | None = None,
    ) -> None:
        await defer(interaction)
        if (user is None) == (address is None):
            raise ValueError("Say whom: either `user` or `address`.")
        found = await self.handler.resolve_table(interaction, table, ("lobby",))
        by = await self.handler.person_id(interaction.user)
        person, called = await self._person_and_name(user, address, name)
        await self.service.invite(found.id, person, called, by=by)
        await reply_text(interaction, f"A seat at table {found.code} is kept for {called}, who is told so.")

    async def _person_and_name(
        self, user: discord.User | None, address: str | None, name: str | None
    ) -> tuple[int, str]:
        """A person by Discord or by address, and the name at the table."""
        if user is not None:
            return await self.handler.person_id(user), name or player_name(user.display_name)
        async with self.service.store.begin() as unit:
            person = await person_by_address(unit, address or "", name or "")
        return person.id, name or player_name(person.name)

    @app_commands.command(name="start", description="Begin: the host's, once all have joined")
    @app_commands.describe(
        order="The seating by names, with commas between; without it it is shuffled", table=TABLE_OPTION_HELP
    )
    @app_commands.autocomplete(table=suggest_tables)
    async def start(
        self, interaction: Interaction, order: str | None = None, table: str | None = None
    ) -> None:
        await defer(interaction)
        found = await self.handler.resolve_table(interaction, table, ("lobby",))
        seating = None if order is None else [each.strip() for each in order.split(",") if each.strip()]
        await self.service.start(found.id, by=await self.handler.person_id(interaction.user), order=seating)
        await reply_text(interaction, f"Table {found.code} begins; its thread follows.")

    @app_commands.command(name="list", description="All tables of this server")
    async def list_tables(self, interaction: Interaction) -> None:
        await defer(interaction)
        person = await self.handler.person_id(interaction.user)
        place = ("guild", interaction.guild_id) if interaction.guild_id else None
        found = await self.service.list_tables(place=place, person=None if place else person)
        told = [table_summary(t) for t in reversed(found) if t.status != "ended"]
        await reply_text(
            interaction, "\n".join(told[:30]) or "There is no table yet; `/table new` makes one."
        )

    @app_commands.command(name="replace", description="Let somebody else play on in a seat")
    @app_commands.describe(
        seat="Who is replaced", user="Who plays on; you, where nobody is named",
        address="The mail address of who plays on by mail", name="The name at the table",
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
            raise ValueError(f"Nobody called {seat} plays at table {found.code}.")
        by = await self.handler.person_id(interaction.user)
        if user is None and address is None:
            person, called = by, name or player_name(interaction.user.display_name)
        else:
            person, called = await self._person_and_name(user, address, name)
        await self.service.replace_player(found.id, number, person, called, by=by)
        await reply_text(interaction, f"{called} plays on for {found.names[number]} at table {found.code}.")

    @app_commands.command(name="pause", description="Stop play for a while")
    @app_commands.describe(table=TABLE_OPTION_HELP)
    @app_commands.autocomplete(table=suggest_tables)
    async def pause(self, interaction: Interaction, table: str | None = None) -> None:
        await defer(interaction)
        found = await self.handler.resolve_table(interaction, table, ("running",))
        await self.service.pause(found.id, by=await self.handler.person_id(interaction.user))
        await reply_text(interaction, f"Table {found.code} is paused; `/table resume` lets it go on.")

    @app_commands.command(name="resume", description="Let a paused table go on")
    @app_commands.describe(table=TABLE_OPTION_HELP)
    @app_commands.autocomplete(table=suggest_tables)
    async def resume(self, interaction: Interaction, table: str | None = None) -> None:
        await defer(interaction)
        found = await self.handler.resolve_table(interaction, table, ("paused",))
        await self.service.resume(found.id, by=await self.handler.person_id(interaction.user))
        await reply_text(interaction, f"Table {found.code} goes on.")

    @app_commands.command(name="end", description="End the game unfinished: the host's, or by a vote of all")
    @app_commands.describe(table=TABLE_OPTION_HELP)
    @app_commands.autocomplete(table=suggest_tables)
    async def end(self, interaction: Interaction, table: str | None = None) -> None:
        await defer(interaction)
        found = await self.handler.resolve_table(interaction, table, ("lobby", "running", "paused"))
        person = await self.handler.person_id(interaction.user)
        answer = await self.service.propose_end(found.id, by=person)
        await self.handler.show_result(interaction, answer, found, found.seat_of(person))

    @app_commands.command(
        name="export", description="The game as a file: for 18xx.games, a text, its figures"
    )
    @app_commands.describe(to="In which form; without it as a text", table=TABLE_OPTION_HELP)
    @app_commands.choices(to=[Choice(name=each, value=each) for each in FORMATS])
    @app_commands.autocomplete(table=suggest_tables)
    async def export(self, interaction: Interaction, to: str = TEXT, table: str | None = None) -> None:
        await defer(interaction)
        found = await self.handler.resolve_table(
            interaction, table, ("running", "paused", "finished", "ended")
        )
        answer = await self.service.submit(found.id, 0, [f"export {to}"], None, None)
        await self.handler.show_result(interaction, answer, found, None)


def table_summary(table: TableInfo) -> str:
    """A table in a line."""
    names = table.names or tuple(s.name for s in table.seated_players)
    waits = (
        text_views.join_words([table.names[seat] for seat in table.acting_seats], "or") if table.names else ""
    )
    where = table.round if table.status == "running" else table.status
    thread = f" <#{table.location['thread']}>" if "thread" in table.location else ""
    turn = f" — for {waits}" if waits and table.status == "running" else ""
    sitting = ", ".join(names) or "nobody"
    return f"**{table.code}** · {table.title} · {table.name} · {where} · {sitting}{turn}{thread}"


class ShowCommands(app_commands.Group):
    """`/show …`"""

    def __init__(self, front: InteractionHandler) -> None:
        super().__init__(name="show", description="Look at a table")
        self.handler = front

    async def _show(self, interaction: Interaction, line: str, table: str | None, public: bool) -> None:
        await defer(interaction, public=public)
        found = await self.handler.resolve_table(interaction, table)
        answer = await self.handler.service.submit(found.id, 0, [line], None, None)
        if isinstance(answer, QueryAnswer):
            await self.handler.show_picture(interaction, answer, found, public=public)
        else:
            await self.handler.show_result(interaction, answer, found, None)

    @app_commands.command(name="board", description="The tiles and tokens on the map, in words")
    @app_commands.describe(table=TABLE_OPTION_HELP, public="For all to see")
    @app_commands.autocomplete(table=suggest_tables)
    async def board(self, interaction: Interaction, table: str | None = None, public: bool = False) -> None:
        await self._show(interaction, "board", table, public)

    @app_commands.command(name="map", description="The map")
    @app_commands.describe(table=TABLE_OPTION_HELP, public="For all to see")
    @app_commands.autocomplete(table=suggest_tables)
    async def map(self, interaction: Interaction, table: str | None = None, public: bool = False) -> None:
        await self._show(interaction, "map", table, public)

    @app_commands.command(name="market", description="The stock market")
    @app_commands.describe(table=TABLE_OPTION_HELP, public="For all to see")
    @app_commands.autocomplete(table=suggest_tables)
    async def market(self, interaction: Interaction, table: str | None = None, public: bool = False) -> None:
        await self._show(interaction, "market", table, public)

    @app_commands.command(name="company", description="One company; without a name, the sheet of all")
    @app_commands.describe(name="The company", table=TABLE_OPTION_HELP, public="For all to see")
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
    @app_commands.describe(name="The player", table=TABLE_OPTION_HELP, public="For all to see")
    @app_commands.autocomplete(name=suggest_players, table=suggest_tables)
    async def player(
        self,
        interaction: Interaction,
        name: str | None = None,
        table: str | None = None,
        public: bool = False,
    ) -> None:
        await self._show(interaction, f"player {name}" if name else "sheet", table, public)

    @app_commands.command(name="log", description="What was said and what came of it")
    @app_commands.describe(count="How many rows", table=TABLE_OPTION_HELP, public="For all to see")
    @app_commands.autocomplete(table=suggest_tables)
    async def log(
        self,
        interaction: Interaction,
        count: app_commands.Range[int, 1, 100] = 12,
        table: str | None = None,
        public: bool = False,
    ) -> None:
        await self._show(interaction, f"log {count}", table, public)

    @app_commands.command(name="at", description="How it stood at a round, or at a row of the log")
    @app_commands.describe(
        place="As `or 2.1`, `stock round 3`, `120`, with map, market or sheet behind it",
        table=TABLE_OPTION_HELP, public="For all to see",
    )  # fmt: skip
    @app_commands.autocomplete(table=suggest_tables)
    async def at(
        self, interaction: Interaction, place: str, table: str | None = None, public: bool = False
    ) -> None:
        await self._show(interaction, f"at {place}", table, public)

    @app_commands.command(name="plan", description="Try lines on a copy that is yours alone")
    @app_commands.describe(
        lines="Lines with ; between them; `more LINES`, `play`, `clear`; without any, your plan as it is",
        table=TABLE_OPTION_HELP,
    )  # fmt: skip
    @app_commands.autocomplete(lines=suggest_lines, table=suggest_tables)
    async def plan(
        self, interaction: Interaction, lines: str | None = None, table: str | None = None
    ) -> None:
        await defer(interaction)
        found = await self.handler.resolve_table(interaction, table, ("running", "paused"))
        person = await self.handler.person_id(interaction.user)
        seat = found.seat_of(person)
        answer = await self.handler.service.submit(
            found.id, seat, [f"plan {lines or 'show'}"], None, str(interaction.id),
            person=person, transport="discord",
        )  # fmt: skip
        await self.handler.show_result(interaction, answer, found, seat)

    @app_commands.command(name="turn", description="Whom the table waits for, and for what")
    @app_commands.describe(table=TABLE_OPTION_HELP, public="For all to see")
    @app_commands.autocomplete(table=suggest_tables)
    async def turn(self, interaction: Interaction, table: str | None = None, public: bool = False) -> None:
        await self._show(interaction, "turn", table, public)


class MeCommands(app_commands.Group):
    """`/me …`"""

    def __init__(self, front: InteractionHandler) -> None:
        super().__init__(name="me", description="Your turns, and how you are reached")
        self.handler = front

    @app_commands.command(name="turns", description="Every table that waits for you")
    async def turns(self, interaction: Interaction) -> None:
        await defer(interaction)
        person = await self.handler.person_id(interaction.user)
        found = await self.handler.service.list_tables(person=person, statuses=("running",))
        waiting = [table_summary(t) for t in found if t.seat_of(person) in t.acting_seats]
        await reply_text(interaction, "\n".join(waiting[:30]) or "No table waits for you.")

    @app_commands.command(
        name="email", description="Play by mail too: a letter asks for your confirming reply"
    )
    @app_commands.describe(address="Your mail address")
    async def email(self, interaction: Interaction, address: str) -> None:
        await defer(interaction)
        person = await self.handler.person_id(interaction.user)
        try:
            async with self.handler.service.store.begin() as unit:
                plain = await claim_address(unit, person, address)
        except AlreadyExists as error:
            raise ValueError(str(error)) from error
        self.handler.service.wake_subscribers()
        await reply_text(
            interaction, f"A letter goes to {plain}. Reply to it, and the address is yours here."
        )


def line_commands(front: InteractionHandler) -> list[app_commands.Command[Any, Any, Any]]:
    """`/do` and `/undo`."""

    @app_commands.command(name="do", description="Say a line of the game: buy, sell, lay, run, pass …")
    @app_commands.describe(line="What you say; several lines with ; between them", table=TABLE_OPTION_HELP)
    @app_commands.autocomplete(line=suggest_lines, table=suggest_tables)
    async def do(interaction: Interaction, line: str, table: str | None = None) -> None:
        await defer(interaction)
        found = await front.resolve_table(interaction, table, ("running", "paused", "finished"))
        key = CustomId(found.id, None, None, controls.SUBMIT_LINE)
        seat = found.seat_of(await front.person_id(interaction.user))
        if line.startswith("#") and seat is not None:
            choice = controls.find_choice(await front.service.choices(found.id, seat), line)
            line = choice.line if choice else line
        await front.submit_lines(interaction, key, [each for each in line.split(";") if each.strip()])

    @app_commands.command(name="undo", description="Take your last move back, or play it again")
    @app_commands.describe(what="Take back, or play again what was taken back", table=TABLE_OPTION_HELP)
    @app_commands.choices(what=[Choice(name="undo", value="undo"), Choice(name="redo", value="redo")])
    @app_commands.autocomplete(table=suggest_tables)
    async def undo(interaction: Interaction, what: str = "undo", table: str | None = None) -> None:
        await defer(interaction)
        found = await front.resolve_table(interaction, table, ("running", "paused", "finished"))
        await front.submit_lines(interaction, CustomId(found.id, None, None, controls.SUBMIT_LINE), [what])

    return [do, undo]
