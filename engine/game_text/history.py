"""A game as it was told: its first position and its lines with what each brought about.

From that, without asking a rule, comes the text of a game with checkpoints, and the figures of its
rounds as rows of a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engine.core.events import AnyEvent, RoundStarted, TrainsRan, fold
from engine.core.state import State, StockRound, copy_state
from engine.game_text.checkpoints import current_checkpoints
from engine.game_text.position import set_up_position
from engine.game_text.private_deal import deal_lines
from engine.game_text.script import SetupLine, write_script
from engine.kernel import game_of, new_game

ENDED_LINE = "end"
"""The line of a game that was ended by agreement; it is no line of notation."""

CONNECTION_RUN_LINE = "connect"
"""The line of a connection run that only the file had from which a game comes; nobody can say it."""


class HistoryLine(NamedTuple):
    """A line of a game: the seat, the line in full, what it brought about, and when (epoch seconds)."""

    seat: str
    line: str
    events: Sequence[AnyEvent]
    timestamp: int | None = None


@dataclass(frozen=True, slots=True)
class GameHistory:
    """A whole game, or as much of it as was played. `start`: the position before the first line."""

    start: State
    lines: tuple[HistoryLine, ...]

    def state_after(self, moves: int) -> State:
        """The position after so many moves, a copy."""
        state = copy_state(self.start)
        for told in self.lines[:moves]:
            fold(told.events, state)
        return state


def history_script(telling: GameHistory, comment: str = "") -> str:
    """The game as a `.18xx` text: checkpoints at each round and at the end.

    All that is seen is told before a stock round and at the end, the money before other rounds.
    Raises ValueError for a game that does not begin as a game begins: its set-up is in no text.
    """
    start, state, held = telling.start, copy_state(telling.start), dict[int, list[str]]()
    setup = deal_lines(start)
    begun = new_game(start.title, start.players, start.options).state
    if any(told.line == CONNECTION_RUN_LINE for told in telling.lines):
        raise ValueError("A connection run is in this game as it was recorded elsewhere; no line says that.")
    if set_up_position(begun, [SetupLine(0, words) for words in setup]) != start:
        raise ValueError("A game that begins from a position that was set up is not written as a text.")
    moves = [told for told in telling.lines if told.line != ENDED_LINE]
    for count, told in enumerate(moves, 1):
        fold(told.events, state)
        if any(isinstance(event, RoundStarted) for event in told.events):
            held[count] = round_checkpoints(state)
    held[len(moves)] = current_checkpoints(state)
    lines = [(told.seat, told.line) for told in moves]
    said = write_script(start.title, start.options, start.players, lines, held, setup)
    return f"# {comment}\n{said}" if comment else said


def round_checkpoints(state: State) -> list[str]:
    """What a text says at the start of a round."""
    held = current_checkpoints(state)
    if isinstance(state.stack[0], StockRound):
        return held
    return [words for words in held if words.startswith(("cash ", "phase "))]


# -- figures ---------------------------------------------------------------------------------


def round_statistics(telling: GameHistory) -> list[list[str]]:
    """A table of the rounds: a heading, then for each round what it ended with.

    Columns: the round; what each player is worth, in dollars; each company's price; what each
    company's trains ran for in that round. A company without a price, or that has not run, has an
    empty place.
    """
    state = copy_state(telling.start)
    rows = [_statistics_heading(state)]
    name, ran = "opening", dict[str, int]()
    for told in telling.lines:
        for event in told.events:
            if isinstance(event, RoundStarted):
                rows.append(_statistics_row(state, name, ran))
                name, ran = event.round.partition(" of ")[0], {}
            event.apply(state)
            if isinstance(event, TrainsRan):
                ran[event.company] = ran.get(event.company, 0) + event.revenue
    rows.append(_statistics_row(state, name, ran))
    return rows


def _statistics_heading(state: State) -> list[str]:
    return [
        "round",
        *state.players,
        *(f"{company} price" for company in state.companies),
        *(f"{company} revenue" for company in state.companies),
    ]


def _statistics_row(state: State, name: str, ran: dict[str, int]) -> list[str]:
    g = game_of(state)
    standing = g.title.scores(g, state.game_over.bankrupt if state.game_over else None)
    return [
        name,
        *(str(standing[seat]) for seat in state.seats),
        *(str(g.price(c)) if co.cell else "" for c, co in state.companies.items()),
        *(str(ran.get(company, "")) for company in state.companies),
    ]


def round_starts(telling: GameHistory) -> Iterator[tuple[str, int]]:
    """Every round with the number of moves after which it had begun, the opening first."""
    yield "opening", 0
    for count, told in enumerate(telling.lines, 1):
        for event in told.events:
            if isinstance(event, RoundStarted):
                yield event.round.partition(" of ")[0], count
