"""The terminal: tables are made and every seat is played from one prompt, or from lines on standard input.

Theory. `Console.answer` takes one line and gives a reply; nothing in it knows whether a person or a
file is at the other end, which is for `bot.terminal.prompt`. A bad line is answered like any other.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import engine
from bot import words
from bot.answers import (
    Ambiguous,
    Answer,
    Closed,
    Confirm,
    Done,
    NotYours,
    Refused,
    Shown,
    Stale,
    Unreadable,
    Voted,
)
from bot.files import FORMS
from bot.lobby import told_status
from bot.pictures import Pictures
from bot.play import View
from bot.sayings import PLANS, SHOWS, first_word
from bot.service import Service
from bot.tables import TableInfo
from storage import StoreError

log = logging.getLogger(__name__)

Tone = Literal["plain", "good", "bad"]

COMMANDS = (
    ("table new TITLE Ann, Bob, Cid", "a new table; `option X` behind the names, as often as needed"),
    ("table start", "begin, seated as named; `table start shuffled` shuffles"),
    ("table list, table use CODE", "all tables; go to one"),
    ("table replace Ann by Dora", "Dora plays on for Ann"),
    ("table pause, resume, end", "stop play, go on, end unfinished"),
    ("Ann: LINE", "say a line of the game for Ann; `;` stands between several"),
    ("LINE", "the same for whoever is asked"),
    ("show map", "also market, sheet, log 20, turn, company X, player X"),
    ("at or 2.1", "the position at a round, or at a row of the log: `at 120 market`"),
    ("plan LINE; LINE", "try lines on a copy; `plan more LINE`, `plan show`, `plan play`, `plan clear`"),
    ("export 18xx.games", "the game as a file; also text, csv"),
    ("undo, redo", "take the last move back, play it again"),
    ("quit", "end the service"),
)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a line is answered, and whether it went well."""

    text: str
    tone: Tone = "plain"
    leave: bool = False


def told(answer: Answer, view: View) -> Reply:
    """An answer of the service in words."""
    waits = words.waiting(view.state, view.asked) if view.state else ""
    match answer:
        case Done():
            moved = [f"{m.line}: {' '.join(m.sentences)}" if m.sentences else m.line for m in answer.moves]
            after = [] if answer.over or not answer.asked else [waits]
            return Reply("\n".join([*moved, *answer.sentences, *after]), "good")
        case Unreadable():
            return Reply(_failed(answer.index, answer.line, answer.reason, answer.nearest), "bad")
        case Refused():
            return Reply(_failed(answer.index, answer.line, answer.reason, answer.suggestions), "bad")
        case Ambiguous():
            return Reply(_failed(answer.index, answer.line, answer.reason, ()), "bad")
        case Stale():
            return Reply("\n".join([answer.reason, *answer.since]), "bad")
        case NotYours() | Closed():
            return Reply(answer.reason, "bad")
        case Confirm():
            return Reply(f"{answer.reason} Say `{answer.line}` to do it.")
        case Voted():
            names = view.state.players if view.state else []
            ask = [f"{names[s]}: accept, or {names[s]}: decline" for s in answer.waiting]
            return Reply("\n".join([*answer.sentences, *ask, *([waits] if answer.outcome else [])]), "good")
        case Shown():
            return Reply(answer.text)


def _failed(index: int, line: str, reason: str, lines: Sequence[str]) -> str:
    place = f"Line {index + 1}, `{line}`: " if index else ""
    hint = "" if not lines or any(line in reason for line in lines) else f" Possible: {'; '.join(lines)}."
    return f"{place}{reason}{hint}"


