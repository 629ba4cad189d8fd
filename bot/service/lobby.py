"""The lobby: tables are made, filled, begun, stopped; players are replaced.

Who may do what: the host everything that is not another's own; whoever sits at a table may invite,
pause and resume; each may leave, and hand his own seat to another; an empty seat is open to all. The
operator (`by=None`) may do everything. Each method raises ValueError with a sentence otherwise.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import engine
from bot.service import notifications, text_views
from bot.service.live_table import LiveTable, engine_seat
from bot.service.table_cache import CommitDraft, TableCache, load_recipient, load_table_info
from bot.service.tables import SeatedPlayer, TableInfo
from engine.kernel import check_names
from storage import AlreadyExists, NewLogRow, UnitOfWork


def check_allowed(table: TableInfo, by: int | None, *, sitters: bool = False, own: int | None = None) -> None:
    """Raises ValueError unless it is the operator, the host, one of the `sitters`, or the person himself."""
    if by is None or by == table.host_id or (own is not None and by == own):
        return
    if sitters and any(s.person_id == by for s in table.seated_players):
        return
    who = "its host or somebody who sits there" if sitters else "its host"
    raise ValueError(f"That is for {'yourself or ' if own is not None else ''}{who} at table {table.code}.")


def check_in_lobby(table: TableInfo) -> None:
    """Raises ValueError once the table has begun."""
    if table.status != "lobby":
        raise ValueError(f"Table {table.code} has already begun.")


class Lobby(TableCache):
    """What is done around a game."""

    # -- before the start --------------------------------------------------------------------

    async def create(
        self,
        title: str,
        host: int | None,
        *,
        name: str = "",
        options: Sequence[str] | None = None,
        place: dict[str, Any] | None = None,
    ) -> TableInfo:
        """A new table in its lobby; `options` None takes the installation's. The host has no seat yet.

        Raises ValueError for a title or an option that there is not.
        """
        chosen = engine.title_of(title, self.default_options if options is None else tuple(options)).options
        async with self.store.begin() as unit:
            table = await unit.tables.add(title, name.strip() or title, host, chosen)
            if place:
                await unit.tables.update(table.id, location=place)
            made = await self._load_info(unit, table.id)
        self.wake_subscribers()
        return made

    async def join(self, table: int, person: int, name: str) -> TableInfo:
        """Somebody takes a seat under a name, before the start; who was invited, the one kept for him."""
        async with self.locked(table) as play:
            info = play.stored_info
            mine = next((s for s in info.seated_players if s.person_id == person), None)
            if mine and (mine.joined or info.status != "lobby"):
                raise ValueError(f"You already sit at table {info.code} as {mine.name}.")
            check_in_lobby(info)
            self._check_name(info, name, mine)
            async with self._changing_seats(play) as unit:
                if mine:
                    await unit.tables.vacate_seat(mine.seat_id)
                await self._take_seat(unit, info, person, name)
        return play.stored_info

    async def invite(self, table: int, person: int, name: str, *, by: int | None) -> TableInfo:
        """Keep a seat for somebody, who is told and joins by `join`; by the host or who sits there."""
        async with self.locked(table) as play:
            info = play.stored_info
            check_allowed(info, by, sitters=True)
            check_in_lobby(info)
            if any(s.person_id == person for s in info.seated_players):
                raise ValueError(f"{name} already has a seat at table {info.code}.")
            self._check_name(info, name, None)
            async with self._changing_seats(play) as unit:
                await self._take_seat(unit, info, person, name, invited=True)
                who = await load_recipient(unit, person, None, unverified=True)
                await unit.outbox.enqueue(*notifications.invitations(await self._load_info(unit, table), who))
        return play.stored_info

    async def leave(self, table: int, person: int, *, by: int | None) -> TableInfo:
        """Somebody gives up his seat before the start (or an invitation); by himself or the host."""
        async with self.locked(table) as play:
            info = play.stored_info
            check_allowed(info, by, own=person)
            mine = next((s for s in info.seated_players if s.person_id == person), None)
            if mine is None:
                raise ValueError(f"There is no seat of that person at table {info.code}.")
            if info.status != "lobby":
                raise ValueError(f"Table {info.code} has begun; say `resign`, or let another take the seat.")
            async with self._changing_seats(play) as unit:
                await unit.tables.vacate_seat(mine.seat_id)
        return play.stored_info

    async def start(
        self, table: int, *, by: int | None, order: Sequence[str] | None = None, seed: int | None = None
    ) -> TableInfo:
        """Begin. `order` is the seating by names; without it the seats are shuffled from a recorded seed.

        The seed is also the lot of a title that deals something out. By the host. Who was invited and
        has not joined stops it, with his name.
        """
        async with self.locked(table) as play:
            info = play.stored_info
            check_allowed(info, by)
            check_in_lobby(info)
            if absent := [s.name for s in info.seated_players if not s.joined]:
                have = "have" if len(absent) > 1 else "has"
                raise ValueError(f"{text_views.join_words(absent)} {have} not joined yet.")
            if seed is None:
                seed = secrets.randbelow(2**31)
            seating = seating_order(info.seated_players, order, seed)
            names = [s.name for s in seating]
            state, dealt = engine.new_game(info.title, names, info.options, seed)
            async with self.commit(play) as draft:
                unit = await draft.unit()
                await unit.tables.assign_seat_numbers(table, [s.seat_id for s in seating])
                await unit.tables.update(table, status="running", seed=None if order else seed)
                shuffled = "" if order else f", shuffled from the seed {seed}"
                said = f"The game begins. The seating: {text_views.join_words(names)}{shuffled}."
                said = " ".join([said, *engine.narrate(state, dealt)])
                draft.add_row(
                    NewLogRow(transport="service", kind="note", line="start", raw_line=said, person_id=by,
                          events=engine.encode_state(state)),
                    state,
                )  # fmt: skip
                draft.announce("started", said)
        return play.info

    async def import_game(
        self,
        first: engine.State,
        moves: Iterable[tuple[int, str, Sequence[engine.AnyEvent]]],
        *,
        name: str,
        by: int | None = None,
    ) -> TableInfo:
        """A game that was played elsewhere becomes a table that goes on.

        first: the position at its first question (`engine.new_game`). moves: for each its seat, its
        line and its events, in order. Everybody in it is somebody new, whom others may replace.
        """
        state = engine.copy_state(first)
        said = f"The game comes from elsewhere. The seating: {text_views.join_words(state.players)}."
        entries = [
            NewLogRow(
                transport="import",
                kind="note",
                line="start",
                raw_line=said,
                events=engine.encode_state(first),
            )
        ]
        for seat, line, events in moves:
            engine.fold(events, state)
            raw = engine.encode_events(events)
            entries.append(NewLogRow(transport="import", seat=seat, raw_line=line, line=line, events=raw))
        async with self.store.begin() as unit:
            table = await unit.tables.add(first.title, name, by, first.options)
            for seat, player in enumerate(first.players):
                person = await unit.people.add(player)
                await unit.tables.add_seat(table.id, person.id, player, seat)
            await unit.tables.update(table.id, status="finished" if state.game_over else "running")
            await unit.move_log.append(table.id, 0, entries, engine.encode_state(state))
            made = await self._load_info(unit, table.id)
        self.wake_subscribers()
        return made

    def _check_name(self, info: TableInfo, name: str, mine: SeatedPlayer | None) -> None:
        """Raises ValueError for a name that cannot be used, or where there is no seat left."""
        title = engine.title_of(info.title, info.options)
        others = [s.name for s in info.seated_players if s is not mine]
        check_names(title, [*others, name])
        if len(others) >= title.components.players["max"]:
            raise ValueError(f"Table {info.code} is full: {info.title} has {len(others)} seats at most.")

    async def _take_seat(
        self, unit: UnitOfWork, info: TableInfo, person: int, name: str, *, invited: bool = False
    ) -> None:
        try:
            await unit.tables.add_seat(info.id, person, name, invited=invited)
        except AlreadyExists as error:
            raise ValueError(f"{name} is already at table {info.code}; choose another name.") from error

    async def _load_info(self, unit: UnitOfWork, table: int) -> TableInfo:
        return await load_table_info(unit, await unit.tables.get(table))

    @asynccontextmanager
    async def _changing_seats(self, play: LiveTable, *, shows: bool = True) -> AsyncIterator[UnitOfWork]:
        """A transaction that leaves no row in the log; the lobby's card follows where it `shows`."""
        async with self.store.begin() as unit:
            yield unit
            info = await self._load_info(unit, play.stored_info.id)
            if shows:
                await unit.outbox.enqueue(*notifications.lobby_refreshes(info, unit.now))
        play.metadata = replace(play.metadata, info=info)
        self.wake_subscribers()

    # -- while it is played ------------------------------------------------------------------

    async def replace_player(
        self, table: int, seat: int, person: int, name: str, *, by: int | None
    ) -> TableInfo:
        """Another plays on in a seat, under his own name.

        By who sits there or the host; an empty seat (after `resign`) is taken by whoever comes.
        """
        async with self.locked(table) as play:
            info = play.stored_info
            if not play.begun:
                raise ValueError(f"Table {info.code} has not begun; leave and join instead.")
            if info.status == "ended" or not 0 <= seat < len(play.state.players):
                raise ValueError(f"There is no such seat in play at table {info.code}.")
            sitter = info.player_at(seat)
            check_allowed(info, by, own=sitter.person_id if sitter else person)
            if any(s.person_id == person and s.seat != seat for s in info.seated_players):
                raise ValueError(f"{name} already sits at table {info.code}.")
            former = play.state.players[seat]
            state, events = engine.rename_player(play.state, engine_seat(seat), name)
            said = f"{name} plays on for {former}." if name != former else f"{name} plays on."
            async with self.commit(play) as draft:
                unit = await draft.unit()
                if sitter:
                    await unit.tables.vacate_seat(sitter.seat_id)
                await unit.tables.add_seat(table, person, name, seat)
                entry = NewLogRow(
                    kind="replace", transport="service", seat=seat, person_id=by, line="replace",
                    raw_line=said, events=engine.encode_events(events),
                )  # fmt: skip
                draft.add_row(entry, state)
                draft.announce("told", said)
        return play.info

    async def pause(self, table: int, *, by: int | None) -> TableInfo:
        """Stop play; by anybody who sits there, or the host."""
        return await self._set_status(table, by, "pause", "running", "paused")

    async def resume(self, table: int, *, by: int | None) -> TableInfo:
        """Play on; by anybody who sits there, or the host, once no seat is empty."""
        return await self._set_status(table, by, "resume", "paused", "running")

    async def _set_status(self, table: int, by: int | None, word: str, now: Any, then: Any) -> TableInfo:
        async with self.locked(table) as play:
            info = play.stored_info
            check_allowed(info, by, sitters=True)
            if info.status != now:
                raise ValueError(f"Table {info.code} is {status_text(info.status)}.")
            taken = {s.seat for s in info.seated_players}
            empty = [n for i, n in enumerate(play.state.players) if i not in taken]
            if word == "resume" and empty:
                raise ValueError(
                    f"The seat of {text_views.join_words(empty)} is empty; somebody has to take it first."
                )
            async with self.commit(play) as draft:
                await (await draft.unit()).tables.update(table, status=then)
                who = self._actor_name(play, by)
                said = f"{who} pauses the game." if word == "pause" else f"{who} lets the game go on."
                draft.add_note("service", word, said, person_id=by)
                draft.announce("told", said)
        return play.info

    async def end_now(self, table: int, *, by: int | None) -> TableInfo:
        """End the game unfinished, or close the lobby; by the host."""
        async with self.locked(table) as play:
            check_allowed(play.stored_info, by)
            if play.stored_info.status in ("ended", "finished"):
                raise ValueError(f"Table {play.stored_info.code} is {status_text(play.stored_info.status)}.")
            async with self.commit(play) as draft:
                await self.record_end(draft, f"{self._actor_name(play, by)} ends the game.", by)
        return play.info

    async def record_end(self, draft: CommitDraft, said: str, by: int | None) -> None:
        unit = await draft.unit()
        await unit.tables.update(draft.table.stored_info.id, status="ended")
        for ballot in draft.table.polls:
            await unit.polls.close(ballot.poll.id, "overtaken")
        standing = (
            f" It stands: {text_views.standings_sentence(draft.table.state)}" if draft.table.begun else ""
        )
        draft.add_note("service", "end", said + standing, person_id=by)
        draft.announce("over", said + standing)

    @staticmethod
    def _actor_name(play: LiveTable, by: int | None) -> str:
        """Who did it, by his name at the table."""
        sitter = next((s for s in play.stored_info.seated_players if s.person_id == by), None)
        return sitter.name if sitter else "The host"

    async def set_location(self, table: int, place: dict[str, Any]) -> TableInfo:
        """Remember where a transport shows the table (its guild, channel …), beside what is there."""
        async with self.locked(table) as play, self._changing_seats(play, shows=False) as unit:
            await unit.tables.update(table, location=play.stored_info.location | place)
        return play.info


def seating_order(
    sitters: Sequence[SeatedPlayer], order: Sequence[str] | None, seed: int | None
) -> list[SeatedPlayer]:
    """The seating, by names or shuffled from a seed. Raises ValueError for names that are not theirs."""
    if order is None:
        shuffled = sorted(sitters, key=lambda s: s.seat_id)
        random.Random(seed).shuffle(shuffled)
        return shuffled
    by_name = {s.name.casefold(): s for s in sitters}
    wanted = [name.strip().casefold() for name in order]
    if sorted(wanted) != sorted(by_name):
        raise ValueError(
            f"The seating has to name everybody once: {text_views.join_words([s.name for s in sitters])}."
        )
    return [by_name[name] for name in wanted]


def status_text(status: str) -> str:
    """A status after `Table X is`."""
    return {
        "lobby": "still in its lobby",
        "running": "being played",
        "paused": "paused",
        "finished": "over",
        "ended": "ended",
    }[status]
