"""The service: the one way in for moves, the lobby, and the views that transports show.

Theory. A table has a lock; whatever is said at it waits there its turn, so that no two moves start
from the same position, while other tables go on. Inside the lock the lines are read and played in
memory, and then written down in one transaction: rows of the log, the state, the answer to the
request, and in the outbox what others are to be told. Memory follows only when that is committed. A
process that dies has therefore either done all of it or nothing, and what is still to be sent is
sent by the next.

A decision is named by how often the line of play was cut (by undo and redo) and the number of the
question in it, `0.17`; an offer that is put to somebody beside the question by `0.o3`, a vote by
`v5`. `seen` is the name of what was answered. An act out of turn leaves the question and thus its
name; an undo gives new names to all.

Persons are ids of the store. `person=None` is the operator at the terminal of this machine, who may
do everything. Every method for the lobby raises ValueError with a sentence where it is not possible,
`storage.Missing` for a table that is not there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import engine
from bot.answers import Answer
from bot.play import Happening, View
from bot.tables import TableInfo
from storage import Status, Store


class Service:
    """All tables of one store. Make one for each process, and let `run` go on beside it."""

    def __init__(self, store: Store, *, options: Sequence[str] = (), keep: int = 32) -> None:
        """`options` are given to every new table unless its host says otherwise; `keep` tables stay in memory."""
        self.store = store

    # -- what is said ------------------------------------------------------------------------

    async def say(
        self,
        table: int,
        seat: int | None,
        lines: Sequence[str],
        seen: str | None,
        request: str | None,
        *,
        person: int | None = None,
        transport: str = "terminal",
    ) -> Answer:
        """Say lines of notation for a seat: all of them are played, in order, or none.

        seat: None finds the seat of `person`. seen: the decision that is answered, None for whatever
        stands now. request: a name unique to this request; said again it gets the same answer and
        has no second effect. person: who speaks; None is the operator, who may speak for every seat.
        Beside the game's lines it understands `undo`, `redo`, `resign`, `help`, `status`, `map`,
        `market`, `log [N]`, and `accept` / `decline` (also `accept vote`) while a vote asks the seat;
        each of these stands alone.
        """
        raise NotImplementedError

    # -- what is shown -----------------------------------------------------------------------

    async def find(self, code: str) -> TableInfo:
        """The table of a code. Raises ValueError with a sentence where there is none."""
        raise NotImplementedError

    async def table(self, table: int) -> TableInfo:
        """A table, who sits there and where it is. Raises Missing."""
        raise NotImplementedError

    async def tables(
        self,
        *,
        person: int | None = None,
        place: tuple[str, Any] | None = None,
        statuses: Sequence[Status] = (),
    ) -> list[TableInfo]:
        """All tables; those of a person; those whose `place` has such an entry (`("guild", 5)`)."""
        raise NotImplementedError

    async def view(self, table: int) -> View:
        """The table as it stands now: state, whom it waits for, open votes. From memory."""
        raise NotImplementedError

    def peek(self, table: int) -> View | None:
        """The same at once, for autocompletion; None where the table is not in memory."""
        raise NotImplementedError

    async def seat_of(self, table: int, person: int) -> int | None:
        """Where somebody sits at a table."""
        raise NotImplementedError

    async def choices(self, table: int, seat: int) -> list[engine.Choice]:
        """What the seat may say now; empty where nothing is."""
        raise NotImplementedError

    async def state_at(self, table: int, seq: int | None = None) -> engine.State:
        """The position after row `seq` of the log, None for now. Raises ValueError before the start."""
        raise NotImplementedError

    async def since(self, table: int, seat: int, seq: int | None = None) -> list[Happening]:
        """What has happened since that seat's last own move, up to row `seq` of the log."""
        raise NotImplementedError

    async def log(self, table: int, last: int | None = None) -> list[Happening]:
        """The log, or its last rows; moves that were undone are marked."""
        raise NotImplementedError

    # -- the lobby ---------------------------------------------------------------------------

    async def create(
        self,
        title: str,
        host: int | None,
        *,
        name: str = "",
        options: Sequence[str] | None = None,
        place: dict[str, Any] | None = None,
    ) -> TableInfo:
        """A new table in its lobby; `options` None takes the installation's. The host has no seat yet."""
        raise NotImplementedError

    async def join(self, table: int, person: int, name: str) -> TableInfo:
        """Somebody takes a seat under a name (who was invited: his own), before the start."""
        raise NotImplementedError

    async def invite(self, table: int, person: int, name: str, *, by: int | None) -> TableInfo:
        """Keep a seat for somebody; by the host or anybody who sits there. He is told, and joins by `join`."""
        raise NotImplementedError

    async def leave(self, table: int, person: int, *, by: int | None) -> TableInfo:
        """Somebody gives up his seat before the start (or an invitation); by himself or the host."""
        raise NotImplementedError

    async def start(
        self, table: int, *, by: int | None, order: Sequence[str] | None = None, seed: int | None = None
    ) -> TableInfo:
        """Begin. `order` is the seating by names; without it the seats are shuffled from a recorded seed.

        By the host. Who was invited and has not joined stops it, with his name.
        """
        raise NotImplementedError

    async def replace(
        self, table: int, seat: int, person: int, name: str, *, by: int | None
    ) -> TableInfo:
        """Another plays on in a seat, under his own name.

        By the one who sits there or the host; an empty seat (resigned) is taken by whoever comes.
        """
        raise NotImplementedError

    async def pause(self, table: int, *, by: int | None) -> TableInfo:
        """Stop play; by anybody who sits there, or the host."""
        raise NotImplementedError

    async def resume(self, table: int, *, by: int | None) -> TableInfo:
        """Play on; by anybody who sits there, or the host, once no seat is empty."""
        raise NotImplementedError

    async def end(self, table: int, *, by: int | None) -> Answer:
        """End the game unfinished: at once by the host or operator, else by a vote of all others."""
        raise NotImplementedError

    async def place(self, table: int, place: dict[str, Any]) -> None:
        """Remember where a transport shows the table (its guild, channel, thread): merged into what is there."""
        raise NotImplementedError

    # -- work in the background --------------------------------------------------------------

    @contextmanager
    def follow(self) -> Iterator[asyncio.Event]:
        """An event that is set after every commit; clear it before looking at the outbox."""
        raise NotImplementedError

    async def run(self) -> None:
        """Follow the store: what another process or a restored backup changed is loaded anew. Endless."""
        raise NotImplementedError

    def changed(self) -> None:
        """Ring the bell of everybody who follows; also for who wrote into the store himself."""
        raise NotImplementedError