class Console:
    """One operator at one prompt: which table is before him, and what his lines mean."""

    def __init__(self, service: Service, data: Path, pictures: Pictures | None = None) -> None:
        self.service = service
        self.table: int | None = None
        self._data = data
        self._pictures = pictures
        self._lines: tuple[object, list[str]] | None = None
        self._busy = asyncio.Lock()
        self._known_until = 0

    # -- lines -------------------------------------------------------------------------------

    async def answer(self, line: str) -> Reply:
        """Do what a line says. Never raises: what goes wrong is a reply."""
        async with self._busy:
            reply = await self._tried(line)
            view = self.service.peek(self.table) if self.table is not None else None
            self._known_until = view.seq if view else 0
            return reply

    async def news(self) -> str:
        """What others have done at this table since the last line here, as rows of the log."""
        async with self._busy:
            if self.table is None:
                return ""
            view = await self.service.view(self.table)
            rows = await self.service.log(self.table, self._known_until)
            self._known_until = view.seq
            return "\n".join(words.happening(row, view.table.names) for row in rows if row.tells)

    async def open_last(self) -> str:
        """Go to the newest table that is not over; what it is, or nothing where there is none."""
        found = await self.service.tables(statuses=("lobby", "running", "paused"))
        if not found:
            return ""
        self.table = found[-1].id
        self._known_until = (await self.service.view(self.table)).seq
        return _about(found[-1])

    async def _tried(self, line: str) -> Reply:
        try:
            return await self._answer(line.strip())
        except (ValueError, StoreError) as error:
            return Reply(str(error), "bad")
        except Exception:
            log.exception("the line %r failed", line)
            return Reply(f"`{line.strip()}` could not be carried out; the log file says why.", "bad")

    async def _answer(self, line: str) -> Reply:
        word, _, rest = line.partition(" ")
        match word.casefold():
            case "" | "#":
                return Reply("")
            case "quit" | "exit":
                return Reply("", leave=True)
            case "table" | "tables":
                return await self._of_table(rest.strip())
            case "help":
                return await self._help()
            case "show":
                return await self._show(rest.strip() or "turn")
            case first if first in SHOWS:
                return await self._show(line)
        return await self._said(line)

    async def _help(self) -> Reply:
        width = max(len(form) for form, _ in COMMANDS)
        lines = [f"  {form.ljust(width)}  {says}" for form, says in COMMANDS]
        game = ""
        if self.table is not None and (view := await self.service.view(self.table)).state:
            asked = next((a.seat for a in view.asked if a.main), 0)
            answer = await self.service.say(self.table, asked, ["help"], None, None)
            game = f"\n\n{answer.text}" if isinstance(answer, Shown) else ""
        return Reply("\n".join(["In this terminal:", *lines]) + game)

    async def _here(self) -> int:
        if self.table is None:
            raise ValueError("There is no table here yet: `table new TITLE Ann, Bob, Cid` makes one.")
        return self.table

    # -- the game ----------------------------------------------------------------------------

    async def _said(self, line: str) -> Reply:
        if self.table is None:
            raise ValueError(f"`{line}` is no command, and no table is open; `help` lists what there is.")
        view = await self.service.view(self.table)
        if view.state is None:
            raise ValueError(f"Table {view.table.code} has not begun; `table start` begins it.")
        named = None if first_word(line) in PLANS else self._named(view, line)
        seat, text = named or (self._meant(view, line), line)
        lines = [part for part in text.split(";") if part.strip()]
        answer = await self.service.say(self.table, seat, lines, None, None)
        view = await self.service.view(self.table)
        return await self._shown(view, answer) if isinstance(answer, Shown) else told(answer, view)

    @staticmethod
    def _named(view: View, line: str) -> tuple[int, str] | None:
        """The seat and the line of `Ann: …`. Raises ValueError for a name that nobody has."""
        name, colon, text = line.partition(":")
        if not colon:
            return None
        names = [n.casefold() for n in view.table.names]
        if name.strip().casefold() not in names:
            there = words.listed(view.table.names)
            raise ValueError(
                f"Nobody is called {name.strip()} at table {view.table.code}; there are {there}."
            )
        return names.index(name.strip().casefold()), text

    @staticmethod
    def _meant(view: View, line: str) -> int:
        """For whom a line without a name is said. Raises ValueError where that is not clear."""
        word = first_word(line)
        if word in ("undo", "redo"):
            return (view.may_undo if word == "undo" else view.may_redo) or 0
        seats = {a.seat for a in view.asked if a.main}
        if word in ("accept", "decline"):
            others = {seat for _, seat in view.waiting()} | {a.seat for a in view.asked if not a.main}
            seats = others or seats
        if len(seats) != 1:
            names = [view.table.names[s] for s in sorted(seats)] or list(view.table.names)
            raise ValueError(f"Say for whom: `{names[0]}: {line}`.")
        return seats.pop()

    async def _show(self, what: str) -> Reply:
        table = await self._here()
        view = await self.service.view(table)
        if view.state is None:
            return Reply(_about(view.table))
        answer = await self.service.say(table, 0, [what], None, None)
        if isinstance(answer, Refused):
            raise ValueError(answer.reason)
        if not isinstance(answer, Shown):
            raise ValueError("What can be shown: map, market, sheet, log 20, turn, company X, player X.")
        return await self._shown(view, answer)

    async def _shown(self, view: View, answer: Shown) -> Reply:
        """What was asked to be shown, with its picture and its files written beside."""
        paths = [("Picture", path) for path in [await self._drawn(view, answer)] if path]
        paths += [("File", self._kept("games", file.name, file.content)) for file in answer.files]
        return Reply("\n".join([answer.text, *(f"{what}: {path}" for what, path in paths)]))

    async def _drawn(self, view: View, answer: Shown) -> Path | None:
        """A picture in a file; None where none fits or can be drawn."""
        if answer.picture is None or self._pictures is None or view.state is None:
            return None
        found = await self._pictures.drawn(answer.picture, answer.state(view.state))
        if found is None:
            return None
        about = "" if answer.position is None else f"-{answer.what}"
        return self._kept("pictures", f"{view.table.code}-{answer.picture}{about}.png", found.png)

    def _kept(self, folder: str, name: str, content: bytes) -> Path:
        """A file in the data folder."""
        path = self._data / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    # -- tables ------------------------------------------------------------------------------

    async def _of_table(self, rest: str) -> Reply:
        word, _, rest = rest.partition(" ")
        does: dict[str, Callable[[str], Awaitable[Reply]]] = {
            "": self._table,
            "new": self._new,
            "start": self._start,
            "list": self._list,
            "use": self._use,
            "replace": self._replace,
            "pause": self._pause,
            "resume": self._resume,
            "end": self._end,
        }
        if (do := does.get(word.casefold())) is None:
            known = ", ".join(sorted(filter(None, does)))
            raise ValueError(f"`table {word}` is not known; there is table {known}.")
        return await do(rest.strip())

    async def _table(self, _: str) -> Reply:
        return Reply(_about(await self.service.table(await self._here())))

    async def new(self, title: str, names: Sequence[str], options: Sequence[str] = ()) -> TableInfo:
        """A table at which those people sit, in that order, before its start. Raises ValueError."""
        if not title or not names:
            raise ValueError("Name the title and who plays: `table new TITLE Ann, Bob, Cid`.")
        info = await self.service.create(title, None, options=options or None)
        try:
            for name in names:
                async with self.service.store.begin() as unit:
                    person = await unit.people.add(name)
                info = await self.service.join(info.id, person.id, name)
        except ValueError:
            await self.service.end_at_once(info.id, by=None)
            raise
        self.table = info.id
        return info

    async def _new(self, rest: str) -> Reply:
        title, _, rest = rest.partition(" ")
        people, *options = [part.strip().rstrip(",") for part in re.split(r"\boption\b", rest)]
        names = [name for part in people.split(",") if (name := " ".join(part.split()))]
        info = await self.new(title, names, options)
        return Reply(f"Table {info.code} is made. {_about(info)}\n`table start` begins it.", "good")

    async def _start(self, rest: str) -> Reply:
        *code, last = rest.split() or [""]
        shuffled = last.casefold() == "shuffled"
        if not shuffled and last:
            code = [*code, last]
        table = (await self.service.find(code[0])).id if code else await self._here()
        info = await self.service.table(table)
        order = None if shuffled else [s.name for s in sorted(info.sitters, key=lambda s: s.row)]
        await self.service.start(table, by=None, order=order)
        self.table = table
        view = await self.service.view(table)
        seating = words.listed(view.table.names)
        waits = words.waiting(view.state, view.asked) if view.state else ""
        return Reply(f"Table {view.table.code} begins: {seating}.\n{waits}", "good")

    async def _list(self, _: str) -> Reply:
        found = await self.service.tables()
        rows = [
            (">" if t.id == self.table else "", t.code, t.title, t.status, t.round, _people(t)) for t in found
        ]
        head = ("", "code", "title", "status", "round", "players")
        return Reply("\n".join(words.table(head, rows)) if rows else "There is no table yet.")

    async def _use(self, code: str) -> Reply:
        info = await self.service.find(code)
        self.table = info.id
        return Reply(_about(info), "good")

    async def _replace(self, rest: str) -> Reply:
        table = await self._here()
        former, _, name = rest.partition(" by ")
        view = await self.service.view(table)
        names = [n.casefold() for n in view.table.names]
        if not name.strip() or former.strip().casefold() not in names:
            raise ValueError("Say who is replaced by whom: `table replace Ann by Dora`.")
        async with self.service.store.begin() as unit:
            person = await unit.people.add(name.strip())
        seat = names.index(former.strip().casefold())
        info = await self.service.replace(table, seat, person.id, name.strip(), by=None)
        hint = " `table resume` lets the game go on." if info.status == "paused" else ""
        return Reply(f"{name.strip()} plays on for {view.table.names[seat]}.{hint}", "good")

    async def _pause(self, _: str) -> Reply:
        return Reply(_about(await self.service.pause(await self._here(), by=None)), "good")

    async def _resume(self, _: str) -> Reply:
        return Reply(_about(await self.service.resume(await self._here(), by=None)), "good")

    async def _end(self, _: str) -> Reply:
        return Reply(_about(await self.service.end_at_once(await self._here(), by=None)), "good")

    # -- completion --------------------------------------------------------------------------

    def completions(self, text: str) -> Iterator[str]:
        """Whole lines that begin as the text does: the game's for who is asked, then commands."""
        start = text.lstrip().casefold()
        yield from (line for line in self._known() if line.casefold().startswith(start))

    def _known(self) -> list[str]:
        view = self.service.peek(self.table) if self.table is not None else None
        moment = (self.table, view.seq if view else 0)
        if self._lines is None or self._lines[0] != moment:
            self._lines = moment, list(dict.fromkeys([*_legal(view), *_commands()]))
        return self._lines[1]

    def prompt(self) -> str:
        """What stands before the line that is typed."""
        view = self.service.peek(self.table) if self.table is not None else None
        if view is None:
            return "railpost> "
        asked = "/".join(a.name for a in view.asked if a.main)
        return " ".join(filter(None, [view.table.code, asked])) + "> "


