"""Practice: a game of one person against two robots, with hints and examples of lines."""

from __future__ import annotations

from typing import get_args

from bot.hub.queries import TableQueries
from bot.hub.table import TableView
from storage import TableStatus

MAX_EXAMPLES = 6
PRACTICE_NAME = "Guest"
PRACTICE_TEXT = (
    "Practice game {code} of {title}: you are Guest and play against two robots. `hint` says what a robot "
    "would do and why, `help` lists what you can do now, `show map`, `show market` and `show sheet` draw "
    "pictures, `undo` takes your move back, and `table end` ends the game."
)


async def practice_offer(queries: TableQueries) -> str:
    """An offer to practise, where there has never been a table; else nothing."""
    if await queries.table_ids(get_args(TableStatus)):
        return ""
    return "New here? `practice` begins a game against two robots, with hints."


async def example_lines(queries: TableQueries, view: TableView) -> str:
    """For who learns to play: a line of each kind that the player may enter now."""
    seat = next((p.seat for p in view.pending if p.is_main), None)
    if seat is None or view.state is None or view.state.game_over:
        return ""
    first: dict[str, str] = {}
    for choice in await queries.choices(view.table.id, seat):
        if not choice.line.startswith("sell private"):
            first.setdefault(choice.path[0], choice.line)
    lines = ", ".join(f"`{line}`" for line in list(first.values())[:MAX_EXAMPLES])
    return f"\nSuch as {lines}. `help` lists everything, `hint` says what a robot would do." if lines else ""
