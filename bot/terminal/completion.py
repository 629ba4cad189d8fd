"""What the tab key offers: whole lines, first the legal ones of the game, then the commands."""

from __future__ import annotations

from collections.abc import Iterator

import engine
from bot.hub.command import Commands
from bot.hub.table import TableView
from bot.position.pending import engine_seat


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
