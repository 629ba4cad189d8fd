"""Whose line it is: the player who is named before it, or the only one whom it can be for."""

from __future__ import annotations

from bot.hub.request import first_word
from bot.hub.seating import people_of
from bot.hub.table import TableView
from bot.position import text_views


def names_a_player(view: TableView, line: str) -> bool:
    """Whether the line begins with a player's name and a colon, whatever else its first word means."""
    name, colon, _ = line.partition(":")
    return bool(colon) and name.strip().casefold() in (n.casefold() for n in view.table.names)


def split_name(view: TableView, line: str) -> tuple[int, str] | None:
    """The seat and the line of `Ann: …`, None without a name. Raises ValueError for an unknown name."""
    name, colon, text = line.partition(":")
    if not colon:
        return None
    names = [n.casefold() for n in view.table.names]
    if name.strip().casefold() not in names:
        players = text_views.join_words(view.table.names)
        raise ValueError(
            f"There is no player {name.strip()} at table {view.table.code}; the players are {players}."
        )
    return names.index(name.strip().casefold()), text


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
        offered = {p.seat for p in view.pending if not p.is_main}
        seats = voters | offered or seats
    if len(seats) != 1:
        names = [view.table.names[s] for s in sorted(seats)] or list(view.table.names)
        raise ValueError(f"Name the player: `{names[0]}: {line}`.")
    return seats.pop()
