"""The hub: all tables of one store, and the door through which every request comes.

A request is handled under the lock of its table, so that no two requests start from the same position, while
other tables go on. Its lines are read and played in memory and then written in one transaction: rows of the
log, the position, the result of the request, and in the outbox the messages to players. The table in memory
changes only after the commit. A process that dies has therefore done all of a request or nothing, and the
next process sends what is still in the outbox.

A line whose first word is a command of a feature is read by that command (`bot.hub.command`); any other is a
line of the game.

A decision id is made of the number of undos and redos so far and the number of the question, `0.17`; an offer
beside the question is `0.o3`, a poll `v5`. An action out of turn leaves the question and its id as they are;
an undo gives new ids to all.

Persons are ids of the store. `person_id=None` is the operator at the terminal, who may do everything.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import Event
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from time import perf_counter

from msgspec.structs import replace

import engine
from bot.hub.cache import KEEP_MEGABYTES, MAX_ATTEMPTS, TableCache
from bot.hub.command import (
    GAME_WORDS,
    Commands,
    Lines,
    OpenCommand,
    PersonCommand,
    Query,
    QueryRequest,
    TableCommand,
)
from bot.hub.feature import Addition, AddToEnding, AddToTurn, Feature, MakePage, TurnPage
from bot.hub.loading import UnreadableTable
from bot.hub.log import LogNotLoaded
from bot.hub.notifications.ending import ending_page
from bot.hub.people import Kind, LimitReached, Limits
from bot.hub.play import MoveHandler
from bot.hub.polls import PollHandler, can_only_vote, in_voting_seat
from bot.hub.queries import TableQueries
from bot.hub.request import (
    UNKNOWN_SEAT,
    Announcement,
    CommandResult,
    Completed,
    ConfirmationRequired,
    LineRefused,
    LineUnreadable,
    NotYourSeat,
    PollUpdated,
    QueryAnswer,
    Request,
    TableNotRunning,
    confirmed_lines,
    decode_result,
    first_word,
    in_seat,
    out_of_play,
    refused,
    storable_text,
    without_comments,
    writer_of,
)
from bot.hub.table import LiveTable
from bot.hub.timers import Clock, ConnectionState, ConnectionStatus, Followers, Jobs
from storage import Deadlock, DuplicateRequest, OutcomeUnknown, Store, StoreError, WriteConflict

CommandObserver = Callable[[str, str, float], None]
"""Is told of every request: its transport, the name of its result's class, the seconds it took."""

log = logging.getLogger(__name__)


