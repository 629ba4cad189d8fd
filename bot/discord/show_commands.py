"""`/show …`: everything that can be read about a table, for the user alone unless `public` is set."""

from __future__ import annotations

from discord import app_commands
from discord.app_commands import Choice

from bot.discord.autocomplete import (
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
from bot.discord.interactions import InteractionHandler
from bot.service.results import QueryAnswer

CHART_CHOICES = {
    "worth": "worth: what each player is worth",
    "prices": "prices: of a share of each company",
    "revenue": "revenue: what each company ran",
}


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

    @app_commands.command(name="card", description="What you have to decide, with its controls")
    @app_commands.describe(table=TABLE_OPTION_HELP)
    @app_commands.autocomplete(table=suggest_tables)
    async def card(self, interaction: Interaction, table: str | None = None) -> None:
        await defer(interaction)
        found = await self.handler.resolve_table(interaction, table, ("running",))
        await self.handler.show_own_card(interaction, found.id)

    @app_commands.command(name="sheet", description="All players and companies")
    @app_commands.describe(table=TABLE_OPTION_HELP, public="Everybody can see it")
    @app_commands.autocomplete(table=suggest_tables)
    async def sheet(self, interaction: Interaction, table: str | None = None, public: bool = False) -> None:
        await self._show(interaction, "sheet", table, public)

    @app_commands.command(name="bids", description="What is auctioned, who leads, and everybody's free cash")
    @app_commands.describe(table=TABLE_OPTION_HELP, public="Everybody can see it")
    @app_commands.autocomplete(table=suggest_tables)
    async def bids(self, interaction: Interaction, table: str | None = None, public: bool = False) -> None:
        await self._show(interaction, "bids", table, public)

    @app_commands.command(name="private", description="A private and what it can do; without a name, all")
    @app_commands.describe(name="The private", table=TABLE_OPTION_HELP, public="Everybody can see it")
    @app_commands.autocomplete(name=suggest_privates, table=suggest_tables)
    async def private(
        self,
        interaction: Interaction,
        name: str | None = None,
        table: str | None = None,
        public: bool = False,
    ) -> None:
        await self._show(interaction, f"privates {name or ''}", table, public)

    @app_commands.command(name="trains", description="The trains that are left, and those of each company")
    @app_commands.describe(table=TABLE_OPTION_HELP, public="Everybody can see it")
    @app_commands.autocomplete(table=suggest_tables)
    async def trains(self, interaction: Interaction, table: str | None = None, public: bool = False) -> None:
        await self._show(interaction, "trains", table, public)

    @app_commands.command(name="tiles", description="The tiles that are left; where a tile may lie")
    @app_commands.describe(
        tile="A tile: where it may lie, and its upgrades", table=TABLE_OPTION_HELP,
        public="Everybody can see it",
    )  # fmt: skip
    @app_commands.autocomplete(tile=suggest_tiles, table=suggest_tables)
    async def tiles(
        self,
        interaction: Interaction,
        tile: str | None = None,
        table: str | None = None,
        public: bool = False,
    ) -> None:
        await self._show(interaction, f"tiles {tile or ''}", table, public)

    @app_commands.command(name="routes", description="What a company ran last; without a name, all of them")
    @app_commands.describe(company="The company", table=TABLE_OPTION_HELP, public="Everybody can see it")
    @app_commands.autocomplete(company=suggest_companies, table=suggest_tables)
    async def routes(
        self,
        interaction: Interaction,
        company: str | None = None,
        table: str | None = None,
        public: bool = False,
    ) -> None:
        await self._show(interaction, f"routes {company or ''}", table, public)

    @app_commands.command(name="chart", description="Worth, share prices or revenue by round")
    @app_commands.describe(
        kind="What the chart shows", table=TABLE_OPTION_HELP, public="Everybody can see it"
    )
    @app_commands.choices(kind=[Choice(name=name, value=kind) for kind, name in CHART_CHOICES.items()])
    @app_commands.autocomplete(table=suggest_tables)
    async def chart(
        self, interaction: Interaction, kind: str = "worth", table: str | None = None, public: bool = False
    ) -> None:
        await self._show(interaction, f"chart {kind}", table, public)

    @app_commands.command(name="animation", description="The map of the whole game, turn by turn")
    @app_commands.describe(table=TABLE_OPTION_HELP, public="Everybody can see it")
    @app_commands.autocomplete(table=suggest_tables)
    async def animation(
        self, interaction: Interaction, table: str | None = None, public: bool = False
    ) -> None:
        await self._show(interaction, "animation", table, public)

    @app_commands.command(name="records", description="Best run, dearest share, largest bankruptcy")
    @app_commands.describe(table=TABLE_OPTION_HELP, public="Everybody can see it")
    @app_commands.autocomplete(table=suggest_tables)
    async def records(self, interaction: Interaction, table: str | None = None, public: bool = False) -> None:
        await self._show(interaction, "records", table, public)

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