def _legal(view: View | None) -> list[str]:
    """What may be said in the game now, with names and without."""
    if view is None or view.state is None or view.table.status != "running":
        return []
    found = [(a.name, line) for a in view.asked for line in engine.legal_lines(view.state, f"p{a.seat}")]
    return [line for _, line in found] + [f"{name}: {line}" for name, line in found]


def _commands() -> list[str]:
    plain = "start, start shuffled, list, use , replace , pause, resume, end".split(", ")
    shows = [f"show {what}" for what in ("map", "market", "sheet", "log", "turn", "company ", "player ")]
    shows += ["at ", "plan ", "plan more ", "plan show", "plan play", "plan clear"]
    shows += [f"export {form}" for form in FORMS]
    new = [f"table new {title} " for title in engine.titles()]
    return [
        *new,
        *(f"table {word}" for word in plain),
        *shows,
        "undo",
        "redo",
        "help",
        "quit",
    ]


def _people(info: TableInfo) -> str:
    names = info.names or [s.name for s in info.sitters]
    return ", ".join(
        f"{name}{'*' if seat in info.asked and info.names else ''}" for seat, name in enumerate(names)
    )


def _about(info: TableInfo) -> str:
    options = f" ({', '.join(info.options)})" if info.options else ""
    names = words.listed(info.names or [s.name for s in info.sitters])
    where = f", {info.round}" if info.round else ""
    return f"Table {info.code} of {info.title}{options} is {told_status(info.status)}{where}: {names}."
