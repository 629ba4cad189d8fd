"""The lobby and the seats: tables are created, filled, started, paused and ended; players are replaced.

Permissions: the host may do everything that does not belong to another person. Every seated player may
invite, pause and resume, leave, and hand their own seat to another person. A robot's seat is open to
everyone; an empty one is asked for (`seat_requests`). The operator (`by=None`) may do everything. Every
method raises ValueError with a sentence if it is not possible, and NotFound for a table that does not exist.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import wraps
from typing import Any, Literal, TypeVar, cast

import engine
from bot.service import clock_messages, lobby_notices, notifications, text_views
from bot.service.commit_draft import CommitDraft
from bot.service.limits import Limits
from bot.service.live_table import LiveTable
from bot.service.loading import load_metadata, load_recipient, load_table_info
from bot.service.names import check_distinct, plain_table_name, table_name
from bot.service.pace import Pace, parse_pace
from bot.service.palettes import parse_palette
from bot.service.replacement import record_replacement
from bot.service.results import Completed
from bot.service.robot_seats import (
    add_robot,
    agree_to_robot,
    check_no_robot_name,
    people_of,
    robot_name,
    robots_of,
)
from bot.service.table_cache import MAX_ATTEMPTS, TableCache
from bot.service.tables import SeatedPlayer, TableInfo, status_text
from engine.kernel import check_names
from storage import AlreadyExists, Deadlock, NewLogRow, TableStatus, UnitOfWork, WriteConflict

PAUSED = "The game is paused until a player resumes it."
HOW_TO_RESUME = "Write `resume` when you are back; on Discord it is `/table resume`."
HINTS = "hints"
"""Among the options of a new table: players may ask what a robot would do."""


def check_allowed(
    info: TableInfo, by: int | None, *, seated_players: bool = False, own: int | None = None
) -> None:
    """Raises ValueError unless `by` is the operator, the host or the person `own`, or, if `seated_players`
    is true, anyone seated at the table."""
    if by is None or by == info.host_id or (own is not None and by == own):
        return
    if seated_players and info.player_of(by):
        return
    who = "its host or a player" if seated_players else "its host"
    own_right = "the person concerned or " if own is not None else ""
    raise ValueError(f"Only {own_right}{who} may do that at table {info.code}.")


def check_in_lobby(info: TableInfo) -> None:
    """Raises ValueError if the game has started."""
    if info.status != "lobby":
        raise ValueError(f"Table {info.code} has already started.")


Method = TypeVar("Method", bound=Callable[..., Coroutine[Any, Any, Any]])


def again_on_conflict(method: Method) -> Method:
    """Carry a method out again where another process changed the table at the same moment."""

    @wraps(method)
    async def attempts(*arguments: Any, **options: Any) -> Any:
        for _ in range(MAX_ATTEMPTS - 1):
            with suppress(WriteConflict, Deadlock):
                return await method(*arguments, **options)
        return await method(*arguments, **options)

    return cast(Method, attempts)


class Lobby:
    """Everything about tables and seats that is not a move."""

    def __init__(
        self, cache: TableCache, default_options: Sequence[str] = (), limits: Limits | None = None
    ) -> None:
        """default_options: for new tables, unless their hosts choose others."""
        self._cache = cache
        self._limits = limits or Limits()
        self._default_options = tuple(default_options)

    # -- before the start --------------------------------------------------------------------

    async def create(
        self,
        title: str,
        host_id: int | None,
        *,
        name: str = "",
        options: Sequence[str] | None = None,
        location: dict[str, Any] | None = None,
        pace: str = "none",
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
                return await _load_info(unit, int(known))
            await self._limits.count(unit, host_id, "tables")
            table = await unit.tables.add(title, name or title, host_id, chosen)
            if location:
                await unit.tables.update(table.id, location=location)
            if hints:
                await unit.tables.update(table.id, hints=True)
            if agreed.kind != "none" or agreed.holdoff is not None:
                await unit.tables.update(table.id, pace=str(agreed))
            info = await _load_info(unit, table.id)
            await lobby_notices.renew_expiry(unit, info)
            if request_id:
                await unit.move_log.save_request_result(key, str(table.id).encode())
        self._cache.wake_subscribers()
        return info

    @again_on_conflict
    async def join(self, table_id: int, person_id: int, name: str) -> TableInfo:
        """A person takes a seat under a name; a person who was invited takes the reserved seat."""
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            reserved = info.player_of(person_id)
            if reserved and (reserved.joined or info.status != "lobby"):
                raise ValueError(f"You already sit at table {info.code} as {reserved.name}.")
            check_in_lobby(info)
            check_no_robot_name(name)
            leaving = None if reserved else _robot_that_makes_room(info)
            _check_name(info, name, reserved or leaving)
            async with self._changing_seats(table) as unit:
                if vacated := reserved or leaving:
                    await unit.tables.vacate_seat(vacated.seat_id)
                await _add_seat(unit, info, person_id, name)
                info = await _load_info(unit, table_id)
                if lobby_notices.is_full(info, was_invited=reserved is not None):
                    await lobby_notices.tell_full(unit, info)
        return table.stored_info

    async def check_can_join(self, table_id: int, name: str) -> None:
        """Raises ValueError for a table that has started or is full, and for a name that cannot be used."""
        info = (await self._cache.get(table_id)).info
        check_in_lobby(info)
        check_no_robot_name(name)
        _check_name(info, name, _robot_that_makes_room(info))

    @again_on_conflict
    async def invite(
        self, table_id: int, person_id: int, name: str, *, by: int | None, players: Sequence[str] = ()
    ) -> TableInfo:
        """Reserve a seat for a person and notify them; they take it with `join`. For the host and players.

        players: the names in the invitation, where more people are invited at once. An invitation of the host
        for a name that nobody has answered for takes the place of the one before.
        """
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            check_allowed(info, by, seated_players=True)
            check_in_lobby(info)
            check_no_robot_name(name)
            former = _unanswered(info, name) if by in (None, info.host_id) else None
            if info.player_of(person_id) not in (None, former):
                raise ValueError(f"{name} already has a seat at table {info.code}.")
            _check_name(info, name, former)
            async with self._changing_seats(table) as unit:
                await self._limits.count(unit, by, "invitations")
                if former:
                    await unit.tables.vacate_seat(former.seat_id)
                await _add_seat(unit, info, person_id, name, invited=True)
                recipient = await load_recipient(unit, person_id, None, unverified=True)
                info = await _load_info(unit, table_id)
                await unit.outbox.enqueue(*notifications.invitations(info, recipient, players, unit.now))
        return table.stored_info

    async def uninvite(self, table_id: int, name: str, *, by: int | None) -> TableInfo:
        """Take back an invitation that nobody has answered. For the host."""
        info = (await self._cache.get(table_id)).info
        check_allowed(info, by)
        check_in_lobby(info)
        invited = _unanswered(info, name)
        if invited is None:
            raise ValueError(f"Nobody called {name} is invited to table {info.code} and has not answered.")
        return await self.leave(table_id, invited.person_id, by=by)

    @again_on_conflict
    async def leave(self, table_id: int, person_id: int, *, by: int | None) -> TableInfo:
        """A person gives up a seat or an invitation before the start. For the person and the host."""
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            check_allowed(info, by, own=person_id)
            player = info.player_of(person_id)
            if player is None:
                raise ValueError(f"That person has no seat at table {info.code}.")
            if info.status != "lobby":
                raise ValueError(
                    f"Table {info.code} has started. Use `resign`, or let another person take the seat."
                )
            async with self._changing_seats(table) as unit:
                await unit.tables.vacate_seat(player.seat_id)
        return table.stored_info

    async def keep_open(self, table_id: int, *, by: int | None) -> TableInfo:
        """Keep a lobby open that would expire. For the host and the players."""
        async with self._cache.locked(table_id) as table:
            check_allowed(table.stored_info, by, seated_players=True)
            check_in_lobby(table.stored_info)
            async with self._changing_seats(table):
                pass
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
                unit = await draft.unit()
                await record_end(draft, sentence, None)
                await lobby_notices.tell_closed(unit, info, sentence)
                await unit.clocks.delete_due(f"lobby.{table_id}")

    @again_on_conflict
    async def rematch(self, table_id: int, *, by: int) -> TableInfo:
        """Open a table like one whose game is over, with its other players invited. For its players.

        Raises ValueError if somebody has done so already.
        """
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            player = info.player_of(by)
            if info.status not in ("finished", "ended") or player is None:
                raise ValueError(f"A rematch is for the players of a game that is over; {info.code} is not.")
            key = f"rematch.{table_id}"
            async with self._cache.store.read() as unit:
                opened = await unit.settings.get(key)
            if opened:
                raise ValueError(f"The rematch is open already: table {opened}. Join there.")
            place = {key: value for key, value in info.location.items() if key in ("guild", "channel")}
            name = info.name if info.name != info.title else ""
            created = await self.create(
                info.title, by, name=name, options=info.options, location=place or None, pace=str(info.pace)
            )
            async with self._cache.store.begin() as unit:
                await unit.settings.set(key, created.code)
        created = await self.join(created.id, by, player.name)
        for other in info.seated_players:
            if other.person_id != by and not other.is_robot:
                created = await self.invite(created.id, other.person_id, other.name, by=by)
        return created

    @again_on_conflict
    async def set_pace(self, table_id: int, line: str, *, by: int | None) -> TableInfo:
        """Set the pace of a table before its start. For the host; later it takes a vote (`pace …`)."""
        pace = parse_pace(line)
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            check_allowed(info, by)
            if info.status != "lobby":
                raise ValueError(f"Table {info.code} has started; `pace {pace}` asks the players for a vote.")
            async with self._changing_seats(table) as unit:
                await unit.tables.update(table_id, pace=str(pace))
        return table.stored_info

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
                async with self._changing_seats(table) as unit:
                    await unit.tables.update(table_id, palette=palette)
                return table.stored_info
            async with self._cache.commit(table) as draft:
                await (await draft.unit()).tables.update(table_id, palette=palette)
                sentence = f"{_actor_name(info, by)} chooses {palette} pictures for the table."
                draft.add_note("service", "palette", sentence, person_id=by)
        return table.info

    @again_on_conflict
    async def invite_robot(self, table_id: int, *, by: int | None) -> TableInfo:
        """Keep a seat for a robot, which joins once all people at the table agree. For host and players.

        by: None is the operator, who speaks for everybody.
        """
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            check_allowed(info, by, seated_players=True)
            check_in_lobby(info)
            name = robot_name(p.name for p in info.seated_players)
            _check_name(info, name, None)
            agreed = [] if by is None else [by]
            waits = by is not None and any(p.person_id != by for p in people_of(info))
            async with self._changing_seats(table) as unit:
                robot_id = await add_robot(unit, name, agreed)
                await _add_seat(unit, info, robot_id, name, invited=waits)
                if waits:
                    await lobby_notices.ask_about_robot(unit, info, name, by)
        return table.stored_info

    @again_on_conflict
    async def agree_to_robots(self, table_id: int, person_id: int) -> TableInfo:
        """A person at the table agrees to the robots that wait for it; those join to whom all agree."""
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            if info.player_of(person_id) is None:
                raise ValueError(f"You have no seat at table {info.code}.")
            waiting = [robot for robot in robots_of(info) if not robot.joined]
            if not waiting:
                raise ValueError(f"No robot waits for an answer at table {info.code}.")
            people = {p.person_id for p in people_of(info)}
            async with self._changing_seats(table) as unit:
                for robot in waiting:
                    if people <= await agree_to_robot(unit, robot.person_id, person_id):
                        await unit.tables.vacate_seat(robot.seat_id)
                        await _add_seat(unit, info, robot.person_id, robot.name)
        return table.stored_info

    @again_on_conflict
    async def refuse_robots(self, table_id: int, *, by: int | None) -> TableInfo:
        """A person at the table does not agree, or no longer: its robots leave the lobby, the host is told.

        by: None is the operator.
        """
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            check_allowed(info, by, seated_players=True)
            check_in_lobby(info)
            robots = robots_of(info)
            if not robots:
                raise ValueError(f"No robot sits at table {info.code}.")
            async with self._changing_seats(table) as unit:
                for robot in robots:
                    await unit.tables.vacate_seat(robot.seat_id)
                if by != info.host_id:
                    await lobby_notices.tell_no_robots(unit, info, _actor_name(info, by))
        return table.stored_info

    @again_on_conflict
    async def start(
        self, table_id: int, *, by: int | None, order: Sequence[str] | None = None, seed: int | None = None
    ) -> TableInfo:
        """Start the game. For the host. Raises ValueError while an invited person has not joined.

        order: names in seating order; without it the seats are shuffled from a seed, which is recorded. The
        seed also decides what a title deals at random.
        """
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            check_allowed(info, by)
            check_in_lobby(info)
            if absent := [p.name for p in info.seated_players if not p.joined]:
                have = "have" if len(absent) > 1 else "has"
                raise ValueError(f"{text_views.join_words(absent)} {have} not joined yet.")
            if seed is None:
                seed = secrets.randbelow(2**31)
            seating = seating_order(info.seated_players, order, seed)
            names = [p.name for p in seating]
            state, events = engine.new_game(info.title, names, info.options, seed)
            async with self._cache.commit(table) as draft:
                unit = await draft.unit()
                await unit.tables.assign_seat_numbers(table_id, [p.seat_id for p in seating])
                await unit.tables.update(table_id, status="running", seed=None if order else seed)
                shuffled = "" if order else f", shuffled from the seed {seed}"
                sentence = f"The game begins. Seating: {text_views.join_words(names)}{shuffled}."
                sentence = " ".join([sentence, *engine.narrate(state, events)])
                draft.add_row(_start_row("service", sentence, state, by), state)
                draft.announce("started", sentence)
        return table.info

    async def import_game(
        self,
        start: engine.State,
        moves: Iterable[tuple[int, str, Sequence[engine.AnyEvent]]],
        *,
        name: str,
        by: int | None = None,
        open_seats: bool = False,
        location: dict[str, Any] | None = None,
    ) -> TableInfo:
        """Make a table of a game that was played elsewhere, and go on with it.

        start: the position at the first question (`engine.new_game`). moves: seat, line and events of each,
        in order. Every player becomes a new person, whom others can replace; with `open_seats` the seats are
        empty, and the game waits until they are claimed.
        """
        state = engine.copy_state(start)
        sentence = f"The game was imported. Seating: {text_views.join_words(state.players)}."
        rows = [_start_row("import", sentence, start, None)]
        for seat, line, events in moves:
            engine.fold(events, state)
            raw = engine.encode_events(events)
            rows.append(NewLogRow(transport="import", seat=seat, raw_line=line, line=line, events=raw))
        async with self._cache.store.begin() as unit:
            await self._limits.count(unit, by, "tables")
            table = await unit.tables.add(start.title, plain_table_name(name), by, start.options)
            for seat, player in enumerate(() if open_seats else start.players):
                person = await unit.people.add(player)
                await unit.tables.add_seat(table.id, person.id, player, seat)
            status: TableStatus = "paused" if open_seats else "running"
            await unit.tables.update(table.id, status="finished" if state.game_over else status)
            if location:
                await unit.tables.update(table.id, location=location)
            await unit.move_log.append(table.id, 0, rows, engine.encode_state(state))
            info = await _load_info(unit, table.id)
            await unit.outbox.enqueue(*notifications.lobby_refreshes(info, unit.now))
        self._cache.wake_subscribers()
        return info

    @asynccontextmanager
    async def _changing_seats(
        self, table: LiveTable, *, refresh_card: bool = True
    ) -> AsyncIterator[UnitOfWork]:
        """A transaction without a log row. The lobby's card on Discord is refreshed unless told otherwise."""
        async with self._cache.store.begin(table=table.stored_info.id) as unit:
            await unit.tables.check_version(table.stored_info.id, table.seq, table.metadata.revision)
            yield unit
            metadata = await load_metadata(unit, table.stored_info.id)
            await lobby_notices.renew_expiry(unit, metadata.info)
            if refresh_card:
                await unit.outbox.enqueue(*notifications.lobby_refreshes(metadata.info, unit.now))
        table.metadata = metadata
        self._cache.wake_subscribers()

    # -- during the game ---------------------------------------------------------------------

    @again_on_conflict
    async def replace_player(
        self, table_id: int, seat: int, person_id: int, name: str, *, by: int | None
    ) -> TableInfo:
        """Another person plays on in a seat, under their own name.

        For the player in that seat and the host; anyone may take the seat of a robot.
        """
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            if not table.begun:
                raise ValueError(f"Table {info.code} has not started; leave and join instead.")
            if info.status == "ended" or not 0 <= seat < len(table.state.players):
                raise ValueError(f"There is no such seat in play at table {info.code}.")
            former_player = info.player_at(seat)
            is_open = former_player is None or former_player.is_robot
            if former_player is None and by == person_id != info.host_id:
                raise ValueError(f"That seat is asked for: `ask` tells the host of table {info.code}.")
            owner = former_player.person_id if former_player and not is_open else person_id
            check_allowed(info, by, own=owner)
            check_no_robot_name(name)
            if any(p.person_id == person_id and p.seat != seat for p in info.seated_players):
                raise ValueError(f"{name} already sits at table {info.code}.")
            check_distinct(name, [p.name for p in info.seated_players if p.seat != seat])
            async with self._cache.commit(table, answered_person=by) as draft:
                draft.announce("news", await record_replacement(draft, seat, person_id, name, by=by))
        return table.info

    async def pause(self, table_id: int, *, by: int | None, request_id: str | None = None) -> TableInfo:
        """Pause the game. For the players and the host."""
        return await self._set_status(table_id, by, "pause", request_id)

    async def resume(self, table_id: int, *, by: int | None, request_id: str | None = None) -> TableInfo:
        """Resume the game if no seat is empty. For the players and the host."""
        return await self._set_status(table_id, by, "resume", request_id)

    @again_on_conflict
    async def _set_status(
        self, table_id: int, by: int | None, command: Literal["pause", "resume"], request_id: str | None
    ) -> TableInfo:
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            check_allowed(info, by, seated_players=True)
            if info.status != ("running" if command == "pause" else "paused"):
                raise ValueError(f"Table {info.code} is {status_text(info.status)}.")
            taken = {p.seat for p in info.seated_players}
            empty = [name for seat, name in enumerate(table.state.players) if seat not in taken]
            if command == "resume" and empty:
                raise ValueError(
                    f"The seat of {text_views.join_words(empty)} is empty; somebody has to take it first."
                )
            async with self._cache.commit(table, request_id, answered_person=by) as draft:
                unit = await draft.unit()
                await unit.tables.update(table_id, status="paused" if command == "pause" else "running")
                sentence = f"{_actor_name(info, by)} {command}s the game."
                draft.add_note("service", command, sentence, person_id=by)
                draft.announce("news", sentence)
                draft.result = Completed((), (sentence,)) if request_id else None
        return table.info

    @again_on_conflict
    async def pause_for_time(self, table_id: int, seat: int) -> None:
        """Pause the game because a player's time is up; nothing happens if it is not being played.

        They are told themselves, even if a digest has their news: the game goes on when they are back.
        """
        async with self._cache.locked(table_id) as table:
            if table.stored_info.status != "running":
                return
            recipient = table.metadata.recipients.get(seat)
            async with self._cache.commit(
                table, answered_person=recipient.person_id if recipient else None
            ) as draft:
                await (await draft.unit()).tables.update(table_id, status="paused")
                sentence = f"{table.state.players[seat]}'s time is up. {PAUSED}"
                draft.add_note("clock", "pause", sentence)
                draft.announce("news", sentence)
                if recipient:
                    draft.messages += clock_messages.time_up_messages(
                        table.stored_info, recipient, f"Your time is up. {PAUSED} {HOW_TO_RESUME}",
                        f"{table_id}.{draft.seq}.time_up", draft.timestamp,
                    )  # fmt: skip

    @again_on_conflict
    async def end_now(self, table_id: int, *, by: int | None) -> TableInfo:
        """End the game unfinished, or close the lobby. For the host."""
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            check_allowed(info, by)
            if info.status in ("ended", "finished"):
                raise ValueError(f"Table {info.code} is {status_text(info.status)}.")
            async with self._cache.commit(table) as draft:
                await record_end(draft, f"{_actor_name(info, by)} ends the game.", by)
        return table.info

    @again_on_conflict
    async def announce(
        self,
        table_id: int,
        sentence: str,
        word: str,
        request_id: str | None = None,
        *,
        by: int | None = None,
    ) -> None:
        """Tell everyone at a table something that is no move; `word` says in the log what it is about.

        A request that was carried out before says nothing again. by: who says it, and knows it.
        """
        async with self._cache.locked(table_id) as table:
            if await self._cache.stored_result(request_id) is not None:
                return
            async with self._cache.commit(table, request_id, answered_person=by) as draft:
                draft.add_note("service", word, sentence)
                draft.announce("news", sentence)
                draft.result = Completed((), (sentence,)) if request_id else None

    @again_on_conflict
    async def set_location(self, table_id: int, location: dict[str, Any]) -> TableInfo:
        """Add to where a transport shows the table (its guild, channel, thread)."""
        async with (
            self._cache.locked(table_id) as table,
            self._changing_seats(table, refresh_card=False) as unit,
        ):
            await unit.tables.update(table_id, location=table.stored_info.location | location)
        return table.info


