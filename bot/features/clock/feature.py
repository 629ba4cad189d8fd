"""Commands about time: `pace`, `extend`."""

from __future__ import annotations

from bot.features.clock.clocks import ClockRules
from bot.hub.cache import TableCache
from bot.hub.command import Command, Form, TableCommand
from bot.hub.commit import CommitDraft
from bot.hub.pace import Pace, pace_text, parse_pace, stored_pace
from bot.hub.polls import Motion, PollHandler, completed
from bot.hub.request import Request, not_running, refused
from bot.hub.result import CommandResult, QueryAnswer
from bot.hub.status import record_pace
from bot.hub.table import LiveTable
from bot.position.times import moment_text
from storage import ClockChanges, TablePoll


class TimeCommands:
    """Carries out the commands about time at a locked table."""

    def __init__(self, cache: TableCache, polls: PollHandler) -> None:
        self._cache, self._polls = cache, polls

    def motions(self) -> dict[str, Motion]:
        """What a poll about time decides."""
        return {"pace": Motion(_set_pace)}

    def commands(self) -> list[Command]:
        """`pace`, `extend`."""
        return [
            TableCommand(
                "pace",
                (
                    Form(
                        "pace [TEXT]", "the pace of the table; propose another, for a vote", "pace, pace 24h"
                    ),
                ),
                self._pace,
            ),
            TableCommand("extend", (Form("extend", "take more time for this decision, once"),), self._extend),
        ]

    async def _pace(self, table: LiveTable, request: Request) -> CommandResult:
        rest = request.lines[0].partition(" ")[2].strip()
        if not rest:
            return self._answer(table, request, pace_text(table.stored_info.pace))
        try:
            return await self._propose_pace(table, request, parse_pace(rest))
        except ValueError as error:
            return refused(table, request, str(error))

    @staticmethod
    def _answer(table: LiveTable, request: Request, text: str) -> QueryAnswer:
        return QueryAnswer(request.word, text, next_decision_id=table.decision_id_of(request.seat))

    async def _propose_pace(self, table: LiveTable, request: Request, pace: Pace) -> CommandResult:
        """Ask the others for another pace; alone at the table, a player changes it at once."""
        if problem := not_running(table, "running", "paused"):
            return problem
        if pace == table.stored_info.pace:
            return refused(table, request, f"The pace is already {pace}.")
        others = [
            p.seat for p in table.stored_info.seated_players if p.seat is not None and p.seat != request.seat
        ]
        name = table.state.players[request.seat]
        if others:
            question = f"{name} proposes another pace: {pace} (now: {table.stored_info.pace})."
            return await self._polls.open_poll(table, request, "pace", others, question, {"pace": str(pace)})
        async with self._cache.commit_request(table, request) as draft:
            sentence = f"{name} sets the pace: {pace}."
            await record_pace(draft, pace, sentence, request.person_id, request.transport)
            draft.result = completed(draft, request, sentences=(sentence,))
        return draft.result

    async def _extend(self, table: LiveTable, request: Request) -> CommandResult:
        """Take one more allowance for the decision that waits; once, without asking."""
        if problem := not_running(table, "running"):
            return problem
        info = table.stored_info
        if info.pace.kind == "none":
            return refused(table, request, "There is no pace at this table, so your time does not run out.")
        async with self._cache.store.read() as unit:
            clock = (await unit.clocks.seat_clocks(info.id)).get(request.seat)
        if clock is None or clock.decision_id is None or table.decision_id_of(request.seat) is None:
            return refused(table, request, "The table does not wait for you, so your time does not run.")
        if clock.extended:
            return refused(table, request, "You have taken more time for this decision already.")
        clock.extended = True
        due = ClockRules(info.pace, table.metadata.settings).deadline(clock)
        zone = table.metadata.settings[request.seat].zone if request.seat in table.metadata.settings else None
        until = moment_text(due.time_up, zone) if due else ""
        name = table.state.players[request.seat]
        async with self._cache.commit_request(table, request) as draft:
            unit = await draft.unit()
            await unit.clocks.write(ClockChanges(seats=[clock]))
            await unit.clocks.look_again(info.id)
            draft.add_row(
                request.new_row(
                    kind="note", line="extend", raw_line=f"{name} takes more time, until {until}."
                )
            )
            draft.result = completed(draft, request, sentences=(f"You have more time, until {until}.",))
        return draft.result


async def _set_pace(draft: CommitDraft, request: Request, open_poll: TablePoll) -> list[str]:
    pace = stored_pace(str(open_poll.poll.details["pace"]))
    sentence = f"All players agree to the pace {pace}."
    await record_pace(draft, pace, sentence, request.person_id, request.transport)
    return [sentence]
