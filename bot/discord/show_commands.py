"""`/show …`: everything that can be read about a table, for the user alone unless `public` is set."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from discord import app_commands

from bot.discord.completion import (
    Interaction,
    Suggestions,
    defer,
    suggest_companies,
    suggest_lines,
    suggest_players,
    suggest_privates,
    suggest_tiles,
    table_command,
)
from bot.discord.interactions.interactions import InteractionHandler
from bot.hub.request import QueryAnswer

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


class Question(NamedTuple):
    """A question with one option at most. line: with what the option is, in the place of `{}`. alone: without
    the option. suggest: completes it. choices: the name of each of its values."""

    description: str
    alone: str
    line: str = ""
    option: str = ""
    help: str = ""
    suggest: Suggestions | None = None
    choices: Mapping[str, str] = MappingProxyType({})


QUESTIONS = {
    "sheet": Question("All players and companies", "sheet"),
    "bids": Question("What is auctioned, who leads, and everybody's free cash", "bids"),
    "trains": Question("The trains that are left, and those of each company", "trains"),
    "animation": Question("The map of the whole game, turn by turn", "animation"),
    "records": Question("Best run, dearest share, largest bankruptcy", "records"),
    "board": Question("The tiles and tokens on the map, as text", "board"),
    "map": Question("The map", "map"),
    "market": Question("The stock market", "market"),
    "turn": Question("Who has to act, and what they may do", "turn"),
    "private": Question(
        "A private and what it can do; without a name, all", "privates", "privates {}", "name", "The private",
        suggest_privates,
    ),
    "tiles": Question(
        "The tiles that are left; where a tile may lie", "tiles", "tiles {}", "tile",
        "A tile: where it may lie, and its upgrades", suggest_tiles,
    ),
    "routes": Question(
        "What a company ran last; without a name, all of them", "routes", "routes {}", "company",
        "The company", suggest_companies,
    ),
    "company": Question(
        "One company; without a name, the sheet of all", "sheet", "company {}", "name", "The company",
        suggest_companies,
    ),
    "player": Question(
        "One player; without a name, the sheet of all", "sheet", "player {}", "name", "The player",
        suggest_players,
    ),
    "chart": Question(
        "Worth, share prices or revenue by round", "chart worth", "chart {}", "kind", "What the chart shows",
        choices=CHART_CHOICES,
    ),
    "review": Question(
        "What decided the game", "review money", "review {}", "part", "What the review is about",
        choices=REVIEW_CHOICES,
    ),
}  # fmt: skip
"""The questions with one option at most, by the name of their command."""

question = partial(table_command, public="Everybody can see it")
"""A command that everybody may see the answer of."""


class ShowCommands(app_commands.Group):
    """`/show …`"""

    def __init__(self, handler: InteractionHandler) -> None:
        super().__init__(name="show", description="Show a table")
        self.handler = handler
        for name, asked in QUESTIONS.items():
            self.add_command(self._question(name, asked))

    def _question(self, name: str, asked: Question) -> Any:
        if not asked.line:

            @question(name, asked.description)
            async def ask(interaction: Interaction, table: str | None = None, public: bool = False) -> None:
                await self._show(interaction, asked.alone, table, public)

            return ask

        @question(
            name,
            asked.description,
            suggest={"value": asked.suggest} if asked.suggest else {},
            choices={"value": asked.choices} if asked.choices else {},
            value=asked.help,
        )
        @app_commands.rename(value=asked.option)
        async def ask_about(
            interaction: Interaction, value: str | None = None, table: str | None = None, public: bool = False
        ) -> None:
            line = asked.line.format(value) if value else asked.alone
            await self._show(interaction, line, table, public)

        return ask_about

    async def _show(self, interaction: Interaction, line: str, table: str | None, public: bool) -> None:
        await defer(interaction, public=public)
        found = await self.handler.lookup.resolve_table(interaction, table)
        viewer = None if public else await self.handler.lookup.person_id(interaction.user)
        result = await self.handler.service.ask(found.id, line, person_id=viewer)
        if isinstance(result, QueryAnswer):
            await self.handler.lines.show_answer(interaction, result, found, public=public)
        else:
            await self.handler.lines.show_result(interaction, result, found, None)

    @table_command("card", "What you have to decide, with its controls")
    async def card(self, interaction: Interaction, table: str | None = None) -> None:
        await defer(interaction)
        found = await self.handler.lookup.resolve_table(interaction, table, ("running",))
        await self.handler.show_own_card(interaction, found.id)

    @question("log", "The moves so far and what they did", count="Number of rows")
    async def log(
        self,
        interaction: Interaction,
        count: app_commands.Range[int, 1, 100] = 12,
        table: str | None = None,
        public: bool = False,
    ) -> None:
        await self._show(interaction, f"log {count}", table, public)

    @question(
        "at",
        "The position at a round, or at a row of the log",
        place="For example `or 2.1`, `stock round 3` or `120`; then map, market or sheet",
    )
    async def at(
        self, interaction: Interaction, place: str, table: str | None = None, public: bool = False
    ) -> None:
        await self._show(interaction, f"at {place}", table, public)

    @table_command(
        "plan",
        "Try lines on a private copy of the game",
        suggest={"lines": suggest_lines},
        lines="Lines separated by ; or `more LINES`, `play`, `clear`; if left out, your plan is shown",
    )
    async def plan(
        self, interaction: Interaction, lines: str | None = None, table: str | None = None
    ) -> None:
        await defer(interaction)
        found = await self.handler.lookup.resolve_table(interaction, table, ("running", "paused"))
        person_id = await self.handler.lookup.person_id(interaction.user)
        seat = found.seat_of(person_id)
        result = await self.handler.service.submit(
            found.id, seat, [f"plan {lines or 'show'}"], None, str(interaction.id),
            person_id=person_id, transport="discord",
        )  # fmt: skip
        await self.handler.lines.show_result(interaction, result, found, seat)
