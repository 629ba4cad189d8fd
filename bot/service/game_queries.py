"""Questions about a whole game: its charts, its records, its map as an animation.

The game is taken from the table at once; what follows from it is worked out in a thread, beside the event
loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import engine
from bot.service.amounts import dollars
from bot.service.game_records import game_records, records_text
from bot.service.live_table import LiveTable
from bot.service.results import QueryAnswer
from bot.service.text_views import LINE_WIDTH, join_words, text_table
from engine.game_text.history import GameHistory, HistoryLine, round_statistics
from renderers import CHART_KINDS, ChartKind, short_round

GAME_QUERIES = ("chart", "records", "animation")
ANIMATION_TEXT = "The map of the game, turn by turn."
NO_RECORDS = "No company has a price yet."
HEADINGS: dict[ChartKind, str] = {
    "worth": "Worth at the end of each round:",
    "prices": "Share prices at the end of each round:",
    "revenue": "Revenue of each operating round:",
}


async def run_game_query(
    table: LiveTable, query: str, argument: str, decision_id: str | None = None
) -> QueryAnswer:
    """The answer to one of the `GAME_QUERIES`. Raises ValueError with a sentence."""
    picture: str | None = None
    match query:
        case "chart":
            picture = chart_kind(argument)
            text = await asyncio.to_thread(chart_text, *table.log.stored_game(), picture)
        case "animation":
            text, picture = ANIMATION_TEXT, "animation"
        case _:
            records = await asyncio.to_thread(game_records, *table.log.stored_game())
            text = "\n".join(records_text(records)) or NO_RECORDS
    return QueryAnswer(query, text, picture, next_decision_id=decision_id)


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
    lines = tuple(HistoryLine("", "", engine.decode_events(raw)) for raw in events)
    heading, *rows = round_statistics(GameHistory(start, lines))
    players, companies = len(start.players), list(start.companies)
    first = {"worth": 1, "prices": 1 + players, "revenue": 1 + players + len(companies)}[kind]
    names = heading[1 : 1 + players] if kind == "worth" else companies
    columns = [first + i for i in range(len(names)) if any(row[first + i] for row in rows)]
    rows = [row for row in rows if any(row[i] for i in columns)]
    if not columns:
        return f"{HEADINGS[kind]}\nNothing yet."
    names = [names[i - first] for i in columns]
    cells = [
        [short_round(row[0]), *(dollars(int(row[i])) if row[i] else "" for i in columns)] for row in rows
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
