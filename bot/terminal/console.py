"""The terminal: one operator creates tables and plays every seat, from a prompt or from standard input.

`Console.handle_line` takes one line and returns a reply. It does not know whether the line comes from a
person or from a file; that is the business of `bot.terminal.prompt`. A bad line gets a reply like any other.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, get_args

import engine
from bot.service import text_views
from bot.service.answer_pictures import (
    PICTURES_SAY_ALL,
    answer_pictures,
    picture_file_name,
    turn_pictures,
)
from bot.service.commands import PLAN_WORDS, QUERIES, first_word
from bot.service.digest import pace_text
from bot.service.ending import ending_pictures, make_ending
from bot.service.game_files import FORMATS, export_prospect
from bot.service.images import NamedPicture
from bot.service.live_table import TableView, engine_seat
from bot.service.move_in import read_game
from bot.service.picture_workers import Pictures, PictureWorkers
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
from bot.service.robot_answers import answer_about_robots, invited_robot_sentence
from bot.service.robot_seats import ROBOT_WORD, people_of, robots_of
from bot.service.service import Service
from bot.service.tables import TableInfo, status_text
from bot.terminal import mail_commands
from renderers import CHART_KINDS
from storage import StoreError, TableStatus

log = logging.getLogger(__name__)

Tone = Literal["plain", "good", "bad"]

COMMANDS = (
    ("table new TITLE Ann, Bob, Cid", "create a table; `option X` after the names, once for each option"),
    ("table new TITLE Ann, robot, robot", "robots take these seats; `option hints` allows `hint`"),
    ("practice [TITLE]", "a game against two robots, with hints"),
    ("hint", "what a robot would do, and why, at a table with hints"),
    ("table replace Ann by robot", "a robot plays on for Ann"),
    ("table start", "start, seated as named; `table start shuffled` shuffles the seats"),
    ("table invite Bob ADDRESS", "invite a player by email; they join by replying"),
    ("table invite robot", "a robot takes a seat; `table agree Ann` and `table decline Ann` answer for Ann"),
    ("player Ann mail ADDRESS", "link an email address; `on`, `off` start and stop the emails"),
    ("table list, table use CODE", "list all tables; open one"),
    ("table import PATH", "go on with a game of 18xx.games, or with a game text"),
    ("table replace Ann by Dora", "Dora plays on for Ann"),
    ("table pause, resume, end", "pause, resume, end unfinished"),
    ("table pace 24h", "the pace of a table that has not started; `daily 20:00 Europe/Berlin`, `none`"),
    ("table palette dark", "dark pictures; also light"),
    ("Ann: settings", "how Ann is told; each line that it shows can be entered changed"),
    ("Ann: LINE", "play a line for Ann; `;` separates several lines"),
    ("LINE", "play a line for the player who is to act"),
    ("show map", "also market, sheet, bids, tiles 57, routes X, log 20, turn, company X, player X"),
    ("chart worth", "by round; also `chart prices`, `chart revenue`, `records`, and `animation` of the map"),
    ("at or 2.1", "the position at a round, or after a row of the log: `at 120 market`"),
    ("plan LINE; LINE", "try lines on a copy; `plan more LINE`, `plan show`, `plan play`, `plan clear`"),
    ("export 18xx.games", "the game as a file; also text, csv"),
    ("undo, redo", "undo the last move, redo it"),
    ("quit", "end the service"),
)


MAX_EXAMPLES = 6
PRACTICE_NAME = "Guest"
PRACTICE_TEXT = (
    "Practice game {code} of {title}: you are Guest and play against two robots. `hint` says what a robot "
    "would do and why, `help` lists what you can do now, `show map`, `show market` and `show sheet` draw "
    "pictures, `undo` takes your move back, and `table end` ends the game."
)


@dataclass(frozen=True, slots=True)
class Reply:
    """The text for a line, whether it succeeded, and whether to quit.

    pictures: PNG files that go with it. caption: the text where the terminal shows them, if it is another.
    """

    text: str
    tone: Tone = "plain"
    quit: bool = False
    pictures: tuple[bytes, ...] = ()
    caption: str | None = None


def _waiting(view: TableView) -> str:
    return text_views.waiting_sentence(view.state, view.pending) if view.state else ""


def reply_for(result: CommandResult, view: TableView) -> Reply:
    """A result of the service in words."""
    waiting = _waiting(view)
    match result:
        case Completed():
            played = [f"{p.line}: {' '.join(p.sentences)}" if p.sentences else p.line for p in result.played]
            next_turn = [] if result.game_over or not result.pending else [waiting]
            return Reply("\n".join([*played, *result.sentences, *next_turn]), "good")
        case LineUnreadable():
            return Reply(_failure_text(result.index, result.line, result.reason, result.nearest), "bad")
        case LineRefused():
            return Reply(_failure_text(result.index, result.line, result.reason, result.suggestions), "bad")
        case LineAmbiguous():
            return Reply(_failure_text(result.index, result.line, result.reason, ()), "bad")
        case StaleDecision():
            return Reply("\n".join([result.reason, *result.since]), "bad")
        case NotYourSeat() | TableNotRunning():
            return Reply(result.reason, "bad")
        case ConfirmationRequired():
            return Reply(f"{result.reason} Enter `{result.line}` to confirm.")
        case PollUpdated():
            names = view.state.players if view.state else []
            votes = [f"{names[s]}: accept, or {names[s]}: decline" for s in result.waiting_seats]
            next_turn = [waiting] if result.outcome else []
            return Reply("\n".join([*result.sentences, *votes, *next_turn]), "good")
        case QueryAnswer():
            return Reply(result.text)


def _failure_text(index: int, line: str, reason: str, suggestions: Sequence[str]) -> str:
    prefix = f"Line {index + 1}, `{line}`: " if index else ""
    if not suggestions or any(suggestion in reason for suggestion in suggestions):
        return f"{prefix}{reason}"
    return f"{prefix}{reason} Possible: {'; '.join(suggestions)}."


class Console:
    """One operator at one prompt.

    table_id: the open table, None if there is none. data: the folder for pictures and exported files.
    shows_pictures: the terminal shows pictures in place, so each new question comes with its own.
    """

    def __init__(self, service: Service, data: Path, pictures: PictureWorkers | None = None) -> None:
        self.service = service
        self.table_id: int | None = None
        self._data = data
        self._pictures = pictures
        self._completion_cache: tuple[object, list[str]] | None = None
        self._lock = asyncio.Lock()
        self._shown_seq = 0
        self.shows_pictures = False
        self._shown_question: object = None

    async def practice_offer(self) -> str:
        """An offer to practise, where there has never been a table; else nothing."""
        if await self.service.queries.table_ids(get_args(TableStatus)):
            return ""
        return "New here? `practice` begins a game against two robots, with hints."

    # -- lines -------------------------------------------------------------------------------

    async def handle_line(self, line: str) -> Reply:
        """Carry out a line. Never raises: errors are replies."""
        async with self._lock:
            reply = await self._handle_safely(line)
            reply = await self._after_robots(reply)
            reply = await self._with_question_pictures(reply)
            view = self.service.queries.peek(self.table_id) if self.table_id is not None else None
            self._shown_seq = view.seq if view else 0
            return reply

    async def _after_robots(self, reply: Reply) -> Reply:
        """The reply, and what the robots of the open table did then, up to the turn of a person."""
        if self.table_id is None or reply.quit:
            return reply
        view = self.service.queries.peek(self.table_id)
        if view is None or not robots_of(view.table) or not people_of(view.table):
            return reply
        made = await self.service.robots.play(self.table_id)
        after = await self.service.queries.view(self.table_id)
        if made:
            entries = await self.service.queries.log(self.table_id, view.seq)
            lines = [text_views.log_entry_line(e, after.table.names) for e in entries if e.has_text]
            said = reply.text.removesuffix(_waiting(view)).rstrip("\n")
            reply = replace(reply, text="\n".join([said, *lines, _waiting(after)]))
        if after.table.hints and (made or reply.tone == "good"):
            reply = replace(reply, text=reply.text + await self._examples(after))
        return reply

    async def _examples(self, view: TableView) -> str:
        """For who learns to play: a line of each kind that the player may enter now."""
        seat = next((p.seat for p in view.pending if p.is_main), None)
        if seat is None or view.state is None or view.state.game_over:
            return ""
        first: dict[str, str] = {}
        for choice in await self.service.queries.choices(view.table.id, seat):
            if not choice.line.startswith("sell private"):
                first.setdefault(choice.path[0], choice.line)
        lines = ", ".join(f"`{line}`" for line in list(first.values())[:MAX_EXAMPLES])
        return (
            f"\nSuch as {lines}. `help` lists everything, `hint` says what a robot would do." if lines else ""
        )

    async def _with_question_pictures(self, reply: Reply) -> Reply:
        """The reply with the pictures of a new question, where the terminal shows pictures."""
        if not self.shows_pictures or self.table_id is None or self._pictures is None or reply.quit:
            return reply
        view = self.service.queries.peek(self.table_id)
        if view is None or view.state is None or view.table.status != "running" or view.state.game_over:
            return reply
        asked = (self.table_id, engine.topic(view.state), sorted(p.seat for p in view.pending if p.is_main))
        if asked == self._shown_question or reply.pictures:
            return reply
        self._shown_question = asked
        named = await turn_pictures(
            self.service.queries, self._drawing(view), view, min(self._shown_seq, view.seq)
        )
        return replace(reply, pictures=tuple(picture.png for _, picture in named))

    async def news(self) -> str:
        """The rows of the log that other players have added since the last line here."""
        async with self._lock:
            if self.table_id is None:
                return ""
            view = await self.service.queries.view(self.table_id)
            entries = await self.service.queries.log(self.table_id, self._shown_seq)
            self._shown_seq = view.seq
            lines = (text_views.log_entry_line(e, view.table.names) for e in entries if e.has_text)
            return "\n".join(lines)

    async def open_latest(self) -> str:
        """Open the newest table that is not over; a summary, or nothing if there is none."""
        newest = await self.service.queries.newest_table(("lobby", "running", "paused"))
        if newest is None:
            return ""
        self.table_id, self._shown_seq = newest.id, newest.seq
        view = await self.service.queries.view(newest.id)
        return "\n".join(filter(None, [_summary(newest), _waiting(view)]))

    async def _handle_safely(self, line: str) -> Reply:
        try:
            return await self._dispatch(line.strip())
        except (ValueError, StoreError) as error:
            return Reply(str(error), "bad")
        except Exception:
            log.exception("the line %r failed", line)
            return Reply(f"`{line.strip()}` failed; the reason is in the log file.", "bad")

    async def _dispatch(self, line: str) -> Reply:
        word, _, rest = line.partition(" ")
        match word.casefold():
            case "" | "#":
                return Reply("")
            case "quit" | "exit":
                return Reply("", quit=True)
            case "table" | "tables":
                return await self._table_command(rest.strip())
            case "player" if named := mail_commands.player_mail(rest):
                return await self._player_mail(*named)
            case "help":
                return await self._help()
            case "practice":
                return await self._practice(rest.strip())
            case "show":
                return await self._run_query(rest.strip() or "turn")
            case first if first in QUERIES:
                return await self._run_query(line)
        return await self._submit(line)

    async def _help(self) -> Reply:
        width = max(len(form) for form, _ in COMMANDS)
        lines = [f"  {form.ljust(width)}  {meaning}" for form, meaning in COMMANDS]
        game_help, always = "", ""
        if self.table_id is not None and (view := await self.service.queries.view(self.table_id)).state:
            seat = next((p.seat for p in view.pending if p.is_main), 0)
            answer = await self.service.submit(self.table_id, seat, ["help"], None, None)
            if isinstance(answer, QueryAnswer):
                # What can be done now comes last, so that it is still on the screen.
                now, word, more = answer.text.partition("\nAlways:")
                game_help, always = f"\n\n{now}", f"\n\n{word.lstrip()}{more}" if word else ""
        return Reply("\n".join(["In this terminal:", *lines]) + always + game_help)

    async def _current_table(self) -> int:
        if self.table_id is None:
            raise ValueError("No table is open: `table new TITLE Ann, Bob, Cid` creates one.")
        return self.table_id

    # -- the game ----------------------------------------------------------------------------

    async def _submit(self, line: str) -> Reply:
        if self.table_id is None:
            raise ValueError(f"`{line}` is not a command, and no table is open; `help` lists the commands.")
        view = await self.service.queries.view(self.table_id)
        if view.state is None:
            raise ValueError(f"Table {view.table.code} has not started; `table start` starts it.")
        named = None if first_word(line) in PLAN_WORDS else self._split_name(view, line)
        seat, text = named or (self._implied_seat(view, line), line)
        lines = [part for part in text.split(";") if part.strip()]
        result = await self.service.submit(self.table_id, seat, lines, None, None)
        view = await self.service.queries.view(self.table_id)
        if isinstance(result, QueryAnswer):
            return await self._query_reply(view, result)
        reply = reply_for(result, view)
        if isinstance(result, Completed) and result.game_over:
            return replace(reply, text="\n".join([reply.text, *await self._ending_lines(view)]))
        return reply

    @staticmethod
    def _split_name(view: TableView, line: str) -> tuple[int, str] | None:
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

    @staticmethod
    def _implied_seat(view: TableView, line: str) -> int:
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

    async def _run_query(self, query: str) -> Reply:
        table_id = await self._current_table()
        view = await self.service.queries.view(table_id)
        if view.state is None:
            return Reply(_summary(view.table))
        answer = await self.service.submit(table_id, 0, [query], None, None)
        if isinstance(answer, LineRefused):
            raise ValueError(answer.reason)
        if not isinstance(answer, QueryAnswer):
            raise ValueError("Possible: show map, market, sheet, chart, log 20, turn, company X, player X.")
        return await self._query_reply(view, answer)

    async def _query_reply(self, view: TableView, answer: QueryAnswer) -> Reply:
        """The answer of a query; its picture and files are saved, and their paths named."""
        named: Sequence[NamedPicture] = ()
        if self._pictures is not None:
            named = await answer_pictures(self.service.queries, self._drawing(view), view, answer)
        paths = [("Picture", path) for path in self._save_pictures(view, answer, named)]
        paths += [("File", self._save_file("games", file.name, file.content)) for file in answer.files]
        places = [f"{kind}: {path}" for kind, path in paths]
        caption = "\n".join(places) if answer.query in PICTURES_SAY_ALL else None
        pngs = tuple(picture.png for _, picture in named)
        return Reply("\n".join([answer.text, *places]), pictures=pngs, caption=caption)

    def _drawing(self, view: TableView) -> Pictures:
        """Pictures of the open table."""
        assert self._pictures is not None
        return self._pictures.for_table(view.table.id, view.table.palette)

    def _save_pictures(
        self, view: TableView, answer: QueryAnswer, named: Sequence[NamedPicture]
    ) -> list[Path]:
        """Save the pictures of an answer; their paths."""
        suffix = "" if answer.encoded_state is None else f"-{answer.query}"
        paths = []
        for number, (name, picture) in enumerate(named):
            again = sum(other == name for other, _ in named[:number])
            file = picture_file_name(f"{name}{suffix}", again + 1 if again else 0)
            paths.append(self._save_file("pictures", f"{view.table.code}-{file}", picture.png))
        return paths

    async def _ending_lines(self, view: TableView) -> list[str]:
        """Who has won, the records, and the paths of the charts, the animation and the game."""
        queries = self.service.queries
        if view.state is None or view.table.status != "finished":
            return []
        ending = await make_ending(queries, view.table, view.state)
        lines = [ending.headline, *ending.records]
        if ending.file is not None:
            lines.append(f"File: {self._save_file('games', ending.file.name, ending.file.content)}")
        if self._pictures is not None:
            drawing = self._drawing(view)
            for name, picture in await ending_pictures(drawing, queries, view.table.id, view.state):
                file_name = f"{view.table.code}-{picture_file_name(name)}"
                path = self._save_file("pictures", file_name, picture.png)
                lines.append(f"Picture: {path}")
        return lines

    def _save_file(self, folder: str, name: str, content: bytes) -> Path:
        """Write a file into the data folder; its path."""
        path = self._data / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    # -- tables ------------------------------------------------------------------------------

    async def _table_command(self, rest: str) -> Reply:
        word, _, rest = rest.partition(" ")
        commands: dict[str, Callable[[str], Awaitable[Reply]]] = {
            "": self._table_summary,
            "import": self._import,
            "new": self._new,
            "start": self._start,
            "list": self._list,
            "use": self._use,
            "replace": self._replace,
            "invite": self._invite,
            "agree": partial(self._answer_about_robots, agrees=True),
            "decline": partial(self._answer_about_robots, agrees=False),
            "ask": self._ask,
            "admit": self._admit,
            "refuse": self._refuse,
            "pause": self._pause,
            "pace": self._pace,
            "resume": self._resume,
            "end": self._end,
            "palette": self._palette,
        }
        if (command := commands.get(word.casefold())) is None:
            known = ", ".join(sorted(filter(None, commands)))
            raise ValueError(f"`table {word}` is not a command; there is table {known}.")
        return await command(rest.strip())

    async def _table_summary(self, _: str) -> Reply:
        return Reply(_summary(await self.service.queries.table_info(await self._current_table())))

    async def new_table(self, title: str, names: Sequence[str], options: Sequence[str] = ()) -> TableInfo:
        """Create a table with these players in this order, and open it. Raises ValueError."""
        if not title or not names:
            raise ValueError("Name the title and the players: `table new TITLE Ann, Bob, Cid`.")
        info = await self.service.lobby.create(title, None, options=options or None)
        try:
            for name in names:
                if name.casefold() == ROBOT_WORD:
                    info = await self.service.lobby.invite_robot(info.id, by=None)
                    continue
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
        prospect = export_prospect(info.title, info.options)
        return Reply(
            f"Table {info.code} is created. {_summary(info)}\n{prospect}\n`table start` starts it.", "good"
        )

    async def _practice(self, title: str) -> Reply:
        """A practice game: one person against two robots, with hints, begun at once."""
        title = title or engine.title_names()[0]
        info = await self.new_table(title, [PRACTICE_NAME, ROBOT_WORD, ROBOT_WORD], ["hints"])
        order = [p.name for p in info.seated_players]
        await self.service.lobby.start(info.id, by=None, order=order)
        view = await self.service.queries.view(info.id)
        waiting = text_views.waiting_sentence(view.state, view.pending) if view.state else ""
        picture = await self._run_query("map")
        path = picture.text.rpartition("Picture: ")[2] if "Picture: " in picture.text else ""
        shown = f" The map is in {path}." if path else ""
        return Reply(f"{PRACTICE_TEXT.format(code=info.code, title=title)}{shown}\n{waiting}", "good")

    async def _import(self, rest: str) -> Reply:
        """Go on with a game from a file; all players play from this terminal, as in `table new`."""
        path = Path(rest).expanduser()
        if not rest or not path.is_file():
            raise ValueError("Name a file of 18xx.games or a game text: `table import PATH`.")
        game = await asyncio.to_thread(read_game, path.read_bytes())
        info = await self.service.lobby.import_game(game.start, game.moves, name=path.stem)
        self.table_id = info.id
        return Reply("\n".join([f"Table {info.code} has the game. {_summary(info)}", *game.warnings]), "good")

    async def _start(self, rest: str) -> Reply:
        *code, last = rest.split() or [""]
        shuffled = last.casefold() == "shuffled"
        if not shuffled and last:
            code = [*code, last]
        queries = self.service.queries
        table_id = (await queries.find_table(code[0])).id if code else await self._current_table()
        info = await queries.table_info(table_id)
        order = None if shuffled else [p.name for p in sorted(info.seated_players, key=lambda p: p.seat_id)]
        await self.service.lobby.start(table_id, by=None, order=order)
        self.table_id = table_id
        view = await queries.view(table_id)
        seating = text_views.join_words(view.table.names)
        waiting = text_views.waiting_sentence(view.state, view.pending) if view.state else ""
        return Reply(f"Table {view.table.code} starts: {seating}.\n{waiting}", "good")

    async def _list(self, _: str) -> Reply:
        tables = await self.service.queries.list_tables()
        rows = [
            (">" if t.id == self.table_id else "", t.code, t.title, t.status, t.round, _player_list(t))
            for t in tables
        ]
        head = ("", "code", "title", "status", "round", "players")
        return Reply("\n".join(text_views.text_table(head, rows)) if rows else "There is no table yet.")

    async def _use(self, code: str) -> Reply:
        info = await self.service.queries.find_table(code)
        self.table_id = info.id
        return Reply(_summary(info), "good")

    async def _replace(self, rest: str) -> Reply:
        table_id = await self._current_table()
        former, _, name = rest.partition(" by ")
        view = await self.service.queries.view(table_id)
        names = [n.casefold() for n in view.table.names]
        if not name.strip() or former.strip().casefold() not in names:
            raise ValueError("Name both players: `table replace Ann by Dora`.")
        seat = names.index(former.strip().casefold())
        if name.strip().casefold() == ROBOT_WORD:
            return await self._submit(f"{view.table.names[seat]}: robot {view.table.names[seat]}")
        async with self.service.store.begin() as unit:
            person = await unit.people.add(name.strip())
        info = await self.service.lobby.replace_player(table_id, seat, person.id, name.strip(), by=None)
        hint = " `table resume` resumes the game." if info.status == "paused" else ""
        return Reply(f"{name.strip()} plays on for {view.table.names[seat]}.{hint}", "good")

    async def _invite(self, rest: str) -> Reply:
        if rest.strip().casefold() == ROBOT_WORD:
            info = await self.service.lobby.invite_robot(await self._current_table(), by=None)
            return Reply(invited_robot_sentence(info), "good")
        return Reply(await mail_commands.invite(self.service, await self._current_table(), rest), "good")

    async def _answer_about_robots(self, rest: str, *, agrees: bool) -> Reply:
        """`table agree NAME`: a player of this terminal agrees to the robots of a lobby, or declines."""
        table = await self.service.queries.table_info(await self._current_table())
        name = rest.strip().casefold()
        player = next((p for p in people_of(table) if p.name.casefold() == name), None)
        if player is None:
            names = text_views.join_words([p.name for p in people_of(table)]) or "nobody yet"
            raise ValueError(f"Name who answers: `table agree NAME`. At table {table.code}: {names}.")
        return Reply(await answer_about_robots(self.service, table, player.person_id, agrees=agrees), "good")

    async def _ask(self, rest: str) -> Reply:
        """A new person asks for a seat at the table: `ask Dora`, `ask Dora for Bob`."""
        name, _, seat_name = rest.partition(" for ")
        if not name.strip():
            raise ValueError("Name who asks: `table ask Dora`, or `table ask Dora for Bob`.")
        table_id = await self._current_table()
        async with self.service.store.begin() as unit:
            person = await unit.people.add(name.strip())
        return Reply(await self.service.seats.ask(table_id, person.id, seat_name=seat_name.strip()), "good")

    async def _admit(self, name: str) -> Reply:
        table_id = await self._current_table()
        return Reply(await self.service.seats.answer(table_id, name, admitted=True, by=None), "good")

    async def _refuse(self, name: str) -> Reply:
        table_id = await self._current_table()
        return Reply(await self.service.seats.answer(table_id, name, admitted=False, by=None), "good")

    async def _player_mail(self, name: str, argument: str) -> Reply:
        table = await self.service.queries.table_info(await self._current_table())
        return Reply(await mail_commands.set_mail(self.service, table, name, argument), "good")

    async def _pace(self, line: str) -> Reply:
        table_id = await self._current_table()
        if line:
            await self.service.lobby.set_pace(table_id, line, by=None)
        return Reply(pace_text((await self.service.queries.table_info(table_id)).pace), "good")

    async def _palette(self, name: str) -> Reply:
        table_id = await self._current_table()
        info = await self.service.lobby.set_palette(table_id, name, by=None)
        return Reply(f"The pictures of table {info.code} are {info.palette}.", "good")

    async def _pause(self, _: str) -> Reply:
        return Reply(_summary(await self.service.lobby.pause(await self._current_table(), by=None)), "good")

    async def _resume(self, _: str) -> Reply:
        return Reply(_summary(await self.service.lobby.resume(await self._current_table(), by=None)), "good")

    async def _end(self, _: str) -> Reply:
        return Reply(_summary(await self.service.lobby.end_now(await self._current_table(), by=None)), "good")

    # -- completion --------------------------------------------------------------------------

    def completions(self, text: str) -> Iterator[str]:
        """Whole lines that begin with the text: legal lines of the game, then commands."""
        start = text.lstrip().casefold()
        yield from (line for line in self._all_completions() if line.casefold().startswith(start))

    def _all_completions(self) -> list[str]:
        view = self.service.queries.peek(self.table_id) if self.table_id is not None else None
        version = (self.table_id, view.seq if view else 0)
        if self._completion_cache is None or self._completion_cache[0] != version:
            lines = dict.fromkeys([*_legal_completions(view), *_command_completions()])
            self._completion_cache = version, list(lines)
        return self._completion_cache[1]

    def prompt(self) -> str:
        """The prompt: table and players to act."""
        view = self.service.queries.peek(self.table_id) if self.table_id is not None else None
        if view is None:
            return "railpost> "
        names = "/".join(p.name for p in view.pending if p.is_main)
        return " ".join(filter(None, [view.table.code, names])) + "> "


def _legal_completions(view: TableView | None) -> list[str]:
    """The legal lines of the game now, with names and without."""
    if view is None or view.state is None or view.table.status != "running":
        return []
    legal = [
        (p.name, line) for p in view.pending for line in engine.legal_lines(view.state, engine_seat(p.seat))
    ]
    return [line for _, line in legal] + [f"{name}: {line}" for name, line in legal]


def _command_completions() -> list[str]:
    return [
        *(f"table new {title} " for title in engine.title_names()),
        *(f"table {word}" for word in ("start", "start shuffled", "list", "use ", "replace ")),
        *(f"table {word}" for word in ("pause", "resume", "end")),
        *(f"show {query}" for query in ("map", "market", "sheet", "bids", "tiles", "trains", "routes")),
        *(f"show {query}" for query in ("log", "turn", "company ", "player ")),
        *(f"table palette {name}" for name in ("light", "dark")),
        *(f"show chart {kind}" for kind in CHART_KINDS),
        *("show records", "show animation"),
        *("at ", "plan ", "plan more ", "plan show", "plan play", "plan clear"),
        *(f"export {name}" for name in FORMATS),
        *("undo", "redo", "help", "quit"),
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
