"""What is said at a table: lines, whose they are, and those that only ask to be shown something."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import engine
from bot.service import text_views
from bot.service.game_files import make_game_file, parse_format
from bot.service.live_table import LiveTable, pending_decisions
from bot.service.results import QueryAnswer
from storage import NewLogRow

DEFAULT_LOG_ROWS = 12

QUERIES = (
    "help", "status", "sheet", "turn", "map", "board", "market", "log", "company", "player", "at", "export"
)  # fmt: skip
PLAN_WORDS = ("plan", "try")
PICTURE_KINDS = ("map", "market", "sheet")
STANDALONE = ("undo", "redo", "resign", *QUERIES)


@dataclass(frozen=True, slots=True)
class Command:
    """What was said, by whom, as an answer to what. `places`: where each line stood, from 0."""

    seat: int
    lines: tuple[str, ...]
    line_numbers: tuple[int, ...]
    decision_id: str | None
    request_id: str | None
    person_id: int | None
    transport: str

    def numbered_line(self, index: int) -> tuple[int, str]:
        """Where a line stood among all that came, and the line."""
        return self.line_numbers[index], self.lines[index]

    def new_row(self, index: int = 0, **details: object) -> NewLogRow:
        """A row of the log for it."""
        request = f"{self.request_id}#{index}" if self.request_id and index else self.request_id
        row = {
            "request": request, "seat": self.seat, "person_id": self.person_id, "transport": self.transport,
            "decision": self.decision_id, "said": self.lines[index],
        }  # fmt: skip
        return NewLogRow.model_validate(row | details)


def without_comments(lines: Sequence[str]) -> list[tuple[int, str]]:
    """The lines that say something, without comments (`#` where no digit follows), each with its place."""
    plain = ((place, re.sub(r"#(?!\d).*", "", line).strip()) for place, line in enumerate(lines))
    return [(place, line) for place, line in plain if line]


def first_word(line: str) -> str:
    """What kind of line it is."""
    return (line.split() or [""])[0].casefold()


def run_query(play: LiveTable, seat: int | None, line: str) -> QueryAnswer | None:
    """The answer to a question that changes nothing: `status`, `log 20`, `company X` … or None."""
    what, _, rest = " ".join(line.split()).partition(" ")
    what, rest, state, asked = what.casefold(), rest.strip(), play.state, play.pending
    decision = next((a.decision_id for a in asked if a.seat == seat), None)
    text, picture = None, None
    match what:
        case "log" if rest.isdecimal() or not rest:
            text = text_views.log_view(play, min(int(rest or DEFAULT_LOG_ROWS), 1000))
        case "company":
            text = text_views.company_view(state, rest, seat) or f"There is no company {rest}."
        case "player":
            text = text_views.player_view(state, rest) or f"There is no player {rest}."
        case "at":
            return past_position(play, rest, decision)
        case "export":
            return export_file(play, rest, decision)
        case _ if rest:
            return None
        case "help":
            text = text_views.help_view(state, -1 if seat is None else seat, asked)
        case "turn":
            text = f"{text_views.headline(state)}\n{text_views.waiting_sentence(state, asked)}"
        case "status" | "sheet":
            text, picture = text_views.status_view(state, asked, seat), "sheet"
        case "map" | "board":
            text, picture = text_views.map_view(state), "map"
        case "market":
            text, picture = text_views.market_view(state), "market"
    return None if text is None else QueryAnswer(what, text, picture, next_decision_id=decision)


def past_position(play: LiveTable, wanted: str, decision: str | None) -> QueryAnswer:
    """The position at a row of the log or at the beginning of a round; the last word may be a picture.

    Raises ValueError for what is neither.
    """
    *where, last = wanted.split() or [""]
    picture = last.casefold() if last.casefold() in PICTURE_KINDS else "map"
    place = " ".join(where if last.casefold() in PICTURE_KINDS else [*where, last])
    seq, name = play.find_row(place)
    state = play.state_at(seq)
    text = f"{name}:\n{text_views.status_view(state, pending_decisions(state, 0))}"
    return QueryAnswer("at", text, picture, engine.encode_state(state), next_decision_id=decision)


def export_file(play: LiveTable, form: str, decision: str | None) -> QueryAnswer:
    """The game as a file. Raises ValueError where there is no such form, or it cannot be in that form."""
    table = play.stored_info
    file = make_game_file(play.history(), parse_format(form), f"{table.name} {table.code}", table.code)
    return QueryAnswer("export", f"Here is {file.name}.", files=(file,), next_decision_id=decision)
