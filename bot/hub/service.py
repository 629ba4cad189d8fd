"""The service: the facade of all tables of one store.

A command is handled under the lock of its table, so that no two commands start from the same position, while
other tables go on. Its lines are read and played in memory and then written in one transaction: rows of the
log, the position, the result of the request, and in the outbox the messages to players. The table in memory
changes only after the commit. A process that dies has therefore done all of a command or nothing, and the
next process sends what is still in the outbox.

A decision id is made of the number of undos and redos so far and the number of the question, `0.17`; an offer
beside the question is `0.o3`, a poll `v5`. An action out of turn leaves the question and its id as they are;
an undo gives new ids to all.

Persons are ids of the store. `person_id=None` is the operator at the terminal, who may do everything.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import Event
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from time import perf_counter

import engine
from bot.features.clock.feature import TimeCommands
from bot.features.clock.timers import DueRowHandler, play_pass
from bot.features.game_files.importing import MoveIn
from bot.features.lobby.rematch import rematch
from bot.features.lobby.seats import SeatRequests
from bot.features.lobby.tables import Lobby
from bot.features.plans.feature import PlanHandler
from bot.features.plans.plans import PlanStore
from bot.features.robots.player import DEFAULT_SECONDS
from bot.features.robots.players import RobotPlayers
from bot.features.settings.feature import PersonSettingsService
from bot.features.standing_orders.book import OrderBooks
from bot.features.standing_orders.feature import OrderHandler
from bot.features.standing_orders.lines import is_about_orders, limits_as_orders
from bot.features.standing_orders.runner import OrderSpeaker
from bot.hub import notify
from bot.hub.cache import KEEP_MEGABYTES, MAX_ATTEMPTS, TableCache
from bot.hub.commands import (
    PALETTE_WORD,
    PERSONAL_WORDS,
    PLAN_WORDS,
    QUERIES,
    SEAT_WORDS,
    STANDALONE,
    STATUS_WORDS,
    TIME_WORDS,
    UNKNOWN_SEAT,
    UNLOCKED_WORDS,
    Command,
    answer_query,
    first_word,
    in_seat,
    not_running,
    refused,
    storable_text,
    without_comments,
)
from bot.hub.connections import Attachment, AttachmentState, Jobs
from bot.hub.info import status_text
from bot.hub.limits import Kind, LimitReached, Limits
from bot.hub.loading import UnreadableTable
from bot.hub.log import LogNotLoaded
from bot.hub.people import claim_address
from bot.hub.play import MoveHandler
from bot.hub.polls import PollHandler
from bot.hub.queries import TableQueries
from bot.hub.result import (
    CommandResult,
    Completed,
    ConfirmationRequired,
    LineFailure,
    LineRefused,
    LineUnreadable,
    PollUpdated,
    QueryAnswer,
    TableNotRunning,
    decode_result,
)
from bot.hub.status import RunningTables
from bot.hub.table import LiveTable, TableView
from bot.hub.timers import Clock
from bot.pictures.workers import PictureWorkers
from storage import Deadlock, DuplicateRequest, Store, StoreError, WriteConflict

CommandObserver = Callable[[str, str, float], None]
"""Is told of every command: its transport, the name of its result's class, the seconds it took."""

log = logging.getLogger(__name__)

NO_MOVES = frozenset((*STANDALONE, *PLAN_WORDS))
"""First words of lines that are not lines of the game, or only where nothing else is meant."""