async def record_end(draft: CommitDraft, sentence: str, by: int | None) -> None:
    """Put into a draft that the game is ended unfinished: status, closed polls, log and announcement."""
    unit, table = await draft.unit(), draft.table
    await unit.tables.update(table.stored_info.id, status="ended")
    for open_poll in table.polls:
        await unit.polls.close(open_poll.poll.id, "superseded")
    standings = f" Standings: {text_views.standings_sentence(table.state)}" if table.begun else ""
    draft.add_note("service", "end", sentence + standings, person_id=by)
    figures = [draft.figures(table.state)] if table.begun else []
    draft.announce("over", sentence + standings, *figures)


async def record_pace(draft: CommitDraft, pace: Pace, sentence: str, by: int | None, transport: str) -> None:
    """Put a new pace of the table into a draft: the clocks that run start anew."""
    unit, table_id = await draft.unit(), draft.table.stored_info.id
    await unit.tables.update(table_id, pace=str(pace))
    await unit.clocks.look_again(table_id)
    draft.add_note(transport, "pace", sentence, person_id=by)
    draft.announce("news", sentence)


def seating_order(
    players: Sequence[SeatedPlayer], order: Sequence[str] | None, seed: int | None
) -> list[SeatedPlayer]:
    """The players in seating order: by names, or shuffled from the seed.

    Raises ValueError if the names are not exactly those of the players.
    """
    if order is None:
        shuffled = sorted(players, key=lambda p: p.seat_id)
        random.Random(seed).shuffle(shuffled)
        return shuffled
    by_name = {p.name.casefold(): p for p in players}
    names = [name.strip().casefold() for name in order]
    if sorted(names) != sorted(by_name):
        raise ValueError(
            f"The seating has to name every player once: {text_views.join_words([p.name for p in players])}."
        )
    return [by_name[name] for name in names]


