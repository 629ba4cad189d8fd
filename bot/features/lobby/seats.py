"""Open seats: they are asked for, and the host admits or refuses.

A seat is open in a lobby that is not full, in an imported game that waits for its players, and in a game
whose player has resigned. A person who asks needs only the code of the table. The host answers; at a table
without a host, and in a game whose host has not answered in time, any of its players does. A seat that has
a player can be asked for too: then they vote, or the others do (`replacement`). A table of an imported game
is opened with empty seats, which the players of the game claim.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from bot.features.lobby.messages import tell_host
from bot.features.lobby.replacement import Replacements, polls_about
from bot.features.lobby.requests import (
    ANY_SEAT,
    LATE,
    add_request,
    answer_text,
    people_ids,
    put_request,
    request_key,
    seat_text,
    tell_request_is_over,
)
from bot.features.lobby.tables import Lobby
from bot.hub.cache import TableCache
from bot.hub.changes import RunningTables, again_on_conflict, check_allowed
from bot.hub.commit import CommitDraft
from bot.hub.info import TableInfo, check_distinct, open_seats, status_text
from bot.hub.loading import load_info, load_recipient
from bot.hub.notifications import messages
from bot.hub.people import Limits, player_name
from bot.hub.seating import (
    check_no_robot_name,
    check_seat_name,
    free_name,
    record_replacement,
    tell_people,
    waits_for_players,
)
from bot.position.text_views import waiting_sentence
from engine.core.words import join_words
from engine.game_text.history import GameHistory
from storage import SeatRequest, StoredTimer, UnitOfWork

OFFER = "lobby"
"""Among the facts of a person at a table: the seat that was offered to them."""
TAKEN = "somebody else has that seat now"


class SeatRequests:
    """Asks for open seats, and answers. Every method raises ValueError with a sentence."""

    def __init__(
        self,
        cache: TableCache,
        lobby: Lobby,
        running: RunningTables,
        imports: GameImports,
        limits: Limits,
        replacements: Replacements,
    ) -> None:
        self._cache, self._lobby, self._running, self._replacements = cache, lobby, running, replacements
        self._imports, self._limits = imports, limits

    # -- asking ------------------------------------------------------------------------------

    async def ask(
        self, table_id: int, person_id: int, name: str = "", *, seat_name: str = "", by_operator: bool = False
    ) -> str:
        """A person asks for a seat; what they are told, or the operator who asks for them. name: the person's
        at the table, without it the one in the store. seat_name: whose seat, where several are open."""
        await self._cache.refresh(table_id)
        table = await self._cache.get(table_id)
        info = table.info
        if own := info.player_of(person_id):
            if not own.joined:
                raise ValueError(f"A seat is kept for you at table {info.code}: `join` takes it.")
            raise ValueError(f"You already sit at table {info.code} as {own.name}.")
        async with self._cache.store.read() as unit:
            name = player_name(name or (await unit.people.get(person_id)).name)
        if info.status == "lobby":
            name = free_name(info, name)
            await self._lobby.check_can_join(table_id, name)
            return await self._add(info, ANY_SEAT, person_id, name, by_operator=by_operator)
        seat = _seat_asked_for(info, seat_name)
        is_import = waits_for_players(table)
        name = name if is_import else free_name(info, name, seat)
        if (player := info.player_at(seat)) is not None and not player.is_robot:
            check_no_robot_name(name)
            check_seat_name(info, name, seat)
            if all(each.poll.details.get("person") is None for each in polls_about(table, seat)):
                await self._limits.count_query(self._cache.store, person_id, "requests")
            return await self._replacements.ask(table_id, seat, person_id, name, by_operator=by_operator)
        is_host = is_import and person_id == info.host_id
        if player is None and (is_host or await self._is_offered(table_id, seat, person_id)):
            seated = await self._imports.claim_seat(table_id, seat, person_id, name, by=person_id)
            return _plays_on(seated, seat)
        if person_id == info.host_id or player is not None:
            await self._take(info, seat, person_id, name, person_id)
            who = f"{name} has" if by_operator else "You have"
            return f"{who} the seat of {info.names[seat]} at table {info.code}, as {name}."
        return await self._add(info, seat, person_id, name, by_operator=by_operator)

    async def _add(self, info: TableInfo, seat: int, person_id: int, name: str, *, by_operator: bool) -> str:
        """Ask for a seat. A request that is repeated, by the person or after a crash, counts once."""
        told = f"asked for {seat_text(info, seat)} at table {info.code}."
        told = f"{name} has {told}" if by_operator else f"You have {told} {answer_text(info)}"
        async with self._cache.store.begin(table=info.id) as unit:
            former, info = info, await load_info(unit, info.id)
            if info.status != former.status or info.player_at(seat):
                raise ValueError(f"Table {info.code} has changed at this moment. Please ask again.")
            asked = await unit.clocks.open_requests(info.id)
            if any((each.person_id, each.seat, each.name) == (person_id, seat, name) for each in asked):
                return told
            await self._limits.count(unit, person_id, "requests")
            await add_request(unit, info, seat, person_id, name)
        self._cache.wake_subscribers()
        return told

    async def look(self, row: StoredTimer) -> bool:
        """Ask the players about a request that the host has not answered."""
        assert row.table_id is not None
        info = await self._cache.info(row.table_id)
        async with self._cache.store.begin() as unit:
            taken = await unit.clocks.take_due(row)
            for request in await unit.clocks.open_requests(info.id) if taken else ():
                if request.id == row.details["request"] and info.player_of(request.person_id) is None:
                    why = " The host has not answered, so any player may."
                    await put_request(unit, info, request, people_ids(info), why)
        self._cache.wake_subscribers()
        return True

    async def drop_moot(self, draft: CommitDraft) -> None:
        """Answer who has asked for a seat that another has now, or at a table whose game begins or ends;
        another host hears who asks. Offers of seats that are taken end."""
        begins = any(row.line == "start" for row in draft.new_rows)
        in_lobby = not (draft.table.begun or begins or draft.ends_game)
        if draft.open_unit is None and not draft.ends_game:
            return  # nobody comes or goes without a transaction
        unit, former = await draft.unit(), draft.table.stored_info
        await _drop_offers(draft, unit)
        if not (requests := await unit.clocks.open_requests(former.id)):
            return
        info = await load_info(unit, former.id)
        for request in requests:
            seated = info.player_of(request.person_id)
            if seated and (in_lobby or request.seat == seated.seat):
                continue  # `_admit` tells them
            if why := "the game has begun" if begins else _why_over(draft, info, request):
                if await unit.clocks.answer_request(request.id, False) and seated is None:
                    await tell_request_is_over(draft, request.person_id, why, request_key(request))
            elif info.host_id not in (None, former.host_id):
                await put_request(unit, info, request, [info.host_id])

    # -- answering ---------------------------------------------------------------------------

    async def answer(self, table_id: int, name: str, *, admitted: bool, by: int | None) -> str:
        """The host admits or refuses a person; what the host is told. name: `` for the only one who asks."""
        info = (await self._cache.current(table_id)).info
        async with self._cache.store.read() as unit:
            request = _find(await unit.clocks.open_requests(table_id), name, info)
            waits_too_long = request.seat != ANY_SEAT and unit.now >= request.asked_at + LATE
        check_allowed(info, by, seated_players=info.host_id is None or waits_too_long)
        if admitted:
            return await self._admit(info, request, by)
        async with self._cache.store.begin() as unit:
            if not await unit.clocks.answer_request(request.id, False):
                raise ValueError(f"{request.name} has been answered already.")
            sentence = f"You do not get a seat at table {info.name} {info.code}."
            await tell_people(unit, info, "seat_answer", [request.person_id], sentence, request_key(request))
        self._cache.wake_subscribers()
        return f"{request.name} is refused."

    async def _admit(self, info: TableInfo, request: SeatRequest, by: int | None) -> str:
        """Give a person the seat that they have asked for; what the host is told. A crash may have ended this
        when they had it; who was invited since they have asked takes the seat that is kept for them."""
        seated = info.player_of(request.person_id)
        if seated is None or not seated.joined:
            await self._take(info, request.seat, request.person_id, request.name, by)
        table = await self._cache.get(info.id)
        seated = table.info.player_of(request.person_id)
        name = seated.name if seated else request.name
        async with self._cache.store.begin() as unit:
            await unit.clocks.answer_request(request.id, True)
            sentence = f"You have a seat at table {info.name} {info.code}, as {name}."
            await tell_people(unit, info, "seat_answer", [request.person_id], sentence, request_key(request))
        self._cache.wake_subscribers()
        told = f"{name} has a seat at table {info.code}."
        if info.status == "paused" and table.info.status == "running":
            told += f" The game goes on. {waiting_sentence(table.state, table.pending)}"
        return told

    async def _take(self, info: TableInfo, seat: int, person_id: int, name: str, by: int | None) -> None:
        """Seat a person; with the last open seat the game goes on."""
        if info.status == "lobby":
            await self._lobby.join(info.id, person_id, name, is_chosen=False, is_admitted=True)
            return
        table = await self._cache.get(info.id)
        info = table.info
        player = info.player_at(seat)
        if player is not None and not player.is_robot:
            raise ValueError(f"{info.names[seat]} sits there now; {name} cannot.")
        if waits_for_players(table):
            await self._imports.claim_seat(info.id, seat, person_id, name, by=by)
            return
        name = free_name(info, name, seat)  # somebody may have come since who is called so
        by = by if by == info.host_id else None  # a table without a host has asked its players
        await self._running.replace_player(info.id, seat, person_id, name, by=by)
        async with self._cache.store.begin() as unit:
            await unit.outbox.enqueue(*messages.lobby_refreshes(info))

    async def offer(self, table_id: int, seat_name: str, person_id: int, *, by: int | None) -> str:
        """Ask a person to play on in a seat; what the host or the player who does is told. The person answers
        by asking for the seat. Raises ValueError."""
        info = (await self._cache.current(table_id)).info
        seat = _seat_asked_for(info, seat_name)
        is_taken = info.player_at(seat) is not None
        check_allowed(info, by, seated_players=is_taken or info.host_id is None)
        if own := info.player_of(person_id):
            raise ValueError(f"{own.name} already sits at table {info.code}.")
        async with self._cache.store.begin() as unit:
            await self._limits.count(unit, by, "invitations")
            recipient = await load_recipient(unit, person_id, seat, unverified=True)
            inviter = player.name if (player := info.player_of(by)) else None
            await unit.outbox.enqueue(*messages.seat_offers(info, recipient, seat, inviter))
            if not is_taken or by in (None, info.host_id):  # they may take it once it is empty
                await unit.facts.set(OFFER, table_id, person_id, seat)
            name = (await unit.people.get(person_id)).name
        self._cache.wake_subscribers()
        return f"{name} is asked to play on for {info.names[seat]} at table {info.code}."

    async def _is_offered(self, table_id: int, seat: int, person_id: int) -> bool:
        """Whether a seat was offered to a person: an empty one is taken at once, because the host has."""
        async with self._cache.store.read() as unit:
            return await unit.facts.get(OFFER, table_id, person_id) == seat


async def _drop_offers(draft: CommitDraft, unit: UnitOfWork) -> None:
    """What somebody has taken is offered to nobody any more, nor a seat of a game that is over: whoever could
    have taken it is told."""
    former = draft.table.stored_info
    taken = {row.seat for row in draft.new_rows if row.kind == "replace" and row.line != "resign"}
    for person_id, seat in (await unit.facts.at_table(OFFER, former.id)).items():
        if not (seat in taken or draft.ends_game):
            continue
        await unit.facts.set(OFFER, former.id, person_id, None)
        info = await load_info(unit, former.id)
        if (info.player_of(person_id) if seat in taken else info.player_at(seat)) is None:
            why = TAKEN if seat in taken else "the game is over"
            told = f"You cannot play on for {former.names[seat]} at table {info.name} {info.code} any more"
            await tell_people(unit, info, "seat_answer", [person_id], f"{told}, because {why}.")


def _why_over(draft: CommitDraft, info: TableInfo, request: SeatRequest) -> str:
    """Why nobody answers a request any more; empty where somebody may. info: with the new players."""
    if draft.ends_game:
        return "the game is over" if draft.table.begun else "the table is closed"
    is_taken = info.player_of(request.person_id) or info.player_at(request.seat)
    return TAKEN if is_taken else ""


def _plays_on(info: TableInfo, seat: int) -> str:
    left = len(open_seats(info))
    progress = {0: "All seats are taken, and the game goes on.", 1: "One seat is still open."}
    rest = progress.get(left, f"{left} seats are still open.")
    return f"You play on as {info.names[seat]} at table {info.code}. {rest}"


def _seat_asked_for(info: TableInfo, name: str) -> int:
    """The seat of a game in play that has this name, without a name the first open one."""
    taken = [seat for seat, each in enumerate(info.names) if each.casefold() == name.casefold()]
    if taken and info.status in ("running", "paused"):
        return taken[0]
    if info.status != "paused":
        raise ValueError(f"Table {info.code} is {status_text(info.status)}; no seat is open.")
    if not open_seats(info):
        raise ValueError(f"No seat is open at table {info.code}.")
    if not name:
        return open_seats(info)[0]
    names = join_words([info.names[seat] for seat in open_seats(info)], "or")
    raise ValueError(f"There is no seat of {name}; the seat of {names} is open.")


def _find(requests: Sequence[SeatRequest], name: str, info: TableInfo) -> SeatRequest:
    if not requests:
        raise ValueError(f"Nobody asks for a seat at table {info.code}.")
    named = [each for each in requests if each.name.casefold() == name.strip().casefold()]
    if named:
        return named[0]
    if not name and len(requests) == 1:
        return requests[0]
    names = join_words([each.name for each in requests])
    verb = "asks" if len(requests) == 1 else "ask"
    raise ValueError(f"{names} {verb} for a seat at table {info.code}; name whom you mean.")


class GameImports:
    """Opens tables for games that come from elsewhere, and gives their seats to those who claim them."""

    def __init__(
        self,
        cache: TableCache,
        lobby: Lobby,
        read_game: Callable[[bytes], tuple[GameHistory, Sequence[str]]],
    ) -> None:
        """read_game: plays a file; raises ValueError."""
        self._cache, self._lobby, self._read_game = cache, lobby, read_game

    async def open_table(
        self, raw: bytes, *, by: int | None, name: str = "", location: dict[str, Any] | None = None
    ) -> tuple[TableInfo, Sequence[str]]:
        """A table with the game of a file and empty seats, and the warnings about it. Raises ValueError.

        by: the host. location: where a transport shows the table. Playing the file takes seconds, so it is
        done in a thread.
        """
        history, warnings = await asyncio.to_thread(self._read_game, raw)
        info = await self._lobby.import_game(
            history,
            name=name or history.start.title,
            by=by,
            open_seats=True,
            location=location,
        )
        return info, warnings

    @again_on_conflict
    async def claim_seat(
        self, table_id: int, seat: int, person_id: int, name: str, *, by: int | None = None
    ) -> TableInfo:
        """A person whom the host admits plays on in an empty seat; with the last seat the game goes on.

        They play under their own name, or under the seat's where another seat has theirs. by: who brings it
        about, and is not told. Raises ValueError.
        """
        async with self._cache.locked(table_id) as table:
            info = table.stored_info
            if info.status != "paused" or not 0 <= seat < len(info.names):
                raise ValueError(f"No seat at table {info.code} waits for a player.")
            if taken := info.player_at(seat):
                raise ValueError(f"{taken.name} has that seat at table {info.code}; choose another.")
            if own := info.player_of(person_id):
                raise ValueError(f"You already sit at table {info.code} as {own.name}.")
            others = [other for number, other in enumerate(info.names) if number != seat]
            if name.casefold() in {other.casefold() for other in others}:
                name = info.names[seat]
            check_distinct(name, others)
            async with self._cache.commit(table) as draft:
                await record_replacement(draft, seat, person_id, name, by=person_id)
                draft.messages += messages.lobby_refreshes(info)
                if len(info.seated_players) + 1 == len(info.names):
                    await (await draft.unit()).tables.update(table_id, status="running")
                    assert draft.state is not None
                    seating = join_words(draft.state.players)
                    goes_on = "All seats are taken, and the game goes on."
                    draft.announce("started", f"{goes_on} Seating: {seating}.")
                else:
                    whose = "their seat" if name == info.names[seat] else f"the seat of {info.names[seat]}"
                    taken_seat = f"{name} has taken {whose} at table {info.code}."
                    await tell_host(await draft.unit(), info, taken_seat, by=by)
        return table.info
