"""What is read of a typed line before it is said: whose it is, the player who is named before it or the
only one whom it can be for; and what the tab key offers.
"""

from __future__ import annotations

from collections.abc import Iterator

import engine
from bot.hub.command import Commands
from bot.hub.request import first_word
from bot.hub.seating import people_of
from bot.hub.table import TableView
from bot.position.pending import engine_seat, seat_number
from engine.core.words import join_words


class Completion:
    """The lines of one position, kept until the next."""

    def __init__(self, commands: Commands) -> None:
        self._version: tuple[int, int] | None = None
        queries = (f"show {text}" for text in commands.completions(queries=True))
        forms = [
            *commands.forms_at("lobby"),
            *(form for each in commands.at_any_table for form in each.forms),
        ]
        tables = (f"table {text}" for form in forms for text in form.completions())
        self._commands = [*_terminal_completions(), *tables, *queries, *commands.completions()]
        self._lines = self._commands

    def lines(self, view: TableView | None, text: str) -> Iterator[str]:
        """The lines that begin with the text. view: the open table, None if there is none."""
        version = (view.table.id, view.seq) if view else None
        if version != self._version:
            self._lines = list(dict.fromkeys([*_legal_completions(view), *self._commands]))
            self._version = version
        start = text.lstrip().casefold()
        yield from (line for line in self._lines if line.casefold().startswith(start))


def _legal_completions(view: TableView | None) -> list[str]:
    """The legal lines of the game now, with names and without."""
    if view is None or view.state is None or view.table.status != "running":
        return []
    legal = [
        (p.name, line) for p in view.pending for line in engine.legal_lines(view.state, engine_seat(p.seat))
    ]
    return [line for _, line in legal] + [f"{name}: {line}" for name, line in legal]


def _terminal_completions() -> list[str]:
    return [
        *(f"table new {title} " for title in engine.title_names()),
        *(f"table {word}" for word in ("list", "use ")),
        "quit",
    ]


def named_seat(view: TableView, line: str) -> int | None:
    """The seat of the player with whose name and a colon a line begins; None if it begins otherwise."""
    name, colon, _ = line.partition(":")
    names = [each.casefold() for each in view.table.names]
    return names.index(name.strip().casefold()) if colon and name.strip().casefold() in names else None


def split_name(view: TableView, line: str) -> tuple[int, str] | None:
    """The seat and the line of `Ann: …`, None without a name. Raises ValueError for an unknown name."""
    name, colon, text = line.partition(":")
    if not colon:
        return None
    if not name.strip():
        raise ValueError(f"Name the player before the colon: `{view.table.names[0]}: {text.strip()}`.")
    if (seat := named_seat(view, line)) is None:
        players = join_words(view.table.names)
        raise ValueError(
            f"There is no player {name.strip()} at table {view.table.code}; the players are {players}."
        )
    return seat, text


def implied_seat(view: TableView, line: str) -> int:
    """The seat for a line without a name. Raises ValueError if several are possible."""
    word = first_word(line)
    if word in ("undo", "redo"):
        seat = (view.undo_seat if word == "undo" else view.redo_seat) or 0
        people = [p.seat for p in people_of(view.table) if p.seat is not None]
        return people[0] if len(people) == 1 else seat
    seats = {p.seat for p in view.pending if p.is_main}
    if word in ("accept", "decline"):
        voters = {seat for _, seat in view.missing_votes()}
        offered = {seat_number(offer.recipient) for offer in view.state.offers} if view.state else set()
        seats = voters | offered or seats
    if len(seats) != 1:
        names = [view.table.names[s] for s in sorted(seats)] or list(view.table.names)
        raise ValueError(f"Name the player: `{names[0]}: {line}`.")
    return seats.pop()
