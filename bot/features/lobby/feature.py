"""Commands about seats and the table: `ask`, `admit`, `refuse`, `replace`, `robot`, `rematch`, `palette`;
who sits at a table, and the tables of a person: `who`, `list`.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.features.lobby.lines import LobbyLines
from bot.features.lobby.messages import tell_expiry
from bot.features.lobby.replacement import Replacements, other_people
from bot.features.lobby.seats import SeatRequests
from bot.features.lobby.tables import Lobby, missing_players
from bot.hub.cache import TableCache
from bot.hub.changes import WARNING, check_allowed
from bot.hub.command import Command, Form, Lines, OpenCommand, PersonCommand, TableCommand
from bot.hub.info import SeatedPlayer, TableInfo, open_seats, status_text
from bot.hub.loading import load_info
from bot.hub.people import load_standing, new_person
from bot.hub.polls import PollHandler, completed
from bot.hub.queries import TableQueries
from bot.hub.request import (
    CommandResult,
    QueryAnswer,
    Request,
    in_seat,
    is_from_deputy,
    not_running,
    own_seat_sentence,
    refused,
)
from bot.hub.seating import ROBOT_WORD, seat_robot
from bot.hub.table import LiveTable
from engine.core.words import join_words, names_are
from storage import StoredTimer, UnitOfWork


class LobbyCommands:
    """Carries out lines about seats and the table, and answers who plays where."""

    def __init__(
        self,
        cache: TableCache,
        lobby: Lobby,
        seats: SeatRequests,
        polls: PollHandler,
        replacements: Replacements,
        lines: LobbyLines,
        queries: TableQueries,
    ) -> None:
        self._cache, self._lobby, self._seats, self._polls = cache, lobby, seats, polls
        self._replacements, self._lines, self._queries = replacements, lines, queries

    def commands(self) -> list[Command]:
        """The commands of the lobby."""
        who = Form("who", "the players, and who has not answered or gets no emails")
        palettes = Form(
            "palette [light|dark]", "dark pictures at this table; `palette light`", "palette dark"
        )
        ask = Form("ask [NAME]", "ask for an open seat, or to play on for a player", "ask X")
        admit = Form("admit [NAME]", "give the person who asks a seat", "admit X")
        refuse = Form("refuse [NAME]", "give the person who asks no seat", "refuse X")
        by_robot = Form("replace PLAYER by robot")
        other = Form(
            "replace PLAYER by NAME <ADDRESS>", "ask Y, at an address, to play on for X; or `by robot`",
            "replace X by Y <…>", pattern=r"replace (?P<player>.{1,40}?) by [^<>]{0,60}<[^<>\s]{3,254}>",
        )  # fmt: skip
        again = Form("rematch", "after the end: a new table with the same people")
        return [
            OpenCommand("who", (who,), self._who, needs_seat=False, from_outside=True),
            PersonCommand("list", (Form("list", "your tables"),), self._list, Lines.NONE),
            OpenCommand("palette", (palettes,), self._palette, needs_seat=False),
            OpenCommand("rematch", (again,), self._rematch),
            OpenCommand("ask", (ask,), self._ask, needs_seat=False, from_outside=True),
            OpenCommand("admit", (admit,), self._answer, needs_seat=False, from_outside=True),
            OpenCommand("refuse", (refuse,), self._answer, needs_seat=False, from_outside=True),
            OpenCommand("replace", (by_robot, other), self._replace, needs_seat=False, from_outside=True),
            TableCommand("robot", (Form("robot [PLAYER]"),), self._propose_robot),
        ]

    async def _palette(self, info: TableInfo, request: Request) -> str:
        """Choose the palette of a table, or say which it is."""
        if request.rest:
            info = await self._lobby.set_palette(info.id, request.rest, by=request.person_id)
        return f"The pictures of table {info.code} are {info.palette}."

    async def _rematch(self, info: TableInfo, request: Request) -> str:
        """Open a table for a player of a game that is over; of the operator, for the player of the seat."""
        player = info.player_of(request.person_id) or info.player_at(request.seat)
        if player is None:
            raise ValueError("A rematch is for those who have played.")
        created, limit = await self._lobby.rematch(info.id, by=player.person_id)
        told = f"Table {created.code} is open, as the last one was."
        if invited := [p.name for p in created.seated_players if not p.joined]:
            told += f" {names_are(invited)} invited."
        if limit:
            missing = missing_players(info, created)
            told += f" {names_are([player.name for player in missing])} not invited. {limit}"
        return told

    async def _ask(self, info: TableInfo, request: Request) -> str:
        """`ask`, `ask Bob`; of the operator `ask Dora for Bob`, for a new person."""
        if request.person_id is not None:
            return await self._seats.ask(info.id, request.person_id, request.name, seat_name=request.rest)
        name, _, seat_name = (part.strip() for part in request.rest.partition(" for "))
        if not name:
            raise ValueError("Name who asks: `ask Dora`, or `ask Dora for Bob`.")
        async with new_person(self._cache.store, name) as person_id:
            return await self._seats.ask(info.id, person_id, seat_name=seat_name, by_operator=True)

    async def _answer(self, info: TableInfo, request: Request) -> str:
        """`admit Dora`, `refuse Dora`."""
        admitted, by = request.word == "admit", request.person_id
        seated = next((p for p in info.seated_players if p.name.casefold() == request.rest.casefold()), None)
        if request.is_repeated and admitted and seated is not None:  # before a crash
            return f"{seated.name} has a seat at table {info.code}."
        return await self._seats.answer(info.id, request.rest, admitted=admitted, by=by)

    async def _replace(self, info: TableInfo, request: Request) -> CommandResult | str:
        """`replace Bob by Dora <dora@example.org>`, `replace Bob by robot`; of the operator `replace Bob by
        Dora`, for a new person."""
        former, _, new = (part.strip() for part in request.rest.partition(" by "))
        seat = next((s for s, name in enumerate(info.names) if name.casefold() == former.casefold()), None)
        if not former or not new:
            address = " <dora@example.org>" if request.person_id is not None else ""
            raise ValueError(f"Name both players: `replace Bob by Dora{address}`.")
        if info.status == "lobby":
            raise ValueError(f"Table {info.code} is {status_text(info.status)}; nobody plays there yet.")
        if seat is None:
            names = join_words(info.names)
            raise ValueError(f"There is no player {former} at table {info.code}; there are {names}.")
        if new.casefold() != ROBOT_WORD:
            return await self._lines.replace(info, seat, new, request)
        async with self._cache.locked(info.id) as table:
            line = request._replace(lines=(f"robot {former}",))
            seated = in_seat(info, line) if request.person_id else line._replace(seat=seat)
            return await self._propose_robot(table, seated) if isinstance(seated, Request) else seated

    async def expire(self, row: StoredTimer) -> bool:
        """Warn the people of a lobby that it will be closed; later, close it."""
        assert row.table_id is not None
        if row.details.get("warned"):
            await self._lobby.expire(row.table_id)
        async with self._cache.store.begin(table=row.table_id) as unit:
            info = await load_info(unit, row.table_id)
            end = unit.now + WARNING if info.status == "lobby" else None
            if await unit.clocks.take_due(row, end, warned=True) and end:
                await tell_expiry(unit, info)
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
            return refused(request, reason)
        seat = named[0]
        if seat == request.seat and is_from_deputy(table, request):
            return refused(request, own_seat_sentence(names[seat]))
        others = [each for each in other_people(info, seat) if each != request.seat]
        whom = "them" if seat == request.seat else names[seat]
        question = f"{names[request.seat]} would like a robot to play on for {whom}."
        if others and request.person_id is not None:
            return await self._polls.open_poll(table, request, f"robot:{seat}", others, question, details)
        async with self._cache.commit_request(table, request) as draft:
            sentence = await seat_robot(draft, seat, request.person_id, is_agreed=not others)
            draft.result = completed(draft, (sentence,))
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

    # -- who plays where ---------------------------------------------------------------------

    async def _who(self, info: TableInfo, request: Request) -> str:
        """The players of a table, for those who belong to it."""
        check_allowed(info, request.person_id, seated_players=True)
        async with self._cache.store.read() as unit:
            rows = [await _row_of_player(unit, info, player) for player in info.seated_players]
        if not info.is_over:
            rows += [f"{info.names[seat]} (open seat)" for seat in open_seats(info)]
        return "\n".join([f"Table {info.code} of {info.title} is {status_text(info.status)}.", *rows])

    async def _list(self, person_id: int, lines: Sequence[str]) -> QueryAnswer:
        """The tables of a person that are not over."""
        tables = await self._queries.list_tables(person_id=person_id, statuses=("lobby", "running", "paused"))
        rows = [await self._row_of_table(table) for table in tables]
        return QueryAnswer("list", "\n".join(rows) or "You have no table.")

    async def _row_of_table(self, table: TableInfo) -> str:
        names = join_words([player.name for player in table.seated_players])
        text = f"{table.code} {table.title_and_name}, {status_text(table.status)}: {names}."
        view = await self._queries.view(table.id)
        return f"{text} {view.waiting_sentence}".rstrip()


async def _row_of_player(unit: UnitOfWork, table: TableInfo, player: SeatedPlayer) -> str:
    standing = await load_standing(unit, player.person_id)
    notes = ["host"] if player.person_id == table.host_id else []
    if not player.joined:
        notes.append("has not answered yet")
    elif standing.fault:
        notes.append("emails do not arrive")
    elif standing.address and not standing.wants_mail:
        notes.append("gets no emails")
    return f"{player.name}{f' ({join_words(notes)})' if notes else ''}"
