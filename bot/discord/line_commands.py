"""The slash commands that say a line at a table: most of `/table`, `/show`, and `/do` and `/undo`."""

from __future__ import annotations

import discord
from discord import app_commands

from bot.discord.cards import parts
from bot.discord.completion import (
    Interaction,
    handler_of,
    suggest_companies,
    suggest_lines,
    suggest_players,
    suggest_privates,
    suggest_tiles,
)
from bot.discord.controls.controls import SUBMIT_LINE, CustomId
from bot.discord.interactions.replies import reply_text
from bot.discord.slash import REQUIRED, Option, TableCommand
from bot.features.game_files.feature import FAR, FORMATS, TEXT
from bot.features.lobby.lines import SHUFFLED
from bot.hub.changes import check_allowed
from bot.hub.info import TableInfo
from bot.hub.people import player_name
from bot.hub.request import first_word
from renderers import PALETTES

EXPORT_CHOICES = {
    "18xx.games": "18xx.games: a file that the site imports",
    "text": "Text: every move, to read, keep or replay",
    "csv": "Statistics: a table for a spreadsheet",
}
CHART_CHOICES = {
    "worth": "worth: what each player is worth",
    "prices": "prices: of a share of each company",
    "revenue": "revenue: what each company ran",
}
REVIEW_CHOICES = {
    "money": "money: where each player's came from",
    "turns": "turns: the moves that changed most",
    "routes": "routes: each run and the best that was possible",
    "trains": "trains: what each earned and cost",
    "robot": "robot: what it would have done otherwise",
}
UNDO_CHOICES = {"undo": "undo: take your last move back", "redo": "redo: restore what was undone"}
TALK_IN_THREAD = "Nothing was played. People talk in the thread of the table; just write there."
USER = Option("The player on Discord", kind=discord.User)


async def _invite(
    interaction: Interaction, table: TableInfo, user: discord.User | None, address: str | None,
    name: str | None, robot: bool,
) -> None:  # fmt: skip
    if (user is not None) + (address is not None) + robot != 1:
        raise ValueError("Fill in one of `user`, `address` and `robot`.")
    handler = handler_of(interaction)
    if user is not None:
        check_allowed(table, await handler.lines.known_person_id(interaction), seated_players=True)
        await handler.lines.id_of_user(user)  # whose name they have, without another
    who = "robot" if robot else _named(user, address, name)
    await handler.lines.say(interaction, table, [f"invite {who}"])


def _named(user: discord.User | discord.Member | None, address: str | None, name: str | None) -> str:
    """A person as lines name them: `Ann <@123>`, `Ann <ann@example.org>`, `<ann@example.org>`."""
    return f"{name or ''} <{f'@{user.id}' if user else address}>".lstrip()


async def _replace(
    interaction: Interaction, table: TableInfo, seat: str, user: discord.User | None, address: str | None,
    name: str | None,
) -> None:  # fmt: skip
    new = user or (None if address else interaction.user)
    who = _named(new, address, name or (player_name(new.display_name) if new else ""))
    await handler_of(interaction).lines.say(interaction, table, [f"replace {seat.strip()} by {who}"])


TABLE_COMMANDS = (
    TableCommand(
        "join", "Take a seat at a table before its game starts", lambda name: f"join {name or ''}",
        {"name": Option("Your name at the table")}, ("lobby",),
    ),
    TableCommand("leave", "Give up your seat before the game starts", "leave", statuses=("lobby",)),
    TableCommand(
        "who", "Who plays at a table, and who has not answered", "who",
        statuses=("lobby", "running", "paused"),
    ),
    TableCommand(
        "invite", "Keep a seat for another player: on Discord, or by email", options={
            "user": USER, "address": Option("The email address of a player by email"),
            "name": Option("The player's name at the table"),
            "robot": Option("A computer player, if all at the table agree", kind=bool, default=False),
        },
        statuses=("lobby",), act=_invite,
    ),
    TableCommand(
        "agree", "Agree that a robot plays at your table", lambda agree: "agree" if agree else "decline",
        {"agree": Option("False: no robot at this table", kind=bool, default=True)}, ("lobby",),
    ),
    TableCommand(
        "start", "Start the game, as its host, once all have joined",
        lambda order: f"start {order or SHUFFLED}",
        {"order": Option("The players' names in seating order, separated by commas; random if left out")},
        ("lobby",),
    ),
    TableCommand("pause", "Pause a game", "pause", statuses=("running",)),
    TableCommand("resume", "Continue a paused game", "resume", statuses=("paused",)),
    TableCommand("nudge", "Remind those whom the table waits for", "nudge", statuses=("running",)),
    TableCommand(
        "end", "End a game unfinished: as its host, or by a vote of all", "end yes",
        statuses=("lobby", "running", "paused"),
    ),
    TableCommand(
        "replace", "Replace a player by another person", options={
            "seat": Option("The player who is replaced", suggest_players, default=REQUIRED),
            "user": Option(
                "The new player; you, if neither user nor address is given", kind=discord.User
            ),
            "address": Option("The email address of a new player by email"),
            "name": Option("The new player's name at the table"),
        },
        statuses=("running", "paused"), act=_replace,
    ),
    TableCommand(
        "palette", "Choose light or dark pictures for a table", lambda colors: f"palette {colors}",
        {
            "colors": Option(
                "The colours of its pictures", choices={each: each for each in PALETTES}, default=REQUIRED
            ),
        },
    ),
    TableCommand(
        "export", "The game as a file: for 18xx.games, as text, or its statistics",
        lambda to, as_far_as_possible: f"export {to} {FAR if as_far_as_possible else ''}".strip(),
        {
            "to": Option(
                "The format; a text file if left out", default=TEXT,
                choices={each: EXPORT_CHOICES.get(each, each) for each in FORMATS},
            ),
            "as_far_as_possible": Option(
                "For 18xx.games: up to the first move that the site does not have", kind=bool, default=False
            ),
        },
        ("running", "paused", "finished", "ended"),
    ),
)  # fmt: skip
"""Those of `/table`."""


