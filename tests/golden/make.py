"""Writes the golden folder of this version: `python -m tests.golden.make VERSION`.

The folder holds a store with tables of all titles at all stages (`store.db.gz`), what must be found in it
(`tables.json`), a whole game of every title as events (`TITLE.events.gz`), and the stored types
(`types.json`). Everything follows from fixed seeds and a fixed clock: made twice by the same version, the
contents are the same.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import msgspec

import engine
from bot.hub.request import Completed, PollUpdated, QueryAnswer
from bot.service import Service
from bot.tools.simulation.simulate import SimulatedGame, simulate_game
from engine.game_text.history import GameHistory
from storage import NewMessage, Store, hash_secret, open_store
from tests.golden.stored_types import stored_types
from tests.tables import started

FOLDER = Path(__file__).parent
GAMES = {"1830": (3, 1), "1851": (3, 1), "1870": (3, 1), "1817": (3, 1)}
"""Of each title, the number of players and the seed of its game."""

NAMES = ("Ann", "Bob", "Cid")
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


class GoldenGame(msgspec.Struct):
    """A whole game: its first state, the moves as (seat, line, events), and its last state."""

    start: bytes
    moves: list[tuple[str, str, bytes]]
    end: bytes


def golden_game(game: SimulatedGame) -> GoldenGame:
    """The game as it is stored in a golden folder."""
    moves = [(line.seat, line.line, engine.encode_events(line.events)) for line in game.history_lines]
    return GoldenGame(engine.encode_state(game.start), moves, engine.encode_state(game.state))


class SteppingClock:
    """A clock that goes on by a second each time that it is read."""

    def __init__(self) -> None:
        self.now = BEGINNING

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@contextmanager
def fixed_randomness() -> Iterator[None]:
    """Codes, secrets and seeds from a generator with a fixed seed."""
    rng = random.Random(1830)
    with (
        patch("secrets.choice", rng.choice),
        patch("secrets.randbelow", rng.randrange),
        patch("secrets.token_bytes", rng.randbytes),
        patch("secrets.token_hex", lambda size: rng.randbytes(size).hex()),
    ):
        yield


class StoreMaker:
    """Fills a store with tables. Every method makes one table and returns its id."""

    def __init__(self, store: Store, people: dict[str, int]) -> None:
        self.store = store
        self.service = Service(store)
        self.people = people
        self._requests = 0

    async def submit(self, table_id: int, name: str, *lines: str) -> Any:
        """Submit lines for a person, by name; they must not be refused."""
        self._requests += 1
        result = await self.service.submit(
            table_id, None, lines, None, f"golden-{self._requests}", person_id=self.people[name]
        )
        if not isinstance(result, Completed | PollUpdated | QueryAnswer):
            raise SystemExit(f"{name}: {lines} was refused: {result}")
        return result

    async def lobby(self, title: str) -> int:
        """A table in the lobby: Ann and Bob have joined, Cid is invited."""
        host = self.people["Ann"]
        info = await self.service.lobby.create(title, host, name=f"{title} lobby", location={"channel": 5})
        await self.service.lobby.join(info.id, host, "Ann")
        await self.service.lobby.join(info.id, self.people["Bob"], "Bob")
        await self.service.lobby.invite(info.id, self.people["Cid"], "Cid", by=host)
        return info.id

    async def started(self, title: str, name: str) -> int:
        """A table at which the game has just started."""
        people = {player: self.people[player] for player in NAMES}
        table = await started(self.service, people, title, seed=7, name=name, location={"channel": 6})
        return table.id

    async def imported(self, game: SimulatedGame, move_count: int, name: str) -> int:
        """A table at which so many moves of the game are played; its players have identities."""
        history = GameHistory(game.start, tuple(game.history_lines[:move_count]))
        info = await self.service.lobby.import_game(history, name=name)
        async with self.store.begin() as unit:
            for player in info.seated_players:
                await unit.people.add_identity(player.person_id, "discord", str(10**17 + player.person_id))
                await unit.people.add_identity(player.person_id, "email", f"p{player.person_id}@example.org")
            await unit.tables.update(info.id, location={"guild": 1, "channel": 7})
        return info.id

    async def play_on(self, table_id: int, game: SimulatedGame, first: int, count: int) -> None:
        """Submit the next moves of the game."""
        for number, line in enumerate(game.history_lines[first : first + count], first):
            seat = int(line.seat[1:])
            result = await self.service.submit(
                table_id, seat, [line.line], None, f"golden-{table_id}-{number}", transport="mail"
            )
            if not isinstance(result, Completed | QueryAnswer):  # an order that is left beforehand
                raise SystemExit(f"{game.title}, move {number}: {line.line} was refused: {result}")

    async def polled(self, game: SimulatedGame, move_count: int) -> int:
        """A table with an open poll on an undo."""
        table_id = await self.imported(game, move_count, f"{game.title} poll")
        await self.play_on(table_id, game, move_count, 2)
        moves = game.history_lines[: move_count + 2]
        mover = int(moves[-1].seat[1:])
        proposer = next(int(line.seat[1:]) for line in reversed(moves) if int(line.seat[1:]) != mover)
        result = await self.service.submit(table_id, proposer, ["undo"], None, f"golden-undo-{table_id}")
        if not isinstance(result, PollUpdated):
            raise SystemExit(f"{game.title}: the undo has opened no poll: {result}")
        return table_id


async def fill_store(store: Store, games: dict[str, SimulatedGame]) -> list[dict[str, Any]]:
    """Make all tables, messages and mail; returns what must be found."""
    people = {}
    async with store.begin() as unit:
        for number, name in enumerate(NAMES, 1):
            person = await unit.people.add(name, language="en", time_zone="Europe/Rome")
            await unit.people.add_identity(person.id, "discord", str(number))
            await unit.people.add_identity(person.id, "email", f"{name.lower()}@example.org")
            people[name] = person.id
        await unit.people.create_address_claim(people["Cid"], "cid@example.com", timedelta(days=3650))
    maker = StoreMaker(store, people)
    for title, game in games.items():
        await maker.lobby(title)
        moves = game.move_count
        running = await maker.imported(game, moves // 4, f"{title} running")
        await maker.play_on(running, game, moves // 4, 3)
        await maker.polled(game, min(moves // 8, 40))
        await maker.imported(game, moves, f"{title} finished")
    await _tables_of_1817(maker)
    await _undone_table(maker)
    await _mail_and_messages(store)
    return await describe(maker.service)


async def _tables_of_1817(maker: StoreMaker) -> None:
    """An auction with hidden orders."""
    table_id = await maker.started("1817", "1817 hidden orders")
    await maker.submit(table_id, "Ann", "bid MAJM 10")
    await maker.submit(table_id, "Bob", "bid up to 85")


async def _undone_table(maker: StoreMaker) -> None:
    """A log with undone moves and a redo, then a paused table; another one that is ended."""
    table_id = await maker.started("1830", "1830 paused")
    for name, line in (
        ("Ann", "buy SV"),
        ("Ann", "undo"),
        ("Ann", "redo"),
        ("Bob", "buy CS"),
        ("Bob", "undo"),
    ):
        await maker.submit(table_id, name, line)
    await maker.service.running.pause(table_id, by=maker.people["Ann"])
    ended = await maker.started("1870", "1870 ended")
    await maker.service.running.end_now(ended, by=maker.people["Ann"])


async def _mail_and_messages(store: Store) -> None:
    """Cards, mail tokens, inbound mail, and outbox messages that are sent, leased and given up."""
    async with store.begin() as unit:
        table = (await unit.tables.find("running"))[0]
        await unit.tables.set_card(table.id, "turn", {"channel": 7, "message": 70})
        await unit.mail_tokens.add(
            hash_secret("golden"), "reply", table_id=table.id, seat=0, person_id=1, decision_id="0.1",
            address="ann@example.org", message_id="<golden@example.org>",
        )  # fmt: skip
        await unit.inbound_mail.record_attempt("done", "a" * 64, "done.eml")
        await unit.inbound_mail.record_outcome("done", "Processed: played", b"receipt")
        await unit.inbound_mail.record_attempt("unfinished", "b" * 64, "unfinished.eml")
        await unit.settings.set("secret:example", "5e" * 32)
        sent, failed = await unit.outbox.lease_due("discord", 2, timedelta(seconds=20))
        await unit.outbox.mark_sent(sent.idempotency_key, "70")
        await unit.outbox.mark_failed(failed.idempotency_key, "unknown channel", None)
        await unit.outbox.enqueue(
            NewMessage(
                idempotency_key="golden", channel="mail", address={"to": "ann@example.org"}, payload=b"x"
            )
        )


async def describe(service: Service) -> list[dict[str, Any]]:
    """What a reader of the store must find at each table."""
    found = []
    for info in await service.queries.list_tables():
        view = await service.queries.view(info.id)
        log = await service.queries.log(info.id) if view.state else []
        async with service.store.read() as unit:
            orders = [order.line for order in await unit.orders.armed(info.id)]
        found.append(
            {
                "code": info.code,
                "name": info.name,
                "title": info.title,
                "options": list(info.options),
                "status": info.status,
                "seated": [[p.seat, p.name, p.joined] for p in view.table.seated_players],
                "seq": view.seq,
                "live_moves": [entry.seq for entry in log if entry.kind == "move" and entry.is_live],
                "pending": [[one.seat, one.name, one.decision_id] for one in view.pending],
                "polls": [[poll.poll.kind, sorted(poll.votes)] for poll in view.polls],
                "cash": view.state.cash if view.state else {},
                "standings": engine.standings(view.state) if view.state else {},
                "orders": orders,
            }
        )
    return found


async def make_store(path: Path, games: dict[str, SimulatedGame]) -> list[dict[str, Any]]:
    """Make the store in a file; returns what must be found in it."""
    async with await open_store(path, SteppingClock()) as store:
        return await fill_store(store, games)


def packed(path: Path) -> bytes:
    """A store as one compressed file."""
    copy = path.with_suffix(".packed")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("VACUUM INTO ?", (str(copy),))
    return gzip.compress(copy.read_bytes(), mtime=0)


def as_json(value: object) -> bytes:
    return json.dumps(value, indent=1, ensure_ascii=False).encode() + b"\n"


def make(version: str) -> Path:
    """Write the folder of a version; raises SystemExit where it exists already."""
    folder = FOLDER / version
    if folder.exists():
        raise SystemExit(f"{folder} exists already: what a released version has written is never changed.")
    games = {}
    for title, (players, seed) in GAMES.items():
        games[title] = simulate_game(title, players, seed)
        if games[title].failure:
            raise SystemExit(f"{title}: {games[title].failure}")
    with TemporaryDirectory() as place, fixed_randomness():
        tables = asyncio.run(make_store(Path(place) / "store.db", games))
        store = packed(Path(place) / "store.db")
    files = {"store.db.gz": store, "tables.json": as_json(tables), "types.json": as_json(stored_types())}
    for title, game in games.items():
        encoded = msgspec.msgpack.encode(golden_game(game))
        files[f"{title}.events.gz"] = gzip.compress(encoded, mtime=0)
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("Name the version: python -m tests.golden.make 1.0.0")
    print(make(sys.argv[1]))
