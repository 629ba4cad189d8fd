"""Commands about seats and the table: `ask`, `admit`, `refuse`, `robot`, `rematch`, `palette`."""

from __future__ import annotations

from bot.features.lobby.pages import tell_expiry
from bot.features.lobby.rematch import rematch
from bot.features.lobby.replacement import Replacements, other_people
from bot.features.lobby.seats import SeatRequests
from bot.features.lobby.tables import Lobby
from bot.hub.cache import TableCache
from bot.hub.changes import WARNING, load_info
from bot.hub.command import Command, Form, OpenCommand, TableCommand
from bot.hub.polls import PollHandler, completed
from bot.hub.request import Request, not_running, refused
from bot.hub.result import CommandResult, LineRefused, QueryAnswer
from bot.hub.seating import seat_robot
from bot.hub.table import LiveTable
from storage import DueRow


class LobbyCommands:
    """Carries out lines about seats and the table."""

    def __init__(
        self,
        cache: TableCache,
        lobby: Lobby,
        seats: SeatRequests,
        polls: PollHandler,
        replacements: Replacements,
    ) -> None:
        self._cache, self._lobby, self._seats, self._polls = cache, lobby, seats, polls
        self._replacements = replacements

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
        """`robot Ann`: a robot plays on for Ann, if all agree. Ann has left, is late, or asks for it."""
        if problem := not_running(table, "running", "paused"):
            return problem
        info, names = table.stored_info, table.state.players
        wanted = request.lines[0].partition(" ")[2].strip().casefold()
        empty = [seat for seat in range(len(names)) if info.player_at(seat) is None]
        named = [s for s in range(len(names)) if names[s].casefold() == wanted] if wanted else empty[:1]
        details = await self._robot_details(table, named[0], request.seat) if named else None
        if details is None:
            reason = "Name an empty seat, your own, or that of a player who is late: `robot NAME`."
            return refused(table, request, reason)
        seat = named[0]
        others = [each for each in other_people(info, seat) if each != request.seat]
        question = f"Let a robot play on for {names[seat]}?"
        if others and request.person_id is not None:
            return await self._polls.open_poll(table, request, "robot", others, question, details)
        async with self._cache.commit_request(table, request) as draft:
            sentence = await seat_robot(draft, seat, request.person_id)
            draft.result = completed(draft, request, sentences=(sentence,))
        return draft.result

    async def _robot_details(self, table: LiveTable, seat: int, by: int) -> dict[str, object] | None:
        """What a poll about a robot in a seat keeps; None where the others do not decide on the seat."""
        player = table.stored_info.player_at(seat)
        details: dict[str, object] = {"seat": seat, "former": player.person_id if player else None}
        if player is None or seat == by:
            return details
        async with self._cache.store.read() as unit:
            is_late = await self._replacements.voters(unit, table, seat) != [seat]
        return {**details, "late": True} if is_late and not player.is_robot else None
