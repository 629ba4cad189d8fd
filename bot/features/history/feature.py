"""Questions about a whole game: its charts, its records, its map as an animation.

The game is taken from the table at once; what follows from it is worked out in a thread, beside the event
loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import engine
from bot.hub.command import Command, Form, Query, QueryRequest
from bot.hub.feature import EndingPart
from bot.hub.request import QueryAnswer
from bot.hub.table import LiveTable
from bot.position.text_views import LINE_WIDTH, text_table
from engine.core.events import (
    AnyEvent,
    FramePushed,
    FrameReplaced,
    ParSet,
    PlayerBankrupt,
    PriceMoved,
    RoundStarted,
)
from engine.core.state import GameOver
from engine.core.words import dollars, join_words
from engine.game_text.history import round_statistics
from renderers import CHART_KINDS, ChartKind

ANIMATION_TEXT = "The map of the game, turn by turn."
NO_RECORDS = "No company has a price yet."
HEADINGS: dict[ChartKind, str] = {
    "worth": "Worth at the end of each round:",
    "prices": "Share prices at the end of each round:",
    "revenue": "Revenue of each operating round:",
}


def commands() -> list[Command]:
    """The questions about a whole game."""
    charts = Form(f"chart [{'|'.join(CHART_KINDS)}]", "worth by round; also prices, revenue", "chart worth")
    return [
        Query("chart", (charts,), _chart),
        Query("records", (Form("records", "best run, dearest share"),), _records),
        Query("animation", (Form("animation", "the map turn by turn"),), _animation),
    ]


async def add_to_ending(table: LiveTable) -> EndingPart:
    """Records, the charts, and the map as an animation."""
    records = await asyncio.to_thread(game_records, *table.log.stored_game())
    found = list(records_text(records))
    return EndingPart([("Records", found)] if found else [], pictures=[*CHART_KINDS, "animation"])


async def _chart(query: QueryRequest) -> QueryAnswer:
    kind = chart_kind(query.argument)
    text = await asyncio.to_thread(chart_text, *query.table.log.stored_game(), kind)
    return QueryAnswer("chart", text, kind)


async def _records(query: QueryRequest) -> QueryAnswer:
    records = await asyncio.to_thread(game_records, *query.table.log.stored_game())
    text = "\n".join(records_text(records)) or NO_RECORDS
    return QueryAnswer("records", text)


async def _animation(query: QueryRequest) -> QueryAnswer:
    return QueryAnswer("animation", ANIMATION_TEXT, "animation")


def chart_kind(name: str) -> ChartKind:
    """The chart of that name; the worth of the players without a name. Raises ValueError."""
    wanted = name.casefold() or CHART_KINDS[0]
    for kind in CHART_KINDS:
        if kind.startswith(wanted):
            return kind
    raise ValueError(f"There is no chart {name}; there are {join_words(CHART_KINDS)}.")


def chart_text(start: engine.State, events: Sequence[bytes], kind: ChartKind) -> str:
    """A chart as a table: a line for each round, a column for each player or company.

    Where it would be wider than a line, the columns are in several tables.
    """
    heading, *rows = round_statistics(start, map(engine.decode_events, events))
    players, companies = len(start.players), list(start.companies)
    first = {"worth": 1, "prices": 1 + players, "revenue": 1 + players + len(companies)}[kind]
    names = heading[1 : 1 + players] if kind == "worth" else companies
    columns = [first + i for i in range(len(names)) if any(row[first + i] for row in rows)]
    rows = [row for row in rows if any(row[i] for i in columns)]
    if not columns:
        return f"{HEADINGS[kind]}\nNothing yet."
    names = [names[i - first] for i in columns]
    cells = [
        [engine.short_round(row[0]), *(dollars(int(row[i])) if row[i] else "" for i in columns)]
        for row in rows
    ]
    return f"{HEADINGS[kind]}\n{_tables(['round', *names], cells)}"


def _tables(heading: list[str], rows: list[list[str]]) -> str:
    """A table; one that would be wider than a line, as several with the same first column."""
    width = max(len(cell) for row in [heading, *rows] for cell in row[1:]) + 2
    fitting = max(1, (LINE_WIDTH - max(len(row[0]) for row in rows)) // width)
    parts = [
        [[row[0], *row[at : at + fitting]] for row in [heading, *rows]]
        for at in range(1, len(heading), fitting)
    ]
    return "\n\n".join("\n".join(text_table(head, body)) for head, *body in parts)


class Record(NamedTuple):
    """A company or a player, dollars, and the round."""

    name: str
    dollars: int
    round: str


Records = Mapping[str, Record]
"""The best `run`, the dearest `share`, the largest `bankruptcy` of a game, as far as there was one. Of equals
the first holds the record."""


def game_records(start: engine.State, events: Sequence[bytes]) -> Records:
    """The records of a game. `start`, `events`: as `TableQueries.stored_game` returns them."""
    state, records, round = engine.copy_state(start), dict[str, Record](), "opening"
    worth = engine.standings(state)

    def compare(kind: str, name: str, amount: int) -> None:
        if kind not in records or records[kind].dollars < amount:
            records[kind] = Record(name, amount, round)

    for raw in events:
        for event in engine.decode_events(raw):
            event.apply(state)
            if isinstance(event, RoundStarted):
                round, worth = event.name, engine.standings(state)
            elif isinstance(event, engine.TrainsRan):
                compare("run", event.company, event.revenue)
            elif isinstance(event, PriceMoved | ParSet):
                compare("share", event.company, engine.game_of(state).price(event.company))
            elif seat := _bankrupt_seat(event):
                compare("bankruptcy", state.name(seat), worth[seat])
    return records


def _bankrupt_seat(event: AnyEvent) -> str | None:
    """The seat that becomes bankrupt by an event."""
    match event:
        case PlayerBankrupt():
            return event.seat
        case FramePushed(frame=GameOver() as over) | FrameReplaced(frame=GameOver() as over):
            return over.bankrupt
    return None


def records_text(records: Records) -> Iterator[str]:
    """Each record in a sentence."""
    if run := records.get("run"):
        yield f"Best run: {run.name} with {dollars(run.dollars)} in {engine.short_round(run.round)}."
    if share := records.get("share"):
        first = engine.short_round(share.round)
        yield f"Dearest share: {share.name} at {dollars(share.dollars)}, first in {first}."
    if fall := records.get("bankruptcy"):
        began = f"worth {dollars(fall.dollars)} when {engine.short_round(fall.round)} began"
        yield f"Largest bankruptcy: {fall.name}, {began}."
