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
from bot import notices, words
from bot.memory import Draft, Memory, info_of, reach
from bot.play import Play, seat_name
from bot.tables import Sitter, TableInfo
from engine.kernel import check_names
from storage import Entry, Taken, Unit


def allowed(table: TableInfo, by: int | None, *, sitters: bool = False, own: int | None = None) -> None:
    """Raises ValueError unless it is the operator, the host, one of the `sitters`, or the person himself."""
    if by is None or by == table.host or (own is not None and by == own):
        return
    if sitters and any(s.person == by for s in table.sitters):
        return
    who = "its host or somebody who sits there" if sitters else "its host"
    raise ValueError(f"That is for {'yourself or ' if own is not None else ''}{who} at table {table.code}.")


def in_lobby(table: TableInfo) -> None:
    """Raises ValueError once the table has begun."""
    if table.status != "lobby":
        raise ValueError(f"Table {table.code} has already begun.")


class Lobby(Memory):
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
        chosen = engine.title_of(title, self.options if options is None else tuple(options)).options
        async with self.store.begin() as unit:
            table = await unit.games.add(title, name.strip() or title, host, chosen)
            if place:
                await unit.games.change(table.id, place=place)
            made = await self._info(unit, table.id)
        self.changed()
        return made

    async def join(self, table: int, person: int, name: str) -> TableInfo:
        """Somebody takes a seat under a name, before the start; who was invited, the one kept for him."""
        async with self._held(table) as play:
            info = play.table
            mine = next((s for s in info.sitters if s.person == person), None)
            if mine and (mine.joined or info.status != "lobby"):
                raise ValueError(f"You already sit at table {info.code} as {mine.name}.")
            in_lobby(info)
            self._check_name(info, name, mine)
            async with self._changing(play) as unit:
                if mine:
                    await unit.games.leave(mine.row)
                await self._sit(unit, info, person, name)
        return play.table

    async def invite(self, table: int, person: int, name: str, *, by: int | None) -> TableInfo:
        """Keep a seat for somebody, who is told and joins by `join`; by the host or who sits there."""
        async with self._held(table) as play:
            info = play.table
            allowed(info, by, sitters=True)
            in_lobby(info)
            if any(s.person == person for s in info.sitters):
                raise ValueError(f"{name} already has a seat at table {info.code}.")
            self._check_name(info, name, None)
            async with self._changing(play) as unit:
                await self._sit(unit, info, person, name, invited=True)
                who = await reach(unit, person, None, unverified=True)
                await unit.outbox.enqueue(*notices.invited(await self._info(unit, table), who))
        return play.table

    async def leave(self, table: int, person: int, *, by: int | None) -> TableInfo:
        """Somebody gives up his seat before the start (or an invitation); by himself or the host."""
        async with self._held(table) as play:
            info = play.table
            allowed(info, by, own=person)
            mine = next((s for s in info.sitters if s.person == person), None)
            if mine is None:
                raise ValueError(f"There is no seat of that person at table {info.code}.")
            if info.status != "lobby":
                raise ValueError(f"Table {info.code} has begun; say `resign`, or let another take the seat.")
            async with self._changing(play) as unit:
                await unit.games.leave(mine.row)
        return play.table

    async def start(
        self, table: int, *, by: int | None, order: Sequence[str] | None = None, seed: int | None = None
    ) -> TableInfo:
        """Begin. `order` is the seating by names; without it the seats are shuffled from a recorded seed.

        The seed is also the lot of a title that deals something out. By the host. Who was invited and
        has not joined stops it, with his name.
        """
        async with self._held(table) as play:
            info = play.table
            allowed(info, by)
            in_lobby(info)
            if absent := [s.name for s in info.sitters if not s.joined]:
                have = "have" if len(absent) > 1 else "has"
                raise ValueError(f"{words.listed(absent)} {have} not joined yet.")
            if seed is None:
                seed = secrets.randbelow(2**31)
            seating = seated(info.sitters, order, seed)
            names = [s.name for s in seating]
            state, dealt = engine.new_game(info.title, names, info.options, seed)
            async with self._writing(play) as draft:
                unit = await draft.unit()
                await unit.games.number(table, [s.row for s in seating])
                await unit.games.change(table, status="running", seed=None if order else seed)
                shuffled = "" if order else f", shuffled from the seed {seed}"
                said = f"The game begins. The seating: {words.listed(names)}{shuffled}."
                said = " ".join([said, *engine.narrate(state, dealt)])
                draft.add(
                    Entry(transport="service", kind="note", line="start", said=said, person_id=by,
                          events=engine.encoded(state)),
                    state,
                )  # fmt: skip
                draft.announce("started", said)
        return play.info

    async def adopt(
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
        state = engine.copied(first)
        said = f"The game comes from elsewhere. The seating: {words.listed(state.players)}."
        entries = [
            Entry(transport="import", kind="note", line="start", said=said, events=engine.encoded(first))
        ]
        for seat, line, events in moves:
            engine.fold(events, state)
            raw = engine.encoded_events(events)
            entries.append(Entry(transport="import", seat=seat, said=line, line=line, events=raw))
        async with self.store.begin() as unit:
            table = await unit.games.add(first.title, name, by, first.options)
            for seat, player in enumerate(first.players):
                person = await unit.people.add(player)
                await unit.games.sit(table.id, person.id, player, seat)
            await unit.games.change(table.id, status="finished" if state.over else "running")
            await unit.moves.append(table.id, 0, entries, engine.encoded(state))
            made = await self._info(unit, table.id)
        self.changed()
        return made

    def _check_name(self, info: TableInfo, name: str, mine: Sitter | None) -> None:
        """Raises ValueError for a name that cannot be used, or where there is no seat left."""
        title = engine.title_of(info.title, info.options)
        others = [s.name for s in info.sitters if s is not mine]
        check_names(title, [*others, name])
        if len(others) >= title.facts.players["max"]:
            raise ValueError(f"Table {info.code} is full: {info.title} has {len(others)} seats at most.")

    async def _sit(
        self, unit: Unit, info: TableInfo, person: int, name: str, *, invited: bool = False
    ) -> None:
        try:
            await unit.games.sit(info.id, person, name, invited=invited)
        except Taken as error:
            raise ValueError(f"{name} is already at table {info.code}; choose another name.") from error

    async def _info(self, unit: Unit, table: int) -> TableInfo:
        return await info_of(unit, await unit.games.get(table))

    @asynccontextmanager
    async def _changing(self, play: Play, *, shows: bool = True) -> AsyncIterator[Unit]:
        """A transaction that leaves no row in the log; the lobby's card follows where it `shows`."""
        async with self.store.begin() as unit:
            yield unit
            info = await self._info(unit, play.table.id)
            if shows:
                await unit.outbox.enqueue(*notices.lobby(info, unit.now))
        play.known = replace(play.known, table=info)
        self.changed()

    # -- while it is played ------------------------------------------------------------------

    async def replace(self, table: int, seat: int, person: int, name: str, *, by: int | None) -> TableInfo:
        """Another plays on in a seat, under his own name.

        By who sits there or the host; an empty seat (after `resign`) is taken by whoever comes.
        """
        async with self._held(table) as play:
            info = play.table
            if not play.begun:
                raise ValueError(f"Table {info.code} has not begun; leave and join instead.")
            if info.status == "ended" or not 0 <= seat < len(play.state.players):
                raise ValueError(f"There is no such seat in play at table {info.code}.")
            sitter = info.at(seat)
            allowed(info, by, own=sitter.person if sitter else person)
            if any(s.person == person and s.seat != seat for s in info.sitters):
                raise ValueError(f"{name} already sits at table {info.code}.")
            former = play.state.players[seat]
            state, events = engine.renamed(play.state, seat_name(seat), name)
            said = f"{name} plays on for {former}." if name != former else f"{name} plays on."
            async with self._writing(play) as draft:
                unit = await draft.unit()
                if sitter:
                    await unit.games.leave(sitter.row)
                await unit.games.sit(table, person, name, seat)
                entry = Entry(
                    kind="replace", transport="service", seat=seat, person_id=by, line="replace",
                    said=said, events=engine.encoded_events(events),
                )  # fmt: skip
                draft.add(entry, state)
                draft.announce("told", said)
        return play.info

    async def pause(self, table: int, *, by: int | None) -> TableInfo:
        """Stop play; by anybody who sits there, or the host."""
        return await self._stand(table, by, "pause", "running", "paused")

    async def resume(self, table: int, *, by: int | None) -> TableInfo:
        """Play on; by anybody who sits there, or the host, once no seat is empty."""
        return await self._stand(table, by, "resume", "paused", "running")

    async def _stand(self, table: int, by: int | None, word: str, now: Any, then: Any) -> TableInfo:
        async with self._held(table) as play:
            info = play.table
            allowed(info, by, sitters=True)
            if info.status != now:
                raise ValueError(f"Table {info.code} is {told_status(info.status)}.")
            taken = {s.seat for s in info.sitters}
            empty = [n for i, n in enumerate(play.state.players) if i not in taken]
            if word == "resume" and empty:
                raise ValueError(
                    f"The seat of {words.listed(empty)} is empty; somebody has to take it first."
                )
            async with self._writing(play) as draft:
                await (await draft.unit()).games.change(table, status=then)
                who = self._by(play, by)
                said = f"{who} pauses the game." if word == "pause" else f"{who} lets the game go on."
                draft.note("service", word, said, person_id=by)
                draft.announce("told", said)
        return play.info

    async def end_at_once(self, table: int, *, by: int | None) -> TableInfo:
        """End the game unfinished, or close the lobby; by the host."""
        async with self._held(table) as play:
            allowed(play.table, by)
            if play.table.status in ("ended", "finished"):
                raise ValueError(f"Table {play.table.code} is {told_status(play.table.status)}.")
            async with self._writing(play) as draft:
                await self._end(draft, f"{self._by(play, by)} ends the game.", by)
        return play.info

    async def _end(self, draft: Draft, said: str, by: int | None) -> None:
        unit = await draft.unit()
        await unit.games.change(draft.play.table.id, status="ended")
        for ballot in draft.play.votes:
            await unit.votes.close(ballot.vote.id, "overtaken")
        standing = f" It stands: {words.final(draft.play.state)}" if draft.play.begun else ""
        draft.note("service", "end", said + standing, person_id=by)
        draft.announce("over", said + standing)

    @staticmethod
    def _by(play: Play, by: int | None) -> str:
        """Who did it, by his name at the table."""
        sitter = next((s for s in play.table.sitters if s.person == by), None)
        return sitter.name if sitter else "The host"

    async def place(self, table: int, place: dict[str, Any]) -> TableInfo:
        """Remember where a transport shows the table (its guild, channel …), beside what is there."""
        async with self._held(table) as play, self._changing(play, shows=False) as unit:
            await unit.games.change(table, place=play.table.place | place)
        return play.info


def seated(sitters: Sequence[Sitter], order: Sequence[str] | None, seed: int | None) -> list[Sitter]:
    """The seating, by names or shuffled from a seed. Raises ValueError for names that are not theirs."""
    if order is None:
        shuffled = sorted(sitters, key=lambda s: s.row)
        random.Random(seed).shuffle(shuffled)
        return shuffled
    by_name = {s.name.casefold(): s for s in sitters}
    wanted = [name.strip().casefold() for name in order]
    if sorted(wanted) != sorted(by_name):
        raise ValueError(
            f"The seating has to name everybody once: {words.listed([s.name for s in sitters])}."
        )
    return [by_name[name] for name in wanted]


def told_status(status: str) -> str:
    """A status after `Table X is`."""
    return {
        "lobby": "still in its lobby",
        "running": "being played",
        "paused": "paused",
        "finished": "over",
        "ended": "ended",
    }[status]
