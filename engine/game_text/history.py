"""The history of a game: its first position, and its lines with the events that each one caused.

A history is written as a game text with checkpoints, or as a table of statistics by round. No rule is
consulted for either: the events are folded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engine.core.events import AnyEvent, RoundStarted, TrainsRan, fold
from engine.core.state import State, StockRound, copy_state
from engine.game_text.checkpoints import current_checkpoints
from engine.game_text.position import deal_lines, set_up_position
from engine.game_text.script import SetupLine, write_script
from engine.kernel import game_of, new_game

ENDED_LINE = "end"
"""The line that records an end by agreement. It is not notation, so nobody can type it."""

CONNECTION_RUN_LINE = "connect"
"""The line of a connection run that exists only in the imported file. Nobody can type it."""


class HistoryLine(NamedTuple):
    """A line of a game: the seat, the line in full, its events, and its time in epoch seconds."""

    seat: str
    line: str
    events: Sequence[AnyEvent]
    timestamp: int | None = None


@dataclass(frozen=True, slots=True)
class GameHistory:
    """A game, finished or not. `start`: the position before the first line."""

    start: State
    lines: tuple[HistoryLine, ...] = ()

    def state_after(self, count: int) -> State:
        """The position after that number of lines, as a copy."""
        state = copy_state(self.start)
        for line in self.lines[:count]:
            fold(line.events, state)
        return state


def history_script(history: GameHistory, comment: str = "") -> str:
    """The game as a `.18xx` text with checkpoints at each round and at the end.

    The checkpoints cover everything before a stock round and at the end, and money and phase before
    other rounds. Raises ValueError for a game that begins from a position that was set up.
    """
    start, state, checkpoints = history.start, copy_state(history.start), dict[int, list[str]]()
    setup = deal_lines(start)
    new_start = new_game(start.title, start.players, start.options).state
    if any(entry.line == CONNECTION_RUN_LINE for entry in history.lines):
        raise ValueError("This game contains a connection run that no line of notation can express.")
    if set_up_position(new_start, [SetupLine(0, words) for words in setup]) != start:
        raise ValueError("A game that begins from a set-up position cannot be written as a text.")
    moves = [entry for entry in history.lines if entry.line != ENDED_LINE]
    for count, entry in enumerate(moves, 1):
        fold(entry.events, state)
        if any(isinstance(event, RoundStarted) for event in entry.events):
            checkpoints[count] = round_checkpoints(state)
    checkpoints[len(moves)] = current_checkpoints(state)
    lines = [(entry.seat, entry.line) for entry in moves]
    text = write_script(start.title, start.options, start.players, lines, checkpoints, setup)
    return f"# {comment}\n{text}" if comment else text


def round_checkpoints(state: State) -> list[str]:
    """The checkpoints at the start of a round."""
    checkpoints = current_checkpoints(state)
    if isinstance(state.stack[0], StockRound):
        return checkpoints
    return [words for words in checkpoints if words.startswith(("cash ", "phase "))]


# -- statistics ---------------------------------------------------------------------------------


def round_statistics(start: State, moves: Iterable[Sequence[AnyEvent]]) -> list[list[str]]:
    """A table of the rounds of a game, by the events of each move: a heading, then a row for the end of each.

    Columns: the round; each player's worth in dollars; each company's share price; the revenue of each
    company in that round. The cell of a company without a price or a run is empty.
    """
    state = copy_state(start)
    rows = [_statistics_heading(state)]
    name, revenues = "opening", dict[str, int]()
    for events in moves:
        for event in events:
            if isinstance(event, RoundStarted):
                rows.append(_statistics_row(state, name, revenues))
                name, revenues = event.name, {}
            event.apply(state)
            if isinstance(event, TrainsRan):
                revenues[event.company] = revenues.get(event.company, 0) + event.revenue
    rows.append(_statistics_row(state, name, revenues))
    return rows


def _statistics_heading(state: State) -> list[str]:
    return [
        "round",
        *state.players,
        *(f"{company} price" for company in state.companies),
        *(f"{company} revenue" for company in state.companies),
    ]


def _statistics_row(state: State, name: str, revenues: dict[str, int]) -> list[str]:
    g = game_of(state)
    scores = g.title.scores(g, state.game_over.bankrupt if state.game_over else None)
    return [
        name,
        *(str(scores[seat]) for seat in state.seats),
        *(str(g.price(c)) if co.cell else "" for c, co in state.companies.items()),
        *(str(revenues.get(company, "")) for company in state.companies),
    ]