class Service:
    """All tables of one store. Make one for each process, and let `run` go on beside it.

    lobby: tables before their start. running: tables in play. queries: everything that can be read.
    pictures: draws for every transport.
    """

    def __init__(
        self,
        store: Store,
        *,
        default_options: Sequence[str] = (),
        keep_megabytes: float = KEEP_MEGABYTES,
        ping_holdoff: float = 0,
        pictures: PictureWorkers | None = None,
        limits: Limits | None = None,
        robot_seconds: float = DEFAULT_SECONDS,
    ) -> None:
        """default_options: of new tables. keep_megabytes: about so much of tables stays in memory.
        ping_holdoff: seconds before a turn message is sent. limits: what one person may do on one day.
        robot_seconds: that a robot may think about a hard decision."""
        self.store = store
        self.pictures = pictures
        self.cache = TableCache(store, keep_megabytes=keep_megabytes, ping_holdoff=ping_holdoff)
        self.queries = TableQueries(self.cache)
        self.limits = limits or Limits()
        self.on_command: CommandObserver | None = None
        self.attachments: dict[str, Attachment] = {}
        self.jobs = Jobs(store)
        self.lobby = Lobby(self.cache, default_options, self.limits)
        self.running = RunningTables(self.cache, self.limits)
        self.move_in = MoveIn(self.cache, self.lobby)
        self.seats = SeatRequests(self.cache, self.lobby, self.running, self.move_in, self.limits)
        self._polls = PollHandler(self.cache, self.running)
        self._moves = MoveHandler(self.cache, self._polls)
        books = OrderBooks()
        self._orders = OrderHandler(self.cache, books)
        self.cache.before_commit = OrderSpeaker(books, self._polls).wake
        self._plans = PlanHandler(PlanStore(store, self.limits), self._moves, self._orders)
        self.settings = PersonSettingsService(self.cache)
        self._time_commands = TimeCommands(self.cache, self._polls, self.settings)
        due_rows = DueRowHandler(self.cache, self.lobby, self.running, self._play_for_seat)
        self.clock = Clock(self.cache, due_rows)
        self.robots = RobotPlayers(self.cache, self.submit, robot_seconds)

    async def run(self, *, does_work: bool = True) -> None:
        """Follow what other processes write; of those with `does_work` one does what is due, and one plays
        for robots. Never returns."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.cache.run())
            if does_work:
                tasks.create_task(self.jobs.lead("clock", ["clock"], self.clock.run))
                tasks.create_task(self.jobs.lead("robots", ["robots"], self.robots.run))

    def subscribe(self) -> AbstractContextManager[Event]:
        """An event that is set after every commit. Clear it before reading the outbox."""
        return self.cache.subscribe()

    def wake_subscribers(self) -> None:
        """Set the event of every subscriber; for transports that have written to the store themselves."""
        self.cache.wake_subscribers()

    def report_attachment(self, name: str, state: AttachmentState, detail: str = "") -> None:
        """Say that a transport is attached, or away and why; the operator sees it in the status."""
        known = self.attachments.get(name)
        if known is None or (known.state, known.detail) != (state, detail):
            since = known.since if known and known.state == state else self.store.now()
            self.attachments[name] = Attachment(name, state, since, detail)

    async def propose_end(
        self, table_id: int, *, by: int | None, request_id: str | None = None, transport: str = "terminal"
    ) -> CommandResult:
        """End the game unfinished: at once for the host or the operator, else by a poll of all other players.

        Raises ValueError for persons who have no seat.
        """
        return await self._polls.propose_end(table_id, by=by, request_id=request_id, transport=transport)

    async def submit(
        self,
        table_id: int,
        seat: int | None,
        lines: Sequence[str],
        decision_id: str | None,
        request_id: str | None,
        *,
        person_id: int | None = None,
        transport: str = "terminal",
        announcement: str = "",
    ) -> CommandResult:
        """Submit lines of notation for a seat: all of them are played, in order, or none.

        seat: None finds the seat of the person. decision_id: the decision that is answered, None for whatever
        is current. request_id: unique to this request; repeated, it gets the same result and has no second
        effect. person_id: who submits; None is the operator, who may act for every seat. announcement: what
        the table is told if the lines are played.

        In addition to the game's lines there are `undo`, `redo`, `resign`, `help`, `status`, `map`, `market`,
        `log [N]`, `company X`, `player X`, `at ROUND`, `chart KIND`, `records`, `animation`, `export
        [FORMAT]`, `plan LINES`, `auto ORDER`, `pace [PACE]`, `palette [NAME]`, `extend`, `turns`, `robot
        [NAME]`, `hint`, `settings [LINE]`, `away until DATE`, `back`, `rematch`, `ask`, `admit NAME`,
        `refuse NAME`, `accept` and `decline` (also `accept vote`) while a poll waits for the seat; each of
        these has to be submitted alone. Raises storage.NotFound for an unknown table, StoreError if nothing
        could be written.
        """
        started = perf_counter()
        plain = without_comments([storable_text(line) for line in lines])
        command = Command(
            UNKNOWN_SEAT if seat is None else seat, tuple(line for _, line in plain),
            tuple(number for number, _ in plain), decision_id, request_id, person_id, transport, announcement,
        )  # fmt: skip
        result = await self._submit(table_id, command)
        seconds = perf_counter() - started
        self._log_command(table_id, result, transport, seconds)
        if self.on_command is not None:
            self.on_command(transport, type(result).__name__, seconds)
        return result

    async def _palette(self, table_id: int, command: Command) -> CommandResult:
        """Choose the palette of a table, or say which it is."""
        line, by = command.lines[0], command.person_id
        name = line.split(None, 1)[1:]
        try:
            if name:
                await self.lobby.set_palette(table_id, name[0], by=by)
        except ValueError as error:
            return LineRefused(0, line, str(error))
        info = await self.queries.table_info(table_id)
        return QueryAnswer(PALETTE_WORD, f"The pictures of table {info.code} are {info.palette}.")

    def _log_command(self, table_id: int, result: CommandResult, transport: str, seconds: float) -> None:
        """One line for each move; a hidden order stays hidden."""
        if not isinstance(result, Completed) or not log.isEnabledFor(logging.INFO):
            return
        lines = [move.line if not engine.is_secret(move.line) else "(hidden)" for move in result.played]
        rows = f"row {result.played[-1].seq}" if result.played else "no row"
        what = "; ".join(lines) or " ".join(result.sentences)
        log.info("table %s, %s: %s (%s, %d ms)", table_id, rows, what, transport, 1000 * seconds)

    async def _submit(self, table_id: int, command: Command) -> CommandResult:
        for attempt in range(MAX_ATTEMPTS):
            try:
                if command.word in UNLOCKED_WORDS and len(command.lines) == 1:
                    return await self._carry_out_unlocked(table_id, command)
                async with self.cache.lock(table_id):
                    return await self._submit_locked(table_id, command)
            except UnreadableTable as error:
                return TableNotRunning("unreadable", str(error))
            except (WriteConflict, Deadlock):
                if attempt == MAX_ATTEMPTS - 1:
                    raise
            except DuplicateRequest:
                if result := await self.cache.stored_result(command.request_id):
                    return result
                raise
        raise AssertionError("unreachable")

    async def _submit_locked(self, table_id: int, command: Command) -> CommandResult:
        if (result := await self._play_at_once(table_id, command)) is not None:
            return result
        version = await self.store.table_version(table_id, command.request_id)
        if version.stored_result is not None:
            return decode_result(version.stored_result)
        table = await self.cache.up_to_date(table_id, version, with_log=False)
        try:
            return await self._handle(table, command)
        except LogNotLoaded:  # nothing was written; once more, with the log
            version = await self.store.table_version(table_id, command.request_id)
            table = await self.cache.up_to_date(table_id, version)
            return await self._handle(table, command)

    async def _play_at_once(self, table_id: int, command: Command) -> CommandResult | None:
        """Play a move at the table as it is in memory; its commit compares it with the store.

        None where it is no move, is not played, or the table is not current. Nothing is written then, and
        the table is to be compared before anybody is answered.
        """
        if command.word in NO_MOVES or not command.lines:
            return None
        try:
            table = await self.cache.uncompared(table_id)
            if not table.begun:
                return None
            seated = in_seat(table.stored_info, table.state.players, command)
            if not isinstance(seated, Command) or not _is_move(table, seated):
                return None
            return await self._moves.try_lines(table, seated)
        except (WriteConflict, LogNotLoaded):
            return None

    async def _carry_out_unlocked(self, table_id: int, command: Command) -> CommandResult:
        """Carry out one of `UNLOCKED_WORDS`; only seats are for people who do not sit at the table."""
        if command.word in SEAT_WORDS:
            return await self.seats.submit(table_id, command)
        if command.word == PALETTE_WORD:
            return await self._palette(table_id, command)
        view = (await self.cache.get(table_id)).view()
        if view.state is None:
            status = view.table.status
            return TableNotRunning(status, f"Table {view.table.code} is {status_text(status)}.")
        seated = in_seat(view.table, view.state.players, command)
        if not isinstance(seated, Command):
            return seated
        if command.word == "hint":
            return await self.robots.hint(view, seated)
        if command.word in STATUS_WORDS:
            return await self._pause_or_resume(table_id, view, seated)
        return await rematch(self.lobby, view.table, seated)

    async def _pause_or_resume(self, table_id: int, view: TableView, command: Command) -> CommandResult:
        """`pause` and `resume`, as a player writes them."""
        by = command.person_id
        if result := await self.cache.stored_result(command.request_id):
            return result
        try:
            if command.lines[0].casefold() != command.word:
                raise ValueError(f"Write `{command.word}` on a line by itself.")
            if command.word == "pause":
                await self.running.pause(table_id, by=by, request_id=command.request_id)
            else:
                await self.running.resume(table_id, by=by, request_id=command.request_id)
        except ValueError as error:
            return LineRefused(0, command.lines[0], str(error))
        after = (await self.cache.get(table_id)).view()
        done = f"The game is {'paused' if command.word == 'pause' else 'resumed'}."
        return Completed((), (done,), after.pending)

    async def ask(self, table_id: int, line: str, *, person_id: int | None) -> CommandResult:
        """The answer to a query such as `status` or `export`, as the person sees the table.

        person_id: None is nobody, who sees what everybody may see; so is a person without a seat. Raises
        NotFound and StoreError.
        """
        line = storable_text(line)
        try:
            table = await self.cache.get(table_id)
        except UnreadableTable as error:
            return TableNotRunning("unreadable", str(error))
        info = table.stored_info
        if not table.begun:
            return TableNotRunning(info.status, f"Table {info.code} is {status_text(info.status)}.")
        seat = None if person_id is None else info.seat_of(person_id)
        try:
            answer = await answer_query(table, seat, line)
        except ValueError as error:
            return LineRefused(0, line, str(error))
        if answer is None:
            return LineUnreadable(0, line, f"`{line}` is no question that can be asked.")
        return await self._within_limits(answer, line, person_id)

    async def claim_address(self, person_id: int, address: str) -> str:
        """A person names an email address of theirs; an email there asks for a confirming reply.

        Returns the normalized address. Raises ValueError with a sentence if it is none.
        """
        async with self.store.begin() as unit:
            await self.limits.count(unit, person_id, "claims")
            plain = await claim_address(unit, person_id, address)
        self.wake_subscribers()
        return plain

    async def _within_limits(self, answer: QueryAnswer, line: str, person_id: int | None) -> CommandResult:
        """The answer, or a refusal for a person who has asked for too many pictures or files today."""
        kind: Kind | None = "exports" if answer.files else "pictures" if answer.picture else None
        try:
            with suppress(StoreError):  # a store that cannot be written can still be asked
                if kind is not None:
                    await self.limits.count_query(self.store, person_id, kind)
        except LimitReached as error:
            return LineRefused(0, line, str(error), next_decision_id=answer.next_decision_id)
        return answer

    async def _handle(self, table: LiveTable, command: Command) -> CommandResult:
        """Check whose seat it is, carry the command out, and store the result of one that changed nothing."""
        info = table.stored_info
        if not table.begun:
            return TableNotRunning(info.status, f"Table {info.code} is {status_text(info.status)}.")
        seated = in_seat(info, table.state.players, command)
        if not isinstance(seated, Command):
            return seated
        result = await self._dispatch(table, seated)
        if isinstance(result, QueryAnswer):
            return await self._within_limits(result, seated.lines[0], seated.person_id)
        if seated.request_id and not isinstance(result, Completed | PollUpdated | ConfirmationRequired):
            async with self.cache.commit(table, seated.request_id) as draft:
                draft.result = result
        return result

    async def _dispatch(self, table: LiveTable, command: Command) -> CommandResult:
        if not command.lines:
            decision_id = table.decision_id_of(command.seat)
            return LineUnreadable(0, "", "The message has no line.", next_decision_id=decision_id)
        command = limits_as_orders(table, command)
        line, *others = command.lines
        word = command.word
        if word in PLAN_WORDS:
            return await self._plans.handle(table, command)
        if word in PERSONAL_WORDS and {first_word(each) for each in others} <= set(PERSONAL_WORDS):
            return await self._time_commands.handle(table, command)
        if is_about_orders(table, command):
            return await self._orders.handle(table, command)
        if others:
            for index, each in enumerate(command.lines):
                if first_word(each) in STANDALONE:
                    return refused(table, command, f"`{each}` has to be submitted alone.", index)
            return await self._moves.play_lines(table, command)
        if word in QUERIES:
            try:
                if answer := await answer_query(table, command.seat, line):
                    return answer
            except ValueError as error:
                return refused(table, command, str(error))
        if word in TIME_WORDS:
            return await self._time_commands.handle(table, command)
        if word in ("accept", "decline") and (result := await self._polls.vote(table, command)):
            return result
        if line.casefold() in ("undo", "redo"):
            return await self._polls.rewind(table, command)
        if word == "robot":
            return await self._polls.propose_robot(table, command)
        if word == "resign":
            return await self._resign(table, command)
        return await self._moves.play_lines(table, command)

    async def _resign(self, table: LiveTable, command: Command) -> CommandResult:
        """Give up the seat and pause the table, after a confirmation."""
        if problem := not_running(table, "running", "paused"):
            return problem
        player = table.stored_info.player_at(command.seat)
        if player is None:
            return refused(table, command, "That seat is already empty.")
        if command.lines[0].casefold().split() != ["resign", "yes"]:
            reason = "If you resign, you give up your seat, and the game waits until somebody takes it."
            decision_id = table.decision_id_of(command.seat)
            return ConfirmationRequired(reason, "resign yes", next_decision_id=decision_id)
        async with self.cache.commit_command(table, command) as draft:
            tables = (await draft.unit()).tables
            await tables.vacate_seat(player.seat_id)
            await tables.update(table.stored_info.id, status="paused")
            sentence = f"{player.name} resigns. The game waits until somebody takes that seat."
            draft.add_row(command.new_row(kind="note", line="resign", raw_line=sentence))
            draft.announce("news", sentence)
            draft.messages += notify.lobby_refreshes(table.stored_info)
            draft.result = Completed((), (sentence,), ())
        return draft.result

    async def _play_for_seat(self, table: LiveTable, seat: int, decision_id: str, wait: str) -> bool:
        """Pass for a player whose time is up, if that is possible; whether the decision is made now."""
        line = play_pass(table, seat)
        if line is None:
            return False
        info = table.stored_info
        result = await self.submit(
            info.id, seat, [line], decision_id, f"clock:{wait}:{decision_id}", transport="clock",
            announcement=f"{table.state.players[seat]}'s time is up: they pass.",
        )  # fmt: skip
        return not isinstance(result, LineFailure)


def _is_move(table: LiveTable, command: Command) -> bool:
    """Whether all lines of a command are lines of the game, whatever they mean there."""
    if table.polls and command.word in ("accept", "decline"):
        return False
    if any(first_word(line) in NO_MOVES for line in command.lines) or is_about_orders(table, command):
        return False
    return limits_as_orders(table, command) is command
