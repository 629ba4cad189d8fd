"""Commands: the lines that a seat submits, and the commands that only ask for information."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import engine
from bot.features.game_files.export import make_game_file, parse_export
from bot.features.history.feature import GAME_QUERIES, run_game_query
from bot.hub.info import TableInfo, status_text
from bot.hub.result import LineRefused, NotYourSeat, QueryAnswer, TableNotRunning
from bot.hub.table import LiveTable, pending_decisions
from bot.position import text_views
from bot.position.boards import SHOW_QUERIES, show_text
from storage import NewLogRow

DEFAULT_LOG_ROWS = 12
MAX_LOG_ROWS = 1000

QUERIES = (
    "help", "status", "sheet", "turn", "map", "board", "market", "log", "company", "player", "at", "export",
    *SHOW_QUERIES, *GAME_QUERIES,
)  # fmt: skip
PLAN_WORDS = ("plan", "try")
PICTURE_KINDS = ("map", "market", "sheet")
PERSONAL_WORDS = ("settings", "away", "back")
TIME_WORDS = ("pace", "extend", "turns", *PERSONAL_WORDS)
SEAT_WORDS = ("ask", "admit", "refuse")
PALETTE_WORD = "palette"
STATUS_WORDS = ("pause", "resume")
UNLOCKED_WORDS = ("hint", "rematch", PALETTE_WORD, *SEAT_WORDS, *STATUS_WORDS)
"""What is carried out while the table goes on: a robot thinks, another table is opened, seats are filled."""
STANDALONE = ("undo", "redo", "resign", "robot", *UNLOCKED_WORDS, *TIME_WORDS, *QUERIES)
"""First words of lines that cannot be submitted together with others."""

UNKNOWN_SEAT = -1
"""The seat of a command until the seat of its person is found."""

POLL_PREFIX = "v"
"""The decision id of poll 5 is `v5`."""


@dataclass(frozen=True, slots=True)
class Command:
    """Lines that were submitted for a seat.

    seat: `UNKNOWN_SEAT` until `in_seat` has found it.
    line_numbers: the place of each line in the request, from 0 (comments are left out). decision_id: the
    decision that the command answers, None for whatever is current. request_id: names the request; a request
    with the same id has the same result and no second effect. announcement: what the table is told of it.
    """

    seat: int
    lines: tuple[str, ...]
    line_numbers: tuple[int, ...]
    decision_id: str | None
    request_id: str | None
    person_id: int | None
    transport: str
    announcement: str = ""

    @property
    def word(self) -> str:
        """The first word of its first line, in lower case; empty without a line."""
        return first_word(self.lines[0]) if self.lines else ""

    @property
    def answers_poll(self) -> bool:
        """Whether the decision that it answers is a poll."""
        return self.decision_id is not None and self.decision_id.startswith(POLL_PREFIX)

    def numbered_line(self, index: int) -> tuple[int, str]:
        """A line with its place in the request."""
        return self.line_numbers[index], self.lines[index]

    def new_row(self, index: int = 0, **details: Any) -> NewLogRow:
        """A row of the log for one of the lines."""
        request_id = f"{self.request_id}#{index}" if self.request_id and index else self.request_id
        row = NewLogRow(
            self.transport, request_id=request_id, seat=self.seat, person_id=self.person_id,
            decision_id=self.decision_id, raw_line=self.lines[index],
        )  # fmt: skip
        return row._replace(**details)


def in_seat(info: TableInfo, names: Sequence[str], command: Command) -> Command | NotYourSeat:
    """The command in the seat of its person, or the result where that is another's. names: of all seats."""
    seat: int | None = command.seat
    if seat == UNKNOWN_SEAT and command.person_id is not None:
        seat = info.seat_of(command.person_id)
    if seat is None or not 0 <= seat < len(names):
        return NotYourSeat(f"You have no seat at table {info.code}.")
    player = info.player_at(seat)
    if command.person_id is not None and (player is None or info.seat_of(command.person_id) != seat):
        return NotYourSeat(f"That is for {names[seat]}, not for you.")
    return replace(command, seat=seat)


def refused(table: LiveTable, command: Command, reason: str, index: int = 0) -> LineRefused:
    """The result for a line that the service refuses."""
    return LineRefused(
        *command.numbered_line(index), reason, next_decision_id=table.decision_id_of(command.seat)
    )


def not_running(table: LiveTable, *statuses: str) -> TableNotRunning | None:
    """The result for a table that has none of these statuses; None if it has one."""
    info = table.stored_info
    if info.status in statuses:
        return None
    return TableNotRunning(info.status, f"Table {info.code} is {status_text(info.status)}.")


