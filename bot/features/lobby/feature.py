"""Commands about seats and the table: `ask`, `admit`, `refuse`, `robot`, `rematch`, `palette`."""

from __future__ import annotations

from bot.features.lobby.pages import tell_expiry
from bot.features.lobby.rematch import rematch
from bot.features.lobby.seats import SeatRequests
from bot.features.lobby.tables import Lobby
from bot.hub.cache import TableCache
from bot.hub.changes import WARNING, load_info
from bot.hub.command import Command, Form, OpenCommand, TableCommand
from bot.hub.commit import CommitDraft
from bot.hub.polls import Motion, PollHandler, completed
from bot.hub.request import Request, not_running, refused
from bot.hub.result import CommandResult, LineRefused, QueryAnswer
from bot.hub.seating import seat_robot
from bot.hub.table import LiveTable
from storage import DueRow, TablePoll


class LobbyCommands:
    """Carries out lines about seats and the table."""

    def __init__(self, cache: TableCache, lobby: Lobby, seats: SeatRequests, polls: PollHandler) -> None:
        self._cache, self._lobby, self._seats, self._polls = cache, lobby, seats, polls

    def motions(self) -> dict[str, Motion]:
        """What a poll about a seat decides."""
        return {"robot": Motion(_seat_robot)}

    def commands(self) -> list[Command]:
        """The commands of the lobby."""
        palettes = Form(
            "palette [light|dark]", "dark pictures at this table; `palette light`", "palette dark"
        )
        again = Form("rematch", "after the end: a new table with the same people")
        return [
            OpenCommand("palette", (palettes,), self._palette, needs_seat=False),
            OpenCommand("rematch", (again,), self._rematch),
            OpenCommand("ask", (Form("ask [NAME]"),), self._seats.submit, needs_seat=False),
            OpenCommand("admit", (Form("admit [NAME]"),), self._seats.submit, needs_seat=False),
            OpenCommand("refuse", (Form("refuse [NAME]"),), self._seats.submit, needs_seat=False),
            TableCommand("robot", (Form("robot [PLAYER]"),), self._propose_robot),
        ]

    async def _palette(self, table_id: int, request: Request) -> CommandResult:
        """Choose the palette of a table, or say which it is."""
        line, by = request.lines[0], request.person_id
        name = line.split(None, 1)[1:]
        try:
            if name:
                await self._lobby.set_palette(table_id, name[0], by=by)
        except ValueError as error:
            return LineRefused(0, line, str(error))
        info = (await self._cache.get(table_id, with_log=False)).info
        return QueryAnswer("palette", f"The pictures of table {info.code} are {info.palette}.")

    async def _rematch(self, table_id: int, request: Request) -> CommandResult:
        info = (await self._cache.get(table_id, with_log=False)).info
        return await rematch(self._lobby, info, request)

    async def expire(self, row: DueRow) -> bool:
        """Warn the people of a lobby that it will be closed; later, close it."""
        assert row.table_id is not None
        if row.details.get("warned"):
            await self._lobby.expire(row.table_id)
        async with self._cache.store.begin(table=row.table_id) as unit:
            info = await load_info(unit, row.table_id)
            if await unit.clocks.take_due(row) and info.status == "lobby":
                await tell_expiry(unit, info)
                await unit.clocks.set_due(
                    row.key, row.kind, unit.now + WARNING, table_id=row.table_id, details={"warned": True}
                )
        self._cache.wake_subscribers()
        return True

    async def _propose_robot(self, table: LiveTable, request: Request) -> CommandResult:
        """`robot Ann`: a robot plays on for Ann, whose seat is empty or the player's own, if all agree."""
        if problem := not_running(table, "running", "paused"):
            return problem
        info, names = table.stored_info, table.state.players
        wanted = request.lines[0].partition(" ")[2].strip().casefold()
        open_seats = [s for s in range(len(names)) if s == request.seat or info.player_at(s) is None]
        empty = [s for s in open_seats if info.player_at(s) is None]
        named = [s for s in open_seats if names[s].casefold() == wanted] if wanted else empty[:1]
        if not named:
            reason = "Name an empty seat, or your own: `robot NAME`. A robot takes no other."
            return refused(table, request, reason)
        seat = named[0]
        others = [
            p.seat
            for p in info.seated_players
            if p.seat is not None and p.seat != request.seat and not p.is_robot
        ]
        question = f"A robot shall play on for {names[seat]}."
        if others and request.person_id is not None:
            return await self._polls.open_poll(table, request, "robot", others, question, {"seat": seat})
        async with self._cache.commit_request(table, request) as draft:
            sentence = await seat_robot(draft, seat, request.person_id)
            draft.result = completed(draft, request, sentences=(sentence,))
        return draft.result


async def _seat_robot(draft: CommitDraft, request: Request, open_poll: TablePoll) -> list[str]:
    return [await seat_robot(draft, int(open_poll.poll.details["seat"]), request.person_id)]
