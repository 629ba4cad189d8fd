"""What is said at a table: lines, whose they are, and those that only ask to be shown something."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import engine
from bot import words
from bot.answers import Shown
from bot.files import exported, form_of
from bot.play import Play, questions
from storage import Entry

LAST_ROWS = 12

SHOWS = (
    "help", "status", "sheet", "turn", "map", "board", "market", "log", "company", "player", "at", "export"
)  # fmt: skip
PLANS = ("plan", "try")
DRAWN = ("map", "market", "sheet")
ALONE = ("undo", "redo", "resign", *SHOWS)


@dataclass(frozen=True, slots=True)
class Saying:
    """What was said, by whom, as an answer to what. `places`: where each line stood, from 0."""

    seat: int
    lines: tuple[str, ...]
    places: tuple[int, ...]
    seen: str | None
    request: str | None
    person: int | None
    transport: str

    def place(self, index: int) -> tuple[int, str]:
        """Where a line stood among all that came, and the line."""
        return self.places[index], self.lines[index]

    def entry(self, index: int = 0, **details: object) -> Entry:
        """A row of the log for it."""
        request = f"{self.request}#{index}" if self.request and index else self.request
        row = {
            "request": request, "seat": self.seat, "person_id": self.person, "transport": self.transport,
            "decision": self.seen, "said": self.lines[index],
        }  # fmt: skip
        return Entry.model_validate(row | details)


def kept(lines: Sequence[str]) -> list[tuple[int, str]]:
    """The lines that say something, without comments (`#` where no digit follows), each with its place."""
    plain = ((place, re.sub(r"#(?!\d).*", "", line).strip()) for place, line in enumerate(lines))
    return [(place, line) for place, line in plain if line]


def first_word(line: str) -> str:
    """What kind of line it is."""
    return (line.split() or [""])[0].casefold()


def shown(play: Play, seat: int | None, line: str) -> Shown | None:
    """The answer to a question that changes nothing: `status`, `log 20`, `company X` … or None."""
    what, _, rest = " ".join(line.split()).partition(" ")
    what, rest, state, asked = what.casefold(), rest.strip(), play.state, play.asked
    decision = next((a.decision for a in asked if a.seat == seat), None)
    text, picture = None, None
    match what:
        case "log" if rest.isdecimal() or not rest:
            text = words.log(play, min(int(rest or LAST_ROWS), 1000))
        case "company":
            text = words.company(state, rest, seat) or f"There is no company {rest}."
        case "player":
            text = words.player(state, rest) or f"There is no player {rest}."
        case "at":
            return past(play, rest, decision)
        case "export":
            return handed(play, rest, decision)
        case _ if rest:
            return None
        case "help":
            text = words.help(state, -1 if seat is None else seat, asked)
        case "turn":
            text = f"{words.title_line(state)}\n{words.waiting(state, asked)}"
        case "status" | "sheet":
            text, picture = words.status(state, asked, seat), "sheet"
        case "map" | "board":
            text, picture = words.board(state), "map"
        case "market":
            text, picture = words.market(state), "market"
    return None if text is None else Shown(what, text, picture, decision=decision)


def past(play: Play, wanted: str, decision: str | None) -> Shown:
    """The position at a row of the log or at the beginning of a round; the last word may be a picture.

    Raises ValueError for what is neither.
    """
    *where, last = wanted.split() or [""]
    picture = last.casefold() if last.casefold() in DRAWN else "map"
    place = " ".join(where if last.casefold() in DRAWN else [*where, last])
    seq, name = play.find(place)
    state = play.state_at(seq)
    text = f"{name}:\n{words.status(state, questions(state, 0))}"
    return Shown("at", text, picture, engine.encoded(state), decision=decision)


def handed(play: Play, form: str, decision: str | None) -> Shown:
    """The game as a file. Raises ValueError where there is no such form, or it cannot be in that form."""
    table = play.table
    file = exported(play.telling(), form_of(form), f"{table.name} {table.code}", table.code)
    return Shown("export", f"Here is {file.name}.", files=(file,), decision=decision)
