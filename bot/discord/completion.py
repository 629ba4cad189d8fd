"""Suggestions for the options of slash commands."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import discord
from discord.app_commands import Choice

import engine
from bot.discord.cards import parts
from bot.discord.controls import controls
from bot.discord.interactions.interactions import InteractionHandler
from bot.discord.table_lookup import matching_tables, resolve_table
from bot.features.game_files.feature import MAX_BYTES
from bot.hub.table import TableView
from bot.position.pending import engine_seat
from engine.title import SITE_CONVENTIONS

Interaction = discord.Interaction[Any]
Suggestions = Callable[[Interaction, str], Coroutine[Any, Any, list[Choice[str]]]]

MAX_SUGGESTIONS = 25
MAX_CHOICE_LENGTH = 100
SITE = "18xx.games"


async def read_file(file: discord.Attachment) -> bytes:
    """The bytes of a game that a user has attached. Raises ValueError for too large a file."""
    if file.size > MAX_BYTES:
        raise ValueError(f"The file is larger than {MAX_BYTES >> 20} MB.")
    return await file.read()


def suggestions(candidates: Sequence[tuple[str, str]]) -> list[Choice[str]]:
    """Suggestions within Discord's limits, from (name, value) of each candidate."""
    fitting = [(name, value) for name, value in candidates if 0 < len(value) <= MAX_CHOICE_LENGTH]
    return [
        Choice(name=parts.truncate(name, MAX_CHOICE_LENGTH), value=value)
        for name, value in fitting[:MAX_SUGGESTIONS]
    ]


def handler_of(interaction: Interaction) -> InteractionHandler:
    """The handler of the client that received the interaction."""
    handler: InteractionHandler = interaction.client.handler
    return handler


async def suggest_tables(interaction: Interaction, typed: str) -> list[Choice[str]]:
    """Tables by code, those that wait for the user first."""
    handler = handler_of(interaction)
    person_id = await handler.lines.known_person_id(interaction)
    candidates = []
    for table in await matching_tables(handler.lines, interaction, person_id, typed):
        turn = (
            " · your turn"
            if table.status == "running" and table.seat_of(person_id) in table.acting_seats
            else ""
        )
        candidates.append(
            (f"{table.code} · {table.title_and_name} · {table.round or table.status}{turn}", table.code)
        )
    return suggestions(candidates)


async def suggest_options(interaction: Interaction, typed: str) -> list[Choice[str]]:
    """The options of the title of a new table with what each does, after those that are typed already."""
    *before, last = [part.strip() for part in typed.split(",")]
    given = interaction.namespace
    title = getattr(given, "title", None)
    if title not in engine.title_names():
        return []
    site = [SITE_CONVENTIONS] if getattr(given, "conventions", None) == SITE else []
    chosen = [part for part in before if part]
    return suggestions(
        [
            (f"{option}: {text}", ", ".join([*chosen, option]))
            for option, text in fitting_options(title, [*site, *chosen])
            if last.casefold() in option
        ]
    )


async def suggest_lines(interaction: Interaction, typed: str) -> list[Choice[str]]:
    """The lines that the user may submit now; with an amount of dollars where they have typed one."""
    seat, view = await _seat_and_view(interaction)
    if view is None or view.state is None or seat is None or view.table.status != "running":
        return []
    own = engine_seat(seat)
    choices = [*engine.choices(view.state, own), *engine.other_runs(view.state, own)]
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


async def _seat_and_view(interaction: Interaction) -> tuple[int | None, TableView | None]:
    """The user's seat and the table that the command is about; None for both where there is none."""
    handler = handler_of(interaction)
    try:
        table = await resolve_table(handler.lines, interaction, getattr(interaction.namespace, "table", None))
    except ValueError:
        return None, None
    view = handler.service.queries.peek(table.id) or await handler.service.queries.view(table.id)
    return view.table.seat_of(await handler.lines.known_person_id(interaction)), view


def _suggest(candidates: Callable[[TableView, engine.State], Sequence[tuple[str, str]]]) -> Suggestions:
    """Suggests what there is at the table: (name, value) of each."""

    async def suggest(interaction: Interaction, typed: str) -> list[Choice[str]]:
        _, view = await _seat_and_view(interaction)
        found = candidates(view, view.state) if view and view.state else ()
        wanted = typed.casefold()
        return suggestions([each for each in found if wanted in each[0].partition(", ")[0].casefold()])

    return suggest


def _privates(_: TableView, state: engine.State) -> list[tuple[str, str]]:
    known = [p for p in engine.game_of(state).components.privates if p.sym in state.private_owners]
    return [(f"{p.sym} · {p.name}", p.sym) for p in known]


def _tiles(_: TableView, state: engine.State) -> list[tuple[str, str]]:
    left = engine.tiles_left(state)
    return [(f"#{tile}, {'any number' if n is None else n} left", tile) for tile, n in left.items()]


suggest_companies = _suggest(lambda _, state: [(each, each) for each in state.companies])
suggest_players = _suggest(lambda view, _: [(each, each) for each in view.table.names])
suggest_privates, suggest_tiles = _suggest(_privates), _suggest(_tiles)


OPTION_TEXTS = {
    "multiple_brown_from_ipo": "several shares of a company in the brown zone may be bought in one turn",
    "optional_6_train": "three trains of size 6 instead of two",
    "claims": "presidents claim a revenue, and others may challenge it",
    "johnson_city_falling": "Johnson City is worth most at the beginning",
    "finish_on_400": "the game also ends when a price reaches $400",
    "diesels": "diesels of any reach instead of trains 8, 10 and 12",
    "historical_order": "companies start in the order of history",
    "non_blocking_tokens": "destination tokens take no slots of their cities",
    "private_treasuries": "only presidents know how much money their companies have",
    "original_rules": "all original rules of the list at once",
    "can_protect_if_sold": "prices may be protected in a turn in which one has sold",
    "max_reissue_200": "reissued shares cost $200 at most",
    "original_market": "the zones of the original market",
    "original_tiles": "the tiles of the original edition only",
    "station_wars": "destination tokens take slots of their cities",
    "five_shorts": "at most five shares of a company may be sold short",
    "increased_short_sales": "ten shares of a company of ten may be sold short",
    "modern_trains": "late trains earn a bonus at stations of their own",
    "more_players": "for more players than the box",
    "short_squeeze": "prices rise by two where players hold more than all shares",
}


def fitting_options(title: str, chosen: Sequence[str]) -> list[tuple[str, str]]:
    """The options (name, what it does) of a title that go together with those that are chosen."""
    return [
        (option, OPTION_TEXTS.get(option, ""))
        for option in engine.optional_rules(title)
        if option not in chosen and _is_possible(title, (*chosen, option))
    ]


def _is_possible(title: str, options: Sequence[str]) -> bool:
    try:
        engine.title_of(title, tuple(options))
    except ValueError:
        return False
    return True
