"""Robots make their moves, by the same door as everybody else.

Whenever something was written, the tables with robots are looked at: a robot that is awaited thinks in a
process of its own (`worker`) and submits its line. The request is named after the row of the log
that it follows, so a move is made once, whatever is repeated after a restart. A move whose position has
passed meanwhile is refused as stale, and the robot looks again. A robot agrees to an undo or a redo that
costs it little (`planning.loses_little`), and to every other vote.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import engine
from bot.features.robots.worker import RobotWorker, plain_move
from bot.hub.cache import TableCache, keyed_locks
from bot.hub.command import Command, Form, OpenCommand
from bot.hub.info import ROBOT_PREFIX, ROBOT_TRANSPORT, TableInfo, is_robot_name
from bot.hub.notifications.messages import poll_id
from bot.hub.polls import REWIND_POLLS, holds_table
from bot.hub.request import CommandResult, LineFailure, LineRefused, NotYourSeat, QueryAnswer, Request
from bot.hub.seating import is_robot
from bot.hub.table import TableView
from bot.position.pending import PendingDecision, engine_seat
from storage import NotFound, StoreError, TablePoll

log = logging.getLogger(__name__)

Submit = Callable[..., Awaitable[CommandResult]]
RESCAN_SECONDS = 60.0
"""How often all tables are looked at, for robots that another process has seated."""
WAY_OUT = "`undo` takes your last move back, or the host gives the seat to a person."
"""What helps a table at which a robot finds no move."""


class RobotPlayers:
    """Plays for all robots of one service."""

    def __init__(
        self, cache: TableCache, submit: Submit, announce: Callable[..., Awaitable[None]], seconds: float
    ) -> None:
        """announce: tells everyone at a table something (`RunningTables.announce`)."""
        self._cache, self._submit, self._announce = cache, submit, announce
        self.worker = RobotWorker(seconds)
        self._robots: dict[int, bool] = {}
        self._lock = keyed_locks()
        self._stuck: set[tuple[int, str]] = set()

    async def run(self) -> None:
        """Play whenever a robot is awaited. Never returns."""
        loop, scanned_at = asyncio.get_running_loop(), float("-inf")
        try:
            with self._cache.subscribe() as event:
                while True:
                    event.clear()
                    if loop.time() - scanned_at >= RESCAN_SECONDS:
                        scanned_at = loop.time()
                        try:
                            await self._play_at(await self._stored_tables())
                        except StoreError as error:  # they are looked for again
                            log.warning("the robots wait: %s", error)
                    await self._play_at([t.stored_info.id for t in self._cache.with_stand_ins() if t.begun])
                    with suppress(TimeoutError):
                        async with asyncio.timeout(RESCAN_SECONDS):
                            await event.wait()
        finally:
            self.worker.close()

    async def _play_at(self, table_ids: Sequence[int]) -> None:
        """One move at each of these tables, so that no table waits for the game of another."""
        for table_id in table_ids:
            try:
                await self.play(table_id, moves=1)
            except StoreError as error:
                log.warning("the robots of %s wait: %s", self._cache.table_name(table_id), error)
            except Exception:  # whatever is wrong at one table, the robots of others go on
                log.exception("the robots of %s wait", self._cache.table_name(table_id))

    async def _stored_tables(self) -> list[int]:
        """The tables of the store at which a robot sits, or somebody has a deputy."""
        async with self._cache.store.read() as unit:
            names = await unit.tables.seat_names("running", ROBOT_PREFIX)
            deputies = await unit.clocks.tables_with_deputies()
        return sorted({table_id for table_id, name in names if is_robot_name(name)} | set(deputies))

    async def play(self, table_id: int, moves: int = 1_000) -> int:
        """Let the robots of a table move until a person is awaited, or so many moves are made; how many."""
        async with self._lock(table_id):
            made = 0
            while made < moves and await self._play_once(table_id):
                made += 1
        return made

    async def _play_once(self, table_id: int) -> bool:
        try:
            view = (await self._cache.get(table_id, with_log=False)).view()
        except NotFound:
            return False
        if view.state is None or view.table.status not in ("running", "paused", "finished"):
            return False
        if await self._vote(view):
            return True
        if view.table.status != "running" or self._waits_for_vote(view):
            return False
        for pending in view.pending:
            person_id = view.table.person_at(pending.seat)
            is_stuck = (table_id, pending.decision_id) in self._stuck
            if person_id is not None and not is_stuck and await self._is_robot(person_id):
                return await self._move(view, view.state, pending, person_id)
        return False

    def _waits_for_vote(self, view: TableView) -> bool:
        return holds_table(view.polls, view.table.pace, self._cache.store.now())

    async def _move(
        self, view: TableView, state: engine.State, pending: PendingDecision, person_id: int
    ) -> bool:
        """Make the robot's move; the plainest legal one where that is refused. Tell the table if there is
        none."""
        table_id, seat, decision_id = view.table.id, pending.seat, pending.decision_id
        result: CommandResult | None = None
        for attempt in ("", ":plain"):
            if attempt:
                move = plain_move(state, engine_seat(seat))
            else:
                move = await self.worker.decide(state, engine_seat(seat), seed=person_id)
            if move is None:
                break
            if self._waits_for_vote((await self._cache.get(table_id, with_log=False)).view()):
                return False  # a vote was opened meanwhile, and a move would close it
            result = await self._submit(
                table_id, seat, [move.line], decision_id,
                f"robot:{table_id}:{seat}:{view.seq}{attempt}", person_id=person_id,
                transport=ROBOT_TRANSPORT, confirmed=True,
            )  # fmt: skip
            if isinstance(result, NotYourSeat):
                return False  # the player is back, as the table in memory says only now
            if not isinstance(result, LineFailure):
                return True
            log.error("the move %r of the robot in seat %d was refused: %s", move.line, seat, result)
        log.error("the robot in seat %d of table %s has no move: %s", seat, view.table.code, result)
        self._stuck.add((table_id, decision_id))
        sentence = f"{state.players[seat]} finds no move, so the table waits. {WAY_OUT}"
        await self._announce(table_id, sentence, "robot", f"robot:{table_id}:{seat}:{decision_id}:stuck")
        return False

    async def _vote(self, view: TableView) -> bool:
        """Cast a vote that waits for a robot."""
        for poll, seat in view.missing_votes():
            player = view.table.player_at(seat)
            person_id = player.person_id if player else None  # a deputy does not vote for whom it plays
            if person_id is not None and await self._is_robot(person_id):
                vote, word = poll_id(poll), "accept" if await self._agrees(view, poll, seat) else "decline"
                await self._submit(
                    view.table.id, seat, [f"{word} vote"], vote, f"robot:{view.table.id}:{seat}:{vote}",
                    person_id=person_id, transport=ROBOT_TRANSPORT,
                )  # fmt: skip
                return True
        return False

    async def _agrees(self, view: TableView, poll: TablePoll, seat: int) -> bool:
        """Whether the robot in a seat agrees: to an undo or a redo by what it loses, to all else always. A
        person who plays against robots alone may take back what they like."""
        people = [player for player in view.table.seated_players if not player.is_robot]
        if poll.poll.kind not in REWIND_POLLS or len(people) == 1:
            return True
        table = await self._cache.get(view.table.id)
        then = table.log.state_after_move(int(poll.poll.details["target"]))
        return await self.worker.accepts(table.state, then, engine_seat(seat))

    async def _is_robot(self, person_id: int) -> bool:
        if person_id not in self._robots:
            async with self._cache.store.read() as unit:
                self._robots[person_id] = await is_robot(unit, person_id)
        return self._robots[person_id]

    def commands(self) -> list[Command]:
        """`hint`."""
        meaning = "what a robot would do in your place, and why, at tables with hints"
        return [OpenCommand("hint", (Form("hint", meaning),), self.hint)]

    async def hint(self, info: TableInfo, request: Request) -> CommandResult:
        """What a robot would do in the player's place, and why, shown to that player alone.

        The table goes on meanwhile.
        """
        view = (await self._cache.get(info.id, with_log=False)).view()
        seat, line = request.seat, request.lines[0]
        decision_id = view.decision_id_of(seat)
        if view.state is None or decision_id is None or info.status != "running":
            return LineRefused(0, line, f"Nothing waits for you at table {info.code} now.")
        if not info.hints:
            reason = f"Table {info.code} is played without hints; a new table has them by the option `hints`."
            return LineRefused(0, line, reason)
        move = await self.worker.decide(view.state, engine_seat(seat), seed=0)
        text = f"A robot would play `{move.line}`: {move.reason}." if move else "A robot sees no move."
        return QueryAnswer("hint", text)
