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
from bot.service import text_views
from bot.service.commands import PLAN_WORDS, QUERIES, first_word
from bot.service.game_files import FORMATS
from bot.service.live_table import TableView
from bot.service.picture_workers import PictureWorkers
from bot.service.results import (
    CommandResult,
    Completed,
    ConfirmationRequired,
    LineAmbiguous,
    LineRefused,
    LineUnreadable,
    NotYourSeat,
    PollUpdated,
    QueryAnswer,
    StaleDecision,
    TableNotRunning,
)
from bot.service.service import Service
from bot.service.tables import TableInfo, status_text
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
    quit: bool = False


def reply_for(answer: CommandResult, view: TableView) -> Reply:
    """An answer of the service in words."""
    waits = text_views.waiting_sentence(view.state, view.pending) if view.state else ""
    match answer:
        case Completed():
            moved = [f"{m.line}: {' '.join(m.sentences)}" if m.sentences else m.line for m in answer.played]
            after = [] if answer.game_over or not answer.pending else [waits]
            return Reply("\n".join([*moved, *answer.sentences, *after]), "good")
        case LineUnreadable():
            return Reply(_failure_text(answer.index, answer.line, answer.reason, answer.nearest), "bad")
        case LineRefused():
            return Reply(_failure_text(answer.index, answer.line, answer.reason, answer.suggestions), "bad")
        case LineAmbiguous():
            return Reply(_failure_text(answer.index, answer.line, answer.reason, ()), "bad")
        case StaleDecision():
            return Reply("\n".join([answer.reason, *answer.since]), "bad")
        case NotYourSeat() | TableNotRunning():
            return Reply(answer.reason, "bad")
        case ConfirmationRequired():
            return Reply(f"{answer.reason} Say `{answer.line}` to do it.")
        case PollUpdated():
            names = view.state.players if view.state else []
            ask = [f"{names[s]}: accept, or {names[s]}: decline" for s in answer.waiting_seats]
            return Reply("\n".join([*answer.sentences, *ask, *([waits] if answer.outcome else [])]), "good")
        case QueryAnswer():
            return Reply(answer.text)


def _failure_text(index: int, line: str, reason: str, lines: Sequence[str]) -> str:
    place = f"Line {index + 1}, `{line}`: " if index else ""
    hint = "" if not lines or any(line in reason for line in lines) else f" Possible: {'; '.join(lines)}."
    return f"{place}{reason}{hint}"


