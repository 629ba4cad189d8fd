"""`pause`, `resume`, `resign`, and the end of a game that is not over."""

from __future__ import annotations

from bot.hub.cache import TableCache
from bot.hub.changes import RunningTables, check_allowed, ends_without, leave_game, record_end
from bot.hub.command import Command, Form, OpenCommand, TableCommand
from bot.hub.commit import CommitDraft
from bot.hub.info import TableInfo
from bot.hub.notifications import messages
from bot.hub.polls import Motion, PollHandler
from bot.hub.request import (
    CommandResult,
    Completed,
    Request,
    ask_to_confirm,
    is_from_deputy,
    not_running,
    own_seat_sentence,
    refused,
)
from bot.hub.table import LiveTable
from storage import TablePoll


class StatusCommands:
    """Pauses, resumes and ends games, and lets players give up their seats."""

    def __init__(self, cache: TableCache, running: RunningTables, polls: PollHandler) -> None:
        self._cache, self._running, self._polls = cache, running, polls

    def motions(self) -> dict[str, Motion]:
        """What a poll about the end decides."""
        return {messages.END_POLL: Motion(_end)}

    def commands(self) -> list[Command]:
        """`pause`, `resume`, `end`, `resign`."""
        pause = Form("pause", "the game waits, and no time runs")
        resume = Form("resume", "a paused game goes on")
        end = Form("end [yes]", "end the game unfinished: the host, or all by a vote", "end")
        return [
            OpenCommand("pause", (pause,), self._pause_or_resume, needs_seat=False),
            OpenCommand("resume", (resume,), self._pause_or_resume, needs_seat=False),
            OpenCommand("end", (end,), self._end_early, needs_seat=False),
            TableCommand("resign", (Form("resign [yes]", "give up your seat", "resign"),), self._resign),
        ]

    async def _pause_or_resume(self, info: TableInfo, request: Request) -> CommandResult:
        """`pause` and `resume`, as a player writes them; of the operator, for the player of the seat."""
        player = info.player_at(request.seat)
        by = request.person_id or (player.person_id if player else None)
        if result := await self._cache.stored_result(request.request_id):
            return result
        _check_alone(request)
        change = self._running.pause if request.word == "pause" else self._running.resume
        return await change(info.id, by=by, request_id=request.request_id)

    async def _resign(self, table: LiveTable, request: Request) -> CommandResult | None:
        """Give up the seat and pause the table, after a confirmation."""
        if problem := not_running(table, "running", "paused"):
            return problem
        player = table.stored_info.player_at(request.seat)
        if player is None:
            return refused(request, "That seat is already empty.")
        if request.lines[0].casefold() != "resign":
            return None
        if is_from_deputy(table, request):
            return refused(request, own_seat_sentence(player.name))
        if not request.confirmed:
            waits = "you give up your seat, and the game waits until somebody takes it"
            is_over = ends_without(table, player.person_id)
            then = "the game is ended, because no other person plays it" if is_over else waits
            return ask_to_confirm(request, f"If you resign, {then}.")
        async with self._cache.commit_request(table, request) as draft:
            row = request.new_row(kind="note", line="resign", raw_line=f"{player.name} resigns.")
            await leave_game(draft, player.person_id, row)
            draft.messages += messages.lobby_refreshes(table.stored_info)
            draft.result = Completed((), tuple(new_row.raw_line for new_row in draft.new_rows))
        return draft.result

    async def _end_early(self, info: TableInfo, request: Request) -> CommandResult:
        """End the game unfinished: the host, the operator and who plays alone after a confirmation, others by
        a poll."""
        by = request.person_id
        async with self._cache.locked(info.id) as table:
            if result := await self._cache.stored_result(request.request_id):
                return result
            info = table.stored_info
            if problem := not_running(table, "lobby", "running", "paused"):
                return problem
            _check_alone(request)
            check_allowed(info, by, seated_players=True)
            if by is not None and by != info.host_id:
                if problem := not_running(table, "running", "paused"):
                    return problem
                seated = request._replace(seat=info.seat_of(by) or 0)
                others = [p.seat for p in info.seated_players if p.seat is not None and p.person_id != by]
                if others:
                    question = f"{table.state.players[seated.seat]} would like to end the game unfinished."
                    return await self._polls.open_poll(table, seated, messages.END_POLL, others, question)
        if not request.confirmed:
            what = "ends unfinished" if table.begun else "is closed"
            return ask_to_confirm(request, f"Table {info.code} {what}, for all its players.")
        done = await self._running.end_now(info.id, by=by, request_id=request.request_id)
        return Completed((), (done,))


def _check_alone(request: Request) -> None:
    """Raises ValueError for a line with more than its word."""
    if request.lines[0].casefold() != request.word:
        raise ValueError(f"Write `{request.word}` on a line by itself.")


async def _end(draft: CommitDraft, request: Request, poll: TablePoll) -> list[str]:
    await record_end(draft, "All players agree to end the game.", request.person_id)
    return ["The game is ended."]