def without_comments(lines: Sequence[str]) -> list[tuple[int, str]]:
    """The lines that are not empty, each with its place, without comments (`#` unless a digit follows)."""
    plain = ((number, re.sub(r"#(?!\d).*", "", line).strip()) for number, line in enumerate(lines))
    return [(number, line) for number, line in plain if line]


def storable_text(text: str) -> str:
    """A text without what no database stores, halves of surrogate pairs and the character zero."""
    return text.encode("utf-8", "replace").decode().replace("\0", "?")


def first_word(line: str) -> str:
    """The first word of a line, in lower case."""
    return (line.split() or [""])[0].casefold()


# -- queries ---------------------------------------------------------------------------------


async def answer_query(table: LiveTable, seat: int | None, line: str) -> QueryAnswer | None:
    """The answer to a query; None if the line is none. Raises ValueError with a sentence."""
    query, _, argument = " ".join(line.split()).partition(" ")
    decision_id = None if seat is None else table.decision_id_of(seat)
    if query.casefold() == "export":
        return await export_file(table, argument, decision_id)
    if query.casefold() not in GAME_QUERIES:
        return run_query(table, seat, line)
    return await run_game_query(table, query.casefold(), argument, decision_id)


def run_query(table: LiveTable, seat: int | None, line: str) -> QueryAnswer | None:
    """The answer to `status`, `log 20`, `company X` …; None if the line is no such query, or an export.

    Raises ValueError for a position or a format that does not exist.
    """
    query, _, argument = " ".join(line.split()).partition(" ")
    query, argument, state, pending = query.casefold(), argument.strip(), table.state, table.pending
    decision_id = None if seat is None else table.decision_id_of(seat)
    text, picture = None, None
    if query in SHOW_QUERIES:
        argument = company_named(state, argument) if query == "routes" else argument
        text = show_text(table, query, argument)
        return QueryAnswer(query, text, argument=argument, next_decision_id=decision_id)
    match query:
        case "log" if argument.isdecimal() or not argument:
            text = text_views.log_view(table, min(int(argument or DEFAULT_LOG_ROWS), MAX_LOG_ROWS))
        case "company":
            text = text_views.company_view(state, argument, seat) or f"There is no company {argument}."
        case "player":
            text = text_views.player_view(state, argument) or f"There is no player {argument}."
        case "at":
            return past_position(table, argument, decision_id)
        case _ if argument:
            return None
        case "help":
            text = text_views.help_view(state, -1 if seat is None else seat, pending)
        case "turn":
            text = f"{text_views.headline(state)}\n{text_views.question_text(state, pending)}"
        case "status" | "sheet":
            text, picture = text_views.status_view(state, pending, seat), "sheet"
        case "map" | "board":
            text, picture = text_views.map_view(state), "map"
        case "market":
            text, picture = text_views.market_view(state), "market"
    return None if text is None else QueryAnswer(query, text, picture, next_decision_id=decision_id)


def company_named(state: engine.State, name: str) -> str:
    """The symbol of a company, whatever its case; the name itself if there is none."""
    return next((sym for sym in state.companies if sym.casefold() == name.casefold()), name)


def past_position(table: LiveTable, argument: str, decision_id: str | None) -> QueryAnswer:
    """The position at a row of the log or at the start of a round; the last word may name a picture.

    Raises ValueError if the argument is neither.
    """
    *words, last = argument.split() or [""]
    picture = last.casefold() if last.casefold() in PICTURE_KINDS else "map"
    moment = " ".join(words if last.casefold() in PICTURE_KINDS else [*words, last])
    seq, heading = table.log.find_row(moment)
    state = table.state_at(seq)
    text = f"{heading}:\n{text_views.status_view(state, pending_decisions(state, 0))}"
    return QueryAnswer("at", text, picture, engine.encode_state(state), next_decision_id=decision_id)


async def export_file(table: LiveTable, words: str, decision_id: str | None) -> QueryAnswer:
    """The game as a file, written in a thread, because it plays the whole game again.

    `words`: as `18xx.games --as-far-as-possible`. Raises ValueError for an unknown format, or if the format
    cannot hold the game.
    """
    info, (format_name, partial) = table.stored_info, parse_export(words)
    title = f"{info.name} {info.code}"
    file = await asyncio.to_thread(
        make_game_file, table.log.history(), format_name, title, info.code, as_far_as_possible=partial
    )
    return QueryAnswer("export", f"Here is {file.name}.", files=(file,), next_decision_id=decision_id)