class Hub:
    """All tables of one store, without the features. `run` goes on beside it.

    `add` puts features in. commands: what they have registered. queries: everything that can be read. polls:
    the votes of tables. clock: what is due. leads: work that one process of a store does, by the name of its
    job. pages: make what a person reads, by the kind of a notification.
    """

    def __init__(
        self,
        store: Store,
        *,
        keep_megabytes: float = KEEP_MEGABYTES,
        ping_holdoff: float = 0,
        limits: Limits | None = None,
        follow: Followers | None,
    ) -> None:
        """keep_megabytes: about so much of tables stays in memory. ping_holdoff: seconds before a turn
        message is sent. limits: what one person may do on one day. follow: see `Clock`."""
        self.store = store
        self.cache = TableCache(store, keep_megabytes=keep_megabytes, ping_holdoff=ping_holdoff)
        self.polls = PollHandler(self.cache)
        self.clock = Clock(self.cache, follow)
        self.queries = TableQueries(self.cache)
        self.limits = limits or Limits()
        self.commands = Commands()
        self.on_command: CommandObserver | None = None
        self.connections: dict[str, ConnectionStatus] = {}
        self.jobs = Jobs(store)
        self.leads: dict[str, Callable[[], Awaitable[None]]] = {"clock": self.clock.run}
        self.turn_pages: list[AddToTurn] = []
        self.endings: list[AddToEnding] = []
        self.pages: dict[str, MakePage] = {"over": partial(ending_page, self.cache, self.endings)}
        self.moves = MoveHandler(self.cache, self.polls)

    def add(self, feature: Feature) -> None:
        """Put a feature in. Raises ValueError for a command whose word is taken."""
        self.commands.add(feature.commands)
        self.polls.motions |= feature.motions
        self.polls.orders = feature.orders or self.polls.orders
        self.clock.timers |= feature.timers
        self.leads |= feature.leads
        self.pages |= feature.pages
        self.cache.reactions += feature.reactions
        self.turn_pages += feature.turn_pages
        self.endings += feature.endings

    async def run(self, *, does_work: bool = True) -> None:
        """Follow what other processes write; of those with `does_work` one does each of the `leads`. Never
        returns."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.cache.run())
            if does_work:
                for name, work in self.leads.items():
                    tasks.create_task(self.jobs.lead(name, [name], work))

    async def additions(self, page: TurnPage) -> Addition:
        """What the features add to the page of a turn."""
        found = [await add(page) for add in self.turn_pages]
        sentences = [sentence for each in found for sentence in each.sentences]
        return Addition(sentences, [control for each in found for control in each.controls])

    def subscribe(self) -> AbstractContextManager[Event]:
        """An event that is set after every commit. Clear it before reading the outbox."""
        return self.cache.subscribe()

    def wake_subscribers(self) -> None:
        """Set the event of every subscriber; for transports that have written to the store themselves."""
        self.cache.wake_subscribers()

    def report_connection(self, name: str, state: ConnectionState, detail: str = "") -> None:
        """Say that a transport is attached, or away and why; the operator sees it in the status."""
        known = self.connections.get(name)
        if known is None or (known.state, known.detail) != (state, detail):
            since = known.since if known and known.state == state else self.store.now()
            self.connections[name] = ConnectionStatus(name, state, since, detail)

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
        announcement: Announcement | None = None,
        confirmed: bool = False,
        name: str = "",
        is_repeated: bool = False,
    ) -> CommandResult:
        """Submit lines of notation for a seat: all of them are played, in order, or none.

        seat: None finds the seat of the person. decision_id: the decision that is answered, None for whatever
        is current. request_id: unique to this request; repeated, it gets the same result and has no second
        effect. person_id: who submits; None is the operator, who may act for every seat. announcement: what
        is told if the lines are played. confirmed: nobody is asked whether they are sure; `yes`
        behind the last line says the same. name, is_repeated: see `Request`.

        A command of a feature (`commands`) may have to be submitted alone. Raises storage.NotFound for an
        unknown table, StoreError if nothing could be written.
        """
        started = perf_counter()
        plain = without_comments([storable_text(line) for line in lines])
        texts, says_yes = confirmed_lines([line for _, line in plain])
        request = Request(
            UNKNOWN_SEAT if seat is None else seat, texts, tuple(number for number, _ in plain), decision_id,
            request_id, person_id, transport, announcement, confirmed or says_yes, name, is_repeated,
        )  # fmt: skip
        result = await self._submit(table_id, request)
        seconds = perf_counter() - started
        self._log_command(table_id, result, transport, seconds)
        if self.on_command is not None:
            self.on_command(transport, type(result).__name__, seconds)
        return result

    def _log_command(self, table_id: int, result: CommandResult, transport: str, seconds: float) -> None:
        """One line for each move; a hidden order stays hidden."""
        if not isinstance(result, Completed) or not log.isEnabledFor(logging.INFO):
            return
        lines = [move.line if not engine.is_secret(move.line) else "(hidden)" for move in result.played]
        rows = f"row {result.played[-1].seq}" if result.played else "no row"
        what = "; ".join(lines) or " ".join(result.sentences)
        table = self.cache.table_name(table_id)
        log.info("%s, %s: %s (%s, %d ms)", table, rows, what, transport, 1000 * seconds)

    async def _submit(self, table_id: int, request: Request) -> CommandResult:
        unknown: OutcomeUnknown | None = None
        for attempt in range(MAX_ATTEMPTS):
            try:
                return await self._submit_once(table_id, request)
            except OutcomeUnknown as error:  # the next attempt finds out: a request is stored with its move
                unknown = error
            except UnreadableTable as error:
                return TableNotRunning("unreadable", str(error))
            except (WriteConflict, Deadlock):
                if attempt == MAX_ATTEMPTS - 1:
                    raise
            except DuplicateRequest:
                if result := await self.cache.stored_result(request.request_id):
                    await self.cache.refresh(table_id)
                    return result
                raise
            except StoreError:
                if unknown is not None:
                    raise unknown from None
                raise
        raise unknown or AssertionError("unreachable")

    async def _submit_once(self, table_id: int, request: Request) -> CommandResult:
        if (command := await self._open_command(table_id, request)) is not None:
            return await self._carry_out_open(table_id, command, request)
        async with self.cache.lock(table_id):
            result = await self._submit_locked(table_id, request)
        word = request.word
        is_unread = isinstance(result, LineUnreadable | NotYourSeat) and word not in GAME_WORDS
        is_of_others = self.commands.depends_on_status(word) and self.commands.get(word) is None
        if is_unread and is_of_others:
            info = await self.cache.info(table_id)
            return out_of_play(info)
        return result

    async def _submit_locked(self, table_id: int, request: Request) -> CommandResult:
        if (result := await self._play_at_once(table_id, request)) is not None:
            return result
        version = await self.store.table_version(table_id, request.request_id)
        if version.stored_result is not None:
            with suppress(UnreadableTable):  # another process may have carried it out
                await self.cache.up_to_date(table_id, version, with_log=False)
            return decode_result(version.stored_result)
        table = await self.cache.up_to_date(table_id, version, with_log=False)
        try:
            return await self._handle(table, request)
        except LogNotLoaded:  # nothing was written; once more, with the log
            version = await self.store.table_version(table_id, request.request_id)
            table = await self.cache.up_to_date(table_id, version)
            return await self._handle(table, request)

    async def _play_at_once(self, table_id: int, request: Request) -> CommandResult | None:
        """Play a move at the table as it is in memory; its commit compares it with the store.

        None where it is no move, is not played, or the table is not current. Nothing is written then, and
        the table is to be compared before anybody is answered.
        """
        if not request.lines or any(map(self.commands.stands_alone, request.lines)):
            return None
        try:
            table = await self.cache.uncompared(table_id)
            if not table.begun:
                return None
            seated = in_seat(table.info, request)
            if not isinstance(seated, Request) or self.commands.reader(table, seated) is not None:
                return None
            return await self.moves.try_lines(table, seated)
        except (WriteConflict, LogNotLoaded):
            return None

    async def _open_command(self, table_id: int, request: Request) -> OpenCommand | None:
        """The command that is carried out while the table goes on, if the request is for one."""
        if len(request.lines) != 1:
            return None
        if self.commands.depends_on_status(request.word):
            info = (await self.cache.get(table_id, with_log=False)).stored_info
            status = "lobby" if request.is_repeated else info.status
            if (command := self.commands.at_status(request.word, status)) is not None:
                return command
        found = self.commands.get(request.word)
        return found if isinstance(found, OpenCommand) else None

    async def _carry_out_open(self, table_id: int, command: OpenCommand, request: Request) -> CommandResult:
        """Carry out a command while the table goes on."""
        if command.needs_seat:
            table = await self.cache.get(table_id, with_log=False)
            if not table.begun:
                return out_of_play(table.stored_info)
            seated = in_seat(table.info, request)
            if not isinstance(seated, Request):
                return seated
            request = seated
        try:
            result = await command.handler(await self.cache.info(table_id), request)
        except ValueError as error:
            return LineRefused(*request.numbered_line(0), str(error))
        return QueryAnswer(command.name, result) if isinstance(result, str) else result

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
        if not table.begun:
            return out_of_play(table.stored_info)
        seat = None if person_id is None else table.info.seat_of(person_id)
        try:
            answer = await self._answer(table, seat, line)
        except ValueError as error:
            return LineRefused(0, line, str(error))
        if isinstance(answer, QueryAnswer):
            return await self._within_limits(answer, line, person_id)
        why = f"`{line}` is no question that can be asked; `help` lists them."
        return answer or LineUnreadable(0, line, why)

    async def submit_personal(self, person_id: int, lines: Sequence[str]) -> CommandResult:
        """Carry out lines of one person about themselves, such as `settings`, at no table in particular."""
        lines = [storable_text(line).strip() for line in lines]
        command = self.commands.get(first_word(lines[0])) if lines else None
        if not isinstance(command, PersonCommand):
            return LineUnreadable(0, "; ".join(lines), "That is no command about yourself.")
        try:
            return await command.handler(person_id, lines)
        except ValueError as error:
            return LineRefused(0, "; ".join(lines), str(error))

    async def _answer(
        self, table: LiveTable, seat: int | None, line: str
    ) -> QueryAnswer | LineUnreadable | None:
        """What follows a question; None if the line is none. Raises ValueError with a sentence."""
        word, _, argument = " ".join(line.split()).rstrip("?! ").partition(" ")
        query = self.commands.get(word)
        if not isinstance(query, Query):
            return None
        return await query.read(QueryRequest(table, seat, query.name, argument))

    async def _within_limits(self, answer: QueryAnswer, line: str, person_id: int | None) -> CommandResult:
        """The answer, or a refusal for a person who has asked for too many pictures or files today."""
        kind: Kind | None = "exports" if answer.files else "pictures" if answer.picture else None
        try:
            with suppress(StoreError):  # a store that cannot be written can still be asked
                if kind is not None:
                    await self.limits.count_query(self.store, person_id, kind)
        except LimitReached as error:
            return LineRefused(0, line, str(error))
        return answer

    async def _handle(self, table: LiveTable, request: Request) -> CommandResult:
        """Check whose seat it is, carry the request out, and store the result of one that changed nothing."""
        if not table.begun:
            return out_of_play(table.stored_info)
        seated = in_seat(table.info, in_voting_seat(table, request))
        if not isinstance(seated, Request):
            return seated
        result = await self._dispatch(table, seated)
        if isinstance(result, QueryAnswer):
            return await self._within_limits(result, seated.lines[0], seated.person_id)
        if seated.request_id and not isinstance(result, Completed | PollUpdated | ConfirmationRequired):
            async with self.cache.commit(table, seated.request_id) as draft:
                draft.result = result
        return result

    async def _dispatch(self, table: LiveTable, request: Request) -> CommandResult:
        if not request.lines:
            return LineUnreadable(0, "", "The message has no line.")
        try:
            if (result := await self._by_command(table, request)) is not None:
                return result
        except ValueError as error:
            return refused(request, str(error))
        if len(request.lines) > 1 and (alone := self._refuse_others(table, request)):
            return alone
        return self._with_similar(await self.moves.play_lines(table, request))

    def _with_similar(self, result: CommandResult) -> CommandResult:
        """The result; of a line that is like none of the game, with the command that it may mean."""
        if not isinstance(result, LineUnreadable) or result.suggestions:
            return result
        if not (meant := self.commands.similar(result.line)):
            return result
        reason = f"`{result.line.strip('`')}` cannot be read. Did you mean `{meant}`?"
        return replace(result, reason=reason, suggestions=(meant,))

    async def _by_command(self, table: LiveTable, request: Request) -> CommandResult | None:
        """The result of the command that reads the lines; None for lines of the game. Raises ValueError with
        a sentence."""
        command = self.commands.reader(table, request)
        if isinstance(command, TableCommand):
            if command.others is Lines.ANY and (alone := self._refuse_others(table, request, command)):
                return alone
            return await command.handler(table, request)
        if isinstance(command, Query) and len(request.lines) == 1:
            return await self._answer(table, request.seat, request.lines[0])
        if isinstance(command, PersonCommand):
            return await self._carry_out_personal(table, command, request)
        return None

    def _refuse_others(
        self, table: LiveTable, request: Request, reader: TableCommand | None = None
    ) -> LineRefused | None:
        """The result for a request with a line that has to be submitted alone. reader: the command that reads
        the request, with which no line of another command may stand."""
        for index, each in enumerate(request.lines):
            if self.commands.stands_alone(each) or can_only_vote(table, request, each):
                return refused(request, f"`{each}` has to be submitted alone.", index)
            if reader is not None and self.commands.is_of_another(each, table, request, reader):
                why = f"`{each}` and `{reader.name}` cannot be in one message; send two."
                return refused(request, why, index)
        return None

    @staticmethod
    async def _carry_out_personal(
        table: LiveTable, command: PersonCommand, request: Request
    ) -> CommandResult:
        """Carry out a command about the person who writes; of the operator, about the player of the seat."""
        if (person_id := writer_of(table, request)) is None:
            return refused(request, "Nobody sits there.")
        return await command.handler(person_id, request.lines)
