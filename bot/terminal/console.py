"""The terminal: one operator creates tables and plays every seat, from a prompt or from standard input.

`Console.handle_line` takes one line and returns a reply. It does not know whether the line comes from a
person or from a file; that is the business of `bot.terminal.prompt`. A bad line gets a reply like any other.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import get_args

import engine
from bot.hub.command import Form, OpenCommand, lines_about
from bot.hub.notifications.messages import Notification
from bot.hub.queries import TableQueries
from bot.hub.request import CommandResult, QueryAnswer, first_word, split_lines
from bot.hub.seating import ROBOT_WORD, people_of, robots_of
from bot.hub.table import TableView
from bot.pictures.views import turn_pictures
from bot.pictures.workers import PictureWorkers
from bot.service import Service
from bot.terminal import table_commands
from bot.terminal.replies import Reply, SavedAnswers, reply_for, table_summary, waiting_text
from bot.terminal.table_commands import TableCommands, named_file
from bot.terminal.typed_lines import Completion, implied_seat, named_seat, split_name
from engine.core.words import join_words
from storage import StoreError, TableStatus

log = logging.getLogger(__name__)

COMMANDS = (
    ("table new TITLE Ann, Bob, Cid", "create a table; `option X` after the names, once for each option"),
    ("table new TITLE Ann, robot, robot", "robots take these seats; `option hints` allows `hint`"),
    ("practice [TITLE]", "a game against two robots, with hints"),
    ("player Ann mail ADDRESS", "link an email address; `on`, `off` start and stop the emails"),
    ("table list, table use CODE", "list all tables; open one"),
    ("table import PATH", "go on with a game of 18xx.games, or with a game text"),
    ("watch PATH", "show such a game without a table, and what is new since the last time"),
    ("table replace Ann by Dora", "Dora plays on for Ann"),
    ("Ann: LINE", "play a line for Ann; `;` separates several lines"),
    ("LINE", "play a line for the player who is to act"),
    ("quit", "end the service"),
)
MAX_EXAMPLES = 6
PRACTICE_NAME = "Guest"
PRACTICE_TEXT = (
    "Practice game {code} of {title}: you are Guest and play against two robots. `hint` says what a robot "
    "would do and why, `help` lists what you can do now, `show map`, `show market` and `show sheet` draw "
    "pictures, `undo` takes your move back, and `table end` ends the game."
)


def fault_sentence(error: Exception) -> str:
    """What somebody at the terminal reads about a fault of the open table."""
    if isinstance(error, ValueError | StoreError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'The file'} cannot be used: {error.strerror}."
    log.error("the open table could not be shown", exc_info=error)
    return "The open table cannot be shown; the reason is in the log file."


class Console:
    """One operator at one prompt.

    data: the folder for pictures and exported files. shows_pictures: the terminal shows pictures in place, so
    each new question comes with its own.
    """

    def __init__(self, service: Service, data: Path, pictures: PictureWorkers | None = None) -> None:
        self.service = service
        self.tables = TableCommands(service)
        self._pictures = pictures
        self._answers = SavedAnswers(service.queries, data, pictures)
        self._completion = Completion(service.commands)
        self._lock = asyncio.Lock()
        self._shown_seq = 0
        self._said = ""
        self.shows_pictures = False
        self._shown_question: object = None

    @property
    def table_id(self) -> int | None:
        """The open table; None if there is none."""
        return self.tables.table_id

    async def practice_offer(self) -> str:
        """An offer to practise, where there has never been a table; else nothing."""
        return await self._or_the_fault(practice_offer(self.service.queries))

    # -- lines -------------------------------------------------------------------------------

    async def handle_line(self, line: str) -> Reply:
        """Carry out a line. Never raises: errors are replies."""
        async with self._lock:
            with_ending = partial(self._with_ending, await self._table_in_play())
            reply = await self._handle_safely(line)
            for complete in (self._after_robots, with_ending, self._with_question_pictures):
                reply = await self._completed(complete, reply)
            view = self._view()
            self._shown_seq = view.seq if view else 0
            return reply

    async def _completed(self, complete: Callable[[Reply], Awaitable[Reply]], reply: Reply) -> Reply:
        """The reply as `complete` returns it, or followed by what kept it from that."""
        try:
            return await complete(reply)
        except Exception as error:
            return replace(reply, text="\n".join(filter(None, [reply.text, fault_sentence(error)])))

    async def _or_the_fault(self, text: Awaitable[str]) -> str:
        """The text, or a sentence that says why there is none: a fault of one table ends no terminal, and
        the end of a terminal no service."""
        try:
            return await text
        except Exception as error:
            return fault_sentence(error)

    async def _after_robots(self, reply: Reply) -> Reply:
        """The reply, and what the robots of the open table did then, up to the turn of a person."""
        if self.table_id is None or reply.quit:
            return reply
        view = reply.view or self._view()
        if view is None or not robots_of(view.table) or not people_of(view.table):
            return reply
        await self.service.robots.play(self.table_id)
        after = await self.service.queries.view(self.table_id)
        if moved := after.seq > view.seq:  # here, or in the background while the reply was made
            entries = await self.service.queries.log(self.table_id, view.seq)
            lines = [e.listed(after.table.names) for e in entries if e.has_text]
            said = reply.text.removesuffix(waiting_text(view)).rstrip("\n")
            reply = replace(reply, text="\n".join([said, *lines, waiting_text(after)]))
        if after.table.hints and (moved or reply.tone == "good"):
            reply = replace(reply, text=reply.text + await example_lines(self.service.queries, after))
        return reply

    async def _table_in_play(self) -> int | None:
        """The open table, if its game is not over."""
        with suppress(StoreError):  # the line itself says what is wrong
            if self.table_id is not None:
                info = await self.service.queries.table_info(self.table_id)
                return None if info.is_over else info.id
        return None

    async def _with_ending(self, in_play: int | None, reply: Reply) -> Reply:
        """The reply with the end of the game at the table that was in play before the line, without what the
        reply says already."""
        view = self._view()
        if in_play is None or view is None or view.table.id != in_play:
            return reply
        page = await self.service.pages["over"](view.table, Notification("over", in_play, view.seq))
        lines = await self._answers.page_lines(view, page) if page else []
        return replace(
            reply, text="\n".join([reply.text, *(each for each in lines if each not in reply.text)])
        )

    async def _with_question_pictures(self, reply: Reply) -> Reply:
        """The reply with the pictures of a new question, where the terminal shows pictures."""
        if not self.shows_pictures or self.table_id is None or self._pictures is None or reply.quit:
            return reply
        view = self._view()
        if view is None or view.state is None or view.table.status != "running" or view.state.game_over:
            return reply
        asked = (self.table_id, engine.topic(view.state), sorted(p.seat for p in view.pending if p.is_main))
        if asked == self._shown_question or reply.pictures:
            return reply
        self._shown_question = asked
        named = await turn_pictures(
            self.service.queries,
            self._pictures.for_table(view.table.id, view.table.palette, post="answer"),
            view,
            min(self._shown_seq, view.seq),
        )
        return replace(reply, pictures=tuple(picture.png for _, picture in named))

    def _view(self) -> TableView | None:
        """The open table as it is now, None if there is none."""
        return self.service.queries.peek(self.table_id) if self.table_id is not None else None

    async def news(self) -> str:
        """The rows that others have added to the log since the last line here; a fault is said once."""
        async with self._lock:
            if self.table_id is None:
                return ""
            text = await self._or_the_fault(self._news(self.table_id))
            said, self._said = self._said, text
            return "" if text == said else text

    async def _news(self, table_id: int) -> str:
        view = await self.service.queries.view(table_id)
        entries = await self.service.queries.log(table_id, self._shown_seq)
        self._shown_seq = view.seq
        return "\n".join(e.listed(view.table.names) for e in entries if e.has_text)

    async def open_latest(self) -> str:
        """Open the newest table that is not over; a summary, or nothing if there is none. A table that cannot
        be read is not opened."""
        return await self._or_the_fault(self._open_latest())

    async def _open_latest(self) -> str:
        table_ids = await self.service.queries.table_ids(("lobby", "running", "paused"))
        if not table_ids:
            return ""
        newest = await self.service.queries.table_info(table_ids[-1])
        view = await self.service.queries.view(newest.id)
        self.tables.table_id, self._shown_seq = newest.id, newest.seq
        return "\n".join(filter(None, [table_summary(newest), waiting_text(view)]))

    async def _handle_safely(self, line: str) -> Reply:
        try:
            return await self._dispatch(line.strip())
        except Exception as error:
            if isinstance(error, ValueError | StoreError) or (isinstance(error, OSError) and error.strerror):
                return Reply(fault_sentence(error), "bad")
            log.exception("the line %r failed", line)
            return Reply(f"`{line.strip()}` failed; the reason is in the log file.", "bad")

    async def _dispatch(self, line: str) -> Reply:
        word, _, rest = line.partition(" ")
        if (view := self._view()) and view.state is not None and named_seat(view, line) is not None:
            return await self._submit(line)
        match word.casefold():
            case "" | "#":
                return Reply("")
            case "quit" | "exit":
                return Reply("", quit=True)
            case "table" | "tables":
                return await self.tables.run(rest.strip())
            case "player" if named := table_commands.player_mail(rest):
                return await self._player_mail(*named)
            case "help" | "?":
                return await self._help(rest.strip())
            case "practice":
                return await self._practice(rest.strip())
            case "watch":
                return await self._watch(rest.strip())
            case "show":
                return await self._run_query(rest.strip() or "turn")
            case first if self.service.commands.is_query(first):
                return await self._run_query(line)
        return await self._submit(line)

    async def _watch(self, rest: str) -> Reply:
        """Show a game from a file, without a table."""
        path = named_file(rest, "watch")
        return await self._answers.watched(path.read_bytes(), self.service.watcher)

    async def _help(self, word: str = "") -> Reply:
        """The help, with the lines that are possible now at its end, so that they stay on the screen.

        word: only the lines that begin with it. Raises ValueError where none does.
        """
        game_help = ""
        if self.table_id is not None and (view := await self.service.queries.view(self.table_id)).state:
            seat = next((p.seat for p in view.pending if p.is_main), 0)
            answer = await self.service.submit(self.table_id, seat, ["help"], None, None)
            if isinstance(answer, QueryAnswer):
                game_help = f"\n\n{answer.text.partition(chr(10) + 'Always:')[0]}"
        commands = self.service.commands
        lines = ["In this terminal:", *command_lines(commands.forms_at("lobby")), ""]
        lines += ["At a table, also for a player: `Ann: settings`.", *commands.help_lines()]
        text = "\n".join(lines) + game_help
        return Reply(lines_about(text, word) if word else text)

    async def _submit(self, line: str) -> Reply:
        if self.table_id is None:
            raise ValueError(f"`{line}` is not a command, and no table is open; `help` lists the commands.")
        view = await self.service.queries.view(self.table_id)
        if view.state is None:
            raise ValueError(f"Table {view.table.code} has not started; `table start` starts it.")
        command = self.service.commands.get(first_word(line))
        is_command = command is not None
        named = split_name(view, line) if named_seat(view, line) is not None or not is_command else None
        if view.table.is_over and not named and not is_command:
            raise ValueError(view.table.status_sentence)
        is_for_table = isinstance(command, OpenCommand) and not command.needs_seat  # the operator speaks
        seat, text = named or (None if is_for_table else implied_seat(view, line), line)
        before = view.seq
        result = await self.service.submit(self.table_id, seat, split_lines(text), None, None)
        view = await self.service.queries.view(self.table_id)
        reply = await self._reply(view, result)
        if isinstance(result, QueryAnswer) and view.seq > before:  # an order has said something
            return replace(reply, text=f"{reply.text}\n{waiting_text(view)}".rstrip())
        return reply

    async def _reply(self, view: TableView, result: CommandResult) -> Reply:
        if isinstance(result, QueryAnswer):
            return await self._answers.answer(view, result)
        return reply_for(result, view)

    async def _run_query(self, query: str) -> Reply:
        table_id = self.tables.required()
        view = await self.service.queries.view(table_id)
        if view.state is None:
            return Reply(table_summary(view.table))
        seat = next((p.seat for p in view.pending if p.is_main), 0)
        person_id = view.table.person_at(seat)
        return await self._reply(view, await self.service.ask(table_id, query, person_id=person_id))

    async def _practice(self, title: str) -> Reply:
        """A practice game: one person against two robots, with hints, begun at once."""
        title = title or engine.title_names()[0]
        others = await other_practice_games(self.service.queries)
        info = await self.tables.new_table(
            f"{title} {PRACTICE_NAME}, {ROBOT_WORD}, {ROBOT_WORD} option hints"
        )
        order = [p.name for p in info.seated_players]
        await self.service.lobby.start(info.id, by=None, order=order)
        view = await self.service.queries.view(info.id)
        picture = await self._run_query("map")
        path = picture.text.rpartition("Picture: ")[2] if "Picture: " in picture.text else ""
        shown = f" The map is in {path}." if path else ""
        return Reply(
            f"{PRACTICE_TEXT.format(code=info.code, title=title)}{shown}{others}\n{waiting_text(view)}",
            "good",
            view=view,
        )

    async def _player_mail(self, name: str, argument: str) -> Reply:
        table = await self.service.queries.table_info(self.tables.required())
        return Reply(await table_commands.set_mail(self.service, table, name, argument), "good")

    # -- the prompt --------------------------------------------------------------------------

    def completions(self, text: str) -> Iterator[str]:
        """Whole lines that begin with the text: legal lines of the game, then commands."""
        yield from self._completion.lines(self._view(), text)

    def prompt(self) -> str:
        """The prompt: table and players to act."""
        view = self._view()
        if view is None:
            return "railpost> "
        names = "/".join(p.name for p in view.pending if p.is_main and view.waiting_sentence)
        return " ".join(filter(None, [view.table.code, names])) + "> "


def command_lines(before_start: Sequence[Form]) -> list[str]:
    """A line for each command: its form and its meaning. before_start: lines of a table in its lobby."""
    lobby = [(f"table {form.text}", form.meaning) for form in before_start]
    listed = [*COMMANDS[:3], *lobby, *COMMANDS[3:]]
    width = max(len(form) for form, _ in listed)
    return [f"  {form.ljust(width)}  {meaning}" for form, meaning in listed]


async def practice_offer(queries: TableQueries) -> str:
    """An offer to practise, where there has never been a table; else nothing."""
    if await queries.table_ids(get_args(TableStatus)):
        return ""
    return "New here? `practice` begins a game against two robots, with hints."


async def other_practice_games(queries: TableQueries) -> str:
    """Which practice games still go on, and how to end one; empty where there is none."""
    tables = await queries.list_tables(statuses=("running", "paused"))
    codes = [
        table.code for table in tables
        if table.hints and robots_of(table) and [each.name for each in people_of(table)] == [PRACTICE_NAME]
    ]  # fmt: skip
    if not codes:
        return ""
    which = f"game {codes[0]} still goes on" if len(codes) == 1 else f"games {join_words(codes)} still go on"
    return f" Practice {which}: `table use {codes[-1]}`, then `table end`, ends it."


async def example_lines(queries: TableQueries, view: TableView) -> str:
    """For who learns to play: a line of each kind that the player may enter now."""
    seat = next((p.seat for p in view.pending if p.is_main), None)
    if seat is None or view.state is None or view.state.game_over:
        return ""
    first: dict[str, str] = {}
    for choice in await queries.choices(view.table.id, seat):
        if not choice.line.startswith("sell private"):
            first.setdefault(choice.path[0], choice.line)
    lines = ", ".join(f"`{line}`" for line in list(first.values())[:MAX_EXAMPLES])
    return f"\nSuch as {lines}. `help` lists everything, `hint` says what a robot would do." if lines else ""
