"""A notepad at a table: `note TEXT` writes, `notes` reads, `note 2 away` deletes. Nobody else sees it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from bot.hub.cache import TableCache
from bot.hub.command import Command, Form, Lines, TableCommand
from bot.hub.commit import CommitDraft
from bot.hub.play import Beside, MoveHandler, NotCarriedOut
from bot.hub.request import CommandResult, QueryAnswer, Request, first_word, refused, writer_of
from bot.hub.table import LiveTable
from bot.position.controls import Ask

FEATURE = "notepad"
MAX_NOTES = 50
MAX_LENGTH = 200

_DELETION = re.compile(r"(\d{1,4}) away", re.IGNORECASE)


class Notepad:
    """Keeps the notes of each person at each table: a list of texts."""

    def __init__(self, cache: TableCache, moves: MoveHandler) -> None:
        self._cache, self._moves = cache, moves

    def commands(self) -> list[Command]:
        """`note`, `notes`."""
        writing = Form("note TEXT", "write to your notepad, which nobody else sees", pattern=r"note .{1,200}")
        deleting = Form("note N away", "delete note N", "note 2 away")
        return [
            TableCommand("note", (writing, deleting), self._write, Lines.ANY),
            TableCommand("notes", (Form("notes", "read your notepad"),), self._read),
        ]

    async def _write(self, table: LiveTable, request: Request) -> CommandResult:
        """Add or delete notes, in the commit of the moves of the same request, if it has any."""
        if (person_id := writer_of(table, request)) is None:
            return refused(request, "Nobody plays that seat, so it has no notepad.")
        places = [place for place, line in enumerate(request.lines) if first_word(line) == "note"]

        async def carry_out(draft: CommitDraft) -> Callable[[], tuple[str, ...]]:
            facts = (await draft.unit()).facts
            key = FEATURE, table.stored_info.id, person_id
            notes = await facts.get(*key) or []
            for place in places:
                try:
                    notes = _changed(notes, " ".join(request.lines[place].split()[1:]))
                except ValueError as error:
                    raise NotCarriedOut(error, place) from error
            await facts.set(*key, notes or None)
            return lambda: tuple(_text(notes).splitlines())

        return await self._moves.carry_out(table, request, Beside(frozenset(places), carry_out, _answer))

    async def _read(self, table: LiveTable, request: Request) -> CommandResult:
        """The notes of the person who asks."""
        if (person_id := writer_of(table, request)) is None:
            return refused(request, "Nobody plays that seat, so it has no notepad.")
        async with self._cache.store.read() as unit:
            notes: Any = await unit.facts.get(FEATURE, table.stored_info.id, person_id)
        return _answer(_text(notes or []))


def _changed(notes: list[str], text: str) -> list[str]:
    """The notes with one more, or without one. Raises ValueError."""
    if not text:
        raise ValueError("Write the note after the word: `note sell the PRR in time`.")
    if deletion := _DELETION.fullmatch(text):
        number = int(deletion[1])
        if not 1 <= number <= len(notes):
            raise ValueError(f"There is no note {number}; `notes` lists them.")
        return notes[: number - 1] + notes[number:]
    if len(text) > MAX_LENGTH:
        raise ValueError(f"A note has at most {MAX_LENGTH} characters; this one has {len(text)}.")
    if len(notes) == MAX_NOTES:
        raise ValueError(f"The notepad is full with {MAX_NOTES} notes; `note 1 away` deletes the first.")
    return [*notes, text]


def _text(notes: list[str]) -> str:
    numbered = [f"{number}. {note}" for number, note in enumerate(notes, 1)]
    return "\n".join(["Your notes at this table:", *numbered]) if notes else "Your notepad here is empty."


def _answer(text: str) -> QueryAnswer:
    writing = Ask("Write", "note ", "sell the PRR in time")
    return QueryAnswer("notes", text, controls=(writing,))
