"""What changes a table and is no move: who may do it, its transaction, a second try after a conflict, and
tables in play.

Tables in play are paused and resumed, players replaced, games ended unfinished. The host may do everything
that does not belong to another person. Every seated player may pause and resume. A robot's seat is open to
everyone; every other seat is asked for (`features/lobby/seats.py`). The operator (`by=None`) may do
everything. What is not possible raises ValueError with a sentence, and NotFound for a table that does not
exist.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from functools import wraps
from typing import Any, Literal, TypeVar, cast

import engine
from bot.hub.cache import MAX_ATTEMPTS, TableCache
from bot.hub.commit import CommitDraft
from bot.hub.info import TableInfo, status_text
from bot.hub.notifications import messages
from bot.hub.pace import Pace
from bot.hub.request import Completed
from bot.hub.seating import (
    check_no_robot_name,
    check_seat_name,
    goes_on,
    hand_over,
    host_and_players,
    next_host,
    people_of,
    record_replacement,
    seat_agreed_robots,
    tell_people,
    waits_for_players,
)
from bot.hub.table import LiveTable
from bot.position import text_views
from bot.position.sentences import cut_text
from engine.core.words import join_words
from storage import Deadlock, LogRow, UnitOfWork, WriteConflict

MAX_TALK = 1_000  # characters


def check_allowed(
    info: TableInfo, by: int | None, *, seated_players: bool = False, own: int | None = None
) -> None:
    """Raises ValueError unless `by` is the operator, the host or the person `own`, or, if `seated_players`
    is true, anyone seated at the table."""
    if by is None or by == info.host_id or (own is not None and by == own):
        return
    if seated_players and info.player_of(by):
        return
    host = info.player_of(info.host_id)
    named = f"{host.name}, its host," if host else "its host"
    who = f"{named} or a player" if seated_players else named
    own_right = "the person concerned or " if own is not None else ""
    raise ValueError(f"Only {own_right}{who} may do that at table {info.code}.")


def check_in_lobby(info: TableInfo) -> None:
    """Raises ValueError if the game has started, or the table is closed."""
    if info.status != "lobby":
        what = f"is {status_text(info.status)}" if info.is_over else "has already started"
        raise ValueError(f"Table {info.code} {what}.")


def actor_name(info: TableInfo, by: int | None) -> str:
    """The person's name at the table; a deputy's is that of the player; `The host` for a host without a seat,
    and for the operator."""
    if player := info.player_of(by):
        return player.name
    played_for = [player.name for seat in info.seats_of(by) if (player := info.player_at(seat))]
    return f"The deputy of {join_words(played_for)}" if played_for else "The host"


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


@asynccontextmanager
async def changing(
    cache: TableCache, table: LiveTable, *, refresh_card: bool = True
) -> AsyncIterator[UnitOfWork]:
    """A transaction at a held table without a log row. The lobby's card on Discord is refreshed unless told
    otherwise."""
    info = table.stored_info
    async with cache.commit(table) as draft:
        unit = await draft.unit()
        yield unit
        await renew_expiry(unit, info)
        draft.messages += messages.lobby_refreshes(info) if refresh_card else []


LOBBY_LIFETIME = timedelta(days=14)  # after the last person has come or gone


WARNING = timedelta(days=3)  # before the end


def expiry_key(table_id: int) -> str:
    """Of the timer that closes a lobby."""
    return f"lobby.{table_id}"


async def renew_expiry(unit: UnitOfWork, info: TableInfo) -> None:
    """Somebody has come, gone or changed something: the lobby stays open for its whole lifetime again."""
    if info.status == "lobby":
        at = unit.now + LOBBY_LIFETIME - WARNING
        await unit.clocks.set_due(expiry_key(info.id), "lobby", at, table_id=info.id)


STANDINGS = " Standings: "
"""Between who has ended a game and how its players stood, in the log."""


class RunningTables:
    """Everything about tables in play that is not a move."""

    def __init__(self, cache: TableCache) -> None:
        self._cache = cache

    @again_on_conflict
    async def replace_player(
        self, table_id: int, seat: int, person_id: int, name: str, *, by: int | None
    ) -> TableInfo:
        """Another person plays on in a seat, under their own name.

        The host fills an empty seat, and anyone takes the seat of a robot. The operator replaces people too.
        With the last empty seat the game goes on.
        """
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            if not table.begun:
                raise ValueError(f"Table {info.code} has not started; leave and join instead.")
            if info.status == "ended" or not 0 <= seat < len(table.state.players):
                raise ValueError(f"There is no such seat in play at table {info.code}.")
            former_player = info.player_at(seat)
            if former_player is None:
                if by == person_id != info.host_id:
                    raise ValueError(f"That seat is asked for: `ask` tells the host of table {info.code}.")
                check_allowed(info, by)
            elif not former_player.is_robot and by is not None:
                raise ValueError(
                    f"{former_player.name} sits there; a person who would play on for them asks for the seat."
                )
            check_no_robot_name(name)
            if any(p.person_id == person_id and p.seat != seat for p in info.seated_players):
                raise ValueError(f"{name} already sits at table {info.code}.")
            check_seat_name(table.info, name, seat)
            async with self._cache.commit(table, answered_person=by) as draft:
                sentence = await record_replacement(draft, seat, person_id, name, by=by)
                if former_player is None:
                    sentence += await goes_on(draft, seat)
                draft.announce("news", sentence)
        return table.info

    async def pause(self, table_id: int, *, by: int | None, request_id: str | None = None) -> Completed:
        """Pause the game. For the players and the host."""
        return await self._set_status(table_id, by, "pause", request_id)

    async def resume(self, table_id: int, *, by: int | None, request_id: str | None = None) -> Completed:
        """Resume the game if no seat is empty. For the players and the host. The result has what orders have
        said then."""
        return await self._set_status(table_id, by, "resume", request_id)

    @again_on_conflict
    async def _set_status(
        self, table_id: int, by: int | None, command: Literal["pause", "resume"], request_id: str | None
    ) -> Completed:
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            if not info.seats_of(by):
                check_allowed(info, by, seated_players=True)
            if info.status != ("running" if command == "pause" else "paused"):
                raise ValueError(info.status_sentence)
            taken = {p.seat for p in info.seated_players}
            empty = [name for seat, name in enumerate(table.state.players) if seat not in taken]
            if command == "resume" and empty:
                seats, it = ("seat of {} is", "it") if len(empty) == 1 else ("seats of {} are", "them")
                who = join_words(empty)
                raise ValueError(f"The {seats.format(who)} empty; somebody has to take {it} first.")
            async with self._cache.commit(table, request_id, answered_person=by) as draft:
                unit = await draft.unit()
                await unit.tables.update(table_id, status="paused" if command == "pause" else "running")
                sentence = f"{actor_name(info, by)} {command}s the game."
                draft.add_note("service", command, sentence, person_id=by)
                draft.announce("news", sentence)
                done = f"Table {info.code} is {command}d."
                draft.make_result = lambda: Completed((), (done, *draft.sentences_of_orders()))
        assert isinstance(draft.result, Completed)
        return draft.result

    @again_on_conflict
    async def end_now(self, table_id: int, *, by: int | None, request_id: str | None = None) -> str:
        """End the game unfinished, or close the lobby; what was done. For the host, and the only player of a
        game."""
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            is_alone = table.begun and all(player.person_id == by for player in info.seated_players)
            check_allowed(info, by, seated_players=is_alone)
            if info.is_over:
                raise ValueError(info.status_sentence)
            async with self._cache.commit(table, request_id) as draft:
                what = "ends the game" if table.begun else "closes the table"
                await record_end(draft, f"{actor_name(info, by)} {what}.", by)
                done = f"Table {info.code} is {'ended' if table.begun else 'closed'}."
                draft.result = Completed((), (done,)) if request_id else None
        return done

    async def talk(
        self, table_id: int, person_id: int, text: str, request_id: str, *, in_thread: bool = False
    ) -> str | None:
        """Tell everyone at a table what one of its players, or a deputy, says.

        in_thread: whether they could write in the thread of the table. Then nobody is told where all read it,
        nor what somebody without a seat says. Returns what the table is told; None for nothing. Raises
        ValueError with a sentence where nothing is said.
        """
        table = await self._cache.current(table_id)
        info, recipients = table.stored_info, table.metadata.recipients.values()
        if in_thread:
            all_read_it = info.location and not any(each.email and not each.discord_id for each in recipients)
            if all_read_it or not info.seats_of(person_id):
                return None
        if not (text := cut_text(text, MAX_TALK)):
            raise ValueError("Write what the table is to hear behind `say`.")
        player = info.player_of(person_id)
        async with self._cache.store.read() as unit:
            name = player.name if player else (await unit.people.get(person_id)).name
        await self.announce(table_id, f"{name} says: {text}", "say", f"say:{request_id}", by=person_id)
        return text

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


async def leave_lobby(draft: CommitDraft, person_id: int) -> None:
    """Put into a draft that a person leaves a table that has not started, its player or its host or both.

    After the host the next person who joined is the host, and is told; where only robots or unanswered
    invitations are left, the table is closed. Robots that waited for this person's answer take their seats.
    """
    unit, info = await draft.unit(), draft.table.stored_info
    if player := info.player_of(person_id):
        await unit.tables.vacate_seat(player.seat_id)
    if info.host_id == person_id:
        if (host := next_host(info)) is None:
            await record_end(draft, "The table is closed, because nobody is left there.", person_id)
            return
        await unit.tables.update(info.id, host_id=host.person_id)
        told = f"You are the host of table {info.name} {info.code} now, because its host has left."
        await tell_people(unit, info, "host", [host.person_id], told)
    await seat_agreed_robots(unit, info, {each.person_id for each in people_of(info)} - {person_id})
    draft.messages += messages.lobby_refreshes(info)
    await renew_expiry(unit, info)


def ends_without(table: LiveTable, person_id: int) -> bool:
    """Whether a game in play ends if this person leaves: nobody else plays it, or could admit somebody.

    An open offer of a seat keeps no game: nobody has to answer one, and after it nobody could end the game.
    Who leaves is told that before (`resign`).
    """
    info = table.stored_info
    is_left = any(each.person_id != person_id for each in people_of(info))
    return not (is_left or info.host_id not in (None, person_id) or waits_for_players(table))


async def leave_game(
    draft: CommitDraft, person_id: int, row: LogRow, state: engine.State | None = None
) -> None:
    """Put into a draft that a person leaves a game in play, its player or its host or both, as a row says.

    Without its player the game waits; after the host another player is the host. Where nobody is left
    (`ends_without`) the game is ended. state: the position after the row, if it changes.
    """
    unit, table = await draft.unit(), draft.table
    info = table.stored_info
    player, hosts = info.player_of(person_id), await hand_over(unit, info, person_id)
    is_over = ends_without(table, person_id)
    waits = " The game waits until somebody takes that seat." if player and not is_over else ""
    row = row._replace(raw_line=row.raw_line + waits + hosts)
    if player:
        await unit.tables.vacate_seat(player.seat_id)
        await unit.tables.update(info.id, status="paused")
    draft.add_row(row, state)
    if player or hosts:
        draft.announce("news", row.raw_line)
    if is_over:
        await record_end(draft, "The game is ended, because nobody plays it any more.", None)


async def record_end(draft: CommitDraft, sentence: str, by: int | None) -> None:
    """Put into a draft that the game is ended unfinished: status, log and announcement."""
    unit, table = await draft.unit(), draft.table
    await unit.tables.update(table.stored_info.id, status="ended")
    standings = ""
    if table.begun:
        standings = STANDINGS + text_views.standings_sentence(draft.state or table.state)
    draft.add_note("service", "end", sentence + standings, person_id=by)
    if not table.begun:
        info = table.stored_info
        invited = [player.person_id for player in info.seated_players if not player.is_robot]
        await tell_people(unit, info, "closed", {*host_and_players(info), *invited} - {by}, sentence)
        draft.messages += messages.lobby_refreshes(info)
    await unit.clocks.delete_due(expiry_key(table.stored_info.id))
    draft.announce("over", sentence)


async def record_pace(draft: CommitDraft, pace: Pace, sentence: str, by: int | None, transport: str) -> None:
    """Put a new pace of the table into a draft: the clocks that run start anew."""
    unit, table_id = await draft.unit(), draft.table.stored_info.id
    await unit.tables.update(table_id, pace=str(pace))
    await unit.clocks.look_again(table_id)
    draft.add_note(transport, "pace", sentence, person_id=by)
    draft.announce("news", sentence)