async def _card(interaction: Interaction, table: TableInfo) -> None:
    await handler_of(interaction).show_own_card(interaction, table.id)


async def _plan(interaction: Interaction, table: TableInfo, lines: str | None) -> None:
    handler = handler_of(interaction)
    seat = table.seat_of(await handler.lines.person_id(interaction))
    planned = await handler.lines.line_of(CustomId(table.id, seat, None, SUBMIT_LINE, lines or "show"))
    await handler.lines.say(interaction, table, [f"plan {planned}"])


def _shown(name: str, description: str) -> TableCommand:
    return TableCommand(name, description, name, public=True)


def _about(name: str, description: str, alone: str, line: str, option: str, details: Option) -> TableCommand:
    """A question with an option. alone: the line without it. line: with it, in the place of `{}`."""

    def asked(**given: str | None) -> str:
        return line.format(given[option]) if given[option] else alone

    return TableCommand(name, description, asked, {option: details}, public=True)


SHOW_COMMANDS = (
    TableCommand("card", "What you have to decide, with its controls", act=_card, statuses=("running",)),
    _shown("sheet", "All players and companies"),
    _shown("bids", "What is auctioned, who leads, and everybody's free cash"),
    _shown("trains", "The trains that are left, and those of each company"),
    _shown("animation", "The map of the whole game, turn by turn"),
    _shown("records", "Best run, dearest share, largest bankruptcy"),
    _shown("board", "The tiles and tokens on the map, as text"),
    _shown("map", "The map"),
    _shown("market", "The stock market"),
    _shown("turn", "Who has to act, and what they may do"),
    _about(
        "private", "A private and what it can do; without a name, all", "privates", "privates {}", "name",
        Option("The private", suggest_privates),
    ),
    _about(
        "tiles", "The tiles that are left; where a tile may lie", "tiles", "tiles {}", "tile",
        Option("A tile: where it may lie, and its upgrades", suggest_tiles),
    ),
    _about(
        "routes", "What a company ran last; without a name, all of them", "routes", "routes {}", "company",
        Option("The company", suggest_companies),
    ),
    _about(
        "company", "One company; without a name, the sheet of all", "sheet", "company {}", "name",
        Option("The company", suggest_companies),
    ),
    _about(
        "player", "One player; without a name, the sheet of all", "sheet", "player {}", "name",
        Option("The player", suggest_players),
    ),
    _about(
        "chart", "Worth, share prices or revenue by round", "chart worth", "chart {}", "kind",
        Option("What the chart shows", choices=CHART_CHOICES),
    ),
    _about(
        "review", "What decided the game", "review money", "review {}", "part",
        Option("What the review is about", choices=REVIEW_CHOICES),
    ),
    TableCommand(
        "log", "The moves so far and what they did", lambda count: f"log {count}",
        {"count": Option("Number of rows", kind=app_commands.Range[int, 1, 100], default=12)}, public=True,
    ),
    TableCommand(
        "at", "The position at a round, or at a row of the log", lambda place: f"at {place}",
        {
            "place": Option(
                "For example `or 2.1`, `stock round 3` or `120`; then map, market or sheet", default=REQUIRED
            ),
        },
        public=True,
    ),
    TableCommand(
        "plan", "Try lines on a private copy of the game", options={
            "lines": Option(
                "Lines separated by ; or `more LINES`, `play`, `clear`; if left out, your plan is shown",
                suggest_lines,
            ),
        },
        statuses=("running", "paused"), act=_plan,
    ),
)  # fmt: skip
"""`/show …`"""


async def _do(interaction: Interaction, table: TableInfo, line: str) -> None:
    handler = handler_of(interaction)
    person_id = await handler.lines.person_id(interaction)
    seat = table.seat_of(person_id)
    if first_word(line) == "say":
        text, request_id = " ".join(line.split()[1:]), str(interaction.id)
        told = await handler.service.running.talk(table.id, person_id, text, request_id, in_thread=True)
        said = f"The table is told: {parts.escape_markdown(told)}" if told else TALK_IN_THREAD
        await reply_text(interaction, said)
        return
    await handler.lines.press(interaction, CustomId(table.id, seat, None, SUBMIT_LINE, line))


GAME_COMMANDS = (
    TableCommand(
        "do", "Submit a line of the game: buy, sell, lay, run, pass …", options={
            "line": Option(
                "The line; several lines are separated by ;", suggest_lines, default=REQUIRED
            ),
        },
        statuses=("running", "paused", "finished"), act=_do,
    ),
    TableCommand(
        "undo", "Undo your last move, or redo it", lambda what: what,
        {"what": Option("Undo, or redo what was undone", choices=UNDO_CHOICES, default="undo")},
        ("running", "paused", "finished"),
    ),
)  # fmt: skip