def _start_row(transport: str, sentence: str, state: engine.State, by: int | None) -> NewLogRow:
    """The row that a game starts with; it holds the whole position."""
    return NewLogRow(
        transport=transport, kind="note", line="start", raw_line=sentence, person_id=by,
        events=engine.encode_state(state),
    )  # fmt: skip


def _robot_that_makes_room(info: TableInfo) -> SeatedPlayer | None:
    """The robot that leaves for a person at a full table."""
    seats = engine.title_of(info.title, info.options).components.players["max"]
    robots = robots_of(info)
    return robots[-1] if robots and len(info.seated_players) >= seats else None


def _check_name(info: TableInfo, name: str, reserved: SeatedPlayer | None) -> None:
    """Raises ValueError for a name that cannot be used, or if the table is full."""
    title = engine.title_of(info.title, info.options)
    others = [p.name for p in info.seated_players if p is not reserved]
    check_names(title, [*others, name])
    check_distinct(name, others)
    if len(others) >= title.components.players["max"]:
        raise ValueError(f"Table {info.code} is full: {info.title} has at most {len(others)} seats.")


def _unanswered(info: TableInfo, name: str) -> SeatedPlayer | None:
    """The invited person of that name who has not answered."""
    return next(
        (
            player
            for player in info.seated_players
            if player.name.casefold() == name.strip().casefold() and not (player.joined or player.is_robot)
        ),
        None,
    )


async def _add_seat(
    unit: UnitOfWork, info: TableInfo, person_id: int, name: str, *, invited: bool = False
) -> None:
    try:
        await unit.tables.add_seat(info.id, person_id, name, invited=invited)
    except AlreadyExists as error:
        raise ValueError(f"{name} is already at table {info.code}; choose another name.") from error


async def _load_info(unit: UnitOfWork, table_id: int) -> TableInfo:
    return await load_table_info(unit, await unit.tables.get(table_id))


def _actor_name(info: TableInfo, by: int | None) -> str:
    """The person's name at the table; `The host` for a host without a seat, and for the operator."""
    player = info.player_of(by)
    return player.name if player else "The host"
