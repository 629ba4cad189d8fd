"""`/show …`: everything that can be read about a table, for the user alone unless `public` is set."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from discord import app_commands
from discord.app_commands import Choice

from bot.discord.completion import (
    TABLE_OPTION_HELP,
    Interaction,
    defer,
    suggest_companies,
    suggest_lines,
    suggest_players,
    suggest_privates,
    suggest_tables,
    suggest_tiles,
)
from bot.discord.interactions.interactions import InteractionHandler
from bot.hub.result import QueryAnswer

Suggestions = Callable[[Interaction, str], Coroutine[Any, Any, list[Choice[str]]]]

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

PLAIN_QUESTIONS = {
    "sheet": "All players and companies",
    "bids": "What is auctioned, who leads, and everybody's free cash",
    "trains": "The trains that are left, and those of each company",
    "animation": "The map of the whole game, turn by turn",
    "records": "Best run, dearest share, largest bankruptcy",
    "board": "The tiles and tokens on the map, as text",
    "map": "The map",
    "market": "The stock market",
    "turn": "Who has to act, and what they may do",
}
"""Questions without an option of their own, with their descriptions."""


def question(
    name: str, description: str, /, *, suggest: Mapping[str, Suggestions] | None = None, **options: str
) -> Callable[[Any], Any]:
    """A command with these options, and with the options `table` and `public`, which come last."""

    def decorate(callback: Any) -> Any:
        app_commands.describe(**options, table=TABLE_OPTION_HELP, public="Everybody can see it")(callback)
        app_commands.autocomplete(**(suggest or {}), table=suggest_tables)(callback)
        return app_commands.command(name=name, description=description)(callback)

    return decorate


class ShowCommands(app_commands.Group):
    """`/show …`"""

    def __init__(self, handler: InteractionHandler) -> None:
        super().__init__(name="show", description="Show a table")
        self.handler = handler
        for name, description in PLAIN_QUESTIONS.items():
            self.add_command(self._plain_question(name, description))

    def _plain_question(self, name: str, description: str) -> Any:
        @question(name, description)
        async def ask(interaction: Interaction, table: str | None = None, public: bool = False) -> None:
            await self._show(interaction, name, table, public)

        return ask

    async def _show(self, interaction: Interaction, line: str, table: str | None, public: bool) -> None:
        await defer(interaction, public=public)
        found = await self.handler.lookup.resolve_table(interaction, table)
        viewer = None if public else await self.handler.lookup.person_id(interaction.user)
        result = await self.handler.service.ask(found.id, line, person_id=viewer)
        if isinstance(result, QueryAnswer):
            await self.handler.lines.show_answer(interaction, result, found, public=public)
        else:
            await self.handler.lines.show_result(interaction, result, found, None)

    @app_commands.command(name="card", description="What you have to decide, with its controls")
    @app_commands.describe(table=TABLE_OPTION_HELP)
    @app_commands.autocomplete(table=suggest_tables)
    async def card(self, interaction: Interaction, table: str | None = None) -> None:
        await defer(interaction)
        found = await self.handler.lookup.resolve_table(interaction, table, ("running",))
        await self.handler.show_own_card(interaction, found.id)

    @question(
        "private",
        "A private and what it can do; without a name, all",
        suggest={"name": suggest_privates},
        name="The private",
    )
    async def private(
        self,
        interaction: Interaction,
        name: str | None = None,
        table: str | None = None,
        public: bool = False,
    ) -> None:
        await self._show(interaction, f"privates {name or ''}", table, public)

    @question(
        "tiles",
        "The tiles that are left; where a tile may lie",
        suggest={"tile": suggest_tiles},
        tile="A tile: where it may lie, and its upgrades",
    )
    async def tiles(
        self,
        interaction: Interaction,
        tile: str | None = None,
        table: str | None = None,
        public: bool = False,
    ) -> None:
        await self._show(interaction, f"tiles {tile or ''}", table, public)

    @question(
        "routes",
        "What a company ran last; without a name, all of them",
        suggest={"company": suggest_companies},
        company="The company",
    )
    async def routes(
        self,
        interaction: Interaction,
        company: str | None = None,
        table: str | None = None,
        public: bool = False,
    ) -> None:
        await self._show(interaction, f"routes {company or ''}", table, public)

    @question("chart", "Worth, share prices or revenue by round", kind="What the chart shows")
    @app_commands.choices(kind=[Choice(name=name, value=kind) for kind, name in CHART_CHOICES.items()])
    async def chart(
        self, interaction: Interaction, kind: str = "worth", table: str | None = None, public: bool = False
    ) -> None:
        await self._show(interaction, f"chart {kind}", table, public)

    @question("review", "What decided the game", part="What the review is about")
    @app_commands.choices(part=[Choice(name=name, value=part) for part, name in REVIEW_CHOICES.items()])
    async def review(
        self, interaction: Interaction, part: str = "money", table: str | None = None, public: bool = False
    ) -> None:
        await self._show(interaction, f"review {part}", table, public)

    @question(
        "company",
        "One company; without a name, the sheet of all",
        suggest={"name": suggest_companies},
        name="The company",
    )
    async def company(
        self,
        interaction: Interaction,
        name: str | None = None,
        table: str | None = None,
        public: bool = False,
    ) -> None:
        await self._show(interaction, f"company {name}" if name else "sheet", table, public)

    @question(
        "player",
        "One player; without a name, the sheet of all",
        suggest={"name": suggest_players},
        name="The player",
    )
    async def player(
        self,
        interaction: Interaction,
        name: str | None = None,
        table: str | None = None,
        public: bool = False,
    ) -> None:
        await self._show(interaction, f"player {name}" if name else "sheet", table, public)

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
        found = await self.handler.lookup.resolve_table(interaction, table, ("running", "paused"))
        person_id = await self.handler.lookup.person_id(interaction.user)
        seat = found.seat_of(person_id)
        result = await self.handler.service.submit(
            found.id, seat, [f"plan {lines or 'show'}"], None, str(interaction.id),
            person_id=person_id, transport="discord",
        )  # fmt: skip
        await self.handler.lines.show_result(interaction, result, found, seat)
