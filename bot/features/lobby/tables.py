"""The lobby: tables are created, filled and started, or made of a game that was played elsewhere.

The host may do everything that does not belong to another person. Every seated player may invite, and leave.
The operator (`by=None`) may do everything. Every method raises ValueError with a sentence if it is not
possible, and NotFound for a table that does not exist. What happens at a table later is in `bot.hub.changes`.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import engine
from bot.features.lobby.messages import (
    ask_about_robot,
    is_full,
    joined_sentence,
    tell_full,
    tell_host,
    tell_no_robots,
)
from bot.hub.cache import TableCache
from bot.hub.changes import (
    actor_name,
    again_on_conflict,
    changing,
    check_allowed,
    check_in_lobby,
    expiry_key,
    leave_lobby,
    record_end,
    renew_expiry,
)
from bot.hub.info import SeatedPlayer, TableInfo, parse_palette, plain_table_name, table_name
from bot.hub.loading import load_info, load_recipient
from bot.hub.notifications import messages
from bot.hub.pace import parse_pace
from bot.hub.people import LimitReached, Limits
from bot.hub.seating import (
    add_robot,
    add_seat,
    agree_to_robots,
    check_name,
    check_no_robot_name,
    free_name,
    people_of,
    robot_name,
    robot_that_makes_room,
    robots_of,
    seat_agreed_robots,
    seating_order,
    unanswered,
    waiting_robots,
    waits_for_players,
)
from bot.hub.table import LiveTable
from bot.position.pending import seat_number
from engine.core.words import join_words
from engine.game_text.history import GameHistory
from renderers import PaletteName
from storage import LogRow, TableStatus


def start_row(transport: str, sentence: str, state: engine.State, by: int | None) -> LogRow:
    """The row that a game starts with; it holds the whole position."""
    return LogRow(
        transport=transport, kind="note", line="start", raw_line=sentence, person_id=by,
        events=engine.encode_state(state),
    )  # fmt: skip


HINTS = "hints"
"""Among the options of a new table: players may ask what a robot would do."""


def missing_players(info: TableInfo, rematch: TableInfo) -> list[SeatedPlayer]:
    """The people of a game who have no seat at its rematch, and no invitation."""
    people = [each for each in info.seated_players if not each.is_robot]
    return [each for each in people if not rematch.player_of(each.person_id)]


class Lobby:
    """Tables before their start, and what a table is shown with: its place and its palette."""

    def __init__(
        self, cache: TableCache, default_options: Sequence[str] = (), limits: Limits | None = None
    ) -> None:
        """default_options: for new tables, unless their hosts choose others."""
        self._cache, self._limits = cache, limits or Limits()
        self._default_options = tuple(default_options)

    async def create(
        self,
        title: str,
        host_id: int | None,
        *,
        name: str = "",
        options: Sequence[str] | None = None,
        location: dict[str, Any] | None = None,
        pace: str = "none",
        palette: PaletteName = "light",
        request_id: str | None = None,
    ) -> TableInfo:
        """Create a table in its lobby; for a request that was carried out before, the table of then.

        The host has no seat yet. `options` None: the default options; `hints` among them lets players ask
        what a robot would do.

        Raises ValueError for an unknown title or option, for a pace that is none, and for a name that is more
        than a name.
        """
        agreed = parse_pace(pace)
        name = table_name(name)
        options = self._default_options if options is None else tuple(options)
        hints, options = HINTS in options, tuple(o for o in options if o != HINTS)
        chosen = engine.title_of(title, options).options
        async with self._cache.store.begin() as unit:
            key = f"created:{request_id}"
            if request_id and (known := await unit.move_log.request_result(key)) is not None:
                return await load_info(unit, int(known))
            await self._limits.count(unit, host_id, "tables")
            table = await unit.tables.add(title, name or title, host_id, chosen)
            await unit.tables.update(
                table.id, location=location or {}, hints=hints, palette=palette, pace=str(agreed)
            )
            info = await load_info(unit, table.id)
            await renew_expiry(unit, info)
            if request_id:
                await unit.move_log.save_request_result(key, str(table.id).encode())
        self._cache.wake_subscribers()
        return info

    @again_on_conflict
    async def join(
        self, table_id: int, person_id: int, name: str, *, is_chosen: bool = True, is_admitted: bool = False
    ) -> TableInfo:
        """A person takes a seat under a name; a person who was invited takes the reserved seat.

        is_chosen: False for a name that gives way to that of their invitation, and gets a number where
        somebody there has it. is_admitted: whether they are told so in answer to their request; else nobody
        need answer it any more.
        """
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            reserved = info.player_of(person_id)
            if reserved and (reserved.joined or info.status != "lobby"):
                raise ValueError(f"You already sit at table {info.code} as {reserved.name}.")
            check_in_lobby(info)
            if not is_chosen:
                name = reserved.name if reserved else free_name(info, name)
            check_no_robot_name(name)
            leaving = None if reserved else robot_that_makes_room(info)
            check_name(info, name, reserved or leaving)
            async with changing(self._cache, table) as unit:
                if vacated := reserved or leaving:
                    await unit.tables.vacate_seat(vacated.seat_id)
                await add_seat(unit, info, person_id, name)
                info = await load_info(unit, table_id)
                await agree_to_robots(unit, info, person_id)
                for request in () if is_admitted else await unit.clocks.open_requests(table_id):
                    if request.person_id == person_id:
                        await unit.clocks.answer_request(request.id, True)
                if is_full(info, was_invited=reserved is not None):
                    await tell_full(unit, info)
                elif reserved:
                    await tell_host(unit, info, joined_sentence(info, name), by=person_id)
        return table.stored_info

    @asynccontextmanager
    async def _in_lobby(
        self, table_id: int, by: int | None, *, seated_players: bool = False
    ) -> AsyncIterator[LiveTable]:
        """A locked table that has not started, for its host, or for its players too."""
        async with self._cache.locked(table_id) as table:
            check_allowed(table.stored_info, by, seated_players=seated_players)
            check_in_lobby(table.stored_info)
            yield table

    async def check_can_join(self, table_id: int, name: str) -> None:
        """Raises ValueError for a table that has started or is full, and for a name that cannot be used."""
        info = await self._cache.info(table_id)
        check_in_lobby(info)
        check_no_robot_name(name)
        check_name(info, name, robot_that_makes_room(info))

    @again_on_conflict
    async def invite(
        self,
        table_id: int,
        person_id: int,
        name: str,
        *,
        by: int | None,
        players: Sequence[str] = (),
        is_chosen: bool = True,
    ) -> TableInfo:
        """Reserve a seat for a person and notify them; they take it with `join`. For the host and players.

        players: the names in the invitation, where more people are invited at once. is_chosen: see `join`. An
        invitation of the host for a name that nobody has answered for takes the place of the one before.
        """
        async with self._in_lobby(table_id, by, seated_players=True) as table:
            info = table.stored_info
            seated = info.player_of(person_id)
            if seated and not is_chosen:
                name = seated.name
            is_same = is_chosen or seated is not None
            former = unanswered(info, name) if is_same and by in (None, info.host_id) else None
            name = name if is_same else free_name(info, name)
            check_no_robot_name(name)
            if seated not in (None, former):
                raise ValueError(f"{name} already has a seat at table {info.code}.")
            check_name(info, name, former)
            async with changing(self._cache, table) as unit:
                await self._limits.count(unit, by, "invitations")
                if former:
                    await unit.tables.vacate_seat(former.seat_id)
                await add_seat(unit, info, person_id, name, invited=True)
                recipient = await load_recipient(unit, person_id, None, unverified=True)
                info = await load_info(unit, table_id)
                await unit.outbox.enqueue(*messages.invitations(info, recipient, players))
        return table.stored_info

    async def uninvite(self, table_id: int, name: str, *, by: int | None) -> TableInfo:
        """Take back an invitation that nobody has answered. For the host."""
        info = await self._cache.info(table_id)
        check_allowed(info, by)
        check_in_lobby(info)
        invited = unanswered(info, name)
        if invited is None:
            raise ValueError(f"Nobody called {name} is invited to table {info.code} and has not answered.")
        return await self.leave(table_id, invited.person_id, by=by)

    @again_on_conflict
    async def leave(self, table_id: int, person_id: int, *, by: int | None) -> TableInfo:
        """A person gives up a seat or an invitation before the start, or before an imported game goes on.
        For the person and the host, who hands the table over by leaving (`leave_lobby`)."""
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            check_allowed(info, by, own=person_id)
            player, in_lobby = info.player_of(person_id), info.status == "lobby"
            if player is None and not (in_lobby and info.host_id == person_id):
                who = "You have" if by == person_id else "That person has"
                raise ValueError(f"{who} no seat at table {info.code}.")
            if in_lobby:
                async with self._cache.commit(table) as draft:
                    await leave_lobby(draft, person_id)
                    if player and not player.joined and by == person_id:
                        declined = f"{player.name} has declined the seat at table {info.code}."
                        await tell_host(await draft.unit(), info, declined, by=by)
            elif player is not None and waits_for_players(table):
                async with changing(self._cache, table) as unit:
                    await unit.tables.vacate_seat(player.seat_id)
            else:
                raise ValueError(
                    f"Table {info.code} has started. Use `resign`, or let another person take the seat."
                )
        return table.stored_info

    # -- robots, which join once everybody there agrees, and leave when anybody does not --------

    @again_on_conflict
    async def invite_robot(self, table_id: int, *, by: int | None) -> TableInfo:
        """Keep a seat for a robot, which joins once all people at the table agree. For host and players.

        by: None is the operator, who speaks for everybody.
        """
        async with self._in_lobby(table_id, by, seated_players=True) as table:
            info = table.stored_info
            name = robot_name(p.name for p in info.seated_players)
            check_name(info, name, None)
            agreed = [] if by is None else [by]
            waits = by is not None and any(p.person_id != by for p in people_of(info))
            async with changing(self._cache, table) as unit:
                await add_seat(unit, info, await add_robot(unit, name, agreed), name, invited=waits)
                if waits:
                    await ask_about_robot(unit, info, name, by)
        return table.stored_info

    @again_on_conflict
    async def agree_to_robots(self, table_id: int, person_id: int) -> TableInfo:
        """A person at the table agrees to the robots that wait for it; those join to whom all agree."""
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            if info.player_of(person_id) is None:
                raise ValueError(f"You have no seat at table {info.code}.")
            if not waiting_robots(info):
                raise ValueError(f"No robot waits for an answer at table {info.code}.")
            async with changing(self._cache, table) as unit:
                await agree_to_robots(unit, info, person_id)
                await seat_agreed_robots(unit, info, [p.person_id for p in people_of(info)])
        return table.stored_info

    @again_on_conflict
    async def refuse_robots(self, table_id: int, *, by: int | None) -> TableInfo:
        """A person at the table does not agree, or no longer: the robots leave, and the others are told.

        by: None is the operator.
        """
        async with self._in_lobby(table_id, by, seated_players=True) as table:
            info = table.stored_info
            if not (robots := robots_of(info)):
                raise ValueError(f"No robot sits at table {info.code}.")
            async with changing(self._cache, table) as unit:
                for robot in robots:
                    await unit.tables.vacate_seat(robot.seat_id)
                await tell_no_robots(unit, info, actor_name(info, by), by)
        return table.stored_info

    # -- its end and its start ---------------------------------------------------------------

    async def keep_open(self, table_id: int, *, by: int | None) -> TableInfo:
        """Keep a lobby open that would expire. For the host and the players."""
        async with self._in_lobby(table_id, by, seated_players=True) as table, changing(self._cache, table):
            return table.stored_info

    @again_on_conflict
    async def expire(self, table_id: int) -> None:
        """Close a lobby in which nothing has happened for long; nothing happens if the game has started."""
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            if info.status != "lobby":
                return
            sentence = f"Table {info.name} {info.code} is closed, because its game was not started."
            async with self._cache.commit(table) as draft:
                await record_end(draft, sentence, None)

    @again_on_conflict
    async def start(
        self, table_id: int, *, by: int | None, order: Sequence[str] | None = None, seed: int | None = None
    ) -> TableInfo:
        """Start the game. For the host. Raises ValueError while an invited person has not joined.

        order: names in seating order; without it the seats are shuffled from a seed, which is recorded. The
        seed also decides what a title deals at random.
        """
        async with self._in_lobby(table_id, by) as table:
            info = table.stored_info
            if absent := [p.name for p in info.seated_players if not p.joined]:
                have = "have" if len(absent) > 1 else "has"
                raise ValueError(f"{join_words(absent)} {have} not joined yet.")
            if seed is None:
                seed = secrets.randbelow(2**31)
            seating = seating_order(info.seated_players, order, seed)
            names = [p.name for p in seating]
            state, events = engine.new_game(info.title, names, info.options, seed)
            async with self._cache.commit(table) as draft:
                unit = await draft.unit()
                await unit.tables.assign_seat_numbers(table_id, [p.seat_id for p in seating])
                await unit.tables.update(table_id, status="running", seed=None if order else seed)
                shuffled = "" if order else ", in random order"
                sentence = f"The game begins. Seating: {join_words(names)}{shuffled}."
                sentence = " ".join([sentence, *engine.narrate(state, events)])
                draft.add_row(start_row("service", sentence, state, by), state)
                await unit.clocks.delete_due(expiry_key(table_id))
                draft.announce("started", sentence)
        return table.info

    @again_on_conflict
    async def rematch(self, table_id: int, *, by: int) -> tuple[TableInfo, str]:
        """Open a table like one whose game is over, with its other players invited; the table, and why some
        are not invited, empty where all are. For its players. Its host may repeat it to invite those who are
        still missing. If the rematch is over too, or was closed, another is opened.

        Raises ValueError if the table is open already, and all are invited or somebody else is its host.
        """
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            player = info.player_of(by)
            if not info.is_over or player is None:
                raise ValueError(f"A rematch is for the players of a game that is over; {info.code} is not.")
            place = {key: value for key, value in info.location.items() if key in ("guild", "channel")}
            open_like = partial(
                self.create,
                info.title,
                by,
                name=info.name if info.name != info.title else "",
                options=[*info.options, HINTS] if info.hints else info.options,
                location=place or None,
                pace=str(info.pace),
                palette=info.palette,
            )
            created = await open_like(request_id=f"rematch.{table_id}")  # or the one that is open already
            while created.is_over:
                created = await open_like(request_id=f"rematch.{created.id}")
        missing = missing_players(info, created)
        if created.host_id != by or created.status != "lobby" or not missing:
            raise ValueError(f"The rematch is open already: table {created.code}. Join there.")
        if player in missing:
            missing.remove(player)
            created = await self.join(created.id, by, player.name)
        try:
            for other in missing:
                created = await self.invite(created.id, other.person_id, other.name, by=by)
        except LimitReached as error:  # the table is open all the same
            return created, str(error)
        return created, ""

    @again_on_conflict
    async def set_palette(self, table_id: int, name: str, *, by: int | None) -> TableInfo:
        """Choose the palette of a table's pictures. For the host and players, at any time."""
        palette = parse_palette(name)
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            check_allowed(info, by, seated_players=True)
            if palette == info.palette:
                raise ValueError(f"The pictures of table {info.code} are {palette} already.")
            if not table.begun:
                async with changing(self._cache, table) as unit:
                    await unit.tables.update(table_id, palette=palette)
                return table.stored_info
            async with self._cache.commit(table) as draft:
                await (await draft.unit()).tables.update(table_id, palette=palette)
                sentence = f"{actor_name(info, by)} chooses {palette} pictures for the table."
                draft.add_note("service", "palette", sentence, person_id=by)
        return table.info

    async def replace_location(self, table: LiveTable, location: dict[str, Any]) -> TableInfo:
        """Show a table that is held somewhere else, or without a place nowhere."""
        async with changing(self._cache, table, refresh_card=False) as unit:
            await unit.tables.update(table.stored_info.id, location=location)
        return table.info

    async def set_location(self, table_id: int, location: dict[str, Any]) -> TableInfo:
        """Add to where a transport shows the table (its guild, channel, thread)."""
        async with (
            self._cache.locked(table_id) as table,
            changing(self._cache, table, refresh_card=False) as unit,
        ):
            await unit.tables.update(table_id, location=table.stored_info.location | location)
        return table.info

    async def import_game(
        self,
        history: GameHistory,
        *,
        name: str,
        by: int | None = None,
        open_seats: bool = False,
        location: dict[str, Any] | None = None,
    ) -> TableInfo:
        """Make a table of a game that was played elsewhere, and go on with it.

        Its start is the position at the first question (`engine.new_game`). Every player becomes a new
        person, whom others can replace; with `open_seats` the seats are empty, and the game waits until they
        are claimed.
        """
        start = history.start
        state = engine.copy_state(start)
        sentence = f"The game was imported. Seating: {join_words(state.players)}."
        rows = [start_row("import", sentence, start, None)]
        for move in history.lines:
            engine.fold(move.events, state)
            number, line, raw = seat_number(move.seat), move.line, engine.encode_events(move.events)
            rows.append(LogRow(transport="import", seat=number, raw_line=line, line=line, events=raw))
        async with self._cache.store.begin() as unit:
            await self._limits.count(unit, by, "tables")
            table = await unit.tables.add(start.title, plain_table_name(name), by, start.options)
            for seat, player in enumerate(() if open_seats else start.players):
                person = await unit.people.add(player)
                await unit.tables.add_seat(table.id, person.id, player, seat)
            status: TableStatus = "paused" if open_seats else "running"
            status = "finished" if state.game_over else status
            await unit.tables.update(table.id, status=status, location=location or {})
            await unit.move_log.append(table.id, 0, rows, engine.encode_state(state))
            info = await load_info(unit, table.id)
            await unit.outbox.enqueue(*messages.lobby_refreshes(info))
        self._cache.wake_subscribers()
        return info