class Console:
    """One operator at one prompt: which table is before him, and what his lines mean."""

    def __init__(self, service: Service, data: Path, pictures: PictureWorkers | None = None) -> None:
        self.service = service
        self.table_id: int | None = None
        self._data = data
        self._pictures = pictures
        self._completion_cache: tuple[object, list[str]] | None = None
        self._lock = asyncio.Lock()
        self._shown_seq = 0

    # -- lines -------------------------------------------------------------------------------

    async def handle_line(self, line: str) -> Reply:
        """Do what a line says. Never raises: what goes wrong is a reply."""
        async with self._lock:
            reply = await self._handle_safely(line)
            view = self.service.queries.peek(self.table_id) if self.table_id is not None else None
            self._shown_seq = view.seq if view else 0
            return reply

    async def news(self) -> str:
        """What others have done at this table since the last line here, as rows of the log."""
        async with self._lock:
            if self.table_id is None:
                return ""
            view = await self.service.queries.view(self.table_id)
            rows = await self.service.queries.log(self.table_id, self._shown_seq)
            self._shown_seq = view.seq
            return "\n".join(text_views.log_entry_line(row, view.table.names) for row in rows if row.has_text)

    async def open_latest(self) -> str:
        """Go to the newest table that is not over; what it is, or nothing where there is none."""
        found = await self.service.queries.list_tables(statuses=("lobby", "running", "paused"))
        if not found:
            return ""
        self.table_id = found[-1].id
        self._shown_seq = (await self.service.queries.view(self.table_id)).seq
        return _summary(found[-1])

    async def _handle_safely(self, line: str) -> Reply:
        try:
            return await self._dispatch(line.strip())
        except (ValueError, StoreError) as error:
            return Reply(str(error), "bad")
        except Exception:
            log.exception("the line %r failed", line)
            return Reply(f"`{line.strip()}` could not be carried out; the log file says why.", "bad")

    async def _dispatch(self, line: str) -> Reply:
        word, _, rest = line.partition(" ")
        match word.casefold():
            case "" | "#":
                return Reply("")
            case "quit" | "exit":
                return Reply("", quit=True)
            case "table" | "tables":
                return await self._table_command(rest.strip())
            case "help":
                return await self._help()
            case "show":
                return await self._run_query(rest.strip() or "turn")
            case first if first in QUERIES:
                return await self._run_query(line)
        return await self._submit(line)

    async def _help(self) -> Reply:
        width = max(len(form) for form, _ in COMMANDS)
        lines = [f"  {form.ljust(width)}  {says}" for form, says in COMMANDS]
        game = ""
        if self.table_id is not None and (view := await self.service.queries.view(self.table_id)).state:
            asked = next((a.seat for a in view.pending if a.is_main), 0)
            answer = await self.service.submit(self.table_id, asked, ["help"], None, None)
            game = f"\n\n{answer.text}" if isinstance(answer, QueryAnswer) else ""
        return Reply("\n".join(["In this terminal:", *lines]) + game)

    async def _current_table(self) -> int:
        if self.table_id is None:
            raise ValueError("There is no table here yet: `table new TITLE Ann, Bob, Cid` makes one.")
        return self.table_id

    # -- the game ----------------------------------------------------------------------------

    async def _submit(self, line: str) -> Reply:
        if self.table_id is None:
            raise ValueError(f"`{line}` is no command, and no table is open; `help` lists what there is.")
        view = await self.service.queries.view(self.table_id)
        if view.state is None:
            raise ValueError(f"Table {view.table.code} has not begun; `table start` begins it.")
        named = None if first_word(line) in PLAN_WORDS else self._split_name(view, line)
        seat, text = named or (self._implied_seat(view, line), line)
        lines = [part for part in text.split(";") if part.strip()]
        answer = await self.service.submit(self.table_id, seat, lines, None, None)
        view = await self.service.queries.view(self.table_id)
        return (
            await self._query_reply(view, answer)
            if isinstance(answer, QueryAnswer)
            else reply_for(answer, view)
        )

    @staticmethod
    def _split_name(view: TableView, line: str) -> tuple[int, str] | None:
        """The seat and the line of `Ann: …`. Raises ValueError for a name that nobody has."""
        name, colon, text = line.partition(":")
        if not colon:
            return None
        names = [n.casefold() for n in view.table.names]
        if name.strip().casefold() not in names:
            there = text_views.join_words(view.table.names)
            raise ValueError(
                f"Nobody is called {name.strip()} at table {view.table.code}; there are {there}."
            )
        return names.index(name.strip().casefold()), text

    @staticmethod
    def _implied_seat(view: TableView, line: str) -> int:
        """For whom a line without a name is said. Raises ValueError where that is not clear."""
        word = first_word(line)
        if word in ("undo", "redo"):
            return (view.undo_seat if word == "undo" else view.redo_seat) or 0
        seats = {a.seat for a in view.pending if a.is_main}
        if word in ("accept", "decline"):
            others = {seat for _, seat in view.missing_votes()} | {
                a.seat for a in view.pending if not a.is_main
            }
            seats = others or seats
        if len(seats) != 1:
            names = [view.table.names[s] for s in sorted(seats)] or list(view.table.names)
            raise ValueError(f"Say for whom: `{names[0]}: {line}`.")
        return seats.pop()

    async def _run_query(self, what: str) -> Reply:
        table = await self._current_table()
        view = await self.service.queries.view(table)
        if view.state is None:
            return Reply(_summary(view.table))
        answer = await self.service.submit(table, 0, [what], None, None)
        if isinstance(answer, LineRefused):
            raise ValueError(answer.reason)
        if not isinstance(answer, QueryAnswer):
            raise ValueError("What can be shown: map, market, sheet, log 20, turn, company X, player X.")
        return await self._query_reply(view, answer)

    async def _query_reply(self, view: TableView, answer: QueryAnswer) -> Reply:
        """What was asked to be shown, with its picture and its files written beside."""
        paths = [("Picture", path) for path in [await self._save_picture(view, answer)] if path]
        paths += [("File", self._save_file("games", file.name, file.content)) for file in answer.files]
        return Reply("\n".join([answer.text, *(f"{what}: {path}" for what, path in paths)]))

    async def _save_picture(self, view: TableView, answer: QueryAnswer) -> Path | None:
        """A picture in a file; None where none fits or can be drawn."""
        if answer.picture is None or self._pictures is None or view.state is None:
            return None
        found = await self._pictures.draw(answer.picture, answer.shown_state(view.state))
        if found is None:
            return None
        about = "" if answer.encoded_state is None else f"-{answer.query}"
        return self._save_file("pictures", f"{view.table.code}-{answer.picture}{about}.png", found.png)

    def _save_file(self, folder: str, name: str, content: bytes) -> Path:
        """A file in the data folder."""
        path = self._data / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    # -- tables ------------------------------------------------------------------------------

    async def _table_command(self, rest: str) -> Reply:
        word, _, rest = rest.partition(" ")
        does: dict[str, Callable[[str], Awaitable[Reply]]] = {
            "": self._table_summary,
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

    async def _table_summary(self, _: str) -> Reply:
        return Reply(_summary(await self.service.queries.table_info(await self._current_table())))

    async def new_table(self, title: str, names: Sequence[str], options: Sequence[str] = ()) -> TableInfo:
        """A table at which those people sit, in that order, before its start. Raises ValueError."""
        if not title or not names:
            raise ValueError("Name the title and who plays: `table new TITLE Ann, Bob, Cid`.")
        info = await self.service.lobby.create(title, None, options=options or None)
        try:
            for name in names:
                async with self.service.store.begin() as unit:
                    person = await unit.people.add(name)
                info = await self.service.lobby.join(info.id, person.id, name)
        except ValueError:
            await self.service.lobby.end_now(info.id, by=None)
            raise
        self.table_id = info.id
        return info

    async def _new(self, rest: str) -> Reply:
        title, _, rest = rest.partition(" ")
        people, *options = [part.strip().rstrip(",") for part in re.split(r"\boption\b", rest)]
        names = [name for part in people.split(",") if (name := " ".join(part.split()))]
        info = await self.new_table(title, names, options)
        return Reply(f"Table {info.code} is made. {_summary(info)}\n`table start` begins it.", "good")

    async def _start(self, rest: str) -> Reply:
        *code, last = rest.split() or [""]
        shuffled = last.casefold() == "shuffled"
        if not shuffled and last:
            code = [*code, last]
        table = (await self.service.queries.find_table(code[0])).id if code else await self._current_table()
        info = await self.service.queries.table_info(table)
        order = None if shuffled else [s.name for s in sorted(info.seated_players, key=lambda s: s.seat_id)]
        await self.service.lobby.start(table, by=None, order=order)
        self.table_id = table
        view = await self.service.queries.view(table)
        seating = text_views.join_words(view.table.names)
        waits = text_views.waiting_sentence(view.state, view.pending) if view.state else ""
        return Reply(f"Table {view.table.code} begins: {seating}.\n{waits}", "good")

    async def _list(self, _: str) -> Reply:
        found = await self.service.queries.list_tables()
        rows = [
            (">" if t.id == self.table_id else "", t.code, t.title, t.status, t.round, _player_list(t))
            for t in found
        ]
        head = ("", "code", "title", "status", "round", "players")
        return Reply("\n".join(text_views.text_table(head, rows)) if rows else "There is no table yet.")

    async def _use(self, code: str) -> Reply:
        info = await self.service.queries.find_table(code)
        self.table_id = info.id
        return Reply(_summary(info), "good")

    async def _replace(self, rest: str) -> Reply:
        table = await self._current_table()
        former, _, name = rest.partition(" by ")
        view = await self.service.queries.view(table)
        names = [n.casefold() for n in view.table.names]
        if not name.strip() or former.strip().casefold() not in names:
            raise ValueError("Say who is replaced by whom: `table replace Ann by Dora`.")
        async with self.service.store.begin() as unit:
            person = await unit.people.add(name.strip())
        seat = names.index(former.strip().casefold())
        info = await self.service.lobby.replace_player(table, seat, person.id, name.strip(), by=None)
        hint = " `table resume` lets the game go on." if info.status == "paused" else ""
        return Reply(f"{name.strip()} plays on for {view.table.names[seat]}.{hint}", "good")

    async def _pause(self, _: str) -> Reply:
        return Reply(_summary(await self.service.lobby.pause(await self._current_table(), by=None)), "good")

    async def _resume(self, _: str) -> Reply:
        return Reply(_summary(await self.service.lobby.resume(await self._current_table(), by=None)), "good")

    async def _end(self, _: str) -> Reply:
        return Reply(_summary(await self.service.lobby.end_now(await self._current_table(), by=None)), "good")

    # -- completion --------------------------------------------------------------------------

    def completions(self, text: str) -> Iterator[str]:
        """Whole lines that begin as the text does: the game's for who is asked, then commands."""
        start = text.lstrip().casefold()
        yield from (line for line in self._all_completions() if line.casefold().startswith(start))

    def _all_completions(self) -> list[str]:
        view = self.service.queries.peek(self.table_id) if self.table_id is not None else None
        moment = (self.table_id, view.seq if view else 0)
        if self._completion_cache is None or self._completion_cache[0] != moment:
            self._completion_cache = (
                moment,
                list(dict.fromkeys([*_legal_completions(view), *_command_completions()])),
            )
        return self._completion_cache[1]

    def prompt(self) -> str:
        """What stands before the line that is typed."""
        view = self.service.queries.peek(self.table_id) if self.table_id is not None else None
        if view is None:
            return "railpost> "
        asked = "/".join(a.name for a in view.pending if a.is_main)
        return " ".join(filter(None, [view.table.code, asked])) + "> "


def _legal_completions(view: TableView | None) -> list[str]:
    """What may be said in the game now, with names and without."""
    if view is None or view.state is None or view.table.status != "running":
        return []
    found = [(a.name, line) for a in view.pending for line in engine.legal_lines(view.state, f"p{a.seat}")]
    return [line for _, line in found] + [f"{name}: {line}" for name, line in found]


def _command_completions() -> list[str]:
    plain = "start, start shuffled, list, use , replace , pause, resume, end".split(", ")
    shows = [f"show {what}" for what in ("map", "market", "sheet", "log", "turn", "company ", "player ")]
    shows += ["at ", "plan ", "plan more ", "plan show", "plan play", "plan clear"]
    shows += [f"export {form}" for form in FORMATS]
    new = [f"table new {title} " for title in engine.title_names()]
    return [
        *new,
        *(f"table {word}" for word in plain),
        *shows,
        "undo",
        "redo",
        "help",
        "quit",
    ]


def _player_list(info: TableInfo) -> str:
    names = info.names or [s.name for s in info.seated_players]
    return ", ".join(
        f"{name}{'*' if seat in info.acting_seats and info.names else ''}" for seat, name in enumerate(names)
    )


def _summary(info: TableInfo) -> str:
    options = f" ({', '.join(info.options)})" if info.options else ""
    names = text_views.join_words(info.names or [s.name for s in info.seated_players])
    where = f", {info.round}" if info.round else ""
    return f"Table {info.code} of {info.title}{options} is {status_text(info.status)}{where}: {names}."
